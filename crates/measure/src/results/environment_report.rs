//! The environment of a measurement: clock and cores.

use serde::{Deserialize, Serialize};

use crate::table::micros;

/// The quality of clock, measuring floor and cores during one run. A results file contains it next
/// to its rows, and tables print it below them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct EnvironmentReport {
    /// The least difference between two different readings of the clock, in nanoseconds.
    pub clock_step_ns: f64,
    /// The cost of one reading of the clock, in nanoseconds.
    pub clock_read_ns: f64,
    /// The cost of two fenced readings, in nanoseconds: the least measurable span.
    pub clock_pair_ns: f64,
    /// The drift of the time stamp counter against `CLOCK_MONOTONIC` over the run, in parts per
    /// billion, positive if the counter is faster. `None` if it was not used or the run was too
    /// short.
    #[serde(default)]
    pub drift_ppb: Option<f64>,
    /// The measuring floor: the median of samples without work between the two readings, in
    /// nanoseconds. `None` if the command does not measure it.
    #[serde(default)]
    pub floor_ns: Option<u64>,
    /// The cores of the measurement, each once.
    #[serde(default)]
    pub cores: Vec<CoreReport>,
}

/// The interruptions of an otherwise idle core: jitter that a program cannot avoid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CoreReport {
    /// The number of the core.
    pub core: usize,
    /// The time of observation, in nanoseconds.
    pub watched_ns: u64,
    /// The number of gaps in a loop of clock readings that exceed the probe's threshold.
    pub interruptions: u64,
    /// The sum of these gaps, in nanoseconds.
    pub interrupted_ns: u64,
    /// The longest gap, in nanoseconds.
    pub longest_ns: u64,
    /// The time stolen by the hypervisor during the run, in nanoseconds; `None` if the kernel does
    /// not report it.
    #[serde(default)]
    pub steal_ns: Option<u64>,
    /// The duration of the run, in nanoseconds; zero in older files.
    #[serde(default)]
    pub run_ns: u64,
    /// The time during the run in which the core executed other programs, in nanoseconds; `None` if
    /// the kernel does not report it, and in older files.
    #[serde(default)]
    pub others_ns: Option<u64>,
}

impl CoreReport {
    /// Returns the percentage of the run that other programs and the hypervisor took.
    fn taken_percent(&self) -> Option<f64> {
        let taken = self.others_ns?.saturating_add(self.steal_ns.unwrap_or(0));
        (self.run_ns > 0).then(|| (taken as f64 / self.run_ns as f64 * 100.0).min(100.0))
    }
}

/// The percentage of a core from which a machine is busy. The two processes of a measurement have a
/// parent, which takes less than this.
const BUSY_PERCENT: f64 = 10.0;

/// The inconsistency of an [`EnvironmentReport`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// A figure is negative, infinite or NaN.
    #[error("{name} is not a number of at least zero")]
    NotANumber {
        /// The name of the field.
        name: &'static str,
    },
    /// A core is listed more than once.
    #[error("core {core} is listed twice")]
    SameCore {
        /// The number of the core.
        core: usize,
    },
    /// The interruptions of a core are inconsistent: the longest exceeds the sum, or the sum is not
    /// zero without interruptions.
    #[error("the interruptions of core {core} are inconsistent")]
    Interruptions {
        /// The number of the core.
        core: usize,
    },
}

impl EnvironmentReport {
    /// Checks that the report is consistent.
    ///
    /// # Errors
    /// An [`EnvironmentError`] for each rule.
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
            let CoreReport { interruptions, interrupted_ns, longest_ns, .. } = *core;
            if longest_ns > interrupted_ns || (interruptions == 0 && interrupted_ns > 0) {
                return Err(EnvironmentError::Interruptions { core: core.core });
            }
        }
        Ok(())
    }

    /// Returns the report as text: a line for the clock, one for the floor and one per core, each
    /// ending with a line feed.
    #[must_use]
    pub fn describe(&self) -> String {
        self.lines().into_iter().map(|line| line + "\n").collect()
    }

    /// Returns a sentence if other programs or the hypervisor took a part of the cores during the
    /// run, with the part and the remedy.
    #[must_use]
    pub fn busy(&self) -> Option<String> {
        let taken: Vec<String> = self.busy_cores().collect();
        let verb = if taken.len() == 1 { "was" } else { "were" };
        (!taken.is_empty()).then(|| {
            format!("{} {verb} taken by others: run again on an idle machine", taken.join(" and "))
        })
    }

    fn busy_cores(&self) -> impl Iterator<Item = String> {
        self.cores.iter().filter_map(|core| {
            let percent = core.taken_percent().filter(|percent| *percent >= BUSY_PERCENT)?;
            Some(format!("{percent:.0} % of core {}", core.core))
        })
    }

    /// Returns the lines of [`Self::describe`].
    pub(crate) fn lines(&self) -> Vec<String> {
        let drift = match self.drift_ppb {
            Some(parts) => format!("{parts:+.0} ppb against CLOCK_MONOTONIC"),
            None => "unknown".to_owned(),
        };
        let clock = format!(
            "clock: step {:.1} ns, reading {:.1} ns, fenced pair {:.1} ns; drift {drift}",
            self.clock_step_ns, self.clock_read_ns, self.clock_pair_ns
        );
        let floor = self.floor_ns.map(|nanos| {
            format!("floor: {} µs without work between two readings", micros(Some(nanos)))
        });
        [Some(clock), floor].into_iter().flatten().chain(self.cores.iter().map(line)).collect()
    }
}

