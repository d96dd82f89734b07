//! Datagrams one way.

use hairpin_time::{Duration, Instant};

use crate::script::Effect;
use crate::{Census, Faults, Random, Script, Timeline};

/// A line from one sender to one receiver, on which things happen to datagrams.
///
/// See the [crate] for an example.
#[derive(Debug)]
pub struct Link {
    random: Random,
    faults: Faults,
    script: Script,
    is_cut: bool,
    under_way: Timeline<InFlight>,
    /// Buffers of datagrams that have arrived, to be used again.
    spare: Vec<Vec<u8>>,
    /// When the line has carried all that waits for it.
    free_at: Instant,
    /// The latest arrival of what keeps its order: what keeps it too comes no earlier.
    last_arrival: Instant,
    /// The number of the latest datagram that has arrived.
    last_number: u64,
    tally: Tally,
}

#[derive(Debug)]
struct InFlight {
    number: u64,
    bytes: Vec<u8>,
}

macro_rules! tally {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What has happened on a link.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        pub struct Tally {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Tally {
            /// Every count with its name.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }
        }
    };
}

tally! {
    /// Datagrams sent, whatever became of them.
    sent,
    /// Datagrams that arrived, copies included.
    arrived,
    /// Datagrams lost by chance or by script.
    lost,
    /// Datagrams lost because the link was cut.
    cut,
    /// Datagrams lost because the line's queue was full.
    overflowed,
    /// Datagrams of which a second copy was made.
    duplicated,
    /// Copies of which a bit was flipped.
    corrupted,
    /// Copies that had one of the long delays, or one by script.
    delayed,
    /// Copies that arrived after a datagram that was sent later.
    reordered,
}

impl Link {
    /// A link with these faults.
    #[must_use]
    pub fn new(random: Random, faults: Faults) -> Self {
        Self {
            random,
            faults,
            script: Script::new(),
            is_cut: false,
            under_way: Timeline::new(),
            spare: Vec::new(),
            free_at: Instant::ZERO,
            last_arrival: Instant::ZERO,
            last_number: 0,
            tally: Tally::default(),
        }
    }

    /// The same link with a script.
    #[must_use]
    pub fn with_script(self, script: Script) -> Self {
        Self { script, ..self }
    }

    /// What may happen to datagrams from now on. Those under way keep their time.
    pub fn set_faults(&mut self, faults: Faults) {
        self.faults = faults;
    }

    /// Cuts the link, or mends it. What is under way arrives all the same.
    pub fn set_cut(&mut self, is_cut: bool) {
        self.is_cut = is_cut;
    }

    /// A datagram leaves the sender.
    pub fn send(&mut self, now: Instant, datagram: &[u8]) {
        self.tally.sent += 1;
        let number = self.tally.sent;
        if self.is_cut {
            self.tally.cut += 1;
            return;
        }
        if self.script.effects_on(number).next().is_some() {
            return self.follow_script(now, number, datagram);
        }
        if self.random.happens(self.faults.loss) {
            self.tally.lost += 1;
            return;
        }
        let Some(leaves) = self.pass_line(now, datagram.len()) else {
            self.tally.overflowed += 1;
            return;
        };
        self.deliver(leaves, number, datagram);
        if self.random.happens(self.faults.duplication) {
            self.tally.duplicated += 1;
            self.deliver(leaves, number, datagram);
        }
    }

    /// Every datagram that has arrived by `now`, with the time it arrived, to one call of `on`.
    pub fn receive(&mut self, now: Instant, mut on: impl FnMut(Instant, &[u8])) {
        while let Some((at, datagram)) = self.under_way.pop(now) {
            self.tally.arrived += 1;
            self.tally.reordered += u64::from(datagram.number < self.last_number);
            self.last_number = self.last_number.max(datagram.number);
            on(at, &datagram.bytes);
            self.spare.push(datagram.bytes);
        }
    }

