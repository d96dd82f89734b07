//! A TCP connection to a test server, with every fault.
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};

use crate::packets::{END, PacketBuilder, YEAR_2026, bid, packet};
use hairpin_feed_handler::{
    BookUpdate, ChannelState, ConnectionError, EndOfEvent, FeedError, FeedHandler, FeedLine,
    FrameError, Gap, LateJoin, Listener, Settings, Statistics, TcpLines,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now};
use socket2::{Domain, SockRef, Socket, Type};

/// The counters of normal operation.
const PLAIN: [&str; 8] = [
    "packets",
    "bytes",
    "packets_not_joined",
    "connections",
    "reconnections",
    "replay_requests",
    "replayed_packets",
    "replayed_bytes",
];

#[derive(Debug, Default)]
struct RecordedEvents {
    ends: Vec<u32>,
    gaps: u32,
}

impl Listener for RecordedEvents {
    fn on_book_update(&mut self, _: &BookUpdate<'_>) {}
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        self.ends.push(event.packet.sequence);
    }
    fn on_gap(&mut self, gap: &Gap) {
        self.gaps += gap.count;
    }
}

fn listen() -> (TcpListener, SocketAddrV4) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let SocketAddr::V4(address) = listener.local_addr().unwrap() else { unreachable!() };
    (listener, address)
}

fn only_a(address: SocketAddrV4) -> TcpLines {
    TcpLines { a: Some(address), b: None, interface: Ipv4Addr::LOCALHOST }
}

/// A handler that accepts the incremental feed in any state, on the test's clock.
struct Harness {
    reactor: Reactor,
    handler: FeedHandler,
    events: RecordedEvents,
    now: Instant,
}

impl Harness {
    fn new(wait: Wait, lines: TcpLines) -> Self {
        Self::with(settings(), wait, lines)
    }

    fn with(settings: Settings, wait: Wait, lines: TcpLines) -> Self {
        let mut reactor = Reactor::new(wait).unwrap();
        let handler = FeedHandler::new(settings, lines, &mut reactor).unwrap();
        Self { reactor, handler, events: RecordedEvents::default(), now: Instant::from_nanos(1) }
    }

    fn poll(&mut self) {
        self.wait(Duration::from_millis(1));
    }

    /// Processes one wakeup, then advances the test's clock by `time`.
    fn wait(&mut self, time: Duration) {
        let ready = self.reactor.wait(self.now, Some(self.now)).unwrap();
        self.now += time;
        // Later than the sending time of every packet.
        let utc = YEAR_2026 + Duration::from_secs(3_600) + (self.now - Instant::ZERO);
        let now = Now { monotonic: self.now, utc };
        self.handler.process(now, ready, &mut self.reactor, &mut self.events).unwrap();
    }

    #[track_caller]
    fn until(&mut self, event: &str, is_done: impl Fn(&Self) -> bool) {
        for _ in 0..2_000 {
            self.poll();
            if is_done(self) {
                return;
            }
        }
        let events = (&self.events.ends.last(), self.events.gaps, self.events.ends.len());
        let kind = self.reactor.kind();
        panic!("{event} does not happen under {kind}: {events:?} {:?}", self.handler.statistics());
    }

    /// Accepts a connection and waits until the handler has seen it.
    #[track_caller]
    fn accept(&mut self, listener: &TcpListener) -> TcpStream {
        let connections = self.handler.statistics().connections;
        self.until("a connection", |harness| {
            harness.handler.statistics().connections > connections
        });
        listener.accept().unwrap().0
    }

    /// Checks that exactly one fault was counted, as `name`.
    #[track_caller]
    fn assert_only(&self, name: &str) {
        let faults: Vec<_> = self
            .handler
            .statistics()
            .iter()
            .filter(|&(name, count)| count != 0 && !PLAIN.contains(&name))
            .collect();
        assert_eq!(faults, [(name, 1)]);
    }

    /// Breaks a connection with `check_fault`, checks that the fault is counted as `name`, and that
    /// the handler reconnects.
    #[track_caller]
    fn check_fault(name: &str, check_fault: impl FnOnce(TcpStream)) -> Self {
        let (listener, address) = listen();
        let mut harness = Self::new(Wait::Epoll, only_a(address));
        let mut stream = harness.accept(&listener);
        stream.write_all(&frame(&quote(1, 1))).unwrap();
        harness.until("a packet", |harness| harness.events.ends == [1]);
        check_fault(stream);
        let count = |harness: &Self| {
            let statistics = harness.handler.statistics();
            statistics.iter().find(|(other, _)| *other == name).unwrap().1
        };
        harness.until(name, |harness| count(harness) > 0);
        assert!(!harness.handler.connections().next().unwrap().connected);
        harness.assert_only(name);
        // The handler reconnects and decodes the new stream from its first byte.
        let mut stream = harness.accept(&listener);
        stream.write_all(&frame(&quote(2, 2))).unwrap();
        harness.until("the next packet", |harness| harness.events.ends == [1, 2]);
        assert_eq!(harness.handler.statistics().reconnections, 1);
        harness.assert_only(name);
        harness
    }

