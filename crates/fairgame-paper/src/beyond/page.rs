//! What was found, as a page, with the figure of broken promises.

use std::path::Path;

use fairgame::table::write_text;
use fairgame::{Error, ErrorKind, Result};
use fairgame_report::{Chart, ChartCurve, Spot};

use super::{Beyond, Ground, Grounds, Line, MARGINS};
use crate::document::{Document, Part, Picture};
use crate::experiment::{Experiment, Way};
use crate::printed;
use crate::summary::three;

/// How many of the lines are the paper's: they come first.
const PAPERS: usize = 2;

/// Of fewer promises, no share is drawn.
const FEWEST: f64 = 10.0;

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

impl Beyond {
    /// Writes `beyond.html`, `beyond.md`, `beyond.json` and the figure into a folder, with facts such as the command.
    pub fn write(&self, folder: &Path, facts: &[String]) -> Result<()> {
        let document = self.document(facts);
        for picture in document.pictures() {
            write_text(&folder.join(&picture.file), &picture.svg)?;
        }
        write_text(&folder.join("beyond.html"), &document.html())?;
        write_text(&folder.join("beyond.md"), &document.markdown())?;
        let json = serde_json::to_string_pretty(self).map_err(|error| {
            Error::new(ErrorKind::Format, format!("the results cannot be written: {error}"))
        })?;
        write_text(&folder.join("beyond.json"), &(json + "\n"))
    }

    fn document(&self, facts: &[String]) -> Document {
        let text = |text: &str| Part::Text(text.to_owned());
        let mut parts = vec![
            text(
                "The recommended recipe beside the paper's two ways of Algorithm 3, on the paper's data and models, over \
                 splits of which train and test are both drawn anew. Cross-fitting in five folds, early stopping by rows \
                 that a game does not learn from, and one linear program over all models of all folds, with a margin of κ \
                 standard errors of the mixture, or as many as make all constraints hold with 95 % confidence. The games \
                 are the same for every margin. *Trees* are boosted trees with the plug-in game, which is the default, on \
                 the columns as they are; *one rule* decides without a draw. A worst of 0 or less is met.",
            ),
            Part::List(facts.to_vec()),
        ];
        if let Some(turns) = self.turns {
            parts.push(Part::Text(format!(
                "Games were cut short at {turns} turns: for a quick look only."
            )));
        }
        for Grounds { ground, lines } in &self.grounds {
            parts.push(Part::Heading(ground.title().to_owned()));
            parts.push(self.table(*ground, lines));
        }
        parts.push(Part::Heading("How often a promise is broken".to_owned()));
        parts.push(text(
            "A margin that could be had is a promise: with 95 %, that all constraints hold on new rows. The figure has the \
             share of such runs in which test rows violate some constraint. Test rows are few, too: what is met with little \
             to spare looks violated on some of them, so that a promise that holds shows more than 5 %; least so on Adult \
             with 10,000 rows to train on, where 38,842 are left to test. “Shown to be” above counts constraints that test \
             rows violate beyond their own noise. Where the margin cannot be had there is no promise, and training warns of \
             it: the groups are too small, or the constraints leave no room for one.",
        ));
        parts.push(Part::Figures(vec![self.figure()]));
        Document { title: "Beyond the paper".to_owned(), parts }
    }

    /// The ways of one ground beside each other.
    fn table(&self, ground: Ground, lines: &[Line]) -> Part {
        let header = [
            "",
            "test error",
            "worst on test rows",
            "runs with a violation",
            "constraints violated",
            "shown to be",
            "margin had",
            "of these, with a violation",
        ];
        let row = |line: &Line| {
            vec![
                line.way.clone(),
                line.error.to_string(),
                line.worst.to_string(),
                percent(line.runs_violated),
                percent(line.violated),
                percent(line.shown_violated),
                percent(line.promised),
                line.broken.map_or("–".to_owned(), percent),
            ]
        };
        let caption = match ground {
            Ground::SmallAdult | Ground::Entities | Ground::Simulated => {
                format!("Means of {} runs with standard errors.", self.runs)
            }
            _ => format!(
                "Means of {} runs with standard errors; the paper has {} with one dataset and {} with two.",
                self.runs,
                paper_has(ground.experiment(), Way::PracticalOne),
                paper_has(ground.experiment(), Way::PracticalTwo),
            ),
        };
        Part::Table {
            caption,
            header: header.map(str::to_owned).into(),
            rows: lines.iter().map(row).collect(),
        }
    }

    fn figure(&self) -> Picture {
        let curve = |one: &Grounds| ChartCurve {
            name: one.ground.title().to_owned(),
            colour: 0,
            dashed: one.ground == Ground::SmallAdult,
            points: one.lines[PAPERS..]
                .iter()
                .take(MARGINS.len())
                .enumerate()
                .filter(|(_, line)| line.promised * self.runs as f64 >= FEWEST)
                .filter_map(|(at, line)| {
                    let broken = line.broken?;
                    let variance = broken * (1.0 - broken) / (line.promised * self.runs as f64);
                    Some(Spot { x: at as f64, y: broken, error: Some(variance.sqrt()) })
                })
                .collect(),
        };
        // Where only what has no margin can be had, there is no curve.
        let curves = self.grounds.iter().map(curve).filter(|curve| curve.points.len() > 1);
        let chart = Chart {
            title: "Promises broken on test rows, by margin".to_owned(),
            x: "margin: 0 none, 1 and 2 standard errors, 3 for 95 %".to_owned(),
            y: "share of runs with a violation".to_owned(),
            curves: curves.enumerate().map(|(colour, one)| ChartCurve { colour, ..one }).collect(),
            rule: Some(0.05),
        };
        Picture {
            file: "beyond-promises.svg".to_owned(),
            title: chart.title.clone(),
            svg: chart.to_svg(),
        }
    }
}

fn paper_has(experiment: Experiment, way: Way) -> String {
    printed(experiment, way).map_or("–".to_owned(), |four| {
        format!("{}/{}", three(four.test_error), three(four.test_worst))
    })
}
