//! Events as messages, in this order: trades (48), volume (37), orders (47), top orders (59), book
//! (46), statistics of the session (51), implied book (46); with long quantities 65, 66, 64 and 67
//! instead of 48, 37, 46 and 51. Or a status (30), a reset of the channel (4), or announcements
//! that were written before, each alone in its event.
//!
//! Lengths, MsgSize included (schema 1 version 13):
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
use super::status::{self, TradingStatus};

/// MsgSize, SBE header, root block and the dimension of the first group.
const FIXED: usize = 2 + 8 + 11 + 3;
/// The dimension of NoOrderIDEntries.
const ORDERS_DIMENSION: usize = 8;
/// By whether quantities are long.
const TRADE: [usize; 2] = [32, 40];
const TRADE_ORDER: usize = 16;
const VOLUME: [usize; 2] = [16, 24];
const APART: usize = 40;
const FIXED_TOPS: usize = 2 + 8 + 13 + 3;
const TOP: usize = 29;
const BOOK: usize = 32;
const BESIDE: usize = 24;
const STATISTIC: [usize; 2] = [24, 32];
const EMPTY_BOOK: usize = FIXED + ORDERS_DIMENSION;
/// A whole ChannelReset.
const RESET: usize = 2 + 8 + 9 + 3 + 2;

/// The most order entries that refer to one book entry: with them it fits in any packet.
pub(super) const BESIDE_MAX: u8 = 32;

const PROOF: &str = "the room for it was counted before";

/// Bits of tag 5799.
const LAST_TRADE: u8 = 0x01;
const LAST_VOLUME: u8 = 0x02;
const LAST_QUOTE: u8 = 0x04;
const LAST_STATISTIC: u8 = 0x08;
const LAST_IMPLIED: u8 = 0x10;
/// By [`BookKind`].
const LAST_OF_BOOK: [u8; 2] = [LAST_QUOTE, LAST_IMPLIED];
const RESENT: u8 = 0x20;
pub(super) const END_OF_EVENT: u8 = 0x80;

/// How far one kind of message has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// All of it is in packets, and more of the event is to come.
    Done,
    /// The packet has no room for the rest of it.
    Full,
    /// The event has ended with it.
    Ended,
}

