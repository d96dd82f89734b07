//! A session at a gateway: one order at a time, each timed over its round trip.

use std::rc::Rc;

use anyhow::{Result, bail};
use hairpin_cli_harness::child_protocol::ChildPage;
use hairpin_cli_harness::datapath::{BufferSize, OpenTransport};
use hairpin_cli_harness::secret_key::KeyArgs;
use hairpin_cli_harness::t2t_setup::Account;
use hairpin_endpoint::Transport;
use hairpin_host::Clock;
use hairpin_mapped::Journal;
use hairpin_measure::ClosedLoop;
use hairpin_order_entry::{
    Binding, CancelOrder, Delivery, Session, Settings as SessionSettings, State, TcpConnect,
    WhenFull,
};
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_time::{Duration, Instant};
use hairpin_xdp::ReceiveStamps;

use super::order_case::Subject;
use super::samples::{OrderTimes, Samples};
use super::setup::{ClientCounts, ClientOutcome, ClientSetup};
use super::stamped_stream::{StampedConnect, Stamps};
use super::timed_listener::{TimedListener, order};
use crate::trader::logon;

/// The longest sleep, so that a stop request is seen in time.
pub(super) const MAX_SLEEP: Duration = Duration::from_millis(10);
/// The time from the logon to the first order.
const START_DELAY: Duration = Duration::from_millis(20);
/// The longest wait for the logon, and for the answer to a Terminate.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The size of the journal: the records of some thousand orders. When it is full it starts again,
/// in memory that was written before.
pub(super) const JOURNAL_BYTES: usize = 16 << 20;

/// Trades at the gateway of the setup.
///
/// # Errors
/// No such wait; a rejected logon; a session that ends before all orders are answered.
pub(super) fn measure(
    setup: &ClientSetup,
    clock: &Clock,
    page: &ChildPage,
    stop_requested: &dyn Fn() -> bool,
) -> Result<ClientOutcome> {
    let wait: Wait = setup.wait.parse()?;
    let datapath = client_datapath(setup)?;
    let transport = datapath.transport().clone();
    let mut session = ClosedLoopSession::new(setup, clock, Reactor::new(wait)?, transport)?;
    session.log_on(stop_requested)?;
    session.trade(page, stop_requested)?;
    session.log_off()?;
    let counts = ClientCounts { errors: session.listener.errors, ..session.counts };
    Ok(session.samples.outcome(setup, clock, counts))
}

/// Returns the settings of a benchmark session, with a journal of both directions.
///
/// # Errors
/// An invalid key.
pub(super) fn session_settings(setup: &ClientSetup) -> Result<SessionSettings> {
    let logon = logon(Account::new(1), &KeyArgs::default())?;
    let when_full = WhenFull::Restart;
    Ok(SessionSettings { when_full, ..SessionSettings::new(setup.gateway, logon) })
}

/// Opens the transport of a client.
///
/// # Errors
/// Those of the stack.
pub(super) fn client_datapath(setup: &ClientSetup) -> Result<OpenTransport> {
    OpenTransport::open_at(
        &setup.transport.for_tcp(),
        setup.interface,
        BufferSize::Default,
        ReceiveStamps::Off,
    )
}

struct ClosedLoopSession<'a> {
    setup: &'a ClientSetup,
    clock: Clock,
    reactor: Reactor,
    session: Session<StampedConnect>,
    stamps: Rc<Stamps>,
    listener: TimedListener,
    samples: Samples,
    counts: ClientCounts,
}

/// The times of the outstanding order.
struct OutstandingOrder {
    begun: Instant,
    written: Instant,
    sent: Instant,
}

impl<'a> ClosedLoopSession<'a> {
    fn new(
        setup: &'a ClientSetup,
        clock: &Clock,
        reactor: Reactor,
        transport: Transport,
    ) -> Result<Self> {
        let stamps = Rc::new(Stamps::default());
        let dial = StampedConnect {
            connect: TcpConnect { transport, ..TcpConnect::default() },
            clock: clock.clone(),
            stamps: Rc::clone(&stamps),
        };
        let journal = Journal::anonymous(JOURNAL_BYTES)?;
        let session = Session::with_connect(session_settings(setup)?, journal, dial)?;
        Ok(Self {
            setup,
            clock: clock.clone(),
            reactor,
            session,
            stamps,
            listener: TimedListener::new(clock.clone()),
            samples: Samples::new(setup),
            counts: ClientCounts::default(),
        })
    }

