//! The connector: decides when, where and in which role to connect.

use alloc::vec::Vec;

use hairpin_time::{Duration, Instant, Now, Utc};

use crate::schedule::{Schedule, Zone};
use crate::{Binding, Progress, RejectCode, SEQ_NUM_MAX, TerminateCode};

/// The bad logons allowed within [`PORT_CLOSURE_WINDOW`]. CME closes the ports at the fifth.
pub const BAD_LOGONS_MAX: usize = 4;
/// The share of [`BAD_LOGONS_MAX`] that the backup may use.
const BACKUP_BAD_LOGONS_MAX: usize = 2;
/// The time for which CME counts a bad logon.
pub const PORT_CLOSURE_WINDOW: Duration = Duration::from_secs(60);

/// The role of a market segment's gateway: primary or backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The gateway that accepts business messages.
    Primary,
    /// The standby gateway.
    Backup,
}

/// The configuration of a [`Connector`]. `A` is the owner's address type.
#[derive(Debug, Clone)]
pub struct ConnectorSettings<A> {
    /// The hosts of the primary gateway in order of preference; at least one. After a failure the
    /// connector tries the next host, and after the last one the first. If no host can be reached,
    /// it tries the backup's hosts, because the backup may have become the primary.
    pub primary: Vec<A>,
    /// The hosts of the backup gateway; empty to run without a backup connection.
    pub backup: Vec<A>,
    /// The number of consecutive failed attempts before the connector gives up; `None` for no
    /// limit.
    pub attempts: Option<u32>,
    /// The delay between a failure and the next attempt.
    pub interval: Duration,
    /// The connection schedule; `None` to stay connected at all times.
    pub schedule: Option<Schedule>,
}

/// An instruction to the owner of the connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<A> {
    /// Connect the session of this role to `host`.
    Connect {
        /// The session's role.
        role: Role,
        /// The host's address.
        host: A,
        /// The session binding: see [`Binding`].
        binding: Binding,
    },
    /// Terminate the session of this role: the schedule has closed, or the connector was stopped.
    Terminate(Role),
    /// Too many attempts failed. The connector makes no more until [`Connector::start`].
    GiveUp(Role),
}

/// The reason for the end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisconnectReason {
    /// The connection broke, could not be opened, or a response timed out.
    Lost,
    /// The exchange rejected the logon.
    Rejected(RejectCode),
    /// A Terminate with this code, from either side, ended the connection.
    Terminated(TerminateCode),
    /// The session was terminated on request.
    Finished,
}

/// The connection to one of the two gateways.
#[derive(Debug)]
struct GatewayConnection<A> {
    hosts: Vec<A>,
    /// The index of the host for the next attempt.
    next: usize,
    phase: Phase,
    /// The number of consecutive failed attempts.
    failed: u32,
    /// The session cannot be resumed: the exchange has a different UUID or sequence number.
    needs_negotiate: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The next attempt starts at this time or later.
    Waiting(Instant),
    /// A [`Step::Connect`] was issued and its result is pending.
    Connecting,
    Established,
    /// A [`Step::Terminate`] was issued.
    Terminating,
    StalledConnections,
}

impl<A> GatewayConnection<A> {
    fn new(hosts: Vec<A>) -> Self {
        let phase = Phase::Waiting(Instant::ZERO);
        Self { hosts, next: 0, phase, failed: 0, needs_negotiate: false }
    }
}

/// Keeps a session and its backup connected. The connector makes the decisions; the owner of the
/// connections does the I/O.
///
/// Report each event with [`handle_established`](Self::handle_established),
/// [`handle_ended`](Self::handle_ended) or [`handle_failover`](Self::handle_failover). Execute each
/// [step](Self::poll_step), and poll again at [`poll_timeout`](Self::poll_timeout).
///
/// After four bad logons within a minute (rejected, or ended by a Terminate) the connector waits,
/// because CME closes the ports at the fifth. The backup may use only two of the four, so that two
/// remain for the primary.
#[derive(Debug)]
pub struct Connector<A, Z> {
    settings: ConnectorSettings<A>,
    zone: Z,
    /// The primary and backup connections, in this order.
    connections: [GatewayConnection<A>; 2],
    /// The number of consecutive hosts of the primary that could not be reached.
    unreachable_hosts: usize,
    /// The binding of the primary's last attempt.
    last_binding: Binding,
    /// The last attempt ended with an invalid sequence number. A backup gateway also reports this,
    /// because it expects NextSeqNo 0.
    seq_num_suspect: bool,
    /// The binding of a rejected `New` or `NewWeek` logon, to be used again by the next attempt.
    rejected_binding: Option<Binding>,
    started: bool,
    /// The times of the last bad logons, oldest first.
    bad_logons: [Option<Instant>; BAD_LOGONS_MAX],
    /// The role for which a [`Step::GiveUp`] is still to be returned.
    gave_up: Option<Role>,
    /// The time of the next schedule change, from the last poll.
    next_change: Option<Instant>,
    /// The schedule was open at the last poll.
    schedule_open: bool,
}

