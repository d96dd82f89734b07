//! Cancel-replace of a resting order.

use super::{
    Accumulator, Matching, Order, OrderId, OrderKind, Rejection, Replacement, Submitted,
    TimeInForce,
};

/// The result of a replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaced {
    /// The order has new terms.
    Modified {
        /// The order with its new terms, before it trades.
        order: Order,
        /// The result of its re-entry.
        submitted: Submitted,
    },
    /// The order is canceled: with mitigation, the new quantity does not exceed the traded one. The
    /// order is returned as it rested.
    Cancelled(Order),
}

impl Matching {
    /// Replaces the terms of a resting order, which keeps its id.
    ///
    /// The order keeps its priority if limit and kind stay and neither its open quantity nor its
    /// display quantity grows. A change of the time in force keeps the priority too. Any other
    /// replacement removes the order and enters it again, so that it may trade.
    ///
    /// Without mitigation `quantity` is the new open quantity. With mitigation, traded contracts
    /// are subtracted first.
    ///
    /// # Errors
    /// See [`Rejection`]; the order rests unchanged then. If all levels are in use, a replacement
    /// that loses priority is rejected, unless the order leaves a level free.
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
        let &Replacement { kind, quantity, minimum, display, time_in_force, mitigates, .. } =
            replacement;
        check_display(&old, display)?;
        let new = replacement.applied_to(&old);
        self.check(&new)?;
        let remaining = quantity.saturating_sub(if mitigates { old.traded } else { 0 });
        if remaining == 0 {
            return Ok(Replaced::Cancelled(self.cancel(id, events).unwrap_or(old)));
        }
        if display > remaining {
            return Err(Rejection::Display);
        }
        let order = Order {
            kind,
            price: self.limit(&new)?,
            quantity,
            remaining,
            display,
            time_in_force,
            mitigates: Some(mitigates),
            self_match: replacement.self_match,
            ..old
        };
        let submitted = if keeps_priority(&old, &order, minimum) {
            self.reduce_to(&order);
            events.touch(old.instrument);
            events.touch_order(id.slot());
            Submitted { order: id, price: order.price, remaining, eliminated: 0, prevented: 0 }
        } else if !self.has_room_for_reentry(&old, remaining, events) {
            return Err(Rejection::Full);
        } else {
            self.detach(id.slot());
            self.execute(order, minimum, events)
        };
        Ok(Replaced::Modified { order, submitted })
    }

    /// Returns `true` if a resting order can be entered again. Its slot is already reserved, and so
    /// is its level if it is the only order there.
    fn has_room_for_reentry(&self, old: &Order, quantity: u32, events: &Accumulator) -> bool {
        let leaves_level = self.levels[old.level].view.orders == 1;
        let fills = self.fills_max(old.instrument, quantity);
        (leaves_level || !self.levels.is_full()) && events.has_room(fills)
    }

    /// Applies new terms to a resting order that keeps its priority and does not grow.
    fn reduce_to(&mut self, order: &Order) {
        let old = self.orders[order.id.slot()];
        let new = Order { shown: old.shown.min(order.shown_at_entry()), ..*order };
        let level = &mut self.levels[old.level];
        level.view.quantity -= old.shown - new.shown;
        level.hidden = level.hidden - old.hidden() + new.hidden();
        let book = &mut self.books[old.instrument as usize];
        book.tranches = book.tranches - old.tranches() + new.tranches();
        self.orders[order.id.slot()] = new;
    }
}

/// Checks that a replacement neither gives an order a display quantity nor takes it away.
pub(super) fn check_display(old: &Order, display: u32) -> Result<(), Rejection> {
    if (old.display == 0) == (display == 0) { Ok(()) } else { Err(Rejection::DisplayChange) }
}

fn keeps_priority(old: &Order, new: &Order, minimum: u32) -> bool {
    new.kind == OrderKind::Limit
        && old.kind == OrderKind::Limit
        && new.price == old.price
        && new.remaining <= old.remaining
        && new.display <= old.display
        && new.time_in_force != TimeInForce::FillAndKill
        && minimum == 0
}
