//! Tests of the session, driven by its functions with a fake clock.
//!
//! A test reads like a trace: an event, what the session `sent`, and the listener's `events`.

extern crate std;

use std::format;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

use hairpin_cme_codecs::ilink3::*;
use hairpin_sbe::{Decimal, EncodeError, MessageHeader};
use hairpin_time::{Duration, Instant, Now, Utc};

use super::*;
use crate::reassembly::write_framing_header;
use crate::settings::tests::settings;
use crate::{
    CancelOrder, ClOrdId, Delivery, Established, Failover, FramingError, Gap, MassCancel, Message,
    NewOrder, NotApplied, NotAppliedAnswer, OnFault, OutboundError, Outgoing, Rate, Rejected,
    RetransmitRejected, SEQ_NUM_MAX, Stamp, Takeover, TerminateCode, Terminated,
};

/// Decodes our frame `$frame` as a `$name` into `$view`.
macro_rules! decode {
    ($frame:expr => $name:ident as $view:ident) => {
        let (header, body) = MessageHeader::decode(&$frame[4..]).unwrap();
        let mut scratch = $name::SCRATCH;
        let $view = $name::decode(&header, body, &mut scratch).unwrap();
    };
}

mod backup;
mod batches;
mod bindings;
mod business_rejects;
mod counters;
mod fast_path;
mod faults;
mod keep_alive;
mod key_expiry;
mod logon;
mod orders;
mod party_details;
mod recovery;
mod redelivery;
mod replay;
mod retransmit_chunks;
mod send;
mod seq_nums;
mod terminate;
mod unknown_templates;

const UTC: u64 = 1_700_000_000_000_000_000;
const UUID: u64 = UTC / 1_000;
const KEEP_ALIVE: u64 = 10_000;

/// Creates a frame with a message of `length` bytes, SBE header included, filled by `write`.
fn frame(length: usize, write: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut frame = vec![0; 4 + length];
    write(&mut frame[4..]);
    write_framing_header((&mut frame[..4]).try_into().unwrap(), 4 + length);
    frame
}

fn negotiation_response(uuid: u64, request_timestamp: u64) -> Vec<u8> {
    frame(NegotiationResponse501::ENCODED_LENGTH, |buffer| {
        let mut message = NegotiationResponse501::encode(buffer).unwrap();
        message.set_uuid(uuid).set_request_timestamp(request_timestamp);
        message.set_previous_seq_no(0).set_previous_uuid(0);
    })
}

struct Ack {
    uuid: u64,
    request_timestamp: u64,
    next_seq_no: u32,
    previous: (u64, u32),
    keep_alive_interval: u16,
}

fn establishment_ack(ack: &Ack) -> Vec<u8> {
    frame(EstablishmentAck504::ENCODED_LENGTH, |buffer| {
        let mut message = EstablishmentAck504::encode(buffer).unwrap();
        message
            .set_uuid(ack.uuid)
            .set_request_timestamp(ack.request_timestamp)
            .set_next_seq_no(ack.next_seq_no)
            .set_previous_uuid(ack.previous.0)
            .set_previous_seq_no(ack.previous.1)
            .set_keep_alive_interval(ack.keep_alive_interval);
    })
}

fn sequence(uuid: u64, next_seq_no: u32, lapsed: KeepAliveLapsed) -> Vec<u8> {
    frame(Sequence506::ENCODED_LENGTH, |buffer| {
        let mut message = Sequence506::encode(buffer).unwrap();
        message.set_uuid(uuid).set_next_seq_no(next_seq_no);
        message.set_keep_alive_interval_lapsed(lapsed);
    })
}

fn terminate(code: u16, request_timestamp: u64) -> Vec<u8> {
    frame(Terminate507::ENCODED_LENGTH, |buffer| {
        let mut message = Terminate507::encode(buffer).unwrap();
        message.set_uuid(UUID).set_request_timestamp(request_timestamp).set_error_codes(code);
        message.set_reason("so it is");
    })
}

fn report(seq_num: u32) -> Vec<u8> {
    report_of(UUID, seq_num, BooleanFlag::FALSE)
}

fn report_of(uuid: u64, seq_num: u32, poss_retrans: BooleanFlag) -> Vec<u8> {
    frame(ExecutionReportNew522::ENCODED_LENGTH, |buffer| {
        let mut message = ExecutionReportNew522::encode(buffer).unwrap();
        message.set_uuid(uuid).set_seq_num(seq_num).set_poss_retrans_flag(poss_retrans);
        message.set_order_id(70_000 + u64::from(seq_num)).set_cl_ord_id("77");
    })
}

fn not_applied(from_seq_no: u32, count: u32) -> Vec<u8> {
    frame(NotApplied513::ENCODED_LENGTH, |buffer| {
        let mut message = NotApplied513::encode(buffer).unwrap();
        message.set_uuid(UUID).set_from_seq_no(from_seq_no).set_msg_count(count);
    })
}

