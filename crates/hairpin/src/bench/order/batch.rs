//! The session alone, with reports in memory: for what is too short to be timed one by one.

use std::hint::black_box;
use std::rc::Rc;

use anyhow::{Result, bail};
use hairpin_host::Clock;
use hairpin_mapped::Journal;
use hairpin_measure::{BatchRecorder, Recorder};
use hairpin_order_entry::{Binding, Session, State};
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_time::{Duration, Now};

use super::answers::REPORT_BYTES;
use super::memory::{MemoryDial, Wire};
use super::samples::rows;
use super::setup::{ClientOutcome, ClientSetup, Counts, ORDER_BYTES};
use super::trader::{Trader, order};
use super::trading::{JOURNAL_BYTES, session_settings};
use crate::setup::Page;

/// Operations of one batch.
const BATCH: u64 = BatchRecorder::OPERATIONS_MIN;
/// From one operation to the next.
const STEP: Duration = Duration::from_nanos(100);
/// Turns within which a session in memory is established.
const TURNS: u32 = 1_000;
/// Where SeqNum stands in a report's frame: behind the framing header and the message header.
const SEQ_NUM: usize = 4 + 8;

/// Times batches until there are as many as were asked for: reports, orders, and both of them in
/// turn.
///
/// # Errors
/// A session that is not established, or does less than is timed: a broken invariant.
pub(super) fn measure(
    setup: &ClientSetup,
    clock: &Clock,
    page: &Page,
    asked_to_stop: &dyn Fn() -> bool,
) -> Result<ClientOutcome> {
    let samples = usize::try_from(setup.load.samples).unwrap_or(usize::MAX);
    let recorder = || BatchRecorder::with_capacity(samples, BATCH);
    let (mut receive, mut send, mut both) = (recorder(), recorder(), recorder());
    let mut bench = Bench::new(setup, clock)?;
    for batch in 0..setup.load.warm_up + setup.load.samples {
        if asked_to_stop() {
            break;
        }
        let spans = [bench.receive()?, bench.send()?, bench.both()?];
        if batch >= setup.load.warm_up {
            for (recorder, span) in [&mut receive, &mut send, &mut both].into_iter().zip(spans) {
                recorder.record(span);
            }
            page.tell_ticks(batch);
        }
    }
    let recorders = [receive.means(), send.means(), both.means()];
    let rows = rows(setup, clock, &recorders, &Recorder::with_capacity(0));
    Ok(ClientOutcome { rows, counts: Counts::default(), interrupted: false })
}

/// An established session, on a clock of its own.
struct Bench {
    session: Session<MemoryDial>,
    wire: Rc<Wire>,
    reactor: Reactor,
    ready: Ready,
    trader: Trader,
    /// Of `now` only the difference to the last counts.
    now: Now,
    clock: Clock,
    report: Vec<u8>,
    orders: u64,
}

impl Bench {
    fn new(setup: &ClientSetup, clock: &Clock) -> Result<Self> {
        let wire = Rc::new(Wire::new());
        let journal = Journal::anonymous(JOURNAL_BYTES)?;
        let dial = MemoryDial(Rc::clone(&wire));
        let session = Session::with_connect(session_settings(setup)?, journal, dial)?;
        let mut bench = Self {
            session,
            wire,
            reactor: Reactor::new(Wait::Spin)?,
            ready: Ready::EMPTY,
            trader: Trader::new(clock.clone()),
            now: clock.now(),
            clock: clock.clone(),
            report: Vec::new(),
            orders: 0,
        };
        bench.session.connect(bench.now, Binding::New)?;
        for _ in 0..TURNS {
            bench.process()?;
            if bench.session.state() == State::Established {
                bench.take_report()?;
                return Ok(bench);
            }
            bench.ready = bench.reactor.wait(bench.now.monotonic, None)?;
        }
        bail!("the session is not established")
    }

    /// The answer to the first order is what all other reports are copies of.
    fn take_report(&mut self) -> Result<()> {
        self.submit()?;
        self.report = self.wire.take_incoming();
        self.wire.set_answered(false);
        if self.report.len() != REPORT_BYTES {
            bail!("the first order has no report");
        }
        Ok(())
    }

    #[inline]
    fn process(&mut self) -> Result<()> {
        let Self { session, reactor, ready, trader, now, .. } = self;
        Ok(session.process(*now, *ready, reactor, trader)?)
    }

    #[inline]
    fn submit(&mut self) -> Result<()> {
        self.orders += 1;
        let sent = self.session.sender(self.now).send(&order(black_box(self.orders)))?;
        black_box(sent);
        Ok(())
    }

    /// One turn of the session, which finds one report.
    #[inline]
    fn hear(&mut self) -> Result<()> {
        self.process()?;
        black_box(&self.trader.told);
        Ok(())
    }

    fn receive(&mut self) -> Result<Duration> {
        self.offer();
        self.timed(Self::hear, 0, 1)
    }

    fn send(&mut self) -> Result<Duration> {
        self.timed(Self::submit, 1, 0)
    }

    fn both(&mut self) -> Result<Duration> {
        let both = |bench: &mut Self| {
            bench.submit()?;
            bench.hear()
        };
        self.offer();
        self.timed(both, 1, 1)
    }

    /// Times a batch of an operation that sends and hears so many messages.
    fn timed(
        &mut self,
        mut operation: impl FnMut(&mut Self) -> Result<()>,
        orders: u64,
        reports: u64,
    ) -> Result<Duration> {
        let before = (self.wire.written(), self.session.progress().next_incoming);
        let begun = self.clock.instant();
        for _ in 0..BATCH {
            self.now.monotonic += STEP;
            self.now.utc = self.now.utc + STEP;
            operation(self)?;
        }
        let span = self.clock.instant() - begun;
        let written = self.wire.written() - before.0;
        let heard = u64::from(self.session.progress().next_incoming - before.1);
        if (written, heard) != (orders * BATCH * ORDER_BYTES as u64, reports * BATCH) {
            bail!("of a batch {written} bytes left and {heard} reports came");
        }
        Ok(span)
    }

    /// Puts the reports of a batch where the session finds one a turn.
    fn offer(&mut self) {
        let Self { wire, report, session, .. } = self;
        let next = session.progress().next_incoming;
        wire.offer(REPORT_BYTES, |incoming| {
            for number in next..next + BATCH as u32 {
                let begin = incoming.len();
                incoming.extend_from_slice(report);
                incoming[begin + SEQ_NUM..][..4].copy_from_slice(&number.to_le_bytes());
            }
        });
    }
}
