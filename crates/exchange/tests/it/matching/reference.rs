//! A simple implementation of the book: a list of orders in the order of entry, searched from the
//! start each time.

#![allow(dead_code, reason = "each test uses its part")]

use hairpin_exchange::{OrderKind, Side, TimeInForce};

/// A resting order; prices in ticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resting {
    pub(crate) name: usize,
    pub(crate) side: Side,
    pub(crate) kind: OrderKind,
    pub(crate) price: i64,
    pub(crate) open: u32,
    /// The contracts displayed at a time; 0 for all.
    pub(crate) display: u32,
    /// The contracts displayed now.
    pub(crate) shown: u32,
    pub(crate) traded: u32,
    pub(crate) time: TimeInForce,
    pub(crate) mitigates: Option<bool>,
}

impl Resting {
    /// Displays the next contracts.
    fn show(&mut self) {
        self.shown = match self.display {
            0 => self.open,
            most => self.open.min(most),
        };
    }
}

/// The terms of a new order or a replacement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OrderRequest {
    pub(crate) side: Side,
    pub(crate) kind: OrderKind,
    pub(crate) price: i64,
    pub(crate) quantity: u32,
    pub(crate) minimum: u32,
    /// The contracts displayed at a time; 0 for all.
    pub(crate) display: u32,
    pub(crate) time: TimeInForce,
}

/// A matched order: name, price, contracts.
pub(crate) type MatchedOrder = (usize, i64, u32);

/// The result of an order: previous open quantity, trades, resting and eliminated contracts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) open: u32,
    pub(crate) matched: Vec<MatchedOrder>,
    pub(crate) rests: u32,
    pub(crate) eliminated: u32,
}

pub(crate) struct Reference {
    pub(crate) orders: Vec<Resting>,
    /// The stop orders with their triggers, oldest first.
    pub(crate) stops: Vec<(Resting, i64)>,
    pub(crate) protection: i64,
    last: Option<i64>,
}

impl Reference {
    pub(crate) fn new(protection: i64) -> Self {
        Self { orders: Vec::new(), stops: Vec::new(), protection, last: None }
    }

    /// Returns a side's orders in priority: best price first, then earliest entry.
    pub(crate) fn queue(&self, side: Side) -> Vec<&Resting> {
        let mut queue: Vec<&Resting> = self.orders.iter().filter(|o| o.side == side).collect();
        queue.sort_by_key(|order| if side == Side::Bid { -order.price } else { order.price });
        queue
    }

    /// Returns the limit, or `None` if the opposite side is empty.
    fn limit(&self, request: &OrderRequest) -> Option<i64> {
        let opposite = self.queue(request.side.opposite()).first().map(|order| order.price);
        let beyond = if request.side == Side::Bid { self.protection } else { -self.protection };
        match request.kind {
            OrderKind::Limit => Some(request.price),
            OrderKind::MarketLimit => opposite,
            OrderKind::Market => opposite.map(|price| price + beyond),
        }
    }

    fn execute(&mut self, mut order: Resting, minimum: u32) -> Outcome {
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
        while order.open > 0 {
            let best =
                self.queue(order.side.opposite()).first().map(|best| (best.name, best.price));
            let Some((name, price)) = best.filter(|&(_, price)| crosses(price)) else { break };
            let place = self.orders.iter().position(|other| other.name == name).unwrap();
            let mut other = self.orders.remove(place);
            let both = order.open.min(other.shown);
            (order.open, order.traded) = (order.open - both, order.traded + both);
            (other.open, other.traded) = (other.open - both, other.traded + both);
            other.shown -= both;
            outcome.matched.push((name, price, both));
            if other.shown > 0 {
                self.orders.insert(place, other);
            } else if other.open > 0 {
                // Behind all others at its price.
                other.show();
                self.orders.push(other);
            }
        }
        if order.time == TimeInForce::FillAndKill {
            outcome.eliminated = order.open;
        } else if order.open > 0 {
            outcome.rests = order.open;
            order.show();
            self.orders.push(order);
        }
        outcome
    }

    pub(crate) fn submit(&mut self, name: usize, request: &OrderRequest) -> Option<Outcome> {
        let price = self.limit(request)?;
        Some(self.execute(Self::resting(name, request, price), request.minimum))
    }

    fn resting(name: usize, request: &OrderRequest, price: i64) -> Resting {
        let &OrderRequest { side, kind, quantity: open, display, time, .. } = request;
        let (shown, traded, mitigates) = (0, 0, None);
        Resting { name, side, kind, price, open, display, shown, traded, time, mitigates }
    }

