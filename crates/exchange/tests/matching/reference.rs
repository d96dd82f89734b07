//! The book as one would write it first: a list of orders in the order of their coming, searched
//! from the start each time.

#![allow(dead_code, reason = "each test uses its part")]

use hairpin_exchange::{OrderKind, Side, TimeInForce};

/// An order that rests, prices in ticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resting {
    pub(crate) name: usize,
    pub(crate) side: Side,
    pub(crate) kind: OrderKind,
    pub(crate) price: i64,
    pub(crate) open: u32,
    pub(crate) traded: u32,
    pub(crate) time: TimeInForce,
    pub(crate) mitigates: Option<bool>,
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish {
    pub(crate) side: Side,
    pub(crate) kind: OrderKind,
    pub(crate) price: i64,
    pub(crate) quantity: u32,
    pub(crate) minimum: u32,
    pub(crate) time: TimeInForce,
}

/// One order met: name, price, contracts.
pub(crate) type Met = (usize, i64, u32);

/// Contracts that were open before, trades, contracts that rest, contracts eliminated.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) open: u32,
    pub(crate) met: Vec<Met>,
    pub(crate) rests: u32,
    pub(crate) eliminated: u32,
}

pub(crate) struct Reference {
    pub(crate) orders: Vec<Resting>,
    /// Stop orders with their triggers, oldest first.
    pub(crate) stops: Vec<(Resting, i64)>,
    pub(crate) protection: i64,
    last: Option<i64>,
}

impl Reference {
    pub(crate) fn new(protection: i64) -> Self {
        Self { orders: Vec::new(), stops: Vec::new(), protection, last: None }
    }

    /// A side's orders in priority: the best price, then who came first.
    pub(crate) fn queue(&self, side: Side) -> Vec<&Resting> {
        let mut queue: Vec<&Resting> = self.orders.iter().filter(|o| o.side == side).collect();
        queue.sort_by_key(|order| if side == Side::Bid { -order.price } else { order.price });
        queue
    }

    /// `None` if the other side names no price.
    fn limit(&self, wish: &Wish) -> Option<i64> {
        let opposite = self.queue(wish.side.opposite()).first().map(|order| order.price);
        let beyond = if wish.side == Side::Bid { self.protection } else { -self.protection };
        match wish.kind {
            OrderKind::Limit => Some(wish.price),
            OrderKind::MarketLimit => opposite,
            OrderKind::Market => opposite.map(|price| price + beyond),
        }
    }

    fn enter(&mut self, mut order: Resting, minimum: u32) -> Outcome {
        let mut outcome = Outcome { open: order.open, ..Outcome::default() };
        let crosses = |price: i64| {
            if order.side == Side::Bid { price <= order.price } else { price >= order.price }
        };
        let others: Vec<usize> = self
            .queue(order.side.opposite())
            .into_iter()
            .filter(|other| crosses(other.price))
            .map(|other| other.name)
            .collect();
        let there: u32 =
            self.orders.iter().filter(|other| others.contains(&other.name)).map(|o| o.open).sum();
        if there < minimum {
            outcome.eliminated = order.open;
            return outcome;
        }
        for name in others {
            let other = self.orders.iter_mut().find(|other| other.name == name).unwrap();
            let both = order.open.min(other.open);
            if both > 0 {
                (order.open, other.open) = (order.open - both, other.open - both);
                (order.traded, other.traded) = (order.traded + both, other.traded + both);
                outcome.met.push((name, other.price, both));
            }
        }
        self.orders.retain(|order| order.open > 0);
        if order.time == TimeInForce::FillAndKill {
            outcome.eliminated = order.open;
        } else if order.open > 0 {
            outcome.rests = order.open;
            self.orders.push(order);
        }
        outcome
    }

    pub(crate) fn submit(&mut self, name: usize, wish: &Wish) -> Option<Outcome> {
        let price = self.limit(wish)?;
        let &Wish { side, kind, quantity: open, minimum, time, .. } = wish;
        let order = Resting { name, side, kind, price, open, traded: 0, time, mitigates: None };
        Some(self.enter(order, minimum))
    }

