//! Order types of the matching engine: new orders, replacements, resting orders, rejections.

use thiserror::Error;

use crate::Price;

/// A side of the book.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The side of buy orders.
    #[default]
    Bid,
    /// The side of sell orders.
    Offer,
}

impl Side {
    /// Both sides, bids first.
    pub const BOTH: [Self; 2] = [Self::Bid, Self::Offer];

    /// Returns the side that orders of this side trade with.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Bid => Self::Offer,
            Self::Offer => Self::Bid,
        }
    }

    /// Returns `true` if `price` has priority over `other` among orders of this side.
    #[must_use]
    pub fn is_better(self, price: Price, other: Price) -> bool {
        match self {
            Self::Bid => price > other,
            Self::Offer => price < other,
        }
    }

    /// Returns `price` moved by `by` towards the opposite side, or away from it if `by` is
    /// negative.
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

/// OrderID (tag 37), assigned by the exchange. Ids are unique within an engine and ascending.
///
/// The low 24 bits are the order's slot; the upper bits count submissions.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderId(pub u64);

impl OrderId {
    /// The id of no order.
    pub const NONE: Self = Self(0);
    pub(super) const SLOT_BITS: u32 = 24;

    pub(super) const fn new(submission: u64, slot: u32) -> Self {
        Self(submission << Self::SLOT_BITS | slot as u64)
    }

    pub(crate) const fn slot(self) -> u32 {
        (self.0 & ((1 << Self::SLOT_BITS) - 1)) as u32
    }
}

/// The owner of an order: the background flow, or a gateway session.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner(pub u32);

impl Owner {
    /// The exchange's own background flow.
    pub const BACKGROUND: Self = Self(0);
}

/// The method to determine an order's limit (OrdType, tag 40).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OrderKind {
    /// The limit is the order's price.
    #[default]
    Limit,
    /// Market with protection. The limit is the opposite side's best price at entry, plus the
    /// protection points of the instrument's [`Terms`](crate::Terms). The remainder rests there.
    Market,
    /// Market-limit. The limit is the opposite side's best price at entry; the remainder rests
    /// there.
    MarketLimit,
}

/// The time in force of an order (tag 59).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeInForce {
    /// Until the trading session ends.
    #[default]
    Day,
    /// Until the order is canceled.
    GoodTillCancel,
    /// Until the end of a day, counted from 1970-01-01.
    GoodTillDate(u16),
    /// The order never rests: the quantity that does not trade at once is eliminated. With the
    /// whole quantity as the minimum this is fill or kill.
    FillAndKill,
}

/// Self-match prevention of an order (CME, page 46140175). Two orders of the same firm with the
/// same id do not trade with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelfMatchPrevention {
    /// The firm of the order's session, as a number that the gateway chooses.
    pub firm: u32,
    /// SelfMatchPreventionID (tag 2362).
    pub id: u64,
    /// The order to cancel while this order is the aggressor.
    pub instruction: SelfMatchInstruction,
}

impl SelfMatchPrevention {
    /// Returns `true` if an order with this prevention may not trade with `other`.
    #[must_use]
    pub fn prevents(&self, other: &Self) -> bool {
        self.firm == other.firm && self.id == other.id
    }
}

/// SelfMatchPreventionInstruction (tag 8000). The aggressor's instruction decides; on a resting
/// order it means nothing.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SelfMatchInstruction {
    /// Cancels the resting order (`O`, also if the field is absent).
    #[default]
    CancelResting,
    /// Cancels the rest of the aggressor (`N`).
    CancelAggressor,
}

/// A new order.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct NewOrder {
    /// The index of the instrument, starting at 0.
    pub instrument: u32,
    /// The side: buy or sell.
    pub side: Side,
    /// The order type.
    pub kind: OrderKind,
    /// The limit of a limit order, a multiple of the instrument's tick. Ignored for other types.
    pub price: Price,
    /// The quantity in contracts, 1 to [`NewOrder::MAX_QUANTITY`].
    pub quantity: u32,
    /// The contracts that have to trade at once (MinQty, tag 110), up to `quantity`. If they
    /// cannot, the whole order is eliminated. Most orders have 0.
    pub minimum: u32,
    /// The contracts displayed at a time (DisplayQty, tag 1138), from `minimum` to `quantity`; 0
    /// displays all.
    pub display: u32,
    /// The time in force.
    pub time_in_force: TimeInForce,
    /// The owner of the order.
    pub owner: Owner,
    /// The self-match prevention, if any.
    pub self_match: Option<SelfMatchPrevention>,
    /// The order is one side of a quote.
    pub quote: bool,
}

impl NewOrder {
    /// The maximum quantity of an order. With this quantity and the 200,000 orders that a book
    /// holds, the quantity of a level fits in the i32 of MDEntrySize (tag 271).
    pub const MAX_QUANTITY: u32 = 10_000;

    /// Creates a limit order that is good for the day.
    #[must_use]
    pub fn limit(instrument: u32, side: Side, price: Price, quantity: u32, owner: Owner) -> Self {
        Self { instrument, side, price, quantity, owner, ..Self::default() }
    }
}

