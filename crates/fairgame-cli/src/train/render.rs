//! What a training came to, as text and as JSON.

use std::path::Path;

use comfy_table::CellAlignment;
use fairgame::algorithm::Algorithm;
use fairgame::classifier::{Blend, Margin, Selection, ShrinkSpec};
use fairgame::evaluate::{ConstraintResult, Evaluation, ROUNDING};
use fairgame::train::{
    BaselineKind, Forecast, GameSummary, Standing, Trained, Warning, weight_of_steps,
};
use fairgame::{Result, shown};
use serde_json::{Value, json};

use crate::output;
use crate::show;

/// What a training came to, and where it was written.
pub(super) struct Rendered<'a> {
    pub(super) trained: &'a Trained,
    pub(super) seconds: f64,
    pub(super) model: Option<&'a Path>,
    pub(super) report: Option<&'a Path>,
}

/// Other ways to decide the same rows, as the table calls them.
const BASELINES: [(&str, BaselineKind); 3] = [
    ("unconstrained", BaselineKind::Unconstrained),
    ("all negative", BaselineKind::AlwaysNegative),
    ("all positive", BaselineKind::AlwaysPositive),
];

/// So many features are named.
const MOST_NAMED: usize = 20;

/// What a training will take.
pub(super) fn forecast(forecast: &Forecast) -> String {
    let about = if forecast.exact { "" } else { "about " };
    let way = match forecast.in_passes {
        true => format!("read {} times, in chunks; the table is never held", forecast.passes),
        false => "read once and held as a table".to_owned(),
    };
    let time = match forecast.seconds {
        Some(seconds) => {
            let (all, reading) = (output::time(seconds), output::time(forecast.reading));
            format!("about {all}; reading alone takes {reading}")
        }
        None => "unknown".to_owned(),
    };
    let memory = forecast
        .memory
        .map_or("unknown".to_owned(), |bytes| format!("about {}", output::bytes(bytes)));
    let disk = match forecast.disk {
        None => "unknown".to_owned(),
        Some(0) => "none".to_owned(),
        Some(bytes) => {
            format!("about {} in the folder of temporary files (TMPDIR)", output::bytes(bytes))
        }
    };
    let mut text = format!(
        "rows    {about}{}, {way}\ntime    {time}\nmemory  {memory}\ndisk    {disk}\n",
        forecast.rows,
    );
    text += &match &forecast.obstacle {
        Some(why) => {
            format!("The first {} rows cannot be trained on alone: {why}\n", forecast.trial)
        }
        None => {
            let (half, whole) = (forecast.trial / 2, forecast.trial);
            format!("Estimated from trainings on the first {half} and the first {whole} rows.\n")
        }
    };
    text
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
        "base_rate": evaluation.base_rate,
        "drawn": evaluation.drawn,
        "confidence": evaluation.confidence,
        "verdict": evaluation.verdict,
        "constraints": evaluation.constraints.iter().map(constraint).collect::<Vec<_>>(),
    })
}

/// What is promised where all constraints are.
fn promise(margin: Margin) -> String {
    let percent = |share: f64| output::short(100.0 * share);
    let Some(level) = margin.confidence() else { return "Promised.\n".to_owned() };
    let gate = match margin {
        Margin::Gate { rows, chance, .. } => format!(
            ", and with a probability of {} % `evaluate` on {rows} new rows says met",
            percent(chance)
        ),
        _ => String::new(),
    };
    let all = "all constraints hold in the population that the rows are from";
    format!("Promised: with a probability of {} % {all}{gate}.\n", percent(level))
}

