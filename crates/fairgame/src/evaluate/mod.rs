//! Rates and constraints of decisions on a dataset, with confidence intervals and verdicts.
//!
//! # What is estimated
//!
//! Row r is an independent draw from a population: what its predicates say of it, its label y_r, its weight
//! w_r, and p_r, the chance that it is decided positive. A hard decision is a chance of 0 or 1; a stochastic
//! classifier draws each row's decision on its own. The population's rate over region R is the expected one,
//! over rows and over draws: E[w·x·1{r ∈ R}] / E[w·1{r ∈ R}], where the outcome x is p for a rate of positive
//! decisions, 1 − p or p for an error, and so on. The dataset's rate averages the p_r themselves, not one draw
//! of decisions, so the noise of the draws is no part of it.
//!
//! Where several rows are of one **unit** (a person, a household), units are the independent draws, and not rows
//! ([`Accumulator::add_by_unit`]). The population's rate is the same quotient, of expected sums over a unit's rows. All
//! that follows then holds with units in place of rows: a unit counts as one row of weight Σ_r w_r whose outcome is
//! the weighted mean of its rows' outcomes. Units of one row are rows.
//!
//! A constraint's loss ℓ_i is a sum of such rates, met where it is at most 0, and a ratio (precision, F1) is
//! cleared of its denominator as it is everywhere in [`rate`](crate::rate).
//!
//! # What is promised
//!
//! At confidence 1 − α, with m constraints, the interval of each loss misses the population's with a
//! probability of about α/m, so all m are right together with 1 − α, however they depend on each other
//! (Bonferroni). A constraint is [met](Verdict::Met) where its whole interval is at most 0: that a violated
//! one is said to be met, or a met one to be violated, is as unlikely. Intervals of rates and of the objective
//! are each at 1 − α alone. `docs/evaluate.md` has what was measured; the private module `interval` has how
//! intervals are made, in short:
//!
//! - of one mean of outcomes in [0, 1]: Clopper and Pearson's, exact for hard decisions without weights;
//!   otherwise with the trials that the variance found stands for (Korn and Graubard 1998), or Wilson's
//!   interval for bounded outcomes where that is wider;
//! - of several: z_r = Σ_k a_k·w_r·1{r ∈ R_k}·(x_kr − μ_k)/W_k is the influence of row r on ℓ = β + Σ_k a_k·μ_k, with
//!   μ_k the mean of x_k over R_k and W_k the weight of R_k. Σ_r z_r² is the variance, with the covariances of
//!   overlapping regions; by unit, it is Σ_u (Σ_{r ∈ u} z_r)². Student's quantile is taken with Welch and Satterthwaite's degrees of freedom, and the
//!   interval is widened by what unseen kinds of rows could have moved ℓ by, so that it never has width 0 where
//!   a group's decisions merely agree.
//!
//! # What it costs
//!
//! Rows that no predicate tells apart are summed once (Σ w, w·p, w·p², w², w²·p, w²·p²), exactly: rows may come in
//! parts and in any order ([`Accumulator`]). By unit, Σ w and Σ w·p are also kept for each unit and class, exactly; what
//! is kept then grows with the number of units. All else is arithmetic on sums over the members of each constraint's
//! groups. A thousand groups cost their members, not a thousand times the rows.
//!
//! # Example
//!
//! ```
//! use fairgame::evaluate::{Decisions, Verdict, evaluate};
//! use fairgame::rate::Problem;
//! use fairgame::table::{ReadOptions, Source, read};
//!
//! let csv = format!("group,hired\n{}{}", "a,yes\n".repeat(10), "b,no\n".repeat(90));
//! let people = read([Source::stream("people.csv", std::io::Cursor::new(csv))], &ReadOptions::default())?;
//! let constraints = ["positive_rate(group == \"a\") <= 0.4"];
//! let (bound, _) = Problem::parse("hired == \"yes\"", "error()", &constraints)?.bind(&people, &[])?;
//!
//! // None of the ten of group a is decided positive: the rate is 0, and at most 1 − 0.025^(1/10) = 0.3085.
//! let decisions = vec![false; 100];
//! let found = evaluate(&bound, &people, None, Decisions::Hard(&decisions), 0.95)?;
//! let rate = found.constraints[0].rates[0].measurement.estimate().unwrap();
//! assert_eq!((rate.value, rate.interval.low), (0.0, 0.0));
//! assert!((rate.interval.high - 0.3085).abs() < 1e-4);
//! assert_eq!(found.verdict, Verdict::Met);
//! # Ok::<(), fairgame::Error>(())
//! ```

