//! Published orders, by book and priority, and their preserved state for a snapshot loop.

use core::ops::Range;

use hairpin_time::Utc;

use super::ladder::Action;
use crate::Price;
use crate::matching::{Order, OrderId, Side};
use crate::slab::NONE;

/// An order as published.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct PublishedOrder {
    /// OrderID (tag 37).
    pub id: OrderId,
    /// The side: bid or offer.
    pub side: Side,
    /// MDOrderPriority (tag 37707): the lowest value at a price comes first.
    pub priority: u64,
    /// The limit (tag 270).
    pub price: Price,
    /// The displayed quantity in contracts (MDDisplayQty, tag 37706).
    pub quantity: u32,
}

impl PublishedOrder {
    pub(super) fn from_order(order: &Order) -> Self {
        let &Order { id, side, priority, price, shown: quantity, .. } = order;
        Self { id, side, priority, price, quantity }
    }

    /// Returns `true` if this order has priority over another order of its side.
    fn has_priority_over(&self, other: &Self) -> bool {
        self.side.is_better(self.price, other.price)
            || (self.price == other.price && self.priority < other.priority)
    }
}

/// All published orders, one for each slot of the engine: the order that rested there when
/// published.
///
/// The orders of a side of a book form a list, best first. Before a book changes that the current
/// snapshot loop has not sent yet, its orders are copied. The copies of one loop are at most as
/// many as the orders at its start, so the number of slots is enough room.
#[derive(Debug)]
pub(super) struct OrderBooks {
    nodes: Box<[Node]>,
    books: Box<[OrderBook]>,
    copies: Vec<PublishedOrder>,
    copied_loop: u64,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    order: PublishedOrder,
    instrument: u32,
    ahead: u32,
    behind: u32,
}

#[derive(Debug, Clone)]
struct OrderBook {
    best: [u32; 2],
    orders: u32,
    preserved: PreservedBook,
}

/// A book as the snapshot loop has to send it.
#[derive(Debug, Default, Clone)]
struct PreservedBook {
    loop_number: u64,
    copies: Range<usize>,
    active: bool,
    transact_time: Utc,
}

/// The fields of the price book that an order snapshot repeats.
#[derive(Debug, Clone, Copy)]
pub(super) struct Activity {
    pub(super) active: bool,
    pub(super) transact_time: Utc,
}

impl OrderBooks {
    pub(super) fn new(instruments: usize, slots: usize) -> Self {
        let node =
            Node { order: PublishedOrder::default(), instrument: NONE, ahead: NONE, behind: NONE };
        let book = OrderBook { best: [NONE; 2], orders: 0, preserved: PreservedBook::default() };
        Self {
            nodes: vec![node; slots].into(),
            books: vec![book; instruments].into(),
            copies: Vec::with_capacity(slots),
            copied_loop: 0,
        }
    }

    /// Returns the orders of a side, best first.
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

    /// Updates the published order of a slot to `target`, an instrument and its order. Reports each
    /// action with its instrument.
    pub(super) fn update_to(
        &mut self,
        slot: u32,
        target: Option<(u32, PublishedOrder)>,
        mut on_action: impl FnMut(u32, Action, PublishedOrder),
    ) {
        let Node { order, instrument, .. } = self.nodes[slot as usize];
        let previous = (order.id != OrderId::NONE).then_some((instrument, order));
        if previous == target {
            return;
        }
        if let Some((instrument, _)) = previous {
            self.unlink(slot, instrument);
        }
        if let Some((instrument, order)) = target {
            self.link(slot, instrument, order);
        }
        match (previous, target) {
            (Some((_, previous)), Some((instrument, new))) if previous.id == new.id => {
                on_action(instrument, Action::Change, new);
            }
            (previous, new) => {
                previous
                    .into_iter()
                    .for_each(|(instrument, order)| on_action(instrument, Action::Delete, order));
                new.into_iter()
                    .for_each(|(instrument, order)| on_action(instrument, Action::New, order));
            }
        }
    }

