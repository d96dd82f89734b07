//! Background order flow: seeds the books, then changes one best price per step.
//!
//! A step is one matching event in one instrument. It improves the best price with orders inside
//! the spread, cancels the whole best level, takes it, or takes it and part of the next level.
//!
//! **Bounded.** Each side of a book has 14 *base levels* that no step removes: the prices from
//! [`STEP_RANGE`]` + 1` to [`BOOK_RANGE`] ticks from the instrument's reference price. So the depth
//! never falls to 10. Steps stay inside the base levels, at most [`STEP_RANGE`] ticks from the
//! reference. So best prices cannot drift, and the spread is at most `2 * STEP_RANGE + 2` ticks. An
//! order five ticks below the tenth bid level is at least 14 ticks below the best bid. A best bid
//! is at most `2 * STEP_RANGE + 1 = 13` ticks below an earlier one, so this flow never reaches such
//! an order.
//!
//! **Varied**, if a [`BackgroundFlow`] enables it: market orders, fill and kill, orders that trade
//! in part and rest, replacements. Each changes a best price too, within the same bounds. The
//! default flow has none of them. Its random sequence does not depend on the optional kinds.
//!
//! **Robust.** Sessions may trade with this flow, even through the base levels. Base levels are
//! then restored as far as the market allows. Orders of sessions are traded with, never canceled.

mod book;
mod varied;

pub use varied::BackgroundFlow;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::{Accumulator, Instrument, Matching, Price, Side};
use book::Book;

/// The farthest distance from the reference price, in ticks, at which a step adds or removes an
/// order.
pub const STEP_RANGE: i64 = 6;

/// The distance of the last base level from the reference price, in ticks.
pub const BOOK_RANGE: i64 = STEP_RANGE + BASE_LEVELS;

/// The number of base levels, four more than are published.
const BASE_LEVELS: i64 = 14;

/// The spread, in ticks, from which on a step always improves the best price.
const WIDE_SPREAD: i64 = 6;

/// The maximum quantity of one background order.
const QUANTITY_MAX: u32 = 20;

/// The maximum number of orders added at one level.
const LEVEL_ORDERS_MAX: u32 = 3;

/// The quantity below which a best level is refilled before it is improved.
const THIN_LEVEL: u32 = 8;

/// The kind of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StepKind {
    /// Adds one to three orders at one price inside the spread.
    Improve,
    /// All orders of the best level are canceled.
    Cancel,
    /// An aggressor of exactly the best level's quantity.
    Take,
    /// An aggressor of the best level's quantity and a part of the next level's.
    Sweep,
    /// A market order of exactly the best level's quantity.
    Market,
    /// A fill-and-kill order of more than the best level's quantity, at its price.
    FillAndKill,
    /// A limit order of more than the best level's quantity, whose remainder rests at its price.
    Partial,
    /// An order of the best level replaced by one inside the spread.
    Replace,
}

impl StepKind {
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

/// A matching event of the background flow, which changed a best price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowStep {
    /// The index of the instrument.
    pub instrument: u32,
    /// The side whose best price changed.
    pub side: Side,
    /// The kind of change.
    pub kind: StepKind,
}

/// A generator of background order flow. The same seed gives the same flow.
#[derive(Debug)]
pub struct FlowGenerator {
    random: ChaCha8Rng,
    scales: Box<[Scale]>,
    flow: BackgroundFlow,
}

#[derive(Debug, Clone, Copy)]
struct Scale {
    tick: i64,
    reference: Price,
}

impl Scale {
    /// Returns the price `ticks` better than the reference for `side`; negative is worse.
    fn price(&self, side: Side, ticks: i64) -> Price {
        side.improved(self.reference, ticks * self.tick)
    }

    /// Returns the number of ticks by which `price` is better than the reference for `side`.
    fn ticks(&self, side: Side, price: Price) -> i64 {
        let above = (price.0 - self.reference.0) / self.tick;
        if side == Side::Bid { above } else { -above }
    }
}

impl FlowGenerator {
    /// Creates the default flow for `instruments`, which have the indices of the engine's books.
    #[must_use]
    pub fn new(seed: u64, instruments: &[Instrument]) -> Self {
        Self::with_flow(seed, instruments, BackgroundFlow::default())
    }

