//! The facts of a channel that its messages repeat.

use hairpin_sbe::MonthYear;
use hairpin_time::{Duration, Utc};

use super::settings::PublisherSettings;

/// The time for which contracts are tradeable before and after the start of the exchange.
const LIFETIME: Duration = Duration::from_secs(90 * 86_400);

#[derive(Debug, Clone, Copy)]
pub(super) struct Channel {
    /// ApplID (tag 1180).
    pub(super) id: i16,
    /// MarketSegmentID (tag 1300) of the first segment.
    pub(super) market_segment: u8,
    /// The number of segments. Instruments are assigned to them in turn.
    pub(super) segments: usize,
    /// Templates 64 to 67 and 69 replace 46, 48, 37, 51 and 52.
    pub(super) long_quantities: bool,
    /// The start of the exchange: the trade date, and the last change of every definition.
    pub(super) started: Utc,
    /// The start of trading.
    pub(super) activation: Utc,
    /// The end of trading.
    pub(super) expiry: Utc,
    /// The month of `expiry`.
    pub(super) maturity: MonthYear,
}

impl Channel {
    pub(super) fn new(settings: &PublisherSettings, started: Utc) -> Self {
        let expiry = started + LIFETIME;
        let date = expiry.to_string();
        let maturity = MonthYear {
            year: date.get(..4).and_then(|year| year.parse().ok()),
            month: date.get(5..7).and_then(|month| month.parse().ok()),
            ..MonthYear::NULL
        };
        let activation = started - LIFETIME;
        Self {
            id: settings.channel,
            market_segment: settings.market_segment,
            segments: settings.segments(),
            long_quantities: settings.long_quantities,
            started,
            activation,
            expiry,
            maturity,
        }
    }

    /// Returns MarketSegmentID (tag 1300) of an instrument.
    pub(super) fn market_segment_of(&self, instrument: u32) -> u8 {
        // There are at most 256 segments.
        self.market_segment.wrapping_add((instrument as usize % self.segments) as u8)
    }

    /// Returns the index for long quantities: 1 if they are enabled, otherwise 0.
    pub(super) fn long_quantity_index(&self) -> usize {
        usize::from(self.long_quantities)
    }

    /// Returns TradeDate (tag 75): days since 1970, which fit in 16 bits until 2149.
    pub(super) fn trade_date(&self) -> u16 {
        self.started.days() as u16
    }
}
