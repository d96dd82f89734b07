//! The ratio of two figures over rounds, with its confidence interval.

use serde::Serialize;

use super::{Verdict, last_valid};
use crate::bootstrap::{self, Draws, OverRounds};
use crate::{Figure, Row};

/// A figure divided by another, with the ends of the 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    /// The quotient.
    pub ratio: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Ratio {
    /// The minimum number of rounds of both rows. With fewer values, even the range of all values
    /// contains
    /// the true median in less than 95 % of all cases.
    pub const ROUNDS_MIN: usize = 6;

    /// Two figures are equal if the whole interval of their ratio lies within these bounds.
    pub const EQUAL: [f64; 2] = [0.95, 1.05];

    /// The most rounds that [`rounds_to_reach`](Self::rounds_to_reach) suggests.
    const ROUNDS_MAX: f64 = 100_000.0;

    /// Returns `true` if the whole interval lies within [`EQUAL`](Self::EQUAL).
    #[must_use]
    pub fn is_equal(self) -> bool {
        let [least, most] = Self::EQUAL;
        self.low >= least && self.high <= most
    }

    /// Returns the distance of the ratio from the nearest bound of [`EQUAL`](Self::EQUAL), as the
    /// difference of logarithms: negative outside of them.
    #[must_use]
    pub fn distance_to_bound(self) -> f64 {
        let [least, most] = Self::EQUAL.map(f64::ln);
        let log = self.ratio.ln();
        (log - least).min(most - log)
    }

    /// Returns the number of rounds after which the interval would probably be narrow enough to
    /// reach only `distance` from the ratio, as a logarithm; `None` if that takes too many.
    ///
    /// `rounds` is the number that this interval is from: its width falls with the square root.
    /// `fixed` is the part of the width that no number of rounds changes.
    #[must_use]
    pub fn rounds_to_reach(self, distance: f64, rounds: usize, fixed: f64) -> Option<usize> {
        let half = (self.high / self.ratio).ln().max((self.ratio / self.low).ln());
        let needed = rounds as f64 * half.powi(2) / (distance.powi(2) - fixed.powi(2)).max(0.0);
        (needed <= Self::ROUNDS_MAX).then(|| (needed.ceil() as usize).max(rounds + 1))
    }

    /// Returns the ratio of the median of `b` to that of `a`, each with a figure per round. The
    /// rounds of both are resampled independently, because the runs are. `None` with fewer than
    /// [`Self::ROUNDS_MIN`] rounds, or with a figure of zero.
    pub(super) fn from_medians(a: &[f64], b: &[f64]) -> Option<Self> {
        // With both resampled, the plain interval has enough coverage (a test counts it), and a
        // single disturbed round of seven does not become its end.
        Self::from_independent(bootstrap::median, [a, b], bootstrap::PLAIN_TAIL)
    }

    /// Returns the ratio of the quiet figures, like [`Self::from_medians`].
    pub(super) fn from_quiet(a: &[f64], b: &[f64]) -> Option<Self> {
        // A resample contains no round quieter than the quietest. So for few rounds, the plain
        // interval is too narrow even with both resampled.
        Self::from_independent(bootstrap::quiet, [a, b], bootstrap::tail(a.len().min(b.len())))
    }

    fn from_independent(over_rounds: OverRounds, [a, b]: [&[f64]; 2], tail: f64) -> Option<Self> {
        let (mut draws, mut drawn) = (Draws::new(), Vec::new());
        Self::from_draws(over_rounds, [a, b], tail, || {
            let denominator = draws.figure(over_rounds, a, &mut drawn);
            draws.figure(over_rounds, b, &mut drawn) / denominator
        })
    }

    /// Returns the ratio of medians of interleaved rounds of one run. A disturbance affects both
    /// rounds of a pair, so pairs are resampled together. `None` also for different numbers of
    /// rounds.
    pub(crate) fn from_pairs(a: &[f64], b: &[f64]) -> Option<Self> {
        if a.len() != b.len() {
            return None;
        }
        let (mut draws, mut drawn) = (Draws::new(), [Vec::new(), Vec::new()]);
        let tail = bootstrap::tail(a.len());
        Self::from_draws(bootstrap::median, [a, b], tail, || draws.ratio(a, b, &mut drawn))
    }

    fn from_draws(
        over_rounds: OverRounds,
        [a, b]: [&[f64]; 2],
        tail: f64,
        draw: impl FnMut() -> f64,
    ) -> Option<Self> {
        let rounds = a.len().min(b.len());
        if rounds < Self::ROUNDS_MIN || a.iter().chain(b).any(|nanos| *nanos <= 0.0) {
            return None;
        }
        let [low, high] = bootstrap::interval(tail, draw);
        let ratio = over_rounds(&mut b.to_vec()) / over_rounds(&mut a.to_vec());
        Some(Self { ratio, low: low.min(ratio), high: high.max(ratio) })
    }

    /// Widens the interval by an independent cause of difference, given as a fraction. The squares
    /// of logarithms are added, so a factor of two in either direction counts the same.
    pub(crate) fn widened(self, fraction: f64) -> Self {
        let allowance = fraction.max(0.0).ln_1p();
        let reach = |end: f64| combined((end / self.ratio).ln(), allowance).exp();
        Self { low: self.ratio / reach(self.low), high: self.ratio * reach(self.high), ..self }
    }

    /// Returns the verdict of the interval.
    pub(super) fn verdict(self) -> Verdict {
        match self {
            Self { low, .. } if low > 1.0 => Verdict::Slower,
            Self { high, .. } if high < 1.0 => Verdict::Faster,
            it if it.is_equal() => Verdict::Same,
            _ => Verdict::Undecided,
        }
    }
}

