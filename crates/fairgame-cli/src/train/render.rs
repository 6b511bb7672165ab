//! What a training came to, as text and as JSON.

use std::path::Path;

use comfy_table::CellAlignment;
use fairgame::Result;
use fairgame::algorithm::Algorithm;
use fairgame::classifier::{Margin, Selection, ShrinkSpec};
use fairgame::evaluate::{ConstraintResult, Evaluation, ROUNDING, Verdict};
use fairgame::train::{GameSummary, Trained, weight_of_steps};
use serde_json::{Value, json};

use crate::output::{self, plain};

/// What a training came to, and where it was written.
pub(super) struct Rendered<'a> {
    pub(super) trained: &'a Trained,
    pub(super) seconds: f64,
    pub(super) model: Option<&'a Path>,
    pub(super) report: Option<&'a Path>,
}

/// The largest loss of a constraint; NaN where there is none.
pub(crate) fn worst_value(evaluation: &Evaluation) -> f64 {
    evaluation.worst().and_then(ConstraintResult::value).unwrap_or(f64::NAN)
}

/// One part of the data, as JSON.
fn part_json(evaluation: &Evaluation) -> Value {
    let constraint = |one: &ConstraintResult| {
        let found = one.measurement.estimate();
        json!({
            "name": one.name,
            "value": found.map(|found| found.value),
            "violation": found.map(|found| found.value.max(0.0)),
            "interval": found.map(|found| found.interval),
            "verdict": one.verdict,
            "reason": one.measurement.reason(),
        })
    };
    json!({
        "rows": evaluation.rows,
        "error": evaluation.error,
        "objective": evaluation.objective.measurement.estimate().map(|found| found.value),
        "positive_rate": evaluation.positive_rate,
        "confidence": evaluation.confidence,
        "verdict": evaluation.verdict,
        "constraints": evaluation.constraints.iter().map(constraint).collect::<Vec<_>>(),
    })
}

/// How many turns of how many games, and why no more.
fn played(games: &[GameSummary]) -> String {
    let turns = games.iter().map(|game| game.turns);
    let (least, most) = (turns.clone().min().unwrap_or(0), turns.max().unwrap_or(0));
    let turns = match least == most {
        true => format!("{most} turns"),
        false => format!("{least} to {most} turns"),
    };
    let text = match games.len() {
        1 => turns,
        count => format!("{count} games of {turns}"),
    };
    match games.iter().filter(|game| game.stopped_early).count() {
        0 => text,
        early if early == games.len() => format!("{text}, stopped early"),
        early => format!("{text}, {early} stopped early"),
    }
}

