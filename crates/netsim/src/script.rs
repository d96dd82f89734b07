//! Exactly what happens to which datagram.

use std::ops::RangeInclusive;

use hairpin_time::Duration;

/// What a script does to a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Drop,
    Delay(Duration),
    Duplicate(Duration),
    Flip(usize),
}

/// The fate of certain datagrams of a [`crate::Link`], by their number in the order they were
/// sent, from 1. What a script names is spared all chance but the link's delay.
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
    /// Nothing is scripted.
    #[must_use]
    pub const fn new() -> Self {
        Self { lines: Vec::new() }
    }

    /// These are lost.
    #[must_use]
    pub fn drop(self, numbers: RangeInclusive<u64>) -> Self {
        self.with(numbers, Effect::Drop)
    }

    /// These are under way so much longer, and may be overtaken.
    #[must_use]
    pub fn delay(self, numbers: RangeInclusive<u64>, by: Duration) -> Self {
        self.with(numbers, Effect::Delay(by))
    }

    /// These come twice, the second time so much later.
    #[must_use]
    pub fn duplicate(self, numbers: RangeInclusive<u64>, after: Duration) -> Self {
        self.with(numbers, Effect::Duplicate(after))
    }

    /// This bit of these is flipped: bit 0 is the lowest of the first byte. A bit that they do not
    /// have is none.
    #[must_use]
    pub fn flip(self, numbers: RangeInclusive<u64>, bit: usize) -> Self {
        self.with(numbers, Effect::Flip(bit))
    }

    fn with(mut self, numbers: RangeInclusive<u64>, effect: Effect) -> Self {
        self.lines.push((numbers, effect));
        self
    }

    /// What happens to datagram `number`, in the order of the script; empty for most.
    pub(crate) fn effects_on(&self, number: u64) -> impl Iterator<Item = Effect> + '_ {
        let lines = self.lines.iter().filter(move |(numbers, _)| numbers.contains(&number));
        lines.map(|(_, effect)| *effect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_datagrams_by_number_and_may_name_one_twice() {
        let span = Duration::from_millis(1);
        let script = Script::new().delay(2..=4, span).flip(4..=4, 9).drop(6..=6);
        let effects = |number| script.effects_on(number).collect::<Vec<_>>();
        assert_eq!(effects(1), []);
        assert_eq!(effects(2), [Effect::Delay(span)]);
        assert_eq!(effects(4), [Effect::Delay(span), Effect::Flip(9)]);
        assert_eq!(effects(6), [Effect::Drop]);
    }
}
