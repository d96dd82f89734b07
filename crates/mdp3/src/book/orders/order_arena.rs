//! The order books of all instruments.

use alloc::vec;
use alloc::vec::Vec;

use super::order_book_head::OrderBookHead;
use super::order_entry::{OrderAction, OrderEntry, OrderError};
use super::order_slab::{InsertError, Slab, TreeIter, Trees};
use super::top_orders::TopOrders;
use super::{Order, OrderBooks, OrderChange};
use crate::{BookSide, InstrumentIndex, Settings, SyncState};

/// The order books: one head per instrument, and the orders either in a slab or as ten per side in
/// index. What the settings do not enable takes no memory.
#[derive(Debug)]
pub(crate) struct OrderArena {
    pub(super) heads: Vec<OrderBookHead>,
    trees: Vec<Trees>,
    slab: Slab,
    tops: Vec<TopOrders>,
    /// The instruments whose order books the event has changed.
    pub(super) changed: Vec<InstrumentIndex>,
}

impl OrderArena {
    pub(crate) fn new(settings: &Settings) -> Self {
        let instruments = |books: &[OrderBooks]| {
            if books.contains(&settings.order_books) { settings.max_instruments } else { 0 }
        };
        let full = instruments(&[OrderBooks::Full]);
        let either = instruments(&[OrderBooks::Top, OrderBooks::Full]);
        Self {
            heads: vec![OrderBookHead::UNKNOWN; either],
            trees: vec![Trees::EMPTY; full],
            slab: Slab::new(if full == 0 { 0 } else { settings.max_orders }),
            tops: vec![TopOrders::EMPTY; instruments(&[OrderBooks::Top])],
            changed: Vec::with_capacity(either),
        }
    }

    pub(super) fn sync_state(&self, instrument: InstrumentIndex) -> SyncState {
        self.heads.get(instrument.as_usize()).map_or(SyncState::Unknown, |head| head.state)
    }

    pub(super) fn is_in_sync(&self, instrument: InstrumentIndex) -> bool {
        self.sync_state(instrument) == SyncState::InSync
    }

    pub(super) fn find(&self, instrument: InstrumentIndex, id: u64) -> Option<(BookSide, Order)> {
        if let Some(top) = self.tops.get(instrument.as_usize()) {
            return top.find(id);
        }
        self.slab.find(instrument, id).map(|slot| self.slab.order(slot))
    }