/// How many turns of how many games, and why no more; in the plug-in game, how many trees or turns of how many folds.
fn played(games: &[GameSummary], plug_in: bool) -> String {
    let turns = games.iter().map(|game| game.turns);
    let (least, most) = (turns.clone().min().unwrap_or(0), turns.max().unwrap_or(0));
    // Nothing is trained where another model gives the scores and no group has to be modelled.
    let what = match most {
        0 if plug_in => return output::count(games.len(), "fold"),
        _ if plug_in => "steps of boosting or descent",
        _ => "turns",
    };
    let turns = match least == most {
        true => format!("{most} {what}"),
        false => format!("{least} to {most} {what}"),
    };
    let text = match games.len() {
        1 => turns,
        count if plug_in => format!("{count} folds of {turns}"),
        count => format!("{count} games of {turns}"),
    };
    if plug_in {
        return text;
    }
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
            .map(|member| {
                let (weight, turn, column) = (member.weight, member.turn, member.column);
                json!({ "weight": weight, "turn": turn, "column": column, "threshold": member.threshold })
            })
            .collect();
        output::document(&json!({
            "version": output::VERSION,
            "iterations": trained.turns,
            "train_seconds": self.seconds,
            "stopped_early": trained.games.iter().any(|game| game.stopped_early),
            "train": part("train"),
            "val": part("val"),
            "test": part("test"),
            "holds": trained.standing() != Standing::Violated,
            "standing": trained.standing(),
            "enforcement": trained.enforcement,
            "objective_optimism": trained.mixture.optimism.as_ref().map(|losses| losses.objective),
            "margin_price": trained.mixture.price,
            "rule_price": trained.mixture.rule_price,
            "mixture": members,
            "mean_lambda": {
                "objective": trained.mean_lambda.objective,
                "constraints": trained.mean_lambda.constraints,
            },
            "guarantee": trained.guarantee,
            "prices": self.prices(),
            "games": trained.games,
            "baselines": self.baselines(),
            "features": show::features(&trained.classifier),
            "importance": trained.importance,
            "settings": trained.classifier.provenance().settings,
            "model": self.model,
            "report": self.report,
            "notices": self.trained.notices.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "warnings": self.warnings(),
        }))
    }

    /// The same rows decided in other ways, as JSON: the test rows, or those that constraints were enforced on.
    fn baselines(&self) -> Value {
        let trained = self.trained;
        let tested = trained.part("test").is_some();
        let part = match (tested, trained.part("val")) {
            (true, _) => "test",
            (false, Some(_)) => "val",
            (false, None) => "train",
        };
        let of = |kind| trained.baseline(kind, tested).map_or(Value::Null, part_json);
        json!({
            "part": part,
            "unconstrained": of(BaselineKind::Unconstrained),
            "always_negative": of(BaselineKind::AlwaysNegative),
            "always_positive": of(BaselineKind::AlwaysPositive),
        })
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
            text += &format!("\n{}\n\n", self.enforcement());
            text += &self.standing(enforced);
            text += &self.price();
            text += &self.guarantee();
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

    /// The parts side by side, with the verdict of each constraint on test rows: no other rows are new to the model.
    fn table(&self) -> comfy_table::Table {
        let mut parts: Vec<(&str, &Evaluation)> =
            self.trained.parts.iter().map(|one| (one.part.as_str(), &one.evaluation)).collect();
        let (own, tested) = (parts.len(), self.trained.part("test").is_some());
        parts.extend(
            BASELINES
                .iter()
                .filter_map(|(name, kind)| Some((*name, self.trained.baseline(*kind, tested)?))),
        );
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
        row("base rate".to_owned(), &|part| number(part.base_rate));
        row("decided by a draw".to_owned(), &|part| {
            part.drawn.map_or("–".to_owned(), |share| format!("{:.1} %", 100.0 * share))
        });
        let names = parts.first().map_or(&[][..], |(_, part)| &part.constraints);
        for (i, one) in names.iter().enumerate() {
            row(output::cell(&one.name), &|part| match part.constraints[i].value() {
                Some(value) if std::ptr::eq(part, parts[own - 1].1) && tested => {
                    format!("{value:+.4} {}", part.constraints[i].verdict)
                }
                Some(value) => format!("{value:+.4}"),
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

    /// What the constraints cost beside a model that does not know them.
    fn price(&self) -> String {
        let tested = self.trained.part("test").is_some();
        let Some(free) = self.trained.baseline(BaselineKind::Unconstrained, tested) else {
            return String::new();
        };
        let own = if tested { self.trained.part("test") } else { self.trained.enforced() };
        let value = |one: &Evaluation| Some(one.objective.measurement.estimate()?.value);
        let Some((with, without)) = own.and_then(value).zip(value(free)) else {
            return String::new();
        };
        let rows = match (tested, self.trained.part("val")) {
            (true, _) => "the test rows",
            (false, Some(_)) => "the rows that the constraints were enforced on",
            (false, None) => "the training rows",
        };
        let worst = match worst_value(free) {
            worst if worst > ROUNDING => {
                format!(", and violates the worst constraint by {worst:.4}")
            }
            _ => ", and meets all constraints".to_owned(),
        };
        format!(
            "The constraints cost {:+.4} of the objective: without them, the same kind of model has {without:.4} on \
             {rows}{worst}.\n",
            with - without
        )
    }

    /// How long it took, and what the classifier is.
    fn how(&self) -> String {
        let trained = self.trained;
        let columns = trained.classifier.columns();
        let folds = trained.classifier.members().len() / columns.max(1);
        let models = match folds {
            0 | 1 => output::count(columns, "model"),
            folds => format!("{columns} × {folds} models, one of each fold"),
        };
        let plug_in = trained.classifier.views().iter().any(|view| view.probabilities.is_some());
        let rules = output::count(columns, "rule");
        let what = match (plug_in, trained.classifier.blend()) {
            (true, _) if folds <= 1 && columns == 1 => "one rule over probabilities".to_owned(),
            (true, _) if folds <= 1 => format!("a mixture of {rules} over probabilities"),
            (true, Blend::Mean) => format!("{rules} over the mean probability of {folds} folds"),
            (true, Blend::Draw) => {
                format!("a mixture of {rules} over the probabilities of {folds} folds")
            }
            (false, _) => format!("a mixture of {models}"),
        };
        let mut text = format!(
            "{} in {:.1} s; the classifier is {what}.\n",
            played(&trained.games, plug_in),
            self.seconds,
        );
        let features = trained.classifier.feature_columns();
        let few: Vec<_> = features.iter().take(MOST_NAMED).map(|name| shown(name)).collect();
        let more = features.len().saturating_sub(MOST_NAMED);
        let rest =
            if more > 0 { format!(" and {more} more (`fairgame show`)") } else { String::new() };
        let count = output::count(features.len(), "feature");
        text += &format!("It uses {count}: {}{rest}.\n", few.join(", "));
        if let Some(price) = trained.mixture.rule_price {
            text += &format!(
                "It decides without a draw. A randomised mixture of such rules, with the same margins, would lower the objective by \
                 {price:.4} on these rows.\n"
            );
        }
        let plain: f64 =
            trained.games.iter().filter(|game| game.plain).map(|game| game.weight).sum();
        if plain > 0.0005 && !plug_in {
            text +=
                &format!("{plain:.2} of its weight is from models trained without constraints.\n");
        }
        let steps = weight_of_steps(&trained.games);
        if steps.len() > 1 {
            let shares = steps.iter().map(|(step, weight)| format!("{weight:.2} from ×{step}"));
            let shares = shares.collect::<Vec<_>>().join(", ");
            text += &format!("By learning-rate multiplier, its weight is {shares}.\n");
        }
        text
    }

    /// What is said of each constraint.
    fn enforcement(&self) -> comfy_table::Table {
        let enforced = self.trained.enforced().map_or(0.0, |one| one.confidence);
        let new = format!("on new rows ({} %)", output::short(100.0 * enforced));
        let header = ["constraint", "where enforced", "optimism", "margin", &new, "standing"];
        let mut table = output::table(&header);
        for one in &self.trained.enforcement {
            let number = |number: f64| format!("{number:+.4}");
            let estimate = one.estimate.map_or("–".to_owned(), |found| {
                let interval = found.interval;
                format!("{:+.4} ({:+.4} to {:+.4})", found.value, interval.low, interval.high)
            });
            table.add_row([
                output::cell(&one.constraint),
                number(one.value),
                one.optimism.map_or("–".to_owned(), number),
                match one.margin < one.asked - 5e-5 {
                    true => format!("{} of {}", number(one.margin), number(one.asked)),
                    false => number(one.margin),
                },
                estimate,
                one.standing.to_string(),
            ]);
        }
        for column in 1..header.len() - 1 {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table
    }

    /// How the constraints stand, where, and what the margin costs.
    fn standing(&self, enforced: &Evaluation) -> String {
        let trained = self.trained;
        let on = match (&trained.out_of_fold, trained.part("val")) {
            (Some(_), _) => {
                "on the training rows; each row was judged only by models that were not trained on it"
            }
            (None, Some(_)) => "on the validation rows",
            (None, None) => "on the training rows themselves",
        };
        let settings = &trained.classifier.provenance().settings["algorithm"];
        let unconstrained = Algorithm::Unconstrained(Default::default()).name();
        if settings.get(unconstrained).is_some() {
            return format!("Nothing enforced the constraints. They were measured {on}.\n");
        }
        let count = |standing: Standing| {
            trained.enforcement.iter().filter(|one| one.standing == standing).count()
        };
        let all = trained.enforcement.len();
        let margin = match trained.selection {
            Selection::Shrink(ShrinkSpec { margin, .. }) => margin,
            _ => Margin::None,
        };
        let mean = trained.classifier.blend() == Blend::Mean && trained.out_of_fold.is_some();
        let mut text = match (count(Standing::Promised), count(Standing::Violated)) {
            (promised, 0) if promised == all => promise(margin),
            (0, 0) => {
                let how = match margin.confidence() {
                    // Why not is a warning.
                    Some(_) => "",
                    // Nothing is promised of the mean of several folds, nor where rows that judge have taught.
                    None if mean || trained.part("val").is_none() => "",
                    None => {
                        " To ask for a promise on new rows, give --margin a confidence, such as 95%."
                    }
                };
                format!("Enforced: every loss is at most 0, optimism included.{how}\n")
            }
            (promised, 0) => {
                format!(
                    "Enforced: every loss is at most 0, optimism included. Promised: {promised} of {all}.\n"
                )
            }
            (_, violated) => {
                format!("Violated: {violated} of {}.\n", output::count(all, "constraint"))
            }
        };
        text += &format!("The constraints were enforced {on}.\n");
        if mean {
            text += "The mean of the folds decides new rows; it was not judged itself.\n";
        }
        if enforced.rows > 0
            && let (Some(price), false) = (trained.mixture.price, margin == Margin::None)
            && price >= 5e-5
        {
            text += &format!(
                "The safety margin ({margin}) and the optimism raise the objective by {price:.4} on these rows.\n"
            );
        }
        text
    }

    /// What Theorem 1 or 2 says of the game.
    fn guarantee(&self) -> String {
        let Some(found) = self.trained.guarantee else { return String::new() };
        let theorem = found.theorem;
        let sure = output::short(100.0 * (1.0 - found.delta));
        let Some((val, most)) = found.generalization.zip(found.infeasibility) else {
            let taught = |one: &Warning| matches!(one, Warning::Overlap { part: "validation", .. });
            let why = match self.trained.part("val") {
                None => "the constraints were enforced on the training rows",
                Some(_) if self.trained.warnings.iter().any(taught) => {
                    "validation rows are also training rows"
                }
                // With the rows apart, only the second theorem asks for more.
                Some(_) => {
                    "it asks for Lipschitz losses, in a bounded region (`algorithm.continuous.side = \"proxy\"`)"
                }
            };
            return format!("Theorem {theorem} says nothing of new rows here: {why}.\n");
        };
        let said = match self.trained.selection {
            Selection::Theorem => format!(
                "no constraint is violated by more than {most:.4} (ε/λ̄₁ = {:.4} and G_val = {val:.4})",
                found.enforced
            ),
            _ if theorem == 2 => format!(
                "the proxy of each constraint is within {val:.4} (G_val) of its value on the validation rows, if these \
                 are independent"
            ),
            _ => format!(
                "each constraint is within {val:.4} (G_val) of its value on the validation rows, if these are \
                 independent and no threshold was moved"
            ),
        };
        format!("Theorem {theorem}: with a probability of {sure} %, in the population {said}.\n")
    }

    /// The constraint that costs most.
    fn dearest(&self, enforced: &Evaluation) -> String {
        let prices = self.prices().into_iter().zip(&enforced.constraints);
        let costs = prices.filter_map(|(price, one)| Some((price?, one)));
        match costs.max_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((price, one)) if price > 0.001 => format!(
                "The constraint that costs most is `{}`: 0.01 of slack would lower the objective by {:.4}.\n",
                output::cell(&one.name),
                0.01 * price
            ),
            _ => String::new(),
        }
    }

    /// How the constraints carry over to the test rows.
    fn on_test(&self) -> String {
        let Some(test) = self.trained.part("test") else {
            return "There are no test rows. To check the constraints on new rows, give --test or --test-fraction.\n"
                .to_owned();
        };
        let mut text = String::new();
        for one in &test.constraints {
            if let Some(reason) = one.measurement.reason() {
                let name = output::cell(&one.name);
                text += &format!("On the test rows, `{name}` cannot be measured: {reason}.\n");
            }
        }
        text + &match worst_value(test) {
            _ if test.holds_on_rows() => "On the test rows all constraints hold.\n".to_owned(),
            value if value > ROUNDING => {
                format!("On the test rows the worst constraint is violated by {value:.4}.\n")
            }
            _ => "On the test rows all constraints hold that can be measured.\n".to_owned(),
        }
    }
}
