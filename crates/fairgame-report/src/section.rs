//! One model's part of the page: what its templates say, in the order they say it.

use askama::Template;

use crate::figure::dots::{Dots, LABELLED};
use crate::figure::iterates::Scatter;
use crate::figure::multipliers::{Lines, by_peak, peak};
use crate::figure::{constraints, groups, iterates, multipliers, thin};
use crate::page::Badge;
use crate::settings::{self, Setting};
use crate::summary::First;
use crate::words::{ROLES, glyph, role_name, standing_meaning, verdict_name};
use crate::{
    Constraint, Enforcement, Estimate, Group, Importance, Iterate, Iterates, Measured, Member,
    Model, Promise, Role, Standing, Verdict, format,
};

/// So many rows of a table are shown at once; more are behind a click.
const OPEN: usize = 40;
/// Tables of turns have no more rows than this.
const LISTED: usize = 60;
/// The table of columns has no more rows than this.
const COLUMNS: usize = 400;

/// A verdict as it is shown.
pub(crate) fn badge(verdict: Verdict) -> Badge {
    let name = verdict_name(verdict);
    Badge { class: name, glyph: glyph(verdict), name }
}

/// A number, its interval, and what follows from it or stands behind it.
pub(crate) struct Cell {
    pub(crate) value: String,
    pub(crate) interval: String,
    pub(crate) verdict: Option<Badge>,
    pub(crate) rows: String,
}

impl Cell {
    pub(crate) fn loss(measured: &Measured) -> Cell {
        Cell { verdict: Some(badge(measured.verdict())), ..Cell::objective(measured) }
    }

    fn objective(measured: &Measured) -> Cell {
        Cell {
            value: format::number(measured.value),
            interval: measured.interval.as_ref().map_or(String::new(), format::interval),
            verdict: None,
            rows: String::new(),
        }
    }

    pub(crate) fn rate(estimate: &Estimate) -> Cell {
        Cell {
            value: format::number(estimate.value),
            interval: estimate.interval.as_ref().map_or(String::new(), format::interval),
            verdict: None,
            rows: estimate.rows.map_or(String::new(), |rows| format::several(rows as usize, "row")),
        }
    }
}

/// A line of the table of constraints, and its rates.
pub(crate) struct ConstraintRow {
    number: usize,
    text: String,
    cells: Vec<Option<Cell>>,
    rates: Vec<(String, Vec<Option<Cell>>)>,
}

/// What the training says of the constraints.
pub(crate) struct Promised {
    confidence: String,
    price: String,
    /// The words that occur, and what they mean.
    words: Vec<(&'static str, &'static str)>,
    rows: Vec<PromiseRow>,
    many: bool,
}

impl Promised {
    /// Nothing without constraints. Where these are many, the violated come first, then the enforced.
    fn new(promise: &Promise) -> Option<Promised> {
        const ORDER: [Standing; 3] = [Standing::Violated, Standing::Enforced, Standing::Promised];
        let mut all: Vec<&Enforcement> = promise.constraints.iter().collect();
        let many = all.len() > OPEN;
        if many {
            all.sort_by_key(|one| ORDER.iter().position(|standing| *standing == one.standing));
        }
        let occurs = |standing: &Standing| all.iter().any(|one| one.standing == *standing);
        let words = ORDER.into_iter().rev().filter(occurs);
        // A price that would be shown as 0 is none.
        let price = promise.margin_price.filter(|price| price.abs() >= 0.000_05);
        (!all.is_empty()).then(|| Promised {
            confidence: promise.confidence.map_or(String::new(), format::percent),
            price: price.map_or(String::new(), format::number),
            words: words.map(|standing| (standing.name(), standing_meaning(standing))).collect(),
            rows: all.iter().map(|one| PromiseRow::new(one)).collect(),
            many,
        })
    }
}

/// A line of the table of what is promised.
pub(crate) struct PromiseRow {
    text: String,
    value: String,
    optimism: String,
    margin: String,
    asked: String,
    new: Option<Cell>,
    standing: &'static str,
}

