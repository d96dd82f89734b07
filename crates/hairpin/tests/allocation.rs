//! 200,000 ticks through packet, book, order and report: nothing allocates after start-up.
//! `HAIRPIN_TEST_SCALE=5` makes it a million.
//!
//! The trader is the command's own module; the exchange is the real one, without sockets; between
//! them is memory. Everything runs on one thread, and every allocation is counted.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;

use hairpin_cli_latency::strategy::{Reaction, Strategy};
use hairpin_endpoint::{Blocker, Meta, Receive, Received, Source, Stream, Timestamp, Transmit};
use hairpin_exchange::{
    ConnectionId, Credentials, Gateway, MAX_PAYLOAD, Pace, SessionState, SimulatedMarket,
    SimulatedMarketSettings,
};
use hairpin_feed_handler::{Channel, ChannelState, Feed, FeedLine};
use hairpin_mapped::Journal;
use hairpin_mdp3::Input;
use hairpin_order_entry::{
    Binding, Connect, KEEP_ALIVE_DEFAULT, Logon, Operator, SecretKey, Session, Settings, State,
    WhenFull,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_testbed::{CountingAllocator, allocations, scaled};
use hairpin_time::{Duration, Instant, Now, Utc};

const TICKS: u64 = 200_000;
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The bytes in flight in each direction.
#[derive(Default)]
struct Wire {
    to_gateway: Vec<u8>,
    to_trader: Vec<u8>,
    delivered: Vec<u8>,
}

/// The trader's end of the wire.
struct Connection {
    wire: Rc<RefCell<Wire>>,
    descriptor: File,
}

impl Receive for Connection {
    fn receive(&mut self, _: usize, mut on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        let source = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0);
        let mut wire = self.wire.borrow_mut();
        let Wire { to_trader, delivered, .. } = &mut *wire;
        std::mem::swap(to_trader, delivered);
        to_trader.clear();
        // Taken out during delivery, because the answer is written to the same wire.
        let bytes = std::mem::take(delivered);
        drop(wire);
        if !bytes.is_empty() {
            on(Meta { source, timestamp: Timestamp::None }, &bytes);
        }
        self.wire.borrow_mut().delivered = bytes;
        Ok(Received { count: 1, drained: true, closed: false })
    }
}

impl Transmit for Connection {
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        let mut frame = [0; 256];
        fill(&mut frame[..length]);
        self.write(&frame[..length]).map(drop)
    }
}

