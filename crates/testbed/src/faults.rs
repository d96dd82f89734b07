//! The faults of one direction of a relay, with the same names as in `hairpin-netsim`.

use std::time::Duration;

/// A probability in parts per million.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chance(u32);

impl Chance {
    const MILLION: u32 = 1_000_000;

    /// Probability 0.
    pub const NEVER: Self = Self(0);
    /// Probability 1.
    pub const ALWAYS: Self = Self(Self::MILLION);

    /// Returns a probability in parts per million.
    #[must_use]
    pub const fn per_million(parts: u32) -> Self {
        Self(parts)
    }

    /// Returns a probability in percent.
    #[must_use]
    pub const fn percent(parts: u32) -> Self {
        Self(parts.saturating_mul(10_000))
    }

    /// Returns `true` for the fraction of all `u64` values that equals the probability.
    pub(crate) const fn includes(self, drawn: u64) -> bool {
        // The high half of the product scales `drawn` to 0..1,000,000.
        ((drawn as u128 * Self::MILLION as u128) >> 64) < self.0 as u128
    }
}

/// The delay of a frame: from `min` to `min + jitter`, plus `long` with the probability
/// `long_chance`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Delay {
    /// The minimum.
    pub min: Duration,
    /// The maximum of a uniformly distributed addition.
    pub jitter: Duration,
    /// The probability of adding `long`.
    pub long_chance: Chance,
    /// The addition of a long delay.
    pub long: Duration,
}

impl Delay {
    /// Returns a constant delay.
    #[must_use]
    pub const fn exactly(min: Duration) -> Self {
        let (jitter, long) = (Duration::ZERO, Duration::ZERO);
        Self { min, jitter, long_chance: Chance::NEVER, long }
    }
}

/// The rate of a link and the size of its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Bytes per second, at least 1. Frames count with their Ethernet header.
    pub bytes_per_second: u64,
    /// The most bytes that wait for the link. A frame beyond that is dropped.
    pub queue_bytes: usize,
}

/// Reordering by holding frames back until others have overtaken them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    /// The probability that a frame is held back.
    pub chance: Chance,
    /// The number of frames of the same direction that overtake a held frame, at least 1. Frames
    /// that the filter does not select, and held frames, do not count.
    pub frames: u32,
    /// The time after which a held frame leaves in any case.
    pub at_most: Duration,
}

/// The part of a frame in which a bit is flipped.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The payload of UDP or TCP; of other IP packets, the payload of IP. A frame without payload
    /// stays unchanged.
    #[default]
    Payload,
    /// Everything after the Ethernet header.
    Packet,
}

/// A transport protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// UDP.
    Udp,
    /// TCP.
    Tcp,
}

impl Protocol {
    /// Returns the protocol number of the IP header.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::Udp => 17,
            Self::Tcp => 6,
        }
    }
}

/// The frames that faults affect. All others pass immediately and unchanged.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Filter {
    /// The transport protocol of the selected frames; `None` for all frames.
    pub protocol: Option<Protocol>,
    /// The source or destination port of the selected UDP and TCP frames; `None` for all. Fragments
    /// after the first contain no port and are not selected.
    pub port: Option<u16>,
    /// `true` to select ARP too, independently of the other fields.
    pub arp: bool,
}

/// The faults of the frames of one direction, applied in the order of the fields.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Faults {
    /// The affected frames; by default all except ARP.
    pub filter: Filter,
    /// The probability of loss.
    pub loss: Chance,
    /// The rate of the link. `None` for a link without limit.
    pub rate: Option<Rate>,
    /// The probability of a second copy, which has a delay of its own.
    pub duplication: Chance,
    /// The probability of one flipped bit, drawn for each copy. The checksums of IP, UDP and TCP
    /// detect every single-bit error.
    pub corruption: Chance,
    /// The part with the flipped bit.
    pub corrupted_part: Part,
    /// The delay, in addition to the relay's processing time.
    pub delay: Delay,
    /// `true` if a frame may overtake others, which happens with a jitter longer than the interval
    /// between frames, or with a long delay. Otherwise a frame waits for the frames before it.
    pub reorders: bool,
    /// Frames held back until others have overtaken them, independently of `reorders`.
    pub holding: Option<Holding>,
}

impl Faults {
    /// No faults.
    pub const NONE: Self = Self {
        filter: Filter { protocol: None, port: None, arp: false },
        loss: Chance::NEVER,
        rate: None,
        duplication: Chance::NEVER,
        corruption: Chance::NEVER,
        corrupted_part: Part::Payload,
        delay: Delay::exactly(Duration::ZERO),
        reorders: false,
        holding: None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_includes_its_fraction_of_all_numbers() {
        assert!(!Chance::NEVER.includes(0));
        assert!(Chance::ALWAYS.includes(u64::MAX) && Chance::percent(200).includes(u64::MAX));
        let quarter = Chance::percent(25);
        assert!(quarter.includes((1 << 62) - 1) && !quarter.includes(1 << 62));
        let millionth = Chance::per_million(1);
        assert!(
            millionth.includes(u64::MAX / 1_000_000) && !millionth.includes(u64::MAX / 999_000)
        );
    }

    #[test]
    fn default_has_no_faults() {
        assert_eq!(Faults::NONE, Faults::default());
    }
}
