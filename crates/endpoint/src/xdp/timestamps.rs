//! Receive timestamps of kernel-bypass sockets.

use std::io;
use std::mem::MaybeUninit;

use hairpin_stack::{Stamp, StampSource};
use hairpin_time::Utc;

use crate::xdp::ReceiveStamps;
use crate::{Timestamp, Timestamping};

/// The conversion of a stack's timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct XdpTimestamps {
    active: Timestamping,
    /// The offset of `CLOCK_TAI`, which the filter uses for timestamps, from UTC in nanoseconds.
    tai_offset_ns: u64,
}

impl XdpTimestamps {
    /// Selects the timestamping of one socket. The interface timestamps for all its sockets or for
    /// none, and a socket may ignore the timestamps.
    ///
    /// # Errors
    /// The kernel's errors.
    pub(crate) fn new(requested: Timestamping, stamps: ReceiveStamps) -> io::Result<Self> {
        let active = match (requested, stamps) {
            (Timestamping::Software | Timestamping::Hardware, ReceiveStamps::Kernel) => {
                Timestamping::Software
            }
            (Timestamping::Software | Timestamping::Hardware, ReceiveStamps::Driver) => {
                Timestamping::Hardware
            }
            _ => Timestamping::Off,
        };
        Ok(Self { active, tai_offset_ns: tai_offset_ns()? })
    }

    pub(crate) fn active(self) -> Timestamping {
        self.active
    }

    #[inline]
    pub(crate) fn timestamp(self, stamp: Option<Stamp>) -> Timestamp {
        let Some(stamp) = stamp else { return Timestamp::None };
        if self.active == Timestamping::Off {
            return Timestamp::None;
        }
        match stamp.source {
            StampSource::Hardware => Timestamp::Hardware(Utc::from_nanos(stamp.nanoseconds)),
            _ => {
                let utc = stamp.nanoseconds.saturating_sub(self.tai_offset_ns);
                Timestamp::Software(Utc::from_nanos(utc))
            }
        }
    }
}

/// Returns the kernel's TAI-UTC offset. If it was never set it is 0, and then `CLOCK_TAI` equals
/// UTC.
fn tai_offset_ns() -> io::Result<u64> {
    let mut times = MaybeUninit::<libc::timex>::zeroed();
    // SAFETY: all zeros is a valid value and requests no change; the kernel fills in the structure.
    let times = unsafe {
        if libc::adjtimex(times.as_mut_ptr()) < 0 {
            return Err(io::Error::last_os_error());
        }
        times.assume_init()
    };
    Ok(u64::from(times.tai.max(0).unsigned_abs()) * 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(source: StampSource) -> Option<Stamp> {
        Some(Stamp { nanoseconds: 50_000_000_007, source })
    }

    #[test]
    fn converts_software_timestamps_from_tai_to_utc() {
        let timestamps =
            XdpTimestamps { active: Timestamping::Software, tai_offset_ns: 37_000_000_000 };
        let software = timestamps.timestamp(stamp(StampSource::SoftwareReceive));
        assert_eq!(software, Timestamp::Software(Utc::from_nanos(13_000_000_007)));
        let hardware = timestamps.timestamp(stamp(StampSource::Hardware));
        assert_eq!(hardware, Timestamp::Hardware(Utc::from_nanos(50_000_000_007)));
        assert_eq!(timestamps.timestamp(None), Timestamp::None);
    }

    #[test]
    fn uses_available_timestamps_only_if_requested() {
        use ReceiveStamps::{Driver, Kernel, Off};
        for requested in [Timestamping::Software, Timestamping::Hardware] {
            let active = |stamps| XdpTimestamps::new(requested, stamps).unwrap().active();
            let found = [Off, Kernel, Driver].map(active);
            assert_eq!(found, [Timestamping::Off, Timestamping::Software, Timestamping::Hardware]);
        }
        let unwanted = XdpTimestamps::new(Timestamping::Off, Kernel).unwrap();
        assert_eq!(unwanted.active(), Timestamping::Off);
        assert_eq!(unwanted.timestamp(stamp(StampSource::SoftwareReceive)), Timestamp::None);
    }

    #[test]
    fn tai_offset_matches_kernel_clocks() {
        let read = |clock| {
            let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: the time is written to a local variable.
            assert_eq!(unsafe { libc::clock_gettime(clock, &raw mut time) }, 0);
            time.tv_sec
        };
        let before = read(libc::CLOCK_REALTIME);
        let tai = read(libc::CLOCK_TAI);
        let after = read(libc::CLOCK_REALTIME);
        let offset = (tai_offset_ns().unwrap() / 1_000_000_000).cast_signed();
        assert!((tai - after..=tai - before).contains(&offset), "{offset}");
    }
}