/// Creates the announcement of a retransmission of `count` messages under `last_uuid`, or under the
/// current UUID.
fn retransmission(last_uuid: Option<u64>, timestamp: u64, from: u32, count: u16) -> Vec<u8> {
    frame(Retransmission509::ENCODED_LENGTH, |buffer| {
        let mut message = Retransmission509::encode(buffer).unwrap();
        message.set_uuid(UUID).set_last_uuid(last_uuid).set_request_timestamp(timestamp);
        message.set_from_seq_no(from).set_msg_count(count);
    })
}

fn retransmit_reject(timestamp: u64, code: u16) -> Vec<u8> {
    frame(RetransmitReject510::ENCODED_LENGTH, |buffer| {
        let mut message = RetransmitReject510::encode(buffer).unwrap();
        message.set_uuid(UUID).set_request_timestamp(timestamp).set_error_codes(code);
    })
}

fn template_only(template_id: u16, schema_id: u16, block: usize) -> Vec<u8> {
    frame(8 + block, |buffer| {
        let block_length = block as u16;
        let header = MessageHeader { block_length, template_id, schema_id, version: 9 };
        buffer[..8].copy_from_slice(&header.to_bytes());
    })
}

/// Creates a message of template 572, schema version 10, which is not in the schema.
fn unknown(uuid: u64, seq_num: u32) -> Vec<u8> {
    let mut frame = template_only(572, 8, 20);
    frame[10..12].copy_from_slice(&10_u16.to_le_bytes());
    frame[12..16].copy_from_slice(&seq_num.to_le_bytes());
    frame[16..24].copy_from_slice(&uuid.to_le_bytes());
    frame
}

/// A listener that logs its callbacks and sends orders on request.
#[derive(Default)]
struct EventLog {
    events: Vec<String>,
    /// The name of the callback in which to send an order.
    order_on: Option<&'static str>,
    terminate_on: Option<&'static str>,
    /// The `down_for` of the last takeover.
    down_for: Duration,
    /// The response to NotApplied, if not the preferred one.
    answer: Option<NotAppliedAnswer>,
}

impl EventLog {
    fn record(&mut self, sender: &mut Sender<'_>, what: &'static str, detail: String) {
        self.events.push(format!("{what} {detail}").trim_end().to_string());
        if self.order_on == Some(what) {
            let sent = sender.send(&order(1));
            self.events.push(format!("{sent:?}"));
        }
        if self.terminate_on == Some(what) {
            sender.terminate();
        }
    }
}

impl Listener for EventLog {
    fn on_state(&mut self, sender: &mut Sender<'_>, state: State) {
        self.record(sender, "state", state.to_string());
    }
    fn on_established(&mut self, sender: &mut Sender<'_>, established: &Established) {
        assert_eq!(established.uuid, sender.progress().uuid);
    }
    fn on_execution_report_new(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        message: &Message<'_>,
    ) {
        assert_eq!(report.order_id(), 70_000 + u64::from(message.seq_num));
        let again = if message.redelivered { " redelivered" } else { "" };
        self.record(sender, "new", format!("{}{again}", message.seq_num));
    }
    fn on_message(&mut self, sender: &mut Sender<'_>, message: &Message<'_>) {
        let template_id = message.header.template_id;
        self.record(sender, "message", format!("{} of {template_id}", message.seq_num));
    }
    fn answer_not_applied(
        &mut self,
        _: NotApplied,
        preferred: NotAppliedAnswer,
    ) -> NotAppliedAnswer {
        self.answer.unwrap_or(preferred)
    }
    fn on_failover(&mut self, sender: &mut Sender<'_>, failover: Failover) {
        self.record(sender, "failover", format!("from {}", failover.next_seq_no));
    }
    fn on_takeover(&mut self, sender: &mut Sender<'_>, active: Takeover) {
        self.down_for = active.down_for;
        let doubt = if active.in_doubt { " in doubt" } else { "" };
        self.record(sender, "active", format!("{}{doubt}", active.next_outgoing));
    }
    fn on_not_applied(&mut self, sender: &mut Sender<'_>, it: NotApplied) {
        self.record(sender, "not applied", format!("{} from {}", it.count, it.from_seq_no));
    }
    fn on_reject(&mut self, sender: &mut Sender<'_>, rejected: &Rejected<'_>) {
        let Rejected { state, code, reason, next_seq_no, .. } = rejected;
        self.record(sender, "rejected", format!("{state} {code} {reason} {next_seq_no:?}"));
    }
    fn on_terminate(&mut self, sender: &mut Sender<'_>, it: &Terminated<'_>) {
        self.record(sender, "terminated", format!("{} {} {}", it.code.0, it.reason, it.solicited));
    }
    fn on_gap(&mut self, sender: &mut Sender<'_>, gap: Gap) {
        self.record(sender, "gap", format!("{} to {} of {}", gap.from, gap.to, gap.uuid));
    }
    fn on_retransmit_reject(&mut self, sender: &mut Sender<'_>, it: &RetransmitRejected<'_>) {
        let Gap { uuid, from, to } = it.gap;
        self.record(sender, "rejected request", format!("{from} to {to} of {uuid}: {}", it.code));
    }
    fn on_lost(&mut self, sender: &mut Sender<'_>, gap: Gap) {
        self.record(sender, "lost", format!("{} to {} of {}", gap.from, gap.to, gap.uuid));
    }
    fn on_error(&mut self, sender: &mut Sender<'_>, error: &Error) {
        self.record(sender, "error", error.to_string());
    }
    fn on_warning(&mut self, sender: &mut Sender<'_>, warning: &Warning) {
        self.record(sender, "warning", warning.to_string());
    }
}

