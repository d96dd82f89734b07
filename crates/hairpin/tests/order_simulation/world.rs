//! The exchange, the trader and the network between them, from the first logon.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use hairpin_mapped::{Direction, MemoryStorage, Storage};
use hairpin_netsim::{Census, Clock, End, Random};
use hairpin_order_entry::{Orders, State};
use hairpin_time::{Duration, Instant, Now, Utc};

use crate::disk::Disk;
use crate::fuse::{Died, Fuse};
use crate::journal::all;
use crate::ledger::Ledger;
use crate::life::Life;
use crate::plan::{Answers, Failover, Phase, Plan, Prelude, Trouble, line};
use crate::request::{believed, held};
use crate::trace::trace;
use crate::trader::{CAPACITY, Standing, Trader};
use crate::venue::{Venue, address};
use crate::wire::{Dialler, Exit, Shared};

/// The time limit to settle: longer than any silence and the recovery from it.
const PATIENCE: Duration = Duration::from_secs(400);
/// The duration of a silence: longer than a keep-alive interval.
const SILENCE: Duration = Duration::from_secs(7);
/// The maximum number of steps at one instant. More steps indicate an endless loop.
const MOST_STEPS: u32 = 20_000;
/// The duration of a week.
const WEEK: Duration = Duration::from_secs(7 * 86_400);

/// One run of the simulation.
struct World {
    plan: Plan,
    clock: Clock,
    /// The current time, shared with the trader's connections.
    shared_clock: Rc<Cell<Instant>>,
    random: Random,
    venue: Venue,
    ledger: Rc<RefCell<Ledger>>,
    fuse: Rc<Fuse>,
    exit: Rc<RefCell<Exit>>,
    id: Rc<Cell<u64>>,
    life: Option<Life>,
    /// The journal that the last process has left.
    journal: MemoryStorage,
    starts_at: Instant,
    has_lost_power: bool,
    /// The next crash is a power cut.
    takes_power: bool,
    /// The offset by which the trader's clock is behind.
    behind: Duration,
    week_began: u64,
    /// The number of journal records of previous weeks.
    of_earlier_weeks: usize,
    acts_at: Option<Instant>,
    ticks_at: Option<Instant>,
    accepts_at: Option<Instant>,
    /// The trader has stopped sending, for longer than a keep-alive interval.
    is_silent: bool,
    /// The time at which the failed gateway accepts connections again.
    restores_at: Option<Instant>,
    steps: u32,
    census: Census,
}

/// Runs a seed to its end and returns the census.
///
/// # Panics
/// If a check fails.
pub(crate) fn run(seed: u64) -> Census {
    let mut plan = Plan::new(seed);
    let phases = std::mem::take(&mut plan.phases);
    let mut world = World::new(plan);
    for phase in phases {
        world.run_phase(&phase);
        world.settle();
        world.check();
    }
    world.finish()
}

impl World {
    fn new(mut plan: Plan) -> Self {
        let clock = Clock::new(Utc::from_nanos(1_800_000_000_000_000_000));
        let start = clock.now().monotonic;
        let shared_clock = Rc::new(Cell::new(start));
        let mut ledger = Ledger::default();
        ledger.skips = plan.weakness.skips();
        ledger.only_fills = plan.answers == Answers::Fill;
        let ledger = Rc::new(RefCell::new(ledger));
        let fuse = Rc::new(Fuse::default());
        let exit = Exit::new(Rc::clone(&shared_clock), plan.random.split(), Rc::clone(&fuse));
        Self {
            venue: Venue::new(&mut plan, Rc::clone(&ledger), clock.now()),
            random: plan.random.split(),
            journal: MemoryStorage::new(plan.waits),
            plan,
            clock,
            shared_clock,
            ledger,
            fuse,
            exit: Rc::new(RefCell::new(exit)),
            id: Rc::new(Cell::new(0)),
            life: None,
            starts_at: start,
            has_lost_power: false,
            takes_power: false,
            behind: Duration::ZERO,
            week_began: 0,
            of_earlier_weeks: 0,
            acts_at: None,
            ticks_at: None,
            accepts_at: None,
            is_silent: false,
            restores_at: None,
            steps: 0,
            census: Census::new(),
        }
    }

