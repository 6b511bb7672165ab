//! Losses are what the definitions say, for random problems, tables, weights and scores.
//!
//! The reference below knows nothing of cells, events or tallies: it counts rows.

mod common;

use common::table;
use fairgame::rate::{
    Bound, Compiled, Count, Multipliers, Problem, Pushes, Surrogate, Tally, Weighted, push_scores,
    tally_scores,
};
use fairgame::table::{Table, Values};
use proptest::prelude::*;

/// A condition, as text and as its meaning.
#[derive(Debug, Clone)]
enum Rows {
    Below(f64),
    Job(&'static str),
    Flag,
    Not(Box<Rows>),
    Both(Box<Rows>, Box<Rows>),
    Either(Box<Rows>, Box<Rows>),
    All,
}

impl Rows {
    fn text(&self) -> String {
        match self {
            Rows::Below(number) => format!("y < {number}"),
            Rows::Job(job) => format!("job == \"{job}\""),
            Rows::Flag => "flag".into(),
            Rows::Not(a) => format!("not ({})", a.text()),
            Rows::Both(a, b) => format!("({}) and ({})", a.text(), b.text()),
            Rows::Either(a, b) => format!("({}) or ({})", a.text(), b.text()),
            Rows::All => String::new(),
        }
    }

    fn holds(&self, table: &Table, row: usize) -> bool {
        match self {
            Rows::Below(number) => match &table.column("y").unwrap().values {
                Values::Number(y) => y[row] < *number,
                _ => unreachable!(),
            },
            Rows::Job(wanted) => match &table.column("job").unwrap().values {
                Values::Category(jobs) => jobs.texts().nth(row) == Some(Some(wanted)),
                _ => unreachable!(),
            },
            Rows::Flag => match &table.column("flag").unwrap().values {
                Values::Boolean(flags) => flags[row] == Some(true),
                _ => unreachable!(),
            },
            Rows::Not(a) => !a.holds(table, row),
            Rows::Both(a, b) => a.holds(table, row) && b.holds(table, row),
            Rows::Either(a, b) => a.holds(table, row) || b.holds(table, row),
            Rows::All => true,
        }
    }
}

fn rows() -> impl Strategy<Value = Rows> {
    let leaf = prop_oneof![
        (-5_i32..5).prop_map(|tenth| Rows::Below(f64::from(tenth) * 1e5)),
        prop::sample::select(vec!["a", "b", "c"]).prop_map(Rows::Job),
        Just(Rows::Flag),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|a| Rows::Not(a.into())),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Rows::Both(a.into(), b.into())),
            (inner.clone(), inner).prop_map(|(a, b)| Rows::Either(a.into(), b.into())),
        ]
    })
}

const RATES: [&str; 10] = [
    "error",
    "accuracy",
    "positive_rate",
    "negative_rate",
    "tpr",
    "recall",
    "fnr",
    "fpr",
    "tnr",
    "churn",
];

