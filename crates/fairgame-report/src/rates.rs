//! The rates of a policy's groups without and with constraints, as an SVG file of its own.
//!
//! Like a [`Chart`](crate::Chart), it carries its colours with it, for light and for dark.

use askama::Template;

use crate::figure::px;
use crate::scale::{Scale, drawable};
use crate::{Estimate, RateShift, Role, Summary, format};

const LEFT: f64 = 300.0;
const RIGHT: f64 = 690.0;
const TOP: f64 = 62.0;
/// Of each row.
const HEIGHT: f64 = 30.0;
/// More rates than these are not drawn.
const MOST: usize = 40;

struct Row {
    text: String,
    tip: String,
    label_x: String,
    label_y: String,
    join: String,
    /// Class, interval, and place.
    dots: Vec<(&'static str, String, String, String)>,
}

#[derive(Template)]
#[template(path = "rates.svg")]
struct Drawing {
    title: String,
    desc: String,
    on: String,
    height: String,
    bottom: String,
    tick_y: String,
    ticks: Vec<(String, String)>,
    rows: Vec<Row>,
}

impl Summary {
    /// The rates before and after as an SVG document; none where no rate was measured.
    ///
    /// ```
    /// use fairgame_report::{Estimate, RateShift, Summary};
    ///
    /// let rate = |value| Some(Estimate { value, ..Estimate::default() });
    /// let women = RateShift { text: "tpr(sex == \"f\")".into(), before: rate(0.5), after: rate(0.7), ..RateShift::default() };
    /// let svg = Summary { rates: vec![women], ..Summary::default() }.rates_svg().unwrap();
    /// assert!(svg.starts_with("<svg ") && svg.contains("50 % without constraints, 70 % with them"));
    /// assert_eq!(Summary::default().rates_svg(), None);
    /// ```
    pub fn rates_svg(&self) -> Option<String> {
        let measured =
            |one: &&RateShift| value(&one.before).is_some() || value(&one.after).is_some();
        let mut rates: Vec<&RateShift> = self.rates.iter().filter(measured).take(MOST).collect();
        // Those of everyone come first.
        rates.sort_by_key(|one| !one.text.ends_with("()"));
        if rates.is_empty() {
            return None;
        }
        let ends = |estimate: &Option<Estimate>| -> Vec<f64> {
            let interval = estimate.as_ref().and_then(|one| one.interval);
            let interval = interval.map(|interval| [interval.low, interval.high]);
            value(estimate).into_iter().chain(interval.into_iter().flatten()).collect()
        };
        let all = rates.iter().flat_map(|one| [ends(&one.before), ends(&one.after)]).flatten();
        // Rates are shares: the axis begins at 0.
        let scale = Scale::linear(all.chain([0.0]), 6, LEFT, RIGHT);
        let bottom = TOP + HEIGHT * rates.len() as f64;
        let row = |(at, one): (usize, &&RateShift)| {
            let middle = TOP + HEIGHT * (at as f64 + 0.5);
            let place = |estimate: &Option<Estimate>| value(estimate).map(|x| px(scale.place(x)));
            let join = match (place(&one.before), place(&one.after)) {
                (Some(from), Some(to)) => format!("M{from} {}H{to}", px(middle)),
                _ => String::new(),
            };
            // The two intervals lie beside each other, so that both can be seen.
            let dot = |class, estimate: &Option<Estimate>, beside: f64| {
                let y = px(middle + beside);
                let bar = estimate.as_ref().and_then(|one| one.interval).map_or(
                    String::new(),
                    |interval| {
                        let [low, high] = [interval.low, interval.high].map(|x| px(scale.place(x)));
                        format!("M{low} {y}H{high}")
                    },
                );
                place(estimate).map(|x| (class, bar, x, px(middle)))
            };
            Row {
                text: format::shorten(&one.text, 42),
                tip: told(one),
                label_x: px(LEFT - 14.0),
                label_y: px(middle + 4.5),
                join,
                dots: [dot("before", &one.before, -3.0), dot("after", &one.after, 3.0)]
                    .into_iter()
                    .flatten()
                    .collect(),
            }
        };
        let drawing = Drawing {
            title: "Rates by group, without and with constraints".into(),
            desc: rates.iter().map(|one| told(one)).collect::<Vec<_>>().join(". "),
            on: match self.on {
                Role::Train => "rows of training".into(),
                Role::Val => "held-out rows".into(),
                Role::Test => "test rows".into(),
            },
            height: px(bottom + 34.0),
            bottom: px(bottom),
            tick_y: px(bottom + 20.0),
            ticks: scale
                .ticks()
                .into_iter()
                .map(|tick| (px(tick.at), percent_of(&tick.text)))
                .collect(),
            rows: rates.iter().enumerate().map(row).collect(),
        };
        // A template of ours, written to memory, has nothing to fail at.
        Some(drawing.render().unwrap_or_default())
    }
}

/// The value of a rate that is one: groups without rows have none.
fn value(estimate: &Option<Estimate>) -> Option<f64> {
    estimate.as_ref().map(|one| one.value).filter(|value| drawable(*value))
}

/// A rate in words.
fn told(one: &RateShift) -> String {
    let share = |estimate| value(estimate).map(|value| format!("{} %", px(100.0 * value)));
    let rate = format::shorten(&one.text, 200);
    match (share(&one.before), share(&one.after)) {
        (Some(before), Some(after)) => {
            format!("{rate}: {before} without constraints, {after} with them")
        }
        (Some(before), None) => format!("{rate}: {before} without constraints"),
        (_, after) => format!("{rate}: {} with constraints", after.unwrap_or_default()),
    }
}

/// The text of a tick, as a percentage.
fn percent_of(tick: &str) -> String {
    tick.replace('−', "-").parse().map_or(tick.to_owned(), |x: f64| format!("{} %", px(100.0 * x)))
}