impl Stream for Connection {
    fn is_connected(&self) -> bool {
        true
    }
    fn finish_connect(&mut self) -> io::Result<bool> {
        Ok(true)
    }
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.wire.borrow_mut().to_gateway.extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<bool> {
        Ok(true)
    }
    fn shutdown(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Source for Connection {
    fn set_blocking(&mut self, _: Option<Duration>) -> io::Result<Option<Blocker>> {
        Ok(None)
    }
}

struct MemoryConnect(Rc<RefCell<Wire>>);

impl Connect for MemoryConnect {
    type Stream = Connection;
    fn connect(&mut self, _: SocketAddrV4) -> io::Result<Connection> {
        Ok(Connection { wire: Rc::clone(&self.0), descriptor: File::open("/dev/null")? })
    }
}

/// The exchange, the trader and their virtual time.
struct Pair {
    now: Now,
    floor: SimulatedMarket,
    gateway: Gateway,
    connection: ConnectionId,
    wire: Rc<RefCell<Wire>>,
    chunk: Vec<u8>,
    packet: Box<[u8; MAX_PAYLOAD]>,
    packets: u64,
    is_flat_out: bool,
    channel: Channel,
    session: Session<MemoryConnect>,
    reactor: Reactor,
    strategy: Strategy,
}

impl Pair {
    fn new() -> Self {
        let utc = Utc::from_nanos(1_800_000_000_000_000_000);
        let now = Now { monotonic: Instant::from_nanos(1_000_000_000), utc };
        let floor_settings = SimulatedMarketSettings::default();
        let account = Credentials::new("HAIRPIN", KEY, "ABC", "DEFGH").unwrap();
        let mut gateway = Gateway::new(vec![account], 1, floor_settings.capacity.orders);
        let connection = gateway.handle_connected(now, &mut ()).unwrap();
        let wire = Rc::new(RefCell::new(Wire {
            to_gateway: Vec::with_capacity(1 << 16),
            to_trader: Vec::with_capacity(1 << 16),
            delivered: Vec::with_capacity(1 << 16),
        }));
        let logon = Logon {
            access_key_id: "HAIRPIN".into(),
            secret_key: SecretKey::from_base64url(KEY).unwrap(),
            session: "ABC".into(),
            firm: "DEFGH".into(),
            trading_system_name: "Hairpin".into(),
            trading_system_version: "1".into(),
            trading_system_vendor: "Hairpin".into(),
            keep_alive_interval: KEEP_ALIVE_DEFAULT,
            operator: Operator::automated("TRADER", "US,IL").unwrap(),
        };
        let nowhere = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);
        // Messages of both directions fill this memory repeatedly.
        let journal = Journal::anonymous(1 << 24).unwrap();
        let when_full = WhenFull::Restart;
        let settings = Settings { when_full, ..Settings::new(nowhere, logon) };
        let dial = MemoryConnect(Rc::clone(&wire));
        Self {
            now,
            floor: SimulatedMarket::new(&floor_settings, now),
            gateway,
            connection,
            wire,
            chunk: Vec::with_capacity(1 << 16),
            packet: Box::new([0; MAX_PAYLOAD]),
            packets: 0,
            is_flat_out: true,
            channel: Channel::new(hairpin_feed_handler::Settings {
                max_instruments: 128,
                ..Default::default()
            }),
            session: Session::with_connect(settings, journal, dial).unwrap(),
            reactor: Reactor::new(Wait::Spin).unwrap(),
            strategy: Strategy::default(),
        }
    }

    fn pass(&mut self, span: Duration) {
        self.now.monotonic += span;
        self.now.utc = self.now.utc + span;
    }

    /// Sends every due packet on both feed lines of the channel.
    fn publish(&mut self) {
        while let Some(sent) = self.floor.publisher_mut().poll_transmit(self.now, &mut *self.packet)
        {
            self.packets += 1;
            let feed = match sent.feed {
                hairpin_exchange::Feed::Incremental => Feed::Incremental,
                hairpin_exchange::Feed::Instruments => Feed::Instrument,
                hairpin_exchange::Feed::Snapshots | hairpin_exchange::Feed::SnapshotOrders => {
                    Feed::Snapshot
                }
            };
            for side in FeedLine::ALL {
                let Self { now, strategy, session, channel, packet, .. } = self;
                let input = Input { feed, line: side, received: Some(now.utc) };
                let mut reaction = Reaction { strategy, session, now: *now };
                channel.handle_packet(*now, input, &packet[..sent.length], &mut reaction);
            }
            while self.channel.poll_action().is_some() {}
            // At full speed, a loop always has another packet.
            if self.is_flat_out && self.packets.is_multiple_of(64) {
                break;
            }
        }
    }

    /// Delivers the written bytes in both directions until none are in flight.
    fn exchange_bytes(&mut self) {
        loop {
            std::mem::swap(&mut self.chunk, &mut self.wire.borrow_mut().to_gateway);
            for part in self.chunk.chunks(Gateway::CHUNK_MAX) {
                let (id, floor) = (self.connection, &mut self.floor);
                self.gateway.handle_bytes(self.now, id, part, floor, &mut ());
            }
            let was_silent = self.chunk.is_empty();
            self.chunk.clear();
            self.gateway.handle_timeout(self.now, &mut ());
            let mut answered = false;
            while let Some(bytes) = self.gateway.poll_transmit(self.connection) {
                self.wire.borrow_mut().to_trader.extend_from_slice(bytes);
                let count = bytes.len();
                self.gateway.handle_sent(self.connection, count);
                answered = true;
            }
            let ready = self.reactor.wait(self.now.monotonic, None).unwrap();
            let Self { now, session, reactor, strategy, .. } = self;
            session.process(*now, ready, reactor, strategy).unwrap();
            if was_silent && !answered && self.wire.borrow().to_gateway.is_empty() {
                break;
            }
        }
    }

    fn start(&mut self) {
        for _ in 0..1_000 {
            self.pass(Duration::from_millis(1));
            self.publish();
            if self.channel.state() == ChannelState::InSync {
                break;
            }
        }
        assert_eq!(self.channel.state(), ChannelState::InSync);
        self.is_flat_out = false;
        self.floor.publisher_mut().set_pace(Pace::Paced, self.now.monotonic);
        self.session.connect(self.now, Binding::New).unwrap();
        for _ in 0..8 {
            self.exchange_bytes();
        }
        assert_eq!(self.session.state(), State::Established);
        assert_eq!(self.gateway.state(self.connection), SessionState::Established);
    }

    fn tick(&mut self) {
        self.pass(Duration::from_micros(500));
        self.floor.step(self.now).unwrap();
        self.publish();
        self.exchange_bytes();
    }
}

#[test]
fn ticks_allocate_nothing() {
    let ticks = scaled(TICKS);
    let mut pair = Pair::new();
    pair.start();
    for _ in 0..1_000 {
        pair.tick();
    }
    let (before, packets) = (allocations(), pair.packets);
    for _ in 1_000..ticks {
        pair.tick();
    }
    assert_eq!(allocations() - before, 0);

    let counts = &pair.strategy.counts;
    assert_eq!(counts.first_error, None);
    assert_eq!([counts.orders, counts.acknowledgements, counts.cancels], [ticks; 3]);
    assert_eq!([counts.rejects, counts.gaps, counts.unsynced, counts.errors], [0; 4]);
    assert_eq!(pair.gateway.counters().orders, ticks);
    assert!(
        pair.packets - packets > ticks,
        "loops and split events must add packets to those of the ticks"
    );
    assert!(pair.session.outbound_counters().business_messages == 2 * ticks);
    assert!(pair.session.counters().journals_begun_again > 0);
    let duplicates = pair.channel.counters().duplicates;
    assert!(duplicates > ticks, "line B must repeat every packet: {duplicates}");
}

#[test]
fn counting_allocator_counts_an_allocation() {
    let before = allocations();
    drop(std::hint::black_box(Box::new(1)));
    assert_eq!(allocations() - before, 1);
}
