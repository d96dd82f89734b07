//! Stop orders: stored outside the book until a trade triggers them.
//!
//! A trade at the trigger price or above triggers an order to buy; a trade at the trigger price or
//! below triggers an order to sell. If one trade triggers several orders, the oldest enters the
//! book first. A stop limit order enters with its own limit. A stop order with protection enters
//! with a limit of the instrument's protection beyond its trigger. The order keeps the id from its
//! acceptance.

use super::{
    Accumulator, BOOK_ORDERS_MAX, Matching, NewOrder, Order, OrderId, OrderKind, Rejection,
    Replacement, Side, TimeInForce, replace::check_display,
};
use crate::Price;
use crate::slab::NONE;

/// A pending stop order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopOrder {
    /// The order as it will enter the book. It has no priority yet.
    pub order: Order,
    /// The trigger price (StopPx, tag 99).
    pub trigger: Price,
}

impl StopOrder {
    fn is_triggered(&self, instrument: u32, price: Price) -> bool {
        let is_reached = match self.order.side {
            Side::Bid => price >= self.trigger,
            Side::Offer => price <= self.trigger,
        };
        self.order.instrument == instrument && is_reached
    }
}

impl Matching {
    /// Accepts a stop order: stop limit for [`OrderKind::Limit`], stop with protection for
    /// [`OrderKind::Market`].
    ///
    /// # Errors
    /// See [`Rejection`]; nothing has changed then. Market-limit, fill-and-kill and orders with a
    /// minimum quantity cannot be stop orders.
    pub fn submit_stop(&mut self, new: &NewOrder, trigger: Price) -> Result<Order, Rejection> {
        let price = self.check_stop(new, trigger)?;
        let slot = self.orders.insert(Order::default()).ok_or(Rejection::Full)?;
        self.submissions += 1;
        let order = Order {
            id: OrderId::new(self.submissions, slot),
            instrument: new.instrument,
            side: new.side,
            kind: OrderKind::Limit,
            price,
            quantity: new.quantity,
            remaining: new.quantity,
            display: new.display,
            time_in_force: new.time_in_force,
            owner: new.owner,
            self_match: new.self_match,
            level: NONE,
            ahead: NONE,
            behind: NONE,
            ..Order::default()
        };
        self.stops.push(StopOrder { order, trigger });
        Ok(order)
    }

    /// Replaces the terms of a pending stop order, which keeps its id and becomes the youngest.
    ///
    /// # Errors
    /// Same as [`Matching::submit_stop`]; the order is unchanged then.
    pub fn replace_stop(
        &mut self,
        id: OrderId,
        replacement: &Replacement,
        trigger: Price,
    ) -> Result<Order, Rejection> {
        let index = self.stop_index(id).ok_or(Rejection::UnknownOrder)?;
        let old = self.stops[index].order;
        if old.mitigates.is_some_and(|mitigates| mitigates != replacement.mitigates) {
            return Err(Rejection::Mitigation);
        }
        check_display(&old, replacement.display)?;
        let new = replacement.applied_to(&old);
        let order = Order {
            price: self.check_stop(&new, trigger)?,
            quantity: new.quantity,
            remaining: new.quantity,
            display: new.display,
            time_in_force: new.time_in_force,
            mitigates: Some(replacement.mitigates),
            self_match: new.self_match,
            ..old
        };
        self.stops.remove(index);
        self.stops.push(StopOrder { order, trigger });
        Ok(order)
    }

    /// Cancels a pending stop order. Returns `None` if there is no such order.
    pub fn cancel_stop(&mut self, id: OrderId) -> Option<Order> {
        let index = self.stop_index(id)?;
        let stop = self.stops.remove(index);
        self.free(id.slot());
        Some(stop.order)
    }

    /// Returns a pending stop order.
    #[must_use]
    pub fn stop(&self, id: OrderId) -> Option<&StopOrder> {
        self.stop_index(id).map(|index| &self.stops[index])
    }

    /// Returns the pending stop orders, oldest first.
    #[must_use]
    pub fn stops(&self) -> &[StopOrder] {
        &self.stops
    }

    /// Returns the price of an instrument's last trade, as far as [`Matching::trigger_next`] has
    /// processed them.
    ///
    /// # Panics
    /// If the instrument does not exist.
    #[must_use]
    pub fn last_trade(&self, instrument: u32) -> Option<Price> {
        self.last[instrument as usize]
    }

    /// Processes the trades of `events` starting at index `seen`, and enters the first stop order
    /// that one of them triggers. Returns the order as it entered. Call until the result is `None`:
    /// then all trades are processed, including those of triggered orders. A triggered order stays
    /// pending if the engine has no room.
    pub fn trigger_next(&mut self, seen: &mut usize, events: &mut Accumulator) -> Option<Order> {
        while let Some(trade) = events.trades().get(*seen) {
            let (instrument, price) = (trade.instrument, trade.price);
            self.last[instrument as usize] = Some(price);
            let is_triggered = |stop: &StopOrder| stop.is_triggered(instrument, price);
            let orders = self.books[instrument as usize].orders;
            let has_slots = !self.levels.is_full() && orders < BOOK_ORDERS_MAX;
            if has_slots
                && let Some(index) = self.stops.iter().position(is_triggered)
                && events.has_room(self.fills_max(instrument, self.stops[index].order.quantity))
            {
                let stop = self.stops.remove(index);
                self.execute(stop.order, 0, events);
                return Some(stop.order);
            }
            *seen += 1;
        }
        None
    }

    /// Removes the expired stop orders.
    pub(super) fn expire_stops(
        &mut self,
        is_expired: impl Fn(TimeInForce) -> bool,
        mut on_expired: impl FnMut(&Order),
    ) {
        let mut index = 0;
        while let Some(stop) = self.stops.get(index) {
            let order = stop.order;
            if is_expired(order.time_in_force) {
                self.stops.remove(index);
                self.free(order.id.slot());
                on_expired(&order);
            } else {
                index += 1;
            }
        }
    }

    fn stop_index(&self, id: OrderId) -> Option<usize> {
        self.stops.iter().position(|stop| stop.order.id == id)
    }

    /// Returns the limit of a stop order, if it is valid.
    fn check_stop(&self, new: &NewOrder, trigger: Price) -> Result<Price, Rejection> {
        self.check(new)?;
        // The trigger follows the rules of a limit price.
        self.check(&NewOrder { kind: OrderKind::Limit, price: trigger, ..*new })?;
        let must_trade = new.time_in_force == TimeInForce::FillAndKill || new.minimum > 0;
        if new.kind == OrderKind::MarketLimit || must_trade {
            return Err(Rejection::NotForStop);
        }
        let last = self.last[new.instrument as usize];
        match new.side {
            Side::Bid if last.is_some_and(|last| trigger <= last) => Err(Rejection::StopNotAbove),
            Side::Offer if last.is_some_and(|last| trigger >= last) => Err(Rejection::StopNotBelow),
            side if new.kind == OrderKind::Market => {
                let protection = self.books[new.instrument as usize].protection;
                Ok(side.improved(trigger, protection))
            }
            Side::Bid if new.price < trigger => Err(Rejection::LimitBelowStop),
            Side::Offer if new.price > trigger => Err(Rejection::LimitAboveStop),
            _ => Ok(new.price),
        }
    }
}
