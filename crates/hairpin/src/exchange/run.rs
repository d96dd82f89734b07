//! The one spinning thread of an exchange that is measured: generator, matching engine, publisher
//! and gateway, in rounds of ticks on a schedule that waits for nobody.

use anyhow::{Result, bail};
use hairpin_exchange::{Exchange, FeedLine, Pace};
use hairpin_measure::Schedule;
use hairpin_reactor::Reactor;
use hairpin_time::{Duration, Instant, Now};

use super::figures;
use super::recording::{LEAD, Recording};
use crate::live::Live;
use crate::setup::{Load, Mute};
use crate::way::Way;

/// For the last orders to come and be cancelled: longer than a tick waits before it is lost.
const DRAIN_PATIENCE: Duration = Duration::from_secs(3);
/// For the traders to answer the gateway's Terminate.
const GOODBYE_PATIENCE: Duration = Duration::from_secs(2);
/// Nothing is due for at least so long: time for what is not urgent.
const QUIET: Duration = Duration::from_micros(50);

/// Where a run stands.
#[derive(Debug, Clone)]
enum Phase {
    /// Loops flat out, until enough traders are in sync and have logged on.
    Joining { until: Option<Instant> },
    /// Ticks leave on schedule, whatever comes back.
    Ticking(Schedule),
    /// The last orders come and are cancelled.
    Draining { until: Instant },
    /// The round is over; sessions are kept.
    Resting,
    /// The gateway has said Terminate.
    Leaving { until: Instant },
    /// Nobody is there any more.
    Over,
}

/// An exchange that is being measured.
pub(super) struct Run {
    pub(super) exchange: Exchange,
    pub(super) recording: Recording,
    reactor: Reactor,
    load: Load,
    /// Traders that must be there before a round begins.
    quorum: usize,
    phase: Phase,
    live: Live,
    way: Way,
    pub(super) interrupted: bool,
    /// When enough traders were there for the first time.
    pub(super) joined: Option<Instant>,
}

impl Run {
    /// A run that begins when `quorum` traders are logged on, which may take `patience` where one
    /// is given.
    pub(super) fn new(
        (exchange, reactor, way): (Exchange, Reactor, Way),
        recording: Recording,
        load: Load,
        quorum: usize,
        patience: Option<Duration>,
    ) -> Self {
        let until = patience.map(|patience| recording.clock.instant() + patience);
        let phase = Phase::Joining { until };
        Self {
            exchange,
            recording,
            reactor,
            load,
            quorum,
            phase,
            live: Live::default(),
            way,
            interrupted: false,
            joined: None,
        }
    }

    /// Publishes live counters from now on, as the process that `title` tells.
    pub(super) fn publish(&mut self, title: &str) {
        let Self { exchange, recording, .. } = self;
        self.live = Live::publish(title, "exchange", |sheet| {
            figures::tell(sheet, exchange, recording, false);
        });
    }

    /// Spins until a round is over: its ticks have left and were answered or lost. Once
    /// `asked_to_stop` says so, what is left of the round is dropped and [`Run::interrupted`] set.
    /// `told` hears how many ticks have left.
    ///
    /// # Errors
    /// Those of the network; no trader within the patience.
    pub(super) fn round(
        &mut self,
        asked_to_stop: impl Fn() -> bool,
        told: impl Fn(u64),
    ) -> Result<()> {
        self.recording.begin_round();
        if matches!(self.phase, Phase::Resting) {
            let now = self.turn()?;
            self.resume(now);
        }
        while !matches!(self.phase, Phase::Resting) {
            let before = self.recording.ticks();
            let now = self.turn()?;
            self.advance(now)?;
            let ticks = self.recording.ticks();
            if ticks != before {
                told(ticks);
            }
            if !self.interrupted && asked_to_stop() {
                self.interrupt(now.monotonic);
            }
        }
        Ok(())
    }

    /// Brings the live counters up to date if that is due; seldom while there is more urgent work.
    fn tell(&mut self, now: Instant, is_quiet: bool) {
        let Self { exchange, recording, phase, .. } = self;
        let is_ticking = matches!(phase, Phase::Ticking(_));
        self.way.tell_if_due(now, is_quiet);
        self.live.update_if_due(now, is_quiet, |sheet| {
            figures::tell(sheet, exchange, recording, is_ticking);
        });
    }

