//! A small market data receiver, implemented from CME's rules, not from the publisher.

#![allow(dead_code, reason = "each test uses its part")]

use std::collections::BTreeMap;

use hairpin_cme_codecs::mdp3::{
    AdminHeartbeat12, AggressorSide, ChannelReset4, MDEntryType, MDEntryTypeBook,
    MDIncrementalRefreshBook46, MDIncrementalRefreshTradeSummary48, MDIncrementalRefreshVolume37,
    MDUpdateAction, SecurityStatus30, SnapshotFullRefresh52, channel_reset4,
    md_incremental_refresh_book46, md_incremental_refresh_trade_summary48,
    md_incremental_refresh_volume37, snapshot_full_refresh52,
};
use hairpin_sbe::MessageHeader;

pub(crate) use definition::Definition;

mod definition;

/// Price mantissa, quantity, number of orders.
pub(crate) type Level = (i64, i32, i32);

/// Price mantissa and quantity; implied levels have no orders.
pub(crate) type ImpliedLevel = (i64, i32);

/// SecurityTradingStatus ReadyToTrade.
const READY: u8 = 17;

/// The received state of one instrument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Book {
    pub bids: Vec<Level>,
    pub offers: Vec<Level>,
    pub implied_bids: Vec<ImpliedLevel>,
    pub implied_offers: Vec<ImpliedLevel>,
    pub rpt_seq: u32,
    pub volume: i32,
    pub last_trade: Option<(i64, i32)>,
    pub status: u8,
}

impl Default for Book {
    fn default() -> Self {
        Self {
            bids: Vec::new(),
            offers: Vec::new(),
            implied_bids: Vec::new(),
            implied_offers: Vec::new(),
            rpt_seq: 0,
            volume: 0,
            last_trade: None,
            status: READY,
        }
    }
}

impl Book {
    fn empty(&mut self) {
        self.bids.clear();
        self.offers.clear();
        self.implied_bids.clear();
        self.implied_offers.clear();
    }
}

/// The number of received items, with which a test checks that it covered them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Census {
    pub new: u64,
    pub change: u64,
    pub delete: u64,
    pub trades: u64,
    pub volumes: u64,
    pub events: u64,
    pub end_on_data: u64,
    pub end_same_packet: u64,
    pub end_next_packet: u64,
    pub events_over_packets: u64,
    pub heartbeats: u64,
    pub implied_new: u64,
    pub implied_change: u64,
    pub implied_delete: u64,
    pub book_resets: u64,
    pub instrument_statuses: u64,
    pub group_statuses: u64,
    pub channel_resets: u64,
    pub restarts: u64,
    pub resent_events: u64,
    pub definition_loops: u64,
    pub snapshot_loops: u64,
}

/// A decoded packet: sequence number, sending time, messages starting at their SBE headers.
pub(crate) struct Packet<'a> {
    pub sequence: u32,
    pub sending_time: u64,
    pub messages: Vec<(MessageHeader, &'a [u8])>,
}

/// Checks the framing of a packet up to its last byte.
pub(crate) fn open(bytes: &[u8]) -> Packet<'_> {
    assert!(bytes.len() <= 1_420, "{} bytes", bytes.len());
    let sequence = u32::from_le_bytes(bytes[..4].try_into().unwrap());
    let sending_time = u64::from_le_bytes(bytes[4..12].try_into().unwrap());
    let mut messages = Vec::new();
    let mut rest = &bytes[12..];
    assert!(!rest.is_empty(), "packet has no messages");
    while !rest.is_empty() {
        let size = usize::from(u16::from_le_bytes(rest[..2].try_into().unwrap()));
        let (message, behind) = rest.split_at(size);
        let (header, body) = MessageHeader::decode(&message[2..]).unwrap();
        assert_eq!((header.schema_id, header.version), (1, 13));
        messages.push((header, body));
        rest = behind;
    }
    Packet { sequence, sending_time, messages }
}

/// The event being received.
#[derive(Debug, Default)]
struct Event {
    packets: u32,
    /// The stage: 0 nothing, 1 trades, 2 volumes, 4 books, 16 implied books. It never decreases.
    stage: u8,
    /// 0x20 if the event is resent; `None` before the first message.
    resent: Option<u8>,
    /// The kinds whose last-of-kind bit was received, and all received kinds.
    closed: u8,
    seen: u8,
    touched: Vec<i32>,
}

