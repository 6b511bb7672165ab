//! A page about trained classifiers: what their files remember, as the data of a report.

use fairgame::classifier::Classifier;
use fairgame::evaluate::{
    Confusion, ConstraintResult, Evaluation, Measurement, ROUNDING, RateResult,
};
use fairgame::train::{
    BaselineKind, Record, RecordedModel, RecordedMoment, RecordedPart, SLACKS, trade_off,
};
use fairgame::{Error, ErrorKind, Result, printable};
use serde_json::Value;

use crate::{
    Baseline, ConfusionShift, Constraint, Enforcement, Estimate, Group, Groups, Importance,
    Interval, Iterate, Iterates, Line, Measured, Member, Model, Multipliers, Objective, On, Point,
    Promise, Provenance, Rate, RateShift, Report, Role, Sample, Shift, Standing, Summary,
    TradePoint, Verdict,
};

impl Report {
    /// The report of classifiers, each with its name.
    ///
    /// # Errors
    /// If a classifier remembers no training.
    pub fn of_classifiers(models: &[(String, Classifier)]) -> Result<Report> {
        let mut report = Report { title: "fairgame report".to_owned(), ..Report::default() };
        for (name, classifier) in models {
            let record = classifier.record()?.ok_or_else(|| {
                Error::new(ErrorKind::Format, format!("model `{name}` remembers no training"))
                    .help("make it with `fairgame train`, which keeps a record in the file")
            })?;
            let warnings = record.warnings.iter().map(|text| match models.len() {
                1 => text.clone(),
                _ => format!("{name}: {text}"),
            });
            report.warnings.extend(warnings);
            report.models.push(model(name, classifier, &record));
        }
        Ok(report)
    }
}

fn model(name: &str, classifier: &Classifier, record: &Record) -> Model {
    let last = record.parts.last();
    let provenance = classifier.provenance();
    let seed = provenance.settings.get("seed").and_then(Value::as_u64);
    let hash = |part: &str| match part {
        "train" => Some(provenance.train.sha256.clone()),
        "val" => provenance.val.as_ref().map(|rows| rows.sha256.clone()),
        _ => None,
    };
    Model {
        name: name.to_owned(),
        verdict: last.map_or(Verdict::Undecided, carried_over),
        words: last.map_or(String::new(), |last| words(last, record)),
        confidence: last.filter(|last| last.part == "test").map(|last| last.evaluation.confidence),
        summary: Some(summary(classifier, record)),
        samples: record
            .parts
            .iter()
            .map(|part| Sample {
                role: role(&part.part),
                name: part.source.clone(),
                rows: part.evaluation.rows as u64,
                hash: hash(&part.part),
            })
            .collect(),
        objective: last.map(|part| Objective {
            text: part.evaluation.objective.name.clone(),
            on: on(record, |found| Some(measured(&found.objective.measurement, None))),
        }),
        constraints: constraints(record),
        promise: promise(record),
        importance: record.importance.iter().map(|one| importance(one, record)).collect(),
        groups: groups(record),
        iterates: Some(iterates(classifier, record)),
        multipliers: Some(multipliers(classifier, record)),
        settings: provenance.settings.clone(),
        provenance: Provenance {
            version: Some(provenance.version.clone()),
            seed,
            facts: facts(record),
        },
    }
}

/// What someone who must sign wants to know.
fn summary(classifier: &Classifier, record: &Record) -> Summary {
    let tested = record.parts.iter().any(|part| part.part == "test");
    let last = record.parts.last();
    let free = record
        .baselines
        .iter()
        .find(|one| one.kind == BaselineKind::Unconstrained && (one.part == "test") == tested);
    let free = free.map(|one| &one.evaluation);
    let after = last.map(|last| &last.evaluation);
    let objective = |found: &Evaluation| Some(found.objective.measurement.estimate()?.value);
    let shifts = after.into_iter().flat_map(|after| &after.constraints).enumerate();
    let shift = |(at, one): (usize, &ConstraintResult)| Shift {
        text: one.name.clone(),
        before: free
            .and_then(|free| free.constraints.get(at))
            .map(|one| measured(&one.measurement, Some(one.verdict))),
        after: Some(measured(&one.measurement, Some(one.verdict))),
    };
    let counts = |one: &Confusion| {
        [one.true_positive, one.false_positive, one.false_negative, one.true_negative]
    };
    // A curve is good to know, and no reason to have no page.
    let trade =
        trade_off(classifier, None, &SLACKS).map_or_else(|_| Vec::new(), |found| found.points);
    Summary {
        label: classifier.bound().frozen().label.clone(),
        on: last.map_or(Role::Train, |last| role(&last.part)),
        rows: after.map_or(0, |after| after.rows as u64),
        base_rate: after.and_then(|after| after.base_rate),
        drawn: after.and_then(|after| after.drawn),
        objective_before: free.and_then(objective),
        objective_after: after.and_then(objective),
        baselines: baselines(record, tested),
        constraints: shifts.map(shift).collect(),
        rates: rate_shifts(after, free),
        // A file of an earlier version says nothing of checks.
        checked: classifier.provenance().settings["checks"]
            .as_str()
            .is_some_and(|one| one != "off"),
        findings: record.findings.iter().map(ToString::to_string).collect(),
        features: features(classifier),
        trade_off: trade
            .iter()
            .map(|point| TradePoint {
                slack: point.slack,
                value: point.estimate,
                interval: point.interval.map(|at| Interval { low: at.low, high: at.high }),
            })
            .collect(),
        confusions: record
            .confusions
            .iter()
            .map(|one| ConfusionShift {
                group: one.group.clone(),
                rows: one.rows,
                before: one.unconstrained.as_ref().map(counts),
                after: Some(counts(&one.classifier)),
            })
            .collect(),
        unchecked: unchecked(classifier, record, tested),
    }
}

