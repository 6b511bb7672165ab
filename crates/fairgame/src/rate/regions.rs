//! Regions: the parts of groups that losses are sums over.
//!
//! A region is a group, or the rows of it that do or do not meet the predicate t of a measure. With R_1 and
//! R_0 these two parts, (u_1, v_1) and (u_0, v_0) their outcomes, and W the weight of those that count, a
//! measure is
//!
//! ```text
//! Σ_s  u_s·W(R_s)/W  +  v_s·P(R_s)/W
//! ```
//!
//! a constant and a number on each region. Where both outcomes are the same, the group is one region.

use std::collections::HashMap;

use super::language::Span;
use super::linear::Form;
use super::measure::Atom;
use super::set::Set;

/// A group (`None` is all rows), and the predicate that its rows meet or do not.
type Key = (Option<usize>, Option<(usize, bool)>);

/// The regions that losses need, as sets of cells.
pub(super) struct Regions<'a> {
    /// Of each predicate, the cells that meet it.
    met: &'a [Set],
    /// The weight and the number of rows of each cell.
    weights: &'a [f64],
    rows: &'a [usize],
    known: HashMap<Key, usize>,
    sets: Vec<Set>,
}

impl<'a> Regions<'a> {
    pub(super) fn new(met: &'a [Set], weights: &'a [f64], rows: &'a [usize]) -> Self {
        Regions { met, weights, rows, known: HashMap::new(), sets: Vec::new() }
    }

    /// The cells of each region.
    pub(super) fn into_sets(self) -> Vec<Set> {
        self.sets
    }

    fn region(&mut self, key: Key) -> usize {
        if let Some(&region) = self.known.get(&key) {
            return region;
        }
        let (group, side) = key;
        let group = group.map(|group| &self.met[group]);
        let side = side.map(|(predicate, wanted)| {
            let met = &self.met[predicate];
            if wanted { met.clone() } else { met.not() }
        });
        let set = match (group, side) {
            (None, None) => Set::all(self.weights.len() as u32),
            (Some(group), None) => group.clone(),
            (None, Some(side)) => side,
            (Some(group), Some(side)) => group.and(&side),
        };
        self.sets.push(set);
        self.known.insert(key, self.sets.len() - 1);
        self.sets.len() - 1
    }

    fn weight(&self, region: usize) -> f64 {
        self.sets[region].iter().map(|cell| self.weights[cell as usize]).sum()
    }

    fn count(&self, region: usize) -> usize {
        self.sets[region].iter().map(|cell| self.rows[cell as usize]).sum()
    }

    /// A form as a constant and numbers on regions, or where and why there is nothing to measure.
    pub(super) fn sum(&mut self, form: &Form) -> Result<Form<usize>, (Span, String)> {
        let mut sum = Form::constant(form.constant);
        for (factor, atom) in &form.terms {
            self.add(*factor, atom, &mut sum)?;
        }
        Ok(sum)
    }

    fn add(
        &mut self,
        factor: f64,
        atom: &Atom,
        sum: &mut Form<usize>,
    ) -> Result<(), (Span, String)> {
        let outcomes = [false, true].map(|side| atom.outcome(side));
        // Only the regions that the measure needs: each may cut cells in two.
        let side = |side: bool| (atom.group, atom.told.map(|told| (told, side)));
        let counted = self.region(match outcomes {
            [None, _] => side(true),
            [_, None] => side(false),
            _ => (atom.group, None),
        });
        let total = self.weight(counted);
        if total <= 0.0 {
            let all = self.region((atom.group, None));
            return Err((atom.span, atom.nothing(self.count(all), self.count(counted))));
        }
        let alike = outcomes[0] == outcomes[1];
        let sides = if alike { &[true][..] } else { &[false, true] };
        for &met in sides {
            let Some((u, v)) = atom.outcome(met) else { continue };
            if (u, v) == (0.0, 0.0) {
                continue;
            }
            let region = if alike { counted } else { self.region(side(met)) };
            if u != 0.0 {
                sum.constant += factor / total * u * self.weight(region);
            }
            if v != 0.0 {
                sum.terms.push((factor / total * v, region));
            }
        }
        Ok(())
    }
}
