//! A pcap file as the source of an engine.
use std::net::{Ipv4Addr, SocketAddrV4};

use crate::packets::{END, bid, packet};
use hairpin_endpoint::capture::{CaptureReader, Datagrams};
use hairpin_feed_handler::{
    CaptureEngine, EndOfEvent, FeedHandlers, LateJoin, Lines, Listener, Multicast, Settings, Speed,
};
use hairpin_time::{Duration, Instant, Now, Utc};

const GROUP: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(224, 0, 31, 1), 14_310);
const NOW: Now = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };

#[derive(Default)]
struct RecordedEvents(Vec<(u32, Option<Utc>)>);

impl Listener for RecordedEvents {
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        self.0.push((event.packet.sequence, event.packet.received));
    }
}

/// Returns a UDP datagram to the group as raw IPv4 or IPv6.
fn ip(is_v6: bool, payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len()) as u16;
    let mut frame = if is_v6 {
        let mut header = vec![0x60, 0, 0, 0];
        header.extend(length.to_be_bytes());
        header.extend([17, 1]);
        header.extend([0xFF; 32]);
        header
    } else {
        let mut header = vec![0x45, 0];
        header.extend((20 + length).to_be_bytes());
        header.extend([0, 0, 0, 0, 1, 17, 0, 0, 10, 0, 0, 1]);
        header.extend(GROUP.ip().octets());
        header
    };
    frame.extend([0, 1]);
    frame.extend(GROUP.port().to_be_bytes());
    frame.extend(length.to_be_bytes());
    frame.extend([0, 0]);
    frame.extend(payload);
    frame
}

/// Returns a pcap file of raw IP with one frame per second.
fn pcap(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file: Vec<u8> =
        [0xA1B2_C3D4_u32, 0x0004_0002, 0, 0, 65_535, 101].map(u32::to_le_bytes).concat();
    for (second, frame) in (1_767_225_600_u32..).zip(frames) {
        let length = frame.len() as u32;
        file.extend([second, 7, length, length].map(u32::to_le_bytes).concat());
        file.extend(frame);
    }
    file
}

fn play(file: &[u8]) -> (Vec<(u32, Option<Utc>)>, Option<String>) {
    let source = Datagrams::new(CaptureReader::new(file).unwrap());
    let mut feeds = FeedHandlers::new(CaptureEngine::new(source, Speed::FlatOut));
    let addresses = Multicast { incremental: Lines::only_a(GROUP), ..Multicast::default() };
    let settings =
        Settings { late_join: LateJoin::Nothing, max_instruments: 8, ..Settings::default() };
    feeds.add(settings, &addresses).unwrap();
    let (mut events, mut error) = ([RecordedEvents::default()], None);
    while !hairpin_feed_handler::FeedEngine::is_finished(feeds.engine()) {
        if let Err(cause) = feeds.process(NOW, &mut events) {
            error = Some(cause.to_string());
        }
    }
    let [RecordedEvents(ends)] = events;
    (ends, error)
}

#[test]
fn pcap_file_is_a_source_and_ipv6_is_skipped() {
    let quote = |sequence| packet(sequence).book(END, &[bid(7, sequence).add(1, 100, 5)]);
    let (first, second) = (quote(1), quote(2));
    let file =
        pcap(&[ip(false, first.bytes()), ip(true, first.bytes()), ip(false, second.bytes())]);
    let (ends, error) = play(&file);
    let start = Utc::from_nanos(1_767_225_600_000_007_000);
    let at = |seconds| Some(start + Duration::from_secs(seconds));
    assert_eq!((ends, error), (vec![(1, at(0)), (2, at(2))], None));
    // Truncated in its last packet: earlier packets are delivered, then the error is reported.
    let (ends, error) = play(&file[..file.len() - 1]);
    assert_eq!(ends.len(), 1);
    assert!(error.is_some_and(|error| error.contains("into a packet or block")));
}
