//! The exchange, the trader and the network between them, from the first logon.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use hairpin_mapped::{Direction, MemoryStorage, Storage};
use hairpin_netsim::{Census, Clock, End, Random, trace};
use hairpin_order_entry::{Orders, State};
use hairpin_time::{Duration, Instant, Now, Utc};

use crate::client_stream::{Dialer, DialerState, Shared};
use crate::crash_point::{CrashPoint, Crashed};
use crate::disk::Disk;
use crate::journal::all;
use crate::message_log::MessageLog;
use crate::plan::{Failover, Fault, NotAppliedPolicy, Phase, Plan, Prelude, line};
use crate::process::Process;
use crate::request::{held, tracked_rows};
use crate::trader::{CAPACITY, FailoverState, Trader};
use crate::venue::{Venue, address};

/// The time limit to settle: longer than any silence and the recovery from it.
const TIMEOUT: Duration = Duration::from_secs(400);
/// The duration of a silence: longer than a keep-alive interval.
const SILENCE: Duration = Duration::from_secs(7);
/// The maximum number of steps at one instant. More steps indicate an endless loop.
const MAX_STEPS: u32 = 20_000;
/// The duration of a week.
const WEEK: Duration = Duration::from_secs(7 * 86_400);

/// A run of the simulation.
struct World {
    plan: Plan,
    clock: Clock,
    /// The current time, shared with the trader's connections.
    shared_clock: Rc<Cell<Instant>>,
    random: Random,
    venue: Venue,
    message_log: Rc<RefCell<MessageLog>>,
    crash_point: Rc<CrashPoint>,
    dialer_state: Rc<RefCell<DialerState>>,
    id: Rc<Cell<u64>>,
    process: Option<Process>,
    /// The journal that the last process has left.
    journal: MemoryStorage,
    starts_at: Instant,
    has_lost_power: bool,
    /// The next crash is a power cut.
    cuts_power: bool,
    /// The offset by which the trader's clock is behind.
    clock_lag: Duration,
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
        let mut message_log = MessageLog::default();
        message_log.skips = plan.gateway_fault.skips();
        message_log.only_fills = plan.not_applied_policy == NotAppliedPolicy::Fill;
        let message_log = Rc::new(RefCell::new(message_log));
        let crash_point = Rc::new(CrashPoint::default());
        let dialer_state = DialerState::new(
            Rc::clone(&shared_clock),
            plan.random.split(),
            Rc::clone(&crash_point),
        );
        Self {
            venue: Venue::new(&mut plan, Rc::clone(&message_log), clock.now()),
            random: plan.random.split(),
            journal: MemoryStorage::new(plan.waits),
            plan,
            clock,
            shared_clock,
            message_log,
            crash_point,
            dialer_state: Rc::new(RefCell::new(dialer_state)),
            id: Rc::new(Cell::new(0)),
            process: None,
            starts_at: start,
            has_lost_power: false,
            cuts_power: false,
            clock_lag: Duration::ZERO,
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
    fn trader_now(&self) -> Now {
        let now = self.clock.now();
        Now { utc: now.utc - self.clock_lag, ..now }
    }

    /// Runs one phase: trading, with all faults of the phase.
    fn run_phase(&mut self, phase: &Phase) {
        match phase.prelude {
            Prelude::None => {}
            Prelude::Week => self.begin_week(),
            Prelude::Flood => self.flood(),
        }
        self.dialer_state.borrow_mut().faults = line(false);
        let start = self.clock.now().monotonic;
        let ends = start + phase.length;
        (self.acts_at, self.ticks_at) = (Some(start), Some(start));
        self.set_busy(true);
        let mut faults = phase.faults.iter().peekable();
        while self.clock.now().monotonic < ends {
            let next = faults.peek().map_or(ends, |(after, _)| (start + *after).min(ends));
            self.step_by(next);
            let now = self.clock.now().monotonic;
            while let Some((_, fault)) = faults.next_if(|(after, _)| start + *after <= now) {
                self.begin(*fault);
            }
        }
    }

    fn set_busy(&mut self, is_busy: bool) {
        if let Some(process) = &mut self.process {
            process.trader.is_busy = is_busy;
        }
    }

    fn begin(&mut self, fault: Fault) {
        let now = self.clock.now();
        trace!(now, "{fault:?}");
        let stall = |connection: Option<Shared>, end, length| {
            if let Some(connection) = connection {
                connection.borrow_mut().stall(now.monotonic, end, length);
            }
        };
        match fault {
            Fault::CutUp(bytes) => self.dialer_state.borrow_mut().cuts_after = Some(bytes),
            Fault::CutDown(bytes) => self.venue.cuts_after = Some(bytes),
            Fault::Reset => {
                if let Some(connection) = self.draw_connection() {
                    connection.borrow_mut().reset();
                    self.census.count("connections reset within a frame");
                }
            }
            Fault::StallUp(length) => stall(self.draw_connection(), End::Client, length),
            Fault::StallDown(length) => stall(self.draw_connection(), End::Server, length),
            Fault::Kill(steps) => self.arm_crash(steps, false),
            Fault::KillAt(class, steps) => {
                self.cuts_power = false;
                self.crash_point.arm_at(class, steps);
            }
            Fault::PowerCut(steps) => self.arm_crash(steps, true),
            Fault::ExchangeTerminates => self.venue.terminate(now),
            Fault::TraderTerminates => {
                let now = self.trader_now();
                if let Some(process) = &mut self.process {
                    let done = process.with_sender(now, |_, sender| sender.terminate());
                    self.unless_crashed(done);
                }
            }
            Fault::Refusals(length) => {
                self.dialer_state.borrow_mut().refuses = true;
                self.accepts_at = Some(now.monotonic + length);
            }
            Fault::Trickle => {
                self.census.count("periods of a narrow connection");
                self.set_faults(true);
            }
            Fault::DayEnds => self.venue.end_day(now),
            Fault::ClockBack(length) => {
                let most = Duration::from_secs(3);
                self.clock_lag = (self.clock_lag + length).min(most);
                self.census.count("steps back of the trader's clock");
            }
            Fault::Failover(failover) => self.fail_over(now, failover),
            Fault::LoseBackup => self.lose_backup(),
        }
    }

    /// Returns a random connection of the trader, if there is one.
    fn draw_connection(&mut self) -> Option<Shared> {
        let lines = &self.dialer_state.borrow().lines;
        let place = self.random.below(lines.len() as u64) as usize;
        lines.get(place).map(|line| Rc::clone(&line.connection))
    }

    fn set_faults(&mut self, is_trickling: bool) {
        let mut dialer_state = self.dialer_state.borrow_mut();
        dialer_state.faults = line(is_trickling);
        dialer_state
            .lines
            .iter()
            .for_each(|it| it.connection.borrow_mut().set_faults(line(is_trickling)));
    }

    /// Fails the primary. The trader's last requests may be in flight to it, and lost.
    fn fail_over(&mut self, now: Now, failover: Failover) {
        let Failover { hangs, back_after, ticks, crashes, falls_silent } = failover;
        let failed = address(self.venue.gateway.primary());
        let continues_on_backup = self.venue.fail_primary(now, hangs);
        (0..ticks).for_each(|_| self.venue.tick(now));
        self.dialer_state.borrow_mut().refused = Some(failed);
        self.restores_at = Some(now.monotonic + back_after);
        self.census.count("failures of the primary");
        if !continues_on_backup {
            return;
        }
        self.census.count(match hangs {
            true => "failovers from a hanging connection",
            false => "failovers from a closed connection",
        });
        if let Some(process) = &mut self.process {
            process.trader.failover_state = FailoverState::AwaitsFailover;
            let has_open = process.trader.orders.in_flight().count() > 0;
            self.census.add("failovers with requests in flight", has_open.into());
        }
        if falls_silent {
            self.acts_at = None;
            self.is_silent = true;
            self.set_busy(false);
        }
        match crashes {
            None => {}
            Some((Some(steps), cuts_power)) => self.arm_crash(steps, cuts_power),
            Some((None, cuts_power)) => {
                self.cuts_power = cuts_power;
                self.crash_point.arm_at("killed when active on the backup", 0);
            }
        }
    }

    fn lose_backup(&mut self) {
        let primary = address(self.venue.gateway.primary());
        let lines = &self.dialer_state.borrow().lines;
        for line in lines.iter().filter(|line| line.gateway != primary) {
            line.connection.borrow_mut().reset();
            self.census.count("connections to the backup reset");
        }
    }

    /// Restores the failed gateway, which accepts connections again.
    fn restore(&mut self) {
        self.restores_at = None;
        self.venue.gateway.restore();
        self.dialer_state.borrow_mut().refused = None;
    }

    fn arm_crash(&mut self, steps: u64, cuts_power: bool) {
        self.cuts_power = cuts_power;
        match steps {
            // Between two wake-ups.
            0..10 => self.crash("killed between two wake-ups"),
            _ => self.crash_point.arm(steps - 10),
        }
    }

    /// Ends the process. Its journal survives, in whole or in part.
    fn crash(&mut self, how: &'static str) {
        let Some(process) = self.process.take() else { return };
        trace!(self.clock.now(), "the trader's process ends: {how}");
        self.census.count(how);
        self.census.merge(&process.trader.census);
        self.journal = process.journal().clone();
        let lines = self.dialer_state.borrow().lines.clone();
        if process.trader.failover_state == FailoverState::AwaitsFailover {
            self.census.count(match self.cuts_power {
                true => "power cuts during a failover",
                false => "killed during a failover",
            });
        }
        drop(process);
        self.crash_point.disarm();
        self.has_lost_power = std::mem::take(&mut self.cuts_power);
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
            let mut message_log = self.message_log.borrow_mut();
            lost.iter().for_each(|record| message_log.forget_record(self.journal.tag(*record)));
        }
        self.journal.crash(survivors);
    }

