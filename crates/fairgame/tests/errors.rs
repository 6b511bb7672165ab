//! Wrong input gets an error that a person is glad to read: `errors.txt` holds each as it is printed.
//!
//! `UPDATE_ERRORS=1` rewrites the file.

mod common;

use std::path::Path;

use common::page;
use fairgame::Error;
use fairgame::rate::{BindNotice, Bound, Problem, Weighted};
use fairgame::table::Table;

/// What is wrong, and where; the rest of the problem is ordinary.
enum Wrong {
    Label(String),
    Objective(String),
    Constraint(String),
    /// A constraint that only this label makes wrong.
    With(&'static str, &'static str),
    /// A constraint that only these rows, as a second table, make wrong.
    Later(&'static str, &'static str),
}

use Wrong::{Later, With};

fn label(text: impl Into<String>) -> Wrong {
    Wrong::Label(text.into())
}

fn objective(text: impl Into<String>) -> Wrong {
    Wrong::Objective(text.into())
}

fn constraint(text: impl Into<String>) -> Wrong {
    Wrong::Constraint(text.into())
}

fn cases() -> Vec<(&'static str, Vec<Wrong>)> {
    vec![
        (
            "names that do not exist",
            vec![
                constraint("fprr(race == \"Black\") <= 0.1"),
                constraint("TPR() >= 0.9"),
                constraint("kappa() >= 0.9"),
                constraint("selection_rate(each sex) >= 0.8 * selection_rate()"),
                constraint("sensitivity() >= 0.9"),
                constraint("abs(tpr(sex == \"Male\") - tpr(sex == \"Female\")) <= 0.05"),
                constraint("equalized_odds(each sex) <= 0.1"),
                label("incom == \">50K\""),
                label("salary == \">50K\""),
                constraint("tpr(race == \"black\") >= 0.9"),
                constraint("tpr(race == \"Martian\") >= 0.9"),
                constraint("tpr(race in [\"Black\", \"Wite\"]) >= 0.9"),
                constraint("tpr(each rac) >= 0.9"),
                constraint("tpr(each race where aeg < 30) >= 0.9"),
                constraint("tpr(age < median(agee)) >= 0.9"),
                constraint("tpr(age < quantile(tenure, 0.2)) >= 0.9"),
                constraint("churn(older) <= 0.1"),
                label("capital-gain > 5000"),
                constraint("tpr(each marital-status) >= 0.9"),
            ],
        ),
        (
            "symbols",
            vec![
                label("income = \">50K\""),
                constraint("tpr() = 0.9"),
                constraint("tpr() => 0.9"),
                constraint("tpr() ≥ 0.9"),
                constraint("tpr(age <> 30) >= 0.9"),
                label("income == “>50K”"),
                label("age < 30 && sex == \"Male\""),
                label("!union"),
                constraint("tpr() >= 80 %"),
                constraint("tpr() >= $0.8"),
                constraint("tpr() − fpr() >= 0.1"),
            ],
        ),
        (
            "texts and escapes",
            vec![
                label("income == \">50K"),
                label("`hours per week > 40"),
                label("job == \"back\\slash\""),
                label("job == \"caf\\u{zz}\""),
                label("job == \"caf\\u{e9\""),
                label("job == \"caf\\u{110000}\""),
                label("job == \"ends in \\"),
            ],
        ),
        (
            "values that are not the column's",
            vec![
                label("age < \"thirty\""),
                label("age == \"30\""),
                label("income == 50"),
                label("income > median(income)"),
                label("race == Black"),
                label("hours == 40"),
                label("old == 1"),
                label("old < true"),
                label("union == true"),
                label("age"),
                label("income"),
                label("age > median(race)"),
                label("age > quantile(age, 70)"),
                label("age > quantile(age)"),
                label("age > quantile(age, -0.1)"),
                label("age < age"),
            ],
        ),
        (
            "conditions",
            vec![
                label(""),
                label("   "),
                label("age <"),
                label("< 30"),
                label("30"),
                label("20 < 30"),
                label("age < 30 < 40"),
                label("where == \"urban\""),
                label("hours per week > 40"),
                label("age in 20"),
                label("age in (20, 30)"),
                label("age in []"),
                label("race not \"Black\""),
                label("age between 20 and 30"),
                label("(age < 30"),
                label("age < 30)"),
                label("age < 30 sex == \"Male\""),
                label("age < 30 or"),
                label("lower(race) == \"black\""),
                label("tpr() > 0.5"),
                label(format!("{}age < 30{}", "(".repeat(70), ")".repeat(70))),
                label(format!("{}union", "not ".repeat(70))),
            ],
        ),
        (
            "numbers",
            vec![
                constraint("tpr() >= 1e999"),
                constraint("tpr() >= NaN"),
                constraint("tpr() >= inf"),
                constraint("tpr() >= 0.8x"),
                constraint("2tpr() >= 0.8"),
                constraint("2 tpr() >= 0.8"),
                constraint("tpr() >= 0.8 positive_rate()"),
                constraint("tpr() / 0 >= 0.8"),
                constraint("tpr() / (1 - 100%) >= 0.8"),
                constraint("tpr() >= 1e308 * 10"),
                constraint("tpr() >= 1e308 * 10 - 1e308 * 10"),
                constraint("tpr() >= 1,5"),
            ],
        ),
        (
            "rates",
            vec![
                constraint("tpr >= 0.9"),
                constraint("race >= 0.9"),
                constraint("tpr(race == \"Black\" >= 0.9"),
                constraint("tpr(race == \"Black\", age < 30) >= 0.9"),
                constraint("tpr(race = \"Black\") >= 0.9"),
                constraint("tpr(age) >= 0.9"),
                constraint("churn() <= 0.1"),
                constraint("churn(each race) <= 0.1"),
                constraint("churn(old, 1) <= 0.1"),
                constraint("churn(race) <= 0.1"),
                constraint("tpr(each race == \"Black\") >= 0.9"),
                constraint("tpr(each race and age < 30) >= 0.9"),
                constraint("tpr(each race, sex) >= 0.9"),
                constraint("tpr(each) >= 0.9"),
                constraint("each race tpr() >= 0.9"),
                constraint("median(age) >= 30"),
            ],
        ),
        (
            "constraints",
            vec![
                constraint(""),
                constraint("tpr()"),
                constraint("tpr() >= "),
                constraint(">= 0.9"),
                constraint("tpr() > 0.9"),
                constraint("fpr() < 0.1"),
                constraint("tpr() != fpr()"),
                constraint("tpr() == fpr()"),
                constraint("tpr() == fpr() within"),
                constraint("tpr() == fpr() within fpr()"),
                constraint("tpr() == fpr() within -0.1"),
                constraint("tpr() <= fpr() within 0.1"),
                constraint("tpr() <= fpr() == 0.1"),
                constraint("tpr() >= 0.9 and fpr() <= 0.1"),
                constraint("not tpr() >= 0.9"),
                constraint("tpr() >= 0.9; fpr() <= 0.1"),
                constraint("tpr() >= 0.9)"),
                constraint("(tpr() >= 0.9)"),
                constraint("tpr() >= 0.9 please"),
                constraint(format!("{}tpr() <= 0.9", "-".repeat(70))),
            ],
        ),
        (
            "not linear",
            vec![
                constraint("tpr() * fpr() <= 0.1"),
                constraint("precision() >= tpr()"),
                constraint("precision(sex == \"Male\") >= precision(sex == \"Female\") - 0.05"),
                constraint("precision() / tpr() >= 0.9"),
                constraint("tpr() / (fpr() - 0.5) >= 0.9"),
                constraint("f1() * tpr() >= 0.9"),
                objective("precision()"),
                objective("1 - f1()"),
                objective("tpr() / fpr()"),
            ],
        ),
        (
            "objectives",
            vec![
                objective(""),
                objective("error(each sex)"),
                objective("error() <= 0.1"),
                objective("error() and fpr()"),
                objective("error"),
                objective("minimize error()"),
                objective("fnr(age < 20)"),
            ],
        ),
        (
            "each",
            vec![
                constraint("tpr(each race) <= tpr(each sex)"),
                constraint("tpr(each [race, sex]) <= tpr(each [sex, race])"),
                constraint("tpr(each race where age < 20) >= 0.9"),
                constraint("tpr(each job) >= 0.9"),
                constraint("tpr(each race where age < 40) <= tpr(each race where age > 60)"),
            ],
        ),
        (
            "nothing to measure",
            vec![
                constraint("positive_rate(age < 20) >= 0.1"),
                constraint("positive_rate(race == \"Asian\" and age > 60) >= 0.1"),
                With("income == \">50K\" and age >= 30", "tpr(age < 30) >= 0.9"),
                With("income == \">50K\" or age < 30", "fpr(age < 30) <= 0.1"),
                With("age < 0", "tpr() >= 0.9"),
                With("age >= 0 or not age >= 0", "fpr() <= 0.1"),
                Later("sex == \"Male\"", "positive_rate(sex == \"Female\") >= 0.5"),
                Later("sex == \"Male\" or age < 30", "fpr(each sex) <= 0.5"),
            ],
        ),
        (
            "what no classifier can do",
            vec![
                constraint("tpr() >= 1.2"),
                constraint("positive_rate(each sex) >= 120%"),
                constraint("fpr() <= -0.1"),
                constraint("positive_rate() + negative_rate() <= 0.9"),
                constraint("0.2 <= 0.1"),
                constraint("0.9 <= tpr() <= 0.1 - 0.2"),
            ],
        ),
        (
            "where the caret stands",
            vec![
                label("job < \"寿司職人\" and rce == \"Black\""),
                label("job < \"e\u{301}\" and rce == \"Black\""),
                constraint("tpr(age < 30)\n  + tpr(age >= 30)\n  + trp(age >= 60)\n  <= 1.5"),
                constraint(format!("{} + tprr() <= 0.9", ["0.1 * tpr()"; 12].join(" + "))),
                constraint(format!("tprr() + {} <= 0.9", ["0.1 * tpr()"; 12].join(" + "))),
                constraint(format!(
                    "{} + tprr() + {} <= 0.9",
                    ["0.1 * tpr()"; 12].join(" + "),
                    ["0.1 * tpr()"; 12].join(" + ")
                )),
                label(format!("job == \"{}\"", "x".repeat(150))),
            ],
        ),
    ]
}

