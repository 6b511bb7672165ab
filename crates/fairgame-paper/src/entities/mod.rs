//! A stand-in for the paper's business entity resolution data, which are Google's own.
//!
//! Invented businesses of sixteen countries are listed by sources that abbreviate, misspell, transliterate
//! and leave out, each country in its own way ([`Record`]). Two listings make a [`Pair`]: of one business,
//! which may have moved or changed its name in between, or of two that are easily taken for one, such as
//! branches of a chain. A person's word on whether they are the same is the label. What a model sees are 37
//! similarities of the two listings' texts ([`Matcher`]).
//!
//! Sizes, constraints and the number of features are the paper's; the rest is not, so that results on these
//! data can be compared with the paper's in kind only. `docs/entities.md` says more.

mod corrupt;
mod countries;
mod country;
mod draw;
mod features;
mod languages;
mod listing;
mod pairs;
mod record;
mod script;
mod similarity;
mod training;
mod world;

pub use features::{FEATURES, Matcher, WIDTH};
pub use pairs::{Case, Pair, Part, countries, pairs};
pub use record::Record;
pub use similarity::fold;
pub use training::{STEP, TURNS, model, spec};

use fairgame::table::{Category, Column, Table, Values};
use fairgame::{Error, ErrorKind, Result};

/// Pairs for training in the paper's table of datasets.
pub const TRAIN: usize = 11_560;

/// Pairs for testing in the paper's table of datasets.
pub const TEST: usize = 3_856;

/// Pairs of listings as tables of their similarities.
#[derive(Debug, Clone)]
pub struct Entities {
    /// To learn from.
    pub train: Table,
    /// To test on.
    pub test: Table,
}

/// As many pairs as the paper has, drawn by the seed: the same on every machine.
pub fn generate(seed: u64) -> Result<Entities> {
    generate_sized(seed, TRAIN, TEST)
}

/// So many pairs for training and for testing.
///
/// The columns are [`FEATURES`], `country`, `chain` and `same`, the label of the policy `@entities`.
///
/// ```
/// let data = fairgame_paper::entities::generate_sized(1, 400, 200)?;
/// assert_eq!((data.train.rows(), data.test.rows()), (400, 200));
/// assert_eq!(data.train.columns().len(), 37 + 3);
/// # Ok::<(), fairgame::Error>(())
/// ```
///
/// # Errors
/// If there are fewer than 100 of either: some of the 16 countries would have next to none.
pub fn generate_sized(seed: u64, train: usize, test: usize) -> Result<Entities> {
    const LEAST: usize = 100;
    if train < LEAST || test < LEAST {
        let message = format!("{train} training and {test} test pairs cannot be of 16 countries");
        return Err(Error::new(ErrorKind::Settings, message).help("ask for 100 or more of each"));
    }
    let matcher = Matcher::new();
    Ok(Entities {
        train: table(&pairs(seed, Part::Train, train), &matcher)?,
        test: table(&pairs(seed, Part::Test, test), &matcher)?,
    })
}

/// Pairs as a table of their features, their groups and their labels.
pub fn table(pairs: &[Pair], matcher: &Matcher) -> Result<Table> {
    let rows: Vec<[f64; WIDTH]> =
        pairs.iter().map(|pair| matcher.features(&pair.left, &pair.right)).collect();
    let number = |index: usize| Values::Number(rows.iter().map(|row| row[index]).collect());
    let features = FEATURES.iter().enumerate().map(|(k, &name)| Column::new(name, number(k)));
    let mut columns: Vec<Column> = features.collect();
    let countries = pairs.iter().map(|pair| Some(pair.country));
    let truths =
        |of: fn(&Pair) -> bool| Values::Boolean(pairs.iter().map(|p| Some(of(p))).collect());
    columns.push(Column::new("country", Values::Category(Category::from_texts(countries))));
    columns.push(Column::new("chain", truths(|pair| pair.chain)));
    columns.push(Column::new("same", truths(|pair| pair.same)));
    Table::new(columns)
}
