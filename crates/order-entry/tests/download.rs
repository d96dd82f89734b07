//! Each rule of a download, message by message. Against the exchange's gateway it is in the tests
//! of the command.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod exchange;
mod wire;

use exchange::{frames, now};
use hairpin_order_entry::messages::{BooleanNULL, OrderMassStatusRequest530, OrderStatus};
use hairpin_order_entry::*;
use hairpin_sbe::MessageHeader;
use hairpin_time::{Duration, Now};
use wire::Bench;

const TIMEOUT: Duration = Duration::from_secs(5);

/// A session, and a download on it.
struct Desk {
    bench: Bench,
    download: Download,
}

impl Desk {
    /// A download that has asked for the first orders, as message 2.
    fn asking() -> Self {
        let mut bench = Bench::established(4);
        bench.shared.wire().room = usize::MAX;
        bench.send().unwrap();
        let request = MassStatus { request_id: Some(99), ..MassStatus::all() };
        let mut desk = Self { bench, download: Download::of(request, TIMEOUT) };
        desk.start().unwrap();
        assert!(desk.download.is_in_progress());
        desk
    }

    fn now(&self) -> Now {
        now(self.bench.time)
    }

    fn start(&mut self) -> Result<(), SendError> {
        let now = self.now();
        self.download.start(&mut self.bench.session.sender(now))
    }

    fn hear(&mut self, message: &[u8]) -> Option<DownloadResult> {
        let uuid = self.bench.session.progress().uuid;
        self.hear_of(uuid, message, false)
    }

    fn hear_of(&mut self, uuid: u64, message: &[u8], redelivered: bool) -> Option<DownloadResult> {
        let (header, body) = MessageHeader::decode(message).unwrap();
        let possible_retransmission = redelivered;
        let message =
            Message { header, body, seq_num: 1, uuid, possible_retransmission, redelivered };
        let now = self.now();
        self.download.handle_message(&mut self.bench.session.sender(now), &message)
    }

    /// Ids of the requests that have left.
    fn asked(&self) -> Vec<u64> {
        let wire = self.bench.shared.wire();
        let mut ids = Vec::new();
        for frame in frames(&wire.taken) {
            let (header, body) = MessageHeader::decode(&frame[4..]).unwrap();
            if header.template_id == OrderMassStatusRequest530::TEMPLATE_ID {
                let mut scratch = OrderMassStatusRequest530::SCRATCH;
                let request = OrderMassStatusRequest530::decode(&header, body, &mut scratch);
                ids.push(request.unwrap().mass_status_req_id());
            }
        }
        ids
    }
}

/// A report on an order, for the request with this id.
fn report(request: u64, is_last: bool) -> Vec<u8> {
    let mut buffer = vec![0; 1_000];
    ExecutionReportStatus532::encode(&mut buffer)
        .unwrap()
        .set_mass_status_req_id(Some(request))
        .set_ord_status(OrderStatus::NEW)
        .set_last_rpt_requested(Some(if is_last { BooleanNULL::TRUE } else { BooleanNULL::FALSE }));
    buffer.truncate(ExecutionReportStatus532::ENCODED_LENGTH);
    buffer
}

fn refusal(number: Option<u32>, id: Option<u64>, reason: BusinessRejectReason) -> Vec<u8> {
    let mut buffer = vec![0; 1_000];
    BusinessReject521::encode(&mut buffer)
        .unwrap()
        .set_ref_seq_num(number)
        .set_business_reject_ref_id(id)
        .set_business_reject_reason(reason.0);
    buffer.truncate(BusinessReject521::ENCODED_LENGTH);
    buffer
}

#[test]
fn one_is_asked_for_behind_the_other_and_all_are_counted() {
    let mut desk = Desk::asking();
    assert_eq!(desk.hear(&report(2, false)), None);
    assert_eq!((desk.hear(&report(2, true)), desk.asked()), (None, vec![2, 3]));
    assert_eq!(desk.hear(&report(2, true)), None, "that one was answered");
    assert_eq!(desk.hear(&report(3, true)), Some(Ok(Downloaded { orders: 3 })));
    assert!(!desk.download.is_in_progress());
}

