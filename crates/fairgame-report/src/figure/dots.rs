//! Rows of dots on one axis: what constraints and group sizes are drawn as.
//!
//! A few rows have their text above them and a dot for each sample below it. Many rows are a line
//! each, without text, numbered along the side: the tooltip and the table say which is which.

use askama::Template;

use super::{Key, Shape, WIDTH, px};
use crate::format;
use crate::scale::Scale;

/// Up to so many rows have their texts beside them.
pub(crate) const LABELLED: usize = 24;
/// Up to so many rows are drawn at all.
pub(crate) const DRAWN: usize = 200;

const LEFT: f64 = 36.0;
const RIGHT: f64 = 36.0;
/// Left of rows that are numbered.
const NUMBERED: f64 = 56.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 58.0;
const LABEL: f64 = 26.0;
const LANE: f64 = 13.0;
const GAP: f64 = 9.0;
const PITCH: f64 = 7.0;
/// So many characters of a text fit on a wide page, and on a narrow one.
const CHARACTERS: [usize; 2] = [70, 42];

/// One dot, and the interval it stands in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dot {
    pub(crate) look: (Shape, &'static str),
    pub(crate) value: f64,
    pub(crate) interval: Option<(f64, f64)>,
}

/// One row, as a figure asks for it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) glyph: &'static str,
    pub(crate) class: &'static str,
    pub(crate) text: String,
    pub(crate) tip: String,
    pub(crate) dots: Vec<Option<Dot>>,
}

/// What there is to draw.
pub(crate) struct Plan {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) desc: String,
    pub(crate) axis: String,
    /// Where a line is, and what lies to its left and right.
    pub(crate) rule: (f64, [String; 2]),
    pub(crate) rows: Vec<Row>,
    pub(crate) keys: Vec<Key>,
    pub(crate) note: String,
}

/// A row in its place.
pub(crate) struct Placed {
    glyph: &'static str,
    class: &'static str,
    labels: [String; 2],
    label_y: String,
    top: String,
    height: String,
    tip: String,
    whiskers: Vec<(&'static str, String)>,
    marks: Vec<(&'static str, String)>,
}

/// A tick in its place.
pub(crate) struct Line {
    pub(crate) at: String,
    pub(crate) text: String,
}

/// The figure.
#[derive(Template)]
#[template(path = "dots.svg")]
pub(crate) struct Dots {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) desc: String,
    pub(crate) keys: Vec<Key>,
    pub(crate) note: String,
    axis: String,
    rule: String,
    sides: [Line; 2],
    height: String,
    bottom: String,
    tick_y: String,
    axis_y: String,
    right: String,
    ticks: Vec<Line>,
    numbers: Vec<Line>,
    rows: Vec<Placed>,
}

/// How places are found along the axis.
pub(crate) enum Axis {
    Linear,
    Log,
}

impl Dots {
    pub(crate) fn new(plan: Plan, axis: Axis) -> Dots {
        let labelled = plan.rows.len() <= LABELLED;
        let left = if labelled { LEFT } else { NUMBERED };
        let scale = {
            let ends =
                |dot: &Dot| [Some(dot.value), dot.interval.map(|i| i.0), dot.interval.map(|i| i.1)];
            let dots = plan.rows.iter().flat_map(|row| row.dots.iter().flatten());
            let values = dots.flat_map(ends).flatten().chain([plan.rule.0]);
            match axis {
                Axis::Linear => Scale::linear(values, 5, left, WIDTH - RIGHT),
                Axis::Log => Scale::log(values, left, WIDTH - RIGHT),
            }
        };
        let dots = plan.rows.iter().flat_map(|row| row.dots.iter().flatten());
        let lost = dots.filter(|dot| !scale.holds(dot.value)).count();
        let mut note = plan.note;
        if lost > 0 {
            let gap = if note.is_empty() { "" } else { " " };
            note.push_str(&format!(
                "{gap}Not drawn, for want of a finite value: {}.",
                format::several(lost, "mark")
            ));
        }
        let mut y = TOP;
        let mut rows = Vec::with_capacity(plan.rows.len());
        let mut numbers = Vec::new();
        for (i, row) in plan.rows.into_iter().enumerate() {
            let lanes = row.dots.len().max(1) as f64;
            let height = if labelled { LABEL + lanes * LANE + GAP } else { PITCH };
            if !labelled && (i == 0 || (i + 1) % 25 == 0) {
                numbers.push(Line { at: px(y + PITCH / 2.0 + 4.0), text: (i + 1).to_string() });
            }
            rows.push(place(row, labelled, y, height, &scale));
            y += height;
        }
        let tick = |at: f64, text: String| Line { at: px(at), text };
        let rule = scale.place(plan.rule.0);
        Dots {
            id: plan.id,
            title: plan.title,
            desc: plan.desc,
            keys: plan.keys,
            note,
            axis: plan.axis,
            rule: px(rule),
            sides: sides(rule, plan.rule.1, (0.0, WIDTH)),
            height: px(y + BOTTOM),
            bottom: px(y + 2.0),
            tick_y: px(y + 22.0),
            axis_y: px(y + 48.0),
            right: px(WIDTH - RIGHT),
            ticks: scale.ticks().into_iter().map(|t| tick(t.at, t.text)).collect(),
            numbers,
            rows,
        }
    }
}

/// Texts left and right of a line at `at`, each only where there is room for it between the ends.
pub(crate) fn sides(at: f64, texts: [String; 2], (start, end): (f64, f64)) -> [Line; 2] {
    // A character of the largest text, that of narrow pages.
    let room = |text: &str| 13.0 * text.chars().count() as f64 + 8.0;
    let [mut left, mut right] = texts;
    if at - room(&left) < start {
        left.clear();
    }
    if at + room(&right) > end {
        right.clear();
    }
    [Line { at: px(at - 8.0), text: left }, Line { at: px(at + 8.0), text: right }]
}

fn place(row: Row, labelled: bool, top: f64, height: f64, scale: &Scale) -> Placed {
    let mut whiskers = Vec::new();
    let mut marks = Vec::new();
    for (lane, dot) in row.dots.iter().enumerate() {
        let Some(dot) = dot else { continue };
        let (y, r) = match labelled {
            true => (top + LABEL + (lane as f64 + 0.5) * LANE, 4.6),
            false => (top + PITCH / 2.0, 2.8),
        };
        let (shape, class) = dot.look;
        if let Some((low, high)) = dot.interval.filter(|(low, high)| low <= high) {
            let (from, to) = (scale.place(low), scale.place(high));
            whiskers.push((class, format!("M{} {}H{}", px(from), px(y), px(to))));
        }
        if scale.holds(dot.value) {
            marks.push((class, shape.path(scale.place(dot.value), y, r)));
        }
    }
    Placed {
        glyph: row.glyph,
        class: row.class,
        labels: match labelled {
            true => CHARACTERS.map(|most| format::shorten(&row.text, most)),
            false => Default::default(),
        },
        label_y: px(top + 19.0),
        top: px(top),
        height: px(height),
        tip: row.tip,
        whiskers,
        marks,
    }
}
