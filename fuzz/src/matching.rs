//! Commands to the matching engine, compared with a reference book that searches a list.
//!
//! Checks, for orders of every kind and time in force, minimum and display quantities, replacements
//! with and without mitigation, cancels, ends of sessions and closings:
//!
//! - Both trade the same contracts between the same orders at the same prices.
//! - Both have the same queues and reject the same commands.
//!
//! Input: steps of six bytes. Half of the sides, prices and names are close together.

use hairpin_exchange::{
    Accumulator, Capacity, Matching, NewOrder, OrderId, OrderKind, Owner, Rejection, Replaced,
    Replacement, Side, Submitted, Terms, TimeInForce,
};
use hairpin_sbe::Decimal;

use crate::Seed;
use crate::reference::{OrderRequest, Outcome, Reference};
use crate::script::Script;

const TICK: i64 = 250_000_000;
const PROTECTION: i64 = 3;
const CAPACITY: Capacity = Capacity { orders: 24, levels: 8 };

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let mut both = Both::new();
    while !script.is_over() {
        let [kind, side, flags, price, quantity, minimum] = [(); 6].map(|()| script.byte());
        both.events.clear();
        let quantity = u32::from(quantity % 32);
        let minimum = u32::from(minimum).saturating_sub(192).min(quantity);
        let display = match flags >> 5 {
            0 => 0,
            part => (quantity * u32::from(part) / 8).max(minimum).max(1).min(quantity),
        };
        let wish = OrderRequest {
            side: Side::BOTH[usize::from(side & 1)],
            kind: [OrderKind::Limit, OrderKind::Limit, OrderKind::Market, OrderKind::MarketLimit]
                [usize::from(flags & 3)],
            price: 95 + i64::from(price % 12),
            quantity,
            minimum,
            display,
            time: [TimeInForce::Day, TimeInForce::GoodTillCancel, TimeInForce::FillAndKill]
                [usize::from(flags >> 2 & 3) % 3],
        };
        let name = usize::from(side >> 1);
        match kind % 8 {
            0..=2 => both.submit(&wish),
            3 | 4 => both.replace(name, &wish, flags & 0x10 != 0),
            5 => both.cancel(name),
            6 => both.end_session(),
            _ => both.set_open(flags & 1 == 0),
        }
        both.compare();
    }
}

struct Both {
    matching: Matching,
    events: Accumulator,
    reference: Reference,
    /// The order ids, by name.
    ids: Vec<OrderId>,
    is_open: bool,
}

impl Both {
    fn new() -> Self {
        let terms = Terms { tick: Decimal(TICK), protection: Decimal(PROTECTION * TICK) };
        let matching = Matching::new([terms; 2], CAPACITY);
        Self {
            events: matching.accumulator(),
            matching,
            reference: Reference::new(PROTECTION),
            ids: Vec::new(),
            is_open: true,
        }
    }

    /// Returns the rejections that the reference does not model: sizes and trading states.
    fn refusal(&self, wish: &OrderRequest) -> Option<Rejection> {
        if !self.is_open {
            Some(Rejection::Closed)
        } else if wish.quantity == 0 {
            Some(Rejection::Quantity)
        } else {
            None
        }
    }

    fn is_full(&self) -> bool {
        let levels = Side::BOTH.map(|side| self.matching.depth(1, side)).iter().sum::<u32>();
        self.matching.resting() == CAPACITY.orders || levels == CAPACITY.levels
    }

    fn submit(&mut self, wish: &OrderRequest) {
        let new = NewOrder {
            instrument: 1,
            side: wish.side,
            kind: wish.kind,
            price: Decimal(wish.price * TICK),
            quantity: wish.quantity,
            minimum: wish.minimum,
            display: wish.display,
            time_in_force: wish.time,
            owner: Owner(1),
            self_match: None,
            quote: false,
        };
        let submitted = self.matching.submit(&new, &mut self.events);
        let refusal = self.refusal(wish);
        if let Some(refusal) = refusal {
            return assert_eq!(submitted, Err(refusal));
        }
        if submitted == Err(Rejection::Full) {
            return assert!(self.is_full(), "rejected although there is room");
        }
        let expected = self.reference.submit(self.ids.len(), wish);
        match (submitted, expected) {
            (Err(Rejection::NoOppositePrice), None) => {}
            (Ok(submitted), Some(expected)) => {
                self.ids.push(submitted.order);
                assert_eq!(self.outcome(wish.quantity, &submitted), expected, "{wish:?}");
            }
            both => panic!("{wish:?}: {both:?}"),
        }
    }

