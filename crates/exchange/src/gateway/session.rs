//! A connection: its state, timers and buffers, and the session messages it sends.

use hairpin_cme_codecs::ilink3::{
    EstablishmentAck504, EstablishmentReject505, FTI, KeepAliveLapsed, NegotiationReject502,
    NegotiationResponse501, NotApplied513, Retransmission509, RetransmitReject510, Sequence506,
    SplitMsg, Terminate507,
};
use hairpin_time::{Duration, Instant, Now};

use super::account::Account;
use super::faults::Hold;
use super::frame::Outbound;
use super::party_details::PartyDetails;
use super::party_requests::{OnDemand, OnDemandAnswer};
use super::port_closure::BadLogons;
use super::reason_codes::{LogonReject, RetransmitReason, TerminateCode};
use super::retransmit_buffer::Retransmission;
use super::status::MassStatus;
use super::{ConnectionId, Designation, GatewayCounters, SessionState};
use crate::Listener;
use crate::defined_values::debug_assert_defined;

/// The time limit for a logon. CME specifies it between Negotiate and Establish; this gateway
/// applies it before Negotiate too.
pub(super) const LOGON_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: ConnectionId,
    pub(super) state: SessionState,
    /// The logged-on account, set when the NegotiationResponse or EstablishmentAck is sent.
    pub(super) account: Option<usize>,
    /// The UUID of the session; before it is negotiated, that of the last message, or 0.
    pub(super) uuid: u64,
    pub(super) keep_alive: Duration,
    /// The time of the last received byte.
    pub(super) last_received: Instant,
    pub(super) last_sent: Instant,
    /// The time at which a Sequence with a lapse was sent to a silent client.
    pub(super) lapse_sent: Option<Instant>,
    /// The time limit for a logon or a close.
    pub(super) deadline: Instant,
    /// The highest number covered by a NotApplied.
    pub(super) not_applied: u32,
    /// The retransmission in progress.
    pub(super) retransmission: Option<Retransmission>,
    pub(super) outbound: Outbound,
    /// The connection closes once all bytes are sent.
    pub(super) closing: bool,
    /// The gateway to which the client connected.
    pub(super) designation: Designation,
    /// The gateway of this connection is the backup now.
    pub(super) backup: bool,
    /// The session was promoted to the primary, and its client may not know yet. Its next Sequence
    /// may have NextSeqNo 0.
    pub(super) promoted: bool,
    /// The session ends by a normal Terminate handshake.
    pub(super) graceful: bool,
    /// The split state of the message being answered, for the safeguard.
    pub(super) split: Option<SplitMsg>,
    /// Messages queued behind a split one in the same chunk.
    pub(super) queued_behind_split: Option<u32>,
    /// The next message arrived in segments out of order.
    pub(super) out_of_order: bool,
    /// The state of on-demand party details.
    pub(super) on_demand: OnDemand,
    /// The on-demand party details, while they are pending.
    pub(super) on_demand_details: PartyDetails,
    /// The progress of the answer to on-demand party details.
    pub(super) on_demand_answer: OnDemandAnswer,
    /// Bad logons that named no account.
    pub(super) bad_logons: BadLogons,
    /// The mass status request being answered.
    pub(super) mass_status: Option<MassStatus>,
    /// The number of latest reports that wait for room in `outbound`.
    pub(super) pending_reports: u32,
    /// The number of bytes that may be sent; unlimited without injected faults.
    pub(super) sendable_length: usize,
    /// The write held back by an injected fault.
    pub(super) hold: Option<Hold>,
}

impl Session {
    pub(super) fn new(id: ConnectionId) -> Self {
        Self {
            id,
            state: SessionState::Closed,
            account: None,
            uuid: 0,
            keep_alive: LOGON_TIMEOUT,
            last_received: Instant::ZERO,
            last_sent: Instant::ZERO,
            lapse_sent: None,
            deadline: Instant::MAX,
            not_applied: 0,
            retransmission: None,
            outbound: Outbound::new(),
            closing: false,
            designation: Designation::Primary,
            backup: false,
            promoted: false,
            graceful: false,
            split: None,
            queued_behind_split: None,
            out_of_order: false,
            on_demand: OnDemand::None,
            on_demand_details: PartyDetails::empty(0),
            on_demand_answer: OnDemandAnswer::None,
            bad_logons: BadLogons::default(),
            mass_status: None,
            pending_reports: 0,
            sendable_length: usize::MAX,
            hold: None,
        }
    }

