//! Captured packets from CME.
#![allow(clippy::unwrap_used, reason = "an unreadable capture fails the test")]

use std::fs::File;
use std::path::{Path, PathBuf};

use hairpin_cme_codecs::mdp3 as codec;
use hairpin_mdp3::{
    BookUpdate, Channel, EndOfEvent, Error, Feed, FeedLine, Input, LateJoin, Listener, Message,
    OrderBooks, Packet, Price9, Settings, Trade, Volume, Warning,
};
use hairpin_time::{Instant, Now, Utc};
use pcap_file::pcap::PcapReader;

/// Returns the folder of captures, or `None` with a message if it is missing.
fn captures() -> Option<PathBuf> {
    let data = std::env::var_os("HAIRPIN_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let captures = data.join("captures/mdp3");
    if captures.is_dir() {
        return Some(captures);
    }
    let required = std::env::var_os("HAIRPIN_DATA_REQUIRED").is_some();
    assert!(!required, "{} does not exist", captures.display());
    println!("skipped: {} does not exist", captures.display());
    None
}

/// Returns the payloads of the UDP datagrams and TCP segments in a capture of Ethernet frames.
fn payloads(path: &Path) -> Vec<Vec<u8>> {
    let mut reader = PcapReader::new(File::open(path).unwrap()).unwrap();
    let mut payloads = Vec::new();
    while let Some(record) = reader.next_packet() {
        let frame = record.unwrap().data.into_owned();
        let mut ip = 14;
        if frame[12..14] == [0x81, 0x00] {
            ip += 4;
        }
        let header = usize::from(frame[ip] & 0x0F) * 4;
        let end = ip + usize::from(u16::from_be_bytes([frame[ip + 2], frame[ip + 3]]));
        let transport = ip + header;
        let payload = match frame[ip + 9] {
            17 => transport + 8,
            6 => transport + usize::from(frame[transport + 12] >> 4) * 4,
            protocol => panic!("IP protocol {protocol}"),
        };
        payloads.push(frame[payload..end].to_vec());
    }
    payloads
}

#[derive(Default)]
struct Seen {
    templates: Vec<u16>,
    book_updates: usize,
    trades: Vec<(Price9, u64)>,
    /// The stated number of orders of each trade, and the filled quantity of each order.
    orders: Vec<(u32, Vec<u64>)>,
    volumes: Vec<u64>,
    ends: usize,
    errors: Vec<Error>,
    warnings: Vec<Warning>,
}

impl Listener for Seen {
    fn on_message(&mut self, _: &Packet, message: &Message<'_>) {
        self.templates.push(message.header.template_id);
    }
    fn on_book_update(&mut self, _: &BookUpdate<'_>) {
        self.book_updates += 1;
    }
    fn on_trade(&mut self, trade: &Trade<'_>) {
        self.trades.push((trade.price, trade.quantity));
        let filled = trade.orders().map(|order| order.quantity).collect();
        self.orders.push((trade.orders, filled));
    }
    fn on_volume(&mut self, volume: &Volume<'_>) {
        self.volumes.push(volume.quantity);
    }
    fn on_end_of_event(&mut self, _: &EndOfEvent<'_>) {
        self.ends += 1;
    }
    fn on_error(&mut self, _: Option<&Packet>, error: &Error) {
        self.errors.push(*error);
    }
    fn on_warning(&mut self, warning: &Warning) {
        self.warnings.push(*warning);
    }
}

fn feed(path: &Path) -> (Channel, Seen) {
    let settings =
        Settings { late_join: LateJoin::Nothing, max_instruments: 64, ..Settings::default() };
    let (mut channel, mut seen) = (Channel::new(settings), Seen::default());
    let now = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };
    for payload in payloads(path) {
        for side in FeedLine::ALL {
            let input = Input { feed: Feed::Incremental, line: side, received: None };
            channel.handle_packet(now, input, &payload, &mut seen);
        }
    }
    assert!(channel.counters().duplicates > 0, "line B delivered packets");
    (channel, seen)
}

/// Returns all errors except those of books that started before the capture.
fn framing_errors(seen: &Seen) -> Vec<Error> {
    let is_book = |error: &Error| matches!(error, Error::InapplicableEntry { .. });
    seen.errors.iter().copied().filter(|error| !is_book(error)).collect()
}

#[test]
fn decodes_version_9_captures() {
    let Some(captures) = captures() else { return };
    for (name, templates) in [
        ("MdIncrementalRefreshBook", &[46][..]),
        ("MdIncrementalRefreshOrderBook", &[47]),
        ("MdIncrementalRefreshTradeSummary", &[48, 37, 47, 46]),
    ] {
        let (channel, seen) = feed(&captures.join("v1.9").join(format!("{name}.pcap")));
        assert_eq!(framing_errors(&seen), [], "{name}");
        assert_eq!(seen.warnings, [], "{name}");
        for template in templates {
            assert!(seen.templates.contains(template), "{name}: {:?}", seen.templates);
        }
        assert_eq!(channel.counters().messages, seen.templates.len() as u64);
    }
}

#[test]
fn trade_event_has_five_messages() {
    let Some(captures) = captures() else { return };
    let path = captures.join("v1.9/MdIncrementalRefreshTradeSummary.pcap");
    let (channel, seen) = feed(&path);
    assert_eq!(seen.templates, [48, 37, 47, 46, 46]);
    assert_eq!(seen.trades, [(Price9(12_952_000_000_000), 2)]);
    // The aggressor's order first, then the two it matched.
    assert_eq!(seen.orders, [(3, vec![2, 1, 1])]);
    assert_eq!(seen.volumes, [3_765]);
    assert_eq!((seen.ends, channel.counters().events), (1, 1));
}

