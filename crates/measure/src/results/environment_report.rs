//! What must be known of the measuring itself before its figures are believed.

use serde::{Deserialize, Serialize};

use crate::table::micros;

/// What the clock, the schedule-free path and the cores of a run were good for.
///
/// Of one run; a results file holds it beside its rows, and every table prints it below them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct EnvironmentReport {
    /// The least step between two readings of the clock that differ, in nanoseconds.
    pub clock_step_ns: f64,
    /// What one reading of the clock costs, in nanoseconds.
    pub clock_read_ns: f64,
    /// What two fenced readings cost, in nanoseconds: the least span that can be measured.
    pub clock_pair_ns: f64,
    /// How much faster than `CLOCK_MONOTONIC` the time stamp counter went over the whole run, in
    /// parts of 10⁹; negative if it was slower. `None` if it was not used or the run too short.
    #[serde(default)]
    pub drift_ppb: Option<f64>,
    /// The floor of the measuring: the median of a sample with nothing between its two readings, in
    /// nanoseconds. `None` if the command has none.
    #[serde(default)]
    pub floor_ns: Option<u64>,
    /// The cores that the measuring ran on, each once.
    #[serde(default)]
    pub cores: Vec<CoreTruth>,
}

/// What else ran on a core while nothing should: the jitter that no program can avoid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CoreTruth {
    /// The core's number.
    pub core: usize,
    /// For how long it was watched, in nanoseconds.
    pub watched_ns: u64,
    /// How often a loop of clock readings was held up for longer than the probe's threshold.
    pub interruptions: u64,
    /// For how long altogether, in nanoseconds.
    pub interrupted_ns: u64,
    /// The longest of them, in nanoseconds.
    pub longest_ns: u64,
    /// What the hypervisor took from the core over the whole run, in nanoseconds; `None` if the
    /// kernel does not tell.
    #[serde(default)]
    pub steal_ns: Option<u64>,
}

/// How a [`EnvironmentReport`] contradicts itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// A figure that is negative, infinite or no number.
    #[error("{name} is not a number of at least zero")]
    NotANumber {
        /// The field's name.
        name: &'static str,
    },
    /// A core that is listed more than once.
    #[error("core {core} is there twice")]
    SameCore {
        /// The core's number.
        core: usize,
    },
    /// Interruptions of a core that do not add up: the longest is longer than all together, or
    /// there are none that took time.
    #[error("the interruptions of core {core} do not add up")]
    Interruptions {
        /// The core's number.
        core: usize,
    },
}

impl EnvironmentReport {
    /// Whether it agrees with itself.
    ///
    /// # Errors
    /// One [`EnvironmentError`] for each rule.
    pub fn validate(&self) -> Result<(), EnvironmentError> {
        let spans = [
            ("clock_step_ns", self.clock_step_ns),
            ("clock_read_ns", self.clock_read_ns),
            ("clock_pair_ns", self.clock_pair_ns),
            // The drift may be negative.
            ("drift_ppb", self.drift_ppb.unwrap_or(0.0).abs()),
        ];
        if let Some((name, _)) = spans.iter().find(|(_, nanos)| !nanos.is_finite() || *nanos < 0.0)
        {
            return Err(EnvironmentError::NotANumber { name });
        }
        for (index, core) in self.cores.iter().enumerate() {
            if self.cores[..index].iter().any(|other| other.core == core.core) {
                return Err(EnvironmentError::SameCore { core: core.core });
            }
            let CoreTruth { interruptions, interrupted_ns, longest_ns, .. } = *core;
            if longest_ns > interrupted_ns || (interruptions == 0 && interrupted_ns > 0) {
                return Err(EnvironmentError::Interruptions { core: core.core });
            }
        }
        Ok(())
    }

    /// The whole of it for people, a line each ended by a line feed: the clock and the floor, then
    /// the cores.
    #[must_use]
    pub fn describe(&self) -> String {
        self.lines().into_iter().map(|line| line + "\n").collect()
    }

