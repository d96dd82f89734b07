//! What is asked of the matching engine, and what rests in it.

use thiserror::Error;

use crate::Price;

/// Which side of the book.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Buys.
    #[default]
    Bid,
    /// Sells.
    Offer,
}

impl Side {
    /// Both, bids first.
    pub const BOTH: [Self; 2] = [Self::Bid, Self::Offer];

    /// The side an order of this side trades with.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Bid => Self::Offer,
            Self::Offer => Self::Bid,
        }
    }

    /// Whether, among orders of this side, `price` comes before `other`.
    #[must_use]
    pub fn is_better(self, price: Price, other: Price) -> bool {
        match self {
            Self::Bid => price > other,
            Self::Offer => price < other,
        }
    }

    /// `price` moved `by` towards the other side (away from it if negative).
    #[must_use]
    pub fn improved(self, price: Price, by: i64) -> Price {
        match self {
            Self::Bid => Decimal(price.0.saturating_add(by)),
            Self::Offer => Decimal(price.0.saturating_sub(by)),
        }
    }

    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

use hairpin_sbe::Decimal;

/// The exchange's own number of an order (tag 37), unique while the engine lives, ascending.
///
/// The low 24 bits are the slot it rests in, the rest counts submissions.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderId(pub u64);

impl OrderId {
    /// No order has this number.
    pub const NONE: Self = Self(0);
    pub(super) const SLOT_BITS: u32 = 24;

    pub(super) const fn new(submission: u64, slot: u32) -> Self {
        Self(submission << Self::SLOT_BITS | slot as u64)
    }

    pub(crate) const fn slot(self) -> u32 {
        (self.0 & ((1 << Self::SLOT_BITS) - 1)) as u32
    }
}

/// Whose order it is: the house's own order flow, or a gateway session.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner(pub u32);

impl Owner {
    /// The exchange's own order flow.
    pub const HOUSE: Self = Self(0);
}

/// A limit order, good for the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewOrder {
    /// The instrument's index, from 0.
    pub instrument: u32,
    /// Buy or sell.
    pub side: Side,
    /// The limit; a multiple of the instrument's tick.
    pub price: Price,
    /// Contracts, 1 to [`NewOrder::MAX_QUANTITY`].
    pub quantity: u32,
    /// Whose it is.
    pub owner: Owner,
}

impl NewOrder {
    /// The largest quantity of one order: with it, and with the 200,000 orders that an engine
    /// holds at most, the quantity of a level fits in the i32 of MDEntrySize (271).
    pub const MAX_QUANTITY: u32 = 10_000;
}

/// An order that rests, or has just left the book.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// Its number.
    pub id: OrderId,
    /// The instrument's index.
    pub instrument: u32,
    /// Buy or sell.
    pub side: Side,
    /// The limit.
    pub price: Price,
    /// Contracts as submitted.
    pub quantity: u32,
    /// Contracts not yet traded.
    pub remaining: u32,
    /// Whose it is.
    pub owner: Owner,
    pub(super) level: u32,
    pub(super) ahead: u32,
    pub(super) behind: u32,
}

/// Why an order was not accepted; the book is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Rejection {
    /// No instrument has this index.
    #[error("unknown instrument")]
    UnknownInstrument,
    /// Nothing, or more than [`NewOrder::MAX_QUANTITY`].
    #[error("quantity out of range")]
    Quantity,
    /// Not a multiple of the tick, or so far out that arithmetic on it would overflow.
    #[error("price off the tick or out of range")]
    Price,
    /// Every slot for orders, levels or fills is taken.
    #[error("the engine is full")]
    Full,
}
