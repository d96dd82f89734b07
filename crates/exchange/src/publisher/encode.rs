//! Encoding of the messages of an event.

use hairpin_cme_codecs::mdp3::{
    AggressorSide, MDEntryTypeBook, MDEntryTypeStatistics, MDIncrementalRefreshBook46,
    MDIncrementalRefreshBookLongQty64, MDIncrementalRefreshOrderBook47,
    MDIncrementalRefreshSessionStatistics51, MDIncrementalRefreshSessionStatisticsLongQty67,
    MDIncrementalRefreshTradeSummary48, MDIncrementalRefreshTradeSummaryLongQty65,
    MDIncrementalRefreshVolume37, MDIncrementalRefreshVolumeLongQty66, MDUpdateAction,
    MatchEventIndicator, OpenCloseSettlFlag, OrderUpdateAction, SnapshotRefreshTopOrders59,
};
use hairpin_sbe::EncodeError;
use hairpin_time::Utc;

use super::Channel;
use super::ladder::Action;
use super::queue::{
    BookEntry, BookKind, Change, OrderEntry, StatisticEntry, TopEntry, TradeEntry, TradeOrder,
    VolumeEntry,
};
use super::statistics::SessionStatistic;
use crate::matching::Side;

type Encoded = Result<usize, EncodeError>;

/// The root block fields that most messages have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heading {
    /// TransactTime (tag 60).
    pub(super) transact_time: Utc,
    /// MatchEventIndicator (tag 5799).
    pub(super) indicator: MatchEventIndicator,
}

/// Writes a [`Heading`] into a root block.
macro_rules! set_heading {
    ($root:expr, $heading:expr) => {
        $root
            .set_transact_time($heading.transact_time.as_nanos())
            .set_match_event_indicator($heading.indicator)
    };
}

/// Order entries attached to book entries. The first book entry has index `first`.
#[derive(Clone, Copy)]
pub(super) struct AttachedOrders<'a> {
    pub(super) first: usize,
    pub(super) orders: &'a [(usize, OrderEntry)],
}

macro_rules! encode_trades {
    ($buffer:expr, $heading:expr, $trades:expr, $orders:expr, $message:ident, $size:expr) => {{
        let (mut root, mut groups) = $message::encode($buffer)?;
        set_heading!(root, $heading);
        let mut entries = groups.no_md_entries()?;
        for trade in $trades {
            entries
                .push()?
                .set_md_entry_px(trade.price)
                .set_md_entry_size($size(trade.quantity))
                .set_security_id(trade.security_id)
                .set_rpt_seq(trade.rpt_seq)
                .set_number_of_orders(size(trade.orders as u32))
                .set_aggressor_side(aggressor(trade.aggressor))
                .set_md_update_action(MDUpdateAction::NEW)
                .set_md_trade_entry_id(trade.id);
        }
        let mut entries = groups.no_order_id_entries()?;
        for trade in $trades {
            for order in &$orders[trade.first_order..][..trade.orders] {
                entries.push()?.set_order_id(order.order.0).set_last_qty(size(order.quantity));
            }
        }
        groups.finish()
    }};
}

/// Encodes template 48 or 65.
pub(super) fn trades(
    buffer: &mut [u8],
    heading: Heading,
    channel: &Channel,
    trades: &[TradeEntry],
    orders: &[TradeOrder],
) -> Encoded {
    if channel.long_quantities {
        use MDIncrementalRefreshTradeSummaryLongQty65 as Message;
        encode_trades!(buffer, heading, trades, orders, Message, u64::from)
    } else {
        use MDIncrementalRefreshTradeSummary48 as Message;
        encode_trades!(buffer, heading, trades, orders, Message, size)
    }
}

macro_rules! encode_volumes {
    ($buffer:expr, $heading:expr, $volumes:expr, $message:ident, $size:expr) => {{
        let (mut root, mut groups) = $message::encode($buffer)?;
        set_heading!(root, $heading);
        let mut entries = groups.no_md_entries()?;
        for volume in $volumes {
            entries
                .push()?
                .set_md_entry_size($size(volume.volume))
                .set_security_id(volume.security_id)
                .set_rpt_seq(volume.rpt_seq)
                .set_md_update_action(MDUpdateAction::NEW);
        }
        groups.finish()
    }};
}

