//! A link: datagrams in one direction.

use hairpin_time::{Duration, Instant};

use crate::script::Effect;
use crate::{Census, Faults, Random, Script, Timeline};

/// A link from one sender to one receiver that applies faults to datagrams.
///
/// See the [crate] for an example.
#[derive(Debug)]
pub struct Link {
    random: Random,
    faults: Faults,
    script: Script,
    cut: bool,
    in_flight: Timeline<InFlight>,
    /// Buffers of arrived datagrams, for reuse.
    spare: Vec<Vec<u8>>,
    /// The time at which the link has transmitted its queue.
    free_at: Instant,
    /// The latest arrival of a datagram that keeps its order. The next such datagram arrives no
    /// earlier.
    last_arrival: Instant,
    /// The highest number of an arrived datagram.
    last_number: u64,
    counters: LinkCounters,
}

#[derive(Debug)]
struct InFlight {
    number: u64,
    bytes: Vec<u8>,
}

macro_rules! link_counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counters of a link.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        pub struct LinkCounters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl LinkCounters {
            /// Returns every counter with its name.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }
        }
    };
}

link_counters! {
    /// Datagrams sent, lost ones included.
    sent,
    /// Datagrams that arrived, copies included.
    arrived,
    /// Datagrams dropped by `loss` or by the script.
    lost,
    /// Datagrams dropped because the link was cut.
    cut,
    /// Datagrams dropped because the link's queue was full.
    overflowed,
    /// Datagrams with a second copy.
    duplicated,
    /// Copies with a flipped bit.
    corrupted,
    /// Copies with a long delay, or with a delay of the script.
    delayed,
    /// Copies that arrived after a datagram that was sent later.
    reordered,
}

impl Link {
    /// Returns a link with these faults.
    #[must_use]
    pub fn new(random: Random, faults: Faults) -> Self {
        Self {
            random,
            faults,
            script: Script::new(),
            cut: false,
            in_flight: Timeline::new(),
            spare: Vec::new(),
            free_at: Instant::ZERO,
            last_arrival: Instant::ZERO,
            last_number: 0,
            counters: LinkCounters::default(),
        }
    }

    /// Sets the script.
    #[must_use]
    pub fn with_script(self, script: Script) -> Self {
        Self { script, ..self }
    }

    /// Sets the faults of later datagrams. Datagrams in flight keep their arrivals.
    pub fn set_faults(&mut self, faults: Faults) {
        self.faults = faults;
    }

    /// Cuts the link or ends the cut. Datagrams in flight still arrive.
    pub fn set_cut(&mut self, cut: bool) {
        self.cut = cut;
    }

    /// Sends a datagram.
    pub fn send(&mut self, now: Instant, datagram: &[u8]) {
        self.counters.sent += 1;
        let number = self.counters.sent;
        if self.cut {
            self.counters.cut += 1;
            return;
        }
        if self.script.effects_on(number).next().is_some() {
            return self.send_scripted(now, number, datagram);
        }
        if self.random.happens(self.faults.loss) {
            self.counters.lost += 1;
            return;
        }
        let Some(transmitted) = self.enqueue(now, datagram.len()) else {
            self.counters.overflowed += 1;
            return;
        };
        self.deliver(transmitted, number, datagram);
        if self.random.happens(self.faults.duplication) {
            self.counters.duplicated += 1;
            self.deliver(transmitted, number, datagram);
        }
    }

    /// Passes every datagram that has arrived at `now` to `on`, with its time of arrival.
    pub fn receive(&mut self, now: Instant, mut on: impl FnMut(Instant, &[u8])) {
        while let Some((at, datagram)) = self.in_flight.pop(now) {
            self.counters.arrived += 1;
            self.counters.reordered += u64::from(datagram.number < self.last_number);
            self.last_number = self.last_number.max(datagram.number);
            on(at, &datagram.bytes);
            self.spare.push(datagram.bytes);
        }
    }

