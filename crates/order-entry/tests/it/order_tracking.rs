//! A listener with tracked orders: its callbacks, and the state of its orders in them.

use crate::mock_exchange::{frames, now};
use crate::session_harness::SessionHarness;
use hairpin_order_entry::*;
use hairpin_sbe::{CharArray, MessageHeader};
use hairpin_time::Duration;

/// A listener that records its callbacks with the state of its orders.
struct RecordingStrategy {
    orders: Orders,
    download: Option<Download>,
    answer: NotAppliedAnswer,
    events: Vec<String>,
}

impl RecordingStrategy {
    fn record(&mut self, event: impl std::fmt::Display) {
        let (all, working) = (self.orders.iter().count(), self.orders.working().count());
        self.events.push(format!("{event}: {working} of {all}"));
    }
}

impl TrackOrders for RecordingStrategy {
    fn orders(&mut self) -> &mut Orders {
        &mut self.orders
    }
    fn download(&mut self) -> Option<&mut Download> {
        self.download.as_mut()
    }
    fn on_download(&mut self, _: &mut Sender<'_>, end: DownloadResult) {
        self.record(format!("download {}", end.unwrap_err()));
    }
}

impl Listener for RecordingStrategy {
    fn on_state(&mut self, _: &mut Sender<'_>, state: State) {
        self.record(state);
    }
    fn on_established(&mut self, _: &mut Sender<'_>, _: &Established) {
        self.record("logon");
    }
    fn on_execution_report_new(
        &mut self,
        _: &mut Sender<'_>,
        _: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        self.record("new");
    }
    fn on_message(&mut self, _: &mut Sender<'_>, message: &Message<'_>) {
        self.record(message.header.template_id);
    }
    fn answer_not_applied(&mut self, _: NotApplied, _: NotAppliedAnswer) -> NotAppliedAnswer {
        self.answer
    }
    fn on_not_applied(&mut self, _: &mut Sender<'_>, _: NotApplied) {
        self.record("not applied");
    }
    fn on_failover(&mut self, _: &mut Sender<'_>, _: Failover) {
        self.record("failover");
    }
    fn on_takeover(&mut self, _: &mut Sender<'_>, _: Takeover) {
        self.record("active");
    }
    fn on_backup(&mut self, _: &BackupNotice<'_>) {
        self.record("backup");
    }
    fn on_reject(&mut self, _: &mut Sender<'_>, _: &Rejected<'_>) {
        self.record("reject");
    }
    fn on_terminate(&mut self, _: &mut Sender<'_>, _: &Terminated<'_>) {
        self.record("terminate");
    }
    fn on_gap(&mut self, _: &mut Sender<'_>, _: Gap) {
        self.record("gap");
    }
    fn on_retransmit_reject(&mut self, _: &mut Sender<'_>, _: &RetransmitRejected<'_>) {
        self.record("retransmit reject");
    }
    fn on_lost(&mut self, _: &mut Sender<'_>, gap: Gap) {
        let known = self.orders.counters().lost;
        self.record(format!("lost {} to {}, {known} known", gap.from, gap.to));
    }
    fn on_error(&mut self, _: &mut Sender<'_>, _: &Error) {
        self.record("error");
    }
    fn on_warning(&mut self, _: &mut Sender<'_>, _: &Warning) {
        self.record("warning");
    }
}

/// An established session with its listener.
struct Harness {
    base: SessionHarness,
    strategy: RecordingStrategy,
}

impl Harness {
    /// Creates a session, with a download in progress as message 1 if `downloads`.
    fn new(downloads: bool) -> Self {
        let harness = SessionHarness::established(8);
        harness.connector.connection().room = usize::MAX;
        let download = downloads.then(|| Download::new(64, Duration::from_secs(5)));
        let answer = NotAppliedAnswer::FillGap;
        let strategy =
            RecordingStrategy { orders: Orders::new(8), download, answer, events: Vec::new() };
        let mut harness = Self { base: harness, strategy };
        if let Some(download) = &mut harness.strategy.download {
            download.start(&mut harness.base.session.sender(now(harness.base.time))).unwrap();
        }
        harness
    }