    /// Returns the orders of a side, best first.
    pub(super) fn orders(&self, instrument: InstrumentIndex, side: BookSide) -> OrderSource<'_> {
        let index = instrument.as_usize();
        match (self.tops.get(index), self.trees.get(index)) {
            (Some(top), _) => OrderSource::Top(top.orders(side).iter()),
            (_, Some(trees)) => OrderSource::Full(self.slab.orders(trees, side)),
            _ => OrderSource::Top([].iter()),
        }
    }

    /// Removes all orders of an instrument.
    pub(super) fn clear(&mut self, instrument: InstrumentIndex) {
        let index = instrument.as_usize();
        if let Some(top) = self.tops.get_mut(index) {
            *top = TopOrders::EMPTY;
        } else if let Some(trees) = self.trees.get_mut(index) {
            self.slab.clear(trees);
        }
    }

    /// Adds a new order.
    pub(super) fn insert(
        &mut self,
        instrument: InstrumentIndex,
        side: BookSide,
        order: &Order,
    ) -> Result<(), OrderError> {
        let index = instrument.as_usize();
        let inserted = match (self.tops.get_mut(index), self.trees.get_mut(index)) {
            (Some(top), _) => top.insert(side, order),
            (_, Some(trees)) => self.slab.insert(trees, instrument, side, order),
            _ => Err(InsertError::NoRoom),
        };
        inserted.map_err(|error| match error {
            InsertError::Exists => OrderError::Exists,
            InsertError::NoRoom => OrderError::NoRoom,
        })
    }

    /// Adds an order of a snapshot or of top orders.
    pub(super) fn load(
        &mut self,
        instrument: InstrumentIndex,
        entry: &OrderEntry,
    ) -> Result<(), OrderError> {
        let (side, order) = entry.order().ok_or(OrderError::Invalid)?;
        self.insert(instrument, side, &order)
    }

    /// Applies an entry to a full order book. Returns `None` for a reset.
    pub(super) fn apply(
        &mut self,
        instrument: InstrumentIndex,
        entry: &OrderEntry,
    ) -> Result<Option<OrderChange>, OrderError> {
        let change = |side, order, before| {
            Ok(Some(OrderChange { action: entry.update_action(), side, order, before }))
        };
        let Some(trees) = self.trees.get_mut(instrument.as_usize()) else {
            return Err(OrderError::Invalid);
        };
        if entry.action == OrderAction::New {
            let (side, order) = entry.order().ok_or(OrderError::Invalid)?;
            self.insert(instrument, side, &order)?;
            return change(side, order, None);
        }
        if entry.action == OrderAction::Reset {
            self.slab.clear(trees);
            return Ok(None);
        }
        if entry.action == OrderAction::Invalid {
            return Err(OrderError::Invalid);
        }
        let slot = self.slab.find(instrument, entry.id).ok_or(OrderError::Missing)?;
        let (side, before) = self.slab.order(slot);
        if entry.action == OrderAction::Delete {
            self.slab.remove(trees, slot);
            return change(side, before, Some(before));
        }
        let (side, order) = entry.changed(&before).ok_or(OrderError::Invalid)?;
        self.slab.change(trees, slot, side, &order);
        change(side, order, Some(before))
    }
}