    /// Opens the slot for an accepted connection.
    pub(super) fn open(&mut self, now: Now) {
        self.state = SessionState::Connected;
        self.account = None;
        self.uuid = 0;
        self.keep_alive = LOGON_TIMEOUT;
        self.last_received = now.monotonic;
        self.last_sent = now.monotonic;
        self.lapse_sent = None;
        self.deadline = now.monotonic + LOGON_TIMEOUT;
        self.not_applied = 0;
        self.retransmission = None;
        self.outbound.clear();
        self.closing = false;
        self.promoted = false;
        self.graceful = false;
        self.split = None;
        self.queued_behind_split = None;
        self.out_of_order = false;
        self.on_demand = OnDemand::None;
        self.on_demand_answer = OnDemandAnswer::None;
        self.bad_logons = BadLogons::default();
        self.mass_status = None;
        self.pending_reports = 0;
        self.sendable_length = usize::MAX;
        self.hold = None;
    }

    /// Returns the bytes that may be sent now.
    pub(super) fn sendable(&self) -> &[u8] {
        let bytes = self.outbound.bytes();
        &bytes[..bytes.len().min(self.sendable_length)]
    }

    /// Removes the first `count` bytes, which have been sent.
    pub(super) fn consume(&mut self, count: usize) {
        self.outbound.consume(count);
        if self.sendable_length != usize::MAX {
            self.sendable_length = self.sendable_length.saturating_sub(count);
        }
    }

    /// Records the split state of the next message. Returns the number queued behind a split one.
    pub(super) fn count_frame(&mut self, is_split: bool) -> u32 {
        let is_late = core::mem::take(&mut self.out_of_order);
        (self.queued_behind_split, self.split) = match self.queued_behind_split {
            _ if is_late => (Some(0), Some(SplitMsg::OUTOF_ORDER_MESSAGE_DELAYED)),
            _ if is_split => (Some(0), Some(SplitMsg::SPLIT_MESSAGE_DELAYED)),
            Some(queued) => (Some(queued + 1), Some(SplitMsg::COMPLETE_MESSAGE_DELAYED)),
            None => (None, None),
        };
        self.queued_behind_split.unwrap_or(0)
    }

    /// Returns the FaultToleranceIndicator (tag 39010).
    fn indicator(&self) -> FTI {
        if self.backup { FTI::BACKUP } else { FTI::PRIMARY }
    }

    /// Returns the number as sent on this connection: every number on the backup is 0.
    pub(super) fn sequence_for(&self, number: u32) -> u32 {
        if self.backup { 0 } else { number }
    }

    pub(super) fn enter(&mut self, state: SessionState, listener: &mut impl Listener) {
        self.state = state;
        listener.on_session(self.id, self.account, state);
    }

    /// Returns `true` if input is still handled.
    pub(super) fn accepts_input(&self) -> bool {
        self.state != SessionState::Closed && !self.closing
    }

    /// Returns `true` if business messages can be sent to the client.
    pub(super) fn is_established(&self) -> bool {
        self.state == SessionState::Established && !self.closing
    }

    /// Appends a message to the send buffer. If it does not fit, the client has not read for very
    /// long; the connection closes and the result is `false`.
    pub(super) fn send(
        &mut self,
        now: Now,
        encode: impl FnOnce(&mut [u8]) -> Result<usize, hairpin_sbe::EncodeError>,
    ) -> bool {
        self.last_sent = now.monotonic;
        let checked = |buffer: &mut [u8]| {
            let length = encode(buffer)?;
            debug_assert_defined(&buffer[..length]);
            Ok(length)
        };
        let is_appended = self.outbound.append(checked).is_ok();
        if !is_appended {
            self.close_slow_reader();
        }
        is_appended
    }

    /// Returns the time of the session's next action.
    pub(super) fn timeout(&self) -> Instant {
        if self.sendable_length < self.outbound.bytes().len() {
            return self
                .hold
                .map_or(Instant::ZERO, |hold| hold.until())
                .min(self.protocol_deadline());
        }
        self.protocol_deadline()
    }

