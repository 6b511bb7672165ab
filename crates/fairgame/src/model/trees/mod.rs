//! Boosted trees: histogram gradient boosting of the logistic loss.
//!
//! A forest gives a row the log-odds f(x) = base + Σ_t leaf_t(x). Boosting adds one tree after the other, each grown on
//! the gradients g and hessians h of the loss at the scores so far: a leaf's value is −rate · Σg / (Σh + λ).
//!
//! | file | what |
//! |---|---|
//! | `spec` | the settings |
//! | `bins`, `cuts` | features to codes of one byte |
//! | `gradient` | gradients as integers, so that sums are exact |
//! | `histogram` | sums for each column and code |
//! | `split` | the best split of a node |
//! | `grow` | one tree |
//! | `field` | the rows that trees grow on |
//! | `asked` | rows that are elsewhere |
//! | `boost` | all trees, sampling, early stopping |
//! | `forest`, `flat`, `arrays` | the result, its scores and its file |
//!
//! The same rows, settings and seed give the same bits, for any number of threads and in whatever order rows are named.
//! Without sampling of rows, the order in which they lie does not matter either.

mod arrays;
mod asked;
mod bins;
mod boost;
mod cuts;
mod field;
mod flat;
mod forest;
mod gradient;
mod grow;
mod histogram;
mod spec;
mod split;
#[cfg(test)]
mod tests;

pub(crate) use asked::{Answer, Holder, Question, boost_elsewhere};
pub(crate) use bins::TreeColumn;
pub use bins::{Binned, Bins};
pub use boost::{Lesson, boost};
pub(crate) use forest::Branch;
pub use forest::Forest;
pub use spec::{Growth, TreesSpec};
