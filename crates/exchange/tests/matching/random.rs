//! Random commands, done by the engine and by the reference.

use hairpin_exchange::{
    Accumulator, Capacity, Matching, NewOrder, OrderId, OrderKind, Owner, Rejection, Replaced,
    Replacement, Side, Submitted, Terms, TimeInForce,
};
use hairpin_sbe::Decimal;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::reference::{Outcome, Reference, Wish};

const TICK: i64 = 250_000_000;
const PROTECTION: i64 = 3;

/// What has happened, so that a seed cannot be about nothing.
#[derive(Debug, Default)]
struct Census {
    new: u32,
    market: u32,
    market_limit: u32,
    no_price: u32,
    fill_and_kill: u32,
    fill_or_kill: u32,
    killed_whole: u32,
    minimum_met: u32,
    partial: u32,
    trades: u32,
    kept_place: u32,
    lost_place: u32,
    replaced_into_trade: u32,
    mitigated: u32,
    mitigated_away: u32,
    mitigation_refused: u32,
    unknown: u32,
    cancel: u32,
    session_ends: u32,
}

struct Both {
    random: ChaCha8Rng,
    matching: Matching,
    events: Accumulator,
    reference: Reference,
    /// By name: the number of the order that was accepted under it.
    ids: Vec<OrderId>,
    census: Census,
}

impl Both {
    fn new(seed: u64) -> Self {
        let terms = Terms { tick: Decimal(TICK), protection: Decimal(PROTECTION * TICK) };
        let matching = Matching::new([terms; 2], Capacity { orders: 500, levels: 64 });
        Self {
            random: ChaCha8Rng::seed_from_u64(seed),
            events: matching.accumulator(),
            matching,
            reference: Reference { orders: Vec::new(), protection: PROTECTION },
            ids: Vec::new(),
            census: Census::default(),
        }
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.random.next_u32() % bound
    }

    fn wish(&mut self) -> Wish {
        let side = Side::BOTH[self.below(2) as usize];
        let kind = match self.below(8) {
            0 => OrderKind::Market,
            1 => OrderKind::MarketLimit,
            _ => OrderKind::Limit,
        };
        let quantity = 1 + self.below(30);
        let time = match self.below(6) {
            0 => TimeInForce::FillAndKill,
            1 | 2 => TimeInForce::GoodTillCancel,
            _ => TimeInForce::Day,
        };
        let minimum = match self.below(6) {
            0 => quantity,
            1 => 1 + self.below(quantity),
            _ => 0,
        };
        let price = 95 + i64::from(self.below(11));
        Wish { side, kind, price, quantity, minimum, time }
    }

    fn outcome(&self, open: u32, submitted: &Submitted) -> Outcome {
        let mut met = Vec::new();
        for trade in self.events.trades() {
            for fill in &self.events.fills_of(trade)[1..] {
                let name = self.ids.iter().position(|&id| id == fill.order).unwrap();
                met.push((name, trade.price.0 / TICK, fill.quantity));
            }
        }
        Outcome { open, met, rests: submitted.remaining, eliminated: submitted.eliminated }
    }

    fn submit(&mut self) {
        let wish = self.wish();
        let name = self.ids.len();
        let new = NewOrder {
            instrument: 1,
            side: wish.side,
            kind: wish.kind,
            price: Decimal(wish.price * TICK),
            quantity: wish.quantity,
            minimum: wish.minimum,
            time_in_force: wish.time,
            owner: Owner(1),
        };
        let expected = self.reference.submit(name, &wish);
        let submitted = self.matching.submit(&new, &mut self.events);
        let Some(expected) = expected else {
            assert_eq!(submitted, Err(Rejection::NoOppositePrice));
            self.census.no_price += 1;
            return;
        };
        let submitted = submitted.unwrap();
        self.ids.push(submitted.order);
        assert_eq!(self.outcome(wish.quantity, &submitted), expected, "{wish:?}");
        self.note(&wish, &expected);
    }

    fn note(&mut self, wish: &Wish, outcome: &Outcome) {
        let census = &mut self.census;
        census.new += 1;
        census.trades += outcome.met.len() as u32;
        census.partial += u32::from(!outcome.met.is_empty() && outcome.rests > 0);
        census.market += u32::from(wish.kind == OrderKind::Market);
        census.market_limit += u32::from(wish.kind == OrderKind::MarketLimit);
        let kills = wish.time == TimeInForce::FillAndKill;
        census.fill_or_kill += u32::from(kills && wish.minimum == wish.quantity);
        census.fill_and_kill += u32::from(kills && wish.minimum == 0 && outcome.eliminated > 0);
        census.killed_whole += u32::from(wish.minimum > 0 && outcome.eliminated == wish.quantity);
        census.minimum_met += u32::from(wish.minimum > 0 && !outcome.met.is_empty());
    }

    fn any_name(&mut self) -> Option<usize> {
        // Mostly one that rests, so that most commands do something.
        let resting = self.reference.orders.len() as u32;
        if resting > 0 && self.below(4) > 0 {
            let place = self.below(resting) as usize;
            return Some(self.reference.orders[place].name);
        }
        let count = self.ids.len() as u32;
        (count > 0).then(|| self.below(count) as usize)
    }

