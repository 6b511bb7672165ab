//! What was found, as a page.

use std::path::Path;

use fairgame::classifier::Margin;
use fairgame::table::write_text;
use fairgame::{Error, ErrorKind, Result};

use super::{
    ConstraintLine, GAME_TURNS, JUDGING_ROWS, Kind, Learner, Line, OFTEN, Problem, Promises,
    judging_rows,
};
use crate::document::{Document, Part};
use crate::summary::Mean;

/// A share with its standard error: `3.5 ± 1.3 %`; a dash for none.
pub fn percent(share: Mean) -> String {
    match share.error {
        _ if share.mean.is_nan() => "–".to_owned(),
        Some(error) => format!("{:.1} ± {:.1} %", 100.0 * share.mean, 100.0 * error),
        None => format!("{:.1} %", 100.0 * share.mean),
    }
}

/// A number with four digits and its standard error: `.0123 ± .0004`.
fn four(number: Mean) -> String {
    let digits = |x: f64| {
        let text = format!("{:.4}", x.abs());
        let sign = if x < 0.0 && text != "0.0000" { "−" } else { "" };
        format!("{sign}{}", text.strip_prefix('0').unwrap_or(&text))
    };
    match number.error {
        _ if number.mean.is_nan() => "–".to_owned(),
        Some(error) => format!("{} ± {}", digits(number.mean), digits(error)),
        None => digits(number.mean),
    }
}

fn yes_or_no(holds: Option<bool>) -> String {
    holds.map_or("–", |holds| if holds { "yes" } else { "**no**" }).to_owned()
}

fn texts<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).into()
}

