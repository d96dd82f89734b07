//! Callbacks for messages other than books, definitions and statuses, and the callbacks around
//! messages.

use crate::support::*;
use hairpin_mdp3::{
    AggressorFlag, BookSide, Channel, Collateral, EndOfEvent, Feed, FeedLine, Input, LateJoin,
    LimitsUpdate, Listener, Message, Packet, Price9, PriceSource, QuoteRequest,
    SecurityAltIDSource, SecurityStatus, SecurityTradingEvent, Settings, Statistic, StatisticKind,
    TemplateIds, Trade, UpdateSource, Volume, Warning, Workup,
};
use hairpin_time::{Duration, Instant, Now};

/// Records the callbacks of this file, one line each.
#[derive(Default)]
struct Lines(Vec<String>);

impl Lines {
    fn push(&mut self, line: String) {
        self.0.push(line);
    }

    #[track_caller]
    fn assert_callbacks<const N: usize>(&mut self, expected: [&str; N]) {
        assert_eq!(std::mem::take(&mut self.0), expected, "left: actual, right: expected");
    }
}

fn source(source: UpdateSource) -> &'static str {
    if source == UpdateSource::Snapshot { " restored" } else { "" }
}

fn price(price: Option<Price9>) -> String {
    price.map_or("-".to_owned(), |price| price.to_string())
}

impl Listener for Lines {
    fn on_message(&mut self, _: &Packet, message: &Message<'_>) {
        self.push(format!("message {}", message.header.template_id));
    }
    fn on_end_of_message(&mut self, _: &Packet, message: &Message<'_>) {
        self.push(format!("end of message {}", message.header.template_id));
    }
    fn on_end_of_packet(&mut self, packet: &Packet) {
        self.push(format!("end of {} packet {}", packet.feed, packet.sequence));
    }
    fn on_heartbeat(&mut self, packet: &Packet) {
        self.push(format!("heartbeat {}", packet.feed));
    }
    fn on_statistic(&mut self, statistic: &Statistic<'_>) {
        let value = statistic.value;
        let quantity = value.quantity.map_or(String::new(), |quantity| format!(" x{quantity}"));
        let date = value.reference_date.map_or(String::new(), |date| format!(" of {date}"));
        self.push(format!(
            "statistic{} {} {} {:?} {}{quantity}{date} {}",
            source(statistic.source),
            statistic.security_id,
            statistic.rpt_seq,
            statistic.kind,
            price(value.price),
            statistic.action.name().unwrap_or("?"),
        ));
    }
    fn on_limits(&mut self, update: &LimitsUpdate<'_>) {
        let limits = update.limits;
        let shown = [limits.low, limits.high, limits.max_price_variation].map(price).join(" ");
        self.push(format!("limits{} {} {shown}", source(update.source), update.security_id));
    }
    fn on_trade(&mut self, trade: &Trade<'_>) {
        let show = |orders: hairpin_mdp3::TradeOrders<'_>| {
            let orders: Vec<_> =
                orders.map(|order| format!("{}:{}", order.order_id, order.quantity)).collect();
            orders.join(" ")
        };
        let all = trade.message_orders().len();
        self.push(format!("trade {} [{}] of {all}", trade.quantity, show(trade.orders())));
    }
    fn on_volume(&mut self, volume: &Volume<'_>) {
        self.push(format!("volume {}", volume.quantity));
    }
    fn on_quote_request(&mut self, request: &QuoteRequest<'_>) {
        let entries: Vec<_> = request
            .entries()
            .map(|entry| {
                let known = if entry.instrument.is_some() { "" } else { "?" };
                format!("{}{known} {:?} {:?}", entry.symbol, entry.quantity, entry.side)
            })
            .collect();
        self.push(format!("quote request {}: {}", request.id, entries.join(", ")));
    }
    fn on_workup(&mut self, workup: &Workup<'_>) {
        let orders: Vec<_> = workup.orders().collect();
        assert_eq!((orders[0].order_id, orders[0].side), (501, Some(BookSide::Bid)));
        assert_eq!((orders[1].order_id, orders[1].side), (502, Some(BookSide::Ask)));
        assert_eq!(orders[0].aggressor, Some(AggressorFlag::AGGRESSOR));
        assert_eq!((orders.len(), workup.trade_link_id), (2, 77));
        self.push(format!(
            "workup {} {} at {}",
            workup.security_id,
            workup.trading_status.name().unwrap_or("?"),
            price(workup.price)
        ));
    }
    fn on_collateral(&mut self, collateral: &Collateral<'_>) {
        for value in collateral.values() {
            assert_eq!(value.alt_id_source, Some(SecurityAltIDSource::CUSIP));
            assert_eq!(value.price_source, Some(PriceSource::GLOBEX));
            self.push(format!(
                "collateral {} {} {} {}",
                value.alt_id, value.instrument_guid, value.market_price, value.dirty_price
            ));
        }
    }
    fn on_security_status(&mut self, status: &SecurityStatus<'_>) {
        self.push(format!("status {:?}", status.scope));
    }
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        self.push(format!("end of event {}", event.changed().count()));
    }
    fn on_warning(&mut self, warning: &Warning) {
        self.push(format!("warning {warning}"));
    }
}

