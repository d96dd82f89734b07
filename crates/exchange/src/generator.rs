//! Order flow: seeded books, then steps that each change a best price.
//!
//! A step is one matching event of one instrument: somebody improves the best price by orders
//! inside the spread, cancels the whole best level, takes it, or takes it and part of the next.
//!
//! **Bounded.** Each side of a book has a *foundation* that no step removes: the prices from
//! [`REACH`]` + 1` to [`EXTENT`] ticks from the instrument's reference price, 14 of them, so
//! depth never falls to 10. Steps play within the foundations, at most [`REACH`] ticks from the
//! reference, so best prices cannot drift and the spread is at most `2 * REACH + 2` ticks.
//! An order five ticks below the tenth bid level is at least 14 ticks below the best bid, and
//! no best bid is more than `2 * REACH + 1 = 13` ticks below an earlier one: this flow never
//! reaches such an order.
//!
//! **Robust.** Sessions may trade with it, even through a foundation; the foundation is then
//! laid again as far as the market allows. Orders of others are traded with, never cancelled.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::{Accumulator, Instrument, Matching, NewOrder, Owner, Price, PriceLevel, Side};

/// The farthest from the reference price, in ticks, that a step puts or removes an order.
pub const REACH: i64 = 6;

/// The far end of the foundation, in ticks from the reference price.
pub const EXTENT: i64 = REACH + FOUNDATION;

/// Levels of the foundation: four more than are published.
const FOUNDATION: i64 = 14;

/// From this spread on, in ticks, somebody always improves.
const WIDE: i64 = 6;

/// Contracts of one order of this flow.
const MAX_QUANTITY: u32 = 20;

/// Orders of one level as seeded or improved.
const MAX_ORDERS: u32 = 3;

/// A level with fewer contracts than this gets more when somebody improves on it.
const THIN: u32 = 8;

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One to three orders at one price inside the spread.
    Improve,
    /// Every order of the best level cancelled.
    Cancel,
    /// An aggressor of exactly the best level's quantity.
    Take,
    /// An aggressor of the best level's quantity and part of the next level's.
    Sweep,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Improve, Self::Cancel, Self::Take, Self::Sweep];
}

/// One matching event that changed a best price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The instrument's index.
    pub instrument: u32,
    /// The side whose best price changed.
    pub side: Side,
    /// How.
    pub kind: Kind,
}

/// The exchange's own order flow, the same for the same seed.
#[derive(Debug)]
pub struct Generator {
    random: ChaCha8Rng,
    scales: Box<[Scale]>,
}

#[derive(Debug, Clone, Copy)]
struct Scale {
    tick: i64,
    reference: Price,
}

impl Scale {
    /// The price `ticks` better than the reference for `side`: negative is farther out.
    fn price(&self, side: Side, ticks: i64) -> Price {
        side.improved(self.reference, ticks * self.tick)
    }

    /// How many ticks `price` is better than the reference for `side`.
    fn ticks(&self, side: Side, price: Price) -> i64 {
        let above = (price.0 - self.reference.0) / self.tick;
        if side == Side::Bid { above } else { -above }
    }
}

impl Generator {
    /// A flow for `instruments`, whose indices are those of the engine's books.
    #[must_use]
    pub fn new(seed: u64, instruments: &[Instrument]) -> Self {
        let scale = |instrument: &Instrument| Scale {
            tick: instrument.tick.0,
            reference: instrument.reference,
        };
        Self {
            random: ChaCha8Rng::seed_from_u64(seed),
            scales: instruments.iter().map(scale).collect(),
        }
    }

    /// Fills an empty book: every price from one tick off the reference to [`EXTENT`].
    pub fn seed(&mut self, instrument: u32, matching: &mut Matching, events: &mut Accumulator) {
        for side in Side::BOTH {
            for ticks in 1..=EXTENT {
                let price = self.scale(instrument).price(side, -ticks);
                self.add(instrument, side, price, matching, events);
            }
        }
    }

