//! A chart of curves with error bars, as an SVG file of its own.
//!
//! It carries its colours with it, for light and for dark, so that it reads the same in a page, in a viewer of
//! images and in a document. Curves differ in colour, and in being dashed with hollow marks; the key has room for
//! four.

use askama::Template;

use crate::figure::px;
use crate::scale::{Scale, drawable};

/// Curves over one axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What the horizontal axis is.
    pub x: String,
    /// What the vertical axis is.
    pub y: String,
    /// The curves, in the order of the key.
    pub curves: Vec<Curve>,
    /// Where a rule is drawn across, if anywhere: such as at 0, where a constraint is just met.
    pub rule: Option<f64>,
}

/// A curve.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curve {
    /// In the key.
    pub name: String,
    /// Which of four colours: 0 to 3.
    pub colour: usize,
    /// Whether it is dashed, and its marks hollow.
    pub dashed: bool,
    /// Where it goes.
    pub points: Vec<Spot>,
}

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spot {
    /// Along the horizontal axis.
    pub x: f64,
    /// Along the vertical.
    pub y: f64,
    /// Half the length of its error bar.
    pub error: Option<f64>,
}

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 96.0;

struct Drawn {
    name: String,
    class: String,
    line: String,
    bars: String,
    marks: Vec<(String, String)>,
    /// Its place in the key.
    key: (String, String),
}

#[derive(Template)]
#[template(path = "chart.svg")]
struct Drawing<'a> {
    chart: &'a Chart,
    desc: String,
    x_ticks: Vec<(String, String)>,
    y_ticks: Vec<(String, String, String)>,
    rule: Option<String>,
    curves: Vec<Drawn>,
}

impl Chart {
    /// The chart as an SVG document.
    ///
    /// ```
    /// use fairgame_report::{Chart, ChartCurve, Spot};
    ///
    /// let spot = |x: f64| Spot { x, y: x * x, error: Some(0.1) };
    /// let curve = ChartCurve { name: "a & b".into(), points: vec![spot(0.0), spot(1.0)], ..Default::default() };
    /// let svg = Chart { title: "Squares".into(), curves: vec![curve], ..Chart::default() }.to_svg();
    /// assert!(svg.starts_with("<svg ") && (svg.contains("a &amp; b") || svg.contains("a &#38; b")));
    /// ```
    pub fn to_svg(&self) -> String {
        let spots = || self.curves.iter().flat_map(|curve| &curve.points);
        let ends = |spot: &Spot| {
            let error = spot.error.unwrap_or(0.0);
            [spot.y - error, spot.y + error]
        };
        let x = Scale::linear(spots().map(|spot| spot.x), 6, LEFT, WIDTH - RIGHT);
        let y = Scale::linear(spots().flat_map(ends).chain(self.rule), 6, HEIGHT - BOTTOM, TOP);
        let drawn = |(at, curve): (usize, &Curve)| -> Drawn {
            let points: Vec<&Spot> =
                curve.points.iter().filter(|spot| drawable(spot.x) && drawable(spot.y)).collect();
            let place = |spot: &Spot| (px(x.place(spot.x)), px(y.place(spot.y)));
            let line = points.iter().enumerate().map(|(at, spot)| {
                let (x, y) = place(spot);
                format!("{}{x} {y}", if at == 0 { "M" } else { "L" })
            });
            let bar = |spot: &&&Spot| {
                let [low, high] = ends(spot);
                let (x, low, high) = (x.place(spot.x), px(y.place(low)), px(y.place(high)));
                let [left, right] = [px(x - 3.0), px(x + 3.0)];
                format!("M{} {low}V{high}M{left} {low}H{right}M{left} {high}H{right}", px(x))
            };
            let bars = points.iter().filter(|spot| spot.error.is_some_and(f64::is_finite));
            Drawn {
                name: curve.name.clone(),
                class: format!(
                    "c{}{}",
                    curve.colour % 4,
                    if curve.dashed { " dashed" } else { "" }
                ),
                line: line.collect(),
                bars: bars.map(|spot| bar(&spot)).collect(),
                marks: points.iter().map(|spot| place(spot)).collect(),
                key: (
                    px(LEFT + (at % 2) as f64 * 205.0),
                    px(HEIGHT - 34.0 + (at / 2) as f64 * 20.0),
                ),
            }
        };
        let names: Vec<&str> = self.curves.iter().map(|curve| curve.name.as_str()).collect();
        let drawing = Drawing {
            chart: self,
            desc: format!("{} against {}: {}.", self.y, self.x, names.join("; ")),
            x_ticks: x.ticks().into_iter().map(|tick| (px(tick.at), tick.text)).collect(),
            y_ticks: y.ticks().into_iter().map(|t| (px(t.at), px(t.at + 4.0), t.text)).collect(),
            rule: self.rule.filter(|&at| drawable(at)).map(|at| px(y.place(at))),
            curves: self.curves.iter().enumerate().map(drawn).collect(),
        };
        // A template of ours, written to memory, has nothing to fail at.
        drawing.render().unwrap_or_default()
    }
}