    fn protocol_deadline(&self) -> Instant {
        if self.closing || self.state != SessionState::Established {
            return self.deadline;
        }
        let lapses = match self.lapse_sent {
            None => self.last_received + self.keep_alive,
            Some(lapse_sent) => lapse_sent + self.keep_alive,
        };
        lapses.min(self.last_sent + self.keep_alive)
    }

    /// Performs the due actions: logon timeout, keep-alive, lapse.
    pub(super) fn handle_timeout(
        &mut self,
        now: Now,
        accounts: &[Account],
        counters: &mut GatewayCounters,
        listener: &mut impl Listener,
    ) {
        let monotonic = now.monotonic;
        match self.state {
            SessionState::Closed => {}
            _ if self.closing => {
                if monotonic >= self.deadline {
                    // The client does not read; the rest cannot be sent.
                    self.outbound.clear();
                }
            }
            SessionState::Connected | SessionState::Negotiated => {
                if monotonic >= self.deadline {
                    counters.logon_timeouts += 1;
                    self.fail(now, TerminateCode::EstablishmentTimeout, counters, listener);
                }
            }
            SessionState::Established => self.keep_alive(now, accounts, counters, listener),
            SessionState::Terminating => {
                if monotonic >= self.deadline {
                    self.close(now);
                }
            }
        }
    }

    fn keep_alive(
        &mut self,
        now: Now,
        accounts: &[Account],
        counters: &mut GatewayCounters,
        listener: &mut impl Listener,
    ) {
        let next_number = |account: usize| accounts[account].next_to_send(self.pending_reports);
        let next = self.sequence_for(self.account.map_or(0, next_number));
        match self.lapse_sent {
            Some(lapse_sent) if now.monotonic >= lapse_sent + self.keep_alive => {
                self.fail(now, TerminateCode::KeepAliveIntervalLapsed, counters, listener);
                return;
            }
            None if now.monotonic >= self.last_received + self.keep_alive => {
                counters.lapses += 1;
                self.lapse_sent = Some(now.monotonic);
                self.send_sequence(now, next, KeepAliveLapsed::LAPSED);
            }
            _ => {}
        }
        if now.monotonic >= self.last_sent + self.keep_alive {
            self.send_sequence(now, next, KeepAliveLapsed::NOT_LAPSED);
        }
    }

    /// Ends the session for an error. The connection closes once the Terminate is sent; the client
    /// need not answer. After an earlier Terminate nothing more is sent.
    pub(super) fn fail(
        &mut self,
        now: Now,
        code: TerminateCode,
        counters: &mut GatewayCounters,
        listener: &mut impl Listener,
    ) {
        if self.state == SessionState::Terminating {
            return self.close(now);
        }
        counters.terminates += 1;
        self.send_terminate(now, now.utc.as_nanos(), code);
        self.enter(SessionState::Terminating, listener);
        self.close(now);
    }

    /// Closes the connection when all bytes are sent, at the latest after a keep-alive interval.
    pub(super) fn close(&mut self, now: Now) {
        self.closing = true;
        self.deadline = now.monotonic + self.keep_alive;
    }

    /// Sends a Terminate. Nothing follows it; pending reports stay in the retransmit buffer.
    pub(super) fn send_terminate(&mut self, now: Now, timestamp: u64, code: TerminateCode) {
        self.pending_reports = 0;
        let (uuid, split) = (self.uuid, self.split);
        self.send(now, |buffer| {
            Terminate507::encode(buffer)?
                .set_split_msg(split)
                .set_reason(code.text())
                .set_uuid(uuid)
                .set_request_timestamp(timestamp)
                .set_error_codes(code.code());
            Ok(Terminate507::ENCODED_LENGTH)
        });
    }

    pub(super) fn send_sequence(&mut self, now: Now, next: u32, lapsed: KeepAliveLapsed) {
        let (uuid, indicator) = (self.uuid, self.indicator());
        self.send(now, |buffer| {
            Sequence506::encode(buffer)?
                .set_uuid(uuid)
                .set_next_seq_no(next)
                .set_fault_tolerance_indicator(indicator)
                .set_keep_alive_interval_lapsed(lapsed);
            Ok(Sequence506::ENCODED_LENGTH)
        });
    }

