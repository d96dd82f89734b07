//! A tracker built from a journal equals the tracker that recorded the requests.

use crate::mock_exchange::{self, now};
use crate::session_harness::SessionHarness;
use hairpin_mapped::{Direction, MemoryStorage, Tag};
use hairpin_order_entry::messages::{Establish503, RetransmitRequest508};
use hairpin_order_entry::*;

const UUID: u64 = 70;

fn buy(id: u64) -> NewOrder {
    NewOrder::limit(42, SideReq::BUY, Decimal(5), 10, id.into())
}

/// Returns a frame with a message that `write` encodes.
fn frame(length: usize, write: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut frame = vec![0; 4 + length];
    write(&mut frame[4..]);
    frame
}

/// Returns the exchange's acceptance of an order.
fn accepted(order_id: u64, id: u64, request_id: u64) -> Vec<u8> {
    frame(ExecutionReportNew522::ENCODED_LENGTH, |buffer| {
        ExecutionReportNew522::encode(buffer)
            .unwrap()
            .set_order_id(order_id)
            .set_cl_ord_id(ClOrdId::from(id).0)
            .set_order_request_id(request_id)
            .set_order_qty(10);
    })
}

/// A tracker that reads records one by one.
struct Reader(Orders);

impl Reader {
    /// Creates a tracker with two orders of this session in flight.
    fn new() -> Self {
        let mut orders = Orders::new(8);
        (1..3).for_each(|number| orders.handle_sent(UUID, number, &buy(number.into())));
        Self(orders)
    }

    fn read(&mut self, direction: Direction, kind: u16, (uuid, seq_num): (u64, u32), frame: &[u8]) {
        self.0.handle_record(&Tag { direction, kind, uuid, seq_num, ..Tag::default() }, frame);
    }

    fn control(&mut self, uuid: u64, frame: &[u8]) {
        self.read(Direction::Control, CONTROL_RECORD, (uuid, 0), frame);
    }

    fn theirs(&mut self, uuid: u64, seq_num: u32, frame: &[u8]) {
        self.read(Direction::Inbound, MESSAGE_RECORD, (uuid, seq_num), frame);
    }

    fn in_flight(&self) -> Vec<u32> {
        self.0.in_flight().map(|it| it.seq_num).collect()
    }
}

fn logon() -> Vec<u8> {
    frame(Establish503::ENCODED_LENGTH, |buffer| {
        Establish503::encode(buffer).unwrap();
    })
}

#[test]
fn requests_of_every_kind_are_rebuilt() {
    let harness =
        SessionHarness::with_storage(mock_exchange::settings(1), MemoryStorage::new(false));
    let mut harness = harness.establish();
    harness.connector.connection().room = usize::MAX;
    let mut sender = harness.session.sender(now(harness.time));
    let (mut orders, price) = (Orders::new(16), Decimal(7_000_000_000));
    orders.send(&mut sender, &buy(1)).unwrap();
    let stop = NewOrder::stop_limit(43, SideReq::SELL, price, Decimal(6), 3, 2.into());
    orders.send(&mut sender, &stop.good_till_cancel()).unwrap();
    orders.send(&mut sender, &NewOrder { order_request_id: Some(99), ..buy(3) }).unwrap();
    orders.send(&mut sender, &NewOrder::market(42, SideReq::SELL, 1, 4.into())).unwrap();
    sender.send(&MassStatus::market_segment(64)).unwrap();
    orders.send(&mut sender, &ReplaceOrder::from_order(501, &buy(5))).unwrap();
    orders.send(&mut sender, &CancelOrder::new(502, 42, SideReq::BUY, 6.into())).unwrap();
    orders.send(&mut sender, &MassCancel::all()).unwrap();
    let read = Orders::from_journal(harness.session.journal(), 16);
    assert_eq!(orders.iter().count(), 4);
    assert!(read.iter().eq(orders.iter()), "{read:#?} {orders:#?}");
    assert_eq!(orders.in_flight().count(), 7);
    assert!(read.in_flight().eq(orders.in_flight()), "{read:#?} {orders:#?}");
    assert_eq!(read.counters().undecodable, 0);
}

#[test]
fn reused_number_of_another_request_drops_the_first() {
    let mut reader = Reader::new();
    let harness =
        SessionHarness::with_storage(mock_exchange::settings(1), MemoryStorage::new(false));
    let mut harness = harness.establish();
    harness.connector.connection().room = usize::MAX;
    harness.session.sender(now(harness.time)).send(&MassStatus::market_segment(64)).unwrap();
    let other = harness.connector.connection().written.clone();
    reader.read(Direction::Outbound, MESSAGE_RECORD, (UUID, 2), &other);
    assert_eq!((reader.in_flight(), reader.0.counters().undecodable), (vec![1], 0));
}

#[test]
fn logon_makes_requests_of_its_session_uncertain() {
    let second = accepted(502, 2, 2);
    let mut reader = Reader::new();
    reader.control(UUID, &logon());
    reader.theirs(UUID, 1, &second);
    assert_eq!(reader.in_flight(), Vec::<u32>::new(), "the first was skipped");
    // Other requests, and logons under another UUID, have no effect.
    let request = frame(RetransmitRequest508::ENCODED_LENGTH, |buffer| {
        RetransmitRequest508::encode(buffer).unwrap();
    });
    for (uuid, request) in [(UUID, request), (UUID + 1, logon())] {
        let mut reader = Reader::new();
        reader.control(uuid, &request);
        reader.theirs(UUID, 1, &second);
        assert_eq!(reader.in_flight(), [1], "{uuid}");
    }
}

#[test]
fn report_is_applied_after_numbers_restart() {
    let mut reader = Reader::new();
    reader.theirs(0, 9, &accepted(501, 1, 1));
    reader.theirs(0, 1, &accepted(502, 2, 2));
    assert_eq!((reader.0.working().count(), reader.0.counters().repeated), (2, 0));
}

#[test]
fn undecodable_records_are_counted() {
    let mut reader = Reader::new();
    let mut order = frame(300, |buffer| {
        messages::NewOrderSingle514::encode(buffer).unwrap();
    });
    order.truncate(50);
    for (count, cut) in [&b""[..], b"abc", &order].into_iter().enumerate() {
        reader.read(Direction::Outbound, MESSAGE_RECORD, (UUID, 3 + count as u32), cut);
        assert_eq!(reader.0.counters().undecodable, 1 + count as u64);
    }
    for (count, cut) in [&b""[..], b"abc", &accepted(1, 1, 1)[..60]].into_iter().enumerate() {
        reader.theirs(UUID, 1, cut);
        assert_eq!(reader.0.counters().undecodable, 4 + count as u64);
    }
    assert_eq!((reader.in_flight(), reader.0.working().count()), (vec![1, 2], 0));
}
