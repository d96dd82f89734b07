//! Orders as published, by book and in order, and as a loop still has to state them.

use core::ops::Range;

use hairpin_time::Utc;

use super::ladder::Action;
use crate::Price;
use crate::matching::{Order, OrderId, Side};
use crate::slab::NONE;

/// An order as the world has been told of it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct PublishedOrder {
    /// Its number (tag 37).
    pub id: OrderId,
    /// Bid or offer.
    pub side: Side,
    /// Its place in time (tag 37707): among orders of one price the lowest comes first.
    pub priority: u64,
    /// Its limit (tag 270).
    pub price: Price,
    /// Contracts that are open (tag 37706).
    pub quantity: u32,
}

impl PublishedOrder {
    pub(super) fn of(order: &Order) -> Self {
        let &Order { id, side, priority, price, remaining: quantity, .. } = order;
        Self { id, side, priority, price, quantity }
    }

    /// Whether it comes before another order of its side.
    fn is_before(&self, other: &Self) -> bool {
        self.side.is_better(self.price, other.price)
            || (self.price == other.price && self.priority < other.priority)
    }
}

/// All published orders, one for each slot of the engine: what rested there when it was published.
///
/// The orders of a side of a book form a list, best first. What a loop of snapshots has yet to
/// state is copied before it changes; all copies of one loop together are no more orders than
/// there were when it began, so their room is that of the slots.
#[derive(Debug)]
pub(super) struct OrderBooks {
    nodes: Box<[Node]>,
    books: Box<[BookOfOrders]>,
    kept: Vec<PublishedOrder>,
    kept_loop: u64,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    order: PublishedOrder,
    instrument: u32,
    ahead: u32,
    behind: u32,
}

#[derive(Debug, Clone)]
struct BookOfOrders {
    best: [u32; 2],
    orders: u32,
    picture: Picture,
}

/// A book as a loop has to state it.
#[derive(Debug, Default, Clone)]
struct Picture {
    loop_number: u64,
    kept: Range<usize>,
    is_active: bool,
    transact_time: Utc,
}

/// What the price book of an instrument knows and its snapshot of orders repeats.
#[derive(Debug, Clone, Copy)]
pub(super) struct Activity {
    pub(super) is_active: bool,
    pub(super) transact_time: Utc,
}

impl OrderBooks {
    pub(super) fn new(instruments: usize, slots: usize) -> Self {
        let node =
            Node { order: PublishedOrder::default(), instrument: NONE, ahead: NONE, behind: NONE };
        let book = BookOfOrders { best: [NONE; 2], orders: 0, picture: Picture::default() };
        Self {
            nodes: vec![node; slots].into(),
            books: vec![book; instruments].into(),
            kept: Vec::with_capacity(slots),
            kept_loop: 0,
        }
    }

