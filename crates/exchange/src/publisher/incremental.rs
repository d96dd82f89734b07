//! Events as messages: trades (48), volume (37), book (46) and implied book (46), in this order;
//! or a status (30) or a reset of the channel (4), each alone in its event.
//!
//! Lengths, MsgSize included (schema 1 version 13):
//!
//! ```text
//!  4:  10 + 9 + 3 + 2
//! 30:  10 + 30
//! 48:  10 + 11 + 3 + 32 × trades + 8 + 16 × orders
//! 37:  10 + 11 + 3 + 16 × entries
//! 46:  10 + 11 + 3 + 32 × entries + 8
//! ```

use hairpin_cme_codecs::mdp3::{
    AggressorSide, ChannelReset4, MDEntryTypeBook, MDIncrementalRefreshBook46,
    MDIncrementalRefreshTradeSummary48, MDIncrementalRefreshVolume37, MDUpdateAction,
    MatchEventIndicator,
};
use hairpin_sbe::EncodeError;
use hairpin_time::Utc;

use super::Channel;
use super::ladder::Action;
use super::packet::Packet;
use super::queue::{
    BookEntry, BookKind, Change, Content, Ending, Event, Queue, TradeEntry, TradeOrder, VolumeEntry,
};
use super::status::{self, TradingStatus};
use crate::matching::Side;

/// MsgSize, SBE header, root block and the dimension of the first group.
const FIXED: usize = 2 + 8 + 11 + 3;
/// The dimension of NoOrderIDEntries.
const ORDERS_DIMENSION: usize = 8;
const TRADE: usize = 32;
const TRADE_ORDER: usize = 16;
const VOLUME: usize = 16;
const BOOK: usize = 32;
const EMPTY_BOOK: usize = FIXED + ORDERS_DIMENSION;
/// A whole ChannelReset.
const RESET: usize = 2 + 8 + 9 + 3 + 2;

const PROOF: &str = "the room for it was counted before";

/// Bits of tag 5799.
const LAST_TRADE: u8 = 0x01;
const LAST_VOLUME: u8 = 0x02;
const LAST_QUOTE: u8 = 0x04;
const LAST_IMPLIED: u8 = 0x10;
/// By [`BookKind`].
const LAST_OF_BOOK: [u8; 2] = [LAST_QUOTE, LAST_IMPLIED];
const RESENT: u8 = 0x20;
const END_OF_EVENT: u8 = 0x80;

/// Fills `packet` with as much of the current event as it takes; `true` if that was the rest of
/// it, the end included.
pub(super) fn fill(queue: &mut Queue, packet: &mut Packet<'_>, channel: &Channel) -> bool {
    let Some(&event) = queue.current() else { return false };
    match event.content {
        Content::Market { .. } => {
            append_trades(queue, &event, packet)
                || append_volumes(queue, &event, packet)
                || append_book(queue, &event, packet, BookKind::Real)
                || append_book(queue, &event, packet, BookKind::Implied)
                || append_end(queue, &event, packet)
        }
        Content::Status { security_id, status } => {
            append_status(&event, security_id, status, packet, channel)
        }
        Content::Reset { .. } => append_reset(&event, packet, channel),
    }
}

/// The indicator of a message of `event` whose own bit, if it is the last of its kind, is `bit`.
fn indicator(queue: &Queue, event: &Event, is_last: bool, bit: u8) -> MatchEventIndicator {
    let own = if is_last { bit } else { 0 };
    let ends = event.ending == Ending::LastMessage && is_complete(queue, event);
    MatchEventIndicator(own | resent(event) | if ends { END_OF_EVENT } else { 0 })
}

/// The bit of a message that is sent again.
fn resent(event: &Event) -> u8 {
    if matches!(event.content, Content::Market { is_resent: true }) { RESENT } else { 0 }
}

fn is_complete(queue: &Queue, event: &Event) -> bool {
    let cursor = &queue.cursor;
    cursor.trade == event.end.trades
        && cursor.volume == event.end.volumes
        && cursor.books == event.end.books
}

/// Whether the message just written ended the event.
fn has_ended(queue: &Queue, event: &Event) -> bool {
    event.ending == Ending::LastMessage && is_complete(queue, event)
}