    /// Removes all orders of an instrument.
    pub(super) fn clear(&mut self, instrument: u32) {
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

    /// Preserves the orders of a book before a change, for loop `loop_number`, which has not sent
    /// it yet.
    pub(super) fn preserve(&mut self, instrument: u32, loop_number: u64, activity: Activity) {
        if self.books[instrument as usize].preserved.loop_number == loop_number {
            return;
        }
        if self.copied_loop != loop_number {
            self.copied_loop = loop_number;
            self.copies.clear();
        }
        let first = self.copies.len();
        let mut slots = self.books[instrument as usize].best;
        let mut side = 0;
        while slots != [NONE; 2] {
            if let Some(node) = self.nodes.get(slots[side] as usize) {
                self.copies.push(node.order);
                slots[side] = node.behind;
            }
            side = 1 - side;
        }
        let copies = first..self.copies.len();
        let Activity { active, transact_time } = activity;
        self.books[instrument as usize].preserved =
            PreservedBook { loop_number, copies, active, transact_time };
    }

    /// Returns the number of orders that loop `loop_number` sends for an instrument, and its
    /// activity.
    pub(super) fn at_loop_start(
        &self,
        loop_number: u64,
        instrument: u32,
        current: Activity,
    ) -> (usize, Activity) {
        let book = &self.books[instrument as usize];
        let PreservedBook { loop_number: number, ref copies, active, transact_time } =
            book.preserved;
        if number == loop_number {
            (copies.len(), Activity { active, transact_time })
        } else {
            (book.orders as usize, current)
        }
    }

    /// Returns the orders of an instrument as a snapshot lists them: bids and offers alternate,
    /// each from the highest to the lowest priority, then the rest of the longer side.
    fn alternating(&self, instrument: u32) -> impl Iterator<Item = &PublishedOrder> + '_ {
        let [mut bids, mut offers] = Side::BOTH.map(|side| self.side(instrument, side));
        let mut is_bid = false;
        core::iter::from_fn(move || {
            is_bid = !is_bid;
            match is_bid {
                true => bids.next().or_else(|| offers.next()),
                false => offers.next().or_else(|| bids.next()),
            }
        })
    }

    /// Visits the orders in `range` that loop `loop_number` sends: bids and offers alternate.
    pub(super) fn for_each_at_loop_start(
        &self,
        loop_number: u64,
        instrument: u32,
        range: Range<usize>,
        mut visit: impl FnMut(&PublishedOrder),
    ) {
        let preserved = &self.books[instrument as usize].preserved;
        if preserved.loop_number == loop_number {
            self.copies[preserved.copies.clone()][range].iter().for_each(visit);
        } else {
            self.alternating(instrument).skip(range.start).take(range.len()).for_each(&mut visit);
        }
    }

    fn link(&mut self, slot: u32, instrument: u32, order: PublishedOrder) {
        let best = self.books[instrument as usize].best[order.side.index()];
        let (mut ahead, mut behind) = (NONE, best);
        while let Some(node) = self.nodes.get(behind as usize)
            && !order.has_priority_over(&node.order)
        {
            (ahead, behind) = (behind, node.behind);
        }
        self.nodes[slot as usize] = Node { order, instrument, ahead, behind };
        self.link_behind(instrument, order.side, ahead, slot);
        if behind != NONE {
            self.nodes[behind as usize].ahead = slot;
        }
        self.books[instrument as usize].orders += 1;
    }

    fn unlink(&mut self, slot: u32, instrument: u32) {
        let node = &mut self.nodes[slot as usize];
        let (side, ahead, behind) = (node.order.side, node.ahead, node.behind);
        node.order.id = OrderId::NONE;
        self.link_behind(instrument, side, ahead, behind);
        if behind != NONE {
            self.nodes[behind as usize].ahead = ahead;
        }
        self.books[instrument as usize].orders -= 1;
    }

