//! A receiver of all feeds, implemented only from the byte layouts and CME's rules. It shares no
//! code with the publisher or the codecs.
//!
//! It checks these properties and panics if one fails. A loop starts with packet 1 of its feed. All
//! snapshots of a loop have one value of tag 369. A set of chunks belongs to one loop. RptSeq is
//! consecutive. After a channel reset the sequence restarts at 1 or continues.

#![allow(dead_code, reason = "each test uses its part")]

mod books;
mod digest;
mod loops;
mod wire;

use std::collections::{BTreeMap, BTreeSet};

pub(crate) use books::{Instrument, Level, Order};
pub(crate) use digest::digest;
pub(crate) use loops::{Definitions, Snapshots};
pub(crate) use wire::{Message, Packet};

use wire::{byte, chars, i32_at, i64_at, u16_at, u32_at, u64_at};

/// The number of received items, with which a test checks that it covered them: messages by
/// template, and others.
#[derive(Debug, Default, Clone)]
pub(crate) struct Census {
    pub templates: BTreeMap<u16, u64>,
    /// The order entries of template 46 by action: new, update, delete.
    pub beside: [u64; 3],
    /// The order entries of template 47 by action.
    pub apart: [u64; 3],
    pub resets: u64,
    pub statistics_resets: u64,
    pub restarts: u64,
    pub events: u64,
}

/// A message of the incremental feed, with the fields that show conflation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub template: u16,
    pub transact_time: u64,
    pub indicator: u8,
    /// MsgSeqNum of the packet.
    pub sequence: u32,
}

/// A receiver of the incremental feed.
#[derive(Debug, Default)]
pub(crate) struct Follower {
    pub books: BTreeMap<i32, Instrument>,
    pub census: Census,
    /// The messages since the last [`Follower::take_seen`].
    seen: Vec<Seen>,
    pub trades: Vec<(u64, i32, i64, u64)>,
    /// SecurityID and tag 980 of the definitions on this feed.
    pub definitions: Vec<(i32, u8)>,
    next: Option<u32>,
    after_reset: bool,
    touched: BTreeSet<i32>,
    /// The last stage of the event: trades, volume, orders, books, statistics, implied.
    stage: u8,
    /// The bits received as the last of their kind.
    closed: u8,
    depth: usize,
}

impl Follower {
    pub(crate) fn new() -> Self {
        Self { depth: 10, ..Self::default() }
    }

    /// Creates a receiver with these books, as of packet `last` of the incremental feed.
    pub(crate) fn joining(books: BTreeMap<i32, Instrument>, last: u32) -> Self {
        Self { books, next: Some(last + 1), ..Self::new() }
    }

    pub(crate) fn take_seen(&mut self) -> Vec<Seen> {
        core::mem::take(&mut self.seen)
    }

    /// Handles a packet. Returns the instruments of the event that it ends, if any.
    pub(crate) fn handle(&mut self, bytes: &[u8]) -> Option<BTreeSet<i32>> {
        let packet = Packet::open(bytes);
        let expected = self.next.unwrap_or(packet.sequence);
        let restarts = core::mem::take(&mut self.after_reset) && packet.sequence == 1;
        assert!(packet.sequence == expected || restarts, "{expected}, not {}", packet.sequence);
        self.census.restarts += u64::from(restarts);
        self.next = Some(packet.sequence + 1);
        let mut ended = None;
        for message in &packet.messages {
            *self.census.templates.entry(message.template).or_default() += 1;
            if message.template == 12 {
                assert_eq!((packet.messages.len(), bytes.len()), (1, 12 + 10));
                continue;
            }
            assert!(ended.is_none(), "a message follows the end of the event in a packet");
            let (transact_time, indicator) = self.handle_message(message);
            let (template, sequence) = (message.template, packet.sequence);
            self.seen.push(Seen { template, transact_time, indicator, sequence });
            if indicator & 0x80 != 0 {
                self.census.events += 1;
                self.assert_closed();
                (self.stage, self.closed) = (0, 0);
                ended = Some(core::mem::take(&mut self.touched));
            }
        }
        ended
    }

    /// Applies a message and returns its TransactTime and MatchEventIndicator.
    fn handle_message(&mut self, message: &Message<'_>) -> (u64, u8) {
        let block = message.block;
        let at = |place: usize| (u64_at(block, 0), byte(block, place));
        match message.template {
            4 => self.handle_reset(message),
            30 => {
                self.handle_status(message);
                return at(26);
            }
            39 => return at(31),
            60 => return at(20),
            54..=58 | 63 => {
                assert_eq!(u32_at(block, 1), u32::MAX, "TotNumReports (911) is for the loop only");
                self.definitions.push((i32_at(block, 55), byte(block, 5)));
                return (u64_at(block, 6), byte(block, 0));
            }
            48 | 65 => self.handle_trades(message),
            37 | 66 => self.handle_volumes(message),
            47 => self.handle_orders(message),
            59 => self.handle_top_orders(message),
            46 | 64 => self.handle_book(message),
            51 | 67 => self.handle_session(message),
            49 => self.handle_daily(message),
            50 => self.handle_limits(message),
            62 => {}
            other => panic!("template {other} on the incremental feed"),
        }
        at(8)
    }

