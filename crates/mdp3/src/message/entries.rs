//! The entries of incremental messages of all templates.
//!
//! All carry the instrument's RptSeq, which counts books, trades, volume, statistics and limits
//! together.

use hairpin_cme_codecs::mdp3 as codec;
use hairpin_cme_codecs::mdp3::{AggressorSide, MDUpdateAction, OpenCloseSettlFlag};
use hairpin_sbe::DecodeError;
use hairpin_time::Utc;

use crate::instrument::statistics::{PriceLimits, StatisticValue};
use crate::{BookEntryUpdate, BookSide, InstrumentIndex, MatchEvent, Message, Packet, Price9};

/// The fields common to the root blocks of incremental messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Root {
    pub(crate) transact_time: Utc,
    pub(crate) match_event: MatchEvent,
}

impl Root {
    /// Returns `true` if the message ends the event.
    pub(crate) const fn ends_event(self) -> bool {
        self.match_event.is_end_of_event()
    }
}

/// An entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) security_id: i32,
    pub(crate) rpt_seq: u32,
    pub(crate) kind: EntryKind,
}

/// The contents of an entry.
#[derive(Debug, Clone, Copy)]
pub(crate) enum EntryKind {
    Book(BookEntry),
    Trade(TradeEntry),
    Volume { quantity: u64, action: MDUpdateAction },
    Statistic(StatisticEntry),
    Limits(LimitsEntry),
}

/// An entry of templates 46 and 64.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BookEntry {
    pub(crate) entry_type: u8,
    pub(crate) action: u8,
    pub(crate) level: u8,
    pub(crate) price: Option<Price9>,
    pub(crate) quantity: Option<u64>,
    pub(crate) orders: u32,
}

impl BookEntry {
    /// Returns the entry for the listener, given its instrument, SecurityID and RptSeq.
    #[inline(always)]
    pub(crate) fn to_update<'a>(
        self,
        packet: &'a Packet,
        root: Root,
        (instrument, security_id, rpt_seq): (InstrumentIndex, i32, u32),
    ) -> BookEntryUpdate<'a> {
        let implied = matches!(self.entry_type, b'E' | b'F');
        let is_bid = matches!(self.entry_type, b'0' | b'E');
        BookEntryUpdate {
            packet,
            transact_time: root.transact_time,
            match_event: root.match_event,
            instrument,
            security_id,
            rpt_seq,
            side: if is_bid { BookSide::Bid } else { BookSide::Ask },
            implied,
            action: MDUpdateAction(self.action),
            level: self.level,
            price: self.price,
            quantity: self.quantity,
            orders: if implied { 0 } else { self.orders },
        }
    }
}

/// An entry of templates 48 and 65.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TradeEntry {
    pub(crate) price: Price9,
    pub(crate) quantity: u64,
    pub(crate) orders: u32,
    pub(crate) aggressor: Option<AggressorSide>,
    pub(crate) action: MDUpdateAction,
    pub(crate) trade_entry_id: Option<u32>,
    pub(crate) position: TradePosition,
}

/// The position of a trade in its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TradePosition {
    /// `true` for template 65, `false` for 48.
    pub(crate) long: bool,
    /// The number of the trade, from 0.
    pub(crate) trade: u8,
}

/// An entry of templates 49, 51 and 67.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatisticEntry {
    pub(crate) value: StatisticValue,
    pub(crate) entry_type: u8,
    pub(crate) open_close_flag: Option<OpenCloseSettlFlag>,
    pub(crate) action: MDUpdateAction,
}

/// An entry of template 50: high limit, low limit and price variation, with `i64::MAX` for null so
/// that [`EntryKind`] does not grow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LimitsEntry([i64; 3]);

impl LimitsEntry {
    fn new(prices: [Option<Price9>; 3]) -> Self {
        Self(prices.map(|price| price.map_or(i64::MAX, |price| price.0)))
    }

    pub(crate) fn limits(self) -> PriceLimits {
        let price = |mantissa: i64| (mantissa != i64::MAX).then_some(Price9(mantissa));
        let [high, low, max_price_variation] = self.0.map(price);
        PriceLimits { high, low, max_price_variation }
    }
}