    pub(super) fn send_negotiation_response(
        &mut self,
        now: Now,
        timestamp: u64,
        account: &Account,
    ) {
        let (indicator, split) = (self.indicator(), self.split);
        self.send(now, |buffer| {
            NegotiationResponse501::encode(buffer)?
                .set_uuid(account.uuid)
                .set_request_timestamp(timestamp)
                .set_fault_tolerance_indicator(indicator)
                .set_split_msg(split)
                .set_previous_seq_no(account.previous.sequence)
                .set_previous_uuid(account.previous.uuid);
            Ok(NegotiationResponse501::ENCODED_LENGTH)
        });
    }

    pub(super) fn send_negotiation_reject(
        &mut self,
        now: Now,
        (uuid, timestamp): (u64, u64),
        why: LogonReject,
    ) {
        let (indicator, split) = (self.indicator(), self.split);
        self.send(now, |buffer| {
            NegotiationReject502::encode(buffer)?
                .set_reason(why.text())
                .set_uuid(uuid)
                .set_request_timestamp(timestamp)
                .set_error_codes(why.code())
                .set_fault_tolerance_indicator(indicator)
                .set_split_msg(split);
            Ok(NegotiationReject502::ENCODED_LENGTH)
        });
    }

    pub(super) fn send_establishment_ack(
        &mut self,
        now: Now,
        timestamp: u64,
        keep_alive_interval: u16,
        account: &Account,
    ) {
        let (indicator, split) = (self.indicator(), self.split);
        let next = self.sequence_for(account.next_outbound);
        self.send(now, |buffer| {
            EstablishmentAck504::encode(buffer)?
                .set_uuid(account.uuid)
                .set_request_timestamp(timestamp)
                .set_next_seq_no(next)
                .set_previous_seq_no(account.previous.sequence)
                .set_previous_uuid(account.previous.uuid)
                .set_keep_alive_interval(keep_alive_interval)
                .set_fault_tolerance_indicator(indicator)
                .set_split_msg(split);
            Ok(EstablishmentAck504::ENCODED_LENGTH)
        });
    }

    pub(super) fn send_establishment_reject(
        &mut self,
        now: Now,
        (uuid, timestamp): (u64, u64),
        next_inbound: u32,
        why: LogonReject,
    ) {
        let (indicator, split) = (self.indicator(), self.split);
        self.send(now, |buffer| {
            EstablishmentReject505::encode(buffer)?
                .set_reason(why.text())
                .set_uuid(uuid)
                .set_request_timestamp(timestamp)
                .set_next_seq_no(next_inbound)
                .set_error_codes(why.code())
                .set_fault_tolerance_indicator(indicator)
                .set_split_msg(split);
            Ok(EstablishmentReject505::ENCODED_LENGTH)
        });
    }

    pub(super) fn send_not_applied(&mut self, now: Now, from: u32, count: u32) {
        let (uuid, split) = (self.uuid, self.split);
        self.send(now, |buffer| {
            NotApplied513::encode(buffer)?
                .set_split_msg(split)
                .set_uuid(uuid)
                .set_from_seq_no(from)
                .set_msg_count(count);
            Ok(NotApplied513::ENCODED_LENGTH)
        });
    }

    pub(super) fn send_retransmission(
        &mut self,
        now: Now,
        (timestamp, last_uuid): (u64, Option<u64>),
        from: u32,
        count: u16,
    ) {
        let (uuid, split) = (self.uuid, self.split);
        self.send(now, |buffer| {
            Retransmission509::encode(buffer)?
                .set_split_msg(split)
                .set_uuid(uuid)
                .set_last_uuid(last_uuid)
                .set_request_timestamp(timestamp)
                .set_from_seq_no(from)
                .set_msg_count(count);
            Ok(Retransmission509::ENCODED_LENGTH)
        });
    }

    pub(super) fn send_retransmit_reject(
        &mut self,
        now: Now,
        timestamp: u64,
        last_uuid: Option<u64>,
        why: RetransmitReason,
    ) {
        let (uuid, split) = (self.uuid, self.split);
        self.send(now, |buffer| {
            RetransmitReject510::encode(buffer)?
                .set_split_msg(split)
                .set_reason(why.text())
                .set_uuid(uuid)
                .set_last_uuid(last_uuid)
                .set_request_timestamp(timestamp)
                .set_error_codes(why.code());
            Ok(RetransmitReject510::ENCODED_LENGTH)
        });
    }
}
