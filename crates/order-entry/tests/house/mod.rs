//! The production gateway behind connections in memory, in fake time: primary, backup and a
//! client's session on them.

#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "all of this file is tests")]

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

/// Hosts 1 to 8 are the primary's, 9 is the backup's.
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

/// ClOrdIDs of orders that were accepted, in order.
#[derive(Debug, Default)]
pub(crate) struct Accepted(pub(crate) Vec<u32>);

impl hairpin_exchange::Listener for Accepted {
    fn on_acknowledged(&mut self, _: ConnectionId, cl_ord_id: &[u8], _: OrderId) {
        self.0.push(std::str::from_utf8(cl_ord_id).unwrap().parse().unwrap());
    }
}

/// A connection as both sides see it.
struct Line {
    id: Option<ConnectionId>,
    at: Designation,
    to_house: Vec<u8>,
    to_client: Vec<u8>,
    /// All that the client's end has taken.
    taken: Vec<u8>,
    is_ended: bool,
}

/// A gateway and its market, and the connections to it.
pub(crate) struct Inner {
    pub(crate) gateway: Gateway,
    floor: SimulatedMarket,
    now: Now,
    pub(crate) accepted: Accepted,
    lines: Vec<Line>,
    /// Hosts that refuse connections.
    pub(crate) dead: Vec<SocketAddrV4>,
    pub(crate) dialled: Vec<SocketAddrV4>,
    /// Every frame the client let go, on either connection.
    pub(crate) seen: Vec<Vec<u8>>,
    /// Bytes the client was given on either connection, and those it was shown before.
    pub(crate) given: Vec<u8>,
    pub(crate) heard: Vec<u8>,
    /// Bytes that a connection takes in all.
    pub(crate) room: usize,
    /// Nothing a client writes arrives.
    pub(crate) is_deaf: bool,
    /// Nothing the gateway writes arrives.
    pub(crate) is_mute: bool,
}

#[derive(Clone)]
pub(crate) struct House(Arc<Mutex<Inner>>);

