//! A bound problem and a table, made into cells and losses.
//!
//! A rate is a sum over **regions** (a group, and a label or older decision) of the weight decided
//! positive. Rows that lie in the same regions are a cell, and the i-th loss has on each cell the
//! number α_i(c) = Σ_j a_j·1{c ∈ R_j} over the regions R_j of its rates.
//!
//! A table of α over cells × constraints could be as large as rows × constraints. So losses are kept
//! as sums over **events**, sets of cells that constraints share: α itself needs the regions alone,
//! and its positive part, which depends on which of the few regions of one constraint a cell lies in,
//! is by Möbius inversion a sum over intersections of these:
//!
//! ```text
//! α⁺(c) = Σ_S δ_S · 1{c ∈ ∩S},   δ_S = Σ_{T ⊆ S} (−1)^{|S| − |T|} · max(0, Σ_{j ∈ T} a_j)
//! ```
//!
//! For `positive_rate(g) >= 0.8 * positive_rate()` that is two events, g and all rows, of which a
//! thousand such constraints share the second.

use std::collections::{BTreeMap, HashMap};

use super::bind::Bound;
use super::cells::{Classes, classes};
use super::language::Span;
use super::linear::{Atom, Form, Measure};
use super::losses::{Loss, Losses, Term};
use crate::table::{Predicate, Table};
use crate::{Error, ErrorKind, Result};

/// The cells and losses of a problem on one table.
#[derive(Debug, Clone)]
pub struct Compiled {
    cells: Vec<u32>,
    losses: Losses,
    emptiness: Emptiness,
}

/// Which losses have a rate with nothing to measure: where it is written, and why.
#[derive(Debug, Clone, Default)]
pub(super) struct Emptiness {
    pub(super) objective: Option<(Span, String)>,
    pub(super) constraints: BTreeMap<usize, (Span, String)>,
}

impl Emptiness {
    /// Takes in what another table lacks.
    pub(super) fn add(&mut self, other: &Emptiness) {
        self.objective = self.objective.take().or_else(|| other.objective.clone());
        for (index, reason) in &other.constraints {
            self.constraints.entry(*index).or_insert_with(|| reason.clone());
        }
    }
}

impl Compiled {
    /// The cell of each row.
    pub fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// The losses, of which a tally over the cells is all the data they need.
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// The constraints that have a rate with nothing to measure, each with the reason.
    pub fn empty_constraints(&self) -> impl Iterator<Item = (usize, &str)> {
        self.emptiness.constraints.iter().map(|(&index, (_, reason))| (index, reason.as_str()))
    }

    pub(super) fn emptiness(&self) -> &Emptiness {
        &self.emptiness
    }
}

pub(super) fn compile(bound: &Bound, table: &Table, weights: Option<&[f32]>) -> Result<Compiled> {
    check_weights(weights, table.rows())?;
    let mut regions = Regions::new(bound, table, weights)?;
    let mut emptiness = Emptiness::default();
    let objective = regions.sum(&bound.objective.0).unwrap_or_else(|reason| {
        emptiness.objective = Some(reason);
        Sum::undefined()
    });
    let mut constraints = Vec::with_capacity(bound.constraints.len());
    for (index, constraint) in bound.constraints.iter().enumerate() {
        constraints.push(regions.sum(&constraint.form).unwrap_or_else(|reason| {
            emptiness.constraints.insert(index, reason);
            Sum::undefined()
        }));
    }

    let cells = regions.merge(weights);
    let mut events = Events::new(&cells.regions);
    let objective = events.loss(&objective);
    let constraints = constraints.iter().map(|sum| events.loss(sum)).collect();
    let losses = Losses::new(cells.weights, events.sets, objective, constraints);
    Ok(Compiled { cells: cells.of_row, losses, emptiness })
}

fn check_weights(weights: Option<&[f32]>, rows: usize) -> Result<()> {
    let Some(weights) = weights else { return Ok(()) };
    if weights.len() != rows {
        let message = format!("{} weights are given for {rows} rows", weights.len());
        return Err(Error::new(ErrorKind::Value, message));
    }
    match weights.iter().position(|weight| !(*weight >= 0.0 && weight.is_finite())) {
        None => Ok(()),
        Some(row) => Err(Error::new(
            ErrorKind::Value,
            format!("the weight of row {} is {}", row + 1, weights[row]),
        )
        .help("weights are numbers from 0 up")),
    }
}

/// A loss as a constant and numbers on regions.
struct Sum {
    constant: f64,
    terms: Vec<(usize, f64)>,
}

impl Sum {
    /// The loss of a rate that has nothing to measure.
    fn undefined() -> Self {
        Sum { constant: f64::NAN, terms: Vec::new() }
    }
}

