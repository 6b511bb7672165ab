//! Rows cut into cells by the predicates of a problem.
//!
//! The predicates of a [`Bound`] problem are its label, its groups and its older decisions. A **cell** is a
//! pattern of predicates: two rows are in the same cell if and only if they meet the same ones. Every loss
//! treats the rows of a cell alike.
//!
//! A row is first a tuple of codes, one for each column that predicates mention (`marks.rs`). Rows with
//! the same codes are a class; predicates are evaluated once on each class, and classes that meet the same
//! predicates are one cell. Classes are put in the order of their codes, and cells in an order of the
//! predicates that they meet, so cells and their numbers do not depend on the order of rows, on how they are
//! cut into tables, or on the dictionaries of these; and of two cells the same one comes first, whatever
//! other rows there are.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::bind::Bound;
use super::lookup::Lookup;
use super::lower::LABEL;
use super::marks::Marks;
use super::set::Set;
use super::trie::{NONE, Trie};
use crate::random::mix;
use crate::table::{Predicate, Table};
use crate::{Error, ErrorKind, Result};

/// A partition of rows into cells, which grows with the rows that are added.
///
/// ```
/// use fairgame::rate::{PartitionBuilder, Problem};
/// use fairgame::table::{ReadOptions, Source, read};
/// let csv = "age,hired\n21,no\n35,yes\n50,yes\n22,no\n";
/// let people = read([Source::stream("people.csv", csv.as_bytes())], &ReadOptions::default())?;
/// let problem = Problem::parse("hired == \"yes\"", "error()", &["tpr(age > 40) >= 0.5"])?;
/// let (bound, _) = problem.bind(&people, &[])?;
///
/// let mut builder = PartitionBuilder::new(&bound);
/// let classes = builder.add(&people)?;
/// let (partition, cell_of) = builder.finish();
/// // Young and not hired; young and hired; old and hired.
/// assert_eq!(partition.cells(), 3);
/// let cells: Vec<u32> = classes.iter().map(|&class| cell_of[class as usize]).collect();
/// assert_eq!(cells, [0, 1, 2, 0]);
/// assert_eq!(partition.assign(&people)?, cells);
/// # Ok::<(), fairgame::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PartitionBuilder {
    predicates: Arc<[Predicate]>,
    marks: Arc<[Marks]>,
    trie: Trie,
}

/// Which cell each row is in: a function of the row alone.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Partition {
    predicates: Arc<[Predicate]>,
    marks: Arc<[Marks]>,
    /// The classes, in ascending order of their codes.
    trie: Trie,
    /// The cell of each class.
    cell_of: Vec<u32>,
    /// Of each predicate, the cells that meet it.
    met: Vec<Set>,
    cells: u32,
}

impl PartitionBuilder {
    /// Of no rows yet.
    pub fn new(bound: &Bound) -> Self {
        PartitionBuilder::of(Arc::clone(bound.predicates()))
    }

    /// Of no rows yet, by these predicates.
    pub(super) fn of(predicates: Arc<[Predicate]>) -> Self {
        let marks: Arc<[Marks]> = Marks::of(&predicates).into();
        let trie = Trie::new(marks.iter().map(Marks::codes));
        PartitionBuilder { predicates, marks, trie }
    }

    /// Adds the rows of a table, and returns the class of each of them.
    ///
    /// Classes are numbered as they first come. They stay as they are when more rows are added;
    /// [`PartitionBuilder::finish`] says which cell each of them is in.
    ///
    /// # Errors
    /// If a column of a predicate is absent or of another kind. Then nothing is added.
    pub fn add(&mut self, table: &Table) -> Result<Vec<u32>> {
        for marks in self.marks.iter() {
            marks.column(table)?;
        }
        let mut classes = vec![0; table.rows()];
        for (marks, level) in self.marks.iter().zip(self.trie.levels_mut()) {
            marks.each_code(table, &mut classes, |class, code| level.number((class, code)))?;
        }
        Ok(classes)
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.trie.len()
    }

    /// Adds the rows that another builder has seen, and returns which class here each of its classes is.
    ///
    /// # Errors
    /// If the other builder is of a problem with other predicates.
    pub fn merge(&mut self, other: &PartitionBuilder) -> Result<Vec<u32>> {
        same_predicates(&self.predicates, &other.predicates)?;
        Ok(self.trie.merge(&other.trie))
    }

    /// The partition of the rows that were added, and the cell of each class.
    pub fn finish(self) -> (Partition, Vec<u32>) {
        let (trie, mut classes) = self.trie.sorted();
        let partition = Partition::new(self.predicates, self.marks, trie);
        classes.iter_mut().for_each(|class| *class = partition.cell_of[*class as usize]);
        (partition, classes)
    }

