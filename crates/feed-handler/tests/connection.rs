//! A connection to an exchange that does whatever a test asks of it.
#![allow(clippy::unwrap_used, reason = "a socket that cannot be had fails the test")]

#[allow(dead_code, unreachable_pub, reason = "the packets of another crate's tests")]
#[path = "../../mdp3/tests/support/packets.rs"]
mod packets;

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};

use hairpin_feed_handler::{
    BookUpdate, ChannelState, ConnectionError, EndOfEvent, FeedError, FeedHandler, FeedLine,
    FrameError, Gap, LateJoin, Listener, Settings, Statistics, TcpLines,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now};
use packets::{END, PacketBuilder, YEAR_2026, bid, packet};
use socket2::{Domain, SockRef, Socket, Type};

/// What the sockets count when nothing is wrong.
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
struct Told {
    ends: Vec<u32>,
    gaps: u32,
}

impl Listener for Told {
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

/// A handler that takes the incremental feed as it comes, by a clock of the test.
struct Bench {
    reactor: Reactor,
    handler: FeedHandler,
    told: Told,
    now: Instant,
}

impl Bench {
    fn new(wait: Wait, lines: TcpLines) -> Self {
        Self::with(settings(), wait, lines)
    }

    fn with(settings: Settings, wait: Wait, lines: TcpLines) -> Self {
        let mut reactor = Reactor::new(wait).unwrap();
        let handler = FeedHandler::new(settings, lines, &mut reactor).unwrap();
        Self { reactor, handler, told: Told::default(), now: Instant::from_nanos(1) }
    }

    fn turn(&mut self) {
        self.wait(Duration::from_millis(1));
    }

    /// A turn after which `time` has passed, by the clock of the test.
    fn wait(&mut self, time: Duration) {
        let ready = self.reactor.wait(self.now, Some(self.now)).unwrap();
        self.now += time;
        // Later than all that is sent.
        let utc = YEAR_2026 + Duration::from_secs(3_600) + (self.now - Instant::ZERO);
        let now = Now { monotonic: self.now, utc };
        self.handler.process(now, ready, &mut self.reactor, &mut self.told).unwrap();
    }

    #[track_caller]
    fn until(&mut self, what: &str, is_done: impl Fn(&Self) -> bool) {
        for _ in 0..2_000 {
            self.turn();
            if is_done(self) {
                return;
            }
        }
        let told = (&self.told.ends.last(), self.told.gaps, self.told.ends.len());
        let kind = self.reactor.kind();
        panic!("{what} does not come by {kind}: {told:?} {:?}", self.handler.statistics());
    }

    /// The server's end of a connection that the handler knows to stand.
    #[track_caller]
    fn accept(&mut self, listener: &TcpListener) -> TcpStream {
        let connections = self.handler.statistics().connections;
        self.until("a connection", |bench| bench.handler.statistics().connections > connections);
        listener.accept().unwrap().0
    }

    /// What is wrong is one thing, counted once.
    #[track_caller]
    fn counts_only(&self, name: &str) {
        let wrong: Vec<_> = self
            .handler
            .statistics()
            .iter()
            .filter(|&(name, count)| count != 0 && !PLAIN.contains(&name))
            .collect();
        assert_eq!(wrong, [(name, 1)]);
    }

    /// The connection that this breaks is counted as `name`, and made again.
    #[track_caller]
    fn breaks(name: &str, breaks: impl FnOnce(TcpStream)) -> Self {
        let (listener, address) = listen();
        let mut bench = Self::new(Wait::Epoll, only_a(address));
        let mut stream = bench.accept(&listener);
        stream.write_all(&frame(&quote(1, 1))).unwrap();
        bench.until("a packet", |bench| bench.told.ends == [1]);
        breaks(stream);
        let count = |bench: &Self| {
            let statistics = bench.handler.statistics();
            statistics.iter().find(|(other, _)| *other == name).unwrap().1
        };
        bench.until(name, |bench| count(bench) > 0);
        assert!(!bench.handler.connections().next().unwrap().is_connected);
        bench.counts_only(name);
        // It comes back, and what it brings is taken from its first byte on.
        let mut stream = bench.accept(&listener);
        stream.write_all(&frame(&quote(2, 2))).unwrap();
        bench.until("the next packet", |bench| bench.told.ends == [1, 2]);
        assert_eq!(bench.handler.statistics().reconnections, 1);
        bench.counts_only(name);
        bench
    }

