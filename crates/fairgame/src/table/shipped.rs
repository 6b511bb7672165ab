//! The small public datasets that are part of the library.

use std::fmt;

use crate::{Error, ErrorKind, Result, nearest};

/// A shipped table. Provenance and licence stand in `datasets/README.md`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Shipped {
    /// The name after the `@`: `adult`, `adult/test`, `compas`, `communities`.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// The file, as gzipped CSV.
    pub bytes: &'static [u8],
}

/// Every shipped table.
pub const SHIPPED: [Shipped; 4] = [
    Shipped {
        name: "adult",
        about: "UCI Adult, the official training rows: does a person earn above $50,000?",
        bytes: include_bytes!("../../../../datasets/adult.csv.gz"),
    },
    Shipped {
        name: "adult/test",
        about: "UCI Adult, the official test rows",
        bytes: include_bytes!("../../../../datasets/adult-test.csv.gz"),
    },
    Shipped {
        name: "compas",
        about: "ProPublica COMPAS: is a defendant charged again within two years?",
        bytes: include_bytes!("../../../../datasets/compas.csv.gz"),
    },
    Shipped {
        name: "communities",
        about: "UCI Communities and Crime: is a community's violent crime rate high?",
        bytes: include_bytes!("../../../../datasets/communities.csv.gz"),
    },
];

impl Shipped {
    /// The table of that name, with or without the `@`.
    pub fn find(name: &str) -> Result<Self> {
        let name = name.strip_prefix('@').unwrap_or(name);
        let names = SHIPPED.iter().map(|shipped| shipped.name);
        SHIPPED.into_iter().find(|shipped| shipped.name == name).ok_or_else(|| {
            let error =
                Error::new(ErrorKind::Settings, format!("there is no shipped dataset `@{name}`"));
            match nearest(name, names.clone()) {
                Some(near) => error.help(format!("did you mean `@{near}`?")),
                None => {
                    let names: Vec<String> = names.map(|name| format!("@{name}")).collect();
                    error.help(format!("the datasets are {}", names.join(", ")))
                }
            }
        })
    }

    /// All tables of a dataset: `adult` has its training and its test rows.
    pub fn family(name: &str) -> Result<Vec<Self>> {
        let first = Shipped::find(name)?;
        let below = format!("{}/", first.name);
        let rest = SHIPPED.into_iter().filter(|shipped| shipped.name.starts_with(&below));
        Ok(std::iter::once(first).chain(rest).collect())
    }
}

impl fmt::Display for Shipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.name)
    }
}

impl fmt::Debug for Shipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shipped({self})")
    }
}
