//! A training that is ready to begin: rows divided and encoded, the problem bound to them.

use std::fmt;

use sha2::{Digest, Sha256};

use super::games::{Fold, cut};
use super::{Data, Plan, Sheet};
use crate::archive::hex;
use crate::classifier::{self, Provenance, Selection};
use crate::encode::{self, Codes, Encoder, Features};
use crate::model::AnyModel;
use crate::random::mix;
use crate::rate::{self, Binding, Bound, Compiled, Partition, Weighted, quantised};
use crate::table::Table;
use crate::{Error, ErrorKind, Result};

/// Something that preparing a training found worth telling the user.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// About the features.
    Features(encode::Notice),
    /// About the problem.
    Problem(rate::BindNotice),
    /// Rows without a label count as negative.
    MissingLabels {
        /// How many.
        rows: usize,
    },
    /// A setting was given that is not used.
    Unused {
        /// Its key.
        setting: String,
        /// Why it is not used.
        because: String,
    },
    /// All rows, or none, are positive: there is nothing to learn.
    OneClass {
        /// What the label is of all rows.
        positive: bool,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Features(notice) => notice.fmt(f),
            Notice::Problem(notice) => notice.fmt(f),
            Notice::MissingLabels { rows } => {
                write!(f, "{rows} of the training rows have no label, and count as negative")
            }
            Notice::Unused { setting, because } => {
                write!(f, "{because}: the setting `{setting}` is not used")
            }
            Notice::OneClass { positive } => {
                let none = if *positive { "every" } else { "no" };
                write!(f, "{none} training row is positive: there is nothing to learn")
            }
        }
    }
}

/// One player's rows, ready to be played on: in an order drawn at random, so that any run of them is a minibatch.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    /// Where each of them is in the table.
    pub(super) order: Vec<u32>,
    /// What a model sees.
    pub(super) features: Features,
    /// The cells and losses.
    pub(super) compiled: Compiled,
    /// How much each row counts to the players: weights that add up without rounding, or 1 each.
    pub(super) weights: Option<Vec<f32>>,
    /// How much each row counts to those who judge: the weights as they were given.
    pub(super) given: Option<Vec<f32>>,
    /// Where the rows are from.
    pub(super) source: String,
}

impl Rows {
    /// Encodes the rows of a sheet, and puts them in order.
    fn new(
        encoder: &Encoder,
        compiled: Compiled,
        sheet: &Sheet<'_>,
        weights: Option<&[f32]>,
        seed: u64,
    ) -> Result<Self> {
        let order = order(sheet.table.rows(), seed)?;
        let ordered = |all: &[f32]| order.iter().map(|&row| all[row as usize]).collect();
        Ok(Rows {
            features: encoder.encode(&sheet.table)?.take(&order),
            compiled: compiled.reordered(&order),
            weights: weights.map(ordered),
            given: sheet.weights.as_deref().map(ordered),
            source: sheet.source.clone(),
            order,
        })
    }

    /// Numbers of the rows as they are stored, in the order of the table.
    pub(super) fn in_table_order(&self, stored: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; stored.len()];
        self.order.iter().zip(stored).for_each(|(&row, &number)| all[row as usize] = number);
        all
    }

    /// How many rows there are, and a hash of all that the players see of them, in the order of the table.
    fn provenance(&self) -> classifier::Fingerprint {
        let mut hash = Sha256::new();
        let (features, weights) = (&self.features, self.weights.as_deref().unwrap_or_default());
        for size in [features.rows(), features.slots(), features.numbers(), features.weights()] {
            hash.update((size as u64).to_le_bytes());
        }
        hash.update((weights.len() as u64).to_le_bytes());
        let mut stored = vec![0; self.order.len()];
        self.order.iter().enumerate().for_each(|(place, &row)| stored[row as usize] = place);
        let mut bytes = Vec::new();
        for place in stored {
            bytes.clear();
            let codes = place * features.slots()..(place + 1) * features.slots();
            match features.codes() {
                Codes::Narrow(all) => bytes.extend(all[codes].iter().flat_map(|c| c.to_le_bytes())),
                Codes::Wide(all) => bytes.extend(all[codes].iter().flat_map(|c| c.to_le_bytes())),
            }
            bytes.extend(features.row_values(place).iter().flat_map(|x| x.to_le_bytes()));
            bytes.extend(self.compiled.cells()[place].to_le_bytes());
            bytes.extend(weights.get(place).into_iter().flat_map(|weight| weight.to_le_bytes()));
            hash.update(&bytes);
        }
        classifier::Fingerprint {
            rows: features.rows(),
            sha256: hex(&hash.finalize()),
            sketch: classifier::sketch(features),
        }
    }
}

/// A training that is ready to begin.
pub struct Training<'a> {
    pub(super) plan: Plan,
    pub(super) bound: Bound,
    /// The cells of all rows.
    pub(super) partition: Partition,
    pub(super) encoder: Encoder,
    pub(super) model: AnyModel,
    pub(super) train: Rows,
    pub(super) val: Option<Rows>,
    /// With cross-fitting, the rows of each game.
    pub(super) folds: Vec<Fold>,
    /// The rows to test on.
    pub(super) test: Option<Sheet<'a>>,
    pub(super) provenance: Provenance,
    pub(super) notices: Vec<Notice>,
}

