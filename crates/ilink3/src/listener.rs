//! The session's callbacks and their arguments.

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

/// A business message from the exchange, of any template, undecoded.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    /// The SBE header.
    pub header: MessageHeader,
    /// The bytes after the header: root block, groups and data. Their structure has been validated,
    /// unless the template is unknown.
    pub body: &'a [u8],
    /// SeqNum (9726).
    pub seq_num: u32,
    /// UUID (39001) under which the exchange published the message.
    pub uuid: u64,
    /// PossRetransFlag (9765): the exchange may have sent the message before. For an unknown
    /// template the session derives the flag from the number.
    pub possible_retransmission: bool,
    /// The message was received by a previous process that ended before its callback returned: see
    /// [`Session::redeliver`](crate::Session::redeliver).
    pub redelivered: bool,
}

/// The content of EstablishmentAck504: the session is established.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Established {
    /// The session's UUID.
    pub uuid: u64,
    /// NextSeqNo: the SeqNum of the exchange's next business message.
    pub next_seq_no: u32,
    /// PreviousSeqNo: the SeqNum of the exchange's last published business message.
    pub previous_seq_no: u32,
    /// PreviousUUID: the UUID of that message; 0 before the first logon of the week.
    pub previous_uuid: u64,
    /// SecretKeySecureIDExpiration. CME's schema defines it as days until the key expires, its web
    /// page as days since the epoch.
    pub secret_key_expiration: Option<u16>,
    /// FaultToleranceIndicator: primary or backup.
    pub fault_tolerance: Option<FTI>,
    /// EnvironmentIndicator, since schema version 9.
    pub environment: Option<u8>,
}

/// The content of NegotiationReject502 or EstablishmentReject505: the logon was rejected.
#[derive(Debug, Clone, Copy)]
pub struct Rejected<'a> {
    /// The state in which the logon was rejected: negotiating or establishing.
    pub state: State,
    /// ErrorCodes.
    pub code: RejectCode,
    /// Reason, the exchange's text; may be empty.
    pub reason: CharArray<'a>,
    /// NextSeqNo expected by the exchange; only in an EstablishmentReject.
    pub next_seq_no: Option<u32>,
    /// FaultToleranceIndicator: primary or backup.
    pub fault_tolerance: Option<FTI>,
}

/// The content of Terminate507: the exchange has terminated, or has confirmed our Terminate.
#[derive(Debug, Clone, Copy)]
pub struct Terminated<'a> {
    /// ErrorCodes.
    pub code: TerminateCode,
    /// Reason, the exchange's text; may be empty.
    pub reason: CharArray<'a>,
    /// The Terminate confirms one of ours.
    pub solicited: bool,
}

/// A sequence gap: business messages of the exchange that did not arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The UUID of the messages; 0 for those before the first logon of the week.
    pub uuid: u64,
    /// The first missing SeqNum.
    pub from: u32,
    /// The last missing SeqNum.
    pub to: u32,
}

/// The content of the Sequence506 that promotes the backup to primary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failover {
    /// The session's UUID.
    pub uuid: u64,
    /// NextSeqNo: the SeqNum of the exchange's next business message, which it sends on this
    /// connection.
    pub next_seq_no: u32,
}

/// A completed takeover: the backup session is now the primary and business messages flow again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Takeover {
    /// The session's UUID, unchanged.
    pub uuid: u64,
    /// The SeqNum of our next message; the numbering continues from the old primary.
    pub next_outgoing: u32,
    /// The time without a session: since the old primary's connection ended, or since the promotion
    /// if that came first.
    pub down_for: Duration,
    /// Messages may have been sent that the failed primary did not apply. If so, the exchange
    /// answers our next message with a NotApplied. If no message is sent in time, the session logs
    /// on again: see [`Warning::InDoubt`](crate::Warning::InDoubt).
    pub in_doubt: bool,
}

/// An event of the backup connection.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum BackupNotice<'a> {
    /// The backup's new state.
    State(State),
    /// The backup's logon was rejected; its connection closes.
    Rejected(&'a Rejected<'a>),
    /// The exchange has terminated the backup, or confirmed our Terminate.
    Terminated(&'a Terminated<'a>),
    /// A fault that ends the backup connection.
    Error(&'a Error),
    /// An irregularity on the backup connection.
    Warning(&'a Warning),
}

/// The content of RetransmitReject510: the exchange does not retransmit the requested messages.
#[derive(Debug, Clone, Copy)]
pub struct RetransmitRejected<'a> {
    /// ErrorCodes.
    pub code: RetransmitRejectCode,
    /// Reason, the exchange's text; may be empty.
    pub reason: CharArray<'a>,
    /// The requested messages that have not arrived.
    pub gap: Gap,
}

