//! What `fairgame audit --by` prints: how groups fare.

use comfy_table::CellAlignment;
use fairgame::evaluate::{Auc, GroupResult, GroupingResult, GroupsFound, Interval, Measurement};
use fairgame::printable;

use crate::output;

/// The columns that each `--by` names: one column by that name, or several with commas between.
pub(crate) fn groupings(by: &[String], names: &[String]) -> Vec<Vec<String>> {
    let one = |text: &String| match names.contains(text) {
        true => vec![text.clone()],
        false => text.split(',').map(|name| name.trim().to_owned()).collect(),
    };
    by.iter().map(one).collect()
}

/// A value, with its interval below it.
fn cell(value: f64, interval: Option<Interval>) -> String {
    match interval {
        Some(Interval { low, high }) => format!("{value:.4}\n{low:.3} to {high:.3}"),
        None => format!("{value:.4}"),
    }
}

fn measured(measurement: &Measurement) -> String {
    let found = measurement.estimate();
    found.map_or("–".to_owned(), |found| cell(found.value, Some(found.interval)))
}

fn area(auc: &Auc) -> String {
    auc.value.map_or("–".to_owned(), |value| cell(value, auc.interval))
}

/// A group's values, `all` for all rows.
fn name(group: &GroupResult) -> String {
    if group.values.is_empty() {
        return "all".to_owned();
    }
    let one = |value: &Option<String>| match value {
        Some(value) => printable(value).into_owned(),
        None => "(unknown)".to_owned(),
    };
    group.values.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn grouping(found: &GroupsFound, one: &GroupingResult) -> String {
    let (labelled, scored) = (found.all.base_rate.is_some(), found.all.auc.is_some());
    let by = printable(&one.by.join(", ")).into_owned();
    let mut header = vec![by.as_str(), "rows"];
    if labelled {
        header.push("base rate");
    }
    header.push("selected");
    if labelled {
        header.extend(["tpr", "fpr", "precision", "error"]);
    }
    header.extend(scored.then_some("auc"));
    header.extend(["ratio to highest", "four-fifths rule", "ratio to all", "0.8 of all rows"]);
    let mut table = output::table(&header);
    for group in std::iter::once(&found.all).chain(&one.groups) {
        let rate = |rate: &Option<Measurement>| rate.as_ref().map(measured);
        let mut row = vec![name(group), group.rows.to_string()];
        row.extend(rate(&group.base_rate));
        row.push(measured(&group.selection_rate));
        row.extend(
            [&group.tpr, &group.fpr, &group.precision, &group.error].into_iter().flat_map(rate),
        );
        row.extend(group.auc.as_ref().map(area));
        // All rows in comparison with themselves.
        let whole = group.values.is_empty();
        row.push(group.ratio_to_highest.as_ref().map(measured).unwrap_or_default());
        row.push(group.four_fifths.map(|one| one.to_string()).unwrap_or_default());
        row.push(if whole { String::new() } else { measured(&group.ratio) });
        row.push(if whole { String::new() } else { group.four_fifths_of_all.to_string() });
        table.add_row(row);
    }
    // Numbers, which are all but the group's name and the two verdicts.
    for column in (1..header.len() - 1).filter(|column| *column != header.len() - 3) {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!("{table}\n")
}

/// All groupings as tables, and what to know of them.
pub(crate) fn printed(found: &GroupsFound) -> String {
    let tables: Vec<String> = found.groupings.iter().map(|one| grouping(found, one)).collect();
    let mut text = tables.join("\n");
    let rows = output::count(found.rows as usize, "row");
    let units = found.units.map(|units| format!(" of {}", output::count(units as usize, "unit")));
    let percent = output::short(100.0 * found.confidence);
    text += &format!(
        "\n{rows}{}. Each interval is at a confidence of {percent} % by itself. The four-fifths rule asks that \
         the selection rate of a group is at least 0.8 times the highest of all groups. \"0.8 of all rows\" compares with \
         the rate of all rows instead.\n",
        units.unwrap_or_default()
    );
    if let Some(share) = found.drawn.filter(|share| *share > 0.0) {
        text += &format!(
            "{} of the rows have a chance of a positive decision between 0 and 1; they count by that chance.\n",
            output::percent(share)
        );
    }
    if found.exact_auc == Some(false) {
        text += "There are so many scores that the AUC tells them apart by their first four digits only.\n";
    }
    text
}