impl Rendered<'_> {
    /// As a JSON document.
    pub(super) fn json(&self) -> Result<String> {
        let trained = self.trained;
        let part = |name: &str| trained.part(name).map_or(Value::Null, part_json);
        let members: Vec<_> = trained
            .classifier
            .members()
            .iter()
            .map(|member| json!({ "weight": member.weight, "turn": member.turn }))
            .collect();
        let shrunk = trained.selected.shrunk.as_ref();
        output::document(&json!({
            "version": output::VERSION,
            "iterations": trained.turns,
            "train_seconds": self.seconds,
            "stopped_early": trained.games.iter().any(|game| game.stopped_early),
            "train": part("train"),
            "val": part("val"),
            "test": part("test"),
            "holds": trained.enforced().is_none_or(Evaluation::holds_on_rows),
            "mixture": members,
            "mean_lambda": {
                "objective": trained.mean_lambda.objective,
                "constraints": trained.mean_lambda.constraints,
            },
            "prices": self.prices(),
            "margins": shrunk.map_or(&[][..], |shrunk| &shrunk.margins),
            "margins_had": shrunk.map(|shrunk| shrunk.feasible),
            "games": trained.games,
            "settings": trained.classifier.provenance().settings,
            "model": self.model,
            "report": self.report,
            "warnings": self.warnings(),
        }))
    }

    fn warnings(&self) -> Vec<String> {
        self.trained.warnings.iter().map(ToString::to_string).collect()
    }

    /// What each constraint costs: how much the objective would fall for each unit of slack.
    fn prices(&self) -> Vec<Option<f64>> {
        let constraints = self.trained.classifier.bound().constraints().len();
        let found = self.trained.explained.as_ref();
        (0..constraints).map(|at| found.and_then(|one| one.prices.get(at).copied())).collect()
    }

    /// As tables and sentences; warnings go to standard error.
    pub(super) fn text(&self) -> String {
        self.warnings().iter().for_each(output::warning);
        let mut text = format!("{}\n\n{}", self.table(), self.how());
        if let Some(enforced) = self.trained.enforced().filter(|one| !one.constraints.is_empty()) {
            text += &self.on_enforced(enforced);
            text += &self.margin();
            text += &self.dearest(enforced);
            text += &self.on_test();
        }
        if let Some(path) = self.model {
            text += &format!("The model is in {}.\n", path.display());
        }
        if let Some(path) = self.report {
            text += &format!("The report is in {}.\n", path.display());
        }
        text
    }

    /// The parts side by side, with the verdict of each constraint on each.
    fn table(&self) -> comfy_table::Table {
        let parts: Vec<(&str, &Evaluation)> =
            self.trained.parts.iter().map(|one| (one.part.as_str(), &one.evaluation)).collect();
        let header: Vec<&str> =
            std::iter::once("").chain(parts.iter().map(|(name, _)| *name)).collect();
        let mut table = output::table(&header);
        let mut row = |name: String, cell: &dyn Fn(&Evaluation) -> String| {
            table.add_row(std::iter::once(name).chain(parts.iter().map(|(_, part)| cell(part))));
        };
        let number = |number: Option<f64>| number.map_or("–".to_owned(), |x| format!("{x:.4}"));
        row("rows".to_owned(), &|part| part.rows.to_string());
        row("error".to_owned(), &|part| number(part.error));
        row("objective".to_owned(), &|part| {
            number(part.objective.measurement.estimate().map(|found| found.value))
        });
        let names = parts.first().map_or(&[][..], |(_, part)| &part.constraints);
        for (i, one) in names.iter().enumerate() {
            row(plain(&one.name), &|part| match part.constraints[i].value() {
                Some(value) => format!("{value:+.4} {}", part.constraints[i].verdict),
                None => "nothing to measure".to_owned(),
            });
        }
        for column in 1..header.len() {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table
    }

    /// How long it took, and what the classifier is.
    fn how(&self) -> String {
        let trained = self.trained;
        let models = output::count(trained.classifier.members().len(), "model");
        let mut text = format!(
            "{} in {:.1} s; the classifier is a mixture of {models}.\n",
            played(&trained.games),
            self.seconds,
        );
        let steps = weight_of_steps(&trained.games);
        if steps.len() > 1 {
            let shares = steps.iter().map(|(step, weight)| format!("{weight:.2} from ×{step}"));
            let shares = shares.collect::<Vec<_>>().join(", ");
            text += &format!("By learning-rate multiplier, its weight is {shares}.\n");
        }
        text
    }

    /// Whether the constraints hold on the rows they were enforced on, and what that says of the population.
    fn on_enforced(&self, enforced: &Evaluation) -> String {
        let trained = self.trained;
        let on = match (&trained.out_of_fold, trained.part("val")) {
            (Some(_), _) => "the training rows, judged out of fold",
            (None, Some(_)) => "the validation rows",
            (None, None) => "the training rows",
        };
        let all = if enforced.holds_on_rows() { "All" } else { "Not all" };
        let settings = &trained.classifier.provenance().settings["algorithm"];
        let unconstrained = Algorithm::Unconstrained(Default::default()).name();
        let how = match settings.get(unconstrained) {
            None => "where they were enforced",
            Some(_) => "though nothing enforced them",
        };
        let mut text = format!("{all} constraints hold on {on}, {how}");
        if let Some((worst, value)) = enforced.worst().and_then(|one| Some((one, one.value()?))) {
            let place = match value {
                value if value > ROUNDING => "the worst is",
                value if value < -ROUNDING => "the nearest to its bound is",
                _ => "the one that binds is",
            };
            text += &format!("; {place} `{}` ({value:+.4})", plain(&worst.name));
        }
        let count = |verdict: Verdict| {
            enforced.constraints.iter().filter(|one| one.verdict == verdict).count()
        };
        let percent = output::short(100.0 * enforced.confidence);
        let verdicts = [Verdict::Met, Verdict::Violated, Verdict::Undecided]
            .into_iter()
            .filter(|&verdict| count(verdict) > 0)
            .map(|verdict| format!("{} {verdict}", count(verdict)))
            .collect::<Vec<_>>();
        let verdicts = verdicts.join(", ");
        text + &format!(
            ".\nBy their intervals on these rows, {percent} % for all together: {verdicts}. The classifier was chosen on \
             these rows,\nso this is optimistic; test rows tell more.\n"
        )
    }

    /// How much there is to spare, and whether that is as much as was asked for.
    fn margin(&self) -> String {
        let Some(shrunk) = &self.trained.selected.shrunk else { return String::new() };
        let most = shrunk.margins.iter().copied().fold(0.0, f64::max);
        let Selection::Shrink(ShrinkSpec { margin, .. }) = self.trained.selection else {
            return String::new();
        };
        let of = match margin {
            Margin::None => return String::new(),
            Margin::Errors(1.0) => "of one standard error".to_owned(),
            Margin::Errors(errors) => format!("of {errors} standard errors"),
            Margin::Confidence(level) => {
                format!("for all to hold with a confidence of {} %", 100.0 * level)
            }
        };
        match shrunk.feasible {
            true => format!("The safety margin {of} is kept; the largest is {most:.4}.\n"),
            false => {
                format!(
                    "The safety margin {of} is infeasible, and was reduced where it had to be.\n"
                )
            }
        }
    }

    /// The constraint that costs most.
    fn dearest(&self, enforced: &Evaluation) -> String {
        let prices = self.prices().into_iter().zip(&enforced.constraints);
        let costs = prices.filter_map(|(price, one)| Some((price?, one)));
        match costs.max_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((price, one)) if price > 0.001 => format!(
                "The one that costs most is `{}`: 0.01 of slack would lower the objective by {:.4}.\n",
                plain(&one.name),
                0.01 * price
            ),
            _ => String::new(),
        }
    }

    /// How the constraints carry over to the test rows.
    fn on_test(&self) -> String {
        let Some(test) = self.trained.part("test") else {
            return "There are no test rows (--test, --test-fraction) to see how they carry over.\n"
                .to_owned();
        };
        let mut text = String::new();
        for one in &test.constraints {
            if let Some(reason) = one.measurement.reason() {
                let name = plain(&one.name);
                text += &format!("On the test rows, `{name}` cannot be measured: {reason}.\n");
            }
        }
        text + &match worst_value(test) {
            _ if test.holds_on_rows() => "On the test rows all hold.\n".to_owned(),
            value if value > ROUNDING => {
                format!("On the test rows the worst is off by {value:.4}.\n")
            }
            _ => "On the test rows all that can be measured hold.\n".to_owned(),
        }
    }
}