/// The content of NotApplied513: messages of ours that the exchange did not apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotApplied {
    /// The SeqNum of the first message.
    pub from_seq_no: u32,
    /// The number of messages, including the one that revealed the gap.
    pub count: u32,
}

/// The callbacks of a [`Session`](crate::Session), in stream order. Every callback does nothing by
/// default. Most receive the session's sending half, so they can send.
///
/// A business message whose own callback is not implemented goes to
/// [`on_message`](Self::on_message).
#[allow(unused_variables)]
pub trait Listener {
    /// Called when the session's state changes. A transition caused by `terminate` is reported with
    /// the next input or timeout.
    fn on_state(&mut self, sender: &mut Sender<'_>, state: State) {}

    /// Called when the session is established, after [`on_state`](Self::on_state). Business
    /// messages may be sent from now on.
    fn on_established(&mut self, sender: &mut Sender<'_>, established: &Established) {}

    /// Called when a new order is accepted and working.
    fn on_execution_report_new(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called when an order is canceled, on request or unsolicited.
    fn on_execution_report_cancel(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportCancel534<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called when an order is replaced. The report contains its new terms.
    fn on_execution_report_modify(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportModify531<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called when an order trades, fully or partially, in an outright instrument.
    fn on_execution_report_trade_outright(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportTradeOutright525<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called when a spread order trades. Each leg follows in a report of its own.
    fn on_execution_report_trade_spread(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportTradeSpread526<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called for each leg of a spread trade.
    fn on_execution_report_trade_spread_leg(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportTradeSpreadLeg527<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called when an order is eliminated: its day or date is over, or it could not trade as its
    /// time in force requires.
    fn on_execution_report_elimination(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportElimination524<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called when a new order is rejected. [`OrderRejectReason`](crate::OrderRejectReason) decodes
    /// the reason.
    fn on_execution_report_reject(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportReject523<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called with an order's status in response to a status request.
    fn on_execution_report_status(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportStatus532<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called when a cancel is rejected. [`CancelRejectReason`](crate::CancelRejectReason) decodes
    /// the reason.
    fn on_order_cancel_reject(
        &mut self,
        sender: &mut Sender<'_>,
        reject: OrderCancelReject535<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called when a replacement is rejected; the order is unchanged.
    /// [`ReplaceRejectReason`](crate::ReplaceRejectReason) decodes the reason.
    fn on_order_cancel_replace_reject(
        &mut self,
        sender: &mut Sender<'_>,
        reject: OrderCancelReplaceReject536<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called when a cancel is pending because the exchange delays it.
    fn on_execution_report_pending_cancel(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportPendingCancel564<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called when a replacement is pending because the exchange delays it.
    fn on_execution_report_pending_replace(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportPendingReplace565<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called when an outright trade is corrected or canceled.
    fn on_trade_addendum_outright(
        &mut self,
        sender: &mut Sender<'_>,
        addendum: ExecutionReportTradeAddendumOutright548<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called when a spread trade is corrected or canceled.
    fn on_trade_addendum_spread(
        &mut self,
        sender: &mut Sender<'_>,
        addendum: ExecutionReportTradeAddendumSpread549<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called when a leg of a spread trade is corrected or canceled.
    fn on_trade_addendum_spread_leg(
        &mut self,
        sender: &mut Sender<'_>,
        addendum: ExecutionReportTradeAddendumSpreadLeg550<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called when the exchange rejects a business message.
    /// [`BusinessRejectReason`](crate::BusinessRejectReason) decodes the reason.
    ///
    /// Without a RefSeqNum, the exchange has not used the message's number. If the message is the
    /// newest one sent, the next message takes its number, already in this callback. Otherwise the
    /// later messages are not applied: see [`on_not_applied`](Self::on_not_applied).
    fn on_business_reject(
        &mut self,
        sender: &mut Sender<'_>,
        reject: BusinessReject521<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called when party details are registered or rejected.
    fn on_party_details_definition_ack(
        &mut self,
        sender: &mut Sender<'_>,
        ack: PartyDetailsDefinitionRequestAck519<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called with registered party details in response to a request.
    fn on_party_details_list_report(
        &mut self,
        sender: &mut Sender<'_>,
        report: PartyDetailsListReport538<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called when a mass quote is accepted or rejected.
    fn on_mass_quote_ack(
        &mut self,
        sender: &mut Sender<'_>,
        ack: MassQuoteAck545<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called when a request for quote is accepted or rejected.
    fn on_request_for_quote_ack(
        &mut self,
        sender: &mut Sender<'_>,
        ack: RequestForQuoteAck546<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called when a security definition request is accepted or rejected.
    fn on_security_definition_response(
        &mut self,
        sender: &mut Sender<'_>,
        response: SecurityDefinitionResponse561<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called with each report on a mass cancel, accepted or rejected.
    fn on_order_mass_action_report(
        &mut self,
        sender: &mut Sender<'_>,
        report: OrderMassActionReport562<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called when quotes are canceled, on request or unsolicited, or when a quote cancel is
    /// rejected.
    fn on_quote_cancel_ack(
        &mut self,
        sender: &mut Sender<'_>,
        ack: QuoteCancelAck563<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called when a mass quote sent with template 567 is accepted or rejected; since schema
    /// version 9.
    fn on_mass_quote_response(
        &mut self,
        sender: &mut Sender<'_>,
        response: MassQuoteResponse571<'_>,
        message: &Message<'_>,
    ) {
        self.on_message(sender, message);
    }

    /// Called with a business message whose own callback is not implemented, or whose template is
    /// unknown ([`Warning::UnknownTemplate`]). Select a generated decoder by its template.
    fn on_message(&mut self, sender: &mut Sender<'_>, message: &Message<'_>) {}

    /// Chooses the response to messages that were not applied; `preferred` is the one in
    /// [`SessionPolicy`](crate::SessionPolicy). Called once for the same messages, and only if a
    /// replay is possible. [`on_not_applied`](Self::on_not_applied) follows.
    fn answer_not_applied(
        &mut self,
        not_applied: NotApplied,
        preferred: NotAppliedAnswer,
    ) -> NotAppliedAnswer {
        preferred
    }

    /// Called when the exchange did not apply messages of ours. The session has already moved the
    /// exchange past them with a Sequence, or has sent them again if
    /// [`answer_not_applied`](Self::answer_not_applied) chose a replay. After a Sequence, the
    /// application must send again any message that it still needs.
    fn on_not_applied(&mut self, sender: &mut Sender<'_>, not_applied: NotApplied) {}

    /// Called when the exchange promotes this backup session to primary. Until the
    /// [takeover](crate::Session::take_over) the session can send nothing and delivers nothing.
    fn on_failover(&mut self, sender: &mut Sender<'_>, failover: Failover) {}

    /// Called when this session has taken over. Business messages flow again, and `sender` uses the
    /// former backup connection. Messages missed so far follow. The session continues, so
    /// [`on_established`](Self::on_established) is not called.
    fn on_takeover(&mut self, sender: &mut Sender<'_>, active: Takeover) {}

    /// Called on the primary's listener for each event of its backup connection, if one owner
    /// drives both. No response is required.
    fn on_backup(&mut self, notice: &BackupNotice<'_>) {}

    /// Called when a logon is rejected. The connection closes.
    fn on_reject(&mut self, sender: &mut Sender<'_>, rejected: &Rejected<'_>) {}

    /// Called when the exchange has terminated or confirmed our Terminate. The connection closes.
    fn on_terminate(&mut self, sender: &mut Sender<'_>, terminated: &Terminated<'_>) {}

    /// Called when messages of the exchange are missing. The session requests and delivers them,
    /// and then delivers later messages, in order. No response is required. A gap is reported again
    /// only if a new UUID is negotiated before it is closed.
    fn on_gap(&mut self, sender: &mut Sender<'_>, gap: Gap) {}

    /// Called when the exchange rejects a retransmit request.
    ///
    /// If the code [is a range error](RetransmitRejectCode::is_range_error), the session requests
    /// half
    /// of the messages, then half of those, until a single number is rejected. If the code [is
    /// final](RetransmitRejectCode::is_final), or a single number was requested,
    /// [`on_lost`](Self::on_lost) follows. Otherwise the session repeats the request later.
    fn on_retransmit_reject(&mut self, sender: &mut Sender<'_>, rejected: &RetransmitRejected<'_>) {
    }

    /// Called when missing messages are lost and the session continues with the messages after
    /// them. Recover their content in another way, such as status requests.
    ///
    /// Called in stream order, for two causes. The exchange refuses to retransmit a single message,
    /// or 64 consecutive ranges without any progress; then the rest of the range is lost. Or
    /// messages of a previous UUID did not arrive on three consecutive connections. A timeout alone
    /// never loses messages of the current UUID.
    fn on_lost(&mut self, sender: &mut Sender<'_>, gap: Gap) {}

    /// Called on a fault that ends the connection.
    fn on_error(&mut self, sender: &mut Sender<'_>, error: &Error) {}

    /// Called on an irregularity that does not end the connection.
    fn on_warning(&mut self, sender: &mut Sender<'_>, warning: &Warning) {}
}

/// Ignores all callbacks.
impl Listener for () {}
