//! Interface descriptions in a capture.

use hairpin_time::{Duration, Utc};

use super::{CaptureClock, CaptureTime, LinkType};

const SECOND: u128 = 1_000_000_000;

/// A capturing interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// The link type.
    pub link: LinkType,
    /// The name. Empty if the file has none.
    pub name: String,
    /// The description. Empty if the file has none.
    pub description: String,
    /// The clock of the capture times.
    pub clock: CaptureClock,
    /// The capture's snapshot length in bytes. 0: no limit.
    pub(super) longest_frame: u32,
    unit: Unit,
    /// The offset of all times in seconds.
    pub(super) offset: i64,
    precision: Duration,
}

/// The unit of an interface's times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// A multiple of a nanosecond.
    Nanos(u64),
    /// A fraction of a second: the number of units per second.
    Fraction(u128),
}

impl Interface {
    /// Creates the interface of a pcap file, whose times are converted to nanoseconds.
    pub(super) fn from_pcap(link: LinkType, precision: Duration) -> Self {
        Self { unit: Unit::Nanos(1), precision, ..Self::new(link, 0) }
    }

    /// Creates the interface of a pcapng file. The default unit is a microsecond.
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

    /// Sets the option `if_tsresol`: a negative power of ten, or of two if the highest bit is set.
    pub(super) fn set_resolution(&mut self, resolution: u8) {
        let units = match resolution {
            power @ 0..=38 => 10_u128.pow(power.into()),
            power @ 0x80.. => 1 << (power & 0x7f),
            // Finer than a 64-bit time can represent.
            _ => return,
        };
        self.precision = Duration::from_nanos((SECOND / units).max(1) as u64);
        self.unit = match SECOND.is_multiple_of(units) {
            true => Unit::Nanos((SECOND / units) as u64),
            false => Unit::Fraction(units),
        };
    }

    /// Converts a time in units. Returns `None` if it is before 1970 or out of range.
    #[inline]
    pub(super) fn time(&self, units: u64) -> Option<CaptureTime> {
        let nanos = match self.unit {
            Unit::Nanos(nanos) => units.checked_mul(nanos)?,
            Unit::Fraction(units_per_second) => fraction(units, units_per_second)?,
        };
        let nanos = if self.offset == 0 { nanos } else { with_offset(nanos, self.offset)? };
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
fn with_offset(nanos: u64, seconds: i64) -> Option<u64> {
    u64::try_from(i128::from(nanos) + i128::from(seconds) * SECOND as i128).ok()
}
