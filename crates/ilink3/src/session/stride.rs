//! How many missing messages one request asks for.

use super::recovery::REQUEST_MAX;

/// Requests refused for their range, and no message between them, until halving ends: finding the
/// first number that is missing takes twelve of 2,500, and each that follows it one.
const REFUSALS_MAX: u32 = 64;

/// How many messages of a UUID are asked for at once: as many as CME sends, until it refuses a
/// range, because it cannot send one of its numbers say.
///
/// Then the first half is asked for, and half of what is left of the refused range again, whether
/// it comes or is refused: until a number alone is refused, which is the one that is missing. From
/// there on it is one, two, four and so on. Behind a number that is missing there may be more, and
/// a single refused one costs one request. Each message that comes allows as many refusals again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stride {
    uuid: u64,
    /// What is asked for where no range is in doubt.
    count: u32,
    /// The last number of the shortest range that was refused and has not come: one up to here
    /// is missing. 0: none is known to be.
    doubted_to: u32,
    /// The last number of all that were refused.
    refused_to: u32,
    /// Refusals since a message has come.
    refusals: u32,
}

impl Stride {
    /// As long as can be.
    pub(super) const fn new(uuid: u64) -> Self {
        let count = REQUEST_MAX as u32;
        Self { uuid, count, doubted_to: 0, refused_to: 0, refusals: 0 }
    }

    /// Messages of `uuid` are asked for; what was learnt of another one is of no use.
    pub(super) fn turn_to(&mut self, uuid: u64) {
        if uuid != self.uuid {
            *self = Self::new(uuid);
        }
    }

    /// The last number to ask for together with `from`, if it is missing.
    pub(super) fn end(&self, from: u32) -> u32 {
        let count = match self.doubted_to.checked_sub(from) {
            Some(others) => others.div_ceil(2),
            None => self.count,
        };
        from.saturating_add(count.max(1) - 1)
    }

    /// The numbers `from` to `to` were asked for and refused. `Some` number if all up to that one
    /// are lost, `None` if fewer are to be asked for.
    pub(super) fn refuse(&mut self, from: u32, to: u32) -> Option<u32> {
        self.refusals += 1;
        self.refused_to = self.refused_to.max(to);
        if self.refusals >= REFUSALS_MAX {
            let lost = self.refused_to;
            *self = Self { refusals: self.refusals, ..Self::new(self.uuid) };
            return Some(lost);
        }
        if from == to {
            (self.count, self.doubted_to) = (1, 0);
            return Some(to);
        }
        self.doubted_to = to;
        None
    }

    /// Messages have come.
    pub(super) fn come(&mut self) {
        self.refusals = 0;
    }

    /// All that was asked for has come, and `next` is missing.
    pub(super) fn lengthen(&mut self, next: u32) {
        self.come();
        if next > self.doubted_to {
            self.count = (self.count * 2).min(u32::from(REQUEST_MAX));
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    /// Asks for 1 to `last` of an exchange that refuses each range with a number that `is_gone`:
    /// what is lost, and how many requests it took.
    fn run(last: u32, is_gone: impl Fn(u32) -> bool) -> (Vec<(u32, u32)>, u32) {
        let (mut stride, mut lost, mut requests) = (Stride::new(7), Vec::new(), 0);
        let mut next = 1;
        while next <= last {
            let to = stride.end(next).min(last);
            assert!((next..next + 2_500).contains(&to));
            requests += 1;
            if !(next..=to).any(&is_gone) {
                next = to + 1;
                stride.lengthen(next);
            } else if let Some(gone) = stride.refuse(next, to) {
                lost.push((next, gone));
                next = gone + 1;
            }
        }
        (lost, requests)
    }

    #[test]
    fn whatever_number_is_missing_of_2500_is_the_only_one_lost() {
        for gone in 1..=2_500 {
            let (lost, requests) = run(2_500, |number| number == gone);
            assert_eq!(lost, [(gone, gone)]);
            // Refused or not, a request halves the doubt; from there on lengths double.
            assert!(requests <= 26, "{requests} for {gone}");
        }
    }

    #[test]
    fn scattered_numbers_are_lost_one_by_one() {
        let (lost, _) = run(9_000, |number| number % 50 == 7);
        let expected: Vec<_> = (1..=9_000).filter(|it| it % 50 == 7).map(|it| (it, it)).collect();
        assert_eq!(lost, expected);
    }

    #[test]
    fn numbers_in_a_row_cost_a_request_each() {
        let (lost, requests) = run(2_500, |number| (1_001..=1_040).contains(&number));
        let expected: Vec<_> = (1_001..=1_040).map(|it| (it, it)).collect();
        assert_eq!(lost, expected);
        assert!(requests < 40 + 30, "{requests}");
    }

    #[test]
    fn where_nothing_comes_all_that_was_refused_is_lost_in_the_end() {
        let (lost, requests) = run(6_000, |_| true);
        // Of 2,500 the eleventh half is one number; the 64th refusal is the 53rd such number's.
        let singly = (1..=52).map(|it| (it, it));
        let rest = [(53, 2_500), (2_501, 5_000), (5_001, 6_000)];
        assert_eq!(lost, singly.chain(rest).collect::<Vec<_>>());
        assert_eq!(requests, 64 + 2);
    }

    #[test]
    fn what_comes_allows_as_many_refusals_again() {
        let (lost, _) = run(5_000, |number| number <= 2_500);
        assert_eq!(lost[52..], [(53, 2_500)], "what follows comes with one request");
        let mut stride = Stride::new(7);
        assert_eq!((0..62).filter_map(|_| stride.refuse(1, 2)).count(), 0);
        stride.come();
        assert_eq!((0..63).filter_map(|_| stride.refuse(1, 2)).count(), 0);
        assert_eq!(stride.refuse(1, 2), Some(2));
    }

    #[test]
    fn another_uuid_begins_with_all_at_once() {
        let mut stride = Stride::new(7);
        assert_eq!((stride.refuse(1, 9), stride.end(1)), (None, 4));
        stride.turn_to(7);
        assert_eq!(stride.end(1), 4);
        stride.turn_to(8);
        assert_eq!(stride, Stride::new(8));
        assert_eq!((stride.end(1), stride.end(u32::MAX)), (2_500, u32::MAX));
    }
}
