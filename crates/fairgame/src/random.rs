//! Randomness as a pure function: the same key gives the same number on every machine, forever.
//!
//! The generator is SplitMix64 (Steele, Lea and Flood 2014): a counter passed through a mixing
//! function that is a bijection of 64 bits. There is no hidden state to carry across threads or
//! restarts, and no library version that could change the stream under a user.

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes 64 bits so that each input bit moves about half of the output bits.
pub fn mix(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// A stream of numbers that depends on its seed and its name alone.
///
/// ```
/// use fairgame::random::Stream;
/// let draw = |seed| Stream::new(seed, "split").below(100);
/// assert_eq!(draw(7), draw(7));
/// ```
#[derive(Debug, Clone)]
pub struct Stream(u64);

impl Stream {
    /// The stream of `seed` for one `purpose`; purposes do not share numbers.
    pub fn new(seed: u64, purpose: &str) -> Self {
        let key = purpose.bytes().fold(mix(seed.wrapping_add(GOLDEN)), |key, byte| {
            mix(key.wrapping_add(GOLDEN) ^ u64::from(byte))
        });
        Stream(key)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// A number in 0..1, a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number in `0..bound`, each equally likely (Lemire's method with rejection).
    ///
    /// `bound` must be above 0; a bound of 0 gives 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        let reject = if bound == 0 { 0 } else { bound.wrapping_neg() % bound };
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            if product as u64 >= reject {
                return (product >> 64) as u64;
            }
        }
    }

    /// Puts `items` in an order drawn uniformly from all orders.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mix_is_splitmix64() {
        // First outputs of the published generator for seed 1234567.
        let mut stream = Stream(1_234_567);
        assert_eq!(stream.bits(), 6_457_827_717_110_365_317);
        assert_eq!(stream.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn below_is_uniform() {
        let mut stream = Stream::new(1, "test");
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1;
        }
        // Each count has mean 10,000 and standard deviation 93.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 500), "{counts:?}");
    }
}
