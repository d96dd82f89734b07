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

use crate::life::Life;
use crate::plan::{Fault, Ordeal, Plan, line, stream};
use crate::venue::{Places, Venue};
use crate::wire::{Dialler, Exit};

/// A trader, its process while it runs, and its fault scenario.
pub(crate) struct Desk {
    pub(crate) trader: usize,
    pub(crate) ordeal: Ordeal,
    pub(crate) life: Option<Life>,
    pub(crate) census: Census,
    random: Random,
    places: Places,
    /// The additional delay of the incremental feed, compared with the loops.
    lag: Duration,
    exit: Rc<RefCell<Exit>>,
    schedules: Vec<FaultSchedule<Fault>>,
    active: Vec<Fault>,
    starts_at: Option<Instant>,
    journal: Option<PathBuf>,
    journal_bytes: usize,
    owes_silence: bool,
    silent_until: Instant,
    is_closing: bool,
}

impl Desk {
    pub(crate) fn new(
        trader: usize,
        plan: &mut Plan,
        venue: &mut Venue,
        start: Instant,
        clock: &Rc<Cell<Instant>>,
        folder: &Path,
    ) -> Self {
        let ordeal = plan.ordeals[trader];
        let mut random = plan.random.split();
        let mut schedules = Vec::new();
        if ordeal == Ordeal::SlowOrders {
            let late = random.span(Duration::ZERO, Duration::from_millis(100));
            schedules.push(FaultSchedule::none());
            schedules[0].add(Fault::Refusal, start, start + late);
        }
        let places = venue.places(&mut random);
        let lag = Duration::from_micros(*random.pick(&[0, 0, 500, 4_000]));
        let delay = match ordeal {
            Ordeal::LateJoin => random.span(Duration::ZERO, plan.length()),
            _ => Duration::ZERO,
        };
        let dies = matches!(ordeal, Ordeal::Death | Ordeal::Everything);
        Self {
            trader,
            ordeal,
            life: None,
            census: Census::new(),
            exit: Rc::new(RefCell::new(Exit::new(Rc::clone(clock), random.split(), Rc::default()))),
            random,
            places,
            lag,
            schedules,
            active: Vec::new(),
            starts_at: Some(start + delay),
            journal: dies.then(|| folder.join(format!("journal-{trader}"))),
            // One order and one cancel for each tick, plus the logons.
            journal_bytes: (plan.ticks as usize + 1_000) * 1_024,
            owes_silence: false,
            silent_until: start,
            is_closing: false,
        }
    }

    /// Starts the trader's fault scenario.
    pub(crate) fn begin_ordeal(&mut self, plan: &mut Plan, start: Instant) {
        let at_once = match self.ordeal {
            Ordeal::Everything | Ordeal::SlowOrders => 2,
            _ => 1,
        };
        self.schedules.extend((0..at_once).map(|_| plan.schedule(self.ordeal, start)));
    }

    /// Returns `true` if the trader trades, or if its scenario does not let it trade yet.
    pub(crate) fn is_ready(&self) -> bool {
        let session = self.life.as_ref().map(|life| life.session.state());
        let is_awaited = !matches!(self.ordeal, Ordeal::LateJoin | Ordeal::CorruptData);
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
        if self.owes_silence {
            self.fall_silent(now);
        }
        self.hear(now, venue);
        self.talk(now, venue);
        let dialled = std::mem::take(&mut self.exit.borrow_mut().dialled);
        dialled.into_iter().for_each(|line| venue.admit(self.trader, line.connection));
    }

