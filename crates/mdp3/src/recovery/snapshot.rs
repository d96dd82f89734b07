//! Snapshots of an instrument's price books and statistics (templates 52 and 69).

use hairpin_cme_codecs::mdp3 as codec;
use hairpin_cme_codecs::mdp3::{OpenCloseSettlFlag, SecurityTradingStatus, SettlPriceType};
use hairpin_sbe::DecodeError;
use hairpin_time::Utc;

use crate::book::apply_entry::EntryTarget;
use crate::book::levels::{Level, MAX_DEPTH, MAX_IMPLIED_DEPTH};
use crate::instrument::statistics::{PriceLimits, StatisticValue};
use crate::message::entries::{non_negative, order_count};
use crate::{MarketBest, MarketPrice, Message, StatisticKind};

/// The contents of a snapshot.
pub(crate) struct Snapshot {
    /// LastMsgSeqNumProcessed (369): the last incremental packet contained in the book.
    pub(crate) last_sequence: u32,
    /// TotNumReports (911): the number of instruments in the pass.
    pub(crate) total: u32,
    pub(crate) security_id: i32,
    pub(crate) rpt_seq: u32,
    pub(crate) transact_time: Utc,
    /// MDSecurityTradingStatus (1682).
    pub(crate) trading_status: Option<SecurityTradingStatus>,
    /// HighLimitPrice (1149), LowLimitPrice (1148), MaxPriceVariation (1143).
    pub(crate) limits: PriceLimits,
    statistics: SnapshotStatistics,
    bids: SnapshotSide<MAX_DEPTH>,
    asks: SnapshotSide<MAX_DEPTH>,
    implied_bids: SnapshotSide<MAX_IMPLIED_DEPTH>,
    implied_asks: SnapshotSide<MAX_IMPLIED_DEPTH>,
    market_best: MarketBest,
}

/// The levels of both books of an instrument, best first.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Books<'a> {
    pub(crate) bids: &'a [Level],
    pub(crate) asks: &'a [Level],
    pub(crate) implied_bids: &'a [Level],
    pub(crate) implied_asks: &'a [Level],
    pub(crate) market_best: MarketBest,
}

impl Snapshot {
    /// Returns the books if their levels have no gaps.
    pub(crate) fn books(&self) -> Option<Books<'_>> {
        Some(Books {
            bids: self.bids.levels()?,
            asks: self.asks.levels()?,
            implied_bids: self.implied_bids.levels()?,
            implied_asks: self.implied_asks.levels()?,
            market_best: self.market_best,
        })
    }

    /// Returns the statistics, in message order.
    pub(crate) fn statistics(&self) -> &[SnapshotStatistic] {
        &self.statistics.stated[..self.statistics.count]
    }

    fn record(&mut self, entry_type: u8, level: u8, stated: Level) {
        match entry_type {
            b'0' => self.bids.record(level, stated),
            b'1' => self.asks.record(level, stated),
            b'E' => self.implied_bids.record(level, stated),
            b'F' => self.implied_asks.record(level, stated),
            _ => {}
        }
    }
}

/// A statistic in a snapshot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SnapshotStatistic {
    pub(crate) kind: StatisticKind,
    pub(crate) value: StatisticValue,
    pub(crate) entry_type: u8,
    pub(crate) open_close_flag: Option<OpenCloseSettlFlag>,
}

/// The decoded statistics of a snapshot, with room for more than the stored kinds.
struct SnapshotStatistics {
    stated: [SnapshotStatistic; 24],
    count: usize,
}

impl SnapshotStatistics {
    const EMPTY: Self = Self {
        stated: [SnapshotStatistic {
            kind: StatisticKind::Unknown,
            value: StatisticValue::new(None, None),
            entry_type: 0,
            open_close_flag: None,
        }; 24],
        count: 0,
    };

    /// Records an entry if it is a statistic and there is room.
    fn record(&mut self, entry_type: u8, flag: Option<OpenCloseSettlFlag>, value: StatisticValue) {
        let Some(kind) = StatisticKind::from_entry(entry_type, flag) else { return };
        if let Some(slot) = self.stated.get_mut(self.count) {
            *slot = SnapshotStatistic { kind, value, entry_type, open_close_flag: flag };
            self.count += 1;
        }
    }
}