/// A channel and its recorded callbacks.
struct MessageTrace {
    channel: Channel,
    lines: Lines,
    /// Records the callbacks around every message too.
    with_frames: bool,
}

impl MessageTrace {
    fn new(channel: Channel) -> Self {
        Self { channel, lines: Lines::default(), with_frames: false }
    }

    /// Returns a channel in sync after packet 100 with instruments 7 and 8.
    fn in_sync() -> Self {
        Self::new(Trace::in_sync().channel)
    }

    fn deliver(&mut self, feed: Feed, packet: &PacketBuilder) {
        let now = Now { monotonic: Instant::ZERO, utc: YEAR_2026 + Duration::from_secs(3_600) };
        let input = Input { feed, line: FeedLine::A, received: None };
        self.channel.handle_packet(now, input, packet.bytes(), &mut self.lines);
        if !self.with_frames {
            let is_frame = |line: &String| {
                !line.starts_with("warning")
                    && (line.contains("message") || line.contains(" packet "))
            };
            self.lines.0.retain(|line| !is_frame(line));
        }
    }

    fn a(&mut self, packet: &PacketBuilder) {
        self.deliver(Feed::Incremental, packet);
    }

    fn snapshot(&mut self, packet: &PacketBuilder) {
        self.deliver(Feed::Snapshot, packet);
    }

    /// Loses packet 101, so that the channel joins the snapshot feed.
    fn lose_packet_101(&mut self) {
        self.a(&packet(102).heartbeat());
        let later = Instant::ZERO + Duration::from_secs(1);
        let now = Now { monotonic: later, utc: YEAR_2026 + Duration::from_secs(3_600) };
        self.channel.handle_timeout(now, &mut self.lines);
        self.lines.0.clear();
    }

    fn price(&self, security_id: i32, kind: StatisticKind) -> Option<i64> {
        let instrument = self.channel.find(security_id).expect("the instrument is known");
        let statistics = self.channel.instruments().statistics(instrument);
        statistics.price(kind).map(|price| price.0 / 1_000_000_000)
    }

    fn quantity(&self, security_id: i32, kind: StatisticKind) -> Option<u64> {
        let instrument = self.channel.find(security_id).expect("the instrument is known");
        self.channel.instruments().statistics(instrument).quantity(kind)
    }

    fn counter(&self, name: &str) -> u64 {
        let found = self.channel.counters().iter().find(|(counter, _)| *counter == name);
        found.unwrap_or_else(|| panic!("no counter {name}")).1
    }
}

/// Returns a daily statistic with a quantity.
fn quantity(entry_type: u8, quantity: i32) -> StatisticEntry {
    StatisticEntry { quantity: Some(quantity), ..statistic(entry_type, None, 0) }
}

