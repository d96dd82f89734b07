//! A channel over multicast with kernel bypass, between two hosts. Needs root.

use std::net::{Ipv4Addr, SocketAddrV4};

use crate::market::{Market, RecordedEvents, Turns, quote};
use crate::packets::packet;
use hairpin_endpoint::xdp::{InterfaceSettings, ReceiveStamps, Stack, StackSettings};
use hairpin_endpoint::{MulticastGroup, Receive, Transmit, UdpOptions, UdpReceiver, UdpSender};
use hairpin_exchange::{
    Addresses, Exchange, ExchangeSettings, Groups, Pace, SimulatedMarketSettings,
};
use hairpin_feed_handler::{
    ChannelState, Feed, FeedHandler, FeedHandlers, FeedLine, Group, Lines, Multicast, Settings,
    SharedListener, SocketEngine, Transport,
};
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_testbed::{Host, Offloads, Queues, Testbed};
use hairpin_time::{Duration, Instant, Now, Utc};

fn group(index: u8) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::new(239, 192, 7, index), 14_310 + u16::from(index))
}

/// Returns a strict XDP transport of a host, with receive timestamps.
fn xdp_transport(host: &Host) -> Transport {
    let receive_stamps = ReceiveStamps::Kernel;
    let interface = InterfaceSettings { receive_stamps, ..InterfaceSettings::default() };
    let settings = StackSettings { interface, strict: true, ..StackSettings::default() };
    Transport::Xdp(Stack::open(host.interface(), &settings).unwrap())
}

fn testbed() -> Testbed {
    Testbed::builder().queues(Queues::pairs(1)).offloads(Offloads::OFF).build().unwrap()
}

fn addresses(transport: &Transport, [here, there]: &[Host; 2]) -> Multicast {
    let group = |index| Group::new(group(index), &[there.address()]);
    let lines = |first: u8| Lines::both(group(first), group(first + 1));
    Multicast {
        incremental: lines(0),
        instrument: lines(2),
        snapshot: Lines::only_a(group(4)),
        snapshot_orders: Lines::default(),
        interface: here.address(),
        transport: transport.clone(),
        replay: None,
    }
}

fn settings() -> Settings {
    Settings { max_instruments: 8, silence: Duration::ZERO, ..Settings::default() }
}

/// Creates an exchange on the second host and a handler on the first.
fn market<'a>(wait: Wait, transport: &Transport, hosts: &'a [Host; 2]) -> Market<'a> {
    let there = &hosts[1];
    Market::open(settings(), wait, addresses(transport, hosts), move |to| {
        there.run(|| UdpSender::new(to, there.address(), 1).unwrap()).unwrap()
    })
}

/// Synchronizes, arbitrates A and B, loses a packet, and recovers from rejoined snapshots.
fn comes_in_sync_and_recovers(wait: Wait, transport: &Transport, hosts: &[Host; 2]) {
    let mut market = market(wait, transport, hosts);
    let incremental = FeedLine::ALL.map(|side| (Feed::Incremental, side));
    let instrument = FeedLine::ALL.map(|side| (Feed::Instrument, side));
    assert_eq!(market.joined(), [incremental, instrument].concat());
    market.come_in_sync();
    assert_eq!(market.joined(), incremental);
    market.arbitrate();

    let lines = market.addresses.clone();
    // Only the incremental feed is joined, and packet 14 is lost on both sides.
    market.send(&lines.snapshot.a, &packet(1).snapshot(7, 13, 1, 3, &[]));
    market.send(&lines.incremental.a, &quote(15, 5, 102));
    market.send(&lines.incremental.b, &quote(15, 5, 102));
    market.until("the gap", |_, events| events.gaps == 1);
    market.until("the snapshots", |handler, _| {
        handler.lines().any(|line| line.feed == Feed::Snapshot && line.joined)
    });
    let levels = [(b'0', 1, 101, 5)];
    market.send(&lines.snapshot.a, &packet(1).snapshot(7, 15, 1, 5, &levels));
    market.until("recovery", |handler, _| handler.channel().state() == ChannelState::InSync);
    assert!(market.handler.channel().book_of(7).unwrap().is_in_sync());
    let statistics = market.handler.statistics();
    assert_eq!((statistics.kernel_drops, statistics.truncated), (0, 0));
    assert_eq!(statistics.receive_buffers_short, 0);
    market.handler.close(&mut market.reactor).unwrap();
    assert_eq!(market.reactor.count(), 0);
}

#[test]
#[ignore = "needs root"]
fn comes_in_sync_and_recovers_under_every_wait() {
    let testbed = testbed();
    let hosts = testbed.hosts();
    let run = || {
        let transport = xdp_transport(&hosts[0]);
        for wait in Wait::ALL {
            match wait.probe() {
                Ok(()) => comes_in_sync_and_recovers(wait, &transport, hosts),
                Err(reason) => println!("skipped: {wait}: {reason}"),
            }
        }
    };
    hosts[0].run(run).unwrap();
}