fn line(core: &CoreReport) -> String {
    let percent = match core.watched_ns {
        0 => 0.0,
        watched => core.interrupted_ns as f64 / watched as f64 * 100.0,
    };
    let steal = match core.steal_ns {
        Some(nanos) => format!("{:.0} ms", nanos as f64 / 1e6),
        None => "unknown".to_owned(),
    };
    let others = match core.others_ns {
        Some(nanos) => format!("; other programs {:.0} ms", nanos as f64 / 1e6),
        None => String::new(),
    };
    format!(
        "core {}: {} interruptions in {:.1} s, {percent:.3} % of the time, longest {} µs; stolen \
         {steal}{others}",
        core.core,
        core.interruptions,
        core.watched_ns as f64 / 1e9,
        micros(Some(core.longest_ns)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORE: CoreReport = CoreReport {
        core: 1,
        watched_ns: 2_000_000_000,
        interruptions: 3,
        interrupted_ns: 1_000_000,
        longest_ns: 800_000,
        steal_ns: Some(20_000_000),
        run_ns: 1_000_000_000,
        others_ns: Some(340_000_000),
    };

    fn report() -> EnvironmentReport {
        EnvironmentReport {
            clock_step_ns: 10.0,
            clock_read_ns: 11.4,
            clock_pair_ns: 30.0,
            drift_ppb: Some(-120.0),
            floor_ns: Some(45),
            cores: vec![CoreReport { core: 0, steal_ns: None, others_ns: None, ..CORE }, CORE],
        }
    }

    fn changed(change: fn(&mut EnvironmentReport)) -> Result<(), EnvironmentError> {
        let mut report = report();
        change(&mut report);
        report.validate()
    }

    #[test]
    fn spans_must_not_be_negative() {
        assert_eq!(changed(|_| {}), Ok(()));
        let error = |name| Err(EnvironmentError::NotANumber { name });
        assert_eq!(changed(|it| it.clock_step_ns = -1.0), error("clock_step_ns"));
        assert_eq!(changed(|it| it.clock_read_ns = f64::NAN), error("clock_read_ns"));
        assert_eq!(changed(|it| it.clock_pair_ns = f64::INFINITY), error("clock_pair_ns"));
        assert_eq!(changed(|it| it.drift_ppb = Some(f64::NEG_INFINITY)), error("drift_ppb"));
        assert_eq!(changed(|it| it.drift_ppb = None), Ok(()));
    }

    #[test]
    fn cores_must_be_listed_once() {
        assert_eq!(changed(|it| it.cores[0].core = 1), Err(EnvironmentError::SameCore { core: 1 }));
    }

    #[test]
    fn interruptions_must_be_consistent() {
        let error = Err(EnvironmentError::Interruptions { core: 1 });
        assert_eq!(changed(|it| it.cores[1].longest_ns = 1_000_001), error);
        assert_eq!(changed(|it| it.cores[1].interruptions = 0), error);
    }

    #[test]
    fn description_contains_known_and_unknown_values() {
        let expected = "clock: step 10.0 ns, reading 11.4 ns, fenced pair 30.0 ns; drift -120 ppb \
                        against CLOCK_MONOTONIC\n\
                        floor: 0.05 µs without work between two readings\n\
                        core 0: 3 interruptions in 2.0 s, 0.050 % of the time, longest 800.00 \
                        µs; stolen unknown\n\
                        core 1: 3 interruptions in 2.0 s, 0.050 % of the time, longest 800.00 \
                        µs; stolen 20 ms; other programs 340 ms\n";
        assert_eq!(report().describe(), expected);
        assert!(EnvironmentReport::default().describe().ends_with("drift unknown\n"));
    }
    #[test]
    fn busy_cores_are_named_with_what_others_took() {
        let sentence = "36 % of core 1 was taken by others: run again on an idle machine";
        assert_eq!(report().busy().as_deref(), Some(sentence));
        let mut report = report();
        report.cores[0].others_ns = Some(120_000_000);
        let sentence = report.busy().unwrap_or_default();
        assert!(sentence.starts_with("12 % of core 0 and 36 % of core 1 were taken"), "{sentence}");
        report.cores.iter_mut().for_each(|core| core.others_ns = Some(50_000_000));
        assert_eq!(report.busy(), None);
    }
}
