//! What is measured, and the proof that it took place.

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

use crate::endpoint::{MemoryDial, Wire};
use crate::exchange::{self, now};

/// Operations of a batch.
pub(crate) const BATCH: u64 = 64;
/// Reports that one read brings, where they come together.
const BURST: u64 = 8;
/// Bytes of an order: NewOrderSingle514 with its framing header.
const ORDER: u64 = 144;
const SECURITY: i32 = 42;

/// A benchmark. Each figure is for one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    /// Send: encode a NewOrderSingle in the journal, number, stamp and commit it, and write it to a
    /// connection that does nothing with it.
    Send,
    /// A turn of the session that finds one ExecutionReportNew: frame, checks, decoding, the
    /// journal, the callback.
    Receive,
    /// Of a turn that finds eight of them in one chunk, an eighth: what each costs of them that
    /// come behind another.
    Burst,
    /// A turn that finds one, and the callback sends.
    Both,
}

impl Case {
    pub(crate) const ALL: [Self; 4] = [Self::Send, Self::Receive, Self::Burst, Self::Both];

    /// Reports that a turn finds.
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

/// Counts reports, and may answer each with an order.
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

/// An established session and what it is measured with.
pub(crate) struct Desk {
    case: Case,
    session: Session<MemoryDial>,
    wire: Rc<Wire>,
    reactor: Reactor,
    ready: Ready,
    trader: Trader,
    /// A report as the exchange sends it.
    report: Vec<u8>,
    time: u64,
    batches: u64,
}

impl Desk {
    pub(crate) fn new(case: Case, journal: Journal) -> Self {
        let wire = Rc::new(Wire::default());
        let dial = MemoryDial(Rc::clone(&wire));
        let session = Session::with_connect(exchange::settings(1), journal, dial);
        let mut session = session.expect("sound settings");
        let mut reactor = Reactor::new(Wait::Spin).expect("a reactor");
        session.connect(now(1), Binding::New).expect("no connection yet");
        let (mut ready, mut trader) = (Ready::NOTHING, Trader::default());
        while session.state() != State::Established {
            session.process(now(1), ready, &mut reactor, &mut trader).expect("a turn");
            ready = reactor.wait(now(1).monotonic, None).expect("a wait");
        }
        // The answer to an order is the report that all others are copies of.
        session.sender(now(1)).send(&order(1)).expect("an order");
        let report = wire.incoming.take();
        wire.offer(0, |_| {});
        wire.counts.set(true);
        trader.answers = case == Case::Both;
        Self { case, session, wire, reactor, ready, trader, report, time: 1, batches: 0 }
    }

    /// Measures a batch; what it needs is prepared before.
    pub(crate) fn batch(&mut self) -> Duration {
        self.prepare();
        let allocated = allocations();
        let begun = Instant::now();
        match self.case {
            Case::Send => measured_sends(&mut self.session, self.time),
            Case::Receive | Case::Burst | Case::Both => self.receive(),
        }
        let took = begun.elapsed();
        assert_eq!(allocations(), allocated, "something has allocated");
        self.time += BATCH;
        self.batches += 1;
        took
    }

    fn receive(&mut self) {
        let Self { case, session, reactor, ready, trader, time, .. } = self;
        measured_turns(session, reactor, *ready, trader, *time..*time + BATCH / case.reports());
    }

    /// Makes room in the journal, and lets the exchange report what is to be received.
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

    /// A benchmark that measures less than it says is worse than none.
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

/// Callgrind counts while a function whose name begins like this one's is running. Never inlined:
/// it has to have a name.
#[inline(never)]
fn measured_sends(session: &mut Session<MemoryDial>, time: u64) {
    for time in time..time + BATCH {
        let sent = session.sender(now(time)).send(&order(black_box(time)));
        black_box(sent.expect("room for an order"));
    }
}

#[inline(never)]
fn measured_turns(
    session: &mut Session<MemoryDial>,
    reactor: &mut Reactor,
    ready: Ready,
    trader: &mut Trader,
    times: Range<u64>,
) {
    for time in times {
        session.process(black_box(now(time)), ready, reactor, trader).expect("a turn");
    }
}
