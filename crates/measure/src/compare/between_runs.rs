//! The difference between two runs of the same program, beyond the spread of their rounds.

use super::ratio::combined;
use crate::{Results, bootstrap};

/// The allowance on a dedicated machine: the effect of alignment, page placement and temperature,
/// which
/// differ between two starts of a program.
const BETWEEN_RUNS: f64 = 0.02;

/// The allowance on a virtual machine. Its host migrates and throttles it over minutes, of which
/// the rounds of one run contain only a part. The value balances false alarms and missed changes in
/// twelve runs of a shared machine; docs/guide/comparing-results.md contains the counts. A caller
/// may pass another value.
const BETWEEN_RUNS_VIRTUAL: f64 = 0.1;

/// The allowance for medians, relative to the spread of the rounds. The slow drift of a machine
/// between runs is assumed to be half as strong as the spread within a run, so 95 % of all
/// differences are within 1.96 × √2 × ½ of the spread. This exceeds [`BETWEEN_RUNS`] only with a
/// spread of more than 4 %, which occurs on shared machines.
const OF_SPREAD: f64 = 1.4;

/// Returns the allowance for the difference between two runs, as a fraction: 2 %, or 10 % if one of
/// the machines is virtual.
#[must_use]
pub fn between_runs(a: &Results, b: &Results) -> f64 {
    match a.host.virtualised || b.host.virtualised {
        true => BETWEEN_RUNS_VIRTUAL,
        false => BETWEEN_RUNS,
    }
}

/// Returns the allowance for medians over rounds with these values, at least `between_runs`.
pub(super) fn for_medians(between_runs: f64, a: &[f64], b: &[f64]) -> f64 {
    between_runs.max(OF_SPREAD * spread(a, b))
}

/// Returns the spread of the rounds of both runs, as a fraction: the median absolute deviation from
/// the median, scaled to the standard deviation of a normal distribution. Single rounds hardly
/// affect it.
fn spread(a: &[f64], b: &[f64]) -> f64 {
    let deviation = |values: &[f64]| {
        let median = bootstrap::median(&mut values.to_vec());
        let mut distances: Vec<f64> = values.iter().map(|it| (it / median).ln().abs()).collect();
        // Corrects the bias for few values (C. Croux and P. Rousseeuw, 1992).
        let correction = values.len() as f64 / (values.len() as f64 - 0.8);
        correction * DEVIATIONS_OF_MEDIAN_DISTANCE * bootstrap::median(&mut distances)
    };
    combined(deviation(a), deviation(b)) / std::f64::consts::SQRT_2
}

/// The ratio of the standard deviation to the median absolute deviation of a normal distribution.
const DEVIATIONS_OF_MEDIAN_DISTANCE: f64 = 1.4826;

#[cfg(test)]
mod tests {
    use super::*;

    const SEVEN: [f64; 7] = [100.0, 101.0, 102.0, 99.0, 98.0, 103.0, 97.0];

    #[test]
    fn spread_is_robust_against_a_disturbed_round() {
        let calm = spread(&SEVEN, &SEVEN);
        assert!((0.02..0.04).contains(&calm), "{calm}");
        let mut disturbed = SEVEN;
        disturbed[2] = 900.0;
        assert!(spread(&disturbed, &SEVEN) < 1.6 * calm);
    }

    #[test]
    fn allowance_for_medians_grows_with_the_spread() {
        assert_eq!(for_medians(0.05, &SEVEN, &SEVEN), 0.05);
        let far = SEVEN.map(|it| 100.0 + 4.0 * (it - 100.0));
        assert_eq!(for_medians(0.05, &far, &far), OF_SPREAD * spread(&far, &far));
    }
}