fn append_trades(queue: &mut Queue, event: &Event, packet: &mut Packet<'_>) -> bool {
    let start = queue.cursor.trade;
    let mut room = packet.room().saturating_sub(FIXED + ORDERS_DIMENSION);
    while queue.cursor.trade < event.end.trades {
        let length = TRADE + TRADE_ORDER * queue.trades[queue.cursor.trade].orders;
        if length > room {
            break;
        }
        room -= length;
        queue.cursor.trade += 1;
    }
    let trades = &queue.trades[start..queue.cursor.trade];
    if trades.is_empty() {
        return false;
    }
    let is_last = queue.cursor.trade == event.end.trades;
    let indicator = indicator(queue, event, is_last, LAST_TRADE);
    packet
        .append(|buffer| {
            encode_trades(buffer, event.transact_time, indicator, trades, &queue.orders)
        })
        .expect(PROOF);
    has_ended(queue, event)
}

fn append_volumes(queue: &mut Queue, event: &Event, packet: &mut Packet<'_>) -> bool {
    let start = queue.cursor.volume;
    let fit = packet.room().saturating_sub(FIXED) / VOLUME;
    if queue.cursor.trade < event.end.trades || start == event.end.volumes || fit == 0 {
        return false;
    }
    queue.cursor.volume = event.end.volumes.min(start + fit);
    let is_last = queue.cursor.volume == event.end.volumes;
    let indicator = indicator(queue, event, is_last, LAST_VOLUME);
    let volumes = &queue.volumes[start..queue.cursor.volume];
    packet
        .append(|buffer| encode_volumes(buffer, event.transact_time, indicator, volumes))
        .expect(PROOF);
    has_ended(queue, event)
}

fn append_book(queue: &mut Queue, event: &Event, packet: &mut Packet<'_>, kind: BookKind) -> bool {
    let (place, cursor, ends) = (kind as usize, &mut queue.cursor, &event.end);
    let (start, end) = (cursor.books[place], ends.books[place]);
    let fit = packet.room().saturating_sub(EMPTY_BOOK) / BOOK;
    let is_next = cursor.trade == ends.trades
        && cursor.volume == ends.volumes
        && cursor.books[..place] == ends.books[..place];
    if !is_next || start == end || fit == 0 {
        return false;
    }
    let next = end.min(start + fit);
    cursor.books[place] = next;
    let indicator = indicator(queue, event, next == end, LAST_OF_BOOK[place]);
    let entries = &queue.books[place][start..next];
    packet
        .append(|buffer| encode_book(buffer, event.transact_time, indicator, kind, entries))
        .expect(PROOF);
    has_ended(queue, event)
}

fn append_status(
    event: &Event,
    security_id: Option<i32>,
    status: TradingStatus,
    packet: &mut Packet<'_>,
    channel: &Channel,
) -> bool {
    if packet.room() < status::LENGTH {
        return false;
    }
    packet
        .append(|buffer| status::encode(buffer, event.transact_time, security_id, status, channel))
        .expect(PROOF);
    true
}

fn append_reset(event: &Event, packet: &mut Packet<'_>, channel: &Channel) -> bool {
    if packet.room() < RESET {
        return false;
    }
    packet
        .append(|buffer| {
            let (mut root, mut groups) = ChannelReset4::encode(buffer)?;
            root.set_transact_time(event.transact_time.as_nanos())
                .set_match_event_indicator(MatchEventIndicator(END_OF_EVENT));
            groups.no_md_entries()?.push()?.set_appl_id(channel.id);
            groups.finish()
        })
        .expect(PROOF);
    true
}

/// Appends the empty message that ends the event, where one does.
fn append_end(queue: &Queue, event: &Event, packet: &mut Packet<'_>) -> bool {
    let is_due = match event.ending {
        Ending::LastMessage => false,
        Ending::NextMessage => packet.room() >= EMPTY_BOOK,
        Ending::NextPacket => packet.is_empty(),
    };
    if !is_due || !is_complete(queue, event) {
        return false;
    }
    let indicator = MatchEventIndicator(resent(event) | END_OF_EVENT);
    packet
        .append(|buffer| encode_book(buffer, event.transact_time, indicator, BookKind::Real, &[]))
        .expect(PROOF);
    true
}

