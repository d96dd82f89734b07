//! No allocation after start-up: ticks, loops, orders, cancels and the TCP feed.
//!
//! A program of its own, because it counts allocations in a global allocator.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

#[path = "../it/client.rs"]
mod client;
mod tcp_feed;

use client::{
    cancel, credentials, establish, negotiate, order, order_with, replace_with, retransmit_request,
};
use hairpin_cme_codecs::ilink3::{OrderTypeReq, TimeInForce};
use hairpin_exchange::{
    BackgroundFlow, Capacity, ConnectionId, DailyStatistic, DefinitionChange, FaultSettings, Feed,
    FeedFaults, FeedLine, Gateway, Instrument, Limits, LineFaults, MAX_PAYLOAD, Market, OrderId,
    Pace, PriceLevel, Publication, PublisherSettings, QuoteRequest, SessionState, Side,
    SimulatedMarket, SimulatedMarketSettings, TradingStatus,
};
use hairpin_sbe::Decimal;
use hairpin_testbed::{CountingAllocator, allocations};
use hairpin_time::{Duration, Instant, Now, Utc};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const UUID: u64 = 1_700_000_000_000_000;

/// Sends all due packets, and returns the number of packets of each feed.
fn drain(market: &mut SimulatedMarket, now: Now, packet: &mut [u8]) -> [u32; 3] {
    let mut packets = [0; 3];
    market.publisher_mut().set_pace(Pace::Paced, now.monotonic);
    while let Some(transmit) = market.publisher_mut().poll_transmit(now, packet) {
        packets[transmit.feed as usize] += 1;
    }
    packets
}

/// Returns the order's id in a pending acknowledgement.
fn acknowledged(reply: &[u8]) -> OrderId {
    assert_eq!(reply[6..8], 522_u16.to_le_bytes());
    OrderId(u64::from_le_bytes(reply[12 + 100..12 + 108].try_into().unwrap()))
}

#[test]
fn ticks_orders_and_cancels_allocate_nothing() {
    let before = allocations();
    drop(std::hint::black_box(Box::new([0_u8; 64])));
    assert_eq!(allocations() - before, 1, "allocations are counted");

    let mut now =
        Now { monotonic: Instant::from_nanos(1), utc: Utc::from_nanos(1_700_000_000_000_000_000) };
    let settings = SimulatedMarketSettings::default();
    let mut market = SimulatedMarket::new(&settings, now);
    let mut gateway = Gateway::new(vec![credentials()], 1, settings.capacity.orders);
    let mut packet = [0; MAX_PAYLOAD];
    while market.publisher().has_event() {
        market.publisher_mut().poll_transmit(now, &mut packet);
    }
    market.publisher_mut().set_pace(Pace::Paced, now.monotonic);
    let logon = [negotiate(UUID, now.utc.as_nanos()), establish(UUID, now.utc.as_nanos() + 1, 1)];
    // All requests are encoded before the counting starts, except for the order ids.
    let ticks = 100_000_u32;
    let tick = settings.instruments[0].tick.0;
    let mut requests: Vec<(Vec<u8>, Vec<u8>)> =
        (0..ticks).map(|n| (order(2 * n + 1, 0), cancel(2 * n + 2, 0))).collect();
    let mut packets = [0; 3];

    let before = allocations();
    let id = gateway.handle_connected(now, &mut ()).unwrap();
    for message in &logon {
        gateway.handle_bytes(now, id, message, &mut market, &mut ());
    }
    let waiting = gateway.poll_transmit(id).map_or(0, <[u8]>::len);
    gateway.handle_sent(id, waiting);
    assert_eq!(gateway.state(id), SessionState::Established);
    for (order, cancel) in &mut requests {
        now = Now {
            monotonic: now.monotonic + Duration::from_micros(100),
            utc: now.utc + Duration::from_micros(100),
        };
        let (_, publication) = market.step(now).unwrap();
        assert!(matches!(publication, Publication::Event(_)));
        for (sum, count) in packets.iter_mut().zip(drain(&mut market, now, &mut packet)) {
            *sum += count;
        }
        let tenth = market.publisher().published(0).sides[0].levels()[9].price;
        order[12..20].copy_from_slice(&(tenth.0 - 5 * tick).to_le_bytes());
        gateway.handle_bytes(now, id, order, &mut market, &mut ());
        let reply = gateway.poll_transmit(id).unwrap();
        let (length, number) = (reply.len(), acknowledged(reply));
        gateway.handle_sent(id, length);
        cancel[12..20].copy_from_slice(&number.0.to_le_bytes());
        gateway.handle_bytes(now, id, cancel, &mut market, &mut ());
        let length = gateway.poll_transmit(id).unwrap().len();
        gateway.handle_sent(id, length);
        gateway.handle_timeout(now, &mut ());
    }
    assert_eq!(allocations() - before, 0);
    let counters = gateway.counters();
    let expected = u64::from(ticks);
    assert_eq!((counters.acknowledgements, counters.cancelled), (expected, expected));
    assert!(packets.iter().all(|&count| count > 1_000), "{packets:?}");
    assert!(packets[Feed::Incremental as usize] >= ticks);
}