    /// Creates a flow with additional kinds of orders.
    #[must_use]
    pub fn with_flow(seed: u64, instruments: &[Instrument], flow: BackgroundFlow) -> Self {
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

    /// Fills an empty book: every price from one tick off the reference to [`BOOK_RANGE`] ticks.
    pub fn seed(&mut self, instrument: u32, matching: &mut Matching, events: &mut Accumulator) {
        let mut book = Book { instrument, matching, events };
        for side in Side::BOTH {
            for ticks in 1..=BOOK_RANGE {
                let price = self.scale(instrument).price(side, -ticks);
                self.add_orders(&mut book, side, price);
            }
        }
    }

    /// Makes one event in a random instrument, or in the next one in which a change is possible.
    /// Returns `None` if no instrument exists or is open, or if the engine is full.
    ///
    /// # Panics
    /// If the step did not change the best price, which is a broken invariant.
    pub fn step(&mut self, matching: &mut Matching, events: &mut Accumulator) -> Option<FlowStep> {
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

    fn step_in(&mut self, book: &mut Book<'_>) -> Option<FlowStep> {
        if !book.matching.is_open(book.instrument) {
            return None;
        }
        for side in Side::BOTH {
            if i64::from(book.matching.depth(book.instrument, side)) < BASE_LEVELS {
                self.restore_base_levels(book, side);
            }
        }
        let [bid, offer] = Side::BOTH.map(|side| book.best_price(side));
        // Only a session can empty a side. Then no price can be improved.
        let spread = bid
            .zip(offer)
            .map_or(0, |(bid, offer)| (offer.0 - bid.0) / self.scale(book.instrument).tick);
        if let Some(step) = self.varied_step(book, spread) {
            return Some(step);
        }
        let prefers_improve = self.below(2) == 0;
        if spread > 1 && (spread >= WIDE_SPREAD || prefers_improve) {
            return self.improve(book, spread);
        }
        let first = self.side();
        self.remove_best(book, first)
            .or_else(|| self.remove_best(book, first.opposite()))
            .or_else(|| self.improve(book, spread))
    }

    /// Adds orders inside the spread, if it is wider than one tick.
    fn improve(&mut self, book: &mut Book<'_>, spread: i64) -> Option<FlowStep> {
        let side = self.side();
        let inside = u32::try_from(spread - 1).ok().filter(|&inside| inside > 0)?;
        let best = book.best(side)?;
        if best.quantity < THIN_LEVEL {
            self.add_orders(book, side, best.price);
        }
        let by = 1 + i64::from(self.below(inside));
        let price = side.improved(best.price, by * self.scale(book.instrument).tick);
        let instrument = book.instrument;
        self.add_orders(book, side, price).then_some(FlowStep {
            instrument,
            side,
            kind: StepKind::Improve,
        })
    }

    /// Cancels or takes the best level, unless it is a base level.
    fn remove_best(&mut self, book: &mut Book<'_>, side: Side) -> Option<FlowStep> {
        let instrument = book.instrument;
        let [best, next] = book.best_two(side);
        let best = best?;
        if self.scale(instrument).ticks(side, best.price) < -STEP_RANGE {
            return None;
        }
        let (kind, is_changed) = match (self.below(5), next) {
            (0 | 1, _) if book.is_background_at_best(side) => {
                (StepKind::Cancel, book.cancel_best(side))
            }
            (2, Some(next)) if next.quantity > 1 => {
                let quantity = best.quantity + 1 + self.below(next.quantity - 1);
                (StepKind::Sweep, book.take(side, quantity, next.price))
            }
            _ => (StepKind::Take, book.take(side, best.quantity, best.price)),
        };
        is_changed.then_some(FlowStep { instrument, side, kind })
    }

    /// Adds orders at every base level that is empty and does not cross.
    #[cold]
    fn restore_base_levels(&mut self, book: &mut Book<'_>, side: Side) {
        for ticks in STEP_RANGE + 1..=BOOK_RANGE {
            let price = self.scale(book.instrument).price(side, -ticks);
            let other = book.best_price(side.opposite());
            let crosses = other.is_some_and(|other| !side.is_better(other, price));
            if !crosses && !book.has_level(side, price) {
                self.add_orders(book, side, price);
            }
        }
    }

    /// Submits one to [`LEVEL_ORDERS_MAX`] orders at a price. Returns `true` if any was accepted.
    fn add_orders(&mut self, book: &mut Book<'_>, side: Side, price: Price) -> bool {
        let mut is_accepted = false;
        for _ in 0..=self.below(LEVEL_ORDERS_MAX) {
            let quantity = 1 + self.below(QUANTITY_MAX);
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

    /// Returns a number below `bound`, or 0 if `bound` is 0. The bias of `bound` in 2^32 is
    /// negligible here.
    fn below(&mut self, bound: u32) -> u32 {
        // The high half of a product with a `u32` fits in a `u32`.
        ((u64::from(self.random.next_u32()) * u64::from(bound)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests;
