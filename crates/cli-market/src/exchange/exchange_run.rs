//! The one thread of an exchange: generator, matching engine, publisher and
//! gateway, in rounds of ticks on an open-loop schedule; a simulator has one round without an end.

use std::io::{self, Write};

use anyhow::{Result, bail};
use hairpin_cli_harness::answer_timeout::answer_timeout;
use hairpin_cli_harness::datapath::OpenTransport;
use hairpin_cli_harness::run_loop::{self, Activity, RunLoop, Task, Turn};
use hairpin_cli_harness::t2t_setup::{LineOutage, Load};
use hairpin_exchange::{Exchange, FeedLine, Pace};
use hairpin_host::Clock;
use hairpin_mapped::CounterWriter;
use hairpin_measure::Schedule;
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now};

use super::counters;
use super::events::{Events, TimedEvent};
use super::measurement::{Measurement, START_DELAY};

/// The wait for the last orders and their cancels beyond the time that a tick waits for its order.
const CANCELED: Duration = Duration::from_secs(2);
/// The longest wait for the traders to answer the gateway's Terminate.
const TERMINATE_TIMEOUT: Duration = Duration::from_secs(2);
/// The longest sleep of a simulator: signals are handled within this time.
const MAX_SLEEP: Duration = Duration::from_millis(10);
/// The time without a due tick that is enough for housekeeping.
const QUIET: Duration = Duration::from_micros(50);

/// The phase of a run.
#[derive(Debug, Clone)]
enum Phase {
    /// The definition and snapshot loops run flat out until enough traders have logged on.
    Joining { until: Option<Instant> },
    /// Ticks are sent on schedule, whether or not orders answer them.
    Ticking(Schedule),
    /// The last orders arrive and are canceled.
    Draining { until: Instant },
    /// The round is over; sessions stay established.
    Idle,
    /// The gateway has sent Terminate.
    Leaving { until: Instant },
    /// All sessions have ended.
    Over,
}

/// A running exchange.
pub(super) struct ExchangeRun {
    pub(super) exchange: Exchange,
    pub(super) measurement: Measurement,
    reactor: Reactor,
    load: Load,
    /// The number of traders that a round needs to start.
    quorum: usize,
    phase: Phase,
    run_loop: Option<RunLoop>,
    pub(super) interrupted: bool,
    /// The market events of a script that are still to come.
    pub(super) events: Events,
    /// The time at which enough traders were logged on for the first time.
    pub(super) joined: Option<Instant>,
}

impl ExchangeRun {
    /// Returns a run that starts when `quorum` traders are logged on, within `timeout` if one is
    /// given.
    pub(super) fn new(
        (exchange, reactor, transport): (Exchange, Reactor, OpenTransport),
        measurement: Measurement,
        load: Load,
        quorum: usize,
        timeout: Option<Duration>,
    ) -> Self {
        let until = timeout.map(|timeout| measurement.clock.instant() + timeout);
        Self {
            exchange,
            measurement,
            reactor,
            load,
            quorum,
            phase: Phase::Joining { until },
            run_loop: Some(RunLoop::with_transport(transport)),
            interrupted: false,
            events: Events::default(),
            joined: None,
        }
    }

    /// Publishes live counters from now on, as the process with this title.
    pub(super) fn publish(&mut self, title: &str) {
        if let Some(mut run_loop) = self.run_loop.take() {
            run_loop.publish(title, "exchange", &Round { run: self, on_ticks: |_| () });
            self.run_loop = Some(run_loop);
        }
    }

    /// Runs one round, until its ticks were sent and answered or lost. After a stop request the
    /// remaining ticks are dropped and [`ExchangeRun::interrupted`] is set. `on_ticks` receives the
    /// number of ticks sent so far.
    ///
    /// # Errors
    /// Those of the network; no trader logged on in time.
    pub(super) fn round(
        &mut self,
        stop_requested: impl Fn() -> bool,
        on_ticks: impl Fn(u64),
    ) -> Result<()> {
        self.measurement.begin_round();
        if matches!(self.phase, Phase::Idle) {
            let now = self.poll()?;
            self.resume(now);
        }
        self.run(stop_requested, on_ticks)
    }

    /// Terminates every session and waits for the traders' answers.
    ///
    /// # Errors
    /// Those of the network.
    pub(super) fn finish(&mut self) -> Result<()> {
        let now = self.poll()?;
        self.exchange.terminate(now, &mut self.measurement);
        self.phase = Phase::Leaving { until: now.monotonic + TERMINATE_TIMEOUT };
        self.run(|| false, |_| ())
    }

    fn run(&mut self, stop_requested: impl Fn() -> bool, on_ticks: impl Fn(u64)) -> Result<()> {
        let mut run_loop = self.run_loop.take().unwrap_or_default();
        let outcome = run_loop.run(&mut Round { run: self, on_ticks }, stop_requested);
        self.run_loop = Some(run_loop);
        outcome.map(drop)
    }

    /// Handles what has arrived and sends what is due; a spinning exchange reads the clock once.
    fn poll(&mut self) -> Result<Now> {
        let clock = &self.measurement.clock;
        let (now, ready) = if self.reactor.kind() == Wait::Spin {
            let now = clock.now();
            (now, self.reactor.wait(now.monotonic, None)?)
        } else {
            let deadline = self.next_deadline();
            run_loop::poll(clock, &mut self.reactor, deadline, MAX_SLEEP)?
        };
        self.exchange.step(now, ready, &mut self.reactor, &mut self.measurement)?;
        while let Some(event) = self.events.next_due(now) {
            self.provoke(now, &event)?;
        }
        Ok(now)
    }

