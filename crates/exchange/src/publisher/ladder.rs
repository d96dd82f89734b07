//! A side of a published book, and the actions that update it.

use crate::matching::{PriceLevel, Side};

/// The number of published levels per side (MarketDepth, tag 264 of the definition).
pub const DEPTH: usize = 10;

/// The number of levels per side of an implied book.
pub const IMPLIED_DEPTH: usize = 2;

/// MDUpdateAction of a book entry (tag 279), as far as this publisher uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Action {
    /// Adds a level. The levels from its position on move down by one, and the eleventh is dropped.
    New,
    /// Changes the quantity or the number of orders of a level at the same price.
    Change,
    /// Deletes a level. The levels behind it move up by one.
    Delete,
}

/// Up to `N` levels, best first. `N` is [`DEPTH`], or less for an implied book.
#[derive(Debug, Clone, Copy)]
pub struct Ladder<const N: usize = DEPTH> {
    levels: [PriceLevel; N],
    count: usize,
}

impl<const N: usize> Default for Ladder<N> {
    fn default() -> Self {
        Self { levels: [PriceLevel::default(); N], count: 0 }
    }
}

impl<const N: usize> Ladder<N> {
    /// Creates a ladder of the first `N` of these levels, best first.
    pub(super) fn from_levels(target: impl Iterator<Item = PriceLevel>) -> Self {
        let mut ladder = Self::default();
        for level in target.take(N) {
            ladder.levels[ladder.count] = level;
            ladder.count += 1;
        }
        ladder
    }

    /// Returns the levels, best first.
    #[must_use]
    pub fn levels(&self) -> &[PriceLevel] {
        &self.levels[..self.count]
    }

    /// Updates the ladder to the first `N` levels of `target` (best first) and reports each action.
    ///
    /// `on_action` receives the action, the level's number starting at 1, and the level. For a
    /// delete this is the level as last published. A receiver that performs these actions, and
    /// drops levels beyond `N`, has the same ladder at the end. There are at most `2 * N` actions.
    pub(super) fn update_to(
        &mut self,
        side: Side,
        target: impl Iterator<Item = PriceLevel>,
        mut on_action: impl FnMut(Action, u8, PriceLevel),
    ) {
        let mut target = target.take(N).peekable();
        let mut index = 0;
        loop {
            // The index is below `N`, so the number fits in a byte.
            let number = index as u8 + 1;
            let old = self.levels().get(index).copied();
            match (old, target.peek().copied()) {
                (None, None) => break,
                (Some(old), Some(new)) if old.price == new.price => {
                    if old != new {
                        self.levels[index] = new;
                        on_action(Action::Change, number, new);
                    }
                    target.next();
                    index += 1;
                }
                (old, Some(new)) if old.is_none_or(|old| side.is_better(new.price, old.price)) => {
                    self.insert(index, new);
                    on_action(Action::New, number, new);
                    target.next();
                    index += 1;
                }
                (Some(old), _) => {
                    self.remove(index);
                    on_action(Action::Delete, number, old);
                }
                // Without an old level, the previous case accepts any new one.
                (None, Some(_)) => break,
            }
        }
    }

    fn insert(&mut self, index: usize, level: PriceLevel) {
        self.count = (self.count + 1).min(N);
        self.levels[index..self.count].rotate_right(1);
        self.levels[index] = level;
    }

    fn remove(&mut self, index: usize) {
        self.levels[index..self.count].rotate_left(1);
        self.count -= 1;
    }
}

impl<const N: usize> PartialEq for Ladder<N> {
    fn eq(&self, other: &Self) -> bool {
        self.levels() == other.levels()
    }
}

impl<const N: usize> Eq for Ladder<N> {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use hairpin_sbe::Decimal;

    fn level(price: i64, quantity: u32) -> PriceLevel {
        PriceLevel { price: Decimal(price), quantity, orders: 1 }
    }

