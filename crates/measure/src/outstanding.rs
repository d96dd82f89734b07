//! Sends that wait for their answer.

use hairpin_time::{Duration, Instant};

/// One send that has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// Counted from zero, in the order of leaving.
    pub sequence: u64,
    /// When it was meant to leave.
    pub intended: Instant,
    /// Just before it left.
    pub left: Instant,
}

/// What an answer turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The first answer to this send: a sample.
    InTime(Sent),
    /// The send had been given up as lost: it is in no latency.
    Late,
    /// It has been answered before.
    Duplicate,
    /// No such send, or one of so long ago that nothing is known of it any more.
    Unexpected,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Unused,
    Open,
    Lost,
    Answered,
}

/// A table of sends by sequence, sized when it is made; the sender never waits for it.
///
/// Sequences follow one another from zero, so that the place of each is known and the oldest one
/// that waits is found by going on from the last.
#[derive(Debug, Clone)]
pub struct Outstanding {
    slots: Box<[(State, Sent)]>,
    /// No send before this one is open.
    oldest: u64,
    /// The sequence of the next send.
    next: u64,
    open: u64,
}

const UNUSED: (State, Sent) =
    (State::Unused, Sent { sequence: 0, intended: Instant::ZERO, left: Instant::ZERO });

impl Outstanding {
    /// Room for at least `capacity` sends that wait or are remembered: a schedule of one every
    /// `interval`, each given up after a timeout, wants `timeout / interval` and one more.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let slots = vec![UNUSED; capacity.max(1).next_power_of_two()].into_boxed_slice();
        Self { slots, oldest: 0, next: 0, open: 0 }
    }

    /// The next send leaves; its sequence is returned, and the send whose place it takes if that
    /// one was still open: it is lost.
    #[inline]
    pub fn depart(&mut self, intended: Instant, left: Instant) -> (u64, Option<Sent>) {
        let sequence = self.next;
        self.next += 1;
        let slot = self.slot(sequence);
        let sent = Sent { sequence, intended, left };
        let displaced = core::mem::replace(slot, (State::Open, sent));
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
    pub fn answer(&mut self, sequence: u64) -> Answer {
        let is_sent = sequence < self.next;
        let (state, sent) = self.slot(sequence);
        if !is_sent || sent.sequence != sequence {
            return Answer::Unexpected;
        }
        let sent = *sent;
        match core::mem::replace(state, State::Answered) {
            State::Open => {
                self.open -= 1;
                Answer::InTime(sent)
            }
            State::Lost => Answer::Late,
            State::Answered => Answer::Duplicate,
            State::Unused => unreachable!("whatever was sent has been open"),
        }
    }

    /// The send that has waited longest.
    #[inline]
    pub fn oldest(&mut self) -> Option<Sent> {
        if self.open == 0 {
            self.oldest = self.next;
            return None;
        }
        loop {
            let sequence = self.oldest;
            let (state, sent) = *self.slot(sequence);
            if state == State::Open && sent.sequence == sequence {
                return Some(sent);
            }
            self.oldest += 1;
        }
    }

    /// Gives up the oldest send if it left more than `patience` before `now`.
    pub fn expire(&mut self, now: Instant, patience: Duration) -> Option<Sent> {
        let sent = self.oldest().filter(|sent| now.saturating_since(sent.left) > patience)?;
        self.slot(sent.sequence).0 = State::Lost;
        self.open -= 1;
        Some(sent)
    }

    /// Sends that wait.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.open
    }

    /// The sequence of the next send.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }

    #[inline]
    fn slot(&mut self, sequence: u64) -> &mut (State, Sent) {
        let mask = self.slots.len() - 1;
        &mut self.slots[sequence as usize & mask]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PATIENCE: Duration = Duration::from_millis(100);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn sent(sequence: u64, sent_ms: u64) -> Sent {
        Sent { sequence, intended: at(sent_ms), left: at(sent_ms) }
    }

    fn table(capacity: usize, sent_ms: &[u64]) -> Outstanding {
        let mut sends = Outstanding::new(capacity);
        for &ms in sent_ms {
            assert_eq!(sends.depart(at(ms), at(ms)).1, None);
        }
        sends
    }

    #[test]
    fn each_send_is_answered_once_in_any_order() {
        let mut sends = table(8, &[0, 1, 2]);
        assert_eq!(sends.answer(2), Answer::InTime(sent(2, 2)));
        assert_eq!(sends.answer(0), Answer::InTime(sent(0, 0)));
        assert_eq!(sends.answer(0), Answer::Duplicate);
        assert_eq!(sends.answer(3), Answer::Unexpected);
        assert_eq!(sends.answer(8), Answer::Unexpected);
        assert_eq!(sends.waiting(), 1);
        assert_eq!(sends.oldest(), Some(sent(1, 1)));
    }

    #[test]
    fn what_waits_longer_than_patience_is_lost_and_its_answer_late() {
        let mut sends = table(8, &[0, 50]);
        assert_eq!(sends.expire(at(100), PATIENCE), None);
        assert_eq!(sends.expire(at(101), PATIENCE), Some(sent(0, 0)));
        assert_eq!(sends.expire(at(101), PATIENCE), None);
        assert_eq!(sends.answer(0), Answer::Late);
        assert_eq!(sends.answer(0), Answer::Duplicate);
        assert_eq!(sends.answer(1), Answer::InTime(sent(1, 50)));
        assert_eq!((sends.oldest(), sends.waiting()), (None, 0));
    }

    #[test]
    fn a_full_table_gives_up_the_oldest() {
        let mut sends = table(4, &[0, 0, 0, 0]);
        assert_eq!(sends.depart(at(5), at(5)), (4, Some(sent(0, 0))));
        assert_eq!(sends.waiting(), 4);
        assert_eq!(sends.answer(0), Answer::Unexpected, "its place is taken");
        assert_eq!(sends.oldest(), Some(sent(1, 0)));
        assert_eq!(sends.answer(4), Answer::InTime(sent(4, 5)));
    }

    #[test]
    fn the_oldest_is_found_behind_those_that_are_answered() {
        let mut sends = table(8, &[0, 1, 2, 3]);
        for sequence in [0, 1, 3] {
            sends.answer(sequence);
        }
        assert_eq!(sends.oldest(), Some(sent(2, 2)));
        sends.answer(2);
        assert_eq!(sends.oldest(), None);
        assert_eq!(sends.depart(at(9), at(9)), (4, None));
        assert_eq!(sends.oldest(), Some(sent(4, 9)));
    }

    proptest! {
        /// Sends = answers in time + lost, whatever comes in whatever order.
        #[test]
        fn every_send_ends_as_an_answer_or_a_loss(
            steps in prop::collection::vec((0..3u8, 0..60u64, 0..40u64), 0..200),
        ) {
            let mut sends = Outstanding::new(8);
            let (mut now, mut left, mut in_time, mut late, mut lost) = (0, 0, 0, 0, 0);
            for (step, wait, sequence) in steps {
                now += wait;
                match step {
                    0 => {
                        lost += u64::from(sends.depart(at(now), at(now)).1.is_some());
                        left += 1;
                    }
                    1 => match sends.answer(sequence) {
                        Answer::InTime(_) => in_time += 1,
                        Answer::Late => late += 1,
                        Answer::Duplicate | Answer::Unexpected => {}
                    },
                    _ => while sends.expire(at(now), PATIENCE).is_some() { lost += 1 },
                }
                prop_assert_eq!(in_time + lost + sends.waiting(), left);
            }
            while sends.expire(at(now + 101), PATIENCE).is_some() { lost += 1 }
            prop_assert_eq!((in_time + lost, sends.waiting()), (left, 0));
            prop_assert!(late <= lost);
        }
    }
}