/// A factor, a rate, what churn is from, and a group.
type Term = (f64, &'static str, Rows, Rows);

fn term() -> impl Strategy<Value = Term> {
    let group = prop_oneof![1 => Just(Rows::All), 2 => rows()];
    let factor = (-8_i32..=8).prop_map(|quarter| f64::from(quarter) / 4.0);
    (factor, prop::sample::select(RATES.to_vec()), rows(), group)
}

fn term_text((factor, rate, old, group): &Term) -> String {
    let arguments = match (*rate, group) {
        ("churn", Rows::All) => old.text(),
        ("churn", group) => format!("{}, {}", old.text(), group.text()),
        (_, group) => group.text(),
    };
    let (sign, factor) = if *factor < 0.0 { ("-", -factor) } else { ("", *factor) };
    format!("{sign}{factor} * {rate}({arguments})")
}

/// A dataset with decisions.
#[derive(Debug)]
struct Case {
    table: Table,
    label: Vec<bool>,
    weights: Vec<f32>,
    scores: Vec<f32>,
}

impl Case {
    /// The share, by weight, of the rows that are `counted` among those that are `asked`.
    fn share(&self, asked: impl Fn(usize) -> bool, counted: impl Fn(usize) -> bool) -> f64 {
        let sum = |keep: &dyn Fn(usize) -> bool| -> f64 {
            let rows = (0..self.label.len()).filter(|&row| keep(row));
            rows.map(|row| f64::from(self.weights[row])).sum()
        };
        sum(&|row| asked(row) && counted(row)) / sum(&asked)
    }

    /// A rate by its definition, with `decided` for the decisions.
    fn rate(&self, term: &Term, decided: &[bool]) -> f64 {
        let (_, rate, old, group) = term;
        let inside: Vec<bool> =
            (0..self.label.len()).map(|row| group.holds(&self.table, row)).collect();
        let (y, d) = (&self.label, decided);
        match *rate {
            "error" => self.share(|r| inside[r], |r| d[r] != y[r]),
            "accuracy" => self.share(|r| inside[r], |r| d[r] == y[r]),
            "positive_rate" => self.share(|r| inside[r], |r| d[r]),
            "negative_rate" => self.share(|r| inside[r], |r| !d[r]),
            "tpr" | "recall" => self.share(|r| inside[r] && y[r], |r| d[r]),
            "fnr" => self.share(|r| inside[r] && y[r], |r| !d[r]),
            "fpr" => self.share(|r| inside[r] && !y[r], |r| d[r]),
            "tnr" => self.share(|r| inside[r] && !y[r], |r| !d[r]),
            "precision" => self.share(|r| inside[r] && d[r], |r| y[r]),
            "churn" => self.share(|r| inside[r], |r| d[r] != old.holds(&self.table, r)),
            other => panic!("{other}"),
        }
    }

    fn sum(&self, terms: &[Term], decided: &[bool]) -> f64 {
        terms.iter().map(|term| term.0 * self.rate(term, decided)).sum()
    }

    fn decided(&self) -> Vec<bool> {
        self.scores.iter().map(|&score| score > 0.0).collect()
    }

    /// What deciding a row positive adds to a sum of rates, which is linear in the decisions.
    fn alpha(&self, terms: &[Term], row: usize) -> f64 {
        let mut decided = vec![false; self.label.len()];
        let without = self.sum(terms, &decided);
        decided[row] = true;
        self.sum(terms, &decided) - without
    }

    /// The proxy of a sum of rates, from its definition, in f64.
    fn proxy(&self, terms: &[Term], h: impl Fn(f64) -> f64, scores: &[f64]) -> f64 {
        let base = self.sum(terms, &vec![false; self.label.len()]);
        let rows = scores.iter().enumerate().map(|(row, &score)| {
            let alpha = self.alpha(terms, row);
            if alpha > 0.0 { alpha * h(score) } else { -alpha * (h(-score) - 1.0) }
        });
        base + rows.sum::<f64>()
    }

    fn tally(&self, compiled: &Compiled, surrogate: Option<Surrogate>) -> Tally {
        let mut tally = Tally::new(compiled.losses().cells());
        tally_scores(compiled.cells(), Some(&self.weights), &self.scores, surrogate, &mut tally);
        tally
    }
}

fn case() -> impl Strategy<Value = Case> {
    let weight = prop_oneof![4 => 0.125..4.0_f32, 1 => Just(0.0_f32)];
    let row = (weight, -3.0..3.0_f32);
    (table(12..40), rows(), prop::collection::vec(row, 40)).prop_map(|(table, label, rows)| {
        let label = (0..table.rows()).map(|row| label.holds(&table, row)).collect();
        let rows = &rows[..table.rows()];
        let weights = rows.iter().map(|row| row.0).collect();
        // Away from the kinks at −1, 0 and 1.
        let away = |f: f32| if (f - f.round()).abs() < 0.05 { f + 0.1 } else { f };
        Case { label, weights, scores: rows.iter().map(|row| away(row.1)).collect(), table }
    })
}

/// The surrogates, from their formulas.
fn by_definition(surrogate: Surrogate, f: f64) -> f64 {
    match surrogate {
        Surrogate::Hinge => (1.0 + f).max(0.0),
        Surrogate::Logistic => (1.0 + f.exp()).log2(),
        Surrogate::Sigmoid => 1.0 / (1.0 + (-f).exp()),
        Surrogate::Ramp => (1.0 + f).clamp(0.0, 1.0),
    }
}

/// The label is a column of its own, so that any label can be had.
fn with_label(case: &Case) -> Table {
    let mut columns = case.table.columns().to_vec();
    let label = case.label.iter().map(|&label| Some(label)).collect();
    columns.push(fairgame::table::Column::new("label", Values::Boolean(label)));
    Table::new(columns).unwrap()
}

/// The problem of an objective and constraints `sum <= 0.1`, or `None` where a group is empty, a value
/// does not occur, or no classifier can meet a constraint.
fn bind(case: &Case, objective: &[Term], constraints: &[Vec<Term>]) -> Option<(Bound, Table)> {
    let text = |terms: &[Term]| terms.iter().map(term_text).collect::<Vec<_>>().join(" + ");
    let constraints: Vec<String> =
        constraints.iter().map(|terms| format!("{} <= 100", text(terms))).collect();
    let table = with_label(case);
    let problem = Problem::parse("label", &text(objective), &constraints).unwrap();
    let weighted = Weighted { table: &table, weights: Some(&case.weights) };
    let bound = problem.bind(weighted, &[]).ok()?.0;
    Some((bound, table))
}

fn terms() -> impl Strategy<Value = Vec<Term>> {
    prop::collection::vec(term(), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    /// Exact losses, proxies, ranges and slopes, against the reference.
    #[test]
    fn losses(case in case(), objective in terms(), constraints in prop::collection::vec(terms(), 0..4),
              surrogate in prop::sample::select(Surrogate::ALL.to_vec())) {
        let Some((bound, table)) = bind(&case, &objective, &constraints) else {
            return Err(TestCaseError::reject("a group is empty"));
        };
        let compiled = bound.compile(&table, Some(&case.weights)).unwrap();
        let losses = compiled.losses();
        let tally = case.tally(&compiled, Some(surrogate));
        let (exact, proxy) = (losses.exact(&tally), losses.proxy(&tally));
        let h = |f: f64| by_definition(surrogate, f);
        let scores: Vec<f64> = case.scores.iter().map(|&score| f64::from(score)).collect();
        let decided = case.decided();

        let near = |a: f64, b: f64| (a - b).abs() < 1e-5 * (1.0 + a.abs());
        prop_assert!((exact.objective - case.sum(&objective, &decided)).abs() < 1e-9);
        prop_assert!(near(proxy.objective, case.proxy(&objective, h, &scores)));
        let (_, ranges) = losses.ranges();
        for (index, terms) in constraints.iter().enumerate() {
            let wanted = case.sum(terms, &decided) - 100.0;
            prop_assert!((exact.constraints[index] - wanted).abs() < 1e-9);
            prop_assert!(near(proxy.constraints[index], case.proxy(terms, h, &scores) - 100.0));
            if surrogate.is_upper_bound() {
                prop_assert!(proxy.constraints[index] >= exact.constraints[index] - 1e-5);
            }
            // The range is met by deciding positive just where it helps.
            let alphas: Vec<f64> = (0..decided.len()).map(|row| case.alpha(terms, row)).collect();
            let at = |side: f64| {
                let best: Vec<bool> = alphas.iter().map(|alpha| alpha * side > 0.0).collect();
                case.sum(terms, &best) - 100.0
            };
            prop_assert!((ranges[index].0 - at(-1.0)).abs() < 1e-9);
            prop_assert!((ranges[index].1 - at(1.0)).abs() < 1e-9);
        }
    }

    /// The slope in each score is the derivative of the Lagrangian, by central differences in f64.
    #[test]
    fn slopes(case in case(), objective in terms(), constraint in terms(), by in 0.0..1.0_f64, lambda in 0.0..3.0_f64,
              surrogate in prop::sample::select(Surrogate::ALL.to_vec())) {
        let Some((bound, table)) = bind(&case, &objective, std::slice::from_ref(&constraint)) else {
            return Err(TestCaseError::reject("a group is empty"));
        };
        let compiled = bound.compile(&table, Some(&case.weights)).unwrap();
        let losses = compiled.losses();
        let mut pushes = Pushes::default();
        let lambda_of = Multipliers { objective: by, constraints: vec![lambda] };
        losses.pushes(&lambda_of, &mut pushes);
        let pushes = losses.push_cells(&pushes);
        prop_assert!(pushes.iter().all(|push| push.down >= 0.0 && push.up >= 0.0));
        let mut slopes = vec![0.0; case.scores.len()];
        push_scores(compiled.cells(), Some(&case.weights), &case.scores, &pushes, surrogate, &mut slopes);

        let scores: Vec<f64> = case.scores.iter().map(|&score| f64::from(score)).collect();
        let h = |f: f64| by_definition(surrogate, f);
        let lagrangian = |scores: &[f64]| {
            by * case.proxy(&objective, h, scores) + lambda * case.proxy(&constraint, h, scores)
        };
        for row in 0..scores.len().min(6) {
            let step = 1e-4;
            let moved = |by: f64| {
                let mut scores = scores.clone();
                scores[row] += by;
                lagrangian(&scores)
            };
            let slope = (moved(step) - moved(-step)) / (2.0 * step);
            prop_assert!((slope - f64::from(slopes[row])).abs() < 1e-4 * (1.0 + slope.abs()),
                "row {row}: {slope} by differences, {} by push", slopes[row]);
        }
    }

    /// A tally of parts adds up to the tally of all; scaled weights and permuted rows change nothing.
    #[test]
    fn invariances(case in case(), objective in terms(), constraint in terms(),
                   parts in prop::collection::vec(0_usize..3, 40), order in Just((0..40).collect::<Vec<usize>>()).prop_shuffle(),
                   scale in 0.01..100.0_f32) {
        let Some((bound, table)) = bind(&case, &objective, &[constraint]) else {
            return Err(TestCaseError::reject("a group is empty"));
        };
        let compiled = bound.compile(&table, Some(&case.weights)).unwrap();
        let whole = case.tally(&compiled, Some(Surrogate::Hinge));
        let values = compiled.losses().exact(&whole);

        let mut sum = Tally::new(compiled.losses().cells());
        for part in 0..3 {
            let mut tally = Tally::new(compiled.losses().cells());
            for row in (0..table.rows()).filter(|&row| parts[row] == part) {
                let (cell, weight) = (&compiled.cells()[row..=row], &case.weights[row..=row]);
                tally_scores(cell, Some(weight), &case.scores[row..=row], Some(Surrogate::Hinge), &mut tally);
            }
            sum += &tally;
        }
        for (sum, whole) in sum.counts.iter().zip(&whole.counts) {
            let apart = |pick: fn(&Count) -> f64| (pick(sum) - pick(whole)).abs();
            prop_assert!(apart(|c| c.weight) < 1e-9 && apart(|c| c.positive) < 1e-9);
            prop_assert!(apart(|c| c.above) < 1e-9 && apart(|c| c.below) < 1e-9);
        }

        let order: Vec<usize> = order.into_iter().filter(|&row| row < table.rows()).collect();
        let backwards = Case {
            table: case.table.take(&order),
            label: order.iter().map(|&row| case.label[row]).collect(),
            weights: order.iter().map(|&row| case.weights[row] * scale).collect(),
            scores: order.iter().map(|&row| case.scores[row]).collect(),
        };
        let recompiled = bound.compile(&table.take(&order), Some(&backwards.weights)).unwrap();
        prop_assert_eq!(recompiled.losses().cells(), compiled.losses().cells());
        let tally = backwards.tally(&recompiled, Some(Surrogate::Hinge));
        let (again, proxy) = (recompiled.losses().exact(&tally), recompiled.losses().proxy(&tally));
        let near = |a: f64, b: f64| (a - b).abs() < 1e-5 * (1.0 + a.abs());
        prop_assert!(near(again.objective, values.objective));
        prop_assert!(near(again.constraints[0], values.constraints[0]));
        prop_assert!(near(proxy.constraints[0], compiled.losses().proxy(&whole).constraints[0]));
    }

    /// Precision, F1 and quotients: the cleared constraint is met exactly when the ratio is.
    #[test]
    fn ratios(case in case(), group in prop_oneof![Just(Rows::All), rows()], bound in 0.05..0.95_f64) {
        let table = with_label(&case);
        let group_text = group.text();
        let constraints = [
            format!("precision({group_text}) >= {bound}"),
            format!("f1({group_text}) >= {bound}"),
            format!("positive_rate({group_text}) / positive_rate() >= {bound}"),
            format!("3 - 2 * precision({group_text}) <= {}", 3.0 - 2.0 * bound),
        ];
        let problem = Problem::parse("label", "error()", &constraints).unwrap();
        let weighted = Weighted { table: &table, weights: Some(&case.weights) };
        let Ok((bound_problem, _)) = problem.bind(weighted, &[]) else {
            return Err(TestCaseError::reject("a group is empty"));
        };
        let compiled = bound_problem.compile(&table, Some(&case.weights)).unwrap();
        let losses = compiled.losses().exact(&case.tally(&compiled, None)).constraints;
        let d = case.decided();
        let sum = |keep: &dyn Fn(usize) -> bool| -> f64 {
            let rows = (0..d.len()).filter(|&row| group.holds(&case.table, row) && keep(row));
            rows.map(|row| f64::from(case.weights[row])).sum()
        };
        let (tp, fp) = (sum(&|r| d[r] && case.label[r]), sum(&|r| d[r] && !case.label[r]));
        let false_negatives = sum(&|r| !d[r] && case.label[r]);
        let overall = case.share(|_| true, |r| d[r]);
        let ratios = [
            tp / (tp + fp),
            2.0 * tp / (2.0 * tp + fp + false_negatives),
            case.share(|r| group.holds(&case.table, r), |r| d[r]) / overall,
            tp / (tp + fp),
        ];
        for (loss, ratio) in losses.iter().zip(ratios) {
            if ratio.is_nan() {
                prop_assert!(loss.abs() < 1e-9, "nothing to divide by is met");
            } else if (ratio - bound).abs() > 1e-6 {
                prop_assert_eq!(*loss <= 0.0, ratio >= bound, "loss {} and ratio {}", loss, ratio);
            }
        }
    }
}

/// By hand: six people, the 80 % rule, and a decision for each.
#[test]
fn by_hand() {
    let csv = "sex,hired\nf,true\nf,false\nf,false\nm,true\nm,true\nm,false\n";
    let source = fairgame::table::Source::stream("people.csv", csv.as_bytes());
    let table = fairgame::table::read([source], &fairgame::table::ReadOptions::default()).unwrap();
    let problem = Problem::parse(
        "hired",
        "error()",
        &["positive_rate(sex == \"f\") >= 0.8 * positive_rate()", "tpr() >= 0.9"],
    )
    .unwrap();
    let (bound, notices) = problem.bind(&table, &[]).unwrap();
    assert!(notices.is_empty());
    let compiled = bound.compile(&table, None).unwrap();
    // Sex and label tell rows apart, so there are four cells.
    assert_eq!(compiled.losses().cells(), 4);
    let mut tally = Tally::new(4);
    tally_scores(compiled.cells(), None, &[1.0, 1.0, -1.0, 1.0, 1.0, 0.0], None, &mut tally);
    let values = compiled.losses().exact(&tally);
    // One wrong of six; 0.8 · 4/6 − 2/3; 0.9 − 3/3. A score of 0 is a negative decision.
    assert!((values.objective - 1.0 / 6.0).abs() < 1e-12);
    assert!((values.constraints[0] - (0.8 * 4.0 / 6.0 - 2.0 / 3.0)).abs() < 1e-12);
    assert!((values.constraints[1] + 0.1).abs() < 1e-12);
}

/// A table has no more cells than label and groups can tell apart.
#[test]
fn cells_are_patterns_of_label_and_groups() {
    let mut csv = String::from("age,job,label\n");
    for row in 0..1000 {
        csv += &format!("{},job {},{}\n", row % 97, row % 50, row % 2 == 0);
    }
    let source = fairgame::table::Source::stream("x.csv", std::io::Cursor::new(csv.into_bytes()));
    let table = fairgame::table::read([source], &fairgame::table::ReadOptions::default()).unwrap();
    let cells = |constraint: &str| {
        let problem = Problem::parse("label", "positive_rate()", &[constraint]).unwrap();
        let (bound, _) = problem.bind(&table, &[]).unwrap();
        bound.compile(&table, None).unwrap().losses().cells()
    };
    assert_eq!(cells("positive_rate() <= 0.5"), 2);
    assert_eq!(cells("positive_rate(age < 30) <= 0.5"), 4);
    assert_eq!(cells("tpr(age < 30) <= 0.5"), 4);
    assert_eq!(cells("error(age < 30 or job == \"job 1\") <= 0.5"), 4);
    assert_eq!(cells("positive_rate(job in [\"job 1\", \"job 2\"]) <= 0.5"), 4);
    assert_eq!(cells("tpr(age < 30) <= tpr(age < 60)"), 6);
}

/// A model that has diverged does not look good.
#[test]
fn scores_that_are_not_numbers_show() {
    for surrogate in Surrogate::ALL {
        assert!(surrogate.value(f32::NAN).is_nan() && surrogate.slope(f32::NAN).is_nan());
    }
}
