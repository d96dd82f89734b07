//! What the measuring itself is good for here: checked before and after a run, never while it runs.

use anyhow::{Context, Result};
use hairpin_host::{Clock, ClockCost, CoreWatch, Drift, backlog_drops, steal_time, watch_core};
use hairpin_measure::{CoreReport, EnvironmentReport};
use hairpin_time::Duration;

/// How long each core is watched: long enough to see a timer tick, of 1 to 10 ms, many times.
const WATCH: Duration = Duration::from_millis(200);
/// A pause of a spinning loop that something else must have caused.
const THRESHOLD: Duration = Duration::from_micros(1);
/// Samples of nothing.
const FLOOR_SAMPLES: usize = 10_001;

/// What was found before a run, and what is to be looked at again after it.
pub(crate) struct Checks {
    cost: ClockCost,
    drift: Drift,
    floor: Duration,
    cores: Vec<Core>,
    drops: Option<u64>,
}

struct Core {
    watch: CoreWatch,
    steal: Option<Duration>,
}

impl Checks {
    /// Looks at the clock and, one after the other, at the cores that a run is going to use: 0.2 s
    /// each.
    ///
    /// # Errors
    /// A core that cannot be used.
    pub(crate) fn before(clock: &Clock, cores: &[usize]) -> Result<Self> {
        let watched = cores.iter().map(|&core| {
            let watch = watch_core(core, WATCH, THRESHOLD)
                .with_context(|| format!("core {core} cannot be watched"))?;
            Ok(Core { watch, steal: steal_time(core).ok().flatten() })
        });
        let watched = watched.collect::<Result<_>>()?;
        Ok(Self {
            cost: ClockCost::measure(clock),
            drift: Drift::new(clock),
            floor: floor(clock),
            cores: watched,
            drops: backlog_drops().ok(),
        })
    }

    /// Looks again and says what there is to know.
    pub(crate) fn after(&self) -> EnvironmentReport {
        EnvironmentReport {
            clock_step_ns: self.cost.step_ns,
            clock_read_ns: self.cost.read_ns,
            clock_pair_ns: self.cost.pair_ns,
            drift_ppb: self.drift.parts_per_billion(),
            floor_ns: Some(self.floor.as_nanos()),
            cores: self.cores.iter().map(Core::after).collect(),
        }
    }

    /// How many packets the kernel has dropped at a processor's backlog since, on whatever way they
    /// were: it does not tell the socket they were for. Empty if it does not tell at all.
    pub(crate) fn describe_drops(&self) -> String {
        match backlog_drops().ok().zip(self.drops) {
            Some((after, before)) => {
                let packets = after.saturating_sub(before);
                format!("{packets} packets dropped at the kernel's backlogs\n")
            }
            None => String::new(),
        }
    }
}

impl Core {
    fn after(&self) -> CoreReport {
        let CoreWatch { core, watched, interruptions, interrupted, longest } = self.watch;
        let steal = steal_time(core).ok().flatten().zip(self.steal);
        CoreReport {
            core,
            watched_ns: watched.as_nanos(),
            interruptions,
            interrupted_ns: interrupted.as_nanos(),
            longest_ns: longest.as_nanos(),
            steal_ns: steal.map(|(after, before)| after.saturating_sub(before).as_nanos()),
        }
    }
}

/// The median of samples with nothing between their two readings of the clock.
fn floor(clock: &Clock) -> Duration {
    let mut samples: Vec<Duration> = (0..FLOOR_SAMPLES)
        .map(|_| {
            let before = clock.instant();
            clock.instant() - before
        })
        .collect();
    samples.sort_unstable();
    samples[FLOOR_SAMPLES / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_agrees_with_itself() {
        let clock = Clock::new();
        let core = hairpin_host::allowed_cores().unwrap()[0];
        let checks = Checks::before(&clock, &[core]).unwrap();
        std::thread::sleep(core::time::Duration::from_millis(20));
        let truth = checks.after();
        truth.validate().unwrap();
        assert_eq!(truth.cores[0].core, core);
        assert!(truth.cores[0].watched_ns >= WATCH.as_nanos());
        assert_eq!(truth.drift_ppb.is_some(), clock.tsc_hz().is_some());
        assert!(truth.clock_step_ns > 0.0 && truth.floor_ns.is_some());
    }

    #[test]
    fn a_core_that_is_not_there_is_named() {
        let error = Checks::before(&Clock::from_kernel(), &[1_023]).err().unwrap();
        assert!(format!("{error:#}").starts_with("core 1023 cannot be watched: "), "{error:#}");
    }
}
