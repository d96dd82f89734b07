//! Kinds of orders that the default flow does not contain.

use super::book::Book;
use super::{FlowGenerator, FlowStep, QUANTITY_MAX, STEP_RANGE, StepKind};
use crate::matching::{NewOrder, OrderKind, Owner, PriceLevel, Side, TimeInForce};

/// The composition of the background flow: the kinds of orders in addition to plain limit orders
/// and cancels. One of two steps tries an enabled kind, chosen at random.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct BackgroundFlow {
    /// Market orders with protection.
    pub market: bool,
    /// Fill-and-kill orders whose remainder is eliminated.
    pub fill_and_kill: bool,
    /// Limit orders that trade in part and rest with the remainder.
    pub partial: bool,
    /// Replacements of resting orders.
    pub replace: bool,
}

impl BackgroundFlow {
    /// All kinds.
    pub const ALL: Self = Self { market: true, fill_and_kill: true, partial: true, replace: true };

    fn kinds(self) -> impl Iterator<Item = StepKind> + Clone {
        [
            (self.market, StepKind::Market),
            (self.fill_and_kill, StepKind::FillAndKill),
            (self.partial, StepKind::Partial),
            (self.replace, StepKind::Replace),
        ]
        .into_iter()
        .filter_map(|(is_enabled, kind)| is_enabled.then_some(kind))
    }
}

impl FlowGenerator {
    /// Makes a step of an enabled kind in one of two cases. For the default flow no random number
    /// is drawn.
    pub(super) fn varied_step(&mut self, book: &mut Book<'_>, spread: i64) -> Option<FlowStep> {
        let kinds = self.flow.kinds();
        let count = kinds.clone().count() as u32;
        if count == 0 || self.below(2) == 0 {
            return None;
        }
        let kind = kinds.clone().nth(self.below(count) as usize)?;
        let side = self.side();
        let best = book.best(side)?;
        let is_changed = match kind {
            StepKind::Replace => self.replace_best(book, side, best, spread),
            kind => self.take_best(book, side, best, kind),
        };
        let instrument = book.instrument;
        is_changed.then_some(FlowStep { instrument, side, kind })
    }

    /// Takes the whole best level with one order, unless it is a base level.
    fn take_best(
        &mut self,
        book: &mut Book<'_>,
        side: Side,
        best: PriceLevel,
        kind: StepKind,
    ) -> bool {
        let is_base_level = self.scale(book.instrument).ticks(side, best.price) < -STEP_RANGE;
        if is_base_level || best.quantity > NewOrder::MAX_QUANTITY - QUANTITY_MAX {
            return false;
        }
        let more = 1 + self.below(QUANTITY_MAX);
        let (quantity, order_kind, time_in_force) = match kind {
            StepKind::Market => (best.quantity, OrderKind::Market, TimeInForce::Day),
            StepKind::FillAndKill => {
                (best.quantity + more, OrderKind::Limit, TimeInForce::FillAndKill)
            }
            _ => (best.quantity + more, OrderKind::Limit, TimeInForce::Day),
        };
        let order = NewOrder::limit(
            book.instrument,
            side.opposite(),
            best.price,
            quantity,
            Owner::BACKGROUND,
        );
        book.submit_order(NewOrder { kind: order_kind, time_in_force, ..order })
    }

    /// Moves the first order of the best level inside the spread, unless it is the last order of a
    /// base level.
    fn replace_best(
        &mut self,
        book: &mut Book<'_>,
        side: Side,
        best: PriceLevel,
        spread: i64,
    ) -> bool {
        let is_base_level = self.scale(book.instrument).ticks(side, best.price) < -STEP_RANGE;
        let inside = u32::try_from(spread - 1).unwrap_or(0);
        let Some(order) = book.first_background_order(side) else { return false };
        if inside == 0 || is_base_level && best.orders == 1 || order.kind != OrderKind::Limit {
            return false;
        }
        let by = 1 + i64::from(self.below(inside));
        let price = side.improved(best.price, by * self.scale(book.instrument).tick);
        let quantity = 1 + self.below(QUANTITY_MAX);
        book.replace(&order, price, quantity)
    }
}