/// The decoded levels of one side.
struct SnapshotSide<const N: usize> {
    levels: [Level; N],
    /// The stated levels, one bit each.
    stated: u16,
}

impl<const N: usize> SnapshotSide<N> {
    const EMPTY: Self = Self { levels: [Level::NONE; N], stated: 0 };

    /// Records a level, numbered from 1. Levels below the deepest book are dropped.
    fn record(&mut self, level: u8, stated: Level) {
        let Some(index) = level.checked_sub(1) else { return };
        if let Some(slot) = self.levels.get_mut(usize::from(index)) {
            *slot = stated;
            self.stated |= 1 << index;
        }
    }

    /// Returns the levels if they have no gaps.
    fn levels(&self) -> Option<&[Level]> {
        let count = self.stated.trailing_ones();
        (self.stated >> count == 0).then(|| &self.levels[..count as usize])
    }
}

/// Decodes a snapshot of one template. The two templates differ in the types of quantity and level,
/// and in the fields of a settlement.
macro_rules! snapshot {
    (
        $message:ident, $type:ident, $module:ident,
        |$entry:ident| $level:expr, $quantity:expr, $settlement:expr
    ) => {{
        let mut scratch = codec::$type::SCRATCH;
        let decoded = codec::$type::decode(&$message.header, $message.body, &mut scratch)?;
        let mut snapshot = Snapshot {
            last_sequence: decoded.last_msg_seq_num_processed(),
            total: decoded.tot_num_reports(),
            security_id: decoded.security_id(),
            rpt_seq: decoded.rpt_seq(),
            transact_time: Utc::from_nanos(decoded.transact_time()),
            trading_status: decoded.md_security_trading_status(),
            limits: PriceLimits {
                high: decoded.high_limit_price(),
                low: decoded.low_limit_price(),
                max_price_variation: decoded.max_price_variation(),
            },
            statistics: SnapshotStatistics::EMPTY,
            bids: SnapshotSide::EMPTY,
            asks: SnapshotSide::EMPTY,
            implied_bids: SnapshotSide::EMPTY,
            implied_asks: SnapshotSide::EMPTY,
            market_best: MarketBest::default(),
        };
        let mut entries = decoded.no_md_entries();
        let mut scratch = codec::$module::NoMDEntries::SCRATCH;
        while let Some($entry) = entries.next(&mut scratch) {
            if let (Some(level), Some(price), Some(quantity)) =
                ($level, $entry.md_entry_px(), $quantity)
            {
                let orders = order_count($entry.number_of_orders().unwrap_or(0));
                snapshot.record($entry.md_entry_type().0, level, Level { price, quantity, orders });
            }
            let entry_type = $entry.md_entry_type().0;
            if let EntryTarget::MarketBest(side) = EntryTarget::from_entry_type(entry_type) {
                let price = $entry.md_entry_px();
                *snapshot.market_best.side_mut(side) =
                    price.map(|price| MarketPrice { price, quantity: $quantity });
            }
            let (reference_date, settlement_type) = $settlement;
            let value = StatisticValue::new($entry.md_entry_px(), $quantity);
            let value = StatisticValue { reference_date, settlement_type, ..value };
            let flag = $entry.open_close_settl_flag();
            snapshot.statistics.record($entry.md_entry_type().0, flag, value);
        }
        Ok(Some(snapshot))
    }};
}

/// Decodes a snapshot of price books; `None` for another template.
pub(crate) fn decode(message: &Message<'_>) -> Result<Option<Snapshot>, DecodeError> {
    match message.header.template_id {
        codec::SnapshotFullRefresh52::TEMPLATE_ID => snapshot!(
            message,
            SnapshotFullRefresh52,
            snapshot_full_refresh52,
            |entry| entry.md_price_level().and_then(|level| u8::try_from(level).ok()),
            entry.md_entry_size().and_then(non_negative),
            (entry.trading_reference_date(), entry.settl_price_type())
        ),
        codec::SnapshotFullRefreshLongQty69::TEMPLATE_ID => snapshot!(
            message,
            SnapshotFullRefreshLongQty69,
            snapshot_full_refresh_long_qty69,
            |entry| entry.md_price_level(),
            entry.md_entry_size(),
            (None, SettlPriceType::NULL_VALUE)
        ),
        _ => Ok(None),
    }
}
