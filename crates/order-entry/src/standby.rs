//! The standby connection to the backup gateway.

use std::io;
use std::net::SocketAddrV4;
use std::ops::Range;

use hairpin_endpoint::Stream;
use hairpin_ilink3::{
    Action, BackupNotice, Binding, CONTROL_LENGTH, ConnectError, Delivery, Error, Failover,
    Listener, OutboundError, OutboundSink, Rejected, Sender, State, Terminated, Warning,
};
use hairpin_mapped::Storage;
use hairpin_reactor::{Interest, Reactor, Ready, Token};
use hairpin_time::{Instant, Now};

use crate::{Connect, Counters, Session};

/// A session that is established on the backup gateway and waits for a failover. It sends session
/// messages only; the active session journals its requests.
#[derive(Debug)]
pub(crate) struct Standby<S> {
    pub(crate) protocol: hairpin_ilink3::Session,
    /// The connection, once established.
    pub(crate) stream: Option<S>,
    connecting: Option<S>,
    pub(crate) token: Option<(Token, Interest)>,
    pub(crate) gateway: SocketAddrV4,
    control: [u8; CONTROL_LENGTH],
    /// The unwritten part of the control message.
    control_left: Range<usize>,
    pub(crate) counters: Counters,
    pub(crate) last_failure: Option<io::Error>,
    null_sink: NullSink,
}

/// A sink without a journal: a standby neither sends nor journals business messages.
#[derive(Debug)]
struct NullSink;

impl OutboundSink for NullSink {
    fn claim(&mut self, _: usize) -> Result<&mut [u8], OutboundError> {
        Err(OutboundError::Closed)
    }
    fn commit(&mut self, _: usize, _: Option<u32>) -> Delivery {
        Delivery::Broken
    }
}

/// A listener adapter that reports the backup's events as [`BackupNotice`]s.
struct BackupListener<'a, L>(&'a mut L);

impl<L: Listener> Listener for BackupListener<'_, L> {
    fn on_state(&mut self, _: &mut Sender<'_>, state: State) {
        self.0.on_backup(&BackupNotice::State(state));
    }
    fn on_failover(&mut self, sender: &mut Sender<'_>, failover: Failover) {
        self.0.on_failover(sender, failover);
    }
    fn on_reject(&mut self, _: &mut Sender<'_>, rejected: &Rejected<'_>) {
        self.0.on_backup(&BackupNotice::Rejected(rejected));
    }
    fn on_terminate(&mut self, _: &mut Sender<'_>, terminated: &Terminated<'_>) {
        self.0.on_backup(&BackupNotice::Terminated(terminated));
    }
    fn on_error(&mut self, _: &mut Sender<'_>, error: &Error) {
        self.0.on_backup(&BackupNotice::Error(error));
    }
    fn on_warning(&mut self, _: &mut Sender<'_>, warning: &Warning) {
        self.0.on_backup(&BackupNotice::Warning(warning));
    }
}

impl<S: Stream + hairpin_endpoint::Source> Standby<S> {
    /// Creates a disconnected standby. `protocol` has the settings of the active session.
    pub(crate) fn new(protocol: hairpin_ilink3::Session, gateway: SocketAddrV4) -> Self {
        Self {
            protocol,
            stream: None,
            connecting: None,
            token: None,
            gateway,
            control: [0; CONTROL_LENGTH],
            control_left: 0..0,
            counters: Counters::default(),
            last_failure: None,
            null_sink: NullSink,
        }
    }

