//! The populations that training rows are drawn from.
//!
//! Most are generators. A row's label is drawn with the chance η(x) = P(y = 1 | x), and the generator says η beside the
//! label: whoever judges on such rows counts each once as positive with weight η and once as negative with weight
//! 1 − η, which leaves out the noise of the labels. Two are files: some rows are drawn to train on, and the others judge.

use std::sync::OnceLock;

use fairgame::random::Stream;
use fairgame::table::{
    Category, Column, Comparison, PLENTY, Predicate, ReadOptions, Source, Table, Values, read,
    split,
};
use fairgame::{Error, ErrorKind, Result};

/// Fresh rows judge a classifier: so many for each row that it was trained on.
pub const JUDGING_ROWS: usize = 10;

/// With a million training rows or more, so many for each.
pub const JUDGING_OF_PLENTY: usize = 3;

/// How many fresh rows judge a classifier that was trained on `n`.
pub fn judging_rows(n: usize) -> usize {
    n * if n < PLENTY { JUDGING_ROWS } else { JUDGING_OF_PLENTY }
}

/// Rows of a population.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// The rows. Generated ones have their label in the column `label`.
    pub table: Table,
    /// P(y = 1 | x) of each row, where it is known.
    pub eta: Option<Vec<f64>>,
}

/// What training rows are drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Population {
    /// Like a file of credit card defaults: skewed numbers, a few categories, 22 % positive, hard to predict.
    Credit,
    /// Eight numbers and a category, of which the label depends on squares and products; about 35 % are positive. An
    /// older model's decision is the column `old`.
    Curved,
    /// The same with 3 % positives.
    Rare,
    /// Two attributes and five regions with labels that differ by group, the smallest 2 % of the rows; `weight` is a
    /// row's weight.
    Groups,
    /// Two normal distributions in four dimensions with means 1.5 apart, of which the rates of every linear model are
    /// known; 40 % are positive.
    Gaussians,
    /// Three columns of many categories (2,000, 300 and 40 values, most of them rare) and four numbers.
    Categories,
    /// The 48,842 rows of Adult.
    Adult,
    /// The 6,172 rows of COMPAS that ProPublica's analysis keeps.
    Compas,
}

/// Files that were read.
#[derive(Default)]
pub(super) struct Shelf {
    adult: OnceLock<Table>,
    compas: OnceLock<Table>,
}

impl Population {
    /// `n` rows of a generator, the same for the same seed, n and purpose; an error for a file.
    pub fn rows(self, seed: u64, n: usize, purpose: &str) -> Result<Drawn> {
        let generate = match self {
            Population::Credit => credit,
            Population::Curved => |stream: &mut Stream, n| curved(stream, n, CURVED),
            Population::Rare => |stream: &mut Stream, n| curved(stream, n, RARE),
            Population::Groups => groups,
            Population::Gaussians => gaussians,
            Population::Categories => categories,
            Population::Adult | Population::Compas => {
                let message = format!("{self:?} is a file, which nothing generates");
                return Err(Error::new(ErrorKind::Settings, message));
            }
        };
        generate(&mut Stream::new(seed, &format!("promise, {self:?}, {purpose}")), n)
    }

    /// `n` rows to train on, and others to judge by.
    pub(super) fn draw(self, seed: u64, n: usize, shelf: &Shelf) -> Result<(Table, Drawn)> {
        let file = match self {
            Population::Adult => once(&shelf.adult, adult)?,
            Population::Compas => once(&shelf.compas, compas)?,
            _ => {
                let train = self.rows(seed, n, "train")?.table;
                return Ok((train, self.rows(seed, judging_rows(n), "judge")?));
            }
        };
        let share = n as f64 / file.rows() as f64;
        let parts = split::by_fraction(file.rows(), &[share, 1.0 - share], seed, None)?;
        Ok((file.take(&parts[0]), Drawn { table: file.take(&parts[1]), eta: None }))
    }
}

fn once(kept: &OnceLock<Table>, load: fn() -> Result<Table>) -> Result<&Table> {
    match kept.get() {
        Some(table) => Ok(table),
        None => load().map(|table| kept.get_or_init(|| table)),
    }
}

fn adult() -> Result<Table> {
    let sources = [Source::parse("@adult")?, Source::parse("@adult/test")?];
    read(sources, &ReadOptions::default())
}