    /// Records a message of a kind, and checks the order of kinds and their last-of-kind bits.
    fn record(&mut self, stage: u8, bit: u8, message: &Message<'_>) {
        let indicator = byte(message.block, 8);
        assert!(stage >= self.stage, "template {} is out of order", message.template);
        if stage > self.stage {
            self.assert_closed();
            self.closed = 0;
        }
        self.stage = stage;
        assert_eq!(self.closed, 0, "template {} follows its last message", message.template);
        assert_eq!(indicator & !(bit | 0x20 | 0x80), 0, "a bit of another kind is set");
        self.closed = indicator & bit;
    }

    /// Checks that the last message of a kind was marked.
    fn assert_closed(&self) {
        assert!(
            self.stage == 0 || self.closed != 0,
            "the last message of kind {} is not marked",
            self.stage
        );
    }

    /// Advances an instrument to this RptSeq.
    fn advance(&mut self, security_id: i32, rpt_seq: u32) -> &mut Instrument {
        self.touched.insert(security_id);
        let book = self.books.entry(security_id).or_default();
        assert_eq!(rpt_seq, book.rpt_seq + 1, "RptSeq of {security_id}");
        book.rpt_seq = rpt_seq;
        book
    }

    fn handle_reset(&mut self, message: &Message<'_>) {
        assert_eq!(message.groups(&[2], &[false]), [[310_i16.to_le_bytes()]]);
        self.census.resets += 1;
        self.after_reset = true;
        self.books.values_mut().for_each(|book| *book = Instrument::default());
    }

    /// Applies a reset of the session statistics: SecurityTradingEvent (tag 1174) 4.
    fn handle_status(&mut self, message: &Message<'_>) {
        if byte(message.block, 29) != 4 {
            return;
        }
        let security_id = i32_at(message.block, 20);
        let is_named = |id: i32| security_id == i32::MAX || security_id == id;
        let named = self.books.iter_mut().filter(|(id, _)| is_named(**id));
        named.for_each(|(_, book)| book.reset_session());
        self.census.statistics_resets += 1;
    }

    fn handle_trades(&mut self, message: &Message<'_>) {
        self.record(1, 0x01, message);
        let is_long = message.template == 65;
        let length = if is_long { 40 } else { 32 };
        let groups = message.groups(&[length, 16], &[false, true]);
        let mut orders = groups[1].iter();
        for entry in &groups[0] {
            let (size, at, count) = match is_long {
                true => (u64_at(entry, 8), 16, i32_at(entry, 24)),
                false => (u64::from(u32_at(entry, 8)), 12, i32_at(entry, 20)),
            };
            let matched: u64 =
                orders.by_ref().take(count as usize).map(|order| u64::from(u32_at(order, 8))).sum();
            assert_eq!(matched, 2 * size, "aggressor and resting quantities are equal");
            let (security_id, price) = (i32_at(entry, at), i64_at(entry, 0));
            self.trades.push((u64_at(message.block, 0), security_id, price, size));
            self.advance(security_id, u32_at(entry, at + 4)).last_trade = Some((price, size));
        }
        assert_eq!(orders.next(), None);
    }

    fn handle_volumes(&mut self, message: &Message<'_>) {
        self.record(2, 0x02, message);
        let is_long = message.template == 66;
        for entry in &message.groups(&[if is_long { 24 } else { 16 }], &[false])[0] {
            let (volume, at) = match is_long {
                true => (u64_at(entry, 0), 8),
                false => (u64::from(u32_at(entry, 0)), 4),
            };
            let book = self.advance(i32_at(entry, at), u32_at(entry, at + 4));
            assert!(volume > book.volume);
            book.volume = volume;
        }
    }

    fn handle_orders(&mut self, message: &Message<'_>) {
        self.record(3, 0x04, message);
        for entry in &message.groups(&[40], &[false])[0] {
            let order = Order {
                entry_type: byte(entry, 33),
                id: u64_at(entry, 0),
                priority: u64_at(entry, 8),
                price: i64_at(entry, 16),
                quantity: u32_at(entry, 24),
            };
            let action = byte(entry, 32);
            self.census.apart[usize::from(action)] += 1;
            let security_id = i32_at(entry, 28);
            self.touched.insert(security_id);
            self.books.entry(security_id).or_default().apply_order(action, order);
        }
    }