impl PromiseRow {
    fn new(one: &Enforcement) -> PromiseRow {
        PromiseRow {
            text: one.text.clone(),
            value: format::number(one.value),
            optimism: one.optimism.map_or("–".into(), format::number),
            margin: format::number(one.margin),
            asked: format::number(one.asked),
            new: one.estimate.as_ref().map(Cell::rate),
            standing: one.standing.name(),
        }
    }
}

/// A line of the table of columns.
pub(crate) struct ImportanceRow {
    column: String,
    gain: String,
    objective: String,
    constraint: String,
    by: String,
}

impl ImportanceRow {
    fn new(one: &Importance) -> ImportanceRow {
        let number = |number: Option<f64>| number.map_or("–".to_owned(), format::number);
        let (constraint, by) = one.constraint.clone().unzip();
        ImportanceRow {
            column: one.column.clone(),
            gain: one.gain.map_or("–".to_owned(), format::percent),
            objective: number(one.objective),
            constraint: constraint.unwrap_or_default(),
            by: number(by),
        }
    }
}

/// A line of the table of groups.
pub(crate) struct GroupRow {
    text: String,
    rows: Vec<Option<(String, bool)>>,
}

/// A line of the tables of models.
pub(crate) struct ModelRow {
    turn: String,
    weight: String,
    error: String,
    violation: String,
}

impl ModelRow {
    /// A line without a turn and a weight.
    fn of(error: f64, violation: f64) -> ModelRow {
        ModelRow {
            turn: String::new(),
            weight: String::new(),
            error: format::number(error),
            violation: format::number(violation),
        }
    }
}

/// A line of the table of multipliers.
pub(crate) struct LineRow {
    text: String,
    last: String,
    largest: String,
    turn: String,
}

/// The worst constraint on the main sample.
pub(crate) struct Worst {
    pub(crate) value: String,
    text: String,
}

/// The template of one model.
#[derive(Template)]
#[template(path = "section.html")]
pub(crate) struct Section<'a> {
    pub(crate) model: &'a Model,
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) main: Role,
    pub(crate) worst: Option<Worst>,
    first: Option<First>,
    several: bool,
    level: u8,
    verdict: Badge,
    confidence: String,
    on: &'static str,
    samples: Vec<(&'static str, String, String, String)>,
    columns: Vec<&'static str>,
    objective: Option<(String, Vec<Option<Cell>>)>,
    objective_value: String,
    constraints: Vec<ConstraintRow>,
    promised: Option<Promised>,
    importance: Vec<ImportanceRow>,
    losses: Option<Dots>,
    many: bool,
    rated: usize,
    group_columns: Vec<&'static str>,
    groups: Vec<GroupRow>,
    many_groups: bool,
    small_below: String,
    sizes: Option<Dots>,
    scatter: Option<Scatter>,
    iterates: Vec<ModelRow>,
    iterates_note: String,
    members: Vec<ModelRow>,
    mixture: Option<ModelRow>,
    error_on: &'static str,
    violation_on: &'static str,
    lines: Option<Lines>,
    line_rows: Vec<LineRow>,
    line_rows_note: String,
    settings: Vec<Setting>,
    provenance: Vec<(String, String)>,
    hashed: bool,
}

