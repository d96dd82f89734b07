//! The listener of a session at the command line: prints what comes, and remembers it.

use std::collections::VecDeque;
use std::io::{self, Write};

use hairpin_mapped::{Record, Storage};
use hairpin_order_entry::messages::{
    ExecutionReportCancel534, ExecutionReportElimination524, ExecutionReportModify531,
    ExecutionReportNew522, ExecutionReportReject523, ExecutionReportStatus532,
    ExecutionReportTradeOutright525, ExecutionReportTradeSpread526, OrderCancelReject535,
    OrderCancelReplaceReject536, OrderMassActionReport562,
};
use hairpin_order_entry::{
    BackupNotice, BusinessReject521, Error, Established, Failover, Gap, Listener, Message,
    NotApplied, NotAppliedAnswer, Rejected, RetransmitRejected, Sender, State, Takeover,
    Terminated, Warning,
};
use hairpin_time::Utc;

use super::arguments::Format;
use super::columns::{Cell, Columns};
use super::orders::{Order, Orders, Standing};
use super::row::Row;
use super::script::Happening;

/// Happenings that `expect` has not looked at; of more the oldest are forgotten.
const HAPPENINGS_MAX: usize = 1_000;

/// What a session tells, printed and remembered.
pub(super) struct Desk<O: Write> {
    pub(super) format: Format,
    out: O,
    pub(super) orders: Orders,
    happenings: VecDeque<Happening>,
    /// What becomes of messages that were not applied, and have yet to be told.
    answer: Option<NotAppliedAnswer>,
    /// The time of this turn, and the session: for what is told without a sender.
    turn: (Utc, u64),
    pub(super) was_established: bool,
    pub(super) is_over: bool,
    /// Why the session ended, if that was not asked for.
    pub(super) reason: Option<String>,
    /// Why nothing can be printed any more.
    pub(super) broken: Option<io::Error>,
}

impl<O: Write> Desk<O> {
    pub(super) fn new(format: Format, out: O) -> Self {
        Self {
            format,
            out,
            orders: Orders::default(),
            happenings: VecDeque::new(),
            answer: None,
            turn: (Utc::from_nanos(0), 0),
            was_established: false,
            is_over: false,
            reason: None,
            broken: None,
        }
    }

    /// A turn begins: what is told in it without a sender is told of this time and session.
    pub(super) fn turn(&mut self, now: Utc, uuid: u64) {
        self.turn = (now, uuid);
    }

    /// Looks for a happening among those that no `expect` has looked at; whether it was there.
    pub(super) fn expect(&mut self, what: Happening) -> bool {
        std::iter::from_fn(|| self.happenings.pop_front()).any(|happening| happening == what)
    }

    /// Prints a message of ours from its record.
    pub(super) fn sent(&mut self, journal: &impl Storage, record: Record) {
        let tag = journal.tag(record);
        let mut columns = Columns::default();
        // What was just encoded can be decoded.
        let _ = columns.read(journal.bytes(record).get(4..).unwrap_or_default());
        let number = Some(tag.seq_num);
        self.print(&Row::of(tag.now.utc, "out", tag.uuid, number, columns));
    }

    /// Prints how an order stands as far as was told.
    pub(super) fn order(&mut self, now: Utc, uuid: u64, order: &Order) {
        let mut columns = Columns::named(match order.standing {
            Standing::Sent => "sent",
            Standing::Working => "working",
            Standing::Over => "over",
            Standing::Missed => "not-applied",
        });
        columns.put("ClOrdID", Cell::text(order.terms.cl_ord_id));
        if let Some(id) = order.order_id {
            columns.put("OrderID", Cell::number(id));
        }
        columns.put("SecurityID", Cell::number(order.terms.security_id.unsigned_abs()));
        columns.put("Side", Cell::text(order.terms.side.name().unwrap_or("?")));
        columns.put("OrderQty", Cell::number(order.terms.quantity));
        if let Some(price) = order.terms.pricing.price() {
            columns.put("Price", Cell::text(price));
        }
        if let Some(price) = order.terms.pricing.stop_price() {
            columns.put("StopPx", Cell::text(price));
        }
        columns.put("LeavesQty", Cell::number(order.leaves));
        self.print(&Row::of(now, "order", uuid, None, columns));
    }

    /// Prints why a connection has failed: that it has was told before.
    pub(super) fn failed(&mut self, now: Utc, uuid: u64, failure: String) {
        self.reason = Some(match self.reason.take() {
            Some(reason) => format!("{reason}: {failure}"),
            None => failure.clone(),
        });
        self.say(now, uuid, "failure", Some(failure));
    }

    /// Prints something of the session.
    pub(super) fn say(&mut self, now: Utc, uuid: u64, what: &str, text: Option<String>) {
        let mut columns = Columns::named(what);
        if let Some(text) = text {
            columns.put("Text", Cell::text(text));
        }
        self.print(&Row::of(now, "session", uuid, None, columns));
    }

    /// As it comes: whoever waits for a line has it at once.
    fn print(&mut self, row: &Row) {
        self.line(&row.line(self.format));
    }

    /// Prints a line.
    pub(super) fn line(&mut self, line: &str) {
        let written = writeln!(self.out, "{line}").and_then(|()| self.out.flush());
        if let Err(error) = written {
            self.broken.get_or_insert(error);
        }
    }

    fn tell(&mut self, sender: &Sender<'_>, what: &str, text: impl ToString) {
        let (now, uuid) = (sender.now().utc, sender.progress().uuid);
        self.say(now, uuid, what, Some(text.to_string()));
    }
}

