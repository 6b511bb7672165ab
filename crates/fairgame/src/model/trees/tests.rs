//! What boosted trees promise.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use proptest::prelude::*;

use super::bins::{LEVELS, MISSING, Order, Shape};
use super::gradient::{Pair, Scale, Sum, minus, plus};
use super::histogram::{Data, Frame};
use super::split::{Bounds, Node, Route};
use super::*;
use crate::archive::Archive;
use crate::encode::{Coding, Cuts, Encoder, EncoderSpec, Steps};
use crate::model::Monotone;
use crate::random::Stream;
use crate::table::{Category, Column, Table, Values};
use crate::{ErrorKind, Result, Threads};

/// Numbers with missing values, a number in buckets, categories; a target that depends on them.
struct World {
    encoder: Encoder,
    table: Table,
    target: Vec<f32>,
}

fn world(rows: usize, seed: u64) -> World {
    let mut stream = Stream::new(seed, "trees");
    let mut number = |share: f64| -> Vec<f64> {
        let mut value = || if stream.unit() < share { f64::NAN } else { stream.unit() * 4.0 - 2.0 };
        (0..rows).map(|_| value()).collect()
    };
    let (a, b, c) = (number(0.1), number(0.0), number(0.0));
    let letters: Vec<Option<String>> = (0..rows)
        .map(|_| Some(stream.below(14)).filter(|&k| k < 12).map(|k| format!("v{k:02}")))
        .collect();
    let sexes: Vec<Option<&str>> =
        (0..rows).map(|_| Some(["f", "m"][stream.below(2) as usize])).collect();
    let target = (0..rows)
        .map(|row| {
            let letter =
                letters[row].as_deref().map_or(0.5, |text| f64::from(text.as_bytes()[2] % 3));
            let a = if a[row].is_nan() { 1.5 } else { a[row] };
            let z =
                1.5 * a - b[row] * b[row] + letter + f64::from(u8::from(sexes[row] == Some("f")));
            f32::from(u8::from(stream.unit() < 1.0 / (1.0 + (-z).exp())))
        })
        .collect();
    let category = |texts: Vec<Option<&str>>| Values::Category(Category::from_texts(texts));
    let table = Table::new(vec![
        Column::new("a", Values::Number(a)),
        Column::new("b", Values::Number(b)),
        Column::new("c", Values::Number(c)),
        Column::new("letter", category(letters.iter().map(Option::as_deref).collect())),
        Column::new("sex", category(sexes)),
    ])
    .unwrap();
    let steps = |steps| Coding::Buckets { cuts: Cuts::Quantiles(10), steps };
    let columns = BTreeMap::from([
        ("b".to_owned(), vec![Coding::Standardise, steps(Steps::Cumulative)]),
        ("c".to_owned(), vec![steps(Steps::Single)]),
    ]);
    let spec = EncoderSpec { columns, ..EncoderSpec::default() };
    let (encoder, _) = Encoder::fit(&spec, &table).unwrap();
    World { encoder, table, target }
}

impl World {
    fn bins(&self, spec: &TreesSpec) -> (Bins, Binned) {
        let features = self.encoder.encode(&self.table).unwrap();
        let threads = Threads::default();
        let bins = Bins::fit(spec, &self.encoder, &features, (None, None), &threads).unwrap();
        let binned = bins.codes(&features, &threads).unwrap();
        (bins, binned)
    }

    fn boost(&self, spec: &TreesSpec, weights: Option<&[f32]>, threads: usize) -> Result<Forest> {
        let (bins, binned) = self.bins(spec);
        let teach: Vec<u32> = (0..binned.rows() as u32).collect();
        let (binned, bins, target) = (&binned, &bins, self.target.as_slice());
        let lesson =
            Lesson { binned, bins, teach: &teach, aside: &[], target, weights, numbers: None };
        boost(&lesson, spec, 1, &Threads::new(threads), &mut go_on)
    }
}

