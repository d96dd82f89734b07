//! Compares the callbacks of a trader's session with the gateway's records and checks their order.

use std::panic::resume_unwind;

use hairpin_netsim::Census;
use hairpin_order_entry as order_entry;
use hairpin_order_entry::{
    BusinessReject521, Established, ExecutionReportCancel534, ExecutionReportNew522, Gap, Listener,
    Message, NotApplied, Rejected, Sender, State, Terminated, Warning,
};

use crate::message_log::MessageLog;
use crate::plan::Scenario;
use hairpin_cli_latency::strategy::Strategy;

/// The process crashed in a callback.
#[derive(Debug)]
pub(crate) struct Crashed;

/// The state of a session as its callbacks have reported it.
#[derive(Debug)]
pub(crate) struct SessionChecker {
    scenario: Scenario,
    state: State,
    pub(crate) acknowledgements: u64,
    pub(crate) cancels: u64,
    /// The number of cancels that the session refused.
    pub(crate) refused: u64,
    pub(crate) gaps: u64,
    pub(crate) errors: u64,
    pub(crate) rejects: u64,
    /// The UUID of the last established session.
    pub(crate) established: u64,
    /// The UUID that the present logon resumes, or 0.
    pub(crate) resumes: u64,
    /// The session cannot be resumed.
    pub(crate) is_unresumable: bool,
    /// No message has arrived since the logon.
    is_fresh: bool,
    /// The process crashes in the callback of the next report.
    pub(crate) crashes_in_callback: bool,
    pub(crate) census: Census,
}

impl SessionChecker {
    pub(crate) fn new(scenario: Scenario) -> Self {
        Self {
            scenario,
            state: State::Disconnected,
            acknowledgements: 0,
            cancels: 0,
            refused: 0,
            gaps: 0,
            errors: 0,
            rejects: 0,
            established: 0,
            resumes: 0,
            is_unresumable: false,
            is_fresh: false,
            crashes_in_callback: false,
            census: Census::new(),
        }
    }

    fn is_lenient(&self) -> bool {
        self.scenario.corrupts_orders()
    }

    fn enter(&mut self, state: State) {
        use State::*;
        let is_legal = match (self.state, state) {
            // A terminate directly after a connect is reported before the connecting state.
            (Disconnected, Connecting | Terminating)
            | (Connecting, Negotiating | Establishing)
            | (Negotiating, Establishing)
            | (Establishing, Established)
            | (Terminating, Disconnected) => true,
            (Disconnected, _) => false,
            (_, Terminating | Disconnected) => true,
            _ => false,
        };
        assert!(is_legal, "{:?}: from {} to {state}", self.scenario, self.state);
        self.state = state;
    }
}

/// The strategy's session callbacks, which the checker receives first.
pub(crate) struct CheckedSessionListener<'a> {
    pub(crate) strategy: &'a mut Strategy,
    pub(crate) checker: &'a mut SessionChecker,
    pub(crate) message_log: &'a mut MessageLog,
}

impl CheckedSessionListener<'_> {
    /// Checks a business message: the next of its UUID, in a state that allows business messages.
    fn take(&mut self, message: &Message<'_>) {
        let messages = self.message_log.uuid_messages(message.uuid);
        assert_eq!(message.seq_num, messages.received + 1, "a report is out of order");
        self.checker.is_fresh = false;
        let may_come = match self.checker.state {
            State::Established | State::Terminating => !message.redelivered,
            state => message.redelivered && state == State::Disconnected,
        };
        assert!(may_come, "a report arrived in the state {}", self.checker.state);
        if self.checker.crashes_in_callback {
            resume_unwind(Box::new(Crashed));
        }
        self.checker.census.add("reports delivered again", message.redelivered.into());
        messages.received = message.seq_num;
    }

    /// Records the end of the connection, which loses all messages in flight.
    fn end(&mut self, sender: &Sender<'_>, why: &'static str) {
        let scenario = self.checker.scenario;
        assert!(scenario.may_disconnect(), "{scenario:?}: {why}");
        self.message_log.allow_loss(sender.progress().uuid, why);
    }
}

