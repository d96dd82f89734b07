//! A channel over real multicast on the loopback interface.

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::str::FromStr;

use crate::market::{Market, RecordedEvents, quote};
use crate::packets::packet;
use hairpin_endpoint::UdpSender;
use hairpin_feed_handler::{
    ChannelState, Feed, FeedHandler, FeedLine, Group, LateJoin, Lines, Multicast, Settings,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant};

/// Creates a market with groups that no other test of this program uses.
fn market(wait: Wait, number: u8) -> Market<'static> {
    market_with(Settings::default(), wait, number)
}

fn market_with(settings: Settings, wait: Wait, number: u8) -> Market<'static> {
    let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let [.., high, low] = std::process::id().to_be_bytes();
    let group = |index: u8| {
        let address = Ipv4Addr::new(239, 192, high, low);
        SocketAddrV4::new(address, port.wrapping_add(u16::from(index)))
    };
    let base = number * 6;
    let group = |index| Group::new(group(index), &[Ipv4Addr::LOCALHOST]);
    let lines = |first: u8| Lines::both(group(base + first), group(base + first + 1));
    let addresses = Multicast {
        incremental: lines(0),
        instrument: lines(2),
        snapshot: Lines::only_a(group(base + 4)),
        snapshot_orders: Lines::default(),
        interface: Ipv4Addr::LOCALHOST,
        transport: Default::default(),
        replay: None,
    };
    let settings = Settings { max_instruments: 8, silence: Duration::ZERO, ..settings };
    Market::open(settings, wait, addresses, |to| {
        UdpSender::new(to, Ipv4Addr::LOCALHOST, 0).unwrap()
    })
}

fn joins_late_and_arbitrates(wait: &str, number: u8) {
    let mut market = market(Wait::from_str(wait).unwrap(), number);
    market.come_in_sync();
    market.arbitrate();
    assert_eq!(market.events.best_bids.len(), 3);
    assert!(market.events.best_bids.is_sorted());

    // In sync the channel has joined the incremental feed only.
    let lines = market.addresses.clone();
    let before = market.handler.statistics().packets;
    market.send(&lines.snapshot.a, &packet(1).snapshot(7, 13, 1, 3, &[]));
    market.send(&lines.instrument.a, &packet(1).definition(7, 1, 10));
    market.send(&lines.incremental.a, &packet(14).heartbeat());
    market.until("packet 14", |handler, _| handler.statistics().packets > before);
    let statistics = market.handler.statistics();
    assert_eq!(statistics.packets, before + 1);
    assert_eq!((statistics.kernel_drops, statistics.truncated), (0, 0));
    assert!(market.handler.least_receive_buffer() > Some(0));
}

#[test]
fn joins_late_and_arbitrates_under_block() {
    joins_late_and_arbitrates("block", 0);
}

#[test]
fn joins_late_and_arbitrates_under_poll() {
    joins_late_and_arbitrates("poll", 1);
}

#[test]
fn joins_late_and_arbitrates_under_epoll() {
    joins_late_and_arbitrates("epoll", 2);
}

#[test]
fn joins_late_and_arbitrates_under_spin() {
    joins_late_and_arbitrates("spin", 3);
}

#[test]
fn loss_on_both_sides_is_a_gap_and_rejoins_snapshots() {
    let mut market = market(Wait::Epoll, 4);
    market.come_in_sync();
    let lines = market.addresses.clone();
    market.send(&lines.incremental.a, &quote(11, 1, 100));
    // Packet 12 is lost on both sides.
    market.send(&lines.incremental.a, &quote(13, 3, 102));
    market.send(&lines.incremental.b, &quote(13, 3, 102));
    market.until("the gap", |_, events| events.gaps == 1);
    let levels = [(b'0', 1, 101, 5)];
    market.send(&lines.snapshot.a, &packet(1).snapshot(7, 13, 1, 3, &levels));
    market.until("recovery", |handler, _| handler.channel().state() == ChannelState::InSync);
    let book = market.handler.channel().book_of(7).unwrap();
    assert!(book.is_in_sync());
    assert_eq!(book.bids().len(), 1);
}

