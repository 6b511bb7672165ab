//! The best split of a node.
//!
//! With G and H the sums of gradients and hessians of a node's rows, and λ the L2 penalty, the best value of a leaf is
//! v = −G / (H + λ), and it lowers the loss (to second order, times two) by G² / (H + λ). The gain of a split is that
//! of its two children less that of the node. Ordered columns are cut between two levels, missing values going to the
//! side where they gain more. Categories are split as LightGBM splits them: few of them one against the rest; more
//! of them sorted by G / (H + 20), a run from either end against the rest, with a larger penalty.
//!
//! Where scores must be monotone, a node's value is kept within bounds, a split whose children are out of order is
//! refused, and the middle of the children's values bounds what lies below them (LightGBM's basic method). The gain of
//! a value v that the bounds move is −(2 G v + (H + λ) v²).

use super::bins::{MISSING, Order, Shape};
use super::gradient::{Scale, Sum, minus, plus};
use super::histogram::Column;
use super::spec::Growth;
use crate::model::Monotone;

/// Up to so many categories, each is tried against the rest.
const ONE_AGAINST_REST: usize = 4;
/// What is added to the hessian of a category before it is sorted, and the least rows of a category that is.
const SMOOTH: f64 = 20.0;
/// What is added to the penalty where categories are sorted.
const SORTED_L2: f64 = 10.0;
/// Most categories on the smaller side.
const MOST_CATEGORIES: usize = 32;
/// A run of categories grows by at least so many rows before it is tried again.
const GROUP: u64 = 100;

/// A set of codes.
pub(crate) type Set = [u64; 4];

/// Which rows go to the left child.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Route {
    /// Codes up to this one, and missing ones if `missing_left`.
    Cut { code: u8, missing_left: bool },
    /// The codes of a set.
    Among(Set),
}

impl Route {
    /// Whether each code goes left.
    pub(super) fn table(&self) -> [bool; 256] {
        std::array::from_fn(|code| match self {
            Route::Cut { missing_left, .. } if code == usize::from(MISSING) => *missing_left,
            Route::Cut { code: cut, .. } => code <= usize::from(*cut),
            Route::Among(set) => set[code / 64] >> (code % 64) & 1 == 1,
        })
    }
}

/// Values that a node's leaves may have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Bounds {
    pub(super) const NONE: Bounds = Bounds { low: f64::NEG_INFINITY, high: f64::INFINITY };
}

/// A way to split a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Split {
    pub(super) gain: f64,
    /// A column of the histogram.
    pub(super) column: usize,
    pub(super) route: Route,
    pub(super) sums: [Sum; 2],
    /// The values of the children, before the learning rate.
    pub(super) values: [f64; 2],
}

/// A node whose best split is looked for.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub(super) total: Sum,
    pub(super) scale: Scale,
    pub(super) growth: Growth,
    /// `None` where no column is monotone.
    pub(super) bounds: Option<Bounds>,
}

/// The best candidate of a column so far.
struct Best {
    gain: f64,
    found: Option<(Route, Sum, f64)>,
}

impl Best {
    /// Keeps the candidate of the greatest score; of equal ones the first.
    #[inline(always)]
    fn offer(&mut self, score: Option<f64>, candidate: impl FnOnce() -> (Route, Sum, f64)) {
        if let Some(gain) = score.filter(|score| *score > self.gain) {
            *self = Best { gain, found: Some(candidate()) };
        }
    }
}

impl Node {
    /// The best split on a column of the histogram, if one lowers the loss.
    pub(super) fn best(&self, column: usize, sums: &Column, shape: Shape) -> Option<Split> {
        let (gradient, hessian) = self.scale.real(self.total);
        let parent = self.score(gradient, hessian, self.growth.l2);
        // Beyond what rounding could make of a split that gains nothing.
        let mut best = Best { gain: parent + 1e-12 * (1.0 + parent.abs()), found: None };
        match shape.order {
            Order::Ordered(monotone) => self.ordered(sums, shape.levels, monotone, &mut best),
            Order::Categories if shape.levels <= ONE_AGAINST_REST => {
                self.one_against_rest(sums, shape.levels, &mut best);
            }
            Order::Categories => self.sorted(sums, shape.levels, &mut best),
        }
        let (route, left, l2) = best.found?;
        let sums = [left, minus(self.total, left)];
        let values = sums.map(|sum| {
            let (gradient, hessian) = self.scale.real(sum);
            self.value(gradient, hessian, l2)
        });
        Some(Split { gain: best.gain - parent, column, route, sums, values })
    }