    /// When the next datagram arrives.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.under_way.next_at()
    }

    /// Forgets what is under way: nobody is there to receive it.
    pub fn clear(&mut self) {
        self.spare.extend(self.under_way.drain().map(|datagram| datagram.bytes));
    }

    /// What has happened so far.
    #[must_use]
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Adds what has happened to a census, under the names of the [`Tally`].
    pub fn report(&self, census: &mut Census) {
        self.tally.iter().for_each(|(class, times)| census.add(class, times));
    }

    /// When a datagram that is sent now has left the line; `None` if it finds no room.
    fn pass_line(&mut self, now: Instant, length: usize) -> Option<Instant> {
        let Some(rate) = self.faults.rate else { return Some(now) };
        let rate_of = |bytes: u64| {
            Duration::from_nanos(bytes.saturating_mul(1_000_000_000) / rate.bytes_per_second.max(1))
        };
        let waiting = self.free_at.saturating_since(now);
        if waiting + rate_of(length as u64) > rate_of(rate.queue_bytes as u64) {
            return None;
        }
        self.free_at = now + waiting + rate_of(length as u64);
        Some(self.free_at)
    }

    /// One copy is under way, subject to chance.
    fn deliver(&mut self, leaves: Instant, number: u64, datagram: &[u8]) {
        let (delay, is_long) = self.faults.delay.draw(&mut self.random);
        self.tally.delayed += u64::from(is_long);
        let flipped = self.random.happens(self.faults.corruption).then(|| {
            let bits = datagram.len() as u64 * 8;
            self.random.below(bits) as usize
        });
        let mut arrival = leaves + delay;
        if !self.faults.reorders {
            arrival = arrival.max(self.last_arrival);
            self.last_arrival = arrival;
        }
        self.put_under_way(arrival, number, datagram, flipped);
    }

    fn put_under_way(
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
            self.tally.corrupted += 1;
        }
        self.under_way.push(arrival, InFlight { number, bytes });
    }

    #[cold]
    fn follow_script(&mut self, now: Instant, number: u64, datagram: &[u8]) {
        let (delay, _) = self.faults.delay.draw(&mut self.random);
        let (mut late, mut again, mut flipped, mut is_lost) = (Duration::ZERO, None, None, false);
        for effect in self.script.effects_on(number) {
            match effect {
                Effect::Drop => is_lost = true,
                Effect::Delay(by) => late += by,
                Effect::Duplicate(after) => again = Some(after),
                Effect::Flip(bit) => flipped = Some(bit),
            }
        }
        if is_lost {
            self.tally.lost += 1;
            return;
        }
        self.tally.delayed += u64::from(late > Duration::ZERO);
        self.tally.duplicated += u64::from(again.is_some());
        // A scripted delay lets others overtake: it does not hold up the line.
        self.put_under_way(now + delay + late, number, datagram, flipped);
        if let Some(after) = again {
            self.put_under_way(now + delay + late + after, number, datagram, flipped);
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

    /// Sends `count` datagrams, one every step, each its number from 1; returns what arrives as
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
    fn without_faults_everything_arrives_in_order_after_the_delay() {
        let mut link = Link::new(Random::new(1), STILL);
        let expected: Vec<_> = (1..=5).map(|number| (number, u64::from(number) + 1)).collect();
        assert_eq!(run(&mut link, 5), expected);
        assert_eq!(*link.tally(), Tally { sent: 5, arrived: 5, ..Tally::default() });
    }

    #[test]
    fn one_seed_is_one_run() {
        let faults =
            Faults { loss: Chance::percent(30), duplication: Chance::percent(30), ..STILL };
        let arrived = |seed| run(&mut Link::new(Random::new(seed), faults), 50);
        assert_eq!(arrived(1), arrived(1));
        assert_ne!(arrived(1), arrived(2));
    }

    #[test]
    fn a_script_drops_delays_repeats_and_flips_what_it_names() {
        let script = Script::new()
            .drop(3..=3)
            .delay(5..=6, STEP * 4)
            .duplicate(8..=8, STEP * 3)
            .flip(9..=9, 1);
        // Chance would lose all; what is scripted is spared.
        let faults = Faults { loss: Chance::ALWAYS, ..STILL };
        let mut link = Link::new(Random::new(1), faults).with_script(script.clone());
        assert_eq!(run(&mut link, 9), [(8, 9), (5, 10), (11, 10), (6, 11), (8, 12)]);
        let mut link = Link::new(Random::new(1), STILL).with_script(script);
        let order: Vec<_> = run(&mut link, 9).into_iter().map(|(number, _)| number).collect();
        assert_eq!(order, [1, 2, 4, 7, 8, 5, 11, 6, 8], "9 with its second bit flipped is 11");
        let tally = Tally {
            sent: 9,
            arrived: 9,
            lost: 1,
            duplicated: 1,
            corrupted: 1,
            delayed: 2,
            reordered: 3,
            ..Tally::default()
        };
        assert_eq!(*link.tally(), tally);
    }

    #[test]
    fn a_cut_link_loses_all_until_it_is_mended_but_not_what_is_under_way() {
        let mut link = Link::new(Random::new(1), STILL);
        link.send(START, b"under way");
        link.set_cut(true);
        link.send(START, b"cut");
        link.set_cut(false);
        link.send(START, b"mended");
        let mut arrived = Vec::new();
        link.receive(START + STEP, |_, bytes| arrived.push(bytes.to_vec()));
        assert_eq!(arrived, [&b"under way"[..], b"mended"]);
        assert_eq!((link.tally().cut, link.tally().lost), (1, 0));
    }

    #[test]
    fn a_full_queue_loses_and_a_slow_line_spaces_what_it_carries() {
        let rate = Some(Rate { bytes_per_second: 1_000_000, queue_bytes: 300 });
        let mut link = Link::new(Random::new(1), Faults { rate, ..STILL });
        (0..5).for_each(|_| link.send(START, &[0; 100]));
        let mut times = Vec::new();
        link.receive(START + STEP * 9, |at, _| times.push(at));
        assert_eq!(times, [2, 3, 4].map(|steps| START + STEP * steps));
        assert_eq!(link.tally().overflowed, 2);
        link.send(START + STEP * 9, &[0; 100]);
        assert_eq!(link.poll_timeout(), Some(START + STEP * 11));
    }

    #[test]
    fn jitter_reorders_only_where_it_may() {
        let delay = Delay { jitter: STEP * 10, ..STILL.delay };
        let arrived = |reorders| {
            let mut link = Link::new(Random::new(4), Faults { delay, reorders, ..STILL });
            let numbers: Vec<_> = run(&mut link, 100).into_iter().map(|(n, _)| n).collect();
            (numbers.is_sorted(), numbers.len(), link.tally().reordered > 0)
        };
        assert_eq!(arrived(false), (true, 100, false));
        assert_eq!(arrived(true), (false, 100, true));
    }

    #[test]
    fn what_may_be_overtaken_holds_up_nothing_once_order_is_kept_again() {
        let delay = Delay { long_chance: Chance::ALWAYS, long: STEP * 50, ..STILL.delay };
        let mut link = Link::new(Random::new(1), Faults { delay, reorders: true, ..STILL });
        link.send(START, b"late");
        link.set_faults(STILL);
        link.send(START, b"on time");
        assert_eq!(link.poll_timeout(), Some(START + STEP));
    }

    #[test]
    fn faults_happen_about_as_often_as_they_should_and_are_counted() {
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
        let tally = *link.tally();
        assert_eq!((arrived, flipped), (tally.arrived, tally.corrupted));
        assert_eq!(tally.arrived, tally.sent - tally.lost + tally.duplicated);
        for count in [tally.lost, tally.duplicated, tally.corrupted, tally.delayed] {
            assert!((800..1_200).contains(&count), "{tally:?}");
        }
    }

    #[test]
    fn what_is_cleared_never_arrives_and_an_empty_datagram_cannot_be_corrupted() {
        let mut link = Link::new(Random::new(1), Faults { corruption: Chance::ALWAYS, ..STILL });
        link.send(START, b"gone");
        link.clear();
        assert_eq!(link.poll_timeout(), None);
        link.send(START, b"");
        link.receive(START + STEP, |_, bytes| assert!(bytes.is_empty()));
        let mut census = Census::new();
        link.report(&mut census);
        assert_eq!((census.of("sent"), census.of("corrupted"), census.of("lost")), (2, 1, 0));
    }
}