/// The new terms for a resting order.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Replacement {
    /// The order type.
    pub kind: OrderKind,
    /// The limit of a limit order, a multiple of the instrument's tick. Ignored for other types.
    pub price: Price,
    /// The quantity in contracts, 1 to [`NewOrder::MAX_QUANTITY`]. Without `mitigates` this is the
    /// open quantity; with it, the sum of open and traded quantity.
    pub quantity: u32,
    /// The contracts that have to trade at once, same as [`NewOrder::minimum`].
    pub minimum: u32,
    /// The contracts displayed at a time, same as [`NewOrder::display`], up to the new open
    /// quantity. An order with a display quantity cannot be replaced by one without, or vice versa.
    pub display: u32,
    /// The time in force.
    pub time_in_force: TimeInForce,
    /// The in-flight mitigation (OFMOverride, tag 9768): traded contracts count against `quantity`.
    /// The
    /// first replacement of an order decides for all later ones.
    pub mitigates: bool,
    /// The self-match prevention, if any.
    pub self_match: Option<SelfMatchPrevention>,
}

impl Replacement {
    /// Returns the order `old` with the new terms, as a new order.
    pub(super) fn applied_to(&self, old: &Order) -> NewOrder {
        let &Self { kind, price, quantity, minimum, display, time_in_force, self_match, .. } = self;
        let &Order { instrument, side, owner, quote, .. } = old;
        NewOrder {
            instrument,
            side,
            kind,
            price,
            quantity,
            minimum,
            display,
            time_in_force,
            owner,
            self_match,
            quote,
        }
    }
}

/// A resting order, or one that has just left the book.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// The id of the order.
    pub id: OrderId,
    /// The index of the instrument.
    pub instrument: u32,
    /// The side: buy or sell.
    pub side: Side,
    /// The order type.
    pub kind: OrderKind,
    /// The limit.
    pub price: Price,
    /// The quantity in contracts as submitted or last replaced.
    pub quantity: u32,
    /// The contracts that are still open, displayed or hidden.
    pub remaining: u32,
    /// The contracts displayed at a time (DisplayQty, tag 1138); 0 displays all.
    pub display: u32,
    /// The contracts displayed now; 0 before the order rests.
    pub shown: u32,
    /// The traded contracts. After replacements, `traded` and `remaining` need not add up to
    /// `quantity`.
    pub traded: u32,
    /// The time in force.
    pub time_in_force: TimeInForce,
    /// The owner of the order.
    pub owner: Owner,
    /// The self-match prevention, if any.
    pub self_match: Option<SelfMatchPrevention>,
    /// The order is one side of a quote.
    pub quote: bool,
    /// The priority (MDOrderPriority, tag 37707): the lowest value at a price trades first. An
    /// order that enters the book again gets a new value.
    pub priority: u64,
    /// The in-flight mitigation of replacements; `None` before the first one.
    pub(super) mitigates: Option<bool>,
    pub(super) level: u32,
    pub(super) ahead: u32,
    pub(super) behind: u32,
}

impl Order {
    /// Returns the contracts that the order displays when it joins a queue.
    pub(super) fn shown_at_entry(&self) -> u32 {
        if self.display == 0 { self.remaining } else { self.remaining.min(self.display) }
    }

    /// Returns the open contracts that are not displayed.
    pub(super) const fn hidden(&self) -> u32 {
        self.remaining - self.shown
    }

    /// Returns the number of times that hidden contracts will be displayed.
    pub(super) fn tranches(&self) -> u32 {
        if self.display == 0 { 0 } else { self.hidden().div_ceil(self.display) }
    }
}

/// The reason why an order was not accepted. The book is unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Rejection {
    /// The instrument does not exist.
    #[error("unknown instrument")]
    UnknownInstrument,
    /// The quantity is 0, or more than [`NewOrder::MAX_QUANTITY`].
    #[error("quantity out of range")]
    Quantity,
    /// The price is not a multiple of the tick, or so large that arithmetic would overflow.
    #[error("price is not a multiple of the tick or out of range")]
    Price,
    /// The minimum exceeds the quantity.
    #[error("minimum quantity exceeds the quantity")]
    Minimum,
    /// The display quantity exceeds the quantity, or the open quantity of a replacement.
    #[error("display quantity exceeds the quantity")]
    Display,
    /// The display quantity is less than the minimum quantity.
    #[error("display quantity is less than the minimum quantity")]
    DisplayBelowMinimum,
    /// A replacement that would give an order a display quantity, or take it away.
    #[error("an order cannot gain or lose its display quantity")]
    DisplayChange,
    /// An order without its own price, while the opposite side is empty.
    #[error("opposite side is empty")]
    NoOppositePrice,
    /// The instrument is not open for trading; only cancels are accepted.
    #[error("instrument is not open for trading")]
    Closed,
    /// The order is not in the book.
    #[error("unknown order")]
    UnknownOrder,
    /// The trigger of a stop order to buy is not above the last trade.
    #[error("stop price is not above the last trade")]
    StopNotAbove,
    /// The trigger of a stop order to sell is not below the last trade.
    #[error("stop price is not below the last trade")]
    StopNotBelow,
    /// The limit of a stop limit order to buy is below its trigger.
    #[error("limit is below the stop price")]
    LimitBelowStop,
    /// The limit of a stop limit order to sell is above its trigger.
    #[error("limit is above the stop price")]
    LimitAboveStop,
    /// A stop order that would have to trade at once, or a replacement that would change a stop
    /// order to another type or vice versa.
    #[error("invalid for a stop order")]
    NotForStop,
    /// An earlier replacement of the order had another in-flight mitigation.
    #[error("in-flight mitigation differs from the order's first replacement")]
    Mitigation,
    /// All slots for orders, levels or fills are in use.
    #[error("matching engine is full")]
    Full,
}
