//! A session against a gateway over TCP on the loopback interface, under every wait.

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::SocketAddrV4;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::rc::Rc;
use std::thread::{self, JoinHandle};

use crate::mock_exchange::{self, MockExchange};
use hairpin_mapped::{Direction, Journal};
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_time::{Instant, Now, Utc};

/// The side that sends its Terminate first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndedBy {
    Client,
    Gateway,
    /// The gateway closes the connection without a Terminate.
    GatewayWithoutTerminate,
}

/// Serves one connection in a thread: sends its answers, byte by byte if `bytewise`, and ends the
/// session after two reports.
fn gateway(ended_by: EndedBy, bytewise: bool) -> (u16, JoinHandle<Vec<u16>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (port, thread::spawn(move || serve(&listener, ended_by, bytewise)))
}

/// Serves one connection. Returns the received templates.
pub(crate) fn serve(listener: &TcpListener, ended_by: EndedBy, bytewise: bool) -> Vec<u16> {
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_nodelay(true).unwrap();
    let mut exchange = MockExchange::default();
    while let Some(frame) = read_frame(&mut stream) {
        let answer = exchange.answer(&frame);
        send(&mut stream, &answer, bytewise);
        if exchange.reports == 2 && ended_by == EndedBy::Gateway {
            send(&mut stream, &exchange.terminate(9, 4_711), bytewise);
        } else if exchange.reports == 2 && ended_by == EndedBy::GatewayWithoutTerminate {
            stream.shutdown(Shutdown::Both).unwrap();
            break;
        }
    }
    exchange.received
}

fn send(stream: &mut TcpStream, bytes: &[u8], bytewise: bool) {
    let piece = if bytewise { 1 } else { bytes.len().max(1) };
    for piece in bytes.chunks(piece) {
        // The client may have closed already, after it answered a Terminate.
        if stream.write_all(piece).is_err() {
            return;
        }
    }
}

/// Reads the next frame, or returns `None` at the end of the stream.
fn read_frame(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut frame = vec![0; 4];
    stream.read_exact(&mut frame).ok()?;
    frame.resize(usize::from(u16::from_le_bytes([frame[0], frame[1]])), 0);
    stream.read_exact(&mut frame[4..]).ok()?;
    Some(frame)
}

/// Sends an order when established, cancels it when accepted, and may terminate when it is
/// canceled.
struct Trader {
    events: Vec<String>,
    ended_by: bool,
}

impl Listener for Trader {
    fn on_state(&mut self, _: &mut Sender<'_>, state: State) {
        self.events.push(state.to_string());
    }
    fn on_established(&mut self, sender: &mut Sender<'_>, _: &Established) {
        let order =
            NewOrder::limit(42, SideReq::SELL, Decimal(4_500_250_000_000), 3, ClOrdId::from(77));
        let sent = sender.send(&order).unwrap();
        assert_eq!(sent, Sent { seq_num: 1, delivery: Delivery::Written });
    }
    fn on_execution_report_new(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        self.events.push(format!("working {} at {}", report.cl_ord_id(), report.price()));
        let id = ClOrdId::from(78);
        let cancel = CancelOrder::new(report.order_id(), report.security_id(), report.side(), id);
        assert_eq!(sender.send(&cancel).unwrap().seq_num, 2);
    }
    fn on_execution_report_cancel(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportCancel534<'_>,
        _: &Message<'_>,
    ) {
        self.events.push(format!("canceled {} by {}", report.order_id(), report.cl_ord_id()));
        if self.ended_by {
            sender.terminate();
        }
    }
    fn on_terminate(&mut self, _: &mut Sender<'_>, terminated: &Terminated<'_>) {
        self.events.push(format!("terminated {} {}", terminated.code.0, terminated.solicited));
    }
    fn on_error(&mut self, _: &mut Sender<'_>, error: &Error) {
        self.events.push(error.to_string());
    }
    fn on_warning(&mut self, _: &mut Sender<'_>, warning: &Warning) {
        self.events.push(warning.to_string());
    }
}

pub(crate) fn clock(start: std::time::Instant) -> Now {
    let nanos = start.elapsed().as_nanos() as u64 + 1;
    Now { monotonic: Instant::from_nanos(nanos), utc: Utc::from_nanos(mock_exchange::UTC + nanos) }
}