/// Side A loses one packet, while both sides have more packets buffered than one call reads.
fn reads_the_other_side_before_declaring_a_gap(
    settings: Settings,
    lost: u32,
    (wait, number): (Wait, u8),
) {
    let mut market = market_with(settings, wait, number);
    market.come_in_sync();
    let lines = market.addresses.clone();
    market.events = RecordedEvents::default();
    for sequence in 11..=1_010 {
        if sequence != lost {
            let price = i64::from(sequence);
            market.send(&lines.incremental.a, &quote(sequence, sequence - 10, price));
        }
    }
    for sequence in 11..=1_010 {
        let price = i64::from(sequence);
        market.send(&lines.incremental.b, &quote(sequence, sequence - 10, price));
    }
    market.until("the last packet", |_, events| events.ends.len() == 1_000);
    assert!(market.events.ends.iter().copied().eq(11..=1_010), "{wait:?}");
    assert_eq!(market.events.gaps, 0, "{wait:?}");
}

#[test]
fn other_side_is_read_before_a_gap_is_declared() {
    for market in [(Wait::Block, 5), (Wait::Epoll, 6), (Wait::IoUring, 10)] {
        reads_the_other_side_before_declaring_a_gap(Settings::default(), 200, market);
    }
}

#[test]
fn other_side_is_read_before_the_smallest_window_is_full() {
    for market in [(Wait::Poll, 11), (Wait::IoUring, 12)] {
        // All packets that one call reads from side A are after the gap.
        reads_the_other_side_before_declaring_a_gap(Settings::conflated(), 11, market);
    }
}

/// A thread that is descheduled between its wait and the processing finds the reorder wait expired,
/// before it has read the packets that arrived meanwhile.
#[test]
fn descheduled_thread_reads_before_it_declares_a_gap() {
    for (wait, number) in [(Wait::Poll, 13), (Wait::Epoll, 14), (Wait::IoUring, 15)] {
        let mut market = market(wait, number);
        market.come_in_sync();
        let lines = market.addresses.clone();
        market.events = RecordedEvents::default();
        // Packet 12 is missing on side A.
        for sequence in [11, 13] {
            market.send(&lines.incremental.a, &quote(sequence, sequence - 10, 100));
        }
        market.until("packet 13", |handler, _| handler.channel().counters().held_packets == 1);
        // The wait has seen only side A's next packet ...
        market.send(&lines.incremental.a, &quote(14, 4, 101));
        let before = market.turns.next().monotonic;
        let soon = Some(before + Duration::from_millis(5));
        let ready = market.reactor.wait(before, soon).unwrap();
        // ... when side B's packets arrive and the reorder wait ends.
        for sequence in 11..=14 {
            market.send(&lines.incremental.b, &quote(sequence, sequence - 10, 100));
        }
        market.turns.0 += 1_000;
        let now = market.turns.next();
        market.handler.process(now, ready, &mut market.reactor, &mut market.events).unwrap();
        assert_eq!(market.events.gaps, 0, "{wait:?}");
        // The next call is due at once: unread packets are buffered.
        assert!(market.handler.next_deadline().unwrap() <= now.monotonic);
        market.until("packet 14", |_, events| events.ends.contains(&14));
        assert_eq!((&market.events.ends[..], market.events.gaps), (&[11, 12, 13, 14][..], 0));
    }
}

#[test]
fn joins_only_incremental_groups_when_in_sync() {
    let mut market = market(Wait::Poll, 7);
    let incremental = FeedLine::ALL.map(|side| (Feed::Incremental, side));
    let instrument = FeedLine::ALL.map(|side| (Feed::Instrument, side));
    assert_eq!(market.joined(), [incremental, instrument].concat());
    // A blocking wait watches one socket; recovery on other sockets needs a deadline.
    assert!(market.handler.next_deadline().is_some());
    market.come_in_sync();
    assert_eq!(market.joined(), incremental);
    // The only deadline is the interface check after silence.
    let next = market.handler.next_deadline().unwrap();
    assert!(next > market.turns.next().monotonic + Duration::from_secs(1));
    let line = market.handler.lines().next().unwrap();
    assert_eq!((line.datagrams, line.bytes), (1, 12 + 10));
    assert!(line.receive_buffer.granted > 0);
}