    /// The orders of a side, best first.
    pub(super) fn side(
        &self,
        instrument: u32,
        side: Side,
    ) -> impl Iterator<Item = &PublishedOrder> + '_ {
        let best = self.books[instrument as usize].best[side.index()];
        let behind =
            |&slot: &u32| Some(self.nodes[slot as usize].behind).filter(|&behind| behind != NONE);
        core::iter::successors(Some(best).filter(|&slot| slot != NONE), behind)
            .map(|slot| &self.nodes[slot as usize].order)
    }

    /// What was published of a slot becomes `target`, an order of the instrument beside it; tells
    /// each step, with the instrument that it is about.
    pub(super) fn become_equal(
        &mut self,
        slot: u32,
        target: Option<(u32, PublishedOrder)>,
        mut on_step: impl FnMut(u32, Action, PublishedOrder),
    ) {
        let Node { order, instrument, .. } = self.nodes[slot as usize];
        let old = (order.id != OrderId::NONE).then_some((instrument, order));
        if old == target {
            return;
        }
        if let Some((instrument, _)) = old {
            self.unlink(slot, instrument);
        }
        if let Some((instrument, order)) = target {
            self.link(slot, instrument, order);
        }
        match (old, target) {
            (Some((_, old)), Some((instrument, new))) if old.id == new.id => {
                on_step(instrument, Action::Change, new);
            }
            (old, new) => {
                old.into_iter().for_each(|(of, order)| on_step(of, Action::Delete, order));
                new.into_iter().for_each(|(of, order)| on_step(of, Action::New, order));
            }
        }
    }

    /// Forgets every order of an instrument.
    pub(super) fn forget(&mut self, instrument: u32) {
        for side in Side::BOTH {
            loop {
                let slot = self.books[instrument as usize].best[side.index()];
                if slot == NONE {
                    break;
                }
                self.unlink(slot, instrument);
            }
        }
    }

    /// The orders of a book are about to change; loop `loop_number` has yet to state it.
    pub(super) fn preserve(&mut self, instrument: u32, loop_number: u64, activity: Activity) {
        if self.books[instrument as usize].picture.loop_number == loop_number {
            return;
        }
        if self.kept_loop != loop_number {
            self.kept_loop = loop_number;
            self.kept.clear();
        }
        let first = self.kept.len();
        for side in Side::BOTH {
            let mut slot = self.books[instrument as usize].best[side.index()];
            while let Some(node) = self.nodes.get(slot as usize) {
                self.kept.push(node.order);
                slot = node.behind;
            }
        }
        let kept = first..self.kept.len();
        let Activity { is_active, transact_time } = activity;
        self.books[instrument as usize].picture =
            Picture { loop_number, kept, is_active, transact_time };
    }

    /// How many orders of an instrument loop `loop_number` states, and what it says beside them.
    pub(super) fn at_start_of(
        &self,
        loop_number: u64,
        instrument: u32,
        present: Activity,
    ) -> (usize, Activity) {
        let book = &self.books[instrument as usize];
        let Picture { loop_number: number, ref kept, is_active, transact_time } = book.picture;
        if number == loop_number {
            (kept.len(), Activity { is_active, transact_time })
        } else {
            (book.orders as usize, present)
        }
    }

    /// Tells those of them that have the places of `range`, bids first.
    pub(super) fn each_at_start_of(
        &self,
        loop_number: u64,
        instrument: u32,
        range: Range<usize>,
        mut tell: impl FnMut(&PublishedOrder),
    ) {
        let picture = &self.books[instrument as usize].picture;
        if picture.loop_number == loop_number {
            self.kept[picture.kept.clone()][range].iter().for_each(tell);
        } else {
            Side::BOTH
                .into_iter()
                .flat_map(|side| self.side(instrument, side))
                .skip(range.start)
                .take(range.len())
                .for_each(&mut tell);
        }
    }

    fn link(&mut self, slot: u32, instrument: u32, order: PublishedOrder) {
        let best = self.books[instrument as usize].best[order.side.index()];
        let (mut ahead, mut behind) = (NONE, best);
        while let Some(node) = self.nodes.get(behind as usize)
            && !order.is_before(&node.order)
        {
            (ahead, behind) = (behind, node.behind);
        }
        self.nodes[slot as usize] = Node { order, instrument, ahead, behind };
        self.join(instrument, order.side, ahead, slot);
        if behind != NONE {
            self.nodes[behind as usize].ahead = slot;
        }
        self.books[instrument as usize].orders += 1;
    }

    fn unlink(&mut self, slot: u32, instrument: u32) {
        let node = &mut self.nodes[slot as usize];
        let (side, ahead, behind) = (node.order.side, node.ahead, node.behind);
        node.order.id = OrderId::NONE;
        self.join(instrument, side, ahead, behind);
        if behind != NONE {
            self.nodes[behind as usize].ahead = ahead;
        }
        self.books[instrument as usize].orders -= 1;
    }

    /// Makes `slot` what comes behind `ahead`, or the best.
    fn join(&mut self, instrument: u32, side: Side, ahead: u32, slot: u32) {
        if ahead == NONE {
            self.books[instrument as usize].best[side.index()] = slot;
        } else {
            self.nodes[ahead as usize].behind = slot;
        }
    }
}

#[cfg(test)]
mod tests {
    use hairpin_sbe::Decimal;
    use proptest::prelude::*;

    use super::*;

    fn order(id: u64, side: Side, price: i64, priority: u64) -> PublishedOrder {
        PublishedOrder { id: OrderId(id), side, priority, price: Decimal(price), quantity: 1 }
    }

