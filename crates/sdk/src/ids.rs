//! Ids, quantities and sides.

use core::fmt;

use hairpin_feed_handler::{AggressorSide, BookSide};
use hairpin_order_entry::SideReq;

/// A number of contracts.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity(pub u64);

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// The number of a market data channel, as in config.xml.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelId(pub u32);

impl From<u32> for ChannelId {
    fn from(number: u32) -> Self {
        Self(number)
    }
}

impl fmt::Display for ChannelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// The side of an order, a trade or a book.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Buy; in a book, the bids.
    Buy,
    /// Sell; in a book, the asks.
    Sell,
}

impl Side {
    /// Returns +1 for a buy and -1 for a sell.
    #[must_use]
    pub const fn sign(self) -> i64 {
        match self {
            Self::Buy => 1,
            Self::Sell => -1,
        }
    }

    pub(crate) const fn to_wire(self) -> SideReq {
        match self {
            Self::Buy => SideReq::BUY,
            Self::Sell => SideReq::SELL,
        }
    }

    /// Returns the side of a report. CME has two sides.
    pub(crate) fn from_wire(side: SideReq) -> Self {
        if side == SideReq::SELL { Self::Sell } else { Self::Buy }
    }

    pub(crate) fn from_aggressor(side: AggressorSide) -> Option<Self> {
        match side {
            AggressorSide::BUY => Some(Self::Buy),
            AggressorSide::SELL => Some(Self::Sell),
            _ => None,
        }
    }

    pub(crate) const fn book(self) -> BookSide {
        match self {
            Self::Buy => BookSide::Bid,
            Self::Sell => BookSide::Ask,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Buy => "buy",
            Self::Sell => "sell",
        })
    }
}
