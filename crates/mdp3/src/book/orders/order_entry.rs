//! An order entry of any template.

use hairpin_cme_codecs::mdp3::MDUpdateAction;

use super::Order;
use crate::{BookSide, Price9};

/// An order entry; nulls as on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OrderEntry {
    pub(super) id: u64,
    priority: u64,
    price: i64,
    quantity: i32,
    pub(super) action: OrderAction,
    side: Option<BookSide>,
}

/// MDUpdateAction (279) or OrderUpdateAction (37708) of an order; both use the same values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OrderAction {
    New,
    Change,
    Delete,
    /// A BookReset: removes all orders of the instrument.
    Reset,
    /// A value that neither field defines for orders.
    Invalid,
}

const NULL_PRICE: i64 = i64::MAX;
const NULL_QUANTITY: i32 = i32::MAX;

impl OrderEntry {
    /// An entry that removes all orders of an instrument.
    pub(super) const RESET: Self =
        Self { id: 0, priority: 0, price: 0, quantity: 0, action: OrderAction::Reset, side: None };

    /// Creates an entry from the fields of a message: the action, the entry type, OrderID and
    /// MDOrderPriority, price and MDDisplayQty.
    pub(super) fn new(
        action: u8,
        entry_type: u8,
        (id, priority): (u64, Option<u64>),
        (price, quantity): (Option<Price9>, Option<i32>),
    ) -> Self {
        Self {
            id,
            priority: priority.unwrap_or(u64::MAX),
            price: price.map_or(NULL_PRICE, |price| price.0),
            quantity: quantity.unwrap_or(NULL_QUANTITY),
            action: match action {
                0 => OrderAction::New,
                1 => OrderAction::Change,
                2 => OrderAction::Delete,
                _ => OrderAction::Invalid,
            },
            side: match entry_type {
                b'0' => Some(BookSide::Bid),
                b'1' => Some(BookSide::Ask),
                _ => None,
            },
        }
    }

    /// Returns the order if the entry states all of its fields.
    pub(super) fn order(&self) -> Option<(BookSide, Order)> {
        let is_whole = self.price != NULL_PRICE && self.quantity != NULL_QUANTITY;
        let quantity = u64::try_from(self.quantity).ok()?;
        let Self { id, priority, price, .. } = *self;
        is_whole.then_some((self.side?, Order { id, priority, price: Price9(price), quantity }))
    }

    /// Returns the order `before` with the fields that the entry states.
    pub(super) fn changed(&self, before: &Order) -> Option<(BookSide, Order)> {
        let quantity = match self.quantity {
            NULL_QUANTITY => before.quantity,
            quantity => u64::try_from(quantity).ok()?,
        };
        let price = if self.price == NULL_PRICE { before.price } else { Price9(self.price) };
        let priority = if self.priority == u64::MAX { before.priority } else { self.priority };
        Some((self.side?, Order { id: before.id, priority, price, quantity }))
    }

    /// Returns the action for listeners.
    pub(super) const fn update_action(&self) -> MDUpdateAction {
        match self.action {
            OrderAction::New => MDUpdateAction::NEW,
            OrderAction::Change => MDUpdateAction::CHANGE,
            _ => MDUpdateAction::DELETE,
        }
    }
}

/// The reason why an entry was not applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OrderError {
    /// A New of an existing order.
    Exists,
    /// A Change or Delete of a missing order.
    Missing,
    /// An invalid entry.
    Invalid,
    /// The order memory is full.
    NoRoom,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(price: Option<i64>, quantity: Option<i32>) -> OrderEntry {
        OrderEntry::new(1, b'0', (7, None), (price.map(Price9), quantity))
    }

    #[test]
    fn new_order_requires_price_quantity_and_side() {
        let order = Order { id: 7, priority: u64::MAX, price: Price9(5), quantity: 3 };
        assert_eq!(entry(Some(5), Some(3)).order(), Some((BookSide::Bid, order)));
        assert_eq!(entry(None, Some(3)).order(), None);
        assert_eq!(entry(Some(5), None).order(), None);
        assert_eq!(entry(Some(5), Some(-1)).order(), None);
        let implied = OrderEntry::new(0, b'E', (7, None), (Some(Price9(5)), Some(3)));
        assert_eq!(implied.order(), None);
    }

    #[test]
    fn change_keeps_unstated_fields() {
        let before = Order { id: 7, priority: 9, price: Price9(5), quantity: 3 };
        assert_eq!(entry(None, None).changed(&before), Some((BookSide::Bid, before)));
        let after = Order { price: Price9(6), quantity: 4, ..before };
        assert_eq!(entry(Some(6), Some(4)).changed(&before), Some((BookSide::Bid, after)));
        assert_eq!(entry(Some(6), Some(-4)).changed(&before), None);
    }
}
