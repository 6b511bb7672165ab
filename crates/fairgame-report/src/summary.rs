//! The first page of a model, for someone who must sign, and evidence that comes from the same place.

use crate::figure::dots::Dots;
use crate::figure::shift;
use crate::section::Cell;
use crate::words::{in_words, role_name};
use crate::{Baseline, ConfusionShift, Model, RateShift, Summary, TradePoint, format};

/// So many rates and constraints are on the first page; more are behind a click.
const FEW: usize = 24;

/// The first page.
pub(crate) struct First {
    pub(crate) label: String,
    pub(crate) objective: (String, String),
    /// Each constraint in words, and as written.
    pub(crate) constraints: Vec<(String, String)>,
    pub(crate) on: &'static str,
    pub(crate) rows: String,
    pub(crate) base_rate: String,
    pub(crate) price: Option<Price>,
    pub(crate) baselines: Vec<BaselineRow>,
    pub(crate) drawn: String,
    pub(crate) shift: Option<Dots>,
    pub(crate) rates: Vec<RateRow>,
    pub(crate) many: bool,
    pub(crate) compared: bool,
    pub(crate) unchecked: Vec<String>,
    pub(crate) checked: bool,
    pub(crate) findings: Vec<String>,
    pub(crate) features: Vec<(String, String)>,
    pub(crate) trade: Option<Dots>,
    pub(crate) points: Vec<PointRow>,
    pub(crate) confusions: Vec<ConfusionRow>,
}

/// What the constraints cost.
pub(crate) struct Price {
    pub(crate) before: String,
    pub(crate) after: String,
    pub(crate) more: String,
}

/// The rows decided in one way.
pub(crate) struct BaselineRow {
    pub(crate) text: String,
    pub(crate) objective: String,
    pub(crate) violated: String,
    pub(crate) worst: String,
}

/// A rate before and after.
pub(crate) struct RateRow {
    pub(crate) words: String,
    pub(crate) rows: String,
    pub(crate) before: Option<Cell>,
    pub(crate) after: Option<Cell>,
}

/// The objective with a slack.
pub(crate) struct PointRow {
    pub(crate) slack: String,
    pub(crate) value: String,
    pub(crate) interval: String,
}

/// Decisions by label in a group, as shares of the group.
pub(crate) struct ConfusionRow {
    pub(crate) group: String,
    pub(crate) rows: String,
    pub(crate) shares: [String; 4],
    pub(crate) before: Option<[String; 4]>,
}

impl First {
    pub(crate) fn new(id: &str, model: &Model) -> Option<First> {
        let summary = model.summary.as_ref()?;
        let Summary { objective_before, objective_after, .. } = summary;
        let on = role_name(summary.on);
        let price = objective_before.zip(*objective_after).map(|(before, after)| Price {
            before: format::number(before),
            after: format::number(after),
            more: plus(after - before, 4),
        });
        let objective = model.objective.as_ref().map(|objective| objective.text.clone());
        let objective = objective.unwrap_or_default();
        let drawn = summary.drawn.filter(|share| *share > 0.0);
        Some(First {
            label: summary.label.clone(),
            objective: (in_words(&objective), objective),
            constraints: summary
                .constraints
                .iter()
                .map(|one| (in_words(&one.text), one.text.clone()))
                .collect(),
            on,
            rows: format::count(summary.rows),
            base_rate: summary.base_rate.map_or(String::new(), share),
            price,
            baselines: summary.baselines.iter().map(baseline).collect(),
            drawn: drawn.map_or(String::new(), share),
            shift: shift::constraints(id, &summary.constraints, on),
            rates: summary.rates.iter().map(rate).collect(),
            many: summary.rates.len() > FEW || summary.constraints.len() > FEW,
            compared: summary.rates.iter().any(|one| one.before.is_some()),
            unchecked: summary.unchecked.clone(),
            checked: summary.checked,
            findings: summary.findings.clone(),
            features: summary.features.clone(),
            trade: shift::trade_off(id, &summary.trade_off),
            points: summary.trade_off.iter().map(point).collect(),
            confusions: summary.confusions.iter().map(confusion).collect(),
        })
    }
}

/// A share in per cent, to a tenth.
fn share(share: f64) -> String {
    format!("{} %", format::signed(100.0 * share, 1))
}

/// A number with its sign.
fn plus(number: f64, decimals: usize) -> String {
    let text = format::signed(number, decimals);
    if number > 0.0 { format!("+{text}") } else { text }
}

fn baseline(one: &Baseline) -> BaselineRow {
    let number = |number: Option<f64>| number.map_or("–".to_owned(), format::number);
    BaselineRow {
        text: one.text.clone(),
        objective: number(one.objective),
        violated: format::count(one.violated),
        worst: number(one.worst),
    }
}

fn rate(one: &RateShift) -> RateRow {
    RateRow {
        words: in_words(&one.text),
        rows: format::count(one.rows),
        before: one.before.as_ref().map(Cell::rate),
        after: one.after.as_ref().map(Cell::rate),
    }
}

fn point(point: &TradePoint) -> PointRow {
    PointRow {
        slack: plus(point.slack, 3),
        value: point.value.map_or("infeasible".to_owned(), format::number),
        interval: point.interval.as_ref().map_or(String::new(), format::interval),
    }
}

fn confusion(one: &ConfusionShift) -> ConfusionRow {
    let shares = |counts: &[f64; 4]| {
        let all: f64 = counts.iter().sum();
        counts.map(|count| if all > 0.0 { share(count / all) } else { "–".to_owned() })
    };
    ConfusionRow {
        group: if one.group.is_empty() { "everyone".to_owned() } else { one.group.clone() },
        rows: format::count(one.rows),
        shares: one.after.as_ref().map(shares).unwrap_or_default(),
        before: one.before.as_ref().map(shares),
    }
}
