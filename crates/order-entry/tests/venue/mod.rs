//! The exchange on loopback in a thread of its own, with a gateway for primary and backup.

#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "all of this file is tests")]

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use hairpin_exchange::{
    Addresses, Credentials, Exchange, ExchangeSettings, FloorSettings, Instrument, Pace,
};
use hairpin_host::Clock;
use hairpin_mapped::Journal;
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Now};

pub(crate) const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
pub(crate) const INSTRUMENT: i32 = 1_001;
/// What the venue's thread is to do.
const STOP: u32 = 1;
const FAIL_PRIMARY: u32 = 2;
const RESTORE: u32 = 3;

/// A gateway with a quiet market behind it. It sleeps while nothing comes.
pub(crate) struct Venue {
    pub(crate) primary: SocketAddrV4,
    pub(crate) backup: SocketAddrV4,
    command: Arc<AtomicU32>,
    thread: Option<JoinHandle<()>>,
}

impl Venue {
    pub(crate) fn open() -> Self {
        let command = Arc::new(AtomicU32::new(0));
        let (told, addresses) = mpsc::channel();
        let commanded = Arc::clone(&command);
        let thread = thread::spawn(move || run(&commanded, &told));
        let (primary, backup) = addresses.recv().unwrap();
        Self { primary, backup, command, thread: Some(thread) }
    }

    /// The primary's connections end, and the backup is the primary.
    pub(crate) fn fail_primary(&self) {
        self.command(FAIL_PRIMARY);
    }

    pub(crate) fn restore(&self) {
        self.command(RESTORE);
    }

    fn command(&self, command: u32) {
        self.command.store(command, Ordering::Release);
        until("the venue", || self.command.load(Ordering::Acquire) == 0);
    }

    /// A session of the account with this name, which has not started.
    pub(crate) fn kept(&self, account: &str) -> KeptSession {
        let logon = Logon {
            access_key_id: format!("KEY-OF-{account}"),
            secret_key: SecretKey::from_base64url(KEY).unwrap(),
            session: account.into(),
            firm: "DEFGH".into(),
            trading_system_name: "Test".into(),
            trading_system_version: "1".into(),
            trading_system_vendor: "Test".into(),
            keep_alive_interval: KEEP_ALIVE_DEFAULT,
            operator: Operator::automated("TRADER", "US,IL"),
        };
        let journal = Journal::anonymous(1 << 18).unwrap();
        let session = Session::new(Settings::new(self.primary, logon), journal).unwrap();
        let connector = ConnectorSettings {
            primary: vec![self.primary],
            backup: vec![self.backup],
            attempts: None,
            interval: Duration::from_millis(50),
            schedule: None,
        };
        KeptSession::new(session, connector, NamedZone::new("America/Chicago").unwrap())
    }
}

impl Drop for Venue {
    fn drop(&mut self) {
        self.command.store(STOP, Ordering::Release);
        let outcome = self.thread.take().unwrap().join();
        assert!(outcome.is_ok() || thread::panicking(), "the exchange died");
    }
}

fn run(command: &AtomicU32, told: &mpsc::Sender<(SocketAddrV4, SocketAddrV4)>) {
    let clock = Clock::of_kernel();
    let anywhere = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
    let account = |name| Credentials::new(&format!("KEY-OF-{name}"), KEY, name, "DEFGH").unwrap();
    let settings = ExchangeSettings {
        floor: FloorSettings { instruments: Instrument::numbered(2), ..FloorSettings::default() },
        matching: false,
        accounts: ["ABC", "ABD", "ABE"].map(account).into(),
        connections: 8,
        addresses: Addresses { multicast: None, tcp: None, gateway: anywhere },
    };
    let mut reactor = Reactor::new(Wait::Epoll).unwrap();
    let mut exchange = Exchange::new(settings, clock.now(), &mut reactor).unwrap();
    exchange.set_pace(Pace::Paced, clock.now());
    let backup = exchange.serve_backup(anywhere, clock.now(), &mut reactor).unwrap();
    told.send((exchange.gateway_address(), backup)).unwrap();
    loop {
        let now = clock.now();
        match command.load(Ordering::Acquire) {
            STOP => return,
            FAIL_PRIMARY => exchange.gateway_mut().fail_primary(now, &mut ()),
            RESTORE => exchange.gateway_mut().restore(),
            _ => {}
        }
        command.compare_exchange(FAIL_PRIMARY, 0, Ordering::AcqRel, Ordering::Relaxed).ok();
        command.compare_exchange(RESTORE, 0, Ordering::AcqRel, Ordering::Relaxed).ok();
        exchange.step(now, hairpin_reactor::Ready::NOTHING, &mut reactor, &mut ()).unwrap();
        let look = now.monotonic + Duration::from_millis(5);
        let deadline = exchange.poll_timeout().map_or(look, |due| due.min(look));
        let ready = reactor.wait(now.monotonic, Some(deadline)).unwrap();
        exchange.step(clock.now(), ready, &mut reactor, &mut ()).unwrap();
    }
}

/// A clock for a thread of sessions.
pub(crate) fn clock() -> impl FnMut() -> Now {
    let clock = Clock::of_kernel();
    move || clock.now()
}

pub(crate) fn order(id: u64) -> NewOrder {
    NewOrder::limit(INSTRUMENT, SideReq::BUY, Decimal(1_000_000_000), 1, ClOrdId::from(id))
}

/// Waits until it is so, for twenty seconds at most.
#[track_caller]
pub(crate) fn until(what: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..20_000 {
        if done() {
            return;
        }
        thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("{what} does not come");
}
