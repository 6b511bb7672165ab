//! The language is what `docs/language.md` says, printing is the inverse of reading, and no text,
//! however odd, long or deep, makes reading panic.

mod common;

use std::fmt::{Debug, Display};

use common::page::{self, Block};
use fairgame::Result;
use fairgame::rate::language::{
    Condition, Expression, Factor, Group, Literal, Name, Rate, Relation, Sign, Span, Statement,
};
use fairgame::rate::{LossValues, Problem, Tally, tally_scores};
use fairgame::table::{Comparison, Table, Values};
use proptest::prelude::*;

// ---- the page ----

const LABEL: &str = "income == \">50K\"";
const NONE: [&str; 0] = [];

/// Reads a text, prints it, reads what is printed: the same tree.
fn round_trip<T: Display + PartialEq + Debug>(
    text: &str,
    parse: fn(&str) -> Result<T>,
) -> Result<T> {
    let tree = parse(text)?;
    let printed = tree.to_string();
    let again = parse(&printed).unwrap_or_else(|error| panic!("{text:?} is printed as {error}"));
    assert_eq!(again, tree, "{text} is printed as {printed}");
    assert_eq!(again.to_string(), printed);
    Ok(tree)
}

/// The losses of a problem where the column `decided` decides.
fn losses(table: &Table, objective: &str, constraints: &[&str]) -> Result<LossValues> {
    let (bound, _) = Problem::parse(LABEL, objective, constraints)?.bind(table, &[])?;
    let compiled = bound.compile(table, None)?;
    let Values::Boolean(decided) = &table.column("decided")?.values else { panic!("decisions") };
    let scores: Vec<f32> =
        decided.iter().map(|decided| if decided.unwrap() { 1.0 } else { -1.0 }).collect();
    let mut tally = Tally::new(compiled.losses().cells());
    tally_scores(compiled.cells(), None, &scores, None, &mut tally);
    let values = compiled.losses().exact(&tally);

    // The name of a constraint is a constraint that means the same.
    let names: Vec<&str> = bound.constraints().iter().map(|constraint| constraint.name()).collect();
    if names != constraints {
        assert_eq!(losses(table, objective, &names)?, values, "{names:?}");
    }
    Ok(values)
}