    /// One event in an instrument chosen at random, or the next one that has something to
    /// change; `None` if there is none (no instrument, or the engine is full).
    ///
    /// # Panics
    /// If the step did not change the best price: a broken invariant.
    pub fn step(&mut self, matching: &mut Matching, events: &mut Accumulator) -> Option<Step> {
        let count = matching.instruments();
        let first = self.below(count);
        (0..count).find_map(|n| {
            let instrument = (first + n) % count;
            let before = Side::BOTH.map(|side| price_of(matching.best(instrument, side)));
            let step = self.step_in(instrument, matching, events)?;
            let after = price_of(matching.best(instrument, step.side));
            assert_ne!(after, before[step.side.index()], "{step:?} changed no best price");
            Some(step)
        })
    }

    fn step_in(
        &mut self,
        instrument: u32,
        matching: &mut Matching,
        events: &mut Accumulator,
    ) -> Option<Step> {
        for side in Side::BOTH {
            if i64::from(matching.depth(instrument, side)) < FOUNDATION {
                self.lay_foundation(instrument, side, matching, events);
            }
        }
        let [bid, offer] = Side::BOTH.map(|side| price_of(matching.best(instrument, side)));
        // An empty side, which only a session can bring about, leaves nothing to improve.
        let spread =
            bid.zip(offer).map_or(0, |(bid, offer)| self.ticks_between(instrument, bid, offer));
        let coin = self.below(2) == 0;
        if spread > 1 && (spread >= WIDE || coin) {
            return self.improve(instrument, spread, matching, events);
        }
        let first = Side::BOTH[self.below(2) as usize];
        for side in [first, first.opposite()] {
            if let Some(step) = self.remove_best(instrument, side, matching, events) {
                return Some(step);
            }
        }
        self.improve(instrument, spread, matching, events)
    }

    /// Joins the market inside the spread, if that is wider than one tick.
    fn improve(
        &mut self,
        instrument: u32,
        spread: i64,
        matching: &mut Matching,
        events: &mut Accumulator,
    ) -> Option<Step> {
        let side = Side::BOTH[self.below(2) as usize];
        let inside = u32::try_from(spread - 1).ok().filter(|&inside| inside > 0)?;
        let best = matching.best(instrument, side)?;
        if best.quantity < THIN {
            self.add(instrument, side, best.price, matching, events);
        }
        let by = 1 + i64::from(self.below(inside));
        let price = side.improved(best.price, by * self.scale(instrument).tick);
        let added = self.add(instrument, side, price, matching, events);
        added.then_some(Step { instrument, side, kind: Kind::Improve })
    }

    /// Cancels or takes the best level, unless that belongs to the foundation.
    fn remove_best(
        &mut self,
        instrument: u32,
        side: Side,
        matching: &mut Matching,
        events: &mut Accumulator,
    ) -> Option<Step> {
        let mut levels = matching.levels(instrument, side);
        let (best, next) = (levels.next()?, levels.next());
        drop(levels);
        if self.scale(instrument).ticks(side, best.price) < -REACH {
            return None;
        }
        let ours = matching.orders_at_best(instrument, side).all(|o| o.owner == Owner::HOUSE);
        let (kind, done) = match (self.below(5), next) {
            (0 | 1, _) if ours => (Kind::Cancel, cancel_best(instrument, side, matching, events)),
            (2, Some(next)) if next.quantity > 1 => {
                let quantity = best.quantity + 1 + self.below(next.quantity - 1);
                (Kind::Sweep, take(instrument, side, quantity, next.price, matching, events))
            }
            _ => (Kind::Take, take(instrument, side, best.quantity, best.price, matching, events)),
        };
        done.then_some(Step { instrument, side, kind })
    }

