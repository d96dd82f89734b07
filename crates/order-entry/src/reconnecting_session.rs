//! A session that is kept connected.

use std::fmt;
use std::io;
use std::net::SocketAddrV4;

use hairpin_ilink3::{Connector, ConnectorSettings, Listener, Role, Sender, State, Step, Zone};
use hairpin_mapped::{Journal, Storage};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Instant, Now};

use crate::standby::Standby;
use crate::{Connect, Counters, NamedZone, Session, TcpConnect};

/// A session that a [`Connector`] keeps connected: it connects when the schedule is open, again
/// after a failure, to the next host, and resumes as long as there is something to resume.
///
/// Where the settings have hosts for the backup, it has a second connection to one of them beside
/// an established primary. When the exchange makes that one the primary the session goes on over
/// it, with its numbers and its journal: [`Listener::on_failover`], then [`Listener::on_active`].
/// The other one is tried as the backup from then on.
///
/// Drive it like a [`Session`].
pub struct ReconnectingSession<D: Connect = TcpConnect, J: Storage = Journal, Z: Zone = NamedZone> {
    session: Session<D, J>,
    /// What stands by on the backup, if there is one.
    standby: Option<Box<Standby<D::Stream>>>,
    connector: Connector<SocketAddrV4, Z>,
    /// The states that the connector knows of: primary's and backup's.
    told: [State; 2],
    has_given_up: [bool; 2],
}

impl<D: Connect, J: Storage, Z: Zone + fmt::Debug> fmt::Debug for ReconnectingSession<D, J, Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut it = f.debug_struct("ReconnectingSession");
        it.field("progress", &self.session.progress()).field("connector", &self.connector);
        it.finish_non_exhaustive()
    }
}

impl<D: Connect, J: Storage, Z: Zone> ReconnectingSession<D, J, Z> {
    /// Keeps `session`, which is disconnected; nothing is connected before [`start`](Self::start).
    /// The schedule is by the clock of `zone`. The gateway of the session's own settings counts
    /// only as far as it is among the hosts.
    ///
    /// # Panics
    /// If there is no primary host.
    #[must_use]
    pub fn new(session: Session<D, J>, settings: ConnectorSettings<SocketAddrV4>, zone: Z) -> Self {
        let backup = settings.backup.first();
        let standby = backup.map(|&gateway| Box::new(Standby::new(session.second(), gateway)));
        let connector = Connector::new(settings, zone);
        let told = [State::Disconnected; 2];
        Self { session, standby, connector, told, has_given_up: [false; 2] }
    }

    /// Connects from now on, also after [giving up](Self::has_given_up).
    pub fn start(&mut self, now: Now) {
        self.has_given_up = [false; 2];
        self.connector.start(now);
    }

    /// Terminates gracefully, on the backup too, and connects no more. Drive it on until it
    /// [is idle](Self::is_idle).
    pub fn stop(&mut self) {
        self.connector.stop();
    }

