//! Random numbers of a simulation.

use hairpin_time::Duration;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Random numbers that depend only on a seed.
#[derive(Debug, Clone)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// Returns the random numbers of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Returns an independent stream of random numbers. With a stream per link, the numbers that
    /// one link draws do not affect another.
    #[must_use]
    pub fn split(&mut self) -> Self {
        Self::new(self.0.next_u64())
    }

    /// Returns a random number.
    pub fn any(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number below `bound`, or 0 if `bound` is 0. The bias is at most `bound` in 2^64.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The high half of the product of two `u64` is a `u64`.
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns `true` with this probability. Probabilities 0 and 1 draw no number.
    pub fn happens(&mut self, chance: Chance) -> bool {
        match chance.0 {
            0 => false,
            Chance::MILLION.. => true,
            per_million => self.below(Chance::MILLION.into()) < per_million.into(),
        }
    }

    /// Returns a span from `min` to `max`, both included, or `min` if `max` is not longer.
    pub fn span(&mut self, min: Duration, max: Duration) -> Duration {
        let width = (max - min).as_nanos();
        if width == 0 { min } else { min + Duration::from_nanos(self.below(width + 1)) }
    }

    /// Returns one of `choices`.
    ///
    /// # Panics
    /// If `choices` is empty.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len() as u64) as usize]
    }
}

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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_depend_on_the_seed() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            [(); 4].map(|()| random.any())
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
    }

    #[test]
    fn streams_are_independent() {
        let [mut left, mut right] = [Random::new(5), Random::new(5)];
        let (mut first, mut second) = (left.split(), right.split());
        let used: Vec<_> = (0..9).map(|_| first.any()).collect();
        assert_eq!(left.split().any(), right.split().any());
        assert_eq!(second.any(), used[0]);
        assert_ne!(second.any(), left.split().any());
    }

    #[test]
    fn events_occur_with_their_probability() {
        let mut random = Random::new(3);
        let mut count = |chance| (0..100_000).filter(|_| random.happens(chance)).count();
        assert_eq!(count(Chance::NEVER), 0);
        assert_eq!(count(Chance::ALWAYS), 100_000);
        assert_eq!(count(Chance::percent(200)), 100_000);
        assert!((900..1_100).contains(&count(Chance::percent(1))));
        assert!((180..320).contains(&count(Chance::per_million(2_500))));
    }

    #[test]
    fn numbers_and_spans_reach_their_bounds() {
        let mut random = Random::new(9);
        let numbers: Vec<_> = (0..200).map(|_| random.below(3)).collect();
        assert!((0..3).all(|number| numbers.contains(&number)) && !numbers.contains(&3));
        assert_eq!(random.below(0), 0);
        let (min, max) = (Duration::from_nanos(4), Duration::from_nanos(6));
        let spans: Vec<_> = (0..200).map(|_| random.span(min, max).as_nanos()).collect();
        assert!((4..=6).all(|span| spans.contains(&span)) && spans.iter().max() == Some(&6));
        assert_eq!(random.span(max, min), max);
        assert_eq!(*random.pick(&["only"]), "only");
    }
}
