//! The session alone with reports in memory, in batches, for times too short to measure singly.

use std::hint::black_box;
use std::rc::Rc;

use anyhow::{Result, bail};
use hairpin_cli_harness::child_protocol::ChildPage;
use hairpin_host::Clock;
use hairpin_mapped::Journal;
use hairpin_measure::{BatchRecorder, Recorder};
use hairpin_order_entry::{Binding, Session, State};
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_time::{Duration, Now};

use super::bare_gateway::REPORT_BYTES;
use super::closed_loop_session::{JOURNAL_BYTES, session_settings};
use super::memory_connection::{MemoryConnect, Wire};
use super::samples::rows;
use super::setup::{ClientCounts, ClientOutcome, ClientSetup, ORDER_BYTES};
use super::timed_listener::{TimedListener, order};

/// The operations of one batch.
const BATCH: u64 = BatchRecorder::OPERATIONS_MIN;
/// The interval between operations.
const STEP: Duration = Duration::from_nanos(100);
/// The turns within which a session in memory is established.
const TURNS: u32 = 1_000;
/// The offset of SeqNum in a report's frame, after the framing header and the message header.
const SEQ_NUM: usize = 4 + 8;

/// Times batches of reports, orders, and both in turn, until there are enough samples.
///
/// # Errors
/// A session that is not established or does less than was timed: a broken invariant.
pub(super) fn measure(
    setup: &ClientSetup,
    clock: &Clock,
    page: &ChildPage,
    stop_requested: &dyn Fn() -> bool,
) -> Result<ClientOutcome> {
    let samples = usize::try_from(setup.load.samples).unwrap_or(usize::MAX);
    let recorder = || BatchRecorder::with_capacity(samples, BATCH);
    let (mut receive, mut send, mut both) = (recorder(), recorder(), recorder());
    let mut bench = Bench::new(setup, clock)?;
    for batch in 0..setup.load.warm_up + setup.load.samples {
        if stop_requested() {
            break;
        }
        let spans = [bench.receive()?, bench.send()?, bench.both()?];
        if batch >= setup.load.warm_up {
            for (recorder, span) in [&mut receive, &mut send, &mut both].into_iter().zip(spans) {
                recorder.record(span);
            }
            page.set_ticks(batch);
        }
    }
    let recorders = [receive.means(), send.means(), both.means()];
    let rows = rows(setup, clock, &recorders, &Recorder::with_capacity(0));
    Ok(ClientOutcome { rows, counts: ClientCounts::default(), interrupted: false })
}

/// An established session on a virtual clock.
struct Bench {
    session: Session<MemoryConnect>,
    wire: Rc<Wire>,
    reactor: Reactor,
    ready: Ready,
    listener: TimedListener,
    /// The virtual time; only its increments matter.
    now: Now,
    clock: Clock,
    report: Vec<u8>,
    orders: u64,
}

impl Bench {
    fn new(setup: &ClientSetup, clock: &Clock) -> Result<Self> {
        let wire = Rc::new(Wire::new());
        let journal = Journal::anonymous(JOURNAL_BYTES)?;
        let dial = MemoryConnect(Rc::clone(&wire));
        let session = Session::with_connect(session_settings(setup)?, journal, dial)?;
        let mut bench = Self {
            session,
            wire,
            reactor: Reactor::new(Wait::Spin)?,
            ready: Ready::EMPTY,
            listener: TimedListener::new(clock.clone()),
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

    /// Stores the report of the first order, of which all other reports are copies.
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
        let Self { session, reactor, ready, listener, now, .. } = self;
        Ok(session.process(*now, *ready, reactor, listener)?)
    }

    #[inline]
    fn submit(&mut self) -> Result<()> {
        self.orders += 1;
        let sent = self.session.sender(self.now).send(&order(black_box(self.orders)))?;
        black_box(sent);
        Ok(())
    }

    /// Runs one turn of the session, which reads one report.
    #[inline]
    fn read_reports(&mut self) -> Result<()> {
        self.process()?;
        black_box(&self.listener.told);
        Ok(())
    }

    fn receive(&mut self) -> Result<Duration> {
        self.offer();
        self.timed(Self::read_reports, 0, 1)
    }

    fn send(&mut self) -> Result<Duration> {
        self.timed(Self::submit, 1, 0)
    }

    fn both(&mut self) -> Result<Duration> {
        let both = |bench: &mut Self| {
            bench.submit()?;
            bench.read_reports()
        };
        self.offer();
        self.timed(both, 1, 1)
    }

    /// Times a batch of an operation that sends `orders` and reads `reports` messages.
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
            bail!("batch incomplete: {written} bytes sent, {heard} reports received");
        }
        Ok(span)
    }

    /// Provides the reports of a batch, one for each turn of the session.
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
