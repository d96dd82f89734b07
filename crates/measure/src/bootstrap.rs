//! Confidence intervals from the rounds of a measurement, by the bootstrap.
//!
//! The samples of one round are not independent: they share a process, a core and the load of the
//! machine. Rounds are far more independent. So the bootstrap resamples rounds with replacement, as
//! many as there were, and never samples (B. Efron, 1979).
//!
//! For few values, a plain percentile interval is too narrow: from 7 rounds, the nominal 95 %
//! interval contains the true median in 87.5 % of all cases. This module uses the expanded
//! percentile
//! interval (T. Hesterberg, "What Teachers Should Know about the Bootstrap", 2014). Its tails are
//! smaller by the ratio of a Student t distribution with n − 1 degrees of freedom to a normal
//! distribution, times √(n / (n − 1)). From 7 rounds, the interval then is the range of all values,
//! which contains the median in 98.4 % of all cases.

/// The number of resamples. For 7 rounds, a dozen draws are beyond each end of an interval.
pub(crate) const RESAMPLES: usize = 2_000;

/// A constant seed, so the same rounds always give the same interval.
const SEED: u64 = 0x4861_6972_7069_6E00;

/// The tail of a plain percentile interval at each end, as a fraction of the draws.
pub(crate) const PLAIN_TAIL: f64 = 0.025;

/// The tail of an expanded interval at each end, in millionths of the draws, for 2, 3, … rounds:
/// Φ(−√(n / (n − 1)) t), where t is the 97.5th percentile of Student's distribution with n − 1
/// degrees of freedom.
const TAILS: [u32; 29] = [
    0, 0, 119, 954, 2_432, 4_109, 5_738, 7_225, 8_551, 9_722, 10_757, 11_671, 12_483, 13_207,
    13_856, 14_439, 14_966, 15_445, 15_881, 16_280, 16_646, 16_983, 17_294, 17_582, 17_850, 18_099,
    18_332, 18_550, 18_754,
];

/// A statistic over rounds: [`median`] or [`quiet`]. It sorts its values.
pub(crate) type OverRounds = fn(&mut [f64]) -> f64;

/// A random generator with the same numbers in every run: SplitMix64 (Steele, Lea and Flood, 2014).
#[derive(Debug, Clone)]
pub(crate) struct Draws(u64);

impl Draws {
    pub(crate) const fn new() -> Self {
        Self(SEED)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Draws pairs of `a` and `b` with replacement. Returns the median of `b` divided by that of
    /// `a`. Both must have the same length.
    pub(crate) fn ratio(&mut self, a: &[f64], b: &[f64], drawn: &mut [Vec<f64>; 2]) -> f64 {
        drawn.iter_mut().for_each(Vec::clear);
        for _ in a {
            let index = self.index(a.len());
            drawn[0].push(a[index]);
            drawn[1].push(b[index]);
        }
        let [a, b] = drawn;
        median(b) / median(a)
    }

    /// Returns a random index below `count`, which is not zero.
    fn index(&mut self, count: usize) -> usize {
        ((u128::from(self.next()) * count as u128) >> 64) as usize
    }

    /// Draws `values` with replacement into `drawn`. Returns their statistic.
    pub(crate) fn figure(
        &mut self,
        over_rounds: OverRounds,
        values: &[f64],
        drawn: &mut Vec<f64>,
    ) -> f64 {
        drawn.clear();
        drawn.extend((0..values.len()).map(|_| values[self.index(values.len())]));
        over_rounds(drawn)
    }
}

/// Sorts the values and returns their median, for an even number the mean of the two middle values.
/// Returns NaN without values.
#[must_use]
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let (lower, upper) = ((values.len().max(1) - 1) / 2, values.len() / 2);
    match (values.get(lower), values.get(upper)) {
        (Some(&lower), Some(&upper)) if lower == upper => lower,
        (Some(lower), Some(upper)) => lower.midpoint(*upper),
        _ => f64::NAN,
    }
}

