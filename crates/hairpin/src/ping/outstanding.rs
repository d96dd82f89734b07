//! Pings that wait for their answer.

use hairpin_time::{Duration, Instant};

/// One ping that has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ping {
    pub(crate) sequence: u64,
    /// When the schedule wanted it to leave.
    pub(crate) intended: Instant,
    /// Just before it left.
    pub(crate) sent: Instant,
}

/// What an answer turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The first answer to this ping.
    InTime(Ping),
    /// The ping had been given up as lost.
    Late,
    /// It has been answered before.
    Duplicate,
    /// No such ping, or one of so long ago that nothing is known of it any more.
    Unexpected,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Unused,
    Open,
    Lost,
    Answered,
}

/// A table of pings by sequence, sized at start; the sender never waits for it.
///
/// Sequences follow one another from zero, so that a ping's place is known and the oldest one that
/// waits is found by going on from the last.
pub(crate) struct Outstanding {
    slots: Box<[(State, Ping)]>,
    /// No ping before this one is open.
    oldest: u64,
    /// The sequence of the next ping.
    next: u64,
    open: u64,
}

const UNUSED: (State, Ping) =
    (State::Unused, Ping { sequence: 0, intended: Instant::ZERO, sent: Instant::ZERO });

impl Outstanding {
    /// Room for at least `capacity` pings that wait or are remembered.
    pub(crate) fn new(capacity: usize) -> Self {
        let slots = vec![UNUSED; capacity.next_power_of_two()].into_boxed_slice();
        Self { slots, oldest: 0, next: 0, open: 0 }
    }

    /// The next ping leaves; its sequence is returned, and the ping whose place it takes if that
    /// one was still open: it is lost.
    #[inline]
    pub(crate) fn open(&mut self, intended: Instant, sent: Instant) -> (u64, Option<Ping>) {
        let sequence = self.next;
        self.next += 1;
        let slot = self.slot(sequence);
        let ping = Ping { sequence, intended, sent };
        let displaced = core::mem::replace(slot, (State::Open, ping));
        match displaced {
            (State::Open, lost) => (sequence, Some(lost)),
            _ => {
                self.open += 1;
                (sequence, None)
            }
        }
    }

    /// An answer names `sequence`.
    #[inline]
    pub(crate) fn answer(&mut self, sequence: u64) -> Answer {
        let is_sent = sequence < self.next;
        let (state, ping) = self.slot(sequence);
        if !is_sent || ping.sequence != sequence {
            return Answer::Unexpected;
        }
        let ping = *ping;
        match core::mem::replace(state, State::Answered) {
            State::Open => {
                self.open -= 1;
                Answer::InTime(ping)
            }
            State::Lost => Answer::Late,
            State::Answered => Answer::Duplicate,
            State::Unused => unreachable!("whatever was sent has been open"),
        }
    }

    /// The ping that has waited longest.
    #[inline]
    pub(crate) fn oldest(&mut self) -> Option<Ping> {
        if self.open == 0 {
            self.oldest = self.next;
            return None;
        }
        loop {
            let sequence = self.oldest;
            let (state, ping) = *self.slot(sequence);
            if state == State::Open && ping.sequence == sequence {
                return Some(ping);
            }
            self.oldest += 1;
        }
    }

    /// Gives up the oldest ping if it left more than `patience` before `now`.
    pub(crate) fn expire(&mut self, now: Instant, patience: Duration) -> Option<Ping> {
        let ping = self.oldest().filter(|ping| now.saturating_since(ping.sent) > patience)?;
        self.slot(ping.sequence).0 = State::Lost;
        self.open -= 1;
        Some(ping)
    }

    /// Pings that wait.
    pub(crate) fn waiting(&self) -> u64 {
        self.open
    }

    /// The sequence of the next ping.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    #[inline]
    fn slot(&mut self, sequence: u64) -> &mut (State, Ping) {
        let mask = self.slots.len() - 1;
        &mut self.slots[sequence as usize & mask]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_millis(100);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn ping(sequence: u64, sent_ms: u64) -> Ping {
        Ping { sequence, intended: at(sent_ms), sent: at(sent_ms) }
    }

    fn table(capacity: usize, sent_ms: &[u64]) -> Outstanding {
        let mut pings = Outstanding::new(capacity);
        for &ms in sent_ms {
            assert_eq!(pings.open(at(ms), at(ms)).1, None);
        }
        pings
    }

    #[test]
    fn each_ping_is_answered_once_in_any_order() {
        let mut pings = table(8, &[0, 1, 2]);
        assert_eq!(pings.answer(2), Answer::InTime(ping(2, 2)));
        assert_eq!(pings.answer(0), Answer::InTime(ping(0, 0)));
        assert_eq!(pings.answer(0), Answer::Duplicate);
        assert_eq!(pings.answer(3), Answer::Unexpected);
        assert_eq!(pings.answer(8), Answer::Unexpected);
        assert_eq!(pings.waiting(), 1);
        assert_eq!(pings.oldest(), Some(ping(1, 1)));
    }

    #[test]
    fn what_waits_longer_than_patience_is_lost_and_its_answer_late() {
        let mut pings = table(8, &[0, 50]);
        assert_eq!(pings.expire(at(100), PATIENCE), None);
        assert_eq!(pings.expire(at(101), PATIENCE), Some(ping(0, 0)));
        assert_eq!(pings.expire(at(101), PATIENCE), None);
        assert_eq!(pings.answer(0), Answer::Late);
        assert_eq!(pings.answer(0), Answer::Duplicate);
        assert_eq!(pings.answer(1), Answer::InTime(ping(1, 50)));
        assert_eq!((pings.oldest(), pings.waiting()), (None, 0));
    }

    #[test]
    fn a_full_table_gives_up_the_oldest() {
        let mut pings = table(4, &[0, 0, 0, 0]);
        assert_eq!(pings.open(at(5), at(5)), (4, Some(ping(0, 0))));
        assert_eq!(pings.waiting(), 4);
        assert_eq!(pings.answer(0), Answer::Unexpected, "its place is taken");
        assert_eq!(pings.oldest(), Some(ping(1, 0)));
        assert_eq!(pings.answer(4), Answer::InTime(ping(4, 5)));
    }

    #[test]
    fn the_oldest_is_found_behind_those_that_are_answered() {
        let mut pings = table(8, &[0, 1, 2, 3]);
        for sequence in [0, 1, 3] {
            pings.answer(sequence);
        }
        assert_eq!(pings.oldest(), Some(ping(2, 2)));
        pings.answer(2);
        assert_eq!(pings.oldest(), None);
        assert_eq!(pings.open(at(9), at(9)), (4, None));
        assert_eq!(pings.oldest(), Some(ping(4, 9)));
    }
}
