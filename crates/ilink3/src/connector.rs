//! When to connect, where to, and as what.

use alloc::vec::Vec;

use hairpin_time::{Duration, Instant, Now, Utc};

use crate::schedule::{Schedule, Zone};
use crate::{Binding, Progress, RejectCode, SEQ_NUM_MAX, TerminateCode};

/// Bad logons after which CME would close the ports, were they followed by one more within
/// [`PORT_CLOSURE_WINDOW`]: the fifth is the one.
pub const BAD_LOGONS_MAX: usize = 4;
/// Of these, for the backup.
const BACKUP_BAD_LOGONS_MAX: usize = 2;
/// How long CME remembers a bad logon.
pub const PORT_CLOSURE_WINDOW: Duration = Duration::from_secs(60);

/// Which of a market segment's two gateways a connection is made to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The one that trades.
    Primary,
    /// The one that stands by.
    Backup,
}

/// How a session is kept connected. `A` is an address, whatever the owner of connections has.
#[derive(Debug, Clone)]
pub struct ConnectorSettings<A> {
    /// Hosts of the primary, in the order of preference; at least one. After a failure the next
    /// is tried, after the last the first; or, if none of them could be reached, those of the
    /// backup, which may be the primary by now.
    pub primary: Vec<A>,
    /// Hosts of the backup; none if no backup connection is wanted.
    pub backup: Vec<A>,
    /// Attempts in a row that may fail before no more are made; `None` for no limit.
    pub attempts: Option<u32>,
    /// How long after a failure the next attempt is made.
    pub interval: Duration,
    /// When to be connected; always, without one.
    pub schedule: Option<Schedule>,
}

/// What the owner of the sessions is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<A> {
    /// Connect the session of this role to `host`, bound so.
    Connect {
        /// Which session.
        role: Role,
        /// Where to.
        host: A,
        /// How: see [`Binding`].
        binding: Binding,
    },
    /// Terminate the session of this role: the schedule has closed, or the connector was stopped.
    Terminate(Role),
    /// Too many attempts have failed: no more are made until [`Connector::start`].
    GiveUp(Role),
}

/// Why a connection is not there, or not any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It broke, could not be made, or nothing was heard.
    Lost,
    /// The logon was refused.
    Rejected(RejectCode),
    /// The exchange has terminated.
    Terminated(TerminateCode),
    /// It was terminated as wanted.
    Finished,
}

/// One of the two connections.
#[derive(Debug)]
struct Line<A> {
    hosts: Vec<A>,
    /// Which host is tried next.
    next: usize,
    phase: Phase,
    /// Attempts in a row that have failed.
    failed: u32,
    /// Resuming is of no use: the exchange sees the session's numbers or UUID in another way.
    begins_anew: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// To connect no earlier than then.
    Waiting(Instant),
    /// A [`Step::Connect`] was given and nothing is known of it.
    Connecting,
    Established,
    /// A [`Step::Terminate`] was given.
    Leaving,
    GivenUp,
}

impl<A> Line<A> {
    fn new(hosts: Vec<A>) -> Self {
        let phase = Phase::Waiting(Instant::ZERO);
        Self { hosts, next: 0, phase, failed: 0, begins_anew: false }
    }
}

