//! The statistics of an instrument: session and daily values, volume and limits.
//!
//! They arrive individually in templates 37, 49, 50, 51, 66 and 67, and all together in snapshots
//! 52 and 69. Each stored value is as of the latest packet that stated it, from either source. The
//! next snapshot thus repairs a statistic lost in a gap, and never overwrites a newer one. A kind
//! that a snapshot does not state is left unchanged.

use core::fmt;

use hairpin_cme_codecs::mdp3::SettlPriceType;

use crate::instrument::statistic_kind::{ALL, KINDS, SESSION};
use crate::{Price9, StatisticKind};

/// The value of a statistic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatisticValue {
    /// MDEntryPx (270), or the limit.
    pub price: Option<Price9>,
    /// MDEntrySize (271).
    pub quantity: Option<u64>,
    /// TradingReferenceDate (5796), the trade date of the value: days since 1970-01-01.
    pub reference_date: Option<u16>,
    /// SettlPriceType (731), a set: final, actual, rounded or intraday. Meaningful for settlements
    /// only.
    pub settlement_type: SettlPriceType,
}

impl StatisticValue {
    /// Creates a value without date and settlement type.
    pub(crate) const fn new(price: Option<Price9>, quantity: Option<u64>) -> Self {
        let settlement_type = SettlPriceType::NULL_VALUE;
        Self { price, quantity, reference_date: None, settlement_type }
    }

    /// Returns `true` if the value has a price or a quantity.
    const fn is_stated(&self) -> bool {
        self.price.is_some() || self.quantity.is_some()
    }
}

/// The price limits and the price band of an instrument.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PriceLimits {
    /// HighLimitPrice (1149).
    pub high: Option<Price9>,
    /// LowLimitPrice (1148).
    pub low: Option<Price9>,
    /// MaxPriceVariation (1143): half the width of the band around the last price.
    pub max_price_variation: Option<Price9>,
}

impl PriceLimits {
    /// Returns the three limits as statistics, with their kinds.
    pub(crate) fn statistics(&self) -> [(StatisticKind, StatisticValue); 3] {
        [
            (StatisticKind::HighLimit, self.high),
            (StatisticKind::LowLimit, self.low),
            (StatisticKind::MaxPriceVariation, self.max_price_variation),
        ]
        .map(|(kind, price)| (kind, StatisticValue::new(price, None)))
    }
}

/// A stored statistic, 24 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct StoredStatistic {
    /// `i64::MAX`: none, as on the wire.
    price: i64,
    /// `u64::MAX`: none, as on the wire.
    quantity: u64,
    /// The first packet whose statements are newer than the stored value.
    since: u32,
    /// `u16::MAX`: none, as on the wire.
    reference_date: u16,
    settlement_type: u8,
}

const _: () = assert!(size_of::<StoredStatistic>() == 24);

impl StoredStatistic {
    const NONE: Self = Self {
        price: i64::MAX,
        quantity: u64::MAX,
        since: 0,
        reference_date: u16::MAX,
        settlement_type: SettlPriceType::NULL_VALUE.0,
    };

    fn set(&mut self, value: &StatisticValue) {
        self.price = value.price.map_or(i64::MAX, |price| price.0);
        self.quantity = value.quantity.unwrap_or(u64::MAX);
        self.reference_date = value.reference_date.unwrap_or(u16::MAX);
        self.settlement_type = value.settlement_type.0;
    }

    fn clear(&mut self) {
        *self = Self { since: self.since, ..Self::NONE };
    }

    fn value(&self) -> StatisticValue {
        StatisticValue {
            price: (self.price != i64::MAX).then_some(Price9(self.price)),
            quantity: (self.quantity != u64::MAX).then_some(self.quantity),
            reference_date: (self.reference_date != u16::MAX).then_some(self.reference_date),
            settlement_type: SettlPriceType(self.settlement_type),
        }
    }
}

/// The stored statistics of an instrument, 456 bytes.
///
/// A ChannelReset clears all of them. The exchange sends daily statistics again only when they
/// change, so until then only a snapshot restores them. A SecurityTradingEvent `ResetStatistics`
/// clears those of the session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct InstrumentStatistics {
    stored: [StoredStatistic; KINDS],
}