    /// Whether neither connection is there or being made.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let is_disconnected = self.session.state() == State::Disconnected;
        is_disconnected && self.backup_state() == State::Disconnected
    }

    /// Whether too many attempts have failed: no more are made until [`start`](Self::start).
    #[must_use]
    pub fn has_given_up(&self) -> bool {
        self.has_given_up[0]
    }

    /// The same of the backup: the session goes on without one.
    #[must_use]
    pub fn has_given_up_backup(&self) -> bool {
        self.has_given_up[1]
    }

    /// Does what a wake calls for: see [`Session::process`].
    ///
    /// # Errors
    /// As [`Session::process`].
    #[inline]
    pub fn process<L: Listener>(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        self.session.process(now, ready, reactor, listener)?;
        self.stand_by(now, ready, reactor, listener)?;
        while self.attend(now) {
            self.session.process(now, Ready::NOTHING, reactor, listener)?;
            self.stand_by(now, Ready::NOTHING, reactor, listener)?;
        }
        Ok(())
    }

    /// When [`process`](Self::process) is due though nothing has arrived.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        let standby = self.standby.as_ref().and_then(|standby| standby.next_deadline());
        let deadlines = [self.session.next_deadline(), standby, self.connector.poll_timeout()];
        deadlines.into_iter().flatten().min()
    }

    /// The sending half: see [`Session::sender`]. While there is no connection but the one to the
    /// backup it is that one's: a send is refused with [`SendError::Backup`](crate::SendError).
    #[inline]
    pub fn sender(&mut self, now: Now) -> Sender<'_> {
        let is_alone = self.session.state() == State::Disconnected
            && self.backup_state() == State::Established;
        match &mut self.standby {
            Some(standby) if is_alone => standby.sender(now),
            _ => self.session.sender(now),
        }
    }

    /// The session that trades. Its journal and what it counts stay when it goes on over another
    /// connection.
    #[must_use]
    pub fn session(&self) -> &Session<D, J> {
        &self.session
    }

    /// Where the session on the backup stands; disconnected too if there is none.
    #[must_use]
    pub fn backup_state(&self) -> State {
        self.standby.as_ref().map_or(State::Disconnected, |standby| standby.protocol.state())
    }

    /// What the connection to the backup counts, if there is to be one.
    #[must_use]
    pub fn backup_counters(&self) -> Option<&Counters> {
        self.standby.as_ref().map(|standby| &standby.counters)
    }

    /// Why the last connection to the backup that failed did so.
    #[must_use]
    pub fn last_backup_failure(&self) -> Option<&io::Error> {
        self.standby.as_ref()?.last_failure.as_ref()
    }

    /// Tells the journal what may still be asked for: see [`Session::needed_from`].
    pub fn needed_from(&mut self, seq_num: u32) {
        self.session.needed_from(seq_num);
    }

    /// Ends both connections at once, without a Terminate, and leaves the reactor; connects no
    /// more.
    ///
    /// # Errors
    /// The reactor's.
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

    /// Has the backup do what a wake calls for, and the session go on over it when it has become
    /// the primary.
    #[inline]
    fn stand_by<L: Listener>(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        let Some(standby) = &mut self.standby else { return Ok(()) };
        standby.process(now, ready, reactor, &mut self.session, listener)?;
        if standby.awaits_take_over() { self.fail_over(now, reactor, listener) } else { Ok(()) }
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
        self.told = [State::Established, State::Disconnected];
        self.has_given_up = [false; 2];
        outcome.and_then(|()| self.session.process(now, Ready::NOTHING, reactor, listener))
    }

    /// Tells the connector what has become of the sessions and does its next step; whether there is
    /// something to do now.
    fn attend(&mut self, now: Now) -> bool {
        self.tell(now, Role::Backup, self.backup_state());
        self.tell(now, Role::Primary, self.session.state());
        match self.connector.poll_step(now, &self.session.progress()) {
            None => return false,
            Some(Step::Connect { role: Role::Primary, host, binding }) => {
                self.session.set_gateway(host);
                // It is disconnected, and the binding is one that its progress allows.
                let connects = self.session.connect(now, binding).is_ok();
                self.told[0] = State::Connecting;
                return connects;
            }
            Some(Step::Connect { role: Role::Backup, host, .. }) => {
                let Some(standby) = &mut self.standby else { return false };
                let connects = standby.connect(now, host, &self.session).is_ok();
                self.told[1] = State::Connecting;
                return connects;
            }
            Some(Step::Terminate(Role::Primary)) => self.session.terminate(now),
            Some(Step::Terminate(Role::Backup)) => {
                if let Some(standby) = &mut self.standby {
                    standby.protocol.terminate(now);
                }
            }
            Some(Step::GiveUp(role)) => self.has_given_up[usize::from(role == Role::Backup)] = true,
        }
        true
    }

    /// Tells the connector of a state it does not know yet.
    fn tell(&mut self, now: Now, role: Role, state: State) {
        let told = &mut self.told[usize::from(role == Role::Backup)];
        let before = core::mem::replace(told, state);
        if before == state {
            return;
        }
        let was_established = match (role, &self.standby) {
            (Role::Backup, Some(standby)) => standby.protocol.was_established(),
            _ => self.session.was_established(),
        };
        if was_established && state != State::Established && before != State::Established {
            // It came and went within one turn.
            self.connector.handle_established(role);
        }
        match (state, role, &self.standby) {
            (State::Established, ..) => self.connector.handle_established(role),
            (State::Disconnected, Role::Backup, Some(standby)) => {
                self.connector.handle_ended(now, role, standby.protocol.ending());
            }
            (State::Disconnected, ..) => {
                self.connector.handle_ended(now, role, self.session.ending());
            }
            _ => {}
        }
    }
}
