//! The simulated exchange's gateway on connections in memory, in virtual time: primary, backup, and
//! a client with its session.

#![allow(dead_code, reason = "each test program uses a part")]
use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, MutexGuard};

use hairpin_endpoint::{Blocker, Meta, Receive, Received, Source, Stream, Timestamp, Transmit};
use hairpin_exchange::{
    Action, Capacity, ConnectionId, Credentials, Designation, Gateway, GatewaySettings, Instrument,
    OrderId, SimulatedMarket, SimulatedMarketSettings,
};
use hairpin_mapped::{Direction, MemoryStorage, Storage};
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_time::{Duration, Instant, Now, Utc};

/// A Wednesday, noon UTC.
const NOON: u64 = 1_700_049_600;
const CAPACITY: Capacity = Capacity { orders: 1_024, levels: 256 };
const INSTRUMENT: i32 = 1_001;

pub(crate) fn now(millis: u64) -> Now {
    let span = Duration::from_millis(millis);
    Now {
        monotonic: Instant::from_nanos(1) + span,
        utc: Utc::from_nanos(NOON * 1_000_000_000) + span,
    }
}

/// Returns a host address: 1 to 8 are the primary's, 9 is the backup's.
pub(crate) fn host(last: u8) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::new(127, 0, 0, last), 9)
}

pub(crate) fn connector() -> ConnectorSettings<SocketAddrV4> {
    ConnectorSettings {
        primary: vec![host(1)],
        backup: vec![host(9)],
        attempts: None,
        interval: Duration::from_secs(1),
        schedule: None,
    }
}

/// ClOrdIDs of accepted orders, in order.
#[derive(Debug, Default)]
pub(crate) struct Accepted(pub(crate) Vec<u32>);

impl hairpin_exchange::Listener for Accepted {
    fn on_acknowledged(&mut self, _: ConnectionId, cl_ord_id: &[u8], _: OrderId) {
        self.0.push(std::str::from_utf8(cl_ord_id).unwrap().parse().unwrap());
    }
}

/// A connection as both ends see it.
struct ConnectionState {
    id: Option<ConnectionId>,
    designation: Designation,
    to_gateway: Vec<u8>,
    to_client: Vec<u8>,
    /// All bytes that the client has written.
    written: Vec<u8>,
    ended: bool,
}

/// The gateway with its market and connections.
pub(crate) struct Inner {
    pub(crate) gateway: Gateway,
    floor: SimulatedMarket,
    now: Now,
    pub(crate) accepted: Accepted,
    lines: Vec<ConnectionState>,
    /// Hosts that refuse connections.
    pub(crate) refusing_hosts: Vec<SocketAddrV4>,
    pub(crate) connect_calls: Vec<SocketAddrV4>,
    /// Every frame that the client has sent, on both connections.
    pub(crate) tapped_frames: Vec<Vec<u8>>,
    /// The bytes delivered to the client on both connections, and the bytes tapped before.
    pub(crate) delivered_bytes: Vec<u8>,
    pub(crate) tapped_bytes: Vec<u8>,
    /// The number of bytes that connections still accept.
    pub(crate) room: usize,
    /// Bytes that a client writes are lost.
    pub(crate) drops_outbound: bool,
    /// Bytes that the gateway writes are lost.
    pub(crate) drops_inbound: bool,
}

#[derive(Clone)]
pub(crate) struct InMemoryGateway(Arc<Mutex<Inner>>);

impl InMemoryGateway {
    pub(crate) fn new() -> Self {
        let now = now(0);
        let instruments = Instrument::numbered(2);
        let settings =
            SimulatedMarketSettings { instruments, capacity: CAPACITY, ..Default::default() };
        let key = "AAECAwQFBgcICQoLDA0ODw";
        let account = Credentials::new("ACCESS-KEY-ID-123456", key, "ABC", "DEFGH").unwrap();
        let gateway = GatewaySettings::lenient(vec![account], 8, CAPACITY.orders);
        Self(Arc::new(Mutex::new(Inner {
            gateway: Gateway::with_settings(gateway),
            floor: SimulatedMarket::new(&settings, now),
            now,
            accepted: Accepted::default(),
            lines: Vec::new(),
            refusing_hosts: Vec::new(),
            tapped_frames: Vec::new(),
            delivered_bytes: Vec::new(),
            tapped_bytes: Vec::new(),
            connect_calls: Vec::new(),
            room: usize::MAX,
            drops_outbound: false,
            drops_inbound: false,
        })))
    }