fn order(id: u64) -> NewOrder {
    NewOrder::limit(42, SideReq::BUY, Decimal(4_500_250_000_000), 3, ClOrdId::from(id))
}

/// A sink that keeps frames in a list, or rejects them.
#[derive(Default)]
struct TestSink {
    frames: Vec<Vec<u8>>,
    claimed: Vec<u8>,
    rejection: Option<OutboundError>,
    delivery: Option<Delivery>,
    /// Business messages kept for a replay.
    kept: Vec<Vec<u8>>,
    keeps_nothing: bool,
    /// The exchange's kept business messages: UUID, SeqNum, message, marked or not.
    inbox: Vec<(u64, u32, Vec<u8>, bool)>,
    /// The number of batches begun and ended.
    batches: (u32, u32),
}

impl OutboundSink for TestSink {
    fn claim(&mut self, max: usize) -> Result<&mut [u8], OutboundError> {
        self.claimed = vec![0xEE; max];
        self.rejection.map_or(Ok(&mut self.claimed), Err)
    }

    fn commit(&mut self, length: usize, _: Option<u32>) -> Delivery {
        self.frames.push(self.claimed[..length].to_vec());
        self.kept.push(self.claimed[..length].to_vec());
        self.delivery.unwrap_or(Delivery::Written)
    }

    fn begin_batch(&mut self) {
        self.batches.0 += 1;
    }

    fn end_batch(&mut self) -> (Delivery, usize) {
        self.batches.1 += 1;
        // Of the waiting frames, the first has been written.
        (self.delivery.unwrap_or(Delivery::Written), usize::from(self.delivery.is_some()))
    }

    fn resend(&mut self, seq_num: u32) -> Result<Delivery, OutboundError> {
        let has_number = |frame: &&Vec<u8>| {
            frame[6..8] == 514_u16.to_le_bytes() && frame[29..33] == seq_num.to_le_bytes()
        };
        let kept = self.kept.iter().rfind(has_number).filter(|_| !self.keeps_nothing);
        let frame = kept.ok_or(OutboundError::NotKept)?.clone();
        self.rejection.map_or(Ok(()), Err)?;
        self.frames.push(frame);
        Ok(self.delivery.unwrap_or(Delivery::Written))
    }

    fn keep(&mut self, uuid: u64, seq_num: u32, message: &[u8]) {
        assert!(self.inbox.iter().all(|kept| kept.3), "kept while another is delivered");
        self.inbox.push((uuid, seq_num, message.to_vec(), false));
    }

    fn mark(&mut self) {
        let newest = self.inbox.last_mut().unwrap();
        assert!(!std::mem::replace(&mut newest.3, true), "marked twice");
    }
}

/// A session with its listener, sink and clock.
struct Trace {
    session: Session,
    log: EventLog,
    sink: TestSink,
    now: Now,
}

impl Trace {
    fn new() -> Self {
        Self::with(Progress::default())
    }

    fn with(progress: Progress) -> Self {
        Self::with_policy(progress, SessionPolicy::default())
    }

    fn with_policy(progress: Progress, policy: SessionPolicy) -> Self {
        Self {
            session: Session::with_policy(settings(), progress, policy).unwrap(),
            log: EventLog::default(),
            sink: TestSink::default(),
            now: Now { monotonic: Instant::from_nanos(5), utc: Utc::from_nanos(UTC) },
        }
    }

    /// Creates a connected session; Negotiate is not sent yet.
    fn connected() -> Self {
        let mut trace = Self::new();
        trace.connect(Binding::New);
        trace
    }

    /// Creates an established session with nothing left to send or report.
    fn established() -> Self {
        let mut trace = Self::connected();
        trace.log_on();
        trace
    }