    /// Returns the time until which there is nothing to do unless something arrives. The ends of
    /// phases are not that urgent.
    fn next_deadline(&self) -> Option<Instant> {
        let tick = match &self.phase {
            Phase::Ticking(schedule) => Some(schedule.next_departure()),
            _ => None,
        };
        [tick, self.events.next_at(), self.exchange.poll_timeout()].into_iter().flatten().min()
    }

    /// Publishes an event of the script, and prints a line.
    #[cold]
    fn provoke(&mut self, now: Now, event: &TimedEvent) -> Result<()> {
        if event.begins_week() {
            self.exchange.gateway_mut().begin_week(now, &mut self.measurement);
        }
        let listener = &mut self.measurement;
        let is_published =
            self.exchange.change_market(now, listener, |market| event.apply(market, now))?;
        // A closed standard error does not stop the exchange.
        let _ = match is_published {
            true if self.events.continues(event) => Ok(()),
            true => writeln!(io::stderr(), "exchange: event: {event}"),
            false => writeln!(io::stderr(), "exchange: cannot publish event: {event}: no room"),
        };
        Ok(())
    }

    /// Does the work of the phase, and enters the next phase when this one is over.
    fn advance(&mut self, now: Now) -> Result<Activity> {
        let at = now.monotonic;
        match &mut self.phase {
            Phase::Joining { .. } if self.measurement.present() >= self.quorum => self.resume(now),
            Phase::Joining { until: Some(until) } if at > *until => {
                bail!("cannot start the round: no trader has logged on in time");
            }
            Phase::Joining { .. } | Phase::Idle | Phase::Over => {}
            Phase::Ticking(_) => return self.tick_if_due(now),
            Phase::Draining { until } => {
                let is_over = at > *until;
                self.measurement.expire(at);
                if is_over || self.measurement.is_settled() {
                    self.phase = Phase::Idle;
                }
            }
            Phase::Leaving { until } => {
                if !self.exchange.has_connections() || at > *until {
                    self.phase = Phase::Over;
                }
            }
        }
        Ok(Activity::Idle)
    }

    /// Schedules ticks again after a short delay if enough traders are logged on.
    fn resume(&mut self, now: Now) {
        if self.measurement.present() < self.quorum {
            self.exchange.set_pace(Pace::FlatOut, now);
            self.phase = Phase::Joining { until: None };
            return;
        }
        self.joined.get_or_insert(now.monotonic);
        self.exchange.set_pace(Pace::Paced, now);
        let interval = Duration::from_micros(self.load.interval_us);
        self.phase = Phase::Ticking(Schedule::new(now.monotonic + START_DELAY, interval));
    }

    fn tick_if_due(&mut self, now: Now) -> Result<Activity> {
        let at = now.monotonic;
        let Phase::Ticking(schedule) = &mut self.phase else { return Ok(Activity::Idle) };
        let ticks = if self.load.matching { self.measurement.ticks() } else { schedule.departed() };
        // With matching off there are no ticks, and the schedule counts instead.
        if ticks >= self.load.warm_up + self.load.samples {
            self.phase = Phase::Draining { until: at + answer_timeout() + CANCELED };
            return Ok(Activity::Critical);
        }
        if schedule.next_departure() > at + QUIET {
            self.idle(now);
            return Ok(Activity::Idle);
        }
        let Some(departure) = schedule.depart(at) else { return Ok(Activity::Critical) };
        for (line, outage) in [(FeedLine::A, self.load.outage_a), (FeedLine::B, self.load.outage_b)]
        {
            if let Some(LineOutage { from_tick, ticks: count }) = outage {
                self.exchange.set_muted(line, ticks >= from_tick && ticks < from_tick + count);
            }
        }
        self.exchange.tick(now, departure.intended, &mut self.measurement)?;
        Ok(Activity::Critical)
    }

    /// Uses the time until the next tick.
    fn idle(&mut self, now: Now) {
        self.measurement.expire(now.monotonic);
        if self.quorum > 0 && self.measurement.present() == 0 && self.measurement.is_settled() {
            // The schedule pauses until a trader logs on again.
            self.quorum = 1;
            self.resume(now);
        }
    }
}

/// A run inside its loop, with the receiver of its progress.
struct Round<'a, P> {
    run: &'a mut ExchangeRun,
    on_ticks: P,
}

impl<P: Fn(u64)> Task for Round<'_, P> {
    fn turn(&mut self) -> Result<Turn> {
        let Self { run, on_ticks } = self;
        let before = run.measurement.ticks();
        let now = run.poll()?;
        let activity = run.advance(now)?;
        let ticks = run.measurement.ticks();
        if ticks != before {
            on_ticks(ticks);
        }
        Ok(Turn { now: now.monotonic, activity })
    }

    /// Ends the round with the ticks that were sent.
    fn stop(&mut self, now: Instant) -> Result<()> {
        self.run.interrupted = true;
        if !self.run.load.is_measured() {
            self.run.phase = Phase::Idle;
        } else if matches!(self.run.phase, Phase::Joining { .. } | Phase::Ticking(_)) {
            self.run.phase = Phase::Draining { until: now + answer_timeout() + CANCELED };
        }
        Ok(())
    }

    fn is_finished(&self) -> bool {
        matches!(self.run.phase, Phase::Idle | Phase::Over)
    }

    fn clock(&mut self) -> Option<&mut Clock> {
        Some(&mut self.run.measurement.clock)
    }

    fn write_counters(&self, writer: &mut CounterWriter<'_>) {
        let ExchangeRun { exchange, measurement, phase, .. } = &*self.run;
        counters::write(writer, exchange, measurement, matches!(phase, Phase::Ticking(_)));
    }
}