    pub(crate) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    /// Fails the primary with all messages in flight. Closes its connections, unless they are to
    /// hang.
    pub(crate) fn fail_primary(&self, hangs: bool) {
        let mut inner = self.inner();
        let Inner { gateway, accepted, lines, now, .. } = &mut *inner;
        let failed = gateway.primary();
        gateway.fail_primary(*now, accepted);
        while let Some(Action::Close(_)) = gateway.poll_action(accepted) {}
        for line in lines.iter_mut().filter(|line| line.designation == failed) {
            line.id = None;
            line.to_gateway.clear();
            line.to_client.clear();
            line.ended |= !hangs;
        }
    }

    /// Breaks all connections to one of the gateways.
    pub(crate) fn cut(&self, designation: Designation) {
        let mut inner = self.inner();
        let Inner { gateway, accepted, lines, .. } = &mut *inner;
        for line in lines.iter_mut().filter(|line| line.designation == designation) {
            line.ended = true;
            if let Some(id) = line.id.take() {
                gateway.handle_closed(id, accepted);
            }
        }
    }

    /// Makes the gateway forget its connections without closing them.
    pub(crate) fn forget_connections(&self, designation: Designation) {
        let mut inner = self.inner();
        let Inner { gateway, accepted, lines, .. } = &mut *inner;
        for id in lines
            .iter_mut()
            .filter(|line| line.designation == designation)
            .filter_map(|line| line.id.take())
        {
            gateway.handle_closed(id, accepted);
        }
    }

    /// Returns the templates of all frames on the newest connection to one of the gateways.
    pub(crate) fn sent_templates(&self, designation: Designation) -> Vec<u16> {
        let inner = self.inner();
        let line = inner.lines.iter().rfind(|line| line.designation == designation).unwrap();
        let frames = crate::mock_exchange::frames(&line.written);
        frames.into_iter().map(crate::mock_exchange::template_id).collect()
    }

    /// Drops the frame with this index from the data in flight from the primary to the client.
    pub(crate) fn lose_frame(&self, place: usize) {
        let mut inner = self.inner();
        let primary = inner.gateway.primary();
        let line = inner.lines.iter_mut().rfind(|line| line.designation == primary).unwrap();
        let mut start = 0;
        let length = |bytes: &[u8]| usize::from(u16::from_le_bytes([bytes[0], bytes[1]]));
        (0..place).for_each(|_| start += length(&line.to_client[start..]));
        let end = start + length(&line.to_client[start..]);
        line.to_client.drain(start..end);
    }

    /// Adds bytes to the data in flight to the client on its newest connection to one of the
    /// gateways.
    pub(crate) fn inject(&self, designation: Designation, bytes: &[u8]) {
        let mut inner = self.inner();
        let line = inner.lines.iter_mut().rfind(|line| line.designation == designation).unwrap();
        line.to_client.extend_from_slice(bytes);
    }

    /// Processes the data that has arrived designation the gateway.
    pub(crate) fn poll(&self, now: Now) {
        let mut inner = self.inner();
        inner.now = now;
        let Inner { gateway, floor, accepted, lines, drops_outbound, drops_inbound, .. } =
            &mut *inner;
        for line in lines.iter_mut().filter(|_| !*drops_outbound) {
            let (bytes, id) = (std::mem::take(&mut line.to_gateway), line.id);
            for chunk in bytes.chunks(Gateway::CHUNK_MAX) {
                let Some(id) = id else { break };
                gateway.handle_bytes(now, id, chunk, floor, accepted);
            }
        }
        gateway.handle_timeout(now, accepted);
        while floor.publisher().has_event() {
            floor.publisher_mut().poll_transmit(now, &mut [0; 1_420]);
        }
        for line in lines.iter_mut().filter(|_| !*drops_inbound) {
            let Some(id) = line.id else { continue };
            let bytes = gateway.poll_transmit(id).unwrap_or_default().to_vec();
            gateway.handle_sent(id, bytes.len());
            line.to_client.extend(bytes);
        }
        while let Some(Action::Close(id)) = gateway.poll_action(accepted) {
            let line = lines.iter_mut().find(|line| line.id == Some(id)).unwrap();
            (line.id, line.ended) = (None, true);
        }
    }
}

