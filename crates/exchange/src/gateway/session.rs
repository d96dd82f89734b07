//! One connection: its state, its times, its bytes; and the session messages it sends.

use hairpin_cme_codecs::ilink3::{
    EstablishmentAck504, EstablishmentReject505, FTI, KeepAliveLapsed, NegotiationReject502,
    NegotiationResponse501, NotApplied513, Retransmission509, RetransmitReject510, Sequence506,
    SplitMsg, Terminate507,
};
use hairpin_time::{Duration, Instant, Now};

use super::account::Account;
use super::definition::Definition;
use super::faults::Hold;
use super::frame::Outbound;
use super::kept::Replay;
use super::parties::OnDemand;
use super::ports::BadLogons;
use super::reason::{LogonReject, RetransmitReason, TerminateCode};
use super::status::MassStatus;
use super::{ConnectionId, Designation, GatewayCounters, SessionState};
use crate::Listener;

/// How long a client may take to log on: CME's limit between Negotiate and Establish, applied
/// to the time before Negotiate as well.
pub(super) const LOGON_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: ConnectionId,
    pub(super) state: SessionState,
    /// The account that is logged on here; from the NegotiationResponse or EstablishmentAck on.
    pub(super) account: Option<usize>,
    pub(super) uuid: u64,
    pub(super) keep_alive: Duration,
    /// When bytes last came and went.
    pub(super) heard: Instant,
    pub(super) sent: Instant,
    /// The client has been told that it was silent for an interval, at this time.
    pub(super) warned: Option<Instant>,
    /// When a logon, or a closing, has taken too long.
    pub(super) deadline: Instant,
    /// The highest number that a NotApplied has covered.
    pub(super) not_applied: u32,
    /// What is being sent again.
    pub(super) replay: Option<Replay>,
    pub(super) outbound: Outbound,
    /// The connection ends when all bytes have left.
    pub(super) is_closing: bool,
    /// Which of the two gateways it came to.
    pub(super) at: Designation,
    /// That one is the backup now.
    pub(super) is_backup: bool,
    /// It was made the primary, and its client may not know it: a Sequence may have the number 0.
    pub(super) was_promoted: bool,
    /// It ends by a handshake that was not about an error.
    pub(super) is_graceful: bool,
    /// How the message that is being answered was split, as the safeguard sees it.
    pub(super) split: Option<SplitMsg>,
    /// Messages that came behind a split one in the same chunk.
    pub(super) behind_split: Option<u32>,
    /// The next message came in segments out of order.
    pub(super) is_out_of_order: bool,
    /// What has come of party details on demand.
    pub(super) on_demand: OnDemand,
    /// These, while they wait.
    pub(super) definition: Definition,
    /// Bad logons that named nobody.
    pub(super) bad_logons: BadLogons,
    /// Orders whose status is being told.
    pub(super) mass_status: Option<MassStatus>,
    /// The latest so many reports wait for room in `outbound`.
    pub(super) behind: u32,
    /// Bytes that may leave; all unless faults are made.
    pub(super) allowed: usize,
    /// What faults keep from leaving.
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
            heard: Instant::ZERO,
            sent: Instant::ZERO,
            warned: None,
            deadline: Instant::MAX,
            not_applied: 0,
            replay: None,
            outbound: Outbound::new(),
            is_closing: false,
            at: Designation::Primary,
            is_backup: false,
            was_promoted: false,
            is_graceful: false,
            split: None,
            behind_split: None,
            is_out_of_order: false,
            on_demand: OnDemand::Nothing,
            definition: Definition::empty(0),
            bad_logons: BadLogons::default(),
            mass_status: None,
            behind: 0,
            allowed: usize::MAX,
            hold: None,
        }
    }

    /// A connection has been accepted.
    pub(super) fn open(&mut self, now: Now) {
        self.state = SessionState::Connected;
        self.account = None;
        self.uuid = 0;
        self.keep_alive = LOGON_TIMEOUT;
        self.heard = now.monotonic;
        self.sent = now.monotonic;
        self.warned = None;
        self.deadline = now.monotonic + LOGON_TIMEOUT;
        self.not_applied = 0;
        self.replay = None;
        self.outbound.clear();
        self.is_closing = false;
        self.was_promoted = false;
        self.is_graceful = false;
        self.split = None;
        self.behind_split = None;
        self.is_out_of_order = false;
        self.on_demand = OnDemand::Nothing;
        self.bad_logons = BadLogons::default();
        self.mass_status = None;
        self.behind = 0;
        self.allowed = usize::MAX;
        self.hold = None;
    }

    /// The bytes that may leave now.
    pub(super) fn sendable(&self) -> &[u8] {
        let bytes = self.outbound.bytes();
        &bytes[..bytes.len().min(self.allowed)]
    }

    /// `count` bytes have left.
    pub(super) fn consume(&mut self, count: usize) {
        self.outbound.consume(count);
        if self.allowed != usize::MAX {
            self.allowed = self.allowed.saturating_sub(count);
        }
    }

    /// Notes how the next message came; how many have waited behind a split one.
    pub(super) fn note_frame(&mut self, is_split: bool) -> u32 {
        let is_late = core::mem::take(&mut self.is_out_of_order);
        (self.behind_split, self.split) = match self.behind_split {
            _ if is_late => (Some(0), Some(SplitMsg::OUTOF_ORDER_MESSAGE_DELAYED)),
            _ if is_split => (Some(0), Some(SplitMsg::SPLIT_MESSAGE_DELAYED)),
            Some(behind) => (Some(behind + 1), Some(SplitMsg::COMPLETE_MESSAGE_DELAYED)),
            None => (None, None),
        };
        self.behind_split.unwrap_or(0)
    }

    /// FTI (tag 39010).
    fn indicator(&self) -> FTI {
        if self.is_backup { FTI::BACKUP } else { FTI::PRIMARY }
    }

    /// A number as this connection names it: on the backup every number is 0.
    pub(super) fn next_of(&self, number: u32) -> u32 {
        if self.is_backup { 0 } else { number }
    }

    pub(super) fn enter(&mut self, state: SessionState, listener: &mut impl Listener) {
        self.state = state;
        listener.on_session(self.id, self.account, state);
    }

    /// Whether frames are still looked at.
    pub(super) fn listens(&self) -> bool {
        self.state != SessionState::Closed && !self.is_closing
    }

    /// Whether bytes can be sent to a client that is logged on.
    pub(super) fn is_established(&self) -> bool {
        self.state == SessionState::Established && !self.is_closing
    }

    /// Appends a message that this connection's buffer has room for; without room the client has
    /// not read for very long, the connection ends, and this is `false`.
    pub(super) fn send(
        &mut self,
        now: Now,
        encode: impl FnOnce(&mut [u8]) -> Result<usize, hairpin_sbe::EncodeError>,
    ) -> bool {
        self.sent = now.monotonic;
        let is_sent = self.outbound.append(encode).is_ok();
        if !is_sent {
            self.give_up();
        }
        is_sent
    }

    /// When this session has something to do next.
    pub(super) fn timeout(&self) -> Instant {
        if self.allowed < self.outbound.bytes().len() {
            return self.hold.map_or(Instant::ZERO, |hold| hold.until()).min(self.due());
        }
        self.due()
    }

    fn due(&self) -> Instant {
        if self.is_closing || self.state != SessionState::Established {
            return self.deadline;
        }
        let lapses = match self.warned {
            None => self.heard + self.keep_alive,
            Some(warned) => warned + self.keep_alive,
        };
        lapses.min(self.sent + self.keep_alive)
    }

    /// What is due: a logon that took too long, a keep-alive, a lapse.
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
            _ if self.is_closing => {
                if monotonic >= self.deadline {
                    // The client reads nothing: what is left will never leave.
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
        let told = |account: usize| accounts[account].next_told(self.behind);
        let next = self.next_of(self.account.map_or(0, told));
        match self.warned {
            Some(warned) if now.monotonic >= warned + self.keep_alive => {
                self.fail(now, TerminateCode::KeepAliveIntervalLapsed, counters, listener);
                return;
            }
            None if now.monotonic >= self.heard + self.keep_alive => {
                counters.lapses += 1;
                self.warned = Some(now.monotonic);
                self.send_sequence(now, next, KeepAliveLapsed::LAPSED);
            }
            _ => {}
        }
        if now.monotonic >= self.sent + self.keep_alive {
            self.send_sequence(now, next, KeepAliveLapsed::NOT_LAPSED);
        }
    }

    /// Ends the session for an error: the client need not answer, the connection ends when the
    /// Terminate has left. Nothing follows a Terminate that was sent before.
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

    /// Ends the connection when all bytes have left, or after an interval.
    pub(super) fn close(&mut self, now: Now) {
        self.is_closing = true;
        self.deadline = now.monotonic + self.keep_alive;
    }

    /// Nothing follows it: what waits is kept, and can be asked for.
    pub(super) fn send_terminate(&mut self, now: Now, timestamp: u64, code: TerminateCode) {
        self.behind = 0;
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

    pub(super) fn send_negotiation_response(&mut self, now: Now, timestamp: u64, of: &Account) {
        let (indicator, split) = (self.indicator(), self.split);
        self.send(now, |buffer| {
            NegotiationResponse501::encode(buffer)?
                .set_uuid(of.uuid)
                .set_request_timestamp(timestamp)
                .set_fault_tolerance_indicator(indicator)
                .set_split_msg(split)
                .set_previous_seq_no(of.previous.sequence)
                .set_previous_uuid(of.previous.uuid);
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
        of: &Account,
    ) {
        let (indicator, split) = (self.indicator(), self.split);
        let next = self.next_of(of.next_outbound);
        self.send(now, |buffer| {
            EstablishmentAck504::encode(buffer)?
                .set_uuid(of.uuid)
                .set_request_timestamp(timestamp)
                .set_next_seq_no(next)
                .set_previous_seq_no(of.previous.sequence)
                .set_previous_uuid(of.previous.uuid)
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
