//! One direction of a relay, without its sockets and its clock.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use crate::fate::Lots;
use crate::faults::{Faults, Part};
use crate::frame::Frame;
use crate::tally::Tally;

/// Frames that wait may take so much memory; what comes on top is lost. Half a second of 1 Gbit/s.
const UNDER_WAY_BYTES: usize = 64 << 20;

/// A line from one host to the other, on which things happen to frames.
///
/// Times are since the relay's start.
#[derive(Debug)]
pub(crate) struct Line {
    lots: Lots,
    faults: Faults,
    is_cut: bool,
    is_on: bool,
    under_way: BinaryHeap<Reverse<UnderWay>>,
    /// In the order in which they were sent.
    held: Vec<Held>,
    bytes: usize,
    /// Buffers to be used again.
    spare: Vec<Vec<u8>>,
    /// Frames with the same time leave in the order in which they were put under way.
    order: u64,
    /// When the line has carried all that waits for it.
    free_at: Duration,
    /// The latest departure of what keeps its order: what keeps it too leaves no earlier.
    last_departure: Duration,
    /// The number of the latest frame that has left.
    last_number: u64,
    tally: Tally,
}

/// A frame and when it leaves. Compared by what stands first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct UnderWay {
    at: Duration,
    order: u64,
    frame: Numbered,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Numbered {
    /// `None` if nothing was to happen to it.
    number: Option<u64>,
    bytes: Vec<u8>,
}

#[derive(Debug)]
struct Held {
    /// How many more have to overtake it.
    frames: u32,
    at_most: Duration,
    frame: Numbered,
}

impl Line {
    pub(crate) fn new(seed: u64, direction: usize, faults: Faults) -> Self {
        Self {
            lots: Lots::new(seed, direction),
            faults,
            is_cut: false,
            is_on: true,
            under_way: BinaryHeap::new(),
            held: Vec::new(),
            bytes: 0,
            spare: Vec::new(),
            order: 0,
            free_at: Duration::ZERO,
            last_departure: Duration::ZERO,
            last_number: 0,
            tally: Tally::default(),
        }
    }

    /// What may happen to frames from now on. Those under way keep their time.
    pub(crate) fn set(&mut self, faults: Faults, is_cut: bool, is_on: bool) {
        (self.faults, self.is_cut, self.is_on) = (faults, is_cut, is_on);
    }

    /// A frame comes from the sending host.
    pub(crate) fn send(&mut self, now: Duration, bytes: &[u8]) {
        let frame = Frame::parse(bytes);
        if !self.is_on || !frame.is_chosen_by(&self.faults.filter) {
            self.tally.untouched += 1;
            let frame = self.copy_of(None, bytes);
            return self.put_under_way(now, frame);
        }
        self.tally.sent += 1;
        let number = self.tally.sent;
        if self.is_cut {
            self.tally.cut += 1;
            return;
        }
        if self.lots.is_lost(number, &self.faults) {
            self.tally.lost += 1;
            return;
        }
        let Some(leaves) = self.pass_line(now, bytes.len()) else {
            self.tally.overflowed += 1;
            return;
        };
        self.send_copy(leaves, (number, 0), bytes, &frame);
        if self.lots.is_duplicated(number, &self.faults) {
            self.tally.duplicated += 1;
            self.send_copy(leaves, (number, 1), bytes, &frame);
        }
    }

    /// The next frame whose time has come; to be given back to [`recycle`](Self::recycle).
    pub(crate) fn receive(&mut self, now: Duration) -> Option<Vec<u8>> {
        self.release_overdue(now);
        if self.under_way.peek().is_none_or(|Reverse(next)| next.at > now) {
            return None;
        }
        let Reverse(UnderWay { frame: Numbered { number, bytes }, .. }) = self.under_way.pop()?;
        self.bytes -= bytes.len();
        if let Some(number) = number {
            self.tally.arrived += 1;
            self.tally.under_way -= 1;
            self.tally.reordered += u64::from(number < self.last_number);
            self.last_number = self.last_number.max(number);
        }
        Some(bytes)
    }

    /// Takes the memory of a frame that has left.
    pub(crate) fn recycle(&mut self, frame: Vec<u8>) {
        self.spare.push(frame);
    }