impl<A: Copy, Z: Zone> Connector<A, Z> {
    /// Creates a stopped connector. `zone` is the time zone of the schedule.
    ///
    /// # Panics
    /// Panics if there is no primary host.
    #[must_use]
    pub fn new(settings: ConnectorSettings<A>, zone: Z) -> Self {
        assert!(!settings.primary.is_empty(), "a session needs a primary host");
        let connections = [
            GatewayConnection::new(settings.primary.clone()),
            GatewayConnection::new(settings.backup.clone()),
        ];
        Self {
            settings,
            zone,
            connections,
            unreachable_hosts: 0,
            last_binding: Binding::New,
            seq_num_suspect: false,
            rejected_binding: None,
            started: false,
            bad_logons: [None; BAD_LOGONS_MAX],
            gave_up: None,
            next_change: None,
            schedule_open: true,
        }
    }

    /// Starts connecting whenever the schedule is open. Also resumes after [`Step::GiveUp`].
    pub fn start(&mut self, now: Now) {
        self.started = true;
        for connection in &mut self.connections {
            connection.failed = 0;
            if connection.phase == Phase::StalledConnections {
                connection.phase = Phase::Waiting(now.monotonic);
            }
        }
    }

    /// Terminates all sessions and stops connecting.
    pub fn stop(&mut self) {
        self.started = false;
    }

    /// Returns the next step. `progress` is the primary session's. Call this function until it
    /// returns `None`.
    pub fn poll_step(&mut self, now: Now, progress: &Progress) -> Option<Step<A>> {
        if let Some(role) = self.gave_up.take() {
            return Some(Step::GiveUp(role));
        }
        if !self.should_be_connected(now) {
            return self.next_terminate();
        }
        [Role::Primary, Role::Backup].into_iter().find_map(|role| self.connect(now, role, progress))
    }

