//! What a session tells.

use hairpin_cme_codecs::ilink3::{
    BusinessReject521, ExecutionReportCancel534, ExecutionReportElimination524,
    ExecutionReportModify531, ExecutionReportNew522, ExecutionReportPendingCancel564,
    ExecutionReportPendingReplace565, ExecutionReportReject523, ExecutionReportStatus532,
    ExecutionReportTradeAddendumOutright548, ExecutionReportTradeAddendumSpread549,
    ExecutionReportTradeAddendumSpreadLeg550, ExecutionReportTradeOutright525,
    ExecutionReportTradeSpread526, ExecutionReportTradeSpreadLeg527, FTI, MassQuoteAck545,
    MassQuoteResponse571, OrderCancelReject535, OrderCancelReplaceReject536,
    OrderMassActionReport562, PartyDetailsDefinitionRequestAck519, PartyDetailsListReport538,
    QuoteCancelAck563, RequestForQuoteAck546, SecurityDefinitionResponse561,
};
use hairpin_sbe::{CharArray, MessageHeader};
use hairpin_time::Duration;

use crate::{
    Error, NotAppliedAnswer, RejectCode, RetransmitRejectCode, Sender, State, TerminateCode,
    Warning,
};

/// A business message of the exchange, whatever its kind, as it came.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    /// Its SBE header.
    pub header: MessageHeader,
    /// What follows the header: root block, groups and data. Its structure has been checked.
    pub body: &'a [u8],
    /// SeqNum (9726).
    pub seq_num: u32,
    /// UUID (39001) it was published under.
    pub uuid: u64,
    /// PossRetransFlag (9765): the exchange may have sent it before.
    pub possible_retransmission: bool,
    /// It came to an earlier process, which died before its callback had returned: see
    /// [`Session::redeliver`](crate::Session::redeliver).
    pub redelivered: bool,
}

/// The session is established: what EstablishmentAck504 says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Established {
    /// UUID of the session.
    pub uuid: u64,
    /// NextSeqNo: number of the exchange's next business message.
    pub next_seq_no: u32,
    /// PreviousSeqNo: number of the last business message it published.
    pub previous_seq_no: u32,
    /// PreviousUUID: the UUID it was published under; 0 before the first logon of the week.
    pub previous_uuid: u64,
    /// SecretKeySecureIDExpiration. CME's schema calls it days until the key expires, its web
    /// page days since the epoch.
    pub secret_key_expiration: Option<u16>,
    /// FaultToleranceIndicator: primary or backup.
    pub fault_tolerance: Option<FTI>,
    /// EnvironmentIndicator, since version 9.
    pub environment: Option<u8>,
}

/// A logon was refused: what NegotiationReject502 or EstablishmentReject505 says.
#[derive(Debug, Clone, Copy)]
pub struct Rejected<'a> {
    /// The state it was refused in: negotiating or establishing.
    pub state: State,
    /// ErrorCodes.
    pub code: RejectCode,
    /// Reason, in the exchange's words; may be empty.
    pub reason: CharArray<'a>,
    /// NextSeqNo the exchange expects; only when establishing.
    pub next_seq_no: Option<u32>,
    /// FaultToleranceIndicator: primary or backup.
    pub fault_tolerance: Option<FTI>,
}

/// The exchange has terminated, or has answered our Terminate: what Terminate507 says.
#[derive(Debug, Clone, Copy)]
pub struct Terminated<'a> {
    /// ErrorCodes.
    pub code: TerminateCode,
    /// Reason, in the exchange's words; may be empty.
    pub reason: CharArray<'a>,
    /// Whether it answers a Terminate of ours.
    pub answer: bool,
}

/// Business messages of the exchange that did not arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// UUID they were published under. 0: before the first logon of the week.
    pub uuid: u64,
    /// SeqNum of the first.
    pub from: u32,
    /// SeqNum of the last.
    pub to: u32,
}

/// The exchange has made the backup the primary: what its Sequence506 says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failover {
    /// UUID of the session.
    pub uuid: u64,
    /// NextSeqNo: number of the exchange's next business message, on this connection now.
    pub next_seq_no: u32,
}

/// A session that was the backup is the primary now: messages flow again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Active {
    /// UUID of the session, as before.
    pub uuid: u64,
    /// Number of our next message: it goes on where the primary was.
    pub next_outgoing: u32,
    /// How long nothing could be sent: since the primary's connection had ended, or since the
    /// exchange made this one the primary if that came first.
    pub down_for: Duration,
    /// Messages may have been sent that the primary did not take before it failed. The next message
    /// shows it: if any are missing, the exchange answers it with a NotApplied. If none is sent in
    /// time, the session logs on again: see [`Warning::InDoubt`](crate::Warning::InDoubt).
    pub in_doubt: bool,
}