/// A receiver of the incremental feed.
#[derive(Debug, Default)]
pub(crate) struct Receiver {
    pub books: BTreeMap<i32, Book>,
    pub census: Census,
    /// The aggressor of the last trade of any instrument.
    pub last_aggressor: Option<AggressorSide>,
    next_sequence: Option<u32>,
    /// The previous packet was a ChannelReset: the sequence may restart.
    after_reset: bool,
    event: Option<Event>,
    /// The current packet contains data of the event.
    in_packet_data: bool,
}

impl Receiver {
    /// Creates a receiver with these books from a snapshot loop.
    pub(crate) fn joining(books: BTreeMap<i32, Book>) -> Self {
        Self { books, ..Self::default() }
    }

    /// Handles an incremental packet. Returns the instruments of the event that it ends, if any.
    pub(crate) fn handle_incremental(&mut self, bytes: &[u8]) -> Option<Vec<i32>> {
        let packet = open(bytes);
        let expected = self.next_sequence.unwrap_or(packet.sequence);
        let restarts = core::mem::take(&mut self.after_reset) && packet.sequence == 1;
        assert!(packet.sequence == expected || restarts, "{expected}, not {}", packet.sequence);
        self.census.restarts += u64::from(restarts);
        self.next_sequence = Some(packet.sequence + 1);
        self.in_packet_data = false;
        let mut ended = None;
        if packet.messages[0].0.template_id != AdminHeartbeat12::TEMPLATE_ID {
            self.event.get_or_insert_default().packets += 1;
        }
        for (header, body) in packet.messages {
            assert!(ended.is_none(), "a message follows the end of the event in a packet");
            let indicator = match header.template_id {
                12 => {
                    assert!(self.event.is_none() && body.is_empty());
                    self.census.heartbeats += 1;
                    continue;
                }
                48 => self.handle_trades(&header, body),
                37 => self.handle_volumes(&header, body),
                46 => self.handle_book(&header, body),
                30 => self.handle_status(&header, body),
                4 => self.handle_reset(&header, body),
                other => panic!("template {other} on the incremental feed"),
            };
            if indicator & 0x80 != 0 {
                ended = self.event.take().map(|event| self.end(event));
            }
        }
        ended
    }

    fn end(&mut self, event: Event) -> Vec<i32> {
        assert_eq!(event.seen, event.closed, "the last message of a kind is not marked");
        self.census.events += 1;
        self.census.resent_events += u64::from(event.resent == Some(0x20));
        if event.packets > 1 {
            self.census.events_over_packets += 1;
        }
        event.touched
    }

    /// Records a message of a kind (1 trade, 2 volume, 4 quote, 16 implied quote), and checks order
    /// and bits.
    fn record(&mut self, kind: u8, indicator: u8, is_empty: bool) {
        let event = self.event.as_mut().unwrap();
        assert_eq!(indicator & !0xB7, 0, "an undefined bit is set");
        let resent = *event.resent.get_or_insert(indicator & 0x20);
        assert_eq!(indicator & 0x20, resent, "the resent bit differs within an event");
        let indicator = indicator & !0x20;
        if is_empty {
            assert_eq!((kind, indicator), (4, 0x80), "only a book message may be empty");
            match self.in_packet_data {
                true => self.census.end_same_packet += 1,
                false => self.census.end_next_packet += 1,
            }
            return;
        }
        self.in_packet_data = true;
        assert!(kind >= event.stage, "kinds are out of order");
        assert_eq!(event.closed & kind, 0, "a message follows the last one of its kind");
        assert_eq!(indicator & !(kind | 0x80), 0, "a bit of another kind is set");
        event.stage = kind;
        event.seen |= kind;
        event.closed |= indicator & kind;
        if indicator & 0x80 != 0 {
            self.census.end_on_data += 1;
        }
    }

    /// Advances an instrument to this RptSeq.
    fn advance(&mut self, security_id: i32, rpt_seq: u32) -> &mut Book {
        let event = self.event.as_mut().unwrap();
        if !event.touched.contains(&security_id) {
            event.touched.push(security_id);
        }
        let book = self.books.entry(security_id).or_default();
        assert_eq!(rpt_seq, book.rpt_seq + 1, "RptSeq of {security_id}");
        book.rpt_seq = rpt_seq;
        book
    }

