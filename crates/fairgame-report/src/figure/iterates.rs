//! Every kept model as a point: its objective against its worst violation. Members of the mixture
//! are filled, their areas proportional to their weights; the mixture is a diamond.

use askama::Template;

use super::dots::{Line as Side, sides};
use super::{Key, Shape, WIDTH, px, thin};
use crate::format;
use crate::scale::{Scale, drawable};
use crate::words::role_name;
use crate::{Iterate, Iterates, Member, Point};

/// Up to so many models are drawn, beside those of the mixture.
const DRAWN: usize = 80;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 38.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 62.0;

/// A mark in its place.
pub(crate) struct Mark {
    class: &'static str,
    d: String,
    centre: [String; 2],
    tip: String,
}

/// The figure.
#[derive(Template)]
#[template(path = "iterates.svg")]
pub(crate) struct Scatter {
    pub(crate) id: String,
    pub(crate) title: String,
    desc: String,
    names: String,
    pub(crate) keys: Vec<Key>,
    pub(crate) note: String,
    x_axis: String,
    y_axis: String,
    x_ticks: Vec<(String, String)>,
    y_ticks: Vec<(String, String, String)>,
    zero: String,
    met_width: String,
    sides: [Side; 2],
    marks: Vec<Mark>,
}

/// The figure of these models. `None` where there are none.
pub(crate) fn figure(id: &str, iterates: &Iterates) -> Option<Scatter> {
    let placed = Placed::of(iterates)?;
    let points = placed.points();
    let x = Scale::linear(points.iter().map(|p| p.0).chain([0.0]), 5, LEFT, WIDTH - RIGHT);
    let y = Scale::linear(points.iter().map(|p| p.1), 5, HEIGHT - BOTTOM, TOP);
    let kept = thin(placed.all.len(), DRAWN);
    Some(Scatter {
        id: format!("{id}-iterates"),
        title: "Objective against worst violation".into(),
        desc: format!(
            "{}, {} in the mixture. Left of 0 all constraints are met; lower is a better objective.",
            format::several(iterates.all.len(), "kept model"),
            iterates.members.len()
        ),
        names: format!(
            "objective on {}\nworst violation on {}",
            role_name(iterates.error_on),
            role_name(iterates.violation_on)
        ),
        keys: placed.keys(&kept),
        note: placed.note(&kept, iterates.all.len()),
        x_axis: format!("worst violation on {}", role_name(iterates.violation_on)),
        y_axis: format!("objective on {}", role_name(iterates.error_on)),
        x_ticks: x.ticks().into_iter().map(|t| (px(t.at), t.text)).collect(),
        y_ticks: y.ticks().into_iter().map(|t| (px(t.at), px(t.at + 5.0), t.text)).collect(),
        zero: px(x.place(0.0)),
        met_width: px(x.place(0.0) - LEFT),
        sides: sides(x.place(0.0), ["← met".into(), "violated →".into()], (LEFT, WIDTH - RIGHT)),
        marks: placed.marks(&kept, &x, &y),
    })
}

/// The models whose numbers have a place in a figure.
struct Placed<'a> {
    all: Vec<&'a Iterate>,
    members: Vec<&'a Member>,
    mixture: Option<Point>,
}

impl<'a> Placed<'a> {
    /// `None` where there are none.
    fn of(iterates: &'a Iterates) -> Option<Placed<'a>> {
        let has_place = |error: f64, violation: f64| drawable(error) && drawable(violation);
        let all: Vec<_> = iterates.all.iter().filter(|i| has_place(i.error, i.violation)).collect();
        let members: Vec<_> =
            iterates.members.iter().filter(|m| has_place(m.error, m.violation)).collect();
        let mixture = iterates.mixture.filter(|p| has_place(p.error, p.violation));
        let none = all.is_empty() && members.is_empty() && mixture.is_none();
        (!none).then_some(Placed { all, members, mixture })
    }

    /// Violation and objective of each.
    fn points(&self) -> Vec<(f64, f64)> {
        let all = self.all.iter().map(|i| (i.violation, i.error));
        let members = self.members.iter().map(|m| (m.violation, m.error));
        all.chain(members).chain(self.mixture.map(|p| (p.violation, p.error))).collect()
    }

    /// The marks of the `kept` of all models, of those of the mixture, and of the mixture, in this order.
    fn marks(&self, kept: &[usize], x: &Scale, y: &Scale) -> Vec<Mark> {
        let mark = |class, shape: Shape, r, (violation, error): (f64, f64), heading: String| {
            let tip =
                format!("{heading}\n{}\n{}", format::number(error), format::number(violation));
            let (x, y) = (x.place(violation), y.place(error));
            // A kept model is a plain circle: there may be hundreds.
            let (d, centre) = match class {
                "iterate" => (String::new(), [px(x), px(y)]),
                _ => (shape.path(x, y, r), Default::default()),
            };
            Mark { class, d, centre, tip }
        };
        let iterate = |i: &Iterate| {
            let heading = format!("Turn {}", format::count(i.turn));
            mark("iterate", Shape::Circle, 3.2, (i.violation, i.error), heading)
        };
        let member = |m: &Member| {
            let heading =
                format!("Turn {}: weight {}", format::count(m.turn), format::number(m.weight));
            mark("member", Shape::Circle, radius(m), (m.violation, m.error), heading)
        };
        let mixture = |p: Point| {
            mark("mixture", Shape::Diamond, 6.5, (p.violation, p.error), "The mixture".into())
        };
        let others = kept.iter().map(|&i| self.all[i]);
        let others = others.filter(|i| !self.members.iter().any(|m| m.turn == i.turn));
        let members = self.members.iter().map(|m| member(m));
        others.map(iterate).chain(members).chain(self.mixture.map(mixture)).collect()
    }

    fn keys(&self, kept: &[usize]) -> Vec<Key> {
        let mut keys = Vec::new();
        if kept.len() > self.members.len() {
            keys.push(Key::mark((Shape::Circle, "iterate"), "kept model"));
        }
        if !self.members.is_empty() {
            let text = "in the mixture, larger with its weight";
            keys.push(Key::mark((Shape::Circle, "member"), text));
        }
        if self.mixture.is_some() {
            keys.push(Key::mark((Shape::Diamond, "mixture"), "the mixture"));
        }
        keys
    }

    /// What is not drawn of `count` models.
    fn note(&self, kept: &[usize], count: usize) -> String {
        let mut notes = Vec::new();
        if kept.len() < self.all.len() {
            let all = format::several(self.all.len(), "kept model");
            notes.push(format!("{} of {all} are drawn, evenly spread over turns.", kept.len()));
        }
        let lost = count - self.all.len();
        if lost > 0 {
            notes.push(format!(
                "Not drawn, for want of a finite value: {}.",
                format::several(lost, "kept model")
            ));
        }
        notes.join(" ")
    }
}

/// Area grows with weight; the lightest can still be seen.
fn radius(member: &Member) -> f64 {
    let weight = if member.weight.is_finite() { member.weight.clamp(0.0, 1.0) } else { 0.0 };
    (14.0 * weight.sqrt()).max(4.0)
}
