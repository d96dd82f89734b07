//! A connection that accepts a limited number of bytes, and a session on it.

#![allow(dead_code, reason = "each test program uses a part")]
use std::fs::File;
use std::io::{self, IoSlice};
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::mock_exchange::{self, MockExchange, frames, now, seq_num, template_id};
use hairpin_endpoint::{Blocker, Meta, Receive, Received, Source, Stream, Timestamp, Transmit};
use hairpin_mapped::{Journal, JournalSettings, Storage};
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::Duration;

/// The state connector by the test and the connection.
#[derive(Default)]
pub(crate) struct ConnectionState {
    pub(crate) exchange: MockExchange,
    /// The number of bytes that the connection still accepts.
    pub(crate) room: usize,
    /// The error of the next write.
    pub(crate) failure: Option<io::ErrorKind>,
    /// The error of the next connect.
    pub(crate) refusal: Option<io::ErrorKind>,
    /// All accepted bytes, and the number of writes.
    pub(crate) written: Vec<u8>,
    pub(crate) writes: usize,
    /// The bytes of each write, if recorded.
    pub(crate) write_sizes: Option<Vec<usize>>,
    /// The connection's segment size, if it has segments.
    pub(crate) segment_size: Option<usize>,
    /// The bytes to receive, and whether the stream ends after them.
    pub(crate) incoming: Vec<u8>,
    pub(crate) ended: bool,
    /// The number of times that `incoming` is repeated.
    pub(crate) repeats: usize,
    /// The gateways of all connects.
    pub(crate) connect_calls: Vec<SocketAddrV4>,
}

#[derive(Clone, Default)]
pub(crate) struct TestConnector(Arc<Mutex<ConnectionState>>);

impl TestConnector {
    pub(crate) fn connection(&self) -> MutexGuard<'_, ConnectionState> {
        self.0.lock().unwrap()
    }

    /// Returns the templates, and for orders the sequence numbers, of all complete frames accepted.
    pub(crate) fn written(&self) -> Vec<(u16, u32)> {
        let connection = self.connection();
        let number = |frame: &[u8]| if template_id(frame) < 514 { 0 } else { seq_num(frame) };
        frames(&connection.written)
            .iter()
            .map(|frame| (template_id(frame), number(frame)))
            .collect()
    }
}

pub(crate) struct Connection {
    connector: TestConnector,
    descriptor: File,
}

impl Receive for Connection {
    fn receive(&mut self, _: usize, mut on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        let mut connection = self.connector.connection();
        let meta = Meta { source: SocketAddrV4::new([0; 4].into(), 0), timestamp: Timestamp::None };
        let is_last = connection.repeats == 0;
        connection.repeats = connection.repeats.saturating_sub(1);
        let incoming = match is_last {
            true => std::mem::take(&mut connection.incoming),
            false => connection.incoming.clone(),
        };
        let closed = connection.ended;
        drop(connection);
        if !incoming.is_empty() {
            on(meta, &incoming);
        }
        Ok(Received { count: usize::from(!incoming.is_empty()), drained: is_last, closed })
    }
}

