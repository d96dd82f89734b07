//! Stop orders: they wait outside the book until a trade triggers them.
//!
//! An order to buy is triggered by a trade at its trigger or above, an order to sell by one at its
//! trigger or below; of several that one trade triggers the oldest comes in first. A stop limit
//! order comes in with its own limit, a stop order with protection with the instrument's protection
//! beyond its trigger. It comes in under the number that it was given when it was accepted.

use super::{
    Accumulator, BOOK_ORDERS_MAX, Matching, NewOrder, Order, OrderId, OrderKind, Rejection,
    Replacement, Side, TimeInForce,
};
use crate::Price;
use crate::slab::NONE;

/// A stop order that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// The order as it will come in. It has no priority yet.
    pub order: Order,
    /// The price that triggers it (tag 99).
    pub trigger: Price,
}

impl Stop {
    fn is_triggered(&self, instrument: u32, price: Price) -> bool {
        let is_reached = match self.order.side {
            Side::Bid => price >= self.trigger,
            Side::Offer => price <= self.trigger,
        };
        self.order.instrument == instrument && is_reached
    }
}

impl Matching {
    /// Accepts a stop order: stop limit if its kind is [`OrderKind::Limit`], with protection if
    /// that is [`OrderKind::Market`].
    ///
    /// # Errors
    /// See [`Rejection`]; nothing has changed then. A market-limit order cannot wait, nor can what
    /// has to trade at once: fill and kill, and orders with a minimum.
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
            time_in_force: new.time_in_force,
            owner: new.owner,
            level: NONE,
            ahead: NONE,
            behind: NONE,
            ..Order::default()
        };
        self.stops.push(Stop { order, trigger });
        Ok(order)
    }

    /// Gives a stop order that waits other terms, under the same number; it is the youngest then.
    ///
    /// # Errors
    /// As of [`Matching::submit_stop`]; it waits as it did then.
    pub fn replace_stop(
        &mut self,
        id: OrderId,
        replacement: &Replacement,
        trigger: Price,
    ) -> Result<Order, Rejection> {
        let place = self.stop_place(id).ok_or(Rejection::UnknownOrder)?;
        let old = self.stops[place].order;
        if old.mitigates.is_some_and(|mitigates| mitigates != replacement.mitigates) {
            return Err(Rejection::Mitigation);
        }
        let &Replacement { kind, price, quantity, minimum, time_in_force, mitigates } = replacement;
        let (instrument, side, owner) = (old.instrument, old.side, old.owner);
        let new =
            NewOrder { instrument, side, kind, price, quantity, minimum, time_in_force, owner };
        let price = self.check_stop(&new, trigger)?;
        let mitigates = Some(mitigates);
        let order = Order { price, quantity, remaining: quantity, time_in_force, mitigates, ..old };
        self.stops.remove(place);
        self.stops.push(Stop { order, trigger });
        Ok(order)
    }

    /// Takes a stop order that waits away; `None` if there is none of this number.
    pub fn cancel_stop(&mut self, id: OrderId) -> Option<Order> {
        let place = self.stop_place(id)?;
        let stop = self.stops.remove(place);
        self.free(id.slot());
        Some(stop.order)
    }

    /// A stop order that waits.
    #[must_use]
    pub fn stop(&self, id: OrderId) -> Option<&Stop> {
        self.stop_place(id).map(|place| &self.stops[place])
    }

    /// Stop orders that wait, oldest first.
    #[must_use]
    pub fn stops(&self) -> &[Stop] {
        &self.stops
    }

    /// The price of an instrument's last trade, as far as [`Matching::trigger_next`] has seen them.
    ///
    /// # Panics
    /// If there is no such instrument.
    #[must_use]
    pub fn last_trade(&self, instrument: u32) -> Option<Price> {
        self.last[instrument as usize]
    }

    /// Looks at the trades of `events` from `seen` on, and has the first stop order that one of
    /// them triggers come in; it is returned as it came in. Call until there is `None`: then all
    /// trades have been seen, those of triggered orders too. A triggered order that the engine has
    /// no room for waits on.
    pub fn trigger_next(&mut self, seen: &mut usize, events: &mut Accumulator) -> Option<Order> {
        while let Some(trade) = events.trades().get(*seen) {
            let (instrument, price) = (trade.instrument, trade.price);
            self.last[instrument as usize] = Some(price);
            let is_triggered = |stop: &Stop| stop.is_triggered(instrument, price);
            let orders = self.books[instrument as usize].orders;
            let has_room =
                !self.levels.is_full() && orders < BOOK_ORDERS_MAX && events.has_room(orders);
            if has_room && let Some(place) = self.stops.iter().position(is_triggered) {
                let stop = self.stops.remove(place);
                self.enter(stop.order, 0, events);
                return Some(stop.order);
            }
            *seen += 1;
        }
        None
    }

    /// Takes away the stop orders whose time is over.
    pub(super) fn expire_stops(
        &mut self,
        is_over: impl Fn(TimeInForce) -> bool,
        mut on_expired: impl FnMut(&Order),
    ) {
        let mut place = 0;
        while let Some(stop) = self.stops.get(place) {
            let order = stop.order;
            if is_over(order.time_in_force) {
                self.stops.remove(place);
                self.free(order.id.slot());
                on_expired(&order);
            } else {
                place += 1;
            }
        }
    }

    fn stop_place(&self, id: OrderId) -> Option<usize> {
        self.stops.iter().position(|stop| stop.order.id == id)
    }

    /// The limit of a stop order, if it can wait.
    fn check_stop(&self, new: &NewOrder, trigger: Price) -> Result<Price, Rejection> {
        self.check(new)?;
        // The trigger is a price like a limit.
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
