//! The rules of a download, message by message. The tests of the command run it against the
//! exchange's gateway.

use crate::mock_exchange::{frames, now};
use crate::session_harness::SessionHarness;
use hairpin_order_entry::messages::{BooleanNULL, OrderMassStatusRequest530, OrderStatus};
use hairpin_order_entry::*;
use hairpin_sbe::MessageHeader;
use hairpin_time::{Duration, Now};

const TIMEOUT: Duration = Duration::from_secs(5);

/// A session with a download.
struct Harness {
    base: SessionHarness,
    download: Download,
}

impl Harness {
    /// Creates a download that has sent its first request as message 2.
    fn requesting() -> Self {
        let mut harness = SessionHarness::established(4);
        harness.connector.connection().room = usize::MAX;
        harness.send().unwrap();
        let request = MassStatus { request_id: Some(99), ..MassStatus::market_segment(64) };
        let mut harness =
            Self { base: harness, download: Download::with_request(request, TIMEOUT) };
        harness.start().unwrap();
        assert!(harness.download.is_in_progress());
        harness
    }

    fn now(&self) -> Now {
        now(self.base.time)
    }

    fn start(&mut self) -> Result<(), SendError> {
        let now = self.now();
        self.download.start(&mut self.base.session.sender(now))
    }

    fn receive(&mut self, message: &[u8]) -> Option<DownloadResult> {
        let uuid = self.base.session.progress().uuid;
        self.receive_from(uuid, message, false)
    }

    fn receive_from(
        &mut self,
        uuid: u64,
        message: &[u8],
        redelivered: bool,
    ) -> Option<DownloadResult> {
        let (header, body) = MessageHeader::decode(message).unwrap();
        let possible_retransmission = redelivered;
        let message =
            Message { header, body, seq_num: 1, uuid, possible_retransmission, redelivered };
        let now = self.now();
        self.download.handle_message(&mut self.base.session.sender(now), &message)
    }

    /// Returns the ids of the requests sent.
    fn requested_ids(&self) -> Vec<u64> {
        let connection = self.base.connector.connection();
        let mut ids = Vec::new();
        for frame in frames(&connection.written) {
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

/// Returns a report on an order, for the request with this id.
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
fn requests_are_sequential_and_all_orders_are_counted() {
    let mut harness = Harness::requesting();
    assert_eq!(harness.receive(&report(2, false)), None);
    assert_eq!((harness.receive(&report(2, true)), harness.requested_ids()), (None, vec![2, 3]));
    assert_eq!(harness.receive(&report(2, true)), None, "that request was answered");
    assert_eq!(harness.receive(&report(3, true)), Some(Ok(Downloaded { orders: 3 })));
    assert!(!harness.download.is_in_progress());
}

#[test]
fn request_id_is_the_sequence_number() {
    assert_eq!(Harness::requesting().requested_ids(), [2]);
}

#[test]
fn unrelated_and_redelivered_reports_are_ignored() {
    let mut harness = Harness::requesting();
    let (uuid, last) = (harness.base.session.progress().uuid, report(2, true));
    assert_eq!(harness.receive(&report(1, true)), None);
    assert_eq!(harness.receive_from(uuid + 1, &last, false), None);
    assert_eq!(harness.receive_from(uuid, &last, true), None);
    assert_eq!(harness.requested_ids(), [2]);
    harness.receive(&last);
    assert_eq!(harness.requested_ids(), [2, 3]);
}

#[test]
fn reports_restart_the_timeout() {
    let mut harness = Harness::requesting();
    let started = harness.now().monotonic;
    assert_eq!(harness.download.poll_timeout(), Some(started + TIMEOUT));
    harness.base.time += 1_000;
    harness.receive(&report(2, false));
    assert_eq!(harness.download.poll_timeout(), Some(harness.now().monotonic + TIMEOUT));
    harness.base.time += 1_000;
    harness.receive(&report(1, false));
    assert!(harness.download.poll_timeout().unwrap() < harness.now().monotonic + TIMEOUT);
}

#[test]
fn next_request_follows_if_there_is_no_order() {
    let mut harness = Harness::requesting();
    let none = BusinessRejectReason::ORDER_STATUS_NOT_FOUND;
    assert_eq!(harness.receive(&refusal(Some(2), None, none)), None);
    assert_eq!(harness.requested_ids(), [2, 3]);
    let end = harness.receive(&refusal(None, Some(3), none));
    assert_eq!(end, Some(Ok(Downloaded { orders: 0 })));
}

#[test]
fn refusal_is_matched_by_number_or_id() {
    let reason = BusinessRejectReason(2);
    for (number, id) in [(Some(2), None), (Some(2), Some(1)), (None, Some(2))] {
        let mut harness = Harness::requesting();
        for (number, id) in [(Some(1), Some(2)), (None, Some(1)), (None, None)] {
            assert_eq!(harness.receive(&refusal(number, id, reason)), None);
        }
        let end = harness.receive(&refusal(number, id, reason));
        assert_eq!(end, Some(Err(DownloadError::Refused(reason))), "{number:?} {id:?}");
        assert!(!harness.download.is_in_progress());
    }
}

#[test]
fn ends_when_its_own_request_was_not_applied() {
    let mut harness = Harness::requesting();
    for (from_seq_no, count) in [(1, 1), (3, 5)] {
        let others = NotApplied { from_seq_no, count };
        assert_eq!(harness.download.handle_not_applied(others), None);
    }
    let both = NotApplied { from_seq_no: 1, count: 2 };
    assert_eq!(harness.download.handle_not_applied(both), Some(Err(DownloadError::NotApplied)));
    assert!(!harness.download.is_in_progress());
}

#[test]
fn reports_a_failed_send_of_the_next_request() {
    let mut harness = Harness::requesting();
    harness.base.connector.connection().room = 0;
    let refused = loop {
        if let Err(refused) = harness.base.send() {
            break refused;
        }
    };
    let end = harness.receive(&report(2, true));
    assert_eq!(end, Some(Err(DownloadError::Send(refused))));
    assert!(!harness.download.is_in_progress());
}

#[test]
fn failed_restart_ends_the_download() {
    let mut harness = Harness::requesting();
    let base = &mut harness.base;
    base.session.abandon(now(base.time), &mut base.reactor, &mut base.events).unwrap();
    assert_eq!(harness.start(), Err(SendError::NotEstablished(State::Disconnected)));
    assert!(!harness.download.is_in_progress());
    assert_eq!(harness.download.handle_disconnected(), None);
}