/// The columns that decide, each with its kind. Of a wrapped estimator, these are the estimator's, whose kinds are not known.
fn features(classifier: &Classifier) -> Vec<(String, String)> {
    if let Some(beside) = classifier.companion() {
        return beside.used().map(|name| (printable(name).into_owned(), String::new())).collect();
    }
    let kinds = classifier.kinds();
    let feature = |name: String| {
        let kind = kinds.get(&name).map(ToString::to_string).unwrap_or_default();
        (printable(&name).into_owned(), kind)
    };
    classifier.feature_columns().into_iter().map(feature).collect()
}

/// The rows of the last part as the classifier decides them, and in other ways. Nothing where there are no others.
fn baselines(record: &Record, tested: bool) -> Vec<Baseline> {
    let others = record.baselines.iter().filter(|one| (one.part == "test") == tested);
    let other = |one: &fairgame::train::Baseline| {
        let text = match one.kind {
            BaselineKind::Unconstrained => "the same kind of model without constraints",
            BaselineKind::AlwaysNegative => "all rows decided negative",
            BaselineKind::AlwaysPositive => "all rows decided positive",
        };
        baseline(text, &one.evaluation)
    };
    let others: Vec<Baseline> = others.map(other).collect();
    let own = record.parts.last().filter(|_| !others.is_empty());
    let own = own.map(|last| baseline("this classifier", &last.evaluation));
    own.into_iter().chain(others).collect()
}

fn baseline(text: &str, found: &Evaluation) -> Baseline {
    let loss = |one: &ConstraintResult| Some(one.measurement.estimate()?.value);
    let losses: Vec<f64> = found.constraints.iter().filter_map(loss).collect();
    Baseline {
        text: text.to_owned(),
        objective: found.objective.measurement.estimate().map(|found| found.value),
        violated: losses.iter().filter(|loss| **loss > ROUNDING).count() as u64,
        worst: losses.into_iter().reduce(f64::max),
    }
}

/// The rates of the constraints, each once, before and after.
fn rate_shifts(after: Option<&Evaluation>, before: Option<&Evaluation>) -> Vec<RateShift> {
    let mut shifts: Vec<RateShift> = Vec::new();
    for (place, one) in after.into_iter().flat_map(|after| after.constraints.iter().enumerate()) {
        for (at, rate) in one.rates.iter().enumerate() {
            if shifts.iter().any(|known| known.text == rate.text) {
                continue;
            }
            let estimate = |rate: &RateResult| {
                let Measured { value, interval, .. } = measured(&rate.measurement, None);
                Estimate { value, interval, rows: None }
            };
            let own = before.and_then(|before| rates(before, place).get(at));
            shifts.push(RateShift {
                text: rate.text.clone(),
                rows: rate.rows as u64,
                before: own.map(estimate),
                after: Some(estimate(rate)),
            });
        }
    }
    shifts
}

/// What nobody has checked.
fn unchecked(classifier: &Classifier, record: &Record, tested: bool) -> Vec<String> {
    let mut unchecked = Vec::new();
    if !tested {
        unchecked.push("New rows: there were no test rows.".to_owned());
    } else if record.tests_have_taught() {
        unchecked.push("New rows: some of the test rows are also training rows.".to_owned());
    }
    unchecked.extend(
        [
            match classifier.bound().combines_columns() {
                true => "Groups, and combinations of groups, that no constraint names.",
                false => "Groups that no constraint names, and combinations of groups.",
            },
            "Whether labels are right, and whether they are equally right in every group.",
            "Whether the people of these rows are like those who will be decided about.",
            "Features that stand for a protected attribute under another name.",
        ]
        .map(str::to_owned),
    );
    unchecked
}

