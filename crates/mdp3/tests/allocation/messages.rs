//! Messages and reading their views allocate nothing.

use crate::support::*;
use hairpin_mdp3::{
    Channel, Collateral, DefinitionUpdate, EndOfEvent, Feed, FeedLine, Filter, Input, LimitsUpdate,
    Listener, Packet, QuoteRequest, Settings, Statistic, TemplateIds, Text, Trade, Workup,
};
use hairpin_testbed::allocations;
use hairpin_time::{Instant, Now, Utc};

/// Reads all views and counts.
#[derive(Default)]
struct Tally {
    statistics: usize,
    limits: usize,
    orders: usize,
    requests: usize,
    ends: usize,
}

impl Listener for Tally {
    fn user_data(&mut self, update: &DefinitionUpdate<'_>, _: u64) -> u64 {
        update.instrument.as_usize() as u64
    }
    fn on_statistic(&mut self, _: &Statistic<'_>) {
        self.statistics += 1;
    }
    fn on_limits(&mut self, _: &LimitsUpdate<'_>) {
        self.limits += 1;
    }
    fn on_trade(&mut self, trade: &Trade<'_>) {
        self.orders += trade.orders().count() + trade.message_orders().count();
    }
    fn on_quote_request(&mut self, request: &QuoteRequest<'_>) {
        self.requests += request.entries().count();
    }
    fn on_workup(&mut self, workup: &Workup<'_>) {
        self.orders += workup.orders().count();
    }
    fn on_collateral(&mut self, collateral: &Collateral<'_>) {
        self.requests += collateral.values().count();
    }
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        for (instrument, book, _) in event.changed() {
            assert_eq!(book.copied().bids().len(), book.bids().len());
            let limits = event.instruments.price_limits(instrument);
            let statistics = event.instruments.statistics(instrument).iter().count();
            assert!(limits.high.is_some() && statistics > 0);
        }
    }
    fn on_end_of_packet(&mut self, _: &Packet) {
        self.ends += 1;
    }
}

#[test]
fn messages_do_not_allocate() {
    let templates = TemplateIds::AS_PUBLISHED.with(149, 49);
    let settings = Settings { max_instruments: 100, templates, ..SETTINGS };
    let filter = Filter::default().with_group(Text::new("ES").unwrap()).with_security_id(7);
    let entries = [statistic(b'7', None, 60), statistic(b'8', None, 40)];
    let definitions = packet(1).definition(7, 2, 10).option(10, 2, 7);
    let first = packet(100).heartbeat();
    let snapshot = packet(1).statistics_snapshot(7, 100, 2, &entries, [Some(70), None, None]);
    let snapshot = snapshot.snapshot(10, 100, 2, 0, &[]);
    let second = packet(101)
        .session_statistics(7, 1_001, &entries)
        .long_statistics(7, 1_003, &entries)
        .daily_statistics(7, 1_005, &[statistic(b'6', Some(1), 52)])
        .limits(7, 1_006, [Some(70), Some(30), None])
        .trades(7, 1_007, &[(5, 2), (3, 1)], &[(1, 5), (2, 5), (3, 3)])
        .long_trades(7, 1_009, &[(5, 2)], &[(1, 5), (2, 5)])
        .long_volume(7, 1_010, 9)
        .quote_request(&[7, 10])
        .workup(7, 201, 0)
        .collateral()
        .book(END, &[bid(10, 1).add(1, 9, 1), bid(7, 1_011).add(1, 50, 1)]);
    let third = packet(102).raw([11, 300, 1, 13], &[0; 11]).raw([11, 300, 1, 14], &[0; 11]);
    let fourth = packet(103).channel_reset();

    let mut channel = Channel::new_with_filter(settings, filter);
    let mut tally = Tally::default();
    let before = allocations();
    let mut deliver = |feed, packet: &PacketBuilder| {
        let now = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };
        let input = Input { feed, line: FeedLine::A, received: None };
        channel.handle_packet(now, input, packet.bytes(), &mut tally);
        while channel.poll_action().is_some() {}
    };
    deliver(Feed::Incremental, &first);
    deliver(Feed::Instrument, &definitions);
    deliver(Feed::Snapshot, &snapshot);
    [second, third, fourth].iter().for_each(|packet| deliver(Feed::Incremental, packet));
    let allocated = allocations() - before;

    assert_eq!(allocated, 0);
    // Two from the snapshot, four of the session, one of the day; order entries of trades once per
    // trade and once per message; quotes and a value.
    assert_eq!((tally.statistics, tally.limits), (2 + 4 + 1, 2));
    assert_eq!((tally.orders, tally.requests), ((2 + 3) + (1 + 3) + (2 + 2) + 2, 2 + 1));
    assert_eq!((tally.ends, channel.counters().unwanted_definitions), (6, 1));
}
