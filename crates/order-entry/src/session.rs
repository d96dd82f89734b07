//! The session: protocol, link and reactor joined.

use std::io;
use std::net::SocketAddrV4;

use hairpin_endpoint::{Receive, Stream};
use hairpin_ilink3::{
    Action, Binding, ConnectError, Ending, FRAMING_HEADER_LENGTH, InboundCounters, Listener,
    OutboundCounters, Progress, Sender, SettingsError, State,
};
use hairpin_mapped::{Direction, Journal, Storage};
use hairpin_reactor::{Interest, Reactor, Ready, Token};
use hairpin_time::{Instant, Now};

use crate::link::Link;
use crate::standby::Standby;
use crate::{Connect, Counters, Settings, TcpConnect, WhenThrottled, record};

/// Chunks taken from the connection per call of [`Session::process`], so that a gateway that
/// never stops cannot starve the rest of the loop; what is left is readable again at once.
const CHUNKS_PER_PROCESS: usize = 16;
/// Bytes of a chunk the session has room for from the start: what TCP delivers at most.
const CHUNK_MAX: usize = 64 << 10;

/// An iLink 3 session on a connection of its own, with its journal.
///
/// Every order stands in the journal before its first byte is on the wire. See the crate's
/// documentation for how to drive it.
#[derive(Debug)]
pub struct Session<D: Connect = TcpConnect, J: Storage = Journal> {
    protocol: hairpin_ilink3::Session,
    link: Link<D, J>,
    /// A connection that is being made.
    connecting: Option<D::Stream>,
    /// The connection's place in the reactor, and what is waited for there.
    token: Option<(Token, Interest)>,
    /// A chunk, while its messages are delivered: the connection itself is needed to send.
    chunk: Vec<u8>,
    gateway: SocketAddrV4,
    last_failure: Option<io::Error>,
    /// The journal holds messages whose callback has not returned.
    is_to_redeliver: bool,
}

impl<J: Storage> Session<TcpConnect, J> {
    /// A session over the kernel's TCP. See [`Session::with_dial`].
    ///
    /// # Errors
    /// [`SettingsError`] with the first setting CME would refuse.
    pub fn new(settings: Settings, journal: J) -> Result<Self, SettingsError> {
        Self::with_dial(settings, journal, TcpConnect::default())
    }
}

impl<D: Connect, J: Storage> Session<D, J> {
    /// A disconnected session whose messages go to `journal` and leave by connections `dial`
    /// makes.
    ///
    /// A journal with records in it is read: UUID and RequestTimestamp go on rising from where
    /// the earlier process left them, our numbers from its last committed message and the
    /// exchange's from the last one it has [kept](Settings::keep_inbound). Messages whose callback
    /// had not returned when that process died are delivered again by the first
    /// [`process`](Self::process), before anything else; their [`Message`](crate::Message) says
    /// so.
    ///
    /// # Errors
    /// [`SettingsError`] with the first setting CME would refuse.
    pub fn with_dial(settings: Settings, journal: J, dial: D) -> Result<Self, SettingsError> {
        let progress = record::progress(&journal);
        let is_kept = journal.unmarked().next().is_some();
        let link = Link::new(journal, dial, &settings);
        let Settings { logon, conduct, gateway, throttle, .. } = settings;
        let mut protocol = hairpin_ilink3::Session::with_conduct(logon, progress, conduct)?;
        let refusing = throttle.filter(|it| it.beyond == WhenThrottled::Refuse);
        protocol.set_throttle(refusing.as_ref().map(|it| &it.rates));
        Ok(Self {
            protocol,
            link,
            is_to_redeliver: is_kept,
            connecting: None,
            token: None,
            chunk: Vec::with_capacity(CHUNK_MAX),
            gateway,
            last_failure: None,
        })
    }

