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
//! **Varied**, if asked for by a [`Flow`]: market orders, fill and kill, orders that trade in part
//! and rest, replacements. Each changes a best price as well, within the same bounds. The default
//! flow has none of them and is the same for a seed whatever a [`Flow`] could add.
//!
//! **Robust.** Sessions may trade with it, even through a foundation; the foundation is then
//! laid again as far as the market allows. Orders of others are traded with, never cancelled.

mod book;
mod varied;

pub use varied::Flow;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::{Accumulator, Instrument, Matching, Price, Side};
use book::Book;

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
    /// A market order of exactly the best level's quantity.
    Market,
    /// A fill-and-kill order of more than the best level's quantity, at its price.
    FillAndKill,
    /// A limit order of more than the best level's quantity, whose rest stays at its price.
    Partial,
    /// An order of the best level replaced by one inside the spread.
    Replace,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Improve,
        Self::Cancel,
        Self::Take,
        Self::Sweep,
        Self::Market,
        Self::FillAndKill,
        Self::Partial,
        Self::Replace,
    ];
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
    flow: Flow,
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
    /// The default flow for `instruments`, whose indices are those of the engine's books.
    #[must_use]
    pub fn new(seed: u64, instruments: &[Instrument]) -> Self {
        Self::with_flow(seed, instruments, Flow::default())
    }

    /// A flow of more kinds of order.
    #[must_use]
    pub fn with_flow(seed: u64, instruments: &[Instrument], flow: Flow) -> Self {
        let scale = |instrument: &Instrument| Scale {
            tick: instrument.tick.0,
            reference: instrument.reference,
        };
        Self {
            random: ChaCha8Rng::seed_from_u64(seed),
            scales: instruments.iter().map(scale).collect(),
            flow,
        }
    }

    /// Fills an empty book: every price from one tick off the reference to [`EXTENT`].
    pub fn seed(&mut self, instrument: u32, matching: &mut Matching, events: &mut Accumulator) {
        let mut book = Book { instrument, matching, events };
        for side in Side::BOTH {
            for ticks in 1..=EXTENT {
                let price = self.scale(instrument).price(side, -ticks);
                self.join(&mut book, side, price);
            }
        }
    }

    /// One event in an instrument chosen at random, or the next one that has something to
    /// change; `None` if there is none (no instrument, none open, or the engine is full).
    ///
    /// # Panics
    /// If the step did not change the best price: a broken invariant.
    pub fn step(&mut self, matching: &mut Matching, events: &mut Accumulator) -> Option<Step> {
        let count = matching.instruments();
        let first = self.below(count);
        (0..count).find_map(|n| {
            let mut book = Book { instrument: (first + n) % count, matching, events };
            let before = Side::BOTH.map(|side| book.best_price(side));
            let step = self.step_in(&mut book)?;
            let after = book.best_price(step.side);
            assert_ne!(after, before[step.side.index()], "{step:?} changed no best price");
            Some(step)
        })
    }

    fn step_in(&mut self, book: &mut Book<'_>) -> Option<Step> {
        if !book.matching.is_open(book.instrument) {
            return None;
        }
        for side in Side::BOTH {
            if i64::from(book.matching.depth(book.instrument, side)) < FOUNDATION {
                self.lay_foundation(book, side);
            }
        }
        let [bid, offer] = Side::BOTH.map(|side| book.best_price(side));
        // An empty side, which only a session can bring about, leaves nothing to improve.
        let spread = bid
            .zip(offer)
            .map_or(0, |(bid, offer)| (offer.0 - bid.0) / self.scale(book.instrument).tick);
        if let Some(step) = self.vary(book, spread) {
            return Some(step);
        }
        let coin = self.below(2) == 0;
        if spread > 1 && (spread >= WIDE || coin) {
            return self.improve(book, spread);
        }
        let first = self.side();
        self.remove_best(book, first)
            .or_else(|| self.remove_best(book, first.opposite()))
            .or_else(|| self.improve(book, spread))
    }

    /// Joins the market inside the spread, if that is wider than one tick.
    fn improve(&mut self, book: &mut Book<'_>, spread: i64) -> Option<Step> {
        let side = self.side();
        let inside = u32::try_from(spread - 1).ok().filter(|&inside| inside > 0)?;
        let best = book.best(side)?;
        if best.quantity < THIN {
            self.join(book, side, best.price);
        }
        let by = 1 + i64::from(self.below(inside));
        let price = side.improved(best.price, by * self.scale(book.instrument).tick);
        let instrument = book.instrument;
        self.join(book, side, price).then_some(Step { instrument, side, kind: Kind::Improve })
    }

    /// Cancels or takes the best level, unless that belongs to the foundation.
    fn remove_best(&mut self, book: &mut Book<'_>, side: Side) -> Option<Step> {
        let instrument = book.instrument;
        let [best, next] = book.best_two(side);
        let best = best?;
        if self.scale(instrument).ticks(side, best.price) < -REACH {
            return None;
        }
        let (kind, is_done) = match (self.below(5), next) {
            (0 | 1, _) if book.is_ours_at_best(side) => (Kind::Cancel, book.cancel_best(side)),
            (2, Some(next)) if next.quantity > 1 => {
                let quantity = best.quantity + 1 + self.below(next.quantity - 1);
                (Kind::Sweep, book.take(side, quantity, next.price))
            }
            _ => (Kind::Take, book.take(side, best.quantity, best.price)),
        };
        is_done.then_some(Step { instrument, side, kind })
    }

    /// Puts orders at every price of the foundation that has none and does not cross.
    #[cold]
    fn lay_foundation(&mut self, book: &mut Book<'_>, side: Side) {
        for ticks in REACH + 1..=EXTENT {
            let price = self.scale(book.instrument).price(side, -ticks);
            let other = book.best_price(side.opposite());
            let crosses = other.is_some_and(|other| !side.is_better(other, price));
            if !crosses && !book.has_level(side, price) {
                self.join(book, side, price);
            }
        }
    }

    /// Submits one to [`MAX_ORDERS`] orders at a price; whether any was accepted.
    fn join(&mut self, book: &mut Book<'_>, side: Side, price: Price) -> bool {
        let mut is_accepted = false;
        for _ in 0..=self.below(MAX_ORDERS) {
            let quantity = 1 + self.below(MAX_QUANTITY);
            is_accepted |= book.submit(side, price, quantity);
        }
        is_accepted
    }

    fn scale(&self, instrument: u32) -> Scale {
        self.scales[instrument as usize]
    }

    fn side(&mut self) -> Side {
        Side::BOTH[self.below(2) as usize]
    }

    /// A number below `bound`, 0 if that is 0; biased by `bound` in 2^32, which is nothing here.
    fn below(&mut self, bound: u32) -> u32 {
        // The high half of a product with a `u32` fits in one.
        ((u64::from(self.random.next_u32()) * u64::from(bound)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests;
