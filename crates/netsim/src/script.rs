//! A script: exact faults of chosen datagrams.

use std::ops::RangeInclusive;

use hairpin_time::Duration;

/// An effect of a script on a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Drop,
    Delay(Duration),
    Duplicate(Duration),
    Flip(usize),
}

/// The exact faults of certain datagrams of a [`crate::Link`], by their number in the order of
/// sending, from 1. Of the link's random faults, only the delay applies to these datagrams.
///
/// ```
/// use hairpin_netsim::Script;
/// use hairpin_time::Duration;
///
/// let script = Script::new().drop(3..=3).delay(5..=7, Duration::from_millis(10));
/// # let _ = script;
/// ```
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Script {
    lines: Vec<(RangeInclusive<u64>, Effect)>,
}

impl Script {
    /// Returns an empty script.
    #[must_use]
    pub const fn new() -> Self {
        Self { lines: Vec::new() }
    }

    /// Drops these datagrams.
    #[must_use]
    pub fn drop(self, numbers: RangeInclusive<u64>) -> Self {
        self.with(numbers, Effect::Drop)
    }

    /// Delays these datagrams by an additional span. Others may overtake them.
    #[must_use]
    pub fn delay(self, numbers: RangeInclusive<u64>, by: Duration) -> Self {
        self.with(numbers, Effect::Delay(by))
    }

    /// Duplicates these datagrams. The second copy arrives `after` the first.
    #[must_use]
    pub fn duplicate(self, numbers: RangeInclusive<u64>, after: Duration) -> Self {
        self.with(numbers, Effect::Duplicate(after))
    }

    /// Flips a bit of these datagrams. Bit 0 is the lowest bit of the first byte. A bit beyond the
    /// end has no effect.
    #[must_use]
    pub fn flip(self, numbers: RangeInclusive<u64>, bit: usize) -> Self {
        self.with(numbers, Effect::Flip(bit))
    }

    fn with(mut self, numbers: RangeInclusive<u64>, effect: Effect) -> Self {
        self.lines.push((numbers, effect));
        self
    }

    /// Returns the effects on a datagram, in the order of the script.
    pub(crate) fn effects_on(&self, number: u64) -> impl Iterator<Item = Effect> + '_ {
        let lines = self.lines.iter().filter(move |(numbers, _)| numbers.contains(&number));
        lines.map(|(_, effect)| *effect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_can_have_several_effects() {
        let span = Duration::from_millis(1);
        let script = Script::new().delay(2..=4, span).flip(4..=4, 9).drop(6..=6);
        let effects = |number| script.effects_on(number).collect::<Vec<_>>();
        assert_eq!(effects(1), []);
        assert_eq!(effects(2), [Effect::Delay(span)]);
        assert_eq!(effects(4), [Effect::Delay(span), Effect::Flip(9)]);
        assert_eq!(effects(6), [Effect::Drop]);
    }
}