    fn failure(&self) -> &ConnectionError {
        self.handler.last_failure(FeedLine::A).unwrap()
    }
}

fn settings() -> Settings {
    // Of the connection, not of the feed.
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
    let bench = Bench::breaks("empty_frames", |mut stream| stream.write_all(&[0, 0]).unwrap());
    assert!(matches!(bench.failure(), ConnectionError::Frame(FrameError::Empty)));
    assert_eq!(bench.failure().to_string(), "a packet of 0 bytes");
}

#[test]
fn counts_short_frames_only() {
    let bench = Bench::breaks("short_frames", |mut stream| stream.write_all(&[11, 0]).unwrap());
    let error = "a packet of 11 bytes, shorter than its header of 12";
    assert_eq!(bench.failure().to_string(), error);
}

#[test]
fn counts_long_frames_only() {
    // What follows is not read as packets, though it could be.
    let garbage = [&[1, 8][..], &frame(&quote(9, 9))].concat();
    let bench = Bench::breaks("long_frames", |mut stream| stream.write_all(&garbage).unwrap());
    assert_eq!(bench.failure().to_string(), "a packet of 2049 bytes, longer than 2048");
    assert_eq!(bench.told.ends, [1, 2]);
}

#[test]
fn counts_packets_cut_only() {
    let bench = Bench::breaks("packets_cut", |mut stream| {
        stream.write_all(&frame(&quote(2, 2))[..30]).unwrap();
    });
    let missing = frame(&quote(2, 2)).len() - 30;
    let error = format!("the connection ended {missing} bytes before the end of a packet");
    assert_eq!(bench.failure().to_string(), error);
}

#[test]
fn counts_ended_connections_only() {
    let bench = Bench::breaks("ended_connections", drop);
    assert!(matches!(bench.failure(), ConnectionError::Ended));
}

#[test]
fn counts_broken_connections_only() {
    let bench = Bench::breaks("broken_connections", |stream| {
        // Closed like this it is reset.
        SockRef::from(&stream).set_linger(Some(std::time::Duration::ZERO)).unwrap();
    });
    assert!(matches!(bench.failure(), ConnectionError::Broken(_)));
}

#[test]
fn counts_failed_connects_only() {
    for wait in Wait::ALL {
        let (listener, address) = listen();
        drop(listener);
        let mut bench = Bench::new(wait, only_a(address));
        bench.until("it", |bench| bench.handler.statistics().failed_connects > 0);
        bench.counts_only("failed_connects");
        assert!(bench.failure().to_string().contains(&address.to_string()), "{wait}");
        // Attempts go on, ever more rarely, and succeed when somebody is there.
        for _ in 0..10_000 {
            bench.turn();
        }
        let failed = bench.handler.statistics().failed_connects;
        assert!((10..25).contains(&failed), "{failed} in ten seconds, {wait}");
        let listener = TcpListener::bind(address).unwrap();
        bench.accept(&listener);
        assert_eq!(bench.handler.statistics().reconnections, 0);
    }
}

#[test]
fn pauses_double_up_to_a_second_and_begin_anew_once_a_packet_has_come() {
    let (listener, address) = listen();
    drop(listener);
    let mut bench = Bench::new(Wait::Epoll, only_a(address));
    let pause = |bench: &Bench| bench.handler.next_deadline().unwrap() - bench.now;
    let mut pauses = Vec::new();
    while pauses.len() < 10 {
        let failed = bench.handler.statistics().failed_connects;
        bench.until("a failure", |bench| bench.handler.statistics().failed_connects > failed);
        pauses.push(pause(&bench).as_nanos() / 1_000_000);
    }
    assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 640, 1_000, 1_000, 1_000]);
    let listener = TcpListener::bind(address).unwrap();
    let mut stream = bench.accept(&listener);
    stream.write_all(&frame(&quote(1, 1))).unwrap();
    bench.until("a packet", |bench| bench.told.ends == [1]);
    drop((stream, listener));
    bench.until("the end", |bench| bench.handler.statistics().ended_connections > 0);
    assert_eq!(pause(&bench), Duration::from_millis(10));
}

