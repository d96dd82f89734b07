//! How bad a link or a stream is.

use hairpin_time::Duration;

use crate::{Chance, Random};

/// How long something is under way: at least `min`, at most `min + jitter`, and now and then
/// `long` on top.
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
        Self { min, jitter: Duration::ZERO, long_chance: Chance::NEVER, long: Duration::ZERO }
    }

    /// A delay, and whether it is one of the long ones.
    pub(crate) fn draw(&self, random: &mut Random) -> (Duration, bool) {
        let usual = random.span(self.min, self.min + self.jitter);
        let is_long = random.happens(self.long_chance);
        (if is_long { usual + self.long } else { usual }, is_long)
    }
}

/// What a line can carry, and how much waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Bytes a second, at least 1.
    pub bytes_per_second: u64,
    /// Bytes that wait for the line at most; a datagram beyond that is lost.
    pub queue_bytes: usize,
}

/// What may happen to a datagram, one after the other as the fields stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Faults {
    /// It is lost.
    pub loss: Chance,
    /// It has to wait for the line, or finds the queue full. `None`: a line without limit.
    pub rate: Option<Rate>,
    /// It comes twice, the second time with a delay of its own.
    pub duplication: Chance,
    /// One bit of it is flipped, in each copy on its own.
    pub corruption: Chance,
    /// How long it is under way.
    pub delay: Delay,
    /// It may overtake others: with a jitter longer than the pause between datagrams, or a long
    /// delay, it will. Otherwise it waits for those before it.
    pub reorders: bool,
}

impl Faults {
    /// A good line within a building: 20 to 30 µs, in order, nothing lost.
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

/// What may happen to the bytes of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamFaults {
    /// How long bytes are under way; they never overtake each other.
    pub delay: Delay,
    /// Bytes that can be under way or unread in each direction; a write takes no more than fits.
    pub window_bytes: usize,
    /// The most bytes that arrive together; how many do is chance.
    pub chunk_max: usize,
    /// One bit of a chunk is flipped: what a TCP checksum would not have let through.
    pub corruption: Chance,
}

impl StreamFaults {
    /// A good connection within a building: 20 to 30 µs, windows of 64 KiB, whole segments.
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
    fn a_delay_is_within_its_bounds_and_now_and_then_long() {
        let (min, jitter) = (Duration::from_micros(5), Duration::from_micros(2));
        let long = Duration::from_millis(1);
        let delay = Delay { min, jitter, long_chance: Chance::percent(20), long };
        let mut random = Random::new(1);
        let draws: Vec<_> = (0..1_000).map(|_| delay.draw(&mut random)).collect();
        for (span, is_long) in &draws {
            let usual = if *is_long { *span - long } else { *span };
            assert!((min..=min + jitter).contains(&usual));
        }
        assert!((150..250).contains(&draws.iter().filter(|(_, is_long)| *is_long).count()));
        assert_eq!(Delay::exactly(min).draw(&mut random), (min, false));
    }
}