/// Part of a group: all of it, or the rows that do or do not meet a predicate.
type Part = Option<(usize, bool)>;

/// The regions that the losses need, as sets of classes of rows.
struct Regions {
    classes: Classes,
    /// The weight and the number of rows of each class.
    weights: Vec<f64>,
    rows: Vec<usize>,
    /// Of each predicate, whether each class meets it.
    met: Vec<Vec<bool>>,
    predicates: HashMap<String, usize>,
    known: HashMap<(Option<usize>, Part), usize>,
    /// The classes of each region, ascending.
    sets: Vec<Vec<u32>>,
    label: usize,
}

impl Regions {
    fn new(bound: &Bound, table: &Table, weights: Option<&[f32]>) -> Result<Self> {
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
        let examples = table.take(&classes.examples);
        let met = predicates
            .iter()
            .map(|predicate| predicate.evaluate(&examples))
            .collect::<Result<Vec<_>>>()?;
        let mut sums = vec![0.0; classes.examples.len()];
        let mut rows = vec![0; classes.examples.len()];
        for (row, &class) in classes.of_row.iter().enumerate() {
            sums[class as usize] += weights.map_or(1.0, |weights| f64::from(weights[row]));
            rows[class as usize] += 1;
        }
        Ok(Regions {
            classes,
            weights: sums,
            rows,
            met,
            predicates: index,
            known: HashMap::new(),
            sets: Vec::new(),
            label: 0,
        })
    }

    fn predicate(&self, predicate: &Predicate) -> usize {
        self.predicates[&key(predicate)]
    }

    /// The region of a group's part.
    fn region(&mut self, group: Option<usize>, part: Part) -> usize {
        if let Some(&region) = self.known.get(&(group, part)) {
            return region;
        }
        let inside = |class: &u32| {
            let class = *class as usize;
            group.is_none_or(|group| self.met[group][class])
                && part.is_none_or(|(predicate, wanted)| self.met[predicate][class] == wanted)
        };
        let set = (0..self.classes.examples.len() as u32).filter(inside).collect();
        self.sets.push(set);
        self.known.insert((group, part), self.sets.len() - 1);
        self.sets.len() - 1
    }

    fn weight(&self, region: usize) -> f64 {
        self.sets[region].iter().map(|&class| self.weights[class as usize]).sum()
    }

    fn count(&self, region: usize) -> usize {
        self.sets[region].iter().map(|&class| self.rows[class as usize]).sum()
    }

    /// A form as a constant and numbers on regions, or where and why there is nothing to measure.
    fn sum(&mut self, form: &Form) -> Result<Sum, (Span, String)> {
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
        let (rows, counted) = (self.count(all), self.count(whole));
        let with = if group.is_some() { format!(" with {}", atom.shown) } else { String::new() };
        let side = if atom.measure == Measure::TruePositive { "positive" } else { "negative" };
        match (rows, counted) {
            (0, _) if group.is_some() => format!("no row has {}", atom.shown),
            (0, _) => "there is no row".to_owned(),
            (1, 0) => format!("the one row{with} is not {side}"),
            (rows, 0) => format!("none of the {rows} rows{with} is {side}"),
            _ => format!("every row{with} that counts here has weight 0"),
        }
    }

    /// Classes that lie in the same regions become one cell.
    fn merge(&self, weights: Option<&[f32]>) -> Cells {
        let mut regions_of: Vec<Vec<u32>> = vec![Vec::new(); self.classes.examples.len()];
        for (region, set) in self.sets.iter().enumerate() {
            set.iter().for_each(|&class| regions_of[class as usize].push(region as u32));
        }
        let mut cells: HashMap<Vec<u32>, u32> = HashMap::new();
        let cell_of: Vec<u32> = regions_of
            .into_iter()
            .map(|regions| {
                let next = cells.len() as u32;
                *cells.entry(regions).or_insert(next)
            })
            .collect();
        let mut sums = vec![0.0; cells.len()];
        // Row by row, as a tally adds them up, so that a full tally has these weights to the bit.
        let mut of_row = Vec::with_capacity(self.classes.of_row.len());
        for (row, &class) in self.classes.of_row.iter().enumerate() {
            let cell = cell_of[class as usize];
            sums[cell as usize] += weights.map_or(1.0, |weights| f64::from(weights[row]));
            of_row.push(cell);
        }
        let regions = self.sets.iter().map(|set| {
            let mut cells: Vec<u32> = set.iter().map(|&class| cell_of[class as usize]).collect();
            cells.sort_unstable();
            cells.dedup();
            cells
        });
        Cells { of_row, weights: sums, regions: regions.collect() }
    }
}

