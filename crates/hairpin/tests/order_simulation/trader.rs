//! The trader: its requests, and its responses to received messages.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use hairpin_netsim::{Census, Random, trace};
use hairpin_order_entry::{
    BackupNotice, ClOrdId, Decimal, Error, Established, Failover, Gap, Listener, Message, NewOrder,
    NotApplied, NotAppliedAnswer, Orders, RejectCode, Rejected, SendError, Sender, Sent, SideReq,
    State, Takeover, TerminateCode, Terminated, TrackOrders, Warning,
};

use crate::crash_point::CrashPoint;
use crate::message_log::MessageLog;
use crate::plan::{GatewayFault, NotAppliedPolicy, SessionOwner};
use crate::request::{FIRST, LOW, Request, Status};

/// The capacity of the order tracker.
pub(crate) const CAPACITY: usize = 2_000;

/// The trader's part of the plan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TraderPolicy {
    pub(crate) not_applied_policy: NotAppliedPolicy,
    pub(crate) gateway_fault: GatewayFault,
    pub(crate) session_owner: SessionOwner,
    pub(crate) has_backup: bool,
}

/// The state of the trader's session with respect to a failover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailoverState {
    /// The last logon was at this gateway, or the session is not established yet.
    LoggedOn,
    /// The primary has failed, and the session waits for the backup to take over.
    AwaitsFailover,
    /// The backup has taken over, and no message has arrived since.
    FailedOver,
}

/// The state of one process of the trader, and the state shared with later processes.
pub(crate) struct Trader {
    pub(crate) orders: Orders,
    pub(crate) random: Random,
    pub(crate) census: Census,
    pub(crate) message_log: Rc<RefCell<MessageLog>>,
    crash_point: Rc<CrashPoint>,
    /// The next ClOrdID, which is unique across processes.
    id: Rc<Cell<u64>>,
    policy: TraderPolicy,
    /// The session is established.
    is_established: bool,
    /// The trader also sends in callbacks.
    pub(crate) is_busy: bool,
    /// The session cannot be resumed.
    pub(crate) is_unresumable: bool,
    pub(crate) answered: u64,
    pub(crate) failover_state: FailoverState,
}

impl Trader {
    pub(crate) fn new(
        orders: Orders,
        random: Random,
        message_log: Rc<RefCell<MessageLog>>,
        crash_point: Rc<CrashPoint>,
        id: Rc<Cell<u64>>,
        policy: TraderPolicy,
    ) -> Self {
        Self {
            orders,
            random,
            census: Census::new(),
            message_log,
            crash_point,
            id,
            policy,
            is_established: false,
            is_busy: true,
            is_unresumable: false,
            answered: 0,
            failover_state: FailoverState::LoggedOn,
        }
    }

    fn next_id(&self) -> u64 {
        self.id.set(self.id.get() + 1);
        self.id.get()
    }

    fn count_send(&mut self, sender: &Sender<'_>, sent: Result<Sent, SendError>) {
        trace!(sender.now(), "trader: sends {sent:?}");
        match sent {
            Ok(_) => self.census.count("messages sent"),
            Err(_) => self.census.count("sends refused"),
        }
    }

    /// Sends a random request.
    pub(crate) fn act(&mut self, sender: &mut Sender<'_>) {
        if sender.state() != State::Established {
            return;
        }
        let id = self.next_id();
        let Some(request) = Request::draw(&mut self.random, &self.orders, id) else { return };
        let sent = request.send(&mut self.orders, sender);
        self.count_send(sender, sent);
    }

    /// Sends an order that does not trade. Its report settles the state of all messages before it.
    pub(crate) fn probe(&mut self, sender: &mut Sender<'_>) -> ClOrdId {
        let id = self.next_id().into();
        let order = NewOrder::limit(FIRST, SideReq::BUY, Decimal(LOW), 1, id);
        let sent = self.orders.send(sender, &order);
        self.count_send(sender, sent);
        id
    }

    /// Sends a large order far from the market.
    pub(crate) fn send_large_order(&mut self, sender: &mut Sender<'_>) -> bool {
        let id = self.next_id().into();
        let order = NewOrder::limit(FIRST, SideReq::BUY, Decimal(LOW), 9_999, id);
        self.orders.send(sender, &order.good_till_cancel()).is_ok()
    }
}

impl TrackOrders for Trader {
    fn orders(&mut self) -> &mut Orders {
        &mut self.orders
    }
}

impl Listener for Trader {
    fn on_state(&mut self, sender: &mut Sender<'_>, state: State) {
        trace!(sender.now(), "trader: {state}");
        self.is_established &= state != State::Disconnected;
        self.message_log.borrow_mut().change_state(state);
    }

    fn on_established(&mut self, sender: &mut Sender<'_>, established: &Established) {
        trace!(sender.now(), "trader: {established:?}");
        let mut message_log = self.message_log.borrow_mut();
        let may_begin = self.policy.session_owner == SessionOwner::Trader;
        message_log.log_on(established.uuid, sender.progress().next_outgoing, may_begin);
        drop(message_log);
        self.is_established = true;
        self.failover_state = FailoverState::LoggedOn;
        self.crash_point.step("killed when established");
        if self.is_busy && self.random.below(3) == 0 {
            self.act(sender);
        }
    }