/// Four digits after the point, at most.
fn shown(number: f64) -> String {
    let text = format!("{:.4}", (number * 1e4).round() / 1e4 + 0.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What an example comes to, as the page says it.
fn outcome(tag: &str, example: &str, table: &Table) -> Result<String> {
    match tag {
        "condition" | "refused-condition" => {
            round_trip(example, Condition::parse)?;
            let (bound, _) = Problem::parse(example, "error()", &NONE)?.bind(table, &[])?;
            bound.compile(table, None)?;
            let met = bound.label().evaluate(table)?.into_iter().filter(|met| *met).count();
            Ok(format!("{met} {}", if met == 1 { "row" } else { "rows" }))
        }
        "objective" | "refused-objective" => {
            round_trip(example, Expression::parse)?;
            Ok(shown(losses(table, example, &NONE)?.objective))
        }
        "constraint" | "refused-constraint" => {
            round_trip(example, Statement::parse)?;
            let values = losses(table, "error()", &[example])?.constraints;
            Ok(values.into_iter().map(shown).collect::<Vec<_>>().join(", "))
        }
        _ => panic!("blocks of {tag} are not known"),
    }
}

#[test]
fn the_page_is_true() {
    let table = page::table();
    let (mut taken, mut refused, mut wrong) = (0, 0, Vec::new());
    for Block { tag, first, lines } in page::blocks() {
        if tag == "csv" || tag == "ebnf" {
            continue;
        }
        for (number, line) in (first..).zip(&lines) {
            let (example, said) = line.split_once(" # ").unwrap_or((line, ""));
            let (example, said) = (example.trim_end(), said.trim());
            let outcome = outcome(&tag, example, &table);
            let (found, right) = match (outcome, tag.starts_with("refused")) {
                (Ok(found), false) => {
                    taken += 1;
                    let right = said == found;
                    (found, right)
                }
                (Err(error), true) => {
                    refused += 1;
                    let found = error.to_string();
                    let right = !said.is_empty() && found.contains(said);
                    (found, right)
                }
                (Ok(found), true) => (format!("{found}, not refused"), false),
                (Err(error), false) => (error.to_string(), false),
            };
            if !right {
                wrong.push(format!("line {number}: {example} # {found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "what the page says is not what is found:\n{}", wrong.join("\n"));
    assert!(taken >= 100 && refused >= 50, "{taken} examples, {refused} refused ones");
}

// ---- random trees ----

fn text() -> impl Strategy<Value = String> {
    let odd = [
        "",
        "a\"b",
        "'",
        "`",
        "\\",
        "\\n",
        "\n\t\r",
        "\u{0}\u{7f}\u{85}",
        "\u{2028}",
        "寿司",
        "e\u{301}",
    ];
    prop_oneof![
        2 => "[a-z]{1,6}",
        2 => prop::sample::select(odd.to_vec()).prop_map(str::to_owned),
        1 => prop::collection::vec(any::<char>(), 0..6).prop_map(String::from_iter),
    ]
}

fn name() -> impl Strategy<Value = Name> {
    let odd = [
        "hours per week",
        "a.b",
        "_",
        "été",
        "1st",
        "9",
        "-x",
        "and",
        "or",
        "not",
        "in",
        "each",
        "where",
        "within",
        "true",
        "false",
        "median",
        "quantile",
        "tpr",
        "churn",
        "And",
    ];
    let text = prop_oneof![prop::sample::select(odd.to_vec()).prop_map(str::to_owned), text()];
    text.prop_map(|text| Name { text, span: Span::default() })
}

/// Finite, and no second zero.
fn finite() -> impl Strategy<Value = f64> {
    use proptest::num::f64;
    let any = f64::NORMAL | f64::SUBNORMAL | f64::ZERO;
    prop_oneof![any, (-100_i32..100).prop_map(|n| ::std::primitive::f64::from(n) / 20.0)]
        .prop_map(|number| number + 0.0)
}

fn positive() -> impl Strategy<Value = f64> {
    finite().prop_map(f64::abs)
}

fn literal() -> impl Strategy<Value = Literal> {
    let span = Span::default();
    prop_oneof![
        finite().prop_map(move |number| Literal::Number(number, span)),
        text().prop_map(move |text| Literal::Text(text, span)),
        any::<bool>().prop_map(move |truth| Literal::Boolean(truth, span)),
        (name(), prop_oneof![Just(0.5), 0.0..=1.0])
            .prop_map(move |(column, level)| Literal::Quantile { column, level, span }),
    ]
}

fn comparison() -> impl Strategy<Value = Comparison> {
    use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};
    prop::sample::select(vec![Eq, Ne, Lt, Le, Gt, Ge])
}

fn condition() -> impl Strategy<Value = Condition> {
    let leaf = prop_oneof![
        3 => (name(), comparison(), literal())
            .prop_map(|(column, comparison, value)| Condition::Compare { column, comparison, value }),
        1 => (name(), prop::collection::vec(literal(), 1..4))
            .prop_map(|(column, values)| Condition::In { column, values }),
        1 => name().prop_map(Condition::Is),
    ];
    leaf.prop_recursive(5, 20, 3, |inner| {
        let several = || prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            several().prop_map(Condition::And),
            several().prop_map(Condition::Or),
            inner.clone().prop_map(|part| Condition::Not(Box::new(part))),
        ]
    })
}

fn group() -> impl Strategy<Value = Group> {
    prop_oneof![
        Just(Group::All),
        condition().prop_map(Group::Where),
        (prop::collection::vec(name(), 1..4), prop::option::of(condition()))
            .prop_map(|(columns, condition)| Group::Each { columns, condition }),
    ]
}

fn expression() -> impl Strategy<Value = Expression> {
    let span = Span::default();
    let rate = (prop::sample::select(Rate::ALL.to_vec()), condition(), group());
    let leaf = prop_oneof![
        positive().prop_map(move |number| Expression::Number(number, span)),
        rate.prop_map(move |(rate, old, group)| {
            let old = (rate == Rate::Churn).then_some(old);
            Expression::Rate { rate, old, group, span }
        }),
    ];
    leaf.prop_recursive(5, 12, 3, move |inner| {
        let sign = prop::sample::select(vec![Sign::Plus, Sign::Minus]);
        let factor = prop::sample::select(vec![Factor::Times, Factor::Over]);
        let sum = (inner.clone(), prop::collection::vec((sign, inner.clone()), 1..3));
        let product = (inner.clone(), prop::collection::vec((factor, inner.clone()), 1..3));
        prop_oneof![
            inner.prop_map(move |part| Expression::Negate(Box::new(part), span)),
            sum.prop_map(move |(first, rest)| {
                let first = std::iter::once((Sign::Plus, first));
                Expression::Sum(first.chain(rest).collect(), span)
            }),
            product.prop_map(move |(first, rest)| {
                let first = std::iter::once((Factor::Times, first));
                Expression::Product(first.chain(rest).collect(), span)
            }),
        ]
    })
}

fn statement() -> impl Strategy<Value = Statement> {
    let relation = prop::sample::select(vec![Relation::AtMost, Relation::AtLeast]);
    prop_oneof![
        (expression(), prop::collection::vec((relation, expression()), 1..4))
            .prop_map(|(first, rest)| Statement::Chain { first, rest }),
        (expression(), expression(), positive())
            .prop_map(|(left, right, within)| Statement::Equal { left, right, within }),
    ]
}

/// What is read as something is printed as it; all else is an error that can be shown.
fn read_all(text: &str) -> [bool; 3] {
    fn read<T: Display + PartialEq + Debug>(text: &str, parse: fn(&str) -> Result<T>) -> bool {
        match round_trip(text, parse) {
            Ok(_) => true,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                false
            }
        }
    }
    [read(text, Condition::parse), read(text, Expression::parse), read(text, Statement::parse)]
}

/// The parts of the language, well and badly written.
const PIECES: &str = r#"age `hours per week` tpr f1 churn and or not in each where within true median
    quantile tpr() error() ( ) ( ) [ ] , + - * / == != < <= > >= = 0.8 1 80% 1e9 .5 "a" 'b' " ' `
    \ \u{e9} \u{ e é 寿 # % &"#;

/// Some of the pieces, with or without a space after each.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(PIECES.split_whitespace().collect::<Vec<_>>());
    let spaced = (piece, prop::sample::select(vec!["", " ", "\n"]));
    prop::collection::vec(spaced, 0..12)
        .prop_map(|pieces| pieces.into_iter().flat_map(|(piece, space)| [piece, space]).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn printed_conditions_read_back(tree in condition()) {
        prop_assert_eq!(&Condition::parse(&tree.to_string()).unwrap(), &tree, "{}", tree);
    }

    #[test]
    fn printed_expressions_read_back(tree in expression()) {
        prop_assert_eq!(&Expression::parse(&tree.to_string()).unwrap(), &tree, "{}", tree);
    }

    #[test]
    fn printed_constraints_read_back(tree in statement()) {
        prop_assert_eq!(&Statement::parse(&tree.to_string()).unwrap(), &tree, "{}", tree);
    }

    #[test]
    fn any_text_is_read_or_refused(text in prop::collection::vec(any::<char>(), 0..40)) {
        read_all(&String::from_iter(text));
    }

    #[test]
    fn any_pieces_are_read_or_refused(text in pieces()) {
        read_all(&text);
    }

    /// One character more, less or other than in a text that is right.
    #[test]
    fn any_slip_is_read_or_refused(
        tree in statement(),
        at in any::<prop::sample::Index>(),
        new in any::<Option<char>>(),
        keep in any::<bool>(),
    ) {
        let mut text: Vec<char> = tree.to_string().chars().collect();
        let at = at.index(text.len());
        text.splice(at..at + usize::from(!keep), new);
        read_all(&String::from_iter(text));
    }
}

// ---- long and deep texts ----

const LONG: usize = 100_000;

/// Runs on half of the stack that Rust gives a thread.
fn on_small_stack(work: fn()) {
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap();
}

/// What the long texts repeat, between bars.
const UNITS: &str = r#"(|)|[|]|()|not |not (|-|- -|(-|+|a|a |a.|1|1.|1 |1e|1e9|.|%|`|"|'|\|"\|"\u{|"\u{41}|é
| |=|<|==|a and |a or |a and not |a and (|a == |20 <= a < |a in [|tpr|tpr(|tpr() |tpr() + |tpr() * |tpr() <= |
tpr() == |churn(|churn(a, |each |tpr(each a where |tpr(each [a, |median(|quantile(a, |0.5 * (|within "#;

#[test]
fn long_texts_are_read_or_refused() {
    on_small_stack(|| {
        for unit in UNITS.split('|') {
            let text = unit.repeat(LONG / unit.len());
            for start in ["", "a in [", "a in [1, 2, \"", "tpr(a and ", "tpr() <= "] {
                read_all(&format!("{start}{text}"));
            }
        }
    });
}

#[test]
fn long_chains_are_read() {
    on_small_stack(|| {
        let chain = |unit: &str, end: &str| unit.repeat(LONG / unit.len()) + end;
        let conditions = [
            chain("a and ", "a"),
            chain("a or ", "a"),
            chain("a or b and ", "a"),
            chain("not (a and b) or ", "a"),
            chain("1 < a < 2 and ", "a"),
            format!("a in [{}]", chain("1, ", "1")),
            format!("a == \"{}\"", chain("x", "")),
            format!("`{}`", chain("x y", "")),
        ];
        for text in conditions {
            assert_eq!(read_all(&text), [true, false, false]);
            assert_eq!(read_all(&format!("tpr({text})")), [false, true, false]);
            assert_eq!(read_all(&format!("churn(a, {text}) <= 1")), [false, false, true]);
        }
        let expressions = [
            chain("1 + ", "1"),
            chain("tpr() - ", "1"),
            chain("-tpr() * ", "1"),
            chain("(tpr() - 2) / ", "3"),
            format!("tpr(each [{}])", chain("a, ", "a")),
        ];
        for text in expressions {
            assert_eq!(read_all(&text), [false, true, false]);
            assert_eq!(read_all(&format!("{text} == {text} within 1")), [false, false, true]);
        }
        assert_eq!(read_all(&chain("tpr() <= ", "1")), [false, false, true]);
    });
}

/// What can be read can be bound and compiled on the same stack.
#[test]
fn long_and_deep_problems_are_bound() {
    on_small_stack(|| {
        let table = page::table();
        let bind = |label: &str, objective: &str, constraint: &str| {
            let problem = Problem::parse(label, objective, &[constraint]).unwrap();
            let (bound, _) = problem.bind(&table, &[]).unwrap();
            bound.compile(&table, None).unwrap();
            bound.constraints().len()
        };
        let long = 20_000;
        let label = "union or old and ".repeat(long) + "union";
        let objective = "error() + tpr(union) - ".repeat(long) + "1";
        let constraint = "1 >= ".repeat(long) + "tpr()";
        assert_eq!(bind(&label, &objective, &constraint), long);

        let deep = |open: &str, inner: &str, close: &str, by: usize| {
            format!("{}{inner}{}", open.repeat(by), close.repeat(by))
        };
        let label = deep("(union or old and not ", "union", ")", 32);
        let objective = deep("-(1 + 0.5 * ", "error()", ")", 32);
        let constraint =
            deep("(1 * ", &format!("tpr({})", deep("(old or ", "old", ")", 32)), ")", 32);
        assert_eq!(bind(&label, &objective, &format!("{constraint} <= 2")), 1);
    });
}

/// As deep as can be read is as deep as can be printed.
#[test]
fn the_deepest_texts_are_printed() {
    let deepest = |open: &str, inner: &str, close: &str, parse: fn(&str) -> bool| {
        let text = |by: usize| format!("{}{inner}{}", open.repeat(by), close.repeat(by));
        let deepest = (0..200).take_while(|&by| parse(&text(by))).last();
        assert!(deepest.is_some_and(|by| (30..=64).contains(&by)), "{open} {deepest:?}");
    };
    let condition = |text: &str| round_trip(text, Condition::parse).is_ok();
    for inner in ["a", "1 < a < 2", "a not in [1]", "a or b", "not a"] {
        deepest("not ", inner, "", condition);
        deepest("(b and ", inner, ")", condition);
        deepest("(b or ", inner, ")", condition);
        deepest("not (b or ", inner, ")", condition);
    }
    let expression = |text: &str| round_trip(text, Expression::parse).is_ok();
    for inner in ["1", "1 + 2", "1 * 2", "-1", "tpr(not (a and b))", "tpr(1 < a < 2)"] {
        deepest("-", inner, "", expression);
        deepest("(1 - ", inner, ")", expression);
        deepest("-(1 - ", inner, ")", expression);
    }
}