    /// Returns the next arrival.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.in_flight.next_at()
    }

    /// Drops all datagrams in flight.
    pub fn clear(&mut self) {
        self.spare.extend(self.in_flight.drain().map(|datagram| datagram.bytes));
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> &LinkCounters {
        &self.counters
    }

    /// Adds the counters to a census, under the names of [`LinkCounters`].
    pub fn report(&self, census: &mut Census) {
        self.counters.iter().for_each(|(class, times)| census.add(class, times));
    }

    /// Queues a datagram for the link. Returns the end of its transmission, or `None` if the queue
    /// is full.
    fn enqueue(&mut self, now: Instant, length: usize) -> Option<Instant> {
        let Some(rate) = self.faults.rate else { return Some(now) };
        let time_of = |bytes: u64| {
            Duration::from_nanos(bytes.saturating_mul(1_000_000_000) / rate.bytes_per_second.max(1))
        };
        let waiting = self.free_at.saturating_since(now);
        if waiting + time_of(length as u64) > time_of(rate.queue_bytes as u64) {
            return None;
        }
        self.free_at = now + waiting + time_of(length as u64);
        Some(self.free_at)
    }

    /// Sends one copy with randomly drawn faults.
    fn deliver(&mut self, transmitted: Instant, number: u64, datagram: &[u8]) {
        let (delay, is_long) = self.faults.delay.draw(&mut self.random);
        self.counters.delayed += u64::from(is_long);
        let flipped = self.random.happens(self.faults.corruption).then(|| {
            let bits = datagram.len() as u64 * 8;
            self.random.below(bits) as usize
        });
        let mut arrival = transmitted + delay;
        if !self.faults.reorders {
            arrival = arrival.max(self.last_arrival);
            self.last_arrival = arrival;
        }
        self.add_in_flight(arrival, number, datagram, flipped);
    }

    fn add_in_flight(
        &mut self,
        arrival: Instant,
        number: u64,
        datagram: &[u8],
        flipped: Option<usize>,
    ) {
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(datagram);
        if let Some(byte) = flipped.and_then(|bit| bytes.get_mut(bit / 8)) {
            *byte ^= 1 << (flipped.unwrap_or(0) % 8);
            self.counters.corrupted += 1;
        }
        self.in_flight.push(arrival, InFlight { number, bytes });
    }

    #[cold]
    fn send_scripted(&mut self, now: Instant, number: u64, datagram: &[u8]) {
        let (delay, _) = self.faults.delay.draw(&mut self.random);
        let (mut extra, mut copy, mut flipped, mut lost) = (Duration::ZERO, None, None, false);
        for effect in self.script.effects_on(number) {
            match effect {
                Effect::Drop => lost = true,
                Effect::Delay(by) => extra += by,
                Effect::Duplicate(after) => copy = Some(after),
                Effect::Flip(bit) => flipped = Some(bit),
            }
        }
        if lost {
            self.counters.lost += 1;
            return;
        }
        self.counters.delayed += u64::from(extra > Duration::ZERO);
        self.counters.duplicated += u64::from(copy.is_some());
        // A delay of the script lets other datagrams overtake, so `last_arrival` is unchanged.
        self.add_in_flight(now + delay + extra, number, datagram, flipped);
        if let Some(after) = copy {
            self.add_in_flight(now + delay + extra + after, number, datagram, flipped);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chance, Delay, Rate};

    const START: Instant = Instant::from_nanos(1_000_000_000);
    const STEP: Duration = Duration::from_micros(100);
    const STILL: Faults = Faults { delay: Delay::exactly(STEP), ..Faults::LAN };

    /// Sends `count` datagrams, one per step, with their numbers from 1. Returns the arrivals as
    /// (number, steps after the start).
    fn run(link: &mut Link, count: u8) -> Vec<(u8, u64)> {
        let mut arrived = Vec::new();
        for number in 1..=count {
            link.send(START + STEP * u64::from(number), &[number, 0]);
        }
        while let Some(at) = link.poll_timeout() {
            link.receive(at, |time, bytes| {
                assert_eq!(time, at);
                arrived.push((bytes[0], (at - START).as_nanos() / STEP.as_nanos()));
            });
        }
        arrived
    }

    #[test]
    fn datagrams_arrive_in_order_without_faults() {
        let mut link = Link::new(Random::new(1), STILL);
        let expected: Vec<_> = (1..=5).map(|number| (number, u64::from(number) + 1)).collect();
        assert_eq!(run(&mut link, 5), expected);
        assert_eq!(
            *link.counters(),
            LinkCounters { sent: 5, arrived: 5, ..LinkCounters::default() }
        );
    }

    #[test]
    fn runs_are_reproducible_by_seed() {
        let faults =
            Faults { loss: Chance::percent(30), duplication: Chance::percent(30), ..STILL };
        let arrived = |seed| run(&mut Link::new(Random::new(seed), faults), 50);
        assert_eq!(arrived(1), arrived(1));
        assert_ne!(arrived(1), arrived(2));
    }

    #[test]
    fn script_drops_delays_duplicates_and_flips() {
        let script = Script::new()
            .drop(3..=3)
            .delay(5..=6, STEP * 4)
            .duplicate(8..=8, STEP * 3)
            .flip(9..=9, 1);
        // All other datagrams are lost. The script exempts its datagrams from random faults.
        let faults = Faults { loss: Chance::ALWAYS, ..STILL };
        let mut link = Link::new(Random::new(1), faults).with_script(script.clone());
        assert_eq!(run(&mut link, 9), [(8, 9), (5, 10), (11, 10), (6, 11), (8, 12)]);
        let mut link = Link::new(Random::new(1), STILL).with_script(script);
        let order: Vec<_> = run(&mut link, 9).into_iter().map(|(number, _)| number).collect();
        assert_eq!(order, [1, 2, 4, 7, 8, 5, 11, 6, 8], "9 with its second bit flipped is 11");
        let counters = LinkCounters {
            sent: 9,
            arrived: 9,
            lost: 1,
            duplicated: 1,
            corrupted: 1,
            delayed: 2,
            reordered: 3,
            ..LinkCounters::default()
        };
        assert_eq!(*link.counters(), counters);
    }

    #[test]
    fn cut_link_drops_datagrams_but_not_those_in_flight() {
        let mut link = Link::new(Random::new(1), STILL);
        link.send(START, b"in flight");
        link.set_cut(true);
        link.send(START, b"cut");
        link.set_cut(false);
        link.send(START, b"after");
        let mut arrived = Vec::new();
        link.receive(START + STEP, |_, bytes| arrived.push(bytes.to_vec()));
        assert_eq!(arrived, [&b"in flight"[..], b"after"]);
        assert_eq!((link.counters().cut, link.counters().lost), (1, 0));
    }

    #[test]
    fn rate_spaces_datagrams_and_fills_the_queue() {
        let rate = Some(Rate { bytes_per_second: 1_000_000, queue_bytes: 300 });
        let mut link = Link::new(Random::new(1), Faults { rate, ..STILL });
        (0..5).for_each(|_| link.send(START, &[0; 100]));
        let mut times = Vec::new();
        link.receive(START + STEP * 9, |at, _| times.push(at));
        assert_eq!(times, [2, 3, 4].map(|steps| START + STEP * steps));
        assert_eq!(link.counters().overflowed, 2);
        link.send(START + STEP * 9, &[0; 100]);
        assert_eq!(link.poll_timeout(), Some(START + STEP * 11));
    }

    #[test]
    fn jitter_reorders_only_if_allowed() {
        let delay = Delay { jitter: STEP * 10, ..STILL.delay };
        let arrived = |reorders| {
            let mut link = Link::new(Random::new(4), Faults { delay, reorders, ..STILL });
            let numbers: Vec<_> = run(&mut link, 100).into_iter().map(|(n, _)| n).collect();
            (numbers.is_sorted(), numbers.len(), link.counters().reordered > 0)
        };
        assert_eq!(arrived(false), (true, 100, false));
        assert_eq!(arrived(true), (false, 100, true));
    }

    #[test]
    fn reordered_datagrams_do_not_delay_ordered_ones() {
        let delay = Delay { long_chance: Chance::ALWAYS, long: STEP * 50, ..STILL.delay };
        let mut link = Link::new(Random::new(1), Faults { delay, reorders: true, ..STILL });
        link.send(START, b"late");
        link.set_faults(STILL);
        link.send(START, b"on time");
        assert_eq!(link.poll_timeout(), Some(START + STEP));
    }

    #[test]
    fn faults_occur_with_their_probability_and_are_counted() {
        let faults = Faults {
            loss: Chance::percent(10),
            duplication: Chance::percent(10),
            corruption: Chance::percent(10),
            delay: Delay { long_chance: Chance::percent(10), long: STEP, ..STILL.delay },
            ..STILL
        };
        let mut link = Link::new(Random::new(8), faults);
        (0..10_000).for_each(|_| link.send(START, &[0; 8]));
        let (mut arrived, mut flipped) = (0, 0);
        link.receive(START + STEP * 9, |_, bytes| {
            arrived += 1;
            flipped += bytes.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>();
        });
        let counters = *link.counters();
        assert_eq!((arrived, flipped), (counters.arrived, counters.corrupted));
        assert_eq!(counters.arrived, counters.sent - counters.lost + counters.duplicated);
        for count in [counters.lost, counters.duplicated, counters.corrupted, counters.delayed] {
            assert!((800..1_200).contains(&count), "{counters:?}");
        }
    }

    #[test]
    fn cleared_datagrams_never_arrive_and_empty_ones_stay_empty() {
        let mut link = Link::new(Random::new(1), Faults { corruption: Chance::ALWAYS, ..STILL });
        link.send(START, b"lost");
        link.clear();
        assert_eq!(link.poll_timeout(), None);
        link.send(START, b"");
        link.receive(START + STEP, |_, bytes| assert!(bytes.is_empty()));
        let mut census = Census::new();
        link.report(&mut census);
        assert_eq!((census.of("sent"), census.of("corrupted"), census.of("lost")), (2, 1, 0));
    }
}