    fn handle_trades(&mut self, header: &MessageHeader, body: &[u8]) -> u8 {
        let mut scratch = MDIncrementalRefreshTradeSummary48::SCRATCH;
        let message =
            MDIncrementalRefreshTradeSummary48::decode(header, body, &mut scratch).unwrap();
        assert_eq!(message.encoded_length(), body.len() + 8);
        let indicator = message.match_event_indicator().0;
        self.record(1, indicator, false);
        let mut orders = Vec::new();
        let mut entries = message.no_order_id_entries();
        let mut scratch = md_incremental_refresh_trade_summary48::NoOrderIDEntries::SCRATCH;
        while let Some(entry) = entries.next(&mut scratch) {
            orders.push((entry.order_id(), entry.last_qty()));
        }
        let mut orders = orders.into_iter();
        let mut entries = message.no_md_entries();
        let mut scratch = md_incremental_refresh_trade_summary48::NoMDEntries::SCRATCH;
        while let Some(entry) = entries.next(&mut scratch) {
            self.census.trades += 1;
            let of_this: Vec<_> = orders.by_ref().take(entry.number_of_orders() as usize).collect();
            // The aggressor is first, then the resting orders: both sides trade the same quantity.
            assert_eq!(of_this[0].1, entry.md_entry_size());
            let met: i32 = of_this[1..].iter().map(|order| order.1).sum();
            assert_eq!(met, entry.md_entry_size());
            self.last_aggressor = entry.aggressor_side();
            assert!(entry.md_trade_entry_id().is_some());
            let trade = (entry.md_entry_px().0, entry.md_entry_size());
            self.advance(entry.security_id(), entry.rpt_seq()).last_trade = Some(trade);
        }
        assert_eq!(orders.next(), None);
        indicator
    }

    fn handle_volumes(&mut self, header: &MessageHeader, body: &[u8]) -> u8 {
        let mut scratch = MDIncrementalRefreshVolume37::SCRATCH;
        let message = MDIncrementalRefreshVolume37::decode(header, body, &mut scratch).unwrap();
        assert_eq!(message.encoded_length(), body.len() + 8);
        let indicator = message.match_event_indicator().0;
        self.record(2, indicator, false);
        let mut entries = message.no_md_entries();
        let mut scratch = md_incremental_refresh_volume37::NoMDEntries::SCRATCH;
        while let Some(entry) = entries.next(&mut scratch) {
            self.census.volumes += 1;
            let book = self.advance(entry.security_id(), entry.rpt_seq());
            assert!(entry.md_entry_size() > book.volume);
            book.volume = entry.md_entry_size();
        }
        indicator
    }

    fn handle_book(&mut self, header: &MessageHeader, body: &[u8]) -> u8 {
        let mut scratch = MDIncrementalRefreshBook46::SCRATCH;
        let message = MDIncrementalRefreshBook46::decode(header, body, &mut scratch).unwrap();
        assert_eq!(message.encoded_length(), body.len() + 8);
        let indicator = message.match_event_indicator().0;
        let mut first = message.no_md_entries();
        let mut scratch = md_incremental_refresh_book46::NoMDEntries::SCRATCH;
        let is_implied = first.next(&mut scratch).is_some_and(|entry| is_implied(&entry));
        let mut entries = message.no_md_entries();
        self.record(if is_implied { 16 } else { 4 }, indicator, entries.is_empty());
        let mut scratch = md_incremental_refresh_book46::NoMDEntries::SCRATCH;
        while let Some(entry) = entries.next(&mut scratch) {
            assert_eq!(self::is_implied(&entry), is_implied, "real and implied entries mixed");
            match entry.md_entry_type() {
                MDEntryTypeBook::BOOK_RESET => self.handle_book_reset(&entry),
                _ if is_implied => self.handle_implied_entry(&entry),
                _ => self.handle_entry(&entry),
            }
        }
        indicator
    }

    fn handle_book_reset(&mut self, entry: &BookEntry<'_>) {
        assert_eq!((entry.md_entry_px(), entry.md_entry_size()), (None, None));
        assert_eq!(entry.md_update_action(), MDUpdateAction::NEW);
        self.census.book_resets += 1;
        self.advance(entry.security_id(), entry.rpt_seq()).empty();
    }

