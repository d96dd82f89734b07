//! Two connections of `hairpin-tcp`.

use hairpin_tcp::{Listener, Verdict};
use hairpin_time::Instant;

use crate::host::{FRAME, Host, Shape};
use crate::{MESSAGE, Pair, START};

pub(crate) struct Engines {
    ends: [Host; 2],
    frame: Box<[u8; FRAME]>,
}

/// The last message received.
struct Received([u8; MESSAGE]);

impl Listener for Received {
    fn on_data(&mut self, _: Instant, bytes: &[u8]) -> usize {
        self.0.copy_from_slice(bytes);
        bytes.len()
    }
}

impl Engines {
    pub(crate) fn new() -> Self {
        let ends = [0, 1].map(|end| Host::new(START, &Shape::USUAL, end));
        Self { ends, frame: Box::new([0; FRAME]) }
    }

    /// Sends a message in one segment. Returns what the other end received.
    #[inline]
    fn send(&mut self, now: Instant, from: usize, message: &[u8; MESSAGE]) -> [u8; MESSAGE] {
        let length = self.ends[from].send_into(now, message, &mut self.frame[..]).unwrap();
        let mut received = Received([0; MESSAGE]);
        let verdict = self.ends[1 - from].handle(now, &self.frame[..length], &mut received);
        assert_eq!(verdict, Some(Verdict::Handled));
        received.0
    }
}

impl Pair for Engines {
    #[inline]
    fn round_trip(&mut self, now: Instant, message: &[u8; MESSAGE]) -> [u8; MESSAGE] {
        let received = self.send(now, 0, message);
        self.send(now, 1, &received)
    }

    fn measured_round_trip(&mut self, now: Instant, message: &[u8; MESSAGE]) -> [u8; MESSAGE] {
        measured_round_trip(self, now, message)
    }
}

#[inline(never)]
fn measured_round_trip(ends: &mut Engines, now: Instant, message: &[u8; MESSAGE]) -> [u8; MESSAGE] {
    ends.round_trip(now, message)
}