    /// Returns the time of the trader's clock.
    fn traders_now(&self) -> Now {
        let now = self.clock.now();
        Now { utc: now.utc - self.behind, ..now }
    }

    /// Runs one phase: trading, with all faults of the phase.
    fn run_phase(&mut self, phase: &Phase) {
        match phase.prelude {
            Prelude::None => {}
            Prelude::Week => self.begin_week(),
            Prelude::Flood => self.flood(),
        }
        self.exit.borrow_mut().faults = line(false);
        let start = self.clock.now().monotonic;
        let ends = start + phase.length;
        (self.acts_at, self.ticks_at) = (Some(start), Some(start));
        self.set_busy(true);
        let mut troubles = phase.troubles.iter().peekable();
        while self.clock.now().monotonic < ends {
            let next = troubles.peek().map_or(ends, |(after, _)| (start + *after).min(ends));
            self.step_by(next);
            let now = self.clock.now().monotonic;
            while let Some((_, trouble)) = troubles.next_if(|(after, _)| start + *after <= now) {
                self.begin(*trouble);
            }
        }
    }

    fn set_busy(&mut self, is_busy: bool) {
        if let Some(life) = &mut self.life {
            life.trader.is_busy = is_busy;
        }
    }

    fn begin(&mut self, trouble: Trouble) {
        let now = self.clock.now();
        trace!(now, "{trouble:?}");
        let stall = |connection: Option<Shared>, end, length| {
            if let Some(connection) = connection {
                connection.borrow_mut().stall(now.monotonic, end, length);
            }
        };
        match trouble {
            Trouble::CutUp(bytes) => self.exit.borrow_mut().cuts_after = Some(bytes),
            Trouble::CutDown(bytes) => self.venue.cuts_after = Some(bytes),
            Trouble::Reset => {
                if let Some(connection) = self.draw_connection() {
                    connection.borrow_mut().reset();
                    self.census.count("connections reset within a frame");
                }
            }
            Trouble::StallUp(length) => stall(self.draw_connection(), End::Client, length),
            Trouble::StallDown(length) => stall(self.draw_connection(), End::Server, length),
            Trouble::Kill(steps) => self.doom(steps, false),
            Trouble::KillAt(class, steps) => {
                self.takes_power = false;
                self.fuse.light_at(class, steps);
            }
            Trouble::PowerCut(steps) => self.doom(steps, true),
            Trouble::ExchangeTerminates => self.venue.terminate(now),
            Trouble::TraderTerminates => {
                let now = self.traders_now();
                if let Some(life) = &mut self.life {
                    let done = life.with_sender(now, |_, sender| sender.terminate());
                    self.unless_dead(done);
                }
            }
            Trouble::Refusals(length) => {
                self.exit.borrow_mut().refuses = true;
                self.accepts_at = Some(now.monotonic + length);
            }
            Trouble::Trickle => {
                self.census.count("periods of a narrow connection");
                self.set_faults(true);
            }
            Trouble::DayEnds => self.venue.end_day(now),
            Trouble::ClockBack(length) => {
                let most = Duration::from_secs(3);
                self.behind = (self.behind + length).min(most);
                self.census.count("steps back of the trader's clock");
            }
            Trouble::Failover(failover) => self.fail_over(now, failover),
            Trouble::LoseBackup => self.lose_backup(),
        }
    }

    /// Returns a random connection of the trader, if there is one.
    fn draw_connection(&mut self) -> Option<Shared> {
        let lines = &self.exit.borrow().lines;
        let place = self.random.below(lines.len() as u64) as usize;
        lines.get(place).map(|line| Rc::clone(&line.connection))
    }

    fn set_faults(&mut self, is_trickling: bool) {
        let mut exit = self.exit.borrow_mut();
        exit.faults = line(is_trickling);
        exit.lines.iter().for_each(|it| it.connection.borrow_mut().set_faults(line(is_trickling)));
    }