impl InstrumentStatistics {
    pub(crate) const UNKNOWN: Self = Self { stored: [StoredStatistic::NONE; KINDS] };

    /// Returns a statistic, if known.
    #[must_use]
    pub fn value(&self, kind: StatisticKind) -> Option<StatisticValue> {
        let value = self.stored.get(kind as usize)?.value();
        value.is_stated().then_some(value)
    }

    /// Returns the price of a statistic, if known and present.
    #[must_use]
    pub fn price(&self, kind: StatisticKind) -> Option<Price9> {
        self.value(kind)?.price
    }

    /// Returns the quantity of a statistic, if known and present.
    #[must_use]
    pub fn quantity(&self, kind: StatisticKind) -> Option<u64> {
        self.value(kind)?.quantity
    }

    /// Returns the session's electronic volume.
    #[must_use]
    pub fn volume(&self) -> Option<u64> {
        self.quantity(StatisticKind::Volume)
    }

    /// Returns the limits last sent or stated by a snapshot. A snapshot includes those of the
    /// definition.
    #[must_use]
    pub fn limits(&self) -> PriceLimits {
        PriceLimits {
            high: self.price(StatisticKind::HighLimit),
            low: self.price(StatisticKind::LowLimit),
            max_price_variation: self.price(StatisticKind::MaxPriceVariation),
        }
    }

    /// Iterates over all known statistics.
    pub fn iter(&self) -> impl Iterator<Item = (StatisticKind, StatisticValue)> + '_ {
        ALL.iter().filter_map(|kind| Some((*kind, self.value(*kind)?)))
    }

    /// Records a value stated by incremental packet `sequence`; `None` deletes it.
    #[inline]
    pub(crate) fn record(
        &mut self,
        sequence: u32,
        kind: StatisticKind,
        value: Option<&StatisticValue>,
    ) {
        let Some(stored) = self.stored.get_mut(kind as usize) else { return };
        if sequence < stored.since {
            return;
        }
        stored.since = sequence;
        match value {
            Some(value) => stored.set(value),
            None => stored.clear(),
        }
    }

    /// Records a volume stated by incremental packet `sequence`.
    #[inline]
    pub(crate) fn record_volume(&mut self, sequence: u32, quantity: u64) {
        let stored = &mut self.stored[StatisticKind::Volume as usize];
        if sequence >= stored.since {
            (stored.since, stored.quantity) = (sequence, quantity);
        }
    }

    /// Records a trade of incremental packet `sequence`.
    #[inline]
    pub(crate) fn record_trade(&mut self, sequence: u32, price: Price9, quantity: u64) {
        let stored = &mut self.stored[StatisticKind::LastTrade as usize];
        if sequence >= stored.since {
            (stored.since, stored.price, stored.quantity) = (sequence, price.0, quantity);
        }
    }

    /// Applies a value that a snapshot states as of packet `sequence`. Returns `true` if it differs
    /// from the stored one.
    pub(crate) fn restore(
        &mut self,
        sequence: u32,
        kind: StatisticKind,
        value: &StatisticValue,
    ) -> bool {
        let Some(stored) = self.stored.get_mut(kind as usize) else { return false };
        let since = sequence.saturating_add(1);
        if since <= stored.since || !value.is_stated() {
            return false;
        }
        stored.since = since;
        let is_news = stored.value() != *value;
        stored.set(value);
        is_news
    }

    /// Clears everything at incremental packet `sequence`.
    pub(crate) fn reset(&mut self, sequence: u32) {
        self.stored = [StoredStatistic { since: sequence, ..StoredStatistic::NONE }; KINDS];
    }

    /// Clears the session's statistics at incremental packet `sequence`.
    pub(crate) fn reset_session(&mut self, sequence: u32) {
        for stored in &mut self.stored[SESSION] {
            if sequence >= stored.since {
                *stored = StoredStatistic { since: sequence, ..StoredStatistic::NONE };
            }
        }
    }

    /// Restarts the packet numbering. Unless a ChannelReset explains the restart, the values may be
    /// from the previous week and are cleared.
    pub(crate) fn renumber(&mut self, keeps_values: bool) {
        if !keeps_values {
            self.reset(0);
        }
        self.stored.iter_mut().for_each(|stored| stored.since = 0);
    }
}

