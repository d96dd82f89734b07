//! A session: protocol, journaled connection and reactor combined.

use std::io;
use std::net::SocketAddrV4;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hairpin_endpoint::{Receive, Stream};
use hairpin_ilink3::{
    Action, Binding, ConnectError, DisconnectReason, FRAMING_HEADER_LENGTH, InboundCounters,
    Listener, OutboundCounters, Progress, Sender, SettingsError, State, Warning,
};
use hairpin_mapped::{Direction, Journal, JournalError, Storage};
use hairpin_reactor::{Interest, Reactor, Ready, Token};
use hairpin_time::{Instant, Now};

use crate::journaled_connection::JournaledConnection;
use crate::standby::Standby;
use crate::{Connect, Counters, Settings, TcpConnect, WhenThrottled, journal_record};

/// The chunks read per call of [`Session::process`]. The limit keeps a busy gateway from starving
/// the rest of the loop; unread data is readable again at once.
const CHUNKS_PER_PROCESS: usize = 16;
/// The initial capacity for a chunk, in bytes: the most that TCP delivers at once.
const CHUNK_MAX: usize = 64 << 10;

/// An iLink 3 session on a connection, with its journal.
///
/// Every order is journaled before its first byte is sent. The crate's documentation describes how
/// to drive the session.
#[derive(Debug)]
pub struct Session<D: Connect = TcpConnect, J: Storage = Journal> {
    protocol: hairpin_ilink3::Session,
    link: JournaledConnection<D, J>,
    /// A connection in progress.
    connecting: Option<D::Stream>,
    /// The connection's token in the reactor, with its registered interest.
    token: Option<(Token, Interest)>,
    /// The current chunk. It is copied because sending from a callback needs the connection.
    chunk: Vec<u8>,
    gateway: SocketAddrV4,
    last_failure: Option<io::Error>,
    /// `true` if the journal holds messages whose callback has not returned.
    redelivery_pending: bool,
    /// Set while a redelivery is pending, and by the journal when it fails. One flag, since it is
    /// loaded in every iteration.
    attention: Arc<AtomicBool>,
}

impl<J: Storage> Session<TcpConnect, J> {
    /// Creates a session over the kernel's TCP. See [`Session::with_connect`].
    ///
    /// # Errors
    /// [`SettingsError`] for the first setting that CME would reject.
    pub fn new(settings: Settings, journal: J) -> Result<Self, SettingsError> {
        Self::with_connect(settings, journal, TcpConnect::default())
    }
}

impl<D: Connect, J: Storage> Session<D, J> {
    /// Creates a disconnected session on `journal` that opens its connections with `connect`.
    ///
    /// Records in the journal are recovered. UUID and RequestTimestamp continue to increase from
    /// the earlier process. Outbound numbers continue after the last committed message, and inbound
    /// numbers after the last [journaled](Settings::keep_inbound) message. The first
    /// [`process`](Self::process) redelivers messages whose callback had not returned, before
    /// anything else; their [`Message::redelivered`](crate::Message) is `true`.
    ///
    /// # Errors
    /// [`SettingsError`] for the first setting that CME would reject.
    pub fn with_connect(settings: Settings, journal: J, connect: D) -> Result<Self, SettingsError> {
        let progress = journal_record::progress(&journal);
        let redelivery_pending = journal.unmarked().next().is_some();
        let attention = journal.attention();
        attention.fetch_or(redelivery_pending, Ordering::Relaxed);
        let link = JournaledConnection::new(journal, connect, &settings);
        let Settings { logon, conduct, gateway, throttle, .. } = settings;
        let mut protocol = hairpin_ilink3::Session::with_policy(logon, progress, conduct)?;
        let refusing = throttle.filter(|it| it.beyond == WhenThrottled::Refuse);
        protocol.set_throttle(refusing.as_ref().map(|it| &it.rates));
        Ok(Self {
            protocol,
            link,
            redelivery_pending,
            attention,
            connecting: None,
            token: None,
            chunk: Vec::with_capacity(CHUNK_MAX),
            gateway,
            last_failure: None,
        })
    }

    /// Processes one wakeup: reads and delivers messages, writes queued bytes, runs timers,
    /// connects and disconnects.
    ///
    /// Call after every wait, and once after [`connect`](Self::connect).
    ///
    /// # Errors
    /// The reactor's errors. A connection failure is not an error: the listener receives it, and
    /// [`last_failure`](Self::last_failure) returns its cause.
    #[inline]
    pub fn process<L: Listener>(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        self.link.set_now(now);
        if self.attention.load(Ordering::Relaxed) {
            self.handle_attention(now, listener);
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
        self.update_state(now, reactor, listener)
    }

    /// Returns the next time at which [`process`](Self::process) must run without input. A time in
    /// the past means immediately.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        let interest_changed = self.token.is_some_and(|(_, interest)| interest != self.interest());
        let is_due = self.attention.load(Ordering::Relaxed)
            || (self.protocol.has_pending() && !self.link.is_waiting())
            || interest_changed;
        if is_due {
            return Some(Instant::ZERO);
        }
        let deadlines = [self.protocol.poll_timeout(), self.link.held_until()];
        deadlines.into_iter().flatten().min()
    }