/// Encodes five requests with ascending numbers: a market order, a fill-and-kill order, an order
/// that rests, a replacement, and an order to be rejected. Prices are at the market, so that all
/// happens.
fn requests_from(number: u32) -> [Vec<u8>; 5] {
    let market = order_with(number, 0, |order| {
        order.set_ord_type(OrderTypeReq::MARKETWITH_PROTECTION).set_order_qty(7);
    });
    let kill = order_with(number + 1, 1_002_000_000_000, |order| {
        order.set_time_in_force(TimeInForce::FILL_AND_KILL).set_order_qty(90);
    });
    let replace = replace_with(number + 3, 0, 999_000_000_000, |_| {});
    [market, kill, order(number + 2, 998_000_000_000), replace, order(number + 4, 1)]
}

/// Publishes one of the administrative events in most of fifty iterations.
fn publish_admin_event(market: &mut SimulatedMarket, now: Now, turn: u32) {
    let price = |n: i64| Decimal(n * 250_000_000);
    let levels = [3, 2].map(|n| PriceLevel { price: price(n), quantity: 1, orders: 0 });
    match turn % 50 {
        0 => drop(market.set_status(now, Some(turn % 10), TradingStatus::TradingHalt)),
        1 => drop(market.set_status(now, None, TradingStatus::ReadyToTrade)),
        2 => drop(market.reset_book(now, turn % 10)),
        3 => drop(market.reset_channel(now, turn.is_multiple_of(2))),
        4 => drop(market.set_implied(now, 1, Side::Bid, &levels[..(turn as usize / 50) % 3])),
        5 => drop(market.end_session(now)),
        _ => {}
    }
}

/// Reads all pending output of the client.
fn read(gateway: &mut Gateway, id: ConnectionId) {
    let waiting = gateway.poll_transmit(id).map_or(0, <[u8]>::len);
    gateway.handle_sent(id, waiting);
}

/// The orders, reports and administrative events that the benchmark does not use.
#[test]
fn other_orders_reports_and_admin_events_allocate_nothing() {
    let mut now =
        Now { monotonic: Instant::from_nanos(1), utc: Utc::from_nanos(1_700_000_000_000_000_000) };
    let mut instruments = Instrument::numbered(10);
    instruments[1].implied_book = true;
    let capacity = Capacity { orders: 4_096, levels: 2_048 };
    let settings = SimulatedMarketSettings {
        instruments,
        flow: BackgroundFlow::ALL,
        capacity,
        ..SimulatedMarketSettings::default()
    };
    let mut market = SimulatedMarket::new(&settings, now);
    let mut gateway = Gateway::new(vec![credentials()], 1, capacity.orders);
    let mut packet = [0; MAX_PAYLOAD];
    let logon = [negotiate(UUID, now.utc.as_nanos()), establish(UUID, now.utc.as_nanos() + 1, 1)];
    let requests: Vec<[Vec<u8>; 5]> = (0..4_000).map(|n| requests_from(5 * n + 1)).collect();
    // One of fifty iterations, with timestamps after those of the logon.
    let stamps = (2..82).map(|n| now.utc.as_nanos() + n);
    let again: Vec<Vec<u8>> = stamps.map(|stamp| retransmit_request(UUID, stamp)).collect();
    let mut packets = [0; 3];

    let before = allocations();
    let id = gateway.handle_connected(now, &mut ()).unwrap();
    for message in &logon {
        gateway.handle_bytes(now, id, message, &mut market, &mut ());
    }
    for (turn, requests) in (0_u32..).zip(&requests) {
        let span = Duration::from_micros(100);
        now = Now { monotonic: now.monotonic + span, utc: now.utc + span };
        market.step(now);
        for request in requests {
            gateway.handle_bytes(now, id, request, &mut market, &mut ());
            read(&mut gateway, id);
        }
        publish_admin_event(&mut market, now, turn);
        if turn % 50 == 6 {
            let again = &again[turn as usize / 50];
            gateway.handle_bytes(now, id, again, &mut market, &mut ());
        }
        gateway.handle_fills(now, &mut market, &mut ());
        for (sum, count) in packets.iter_mut().zip(drain(&mut market, now, &mut packet)) {
            *sum += count;
        }
        read(&mut gateway, id);
    }
    assert_eq!(allocations() - before, 0);
    let count_of = |name| gateway.counters().iter().find(|(of, _)| *of == name).unwrap().1;
    for name in ["acknowledgements", "fills", "eliminations", "order_rejects", "replace_rejects"] {
        assert!(count_of(name) > 1_000, "{name}: {:?}", gateway.counters());
    }
    assert!(count_of("retransmissions") > 0, "{:?}", gateway.counters());
    assert!(packets.iter().all(|&count| count > 5), "{packets:?}");
}

