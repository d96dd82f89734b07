//! A session at a gateway: one order after the other, each timed on its way there and back.

use std::rc::Rc;

use anyhow::{Result, bail};
use hairpin_host::Clock;
use hairpin_mapped::Journal;
use hairpin_measure::ClosedLoop;
use hairpin_order_entry::{
    Binding, CancelOrder, Delivery, Session, Settings as SessionSettings, State, WhenFull,
};
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_time::{Duration, Instant};

use super::plan::Subject;
use super::samples::{Passage, Samples};
use super::setup::{ClientOutcome, ClientSetup, Counts};
use super::stamped::{StampedDial, Stamps};
use super::trader::{Trader, order};
use crate::setup::{Account, Page};
use crate::trader_process::logon;

/// The longest sleep: so soon the end is heard.
pub(super) const SLEEP: Duration = Duration::from_millis(10);
/// From the logon to the first order.
const LEAD: Duration = Duration::from_millis(20);
/// For the gateway to let the session in, and to answer its Terminate.
const PATIENCE: Duration = Duration::from_secs(5);
/// Room for records: of some thousand orders. Then the journal begins again, in memory that has
/// been written before.
pub(super) const JOURNAL_BYTES: usize = 16 << 20;

/// Trades at the gateway of the set-up.
///
/// # Errors
/// No such wait; a logon that is refused; a session that ends before all orders are answered.
pub(super) fn measure(
    setup: &ClientSetup,
    clock: &Clock,
    page: &Page,
    asked_to_stop: &dyn Fn() -> bool,
) -> Result<ClientOutcome> {
    let wait: Wait = setup.wait.parse()?;
    let mut trading = Trading::new(setup, clock, Reactor::new(wait)?)?;
    trading.log_on(asked_to_stop)?;
    trading.trade(page, asked_to_stop)?;
    trading.log_off()?;
    let counts = Counts { errors: trading.trader.errors, ..trading.counts };
    Ok(trading.samples.outcome(setup, clock, counts))
}

/// What a session of the benchmark is told: the journal is on, of both ways.
///
/// # Errors
/// A key that is none.
pub(super) fn session_settings(setup: &ClientSetup) -> Result<SessionSettings> {
    let logon = logon(Account::of(1), None)?;
    let when_full = WhenFull::Restart;
    Ok(SessionSettings { when_full, ..SessionSettings::new(setup.gateway, logon) })
}

struct Trading<'a> {
    setup: &'a ClientSetup,
    clock: Clock,
    reactor: Reactor,
    session: Session<StampedDial>,
    stamps: Rc<Stamps>,
    trader: Trader,
    samples: Samples,
    counts: Counts,
}

/// When the order that is under way was sent.
struct UnderWay {
    begun: Instant,
    written: Instant,
    sent: Instant,
}

impl<'a> Trading<'a> {
    fn new(setup: &'a ClientSetup, clock: &Clock, reactor: Reactor) -> Result<Self> {
        let stamps = Rc::new(Stamps::default());
        let dial = StampedDial { clock: clock.clone(), stamps: Rc::clone(&stamps) };
        let journal = Journal::anonymous(JOURNAL_BYTES)?;
        let session = Session::with_connect(session_settings(setup)?, journal, dial)?;
        Ok(Self {
            setup,
            clock: clock.clone(),
            reactor,
            session,
            stamps,
            trader: Trader::new(clock.clone()),
            samples: Samples::new(setup),
            counts: Counts::default(),
        })
    }

    /// One turn of the loop, which sleeps until `due` at most; when it was.
    #[inline]
    fn turn(&mut self, due: Option<Instant>) -> Result<Instant> {
        let before = self.clock.instant();
        let deadline = [self.session.next_deadline(), due, Some(before + SLEEP)];
        let ready = self.reactor.wait(before, deadline.into_iter().flatten().min())?;
        self.process(ready)
    }

    #[inline]
    fn process(&mut self, ready: Ready) -> Result<Instant> {
        let now = self.clock.now();
        self.session.process(now, ready, &mut self.reactor, &mut self.trader)?;
        Ok(now.monotonic)
    }

    fn log_on(&mut self, asked_to_stop: &dyn Fn() -> bool) -> Result<()> {
        let until = self.clock.instant() + PATIENCE;
        self.session.connect(self.clock.now(), Binding::New)?;
        while self.session.state() != State::Established {
            let now = self.turn(None)?;
            self.check()?;
            if now > until || asked_to_stop() {
                bail!("the gateway does not let us in");
            }
        }
        Ok(())
    }

    /// A session that has ended is no result but a reason.
    fn check(&self) -> Result<()> {
        if !self.trader.is_over {
            return Ok(());
        }
        let failure = || self.session.last_failure().map(ToString::to_string);
        let reason = self.trader.reason.clone().or_else(failure);
        let reason = reason.unwrap_or_else(|| "the connection closed".to_owned());
        let what = if self.trader.was_established { "session ended" } else { "logon failed" };
        bail!("the {what}: {reason}")
    }

    /// Orders, one after the other, until all are answered.
    fn trade(&mut self, page: &Page, asked_to_stop: &dyn Fn() -> bool) -> Result<()> {
        let load = self.setup.load;
        let start = self.clock.instant() + LEAD;
        let mut pace = ClosedLoop::new(start, Duration::from_micros(load.interval_us));
        let mut under_way: Option<UnderWay> = None;
        let mut answered = 0;
        while answered < load.warm_up + load.samples && !asked_to_stop() {
            let now = self.turn(pace.next_departure())?;
            self.check()?;
            if let Some(departure) = pace.depart(now) {
                self.samples.departed(departure.lateness);
                under_way = Some(self.send(departure.index)?);
            }
            let Some((called, cancel)) = self.trader.told.take() else { continue };
            let Some(UnderWay { begun, written, sent }) = under_way.take() else { continue };
            let received = self.stamps.received();
            self.samples.arrived(&Passage { begun, written, sent, received, called });
            answered += 1;
            page.tell_ticks(answered);
            self.take_back(&cancel, asked_to_stop)?;
            pace.answered(self.clock.instant());
        }
        Ok(())
    }

    #[inline]
    fn send(&mut self, number: u64) -> Result<UnderWay> {
        let order = order(number + 1);
        let now = self.clock.now();
        let begun = self.clock.instant();
        let outcome = self.session.sender(now).send(&order);
        let sent = self.clock.instant();
        self.counts.waited += u64::from(outcome?.delivery != Delivery::Written);
        Ok(UnderWay { begun, written: self.stamps.written(), sent })
    }

    /// Cancels the order at the exchange, so that its books stay as they are; a bare gateway has
    /// none.
    fn take_back(&mut self, cancel: &CancelOrder, asked_to_stop: &dyn Fn() -> bool) -> Result<()> {
        if self.setup.subject != Subject::Gateway {
            return Ok(());
        }
        self.trader.cancelled = false;
        self.session.sender(self.clock.now()).send(cancel)?;
        while !self.trader.cancelled && !asked_to_stop() {
            self.turn(None)?;
            self.check()?;
        }
        Ok(())
    }

    fn log_off(&mut self) -> Result<()> {
        let until = self.clock.instant() + PATIENCE;
        self.session.terminate(self.clock.now());
        while self.session.state() != State::Disconnected {
            if self.turn(None)? > until {
                let now = self.clock.now();
                return Ok(self.session.abandon(now, &mut self.reactor, &mut self.trader)?);
            }
        }
        Ok(())
    }
}