    fn failure(&self) -> &ConnectionError {
        self.handler.last_failure(FeedLine::A).unwrap()
    }
}

fn settings() -> Settings {
    // Silence of the connection is tested, not of the feed.
    let silence = Duration::ZERO;
    Settings { late_join: LateJoin::Nothing, max_instruments: 8, silence, ..Settings::default() }
}

fn quote(sequence: u32, rpt_seq: u32) -> PacketBuilder {
    packet(sequence).book(END, &[bid(7, rpt_seq).add(1, i64::from(sequence), 5)])
}

fn frame(packet: &PacketBuilder) -> Vec<u8> {
    let length = u16::try_from(packet.bytes().len()).unwrap();
    [&length.to_le_bytes()[..], packet.bytes()].concat()
}

#[test]
fn counts_empty_frames_only() {
    let harness =
        Harness::check_fault("empty_frames", |mut stream| stream.write_all(&[0, 0]).unwrap());
    assert!(matches!(harness.failure(), ConnectionError::Frame(FrameError::Empty)));
    assert_eq!(harness.failure().to_string(), "invalid packet length 0");
}

#[test]
fn counts_short_frames_only() {
    let harness =
        Harness::check_fault("short_frames", |mut stream| stream.write_all(&[11, 0]).unwrap());
    let error = "invalid packet length 11: shorter than the 12-byte header";
    assert_eq!(harness.failure().to_string(), error);
}

#[test]
fn counts_long_frames_only() {
    // The bytes after the invalid length are not decoded, although they are a valid packet.
    let garbage = [&[1, 8][..], &frame(&quote(9, 9))].concat();
    let harness =
        Harness::check_fault("long_frames", |mut stream| stream.write_all(&garbage).unwrap());
    let error = "invalid packet length 2049: longest allowed is 2048";
    assert_eq!(harness.failure().to_string(), error);
    assert_eq!(harness.events.ends, [1, 2]);
}

#[test]
fn counts_packets_cut_only() {
    let harness = Harness::check_fault("packets_cut", |mut stream| {
        stream.write_all(&frame(&quote(2, 2))[..30]).unwrap();
    });
    let missing = frame(&quote(2, 2)).len() - 30;
    let error = format!("connection closed {missing} bytes before the end of a packet");
    assert_eq!(harness.failure().to_string(), error);
}

#[test]
fn counts_ended_connections_only() {
    let harness = Harness::check_fault("ended_connections", drop);
    assert!(matches!(harness.failure(), ConnectionError::Ended));
}

#[test]
fn counts_broken_connections_only() {
    let harness = Harness::check_fault("broken_connections", |stream| {
        // A close with linger time 0 sends a reset.
        SockRef::from(&stream).set_linger(Some(std::time::Duration::ZERO)).unwrap();
    });
    assert!(matches!(harness.failure(), ConnectionError::Broken(_)));
}

#[test]
fn counts_failed_connects_only() {
    for wait in Wait::ALL {
        let (listener, address) = listen();
        drop(listener);
        let mut harness = Harness::new(wait, only_a(address));
        harness.until("a failure", |harness| harness.handler.statistics().failed_connects > 0);
        harness.assert_only("failed_connects");
        assert!(harness.failure().to_string().contains(&address.to_string()), "{wait}");
        // Attempts continue with growing delays, and succeed when a server listens.
        for _ in 0..10_000 {
            harness.poll();
        }
        let failed = harness.handler.statistics().failed_connects;
        assert!((10..25).contains(&failed), "{failed} in ten seconds, {wait}");
        let listener = TcpListener::bind(address).unwrap();
        harness.accept(&listener);
        assert_eq!(harness.handler.statistics().reconnections, 0);
    }
}

