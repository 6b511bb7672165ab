//! Cells as pairs: the class of a row, which is known when it is decided, and the pattern of all else.
//!
//! Let k be a row's [class](super::Classes) and u the pattern of predicates that its features do not tell: the label,
//! and groups by columns that are no features. A cell is a pair (k, u). For multipliers λ, a positive decision of a row in
//! cell c adds to the Lagrangian
//!
//! ```text
//! cost(k, u) = Σ_{events e ∋ (k, u)} Σ_i λ_i·α_ie
//! ```
//!
//! for each unit of weight, with α_ie the coefficient of event e in loss i. Of the patterns only the sets
//! S(e, k) = {u : (k, u) ∈ e} count: with P(S | x) the chance that the row's pattern is in S,
//!
//! ```text
//! Σ_u P(u | x)·cost(k, u) = Σ_S P(S | x)·cost(k, S),   cost(k, S) = Σ_{e : S(e, k) = S} Σ_i λ_i·α_ie.
//! ```
//!
//! So a rule needs one probability for each distinct set, and not one for each pattern. A set and its complement are one:
//! the set without the first pattern is modelled. Where the label alone is unknown, there is one set, and P is p(x).
//!
//! The grid has all pairs of a class and a pattern, seen together or not: what a rule does must not depend on
//! which labels happen to be in a small class.

use std::collections::HashMap;

use super::bind::Bound;
use super::classes::Classes;
use super::losses::{Losses, Multipliers};
use super::lower::LABEL;
use super::partition::Partition;
use super::set::Set;
use crate::{Error, ErrorKind, Result};

/// At most so many probabilities are modelled.
const MOST_SETS: usize = 64;

/// The cells of a partition as pairs of a class and a pattern.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    classes: usize,
    patterns: usize,
    /// The class and the pattern of each cell of the partition.
    pairs: Vec<(u32, u32)>,
    /// Of each predicate of the problem, the pairs that meet it.
    met: Vec<Set>,
    /// The modelled sets of patterns, ascending, none of which has the first pattern.
    sets: Vec<Vec<u32>>,
    /// Of each predicate that features do not tell, its text and the patterns that meet it.
    unknown: Vec<(String, Vec<bool>)>,
}

/// What a set of patterns is to a rule.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Share {
    /// All patterns: its probability is 1.
    All,
    /// A modelled set.
    Set(usize),
    /// All but a modelled set.
    Not(usize),
}

/// From multipliers to rules, for losses over some rows.
#[derive(Debug, Clone)]
pub(crate) struct Costs {
    losses: Losses,
    /// Of each class, the events that have some of its pairs, and what they have of it.
    shares: Vec<Vec<(u32, Share)>>,
    sets: usize,
}

