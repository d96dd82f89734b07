//! The size of retransmit requests.

use super::recovery::REQUEST_MAX;

/// The number of consecutive rejected ranges after which halving ends. The search for the first
/// missing number takes twelve requests of 2,500, and each following one takes one.
const REJECTS_MAX: u32 = 64;

/// The size of retransmit requests for one UUID: CME's maximum, until CME rejects a range, for
/// example because one of its messages is not available.
///
/// A rejected range is halved: the first half is requested, then half of the rest, until a single
/// number is rejected. That number is the missing one. The size then doubles from one: more numbers
/// may be missing after it, and a single rejected number costs one request. Each arriving message
/// resets the limit on rejects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RetransmitChunk {
    uuid: u64,
    /// The size of a request outside of a suspect range.
    count: u32,
    /// The end of the shortest rejected range that has not arrived: a number up to here is missing.
    /// Zero without one.
    suspect_to: u32,
    /// The last number of all rejected ranges.
    rejected_to: u32,
    /// The number of rejects since a message arrived.
    rejects: u32,
}

impl RetransmitChunk {
    /// Creates a chunk of maximum size.
    pub(super) const fn new(uuid: u64) -> Self {
        let count = REQUEST_MAX as u32;
        Self { uuid, count, suspect_to: 0, rejected_to: 0, rejects: 0 }
    }

    /// Selects the UUID to request. Rejects of another UUID do not apply.
    pub(super) fn select_uuid(&mut self, uuid: u64) {
        if uuid != self.uuid {
            *self = Self::new(uuid);
        }
    }

    /// Returns the last number to request together with `from`.
    pub(super) fn last_seq_num(&self, from: u32) -> u32 {
        let count = match self.suspect_to.checked_sub(from) {
            Some(others) => others.div_ceil(2),
            None => self.count,
        };
        from.saturating_add(count.max(1) - 1)
    }

    /// Handles the rejection of the numbers `from` to `to`. Returns the last lost number, or `None`
    /// if a smaller range should be requested.
    pub(super) fn handle_reject(&mut self, from: u32, to: u32) -> Option<u32> {
        self.rejects += 1;
        self.rejected_to = self.rejected_to.max(to);
        if self.rejects >= REJECTS_MAX {
            let lost = self.rejected_to;
            *self = Self { rejects: self.rejects, ..Self::new(self.uuid) };
            return Some(lost);
        }
        if from == to {
            (self.count, self.suspect_to) = (1, 0);
            return Some(to);
        }
        self.suspect_to = to;
        None
    }

    /// Records that messages have arrived.
    pub(super) fn record_progress(&mut self) {
        self.rejects = 0;
    }

    /// Doubles the size after a complete request; `next` is the next missing number.
    pub(super) fn grow(&mut self, next: u32) {
        self.record_progress();
        if next > self.suspect_to {
            self.count = (self.count * 2).min(u32::from(REQUEST_MAX));
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    /// Requests 1 to `last` from an exchange that rejects each range with a number for which
    /// `is_missing` returns `true`. Returns the lost ranges and the number of requests.
    fn run(last: u32, is_missing: impl Fn(u32) -> bool) -> (Vec<(u32, u32)>, u32) {
        let (mut chunk, mut lost, mut requests) = (RetransmitChunk::new(7), Vec::new(), 0);
        let mut next = 1;
        while next <= last {
            let to = chunk.last_seq_num(next).min(last);
            assert!((next..next + 2_500).contains(&to));
            requests += 1;
            if !(next..=to).any(&is_missing) {
                next = to + 1;
                chunk.grow(next);
            } else if let Some(last) = chunk.handle_reject(next, to) {
                lost.push((next, last));
                next = last + 1;
            }
        }
        (lost, requests)
    }

    #[test]
    fn loses_only_the_one_missing_number_of_2500() {
        for missing in 1..=2_500 {
            let (lost, requests) = run(2_500, |number| number == missing);
            assert_eq!(lost, [(missing, missing)]);
            // Each request halves the suspect range; afterwards the size doubles.
            assert!(requests <= 26, "{requests} for {missing}");
        }
    }

    #[test]
    fn loses_scattered_numbers_individually() {
        let (lost, _) = run(9_000, |number| number % 50 == 7);
        let expected: Vec<_> = (1..=9_000).filter(|it| it % 50 == 7).map(|it| (it, it)).collect();
        assert_eq!(lost, expected);
    }

    #[test]
    fn consecutive_numbers_cost_one_request_each() {
        let (lost, requests) = run(2_500, |number| (1_001..=1_040).contains(&number));
        let expected: Vec<_> = (1_001..=1_040).map(|it| (it, it)).collect();
        assert_eq!(lost, expected);
        assert!(requests < 40 + 30, "{requests}");
    }

    #[test]
    fn loses_the_rest_after_64_rejects() {
        let (lost, requests) = run(6_000, |_| true);
        // The eleventh half of 2,500 is one number; the 64th reject is that of the 53rd such
        // number.
        let singly = (1..=52).map(|it| (it, it));
        let rest = [(53, 2_500), (2_501, 5_000), (5_001, 6_000)];
        assert_eq!(lost, singly.chain(rest).collect::<Vec<_>>());
        assert_eq!(requests, 64 + 2);
    }

    #[test]
    fn arriving_messages_reset_the_reject_limit() {
        let (lost, _) = run(5_000, |number| number <= 2_500);
        assert_eq!(lost[52..], [(53, 2_500)], "what follows comes with one request");
        let mut chunk = RetransmitChunk::new(7);
        assert_eq!((0..62).filter_map(|_| chunk.handle_reject(1, 2)).count(), 0);
        chunk.record_progress();
        assert_eq!((0..63).filter_map(|_| chunk.handle_reject(1, 2)).count(), 0);
        assert_eq!(chunk.handle_reject(1, 2), Some(2));
    }

    #[test]
    fn another_uuid_starts_at_full_size() {
        let mut chunk = RetransmitChunk::new(7);
        assert_eq!((chunk.handle_reject(1, 9), chunk.last_seq_num(1)), (None, 4));
        chunk.select_uuid(7);
        assert_eq!(chunk.last_seq_num(1), 4);
        chunk.select_uuid(8);
        assert_eq!(chunk, RetransmitChunk::new(8));
        assert_eq!((chunk.last_seq_num(1), chunk.last_seq_num(u32::MAX)), (2_500, u32::MAX));
    }
}
