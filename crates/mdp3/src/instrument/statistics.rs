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

    /// Removes the value. A settlement keeps its date and kind.
    fn clear(&mut self) {
        (self.price, self.quantity) = (Self::NONE.price, Self::NONE.quantity);
    }

    const fn is_stated(&self) -> bool {
        self.price != i64::MAX || self.quantity != u64::MAX
    }

    /// Returns the trade date, and the bits final, rounded and intraday, of a settlement.
    fn settlement_key(&self) -> (u16, u8) {
        let is_null = self.settlement_type & SettlPriceType::NULL_VALUE.0 != 0;
        let keys = SettlPriceType::FINAL_DAILY | SettlPriceType::ROUNDED | SettlPriceType::INTRADAY;
        (self.reference_date, if is_null { 0 } else { self.settlement_type & keys.0 })
    }

    /// Returns the rank of a settlement's date; one without a date is the oldest.
    const fn date_rank(&self) -> u16 {
        self.reference_date.wrapping_add(1)
    }

    /// Returns the rank of a settlement: the latest date, final, last received.
    fn rank(&self) -> (u16, bool, u32) {
        let (_, kind) = self.settlement_key();
        (self.date_rank(), kind & SettlPriceType::FINAL_DAILY.0 != 0, self.since)
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

/// The number of settlements stored per instrument: all kinds of one trade date.
const SETTLEMENTS: usize = 8;

/// The stored statistics of an instrument, 648 bytes.
///
/// Settlements are stored by trade date (5796) and by the bits final, rounded and intraday of
/// SettlPriceType (731), so that a rounded price does not replace the one in clearing ticks. The
/// oldest is replaced if there are more than eight.
///
/// A ChannelReset clears all of them. The exchange sends daily statistics again only when they
/// change, so until then only a snapshot restores them. A SecurityTradingEvent `ResetStatistics`
/// clears those of the session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct InstrumentStatistics {
    /// By kind. The settlement has only its `since`: that of the last reset.
    stored: [StoredStatistic; KINDS],
    settlements: [StoredStatistic; SETTLEMENTS],
}

impl InstrumentStatistics {
    pub(crate) const UNKNOWN: Self = Self {
        stored: [StoredStatistic::NONE; KINDS],
        settlements: [StoredStatistic::NONE; SETTLEMENTS],
    };

    /// Returns a statistic, if known. For settlements, the one of the latest trade date; a final
    /// one before a preliminary one, then the last received.
    #[must_use]
    pub fn value(&self, kind: StatisticKind) -> Option<StatisticValue> {
        if kind == StatisticKind::Settlement {
            let stated = self.settlements.iter().filter(|stored| stored.is_stated());
            return stated.max_by_key(|stored| stored.rank()).map(StoredStatistic::value);
        }
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

    /// Iterates over the stored settlements of all trade dates and kinds, in no particular order.
    pub fn settlements(&self) -> impl Iterator<Item = StatisticValue> + '_ {
        let stated = self.settlements.iter().filter(|stored| stored.is_stated());
        stated.map(StoredStatistic::value)
    }