    /// Fails the primary. The trader's last requests may be in flight to it, and lost.
    fn fail_over(&mut self, now: Now, failover: Failover) {
        let Failover { hangs, back_after, ticks, dies, falls_silent } = failover;
        let failed = address(self.venue.gateway.primary());
        let goes_on = self.venue.fail_primary(now, hangs);
        (0..ticks).for_each(|_| self.venue.tick(now));
        self.exit.borrow_mut().refused = Some(failed);
        self.restores_at = Some(now.monotonic + back_after);
        self.census.count("failures of the primary");
        if !goes_on {
            return;
        }
        self.census.count(match hangs {
            true => "failovers from a hanging connection",
            false => "failovers from a closed connection",
        });
        if let Some(life) = &mut self.life {
            life.trader.standing = Standing::AwaitsFailover;
            let has_open = life.trader.orders.in_flight().count() > 0;
            self.census.add("failovers with requests in flight", has_open.into());
        }
        if falls_silent {
            self.acts_at = None;
            self.is_silent = true;
            self.set_busy(false);
        }
        match dies {
            None => {}
            Some((Some(steps), takes_power)) => self.doom(steps, takes_power),
            Some((None, takes_power)) => {
                self.takes_power = takes_power;
                self.fuse.light_at("killed when active on the backup", 0);
            }
        }
    }

    fn lose_backup(&mut self) {
        let primary = address(self.venue.gateway.primary());
        let lines = &self.exit.borrow().lines;
        for line in lines.iter().filter(|line| line.gateway != primary) {
            line.connection.borrow_mut().reset();
            self.census.count("connections to the backup reset");
        }
    }

    /// Lets the failed gateway accept connections again.
    fn restore(&mut self) {
        self.restores_at = None;
        self.venue.gateway.restore();
        self.exit.borrow_mut().refused = None;
    }

    fn doom(&mut self, steps: u64, takes_power: bool) {
        self.takes_power = takes_power;
        match steps {
            // Between two wake-ups.
            0..10 => self.die("killed between two wake-ups"),
            _ => self.fuse.light(steps - 10),
        }
    }

    /// Ends the process. Its journal survives, in whole or in part.
    fn die(&mut self, how: &'static str) {
        let Some(life) = self.life.take() else { return };
        trace!(self.clock.now(), "the trader's process ends: {how}");
        self.census.count(how);
        self.census.merge(&life.trader.census);
        self.journal = life.journal().clone();
        let lines = self.exit.borrow().lines.clone();
        if life.trader.standing == Standing::AwaitsFailover {
            self.census.count(match self.takes_power {
                true => "power cuts during a failover",
                false => "killed during a failover",
            });
        }
        drop(life);
        self.fuse.put_out();
        self.has_lost_power = std::mem::take(&mut self.takes_power);
        if self.has_lost_power {
            self.lose_power();
        }
        // In some runs, the process exit resets the connection instead of closing it.
        if self.random.below(2) == 0 {
            lines.iter().for_each(|it| it.connection.borrow_mut().reset());
        }
        self.census.count("processes killed");
        let pause = self.random.span(Duration::ZERO, Duration::from_millis(3));
        self.starts_at = self.clock.now().monotonic + pause;
    }

    fn lose_power(&mut self) {
        let records: Vec<_> = all(&self.journal).collect();
        let unsynced = self.journal.unsynced();
        let at_risk = unsynced.min(records.len() - self.of_earlier_weeks);
        let is_lost = at_risk - self.random.below(at_risk as u64 + 1) as usize;
        let (survivors, lost) = (unsynced - is_lost, &records[records.len() - is_lost..]);
        let is_ours = |it: &&hairpin_mapped::Record| it.direction() != Direction::Inbound;
        let ours = lost.iter().filter(is_ours).count();
        self.census.count("power cuts");
        self.census.add("records of ours lost with power", ours as u64);
        self.census.add("records lost with power", lost.len() as u64);
        if !self.plan.waits {
            let mut ledger = self.ledger.borrow_mut();
            lost.iter().for_each(|record| ledger.forget(self.journal.tag(*record)));
        }
        self.journal.crash(survivors);
    }

