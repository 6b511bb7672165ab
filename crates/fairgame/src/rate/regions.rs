//! Regions: the parts of groups that rates are sums over, and the cells they make.

use std::collections::HashMap;

use super::bind::Bound;
use super::cells::{Classes, Examples, classes};
use super::language::Span;
use super::linear::{Atom, Form, Measure};
use super::set::Set;
use crate::Result;
use crate::table::{Predicate, Table};

/// A loss as a constant and numbers on regions.
pub(super) struct Sum {
    pub(super) constant: f64,
    pub(super) terms: Vec<(usize, f64)>,
}

impl Sum {
    /// The loss of a rate that has nothing to measure.
    pub(super) fn undefined() -> Self {
        Sum { constant: f64::NAN, terms: Vec::new() }
    }
}

/// Part of a group: all of it, or the rows that do or do not meet a predicate.
type Part = Option<(usize, bool)>;

/// The regions that the losses need, as sets of classes of rows.
pub(super) struct Regions {
    pub(super) classes: Classes,
    examples: Examples,
    /// The weight and the number of rows of each class.
    weights: Vec<f64>,
    rows: Vec<usize>,
    /// Where each predicate stands in `met`.
    predicates: HashMap<String, usize>,
    /// Of each predicate, the classes that meet it.
    pub(super) met: Vec<Set>,
    known: HashMap<(Option<usize>, Part), usize>,
    /// The classes of each region.
    sets: Vec<Set>,
    pub(super) label: usize,
}

impl Regions {
    pub(super) fn new(bound: &Bound, table: &Table, weights: Option<&[f32]>) -> Result<Self> {
        let mut predicates: Vec<&Predicate> = vec![&bound.label];
        let mut index = HashMap::from([(key(&bound.label), 0)]);
        let forms = bound.constraints.iter().map(|constraint| &constraint.form);
        for (_, atom) in
            std::iter::once(&bound.objective.0).chain(forms).flat_map(|form| &form.terms)
        {
            let old = match &atom.measure {
                Measure::Churn(old) => Some(old),
                _ => None,
            };
            for predicate in atom.group.iter().chain(old) {
                index.entry(key(predicate)).or_insert_with(|| {
                    predicates.push(predicate);
                    predicates.len() - 1
                });
            }
        }

        let classes = classes(&predicates, table)?;
        let examples = Examples::new(table, &classes);
        let met = predicates
            .iter()
            .map(|predicate| examples.matching(predicate))
            .collect::<Result<_>>()?;
        let mut sums = vec![0.0; classes.examples.len()];
        let mut rows = vec![0; classes.examples.len()];
        for (row, &class) in classes.of_row.iter().enumerate() {
            sums[class as usize] += weights.map_or(1.0, |weights| f64::from(weights[row]));
            rows[class as usize] += 1;
        }
        Ok(Regions {
            classes,
            examples,
            weights: sums,
            rows,
            met,
            predicates: index,
            known: HashMap::new(),
            sets: Vec::new(),
            label: 0,
        })
    }

    pub(super) fn predicate(&self, predicate: &Predicate) -> usize {
        self.predicates[&key(predicate)]
    }

    /// The region of a group's part.
    fn region(&mut self, group: Option<usize>, part: Part) -> usize {
        if let Some(&region) = self.known.get(&(group, part)) {
            return region;
        }
        let group_set = group.map(|group| &self.met[group]);
        let part_set = part.map(|(predicate, wanted)| {
            let met = &self.met[predicate];
            if wanted { met.clone() } else { met.not() }
        });
        let set = match (group_set, part_set) {
            (None, None) => Set::all(self.examples.len()),
            (Some(group), None) => group.clone(),
            (None, Some(part)) => part,
            (Some(group), Some(part)) => group.and(&part),
        };
        self.sets.push(set);
        self.known.insert((group, part), self.sets.len() - 1);
        self.sets.len() - 1
    }

    fn weight(&self, region: usize) -> f64 {
        self.sets[region].iter().map(|class| self.weights[class as usize]).sum()
    }

    fn count(&self, region: usize) -> usize {
        self.sets[region].iter().map(|class| self.rows[class as usize]).sum()
    }

