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
const TURNS: usize = 80;
const POINTED: usize = 30;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 52.0;
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
    let shown = Shown::of(multipliers);
    let values = shown.values();
    if !values.iter().copied().any(drawable) {
        return None;
    }
    let x = Scale::linear(multipliers.turns.iter().map(|&t| t as f64), 5, LEFT, WIDTH - RIGHT);
    let y = Scale::linear(values.into_iter().chain([0.0]), 4, HEIGHT - BOTTOM, TOP);
    let (lines, keys) = shown.lines(&x, &y);
    let names =
        keys.iter().filter(|key| key.class != "faint").map(|key| format::shorten(&key.text, 48));
    let names = names.collect::<Vec<_>>().join("\n");
    Some(Lines {
        id: format!("{id}-multipliers"),
        title: "Multipliers by turn".into(),
        desc: format!(
            "{} over {}. The table below has each line's last and largest value.",
            format::several(
                multipliers.constraints.len() + usize::from(shown.objective.is_some()),
                "line"
            ),
            format::several(multipliers.turns.len(), "turn")
        ),
        names,
        keys,
        note: shown.note(multipliers.note.as_deref()),
        x_ticks: x.ticks().into_iter().map(|t| (px(t.at), t.text)).collect(),
        y_ticks: y.ticks().into_iter().map(|t| (px(t.at), px(t.at + 5.0), t.text)).collect(),
        lines,
        turns: thin(shown.kept.len(), POINTED)
            .into_iter()
            .map(|i| shown.kept[i])
            .map(|i| Turn { at: px(x.place(multipliers.turns[i] as f64)), tip: shown.tip(i) })
            .collect(),
    })
}

/// What of the multipliers is drawn.
struct Shown<'a> {
    turns: &'a [u64],
    /// The places of the turns that lines go through.
    kept: Vec<usize>,
    objective: Option<&'a [f64]>,
    /// The constraints whose lines have a name, the next largest, and how many more there are.
    named: Vec<&'a Line>,
    faint: Vec<&'a Line>,
    hidden: usize,
}

impl<'a> Shown<'a> {
    fn of(multipliers: &'a Multipliers) -> Shown<'a> {
        let sorted = by_peak(&multipliers.constraints);
        let (named, others) = sorted.split_at(sorted.len().min(NAMED));
        let faint = &others[..others.len().min(FAINT)];
        Shown {
            turns: &multipliers.turns,
            kept: thin(multipliers.turns.len(), TURNS),
            objective: multipliers.objective.as_deref(),
            named: named.to_vec(),
            faint: faint.to_vec(),
            hidden: others.len() - faint.len(),
        }
    }

    /// All values that lines go through.
    fn values(&self) -> Vec<f64> {
        let lines = self.named.iter().chain(&self.faint).map(|line| line.values.as_slice());
        let lines = self.objective.into_iter().chain(lines);
        lines.flat_map(|line| self.kept.iter().filter_map(|&i| line.get(i).copied())).collect()
    }

    fn path(&self, values: &[f64], x: &Scale, y: &Scale) -> String {
        let mut d = String::new();
        let mut drawing = false;
        for &i in &self.kept {
            let value = values.get(i).copied().filter(|&v| drawable(v));
            if let Some(v) = value {
                let at = format!("{} {}", px(x.place(self.turns[i] as f64)), px(y.place(v)));
                // A point without a neighbour is a line of no length, which a round cap makes a dot.
                d.push_str(&if drawing { format!("L{at}") } else { format!("M{at}h0") });
            }
            drawing = value.is_some();
        }
        d
    }

    /// The lines, faint ones below the others, and their legend.
    fn lines(&self, x: &Scale, y: &Scale) -> (Vec<Drawn>, Vec<Key>) {
        let drawn = |class: String, values: &[f64]| Drawn { class, d: self.path(values, x, y) };
        let mut lines: Vec<Drawn> =
            self.faint.iter().map(|line| drawn("faint".into(), &line.values)).collect();
        let mut keys = Vec::new();
        if let Some(values) = self.objective {
            lines.push(drawn("l0".into(), values));
            keys.push(Key::line("l0".into(), "objective"));
        }
        for (i, line) in self.named.iter().enumerate() {
            let class = format!("l{}", i + 1);
            keys.push(Key::line(class.clone(), &format::shorten(&line.text, 90)));
            lines.push(drawn(class, &line.values));
        }
        if !self.faint.is_empty() {
            keys.push(Key::line("faint".into(), &format!("{} more", self.faint.len())));
        }
        (lines, keys)
    }

    /// The values of the lines with names at one turn.
    fn tip(&self, i: usize) -> String {
        let named = self.named.iter().map(|line| line.values.as_slice());
        let mut tip = format!("Turn {}", format::count(self.turns[i]));
        for values in self.objective.into_iter().chain(named) {
            tip.push('\n');
            tip.push_str(&values.get(i).map_or(String::new(), |&v| format::number(v)));
        }
        tip
    }

    fn note(&self, given: Option<&str>) -> String {
        let smallest = match self.hidden {
            0 => String::new(),
            n => format!("Not drawn: the {} that stay smallest.", format::several(n, "multiplier")),
        };
        [given.unwrap_or_default(), &smallest].join(" ").trim().to_owned()
    }
}