    fn unless_dead<T>(&mut self, done: Result<T, Died>) -> Option<T> {
        match done {
            Ok(done) => Some(done),
            Err(Died) => {
                self.die("killed during a wake-up");
                None
            }
        }
    }

    fn start(&mut self) {
        let now = self.traders_now();
        let journal = self.journal.clone();
        self.ledger.borrow_mut().begin_process(&journal, self.has_lost_power);
        let orders = Orders::from_journal(&journal, CAPACITY);
        let plan = &self.plan;
        let trader = Trader::new(
            orders,
            self.random.split(),
            Rc::clone(&self.ledger),
            Rc::clone(&self.fuse),
            Rc::clone(&self.id),
            plan.ways(),
        );
        let disk = Disk::new(journal, Rc::clone(&self.fuse), self.random.split());
        let dial = Dialler(Rc::clone(&self.exit));
        self.life = Some(Life::new(plan, disk, dial, trader, now));
        self.life.as_mut().expect("the process has started").trader.is_busy =
            self.acts_at.is_some();
        self.census.count("processes started");
    }

    /// Begins a new week in a settled state, with trades before the first logon.
    fn begin_week(&mut self) {
        if !self.is_established() {
            return;
        }
        let now = self.clock.now();
        let life = self.life.as_ref().expect("the session is established");
        self.ledger.borrow_mut().begin_week(life.journal());
        // The disk is synced during the weekend, independent of the sync interval.
        self.of_earlier_weeks = all(life.journal()).count();
        // A stalled connection would outlast the time without any connection.
        self.lose_backup();
        self.venue.gateway.begin_week(now, &mut ());
        self.step_until(|world| {
            world.life.as_ref().is_none_or(|it| it.state() != State::Established)
        });
        self.step_until(|world| {
            world.venue.is_closed() && world.life.as_ref().is_none_or(Life::is_disconnected)
        });
        self.clock.advance(WEEK);
        self.shared_clock.set(self.clock.now().monotonic);
        let now = self.clock.now();
        self.week_began = (now.utc - Duration::from_secs(86_400)).as_nanos();
        let trades = self.random.below(4) as u32;
        self.venue.trade(now, trades);
        self.census.add("trades before the first logon of a week", trades.into());
        self.census.count("weeks begun");
    }

    /// Executes thousands of trades of an order whose trader is disconnected.
    fn flood(&mut self) {
        let now = self.traders_now();
        let Some(life) = self.life.as_mut() else { return };
        let _ = life.with_sender(now, |trader, sender| trader.bait(sender));
        self.settle();
        self.die("killed between two wake-ups");
        self.starts_at = self.clock.now().monotonic + Duration::from_millis(5);
        let until = self.starts_at;
        self.step_by(until - Duration::from_millis(1));
        let now = self.clock.now();
        self.venue.trade(now, 2_600 + self.random.below(600) as u32);
        self.census.count("floods");
    }

    fn is_established(&self) -> bool {
        self.life.as_ref().is_some_and(|life| life.state() == State::Established)
    }

    /// Returns `true` if the session is established, and also on the backup if there is one.
    fn is_all_established(&self) -> bool {
        let is_alone = !self.plan.has_backup || self.exit.borrow().refused.is_some();
        let stands_by = |life: &Life| life.backup_state() == State::Established;
        self.is_established() && (is_alone || self.life.as_ref().is_some_and(stands_by))
    }