impl Transmit for Connection {
    fn transmit(&mut self, _: usize, _: impl FnOnce(&mut [u8])) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Stream for Connection {
    fn is_connected(&self) -> bool {
        true
    }
    fn finish_connect(&mut self) -> io::Result<bool> {
        Ok(true)
    }
    fn segment_size(&self) -> Option<usize> {
        self.connector.connection().segment_size
    }
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut connection = self.connector.connection();
        if let Some(failure) = connection.failure {
            return Err(failure.into());
        }
        let count = bytes.len().min(connection.room);
        if count == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        connection.room -= count;
        connection.writes += 1;
        connection.write_sizes.iter_mut().for_each(|sizes| sizes.push(count));
        connection.written.extend_from_slice(&bytes[..count]);
        Ok(count)
    }
    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.write(&parts.iter().flat_map(|part| part.to_vec()).collect::<Vec<u8>>())
    }
    fn flush(&mut self) -> io::Result<bool> {
        Ok(true)
    }
    fn shutdown(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Source for Connection {
    fn set_blocking(&mut self, _: Option<Duration>) -> io::Result<Option<Blocker>> {
        Ok(None)
    }
}

impl Connect for TestConnector {
    type Stream = Connection;
    fn connect(&mut self, gateway: SocketAddrV4) -> io::Result<Connection> {
        self.connection().connect_calls.push(gateway);
        let refusal = self.connection().refusal;
        match refusal {
            Some(refusal) => Err(refusal.into()),
            None => {
                Ok(Connection { connector: self.clone(), descriptor: File::open("/dev/null")? })
            }
        }
    }
}

#[derive(Default)]
pub(crate) struct RecordedEvents(pub(crate) Vec<String>);

impl Listener for RecordedEvents {
    fn on_error(&mut self, _: &mut Sender<'_>, error: &Error) {
        self.0.push(error.to_string());
    }
    fn on_warning(&mut self, _: &mut Sender<'_>, warning: &Warning) {
        if let Warning::JournalFailed { .. } = warning {
            self.0.push(warning.to_string());
        }
    }
    fn on_terminate(&mut self, _: &mut Sender<'_>, terminated: &Terminated<'_>) {
        self.0.push(format!("terminated {}", terminated.code.0));
    }
}

pub(crate) struct SessionHarness<J: Storage = Journal> {
    pub(crate) session: Session<TestConnector, J>,
    pub(crate) reactor: Reactor,
    pub(crate) connector: TestConnector,
    pub(crate) events: RecordedEvents,
    pub(crate) time: u64,
}

/// The length of an order's frame in bytes.
pub(crate) const ORDER: usize = 12 + 132;

impl SessionHarness {
    /// Creates an established session on a connection without room; the logon's bytes are cleared.
    pub(crate) fn established(waiting_max: usize) -> Self {
        Self::connecting(waiting_max).establish()
    }

    /// Creates an established session whose journal restarts when it is full.
    pub(crate) fn with_restarting_journal(waiting_max: usize) -> Self {
        let when_full = WhenFull::Restart;
        Self::with_settings(Settings { waiting_max, when_full, ..mock_exchange::settings(1) })
            .establish()
    }

    /// Creates an established session that replays orders that were not applied.
    pub(crate) fn with_replay(waiting_max: usize) -> Self {
        let conduct =
            SessionPolicy { not_applied: NotAppliedAnswer::Replay, ..SessionPolicy::default() };
        Self::with_settings(Settings { waiting_max, conduct, ..mock_exchange::settings(1) })
            .establish()
    }

    pub(crate) fn connecting(waiting_max: usize) -> Self {
        Self::with_settings(Settings { waiting_max, ..mock_exchange::settings(1) })
    }

    /// Creates an established session whose journal has lost its segment. Returns its folder too.
    pub(crate) fn with_failed_journal(settings: Settings) -> (Self, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let small = JournalSettings { segment_bytes: 1 << 16, ..JournalSettings::default() };
        let journal = Journal::create_with(&path, small).unwrap();
        let mut harness = Self::with_storage(settings, journal).establish();
        harness.connector.connection().room = usize::MAX;
        harness.send().unwrap();
        std::fs::remove_file(path.join("0000000001.segment")).unwrap();
        // The journal's thread checks its files at intervals.
        while !harness.session.journal().has_failed() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        (harness, folder)
    }

    pub(crate) fn with_settings(settings: Settings) -> Self {
        Self::with_storage(settings, Journal::anonymous(1 << 12).unwrap())
    }
}

impl<J: Storage> SessionHarness<J> {
    /// Creates a connecting session on a custom storage.
    pub(crate) fn with_storage(settings: Settings, journal: J) -> Self {
        let connector = TestConnector::default();
        let session = Session::with_connect(settings, journal, connector.clone()).unwrap();
        let reactor = Reactor::new(Wait::Spin).unwrap();
        let mut harness =
            Self { session, reactor, connector, events: RecordedEvents::default(), time: 1 };
        harness.session.connect(now(1), Binding::New).unwrap();
        harness
    }

    pub(crate) fn establish(self) -> Self {
        let mut harness = self;
        harness.connector.connection().room = usize::MAX;
        while harness.session.state() != State::Established {
            harness.poll();
            harness.deliver_answers();
        }
        let mut connection = harness.connector.connection();
        connection.written.clear();
        (connection.room, connection.writes) = (0, 0);
        drop(connection);
        harness
    }

    /// Delivers the exchange's answers to the accepted frames.
    pub(crate) fn deliver_answers(&mut self) {
        let mut connection = self.connector.connection();
        let written = std::mem::take(&mut connection.written);
        for frame in frames(&written) {
            let answer = connection.exchange.answer(frame);
            connection.incoming.extend(answer);
        }
    }

    pub(crate) fn poll(&mut self) {
        self.time += 1;
        let ready = self.reactor.wait(now(self.time).monotonic, None).unwrap();
        self.session.process(now(self.time), ready, &mut self.reactor, &mut self.events).unwrap();
    }

    pub(crate) fn poll_at_millis(&mut self, millis: u64) {
        self.time = millis * 1_000_000;
        self.poll();
    }

    pub(crate) fn send(&mut self) -> Result<Sent, SendError> {
        let order = NewOrder::limit(42, SideReq::BUY, Decimal(1), 1, ClOrdId::from(1));
        self.session.sender(now(self.time)).send(&order)
    }

    /// Adds room for `bytes` and runs the session. In the first call the session may only learn
    /// that it has to wait for room.
    pub(crate) fn add_room(&mut self, bytes: usize) {
        self.connector.connection().room += bytes;
        self.poll();
        self.poll();
    }
}