    fn handle_entry(&mut self, entry: &BookEntry<'_>) {
        let level = (
            entry.md_entry_px().unwrap().0,
            entry.md_entry_size().unwrap(),
            entry.number_of_orders().unwrap(),
        );
        match entry.md_update_action() {
            MDUpdateAction::NEW => self.census.new += 1,
            MDUpdateAction::CHANGE => self.census.change += 1,
            _ => self.census.delete += 1,
        }
        let book = self.advance(entry.security_id(), entry.rpt_seq());
        let side = match entry.md_entry_type() {
            MDEntryTypeBook::BID => &mut book.bids,
            MDEntryTypeBook::OFFER => &mut book.offers,
            other => panic!("entry type {other:?}"),
        };
        apply(side, 10, entry, level, |level| level.0);
    }

    fn handle_implied_entry(&mut self, entry: &BookEntry<'_>) {
        assert_eq!(entry.number_of_orders(), None);
        let level = (entry.md_entry_px().unwrap().0, entry.md_entry_size().unwrap());
        match entry.md_update_action() {
            MDUpdateAction::NEW => self.census.implied_new += 1,
            MDUpdateAction::CHANGE => self.census.implied_change += 1,
            _ => self.census.implied_delete += 1,
        }
        let book = self.advance(entry.security_id(), entry.rpt_seq());
        let side = match entry.md_entry_type() {
            MDEntryTypeBook::IMPLIED_BID => &mut book.implied_bids,
            _ => &mut book.implied_offers,
        };
        apply(side, 2, entry, level, |level| level.0);
    }

    fn handle_status(&mut self, header: &MessageHeader, body: &[u8]) -> u8 {
        let mut scratch = SecurityStatus30::SCRATCH;
        let message = SecurityStatus30::decode(header, body, &mut scratch).unwrap();
        assert_eq!(message.security_group(), "HP");
        assert_eq!(
            self.event.as_ref().unwrap().seen,
            0,
            "message is not the only one of its event"
        );
        let status = message.security_trading_status().unwrap().0;
        match message.security_id() {
            Some(security_id) => {
                self.census.instrument_statuses += 1;
                self.books.entry(security_id).or_default().status = status;
            }
            None => {
                self.census.group_statuses += 1;
                self.books.values_mut().for_each(|book| book.status = status);
            }
        }
        message.match_event_indicator().0
    }

    fn handle_reset(&mut self, header: &MessageHeader, body: &[u8]) -> u8 {
        let mut scratch = ChannelReset4::SCRATCH;
        let message = ChannelReset4::decode(header, body, &mut scratch).unwrap();
        assert_eq!(
            self.event.as_ref().unwrap().seen,
            0,
            "message is not the only one of its event"
        );
        let mut entries = message.no_md_entries();
        let mut scratch = channel_reset4::NoMDEntries::SCRATCH;
        assert_eq!(entries.next(&mut scratch).unwrap().appl_id(), Some(310));
        self.census.channel_resets += 1;
        for book in self.books.values_mut() {
            *book = Book { status: book.status, ..Book::default() };
        }
        self.after_reset = true;
        message.match_event_indicator().0
    }
}

type BookEntry<'a> = md_incremental_refresh_book46::NoMDEntries<'a>;

fn is_implied(entry: &BookEntry<'_>) -> bool {
    matches!(entry.md_entry_type(), MDEntryTypeBook::IMPLIED_BID | MDEntryTypeBook::IMPLIED_OFFER)
}

/// Applies an entry to a side.
fn apply<L: PartialEq + core::fmt::Debug>(
    side: &mut Vec<L>,
    depth: usize,
    entry: &BookEntry<'_>,
    level: L,
    price: impl Fn(&L) -> i64,
) {
    let place = usize::from(entry.md_price_level()) - 1;
    assert!(place < depth);
    match entry.md_update_action() {
        MDUpdateAction::NEW => {
            side.insert(place, level);
            side.truncate(depth);
        }
        MDUpdateAction::CHANGE => {
            assert_eq!(price(&side[place]), price(&level), "a change entry must keep the price");
            side[place] = level;
        }
        MDUpdateAction::DELETE => assert_eq!(side.remove(place), level),
        other => panic!("action {other:?}"),
    }
}

/// A receiver of a loop feed; a loop starts with packet sequence 1.
#[derive(Debug, Default)]
pub(crate) struct LoopReceiver {
    next_sequence: Option<u32>,
    /// The number of snapshot loops that were a single heartbeat.
    pub(crate) empty_loops: u64,
    /// The snapshots of the current loop.
    books: BTreeMap<i32, Book>,
    definitions: BTreeMap<i32, Definition>,
    last_processed: Option<u32>,
    total: u32,
}