    /// Returns the time at which [`poll_step`](Self::poll_step) may return a step without a further
    /// event.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        if !self.started {
            return None;
        }
        let waiting = [Role::Primary, Role::Backup].into_iter().filter_map(|role| {
            match self.connection(role).phase {
                Phase::Waiting(until) if self.may_connect_as(role) => {
                    Some(until.max(self.logon_allowed_at(role)))
                }
                _ => None,
            }
        });
        let attempt = waiting.min();
        // While the schedule is closed, only its opening matters.
        match (self.next_change, attempt.filter(|_| self.schedule_open)) {
            (Some(change), Some(attempt)) => Some(change.min(attempt)),
            (change, attempt) => change.or(attempt),
        }
    }

    /// Handles the establishment of this role's session.
    pub fn handle_established(&mut self, role: Role) {
        if role == Role::Primary {
            (self.unreachable_hosts, self.rejected_binding) = (0, None);
            self.seq_num_suspect = false;
        }
        let connection = self.connection_mut(role);
        (connection.phase, connection.failed, connection.needs_negotiate) =
            (Phase::Established, 0, false);
    }

    /// Handles the end of this role's connection, or a failed attempt to connect.
    pub fn handle_ended(&mut self, now: Now, role: Role, reason: DisconnectReason) {
        let is_logon = self.connection(role).phase == Phase::Connecting;
        if let (DisconnectReason::Terminated(_), true) = (reason, is_logon) {
            self.record_bad_logon(now.monotonic);
        }
        if let DisconnectReason::Rejected(_) = reason {
            self.record_bad_logon(now.monotonic);
            let begins = matches!(self.last_binding, Binding::New | Binding::NewWeek);
            if begins && role == Role::Primary {
                self.rejected_binding = Some(self.last_binding);
            }
        }
        let ended_as_backup = role == Role::Primary && self.ended_as_backup(reason);
        // A connected backup session learns of its promotion from the exchange.
        if ended_as_backup && self.is_backup_idle() {
            self.swap_hosts();
        }
        let needs_negotiate = requires_new_session(reason) && !ended_as_backup;
        let (interval, attempts) = (self.settings.interval, self.settings.attempts);
        let connection = self.connection_mut(role);
        let was_established = matches!(connection.phase, Phase::Established | Phase::Terminating);
        connection.needs_negotiate |= needs_negotiate;
        if !connection.hosts.is_empty() && !was_established {
            connection.next = (connection.next + 1) % connection.hosts.len();
        }
        connection.failed += u32::from(!was_established);
        if attempts.is_some_and(|attempts| connection.failed >= attempts.max(1)) {
            connection.phase = Phase::StalledConnections;
            self.gave_up = Some(role);
        } else {
            connection.phase = Phase::Waiting(now.monotonic + interval);
        }
        if role == Role::Primary {
            self.record_unreachable(!was_established && reason == DisconnectReason::Lost);
        }
    }

    /// Returns `true` if the host that ended this connection appears to be the backup gateway.
    ///
    /// A backup gateway rejects an Establish with a nonzero NextSeqNo as an invalid number while
    /// the session is still established on the primary. If the other host reports the same, the
    /// number itself is wrong.
    fn ended_as_backup(&mut self, reason: DisconnectReason) -> bool {
        let has_backup = !self.connection(Role::Backup).hosts.is_empty();
        let was_established = self.connection(Role::Primary).phase == Phase::Established;
        match reason {
            DisconnectReason::Rejected(code) => {
                matches!(code, RejectCode::DESIGNATED_BACKUP | RejectCode::NEGOTIATE_NOT_ALLOWED)
            }
            DisconnectReason::Terminated(TerminateCode::INVALID_NEXT_SEQ_NO) => {
                let may_be_backup = has_backup && !was_established;
                let backup_connected = !self.is_backup_idle();
                may_be_backup
                    && (backup_connected || !core::mem::replace(&mut self.seq_num_suspect, true))
            }
            _ => false,
        }
    }

    /// Returns `true` if the backup is neither connected nor connecting.
    fn is_backup_idle(&self) -> bool {
        matches!(self.connection(Role::Backup).phase, Phase::Waiting(_) | Phase::StalledConnections)
    }

    /// Counts unreachable hosts of the primary. When no host can be reached, swaps the primary's
    /// and the backup's hosts, because a failover may have happened while disconnected. If it did
    /// not, the gateway rejects the logon as a backup and the hosts are swapped back.
    fn record_unreachable(&mut self, unreachable: bool) {
        self.unreachable_hosts = if unreachable { self.unreachable_hosts + 1 } else { 0 };
        let is_idle = self.is_backup_idle();
        let [primary, backup] = &mut self.connections;
        if self.unreachable_hosts >= primary.hosts.len() && is_idle && !backup.hosts.is_empty() {
            core::mem::swap(&mut primary.hosts, &mut backup.hosts);
            (primary.next, backup.next, self.unreachable_hosts) = (0, 0, 0);
        }
    }

    /// Handles a failover: the backup has become the primary and the old primary's connection is
    /// closed. From now on the old primary's hosts are tried as the backup's.
    pub fn handle_failover(&mut self, now: Now) {
        self.connections.swap(0, 1);
        self.unreachable_hosts = 0;
        let interval = self.settings.interval;
        let old = self.connection_mut(Role::Backup);
        old.phase = Phase::Waiting(now.monotonic + interval);
        old.failed = 0;
    }

    fn connection(&self, role: Role) -> &GatewayConnection<A> {
        &self.connections[usize::from(role == Role::Backup)]
    }

    fn connection_mut(&mut self, role: Role) -> &mut GatewayConnection<A> {
        &mut self.connections[usize::from(role == Role::Backup)]
    }

    /// Returns `true` if the session must be connected now. Also updates the time of the next
    /// schedule change.
    fn should_be_connected(&mut self, now: Now) -> bool {
        let Some(schedule) = &self.settings.schedule else { return self.started };
        let change = schedule.next_change(now.utc, &self.zone);
        self.next_change = change.map(|after| now.monotonic + after);
        self.schedule_open = schedule.is_open(now.utc, &self.zone);
        self.started && self.schedule_open
    }

    /// Returns `true` if a connection in this role makes sense now: a backup requires an
    /// established primary.
    fn may_connect_as(&self, role: Role) -> bool {
        let primary = self.connection(Role::Primary).phase;
        let allowed = role == Role::Primary || primary == Phase::Established;
        !self.connection(role).hosts.is_empty() && allowed
    }

    /// Terminates the backup first: without its primary, the exchange would terminate the backup.
    fn next_terminate(&mut self) -> Option<Step<A>> {
        [Role::Backup, Role::Primary].into_iter().find_map(|role| {
            let connection = self.connection_mut(role);
            let is_there = matches!(connection.phase, Phase::Established | Phase::Connecting);
            is_there.then(|| {
                connection.phase = Phase::Terminating;
                Step::Terminate(role)
            })
        })
    }

    fn connect(&mut self, now: Now, role: Role, progress: &Progress) -> Option<Step<A>> {
        let instant = now.monotonic;
        let is_due = instant >= self.logon_allowed_at(role)
            && matches!(self.connection(role).phase, Phase::Waiting(until) if instant >= until);
        if !is_due || !self.may_connect_as(role) {
            return None;
        }
        let binding = match role {
            Role::Primary => self.binding(now.utc, progress),
            Role::Backup => Binding::Backup,
        };
        if role == Role::Primary {
            self.last_binding = binding;
        }
        let connection = self.connection_mut(role);
        connection.phase = Phase::Connecting;
        let host = connection.hosts[connection.next];
        Some(Step::Connect { role, host, binding })
    }

    /// Chooses the binding. A session of a previous week, or one without numbers left, is not
    /// resumed.
    fn binding(&self, utc: Utc, progress: &Progress) -> Binding {
        let last = Utc::from_nanos(progress.request_timestamp);
        let week = |schedule: &Schedule, utc| schedule.week(utc, &self.zone);
        let is_new_week = |it: &Schedule| week(it, last) < week(it, utc);
        if self.settings.schedule.as_ref().is_some_and(is_new_week) {
            Binding::NewWeek
        } else if let Some(binding) = self.rejected_binding {
            binding
        } else if progress.uuid == 0
            || self.connection(Role::Primary).needs_negotiate
            || progress.next_outgoing > SEQ_NUM_MAX
        {
            Binding::New
        } else {
            Binding::Resume
        }
    }

    fn record_bad_logon(&mut self, now: Instant) {
        self.bad_logons.rotate_left(1);
        self.bad_logons[BAD_LOGONS_MAX - 1] = Some(now);
    }

    /// Returns the time from which another logon cannot be the fifth bad one within a minute, or
    /// the backup's third.
    fn logon_allowed_at(&self, role: Role) -> Instant {
        let count = match role {
            Role::Primary => BAD_LOGONS_MAX,
            Role::Backup => BACKUP_BAD_LOGONS_MAX,
        };
        let first = self.bad_logons[BAD_LOGONS_MAX - count];
        first.map_or(Instant::ZERO, |first| first + PORT_CLOSURE_WINDOW)
    }

    /// Swaps the hosts of the primary and the backup.
    fn swap_hosts(&mut self) {
        let [primary, backup] = &mut self.connections;
        if !backup.hosts.is_empty() {
            core::mem::swap(&mut primary.hosts, &mut backup.hosts);
            (primary.next, backup.next) = (primary.hosts.len() - 1, 0);
        }
    }
}

/// Returns `true` if a session that ended for this reason cannot be resumed.
fn requires_new_session(reason: DisconnectReason) -> bool {
    match reason {
        DisconnectReason::Rejected(code) => code == RejectCode::INVALID_UUID,
        DisconnectReason::Terminated(code) => matches!(
            code,
            TerminateCode::INVALID_NEXT_SEQ_NO
                | TerminateCode::INVALID_MSG_SEQ_NO
                | TerminateCode::INVALID_UUID
                | TerminateCode::UNNEGOTIATED
        ),
        DisconnectReason::Lost | DisconnectReason::Finished => false,
    }
}

#[cfg(test)]
mod tests;
