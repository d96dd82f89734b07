//! The best ten orders per side, which the exchange always restates as a whole.

use super::Order;
use super::order_slab::InsertError;
use crate::{BookSide, Price9};

/// The maximum number of orders per side in a book of top orders (MBOLD).
pub const MAX_TOP_ORDERS: usize = 10;

const NONE: Order = Order { id: 0, priority: 0, price: Price9(0), quantity: 0 };

/// Both sides, best first.
#[derive(Debug, Clone, Copy)]
pub(super) struct TopOrders {
    orders: [[Order; MAX_TOP_ORDERS]; 2],
    counts: [u8; 2],
}

const _: () = assert!(size_of::<TopOrders>() == 648);

impl TopOrders {
    pub(super) const EMPTY: Self = Self { orders: [[NONE; MAX_TOP_ORDERS]; 2], counts: [0; 2] };

    pub(super) fn orders(&self, side: BookSide) -> &[Order] {
        &self.orders[side as usize][..usize::from(self.counts[side as usize]).min(MAX_TOP_ORDERS)]
    }

    pub(super) fn find(&self, id: u64) -> Option<(BookSide, Order)> {
        [BookSide::Bid, BookSide::Ask].into_iter().find_map(|side| {
            let order = self.orders(side).iter().find(|order| order.id == id)?;
            Some((side, *order))
        })
    }

    /// Adds an order at its rank and drops the last if there are more than ten.
    pub(super) fn insert(&mut self, side: BookSide, order: &Order) -> Result<(), InsertError> {
        if self.find(order.id).is_some() {
            return Err(InsertError::Exists);
        }
        let place = self.orders(side).partition_point(|other| key(side, other) < key(side, order));
        let count = &mut self.counts[side as usize];
        if place == MAX_TOP_ORDERS {
            return Ok(());
        }
        *count = (*count + 1).min(MAX_TOP_ORDERS as u8);
        let orders = &mut self.orders[side as usize][place..usize::from(*count)];
        orders.rotate_right(1);
        orders[0] = *order;
        Ok(())
    }
}

/// Returns the sort key: price, then priority, then OrderID.
fn key(side: BookSide, order: &Order) -> (i64, u64, u64) {
    let price = match side {
        BookSide::Bid => !order.price.0,
        BookSide::Ask => order.price.0,
    };
    (price, order.priority, order.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn order(id: u64, price: i64) -> Order {
        Order { id, priority: id, price: Price9(price), quantity: 1 }
    }

    fn ids(top: &TopOrders, side: BookSide) -> Vec<u64> {
        top.orders(side).iter().map(|order| order.id).collect()
    }

    #[test]
    fn keeps_best_ten_in_any_order() {
        let mut top = TopOrders::EMPTY;
        for id in [3, 1, 12, 5, 7, 2, 11, 4, 9, 8, 10, 6] {
            top.insert(BookSide::Ask, &order(id, id as i64)).unwrap();
            top.insert(BookSide::Bid, &order(100 + id, 50)).unwrap();
        }
        assert_eq!(ids(&top, BookSide::Ask), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert_eq!(ids(&top, BookSide::Bid), [101, 102, 103, 104, 105, 106, 107, 108, 109, 110]);
    }

    #[test]
    fn rejects_duplicate_order_on_other_side() {
        let mut top = TopOrders::EMPTY;
        top.insert(BookSide::Ask, &order(1, 5)).unwrap();
        assert_eq!(top.insert(BookSide::Bid, &order(1, 4)), Err(InsertError::Exists));
        assert_eq!(top.find(1), Some((BookSide::Ask, order(1, 5))));
        assert_eq!(top.find(2), None);
    }
}