#[test]
fn reports_and_stores_session_statistics() {
    let mut trace = MessageTrace::in_sync();
    let entries = [
        statistic(b'4', None, 50),
        statistic(b'4', Some(5), 51),
        StatisticEntry { quantity: Some(3), ..statistic(b'7', None, 60) },
        statistic(b'8', None, 40),
        statistic(b'N', None, 59),
        statistic(b'O', None, 41),
        statistic(b'9', Some(100), 50),
        statistic(b'9', Some(102), 3),
    ];
    trace.a(&packet(101).session_statistics(7, 1, &entries));
    trace.lines.assert_callbacks([
        "statistic 7 1 Open 50 New",
        "statistic 7 2 IndicativeOpen 51 New",
        "statistic 7 3 High 60 x3 New",
        "statistic 7 4 Low 40 New",
        "statistic 7 5 HighestBid 59 New",
        "statistic 7 6 LowestOffer 41 New",
        "statistic 7 7 Vwap 50 New",
        "statistic 7 8 RepoAverage10 3 New",
        "end of event 0",
    ]);
    assert_eq!(trace.price(7, StatisticKind::High), Some(60));
    assert_eq!(trace.quantity(7, StatisticKind::High), Some(3));
    assert_eq!(trace.price(7, StatisticKind::RepoAverage10), Some(3));
    assert_eq!(trace.price(8, StatisticKind::High), None);
    assert_eq!(trace.counter("statistics"), 8);
    // They count in the RptSeq of the book.
    trace.a(&packet(102).book(END, &[bid(7, 9).add(1, 50, 1)]));
    trace.lines.assert_callbacks(["end of event 1"]);
}

#[test]
fn reports_and_stores_long_session_statistics() {
    let mut trace = MessageTrace::in_sync();
    let entry = StatisticEntry { quantity: Some(3), ..statistic(b'7', None, 60) };
    trace.a(&packet(101).long_statistics(7, 1, &[entry]));
    trace.lines.assert_callbacks(["statistic 7 1 High 60 x3 New", "end of event 0"]);
    assert_eq!(trace.price(7, StatisticKind::High), Some(60));
}

#[test]
fn reports_and_stores_daily_statistics() {
    let mut trace = MessageTrace::in_sync();
    let entries = [
        statistic(b'6', Some(0b11), 52),
        quantity(b'B', 1_000),
        quantity(b'C', 2_000),
        statistic(b'W', None, 53),
    ];
    trace.a(&packet(101).daily_statistics(7, 1, &entries));
    trace.lines.assert_callbacks([
        "statistic 7 1 Settlement 52 of 20454 New",
        "statistic 7 2 ClearedVolume - x1000 of 20454 New",
        "statistic 7 3 OpenInterest - x2000 of 20454 New",
        "statistic 7 4 FixingPrice 53 of 20454 New",
        "end of event 0",
    ]);
    let instrument = trace.channel.find(7).unwrap();
    let statistics = trace.channel.instruments().statistics(instrument);
    let settlement = statistics.value(StatisticKind::Settlement).unwrap();
    use hairpin_mdp3::SettlPriceType;
    let flags = SettlPriceType(SettlPriceType::FINAL_DAILY.0 | SettlPriceType::ACTUAL.0);
    assert_eq!((settlement.settlement_type, settlement.reference_date), (flags, Some(20_454)));
    assert_eq!(statistics.quantity(StatisticKind::OpenInterest), Some(2_000));
}

#[test]
fn removes_deleted_statistic() {
    let mut trace = MessageTrace::in_sync();
    trace.a(&packet(101).session_statistics(7, 1, &[statistic(b'7', None, 60)]));
    assert_eq!(trace.price(7, StatisticKind::High), Some(60));
    let deleted = StatisticEntry { action: 2, ..statistic(b'7', None, 60) };
    trace.a(&packet(102).session_statistics(7, 2, &[deleted]));
    assert_eq!(trace.price(7, StatisticKind::High), None);
    assert!(trace.lines.0.contains(&"statistic 7 2 High 60 Delete".to_owned()));
}