    fn ids(books: &OrderBooks, side: Side) -> Vec<u64> {
        books.side(0, side).map(|order| order.id.0).collect()
    }

    const QUIET: Activity = Activity { is_active: true, transact_time: Utc::from_nanos(0) };

    #[test]
    fn a_side_is_sorted_by_price_then_priority() {
        let mut books = OrderBooks::new(1, 4);
        for (slot, (price, priority)) in (0..).zip([(9, 3), (10, 4), (9, 1), (8, 2)]) {
            let order = order(u64::from(slot) + 1, Side::Bid, price, priority);
            books.become_equal(slot, Some((0, order)), |_, action, _| {
                assert_eq!(action, Action::New);
            });
        }
        assert_eq!(ids(&books, Side::Bid), [2, 3, 1, 4]);
        assert_eq!(ids(&books, Side::Offer), []);
    }

    #[test]
    fn a_slot_with_another_order_is_a_delete_and_a_new_one() {
        let mut books = OrderBooks::new(2, 1);
        books.become_equal(0, Some((0, order(1, Side::Bid, 9, 1))), |_, _, _| {});
        let mut steps = Vec::new();
        let new = order(2, Side::Offer, 12, 2);
        books.become_equal(0, Some((1, new)), |of, action, order| {
            steps.push((of, action, order.id.0));
        });
        assert_eq!(steps, [(0, Action::Delete, 1), (1, Action::New, 2)]);
        assert_eq!(ids(&books, Side::Bid), []);
    }

    #[test]
    fn another_priority_alone_is_a_change() {
        let mut books = OrderBooks::new(1, 2);
        for (slot, priority) in [(0, 1), (1, 2)] {
            let order = order(priority, Side::Bid, 9, priority);
            books.become_equal(slot, Some((0, order)), |_, _, _| {});
        }
        let mut steps = Vec::new();
        let later = order(1, Side::Bid, 9, 3);
        books.become_equal(0, Some((0, later)), |of, action, order| {
            steps.push((of, action, order.priority));
        });
        assert_eq!((steps, ids(&books, Side::Bid)), (vec![(0, Action::Change, 3)], vec![2, 1]));
    }

    #[test]
    fn a_loop_states_a_book_as_it_was_when_it_began() {
        let mut books = OrderBooks::new(1, 2);
        books.become_equal(0, Some((0, order(1, Side::Bid, 9, 1))), |_, _, _| {});
        let told = |books: &OrderBooks, number| {
            let mut told = Vec::new();
            let (count, _) = books.at_start_of(number, 0, QUIET);
            books.each_at_start_of(number, 0, 0..count, |order| told.push(order.id.0));
            told
        };
        books.preserve(0, 7, QUIET);
        books.become_equal(0, None, |_, _, _| {});
        books.preserve(0, 7, QUIET);
        books.become_equal(1, Some((0, order(2, Side::Offer, 10, 2))), |_, _, _| {});
        assert_eq!((told(&books, 7), told(&books, 8)), (vec![1], vec![2]));
    }

    proptest! {
        /// The same orders in a vector that is sorted whenever somebody looks.
        #[test]
        fn is_a_sorted_vector(
            steps in prop::collection::vec((0_u32..8, 0_i64..6, 0_u64..9), 0..64)
        ) {
            let mut books = OrderBooks::new(1, 8);
            let mut model = [None; 8];
            for (n, (slot, price, kind)) in (1..).zip(steps) {
                let side = Side::BOTH[kind as usize % 2];
                let target = (kind > 1).then(|| order(n, side, price, n));
                books.become_equal(slot, target.map(|order| (0, order)), |_, _, _| {});
                model[slot as usize] = target;
                for side in Side::BOTH {
                    let mut sorted: Vec<_> =
                        model.iter().flatten().filter(|order| order.side == side).collect();
                    let sign = if side == Side::Bid { -1 } else { 1 };
                    sorted.sort_by_key(|order| (sign * order.price.0, order.priority));
                    prop_assert!(books.side(0, side).eq(sorted));
                }
            }
        }
    }
}
