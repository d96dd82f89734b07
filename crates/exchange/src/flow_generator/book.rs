//! An instrument's book, as the background flow uses it.

use crate::{Accumulator, Matching, NewOrder, Order, Owner, Price, PriceLevel, Replacement, Side};

pub(super) struct Book<'a> {
    pub(super) instrument: u32,
    pub(super) matching: &'a mut Matching,
    pub(super) events: &'a mut Accumulator,
}

impl Book<'_> {
    /// Returns the best level with its whole quantity, so that taking it removes it.
    pub(super) fn best(&self, side: Side) -> Option<PriceLevel> {
        self.matching.whole_levels(self.instrument, side).next()
    }

    pub(super) fn best_price(&self, side: Side) -> Option<Price> {
        self.best(side).map(|level| level.price)
    }

    pub(super) fn best_two(&self, side: Side) -> [Option<PriceLevel>; 2] {
        let mut levels = self.matching.whole_levels(self.instrument, side);
        [levels.next(), levels.next()]
    }

    pub(super) fn has_level(&self, side: Side, price: Price) -> bool {
        self.matching.levels(self.instrument, side).any(|level| level.price == price)
    }

    /// Returns `true` if all orders at the best price belong to the background flow.
    pub(super) fn is_background_at_best(&self, side: Side) -> bool {
        let mut orders = self.matching.orders_at_best(self.instrument, side);
        orders.all(|order| order.owner == Owner::BACKGROUND)
    }

    /// Submits a background limit order. Returns `true` if it was accepted.
    pub(super) fn submit(&mut self, side: Side, price: Price, quantity: u32) -> bool {
        self.submit_order(NewOrder::limit(
            self.instrument,
            side,
            price,
            quantity,
            Owner::BACKGROUND,
        ))
    }

    /// Submits an order. Returns `true` if it was accepted.
    pub(super) fn submit_order(&mut self, order: NewOrder) -> bool {
        self.matching.submit(&order, self.events).is_ok()
    }

    /// Returns the first order at the best price, if it belongs to the background flow.
    pub(super) fn first_background_order(&self, side: Side) -> Option<Order> {
        let mut orders = self.matching.orders_at_best(self.instrument, side);
        orders.next().filter(|order| order.owner == Owner::BACKGROUND).copied()
    }

    /// Replaces a background limit order. Returns `true` if the replacement was accepted.
    pub(super) fn replace(&mut self, order: &Order, price: Price, quantity: u32) -> bool {
        let replacement = Replacement { price, quantity, ..Replacement::default() };
        self.matching.replace(order.id, &replacement, self.events).is_ok()
    }

    /// Cancels all orders at the best price. Returns `true` if there was one.
    pub(super) fn cancel_best(&mut self, side: Side) -> bool {
        let best = self.best_price(side);
        while self.best_price(side) == best {
            let first = self.matching.orders_at_best(self.instrument, side).next();
            let Some(order) = first.map(|order| order.id) else { break };
            self.matching.cancel(order, self.events);
        }
        best.is_some()
    }

    /// Trades `quantity` contracts of `side`, which has them at `limit` or better.
    pub(super) fn take(&mut self, side: Side, quantity: u32, limit: Price) -> bool {
        let mut left = quantity;
        while left > 0 {
            let part = left.min(NewOrder::MAX_QUANTITY);
            if !self.submit(side.opposite(), limit, part) {
                return false;
            }
            left -= part;
        }
        true
    }
}
