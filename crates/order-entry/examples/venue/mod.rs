//! The exchange for the examples and tests: runs in its own thread, on loopback unless another
//! address is given, with a primary and a backup gateway.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use hairpin_endpoint::Transport;
use hairpin_exchange::{
    Addresses, Credentials, Exchange, ExchangeSettings, FeedLine, Instrument, Pace,
    SimulatedMarketSettings, TcpFeed,
};
use hairpin_host::Clock;
use hairpin_mapped::Journal;
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_time::{Duration, Now};

/// SecurityID (48) of the instrument. Its price stays around 1,000, in ticks of 0.25.
pub const INSTRUMENT: i32 = 1_001;
/// The key of the published test vectors. Never put a real key into a program.
pub const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
/// The sessions (39006) with an account.
const SESSIONS: [&str; 3] = ["ABC", "ABD", "ABE"];
/// The interval of market changes and of checks for commands.
const PAUSE: Duration = Duration::from_millis(5);

/// The commands to the venue's thread.
const NOTHING: u32 = 0;
const STOP: u32 = 1;
const FAIL_PRIMARY: u32 = 2;
const RESTORE: u32 = 3;

/// An exchange. It stops when dropped.
pub struct Venue {
    /// The address of the primary gateway.
    pub primary: SocketAddrV4,
    /// The address of the backup gateway.
    pub backup: SocketAddrV4,
    /// The TCP addresses of market data, sides A and B.
    pub feed: [SocketAddrV4; 2],
    command: Arc<AtomicU32>,
    thread: Option<JoinHandle<()>>,
}

impl Venue {
    /// Starts an exchange without order flow. It sleeps while idle.
    pub fn quiet() -> Self {
        Self::open(false, Site::default())
    }

    /// Starts an exchange without order flow at an address of this host. It spins.
    pub fn quiet_at(address: Ipv4Addr, transport: Transport) -> Self {
        Self::open(false, Site { address, transport, wait: Wait::Spin })
    }

    /// Starts an exchange whose best prices change continuously.
    pub fn busy() -> Self {
        Self::open(true, Site::default())
    }

    fn open(is_busy: bool, site: Site) -> Self {
        let command = Arc::new(AtomicU32::new(NOTHING));
        let (listening, addresses) = mpsc::channel();
        let commanded = Arc::clone(&command);
        let thread = thread::spawn(move || run(is_busy, &site, &commanded, &listening));
        let ListenAddresses { primary, backup, feed } =
            addresses.recv().expect("the exchange reports its addresses");
        Self { primary, backup, feed, command, thread: Some(thread) }
    }

    /// Returns the settings of the first session.
    pub fn settings(&self) -> Settings {
        self.settings_of(SESSIONS[0])
    }

    /// Returns the settings of a session.
    pub fn settings_of(&self, session: &str) -> Settings {
        let logon = Logon {
            access_key_id: access_key_of(session),
            secret_key: SecretKey::from_base64url(KEY).expect("a key"),
            session: session.to_owned(),
            firm: "DEFGH".to_owned(),
            trading_system_name: "Example".to_owned(),
            trading_system_version: "1.0".to_owned(),
            trading_system_vendor: "Example".to_owned(),
            keep_alive_interval: KEEP_ALIVE_DEFAULT,
            operator: Operator::automated("TRADER", "US,IL").expect("the operator is valid"),
        };
        Settings::new(self.primary, logon)
    }

    /// Creates a reconnecting session that has not started.
    pub fn reconnecting(&self, session: &str) -> ReconnectingSession {
        let journal = Journal::anonymous(1 << 18).expect("memory");
        let session = Session::new(self.settings_of(session), journal).expect("valid settings");
        let connector = ConnectorSettings {
            primary: vec![self.primary],
            backup: vec![self.backup],
            attempts: None,
            interval: Duration::from_millis(50),
            schedule: None,
        };
        let zone = NamedZone::new("America/Chicago").expect("a zone");
        ReconnectingSession::new(session, connector, zone)
    }

    /// Closes the primary's connections and promotes the backup.
    pub fn fail_primary(&self) {
        self.command(FAIL_PRIMARY);
    }

    /// Restores the failed gateway, which accepts connections again.
    pub fn restore(&self) {
        self.command(RESTORE);
    }

