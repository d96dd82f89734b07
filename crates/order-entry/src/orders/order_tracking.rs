//! A listener adapter that updates the tracked orders.

use hairpin_cme_codecs::ilink3::{
    BusinessReject521, ExecutionReportCancel534, ExecutionReportElimination524,
    ExecutionReportModify531, ExecutionReportNew522, ExecutionReportPendingCancel564,
    ExecutionReportPendingReplace565, ExecutionReportReject523, ExecutionReportStatus532,
    ExecutionReportTradeAddendumOutright548, ExecutionReportTradeAddendumSpread549,
    ExecutionReportTradeAddendumSpreadLeg550, ExecutionReportTradeOutright525,
    ExecutionReportTradeSpread526, ExecutionReportTradeSpreadLeg527, MassQuoteAck545,
    MassQuoteResponse571, OrderCancelReject535, OrderCancelReplaceReject536,
    OrderMassActionReport562, PartyDetailsDefinitionRequestAck519, PartyDetailsListReport538,
    QuoteCancelAck563, RequestForQuoteAck546, SecurityDefinitionResponse561,
};
use hairpin_ilink3::{
    BackupNotice, Error, Established, Failover, Gap, Listener, Message, NotApplied,
    NotAppliedAnswer, Rejected, RetransmitRejected, Sender, State, Takeover, Terminated, Warning,
};

use super::{Download, DownloadResult, Orders};

/// A listener that tracks its orders.
pub trait TrackOrders {
    /// Returns the order tracker.
    fn orders(&mut self) -> &mut Orders;

    /// Returns the download of orders, if there is one.
    #[inline]
    fn download(&mut self) -> Option<&mut Download> {
        None
    }

    /// Called when the download has ended, after the callback of the message that ended it.
    fn on_download(&mut self, sender: &mut Sender<'_>, end: DownloadResult) {
        let _ = (sender, end);
    }
}

/// A listener adapter that updates the listener's [`Orders`] before each callback.
///
/// Create one for each call of [`Session::process`](crate::Session::process): `session.process(now,
/// ready, &mut reactor, &mut OrderTracking::new(&mut strategy))`. The listener sends its orders
/// with [`Orders::send`].
#[derive(Debug)]
pub struct OrderTracking<'a, L> {
    listener: &'a mut L,
    /// The listener's answer to the current NotApplied.
    answer: Option<NotAppliedAnswer>,
}

impl<'a, L: Listener + TrackOrders> OrderTracking<'a, L> {
    /// Wraps a listener.
    pub fn new(listener: &'a mut L) -> Self {
        Self { listener, answer: None }
    }

    #[inline]
    fn report_result(&mut self, sender: &mut Sender<'_>, result: Option<DownloadResult>) {
        if let Some(result) = result {
            self.listener.on_download(sender, result);
        }
    }
}

/// Defines callbacks of business messages: update the orders, then call the listener.
macro_rules! business {
    ($($callback:ident $view:ident: $name:ident,)*) => {$(
        #[inline]
        fn $callback(
            &mut self,
            sender: &mut Sender<'_>,
            $view: $name<'_>,
            message: &Message<'_>,
        ) {
            self.listener.orders().handle_message(message);
            self.listener.$callback(sender, $view, message);
            let result =
                self.listener.download().and_then(|it| it.handle_message(sender, message));
            self.report_result(sender, result);
        }
    )*};
}

/// Defines callbacks without order information.
macro_rules! forward {
    ($($callback:ident $event:ident: $name:ty,)*) => {$(
        #[inline]
        fn $callback(&mut self, sender: &mut Sender<'_>, $event: $name) {
            self.listener.$callback(sender, $event);
        }
    )*};
}

impl<L: Listener + TrackOrders> Listener for OrderTracking<'_, L> {
    business! {
        on_execution_report_new report: ExecutionReportNew522,
        on_execution_report_cancel report: ExecutionReportCancel534,
        on_execution_report_modify report: ExecutionReportModify531,
        on_execution_report_trade_outright report: ExecutionReportTradeOutright525,
        on_execution_report_trade_spread report: ExecutionReportTradeSpread526,
        on_execution_report_trade_spread_leg report: ExecutionReportTradeSpreadLeg527,
        on_execution_report_elimination report: ExecutionReportElimination524,
        on_execution_report_reject report: ExecutionReportReject523,
        on_execution_report_status report: ExecutionReportStatus532,
        on_order_cancel_reject reject: OrderCancelReject535,
        on_order_cancel_replace_reject reject: OrderCancelReplaceReject536,
        on_execution_report_pending_cancel report: ExecutionReportPendingCancel564,
        on_execution_report_pending_replace report: ExecutionReportPendingReplace565,
        on_trade_addendum_outright addendum: ExecutionReportTradeAddendumOutright548,
        on_trade_addendum_spread addendum: ExecutionReportTradeAddendumSpread549,
        on_trade_addendum_spread_leg addendum: ExecutionReportTradeAddendumSpreadLeg550,
        on_business_reject reject: BusinessReject521,
        on_party_details_definition_ack ack: PartyDetailsDefinitionRequestAck519,
        on_party_details_list_report report: PartyDetailsListReport538,
        on_mass_quote_ack ack: MassQuoteAck545,
        on_request_for_quote_ack ack: RequestForQuoteAck546,
        on_security_definition_response response: SecurityDefinitionResponse561,
        on_order_mass_action_report report: OrderMassActionReport562,
        on_quote_cancel_ack ack: QuoteCancelAck563,
        on_mass_quote_response response: MassQuoteResponse571,
    }

    forward! {
        on_failover failover: Failover,
        on_takeover active: Takeover,
        on_reject rejected: &Rejected<'_>,
        on_terminate terminated: &Terminated<'_>,
        on_gap gap: Gap,
        on_retransmit_reject rejected: &RetransmitRejected<'_>,
        on_error error: &Error,
        on_warning warning: &Warning,
    }

    fn on_established(&mut self, sender: &mut Sender<'_>, established: &Established) {
        self.listener.orders().handle_established(established.uuid);
        self.listener.on_established(sender, established);
    }

    fn on_backup(&mut self, notice: &BackupNotice<'_>) {
        self.listener.on_backup(notice);
    }

    fn on_state(&mut self, sender: &mut Sender<'_>, state: State) {
        self.listener.on_state(sender, state);
        if state == State::Disconnected {
            let result = self.listener.download().and_then(Download::handle_disconnected);
            self.report_result(sender, result);
        }
    }

    fn on_message(&mut self, sender: &mut Sender<'_>, message: &Message<'_>) {
        self.listener.orders().handle_message(message);
        self.listener.on_message(sender, message);
    }

    fn answer_not_applied(
        &mut self,
        not_applied: NotApplied,
        preferred: NotAppliedAnswer,
    ) -> NotAppliedAnswer {
        let answer = self.listener.answer_not_applied(not_applied, preferred);
        self.answer = Some(answer);
        answer
    }

    fn on_not_applied(&mut self, sender: &mut Sender<'_>, not_applied: NotApplied) {
        let answer = self.answer.take().unwrap_or_default();
        let uuid = sender.progress().uuid;
        self.listener.orders().handle_not_applied(uuid, not_applied, answer);
        self.listener.on_not_applied(sender, not_applied);
        if answer == NotAppliedAnswer::FillGap {
            let result = self.listener.download().and_then(|it| it.handle_not_applied(not_applied));
            self.report_result(sender, result);
        }
    }

    fn on_lost(&mut self, sender: &mut Sender<'_>, gap: Gap) {
        self.listener.orders().handle_lost(gap);
        self.listener.on_lost(sender, gap);
    }
}