    /// Returns the sending half, to send outside of the session's callbacks.
    #[inline]
    pub fn sender(&mut self, now: Now) -> Sender<'_> {
        self.link.set_now(now);
        self.protocol.sender(now, &mut self.link)
    }

    /// Requests a connection and a logon. The next [`process`](Self::process) starts it.
    ///
    /// # Errors
    /// [`ConnectError`] if a connection exists already, or no session can be resumed.
    pub fn connect(&mut self, now: Now, binding: Binding) -> Result<(), ConnectError> {
        self.protocol.connect(now, binding)
    }

    /// Sets the gateway for the next connection.
    pub fn set_gateway(&mut self, gateway: SocketAddrV4) {
        self.gateway = gateway;
    }

    /// Returns how the last connection ended.
    #[must_use]
    pub fn ending(&self) -> DisconnectReason {
        self.protocol.disconnect_reason()
    }

    /// Returns `true` if the current connection, or the last one, was established.
    #[must_use]
    pub fn was_established(&self) -> bool {
        self.protocol.was_established()
    }

    /// Terminates gracefully: sends queued messages, then Terminate. Continue to process until the
    /// session is [disconnected](State::Disconnected).
    pub fn terminate(&mut self, now: Now) {
        self.protocol.terminate(now);
    }

    /// Returns the session's state.
    #[must_use]
    pub fn state(&self) -> State {
        self.protocol.state()
    }

    /// Returns the session's identity and sequence numbers.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.protocol.progress()
    }

    /// Returns the number of committed bytes that wait for the connection.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.link.waiting()
    }

    /// Returns the journal.
    #[must_use]
    pub fn journal(&self) -> &J {
        &self.link.journal
    }

    /// Sets the lowest sequence number of this session that may still be requested. The journal
    /// keeps messages from there on, and may drop earlier ones.
    pub fn needed_from(&mut self, seq_num: u32) {
        let uuid = self.protocol.progress().uuid;
        self.link.journal.needed_from(uuid, seq_num);
    }

    /// Returns the I/O counters.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.link.counters
    }

    /// Returns the counters of received messages and their faults.
    #[must_use]
    pub fn inbound_counters(&self) -> &InboundCounters {
        self.protocol.inbound_counters()
    }

    /// Returns the counters of sent and refused messages.
    #[must_use]
    pub fn outbound_counters(&self) -> &OutboundCounters {
        self.protocol.outbound_counters()
    }

    /// Returns the error of the last failed connection.
    #[must_use]
    pub fn last_failure(&self) -> Option<&io::Error> {
        self.last_failure.as_ref()
    }

    /// Closes the journal of a session that has ended: everything is synced to disk, unless the
    /// sync policy is never. Nothing can be sent afterwards. Dropping the session does the same and
    /// ignores errors.
    ///
    /// # Errors
    /// [`JournalError::Io`] if the journal could not be written to disk, now or earlier.
    pub fn close_journal(&mut self) -> Result<(), JournalError> {
        self.link.journal.finish()
    }

    /// Closes the connection without a Terminate and leaves the reactor. For a program that drops
    /// the session before it is disconnected.
    ///
    /// # Errors
    /// The reactor's errors.
    pub fn abandon<L: Listener>(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        self.disconnect(now, reactor, listener)
    }

    /// Takes over the backup's connection and its protocol. The failed connection is dropped, and
    /// its protocol becomes the standby's. The journal stays.
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
        self.link.take_over(standby.stream.take(), standby.take_unsent());
        (self.token, self.gateway) = (standby.token.take(), standby.gateway);
        let (active, failed) = (&mut standby.protocol, &mut self.protocol);
        active.take_over_from(now, failed, &mut self.link, listener);
        core::mem::swap(&mut self.protocol, &mut standby.protocol);
        removed
    }

    /// Creates a protocol for the standby, with the same settings.
    pub(crate) fn standby_protocol(&self) -> hairpin_ilink3::Session {
        let (settings, conduct) = (self.protocol.settings().clone(), *self.protocol.policy());
        let second = hairpin_ilink3::Session::with_policy(settings, self.progress(), conduct);
        second.expect("the settings were checked when the first was made")
    }

    /// Starts to connect the standby to a gateway.
    pub(crate) fn open_connection(&mut self, gateway: SocketAddrV4) -> io::Result<D::Stream> {
        self.link.connect.connect(gateway)
    }

    /// Returns the tap and the chunk buffer for the standby's receive.
    pub(crate) fn receive_parts(&mut self) -> (&mut D, &mut Vec<u8>) {
        (&mut self.link.connect, &mut self.chunk)
    }

    /// Passes a frame of the standby to the tap before it is sent.
    pub(crate) fn tap_backup_frame(&mut self, frame: &[u8]) {
        self.link.tap_control(frame);
    }

    /// Journals a request of the standby before it is sent, with its RequestTimestamp and this
    /// session's progress.
    #[cold]
    pub(crate) fn journal_backup_request(&mut self, frame: &[u8], request_timestamp: u64) {
        self.protocol.raise_request_timestamp(request_timestamp);
        self.link.journal_request(frame, &self.protocol.progress());
    }

    /// Redelivers messages, and reports a failure of the journal.
    #[cold]
    fn handle_attention<L: Listener>(&mut self, now: Now, listener: &mut L) {
        // Cleared first: a failure after the check below sets the flag again.
        self.attention.swap(false, Ordering::AcqRel);
        if self.redelivery_pending {
            self.redeliver(now, listener);
        }
        self.report_journal_failure(now, listener);
    }

    #[cold]
    fn report_journal_failure<L: Listener>(&mut self, now: Now, listener: &mut L) {
        self.link.check_journal();
        if let Some(errno) = self.link.take_journal_failure() {
            let mut sender = self.protocol.sender(now, &mut self.link);
            listener.on_warning(&mut sender, &Warning::JournalFailed { errno });
        }
    }

    /// Redelivers the messages whose callback had not returned in an earlier process.
    #[cold]
    fn redeliver<L: Listener>(&mut self, now: Now, listener: &mut L) {
        self.redelivery_pending = false;
        let mut last = None;
        while let Some(record) = self.link.journal.next(last) {
            last = Some(record);
            let is_unmarked =
                record.direction() == Direction::Inbound && !self.link.journal.is_marked(record);
            if !is_unmarked {
                continue;
            }
            self.chunk.clear();
            let frame = self.link.journal.bytes(record);
            self.chunk.extend_from_slice(frame.get(FRAMING_HEADER_LENGTH..).unwrap_or_default());
            self.protocol.redeliver(now, &self.chunk, &mut self.link, listener);
            self.link.journal.mark(record);
        }
    }

    /// Handles a writable connection: room to send, or the outcome of a connect.
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
                self.record_failure(error);
                self.disconnect(now, reactor, listener)
            }
        }
    }

    fn handle_connected<L: Listener>(&mut self, now: Now, listener: &mut L) {
        if let Some(stream) = self.connecting.take() {
            self.link.set_stream(stream);
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
            let JournaledConnection { stream: Some(stream), connect, .. } = &mut self.link else {
                return Ok(());
            };
            let chunk = &mut self.chunk;
            chunk.clear();
            let received = stream.receive(1, |meta, bytes| {
                connect.on_received(meta, bytes);
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
                    self.record_failure(error);
                    return self.disconnect(now, reactor, listener);
                }
            }
        }
        Ok(())
    }

    /// Executes the protocol's pending actions.
    #[inline]
    fn update_state<L: Listener>(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        if self.link.is_idle() && !self.protocol.has_pending() {
            // Nothing sync_before_write, and mostly the registered interest is READABLE already.
            return match self.token {
                Some((_, Interest::READABLE)) | None => Ok(()),
                Some(_) => self.update_interest(reactor),
            };
        }
        self.update_state_slow(now, reactor, listener)
    }

    #[cold]
    fn update_state_slow<L: Listener>(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        loop {
            self.link.transmit(&mut self.protocol, now);
            if let Some(error) = self.link.write_error.take() {
                self.report_journal_failure(now, listener);
                self.record_failure(error);
                self.disconnect(now, reactor, listener)?;
            }
            match self.protocol.poll_action() {
                Some(Action::Connect) => self.start_connect(now, reactor, listener)?,
                Some(Action::Close) => self.disconnect(now, reactor, listener)?,
                None => return self.update_interest(reactor),
            }
        }
    }

    fn start_connect<L: Listener>(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        self.link.counters.connects += 1;
        match self.link.connect.connect(self.gateway) {
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
                self.record_failure(error);
                self.disconnect(now, reactor, listener)
            }
        }
    }

    /// Closes the connection in any state, and notifies the protocol.
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

    /// Returns the interest to register for the connection.
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
        let interest_wanted = self.interest();
        match (&mut self.token, self.link.stream.as_ref().or(self.connecting.as_ref())) {
            (Some((token, interest)), Some(stream)) if *interest != interest_wanted => {
                *interest = interest_wanted;
                reactor.set_interest(*token, stream, interest_wanted)
            }
            _ => Ok(()),
        }
    }

    fn record_failure(&mut self, error: io::Error) {
        self.link.counters.failures += 1;
        self.last_failure = Some(error);
    }
}
