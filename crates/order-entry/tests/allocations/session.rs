//! A session does not allocate after its logon: orders, reports and keep-alives.

use std::fs::File;
use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, BorrowedFd};

use crate::mock_exchange::{self, MockExchange, now};
use hairpin_endpoint::{Blocker, Meta, Receive, Received, Source, Stream, Timestamp, Transmit};
use hairpin_mapped::Journal;
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_time::Duration;

/// Returns the number of allocations of `work`.
fn allocations(work: impl FnOnce()) -> u64 {
    let before = hairpin_testbed::allocations();
    work();
    hairpin_testbed::allocations() - before
}

/// A connection whose exchange answers the logon, and each order with a copy of one report with a
/// rising sequence number. Other bytes are discarded.
struct Discard {
    descriptor: File,
    exchange: MockExchange,
    /// The bytes to receive next.
    answer: Vec<u8>,
    report: Vec<u8>,
    reports: u32,
    reporting: bool,
    bytes: u64,
}

impl Receive for Discard {
    fn receive(&mut self, _: usize, mut on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        let meta = Meta { source: SocketAddrV4::new([0; 4].into(), 0), timestamp: Timestamp::None };
        let count = usize::from(!self.answer.is_empty());
        if count > 0 {
            on(meta, &self.answer);
            self.answer.clear();
        }
        Ok(Received { count, drained: true, closed: false })
    }
}

impl Transmit for Discard {
    fn transmit(&mut self, _: usize, _: impl FnOnce(&mut [u8])) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Stream for Discard {
    fn is_connected(&self) -> bool {
        true
    }
    fn finish_connect(&mut self) -> io::Result<bool> {
        Ok(true)
    }
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len() as u64;
        match mock_exchange::template_id(bytes) {
            500 | 503 => self.answer.extend(self.exchange.answer(bytes)),
            514 if self.report.is_empty() => self.report = self.exchange.answer(bytes),
            514 if self.reporting => {
                self.reports += 1;
                self.report[12..16].copy_from_slice(&self.reports.to_le_bytes());
                self.answer.extend_from_slice(&self.report);
            }
            _ => {}
        }
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<bool> {
        Ok(true)
    }
    fn shutdown(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Discard {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Source for Discard {
    fn set_blocking(&mut self, _: Option<Duration>) -> io::Result<Option<Blocker>> {
        Ok(None)
    }
}

/// Creates the connection of this test.
struct DiscardConnector {
    reporting: bool,
}

impl Connect for DiscardConnector {
    type Stream = Discard;
    fn connect(&mut self, _: SocketAddrV4) -> io::Result<Discard> {
        Ok(Discard {
            descriptor: File::open("/dev/null")?,
            exchange: MockExchange::default(),
            answer: Vec::with_capacity(4_096),
            report: Vec::new(),
            reports: 0,
            reporting: self.reporting,
            bytes: 0,
        })
    }
}

/// Counts reports and can answer each one with an order.
#[derive(Default)]
struct Trader {
    reports: u64,
    orders_left: u64,
}

impl Listener for Trader {
    fn on_execution_report_new(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        self.reports += 1;
        if self.orders_left > 0 {
            self.orders_left -= 1;
            sender.send(&order(self.reports, report.security_id())).unwrap();
        }
    }
}

fn order(id: u64, security_id: i32) -> NewOrder {
    let price = Decimal(4_500_000_000_000 + id as i64 * 250_000_000);
    NewOrder::limit(security_id, SideReq::BUY, price, 1, ClOrdId::from(id))
}

/// The larger of the frame lengths of an order and its report.
const MESSAGE_MAX: usize = 300;

/// Returns an established session that has sent its first order.
fn established(reporting: bool, trader: &mut Trader) -> (Session<DiscardConnector>, Reactor) {
    let journal = Journal::anonymous(101_000 * Journal::room(MESSAGE_MAX)).unwrap();
    let connector = DiscardConnector { reporting };
    let mut session =
        Session::with_connect(mock_exchange::settings(1), journal, connector).unwrap();
    let mut reactor = Reactor::new(Wait::Spin).unwrap();
    session.connect(now(1), Binding::New).unwrap();
    let mut ready = Ready::EMPTY;
    while session.state() != State::Established {
        session.process(now(1), ready, &mut reactor, trader).unwrap();
        ready = reactor.wait(now(1).monotonic, None).unwrap();
    }
    session.sender(now(1)).send(&order(1, 42)).unwrap();
    (session, reactor)
}

#[test]
fn hundred_thousand_orders_allocate_nothing() {
    let (mut session, _reactor) = established(false, &mut Trader::default());
    let allocated = allocations(|| {
        for id in 2..=100_001 {
            let sent = session.sender(now(id)).send(&order(id, 42)).unwrap();
            assert_eq!((u64::from(sent.seq_num), sent.delivery), (id, Delivery::Written));
        }
    });
    assert_eq!(allocated, 0);
    assert_eq!(session.outbound_counters().business_messages, 100_001);
    let last = session.journal().records().last().unwrap().1.to_vec();
    assert_eq!(mock_exchange::seq_num(&last), 100_001);
}

#[test]
fn replacements_and_cancels_allocate_nothing() {
    let (mut session, _reactor) = established(false, &mut Trader::default());
    let allocated = allocations(|| {
        for number in (2..=30_000).step_by(3) {
            let (now, order) = (now(number), order(number, 42).good_till_date(20_800));
            session.sender(now).send(&order.with_display_quantity(1)).unwrap();
            let replace = ReplaceOrder::with_terms_of(7, &order).mitigated();
            session.sender(now).send(&replace).unwrap();
            let cancel = CancelOrder::new(7, 42, SideReq::BUY, ClOrdId::from(number));
            session.sender(now).send(&cancel).unwrap();
            let nothing = NewOrder { quantity: 0, ..order };
            assert!(session.sender(now).send(&nothing).is_err());
        }
    });
    assert_eq!(allocated, 0);
    assert_eq!(session.outbound_counters().business_messages, 30_001);
}

#[test]
fn reports_answered_by_orders_allocate_nothing() {
    let mut trader = Trader { reports: 0, orders_left: 50_000 };
    let (mut session, mut reactor) = established(true, &mut trader);
    session.sender(now(1)).send(&order(2, 42)).unwrap();
    let allocated = allocations(|| {
        let mut time = 1;
        while trader.orders_left > 0 {
            time += 1;
            let ready = reactor.wait(now(time).monotonic, session.next_deadline()).unwrap();
            session.process(now(time), ready, &mut reactor, &mut trader).unwrap();
        }
    });
    assert_eq!(allocated, 0);
    assert_eq!(trader.reports, 50_000);
    assert_eq!(session.inbound_counters().business_messages, 50_000);
}

#[test]
fn keep_alive_allocates_nothing() {
    let mut trader = Trader::default();
    let (mut session, mut reactor) = established(false, &mut trader);
    let allocated = allocations(|| {
        for time in [9, 12, 18, 21] {
            session
                .process(now(time * 1_000_000_000), Ready::EMPTY, &mut reactor, &mut trader)
                .unwrap();
        }
    });
    assert_eq!(allocated, 0);
    assert!(session.outbound_counters().sequences >= 2);
}

#[test]
fn counter_detects_an_allocation() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
}
