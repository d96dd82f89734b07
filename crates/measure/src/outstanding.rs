//! Sends that wait for their answers.

use hairpin_time::{Duration, Instant};

/// The sends of one peer that wait for answers, by number; lost and late ones told apart.
///
/// Numbers are consecutive, as those of [`Departure`](crate::Departure) are. All memory is taken
/// when it is made. A send that has waited for the timeout is lost; its answer, should it come
/// after all, is late, and is in no latency, for the row has already counted the send as lost.
#[derive(Debug, Clone)]
pub struct Outstanding {
    /// Send `n` lies at `n` modulo their number, a power of two.
    slots: Box<[Slot]>,
    timeout: Duration,
    /// The number after the last send's.
    next: u64,
    /// No send below it waits.
    oldest: u64,
    lost: u64,
    late: u64,
    unexpected: u64,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    number: u64,
    state: State,
    sent: Sent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Answered,
    Lost,
}

/// When a send that was answered had left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// When it was meant to leave.
    pub intended: Instant,
    /// When it did.
    pub left: Instant,
}

/// What an answer is to the send of its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The first, in time: a sample.
    InTime(Sent),
    /// The send had been given up as lost.
    Late,
    /// None that is awaited: a second one, of a number that was never sent, or so old that nothing
    /// is known of it any more.
    Unexpected,
}

impl Outstanding {
    /// Room for at least `capacity` sends that wait at once, each for at most `timeout`.
    ///
    /// A schedule of one send every `interval` needs `timeout / interval` and one more.
    #[must_use]
    pub fn new(capacity: usize, timeout: Duration) -> Self {
        let sent = Sent { intended: Instant::ZERO, left: Instant::ZERO };
        let empty = Slot { number: u64::MAX, state: State::Answered, sent };
        let slots = vec![empty; capacity.max(1).next_power_of_two()].into_boxed_slice();
        Self { slots, timeout, next: 0, oldest: 0, lost: 0, late: 0, unexpected: 0 }
    }

    /// Notes the next send and returns its number. Where there is no room, the oldest that waits is
    /// lost.
    #[inline]
    pub fn depart(&mut self, intended: Instant, left: Instant) -> u64 {
        let number = self.next;
        let slot = &mut self.slots[number as usize & (self.slots.len() - 1)];
        if slot.state == State::Waiting {
            self.lost += 1;
            self.oldest = self.oldest.max(slot.number + 1);
        }
        *slot = Slot { number, state: State::Waiting, sent: Sent { intended, left } };
        self.next += 1;
        number
    }

    /// Takes an answer. One that comes after the timeout is late even if [`Self::expire`] has not
    /// been called since.
    #[inline]
    pub fn answer(&mut self, now: Instant, number: u64) -> Answer {
        let slot = &mut self.slots[number as usize & (self.slots.len() - 1)];
        if slot.number != number || slot.state == State::Answered {
            self.unexpected += 1;
            return Answer::Unexpected;
        }
        let was = std::mem::replace(&mut slot.state, State::Answered);
        let is_over = now >= slot.sent.left + self.timeout;
        if was == State::Waiting && !is_over {
            return Answer::InTime(slot.sent);
        }
        self.lost += u64::from(was == State::Waiting);
        self.late += 1;
        Answer::Late
    }

    /// Gives up what has waited for the timeout.
    pub fn expire(&mut self, now: Instant) {
        while let Some(deadline) = self.poll_timeout()
            && now >= deadline
        {
            self.slots[self.oldest as usize & (self.slots.len() - 1)].state = State::Lost;
            self.lost += 1;
        }
    }

    /// When the oldest send that waits is given up; `None` if none waits.
    pub fn poll_timeout(&mut self) -> Option<Instant> {
        while self.oldest < self.next {
            let slot = &self.slots[self.oldest as usize & (self.slots.len() - 1)];
            if slot.number == self.oldest && slot.state == State::Waiting {
                return Some(slot.sent.left + self.timeout);
            }
            self.oldest += 1;
        }
        None
    }

