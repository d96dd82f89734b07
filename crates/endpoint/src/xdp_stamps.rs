//! When datagrams came in past the kernel, by the clock that an endpoint tells.

use std::io;
use std::mem::MaybeUninit;

use hairpin_stack::{Stamp, StampSource};
use hairpin_time::Utc;

use crate::xdp::ReceiveStamps;
use crate::{Timestamp, Timestamping};

/// What becomes of the stamps of a stack's interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct XdpStamps {
    in_force: Timestamping,
    /// How far `CLOCK_TAI`, which the filter stamps by, is ahead of UTC.
    tai_offset_ns: u64,
}

impl XdpStamps {
    /// The interface stamps for all its sockets, or for none; this one may not want to know.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn new(asked: Timestamping, stamps: ReceiveStamps) -> io::Result<Self> {
        let in_force = match (asked, stamps) {
            (Timestamping::Software | Timestamping::Hardware, ReceiveStamps::Kernel) => {
                Timestamping::Software
            }
            (Timestamping::Software | Timestamping::Hardware, ReceiveStamps::Driver) => {
                Timestamping::Hardware
            }
            _ => Timestamping::Off,
        };
        Ok(Self { in_force, tai_offset_ns: tai_offset_ns()? })
    }

    pub(crate) fn in_force(self) -> Timestamping {
        self.in_force
    }

    #[inline]
    pub(crate) fn timestamp(self, stamp: Option<Stamp>) -> Timestamp {
        let Some(stamp) = stamp else { return Timestamp::None };
        if self.in_force == Timestamping::Off {
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

/// How far TAI is ahead of UTC, as the kernel has been told; 0 if it was not, and then its
/// `CLOCK_TAI` is not ahead either.
fn tai_offset_ns() -> io::Result<u64> {
    let mut times = MaybeUninit::<libc::timex>::zeroed();
    // SAFETY: all zero is a value of it, and asks for no change; the kernel fills it in.
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
    fn a_stamp_of_the_kernel_is_told_as_utc_and_one_of_the_device_as_it_is() {
        let stamps = XdpStamps { in_force: Timestamping::Software, tai_offset_ns: 37_000_000_000 };
        let software = stamps.timestamp(stamp(StampSource::SoftwareReceive));
        assert_eq!(software, Timestamp::Software(Utc::from_nanos(13_000_000_007)));
        let hardware = stamps.timestamp(stamp(StampSource::Hardware));
        assert_eq!(hardware, Timestamp::Hardware(Utc::from_nanos(50_000_000_007)));
        assert_eq!(stamps.timestamp(None), Timestamp::None);
    }

    #[test]
    fn who_does_not_want_stamps_has_none_and_who_does_has_what_there_is() {
        use ReceiveStamps::{Driver, Kernel, Off};
        for asked in [Timestamping::Software, Timestamping::Hardware] {
            let in_force = |stamps| XdpStamps::new(asked, stamps).unwrap().in_force();
            let found = [Off, Kernel, Driver].map(in_force);
            assert_eq!(found, [Timestamping::Off, Timestamping::Software, Timestamping::Hardware]);
        }
        let unwanted = XdpStamps::new(Timestamping::Off, Kernel).unwrap();
        assert_eq!(unwanted.in_force(), Timestamping::Off);
        assert_eq!(unwanted.timestamp(stamp(StampSource::SoftwareReceive)), Timestamp::None);
    }

    #[test]
    fn the_offset_is_that_of_the_kernels_clocks() {
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
