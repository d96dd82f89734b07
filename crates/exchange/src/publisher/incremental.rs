//! Encoding of events into packets. The messages of an event have this order: trades (48), volume
//! (37), orders (47), top orders (59), book (46), session statistics (51), implied book (46). With
//! long quantities, 65, 66, 64 and 67 replace 48, 37, 46 and 51. A status (30), a channel reset (4)
//! or a message encoded in advance is an event by itself.
//!
//! The lengths include MsgSize (schema 1 version 13):
//!
//! ```text
//!  4:      10 + 9 + 3 + 2
//! 30:      10 + 30
//! 48, 65:  10 + 11 + 3 + (32 or 40) × trades + 8 + 16 × orders
//! 37, 66:  10 + 11 + 3 + (16 or 24) × entries
//! 47:      10 + 11 + 3 + 40 × orders
//! 59:      10 + 13 + 3 + 29 × orders
//! 46, 64:  10 + 11 + 3 + 32 × entries + 8 + 24 × orders
//! 51, 67:  10 + 11 + 3 + (24 or 32) × entries
//! ```

use hairpin_cme_codecs::mdp3::{ChannelReset4, MatchEventIndicator};

use super::Channel;
use super::encode::{self, Heading};
use super::packet::Packet;
use super::queue::{BookKind, Content, Ending, Event, Queue};
use super::status::{self, StatusNotice};

/// The length of MsgSize, SBE header, root block and the dimension of the first group.
const FIXED: usize = 2 + 8 + 11 + 3;
/// The length of the dimension of NoOrderIDEntries.
const ORDERS_DIMENSION: usize = 8;
/// The length of an entry, indexed by [`Channel::long_quantity_index`].
const TRADE: [usize; 2] = [32, 40];
const TRADE_ORDER: usize = 16;
const VOLUME: [usize; 2] = [16, 24];
const SEPARATE_ORDER: usize = 40;
const FIXED_TOP_ORDERS: usize = 2 + 8 + 13 + 3;
const TOP_ORDER: usize = 29;
const BOOK: usize = 32;
const ATTACHED_ORDER: usize = 24;
const STATISTIC: [usize; 2] = [24, 32];
const EMPTY_BOOK: usize = FIXED + ORDERS_DIMENSION;
/// The length of a ChannelReset4.
const RESET: usize = 2 + 8 + 9 + 3 + 2;

/// The maximum number of order entries attached to one book entry, with which it fits in any
/// packet.
pub(super) const ATTACHED_MAX: u8 = 32;

const PROOF: &str = "the length was compared with the room";

/// Bits of MatchEventIndicator (tag 5799).
const LAST_TRADE: u8 = 0x01;
const LAST_VOLUME: u8 = 0x02;
pub(super) const LAST_QUOTE: u8 = 0x04;
const LAST_STATISTIC: u8 = 0x08;
const LAST_IMPLIED: u8 = 0x10;
/// Indexed by [`BookKind`].
const LAST_OF_BOOK: [u8; 2] = [LAST_QUOTE, LAST_IMPLIED];
const RESENT: u8 = 0x20;
pub(super) const END_OF_EVENT: u8 = 0x80;

/// The progress in encoding one kind of message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// All entries of this kind are encoded; the event continues.
    Done,
    /// The packet has no room for the remaining entries of this kind.
    Full,
    /// The message ends the event.
    Ended,
}

/// Fills `packet` with messages of the current event. Returns `true` if the packet contains the end
/// of the event.
pub(super) fn fill(queue: &mut Queue, packet: &mut Packet<'_>, channel: &Channel) -> bool {
    let Some(&event) = queue.current() else { return false };
    match event.content {
        Content::Market { .. } => append_market(queue, &event, packet, channel),
        Content::Status { security_id, notice } => {
            append_status(&event, security_id, notice, packet, channel)
        }
        Content::Reset { .. } => append_reset(&event, packet, channel),
        Content::Message => append_messages(queue, &event, packet),
    }
}

fn append_market(
    queue: &mut Queue,
    event: &Event,
    packet: &mut Packet<'_>,
    channel: &Channel,
) -> bool {
    let kinds = [
        append_trades,
        append_volumes,
        append_separate_orders,
        append_top_orders,
        append_direct_book,
        append_statistics,
        append_implied_book,
    ];
    for append in kinds {
        match append(queue, event, packet, channel) {
            Progress::Done => {}
            Progress::Full => return false,
            Progress::Ended => return true,
        }
    }
    append_end(event, packet, channel)
}