    /// Iterates over all known statistics; of the settlements, over the one of [`Self::value`].
    pub fn iter(&self) -> impl Iterator<Item = (StatisticKind, StatisticValue)> + '_ {
        ALL.iter().filter_map(|kind| Some((*kind, self.value(*kind)?)))
    }

    /// Returns the place of a value, `None` if it is not stored.
    fn slot(
        &mut self,
        kind: StatisticKind,
        value: &StatisticValue,
    ) -> Option<&mut StoredStatistic> {
        if kind != StatisticKind::Settlement {
            return self.stored.get_mut(kind as usize);
        }
        let reset = self.stored[StatisticKind::Settlement as usize].since;
        let mut wanted = StoredStatistic { since: reset, ..StoredStatistic::NONE };
        (wanted.reference_date, wanted.settlement_type) =
            (value.reference_date.unwrap_or(u16::MAX), value.settlement_type.0);
        let key = wanted.settlement_key();
        let known = self.settlements.iter().position(|stored| stored.settlement_key() == key);
        let place = known.or_else(|| {
            // The lowest has no value, or else the earliest date.
            let oldest = |place: &usize| {
                (self.settlements[*place].is_stated(), self.settlements[*place].rank())
            };
            let lowest = (0..SETTLEMENTS).min_by_key(oldest)?;
            let stored = &mut self.settlements[lowest];
            if stored.is_stated() && stored.date_rank() > wanted.date_rank() {
                return None;
            }
            *stored = wanted;
            Some(lowest)
        })?;
        self.settlements.get_mut(place)
    }

    /// Records a value stated by incremental packet `sequence`, or its deletion.
    #[inline]
    pub(crate) fn record(
        &mut self,
        sequence: u32,
        kind: StatisticKind,
        value: &StatisticValue,
        exists: bool,
    ) {
        let Some(stored) = self.slot(kind, value) else { return };
        if sequence < stored.since {
            return;
        }
        stored.since = sequence;
        if exists {
            stored.set(value);
        } else {
            stored.clear();
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
        let Some(stored) = self.slot(kind, value) else { return false };
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
        let cleared = StoredStatistic { since: sequence, ..StoredStatistic::NONE };
        (self.stored, self.settlements) = ([cleared; KINDS], [cleared; SETTLEMENTS]);
    }

    /// Clears the session's statistics at incremental packet `sequence`.
    pub(crate) fn reset_session(&mut self, sequence: u32) {
        for kind in SESSION {
            let stored = &mut self.stored[kind as usize];
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
        let all = self.stored.iter_mut().chain(&mut self.settlements);
        all.for_each(|stored| stored.since = 0);
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
    use alloc::vec::Vec;

    fn price(price: i64) -> StatisticValue {
        StatisticValue::new(Some(Price9(price)), None)
    }

    #[test]
    fn stores_each_kind_by_number() {
        for (number, kind) in ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
            let mut statistics = InstrumentStatistics::UNKNOWN;
            statistics.record(1, kind, &price(7), true);
            assert!(statistics.iter().eq([(kind, price(7))]));
        }
    }

    #[test]
    fn does_not_store_unknown_kind() {
        let mut statistics = InstrumentStatistics::UNKNOWN;
        statistics.record(1, Unknown, &price(7), true);
        assert!(!statistics.restore(1, Unknown, &price(7)));
        assert_eq!((statistics.value(Unknown), statistics.iter().count()), (None, 0));
    }

    #[test]
    fn snapshot_replaces_values_up_to_its_packet() {
        let mut statistics = InstrumentStatistics::UNKNOWN;
        statistics.record(10, High, &price(7), true);
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
        statistics.record(10, High, &price(7), true);
        assert_eq!(statistics.price(High), price(8).price);
        statistics.record(11, High, &price(9), true);
        assert_eq!(statistics.price(High), price(9).price);
        statistics.record(11, High, &price(9), false);
        assert_eq!(statistics.value(High), None);
    }

    #[test]
    fn snapshot_keeps_unstated_kinds() {
        let mut statistics = InstrumentStatistics::UNKNOWN;
        statistics.record(10, Settlement, &price(7), true);
        assert!(!statistics.restore(11, Settlement, &StatisticValue::new(None, None)));
        assert_eq!(statistics.price(Settlement), price(7).price);
    }

    #[test]
    fn statistics_reset_keeps_averages_daily_values_and_limits() {
        let mut statistics = InstrumentStatistics::UNKNOWN;
        ALL.into_iter().for_each(|kind| statistics.record(3, kind, &price(7), true));
        statistics.record(9, Low, &price(6), true);
        statistics.reset_session(8);
        let left = [
            Low,
            Vwap,
            RepoAverage830,
            RepoAverage10,
            PreviousRepoAverage10,
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

    fn settlement(date: u16, bits: u8, at: i64) -> StatisticValue {
        let settlement_type = SettlPriceType(bits);
        StatisticValue { reference_date: Some(date), settlement_type, ..price(at) }
    }

    fn settlements(statistics: &InstrumentStatistics) -> Vec<(u16, u8, i64)> {
        let mut all: Vec<_> = statistics
            .settlements()
            .map(|value| {
                let date = value.reference_date.unwrap();
                (date, value.settlement_type.0, value.price.unwrap().0)
            })
            .collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn settlements_are_stored_by_date_and_kind() {
        let mut statistics = InstrumentStatistics::UNKNOWN;
        let mut sequence = 0;
        let mut record = |statistics: &mut InstrumentStatistics, value: StatisticValue| {
            sequence += 1;
            statistics.record(sequence, Settlement, &value, true);
            statistics.price(Settlement).unwrap().0
        };
        // Final in clearing ticks, then rounded to the trading tick.
        assert_eq!(record(&mut statistics, settlement(5, 3, 50)), 50);
        assert_eq!(record(&mut statistics, settlement(5, 7, 51)), 51);
        assert_eq!(settlements(&statistics), [(5, 3, 50), (5, 7, 51)]);
        // A preliminary one after the final one of the same date does not replace it.
        assert_eq!(record(&mut statistics, settlement(5, 6, 52)), 51);
        // A corrected one does. Actual and theoretical are not separate kinds.
        assert_eq!(record(&mut statistics, settlement(5, 5, 53)), 53);
        assert_eq!(settlements(&statistics), [(5, 3, 50), (5, 5, 53), (5, 6, 52)]);
        // The next date comes first, even preliminary; a late one of an earlier date does not.
        assert_eq!(record(&mut statistics, settlement(6, 2, 60)), 60);
        assert_eq!(record(&mut statistics, settlement(5, 3, 54)), 60);
        statistics.record(99, Settlement, &settlement(6, 2, 60), false);
        assert_eq!(statistics.price(Settlement), price(54).price, "the other was deleted");
    }

    #[test]
    fn replaces_oldest_of_many_settlements() {
        let mut statistics = InstrumentStatistics::UNKNOWN;
        for date in 1..=20 {
            statistics.record(u32::from(date), Settlement, &settlement(date, 3, 7), true);
        }
        assert!(settlements(&statistics).iter().map(|(date, ..)| *date).eq(13..=20));
        statistics.record(99, Settlement, &settlement(2, 3, 7), true);
        assert!(settlements(&statistics).iter().map(|(date, ..)| *date).eq(13..=20));
        statistics.reset(100);
        assert!(!statistics.restore(99, Settlement, &settlement(20, 3, 7)), "before the reset");
        assert!(statistics.restore(100, Settlement, &settlement(20, 3, 7)));
    }

    #[test]
    fn reset_invalidates_older_snapshots() {
        let mut statistics = InstrumentStatistics::UNKNOWN;
        statistics.record(3, High, &price(7), true);
        statistics.reset(5);
        assert_eq!(statistics.iter().count(), 0);
        assert!(!statistics.restore(4, High, &price(7)));
        statistics.record(5, Low, &price(6), true);
        assert!(statistics.restore(5, High, &price(7)));
        statistics.renumber(true);
        statistics.record(1, High, &price(8), true);
        assert_eq!(
            (statistics.price(High), statistics.price(Low)),
            (price(8).price, price(6).price)
        );
        statistics.renumber(false);
        assert_eq!(statistics.iter().count(), 0);
    }
}