impl fmt::Debug for InstrumentStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use StatisticKind::*;

    fn price(price: i64) -> StatisticValue {
        StatisticValue::new(Some(Price9(price)), None)
    }

    #[test]
    fn stores_each_kind_by_number() {
        for (number, kind) in ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
            let mut statistics = InstrumentStatistics::UNKNOWN;
            statistics.record(1, kind, Some(&price(7)));
            assert!(statistics.iter().eq([(kind, price(7))]));
        }
    }

    #[test]
    fn does_not_store_unknown_kind() {
        let mut statistics = InstrumentStatistics::UNKNOWN;
        statistics.record(1, Unknown, Some(&price(7)));
        assert!(!statistics.restore(1, Unknown, &price(7)));
        assert_eq!((statistics.value(Unknown), statistics.iter().count()), (None, 0));
    }

    #[test]
    fn snapshot_replaces_values_up_to_its_packet() {
        let mut statistics = InstrumentStatistics::UNKNOWN;
        statistics.record(10, High, Some(&price(7)));
        assert!(!statistics.restore(9, High, &price(5)), "older");
        assert!(statistics.restore(10, High, &price(8)), "of the same packet");
        assert!(!statistics.restore(10, High, &price(8)), "the same again");
        assert!(!statistics.restore(12, High, &price(8)), "later but equal");
        assert_eq!(statistics.price(High), price(8).price);
    }

    #[test]
    fn ignores_values_contained_in_snapshot() {
        let mut statistics = InstrumentStatistics::UNKNOWN;
        assert!(statistics.restore(10, High, &price(8)));
        statistics.record(10, High, Some(&price(7)));
        assert_eq!(statistics.price(High), price(8).price);
        statistics.record(11, High, Some(&price(9)));
        assert_eq!(statistics.price(High), price(9).price);
        statistics.record(11, High, None);
        assert_eq!(statistics.value(High), None);
    }

    #[test]
    fn snapshot_keeps_unstated_kinds() {
        let mut statistics = InstrumentStatistics::UNKNOWN;
        statistics.record(10, Settlement, Some(&price(7)));
        assert!(!statistics.restore(11, Settlement, &StatisticValue::new(None, None)));
        assert_eq!(statistics.price(Settlement), price(7).price);
    }

    #[test]
    fn new_session_keeps_daily_values_and_limits() {
        let mut statistics = InstrumentStatistics::UNKNOWN;
        ALL.into_iter().for_each(|kind| statistics.record(3, kind, Some(&price(7))));
        statistics.record(9, Low, Some(&price(6)));
        statistics.reset_session(8);
        let left = [
            Low,
            LastTrade,
            Settlement,
            ClearedVolume,
            OpenInterest,
            FixingPrice,
            HighLimit,
            LowLimit,
            MaxPriceVariation,
        ];
        assert!(statistics.iter().map(|(kind, _)| kind).eq(left), "{statistics:?}");
    }

    #[test]
    fn reset_invalidates_older_snapshots() {
        let mut statistics = InstrumentStatistics::UNKNOWN;
        statistics.record(3, High, Some(&price(7)));
        statistics.reset(5);
        assert_eq!(statistics.iter().count(), 0);
        assert!(!statistics.restore(4, High, &price(7)));
        statistics.record(5, Low, Some(&price(6)));
        assert!(statistics.restore(5, High, &price(7)));
        statistics.renumber(true);
        statistics.record(1, High, Some(&price(8)));
        assert_eq!(
            (statistics.price(High), statistics.price(Low)),
            (price(8).price, price(6).price)
        );
        statistics.renumber(false);
        assert_eq!(statistics.iter().count(), 0);
    }
}
