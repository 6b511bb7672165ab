//! The grid as a page.

use std::path::Path;

use fairgame::table::write_text;
use fairgame::{Error, ErrorKind, Result};

use super::{Grid, Reading};
use crate::document::{Document, Part};
use crate::experiment::{Experiment, Way};
use crate::paper::{Four, printed};
use crate::summary::{Cell, three};

/// The paper's numbers that are below 0.
fn below_0(pick: impl Fn(&Four<f64>) -> f64) -> String {
    let printed = Way::ALL.into_iter().filter_map(|way| printed(Experiment::Communities, way));
    let below = printed.map(|one| pick(&one)).filter(|&one| one < 0.0);
    below.map(three).collect::<Vec<_>>().join(" and ")
}

impl Grid {
    /// Writes `communities-grid.html`, `.md` and `.json` into a folder, with facts such as the command.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, folder: &Path, facts: &[String]) -> Result<()> {
        let document = self.document(facts);
        write_text(&folder.join("communities-grid.html"), &document.html())?;
        write_text(&folder.join("communities-grid.md"), &document.markdown())?;
        let json = serde_json::to_string_pretty(self).map_err(|error| {
            Error::new(ErrorKind::Format, format!("the results cannot be written: {error}"))
        })?;
        write_text(&folder.join("communities-grid.json"), &(json + "\n"))
    }

    /// The reading that comes nearest by a number.
    fn nearest(&self, by: impl Fn(&Reading) -> f64) -> Option<&Reading> {
        self.readings.iter().min_by(|a, b| by(a).total_cmp(&by(b)))
    }

    fn document(&self, facts: &[String]) -> Document {
        let mut parts = vec![
            Part::Text(format!(
                "As the paper words its constraints on Communities and Crime, the largest violation is never below 0: \
                     the low and the high half of an attribute are everyone together. It prints {} on test rows and {} on \
                     training rows. So its constraints had slack, or its groups did not cover everyone. Here it is trained \
                     under several readings: a slack s added to the overall false positive rate, and groups that are cut at \
                     the median, at the mean, or below the 30th and above the 70th percentile. Violations are of the \
                     constraints with the slack.",
                below_0(|one| one.test_worst),
                below_0(|one| one.train_worst)
            )),
            Part::List(facts.to_vec()),
        ];
        if let Some(turns) = self.turns {
            parts.push(Part::Text(format!(
                "Trainings were cut short at {turns} turns: a quick look only."
            )));
        }
        parts.push(Part::Heading("Violations".to_owned()));
        parts.push(self.violations());
        parts.push(Part::List(self.fits()));
        parts.push(Part::Heading("Errors".to_owned()));
        parts.push(self.errors());
        Document {
            title: "Communities and Crime: which constraints did the paper have?".to_owned(),
            parts,
        }
    }

    /// A row for the paper, then one for each reading.
    fn table(
        &self,
        caption: String,
        header: &[&str],
        pick: impl Fn(&Reading) -> Vec<Cell>,
    ) -> Part {
        let paper = self.readings.first().map(|one| {
            let printed = pick(one).into_iter().map(|cell| three(cell.paper));
            std::iter::once("as the paper prints it".to_owned()).chain(printed).collect()
        });
        let row = |one: &Reading| {
            let name = format!("{}, s = {}", one.cut.title(), one.slack);
            let cells = pick(one).into_iter().map(|cell| {
                let mark = cell.nearness.mark();
                format!("{}{}{mark}", cell.ours, if mark.is_empty() { "" } else { " " })
            });
            std::iter::once(name).chain(cells).collect::<Vec<_>>()
        };
        Part::Table {
            caption,
            header: header.iter().map(|&one| one.to_owned()).collect(),
            rows: paper.into_iter().chain(self.readings.iter().map(row)).collect(),
        }
    }

    fn violations(&self) -> Part {
        let caption = format!(
            "Means over {} splits, of which each is the mean of {} halvings of its training rows; training with one \
             dataset, and unconstrained, is done once a split. Standard errors are over splits. ≈ is off the paper's \
             number by more than .006, ≠ by more than .012.",
            self.splits, self.halvings
        );
        let header = [
            "groups cut at, slack",
            "unconstrained, train",
            "unconstrained, test",
            "3, one: test",
            "3, two: test",
            "4, one: test",
            "4, two: test",
            "4, one: train",
        ];
        self.table(caption, &header, |one| {
            let under = one.rows[1..].iter().map(|row| row.cells.test_worst);
            let free = one.rows[0].cells;
            [free.train_worst, free.test_worst]
                .into_iter()
                .chain(under)
                .chain([one.rows[3].cells.train_worst])
                .collect()
        })
    }

    fn errors(&self) -> Part {
        let header = [
            "groups cut at, slack",
            "unconstrained",
            "3, one dataset",
            "3, two datasets",
            "4, one dataset",
            "4, two datasets",
        ];
        self.table("Test errors, in the same way.".to_owned(), &header, |one| {
            one.rows.iter().map(|row| row.cells.test_error).collect()
        })
    }

    /// What comes nearest, and how near that is.
    fn fits(&self) -> Vec<String> {
        let named =
            |one: &Reading| format!("groups cut at the {}, s = {}", one.cut.title(), one.slack);
        let mut lines = Vec::new();
        if let Some(one) = self.nearest(|one| one.unconstrained_apart) {
            lines.push(format!(
                "By the two unconstrained violations, {} comes nearest: off by {} on average.",
                named(one),
                three(one.unconstrained_apart)
            ));
        }
        if let Some(one) = self.nearest(|one| one.test_apart) {
            lines.push(format!(
                "By the four test violations under constraints, {} comes nearest: off by {} on average, and by {} where \
                 unconstrained.",
                named(one),
                three(one.test_apart),
                three(one.unconstrained_apart)
            ));
        }
        if let Some(one) = self.nearest(|one| one.unconstrained_apart.max(one.test_apart)) {
            lines.push(format!(
                "By the larger of both, {} comes nearest: off by {} where unconstrained and by {} under constraints.",
                named(one),
                three(one.unconstrained_apart),
                three(one.test_apart)
            ));
        }
        lines
    }
}