#[test]
fn reports_unknown_flag_without_storing() {
    let mut trace = MessageTrace::in_sync();
    trace.a(&packet(101).session_statistics(7, 1, &[statistic(b'9', Some(99), 60)]));
    trace.lines.assert_callbacks(["statistic 7 1 Unknown 60 New", "end of event 0"]);
    assert_eq!(trace.price(7, StatisticKind::Vwap), None);
}

#[test]
fn limits_override_those_of_definition() {
    let mut trace = MessageTrace::in_sync();
    trace.a(&packet(101).limits(7, 1, [Some(70), Some(30), None]));
    trace.lines.assert_callbacks(["limits 7 30 70 -", "end of event 0"]);
    let instrument = trace.channel.find(7).unwrap();
    let limits = trace.channel.instruments().price_limits(instrument);
    assert_eq!(
        (limits.high, limits.low),
        (Some(Price9(70_000_000_000)), Some(Price9(30_000_000_000)))
    );
    assert_eq!(limits.max_price_variation, None);
    trace.a(&packet(102).limits(7, 2, [None, Some(30), Some(5)]));
    let limits = trace.channel.instruments().statistics(instrument).limits();
    assert_eq!((limits.high, limits.max_price_variation), (None, Some(Price9(5_000_000_000))));
    assert_eq!(trace.counter("limits"), 2);
}

#[test]
fn stores_volume_and_last_trade() {
    let mut trace = MessageTrace::in_sync();
    let trades = packet(101).trade(MORE, 7, 1, 50, 3).volume(END, 7, 2, 3);
    trace.a(&trades.long_volume(8, 1, u64::from(u32::MAX) + 1));
    let instrument = trace.channel.find(7).unwrap();
    let statistics = trace.channel.instruments().statistics(instrument);
    assert_eq!(statistics.volume(), Some(3));
    let trade = statistics.value(StatisticKind::LastTrade).unwrap();
    assert_eq!((trade.price, trade.quantity), (Some(Price9(50_000_000_000)), Some(3)));
    assert_eq!(trace.quantity(8, StatisticKind::Volume), Some(u64::from(u32::MAX) + 1));
}

#[test]
fn snapshot_restores_lost_statistic() {
    let mut trace = MessageTrace::in_sync();
    trace.lose_packet_101();
    let entries = [
        statistic(b'6', Some(0b1), 52),
        quantity(b'e', 9),
        statistic(b'4', Some(5), 51),
        StatisticEntry { quantity: None, ..statistic(b'2', None, 50) },
    ];
    let limits = [Some(70), Some(30), None];
    trace.snapshot(&sent_at(1, 200).statistics_snapshot(7, 102, 2, &entries, limits));
    trace.lines.assert_callbacks([
        "statistic restored 7 1000 Settlement 52 of 20454 New",
        "statistic restored 7 1000 Volume - x9 New",
        "statistic restored 7 1000 IndicativeOpen 51 New",
        "statistic restored 7 1000 LastTrade 50 New",
        "limits restored 7 30 70 -",
    ]);
    assert_eq!(trace.quantity(7, StatisticKind::Volume), Some(9));
    assert_eq!(trace.price(7, StatisticKind::Settlement), Some(52));
    // Neither a repetition nor an older value is reported.
    trace.snapshot(&sent_at(1, 300).statistics_snapshot(7, 102, 2, &entries, limits));
    trace.lines.assert_callbacks([]);
}