fn go_on(_: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn small() -> TreesSpec {
    TreesSpec { trees: 20, leaves: Some(8), min_leaf: Some(5), ..TreesSpec::default() }
}

fn whole() -> TreesSpec {
    TreesSpec { rows: 1.0, columns: 1.0, ..small() }
}

fn scores(forest: &Forest, binned: &Binned) -> Vec<u32> {
    let mut scores = vec![0.0; binned.rows()];
    forest.score(binned, 0..binned.rows(), &mut scores);
    for (row, score) in scores.iter().enumerate() {
        assert_eq!(score.to_bits(), forest.score_row(binned.row(row)).to_bits());
    }
    scores.into_iter().map(f32::to_bits).collect()
}

/// The greatest gain of any cut or, for up to four categories, of any one against the rest, from its definition.
fn reference(rows: &[(u8, Pair)], scale: Scale, shape: Shape, least: usize, l2: f64) -> f64 {
    let score = |side: &[Pair]| {
        let sum: Sum = side.iter().fold([0; 2], |sum, pair| plus(sum, scale.row(*pair)));
        let (gradient, hessian) = scale.real(sum);
        gradient * gradient / (hessian + l2)
    };
    let gain = |goes_left: &dyn Fn(u8) -> bool| {
        let pick =
            |side: bool| rows.iter().filter(move |row| goes_left(row.0) == side).map(|row| row.1);
        let (left, right): (Vec<Pair>, Vec<Pair>) = (pick(true).collect(), pick(false).collect());
        let all: Vec<Pair> = rows.iter().map(|row| row.1).collect();
        let few = left.len().min(right.len()) < least.max(1);
        if few { 0.0 } else { score(&left) + score(&right) - score(&all) }
    };
    let codes = (0..shape.levels as u8).chain([MISSING]);
    let gains: Vec<f64> = match shape.order {
        Order::Categories => codes.map(|one| gain(&|code| code == one)).collect(),
        Order::Ordered(_) => codes
            .flat_map(|cut| [(cut, false), (cut, true)])
            .map(|(cut, with)| gain(&|code| if code == MISSING { with } else { code <= cut }))
            .collect(),
    };
    gains.into_iter().fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The best split is the best one by definition, and its children are what the route says.
    #[test]
    fn the_best_split_is_the_best(
        seed in 0_u64..1_000_000, rows in 2_usize..60, levels in 1_usize..9, least in 1_usize..6,
        ordered: bool, missing in 0_u64..3, weighted: bool, bounded: bool,
    ) {
        let mut stream = Stream::new(seed, "split");
        let order = if ordered { Order::Ordered(None) } else { Order::Categories };
        let shape = Shape { levels: if ordered { levels } else { levels.min(4) }, order };
        let codes: Vec<u8> = (0..rows)
            .map(|_| if stream.below(4) < missing { MISSING } else { stream.below(shape.levels as u64) as u8 })
            .collect();
        let scores: Vec<f32> = (0..rows).map(|_| (stream.unit() * 6.0 - 3.0) as f32).collect();
        let target: Vec<f32> = (0..rows).map(|_| stream.below(2) as f32).collect();
        let weights: Vec<f32> = (0..rows).map(|_| 0.1 + stream.unit() as f32).collect();
        let scale = Scale::new(rows, 2.0);
        let mut pairs = vec![[0; 2]; rows];
        scale.pairs(&scores, &target, weighted.then_some(&weights), &mut pairs);
        let threads = Threads::default();
        let frame = Frame { scale, shapes: &[shape], active: &[0], threads: &threads };
        let data = Data { frame: &frame, codes: &codes, pairs: &pairs };
        let mut histogram = vec![[[7; 2]; 260]];
        let all: Vec<u32> = (0..rows as u32).collect();
        data.add_up(&all, &mut histogram, &mut Vec::new());
        let growth = Growth { leaves: 2, rate: 1.0, min_leaf: least, l2: 0.5 };
        let total = frame.total(&mut histogram);
        prop_assert_eq!(scale.count(total), rows as u64);
        let bounds = bounded.then_some(Bounds::NONE);
        let found = Node { total, scale, growth, bounds }.best(0, &histogram[0], shape);
        let pairs: Vec<(u8, Pair)> = codes.iter().copied().zip(pairs.iter().copied()).collect();
        let expected = reference(&pairs, scale, shape, least, 0.5);
        prop_assert!((found.map_or(0.0, |split| split.gain) - expected).abs() < 1e-9, "{:?} {}", found, expected);
        if let Some(split) = found {
            let table = split.route.table();
            for (side, sum) in split.sums.iter().enumerate() {
                let of = pairs.iter().filter(|row| table[usize::from(row.0)] == (side == 0));
                prop_assert_eq!(of.fold([0; 2], |sum, row| plus(sum, scale.row(row.1))), *sum);
            }
        }
    }

    /// Many categories: the best run from either end of those with 20 rows or more, sorted by G / (H + 20).
    #[test]
    fn the_best_run_of_categories_is_the_best(seed in 0_u64..1_000_000, levels in 5_usize..40, rows in 300_usize..3_000) {
        let mut stream = Stream::new(seed, "run");
        let (shape, scale) = (Shape { levels, order: Order::Categories }, Scale::new(rows, 1.0));
        let mut sums = [[0; 2]; 260];
        let (mut total, mut pairs) = ([0; 2], [[0; 2]]);
        for _ in 0..rows {
            let code = stream.below(levels as u64).min(stream.below(levels as u64)) as usize;
            let target = f32::from(u8::from(stream.unit() < (code * 7 % 11) as f64 / 11.0));
            scale.pairs(&[stream.unit() as f32], &[target], None, &mut pairs);
            sums[code] = plus(sums[code], scale.row(pairs[0]));
            total = plus(total, scale.row(pairs[0]));
        }
        let score = |sum, l2| {
            let (gradient, hessian) = scale.real(sum);
            gradient * gradient / (hessian + l2)
        };
        let mut order: Vec<Sum> = sums.into_iter().filter(|sum| scale.count(*sum) >= 20).collect();
        let ratio = |sum: &Sum| scale.real(*sum).0 / (scale.real(*sum).1 + 20.0);
        let mut best = 0.0_f64;
        order.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        for _ in 0..2 {
            let (mut left, mut tried) = ([0; 2], 0);
            for sum in &order[..order.len().div_ceil(2).min(32)] {
                left = plus(left, *sum);
                let (count, right) = (scale.count(left), minus(total, left));
                if count - tried >= 100 && rows as u64 - count >= 100 {
                    tried = count;
                    best = best.max(score(left, 10.5) + score(right, 10.5) - score(total, 0.5));
                }
            }
            order.reverse();
        }
        let growth = Growth { leaves: 2, rate: 1.0, min_leaf: 5, l2: 0.5 };
        let found = Node { total, scale, growth, bounds: None }.best(0, &sums, shape);
        prop_assert!((found.map_or(0.0, |split| split.gain) - best).abs() < 1e-9, "{:?} {}", found, best);
    }

    /// A forest whose arrays are damaged is refused, or is a forest that can be walked.
    #[test]
    fn damaged_forests_do_no_harm(at in 0_usize..100_000, to in any::<u32>(), small in 0_u32..300, pick: bool) {
        thread_local! {
            static GOOD: (Forest, Binned) = {
                let world = world(300, 5);
                (world.boost(&self::small(), None, 1).unwrap(), world.bins(&self::small()).1)
            };
        }
        GOOD.with(|(good, binned)| {
            let mut json = serde_json::to_value(good).unwrap();
            let to = if pick { to } else { small };
            let names: Vec<String> = json.as_object().unwrap().keys().cloned().collect();
            let value = &mut json[names[at % names.len()].as_str()];
            match value.as_array_mut() {
                Some(list) if !list.is_empty() => {
                    let place = at / names.len() % list.len();
                    if to % 7 == 0 { list.remove(place); } else { list[place] = to.into(); }
                }
                _ => *value = to.into(),
            }
            if let Ok(forest) = serde_json::from_value::<Forest>(json) {
                if forest.columns() == good.columns() {
                    scores(&forest, binned);
                }
                forest.importance();
                assert_eq!(Forest::from_arrays(&mut forest.to_arrays()).unwrap(), forest);
            }
        });
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let world = world(20_000, 1);
    for spec in [small(), whole()] {
        let one = world.boost(&spec, None, 1).unwrap();
        assert!(one.trees() == 20);
        for threads in [2, 8] {
            assert_eq!(world.boost(&spec, None, threads).unwrap(), one);
        }
    }
}

/// However rows are divided among holders, they come to the same trees, to the bit; a holder may have no row, and may be
/// lost and asked again what was asked before.
#[test]
fn rows_divided_among_holders() {
    let world = world(5_000, 12);
    let (bins, binned) = world.bins(&small());
    let weights: Vec<f32> = (0..5_000).map(|row| (row % 5) as f32 * 0.37).collect();
    let numbers: Vec<u32> = (0..5_000).map(|row| 70_000 - 3 * row).collect();
    let all: Vec<u32> = (0..5_000).collect();
    let (teach, aside) = all.split_at(4_200);
    for (spec, weights) in [(small(), None), (whole(), Some(weights.as_slice()))] {
        let (target, numbers) = (world.target.as_slice(), Some(numbers.as_slice()));
        let lesson =
            Lesson { binned: &binned, bins: &bins, teach, aside, target, weights, numbers };
        let threads = Threads::default();
        let one = boost(&lesson, &spec, 1, &threads, &mut go_on).unwrap();
        assert!(one.trees() > 3, "{}", one.trees());
        // Runs, the last of them empty, and rows dealt out.
        let dealt: Vec<Vec<u32>> =
            (0..3).map(|at| teach.iter().copied().filter(|row| row % 3 == at).collect()).collect();
        for parts in
            [vec![&teach[..7], &teach[7..4_200], &[]], dealt.iter().map(|own| &own[..]).collect()]
        {
            let holder = |rows: &[u32]| {
                let rows: Vec<u32> = rows
                    .iter()
                    .copied()
                    .filter(|&row| weights.is_none_or(|weights| weights[row as usize] > 0.0))
                    .collect();
                let of = |all: &[f32]| rows.iter().map(|&row| all[row as usize]).collect();
                let codes = rows.iter().flat_map(|&row| binned.row(row as usize).to_vec());
                let numbers =
                    numbers.iter().flat_map(|all| rows.iter().map(|&row| all[row as usize]));
                let mut holder = Holder::new(codes.collect(), bins.columns(), numbers.collect());
                holder.teach(of(&world.target), weights.map(of));
                holder
            };
            let mut holders: Vec<Holder> = parts.iter().map(|rows| holder(rows)).collect();
            let (mut asked, mut cuts, mut history) = (0, 0, Vec::new());
            let mut ask = |question: &Question| -> Result<Vec<Answer>> {
                let bytes = postcard::to_allocvec(question).unwrap();
                asked += 1;
                if asked % 17 == 0 {
                    let lost = asked / 17 % holders.len();
                    holders[lost] = holder(parts[lost]);
                    for question in &history {
                        holders[lost].answer(question, &bins, &threads).unwrap();
                    }
                }
                let question: Question = postcard::from_bytes(&bytes).unwrap();
                let answers = holders.iter_mut().map(|holder| {
                    let answer = holder.answer(&question, &bins, &threads).unwrap();
                    Ok(postcard::from_bytes(&postcard::to_allocvec(&answer).unwrap()).unwrap())
                });
                let answers = answers.collect();
                match &question {
                    Question::Start { .. } => history = vec![question],
                    Question::Open { .. } => history.push(question),
                    Question::Cut(_) => {
                        cuts += 1;
                        history.push(question);
                    }
                    Question::Learn { .. } => {
                        history
                            .retain(|one| !matches!(one, Question::Open { .. } | Question::Cut(_)));
                        history.push(question);
                    }
                    Question::Heaviest | Question::About { .. } => {}
                }
                answers
            };
            let away = Lesson { teach: &[], ..lesson };
            let found = boost_elsewhere(&mut ask, &away, &spec, 1, &threads, &mut go_on).unwrap();
            assert_eq!(found, one);
            let splits = found.branches().count();
            assert!(asked > 40 && cuts < splits, "{asked} questions, {cuts} of cuts for {splits}");
        }
    }
}

/// The order in which rows are named changes nothing; without sampling, neither does the order in which they lie.
#[test]
fn the_order_of_rows_changes_nothing() {
    let world = world(2_000, 2);
    let (bins, binned) = world.bins(&small());
    let weights: Vec<f32> = (0..2_000).map(|row| 0.3 + (row % 7) as f32 * 0.37).collect();
    let mut order: Vec<u32> = (0..2_000).collect();
    let run =
        |binned: &Binned, target: &[f32], weights: &[f32], order: &[u32], spec: &TreesSpec| {
            let (teach, aside) = order.split_at(order.len() - 400);
            let lesson = Lesson {
                binned,
                bins: &bins,
                teach,
                aside,
                target,
                weights: Some(weights),
                numbers: None,
            };
            boost(&lesson, spec, 1, &Threads::default(), &mut go_on).unwrap()
        };
    let first = run(&binned, &world.target, &weights, &order, &small());
    let lying = run(&binned, &world.target, &weights, &order, &whole());
    Stream::new(1, "order").shuffle(&mut order[..1_600]);
    Stream::new(2, "order").shuffle(&mut order[1_600..]);
    assert_eq!(run(&binned, &world.target, &weights, &order, &small()), first);

    let features = world.encoder.encode(&world.table).unwrap().take(&order);
    let moved = bins.codes(&features, &Threads::new(2)).unwrap();
    let of =
        |numbers: &[f32]| -> Vec<f32> { order.iter().map(|&row| numbers[row as usize]).collect() };
    let ascending: Vec<u32> = (0..2_000).collect();
    assert_eq!(run(&moved, &of(&world.target), &of(&weights), &ascending, &whole()), lying);
}

/// Deeper trees without noise fit a function of numbers, missing values and categories.
#[test]
fn a_known_function_is_fitted() {
    let mut world = world(4_000, 3);
    let (_, binned) = world.bins(&whole());
    // a above its middle or missing, or one of three categories.
    let truth = |codes: &[u8]| codes[0] >= 128 || [2, 5, 7].contains(&codes[4]);
    world.target = (0..4_000).map(|row| f32::from(u8::from(truth(binned.row(row))))).collect();
    let spec = TreesSpec { trees: 60, rate: Some(0.3), ..whole() };
    let forest = world.boost(&spec, None, 1).unwrap();
    for row in 0..4_000 {
        let score = forest.score_row(binned.row(row));
        assert_eq!(score > 0.0, world.target[row] == 1.0, "row {row}: {score}");
    }
    let importance = forest.importance();
    let asked = importance[0] + importance[4];
    assert!(asked > 0.9 * importance.iter().sum::<f64>(), "{importance:?}");
}

/// A row of weight 2 is two rows, and one of weight 0 none. (Sorted categories are tried by how many rows they have,
/// so they are left out.)
#[test]
fn a_row_of_weight_two_is_two_rows() {
    let mut world = world(500, 4);
    let ignore = EncoderSpec { ignore: vec!["letter".into()], ..EncoderSpec::default() };
    world.encoder = Encoder::fit(&ignore, &world.table).unwrap().0;
    let spec = TreesSpec { min_leaf: Some(1), ..whole() };
    let (bins, binned) = world.bins(&spec);
    let weights: Vec<f32> = (0..500).map(|row| [1.0, 2.0, 0.0][row % 3]).collect();
    let once: Vec<u32> = (0..500).collect();
    let twice: Vec<u32> = (0..500).flat_map(|row| vec![row; [1, 2, 0][row as usize % 3]]).collect();
    let run = |teach: &[u32], weights| {
        let (binned, bins, target) = (&binned, &bins, world.target.as_slice());
        let lesson = Lesson { binned, bins, teach, aside: &[], target, weights, numbers: None };
        boost(&lesson, &spec, 1, &Threads::default(), &mut go_on).unwrap()
    };
    let (one, other) = (run(&once, Some(&weights)), run(&twice, None));
    for row in 0..500 {
        let scores = [&one, &other].map(|forest| forest.score_row(binned.row(row)));
        assert!((scores[0] - scores[1]).abs() < 1e-5, "row {row}: {scores:?}");
    }
}

/// Scores rise, or fall, with a monotone column, whatever the other columns are.
#[test]
fn monotone_columns_are_monotone() {
    let world = world(3_000, 6);
    for (direction, sign) in [(Monotone::Increasing, 1.0), (Monotone::Decreasing, -1.0)] {
        let monotone = ["a", "b", "c"].map(|name| (name.to_owned(), direction)).into();
        let spec = TreesSpec { monotone, trees: 60, rate: Some(0.3), leaves: Some(15), ..small() };
        let (_, binned) = world.bins(&spec);
        let forest = world.boost(&spec, None, 1).unwrap();
        assert!(forest.importance().iter().sum::<f64>() > 0.0);
        for row in 0..300 {
            let mut codes = binned.row(row).to_vec();
            for column in 0..4 {
                let mut last = f32::NEG_INFINITY;
                for code in 0..LEVELS as u8 {
                    codes[column] = code;
                    let score = if sign > 0.0 {
                        forest.score_row(&codes)
                    } else {
                        -forest.score_row(&codes)
                    };
                    assert!(score >= last, "column {column}, code {code}");
                    last = score;
                }
                codes[column] = binned.row(row)[column];
            }
        }
    }
}

#[test]
fn only_ordered_columns_are_monotone() {
    let world = world(100, 7);
    let features = world.encoder.encode(&world.table).unwrap();
    let fit = |name: &str| {
        let spec =
            TreesSpec { monotone: [(name.to_owned(), Monotone::Increasing)].into(), ..small() };
        Bins::fit(&spec, &world.encoder, &features, (None, None), &Threads::default()).unwrap_err()
    };
    assert!(fit("sex").to_string().contains("column `sex` is encoded by value"));
    assert!(fit("lettr").to_string().contains("did you mean `letter`?"));
}

/// On noise, the forest is cut back, and is the one that the first trees are.
#[test]
fn early_stopping_cuts_back() {
    let world = world(3_000, 8);
    let spec = TreesSpec { trees: 400, rate: Some(0.5), patience: 10, ..small() };
    let (bins, binned) = world.bins(&spec);
    let rows: Vec<u32> = (0..3_000).collect();
    let (aside, teach) = rows.split_at(1_000);
    let target = world.target.as_slice();
    let run = |aside, spec: &TreesSpec, most: usize| {
        let lesson = Lesson {
            binned: &binned,
            bins: &bins,
            teach,
            aside,
            target,
            weights: None,
            numbers: None,
        };
        let mut seen = 0;
        let mut watch = |trees| {
            seen = trees;
            if trees < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let forest = boost(&lesson, spec, 1, &Threads::default(), &mut watch).unwrap();
        (forest, seen)
    };
    let (stopped, seen) = run(aside, &spec, usize::MAX);
    assert!(stopped.trees() > 0 && seen < 100 && stopped.trees() + 10 == seen, "{seen}");
    let (short, _) = run(&[], &spec, stopped.trees());
    assert_eq!(short, stopped);
}

#[test]
fn degenerate_lessons() {
    let mut world = world(200, 9);
    let error =
        |world: &World, weights: &[f32]| world.boost(&small(), Some(weights), 1).unwrap_err();
    assert_eq!(error(&world, &[0.0; 200]).kind(), ErrorKind::Value);
    assert!(error(&world, &[0.0; 200]).to_string().contains("no rows"));
    for wrong in [f32::NAN, f32::INFINITY, -1.0] {
        let mut weights = [1.0; 200];
        weights[7] = wrong;
        assert!(error(&world, &weights).to_string().contains("weight of row 7"));
    }
    world.target[3] = f32::NAN;
    assert!(error(&world, &[1.0; 200]).to_string().contains("target of row 3"));
    for (constant, sign) in [(0.0, -1.0), (1.0, 1.0)] {
        world.target.fill(constant);
        let forest = world.boost(&small(), None, 1).unwrap();
        assert_eq!(forest.trees(), 0);
        assert!(forest.base().is_finite() && forest.base() * sign > 4.0);
    }
}

/// What is saved is read back: the same scores, to the bit.
#[test]
fn save_and_load() {
    let world = world(1_000, 10);
    let (bins, binned) = world.bins(&small());
    let forest = world.boost(&small(), None, 1).unwrap();
    let json = serde_json::to_string(&(&bins, &forest)).unwrap();
    let (bins_read, read): (Bins, Forest) = serde_json::from_str(&json).unwrap();
    assert_eq!((&bins_read, &read), (&bins, &forest));
    let features = world.encoder.encode(&world.table).unwrap();
    let again = bins_read.codes(&features, &Threads::new(2)).unwrap();
    assert_eq!(scores(&read, &again), scores(&forest, &binned));
    let archive =
        Archive { what: "trees".into(), header: String::new(), arrays: forest.to_arrays() };
    let mut archive = Archive::from_bytes(&archive.to_bytes().unwrap(), "trees").unwrap();
    assert_eq!(Forest::from_arrays(&mut archive.arrays).unwrap(), forest);
}

/// Every number of a description of bins, changed: an error, or bins that make codes.
#[test]
fn damaged_bins_do_no_harm() {
    let world = world(100, 11);
    let (bins, _) = world.bins(&small());
    let features = world.encoder.encode(&world.table).unwrap();
    let text = serde_json::to_string(&bins).unwrap();
    let digits: Vec<usize> =
        text.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at).collect();
    for &at in &digits {
        for with in ["9", "99999", "-", "", "18446744073709551615"] {
            let damaged = format!("{}{with}{}", &text[..at], &text[at + 1..]);
            if let Ok(bins) = serde_json::from_str::<Bins>(&damaged) {
                let _ = bins.codes(&features, &Threads::default());
            }
        }
    }
}

/// More values than codes: the rarest categories share one, neighbouring buckets do, and missing stays apart.
#[test]
fn many_values_share_codes() {
    let rows = 3_000;
    let mut stream = Stream::new(12, "many");
    let texts: Vec<Option<String>> =
        (0..rows).map(|row| (row % 10 > 0).then(|| format!("v{}", stream.below(400)))).collect();
    let numbers = (0..rows).map(|_| stream.unit()).collect();
    let texts = texts.iter().map(Option::as_deref);
    let table = Table::new(vec![
        Column::new("text", Values::Category(Category::from_texts(texts))),
        Column::new("number", Values::Number(numbers)),
    ])
    .unwrap();
    let coding = Coding::Buckets { cuts: Cuts::Quantiles(1_000), steps: Steps::Cumulative };
    let columns = [("number".to_owned(), vec![coding])].into();
    let (encoder, _) =
        Encoder::fit(&EncoderSpec { columns, ..EncoderSpec::default() }, &table).unwrap();
    let world = World { encoder, table, target: vec![0.0; rows] };
    let (bins, binned) = world.bins(&small());
    assert!(bins.shapes.iter().all(|shape| shape.levels == LEVELS), "{:?}", bins.shapes);
    let codes: std::collections::BTreeSet<u8> = (0..rows).map(|row| binned.row(row)[1]).collect();
    assert_eq!(codes.len(), LEVELS);
    assert!((0..rows).all(|row| (row % 10 == 0) == (binned.row(row)[0] == MISSING)));
    let Values::Number(numbers) = &world.table.column("number").unwrap().values else { panic!() };
    let mut order: Vec<usize> = (0..rows).collect();
    order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    assert!(order.is_sorted_by_key(|&row| binned.row(row)[1]));
}

/// A cut with missing values left or right is walked as its table says, for every code.
#[test]
fn routes_are_walked_as_tabled() {
    let mut set = [0; 4];
    set[0] = 0b1010;
    set[3] = 1 << 63;
    for code in [0, 3, 254] {
        for missing_left in [false, true] {
            for route in [Route::Cut { code, missing_left }, Route::Among(set)] {
                let mut forest = Forest::new(1, 0.0);
                let split = forest.push(0, &route, 1.0);
                forest.roots.push(0);
                forest.leaves = vec![1.0, 2.0];
                forest.splits[split].children = [1 << 31, (1 << 31) + 1];
                let table = route.table();
                for code in 0..=255 {
                    let expected = if table[usize::from(code)] { 1.0 } else { 2.0 };
                    assert_eq!(forest.score_row(&[code]), expected, "{route:?} {code}");
                }
            }
        }
    }
}
