//! The faults of links and streams.

use hairpin_time::Duration;

use crate::{Chance, Random};

/// A delay: from `min` to `min + jitter`, plus `long` with the probability `long_chance`.
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
        Self { min, jitter: Duration::ZERO, long_chance: Chance::NEVER, long: Duration::ZERO }
    }

    /// Draws a delay, and returns `true` with it if it includes `long`.
    pub(crate) fn draw(&self, random: &mut Random) -> (Duration, bool) {
        let base = random.span(self.min, self.min + self.jitter);
        let is_long = random.happens(self.long_chance);
        (if is_long { base + self.long } else { base }, is_long)
    }
}

/// The rate of a link and the size of its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Bytes per second, at least 1.
    pub bytes_per_second: u64,
    /// The most bytes that wait for the link. A datagram beyond that is dropped.
    pub queue_bytes: usize,
}

/// The faults of the datagrams of a link, applied in the order of the fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Faults {
    /// The probability of loss.
    pub loss: Chance,
    /// The rate of the link. `None` for a link without limit.
    pub rate: Option<Rate>,
    /// The probability of a second copy, which has a delay of its own.
    pub duplication: Chance,
    /// The probability of one flipped bit, drawn for each copy.
    pub corruption: Chance,
    /// The delay of each copy.
    pub delay: Delay,
    /// `true` if a datagram may overtake others, which happens with a jitter longer than the
    /// interval between datagrams, or with a long delay. Otherwise it waits for the datagrams
    /// before it.
    pub reorders: bool,
}

impl Faults {
    /// The settings of a LAN: 20 to 30 µs, in order, no loss.
    pub const LAN: Self = Self {
        loss: Chance::NEVER,
        rate: None,
        duplication: Chance::NEVER,
        corruption: Chance::NEVER,
        delay: Delay {
            min: Duration::from_micros(20),
            jitter: Duration::from_micros(10),
            long_chance: Chance::NEVER,
            long: Duration::ZERO,
        },
        reorders: false,
    };
}

/// The faults of the bytes of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamFaults {
    /// The delay of bytes. Bytes never overtake each other.
    pub delay: Delay,
    /// The most bytes in flight or unread in each direction. A write accepts no more than fits.
    pub window_bytes: usize,
    /// The most bytes of a chunk. The size of each chunk is random.
    pub chunk_max: usize,
    /// The probability of one flipped bit in a chunk. A real TCP checksum would detect it.
    pub corruption: Chance,
}

impl StreamFaults {
    /// The settings of a LAN: 20 to 30 µs, windows of 64 KiB, segments of 1,460 bytes.
    pub const LAN: Self = Self {
        delay: Faults::LAN.delay,
        window_bytes: 64 << 10,
        chunk_max: 1_460,
        corruption: Chance::NEVER,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_within_their_bounds() {
        let (min, jitter) = (Duration::from_micros(5), Duration::from_micros(2));
        let long = Duration::from_millis(1);
        let delay = Delay { min, jitter, long_chance: Chance::percent(20), long };
        let mut random = Random::new(1);
        let draws: Vec<_> = (0..1_000).map(|_| delay.draw(&mut random)).collect();
        for (span, is_long) in &draws {
            let base = if *is_long { *span - long } else { *span };
            assert!((min..=min + jitter).contains(&base));
        }
        assert!((150..250).contains(&draws.iter().filter(|(_, is_long)| *is_long).count()));
        assert_eq!(Delay::exactly(min).draw(&mut random), (min, false));
    }
}
