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

use crate::disk::Disk;
use crate::fuse::Died;
use crate::plan::{Keeping, Plan};
use crate::trader::Trader;
use crate::venue::{KEY, address};
use crate::wire::{Dialler, Line};

/// The pause between two logon attempts.
const PAUSE: Duration = Duration::from_millis(3);
/// The keep-alive interval in seconds.
const KEEP_ALIVE: u64 = 5;

type Own = Session<Dialler, Disk>;

/// The owner of the session, which keeps it connected.
enum Keeper {
    Kept(Box<ReconnectingSession<Dialler, Disk, FixedZone>>),
    Own { session: Box<Own>, connects_at: Instant },
}

/// The session and the trader that listens to it.
pub(crate) struct Life {
    keeper: Keeper,
    pub(crate) trader: Trader,
    reactor: Reactor,
}

impl Life {
    pub(crate) fn new(plan: &Plan, disk: Disk, dial: Dialler, trader: Trader, now: Now) -> Self {
        let logon = Logon {
            access_key_id: "ACCESS".into(),
            secret_key: SecretKey::from_base64url(KEY).expect("the key is valid base64"),
            session: "ABC".into(),
            firm: "FIRM".into(),
            trading_system_name: "Hairpin".into(),
            trading_system_version: "1".into(),
            trading_system_vendor: "Hairpin".into(),
            keep_alive_interval: Duration::from_secs(KEEP_ALIVE),
            operator: Operator::automated("TRADER", "US,IL"),
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
        let keeper = match plan.keeping {
            Keeping::Kept => Keeper::Kept(Box::new(kept(session, plan.has_backup, now))),
            Keeping::Own => Keeper::Own { session: Box::new(session), connects_at: now.monotonic },
        };
        let reactor = Reactor::new(Wait::Spin).expect("a busy-polling reactor needs no resources");
        Self { keeper, trader, reactor }
    }

    pub(crate) fn session(&self) -> &Own {
        match &self.keeper {
            Keeper::Kept(kept) => kept.session(),
            Keeper::Own { session, .. } => session,
        }
    }

    pub(crate) fn state(&self) -> State {
        self.session().state()
    }

    /// Returns the state of the session on the backup.
    pub(crate) fn backup_state(&self) -> State {
        match &self.keeper {
            Keeper::Kept(kept) => kept.backup_state(),
            Keeper::Own { .. } => State::Disconnected,
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

    /// Calls `use_it` with the session's sender, outside of the session's callbacks.
    ///
    /// # Errors
    /// The process crashed.
    pub(crate) fn with_sender<T>(
        &mut self,
        now: Now,
        act: impl FnOnce(&mut Trader, &mut Sender<'_>) -> T,
    ) -> Result<T, Died> {
        let Self { keeper, trader, .. } = self;
        unless_dead(|| {
            let mut sender = match keeper {
                Keeper::Kept(kept) => kept.sender(now),
                Keeper::Own { session, .. } => session.sender(now),
            };
            act(trader, &mut sender)
        })
    }

    /// Lets the session do all work that is due.
    ///
    /// # Errors
    /// The process crashed.
    pub(crate) fn drive(&mut self, now: Now, week_began: u64) -> Result<(), Died> {
        self.connect(now, week_began);
        let Self { keeper, trader, reactor } = self;
        let ready = reactor.wait(now.monotonic, None).expect("busy-polling cannot fail");
        unless_dead(|| process(keeper, now, ready, reactor, trader))
    }

    /// Connects, unless the reconnecting session does so. Resumes the previous session in most
    /// cases.
    fn connect(&mut self, now: Now, week_began: u64) {
        let Keeper::Own { session, connects_at } = &mut self.keeper else { return };
        if session.state() != State::Disconnected || *connects_at > now.monotonic {
            return;
        }
        let trader = &mut self.trader;
        let progress = session.progress();
        let prefers_new = trader.random.below(4) == 0;
        let binding = match () {
            () if progress.uuid != 0 && progress.request_timestamp < week_began => Binding::NewWeek,
            () if progress.uuid == 0 || trader.is_spoilt || prefers_new => Binding::New,
            () => Binding::Resume,
        };
        trader.census.count(match binding {
            Binding::Resume => "attempts to resume",
            Binding::New => "attempts to negotiate again",
            _ => "first logon attempts of a week",
        });
        trader.is_spoilt = false;
        session.connect(now, binding).expect("the session is disconnected");
        *connects_at = now.monotonic + PAUSE;
    }

    /// Returns the time of the next event of the session or its connections.
    pub(crate) fn next_at(&self, now: Instant, lines: &[Line]) -> Option<Instant> {
        let own = match &self.keeper {
            Keeper::Kept(kept) => kept.next_deadline(),
            Keeper::Own { session, connects_at } => {
                let is_idle = session.state() == State::Disconnected;
                let attempt = is_idle.then_some(*connects_at);
                session.next_deadline().into_iter().chain(attempt).min()
            }
        };
        own.into_iter().chain(lines.iter().filter_map(|line| line.next_at(now))).min()
    }
}

fn process(
    keeper: &mut Keeper,
    now: Now,
    ready: Ready,
    reactor: &mut Reactor,
    trader: &mut Trader,
) {
    let listener = &mut OrderTracking::new(trader);
    match keeper {
        Keeper::Kept(kept) => kept.process(now, ready, reactor, listener),
        Keeper::Own { session, connects_at } => {
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
fn kept(session: Own, has_backup: bool, now: Now) -> ReconnectingSession<Dialler, Disk, FixedZone> {
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
    let mut kept = ReconnectingSession::new(session, settings, FixedZone(0));
    kept.start(now);
    kept
}

fn unless_dead<T>(act: impl FnOnce() -> T) -> Result<T, Died> {
    catch_unwind(AssertUnwindSafe(act)).map_err(|cause| match cause.downcast::<Died>() {
        Ok(died) => *died,
        Err(cause) => resume_unwind(cause),
    })
}
