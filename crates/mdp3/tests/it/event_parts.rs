//! MatchEventIndicator: the parts of an event, its end, and entries one by one.

use crate::support::*;
use hairpin_mdp3::{
    BookEntryUpdate, BookUpdate, Channel, EndOfEvent, EventEnd, Feed, FeedLine, Gap, Input,
    LateJoin, LimitsUpdate, Listener, MatchEvent, Settings, Statistic, Trade, Volume,
};
use hairpin_time::{Duration, Instant, Now};

const LAST_TRADE: u8 = 0x01;
const LAST_VOLUME: u8 = 0x02;
const LAST_QUOTE: u8 = 0x04;
const LAST_STATISTICS: u8 = 0x08;
const LAST_IMPLIED: u8 = 0x10;
const RESENT: u8 = 0x20;
const LAST: u8 = 0x80;

/// Records each callback that has a MatchEventIndicator, one line each.
#[derive(Default)]
struct Lines(Vec<String>);

impl Lines {
    fn push(&mut self, name: &str, event: MatchEvent) {
        self.0.push(format!("{name} {:02X}", event.0));
    }

    fn push_end(&mut self, name: &str, event: &EndOfEvent<'_>) {
        let changed: String =
            event.changed().map(|(_, book, _)| format!(" {}", book.security_id())).collect();
        let orders = event.changed_orders().count();
        let orders = if orders == 0 { String::new() } else { format!(" orders {orders}") };
        let end = if event.end == EventEnd::Indicator {
            String::new()
        } else {
            format!(" {:?}", event.end)
        };
        self.0.push(format!("{name} {}{end}{changed}{orders}", event.packet.sequence));
    }
}

impl Listener for Lines {
    fn on_book_update(&mut self, update: &BookUpdate<'_>) {
        self.push("book", update.match_event);
    }
    fn on_trade(&mut self, trade: &Trade<'_>) {
        let resent = if trade.is_resent() { "resent trade" } else { "trade" };
        self.push(resent, trade.match_event);
    }
    fn on_volume(&mut self, volume: &Volume<'_>) {
        let resent = if volume.is_resent() { "resent volume" } else { "volume" };
        self.push(resent, volume.match_event);
    }
    fn on_statistic(&mut self, statistic: &Statistic<'_>) {
        let resent = if statistic.is_resent() { "resent statistic" } else { "statistic" };
        self.push(resent, statistic.match_event);
    }
    fn on_limits(&mut self, limits: &LimitsUpdate<'_>) {
        self.push("limits", limits.match_event);
    }
    fn on_gap(&mut self, gap: &Gap) {
        self.0.push(format!("gap {}", gap.first));
    }
    fn on_end_of_quotes(&mut self, event: &EndOfEvent<'_>) {
        self.push_end("end of quotes", event);
    }
    fn on_end_of_implied(&mut self, event: &EndOfEvent<'_>) {
        self.push_end("end of implied", event);
    }
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        self.push_end("end", event);
    }
}

/// A channel that has received nothing and takes each instrument as it comes.
struct Events {
    channel: Channel,
    lines: Lines,
}

impl Events {
    fn new(settings: Settings) -> Self {
        let settings = Settings { late_join: LateJoin::Nothing, ..settings };
        Self { channel: Channel::new(settings), lines: Lines::default() }
    }

    fn a(&mut self, packet: &PacketBuilder) {
        let now = Now { monotonic: Instant::ZERO, utc: YEAR_2026 + Duration::from_secs(3_600) };
        let input = Input { feed: Feed::Incremental, line: FeedLine::A, received: None };
        self.channel.handle_packet(now, input, packet.bytes(), &mut self.lines);
    }

    #[track_caller]
    fn assert_callbacks<const N: usize>(&mut self, expected: [&str; N]) {
        assert_eq!(std::mem::take(&mut self.lines.0), expected, "left: actual, right: expected");
    }
}