    /// Of each predicate, the classes that meet it.
    fn met(&self) -> Vec<Set> {
        let lookup = Lookup::new(&self.marks, &self.trie);
        self.predicates.iter().map(|predicate| lookup.matching(predicate)).collect()
    }
}

impl From<Partition> for PartitionBuilder {
    /// With the classes of the partition, by their numbers.
    fn from(Partition { predicates, marks, trie, .. }: Partition) -> Self {
        PartitionBuilder { predicates, marks, trie }
    }
}

impl Partition {
    /// How many classes there are.
    pub(crate) fn classes(&self) -> usize {
        self.trie.len()
    }

    fn new(predicates: Arc<[Predicate]>, marks: Arc<[Marks]>, trie: Trie) -> Self {
        let lookup = Lookup::new(&marks, &trie);
        let met: Vec<Set> = predicates.iter().map(|predicate| lookup.matching(predicate)).collect();
        let cell_of = in_order(refine(trie.len(), &met), &met);
        // The first class of a cell stands for it.
        let cells = cell_of.iter().max().map_or(0, |&last| last + 1);
        let mut known = vec![false; cells as usize];
        let first = |&cell: &u32| !std::mem::replace(&mut known[cell as usize], true);
        let firsts: Vec<bool> = cell_of.iter().map(first).collect();
        let met = met.into_iter().map(|set| {
            let firsts = set.iter().filter(|&class| firsts[class as usize]);
            Set::new(cells, firsts.map(|class| cell_of[class as usize]))
        });
        let met = met.collect();
        Partition { predicates, marks, trie, cell_of, met, cells }
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.cells as usize
    }

    /// Of each predicate of the problem, the cells that meet it; the first predicate is the label.
    pub(crate) fn met(&self) -> &[Set] {
        &self.met
    }

    /// The cell of each row of a table.
    ///
    /// # Errors
    /// If a column of a predicate is absent or of another kind, or if a row meets predicates that no row
    /// met together when the partition was made; the error names the first such row.
    pub fn assign(&self, table: &Table) -> Result<Vec<u32>> {
        let mut rows = vec![0; table.rows()];
        for (marks, level) in self.marks.iter().zip(self.trie.levels()) {
            marks.each_code(table, &mut rows, |class, code| match class {
                NONE => NONE,
                class => level.find((class, code)),
            })?;
        }
        if rows.contains(&NONE) {
            return self.assign_new(table);
        }
        rows.iter_mut().for_each(|row| *row = self.cell_of[*row as usize]);
        Ok(rows)
    }

    /// The cells of rows that have codes which are not known together.
    fn assign_new(&self, table: &Table) -> Result<Vec<u32>> {
        let rows = self.assign_known(table)?;
        let cell = |(row, cell): (usize, Option<u32>)| {
            cell.ok_or_else(|| {
                let message =
                    format!("row {} meets conditions that no row met together before", row + 1);
                Error::new(ErrorKind::Value, message)
                    .help("make the partition of all rows that it is to be used for")
            })
        };
        rows.into_iter().enumerate().map(cell).collect()
    }

    /// The cell of each row of a table; of none where it meets predicates that no row met together before.
    ///
    /// # Errors
    /// If a column of a predicate is absent or of another kind.
    pub(super) fn assign_known(&self, table: &Table) -> Result<Vec<Option<u32>>> {
        let mut builder = PartitionBuilder::of(Arc::clone(&self.predicates));
        let rows = builder.add(table)?;
        // Cells and new classes side by side: those that meet the same predicates come together.
        let (cells, classes) = (self.cells, builder.classes() as u32);
        let both = self.met.iter().zip(builder.met()).map(|(known, new)| {
            let new: Vec<u32> = new.iter().map(|class| cells + class).collect();
            Set::new(cells + classes, known.iter().chain(new))
        });
        let together = refine((cells + classes) as usize, &both.collect::<Vec<_>>());
        // No two cells meet the same predicates, so cells have the first numbers.
        let cell =
            |class: u32| Some(together[(cells + class) as usize]).filter(|cell| *cell < cells);
        Ok(rows.into_iter().map(cell).collect())
    }

    /// Which cells are labelled positive.
    pub(crate) fn labelled(&self) -> Vec<bool> {
        let mut labelled = vec![false; self.cells()];
        self.met[LABEL].iter().for_each(|cell| labelled[cell as usize] = true);
        labelled
    }

