//! The other side of the examples: an exchange on loopback, in a thread of its own.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use hairpin_exchange::{
    Addresses, Credentials, Exchange, ExchangeSettings, FeedSide, FloorSettings, Instrument, Pace,
    TcpFeed,
};
use hairpin_host::Clock;
use hairpin_order_entry::{KEEP_ALIVE_DEFAULT, Logon, Operator, SecretKey, Settings};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::Duration;

/// SecurityID (48) of what is traded; its price stays around 1,000, in ticks of 0.25.
pub const INSTRUMENT: i32 = 1_001;
const ACCESS_KEY_ID: &str = "ACCESS-KEY-ID-123456";
/// The one of the published test vectors: keys do not belong into programs.
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
/// Between two changes of the market, where it changes.
const PAUSE: Duration = Duration::from_millis(5);
/// So soon it ends.
const LOOK: Duration = Duration::from_millis(20);

/// An exchange. It ends when it is dropped.
pub struct Venue {
    /// Where orders go.
    pub gateway: SocketAddrV4,
    /// Where market data comes from, by TCP, sides A and B.
    pub feed: [SocketAddrV4; 2],
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Venue {
    /// An exchange at which nothing happens but what is ordered.
    pub fn quiet() -> Self {
        Self::open(false)
    }

    /// An exchange whose best prices change all the time.
    pub fn busy() -> Self {
        Self::open(true)
    }

    /// What a session there is told.
    pub fn settings(&self) -> Settings {
        let logon = Logon {
            access_key_id: ACCESS_KEY_ID.to_owned(),
            secret_key: SecretKey::from_base64url(KEY).expect("a key"),
            session: "ABC".to_owned(),
            firm: "DEFGH".to_owned(),
            trading_system_name: "Example".to_owned(),
            trading_system_version: "1.0".to_owned(),
            trading_system_vendor: "Example".to_owned(),
            keep_alive_interval: KEEP_ALIVE_DEFAULT,
            operator: Operator::automated("TRADER", "US,IL"),
        };
        Settings::new(self.gateway, logon)
    }

    fn open(is_busy: bool) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (tell, told) = mpsc::channel();
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || run(is_busy, &stopped, &tell));
        let (gateway, feed) = told.recv().expect("an exchange that listens");
        Self { gateway, feed, stop, thread: Some(thread) }
    }
}

impl Drop for Venue {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

type Told = mpsc::Sender<(SocketAddrV4, [SocketAddrV4; 2])>;

fn run(is_busy: bool, stop: &AtomicBool, tell: &Told) {
    let anywhere = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
    let account = Credentials::new(ACCESS_KEY_ID, KEY, "ABC", "DEFGH").expect("an account");
    let floor = FloorSettings { instruments: Instrument::numbered(2), ..FloorSettings::default() };
    let settings = ExchangeSettings {
        floor,
        matching: is_busy,
        accounts: vec![account],
        connections: 2,
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
    let feed = FeedSide::ALL.map(|side| exchange.tcp_feed_address(side).expect("a feed"));
    tell.send((exchange.gateway_address(), feed)).expect("an example that waits");
    let mut due = clock.now().monotonic;
    while !stop.load(Ordering::Relaxed) {
        let now = clock.now();
        let wake = if is_busy { due } else { now.monotonic + LOOK };
        let wake = exchange.poll_timeout().map_or(wake, |timeout| timeout.min(wake));
        let ready = reactor.wait(now.monotonic, Some(wake)).expect("a wait");
        let now = clock.now();
        if is_busy && now.monotonic >= due {
            due = now.monotonic + PAUSE;
            exchange.tick(now, now.monotonic, &mut ()).expect("a tick");
        }
        exchange.step(now, ready, &mut reactor, &mut ()).expect("a turn");
    }
}
