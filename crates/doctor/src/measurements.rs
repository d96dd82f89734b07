//! Measurements that take less than a second and disturb no other program.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::thread;
use std::time::Instant;

use hairpin_host::{Clock, ClockCost, ClockSource, CoreWatch, busy_time, steal_time, watch_core};
use hairpin_time::Duration;

/// The time over which the load is measured. The kernel counts it in ticks of 10 ms.
const LOAD: Duration = Duration::from_millis(500);
/// The time each core is watched: a tick of 1 to 10 ms occurs many times.
const WATCH: Duration = Duration::from_millis(200);
/// The shortest pause of a spinning loop that counts.
const THRESHOLD: Duration = Duration::from_micros(1);
/// The most cores that are watched, and the highest load of one, in percent. The watch itself must
/// not disturb a program that spins.
const WATCHED: usize = 2;
const IDLE_PERCENT: u32 = 5;
/// The system calls of a batch, and the batches, whose least time counts: some milliseconds.
const CALLS: u32 = 200;
const BATCHES: u32 = 50;

/// The results.
#[derive(Debug, Clone, Default)]
pub(crate) struct Measurements {
    pub(crate) clock: Option<MeasuredClock>,
    /// The time of a system call that does nothing, in nanoseconds.
    pub(crate) system_call_ns: Option<f64>,
    pub(crate) loads: Vec<CoreLoad>,
    pub(crate) watches: Vec<CoreWatch>,
}

/// The clock that Hairpin uses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MeasuredClock {
    pub(crate) source: ClockSource,
    /// The costs of a reading with that clock, and with the kernel's.
    pub(crate) read_ns: f64,
    pub(crate) kernel_read_ns: f64,
}

/// The load of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CoreLoad {
    pub(crate) core: usize,
    pub(crate) busy_percent: u32,
    pub(crate) stolen_percent: u32,
}

impl Measurements {
    /// Measures for about 0.7 s. `cores` are those that this process may use.
    pub(crate) fn take(cores: &[usize]) -> Self {
        let loads = loads(cores);
        let idle = loads.iter().filter(|load| load.busy_percent <= IDLE_PERCENT);
        let idle: Vec<usize> = idle.map(|load| load.core).take(WATCHED).collect();
        let watches = thread::scope(|scope| {
            let watch = |&core| scope.spawn(move || watch_core(core, WATCH, THRESHOLD).ok());
            let running: Vec<_> = idle.iter().map(watch).collect();
            running.into_iter().filter_map(|it| it.join().ok().flatten()).collect()
        });
        let clock = Clock::new();
        let read_ns = |clock: &Clock| ClockCost::measure(clock).read_ns;
        Self {
            clock: Some(MeasuredClock {
                source: clock.source(),
                read_ns: read_ns(&clock),
                kernel_read_ns: read_ns(&Clock::from_kernel()),
            }),
            system_call_ns: system_call_ns(),
            loads,
            watches,
        }
    }

    /// Describes the watched core with the longest pauses.
    pub(crate) fn worst_pauses(&self) -> Option<String> {
        let interrupted = self.watches.iter().filter(|watch| watch.interruptions > 0);
        let worst = interrupted.max_by_key(|watch| watch.longest)?;
        let per_second = worst.interruptions * 1_000_000_000 / worst.watched.as_nanos().max(1);
        let longest = worst.longest.as_nanos().div_ceil(1_000);
        Some(format!("core {} {per_second} times a second, up to {longest} us", worst.core))
    }
}

impl fmt::Display for CoreLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "core {} {} %", self.core, self.busy_percent)
    }
}

/// Measures the load of cores.
fn loads(cores: &[usize]) -> Vec<CoreLoad> {
    let nanos = |read: fn(usize) -> std::io::Result<Option<Duration>>, core| {
        read(core).ok().flatten().map(Duration::as_nanos)
    };
    let both = |core| Some((nanos(busy_time, core)?, nanos(steal_time, core).unwrap_or(0)));
    let before: Vec<_> = cores.iter().map(|&core| (core, both(core))).collect();
    let start = Instant::now();
    thread::sleep(LOAD.into());
    let span = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX).max(1);
    let load = |(core, before): (usize, Option<(u64, u64)>)| {
        let ((busy, stolen), before) = (both(core)?, before?);
        let percent = |after: u64, before: u64| {
            u32::try_from(after.saturating_sub(before) * 100 / span).unwrap_or(100).min(100)
        };
        let (busy_percent, stolen_percent) = (percent(busy, before.0), percent(stolen, before.1));
        Some(CoreLoad { core, busy_percent, stolen_percent })
    };
    before.into_iter().filter_map(load).collect()
}

/// Returns the time of read(2) on a file without content: the mean of the fastest batch.
fn system_call_ns() -> Option<f64> {
    let mut empty = File::open("/dev/null").ok()?;
    let mut batch = || {
        let start = Instant::now();
        for _ in 0..CALLS {
            let _ = empty.read(&mut [0]);
        }
        start.elapsed().as_nanos()
    };
    let least = (0..BATCHES).map(|_| batch()).min()?;
    Some(least as f64 / f64::from(CALLS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worst_pauses_are_those_of_the_longest() {
        let watch = |core, interruptions, longest_us| CoreWatch {
            core,
            watched: Duration::from_millis(200),
            interruptions,
            interrupted: Duration::ZERO,
            longest: Duration::from_micros(longest_us),
        };
        let watches = vec![watch(0, 50, 4), watch(1, 10, 90), watch(2, 0, 0)];
        let measured = Measurements { watches, ..Measurements::default() };
        assert_eq!(measured.worst_pauses().unwrap(), "core 1 50 times a second, up to 90 us");
        assert_eq!(Measurements::default().worst_pauses(), None);
    }

    #[test]
    fn loads_of_this_host_are_measured() {
        let cores = hairpin_host::allowed_cores().unwrap();
        let measured = Measurements::take(&cores);
        assert_eq!(measured.loads.len(), cores.len());
        assert!(measured.system_call_ns.is_some_and(|ns| ns > 1.0));
        assert!(measured.clock.is_some_and(|clock| clock.read_ns > 0.0));
    }
}