mod accumulate;
mod audit;
mod carried;
mod counts;
mod decisions;
mod estimate;
mod exact;
mod gate;
mod groups;
mod interval;
mod loss;
mod moments;
mod quantile;
mod ranking;
mod result;
mod sums;
mod units;
mod verdict;

pub use accumulate::Accumulator;
pub use audit::{Audit, Audited};
pub use decisions::Decisions;
pub(crate) use gate::{Gate, gate_margins, margins};
pub(crate) use groups::confusions;
pub use groups::{
    Auc, Confusion, FOUR_FIFTHS, GroupAudit, GroupResult, GroupingResult, GroupsFound, MOST_GROUPS,
};
pub use interval::{Interval, rows_needed};
pub(crate) use quantile::{normal, normal_tail};
pub use result::{
    ConstraintResult, Estimate, Evaluation, MOST_ROWS, Measurement, ObjectiveResult, RateResult,
};
pub use verdict::{ROUNDING, Verdict};

use crate::rate::{Bound, Partition};
use crate::table::Table;
use crate::{Error, ErrorKind, Result};
use accumulate::add_rows;
use sums::RowSums;
use units::{GatheredUnits, Units};

/// Evaluates decisions on a dataset: an [`Accumulator`] of one table.
///
/// # Errors
/// If there is not one decision a row, or one weight; if a probability is not between 0 and 1, a weight is
/// negative, or `confidence` is below 0.01 or not below 1; or if the table lacks a column of the problem.
pub fn evaluate(
    bound: &Bound,
    table: &Table,
    weights: Option<&[f32]>,
    decisions: Decisions<'_>,
    confidence: f64,
) -> Result<Evaluation> {
    evaluate_by_unit(bound, table, weights, None, decisions, confidence)
}

/// Evaluates decisions on a dataset whose rows are of these units, as [`Accumulator::add_by_unit`] has them.
///
/// # Errors
/// As of [`evaluate`]; or if there is not one unit a row.
pub fn evaluate_by_unit(
    bound: &Bound,
    table: &Table,
    weights: Option<&[f32]>,
    units: Option<&[Option<u64>]>,
    decisions: Decisions<'_>,
    confidence: f64,
) -> Result<Evaluation> {
    check_confidence(confidence)?;
    let mut rows = Accumulator::new(bound);
    rows.add_by_unit(table, weights, units, decisions)?;
    rows.finish(confidence)
}

/// Checks that a confidence is at least 0.01 and below 1.
pub fn check_confidence(confidence: f64) -> Result<()> {
    if (0.01..1.0).contains(&confidence) {
        return Ok(());
    }
    let message = format!("the confidence is {confidence}, which is not between 0.01 and 1");
    Err(Error::new(ErrorKind::Settings, message).help("0.95 is a usual one"))
}

/// Evaluates decisions on rows whose cells are known already; `units` says which unit each row is of.
pub(crate) fn evaluate_cells(
    bound: &Bound,
    (partition, cells): (&Partition, &[u32]),
    weights: Option<&[f32]>,
    units: Option<&[u32]>,
    decisions: Decisions<'_>,
    confidence: f64,
) -> Result<Evaluation> {
    let rows = CellSums::new((partition, cells), weights, units, decisions);
    accumulate::judge(bound, partition.met(), &rows.cells, rows.units.as_ref(), confidence)
}

/// What evaluation needs of rows whose cells are known.
struct CellSums {
    cells: Vec<RowSums>,
    units: Option<GatheredUnits>,
}

impl CellSums {
    fn new(
        (partition, cells): (&Partition, &[u32]),
        weights: Option<&[f32]>,
        units: Option<&[u32]>,
        decisions: Decisions<'_>,
    ) -> Self {
        let mut sums = vec![RowSums::default(); partition.cells()];
        add_rows(&mut sums, cells, weights, decisions);
        let units = units.map(|units| {
            let mut all = Units::default();
            let unit = |unit: &u32| Some(u64::from(*unit));
            all.add(cells, weights, units.iter().map(unit), decisions);
            let same: Vec<u32> = (0..partition.cells() as u32).collect();
            all.gathered(&same, partition.cells())
        });
        CellSums { cells: sums, units }
    }
}