/// The fraction of the rounds below the quiet figure.
const QUIETER: f64 = 0.1;

/// Sorts the values and returns the figure of the quiet rounds: the lower decile. For up to seven
/// rounds this is the minimum. Returns NaN without values.
///
/// A disturbance makes a round slower and hardly ever faster, and the number of disturbed rounds
/// varies between runs. This moves the median far, but the lower decile only when nine of ten
/// rounds are disturbed. The interpolation is unbiased for few and many rounds (R. Hyndman and Y.
/// Fan, "Sample Quantiles in Statistical Packages", 1996, definition 8).
#[must_use]
pub(crate) fn quiet(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else { return f64::NAN };
    let third = 1.0 / 3.0;
    let rank = ((values.len() as f64 + third) * QUIETER + third - 1.0).clamp(0.0, last as f64);
    let (lower, upper) = (values[rank as usize], values[last.min(rank as usize + 1)]);
    lower + (upper - lower) * rank.fract()
}

/// Returns the 95 % interval of the difference of two medians over rounds, the first minus the
/// second; `None` with fewer than two rounds.
///
/// The two figures of a pair are of consecutive rounds and are drawn together, so a slowdown of
/// both does not count as a difference.
#[must_use]
pub fn difference_of_medians(pairs: &[[f64; 2]]) -> Option<[f64; 2]> {
    if pairs.len() < 2 {
        return None;
    }
    let mut draws = Draws::new();
    let mut drawn = [(); 2].map(|()| Vec::with_capacity(pairs.len()));
    let draw = || {
        drawn.iter_mut().for_each(Vec::clear);
        for _ in pairs {
            let pair = pairs[draws.index(pairs.len())];
            drawn.iter_mut().zip(pair).for_each(|(drawn, figure)| drawn.push(figure));
        }
        let [first, second] = drawn.each_mut().map(|drawn| median(drawn));
        first - second
    };
    Some(interval(tail(pairs.len()), draw))
}

/// Returns the interval between the tails of the draws. Each call of `draw` returns the value of
/// another resample.
pub(crate) fn interval(tail: f64, draw: impl FnMut() -> f64) -> [f64; 2] {
    let mut draws: Vec<f64> = std::iter::repeat_with(draw).take(RESAMPLES).collect();
    draws.sort_unstable_by(f64::total_cmp);
    let cut = (tail * RESAMPLES as f64) as usize;
    [draws[cut], draws[RESAMPLES - 1 - cut]]
}

/// Returns the tail of the expanded interval at each end, as a fraction of the draws.
pub(crate) fn tail(rounds: usize) -> f64 {
    let last = TAILS[TAILS.len() - 1];
    let millionths = TAILS.get(rounds.saturating_sub(2)).copied().unwrap_or(last);
    f64::from(millionths) / 1e6
}