impl<'a> Training<'a> {
    /// Divides the data, binds the problem, fits the encoder, and encodes the rows.
    pub(super) fn new(plan: Plan, data: Data<'a>) -> Result<Self> {
        let mut data = data.divided(&plan.spec)?;
        let fitted = data.fitted.take();
        let train_weights = exact_weights(&data.train)?;
        let val_weights = match &data.val {
            Some(val) => exact_weights(val).map_err(|error| error.at("the validation rows"))?,
            None => None,
        };
        let train = Weighted { table: &data.train.table, weights: train_weights.as_deref() };
        let val = data.val.as_ref();
        let val = val.map(|val| Weighted { table: &val.table, weights: val_weights.as_deref() });
        let Fitted { binding, encoder, notices } = match fitted {
            Some((bound, encoder)) => {
                Fitted { binding: bound.compile_all(train, val)?, encoder, notices: Vec::new() }
            }
            None => fit(&plan, train, val)?,
        };
        let Binding { bound, partition, tables, .. } = binding;
        let mut tables = tables.into_iter();
        let mut rows = |sheet: &Sheet<'_>, weights: Option<&[f32]>, seed: u64| {
            let unbound = || Error::new(ErrorKind::Problem, "the problem was not bound to rows");
            Rows::new(&encoder, tables.next().ok_or_else(unbound)?, sheet, weights, seed)
        };
        let seed = plan.spec.seed;
        let train = rows(&data.train, train_weights.as_deref(), seed)?;
        let val = data.val.as_ref();
        let val = val.map(|val| rows(val, val_weights.as_deref(), mix(seed ^ 0x0076_616c)));
        let val = val.transpose().map_err(|error| error.at("the validation rows"))?;
        let model = plan.model(&encoder, &train.features)?;
        let provenance = Provenance {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            settings: plan.settings()?,
            train: train.provenance(),
            val: val.as_ref().map(Rows::provenance),
        };
        let spec = &plan.spec;
        let folds = cut(spec.datasets, &spec.steps, train.compiled.cells(), spec.seed)?;
        let notices = plan.notices.iter().cloned().chain(notices).collect();
        Ok(Training {
            plan,
            bound,
            partition,
            encoder,
            model,
            train,
            val,
            folds,
            test: data.test,
            provenance,
            notices,
        })
    }

    /// The same training with another way to choose the mixture, of games that are or will be played.
    ///
    /// # Errors
    /// If the settings cannot be written.
    pub fn select_by(&mut self, selection: Selection) -> Result<()> {
        self.plan.spec.selection = selection;
        self.provenance.settings = self.plan.settings()?;
        Ok(())
    }

    /// The plan that it follows.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What preparing it found worth telling the user.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// The problem, bound to the training rows.
    pub fn bound(&self) -> &Bound {
        &self.bound
    }

    /// The encoder, fitted on the training rows.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// The family of models.
    pub fn model(&self) -> &AnyModel {
        &self.model
    }

    /// What tells this training from any other: a hash of its settings and data.
    pub fn identity(&self) -> String {
        let text = serde_json::to_string(&self.provenance).unwrap_or_default();
        hex(&Sha256::digest(text))
    }

    /// The rows that constraints are enforced on.
    pub(super) fn enforced(&self) -> &Rows {
        self.val.as_ref().unwrap_or(&self.train)
    }
}

/// The order in which rows are stored: by a hash of the seed and the row's number, so that it is known of each row
/// alone.
fn order(rows: usize, seed: u64) -> Result<Vec<u32>> {
    let Ok(rows) = u32::try_from(rows) else {
        let message = format!("{rows} rows are more than one machine's training takes");
        return Err(Error::new(ErrorKind::Value, message).help("train on a sample of them"));
    };
    let key = mix(seed ^ 0x6f72_6465_7200);
    let mut keyed: Vec<(u64, u32)> =
        (0..rows).map(|row| (mix(key ^ u64::from(row)), row)).collect();
    keyed.sort_unstable();
    Ok(keyed.into_iter().map(|(_, row)| row).collect())
}

/// Weights that add up without rounding, once they were checked.
fn exact_weights(sheet: &Sheet<'_>) -> Result<Option<Vec<f32>>> {
    let weights = sheet.weights.as_deref();
    rate::check_each_weight(weights, sheet.table.rows(), 0)?;
    let total = weights.unwrap_or_default().iter().map(|&weight| f64::from(weight)).sum();
    rate::check_total_weight(total)?;
    Ok(weights.map(quantised))
}

/// A problem bound to the data, and an encoder fitted on the training rows.
struct Fitted {
    binding: Binding,
    encoder: Encoder,
    notices: Vec<Notice>,
}

/// Binds the problem to the data, and fits the encoder on the training rows.
fn fit(plan: &Plan, train: Weighted<'_>, val: Option<Weighted<'_>>) -> Result<Fitted> {
    let others: Vec<Weighted<'_>> = val.into_iter().collect();
    let binding = plan.problem.compile(train, &others)?;
    let bound = &binding.bound;
    let mut notices: Vec<Notice> = binding.notices.iter().cloned().map(Notice::Problem).collect();
    notices.extend(label_notices(bound, train.table)?);
    let mut encoder = plan.spec.encoder.clone();
    for column in bound.label().columns().into_iter().chain(plan.spec.weight.as_deref()) {
        // A model that sees the label learns nothing else.
        if !encoder.ignore.iter().any(|ignored| ignored == column) {
            encoder.ignore.push(column.to_owned());
        }
    }
    let (encoder, found) = Encoder::fit(&encoder, train.table)?;
    notices.extend(found.into_iter().map(Notice::Features));
    Ok(Fitted { binding, encoder, notices })
}

/// What the label leaves open.
fn label_notices(bound: &Bound, table: &Table) -> Result<Vec<Notice>> {
    let mut notices = Vec::new();
    let rows = bound.missing_labels(table)?;
    if rows > 0 {
        notices.push(Notice::MissingLabels { rows });
    }
    let labels = bound.label().evaluate(table)?;
    if let Some(&positive) = labels.first()
        && labels.iter().all(|&label| label == positive)
    {
        notices.push(Notice::OneClass { positive });
    }
    Ok(notices)
}