    /// Returns the time of the next event.
    pub(crate) fn next_at(&self, now: Instant, venue: &Venue) -> Option<Instant> {
        let faults = self.schedules.iter().filter_map(FaultSchedule::poll_timeout);
        let lines = (0..3).flat_map(|feed| [(feed, 0), (feed, 1)]).filter_map(|(feed, side)| {
            venue.groups[feed][side].poll_timeout(self.places[feed][side])
        });
        let current = self.exit.borrow().current();
        let stream =
            current.as_ref().and_then(|stream| stream.borrow().poll_timeout(now, End::Client));
        let life = self.life.as_ref();
        let is_urgent = life.is_some_and(|life| life.is_urgent(now, current.as_ref()));
        let own = [
            is_urgent.then_some(now),
            self.starts_at,
            stream,
            life.and_then(|life| life.channel.poll_timeout()),
            life.and_then(|life| life.session.next_deadline()),
            life.filter(|life| life.wants_to_connect(self.is_closing)).map(|life| life.connects_at),
        ];
        own.into_iter().flatten().chain(faults).chain(lines).min()
    }

    /// Ends every fault. The network has no faults from now on.
    pub(crate) fn heal(&mut self, now: Now, venue: &mut Venue) {
        self.schedules.clear();
        for fault in std::mem::take(&mut self.active) {
            self.change(now, Change::Ends(fault), venue);
        }
        self.apply(venue);
        self.owes_silence = self.ordeal == Ordeal::Silence;
    }

    /// Stalls one direction of an established session for one to two keep-alive intervals or
    /// longer.
    fn fall_silent(&mut self, now: Now) {
        let is_established =
            self.life.as_ref().is_some_and(|life| life.session.state() == State::Established);
        let current = self.exit.borrow().current();
        if let Some(connection) = current.filter(|_| is_established) {
            self.owes_silence = false;
            let end = *self.random.pick(&[End::Client, End::Server]);
            let length = self.random.span(Duration::from_secs(11), Duration::from_secs(26));
            connection.borrow_mut().stall(now.monotonic, end, length);
            self.silent_until = now.monotonic + length;
        }
    }

    /// Returns `true` if all work in progress is complete.
    pub(crate) fn is_settled(&self, now: Instant, venue: &Venue) -> bool {
        let is_silent = self.owes_silence || now < self.silent_until;
        let Some(life) = self.life.as_ref().filter(|_| !is_silent) else { return false };
        let uuid = life.session.progress().uuid;
        let is_in_sync = life.channel.state() == ChannelState::InSync;
        let has_session = life.session.state() == State::Established
            && life.session.waiting() == 0
            && venue.ledgers[self.trader].is_settled(uuid);
        (is_in_sync || self.ordeal.corrupts_data())
            && (has_session || self.ordeal.corrupts_orders() || self.ordeal.corrupts_data())
    }

    /// Logs out and does not log on again.
    pub(crate) fn close(&mut self, now: Now) {
        self.is_closing = true;
        if let Some(life) = &mut self.life {
            life.session.terminate(now);
        }
    }

    /// Returns `true` if the trader has logged out.
    pub(crate) fn is_closed(&self) -> bool {
        self.life.as_ref().is_none_or(|life| life.session.state() == State::Disconnected)
    }

    /// Checks the final state.
    pub(crate) fn check(&mut self, venue: &Venue) {
        let ledger = &venue.ledgers[self.trader];
        if let Some(life) = self.life.take() {
            if !self.ordeal.corrupts_data() {
                life.check_books(venue);
            }
            if !self.ordeal.corrupts_orders() {
                life.check_numbers(ledger);
                ledger.check(life.session.journal(), venue.matching());
            }
            life.check_sums(&mut self.census);
        }
        ledger.report(&mut self.census);
        self.exit.borrow().all.iter().for_each(|c| c.borrow().report(&mut self.census));
        self.census.count(self.ordeal.class());
    }