    /// The value of a leaf of these sums.
    pub(super) fn value(&self, gradient: f64, hessian: f64, l2: f64) -> f64 {
        let value = -gradient / (hessian + l2);
        self.bounds.map_or(value, |bounds| value.clamp(bounds.low, bounds.high))
    }

    /// How much a leaf of these sums lowers the loss, times two.
    fn score(&self, gradient: f64, hessian: f64, l2: f64) -> f64 {
        match self.bounds {
            None => gradient * gradient / (hessian + l2),
            Some(_) => {
                let value = self.value(gradient, hessian, l2);
                -(2.0 * gradient * value + (hessian + l2) * value * value)
            }
        }
    }

    /// The score of two children, or `None` where they may not be.
    #[inline(always)]
    fn children(&self, left: Sum, l2: f64, monotone: Option<Monotone>) -> Option<f64> {
        let (g, h) = self.scale.real(left);
        let (other_g, other_h) = self.scale.real(minus(self.total, left));
        let (h, other_h) = (h + l2, other_h + l2);
        // Without a penalty, a child may have no curvature at all.
        if !(h > 0.0 && other_h > 0.0) {
            return None;
        }
        if self.bounds.is_none() {
            return Some((g * g * other_h + other_g * other_g * h) / (h * other_h));
        }
        let values = [self.value(g, h, 0.0), self.value(other_g, other_h, 0.0)];
        match monotone {
            Some(Monotone::Increasing) if values[0] > values[1] => return None,
            Some(Monotone::Decreasing) if values[0] < values[1] => return None,
            _ => {}
        }
        Some(self.score(g, h, 0.0) + self.score(other_g, other_h, 0.0))
    }

    fn ordered(&self, sums: &Column, levels: usize, monotone: Option<Monotone>, best: &mut Best) {
        let least = self.growth.min_leaf as u64;
        let (l2, all) = (self.growth.l2, self.scale.count(self.total));
        let missing = sums[usize::from(MISSING)];
        let ways: &[bool] = if self.scale.count(missing) == 0 { &[false] } else { &[false, true] };
        for &missing_left in ways {
            let mut left = if missing_left { missing } else { [0; 2] };
            for (level, sum) in sums[..levels].iter().enumerate() {
                // An empty level changes neither side.
                if self.scale.count(*sum) == 0 {
                    continue;
                }
                left = plus(left, *sum);
                let count = self.scale.count(left);
                if all - count < least.max(1) {
                    break;
                }
                if count < least {
                    continue;
                }
                best.offer(self.children(left, l2, monotone), || {
                    // Where none was missing, missing values go with the greater side.
                    let missing_left =
                        if ways.len() == 1 { 2 * count >= all } else { missing_left };
                    (Route::Cut { code: level as u8, missing_left }, left, l2)
                });
            }
        }
    }

    fn one_against_rest(&self, sums: &Column, levels: usize, best: &mut Best) {
        let least = self.growth.min_leaf.max(1) as u64;
        let (l2, all) = (self.growth.l2, self.scale.count(self.total));
        for code in (0..levels).chain([usize::from(MISSING)]) {
            let count = self.scale.count(sums[code]);
            if count < least || all - count < least {
                continue;
            }
            best.offer(self.children(sums[code], l2, None), || {
                let mut set = [0; 4];
                set[code / 64] |= 1 << (code % 64);
                (Route::Among(set), sums[code], l2)
            });
        }
    }

    fn sorted(&self, sums: &Column, levels: usize, best: &mut Best) {
        let least = self.growth.min_leaf.max(1) as u64;
        let (l2, all) = (self.growth.l2 + SORTED_L2, self.scale.count(self.total));
        let mut order = [(0.0, 0_u8); 256];
        let mut used = 0;
        for code in (0..levels).chain([usize::from(MISSING)]) {
            if self.scale.count(sums[code]) as f64 >= SMOOTH {
                let (gradient, hessian) = self.scale.real(sums[code]);
                order[used] = (gradient / (hessian + SMOOTH), code as u8);
                used += 1;
            }
        }
        let order = &mut order[..used];
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for from_end in [false, true] {
            let (mut left, mut set, mut group) = ([0; 2], [0_u64; 4], 0);
            for at in 0..used.div_ceil(2).min(MOST_CATEGORIES) {
                let code = usize::from(order[if from_end { used - 1 - at } else { at }].1);
                left = plus(left, sums[code]);
                set[code / 64] |= 1 << (code % 64);
                group += self.scale.count(sums[code]);
                let count = self.scale.count(left);
                if all - count < least.max(GROUP) {
                    break;
                }
                if count < least || group < GROUP {
                    continue;
                }
                group = 0;
                best.offer(self.children(left, l2, None), || (Route::Among(set), left, l2));
            }
        }
    }
}