/// All kinds of groups: orders, conflation, statistics, instrument events, faults.
#[test]
fn groups_allocate_nothing() {
    for settings in
        [PublisherSettings::premium(), PublisherSettings::brokertec(), PublisherSettings::ebs()]
    {
        let publisher = PublisherSettings { unlisted: 1, ..settings };
        let instruments = Instrument::numbered(10);
        let capacity = Capacity { orders: 4_096, levels: 2_048 };
        let mut now = Now {
            monotonic: Instant::from_nanos(1),
            utc: Utc::from_nanos(1_700_000_000_000_000_000),
        };
        let market = SimulatedMarketSettings {
            instruments,
            flow: BackgroundFlow::ALL,
            capacity,
            seed: 1,
            publisher,
        };
        let mut market = SimulatedMarket::new(&market, now);
        let side = LineFaults { reorder_ppm: 100_000, ..LineFaults::default() };
        let mut faults = FeedFaults::new(&FaultSettings { seed: 1, a: side, b: side });
        let mut packet = [0; MAX_PAYLOAD];
        let mut left = 0;

        let before = allocations();
        for turn in 0..20_000 {
            let span = Duration::from_micros(100);
            now = Now { monotonic: now.monotonic + span, utc: now.utc + span };
            market.step(now);
            publish_admin_event(&mut market, now, if turn % 50 == 4 { 6 } else { turn });
            publish_instrument_event(&mut market, now, turn);
            while market.next_order_event().is_some() {}
            market.publisher_mut().set_pace(Pace::Paced, now.monotonic);
            while let Some(transmit) = market.publisher_mut().poll_transmit(now, &mut packet) {
                let (from, bytes) = ((FeedLine::A, transmit.feed), &packet[..transmit.length]);
                faults.handle_packet(now.monotonic, from, bytes, &mut |_, _, _| left += 1);
            }
        }
        assert_eq!(allocations() - before, 0, "{:?}", publisher.group);
        assert!(left > 1_000);
    }
}

/// Publishes an instrument event in some of a hundred iterations.
fn publish_instrument_event(market: &mut SimulatedMarket, now: Now, turn: u32) {
    let limits = Limits { high: Some(Decimal(5)), ..Limits::default() };
    let daily = [(1, DailyStatistic::OpenInterest(turn))];
    let quote = QuoteRequest { id: "1", instrument: 2, quantity: None, side: None };
    match turn % 100 {
        60 => drop(market.announce(now, |publisher| publisher.set_limits(now, 3, limits))),
        61 => drop(market.announce(now, |publisher| publisher.set_daily(now, &daily))),
        62 => drop(market.announce(now, |publisher| publisher.request_quote(now, &quote))),
        63 if turn == 63 => drop(market.change_definition(now, 9, DefinitionChange::Add)),
        63 => drop(market.change_definition(now, 9, DefinitionChange::Modify)),
        _ => {}
    }
}
