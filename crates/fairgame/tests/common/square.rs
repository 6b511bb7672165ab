//! A small convex problem: points of a square in two groups, a linear model in a ball, two constraints that bind.
#![allow(dead_code, reason = "not every test uses all of it")]

use fairgame::algorithm::{Algorithm, Setting};
use fairgame::encode::{Coding, EncoderSpec};
use fairgame::game::Keep;
use fairgame::model::Region;
use fairgame::player::Learner;
use fairgame::random::Stream;
use fairgame::table::{Category, Column, Table, Values};
use fairgame::train::{Data, Datasets, Sheet, Spec, Training};

pub(crate) const RADIUS: f64 = 4.0;
pub(crate) const CONVEXITY: f64 = 0.01;

/// Points of a square, labelled by a noisy line, in two groups.
pub(crate) fn table(rows: usize, seed: u64) -> Table {
    let mut stream = Stream::new(seed, "convex");
    let (mut x, mut y, mut group, mut label) = (vec![], vec![], vec![], vec![]);
    for _ in 0..rows {
        let (a, b) = (stream.unit() * 2.0 - 1.0, stream.unit() * 2.0 - 1.0);
        let one = stream.unit() < 0.5;
        let noise = (stream.unit() - 0.5) * 0.8;
        label.push(Some(a + 0.4 * b + noise + if one { 0.2 } else { -0.2 } > 0.0));
        group.push(Some(if one { "a" } else { "b" }));
        x.push(a);
        y.push(b);
    }
    Table::new(vec![
        Column::new("x", Values::Number(x)),
        Column::new("y", Values::Number(y)),
        Column::new("group", Values::Category(Category::from_texts(group))),
        Column::new("label", Values::Boolean(label)),
    ])
    .unwrap()
}

/// A high recall, and more positive decisions in one group: what a plain fit violates.
pub(crate) fn spec(algorithm: Algorithm) -> Spec {
    let mut spec =
        Spec::paper("label", &["recall() >= 0.9", "positive_rate(group == \"b\") >= 0.8"]);
    spec.encoder = EncoderSpec {
        ignore: vec!["group".into()],
        numbers: Coding::AsIs,
        ..EncoderSpec::default()
    };
    spec.region = Region { radius: Some(RADIUS), convexity: CONVEXITY };
    spec.algorithm = algorithm;
    spec.datasets = Datasets::One;
    spec
}

/// The rows that teach and those that constraints are enforced on, or one dataset for both.
pub(crate) fn data(one: bool) -> Data<'static> {
    let [train, val] = [1, 2].map(|seed| Sheet::owned(table(120, seed), "a square"));
    Data::from(train).with_val((!one).then_some(val))
}

/// The training, of which every model is kept.
pub(crate) fn training(algorithm: Algorithm, one: bool) -> Training<'static> {
    let mut spec = spec(algorithm);
    spec.keep = Keep::Every;
    let data = data(one);
    spec.plan(&data.shape()).unwrap().prepare(data).unwrap()
}

/// The model player's side of the game.
pub(crate) fn learner<'a>(training: &'a Training<'_>) -> Learner<'a> {
    let Setting { train, model, surrogate, region, seed, threads, .. } = training.setting(0);
    Learner { train, model, convex: surrogate.is_convex(), region, seed, threads }
}
