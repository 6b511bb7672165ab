//! Group sizes on a logarithmic axis, and a line where groups begin not to be small.

use super::dots::{Axis, DRAWN, Dot, Dots, LABELLED, Plan, Row};
use super::{Key, Shape, of_role};
use crate::format;
use crate::words::role_name;
use crate::{Group, Role};

/// The figure of these groups, in this order; where they are many, on the last of the samples alone.
pub(crate) fn figure(
    id: &str,
    groups: &[&Group],
    small_below: u64,
    roles: &[Role],
) -> Option<Dots> {
    let main = *roles.last()?;
    if groups.is_empty() {
        return None;
    }
    let few = groups.len() <= LABELLED;
    let rows =
        groups.iter().take(DRAWN).map(|group| row(group, small_below, roles, main, few)).collect();
    let small = groups.iter().filter(|group| is_small(group, small_below)).count();
    let mut keys: Vec<Key> = match few {
        true => roles.iter().map(|&role| Key::mark(of_role(role), role_name(role))).collect(),
        false => vec![Key::mark((Shape::Circle, "met"), role_name(main))],
    };
    if !few && small > 0 {
        keys.push(Key::mark((Shape::Triangle, "undecided"), "small"));
    }
    let plan = Plan {
        id: format!("{id}-sizes"),
        title: "Rows of each group".into(),
        desc: format!(
            "{}, of which {small} have fewer than {} rows on some sample. The table below has the same numbers.",
            format::several(groups.len(), "group"),
            format::count(small_below)
        ),
        axis: "rows (logarithmic)".into(),
        rule: (
            small_below as f64,
            ["← small".into(), format!("{} rows or more →", format::count(small_below))],
        ),
        rows,
        keys,
        note: match groups.len() {
            n if n > DRAWN => format!(
                "The {DRAWN} smallest of {} on {}; all are in the table.",
                format::several(n, "group"),
                role_name(main)
            ),
            _ if !few => format!("On {}, smallest first.", role_name(main)),
            _ => String::new(),
        },
    };
    Some(Dots::new(plan, Axis::Log))
}

/// Whether a group has too few rows somewhere.
pub(crate) fn is_small(group: &Group, small_below: u64) -> bool {
    [Role::Train, Role::Val, Role::Test]
        .into_iter()
        .any(|role| group.rows.get(role).is_some_and(|&rows| rows < small_below))
}

fn row(group: &Group, small_below: u64, roles: &[Role], main: Role, few: bool) -> Row {
    let small = is_small(group, small_below);
    let dot = |role: Role| {
        let rows = *group.rows.get(role)?;
        let look = match (few, small) {
            (true, _) => of_role(role),
            (false, true) => (Shape::Triangle, "undecided"),
            (false, false) => (Shape::Circle, "met"),
        };
        Some(Dot { look, value: rows as f64, interval: None })
    };
    let mut tip = format::shorten(&group.text, 200);
    for &role in roles {
        if let Some(&rows) = group.rows.get(role) {
            let mark = if rows < small_below { " (small)" } else { "" };
            tip.push_str(&format!(
                "\n{} {}{mark}",
                role_name(role),
                format::several(rows as usize, "row")
            ));
        }
    }
    Row {
        glyph: if small { "▲ small:" } else { "" },
        class: "undecided",
        text: group.text.clone(),
        tip,
        dots: if few { roles.iter().map(|&role| dot(role)).collect() } else { vec![dot(main)] },
    }
}
