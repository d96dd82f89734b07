//! An interface that is lost and returns while a channel is received on it.
use std::net::{Ipv4Addr, SocketAddrV4};

use crate::packets::{END, PacketBuilder, YEAR_2026, bid, packet};
use hairpin_endpoint::{Transmit, UdpSender};
use hairpin_feed_handler::{
    Book, ChannelState, EngineError, FeedError, FeedHandler, FeedHandlers, LateJoin, Lines,
    Multicast, Settings, SocketEngine,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_testbed::Testbed;
use hairpin_time::{Duration, Instant, Now};

const PORT: u16 = 14_310;

/// Returns a virtual time: each call of a loop takes ten milliseconds.
fn at(poll: u64) -> Now {
    let span = Duration::from_millis(poll * 10);
    let utc = YEAR_2026 + Duration::from_secs(3_600) + span;
    Now { monotonic: Instant::ZERO + span, utc }
}

fn line(number: u8) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::new(239, 195, 0, number), PORT)
}

fn addresses(interface: Ipv4Addr) -> Multicast {
    let [incremental, instrument, snapshot] = [1, 2, 3].map(line).map(Lines::only_a);
    let snapshot_orders = Lines::default();
    Multicast {
        incremental,
        instrument,
        snapshot,
        snapshot_orders,
        interface,
        transport: Default::default(),
        replay: None,
    }
}

/// A receiver: a handler in the caller's reactor, or several handlers on an engine.
trait Receiver: Send {
    fn poll(&mut self, now: Now) -> Result<(), FeedError>;
    fn state(&self) -> ChannelState;
    fn book(&self) -> Option<Book<'_>>;
}

struct One(FeedHandler, Reactor);

impl Receiver for One {
    fn poll(&mut self, now: Now) -> Result<(), FeedError> {
        let ready = self.1.wait(now.monotonic, Some(now.monotonic)).unwrap();
        self.0.process(now, ready, &mut self.1, &mut ())
    }
    fn state(&self) -> ChannelState {
        self.0.channel().state()
    }
    fn book(&self) -> Option<Book<'_>> {
        self.0.channel().book_of(7)
    }
}

struct Several(FeedHandlers<SocketEngine>);

impl Receiver for Several {
    fn poll(&mut self, now: Now) -> Result<(), FeedError> {
        self.0.wait_until(now, Some(now.monotonic))?;
        self.0.process(now, &mut [()])
    }
    fn state(&self) -> ChannelState {
        self.0.channels().next().unwrap().1.state()
    }
    fn book(&self) -> Option<Book<'_>> {
        self.0.channels().next().unwrap().1.book_of(7)
    }
}

fn receiver(is_one: bool, interface: Ipv4Addr) -> Box<dyn Receiver> {
    let settings = Settings { max_instruments: 8, ..Settings::default() };
    if is_one {
        let mut reactor = Reactor::new(Wait::Epoll).unwrap();
        let handler = FeedHandler::new(settings, addresses(interface), &mut reactor).unwrap();
        return Box::new(One(handler, reactor));
    }
    let mut feeds = FeedHandlers::new(SocketEngine::new(Wait::Epoll).unwrap());
    feeds.add(settings, &addresses(interface)).unwrap();
    Box::new(Several(feeds))
}

/// A testbed with a receiver on its second host, and the reported errors.
struct Harness {
    testbed: Testbed,
    receiver: Box<dyn Receiver>,
    polls: u64,
    errors: Vec<FeedError>,
}

impl Harness {
    fn new(is_one: bool) -> Self {
        let testbed = Testbed::namespaces().unwrap();
        let host = &testbed.hosts()[1];
        // A socket belongs to the network namespace in which it was opened.
        let receiver = host.run(|| receiver(is_one, host.address())).unwrap();
        Self { testbed, receiver, polls: 0, errors: Vec::new() }
    }

    fn send(&self, number: u8, packet: &PacketBuilder) {
        let host = &self.testbed.hosts()[0];
        let send = || {
            let mut sender = UdpSender::new(line(number), host.address(), 1).unwrap();
            let bytes = packet.bytes();
            sender.transmit(bytes.len(), |buffer| buffer.copy_from_slice(bytes)).unwrap();
        };
        host.run(send).unwrap();
    }

    /// Runs the loop on the host. Returns `true` if `done` became true.
    fn poll_until(&mut self, polls: u64, done: impl Fn(&Self) -> bool) -> bool {
        for _ in 0..polls {
            self.polls += 1;
            let (now, receiver) = (at(self.polls), &mut self.receiver);
            // Reopened sockets must belong to the host's namespace as well.
            let turned = self.testbed.hosts()[1].run(|| receiver.poll(now)).unwrap();
            self.errors.extend(turned.err());
            if done(self) {
                return true;
            }
        }
        false
    }

    fn until(&mut self, event: &str, done: impl Fn(&Self) -> bool) {
        assert!(self.poll_until(2_000, done), "{event} does not happen: {:?}", self.errors);
    }

    fn come_in_sync(&mut self) {
        self.send(1, &packet(10).heartbeat());
        self.send(2, &packet(1).definition(7, 1, 10));
        self.until("definitions", |it| it.receiver.state() == ChannelState::Recovering);
        self.send(3, &packet(1).snapshot(7, 10, 1, 0, &[]));
        self.until("sync", |it| it.receiver.state() == ChannelState::InSync);
    }
}

