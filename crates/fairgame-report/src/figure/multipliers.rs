//! λ by turn: the objective's weight and each constraint's. Of many constraints the few largest at
//! any turn have names, and the next largest are faint lines.

use askama::Template;

use super::{Key, WIDTH, px, thin};
use crate::format;
use crate::scale::{Scale, drawable};
use crate::{Line, Multipliers};

/// So many constraints have a line with a name.
pub(crate) const NAMED: usize = 5;
/// So many more have a faint one.
const FAINT: usize = 40;
/// So many turns a line goes through, and so many of them can be pointed at.
const TURNS: usize = 120;
const POINTED: usize = 60;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 38.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 62.0;

/// One line's path and look.
pub(crate) struct Drawn {
    class: String,
    d: String,
}

/// One turn's place, and what is to be said of it.
pub(crate) struct Turn {
    at: String,
    tip: String,
}

/// The figure.
#[derive(Template)]
#[template(path = "multipliers.svg")]
pub(crate) struct Lines {
    pub(crate) id: String,
    pub(crate) title: String,
    desc: String,
    names: String,
    pub(crate) keys: Vec<Key>,
    pub(crate) note: String,
    x_ticks: Vec<(String, String)>,
    y_ticks: Vec<(String, String, String)>,
    lines: Vec<Drawn>,
    turns: Vec<Turn>,
}

/// The largest finite value of a line, and where; `None` if there is none.
pub(crate) fn peak(values: &[f64]) -> Option<(usize, f64)> {
    let finite = values.iter().copied().enumerate().filter(|v| v.1.is_finite());
    finite.reduce(|best, v| if v.1 > best.1 { v } else { best })
}

/// Constraints by their peaks, largest first.
pub(crate) fn by_peak(lines: &[Line]) -> Vec<&Line> {
    let mut sorted: Vec<(f64, &Line)> = lines
        .iter()
        .map(|line| (peak(&line.values).map_or(f64::NEG_INFINITY, |p| p.1), line))
        .collect();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    sorted.into_iter().map(|(_, line)| line).collect()
}

/// The figure of these multipliers. `None` where nothing was written down.
pub(crate) fn figure(id: &str, multipliers: &Multipliers) -> Option<Lines> {
    let sorted = by_peak(&multipliers.constraints);
    let (named, others) = sorted.split_at(sorted.len().min(NAMED));
    let faint = &others[..others.len().min(FAINT)];
    let objective = multipliers.objective.as_deref();

    let kept = thin(multipliers.turns.len(), TURNS);
    let shown = || {
        let lines = named.iter().chain(faint).map(|line| line.values.as_slice());
        objective.into_iter().chain(lines)
    };
    let values = || shown().flat_map(|line| kept.iter().filter_map(|&i| line.get(i).copied()));
    if !values().any(drawable) {
        return None;
    }
    let x = Scale::linear(multipliers.turns.iter().map(|&t| t as f64), 5, LEFT, WIDTH - RIGHT);
    let y = Scale::linear(values().chain([0.0]), 4, HEIGHT - BOTTOM, TOP);
    let path = |values: &[f64]| {
        let mut d = String::new();
        let mut drawing = false;
        for &i in &kept {
            let value = values.get(i).copied().filter(|&v| drawable(v));
            if let Some(v) = value {
                let at = format!("{} {}", px(x.place(multipliers.turns[i] as f64)), px(y.place(v)));
                // A point without a neighbour is a line of no length, which a round cap makes a dot.
                d.push_str(&if drawing { format!("L{at}") } else { format!("M{at}h0") });
            }
            drawing = value.is_some();
        }
        d
    };

    let mut lines: Vec<Drawn> =
        faint.iter().map(|line| Drawn { class: "faint".into(), d: path(&line.values) }).collect();
    let mut keys = Vec::new();
    if let Some(values) = objective {
        lines.push(Drawn { class: "l0".into(), d: path(values) });
        keys.push(Key::line("l0".into(), "objective"));
    }
    for (i, line) in named.iter().enumerate() {
        let class = format!("l{}", i + 1);
        keys.push(Key::line(class.clone(), &format::shorten(&line.text, 90)));
        lines.push(Drawn { class, d: path(&line.values) });
    }
    if !faint.is_empty() {
        keys.push(Key::line("faint".into(), &format!("{} more", faint.len())));
    }
    let named = || objective.into_iter().chain(named.iter().map(|line| line.values.as_slice()));
    let tip = |i: usize| {
        let mut tip = format!("Turn {}", format::count(multipliers.turns[i]));
        for values in named() {
            tip.push('\n');
            tip.push_str(&values.get(i).map_or(String::new(), |&v| format::number(v)));
        }
        tip
    };
    let names =
        keys.iter().filter(|key| key.class != "faint").map(|key| format::shorten(&key.text, 48));
    let names = names.collect::<Vec<_>>().join("\n");
    let hidden = others.len() - faint.len();
    Some(Lines {
        id: format!("{id}-multipliers"),
        title: "Multipliers by turn".into(),
        desc: format!(
            "{} over {}. The table below has each line's last and largest value.",
            format::several(
                multipliers.constraints.len() + usize::from(objective.is_some()),
                "line"
            ),
            format::several(multipliers.turns.len(), "turn")
        ),
        names,
        keys,
        note: {
            let smallest = match hidden {
                0 => String::new(),
                n => format!(
                    "Not drawn: the {} that stay smallest.",
                    format::several(n, "multiplier")
                ),
            };
            let notes = [multipliers.note.clone().unwrap_or_default(), smallest];
            notes.join(" ").trim().to_owned()
        },
        x_ticks: x.ticks().into_iter().map(|t| (px(t.at), t.text)).collect(),
        y_ticks: y.ticks().into_iter().map(|t| (px(t.at), px(t.at + 5.0), t.text)).collect(),
        lines,
        turns: thin(kept.len(), POINTED)
            .into_iter()
            .map(|i| kept[i])
            .map(|i| Turn { at: px(x.place(multipliers.turns[i] as f64)), tip: tip(i) })
            .collect(),
    })
}