/// Decodes a message of one template and passes each entry to `$visitor`.
macro_rules! visit {
    ($message:ident, $visitor:ident, $type:ident, $module:ident, |$entry:ident| $kind:expr) => {
        visit!($message, $visitor, $type, $module, |$entry, _place| $kind)
    };
    (
        $message:ident, $visitor:ident, $type:ident, $module:ident,
        |$entry:ident, $position:ident| $kind:expr
    ) => {{
        let mut scratch = codec::$type::SCRATCH;
        let decoded = codec::$type::decode(&$message.header, $message.body, &mut scratch)?;
        let root = Root {
            transact_time: Utc::from_nanos(decoded.transact_time()),
            match_event: MatchEvent(decoded.match_event_indicator().0),
        };
        let mut entries = decoded.no_md_entries();
        let mut scratch = codec::$module::NoMDEntries::SCRATCH;
        let mut $position = 0u8;
        while let Some($entry) = entries.next(&mut scratch) {
            let (security_id, rpt_seq) = ($entry.security_id(), $entry.rpt_seq());
            $visitor.visit_entry(root, (security_id, rpt_seq), || $kind);
            $position = $position.wrapping_add(1);
        }
        Ok(Some(root))
    }};
}

/// Builds the `EntryKind` of an entry of templates 46 and 64.
macro_rules! book {
    ($entry:ident, $quantity:expr) => {
        EntryKind::Book(BookEntry {
            entry_type: $entry.md_entry_type().0,
            action: $entry.md_update_action().0,
            level: $entry.md_price_level(),
            price: $entry.md_entry_px(),
            quantity: $quantity,
            orders: $entry.number_of_orders().and_then(non_negative).unwrap_or(0) as u32,
        })
    };
}

/// Builds the `EntryKind` of an entry of templates 48 and 65.
macro_rules! trade {
    ($entry:ident, $position:ident, $long:literal, $quantity:expr) => {
        EntryKind::Trade(TradeEntry {
            price: $entry.md_entry_px(),
            quantity: $quantity,
            orders: order_count($entry.number_of_orders()),
            aggressor: $entry.aggressor_side(),
            action: $entry.md_update_action(),
            trade_entry_id: $entry.md_trade_entry_id().into(),
            position: TradePosition { long: $long, trade: $position },
        })
    };
}

/// Builds the `EntryKind` of an entry of templates 51 and 67.
macro_rules! session_statistic {
    ($entry:ident, $quantity:expr) => {
        EntryKind::Statistic(StatisticEntry {
            value: StatisticValue::new(Some($entry.md_entry_px()), $quantity),
            entry_type: $entry.md_entry_type().0,
            open_close_flag: $entry.open_close_settl_flag(),
            action: $entry.md_update_action(),
        })
    };
}

/// A visitor of the entries of a message. A trait rather than a closure, so that each template's
/// call is inlined; there the entry's kind is known and only its code remains. Arguments are passed
/// by value, so that entries stay in registers until a rare case needs them in memory. The contents
/// are decoded on demand.
pub(crate) trait EntryVisitor {
    /// Visits an entry, given its instrument's SecurityID and its RptSeq.
    fn visit_entry(&mut self, root: Root, ids: (i32, u32), kind: impl Fn() -> EntryKind);
}

/// Passes each entry of an incremental message to `visitor` with the root block. Returns the root
/// block, or `None` for a template without RptSeq entries.
#[inline]
pub(crate) fn visit_entries(
    message: Message<'_>,
    mut visitor: impl EntryVisitor,
) -> Result<Option<Root>, DecodeError> {
    match message.header.template_id {
        codec::MDIncrementalRefreshBook46::TEMPLATE_ID => {
            visit!(
                message,
                visitor,
                MDIncrementalRefreshBook46,
                md_incremental_refresh_book46,
                |entry| { book!(entry, entry.md_entry_size().and_then(non_negative)) }
            )
        }
        codec::MDIncrementalRefreshTradeSummary48::TEMPLATE_ID => visit!(
            message,
            visitor,
            MDIncrementalRefreshTradeSummary48,
            md_incremental_refresh_trade_summary48,
            |entry, position| trade!(
                entry,
                position,
                false,
                non_negative(entry.md_entry_size()).unwrap_or(0)
            )
        ),
        codec::MDIncrementalRefreshVolume37::TEMPLATE_ID => visit!(
            message,
            visitor,
            MDIncrementalRefreshVolume37,
            md_incremental_refresh_volume37,
            |entry| EntryKind::Volume {
                quantity: non_negative(entry.md_entry_size()).unwrap_or(0),
                action: entry.md_update_action(),
            }
        ),
        _ => visit_long_quantity_entries(message, visitor),
    }
}

