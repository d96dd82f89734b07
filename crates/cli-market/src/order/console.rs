//! The listener of a session at the command line: prints events and records them for `expect`.

use std::collections::VecDeque;
use std::io::{self, Write};

use hairpin_mapped::{Record, Storage};
use hairpin_measure::{Style, counted};
use hairpin_order_entry::messages::{
    ExecutionReportCancel534, ExecutionReportElimination524, ExecutionReportModify531,
    ExecutionReportNew522, ExecutionReportReject523, ExecutionReportStatus532,
    ExecutionReportTradeOutright525, ExecutionReportTradeSpread526, MassQuoteAck545,
    MassQuoteResponse571, OrderCancelReject535, OrderCancelReplaceReject536,
    OrderMassActionReport562, PartyDetailsDefinitionRequestAck519, QuoteCancelAck563,
    RequestForQuoteAck546,
};
use hairpin_order_entry::{
    BackupNotice, BusinessReject521, Error, Established, Failover, Gap, Listener, Message,
    NotApplied, NotAppliedAnswer, Rejected, RetransmitRejected, Sender, State, Takeover,
    Terminated, Warning,
};
use hairpin_time::Utc;

use super::args::Format;
use super::audit_record::AuditRecord;
use super::columns::{ColumnValue, Columns};
use super::orders::{Order, OrderStatus, Orders, Positions};
use super::script::ExpectedEvent;
use super::short_line::{Symbols, short};

/// The most events kept for `expect`; the oldest of more are dropped.
const EVENTS_MAX: usize = 1_000;

/// Prints and records the events of a session.
pub(super) struct OrderConsole<O: Write> {
    format: Format,
    symbols: Symbols,
    out: O,
    pub(super) orders: Orders,
    pub(super) positions: Positions,
    events: VecDeque<ExpectedEvent>,
    /// The outcome of unapplied messages that has yet to be passed to the session.
    answer: Option<NotAppliedAnswer>,
    /// The time and session id of the current turn, for callbacks without a sender.
    turn: (Utc, u64),
    pub(super) was_established: bool,
    pub(super) is_over: bool,
    /// Why the session ended, unless by request.
    pub(super) reason: Option<String>,
    /// The error of the connection that ends in this turn; the cause of its failure may follow.
    error: Option<String>,
    /// `true` if the reason is printed when the command ends, so that its events are not.
    pub(super) prints_reason_at_end: bool,
    /// Why nothing can be printed anymore.
    pub(super) broken: Option<io::Error>,
}

impl<O: Write> OrderConsole<O> {
    pub(super) fn new(format: Format, symbols: Symbols, out: O) -> Self {
        Self {
            format,
            symbols,
            out,
            orders: Orders::default(),
            positions: Positions::default(),
            events: VecDeque::new(),
            answer: None,
            turn: (Utc::from_nanos(0), 0),
            was_established: false,
            is_over: false,
            reason: None,
            error: None,
            prints_reason_at_end: false,
            broken: None,
        }
    }

    /// Begins a turn, with the time and session id for callbacks without a sender.
    pub(super) fn turn(&mut self, now: Utc, uuid: u64) {
        self.turn = (now, uuid);
    }

    /// Returns `true` if the event is among those that no `expect` has consumed, and consumes it.
    pub(super) fn expect(&mut self, what: ExpectedEvent) -> bool {
        std::iter::from_fn(|| self.events.pop_front()).any(|event| event == what)
    }

    /// Forgets events of these kinds, because a command that may cause them is about to run.
    pub(super) fn forget(&mut self, kinds: &[ExpectedEvent]) {
        self.events.retain(|event| !kinds.contains(event));
    }

    /// Prints a sent message from its record.
    pub(super) fn sent(&mut self, journal: &impl Storage, record: Record) {
        let tag = journal.tag(record);
        let mut columns = Columns::default();
        // What was just encoded can be decoded.
        let _ = columns.read(journal.bytes(record).get(4..).unwrap_or_default());
        let number = Some(tag.seq_num);
        self.print(&AuditRecord::event(tag.now.utc, "out", tag.uuid, number, columns));
    }