#[test]
fn backoff_doubles_to_one_second_and_resets_after_a_packet() {
    let (listener, address) = listen();
    drop(listener);
    let mut harness = Harness::new(Wait::Epoll, only_a(address));
    let pause = |harness: &Harness| harness.handler.next_deadline().unwrap() - harness.now;
    let mut pauses = Vec::new();
    while pauses.len() < 10 {
        let failed = harness.handler.statistics().failed_connects;
        harness.until("a failure", |harness| harness.handler.statistics().failed_connects > failed);
        pauses.push(pause(&harness).as_nanos() / 1_000_000);
    }
    assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 640, 1_000, 1_000, 1_000]);
    let listener = TcpListener::bind(address).unwrap();
    let mut stream = harness.accept(&listener);
    stream.write_all(&frame(&quote(1, 1))).unwrap();
    harness.until("a packet", |harness| harness.events.ends == [1]);
    drop((stream, listener));
    harness.until("the end", |harness| harness.handler.statistics().ended_connections > 0);
    assert_eq!(pause(&harness), Duration::from_millis(10));
}

#[test]
fn unanswered_attempt_times_out_and_is_repeated() {
    for wait in Wait::ALL {
        // A listener with a full backlog does not answer.
        let full = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        full.bind(&SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        full.listen(0).unwrap();
        let address = full.local_addr().unwrap().as_socket_ipv4().unwrap();
        let _in_the_queue = TcpStream::connect(address).unwrap();
        let mut harness = Harness::new(wait, only_a(address));
        harness.poll();
        assert_eq!(harness.handler.statistics().failed_connects, 0);
        harness.wait(Duration::from_secs(3));
        assert_eq!(harness.handler.statistics().failed_connects, 0);
        assert!(harness.handler.next_deadline() <= Some(harness.now + Duration::from_secs(1)));
        harness.wait(Duration::from_secs(1));
        harness.assert_only("failed_connects");
        assert_eq!(harness.failure().to_string(), "no reply within 4s", "{wait}");
        harness.wait(Duration::from_millis(20));
        harness.wait(Duration::from_secs(5));
        assert_eq!(harness.handler.statistics().failed_connects, 2, "{wait}");
    }
}

#[test]
fn counts_silent_connections_only() {
    for wait in Wait::ALL {
        let (listener, address) = listen();
        let mut harness = Harness::new(wait, only_a(address));
        let mut stream = harness.accept(&listener);
        let silence = Duration::from_millis(9_900);
        // A single byte restarts the silence timer.
        harness.wait(silence);
        stream.write_all(&frame(&quote(1, 1))[..1]).unwrap();
        harness.until("a byte", |harness| {
            harness.handler.next_deadline() > Some(harness.now + silence)
        });
        harness.wait(silence);
        assert!(harness.handler.connections().next().unwrap().connected);
        harness.until("silence", |harness| harness.handler.statistics().silent_connections > 0);
        harness.assert_only("silent_connections");
        harness.accept(&listener);
    }
}

#[test]
fn suspended_loop_reads_before_it_counts_silence() {
    for wait in Wait::ALL {
        let (listener, address) = listen();
        let mut harness = Harness::new(wait, only_a(address));
        let mut stream = harness.accept(&listener);
        stream.write_all(&frame(&quote(1, 1))).unwrap();
        // The packet was received in time, but the loop reads it late.
        std::thread::sleep(std::time::Duration::from_millis(20));
        harness.wait(Duration::from_secs(60));
        harness.until("the packet", |harness| harness.events.ends == [1]);
        assert_eq!(harness.handler.statistics().silent_connections, 0, "{wait}");
    }
}

#[test]
fn other_side_is_read_before_a_gap_is_declared() {
    for wait in Wait::ALL {
        let ((listener_a, a), (listener_b, b)) = (listen(), listen());
        let mut harness = Harness::new(wait, TcpLines::both(a, b));
        harness.until("both", |harness| harness.handler.statistics().connections == 2);
        let [mut a, mut b] = [listener_a, listener_b].map(|listener| listener.accept().unwrap().0);
        let first = frame(&quote(1, 1));
        b.write_all(&first).unwrap();
        harness.until("the first", |harness| harness.events.ends == [1]);
        // Side A starts late, as after a reconnection, with more packets than the reorder window
        // holds.
        let stream = |range: std::ops::RangeInclusive<u32>| -> Vec<u8> {
            range.flat_map(|sequence| frame(&quote(sequence, sequence))).collect()
        };
        a.write_all(&stream(1_001..=3_000)).unwrap();
        b.write_all(&stream(2..=2_500)).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        harness.until("all", |harness| harness.events.ends.len() == 3_000);
        assert!(harness.events.ends.iter().copied().eq(1..=3_000), "{wait}");
        assert_eq!(harness.events.gaps, 0, "{wait}");
    }
}

#[test]
fn packets_of_unjoined_feeds_are_not_delivered() {
    let (listener, address) = listen();
    let mut harness = Harness::new(Wait::Epoll, only_a(address));
    let mut stream = harness.accept(&listener);
    stream.write_all(&frame(&packet(1).snapshot(7, 1, 1, 1, &[]))).unwrap();
    stream.write_all(&frame(&quote(2, 2))).unwrap();
    harness.until("the quote", |harness| harness.events.ends == [2]);
    assert_eq!(harness.handler.statistics().packets_not_joined, 1);
    assert_eq!(harness.handler.channel().counters().unwanted_packets, 0);
}

#[test]
fn packets_of_left_feeds_are_not_delivered() {
    let (listener, address) = listen();
    let settings = Settings { late_join: LateJoin::Books, ..settings() };
    let mut harness = Harness::with(settings, Wait::Epoll, only_a(address));
    let mut stream = harness.accept(&listener);
    stream.write_all(&frame(&quote(1, 1))).unwrap();
    harness.until("the first", |harness| harness.events.ends == [1]);
    let book = [(b'0', 1, 1, 5)];
    stream.write_all(&frame(&packet(1).snapshot(7, 1, 1, 1, &book))).unwrap();
    let is_in_sync = |harness: &Harness| harness.handler.channel().state() == ChannelState::InSync;
    harness.until("the snapshot", is_in_sync);
    stream.write_all(&frame(&packet(2).snapshot(7, 1, 1, 1, &book))).unwrap();
    stream.write_all(&frame(&quote(2, 2))).unwrap();
    harness.until("the second", |harness| harness.events.ends == [1, 2]);
    assert_eq!(harness.handler.statistics().packets_not_joined, 1);
    assert_eq!(harness.handler.channel().counters().unwanted_packets, 0);
}

#[test]
fn side_ahead_waits_at_most_the_reorder_wait() {
    let ((listener_a, a), (listener_b, b)) = (listen(), listen());
    let mut harness = Harness::new(Wait::Epoll, TcpLines::both(a, b));
    harness.until("both", |harness| harness.handler.statistics().connections == 2);
    let [mut a, _silent] = [listener_a, listener_b].map(|listener| listener.accept().unwrap().0);
    a.write_all(&frame(&quote(1, 1))).unwrap();
    harness.until("the first", |harness| harness.events.ends == [1]);
    a.write_all(&frame(&quote(3, 3))).unwrap();
    harness.until("the third", |harness| harness.events.ends == [1, 3]);
    assert_eq!(harness.events.gaps, 1);
}

#[test]
fn rejects_unusable_addresses() {
    let (_listener, address) = listen();
    let mut reactor = Reactor::new(Wait::Poll).unwrap();
    let mut new = |lines| FeedHandler::new(settings(), lines, &mut reactor);
    let unusable = TcpLines { interface: Ipv4Addr::new(192, 0, 2, 1), ..only_a(address) };
    let error = new(unusable).unwrap_err();
    assert!(matches!(error, FeedError::Connection { side: FeedLine::A, .. }));
    assert!(error.to_string().contains("192.0.2.1"), "{error}");
    assert!(matches!(new(TcpLines::both(address, address)), Err(FeedError::SameAddress { .. })));
    assert!(matches!(new(TcpLines { a: None, ..only_a(address) }), Err(FeedError::NoSide)));
    assert_eq!(reactor.count(), 0);
    let handler = FeedHandler::new(settings(), only_a(address), &mut reactor).unwrap();
    assert_eq!(reactor.count(), 1);
    handler.close(&mut reactor).unwrap();
    assert_eq!(reactor.count(), 0, "close removes all sockets");
    assert!(reactor.wait(Instant::ZERO, Some(Instant::ZERO)).unwrap().is_empty());
}

#[test]
fn fault_counters_have_their_tests() {
    let faults: Vec<_> = Statistics::default()
        .iter()
        .map(|(name, _)| name)
        .filter(|name| !PLAIN.contains(name))
        .collect();
    let multicast = ["kernel_drops", "truncated"];
    let engine = ["receive_buffers_short"];
    let replay = ["failed_replays", "refused_replays", "suppressed_replays"];
    let here = [
        "failed_connects",
        "broken_connections",
        "packets_cut",
        "silent_connections",
        "empty_frames",
        "short_frames",
        "long_frames",
    ];
    let warnings = ["ended_connections"];
    assert_eq!(faults, [&multicast[..], &here, &replay, &warnings, &engine].concat());
}
