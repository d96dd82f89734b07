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

/// How an order's limit is found (tag 40).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OrderKind {
    /// By its price.
    #[default]
    Limit,
    /// Market with protection: the best price of the other side when it comes in, and as many
    /// points beyond as the instrument's [`Terms`](crate::Terms) say. What does not trade within
    /// rests there.
    Market,
    /// Market-limit: the best price of the other side when it comes in, where the rest of it stays.
    MarketLimit,
}

/// How long an order works (tag 59).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeInForce {
    /// Until the session ends.
    #[default]
    Day,
    /// Until it is cancelled.
    GoodTillCancel,
    /// Until a day is over, counted from 1970-01-01.
    GoodTillDate(u16),
    /// It never rests: what does not trade at once is eliminated. With a minimum of the whole
    /// quantity this is fill or kill.
    FillAndKill,
}

/// An order that comes in.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct NewOrder {
    /// The instrument's index, from 0.
    pub instrument: u32,
    /// Buy or sell.
    pub side: Side,
    /// How its limit is found.
    pub kind: OrderKind,
    /// The limit of a limit order, a multiple of the instrument's tick; of others not looked at.
    pub price: Price,
    /// Contracts, 1 to [`NewOrder::MAX_QUANTITY`].
    pub quantity: u32,
    /// Contracts that have to trade at once (tag 110), up to `quantity`; if they cannot, all of it
    /// is eliminated. Most orders have 0.
    pub minimum: u32,
    /// How long it works.
    pub time_in_force: TimeInForce,
    /// Whose it is.
    pub owner: Owner,
}

impl NewOrder {
    /// The largest quantity of one order: with it, and with the 200,000 orders that a book holds at
    /// most, the quantity of a level fits in the i32 of MDEntrySize (271).
    pub const MAX_QUANTITY: u32 = 10_000;

    /// A limit order, good for the day.
    #[must_use]
    pub fn limit(instrument: u32, side: Side, price: Price, quantity: u32, owner: Owner) -> Self {
        Self { instrument, side, price, quantity, owner, ..Self::default() }
    }
}

/// What a resting order is to become.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Replacement {
    /// How its limit is found.
    pub kind: OrderKind,
    /// The limit of a limit order, a multiple of the instrument's tick; of others not looked at.
    pub price: Price,
    /// Contracts, 1 to [`NewOrder::MAX_QUANTITY`]: those that are to be open, or with
    /// `mitigates` those that have traded and those that are to be open together.
    pub quantity: u32,
    /// Contracts that have to trade at once, as of a [`NewOrder`].
    pub minimum: u32,
    /// How long it works.
    pub time_in_force: TimeInForce,
    /// In-flight mitigation (tag 9768): what has traded counts against `quantity`. The first
    /// replacement of an order decides for all.
    pub mitigates: bool,
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
    /// How its limit was found.
    pub kind: OrderKind,
    /// The limit.
    pub price: Price,
    /// Contracts as submitted, or as last replaced.
    pub quantity: u32,
    /// Contracts not yet traded.
    pub remaining: u32,
    /// Contracts traded. With replacements this and `remaining` need not add up to `quantity`.
    pub traded: u32,
    /// How long it works.
    pub time_in_force: TimeInForce,
    /// Whose it is.
    pub owner: Owner,
    /// Its place in time (tag 37707): among orders of one price the lowest comes first. An order
    /// that comes in again gets another.
    pub priority: u64,
    /// Whether replacements of it mitigate; `None` before the first.
    pub(super) mitigates: Option<bool>,
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
    /// A minimum of more than the quantity.
    #[error("minimum above the quantity")]
    Minimum,
    /// An order without a price of its own, and the other side is empty.
    #[error("no price on the other side")]
    NoOppositePrice,
    /// The instrument does not trade now; orders may be cancelled, nothing else.
    #[error("the market is closed")]
    Closed,
    /// There is no such order in the book.
    #[error("unknown order")]
    UnknownOrder,
    /// The trigger of a stop order to buy that is not above the last trade.
    #[error("stop price not above the last trade")]
    StopNotAbove,
    /// The trigger of a stop order to sell that is not below the last trade.
    #[error("stop price not below the last trade")]
    StopNotBelow,
    /// The limit of a stop limit order to buy that is below its trigger.
    #[error("limit below the stop price")]
    LimitBelowStop,
    /// The limit of a stop limit order to sell that is above its trigger.
    #[error("limit above the stop price")]
    LimitAboveStop,
    /// A stop order that would have to trade at once, or a replacement that makes a stop order of
    /// another or another of a stop order.
    #[error("not for a stop order")]
    NotForStop,
    /// An earlier replacement of the order decided otherwise.
    #[error("another in-flight mitigation than the order's first replacement")]
    Mitigation,
    /// Every slot for orders, levels or fills is taken.
    #[error("the engine is full")]
    Full,
}
