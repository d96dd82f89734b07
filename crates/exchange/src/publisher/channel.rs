//! Facts of the channel that its messages repeat.

use hairpin_sbe::MonthYear;
use hairpin_time::{Duration, Utc};

/// How long before and after the start of the exchange its contracts are tradeable.
const LIFETIME: Duration = Duration::from_secs(90 * 86_400);

#[derive(Debug, Clone, Copy)]
pub(super) struct Channel {
    /// Tag 1180.
    pub(super) id: i16,
    /// Tag 1300.
    pub(super) market_segment: u8,
    /// When the exchange started: the trade date, and the last change of every definition.
    pub(super) started: Utc,
    /// First moment of trading.
    pub(super) activation: Utc,
    /// Last moment of trading.
    pub(super) expiry: Utc,
    /// The month of it.
    pub(super) maturity: MonthYear,
}

impl Channel {
    pub(super) fn new(id: i16, market_segment: u8, started: Utc) -> Self {
        let expiry = started + LIFETIME;
        let date = expiry.to_string();
        let maturity = MonthYear {
            year: date.get(..4).and_then(|year| year.parse().ok()),
            month: date.get(5..7).and_then(|month| month.parse().ok()),
            ..MonthYear::NULL
        };
        let activation = started - LIFETIME;
        Self { id, market_segment, started, activation, expiry, maturity }
    }

    /// Tag 75: days since 1970, which fit in 16 bits until 2149.
    pub(super) fn trade_date(&self) -> u16 {
        self.started.days() as u16
    }
}
