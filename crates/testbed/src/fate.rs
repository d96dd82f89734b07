//! Chance that depends on a seed, a direction and a frame's number, and on nothing else.

use std::time::Duration;

use crate::faults::{Delay, Faults};

/// What is drawn for; each has a number of its own.
#[derive(Debug, Clone, Copy)]
enum Lot {
    Loss,
    Duplication,
    Corruption,
    Bit,
    Jitter,
    LongDelay,
    Holding,
}

/// The lots of one direction.
///
/// They are not drawn one after the other but looked up by frame, so that what one fault does, or
/// switching it on, moves no other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lots {
    seed: u64,
}

/// What becomes of one copy of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CopyFate {
    pub(crate) delay: Duration,
    /// True if the delay is one of the long ones.
    pub(crate) is_long: bool,
    /// Any number, which chooses the bit to flip.
    pub(crate) flip: Option<u64>,
    pub(crate) is_held: bool,
}

impl Lots {
    pub(crate) fn new(seed: u64, direction: usize) -> Self {
        Self { seed: mix(mix(seed) ^ direction as u64) }
    }

    pub(crate) fn is_lost(self, number: u64, faults: &Faults) -> bool {
        faults.loss.includes(self.draw(number, 0, Lot::Loss))
    }

    pub(crate) fn is_duplicated(self, number: u64, faults: &Faults) -> bool {
        faults.duplication.includes(self.draw(number, 0, Lot::Duplication))
    }

    pub(crate) fn of_copy(self, number: u64, copy: u64, faults: &Faults) -> CopyFate {
        let draw = |lot| self.draw(number, copy, lot);
        let Delay { min, jitter, long_chance, long } = faults.delay;
        let is_long = long_chance.includes(draw(Lot::LongDelay));
        let usual = min + part_of(jitter, draw(Lot::Jitter));
        CopyFate {
            delay: if is_long { usual + long } else { usual },
            is_long,
            flip: faults.corruption.includes(draw(Lot::Corruption)).then(|| draw(Lot::Bit)),
            is_held: faults
                .holding
                .is_some_and(|holding| holding.chance.includes(draw(Lot::Holding))),
        }
    }

    fn draw(self, number: u64, copy: u64, lot: Lot) -> u64 {
        mix(mix(self.seed.wrapping_add(number)) ^ copy << 8 ^ lot as u64)
    }
}

/// From nothing to all of `most`, both possible.
fn part_of(most: Duration, drawn: u64) -> Duration {
    let width = most.as_nanos() as u64;
    // The high half of a product with a `u64` fits in one.
    Duration::from_nanos(((u128::from(drawn) * (u128::from(width) + 1)) >> 64) as u64)
}

/// One step of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): neighbouring numbers come out as
/// unlike as any others.
const fn mix(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
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

    /// The numbers that the authors' generator gives for the seed 0.
    #[test]
    fn the_mixing_is_splitmix64() {
        let golden = 0x9e37_79b9_7f4a_7c15_u64;
        let first = [0, 1, 2].map(|step: u64| mix(golden.wrapping_mul(step)));
        assert_eq!(first, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }

    #[test]
    fn fates_come_out_as_often_as_they_say() {
        let (lots, faults) = (Lots::new(3, 0), all());
        let count =
            |is_so: &dyn Fn(u64) -> bool| FRAMES.filter(|&frame| is_so(frame)).count() / 100;
        assert!((9..=11).contains(&count(&|frame| lots.is_lost(frame, &faults))));
        assert!((19..=21).contains(&count(&|frame| lots.is_duplicated(frame, &faults))));
        let copy = |frame| lots.of_copy(frame, 0, &faults);
        assert!((29..=31).contains(&count(&|frame| copy(frame).flip.is_some())));
        assert!((38..=42).contains(&count(&|frame| copy(frame).is_long)));
        assert!((48..=52).contains(&count(&|frame| copy(frame).is_held)));
    }

    #[test]
    fn a_delay_is_within_its_bounds_and_reaches_them() {
        let (lots, faults) = (Lots::new(1, 0), all());
        let usual = |frame| {
            let fate = lots.of_copy(frame, 0, &faults);
            fate.delay - if fate.is_long { faults.delay.long } else { Duration::ZERO }
        };
        let nanos: Vec<_> = FRAMES.map(|frame| usual(frame).as_nanos()).collect();
        assert!(nanos.iter().all(|nanos| (5_000..=7_000).contains(nanos)));
        assert!(nanos.contains(&5_000) && nanos.contains(&7_000));
    }

    #[test]
    fn seed_direction_frame_and_copy_each_give_other_fates() {
        let faults = Faults { corruption: Chance::percent(50), ..Faults::NONE };
        let fates = |lots: Lots, from, copy| {
            (from..from + 64).map(|frame| lots.of_copy(frame, copy, &faults)).collect::<Vec<_>>()
        };
        let base = fates(Lots::new(7, 0), 0, 0);
        assert_eq!(base, fates(Lots::new(7, 0), 0, 0));
        assert_ne!(base, fates(Lots::new(8, 0), 0, 0));
        assert_ne!(base, fates(Lots::new(7, 1), 0, 0));
        assert_ne!(base, fates(Lots::new(7, 0), 1, 0));
        assert_ne!(base, fates(Lots::new(7, 0), 0, 1));
    }

    #[test]
    fn one_fault_moves_no_other() {
        let lots = Lots::new(9, 1);
        let alone = Faults { loss: all().loss, ..Faults::NONE };
        let lost =
            |faults: &Faults| FRAMES.filter(|&f| lots.is_lost(f, faults)).collect::<Vec<_>>();
        assert_eq!(lost(&alone), lost(&all()));
    }

    /// Two faults of the same chance do not strike the same frames.
    #[test]
    fn faults_are_independent_of_each_other() {
        let lots = Lots::new(5, 0);
        let half = Chance::percent(50);
        let faults = Faults { loss: half, duplication: half, ..Faults::NONE };
        let both = FRAMES
            .filter(|&frame| lots.is_lost(frame, &faults) && lots.is_duplicated(frame, &faults));
        assert!((24_500..25_500).contains(&both.count()));
    }
}