    /// Runs one turn, which sleeps until `due` at most, and returns its time.
    #[inline]
    fn turn(&mut self, due: Option<Instant>) -> Result<Instant> {
        let before = self.clock.instant();
        let deadline = [self.session.next_deadline(), due, Some(before + MAX_SLEEP)];
        let ready = self.reactor.wait(before, deadline.into_iter().flatten().min())?;
        self.process(ready)
    }

    #[inline]
    fn process(&mut self, ready: Ready) -> Result<Instant> {
        let now = self.clock.now();
        self.session.process(now, ready, &mut self.reactor, &mut self.listener)?;
        Ok(now.monotonic)
    }

    fn log_on(&mut self, stop_requested: &dyn Fn() -> bool) -> Result<()> {
        let until = self.clock.instant() + TIMEOUT;
        self.session.connect(self.clock.now(), Binding::New)?;
        while self.session.state() != State::Established {
            let now = self.turn(None)?;
            self.check()?;
            if now > until || stop_requested() {
                bail!("cannot log on to the gateway");
            }
        }
        Ok(())
    }

    /// Returns the reason as an error if the session has ended.
    fn check(&self) -> Result<()> {
        if !self.listener.is_over {
            return Ok(());
        }
        let failure = || self.session.last_failure().map(ToString::to_string);
        let reason = self.listener.reason.clone().or_else(failure);
        let reason = reason.unwrap_or_else(|| "connection closed".to_owned());
        let what = if self.listener.was_established { "session ended" } else { "cannot log on" };
        bail!("{what}: {reason}")
    }

    /// Sends one order after the other until all are answered.
    fn trade(&mut self, page: &ChildPage, stop_requested: &dyn Fn() -> bool) -> Result<()> {
        let load = self.setup.load;
        let start = self.clock.instant() + START_DELAY;
        let mut pace = ClosedLoop::new(start, Duration::from_micros(load.interval_us));
        let mut outstanding: Option<OutstandingOrder> = None;
        let mut answered = 0;
        while answered < load.warm_up + load.samples && !stop_requested() {
            let now = self.turn(pace.next_departure())?;
            self.check()?;
            if let Some(departure) = pace.depart(now) {
                self.samples.departed(departure.lateness);
                outstanding = Some(self.send(departure.index)?);
            }
            let Some((called, cancel)) = self.listener.told.take() else { continue };
            let Some(OutstandingOrder { begun, written, sent }) = outstanding.take() else {
                continue;
            };
            let received = self.stamps.received();
            self.samples.arrived(&OrderTimes { begun, written, sent, received, called });
            answered += 1;
            page.set_ticks(answered);
            self.take_back(&cancel, stop_requested)?;
            pace.answered(self.clock.instant());
        }
        Ok(())
    }

    #[inline]
    fn send(&mut self, number: u64) -> Result<OutstandingOrder> {
        let order = order(number + 1);
        let now = self.clock.now();
        let begun = self.clock.instant();
        let outcome = self.session.sender(now).send(&order);
        let sent = self.clock.instant();
        self.counts.waited += u64::from(outcome?.delivery != Delivery::Written);
        Ok(OutstandingOrder { begun, written: self.stamps.written(), sent })
    }

    /// Cancels the order at the exchange, so that its books stay the same. A bare gateway has no
    /// books.
    fn take_back(&mut self, cancel: &CancelOrder, stop_requested: &dyn Fn() -> bool) -> Result<()> {
        if self.setup.subject != Subject::Gateway {
            return Ok(());
        }
        self.listener.cancelled = false;
        self.session.sender(self.clock.now()).send(cancel)?;
        while !self.listener.cancelled && !stop_requested() {
            self.turn(None)?;
            self.check()?;
        }
        Ok(())
    }

    fn log_off(&mut self) -> Result<()> {
        let until = self.clock.instant() + TIMEOUT;
        self.session.terminate(self.clock.now());
        while self.session.state() != State::Disconnected {
            if self.turn(None)? > until {
                let now = self.clock.now();
                return Ok(self.session.abandon(now, &mut self.reactor, &mut self.listener)?);
            }
        }
        Ok(())
    }
}
