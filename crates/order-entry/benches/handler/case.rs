//! The benchmark cases, with checks that the work was done.

use std::hint::black_box;
use std::ops::Range;
use std::rc::Rc;
use std::time::{Duration, Instant};

use hairpin_mapped::{Direction, Journal};
use hairpin_order_entry::{
    Binding, ClOrdId, Decimal, ExecutionReportNew522, Listener, Message, NewOrder, Sender, Session,
    SideReq, State,
};
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_testbed::allocations;

use crate::endpoint::{MemoryConnector, Wire};
use crate::mock_exchange::{self, now};

/// The number of operations per batch.
pub(crate) const BATCH: u64 = 64;
/// The number of reports per read in the burst case.
const BURST: u64 = 8;
/// The length of an order: NewOrderSingle514 with its framing header.
const ORDER: u64 = 144;
const SECURITY: i32 = 42;

/// A benchmark case. Results are per operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    /// Send: encode a NewOrderSingle in the journal, assign its number and time, commit it, and
    /// write it to a connection that discards it.
    Send,
    /// Process one ExecutionReportNew: framing, checks, decoding, journal, callback.
    Receive,
    /// Process eight reports in one chunk: the cost of one of eight.
    Burst,
    /// Process one report, and send an order from the callback.
    Both,
}

impl Case {
    pub(crate) const ALL: [Self; 4] = [Self::Send, Self::Receive, Self::Burst, Self::Both];

    /// Returns the number of reports per call.
    const fn reports(self) -> u64 {
        if matches!(self, Self::Burst) { BURST } else { 1 }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Send => "order-send",
            Self::Receive => "order-receive",
            Self::Burst => "order-burst",
            Self::Both => "order-both",
        }
    }
}

/// Counts reports, and may answer each one with an order.
#[derive(Default)]
struct Trader {
    answers: bool,
    reports: u64,
    orders: u64,
    price: i64,
}

impl Listener for Trader {
    #[inline]
    fn on_execution_report_new(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        self.reports += 1;
        self.price = report.price().0;
        if self.answers {
            self.orders += 1;
            sender.send(&order(self.orders)).expect("room for an order");
        }
    }
}

#[inline]
fn order(id: u64) -> NewOrder {
    let price = Decimal(4_500_000_000_000 + (id % 1_024) as i64 * 250_000_000);
    NewOrder::limit(SECURITY, SideReq::BUY, price, 1 + id as u32 % 16, ClOrdId::from(id))
}

/// An established session with its measurement state.
pub(crate) struct Harness {
    case: Case,
    session: Session<MemoryConnector>,
    wire: Rc<Wire>,
    reactor: Reactor,
    ready: Ready,
    trader: Trader,
    /// A report as the exchange sends it.
    report: Vec<u8>,
    time: u64,
    batches: u64,
}

impl Harness {
    pub(crate) fn new(case: Case, journal: Journal) -> Self {
        let wire = Rc::new(Wire::default());
        let connector = MemoryConnector(Rc::clone(&wire));
        let session = Session::with_connect(mock_exchange::settings(1), journal, connector);
        let mut session = session.expect("valid settings");
        let mut reactor = Reactor::new(Wait::Spin).expect("a reactor");
        session.connect(now(1), Binding::New).expect("no connection yet");
        let (mut ready, mut trader) = (Ready::EMPTY, Trader::default());
        while session.state() != State::Established {
            session.process(now(1), ready, &mut reactor, &mut trader).expect("no reactor error");
            ready = reactor.wait(now(1).monotonic, None).expect("a wait");
        }
        // The report on the first order is the template of all others.
        session.sender(now(1)).send(&order(1)).expect("an order");
        let report = wire.incoming.take();
        wire.offer(0, |_| {});
        wire.counts.set(true);
        trader.answers = case == Case::Both;
        Self { case, session, wire, reactor, ready, trader, report, time: 1, batches: 0 }
    }

    /// Measures a batch. Its input is prepared before the clock starts.
    pub(crate) fn batch(&mut self) -> Duration {
        self.prepare();
        let allocated = allocations();
        let started = Instant::now();
        match self.case {
            Case::Send => measured_sends(&mut self.session, self.time),
            Case::Receive | Case::Burst | Case::Both => self.receive(),
        }
        let took = started.elapsed();
        assert_eq!(allocations(), allocated, "unexpected allocation");
        self.time += BATCH;
        self.batches += 1;
        took
    }

    fn receive(&mut self) {
        let Self { case, session, reactor, ready, trader, time, .. } = self;
        measured_turns(session, reactor, *ready, trader, *time..*time + BATCH / case.reports());
    }

    /// Makes room in the journal, and queues the exchange's reports.
    fn prepare(&mut self) {
        let Self { session, wire, report, .. } = self;
        let next = session.progress();
        session.needed_from(next.next_outgoing);
        session.journal().wait_ready();
        if self.case == Case::Send {
            return;
        }
        wire.offer(report.len() * self.case.reports() as usize, |incoming| {
            for number in next.next_incoming..next.next_incoming + BATCH as u32 {
                let at = incoming.len();
                incoming.extend_from_slice(report);
                incoming[at + 12..at + 16].copy_from_slice(&number.to_le_bytes());
                let price = 4_500_000_000_000 + i64::from(number % 1_024) * 250_000_000;
                incoming[at + 120..at + 128].copy_from_slice(&price.to_le_bytes());
            }
        });
    }

    /// Checks that exactly the measured operations took place.
    pub(crate) fn check(&self) {
        let operations = self.batches * BATCH;
        let (orders, reports) = match self.case {
            Case::Send => (operations, 0),
            Case::Receive | Case::Burst => (0, operations),
            Case::Both => (operations, operations),
        };
        assert_eq!((self.trader.reports, self.wire.bytes.get()), (reports, orders * ORDER));
        assert_eq!(self.wire.writes.get(), orders);
        assert!(reports == 0 || black_box(self.trader.price) >= 4_500_000_000_000);
        let journal = self.session.journal();
        let last = |direction| journal.last(direction).map_or(0, |it| journal.tag(it).seq_num);
        let numbers = (last(Direction::Outbound), last(Direction::Inbound));
        assert_eq!(numbers, (1 + orders as u32, reports as u32), "in the journal");
        assert_eq!(journal.unmarked().count(), 0);
    }
}

/// Sends one batch. Callgrind counts functions whose names begin like this one's, so this function
/// needs a name and is never inlined.
#[inline(never)]
fn measured_sends(session: &mut Session<MemoryConnector>, time: u64) {
    for time in time..time + BATCH {
        let sent = session.sender(now(time)).send(&order(black_box(time)));
        black_box(sent.expect("room for an order"));
    }
}

#[inline(never)]
fn measured_turns(
    session: &mut Session<MemoryConnector>,
    reactor: &mut Reactor,
    ready: Ready,
    trader: &mut Trader,
    times: Range<u64>,
) {
    for time in times {
        session.process(black_box(now(time)), ready, reactor, trader).expect("no reactor error");
    }
}
