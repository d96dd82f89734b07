//! A process of the trader, from start to exit.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use hairpin_exchange::Designation;
use hairpin_mapped::MemoryStorage;
use hairpin_order_entry::{
    Binding, ConnectorSettings, FixedZone, Logon, Operator, OrderTracking, Progress,
    ReconnectingSession, Schedule, SecretKey, Sender, Session, SessionPolicy, Settings, State,
    WeekTime,
};
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_time::{Duration, Instant, Now};

use crate::client_stream::{Dialer, Line};
use crate::crash_point::Crashed;
use crate::disk::Disk;
use crate::plan::{Plan, SessionOwner};
use crate::trader::Trader;
use crate::venue::{KEY, address};

/// The pause between two logon attempts.
const PAUSE: Duration = Duration::from_millis(3);
/// The keep-alive interval in seconds.
const KEEP_ALIVE: u64 = 5;

type TraderSession = Session<Dialer, Disk>;

/// The owner of the session, which keeps it connected.
enum OwnedSession {
    Reconnecting(Box<ReconnectingSession<Dialer, Disk, FixedZone>>),
    Plain { session: Box<TraderSession>, connects_at: Instant },
}

/// The session and the trader that listens to it.
pub(crate) struct Process {
    owned_session: OwnedSession,
    pub(crate) trader: Trader,
    reactor: Reactor,
}

impl Process {
    pub(crate) fn new(plan: &Plan, disk: Disk, dial: Dialer, trader: Trader, now: Now) -> Self {
        let logon = Logon {
            access_key_id: "ACCESS".into(),
            secret_key: SecretKey::from_base64url(KEY).expect("the key is valid base64"),
            session: "ABC".into(),
            firm: "FIRM".into(),
            trading_system_name: "Hairpin".into(),
            trading_system_version: "1".into(),
            trading_system_vendor: "Hairpin".into(),
            keep_alive_interval: Duration::from_secs(KEEP_ALIVE),
            operator: Operator::automated("TRADER", "US,IL").unwrap(),
        };
        let gateway = address(Designation::Primary);
        let conduct = SessionPolicy {
            held_bytes: plan.held_bytes,
            retransmission_timeout: Duration::from_millis(400),
            // A stalled connection lasts longer. The session then closes the connection and loses
            // no message.
            retransmission_attempts: 5,
            not_applied: plan.preferred(),
            ..SessionPolicy::default()
        };
        let settings =
            Settings { conduct, waiting_max: plan.waiting_max, ..Settings::new(gateway, logon) };
        let session = Session::with_connect(settings, disk, dial).expect("the settings are valid");
        let owned_session = match plan.session_owner {
            SessionOwner::Reconnecting => {
                OwnedSession::Reconnecting(Box::new(reconnecting(session, plan.has_backup, now)))
            }
            SessionOwner::Trader => {
                OwnedSession::Plain { session: Box::new(session), connects_at: now.monotonic }
            }
        };
        let reactor = Reactor::new(Wait::Spin).expect("a busy-polling reactor needs no resources");
        Self { owned_session, trader, reactor }
    }

    pub(crate) fn session(&self) -> &TraderSession {
        match &self.owned_session {
            OwnedSession::Reconnecting(reconnecting) => reconnecting.session(),
            OwnedSession::Plain { session, .. } => session,
        }
    }

    pub(crate) fn state(&self) -> State {
        self.session().state()
    }

    /// Returns the state of the session on the backup.
    pub(crate) fn backup_state(&self) -> State {
        match &self.owned_session {
            OwnedSession::Reconnecting(reconnecting) => reconnecting.backup_state(),
            OwnedSession::Plain { .. } => State::Disconnected,
        }
    }

    /// Returns `true` if there is no connection to any gateway.
    pub(crate) fn is_disconnected(&self) -> bool {
        [self.state(), self.backup_state()] == [State::Disconnected; 2]
    }

    pub(crate) fn progress(&self) -> Progress {
        self.session().progress()
    }

    pub(crate) fn journal(&self) -> &MemoryStorage {
        &self.session().journal().memory
    }