    /// Ends all faults and waits until the trader has received all messages.
    fn settle(&mut self) {
        (self.acts_at, self.ticks_at, self.accepts_at) = (None, None, None);
        self.set_busy(false);
        self.fuse.put_out();
        self.takes_power = false;
        self.venue.cuts_after = None;
        {
            let mut exit = self.exit.borrow_mut();
            (exit.refuses, exit.cuts_after) = (false, None);
        }
        self.set_faults(false);
        // In some runs, only one gateway remains.
        if self.restores_at.is_some() && self.random.below(3) > 0 {
            self.restore();
        }
        if std::mem::take(&mut self.is_silent) {
            let end = self.clock.now().monotonic + SILENCE;
            while self.clock.now().monotonic < end {
                self.step(end);
            }
        }
        let end = self.clock.now().monotonic + PATIENCE;
        while !self.is_settled() {
            assert!(
                self.clock.now().monotonic < end,
                "not settled within the time limit: {}",
                self.describe()
            );
        }
    }

    /// Sends an order. Returns `true` if it works and the state of every earlier message is known.
    fn is_settled(&mut self) -> bool {
        self.step_until(Self::is_all_established);
        let now = self.traders_now();
        let Some(life) = &mut self.life else { return false };
        let logon = self.ledger.borrow().logon;
        let id = life.with_sender(now, |trader, sender| trader.probe(sender));
        let Some(id) = self.unless_dead(id) else { return false };
        let limit = self.clock.now().monotonic + Duration::from_secs(30);
        let is_over = |world: &Self| {
            world.ledger.borrow().logon != logon
                || !world.is_established()
                || world.clock.now().monotonic > limit
        };
        let works = |world: &Self| {
            world.life.as_ref().is_some_and(|life| {
                let orders = &life.trader.orders;
                orders.by_cl_ord_id(id).is_some_and(|it| it.is_working())
                    && orders.in_flight().count() == 0
            })
        };
        self.step_until(|world| works(world) || is_over(world));
        // A Sequence names the last published number.
        let sequences = self.venue.sequences;
        let is_told =
            |world: &Self| world.venue.sequences > sequences && world.ledger.borrow().is_complete();
        self.step_until(|world| is_told(world) || is_over(world));
        works(self) && is_told(self) && self.venue.is_idle() && !is_over(self)
    }

    /// Checks the settled state.
    fn check(&mut self) {
        let life = self.life.as_ref().expect("the session is established");
        let progress = life.progress();
        let mut ledger = self.ledger.borrow_mut();
        ledger.check(progress.uuid, progress.next_outgoing - 1, life.journal());
        assert_eq!(
            progress.next_incoming,
            ledger.next(progress.uuid),
            "next incoming sequence number"
        );
        self.census.count("phases settled and checked");
        let orders = &life.trader.orders;
        let held = held(&self.venue.floor);
        let rebuilt = Orders::from_journal(life.journal(), CAPACITY);
        if ledger.lacks_something() {
            self.census.count("phases with orders of unknown state after a power cut");
            assert_eq!(
                believed(orders),
                believed(&rebuilt),
                "working orders according to the journal"
            );
            return;
        }
        assert_eq!(believed(orders), held, "working orders");
        assert_eq!(orders.iter().count(), held.len(), "orders without a response");
        assert_eq!(believed(&rebuilt), held, "working orders according to the journal");
        assert_eq!(
            rebuilt.in_flight().next(),
            None,
            "the journal contains a request without a response"
        );
        self.census.add("working orders compared", held.len() as u64);
    }

    fn describe(&self) -> String {
        let state = self.life.as_ref().map(|life| (life.state(), life.progress()));
        let missing = self.ledger.borrow().missing();
        let orders = self.life.as_ref().map(|life| &life.trader.orders);
        let open: Vec<_> = orders.into_iter().flat_map(Orders::in_flight).collect();
        let weakness = self.plan.weakness;
        format!("{weakness:?}, {missing:?} missing, {open:?} in flight, {state:?}")
    }

