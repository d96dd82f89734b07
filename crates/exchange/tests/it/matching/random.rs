//! Random commands, executed by the engine and by the reference.

use hairpin_exchange::{
    Accumulator, Capacity, Matching, NewOrder, Order, OrderId, OrderKind, Owner, Rejection,
    Replaced, Replacement, Side, Submitted, Terms, TimeInForce,
};
use hairpin_sbe::Decimal;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::reference::{MatchedOrder, OrderRequest, Outcome, Reference};

const TICK: i64 = 250_000_000;
const PROTECTION: i64 = 3;

/// The number of executed cases, with which the test checks that it covered them.
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
    dates_over: u32,
    stop: u32,
    stop_refused: u32,
    stop_replaced: u32,
    stop_cancelled: u32,
    triggered: u32,
    triggered_into_trade: u32,
    displayed: u32,
    shown_again: u32,
    display_changed: u32,
    display_too_large: u32,
}

fn new_order(request: &OrderRequest) -> NewOrder {
    NewOrder {
        instrument: 1,
        side: request.side,
        kind: request.kind,
        price: Decimal(request.price * TICK),
        quantity: request.quantity,
        minimum: request.minimum,
        display: request.display,
        time_in_force: request.time,
        owner: Owner(1),
        ..NewOrder::default()
    }
}

fn replacement(request: &OrderRequest, mitigates: bool) -> Replacement {
    Replacement {
        kind: request.kind,
        price: Decimal(request.price * TICK),
        quantity: request.quantity,
        minimum: request.minimum,
        display: request.display,
        time_in_force: request.time,
        mitigates,
        ..Replacement::default()
    }
}

/// Returns `true` if the engine's rejection of a stop order matches the reference's error.
fn is_same_rejection(error: &str, rejection: Rejection) -> bool {
    match rejection {
        Rejection::NotForStop => error == "must trade",
        Rejection::StopNotAbove | Rejection::StopNotBelow => error == "last trade",
        Rejection::LimitBelowStop | Rejection::LimitAboveStop => error == "limit",
        Rejection::Mitigation => error == "mitigation",
        Rejection::DisplayChange => error == "display change",
        _ => false,
    }
}

struct Comparison {
    random: ChaCha8Rng,
    matching: Matching,
    events: Accumulator,
    reference: Reference,
    /// The accepted order's id by name.
    ids: Vec<OrderId>,
    /// The current day.
    day: u16,
    census: Census,
}

impl Comparison {
    fn new(seed: u64) -> Self {
        let terms = Terms { tick: Decimal(TICK), protection: Decimal(PROTECTION * TICK) };
        let matching = Matching::new([terms; 2], Capacity { orders: 500, levels: 64 });
        Self {
            random: ChaCha8Rng::seed_from_u64(seed),
            events: matching.accumulator(),
            matching,
            reference: Reference::new(PROTECTION),
            day: 0,
            ids: Vec::new(),
            census: Census::default(),
        }
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.random.next_u32() % bound
    }

    fn request(&mut self) -> OrderRequest {
        let side = Side::BOTH[self.below(2) as usize];
        let kind = match self.below(8) {
            0 => OrderKind::Market,
            1 => OrderKind::MarketLimit,
            _ => OrderKind::Limit,
        };
        let quantity = 1 + self.below(30);
        let time = match self.below(8) {
            0 => TimeInForce::FillAndKill,
            1 | 2 => TimeInForce::GoodTillCancel,
            3 | 4 => TimeInForce::GoodTillDate(self.day + self.below(3) as u16),
            _ => TimeInForce::Day,
        };
        let minimum = match self.below(6) {
            0 => quantity,
            1 => 1 + self.below(quantity),
            _ => 0,
        };
        let display = match self.below(3) {
            0 => self.display(minimum, quantity),
            _ => 0,
        };
        let price = 95 + i64::from(self.below(11));
        OrderRequest { side, kind, price, quantity, minimum, display, time }
    }

    fn display(&mut self, minimum: u32, quantity: u32) -> u32 {
        let least = minimum.max(1);
        least + self.below(quantity - least + 1)
    }