/// The storage of the orders of a side.
#[derive(Debug, Clone)]
pub(super) enum OrderSource<'a> {
    Top(core::slice::Iter<'a, Order>),
    Full(TreeIter<'a>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Price9;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    const SEVEN: InstrumentIndex = InstrumentIndex(0);

    fn arena(max_orders: usize) -> OrderArena {
        OrderArena::new(&Settings {
            order_books: OrderBooks::Full,
            max_instruments: 2,
            max_orders,
            ..Settings::default()
        })
    }

    fn entry(action: u8, kind: u8, id: u64, priority: u64, price: i64) -> OrderEntry {
        OrderEntry::new(action, kind, (id, Some(priority)), (Some(Price9(price)), Some(1)))
    }

    fn ids(arena: &OrderArena, side: BookSide) -> Vec<u64> {
        let mut source = arena.orders(SEVEN, side);
        core::iter::from_fn(|| match &mut source {
            OrderSource::Top(orders) => orders.next().copied(),
            OrderSource::Full(walk) => walk.next(),
        })
        .map(|order| order.id)
        .collect()
    }

    #[test]
    fn rejects_new_order_that_exists() {
        let mut arena = arena(4);
        assert!(arena.apply(SEVEN, &entry(0, b'0', 1, 1, 5)).is_ok());
        assert_eq!(arena.apply(SEVEN, &entry(0, b'0', 1, 1, 5)), Err(OrderError::Exists));
    }

    #[test]
    fn rejects_change_of_missing_order() {
        let mut arena = arena(4);
        assert_eq!(arena.apply(SEVEN, &entry(1, b'0', 1, 1, 5)), Err(OrderError::Missing));
        assert_eq!(arena.apply(SEVEN, &entry(2, b'0', 1, 1, 5)), Err(OrderError::Missing));
        assert_eq!(arena.apply(SEVEN, &entry(3, b'0', 1, 1, 5)), Err(OrderError::Invalid));
    }

    #[test]
    fn change_moves_order() {
        let mut arena = arena(4);
        for id in 1..=3 {
            arena.apply(SEVEN, &entry(0, b'0', id, id, 5)).unwrap();
        }
        assert_eq!(ids(&arena, BookSide::Bid), [1, 2, 3]);
        arena.apply(SEVEN, &entry(1, b'0', 1, 9, 5)).unwrap();
        assert_eq!(ids(&arena, BookSide::Bid), [2, 3, 1]);
        arena.apply(SEVEN, &entry(1, b'0', 3, 3, 6)).unwrap();
        assert_eq!(ids(&arena, BookSide::Bid), [3, 2, 1]);
        arena.apply(SEVEN, &entry(1, b'1', 2, 2, 7)).unwrap();
        assert_eq!((ids(&arena, BookSide::Bid), ids(&arena, BookSide::Ask)), (vec![3, 1], vec![2]));
    }

    #[test]
    fn disabled_order_books_take_no_memory() {
        let settings = Settings { max_orders: 1_000, ..Settings::default() };
        let mut arena = OrderArena::new(&settings);
        assert_eq!((arena.heads.capacity(), arena.trees.capacity()), (0, 0));
        assert_eq!((arena.tops.capacity(), arena.changed.capacity()), (0, 0));
        assert_eq!(arena.sync_state(SEVEN), SyncState::Unknown);
        let order = Order { id: 1, priority: 1, price: Price9(1), quantity: 1 };
        assert_eq!(arena.insert(SEVEN, BookSide::Bid, &order), Err(OrderError::NoRoom));
        assert_eq!(ids(&arena, BookSide::Bid), []);
    }

    proptest! {
        /// New, Change, Delete and Reset on two instruments that share the slab. Each book must
        /// equal a sorted map after the same entries; orders beyond the capacity must be rejected.
        #[test]
        fn matches_sorted_map(
            steps in prop::collection::vec(
                (0u32..2, 0u8..4, any::<bool>(), 0u64..24, 0u64..3, -2i64..3), 0..300),
        ) {
            const ROOM: usize = 12;
            let mut arena = arena(ROOM);
            let mut model: BTreeMap<(u32, u64), (bool, i64, u64)> = BTreeMap::new();
            for (instrument, action, is_bid, id, priority, price) in steps {
                let kind = if is_bid { b'0' } else { b'1' };
                let mut entry = entry(action, kind, id, priority, price);
                if action == 3 && id < 2 {
                    entry = OrderEntry::RESET;
                }
                let exists = model.contains_key(&(instrument, id));
                let expected = match entry.action {
                    OrderAction::New if exists => Err(OrderError::Exists),
                    OrderAction::New if model.len() == ROOM => Err(OrderError::NoRoom),
                    OrderAction::Change | OrderAction::Delete if !exists => {
                        Err(OrderError::Missing)
                    }
                    OrderAction::Invalid => Err(OrderError::Invalid),
                    _ => Ok(()),
                };
                let applied = arena.apply(InstrumentIndex(instrument), &entry);
                prop_assert_eq!(applied.map(|_| ()), expected);
                match entry.action {
                    _ if expected.is_err() => {}
                    OrderAction::Delete => {
                        model.remove(&(instrument, id));
                    }
                    OrderAction::Reset => model.retain(|(of, _), _| *of != instrument),
                    _ => {
                        model.insert((instrument, id), (is_bid, price, priority));
                    }
                }
                for is_bid in [true, false] {
                    let mut sorted: Vec<_> = model
                        .iter()
                        .filter(|((of, _), (bid, ..))| *of == 0 && *bid == is_bid)
                        .map(|((_, id), (_, price, priority))| {
                            (if is_bid { -price } else { *price }, *priority, *id)
                        })
                        .collect();
                    sorted.sort_unstable();
                    let sorted: Vec<_> = sorted.into_iter().map(|(_, _, id)| id).collect();
                    let side = if is_bid { BookSide::Bid } else { BookSide::Ask };
                    prop_assert_eq!(ids(&arena, side), sorted);
                }
            }
        }
    }
}
