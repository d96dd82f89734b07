//! The best orders of a book, as a conflated group publishes them (MBOLD).

use super::orders::PublishedOrder;
use crate::matching::{Matching, Side};

/// The number of published orders per side.
pub const TOP_ORDERS: usize = 10;

/// Up to [`TOP_ORDERS`] orders of each side, best first.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct TopOrders {
    sides: [[Option<PublishedOrder>; TOP_ORDERS]; 2],
}

impl TopOrders {
    /// Creates the top orders of a book.
    pub(super) fn from_matching(matching: &Matching, instrument: u32) -> Self {
        let mut top = Self::default();
        for side in Side::BOTH {
            let orders = matching.orders(instrument, side).map(PublishedOrder::from_order);
            for (slot, order) in top.sides[side.index()].iter_mut().zip(orders) {
                *slot = Some(order);
            }
        }
        top
    }

    /// Returns the orders of a side, best first.
    pub fn side(&self, side: Side) -> impl Iterator<Item = &PublishedOrder> + '_ {
        self.sides[side.index()].iter().flatten()
    }

    /// Returns all orders in message order: bid 1, offer 1, bid 2, offer 2 and so on, then the rest
    /// of the longer side.
    pub fn interleaved(&self) -> impl Iterator<Item = &PublishedOrder> + '_ {
        let [bids, offers] = &self.sides;
        bids.iter().zip(offers).flat_map(|(bid, offer)| [bid, offer]).flatten()
    }

    /// Returns the number of orders.
    pub(super) fn count(&self) -> usize {
        self.interleaved().count()
    }
}
