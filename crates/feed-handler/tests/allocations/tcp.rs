//! A TCP feed does not allocate after its connections are established, on either side.
use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_exchange::{
    Addresses, Exchange, ExchangeSettings, FeedLine, Pace, SimulatedMarketSettings, TcpFeed,
};
use hairpin_feed_handler::{ChannelState, EndOfEvent, FeedHandler, Listener, Settings, TcpLines};
use hairpin_reactor::{Reactor, Wait};
use hairpin_testbed::allocations;
use hairpin_time::{Duration, Instant, Now, Utc};

#[derive(Default)]
struct Ends(u64);

impl Listener for Ends {
    fn on_end_of_event(&mut self, _: &EndOfEvent<'_>) {
        self.0 += 1;
    }
}

#[test]
fn tcp_ticks_allocate_nothing_under_any_wait() {
    let before = allocations();
    drop(std::hint::black_box(Box::new([0_u8; 64])));
    assert_eq!(allocations() - before, 1, "allocations are counted");
    for wait in Wait::ALL {
        run(wait);
    }
}

fn run(wait: Wait) {
    let local = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
    let settings = ExchangeSettings {
        market: SimulatedMarketSettings::default(),
        matching: true,
        accounts: vec![],
        connections: 1,
        transport: Default::default(),
        addresses: Addresses {
            multicast: None,
            tcp: Some(TcpFeed::new(local, local)),
            gateway: local,
        },
    };
    let mut now =
        Now { monotonic: Instant::from_nanos(1), utc: Utc::from_nanos(1_700_000_000_000_000_000) };
    let mut exchange_reactor = Reactor::new(Wait::Poll).unwrap();
    let mut exchange = Exchange::new(settings, now, &mut exchange_reactor).unwrap();
    let [a, b] = FeedLine::ALL.map(|side| exchange.tcp_feed_address(side).unwrap());
    let mut reactor = Reactor::new(wait).unwrap();
    let settings = Settings { max_instruments: 100, ..Settings::default() };
    let mut handler = FeedHandler::new(settings, TcpLines::both(a, b), &mut reactor).unwrap();
    let mut ends = Ends::default();
    let mut turn = |exchange: &mut Exchange, handler: &mut FeedHandler, ticks: bool| {
        now.monotonic += Duration::from_micros(100);
        now.utc = now.utc + Duration::from_micros(100);
        let ready = exchange_reactor.wait(now.monotonic, Some(Instant::ZERO)).unwrap();
        exchange.step(now, ready, &mut exchange_reactor, &mut ()).unwrap();
        if ticks {
            exchange.tick(now, now.monotonic, &mut ()).unwrap();
        }
        let ready = reactor.wait(now.monotonic, Some(now.monotonic)).unwrap();
        handler.process(now, ready, &mut reactor, &mut ends).unwrap();
        (now, ends.0)
    };
    while handler.channel().state() != ChannelState::InSync || handler.statistics().connections < 2
    {
        turn(&mut exchange, &mut handler, false);
    }
    let (now, seen) = turn(&mut exchange, &mut handler, true);
    exchange.set_pace(Pace::Paced, now);

    let before = allocations();
    for _ in 0..5_000 {
        turn(&mut exchange, &mut handler, true);
    }
    // Both sides are muted at the same time, so packets are lost. Recovery must not allocate
    // either.
    FeedLine::ALL.into_iter().for_each(|side| exchange.set_muted(side, true));
    for _ in 0..100 {
        turn(&mut exchange, &mut handler, true);
    }
    FeedLine::ALL.into_iter().for_each(|side| exchange.set_muted(side, false));
    let mut last = 0;
    for _ in 0..3_000 {
        (_, last) = turn(&mut exchange, &mut handler, true);
    }
    assert_eq!(allocations() - before, 0, "{wait}");
    assert!(last - seen > 7_900, "{}", last - seen);
    let counters = handler.channel().counters();
    assert_eq!((counters.gaps, handler.channel().state()), (1, ChannelState::InSync));
    assert_eq!(handler.statistics().connections, 2);
}