    /// When the next frame leaves.
    pub(crate) fn poll_timeout(&self) -> Option<Duration> {
        let next = self.under_way.peek().map(|Reverse(next)| next.at);
        self.held.iter().map(|held| held.at_most).chain(next).min()
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    pub(crate) fn tally_mut(&mut self) -> &mut Tally {
        &mut self.tally
    }

    /// When a frame that comes now has left the line; `None` if it finds no room.
    fn pass_line(&mut self, now: Duration, length: usize) -> Option<Duration> {
        let Some(rate) = self.faults.rate else { return Some(now) };
        let time_of = |bytes: usize| {
            let nanos = bytes as u128 * 1_000_000_000 / u128::from(rate.bytes_per_second.max(1));
            Duration::from_nanos(nanos.try_into().unwrap_or(u64::MAX))
        };
        let waiting = self.free_at.saturating_sub(now);
        if waiting + time_of(length) > time_of(rate.queue_bytes) {
            return None;
        }
        self.free_at = now + waiting + time_of(length);
        Some(self.free_at)
    }

    /// One copy is under way, subject to chance.
    fn send_copy(
        &mut self,
        leaves: Duration,
        (number, copy): (u64, u64),
        bytes: &[u8],
        frame: &Frame,
    ) {
        if self.bytes + bytes.len() > UNDER_WAY_BYTES {
            self.tally.overflowed += 1;
            return;
        }
        let fate = self.lots.of_copy(number, copy, &self.faults);
        let mut numbered = self.copy_of(Some(number), bytes);
        self.tally.under_way += 1;
        self.tally.delayed += u64::from(fate.is_long);
        if let Some(drawn) = fate.flip {
            let is_flipped = flip(&mut numbered.bytes, frame, self.faults.corrupted_part, drawn);
            self.tally.corrupted += u64::from(is_flipped);
        }
        let mut at = leaves + fate.delay;
        if let (true, Some(holding)) = (fate.is_held, self.faults.holding) {
            self.tally.held += 1;
            let (frames, at_most) = (holding.frames.max(1), at + holding.at_most);
            self.bytes += numbered.bytes.len();
            self.held.push(Held { frames, at_most, frame: numbered });
            return;
        }
        if !self.faults.reorders {
            at = at.max(self.last_departure);
            self.last_departure = at;
        }
        self.put_under_way(at, numbered);
        self.overtake(at);
    }

    /// A frame that leaves at `at` has overtaken those that are held.
    fn overtake(&mut self, at: Duration) {
        for held in &mut self.held {
            held.frames -= 1;
        }
        while let Some(index) = self.held.iter().position(|held| held.frames == 0) {
            self.release(index, at);
        }
    }

    /// Lets go what has been held for as long as it may be.
    fn release_overdue(&mut self, now: Duration) {
        while let Some(index) = self.held.iter().position(|held| held.at_most <= now) {
            self.release(index, self.held[index].at_most);
        }
    }

    fn release(&mut self, index: usize, at: Duration) {
        let Held { frame, .. } = self.held.remove(index);
        self.bytes -= frame.bytes.len();
        self.put_under_way(at, frame);
    }

    fn put_under_way(&mut self, at: Duration, frame: Numbered) {
        self.order += 1;
        self.bytes += frame.bytes.len();
        self.under_way.push(Reverse(UnderWay { at, order: self.order, frame }));
    }

    fn copy_of(&mut self, number: Option<u64>, bytes: &[u8]) -> Numbered {
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(bytes);
        Numbered { number, bytes: copy }
    }
}

/// Flips one bit in a part of a frame; false if there is none.
fn flip(bytes: &mut [u8], frame: &Frame, part: Part, drawn: u64) -> bool {
    let range = frame.part(part);
    let bits = range.len() as u64 * 8;
    // The high half of a product with a `u64` fits in one, and is below it.
    let bit = ((u128::from(drawn) * u128::from(bits)) >> 64) as usize;
    match bytes[range].get_mut(bit / 8) {
        Some(byte) => {
            *byte ^= 1 << (bit % 8);
            true
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::{Chance, Delay, Filter, Holding, Protocol, Rate};

    const MS: Duration = Duration::from_millis(1);

    /// A UDP datagram over IPv4 that carries a number and ten bytes of nothing.
    fn frame(number: u32) -> Vec<u8> {
        let mut bytes = vec![2; 12];
        bytes.extend([0x08, 0x00, 0x45, 0, 0, 42, 0, 0, 0, 0, 64, 17, 0, 0]);
        bytes.extend([10, 0, 0, 1, 10, 0, 0, 2, 0, 1, 0, 2, 0, 22, 0, 0]);
        bytes.extend(number.to_be_bytes());
        bytes.extend([0; 10]);
        bytes
    }

    fn arp() -> Vec<u8> {
        [&[2; 12][..], &[0x08, 0x06], &[0; 28]].concat()
    }

    fn number_of(frame: &[u8]) -> u32 {
        frame[42..46].try_into().map(u32::from_be_bytes).unwrap()
    }

    fn line(faults: Faults) -> Line {
        Line::new(7, 0, faults)
    }

    fn at_ms(ms: u32) -> Duration {
        MS * ms
    }

    /// Numbers of all frames that have left by `now`.
    fn receive(line: &mut Line, now: Duration) -> Vec<u32> {
        std::iter::from_fn(|| line.receive(now)).map(|bytes| number_of(&bytes)).collect()
    }

    /// Sends frames of these numbers, one a millisecond, each received before the next is sent.
    fn pass(line: &mut Line, numbers: std::ops::Range<u32>) -> Vec<u32> {
        let mut received = Vec::new();
        for number in numbers {
            line.send(at_ms(number), &frame(number));
            received.extend(receive(line, at_ms(number)));
        }
        received
    }

    fn is_accounted_for(tally: &Tally) -> bool {
        let Tally { sent, duplicated, lost, cut, overflowed, arrived, under_way, .. } = *tally;
        sent + duplicated == lost + cut + overflowed + arrived + under_way
    }

    #[test]
    fn without_faults_frames_pass_at_once_whole_and_in_order() {
        let mut line = line(Faults::NONE);
        line.send(at_ms(3), &frame(1));
        line.send(at_ms(3), &frame(2));
        assert_eq!(line.receive(at_ms(3)), Some(frame(1)));
        assert_eq!(line.receive(at_ms(3)), Some(frame(2)));
        assert_eq!((line.receive(at_ms(3)), line.poll_timeout()), (None, None));
        assert_eq!(*line.tally(), Tally { sent: 2, arrived: 2, ..Tally::default() });
    }

    #[test]
    fn lost_frames_do_not_arrive_and_are_counted() {
        let mut line = line(Faults { loss: Chance::percent(20), ..Faults::NONE });
        let received = pass(&mut line, 0..1_000);
        let tally = *line.tally();
        assert_eq!(received.len() as u64, 1_000 - tally.lost);
        assert!((150..250).contains(&tally.lost) && is_accounted_for(&tally));
    }

    #[test]
    fn one_seed_is_one_run_and_another_seed_another() {
        let faults = Faults {
            loss: Chance::percent(10),
            duplication: Chance::percent(10),
            corruption: Chance::percent(10),
            delay: Delay { jitter: MS * 3, ..Delay::default() },
            reorders: true,
            ..Faults::NONE
        };
        let run = |seed| {
            let mut line = Line::new(seed, 0, faults);
            let received = pass(&mut line, 0..500);
            (received, *line.tally())
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }

    /// What is not chosen neither has a fate nor moves that of another.
    #[test]
    fn frames_that_are_not_chosen_use_up_no_number() {
        let filter = Filter { protocol: Some(Protocol::Udp), ..Filter::default() };
        let faults = Faults { filter, loss: Chance::percent(30), ..Faults::NONE };
        let alone = pass(&mut line(faults), 0..200);
        let mut line = line(faults);
        let mut among_others = Vec::new();
        for number in 0..200 {
            line.send(at_ms(number), &arp());
            assert_eq!(line.receive(at_ms(number)), Some(arp()), "left alone");
            line.send(at_ms(number), &frame(number));
            among_others.extend(receive(&mut line, at_ms(number)));
        }
        assert_eq!(among_others, alone);
        assert_eq!((line.tally().untouched, line.tally().sent), (200, 200));
    }

    #[test]
    fn arp_is_chosen_if_asked_for() {
        let filter = Filter { arp: true, ..Filter::default() };
        let mut line = line(Faults { filter, loss: Chance::ALWAYS, ..Faults::NONE });
        line.send(MS, &arp());
        assert_eq!((line.receive(MS), line.tally().lost), (None, 1));
    }

    #[test]
    fn a_cut_line_loses_everything_and_a_mended_one_nothing() {
        let mut line = line(Faults::NONE);
        line.set(Faults::NONE, true, true);
        assert_eq!(pass(&mut line, 0..3), []);
        line.set(Faults::NONE, false, true);
        assert_eq!(pass(&mut line, 3..5), [3, 4]);
        assert_eq!((line.tally().cut, line.tally().arrived), (3, 2));
    }

    #[test]
    fn switched_off_it_lets_everything_pass_and_switched_on_it_goes_on() {
        let faults = Faults { loss: Chance::ALWAYS, ..Faults::NONE };
        let mut line = line(faults);
        line.set(faults, true, false);
        assert_eq!(pass(&mut line, 0..3), [0, 1, 2]);
        line.set(faults, false, true);
        assert_eq!(pass(&mut line, 3..5), []);
        assert_eq!((line.tally().untouched, line.tally().lost), (3, 2));
    }

    #[test]
    fn a_delayed_frame_leaves_when_its_time_has_come() {
        let mut line = line(Faults { delay: Delay::exactly(MS * 5), ..Faults::NONE });
        line.send(at_ms(1), &frame(1));
        assert_eq!(line.poll_timeout(), Some(at_ms(6)));
        assert_eq!(receive(&mut line, at_ms(6) - Duration::from_nanos(1)), []);
        assert_eq!(line.tally().under_way, 1);
        assert_eq!(receive(&mut line, at_ms(6)), [1]);
        assert_eq!((line.tally().under_way, line.poll_timeout()), (0, None));
    }

    #[test]
    fn jitter_keeps_the_order_unless_it_may_not() {
        let delay = Delay { jitter: MS * 10, ..Delay::default() };
        let run = |reorders| {
            let mut line = line(Faults { delay, reorders, ..Faults::NONE });
            let mut received = pass(&mut line, 0..300);
            received.extend(receive(&mut line, at_ms(1_000)));
            (received, line.tally().reordered)
        };
        let (kept, reordered) = run(false);
        assert!(kept.is_sorted() && kept.len() == 300 && reordered == 0);
        let (mut mixed, reordered) = run(true);
        assert!(!mixed.is_sorted() && reordered > 50);
        mixed.sort_unstable();
        assert_eq!(mixed, kept);
    }

    #[test]
    fn long_delays_are_counted_and_late() {
        let delay = Delay { long_chance: Chance::percent(10), long: MS * 50, ..Delay::default() };
        let mut line = line(Faults { delay, reorders: true, ..Faults::NONE });
        let mut received = pass(&mut line, 0..100);
        let late = received.windows(2).filter(|pair| pair[0] > pair[1]).count();
        received.extend(receive(&mut line, at_ms(1_000)));
        assert_eq!(received.len(), 100);
        assert!(line.tally().delayed > 3 && late > 0, "{:?}", line.tally());
        assert!(line.tally().reordered <= line.tally().delayed);
    }

    #[test]
    fn a_duplicate_is_a_second_copy() {
        let mut line = line(Faults { duplication: Chance::ALWAYS, ..Faults::NONE });
        assert_eq!(pass(&mut line, 0..3), [0, 0, 1, 1, 2, 2]);
        assert_eq!((line.tally().duplicated, line.tally().reordered), (3, 0));
        assert!(is_accounted_for(line.tally()));
    }

    #[test]
    fn one_bit_of_the_payload_is_flipped_in_each_copy_on_its_own() {
        let always = Chance::ALWAYS;
        let mut line = line(Faults { corruption: always, duplication: always, ..Faults::NONE });
        let mut bits = std::collections::BTreeSet::new();
        for number in 0..200 {
            line.send(MS, &frame(number));
            let copies = [(); 2].map(|()| flipped_bit(&line.receive(MS).unwrap(), &frame(number)));
            bits.extend(copies);
        }
        assert_eq!(line.tally().corrupted, 400);
        let payload = 42 * 8..56 * 8;
        assert!(bits.iter().all(|bit| payload.contains(bit)));
        assert!(bits.len() > 90, "every bit of it, in time: {}", bits.len());
    }

    #[test]
    fn any_bit_beyond_the_ethernet_header_may_be_flipped() {
        let (corruption, corrupted_part) = (Chance::ALWAYS, Part::Packet);
        let mut line = line(Faults { corruption, corrupted_part, ..Faults::NONE });
        let bits: Vec<_> = (0..500)
            .map(|number| {
                line.send(MS, &frame(number));
                flipped_bit(&line.receive(MS).unwrap(), &frame(number))
            })
            .collect();
        assert!(bits.iter().all(|bit| (14 * 8..56 * 8).contains(bit)));
        assert!(bits.iter().any(|bit| *bit < 34 * 8), "none in the IP header");
    }

    /// The one bit in which two frames differ.
    fn flipped_bit(left: &[u8], right: &[u8]) -> usize {
        assert_eq!(left.len(), right.len());
        let differ = |&bit: &usize| (left[bit / 8] ^ right[bit / 8]) >> (bit % 8) & 1 == 1;
        let bits: Vec<_> = (0..left.len() * 8).filter(differ).collect();
        assert_eq!(bits.len(), 1);
        bits[0]
    }

    #[test]
    fn a_frame_without_payload_stays_whole() {
        let mut line = line(Faults { corruption: Chance::ALWAYS, ..Faults::NONE });
        let mut empty = frame(1);
        empty.truncate(42);
        empty[16..18].copy_from_slice(&28_u16.to_be_bytes());
        line.send(MS, &empty);
        assert_eq!((line.receive(MS), line.tally().corrupted), (Some(empty), 0));
    }

    #[test]
    fn a_held_frame_is_overtaken_by_as_many_as_it_says() {
        let holding = |chance| Some(Holding { chance, frames: 3, at_most: MS * 100 });
        let mut line = line(Faults { holding: holding(Chance::ALWAYS), ..Faults::NONE });
        assert_eq!(pass(&mut line, 0..1), []);
        line.set(Faults { holding: holding(Chance::NEVER), ..Faults::NONE }, false, true);
        assert_eq!(pass(&mut line, 1..6), [1, 2, 3, 0, 4, 5]);
        assert_eq!((line.tally().held, line.tally().reordered), (1, 1));
    }

    #[test]
    fn a_held_frame_that_nobody_overtakes_leaves_in_time() {
        let holding = Some(Holding { chance: Chance::ALWAYS, frames: 1, at_most: MS * 4 });
        let mut line = line(Faults { holding, ..Faults::NONE });
        line.send(at_ms(1), &frame(1));
        line.send(at_ms(2), &frame(2));
        assert_eq!((receive(&mut line, at_ms(4)), line.poll_timeout()), (vec![], Some(at_ms(5))));
        assert_eq!(receive(&mut line, at_ms(5)), [1]);
        assert_eq!((receive(&mut line, at_ms(6)), line.poll_timeout()), (vec![2], None));
    }

    #[test]
    fn a_line_with_a_rate_carries_one_frame_after_the_other_and_its_queue_fills() {
        let bytes_per_second = 56_000;
        let rate = Some(Rate { bytes_per_second, queue_bytes: 112 });
        let mut line = line(Faults { rate, ..Faults::NONE });
        (1..=3).for_each(|number| line.send(Duration::ZERO, &frame(number)));
        assert_eq!((line.tally().overflowed, line.poll_timeout()), (1, Some(MS)));
        assert_eq!(receive(&mut line, MS), [1]);
        assert_eq!((receive(&mut line, MS * 2 - Duration::from_nanos(1))), []);
        assert_eq!(receive(&mut line, MS * 2), [2]);
        assert!(is_accounted_for(line.tally()));
    }

    #[test]
    fn what_waits_has_a_bound() {
        let mut line = line(Faults { delay: Delay::exactly(MS), ..Faults::NONE });
        let huge = vec![0; UNDER_WAY_BYTES / 2];
        (0..3).for_each(|_| line.send(Duration::ZERO, &huge));
        assert_eq!((line.tally().overflowed, line.tally().under_way), (1, 2));
        assert!(line.receive(MS).is_some());
        line.send(MS, &huge);
        assert_eq!(line.tally().overflowed, 1);
    }
}
