//! Several channels on one engine: over real multicast on the loopback interface, from a capture,
//! and from a custom engine.
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};

use crate::packets::{END, PacketBuilder, YEAR_2026, bid, packet};
use hairpin_endpoint::{Transmit, UdpSender};
use hairpin_feed_handler::{
    Arrival, BookUpdate, CaptureEngine, CaptureSource, CapturedPacket, ChannelState, EndOfEvent,
    EngineError, Feed, FeedEngine, FeedError, FeedHandlers, FeedLine, Filter, Gap, Group,
    HandlerId, LineAddress, LineId, Lines, Listener, Multicast, Settings, SharedListener,
    SocketEngine, Speed, TappedEngine, Timestamp, UdpOptions,
};
use hairpin_reactor::Wait;
use hairpin_time::{Duration, Instant, Now, Utc};

fn at(millis: u64) -> Now {
    let span = Duration::from_millis(millis);
    // Later than the sending time of every packet: a channel suspects packets from the future.
    let utc = YEAR_2026 + Duration::from_secs(3_600) + span;
    Now { monotonic: Instant::ZERO + span, utc }
}

fn small() -> Settings {
    Settings { max_instruments: 8, ..Settings::default() }
}

/// The events of a listener.
#[derive(Debug, Default)]
struct RecordedEvents {
    states: Vec<ChannelState>,
    best_bids: Vec<i64>,
    ends: Vec<u32>,
    gaps: u32,
    idle: u32,
}

impl Listener for RecordedEvents {
    fn on_channel_state(&mut self, state: ChannelState) {
        self.states.push(state);
    }
    fn on_book_update(&mut self, update: &BookUpdate<'_>) {
        self.best_bids.extend(update.book.best_bid().map(|level| level.price.0 / 1_000_000_000));
    }
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        self.ends.push(event.packet.sequence);
    }
    fn on_gap(&mut self, gap: &Gap) {
        self.gaps += gap.count;
    }
    fn on_idle(&mut self, _: Now) {
        self.idle += 1;
    }
}

/// Returns a group by number. No other test uses these groups.
fn group(port: u16, number: u8) -> SocketAddrV4 {
    let [.., low] = std::process::id().to_be_bytes();
    SocketAddrV4::new(Ipv4Addr::new(239, 193, low, number), port)
}

