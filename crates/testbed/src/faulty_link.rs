//! The link of a relay in one direction, without sockets and without a clock.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use crate::fault_draw::FaultRng;
use crate::faults::{Faults, Part};
use crate::frame::Frame;
use crate::relay_counters::RelayCounters;

/// The most memory of frames in flight: half a second at 1 Gbit/s. Frames beyond that are dropped.
const IN_FLIGHT_BYTES: usize = 64 << 20;

/// A link from one host to the other that applies faults to frames.
///
/// Times are relative to the start of the relay.
#[derive(Debug)]
pub(crate) struct FaultyLink {
    rng: FaultRng,
    faults: Faults,
    cut: bool,
    on: bool,
    in_flight: BinaryHeap<Reverse<InFlight>>,
    /// The held frames, in the order in which they were sent.
    held: Vec<Held>,
    bytes: usize,
    /// Buffers for reuse.
    spare: Vec<Vec<u8>>,
    /// The sequence number that orders frames with the same departure.
    order: u64,
    /// The time at which the link has transmitted its queue.
    free_at: Duration,
    /// The latest departure of a frame that keeps its order. The next such frame leaves no earlier.
    last_departure: Duration,
    /// The highest number of a frame that has left.
    last_number: u64,
    counters: RelayCounters,
}

/// A frame and its departure, by which frames are ordered first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct InFlight {
    departure: Duration,
    order: u64,
    frame: Numbered,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Numbered {
    /// `None` for a frame without faults.
    number: Option<u64>,
    bytes: Vec<u8>,
}

#[derive(Debug)]
struct Held {
    /// The number of frames that must still overtake it.
    frames: u32,
    /// The time at which the frame leaves in any case.
    latest: Duration,
    frame: Numbered,
}

impl FaultyLink {
    pub(crate) fn new(seed: u64, direction: usize, faults: Faults) -> Self {
        Self {
            rng: FaultRng::new(seed, direction),
            faults,
            cut: false,
            on: true,
            in_flight: BinaryHeap::new(),
            held: Vec::new(),
            bytes: 0,
            spare: Vec::new(),
            order: 0,
            free_at: Duration::ZERO,
            last_departure: Duration::ZERO,
            last_number: 0,
            counters: RelayCounters::default(),
        }
    }

    /// Sets the faults of later frames. Frames in flight keep their departures.
    pub(crate) fn set(&mut self, faults: Faults, cut: bool, on: bool) {
        (self.faults, self.cut, self.on) = (faults, cut, on);
    }

    /// Accepts a frame from the sending host.
    pub(crate) fn send(&mut self, now: Duration, bytes: &[u8]) {
        let frame = Frame::parse(bytes);
        if !self.on || !frame.is_selected_by(&self.faults.filter) {
            self.counters.untouched += 1;
            let frame = self.copy_of(None, bytes);
            return self.add_in_flight(now, frame);
        }
        self.counters.sent += 1;
        let number = self.counters.sent;
        if self.cut {
            self.counters.cut += 1;
            return;
        }
        if self.rng.is_lost(number, &self.faults) {
            self.counters.lost += 1;
            return;
        }
        let Some(transmitted) = self.enqueue(now, bytes.len()) else {
            self.counters.overflowed += 1;
            return;
        };
        self.send_copy(transmitted, (number, 0), bytes, &frame);
        if self.rng.is_duplicated(number, &self.faults) {
            self.counters.duplicated += 1;
            self.send_copy(transmitted, (number, 1), bytes, &frame);
        }
    }

    /// Returns the next frame whose departure has come. The caller passes its buffer to
    /// [`recycle`](Self::recycle).
    pub(crate) fn receive(&mut self, now: Duration) -> Option<Vec<u8>> {
        self.release_overdue(now);
        if self.in_flight.peek().is_none_or(|Reverse(next)| next.departure > now) {
            return None;
        }
        let Reverse(InFlight { frame: Numbered { number, bytes }, .. }) = self.in_flight.pop()?;
        self.bytes -= bytes.len();
        if let Some(number) = number {
            self.counters.arrived += 1;
            self.counters.in_flight -= 1;
            self.counters.reordered += u64::from(number < self.last_number);
            self.last_number = self.last_number.max(number);
        }
        Some(bytes)
    }