/// Encodes template 37 or 66.
pub(super) fn volumes(
    buffer: &mut [u8],
    heading: Heading,
    channel: &Channel,
    volumes: &[VolumeEntry],
) -> Encoded {
    if channel.long_quantities {
        use MDIncrementalRefreshVolumeLongQty66 as Message;
        encode_volumes!(buffer, heading, volumes, Message, u64::from)
    } else {
        use MDIncrementalRefreshVolume37 as Message;
        encode_volumes!(buffer, heading, volumes, Message, volume_size)
    }
}

/// Encodes template 47.
pub(super) fn orders(buffer: &mut [u8], heading: Heading, orders: &[OrderEntry]) -> Encoded {
    let (mut root, mut groups) = MDIncrementalRefreshOrderBook47::encode(buffer)?;
    set_heading!(root, heading);
    let mut entries = groups.no_md_entries()?;
    for &OrderEntry { security_id, action, order } in orders {
        entries
            .push()?
            .set_order_id(order.id.0)
            .set_md_order_priority(order.priority)
            .set_md_entry_px(order.price)
            .set_md_display_qty(size(order.quantity))
            .set_security_id(security_id)
            .set_md_update_action(update_action(action))
            .set_md_entry_type(side_type(order.side));
    }
    groups.finish()
}

/// Encodes template 59.
pub(super) fn top_orders(buffer: &mut [u8], heading: Heading, top: &TopEntry) -> Encoded {
    let (mut root, mut groups) = SnapshotRefreshTopOrders59::encode(buffer)?;
    set_heading!(root, heading).set_security_id(top.security_id);
    let mut entries = groups.no_md_entries()?;
    for order in top.orders.interleaved() {
        entries
            .push()?
            .set_order_id(order.id.0)
            .set_md_order_priority(order.priority)
            .set_md_entry_px(order.price)
            .set_md_display_qty(size(order.quantity))
            .set_md_entry_type(side_type(order.side));
    }
    groups.finish()
}

macro_rules! encode_book {
    ($buffer:expr, $heading:expr, $kind:expr, $book:expr, $attached:expr,
     $message:ident, $size:expr) => {{
        let (mut root, mut groups) = $message::encode($buffer)?;
        set_heading!(root, $heading);
        let mut entries = groups.no_md_entries()?;
        for entry in $book {
            let mut next = entries.push()?;
            next.set_security_id(entry.security_id).set_rpt_seq(entry.rpt_seq);
            match entry.change {
                Change::Level { side, action, number, level } => next
                    .set_md_entry_px(level.price)
                    .set_md_entry_size($size(level.quantity))
                    .set_number_of_orders(($kind == BookKind::Direct).then(|| size(level.orders)))
                    .set_md_price_level(number)
                    .set_md_update_action(update_action(action))
                    .set_md_entry_type(ENTRY_TYPES[$kind as usize][side.index()]),
                // A reset has neither price nor size; level 0 means no level.
                Change::Reset => next
                    .set_md_price_level(0)
                    .set_md_update_action(MDUpdateAction::NEW)
                    .set_md_entry_type(MDEntryTypeBook::BOOK_RESET),
            };
        }
        if !$attached.orders.is_empty() {
            let mut entries = groups.no_order_id_entries()?;
            for &(entry, OrderEntry { action, order, .. }) in $attached.orders {
                entries
                    .push()?
                    .set_order_id(order.id.0)
                    .set_md_order_priority(order.priority)
                    .set_md_display_qty(size(order.quantity))
                    // Fewer than 255 entries fit in a packet.
                    .set_reference_id((entry - $attached.first + 1) as u8)
                    .set_order_update_action(order_action(action));
            }
        }
        groups.finish()
    }};
}