#[test]
fn long_snapshot_has_statistics() {
    let mut trace = MessageTrace::in_sync();
    trace.lose_packet_101();
    let entries = [quantity(b'e', 9), statistic(b'9', Some(101), 3)];
    trace.snapshot(&sent_at(1, 200).long_statistics_snapshot(7, 102, 2, &entries));
    trace.lines.assert_callbacks([
        "statistic restored 7 1000 Volume - x9 New",
        "statistic restored 7 1000 RepoAverage830 3 New",
    ]);
}

#[test]
fn later_of_message_and_snapshot_wins_per_statistic() {
    let mut trace = MessageTrace::in_sync();
    trace.lose_packet_101();
    trace.a(&packet(103).session_statistics(7, 1, &[statistic(b'7', None, 60)]));
    let entries = [statistic(b'7', None, 59), statistic(b'8', None, 40)];
    trace.snapshot(&sent_at(1, 200).statistics_snapshot(7, 102, 2, &entries, [None; 3]));
    assert_eq!(trace.price(7, StatisticKind::High), Some(60), "the snapshot is older");
    assert_eq!(trace.price(7, StatisticKind::Low), Some(40));
}

#[test]
fn channel_reset_clears_statistics_and_limits() {
    let mut trace = MessageTrace::in_sync();
    let packet_101 = packet(101).session_statistics(7, 1, &[statistic(b'7', None, 60)]);
    let packet_101 = packet_101.daily_statistics(7, 2, &[statistic(b'6', Some(1), 52)]);
    trace.a(&packet_101.limits(7, 3, [Some(70), None, None]).volume(END, 7, 4, 5));
    trace.a(&packet(102).channel_reset());
    let instrument = trace.channel.find(7).unwrap();
    let instruments = trace.channel.instruments();
    assert_eq!(instruments.statistics(instrument).iter().count(), 0);
    // New session values are stored; daily statistics are not sent again.
    trace.a(&packet(103).session_statistics(7, 1, &[statistic(b'7', None, 61)]));
    assert_eq!(trace.price(7, StatisticKind::High), Some(61));
    assert_eq!(trace.price(7, StatisticKind::Settlement), None);
}

#[test]
fn event_resets_session_statistics() {
    let mut trace = MessageTrace::in_sync();
    let statistics = packet(101).session_statistics(7, 1, &[statistic(b'7', None, 60)]);
    trace.a(&statistics.daily_statistics(7, 2, &[statistic(b'6', Some(1), 52)]));
    const NO_CHANGE: u8 = 103;
    trace.a(&packet(102).status(7, NO_CHANGE, 0, SecurityTradingEvent::RESET_STATISTICS.0));
    assert_eq!(trace.price(7, StatisticKind::High), None);
    assert_eq!(trace.price(7, StatisticKind::Settlement), Some(52));
}

#[test]
fn statistics_after_reset_equal_snapshot() {
    let mut trace = MessageTrace::in_sync();
    let session = [
        statistic(b'4', None, 50),
        statistic(b'4', Some(5), 51),
        statistic(b'7', None, 60),
        statistic(b'8', None, 40),
        statistic(b'N', None, 59),
        statistic(b'O', None, 41),
        statistic(b'9', Some(100), 50),
        statistic(b'9', Some(101), 3),
    ];
    let daily = [statistic(b'6', Some(3), 52), quantity(b'B', 1_000), quantity(b'C', 2_000)];
    let first = packet(101).session_statistics(7, 1, &session).daily_statistics(7, 9, &daily);
    let first = first.limits(7, 12, [Some(70), Some(30), None]);
    trace.a(&first.trade(MORE, 7, 13, 50, 3).volume(END, 7, 14, 3));
    trace.a(&packet(102).status(7, 103, 0, SecurityTradingEvent::RESET_STATISTICS.0));
    // The exchange removes 2, e, 7, 8, N, O and 4 from its snapshots, and keeps the others.
    let mut other = MessageTrace::in_sync();
    other.lose_packet_101();
    let left = [
        statistic(b'9', Some(100), 50),
        statistic(b'9', Some(101), 3),
        statistic(b'6', Some(3), 52),
        quantity(b'B', 1_000),
        quantity(b'C', 2_000),
    ];
    let limits = [Some(70), Some(30), None];
    other.snapshot(&sent_at(1, 200).statistics_snapshot(7, 102, 2, &left, limits));
    // Template 52 states dates of settlements only.
    let values = |trace: &MessageTrace| -> Vec<_> {
        let instrument = trace.channel.find(7).unwrap();
        let statistics = trace.channel.instruments().statistics(instrument);
        statistics
            .iter()
            // A snapshot that omits the last trade leaves the one before.
            .filter(|(kind, _)| *kind != StatisticKind::LastTrade)
            .map(|(kind, value)| (kind, value.price, value.quantity))
            .collect()
    };
    assert_eq!(values(&trace), values(&other));
    assert_eq!((values(&trace).len(), trace.price(7, StatisticKind::LastTrade)), (7, None));
}