    /// Takes back the buffer of a frame that has left.
    pub(crate) fn recycle(&mut self, frame: Vec<u8>) {
        self.spare.push(frame);
    }

    /// Returns the next departure.
    pub(crate) fn poll_timeout(&self) -> Option<Duration> {
        let next = self.in_flight.peek().map(|Reverse(next)| next.departure);
        self.held.iter().map(|held| held.latest).chain(next).min()
    }

    pub(crate) fn counters(&self) -> &RelayCounters {
        &self.counters
    }

    pub(crate) fn counters_mut(&mut self) -> &mut RelayCounters {
        &mut self.counters
    }

    /// Queues a frame for the link. Returns the end of its transmission, or `None` if the queue is
    /// full.
    fn enqueue(&mut self, now: Duration, length: usize) -> Option<Duration> {
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

    /// Sends one copy with the faults drawn for it.
    fn send_copy(
        &mut self,
        transmitted: Duration,
        (number, copy): (u64, u64),
        bytes: &[u8],
        frame: &Frame,
    ) {
        if self.bytes + bytes.len() > IN_FLIGHT_BYTES {
            self.counters.overflowed += 1;
            return;
        }
        let drawn = self.rng.draw_copy(number, copy, &self.faults);
        let mut numbered = self.copy_of(Some(number), bytes);
        self.counters.in_flight += 1;
        self.counters.delayed += u64::from(drawn.long);
        if let Some(random) = drawn.flip {
            let is_flipped = flip(&mut numbered.bytes, frame, self.faults.corrupted_part, random);
            self.counters.corrupted += u64::from(is_flipped);
        }
        let mut departure = transmitted + drawn.delay;
        if let (true, Some(holding)) = (drawn.held, self.faults.holding) {
            self.counters.held += 1;
            let (frames, latest) = (holding.frames.max(1), departure + holding.at_most);
            self.bytes += numbered.bytes.len();
            self.held.push(Held { frames, latest, frame: numbered });
            return;
        }
        if !self.faults.reorders {
            departure = departure.max(self.last_departure);
            self.last_departure = departure;
        }
        self.add_in_flight(departure, numbered);
        self.overtake(departure);
    }

    /// Counts a frame with this departure against the held frames, and releases those that enough
    /// frames have overtaken.
    fn overtake(&mut self, departure: Duration) {
        for held in &mut self.held {
            held.frames -= 1;
        }
        while let Some(index) = self.held.iter().position(|held| held.frames == 0) {
            self.release(index, departure);
        }
    }

    /// Releases the frames whose holding time has ended.
    fn release_overdue(&mut self, now: Duration) {
        while let Some(index) = self.held.iter().position(|held| held.latest <= now) {
            self.release(index, self.held[index].latest);
        }
    }

    fn release(&mut self, index: usize, departure: Duration) {
        let Held { frame, .. } = self.held.remove(index);
        self.bytes -= frame.bytes.len();
        self.add_in_flight(departure, frame);
    }

    fn add_in_flight(&mut self, departure: Duration, frame: Numbered) {
        self.order += 1;
        self.bytes += frame.bytes.len();
        self.in_flight.push(Reverse(InFlight { departure, order: self.order, frame }));
    }

    fn copy_of(&mut self, number: Option<u64>, bytes: &[u8]) -> Numbered {
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(bytes);
        Numbered { number, bytes: copy }
    }
}

/// Flips a bit in a part of a frame, selected by `random`. Returns `false` if the part is empty.
fn flip(bytes: &mut [u8], frame: &Frame, part: Part, random: u64) -> bool {
    let range = frame.part(part);
    let bits = range.len() as u64 * 8;
    // The high half of the product scales `random` to 0..bits.
    let bit = ((u128::from(random) * u128::from(bits)) >> 64) as usize;
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

    /// Returns an IPv4 UDP datagram with a number and ten zero bytes.
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

    fn link(faults: Faults) -> FaultyLink {
        FaultyLink::new(7, 0, faults)
    }

    fn at_ms(ms: u32) -> Duration {
        MS * ms
    }

    /// Returns the numbers of all frames that have left at `now`.
    fn receive(link: &mut FaultyLink, now: Duration) -> Vec<u32> {
        std::iter::from_fn(|| link.receive(now)).map(|bytes| number_of(&bytes)).collect()
    }

    /// Sends a frame per millisecond and receives before each next one.
    fn pass(link: &mut FaultyLink, numbers: std::ops::Range<u32>) -> Vec<u32> {
        let mut received = Vec::new();
        for number in numbers {
            link.send(at_ms(number), &frame(number));
            received.extend(receive(link, at_ms(number)));
        }
        received
    }

    fn is_balanced(counters: &RelayCounters) -> bool {
        let RelayCounters { sent, duplicated, lost, cut, overflowed, arrived, in_flight, .. } =
            *counters;
        sent + duplicated == lost + cut + overflowed + arrived + in_flight
    }

    #[test]
    fn frames_pass_in_order_without_faults() {
        let mut link = link(Faults::NONE);
        link.send(at_ms(3), &frame(1));
        link.send(at_ms(3), &frame(2));
        assert_eq!(link.receive(at_ms(3)), Some(frame(1)));
        assert_eq!(link.receive(at_ms(3)), Some(frame(2)));
        assert_eq!((link.receive(at_ms(3)), link.poll_timeout()), (None, None));
        assert_eq!(
            *link.counters(),
            RelayCounters { sent: 2, arrived: 2, ..RelayCounters::default() }
        );
    }

    #[test]
    fn loss_drops_and_counts_frames() {
        let mut link = link(Faults { loss: Chance::percent(20), ..Faults::NONE });
        let received = pass(&mut link, 0..1_000);
        let counters = *link.counters();
        assert_eq!(received.len() as u64, 1_000 - counters.lost);
        assert!((150..250).contains(&counters.lost) && is_balanced(&counters));
    }

    #[test]
    fn runs_are_reproducible_by_seed() {
        let faults = Faults {
            loss: Chance::percent(10),
            duplication: Chance::percent(10),
            corruption: Chance::percent(10),
            delay: Delay { jitter: MS * 3, ..Delay::default() },
            reorders: true,
            ..Faults::NONE
        };
        let run = |seed| {
            let mut link = FaultyLink::new(seed, 0, faults);
            let received = pass(&mut link, 0..500);
            (received, *link.counters())
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }

    /// Frames that are not selected do not change the faults of others.
    #[test]
    fn unselected_frames_consume_no_number() {
        let filter = Filter { protocol: Some(Protocol::Udp), ..Filter::default() };
        let faults = Faults { filter, loss: Chance::percent(30), ..Faults::NONE };
        let alone = pass(&mut link(faults), 0..200);
        let mut link = link(faults);
        let mut among_others = Vec::new();
        for number in 0..200 {
            link.send(at_ms(number), &arp());
            assert_eq!(link.receive(at_ms(number)), Some(arp()), "ARP is not selected");
            link.send(at_ms(number), &frame(number));
            among_others.extend(receive(&mut link, at_ms(number)));
        }
        assert_eq!(among_others, alone);
        assert_eq!((link.counters().untouched, link.counters().sent), (200, 200));
    }

    #[test]
    fn arp_is_selected_on_request() {
        let filter = Filter { arp: true, ..Filter::default() };
        let mut link = link(Faults { filter, loss: Chance::ALWAYS, ..Faults::NONE });
        link.send(MS, &arp());
        assert_eq!((link.receive(MS), link.counters().lost), (None, 1));
    }

    #[test]
    fn cut_link_drops_every_frame() {
        let mut link = link(Faults::NONE);
        link.set(Faults::NONE, true, true);
        assert_eq!(pass(&mut link, 0..3), []);
        link.set(Faults::NONE, false, true);
        assert_eq!(pass(&mut link, 3..5), [3, 4]);
        assert_eq!((link.counters().cut, link.counters().arrived), (3, 2));
    }

    #[test]
    fn link_that_is_off_passes_every_frame() {
        let faults = Faults { loss: Chance::ALWAYS, ..Faults::NONE };
        let mut link = link(faults);
        link.set(faults, true, false);
        assert_eq!(pass(&mut link, 0..3), [0, 1, 2]);
        link.set(faults, false, true);
        assert_eq!(pass(&mut link, 3..5), []);
        assert_eq!((link.counters().untouched, link.counters().lost), (3, 2));
    }

    #[test]
    fn delayed_frames_leave_at_their_departure() {
        let mut link = link(Faults { delay: Delay::exactly(MS * 5), ..Faults::NONE });
        link.send(at_ms(1), &frame(1));
        assert_eq!(link.poll_timeout(), Some(at_ms(6)));
        assert_eq!(receive(&mut link, at_ms(6) - Duration::from_nanos(1)), []);
        assert_eq!(link.counters().in_flight, 1);
        assert_eq!(receive(&mut link, at_ms(6)), [1]);
        assert_eq!((link.counters().in_flight, link.poll_timeout()), (0, None));
    }

    #[test]
    fn jitter_reorders_frames_only_if_allowed() {
        let delay = Delay { jitter: MS * 10, ..Delay::default() };
        let run = |reorders| {
            let mut link = link(Faults { delay, reorders, ..Faults::NONE });
            let mut received = pass(&mut link, 0..300);
            received.extend(receive(&mut link, at_ms(1_000)));
            (received, link.counters().reordered)
        };
        let (kept, reordered) = run(false);
        assert!(kept.is_sorted() && kept.len() == 300 && reordered == 0);
        let (mut mixed, reordered) = run(true);
        assert!(!mixed.is_sorted() && reordered > 50);
        mixed.sort_unstable();
        assert_eq!(mixed, kept);
    }

    #[test]
    fn long_delays_are_counted_and_reorder() {
        let delay = Delay { long_chance: Chance::percent(10), long: MS * 50, ..Delay::default() };
        let mut link = link(Faults { delay, reorders: true, ..Faults::NONE });
        let mut received = pass(&mut link, 0..100);
        let late = received.windows(2).filter(|pair| pair[0] > pair[1]).count();
        received.extend(receive(&mut link, at_ms(1_000)));
        assert_eq!(received.len(), 100);
        assert!(link.counters().delayed > 3 && late > 0, "{:?}", link.counters());
        assert!(link.counters().reordered <= link.counters().delayed);
    }

    #[test]
    fn duplicates_are_second_copies() {
        let mut link = link(Faults { duplication: Chance::ALWAYS, ..Faults::NONE });
        assert_eq!(pass(&mut link, 0..3), [0, 0, 1, 1, 2, 2]);
        assert_eq!((link.counters().duplicated, link.counters().reordered), (3, 0));
        assert!(is_balanced(link.counters()));
    }

    #[test]
    fn corruption_flips_one_payload_bit_per_copy() {
        let always = Chance::ALWAYS;
        let mut link = link(Faults { corruption: always, duplication: always, ..Faults::NONE });
        let mut bits = std::collections::BTreeSet::new();
        for number in 0..200 {
            link.send(MS, &frame(number));
            let copies = [(); 2].map(|()| flipped_bit(&link.receive(MS).unwrap(), &frame(number)));
            bits.extend(copies);
        }
        assert_eq!(link.counters().corrupted, 400);
        let payload = 42 * 8..56 * 8;
        assert!(bits.iter().all(|bit| payload.contains(bit)));
        assert!(bits.len() > 90, "{} different bits", bits.len());
    }

    #[test]
    fn corruption_of_packets_flips_any_bit_after_ethernet() {
        let (corruption, corrupted_part) = (Chance::ALWAYS, Part::Packet);
        let mut link = link(Faults { corruption, corrupted_part, ..Faults::NONE });
        let bits: Vec<_> = (0..500)
            .map(|number| {
                link.send(MS, &frame(number));
                flipped_bit(&link.receive(MS).unwrap(), &frame(number))
            })
            .collect();
        assert!(bits.iter().all(|bit| (14 * 8..56 * 8).contains(bit)));
        assert!(bits.iter().any(|bit| *bit < 34 * 8), "no bit in the IP header");
    }

    /// Returns the only bit in which two frames differ.
    fn flipped_bit(left: &[u8], right: &[u8]) -> usize {
        assert_eq!(left.len(), right.len());
        let differ = |&bit: &usize| (left[bit / 8] ^ right[bit / 8]) >> (bit % 8) & 1 == 1;
        let bits: Vec<_> = (0..left.len() * 8).filter(differ).collect();
        assert_eq!(bits.len(), 1);
        bits[0]
    }

    #[test]
    fn frames_without_payload_stay_unchanged() {
        let mut link = link(Faults { corruption: Chance::ALWAYS, ..Faults::NONE });
        let mut empty = frame(1);
        empty.truncate(42);
        empty[16..18].copy_from_slice(&28_u16.to_be_bytes());
        link.send(MS, &empty);
        assert_eq!((link.receive(MS), link.counters().corrupted), (Some(empty), 0));
    }

    #[test]
    fn held_frames_leave_after_enough_frames() {
        let holding = |chance| Some(Holding { chance, frames: 3, at_most: MS * 100 });
        let mut link = link(Faults { holding: holding(Chance::ALWAYS), ..Faults::NONE });
        assert_eq!(pass(&mut link, 0..1), []);
        link.set(Faults { holding: holding(Chance::NEVER), ..Faults::NONE }, false, true);
        assert_eq!(pass(&mut link, 1..6), [1, 2, 3, 0, 4, 5]);
        assert_eq!((link.counters().held, link.counters().reordered), (1, 1));
    }

    #[test]
    fn held_frames_leave_after_their_time() {
        let holding = Some(Holding { chance: Chance::ALWAYS, frames: 1, at_most: MS * 4 });
        let mut link = link(Faults { holding, ..Faults::NONE });
        link.send(at_ms(1), &frame(1));
        link.send(at_ms(2), &frame(2));
        assert_eq!((receive(&mut link, at_ms(4)), link.poll_timeout()), (vec![], Some(at_ms(5))));
        assert_eq!(receive(&mut link, at_ms(5)), [1]);
        assert_eq!((receive(&mut link, at_ms(6)), link.poll_timeout()), (vec![2], None));
    }

    #[test]
    fn rate_delays_frames_and_fills_the_queue() {
        let bytes_per_second = 56_000;
        let rate = Some(Rate { bytes_per_second, queue_bytes: 112 });
        let mut link = link(Faults { rate, ..Faults::NONE });
        (1..=3).for_each(|number| link.send(Duration::ZERO, &frame(number)));
        assert_eq!((link.counters().overflowed, link.poll_timeout()), (1, Some(MS)));
        assert_eq!(receive(&mut link, MS), [1]);
        assert_eq!((receive(&mut link, MS * 2 - Duration::from_nanos(1))), []);
        assert_eq!(receive(&mut link, MS * 2), [2]);
        assert!(is_balanced(link.counters()));
    }

    #[test]
    fn memory_in_flight_is_bounded() {
        let mut link = link(Faults { delay: Delay::exactly(MS), ..Faults::NONE });
        let huge = vec![0; IN_FLIGHT_BYTES / 2];
        (0..3).for_each(|_| link.send(Duration::ZERO, &huge));
        assert_eq!((link.counters().overflowed, link.counters().in_flight), (1, 2));
        assert!(link.receive(MS).is_some());
        link.send(MS, &huge);
        assert_eq!(link.counters().overflowed, 1);
    }
}
