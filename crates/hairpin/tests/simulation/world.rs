//! The exchange, the traders and the network between them, from the first tick to the last logout.

use std::cell::Cell;
use std::rc::Rc;

use hairpin_netsim::{Census, Clock, Random};
use hairpin_time::{Duration, Instant, Utc};

use crate::plan::{Plan, TRADERS};
use crate::trader::SimulatedTrader;
use crate::venue::Venue;

/// The time limit to settle: longer than any keep-alive lapse and the logon after it.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The maximum number of steps at one instant. More steps indicate an endless loop.
const MAX_STEPS: u32 = 10_000;

/// A run of the simulation.
struct World {
    plan: Plan,
    clock: Clock,
    /// The current time, shared with the simulated connections.
    shared_clock: Rc<Cell<Instant>>,
    random: Random,
    venue: Venue,
    traders: Vec<SimulatedTrader>,
    next_tick: Option<Instant>,
    ticks_left: u64,
    steps: u32,
}

/// Runs a seed to its end and returns the census.
///
/// # Panics
/// If a check fails.
pub(crate) fn run(seed: u64, ticks: u64) -> Census {
    let folder = tempfile::tempdir().expect("cannot create the journals' folder");
    let mut world = World::new(Plan::new(seed, ticks), folder.path());
    world.begin();
    world.trade();
    world.recover();
    world.log_out();
    world.check()
}

impl World {
    fn new(mut plan: Plan, folder: &std::path::Path) -> Self {
        let clock = Clock::new(Utc::from_nanos(1_800_000_000_000_000_000));
        let start = clock.now().monotonic;
        let shared_clock = Rc::new(Cell::new(start));
        let mut venue = Venue::new(&mut plan, clock.now());
        let mut trader = |trader| {
            SimulatedTrader::new(trader, &mut plan, &mut venue, start, &shared_clock, folder)
        };
        let traders = (0..TRADERS).map(&mut trader).collect();
        let random = plan.random.split();
        let (next_tick, ticks_left) = (None, 0);
        Self { plan, clock, shared_clock, random, venue, traders, next_tick, ticks_left, steps: 0 }
    }

    /// Waits until all traders are ready, in most runs, and starts trading and the faults. In the
    /// other runs, the faults start first.
    fn begin(&mut self) {
        if self.random.below(4) > 0 {
            self.step_until(|world| world.traders.iter().all(SimulatedTrader::is_ready));
        }
        let start = self.clock.now().monotonic;
        self.ticks_left = self.plan.ticks;
        self.next_tick = Some(start);
        self.traders.iter_mut().for_each(|trader| trader.begin_scenario(&mut self.plan, start));
    }

    /// Runs all ticks and all faults.
    fn trade(&mut self) {
        while self.ticks_left > 0 {
            self.step();
        }
    }

    /// Ends all faults and waits until every trader has recovered.
    fn recover(&mut self) {
        let now = self.clock.now();
        self.traders.iter_mut().for_each(|trader| trader.end_faults(now, &mut self.venue));
        // The next heartbeat reveals a loss at the very end.
        let rested = now.monotonic + self.plan.heartbeat + Duration::from_millis(100);
        let is_settled = |world: &Self| {
            let now = world.clock.now().monotonic;
            now >= rested && world.traders.iter().all(|trader| trader.is_settled(now, &world.venue))
        };
        self.step_until(is_settled);
    }

    /// Logs out every trader and waits for the response.
    fn log_out(&mut self) {
        let now = self.clock.now();
        self.traders.iter_mut().for_each(|trader| trader.close(now));
        self.step_until(|world| world.traders.iter().all(SimulatedTrader::is_closed));
    }

    fn check(mut self) -> Census {
        let mut census = Census::new();
        for trader in &mut self.traders {
            trader.check(&self.venue);
            census.merge(&trader.census);
        }
        for group in self.venue.groups.iter().flatten() {
            group.report(&mut census);
        }
        census.merge(&self.venue.census);
        census.count("runs");
        census
    }

    fn step_until(&mut self, is_done: impl Fn(&Self) -> bool) {
        let end = self.clock.now().monotonic + TIMEOUT;
        while !is_done(self) {
            assert!(self.clock.now().monotonic < end, "{}", self.describe_unsettled());
            self.step();
        }
    }

    fn describe_unsettled(&self) -> String {
        let now = self.clock.now().monotonic;
        let late = self.traders.iter().filter(|trader| !trader.is_settled(now, &self.venue));
        let late: Vec<_> = late.map(SimulatedTrader::describe).collect();
        format!("not settled long after the last fault: {}", late.join("; "))
    }

    /// Advances the time to the next event and handles all due events.
    fn step(&mut self) {
        let before = self.clock.now().monotonic;
        let due = [0, 1, 2].map(|trader: usize| self.traders[trader].next_at(before, &self.venue));
        let others = self.venue.next_at(before).into_iter().chain(self.next_tick);
        let next = due.into_iter().flatten().chain(others).min();
        self.clock.advance_to(next.expect("the feed's loops never end"));
        let now = self.clock.now();
        self.steps = if now.monotonic > before { 0 } else { self.steps + 1 };
        assert!(self.steps < MAX_STEPS, "endless loop: time does not advance");
        self.shared_clock.set(now.monotonic);
        if self.next_tick.is_some_and(|at| at <= now.monotonic) {
            self.tick();
        }
        self.venue.transmit(now);
        for (trader, due) in self.traders.iter_mut().zip(due) {
            if due.is_some_and(|at| at <= now.monotonic) {
                trader.run(now, &mut self.venue);
            }
        }
        self.venue.handle_due_events(now);
    }

    /// Publishes one tick or a burst of ticks.
    fn tick(&mut self) {
        let now = self.clock.now();
        let is_burst = self.random.happens(self.plan.bursts);
        let count = if is_burst { 2 + self.random.below(8) } else { 1 }.min(self.ticks_left);
        (0..count).for_each(|_| self.venue.tick(now));
        self.ticks_left -= count;
        let pause = self.random.span(Duration::ZERO, self.plan.interval * (2 * count));
        self.next_tick = (self.ticks_left > 0).then(|| now.monotonic + pause);
    }
}
