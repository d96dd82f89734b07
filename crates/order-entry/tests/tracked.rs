//! A listener whose orders are tracked: what it is told, and what its orders know by then.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod exchange;
mod wire;

use exchange::{frames, now};
use hairpin_order_entry::*;
use hairpin_sbe::{CharArray, MessageHeader};
use hairpin_time::Duration;
use wire::Bench;

/// Notes what it is told, and how its orders stand then.
struct Desk {
    orders: Orders,
    download: Option<Download>,
    answer: NotAppliedAnswer,
    told: Vec<String>,
}

impl Desk {
    fn note(&mut self, what: impl std::fmt::Display) {
        let (all, working) = (self.orders.iter().count(), self.orders.working().count());
        self.told.push(format!("{what}: {working} of {all}"));
    }
}

impl TrackOrders for Desk {
    fn orders(&mut self) -> &mut Orders {
        &mut self.orders
    }
    fn download(&mut self) -> Option<&mut Download> {
        self.download.as_mut()
    }
    fn on_download(&mut self, _: &mut Sender<'_>, end: DownloadResult) {
        self.note(format!("download {}", end.unwrap_err()));
    }
}

impl Listener for Desk {
    fn on_state(&mut self, _: &mut Sender<'_>, state: State) {
        self.note(state);
    }
    fn on_established(&mut self, _: &mut Sender<'_>, _: &Established) {
        self.note("logon");
    }
    fn on_execution_report_new(
        &mut self,
        _: &mut Sender<'_>,
        _: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        self.note("new");
    }
    fn on_message(&mut self, _: &mut Sender<'_>, message: &Message<'_>) {
        self.note(message.header.template_id);
    }
    fn answer_not_applied(&mut self, _: NotApplied, _: NotAppliedAnswer) -> NotAppliedAnswer {
        self.answer
    }
    fn on_not_applied(&mut self, _: &mut Sender<'_>, _: NotApplied) {
        self.note("not applied");
    }
    fn on_failover(&mut self, _: &mut Sender<'_>, _: Failover) {
        self.note("failover");
    }
    fn on_active(&mut self, _: &mut Sender<'_>, _: Active) {
        self.note("active");
    }
    fn on_backup(&mut self, _: &BackupNotice<'_>) {
        self.note("backup");
    }
    fn on_reject(&mut self, _: &mut Sender<'_>, _: &Rejected<'_>) {
        self.note("reject");
    }
    fn on_terminate(&mut self, _: &mut Sender<'_>, _: &Terminated<'_>) {
        self.note("terminate");
    }
    fn on_gap(&mut self, _: &mut Sender<'_>, _: Gap) {
        self.note("gap");
    }
    fn on_retransmit_reject(&mut self, _: &mut Sender<'_>, _: &RetransmitRejected<'_>) {
        self.note("retransmit reject");
    }
    fn on_lost(&mut self, _: &mut Sender<'_>, gap: Gap) {
        let known = self.orders.counters().lost;
        self.note(format!("lost {} to {}, {known} known", gap.from, gap.to));
    }
    fn on_error(&mut self, _: &mut Sender<'_>, _: &Error) {
        self.note("error");
    }
    fn on_warning(&mut self, _: &mut Sender<'_>, _: &Warning) {
        self.note("warning");
    }
}

/// An established session and its listener.
struct World {
    bench: Bench,
    desk: Desk,
}

impl World {
    /// With a download under way if it is wanted, as message 1.
    fn new(downloads: bool) -> Self {
        let bench = Bench::established(8);
        bench.shared.wire().room = usize::MAX;
        let download = downloads.then(|| Download::new(Duration::from_secs(5)));
        let answer = NotAppliedAnswer::FillGap;
        let desk = Desk { orders: Orders::new(8), download, answer, told: Vec::new() };
        let mut world = Self { bench, desk };
        if let Some(download) = &mut world.desk.download {
            download.start(&mut world.bench.session.sender(now(world.bench.time))).unwrap();
        }
        world
    }

    /// Sends an order, and returns the exchange's report on it.
    fn send(&mut self) -> Vec<u8> {
        let id = u64::from(self.bench.session.progress().next_outgoing);
        let order = NewOrder::limit(42, SideReq::BUY, Decimal(1), 1, id.into());
        let mut sender = self.bench.session.sender(now(self.bench.time));
        self.desk.orders.send(&mut sender, &order).unwrap();
        let mut wire = self.bench.shared.wire();
        let taken = std::mem::take(&mut wire.taken);
        wire.exchange.answer(frames(&taken).last().unwrap())
    }

    /// Calls a listener as the session would.
    fn call<T>(
        &mut self,
        call: impl FnOnce(&mut OrderTracking<'_, Desk>, &mut Sender<'_>) -> T,
    ) -> T {
        let mut sender = self.bench.session.sender(now(self.bench.time));
        call(&mut OrderTracking::new(&mut self.desk), &mut sender)
    }

    /// Has the report with this frame told.
    fn hear(&mut self, frame: &[u8]) {
        let (header, body) = MessageHeader::decode(&frame[4..]).unwrap();
        let mut scratch = ExecutionReportNew522::SCRATCH;
        let report = ExecutionReportNew522::decode(&header, body, &mut scratch).unwrap();
        let uuid = self.bench.session.progress().uuid;
        let message = message(header, body, uuid);
        self.call(|tracked, sender| tracked.on_execution_report_new(sender, report, &message));
    }