    fn finish(mut self) -> Census {
        if let Some(life) = self.life.take() {
            self.census.merge(&life.trader.census);
        }
        self.census.merge(&self.ledger.borrow().census);
        self.census.merge(&self.venue.census);
        self.census.merge(&self.fuse.census.borrow());
        let exit = self.exit.borrow();
        self.census.merge(&exit.census);
        exit.all.iter().for_each(|it| it.borrow().report(&mut self.census));
        if let Some(tally) = self.venue.gateway.fault_tally() {
            self.census.add("gateway: messages dropped", tally.dropped);
            self.census.add("gateway: messages doubled", tally.doubled);
            let lost = self.ledger.borrow().lost();
            assert_eq!(lost, tally.skipped, "numbers reported as lost, and numbers skipped");
            self.census.add("gateway: numbers skipped", tally.skipped);
            self.census.add("gateway: writes delayed", tally.delayed);
            self.census.add("gateway: writes split", tally.split);
            self.census.add("gateway: writes coalesced", tally.coalesced);
            self.census.add("gateway: silences", tally.silences);
            self.census.add("gateway: connections cut", tally.cut);
            self.census.add("gateway: connections refused", tally.refused);
        }
        self.census.count("runs");
        self.census
    }

    fn step_until(&mut self, is_done: impl Fn(&Self) -> bool) {
        let end = self.clock.now().monotonic + PATIENCE;
        while !is_done(self) {
            assert!(
                self.clock.now().monotonic < end,
                "the expected state did not occur within the time limit: {}",
                self.describe()
            );
            self.step(end);
        }
    }

    fn step_by(&mut self, until: Instant) {
        self.step(until);
    }

    /// Advances the time to the next event, at most to `until`, and handles all due events.
    fn step(&mut self, until: Instant) {
        let before = self.clock.now().monotonic;
        let own = match &self.life {
            Some(life) => life.next_at(before, &self.exit.borrow().lines),
            None => Some(self.starts_at),
        };
        let others = [self.acts_at, self.ticks_at, self.accepts_at, self.restores_at];
        let due = others.into_iter().chain([own, self.venue.next_at(before)]);
        let next = due.flatten().min().unwrap_or(until);
        self.clock.advance_to(next.min(until));
        let now = self.clock.now();
        self.steps = if now.monotonic > before { 0 } else { self.steps + 1 };
        assert!(self.steps < MOST_STEPS, "endless loop: time does not advance");
        self.shared_clock.set(now.monotonic);
        self.do_what_is_due(now);
    }

    fn do_what_is_due(&mut self, now: Now) {
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= now.monotonic);
        if is_due(self.accepts_at) {
            self.accepts_at = None;
            self.exit.borrow_mut().refuses = false;
        }
        if is_due(self.restores_at) {
            self.restore();
        }
        if is_due(self.ticks_at) {
            self.venue.tick(now);
            let pause = self.random.span(Duration::ZERO, Duration::from_millis(3));
            self.ticks_at = Some(now.monotonic + pause);
        }
        if self.life.is_none() && self.starts_at <= now.monotonic {
            self.start();
        }
        if is_due(self.acts_at) {
            self.act();
            let pause = self.random.span(Duration::ZERO, Duration::from_millis(1));
            self.acts_at = Some(now.monotonic + pause);
        }
        self.talk();
        let dialled = std::mem::take(&mut self.exit.borrow_mut().dialled);
        dialled.into_iter().for_each(|line| self.venue.admit(line));
        self.venue.pump(now);
    }

    /// Sends one request, or several at once.
    fn act(&mut self) {
        let count = if self.random.below(6) == 0 { 2 + self.random.below(8) } else { 1 };
        let now = self.traders_now();
        let Some(life) = &mut self.life else { return };
        let done = life.with_sender(now, |trader, sender| {
            (0..count).for_each(|_| trader.act(sender));
        });
        self.unless_dead(done);
    }

    /// Drives the session.
    fn talk(&mut self) {
        let (now, week_began) = (self.traders_now(), self.week_began);
        let Some(life) = &mut self.life else { return };
        let due = life.next_at(now.monotonic, &self.exit.borrow().lines);
        if due.is_some_and(|at| at <= now.monotonic) {
            let done = life.drive(now, week_began);
            self.unless_dead(done);
        }
    }
}