    /// Replaces an order. Returns `Err` if rejected, `Ok(None)` if mitigation leaves no quantity.
    pub(crate) fn replace(
        &mut self,
        name: usize,
        request: &OrderRequest,
        mitigates: bool,
    ) -> Result<Option<Outcome>, &'static str> {
        let place = self.orders.iter().position(|o| o.name == name).ok_or("unknown")?;
        let old = self.orders[place].clone();
        if old.mitigates.is_some_and(|before| before != mitigates) {
            return Err("mitigation");
        }
        if (old.display > 0) != (request.display > 0) {
            return Err("display change");
        }
        let open =
            if mitigates { request.quantity.saturating_sub(old.traded) } else { request.quantity };
        if open == 0 {
            self.orders.remove(place);
            return Ok(None);
        }
        if request.display > open {
            return Err("display");
        }
        let price = self.limit(&OrderRequest { side: old.side, ..*request }).ok_or("no price")?;
        let new = Resting {
            kind: request.kind,
            price,
            open,
            display: request.display,
            time: request.time,
            mitigates: Some(mitigates),
            ..old.clone()
        };
        let same =
            old.kind == OrderKind::Limit && new.kind == OrderKind::Limit && old.price == price;
        let rests = request.time != TimeInForce::FillAndKill && request.minimum == 0;
        if same && rests && open <= old.open && request.display <= old.display {
            let mut new = new;
            new.show();
            new.shown = new.shown.min(old.shown);
            self.orders[place] = new;
            return Ok(Some(Outcome { open, rests: open, ..Outcome::default() }));
        }
        self.orders.remove(place);
        Ok(Some(self.execute(new, request.minimum)))
    }

    pub(crate) fn cancel(&mut self, name: usize) -> Option<u32> {
        let place = self.orders.iter().position(|order| order.name == name)?;
        Some(self.orders.remove(place).open)
    }

    /// Replaces a quote. `old` are the names of its previous sides, `new` the names for sides that
    /// did not rest. Returns `Err` if rejected, which leaves no quote.
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
        // Previous sides that a new price would cross are removed first, and so are unwanted sides.
        for place in [0, 1] {
            let matched =
                old[1 - place].and_then(|name| self.orders.iter().find(|o| o.name == name));
            let Some(matched) = matched.map(|order| (order.name, order.price)) else { continue };
            let meets = wanted[place].is_some_and(|(price, _)| match place {
                0 => price >= matched.1,
                _ => price <= matched.1,
            });
            if meets {
                self.cancel(matched.0);
            }
        }
        let mut names = [None; 2];
        for (place, side) in Side::BOTH.into_iter().enumerate() {
            let Some((price, quantity)) = wanted[place] else {
                cancel(self, old[place]);
                continue;
            };
            let kind = OrderKind::Limit;
            let (minimum, display, time) = (0, 0, TimeInForce::Day);
            let request = OrderRequest { side, kind, price, quantity, minimum, display, time };
            let rests = |name: &usize| self.orders.iter().any(|order| order.name == *name);
            names[place] = match old[place].filter(rests) {
                Some(name) => {
                    self.replace(name, &request, false)?;
                    Some(name)
                }
                None => {
                    self.submit(new[place], &request).ok_or("no price")?;
                    Some(new[place])
                }
            };
        }
        Ok(names)
    }

    pub(crate) fn end_session(&mut self) {
        self.retain(|order| order.time != TimeInForce::Day);
    }

    /// Ends a day: GTD orders of that day expire too.
    pub(crate) fn end_session_on(&mut self, day: u16) {
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

    /// Returns the limit of a stop order, or the reason for its rejection.
    fn stop_limit(&self, request: &OrderRequest, trigger: i64) -> Result<i64, &'static str> {
        if request.time == TimeInForce::FillAndKill || request.minimum > 0 {
            return Err("must trade");
        }
        if request.kind == OrderKind::MarketLimit {
            return Err("must trade");
        }
        let is_bid = request.side == Side::Bid;
        if self.last.is_some_and(|last| if is_bid { trigger <= last } else { trigger >= last }) {
            return Err("last trade");
        }
        let beyond = if is_bid { self.protection } else { -self.protection };
        match request.kind {
            OrderKind::Market => Ok(trigger + beyond),
            _ if is_bid && request.price < trigger => Err("limit"),
            _ if !is_bid && request.price > trigger => Err("limit"),
            _ => Ok(request.price),
        }
    }

    pub(crate) fn submit_stop(
        &mut self,
        name: usize,
        request: &OrderRequest,
        trigger: i64,
    ) -> Result<(), &'static str> {
        let price = self.stop_limit(request, trigger)?;
        let request = OrderRequest { kind: OrderKind::Limit, ..*request };
        self.stops.push((Self::resting(name, &request, price), trigger));
        Ok(())
    }

    pub(crate) fn replace_stop(
        &mut self,
        name: usize,
        request: &OrderRequest,
        trigger: i64,
        mitigates: bool,
    ) -> Result<(), &'static str> {
        let place = self.stops.iter().position(|(o, _)| o.name == name).ok_or("unknown")?;
        let old = self.stops[place].0.clone();
        if old.mitigates.is_some_and(|before| before != mitigates) {
            return Err("mitigation");
        }
        if (old.display > 0) != (request.display > 0) {
            return Err("display change");
        }
        let price = self.stop_limit(&OrderRequest { side: old.side, ..*request }, trigger)?;
        let mitigates = Some(mitigates);
        let &OrderRequest { quantity: open, display, time, .. } = request;
        let new = Resting { price, open, display, time, mitigates, ..old };
        self.stops.remove(place);
        self.stops.push((new, trigger));
        Ok(())
    }

    pub(crate) fn cancel_stop(&mut self, name: usize) -> Option<u32> {
        let place = self.stops.iter().position(|(order, _)| order.name == name)?;
        Some(self.stops.remove(place).0.open)
    }

    /// Triggers stop orders for matched orders. Returns their names and results.
    pub(crate) fn trigger(&mut self, matched: &[MatchedOrder]) -> Vec<(usize, Outcome)> {
        let mut prices: Vec<i64> = matched.iter().map(|matched| matched.1).collect();
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
                let outcome = self.execute(order, 0);
                prices.extend(outcome.matched.iter().map(|matched| matched.1));
                triggered.push((name, outcome));
            }
        }
        triggered
    }
}
