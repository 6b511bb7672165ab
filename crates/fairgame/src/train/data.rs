//! The rows of a training: whose they are, and how much each counts.

use std::borrow::Cow;

use super::{Shape, Spec, units};
use crate::encode::Encoder;
use crate::rate::{Bound, Weighted};
use crate::settings::declare;
use crate::table::{Table, Values, split};
use crate::{Error, ErrorKind, Result};

declare! {
    /// How many datasets the players have, and where the second comes from.
    #[derive(Copy)]
    pub enum Datasets {
        /// Cross-fitting with 5 folds; from a million rows on, one split: constraints are enforced on a quarter of the rows.
        Auto = "auto",
        /// Enforce constraints on the rows that the model is trained on.
        One = "one" flag "one-dataset",
        /// Hold a share of the rows out, and enforce constraints on it.
        Two {
            /// Share of the rows that constraints are enforced on; the rest is trained on.
            val_fraction: f64 = with(0.5).share().flag("val-fraction").chooses(),
        } = "two",
        /// Cross-fitting: the rows are cut into folds. For each fold, a model is trained on the other folds, and constraints
        /// are enforced on this one.
        Cross {
            /// Number of cross-fitting folds.
            folds: usize = with(5)
                .between(2.0, 100.0)
                .flag("folds")
                .chooses()
                .only("algorithm", &["plug_in", "practical", "lagrangian"]),
            /// How often the rows are cut into folds anew and all games are played again.
            repeats: usize = with(1).between(1.0, 100.0),
        } = "cross",
        /// Enforce constraints on validation rows that are given beside the training rows.
        Given = "given",
    }
}

/// Rows, and where they are from.
#[derive(Debug, Clone)]
pub struct Sheet<'a> {
    /// The rows.
    pub table: Cow<'a, Table>,
    /// One weight a row, or 1 each; a weight column that the settings name wins over them.
    pub weights: Option<Cow<'a, [f32]>>,
    /// Where they are from, for the record.
    pub source: String,
}

impl<'a> Sheet<'a> {
    /// Rows that are handed over.
    pub fn owned(table: Table, source: impl Into<String>) -> Sheet<'static> {
        Sheet { table: Cow::Owned(table), weights: None, source: source.into() }
    }

    /// The same rows, held rather than borrowed.
    #[must_use]
    pub fn owned_rows(self) -> Sheet<'static> {
        Sheet {
            table: Cow::Owned(self.table.into_owned()),
            weights: self.weights.map(|weights| Cow::Owned(weights.into_owned())),
            source: self.source,
        }
    }

    /// To be borrowed by what learns from them.
    pub fn weighted(&self) -> Weighted<'_> {
        Weighted { table: &self.table, weights: self.weights.as_deref() }
    }

    /// Some of the rows.
    fn take(&self, rows: &[usize]) -> Sheet<'static> {
        let weights = self.weights.as_ref();
        // A part of a part is a part.
        let whole = self.source.strip_prefix("a part of ").unwrap_or(&self.source);
        Sheet {
            table: Cow::Owned(self.table.take(rows)),
            weights: weights.map(|all| rows.iter().map(|&row| all[row]).collect()),
            source: format!("a part of {whole}"),
        }
    }

    /// Draws a share of the rows: the others, and those drawn. Rows of one unit stay together.
    fn draw(
        &self,
        fraction: f64,
        seed: u64,
        unit: Option<&str>,
    ) -> Result<(Sheet<'static>, Sheet<'static>)> {
        let shares = [1.0 - fraction, fraction];
        let parts = match unit {
            None => split::by_fraction(self.table.rows(), &shares, seed, None)?,
            Some(unit) => {
                let (of_row, _) = units::codes(&self.table, unit)?;
                let count = of_row.iter().max().map_or(0, |last| *last as usize + 1);
                let drawn = split::by_fraction(count, &shares, seed, None)?;
                let mut hand = vec![0; count];
                drawn[1].iter().for_each(|&unit| hand[unit] = 1);
                let rows = |of: usize| {
                    let own = |row: &usize| hand[of_row[*row] as usize] == of;
                    (0..of_row.len()).filter(own).collect()
                };
                vec![rows(0), rows(1)]
            }
        };
        Ok((self.take(&parts[0]), self.take(&parts[1])))
    }

    /// The same rows with the weights of the column of that name.
    pub fn with_weight_column(mut self, name: Option<&str>) -> Result<Self> {
        if let Some(name) = name {
            self.weights = Some(weight_column(&self.table, name, 0)?.into());
        }
        Ok(self)
    }
}

