//! The other side of the examples and of tests: an exchange on loopback, in a thread of its own,
//! with a gateway for primary and backup.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use hairpin_exchange::{
    Addresses, Credentials, Exchange, ExchangeSettings, FeedLine, Instrument, Pace,
    SimulatedMarketSettings, TcpFeed,
};
use hairpin_host::Clock;
use hairpin_mapped::Journal;
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_time::{Duration, Now};

/// SecurityID (48) of what is traded; its price stays around 1,000, in ticks of 0.25.
pub const INSTRUMENT: i32 = 1_001;
/// The one of the published test vectors: keys do not belong into programs.
pub const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
/// Sessions (39006) that there are accounts for.
const SESSIONS: [&str; 3] = ["ABC", "ABD", "ABE"];
/// Between two changes of the market, where it changes; so soon what was asked for is done.
const PAUSE: Duration = Duration::from_millis(5);

/// What the venue's thread is to do.
const NOTHING: u32 = 0;
const STOP: u32 = 1;
const FAIL_PRIMARY: u32 = 2;
const RESTORE: u32 = 3;

/// An exchange. It ends when it is dropped.
pub struct Venue {
    /// Where orders go.
    pub primary: SocketAddrV4,
    /// Where they go when that fails.
    pub backup: SocketAddrV4,
    /// Where market data comes from, by TCP, sides A and B.
    pub feed: [SocketAddrV4; 2],
    command: Arc<AtomicU32>,
    thread: Option<JoinHandle<()>>,
}

impl Venue {
    /// An exchange at which nothing happens but what is ordered. It sleeps while nothing comes.
    pub fn quiet() -> Self {
        Self::open(false)
    }

    /// An exchange whose best prices change all the time.
    pub fn busy() -> Self {
        Self::open(true)
    }

    fn open(is_busy: bool) -> Self {
        let command = Arc::new(AtomicU32::new(NOTHING));
        let (tell, told) = mpsc::channel();
        let commanded = Arc::clone(&command);
        let thread = thread::spawn(move || run(is_busy, &commanded, &tell));
        let Told { primary, backup, feed } = told.recv().expect("an exchange that listens");
        Self { primary, backup, feed, command, thread: Some(thread) }
    }

    /// What the first session there is told.
    pub fn settings(&self) -> Settings {
        self.settings_of(SESSIONS[0])
    }

    /// What the session of this name is told.
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
            operator: Operator::automated("TRADER", "US,IL"),
        };
        Settings::new(self.primary, logon)
    }

    /// The session of this name, which connects again when it has lost its connection; it has not
    /// started.
    pub fn kept(&self, session: &str) -> ReconnectingSession {
        let journal = Journal::anonymous(1 << 18).expect("memory");
        let session = Session::new(self.settings_of(session), journal).expect("sound settings");
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

    /// The primary's connections end, and the backup is the primary.
    pub fn fail_primary(&self) {
        self.command(FAIL_PRIMARY);
    }

    /// The gateway that has failed takes connections again.
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

/// Where an exchange listens.
struct Told {
    primary: SocketAddrV4,
    backup: SocketAddrV4,
    feed: [SocketAddrV4; 2],
}

fn access_key_of(session: &str) -> String {
    format!("KEY-OF-{session}")
}

fn run(is_busy: bool, command: &AtomicU32, tell: &mpsc::Sender<Told>) {
    let anywhere = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
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
        transport: Default::default(),
        addresses: Addresses {
            multicast: None,
            tcp: Some(TcpFeed::new(anywhere, anywhere)),
            gateway: anywhere,
        },
    };
    let clock = Clock::of_kernel();
    let mut reactor = Reactor::new(Wait::Epoll).expect("a reactor");
    let mut exchange = Exchange::new(settings, clock.now(), &mut reactor).expect("free ports");
    exchange.set_pace(Pace::Paced, clock.now());
    let backup = exchange.serve_backup(anywhere, clock.now(), &mut reactor).expect("a free port");
    let feed = FeedLine::ALL.map(|side| exchange.tcp_feed_address(side).expect("a feed"));
    let primary = exchange.gateway_address();
    tell.send(Told { primary, backup, feed }).expect("somebody who waits");
    let mut due = clock.now().monotonic;
    loop {
        let now = clock.now();
        let asked = command.load(Ordering::Acquire);
        match asked {
            STOP => return,
            FAIL_PRIMARY => exchange.gateway_mut().fail_primary(now, &mut ()),
            RESTORE => exchange.gateway_mut().restore(),
            _ => {}
        }
        // Unless it has been told to stop meanwhile.
        command.compare_exchange(asked, NOTHING, Ordering::AcqRel, Ordering::Relaxed).ok();
        if is_busy && now.monotonic >= due {
            due = now.monotonic + PAUSE;
            exchange.tick(now, now.monotonic, &mut ()).expect("a tick");
        }
        exchange.step(now, Ready::NOTHING, &mut reactor, &mut ()).expect("a turn");
        let look = now.monotonic + PAUSE;
        let deadline = exchange.poll_timeout().map_or(look, |timeout| timeout.min(look));
        let ready = reactor.wait(now.monotonic, Some(deadline)).expect("a wait");
        exchange.step(clock.now(), ready, &mut reactor, &mut ()).expect("a turn");
    }
}

/// A clock for a thread of sessions.
pub fn clock() -> impl FnMut() -> Now {
    let clock = Clock::of_kernel();
    move || clock.now()
}

/// An order to buy far below the market.
pub fn order(id: u64) -> NewOrder {
    NewOrder::limit(INSTRUMENT, SideReq::BUY, Decimal(1_000_000_000), 1, ClOrdId::from(id))
}

/// Waits until it is so, for twenty seconds at most.
#[track_caller]
pub fn until(what: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..20_000 {
        if done() {
            return;
        }
        thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("{what} does not come");
}
