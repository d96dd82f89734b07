//! What a capture says of an interface.

use hairpin_time::{Duration, Utc};

use super::{CaptureClock, CaptureTime, LinkType};

/// Nanoseconds in a second.
const SECOND: u128 = 1_000_000_000;

/// An interface that frames were captured at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// The kind of its link.
    pub link: LinkType,
    /// Its name; empty if the file has none.
    pub name: String,
    /// What it is said to be; empty if the file says nothing.
    pub description: String,
    /// Whose clock its times were taken by.
    pub clock: CaptureClock,
    /// The most bytes of a frame that were captured; 0: no limit.
    pub(super) longest_frame: u32,
    unit: Unit,
    /// Seconds to be added to all times.
    pub(super) offset: i64,
    precision: Duration,
}

/// What the times of an interface count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// So many nanoseconds.
    Nanos(u64),
    /// Parts of a second, so many of them.
    Fraction(u128),
}

impl Interface {
    /// Of a pcap file, whose times are whole nanoseconds here.
    pub(super) fn of_pcap(link: LinkType, precision: Duration) -> Self {
        Self { unit: Unit::Nanos(1), precision, ..Self::new(link, 0) }
    }

    /// Of a pcapng file: microseconds, unless an option says otherwise.
    pub(super) fn new(link: LinkType, longest_frame: u32) -> Self {
        Self {
            link,
            name: String::new(),
            description: String::new(),
            clock: CaptureClock::Unknown,
            longest_frame,
            unit: Unit::Nanos(1_000),
            offset: 0,
            precision: Duration::from_micros(1),
        }
    }

    /// Takes the option `if_tsresol`: a negative power of ten, or with the highest bit set of two.
    pub(super) fn set_resolution(&mut self, resolution: u8) {
        let units = match resolution {
            power @ 0..=38 => 10_u128.pow(power.into()),
            power @ 0x80.. => 1 << (power & 0x7f),
            // Beyond what a time of 64 bits can tell.
            _ => return,
        };
        self.precision = Duration::from_nanos((SECOND / units).max(1) as u64);
        self.unit = match SECOND.is_multiple_of(units) {
            true => Unit::Nanos((SECOND / units) as u64),
            false => Unit::Fraction(units),
        };
    }

    /// The time of so many units; nothing if it is before 1970 or beyond all reason.
    #[inline]
    pub(super) fn time(&self, units: u64) -> Option<CaptureTime> {
        let nanos = match self.unit {
            Unit::Nanos(nanos) => units.checked_mul(nanos)?,
            Unit::Fraction(units_per_second) => fraction(units, units_per_second)?,
        };
        let nanos = if self.offset == 0 { nanos } else { moved(nanos, self.offset)? };
        let utc = Utc::from_nanos(nanos);
        Some(CaptureTime { utc, precision: self.precision, clock: self.clock })
    }
}

#[cold]
fn fraction(units: u64, units_per_second: u128) -> Option<u64> {
    let units = u128::from(units);
    let rest = (units % units_per_second).checked_mul(SECOND)? / units_per_second;
    u64::try_from(units / units_per_second * SECOND + rest).ok()
}

#[cold]
fn moved(nanos: u64, seconds: i64) -> Option<u64> {
    u64::try_from(i128::from(nanos) + i128::from(seconds) * SECOND as i128).ok()
}