/// What becomes of the connection that stands by as the backup.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum BackupNotice<'a> {
    /// It is in this state now.
    State(State),
    /// Its logon was refused; it closes.
    Rejected(&'a Rejected<'a>),
    /// The exchange has ended it, or answered our Terminate.
    Terminated(&'a Terminated<'a>),
    /// A fault that ends it.
    Error(&'a Error),
    /// Something odd.
    Warning(&'a Warning),
}

/// The exchange does not send messages again: what RetransmitReject510 says.
#[derive(Debug, Clone, Copy)]
pub struct RetransmitRejected<'a> {
    /// ErrorCodes.
    pub code: RetransmitRejectCode,
    /// Reason, in the exchange's words; may be empty.
    pub reason: CharArray<'a>,
    /// What was asked for and has not come.
    pub gap: Gap,
}

/// Messages of ours that the exchange has not applied: what NotApplied513 says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotApplied {
    /// SeqNum of the first.
    pub from_seq_no: u32,
    /// How many, the message that showed the gap included.
    pub count: u32,
}

/// Callbacks of a [`Session`](crate::Session), in the order of the stream. All do nothing by
/// default, and all can send: each is given the session's sending half.
///
/// A business message whose own callback is not implemented goes to
/// [`on_message`](Self::on_message).
#[allow(unused_variables)]
pub trait Listener {
    /// The session is in another state. A transition caused by a `terminate` is told with the
    /// next input or timeout.
    fn on_state(&mut self, sender: &mut Sender<'_>, state: State) {}

    /// Business messages may be sent from now on. Called after
    /// [`on_state`](Self::on_state).
    fn on_established(&mut self, sender: &mut Sender<'_>, established: &Established) {}

    /// An order is working.
    fn on_execution_report_new(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// An order was cancelled, on request or not.
    fn on_execution_report_cancel(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportCancel534<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// An order was replaced: this is how it stands now.
    fn on_execution_report_modify(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportModify531<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// An order traded, wholly or in part, in an instrument that is no spread.
    fn on_execution_report_trade_outright(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportTradeOutright525<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// An order in a spread traded: its legs follow, each in a report of its own.
    fn on_execution_report_trade_spread(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportTradeSpread526<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// A leg of a spread that traded.
    fn on_execution_report_trade_spread_leg(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportTradeSpreadLeg527<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// An order ended without a cancel: its day or date is over, or it was not to rest and could
    /// not trade whole.
    fn on_execution_report_elimination(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportElimination524<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// A new order was refused. Its reason as a type:
    /// [`OrderRejectReason`](crate::OrderRejectReason).
    fn on_execution_report_reject(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportReject523<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// How an order stands, in answer to a status request.
    fn on_execution_report_status(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportStatus532<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// A cancel was refused. Its reason as a type:
    /// [`CancelRejectReason`](crate::CancelRejectReason).
    fn on_order_cancel_reject(
        &mut self,
        sender: &mut Sender<'_>,
        reject: OrderCancelReject535<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// A replacement was refused; the order stands as before. Its reason as a type:
    /// [`ReplaceRejectReason`](crate::ReplaceRejectReason).
    fn on_order_cancel_replace_reject(
        &mut self,
        sender: &mut Sender<'_>,
        reject: OrderCancelReplaceReject536<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// A cancel waits, for as long as its delay says.
    fn on_execution_report_pending_cancel(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportPendingCancel564<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// A replacement waits, for as long as its delay says.
    fn on_execution_report_pending_replace(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportPendingReplace565<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// A trade was corrected or cancelled, in an instrument that is no spread.
    fn on_trade_addendum_outright(
        &mut self,
        sender: &mut Sender<'_>,
        addendum: ExecutionReportTradeAddendumOutright548<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// A trade of a spread was corrected or cancelled.
    fn on_trade_addendum_spread(
        &mut self,
        sender: &mut Sender<'_>,
        addendum: ExecutionReportTradeAddendumSpread549<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// The leg of a trade of a spread was corrected or cancelled.
    fn on_trade_addendum_spread_leg(
        &mut self,
        sender: &mut Sender<'_>,
        addendum: ExecutionReportTradeAddendumSpreadLeg550<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// A business message of ours was refused. Its reason as a type:
    /// [`BusinessRejectReason`](crate::BusinessRejectReason).
    ///
    /// Without a RefSeqNum the exchange has not used the message's number. If it was the newest
    /// message sent, the next one takes that number, from this callback on; if others were on
    /// their way, they are not applied: see [`on_not_applied`](Self::on_not_applied).
    fn on_business_reject(
        &mut self,
        sender: &mut Sender<'_>,
        reject: BusinessReject521<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Party details were registered, or not.
    fn on_party_details_definition_ack(
        &mut self,
        sender: &mut Sender<'_>,
        ack: PartyDetailsDefinitionRequestAck519<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Registered party details, as asked for.
    fn on_party_details_list_report(
        &mut self,
        sender: &mut Sender<'_>,
        report: PartyDetailsListReport538<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// A mass quote was taken, or refused.
    fn on_mass_quote_ack(
        &mut self,
        sender: &mut Sender<'_>,
        ack: MassQuoteAck545<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// A request for quote was taken, or refused.
    fn on_request_for_quote_ack(
        &mut self,
        sender: &mut Sender<'_>,
        ack: RequestForQuoteAck546<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// An instrument was defined as asked for, or not.
    fn on_security_definition_response(
        &mut self,
        sender: &mut Sender<'_>,
        response: SecurityDefinitionResponse561<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Orders were cancelled together, or not: one of the reports on a mass action.
    fn on_order_mass_action_report(
        &mut self,
        sender: &mut Sender<'_>,
        report: OrderMassActionReport562<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Quotes were cancelled, on request or not, or a cancel was refused.
    fn on_quote_cancel_ack(
        &mut self,
        sender: &mut Sender<'_>,
        ack: QuoteCancelAck563<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// A mass quote by template 567 was taken, or refused; since version 9.
    fn on_mass_quote_response(
        &mut self,
        sender: &mut Sender<'_>,
        response: MassQuoteResponse571<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// A business message whose own callback is not implemented. Its template tells its kind; the
    /// generated decoders read it.
    fn on_message(&mut self, sender: &mut Sender<'_>, message: &Message<'_>) {}

    /// Messages of ours were not applied: what is to be done? `preferred` is what
    /// [`SessionPolicy`](crate::SessionPolicy) says. Asked once for the same messages, and not if
    /// they cannot
    /// be sent again; [`on_not_applied`](Self::on_not_applied) follows.
    fn answer_not_applied(
        &mut self,
        not_applied: NotApplied,
        preferred: NotAppliedAnswer,
    ) -> NotAppliedAnswer {
        preferred
    }

    /// Messages of ours were not applied. The session has moved the exchange past them with a
    /// Sequence: whoever still wants them sends them anew. Or it has sent them again, if
    /// [`answer_not_applied`](Self::answer_not_applied) wanted it so.
    fn on_not_applied(&mut self, sender: &mut Sender<'_>, not_applied: NotApplied) {}

    /// The exchange has made this backup session the primary. Nothing can be sent, and nothing is
    /// delivered, until it [takes over](crate::Session::take_over).
    fn on_failover(&mut self, sender: &mut Sender<'_>, failover: Failover) {}

    /// This session has taken over: messages flow again, and `sender` sends on the connection that
    /// was the backup's. What has not been received comes next. There is no
    /// [`on_established`](Self::on_established): the session goes on.
    fn on_active(&mut self, sender: &mut Sender<'_>, active: Active) {}

    /// What becomes of the connection that stands by as the backup of the one this listener sends
    /// on, where something drives both. There is nothing to be done.
    fn on_backup(&mut self, notice: &BackupNotice<'_>) {}

    /// The logon was refused; the connection closes.
    fn on_reject(&mut self, sender: &mut Sender<'_>, rejected: &Rejected<'_>) {}

    /// The exchange has terminated or answered our Terminate; the connection closes.
    fn on_terminate(&mut self, sender: &mut Sender<'_>, terminated: &Terminated<'_>) {}

    /// Messages of the exchange are missing. The session asks for them and delivers them, and
    /// whatever comes meanwhile after them, in order; nothing need be done. What was told to be
    /// missing is told again only if a new UUID was negotiated before it came.
    fn on_gap(&mut self, sender: &mut Sender<'_>, gap: Gap) {}

    /// The exchange refuses to send messages again. If the code
    /// [is of the range](RetransmitRejectCode::is_of_range), half of them are asked for, and half
    /// of these, until a number alone is refused; if it [is final](RetransmitRejectCode::is_final)
    /// otherwise, or a number alone was asked for, [`on_lost`](Self::on_lost) follows; else the
    /// same are asked for again after a while.
    fn on_retransmit_reject(&mut self, sender: &mut Sender<'_>, rejected: &RetransmitRejected<'_>) {
    }

    /// Missing messages will not come any more, and the session goes on with what follows them:
    /// whoever needs what they said has to ask for it in another way, by status requests say.
    ///
    /// Told in the order of the stream, for what the exchange refuses to send again: of a range
    /// each number that it refuses by itself, or what is left of the range after 64 refusals
    /// between which nothing came. Time alone loses nothing under the present UUID; under an
    /// earlier one what was asked for in vain on three connections in a row.
    fn on_lost(&mut self, sender: &mut Sender<'_>, gap: Gap) {}

    /// A fault that ends the connection.
    fn on_error(&mut self, sender: &mut Sender<'_>, error: &Error) {}

    /// Something odd that the session lives with.
    fn on_warning(&mut self, sender: &mut Sender<'_>, warning: &Warning) {}
}

/// Listens to nothing.
impl Listener for () {}
