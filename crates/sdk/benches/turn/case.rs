//! A trader that answers ticks, and the runs that are counted or timed.

use std::time::Instant;

use crate::support::Venue;

/// The ticks that are counted, and those of a round that is timed.
pub(crate) const TICKS: u64 = 2_000;
/// The ticks before the count.
const WARM_UP: u64 = 200;

/// A trader that answers ticks, one call per wakeup.
pub(crate) trait Case {
    /// Runs one iteration of the loop.
    fn turn(&mut self);
    /// Runs one iteration of the loop, which is counted.
    fn measured_turn(&mut self);
    /// Returns `true` if the trader can answer a tick.
    fn is_ready(&self) -> bool;
    /// Returns the numbers of answered ticks, and of those whose orders are canceled.
    fn counts(&self) -> (u64, u64);
}

/// A trader with its exchange.
pub(crate) struct Bench<C> {
    name: &'static str,
    venue: Venue,
    case: C,
    ticks: u64,
}

impl<C: Case> Bench<C> {
    /// Opens an exchange and a trader, and answers the first ticks.
    pub(crate) fn start(name: &'static str, open: impl FnOnce(&Venue) -> C) -> Self {
        let mut venue = Venue::open("in_memory = true");
        let mut case = open(&venue);
        while !case.is_ready() {
            venue.step();
            case.turn();
        }
        venue.set_paced();
        let mut bench = Self { name, venue, case, ticks: 0 };
        (0..WARM_UP).for_each(|_| bench.answer_tick(C::turn));
        bench
    }

    /// Publishes a tick, answers it by `turn`, and cancels the order.
    fn answer_tick(&mut self, turn: impl FnOnce(&mut C)) {
        let Self { venue, case, ticks, .. } = self;
        venue.tick();
        turn(case);
        assert!(case.counts().0 > *ticks, "the tick was not in the sockets when its turn began");
        while case.counts().1 <= *ticks {
            case.turn();
            venue.step();
        }
        *ticks += 1;
    }

    /// Answers the ticks that are counted.
    pub(crate) fn count(&mut self) {
        (0..TICKS).for_each(|_| self.answer_tick(C::measured_turn));
        println!("events={TICKS}");
    }

    /// Answers the ticks of a round. Returns the median time of a turn in nanoseconds.
    fn time(&mut self) -> u64 {
        let mut times = Vec::with_capacity(TICKS as usize);
        for _ in 0..TICKS {
            self.answer_tick(|case| {
                let begun = Instant::now();
                case.measured_turn();
                times.push(begun.elapsed().as_nanos() as u64);
            });
        }
        median(&mut times)
    }
}

/// Times two traders in interleaved rounds, and prints a table of the medians.
pub(crate) fn compare<A: Case, B: Case>(rounds: usize, a: &mut Bench<A>, b: &mut Bench<B>) {
    println!("{:>6}{:>16}{:>16}{:>12}", "round", a.name, b.name, "difference");
    let mut medians: Vec<(u64, u64)> = Vec::new();
    for round in 1..=rounds {
        // Each is first in every other round.
        let times = match round % 2 {
            0 => (a.time(), b.time()),
            _ => {
                let second = b.time();
                (a.time(), second)
            }
        };
        medians.push(times);
        print(&round.to_string(), times);
    }
    let [mut firsts, mut seconds] = [0, 1].map(|it| {
        medians.iter().map(|times| if it == 0 { times.0 } else { times.1 }).collect::<Vec<_>>()
    });
    print("median", (median(&mut firsts), median(&mut seconds)));
    let mut ratios: Vec<u64> = medians.iter().map(|(a, b)| b * 10_000 / a).collect();
    println!("median of the ratios of a round: {:.4}", median(&mut ratios) as f64 / 10_000.0);
}

fn print(round: &str, (a, b): (u64, u64)) {
    println!("{round:>6}{a:>13} ns{b:>13} ns{:>9} ns", b as i64 - a as i64);
}

fn median(values: &mut [u64]) -> u64 {
    values.sort_unstable();
    values[values.len() / 2]
}
