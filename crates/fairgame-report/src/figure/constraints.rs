//! Each constraint's loss with its interval, and a line at 0: to its left, constraints are met.

use super::dots::{Axis, DRAWN, Dot, Dots, LABELLED, Plan, Row};
use super::{Key, of_role, of_verdict};
use crate::format;
use crate::words::{glyph, role_name, verdict_name};
use crate::{Constraint, Measured, Role, Verdict};

/// The figure of these constraints, in this order. `None` where none was measured.
pub(crate) fn figure(
    id: &str,
    constraints: &[&Constraint],
    roles: &[Role],
    main: Role,
) -> Option<Dots> {
    if constraints.is_empty() || roles.is_empty() {
        return None;
    }
    let few = constraints.len() <= LABELLED;
    let rows = constraints.iter().take(DRAWN).enumerate();
    let rows = rows.map(|(i, constraint)| row(i, constraint, roles, main, few)).collect();
    let on = role_name(main);
    let count = |verdict| {
        constraints.iter().filter_map(|c| c.on.get(main)).filter(|m| m.verdict() == verdict).count()
    };
    let desc = format!(
        "Each row is a constraint; a mark left of 0 is met. On {on}: {} met, {} violated, {} undecided. \
         The table below has the same numbers.",
        count(Verdict::Met),
        count(Verdict::Violated),
        count(Verdict::Undecided)
    );
    let note = match constraints.len() {
        n if n > DRAWN => {
            format!(
                "The {DRAWN} worst of {} on {on}, worst first; all are in the table.",
                format::several(n, "constraint")
            )
        }
        _ if !few => format!("On {on}, worst first."),
        _ => String::new(),
    };
    let plan = Plan {
        id: format!("{id}-losses"),
        title: "Constraints and their losses".into(),
        desc,
        axis: "loss (met at 0 or less)".into(),
        rule: (0.0, ["← met".into(), "violated →".into()]),
        rows,
        keys: keys(constraints, roles, main, few),
        note,
    };
    Some(Dots::new(plan, Axis::Linear))
}

fn keys(constraints: &[&Constraint], roles: &[Role], main: Role, few: bool) -> Vec<Key> {
    let mut keys: Vec<Key> = if few {
        roles.iter().map(|&role| Key::mark(of_role(role), role_name(role))).collect()
    } else {
        let all = [Verdict::Met, Verdict::Violated, Verdict::Undecided];
        all.into_iter()
            .map(|verdict| Key::mark(of_verdict(verdict), verdict_name(verdict)))
            .collect()
    };
    let shown = |c: &&Constraint| match few {
        true => roles.iter().any(|&role| c.on.get(role).is_some_and(|m| m.interval.is_some())),
        false => c.on.get(main).is_some_and(|m| m.interval.is_some()),
    };
    if constraints.iter().any(shown) {
        keys.push(Key::line("wh train".into(), "interval"));
    }
    keys
}

fn row(i: usize, constraint: &Constraint, roles: &[Role], main: Role, few: bool) -> Row {
    let verdict = constraint.on.get(main).map_or(Verdict::Undecided, Measured::verdict);
    let dot = |role: Role| {
        let measured = constraint.on.get(role)?;
        Some(Dot {
            look: if few { of_role(role) } else { of_verdict(verdict) },
            value: measured.value,
            interval: measured.interval.map(|i| (i.low, i.high)),
        })
    };
    let mut tip = if few { String::new() } else { format!("{}. ", i + 1) };
    tip.push_str(&format::shorten(&constraint.text, 200));
    for &role in roles {
        if let Some(measured) = constraint.on.get(role) {
            tip.push_str(&format!("\n{} {}", role_name(role), format::number(measured.value)));
            if let Some(interval) = &measured.interval {
                tip.push_str(&format!(" {}", format::interval(interval)));
            }
            tip.push_str(&format!(" {}", verdict_name(measured.verdict())));
        }
    }
    Row {
        glyph: glyph(verdict),
        class: of_verdict(verdict).1,
        text: constraint.text.clone(),
        tip,
        dots: if few { roles.iter().map(|&role| dot(role)).collect() } else { vec![dot(main)] },
    }
}
