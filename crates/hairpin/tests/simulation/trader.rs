//! A simulated trader: the real channel, session and strategy on simulated sockets.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use hairpin_feed_handler::{ChannelState, Feed, FeedLine};
use hairpin_mapped::Journal;
use hairpin_mdp3::Input;
use hairpin_netsim::{Census, Change, End, FaultSchedule, Random};
use hairpin_order_entry::State;
use hairpin_time::{Duration, Instant, Now};

use crate::client_stream::{Dialer, DialerState};
use crate::plan::{Fault, Plan, Scenario, line, stream};
use crate::process::Process;
use crate::venue::{Memberships, Venue};

/// A trader, its process while it runs, and its fault scenario.
pub(crate) struct SimulatedTrader {
    pub(crate) trader: usize,
    pub(crate) scenario: Scenario,
    pub(crate) process: Option<Process>,
    pub(crate) census: Census,
    random: Random,
    memberships: Memberships,
    /// The additional delay of the incremental feed, compared with the loops.
    lag: Duration,
    dialer_state: Rc<RefCell<DialerState>>,
    schedules: Vec<FaultSchedule<Fault>>,
    active: Vec<Fault>,
    starts_at: Option<Instant>,
    journal: Option<PathBuf>,
    journal_bytes: usize,
    silence_pending: bool,
    silent_until: Instant,
    is_closing: bool,
}

impl SimulatedTrader {
    pub(crate) fn new(
        trader: usize,
        plan: &mut Plan,
        venue: &mut Venue,
        start: Instant,
        clock: &Rc<Cell<Instant>>,
        folder: &Path,
    ) -> Self {
        let scenario = plan.scenarios[trader];
        let mut random = plan.random.split();
        let mut schedules = Vec::new();
        if scenario == Scenario::SlowOrders {
            let late = random.span(Duration::ZERO, Duration::from_millis(100));
            schedules.push(FaultSchedule::none());
            schedules[0].add(Fault::Refusal, start, start + late);
        }
        let memberships = venue.memberships(&mut random);
        let lag = Duration::from_micros(*random.pick(&[0, 0, 500, 4_000]));
        let delay = match scenario {
            Scenario::LateJoin => random.span(Duration::ZERO, plan.length()),
            _ => Duration::ZERO,
        };
        let crashes = matches!(scenario, Scenario::Death | Scenario::Everything);
        Self {
            trader,
            scenario,
            process: None,
            census: Census::new(),
            dialer_state: Rc::new(RefCell::new(DialerState::new(
                Rc::clone(clock),
                random.split(),
                Rc::default(),
            ))),
            random,
            memberships,
            lag,
            schedules,
            active: Vec::new(),
            starts_at: Some(start + delay),
            journal: crashes.then(|| folder.join(format!("journal-{trader}"))),
            // One order and one cancel for each tick, plus the logons.
            journal_bytes: (plan.ticks as usize + 1_000) * 1_024,
            silence_pending: false,
            silent_until: start,
            is_closing: false,
        }
    }

    /// Starts the trader's fault scenario.
    pub(crate) fn begin_scenario(&mut self, plan: &mut Plan, start: Instant) {
        let at_once = match self.scenario {
            Scenario::Everything | Scenario::SlowOrders => 2,
            _ => 1,
        };
        self.schedules.extend((0..at_once).map(|_| plan.schedule(self.scenario, start)));
    }

    /// Returns `true` if the trader trades, or if its scenario does not let it trade yet.
    pub(crate) fn is_ready(&self) -> bool {
        let session = self.process.as_ref().map(|process| process.session.state());
        let is_awaited = !matches!(self.scenario, Scenario::LateJoin | Scenario::CorruptData);
        !is_awaited || session == Some(State::Established)
    }

    /// Handles all events that are due for this trader.
    pub(crate) fn run(&mut self, now: Now, venue: &mut Venue) {
        while let Some(change) = self.schedules.iter_mut().find_map(|s| s.poll(now.monotonic)) {
            self.change(now, change, venue);
        }
        if self.starts_at.is_some_and(|at| at <= now.monotonic) {
            self.starts_at = None;
            self.start(now, venue);
        }
        if self.silence_pending {
            self.begin_silence(now);
        }
        self.process_feed(now, venue);
        self.process_session(now, venue);
        let dialed = std::mem::take(&mut self.dialer_state.borrow_mut().dialed);
        dialed.into_iter().for_each(|line| venue.admit(self.trader, line.connection));
    }