/// The client's end of a connection.
pub(crate) struct Connection {
    gateway: InMemoryGateway,
    place: usize,
    descriptor: File,
}

impl Receive for Connection {
    fn receive(&mut self, _: usize, mut on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        let mut inner = self.gateway.inner();
        let line = &mut inner.lines[self.place];
        let meta = Meta { source: host(0), timestamp: Timestamp::None };
        let (incoming, closed) = (std::mem::take(&mut line.to_client), line.ended);
        inner.delivered_bytes.extend(&incoming);
        drop(inner);
        if !incoming.is_empty() {
            on(meta, &incoming);
        }
        Ok(Received { count: usize::from(!incoming.is_empty()), drained: true, closed })
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
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut inner = self.gateway.inner();
        let count = bytes.len().min(inner.room);
        if count == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if inner.room != usize::MAX {
            inner.room -= count;
        }
        inner.lines[self.place].to_gateway.extend_from_slice(&bytes[..count]);
        inner.lines[self.place].written.extend_from_slice(&bytes[..count]);
        Ok(count)
    }
    fn flush(&mut self) -> io::Result<bool> {
        Ok(true)
    }
    fn shutdown(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut inner = self.gateway.inner();
        let Inner { gateway, accepted, lines, .. } = &mut *inner;
        if let Some(id) = lines[self.place].id.take() {
            gateway.handle_closed(id, accepted);
        }
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

impl Connect for InMemoryGateway {
    type Stream = Connection;
    fn connect(&mut self, gateway: SocketAddrV4) -> io::Result<Connection> {
        let mut inner = self.inner();
        inner.connect_calls.push(gateway);
        if inner.refusing_hosts.contains(&gateway) {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let is_backup = gateway == host(9);
        let designation = if is_backup { Designation::Backup } else { Designation::Primary };
        let Inner { gateway, accepted, lines, now, .. } = &mut *inner;
        let id = gateway.handle_connected_at(*now, designation, accepted);
        let (to_gateway, to_client, written) = (Vec::new(), Vec::new(), Vec::new());
        lines.push(ConnectionState {
            id,
            designation,
            to_gateway,
            to_client,
            written,
            ended: id.is_none(),
        });
        let place = lines.len() - 1;
        drop(inner);
        Ok(Connection { gateway: self.clone(), place, descriptor: File::open("/dev/null")? })
    }
    fn on_frame(&mut self, frame: &[u8]) {
        self.inner().tapped_frames.push(frame.to_vec());
    }
    fn on_received(&mut self, _: Meta, bytes: &[u8]) {
        self.inner().tapped_bytes.extend(bytes);
    }
}

/// The events of a listener.
#[derive(Default)]
pub(crate) struct RecordedEvents {
    pub(crate) session: Vec<String>,
    pub(crate) backup: Vec<String>,
    /// UUID and SeqNum of each report, and whether it was retransmitted.
    pub(crate) reports: Vec<(u64, u32, bool)>,
    /// Outbound sequence numbers that were not applied.
    pub(crate) not_applied: Vec<u32>,
    pub(crate) active: Option<Active>,
}

impl Listener for RecordedEvents {
    fn on_state(&mut self, _: &mut Sender<'_>, state: State) {
        self.session.push(state.to_string());
    }
    fn on_execution_report_new(
        &mut self,
        _: &mut Sender<'_>,
        _: ExecutionReportNew522<'_>,
        message: &Message<'_>,
    ) {
        let Message { uuid, seq_num, possible_retransmission, .. } = *message;
        self.reports.push((uuid, seq_num, possible_retransmission));
    }
    fn on_not_applied(&mut self, sender: &mut Sender<'_>, it: NotApplied) {
        // After a logon, CME's count includes the next number.
        let end = (it.from_seq_no + it.count).min(sender.progress().next_outgoing);
        self.not_applied.extend(it.from_seq_no..end);
    }
    fn on_failover(&mut self, sender: &mut Sender<'_>, failover: Failover) {
        assert_eq!(sender.send(&order(0)), Err(SendError::Backup));
        self.session.push(format!("failover from {}", failover.next_seq_no));
    }
    fn on_active(&mut self, sender: &mut Sender<'_>, active: Active) {
        assert_eq!(sender.state(), State::Established);
        self.active = Some(active);
        self.session.push(format!("active {}", active.next_outgoing));
    }
    fn on_backup(&mut self, notice: &BackupNotice<'_>) {
        self.backup.push(match notice {
            BackupNotice::State(state) => state.to_string(),
            BackupNotice::Rejected(rejected) => format!("rejected {}", rejected.code.0),
            BackupNotice::Terminated(terminated) => format!("terminated {}", terminated.code.0),
            BackupNotice::Error(error) => error.to_string(),
            other => format!("{other:?}"),
        });
    }
    fn on_gap(&mut self, _: &mut Sender<'_>, gap: Gap) {
        self.session.push(format!("gap {} to {}", gap.from, gap.to));
    }
    fn on_reject(&mut self, _: &mut Sender<'_>, rejected: &Rejected<'_>) {
        self.session.push(format!("rejected {}", rejected.code.0));
    }
    fn on_terminate(&mut self, _: &mut Sender<'_>, terminated: &Terminated<'_>) {
        self.session.push(format!("terminated {}", terminated.code.0));
    }
    fn on_error(&mut self, _: &mut Sender<'_>, error: &Error) {
        self.session.push(error.to_string());
    }
    fn on_warning(&mut self, _: &mut Sender<'_>, warning: &Warning) {
        self.session.push(format!("warning: {warning}"));
    }
}

fn order(id: u32) -> NewOrder {
    NewOrder::limit(
        INSTRUMENT,
        SideReq::BUY,
        Decimal(1_000_000_000),
        1,
        ClOrdId::from(u64::from(id)),
    )
}

pub(crate) struct TestClient {
    pub(crate) gateway: InMemoryGateway,
    pub(crate) reconnecting: ReconnectingSession<InMemoryGateway, MemoryStorage, FixedZone>,
    reactor: Reactor,
    pub(crate) events: RecordedEvents,
    pub(crate) millis: u64,
    /// UUID, SeqNum and ClOrdID of each order sent.
    pub(crate) sent: Vec<(u64, u32, u32)>,
}

impl TestClient {
    /// Creates a client that has not started, on an existing journal.
    pub(crate) fn with_journal(
        gateway: InMemoryGateway,
        settings: Settings,
        journal: MemoryStorage,
    ) -> Self {
        Self::with_connector(connector(), gateway, settings, journal)
    }

    fn with_connector(
        connector: ConnectorSettings<SocketAddrV4>,
        gateway: InMemoryGateway,
        settings: Settings,
        journal: MemoryStorage,
    ) -> Self {
        let session = Session::with_connect(settings, journal, gateway.clone()).unwrap();
        let reconnecting = ReconnectingSession::new(session, connector, FixedZone(0));
        let reactor = Reactor::new(Wait::Spin).unwrap();
        let (events, sent) = (RecordedEvents::default(), Vec::new());
        Self { gateway, reconnecting, reactor, events, millis: 0, sent }
    }

    pub(crate) fn new() -> Self {
        Self::with_settings(crate::mock_exchange::settings(9))
    }

    /// Creates a client with this limit of attempts per connection.
    pub(crate) fn with_attempts(attempts: u32) -> Self {
        let connector = ConnectorSettings { attempts: Some(attempts), ..connector() };
        let settings = crate::mock_exchange::settings(9);
        Self::with_connector(connector, InMemoryGateway::new(), settings, MemoryStorage::new(false))
    }

    pub(crate) fn with_settings(settings: Settings) -> Self {
        Self::with_journal(InMemoryGateway::new(), settings, MemoryStorage::new(false))
    }

    /// Creates a client that is established on both gateways.
    pub(crate) fn established() -> Self {
        Self::new().establish()
    }

    pub(crate) fn establish(mut self) -> Self {
        self.reconnecting.start(now(self.millis));
        self.run_until_idle();
        assert_eq!(self.states(), (State::Established, State::Established));
        self.events.session.clear();
        self
    }

    /// Processes one wakeup of the client.
    pub(crate) fn poll_client(&mut self) {
        let now = now(self.millis);
        let ready = match self.reconnecting.is_idle() {
            true => Ready::EMPTY,
            false => self.reactor.wait(now.monotonic, None).unwrap(),
        };
        self.reconnecting.process(now, ready, &mut self.reactor, &mut self.events).unwrap();
    }

    /// Advances one millisecond for client and gateway.
    pub(crate) fn poll(&mut self) {
        self.millis += 1;
        self.poll_client();
        self.gateway.poll(now(self.millis));
    }

    /// Runs until the primary has sent a keep-alive; the backup's is next.
    pub(crate) fn run_until_keep_alive(&mut self) {
        while self.reconnecting.session().outbound_counters().sequences == 0 {
            self.poll();
        }
    }

    /// Runs until all messages in flight have arrived.
    pub(crate) fn run_until_idle(&mut self) {
        (0..12).for_each(|_| self.poll());
    }

    /// Runs for this number of milliseconds.
    pub(crate) fn run_millis(&mut self, millis: u64) {
        (0..millis).for_each(|_| self.poll());
    }

    pub(crate) fn send(&mut self) -> Result<Sent, SendError> {
        let id = 1 + self.sent.len() as u32;
        let sent = self.reconnecting.sender(now(self.millis)).send(&order(id))?;
        self.sent.push((self.reconnecting.session().progress().uuid, sent.seq_num, id));
        Ok(sent)
    }

    /// Sends this number of orders.
    pub(crate) fn send_many(&mut self, count: u32) {
        for _ in 0..count {
            self.send().unwrap();
        }
    }

    pub(crate) fn states(&self) -> (State, State) {
        (self.reconnecting.session().state(), self.reconnecting.backup_state())
    }

    pub(crate) fn take_session_events(&mut self) -> Vec<String> {
        std::mem::take(&mut self.events.session)
    }

    pub(crate) fn take_connect_calls(&mut self) -> Vec<SocketAddrV4> {
        std::mem::take(&mut self.gateway.inner().connect_calls)
    }

    /// Abandons the client like a crashed process, and starts another one on its journal.
    pub(crate) fn restart(self) -> Self {
        let Self { gateway, reconnecting, millis, sent, events, .. } = self;
        let journal = reconnecting.session().journal().clone();
        drop(reconnecting);
        let mut next = Self::with_journal(gateway, crate::mock_exchange::settings(9), journal);
        (next.millis, next.sent, next.events.reports) = (millis, sent, events.reports);
        next.events.not_applied = events.not_applied;
        next.reconnecting.start(now(millis));
        next
    }

    /// Checks that each sent order was either accepted once or reported once as not applied, that
    /// each report arrived once and in order, and that the journal is complete with rising
    /// RequestTimestamps.
    #[track_caller]
    pub(crate) fn audit(&self) {
        let accepted = self.gateway.inner().accepted.0.clone();
        for &(_, number, id) in &self.sent {
            let times = accepted.iter().filter(|&&accepted| accepted == id).count();
            let refusals = self.events.not_applied.iter().filter(|&&it| it == number).count();
            assert_eq!(times + refusals, 1, "order {id}: {times} times, not applied {refusals}");
        }
        let uuid = self.reconnecting.session().progress().uuid;
        let numbers = self.events.reports.iter().map(|report| (report.0, report.1));
        let expected = (1..=accepted.len() as u32).map(|number| (uuid, number));
        assert!(numbers.eq(expected), "{:?}", self.events.reports);
        self.audit_journal();
        assert_eq!(self.reconnecting.session().journal().unmarked().count(), 0);
    }

    /// Checks that outbound sequence numbers are contiguous and RequestTimestamps rise.
    #[track_caller]
    pub(crate) fn audit_journal(&self) {
        let journal = self.reconnecting.session().journal();
        let records = std::iter::successors(journal.next(None), |&it| journal.next(Some(it)));
        let (mut outbound, mut timestamp) = (0, 0);
        for record in records {
            let tag = journal.tag(record);
            match tag.direction {
                Direction::Outbound if tag.kind == MESSAGE_RECORD => {
                    outbound += 1;
                    assert_eq!(tag.seq_num, outbound);
                }
                Direction::Control => {
                    let snapshot = snapshot_from_record(journal.bytes(record)).unwrap();
                    assert!(snapshot.request_timestamp > timestamp, "{snapshot:?}");
                    timestamp = snapshot.request_timestamp;
                }
                _ => {}
            }
        }
        assert_eq!(outbound as usize, self.sent.len());
    }
}

impl TestClient {
    pub(crate) fn abandon(&mut self) {
        let Self { reconnecting, reactor, events, millis, .. } = self;
        reconnecting.abandon(now(*millis), reactor, events).unwrap();
    }

    /// Returns the number of connections in the reactor.
    pub(crate) fn sources(&self) -> usize {
        self.reactor.count()
    }
}
