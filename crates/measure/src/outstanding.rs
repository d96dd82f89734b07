//! Outstanding sends: those that wait for an answer.

use hairpin_time::{Duration, Instant};

/// A send that has departed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// The sequence number.
    pub sequence: u64,
    /// The intended time.
    pub intended: Instant,
    /// The time just before the send.
    pub left: Instant,
}

/// The classification of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The first answer to this send: a sample.
    InTime(Sent),
    /// The send had timed out as lost. Its latency is not recorded.
    Late,
    /// The send has been answered before.
    Duplicate,
    /// No such send, or one that the table no longer contains.
    Unexpected,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Unused,
    Open,
    Lost,
    Answered,
}

/// A table of sends by sequence number, with a fixed size.
///
/// Sequence numbers rise, from zero unless they are given, so each has a known slot, and the oldest
/// open send is found by advancing from the previous one.
#[derive(Debug, Clone)]
pub struct Outstanding {
    slots: Box<[(State, Sent)]>,
    /// The lower bound of the open sequence numbers.
    oldest: u64,
    /// The sequence number of the next send.
    next: u64,
    open: u64,
}

const UNUSED: (State, Sent) =
    (State::Unused, Sent { sequence: 0, intended: Instant::ZERO, left: Instant::ZERO });

impl Outstanding {
    /// Returns a table for at least `capacity` sends, open or answered. A schedule with a timeout
    /// needs a capacity of `timeout / interval + 1`.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let slots = vec![UNUSED; capacity.max(1).next_power_of_two()].into_boxed_slice();
        Self { slots, oldest: 0, next: 0, open: 0 }
    }

    /// Adds a send. Returns its sequence number, and the send that it displaces if that one was
    /// still open, which is thereby lost.
    #[inline]
    pub fn depart(&mut self, intended: Instant, left: Instant) -> (u64, Option<Sent>) {
        let sequence = self.next;
        (sequence, self.depart_as(Sent { sequence, intended, left }))
    }

    /// Adds a send with a sequence number of its own. Returns the send that it displaces if that
    /// one was still open, which is thereby lost.
    ///
    /// # Panics
    /// If the sequence number is not higher than those before.
    #[inline]
    pub fn depart_as(&mut self, sent: Sent) -> Option<Sent> {
        assert!(sent.sequence >= self.next, "sequence numbers rise");
        if self.open == 0 {
            self.oldest = sent.sequence;
        }
        self.next = sent.sequence + 1;
        match core::mem::replace(self.slot(sent.sequence), (State::Open, sent)) {
            (State::Open, lost) => Some(lost),
            _ => {
                self.open += 1;
                None
            }
        }
    }

    /// Classifies an answer to `sequence`, and closes that send.
    #[inline]
    pub fn answer(&mut self, sequence: u64) -> Answer {
        let is_sent = sequence < self.next;
        let (state, sent) = self.slot(sequence);
        if !is_sent || sent.sequence != sequence || *state == State::Unused {
            return Answer::Unexpected;
        }
        let sent = *sent;
        match core::mem::replace(state, State::Answered) {
            State::Open => {
                self.open -= 1;
                Answer::InTime(sent)
            }
            State::Lost => Answer::Late,
            State::Answered | State::Unused => Answer::Duplicate,
        }
    }

    /// Returns the oldest open send.
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

    /// Removes the oldest send as lost if it departed more than `timeout` before `now`.
    pub fn expire(&mut self, now: Instant, timeout: Duration) -> Option<Sent> {
        let sent = self.oldest().filter(|sent| now.saturating_since(sent.left) > timeout)?;
        self.slot(sent.sequence).0 = State::Lost;
        self.open -= 1;
        Some(sent)
    }

    /// Returns the number of open sends.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.open
    }

    /// Returns the sequence number of the next send.
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
    fn sends_are_answered_once_in_any_order() {
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
    fn sends_after_their_timeout_are_lost() {
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
    fn numbers_that_were_not_sent_are_unexpected() {
        let mut sends = Outstanding::new(8);
        for sequence in [3, 4, 7] {
            assert_eq!(sends.depart_as(sent(sequence, 1)), None);
        }
        assert_eq!(sends.depart_as(sent(100, 1)), Some(sent(4, 1)), "its place is taken");
        for sequence in [0, 5, 8, 108] {
            assert_eq!(sends.answer(sequence), Answer::Unexpected, "{sequence}");
        }
        assert_eq!(sends.answer(7), Answer::InTime(sent(7, 1)));
        assert_eq!(sends.expire(at(102), PATIENCE), Some(sent(3, 1)));
        assert_eq!(sends.oldest(), Some(sent(100, 1)));
    }

    #[test]
    fn full_table_displaces_the_oldest_send() {
        let mut sends = table(4, &[0, 0, 0, 0]);
        assert_eq!(sends.depart(at(5), at(5)), (4, Some(sent(0, 0))));
        assert_eq!(sends.waiting(), 4);
        assert_eq!(sends.answer(0), Answer::Unexpected, "its place is taken");
        assert_eq!(sends.oldest(), Some(sent(1, 0)));
        assert_eq!(sends.answer(4), Answer::InTime(sent(4, 5)));
    }

    #[test]
    fn oldest_skips_answered_sends() {
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
        fn sends_end_as_answered_or_lost(
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