#[test]
fn quotes_end_before_event_does() {
    let mut events = Events::new(SETTINGS);
    events.a(&packet(1)
        .trade(LAST_TRADE, 7, 1, 50, 2)
        .volume(LAST_VOLUME, 7, 2, 2)
        .book(LAST_QUOTE, &[bid(7, 3).add(1, 50, 1)]));
    events.assert_callbacks(["trade 01", "volume 02", "book 04", "end of quotes 1 7"]);
    let implied = bid(7, 5).add(1, 49, 1).with_entry_type(b'E');
    let second = packet(2).in_event_of(1).statistics(LAST_STATISTICS, 7, 4);
    events.a(&second.book(LAST_IMPLIED | LAST, &[implied]));
    events.assert_callbacks(["statistic 08", "book 90", "end of implied 2 7", "end 2 7"]);
}

/// A strategy that answers the end of the quotes, or the end of the event.
#[derive(Default)]
struct Strategy {
    acts_on_quotes: bool,
    orders: Vec<u32>,
}

impl Listener for Strategy {
    fn on_end_of_quotes(&mut self, event: &EndOfEvent<'_>) {
        if self.acts_on_quotes && event.changed().next().is_some() {
            self.orders.push(event.packet.sequence);
        }
    }
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        if !self.acts_on_quotes {
            self.orders.push(event.packet.sequence);
        }
    }
}

#[test]
fn strategy_on_quotes_acts_one_packet_earlier() {
    let event = [
        packet(1).book(LAST_QUOTE, &[bid(7, 1).add(1, 50, 1)]),
        packet(2).in_event_of(1).book(LAST, &[]),
    ];
    let order_of = |acts_on_quotes| {
        let mut strategy = Strategy { acts_on_quotes, orders: Vec::new() };
        let mut channel = Channel::new(Settings { late_join: LateJoin::Nothing, ..SETTINGS });
        for packet in &event {
            let now = Now { monotonic: Instant::ZERO, utc: YEAR_2026 };
            let input = Input { feed: Feed::Incremental, line: FeedLine::A, received: None };
            channel.handle_packet(now, input, packet.bytes(), &mut strategy);
        }
        strategy.orders
    };
    assert_eq!((order_of(true), order_of(false)), (vec![1], vec![2]));
}

#[test]
fn empty_message_ends_quotes_and_event() {
    let mut events = Events::new(SETTINGS);
    events.a(&packet(1).book(LAST_QUOTE, &[bid(7, 1).add(1, 50, 1)]).book(LAST, &[]));
    events.assert_callbacks(["book 04", "end of quotes 1 7", "end 1 7"]);
    events.a(&packet(2).book(0, &[bid(7, 2).add(2, 49, 1)]).book(LAST_QUOTE, &[]).book(LAST, &[]));
    events.assert_callbacks(["book 00", "end of quotes 2 7", "end 2 7"]);
}

#[test]
fn orders_and_price_levels_each_end_quotes() {
    let orders = hairpin_mdp3::OrderBooks::Full;
    let mut events = Events::new(Settings { order_books: orders, max_orders: 16, ..SETTINGS });
    events.a(&packet(1)
        .orders(LAST_QUOTE, &[buy(7, 1, 50, 1)])
        .book(LAST_QUOTE, &[bid(7, 1).add(1, 50, 1)])
        .book(LAST, &[]));
    events.assert_callbacks([
        "end of quotes 1 orders 1",
        "book 04",
        "end of quotes 1 7 orders 1",
        "end 1 7 orders 1",
    ]);
}

#[test]
fn resent_messages_are_marked() {
    let mut events = Events::new(SETTINGS);
    events.a(&packet(1).channel_reset());
    events.lines.0.clear();
    events.a(&packet(2)
        .trade(RESENT | LAST_TRADE, 7, 1, 50, 2)
        .volume(RESENT | LAST_VOLUME, 7, 2, 9)
        .statistics(RESENT | LAST, 7, 3));
    events.assert_callbacks([
        "resent trade 21",
        "resent volume 22",
        "resent statistic A0",
        "end 2",
    ]);
    events.a(&packet(3).volume(LAST_VOLUME | LAST, 7, 4, 9));
    events.assert_callbacks(["volume 82", "end 3"]);
}

#[test]
fn new_transact_time_ends_event() {
    let mut events = Events::new(SETTINGS);
    events.a(&packet(1).book(LAST_QUOTE, &[bid(7, 1).add(1, 50, 1)]));
    events.a(&packet(2).in_event_of(1).book(LAST_QUOTE, &[bid(8, 1).add(1, 20, 1)]));
    events.lines.0.clear();
    events.a(&packet(3).book(LAST_QUOTE | LAST, &[bid(7, 2).add(2, 49, 1)]));
    events.assert_callbacks(["end 3 TransactTime 7 8", "book 84", "end of quotes 3 7", "end 3 7"]);
    let counters = events.channel.counters();
    assert_eq!((counters.events, counters.unfinished_events), (2, 1));
}

