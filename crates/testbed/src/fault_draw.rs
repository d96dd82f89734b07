//! The random draw of faults: a function of the seed, the direction and the frame's number alone.

use hairpin_testkit::Random;
use std::time::Duration;

use crate::faults::{Delay, Faults};

/// The purpose of a draw. Each purpose has independent random numbers.
#[derive(Debug, Clone, Copy)]
enum Draw {
    Loss,
    Duplication,
    Corruption,
    Bit,
    Jitter,
    LongDelay,
    Holding,
}

/// The random numbers of one direction.
///
/// They are a hash of the frame's number and not a sequence, so that enabling one fault does not
/// change another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FaultRng {
    seed: u64,
}

/// The faults of one copy of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CopyFaults {
    pub(crate) delay: Duration,
    /// `true` if the delay includes the long delay.
    pub(crate) long: bool,
    /// A random number that selects the bit to flip; `None` if no bit is flipped.
    pub(crate) flip: Option<u64>,
    pub(crate) held: bool,
}

impl FaultRng {
    pub(crate) fn new(seed: u64, direction: usize) -> Self {
        Self { seed: mix(mix(seed) ^ direction as u64) }
    }

    pub(crate) fn is_lost(self, number: u64, faults: &Faults) -> bool {
        faults.loss.includes(self.draw(number, 0, Draw::Loss))
    }

    pub(crate) fn is_duplicated(self, number: u64, faults: &Faults) -> bool {
        faults.duplication.includes(self.draw(number, 0, Draw::Duplication))
    }

    pub(crate) fn draw_copy(self, number: u64, copy: u64, faults: &Faults) -> CopyFaults {
        let draw = |purpose| self.draw(number, copy, purpose);
        let Delay { min, jitter, long_chance, long } = faults.delay;
        let is_long = long_chance.includes(draw(Draw::LongDelay));
        let base = min + uniform(jitter, draw(Draw::Jitter));
        CopyFaults {
            delay: if is_long { base + long } else { base },
            long: is_long,
            flip: faults.corruption.includes(draw(Draw::Corruption)).then(|| draw(Draw::Bit)),
            held: faults
                .holding
                .is_some_and(|holding| holding.chance.includes(draw(Draw::Holding))),
        }
    }

    fn draw(self, number: u64, copy: u64, purpose: Draw) -> u64 {
        mix(mix(self.seed.wrapping_add(number)) ^ copy << 8 ^ purpose as u64)
    }
}

/// Returns a duration from zero to `max`, both included.
fn uniform(max: Duration, drawn: u64) -> Duration {
    let width = max.as_nanos() as u64;
    // The high half of the product of two `u64` is a `u64`.
    Duration::from_nanos(((u128::from(drawn) * (u128::from(width) + 1)) >> 64) as u64)
}

/// Hashes a number: consecutive numbers give uncorrelated results.
const fn mix(number: u64) -> u64 {
    Random::new(number).any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::{Chance, Holding};

    const FRAMES: std::ops::Range<u64> = 0..100_000;

    fn all() -> Faults {
        Faults {
            loss: Chance::percent(1),
            duplication: Chance::percent(2),
            corruption: Chance::percent(3),
            delay: Delay {
                min: Duration::from_micros(5),
                jitter: Duration::from_micros(2),
                long_chance: Chance::percent(4),
                long: Duration::from_millis(1),
            },
            holding: Some(Holding {
                chance: Chance::percent(5),
                frames: 1,
                at_most: Duration::from_millis(1),
            }),
            ..Faults::NONE
        }
    }

    #[test]
    fn faults_occur_with_their_probability() {
        let (rng, faults) = (FaultRng::new(3, 0), all());
        let count = |has_fault: &dyn Fn(u64) -> bool| {
            FRAMES.filter(|&frame| has_fault(frame)).count() / 100
        };
        assert!((9..=11).contains(&count(&|frame| rng.is_lost(frame, &faults))));
        assert!((19..=21).contains(&count(&|frame| rng.is_duplicated(frame, &faults))));
        let copy = |frame| rng.draw_copy(frame, 0, &faults);
        assert!((29..=31).contains(&count(&|frame| copy(frame).flip.is_some())));
        assert!((38..=42).contains(&count(&|frame| copy(frame).long)));
        assert!((48..=52).contains(&count(&|frame| copy(frame).held)));
    }

    #[test]
    fn delays_reach_their_bounds() {
        let (rng, faults) = (FaultRng::new(1, 0), all());
        let base = |frame| {
            let copy = rng.draw_copy(frame, 0, &faults);
            copy.delay - if copy.long { faults.delay.long } else { Duration::ZERO }
        };
        let nanos: Vec<_> = FRAMES.map(|frame| base(frame).as_nanos()).collect();
        assert!(nanos.iter().all(|nanos| (5_000..=7_000).contains(nanos)));
        assert!(nanos.contains(&5_000) && nanos.contains(&7_000));
    }

    #[test]
    fn seed_direction_frame_and_copy_change_the_faults() {
        let faults = Faults { corruption: Chance::percent(50), ..Faults::NONE };
        let drawn = |rng: FaultRng, from, copy| {
            (from..from + 64).map(|frame| rng.draw_copy(frame, copy, &faults)).collect::<Vec<_>>()
        };
        let base = drawn(FaultRng::new(7, 0), 0, 0);
        assert_eq!(base, drawn(FaultRng::new(7, 0), 0, 0));
        assert_ne!(base, drawn(FaultRng::new(8, 0), 0, 0));
        assert_ne!(base, drawn(FaultRng::new(7, 1), 0, 0));
        assert_ne!(base, drawn(FaultRng::new(7, 0), 1, 0));
        assert_ne!(base, drawn(FaultRng::new(7, 0), 0, 1));
    }

    #[test]
    fn enabling_a_fault_does_not_change_another() {
        let rng = FaultRng::new(9, 1);
        let alone = Faults { loss: all().loss, ..Faults::NONE };
        let lost = |faults: &Faults| FRAMES.filter(|&f| rng.is_lost(f, faults)).collect::<Vec<_>>();
        assert_eq!(lost(&alone), lost(&all()));
    }

    /// Two faults with the same probability affect different frames.
    #[test]
    fn faults_are_independent_of_each_other() {
        let rng = FaultRng::new(5, 0);
        let half = Chance::percent(50);
        let faults = Faults { loss: half, duplication: half, ..Faults::NONE };
        let both = FRAMES
            .filter(|&frame| rng.is_lost(frame, &faults) && rng.is_duplicated(frame, &faults));
        assert!((24_500..25_500).contains(&both.count()));
    }
}
