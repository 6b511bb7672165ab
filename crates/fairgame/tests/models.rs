//! Every model's scores are those of its formula, and its pullback is their derivative.
//!
//! The references below are written from the formulas, in f64, one row at a time.

mod common;

use common::table;
use fairgame::encode::{Codes, Coding, Cuts, Encoder, EncoderSpec, Features, Steps};
use fairgame::model::{AnyModel, LatticeSpec, ModelSpec, Monotone, Region, Rows, Scorer, Tape};
use fairgame::optimize::Optimizer;
use fairgame::random::Stream;
use fairgame::table::{Category, Column, Table, Values};
use proptest::prelude::*;
use serde_json::Value;

/// Codes only, numbers only, both, and steps, which are silent where they are not reached.
fn encodings() -> Vec<EncoderSpec> {
    let ignore = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let buckets = |steps| Coding::Buckets { cuts: Cuts::Quantiles(3), steps };
    let plain = EncoderSpec { ignore: ignore(&["x"]), ..EncoderSpec::default() };
    vec![
        plain.clone(),
        EncoderSpec { ignore: ignore(&["x", "job", "odd, name", "flag"]), ..plain.clone() },
        EncoderSpec { numbers: buckets(Steps::Single), ..plain.clone() },
        EncoderSpec { numbers: buckets(Steps::Cumulative), ..plain },
    ]
}

fn specs() -> Vec<ModelSpec> {
    let lattice = |inputs| LatticeSpec { inputs, keypoints: 4, ..LatticeSpec::default() };
    vec![
        ModelSpec::Linear,
        ModelSpec::Mlp { units: 5 },
        ModelSpec::Mlp { units: 21 },
        ModelSpec::Lattice(lattice(2)),
        ModelSpec::Lattice(lattice(8)),
    ]
}

/// Parameters away from zero and from each other, but for the units that pad a network.
fn parameters(model: &AnyModel, seed: u64) -> Vec<f32> {
    let mut stream = Stream::new(seed, "test");
    let json = serde_json::to_value(model).unwrap();
    let units = json.get("mlp").map_or(0, |mlp| index(&mlp["units"]));
    let padded = units.next_multiple_of(8).max(1);
    let mut theta = model.slopes().unwrap().initial(seed);
    let last = theta.len() - 1;
    for (at, parameter) in theta.iter_mut().enumerate() {
        if units == 0 || at == last || at % padded < units {
            *parameter += (stream.unit() - 0.5) as f32 * 0.3;
        }
    }
    theta
}

/// The score of a row by the model's formula, in f64.
fn reference(model: &AnyModel, theta: &[f64], features: &Features, row: usize) -> f64 {
    let codes: Vec<usize> = features.row_codes(row).collect();
    let numbers: Vec<f64> = features.row_values(row).iter().map(|&x| f64::from(x)).collect();
    let json = serde_json::to_value(model).unwrap();
    let (weights, width) = (features.weights(), features.width());
    if json.get("linear").is_some() {
        let by_code: f64 = codes.iter().map(|&code| theta[code]).sum();
        let by_number: f64 = numbers.iter().zip(&theta[weights..]).map(|(x, w)| x * w).sum();
        return by_code + by_number + theta[width];
    }
    if let Some(mlp) = json.get("mlp") {
        let units = mlp["units"].as_u64().unwrap() as usize;
        let padded = units.next_multiple_of(8);
        let hidden = |unit: usize| -> f64 {
            let bias = theta[width * padded + unit];
            let by_code: f64 = codes.iter().map(|&code| theta[code * padded + unit]).sum();
            let by_number: f64 =
                (0..numbers.len()).map(|j| numbers[j] * theta[(weights + j) * padded + unit]).sum();
            (bias + by_code + by_number).max(0.0)
        };
        let output = &theta[(width + 1) * padded..];
        return (0..units).map(|unit| hidden(unit) * output[unit]).sum::<f64>() + output[padded];
    }
    lattice(&json["lattice"], theta, features, row)
}

