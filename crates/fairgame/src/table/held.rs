//! Tables as they travel from one process to another.

use serde::{Deserialize, Serialize};

use super::{Category, Column, Dictionary, MISSING, Table, Values};
use crate::{Error, Result};

/// A column of a table.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Held {
    name: String,
    values: HeldValues,
}

#[derive(Debug, Serialize, Deserialize)]
enum HeldValues {
    Number(Vec<Option<f64>>),
    /// The texts, as they first come, and which of them each row has.
    Category(Vec<String>, Vec<Option<u32>>),
    Boolean(Vec<Option<bool>>),
}

/// A table.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HeldTable(Vec<Held>);

impl Held {
    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        match &self.values {
            HeldValues::Number(all) => all.len(),
            HeldValues::Category(_, all) => all.len(),
            HeldValues::Boolean(all) => all.len(),
        }
    }
}

impl From<&Column> for Held {
    fn from(column: &Column) -> Self {
        let values = match &column.values {
            Values::Number(all) => {
                HeldValues::Number(all.iter().map(|&x| (!x.is_nan()).then_some(x)).collect())
            }
            Values::Category(all) => {
                let mut texts = Dictionary::default();
                let mut place = vec![None; all.dictionary.len()];
                let code = |&code: &u32| match code {
                    MISSING => None,
                    code => Some(
                        *place[code as usize]
                            .get_or_insert_with(|| texts.intern(all.dictionary.text(code))),
                    ),
                };
                let codes = all.codes.iter().map(code).collect();
                HeldValues::Category(texts.texts().map(str::to_owned).collect(), codes)
            }
            Values::Boolean(all) => HeldValues::Boolean(all.clone()),
        };
        Held { name: column.name.clone(), values }
    }
}

impl From<Held> for Column {
    fn from(held: Held) -> Self {
        let values = match held.values {
            HeldValues::Number(all) => {
                Values::Number(all.into_iter().map(|x| x.unwrap_or(f64::NAN)).collect())
            }
            HeldValues::Category(texts, codes) => {
                let text = |code: u32| texts.get(code as usize).map(String::as_str);
                let all = codes.iter().map(|code| code.and_then(text));
                Values::Category(Category::from_texts(all))
            }
            HeldValues::Boolean(all) => Values::Boolean(all),
        };
        Column::new(held.name, values)
    }
}

impl From<Table> for HeldTable {
    fn from(table: Table) -> Self {
        HeldTable(table.columns().iter().map(Held::from).collect())
    }
}

impl TryFrom<HeldTable> for Table {
    type Error = Error;

    fn try_from(held: HeldTable) -> Result<Self> {
        Table::new(held.0.into_iter().map(Column::from).collect())
    }
}