    /// The lines of [`Self::describe`].
    pub(crate) fn lines(&self) -> Vec<String> {
        let drift = match self.drift_ppb {
            Some(parts) => format!("{parts:+.0} parts in 10⁹ against CLOCK_MONOTONIC"),
            None => "not known".to_owned(),
        };
        let clock = format!(
            "clock: step {:.1} ns, a reading {:.1} ns, a fenced pair {:.1} ns; drift {drift}",
            self.clock_step_ns, self.clock_read_ns, self.clock_pair_ns
        );
        let floor = self.floor_ns.map(|nanos| {
            format!("floor: {} µs with nothing between the two readings", micros(Some(nanos)))
        });
        [Some(clock), floor].into_iter().flatten().chain(self.cores.iter().map(line)).collect()
    }
}

fn line(core: &CoreTruth) -> String {
    let part = match core.watched_ns {
        0 => 0.0,
        watched => core.interrupted_ns as f64 / watched as f64 * 100.0,
    };
    let steal = match core.steal_ns {
        Some(nanos) => format!("{:.0} ms", nanos as f64 / 1e6),
        None => "not known".to_owned(),
    };
    format!(
        "core {}: interrupted {} times in {:.1} s, {part:.3} % of it, longest {} µs; stolen \
         {steal}",
        core.core,
        core.interruptions,
        core.watched_ns as f64 / 1e9,
        micros(Some(core.longest_ns)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORE: CoreTruth = CoreTruth {
        core: 1,
        watched_ns: 2_000_000_000,
        interruptions: 3,
        interrupted_ns: 1_000_000,
        longest_ns: 800_000,
        steal_ns: Some(20_000_000),
    };

    fn truth() -> EnvironmentReport {
        EnvironmentReport {
            clock_step_ns: 10.0,
            clock_read_ns: 11.4,
            clock_pair_ns: 30.0,
            drift_ppb: Some(-120.0),
            floor_ns: Some(45),
            cores: vec![CoreTruth { core: 0, steal_ns: None, ..CORE }, CORE],
        }
    }

    fn changed(change: fn(&mut EnvironmentReport)) -> Result<(), EnvironmentError> {
        let mut truth = truth();
        change(&mut truth);
        truth.validate()
    }

    #[test]
    fn spans_are_numbers_of_at_least_zero() {
        assert_eq!(changed(|_| {}), Ok(()));
        let refused = |name| Err(EnvironmentError::NotANumber { name });
        assert_eq!(changed(|it| it.clock_step_ns = -1.0), refused("clock_step_ns"));
        assert_eq!(changed(|it| it.clock_read_ns = f64::NAN), refused("clock_read_ns"));
        assert_eq!(changed(|it| it.clock_pair_ns = f64::INFINITY), refused("clock_pair_ns"));
        assert_eq!(changed(|it| it.drift_ppb = Some(f64::NEG_INFINITY)), refused("drift_ppb"));
        assert_eq!(changed(|it| it.drift_ppb = None), Ok(()));
    }

    #[test]
    fn a_core_is_there_once() {
        assert_eq!(changed(|it| it.cores[0].core = 1), Err(EnvironmentError::SameCore { core: 1 }));
    }

    #[test]
    fn interruptions_add_up() {
        let refused = Err(EnvironmentError::Interruptions { core: 1 });
        assert_eq!(changed(|it| it.cores[1].longest_ns = 1_000_001), refused);
        assert_eq!(changed(|it| it.cores[1].interruptions = 0), refused);
    }

    #[test]
    fn says_what_is_known_and_what_is_not() {
        let expected = "clock: step 10.0 ns, a reading 11.4 ns, a fenced pair 30.0 ns; drift -120 \
                        parts in 10⁹ against CLOCK_MONOTONIC\n\
                        floor: 0.05 µs with nothing between the two readings\n\
                        core 0: interrupted 3 times in 2.0 s, 0.050 % of it, longest 800.00 µs; \
                        stolen not known\n\
                        core 1: interrupted 3 times in 2.0 s, 0.050 % of it, longest 800.00 µs; \
                        stolen 20 ms\n";
        assert_eq!(truth().describe(), expected);
        assert!(EnvironmentReport::default().describe().ends_with("drift not known\n"));
    }
}