/// A complete snapshot loop.
#[derive(Debug)]
pub(crate) struct SnapshotLoop {
    pub last_processed: u32,
    pub books: BTreeMap<i32, Book>,
}

impl LoopReceiver {
    fn begin(&mut self, sequence: u32) -> bool {
        if sequence == 1 {
            let empty_loops = self.empty_loops;
            *self = Self { next_sequence: Some(1), empty_loops, ..Self::default() };
        }
        let Some(expected) = self.next_sequence else { return false };
        assert_eq!(sequence, expected, "sequence gap in a loop");
        self.next_sequence = Some(sequence + 1);
        true
    }

    /// Handles a packet of the snapshot feed, and returns the loop that it completes.
    pub(crate) fn handle_snapshots(&mut self, bytes: &[u8]) -> Option<SnapshotLoop> {
        let packet = open(bytes);
        if !self.begin(packet.sequence) {
            return None;
        }
        if let [(header, [])] = packet.messages[..]
            && header.template_id == AdminHeartbeat12::TEMPLATE_ID
        {
            assert_eq!(
                (packet.sequence, bytes.len()),
                (1, 12 + 10),
                "an empty loop has one packet"
            );
            self.empty_loops += 1;
            return None;
        }
        for (header, body) in packet.messages {
            let mut scratch = SnapshotFullRefresh52::SCRATCH;
            let message = SnapshotFullRefresh52::decode(&header, body, &mut scratch).unwrap();
            assert_eq!(message.encoded_length(), body.len() + 8);
            let last_processed = message.last_msg_seq_num_processed();
            assert_eq!(*self.last_processed.get_or_insert(last_processed), last_processed);
            self.total = message.tot_num_reports();
            let status = message.md_security_trading_status().unwrap().0;
            let mut book = Book { rpt_seq: message.rpt_seq(), status, ..Book::default() };
            let mut entries = message.no_md_entries();
            let mut scratch = snapshot_full_refresh52::NoMDEntries::SCRATCH;
            while let Some(entry) = entries.next(&mut scratch) {
                let price = entry.md_entry_px().map(|price| price.0);
                let size = entry.md_entry_size().unwrap();
                let side = match entry.md_entry_type() {
                    MDEntryType::BID => &mut book.bids,
                    MDEntryType::OFFER => &mut book.offers,
                    MDEntryType::IMPLIED_BID | MDEntryType::IMPLIED_OFFER => {
                        let is_bid = entry.md_entry_type() == MDEntryType::IMPLIED_BID;
                        let side =
                            if is_bid { &mut book.implied_bids } else { &mut book.implied_offers };
                        side.push((price.unwrap(), size));
                        assert_eq!(entry.number_of_orders(), None);
                        assert_eq!(entry.md_price_level(), Some(side.len() as i8));
                        continue;
                    }
                    MDEntryType::ELECTRONIC_VOLUME => {
                        book.volume = size;
                        continue;
                    }
                    MDEntryType::TRADE => {
                        book.last_trade = Some((price.unwrap(), size));
                        continue;
                    }
                    other => panic!("entry type {other:?}"),
                };
                side.push((price.unwrap(), size, entry.number_of_orders().unwrap()));
                assert_eq!(entry.md_price_level(), Some(side.len() as i8));
            }
            assert!(
                self.books.insert(message.security_id(), book).is_none(),
                "instrument is repeated in a loop"
            );
        }
        (self.books.len() as u32 == self.total).then(|| SnapshotLoop {
            last_processed: self.last_processed.unwrap(),
            books: core::mem::take(&mut self.books),
        })
    }

    /// Handles a packet of the instrument feed, and returns the definitions of the loop that it
    /// completes.
    pub(crate) fn handle_definitions(&mut self, bytes: &[u8]) -> Option<BTreeMap<i32, Definition>> {
        let packet = open(bytes);
        if !self.begin(packet.sequence) {
            return None;
        }
        for (header, body) in packet.messages {
            let definition = Definition::decode(&header, body);
            self.total = definition.total;
            let security_id = definition.security_id;
            assert!(self.definitions.insert(security_id, definition).is_none());
        }
        (self.definitions.len() as u32 == self.total)
            .then(|| core::mem::take(&mut self.definitions))
    }
}
