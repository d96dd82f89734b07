use hairpin_cme_codecs::mdp3::{AdminLogin15, AdminLogout16};
use hairpin_sbe::MessageHeader;
use hairpin_time::{Duration, Instant, Utc};

use super::*;

/// Builds a FIX message with this body; `|` ends a field.
pub(super) fn message(body: &str) -> Vec<u8> {
    let mut bytes = format!("9={}|{body}", body.len()).replace('|', "\u{1}").into_bytes();
    let sum = bytes.iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte));
    bytes.extend_from_slice(format!("10={sum:03}\u{1}").as_bytes());
    bytes
}

const LOGON: &str = "35=A|553=CME|554=CME|";
const NOW: Now = Now { monotonic: Instant::ZERO, utc: Utc::from_nanos(77) };

fn server(packets: u32, capacity: u32) -> ReplayServer {
    let settings = ReplaySettings { packets: capacity, sessions: 2, ..ReplaySettings::default() };
    let mut server = ReplayServer::new(settings);
    (1..=packets).for_each(|n| server.store(n, &packet(n)));
    server
}

/// Returns a packet whose contents depend on its number.
fn packet(sequence: u32) -> Vec<u8> {
    let mut bytes = sequence.to_le_bytes().to_vec();
    bytes.resize(12 + 10 + sequence as usize % 900, 0xAB);
    bytes
}

fn request(begin: u32, end: u32) -> String {
    format!("35=V|1180=310|262=310-1|1182={begin}|1183={end}|")
}

/// Returns the packets that a connection sends for these messages, transferred `step` bytes at a
/// time.
fn exchange(server: &mut ReplayServer, messages: &[&str], step: usize) -> Vec<Vec<u8>> {
    let id = server.handle_connected(Instant::ZERO).unwrap();
    let mut stream = Vec::new();
    let mut drain = |server: &mut ReplayServer| {
        while let Some(bytes) = server.poll_transmit(NOW, id) {
            let count = bytes.len().min(step);
            stream.extend_from_slice(&bytes[..count]);
            server.handle_sent(id, count);
        }
    };
    for body in messages {
        for piece in message(body).chunks(step) {
            server.handle_bytes(id, piece);
        }
        drain(server);
    }
    assert!(server.is_finished(id) || messages.len() < 2);
    server.handle_closed(id);
    let mut packets = Vec::new();
    let mut rest = &stream[..];
    while !rest.is_empty() {
        let (length, tail) = rest.split_first_chunk::<2>().unwrap();
        let (packet, tail) = tail.split_at(usize::from(u16::from_le_bytes(*length)));
        packets.push(packet.to_vec());
        rest = tail;
    }
    packets
}

fn header(packet: &[u8]) -> (u32, MessageHeader, &[u8]) {
    let sequence = u32::from_le_bytes(packet[..4].try_into().unwrap());
    assert_eq!(packet[4..12], 77_u64.to_le_bytes());
    assert_eq!(usize::from(u16::from_le_bytes([packet[12], packet[13]])), packet.len() - 12);
    let (header, body) = MessageHeader::decode(&packet[14..]).unwrap();
    (sequence, header, body)
}

fn sequence_of(packet: &[u8]) -> u32 {
    header(packet).0
}

fn logout_text(packet: &[u8]) -> String {
    let (_, header, body) = header(packet);
    let mut scratch = AdminLogout16::SCRATCH;
    let message = AdminLogout16::decode(&header, body, &mut scratch).unwrap();
    message.text().to_string()
}

#[test]
fn answers_a_request_with_login_packets_and_logout() {
    for step in [1, 7, 4_096] {
        let mut server = server(20, 64);
        let packets = exchange(&mut server, &[LOGON, &request(7, 9)], step);
        let (sequence, header, _) = header(&packets[0]);
        assert_eq!((sequence, header.template_id), (1, AdminLogin15::TEMPLATE_ID));
        assert_eq!(packets[1..4], [packet(7), packet(8), packet(9)]);
        assert_eq!((packets.len(), logout_text(&packets[4])), (5, String::new()));
        assert_eq!(sequence_of(&packets[4]), 2, "the service numbers its own packets");
        let counters = server.counters();
        assert_eq!((counters.requests, counters.packets, counters.rejected), (1, 3, 0));
    }
}

#[test]
fn limits_a_request_to_two_thousand_packets() {
    let mut server = server(2_500, 4_096);
    let packets = exchange(&mut server, &[LOGON, &request(11, 2_010)], 4_096);
    assert_eq!(packets.len(), 2_002);
    assert!(packets[1..2_001].iter().zip(11..).all(|(bytes, n)| *bytes == packet(n)));
    let packets = exchange(&mut server, &[LOGON, &request(11, 2_011)], 4_096);
    assert_eq!(logout_text(&packets[1]), ReplayReject::TooMany.to_string());
}

