//! What a result is compared with: the same rows decided without the constraints, and all alike.
//!
//! The **unconstrained** classifier is of the same family, trained on the same rows, for the objective alone. In the plug-in
//! game it is the rule of the objective, over the same probabilities. In games of turns it is the model of least objective
//! among those that each fold trained without constraints; where none was, there is nothing to compare with. What the
//! constraints cost is the objective of the classifier less that of the unconstrained one.

use serde::{Deserialize, Serialize};

use super::mixture::Chosen;
use super::outcome::CONFIDENCE;
use super::{Datasets, Played, Training};
use crate::Result;
use crate::classifier::draws;
use crate::evaluate::{Confusion, Decisions, Evaluation, confusions, evaluate_by_unit};
use crate::rate::Weighted;

/// Another way to decide the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BaselineKind {
    /// By a model of the same family that is trained for the objective alone.
    Unconstrained,
    /// All negative.
    AlwaysNegative,
    /// All positive.
    AlwaysPositive,
}

/// What another way to decide the rows comes to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Which.
    pub kind: BaselineKind,
    /// Of which rows: `val` or `train`, where the constraints were enforced, or `test`.
    pub part: String,
    /// What it comes to.
    pub evaluation: Evaluation,
}

/// Decisions by label in a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupConfusion {
    /// The group as written; empty for all rows.
    pub group: String,
    /// How many rows it has.
    pub rows: u64,
    /// By the classifier.
    pub classifier: Confusion,
    /// By the one that knows no constraints, where there is one.
    pub unconstrained: Option<Confusion>,
}

/// Of more groups, decisions by label are not recorded.
const MOST_GROUPS: usize = 200;

impl Training<'_> {
    /// The same rows decided in other ways: those that judge, and the test rows.
    pub(super) fn baselines(&self, played: &[Played], chosen: &Chosen) -> Result<Vec<Baseline>> {
        use BaselineKind::{AlwaysNegative, AlwaysPositive, Unconstrained};
        let enforced = self.enforced();
        let cross = matches!(self.plan.spec.datasets, Datasets::Cross { .. });
        let part = if self.val.is_some() || cross { "val" } else { "train" };
        let mut all = Vec::new();
        let mut add = |kind, part: &str, evaluation: Evaluation| {
            all.push(Baseline { kind, part: part.to_owned(), evaluation });
        };
        let column = self.unconstrained(chosen);
        if let Some(column) = column {
            let chances = self.chances(played, &chosen.measured, &[(column, 1.0)])?;
            add(
                Unconstrained,
                part,
                self.judged(part, enforced, Decisions::Probabilities(&chances))?.evaluation,
            );
        }
        for (kind, decision) in [(AlwaysNegative, false), (AlwaysPositive, true)] {
            let decided = vec![decision; enforced.count()];
            add(kind, part, self.judged(part, enforced, Decisions::Hard(&decided))?.evaluation);
        }
        if let Some(test) = &self.test {
            let Weighted { table, weights } = test.weighted();
            let unit = self.plan.spec.unit.as_deref();
            let unit = table.columns().iter().find(|column| Some(column.name.as_str()) == unit);
            let units = unit.map(|column| draws(&column.values));
            let units = units.as_deref();
            if let Some(column) = column {
                let classifier = self.classifier_of(played, &chosen.measured, &[(column, 1.0)])?;
                let found = classifier.evaluate_by_unit(table, weights, units, CONFIDENCE)?;
                add(Unconstrained, "test", found);
            }
            for (kind, decided) in [(AlwaysNegative, false), (AlwaysPositive, true)] {
                let decided = vec![decided; table.rows()];
                let decisions = Decisions::Hard(&decided);
                let bound = &self.bound;
                let found = evaluate_by_unit(bound, table, weights, units, decisions, CONFIDENCE)?;
                add(kind, "test", found);
            }
        }
        Ok(all)
    }

    /// Decisions by label in each group of the constraints, on the rows that judge: of the classifier, and of the one that
    /// knows no constraints.
    pub(super) fn confusions(
        &self,
        played: &[Played],
        chosen: &Chosen,
    ) -> Result<Vec<GroupConfusion>> {
        let groups = self.bound.groups();
        if groups.len() > MOST_GROUPS {
            return Ok(Vec::new());
        }
        let places: Vec<Option<usize>> = groups.iter().map(|(place, _)| *place).collect();
        let rows = self.enforced();
        let of = |chances: &[f64]| {
            let cells = (self.partition.met(), rows.compiled.cells());
            let decisions = Decisions::Probabilities(chances);
            confusions(&places, cells, self.partition.cells(), rows.given.as_deref(), decisions)
        };
        let after = of(&chosen.chances);
        let before = match self.unconstrained(chosen) {
            Some(column) => Some(of(&self.chances(played, &chosen.measured, &[(column, 1.0)])?)),
            None => None,
        };
        let one = |(at, (_, group)): (usize, (Option<usize>, String))| GroupConfusion {
            group,
            rows: after[at].0,
            classifier: after[at].1,
            unconstrained: before.as_ref().map(|before| before[at].1),
        };
        Ok(groups.into_iter().enumerate().map(one).collect())
    }

    /// The column of the classifier that knows no constraints, if there is one.
    fn unconstrained(&self, chosen: &Chosen) -> Option<usize> {
        let measured = &chosen.measured;
        if self.ground.is_some() {
            // The first of all rules is that of the objective alone.
            return Some(0);
        }
        let plain = |column: &usize| {
            let variant = measured.tied[column / measured.levels].variant;
            self.variants.get(variant).is_some_and(|variant| variant.plain)
        };
        let objective = |column: usize| measured.mixed(&[(column, 1.0)], None).objective;
        let columns = (0..measured.tied.len() * measured.levels).filter(plain);
        let best = columns.map(|column| (objective(column), column));
        best.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, column)| column)
    }
}