fn encode_trades(
    buffer: &mut [u8],
    transact_time: Utc,
    indicator: MatchEventIndicator,
    trades: &[TradeEntry],
    orders: &[TradeOrder],
) -> Result<usize, EncodeError> {
    let (mut root, mut groups) = MDIncrementalRefreshTradeSummary48::encode(buffer)?;
    root.set_transact_time(transact_time.as_nanos()).set_match_event_indicator(indicator);
    let mut entries = groups.no_md_entries()?;
    for trade in trades {
        let aggressor = match trade.aggressor {
            Side::Bid => AggressorSide::BUY,
            Side::Offer => AggressorSide::SELL,
        };
        entries
            .push()?
            .set_md_entry_px(trade.price)
            .set_md_entry_size(size(trade.quantity))
            .set_security_id(trade.security_id)
            .set_rpt_seq(trade.rpt_seq)
            .set_number_of_orders(size(trade.orders as u32))
            .set_aggressor_side(aggressor)
            .set_md_update_action(MDUpdateAction::NEW)
            .set_md_trade_entry_id(trade.id);
    }
    let mut entries = groups.no_order_id_entries()?;
    for trade in trades {
        for order in &orders[trade.first_order..][..trade.orders] {
            entries.push()?.set_order_id(order.order.0).set_last_qty(size(order.quantity));
        }
    }
    groups.finish()
}

fn encode_volumes(
    buffer: &mut [u8],
    transact_time: Utc,
    indicator: MatchEventIndicator,
    volumes: &[VolumeEntry],
) -> Result<usize, EncodeError> {
    let (mut root, mut groups) = MDIncrementalRefreshVolume37::encode(buffer)?;
    root.set_transact_time(transact_time.as_nanos()).set_match_event_indicator(indicator);
    let mut entries = groups.no_md_entries()?;
    for volume in volumes {
        entries
            .push()?
            .set_md_entry_size(volume_size(volume.volume))
            .set_security_id(volume.security_id)
            .set_rpt_seq(volume.rpt_seq)
            .set_md_update_action(MDUpdateAction::NEW);
    }
    groups.finish()
}

fn encode_book(
    buffer: &mut [u8],
    transact_time: Utc,
    indicator: MatchEventIndicator,
    kind: BookKind,
    book: &[BookEntry],
) -> Result<usize, EncodeError> {
    let (mut root, mut groups) = MDIncrementalRefreshBook46::encode(buffer)?;
    root.set_transact_time(transact_time.as_nanos()).set_match_event_indicator(indicator);
    let mut entries = groups.no_md_entries()?;
    for entry in book {
        let mut next = entries.push()?;
        next.set_security_id(entry.security_id).set_rpt_seq(entry.rpt_seq);
        match entry.change {
            Change::Level { side, action, number, level } => next
                .set_md_entry_px(level.price)
                .set_md_entry_size(size(level.quantity))
                .set_number_of_orders((kind == BookKind::Real).then(|| size(level.orders)))
                .set_md_price_level(number)
                .set_md_update_action(update_action(action))
                .set_md_entry_type(ENTRY_TYPES[kind as usize][side.index()]),
            // Neither price nor size; a level of 0 is none.
            Change::Reset => next
                .set_md_price_level(0)
                .set_md_update_action(MDUpdateAction::NEW)
                .set_md_entry_type(MDEntryTypeBook::BOOK_RESET),
        };
    }
    groups.finish()
}

/// The entry types by [`BookKind`] and side.
const ENTRY_TYPES: [[MDEntryTypeBook; 2]; 2] = [
    [MDEntryTypeBook::BID, MDEntryTypeBook::OFFER],
    [MDEntryTypeBook::IMPLIED_BID, MDEntryTypeBook::IMPLIED_OFFER],
];

fn update_action(action: Action) -> MDUpdateAction {
    match action {
        Action::New => MDUpdateAction::NEW,
        Action::Change => MDUpdateAction::CHANGE,
        Action::Delete => MDUpdateAction::DELETE,
    }
}

/// A quantity or a number of orders; neither reaches the null of an i32 (see
/// [`crate::NewOrder::MAX_QUANTITY`]).
pub(super) fn size(quantity: u32) -> i32 {
    i32::try_from(quantity).unwrap_or(i32::MAX - 1)
}

/// A volume, which stays at the largest value once it is there.
pub(super) fn volume_size(volume: u64) -> i32 {
    i32::try_from(volume).unwrap_or(i32::MAX - 1).min(i32::MAX - 1)
}
