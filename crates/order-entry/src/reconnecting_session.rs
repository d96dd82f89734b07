//! A session that reconnects automatically.

use std::fmt;
use std::io;
use std::net::SocketAddrV4;

use hairpin_ilink3::{Connector, ConnectorSettings, Listener, Role, Sender, State, Step, Zone};
use hairpin_mapped::{Journal, JournalError, Storage};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Duration, Instant, Now};

use crate::standby::Standby;
use crate::{Connect, Counters, NamedZone, Session, TcpConnect};

/// The longest time without a poll of the connector: its schedule follows the UTC clock, which can
/// be set.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// A session that a [`Connector`] keeps connected. It connects while the schedule is open,
/// reconnects after a failure, tries the next host, and resumes the session if possible.
///
/// If the settings have backup hosts, a second connection to one of them runs next to an
/// established primary. When the exchange promotes the backup, the session continues over that
/// connection with its sequence numbers and its journal: [`Listener::on_failover`], then
/// [`Listener::on_takeover`]. The former primary is then tried as the backup.
///
/// Drive it like a [`Session`].
pub struct ReconnectingSession<D: Connect = TcpConnect, J: Storage = Journal, Z: Zone = NamedZone> {
    session: Session<D, J>,
    /// The connection to the backup gateway, if backup hosts are configured.
    standby: Option<Box<Standby<D::Stream>>>,
    connector: Connector<SocketAddrV4, Z>,
    /// The states last reported to the connector: primary's and backup's.
    reported_states: [State; 2],
    given_up: [bool; 2],
    /// The connector has no step before this time, unless a state changes.
    quiet_until: Instant,
}

impl<D: Connect, J: Storage, Z: Zone + fmt::Debug> fmt::Debug for ReconnectingSession<D, J, Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut it = f.debug_struct("ReconnectingSession");
        it.field("progress", &self.session.progress()).field("connector", &self.connector);
        it.finish_non_exhaustive()
    }
}

impl<D: Connect, J: Storage, Z: Zone> ReconnectingSession<D, J, Z> {
    /// Wraps a disconnected session. Call [`start`](Self::start) to connect.
    ///
    /// The schedule uses the clock of `zone`. The gateway in the session's own settings is used
    /// only if it is among the hosts.
    ///
    /// # Panics
    /// If the settings have no primary host.
    #[must_use]
    pub fn new(session: Session<D, J>, settings: ConnectorSettings<SocketAddrV4>, zone: Z) -> Self {
        let backup = settings.backup.first();
        let standby =
            backup.map(|&gateway| Box::new(Standby::new(session.standby_protocol(), gateway)));
        let connector = Connector::new(settings, zone);
        let reported_states = [State::Disconnected; 2];
        let (given_up, quiet_until) = ([false; 2], Instant::ZERO);
        Self { session, standby, connector, reported_states, given_up, quiet_until }
    }

    /// Starts to connect. Also restarts after [giving up](Self::has_given_up).
    pub fn start(&mut self, now: Now) {
        (self.given_up, self.quiet_until) = ([false; 2], Instant::ZERO);
        self.connector.start(now);
    }

    /// Terminates both connections gracefully and stops connecting. Continue to process until the
    /// session [is idle](Self::is_idle).
    pub fn stop(&mut self) {
        self.quiet_until = Instant::ZERO;
        self.connector.stop();
    }