impl House {
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
            dead: Vec::new(),
            seen: Vec::new(),
            given: Vec::new(),
            heard: Vec::new(),
            dialled: Vec::new(),
            room: usize::MAX,
            is_deaf: false,
            is_mute: false,
        })))
    }

    pub(crate) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    /// The primary fails, with all that is on the way to it and from it. Its connections end then,
    /// unless they are to hang.
    pub(crate) fn fail_primary(&self, hangs: bool) {
        let mut inner = self.inner();
        let Inner { gateway, accepted, lines, now, .. } = &mut *inner;
        let failed = gateway.primary();
        gateway.fail_primary(*now, accepted);
        while let Some(Action::Close(_)) = gateway.poll_action(accepted) {}
        for line in lines.iter_mut().filter(|line| line.at == failed) {
            line.id = None;
            line.to_house.clear();
            line.to_client.clear();
            line.is_ended |= !hangs;
        }
    }

    /// All connections to one of the gateways break.
    pub(crate) fn cut(&self, at: Designation) {
        let mut inner = self.inner();
        let Inner { gateway, accepted, lines, .. } = &mut *inner;
        for line in lines.iter_mut().filter(|line| line.at == at) {
            line.is_ended = true;
            if let Some(id) = line.id.take() {
                gateway.handle_closed(id, accepted);
            }
        }
    }

    /// The gateway forgets the connections to it, and nobody hears of that.
    pub(crate) fn hang(&self, at: Designation) {
        let mut inner = self.inner();
        let Inner { gateway, accepted, lines, .. } = &mut *inner;
        for id in lines.iter_mut().filter(|line| line.at == at).filter_map(|line| line.id.take()) {
            gateway.handle_closed(id, accepted);
        }
    }

    /// Templates of all that the newest connection to one of the gateways has taken.
    pub(crate) fn taken(&self, at: Designation) -> Vec<u16> {
        let inner = self.inner();
        let line = inner.lines.iter().rfind(|line| line.at == at).unwrap();
        let frames = crate::exchange::frames(&line.taken);
        frames.into_iter().map(crate::exchange::template_id).collect()
    }

    /// Loses the frame with this place of what is on the way to the client from the primary.
    pub(crate) fn lose_frame(&self, place: usize) {
        let mut inner = self.inner();
        let primary = inner.gateway.primary();
        let line = inner.lines.iter_mut().rfind(|line| line.at == primary).unwrap();
        let mut start = 0;
        let length = |bytes: &[u8]| usize::from(u16::from_le_bytes([bytes[0], bytes[1]]));
        (0..place).for_each(|_| start += length(&line.to_client[start..]));
        let end = start + length(&line.to_client[start..]);
        line.to_client.drain(start..end);
    }

    /// Puts bytes on the way to the client on its newest connection to one of the gateways.
    pub(crate) fn say(&self, at: Designation, bytes: &[u8]) {
        let mut inner = self.inner();
        let line = inner.lines.iter_mut().rfind(|line| line.at == at).unwrap();
        line.to_client.extend_from_slice(bytes);
    }

    /// Handles what has arrived.
    pub(crate) fn turn(&self, now: Now) {
        let mut inner = self.inner();
        inner.now = now;
        let Inner { gateway, floor, accepted, lines, is_deaf, is_mute, .. } = &mut *inner;
        for line in lines.iter_mut().filter(|_| !*is_deaf) {
            let (bytes, id) = (std::mem::take(&mut line.to_house), line.id);
            for chunk in bytes.chunks(Gateway::CHUNK_MAX) {
                let Some(id) = id else { break };
                gateway.handle_bytes(now, id, chunk, floor, accepted);
            }
        }
        gateway.handle_timeout(now, accepted);
        while floor.publisher().has_event() {
            floor.publisher_mut().poll_transmit(now, &mut [0; 1_420]);
        }
        for line in lines.iter_mut().filter(|_| !*is_mute) {
            let Some(id) = line.id else { continue };
            let bytes = gateway.poll_transmit(id).unwrap_or_default().to_vec();
            gateway.handle_sent(id, bytes.len());
            line.to_client.extend(bytes);
        }
        while let Some(Action::Close(id)) = gateway.poll_action(accepted) {
            let line = lines.iter_mut().find(|line| line.id == Some(id)).unwrap();
            (line.id, line.is_ended) = (None, true);
        }
    }
}

/// The client's end of a line.
pub(crate) struct Connection {
    house: House,
    place: usize,
    descriptor: File,
}