    /// Prints the last reported state of an order.
    pub(super) fn order(&mut self, now: Utc, uuid: u64, order: &Order) {
        let mut columns = Columns::named(match order.status {
            OrderStatus::Sent => "sent",
            OrderStatus::Working => "working",
            OrderStatus::Over => "over",
            OrderStatus::Missed => "not-applied",
        });
        columns.put("ClOrdID", ColumnValue::text(order.terms.cl_ord_id));
        if let Some(id) = order.order_id {
            columns.put("OrderID", ColumnValue::number(id));
        }
        columns.put("SecurityID", ColumnValue::number(order.terms.security_id.0.unsigned_abs()));
        columns.put("Side", ColumnValue::text(order.terms.side.name().unwrap_or("?")));
        columns.put("OrderQty", ColumnValue::number(order.terms.quantity));
        if let Some(price) = order.terms.pricing.price() {
            columns.put("Price", ColumnValue::text(price));
        }
        if let Some(price) = order.terms.pricing.stop_price() {
            columns.put("StopPx", ColumnValue::text(price));
        }
        columns.put("LeavesQty", ColumnValue::number(order.leaves));
        self.print(&AuditRecord::event(now, "order", uuid, None, columns));
    }

    /// Ends a turn: prints the error of a connection, or why the connection has failed.
    pub(super) fn end_turn(&mut self, now: Utc, uuid: u64, failure: Option<String>) {
        let (what, text) = match (failure, self.error.take()) {
            (Some(failure), _) => ("failure", failure),
            (None, Some(error)) => ("error", error),
            (None, None) => return,
        };
        self.print_reason(now, uuid, what, text);
    }

    /// Prints why the session ends: now, or when the command ends.
    fn print_reason(&mut self, now: Utc, uuid: u64, what: &str, text: String) {
        if !self.prints_reason_at_end {
            self.print_event(now, uuid, what, Some(text.clone()));
        }
        self.reason.get_or_insert(text);
    }

    /// Prints a position.
    pub(super) fn position(&mut self, now: Utc, uuid: u64, symbol: &str, text: String) {
        let mut columns = Columns::named(symbol);
        columns.put("Text", ColumnValue::text(text));
        self.print(&AuditRecord::event(now, "position", uuid, None, columns));
    }

    /// Prints an event of the session.
    pub(super) fn print_event(&mut self, now: Utc, uuid: u64, what: &str, text: Option<String>) {
        let mut columns = Columns::named(what);
        if let Some(text) = text {
            columns.put("Text", ColumnValue::text(text));
        }
        self.print(&AuditRecord::event(now, "session", uuid, None, columns));
    }

    fn print(&mut self, record: &AuditRecord) {
        match self.format {
            Format::Short => self.line(&short(record, &self.symbols, &self.orders)),
            format => self.write(&record.line(format)),
        }
    }

    /// Prints a line that fits the terminal.
    pub(super) fn line(&mut self, line: &str) {
        self.write(&Style::for_stdout().wrap(line));
    }

    /// Flushes each line: the reader may be waiting for it.
    fn write(&mut self, line: &str) {
        let written = writeln!(self.out, "{line}").and_then(|()| self.out.flush());
        if let Err(error) = written {
            self.broken.get_or_insert(error);
        }
    }

    fn print_now(&mut self, sender: &Sender<'_>, what: &str, text: impl ToString) {
        let (now, uuid) = (sender.now().utc, sender.progress().uuid);
        self.print_event(now, uuid, what, Some(text.to_string()));
    }
}