#[test]
fn rejects_invalid_requests_with_the_reason() {
    use ReplayReject::{Channel, Credentials, Malformed, Range, Unavailable, Unexpected};
    let wrong = "35=A|553=CME|554=other|";
    let unknown = "35=A|553=other|554=CME|";
    let other = "35=V|1180=311|262=x|1182=7|1183=9|";
    let nothing = "35=V|1180=310|262=x|1183=9|";
    for (messages, reason) in [
        (vec![wrong], Credentials),
        (vec![unknown], Credentials),
        (vec![&*request(7, 9)], Unexpected),
        (vec![LOGON, LOGON], Unexpected),
        (vec![LOGON, other], Channel),
        (vec![LOGON, nothing], Range),
        (vec![LOGON, &*request(9, 7)], Range),
        (vec![LOGON, &*request(0, 7)], Range),
        (vec![LOGON, &*request(1, 12)], Unavailable),
        (vec![LOGON, &*request(15, 21)], Unavailable),
        (vec![LOGON, "x=1|"], Malformed),
    ] {
        // Packets 11 to 20 are stored.
        let mut server = server(20, 10);
        let packets = exchange(&mut server, &messages, 4_096);
        assert_eq!(logout_text(packets.last().unwrap()), reason.to_string(), "{messages:?}");
        let counters = server.counters();
        assert_eq!((counters.rejected, counters.packets, counters.refused), (1, 0, 0));
        assert_eq!(counters.requests, 0, "no request was served: {messages:?}");
    }
}

#[test]
fn message_that_is_rejected_replaces_no_answer_before_it() {
    for (body, reason) in [
        (&*request(10, 11), ReplayReject::SecondRequest),
        (LOGON, ReplayReject::Unexpected),
        ("35=5|\u{cf}|", ReplayReject::Malformed),
    ] {
        let mut server = server(20, 64);
        let id = server.handle_connected(Instant::ZERO).unwrap();
        for body in [LOGON, &request(7, 9), body, "35=5|"] {
            server.handle_bytes(id, &message(body));
        }
        let packets: Vec<_> = std::iter::from_fn(|| next(&mut server, id)).collect();
        assert_eq!(packets[1..4], [packet(7), packet(8), packet(9)], "{body}");
        assert_eq!((packets.len(), logout_text(&packets[4])), (5, reason.to_string()), "{body}");
        assert_eq!(server.counters().rejected, 1, "{body}");
    }
    // The logon is answered too.
    let mut server = server(20, 64);
    let id = server.handle_connected(Instant::ZERO).unwrap();
    [LOGON, LOGON].iter().for_each(|body| server.handle_bytes(id, &message(body)));
    let packets: Vec<_> = std::iter::from_fn(|| next(&mut server, id)).collect();
    assert_eq!(header(&packets[0]).1.template_id, AdminLogin15::TEMPLATE_ID);
    assert_eq!(logout_text(&packets[1]), ReplayReject::Unexpected.to_string());
}

/// Returns the next packet of a connection.
fn next(server: &mut ReplayServer, id: ReplayId) -> Option<Vec<u8>> {
    let bytes = server.poll_transmit(NOW, id)?[2..].to_vec();
    server.handle_sent(id, 2 + bytes.len());
    Some(bytes)
}

#[test]
fn sends_requested_packets_after_a_client_logout() {
    let mut server = server(20, 64);
    let id = server.handle_connected(Instant::ZERO).unwrap();
    for body in [LOGON, &request(7, 9), "35=5|"] {
        server.handle_bytes(id, &message(body));
    }
    let packets: Vec<_> = std::iter::from_fn(|| next(&mut server, id)).collect();
    assert_eq!(packets[1..4], [packet(7), packet(8), packet(9)]);
    assert_eq!((packets.len(), logout_text(&packets[4])), (5, String::new()));
    assert_eq!(server.counters().rejected, 0);
}

#[test]
fn rejects_packets_overwritten_during_the_replay() {
    let mut server = server(20, 10);
    let id = server.handle_connected(Instant::ZERO).unwrap();
    for body in [LOGON, &request(11, 20)] {
        server.handle_bytes(id, &message(body));
    }
    next(&mut server, id).unwrap();
    assert_eq!(next(&mut server, id), Some(packet(11)));
    // Packets 12 to 15 are overwritten.
    (21..=25).for_each(|n| server.store(n, &packet(n)));
    let last = next(&mut server, id).unwrap();
    assert_eq!(logout_text(&last), ReplayReject::Unavailable.to_string());
    assert_eq!((next(&mut server, id), server.is_finished(id)), (None, true));
    assert_eq!((server.counters().packets, server.counters().rejected), (1, 1));
}

#[test]
fn rejects_an_overlong_request() {
    let mut server = server(1, 1);
    let id = server.handle_connected(Instant::ZERO).unwrap();
    server.handle_bytes(id, &[b'9'; 100_000]);
    let bytes = server.poll_transmit(NOW, id).unwrap();
    assert_eq!(logout_text(&bytes[2..]), ReplayReject::Malformed.to_string());
}