    /// Puts orders at every price of the foundation that has none and does not cross.
    #[cold]
    fn lay_foundation(
        &mut self,
        instrument: u32,
        side: Side,
        matching: &mut Matching,
        events: &mut Accumulator,
    ) {
        for ticks in REACH + 1..=EXTENT {
            let price = self.scale(instrument).price(side, -ticks);
            let other = matching.best(instrument, side.opposite());
            let crosses = other.is_some_and(|other| !side.is_better(other.price, price));
            let present = matching.levels(instrument, side).any(|level| level.price == price);
            if !crosses && !present {
                self.add(instrument, side, price, matching, events);
            }
        }
    }

    /// One to [`MAX_ORDERS`] orders at a price; whether there is at least one.
    fn add(
        &mut self,
        instrument: u32,
        side: Side,
        price: Price,
        matching: &mut Matching,
        events: &mut Accumulator,
    ) -> bool {
        let mut added = false;
        for _ in 0..=self.below(MAX_ORDERS) {
            let quantity = 1 + self.below(MAX_QUANTITY);
            let order = NewOrder { instrument, side, price, quantity, owner: Owner::HOUSE };
            added |= matching.submit(&order, events).is_ok();
        }
        added
    }

    fn ticks_between(&self, instrument: u32, bid: Price, offer: Price) -> i64 {
        (offer.0 - bid.0) / self.scale(instrument).tick
    }

    fn scale(&self, instrument: u32) -> Scale {
        self.scales[instrument as usize]
    }

    /// A number below `bound`, 0 if that is 0; the bias of 2^-32 times the bound is welcome.
    fn below(&mut self, bound: u32) -> u32 {
        // The high half of a product with a `u32` fits in one.
        ((u64::from(self.random.next_u32()) * u64::from(bound)) >> 32) as u32
    }
}

fn price_of(level: Option<PriceLevel>) -> Option<Price> {
    level.map(|level| level.price)
}

/// Cancels every order at the best price.
fn cancel_best(
    instrument: u32,
    side: Side,
    matching: &mut Matching,
    events: &mut Accumulator,
) -> bool {
    let best = price_of(matching.best(instrument, side));
    while price_of(matching.best(instrument, side)) == best {
        let Some(first) = matching.orders_at_best(instrument, side).next().map(|o| o.id) else {
            break;
        };
        matching.cancel(first, events);
    }
    best.is_some()
}

