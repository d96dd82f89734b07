//! Fields of records that several schemas share.

use std::ffi::c_char;

use dbn::{
    Action, BidAskPair, Dataset, FlagSet, Mbp1Msg, Mbp10Msg, Publisher, RecordHeader, Side,
    TradeMsg, UNDEF_PRICE, UNDEF_TIMESTAMP, rtype,
};
use hairpin_feed_handler::{
    AggressorSide, Book, BookSide, Level, MDUpdateAction, Packet, Price9, UpdateSource,
};
use hairpin_time::Utc;

use super::unheld::{Unheld, UnheldCounts};

/// DBN's id of CME Globex.
pub(super) const PUBLISHER: u16 = Publisher::GlbxMdp3Glbx as u16;

/// The times and the number of a packet.
#[derive(Debug, Clone, Copy)]
pub(super) struct PacketFields {
    pub(super) ts_recv: u64,
    pub(super) ts_in_delta: i32,
    pub(super) sequence: u32,
    /// The receive time, otherwise SendingTime (52): the place of a record in time.
    pub(super) time: u64,
}

impl PacketFields {
    /// Returns the fields of a packet, and counts what they cannot hold.
    pub(super) fn new(packet: &Packet, unheld: &mut UnheldCounts) -> Self {
        let sent = packet.sending_time.as_nanos();
        let sequence = packet.sequence;
        let Some(received) = packet.received.map(Utc::as_nanos) else {
            unheld.add(Unheld::ReceiveTime);
            return Self { ts_recv: UNDEF_TIMESTAMP, ts_in_delta: 0, sequence, time: sent };
        };
        let delta = received.wrapping_sub(sent) as i64;
        let ts_in_delta = i32::try_from(delta).unwrap_or_else(|_| {
            unheld.add(Unheld::Delay);
            if delta < 0 { -i32::MAX } else { i32::MAX }
        });
        Self { ts_recv: received, ts_in_delta, sequence, time: received }
    }
}

/// The fields of a record of prices, whatever its depth.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    pub(super) packet: PacketFields,
    pub(super) ts_event: u64,
    pub(super) instrument: u32,
    pub(super) action: Action,
    pub(super) side: Side,
    pub(super) price: i64,
    pub(super) size: u32,
    pub(super) flags: FlagSet,
    pub(super) depth: u8,
}

macro_rules! record {
    ($record:ident, $change:expr, $rtype:expr $(, $field:ident: $value:expr)?) => {{
        let change: &Change = $change;
        let (instrument, ts_event) = (change.instrument, change.ts_event);
        $record {
            hd: RecordHeader::new::<$record>($rtype, PUBLISHER, instrument, ts_event),
            price: change.price,
            size: change.size,
            action: change.action as c_char,
            side: change.side as c_char,
            flags: change.flags,
            depth: change.depth,
            ts_recv: change.packet.ts_recv,
            ts_in_delta: change.packet.ts_in_delta,
            sequence: change.packet.sequence,
            $($field: $value,)?
        }
    }};
}

impl Change {
    /// Returns the record of a trade.
    pub(super) fn trade(&self) -> TradeMsg {
        record!(TradeMsg, self, rtype::MBP_0)
    }

    /// Returns a record with the best prices of a book.
    pub(super) fn mbp1(&self, book: Option<Book<'_>>, unheld: &mut UnheldCounts) -> Mbp1Msg {
        record!(Mbp1Msg, self, rtype::MBP_1, levels: levels(book, unheld))
    }

    /// Returns a record with the ten best levels of a book.
    pub(super) fn mbp10(&self, book: Option<Book<'_>>, unheld: &mut UnheldCounts) -> Mbp10Msg {
        record!(Mbp10Msg, self, rtype::MBP_10, levels: levels(book, unheld))
    }
}

/// Returns the best levels of a book.
fn levels<const N: usize>(book: Option<Book<'_>>, unheld: &mut UnheldCounts) -> [BidAskPair; N] {
    std::array::from_fn(|place| {
        // The book counts its levels from 1.
        let of = |side| book.and_then(|book| book.level(side, place + 1));
        let (bid_px, bid_sz, bid_ct) = level(of(BookSide::Bid), unheld);
        let (ask_px, ask_sz, ask_ct) = level(of(BookSide::Ask), unheld);
        BidAskPair { bid_px, ask_px, bid_sz, ask_sz, bid_ct, ask_ct }
    })
}

/// Returns the values of a level that may not exist.
fn level(level: Option<&Level>, unheld: &mut UnheldCounts) -> (i64, u32, u32) {
    level.map_or((UNDEF_PRICE, 0, 0), |it| (it.price.0, size(it.quantity, unheld), it.orders))
}

/// Returns a quantity; DBN's have 32 bits.
pub(super) fn size(quantity: u64, unheld: &mut UnheldCounts) -> u32 {
    u32::try_from(quantity).unwrap_or_else(|_| {
        unheld.add(Unheld::Quantity);
        u32::MAX
    })
}

/// Returns a price that may be absent.
pub(super) fn price(price: Option<Price9>) -> i64 {
    price.map_or(UNDEF_PRICE, |price| price.0)
}

/// Returns a time that may be absent.
pub(super) fn time(time: Option<Utc>) -> u64 {
    time.map_or(UNDEF_TIMESTAMP, Utc::as_nanos)
}

/// Returns the side of a book.
pub(super) fn side(side: BookSide) -> Side {
    match side {
        BookSide::Bid => Side::Bid,
        BookSide::Ask => Side::Ask,
    }
}

/// Returns the side of an aggressor.
pub(super) fn aggressor(side: Option<AggressorSide>) -> Side {
    match side {
        Some(AggressorSide::BUY) => Side::Bid,
        Some(AggressorSide::SELL) => Side::Ask,
        _ => Side::None,
    }
}

/// Returns the side of the orders that an aggressor has matched.
pub(super) fn opposite(side: Side) -> Side {
    match side {
        Side::Bid => Side::Ask,
        Side::Ask => Side::Bid,
        Side::None => Side::None,
    }
}

/// Returns the action of a price level's entry.
pub(super) fn level_action(action: MDUpdateAction) -> Action {
    match action {
        MDUpdateAction::NEW => Action::Add,
        MDUpdateAction::CHANGE | MDUpdateAction::OVERLAY => Action::Modify,
        _ => Action::Cancel,
    }
}

/// Returns the flags of a source.
pub(super) fn source_flags(source: UpdateSource) -> FlagSet {
    match source {
        UpdateSource::Snapshot => FlagSet::empty().set_snapshot(),
        _ => FlagSet::empty(),
    }
}

/// The dataset of the files.
pub(super) const DATASET: Dataset = Dataset::GlbxMdp3;