/// Encodes template 46 or 64.
pub(super) fn book(
    buffer: &mut [u8],
    heading: Heading,
    channel: &Channel,
    kind: BookKind,
    book: &[BookEntry],
    attached: AttachedOrders<'_>,
) -> Encoded {
    if channel.long_quantities {
        use MDIncrementalRefreshBookLongQty64 as Message;
        encode_book!(buffer, heading, kind, book, attached, Message, u64::from)
    } else {
        use MDIncrementalRefreshBook46 as Message;
        encode_book!(buffer, heading, kind, book, attached, Message, size)
    }
}

macro_rules! encode_statistics {
    ($buffer:expr, $heading:expr, $entries:expr, $message:ident) => {{
        let (mut root, mut groups) = $message::encode($buffer)?;
        set_heading!(root, $heading);
        let mut entries = groups.no_md_entries()?;
        for &StatisticEntry { security_id, statistic, rpt_seq } in $entries {
            let (entry_type, flag) = statistic_type(statistic);
            entries
                .push()?
                .set_md_entry_px(statistic.price())
                .set_security_id(security_id)
                .set_rpt_seq(rpt_seq)
                .set_open_close_settl_flag(flag)
                .set_md_update_action(MDUpdateAction::NEW)
                .set_md_entry_type(entry_type);
        }
        groups.finish()
    }};
}

/// Encodes template 51 or 67.
pub(super) fn statistics(
    buffer: &mut [u8],
    heading: Heading,
    channel: &Channel,
    statistics: &[StatisticEntry],
) -> Encoded {
    if channel.long_quantities {
        use MDIncrementalRefreshSessionStatisticsLongQty67 as Message;
        encode_statistics!(buffer, heading, statistics, Message)
    } else {
        use MDIncrementalRefreshSessionStatistics51 as Message;
        encode_statistics!(buffer, heading, statistics, Message)
    }
}

/// The entry types by [`BookKind`] and side.
const ENTRY_TYPES: [[MDEntryTypeBook; 2]; 2] = [
    [MDEntryTypeBook::BID, MDEntryTypeBook::OFFER],
    [MDEntryTypeBook::IMPLIED_BID, MDEntryTypeBook::IMPLIED_OFFER],
];

/// Returns the entry type of an order.
pub(super) const fn side_type(side: Side) -> MDEntryTypeBook {
    ENTRY_TYPES[BookKind::Direct as usize][side.index()]
}

fn statistic_type(
    statistic: SessionStatistic,
) -> (MDEntryTypeStatistics, Option<OpenCloseSettlFlag>) {
    match statistic {
        SessionStatistic::Open(_) => {
            (MDEntryTypeStatistics::OPEN_PRICE, Some(OpenCloseSettlFlag::DAILY_OPEN_PRICE))
        }
        SessionStatistic::High(_) => (MDEntryTypeStatistics::HIGH_TRADE, None),
        SessionStatistic::Low(_) => (MDEntryTypeStatistics::LOW_TRADE, None),
        SessionStatistic::HighestBid(_) => (MDEntryTypeStatistics::HIGHEST_BID, None),
        SessionStatistic::LowestOffer(_) => (MDEntryTypeStatistics::LOWEST_OFFER, None),
    }
}

fn aggressor(side: Side) -> AggressorSide {
    match side {
        Side::Bid => AggressorSide::BUY,
        Side::Offer => AggressorSide::SELL,
    }
}

fn update_action(action: Action) -> MDUpdateAction {
    match action {
        Action::New => MDUpdateAction::NEW,
        Action::Change => MDUpdateAction::CHANGE,
        Action::Delete => MDUpdateAction::DELETE,
    }
}

fn order_action(action: Action) -> OrderUpdateAction {
    match action {
        Action::New => OrderUpdateAction::NEW,
        Action::Change => OrderUpdateAction::UPDATE,
        Action::Delete => OrderUpdateAction::DELETE,
    }
}

/// Converts a quantity or a number of orders. Neither reaches the null value of an i32, see
/// [`crate::NewOrder::MAX_QUANTITY`].
pub(super) fn size(quantity: u32) -> i32 {
    i32::try_from(quantity).unwrap_or(i32::MAX - 1)
}

/// Converts a volume, which saturates at the largest value.
pub(super) fn volume_size(volume: u64) -> i32 {
    i32::try_from(volume).unwrap_or(i32::MAX - 1).min(i32::MAX - 1)
}