    /// Describes the trader's state for a failure message.
    pub(crate) fn describe(&self) -> String {
        let life = self.life.as_ref();
        let state = life.map(|life| (life.channel.state(), life.session.state()));
        format!("trader {} ({:?}): {state:?}", self.trader, self.ordeal)
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
                        self.die(venue);
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
        let current = self.exit.borrow().current();
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
                    && let Some(life) = &self.life
                {
                    let uuid = life.session.progress().uuid;
                    venue.ledgers[self.trader].break_run(uuid, "terminated by the exchange");
                }
            }
            Fault::Swallow => venue.swallow_next(self.trader),
            Fault::Death => match &mut self.life {
                Some(life) if self.random.below(2) == 0 => life.doom(),
                _ => self.die(venue),
            },
            _ => {}
        }
    }

    /// Resets the connection and drops all data in flight.
    fn reset(&mut self, venue: &mut Venue) {
        let current = self.exit.borrow().current();
        if let (Some(connection), Some(life)) = (current, &self.life) {
            venue.ledgers[self.trader].break_run(life.session.progress().uuid, "reset");
            connection.borrow_mut().reset();
        }
    }

    /// Ends the process. Its journal survives.
    fn die(&mut self, venue: &mut Venue) {
        let Some(life) = self.life.take() else { return };
        venue.ledgers[self.trader].break_run(life.session.progress().uuid, "killed");
        life.check_sums(&mut self.census);
        self.census.count("traders killed");
        for (groups, places) in venue.groups.iter_mut().zip(self.places) {
            for (group, place) in groups.iter_mut().zip(places) {
                group.set_joined(place, false);
            }
        }
        drop(life);
        // In some runs, the process exit resets the connection instead of closing it.
        if let Some(last) = self.exit.borrow().all.last()
            && self.random.below(2) == 0
        {
            last.borrow_mut().reset();
        }
    }

    /// Applies the active faults to the feed lines and the connection.
    fn apply(&mut self, venue: &mut Venue) {
        for (feed, (groups, places)) in venue.groups.iter_mut().zip(self.places).enumerate() {
            let lag = if feed == Feed::Incremental as usize { self.lag } else { Duration::ZERO };
            for (side, (group, place)) in groups.iter_mut().zip(places).enumerate() {
                let (faults, is_cut) = line(side, lag, &self.active);
                let link = group.link_mut(place);
                link.set_faults(faults);
                link.set_cut(is_cut);
            }
        }
        let faults = stream(&self.active);
        let mut exit = self.exit.borrow_mut();
        exit.faults = faults;
        exit.refuses = self.active.contains(&Fault::Refusal);
        if let Some(connection) = exit.current() {
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
        let dial = Dialler(Rc::clone(&self.exit));
        let instruments = venue.truth.instruments();
        self.life = Some(Life::new(self.trader, self.ordeal, journal, dial, instruments, now));
    }

    /// Passes received packets to the channel and performs the channel's actions.
    fn hear(&mut self, now: Now, venue: &mut Venue) {
        let Some(life) = &mut self.life else { return };
        life.join(&mut venue.groups, &self.places);
        let Venue { groups, truth, ledgers, .. } = venue;
        let ledger = &mut ledgers[self.trader];
        for feed in [Feed::Incremental, Feed::Instrument, Feed::Snapshot] {
            for side in FeedLine::ALL {
                let place = self.places[feed as usize][side as usize];
                let group = &mut groups[feed as usize][side as usize];
                if group.poll_timeout(place).is_some_and(|at| at <= now.monotonic) {
                    let input = Input { feed, line: side, received: Some(now.utc) };
                    group.receive(place, now.monotonic, |_, bytes| {
                        life.handle_packet(now, input, bytes, truth, ledger);
                    });
                }
            }
        }
        life.handle_timeout(now, truth, ledger);
        life.join(groups, &self.places);
    }

    /// Logs on if required and drives the session.
    fn talk(&mut self, now: Now, venue: &mut Venue) {
        let Some(life) = &mut self.life else { return };
        if life.wants_to_connect(self.is_closing) && life.connects_at <= now.monotonic {
            life.connect(now, self.random.below(4) > 0);
        }
        let current = self.exit.borrow().current();
        if life.is_due(now.monotonic, current.as_ref()) {
            let driven = life.drive(now, &mut venue.ledgers[self.trader]);
            if driven.is_err() {
                self.census.count("traders killed in a callback");
                self.die(venue);
            }
        }
    }
}
