//! Orders by name, with their results as text.

use std::collections::BTreeMap;

use hairpin_exchange::{
    Accumulator, Capacity, Matching, NewOrder, Order, OrderId, OrderKind, Owner, Rejection,
    Replaced, Replacement, SelfMatchInstruction, Side, Submitted, Terms, TimeInForce,
};
use hairpin_sbe::Decimal;

const TICK: i64 = 250_000_000;

/// An engine of one instrument with a tick of 0.25 and a protection of 5 ticks. All prices here are
/// in ticks.
pub(crate) struct Trace {
    pub(crate) matching: Matching,
    pub(crate) events: Accumulator,
    names: BTreeMap<OrderId, &'static str>,
}

/// Creates a limit order, good for the day.
pub(crate) fn limit(side: Side, ticks: i64, quantity: u32) -> NewOrder {
    NewOrder::limit(0, side, Decimal(ticks * TICK), quantity, Owner::BACKGROUND)
}

/// Creates a market order with protection.
pub(crate) fn market(side: Side, quantity: u32) -> NewOrder {
    NewOrder { kind: OrderKind::Market, ..limit(side, 0, quantity) }
}

/// Creates a market-limit order.
pub(crate) fn market_limit(side: Side, quantity: u32) -> NewOrder {
    NewOrder { kind: OrderKind::MarketLimit, ..limit(side, 0, quantity) }
}

/// Creates a fill-and-kill order.
pub(crate) fn fill_and_kill(side: Side, ticks: i64, quantity: u32) -> NewOrder {
    NewOrder { time_in_force: TimeInForce::FillAndKill, ..limit(side, ticks, quantity) }
}

/// Creates a fill-or-kill order.
pub(crate) fn fill_or_kill(side: Side, ticks: i64, quantity: u32) -> NewOrder {
    NewOrder { minimum: quantity, ..fill_and_kill(side, ticks, quantity) }
}

/// Creates a replacement by a day limit order, without mitigation.
pub(crate) fn to(ticks: i64, quantity: u32) -> Replacement {
    Replacement { price: Decimal(ticks * TICK), quantity, ..Replacement::default() }
}

impl Trace {
    pub(crate) fn new() -> Self {
        let terms = Terms { tick: Decimal(TICK), protection: Decimal(5 * TICK) };
        let matching = Matching::new([terms], Capacity { orders: 64, levels: 16 });
        let events = matching.accumulator();
        Self { matching, events, names: BTreeMap::new() }
    }

    /// Submits an order under a name. Returns its trades as `quantity@ticks:with`, and the
    /// remainder.
    pub(crate) fn submit(&mut self, name: &'static str, order: NewOrder) -> String {
        self.events.clear();
        match self.matching.submit(&order, &mut self.events) {
            Ok(submitted) => {
                self.names.insert(submitted.order, name);
                self.outcome(&submitted)
            }
            Err(rejection) => format!("{rejection:?}"),
        }
    }

    /// Submits a stop order under a name; it must be accepted.
    pub(crate) fn submit_stop(&mut self, name: &'static str, order: NewOrder, trigger: i64) {
        let accepted = self.matching.submit_stop(&order, Decimal(trigger * TICK));
        self.names.insert(accepted.unwrap().id, name);
    }

    /// Triggers stop orders for the last trades. Returns the trades and remainder of each.
    pub(crate) fn triggered(&mut self) -> Vec<String> {
        let (mut seen, mut triggered) = (0, Vec::new());
        loop {
            let before = self.events.trades().len();
            let Some(order) = self.matching.trigger_next(&mut seen, &mut self.events) else {
                return triggered;
            };
            let mut parts = Vec::new();
            for trade in &self.events.trades()[before..] {
                let ticks = trade.price.0 / TICK;
                for fill in &self.events.fills_of(trade)[1..] {
                    parts.push(format!("{}@{ticks}:{}", fill.quantity, self.names[&fill.order]));
                }
            }
            if let Some(rest) = self.matching.order(order.id) {
                parts.push(format!("rests {}", rest.remaining));
            }
            triggered.push(format!("{}: {}", self.names[&order.id], parts.join(" ")));
        }
    }

    pub(crate) fn replace(&mut self, name: &str, replacement: Replacement) -> String {
        self.events.clear();
        match self.try_replace(name, replacement) {
            Ok(Replaced::Modified { order, submitted }) => {
                assert_eq!((order.id, submitted.order), (self.id(name), self.id(name)));
                format!("open {}: {}", order.remaining, self.outcome(&submitted))
            }
            Ok(Replaced::Cancelled(order)) => format!("canceled {}", order.remaining),
            Err(rejection) => format!("{rejection:?}"),
        }
    }

    fn try_replace(&mut self, name: &str, by: Replacement) -> Result<Replaced, Rejection> {
        self.matching.replace(self.id(name), &by, &mut self.events)
    }

    /// Ends the session. Returns the names of the expired orders, sorted.
    pub(crate) fn end_session(&mut self) -> String {
        self.events.clear();
        let mut left = Vec::new();
        let names = &self.names;
        self.matching.end_session(&mut self.events, |order| left.push(names[&order.id]));
        left.sort_unstable();
        left.join(" ")
    }

    pub(crate) fn order(&self, name: &str) -> Order {
        *self.matching.order(self.id(name)).unwrap()
    }

    pub(crate) fn id(&self, name: &str) -> OrderId {
        *self.names.iter().find(|(_, known)| **known == name).unwrap().0
    }

    /// Returns a side's levels as `ticks: quantity in orders`, best first.
    pub(crate) fn book(&self, side: Side) -> String {
        let levels = self.matching.levels(0, side).map(|level| {
            format!("{}: {} in {}", level.price.0 / TICK, level.quantity, level.orders)
        });
        levels.collect::<Vec<_>>().join(", ")
    }

    /// Returns the names of the orders at the best price, in priority.
    pub(crate) fn queue(&self, side: Side) -> String {
        let names = self.matching.orders_at_best(0, side).map(|order| self.names[&order.id]);
        names.collect::<Vec<_>>().join(" ")
    }

    /// Returns the orders that self-match prevention has canceled in the last submission.
    pub(crate) fn prevented(&self) -> String {
        let cancels = self.events.self_matches().iter().map(|cancel| {
            let role = match cancel.instruction {
                SelfMatchInstruction::CancelResting => "resting",
                SelfMatchInstruction::CancelAggressor => "aggressor",
            };
            format!("{} {} {role}", self.names[&cancel.order], cancel.remaining)
        });
        cancels.collect::<Vec<_>>().join(", ")
    }

    fn outcome(&self, submitted: &Submitted) -> String {
        let mut parts = Vec::new();
        for trade in self.events.trades() {
            let fills = self.events.fills_of(trade);
            assert_eq!(fills[0].order, submitted.order, "the aggressor is first");
            let matched: u32 = fills[1..].iter().map(|fill| fill.quantity).sum();
            assert_eq!((trade.quantity, fills[0].quantity), (matched, matched));
            for fill in &fills[1..] {
                let (ticks, name) = (trade.price.0 / TICK, self.names[&fill.order]);
                parts.push(format!("{}@{ticks}:{name}", fill.quantity));
            }
        }
        match (submitted.remaining, submitted.eliminated) {
            (0, 0) => {}
            (rests, 0) => parts.push(format!("rests {rests}@{}", submitted.price.0 / TICK)),
            (0, eliminated) => parts.push(format!("eliminated {eliminated}")),
            both => panic!("{both:?}"),
        }
        assert_eq!(self.matching.order(submitted.order).is_some(), submitted.remaining > 0);
        parts.join(" ")
    }
}