/// Keeps a session connected, and its backup: decides, and lets the owner of the connections do.
///
/// Tell it what becomes of them ([`handle_established`](Self::handle_established),
/// [`handle_ended`](Self::handle_ended), [`handle_failover`](Self::handle_failover)), do each
/// [step](Self::poll_step), and ask again at [`poll_timeout`](Self::poll_timeout).
///
/// It makes no fifth logon within a minute of four that were refused or ended by a Terminate: CME
/// would close the ports. For the backup it makes no third, so that the primary has two left.
#[derive(Debug)]
pub struct Connector<A, Z> {
    settings: ConnectorSettings<A>,
    zone: Z,
    /// Primary and backup.
    lines: [Line<A>; 2],
    /// Hosts of the primary in a row that could not be reached.
    unreached: usize,
    /// How the primary's last attempt was bound.
    attempted: Binding,
    /// The last attempt ended because of our number, as on a backup, where every number is 0.
    is_number_doubted: bool,
    /// That was to begin a session, and was refused: the next one is to begin it.
    refused_beginning: Option<Binding>,
    is_started: bool,
    /// When logons were refused, or ended by the exchange, the oldest first.
    refused: [Option<Instant>; BAD_LOGONS_MAX],
    /// Which step of giving up is still to be told.
    gave_up: Option<Role>,
    /// When the schedule opens or closes, as last looked at.
    change: Option<Instant>,
    /// It was open then.
    is_open: bool,
}

impl<A: Copy, Z: Zone> Connector<A, Z> {
    /// A connector that does nothing yet. `zone` is the place whose clock the schedule means.
    ///
    /// # Panics
    /// If there is no primary host.
    #[must_use]
    pub fn new(settings: ConnectorSettings<A>, zone: Z) -> Self {
        assert!(!settings.primary.is_empty(), "a session needs a primary host");
        let lines = [Line::new(settings.primary.clone()), Line::new(settings.backup.clone())];
        Self {
            settings,
            zone,
            lines,
            unreached: 0,
            attempted: Binding::New,
            is_number_doubted: false,
            refused_beginning: None,
            is_started: false,
            refused: [None; BAD_LOGONS_MAX],
            gave_up: None,
            change: None,
            is_open: true,
        }
    }

    /// Connects from now on, when the schedule is open; also after giving up.
    pub fn start(&mut self, now: Now) {
        self.is_started = true;
        for line in &mut self.lines {
            line.failed = 0;
            if line.phase == Phase::GivenUp {
                line.phase = Phase::Waiting(now.monotonic);
            }
        }
    }

    /// Terminates and connects no more.
    pub fn stop(&mut self) {
        self.is_started = false;
    }

    /// What is to be done now, if anything; `progress` is the session's. Ask until there is
    /// nothing.
    pub fn poll_step(&mut self, now: Now, progress: &Progress) -> Option<Step<A>> {
        if let Some(role) = self.gave_up.take() {
            return Some(Step::GiveUp(role));
        }
        if !self.is_wanted(now) {
            return self.leave();
        }
        [Role::Primary, Role::Backup].into_iter().find_map(|role| self.connect(now, role, progress))
    }