#[test]
#[ignore = "needs root"]
fn socket_engine_uses_kernel_bypass() {
    let testbed = testbed();
    let hosts = testbed.hosts();
    let run = || {
        let addresses = addresses(&xdp_transport(&hosts[0]), hosts);
        let mut feeds = FeedHandlers::new(SocketEngine::new(Wait::Epoll).unwrap());
        let channel = feeds.add(settings(), &addresses).unwrap();
        let to = addresses.incremental.b.unwrap().address;
        let there = &hosts[1];
        let mut sender = there.run(|| UdpSender::new(to, there.address(), 1).unwrap()).unwrap();
        let (heartbeat, mut turns) = (packet(10).heartbeat(), Turns(0));
        let bytes = heartbeat.bytes();
        sender.transmit(bytes.len(), |buffer| buffer.copy_from_slice(bytes)).unwrap();
        let received = (0..60_000).any(|_| {
            let now = turns.next();
            feeds.wait_until(now, Some(now.monotonic + Duration::from_millis(5))).unwrap();
            feeds.process(turns.next(), &mut SharedListener(RecordedEvents::default())).unwrap();
            feeds.channel(channel).counters().packets_b > 0
        });
        assert!(received, "the heartbeat does not arrive");
    };
    hosts[0].run(run).unwrap();
}

#[test]
#[ignore = "needs root"]
fn strict_stack_rejects_another_interface() {
    let testbed = testbed();
    let hosts = testbed.hosts();
    let run = || {
        let transport = xdp_transport(&hosts[0]);
        let other = Multicast { interface: Ipv4Addr::LOCALHOST, ..addresses(&transport, hosts) };
        let mut reactor = Reactor::new(Wait::Epoll).unwrap();
        let error = FeedHandler::new(settings(), other, &mut reactor).unwrap_err().to_string();
        assert!(error.starts_with("incremental feed, side A: ") && error.contains("strict"));
        assert_eq!(reactor.count(), 0);
    };
    hosts[0].run(run).unwrap();
}

#[test]
#[ignore = "needs root"]
fn exchange_publishes_with_kernel_bypass() {
    let testbed = testbed();
    let [here, there] = testbed.hosts();
    let pair = |first| Groups { a: group(first), b: Some(group(first + 1)) };
    let join = |index| {
        let group =
            MulticastGroup { group: group(index), interface: there.address(), sources: &[] };
        there.run(|| UdpReceiver::join(group, UdpOptions::default()).unwrap()).unwrap()
    };
    let mut receivers = [0, 1, 2, 3, 4, 5].map(join);
    let run = || {
        let multicast = hairpin_exchange::Multicast {
            interface: here.address(),
            ttl: 1,
            incremental: pair(0),
            instruments: pair(2),
            snapshots: pair(4),
            order_snapshots: None,
        };
        let gateway = SocketAddrV4::new(here.address(), 0);
        let transport = xdp_transport(here);
        let settings = ExchangeSettings {
            market: SimulatedMarketSettings::default(),
            matching: true,
            accounts: Vec::new(),
            connections: 1,
            addresses: Addresses { multicast: Some(multicast), tcp: None, gateway },
            transport: transport.clone(),
        };
        let utc = Utc::from_nanos(1_767_225_600_000_000_000);
        let mut now = Now { monotonic: Instant::from_nanos(1), utc };
        let mut reactor = Reactor::new(Wait::Spin).unwrap();
        let mut other = settings.clone();
        let multicast = other.addresses.multicast.as_mut();
        multicast.unwrap().interface = Ipv4Addr::LOCALHOST;
        let error = Exchange::new(other, now, &mut reactor).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
        let mut exchange = Exchange::new(settings, now, &mut reactor).unwrap();
        exchange.set_pace(Pace::Paced, now);
        let mut received = [0; 6];
        for _ in 0..20_000 {
            now.monotonic += Duration::from_micros(200);
            now.utc = now.utc + Duration::from_micros(200);
            exchange.step(now, Ready::EMPTY, &mut reactor, &mut ()).unwrap();
            exchange.tick(now, now.monotonic, &mut ()).unwrap();
            for (receiver, count) in receivers.iter_mut().zip(&mut received) {
                *count += receiver.receive(64, |_, _| {}).unwrap().count;
            }
            if received.iter().all(|&count| count > 10) {
                break;
            }
        }
        assert!(received.iter().all(|&count| count > 10), "{received:?}");
        let Transport::Xdp(stack) = transport else { unreachable!("the transport is XDP") };
        assert_eq!(stack.next_event(), None);
    };
    here.run(run).unwrap();
}
