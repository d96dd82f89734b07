//! Cancel-replace of a resting order.

use super::{
    Accumulator, Matching, NewOrder, Order, OrderId, OrderKind, Rejection, Replacement, Submitted,
    TimeInForce,
};

/// What became of a resting order that was to be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaced {
    /// It is another order now.
    Modified {
        /// The order with its new terms, before it traded by them.
        order: Order,
        /// What became of it then.
        submitted: Submitted,
    },
    /// It is cancelled, because with mitigation no more was wanted than has traded. The order is
    /// as it rested.
    Cancelled(Order),
}

impl Matching {
    /// Gives a resting order other terms, under the same number.
    ///
    /// It keeps its place in the queue if its limit and kind stay and no more contracts are open
    /// than before; a change of the time it works loses no place either. Any other replacement
    /// takes the order out and lets it come in again, so that it may trade.
    ///
    /// Without mitigation `quantity` is what shall be open from now on, whatever has traded; with
    /// it, what has traded is subtracted first.
    ///
    /// # Errors
    /// See [`Rejection`]; the order rests as it did then. An engine whose levels are all taken
    /// refuses a replacement that would lose its place, unless the order leaves a level free.
    pub fn replace(
        &mut self,
        id: OrderId,
        replacement: &Replacement,
        events: &mut Accumulator,
    ) -> Result<Replaced, Rejection> {
        let old = *self.order(id).ok_or(Rejection::UnknownOrder)?;
        if old.mitigates.is_some_and(|mitigates| mitigates != replacement.mitigates) {
            return Err(Rejection::Mitigation);
        }
        let &Replacement { kind, price, quantity, minimum, time_in_force, mitigates } = replacement;
        let (instrument, side, owner) = (old.instrument, old.side, old.owner);
        let new =
            NewOrder { instrument, side, kind, price, quantity, minimum, time_in_force, owner };
        self.check(&new)?;
        let open = quantity.saturating_sub(if mitigates { old.traded } else { 0 });
        if open == 0 {
            return Ok(Replaced::Cancelled(self.cancel(id, events).unwrap_or(old)));
        }
        let order = Order {
            kind,
            price: self.limit(&new)?,
            quantity,
            remaining: open,
            time_in_force,
            mitigates: Some(mitigates),
            ..old
        };
        let submitted = if keeps_place(&old, &order, minimum) {
            self.reduce_to(&order);
            events.touch(instrument);
            events.touch_order(id.slot());
            Submitted { order: id, price: order.price, remaining: open, eliminated: 0 }
        } else if !self.has_room_again(&old, events) {
            return Err(Rejection::Full);
        } else {
            self.detach(id.slot());
            self.enter(order, minimum, events)
        };
        Ok(Replaced::Modified { order, submitted })
    }

    /// Whether an order that rests may come in again: its slot is there already, and a level if it
    /// is alone at its price.
    fn has_room_again(&self, old: &Order, events: &Accumulator) -> bool {
        let leaves_level = self.levels[old.level].view.orders == 1;
        let orders = self.books[old.instrument as usize].orders;
        (leaves_level || !self.levels.is_full()) && events.has_room(orders)
    }

    /// Gives an order in its place its new terms: no more contracts than it had.
    fn reduce_to(&mut self, order: &Order) {
        let slot = order.id.slot();
        self.reduce(slot, self.orders[slot].remaining - order.remaining);
        let resting = &mut self.orders[slot];
        resting.quantity = order.quantity;
        resting.time_in_force = order.time_in_force;
        resting.mitigates = order.mitigates;
    }
}

fn keeps_place(old: &Order, new: &Order, minimum: u32) -> bool {
    new.kind == OrderKind::Limit
        && old.kind == OrderKind::Limit
        && new.price == old.price
        && new.remaining <= old.remaining
        && new.time_in_force != TimeInForce::FillAndKill
        && minimum == 0
}