impl Grid {
    /// The pairs of a partition's cells. `known` says where each predicate of the problem is among those of the classes,
    /// if it is.
    ///
    /// # Errors
    /// If too many probabilities would have to be modelled.
    pub(crate) fn new(
        bound: &Bound,
        partition: &Partition,
        classes: &Classes,
        known: &[Option<usize>],
    ) -> Result<Self> {
        let cells = partition.cells();
        let count = known.len();
        let mut bits = vec![vec![false; count]; cells];
        for (predicate, met) in partition.met().iter().enumerate() {
            met.iter().for_each(|cell| bits[cell as usize][predicate] = true);
        }
        let mut patterns: Vec<Vec<bool>> = Vec::new();
        let unknown = |bits: &[bool]| -> Vec<bool> {
            (0..count).filter(|&one| known[one].is_none()).map(|one| bits[one]).collect()
        };
        bits.iter().for_each(|bits| patterns.push(unknown(bits)));
        patterns.sort_unstable();
        patterns.dedup();
        let of_class: Vec<usize> = (0..count).filter(|&one| known[one].is_some()).collect();
        let place: HashMap<usize, usize> =
            of_class.iter().filter_map(|&one| Some((known[one]?, one))).collect();
        let exact = classes.by_pattern();
        let pair = |bits: &Vec<bool>| {
            let met = |one: usize| place.get(&one).is_some_and(|&at| bits[at]);
            let own: Vec<bool> = (0..classes.predicates().len()).map(met).collect();
            let class = exact.get(&own).copied().unwrap_or_else(|| classes.nearest(&met));
            let pattern = patterns.binary_search(&unknown(bits)).unwrap_or(0);
            (class, pattern as u32)
        };
        let pairs = bits.iter().map(pair).collect();
        let (classes_count, width) = (classes.count(), patterns.len());
        let below = (classes_count * width) as u32;
        let mut free = 0;
        let met = known.iter().map(|known| match known {
            Some(at) => {
                let own = (0..classes_count as u32).filter(|&class| classes.meets(*at, class));
                Set::new(
                    below,
                    own.flat_map(|class| {
                        let first = class * width as u32;
                        first..first + width as u32
                    }),
                )
            }
            None => {
                let at = free;
                free += 1;
                Set::new(below, (0..below).filter(|pair| patterns[*pair as usize % width][at]))
            }
        });
        let met = met.collect();
        let groups = bound.groups();
        let text = |predicate: usize| match predicate {
            LABEL => bound.frozen().label,
            _ => {
                let group = groups.iter().find(|(known, _)| *known == Some(predicate));
                group.map_or_else(String::new, |(_, text)| text.clone())
            }
        };
        let unknown = (0..count).filter(|&one| known[one].is_none()).enumerate();
        let unknown = unknown
            .map(|(at, one)| (text(one), patterns.iter().map(|bits| bits[at]).collect()))
            .collect();
        let (patterns, sets) = (width, Vec::new());
        let mut grid = Grid { classes: classes_count, patterns, pairs, met, sets, unknown };
        grid.find_sets(bound)?;
        Ok(grid)
    }

    /// The sets that the losses need.
    fn find_sets(&mut self, bound: &Bound) -> Result<()> {
        // Every pair counts, so that no region is empty.
        let pairs = self.classes * self.patterns;
        let (losses, _) = Losses::of_met(bound, &self.met, &vec![1.0; pairs], &vec![1; pairs]);
        let mut sets: Vec<Vec<u32>> = Vec::new();
        for class in 0..self.classes {
            for set in self.events_of(&losses, class).into_values() {
                let set = self.canonical(set);
                if !set.is_empty() && !sets.contains(&set) {
                    sets.push(set);
                }
                if sets.len() > MOST_SETS {
                    let message = format!(
                        "the constraints need more than {MOST_SETS} probabilities of groups whose columns are not features"
                    );
                    return Err(Error::new(ErrorKind::Settings, message).help(
                        "let these columns be features, name fewer groups, or use another algorithm (`practical`)",
                    ));
                }
            }
        }
        sets.sort_unstable();
        self.sets = sets;
        Ok(())
    }

    /// The set, or its complement if it has the first pattern.
    fn canonical(&self, set: Vec<u32>) -> Vec<u32> {
        match set.first() {
            Some(0) => (0..self.patterns as u32).filter(|one| !set.contains(one)).collect(),
            _ => set,
        }
    }

    /// Of each event that has pairs of a class, the patterns of these, ascending.
    fn events_of(&self, losses: &Losses, class: usize) -> HashMap<usize, Vec<u32>> {
        let mut events: HashMap<usize, Vec<u32>> = HashMap::new();
        for pattern in 0..self.patterns {
            losses.each_event(class * self.patterns + pattern, |event| {
                events.entry(event).or_default().push(pattern as u32);
            });
        }
        events
    }

    /// How many probabilities are modelled.
    pub(crate) fn sets(&self) -> usize {
        self.sets.len()
    }

    /// The class of each cell of the partition.
    pub(crate) fn class_of(&self, cell: u32) -> u32 {
        self.pairs[cell as usize].0
    }

    /// How many patterns of what features do not tell there are.
    pub(crate) fn patterns(&self) -> usize {
        self.patterns
    }

    /// The pattern of each cell of the partition.
    pub(crate) fn pattern_of(&self, cell: u32) -> u32 {
        self.pairs[cell as usize].1
    }

    /// The patterns of a modelled set.
    pub(crate) fn set(&self, set: usize) -> &[u32] {
        &self.sets[set]
    }