fn compas() -> Result<Table> {
    let all = read([Source::parse("@compas")?], &ReadOptions::default())?;
    let days = "days_b_screening_arrest";
    let keep = Predicate::compare(days, Comparison::Ge, -30.0)
        .and(Predicate::compare(days, Comparison::Le, 30.0))
        .and(Predicate::compare("is_recid", Comparison::Ne, -1.0))
        .and(Predicate::compare("c_charge_degree", Comparison::Ne, "O"))
        .and(Predicate::compare("score_text", Comparison::Ne, "N/A"));
    Ok(all.filter(&keep.evaluate(&all)?))
}

/// A standard normal number.
fn normal(stream: &mut Stream) -> f64 {
    // Box and Muller's; the second of the pair is left.
    let length = (-2.0 * (1.0 - stream.unit()).ln()).sqrt();
    length * (std::f64::consts::TAU * stream.unit()).cos()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// A place in a list of shares that add up to 1.
fn one_of(stream: &mut Stream, shares: &[f64]) -> usize {
    let mut left = stream.unit();
    let found = shares.iter().position(|share| {
        left -= share;
        left < 0.0
    });
    found.unwrap_or(shares.len() - 1)
}

/// Columns that grow row by row.
struct Columns {
    numbers: Vec<(String, Vec<f64>)>,
    /// Names, and what each code stands for.
    categories: Vec<(&'static str, Vec<String>, Vec<usize>)>,
    truths: Vec<(&'static str, Vec<Option<bool>>)>,
    label: Vec<Option<bool>>,
    eta: Vec<f64>,
}

impl Columns {
    fn new(numbers: impl IntoIterator<Item = String>) -> Self {
        let numbers = numbers.into_iter().map(|name| (name, Vec::new())).collect();
        let (categories, truths) = (Vec::new(), Vec::new());
        Columns { numbers, categories, truths, label: Vec::new(), eta: Vec::new() }
    }

    fn with_category(mut self, name: &'static str, values: &[&str]) -> Self {
        let values = values.iter().map(|&value| value.to_owned()).collect();
        self.categories.push((name, values, Vec::new()));
        self
    }

    /// A category of so many values.
    fn with_many(mut self, name: &'static str, values: usize) -> Self {
        let values = (0..values).map(|value| format!("{name} {value}")).collect();
        self.categories.push((name, values, Vec::new()));
        self
    }

    fn with_truth(mut self, name: &'static str) -> Self {
        self.truths.push((name, Vec::new()));
        self
    }

    /// A row; its label is drawn where it is not given.
    fn push(
        &mut self,
        stream: &mut Stream,
        (numbers, categories, truths): (&[f64], &[usize], &[bool]),
        (eta, label): (f64, Option<bool>),
    ) {
        self.numbers.iter_mut().zip(numbers).for_each(|((_, all), &number)| all.push(number));
        self.categories.iter_mut().zip(categories).for_each(|((_, _, all), &one)| all.push(one));
        self.truths.iter_mut().zip(truths).for_each(|((_, all), &truth)| all.push(Some(truth)));
        let label = label.unwrap_or_else(|| stream.unit() < eta);
        self.label.push(Some(label));
        self.eta.push(eta);
    }

    fn finish(self) -> Result<Drawn> {
        let numbers = self.numbers.into_iter();
        let mut columns: Vec<Column> =
            numbers.map(|(name, all)| Column::new(name, Values::Number(all))).collect();
        for (name, values, codes) in self.categories {
            let texts = codes.iter().map(|&code| Some(values[code].as_str()));
            columns.push(Column::new(name, Values::Category(Category::from_texts(texts))));
        }
        let truths = self.truths.into_iter();
        columns.extend(truths.map(|(name, all)| Column::new(name, Values::Boolean(all))));
        columns.push(Column::new("label", Values::Boolean(self.label)));
        Ok(Drawn { table: Table::new(columns)?, eta: Some(self.eta) })
    }
}

fn names(stem: &str, count: usize) -> impl Iterator<Item = String> {
    (0..count).map(move |at| format!("{stem}{at}"))
}

/// Credit card holders and whether they default next month. Delays, bills and payments of six months follow on each
/// other; what is left over is chance, so that even η ranks a positive row above a negative one in only about 78 % of
/// pairs.
fn credit(stream: &mut Stream, n: usize) -> Result<Drawn> {
    let months = ["delay", "bill", "paid"].into_iter().flat_map(|stem| names(stem, 6));
    let numbers = ["limit", "age"].map(str::to_owned).into_iter().chain(months);
    let mut columns = Columns::new(numbers)
        .with_category("sex", &["female", "male"])
        .with_category("education", &["graduate", "university", "school", "other"])
        .with_category("marriage", &["married", "single", "other"]);
    for _ in 0..n {
        let means = normal(stream);
        let limit = (11.6 + 0.8 * (0.6 * means + 0.8 * normal(stream))).exp().round();
        let age = (21.0 + 12.0 * (0.5 * normal(stream)).exp()).round();
        let mut numbers = vec![limit, age];
        let (mut delay, mut delays) = (normal(stream) - 0.5 * means, [0.0; 6]);
        for month in &mut delays {
            delay = 0.85 * delay + 0.53 * normal(stream);
            // Most pay in time; a few are behind by months.
            *month = if delay < 0.8 { 0.0 } else { (1.0 + 2.5 * (delay - 0.8)).floor().min(8.0) };
        }
        let mut use_of_limit = normal(stream);
        let bills = [(); 6].map(|()| {
            use_of_limit = 0.9 * use_of_limit + 0.43 * normal(stream);
            (limit * sigmoid(1.4 * use_of_limit - 0.6)).round()
        });
        let paid = [(); 6].map(|()| {
            let amount = (7.3 + 0.4 * means + 1.3 * normal(stream)).exp().round();
            if stream.unit() < 0.2 { 0.0 } else { amount }
        });
        numbers.extend(delays.iter().chain(&bills).chain(&paid));
        let sex = one_of(stream, &[0.6, 0.4]);
        let education = one_of(stream, &[0.35, 0.47, 0.16, 0.02]);
        let marriage = one_of(stream, &[0.45, 0.53, 0.02]);
        let late = delays.iter().filter(|months| **months > 0.0).count() as f64;
        let risk = CREDIT + 1.1 * delays[5].min(3.0) + 0.25 * late
            - 0.7 * (limit.ln() - 11.6)
            - 0.08 * (1.0 + paid[5]).ln()
            + 0.8 * (bills[5] / limit)
            + 0.2 * sex as f64
            + [0.0, 0.15, 0.1, -0.8][education]
            + [0.12, -0.08, 0.0][marriage];
        // Nobody is sure to pay, and nobody sure to default.
        let eta = 0.04 + 0.84 * sigmoid(risk);
        columns.push(stream, (&numbers, &[sex, education, marriage], &[]), (eta, None));
    }
    columns.finish()
}

/// The intercept that makes 22 % positive.
const CREDIT: f64 = -2.45;

/// Labels that depend on squares and products of numbers, which a linear model cannot follow. `old` is the decision of
/// an older model, which knew two of the numbers.
fn curved(stream: &mut Stream, n: usize, intercept: f64) -> Result<Drawn> {
    let mut columns =
        Columns::new(names("x", 8)).with_category("kind", &["a", "b", "c", "d"]).with_truth("old");
    for _ in 0..n {
        let x = [(); 8].map(|()| normal(stream));
        let kind = one_of(stream, &[0.4, 0.3, 0.2, 0.1]);
        let old = x[0] - 0.7 * x[1] + 0.2 * normal(stream) > 0.4;
        let score = 1.1 * x[0] - 0.9 * x[1]
            + 0.8 * x[2] * x[3]
            + 0.6 * (x[4] * x[4] - 1.0)
            + 0.7 * x[5].abs()
            + [0.3, 0.0, -0.3, 0.6][kind];
        let eta = sigmoid(intercept + score);
        columns.push(stream, (&x, &[kind], &[old]), (eta, None));
    }
    columns.finish()
}

/// The intercepts that make 35 % and 3 % positive.
const CURVED: f64 = -1.6;
const RARE: f64 = -5.75;

/// People of two attributes that go together, in five regions. Labels depend on merit, of which six numbers tell
/// something, and on the groups; in the smallest region the numbers tell less.
fn groups(stream: &mut Stream, n: usize) -> Result<Drawn> {
    let mut columns = Columns::new(names("score", 6).chain(["weight".to_owned()]))
        .with_category("sex", &["female", "male"])
        .with_category("age", &["young", "middle", "old"])
        .with_category("region", &["north", "south", "east", "west", "isles"]);
    for _ in 0..n {
        let sex = one_of(stream, &[0.45, 0.55]);
        let age = one_of(stream, [&[0.38, 0.47, 0.15], &[0.24, 0.52, 0.24]][sex]);
        let region = one_of(stream, &[0.4, 0.3, 0.18, 0.1, 0.02]);
        let merit = normal(stream);
        let told = if region == 4 { 0.5 } else { 1.0 };
        let mut numbers: Vec<f64> = (0..6)
            .map(|at| told * merit + 0.3 * sex as f64 + (0.8 + 0.2 * at as f64) * normal(stream))
            .collect();
        // Rows of a survey that asked some kinds of people more often than others.
        let asked = [1.0, 1.0, 1.2, 0.5, 0.4][region] * if numbers[0] > 0.0 { 1.4 } else { 0.7 };
        numbers.push(asked * (0.5 * normal(stream) - 0.125).exp());
        let eta = sigmoid(
            -0.75
                + 1.4 * merit
                + 0.5 * sex as f64
                + [-0.5, 0.1, 0.3][age]
                + [0.0, 0.1, -0.1, -0.3, -0.4][region],
        );
        columns.push(stream, (&numbers, &[sex, age, region], &[]), (eta, None));
    }
    // η of what a model can see would need an integral over merit; given merit, it is as right for all rates.
    columns.finish()
}

/// How far apart the means of [`Population::Gaussians`] are, and the share of positives.
pub const APART: f64 = 1.5;
/// See [`APART`].
pub const POSITIVE: f64 = 0.4;

/// x ~ N(0, I) for negative rows and N(m, I) for positive ones, with m = (½, ½, ½, ½)·1.5.
///
/// A model that decides positive where ⟨w, x⟩ > b has recall Φ((⟨w, m⟩ − b)/|w|) and false positive rate
/// Φ(−b/|w|).
fn gaussians(stream: &mut Stream, n: usize) -> Result<Drawn> {
    let mut columns = Columns::new(names("x", 4));
    for _ in 0..n {
        let label = stream.unit() < POSITIVE;
        let shift = if label { APART / 2.0 } else { 0.0 };
        let x = [(); 4].map(|()| normal(stream) + shift);
        let along = x.iter().sum::<f64>() / 2.0;
        let prior = (POSITIVE / (1.0 - POSITIVE)).ln();
        let eta = sigmoid(prior + APART * along - APART * APART / 2.0);
        columns.push(stream, (&x, &[], &[]), (eta, Some(label)));
    }
    columns.finish()
}

/// Many rare categories, each with an effect of its own on the label: what learns from a value's label in the rows that
/// judge shows itself here.
fn categories(stream: &mut Stream, n: usize) -> Result<Drawn> {
    // The effects belong to the population: every draw has the same.
    let mut fixed = Stream::new(0, "promise, effects of categories");
    let sizes = [(2000, 0.9), (300, 0.7), (40, 0.5)];
    let effects =
        sizes.map(|(values, size)| (0..values).map(|_| size * normal(&mut fixed)).collect());
    let [place, job, device]: [Vec<f64>; 3] = effects;
    let mut columns = Columns::new(names("x", 4))
        .with_many("place", place.len())
        .with_many("job", job.len())
        .with_many("device", device.len());
    for _ in 0..n {
        let x = [(); 4].map(|()| normal(stream));
        // Low numbers are common, high ones rare.
        let mut pick = |effects: &[f64], power: i32| {
            (effects.len() as f64 * stream.unit().powi(power)) as usize
        };
        let codes = [pick(&place, 3), pick(&job, 2), pick(&device, 2)];
        let effect = place[codes[0]] + job[codes[1]] + device[codes[2]];
        let eta = sigmoid(-0.9 + effect + 0.7 * x[0] - 0.5 * x[1] + 0.3 * x[2] * x[2]);
        columns.push(stream, (&x, &codes, &[]), (eta, None));
    }
    columns.finish()
}
