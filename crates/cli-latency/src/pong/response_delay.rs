//! Delays injected between a ping's arrival and its answer.

use hairpin_time::{Duration, Instant};
use serde::{Deserialize, Serialize};

/// The delays of a pong, to test the tools that measure it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Slowness {
    /// The delay of each answer after the arrival of its ping, in nanoseconds.
    pub(crate) delay_ns: u64,
    /// Periodic stalls.
    pub(crate) stall: Option<Stall>,
}

/// A periodic stall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stall {
    /// The length in milliseconds.
    pub(crate) length_ms: u64,
    /// The period in milliseconds, from the first ping.
    pub(crate) every_ms: u64,
}

/// Computes the send times of answers.
#[derive(Debug, Clone)]
pub(crate) struct ResponseDelay {
    slowness: Slowness,
    next_stall: Option<Instant>,
}

impl ResponseDelay {
    pub(crate) fn new(slowness: Slowness) -> Self {
        Self { slowness, next_stall: None }
    }

    /// Returns `true` if every answer is sent at once.
    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.slowness == Slowness { delay_ns: 0, stall: None }
    }

    /// Returns the time at which the answer to a ping read at `now` may be sent. A stall starts
    /// with the first ping after its due time.
    pub(crate) fn answer_at(&mut self, now: Instant) -> Instant {
        let delay = Duration::from_nanos(self.slowness.delay_ns);
        let Some(Stall { length_ms, every_ms }) = self.slowness.stall else { return now + delay };
        let every = Duration::from_millis(every_ms);
        let next = self.next_stall.get_or_insert(now + every);
        if now < *next {
            return now + delay;
        }
        while *next <= now {
            *next += every;
        }
        now + Duration::from_millis(length_ms) + delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn answers_immediately_without_delay() {
        let mut pause = ResponseDelay::new(Slowness::default());
        assert!(pause.is_none());
        assert_eq!(pause.answer_at(at(5)), at(5));
    }

    #[test]
    fn delays_every_answer_equally() {
        let mut pause = ResponseDelay::new(Slowness { delay_ns: 2_000_000, stall: None });
        assert!(!pause.is_none());
        assert_eq!([1, 2, 3].map(|ms| pause.answer_at(at(ms))), [at(3), at(4), at(5)]);
    }

    #[test]
    fn stalls_once_per_period() {
        let stall = Some(Stall { length_ms: 10, every_ms: 1_000 });
        let mut pause = ResponseDelay::new(Slowness { delay_ns: 0, stall });
        let times = [500, 1_499, 1_500, 1_511, 2_499, 2_501, 2_512, 3_500, 9_000, 9_011];
        let answered = [500, 1_499, 1_510, 1_511, 2_499, 2_511, 2_512, 3_510, 9_010, 9_011];
        assert_eq!(times.map(|ms| pause.answer_at(at(ms))), answered.map(at));
    }
}
