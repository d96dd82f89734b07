//! Facts of the channel that its messages repeat.

use hairpin_sbe::MonthYear;
use hairpin_time::{Duration, Utc};

use super::settings::PublisherSettings;

/// How long before and after the start of the exchange its contracts are tradeable.
const LIFETIME: Duration = Duration::from_secs(90 * 86_400);

#[derive(Debug, Clone, Copy)]
pub(super) struct Channel {
    /// Tag 1180.
    pub(super) id: i16,
    /// Tag 1300.
    pub(super) market_segment: u8,
    /// How many segments there are, which instruments belong to in turn.
    pub(super) segments: usize,
    /// Whether templates 64 to 67 and 69 take the place of 46, 48, 37, 51 and 52.
    pub(super) long_quantities: bool,
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

    /// Tag 1300 of an instrument.
    pub(super) fn market_segment_of(&self, instrument: u32) -> u8 {
        // There are at most 256 segments.
        self.market_segment.wrapping_add((instrument as usize % self.segments) as u8)
    }

    /// The place of what belongs to long quantities behind what belongs to others.
    pub(super) fn is_long(&self) -> usize {
        usize::from(self.long_quantities)
    }

    /// Tag 75: days since 1970, which fit in 16 bits until 2149.
    pub(super) fn trade_date(&self) -> u16 {
        self.started.days() as u16
    }
}