/// Runs one session from logon to the end of the connection.
pub(crate) fn converse(
    wait: Wait,
    ended_by: EndedBy,
    bytewise: bool,
) -> (Session, Vec<String>, Vec<u16>) {
    let (port, gateway) = gateway(ended_by, bytewise);
    let journal = Journal::anonymous(1 << 16).unwrap();
    let mut session = Session::new(mock_exchange::settings(port), journal).unwrap();
    let events = run(&mut session, wait, ended_by);
    (session, events, gateway.join().unwrap())
}

/// Runs a session to the end of its connection, and returns its events.
pub(crate) fn run(session: &mut Session, wait: Wait, ended_by: EndedBy) -> Vec<String> {
    let mut trader = Trader { events: Vec::new(), ended_by: ended_by == EndedBy::Client };
    let mut reactor = Reactor::new(wait).unwrap();
    let start = std::time::Instant::now();
    session.connect(clock(start), Binding::New).unwrap();
    session.process(clock(start), Ready::EMPTY, &mut reactor, &mut trader).unwrap();
    while session.state() != State::Disconnected {
        let deadline = session.next_deadline();
        let ready = reactor.wait(clock(start).monotonic, deadline).unwrap();
        session.process(clock(start), ready, &mut reactor, &mut trader).unwrap();
    }
    trader.events
}

/// Records the receive timestamp of the last bytes, and their number.
struct TimestampingConnector {
    connector: TcpConnect,
    newest: Rc<Cell<(Timestamp, usize)>>,
}

impl Connect for TimestampingConnector {
    type Stream = <TcpConnect as Connect>::Stream;
    fn connect(&mut self, gateway: SocketAddrV4) -> std::io::Result<Self::Stream> {
        self.connector.connect(gateway)
    }
    fn on_received(&mut self, meta: Meta, bytes: &[u8]) {
        let (_, count) = self.newest.get();
        self.newest.set((meta.timestamp, count + bytes.len()));
    }
}

/// Reads the receive timestamp of its message in a callback.
struct Reader {
    newest: Rc<Cell<(Timestamp, usize)>>,
    arrived: Option<Utc>,
}

impl Listener for Reader {
    fn on_established(&mut self, sender: &mut Sender<'_>, _: &Established) {
        let (timestamp, count) = self.newest.get();
        // NegotiationResponse501 and EstablishmentAck504.
        assert_eq!(count, 12 + 33 + 2 + 12 + 39);
        self.arrived = timestamp.utc();
        sender.terminate();
    }
}

/// Returns the receive timestamp of the last bytes of a logon, as its callback sees it.
fn arrival() -> Option<Utc> {
    let (port, gateway) = gateway(EndedBy::Client, false);
    let journal = Journal::anonymous(1 << 12).unwrap();
    let options = TcpOptions { timestamping: Timestamping::Software, ..TcpOptions::default() };
    let newest = Rc::new(Cell::new((Timestamp::None, 0)));
    let connector = TimestampingConnector {
        connector: TcpConnect { options, ..TcpConnect::default() },
        newest: Rc::clone(&newest),
    };
    let connector = FrameTap::new(connector, |_: &[u8]| {});
    let mut session =
        Session::with_connect(mock_exchange::settings(port), journal, connector).unwrap();
    let mut reader = Reader { newest, arrived: None };
    let mut reactor = Reactor::new(Wait::Epoll).unwrap();
    let start = std::time::Instant::now();
    session.connect(clock(start), Binding::New).unwrap();
    session.process(clock(start), Ready::EMPTY, &mut reactor, &mut reader).unwrap();
    while session.state() != State::Disconnected {
        let ready = reactor.wait(clock(start).monotonic, session.next_deadline()).unwrap();
        session.process(clock(start), ready, &mut reactor, &mut reader).unwrap();
    }
    gateway.join().unwrap();
    reader.arrived
}

#[test]
fn received_bytes_are_tapped_with_timestamps_before_callbacks() {
    // The kernel enables timestamps asynchronously after the first request for them.
    let arrived = (0..500).find_map(|_| {
        thread::sleep(std::time::Duration::from_millis(1));
        arrival()
    });
    assert!(arrived.is_some(), "no receive timestamp on loopback");
}

const LOGON: [&str; 4] = ["connecting", "negotiating", "establishing", "established"];
const REPORTS: [&str; 2] = ["working 77 at 4500.25", "canceled 7001 by 78"];

#[test]
fn trades_and_terminates_under_every_wait() {
    for wait in Wait::ALL {
        if let Err(reason) = wait.probe() {
            println!("skipped: {wait}: {reason}");
            continue;
        }
        let (session, events, received) = converse(wait, EndedBy::Client, false);
        assert_eq!(events[..4], LOGON, "{wait}");
        assert_eq!(events[4..6], REPORTS);
        assert_eq!(events[6..], ["terminating", "terminated 0 true", "disconnected"]);
        assert_eq!(received, [500, 503, 514, 516, 507]);
        assert_eq!(session.inbound_counters().errors(), 0);
        assert_eq!(session.counters().failures, 0);
        assert_eq!(session.waiting(), 0);
    }
}