/// Returns the heading of a message of `event`. `bit` is its bit if it is the last one of its kind.
fn heading(queue: &Queue, event: &Event, is_last: bool, bit: u8) -> Heading {
    let own = if is_last { bit } else { 0 };
    let end = if has_ended(queue, event) { END_OF_EVENT } else { 0 };
    let indicator = MatchEventIndicator(own | resent(event) | end);
    Heading { transact_time: event.transact_time, indicator }
}

/// Returns the bit of a resent message.
fn resent(event: &Event) -> u8 {
    if matches!(event.content, Content::Market { resent: true }) { RESENT } else { 0 }
}

/// Returns `true` if the message that ends at the cursor ends the event.
fn has_ended(queue: &Queue, event: &Event) -> bool {
    event.ending == Ending::LastMessage && queue.cursor.position == event.end
}

/// Returns the progress after a message that is or is not the last one of its kind.
fn progress(queue: &Queue, event: &Event, is_last: bool) -> Progress {
    match (has_ended(queue, event), is_last) {
        (true, _) => Progress::Ended,
        (false, true) => Progress::Done,
        (false, false) => Progress::Full,
    }
}

/// Appends one message for each distinct time, in order.
fn append_trades(
    queue: &mut Queue,
    event: &Event,
    packet: &mut Packet<'_>,
    channel: &Channel,
) -> Progress {
    let end = event.end.trades;
    while queue.cursor.position.trades < end {
        let start = queue.cursor.position.trades;
        let transact_time = queue.trades[start].transact_time;
        let mut room = packet.room().saturating_sub(FIXED + ORDERS_DIMENSION);
        let fits = queue.trades[start..end].iter().take_while(|trade| {
            let length = TRADE[channel.long_quantity_index()] + TRADE_ORDER * trade.orders;
            let fits = trade.transact_time == transact_time && length <= room;
            room = room.saturating_sub(length);
            fits
        });
        let next = start + fits.count();
        if next == start {
            return Progress::Full;
        }
        queue.cursor.position.trades = next;
        let heading = Heading { transact_time, ..heading(queue, event, next == end, LAST_TRADE) };
        let (trades, orders) = (&queue.trades[start..next], &queue.orders);
        packet
            .append(|buffer| encode::trades(buffer, heading, channel, trades, orders))
            .expect(PROOF);
    }
    progress(queue, event, true)
}

fn append_volumes(
    queue: &mut Queue,
    event: &Event,
    packet: &mut Packet<'_>,
    channel: &Channel,
) -> Progress {
    let (start, end) = (queue.cursor.position.volumes, event.end.volumes);
    let fit = packet.room().saturating_sub(FIXED) / VOLUME[channel.long_quantity_index()];
    if start == end || fit == 0 {
        return if start == end { Progress::Done } else { Progress::Full };
    }
    let next = end.min(start + fit);
    queue.cursor.position.volumes = next;
    let heading = heading(queue, event, next == end, LAST_VOLUME);
    let volumes = &queue.volumes[start..next];
    packet.append(|buffer| encode::volumes(buffer, heading, channel, volumes)).expect(PROOF);
    progress(queue, event, next == end)
}

fn append_separate_orders(
    queue: &mut Queue,
    event: &Event,
    packet: &mut Packet<'_>,
    _: &Channel,
) -> Progress {
    let (start, end) = (queue.cursor.position.separate_orders, event.end.separate_orders);
    let fit = packet.room().saturating_sub(FIXED) / SEPARATE_ORDER;
    if start == end || fit == 0 {
        return if start == end { Progress::Done } else { Progress::Full };
    }
    let next = end.min(start + fit);
    queue.cursor.position.separate_orders = next;
    let heading = heading(queue, event, next == end, LAST_QUOTE);
    let orders = &queue.separate_orders[start..next];
    packet.append(|buffer| encode::orders(buffer, heading, orders)).expect(PROOF);
    progress(queue, event, next == end)
}

/// Appends one message for each instrument.
fn append_top_orders(
    queue: &mut Queue,
    event: &Event,
    packet: &mut Packet<'_>,
    _: &Channel,
) -> Progress {
    let end = event.end.top_orders;
    while queue.cursor.position.top_orders < end {
        let index = queue.cursor.position.top_orders;
        if packet.room() < FIXED_TOP_ORDERS + TOP_ORDER * queue.top_orders[index].orders.count() {
            return Progress::Full;
        }
        queue.cursor.position.top_orders += 1;
        let heading = heading(queue, event, index + 1 == end, LAST_QUOTE);
        let top = &queue.top_orders[index];
        packet.append(|buffer| encode::top_orders(buffer, heading, top)).expect(PROOF);
    }
    progress(queue, event, true)
}