fn quote(sequence: u32, rpt_seq: u32, price: i64) -> PacketBuilder {
    packet(sequence).book(END, &[bid(7, rpt_seq).add(1, price, 5)])
}

fn survives_interface_loss(is_one: bool) {
    let mut harness = Harness::new(is_one);
    harness.come_in_sync();
    harness.send(1, &quote(11, 1, 100));
    harness.until("the quote", |it| it.receiver.book().is_some_and(|book| book.bids().len() == 1));
    assert!(harness.errors.is_empty(), "{:?}", harness.errors);

    harness.testbed.disconnect().unwrap();
    harness.until("word of it", |it| !it.errors.is_empty());
    harness.poll_until(500, |_| false);
    let messages: Vec<String> = harness.errors.iter().map(ToString::to_string).collect();
    let address = harness.testbed.hosts()[1].address();
    let expected = format!(
        "cannot receive on interface {address}: interface down or removed; rejoining on return"
    );
    assert_eq!(messages, [expected], "reported once");
    assert!(harness.errors[0].is_transient());
    let lost = &harness.errors[0];
    assert!(matches!(lost, FeedError::Engine(EngineError::InterfaceLost { .. })), "{lost:?}");

    // Three packets are lost meanwhile. The interface returns, and the books recover.
    harness.testbed.reconnect().unwrap();
    harness.poll_until(200, |_| false);
    harness.send(1, &quote(15, 5, 104));
    harness.until("the gap", |it| it.receiver.state() == ChannelState::Recovering);
    let levels = [(b'0', 1, 104, 5)];
    harness.poll_until(5, |_| false);
    harness.send(3, &packet(1).snapshot(7, 15, 1, 5, &levels));
    harness.until("sync", |it| it.receiver.state() == ChannelState::InSync);
    harness.send(1, &quote(16, 6, 105));
    harness.until("a quote", |it| it.receiver.book().is_some_and(|book| book.bids().len() == 2));
    assert_eq!(harness.errors.len(), 1, "{:?}", harness.errors);

    // The interface is lost again. Its memberships survive, so packets arrive at once when it is
    // back. Its return must be detected anyway, so that a third loss is reported.
    harness.testbed.disconnect().unwrap();
    harness.until("word of it", |it| it.errors.len() == 2);
    harness.testbed.reconnect().unwrap();
    for sequence in 17..417 {
        harness.send(1, &quote(sequence, sequence - 10, 105));
        harness.poll_until(1, |_| false);
    }
    assert_eq!(harness.errors.len(), 2, "{:?}", harness.errors);
    harness.testbed.disconnect().unwrap();
    harness.until("word of it", |it| it.errors.len() == 3);
}

/// Side A arrives on the loopback interface of the receiving host, side B on its other interface.
#[test]
#[ignore = "needs root"]
fn sides_are_received_on_their_own_interfaces() {
    let testbed = Testbed::namespaces().unwrap();
    let [there, here] = testbed.hosts();
    let send = |group: SocketAddrV4, interface, packet: &PacketBuilder| {
        let mut sender = UdpSender::new(group, interface, 1).unwrap();
        let bytes = packet.bytes();
        sender.transmit(bytes.len(), |buffer| buffer.copy_from_slice(bytes)).unwrap();
    };
    let mut reactor = here.run(|| Reactor::new(Wait::Epoll).unwrap()).unwrap();
    let mut handler = here
        .run(|| {
            let incremental = Lines::both(line(1), line(2));
            let mut addresses = Multicast { incremental, ..Multicast::default() };
            addresses.set_interfaces(Ipv4Addr::LOCALHOST, here.address());
            let late_join = LateJoin::Nothing;
            let settings = Settings { max_instruments: 8, late_join, ..Settings::default() };
            FeedHandler::new(settings, addresses, &mut reactor).unwrap()
        })
        .unwrap();
    // Group 2 on loopback and group 1 on the other interface are not received.
    here.run(|| send(line(1), Ipv4Addr::LOCALHOST, &packet(1).heartbeat())).unwrap();
    here.run(|| send(line(2), Ipv4Addr::LOCALHOST, &packet(2).heartbeat())).unwrap();
    there.run(|| send(line(2), there.address(), &packet(2).heartbeat())).unwrap();
    there.run(|| send(line(1), there.address(), &packet(3).heartbeat())).unwrap();
    there.run(|| send(line(2), there.address(), &packet(3).heartbeat())).unwrap();
    let received = |handler: &FeedHandler| {
        let lines = handler.lines();
        lines.map(|line| (line.group, line.datagrams)).collect::<Vec<_>>()
    };
    for poll in 0..2_000 {
        let now = at(poll);
        let ready = reactor.wait(now.monotonic, Some(now.monotonic)).unwrap();
        here.run(|| handler.process(now, ready, &mut reactor, &mut ()).unwrap()).unwrap();
        if received(&handler).iter().map(|(_, datagrams)| datagrams).sum::<u64>() >= 3 {
            break;
        }
    }
    assert_eq!(received(&handler), [(line(1), 1), (line(2), 2)]);
}

#[test]
#[ignore = "needs root"]
fn handler_survives_loss_of_its_interface() {
    survives_interface_loss(true);
}

#[test]
#[ignore = "needs root"]
fn engine_handlers_survive_loss_of_their_interface() {
    survives_interface_loss(false);
}