#[test]
fn answers_the_gateways_terminate() {
    let (session, events, received) = converse(Wait::Epoll, EndedBy::Gateway, false);
    assert_eq!(events[4..6], REPORTS);
    assert_eq!(events[6..], ["terminating", "terminated 9 false", "disconnected"]);
    assert_eq!(received, [500, 503, 514, 516, 507]);
    assert_eq!(session.inbound_counters().errors(), 0);
}

#[test]
fn closed_connection_without_terminate_is_lost() {
    let (session, events, _) = converse(Wait::Epoll, EndedBy::GatewayWithoutTerminate, false);
    assert_eq!(events[6..], ["connection lost while established", "disconnected"]);
    assert_eq!(session.inbound_counters().connections_lost, 1);
}

#[test]
fn answers_split_into_bytes_give_the_same_events() {
    for ended_by in [EndedBy::Client, EndedBy::Gateway] {
        let (_, whole, _) = converse(Wait::Epoll, ended_by, false);
        let (session, bytewise, _) = converse(Wait::Epoll, ended_by, true);
        assert_eq!(whole, bytewise);
        assert!(session.counters().chunks >= 4);
    }
}

#[test]
fn missing_gateway_is_a_failure_with_its_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let journal = Journal::anonymous(1 << 12).unwrap();
    let mut session = Session::new(mock_exchange::settings(port), journal).unwrap();
    let mut trader = Trader { events: Vec::new(), ended_by: false };
    let mut reactor = Reactor::new(Wait::Epoll).unwrap();
    let start = std::time::Instant::now();
    session.connect(clock(start), Binding::New).unwrap();
    session.process(clock(start), Ready::EMPTY, &mut reactor, &mut trader).unwrap();
    while session.state() != State::Disconnected {
        let ready = reactor.wait(clock(start).monotonic, session.next_deadline()).unwrap();
        session.process(clock(start), ready, &mut reactor, &mut trader).unwrap();
    }
    assert_eq!(trader.events, ["connecting", "connection lost while connecting", "disconnected"]);
    let failure = session.last_failure().unwrap();
    assert_eq!(failure.kind(), std::io::ErrorKind::ConnectionRefused);
    assert!(failure.to_string().contains(&port.to_string()), "{failure}");
}

#[test]
fn sent_messages_are_journaled_and_the_next_process_resumes() {
    let (session, _, _) = converse(Wait::Epoll, EndedBy::Client, false);
    let journaled: Vec<_> = session
        .journal()
        .records()
        .map(|(record, frame)| (record.kind(), mock_exchange::template_id(frame)))
        .collect();
    assert_eq!(
        journaled,
        [
            (CONTROL_RECORD, 500),
            (CONTROL_RECORD, 503),
            (MESSAGE_RECORD, 514),
            (MESSAGE_RECORD, 522),
            (MESSAGE_RECORD, 516),
            (MESSAGE_RECORD, 534),
            (CONTROL_RECORD, 507)
        ]
    );
    let uuid = session.progress().uuid;
    let tags = session.journal().records().map(|(record, _)| session.journal().tag(record));
    let tags: Vec<_> = tags.map(|tag| (tag.direction, tag.uuid, tag.seq_num)).collect();
    let control = (Direction::Control, uuid, 0);
    let [first, second] = [1, 2].map(|number| (Direction::Outbound, uuid, number));
    let [new, canceled] = [1, 2].map(|number| (Direction::Inbound, uuid, number));
    assert_eq!(tags, [control, control, first, new, second, canceled, control]);
    assert_eq!(session.journal().unmarked().count(), 0, "both callbacks have returned");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut journal = Journal::create(&path, 1 << 16).unwrap();
    for (record, frame) in session.journal().records() {
        let mut claim = journal.claim(frame.len()).unwrap();
        claim.payload().copy_from_slice(frame);
        claim.commit_as(&session.journal().tag(record), frame.len());
    }
    drop(journal);
    let next = Session::new(mock_exchange::settings(1), Journal::open(&path).unwrap()).unwrap();
    let before = session.progress();
    assert_eq!(next.progress(), before);
    assert_eq!((before.next_outgoing, before.next_incoming), (3, 3));
}
