//! No allocation in the TCP feed once its connections are accepted.

use std::io::Read;
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};

use hairpin_exchange::{
    Addresses, Exchange, ExchangeSettings, FeedLine, Pace, SimulatedMarketSettings, TcpFeed,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_testbed::allocations;
use hairpin_time::{Duration, Instant, Now, Utc};

#[test]
fn tcp_feed_allocates_nothing_after_connect() {
    let before = allocations();
    drop(std::hint::black_box(Box::new([0_u8; 64])));
    assert_eq!(allocations() - before, 1, "allocations are counted");

    let local = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
    let tcp = Some(TcpFeed { backlog: 2 << 20, ..TcpFeed::new(local, local) });
    let settings = ExchangeSettings {
        market: SimulatedMarketSettings::default(),
        matching: true,
        accounts: vec![],
        connections: 1,
        transport: Default::default(),
        addresses: Addresses { multicast: None, tcp, gateway: local },
    };
    let mut now =
        Now { monotonic: Instant::from_nanos(1), utc: Utc::from_nanos(1_700_000_000_000_000_000) };
    let mut reactor = Reactor::new(Wait::Epoll).unwrap();
    let mut exchange = Exchange::new(settings, now, &mut reactor).unwrap();
    let connect = |side| TcpStream::connect(exchange.tcp_feed_address(side).unwrap()).unwrap();
    let mut readers = [FeedLine::A, FeedLine::B, FeedLine::A].map(connect);
    readers.iter().for_each(|reader| reader.set_nonblocking(true).unwrap());
    let mut sleeper = connect(FeedLine::B);
    let mut chunk = vec![0; 1 << 20];
    let mut turn = |exchange: &mut Exchange, ticks: bool| {
        now.monotonic += Duration::from_micros(100);
        now.utc = now.utc + Duration::from_micros(100);
        let ready = reactor.wait(now.monotonic, Some(Instant::ZERO)).unwrap();
        exchange.step(now, ready, &mut reactor, &mut ()).unwrap();
        if ticks {
            exchange.tick(now, now.monotonic, &mut ()).unwrap();
        }
        for reader in &mut readers {
            let _ = reader.read(&mut chunk);
        }
        now
    };
    let connections = |exchange: &Exchange| {
        [FeedLine::A, FeedLine::B].map(|side| exchange.tcp_feed_connections(side))
    };
    // Until the kernel's buffer of the trader that does not read is full.
    while connections(&exchange) != [2, 2] || exchange.counters().feed_packets_left_out == 0 {
        turn(&mut exchange, false);
    }
    let now = turn(&mut exchange, false);
    exchange.set_pace(Pace::Paced, now);

    let before = allocations();
    for _ in 0..10_000 {
        turn(&mut exchange, true);
    }
    // The queued bytes are sent too.
    let kept = exchange.counters().feed_bytes_sent;
    sleeper.set_nonblocking(true).unwrap();
    let mut small = [0; 4_096];
    for _ in 0..10_000 {
        while sleeper.read(&mut small).is_ok() {}
        turn(&mut exchange, false);
    }
    assert_eq!(allocations() - before, 0);
    let counters = exchange.counters();
    assert_eq!((counters.ticks, connections(&exchange)), (10_000, [2, 2]));
    assert!(counters.feed_backlogs > 1_000 && counters.feed_bytes_sent > kept + (1 << 20));
}
