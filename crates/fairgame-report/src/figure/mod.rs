//! Figures as SVG: geometry here and in one file a figure, markup in `templates/*.svg`.
//!
//! All are [`WIDTH`] units wide and scale with the page; on a narrow one the style sheet enlarges
//! their text, for which margins leave room. A mark with a `data-tip` is what a pointer or the arrow
//! keys find; its lines are the lines of the tooltip, the first of them a heading. Where a figure has
//! `data-names`, these are the names of the numbers on the lines after it, said once for all marks.

pub(crate) mod constraints;
pub(crate) mod dots;
pub(crate) mod groups;
pub(crate) mod iterates;
pub(crate) mod multipliers;
pub(crate) mod shift;

use crate::{Role, Verdict};

/// Of every figure, in its own units.
pub(crate) const WIDTH: f64 = 600.0;

/// A length in a figure: one decimal is a tenth of a pixel.
pub(crate) fn px(x: f64) -> String {
    let text = format!("{x:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".into() } else { text.into() }
}

/// What a mark looks like. Shape and colour always say the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Circle,
    Square,
    Diamond,
    Triangle,
    Cross,
}

impl Shape {
    /// The outline around (x, y), about `r` in radius.
    pub(crate) fn path(self, x: f64, y: f64, r: f64) -> String {
        let at = |dx: f64, dy: f64| format!("{} {}", px(x + dx * r), px(y + dy * r));
        let d = px(2.0 * r);
        match self {
            Shape::Circle => {
                let r = px(r);
                format!("M{}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0-{d} 0z", at(-1.0, 0.0))
            }
            Shape::Square => {
                let d = px(1.8 * r);
                format!("M{}h{d}v{d}h-{d}z", at(-0.9, -0.9))
            }
            Shape::Diamond => {
                format!("M{}L{}L{}L{}z", at(0.0, -1.3), at(1.3, 0.0), at(0.0, 1.3), at(-1.3, 0.0))
            }
            Shape::Triangle => format!("M{}L{}L{}z", at(0.0, -1.2), at(1.2, 0.9), at(-1.2, 0.9)),
            Shape::Cross => {
                format!("M{}L{}M{}L{}", at(-0.9, -0.9), at(0.9, 0.9), at(-0.9, 0.9), at(0.9, -0.9))
            }
        }
    }
}

/// The mark of a sample, where several are in one figure.
pub(crate) fn of_role(role: Role) -> (Shape, &'static str) {
    match role {
        Role::Train => (Shape::Circle, "train"),
        Role::Val => (Shape::Square, "val"),
        Role::Test => (Shape::Diamond, "test"),
    }
}

/// The mark of a verdict, where one sample is.
pub(crate) fn of_verdict(verdict: Verdict) -> (Shape, &'static str) {
    match verdict {
        Verdict::Met => (Shape::Circle, "met"),
        Verdict::Violated => (Shape::Cross, "violated"),
        Verdict::Undecided => (Shape::Triangle, "undecided"),
    }
}

/// A line of a legend: the mark's path, its class, and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) d: String,
    pub(crate) class: String,
    pub(crate) text: String,
}

impl Key {
    pub(crate) fn mark((shape, class): (Shape, &'static str), text: &str) -> Key {
        Key { d: shape.path(14.0, 8.0, 5.0), class: format!("mk {class}"), text: text.into() }
    }

    pub(crate) fn line(class: String, text: &str) -> Key {
        Key { d: "M1 8H27".into(), class, text: text.into() }
    }
}

/// Of `count` things the places of at most `most`, evenly spread, first and last among them.
pub(crate) fn thin(count: usize, most: usize) -> Vec<usize> {
    if count <= most || most < 2 {
        return (0..count).collect();
    }
    (0..most).map(|i| i * (count - 1) / (most - 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_short() {
        assert_eq!([px(1.0), px(1.26), px(-0.01), px(-2.5)], ["1", "1.3", "0", "-2.5"]);
    }

    #[test]
    fn thinning_keeps_both_ends() {
        assert_eq!(thin(3, 10), [0, 1, 2]);
        assert_eq!(thin(11, 3), [0, 5, 10]);
        let kept = thin(1001, 120);
        assert_eq!((kept.len(), kept[0], kept[119]), (120, 0, 1000));
        assert!(kept.windows(2).all(|w| w[0] < w[1]));
    }
}
