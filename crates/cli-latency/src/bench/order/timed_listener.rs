//! The listener whose callbacks are timed, and the order reported to it.

use hairpin_host::Clock;
use hairpin_order_entry::{
    BusinessReject521, CancelOrder, ClOrdId, Decimal, Error, ExecutionReportCancel534,
    ExecutionReportNew522, Gap, Listener, Message, NewOrder, Rejected, Sender, SideReq, State,
};
use hairpin_time::Instant;

/// The exchange's first instrument.
const SECURITY_ID: i32 = 1_001;
/// A price far below its book, so that no order trades or changes what is published.
const PRICE: i64 = 1_000_000_000;

/// Returns the order with number `sequence`.
#[inline]
pub(super) fn order(number: u64) -> NewOrder {
    NewOrder::limit(SECURITY_ID, SideReq::BUY, Decimal(PRICE), 1, ClOrdId::from(number))
}

/// Reads the clock in the callback of a report, where a user would decide.
#[derive(Debug)]
pub(super) struct TimedListener {
    clock: Clock,
    /// When the callback was called, and the cancel request for the order.
    pub(super) told: Option<(Instant, CancelOrder)>,
    /// The order was canceled.
    pub(super) cancelled: bool,
    pub(super) was_established: bool,
    pub(super) is_over: bool,
    pub(super) errors: u64,
    /// The first error, or why the session ended.
    pub(super) reason: Option<String>,
}

impl TimedListener {
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            clock,
            told: None,
            cancelled: false,
            was_established: false,
            is_over: false,
            errors: 0,
            reason: None,
        }
    }

    #[cold]
    fn error(&mut self, words: impl ToString) {
        self.errors += 1;
        self.reason.get_or_insert_with(|| words.to_string());
    }
}

impl Listener for TimedListener {
    fn on_state(&mut self, _: &mut Sender<'_>, state: State) {
        self.was_established |= state == State::Established;
        self.is_over |= state == State::Disconnected;
    }

    #[inline]
    fn on_execution_report_new(
        &mut self,
        _: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        let now = self.clock.instant();
        let id = ClOrdId(*report.cl_ord_id().raw().first_chunk().unwrap_or(&[0; 20]));
        let (security_id, side) = (report.security_id(), report.side());
        self.told = Some((now, CancelOrder::new(report.order_id(), security_id, side, id)));
    }

    fn on_execution_report_cancel(
        &mut self,
        _: &mut Sender<'_>,
        _: ExecutionReportCancel534<'_>,
        _: &Message<'_>,
    ) {
        self.cancelled = true;
    }

    fn on_business_reject(
        &mut self,
        _: &mut Sender<'_>,
        reject: BusinessReject521<'_>,
        _: &Message<'_>,
    ) {
        self.error(format_args!("refused: {:?}", reject.business_reject_reason()));
    }

    /// No other business message answers what this listener sends.
    fn on_message(&mut self, _: &mut Sender<'_>, message: &Message<'_>) {
        self.error(format_args!("template {} came", message.header.template_id));
    }

    fn on_reject(&mut self, _: &mut Sender<'_>, rejected: &Rejected<'_>) {
        self.error(format_args!("{} {}", rejected.code, rejected.reason));
    }

    fn on_gap(&mut self, _: &mut Sender<'_>, gap: Gap) {
        self.error(format_args!("messages of the exchange are missing: {gap:?}"));
    }

    fn on_error(&mut self, _: &mut Sender<'_>, error: &Error) {
        self.error(error);
    }
}