    /// Returns the time of the next event.
    pub(crate) fn next_at(&self, now: Instant, venue: &Venue) -> Option<Instant> {
        let faults = self.schedules.iter().filter_map(FaultSchedule::poll_timeout);
        let lines =
            (0..3).flat_map(|feed| [(feed, 0), (feed, 1)]).filter_map(|(feed, feed_line)| {
                venue.groups[feed][feed_line].poll_timeout(self.memberships[feed][feed_line])
            });
        let current = self.dialer_state.borrow().current();
        let stream =
            current.as_ref().and_then(|stream| stream.borrow().poll_timeout(now, End::Client));
        let process = self.process.as_ref();
        let is_urgent = process.is_some_and(|process| process.is_urgent(now, current.as_ref()));
        let own = [
            is_urgent.then_some(now),
            self.starts_at,
            stream,
            process.and_then(|process| process.channel.poll_timeout()),
            process.and_then(|process| process.session.next_deadline()),
            process
                .filter(|process| process.wants_to_connect(self.is_closing))
                .map(|process| process.connects_at),
        ];
        own.into_iter().flatten().chain(faults).chain(lines).min()
    }

    /// Ends every fault. The network has no faults from now on.
    pub(crate) fn end_faults(&mut self, now: Now, venue: &mut Venue) {
        self.schedules.clear();
        for fault in std::mem::take(&mut self.active) {
            self.change(now, Change::Ends(fault), venue);
        }
        self.apply(venue);
        self.silence_pending = self.scenario == Scenario::Silence;
    }

    /// Stalls one direction of an established session for one to two keep-alive intervals or
    /// longer.
    fn begin_silence(&mut self, now: Now) {
        let is_established = self
            .process
            .as_ref()
            .is_some_and(|process| process.session.state() == State::Established);
        let current = self.dialer_state.borrow().current();
        if let Some(connection) = current.filter(|_| is_established) {
            self.silence_pending = false;
            let end = *self.random.pick(&[End::Client, End::Server]);
            let length = self.random.span(Duration::from_secs(11), Duration::from_secs(26));
            connection.borrow_mut().stall(now.monotonic, end, length);
            self.silent_until = now.monotonic + length;
        }
    }

    /// Returns `true` if all work in progress is complete.
    pub(crate) fn is_settled(&self, now: Instant, venue: &Venue) -> bool {
        let is_silent = self.silence_pending || now < self.silent_until;
        let Some(process) = self.process.as_ref().filter(|_| !is_silent) else { return false };
        let uuid = process.session.progress().uuid;
        let is_in_sync = process.channel.state() == ChannelState::InSync;
        let has_session = process.session.state() == State::Established
            && process.session.waiting() == 0
            && venue.message_logs[self.trader].is_settled(uuid);
        (is_in_sync || self.scenario.corrupts_data())
            && (has_session || self.scenario.corrupts_orders() || self.scenario.corrupts_data())
    }

    /// Logs out and does not log on again.
    pub(crate) fn close(&mut self, now: Now) {
        self.is_closing = true;
        if let Some(process) = &mut self.process {
            process.session.terminate(now);
        }
    }

    /// Returns `true` if the trader has logged out.
    pub(crate) fn is_closed(&self) -> bool {
        self.process.as_ref().is_none_or(|process| process.session.state() == State::Disconnected)
    }

    /// Checks the final state.
    pub(crate) fn check(&mut self, venue: &Venue) {
        let message_log = &venue.message_logs[self.trader];
        if let Some(process) = self.process.take() {
            if !self.scenario.corrupts_data() {
                process.check_books(venue);
            }
            if !self.scenario.corrupts_orders() {
                process.check_numbers(message_log);
                message_log.check(process.session.journal(), venue.matching());
            }
            process.check_counters(&mut self.census);
        }
        message_log.report(&mut self.census);
        self.dialer_state.borrow().all.iter().for_each(|c| c.borrow().report(&mut self.census));
        self.census.count(self.scenario.class());
    }

    /// Describes the trader's state for a failure message.
    pub(crate) fn describe(&self) -> String {
        let process = self.process.as_ref();
        let state = process.map(|process| (process.channel.state(), process.session.state()));
        format!("trader {} ({:?}): {state:?}", self.trader, self.scenario)
    }

    fn change(&mut self, now: Now, change: Change<Fault>, venue: &mut Venue) {
        match change {
            Change::Begins(fault) => {
                self.active.push(fault);
                self.begin(now, fault, venue);
            }
            Change::Ends(fault) => {
                if let Some(place) = self.active.iter().position(|active| *active == fault) {
                    self.active.swap_remove(place);
                }
                match fault {
                    Fault::Death => {
                        // The process was to crash in the callback of a report that did not arrive.
                        self.crash(venue);
                        self.starts_at = Some(now.monotonic);
                    }
                    Fault::Reset => self.reset(venue),
                    _ => {}
                }
            }
        }
        self.apply(venue);
    }

