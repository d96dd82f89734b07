//! Hairpin's trader with an established session, on a connection that accepts every byte and
//! discards it.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::hint::black_box;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;

use hairpin_endpoint::{Blocker, Meta, Receive, Received, Source, Stream, Timestamp, Transmit};
use hairpin_exchange::{Credentials, Gateway, SimulatedMarket, SimulatedMarketSettings};
use hairpin_mapped::Journal;
use hairpin_order_entry::{
    Binding, Connect, KEEP_ALIVE_DEFAULT, Logon, Operator, SecretKey, Session, Settings, State,
    WhenFull,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Now};

use hairpin_cli_latency::strategy::Strategy;

const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const NOWHERE: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);
/// The size of the trader's journal.
const JOURNAL: usize = 64 << 20;

/// The bytes in flight during the logon; afterwards only their number.
#[derive(Default)]
pub(crate) struct Wire {
    to_gateway: RefCell<Vec<u8>>,
    to_trader: RefCell<Vec<u8>>,
    /// Set after the logon: written bytes are then only counted.
    counts: Cell<bool>,
    pub(crate) bytes: Cell<u64>,
}

/// The trader's end of the connection.
pub(crate) struct Connection {
    wire: Rc<Wire>,
    descriptor: File,
}

impl Receive for Connection {
    fn receive(&mut self, _: usize, mut on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        let bytes = self.wire.to_trader.take();
        if !bytes.is_empty() {
            on(Meta { source: NOWHERE, timestamp: Timestamp::None }, &bytes);
        }
        Ok(Received { count: 1, drained: true, closed: false })
    }
}

impl Transmit for Connection {
    fn transmit(&mut self, _: usize, _: impl FnOnce(&mut [u8])) -> io::Result<()> {
        unreachable!("a session writes from its journal")
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
        if self.wire.counts.get() {
            self.wire.bytes.set(self.wire.bytes.get() + black_box(bytes).len() as u64);
        } else {
            self.wire.to_gateway.borrow_mut().extend_from_slice(bytes);
        }
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

/// A connector that returns the only connection.
pub(crate) struct MemoryConnect(Rc<Wire>);

impl Connect for MemoryConnect {
    type Stream = Connection;

    fn connect(&mut self, _: SocketAddrV4) -> io::Result<Connection> {
        Ok(Connection { wire: Rc::clone(&self.0), descriptor: File::open("/dev/null")? })
    }
}

/// Returns a session established at `now`, and its connection, which counts from here on.
pub(crate) fn established(now: Now) -> (Session<MemoryConnect>, Rc<Wire>) {
    let wire = Rc::new(Wire::default());
    let journal = Journal::anonymous(JOURNAL).expect("memory for a journal");
    let (when_full, keep_inbound) = (WhenFull::Restart, false);
    let settings = Settings { when_full, keep_inbound, ..Settings::new(NOWHERE, logon()) };
    let dial = MemoryConnect(Rc::clone(&wire));
    let mut session = Session::with_connect(settings, journal, dial).expect("valid settings");
    session.connect(now, Binding::New).expect("no connection yet");
    log_on(&mut session, &wire, now);
    assert_eq!(session.state(), State::Established);
    wire.counts.set(true);
    (session, wire)
}

fn logon() -> Logon {
    Logon {
        access_key_id: "HAIRPIN".into(),
        secret_key: SecretKey::from_base64url(KEY).expect("a key"),
        session: "ABC".into(),
        firm: "DEFGH".into(),
        trading_system_name: "Hairpin".into(),
        trading_system_version: "1".into(),
        trading_system_vendor: "Hairpin".into(),
        keep_alive_interval: KEEP_ALIVE_DEFAULT,
        operator: Operator::automated("TRADER", "US,IL").expect("the operator is valid"),
    }
}

/// Carries bytes between the session and a gateway until both are established.
fn log_on(session: &mut Session<MemoryConnect>, wire: &Wire, now: Now) {
    let settings = SimulatedMarketSettings::default();
    let mut market = SimulatedMarket::new(&settings, now);
    let account = Credentials::new("HAIRPIN", KEY, "ABC", "DEFGH").expect("credentials");
    let mut gateway = Gateway::new(vec![account], 1, settings.capacity.orders);
    let id = gateway.handle_connected(now, &mut ()).expect("a free connection slot");
    let mut reactor = Reactor::new(Wait::Spin).expect("a reactor");
    let mut strategy = Strategy::default();
    for _ in 0..8 {
        let ready = reactor.wait(now.monotonic, None).expect("a wait");
        session
            .process(now, ready, &mut reactor, &mut strategy)
            .expect("the session processes its events");
        gateway.handle_bytes(now, id, &wire.to_gateway.take(), &mut market, &mut ());
        while let Some(bytes) = gateway.poll_transmit(id) {
            wire.to_trader.borrow_mut().extend_from_slice(bytes);
            let count = bytes.len();
            gateway.handle_sent(id, count);
        }
    }
}