    /// `Err` with a word if it is refused, `Ok(None)` if nothing is left to replace.
    pub(crate) fn replace(
        &mut self,
        name: usize,
        wish: &Wish,
        mitigates: bool,
    ) -> Result<Option<Outcome>, &'static str> {
        let place = self.orders.iter().position(|o| o.name == name).ok_or("unknown")?;
        let old = self.orders[place].clone();
        if old.mitigates.is_some_and(|before| before != mitigates) {
            return Err("mitigation");
        }
        let open = if mitigates { wish.quantity.saturating_sub(old.traded) } else { wish.quantity };
        if open == 0 {
            self.orders.remove(place);
            return Ok(None);
        }
        let price = self.limit(&Wish { side: old.side, ..*wish }).ok_or("no price")?;
        let new = Resting {
            kind: wish.kind,
            price,
            open,
            time: wish.time,
            mitigates: Some(mitigates),
            ..old.clone()
        };
        let same =
            old.kind == OrderKind::Limit && new.kind == OrderKind::Limit && old.price == price;
        let rests = wish.time != TimeInForce::FillAndKill && wish.minimum == 0;
        if same && rests && open <= old.open {
            self.orders[place] = new;
            return Ok(Some(Outcome { open, rests: open, ..Outcome::default() }));
        }
        self.orders.remove(place);
        Ok(Some(self.enter(new, wish.minimum)))
    }

    pub(crate) fn cancel(&mut self, name: usize) -> Option<u32> {
        let place = self.orders.iter().position(|order| order.name == name)?;
        Some(self.orders.remove(place).open)
    }

    /// Enters a quote in the place of one whose sides may rest under the names `old`: `new` are the
    /// names of sides that did not rest. `Err` with a word if it is none, which leaves nothing.
    pub(crate) fn quote(
        &mut self,
        old: [Option<usize>; 2],
        new: [usize; 2],
        wanted: [Option<(i64, u32)>; 2],
    ) -> Result<[Option<usize>; 2], &'static str> {
        let cancel = |book: &mut Self, name: Option<usize>| name.and_then(|name| book.cancel(name));
        if let [Some((bid, _)), Some((offer, _))] = wanted
            && bid >= offer
        {
            for name in old {
                cancel(self, name);
            }
            return Err("spread");
        }
        // What a new price would meet of the old quote goes first, and so does what is not wanted.
        for place in [0, 1] {
            let met = old[1 - place].and_then(|name| self.orders.iter().find(|o| o.name == name));
            let Some(met) = met.map(|order| (order.name, order.price)) else { continue };
            let meets = wanted[place].is_some_and(|(price, _)| match place {
                0 => price >= met.1,
                _ => price <= met.1,
            });
            if meets {
                self.cancel(met.0);
            }
        }
        let mut names = [None; 2];
        for (place, side) in Side::BOTH.into_iter().enumerate() {
            let Some((price, quantity)) = wanted[place] else {
                cancel(self, old[place]);
                continue;
            };
            let kind = OrderKind::Limit;
            let wish = Wish { side, kind, price, quantity, minimum: 0, time: TimeInForce::Day };
            let rests = |name: &usize| self.orders.iter().any(|order| order.name == *name);
            names[place] = match old[place].filter(rests) {
                Some(name) => {
                    self.replace(name, &wish, false)?;
                    Some(name)
                }
                None => {
                    self.submit(new[place], &wish).ok_or("no price")?;
                    Some(new[place])
                }
            };
        }
        Ok(names)
    }

    pub(crate) fn end_session(&mut self) {
        self.retain(|order| order.time != TimeInForce::Day);
    }

    /// The end of a day: what is good till then is over as well.
    pub(crate) fn end_session_of(&mut self, day: u16) {
        self.retain(|order| match order.time {
            TimeInForce::Day => false,
            TimeInForce::GoodTillDate(last) => last > day,
            _ => true,
        });
    }

    fn retain(&mut self, stays: impl Fn(&Resting) -> bool) {
        self.orders.retain(|order| stays(order));
        self.stops.retain(|(order, _)| stays(order));
    }

    /// The limit of a stop order, or a word of why it cannot be one.
    fn stop_limit(&self, wish: &Wish, trigger: i64) -> Result<i64, &'static str> {
        if wish.time == TimeInForce::FillAndKill || wish.minimum > 0 {
            return Err("must trade");
        }
        if wish.kind == OrderKind::MarketLimit {
            return Err("must trade");
        }
        let is_bid = wish.side == Side::Bid;
        if self.last.is_some_and(|last| if is_bid { trigger <= last } else { trigger >= last }) {
            return Err("last trade");
        }
        let beyond = if is_bid { self.protection } else { -self.protection };
        match wish.kind {
            OrderKind::Market => Ok(trigger + beyond),
            _ if is_bid && wish.price < trigger => Err("limit"),
            _ if !is_bid && wish.price > trigger => Err("limit"),
            _ => Ok(wish.price),
        }
    }

    pub(crate) fn submit_stop(
        &mut self,
        name: usize,
        wish: &Wish,
        trigger: i64,
    ) -> Result<(), &'static str> {
        let price = self.stop_limit(wish, trigger)?;
        let &Wish { side, quantity: open, time, .. } = wish;
        let kind = OrderKind::Limit;
        let order = Resting { name, side, kind, price, open, traded: 0, time, mitigates: None };
        self.stops.push((order, trigger));
        Ok(())
    }

    pub(crate) fn replace_stop(
        &mut self,
        name: usize,
        wish: &Wish,
        trigger: i64,
        mitigates: bool,
    ) -> Result<(), &'static str> {
        let place = self.stops.iter().position(|(o, _)| o.name == name).ok_or("unknown")?;
        let old = self.stops[place].0.clone();
        if old.mitigates.is_some_and(|before| before != mitigates) {
            return Err("mitigation");
        }
        let price = self.stop_limit(&Wish { side: old.side, ..*wish }, trigger)?;
        let mitigates = Some(mitigates);
        let new = Resting { price, open: wish.quantity, time: wish.time, mitigates, ..old };
        self.stops.remove(place);
        self.stops.push((new, trigger));
        Ok(())
    }

    pub(crate) fn cancel_stop(&mut self, name: usize) -> Option<u32> {
        let place = self.stops.iter().position(|(order, _)| order.name == name)?;
        Some(self.stops.remove(place).0.open)
    }

    /// What trades trigger, given what they met: names of stop orders, each with what became of it.
    pub(crate) fn trigger(&mut self, met: &[Met]) -> Vec<(usize, Outcome)> {
        let mut prices: Vec<i64> = met.iter().map(|met| met.1).collect();
        let mut triggered = Vec::new();
        let mut place = 0;
        while place < prices.len() {
            let price = prices[place];
            place += 1;
            self.last = Some(price);
            let reached = |(order, trigger): &(Resting, i64)| {
                if order.side == Side::Bid { price >= *trigger } else { price <= *trigger }
            };
            while let Some(first) = self.stops.iter().position(reached) {
                let order = self.stops.remove(first).0;
                let name = order.name;
                let outcome = self.enter(order, 0);
                prices.extend(outcome.met.iter().map(|met| met.1));
                triggered.push((name, outcome));
            }
        }
        triggered
    }
}
