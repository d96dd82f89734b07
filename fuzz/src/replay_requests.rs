//! Arbitrary requests to the exchange's replay server, split anywhere.
//!
//! Checks:
//!
//! - No bytes make the server panic, on one connection or beside another.
//! - What it sends are frames of the announced length; a connection sends no more than the packets
//!   that it may request, a logon and a logout.
//! - A finished connection sends nothing.
//! - The answer does not depend on how the bytes are split, except for the reason in its last
//!   frame: an invalid message that arrives after the logout is not seen.
//!
//! Input: a count of chunk sizes, the sizes, and the bytes of the requests. `|` in a seed stands
//! for the end of a field.

use hairpin_exchange::{ReplayServer, ReplaySettings};
use hairpin_time::{Instant, Now, Utc};

use crate::Seed;
use crate::script::Script;

const NOW: Now = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };
/// The most frames of an answer: a logon, 2,000 packets, and a logout for each of both.
const MAX_FRAMES: usize = 2_010;

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let count = usize::from(script.below(8));
    let sizes = script.bytes(count);
    let [whole, pieces] = [&[][..], sizes].map(|sizes| answer(script.0, sizes));
    let [whole, pieces] = [frames(&whole), frames(&pieces)];
    assert_eq!(whole.len(), pieces.len());
    if let [before @ .., last] = &pieces[..] {
        assert_eq!(before, &whole[..before.len()]);
        // The length and the ids of the message.
        assert_eq!(last[..10], whole[before.len()][..10]);
    }
}

/// Checks the frames of an answer, and returns each without the header of its packet.
fn frames(answer: &[u8]) -> Vec<&[u8]> {
    let (mut rest, mut frames) = (answer, Vec::new());
    while let Some((length, frame)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes(*length));
        assert!(length >= 12, "a packet has a header");
        let packet;
        (packet, rest) = frame.split_at(length);
        assert!(packet.len() >= 12 + 10, "a packet has a message");
        frames.push(&packet[12..]);
    }
    assert!(rest.is_empty() && frames.len() <= MAX_FRAMES, "{} frames", frames.len());
    frames
}

/// Returns what the server sends for these bytes, in chunks of these sizes.
fn answer(bytes: &[u8], sizes: &[u8]) -> Vec<u8> {
    let mut server = ReplayServer::new(ReplaySettings { packets: 64, ..ReplaySettings::default() });
    for sequence in 5..=40_u32 {
        let message = [10, 0, 0, 0, 12, 0, 1, 0, 13, 0];
        let packet = [&sequence.to_le_bytes()[..], &[0; 8], &message].concat();
        server.store(sequence, &packet);
    }
    let id = server.handle_connected(Instant::ZERO).expect("the first connection is accepted");
    let mut answer = Vec::new();
    let (mut rest, mut sizes) = (bytes, sizes.iter().cycle());
    while !rest.is_empty() {
        let size = sizes.next().map_or(rest.len(), |&size| usize::from(size) + 1);
        let (chunk, behind) = rest.split_at(size.min(rest.len()));
        rest = behind;
        server.handle_bytes(id, chunk);
        while let Some(sent) = server.poll_transmit(NOW, id).filter(|sent| !sent.is_empty()) {
            answer.extend_from_slice(sent);
            let count = sent.len();
            server.handle_sent(id, count);
        }
        if server.is_finished(id) {
            break;
        }
    }
    server.handle_closed(id);
    answer
}

/// Returns a session that is served, requests that are refused, and broken ones.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let logon = message("35=A|553=CME|554=CME|");
    let request = message("35=V|1180=310|262=310-1|1182=7|1183=9|");
    let served = [&logon[..], &request, &message("35=5|")].concat();
    let wrong_user = message("35=A|553=x|554=y|");
    let unknown_range = [&logon[..], &message("35=V|1180=310|1182=1|1183=4294967295|")].concat();
    let broken_behind = [&logon[..], &request, b"9=5\x0135=5\x0110=1\xcf5\x01"].concat();
    let mut wrong_sum = logon.clone();
    wrong_sum[2] ^= 1;
    let seed = |name: &str, head: &[u8], bytes: &[u8]| (name.to_owned(), [head, bytes].concat());
    vec![
        seed("served", &[0], &served),
        seed("in-pieces", &[3, 1, 7, 20], &served),
        seed("wrong-user", &[0], &wrong_user),
        seed("unknown-range", &[0], &unknown_range),
        seed("wrong-sum", &[0], &wrong_sum),
        seed("broken-behind-a-request", &[3, 1, 7, 20], &broken_behind),
    ]
}

/// Returns a FIX message with this body.
fn message(body: &str) -> Vec<u8> {
    let mut bytes = format!("9={}|{body}", body.len()).replace('|', "\u{1}").into_bytes();
    let sum = bytes.iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte));
    bytes.extend_from_slice(format!("10={sum:03}\u{1}").as_bytes());
    bytes
}