    /// Sends that were given up.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Answers that came after their send had been given up: at most as many as were lost.
    #[must_use]
    pub const fn late(&self) -> u64 {
        self.late
    }

    /// Answers that nothing waited for.
    #[must_use]
    pub const fn unexpected(&self) -> u64 {
        self.unexpected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TIMEOUT: Duration = Duration::from_nanos(100);

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    fn counts(of: &Outstanding) -> (u64, u64, u64) {
        (of.lost(), of.late(), of.unexpected())
    }

    #[test]
    fn an_answer_in_time_tells_when_its_send_left() {
        let mut sends = Outstanding::new(4, TIMEOUT);
        assert_eq!([sends.depart(at(1), at(2)), sends.depart(at(3), at(4))], [0, 1]);
        let sent = Sent { intended: at(3), left: at(4) };
        assert_eq!(sends.answer(at(50), 1), Answer::InTime(sent));
        assert_eq!(sends.poll_timeout(), Some(at(102)));
        assert_eq!(counts(&sends), (0, 0, 0));
    }

    #[test]
    fn what_was_given_up_is_lost_once_and_its_answer_late() {
        let mut sends = Outstanding::new(4, TIMEOUT);
        sends.depart(at(0), at(0));
        sends.expire(at(99));
        assert_eq!(counts(&sends), (0, 0, 0));
        sends.expire(at(100));
        sends.expire(at(101));
        assert_eq!((counts(&sends), sends.poll_timeout()), ((1, 0, 0), None));
        assert_eq!(sends.answer(at(130), 0), Answer::Late);
        assert_eq!(sends.answer(at(131), 0), Answer::Unexpected);
        assert_eq!(counts(&sends), (1, 1, 1));
    }

    #[test]
    fn an_answer_after_the_timeout_is_late_though_nobody_looked() {
        let mut sends = Outstanding::new(4, TIMEOUT);
        sends.depart(at(0), at(0));
        assert_eq!(sends.answer(at(100), 0), Answer::Late);
        sends.expire(at(500));
        assert_eq!(counts(&sends), (1, 1, 0));
    }

    #[test]
    fn answers_that_nothing_waits_for_are_unexpected() {
        let mut sends = Outstanding::new(2, TIMEOUT);
        assert_eq!(sends.answer(at(0), 0), Answer::Unexpected);
        sends.depart(at(0), at(0));
        assert!(matches!(sends.answer(at(1), 0), Answer::InTime(_)));
        assert_eq!(sends.answer(at(2), 0), Answer::Unexpected);
        assert_eq!(sends.answer(at(2), u64::MAX - 1), Answer::Unexpected);
        assert_eq!(counts(&sends), (0, 0, 3));
    }

    #[test]
    fn without_room_the_oldest_is_lost() {
        let mut sends = Outstanding::new(2, TIMEOUT);
        (0..3).for_each(|now| _ = sends.depart(at(now), at(now)));
        assert_eq!((counts(&sends), sends.poll_timeout()), ((1, 0, 0), Some(at(101))));
        assert_eq!(sends.answer(at(3), 0), Answer::Unexpected);
    }

    proptest! {
        /// Sends = answers in time + lost, whatever comes in whatever order.
        #[test]
        fn every_send_ends_as_an_answer_or_a_loss(
            steps in prop::collection::vec((0..3u8, 0..60u64, 0..40u64), 0..200),
        ) {
            let mut sends = Outstanding::new(8, TIMEOUT);
            let (mut now, mut sent, mut in_time) = (0, 0, 0);
            for (step, wait, number) in steps {
                now += wait;
                match step {
                    0 => { sends.depart(at(now), at(now)); sent += 1 }
                    1 => {
                        let answer = sends.answer(at(now), number);
                        in_time += u64::from(matches!(answer, Answer::InTime(_)));
                    }
                    _ => sends.expire(at(now)),
                }
            }
            sends.expire(at(now + 100));
            prop_assert_eq!(in_time + sends.lost(), sent);
            prop_assert!(sends.late() <= sends.lost());
        }
    }
}
