//! Several channels on an engine do not allocate after startup: ticks, a loss and its recovery.
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};

use crate::packets::{END, PacketBuilder, YEAR_2026, bid, packet, sent_at};
use hairpin_feed_handler::{
    CaptureEngine, CaptureSource, CapturedPacket, ChannelState, FeedEngine, FeedHandlers, Lines,
    Multicast, Settings, Speed,
};
use hairpin_testbed::allocations;
use hairpin_time::{Duration, Instant, Now};

/// A capture in memory: (destination, packet), one millisecond apart.
struct Script {
    packets: Vec<(SocketAddrV4, PacketBuilder)>,
    next: usize,
}

impl CaptureSource for Script {
    fn advance(&mut self) -> io::Result<bool> {
        self.next += 1;
        Ok(self.next <= self.packets.len())
    }
    fn current(&self) -> CapturedPacket<'_> {
        let (destination, packet) = &self.packets[self.next - 1];
        let timestamp = YEAR_2026 + Duration::from_secs(60);
        CapturedPacket {
            destination: *destination,
            source: *destination,
            timestamp: timestamp + Duration::from_millis(self.next as u64),
            payload: packet.bytes(),
        }
    }
}

fn line(channel: u8, feed: u8) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::new(239, 0, channel, feed), 14_310)
}

/// Returns the packets for a late join, ticks, a loss, a snapshot, and more ticks.
fn packets_of(channel: u8) -> Vec<(SocketAddrV4, PacketBuilder)> {
    let id = i32::from(channel);
    let quote = |sequence: u32| {
        let entry = bid(id, sequence - 10).add(1, i64::from(sequence), 5);
        (line(channel, 1), packet(sequence).book(END, &[entry]))
    };
    let mut packets = vec![
        (line(channel, 1), packet(10).heartbeat()),
        (line(channel, 2), packet(1).definition(id, 1, 10)),
        (line(channel, 3), packet(1).snapshot(id, 10, 1, 0, &[])),
    ];
    packets.extend((11..500).map(quote));
    packets.extend((501..600).map(quote));
    let levels = [(b'0', 1, 599, 5)];
    packets.push((line(channel, 3), sent_at(1, 700).snapshot(id, 599, 1, 589, &levels)));
    packets.push((line(channel, 2), sent_at(1, 700).definition(id, 1, 10)));
    packets.extend((600..1_000).map(quote));
    packets
}

#[test]
fn ticks_loss_and_recovery_allocate_nothing() {
    let before = allocations();
    drop(std::hint::black_box(Box::new([0_u8; 64])));
    assert_eq!(allocations() - before, 1, "allocations are counted");

    let packets = [1, 2].into_iter().flat_map(packets_of).collect();
    let engine = CaptureEngine::new(Script { packets, next: 0 }, Speed::FlatOut);
    let mut feeds = FeedHandlers::new(engine);
    for channel in [1, 2] {
        let [incremental, instrument, snapshot] =
            [1, 2, 3].map(|feed| Lines::only_a(line(channel, feed)));
        let addresses = Multicast {
            incremental,
            instrument,
            snapshot,
            snapshot_orders: Lines::default(),
            interface: Ipv4Addr::UNSPECIFIED,
            transport: Default::default(),
            replay: None,
        };
        let settings = Settings { max_instruments: 8, ..Settings::default() };
        feeds.add(settings, &addresses).unwrap();
    }
    let now = Now { monotonic: Instant::ZERO, utc: YEAR_2026 + Duration::from_secs(3_600) };
    let before = allocations();
    while !feeds.engine().is_finished() {
        feeds.wait(now).unwrap();
        feeds.process(now, &mut [(), ()]).unwrap();
    }
    assert_eq!(allocations() - before, 0);
    for (_, channel) in feeds.channels() {
        assert_eq!(channel.counters().gaps, 1);
        assert!(channel.counters().book_entries >= 489 + 400, "{:?}", channel.counters());
        assert_eq!(channel.state(), ChannelState::InSync);
    }
}