fn index(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

/// Σ over lattices of Σ over corners of value · Π (x or 1 − x), averaged, plus the bias.
fn lattice(json: &Value, theta: &[f64], features: &Features, row: usize) -> f64 {
    let mut at = 0;
    let mut calibrated = Vec::new();
    for input in json["inputs"].as_array().unwrap() {
        if let Some(number) = input.get("number") {
            let points: Vec<f64> = number["keypoints"]
                .as_array()
                .unwrap()
                .iter()
                .map(|point| f64::from(point.as_f64().unwrap() as f32))
                .collect();
            let values = &theta[at..at + points.len()];
            let x = f64::from(features.row_values(row)[index(&number["number"])]);
            let missing = number["missing"]
                .as_u64()
                .is_some_and(|slot| features.code(row, slot as usize).is_some());
            calibrated.push(if missing {
                theta[at + points.len()]
            } else if x <= points[0] {
                values[0]
            } else {
                let above = points.iter().position(|&point| point > x);
                above.map_or(values[points.len() - 1], |k| {
                    let share = (x - points[k - 1]) / (points[k] - points[k - 1]);
                    values[k - 1] * (1.0 - share) + values[k] * share
                })
            });
            at += points.len() + 1;
        } else {
            let code = &input["code"];
            let (slot, first, count) =
                (index(&code["slot"]), index(&code["first"]), index(&code["count"]));
            let on = features.code(row, slot).filter(|&on| on >= first && on < first + count);
            calibrated.push(theta[at + on.map_or(count, |on| on - first)]);
            at += count + 1;
        }
    }
    let lattices = json["lattices"].as_array().unwrap();
    let mut sum = 0.0;
    for lattice in lattices {
        let inputs: Vec<f64> =
            lattice.as_array().unwrap().iter().map(|input| calibrated[index(input)]).collect();
        for corner in 0..1_usize << inputs.len() {
            let weight: f64 = (0..inputs.len())
                .map(|k| if corner >> k & 1 == 1 { inputs[k] } else { 1.0 - inputs[k] })
                .product();
            sum += theta[at + corner] * weight;
        }
        at += 1 << inputs.len();
    }
    sum / lattices.len() as f64 + theta[at]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Scores and gradients of every model on every kind of features.
    #[test]
    fn scores_and_gradients(table in table(12..30), seed: u64) {
        for encoding in encodings() {
            let Ok((encoder, _)) = Encoder::fit(&encoding, &table) else { continue };
            let features = encoder.encode(&table).unwrap();
            for spec in specs() {
                let model = spec.build(&encoder, &features).unwrap();
                let theta = parameters(&model, seed);
                let list: Vec<u32> = (0..features.rows() as u32).rev().step_by(2).collect();
                let rows = Rows::list(&features, &list);
                let (mut tape, mut scores) = (Tape::default(), vec![0.0; rows.len()]);
                model.score(&theta, rows, &mut tape, &mut scores);
                let wide: Vec<f64> = theta.iter().map(|&p| f64::from(p)).collect();
                for (score, &row) in scores.iter().zip(&list) {
                    let wanted = reference(&model, &wide, &features, row as usize);
                    prop_assert!((f64::from(*score) - wanted).abs() < 1e-4 * (1.0 + wanted.abs()),
                        "{spec:?}: {score} is not {wanted}");
                }

                let mut stream = Stream::new(seed, "slopes");
                let slopes: Vec<f32> = list.iter().map(|_| (stream.unit() - 0.5) as f32).collect();
                let mut gradient = vec![0.0; model.params()];
                model.slopes().unwrap().pullback(&theta, rows, &mut tape, &slopes, &mut gradient);
                let total = |theta: &[f64]| -> f64 {
                    list.iter().zip(&slopes)
                        .map(|(&row, &slope)| f64::from(slope) * reference(&model, theta, &features, row as usize))
                        .sum()
                };
                // A handful of parameters each time, the last (the bias) among them.
                for pick in 0..12 {
                    let at = if pick == 0 { theta.len() - 1 } else { stream.below(theta.len() as u64) as usize };
                    let step = 1e-6;
                    let moved = |by: f64| {
                        let mut theta = wide.clone();
                        theta[at] += by;
                        total(&theta)
                    };
                    let (up, down) = ((moved(step) - total(&wide)) / step, (total(&wide) - moved(-step)) / step);
                    // At a kink the two sides differ; there is no derivative to compare with.
                    if (up - down).abs() < 1e-6 * (1.0 + up.abs()) {
                        let slope = (up + down) / 2.0;
                        prop_assert!((f64::from(gradient[at]) - slope).abs() < 1e-3 * (1.0 + slope.abs()),
                            "{spec:?}, parameter {at}: {} is not {slope}", gradient[at]);
                    }
                }
            }
        }
    }

    /// A model and its parameters, written down and read back, score the same to the bit.
    #[test]
    fn written_down(table in table(12..30), seed: u64) {
        for encoding in encodings() {
            let Ok((encoder, _)) = Encoder::fit(&encoding, &table) else { continue };
            let features = encoder.encode(&table).unwrap();
            for spec in specs() {
                let model = spec.build(&encoder, &features).unwrap();
                let theta = model.slopes().unwrap().initial(seed);
                let text = serde_json::to_string(&model).unwrap();
                let again: AnyModel = serde_json::from_str(&text).unwrap();
                let bytes: Vec<u8> = theta.iter().flat_map(|p| p.to_le_bytes()).collect();
                let loaded: Vec<f32> =
                    bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
                let score = |model: &AnyModel, theta: &[f32]| {
                    let mut scores = vec![0.0_f32; features.rows()];
                    model.score(theta, Rows::all(&features), &mut Tape::default(), &mut scores);
                    scores.into_iter().map(f32::to_bits).collect::<Vec<_>>()
                };
                prop_assert_eq!(score(&model, &theta), score(&again, &loaded));
                prop_assert_eq!(serde_json::to_string(&spec).unwrap(),
                    serde_json::to_string(&serde_json::from_str::<ModelSpec>(&serde_json::to_string(&spec).unwrap()).unwrap()).unwrap());
            }
        }
    }

    /// A row scores the same alone, in a block, and in any order.
    #[test]
    fn rows_are_independent(table in table(12..40), seed: u64) {
        let Ok((encoder, _)) = Encoder::fit(&encodings()[0], &table) else { return Ok(()) };
        let features = encoder.encode(&table).unwrap();
        for spec in specs() {
            let model = spec.build(&encoder, &features).unwrap();
            let theta = parameters(&model, seed);
            let mut all = vec![0.0; features.rows()];
            model.score(&theta, Rows::all(&features), &mut Tape::default(), &mut all);
            for (row, score) in all.iter().enumerate() {
                let mut alone = [0.0];
                model.score(&theta, Rows::range(&features, row..row + 1), &mut Tape::default(), &mut alone);
                prop_assert_eq!(alone[0].to_bits(), score.to_bits(), "{:?}", spec);
            }
        }
    }

    /// Whatever its parameters were, a projected lattice is monotone, and projecting again moves nothing.
    #[test]
    fn monotone_lattices_are_monotone(seed: u64, rows in 20_usize..60) {
        let mut stream = Stream::new(seed, "test");
        let mut column = |name: &str| {
            Column::new(name, Values::Number((0..rows).map(|_| stream.unit() * 4.0 - 2.0).collect()))
        };
        let table = Table::new(vec![column("up"), column("down"), column("free")]).unwrap();
        let (encoder, _) = Encoder::fit(&EncoderSpec::default(), &table).unwrap();
        let features = encoder.encode(&table).unwrap();
        let monotone = [("up".to_owned(), Monotone::Increasing), ("down".to_owned(), Monotone::Decreasing)].into();
        let spec = LatticeSpec { inputs: 3, keypoints: 5, monotone, ..LatticeSpec::default() };
        let model = ModelSpec::Lattice(spec).build(&encoder, &features).unwrap();
        let mut theta: Vec<f32> =
            (0..model.params()).map(|_| (stream.unit() * 4.0 - 2.0) as f32).collect();
        let slopes = model.slopes().unwrap();
        slopes.project(&mut theta);
        let once = theta.clone();
        slopes.project(&mut theta);
        prop_assert!(theta.iter().zip(&once).all(|(a, b)| (a - b).abs() < 1e-5));

        for _ in 0..20 {
            let at: Vec<f64> = (0..3).map(|_| stream.unit() * 6.0 - 3.0).collect();
            let more = stream.unit() * 2.0;
            let score = |up: f64, down: f64| {
                let values = [up, down, at[2]].map(|x| Values::Number(vec![x]));
                let columns = ["up", "down", "free"].into_iter().zip(values);
                let table = Table::new(columns.map(|(n, v)| Column::new(n, v)).collect()).unwrap();
                let features = encoder.encode(&table).unwrap();
                let mut score = [0.0];
                model.score(&once, Rows::all(&features), &mut Tape::default(), &mut score);
                score[0]
            };
            prop_assert!(score(at[0] + more, at[1]) >= score(at[0], at[1]) - 1e-6);
            prop_assert!(score(at[0], at[1] + more) <= score(at[0], at[1]) + 1e-6);
        }
    }
}

/// A table of so many numbers, some of them missing, in the first column mostly zero.
fn numbers(columns: usize, rows: usize, seed: u64) -> Table {
    let mut stream = Stream::new(seed, "numbers");
    let mut value = |column: usize| match stream.below(10) {
        0 if column % 3 == 1 => f64::NAN,
        k if column == 0 && k < 9 => 0.0,
        _ => stream.unit() * 4.0 - 2.0,
    };
    let columns = (0..columns).map(|k| {
        Column::new(format!("n{k}"), Values::Number((0..rows).map(|_| value(k)).collect()))
    });
    Table::new(columns.collect()).unwrap()
}

/// Compares scores with the reference, and gradients with its differences, at many parameters.
fn against_the_reference(model: &AnyModel, features: &Features, list: &[u32], seed: u64) {
    let theta = parameters(model, seed);
    let rows = Rows::list(features, list);
    let (mut tape, mut scores) = (Tape::default(), vec![0.0; rows.len()]);
    model.score(&theta, rows, &mut tape, &mut scores);
    let wide: Vec<f64> = theta.iter().map(|&p| f64::from(p)).collect();
    for (score, &row) in scores.iter().zip(list) {
        let wanted = reference(model, &wide, features, row as usize);
        assert!(
            (f64::from(*score) - wanted).abs() < 2e-4 * (1.0 + wanted.abs()),
            "{score} {wanted}"
        );
    }
    let mut stream = Stream::new(seed, "slopes");
    let slopes: Vec<f32> = list.iter().map(|_| (stream.unit() - 0.5) as f32).collect();
    let mut gradient = vec![0.0; model.params()];
    model.slopes().unwrap().pullback(&theta, rows, &mut tape, &slopes, &mut gradient);
    let total = |theta: &[f64]| -> f64 {
        let scores = list.iter().map(|&row| reference(model, theta, features, row as usize));
        scores.zip(&slopes).map(|(score, &slope)| score * f64::from(slope)).sum()
    };
    let base = total(&wide);
    let mut compared = 0;
    for _ in 0..60 {
        let at = stream.below(theta.len() as u64) as usize;
        let side = |by: f64| {
            let mut theta = wide.clone();
            theta[at] += by;
            (total(&theta) - base) / by
        };
        let (up, down) = (side(1e-6), side(-1e-6));
        if (up - down).abs() < 1e-6 * (1.0 + up.abs()) {
            let slope = (up + down) / 2.0;
            let found = f64::from(gradient[at]);
            assert!((found - slope).abs() < 1e-3 * (1.0 + slope.abs()), "{at}: {found} {slope}");
            compared += 1;
        }
    }
    assert!(compared > 20, "few parameters are at a kink");
}

/// Few numbers and many, missing ones, narrow and wide layers, and blocks of every remainder.
#[test]
fn numbers_match_the_reference() {
    for columns in [2, 8, 11, 12, 13, 37] {
        let table = numbers(columns, 60, columns as u64);
        let (encoder, _) = Encoder::fit(&EncoderSpec::default(), &table).unwrap();
        let features = encoder.encode(&table).unwrap();
        for spec in [
            ModelSpec::Linear,
            ModelSpec::Mlp { units: 5 },
            ModelSpec::Mlp { units: 70 },
            ModelSpec::Lattice(LatticeSpec { inputs: 3, keypoints: 5, ..LatticeSpec::default() }),
        ] {
            let model = spec.build(&encoder, &features).unwrap();
            for rows in [1, 5, 6, 7, 31] {
                let list: Vec<u32> = (0..rows).map(|k| k * 17 % 60).collect();
                against_the_reference(&model, &features, &list, 3);
            }
        }
    }
}

/// Codes beyond two bytes.
#[test]
fn wide_codes_match_the_reference() {
    let names: Vec<String> = (0..70_000).map(|n| format!("n{n}")).collect();
    let texts = names.iter().map(|name| Some(name.as_str()));
    let column = Column::new("name", Values::Category(Category::from_texts(texts)));
    let table = Table::new(vec![column]).unwrap();
    let spec = EncoderSpec { min_count: 1, max_values: usize::MAX, ..EncoderSpec::default() };
    let (encoder, _) = Encoder::fit(&spec, &table).unwrap();
    let features = encoder.encode(&table).unwrap();
    assert!(matches!(features.codes(), Codes::Wide(_)));
    for spec in [ModelSpec::Linear, ModelSpec::Mlp { units: 3 }] {
        let model = spec.build(&encoder, &features).unwrap();
        against_the_reference(&model, &features, &[0, 69_999, 65_535, 65_536], 5);
    }
}

/// No rows have no scores and move nothing; scores of parameters that are not numbers are not numbers.
#[test]
fn empty_blocks_and_diverged_models() {
    let table = numbers(20, 30, 1);
    let (encoder, _) = Encoder::fit(&EncoderSpec::default(), &table).unwrap();
    let features = encoder.encode(&table).unwrap();
    for spec in specs() {
        let model = spec.build(&encoder, &features).unwrap();
        let theta = model.slopes().unwrap().initial(1);
        let (none, mut tape) = (Rows::range(&features, 0..0), Tape::default());
        model.score(&theta, none, &mut tape, &mut []);
        let mut gradient = vec![0.0; model.params()];
        model.slopes().unwrap().pullback(&theta, none, &mut tape, &[], &mut gradient);
        assert!(gradient.iter().all(|&slope| slope == 0.0));

        let mut score = [0.0];
        model.score(
            &vec![f32::NAN; theta.len()],
            Rows::range(&features, 3..4),
            &mut tape,
            &mut score,
        );
        assert!(score[0].is_nan(), "{spec:?}");
        model.check(&theta, &features).unwrap();
        assert!(model.check(&theta[1..], &features).is_err());
        let mut diverged = theta.clone();
        diverged[0] = f32::INFINITY;
        assert!(model.check(&diverged, &features).is_err());
    }
}

/// A model from a file is sound, or refused.
#[test]
fn damaged_models_are_refused() {
    let most = usize::MAX;
    for text in [
        r#"{"mlp":{"weights":0,"numbers":2,"units":0}}"#.to_owned(),
        format!(r#"{{"mlp":{{"weights":{most},"numbers":2,"units":8}}}}"#),
        format!(r#"{{"linear":{{"weights":{most},"numbers":2}}}}"#),
        format!(
            r#"{{"lattice":{{"weights":{most},"slots":1,"numbers":0,"inputs":[{{"code":{{"slot":0,"first":0,"count":{most}}}}}],"lattices":[[0]]}}}}"#
        ),
        r#"{"lattice":{"weights":1,"slots":1,"numbers":0,"inputs":[],"lattices":[[0]]}}"#
            .to_owned(),
    ] {
        assert!(serde_json::from_str::<AnyModel>(&text).is_err(), "{text}");
    }
}

/// A column that is mostly one value still has a calibrator of more than one line.
#[test]
fn keypoints_spread_over_what_is_rare() {
    let values = (0..1000).map(|k| if k % 12 == 0 { f64::from(k) } else { 0.0 }).collect();
    let table = Table::new(vec![Column::new("gain", Values::Number(values))]).unwrap();
    let (encoder, _) = Encoder::fit(&EncoderSpec::default(), &table).unwrap();
    let features = encoder.encode(&table).unwrap();
    let model = ModelSpec::Lattice(LatticeSpec::default()).build(&encoder, &features).unwrap();
    let json = serde_json::to_value(&model).unwrap();
    let points = json["lattice"]["inputs"][0]["number"]["keypoints"].as_array().unwrap().len();
    assert!(points >= 8, "{points} keypoints");
}

/// Every input is in a lattice, none twice in one, for 37 inputs and any size of lattice.
#[test]
fn lattices_cover_all_inputs() {
    let mut stream = Stream::new(1, "test");
    let columns = (0..37).map(|n| {
        Column::new(format!("n{n}"), Values::Number((0..50).map(|_| stream.unit()).collect()))
    });
    let table = Table::new(columns.collect()).unwrap();
    let (encoder, _) = Encoder::fit(&EncoderSpec::default(), &table).unwrap();
    let features = encoder.encode(&table).unwrap();
    for inputs in 1..=8 {
        for lattices in [None, Some(1), Some(40)] {
            let spec = LatticeSpec { inputs, lattices, ..LatticeSpec::default() };
            let model = ModelSpec::Lattice(spec).build(&encoder, &features).unwrap();
            let json = serde_json::to_value(&model).unwrap();
            let mut seen = vec![0; 37];
            for lattice in json["lattice"]["lattices"].as_array().unwrap() {
                let members: Vec<usize> = lattice.as_array().unwrap().iter().map(index).collect();
                assert!(
                    members.len() == inputs && members.is_sorted_by(|a, b| a < b),
                    "{members:?}"
                );
                members.into_iter().for_each(|member| seen[member] += 1);
            }
            assert!(seen.iter().all(|&count| count > 0), "{inputs} inputs: {seen:?}");
        }
    }
}

#[test]
fn the_ball_and_the_penalty() {
    let region = Region { radius: Some(2.0), convexity: 0.5 };
    let mut theta = [3.0, 0.0, -4.0];
    region.shrink(&mut theta);
    let norm = theta.iter().map(|p| p * p).sum::<f32>().sqrt();
    assert!((norm - 2.0).abs() < 1e-6 && (theta[0] - 1.2).abs() < 1e-6);
    assert!((region.penalty(&theta) - 1.0).abs() < 1e-6);
    let mut gradient = [1.0, 1.0, 1.0];
    region.add_gradient(&theta, &mut gradient);
    assert!((gradient[0] - 1.6).abs() < 1e-6 && (gradient[2] - 0.2).abs() < 1e-6);
    let mut inside = [0.5, 0.5, 0.5];
    region.shrink(&mut inside);
    assert_eq!(inside, [0.5; 3]);
    region.check().unwrap();
    assert!(Region { radius: Some(-1.0), convexity: 0.0 }.check().is_err());
    assert!(Optimizer::sgd(f64::NAN).check().is_err() && Optimizer::default().check().is_ok());
}

#[test]
fn wrong_settings_are_refused() {
    let source = fairgame::table::Source::stream("x.csv", "a,b\n1,x\n2,y\n3,x\n4,y\n".as_bytes());
    let table = fairgame::table::read([source], &fairgame::table::ReadOptions::default()).unwrap();
    let (encoder, _) = Encoder::fit(&EncoderSpec::default(), &table).unwrap();
    let features = encoder.encode(&table).unwrap();
    let message = |spec: ModelSpec| spec.build(&encoder, &features).unwrap_err().to_string();
    assert!(message(ModelSpec::Mlp { units: 0 }).contains("0 units"));
    let lattice = |spec: LatticeSpec| message(ModelSpec::Lattice(spec));
    assert!(
        lattice(LatticeSpec { inputs: 9, ..LatticeSpec::default() })
            .contains("inputs: 9 is out of range")
    );
    let monotone = |name: &str| [(name.to_owned(), Monotone::Increasing)].into();
    let spec = LatticeSpec { monotone: monotone("aa"), ..LatticeSpec::default() };
    assert!(lattice(spec).contains("did you mean `a`?"));
    let spec = LatticeSpec { monotone: monotone("b"), ..LatticeSpec::default() };
    assert!(lattice(spec).contains("not encoded as a number"));
}