#[test]
fn snapshot_has_settlements_of_all_kinds() {
    let mut trace = MessageTrace::in_sync();
    trace.lose_packet_101();
    let entries = [statistic(b'6', Some(3), 52), statistic(b'6', Some(6), 51)];
    trace.snapshot(&sent_at(1, 200).statistics_snapshot(7, 102, 2, &entries, [None; 3]));
    let instrument = trace.channel.find(7).unwrap();
    let statistics = trace.channel.instruments().statistics(instrument);
    assert_eq!(statistics.settlements().count(), 2);
    assert_eq!(trace.price(7, StatisticKind::Settlement), Some(52), "final before preliminary");
}

#[test]
fn single_trade_has_all_orders_of_message() {
    let mut trace = MessageTrace::in_sync();
    trace.a(&packet(101).trades(7, 1, &[(5, 9)], &[(11, 5), (12, 2), (13, 3)]));
    trace.lines.assert_callbacks(["trade 5 [11:5 12:2 13:3] of 3", "end of event 0"]);
}

#[test]
fn assigns_orders_to_trades_if_counts_match() {
    let mut trace = MessageTrace::in_sync();
    let orders = [(11, 5), (12, 5), (11, 3), (13, 2), (14, 1)];
    trace.a(&packet(101).trades(7, 1, &[(5, 2), (3, 3)], &orders));
    trace.lines.assert_callbacks([
        "trade 5 [11:5 12:5] of 5",
        "trade 3 [11:3 13:2 14:1] of 5",
        "end of event 0",
    ]);
    trace.a(&packet(102).long_trades(8, 1, &[(5, 2), (3, 3)], &orders));
    trace.lines.assert_callbacks([
        "trade 5 [11:5 12:5] of 5",
        "trade 3 [11:3 13:2 14:1] of 5",
        "end of event 0",
    ]);
    // The trades of these orders are unknown.
    trace.a(&packet(103).trades(7, 3, &[(5, 2), (3, 2)], &orders));
    trace.lines.assert_callbacks(["trade 5 [] of 5", "trade 3 [] of 5", "end of event 0"]);
}

#[test]
fn trade_without_orders_is_empty() {
    let mut trace = MessageTrace::in_sync();
    trace.a(&packet(101).trades(7, 1, &[(5, 2), (1, 2)], &[]).trade(END, 8, 1, 50, 4));
    trace.lines.assert_callbacks([
        "trade 5 [] of 0",
        "trade 1 [] of 0",
        "end of event 0",
        "trade 4 [] of 0",
        "end of event 0",
    ]);
}

#[test]
fn reports_quote_request_with_instruments() {
    let mut trace = MessageTrace::in_sync();
    trace.a(&packet(101).quote_request(&[7, 99]));
    trace.lines.assert_callbacks([
        "quote request 4711: ES7 Some(10) Some(Bid), ES99? Some(10) Some(Bid)",
        "end of event 0",
    ]);
    assert_eq!(trace.counter("quote_requests"), 1);
}