    /// Returns the sending half, which refuses every message because this is the backup.
    #[cold]
    pub(crate) fn sender(&mut self, now: Now) -> Sender<'_> {
        self.protocol.sender(now, &mut self.null_sink)
    }

    /// Requests a connection to `gateway`, next to the `active` session.
    pub(crate) fn connect<D, J>(
        &mut self,
        now: Now,
        gateway: SocketAddrV4,
        active: &Session<D, J>,
    ) -> Result<(), ConnectError>
    where
        D: Connect<Stream = S>,
        J: Storage,
    {
        self.protocol.follow(active.progress())?;
        self.gateway = gateway;
        self.protocol.connect(now, Binding::Backup)
    }

    /// Processes one wakeup. If the backup [was promoted](Self::is_takeover_pending), the active
    /// session must take over.
    #[inline]
    pub(crate) fn process<D, J, L>(
        &mut self,
        now: Now,
        ready: Ready,
        reactor: &mut Reactor,
        active: &mut Session<D, J>,
        listener: &mut L,
    ) -> io::Result<()>
    where
        D: Connect<Stream = S>,
        J: Storage,
        L: Listener,
    {
        if self.protocol.state() == State::Disconnected {
            return Ok(());
        }
        self.protocol.update_primary(&active.progress());
        if let Some((token, _)) = self.token {
            if ready.is_writable(token) {
                self.handle_writable(now, reactor, listener)?;
            }
            if ready.is_readable(token) {
                self.handle_readable(now, reactor, active.receive_parts(), listener)?;
            }
        }
        if self.protocol.poll_timeout().is_some_and(|deadline| deadline <= now.monotonic) {
            self.protocol.handle_timeout(now, &mut NullSink, &mut BackupListener(listener));
        }
        if self.is_takeover_pending() {
            return Ok(());
        }
        self.update_state(now, reactor, active, listener)
    }

    /// Returns the next time at which [`process`](Self::process) must run without input.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let interest_changed = self.token.is_some_and(|(_, interest)| interest != self.interest());
        let is_due = self.is_takeover_pending()
            || (self.protocol.has_pending() && self.control_left.is_empty())
            || interest_changed;
        if is_due { Some(Instant::ZERO) } else { self.protocol.poll_timeout() }
    }

    /// Returns `true` if the exchange has promoted this connection to primary.
    pub(crate) fn is_takeover_pending(&self) -> bool {
        self.protocol.is_takeover_pending()
    }

    /// Takes the unsent rest of a partly sent control message. An unsent message is discarded: it
    /// has the sequence number 0 of a backup.
    pub(crate) fn take_unsent(&mut self) -> &[u8] {
        let left = core::mem::take(&mut self.control_left);
        if left.start == 0 { &[] } else { &self.control[left] }
    }

    /// Closes the connection in any state.
    pub(crate) fn disconnect<L: Listener>(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        let stream = self.stream.take().or(self.connecting.take());
        self.control_left = 0..0;
        let removed = match (self.token.take(), stream) {
            (Some((token, _)), Some(mut stream)) => reactor.remove(token, &mut stream),
            _ => Ok(()),
        };
        self.protocol.handle_disconnected(now, &mut NullSink, &mut BackupListener(listener));
        removed
    }

    fn handle_writable<L: Listener>(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        let Some(stream) = &mut self.connecting else {
            let flushed = self.flush();
            return self.disconnect_on_error(flushed, now, reactor, listener);
        };
        match stream.finish_connect() {
            Ok(false) => Ok(()),
            Ok(true) => {
                self.handle_connected(now, listener);
                Ok(())
            }
            Err(error) => self.disconnect_on_error(Err(error), now, reactor, listener),
        }
    }

    fn handle_connected<L: Listener>(&mut self, now: Now, listener: &mut L) {
        self.counters.connected += 1;
        self.stream = self.connecting.take();
        self.protocol.handle_connected(now, &mut NullSink, &mut BackupListener(listener));
    }

    /// Reads one chunk; unread data is readable again at once.
    fn handle_readable<D: Connect<Stream = S>, L: Listener>(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        (connect, chunk): (&mut D, &mut Vec<u8>),
        listener: &mut L,
    ) -> io::Result<()> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        chunk.clear();
        let received = stream.receive(1, |meta, bytes| {
            connect.on_received(meta, bytes);
            chunk.extend_from_slice(bytes);
        });
        if !chunk.is_empty() {
            self.counters.chunks += 1;
            self.protocol.handle_bytes(now, chunk, &mut NullSink, &mut BackupListener(listener));
        }
        match received {
            // The session that takes over detects the end of the connection.
            _ if self.is_takeover_pending() => Ok(()),
            Ok(received) if received.closed => self.disconnect(now, reactor, listener),
            Ok(_) => Ok(()),
            Err(error) => self.disconnect_on_error(Err(error), now, reactor, listener),
        }
    }

    /// Executes the protocol's pending actions.
    fn update_state<D, J, L>(
        &mut self,
        now: Now,
        reactor: &mut Reactor,
        active: &mut Session<D, J>,
        listener: &mut L,
    ) -> io::Result<()>
    where
        D: Connect<Stream = S>,
        J: Storage,
        L: Listener,
    {
        loop {
            let transmitted = self.transmit(now, active);
            self.disconnect_on_error(transmitted, now, reactor, listener)?;
            match self.protocol.poll_action() {
                Some(Action::Connect) => {
                    self.counters.connects += 1;
                    match active.open_connection(self.gateway) {
                        Ok(stream) => self.start_connect(now, stream, reactor, listener)?,
                        Err(error) => {
                            self.disconnect_on_error(Err(error), now, reactor, listener)?
                        }
                    }
                }
                Some(Action::Close) => self.disconnect(now, reactor, listener)?,
                None => return self.update_interest(reactor),
            }
        }
    }

    fn start_connect<L: Listener>(
        &mut self,
        now: Now,
        mut stream: S,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        let connected = stream.is_connected();
        let token = reactor.add(&mut stream, Interest::WRITABLE)?;
        self.token = Some((token, Interest::WRITABLE));
        self.connecting = Some(stream);
        if connected {
            self.handle_connected(now, listener);
        }
        Ok(())
    }

    /// Writes control messages, each request after it is journaled.
    fn transmit<D, J>(&mut self, now: Now, active: &mut Session<D, J>) -> io::Result<()>
    where
        D: Connect<Stream = S>,
        J: Storage,
    {
        while self.stream.is_some() && self.control_left.is_empty() {
            let before = self.protocol.progress().request_timestamp;
            let Some(length) = self.protocol.poll_transmit(now, &mut self.control) else {
                return Ok(());
            };
            let request_timestamp = self.protocol.progress().request_timestamp;
            if request_timestamp != before {
                active.journal_backup_request(&self.control[..length], request_timestamp);
            }
            active.tap_backup_frame(&self.control[..length]);
            self.control_left = 0..length;
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the rest of a control message, as far as the connection accepts it.
    fn flush(&mut self) -> io::Result<()> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        while !self.control_left.is_empty() {
            match stream.write(&self.control[self.control_left.clone()]) {
                Ok(count) => {
                    self.counters.bytes_written += count as u64;
                    let is_partial = count < self.control_left.len();
                    self.counters.partial_writes += u64::from(is_partial);
                    self.control_left.start += count;
                    if is_partial {
                        return Ok(());
                    }
                }
                Err(error) => {
                    let later = [io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted];
                    self.counters.partial_writes += u64::from(later.contains(&error.kind()));
                    return if later.contains(&error.kind()) { Ok(()) } else { Err(error) };
                }
            }
        }
        Ok(())
    }

    /// Closes the connection if `outcome` is an error.
    fn disconnect_on_error<L: Listener>(
        &mut self,
        outcome: io::Result<()>,
        now: Now,
        reactor: &mut Reactor,
        listener: &mut L,
    ) -> io::Result<()> {
        let Err(error) = outcome else { return Ok(()) };
        self.counters.failures += 1;
        self.last_failure = Some(error);
        self.disconnect(now, reactor, listener)
    }

    fn interest(&self) -> Interest {
        if self.connecting.is_some() {
            Interest::WRITABLE
        } else if self.control_left.is_empty() {
            Interest::READABLE
        } else {
            Interest::BOTH
        }
    }

    fn update_interest(&mut self, reactor: &mut Reactor) -> io::Result<()> {
        let wanted = self.interest();
        match (&mut self.token, self.stream.as_ref().or(self.connecting.as_ref())) {
            (Some((token, interest)), Some(stream)) if *interest != wanted => {
                *interest = wanted;
                reactor.set_interest(*token, stream, wanted)
            }
            _ => Ok(()),
        }
    }
}
