//! How bad one direction of a relay is. The words are those of the simulated network.

use std::time::Duration;

/// How likely something is, in parts of a million.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chance(u32);

impl Chance {
    const MILLION: u32 = 1_000_000;

    /// It does not happen.
    pub const NEVER: Self = Self(0);
    /// It happens each time.
    pub const ALWAYS: Self = Self(Self::MILLION);

    /// It happens so many times in a million.
    #[must_use]
    pub const fn per_million(parts: u32) -> Self {
        Self(parts)
    }

    /// It happens so many times in a hundred.
    #[must_use]
    pub const fn percent(parts: u32) -> Self {
        Self(parts.saturating_mul(10_000))
    }

    /// Whether it happens to one who has drawn this number.
    pub(crate) const fn includes(self, drawn: u64) -> bool {
        // The high half of a product with a `u64` fits in one.
        ((drawn as u128 * Self::MILLION as u128) >> 64) < self.0 as u128
    }
}

/// How long a frame is under way: at least `min`, at most `min + jitter`, and now and then `long`
/// on top.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Delay {
    /// The least.
    pub min: Duration,
    /// What may be added, evenly spread.
    pub jitter: Duration,
    /// How often `long` is added.
    pub long_chance: Chance,
    /// What is added then.
    pub long: Duration,
}

impl Delay {
    /// Always the same.
    #[must_use]
    pub const fn exactly(min: Duration) -> Self {
        let (jitter, long) = (Duration::ZERO, Duration::ZERO);
        Self { min, jitter, long_chance: Chance::NEVER, long }
    }
}

/// What a line can carry, and how much waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Bytes a second, at least 1; frames are counted with their Ethernet header.
    pub bytes_per_second: u64,
    /// Bytes that wait for the line at most; a frame beyond that is lost.
    pub queue_bytes: usize,
}

/// Frames that are held back until others have overtaken them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    /// How often a frame is held back.
    pub chance: Chance,
    /// How many frames of the same direction overtake it, at least 1. Those that the filter does
    /// not choose, and those held back themselves, do not count.
    pub frames: u32,
    /// It leaves after this time even if fewer have overtaken it.
    pub at_most: Duration,
}

/// Where a bit may be flipped.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// In what UDP or TCP carries; of other IP packets, in what IP carries. A frame that carries
    /// nothing stays whole.
    #[default]
    Payload,
    /// Anywhere beyond the Ethernet header.
    Packet,
}

/// What IP may carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// UDP.
    Udp,
    /// TCP.
    Tcp,
}

impl Protocol {
    /// Its number in the IP header.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::Udp => 17,
            Self::Tcp => 6,
        }
    }
}

/// Which frames things happen to; the others pass at once and untouched.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Filter {
    /// Only those that carry it. `None`: whatever they carry.
    pub protocol: Option<Protocol>,
    /// Only those of UDP or TCP that come from this port or go to it. A fragment of a datagram
    /// other than its first names no port and is not chosen.
    pub port: Option<u16>,
    /// ARP as well, whatever else is asked for. Without it ARP is left alone.
    pub arp: bool,
}

/// What may happen to a frame on its way in one direction, one after the other as the fields
/// stand.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Faults {
    /// Which frames; all but ARP unless said otherwise.
    pub filter: Filter,
    /// It is lost.
    pub loss: Chance,
    /// It has to wait for the line, or finds the queue full. `None`: a line without limit.
    pub rate: Option<Rate>,
    /// It comes twice, the second time with a delay of its own.
    pub duplication: Chance,
    /// One bit of it is flipped, in each copy on its own. Of the checksums of IP, UDP and TCP every
    /// one notices a single bit.
    pub corruption: Chance,
    /// Where that bit is.
    pub corrupted_part: Part,
    /// How long it is under way, beside the relay's own time.
    pub delay: Delay,
    /// It may overtake others: with a jitter longer than the pause between frames, or a long
    /// delay, it will. Otherwise it waits for those before it.
    pub reorders: bool,
    /// Whether it is held back until others have overtaken it, with `reorders` or without.
    pub holding: Option<Holding>,
}

impl Faults {
    /// Nothing happens to any frame.
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
    fn a_chance_includes_its_part_of_all_numbers() {
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
    fn no_faults_are_the_default() {
        assert_eq!(Faults::NONE, Faults::default());
    }
}
