//! What the tests of several crates share (layer T). The crate has no dependencies, so that tests
//! of every layer can use it.
//!
//! ```
//! use hairpin_testkit::Random;
//!
//! let mut random = Random::new(7);
//! assert!(random.below(6) < 6);
//! assert_eq!(Random::new(7).any(), Random::new(7).any());
//! ```
#![no_std]
#![forbid(unsafe_code)]

/// Random numbers that depend only on a seed: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
///
/// Consecutive seeds give uncorrelated numbers. Simulations on `netsim` use its own generator, with
/// independent streams.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Returns the random numbers of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a random number.
    pub const fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Returns a number below `bound`.
    ///
    /// # Panics
    /// If `bound` is 0.
    pub const fn below(&mut self, bound: u64) -> u64 {
        self.any() % bound
    }

    /// Returns an index of a slice with `length` elements.
    ///
    /// # Panics
    /// If `length` is 0.
    pub const fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Returns `true` once in `count` calls on average.
    ///
    /// # Panics
    /// If `count` is 0.
    pub const fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    /// Returns one of `choices`.
    ///
    /// # Panics
    /// If `choices` is empty.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.index(choices.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of the authors' generator for the seed 0.
    #[test]
    fn numbers_are_those_of_splitmix64() {
        let mut random = Random::new(0);
        let first = [(); 3].map(|()| random.any());
        assert_eq!(first, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }

    #[test]
    fn numbers_reach_their_bounds() {
        let mut random = Random::new(9);
        let mut seen = [0; 3];
        (0..300).for_each(|_| seen[random.index(3)] += 1);
        assert!(seen.iter().all(|&times| times > 70), "{seen:?}");
        assert_eq!((random.below(1), random.pick(&["only"]), random.one_in(1)), (0, "only", true));
    }
}
