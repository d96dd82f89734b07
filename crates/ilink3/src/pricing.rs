//! Order pricing: order type and prices.

use hairpin_cme_codecs::ilink3::{OrderTypeReq, Price9};

/// OrdType (40) of an order together with the prices of that type. Invalid combinations, such as a
/// limit order without a price, cannot be expressed.
///
/// Prices are mantissas of 10⁻⁹. All CME market orders have protection: the rest of a market or
/// stop order trades within the instrument's protection points.
///
/// Source: CME Client Systems Wiki, "iLink 3 - New Order - Single", tags 40, 44, 99.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pricing {
    /// Limit (`2`): trades at `price` or better.
    Limit {
        /// Price (44).
        price: Price9,
    },
    /// Market with protection (`1`): trades within the protection points of the best price. The
    /// rest stays on the book at the protection limit.
    Market,
    /// Market with leftover as limit (`K`): trades at the best opposite price. The rest stays on
    /// the book at that price.
    MarketLimit,
    /// Stop with protection (`3`): a [`Market`](Self::Market) order once `stop_price` has traded.
    Stop {
        /// StopPx (99).
        stop_price: Price9,
    },
    /// Stop limit (`4`): a [`Limit`](Self::Limit) order at `price` once `stop_price` has traded.
    StopLimit {
        /// StopPx (99).
        stop_price: Price9,
        /// Price (44).
        price: Price9,
    },
}

impl Pricing {
    /// Returns OrdType (40).
    #[inline]
    #[must_use]
    pub const fn order_type(self) -> OrderTypeReq {
        match self {
            Self::Limit { .. } => OrderTypeReq::LIMIT,
            Self::Market => OrderTypeReq::MARKETWITH_PROTECTION,
            Self::MarketLimit => OrderTypeReq::MARKET_WITH_LEFTOVER_AS_LIMIT,
            Self::Stop { .. } => OrderTypeReq::STOPWITH_PROTECTION,
            Self::StopLimit { .. } => OrderTypeReq::STOP_LIMIT,
        }
    }

    /// Returns Price (44), or `None` if the order type has none.
    #[inline]
    #[must_use]
    pub const fn price(self) -> Option<Price9> {
        match self {
            Self::Limit { price } | Self::StopLimit { price, .. } => Some(price),
            Self::Market | Self::MarketLimit | Self::Stop { .. } => None,
        }
    }

    /// Returns StopPx (99), or `None` if the order type has none.
    #[inline]
    #[must_use]
    pub const fn stop_price(self) -> Option<Price9> {
        match self {
            Self::Stop { stop_price } | Self::StopLimit { stop_price, .. } => Some(stop_price),
            Self::Limit { .. } | Self::Market | Self::MarketLimit => None,
        }
    }
}