    /// Makes the request of an order with a display quantity of its own mostly have one too.
    fn keep_display(&mut self, request: &mut OrderRequest, old: u32) {
        if self.below(8) > 0 {
            request.display = match old {
                0 => 0,
                _ => self.display(request.minimum, request.quantity),
            };
        }
    }

    fn outcome(&self, open: u32, submitted: &Submitted) -> Outcome {
        let matched = self.matched_from(0);
        Outcome { open, matched, rests: submitted.remaining, eliminated: submitted.eliminated }
    }

    /// Returns the matched orders of the trades starting at this index.
    fn matched_from(&self, first: usize) -> Vec<MatchedOrder> {
        let mut matched = Vec::new();
        for trade in &self.events.trades()[first..] {
            for fill in &self.events.fills_of(trade)[1..] {
                let name = self.ids.iter().position(|&id| id == fill.order).unwrap();
                matched.push((name, trade.price.0 / TICK, fill.quantity));
            }
        }
        matched
    }

    /// Triggers stop orders in both and checks that they trade the same in the same order.
    fn trigger(&mut self) {
        let matched = self.matched_from(0);
        let mut seen = 0;
        for (name, outcome) in self.reference.trigger(&matched) {
            let before = self.events.trades().len();
            let order = self.matching.trigger_next(&mut seen, &mut self.events).unwrap();
            assert_eq!(order.id, self.ids[name]);
            assert_eq!(self.matched_from(before), outcome.matched);
            self.census.triggered += 1;
            self.census.triggered_into_trade += u32::from(!outcome.matched.is_empty());
        }
        assert_eq!(self.matching.trigger_next(&mut seen, &mut self.events), None);
    }

    fn trigger_price(&mut self) -> i64 {
        95 + i64::from(self.below(11))
    }

    fn submit_stop(&mut self) {
        let (mut request, trigger) = (self.request(), self.trigger_price());
        // Half of them can be rejected for the last trade only.
        if self.below(2) == 0 {
            (request.kind, request.price, request.minimum) = (OrderKind::Limit, trigger, 0);
        }
        let name = self.ids.len();
        let expected = self.reference.submit_stop(name, &request, trigger);
        let accepted = self.matching.submit_stop(&new_order(&request), Decimal(trigger * TICK));
        let census = &mut self.census;
        match (expected, accepted) {
            (Ok(()), Ok(order)) => {
                self.ids.push(order.id);
                census.stop += 1;
            }
            (Err(error), Err(rejection)) => {
                census.stop_refused += 1;
                assert!(is_same_rejection(error, rejection), "{error} {rejection}");
            }
            both => panic!("{both:?}"),
        }
    }

    fn replace_stop(&mut self) {
        let count = self.reference.stops.len() as u32;
        if count == 0 {
            return;
        }
        let place = self.below(count) as usize;
        let (name, display) = {
            let stop = &self.reference.stops[place].0;
            (stop.name, stop.display)
        };
        let (mut request, trigger) = (self.request(), self.trigger_price());
        let mitigates = self.below(2) == 0;
        if self.below(2) == 0 {
            (request.kind, request.price, request.minimum) = (OrderKind::Limit, trigger, 0);
        }
        self.keep_display(&mut request, display);
        let expected = self.reference.replace_stop(name, &request, trigger, mitigates);
        let replacement = replacement(&request, mitigates);
        let trigger = Decimal(trigger * TICK);
        match (expected, self.matching.replace_stop(self.ids[name], &replacement, trigger)) {
            (Ok(()), Ok(_)) => self.census.stop_replaced += 1,
            (Err(error), Err(rejection)) => {
                assert!(is_same_rejection(error, rejection), "{error} {rejection}");
            }
            both => panic!("{both:?}"),
        }
    }

    fn cancel_stop(&mut self) {
        let count = self.reference.stops.len() as u32;
        if self.ids.is_empty() {
            return;
        }
        // Mostly a pending stop order.
        let name = if count > 0 && self.below(4) > 0 {
            let place = self.below(count) as usize;
            self.reference.stops[place].0.name
        } else {
            self.random.next_u32() as usize % self.ids.len()
        };
        let id = self.ids[name];
        let cancelled = self.matching.cancel_stop(id);
        let expected = self.reference.cancel_stop(name);
        assert_eq!(cancelled.map(|order| order.remaining), expected);
        self.census.stop_cancelled += u32::from(expected.is_some());
    }