    fn handle_top_orders(&mut self, message: &Message<'_>) {
        self.record(3, 0x04, message);
        let security_id = i32_at(message.block, 9);
        let orders: Vec<_> =
            message.groups(&[29], &[false])[0].iter().map(|e| Order::from_entry(e)).collect();
        self.touched.insert(security_id);
        self.books.entry(security_id).or_default().overlay(&orders);
    }

    fn handle_book(&mut self, message: &Message<'_>) {
        let is_long = message.template == 64;
        let groups = message.groups(&[32, 24], &[false, true]);
        let place = if is_long { 30 } else { 26 };
        let is_implied =
            groups[0].first().is_some_and(|entry| matches!(byte(entry, place), b'E' | b'F'));
        match (groups[0].is_empty(), is_implied) {
            (true, _) => assert_eq!(
                byte(message.block, 8) & !0xA0,
                0,
                "an empty message has a last-of-kind bit"
            ),
            (false, true) => self.record(6, 0x10, message),
            (false, false) => self.record(4, 0x04, message),
        }
        for entry in &groups[0] {
            let (size, at) = match is_long {
                true => (u64_at(entry, 8), 16),
                false => (u64::from(u32_at(entry, 8)), 12),
            };
            let level = Level {
                price: i64_at(entry, 0),
                quantity: size,
                orders: Some(i32_at(entry, at + 8)).filter(|&orders| orders != i32::MAX),
            };
            let depth = if is_implied { 2 } else { self.depth };
            let (number, action) = (byte(entry, at + 12), byte(entry, at + 13));
            let book = self.advance(i32_at(entry, at), u32_at(entry, at + 4));
            let kind = byte(entry, at + 14);
            if matches!(kind, b'w' | b'x') {
                let size = Some(size).filter(|&size| is_long && size != u64::MAX);
                let best = (action != 2).then_some((level.price, size));
                book.market_best[usize::from(kind == b'w')] = best;
                continue;
            }
            if kind == b'J' {
                book.market_best = [None; 2];
            }
            book.apply_level(byte(entry, at + 14), action, (number, depth), level);
        }
        for entry in &groups[1] {
            let of = groups[0][usize::from(byte(entry, 20)) - 1];
            assert!(!is_long && !is_implied);
            let order = Order {
                entry_type: byte(of, 26),
                id: u64_at(entry, 0),
                priority: u64_at(entry, 8),
                price: i64_at(of, 0),
                quantity: u32_at(entry, 16),
            };
            let action = byte(entry, 21);
            self.census.beside[usize::from(action)] += 1;
            self.books.entry(i32_at(of, 12)).or_default().apply_order(action, order);
        }
    }

    fn handle_session(&mut self, message: &Message<'_>) {
        self.record(5, 0x08, message);
        let is_long = message.template == 67;
        for entry in &message.groups(&[if is_long { 32 } else { 24 }], &[false])[0] {
            let (at, kind) = if is_long { (16, 26) } else { (8, 18) };
            let (price, kind) = (i64_at(entry, 0), byte(entry, kind));
            let flag = byte(entry, at + 8);
            assert_eq!(flag, if kind == b'4' { 0 } else { 255 });
            let book = self.advance(i32_at(entry, at), u32_at(entry, at + 4));
            assert_ne!(
                book.statistics.insert(kind, price),
                Some(price),
                "statistic is repeated without a change"
            );
        }
    }

    fn handle_daily(&mut self, message: &Message<'_>) {
        assert!(matches!(byte(message.block, 8), 0x00 | 0x80));
        for entry in &message.groups(&[32], &[false])[0] {
            let (kind, price) = (byte(entry, 24), i64_at(entry, 0));
            let value = if price == i64::MAX { i64::from(i32_at(entry, 8)) } else { price };
            let book = self.advance(i32_at(entry, 12), u32_at(entry, 16));
            book.statistics.insert(kind, value);
            if kind == b'6' {
                book.settle(u16_at(entry, 20), byte(entry, 22), value);
            }
        }
    }

    fn handle_limits(&mut self, message: &Message<'_>) {
        for entry in &message.groups(&[32], &[false])[0] {
            let limits = [0, 8, 16].map(|at| limit(entry, at));
            self.advance(i32_at(entry, 24), u32_at(entry, 28)).limits = limits;
        }
    }
}

/// Reads a price limit, 0 without one.
fn limit(bytes: &[u8], at: usize) -> i64 {
    Some(i64_at(bytes, at)).filter(|&limit| limit != i64::MAX).unwrap_or(0)
}

/// Reads the symbol of a definition.
pub(crate) fn symbol(block: &[u8]) -> String {
    chars(block, 35, 20)
}