    /// Sends an order; returns the exchange's report.
    fn send(&mut self) -> Vec<u8> {
        let id = u64::from(self.base.session.progress().next_outgoing);
        let order = NewOrder::limit(42, SideReq::BUY, Decimal(1), 1, id.into());
        let mut sender = self.base.session.sender(now(self.base.time));
        self.strategy.orders.send(&mut sender, &order).unwrap();
        let mut connection = self.base.connector.connection();
        let written = std::mem::take(&mut connection.written);
        connection.exchange.answer(frames(&written).last().unwrap())
    }

    /// Calls the listener like the session does.
    fn call<T>(
        &mut self,
        call: impl FnOnce(&mut OrderTracking<'_, RecordingStrategy>, &mut Sender<'_>) -> T,
    ) -> T {
        let mut sender = self.base.session.sender(now(self.base.time));
        call(&mut OrderTracking::new(&mut self.strategy), &mut sender)
    }

    /// Delivers the report in this frame.
    fn receive(&mut self, frame: &[u8]) {
        let (header, body) = MessageHeader::decode(&frame[4..]).unwrap();
        let mut scratch = ExecutionReportNew522::SCRATCH;
        let report = ExecutionReportNew522::decode(&header, body, &mut scratch).unwrap();
        let uuid = self.base.session.progress().uuid;
        let message = message(header, body, uuid);
        self.call(|tracked, sender| tracked.on_execution_report_new(sender, report, &message));
    }

    fn not_applied(&mut self, from_seq_no: u32, answer: NotAppliedAnswer) {
        let not_applied = NotApplied { from_seq_no, count: 1 };
        self.strategy.answer = answer;
        self.call(|tracked, sender| {
            let preferred = NotAppliedAnswer::default();
            assert_eq!(tracked.answer_not_applied(not_applied, preferred), answer);
            tracked.on_not_applied(sender, not_applied);
        });
    }

    fn in_flight(&self) -> Vec<u32> {
        self.strategy.orders.in_flight().map(|it| it.seq_num).collect()
    }

    fn events(&mut self) -> Vec<String> {
        std::mem::take(&mut self.strategy.events)
    }
}

fn message<'a>(header: MessageHeader, body: &'a [u8], uuid: u64) -> Message<'a> {
    let (possible_retransmission, redelivered) = (false, false);
    Message { header, body, seq_num: 1, uuid, possible_retransmission, redelivered }
}

const ESTABLISHED: Established = Established {
    uuid: 0,
    next_seq_no: 1,
    previous_seq_no: 0,
    previous_uuid: 0,
    secret_key_expiration: None,
    fault_tolerance: None,
    environment: None,
};

#[test]
fn orders_are_updated_before_the_callback() {
    let mut harness = Harness::new(false);
    let report = harness.send();
    assert_eq!(harness.strategy.orders.working().count(), 0);
    harness.receive(&report);
    assert_eq!(harness.events(), ["new: 1 of 1"]);
}

