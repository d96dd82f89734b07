//! A channel over multicast past the kernel, between two hosts, as root.
#![allow(clippy::unwrap_used, reason = "a socket that cannot be had fails the test")]

#[allow(dead_code, unreachable_pub, reason = "the packets of another crate's tests")]
#[path = "../../mdp3/tests/support/packets.rs"]
mod packets;

use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_endpoint::xdp::{InterfaceSettings, ReceiveStamps, Stack, StackSettings};
use hairpin_endpoint::{MulticastGroup, Receive, Transmit, UdpOptions, UdpReceiver, UdpSender};
use hairpin_exchange::{Addresses, Exchange, ExchangeSettings, FloorSettings, Groups, Pace};
use hairpin_feed_handler::{
    BookUpdate, ChannelState, EndOfEvent, Feed, FeedHandler, FeedHandlers, Gap, Group, Lines,
    Listener, Multicast, Same, Settings, Side, SocketEngine, Transport,
};
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_testbed::{Bed, Host, Offloads, Queues};
use hairpin_time::{Duration, Instant, Now, Utc};
use packets::{END, PacketBuilder, YEAR_2026, bid, packet};

/// A clock of its own: each turn of a loop is a millisecond.
struct Turns(u64);

impl Turns {
    fn next(&mut self) -> Now {
        self.0 += 1;
        let monotonic = Instant::ZERO + Duration::from_millis(self.0);
        // Later than all that is sent: a channel doubts what comes from the future.
        let start = YEAR_2026 + Duration::from_secs(3_600);
        Now { monotonic, utc: start + Duration::from_millis(self.0) }
    }
}

/// What a listener was told.
#[derive(Debug, Default)]
struct Told {
    ends: Vec<u32>,
    stamped: bool,
    gaps: u32,
}

impl Listener for Told {
    fn on_book_update(&mut self, update: &BookUpdate<'_>) {
        self.stamped |= update.packet.received.is_some();
    }
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        self.ends.push(event.packet.sequence);
    }
    fn on_gap(&mut self, gap: &Gap) {
        self.gaps += gap.count;
    }
}

fn group(index: u8) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::new(239, 192, 7, index), 14_310 + u16::from(index))
}

/// A transport of a host that refuses to go through the kernel, and stamps what comes in.
fn past(host: &Host) -> Transport {
    let receive_stamps = ReceiveStamps::Kernel;
    let interface = InterfaceSettings { receive_stamps, ..InterfaceSettings::default() };
    let settings = StackSettings { interface, strict: true, ..StackSettings::default() };
    Transport::Xdp(Stack::open(host.interface(), &settings).unwrap())
}

fn bed() -> Bed {
    Bed::builder().queues(Queues::pairs(1)).offloads(Offloads::OFF).build().unwrap()
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

/// An exchange that says what it is told to on the second host, and the handler that hears it.
struct Market<'a> {
    addresses: Multicast,
    reactor: Reactor,
    handler: FeedHandler,
    told: Told,
    turns: Turns,
    senders: Vec<(SocketAddrV4, UdpSender)>,
    there: &'a Host,
}

impl<'a> Market<'a> {
    fn open(wait: Wait, transport: &Transport, hosts: &'a [Host; 2]) -> Self {
        let addresses = addresses(transport, hosts);
        let mut reactor = Reactor::new(wait).unwrap();
        let handler = FeedHandler::new(settings(), addresses.clone(), &mut reactor).unwrap();
        let (told, turns, senders) = (Told::default(), Turns(0), Vec::new());
        Self { addresses, reactor, handler, told, turns, senders, there: &hosts[1] }
    }

    fn send(&mut self, to: &Option<Group>, packet: &PacketBuilder) {
        let to = to.as_ref().expect("a line of the feed").address;
        if !self.senders.iter().any(|(group, _)| *group == to) {
            let there = self.there;
            let sender = there.run(|| UdpSender::new(to, there.address(), 1).unwrap()).unwrap();
            self.senders.push((to, sender));
        }
        let (_, sender) = self.senders.iter_mut().find(|(group, _)| *group == to).unwrap();
        let bytes = packet.bytes();
        sender.transmit(bytes.len(), |buffer| buffer.copy_from_slice(bytes)).unwrap();
    }

