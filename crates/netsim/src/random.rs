//! Where all chance of a simulation comes from.

use hairpin_time::Duration;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Random numbers that depend on a seed alone.
#[derive(Debug, Clone)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The numbers of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Numbers of their own: give each link one, and what one link does with them moves no other.
    #[must_use]
    pub fn split(&mut self) -> Self {
        Self::new(self.0.next_u64())
    }

    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`; 0 if that is 0. Biased by `bound` in 2^64, which is nothing here.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The high half of a product with a `u64` fits in one.
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Whether something of this chance happens. What never or always happens uses up no number.
    pub fn happens(&mut self, chance: Chance) -> bool {
        match chance.0 {
            0 => false,
            Chance::MILLION.. => true,
            per_million => self.below(Chance::MILLION.into()) < per_million.into(),
        }
    }

    /// A span from `least` to `most`, both possible; `least` if `most` is not longer.
    pub fn span(&mut self, least: Duration, most: Duration) -> Duration {
        let width = (most - least).as_nanos();
        if width == 0 { least } else { least + Duration::from_nanos(self.below(width + 1)) }
    }

    /// One of `choices`.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len() as u64) as usize]
    }
}

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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_sequence_and_another_seed_another() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            [(); 4].map(|()| random.any())
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
    }

    #[test]
    fn what_one_stream_uses_moves_no_other() {
        let [mut left, mut right] = [Random::new(5), Random::new(5)];
        let (mut first, mut second) = (left.split(), right.split());
        let used: Vec<_> = (0..9).map(|_| first.any()).collect();
        assert_eq!(left.split().any(), right.split().any());
        assert_eq!(second.any(), used[0]);
        assert_ne!(second.any(), left.split().any());
    }

    #[test]
    fn chances_come_out_as_often_as_they_say() {
        let mut random = Random::new(3);
        let mut count = |chance| (0..100_000).filter(|_| random.happens(chance)).count();
        assert_eq!(count(Chance::NEVER), 0);
        assert_eq!(count(Chance::ALWAYS), 100_000);
        assert_eq!(count(Chance::percent(200)), 100_000);
        assert!((900..1_100).contains(&count(Chance::percent(1))));
        assert!((180..320).contains(&count(Chance::per_million(2_500))));
    }

    #[test]
    fn numbers_and_spans_stay_within_bounds_and_reach_them() {
        let mut random = Random::new(9);
        let numbers: Vec<_> = (0..200).map(|_| random.below(3)).collect();
        assert!((0..3).all(|number| numbers.contains(&number)) && !numbers.contains(&3));
        assert_eq!(random.below(0), 0);
        let (least, most) = (Duration::from_nanos(4), Duration::from_nanos(6));
        let spans: Vec<_> = (0..200).map(|_| random.span(least, most).as_nanos()).collect();
        assert!((4..=6).all(|span| spans.contains(&span)) && spans.iter().max() == Some(&6));
        assert_eq!(random.span(most, least), most);
        assert_eq!(*random.pick(&["only"]), "only");
    }
}