    fn on_failover(&mut self, sender: &mut Sender<'_>, failover: Failover) {
        trace!(sender.now(), "trader: {failover:?}");
        // The session accepts no message before the takeover.
        let sent = sender.send(&Status(77));
        assert_eq!(sent, Err(SendError::Backup));
        self.crash_point.step("killed in the callback of a failover");
    }

    fn on_takeover(&mut self, sender: &mut Sender<'_>, active: Takeover) {
        trace!(sender.now(), "trader: {active:?}");
        assert_eq!(active.next_outgoing, sender.progress().next_outgoing);
        self.message_log.borrow_mut().fail_over();
        self.census.count("failovers");
        self.census.add("failovers with messages of unknown state", active.in_doubt.into());
        self.crash_point.step("killed when active on the backup");
        self.failover_state = FailoverState::FailedOver;
        if self.is_busy && self.random.below(2) == 0 {
            self.act(sender);
        }
    }

    fn on_backup(&mut self, notice: &BackupNotice<'_>) {
        if trace::is_on() {
            println!("                trader: backup: {notice:?}");
        }
        self.census.count(match notice {
            BackupNotice::State(State::Established) => "periods with a connected backup",
            BackupNotice::State(_) => return,
            BackupNotice::Rejected(rejected) => match rejected.code {
                RejectCode::INVALID_TIMESTAMP => "backup: logons refused as too old",
                RejectCode::DESIGNATED_BACKUP => "backup: logons refused because of no primary",
                code => panic!("the backup refused a logon: {code}"),
            },
            BackupNotice::Terminated(terminated) if terminated.solicited => {
                "backup: terminates answered"
            }
            BackupNotice::Terminated(terminated) => match terminated.code {
                TerminateCode::FINISHED => "backup: terminates by the exchange",
                TerminateCode::KEEP_ALIVE_INTERVAL_LAPSED => {
                    "backup: keep-alives lapsed at the exchange"
                }
                TerminateCode::PRIMARY_DISCONNECTED => "backup: ended with the primary",
                // The backup has become the primary.
                TerminateCode::INVALID_NEXT_SEQ_NO => "backup: became the primary",
                // A new week has begun.
                TerminateCode::UNNEGOTIATED => "backup: unknown UUIDs",
                TerminateCode::ALREADY_ESTABLISHED => "backup: duplicate requests",
                code => panic!("the backup terminated the session: {code}"),
            },
            BackupNotice::Error(Error::ConnectionLost(State::Connecting)) => {
                "backup: failed connection attempts"
            }
            BackupNotice::Error(Error::ConnectionLost(_)) => "backup: connections lost",
            BackupNotice::Error(Error::KeepAliveLapsed) => {
                "backup: keep-alives lapsed at the trader"
            }
            BackupNotice::Error(Error::ResponseTimeout(_)) => "backup: logons not answered",
            BackupNotice::Error(Error::TerminateTimeout) => "backup: terminates not answered",
            // The message was delayed until the session had been resumed on the other gateway.
            BackupNotice::Error(Error::NextSeqNo { .. } | Error::Uuid { .. }) => {
                "backup: outdated failover messages"
            }
            BackupNotice::Warning(Warning::Silence) => "backup: silences of the exchange",
            BackupNotice::Warning(Warning::SequenceRequested) => "backup: silences of the trader",
            BackupNotice::Warning(Warning::LogonRepeated(_)) => "backup: logons repeated",
            notice => panic!("unexpected backup notice: {notice:?}"),
        });
    }

    fn on_message(&mut self, sender: &mut Sender<'_>, message: &Message<'_>) {
        let Message { uuid, seq_num, redelivered, possible_retransmission, .. } = *message;
        let template = message.header.template_id;
        trace!(
            sender.now(),
            "trader: receives {template}, {seq_num} of {uuid}{}{}",
            if redelivered { ", again" } else { "" },
            if possible_retransmission { ", retransmitted" } else { "" }
        );
        self.message_log.borrow_mut().take(message);
        self.answered += 1;
        self.crash_point.step("killed in a callback");
        if self.is_busy && self.random.below(4) == 0 {
            self.act(sender);
        }
        self.crash_point.step("killed at the end of a callback");
    }

    fn answer_not_applied(&mut self, _: NotApplied, passed: NotAppliedAnswer) -> NotAppliedAnswer {
        match self.policy.not_applied_policy {
            NotAppliedPolicy::Mixed if self.random.below(2) == 0 => NotAppliedAnswer::FillGap,
            _ => passed,
        }
    }

    fn on_not_applied(&mut self, sender: &mut Sender<'_>, not_applied: NotApplied) {
        trace!(sender.now(), "trader: receives {not_applied:?}");
        let progress = sender.progress();
        let committed = progress.next_outgoing - 1;
        self.message_log.borrow_mut().record_not_applied(progress.uuid, not_applied, committed);
        if std::mem::replace(&mut self.failover_state, FailoverState::LoggedOn)
            == FailoverState::FailedOver
        {
            self.census.count("failovers with lost messages of the trader");
        }
        self.crash_point.step("killed in the callback of a NotApplied");
    }