/// What a template says that can be expected.
fn happening(template_id: u16) -> Option<Happening> {
    Some(match template_id {
        ExecutionReportNew522::TEMPLATE_ID => Happening::New,
        ExecutionReportModify531::TEMPLATE_ID => Happening::Replace,
        ExecutionReportTradeOutright525::TEMPLATE_ID
        | ExecutionReportTradeSpread526::TEMPLATE_ID => Happening::Fill,
        ExecutionReportCancel534::TEMPLATE_ID => Happening::Cancel,
        ExecutionReportElimination524::TEMPLATE_ID => Happening::Eliminate,
        ExecutionReportStatus532::TEMPLATE_ID => Happening::Status,
        ExecutionReportReject523::TEMPLATE_ID
        | OrderCancelReject535::TEMPLATE_ID
        | OrderCancelReplaceReject536::TEMPLATE_ID
        | BusinessReject521::TEMPLATE_ID => Happening::Reject,
        _ => return None,
    })
}

impl<O: Write> Listener for Desk<O> {
    /// All business messages: none has a callback of its own here.
    fn on_message(&mut self, sender: &mut Sender<'_>, message: &Message<'_>) {
        let mut columns = Columns::default();
        let template_id = message.header.template_id;
        // A template that is not known has no name and no columns; the line tells its number.
        if columns.read_body(&message.header, message.body).is_err() {
            columns = Columns::named(&format!("template-{template_id}"));
        }
        self.orders.told(template_id, &columns);
        let is_refused = columns.get("MassActionResponse") == Some("Rejected(0)");
        let happening = match template_id {
            OrderMassActionReport562::TEMPLATE_ID if is_refused => Some(Happening::Reject),
            OrderMassActionReport562::TEMPLATE_ID => Some(Happening::Cancel),
            _ => happening(template_id),
        };
        if self.happenings.len() == HAPPENINGS_MAX {
            self.happenings.pop_front();
        }
        self.happenings.extend(happening);
        let (now, number) = (sender.now().utc, Some(message.seq_num));
        self.print(&Row::of(now, "in", message.uuid, number, columns));
    }

    fn on_state(&mut self, sender: &mut Sender<'_>, state: State) {
        self.is_over = state == State::Disconnected;
        if state == State::Connecting {
            self.reason = None;
        }
        if !matches!(state, State::Established) {
            let (now, uuid) = (sender.now().utc, sender.progress().uuid);
            self.say(now, uuid, &state.to_string(), None);
        }
    }

    fn on_established(&mut self, sender: &mut Sender<'_>, established: &Established) {
        self.was_established = true;
        self.say(sender.now().utc, established.uuid, "established", None);
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
        self.say(now, uuid, "backup", Some(text));
    }

    fn on_failover(&mut self, sender: &mut Sender<'_>, _: Failover) {
        self.tell(sender, "failover", "the exchange has made the backup the primary");
    }

    fn on_takeover(&mut self, sender: &mut Sender<'_>, active: Takeover) {
        let Takeover { next_outgoing, down_for, in_doubt, .. } = active;
        let doubt = match in_doubt {
            true => "; what was sent before may be missing, the next message shows it",
            false => "",
        };
        let millis = down_for.as_nanos() / 1_000_000;
        let text = format!(
            "on the backup's connection: our next message is {next_outgoing}, \
             nothing could be sent for {millis} ms{doubt}"
        );
        self.tell(sender, "active", text);
    }

    fn on_reject(&mut self, sender: &mut Sender<'_>, rejected: &Rejected<'_>) {
        let reason = refusal_text(rejected);
        self.tell(sender, "refused", &reason);
        self.reason = Some(reason);
    }

    fn on_terminate(&mut self, sender: &mut Sender<'_>, terminated: &Terminated<'_>) {
        if !terminated.solicited {
            let reason = termination_text(terminated);
            self.tell(sender, "terminated", &reason);
            self.reason = Some(reason);
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
                "; they are not sent again"
            }
            Some(NotAppliedAnswer::Replay) => "; they are sent again",
            // It was told before, or there is a warning beside it.
            None => "",
        };
        let text = format!("{count} messages from {from_seq_no} on{what}");
        self.tell(sender, "not-applied", text);
    }

    fn on_gap(&mut self, sender: &mut Sender<'_>, gap: Gap) {
        self.tell(sender, "gap", gap_text(gap));
    }

    fn on_lost(&mut self, sender: &mut Sender<'_>, gap: Gap) {
        self.tell(sender, "lost", gap_text(gap));
    }

    fn on_retransmit_reject(&mut self, sender: &mut Sender<'_>, rejected: &RetransmitRejected<'_>) {
        self.tell(sender, "not-retransmitted", rejected.code);
    }

    fn on_error(&mut self, sender: &mut Sender<'_>, error: &Error) {
        self.tell(sender, "error", error);
        self.reason.get_or_insert_with(|| error.to_string());
    }

    fn on_warning(&mut self, sender: &mut Sender<'_>, warning: &Warning) {
        self.tell(sender, "warning", warning);
    }
}

/// The code, and what the exchange says beside it.
fn refusal_text(rejected: &Rejected<'_>) -> String {
    format!("{} {}", rejected.code, rejected.reason).trim_end().to_owned()
}

fn termination_text(terminated: &Terminated<'_>) -> String {
    format!("the exchange has terminated: {}", terminated.code)
}

fn gap_text(gap: Gap) -> String {
    format!("messages {} to {} under {}", gap.from, gap.to, gap.uuid)
}
