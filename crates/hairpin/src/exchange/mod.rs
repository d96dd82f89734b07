//! The exchange of one `t2t` row: a single spinning thread that is generator, matching engine,
//! publisher and gateway, and that measures.

mod outstanding;
mod recording;

use std::process::ExitCode;

use anyhow::{Result, bail};
use hairpin_exchange::{
    Addresses, Credentials, Exchange, ExchangeSettings, FeedSide, FloorSettings, Groups, Pace,
};
use hairpin_host::Clock;
use hairpin_measure::Schedule;
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now};

use crate::secret;
pub(crate) use crate::setup::ChildArguments as Arguments;
use crate::setup::{self, ExchangeOutcome, ExchangeSetup, Load, Mute, Page, Ready};
use crate::signals::Signals;
use recording::Recording;

/// For a trader to come in sync and log on.
const LOGON_PATIENCE: Duration = Duration::from_secs(15);
/// From the logon to the first tick: long enough for the trader to learn that it is logged on,
/// which under wait block it does only at its next wake.
const LEAD: Duration = Duration::from_millis(200);
/// For the last orders to come and be cancelled: longer than a tick waits before it is lost.
const DRAIN_PATIENCE: Duration = Duration::from_secs(3);
/// For the trader to answer the gateway's Terminate.
const GOODBYE_PATIENCE: Duration = Duration::from_secs(2);
/// One trader; a second one is let in to be told that its session is taken.
const CONNECTIONS: u32 = 2;
/// Nothing is due for at least so long: time for what is not urgent.
const QUIET: Duration = Duration::from_micros(50);

/// Runs the row that standard input describes.
///
/// # Errors
/// No free core, a busy port, a bad key, or no trader that logs on.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let (setup, page) = arguments.receive::<ExchangeSetup>()?;
    let signals = Signals::take_as_child()?;
    hairpin_host::name_thread("exchange")?;
    if let Some(core) = setup.core {
        hairpin_host::pin(core)?;
    }
    let clock = Clock::new();
    let mut reactor = Reactor::new(Wait::Spin)?;
    let mut exchange = Exchange::new(settings(&setup)?, clock.now(), &mut reactor)?;
    setup::say(&Ready { gateway: exchange.gateway_address() })?;
    let until = clock.instant() + LOGON_PATIENCE;
    let mut row = RunningRow {
        recording: Recording::new(clock, &setup.load),
        load: setup.load,
        page,
        phase: Phase::Joining { until },
        interrupted: false,
    };
    let outcome = row.run(&mut exchange, &mut reactor, &setup.wait, &signals)?;
    setup::say(&outcome)?;
    Ok(ExitCode::SUCCESS)
}

fn settings(setup: &ExchangeSetup) -> Result<ExchangeSettings> {
    let key = secret::read(setup.secret_key_file.as_deref())?;
    let account =
        Credentials::new(setup::ACCESS_KEY_ID, &key.base64url, setup::SESSION, setup::FIRM)?;
    let groups = |[a, b]: [_; 2]| Groups { a, b: Some(b) };
    Ok(ExchangeSettings {
        floor: FloorSettings { seed: setup.load.seed, ..FloorSettings::default() },
        matching: setup.load.matching,
        accounts: vec![account],
        connections: CONNECTIONS,
        addresses: Addresses {
            interface: setup.interface,
            ttl: 1,
            incremental: groups(setup.groups.incremental),
            instruments: groups(setup.groups.instrument),
            snapshots: groups(setup.groups.snapshot),
            gateway: setup.gateway,
        },
    })
}

/// Where a row stands.
#[derive(Debug, Clone)]
enum Phase {
    /// Loops flat out, until a trader is in sync and logs on.
    Joining { until: Instant },
    /// Ticks leave on schedule, whatever comes back.
    Ticking(Schedule),
    /// The last orders come and are cancelled.
    Draining { until: Instant },
    /// The gateway has said Terminate.
    Leaving { until: Instant },
}

/// A row in progress.
struct RunningRow {
    recording: Recording,
    load: Load,
    page: Page,
    phase: Phase,
    interrupted: bool,
}

impl RunningRow {
    /// Spins until the row is over.
    fn run(
        &mut self,
        exchange: &mut Exchange,
        reactor: &mut Reactor,
        wait: &str,
        signals: &Signals,
    ) -> Result<ExchangeOutcome> {
        loop {
            let now = self.recording.clock.now();
            let ready = reactor.wait(now.monotonic, None)?;
            exchange.step(now, ready, reactor, &mut self.recording)?;
            if self.advance(now, exchange)? {
                let sockets = exchange.counters();
                return Ok(self.recording.outcome(wait, &self.load, sockets, self.interrupted));
            }
            let asked = self.page.asked_to_stop() || signals.asked_to_stop();
            if asked && !self.interrupted {
                self.interrupt(now.monotonic);
            }
        }
    }

    /// Does what the phase calls for, and goes on to the next when it is over; true after the last.
    fn advance(&mut self, now: Now, exchange: &mut Exchange) -> Result<bool> {
        let at = now.monotonic;
        match &mut self.phase {
            Phase::Joining { .. } if self.recording.is_established() => {
                let interval = Duration::from_micros(self.load.interval_us);
                exchange.set_pace(Pace::Paced, now);
                self.phase = Phase::Ticking(Schedule::new(at + LEAD, interval));
            }
            Phase::Joining { until } if at > *until => {
                bail!("no trader has logged on within {LOGON_PATIENCE}");
            }
            Phase::Joining { .. } => {}
            Phase::Ticking(schedule) => {
                if schedule.departed() == self.load.warm_up + self.load.samples {
                    self.phase = Phase::Draining { until: at + DRAIN_PATIENCE };
                } else if schedule.next_departure() > at + QUIET {
                    self.recording.clock.recalibrate_if_due(at);
                    self.recording.expire(at);
                } else if let Some(departure) = schedule.depart(at) {
                    self.tick(now, departure.index, departure.intended, exchange)?;
                }
            }
            Phase::Draining { until } => {
                self.recording.expire(at);
                if self.recording.is_settled() || at > *until {
                    exchange.terminate(now, &mut self.recording);
                    self.phase = Phase::Leaving { until: at + GOODBYE_PATIENCE };
                }
            }
            Phase::Leaving { until } => return Ok(!exchange.has_connections() || at > *until),
        }
        Ok(false)
    }

    fn tick(
        &mut self,
        now: Now,
        index: u64,
        intended: Instant,
        exchange: &mut Exchange,
    ) -> Result<()> {
        if let Some(Mute { from_tick, ticks }) = self.load.mute_b {
            exchange.set_muted(FeedSide::B, index >= from_tick && index < from_tick + ticks);
        }
        exchange.tick(now, intended, &mut self.recording)?;
        self.page.tell_ticks(self.recording.ticks());
        Ok(())
    }

    /// Ends the row with the ticks that have left.
    fn interrupt(&mut self, at: Instant) {
        self.interrupted = true;
        if matches!(self.phase, Phase::Joining { .. } | Phase::Ticking(_)) {
            self.phase = Phase::Draining { until: at + DRAIN_PATIENCE };
        }
    }
}