    /// Turns the loop until `done`; fails when that does not come.
    fn until(&mut self, what: &str, done: impl Fn(&FeedHandler, &Told) -> bool) {
        for _ in 0..2_000 {
            let now = self.turns.next();
            let deadline = now.monotonic + Duration::from_millis(5);
            let ready = self.reactor.wait(now.monotonic, Some(deadline)).unwrap();
            let now = self.turns.next();
            self.handler.process(now, ready, &mut self.reactor, &mut self.told).unwrap();
            if done(&self.handler, &self.told) {
                return;
            }
            if self.reactor.kind() == Wait::Spin {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
        panic!("{:?}: {what} does not come: {:?}", self.reactor.kind(), self.told);
    }

    fn come_in_sync(&mut self) {
        let lines = self.addresses.clone();
        self.send(&lines.incremental.a, &packet(10).heartbeat());
        self.send(&lines.instrument.b, &packet(1).definition(7, 1, 10));
        self.until("the snapshot feed", |handler, _| {
            handler.channel().state() == ChannelState::Recovering
        });
        self.send(&lines.snapshot.a, &packet(1).snapshot(7, 10, 1, 0, &[]));
        self.until("sync", |handler, _| handler.channel().state() == ChannelState::InSync);
    }

    fn joined(&self) -> Vec<(Feed, Side)> {
        let lines = self.handler.lines().filter(|line| line.is_joined);
        lines.map(|line| (line.feed, line.side)).collect()
    }
}

fn quote(sequence: u32, rpt_seq: u32, price: i64) -> PacketBuilder {
    packet(sequence).book(END, &[bid(7, rpt_seq).add(1, price, 5)])
}

/// Comes in sync, arbitrates two sides, loses a packet and recovers from snapshots joined again.
fn comes_in_sync_and_recovers(wait: Wait, transport: &Transport, hosts: &[Host; 2]) {
    let mut market = Market::open(wait, transport, hosts);
    let incremental = Side::ALL.map(|side| (Feed::Incremental, side));
    let instrument = Side::ALL.map(|side| (Feed::Instrument, side));
    assert_eq!(market.joined(), [incremental, instrument].concat());
    market.come_in_sync();
    assert_eq!(market.joined(), incremental);
    let lines = market.addresses.clone();
    market.told = Told::default();
    // Both sides; then B alone; then A alone.
    market.send(&lines.incremental.a, &quote(11, 1, 100));
    market.send(&lines.incremental.b, &quote(11, 1, 100));
    market.send(&lines.incremental.b, &quote(12, 2, 101));
    market.send(&lines.incremental.a, &quote(13, 3, 102));
    market.until("packet 13", |handler, told| {
        told.ends.contains(&13) && handler.channel().counters().duplicates == 1
    });
    assert_eq!((&market.told.ends[..], market.told.gaps), (&[11, 12, 13][..], 0));
    assert!(market.told.stamped, "the filter's receive timestamp reaches the callback");

    // It listens to the incremental feed alone, and packet 14 is lost on both sides.
    market.send(&lines.snapshot.a, &packet(1).snapshot(7, 13, 1, 3, &[]));
    market.send(&lines.incremental.a, &quote(15, 5, 102));
    market.send(&lines.incremental.b, &quote(15, 5, 102));
    market.until("the gap", |_, told| told.gaps == 1);
    market.until("the snapshots", |handler, _| {
        handler.lines().any(|line| line.feed == Feed::Snapshot && line.is_joined)
    });
    let behind = [(b'0', 1, 101, 5)];
    market.send(&lines.snapshot.a, &packet(1).snapshot(7, 15, 1, 5, &behind));
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
    let bed = bed();
    let hosts = bed.hosts();
    let run = || {
        let transport = past(&hosts[0]);
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
fn an_engine_of_sockets_goes_past_the_kernel_too() {
    let bed = bed();
    let hosts = bed.hosts();
    let run = || {
        let addresses = addresses(&past(&hosts[0]), hosts);
        let mut feeds = FeedHandlers::new(SocketEngine::new(Wait::Epoll).unwrap());
        let channel = feeds.add(settings(), &addresses).unwrap();
        let to = addresses.incremental.b.unwrap().address;
        let there = &hosts[1];
        let mut sender = there.run(|| UdpSender::new(to, there.address(), 1).unwrap()).unwrap();
        let (heartbeat, mut turns) = (packet(10).heartbeat(), Turns(0));
        let bytes = heartbeat.bytes();
        sender.transmit(bytes.len(), |buffer| buffer.copy_from_slice(bytes)).unwrap();
        let came = (0..2_000).any(|_| {
            let now = turns.next();
            feeds.wait_until(now, Some(now.monotonic + Duration::from_millis(5))).unwrap();
            feeds.process(turns.next(), &mut Same(Told::default())).unwrap();
            feeds.channel(channel).counters().packets_b > 0
        });
        assert!(came, "the heartbeat does not come");
    };
    hosts[0].run(run).unwrap();
}

#[test]
#[ignore = "needs root"]
fn a_strict_stack_of_another_interface_is_refused() {
    let bed = bed();
    let hosts = bed.hosts();
    let run = || {
        let transport = past(&hosts[0]);
        let nowhere = Multicast { interface: Ipv4Addr::LOCALHOST, ..addresses(&transport, hosts) };
        let mut reactor = Reactor::new(Wait::Epoll).unwrap();
        let error = FeedHandler::new(settings(), nowhere, &mut reactor).unwrap_err().to_string();
        assert!(error.starts_with("incremental feed, side A: ") && error.contains("strict"));
        assert_eq!(reactor.count(), 0);
    };
    hosts[0].run(run).unwrap();
}

#[test]
#[ignore = "needs root"]
fn an_exchange_publishes_past_the_kernel() {
    let bed = bed();
    let [here, there] = bed.hosts();
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
        let gateway = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
        let transport = past(here);
        let settings = ExchangeSettings {
            floor: FloorSettings::default(),
            matching: true,
            accounts: Vec::new(),
            connections: 1,
            addresses: Addresses { multicast: Some(multicast), tcp: None, gateway },
            transport: transport.clone(),
        };
        let utc = Utc::from_nanos(1_767_225_600_000_000_000);
        let mut now = Now { monotonic: Instant::from_nanos(1), utc };
        let mut reactor = Reactor::new(Wait::Spin).unwrap();
        let mut elsewhere = settings.clone();
        let multicast = elsewhere.addresses.multicast.as_mut();
        multicast.unwrap().interface = Ipv4Addr::LOCALHOST;
        let error = Exchange::new(elsewhere, now, &mut reactor).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
        let mut exchange = Exchange::new(settings, now, &mut reactor).unwrap();
        exchange.set_pace(Pace::Paced, now);
        let mut came = [0; 6];
        for _ in 0..20_000 {
            now.monotonic += Duration::from_micros(200);
            now.utc = now.utc + Duration::from_micros(200);
            exchange.step(now, Ready::NOTHING, &mut reactor, &mut ()).unwrap();
            exchange.tick(now, now.monotonic, &mut ()).unwrap();
            for (receiver, came) in receivers.iter_mut().zip(&mut came) {
                *came += receiver.receive(64, |_, _| {}).unwrap().count;
            }
            if came.iter().all(|&came| came > 10) {
                break;
            }
        }
        assert!(came.iter().all(|&came| came > 10), "{came:?}");
        let Transport::Xdp(stack) = transport else { unreachable!("it is one") };
        assert_eq!(stack.notice(), None);
    };
    here.run(run).unwrap();
}