    fn connect(&mut self, binding: Binding) {
        self.session.connect(self.now, binding).unwrap();
        assert_eq!(self.session.poll_action(), Some(Action::Connect));
        assert_eq!(self.session.poll_action(), None);
        self.session.handle_connected(self.now, &mut self.sink, &mut self.log);
    }

    fn log_on(&mut self) {
        let requested = self.sent_request();
        self.receive(&negotiation_response(self.session.progress().uuid, requested));
        self.acknowledge();
    }

    fn acknowledge(&mut self) {
        let ack = self.ack();
        self.receive(&establishment_ack(&ack));
        assert_eq!(self.session.state(), State::Established);
        self.log.events.clear();
    }

    /// Creates the EstablishmentAck of the Establish to be sent.
    fn ack(&mut self) -> Ack {
        Ack {
            uuid: self.session.progress().uuid,
            request_timestamp: self.sent_request(),
            next_seq_no: self.session.progress().next_incoming,
            previous: (0, 0),
            keep_alive_interval: KEEP_ALIVE as u16,
        }
    }

    /// Sends the one pending request and returns its RequestTimestamp.
    fn sent_request(&mut self) -> u64 {
        assert_eq!(self.transmitted().len(), 1);
        self.session.progress().request_timestamp
    }

    fn receive(&mut self, bytes: &[u8]) {
        self.session.handle_bytes(self.now, bytes, &mut self.sink, &mut self.log);
    }

    fn disconnect(&mut self) {
        self.session.handle_disconnected(self.now, &mut self.sink, &mut self.log);
    }

    /// Advances the clock to `millis` after the start and runs the timers.
    fn at(&mut self, millis: u64) {
        self.now.monotonic = Instant::from_nanos(5) + Duration::from_millis(millis);
        self.now.utc = Utc::from_nanos(UTC) + Duration::from_millis(millis);
        self.session.handle_timeout(self.now, &mut self.sink, &mut self.log);
    }

    fn send(&mut self, id: u64) -> Result<u32, SendError> {
        let sent = self.session.sender(self.now, &mut self.sink).send(&order(id))?;
        Ok(sent.seq_num)
    }

    fn transmitted(&mut self) -> Vec<Vec<u8>> {
        let mut frames = core::mem::take(&mut self.sink.frames);
        let mut buffer = [0xEE; 200];
        while let Some(length) = self.session.poll_transmit(self.now, &mut buffer) {
            frames.push(buffer[..length].to_vec());
        }
        frames
    }

    /// Returns the frames sent since the last call, as text.
    fn sent(&mut self) -> Vec<String> {
        self.transmitted().iter().map(|frame| describe(frame)).collect()
    }

    /// Asserts that the session closed after the fault that CME lists under `code`, without sending
    /// a Terminate.
    fn assert_fault(&mut self, code: u16) {
        assert!(self.sent().is_empty());
        let reason = DisconnectReason::Terminated(TerminateCode(code));
        assert_eq!(self.session.disconnect_reason(), reason);
        assert!(self.session.outbound.pending.is_closing());
    }

    /// Returns the callbacks since the last call, as text.
    fn events(&mut self) -> Vec<String> {
        core::mem::take(&mut self.log.events)
    }

    fn deadline_millis(&self) -> Option<u64> {
        let deadline = self.session.poll_timeout()?;
        Some((deadline - Instant::from_nanos(5)).as_millis())
    }
}

/// Formats one of our frames as text.
fn describe(frame: &[u8]) -> String {
    assert_eq!(usize::from(u16::from_le_bytes([frame[0], frame[1]])), frame.len());
    assert_eq!(frame[2..4], [0xfe, 0xca]);
    let (header, _) = MessageHeader::decode(&frame[4..]).unwrap();
    match header.template_id {
        500 => "Negotiate".to_string(),
        503 => {
            decode!(frame => Establish503 as message);
            format!("Establish {}", message.next_seq_no())
        }
        506 => {
            decode!(frame => Sequence506 as message);
            let lapsed = message.keep_alive_interval_lapsed() == KeepAliveLapsed::LAPSED;
            format!("Sequence {}{}", message.next_seq_no(), if lapsed { " lapsed" } else { "" })
        }
        507 => {
            decode!(frame => Terminate507 as message);
            format!("Terminate {}", message.error_codes())
        }
        508 => {
            decode!(frame => RetransmitRequest508 as message);
            let of = message.last_uuid().map_or(String::new(), |uuid| format!(" of {uuid}"));
            format!("Retransmit {} count {}{of}", message.from_seq_no(), message.msg_count())
        }
        514 => {
            decode!(frame => NewOrderSingle514 as message);
            format!("Order {} id {}", message.seq_num(), message.cl_ord_id())
        }
        template_id => format!("template {template_id}"),
    }
}