    pub(super) fn predicates(&self) -> &Arc<[Predicate]> {
        &self.predicates
    }

    /// Checks that the partition is by the predicates of a problem.
    pub(super) fn check(&self, bound: &Bound) -> Result<()> {
        same_predicates(&self.predicates, bound.predicates())
    }
}

fn same_predicates(a: &Arc<[Predicate]>, b: &Arc<[Predicate]>) -> Result<()> {
    if Arc::ptr_eq(a, b) || a == b {
        return Ok(());
    }
    let message = "the partition is of another problem: its label or groups differ";
    Err(Error::new(ErrorKind::Settings, message))
}

/// Numbers cells by the predicates they meet, so that a cell's place among others does not depend on the rows seen:
/// by the first 64 predicates as the digits of a number, then by a hash of all.
fn in_order(mut cell_of: Vec<u32>, met: &[Set]) -> Vec<u32> {
    let mut pattern = vec![(0_u64, 0_u128); cell_of.len()];
    for (predicate, set) in met.iter().enumerate() {
        let place = predicate as u64;
        let hash = (u128::from(mix(place)) << 64) | u128::from(mix(!place));
        for class in set.iter() {
            let (digits, sum) = &mut pattern[class as usize];
            *digits |= 1_u64.checked_shl(predicate as u32).unwrap_or(0);
            *sum = sum.wrapping_add(hash);
        }
    }
    let mut first: Vec<Option<usize>> = Vec::new();
    for (class, &cell) in cell_of.iter().enumerate() {
        first.resize(first.len().max(cell as usize + 1), None);
        first[cell as usize].get_or_insert(class);
    }
    let mut order: Vec<usize> = (0..first.len()).collect();
    order.sort_by_key(|&cell| (first[cell].map(|class| pattern[class]), first[cell]));
    let mut number = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &cell)| number[cell] = place as u32);
    cell_of.iter_mut().for_each(|cell| *cell = number[*cell as usize]);
    cell_of
}

/// Puts items together that lie in the same sets; numbered as they come.
fn refine(items: usize, sets: &[Set]) -> Vec<u32> {
    let mut group_of = vec![0_u32; items];
    let mut sizes = vec![items];
    let mut hits: Vec<usize> = vec![0];
    let mut moved: Vec<u32> = vec![0];
    for set in sets {
        let mut touched = Vec::new();
        for item in set.iter() {
            let group = group_of[item as usize];
            if hits[group as usize] == 0 {
                touched.push(group);
            }
            hits[group as usize] += 1;
        }
        for &group in &touched {
            // A group that lies in the set as a whole stays one.
            let (all, inside) = (sizes[group as usize], hits[group as usize]);
            if inside < all {
                moved[group as usize] = sizes.len() as u32;
                sizes[group as usize] = all - inside;
                sizes.push(inside);
                hits.push(0);
                moved.push(sizes.len() as u32 - 1);
            } else {
                moved[group as usize] = group;
            }
        }
        for item in set.iter() {
            let group = &mut group_of[item as usize];
            *group = moved[*group as usize];
        }
        touched.iter().for_each(|&group| hits[group as usize] = 0);
    }
    let mut numbers: Vec<u32> = vec![u32::MAX; sizes.len()];
    let mut next = 0;
    for group in &mut group_of {
        let number = &mut numbers[*group as usize];
        if *number == u32::MAX {
            *number = next;
            next += 1;
        }
        *group = *number;
    }
    group_of
}

/// What is written of a partition; all else follows from it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    predicates: Vec<Predicate>,
    /// The classes: at each column, the class so far and the code.
    classes: Vec<Vec<(u32, u32)>>,
}

impl From<Partition> for Stored {
    fn from(partition: Partition) -> Self {
        Stored {
            predicates: partition.predicates.to_vec(),
            classes: partition.trie.pairs().map(<[_]>::to_vec).collect(),
        }
    }
}

impl TryFrom<Stored> for Partition {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        let marks: Arc<[Marks]> = Marks::of(&stored.predicates).into();
        let codes = marks.iter().map(Marks::codes);
        let trie = Trie::from_pairs(codes, &stored.classes).ok_or_else(|| {
            Error::new(ErrorKind::Format, "the classes of the partition are damaged")
        })?;
        Ok(Partition::new(stored.predicates.into(), marks, trie))
    }
}

/// Equal if they have the same predicates and the same cells for the same codes.
impl PartialEq for Partition {
    fn eq(&self, other: &Self) -> bool {
        self.predicates == other.predicates && self.trie.pairs().eq(other.trie.pairs())
    }
}