/// Trades away `quantity` contracts of `side`, which has them at `limit` or better.
fn take(
    instrument: u32,
    side: Side,
    quantity: u32,
    limit: Price,
    matching: &mut Matching,
    events: &mut Accumulator,
) -> bool {
    let mut left = quantity;
    while left > 0 {
        let quantity = left.min(NewOrder::MAX_QUANTITY);
        let aggressor = side.opposite();
        let order =
            NewOrder { instrument, side: aggressor, price: limit, quantity, owner: Owner::HOUSE };
        if matching.submit(&order, events).is_err() {
            return false;
        }
        left -= quantity;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Capacity;

    struct Market {
        instruments: Vec<Instrument>,
        matching: Matching,
        events: Accumulator,
        generator: Generator,
    }

    fn market(seed: u64, instruments: u32) -> Market {
        let instruments = Instrument::numbered(instruments);
        let ticks = instruments.iter().map(|instrument| instrument.tick);
        let mut matching = Matching::new(ticks, Capacity::default());
        let mut events = matching.accumulator();
        let mut generator = Generator::new(seed, &instruments);
        for index in 0..matching.instruments() {
            generator.seed(index, &mut matching, &mut events);
        }
        events.clear();
        Market { instruments, matching, events, generator }
    }

    #[test]
    fn seeds_books_deeper_than_is_published() {
        let Market { matching, .. } = market(1, 100);
        for (instrument, side) in (0..100).flat_map(|i| Side::BOTH.map(|side| (i, side))) {
            assert_eq!(i64::from(matching.depth(instrument, side)), EXTENT);
        }
    }

    #[test]
    fn is_the_same_for_the_same_seed_and_another_for_another() {
        let steps = |seed| {
            let mut market = market(seed, 10);
            (0..1000)
                .map(|_| market.generator.step(&mut market.matching, &mut market.events))
                .collect::<Vec<_>>()
        };
        assert_eq!(steps(7), steps(7));
        assert_ne!(steps(7), steps(8));
    }

    /// Hours of flow: 100 instruments at one step every few milliseconds.
    #[test]
    fn keeps_books_healthy_for_a_million_steps() {
        let mut market = market(42, 100);
        let mut census = [[0_u32; 2]; 4];
        let mut trades = 0;
        let mut widest = 0;
        let mut most_orders = 0;
        for n in 0..1_000_000 {
            let step = market.generator.step(&mut market.matching, &mut market.events);
            let Step { instrument, side, kind } = step.unwrap_or_else(|| panic!("step {n}"));
            census[kind as usize][side.index()] += 1;
            trades += market.events.trades().len();
            assert_eq!(market.events.touched(), [instrument], "step {n}");
            let traded = !market.events.trades().is_empty();
            assert_eq!(traded, matches!(kind, Kind::Take | Kind::Sweep), "step {n}: {step:?}");
            market.events.clear();

            let scale = market.generator.scale(instrument);
            let [bid, offer] =
                Side::BOTH.map(|side| market.matching.best(instrument, side).unwrap().price);
            let spread = (offer.0 - bid.0) / scale.tick;
            widest = widest.max(spread);
            assert!((1..=2 * REACH + 2).contains(&spread), "step {n}: spread {spread}");
            for side in Side::BOTH {
                let best = market.matching.best(instrument, side).unwrap().price;
                assert!(scale.ticks(side, best).abs() <= REACH + 1, "step {n}: {best:?}");
                assert!(market.matching.depth(instrument, side) > 10, "step {n}");
            }
            let tenth = market.matching.levels(instrument, Side::Bid).nth(9).unwrap().price;
            assert!(scale.ticks(Side::Bid, tenth) - 5 < -REACH - 1, "step {n}: in reach");
            most_orders = most_orders.max(market.matching.resting());
        }
        println!("census {census:?} trades {trades} spread {widest} orders {most_orders}");
        assert!(census.iter().flatten().all(|&count| count > 10_000), "{census:?}");
        assert!(most_orders < 10_000, "{most_orders} orders");
        assert_eq!(market.instruments.len(), 100);
    }

    #[test]
    fn lays_the_foundation_again_after_a_session_traded_through_it() {
        for side in Side::BOTH {
            let Market { mut matching, mut events, mut generator, .. } = market(5, 1);
            let limit = generator.scale(0).price(side, EXTENT + 30);
            let sweep = NewOrder {
                instrument: 0,
                side,
                price: limit,
                quantity: NewOrder::MAX_QUANTITY,
                owner: Owner(1),
            };
            matching.submit(&sweep, &mut events).unwrap();
            assert_eq!(matching.depth(0, side.opposite()), 0);
            for n in 0..10_000 {
                assert!(generator.step(&mut matching, &mut events).is_some(), "step {n}");
                events.clear();
            }
            assert!(Side::BOTH.iter().all(|&side| matching.depth(0, side) > 10));
        }
    }

    #[test]
    fn trades_with_orders_of_others_and_never_cancels_them() {
        let Market { mut matching, mut events, mut generator, .. } = market(6, 1);
        let mut open = Vec::new();
        let mut filled = 0;
        for n in 0..2_000 {
            let side = Side::BOTH[n % 2];
            let price = matching.best(0, side).unwrap().price;
            let owner = Owner(1);
            let join = NewOrder { instrument: 0, side, price, quantity: 1, owner };
            open.push(matching.submit(&join, &mut events).unwrap().order);
            generator.step(&mut matching, &mut events).unwrap();
            for fill in events.fills().iter().filter(|fill| fill.owner == owner) {
                open.retain(|&order| order != fill.order);
                filled += 1;
            }
            assert!(open.iter().all(|&order| matching.order(order).is_some()), "step {n}");
            events.clear();
        }
        assert!(filled > 500, "{filled}");
    }
}