/// How the games went.
fn facts(record: &Record) -> Vec<(String, String)> {
    let mut facts = vec![("turns played".to_owned(), record.turns.to_string())];
    let games = &record.games;
    if games.len() > 1 {
        let turns: Vec<String> = games.iter().map(|game| game.turns.to_string()).collect();
        facts.push(("in each game".to_owned(), turns.join(", ")));
    }
    let early = games.iter().filter(|game| game.stopped_early).count();
    if early > 0 {
        facts.push(("games stopped early".to_owned(), format!("{early} of {}", games.len())));
    }
    let steps = fairgame::train::weight_of_steps(games);
    if steps.len() > 1 {
        let shares = steps.iter().map(|(step, weight)| format!("×{step}: {weight:.2}"));
        let shares = shares.collect::<Vec<_>>().join(", ");
        facts.push(("weight by length of steps".to_owned(), shares));
    }
    facts
}

fn role(part: &str) -> Role {
    match part {
        "val" => Role::Val,
        "test" => Role::Test,
        _ => Role::Train,
    }
}

/// What the last part says of new rows. Those that a classifier was chosen on say nothing good of it.
fn carried_over(last: &RecordedPart) -> Verdict {
    match (last.part.as_str(), last.evaluation.verdict) {
        ("test", found) => found,
        (_, Verdict::Violated) => Verdict::Violated,
        _ => Verdict::Undecided,
    }
}

/// What is said of a part, and of how many of its rows a draw decides.
fn words(part: &RecordedPart, record: &Record) -> String {
    let drawn = part.evaluation.drawn.filter(|share| *share > 0.0);
    let drawn = drawn.map(|share| format!(" A draw decides {:.1} % of the rows.", 100.0 * share));
    holds(part, record) + &drawn.unwrap_or_default()
}

fn holds(part: &RecordedPart, record: &Record) -> String {
    let RecordedPart { part, evaluation, .. } = part;
    let rows = match evaluation.rows {
        1 => "1 row".to_owned(),
        rows => format!("{rows} rows"),
    };
    // As it was given: 95, or 99.9.
    let sure = (1e8 * evaluation.confidence).round() / 1e6;
    let on = match part.as_str() {
        "test" if record.tests_have_taught() => "rows of which some are training rows",
        "test" => "rows that the training never saw",
        "val" => "the rows that the constraints were enforced on",
        _ => "the rows that it learnt from",
    };
    if part != "test" {
        let all = if evaluation.holds_on_rows() { "all" } else { "not all" };
        if Standing::of_all(&record.enforcement) == Standing::Promised {
            return format!(
                "On {rows}, {on}, {all} constraints hold. There were no test rows to check them on. The training \
                 promises that they hold in the population, with the probability that was asked for."
            );
        }
        return format!(
            "On {rows}, {on}, {all} constraints hold. There were no test rows: what holds on rows that a classifier \
             was made from may not hold on new ones, and the intervals here are too narrow."
        );
    }
    let what = match evaluation.verdict {
        Verdict::Met => "all constraints are met",
        Verdict::Violated => "a constraint is violated",
        Verdict::Undecided => "not every constraint can be decided",
    };
    format!("On {rows}, {on}, {what} at a confidence of {sure} %.")
}

/// What each part has of something.
fn on<T>(record: &Record, pick: impl Fn(&Evaluation) -> Option<T>) -> On<T> {
    let mut all = On::default();
    for part in &record.parts {
        let value = pick(&part.evaluation);
        match part.part.as_str() {
            "train" => all.train = value,
            "val" => all.val = value,
            _ => all.test = value,
        }
    }
    all
}

/// A measurement, with the verdict of a constraint.
fn measured(measurement: &Measurement, verdict: Option<Verdict>) -> Measured {
    let estimate = measurement.estimate();
    Measured {
        value: estimate.map_or(f64::NAN, |estimate| estimate.value),
        interval: estimate
            .map(|estimate| Interval { low: estimate.interval.low, high: estimate.interval.high }),
        verdict,
    }
}

/// The rates of a constraint, by its place.
fn rates(found: &Evaluation, place: usize) -> &[RateResult] {
    found.constraints.get(place).map_or(&[], |one| &one.rates)
}

