//! The orders of one additional session: far below the market, at the best price, reduced, moved
//! and canceled.

use hairpin_exchange::{
    Instrument, Market, NewOrder, OrderId, Owner, Replaced, Replacement, Side, SimulatedMarket,
};
use hairpin_netsim::Random;
use hairpin_time::Now;

const OWNER: Owner = Owner(1);
/// The approximate maximum number of resting orders.
const MAX_RESTING: usize = 40;

/// The orders of one session.
#[derive(Debug)]
pub(crate) struct Orders {
    random: Random,
    resting: Vec<OrderId>,
}

impl Orders {
    pub(crate) fn new(random: Random) -> Self {
        Self { random, resting: Vec::new() }
    }

    /// Forgets all orders, because another market has replaced this one.
    pub(crate) fn clear(&mut self) {
        self.resting.clear();
    }

    /// Submits, replaces or cancels an order.
    pub(crate) fn act(&mut self, now: Now, market: &mut SimulatedMarket, on: (u32, &Instrument)) {
        while market.next_order_event().is_some() {}
        let is_full = self.resting.len() >= MAX_RESTING;
        match self.random.below(3) {
            0 if !is_full => self.submit(now, market, on),
            1 if !self.resting.is_empty() => self.replace(now, market),
            _ if !self.resting.is_empty() => self.cancel(now, market),
            _ => self.submit(now, market, on),
        }
    }

    fn submit(
        &mut self,
        now: Now,
        market: &mut SimulatedMarket,
        (index, instrument): (u32, &Instrument),
    ) {
        let side = *self.random.pick(&Side::BOTH);
        // Beyond the published depth, or anywhere within it.
        let away = *self.random.pick(&[0, 3, 9, 25]) + self.random.below(6) as i64;
        let price = side.improved(instrument.reference, -away * instrument.tick.0);
        let quantity = 1 + self.random.below(12) as u32;
        let order = NewOrder::limit(index, side, price, quantity, OWNER);
        if let Ok(submitted) = market.submit(now, &order)
            && submitted.remaining > 0
        {
            self.resting.push(submitted.order);
        }
    }

    fn replace(&mut self, now: Now, market: &mut SimulatedMarket) {
        let id = *self.random.pick(&self.resting);
        let Some(&order) = market.order(id) else {
            return self.resting.retain(|resting| *resting != id);
        };
        let quantity = 1 + self.random.below(12) as u32;
        let replacement = Replacement { price: order.price, quantity, ..Replacement::default() };
        let replaced = market.replace(now, id, OWNER, &replacement);
        if !matches!(replaced, Ok(Replaced::Modified { .. })) {
            self.resting.retain(|resting| *resting != id);
        }
    }

    fn cancel(&mut self, now: Now, market: &mut SimulatedMarket) {
        let place = self.random.below(self.resting.len() as u64) as usize;
        let id = self.resting.swap_remove(place);
        // The order may have traded.
        let _ = market.cancel(now, id, OWNER);
    }
}