fn free_port() -> u16 {
    UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Returns a channel with one group each for I, N and S, on side A only and on one port.
fn channel(port: u16, first: u8) -> Multicast {
    let line = |offset| Lines::only_a(group(port, first + offset));
    let interface = Ipv4Addr::LOCALHOST;
    Multicast {
        incremental: line(0),
        instrument: line(1),
        snapshot: line(2),
        snapshot_orders: Lines::default(),
        interface,
        transport: Default::default(),
        replay: None,
    }
}

#[derive(Default)]
struct Senders(Vec<(SocketAddrV4, UdpSender)>);

impl Senders {
    fn send(&mut self, to: &Lines, packet: &PacketBuilder) {
        self.send_on(to.a.as_ref(), packet);
    }

    fn send_on(&mut self, to: Option<&Group>, packet: &PacketBuilder) {
        let to = to.unwrap().address;
        if !self.0.iter().any(|(group, _)| *group == to) {
            self.0.push((to, UdpSender::new(to, Ipv4Addr::LOCALHOST, 0).unwrap()));
        }
        let (_, sender) = self.0.iter_mut().find(|(group, _)| *group == to).unwrap();
        let bytes = packet.bytes();
        sender.transmit(bytes.len(), |buffer| buffer.copy_from_slice(bytes)).unwrap();
    }
}

/// Channels on sockets, and the exchange that sends to them.
struct Market {
    feeds: FeedHandlers<SocketEngine>,
    events: Vec<RecordedEvents>,
    senders: Senders,
    millis: u64,
}

impl Market {
    fn new(wait: Wait, channels: &[Multicast]) -> Self {
        let mut feeds = FeedHandlers::new(SocketEngine::new(wait).unwrap());
        for (number, addresses) in channels.iter().enumerate() {
            assert_eq!(feeds.add(small(), addresses).unwrap().as_usize(), number);
        }
        let events = channels.iter().map(|_| RecordedEvents::default()).collect();
        Self { feeds, events, senders: Senders::default(), millis: 0 }
    }

    fn turn(&mut self) {
        self.millis += 1;
        let deadline = at(self.millis + 5).monotonic;
        self.feeds.wait_until(at(self.millis), Some(deadline)).unwrap();
        self.feeds.process(at(self.millis), &mut self.events).unwrap();
    }

    fn until(&mut self, event: &str, done: impl Fn(&Self) -> bool) {
        for _ in 0..2_000 {
            self.turn();
            if done(self) {
                return;
            }
            std::thread::yield_now();
        }
        panic!("{event} does not happen: {:?}", self.events);
    }

    fn state(&self, number: usize) -> ChannelState {
        let (_, channel) = self.feeds.channels().nth(number).unwrap();
        channel.state()
    }

    fn handler(&self, number: usize) -> HandlerId {
        self.feeds.channels().nth(number).unwrap().0
    }

    fn come_in_sync(&mut self, number: usize, addresses: &Multicast, id: i32) {
        self.senders.send(&addresses.incremental, &packet(10).heartbeat());
        self.senders.send(&addresses.instrument, &packet(1).definition(id, 1, 10));
        self.until("the snapshot feed", |it| it.state(number) == ChannelState::Recovering);
        self.senders.send(&addresses.snapshot, &packet(1).snapshot(id, 10, 1, 0, &[]));
        self.until("sync", |it| it.state(number) == ChannelState::InSync);
    }
}

fn quote(id: i32, sequence: u32, rpt_seq: u32, price: i64) -> PacketBuilder {
    packet(sequence).book(END, &[bid(id, rpt_seq).add(1, price, 5)])
}

#[test]
fn feeds_on_one_port_receive_only_their_packets() {
    for wait in [Wait::Epoll, Wait::Spin, Wait::IoUring] {
        let addresses = channel(free_port(), 10);
        let mut market = Market::new(wait, std::slice::from_ref(&addresses));
        market.come_in_sync(0, &addresses, 7);
        market.senders.send(&addresses.incremental, &quote(7, 11, 1, 100));
        market.until("the quote", |it| it.events[0].ends.contains(&11));
        let handler = market.handler(0);
        let counters = market.feeds.channel(handler).counters();
        // One packet of each loop, and the incremental packets: none was received twice.
        assert_eq!((counters.instrument_packets, counters.snapshot_packets), (1, 1), "{wait}");
        assert_eq!((counters.packets_a, counters.unwanted_packets), (2, 0), "{wait}");
        assert_eq!(counters.unknown_securities, 0);
        let packets: Vec<u64> = market.feeds.lines(handler).map(|line| line.datagrams).collect();
        assert_eq!(packets, [2, 1, 1], "{wait}");
    }
}

#[test]
fn channels_on_one_port_receive_only_their_packets() {
    let port = free_port();
    let channels = [channel(port, 20), channel(port, 30)];
    let mut market = Market::new(Wait::Epoll, &channels);
    market.come_in_sync(0, &channels[0], 7);
    market.come_in_sync(1, &channels[1], 8);
    market.senders.send(&channels[0].incremental, &quote(7, 11, 1, 100));
    market.senders.send(&channels[1].incremental, &quote(8, 11, 1, 200));
    market.senders.send(&channels[1].incremental, &quote(8, 12, 2, 201));
    market.until("all quotes", |it| it.events[0].ends.len() == 1 && it.events[1].ends.len() == 2);
    assert_eq!(market.events[0].best_bids, [100]);
    assert_eq!(market.events[1].best_bids, [200, 201]);
    for (number, id, other) in [(0, 7, 8), (1, 8, 7)] {
        let channel = market.feeds.channel(market.handler(number));
        assert!(channel.find(id).is_some() && channel.find(other).is_none());
        assert_eq!(channel.counters().duplicates, 0);
    }
}

#[test]
fn channels_with_the_same_line_share_it() {
    let port = free_port();
    let (one, mut other) = (channel(port, 40), channel(port, 50));
    other.instrument = one.instrument.clone();
    let mut market = Market::new(Wait::Epoll, &[one.clone(), other.clone()]);
    // Both channels collect definitions from the shared socket.
    market.senders.send(&one.incremental, &packet(10).heartbeat());
    market.senders.send(&other.incremental, &packet(10).heartbeat());
    market.senders.send(&one.instrument, &packet(1).definition(7, 1, 10));
    let both = [0, 1];
    market.until("both", |it| both.iter().all(|&it2| it.state(it2) == ChannelState::Recovering));
    let lines: Vec<bool> = market.feeds.lines(market.handler(0)).map(|it| it.joined).collect();
    assert_eq!(lines, [true, false, true]);
    // Six feeds on five lines; the shared line has received one packet.
    assert_eq!(market.feeds.statistics().packets, 3);
    assert_eq!(market.feeds.engine_mut().reactor().count(), 5);
    // One channel rejoins the feed and the other does not: only the first receives packets.
    market.senders.send(&one.snapshot, &packet(1).snapshot(7, 10, 1, 0, &[]));
    market.until("one", |it| it.state(0) == ChannelState::InSync);
    market.senders.send(&one.incremental, &quote(9, 11, 1, 100));
    market.until("a missing definition", |it| {
        let mut lines = it.feeds.lines(it.handler(0));
        lines.any(|line| line.feed == Feed::Instrument && line.joined)
    });
    market.senders.send(&one.instrument, &packet(1).definition(9, 1, 10));
    let handler = market.handler(0);
    market.until("the definition", |it| it.feeds.channel(handler).counters().definitions == 2);
    let counters = market.feeds.channel(market.handler(1)).counters();
    assert_eq!((counters.instrument_packets, counters.unwanted_packets), (1, 0));
}

#[test]
fn rejects_duplicate_group_and_leaves_no_socket() {
    let port = free_port();
    let mut feeds = FeedHandlers::new(SocketEngine::new(Wait::Epoll).unwrap());
    let valid = channel(port, 60);
    let twice = Multicast { snapshot: valid.incremental.clone(), ..valid.clone() };
    let error = feeds.add(small(), &twice).unwrap_err();
    let first = valid.incremental.a.as_ref().unwrap().address;
    let expected = format!(
        "cannot use {first} twice: assigned to incremental feed, side A, and to snapshot feed, \
         side A"
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!((feeds.count(), feeds.engine_mut().reactor().count()), (0, 0));
    let unusable = Multicast { interface: Ipv4Addr::new(192, 0, 2, 1), ..valid.clone() };
    let error = feeds.add(small(), &unusable).unwrap_err();
    assert!(matches!(error, FeedError::Engine(EngineError::Line { .. })));
    assert!(error.to_string().contains("192.0.2.1"), "{error}");
    assert_eq!(error.to_string().lines().count(), 1);
    assert_eq!(feeds.count(), 0);
    assert!(feeds.add(small(), &valid).is_ok());
}

#[test]
fn counts_receive_buffers_short_only() {
    // No system grants this size: a socket buffer is an int, of which the kernel reserves half.
    let options = UdpOptions { receive_buffer: Some(usize::MAX), ..UdpOptions::default() };
    let engine = SocketEngine::with_options(Wait::Epoll, options).unwrap();
    let mut feeds = FeedHandlers::new(engine);
    let handler = feeds.add(small(), &channel(free_port(), 70)).unwrap();
    let statistics = feeds.statistics();
    assert_eq!(statistics.receive_buffers_short, 3);
    assert!(statistics.iter().all(|(name, count)| count == 0 || name == "receive_buffers_short"));
    let line = feeds.lines(handler).next().unwrap();
    assert!(line.receive_buffer.granted < usize::MAX);
}

#[test]
fn closed_handlers_leave_a_reusable_engine() {
    let (one, other) = (channel(free_port(), 80), channel(free_port(), 90));
    let mut market = Market::new(Wait::Epoll, &[one.clone(), other.clone()]);
    market.come_in_sync(0, &one, 7);
    assert_eq!(market.feeds.engine_mut().reactor().count(), 6);
    let (mut engine, closed) = market.feeds.close();
    closed.unwrap();
    assert_eq!(engine.reactor().count(), 0);
    // Line ids start from 0 again, without state of the old lines.
    market.feeds = FeedHandlers::new(engine);
    market.feeds.add(small(), &other).unwrap();
    market.events = vec![RecordedEvents::default()];
    market.come_in_sync(0, &other, 8);
    assert_eq!(market.feeds.engine_mut().reactor().count(), 3);
    assert_eq!(market.feeds.statistics().packets, 3);
}

#[test]
fn idle_call_is_reported_to_every_listener() {
    let (one, other) = (channel(free_port(), 100), channel(free_port(), 110));
    let mut market = Market::new(Wait::Epoll, &[one.clone(), other]);
    market.turn();
    assert_eq!([0, 1].map(|it| market.events[it].idle), [1, 1]);
    market.senders.send(&one.incremental, &packet(10).heartbeat());
    let before = [0, 1].map(|it| market.events[it].idle);
    let packets = market.feeds.statistics().packets;
    // Each call either delivers the packet or is idle; the delivering call is not idle for any
    // channel.
    let mut turns = 0;
    while market.feeds.statistics().packets == packets {
        assert!(turns < 2_000, "the packet does not arrive");
        turns += 1;
        market.turn();
    }
    assert_eq!([0, 1].map(|it| market.events[it].idle), before.map(|idle| idle + turns - 1));
}

#[test]
fn filter_applies_to_one_channel() {
    let (one, other) = (channel(free_port(), 120), channel(free_port(), 130));
    let mut market = Market::new(Wait::Epoll, &[]);
    let filter = Filter::default().with_security_id(7);
    market.feeds.add_with_filter(small(), filter, &one).unwrap();
    market.feeds.add(small(), &other).unwrap();
    market.events = vec![RecordedEvents::default(), RecordedEvents::default()];
    for (number, addresses) in [one, other].iter().enumerate() {
        market.senders.send(&addresses.incremental, &packet(10).heartbeat());
        let definitions = packet(1).definition(7, 2, 10).definition(8, 2, 10);
        market.senders.send(&addresses.instrument, &definitions);
        market.until("definitions", |it| it.state(number) == ChannelState::Recovering);
    }
    let known = [0, 1].map(|it| market.feeds.channel(market.handler(it)).instruments().len());
    assert_eq!(known, [1, 2]);
}

/// A capture in memory: (destination, milliseconds, packet).
struct Script {
    packets: Vec<(SocketAddrV4, u64, PacketBuilder)>,
    next: usize,
}

impl CaptureSource for Script {
    fn advance(&mut self) -> io::Result<bool> {
        self.next += 1;
        Ok(self.next <= self.packets.len())
    }
    fn current(&self) -> CapturedPacket<'_> {
        let (destination, millis, packet) = &self.packets[self.next - 1];
        CapturedPacket {
            destination: *destination,
            source: *destination,
            timestamp: YEAR_2026 + Duration::from_secs(60) + Duration::from_millis(*millis),
            payload: packet.bytes(),
        }
    }
}

/// Plays a capture flat out to all channels.
fn play(
    packets: Vec<(SocketAddrV4, u64, PacketBuilder)>,
    channels: &[Multicast],
) -> (FeedHandlers<CaptureEngine<Script>>, Vec<RecordedEvents>) {
    let engine = CaptureEngine::new(Script { packets, next: 0 }, Speed::FlatOut);
    let mut feeds = FeedHandlers::new(engine);
    let mut events = Vec::new();
    for addresses in channels {
        feeds.add(small(), addresses).unwrap();
        events.push(RecordedEvents::default());
    }
    while !feeds.engine().is_finished() {
        feeds.wait(at(0)).unwrap();
        feeds.process(at(0), &mut events).unwrap();
    }
    (feeds, events)
}

fn address(lines: &Lines) -> SocketAddrV4 {
    lines.a.as_ref().unwrap().address
}

#[test]
fn capture_feeds_several_channels_in_packet_order() {
    let channels = [channel(14_310, 1), channel(14_310, 5)];
    let mut packets = Vec::new();
    for (lines, id) in channels.iter().zip([7, 8]) {
        let [incremental, instrument, snapshot] =
            [&lines.incremental, &lines.instrument, &lines.snapshot].map(address);
        // Without pauses: the snapshot counts only if the feed was joined after the previous
        // packet.
        packets.extend([
            (incremental, 0, packet(10).heartbeat()),
            (instrument, 1, packet(1).definition(id, 1, 10)),
            (snapshot, 2, packet(1).snapshot(id, 10, 1, 0, &[])),
            (incremental, 3, quote(id, 11, 1, 100)),
        ]);
    }
    let (feeds, events) = play(packets, &channels);
    for (events, (_, channel)) in events.iter().zip(feeds.channels()) {
        assert_eq!(channel.state(), ChannelState::InSync);
        assert_eq!((&events.ends[..], &events.best_bids[..]), (&[11][..], &[100][..]));
        assert_eq!(channel.counters().unwanted_packets, 0);
    }
}

#[test]
fn gaps_of_a_capture_are_judged_by_capture_time() {
    let addresses = channel(14_310, 1);
    let [incremental, instrument, snapshot] =
        [&addresses.incremental, &addresses.instrument, &addresses.snapshot].map(address);
    let start = [
        (incremental, 0, packet(10).heartbeat()),
        (instrument, 1, packet(1).definition(7, 1, 10)),
        (snapshot, 2, packet(1).snapshot(7, 10, 1, 0, &[])),
    ];
    let with = |late: u64| {
        let mut packets = start.to_vec();
        packets.push((incremental, 10, quote(7, 12, 2, 101)));
        packets.push((incremental, 10 + late, quote(7, 11, 1, 100)));
        let (_, events) = play(packets, std::slice::from_ref(&addresses));
        (events[0].gaps, events[0].ends.clone())
    };
    // The reorder wait is 10 ms.
    assert_eq!(with(9), (0, vec![11, 12]));
    assert_eq!(with(11).0, 1);
}

/// Packets that arrive while the thread is descheduled, between its wait and the processing, are
/// read before a gap is declared.
#[test]
fn gap_is_judged_by_the_time_at_which_the_wait_began() {
    for wait in [Wait::Epoll, Wait::IoUring] {
        let mut addresses = channel(free_port(), 60);
        let b = Group::new(group(free_port(), 63), &[]);
        addresses.incremental.b = Some(b.clone());
        let mut market = Market::new(wait, std::slice::from_ref(&addresses));
        market.come_in_sync(0, &addresses, 7);
        // Packet 12 is missing on side A, and the wait has seen packet 14 ...
        for sequence in [11, 13] {
            market.senders.send(&addresses.incremental, &quote(7, sequence, sequence - 10, 100));
        }
        market
            .until("packet 13", |it| it.feeds.channel(it.handler(0)).counters().held_packets == 1);
        market.senders.send(&addresses.incremental, &quote(7, 14, 4, 100));
        market.millis += 1;
        market.feeds.wait_until(at(market.millis), None).unwrap();
        // ... when side B's packets arrive and the reorder wait ends.
        for sequence in 11..=14 {
            market.senders.send_on(Some(&b), &quote(7, sequence, sequence - 10, 100));
        }
        market.millis += 1_000;
        market.feeds.process(at(market.millis), &mut market.events).unwrap();
        assert_eq!(market.events[0].gaps, 0, "{wait}");
        assert!(market.feeds.next_deadline().unwrap() <= at(market.millis).monotonic);
        market.until("packet 14", |it| it.events[0].ends.contains(&14));
        assert_eq!((&market.events[0].ends[..], market.events[0].gaps), (&[11, 12, 13, 14][..], 0));
    }
}

/// A custom engine: delivers packets from a queue.
#[derive(Default)]
struct QueueEngine {
    lines: Vec<LineAddress>,
    joined: Vec<bool>,
    queue: Vec<(SocketAddrV4, Vec<u8>)>,
}

impl FeedEngine for QueueEngine {
    fn open(&mut self, address: &LineAddress) -> io::Result<LineId> {
        self.lines.push(address.clone());
        self.joined.push(false);
        Ok(LineId::new(self.lines.len() - 1))
    }
    fn join(&mut self, line: LineId) -> io::Result<()> {
        self.joined[line.as_usize()] = true;
        Ok(())
    }
    fn leave(&mut self, line: LineId) -> io::Result<()> {
        self.joined[line.as_usize()] = false;
        Ok(())
    }
    fn wait(&mut self, _: Instant, _: Option<Instant>) -> io::Result<()> {
        Ok(())
    }
    fn receive(
        &mut self,
        now: Now,
        on: &mut impl FnMut(Now, Arrival<'_>),
    ) -> Result<(), EngineError> {
        for (group, bytes) in self.queue.drain(..) {
            let lines = self.lines.iter().zip(&self.joined).enumerate();
            for (number, _) in lines.filter(|(_, (line, joined))| **joined && line.group == group) {
                let (line, source) = (LineId::new(number), group);
                on(now, Arrival { line, source, timestamp: Timestamp::None, bytes: &bytes });
            }
        }
        Ok(())
    }
}

#[test]
fn custom_engine_is_told_which_lines_to_join() {
    let addresses = channel(14_310, 1);
    let mut feeds = FeedHandlers::new(QueueEngine::default());
    let handler = feeds.add(small(), &addresses).unwrap();
    let mut events = SharedListener(RecordedEvents::default());
    let turn = |feeds: &mut FeedHandlers<QueueEngine>,
                events: &mut SharedListener<RecordedEvents>,
                millis,
                queue: &[_]| {
        feeds.engine_mut().queue.extend_from_slice(queue);
        feeds.process(at(millis), events).unwrap();
    };
    let entry = |to: &Lines, packet: PacketBuilder| (address(to), packet.bytes().to_vec());
    assert_eq!(feeds.engine().joined, [true, true, false]);
    turn(
        &mut feeds,
        &mut events,
        1,
        &[
            entry(&addresses.incremental, packet(10).heartbeat()),
            entry(&addresses.instrument, packet(1).definition(7, 1, 10)),
        ],
    );
    assert_eq!(feeds.engine().joined, [true, false, true]);
    let snapshot = packet(1).snapshot(7, 10, 1, 0, &[]);
    turn(&mut feeds, &mut events, 2, &[entry(&addresses.snapshot, snapshot)]);
    assert_eq!(feeds.engine().joined, [true, false, false]);
    turn(&mut feeds, &mut events, 3, &[entry(&addresses.incremental, quote(7, 11, 1, 100))]);
    assert_eq!(
        (&events.0.ends[..], feeds.channel(handler).state()),
        (&[11][..], ChannelState::InSync)
    );
    // The next deadline is an eighth of the 30 s after which the channel reports a silent line. An
    // engine with its own clock could have an earlier one.
    assert_eq!(feeds.next_deadline(), Some(at(1 + 3_750).monotonic));
}

#[test]
fn group_may_have_its_own_interface() {
    let mut addresses = channel(14_310, 1);
    let other = Ipv4Addr::new(10, 0, 0, 2);
    let same_group = Group::from(address(&addresses.incremental)).on(other);
    addresses.incremental.b = Some(same_group);
    let mut feeds = FeedHandlers::new(QueueEngine::default());
    feeds.add(small(), &addresses).unwrap();
    let interfaces: Vec<Ipv4Addr> =
        feeds.engine().lines.iter().map(|line| line.interface).collect();
    let here = Ipv4Addr::LOCALHOST;
    assert_eq!(interfaces, [here, other, here, here]);
    assert_eq!(feeds.lines(feeds.channels().next().unwrap().0).nth(1).unwrap().side, FeedLine::B);
    let _: Utc = at(0).utc;
}

#[test]
fn tap_receives_every_packet_of_joined_lines() {
    let mut addresses = channel(14_310, 1);
    addresses.incremental.b = Some(group(14_310, 9).into());
    let mut seen = Vec::new();
    let engine =
        TappedEngine::new(QueueEngine::default(), |line: &LineAddress, at, arrival: &_| {
            let Arrival { bytes, .. } = arrival;
            let _: Now = at;
            seen.push((line.group, bytes.len()));
        });
    let mut feeds = FeedHandlers::new(engine);
    let handler = feeds.add(small(), &addresses).unwrap();
    // The same packet on both sides, and one packet of a feed that is not joined.
    let heartbeat = packet(10).heartbeat().bytes().to_vec();
    let sides = [address(&addresses.incremental), group(14_310, 9)];
    let queue = [sides[0], sides[1], address(&addresses.snapshot)];
    let queue = queue.map(|to| (to, heartbeat.clone()));
    feeds.engine_mut().engine_mut().queue.extend(queue);
    feeds.process(at(1), &mut [()]).unwrap();
    assert_eq!(feeds.channel(handler).counters().duplicates, 1);
    drop(feeds);
    assert_eq!(seen, sides.map(|side| (side, heartbeat.len())));
}
