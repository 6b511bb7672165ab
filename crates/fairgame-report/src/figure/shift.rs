//! Before and after: each constraint where it was not enforced and where it was; and what other bounds would cost.

use super::dots::{Axis, DRAWN, Dot, Dots, LABELLED, Plan, Row};
use super::{Key, Shape};
use crate::{Measured, Shift, TradePoint, format};

/// The marks of both.
const BEFORE: (Shape, &str) = (Shape::Circle, "train");
const AFTER: (Shape, &str) = (Shape::Diamond, "test");

/// Each constraint without and with being enforced, with the line of the policy at 0. `None` where there is nothing to
/// compare with.
pub(crate) fn constraints(id: &str, shifts: &[Shift], on: &str) -> Option<Dots> {
    if shifts.iter().all(|one| one.before.is_none()) || shifts.len() > LABELLED {
        return None;
    }
    let dot = |look, measured: &Option<Measured>| {
        let found = measured.as_ref()?;
        let interval = found.interval.map(|interval| (interval.low, interval.high));
        Some(Dot { look, value: found.value, interval })
    };
    let row = |one: &Shift| {
        let mut tip = format::shorten(&one.text, 200);
        for (name, measured) in [("without", &one.before), ("with", &one.after)] {
            if let Some(found) = measured {
                let interval = found.interval.as_ref().map_or(String::new(), format::interval);
                tip += &format!("\n{name} {} {interval}", format::number(found.value));
            }
        }
        let dots = vec![dot(BEFORE, &one.before), dot(AFTER, &one.after)];
        Row { glyph: "", class: "", text: one.text.clone(), tip, dots }
    };
    let plan = Plan {
        id: format!("{id}-shift"),
        title: "Each constraint before and after".into(),
        desc: format!(
            "Each row is a constraint on {on}: its loss in the model without constraints, and in the classifier. Left of 0 \
             the policy holds."
        ),
        axis: "loss (the policy holds at 0 or less)".into(),
        rule: (0.0, ["← holds".into(), "violated →".into()]),
        rows: shifts.iter().take(DRAWN).map(row).collect(),
        keys: vec![
            Key::mark(BEFORE, "without constraints"),
            Key::mark(AFTER, "the classifier"),
            Key::line("wh train".into(), "interval"),
        ],
        note: String::new(),
    };
    Some(Dots::new(plan, Axis::Linear))
}

/// The objective for each slack, with a line where the classifier is.
pub(crate) fn trade_off(id: &str, points: &[TradePoint]) -> Option<Dots> {
    let own = points.iter().find(|point| point.slack == 0.0)?.value?;
    let row = |point: &TradePoint| {
        let value = point.value?;
        let interval = point.interval.map(|interval| (interval.low, interval.high));
        let text = match point.slack {
            0.0 => "bounds as they are".to_owned(),
            slack if slack > 0.0 => format!("looser by {slack}"),
            slack => format!("tighter by {}", -slack),
        };
        let tip = format!("{text}\nobjective {}", format::number(value));
        Some(Row {
            glyph: "",
            class: "",
            text,
            tip,
            dots: vec![Some(Dot { look: AFTER, value, interval })],
        })
    };
    let plan = Plan {
        id: format!("{id}-trade"),
        title: "What other bounds would cost".into(),
        desc: "Each row is a slack of all bounds, and the objective on new rows with it. The table below has the same \
               numbers."
            .into(),
        axis: "objective on new rows".into(),
        rule: (own, ["← better".into(), "worse →".into()]),
        rows: points.iter().filter_map(row).collect(),
        keys: vec![Key::mark(AFTER, "objective"), Key::line("wh train".into(), "interval")],
        note: String::new(),
    };
    Some(Dots::new(plan, Axis::Linear))
}
