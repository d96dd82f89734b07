//! Arbitrary words as the record of a connection, which a dead program has left to the keeper.
//!
//! Checks:
//!
//! - No words make the parser panic.
//! - The bytes of an accepted record are within the rings, in order: acknowledged, sent, queued.
//! - A connection can continue from an accepted record, so that its numbers are consistent.
//! - The three positions of the send ring bound each other.

use hairpin_tcp::{Config, Connection, Rings, Snapshot, SnapshotError};
use hairpin_time::Instant;

use crate::Seed;
use crate::keeper_record_of_stack::{Phase, Record};

const SEND: usize = 1 << 17;
const RECEIVE: usize = 1 << 23;

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut words = [0; 16];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
    }
    let Ok(record) = Record::parse(&words, SEND, RECEIVE) else { return };
    if record.phase != Phase::Bypassing {
        return;
    }
    let (in_flight, queued) = (record.in_flight() as usize, record.queued() as usize);
    assert!(in_flight <= queued && queued <= SEND);
    assert!(record.receive_window() as usize <= RECEIVE);
    let numbers = &record.numbers;
    let snapshot = Snapshot {
        send_unacknowledged: numbers.send_unacknowledged,
        send_next: numbers.send_next,
        send_window: record.send_window(),
        send_window_max: numbers.send_window_max,
        send_window_update: numbers.send_window_update,
        receive_next: numbers.receive_next,
        receive_window: record.receive_window(),
        send_scale: 14,
        receive_scale: 14,
        segment_size: u16::try_from(record.segment_size).expect("checked"),
        selective: true,
        timestamps: None,
        round_trip: None,
    };
    let (mut send, mut receive) = (vec![0; SEND], vec![0; RECEIVE]);
    let mut rings = Rings { send: &mut send, receive: &mut receive };
    let unacknowledged = vec![0; in_flight];
    let now = Instant::ZERO;
    match Connection::new(now, &snapshot, &unacknowledged, Config::default(), &mut rings) {
        Ok(connection) => assert_eq!(connection.in_flight(), in_flight),
        // More segments than the scoreboard has room for.
        Err(error) => assert_eq!(error, SnapshotError::Unacknowledged),
    }
    for position in [1, 2, 3] {
        let mut far = words;
        far[position] ^= 1 << 30;
        assert!(Record::parse(&far, SEND, RECEIVE).is_err());
    }
}

/// Returns the initial corpus.
pub fn seeds() -> Vec<Seed> {
    let record = |phase: u32, una: u32, in_flight: u32, queued: u32| {
        let (next, end) = (una.wrapping_add(in_flight), una.wrapping_add(queued));
        let edge = una.wrapping_add(64_240);
        let words = [phase, una, next, end, edge, 65_535, 9, 7, 65_000, 3, 1_460, 1, 0, 0, 0, 0];
        words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()
    };
    [
        ("free", record(0, 0, 0, 0)),
        ("bypassing", record(1, u32::MAX - 100, 1_460, 4_000)),
        ("full", record(1, 17, 1 << 17, 1 << 17)),
        ("no-phase", record(2, 17, 100, 300)),
        ("garbage", vec![0xA5; 64]),
    ]
    .map(|(name, bytes)| (name.to_string(), bytes))
    .to_vec()
}
