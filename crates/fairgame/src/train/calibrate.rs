//! Calibration of log-odds on rows that they were not fitted on.
//!
//! P = 1 / (1 + exp(−(a·f + b))), with a and b the minimisers of
//!
//! ```text
//! Σ_r w_r·log(1 + exp(−s_r·(a·f_r + b))) + ½·K·V·(a − 1)² + ½·K·b²/4,   s_r = ±1 the target of row r,
//! ```
//!
//! (Platt 1999), where V is the variance of f. The last two terms hold the calibration at a = 1, b = 0 as firmly as about
//! K rows would: with few rows set aside, what they say of it is mostly noise.

/// K.
const PRIOR: f64 = 50.0;

/// a and b for rows of a score, a target and a weight each.
pub(super) fn calibrate(rows: &[(f32, f32, f32)]) -> (f64, f64) {
    minimise(rows, 0.0)
}

/// The minimisers, where b is held at `middle` rather than at 0.
fn minimise(rows: &[(f32, f32, f32)], middle: f64) -> (f64, f64) {
    let total: f64 = rows.iter().map(|row| f64::from(row.2)).sum();
    if rows.len() < 20 || total <= 0.0 {
        return (1.0, middle);
    }
    // As if each row had weight 1 on average.
    let unit = rows.len() as f64 / total;
    let weight = |row: &(f32, f32, f32)| unit * f64::from(row.2);
    let count = rows.len() as f64;
    let mean = rows.iter().map(|row| weight(row) * f64::from(row.0)).sum::<f64>() / count;
    let spread = |row: &(f32, f32, f32)| weight(row) * (f64::from(row.0) - mean).powi(2);
    let variance = rows.iter().map(spread).sum::<f64>() / count;
    let (firm_a, firm_b) = (0.25 * PRIOR * variance.max(1e-6), 0.25 * PRIOR);
    let (mut a, mut b) = (1.0, middle);
    for _ in 0..50 {
        let (mut ga, mut gb) = (firm_a * (a - 1.0), firm_b * (b - middle));
        let (mut haa, mut hab, mut hbb) = (firm_a, 0.0, firm_b);
        for row in rows {
            let f = f64::from(row.0);
            let p = 1.0 / (1.0 + (-(a * f + b)).exp());
            let (slope, bend) = (weight(row) * (p - f64::from(row.1)), weight(row) * p * (1.0 - p));
            ga += slope * f;
            gb += slope;
            haa += bend * f * f;
            hab += bend * f;
            hbb += bend;
        }
        let determinant = haa * hbb - hab * hab;
        let (da, db) = ((hbb * ga - hab * gb) / determinant, (haa * gb - hab * ga) / determinant);
        if !(da.is_finite() && db.is_finite()) {
            return (1.0, middle);
        }
        // Far from the minimum a whole step may go too far.
        let shorter = (1.0 / da.abs().max(db.abs())).min(1.0);
        (a, b) = (a - shorter * da, b - shorter * db);
        if da.abs().max(db.abs()) < 1e-10 {
            break;
        }
    }
    // A slope below 0 would turn the order of rows around.
    if a > 0.05 { (a, b) } else { (1.0, middle) }
}

/// The same for scores that may be log-odds in name only, such as distances from a plane in the units of a column.
///
/// Log-odds of mean μ and standard deviation σ tell rows with a share s of positives apart if, about, μ = c·log(s / (1 − s))
/// with c² = 1 + πσ²/8. Scores that are far from that, or whose spread no log-odds would have, are first centred, and
/// brought to a standard deviation of 2 where theirs is not plausible; b is then held at the μ of log-odds.
pub(super) fn calibrate_any(mut rows: Vec<(f32, f32, f32)>) -> (f64, f64) {
    /// How far log-odds that need calibration may be from where they should be.
    const NEAR: f64 = 1.5;
    let total: f64 = rows.iter().map(|row| f64::from(row.2)).sum();
    let average = |of: &dyn Fn(&(f32, f32, f32)) -> f64| {
        rows.iter().map(|row| f64::from(row.2) * of(row)).sum::<f64>() / total
    };
    let mean = average(&|row| f64::from(row.0));
    let spread = average(&|row| (f64::from(row.0) - mean).powi(2)).sqrt();
    let share = average(&|row| f64::from(row.1)).clamp(1e-6, 1.0 - 1e-6);
    let middle = |spread: f64| {
        let widened = (1.0 + std::f64::consts::PI * spread * spread / 8.0).sqrt();
        widened * (share / (1.0 - share)).ln()
    };
    let sound = mean.is_finite() && spread.is_finite() && spread > 0.0;
    let plausible = (0.25..=4.0).contains(&spread);
    if !sound || (plausible && (mean - middle(spread)).abs() <= NEAR) {
        return calibrate(&rows);
    }
    let unit = if plausible { 1.0 } else { 2.0 / spread };
    let middle = middle(unit * spread);
    rows.iter_mut().for_each(|row| row.0 = ((f64::from(row.0) - mean) * unit) as f32);
    let (slope, shift) = minimise(&rows, middle);
    (slope * unit, shift - slope * unit * mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// Log-odds that are twice too large and shifted are put right; few rows say little.
    #[test]
    fn finds_slope_and_shift() {
        let mut stream = Stream::new(1, "calibrate");
        let mut draw = |count: usize| -> Vec<(f32, f32, f32)> {
            let row = |_| {
                let truth = 4.0 * stream.unit() - 2.0;
                let p = 1.0 / (1.0 + (-truth).exp());
                (2.0 * truth as f32 + 1.0, f32::from(u8::from(stream.unit() < p)), 1.0)
            };
            (0..count).map(row).collect()
        };
        let (a, b) = calibrate(&draw(40_000));
        assert!((a - 0.5).abs() < 0.03 && (b + 0.5).abs() < 0.06, "{a} {b}");
        let (a, _) = calibrate(&draw(10));
        assert_eq!(a, 1.0);
        // Scores in any unit end at the same probabilities.
        let rows = draw(4_000);
        let (a, b) = calibrate_any(rows.clone());
        let large: Vec<_> = rows.iter().map(|row| (1000.0 * row.0, row.1, row.2)).collect();
        let (large_a, large_b) = calibrate_any(large);
        assert!(
            (1000.0 * large_a - a).abs() < 0.03 && (large_b - b).abs() < 0.1,
            "{large_a} {large_b}"
        );
        // And so do scores with any offset.
        for offset in [-1000.0, -20.0, -5.0, 5.0, 20.0, 1000.0] {
            for unit in [1.0, 30.0] {
                let moved = |row: &(f32, f32, f32)| (unit * row.0 + offset, row.1, row.2);
                let moved: Vec<_> = rows.iter().map(moved).collect();
                let (moved_a, moved_b) = calibrate_any(moved);
                let (unit, offset) = (f64::from(unit), f64::from(offset));
                let (slope, shift) = (unit * moved_a, moved_b + moved_a * offset);
                assert!(
                    (slope - a).abs() < 0.03 && (shift - b).abs() < 0.1,
                    "{offset}, {unit}: {slope} and {a}, {shift} and {b}"
                );
            }
        }
        // Weights count as rows.
        let rows = draw(500);
        let double: Vec<_> = rows.iter().map(|row| (row.0, row.1, 2.0)).collect();
        assert_eq!(calibrate(&rows), calibrate(&double));
    }
}