    /// Calls `act` with the session's sender, outside of the session's callbacks.
    ///
    /// # Errors
    /// The process crashed.
    pub(crate) fn with_sender<T>(
        &mut self,
        now: Now,
        act: impl FnOnce(&mut Trader, &mut Sender<'_>) -> T,
    ) -> Result<T, Crashed> {
        let Self { owned_session, trader, .. } = self;
        unless_crashed(|| {
            let mut sender = match owned_session {
                OwnedSession::Reconnecting(reconnecting) => reconnecting.sender(now),
                OwnedSession::Plain { session, .. } => session.sender(now),
            };
            act(trader, &mut sender)
        })
    }

    /// Drives the session until no work is due.
    ///
    /// # Errors
    /// The process crashed.
    pub(crate) fn drive(&mut self, now: Now, week_began: u64) -> Result<(), Crashed> {
        self.connect(now, week_began);
        let Self { owned_session, trader, reactor } = self;
        let ready = reactor.wait(now.monotonic, None).expect("busy-polling cannot fail");
        unless_crashed(|| process(owned_session, now, ready, reactor, trader))
    }

    /// Connects, unless the reconnecting session does so. Resumes the previous session in most
    /// cases.
    fn connect(&mut self, now: Now, week_began: u64) {
        let OwnedSession::Plain { session, connects_at } = &mut self.owned_session else { return };
        if session.state() != State::Disconnected || *connects_at > now.monotonic {
            return;
        }
        let trader = &mut self.trader;
        let progress = session.progress();
        let prefers_new = trader.random.below(4) == 0;
        let binding = match () {
            () if progress.uuid != 0 && progress.request_timestamp < week_began => Binding::NewWeek,
            () if progress.uuid == 0 || trader.is_unresumable || prefers_new => Binding::New,
            () => Binding::Resume,
        };
        trader.census.count(match binding {
            Binding::Resume => "attempts to resume",
            Binding::New => "attempts to negotiate again",
            _ => "first logon attempts of a week",
        });
        trader.is_unresumable = false;
        session.connect(now, binding).expect("the session is disconnected");
        *connects_at = now.monotonic + PAUSE;
    }

    /// Returns the time of the next event of the session or its connections.
    pub(crate) fn next_at(&self, now: Instant, lines: &[Line]) -> Option<Instant> {
        let own = match &self.owned_session {
            OwnedSession::Reconnecting(reconnecting) => reconnecting.next_deadline(),
            OwnedSession::Plain { session, connects_at } => {
                let is_idle = session.state() == State::Disconnected;
                let attempt = is_idle.then_some(*connects_at);
                session.next_deadline().into_iter().chain(attempt).min()
            }
        };
        own.into_iter().chain(lines.iter().filter_map(|line| line.next_at(now))).min()
    }
}

fn process(
    owned_session: &mut OwnedSession,
    now: Now,
    ready: Ready,
    reactor: &mut Reactor,
    trader: &mut Trader,
) {
    let listener = &mut OrderTracking::new(trader);
    match owned_session {
        OwnedSession::Reconnecting(reconnecting) => {
            reconnecting.process(now, ready, reactor, listener)
        }
        OwnedSession::Plain { session, connects_at } => {
            let was_there = session.state() != State::Disconnected;
            let done = session.process(now, ready, reactor, listener);
            if was_there && session.state() == State::Disconnected {
                *connects_at = now.monotonic + PAUSE;
            }
            done
        }
    }
    .expect("busy-polling cannot fail");
}

/// Returns a session that stays connected from Sunday to Friday, unless a new week begins.
fn reconnecting(
    session: TraderSession,
    has_backup: bool,
    now: Now,
) -> ReconnectingSession<Dialer, Disk, FixedZone> {
    let at = |day, hour| WeekTime::new(day, hour, 0).expect("the time is valid");
    let (opens, closes) = (at(0, 17), at(5, 16));
    let schedule =
        Schedule::weekly(opens, &[(opens, closes)]).expect("the connection has a window");
    let settings = ConnectorSettings {
        primary: vec![address(Designation::Primary)],
        backup: has_backup.then(|| address(Designation::Backup)).into_iter().collect(),
        attempts: None,
        interval: PAUSE,
        schedule: Some(schedule),
    };
    let mut reconnecting = ReconnectingSession::new(session, settings, FixedZone(0));
    reconnecting.start(now);
    reconnecting
}

fn unless_crashed<T>(act: impl FnOnce() -> T) -> Result<T, Crashed> {
    catch_unwind(AssertUnwindSafe(act)).map_err(|cause| match cause.downcast::<Crashed>() {
        Ok(crashed) => *crashed,
        Err(cause) => resume_unwind(cause),
    })
}