#[test]
fn an_attempt_that_nobody_answers_is_given_up_and_repeated() {
    for wait in Wait::ALL {
        // A listener whose queue is full answers nobody.
        let deaf = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        deaf.bind(&SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        deaf.listen(0).unwrap();
        let address = deaf.local_addr().unwrap().as_socket_ipv4().unwrap();
        let _in_the_queue = TcpStream::connect(address).unwrap();
        let mut bench = Bench::new(wait, only_a(address));
        bench.turn();
        assert_eq!(bench.handler.statistics().failed_connects, 0);
        bench.wait(Duration::from_secs(3));
        assert_eq!(bench.handler.statistics().failed_connects, 0);
        assert!(bench.handler.next_deadline() <= Some(bench.now + Duration::from_secs(1)));
        bench.wait(Duration::from_secs(1));
        bench.counts_only("failed_connects");
        assert_eq!(bench.failure().to_string(), "no answer within 4s", "{wait}");
        bench.wait(Duration::from_millis(20));
        bench.wait(Duration::from_secs(5));
        assert_eq!(bench.handler.statistics().failed_connects, 2, "{wait}");
    }
}

#[test]
fn counts_silent_connections_only() {
    for wait in Wait::ALL {
        let (listener, address) = listen();
        let mut bench = Bench::new(wait, only_a(address));
        let mut stream = bench.accept(&listener);
        let silence = Duration::from_millis(9_900);
        // A single byte is a sign of life.
        bench.wait(silence);
        stream.write_all(&frame(&quote(1, 1))[..1]).unwrap();
        bench.until("a byte", |bench| bench.handler.next_deadline() > Some(bench.now + silence));
        bench.wait(silence);
        assert!(bench.handler.connections().next().unwrap().is_connected);
        bench.until("silence", |bench| bench.handler.statistics().silent_connections > 0);
        bench.counts_only("silent_connections");
        bench.accept(&listener);
    }
}

#[test]
fn a_loop_that_was_away_reads_before_it_calls_it_silence() {
    for wait in Wait::ALL {
        let (listener, address) = listen();
        let mut bench = Bench::new(wait, only_a(address));
        let mut stream = bench.accept(&listener);
        stream.write_all(&frame(&quote(1, 1))).unwrap();
        // It has lain there for long, and only then was it asked for.
        std::thread::sleep(std::time::Duration::from_millis(20));
        bench.wait(Duration::from_secs(60));
        bench.until("the packet", |bench| bench.told.ends == [1]);
        assert_eq!(bench.handler.statistics().silent_connections, 0, "{wait}");
    }
}

#[test]
fn the_other_side_is_read_before_a_hole_becomes_a_gap() {
    for wait in Wait::ALL {
        let ((listener_a, a), (listener_b, b)) = (listen(), listen());
        let mut bench = Bench::new(wait, TcpLines::both(a, b));
        bench.until("both", |bench| bench.handler.statistics().connections == 2);
        let [mut a, mut b] = [listener_a, listener_b].map(|listener| listener.accept().unwrap().0);
        let first = frame(&quote(1, 1));
        b.write_all(&first).unwrap();
        bench.until("the first", |bench| bench.told.ends == [1]);
        // FeedLine A begins late, as after a reconnection, and far more lies there than a hole may
        // hold open.
        let stream = |range: std::ops::RangeInclusive<u32>| -> Vec<u8> {
            range.flat_map(|sequence| frame(&quote(sequence, sequence))).collect()
        };
        a.write_all(&stream(1_001..=3_000)).unwrap();
        b.write_all(&stream(2..=2_500)).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        bench.until("all", |bench| bench.told.ends.len() == 3_000);
        assert!(bench.told.ends.iter().copied().eq(1..=3_000), "{wait}");
        assert_eq!(bench.told.gaps, 0, "{wait}");
    }
}

#[test]
fn a_feed_that_is_not_joined_is_not_handed_over() {
    let (listener, address) = listen();
    let mut bench = Bench::new(Wait::Epoll, only_a(address));
    let mut stream = bench.accept(&listener);
    stream.write_all(&frame(&packet(1).snapshot(7, 1, 1, 1, &[]))).unwrap();
    stream.write_all(&frame(&quote(2, 2))).unwrap();
    bench.until("the quote", |bench| bench.told.ends == [2]);
    assert_eq!(bench.handler.statistics().packets_not_joined, 1);
    assert_eq!(bench.handler.channel().counters().unwanted_packets, 0);
}

#[test]
fn a_feed_that_was_left_is_no_longer_handed_over() {
    let (listener, address) = listen();
    let settings = Settings { late_join: LateJoin::Books, ..settings() };
    let mut bench = Bench::with(settings, Wait::Epoll, only_a(address));
    let mut stream = bench.accept(&listener);
    stream.write_all(&frame(&quote(1, 1))).unwrap();
    bench.until("the first", |bench| bench.told.ends == [1]);
    let book = [(b'0', 1, 1, 5)];
    stream.write_all(&frame(&packet(1).snapshot(7, 1, 1, 1, &book))).unwrap();
    let is_in_sync = |bench: &Bench| bench.handler.channel().state() == ChannelState::InSync;
    bench.until("the snapshot", is_in_sync);
    stream.write_all(&frame(&packet(2).snapshot(7, 1, 1, 1, &book))).unwrap();
    stream.write_all(&frame(&quote(2, 2))).unwrap();
    bench.until("the second", |bench| bench.told.ends == [1, 2]);
    assert_eq!(bench.handler.statistics().packets_not_joined, 1);
    assert_eq!(bench.handler.channel().counters().unwanted_packets, 0);
}

#[test]
fn a_side_that_is_ahead_waits_no_longer_than_a_hole_may_stay_open() {
    let ((listener_a, a), (listener_b, b)) = (listen(), listen());
    let mut bench = Bench::new(Wait::Epoll, TcpLines::both(a, b));
    bench.until("both", |bench| bench.handler.statistics().connections == 2);
    let [mut a, _silent] = [listener_a, listener_b].map(|listener| listener.accept().unwrap().0);
    a.write_all(&frame(&quote(1, 1))).unwrap();
    bench.until("the first", |bench| bench.told.ends == [1]);
    a.write_all(&frame(&quote(3, 3))).unwrap();
    bench.until("the third", |bench| bench.told.ends == [1, 3]);
    assert_eq!(bench.told.gaps, 1);
}

#[test]
fn addresses_that_nobody_could_connect_from_are_refused() {
    let (_listener, address) = listen();
    let mut reactor = Reactor::new(Wait::Poll).unwrap();
    let mut new = |lines| FeedHandler::new(settings(), lines, &mut reactor);
    let nowhere = TcpLines { interface: Ipv4Addr::new(192, 0, 2, 1), ..only_a(address) };
    let error = new(nowhere).unwrap_err();
    assert!(matches!(error, FeedError::Connection { side: FeedLine::A, .. }));
    assert!(error.to_string().contains("192.0.2.1"), "{error}");
    assert!(matches!(new(TcpLines::both(address, address)), Err(FeedError::SameAddress { .. })));
    assert!(matches!(new(TcpLines { a: None, ..only_a(address) }), Err(FeedError::NoSide)));
    assert_eq!(reactor.count(), 0);
    let handler = FeedHandler::new(settings(), only_a(address), &mut reactor).unwrap();
    assert_eq!(reactor.count(), 1);
    handler.close(&mut reactor).unwrap();
    assert_eq!(reactor.count(), 0, "who closes leaves none behind");
    assert!(reactor.wait(Instant::ZERO, Some(Instant::ZERO)).unwrap().is_nothing());
}

#[test]
fn every_counter_of_what_is_wrong_has_its_test() {
    let wrong: Vec<_> = Statistics::default()
        .iter()
        .map(|(name, _)| name)
        .filter(|name| !PLAIN.contains(name))
        .collect();
    let multicast = ["kernel_drops", "truncated"];
    let engine = ["receive_buffers_short"];
    let replay = ["failed_replays", "refused_replays"];
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
    assert_eq!(wrong, [&multicast[..], &here, &replay, &warnings, &engine].concat());
}
