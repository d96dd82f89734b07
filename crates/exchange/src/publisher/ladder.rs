//! One side of a book as published, and the steps from it to another.

use crate::matching::{PriceLevel, Side};

/// Levels of a side that are published (tag 264 of the definition).
pub const DEPTH: usize = 10;

/// Levels of a side of an implied book, where an instrument has one.
pub const IMPLIED_DEPTH: usize = 2;

/// What a book entry of template 46 does (tag 279), as far as this publisher uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Action {
    /// A level appears; those from its place on move one down, the eleventh is forgotten.
    New,
    /// The quantity or the number of orders of a level changes, its price does not.
    Change,
    /// A level disappears; those behind it move one up.
    Delete,
}

/// Up to `N` levels, best first: [`DEPTH`] unless it is of an implied book.
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
    /// The first `N` of these levels, best first.
    pub(super) fn of(target: impl Iterator<Item = PriceLevel>) -> Self {
        let mut ladder = Self::default();
        for level in target.take(N) {
            ladder.levels[ladder.count] = level;
            ladder.count += 1;
        }
        ladder
    }

    /// The levels, best first.
    #[must_use]
    pub fn levels(&self) -> &[PriceLevel] {
        &self.levels[..self.count]
    }

    /// Becomes the first `N` levels of `target` (best first), and tells each step.
    ///
    /// `on_step` gets the action, the level's number from 1, and the level: as it is now, or as
    /// it was last published for a delete. A receiver that does just these steps, and forgets
    /// what is pushed beyond `N`, ends with the same ladder. At most `2 * N` steps.
    pub(super) fn become_equal(
        &mut self,
        side: Side,
        target: impl Iterator<Item = PriceLevel>,
        mut on_step: impl FnMut(Action, u8, PriceLevel),
    ) {
        let mut target = target.take(N).peekable();
        let mut place = 0;
        loop {
            // A place is below `N`, so that its number fits in a byte.
            let number = place as u8 + 1;
            let old = self.levels().get(place).copied();
            match (old, target.peek().copied()) {
                (None, None) => break,
                (Some(old), Some(new)) if old.price == new.price => {
                    if old != new {
                        self.levels[place] = new;
                        on_step(Action::Change, number, new);
                    }
                    target.next();
                    place += 1;
                }
                (old, Some(new)) if old.is_none_or(|old| side.is_better(new.price, old.price)) => {
                    self.insert(place, new);
                    on_step(Action::New, number, new);
                    target.next();
                    place += 1;
                }
                (Some(old), _) => {
                    self.remove(place);
                    on_step(Action::Delete, number, old);
                }
                // Without an old level the case before takes any new one.
                (None, Some(_)) => break,
            }
        }
    }

    fn insert(&mut self, place: usize, level: PriceLevel) {
        self.count = (self.count + 1).min(N);
        self.levels[place..self.count].rotate_right(1);
        self.levels[place] = level;
    }

    fn remove(&mut self, place: usize) {
        self.levels[place..self.count].rotate_left(1);
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
        for (place, &(price, quantity)) in levels.iter().enumerate() {
            ladder.insert(place, level(price, quantity));
        }
        ladder
    }

    fn steps(from: &[(i64, u32)], to: &[(i64, u32)]) -> Vec<(Action, u8, i64, u32)> {
        let mut steps = Vec::new();
        let target = to.iter().map(|&(price, quantity)| level(price, quantity));
        ladder(from).become_equal(Side::Bid, target, |action, number, level| {
            steps.push((action, number, level.price.0, level.quantity));
        });
        steps
    }

    use Action::{Change, Delete, New};

    #[test]
    fn says_nothing_about_levels_that_stay() {
        assert_eq!(steps(&[(9, 1), (8, 2)], &[(9, 1), (8, 2)]), []);
    }

    #[test]
    fn changes_quantity_in_place() {
        assert_eq!(steps(&[(9, 1), (8, 2)], &[(9, 1), (8, 5)]), [(Change, 2, 8, 5)]);
    }

    #[test]
    fn inserts_at_the_number_the_level_then_has() {
        let to = [(10, 3), (9, 1), (7, 4)];
        assert_eq!(steps(&[(9, 1)], &to), [(New, 1, 10, 3), (New, 3, 7, 4)]);
    }

    #[test]
    fn sends_the_level_that_a_delete_shifts_in() {
        let from: Vec<_> = (0..10).map(|n| (100 - n, 1)).collect();
        let to: Vec<_> = (1..11).map(|n| (100 - n, 1)).collect();
        assert_eq!(steps(&from, &to), [(Delete, 1, 100, 1), (New, 10, 90, 1)]);
    }

    #[test]
    fn leaves_the_level_pushed_beyond_the_depth_to_the_receiver() {
        let from: Vec<_> = (0..10).map(|n| (100 - n, 1)).collect();
        let to: Vec<_> = core::iter::once((101, 7)).chain(from.iter().copied().take(9)).collect();
        assert_eq!(steps(&from, &to), [(New, 1, 101, 7)]);
    }

    #[test]
    fn deletes_an_emptied_side_from_the_best_on() {
        assert_eq!(steps(&[(9, 1), (8, 2)], &[]), [(Delete, 1, 9, 1), (Delete, 1, 8, 2)]);
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
        /// The receiver of CME's rules, written with a vector.
        #[test]
        fn leads_a_receiver_to_the_same_ladder(
            (side, from, to) in prop_oneof![Just(Side::Bid), Just(Side::Offer)]
                .prop_flat_map(|side| (Just(side), levels(side), levels(side)))
        ) {
            let mut ladder = <Ladder>::default();
            ladder.become_equal(side, from.iter().copied(), |_, _, _| {});
            let mut received: Vec<PriceLevel> = ladder.levels().to_vec();
            let mut count = 0;
            ladder.become_equal(side, to.iter().copied(), |action, number, level| {
                let place = usize::from(number) - 1;
                match action {
                    New => {
                        received.insert(place, level);
                        received.truncate(DEPTH);
                    }
                    Change => {
                        assert_eq!(received[place].price, level.price);
                        received[place] = level;
                    }
                    Delete => assert_eq!(received.remove(place), level),
                }
                count += 1;
            });
            prop_assert!(to.iter().take(DEPTH).eq(&received));
            prop_assert_eq!(ladder.levels(), received);
            prop_assert!(count <= 2 * DEPTH);
        }
    }
}