    fn command(&self, command: u32) {
        self.command.store(command, Ordering::Release);
        until("the venue", || self.command.load(Ordering::Acquire) == NOTHING);
    }
}

impl Drop for Venue {
    fn drop(&mut self) {
        self.command.store(STOP, Ordering::Release);
        let outcome = self.thread.take().map(JoinHandle::join);
        assert!(!matches!(outcome, Some(Err(_))) || thread::panicking(), "the exchange died");
    }
}

/// The address, transport and wait of an exchange.
struct Site {
    address: Ipv4Addr,
    transport: Transport,
    wait: Wait,
}

impl Default for Site {
    fn default() -> Self {
        let (address, transport) = (Ipv4Addr::LOCALHOST, Transport::Kernel);
        Self { address, transport, wait: Wait::Epoll }
    }
}

/// The addresses on which an exchange listens.
struct ListenAddresses {
    primary: SocketAddrV4,
    backup: SocketAddrV4,
    feed: [SocketAddrV4; 2],
}

fn access_key_of(session: &str) -> String {
    format!("KEY-OF-{session}")
}

fn run(is_busy: bool, site: &Site, command: &AtomicU32, listening: &mpsc::Sender<ListenAddresses>) {
    let anywhere = SocketAddrV4::new(site.address, 0);
    let account = |session: &str| {
        Credentials::new(&access_key_of(session), KEY, session, "DEFGH").expect("an account")
    };
    let settings = ExchangeSettings {
        market: SimulatedMarketSettings {
            instruments: Instrument::numbered(2),
            ..SimulatedMarketSettings::default()
        },
        matching: is_busy,
        accounts: SESSIONS.map(account).into(),
        connections: 8,
        transport: site.transport.clone(),
        addresses: Addresses {
            multicast: None,
            tcp: Some(TcpFeed::new(anywhere, anywhere)),
            gateway: anywhere,
        },
    };
    let clock = Clock::from_kernel();
    let mut reactor = Reactor::new(site.wait).expect("a reactor");
    let mut exchange = Exchange::new(settings, clock.now(), &mut reactor).expect("free ports");
    exchange.set_pace(Pace::Paced, clock.now());
    let backup = exchange.serve_backup(anywhere, clock.now(), &mut reactor).expect("a free port");
    let feed = FeedLine::ALL.map(|side| exchange.tcp_feed_address(side).expect("a feed"));
    let primary = exchange.gateway_address();
    let addresses = ListenAddresses { primary, backup, feed };
    listening.send(addresses).expect("the venue waits for the addresses");
    let mut due = clock.now().monotonic;
    loop {
        let now = clock.now();
        let requested = command.load(Ordering::Acquire);
        match requested {
            STOP => return,
            FAIL_PRIMARY => exchange.gateway_mut().fail_primary(now, &mut ()),
            RESTORE => exchange.gateway_mut().restore(),
            _ => {}
        }
        // Keep a stop command that arrived meanwhile.
        command.compare_exchange(requested, NOTHING, Ordering::AcqRel, Ordering::Relaxed).ok();
        if is_busy && now.monotonic >= due {
            due = now.monotonic + PAUSE;
            exchange.tick(now, now.monotonic, &mut ()).expect("a tick");
        }
        exchange.step(now, Ready::EMPTY, &mut reactor, &mut ()).expect("no reactor error");
        let check = now.monotonic + PAUSE;
        let deadline = exchange.poll_timeout().map_or(check, |timeout| timeout.min(check));
        let ready = reactor.wait(now.monotonic, Some(deadline)).expect("a wait");
        exchange.step(clock.now(), ready, &mut reactor, &mut ()).expect("no reactor error");
    }
}

/// Returns a clock for a thread of sessions.
pub fn clock() -> impl FnMut() -> Now {
    let clock = Clock::from_kernel();
    move || clock.now()
}

/// Returns a buy order far below the market: display price 1, in CME's wire format (PRICE9) the
/// mantissa 1,000,000,000 with the implied exponent -9.
pub fn order(id: u64) -> NewOrder {
    NewOrder::limit(INSTRUMENT, SideReq::BUY, Decimal(1_000_000_000), 1, ClOrdId::from(id))
}

/// Waits until `done` returns `true`, for at most a minute.
#[track_caller]
pub fn until(event: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..60_000 {
        if done() {
            return;
        }
        thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("{event} does not happen within 60 s");
}