#[test]
fn new_transact_time_ends_event_of_orders() {
    let orders = hairpin_mdp3::OrderBooks::Full;
    let mut events = Events::new(Settings { order_books: orders, max_orders: 16, ..SETTINGS });
    events.a(&packet(1).orders(LAST_QUOTE, &[buy(7, 1, 50, 1)]));
    events.lines.0.clear();
    events.a(&packet(2).orders(LAST_QUOTE | LAST, &[buy(8, 2, 50, 1)]));
    events.assert_callbacks([
        "end 2 TransactTime orders 1",
        "end of quotes 2 orders 1",
        "end 2 orders 1",
    ]);
}

#[test]
fn trades_of_other_times_do_not_end_event() {
    // On a conflated feed trades have their own time, here between the quotes of an event.
    let mut events = Events::new(SETTINGS);
    events.a(&packet(1).book(0, &[bid(7, 1).add(1, 50, 1)]));
    events.a(&packet(2).trade(0, 7, 2, 50, 2));
    events.a(&packet(3).in_event_of(1).book(LAST_QUOTE | LAST, &[bid(7, 3).add(2, 49, 1)]));
    events.assert_callbacks(["book 00", "trade 00", "book 84", "end of quotes 3 7", "end 3 7"]);
}

#[test]
fn gap_ends_event() {
    let mut events = Events::new(Settings { reorder_packets: 0, ..SETTINGS });
    events.a(&packet(1).book(LAST_QUOTE, &[bid(7, 1).add(1, 50, 1)]));
    events.lines.0.clear();
    events.a(&packet(3).book(LAST_QUOTE | LAST, &[bid(8, 1).add(1, 20, 1)]));
    events.assert_callbacks(["gap 2", "end 1 Gap", "book 84", "end of quotes 3 8", "end 3 8"]);
    assert_eq!(events.channel.counters().unfinished_events, 1);
}

/// Records each entry, and the best bid that the book has after all entries of a message.
#[derive(Default)]
struct Entries(Vec<String>);

impl Listener for Entries {
    fn on_book_entry(&mut self, entry: &BookEntryUpdate<'_>) {
        let kind = if entry.implied { " implied" } else { "" };
        let price = entry.price.map_or(0, |price| price.0 / 1_000_000_000);
        self.0.push(format!(
            "{} {}{kind} {:?} {} {} {}@{price}",
            entry.security_id,
            entry.rpt_seq,
            entry.side,
            entry.action.name().unwrap_or("?"),
            entry.level,
            entry.quantity.unwrap_or(0),
        ));
    }
    fn on_book_update(&mut self, _: &BookUpdate<'_>) {
        self.0.push("book".to_owned());
    }
}

#[test]
fn reports_every_applied_entry() {
    let mut channel = Channel::new(Settings { late_join: LateJoin::Nothing, ..SETTINGS });
    let mut entries = Entries::default();
    let implied = ask(7, 4).add(1, 53, 1).with_entry_type(b'F');
    let levels = [
        bid(7, 1).add(1, 50, 1),
        bid(7, 2).change(1, 50, 2),
        bid(7, 3).overlay(1, 52, 9),
        implied,
        // Below the book: dropped, so not reported.
        bid(7, 5).add(11, 1, 1),
        bid(7, 6).delete(1),
    ];
    let now = Now { monotonic: Instant::ZERO, utc: YEAR_2026 };
    let input = Input { feed: Feed::Incremental, line: FeedLine::A, received: None };
    let bytes = packet(1).book(END, &levels);
    channel.handle_packet(now, input, bytes.bytes(), &mut entries);
    assert_eq!(
        entries.0,
        [
            "7 1 Bid New 1 1@50",
            "7 2 Bid Change 1 2@50",
            "7 3 Bid Overlay 1 9@52",
            "7 4 implied Ask New 1 1@53",
            "7 6 Bid Delete 1 0@0",
            "book",
        ]
    );
}