/// The comparison of a row with its baseline: the row of kernel sockets with otherwise the same
/// setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Baseline {
    /// The row itself is of kernel sockets.
    Itself,
    /// No valid baseline exists.
    Missing,
    /// The ratio of the medians, without an interval because of too few rounds.
    Plain(f64),
    /// The ratio with the interval of interleaved rounds.
    Interval(Ratio),
}

/// The transport of a baseline.
const KERNEL: &str = "kernel";

/// Compares the median of a row with that of its baseline among these rows.
pub(crate) fn against_kernel(row: &Row, rows: &[Row]) -> Baseline {
    if row.setting.transport == KERNEL {
        return Baseline::Itself;
    }
    let mut wanted = row.setting.clone();
    KERNEL.clone_into(&mut wanted.transport);
    let kernel =
        last_valid(rows, |setting| setting.is_same(&wanted)).filter(|it| it.failed.is_none());
    let Some(kernel) = kernel.filter(|_| row.failed.is_none()) else { return Baseline::Missing };
    let [a, b] = [kernel, row].map(|row| row.values(Figure::P50));
    if let Some(ratio) = Ratio::from_pairs(&a, &b) {
        return Baseline::Interval(ratio);
    }
    let [a, b] = [kernel, row].map(|row| crate::results::shown(row, Figure::P50));
    match (a, b) {
        (Some(a), Some(b)) if a > 0.0 => Baseline::Plain(b / a),
        _ => Baseline::Missing,
    }
}

impl std::fmt::Display for Baseline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Itself => f.write_str("-"),
            Self::Missing => f.write_str("no baseline"),
            Self::Plain(ratio) => write!(f, "× {ratio:.3}"),
            Self::Interval(Ratio { ratio, low, high }) => {
                write!(f, "× {ratio:.3} ({low:.3} to {high:.3})")
            }
        }
    }
}