#[test]
fn workup_is_reported_and_sets_status() {
    let mut trace = MessageTrace::in_sync();
    trace.a(&packet(101).workup(7, 201, 0));
    trace.lines.assert_callbacks(["workup 7 PrivateWorkup at 99", "end of event 0"]);
    let instrument = trace.channel.find(7).unwrap();
    let status = trace.channel.instruments().status(instrument);
    assert_eq!(status.trading_status.map(|status| status.0), Some(201));
    trace.a(&packet(102).workup(7, 17, 7));
    let status = trace.channel.instruments().status(instrument);
    assert_eq!(status.event, Some(SecurityTradingEvent::END_OF_WORKUP));
    assert_eq!(trace.counter("workups"), 2);
}

#[test]
fn reports_collateral() {
    let mut trace = MessageTrace::in_sync();
    trace.a(&packet(101).collateral());
    trace.lines.assert_callbacks(["collateral US912828 9 99 101", "end of event 0"]);
    assert_eq!(trace.counter("collaterals"), 1);
}

#[test]
fn reports_heartbeats_of_all_feeds() {
    let mut trace = MessageTrace::in_sync();
    trace.a(&packet(101).heartbeat());
    trace.lines.assert_callbacks(["heartbeat incremental"]);
    trace.a(&packet(103).heartbeat());
    let later = Now { monotonic: Instant::from_nanos(1 << 40), utc: YEAR_2026 };
    trace.channel.handle_timeout(later, &mut trace.lines);
    trace.lines.0.clear();
    trace.snapshot(&sent_at(1, 200).heartbeat());
    trace.lines.assert_callbacks(["heartbeat snapshot"]);
    trace.deliver(Feed::Instrument, &sent_at(1, 200).heartbeat());
    trace.lines.assert_callbacks(["heartbeat instrument"]);
    assert_eq!(trace.counter("heartbeats"), 5, "one before the test");
}

#[test]
fn empty_message_ends_event() {
    let mut trace = MessageTrace::in_sync();
    trace.a(&packet(101).book(MORE, &[bid(7, 1).add(1, 50, 1)]).book(END, &[]));
    trace.lines.assert_callbacks(["end of event 1"]);
    trace.a(&packet(102).book(MORE, &[bid(7, 2).add(1, 51, 1)]).trades(7, 3, &[], &[]));
    trace.lines.assert_callbacks(["end of event 1"]);
    trace.a(&packet(103).book(MORE, &[bid(7, 3).add(1, 52, 1)]).daily_statistics(7, 4, &[]));
    trace.lines.assert_callbacks(["end of event 1"]);
}

#[test]
fn end_callbacks_follow_contents() {
    let mut trace = MessageTrace::in_sync();
    trace.with_frames = true;
    trace.a(&packet(101).trade(MORE, 7, 1, 50, 3).volume(END, 7, 2, 3));
    trace.lines.assert_callbacks([
        "message 48",
        "trade 3 [] of 0",
        "end of message 48",
        "message 37",
        "volume 3",
        "end of event 0",
        "end of message 37",
        "end of incremental packet 101",
    ]);
    // A message that cannot be decoded has an end callback, and so has a packet with an invalid
    // end.
    trace.a(&packet(102).raw([11, 200, 1, 13], &[0; 11]).raw([11, 46, 1, 13], &[0; 5]));
    trace.lines.assert_callbacks([
        "message 200",
        "warning skipped message of unknown template 200",
        "end of message 200",
        "message 46",
        "end of message 46",
        "end of incremental packet 102",
    ]);
}

#[test]
fn loop_packets_have_end_callbacks() {
    let mut trace = MessageTrace::in_sync();
    trace.lose_packet_101();
    trace.with_frames = true;
    trace.snapshot(&sent_at(1, 200).snapshot(7, 102, 2, 0, &[]));
    trace.lines.assert_callbacks(["message 52", "end of message 52", "end of snapshot packet 1"]);
    trace.snapshot(&sent_at(1, 200).snapshot(7, 102, 2, 0, &[]));
    trace.lines.assert_callbacks([]);
    trace.deliver(Feed::Instrument, &sent_at(1, 200).definition(7, 2, 10));
    trace.lines.assert_callbacks(["message 54", "end of message 54", "end of instrument packet 1"]);
}