fn key(predicate: &Predicate) -> String {
    format!("{predicate:?}")
}

/// The cells of a table, and the regions as sets of cells.
struct Cells {
    of_row: Vec<u32>,
    weights: Vec<f64>,
    regions: Vec<Vec<u32>>,
}

/// Sets of cells that losses share.
struct Events<'a> {
    regions: &'a [Vec<u32>],
    sets: Vec<Vec<u32>>,
    known: HashMap<Vec<u32>, u32>,
}

/// With more regions than this in one constraint, its patterns are told apart one by one.
const MOST_REGIONS: usize = 6;

impl<'a> Events<'a> {
    fn new(regions: &'a [Vec<u32>]) -> Self {
        Events { regions, sets: Vec::new(), known: HashMap::new() }
    }

    fn event(&mut self, set: &[u32]) -> u32 {
        if let Some(&event) = self.known.get(set) {
            return event;
        }
        let event = self.sets.len() as u32;
        self.sets.push(set.to_vec());
        self.known.insert(set.to_vec(), event);
        event
    }

    fn loss(&mut self, sum: &Sum) -> Loss {
        // One number for each distinct set of cells.
        let mut merged: BTreeMap<u32, f64> = BTreeMap::new();
        for &(region, number) in &sum.terms {
            let set = &self.regions[region];
            if !set.is_empty() {
                *merged.entry(self.event(set)).or_default() += number;
            }
        }
        let parts: Vec<(u32, f64)> =
            merged.into_iter().filter(|(_, number)| *number != 0.0).collect();
        let mut terms: BTreeMap<u32, Term> = BTreeMap::new();
        if parts.len() <= MOST_REGIONS {
            self.intersections(&parts, &mut terms);
        } else {
            self.patterns(&parts, &mut terms);
        }
        let terms = terms.into_iter().map(|(event, term)| Term { event, ..term });
        Loss { constant: sum.constant, terms: terms.collect() }
    }

    /// α⁺ and α⁻ as sums over the intersections of the parts.
    fn intersections(&mut self, parts: &[(u32, f64)], terms: &mut BTreeMap<u32, Term>) {
        let alpha = |members: usize| -> f64 {
            parts.iter().enumerate().filter(|(j, _)| members >> j & 1 == 1).map(|(_, p)| p.1).sum()
        };
        for members in 1..1_usize << parts.len() {
            let (mut down, mut up) = (0.0, 0.0);
            // Every subset of the members, the empty one last, which adds nothing.
            let mut subset = members;
            while subset > 0 {
                let odd = (members.count_ones() - subset.count_ones()) % 2 == 1;
                let sign = if odd { -1.0 } else { 1.0 };
                down += sign * alpha(subset).max(0.0);
                up += sign * (-alpha(subset)).max(0.0);
                subset = (subset - 1) & members;
            }
            let exact = if members.count_ones() == 1 { alpha(members) } else { 0.0 };
            if down == 0.0 && up == 0.0 && exact == 0.0 {
                continue;
            }
            let mut chosen =
                parts.iter().enumerate().filter(|(j, _)| members >> j & 1 == 1).map(|(_, p)| p.0);
            let Some(first) = chosen.next() else { continue };
            let common = chosen.fold(self.sets[first as usize].clone(), |set, event| {
                intersect(&set, &self.sets[event as usize])
            });
            if !common.is_empty() {
                let event = self.event(&common);
                terms.entry(event).or_default().add(exact, down, up);
            }
        }
    }

    /// α⁺ and α⁻ on the sets of cells that lie in exactly the same parts.
    fn patterns(&mut self, parts: &[(u32, f64)], terms: &mut BTreeMap<u32, Term>) {
        let mut members: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (part, (event, _)) in parts.iter().enumerate() {
            for &cell in &self.sets[*event as usize] {
                members.entry(cell).or_default().push(part);
            }
        }
        let mut patterns: BTreeMap<Vec<usize>, Vec<u32>> = BTreeMap::new();
        for (cell, pattern) in members {
            patterns.entry(pattern).or_default().push(cell);
        }
        for (pattern, cells) in patterns {
            let alpha: f64 = pattern.iter().map(|&part| parts[part].1).sum();
            let event = self.event(&cells);
            terms.entry(event).or_default().add(alpha, alpha.max(0.0), (-alpha).max(0.0));
        }
    }
}

/// What two ascending lists have in common.
fn intersect(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut others = b.iter().peekable();
    a.iter()
        .copied()
        .filter(|item| {
            while others.next_if(|other| *other < item).is_some() {}
            others.peek() == Some(&item)
        })
        .collect()
}