/// Returns the root of the sum of squares, as `f64::hypot`, which requires glibc 2.35.
pub(super) fn combined(a: f64, b: f64) -> f64 {
    (a * a + b * b).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RoundFigures;
    use crate::results::tests::{recorded, setting};
    use proptest::prelude::*;

    const SEVEN: [f64; 7] = [100.0, 101.0, 102.0, 99.0, 98.0, 103.0, 97.0];

    /// Returns a row of seven rounds with these medians.
    fn row(transport: &str, wait: &str, medians: [u64; 7]) -> Row {
        let mut row = Row::new(setting("a"), &recorded(medians), &recorded([]));
        (row.setting.transport, row.setting.wait) = (transport.to_owned(), wait.to_owned());
        let round =
            |p50: u64| RoundFigures { samples: 1, p50: Some(p50), ..RoundFigures::default() };
        row.by_round = medians.into_iter().map(round).collect();
        row
    }

    #[test]
    fn interval_contains_the_ratio() {
        let twice: Vec<f64> = SEVEN.iter().map(|it| it * 2.0).collect();
        let ratio = Ratio::from_medians(&SEVEN, &twice).unwrap();
        assert_eq!(ratio.ratio, 2.0);
        assert!((1.9..2.0).contains(&ratio.low) && (2.0..2.1).contains(&ratio.high), "{ratio:?}");
        assert_eq!(Ratio::from_medians(&SEVEN, &SEVEN).map(Ratio::verdict), Some(Verdict::Same));
    }

    #[test]
    fn disturbed_rounds_do_not_move_the_quiet_figure() {
        let mut disturbed = SEVEN;
        disturbed[..4].iter_mut().for_each(|it| *it *= 1.4);
        let ratio = Ratio::from_quiet(&SEVEN, &disturbed).unwrap();
        assert!((0.99..1.02).contains(&ratio.ratio), "{ratio:?}");
        assert!(Ratio::from_medians(&SEVEN, &disturbed).is_some_and(|it| it.ratio > 1.3));
        let slow = disturbed.map(|it| it * 2.0);
        assert_eq!(Ratio::from_quiet(&SEVEN, &slow).map(Ratio::verdict), Some(Verdict::Slower));
    }

    #[test]
    fn few_rounds_have_no_interval() {
        assert_eq!(Ratio::from_medians(&SEVEN[..5], &SEVEN), None);
        assert_eq!(Ratio::from_medians(&SEVEN, &SEVEN[..5]), None);
        assert!(Ratio::from_medians(&SEVEN[..6], &SEVEN).is_some());
        assert_eq!(Ratio::from_medians(&[0.0; 7], &SEVEN), None);
        assert_eq!(Ratio::from_pairs(&SEVEN[..6], &SEVEN), None);
    }

    #[test]
    fn interleaved_rounds_are_resampled_together() {
        // Both rise by a half during the run, and one is always a tenth above the other.
        let slow: Vec<f64> = (0..7).map(|round| 100.0 + 8.0 * f64::from(round)).collect();
        let above: Vec<f64> = slow.iter().map(|it| it * 1.1).collect();
        let paired = Ratio::from_pairs(&slow, &above).unwrap();
        assert!(paired.low > 1.09 && paired.high < 1.11, "{paired:?}");
        let apart = Ratio::from_medians(&slow, &above).unwrap();
        assert!(apart.low < 1.0 && apart.high > 1.2, "{apart:?}");
    }

    #[test]
    fn widened_adds_squares_of_logarithms() {
        let ratio = Ratio { ratio: 1.0, low: 1.0 / 1.03, high: 1.03 };
        assert_eq!(ratio.widened(0.0).verdict(), Verdict::Same);
        let widened = ratio.widened(0.04);
        let expected = 1.03_f64.ln().hypot(1.04_f64.ln()).exp();
        assert!(
            (widened.high - expected).abs() < 1e-12 && (widened.low - 1.0 / expected).abs() < 1e-12
        );
        let exact = Ratio { ratio: 1.07, low: 1.07, high: 1.07 };
        assert_eq!(exact.widened(0.06).verdict(), Verdict::Slower);
        assert_eq!(exact.widened(0.08).verdict(), Verdict::Undecided);
        let fast = Ratio { ratio: 0.9, low: 0.9, high: 0.9 };
        assert_eq!(fast.widened(0.06).verdict(), Verdict::Faster);
    }

    #[test]
    fn equality_needs_the_whole_interval() {
        let of = |ratio, low, high| Ratio { ratio, low, high };
        assert!(of(1.0, 0.95, 1.05).is_equal());
        for wide in [of(1.0, 0.94, 1.01), of(1.0, 0.99, 1.06), of(0.817, 0.304, 1.527)] {
            assert!(!wide.is_equal() && wide.verdict() == Verdict::Undecided);
        }
    }

    #[test]
    fn width_falls_with_the_square_root_of_the_rounds() {
        let ratio = Ratio { ratio: 1.0, low: 1.0 / 1.1, high: 1.1 };
        assert_eq!(ratio.rounds_to_reach(1.1_f64.ln() / 2.0, 10, 0.0), Some(40));
        assert_eq!(ratio.rounds_to_reach(ratio.distance_to_bound(), 10, 0.0), Some(39));
        assert_eq!(ratio.rounds_to_reach(0.05, 10, 0.05), None, "the fixed part alone is too wide");
        assert_eq!(ratio.rounds_to_reach(0.001, 10, 0.0), Some(90_841));
        assert_eq!(ratio.rounds_to_reach(0.0001, 10, 0.0), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// A ratio does not depend on the unit: scaled figures give the same verdict.
        #[test]
        fn ratio_is_in_its_interval_and_independent_of_the_unit(
            a in prop::collection::vec(1_u32..1_000_000, 6..20),
            b in prop::collection::vec(1_u32..1_000_000, 6..20),
            part in 0.0..0.5_f64,
        ) {
            let [a, b] = [a, b].map(|it| it.into_iter().map(f64::from).collect::<Vec<_>>());
            let ratio = Ratio::from_medians(&a, &b).unwrap();
            prop_assert!(0.0 < ratio.low && ratio.low <= ratio.ratio && ratio.ratio <= ratio.high);
            let widened = ratio.widened(part);
            prop_assert!(widened.low <= ratio.low * (1.0 + 1e-9));
            prop_assert!(widened.high >= ratio.high * (1.0 - 1e-9));
            let scaled = |values: &[f64]| values.iter().map(|it| it * 1_024.0).collect::<Vec<_>>();
            prop_assert_eq!(Ratio::from_medians(&scaled(&a), &scaled(&b)), Some(ratio));
        }
    }

    #[test]
    fn baseline_is_the_kernel_row_with_the_same_wait() {
        let fast = row("xdp", "spin", [50, 51, 52, 50, 49, 50, 50]);
        let rows = [
            row("kernel", "epoll", [10; 7]),
            row("kernel", "spin", [100, 102, 104, 100, 98, 100, 100]),
            fast.clone(),
        ];
        let Baseline::Interval(ratio) = against_kernel(&fast, &rows) else { panic!("no interval") };
        assert_eq!((ratio.ratio, ratio.low, ratio.high), (0.5, 0.5, 0.5));
        assert_eq!(against_kernel(&rows[0], &rows), Baseline::Itself);
        assert_eq!(against_kernel(&fast, &rows[..1]), Baseline::Missing);
        assert_eq!(against_kernel(&fast, &rows[..1]).to_string(), "no baseline");
    }

    #[test]
    fn baseline_without_rounds_has_no_interval() {
        let mut kernel = Row::new(setting("a"), &recorded([100; 30]), &recorded([]));
        kernel.setting.wait = "spin".to_owned();
        let fast = row("shm", "spin", [25; 7]);
        assert_eq!(against_kernel(&fast, &[kernel.clone()]), Baseline::Plain(0.25));
        kernel.failed = Some("3 gaps".to_owned());
        assert_eq!(against_kernel(&fast, &[kernel]), Baseline::Missing);
    }
}
