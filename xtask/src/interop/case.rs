//! A case: a server and a client, and what must be equal with and without acceleration.

use std::time::Duration;

use anyhow::{Context, Result};

use super::counters::{CounterLog, Sums};
use super::trial::{Accelerated, Trial};
use super::{Settings, Side, print_line};

/// The share of a long connection's bytes, or of the datagrams, that must bypass the kernel.
const BYPASS_MIN: f64 = 99.0;
/// Counters are published at most a second later.
const PUBLISHED: Duration = Duration::from_millis(1_300);

/// What must bypass the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// 99 % of the datagrams of each accelerated side.
    Datagrams,
    /// 99 % of the bytes of TCP of each accelerated side.
    Bytes,
    /// Less, for this reason.
    Kernel(&'static str),
}

/// What a run has found.
#[derive(Debug, Clone, Default)]
pub(super) struct Outcome {
    /// What must be equal.
    pub(super) result: String,
    /// The speed, with its unit, for `--speeds`.
    pub(super) speed: Option<(f64, &'static str)>,
}

impl Outcome {
    pub(super) fn new(result: impl Into<String>) -> Self {
        Self { result: result.into(), speed: None }
    }

    pub(super) fn with_speed(result: impl Into<String>, speed: f64, unit: &'static str) -> Self {
        Self { result: result.into(), speed: Some((speed, unit)) }
    }
}

type Run = Box<dyn Fn(&Trial) -> Result<Outcome>>;

/// A program, or two, in one use.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) expected: Expected,
    /// The side that stays with the kernel, and the reason.
    kernel_side: Option<(Side, &'static str)>,
    /// The receive queues of each host.
    queues: u32,
    /// The flags of `hairpin run`.
    flags: Vec<&'static str>,
    pub(super) goal: Option<Goal>,
    run: Run,
}

/// The speed with both sides accelerated, as a multiple of the kernel's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goal {
    pub(super) factor: f64,
    /// The kernel is measured with the filter attached to both interfaces.
    pub(super) filtered: bool,
}

impl Case {
    pub(super) fn new(
        name: impl Into<String>,
        expected: Expected,
        run: impl Fn(&Trial) -> Result<Outcome> + 'static,
    ) -> Self {
        let (name, run) = (name.into(), Box::new(run));
        Self { name, expected, kernel_side: None, queues: 1, flags: Vec::new(), goal: None, run }
    }

    /// States that a side stays with the kernel.
    pub(super) fn kernel_side(mut self, side: Side, reason: &'static str) -> Self {
        self.kernel_side = Some((side, reason));
        self
    }

    pub(super) fn queues(mut self, queues: u32) -> Self {
        self.queues = queues;
        self
    }

    pub(super) fn flags(mut self, flags: &[&'static str]) -> Self {
        self.flags = flags.to_vec();
        self
    }

    /// Sets the speed to reach.
    pub(super) fn goal(mut self, factor: f64, filtered: bool) -> Self {
        self.goal = Some(Goal { factor, filtered });
        self
    }

    /// Creates the hosts of a run.
    pub(super) fn trial(&self, settings: &Settings, accelerated: Accelerated) -> Result<Trial> {
        let mut trial = Trial::new(&settings.hairpin, accelerated, self.queues, &self.flags)?;
        trial.builds.clone_from(&settings.folder);
        Ok(trial)
    }

    /// Runs the case once.
    pub(super) fn run(&self, trial: &Trial) -> Result<Outcome> {
        (self.run)(trial)
    }

    /// Runs the case without acceleration and with each side accelerated. Prints a line for each.
    /// Returns the number of failures.
    pub(super) fn check(&self, settings: &Settings) -> usize {
        let kernel = match self.run_once(settings, Accelerated::NONE) {
            Ok((kernel, _)) => kernel,
            Err(error) => {
                print_line(&self.name, "none", &format!("FAILED: {error:#}"));
                return 1;
            }
        };
        let result = kernel.result.lines().collect::<Vec<_>>().join("; ");
        print_line(&self.name, "none", &result);
        Accelerated::EACH
            .into_iter()
            .filter(|accelerated| {
                let (is_passed, line) = match self.run_once(settings, *accelerated) {
                    Ok((outcome, sums)) => self.compare(&kernel, &outcome, &sums, *accelerated),
                    Err(error) => (false, format!("FAILED: {error:#}")),
                };
                print_line(&self.name, &accelerated.to_string(), &line);
                !is_passed
            })
            .count()
    }

    fn run_once(
        &self,
        settings: &Settings,
        accelerated: Accelerated,
    ) -> Result<(Outcome, [Sums; 2])> {
        let trial = self.trial(settings, accelerated)?;
        let log = CounterLog::start(&settings.hairpin, trial.hosts())?;
        let outcome = self.run(&trial).with_context(|| format!("{accelerated} accelerated"));
        Ok((outcome?, log.finish()))
    }

    /// Returns `true` if the case passes, and a line.
    fn compare(
        &self,
        kernel: &Outcome,
        outcome: &Outcome,
        sums: &[Sums; 2],
        accelerated: Accelerated,
    ) -> (bool, String) {
        if outcome.result != kernel.result {
            let differs = format!("DIFFERENT: {:?} instead of {:?}", outcome.result, kernel.result);
            return (false, differs);
        }
        let mut parts = vec!["equal".to_owned()];
        let mut is_passed = true;
        for side in [Side::Server, Side::Client] {
            if accelerated.includes(side) {
                let (passed, text) = self.bypass(side, &sums[side as usize]);
                is_passed &= passed;
                parts.push(text);
            }
        }
        if let Expected::Kernel(reason) = self.expected {
            parts.push(reason.to_owned());
        }
        (is_passed, parts.join("; "))
    }

    /// Checks the share of a side that bypassed the kernel.
    fn bypass(&self, side: Side, sums: &Sums) -> (bool, String) {
        let (path, unit) = match self.expected {
            Expected::Datagrams => ("udp", ""),
            Expected::Bytes | Expected::Kernel(_) => ("tcp", "_bytes"),
        };
        let share = sums.bypass_share(path, unit);
        let text = match share {
            Some((share, total)) => {
                let what = if unit.is_empty() { "datagrams" } else { "bytes" };
                format!("{side} bypass {share:.2} % of {total} {what}")
            }
            None => format!("{side}: nothing counted"),
        };
        let handbacks = sums.handbacks();
        let handbacks =
            if handbacks.is_empty() { String::new() } else { format!(" (handbacks: {handbacks})") };
        if let Some((_, reason)) = self.kernel_side.filter(|(kernel, _)| *kernel == side) {
            return (true, format!("{text}: {reason}"));
        }
        match self.expected {
            Expected::Kernel(_) => (true, text + &handbacks),
            _ if share.is_some_and(|(share, _)| share >= BYPASS_MIN) && !sums.has_given_up() => {
                (true, text)
            }
            _ => (false, format!("BYPASS TOO LOW: {text}{handbacks}")),
        }
    }
}

/// Waits until the counters of what was sent are published.
pub(super) fn await_counters() {
    std::thread::sleep(PUBLISHED);
}
