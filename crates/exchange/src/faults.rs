//! Faults of the network, made where packets leave: on side A and on side B, each by itself.
//!
//! A value without IO: every packet of a side comes in, and what a receiver of that side would get
//! comes out, now or at [`FeedFaults::poll_timeout`]. The same seed and the same packets at the
//! same times give the same faults; what one side suffers says nothing about the other.

use hairpin_time::{Duration, Instant};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::{Feed, FeedSide, MAX_PAYLOAD};

/// Packets that are held back at once, of both sides together. One more leaves at once.
const HELD_MAX: usize = 512;
/// How long a packet that is to be overtaken waits for one to overtake it.
const PATIENCE: Duration = Duration::from_millis(20);

/// What may happen to the packets of one side: chances are parts per million of each packet.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct SideFaults {
    /// The packet is lost.
    pub drop_ppm: u32,
    /// It is sent twice.
    pub duplicate_ppm: u32,
    /// It is sent behind the next packet of its feed, or after 20 ms if there is none.
    pub reorder_ppm: u32,
    /// It is held back for up to `delay_max`; others may overtake it.
    pub delay_ppm: u32,
    /// The longest delay.
    pub delay_max: Duration,
    /// With it silence begins: the packet and all others of the side are lost for `silence`.
    pub silence_ppm: u32,
    /// How long a silence is.
    pub silence: Duration,
}

/// Faults of both sides.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct FaultSettings {
    /// Where all chances come from.
    pub seed: u64,
    /// What may happen on side A.
    pub a: SideFaults,
    /// What may happen on side B.
    pub b: SideFaults,
}

/// How many packets of a side were hit by what.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct FaultTally {
    /// Packets that came in.
    pub packets: u64,
    /// Packets lost, but for silences.
    pub dropped: u64,
    /// Packets sent twice.
    pub duplicated: u64,
    /// Packets held until another had overtaken them, or for 20 ms.
    pub reordered: u64,
    /// Packets held for a time.
    pub delayed: u64,
    /// Silences that have begun.
    pub silences: u64,
    /// Packets lost in silences.
    pub silenced: u64,
    /// Packets that should have been held but left at once, since too many were held already.
    pub unheld: u64,
}

/// The faults, and the packets they hold back.
#[derive(Debug)]
pub struct FeedFaults {
    sides: [Side; 2],
    held: Box<[Held]>,
    /// Places of `held` that are taken, in the order of their coming.
    waiting: Vec<usize>,
    free: Vec<usize>,
}

#[derive(Debug)]
struct Side {
    faults: SideFaults,
    random: ChaCha8Rng,
    silent_until: Instant,
    tally: FaultTally,
}

#[derive(Debug, Clone)]
struct Held {
    release: Instant,
    /// It leaves as soon as another of its feed and side has.
    is_overtaken: bool,
    side: FeedSide,
    feed: Feed,
    length: usize,
    bytes: [u8; MAX_PAYLOAD],
}

/// What becomes of a packet.
enum Fate {
    Lost,
    Sent,
    Twice,
    Overtaken,
    Late(Duration),
}

impl FeedFaults {
    /// No fault has happened yet. All memory that will ever be used is taken here.
    #[must_use]
    pub fn new(settings: &FaultSettings) -> Self {
        let side = |(stream, faults)| {
            let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
            random.set_stream(stream);
            let (silent_until, tally) = (Instant::ZERO, FaultTally::default());
            Side { faults, random, silent_until, tally }
        };
        let held = Held {
            release: Instant::ZERO,
            is_overtaken: false,
            side: FeedSide::A,
            feed: Feed::Incremental,
            length: 0,
            bytes: [0; MAX_PAYLOAD],
        };
        Self {
            sides: [(1, settings.a), (2, settings.b)].map(side),
            held: vec![held; HELD_MAX].into(),
            waiting: Vec::with_capacity(HELD_MAX),
            free: (0..HELD_MAX).collect(),
        }
    }

    /// A packet leaves on a side: `send` gets what is to leave in its place, with the side and feed
    /// of each.
    pub fn handle_packet(
        &mut self,
        now: Instant,
        (side, feed): (FeedSide, Feed),
        packet: &[u8],
        send: &mut impl FnMut(FeedSide, Feed, &[u8]),
    ) {
        self.handle_timeout(now, send);
        match self.sides[side as usize].fate(now) {
            Fate::Lost => return,
            Fate::Sent => send(side, feed, packet),
            Fate::Twice => (0..2).for_each(|_| send(side, feed, packet)),
            Fate::Overtaken => {
                return self.hold((now + PATIENCE, true), (side, feed), packet, send);
            }
            Fate::Late(by) => return self.hold((now + by, false), (side, feed), packet, send),
        }
        let is_overtaken =
            |held: &Held| held.is_overtaken && (held.side, held.feed) == (side, feed);
        self.release(is_overtaken, send);
    }

