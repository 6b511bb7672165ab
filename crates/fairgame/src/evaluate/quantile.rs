//! Quantiles of the normal, Student's t and beta distributions.
//!
//! With B(a, b) the beta function, I_x(a, b) = ∫₀ˣ t^{a−1}(1−t)^{b−1} dt / B(a, b) is computed by its continued
//! fraction (Lentz's method) on the side of the mean where that converges in O(√(a+b)) steps. Quantiles solve
//! ln I_x = ln(tail) by Newton's method in ln x: the logarithm of a tail of a log-concave density is concave,
//! so from its second step on the method comes from one side. Bisection takes over where a step would leave
//! the bracket. The tests hold all three to 1e-9 of values computed to 25 digits.

/// Which tail of a distribution is meant.
#[derive(Clone, Copy, PartialEq)]
enum Tail {
    Lower,
    Upper,
}

/// The number that a standard normal variable exceeds with probability `tail` in (0, 1/2]: Wichura's AS 241.
pub(crate) fn normal(tail: f64) -> f64 {
    let q = 0.5 - tail;
    if q <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * ratio(&CENTRE, r);
    }
    let r = (-tail.ln()).sqrt();
    if r <= 5.0 { ratio(&MIDDLE, r - 1.6) } else { ratio(&FAR, r - 5.0) }
}

/// The probability that a standard normal variable exceeds `z` ≥ 0: where [`normal`] has it, by bisection.
pub(crate) fn normal_tail(z: f64) -> f64 {
    let (mut low, mut high) = (-700.0_f64, 0.5_f64.ln());
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if normal(middle.exp()) > z {
            low = middle;
        } else {
            high = middle;
        }
    }
    (0.5 * (low + high)).exp()
}

/// Two polynomials of degree 7, lowest coefficient first.
type Polynomials = [[f64; 8]; 2];

fn ratio([over, under]: &Polynomials, at: f64) -> f64 {
    let value = |polynomial: &[f64; 8]| polynomial.iter().rev().fold(0.0, |sum, c| sum * at + c);
    value(over) / value(under)
}

#[rustfmt::skip]
const CENTRE: Polynomials = [
    [3.387_132_872_796_366_5, 133.141_667_891_784_38, 1_971.590_950_306_551_3, 13_731.693_765_509_46,
     45_921.953_931_549_87, 67_265.770_927_008_7, 33_430.575_583_588_13, 2_509.080_928_730_122_7],
    [1.0, 42.313_330_701_600_91, 687.187_007_492_057_9, 5_394.196_021_424_751,
     21_213.794_301_586_597, 39_307.895_800_092_71, 28_729.085_735_721_943, 5_226.495_278_852_854],
];
#[rustfmt::skip]
const MIDDLE: Polynomials = [
    [1.423_437_110_749_683_5, 4.630_337_846_156_546, 5.769_497_221_460_691, 3.647_848_324_763_204_5,
     1.270_458_252_452_368_4, 0.241_780_725_177_450_6, 0.022_723_844_989_269_184, 7.745_450_142_783_414e-4],
    [1.0, 2.053_191_626_637_759, 1.676_384_830_183_803_8, 0.689_767_334_985_1,
     0.148_103_976_427_480_08, 0.015_198_666_563_616_457, 5.475_938_084_995_345e-4, 1.050_750_071_644_416_9e-9],
];
#[rustfmt::skip]
const FAR: Polynomials = [
    [6.657_904_643_501_103, 5.463_784_911_164_114, 1.784_826_539_917_291_3, 0.296_560_571_828_504_87,
     0.026_532_189_526_576_124, 0.001_242_660_947_388_078_4, 2.711_555_568_743_487_6e-5, 2.010_334_399_292_288e-7],
    [1.0, 0.599_832_206_555_888, 0.136_929_880_922_735_8, 0.014_875_361_290_850_615,
     7.868_691_311_456_133e-4, 1.846_318_317_510_054_8e-5, 1.421_511_758_316_446e-7, 2.044_263_103_389_939_8e-15],
];

/// The number that Student's t with `freedom` degrees of freedom exceeds with probability `tail` < 1/2.
///
/// P(|T| > t) = 1 − I_y(1/2, freedom/2) with y = t²/(freedom + t²).
pub(super) fn student(freedom: f64, tail: f64) -> f64 {
    if freedom > 1e4 {
        // Its expansion in 1/freedom (Abramowitz and Stegun 26.7.5).
        let z = normal(tail);
        let y = z * z;
        let terms = [
            1.0,
            (y + 1.0) / 4.0,
            ((5.0 * y + 16.0) * y + 3.0) / 96.0,
            (((3.0 * y + 19.0) * y + 17.0) * y - 15.0) / 384.0,
        ];
        return z * terms.iter().rev().fold(0.0, |sum, term| sum / freedom + term);
    }
    let y = solve(0.5, freedom / 2.0, 2.0 * tail, Tail::Upper);
    (freedom * y / (1.0 - y)).sqrt()
}