    fn submit(&mut self) {
        let request = self.request();
        let name = self.ids.len();
        let new = new_order(&request);
        let expected = self.reference.submit(name, &request);
        let submitted = self.matching.submit(&new, &mut self.events);
        let Some(expected) = expected else {
            assert_eq!(submitted, Err(Rejection::NoOppositePrice));
            self.census.no_price += 1;
            return;
        };
        let submitted = submitted.unwrap();
        self.ids.push(submitted.order);
        assert_eq!(self.outcome(request.quantity, &submitted), expected, "{request:?}");
        self.record(&request, &expected);
    }

    fn record(&mut self, request: &OrderRequest, outcome: &Outcome) {
        let matched = outcome.matched.iter().map(|matched| matched.0);
        let again = matched.clone().zip(matched.skip(1)).filter(|(one, next)| one == next).count();
        let census = &mut self.census;
        census.new += 1;
        census.displayed += u32::from(request.display > 0 && outcome.rests > request.display);
        census.shown_again += again as u32;
        census.trades += outcome.matched.len() as u32;
        census.partial += u32::from(!outcome.matched.is_empty() && outcome.rests > 0);
        census.market += u32::from(request.kind == OrderKind::Market);
        census.market_limit += u32::from(request.kind == OrderKind::MarketLimit);
        let kills = request.time == TimeInForce::FillAndKill;
        census.fill_or_kill += u32::from(kills && request.minimum == request.quantity);
        census.fill_and_kill += u32::from(kills && request.minimum == 0 && outcome.eliminated > 0);
        census.killed_whole +=
            u32::from(request.minimum > 0 && outcome.eliminated == request.quantity);
        census.minimum_met += u32::from(request.minimum > 0 && !outcome.matched.is_empty());
    }