impl Listener for CheckedSessionListener<'_> {
    fn on_state(&mut self, sender: &mut Sender<'_>, state: State) {
        self.checker.enter(state);
        self.strategy.on_state(sender, state);
    }

    fn on_established(&mut self, sender: &mut Sender<'_>, established: &Established) {
        assert_eq!(
            (self.checker.state, established.uuid),
            (State::Established, sender.progress().uuid)
        );
        self.checker.census.count("logons");
        let messages = self.message_log.uuid_messages(established.uuid);
        let known = messages.received + 1;
        assert!(self.checker.is_lenient() || established.next_seq_no >= known, "{established:?}");
        self.checker.is_fresh = true;
        messages.has_skipped = false;
        if self.checker.resumes == established.uuid {
            self.checker.census.count(match messages.is_accepted_or_skipped() {
                true => "logons resumed with nothing missing",
                false => "logons resumed with orders missing",
            });
        }
        self.checker.established = established.uuid;
        self.strategy.on_established(sender, established);
    }

    fn on_execution_report_new(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        message: &Message<'_>,
    ) {
        self.take(message);
        self.checker.acknowledgements += 1;
        let (before, uuid) = (sender.progress().next_outgoing, sender.progress().uuid);
        let may_cancel = sender.state() == State::Established;
        self.strategy.on_execution_report_new(sender, report, message);
        let sent = sender.progress().next_outgoing - before;
        self.message_log.uuid_messages(uuid).sent += sent;
        self.checker.refused += u64::from(sent == 0);
        let is_explained =
            !may_cancel || self.checker.scenario.may_refuse() || self.checker.is_lenient();
        assert!(sent == 1 || is_explained, "an order was acknowledged and not canceled");
    }

    fn on_execution_report_cancel(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportCancel534<'_>,
        message: &Message<'_>,
    ) {
        self.take(message);
        self.checker.cancels += 1;
        self.strategy.on_execution_report_cancel(sender, report, message);
    }

    fn on_business_reject(
        &mut self,
        sender: &mut Sender<'_>,
        reject: BusinessReject521<'_>,
        message: &Message<'_>,
    ) {
        assert!(self.checker.is_lenient(), "{:?}: a business reject", self.checker.scenario);
        self.take(message);
        self.checker.rejects += 1;
        self.strategy.on_business_reject(sender, reject, message);
    }

    fn on_message(&mut self, sender: &mut Sender<'_>, message: &Message<'_>) {
        assert!(self.checker.is_lenient(), "template {}", message.header.template_id);
        self.take(message);
        self.checker.errors += 1;
        self.strategy.on_message(sender, message);
    }

    fn on_reject(&mut self, sender: &mut Sender<'_>, rejected: &Rejected<'_>) {
        let scenario = self.checker.scenario;
        assert!(
            scenario.corrupts_orders(),
            "{scenario:?}: logon refused: {} {}",
            rejected.code,
            rejected.reason
        );
        self.checker.rejects += 1;
        self.checker.is_unresumable = true;
        self.strategy.on_reject(sender, rejected);
    }

    /// Checks that a gap names exactly the reports that were sent and not received.
    fn on_gap(&mut self, sender: &mut Sender<'_>, gap: Gap) {
        self.checker.gaps += 1;
        self.checker.is_unresumable = true;
        let is_present = gap.uuid == sender.progress().uuid;
        self.checker.census.count(match self.checker.is_fresh {
            _ if !is_present => "reports missing under the previous UUID",
            true => "logons resumed with reports missing",
            false => "reports missing within a stream",
        });
        if !self.checker.is_lenient() {
            let present = sender.progress().uuid;
            let messages = self.message_log.uuid_messages(gap.uuid);
            assert!(messages.broken.is_some(), "{gap:?} without a fault");
            // Within the stream, further messages may have followed the gap.
            let is_all = gap.to == messages.reported;
            let is_within_stream = self.checker.state == State::Established && gap.uuid == present;
            assert!(
                is_all || (is_within_stream && gap.to < messages.reported),
                "{gap:?}: {}",
                messages.reported
            );
            // The messages that the previous process received are in the journal.
            assert_eq!(gap.from, messages.received + 1, "{gap:?}");
        }
        self.strategy.on_gap(sender, gap);
    }

    fn on_lost(&mut self, _: &mut Sender<'_>, gap: Gap) {
        assert!(self.checker.is_lenient(), "{gap:?} although the gateway keeps all messages");
        self.message_log.uuid_messages(gap.uuid).received = gap.to;
    }

    /// Checks that a NotApplied names exactly the messages that were sent and not accepted.
    fn on_not_applied(&mut self, sender: &mut Sender<'_>, not_applied: NotApplied) {
        self.checker.census.count("messages reported as not applied");
        let NotApplied { from_seq_no: from, count } = not_applied;
        if !self.checker.is_lenient() {
            let messages = self.message_log.uuid_messages(sender.progress().uuid);
            assert!(messages.broken.is_some(), "{not_applied:?} without a fault");
            // Until the gap is filled, each further message is not applied, counted from the same
            // number.
            let known = match messages.not_applied.last() {
                Some(&(from, _)) if messages.has_skipped => from - 1,
                _ => messages.last_accepted(),
            };
            assert!(from > known && from <= messages.sent, "{not_applied:?}, {known} accepted");
            // CME's count includes the number that Establish names as the next one, which no
            // message has used.
            assert!(from + count <= messages.sent + 2, "{not_applied:?}, {} sent", messages.sent);
            // Messages after the Sequence that fills the gap are applied. A second NotApplied can
            // refer only to messages that left before the Sequence.
            let is_answered = messages.has_skipped && from + count > messages.skipped + 1;
            assert!(
                !is_answered,
                "{not_applied:?} although all messages to {} are given up",
                messages.skipped
            );
            messages.not_applied.push((from, count));
            if !messages.has_skipped {
                (messages.has_skipped, messages.skipped) = (true, messages.sent);
            }
        }
        self.strategy.on_not_applied(sender, not_applied);
    }

    fn on_terminate(&mut self, sender: &mut Sender<'_>, terminated: &Terminated<'_>) {
        if terminated.solicited {
            self.checker.census.count("terminates answered");
        } else {
            self.end(sender, "terminated by the exchange");
            self.checker.is_unresumable = true;
            self.checker.census.count("terminates by the exchange");
        }
        self.strategy.on_terminate(sender, terminated);
    }

    fn on_error(&mut self, sender: &mut Sender<'_>, error: &order_entry::Error) {
        match error {
            order_entry::Error::ConnectionLost(State::Connecting) => {
                self.checker.census.count("logons that found no connection");
                assert!(self.checker.scenario.may_disconnect(), "{error}");
            }
            order_entry::Error::ConnectionLost(_) => {
                self.checker.census.count("connections lost");
                self.end(sender, "connection lost");
            }
            order_entry::Error::KeepAliveLapsed => {
                self.checker.census.count("keep-alives lapsed");
                self.checker.is_unresumable = true;
                self.end(sender, "keep-alive lapsed");
            }
            _ => {
                assert!(self.checker.is_lenient(), "{:?}: {error}", self.checker.scenario);
                self.checker.is_unresumable = true;
                self.checker.census.count("corrupt order streams detected");
            }
        }
        self.checker.errors += 1;
        self.strategy.on_error(sender, error);
    }

    fn on_warning(&mut self, sender: &mut Sender<'_>, warning: &Warning) {
        match warning {
            Warning::Silence => self.checker.census.count("silences of the exchange"),
            Warning::SequenceRequested => self.checker.census.count("silences of the trader"),
            _ => assert!(self.checker.is_lenient(), "{:?}: {warning}", self.checker.scenario),
        }
        self.strategy.on_warning(sender, warning);
    }
}
