//! Kinds of order that the default flow does not have.

use super::book::Book;
use super::{Generator, Kind, MAX_QUANTITY, REACH, Step};
use crate::matching::{NewOrder, OrderKind, Owner, PriceLevel, Side, TimeInForce};

/// Which kinds of order there are beside plain limit orders and cancels. Of every two steps one
/// tries a kind that is wanted, chosen at random.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// Market orders with protection.
    pub market: bool,
    /// Fill-and-kill orders whose rest is eliminated.
    pub fill_and_kill: bool,
    /// Limit orders that trade in part and rest with the other.
    pub partial: bool,
    /// Replacements of resting orders.
    pub replace: bool,
}

impl Flow {
    /// Every kind.
    pub const ALL: Self = Self { market: true, fill_and_kill: true, partial: true, replace: true };

    fn kinds(self) -> impl Iterator<Item = Kind> + Clone {
        [
            (self.market, Kind::Market),
            (self.fill_and_kill, Kind::FillAndKill),
            (self.partial, Kind::Partial),
            (self.replace, Kind::Replace),
        ]
        .into_iter()
        .filter_map(|(is_wanted, kind)| is_wanted.then_some(kind))
    }
}

impl Generator {
    /// A step of a kind that the flow asks for, in one case of two; no number is drawn for the
    /// default flow.
    pub(super) fn vary(&mut self, book: &mut Book<'_>, spread: i64) -> Option<Step> {
        let kinds = self.flow.kinds();
        let count = kinds.clone().count() as u32;
        if count == 0 || self.below(2) == 0 {
            return None;
        }
        let kind = kinds.clone().nth(self.below(count) as usize)?;
        let side = self.side();
        let best = book.best(side)?;
        let is_done = match kind {
            Kind::Replace => self.replace_best(book, side, best, spread),
            kind => self.take_best(book, side, best, kind),
        };
        let instrument = book.instrument;
        is_done.then_some(Step { instrument, side, kind })
    }

    /// Takes the best level whole by one order, unless that level belongs to the foundation.
    fn take_best(&mut self, book: &mut Book<'_>, side: Side, best: PriceLevel, kind: Kind) -> bool {
        let is_foundation = self.scale(book.instrument).ticks(side, best.price) < -REACH;
        if is_foundation || best.quantity > NewOrder::MAX_QUANTITY - MAX_QUANTITY {
            return false;
        }
        let more = 1 + self.below(MAX_QUANTITY);
        let (quantity, order_kind, time_in_force) = match kind {
            Kind::Market => (best.quantity, OrderKind::Market, TimeInForce::Day),
            Kind::FillAndKill => (best.quantity + more, OrderKind::Limit, TimeInForce::FillAndKill),
            _ => (best.quantity + more, OrderKind::Limit, TimeInForce::Day),
        };
        let order =
            NewOrder::limit(book.instrument, side.opposite(), best.price, quantity, Owner::HOUSE);
        book.enter(NewOrder { kind: order_kind, time_in_force, ..order })
    }

    /// Moves the first order of the best level inside the spread, unless it is all that is left
    /// of a level of the foundation.
    fn replace_best(
        &mut self,
        book: &mut Book<'_>,
        side: Side,
        best: PriceLevel,
        spread: i64,
    ) -> bool {
        let is_foundation = self.scale(book.instrument).ticks(side, best.price) < -REACH;
        let inside = u32::try_from(spread - 1).unwrap_or(0);
        let Some(order) = book.our_first(side) else { return false };
        if inside == 0 || is_foundation && best.orders == 1 || order.kind != OrderKind::Limit {
            return false;
        }
        let by = 1 + i64::from(self.below(inside));
        let price = side.improved(best.price, by * self.scale(book.instrument).tick);
        let quantity = 1 + self.below(MAX_QUANTITY);
        book.replace(&order, price, quantity)
    }
}