impl<'a> From<&'a Table> for Sheet<'a> {
    fn from(table: &'a Table) -> Self {
        Sheet { table: Cow::Borrowed(table), weights: None, source: "the rows given".to_owned() }
    }
}

impl<'a> From<Weighted<'a>> for Sheet<'a> {
    fn from(rows: Weighted<'a>) -> Self {
        Sheet { weights: rows.weights.map(Cow::Borrowed), ..Sheet::from(rows.table) }
    }
}

/// The rows to learn from, and others beside them.
#[derive(Debug, Clone)]
pub struct Data<'a> {
    /// The rows to learn from; the settings may set some of them aside.
    pub train: Sheet<'a>,
    /// Rows of their own to enforce the constraints on.
    pub val: Option<Sheet<'a>>,
    /// Rows of their own to test on.
    pub test: Option<Sheet<'a>>,
    /// A problem and an encoder that were fitted elsewhere, as on all rows of an experiment.
    pub fitted: Option<(Bound, Encoder)>,
}

impl<'a, T: Into<Sheet<'a>>> From<T> for Data<'a> {
    fn from(train: T) -> Self {
        Data { train: train.into(), val: None, test: None, fitted: None }
    }
}

impl<'a> Data<'a> {
    /// With rows of their own to enforce the constraints on, if any.
    #[must_use]
    pub fn with_val(mut self, val: Option<impl Into<Sheet<'a>>>) -> Self {
        self.val = val.map(Into::into);
        self
    }

    /// With rows of their own to test on, if any.
    #[must_use]
    pub fn with_test(mut self, test: Option<impl Into<Sheet<'a>>>) -> Self {
        self.test = test.map(Into::into);
        self
    }

    /// With a problem and an encoder that were fitted elsewhere.
    #[must_use]
    pub fn fitted(mut self, bound: Bound, encoder: Encoder) -> Self {
        self.fitted = Some((bound, encoder));
        self
    }

    /// What a plan needs to know of them.
    pub fn shape(&self) -> Shape {
        Shape {
            rows: Some(self.train.table.rows()),
            validation: self.val.is_some(),
            test: self.test.is_some(),
        }
    }

    /// Reads the weights, and sets rows aside as the settings say: first those to test on, then those of the
    /// constraint player.
    pub(super) fn divided(mut self, spec: &Spec) -> Result<Self> {
        let weigh = |sheet: Sheet<'a>| sheet.with_weight_column(spec.weight.as_deref());
        self.train = weigh(self.train)?;
        self.val = self.val.map(weigh).transpose()?;
        self.test = self.test.map(weigh).transpose()?;
        let unit = spec.unit.as_deref();
        if spec.test_fraction > 0.0 && self.test.is_none() {
            let (rest, drawn) =
                self.train.draw(spec.test_fraction, spec.seed ^ 0x7465_7374, unit)?;
            (self.train, self.test) = (rest, Some(drawn));
        }
        if let (Datasets::Two { val_fraction }, None) = (spec.datasets, &self.val) {
            let (rest, drawn) = self.train.draw(val_fraction, spec.seed, unit)?;
            (self.train, self.val) = (rest, Some(drawn));
        }
        Ok(self)
    }
}

/// The weights that a column holds; errors count rows from after the `before` that came earlier.
///
/// # Errors
/// If there is no such column, it is not one of numbers, or a number is no weight.
pub fn weight_column(table: &Table, name: &str, before: u64) -> Result<Vec<f32>> {
    let wrong =
        |message: String, help: String| Err(Error::new(ErrorKind::Column, message).help(help));
    let help = || "name a column of numbers".to_owned();
    let Some(column) = table.columns().iter().find(|column| column.name == *name) else {
        let near = crate::nearest(name, table.columns().iter().map(|column| column.name.as_str()));
        let help = near.map_or_else(help, |near| format!("did you mean `{near}`?"));
        return wrong(format!("there is no weight column `{name}`"), help);
    };
    let Values::Number(numbers) = &column.values else {
        return wrong(format!("weight column `{name}` is a {}", column.values.kind()), help());
    };
    if let Some(row) = numbers.iter().position(|x| !(*x >= 0.0 && *x <= f64::from(f32::MAX))) {
        let found = numbers[row];
        let found = if found.is_nan() { "missing".to_owned() } else { found.to_string() };
        let message = format!("the weight of row {} is {found}", before + row as u64 + 1);
        return Err(Error::new(ErrorKind::Value, message)
            .at(format!("column `{name}`"))
            .help("weights are numbers from 0 up"));
    }
    Ok(numbers.iter().map(|&number| number as f32).collect())
}