    /// Links `slot` behind `ahead`, or as the best order.
    fn link_behind(&mut self, instrument: u32, side: Side, ahead: u32, slot: u32) {
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

    const QUIET: Activity = Activity { active: true, transact_time: Utc::from_nanos(0) };

    #[test]
    fn sorts_by_price_then_priority() {
        let mut books = OrderBooks::new(1, 4);
        for (slot, (price, priority)) in (0..).zip([(9, 3), (10, 4), (9, 1), (8, 2)]) {
            let order = order(u64::from(slot) + 1, Side::Bid, price, priority);
            books.update_to(slot, Some((0, order)), |_, action, _| {
                assert_eq!(action, Action::New);
            });
        }
        assert_eq!(ids(&books, Side::Bid), [2, 3, 1, 4]);
        assert_eq!(ids(&books, Side::Offer), []);
    }

    #[test]
    fn reused_slot_gives_a_delete_and_a_new() {
        let mut books = OrderBooks::new(2, 1);
        books.update_to(0, Some((0, order(1, Side::Bid, 9, 1))), |_, _, _| {});
        let mut actions = Vec::new();
        let new = order(2, Side::Offer, 12, 2);
        books.update_to(0, Some((1, new)), |instrument, action, order| {
            actions.push((instrument, action, order.id.0));
        });
        assert_eq!(actions, [(0, Action::Delete, 1), (1, Action::New, 2)]);
        assert_eq!(ids(&books, Side::Bid), []);
    }

    #[test]
    fn new_priority_alone_is_a_change() {
        let mut books = OrderBooks::new(1, 2);
        for (slot, priority) in [(0, 1), (1, 2)] {
            let order = order(priority, Side::Bid, 9, priority);
            books.update_to(slot, Some((0, order)), |_, _, _| {});
        }
        let mut actions = Vec::new();
        let later = order(1, Side::Bid, 9, 3);
        books.update_to(0, Some((0, later)), |instrument, action, order| {
            actions.push((instrument, action, order.priority));
        });
        assert_eq!((actions, ids(&books, Side::Bid)), (vec![(0, Action::Change, 3)], vec![2, 1]));
    }

    #[test]
    fn loop_sends_books_as_of_its_start() {
        let mut books = OrderBooks::new(1, 2);
        books.update_to(0, Some((0, order(1, Side::Bid, 9, 1))), |_, _, _| {});
        let visited = |books: &OrderBooks, number| {
            let mut visited = Vec::new();
            let (count, _) = books.at_loop_start(number, 0, QUIET);
            books.for_each_at_loop_start(number, 0, 0..count, |order| visited.push(order.id.0));
            visited
        };
        books.preserve(0, 7, QUIET);
        books.update_to(0, None, |_, _, _| {});
        books.preserve(0, 7, QUIET);
        books.update_to(1, Some((0, order(2, Side::Offer, 10, 2))), |_, _, _| {});
        assert_eq!((visited(&books, 7), visited(&books, 8)), (vec![1], vec![2]));
    }

    #[test]
    fn snapshot_alternates_bids_and_offers() {
        let mut books = OrderBooks::new(1, 8);
        let orders = [
            (1, Side::Bid, 8, 5),
            (2, Side::Bid, 9, 4),
            (3, Side::Bid, 9, 2),
            (4, Side::Bid, 7, 1),
            (5, Side::Offer, 12, 3),
            (6, Side::Offer, 11, 6),
        ];
        for (slot, (id, side, price, priority)) in (0..).zip(orders) {
            let target = Some((0, order(id, side, price, priority)));
            books.update_to(slot, target, |_, _, _| {});
        }
        let visited = |books: &OrderBooks, number, range| {
            let mut visited = Vec::new();
            books.for_each_at_loop_start(number, 0, range, |order| visited.push(order.id.0));
            visited
        };
        assert_eq!(visited(&books, 1, 0..6), [3, 6, 2, 5, 1, 4]);
        assert_eq!(visited(&books, 1, 1..4), [6, 2, 5]);
        // A preserved book has the same order.
        books.preserve(0, 1, QUIET);
        books.update_to(0, None, |_, _, _| {});
        assert_eq!(visited(&books, 1, 0..6), [3, 6, 2, 5, 1, 4]);
    }

    proptest! {
        /// Compares with a vector that is sorted on each read.
        #[test]
        fn equals_a_sorted_vector(
            actions in prop::collection::vec((0_u32..8, 0_i64..6, 0_u64..9), 0..64)
        ) {
            let mut books = OrderBooks::new(1, 8);
            let mut model = [None; 8];
            for (n, (slot, price, kind)) in (1..).zip(actions) {
                let side = Side::BOTH[kind as usize % 2];
                let target = (kind > 1).then(|| order(n, side, price, n));
                books.update_to(slot, target.map(|order| (0, order)), |_, _, _| {});
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
