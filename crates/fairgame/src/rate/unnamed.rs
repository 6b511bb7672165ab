//! Values of groups that no constraint names, among rows that come in parts.
//!
//! An `each race` becomes one constraint for each race that training had. A row of a race that it had not is in none of
//! these groups: whatever is decided of it, every verdict stays. That is worth telling. A column counts where constraints
//! name at least two of its texts; where they name one, the others are meant to be left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::Bound;
use crate::shown;
use crate::table::{Comparison, MISSING, Predicate, Table, Value, Values};

/// Rows whose group no constraint names, counted as they come.
#[derive(Debug, Clone)]
pub struct Unnamed(Vec<Column>);

#[derive(Debug, Clone)]
struct Column {
    name: String,
    named: BTreeSet<String>,
    /// Other texts, each with the number of its rows.
    found: BTreeMap<String, u64>,
}

impl Bound {
    /// Nothing found yet.
    pub fn unnamed(&self) -> Unnamed {
        let mut named: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        // The label comes first, and is no group.
        for predicate in self.predicates().iter().skip(1) {
            collect(predicate, &mut named);
        }
        let column = |(name, named): (&str, BTreeSet<String>)| {
            let name = name.to_owned();
            (named.len() > 1).then_some(Column { name, named, found: BTreeMap::new() })
        };
        Unnamed(named.into_iter().filter_map(column).collect())
    }
}

fn collect<'a>(predicate: &'a Predicate, named: &mut BTreeMap<&'a str, BTreeSet<String>>) {
    let mut add = |column: &'a str, value: &Value| {
        if let Value::Text(text) = value {
            named.entry(column).or_default().insert(text.clone());
        }
    };
    match predicate {
        Predicate::Compare { column, comparison: Comparison::Eq | Comparison::Ne, value } => {
            add(column, value);
        }
        Predicate::Compare { .. } => {}
        Predicate::In { column, values } => values.iter().for_each(|value| add(column, value)),
        Predicate::And(all) | Predicate::Or(all) => {
            all.iter().for_each(|one| collect(one, named));
        }
        Predicate::Not(one) => collect(one, named),
    }
}

impl Unnamed {
    /// Adds rows; a column that they do not have is passed over.
    pub fn add(&mut self, table: &Table) {
        for Column { name, named, found } in &mut self.0 {
            let Some(Values::Category(category)) = table.find(name).map(|one| &one.values) else {
                continue;
            };
            let mut counts = vec![0_u64; category.dictionary.len()];
            for &code in category.codes.iter().filter(|&&code| code != MISSING) {
                counts[code as usize] += 1;
            }
            for (text, count) in category.dictionary.texts().zip(counts) {
                if count > 0 && !named.contains(text) {
                    *found.entry(text.to_owned()).or_default() += count;
                }
            }
        }
    }

    /// What to tell of each column that has such rows.
    pub fn finish(self) -> Vec<UnnamedValues> {
        let told = |Column { name, found, .. }: Column| {
            (!found.is_empty()).then_some(UnnamedValues { column: name, values: found })
        };
        self.0.into_iter().filter_map(told).collect()
    }
}

/// The values of a column that no constraint names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnnamedValues {
    /// The column.
    pub column: String,
    /// The values, each with the number of its rows.
    pub values: BTreeMap<String, u64>,
}

impl fmt::Display for UnnamedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 5;
        let rows: u64 = self.values.values().sum();
        let (have, them) = if rows == 1 { ("row has", "it") } else { ("rows have", "them") };
        let texts = self.values.keys().take(SHOWN).map(|text| format!("`{}`", shown(text)));
        let texts = texts.collect::<Vec<_>>().join(", ");
        let more = if self.values.len() > SHOWN { ", …" } else { "" };
        write!(
            f,
            "{rows} {have} a value of `{}` that no constraint names ({texts}{more}): nothing is enforced for {them}",
            shown(&self.column)
        )
    }
}