    /// Returns `true` if neither connection exists or is being established.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let is_disconnected = self.session.state() == State::Disconnected;
        is_disconnected && self.backup_state() == State::Disconnected
    }

    /// Returns `true` if the attempts are used up. [`start`](Self::start) begins new attempts.
    #[must_use]
    pub fn has_given_up(&self) -> bool {
        self.given_up[0]
    }

    /// Returns `true` if the attempts to connect to a backup are used up. The session continues
    /// without one.
    #[must_use]
    pub fn has_given_up_backup(&self) -> bool {
        self.given_up[1]
    }

    /// Processes one wakeup: see [`Session::process`].
    ///
    /// # Errors
    /// The errors of [`Session::process`].
    #[inline]
    pub fn process<L: Listener>(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        self.session.process(now, ready, reactor, listener)?;
        self.process_backup(now, ready, reactor, listener)?;
        while !self.is_quiet(now) && self.run_connector(now) {
            self.session.process(now, Ready::EMPTY, reactor, listener)?;
            self.process_backup(now, Ready::EMPTY, reactor, listener)?;
        }
        Ok(())
    }

    /// Returns the next time at which [`process`](Self::process) must run without input.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        let standby = self.standby.as_ref().and_then(|standby| standby.next_deadline());
        let deadlines = [self.session.next_deadline(), standby, self.connector.poll_timeout()];
        deadlines.into_iter().flatten().min()
    }

    /// Returns the sending half: see [`Session::sender`]. While only the backup is connected, the
    /// returned sender refuses with [`SendError::Backup`](crate::SendError).
    #[inline]
    pub fn sender(&mut self, now: Now) -> Sender<'_> {
        let is_alone = self.session.state() == State::Disconnected
            && self.backup_state() == State::Established;
        match &mut self.standby {
            Some(standby) if is_alone => standby.sender(now),
            _ => self.session.sender(now),
        }
    }

    /// Returns the session that trades. A failover keeps its journal and counters.
    #[must_use]
    pub fn session(&self) -> &Session<D, J> {
        &self.session
    }

    /// Returns the state of the session on the backup; disconnected if there is no backup.
    #[must_use]
    pub fn backup_state(&self) -> State {
        self.standby.as_ref().map_or(State::Disconnected, |standby| standby.protocol.state())
    }

    /// Returns the counters of the backup connection, if backup hosts are configured.
    #[must_use]
    pub fn backup_counters(&self) -> Option<&Counters> {
        self.standby.as_ref().map(|standby| &standby.counters)
    }

    /// Returns the error of the last failed backup connection.
    #[must_use]
    pub fn last_backup_failure(&self) -> Option<&io::Error> {
        self.standby.as_ref()?.last_failure.as_ref()
    }

    /// Sets the lowest sequence number that may still be requested: see [`Session::needed_from`].
    pub fn needed_from(&mut self, seq_num: u32) {
        self.session.needed_from(seq_num);
    }

    /// Closes the journal of a session that has ended: see [`Session::close_journal`].
    ///
    /// # Errors
    /// Same as [`Session::close_journal`].
    pub fn close_journal(&mut self) -> Result<(), JournalError> {
        self.session.close_journal()
    }

    /// Closes both connections without a Terminate, leaves the reactor and stops connecting.
    ///
    /// # Errors
    /// The reactor's errors.
    pub fn abandon<L: Listener>(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        self.connector.stop();
        let backup = match &mut self.standby {
            Some(standby) => standby.disconnect(now, reactor, listener),
            None => Ok(()),
        };
        self.session.abandon(now, reactor, listener).and(backup)
    }

    /// Processes a wakeup of the backup, and fails over if the backup was promoted.
    #[inline]
    fn process_backup<L: Listener>(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        let Some(standby) = &mut self.standby else { return Ok(()) };
        standby.process(now, ready, reactor, &mut self.session, listener)?;
        if standby.is_takeover_pending() { self.fail_over(now, reactor, listener) } else { Ok(()) }
    }

    #[cold]
    fn fail_over<L: Listener>(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        let Some(standby) = &mut self.standby else { return Ok(()) };
        let outcome = self.session.fail_over(now, standby, reactor, listener);
        self.connector.handle_established(Role::Backup);
        self.connector.handle_failover(now);
        self.reported_states = [State::Established, State::Disconnected];
        (self.given_up, self.quiet_until) = ([false; 2], Instant::ZERO);
        outcome.and_then(|()| self.session.process(now, Ready::EMPTY, reactor, listener))
    }

    /// Returns `true` if the connector has nothing to do.
    #[inline]
    fn is_quiet(&self, now: Now) -> bool {
        let states = [self.session.state(), self.backup_state()];
        now.monotonic < self.quiet_until && states == self.reported_states
    }

    /// Reports state changes to the connector and executes its next step. Returns `true` if the
    /// sessions need another pass.
    fn run_connector(&mut self, now: Now) -> bool {
        self.report_state(now, Role::Backup, self.backup_state());
        self.report_state(now, Role::Primary, self.session.state());
        match self.connector.poll_step(now, &self.session.progress()) {
            None => {
                let latest = now.monotonic + POLL_INTERVAL;
                let timeout = self.connector.poll_timeout();
                self.quiet_until = timeout.map_or(latest, |timeout| timeout.min(latest));
                return false;
            }
            Some(Step::Connect { role: Role::Primary, host, binding }) => {
                self.session.set_gateway(host);
                // The session is disconnected, and its progress permits the binding.
                let connects = self.session.connect(now, binding).is_ok();
                self.reported_states[0] = State::Connecting;
                return connects;
            }
            Some(Step::Connect { role: Role::Backup, host, .. }) => {
                let Some(standby) = &mut self.standby else { return false };
                let connects = standby.connect(now, host, &self.session).is_ok();
                self.reported_states[1] = State::Connecting;
                return connects;
            }
            Some(Step::Terminate(Role::Primary)) => self.session.terminate(now),
            Some(Step::Terminate(Role::Backup)) => {
                if let Some(standby) = &mut self.standby {
                    standby.protocol.terminate(now);
                }
            }
            Some(Step::GiveUp(role)) => self.given_up[usize::from(role == Role::Backup)] = true,
        }
        true
    }

    /// Reports a state change to the connector.
    fn report_state(&mut self, now: Now, role: Role, state: State) {
        let reported = &mut self.reported_states[usize::from(role == Role::Backup)];
        let before = core::mem::replace(reported, state);
        if before == state {
            return;
        }
        let was_established = match (role, &self.standby) {
            (Role::Backup, Some(standby)) => standby.protocol.was_established(),
            _ => self.session.was_established(),
        };
        if was_established && state != State::Established && before != State::Established {
            // The connection was established and lost within one pass.
            self.connector.handle_established(role);
        }
        match (state, role, &self.standby) {
            (State::Established, ..) => self.connector.handle_established(role),
            (State::Disconnected, Role::Backup, Some(standby)) => {
                self.connector.handle_ended(now, role, standby.protocol.disconnect_reason());
            }
            (State::Disconnected, ..) => {
                self.connector.handle_ended(now, role, self.session.ending());
            }
            _ => {}
        }
    }
}