/// The input as the file shows it, and its error.
fn error(wrong: &Wrong, table: &Table) -> (String, Error) {
    let (mut label, mut objective, mut constraints) = ("income == \">50K\"", "error()", vec![]);
    let mut others = vec![];
    let shown = match wrong {
        Wrong::Label(text) => {
            label = text;
            format!("label: {text}")
        }
        Wrong::Objective(text) => {
            objective = text;
            format!("objective: {text}")
        }
        Wrong::Constraint(text) => {
            constraints.push(text.as_str());
            format!("constraint: {text}")
        }
        Wrong::With(only, text) => {
            label = only;
            constraints.push(text);
            format!("label: {only}\nconstraint: {text}")
        }
        Wrong::Later(rows, text) => {
            others.push(part(table, rows));
            constraints.push(text);
            format!("table 2: the rows with {rows}\nconstraint: {text}")
        }
    };
    let others: Vec<Weighted<'_>> = others.iter().map(Weighted::from).collect();
    let bound = Problem::parse(label, objective, &constraints)
        .and_then(|problem| problem.bind(table, &others));
    match bound {
        Err(error) => (shown, error),
        Ok(_) => panic!("not refused: {shown}"),
    }
}

/// The rows of a table that meet a condition.
fn part(table: &Table, condition: &str) -> Table {
    let (bound, _) = bind(table, &Problem::parse(condition, "error()", &[""; 0]).unwrap());
    table.filter(&bound.label().evaluate(table).unwrap())
}

