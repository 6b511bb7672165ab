//! Classes of rows: what is known of a row's groups before it is decided.
//!
//! Some predicates of a problem are functions of columns that are features; others, the label among them, are not
//! known when a row is decided. A **class** is a pattern of the known ones.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::partition::{Partition, PartitionBuilder};
use super::set::Set;
use crate::Result;
use crate::table::{Kind, Predicate, Table};

/// Which class each row is in: a function of the columns of the known predicates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Classes {
    /// `None` where no predicate is known: all rows are of one class.
    partition: Option<Partition>,
}

impl Classes {
    /// The classes of a table's rows by these predicates, and the class of each row.
    ///
    /// # Errors
    /// If a column of a predicate is absent or of another kind.
    pub(crate) fn new(known: Vec<Predicate>, table: &Table) -> Result<(Self, Vec<u32>)> {
        if known.is_empty() {
            return Ok((Classes { partition: None }, vec![0; table.rows()]));
        }
        let mut builder = PartitionBuilder::of(known.into());
        let rows = builder.add(table)?;
        let (partition, cell_of) = builder.finish();
        let rows = rows.into_iter().map(|class| cell_of[class as usize]).collect();
        Ok((Classes { partition: Some(partition) }, rows))
    }

    /// How many classes there are.
    pub fn count(&self) -> usize {
        self.partition.as_ref().map_or(1, Partition::cells)
    }

    /// The class of each row of a table. A row that meets conditions which no training row met together is put into the
    /// class with which it shares most of them.
    ///
    /// # Errors
    /// If a column of a predicate is absent or of another kind.
    pub fn assign(&self, table: &Table) -> Result<Vec<u32>> {
        let Some(partition) = &self.partition else { return Ok(vec![0; table.rows()]) };
        let mut rows = partition.assign_known(table)?;
        if !rows.contains(&None) {
            return Ok(rows.into_iter().flatten().collect());
        }
        let met: Vec<Vec<bool>> = self
            .predicates()
            .iter()
            .map(|predicate| predicate.evaluate(table))
            .collect::<Result<_>>()?;
        for (row, class) in rows.iter_mut().enumerate() {
            class.get_or_insert_with(|| self.nearest(&|predicate| met[predicate][row]));
        }
        Ok(rows.into_iter().flatten().collect())
    }

    /// The conditions that classes are told by.
    pub(crate) fn known(&self) -> &[Predicate] {
        self.predicates()
    }

    /// Which of them each class meets.
    pub(crate) fn patterns(&self) -> Vec<Vec<bool>> {
        let mut patterns = vec![vec![false; self.predicates().len()]; self.count()];
        for (predicate, met) in self.met().iter().enumerate() {
            met.iter().for_each(|class| patterns[class as usize][predicate] = true);
        }
        patterns
    }

    pub(super) fn predicates(&self) -> &[Predicate] {
        self.partition.as_ref().map_or(&[], |partition| partition.predicates())
    }

    /// Of each predicate, the classes that meet it.
    fn met(&self) -> &[Set] {
        self.partition.as_ref().map_or(&[], Partition::met)
    }

    /// The columns that the predicates are of, and their kinds.
    pub(crate) fn kinds(&self) -> BTreeMap<String, Kind> {
        let kinds = self.predicates().iter().flat_map(Predicate::kinds);
        kinds.map(|(column, kind)| (column.to_owned(), kind)).collect()
    }

    /// The class of each pattern of predicates.
    pub(super) fn by_pattern(&self) -> HashMap<Vec<bool>, u32> {
        self.patterns().into_iter().zip(0..).collect()
    }

    /// Whether a class meets a predicate.
    pub(super) fn meets(&self, predicate: usize, class: u32) -> bool {
        self.met()[predicate].contains(class)
    }

    /// The first class that differs in the fewest predicates.
    pub(super) fn nearest(&self, met: &dyn Fn(usize) -> bool) -> u32 {
        let predicates = self.predicates().len();
        let apart = |class: &u32| {
            (0..predicates).filter(|&one| self.meets(one, *class) != met(one)).count()
        };
        (0..self.count() as u32).min_by_key(apart).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Comparison, ReadOptions, Source, read};

    #[test]
    fn unseen_patterns_are_put_to_the_nearest() {
        let table = |csv: &'static str| {
            read([Source::stream("t.csv", csv.as_bytes())], &ReadOptions::default()).unwrap()
        };
        let train = table("sex,age\nf,20\nm,20\nf,50\n");
        let known = vec![
            Predicate::compare("sex", Comparison::Eq, "f"),
            Predicate::compare("sex", Comparison::Eq, "m"),
            Predicate::compare("age", Comparison::Gt, 40.0),
        ];
        let (classes, rows) = Classes::new(known, &train).unwrap();
        assert_eq!(classes.count(), 3);
        assert_eq!(classes.assign(&train).unwrap(), rows);
        // An old man: he shares two of three conditions with a young man, and one with an old woman.
        let new = table("sex,age\nm,60\nf,60\nx,10\n");
        let assigned = classes.assign(&new).unwrap();
        assert_eq!(assigned[..2], [rows[1], rows[2]]);
        let text = serde_json::to_string(&classes).unwrap();
        let again: Classes = serde_json::from_str(&text).unwrap();
        assert_eq!(again.assign(&new).unwrap(), assigned);
    }
}