/// The x below which a beta variable lies with probability `tail`.
pub(super) fn beta(a: f64, b: f64, tail: f64) -> f64 {
    solve(a, b, tail, Tail::Lower)
}

fn solve(a: f64, b: f64, tail: f64, side: Tail) -> f64 {
    let (ln_beta, wanted) = (ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b), tail.ln());
    // In u = ln x. Below −745, x is no longer a number above 0.
    let (mut low, mut high) = (-745.0_f64, 0.0_f64);
    let mut u = (a / (a + b)).ln();
    for _ in 0..200 {
        let x = u.exp();
        let (lower, upper) = tails(a, b, x, ln_beta);
        let (value, sign) = if side == Tail::Lower { (lower, 1.0) } else { (upper, -1.0) };
        let miss = sign * (value.ln() - wanted);
        if miss > 0.0 {
            high = u;
        } else {
            low = u;
        }
        let density = (a * u + (b - 1.0) * (-x).ln_1p() - ln_beta).exp();
        let mut next = u - miss * value / density;
        if !(next > low && next < high) {
            next = 0.5 * (low + high);
        }
        if (next - u).abs() <= 1e-15 * u.abs().max(1e-3) {
            return next.exp();
        }
        u = next;
    }
    u.exp()
}

/// I_x(a, b) and 1 − I_x(a, b), the smaller of them without cancellation.
fn tails(a: f64, b: f64, x: f64, ln_beta: f64) -> (f64, f64) {
    if x >= 1.0 {
        return (1.0, 0.0);
    }
    let front = (a * x.ln() + b * (-x).ln_1p() - ln_beta).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        let lower = front * fraction(a, b, x) / a;
        (lower, 1.0 - lower)
    } else {
        let upper = front * fraction(b, a, 1.0 - x) / b;
        (1.0 - upper, upper)
    }
}

/// The continued fraction of the incomplete beta function.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let away = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for step in 1..100_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            change = c * d;
            value *= change;
        }
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

/// ln Γ(x) for x > 0: Stirling's series from 15 on, the recurrence below.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < 15.0 {
        product *= x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0];
    let tail = series.iter().rev().fold(0.0, |sum, c| sum * square + c) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + tail - product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, wanted: f64) {
        let apart = (found - wanted).abs();
        assert!(apart <= 1e-9 * wanted.abs(), "{found} is not {wanted}");
    }

    #[test]
    fn normal_quantiles() {
        assert_eq!(normal(0.5), 0.0);
        near(normal(0.4), 0.253_347_103_135_799_8);
        near(normal(0.025), 1.959_963_984_540_054_2);
        near(normal(0.005), 2.575_829_303_548_901);
        near(normal(1e-5), 4.264_890_793_922_825);
        near(normal(1e-10), 6.361_340_902_404_056);
        // Past AS 241's last change of polynomials, at exp(−25).
        near(normal(1e-12), 7.034_483_825_301_131);
    }

    #[test]
    fn student_quantiles() {
        near(student(1.0, 0.025), 12.706_204_736_174_705);
        near(student(2.0, 0.025), 4.302_652_729_749_464);
        near(student(4.5, 0.005), 4.272_823_993_011_293);
        near(student(9.0, 0.025), 2.262_157_162_798_205_5);
        near(student(30.0, 0.05), 1.697_260_886_593_957_8);
        near(student(199.0, 0.0005), 3.340_086_556_161_431);
        near(student(1.3, 0.00005), 900.916_252_448_612_5);
        near(student(10_000.0, 0.025), 1.960_201_239_890_626_3);
        // Where the expansion takes over, both ways agree.
        near(student(10_000.000_001, 0.025), 1.960_201_239_890_626_3);
        near(student(10_000.000_001, 1e-6), student(10_000.0, 1e-6));
    }

    #[test]
    fn beta_quantiles() {
        near(beta(1.0, 10.0, 0.025), 0.002_528_578_544_461_784_6);
        near(beta(3.0, 8.0, 0.025), 0.066_739_511_177_734_47);
        near(beta(4.0, 7.0, 0.025), 0.121_552_258_119_827_19);
        near(beta(0.5, 0.5, 0.1), 0.024_471_741_852_423_217);
        near(beta(2.5, 300.0, 0.001), 0.000_349_420_445_163_240_7);
        near(beta(1000.0, 20.0, 0.005), 0.967_470_617_348_024_7);
        near(beta(0.05, 3.0, 0.3), 8.019_768_003_607_476e-12);
        near(beta(50_000.0, 50_001.0, 0.025), 0.496_896_062_491_800_4);
        near(beta(300.0, 100_000.0, 0.001), 0.002_486_298_454_497_255_3);
        // I_x(1, b) = 1 − (1 − x)^b, and a million rows take no longer than it takes to look.
        near(beta(1.0, 1e6, 0.025), -(0.975_f64.ln() / 1e6).exp_m1());
    }
}
