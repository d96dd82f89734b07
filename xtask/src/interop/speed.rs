//! The speeds of cases that have a goal, in interleaved rounds, each side pinned to a core.

use anyhow::{Context, Result};

use super::case::{Case, Goal};
use super::trial::Accelerated;
use super::{Settings, print_line};

/// The kernel first: the others are compared with it.
const VARIANTS: [Accelerated; 4] =
    [Accelerated::NONE, Accelerated::EACH[0], Accelerated::EACH[1], Accelerated::EACH[2]];

/// Measures the selected cases that have a goal. Returns the number of goals missed.
pub(super) fn measure(
    settings: &Settings,
    cases: Vec<Case>,
    is_selected: impl Fn(&str) -> bool,
    rounds: usize,
) -> Result<usize> {
    let mut missed = 0;
    for case in cases.into_iter().filter(|case| is_selected(&case.name)) {
        if let Some(goal) = case.goal {
            missed += usize::from(!measure_case(settings, &case, goal, rounds)?);
        }
    }
    Ok(missed)
}

/// Measures a case in rounds, and prints a line for each variant. Returns `true` if the goal is
/// met: an acceleration with both sides accelerated, a limit of a loss by all variants.
fn measure_case(settings: &Settings, case: &Case, goal: Goal, rounds: usize) -> Result<bool> {
    let mut speeds = [const { Vec::new() }; VARIANTS.len()];
    let mut unit = "";
    for _ in 0..rounds {
        for (variant, speeds) in VARIANTS.into_iter().zip(&mut speeds) {
            let (speed, of) = measure_once(settings, case, goal, variant)
                .with_context(|| format!("{}, {variant}", case.name))?;
            speeds.push(speed);
            unit = of;
        }
    }
    let kernel = median(&mut speeds[0]);
    let mut is_met = true;
    for (variant, speeds) in VARIANTS.into_iter().zip(&mut speeds) {
        let (speed, samples) = (median(speeds), speeds.len());
        let ratio = speed / kernel;
        let is_judged =
            variant.server && variant.client || goal.factor < 1.0 && variant != Accelerated::NONE;
        let verdict = match (is_judged, ratio >= goal.factor) {
            (false, _) => String::new(),
            (true, true) => format!(", goal {}: met", goal.factor),
            (true, false) => format!(", goal {}: MISSED", goal.factor),
        };
        is_met &= !is_judged || ratio >= goal.factor;
        let [lowest, highest] = [speeds[0], speeds[samples - 1]];
        let range = format!("{lowest:.0} to {highest:.0}, {samples} rounds");
        let text = format!("{speed:.0} {unit} ({range}), {ratio:.2} x{verdict}");
        print_line(&case.name, &variant.to_string(), &text);
    }
    Ok(is_met)
}

fn measure_once(
    settings: &Settings,
    case: &Case,
    goal: Goal,
    variant: Accelerated,
) -> Result<(f64, &'static str)> {
    let mut trial = case.trial(settings, variant)?;
    trial.pin();
    if goal.filtered && variant == Accelerated::NONE {
        trial.attach_filters()?;
    }
    case.run(&trial)?.speed.context("the case has no speed")
}

/// Sorts the speeds. Returns the middle one, or the lower of two.
fn median(speeds: &mut [f64]) -> f64 {
    speeds.sort_by(f64::total_cmp);
    speeds[(speeds.len() - 1) / 2]
}