    /// Packets that were held back leave when their time has come.
    pub fn handle_timeout(&mut self, now: Instant, send: &mut impl FnMut(FeedSide, Feed, &[u8])) {
        if !self.waiting.is_empty() {
            self.release(|held| held.release <= now, send);
        }
    }

    /// When the next packet that is held back leaves.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.waiting.iter().map(|&place| self.held[place].release).min()
    }

    /// What has happened on a side.
    #[must_use]
    pub fn tally(&self, side: FeedSide) -> &FaultTally {
        &self.sides[side as usize].tally
    }

    fn hold(
        &mut self,
        (release, is_overtaken): (Instant, bool),
        (side, feed): (FeedSide, Feed),
        packet: &[u8],
        send: &mut impl FnMut(FeedSide, Feed, &[u8]),
    ) {
        let Some(place) = self.free.pop() else {
            self.sides[side as usize].tally.unheld += 1;
            return send(side, feed, packet);
        };
        let held = &mut self.held[place];
        held.bytes[..packet.len()].copy_from_slice(packet);
        (held.release, held.is_overtaken) = (release, is_overtaken);
        (held.side, held.feed, held.length) = (side, feed, packet.len());
        self.waiting.push(place);
    }

    /// Sends those that are held and meant, in the order of their coming.
    fn release(
        &mut self,
        is_meant: impl Fn(&Held) -> bool,
        send: &mut impl FnMut(FeedSide, Feed, &[u8]),
    ) {
        let Self { held, waiting, free, .. } = self;
        waiting.retain(|&place| {
            let held = &held[place];
            if !is_meant(held) {
                return true;
            }
            send(held.side, held.feed, &held.bytes[..held.length]);
            free.push(place);
            false
        });
    }
}

impl Side {
    fn fate(&mut self, now: Instant) -> Fate {
        self.tally.packets += 1;
        // All chances are taken every time, so that one does not shift the others.
        let [drop, duplicate, reorder, delay, silence] = [
            self.faults.drop_ppm,
            self.faults.duplicate_ppm,
            self.faults.reorder_ppm,
            self.faults.delay_ppm,
            self.faults.silence_ppm,
        ]
        .map(|ppm| self.below(1_000_000) < u64::from(ppm));
        let by = Duration::from_nanos(self.below(self.faults.delay_max.as_nanos().max(1)));
        if silence && now >= self.silent_until {
            self.silent_until = now + self.faults.silence;
            self.tally.silences += 1;
        }
        if now < self.silent_until {
            self.tally.silenced += 1;
            return Fate::Lost;
        }
        let tally = &mut self.tally;
        let (count, fate) = match () {
            () if drop => (&mut tally.dropped, Fate::Lost),
            () if reorder => (&mut tally.reordered, Fate::Overtaken),
            () if delay => (&mut tally.delayed, Fate::Late(by)),
            () if duplicate => (&mut tally.duplicated, Fate::Twice),
            () => return Fate::Sent,
        };
        *count += 1;
        fate
    }

    /// A number below `bound`, which is no 0; biased by `bound` in 2^64.
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.random.next_u64()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: SideFaults = SideFaults {
        drop_ppm: 50_000,
        duplicate_ppm: 50_000,
        reorder_ppm: 50_000,
        delay_ppm: 50_000,
        delay_max: Duration::from_millis(3),
        silence_ppm: 500,
        silence: Duration::from_millis(50),
    };

    /// What leaves on each side of ten thousand packets, one every 100 µs.
    fn run(settings: &FaultSettings) -> ([Vec<u16>; 2], [FaultTally; 2]) {
        let mut faults = FeedFaults::new(settings);
        let mut left = [Vec::new(), Vec::new()];
        let mut send = |side: FeedSide, _: Feed, bytes: &[u8]| {
            left[side as usize].push(u16::from_le_bytes([bytes[0], bytes[1]]));
        };
        for number in 0..10_000_u16 {
            let now = Instant::from_nanos(u64::from(number) * 100_000);
            for side in FeedSide::ALL {
                let packet = number.to_le_bytes();
                faults.handle_packet(now, (side, Feed::Incremental), &packet, &mut send);
            }
        }
        while let Some(at) = faults.poll_timeout() {
            faults.handle_timeout(at, &mut send);
        }
        let tallies = FeedFaults::tally;
        let tallies = FeedSide::ALL.map(|side| *tallies(&faults, side));
        (left, tallies)
    }

    #[test]
    fn the_same_seed_makes_the_same_faults_and_another_makes_others() {
        let settings = FaultSettings { seed: 1, a: SOME, b: SOME };
        let ([a, b], _) = run(&settings);
        assert_eq!(run(&settings).0, [a.clone(), b.clone()]);
        assert_ne!(a, b, "the sides are independent");
        assert_ne!(run(&FaultSettings { seed: 2, ..settings }).0[0], a);
    }