/// Returns the event of a message, if `expect` has one.
fn event(template_id: u16, columns: &Columns) -> Option<ExpectedEvent> {
    let has = |name: &str, code: &str| columns.get(name).is_some_and(|it| it.ends_with(code));
    let is_refused = has("MassActionResponse", "(0)") || has("QuoteStatus", "(5)");
    Some(match template_id {
        OrderMassActionReport562::TEMPLATE_ID
        | MassQuoteAck545::TEMPLATE_ID
        | MassQuoteResponse571::TEMPLATE_ID
        | QuoteCancelAck563::TEMPLATE_ID
        | RequestForQuoteAck546::TEMPLATE_ID
            if is_refused =>
        {
            ExpectedEvent::Reject
        }
        OrderMassActionReport562::TEMPLATE_ID => ExpectedEvent::Cancel,
        MassQuoteAck545::TEMPLATE_ID | MassQuoteResponse571::TEMPLATE_ID => ExpectedEvent::Quote,
        QuoteCancelAck563::TEMPLATE_ID => ExpectedEvent::QuoteCancel,
        RequestForQuoteAck546::TEMPLATE_ID => ExpectedEvent::QuoteRequest,
        PartyDetailsDefinitionRequestAck519::TEMPLATE_ID => ExpectedEvent::Party,
        ExecutionReportNew522::TEMPLATE_ID => ExpectedEvent::New,
        ExecutionReportModify531::TEMPLATE_ID => ExpectedEvent::Replace,
        ExecutionReportTradeOutright525::TEMPLATE_ID
        | ExecutionReportTradeSpread526::TEMPLATE_ID => ExpectedEvent::Fill,
        ExecutionReportCancel534::TEMPLATE_ID => ExpectedEvent::Cancel,
        ExecutionReportElimination524::TEMPLATE_ID => ExpectedEvent::Eliminate,
        ExecutionReportStatus532::TEMPLATE_ID => ExpectedEvent::Status,
        ExecutionReportReject523::TEMPLATE_ID
        | OrderCancelReject535::TEMPLATE_ID
        | OrderCancelReplaceReject536::TEMPLATE_ID
        | BusinessReject521::TEMPLATE_ID => ExpectedEvent::Reject,
        _ => return None,
    })
}

impl<O: Write> Listener for OrderConsole<O> {
    /// All business messages: none has its own callback here.
    fn on_message(&mut self, sender: &mut Sender<'_>, message: &Message<'_>) {
        let mut columns = Columns::default();
        let template_id = message.header.template_id;
        // An unknown template has neither name nor columns; the line has its number.
        if columns.read_body(&message.header, message.body).is_err() {
            columns = Columns::named(&format!("template-{template_id}"));
        }
        self.orders.on_report(template_id, &columns);
        self.positions.on_report(template_id, &columns);
        let event = event(template_id, &columns);
        if self.events.len() == EVENTS_MAX {
            self.events.pop_front();
        }
        self.events.extend(event);
        if message.redelivered {
            self.print_now(sender, "redelivered", "an earlier run received the next message");
        }
        let (now, number) = (sender.now().utc, Some(message.seq_num));
        self.print(&AuditRecord::event(now, "in", message.uuid, number, columns));
    }

    fn on_state(&mut self, sender: &mut Sender<'_>, state: State) {
        self.is_over = state == State::Disconnected;
        if state == State::Connecting {
            self.reason = None;
        }
        if !matches!(state, State::Established) {
            let (now, uuid) = (sender.now().utc, sender.progress().uuid);
            self.print_event(now, uuid, &state.to_string(), None);
        }
    }

    fn on_established(&mut self, sender: &mut Sender<'_>, established: &Established) {
        self.was_established = true;
        self.print_event(sender.now().utc, established.uuid, "established", None);
    }

