//! How far two runs of the same may lie apart beyond what their rounds tell.

use crate::{Results, bootstrap};

/// The least difference between two runs worth naming, on a machine that nobody shares: what
/// alignment, page placement and temperature change between two starts of the same.
const BETWEEN_RUNS: f64 = 0.02;

/// The same on a virtual machine, whose host moves and throttles it over minutes, which the rounds
/// of one run see only in part. A choice between false alarms and blindness, made on twelve runs of
/// a shared machine (docs/guide/comparing-results.md has the counts); whoever knows a machine
/// better gives
/// another.
const BETWEEN_RUNS_VIRTUAL: f64 = 0.1;

/// Of medians, what slow movements of a machine do to a whole run is taken to be half as strong as
/// what single rounds show: 1.96 × √2 × ½ of their spread lie between two runs in 19 of 20 cases.
/// It matters where rounds are spread by more than 4 %: on a machine that others use.
const OF_SPREAD: f64 = 1.4;

/// How far the figures of two runs of the same may lie apart beyond what their rounds tell, as a
/// part of one: 2 % at least, and 10 % if either machine is virtual.
#[must_use]
pub fn between_runs(a: &Results, b: &Results) -> f64 {
    match a.host.virtualised || b.host.virtualised {
        true => BETWEEN_RUNS_VIRTUAL,
        false => BETWEEN_RUNS,
    }
}

/// The same of medians over rounds of these values, where `between_runs` is the least.
pub(super) fn of_medians(between_runs: f64, a: &[f64], b: &[f64]) -> f64 {
    between_runs.max(OF_SPREAD * spread(a, b))
}

/// How strongly single rounds of either side are spread, as a part of one: the median distance
/// from their median, as the deviation of a normal distribution, which no single round can move
/// far.
fn spread(a: &[f64], b: &[f64]) -> f64 {
    let of = |values: &[f64]| {
        let middle = bootstrap::median(&mut values.to_vec());
        let mut far: Vec<f64> = values.iter().map(|it| (it / middle).ln().abs()).collect();
        // Of few values it comes out too small (C. Croux and P. Rousseeuw, 1992).
        let few = values.len() as f64 / (values.len() as f64 - 0.8);
        few * DEVIATIONS_OF_MEDIAN_DISTANCE * bootstrap::median(&mut far)
    };
    of(a).hypot(of(b)) / std::f64::consts::SQRT_2
}

/// Half of all values of a normal distribution are nearer to its middle than 1 / 1.4826 deviations.
const DEVIATIONS_OF_MEDIAN_DISTANCE: f64 = 1.4826;

#[cfg(test)]
mod tests {
    use super::*;

    const SEVEN: [f64; 7] = [100.0, 101.0, 102.0, 99.0, 98.0, 103.0, 97.0];

    #[test]
    fn one_disturbed_round_does_not_spread_the_others() {
        let calm = spread(&SEVEN, &SEVEN);
        assert!((0.02..0.04).contains(&calm), "{calm}");
        let mut disturbed = SEVEN;
        disturbed[2] = 900.0;
        assert!(spread(&disturbed, &SEVEN) < 1.6 * calm);
    }

    #[test]
    fn medians_are_allowed_more_where_rounds_are_spread() {
        assert_eq!(of_medians(0.05, &SEVEN, &SEVEN), 0.05);
        let far = SEVEN.map(|it| 100.0 + 4.0 * (it - 100.0));
        assert_eq!(of_medians(0.05, &far, &far), OF_SPREAD * spread(&far, &far));
    }
}