fn bind(table: &Table, problem: &Problem) -> (Bound, Vec<BindNotice>) {
    problem.bind(table, &[]).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn errors_read_well() {
    let table = page::table();
    let (mut text, mut count) = (String::new(), 0);
    for (heading, cases) in cases() {
        text += &format!("======== {heading}\n\n");
        for wrong in cases {
            let (shown, error) = error(&wrong, &table);
            text += &format!("{}\n\n{error}\n\n--------\n\n", shown.trim_end());
            count += 1;
        }
    }
    assert!(count >= 40, "{count} cases");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors.txt");
    if std::env::var_os("UPDATE_ERRORS").is_some_and(|value| value == "1") {
        std::fs::write(&path, &text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    let first = golden.lines().zip(text.lines()).position(|(a, b)| a != b);
    assert!(
        golden == text,
        "errors.txt is not what is printed, from line {}; if that is meant, set UPDATE_ERRORS=1",
        1 + first.unwrap_or(golden.lines().count().min(text.lines().count())),
    );
}

/// What is worth saying, and no error.
#[test]
fn notices_read_well() {
    let table = page::table();
    let notices = |constraint: &str| {
        let problem = Problem::parse("income == \">50K\"", "error()", &[constraint]).unwrap();
        let (bound, notices) = bind(&table, &problem.skip_empty_groups());
        let shown: Vec<String> = notices.iter().map(BindNotice::to_string).collect();
        (bound.constraints().len(), shown.join("\n"))
    };
    assert_eq!(notices("tpr(each race) >= 0.9"), (3, String::new()));
    assert_eq!(
        notices("tpr() <= 1"),
        (1, "no classifier can violate `tpr() <= 1`: it changes nothing".into())
    );
    let (constraints, shown) = notices("fpr(each race where age >= 58) <= 0.5");
    assert_eq!(constraints, 1);
    let expected = "left out `fpr(race == \"Black\" and age >= 58) <= 0.5`: the one row with ";
    assert!(shown.starts_with(expected), "{shown}");
}