    /// Does what a wake calls for: takes what has arrived and calls the listener, writes what
    /// waits, does what is due, connects and disconnects.
    ///
    /// Call it after every wait, and once after [`connect`](Self::connect).
    ///
    /// # Errors
    /// The reactor's. What happens to the connection is no error here: the listener is told, and
    /// [`last_failure`](Self::last_failure) says why.
    #[inline]
    pub fn process<L: Listener>(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        self.link.set_now(now);
        if self.is_to_redeliver {
            self.redeliver(now, listener);
        }
        if let Some((token, _)) = self.token {
            if ready.is_writable(token) {
                self.handle_writable(now, reactor, listener)?;
            }
            if ready.is_readable(token) {
                self.handle_readable(now, reactor, listener)?;
            }
        }
        if self.protocol.is_due(now) {
            self.protocol.handle_timeout(now, &mut self.link, listener);
        }
        self.settle(now, reactor, listener)
    }

    /// When [`process`](Self::process) is due though nothing has arrived. In the past if it has
    /// something to do already.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        let wanted = self.token.is_some_and(|(_, interest)| interest != self.interest());
        let due = self.is_to_redeliver
            || (self.protocol.has_pending() && !self.link.is_waiting())
            || wanted;
        if due {
            return Some(Instant::ZERO);
        }
        let wanted = [self.protocol.poll_timeout(), self.link.held_until()];
        wanted.into_iter().flatten().min()
    }

    /// The sending half, for sends outside of the session's own callbacks.
    #[inline]
    pub fn sender(&mut self, now: Now) -> Sender<'_> {
        self.link.set_now(now);
        self.protocol.sender(now, &mut self.link)
    }

    /// Asks for a connection and a logon; the next [`process`](Self::process) begins it.
    ///
    /// # Errors
    /// [`ConnectError`] if there is one already, or nothing to resume.
    pub fn connect(&mut self, now: Now, binding: Binding) -> Result<(), ConnectError> {
        self.protocol.connect(now, binding)
    }

    /// Where the next connection is made to.
    pub fn set_gateway(&mut self, gateway: SocketAddrV4) {
        self.gateway = gateway;
    }

    /// How the last connection ended.
    #[must_use]
    pub fn ending(&self) -> Ending {
        self.protocol.ending()
    }

    /// Whether the present connection, or the last one, came to be established.
    #[must_use]
    pub fn was_established(&self) -> bool {
        self.protocol.was_established()
    }

    /// Begins to terminate gracefully: what was sent leaves, then a Terminate. Drive the session
    /// on until it is [disconnected](State::Disconnected).
    pub fn terminate(&mut self, now: Now) {
        self.protocol.terminate(now);
    }

    /// The state of the session.
    #[must_use]
    pub fn state(&self) -> State {
        self.protocol.state()
    }

    /// The identity of the session and the numbers of its streams.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.protocol.progress()
    }

    /// Bytes committed that the connection has not taken yet.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.link.waiting()
    }

    /// The journal, or what stands for it.
    #[must_use]
    pub fn journal(&self) -> &J {
        &self.link.journal
    }

    /// Tells the journal the lowest number of this session's messages that may still be asked for:
    /// it drops none from there on, and may drop what is before.
    pub fn needed_from(&mut self, seq_num: u32) {
        let uuid = self.protocol.progress().uuid;
        self.link.journal.needed_from(uuid, seq_num);
    }

    /// What the connection counts.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.link.counters
    }

    /// What came in, and what was wrong with it.
    #[must_use]
    pub fn inbound_counters(&self) -> &InboundCounters {
        self.protocol.inbound_counters()
    }

    /// What went out, and what was refused.
    #[must_use]
    pub fn outbound_counters(&self) -> &OutboundCounters {
        self.protocol.outbound_counters()
    }

    /// Why the last connection that failed did so.
    #[must_use]
    pub fn last_failure(&self) -> Option<&io::Error> {
        self.last_failure.as_ref()
    }

    /// Ends the session at once, without a Terminate, and leaves the reactor: for a program that
    /// drops it before it is disconnected.
    ///
    /// # Errors
    /// The reactor's.
    pub fn abandon<L: Listener>(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        self.disconnect(now, reactor, listener)
    }

    /// Goes on over the connection that stood by: what stood here is given up, and its protocol
    /// stands by now. The journal stays.
    #[cold]
    pub(crate) fn fail_over<L: Listener>(
        &mut self,
        now: Now,
        standby: &mut Standby<D::Stream>,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        let failed = self.link.disconnect().or(self.connecting.take());
        let removed = match (self.token.take(), failed) {
            (Some((token, _)), Some(mut stream)) => reactor.remove(token, &mut stream),
            _ => Ok(()),
        };
        self.link.adopt(standby.stream.take(), standby.rest());
        (self.token, self.gateway) = (standby.token.take(), standby.gateway);
        let (active, failed) = (&mut standby.protocol, &mut self.protocol);
        active.take_over_from(now, failed, &mut self.link, listener);
        core::mem::swap(&mut self.protocol, &mut standby.protocol);
        removed
    }

    /// A protocol that stands by for this one.
    pub(crate) fn second(&self) -> hairpin_ilink3::Session {
        let (settings, conduct) = (self.protocol.settings().clone(), *self.protocol.conduct());
        let second = hairpin_ilink3::Session::with_conduct(settings, self.progress(), conduct);
        second.expect("the settings were checked when the first was made")
    }

    /// Begins to connect to a gateway for the one that stands by.
    pub(crate) fn dial(&mut self, gateway: SocketAddrV4) -> io::Result<D::Stream> {
        self.link.dial.dial(gateway)
    }

    /// Who sees what the one that stands by receives, and where a chunk of it has room.
    pub(crate) fn receiving(&mut self) -> (&mut D, &mut Vec<u8>) {
        (&mut self.link.dial, &mut self.chunk)
    }

    /// Shows a frame that is about to leave on the connection that stands by.
    pub(crate) fn see_backup_frame(&mut self, frame: &[u8]) {
        self.link.see_control(frame);
    }

    /// Journals a request of the one that stands by before it leaves: with its RequestTimestamp,
    /// where this one stands.
    #[cold]
    pub(crate) fn keep_backup_request(&mut self, frame: &[u8], request_timestamp: u64) {
        self.protocol.note_request_timestamp(request_timestamp);
        self.link.keep_request(frame, &self.protocol.progress());
    }

    /// Delivers what an earlier process was given and had not done with.
    #[cold]
    fn redeliver<L: Listener>(&mut self, now: Now, listener: &mut L) {
        self.is_to_redeliver = false;
        let mut behind = None;
        while let Some(record) = self.link.journal.next(behind) {
            behind = Some(record);
            let is_open =
                record.direction() == Direction::Inbound && !self.link.journal.is_marked(record);
            if !is_open {
                continue;
            }
            self.chunk.clear();
            let frame = self.link.journal.bytes(record);
            self.chunk.extend_from_slice(frame.get(FRAMING_HEADER_LENGTH..).unwrap_or_default());
            self.protocol.redeliver(now, &self.chunk, &mut self.link, listener);
            self.link.journal.mark(record);
        }
    }

    /// Room to send, or the outcome of a connection attempt.
    fn handle_writable<L: Listener>(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        let Some(stream) = &mut self.connecting else {
            self.link.flush();
            return Ok(());
        };
        match stream.finish_connect() {
            Ok(false) => Ok(()),
            Ok(true) => {
                self.handle_connected(now, listener);
                Ok(())
            }
            Err(error) => {
                self.failed(error);
                self.disconnect(now, reactor, listener)
            }
        }
    }

    fn handle_connected<L: Listener>(&mut self, now: Now, listener: &mut L) {
        if let Some(stream) = self.connecting.take() {
            self.link.connected(stream);
        }
        self.protocol.handle_connected(now, &mut self.link, listener);
    }

    #[inline]
    fn handle_readable<L: Listener>(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        for _ in 0..CHUNKS_PER_PROCESS {
            let Link { stream: Some(stream), dial, .. } = &mut self.link else { return Ok(()) };
            let chunk = &mut self.chunk;
            chunk.clear();
            let received = stream.receive(1, |meta, bytes| {
                dial.on_received(meta, bytes);
                chunk.extend_from_slice(bytes);
            });
            if !self.chunk.is_empty() {
                self.link.counters.chunks += 1;
                self.protocol.handle_bytes(now, &self.chunk, &mut self.link, listener);
            }
            match received {
                Ok(received) if received.closed => {
                    return self.disconnect(now, reactor, listener);
                }
                Ok(received) if received.drained => return Ok(()),
                Ok(_) => {}
                Err(error) => {
                    self.failed(error);
                    return self.disconnect(now, reactor, listener);
                }
            }
        }
        Ok(())
    }

    /// Does all that the protocol wants, until it wants no more.
    #[inline]
    fn settle<L: Listener>(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        if self.link.is_idle() && !self.protocol.has_pending() {
            // Nothing waits: mostly it is known already that only reading is of interest.
            return match self.token {
                Some((_, Interest::READABLE)) | None => Ok(()),
                Some(_) => self.update_interest(reactor),
            };
        }
        self.settle_all(now, reactor, listener)
    }

    #[cold]
    fn settle_all<L: Listener>(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        loop {
            self.link.transmit(&mut self.protocol, now);
            if let Some(error) = self.link.broken.take() {
                self.failed(error);
                self.disconnect(now, reactor, listener)?;
            }
            match self.protocol.poll_action() {
                Some(Action::Connect) => self.begin_to_connect(now, reactor, listener)?,
                Some(Action::Close) => self.disconnect(now, reactor, listener)?,
                None => return self.update_interest(reactor),
            }
        }
    }

    fn begin_to_connect<L: Listener>(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        self.link.counters.connects += 1;
        match self.link.dial.dial(self.gateway) {
            Ok(mut stream) => {
                let connected = stream.is_connected();
                let token = reactor.add(&mut stream, Interest::WRITABLE)?;
                self.token = Some((token, Interest::WRITABLE));
                self.connecting = Some(stream);
                if connected {
                    self.handle_connected(now, listener);
                }
                Ok(())
            }
            Err(error) => {
                self.failed(error);
                self.disconnect(now, reactor, listener)
            }
        }
    }

    /// Gives the connection up, whatever state it is in, and tells the protocol.
    fn disconnect<L: Listener>(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        let stream = self.link.disconnect().or(self.connecting.take());
        let removed = match (self.token.take(), stream) {
            (Some((token, _)), Some(mut stream)) => reactor.remove(token, &mut stream),
            _ => Ok(()),
        };
        self.protocol.handle_disconnected(now, &mut self.link, listener);
        removed
    }

    /// What there is to wait for at the connection.
    #[inline]
    fn interest(&self) -> Interest {
        if self.connecting.is_some() {
            Interest::WRITABLE
        } else if self.link.is_waiting() && self.link.held_until().is_none() {
            Interest::BOTH
        } else {
            Interest::READABLE
        }
    }

    #[cold]
    fn update_interest(&mut self, reactor: &mut Reactor) -> io::Result<()> {
        let wanted = self.interest();
        match (&mut self.token, self.link.stream.as_ref().or(self.connecting.as_ref())) {
            (Some((token, interest)), Some(stream)) if *interest != wanted => {
                *interest = wanted;
                reactor.set_interest(*token, stream, wanted)
            }
            _ => Ok(()),
        }
    }

    fn failed(&mut self, error: io::Error) {
        self.link.counters.failures += 1;
        self.last_failure = Some(error);
    }
}