#[test]
fn callbacks_without_order_information_are_forwarded() {
    let mut harness = Harness::new(false);
    let (reason, gap) = (CharArray::new(b""), Gap { uuid: 7, from: 3, to: 5 });
    let (state, code) = (State::Establishing, RejectCode(1));
    let rejected = Rejected { state, code, reason, next_seq_no: None, fault_tolerance: None };
    let terminated = Terminated { code: TerminateCode::FINISHED, reason, solicited: false };
    let not_again = RetransmitRejected { code: RetransmitRejectCode(1), reason, gap };
    harness.call(|tracked, sender| {
        tracked.on_failover(sender, Failover { uuid: 7, next_seq_no: 1 });
        let (down_for, in_doubt) = (Duration::from_secs(1), false);
        tracked.on_takeover(sender, Takeover { uuid: 7, next_outgoing: 1, down_for, in_doubt });
        tracked.on_backup(&BackupNotice::State(state));
        tracked.on_reject(sender, &rejected);
        tracked.on_terminate(sender, &terminated);
        tracked.on_gap(sender, gap);
        tracked.on_retransmit_reject(sender, &not_again);
        tracked.on_error(sender, &Error::TerminateTimeout);
        tracked.on_warning(sender, &Warning::Silence);
        tracked.on_state(sender, state);
        tracked.on_established(sender, &ESTABLISHED);
        tracked.on_lost(sender, gap);
    });
    let events = harness.events().join("; ").replace(": 0 of 0", "");
    assert_eq!(
        events,
        "failover; active; backup; reject; terminate; gap; retransmit reject; error; warning; \
         establishing; logon; lost 3 to 5, 3 known"
    );
}

#[test]
fn logon_makes_earlier_requests_uncertain() {
    let mut harness = Harness::new(false);
    harness.send();
    let second = harness.send();
    let uuid = harness.base.session.progress().uuid;
    let established = Established { uuid, ..ESTABLISHED };
    harness.call(|tracked, sender| tracked.on_established(sender, &established));
    assert_eq!(harness.in_flight(), [1, 2]);
    harness.receive(&second);
    assert_eq!(harness.in_flight(), Vec::<u32>::new(), "the first was skipped");
    assert_eq!(harness.events(), ["logon: 0 of 2", "new: 1 of 1"]);
}

#[test]
fn message_of_a_later_session_drops_earlier_requests() {
    let mut harness = Harness::new(false);
    harness.send();
    let uuid = harness.base.session.progress().uuid;
    let header = MessageHeader { block_length: 0, template_id: 999, schema_id: 8, version: 9 };
    let unknown = message(header, &[], uuid + 1);
    harness.call(|tracked, sender| tracked.on_message(sender, &unknown));
    assert_eq!(harness.in_flight(), Vec::<u32>::new());
    assert_eq!(harness.events(), ["999: 0 of 0"]);
}

#[test]
fn not_applied_drops_or_keeps_requests_as_answered() {
    let mut harness = Harness::new(false);
    (0..3).for_each(|_| drop(harness.send()));
    harness.not_applied(2, NotAppliedAnswer::Replay);
    assert_eq!(
        (harness.in_flight(), harness.events()),
        (vec![1, 2, 3], vec!["not applied: 0 of 3".into()])
    );
    harness.not_applied(1, NotAppliedAnswer::FillGap);
    assert_eq!(
        (harness.in_flight(), harness.events()),
        (vec![2, 3], vec!["not applied: 0 of 2".into()])
    );
}

#[test]
fn download_ends_if_its_request_is_not_resent() {
    let mut harness = Harness::new(true);
    harness.not_applied(1, NotAppliedAnswer::Replay);
    assert_eq!(harness.events(), ["not applied: 0 of 0"]);
    assert!(harness.strategy.download.as_ref().unwrap().is_in_progress());
    harness.not_applied(1, NotAppliedAnswer::FillGap);
    let expected = format!("download {}: 0 of 0", DownloadError::NotApplied);
    assert_eq!(harness.events(), ["not applied: 0 of 0".into(), expected]);
}

#[test]
fn download_ends_only_with_the_connection() {
    let mut harness = Harness::new(true);
    for state in [State::Established, State::Terminating, State::Disconnected] {
        harness.call(|tracked, sender| tracked.on_state(sender, state));
    }
    let end = format!("download {}: 0 of 0", DownloadError::Disconnected);
    let events = ["established: 0 of 0", "terminating: 0 of 0", "disconnected: 0 of 0", &end];
    assert_eq!(harness.events(), events);
    assert!(!harness.strategy.download.unwrap().is_in_progress());
}
