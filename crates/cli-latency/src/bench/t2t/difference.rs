//! The difference of two figures, and whether it exceeds the noise.

use hairpin_measure::{difference_of_medians, median};

/// The smallest number of rounds for a 95 % interval of a median.
const ROUNDS_MIN: usize = 6;

/// One figure of A and of B.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Difference {
    pub(super) a: f64,
    pub(super) b: f64,
    /// The 95 % confidence interval of A − B, or `None` if there are too few rounds.
    pub(super) interval: Option<[f64; 2]>,
}

/// The verdict of the interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The interval contains 0.
    WithinNoise,
    /// The interval is below 0.
    Less,
    /// The interval is above 0.
    Greater,
}

impl Difference {
    /// Returns the difference of figures over all samples, without an interval.
    pub(super) const fn of_all(a: f64, b: f64) -> Self {
        Self { a, b, interval: None }
    }

    /// Returns the difference of medians over rounds, given a pair of figures for each round, or
    /// `None` for too few rounds. The two rounds of a pair ran one after the other and are
    /// resampled together, so that a common slowdown is no difference.
    pub(super) fn over_rounds(pairs: &[[f64; 2]]) -> Option<Self> {
        if pairs.len() < ROUNDS_MIN {
            return None;
        }
        let of = |side: usize| median(&mut pairs.iter().map(|pair| pair[side]).collect::<Vec<_>>());
        Some(Self { a: of(0), b: of(1), interval: difference_of_medians(pairs) })
    }

    /// Returns A − B.
    pub(super) fn difference(&self) -> f64 {
        self.a - self.b
    }

    /// Returns A − B in per cent of B, or `None` if B is 0.
    pub(super) fn per_cent(&self) -> Option<f64> {
        (self.b != 0.0).then(|| self.difference() / self.b * 100.0)
    }

    /// Returns the verdict, or `None` without an interval.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        let [low, high] = self.interval?;
        Some(match (low > 0.0, high < 0.0) {
            (true, _) => Verdict::Greater,
            (_, true) => Verdict::Less,
            _ => Verdict::WithinNoise,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds with a slow drift: each is 100 above the previous one.
    const DRIFTING: [f64; 7] = [1_000.0, 1_100.0, 1_200.0, 1_300.0, 1_400.0, 1_500.0, 1_600.0];

    fn over_rounds(a: &[f64], b: &[f64]) -> Difference {
        let pairs: Vec<[f64; 2]> = a.iter().zip(b).map(|(&a, &b)| [a, b]).collect();
        Difference::over_rounds(&pairs).unwrap()
    }

    fn shifted(by: f64) -> Difference {
        over_rounds(&DRIFTING.map(|figure| figure + by), &DRIFTING)
    }

    #[test]
    fn computes_difference_of_medians() {
        let difference = shifted(30.0);
        assert_eq!((difference.a, difference.b, difference.difference()), (1_330.0, 1_300.0, 30.0));
        assert_eq!(difference.per_cent().map(|part| (part * 100.0).round()), Some(231.0));
    }

    #[test]
    fn common_drift_is_not_a_difference() {
        assert_eq!(shifted(30.0).interval, Some([30.0, 30.0]));
        let verdicts = [30.0, -30.0, 0.0].map(|by| shifted(by).verdict());
        let expected = [Verdict::Greater, Verdict::Less, Verdict::WithinNoise];
        assert_eq!(verdicts, expected.map(Some));
    }

    #[test]
    fn rounds_that_contradict_each_other_are_noise() {
        let a = [1_040.0, 1_030.0, 980.0, 1_000.0, 960.0, 1_020.0, 1_010.0];
        let b = [1_000.0, 1_020.0, 1_010.0, 970.0, 1_030.0, 990.0, 1_000.0];
        let difference = over_rounds(&a, &b);
        assert_eq!(difference.verdict(), Some(Verdict::WithinNoise), "{difference:?}");
        let [low, high] = difference.interval.unwrap();
        assert!(low < difference.difference() && difference.difference() < high);
    }

    #[test]
    fn few_rounds_tell_nothing() {
        let pairs = DRIFTING.map(|figure| [figure, figure]);
        assert_eq!(Difference::over_rounds(&pairs[..5]), None);
        assert!(Difference::over_rounds(&pairs[..6]).is_some());
    }

    #[test]
    fn share_of_zero_is_unknown() {
        assert_eq!(Difference::of_all(3.0, 0.0).per_cent(), None);
        assert_eq!(Difference::of_all(3.0, 2.0).per_cent(), Some(50.0));
    }
}