#[test]
fn logout_without_a_request_ends_the_session() {
    let mut server = server(1, 1);
    let packets = exchange(&mut server, &[LOGON, "35=5|"], 4_096);
    assert_eq!((packets.len(), logout_text(&packets[1])), (2, String::new()));
    assert_eq!(server.counters().rejected, 0);
}

#[test]
fn counts_refused_only() {
    let mut server = server(1, 1);
    for _ in 0..2 {
        server.handle_connected(Instant::ZERO).unwrap();
    }
    assert_eq!(server.handle_connected(Instant::ZERO), None);
    let expected = ReplayCounters { connections: 2, refused: 1, ..ReplayCounters::default() };
    assert_eq!(*server.counters(), expected);
    server.handle_closed(ReplayId(0));
    assert_eq!(server.handle_connected(Instant::ZERO), Some(ReplayId(0)));
}

#[test]
fn counts_idle_closed_only() {
    let mut server = server(1, 1);
    let id = server.handle_connected(Instant::ZERO);
    assert_eq!(server.close_idle(), id);
    let expected = ReplayCounters { connections: 1, idle_closed: 1, ..ReplayCounters::default() };
    assert_eq!(*server.counters(), expected);
}

#[test]
fn counts_timeouts_only() {
    let mut server = server(1, 1);
    let id = server.handle_connected(Instant::ZERO);
    assert_eq!(server.handle_timeout(Instant::ZERO + Duration::from_secs(10)), id);
    let expected = ReplayCounters { connections: 1, timeouts: 1, ..ReplayCounters::default() };
    assert_eq!(*server.counters(), expected);
}

#[test]
fn counts_rejected_only() {
    let mut server = server(1, 1);
    exchange(&mut server, &["35=Z|"], 4_096);
    let expected = ReplayCounters { connections: 1, rejected: 1, ..ReplayCounters::default() };
    assert_eq!(*server.counters(), expected);
}

/// CME's Global TCP Recovery schema has the blocks of the core messages and other ids.
#[test]
fn foreign_schema_has_other_ids_and_the_same_blocks() {
    let mut packets = [ReplaySchema::Core, ReplaySchema::Foreign].map(|schema| {
        let settings = ReplaySettings { packets: 64, schema, ..ReplaySettings::default() };
        let mut server = ReplayServer::new(settings);
        (1..=5).for_each(|n| server.store(n, &packet(n)));
        let replayed = exchange(&mut server, &[LOGON, &request(2, 3)], 4_096);
        let rejected = exchange(&mut server, &["35=A|553=CME|554=WRONG|"], 4_096);
        [replayed, rejected].concat()
    });
    assert_eq!(packets[0].len(), 5);
    // Replayed packets are those of the feed.
    assert_eq!([&packets[1][1], &packets[1][2]], [&packet(2), &packet(3)]);
    let foreign = |packet: &[u8]| {
        let (_, header, _) = header(packet);
        (header.schema_id, header.template_id, header.version, header.block_length)
    };
    let ids = [0, 3, 4].map(|place| foreign(&packets[1][place]));
    assert_eq!(ids, [(9_999, 9_915, 1, 1), (9_999, 9_916, 1, 180), (9_999, 9_916, 1, 180)]);
    // Only the ids differ.
    for place in [0, 3, 4] {
        for packets in &mut packets {
            packets[place][16..22].fill(0);
        }
    }
    assert_eq!(packets[0], packets[1]);
}

#[test]
fn oldest_connection_without_a_logon_gives_way() {
    let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
    let mut server = server(5, 64);
    let [first, second] = [0, 1].map(|seconds| server.handle_connected(at(seconds)).unwrap());
    assert!(!server.has_room());
    // A connection that has logged on never gives way.
    server.handle_bytes(first, &message(LOGON));
    assert_eq!(server.close_idle(), Some(second));
    let third = server.handle_connected(at(2)).unwrap();
    assert_eq!((third, server.close_idle()), (second, Some(second)));
    server.handle_connected(at(3)).unwrap();
    server.handle_bytes(second, &message(LOGON));
    assert_eq!((server.close_idle(), server.handle_connected(at(4))), (None, None));
}

#[test]
fn request_must_arrive_in_time() {
    let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
    let mut server = server(5, 64);
    let [silent, requesting] = [0, 1].map(|seconds| server.handle_connected(at(seconds)).unwrap());
    server.handle_bytes(silent, &message(LOGON));
    server.handle_bytes(requesting, &message(LOGON));
    server.handle_bytes(requesting, &message(&request(1, 2)));
    assert_eq!((server.poll_timeout(), server.handle_timeout(at(9))), (Some(at(10)), None));
    assert_eq!(server.handle_timeout(at(10)), Some(silent));
    assert_eq!((server.handle_timeout(at(99)), server.poll_timeout()), (None, None));
}