    /// A form as a constant and numbers on regions, or where and why there is nothing to measure.
    pub(super) fn sum(&mut self, form: &Form) -> Result<Sum, (Span, String)> {
        let mut sum = Sum { constant: form.constant, terms: Vec::new() };
        for (factor, atom) in &form.terms {
            let group = atom.group.as_ref().map(|group| self.predicate(group));
            let told_by = match &atom.measure {
                Measure::Churn(old) => self.predicate(old),
                _ => self.label,
            };
            // Only the regions that the measure needs: each may cut cells in two.
            let yes = |regions: &mut Self| regions.region(group, Some((told_by, true)));
            let no = |regions: &mut Self| regions.region(group, Some((told_by, false)));
            let whole = match atom.measure {
                Measure::TruePositive => yes(self),
                Measure::FalsePositive => no(self),
                _ => self.region(group, None),
            };
            let total = self.weight(whole);
            if total <= 0.0 {
                return Err((atom.span, self.reason(atom, group, whole)));
            }
            let each = factor / total;
            match atom.measure {
                Measure::Positive | Measure::TruePositive | Measure::FalsePositive => {
                    sum.terms.push((whole, each));
                }
                Measure::RightlyPositive => sum.terms.push((yes(self), each)),
                // A wrong decision is a positive one on `no`, or one that is not positive on `yes`.
                Measure::Error | Measure::Churn(_) => {
                    let (yes, no) = (yes(self), no(self));
                    sum.constant += each * self.weight(yes);
                    sum.terms.extend([(no, each), (yes, -each)]);
                }
                Measure::Label => {
                    let yes = yes(self);
                    sum.constant += each * self.weight(yes);
                }
            }
        }
        Ok(sum)
    }

    fn reason(&mut self, atom: &Atom, group: Option<usize>, whole: usize) -> String {
        let all = self.region(group, None);
        nothing(atom, self.count(all), self.count(whole))
    }

    /// Classes that lie in the same regions become one cell.
    pub(super) fn merge(&self, weights: Option<&[f32]>) -> Cells {
        let cell_of = self.refine();
        let count = cell_of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut sums = vec![0.0; count];
        // Row by row, as a tally adds them up, so that a full tally has these weights to the bit.
        let mut of_row = Vec::with_capacity(self.classes.of_row.len());
        for (row, &class) in self.classes.of_row.iter().enumerate() {
            let cell = cell_of[class as usize];
            sums[cell as usize] += weights.map_or(1.0, |weights| f64::from(weights[row]));
            of_row.push(cell);
        }
        let all_apart = count == cell_of.len();
        let regions = self.sets.iter().map(|set| {
            if all_apart {
                return set.clone();
            }
            let mut inside = vec![false; count];
            set.iter().for_each(|class| inside[cell_of[class as usize] as usize] = true);
            Set::places(&inside)
        });
        Cells { of_row, weights: sums, regions: regions.collect() }
    }

    /// The cell of each class: split by one region after another, then numbered as they come.
    fn refine(&self) -> Vec<u32> {
        let classes = self.examples.len() as usize;
        let mut cell_of = vec![0_u32; classes];
        let mut sizes = vec![classes];
        let mut hits: Vec<usize> = vec![0];
        let mut moved: Vec<u32> = vec![0];
        for set in &self.sets {
            let mut touched = Vec::new();
            for class in set.iter() {
                let cell = cell_of[class as usize];
                if hits[cell as usize] == 0 {
                    touched.push(cell);
                }
                hits[cell as usize] += 1;
            }
            for &cell in &touched {
                // A cell that lies in the region as a whole stays one.
                let (all, inside) = (sizes[cell as usize], hits[cell as usize]);
                if inside < all {
                    moved[cell as usize] = sizes.len() as u32;
                    sizes[cell as usize] = all - inside;
                    sizes.push(inside);
                    hits.push(0);
                    moved.push(sizes.len() as u32 - 1);
                } else {
                    moved[cell as usize] = cell;
                }
            }
            for class in set.iter() {
                let cell = &mut cell_of[class as usize];
                *cell = moved[*cell as usize];
            }
            touched.iter().for_each(|&cell| hits[cell as usize] = 0);
        }
        let mut numbers: Vec<u32> = vec![u32::MAX; sizes.len()];
        let mut next = 0;
        for cell in &mut cell_of {
            let number = &mut numbers[*cell as usize];
            if *number == u32::MAX {
                *number = next;
                next += 1;
            }
            *cell = *number;
        }
        cell_of
    }
}

/// Why an atom has nothing to measure, where `counted` of the `rows` of its group are of its label.
pub(super) fn nothing(atom: &Atom, rows: usize, counted: usize) -> String {
    let grouped = atom.group.is_some();
    let with = if grouped { format!(" with {}", atom.shown) } else { String::new() };
    let side = if atom.measure == Measure::TruePositive { "positive" } else { "negative" };
    match (rows, counted) {
        (0, _) if grouped => format!("no row has {}", atom.shown),
        (0, _) => "there is no row".to_owned(),
        (1, 0) => format!("the one row{with} is not {side}"),
        (rows, 0) => format!("none of the {rows} rows{with} is {side}"),
        _ => format!("every row{with} that counts here has weight 0"),
    }
}

fn key(predicate: &Predicate) -> String {
    format!("{predicate:?}")
}

/// The cells of a table, and the regions as sets of cells.
pub(super) struct Cells {
    pub(super) of_row: Vec<u32>,
    pub(super) weights: Vec<f64>,
    pub(super) regions: Vec<Set>,
}
