//! Checks of the host before and after a run: clock, pinned cores, dropped packets.

use std::panic::resume_unwind;
use std::thread;

use anyhow::{Context, Result};
use hairpin_host::{
    Clock, ClockCost, CoreWatch, Drift, backlog_drops, busy_time, steal_time, watch_core,
};
use hairpin_measure::{CoreReport, EnvironmentReport, counted};
use hairpin_time::Duration;

use crate::child_process;

/// The time each core is watched: long enough to see a timer tick of 1 to 10 ms many times.
const WATCH: Duration = Duration::from_millis(200);
/// The shortest pause of a spinning loop that counts as an interruption.
const THRESHOLD: Duration = Duration::from_micros(1);
/// The number of empty samples for the floor.
const FLOOR_SAMPLES: usize = 10_001;

/// The results of the checks before a run, for comparison after it.
pub struct HostChecks {
    cost: ClockCost,
    drift: Drift,
    floor: Duration,
    cores: Vec<Core>,
    drops: Option<u64>,
}

struct Core {
    watch: CoreWatch,
    began: std::time::Instant,
    steal: Option<Duration>,
    /// The time that other programs ran on it.
    others: Option<Duration>,
}

impl HostChecks {
    /// Checks the clock, and all cores of the run at once for 0.2 s.
    ///
    /// # Errors
    /// A core that cannot be used.
    pub fn start(clock: &Clock, cores: &[usize]) -> Result<Self> {
        let watched: Result<Vec<Core>> = thread::scope(|scope| {
            let watch = |&core| scope.spawn(move || Core::watch(core));
            let watches: Vec<_> = cores.iter().map(watch).collect();
            let joined = watches.into_iter().map(|watch| watch.join());
            joined.map(|core| core.unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        Ok(Self {
            cost: ClockCost::measure(clock),
            drift: Drift::new(clock),
            floor: floor(clock),
            cores: watched?,
            drops: backlog_drops().ok(),
        })
    }

    /// Checks again and returns the report.
    pub fn after(&self) -> EnvironmentReport {
        EnvironmentReport {
            clock_step_ns: self.cost.step_ns,
            clock_read_ns: self.cost.read_ns,
            clock_pair_ns: self.cost.pair_ns,
            drift_ppb: self.drift.parts_per_billion(),
            floor_ns: Some(self.floor.as_nanos()),
            cores: self.cores.iter().map(Core::after).collect(),
        }
    }

    /// Describes how many packets the kernel has dropped at per-CPU backlogs since the start, of
    /// any socket. Empty if the kernel does not count them.
    pub fn describe_drops(&self) -> String {
        match backlog_drops().ok().zip(self.drops) {
            Some((after, before)) => {
                let packets = after.saturating_sub(before);
                format!("{} dropped at the kernel's backlogs\n", counted(packets, "packet"))
            }
            None => String::new(),
        }
    }
}

impl Core {
    fn watch(core: usize) -> Result<Self> {
        let watch = watch_core(core, WATCH, THRESHOLD)
            .with_context(|| format!("cannot watch core {core}"))?;
        let (steal, others) = (steal_time(core).ok().flatten(), others(core));
        Ok(Self { watch, began: std::time::Instant::now(), steal, others })
    }

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
            run_ns: u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX),
            others_ns: others(core)
                .zip(self.others)
                .map(|(after, before)| after.saturating_sub(before).as_nanos()),
        }
    }
}

/// Returns the time since boot in which `core` executed anything but our children that have ended.
fn others(core: usize) -> Option<Duration> {
    let ours = child_process::time_on(core).as_nanos();
    let busy = busy_time(core).ok().flatten()?;
    Some(Duration::from_nanos(busy.as_nanos().saturating_sub(u64::try_from(ours).ok()?)))
}

/// Returns the median of samples without work between their two clock readings.
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
    fn detects_consistent_groups() {
        let clock = Clock::new();
        let core = hairpin_host::allowed_cores().unwrap()[0];
        let checks = HostChecks::start(&clock, &[core]).unwrap();
        std::thread::sleep(core::time::Duration::from_millis(20));
        let truth = checks.after();
        truth.validate().unwrap();
        assert_eq!(truth.cores[0].core, core);
        assert!(truth.cores[0].watched_ns >= WATCH.as_nanos());
        assert_eq!(truth.drift_ppb.is_some(), clock.tsc_hz().is_some());
        assert!(truth.clock_step_ns > 0.0 && truth.floor_ns.is_some());
    }

    #[test]
    fn names_missing_core() {
        let error = HostChecks::start(&Clock::from_kernel(), &[1_023]).err().unwrap();
        assert!(format!("{error:#}").starts_with("cannot watch core 1023: "), "{error:#}");
    }
}
