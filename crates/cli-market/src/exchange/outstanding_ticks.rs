//! The ticks that wait for their order.

use hairpin_time::{Duration, Instant};

/// A published tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tick {
    /// The MsgSeqNum of the incremental packet that ended its event.
    pub(crate) sequence: u32,
    /// The scheduled send time.
    pub(crate) intended: Instant,
    /// The time just before its first packet was sent.
    pub(crate) sent: Instant,
    /// `false` during warm-up.
    pub(crate) recorded: bool,
}

/// The classification of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The first order that answers this tick.
    InTime(Tick),
    /// The tick was already counted as lost.
    Late,
    /// No such tick, or answered before.
    Unexpected,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    Open,
    Lost,
}

/// A table of ticks by packet sequence, sized at start. The generator never waits for it.
pub(crate) struct OutstandingTicks {
    slots: Box<[(State, Tick)]>,
    /// The first sequence that may be open; the last is before `next`.
    oldest: u32,
    next: u32,
    open: u64,
}

const FREE: (State, Tick) = (
    State::Free,
    Tick { sequence: 0, intended: Instant::ZERO, sent: Instant::ZERO, recorded: false },
);

impl OutstandingTicks {
    /// Returns a table for at least `capacity` consecutive packet sequences.
    pub(crate) fn new(capacity: usize) -> Self {
        let slots = vec![FREE; capacity.next_power_of_two()].into_boxed_slice();
        Self { slots, oldest: 0, next: 0, open: 0 }
    }

    /// Adds a tick that was sent. Returns the open tick whose slot it takes, which is lost.
    /// Sequences must rise.
    pub(crate) fn open(&mut self, tick: Tick) -> Option<Tick> {
        assert!(tick.sequence >= self.next, "tick sequences rise");
        if self.open == 0 {
            self.oldest = tick.sequence;
        }
        self.next = tick.sequence + 1;
        let slot = self.slot(tick.sequence);
        let displaced = core::mem::replace(slot, (State::Open, tick));
        match displaced {
            (State::Open, lost) => Some(lost),
            _ => {
                self.open += 1;
                None
            }
        }
    }

    /// Classifies an order that names `sequence`.
    pub(crate) fn answer(&mut self, sequence: u32) -> Answer {
        let slot = self.slot(sequence);
        let (state, tick) = *slot;
        if tick.sequence != sequence {
            return Answer::Unexpected;
        }
        slot.0 = State::Free;
        match state {
            State::Open => {
                self.open -= 1;
                Answer::InTime(tick)
            }
            State::Lost => Answer::Late,
            State::Free => Answer::Unexpected,
        }
    }

    /// Counts the ticks as lost that were sent more than `timeout` before `now`, and returns their
    /// number.
    pub(crate) fn expire(&mut self, now: Instant, timeout: Duration) -> u64 {
        let mut lost = 0;
        while self.open > 0 && self.oldest < self.next {
            let oldest = self.oldest;
            let slot = self.slot(oldest);
            let waits = slot.0 == State::Open && slot.1.sequence == oldest;
            if waits && now.saturating_since(slot.1.sent) <= timeout {
                break;
            }
            if waits {
                slot.0 = State::Lost;
                self.open -= 1;
                lost += 1;
            }
            self.oldest += 1;
        }
        lost
    }

    /// Removes every open tick and returns their number.
    pub(crate) fn abandon(&mut self) -> u64 {
        let mut abandoned = 0;
        while self.open > 0 && self.oldest < self.next {
            let oldest = self.oldest;
            let slot = self.slot(oldest);
            if slot.0 == State::Open && slot.1.sequence == oldest {
                slot.0 = State::Free;
                self.open -= 1;
                abandoned += 1;
            }
            self.oldest += 1;
        }
        abandoned
    }

    /// Returns the number of open ticks.
    pub(crate) fn waiting(&self) -> u64 {
        self.open
    }

    fn slot(&mut self, sequence: u32) -> &mut (State, Tick) {
        let mask = self.slots.len() - 1;
        &mut self.slots[sequence as usize & mask]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_millis(100);

    fn tick(sequence: u32, sent_ms: u64) -> Tick {
        let sent = Instant::ZERO + Duration::from_millis(sent_ms);
        Tick { sequence, intended: sent, sent, recorded: true }
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn answers_each_tick_once_in_any_order() {
        let mut ticks = OutstandingTicks::new(8);
        for sequence in [3, 4, 7] {
            assert_eq!(ticks.open(tick(sequence, 1)), None);
        }
        assert_eq!(ticks.answer(7), Answer::InTime(tick(7, 1)));
        assert_eq!(ticks.answer(3), Answer::InTime(tick(3, 1)));
        assert_eq!(ticks.answer(3), Answer::Unexpected);
        assert_eq!(ticks.answer(5), Answer::Unexpected);
        assert_eq!(ticks.answer(0), Answer::Unexpected);
        assert_eq!(ticks.waiting(), 1);
    }

    #[test]
    fn loses_what_waits_longer_than_patience_and_knows_a_late_order() {
        let mut ticks = OutstandingTicks::new(8);
        ticks.open(tick(1, 0));
        ticks.open(tick(2, 50));
        assert_eq!(ticks.expire(at(100), TIMEOUT), 0);
        assert_eq!(ticks.expire(at(101), TIMEOUT), 1);
        assert_eq!(ticks.answer(1), Answer::Late);
        assert_eq!(ticks.answer(1), Answer::Unexpected);
        assert_eq!(ticks.answer(2), Answer::InTime(tick(2, 50)));
        assert_eq!(ticks.expire(at(1_000), TIMEOUT), 0);
    }

    #[test]
    fn expires_across_sequences_that_were_no_ticks() {
        let mut ticks = OutstandingTicks::new(8);
        ticks.open(tick(1, 0));
        ticks.open(tick(5, 0));
        ticks.open(tick(6, 900));
        assert_eq!(ticks.expire(at(1_000), TIMEOUT), 2);
        assert_eq!(ticks.waiting(), 1);
    }

    #[test]
    fn drops_oldest_when_full() {
        let mut ticks = OutstandingTicks::new(4);
        for sequence in 1..=4 {
            assert_eq!(ticks.open(tick(sequence, 0)), None);
        }
        assert_eq!(ticks.open(tick(5, 0)), Some(tick(1, 0)));
        assert_eq!(ticks.waiting(), 4);
        assert_eq!(ticks.expire(at(1_000), TIMEOUT), 4);
        assert_eq!(ticks.waiting(), 0);
    }

    #[test]
    fn abandoned_tick_is_neither_lost_nor_answered() {
        let mut ticks = OutstandingTicks::new(8);
        for sequence in [2, 3, 5] {
            ticks.open(tick(sequence, 0));
        }
        assert_eq!(ticks.answer(3), Answer::InTime(tick(3, 0)));
        assert_eq!((ticks.abandon(), ticks.waiting()), (2, 0));
        assert_eq!(ticks.expire(at(1_000), TIMEOUT), 0);
        assert_eq!(ticks.answer(5), Answer::Unexpected);
        ticks.open(tick(6, 1_000));
        assert_eq!(ticks.answer(6), Answer::InTime(tick(6, 1_000)));
    }

    #[test]
    fn goes_on_after_a_quiet_time() {
        let mut ticks = OutstandingTicks::new(4);
        ticks.open(tick(1, 0));
        assert_eq!(ticks.answer(1), Answer::InTime(tick(1, 0)));
        ticks.open(tick(100, 5));
        assert_eq!(ticks.expire(at(500), TIMEOUT), 1);
    }
}