    #[test]
    fn what_one_side_suffers_does_not_change_the_other() {
        let settings = FaultSettings { seed: 3, a: SOME, b: SOME };
        let without = FaultSettings { a: SideFaults::default(), ..settings };
        assert_eq!(run(&settings).0[1], run(&without).0[1]);
        assert!(run(&without).0[0].iter().copied().eq(0..10_000));
    }

    #[test]
    fn every_packet_is_accounted_for() {
        let (left, tallies) = run(&FaultSettings { seed: 4, a: SOME, b: SOME });
        for (left, tally) in left.iter().zip(tallies) {
            assert_eq!(tally.packets, 10_000);
            let lost = tally.dropped + tally.silenced;
            assert_eq!(left.len() as u64, tally.packets - lost + tally.duplicated);
            let FaultTally { dropped, duplicated, reordered, delayed, silences, .. } = tally;
            for count in [dropped, duplicated, reordered, delayed] {
                assert!((300..700).contains(&count), "{tally:?}");
            }
            assert!(silences > 0 && tally.unheld == 0, "{tally:?}");
            assert!(!left.is_sorted());
        }
    }

    #[test]
    fn a_reordered_packet_comes_right_behind_the_next() {
        let a = SideFaults { reorder_ppm: 1_000_000, ..SideFaults::default() };
        let mut faults = FeedFaults::new(&FaultSettings { seed: 1, a, ..FaultSettings::default() });
        let mut left = Vec::new();
        let mut send = |_: FeedSide, _: Feed, bytes: &[u8]| left.push(bytes[0]);
        let at = Instant::from_nanos;
        let from = (FeedSide::A, Feed::Incremental);
        faults.handle_packet(at(1), from, &[1], &mut send);
        faults.sides[0].faults.reorder_ppm = 0;
        faults.handle_packet(at(2), (FeedSide::A, Feed::Snapshots), &[9], &mut send);
        faults.handle_packet(at(3), from, &[2], &mut send);
        assert_eq!((left, faults.poll_timeout()), (vec![9, 2, 1], None));
    }

    #[test]
    fn a_packet_that_none_overtakes_leaves_when_patience_is_over() {
        let a = SideFaults { reorder_ppm: 1_000_000, ..SideFaults::default() };
        let mut faults = FeedFaults::new(&FaultSettings { seed: 1, a, ..FaultSettings::default() });
        let mut left = Vec::new();
        let mut send = |_: FeedSide, _: Feed, bytes: &[u8]| left.push(bytes[0]);
        faults.handle_packet(Instant::ZERO, (FeedSide::A, Feed::Incremental), &[1], &mut send);
        let due = faults.poll_timeout();
        assert_eq!(due, Some(Instant::ZERO + PATIENCE));
        faults.handle_timeout(Instant::ZERO + PATIENCE, &mut send);
        assert_eq!((left, faults.poll_timeout()), (vec![1], None));
    }

    #[test]
    fn a_silence_loses_every_packet_of_its_side_for_its_time() {
        let a = SideFaults {
            silence_ppm: 1_000_000,
            silence: Duration::from_millis(10),
            ..SideFaults::default()
        };
        let mut faults = FeedFaults::new(&FaultSettings { seed: 1, a, ..FaultSettings::default() });
        let mut left = Vec::new();
        let mut send = |_: FeedSide, _: Feed, bytes: &[u8]| left.push(bytes[0]);
        for (millis, number) in [(0, 1), (5, 2), (9, 3), (10, 4)] {
            let now = Instant::ZERO + Duration::from_millis(millis);
            faults.handle_packet(now, (FeedSide::A, Feed::Incremental), &[number], &mut send);
            faults.sides[0].faults.silence_ppm = 0;
        }
        let FaultTally { silences, silenced, .. } = *faults.tally(FeedSide::A);
        assert_eq!((left, silences, silenced), (vec![4], 1, 3));
    }

    #[test]
    fn one_kind_of_fault_does_not_shift_the_others() {
        let settings = FaultSettings { seed: 5, a: SOME, b: SOME };
        let without = FaultSettings { a: SideFaults { delay_ppm: 0, ..SOME }, ..settings };
        let [with, without] = [settings, without].map(|settings| run(&settings).1[0]);
        assert!(with.delayed > 0 && without.delayed == 0);
        let others =
            |tally: FaultTally| (tally.dropped, tally.reordered, tally.silences, tally.silenced);
        assert_eq!(others(with), others(without));
    }

    #[test]
    fn a_full_store_holds_no_more() {
        let a = SideFaults { reorder_ppm: 1_000_000, ..SideFaults::default() };
        let mut faults = FeedFaults::new(&FaultSettings { seed: 1, a, ..FaultSettings::default() });
        let mut left = 0;
        for _ in 0..HELD_MAX + 3 {
            let from = (FeedSide::A, Feed::Incremental);
            faults.handle_packet(Instant::ZERO, from, &[1], &mut |_, _, _| left += 1);
        }
        assert_eq!((left, faults.tally(FeedSide::A).unheld), (3, 3));
    }
}