    /// Ends every session, and gives their traders time to answer.
    ///
    /// # Errors
    /// Those of the network.
    pub(super) fn finish(&mut self) -> Result<()> {
        let now = self.turn()?;
        self.exchange.terminate(now, &mut self.recording);
        self.phase = Phase::Leaving { until: now.monotonic + GOODBYE_PATIENCE };
        while !matches!(self.phase, Phase::Over) {
            let now = self.turn()?;
            self.advance(now)?;
        }
        Ok(())
    }

    /// One turn of the loop.
    fn turn(&mut self) -> Result<Now> {
        let now = self.recording.clock.now();
        let ready = self.reactor.wait(now.monotonic, None)?;
        self.exchange.step(now, ready, &mut self.reactor, &mut self.recording)?;
        Ok(now)
    }

    /// Does what the phase calls for, and goes on to the next when it is over.
    fn advance(&mut self, now: Now) -> Result<()> {
        let at = now.monotonic;
        // While ticks leave, their schedule says when there is time for it.
        self.tell(at, !matches!(self.phase, Phase::Ticking(_)));
        match &mut self.phase {
            Phase::Joining { .. } if self.recording.present() >= self.quorum => self.resume(now),
            Phase::Joining { until: Some(until) } if at > *until => {
                bail!("no trader has logged on in time");
            }
            Phase::Joining { .. } => {}
            Phase::Ticking(_) => self.tick_if_due(now)?,
            Phase::Draining { until } => {
                let is_over = at > *until;
                self.recording.expire(at);
                if is_over || self.recording.is_settled() {
                    self.phase = Phase::Resting;
                }
            }
            Phase::Leaving { until } => {
                if !self.exchange.has_connections() || at > *until {
                    self.phase = Phase::Over;
                }
            }
            Phase::Resting | Phase::Over => {}
        }
        Ok(())
    }

    /// Ticks are to leave again, a little later, if enough traders are there.
    fn resume(&mut self, now: Now) {
        if self.recording.present() < self.quorum {
            self.exchange.set_pace(Pace::FlatOut, now);
            self.phase = Phase::Joining { until: None };
            return;
        }
        self.joined.get_or_insert(now.monotonic);
        self.exchange.set_pace(Pace::Paced, now);
        let interval = Duration::from_micros(self.load.interval_us);
        self.phase = Phase::Ticking(Schedule::new(now.monotonic + LEAD, interval));
    }

    fn tick_if_due(&mut self, now: Now) -> Result<()> {
        let at = now.monotonic;
        let Phase::Ticking(schedule) = &mut self.phase else { return Ok(()) };
        let ticks = if self.load.matching { self.recording.ticks() } else { schedule.departed() };
        // With matching off nothing ticks, and the schedule counts.
        if ticks >= self.load.warm_up + self.load.samples {
            self.phase = Phase::Draining { until: at + DRAIN_PATIENCE };
            return Ok(());
        }
        if schedule.next_departure() > at + QUIET {
            self.be_quiet(now);
            return Ok(());
        }
        let Some(departure) = schedule.depart(at) else { return Ok(()) };
        for (side, mute) in [(FeedLine::A, self.load.mute_a), (FeedLine::B, self.load.mute_b)] {
            if let Some(Mute { from_tick, ticks: count }) = mute {
                self.exchange.set_muted(side, ticks >= from_tick && ticks < from_tick + count);
            }
        }
        self.exchange.tick(now, departure.intended, &mut self.recording)?;
        Ok(())
    }

    /// Nothing is due for a while.
    fn be_quiet(&mut self, now: Now) {
        self.tell(now.monotonic, true);
        self.recording.clock.recalibrate_if_due(now.monotonic);
        self.recording.expire(now.monotonic);
        if self.recording.present() == 0 && self.recording.is_settled() {
            // Nobody is left to answer: the schedule stops until somebody comes.
            self.quorum = 1;
            self.resume(now);
        }
    }

    /// Ends the round with the ticks that have left.
    fn interrupt(&mut self, at: Instant) {
        self.interrupted = true;
        if matches!(self.phase, Phase::Joining { .. } | Phase::Ticking(_)) {
            self.phase = Phase::Draining { until: at + DRAIN_PATIENCE };
        }
    }
}
