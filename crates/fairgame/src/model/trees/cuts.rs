//! Where a number's bins end.

/// Cut points between at most `most` bins of these values, which are sorted in place.
///
/// With few distinct values, each has a bin. With more, bins hold about equally many rows, and a value that
/// alone fills a bin has one of its own. A cut lies midway between the neighbouring values: a bin holds the
/// values above the cut before it, up to the cut after it.
pub(super) fn cuts(values: &mut [f32], most: usize) -> Vec<f32> {
    values.sort_unstable_by(f32::total_cmp);
    let distinct: Vec<&[f32]> = values.chunk_by(|a, b| a == b).collect();
    let (mut rows, mut bins) = (values.len(), most);
    let mut held = 0;
    let mut cuts = Vec::new();
    for (at, pair) in distinct.windows(2).enumerate() {
        held += pair[0].len();
        let left = distinct.len() - at;
        // What a bin should hold, of the rows and bins that are left.
        let share = rows.div_ceil(bins);
        let heavy = pair[1].len() >= share && held * 2 >= share;
        if bins > 1 && (left <= bins || held >= share || heavy) {
            cuts.push(midway(pair[0][0], pair[1][0]));
            rows -= held;
            bins -= 1;
            held = 0;
        }
    }
    cuts
}

/// A number from `a` to below `b`, as near to their middle as there is.
fn midway(a: f32, b: f32) -> f32 {
    let middle = (0.5 * (f64::from(a) + f64::from(b))) as f32;
    if middle < b { middle } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn few_values_have_a_bin_each() {
        assert_eq!(cuts(&mut [3.0, 1.0, 1.0, 2.0], 3), [1.5, 2.5]);
        assert_eq!(cuts(&mut [1.0, 1.0], 3), [0.0_f32; 0]);
        assert_eq!(cuts(&mut [], 3), [0.0_f32; 0]);
        let next = 1.0_f32.next_up();
        assert_eq!(cuts(&mut [1.0, next], 3), [1.0]);
    }

    /// Never more bins than allowed, none empty, and none much fuller than the others.
    #[test]
    fn many_values_share_bins_evenly() {
        let mut stream = Stream::new(1, "cuts");
        for most in [2, 3, 10, 255] {
            let mut values: Vec<f32> = (0..10_000).map(|_| stream.unit() as f32).collect();
            values[..2_000].fill(0.25);
            let cuts = cuts(&mut values, most);
            assert!(cuts.len() < most && cuts.is_sorted_by(|a, b| a < b));
            let mut counts = vec![0; cuts.len() + 1];
            for value in &values {
                counts[cuts.partition_point(|cut| cut < value)] += 1;
            }
            assert!(counts.iter().all(|&count| count > 0));
            let alone = counts.iter().filter(|&&count| count >= 2_000).count();
            assert!(most < 10 || alone == 1, "{counts:?}");
        }
    }
}