#[test]
fn the_number_of_a_request_is_its_id() {
    assert_eq!(Desk::asking().asked(), [2]);
}

#[test]
fn a_report_on_another_request_or_to_another_process_is_no_answer() {
    let mut desk = Desk::asking();
    let (uuid, last) = (desk.bench.session.progress().uuid, report(2, true));
    assert_eq!(desk.hear(&report(1, true)), None);
    assert_eq!(desk.hear_of(uuid + 1, &last, false), None);
    assert_eq!(desk.hear_of(uuid, &last, true), None);
    assert_eq!(desk.asked(), [2]);
    desk.hear(&last);
    assert_eq!(desk.asked(), [2, 3]);
}

#[test]
fn each_report_gives_it_as_much_time_again() {
    let mut desk = Desk::asking();
    let begun = desk.now().monotonic;
    assert_eq!(desk.download.poll_timeout(), Some(begun + TIMEOUT));
    desk.bench.time += 1_000;
    desk.hear(&report(2, false));
    assert_eq!(desk.download.poll_timeout(), Some(desk.now().monotonic + TIMEOUT));
    desk.bench.time += 1_000;
    desk.hear(&report(1, false));
    assert!(desk.download.poll_timeout().unwrap() < desk.now().monotonic + TIMEOUT);
}

#[test]
fn where_there_is_no_order_the_next_are_asked_for() {
    let mut desk = Desk::asking();
    let none = BusinessRejectReason::ORDER_STATUS_NOT_FOUND;
    assert_eq!(desk.hear(&refusal(Some(2), None, none)), None);
    assert_eq!(desk.asked(), [2, 3]);
    let end = desk.hear(&refusal(None, Some(3), none));
    assert_eq!(end, Some(Ok(Downloaded { orders: 0 })));
}

#[test]
fn a_refusal_is_known_by_the_number_of_the_request_or_by_its_id() {
    let reason = BusinessRejectReason(2);
    for (number, id) in [(Some(2), None), (Some(2), Some(1)), (None, Some(2))] {
        let mut desk = Desk::asking();
        for (number, id) in [(Some(1), Some(2)), (None, Some(1)), (None, None)] {
            assert_eq!(desk.hear(&refusal(number, id, reason)), None);
        }
        let end = desk.hear(&refusal(number, id, reason));
        assert_eq!(end, Some(Err(DownloadError::Refused(reason))), "{number:?} {id:?}");
        assert!(!desk.download.is_in_progress());
    }
}

#[test]
fn it_ends_where_its_own_request_was_not_applied() {
    let mut desk = Desk::asking();
    for (from_seq_no, count) in [(1, 1), (3, 5)] {
        let others = NotApplied { from_seq_no, count };
        assert_eq!(desk.download.handle_not_applied(others), None);
    }
    let both = NotApplied { from_seq_no: 1, count: 2 };
    assert_eq!(desk.download.handle_not_applied(both), Some(Err(DownloadError::NotApplied)));
    assert!(!desk.download.is_in_progress());
}

#[test]
fn that_the_next_request_could_not_be_sent_is_told() {
    let mut desk = Desk::asking();
    desk.bench.shared.wire().room = 0;
    let refused = loop {
        if let Err(refused) = desk.bench.send() {
            break refused;
        }
    };
    let end = desk.hear(&report(2, true));
    assert_eq!(end, Some(Err(DownloadError::Send(refused))));
    assert!(!desk.download.is_in_progress());
}

#[test]
fn one_that_cannot_be_begun_again_is_over() {
    let mut desk = Desk::asking();
    let Desk { bench, .. } = &mut desk;
    bench.session.abandon(now(bench.time), &mut bench.reactor, &mut bench.told).unwrap();
    assert_eq!(desk.start(), Err(SendError::NotEstablished(State::Disconnected)));
    assert!(!desk.download.is_in_progress());
    assert_eq!(desk.download.handle_disconnected(), None);
}