impl<'a> Section<'a> {
    pub(crate) fn new(model: &'a Model, number: usize, several: bool) -> Section<'a> {
        let id = format!("m{number}");
        let roles = measured_on(model);
        let main = roles.last().copied().unwrap_or_default();
        let sorted = worst_first(&model.constraints, main);
        let worst = worst_of(&sorted, main);
        let many = model.constraints.len() > LABELLED;
        let ordered: Vec<(usize, &Constraint)> =
            if many { sorted } else { model.constraints.iter().enumerate().collect() };
        let texts: Vec<&Constraint> = ordered.iter().map(|(_, c)| *c).collect();
        let (groups, group_roles) = groups_in_order(model);
        let small_below = model.groups.small_below;
        let kept = model.iterates.as_ref();
        let mut line_rows = line_rows(model);
        let line_rows_note = cut_note(line_rows.len(), "the largest ");
        line_rows.truncate(LISTED);
        Section {
            model,
            name: name(model, number),
            main,
            worst,
            first: First::new(&id, model),
            several,
            level: if several { 3 } else { 2 },
            verdict: badge(model.verdict),
            confidence: model.confidence.map_or(String::new(), format::percent),
            on: role_name(main),
            samples: samples(model),
            columns: roles.iter().map(|&role| role_name(role)).collect(),
            objective: objective(model, &roles),
            objective_value: objective_value(model, main),
            constraints: ordered.iter().map(|(i, c)| constraint_row(*i, c, &roles)).collect(),
            promised: model.promise.as_ref().and_then(Promised::new),
            importance: model.importance.iter().take(COLUMNS).map(ImportanceRow::new).collect(),
            losses: constraints::figure(&id, &texts, &roles, main),
            many: model.constraints.len() > OPEN,
            rated: model.constraints.iter().filter(|c| !c.rates.is_empty()).count(),
            group_columns: group_roles.iter().map(|&role| role_name(role)).collect(),
            sizes: groups::figure(&id, &groups, small_below, &group_roles),
            groups: groups
                .iter()
                .map(|group| group_row(group, small_below, &group_roles))
                .collect(),
            many_groups: groups.len() > OPEN,
            small_below: format::count(small_below),
            scatter: kept.and_then(|kept| iterates::figure(&id, kept)),
            iterates: kept.map_or(Vec::new(), iterate_rows),
            iterates_note: cut_note(kept.map_or(0, |kept| kept.all.len()), ""),
            members: kept.map_or(Vec::new(), member_rows),
            mixture: kept.and_then(|kept| kept.mixture).map(|p| ModelRow::of(p.error, p.violation)),
            error_on: role_name(kept.map_or(main, |kept| kept.error_on)),
            violation_on: role_name(kept.map_or(main, |kept| kept.violation_on)),
            lines: model.multipliers.as_ref().and_then(|m| multipliers::figure(&id, m)),
            line_rows,
            line_rows_note,
            settings: settings::rows(&model.settings),
            provenance: provenance(model),
            hashed: model.samples.iter().any(|sample| sample.hash.is_some()),
            id,
        }
    }
}

fn name(model: &Model, number: usize) -> String {
    match model.name.trim().is_empty() {
        true => format!("Model {number}"),
        false => model.name.clone(),
    }
}

/// The samples on which anything was measured, in the order of columns.
fn measured_on(model: &Model) -> Vec<Role> {
    let measured = |&role: &Role| {
        let rate = |c: &Constraint| c.rates.iter().any(|rate| rate.on.get(role).is_some());
        model.objective.as_ref().is_some_and(|o| o.on.get(role).is_some())
            || model.constraints.iter().any(|c| c.on.get(role).is_some() || rate(c))
    };
    ROLES.into_iter().filter(measured).collect()
}

/// Constraints with their places, worst first: what cannot be told, then the largest losses, then
/// what was not measured.
fn worst_first(constraints: &[Constraint], main: Role) -> Vec<(usize, &Constraint)> {
    let mut sorted: Vec<_> = constraints.iter().enumerate().collect();
    let key = |c: &Constraint| match c.on.get(main) {
        Some(m) if m.value.is_nan() => (0, 0.0),
        Some(m) => (1, -m.value),
        None => (2, 0.0),
    };
    sorted.sort_by(|a, b| {
        let (a, b) = (key(a.1), key(b.1));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    sorted
}

/// The first of these that was measured on the main sample.
fn worst_of(sorted: &[(usize, &Constraint)], main: Role) -> Option<Worst> {
    sorted.iter().find_map(|(_, c)| {
        let value = format::number(c.on.get(main)?.value);
        Some(Worst { value, text: c.text.clone() })
    })
}

fn objective(model: &Model, roles: &[Role]) -> Option<(String, Vec<Option<Cell>>)> {
    let objective = model.objective.as_ref()?;
    let cells = roles.iter().map(|&role| objective.on.get(role).map(Cell::objective));
    Some((objective.text.clone(), cells.collect()))
}

fn objective_value(model: &Model, main: Role) -> String {
    let measured = model.objective.as_ref().and_then(|objective| objective.on.get(main));
    measured.map_or(String::new(), |measured| format::number(measured.value))
}

fn constraint_row(i: usize, constraint: &Constraint, roles: &[Role]) -> ConstraintRow {
    let rate = |rate: &crate::Rate| {
        (rate.text.clone(), roles.iter().map(|&role| rate.on.get(role).map(Cell::rate)).collect())
    };
    ConstraintRow {
        number: i + 1,
        text: constraint.text.clone(),
        cells: roles.iter().map(|&role| constraint.on.get(role).map(Cell::loss)).collect(),
        rates: constraint.rates.iter().map(rate).collect(),
    }
}

/// Groups as they were given or, where they are many, the smallest first; and where they have rows.
fn groups_in_order(model: &Model) -> (Vec<&Group>, Vec<Role>) {
    let mut groups: Vec<&Group> = model.groups.all.iter().collect();
    let counted = |&role: &Role| groups.iter().any(|group| group.rows.get(role).is_some());
    let roles: Vec<Role> = ROLES.into_iter().filter(counted).collect();
    if let Some(&main) = roles.last().filter(|_| groups.len() > LABELLED) {
        groups.sort_by_key(|group| group.rows.get(main).copied().unwrap_or(u64::MAX));
    }
    (groups, roles)
}

fn group_row(group: &Group, small_below: u64, roles: &[Role]) -> GroupRow {
    let rows = |role: &Role| group.rows.get(*role).map(|&n| (format::count(n), n < small_below));
    GroupRow { text: group.text.clone(), rows: roles.iter().map(rows).collect() }
}

fn iterate_rows(kept: &Iterates) -> Vec<ModelRow> {
    let row = |i: &Iterate| ModelRow {
        turn: format::count(i.turn),
        ..ModelRow::of(i.error, i.violation)
    };
    thin(kept.all.len(), LISTED).into_iter().map(|i| row(&kept.all[i])).collect()
}

fn member_rows(kept: &Iterates) -> Vec<ModelRow> {
    let row = |m: &Member| ModelRow {
        turn: format::count(m.turn),
        weight: format::number(m.weight),
        ..ModelRow::of(m.error, m.violation)
    };
    kept.members.iter().map(row).collect()
}

/// Which of `count` rows a table has, where it has not all of them.
fn cut_note(count: usize, which: &str) -> String {
    match count > LISTED {
        true => format!(", {which}{LISTED} of {}", format::count(count as u64)),
        false => String::new(),
    }
}

fn line_rows(model: &Model) -> Vec<LineRow> {
    let Some(multipliers) = &model.multipliers else { return Vec::new() };
    let row = |text: &str, values: &[f64]| {
        let values = &values[..values.len().min(multipliers.turns.len())];
        let largest = peak(values);
        LineRow {
            text: text.into(),
            last: values.last().map_or("–".into(), |&v| format::number(v)),
            largest: largest.map_or("–".into(), |p| format::number(p.1)),
            turn: largest.map_or("–".into(), |p| format::count(multipliers.turns[p.0])),
        }
    };
    let objective = multipliers.objective.iter().map(|values| row("objective", values));
    objective
        .chain(by_peak(&multipliers.constraints).into_iter().map(|l| row(&l.text, &l.values)))
        .collect()
}

fn samples(model: &Model) -> Vec<(&'static str, String, String, String)> {
    let row = |sample: &crate::Sample| {
        let hash = sample.hash.clone().unwrap_or_default();
        (role_name(sample.role), sample.name.clone(), format::count(sample.rows), hash)
    };
    model.samples.iter().map(row).collect()
}

fn provenance(model: &Model) -> Vec<(String, String)> {
    let from = &model.provenance;
    let version = from.version.iter().map(|version| ("fairgame version".into(), version.clone()));
    let seed = from.seed.iter().map(|seed| ("seed".into(), seed.to_string()));
    version.chain(seed).chain(from.facts.iter().cloned()).collect()
}