fn constraints(record: &Record) -> Vec<Constraint> {
    let Some(last) = record.parts.last() else { return Vec::new() };
    let constraint = |(place, one): (usize, &ConstraintResult)| Constraint {
        text: one.name.clone(),
        on: on(record, |found| {
            let one = found.constraints.get(place)?;
            Some(measured(&one.measurement, Some(one.verdict)))
        }),
        rates: one
            .rates
            .iter()
            .enumerate()
            .map(|(at, rate)| Rate {
                text: rate.text.clone(),
                on: on(record, |found| {
                    rates(found, place).get(at).map(|rate| {
                        let Measured { value, interval, .. } = measured(&rate.measurement, None);
                        Estimate { value, interval, rows: Some(rate.rows as u64) }
                    })
                }),
            })
            .collect(),
    };
    last.evaluation.constraints.iter().enumerate().map(constraint).collect()
}

/// What the training said, if the file has it.
fn promise(record: &Record) -> Option<Promise> {
    let part = |name: &str| record.parts.iter().find(|part| part.part == name);
    let enforced = part("val").or_else(|| part("train"));
    (!record.enforcement.is_empty()).then(|| Promise {
        confidence: enforced.map(|part| part.evaluation.confidence),
        margin_price: record.margin_price,
        constraints: record.enforcement.iter().map(enforcement).collect(),
    })
}

/// How much a column counts, and the constraint that it counts most for.
fn importance(one: &fairgame::train::Importance, record: &Record) -> Importance {
    let named = one.constraints.iter().zip(&record.enforcement);
    let most = named.max_by(|a, b| a.0.total_cmp(b.0));
    Importance {
        column: printable(&one.column).into_owned(),
        gain: one.gain,
        objective: one.objective,
        constraint: most.map(|(by, one)| (printable(&one.constraint).into_owned(), *by)),
    }
}

fn enforcement(one: &fairgame::train::Enforcement) -> Enforcement {
    Enforcement {
        text: one.constraint.clone(),
        value: one.value,
        optimism: one.optimism,
        asked: one.asked,
        margin: one.margin,
        estimate: one.estimate.map(|found| Estimate {
            value: found.value,
            interval: Some(Interval { low: found.interval.low, high: found.interval.high }),
            rows: None,
        }),
        standing: one.standing,
    }
}

/// The rows that each rate is measured on, each rate once.
fn groups(record: &Record) -> Groups {
    let mut groups = Groups::default();
    let Some(last) = record.parts.last() else { return groups };
    for (place, one) in last.evaluation.constraints.iter().enumerate() {
        for (at, rate) in one.rates.iter().enumerate() {
            if groups.all.iter().all(|group| group.text != rate.text) {
                groups.all.push(Group {
                    text: rate.text.clone(),
                    rows: on(record, |found| {
                        rates(found, place).get(at).map(|rate| rate.rows as u64)
                    }),
                });
            }
        }
    }
    groups
}

fn iterates(classifier: &Classifier, record: &Record) -> Iterates {
    let worst = |model: &RecordedModel| model.worst.unwrap_or(f64::NAN);
    let two = record.parts.iter().any(|part| part.part == "val");
    // One line for each column of the mixture: with cross-fitting, of one model of each fold.
    let column = |(place, model): (usize, &RecordedModel)| {
        let own = || classifier.members().iter().filter(|member| member.column == place);
        Member {
            turn: own().next().map_or(0, |member| member.turn),
            weight: own().map(|member| member.weight).sum(),
            error: model.objective,
            violation: worst(model),
        }
    };
    Iterates {
        error_on: if record.on_val { Role::Val } else { Role::Train },
        violation_on: if two { Role::Val } else { Role::Train },
        all: record
            .moments
            .iter()
            .map(|moment| Iterate {
                turn: moment.turn,
                error: moment.model.objective,
                violation: worst(&moment.model),
            })
            .collect(),
        members: record.members.iter().enumerate().map(column).collect(),
        mixture: Some(Point { error: record.mixture.objective, violation: worst(&record.mixture) }),
    }
}

fn multipliers(classifier: &Classifier, record: &Record) -> Multipliers {
    // One game after another would be no curve: the first stands for all.
    let first = || record.moments.iter().filter(|moment| moment.game == 0);
    let value = |place: usize| {
        let of = |moment: &RecordedMoment| moment.lambda.get(place).copied();
        first().map(|moment| of(moment).unwrap_or(f64::NAN)).collect::<Vec<f64>>()
    };
    let names = classifier.bound().constraints().iter().enumerate();
    Multipliers {
        turns: first().map(|moment| moment.turn).collect(),
        note: (record.games.len() > 1)
            .then(|| format!("Of the first of {} games.", record.games.len())),
        objective: Some(value(0)),
        constraints: names
            .map(|(place, one)| Line { text: one.name().to_owned(), values: value(place + 1) })
            .collect(),
    }
}