    /// When [`poll_step`](Self::poll_step) may have something though nothing has happened.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        if !self.is_started {
            return None;
        }
        let waiting = [Role::Primary, Role::Backup].into_iter().filter_map(|role| {
            match self.line(role).phase {
                Phase::Waiting(until) if self.is_possible(role) => {
                    Some(until.max(self.quiet_until(role)))
                }
                _ => None,
            }
        });
        let attempt = waiting.min();
        // Closed, nothing but the opening counts.
        match (self.change, attempt.filter(|_| self.is_open)) {
            (Some(change), Some(attempt)) => Some(change.min(attempt)),
            (change, attempt) => change.or(attempt),
        }
    }

    /// The session of this role is established.
    pub fn handle_established(&mut self, role: Role) {
        if role == Role::Primary {
            (self.unreached, self.refused_beginning) = (0, None);
            self.is_number_doubted = false;
        }
        let line = self.line_mut(role);
        (line.phase, line.failed, line.begins_anew) = (Phase::Established, 0, false);
    }

    /// The session of this role has no connection any more, or could get none.
    pub fn handle_ended(&mut self, now: Now, role: Role, ending: Ending) {
        let is_logon = self.line(role).phase == Phase::Connecting;
        if let (Ending::Terminated(_), true) = (ending, is_logon) {
            self.note_refusal(now.monotonic);
        }
        if let Ending::Rejected(_) = ending {
            self.note_refusal(now.monotonic);
            let begins = matches!(self.attempted, Binding::New | Binding::NewWeek);
            if begins && role == Role::Primary {
                self.refused_beginning = Some(self.attempted);
            }
        }
        let is_backups = role == Role::Primary && self.is_backups(ending);
        // One that stands by on the other host says itself when it is the primary.
        if is_backups && self.is_backup_idle() {
            self.swap_hosts();
        }
        let begins_anew = begins_anew(ending) && !is_backups;
        let (interval, attempts) = (self.settings.interval, self.settings.attempts);
        let line = self.line_mut(role);
        let was_established = matches!(line.phase, Phase::Established | Phase::Leaving);
        line.begins_anew |= begins_anew;
        if !line.hosts.is_empty() && !was_established {
            line.next = (line.next + 1) % line.hosts.len();
        }
        line.failed += u32::from(!was_established);
        if attempts.is_some_and(|attempts| line.failed >= attempts.max(1)) {
            line.phase = Phase::GivenUp;
            self.gave_up = Some(role);
        } else {
            line.phase = Phase::Waiting(now.monotonic + interval);
        }
        if role == Role::Primary {
            self.note_unreached(!was_established && ending == Ending::Lost);
        }
    }

    /// Whether what was thought to be the primary ended so because it is the backup, as far as that
    /// can be known: it ends an Establish with a number, while the session is still established on
    /// the primary, as one whose number is wrong. If the other one does too, the number is wrong.
    fn is_backups(&mut self, ending: Ending) -> bool {
        let has_backup = !self.line(Role::Backup).hosts.is_empty();
        let was_established = self.line(Role::Primary).phase == Phase::Established;
        match ending {
            Ending::Rejected(code) => {
                matches!(code, RejectCode::DESIGNATED_BACKUP | RejectCode::NEGOTIATE_NOT_ALLOWED)
            }
            Ending::Terminated(TerminateCode::INVALID_NEXT_SEQ_NO) => {
                let may_be = has_backup && !was_established;
                let stands_by = !self.is_backup_idle();
                may_be && (stands_by || !core::mem::replace(&mut self.is_number_doubted, true))
            }
            _ => false,
        }
    }

    /// Whether there is no connection to the backup, and none is being made.
    fn is_backup_idle(&self) -> bool {
        matches!(self.line(Role::Backup).phase, Phase::Waiting(_) | Phase::GivenUp)
    }

    /// None of the primary's hosts can be reached: the backup may have become the primary while
    /// nobody was connected. If not, it says so, and the hosts are swapped again.
    fn note_unreached(&mut self, was_unreached: bool) {
        self.unreached = if was_unreached { self.unreached + 1 } else { 0 };
        let is_idle = self.is_backup_idle();
        let [primary, backup] = &mut self.lines;
        if self.unreached >= primary.hosts.len() && is_idle && !backup.hosts.is_empty() {
            core::mem::swap(&mut primary.hosts, &mut backup.hosts);
            (primary.next, backup.next, self.unreached) = (0, 0, 0);
        }
    }

    /// The backup has become the primary; what was the primary's connection is gone, and its
    /// hosts are tried as the backup's from now on.
    pub fn handle_failover(&mut self, now: Now) {
        self.lines.swap(0, 1);
        self.unreached = 0;
        let interval = self.settings.interval;
        let old = self.line_mut(Role::Backup);
        old.phase = Phase::Waiting(now.monotonic + interval);
        old.failed = 0;
    }

    fn line(&self, role: Role) -> &Line<A> {
        &self.lines[usize::from(role == Role::Backup)]
    }

    fn line_mut(&mut self, role: Role) -> &mut Line<A> {
        &mut self.lines[usize::from(role == Role::Backup)]
    }

    /// Whether the session is to be connected; looks when that changes.
    fn is_wanted(&mut self, now: Now) -> bool {
        let Some(schedule) = &self.settings.schedule else { return self.is_started };
        let change = schedule.next_change(now.utc, &self.zone);
        self.change = change.map(|after| now.monotonic + after);
        self.is_open = schedule.is_open(now.utc, &self.zone);
        self.is_started && self.is_open
    }

    /// The backup is of use only beside an established primary.
    fn is_possible(&self, role: Role) -> bool {
        let primary = self.line(Role::Primary).phase;
        let may_connect = role == Role::Primary || primary == Phase::Established;
        !self.line(role).hosts.is_empty() && may_connect
    }

    /// The backup leaves first: without its primary it would be terminated.
    fn leave(&mut self) -> Option<Step<A>> {
        [Role::Backup, Role::Primary].into_iter().find_map(|role| {
            let line = self.line_mut(role);
            let is_there = matches!(line.phase, Phase::Established | Phase::Connecting);
            is_there.then(|| {
                line.phase = Phase::Leaving;
                Step::Terminate(role)
            })
        })
    }

    fn connect(&mut self, now: Now, role: Role, progress: &Progress) -> Option<Step<A>> {
        let is_due = now.monotonic >= self.quiet_until(role)
            && matches!(self.line(role).phase, Phase::Waiting(until) if now.monotonic >= until);
        if !is_due || !self.is_possible(role) {
            return None;
        }
        let binding = match role {
            Role::Primary => self.binding(now.utc, progress),
            Role::Backup => Binding::Backup,
        };
        if role == Role::Primary {
            self.attempted = binding;
        }
        let line = self.line_mut(role);
        line.phase = Phase::Connecting;
        let host = line.hosts[line.next];
        Some(Step::Connect { role, host, binding })
    }

    /// A session of an earlier week is not resumed, nor one whose numbers are used up.
    fn binding(&self, utc: Utc, progress: &Progress) -> Binding {
        let last = Utc::from_nanos(progress.request_timestamp);
        let week = |schedule: &Schedule, utc| schedule.week(utc, &self.zone);
        let is_new_week = |it: &Schedule| week(it, last) < week(it, utc);
        if self.settings.schedule.as_ref().is_some_and(is_new_week) {
            Binding::NewWeek
        } else if let Some(binding) = self.refused_beginning {
            binding
        } else if progress.uuid == 0
            || self.line(Role::Primary).begins_anew
            || progress.next_outgoing > SEQ_NUM_MAX
        {
            Binding::New
        } else {
            Binding::Resume
        }
    }

    fn note_refusal(&mut self, now: Instant) {
        self.refused.rotate_left(1);
        self.refused[BAD_LOGONS_MAX - 1] = Some(now);
    }

    /// Until when another logon could be the fifth bad one of a minute, or the backup's third.
    fn quiet_until(&self, role: Role) -> Instant {
        let count = match role {
            Role::Primary => BAD_LOGONS_MAX,
            Role::Backup => BACKUP_BAD_LOGONS_MAX,
        };
        let first = self.refused[BAD_LOGONS_MAX - count];
        first.map_or(Instant::ZERO, |first| first + PORT_CLOSURE_WINDOW)
    }

    /// What was thought to be the primary is the backup: the other host is tried.
    fn swap_hosts(&mut self) {
        let [primary, backup] = &mut self.lines;
        if !backup.hosts.is_empty() {
            core::mem::swap(&mut primary.hosts, &mut backup.hosts);
            (primary.next, backup.next) = (primary.hosts.len() - 1, 0);
        }
    }
}

/// Whether a session that ended so cannot be resumed.
fn begins_anew(ending: Ending) -> bool {
    match ending {
        Ending::Rejected(code) => code == RejectCode::INVALID_UUID,
        Ending::Terminated(code) => matches!(
            code,
            TerminateCode::INVALID_NEXT_SEQ_NO
                | TerminateCode::INVALID_MSG_SEQ_NO
                | TerminateCode::INVALID_UUID
                | TerminateCode::UNNEGOTIATED
        ),
        Ending::Lost | Ending::Finished => false,
    }
}

#[cfg(test)]
mod tests;