    fn on_backup(&mut self, notice: &BackupNotice<'_>) {
        let text = match notice {
            BackupNotice::State(state) => state.to_string(),
            BackupNotice::Rejected(rejected) => format!("refused: {}", refusal_text(rejected)),
            BackupNotice::Terminated(terminated) if terminated.solicited => return,
            BackupNotice::Terminated(terminated) => termination_text(terminated),
            BackupNotice::Error(error) => format!("error: {error}"),
            BackupNotice::Warning(warning) => format!("warning: {warning}"),
            _ => return,
        };
        let (now, uuid) = self.turn;
        self.print_event(now, uuid, "backup", Some(text));
    }

    fn on_failover(&mut self, sender: &mut Sender<'_>, _: Failover) {
        self.print_now(sender, "failover", "the exchange has made the backup the primary");
    }

    fn on_takeover(&mut self, sender: &mut Sender<'_>, active: Takeover) {
        let Takeover { next_outgoing, down_for, in_doubt, .. } = active;
        let doubt = match in_doubt {
            true => "; earlier messages may be missing, as the next message will show",
            false => "",
        };
        let millis = down_for.as_nanos() / 1_000_000;
        let text = format!(
            "on the backup's connection: our next message is {next_outgoing}, \
             nothing could be sent for {millis} ms{doubt}"
        );
        self.print_now(sender, "active", text);
    }

    fn on_reject(&mut self, sender: &mut Sender<'_>, rejected: &Rejected<'_>) {
        let (now, uuid) = (sender.now().utc, sender.progress().uuid);
        self.reason = None;
        self.print_reason(now, uuid, "refused", refusal_text(rejected));
    }

    fn on_terminate(&mut self, sender: &mut Sender<'_>, terminated: &Terminated<'_>) {
        if !terminated.solicited {
            let (now, uuid) = (sender.now().utc, sender.progress().uuid);
            self.reason = None;
            self.print_reason(now, uuid, "terminated", termination_text(terminated));
        }
    }

    fn answer_not_applied(
        &mut self,
        _: NotApplied,
        preferred: NotAppliedAnswer,
    ) -> NotAppliedAnswer {
        self.answer = Some(preferred);
        preferred
    }

    fn on_not_applied(&mut self, sender: &mut Sender<'_>, not_applied: NotApplied) {
        let NotApplied { from_seq_no, count } = not_applied;
        let what = match self.answer.take() {
            Some(NotAppliedAnswer::FillGap) => {
                self.orders.not_applied(&(from_seq_no..from_seq_no.saturating_add(count)));
                "; not sent again"
            }
            Some(NotAppliedAnswer::Replay) => "; sent again",
            // Already printed, or accompanied by a warning.
            None => "",
        };
        let text = format!("{} from {from_seq_no}{what}", counted(count, "message"));
        self.print_now(sender, "not-applied", text);
    }

    fn on_gap(&mut self, sender: &mut Sender<'_>, gap: Gap) {
        self.print_now(sender, "gap", gap_text(gap));
    }

    fn on_lost(&mut self, sender: &mut Sender<'_>, gap: Gap) {
        self.print_now(sender, "lost", gap_text(gap));
    }

    fn on_retransmit_reject(&mut self, sender: &mut Sender<'_>, rejected: &RetransmitRejected<'_>) {
        self.print_now(sender, "not-retransmitted", rejected.code);
    }

    fn on_error(&mut self, _: &mut Sender<'_>, error: &Error) {
        self.error.get_or_insert_with(|| error.to_string());
    }

    fn on_warning(&mut self, sender: &mut Sender<'_>, warning: &Warning) {
        self.print_now(sender, "warning", warning);
    }
}

/// Returns the code, and the exchange's text.
fn refusal_text(rejected: &Rejected<'_>) -> String {
    format!("{} {}", rejected.code, rejected.reason).trim_end().to_owned()
}

fn termination_text(terminated: &Terminated<'_>) -> String {
    format!("the exchange has terminated: {}", terminated.code)
}

fn gap_text(gap: Gap) -> String {
    format!("messages {} to {} under {}", gap.from, gap.to, gap.uuid)
}
