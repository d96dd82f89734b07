//! The book as one would write it first: a list of orders in the order of their coming, searched
//! from the start each time.

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
    pub(crate) protection: i64,
}

impl Reference {
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

    pub(crate) fn end_session(&mut self) {
        self.orders.retain(|order| order.time != TimeInForce::Day);
    }
}