    fn replace(&mut self, name: usize, wish: &OrderRequest, mitigates: bool) {
        let Some(name) = self.name(name) else { return };
        let replacement = Replacement {
            kind: wish.kind,
            price: Decimal(wish.price * TICK),
            quantity: wish.quantity,
            minimum: wish.minimum,
            display: wish.display,
            time_in_force: wish.time,
            mitigates,
            self_match: None,
        };
        let replaced = self.matching.replace(self.ids[name], &replacement, &mut self.events);
        let resting = self.reference.orders.iter().find(|order| order.name == name);
        let Some(resting) = resting else {
            return assert_eq!(replaced, Err(Rejection::UnknownOrder));
        };
        if resting.mitigates.is_some_and(|before| before != mitigates) {
            return assert_eq!(replaced, Err(Rejection::Mitigation));
        }
        if (resting.display > 0) != (wish.display > 0) {
            return assert_eq!(replaced, Err(Rejection::DisplayChange));
        }
        if let Some(refusal) = self.refusal(wish) {
            return assert_eq!(replaced, Err(refusal));
        }
        if replaced == Err(Rejection::Full) {
            return assert!(self.is_full(), "rejected although there is room");
        }
        match (replaced, self.reference.replace(name, wish, mitigates)) {
            (Ok(Replaced::Modified { order, submitted }), Ok(Some(expected))) => {
                assert_eq!(self.outcome(order.remaining, &submitted), expected, "{wish:?}");
            }
            (Ok(Replaced::Cancelled(_)), Ok(None))
            | (Err(Rejection::NoOppositePrice), Err("no price"))
            | (Err(Rejection::Display), Err("display")) => {}
            both => panic!("{wish:?}: {both:?}"),
        }
    }

    fn cancel(&mut self, name: usize) {
        let Some(name) = self.name(name) else { return };
        let cancelled = self.matching.cancel(self.ids[name], &mut self.events);
        assert_eq!(cancelled.map(|order| order.remaining), self.reference.cancel(name));
    }

    fn end_session(&mut self) {
        let before = self.reference.orders.len();
        let mut expired = 0;
        self.matching.end_session(&mut self.events, |_| expired += 1);
        self.reference.end_session();
        assert_eq!(before - self.reference.orders.len(), expired);
    }

    fn set_open(&mut self, is_open: bool) {
        self.is_open = is_open;
        self.matching.set_open(1, is_open);
    }

    /// Returns an order that was accepted at some time.
    fn name(&self, name: usize) -> Option<usize> {
        name.checked_rem(self.ids.len())
    }

    fn outcome(&self, open: u32, submitted: &Submitted) -> Outcome {
        let mut matched = Vec::new();
        for trade in self.events.trades() {
            for fill in &self.events.fills_of(trade)[1..] {
                let name = self.ids.iter().position(|&id| id == fill.order);
                matched.push((
                    name.expect("the order rested"),
                    trade.price.0 / TICK,
                    fill.quantity,
                ));
            }
        }
        Outcome { open, matched, rests: submitted.remaining, eliminated: submitted.eliminated }
    }

    /// Checks that both have the same orders in the same queues, level by level.
    fn compare(&self) {
        for side in Side::BOTH {
            let queue = self.reference.queue(side);
            let mut place = 0;
            for level in self.matching.levels(1, side) {
                let of_level = &queue[place..place + level.orders as usize];
                let is_of_level = |price| price == level.price.0 / TICK;
                assert!(of_level.iter().all(|order| is_of_level(order.price)), "{level:?}");
                assert_eq!(level.quantity, of_level.iter().map(|order| order.shown).sum::<u32>());
                place += of_level.len();
            }
            assert_eq!(place, queue.len());
            let best = self.matching.orders_at_best(1, side).map(|order| order.id);
            assert!(best.zip(&queue).all(|(id, order)| id == self.ids[order.name]));
            assert_eq!(self.matching.levels(0, side).count(), 0);
        }
        for order in &self.reference.orders {
            let resting = self.matching.order(self.ids[order.name]).expect("the order rests");
            let found = (resting.remaining, resting.traded, resting.time_in_force);
            assert_eq!(found, (order.open, order.traded, order.time));
        }
        assert_eq!(self.matching.resting() as usize, self.reference.orders.len());
    }
}

/// Returns trades of every kind, replacements, and a full engine.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let trades = [
        [0, 0, 0, 3, 5, 0],
        [0, 0, 4, 4, 7, 0],
        [0, 1, 0, 6, 5, 0],
        [0, 1, 0, 7, 9, 0],
        [1, 1, 2, 0, 9, 0],
        [1, 0, 3, 0, 6, 0],
        [2, 0, 8, 7, 20, 0],
        [2, 0, 9, 8, 20, 212],
        [6, 0, 0, 0, 0, 0],
    ];
    let replaces = [
        [0, 0, 0, 3, 5, 0],
        [0, 0, 0, 3, 6, 0],
        [3, 0, 0, 3, 4, 0],
        [3, 0, 0x10, 4, 9, 0],
        [0, 1, 0, 3, 2, 0],
        [3, 2, 0x10, 3, 1, 0],
        [5, 0, 0, 0, 0, 0],
        [7, 0, 1, 0, 0, 0],
        [4, 2, 0, 5, 5, 0],
        [7, 0, 0, 0, 0, 0],
    ];
    let icebergs = [
        [0, 0, 0x40, 3, 20, 0],
        [0, 0, 0x20, 3, 9, 0],
        [0, 0, 0, 3, 2, 0],
        [0, 1, 0, 3, 12, 0],
        [3, 0, 0x60, 3, 16, 0],
        [3, 2, 0x30, 3, 8, 0],
        [0, 1, 8, 0, 31, 210],
    ];
    let full: Vec<[u8; 6]> = (0..30).map(|n| [0, 0, 0, n % 9, 1, 0]).collect();
    let seed = |name: &str, steps: &[[u8; 6]]| (name.to_owned(), steps.concat());
    vec![
        seed("trades", &trades),
        seed("replaces", &replaces),
        seed("icebergs", &icebergs),
        seed("full", &full),
    ]
}
