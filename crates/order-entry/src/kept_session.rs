//! A session that is kept connected.

use std::fmt;
use std::io;
use std::net::SocketAddrV4;

use hairpin_ilink3::{Connector, ConnectorSettings, Listener, Role, Sender, State, Step, Zone};
use hairpin_mapped::{Journal, Storage};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Instant, Now};

use crate::{Dial, NamedZone, Session, TcpDial};

/// A session that a [`Connector`] keeps connected: it connects when the schedule is open, again
/// after a failure, to the next host, and resumes as long as there is something to resume.
///
/// Drive it like a [`Session`]. It connects the primary only: backup hosts are not tried yet.
pub struct KeptSession<D: Dial = TcpDial, J: Storage = Journal, Z: Zone = NamedZone> {
    session: Session<D, J>,
    connector: Connector<SocketAddrV4, Z>,
    /// The state that the connector knows of.
    told: State,
    has_given_up: bool,
}

impl<D: Dial, J: Storage, Z: Zone + fmt::Debug> fmt::Debug for KeptSession<D, J, Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut it = f.debug_struct("KeptSession");
        it.field("progress", &self.session.progress()).field("connector", &self.connector);
        it.finish_non_exhaustive()
    }
}

impl<D: Dial, J: Storage, Z: Zone> KeptSession<D, J, Z> {
    /// Keeps `session`, which is disconnected; nothing is connected before [`start`](Self::start).
    /// The schedule is by the clock of `zone`. The gateway of the session's own settings counts
    /// only as far as it is among the hosts.
    ///
    /// # Panics
    /// If there is no primary host.
    #[must_use]
    pub fn new(session: Session<D, J>, settings: ConnectorSettings<SocketAddrV4>, zone: Z) -> Self {
        let settings = ConnectorSettings { backup: Vec::new(), ..settings };
        let connector = Connector::new(settings, zone);
        Self { session, connector, told: State::Disconnected, has_given_up: false }
    }

    /// Connects from now on, also after [giving up](Self::has_given_up).
    pub fn start(&mut self, now: Now) {
        self.has_given_up = false;
        self.connector.start(now);
    }

    /// Terminates gracefully and connects no more. Drive it on until the session is disconnected.
    pub fn stop(&mut self) {
        self.connector.stop();
    }

    /// Whether too many attempts have failed: no more are made until [`start`](Self::start).
    #[must_use]
    pub fn has_given_up(&self) -> bool {
        self.has_given_up
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
        while self.attend(now) {
            self.session.process(now, Ready::NOTHING, reactor, listener)?;
        }
        Ok(())
    }

    /// When [`process`](Self::process) is due though nothing has arrived.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        let deadlines = [self.session.next_deadline(), self.connector.poll_timeout()];
        deadlines.into_iter().flatten().min()
    }

    /// The sending half: see [`Session::sender`].
    #[inline]
    pub fn sender(&mut self, now: Now) -> Sender<'_> {
        self.session.sender(now)
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &Session<D, J> {
        &self.session
    }

    /// Tells the connector what has become of the session and does its next step; whether the
    /// session has something to do now.
    fn attend(&mut self, now: Now) -> bool {
        let state = self.session.state();
        if state != self.told {
            match state {
                State::Established => self.connector.handle_established(Role::Primary),
                State::Disconnected => {
                    let ending = self.session.ending();
                    self.connector.handle_ended(now, Role::Primary, ending);
                }
                _ => {}
            }
            self.told = state;
        }
        match self.connector.poll_step(now, &self.session.progress()) {
            None => false,
            Some(Step::Connect { host, binding, .. }) => {
                self.session.set_gateway(host);
                // It is disconnected, and the binding is one that its progress allows.
                let connects = self.session.connect(now, binding).is_ok();
                self.told = State::Connecting;
                connects
            }
            Some(Step::Terminate(_)) => {
                self.session.terminate(now);
                true
            }
            Some(Step::GiveUp(_)) => {
                self.has_given_up = true;
                true
            }
        }
    }
}
