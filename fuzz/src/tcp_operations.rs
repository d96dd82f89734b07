//! Operations on two connected TCP connections, compared with two streams of bytes.
//!
//! Checks that every byte arrives once and in order, whatever the link loses, repeats or reorders,
//! and whenever a connection is moved through a snapshot; and that all bytes arrive once the link
//! loses nothing more.
//!
//! Input: steps. A step queues or reads bytes at an end, delivers, drops or repeats a frame of an
//! end, lets time pass, or moves an end.

use std::collections::VecDeque;

use hairpin_tcp::{Action, Reason};
use hairpin_time::{Duration, Instant};

use crate::Seed;
use crate::script::Script;
use crate::tcp_host::{Host, Shape};

/// The most steps of an input.
const STEPS: usize = 2_000;
/// The most rounds until all bytes have arrived. Timeouts double up to 60 s.
const ROUNDS: usize = 20_000;

/// One end: the connection, the frames that it has sent, and its streams.
struct End {
    host: Host,
    frames: VecDeque<Vec<u8>>,
    queued: u64,
    received: u64,
}

impl End {
    fn queue(&mut self, now: Instant, length: usize) {
        let bytes: Vec<u8> = (self.queued..).take(length).map(byte).collect();
        self.queued += self.host.queue(now, &bytes) as u64;
    }

    fn read(&mut self, most: usize) {
        let mut position = self.received;
        self.host.read(|part| {
            let count = part.len().min(most);
            for &found in &part[..count] {
                assert_eq!(found, byte(position), "at {position}");
                position += 1;
            }
            count
        });
        self.received = position;
    }

    fn transmit(&mut self, now: Instant) {
        while let Some(frame) = self.host.transmit(now) {
            self.frames.push_back(frame);
        }
    }
}

/// The byte of a stream at a position.
fn byte(at: u64) -> u8 {
    (at ^ at >> 8).wrapping_mul(31) as u8
}

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let shape = Shape {
        segment_size: 88 + script.word() % 1_373,
        timestamps: script.flag(),
        selective: script.flag(),
        scale: script.below(8),
        ring: 1 << (12 + script.below(5)),
        starts: [u32::MAX - 2_000, 5_000],
        ..Shape::USUAL
    };
    let mut now = Instant::from_nanos(1_000_000_000);
    let mut ends = [0, 1].map(|end| {
        let host = Host::new(now, &shape, end);
        End { host, frames: VecDeque::new(), queued: 0, received: 0 }
    });
    for _ in 0..STEPS {
        if script.is_over() {
            break;
        }
        let end = usize::from(script.flag());
        match script.below(8) {
            0 => ends[end].queue(now, usize::from(script.word())),
            1 => ends[end].read(usize::from(script.word())),
            2 => now = now + Duration::from_micros(u64::from(script.word())),
            3 => drop(ends[end].frames.pop_front()),
            4 => {
                // Repeats or reorders: a frame goes to the end of the queue.
                let repeats = script.flag();
                if let Some(frame) = ends[end].frames.pop_front() {
                    if repeats {
                        ends[end].frames.push_front(frame.clone());
                    }
                    ends[end].frames.push_back(frame);
                }
            }
            5 => ends[end].host.restore(now),
            _ => deliver(&mut ends, end, now),
        }
        proceed(&mut ends, now);
    }
    complete(&mut ends, now);
}

/// Delivers the next frame that an end has sent.
fn deliver(ends: &mut [End; 2], from: usize, now: Instant) {
    if let Some(frame) = ends[from].frames.pop_front() {
        let _ = ends[1 - from].host.handle(now, &frame, &mut ());
    }
}

/// Handles deadlines and requests, and sends what is due.
fn proceed(ends: &mut [End; 2], now: Instant) {
    for end in 0..2 {
        if ends[end].host.connection.poll_timeout().is_some_and(|at| at <= now) {
            ends[end].host.connection.handle_timeout(now);
        }
        if let Some(Action::HandBack(reason)) = ends[end].host.connection.poll_action() {
            let expected = [Reason::Timeouts, Reason::ClosedWindow, Reason::Bulk];
            assert!(expected.contains(&reason), "{reason}");
            ends[end].host.restore(now);
            if reason == Reason::ClosedWindow {
                // The kernel probes the window.
                let probe = ends[end].host.window_probe(now);
                let _ = ends[1 - end].host.handle(now, &probe, &mut ());
            }
        }
        ends[end].transmit(now);
    }
}

/// Delivers everything until all bytes have arrived.
fn complete(ends: &mut [End; 2], mut now: Instant) {
    for _ in 0..ROUNDS {
        for end in 0..2 {
            while !ends[end].frames.is_empty() {
                deliver(ends, end, now);
            }
            ends[1 - end].read(usize::MAX);
        }
        proceed(ends, now);
        let is_complete = (0..2).all(|end| ends[end].queued == ends[1 - end].received);
        if is_complete {
            return;
        }
        if ends.iter().all(|end| end.frames.is_empty()) {
            let timeouts = ends.iter().filter_map(|end| end.host.connection.poll_timeout());
            now = timeouts.min().expect("bytes are missing, and nothing is due").max(now);
            proceed(ends, now);
        }
    }
    let missing = [0, 1].map(|end| ends[end].queued - ends[1 - end].received);
    panic!("{missing:?} bytes are missing");
}

/// Returns inputs with a request, a loss, a repetition and a move.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let start = [0, 5, 1, 1, 7, 4];
    let queue = |end: u8, low: u8, high: u8| [end, 0, low, high];
    vec![
        (
            "request".to_owned(),
            [&start[..], &queue(0, 64, 0), &[0, 6], &queue(1, 32, 0), &[1, 6]].concat(),
        ),
        ("loss".to_owned(), [&start[..], &queue(0, 0, 40), &[0, 3, 0, 6, 0, 6, 1, 6]].concat()),
        (
            "repeat".to_owned(),
            [&start[..], &queue(1, 0, 20), &[1, 4, 1, 1, 6, 1, 4, 0, 1, 6]].concat(),
        ),
        (
            "move".to_owned(),
            [&start[..], &queue(0, 0, 20), &[0, 5, 0, 6, 1, 5, 0, 2, 255, 255]].concat(),
        ),
    ]
}