    /// Applies the immediate effect of a fault.
    fn begin(&mut self, now: Now, fault: Fault, venue: &mut Venue) {
        let length = self.random.span(Duration::from_millis(2), Duration::from_millis(150));
        let current = self.dialer_state.borrow().current();
        let stall = |end, length| {
            if let Some(connection) = &current {
                connection.borrow_mut().stall(now.monotonic, end, length);
            }
        };
        match fault {
            Fault::StallUp => stall(End::Client, length),
            Fault::StallDown => stall(End::Server, length),
            // The data in flight in one direction is lost.
            Fault::Reset => {
                let end = *self.random.pick(&[End::Client, End::Server]);
                stall(end, Duration::from_secs(1));
            }
            Fault::Terminate => {
                if venue.terminate(now, self.trader)
                    && let Some(process) = &self.process
                {
                    let uuid = process.session.progress().uuid;
                    venue.message_logs[self.trader].allow_loss(uuid, "terminated by the exchange");
                }
            }
            Fault::DropReport => venue.drop_next_report(self.trader),
            Fault::Death => match &mut self.process {
                Some(process) if self.random.below(2) == 0 => process.crash_in_callback(),
                _ => self.crash(venue),
            },
            _ => {}
        }
    }

    /// Resets the connection and drops all data in flight.
    fn reset(&mut self, venue: &mut Venue) {
        let current = self.dialer_state.borrow().current();
        if let (Some(connection), Some(process)) = (current, &self.process) {
            venue.message_logs[self.trader].allow_loss(process.session.progress().uuid, "reset");
            connection.borrow_mut().reset();
        }
    }

    /// Ends the process. Its journal survives.
    fn crash(&mut self, venue: &mut Venue) {
        let Some(process) = self.process.take() else { return };
        venue.message_logs[self.trader].allow_loss(process.session.progress().uuid, "killed");
        process.check_counters(&mut self.census);
        self.census.count("traders killed");
        for (groups, memberships) in venue.groups.iter_mut().zip(self.memberships) {
            for (group, place) in groups.iter_mut().zip(memberships) {
                group.set_joined(place, false);
            }
        }
        drop(process);
        // In some runs, the process exit resets the connection instead of closing it.
        if let Some(last) = self.dialer_state.borrow().all.last()
            && self.random.below(2) == 0
        {
            last.borrow_mut().reset();
        }
    }

    /// Applies the active faults to the feed lines and the connection.
    fn apply(&mut self, venue: &mut Venue) {
        for (feed, (groups, memberships)) in
            venue.groups.iter_mut().zip(self.memberships).enumerate()
        {
            let lag = if feed == Feed::Incremental as usize { self.lag } else { Duration::ZERO };
            for (feed_line, (group, place)) in groups.iter_mut().zip(memberships).enumerate() {
                let (faults, is_cut) = line(feed_line, lag, &self.active);
                let link = group.link_mut(place);
                link.set_faults(faults);
                link.set_cut(is_cut);
            }
        }
        let faults = stream(&self.active);
        let mut dialer_state = self.dialer_state.borrow_mut();
        dialer_state.faults = faults;
        dialer_state.refuses = self.active.contains(&Fault::Refusal);
        if let Some(connection) = dialer_state.current() {
            connection.borrow_mut().set_faults(faults);
        }
    }

    fn start(&mut self, now: Now, venue: &mut Venue) {
        self.apply(venue);
        let journal = match &self.journal {
            Some(path) if path.exists() => {
                self.census.count("traders restarted");
                Journal::open(path)
            }
            Some(path) => Journal::create(path, self.journal_bytes),
            None => Journal::anonymous(self.journal_bytes),
        };
        let journal = journal.expect("cannot map the journal");
        let dial = Dialer(Rc::clone(&self.dialer_state));
        let instruments = venue.expected_state.instruments();
        self.process =
            Some(Process::new(self.trader, self.scenario, journal, dial, instruments, now));
    }

    /// Passes received packets to the channel and performs the channel's actions.
    fn process_feed(&mut self, now: Now, venue: &mut Venue) {
        let Some(process) = &mut self.process else { return };
        process.join(&mut venue.groups, &self.memberships);
        let Venue { groups, expected_state, message_logs, .. } = venue;
        let message_log = &mut message_logs[self.trader];
        for feed in [Feed::Incremental, Feed::Instrument, Feed::Snapshot] {
            for feed_line in FeedLine::ALL {
                let place = self.memberships[feed as usize][feed_line as usize];
                let group = &mut groups[feed as usize][feed_line as usize];
                if group.poll_timeout(place).is_some_and(|at| at <= now.monotonic) {
                    let input = Input { feed, line: feed_line, received: Some(now.utc) };
                    group.receive(place, now.monotonic, |_, bytes| {
                        process.handle_packet(now, input, bytes, expected_state, message_log);
                    });
                }
            }
        }
        process.handle_timeout(now, expected_state, message_log);
        process.join(groups, &self.memberships);
    }

    /// Logs on if required and drives the session.
    fn process_session(&mut self, now: Now, venue: &mut Venue) {
        let Some(process) = &mut self.process else { return };
        if process.wants_to_connect(self.is_closing) && process.connects_at <= now.monotonic {
            process.connect(now, self.random.below(4) > 0);
        }
        let current = self.dialer_state.borrow().current();
        if process.is_due(now.monotonic, current.as_ref()) {
            let driven = process.drive(now, &mut venue.message_logs[self.trader]);
            if driven.is_err() {
                self.census.count("traders killed in a callback");
                self.crash(venue);
            }
        }
    }
}