    fn on_gap(&mut self, sender: &mut Sender<'_>, gap: Gap) {
        trace!(sender.now(), "trader: {gap:?}");
        self.census.count(match gap.uuid {
            0 => "gaps under UUID 0",
            uuid if uuid == sender.progress().uuid => "gaps",
            _ => "gaps under a previous UUID",
        });
        if self.failover_state == FailoverState::FailedOver {
            self.census.count("failovers with lost messages of the exchange");
        }
        let count = gap.to - gap.from + 1;
        self.census.add("gaps of several batches", u64::from(count > 2_500));
    }

    fn on_lost(&mut self, sender: &mut Sender<'_>, gap: Gap) {
        trace!(sender.now(), "trader: lost {gap:?}");
        self.message_log.borrow_mut().record_lost(gap);
    }

    fn on_reject(&mut self, sender: &mut Sender<'_>, rejected: &Rejected<'_>) {
        trace!(sender.now(), "trader: {rejected:?}");
        self.census.count(match rejected.code {
            // The request was delayed for long, or the trader has lost recent journal records.
            RejectCode::INVALID_TIMESTAMP => "logons refused as too old",
            RejectCode::DESIGNATED_BACKUP | RejectCode::NEGOTIATE_NOT_ALLOWED
                if self.policy.has_backup =>
            {
                "logons refused by the backup"
            }
            code => panic!("the gateway refused a logon: {code}"),
        });
    }

    fn on_terminate(&mut self, sender: &mut Sender<'_>, terminated: &Terminated<'_>) {
        trace!(sender.now(), "trader: {terminated:?}");
        if terminated.solicited {
            return self.census.count("terminates answered");
        }
        let may_reuse_numbers =
            self.message_log.borrow_mut().may_reuse_numbers(sender.progress().uuid);
        let code = terminated.code;
        self.census.count(match code {
            TerminateCode::FINISHED => "terminates by the exchange",
            TerminateCode::KEEP_ALIVE_INTERVAL_LAPSED => "keep-alives lapsed at the exchange",
            TerminateCode::OTHER => "connections replaced by another logon",
            // A Negotiate was journaled and not received, or a new week has invalidated it.
            TerminateCode::INVALID_UUID | TerminateCode::UNNEGOTIATED => "unknown UUIDs",
            // The first of two requests was delayed.
            TerminateCode::ALREADY_NEGOTIATED | TerminateCode::ALREADY_ESTABLISHED => {
                "duplicate requests"
            }
            TerminateCode::INVALID_NEXT_SEQ_NO if may_reuse_numbers => "numbers lost with power",
            // The session is still established on the primary.
            TerminateCode::INVALID_NEXT_SEQ_NO
                if self.policy.has_backup && !self.is_established =>
            {
                "numbers refused by the backup"
            }
            _ => panic!("the exchange terminated the session: {code}"),
        });
        let is_unknown = [TerminateCode::INVALID_UUID, TerminateCode::UNNEGOTIATED].contains(&code);
        self.message_log.borrow_mut().may_begin |= is_unknown;
        self.is_unresumable |= is_unknown || code == TerminateCode::INVALID_NEXT_SEQ_NO;
    }

    fn on_error(&mut self, sender: &mut Sender<'_>, error: &Error) {
        trace!(sender.now(), "trader: {error}");
        // A doubled number ends a session that could have been resumed.
        self.message_log.borrow_mut().may_begin |= matches!(error, Error::SeqNum { .. });
        self.census.count(match error {
            Error::ConnectionLost(State::Connecting) => "failed connection attempts",
            Error::ConnectionLost(_) => "connections lost",
            Error::KeepAliveLapsed => "keep-alives lapsed at the trader",
            Error::ResponseTimeout(_) => "logons not answered",
            Error::TerminateTimeout => "terminates not answered",
            Error::Retransmission(_) => "retransmissions given up",
            Error::SeqNum { .. } if self.policy.gateway_fault.doubles() => {
                "doubled messages detected"
            }
            _ => panic!("{error}"),
        });
    }

    fn on_warning(&mut self, sender: &mut Sender<'_>, warning: &Warning) {
        trace!(sender.now(), "trader: {warning}");
        self.census.count(match warning {
            Warning::Silence => "silences of the exchange",
            Warning::SequenceRequested => "silences of the trader",
            Warning::LogonRepeated(_) => "logons repeated",
            Warning::Retransmitted { .. } => "retransmissions dropped",
            Warning::UnknownEnd { .. } => "terminates with an unknown cause",
            Warning::HeldOverflow { .. } => "hold buffers overflowed",
            Warning::RetransmissionGap { .. } => "gaps within a retransmission",
            Warning::NotReplayed { .. } => "NotApplied not replayed",
            Warning::RetransmissionStalled(_) => "retransmissions stalled",
            Warning::Unrequested(_) => "unsolicited responses",
            Warning::InDoubt { .. } => "unknown messages settled by a logon",
            _ => panic!("{warning}"),
        });
    }
}
