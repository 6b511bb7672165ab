//! Trained classifiers and their constraints as one HTML page.
//!
//! A [`Report`] is plain data, filled in by hand or by [`Report::of_classifiers`]; [`Report::to_html`] makes it one self-contained page: no file and no
//! address outside of it is ever asked for, and its own Content-Security-Policy forbids it, allowing by
//! their hashes only the one style sheet and the one script that are within. All texts are escaped by the
//! templates (`askama`), which are checked when this crate is compiled.
//!
//! Figures are SVG, each beside a table with the same numbers. Nothing on the page needs the script
//! but tooltips and opening all details before printing.
//!
//! ```
//! use fairgame_report::{Iterate, Iterates, Model, Report, Verdict};
//!
//! let all = (1..=3).map(|t| Iterate { turn: t * 10, error: 0.2, violation: 0.1 / t as f64 - 0.04 });
//! let model = Model {
//!     name: "linear".into(),
//!     verdict: Verdict::Undecided,
//!     words: "Too few rows to say with 95 % confidence.".into(),
//!     iterates: Some(Iterates { all: all.collect(), ..Iterates::default() }),
//!     ..Model::default()
//! };
//! let html = Report { title: "Trial".into(), models: vec![model], ..Report::default() }.to_html();
//! assert!(html.starts_with("<!doctype html>"));
//! assert_eq!(html.matches("Turn 30").count(), 1, "a tooltip");
//! ```

mod chart;
mod data;
mod figure;
mod format;
mod number;
mod page;
mod rates;
mod scale;
mod section;
mod settings;
mod summary;
mod trained;
mod words;

pub use chart::{Chart, Curve as ChartCurve, Spot};
pub use data::{
    Baseline, ConfusionShift, Constraint, Enforcement, Estimate, Group, Groups, Importance,
    Interval, Iterate, Iterates, Line, Measured, Member, Model, Multipliers, Objective, On, Point,
    Promise, Provenance, Rate, RateShift, Report, Role, Sample, Shift, Standing, Summary,
    TradePoint, Verdict,
};

impl Report {
    /// The page. It is the same to the byte for the same report.
    ///
    /// ```
    /// use fairgame_report::Report;
    ///
    /// let report = Report { title: "<script>".into(), ..Report::default() };
    /// assert!(!report.to_html().contains("<h1><script>"));
    /// ```
    pub fn to_html(&self) -> String {
        format::visible(&page::Page::new(self).to_string())
    }
}