    /// The condition on a row that a modelled set is, where it is one predicate, or two of which both hold or one does not.
    pub(crate) fn condition(&self, set: usize) -> Option<String> {
        let inside: Vec<bool> =
            (0..self.patterns as u32).map(|one| self.sets[set].contains(&one)).collect();
        let literals = self.unknown.iter().filter(|(text, _)| !text.is_empty());
        let literals: Vec<(String, Vec<bool>)> = literals
            .flat_map(|(text, met)| {
                let not = met.iter().map(|met| !met).collect();
                [(text.clone(), met.clone()), (format!("not ({text})"), not)]
            })
            .collect();
        let one = literals.iter().find(|(_, met)| *met == inside).map(|(text, _)| text.clone());
        one.or_else(|| {
            let pairs = literals.iter().enumerate().flat_map(|(at, first)| {
                literals[at + 1..].iter().map(move |second| (first, second))
            });
            let mut both = pairs.filter(|((_, first), (_, second))| {
                first.iter().zip(second).map(|(a, b)| *a && *b).eq(inside.iter().copied())
            });
            // `and` binds before `or`.
            let whole = |text: &str| match text.contains(" or ") && !text.starts_with("not (") {
                true => format!("({text})"),
                false => text.to_owned(),
            };
            both.next()
                .map(|((first, _), (second, _))| format!("{} and {}", whole(first), whole(second)))
        })
    }

    /// Of each cell of the partition, whether its rows are in a modelled set.
    pub(crate) fn in_set(&self, set: usize) -> Vec<bool> {
        self.pairs.iter().map(|(_, pattern)| self.sets[set].contains(pattern)).collect()
    }

    /// From multipliers to rules, where the weight and the number of rows in each cell of the partition are known.
    pub(crate) fn costs(&self, bound: &Bound, weights: &[f64], rows: &[usize]) -> Costs {
        let pairs = self.classes * self.patterns;
        let (mut sums, mut counts) = (vec![0.0; pairs], vec![0; pairs]);
        for (cell, &(class, pattern)) in self.pairs.iter().enumerate() {
            let pair = class as usize * self.patterns + pattern as usize;
            sums[pair] += weights[cell];
            counts[pair] += rows[cell];
        }
        let (losses, _) = Losses::of_met(bound, &self.met, &sums, &counts);
        let share = |set: Vec<u32>| {
            let all = set.len() == self.patterns;
            let turned = set.first() == Some(&0);
            let place = self.sets.binary_search(&self.canonical(set));
            match place {
                _ if all => Some(Share::All),
                Ok(at) if turned => Some(Share::Not(at)),
                Ok(at) => Some(Share::Set(at)),
                Err(_) => None,
            }
        };
        let shares = (0..self.classes).map(|class| {
            let own = self.events_of(&losses, class).into_iter();
            let mut own: Vec<(u32, Share)> =
                own.filter_map(|(event, set)| Some((event as u32, share(set)?))).collect();
            own.sort_by_key(|(event, _)| *event);
            own
        });
        let shares = shares.collect();
        Costs { losses, shares, sets: self.sets() }
    }
}

impl Costs {
    /// How many probabilities a rule takes.
    pub(crate) fn sets(&self) -> usize {
        self.sets
    }

    /// The rule for these multipliers: class by class, the gain of a positive decision, which is −cost, as a constant and
    /// a number for each modelled probability. Its largest number is 1.
    pub(crate) fn rule(&self, lambda: &Multipliers) -> Vec<f32> {
        let events = self.losses.event_costs(lambda);
        let width = 1 + self.sets;
        let mut rule = vec![0.0; self.shares.len() * width];
        for (own, shares) in rule.chunks_mut(width).zip(&self.shares) {
            for &(event, share) in shares {
                let gain = -events[event as usize];
                match share {
                    Share::All => own[0] += gain,
                    Share::Set(at) => own[1 + at] += gain,
                    Share::Not(at) => {
                        own[0] += gain;
                        own[1 + at] -= gain;
                    }
                }
            }
        }
        let most = rule.iter().fold(0.0_f64, |most, one: &f64| most.max(one.abs()));
        let unit = if most > 0.0 && most.is_finite() { most } else { 1.0 };
        rule.into_iter()
            .map(|one| if one.is_finite() { (one / unit) as f32 } else { 0.0 })
            .collect()
    }
}