impl Promises {
    /// Writes `promise.md` and `promise.json` into a folder, with facts such as the command.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn write(&self, folder: &Path, facts: &[String]) -> Result<()> {
        write_text(&folder.join("promise.md"), &self.document(facts).markdown())?;
        let json = serde_json::to_string_pretty(self).map_err(|error| {
            Error::new(ErrorKind::Format, format!("the results cannot be written: {error}"))
        })?;
        write_text(&folder.join("promise.json"), &(json + "\n"))
    }

    /// What falls short of what is claimed, each in a sentence.
    pub fn shortfalls(&self) -> Vec<String> {
        let mut all = Vec::new();
        for line in &self.lines {
            let name = format!("{}, {}", line.problem, line.model);
            if line.breaks() {
                let share = percent(line.broken.share);
                all.push(format!("{name}: {share} of its promises are broken."));
            }
            if line.often_enough() == Some(false) {
                all.push(format!(
                    "{name}: a promise was said to be possible, and was made in only {} of draws.",
                    percent(line.promised)
                ));
            }
            if line.misjudges() {
                let apart = four(line.apart);
                all.push(format!("{name}: the estimated optimism is off by {apart} in the mean."));
            }
        }
        all
    }

    /// The margin in words.
    pub fn margin_in_words(&self) -> String {
        match self.margin {
            Margin::None => "no margin".to_owned(),
            margin => format!("a margin of {margin}"),
        }
    }

    fn document(&self, facts: &[String]) -> Document {
        let text = |text: String| Part::Text(text);
        let heading = |text: &str| Part::Heading(text.to_owned());
        let mut parts = vec![
            text(format!(
                "How often does a constraint that training promised fail in the population? Each problem below was drawn \
                 {} times: training rows were drawn from a population, a classifier was trained on them by the recommended \
                 recipe with {}, and it was judged on rows of the population that it had not seen.",
                self.draws,
                self.margin_in_words()
            )),
            Part::List(facts.to_vec()),
        ];
        let own = "`linear`, `mlp` (a network of 50 units) and `trees` are as the recipe has them.";
        let game = format!(
            " `game` is a linear model that Algorithm 3 trains in place of the plug-in game; it plays {GAME_TURNS} turns, where \
             the recipe has 50000."
        );
        let played = self.lines.iter().any(|line| line.model == Learner::Game.name());
        parts.push(text(format!("The models {own}{}", if played { &game } else { "" })));
        if let Some(turns) = self.turns {
            parts.push(text(format!(
                "Games were cut short at {turns} turns: for a quick look only."
            )));
        }
        parts.push(self.summary());
        parts.push(heading("What falls short"));
        parts.push(match self.shortfalls() {
            none if none.is_empty() => text("Nothing.".to_owned()),
            some => Part::List(some),
        });
        parts.push(heading("The problems"));
        parts.push(text(format!(
            "The problems were fixed before any run. So was the list *named feasible*: problems where we expect that a \
             promise can be made in at least {:.0} % of draws. For datasets from files, the rows that were not drawn are \
             used for judging. For generated populations, we generate {} new judging rows for each training row. Draws with seeds from 5001, 6001, \
             20001 and 90001 chose settings of the training: the number of parts, how much of the optimism's noise is in the margin, \
             and when a promise is made. Draws of other seeds had no part in choosing these settings, but the settings were chosen on the same problems.",
            100.0 * OFTEN,
            self.problems.first().map_or(JUDGING_ROWS, |one| judging_rows(one.rows) / one.rows)
        )));
        parts.push(self.problems());
        parts.push(heading("How it is measured"));
        parts.push(Part::List(vec![
            "**Loss.** A constraint is written as a loss that must be at most 0: `recall() >= 0.8` has the loss 0.8 − \
             recall. All values below are losses."
                .to_owned(),
            "**Broken, as seen.** The share of promises for which the judging rows violate some constraint, with the \
             binomial standard error. Judging rows are finite, so this is too large where few rows judge."
                .to_owned(),
            "**Broken.** A raw count is too high, because the judging rows are finite. We estimate the variance of a \
             constraint's true values: the observed variance over draws, minus the noise (the mean squared standard \
             error). We assume a normal distribution with that variance and the observed mean. Broken is its share above \
             0. The shares of all constraints are added, so the sum may be too high, also above the raw count. The \
             standard error is the jackknife's over draws."
                .to_owned(),
            "**Kept** (the column \"at most 5 %\" for a margin of 95 %). Whether that share is at most what the margin \
             allows, within two standard errors."
                .to_owned(),
            "**Standard error of a value.** The jackknife's, over 20 blocks of judging rows. Where the chance η of a \
             positive label is known, a row counts as positive with weight η and as negative with weight 1 − η, so that \
             labels add no noise. In a finite file, training rows and judging rows are negatively correlated. This adds to \
             the observed variance over draws; together with the noise of the judging rows it is the noise of independent \
             judging rows, and both are subtracted as one."
                .to_owned(),
            "**Optimism.** By how much a loss is larger in the population than on the rows that it was enforced on: as \
             training estimates it, and as it truly is (the gap). Means over constraints and draws. The difference is \
             taken draw by draw. It is unbiased if it is 0 within two standard errors."
                .to_owned(),
        ]));
        parts.push(heading("Constraint by constraint"));
        parts.push(self.by_constraint());
        parts.push(heading("What was said, and what was true"));
        parts.push(self.by_statement());
        Document { title: "The promise, tested".to_owned(), parts }
    }

    fn summary(&self) -> Part {
        let kept = match self.allowed {
            Some(allowed) => format!("at most {:.0} %", 100.0 * allowed),
            None => "kept".to_owned(),
        };
        let header = texts([
            "problem",
            "model",
            "named feasible",
            "promise made",
            "broken, as seen",
            "broken",
            kept.as_str(),
            "optimism, estimated",
            "gap, true",
            "estimate less truth",
            "objective",
        ]);
        let row = |line: &Line| {
            vec![
                line.problem.to_owned(),
                line.model.to_owned(),
                if line.feasible { "yes" } else { "no" }.to_owned(),
                percent(line.promised),
                percent(line.broken.raw),
                percent(line.broken.share),
                yes_or_no(line.broken.kept),
                four(line.optimism),
                four(line.gap),
                four(line.apart),
                four(line.objective),
            ]
        };
        let caption = "Promises made and broken, with standard errors.".to_owned();
        Part::Table { caption, header, rows: self.lines.iter().map(row).collect() }
    }

    fn problems(&self) -> Part {
        let header = texts([
            "problem",
            "about",
            "training rows",
            "minimised",
            "constraints",
            "why a promise is possible",
            "seconds a training",
        ]);
        let of = |problem: &Problem| {
            let own: Vec<&Line> =
                self.lines.iter().filter(|line| line.problem == problem.name).collect();
            let seconds = own.iter().map(|line| format!("{:.2} ({})", line.seconds, line.model));
            let constraints = problem.constraints.iter().map(|text| format!("`{text}`"));
            let row = vec![
                problem.name.to_owned(),
                problem.about.to_owned(),
                problem.rows.to_string(),
                format!("`{}`", problem.objective),
                constraints.collect::<Vec<_>>().join(", "),
                problem.feasible.unwrap_or("not said beforehand").to_owned(),
                seconds.collect::<Vec<_>>().join(", "),
            ];
            (!own.is_empty()).then_some(row)
        };
        let caption = "Seconds are of one core.".to_owned();
        Part::Table { caption, header, rows: self.problems.iter().filter_map(of).collect() }
    }

    fn by_constraint(&self) -> Part {
        let header = texts([
            "problem, model",
            "constraint",
            "where enforced",
            "margin",
            "in the population",
            "violated there",
            "optimism, estimated",
            "gap, true",
            "estimate less truth",
            "noise of judging",
        ]);
        let row = |line: &Line, one: &ConstraintLine| {
            vec![
                format!("{}, {}", line.problem, line.model),
                format!("`{}`", one.name),
                four(one.enforced),
                four(one.margin),
                four(one.truth),
                percent(one.fails),
                four(one.optimism),
                four(one.gap),
                four(one.apart),
                four(Mean { mean: one.noise, error: None }),
            ]
        };
        let rows = self.lines.iter();
        let rows = rows.flat_map(|line| line.constraints.iter().map(move |one| row(line, one)));
        Part::Table {
            caption: "Means over all draws, those without a promise included. A constraint is violated where the judging \
                      rows' value is above 0."
                .to_owned(),
            header,
            rows: rows.collect(),
        }
    }

    fn by_statement(&self) -> Part {
        let header = texts([
            "problem, model",
            "promised",
            "violated there",
            "only enforced",
            "violated there",
            "said to be violated",
            "violated there",
        ]);
        let row = |line: &Line| {
            let of = |kind: &Kind| [format!("{:.1} %", 100.0 * kind.share), percent(kind.fails)];
            let name = format!("{}, {}", line.problem, line.model);
            std::iter::once(name).chain(line.kinds.iter().flat_map(of)).collect()
        };
        Part::Table {
            caption: "Draws in which every constraint was promised; in which some were only enforced, without a promise; \
                      and in which training said that it could not meet some. Beside each, the share of these draws in \
                      which the judging rows violate some constraint."
                .to_owned(),
            header,
            rows: self.lines.iter().map(row).collect(),
        }
    }
}