/// Returns the median of these values and the ends of its interval.
pub(crate) fn median_with_interval(values: &[f64]) -> [f64; 3] {
    let (mut draws, mut drawn) = (Draws::new(), Vec::with_capacity(values.len()));
    let [low, high] = interval(tail(values.len()), || draws.figure(median, values, &mut drawn));
    drawn.clear();
    drawn.extend(values);
    [median(&mut drawn), low, high]
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNS: u32 = 400;

    /// Draws `count` values of a distribution whose true median is zero.
    fn values(count: usize, draws: &mut Draws, quantile: fn(f64) -> f64) -> Vec<f64> {
        let uniform = |draws: &mut Draws| (draws.next() >> 11) as f64 / (1_u64 << 53) as f64;
        (0..count).map(|_| quantile(uniform(draws))).collect()
    }

    /// Returns the fraction of runs whose interval contains the true median.
    fn coverage(rounds: usize, quantile: fn(f64) -> f64) -> f64 {
        let mut draws = Draws(rounds as u64);
        let covered = (0..RUNS).filter(|_| {
            let [_, low, high] = median_with_interval(&values(rounds, &mut draws, quantile));
            low <= 0.0 && high >= 0.0
        });
        covered.count() as f64 / f64::from(RUNS)
    }

    /// The coverage of an interval between two order statistics is known exactly for any
    /// distribution. The tolerance of 4 % is more than 2.4 standard deviations for 4 rounds and 4
    /// for the others.
    #[test]
    fn intervals_have_their_nominal_coverage() {
        let skewed: fn(f64) -> f64 = |uniform| uniform.powi(8) - 0.5_f64.powi(8);
        let even: fn(f64) -> f64 = |uniform| uniform - 0.5;
        for (rounds, exact, quantile) in [(4, 0.875, even), (7, 0.984, skewed), (15, 0.965, even)] {
            let found = coverage(rounds, quantile);
            assert!((found - exact).abs() < 0.04, "{rounds}: {found}, not {exact}");
        }
    }

    #[test]
    fn common_drift_of_pairs_is_no_difference() {
        let pairs: Vec<[f64; 2]> =
            (0..7).map(|round| f64::from(round * 100)).map(|ns| [ns + 30.0, ns]).collect();
        assert_eq!(difference_of_medians(&pairs), Some([30.0, 30.0]));
        // The same figures in other pairs.
        let mixed: Vec<[f64; 2]> =
            (0..7).map(|at| [pairs[at][0], pairs[(at * 3) % 7][1]]).collect();
        let [low, high] = difference_of_medians(&mixed).unwrap();
        assert!(low < -100.0 && high > 100.0, "{low}, {high}");
        assert_eq!(difference_of_medians(&pairs[..1]), None);
    }

    #[test]
    fn interval_of_a_difference_contains_the_true_value() {
        let mut draws = Draws(7);
        let covered = (0..500).filter(|_| {
            let [a, b] = [(); 2].map(|()| values(15, &mut draws, |uniform| uniform - 0.5));
            let pairs: Vec<[f64; 2]> = a.iter().zip(&b).map(|(a, b)| [a + 0.2, *b]).collect();
            let [low, high] = difference_of_medians(&pairs).unwrap();
            (low..=high).contains(&0.2)
        });
        let covered = covered.count();
        assert!(covered >= 465, "{covered} of 500");
    }

    /// Returns the probability that the median of a resample is at most the k-th of an odd number
    /// of values.
    fn exact(count: i32, k: i32) -> f64 {
        let p = f64::from(k) / f64::from(count);
        let choose =
            |j: i32| (0..j).map(|i| f64::from(count - i) / f64::from(i + 1)).product::<f64>();
        let chance = |j: i32| choose(j) * p.powi(j) * (1.0 - p).powi(count - j);
        (count / 2 + 1..=count).map(chance).sum()
    }

    #[test]
    fn resampled_medians_have_the_exact_distribution() {
        for count in [5, 7, 15] {
            let values: Vec<f64> = (1..=count).map(f64::from).collect();
            let (mut draws, mut drawn) = (Draws::new(), Vec::new());
            let mut draw = || draws.figure(median, &values, &mut drawn);
            let medians: Vec<f64> = (0..5_000).map(|_| draw()).collect();
            for k in 1..=count {
                let at_most = medians.iter().filter(|&&it| it <= f64::from(k)).count();
                let part = at_most as f64 / 5_000.0;
                assert!((part - exact(count, k)).abs() < 0.03, "{count}, {k}: {part}");
            }
        }
    }

    /// Integrates the density of Student's distribution numerically, independently of the table.
    #[test]
    fn tails_match_student() {
        let gamma = |halves: u32| {
            let start = if halves.is_multiple_of(2) { 1.0 } else { std::f64::consts::PI.sqrt() };
            let from = if halves.is_multiple_of(2) { 2 } else { 1 };
            (from..halves).step_by(2).map(|it| f64::from(it) / 2.0).product::<f64>() * start
        };
        // The upper tail of Student's distribution: with x = √v tan a, the density is a power of
        // cos a.
        let beyond = |t: f64, freedom: u32| {
            let (from, steps) = ((t / f64::from(freedom).sqrt()).atan(), 4_000);
            let step = (std::f64::consts::FRAC_PI_2 - from) / f64::from(steps);
            let at = |index: i32| {
                (from + (f64::from(index) + 0.5) * step).cos().powi(freedom as i32 - 1)
            };
            let scale = gamma(freedom + 1) / gamma(freedom) / std::f64::consts::PI.sqrt();
            (0..steps).map(at).sum::<f64>() * step * scale
        };
        // The upper tail of the normal distribution.
        let normal = |z: f64| {
            let (steps, reach) = (20_000, 12.0);
            let step = (reach - z) / f64::from(steps);
            let at = |index: i32| (-(z + (f64::from(index) + 0.5) * step).powi(2) / 2.0).exp();
            (0..steps).map(at).sum::<f64>() * step / (2.0 * std::f64::consts::PI).sqrt()
        };
        for rounds in [4_u32, 7, 15, 30] {
            let (mut low, mut high) = (0.0, 50.0);
            for _ in 0..60 {
                let middle = f64::midpoint(low, high);
                if beyond(middle, rounds - 1) > 0.025 { low = middle } else { high = middle }
            }
            let n = f64::from(rounds);
            let expected = normal(low * (n / (n - 1.0)).sqrt());
            let found = tail(rounds as usize);
            assert!((found - expected).abs() < 3e-6, "{rounds}: {found}, not {expected}");
        }
        assert_eq!(tail(500), tail(30));
    }

    #[test]
    fn intervals_are_deterministic() {
        let values = [3.0, 1.0, 2.0, 9.0, 5.0, 4.0, 7.0];
        assert_eq!(median_with_interval(&values), median_with_interval(&values));
        assert_eq!(median_with_interval(&values), [4.0, 1.0, 9.0]);
        assert_eq!(median_with_interval(&[8.0, 2.0]), [5.0, 2.0, 8.0]);
        assert_eq!(median_with_interval(&[3.0; 9]), [3.0; 3]);
    }

    /// Returns the quiet figure of the values 1, 2, 3, …, `count`.
    fn quiet_of(count: u32) -> f64 {
        quiet(&mut (1..=count).rev().map(f64::from).collect::<Vec<_>>())
    }

    #[test]
    fn quiet_figure_is_the_lower_decile() {
        assert_eq!([1, 2, 6].map(quiet_of), [1.0; 3]);
        let near = |count, expected: f64| (quiet_of(count) - expected).abs() < 1e-9;
        // (count + 1/3) / 10 + 1/3, counted from one.
        assert!(near(7, 16.0 / 15.0) && near(15, 28.0 / 15.0) && near(40, 131.0 / 30.0));
        assert!(quiet(&mut []).is_nan());
    }

    /// Checks a uniform distribution, whose lower decile is 0.1: the median result does not depend
    /// on the number of rounds.
    #[test]
    fn quiet_figure_of_few_rounds_is_unbiased() {
        for rounds in [7, 15, 40] {
            let mut draws = Draws(rounds as u64);
            let mut found: Vec<f64> = (0..2_000)
                .map(|_| quiet(&mut values(rounds, &mut draws, |uniform| uniform)))
                .collect();
            let middle = median(&mut found);
            assert!((middle - 0.1).abs() < 0.01, "{rounds}: {middle}");
        }
    }

    #[test]
    fn median_of_an_even_number_is_the_middle() {
        assert_eq!(median(&mut [4.0, 1.0]), 2.5);
        assert_eq!(median(&mut [4.0, 1.0, 2.0]), 2.0);
        assert!(median(&mut []).is_nan());
    }
}
