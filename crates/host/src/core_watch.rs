//! How often a core is taken from a thread that wants nothing but to run.

use std::io;

use hairpin_time::{Duration, Instant};

use crate::{Clock, PinError, name_thread, pin};

/// What took a core from a spinning thread: interrupts, other threads, the hypervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreWatch {
    /// The core.
    pub core: usize,
    /// For how long it was watched.
    pub watched: Duration,
    /// Pauses longer than the threshold.
    pub interruptions: u64,
    /// Their sum.
    pub interrupted: Duration,
    /// The longest of them; zero if there was none.
    pub longest: Duration,
}

/// Spins on `core` for `span` and notes each pause between two readings of the clock that is longer
/// than `threshold`, as sysjitter does.
///
/// A thread of its own is pinned there and joined. A reading takes some 10 ns, so that a threshold
/// of a microsecond sees what the core does beside this and nothing of its own. Nothing else
/// should want the core meanwhile: it would be counted.
///
/// # Errors
/// `InvalidInput` if this process may not use the core, with those it may; those of starting a
/// thread.
pub fn watch_core(core: usize, span: Duration, threshold: Duration) -> io::Result<CoreWatch> {
    let watch = move || {
        name_thread("core-watch")?;
        pin(core).map_err(not_pinned)?;
        let clock = Clock::new();
        Ok(watch(core, span, threshold, || clock.instant()))
    };
    let thread = std::thread::Builder::new().spawn(watch)?;
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
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
    mut read: impl FnMut() -> Instant,
) -> CoreWatch {
    let (mut interruptions, mut interrupted, mut longest) = (0, Duration::ZERO, Duration::ZERO);
    let start = read();
    let mut last = start;
    while last.saturating_since(start) < span {
        let now = read();
        let pause = now.saturating_since(last);
        if pause > threshold {
            interruptions += 1;
            interrupted += pause;
            longest = longest.max(pause);
        }
        last = now;
    }
    CoreWatch { core, watched: last.saturating_since(start), interruptions, interrupted, longest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pauses_longer_than_the_threshold_are_interruptions() {
        let mut times = [0, 10, 1_010, 1_020, 2_021, 2_030, 7_030, 7_040, 9_999].into_iter();
        let at = || Instant::from_nanos(times.next().expect("ends before the readings do"));
        let span = Duration::from_nanos(7_040);
        let watched = watch(3, span, Duration::from_nanos(1_000), at);
        let expected = CoreWatch {
            core: 3,
            watched: span,
            interruptions: 2,
            interrupted: Duration::from_nanos(1_001 + 5_000),
            longest: Duration::from_nanos(5_000),
        };
        assert_eq!(watched, expected);
        assert_eq!(times.next(), Some(9_999), "it stops when its time is over");
    }

    #[test]
    fn a_core_that_is_watched_is_watched_for_its_time() {
        let core = crate::allowed_cores().unwrap()[0];
        let span = Duration::from_millis(2);
        let watched = watch_core(core, span, Duration::from_micros(1)).unwrap();
        assert!(watched.watched >= span, "{watched:?}");
        assert!(watched.interrupted <= watched.watched, "{watched:?}");
        assert!(watched.longest <= watched.interrupted, "{watched:?}");
        assert_eq!(watched.interruptions == 0, watched.longest == Duration::ZERO, "{watched:?}");
    }

    #[test]
    fn a_core_that_is_not_there_is_refused_with_those_that_are() {
        let error = watch_core(1_023, Duration::ZERO, Duration::ZERO).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert!(error.to_string().starts_with("core 1023 is not one this process"), "{error}");
    }
}
