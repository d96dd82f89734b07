//! Time in force of an order.

use hairpin_cme_codecs::ilink3::TimeInForce;

/// TimeInForce (59) of an order, with the expiry date if the value requires one. Invalid
/// combinations, such as an expiry without a date, cannot be expressed.
///
/// Source: CME Client Systems Wiki, "iLink 3 - New Order - Single", tags 59, 432.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum OrderTimeInForce {
    /// Day (0): until the end of the trading session.
    #[default]
    Day,
    /// GTC (1): works until canceled.
    GoodTillCancel,
    /// GTD (6): works until the end of the trading session of a local market date.
    GoodTillDate {
        /// ExpireDate (432), days since the epoch.
        expire_date: u16,
    },
    /// Fill and kill (3): trades immediately as far as possible; the rest is eliminated.
    FillAndKill,
    /// Fill or kill (4): trades the whole quantity immediately, or nothing.
    FillOrKill,
    /// Good for session (99), since schema version 6, for some products only.
    GoodForSession,
}

impl OrderTimeInForce {
    /// Returns TimeInForce (59).
    #[inline]
    #[must_use]
    pub const fn code(self) -> TimeInForce {
        match self {
            Self::Day => TimeInForce::DAY,
            Self::GoodTillCancel => TimeInForce::GOOD_TILL_CANCEL,
            Self::GoodTillDate { .. } => TimeInForce::GOOD_TILL_DATE,
            Self::FillAndKill => TimeInForce::FILL_AND_KILL,
            Self::FillOrKill => TimeInForce::FILL_OR_KILL,
            Self::GoodForSession => TimeInForce::GOOD_FOR_SESSION,
        }
    }

    /// Returns ExpireDate (432), or `None` without an expiry date.
    #[inline]
    #[must_use]
    pub const fn expire_date(self) -> Option<u16> {
        match self {
            Self::GoodTillDate { expire_date } => Some(expire_date),
            _ => None,
        }
    }
}