    fn replace(&mut self) {
        let Some(name) = self.any_name() else { return };
        let mut wish = self.wish();
        let resting = self.reference.orders.iter().find(|order| order.name == name).cloned();
        // Often only the quantity changes.
        if let Some(old) = &resting
            && self.below(2) == 0
        {
            (wish.kind, wish.price, wish.minimum) = (OrderKind::Limit, old.price, 0);
        }
        let mitigates = self.below(2) == 0;
        let replacement = Replacement {
            kind: wish.kind,
            price: Decimal(wish.price * TICK),
            quantity: wish.quantity,
            minimum: wish.minimum,
            time_in_force: wish.time,
            mitigates,
        };
        let place = |reference: &Reference| {
            let side = resting.as_ref().map_or(Side::Bid, |order| order.side);
            reference.queue(side).iter().position(|order| order.name == name)
        };
        let before = place(&self.reference);
        let expected = self.reference.replace(name, &wish, mitigates);
        let replaced = self.matching.replace(self.ids[name], &replacement, &mut self.events);
        match (expected, replaced) {
            (Ok(Some(expected)), Ok(Replaced::Modified { order, submitted })) => {
                assert_eq!(self.outcome(order.remaining, &submitted), expected, "{wish:?}");
                let keeps = expected.rests > 0 && place(&self.reference) == before;
                let census = &mut self.census;
                census.kept_place += u32::from(keeps);
                census.lost_place += u32::from(!keeps);
                census.replaced_into_trade += u32::from(!expected.met.is_empty());
                census.mitigated += u32::from(expected.open < wish.quantity);
            }
            (Ok(None), Ok(Replaced::Cancelled(_))) => self.census.mitigated_away += 1,
            (Err("unknown"), Err(Rejection::UnknownOrder)) => self.census.unknown += 1,
            (Err("mitigation"), Err(Rejection::Mitigation)) => self.census.mitigation_refused += 1,
            (Err("no price"), Err(Rejection::NoOppositePrice)) => self.census.no_price += 1,
            both => panic!("{both:?}"),
        }
    }

    fn cancel(&mut self) {
        let Some(name) = self.any_name() else { return };
        let cancelled = self.matching.cancel(self.ids[name], &mut self.events);
        let expected = self.reference.cancel(name);
        assert_eq!(cancelled.map(|order| order.remaining), expected);
        self.census.cancel += u32::from(expected.is_some());
    }

    fn end_session(&mut self) {
        let before = self.reference.orders.len();
        let mut expired = 0;
        self.matching.end_session(&mut self.events, |_| expired += 1);
        self.reference.end_session();
        assert_eq!(before - self.reference.orders.len(), expired);
        self.census.session_ends += u32::from(expired > 0 && !self.reference.orders.is_empty());
    }

    /// Both have the same orders in the same queues, level by level.
    fn compare(&self) {
        for side in Side::BOTH {
            let queue = self.reference.queue(side);
            let mut place = 0;
            for level in self.matching.levels(1, side) {
                let of_level = &queue[place..place + level.orders as usize];
                let price = level.price.0 / TICK;
                assert!(of_level.iter().all(|order| order.price == price), "{side:?} {price}");
                let quantity: u32 = of_level.iter().map(|order| order.open).sum();
                assert_eq!(level.quantity, quantity, "{side:?} {price}");
                place += of_level.len();
            }
            assert_eq!(place, queue.len());
            let best = self.matching.orders_at_best(1, side).map(|order| order.id);
            assert!(best.zip(&queue).all(|(id, order)| id == self.ids[order.name]));
        }
        for order in &self.reference.orders {
            let resting = self.matching.order(self.ids[order.name]).unwrap();
            let found = (resting.remaining, resting.traded, resting.time_in_force);
            assert_eq!(found, (order.open, order.traded, order.time));
        }
        assert_eq!(self.matching.resting() as usize, self.reference.orders.len());
    }

    fn run(mut self, commands: u32) -> Census {
        for _ in 0..commands {
            self.events.clear();
            match self.below(200) {
                0..3 => self.end_session(),
                3..70 => self.replace(),
                70..85 => self.cancel(),
                _ => self.submit(),
            }
            self.compare();
        }
        self.census
    }
}

#[test]
fn does_what_the_reference_does_for_a_hundred_seeds() {
    for seed in 0..100 {
        println!("seed {seed}");
        let census = Both::new(seed).run(3_000);
        for (class, count) in [
            ("new", census.new),
            ("market", census.market),
            ("market-limit", census.market_limit),
            ("no price on the other side", census.no_price),
            ("fill and kill", census.fill_and_kill),
            ("fill or kill", census.fill_or_kill),
            ("killed whole", census.killed_whole),
            ("minimum met", census.minimum_met),
            ("partial", census.partial),
            ("trades", census.trades),
            ("place kept", census.kept_place),
            ("place lost", census.lost_place),
            ("replaced into a trade", census.replaced_into_trade),
            ("mitigated", census.mitigated),
            ("mitigated away", census.mitigated_away),
            ("mitigation refused", census.mitigation_refused),
            ("unknown", census.unknown),
            ("cancel", census.cancel),
            ("session ends", census.session_ends),
        ] {
            assert!(count > 0, "seed {seed}: no {class}: {census:?}");
        }
    }
}