#[test]
fn decodes_version_12_capture_with_long_quantities() {
    let Some(captures) = captures() else { return };
    let settings = Settings { late_join: LateJoin::Nothing, ..Settings::default() };
    let (mut channel, mut seen) = (Channel::new(settings), Seen::default());
    let now = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };
    for payload in payloads(&captures.join("v1.12/MdIncrementalRefreshBookLongQty.pcap")) {
        // On conflated TCP, 0xCAFE precedes the packet header.
        assert_eq!(payload[..2], [0xFE, 0xCA]);
        let input = Input { feed: Feed::Incremental, line: FeedLine::A, received: None };
        channel.handle_packet(now, input, &payload[2..], &mut seen);
    }
    assert_eq!((framing_errors(&seen), &seen.templates[..]), (vec![], &[64][..]));
    assert_eq!((channel.counters().events, channel.instruments().len()), (1, 1));
    assert_eq!(channel.book_of(11_827_320).unwrap().rpt_seq(), None, "TCP carries no RptSeq");
}

/// An order entry of a capture: SecurityID, OrderID, price, displayed quantity, action.
type WireOrder = (i32, u64, Option<Price9>, Option<i32>, u8);

/// The order entries of template 47, and of 46 and 64 with the price levels they refer to.
#[derive(Default)]
struct WireOrders(Vec<WireOrder>);

/// Decodes the order entries of a book message of one template.
macro_rules! combined_orders {
    ($orders:ident, $message:ident, $type:ident, $module:ident) => {{
        let mut scratch = codec::$type::SCRATCH;
        let decoded = codec::$type::decode(&$message.header, $message.body, &mut scratch).unwrap();
        let mut levels = Vec::new();
        let mut group = decoded.no_md_entries();
        let mut scratch = codec::$module::NoMDEntries::SCRATCH;
        while let Some(level) = group.next(&mut scratch) {
            levels.push((level.security_id(), level.md_entry_px()));
        }
        let mut group = decoded.no_order_id_entries();
        let mut scratch = codec::$module::NoOrderIDEntries::SCRATCH;
        while let Some(order) = group.next(&mut scratch) {
            let (id, at) = levels[usize::from(order.reference_id().unwrap()) - 1];
            let action = order.order_update_action().0;
            $orders.push((id, order.order_id(), at, order.md_display_qty(), action));
        }
    }};
}

impl Listener for WireOrders {
    fn on_message(&mut self, _: &Packet, message: &Message<'_>) {
        let orders = &mut self.0;
        match message.header.template_id {
            46 => combined_orders!(
                orders,
                message,
                MDIncrementalRefreshBook46,
                md_incremental_refresh_book46
            ),
            64 => combined_orders!(
                orders,
                message,
                MDIncrementalRefreshBookLongQty64,
                md_incremental_refresh_book_long_qty64
            ),
            47 => {
                let mut scratch = codec::MDIncrementalRefreshOrderBook47::SCRATCH;
                let (header, body) = (&message.header, message.body);
                let decoded =
                    codec::MDIncrementalRefreshOrderBook47::decode(header, body, &mut scratch);
                let mut group = decoded.unwrap().no_md_entries();
                let mut scratch = codec::md_incremental_refresh_order_book47::NoMDEntries::SCRATCH;
                while let Some(order) = group.next(&mut scratch) {
                    let (id, at) = (order.security_id(), order.md_entry_px());
                    let action = order.md_update_action().0;
                    let order_id = order.order_id().unwrap();
                    orders.push((id, order_id, at, order.md_display_qty(), action));
                }
            }
            _ => {}
        }
    }
}

#[test]
fn order_books_contain_captured_orders() {
    let Some(captures) = captures() else { return };
    let mut total = 0;
    for name in [
        "v1.9/MdIncrementalRefreshBook",
        "v1.9/MdIncrementalRefreshOrderBook",
        "v1.9/MdIncrementalRefreshTradeSummary",
        "v1.12/MdIncrementalRefreshBookLongQty",
    ] {
        let settings = Settings {
            late_join: LateJoin::Nothing,
            max_instruments: 64,
            order_books: OrderBooks::Full,
            max_orders: 1_000,
            ..Settings::default()
        };
        let (mut channel, mut wire) = (Channel::new(settings), WireOrders::default());
        let now = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };
        for payload in payloads(&captures.join(format!("{name}.pcap"))) {
            // On conflated TCP, 0xCAFE precedes the packet header.
            let bytes = payload.strip_prefix(&[0xFE, 0xCA]).unwrap_or(&payload);
            let input = Input { feed: Feed::Incremental, line: FeedLine::A, received: None };
            channel.handle_packet(now, input, bytes, &mut wire);
        }
        let counters = channel.counters();
        // The capture starts during the day, so earlier orders are unknown.
        let taken = counters.order_entries + counters.missing_orders + counters.existing_orders;
        assert_eq!(taken, wire.0.len() as u64, "{name}");
        assert_eq!((counters.invalid_orders, counters.dangling_orders), (0, 0), "{name}");
        let last = |order: &WireOrder| {
            wire.0.iter().rfind(|other| (other.0, other.1) == (order.0, order.1)) == Some(order)
        };
        for order in wire.0.iter().filter(|order| order.4 == 0 && last(order)) {
            let (id, order_id, price, quantity, _) = *order;
            let book = channel.order_book(channel.find(id).unwrap());
            let (_, found) = book.find(order_id).unwrap();
            assert_eq!(Some(found.price), price, "{name}: {order_id}");
            assert_eq!(found.quantity, u64::try_from(quantity.unwrap()).unwrap());
            total += 1;
        }
    }
    assert!(total > 0, "some capture has new orders");
}