    fn any_name(&mut self) -> Option<usize> {
        // Mostly a resting order, so that most commands have an effect.
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
        let mut request = self.request();
        let resting = self.reference.orders.iter().find(|order| order.name == name).cloned();
        // Often only the quantity changes.
        if let Some(old) = &resting
            && self.below(2) == 0
        {
            (request.kind, request.price, request.minimum) = (OrderKind::Limit, old.price, 0);
        }
        if let Some(old) = &resting {
            self.keep_display(&mut request, old.display);
        }
        let mitigates = self.below(2) == 0;
        let replacement = replacement(&request, mitigates);
        let place = |reference: &Reference| {
            let side = resting.as_ref().map_or(Side::Bid, |order| order.side);
            reference.queue(side).iter().position(|order| order.name == name)
        };
        let before = place(&self.reference);
        let expected = self.reference.replace(name, &request, mitigates);
        let replaced = self.matching.replace(self.ids[name], &replacement, &mut self.events);
        match (expected, replaced) {
            (Ok(Some(expected)), Ok(Replaced::Modified { order, submitted })) => {
                assert_eq!(self.outcome(order.remaining, &submitted), expected, "{request:?}");
                let keeps = expected.rests > 0 && place(&self.reference) == before;
                let census = &mut self.census;
                census.kept_place += u32::from(keeps);
                census.lost_place += u32::from(!keeps);
                census.replaced_into_trade += u32::from(!expected.matched.is_empty());
                census.mitigated += u32::from(expected.open < request.quantity);
            }
            (Ok(None), Ok(Replaced::Cancelled(_))) => self.census.mitigated_away += 1,
            (Err("unknown"), Err(Rejection::UnknownOrder)) => self.census.unknown += 1,
            (Err("mitigation"), Err(Rejection::Mitigation)) => self.census.mitigation_refused += 1,
            (Err("display change"), Err(Rejection::DisplayChange)) => {
                self.census.display_changed += 1;
            }
            (Err("display"), Err(Rejection::Display)) => self.census.display_too_large += 1,
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
        let count = |reference: &Reference| reference.orders.len() + reference.stops.len();
        let before = count(&self.reference);
        let (mut expired, mut dated) = (0, 0);
        let mut on_expired = |order: &Order| {
            expired += 1;
            dated += u32::from(order.time_in_force != TimeInForce::Day);
        };
        if self.below(4) == 0 {
            self.matching.end_session(&mut self.events, on_expired);
            self.reference.end_session();
        } else {
            self.matching.end_session_on(self.day, &mut self.events, &mut on_expired);
            self.reference.end_session_on(self.day);
            self.day += 1;
        }
        assert_eq!(before - count(&self.reference), expired);
        self.census.dates_over += dated;
        self.census.session_ends += u32::from(expired > 0 && !self.reference.orders.is_empty());
    }

    /// Checks that both have the same orders in the same queues, level by level.
    fn compare(&self) {
        for side in Side::BOTH {
            let queue = self.reference.queue(side);
            let mut place = 0;
            for level in self.matching.levels(1, side) {
                let of_level = &queue[place..place + level.orders as usize];
                let price = level.price.0 / TICK;
                assert!(of_level.iter().all(|order| order.price == price), "{side:?} {price}");
                let quantity: u32 = of_level.iter().map(|order| order.shown).sum();
                assert_eq!(level.quantity, quantity, "{side:?} {price}");
                place += of_level.len();
            }
            assert_eq!(place, queue.len());
            let best = self.matching.orders_at_best(1, side).map(|order| (order.id, order.shown));
            let expected = queue.iter().map(|order| (self.ids[order.name], order.shown));
            assert!(best.zip(expected).all(|(found, expected)| found == expected));
        }
        for order in &self.reference.orders {
            let resting = self.matching.order(self.ids[order.name]).unwrap();
            let found = (resting.remaining, resting.traded, resting.time_in_force);
            assert_eq!(found, (order.open, order.traded, order.time));
        }
        let (orders, stops) = (self.reference.orders.len(), &self.reference.stops);
        assert_eq!(self.matching.resting() as usize, orders + stops.len());
        let waiting = self.matching.stops().iter();
        let waiting =
            waiting.map(|stop| (stop.order.id, stop.trigger.0 / TICK, stop.order.price.0));
        let expected =
            stops.iter().map(|(order, at)| (self.ids[order.name], *at, order.price * TICK));
        assert!(waiting.eq(expected));
    }

    fn run(mut self, commands: u32) -> Census {
        for _ in 0..commands {
            self.events.clear();
            match self.below(200) {
                0..5 => self.end_session(),
                5..70 => self.replace(),
                70..85 => self.cancel(),
                85..115 => self.submit_stop(),
                115..125 => self.replace_stop(),
                125..135 => self.cancel_stop(),
                _ => self.submit(),
            }
            self.trigger();
            self.compare();
        }
        self.census
    }
}

#[test]
fn random_commands_match_the_reference() {
    for seed in 0..100 {
        println!("seed {seed}");
        let census = Comparison::new(seed).run(3_000);
        for (class, count) in [
            ("new", census.new),
            ("market", census.market),
            ("market-limit", census.market_limit),
            ("no opposite price", census.no_price),
            ("fill and kill", census.fill_and_kill),
            ("fill or kill", census.fill_or_kill),
            ("eliminated whole", census.killed_whole),
            ("minimum met", census.minimum_met),
            ("partial", census.partial),
            ("trades", census.trades),
            ("priority kept", census.kept_place),
            ("priority lost", census.lost_place),
            ("replaced into a trade", census.replaced_into_trade),
            ("mitigated", census.mitigated),
            ("canceled by mitigation", census.mitigated_away),
            ("mitigation rejected", census.mitigation_refused),
            ("unknown", census.unknown),
            ("cancel", census.cancel),
            ("session ends", census.session_ends),
            ("dates expired", census.dates_over),
            ("stop", census.stop),
            ("stop rejected", census.stop_refused),
            ("stop replaced", census.stop_replaced),
            ("stop canceled", census.stop_cancelled),
            ("triggered", census.triggered),
            ("triggered into a trade", census.triggered_into_trade),
            ("displayed in part", census.displayed),
            ("shown again", census.shown_again),
            ("display quantity gained or lost", census.display_changed),
            ("display quantity above the open one", census.display_too_large),
        ] {
            assert!(count > 0, "seed {seed}: no {class}: {census:?}");
        }
    }
}
