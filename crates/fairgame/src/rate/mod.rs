//! Rates, the language they are written in, and the losses they become.
//!
//! # The mathematics
//!
//! A model gives row x a score f(x) and decides positive iff f(x) > 0. Every rate is a share of rows,
//! so every linear combination of rates, of an objective or of the i-th constraint ℓ_i ≤ 0, is a
//! constant plus one signed number for each row. Rows that meet the same predicates (label, groups, older
//! decisions) have the same number, so rows are cut into **cells**, and
//!
//! ```text
//! exact   ℓ_i  =  β_i + Σ_c α_i(c) · P(c)            P(c): weight of the rows of c decided positive
//! proxy   ℓ̃_i  =  β_i + Σ_c α_i⁺(c) · A(c) + α_i⁻(c) · (B(c) − W(c))
//! ```
//!
//! with α⁺ = max(0, α), α⁻ = max(0, −α), W(c) the weight of the cell, and A(c), B(c) the sums over its
//! rows of w·h(f) and w·h(−f) for a [`Surrogate`] h. Where h(f) ≥ 1{f > 0} the proxy is an upper bound:
//! a positive number is pushed down through A, a negative one up through B, and 1{f > 0} =
//! 1 − 1{f ≤ 0} ≥ 1 − h(−f). All terms of one constraint are added up before the surrogate is taken,
//! which is what makes the bound tight. Denominators are those of the whole dataset, exact.
//!
//! A [`Tally`] holds W, P, A and B of every cell, and every loss of every constraint is arithmetic on
//! it. The derivative of Σ_i λ_i ℓ̃_i with respect to a row's score is w·(d(c)·h'(f) − u(c)·h'(−f)) with
//! the [`Push`] d(c) = Σ_i λ_i α_i⁺(c), u(c) = Σ_i λ_i α_i⁻(c) of its cell: two numbers, however many
//! constraints there are.
//!
//! # The stages
//!
//! [`Problem::parse`] reads text; [`Problem::bind`] takes what depends on training data (quantiles,
//! the groups of `each`) from the training table and freezes it. A [`PartitionBuilder`] cuts rows into
//! cells, table by table, and its [`Partition`] says which cell any row is in. [`Losses`] come from a
//! partition and the weight of each cell. [`Problem::compile`] does all of this in one pass over each
//! table, and [`Bound::compile`] for one more table. Each is a pure function.

mod bind;
mod classes;
mod compile;
mod each;
mod events;
mod frozen;
mod grid;
pub mod language;
mod linear;
mod lookup;
mod losses;
mod lower;
mod marks;
mod measure;
mod partition;
mod policy;
mod problem;
mod regions;
mod set;
mod sparse;
mod surrogate;
mod survey;
mod tally;
mod trie;
mod unnamed;

pub use bind::{Binding, Bound, BoundConstraint, Weighted};
pub use classes::Classes;
pub use compile::{Compiled, Emptiness, quantised};
pub(crate) use compile::{Counted, Quantiser, RowCounts, check_each_weight, check_total_weight};
pub use frozen::{Frozen, FrozenConstraint};
pub(crate) use grid::{Costs, Grid};
pub(crate) use linear::{Form, GroupRate, WrittenRate};
pub use losses::{LossValues, Losses, Multipliers, Pushes, Side, Sums};
pub(crate) use lower::LABEL;
pub(crate) use measure::Outcome;
pub use partition::{Partition, PartitionBuilder};
pub use policy::{POLICIES, Policy};
pub use problem::{BindNotice, Problem};
pub(crate) use set::Set;
pub use surrogate::Surrogate;
pub(crate) use survey::{Quantiles, Question, Survey};
pub use tally::{Count, Push, Tally, push_scores, tally_scores};
pub use unnamed::{RowNotice, Unnamed};