/// Fills `packet` with as much of the current event as it takes; `true` if that was the rest of
/// it, the end included.
pub(super) fn fill(queue: &mut Queue, packet: &mut Packet<'_>, channel: &Channel) -> bool {
    let Some(&event) = queue.current() else { return false };
    match event.content {
        Content::Market { .. } => append_market(queue, &event, packet, channel),
        Content::Status { security_id, status } => {
            append_status(&event, security_id, status, packet, channel)
        }
        Content::Reset { .. } => append_reset(&event, packet, channel),
        Content::Announcement => append_announcement(queue, &event, packet),
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
        append_apart,
        append_tops,
        append_real,
        append_statistics,
        append_implied,
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

/// The heading of a message of `event` whose own bit, if it is the last of its kind, is `bit`.
fn heading(queue: &Queue, event: &Event, is_last: bool, bit: u8) -> Heading {
    let own = if is_last { bit } else { 0 };
    let end = if has_ended(queue, event) { END_OF_EVENT } else { 0 };
    let indicator = MatchEventIndicator(own | resent(event) | end);
    Heading { transact_time: event.transact_time, indicator }
}

/// The bit of a message that is sent again.
fn resent(event: &Event) -> u8 {
    if matches!(event.content, Content::Market { is_resent: true }) { RESENT } else { 0 }
}

/// Whether the message that ends here ends the event.
fn has_ended(queue: &Queue, event: &Event) -> bool {
    event.ending == Ending::LastMessage && queue.cursor.at == event.end
}

/// What comes of a message that was written, with or without the rest of its kind.
fn progress(queue: &Queue, event: &Event, is_last: bool) -> Progress {
    match (has_ended(queue, event), is_last) {
        (true, _) => Progress::Ended,
        (false, true) => Progress::Done,
        (false, false) => Progress::Full,
    }
}

/// One message for each distinct time, in order.
fn append_trades(
    queue: &mut Queue,
    event: &Event,
    packet: &mut Packet<'_>,
    channel: &Channel,
) -> Progress {
    let end = event.end.trades;
    while queue.cursor.at.trades < end {
        let start = queue.cursor.at.trades;
        let transact_time = queue.trades[start].transact_time;
        let mut room = packet.room().saturating_sub(FIXED + ORDERS_DIMENSION);
        let fits = queue.trades[start..end].iter().take_while(|trade| {
            let length = TRADE[channel.is_long()] + TRADE_ORDER * trade.orders;
            let fits = trade.transact_time == transact_time && length <= room;
            room = room.saturating_sub(length);
            fits
        });
        let next = start + fits.count();
        if next == start {
            return Progress::Full;
        }
        queue.cursor.at.trades = next;
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
    let (start, end) = (queue.cursor.at.volumes, event.end.volumes);
    let fit = packet.room().saturating_sub(FIXED) / VOLUME[channel.is_long()];
    if start == end || fit == 0 {
        return if start == end { Progress::Done } else { Progress::Full };
    }
    let next = end.min(start + fit);
    queue.cursor.at.volumes = next;
    let heading = heading(queue, event, next == end, LAST_VOLUME);
    let volumes = &queue.volumes[start..next];
    packet.append(|buffer| encode::volumes(buffer, heading, channel, volumes)).expect(PROOF);
    progress(queue, event, next == end)
}

fn append_apart(
    queue: &mut Queue,
    event: &Event,
    packet: &mut Packet<'_>,
    _: &Channel,
) -> Progress {
    let (start, end) = (queue.cursor.at.apart, event.end.apart);
    let fit = packet.room().saturating_sub(FIXED) / APART;
    if start == end || fit == 0 {
        return if start == end { Progress::Done } else { Progress::Full };
    }
    let next = end.min(start + fit);
    queue.cursor.at.apart = next;
    let heading = heading(queue, event, next == end, LAST_QUOTE);
    let orders = &queue.apart[start..next];
    packet.append(|buffer| encode::orders(buffer, heading, orders)).expect(PROOF);
    progress(queue, event, next == end)
}

/// One message for each instrument.
fn append_tops(queue: &mut Queue, event: &Event, packet: &mut Packet<'_>, _: &Channel) -> Progress {
    let end = event.end.tops;
    while queue.cursor.at.tops < end {
        let place = queue.cursor.at.tops;
        if packet.room() < FIXED_TOPS + TOP * queue.tops[place].orders.count() {
            return Progress::Full;
        }
        queue.cursor.at.tops += 1;
        let heading = heading(queue, event, place + 1 == end, LAST_QUOTE);
        let top = &queue.tops[place];
        packet.append(|buffer| encode::top_orders(buffer, heading, top)).expect(PROOF);
    }
    progress(queue, event, true)
}

fn append_real(
    queue: &mut Queue,
    event: &Event,
    packet: &mut Packet<'_>,
    channel: &Channel,
) -> Progress {
    append_book(queue, event, packet, channel, BookKind::Real)
}

fn append_implied(
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
    let place = kind as usize;
    let (start, end) = (queue.cursor.at.books[place], event.end.books[place]);
    if start == end {
        return Progress::Done;
    }
    let mut room = packet.room().saturating_sub(EMPTY_BOOK);
    let fits = queue.books[place][start..end].iter().take_while(|entry| {
        let length = BOOK + BESIDE * usize::from(entry.orders);
        let fits = length <= room;
        room = room.saturating_sub(length);
        fits
    });
    let next = start + fits.count();
    if next == start {
        return Progress::Full;
    }
    queue.cursor.at.books[place] = next;
    let heading = heading(queue, event, next == end, LAST_OF_BOOK[place]);
    let entries = &queue.books[place][start..next];
    let first = queue.cursor.beside;
    let count = entries.iter().map(|entry| usize::from(entry.orders)).sum::<usize>();
    let orders = encode::Beside { first: start, orders: &queue.beside[first..first + count] };
    packet
        .append(|buffer| encode::book(buffer, heading, channel, kind, entries, orders))
        .expect(PROOF);
    queue.cursor.beside += count;
    progress(queue, event, next == end)
}

fn append_statistics(
    queue: &mut Queue,
    event: &Event,
    packet: &mut Packet<'_>,
    channel: &Channel,
) -> Progress {
    let (start, end) = (queue.cursor.at.statistics, event.end.statistics);
    let fit = packet.room().saturating_sub(FIXED) / STATISTIC[channel.is_long()];
    if start == end || fit == 0 {
        return if start == end { Progress::Done } else { Progress::Full };
    }
    let next = end.min(start + fit);
    queue.cursor.at.statistics = next;
    let heading = heading(queue, event, next == end, LAST_STATISTIC);
    let entries = &queue.statistics[start..next];
    packet.append(|buffer| encode::statistics(buffer, heading, channel, entries)).expect(PROOF);
    progress(queue, event, next == end)
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

/// Copies whole messages; the last of them says that it ends the event.
fn append_announcement(queue: &mut Queue, event: &Event, packet: &mut Packet<'_>) -> bool {
    while queue.cursor.at.bytes < event.end.bytes {
        let rest = &queue.bytes[queue.cursor.at.bytes..event.end.bytes];
        let length = usize::from(u16::from_le_bytes([rest[0], rest[1]]));
        if packet.room() < length {
            return false;
        }
        packet.append_whole(&rest[..length]);
        queue.cursor.at.bytes += length;
    }
    true
}

/// Appends the empty message that ends the event, where one does.
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
    let none = encode::Beside { first: 0, orders: &[] };
    packet
        .append(|buffer| encode::book(buffer, heading, channel, BookKind::Real, &[], none))
        .expect(PROOF);
    true
}