impl Receive for Connection {
    fn receive(&mut self, _: usize, mut on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        let mut inner = self.house.inner();
        let line = &mut inner.lines[self.place];
        let meta = Meta { source: host(0), timestamp: Timestamp::None };
        let (incoming, closed) = (std::mem::take(&mut line.to_client), line.is_ended);
        inner.given.extend(&incoming);
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
        let mut inner = self.house.inner();
        let count = bytes.len().min(inner.room);
        if count == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if inner.room != usize::MAX {
            inner.room -= count;
        }
        inner.lines[self.place].to_house.extend_from_slice(&bytes[..count]);
        inner.lines[self.place].taken.extend_from_slice(&bytes[..count]);
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
        let mut inner = self.house.inner();
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

impl Connect for House {
    type Stream = Connection;
    fn dial(&mut self, gateway: SocketAddrV4) -> io::Result<Connection> {
        let mut inner = self.inner();
        inner.dialled.push(gateway);
        if inner.dead.contains(&gateway) {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let is_backup = gateway == host(9);
        let at = if is_backup { Designation::Backup } else { Designation::Primary };
        let Inner { gateway, accepted, lines, now, .. } = &mut *inner;
        let id = gateway.handle_connected_at(*now, at, accepted);
        let (to_house, to_client, taken) = (Vec::new(), Vec::new(), Vec::new());
        lines.push(Line { id, at, to_house, to_client, taken, is_ended: id.is_none() });
        let place = lines.len() - 1;
        drop(inner);
        Ok(Connection { house: self.clone(), place, descriptor: File::open("/dev/null")? })
    }
    fn on_frame(&mut self, frame: &[u8]) {
        self.inner().seen.push(frame.to_vec());
    }
    fn on_received(&mut self, _: Meta, bytes: &[u8]) {
        self.inner().heard.extend(bytes);
    }
}

/// What the listener was told.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) words: Vec<String>,
    pub(crate) backup: Vec<String>,
    /// UUID and number of each report, and whether it was sent again.
    pub(crate) reports: Vec<(u64, u32, bool)>,
    /// Numbers of ours that were not applied.
    pub(crate) not_applied: Vec<u32>,
    pub(crate) active: Option<Active>,
}

impl Listener for Told {
    fn on_state(&mut self, _: &mut Sender<'_>, state: State) {
        self.words.push(state.to_string());
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
        // At a logon CME counts the number that is next too.
        let end = (it.from_seq_no + it.count).min(sender.progress().next_outgoing);
        self.not_applied.extend(it.from_seq_no..end);
    }
    fn on_failover(&mut self, sender: &mut Sender<'_>, failover: Failover) {
        assert_eq!(sender.send(&order(0)), Err(SendError::Backup));
        self.words.push(format!("failover from {}", failover.next_seq_no));
    }
    fn on_active(&mut self, sender: &mut Sender<'_>, active: Active) {
        assert_eq!(sender.state(), State::Established);
        self.active = Some(active);
        self.words.push(format!("active {}", active.next_outgoing));
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
        self.words.push(format!("gap {} to {}", gap.from, gap.to));
    }
    fn on_reject(&mut self, _: &mut Sender<'_>, rejected: &Rejected<'_>) {
        self.words.push(format!("rejected {}", rejected.code.0));
    }
    fn on_terminate(&mut self, _: &mut Sender<'_>, terminated: &Terminated<'_>) {
        self.words.push(format!("terminated {}", terminated.code.0));
    }
    fn on_error(&mut self, _: &mut Sender<'_>, error: &Error) {
        self.words.push(error.to_string());
    }
    fn on_warning(&mut self, _: &mut Sender<'_>, warning: &Warning) {
        self.words.push(format!("warning: {warning}"));
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

pub(crate) struct World {
    pub(crate) house: House,
    pub(crate) kept: ReconnectingSession<House, MemoryStorage, FixedZone>,
    reactor: Reactor,
    pub(crate) told: Told,
    pub(crate) millis: u64,
    /// ClOrdIDs, by the numbers they were sent under.
    pub(crate) sent: Vec<(u64, u32, u32)>,
}

impl World {
    /// A client of `house` that has not started, with what an earlier one has left.
    pub(crate) fn of(house: House, settings: Settings, journal: MemoryStorage) -> Self {
        Self::kept_by(connector(), house, settings, journal)
    }

    fn kept_by(
        connector: ConnectorSettings<SocketAddrV4>,
        house: House,
        settings: Settings,
        journal: MemoryStorage,
    ) -> Self {
        let session = Session::with_connect(settings, journal, house.clone()).unwrap();
        let kept = ReconnectingSession::new(session, connector, FixedZone(0));
        let reactor = Reactor::new(Wait::Spin).unwrap();
        let (told, sent) = (Told::default(), Vec::new());
        Self { house, kept, reactor, told, millis: 0, sent }
    }

    pub(crate) fn new() -> Self {
        Self::with(crate::exchange::settings(9))
    }

    /// Makes so many attempts of each connection.
    pub(crate) fn trying(attempts: u32) -> Self {
        let connector = ConnectorSettings { attempts: Some(attempts), ..connector() };
        let settings = crate::exchange::settings(9);
        Self::kept_by(connector, House::new(), settings, MemoryStorage::new(false))
    }

    pub(crate) fn with(settings: Settings) -> Self {
        Self::of(House::new(), settings, MemoryStorage::new(false))
    }

    /// Established on both.
    pub(crate) fn established() -> Self {
        Self::new().establish()
    }

    pub(crate) fn establish(mut self) -> Self {
        self.kept.start(now(self.millis));
        self.settle();
        assert_eq!(self.states(), (State::Established, State::Established));
        self.told.words.clear();
        self
    }

    /// The client's turn.
    pub(crate) fn client(&mut self) {
        let now = now(self.millis);
        let ready = match self.kept.is_idle() {
            true => Ready::NOTHING,
            false => self.reactor.wait(now.monotonic, None).unwrap(),
        };
        self.kept.process(now, ready, &mut self.reactor, &mut self.told).unwrap();
    }

    /// A millisecond for both.
    pub(crate) fn turn(&mut self) {
        self.millis += 1;
        self.client();
        self.house.turn(now(self.millis));
    }

    /// Turns until the primary has given a sign of life: that of the backup is next.
    pub(crate) fn await_sign_of_life(&mut self) {
        while self.kept.session().outbound_counters().sequences == 0 {
            self.turn();
        }
    }

    /// Turns until what was on the way has arrived.
    pub(crate) fn settle(&mut self) {
        (0..12).for_each(|_| self.turn());
    }

    /// Lets so many milliseconds pass.
    pub(crate) fn pass(&mut self, millis: u64) {
        (0..millis).for_each(|_| self.turn());
    }

    pub(crate) fn send(&mut self) -> Result<Sent, SendError> {
        let id = 1 + self.sent.len() as u32;
        let sent = self.kept.sender(now(self.millis)).send(&order(id))?;
        self.sent.push((self.kept.session().progress().uuid, sent.seq_num, id));
        Ok(sent)
    }

    /// Sends so many orders, which the journal takes.
    pub(crate) fn send_many(&mut self, count: u32) {
        for _ in 0..count {
            self.send().unwrap();
        }
    }

    pub(crate) fn states(&self) -> (State, State) {
        (self.kept.session().state(), self.kept.backup_state())
    }

    pub(crate) fn words(&mut self) -> Vec<String> {
        std::mem::take(&mut self.told.words)
    }

    pub(crate) fn dialled(&mut self) -> Vec<SocketAddrV4> {
        std::mem::take(&mut self.house.inner().dialled)
    }

    /// Abandons the client, as a process that dies does, and starts another one on its journal.
    pub(crate) fn restart(self) -> Self {
        let Self { house, kept, millis, sent, told, .. } = self;
        let journal = kept.session().journal().clone();
        drop(kept);
        let mut next = Self::of(house, crate::exchange::settings(9), journal);
        (next.millis, next.sent, next.told.reports) = (millis, sent, told.reports);
        next.told.not_applied = told.not_applied;
        next.kept.start(now(millis));
        next
    }

    /// Each order that was sent was either accepted, once, or told not to be applied, once; each
    /// report came once and in order; the journal has all of both, and RequestTimestamps rise.
    #[track_caller]
    pub(crate) fn audit(&self) {
        let accepted = self.house.inner().accepted.0.clone();
        for &(_, number, id) in &self.sent {
            let times = accepted.iter().filter(|&&accepted| accepted == id).count();
            let refusals = self.told.not_applied.iter().filter(|&&it| it == number).count();
            assert_eq!(times + refusals, 1, "order {id}: {times} times, not applied {refusals}");
        }
        let uuid = self.kept.session().progress().uuid;
        let numbers = self.told.reports.iter().map(|report| (report.0, report.1));
        let expected = (1..=accepted.len() as u32).map(|number| (uuid, number));
        assert!(numbers.eq(expected), "{:?}", self.told.reports);
        self.audit_journal();
        assert_eq!(self.kept.session().journal().unmarked().count(), 0);
    }

    /// The numbers of what was sent are contiguous, and RequestTimestamps rise.
    #[track_caller]
    pub(crate) fn audit_journal(&self) {
        let journal = self.kept.session().journal();
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
                    let standing = snapshot_from_record(journal.bytes(record)).unwrap();
                    assert!(standing.request_timestamp > timestamp, "{standing:?}");
                    timestamp = standing.request_timestamp;
                }
                _ => {}
            }
        }
        assert_eq!(outbound as usize, self.sent.len());
    }
}

impl World {
    pub(crate) fn abandon(&mut self) {
        let Self { kept, reactor, told, millis, .. } = self;
        kept.abandon(now(*millis), reactor, told).unwrap();
    }

    /// Connections in the reactor.
    pub(crate) fn sources(&self) -> usize {
        self.reactor.count()
    }
}