/// Visits the entries of templates with 64-bit quantities.
fn visit_long_quantity_entries(
    message: Message<'_>,
    mut visitor: impl EntryVisitor,
) -> Result<Option<Root>, DecodeError> {
    match message.header.template_id {
        codec::MDIncrementalRefreshBookLongQty64::TEMPLATE_ID => visit!(
            message,
            visitor,
            MDIncrementalRefreshBookLongQty64,
            md_incremental_refresh_book_long_qty64,
            |entry| book!(entry, entry.md_entry_size())
        ),
        codec::MDIncrementalRefreshTradeSummaryLongQty65::TEMPLATE_ID => visit!(
            message,
            visitor,
            MDIncrementalRefreshTradeSummaryLongQty65,
            md_incremental_refresh_trade_summary_long_qty65,
            |entry, position| trade!(entry, position, true, entry.md_entry_size())
        ),
        codec::MDIncrementalRefreshVolumeLongQty66::TEMPLATE_ID => visit!(
            message,
            visitor,
            MDIncrementalRefreshVolumeLongQty66,
            md_incremental_refresh_volume_long_qty66,
            |entry| EntryKind::Volume {
                quantity: entry.md_entry_size(),
                action: entry.md_update_action(),
            }
        ),
        _ => visit_statistics(message, visitor),
    }
}

/// Visits the entries of statistics and limits.
fn visit_statistics(
    message: Message<'_>,
    mut visitor: impl EntryVisitor,
) -> Result<Option<Root>, DecodeError> {
    match message.header.template_id {
        codec::MDIncrementalRefreshDailyStatistics49::TEMPLATE_ID => visit!(
            message,
            visitor,
            MDIncrementalRefreshDailyStatistics49,
            md_incremental_refresh_daily_statistics49,
            |entry| EntryKind::Statistic(StatisticEntry {
                value: StatisticValue {
                    reference_date: entry.trading_reference_date(),
                    settlement_type: entry.settl_price_type(),
                    ..StatisticValue::new(
                        entry.md_entry_px(),
                        entry.md_entry_size().and_then(non_negative),
                    )
                },
                entry_type: entry.md_entry_type().0,
                open_close_flag: None,
                action: entry.md_update_action(),
            })
        ),
        codec::MDIncrementalRefreshLimitsBanding50::TEMPLATE_ID => visit!(
            message,
            visitor,
            MDIncrementalRefreshLimitsBanding50,
            md_incremental_refresh_limits_banding50,
            |entry| EntryKind::Limits(LimitsEntry::new([
                entry.high_limit_price(),
                entry.low_limit_price(),
                entry.max_price_variation(),
            ]))
        ),
        codec::MDIncrementalRefreshSessionStatistics51::TEMPLATE_ID => visit!(
            message,
            visitor,
            MDIncrementalRefreshSessionStatistics51,
            md_incremental_refresh_session_statistics51,
            |entry| session_statistic!(entry, entry.md_entry_size().and_then(non_negative))
        ),
        codec::MDIncrementalRefreshSessionStatisticsLongQty67::TEMPLATE_ID => visit!(
            message,
            visitor,
            MDIncrementalRefreshSessionStatisticsLongQty67,
            md_incremental_refresh_session_statistics_long_qty67,
            |entry| session_statistic!(entry, entry.md_entry_size())
        ),
        _ => Ok(None),
    }
}

/// Decodes only the root block of a message of one template.
macro_rules! root {
    ($message:ident, $type:ident) => {{
        let mut scratch = codec::$type::SCRATCH;
        let decoded = codec::$type::decode(&$message.header, $message.body, &mut scratch)?;
        Ok(Some(Root {
            transact_time: Utc::from_nanos(decoded.transact_time()),
            match_event: MatchEvent(decoded.match_event_indicator().0),
        }))
    }};
}

/// Returns the root block of templates that may end an event but have no RptSeq entries. Returns
/// `None` for a template without MatchEventIndicator, or one that schema version 13 does not
/// define.
pub(crate) fn decode_root(message: &Message<'_>) -> Result<Option<Root>, DecodeError> {
    match message.header.template_id {
        codec::ChannelReset4::TEMPLATE_ID => root!(message, ChannelReset4),
        codec::MDIncrementalRefreshOrderBook47::TEMPLATE_ID => {
            root!(message, MDIncrementalRefreshOrderBook47)
        }
        codec::SnapshotRefreshTopOrders59::TEMPLATE_ID => {
            root!(message, SnapshotRefreshTopOrders59)
        }
        _ => Ok(None),
    }
}

/// Returns TransactTime (60) of a message whose root block begins with it.
#[inline]
pub(crate) fn transact_time(message: &Message<'_>) -> Option<Utc> {
    Some(Utc::from_nanos(u64::from_le_bytes(*message.body.first_chunk()?)))
}

/// Returns a quantity unless it is negative.
pub(crate) fn non_negative(quantity: i32) -> Option<u64> {
    u64::try_from(quantity).ok()
}

/// Returns a number of orders; a negative one is invalid and counts as 0.
pub(crate) fn order_count(orders: i32) -> u32 {
    u32::try_from(orders).unwrap_or(0)
}
