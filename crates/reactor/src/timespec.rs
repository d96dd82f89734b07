//! Conversion of deadlines for the kernel's waits.

use hairpin_time::Instant;

/// Returns the time from `now` to `deadline`, zero if it has passed.
pub(crate) fn until(now: Instant, deadline: Instant) -> libc::timespec {
    let nanos = (deadline - now).as_nanos();
    // Both fields fit in their types: 2^64 ns are about 18 * 10^9 s.
    libc::timespec {
        tv_sec: (nanos / 1_000_000_000).cast_signed(),
        tv_nsec: (nanos % 1_000_000_000).cast_signed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(now: u64, deadline: u64) -> (i64, i64) {
        let time = until(Instant::from_nanos(now), Instant::from_nanos(deadline));
        (time.tv_sec, time.tv_nsec)
    }

    #[test]
    fn keeps_every_nanosecond_and_is_never_negative() {
        assert_eq!(parts(1, 2_000_000_004), (2, 3));
        assert_eq!(parts(5, 5), (0, 0));
        assert_eq!(parts(6, 5), (0, 0));
        assert_eq!(parts(0, u64::MAX), (18_446_744_073, 709_551_615));
    }
}
