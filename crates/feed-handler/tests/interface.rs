//! An interface that goes and returns while a channel is received by it.
#![allow(clippy::unwrap_used, reason = "a namespace that cannot be had fails the test")]

#[allow(dead_code, unreachable_pub, reason = "the packets of another crate's tests")]
#[path = "../../mdp3/tests/support/packets.rs"]
mod packets;

use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_endpoint::{Transmit, UdpSender};
use hairpin_feed_handler::{
    Book, ChannelState, EngineError, FeedError, FeedHandler, FeedHandlers, Lines, Multicast,
    Settings, SocketEngine,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_testbed::Testbed;
use hairpin_time::{Duration, Instant, Now};
use packets::{END, PacketBuilder, YEAR_2026, bid, packet};

const PORT: u16 = 14_310;

/// A clock of its own: each turn of a loop is ten milliseconds.
fn at(turn: u64) -> Now {
    let span = Duration::from_millis(turn * 10);
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

/// What receives: a handler in the caller's reactor, or several on an engine.
trait Receiver: Send {
    fn turn(&mut self, now: Now) -> Result<(), FeedError>;
    fn state(&self) -> ChannelState;
    fn book(&self) -> Option<Book<'_>>;
}

struct One(FeedHandler, Reactor);

impl Receiver for One {
    fn turn(&mut self, now: Now) -> Result<(), FeedError> {
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
    fn turn(&mut self, now: Now) -> Result<(), FeedError> {
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

/// A bed, what receives on its second host, and what it has been told.
struct Scene {
    bed: Testbed,
    receiver: Box<dyn Receiver>,
    turns: u64,
    errors: Vec<FeedError>,
}

impl Scene {
    fn new(is_one: bool) -> Self {
        let bed = Testbed::namespaces().unwrap();
        let host = &bed.hosts()[1];
        // A socket belongs to the host it was made on.
        let receiver = host.run(|| receiver(is_one, host.address())).unwrap();
        Self { bed, receiver, turns: 0, errors: Vec::new() }
    }

    fn send(&self, number: u8, packet: &PacketBuilder) {
        let host = &self.bed.hosts()[0];
        let send = || {
            let mut sender = UdpSender::new(line(number), host.address(), 1).unwrap();
            let bytes = packet.bytes();
            sender.transmit(bytes.len(), |buffer| buffer.copy_from_slice(bytes)).unwrap();
        };
        host.run(send).unwrap();
    }

    /// Turns the loop on the host; whether `done` came.
    fn turn_until(&mut self, turns: u64, done: impl Fn(&Self) -> bool) -> bool {
        for _ in 0..turns {
            self.turns += 1;
            let (now, receiver) = (at(self.turns), &mut self.receiver);
            // What is opened anew belongs to the host as well.
            let turned = self.bed.hosts()[1].run(|| receiver.turn(now)).unwrap();
            self.errors.extend(turned.err());
            if done(self) {
                return true;
            }
        }
        false
    }

    fn until(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        assert!(self.turn_until(2_000, done), "{what} does not come: {:?}", self.errors);
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

fn goes_and_returns(is_one: bool) {
    let mut scene = Scene::new(is_one);
    scene.come_in_sync();
    scene.send(1, &quote(11, 1, 100));
    scene.until("the quote", |it| it.receiver.book().is_some_and(|book| book.bids().len() == 1));
    assert!(scene.errors.is_empty(), "{:?}", scene.errors);

    scene.bed.disconnect().unwrap();
    scene.until("word of it", |it| !it.errors.is_empty());
    scene.turn_until(500, |_| false);
    let told: Vec<String> = scene.errors.iter().map(ToString::to_string).collect();
    let address = scene.bed.hosts()[1].address();
    let words = format!("the interface with address {address} is gone; waiting for it to return");
    assert_eq!(told, [words], "it is told once");
    assert!(scene.errors[0].is_passing());
    let gone = &scene.errors[0];
    assert!(matches!(gone, FeedError::Engine(EngineError::InterfaceGone { .. })), "{gone:?}");

    // Meanwhile three packets are lost; then it is back, and the books come back too.
    scene.bed.reconnect().unwrap();
    scene.turn_until(200, |_| false);
    scene.send(1, &quote(15, 5, 104));
    scene.until("the gap", |it| it.receiver.state() == ChannelState::Recovering);
    let levels = [(b'0', 1, 104, 5)];
    scene.turn_until(5, |_| false);
    scene.send(3, &packet(1).snapshot(7, 15, 1, 5, &levels));
    scene.until("sync", |it| it.receiver.state() == ChannelState::InSync);
    scene.send(1, &quote(16, 6, 105));
    scene.until("a quote", |it| it.receiver.book().is_some_and(|book| book.bids().len() == 2));
    assert_eq!(scene.errors.len(), 1, "{:?}", scene.errors);

    // It goes again, and is heard at once when it is back, since its memberships have outlived
    // that: it is known to be back nevertheless, so that a third time is told too.
    scene.bed.disconnect().unwrap();
    scene.until("word of it", |it| it.errors.len() == 2);
    scene.bed.reconnect().unwrap();
    for sequence in 17..417 {
        scene.send(1, &quote(sequence, sequence - 10, 105));
        scene.turn_until(1, |_| false);
    }
    assert_eq!(scene.errors.len(), 2, "{:?}", scene.errors);
    scene.bed.disconnect().unwrap();
    scene.until("word of it", |it| it.errors.len() == 3);
}

#[test]
#[ignore = "needs root"]
fn a_handler_outlives_its_interface() {
    goes_and_returns(true);
}

#[test]
#[ignore = "needs root"]
fn handlers_on_an_engine_outlive_their_interface() {
    goes_and_returns(false);
}
