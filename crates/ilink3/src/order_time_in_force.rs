//! How long an order stands.

use hairpin_cme_codecs::ilink3::TimeInForce;

/// TimeInForce (59) of an order, with the date that belongs to one of them: an expiry without a
/// date, or a date without an expiry, cannot be written down.
///
/// Source: CME Client Systems Wiki, "iLink 3 - New Order - Single", tags 59, 432.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum OrderTimeInForce {
    /// Day (0): until the end of the trading session.
    #[default]
    Day,
    /// Good till cancel (1).
    GoodTillCancel,
    /// Good till date (6): until the end of the trading session of a local market date.
    GoodTillDate {
        /// ExpireDate (432), days since the epoch.
        expire_date: u16,
    },
    /// Fill and kill (3): trades what it can at once; the rest is eliminated.
    FillAndKill,
    /// Fill or kill (4): trades whole at once, or not at all.
    FillOrKill,
    /// Good for session (99), since version 6; only where the product has it.
    GoodForSession,
}

impl OrderTimeInForce {
    /// TimeInForce (59).
    #[inline]
    #[must_use]
    pub const fn time_in_force(self) -> TimeInForce {
        match self {
            Self::Day => TimeInForce::DAY,
            Self::GoodTillCancel => TimeInForce::GOOD_TILL_CANCEL,
            Self::GoodTillDate { .. } => TimeInForce::GOOD_TILL_DATE,
            Self::FillAndKill => TimeInForce::FILL_AND_KILL,
            Self::FillOrKill => TimeInForce::FILL_OR_KILL,
            Self::GoodForSession => TimeInForce::GOOD_FOR_SESSION,
        }
    }

    /// ExpireDate (432), where the order has one.
    #[inline]
    #[must_use]
    pub const fn expire_date(self) -> Option<u16> {
        match self {
            Self::GoodTillDate { expire_date } => Some(expire_date),
            _ => None,
        }
    }
}
