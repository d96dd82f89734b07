//! What a pong does between a ping's arrival and its answer: nothing, unless it is told to be slow.

use hairpin_time::{Duration, Instant};
use serde::{Deserialize, Serialize};

/// How slow a pong is to be, for those who test what measures it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Slowness {
    /// Each answer leaves so many nanoseconds after its ping arrived.
    pub(crate) delay_ns: u64,
    /// Now and then nothing is done for a while.
    pub(crate) stall: Option<Stall>,
}

/// A program that stops now and then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stall {
    /// For so many milliseconds ...
    pub(crate) length_ms: u64,
    /// ... so often, counted from the first ping.
    pub(crate) every_ms: u64,
}

/// When answers may leave.
#[derive(Debug, Clone)]
pub(crate) struct ResponseDelay {
    slowness: Slowness,
    next_stall: Option<Instant>,
}

impl ResponseDelay {
    pub(crate) fn new(slowness: Slowness) -> Self {
        Self { slowness, next_stall: None }
    }

    /// Whether every answer leaves at once.
    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.slowness == Slowness { delay_ns: 0, stall: None }
    }

    /// When the answer to a ping that is read at `now` may leave. A stall begins with the first
    /// ping after its time.
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
    fn a_quick_pong_answers_at_once() {
        let mut pause = ResponseDelay::new(Slowness::default());
        assert!(pause.is_none());
        assert_eq!(pause.answer_at(at(5)), at(5));
    }

    #[test]
    fn a_delay_is_the_same_for_every_answer() {
        let mut pause = ResponseDelay::new(Slowness { delay_ns: 2_000_000, stall: None });
        assert!(!pause.is_none());
        assert_eq!([1, 2, 3].map(|ms| pause.answer_at(at(ms))), [at(3), at(4), at(5)]);
    }

    #[test]
    fn a_stall_comes_once_in_its_time() {
        let stall = Some(Stall { length_ms: 10, every_ms: 1_000 });
        let mut pause = ResponseDelay::new(Slowness { delay_ns: 0, stall });
        let times = [500, 1_499, 1_500, 1_511, 2_499, 2_501, 2_512, 3_500, 9_000, 9_011];
        let answered = [500, 1_499, 1_510, 1_511, 2_499, 2_511, 2_512, 3_510, 9_010, 9_011];
        assert_eq!(times.map(|ms| pause.answer_at(at(ms))), answered.map(at));
    }
}
