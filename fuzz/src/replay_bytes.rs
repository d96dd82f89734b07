//! Arbitrary output of a replay server, split anywhere.
//!
//! Checks:
//!
//! - No bytes make a request panic or prevent its end.
//! - The delivered packets are in the requested range, in order and each once.
//! - The request ends exactly when the last packet has arrived.
//!
//! Input: the first requested packet, the number of packets, a count of chunk sizes, the sizes, a
//! flag for a login at the start, and the server's output.

use hairpin_feed_handler::{ReplayRequest, ReplaySettings};
use hairpin_mdp3::PacketHeader;
use hairpin_time::{Instant, Utc};

use crate::Seed;
use crate::script::Script;

const LOGIN: [u8; 25] =
    [23, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11, 0, 1, 0, 15, 0, 1, 0, 13, 0, 30];

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let first = 1 + u32::from(script.byte());
    let last = first + u32::from(script.below(8));
    let count = usize::from(script.below(8));
    let sizes = script.bytes(count);
    let login: &[u8] = if script.flag() { &LOGIN } else { &[] };
    let stream = [login, script.0].concat();
    let settings = ReplaySettings { max_packet: 256, ..ReplaySettings::default() };
    let request = ReplayRequest::new(&settings, "310", "310-1", (first, last), Instant::ZERO);
    let mut request = request.expect("the range is valid");
    request.handle_connected(Instant::ZERO);
    assert!(request.poll_transmit().is_some_and(|logon| logon.starts_with(b"9=")));
    let (mut rest, mut sizes) = (&stream[..], sizes.iter().cycle());
    let mut next = first;
    while !rest.is_empty() {
        let size = sizes.next().map_or(rest.len(), |&size| usize::from(size) + 1);
        let (chunk, behind) = rest.split_at(size.min(rest.len()));
        rest = behind;
        let outcome = request.handle_bytes(Instant::ZERO, chunk, |packet| {
            let (header, _) = PacketHeader::decode(packet).expect("a packet has a header");
            assert!((next..=last).contains(&header.sequence));
            next = header.sequence + 1;
        });
        assert_eq!((request.next(), request.is_complete()), (next, next > last));
        if let Err(error) = outcome {
            assert!(!error.to_string().contains(['\n', '\r']), "{error}");
            return;
        }
    }
}

/// Returns a server that sends the packets, one that rejects, and one that is not a replay server.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let packet = |sequence: u32, template: u8, body: &[u8]| {
        let header = PacketHeader { sequence, sending_time: Utc::EPOCH }.encode();
        let length = body.len() as u8;
        let message = [10 + length, 0, length, 0, template, 0, 1, 0, 13, 0];
        let packet = [&header[..], &message, body].concat();
        [&(packet.len() as u16).to_le_bytes()[..], &packet].concat()
    };
    let served: Vec<u8> = (7..=9).flat_map(|sequence| packet(sequence, 12, &[])).collect();
    let refused = packet(2, 16, &[b'n'; 180]);
    let seed = |name: &str, head: &[u8], stream: &[u8]| (name.to_owned(), [head, stream].concat());
    vec![
        seed("served", &[6, 2, 0, 1], &served),
        seed("in-pieces", &[6, 2, 2, 4, 9, 1], &served),
        seed("refused", &[6, 2, 0, 1], &refused),
        seed("no-login", &[6, 2, 0, 0], &served),
    ]
}