fn append_direct_book(
    queue: &mut Queue,
    event: &Event,
    packet: &mut Packet<'_>,
    channel: &Channel,
) -> Progress {
    append_book(queue, event, packet, channel, BookKind::Direct)
}

fn append_implied_book(
    queue: &mut Queue,
    event: &Event,
    packet: &mut Packet<'_>,
    channel: &Channel,
) -> Progress {
    append_book(queue, event, packet, channel, BookKind::Implied)
}

fn append_book(
    queue: &mut Queue,
    event: &Event,
    packet: &mut Packet<'_>,
    channel: &Channel,
    kind: BookKind,
) -> Progress {
    let index = kind as usize;
    let (start, end) = (queue.cursor.position.books[index], event.end.books[index]);
    if start == end {
        return Progress::Done;
    }
    let mut room = packet.room().saturating_sub(EMPTY_BOOK);
    let fits = queue.books[index][start..end].iter().take_while(|entry| {
        let length = BOOK + ATTACHED_ORDER * usize::from(entry.orders);
        let fits = length <= room;
        room = room.saturating_sub(length);
        fits
    });
    let next = start + fits.count();
    if next == start {
        return Progress::Full;
    }
    queue.cursor.position.books[index] = next;
    let heading = heading(queue, event, next == end, LAST_OF_BOOK[index]);
    let entries = &queue.books[index][start..next];
    let first = queue.cursor.attached_orders;
    let count = entries.iter().map(|entry| usize::from(entry.orders)).sum::<usize>();
    let orders = encode::AttachedOrders {
        first: start,
        orders: &queue.attached_orders[first..first + count],
    };
    packet
        .append(|buffer| encode::book(buffer, heading, channel, kind, entries, orders))
        .expect(PROOF);
    queue.cursor.attached_orders += count;
    progress(queue, event, next == end)
}

fn append_statistics(
    queue: &mut Queue,
    event: &Event,
    packet: &mut Packet<'_>,
    channel: &Channel,
) -> Progress {
    let (start, end) = (queue.cursor.position.statistics, event.end.statistics);
    let fit = packet.room().saturating_sub(FIXED) / STATISTIC[channel.long_quantity_index()];
    if start == end || fit == 0 {
        return if start == end { Progress::Done } else { Progress::Full };
    }
    let next = end.min(start + fit);
    queue.cursor.position.statistics = next;
    let heading = heading(queue, event, next == end, LAST_STATISTIC);
    let entries = &queue.statistics[start..next];
    packet.append(|buffer| encode::statistics(buffer, heading, channel, entries)).expect(PROOF);
    progress(queue, event, next == end)
}

fn append_status(
    event: &Event,
    security_id: Option<i32>,
    notice: StatusNotice,
    packet: &mut Packet<'_>,
    channel: &Channel,
) -> bool {
    if packet.room() < status::LENGTH {
        return false;
    }
    packet
        .append(|buffer| status::encode(buffer, event.transact_time, security_id, notice, channel))
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

/// Copies whole messages. The last one contains the end of the event.
fn append_messages(queue: &mut Queue, event: &Event, packet: &mut Packet<'_>) -> bool {
    while queue.cursor.position.bytes < event.end.bytes {
        let rest = &queue.bytes[queue.cursor.position.bytes..event.end.bytes];
        let length = usize::from(u16::from_le_bytes([rest[0], rest[1]]));
        if packet.room() < length {
            return false;
        }
        packet.append_whole(&rest[..length]);
        queue.cursor.position.bytes += length;
    }
    true
}

/// Appends the empty message that ends the event, if the event has one.
fn append_end(event: &Event, packet: &mut Packet<'_>, channel: &Channel) -> bool {
    let is_due = match event.ending {
        Ending::LastMessage => false,
        Ending::NextMessage => packet.room() >= EMPTY_BOOK,
        Ending::NextPacket => packet.is_empty(),
    };
    if !is_due {
        return false;
    }
    let indicator = MatchEventIndicator(resent(event) | END_OF_EVENT);
    let heading = Heading { transact_time: event.transact_time, indicator };
    let none = encode::AttachedOrders { first: 0, orders: &[] };
    packet
        .append(|buffer| encode::book(buffer, heading, channel, BookKind::Direct, &[], none))
        .expect(PROOF);
    true
}
