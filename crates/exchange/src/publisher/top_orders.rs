//! The best orders of a book, as a conflated group publishes them (MBOLD).

use super::orders::PublishedOrder;
use crate::matching::{Matching, Side};

/// Orders of a side that are published.
pub const TOP_ORDERS: usize = 10;

/// Up to [`TOP_ORDERS`] orders of each side, best first.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct TopOrders {
    sides: [[Option<PublishedOrder>; TOP_ORDERS]; 2],
}

impl TopOrders {
    /// Those of a book.
    pub(super) fn of(matching: &Matching, instrument: u32) -> Self {
        let mut top = Self::default();
        for side in Side::BOTH {
            let orders = matching.orders(instrument, side).map(PublishedOrder::of);
            for (place, order) in top.sides[side.index()].iter_mut().zip(orders) {
                *place = Some(order);
            }
        }
        top
    }

    /// The orders of a side, best first.
    pub fn side(&self, side: Side) -> impl Iterator<Item = &PublishedOrder> + '_ {
        self.sides[side.index()].iter().flatten()
    }

    /// All orders as messages state them: bid 1, offer 1, bid 2, offer 2 and so on, and of the
    /// longer side what is left.
    pub fn interleaved(&self) -> impl Iterator<Item = &PublishedOrder> + '_ {
        let [bids, offers] = &self.sides;
        bids.iter().zip(offers).flat_map(|(bid, offer)| [bid, offer]).flatten()
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.interleaved().count()
    }
}