#[test]
fn rejects_unusable_addresses_and_leaves_no_socket() {
    let market = market(Wait::Epoll, 8);
    let mut reactor = Reactor::new(Wait::Epoll).unwrap();
    let settings = Settings { max_instruments: 8, ..Settings::default() };
    let addresses = market.addresses.clone();
    let error = FeedHandler::new(settings, Multicast::default(), &mut reactor).unwrap_err();
    assert_eq!(error.to_string(), "cannot start the feed handler: no feed has an address");
    let unusable = Multicast { interface: Ipv4Addr::new(192, 0, 2, 1), ..addresses.clone() };
    let error = FeedHandler::new(settings, unusable, &mut reactor).unwrap_err().to_string();
    assert!(error.starts_with("incremental feed, side A: ") && error.contains("192.0.2.1"));
    let unicast = SocketAddrV4::new(Ipv4Addr::new(10, 1, 2, 3), 5_000);
    let unicast = Multicast { snapshot: Lines::only_a(unicast), ..addresses.clone() };
    assert!(FeedHandler::new(settings, unicast, &mut reactor).is_err());
    assert_eq!(reactor.count(), 0, "a failure at the last of five lines closes the others");
    let handler = FeedHandler::new(settings, addresses.clone(), &mut reactor).unwrap();
    assert!(reactor.count() > 0);
    handler.close(&mut reactor).unwrap();
    assert_eq!(reactor.count(), 0);
    let ready = reactor.wait(Instant::ZERO, Some(Instant::ZERO)).unwrap();
    assert!(ready.is_empty());
}

#[test]
fn channel_without_late_join_needs_only_the_incremental_feed() {
    let market = market(Wait::Epoll, 9);
    let addresses = Multicast {
        incremental: Lines::only_a(market.addresses.incremental.a.clone().unwrap()),
        instrument: Lines::default(),
        snapshot: Lines::default(),
        snapshot_orders: Lines::default(),
        ..market.addresses.clone()
    };
    let settings =
        Settings { late_join: LateJoin::Nothing, max_instruments: 8, ..Settings::default() };
    let mut reactor = Reactor::new(Wait::Epoll).unwrap();
    let handler = FeedHandler::new(settings, addresses, &mut reactor).unwrap();
    assert_eq!(handler.channel().state(), ChannelState::InSync);
}

#[test]
fn error_names_a_unicast_group() {
    let address = SocketAddrV4::new(Ipv4Addr::new(10, 1, 2, 3), 5_000);
    let addresses = Multicast {
        incremental: Lines::only_a(address),
        instrument: Lines::default(),
        snapshot: Lines::default(),
        snapshot_orders: Lines::default(),
        interface: Ipv4Addr::LOCALHOST,
        transport: Default::default(),
        replay: None,
    };
    let mut reactor = Reactor::new(Wait::Epoll).unwrap();
    let settings =
        Settings { late_join: LateJoin::Nothing, max_instruments: 8, ..Settings::default() };
    let error = FeedHandler::new(settings, addresses, &mut reactor).unwrap_err();
    assert!(error.to_string().contains("10.1.2.3"), "{error}");
}

/// Checks that no other fault is counted.
#[track_caller]
fn assert_only(handler: &FeedHandler, name: &str) {
    let plain = ["packets", "bytes"];
    let faults = handler
        .statistics()
        .iter()
        .filter(|&(other, count)| count != 0 && other != name && !plain.contains(&other));
    assert_eq!(faults.collect::<Vec<_>>(), []);
}

#[test]
fn counts_truncated_only() {
    let mut market = market(Wait::Epoll, 10);
    let mut long = packet(1);
    long.bytes_mut().resize(2_049, 0);
    let lines = market.addresses.clone();
    market.send(&lines.incremental.a, &long);
    market.until("the packet", |handler, _| handler.statistics().packets == 1);
    assert_eq!(market.handler.statistics().truncated, 1);
    assert_only(&market.handler, "truncated");
}

#[test]
fn counts_kernel_drops_only() {
    let mut market = market(Wait::Epoll, 11);
    let mut large = packet(1);
    large.bytes_mut().resize(2_000, 0);
    let lines = market.addresses.clone();
    let granted = market.handler.least_receive_buffer().unwrap();
    // The kernel reports drops with the next datagram that it delivers.
    for _ in 0..granted / 2_000 + 1 {
        market.send(&lines.incremental.a, &large);
    }
    market.until("room", |handler, _| handler.statistics().packets > 500);
    (0..200).for_each(|_| market.send(&lines.incremental.a, &large));
    market.until("the drops", |handler, _| handler.statistics().kernel_drops > 0);
    assert_only(&market.handler, "kernel_drops");
}
