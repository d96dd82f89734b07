//! Interruptions of a spinning thread on one core.

use std::io;

use hairpin_time::{Duration, Instant};

use crate::{Clock, PinError, name_thread, pin};

/// The interruptions of a spinning thread on one core, by interrupts, other threads or the
/// hypervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreWatch {
    /// The core.
    pub core: usize,
    /// The duration of the measurement.
    pub watched: Duration,
    /// The number of pauses longer than the threshold.
    pub interruptions: u64,
    /// The sum of these pauses.
    pub interrupted: Duration,
    /// The longest pause, or zero.
    pub longest: Duration,
}

/// Spins on `core` for `span` and records each pause between two clock readings that is longer than
/// `threshold`, like sysjitter.
///
/// A separate thread is pinned to the core and joined. A reading takes about 10 ns, so a threshold
/// of a microsecond excludes the cost of the measurement. Other threads on the core are counted as
/// interruptions.
///
/// # Errors
/// `InvalidInput` if this process may not use the core, with the allowed cores. Otherwise the
/// errors of starting a thread.
pub fn watch_core(core: usize, span: Duration, threshold: Duration) -> io::Result<CoreWatch> {
    let watch = move || {
        name_thread("core-watch")?;
        watch_this_core(core, span, threshold, || false, |_| {})
    };
    let thread = std::thread::Builder::new().spawn(watch)?;
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// As [`watch_core`], on the calling thread, which stays pinned to the core. Calls `record` with
/// each pause, and ends early when `is_over` returns `true`.
///
/// # Errors
/// As for [`watch_core`].
pub fn watch_this_core(
    core: usize,
    span: Duration,
    threshold: Duration,
    is_over: impl FnMut() -> bool,
    record: impl FnMut(Duration),
) -> io::Result<CoreWatch> {
    pin(core).map_err(not_pinned)?;
    let clock = Clock::new();
    let read = || clock.instant();
    Ok(watch(core, span, threshold, is_over, read, record))
}

fn not_pinned(error: PinError) -> io::Error {
    match error {
        PinError::Refused { source, .. } => source,
        not_allowed @ PinError::NotAllowed { .. } => {
            io::Error::new(io::ErrorKind::InvalidInput, not_allowed)
        }
    }
}

fn watch(
    core: usize,
    span: Duration,
    threshold: Duration,
    mut is_over: impl FnMut() -> bool,
    mut read: impl FnMut() -> Instant,
    mut record: impl FnMut(Duration),
) -> CoreWatch {
    let (mut interruptions, mut interrupted, mut longest) = (0, Duration::ZERO, Duration::ZERO);
    let start = read();
    let mut last = start;
    while last.saturating_since(start) < span && !is_over() {
        let now = read();
        let pause = now.saturating_since(last);
        if pause > threshold {
            interruptions += 1;
            interrupted += pause;
            longest = longest.max(pause);
            record(pause);
        }
        last = now;
    }
    CoreWatch { core, watched: last.saturating_since(start), interruptions, interrupted, longest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_pauses_longer_than_threshold() {
        let mut times = [0, 10, 1_010, 1_020, 2_021, 2_030, 7_030, 7_040, 9_999].into_iter();
        let at =
            || Instant::from_nanos(times.next().expect("the measurement ends before the readings"));
        let span = Duration::from_nanos(7_040);
        let mut pauses = Vec::new();
        let threshold = Duration::from_nanos(1_000);
        let record = |pause: Duration| pauses.push(pause.as_nanos());
        let watched = watch(3, span, threshold, || false, at, record);
        assert_eq!(pauses, [1_001, 5_000]);
        let expected = CoreWatch {
            core: 3,
            watched: span,
            interruptions: 2,
            interrupted: Duration::from_nanos(1_001 + 5_000),
            longest: Duration::from_nanos(5_000),
        };
        assert_eq!(watched, expected);
        assert_eq!(times.next(), Some(9_999), "the measurement stops when the span is over");
    }

    #[test]
    fn watches_core_for_whole_span() {
        let core = crate::allowed_cores().unwrap()[0];
        let span = Duration::from_millis(2);
        let watched = watch_core(core, span, Duration::from_micros(1)).unwrap();
        assert!(watched.watched >= span, "{watched:?}");
        assert!(watched.interrupted <= watched.watched, "{watched:?}");
        assert!(watched.longest <= watched.interrupted, "{watched:?}");
        assert_eq!(watched.interruptions == 0, watched.longest == Duration::ZERO, "{watched:?}");
    }

    #[test]
    fn error_lists_allowed_cores() {
        let error = watch_core(1_023, Duration::ZERO, Duration::ZERO).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert!(
            error.to_string().starts_with("cannot pin to core 1023: allowed cores are "),
            "{error}"
        );
    }
}