    fn ladder(levels: &[(i64, u32)]) -> Ladder {
        let mut ladder = <Ladder>::default();
        for (index, &(price, quantity)) in levels.iter().enumerate() {
            ladder.insert(index, level(price, quantity));
        }
        ladder
    }

    fn actions(from: &[(i64, u32)], to: &[(i64, u32)]) -> Vec<(Action, u8, i64, u32)> {
        let mut actions = Vec::new();
        let target = to.iter().map(|&(price, quantity)| level(price, quantity));
        ladder(from).update_to(Side::Bid, target, |action, number, level| {
            actions.push((action, number, level.price.0, level.quantity));
        });
        actions
    }

    use Action::{Change, Delete, New};

    #[test]
    fn unchanged_levels_need_no_action() {
        assert_eq!(actions(&[(9, 1), (8, 2)], &[(9, 1), (8, 2)]), []);
    }

    #[test]
    fn changes_quantity_in_place() {
        assert_eq!(actions(&[(9, 1), (8, 2)], &[(9, 1), (8, 5)]), [(Change, 2, 8, 5)]);
    }

    #[test]
    fn inserts_with_the_new_level_number() {
        let to = [(10, 3), (9, 1), (7, 4)];
        assert_eq!(actions(&[(9, 1)], &to), [(New, 1, 10, 3), (New, 3, 7, 4)]);
    }

    #[test]
    fn delete_is_followed_by_the_new_last_level() {
        let from: Vec<_> = (0..10).map(|n| (100 - n, 1)).collect();
        let to: Vec<_> = (1..11).map(|n| (100 - n, 1)).collect();
        assert_eq!(actions(&from, &to), [(Delete, 1, 100, 1), (New, 10, 90, 1)]);
    }

    #[test]
    fn receiver_drops_the_level_beyond_the_depth() {
        let from: Vec<_> = (0..10).map(|n| (100 - n, 1)).collect();
        let to: Vec<_> = core::iter::once((101, 7)).chain(from.iter().copied().take(9)).collect();
        assert_eq!(actions(&from, &to), [(New, 1, 101, 7)]);
    }

    #[test]
    fn deletes_all_levels_starting_with_the_best() {
        assert_eq!(actions(&[(9, 1), (8, 2)], &[]), [(Delete, 1, 9, 1), (Delete, 1, 8, 2)]);
    }

    fn levels(side: Side) -> impl Strategy<Value = Vec<PriceLevel>> {
        prop::collection::btree_map(0_i64..24, (1_u32..4, 1_u32..3), 0..16).prop_map(
            move |levels| {
                let level = |(price, (quantity, orders))| PriceLevel {
                    price: Decimal(price),
                    quantity,
                    orders,
                };
                let mut levels: Vec<_> = levels.into_iter().map(level).collect();
                if side == Side::Bid {
                    levels.reverse();
                }
                levels
            },
        )
    }

    proptest! {
        /// A receiver that follows CME's rules, implemented with a vector.
        #[test]
        fn receiver_reaches_the_same_ladder(
            (side, from, to) in prop_oneof![Just(Side::Bid), Just(Side::Offer)]
                .prop_flat_map(|side| (Just(side), levels(side), levels(side)))
        ) {
            let mut ladder = <Ladder>::default();
            ladder.update_to(side, from.iter().copied(), |_, _, _| {});
            let mut received: Vec<PriceLevel> = ladder.levels().to_vec();
            let mut count = 0;
            ladder.update_to(side, to.iter().copied(), |action, number, level| {
                let index = usize::from(number) - 1;
                match action {
                    New => {
                        received.insert(index, level);
                        received.truncate(DEPTH);
                    }
                    Change => {
                        assert_eq!(received[index].price, level.price);
                        received[index] = level;
                    }
                    Delete => assert_eq!(received.remove(index), level),
                }
                count += 1;
            });
            prop_assert!(to.iter().take(DEPTH).eq(&received));
            prop_assert_eq!(ladder.levels(), received);
            prop_assert!(count <= 2 * DEPTH);
        }
    }
}