    fn unless_crashed<T>(&mut self, done: Result<T, Crashed>) -> Option<T> {
        match done {
            Ok(done) => Some(done),
            Err(Crashed) => {
                self.crash("killed during a wake-up");
                None
            }
        }
    }

    fn start(&mut self) {
        let now = self.trader_now();
        let journal = self.journal.clone();
        self.message_log.borrow_mut().begin_process(&journal, self.has_lost_power);
        let orders = Orders::from_journal(&journal, CAPACITY);
        let plan = &self.plan;
        let trader = Trader::new(
            orders,
            self.random.split(),
            Rc::clone(&self.message_log),
            Rc::clone(&self.crash_point),
            Rc::clone(&self.id),
            plan.policy(),
        );
        let disk = Disk::new(journal, Rc::clone(&self.crash_point), self.random.split());
        let dial = Dialer(Rc::clone(&self.dialer_state));
        self.process = Some(Process::new(plan, disk, dial, trader, now));
        self.process.as_mut().expect("the process has started").trader.is_busy =
            self.acts_at.is_some();
        self.census.count("processes started");
    }

    /// Begins a new week in a settled state, with trades before the first logon.
    fn begin_week(&mut self) {
        if !self.is_established() {
            return;
        }
        let now = self.clock.now();
        let process = self.process.as_ref().expect("the session is established");
        self.message_log.borrow_mut().begin_week(process.journal());
        // The disk is synced during the weekend, independent of the sync interval.
        self.of_earlier_weeks = all(process.journal()).count();
        // A stalled connection would outlast the time without any connection.
        self.lose_backup();
        self.venue.gateway.begin_week(now, &mut ());
        self.step_until(|world| {
            world.process.as_ref().is_none_or(|it| it.state() != State::Established)
        });
        self.step_until(|world| {
            world.venue.is_closed() && world.process.as_ref().is_none_or(Process::is_disconnected)
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
        let now = self.trader_now();
        let Some(process) = self.process.as_mut() else { return };
        let _ = process.with_sender(now, |trader, sender| trader.send_large_order(sender));
        self.settle();
        self.crash("killed between two wake-ups");
        self.starts_at = self.clock.now().monotonic + Duration::from_millis(5);
        let until = self.starts_at;
        self.step_by(until - Duration::from_millis(1));
        let now = self.clock.now();
        self.venue.trade(now, 2_600 + self.random.below(600) as u32);
        self.census.count("floods");
    }

    fn is_established(&self) -> bool {
        self.process.as_ref().is_some_and(|process| process.state() == State::Established)
    }

    /// Returns `true` if the session is established, and also on the backup if there is one.
    fn is_all_established(&self) -> bool {
        let is_alone = !self.plan.has_backup || self.dialer_state.borrow().refused.is_some();
        let is_connected_to_backup =
            |process: &Process| process.backup_state() == State::Established;
        self.is_established()
            && (is_alone || self.process.as_ref().is_some_and(is_connected_to_backup))
    }

    /// Ends all faults and waits until the trader has received all messages.
    fn settle(&mut self) {
        (self.acts_at, self.ticks_at, self.accepts_at) = (None, None, None);
        self.set_busy(false);
        self.crash_point.disarm();
        self.cuts_power = false;
        self.venue.cuts_after = None;
        {
            let mut dialer_state = self.dialer_state.borrow_mut();
            (dialer_state.refuses, dialer_state.cuts_after) = (false, None);
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
        let end = self.clock.now().monotonic + TIMEOUT;
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
        let now = self.trader_now();
        let Some(process) = &mut self.process else { return false };
        let logon = self.message_log.borrow().logon;
        let id = process.with_sender(now, |trader, sender| trader.probe(sender));
        let Some(id) = self.unless_crashed(id) else { return false };
        let limit = self.clock.now().monotonic + Duration::from_secs(30);
        let is_over = |world: &Self| {
            world.message_log.borrow().logon != logon
                || !world.is_established()
                || world.clock.now().monotonic > limit
        };
        let works = |world: &Self| {
            world.process.as_ref().is_some_and(|process| {
                let orders = &process.trader.orders;
                orders.by_cl_ord_id(id).is_some_and(|it| it.is_working())
                    && orders.in_flight().count() == 0
            })
        };
        self.step_until(|world| works(world) || is_over(world));
        // A Sequence names the last published number.
        let sequences = self.venue.sequences;
        let is_delivered = |world: &Self| {
            world.venue.sequences > sequences && world.message_log.borrow().is_complete()
        };
        self.step_until(|world| is_delivered(world) || is_over(world));
        works(self) && is_delivered(self) && self.venue.is_idle() && !is_over(self)
    }

    /// Checks the settled state.
    fn check(&mut self) {
        let process = self.process.as_ref().expect("the session is established");
        let progress = process.progress();
        let mut message_log = self.message_log.borrow_mut();
        message_log.check(progress.uuid, progress.next_outgoing - 1, process.journal());
        assert_eq!(
            progress.next_incoming,
            message_log.next(progress.uuid),
            "next incoming sequence number"
        );
        self.census.count("phases settled and checked");
        let orders = &process.trader.orders;
        let held = held(&self.venue.market);
        let rebuilt = Orders::from_journal(process.journal(), CAPACITY);
        if message_log.lacks_message() {
            self.census.count("phases with orders of unknown state after a power cut");
            assert_eq!(
                tracked_rows(orders),
                tracked_rows(&rebuilt),
                "working orders according to the journal"
            );
            return;
        }
        assert_eq!(tracked_rows(orders), held, "working orders");
        assert_eq!(orders.iter().count(), held.len(), "orders without a response");
        assert_eq!(tracked_rows(&rebuilt), held, "working orders according to the journal");
        assert_eq!(
            rebuilt.in_flight().next(),
            None,
            "the journal contains a request without a response"
        );
        self.census.add("working orders compared", held.len() as u64);
    }

    fn describe(&self) -> String {
        let state = self.process.as_ref().map(|process| (process.state(), process.progress()));
        let missing = self.message_log.borrow().missing();
        let orders = self.process.as_ref().map(|process| &process.trader.orders);
        let open: Vec<_> = orders.into_iter().flat_map(Orders::in_flight).collect();
        let gateway_fault = self.plan.gateway_fault;
        format!("{gateway_fault:?}, {missing:?} missing, {open:?} in flight, {state:?}")
    }

    fn finish(mut self) -> Census {
        if let Some(process) = self.process.take() {
            self.census.merge(&process.trader.census);
        }
        self.census.merge(&self.message_log.borrow().census);
        self.census.merge(&self.venue.census);
        self.census.merge(&self.crash_point.census.borrow());
        let dialer_state = self.dialer_state.borrow();
        self.census.merge(&dialer_state.census);
        dialer_state.all.iter().for_each(|it| it.borrow().report(&mut self.census));
        if let Some(tally) = self.venue.gateway.fault_tally() {
            self.census.add("gateway: messages dropped", tally.dropped);
            self.census.add("gateway: messages doubled", tally.doubled);
            let lost = self.message_log.borrow().lost();
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
        let end = self.clock.now().monotonic + TIMEOUT;
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
        let own = match &self.process {
            Some(process) => process.next_at(before, &self.dialer_state.borrow().lines),
            None => Some(self.starts_at),
        };
        let others = [self.acts_at, self.ticks_at, self.accepts_at, self.restores_at];
        let due = others.into_iter().chain([own, self.venue.next_at(before)]);
        let next = due.flatten().min().unwrap_or(until);
        self.clock.advance_to(next.min(until));
        let now = self.clock.now();
        self.steps = if now.monotonic > before { 0 } else { self.steps + 1 };
        assert!(self.steps < MAX_STEPS, "endless loop: time does not advance");
        self.shared_clock.set(now.monotonic);
        self.handle_due_events(now);
    }

    fn handle_due_events(&mut self, now: Now) {
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= now.monotonic);
        if is_due(self.accepts_at) {
            self.accepts_at = None;
            self.dialer_state.borrow_mut().refuses = false;
        }
        if is_due(self.restores_at) {
            self.restore();
        }
        if is_due(self.ticks_at) {
            self.venue.tick(now);
            let pause = self.random.span(Duration::ZERO, Duration::from_millis(3));
            self.ticks_at = Some(now.monotonic + pause);
        }
        if self.process.is_none() && self.starts_at <= now.monotonic {
            self.start();
        }
        if is_due(self.acts_at) {
            self.act();
            let pause = self.random.span(Duration::ZERO, Duration::from_millis(1));
            self.acts_at = Some(now.monotonic + pause);
        }
        self.process_session();
        let dialed = std::mem::take(&mut self.dialer_state.borrow_mut().dialed);
        dialed.into_iter().for_each(|line| self.venue.admit(line));
        self.venue.handle_due_events(now);
    }

    /// Sends one request, or several at once.
    fn act(&mut self) {
        let count = if self.random.below(6) == 0 { 2 + self.random.below(8) } else { 1 };
        let now = self.trader_now();
        let Some(process) = &mut self.process else { return };
        let done = process.with_sender(now, |trader, sender| {
            (0..count).for_each(|_| trader.act(sender));
        });
        self.unless_crashed(done);
    }

    /// Drives the session.
    fn process_session(&mut self) {
        let (now, week_began) = (self.trader_now(), self.week_began);
        let Some(process) = &mut self.process else { return };
        let due = process.next_at(now.monotonic, &self.dialer_state.borrow().lines);
        if due.is_some_and(|at| at <= now.monotonic) {
            let done = process.drive(now, week_began);
            self.unless_crashed(done);
        }
    }
}