#[test]
fn template_ids_can_be_overridden() {
    let templates = TemplateIds::AS_PUBLISHED.with(146, 46).with(152, 52).with(154, 54);
    let settings = Settings { templates, ..SETTINGS };
    let renumbered = |mut packet: PacketBuilder| {
        // The template of the first message.
        packet.bytes_mut()[16] += 100;
        packet
    };
    let mut trace = MessageTrace::new(Channel::new(settings));
    trace.a(&packet(100).heartbeat());
    trace.deliver(Feed::Instrument, &renumbered(packet(1).definition(7, 1, 10)));
    trace.snapshot(&renumbered(packet(1).snapshot(7, 100, 1, 0, &[])));
    trace.with_frames = true;
    trace.lines.0.clear();
    trace.a(&renumbered(packet(101).book(END, &[bid(7, 1).add(1, 50, 1)])));
    trace.lines.assert_callbacks([
        "message 46",
        "end of event 1",
        "end of message 46",
        "end of incremental packet 101",
    ]);
    // The original ids still apply.
    trace.a(&packet(102).book(END, &[bid(7, 2).add(1, 51, 1)]));
    assert!(trace.lines.0.contains(&"end of event 1".to_owned()));
    assert_eq!(trace.counter("unknown_templates"), 0);
}

#[test]
fn id_can_map_to_another_template() {
    let templates = TemplateIds::AS_PUBLISHED.with(46, 37).with(37, 46);
    let settings = Settings { templates, late_join: LateJoin::Nothing, ..SETTINGS };
    let mut trace = MessageTrace::new(Channel::new(settings));
    let mut swapped = packet(1).book(END, &[bid(7, 1).add(1, 50, 1)]);
    swapped.bytes_mut()[16] = 37;
    trace.a(&swapped);
    trace.lines.assert_callbacks(["end of event 1"]);
}

#[test]
fn warns_once_per_unknown_template() {
    let mut trace = MessageTrace::in_sync();
    // 200 and 264 are equal in their lower six bits.
    for (sequence, template) in [(101, 200), (102, 264), (103, 200), (104, 65_535)] {
        trace.a(&packet(sequence).raw([11, template, 1, 13], &[0; 11]));
    }
    trace.lines.assert_callbacks([
        "warning skipped message of unknown template 200",
        "warning skipped message of unknown template 264",
        "warning skipped message of unknown template 65535",
    ]);
    assert_eq!(trace.counter("unknown_templates"), 4);
}

#[test]
fn reports_statistics_and_trades_out_of_sync() {
    let mut trace = MessageTrace::in_sync();
    trace.lose_packet_101();
    trace.a(&packet(103).session_statistics(7, 9, &[statistic(b'7', None, 60)]));
    trace.a(&packet(104).trade(END, 7, 10, 50, 3));
    trace.lines.assert_callbacks([
        "statistic 7 9 High 60 New",
        "end of event 0",
        "trade 3 [] of 0",
        "end of event 0",
    ]);
    assert_eq!(trace.price(7, StatisticKind::LastTrade), Some(50));
}

#[test]
fn reports_statistic_of_unknown_instrument() {
    let settings = Settings { late_join: LateJoin::Nothing, ..SETTINGS };
    let mut trace = MessageTrace::new(Channel::new(settings));
    // The first entry of an instrument that exists from it on.
    trace.a(&packet(1).session_statistics(7, 1, &[statistic(b'7', None, 60)]));
    trace.a(&packet(2).volume(END, 8, 1, 5));
    assert_eq!(trace.price(7, StatisticKind::High), Some(60));
    assert_eq!(trace.quantity(8, StatisticKind::Volume), Some(5));
}