    fn not_applied(&mut self, from_seq_no: u32, answer: NotAppliedAnswer) {
        let not_applied = NotApplied { from_seq_no, count: 1 };
        self.desk.answer = answer;
        self.call(|tracked, sender| {
            let preferred = NotAppliedAnswer::default();
            assert_eq!(tracked.answer_not_applied(not_applied, preferred), answer);
            tracked.on_not_applied(sender, not_applied);
        });
    }

    fn in_flight(&self) -> Vec<u32> {
        self.desk.orders.in_flight().map(|it| it.seq_num).collect()
    }

    fn told(&mut self) -> Vec<String> {
        std::mem::take(&mut self.desk.told)
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
fn its_orders_know_of_a_report_before_it_does() {
    let mut world = World::new(false);
    let report = world.send();
    assert_eq!(world.desk.orders.working().count(), 0);
    world.hear(&report);
    assert_eq!(world.told(), ["new: 1 of 1"]);
}

#[test]
fn it_is_told_all_that_says_nothing_of_orders() {
    let mut world = World::new(false);
    let (reason, gap) = (CharArray::new(b""), Gap { uuid: 7, from: 3, to: 5 });
    let (state, code) = (State::Establishing, RejectCode(1));
    let rejected = Rejected { state, code, reason, next_seq_no: None, fault_tolerance: None };
    let terminated = Terminated { code: TerminateCode::FINISHED, reason, answer: false };
    let not_again = RetransmitRejected { code: RetransmitRejectCode(1), reason, gap };
    world.call(|tracked, sender| {
        tracked.on_failover(sender, Failover { uuid: 7, next_seq_no: 1 });
        let (down_for, in_doubt) = (Duration::from_secs(1), false);
        tracked.on_active(sender, Active { uuid: 7, next_outgoing: 1, down_for, in_doubt });
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
    let told = world.told().join("; ").replace(": 0 of 0", "");
    assert_eq!(
        told,
        "failover; active; backup; reject; terminate; gap; retransmit reject; error; warning; \
         establishing; logon; lost 3 to 5, 3 known"
    );
}

#[test]
fn a_logon_puts_in_doubt_what_was_sent_before() {
    let mut world = World::new(false);
    world.send();
    let second = world.send();
    let uuid = world.bench.session.progress().uuid;
    let established = Established { uuid, ..ESTABLISHED };
    world.call(|tracked, sender| tracked.on_established(sender, &established));
    assert_eq!(world.in_flight(), [1, 2]);
    world.hear(&second);
    assert_eq!(world.in_flight(), Vec::<u32>::new(), "the first was passed by without a word");
    assert_eq!(world.told(), ["logon: 0 of 2", "new: 1 of 1"]);
}

#[test]
fn a_message_of_a_later_session_ends_what_an_earlier_one_was_asked() {
    let mut world = World::new(false);
    world.send();
    let uuid = world.bench.session.progress().uuid;
    let header = MessageHeader { block_length: 0, template_id: 999, schema_id: 8, version: 9 };
    let unknown = message(header, &[], uuid + 1);
    world.call(|tracked, sender| tracked.on_message(sender, &unknown));
    assert_eq!(world.in_flight(), Vec::<u32>::new());
    assert_eq!(world.told(), ["999: 0 of 0"]);
}

#[test]
fn what_was_not_applied_is_gone_or_stays_as_it_answers() {
    let mut world = World::new(false);
    (0..3).for_each(|_| drop(world.send()));
    world.not_applied(2, NotAppliedAnswer::Replay);
    assert_eq!(
        (world.in_flight(), world.told()),
        (vec![1, 2, 3], vec!["not applied: 0 of 3".into()])
    );
    world.not_applied(1, NotAppliedAnswer::FillGap);
    assert_eq!((world.in_flight(), world.told()), (vec![2, 3], vec!["not applied: 0 of 2".into()]));
}

#[test]
fn a_download_ends_with_a_request_that_is_not_sent_again() {
    let mut world = World::new(true);
    world.not_applied(1, NotAppliedAnswer::Replay);
    assert_eq!(world.told(), ["not applied: 0 of 0"]);
    assert!(world.desk.download.as_ref().unwrap().is_in_progress());
    world.not_applied(1, NotAppliedAnswer::FillGap);
    let expected = format!("download {}: 0 of 0", DownloadError::NotApplied);
    assert_eq!(world.told(), ["not applied: 0 of 0".into(), expected]);
}

#[test]
fn a_download_ends_with_the_connection_and_no_other_state() {
    let mut world = World::new(true);
    for state in [State::Established, State::Terminating, State::Disconnected] {
        world.call(|tracked, sender| tracked.on_state(sender, state));
    }
    let end = format!("download {}: 0 of 0", DownloadError::Disconnected);
    let told = ["established: 0 of 0", "terminating: 0 of 0", "disconnected: 0 of 0", &end];
    assert_eq!(world.told(), told);
    assert!(!world.desk.download.unwrap().is_in_progress());
}
