//! The paper's simulated data, made to be overfitted.
//!
//! n points z_i and n centres w_j are drawn from two Gaussians of unit covariance in the plane, each with
//! the same chance. The label of z_i says which of the two it is from, and its features are
//!
//! ```text
//! x_ij = exp(−‖z_i − w_j‖² / (2σ²)),   j = 1 … n
//! ```
//!
//! The paper does not say how far apart the Gaussians are. At 2.5 the best classifier is wrong on 10.6 % of
//! the points, and on 14.9 % with a recall of 97 %.

use crate::random::Stream;
use crate::table::{Column, Table, Values, split};
use crate::{Error, ErrorKind, Result};

/// How far apart the means are.
const APART: f64 = 2.5;

/// [`simulated_points`] in random thirds: for training, validation and testing.
///
/// ```
/// let [train, val, test] = fairgame::preset::simulated(300, 0.5, 1)?;
/// assert_eq!((train.rows(), val.rows(), test.rows()), (100, 100, 100));
/// assert_eq!(train.columns().len(), 301);
/// # Ok::<(), fairgame::Error>(())
/// ```
pub fn simulated(points: usize, sigma: f64, seed: u64) -> Result<[Table; 3]> {
    let table = simulated_points(points, sigma, seed)?;
    let third = 1.0 / 3.0;
    let parts = split::by_fraction(points, &[third, third, third], seed, None)?;
    Ok([table.take(&parts[0]), table.take(&parts[1]), table.take(&parts[2])])
}

/// `points` points with as many features `x0`, `x1`, … and their `label`. The paper has 1,000 points, and σ from
/// 0 to 1.
pub fn simulated_points(points: usize, sigma: f64, seed: u64) -> Result<Table> {
    if points < 3 || !(sigma > 0.0 && sigma.is_finite()) {
        let message =
            format!("no data can be simulated with {points} points and a sigma of {sigma}");
        return Err(Error::new(ErrorKind::Settings, message)
            .help("give at least three points, and a sigma above 0"));
    }
    let mut stream = Stream::new(seed, "simulated");
    let drawn: Vec<_> = (0..points).map(|_| draw(&mut stream)).collect();
    let centres: Vec<_> = (0..points).map(|_| draw(&mut stream)).collect();
    let mut columns: Vec<Column> = Vec::with_capacity(points + 1);
    for (j, centre) in centres.iter().enumerate() {
        let feature = |point: &Point| {
            let square = (point.x - centre.x).powi(2) + (point.y - centre.y).powi(2);
            (-square / (2.0 * sigma * sigma)).exp()
        };
        columns.push(Column::new(
            format!("x{j}"),
            Values::Number(drawn.iter().map(feature).collect()),
        ));
    }
    let labels = drawn.iter().map(|point| Some(point.positive)).collect();
    columns.push(Column::new("label", Values::Boolean(labels)));
    Table::new(columns)
}

struct Point {
    x: f64,
    y: f64,
    positive: bool,
}

fn draw(stream: &mut Stream) -> Point {
    let positive = stream.unit() < 0.5;
    // Box and Muller's two normal numbers from two uniform ones.
    let length = (-2.0 * (1.0 - stream.unit()).ln()).sqrt();
    let (y, x) = (std::f64::consts::TAU * stream.unit()).sin_cos();
    Point { x: length * x + if positive { APART } else { 0.0 }, y: length * y, positive }
}
