//! Compares the callbacks of a trader's session with the gateway's records and checks their order.

use std::panic::resume_unwind;

use hairpin_netsim::Census;
use hairpin_order_entry as order_entry;
use hairpin_order_entry::{
    BusinessReject521, Established, ExecutionReportCancel534, ExecutionReportNew522, Gap, Listener,
    Message, NotApplied, Rejected, Sender, State, Terminated, Warning,
};

use crate::ledger::Ledger;
use crate::plan::Ordeal;
use hairpin::trader::Strategy;

/// The process crashed in a callback.
#[derive(Debug)]
pub(crate) struct Died;

/// The state of a session as its callbacks have reported it.
#[derive(Debug)]
pub(crate) struct SessionJudge {
    ordeal: Ordeal,
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
    pub(crate) is_spoilt: bool,
    /// No message has arrived since the logon.
    is_fresh: bool,
    /// The process crashes in the callback of the next report.
    pub(crate) is_doomed: bool,
    pub(crate) census: Census,
}

impl SessionJudge {
    pub(crate) fn new(ordeal: Ordeal) -> Self {
        Self {
            ordeal,
            state: State::Disconnected,
            acknowledgements: 0,
            cancels: 0,
            refused: 0,
            gaps: 0,
            errors: 0,
            rejects: 0,
            established: 0,
            resumes: 0,
            is_spoilt: false,
            is_fresh: false,
            is_doomed: false,
            census: Census::new(),
        }
    }

    fn is_lenient(&self) -> bool {
        self.ordeal.corrupts_orders()
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
        assert!(is_legal, "{:?}: from {} to {state}", self.ordeal, self.state);
        self.state = state;
    }
}

/// The strategy's session callbacks, which the checker receives first.
pub(crate) struct Clerk<'a> {
    pub(crate) strategy: &'a mut Strategy,
    pub(crate) judge: &'a mut SessionJudge,
    pub(crate) ledger: &'a mut Ledger,
}

impl Clerk<'_> {
    /// Checks a business message: the next of its run, in a state that allows business messages.
    fn take(&mut self, message: &Message<'_>) {
        let run = self.ledger.run(message.uuid);
        assert_eq!(message.seq_num, run.told + 1, "a report is out of order");
        self.judge.is_fresh = false;
        let may_come = match self.judge.state {
            State::Established | State::Terminating => !message.redelivered,
            state => message.redelivered && state == State::Disconnected,
        };
        assert!(may_come, "a report arrived in the state {}", self.judge.state);
        if self.judge.is_doomed {
            resume_unwind(Box::new(Died));
        }
        self.judge.census.add("reports delivered again", message.redelivered.into());
        run.told = message.seq_num;
    }

    /// Records the end of the connection, which loses all messages in flight.
    fn end(&mut self, sender: &Sender<'_>, why: &'static str) {
        let ordeal = self.judge.ordeal;
        assert!(ordeal.may_disconnect(), "{ordeal:?}: {why}");
        self.ledger.break_run(sender.progress().uuid, why);
    }
}

impl Listener for Clerk<'_> {
    fn on_state(&mut self, sender: &mut Sender<'_>, state: State) {
        self.judge.enter(state);
        self.strategy.on_state(sender, state);
    }

    fn on_established(&mut self, sender: &mut Sender<'_>, established: &Established) {
        assert_eq!(
            (self.judge.state, established.uuid),
            (State::Established, sender.progress().uuid)
        );
        self.judge.census.count("logons");
        let run = self.ledger.run(established.uuid);
        let known = run.told + 1;
        assert!(self.judge.is_lenient() || established.next_seq_no >= known, "{established:?}");
        self.judge.is_fresh = true;
        run.has_skipped = false;
        if self.judge.resumes == established.uuid {
            self.judge.census.count(match run.is_taken() {
                true => "logons resumed with nothing missing",
                false => "logons resumed with orders missing",
            });
        }
        self.judge.established = established.uuid;
        self.strategy.on_established(sender, established);
    }

    fn on_execution_report_new(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportNew522<'_>,
        message: &Message<'_>,
    ) {
        self.take(message);
        self.judge.acknowledgements += 1;
        let (before, uuid) = (sender.progress().next_outgoing, sender.progress().uuid);
        let may_cancel = sender.state() == State::Established;
        self.strategy.on_execution_report_new(sender, report, message);
        let sent = sender.progress().next_outgoing - before;
        self.ledger.run(uuid).sent += sent;
        self.judge.refused += u64::from(sent == 0);
        let is_explained = !may_cancel || self.judge.ordeal.may_refuse() || self.judge.is_lenient();
        assert!(sent == 1 || is_explained, "an order was acknowledged and not cancelled");
    }

    fn on_execution_report_cancel(
        &mut self,
        sender: &mut Sender<'_>,
        report: ExecutionReportCancel534<'_>,
        message: &Message<'_>,
    ) {
        self.take(message);
        self.judge.cancels += 1;
        self.strategy.on_execution_report_cancel(sender, report, message);
    }

    fn on_business_reject(
        &mut self,
        sender: &mut Sender<'_>,
        reject: BusinessReject521<'_>,
        message: &Message<'_>,
    ) {
        assert!(self.judge.is_lenient(), "{:?}: a business reject", self.judge.ordeal);
        self.take(message);
        self.judge.rejects += 1;
        self.strategy.on_business_reject(sender, reject, message);
    }

    fn on_message(&mut self, sender: &mut Sender<'_>, message: &Message<'_>) {
        assert!(self.judge.is_lenient(), "template {}", message.header.template_id);
        self.take(message);
        self.judge.errors += 1;
        self.strategy.on_message(sender, message);
    }

    fn on_reject(&mut self, sender: &mut Sender<'_>, rejected: &Rejected<'_>) {
        let ordeal = self.judge.ordeal;
        assert!(
            ordeal.corrupts_orders(),
            "{ordeal:?}: logon refused: {} {}",
            rejected.code,
            rejected.reason
        );
        self.judge.rejects += 1;
        self.judge.is_spoilt = true;
        self.strategy.on_reject(sender, rejected);
    }

    /// Checks that a gap names exactly the reports that were sent and not received.
    fn on_gap(&mut self, sender: &mut Sender<'_>, gap: Gap) {
        self.judge.gaps += 1;
        self.judge.is_spoilt = true;
        let is_present = gap.uuid == sender.progress().uuid;
        self.judge.census.count(match self.judge.is_fresh {
            _ if !is_present => "reports missing under the previous UUID",
            true => "logons resumed with reports missing",
            false => "reports missing within a stream",
        });
        if !self.judge.is_lenient() {
            let present = sender.progress().uuid;
            let run = self.ledger.run(gap.uuid);
            assert!(run.broken.is_some(), "{gap:?} without a fault");
            // Within the stream, further messages may have followed the gap.
            let is_all = gap.to == run.reported;
            let is_amid = self.judge.state == State::Established && gap.uuid == present;
            assert!(is_all || (is_amid && gap.to < run.reported), "{gap:?}: {}", run.reported);
            // The messages that the previous process received are in the journal.
            assert_eq!(gap.from, run.told + 1, "{gap:?}");
        }
        self.strategy.on_gap(sender, gap);
    }

    fn on_lost(&mut self, _: &mut Sender<'_>, gap: Gap) {
        assert!(self.judge.is_lenient(), "{gap:?} although the gateway keeps all messages");
        self.ledger.run(gap.uuid).told = gap.to;
    }

    /// Checks that a NotApplied names exactly the messages that were sent and not accepted.
    fn on_not_applied(&mut self, sender: &mut Sender<'_>, not_applied: NotApplied) {
        self.judge.census.count("messages reported as not applied");
        let NotApplied { from_seq_no: from, count } = not_applied;
        if !self.judge.is_lenient() {
            let run = self.ledger.run(sender.progress().uuid);
            assert!(run.broken.is_some(), "{not_applied:?} without a fault");
            // Until the gap is filled, each further message is not applied, counted from the same
            // number.
            let known = match run.not_applied.last() {
                Some(&(from, _)) if run.has_skipped => from - 1,
                _ => run.last_accepted(),
            };
            assert!(from > known && from <= run.sent, "{not_applied:?}, {known} accepted");
            // CME's count includes the number that Establish names as the next one, which no
            // message has used.
            assert!(from + count <= run.sent + 2, "{not_applied:?}, {} sent", run.sent);
            // Messages after the Sequence that fills the gap are applied. A second NotApplied can
            // refer only to messages that left before the Sequence.
            let is_answered = run.has_skipped && from + count > run.skipped + 1;
            assert!(
                !is_answered,
                "{not_applied:?} although all messages to {} are given up",
                run.skipped
            );
            run.not_applied.push((from, count));
            if !run.has_skipped {
                (run.has_skipped, run.skipped) = (true, run.sent);
            }
        }
        self.strategy.on_not_applied(sender, not_applied);
    }

    fn on_terminate(&mut self, sender: &mut Sender<'_>, terminated: &Terminated<'_>) {
        if terminated.solicited {
            self.judge.census.count("terminates answered");
        } else {
            self.end(sender, "terminated by the exchange");
            self.judge.is_spoilt = true;
            self.judge.census.count("terminates by the exchange");
        }
        self.strategy.on_terminate(sender, terminated);
    }

    fn on_error(&mut self, sender: &mut Sender<'_>, error: &order_entry::Error) {
        match error {
            order_entry::Error::ConnectionLost(State::Connecting) => {
                self.judge.census.count("logons that found no connection");
                assert!(self.judge.ordeal.may_disconnect(), "{error}");
            }
            order_entry::Error::ConnectionLost(_) => {
                self.judge.census.count("connections lost");
                self.end(sender, "connection lost");
            }
            order_entry::Error::KeepAliveLapsed => {
                self.judge.census.count("keep-alives lapsed");
                self.judge.is_spoilt = true;
                self.end(sender, "keep-alive lapsed");
            }
            _ => {
                assert!(self.judge.is_lenient(), "{:?}: {error}", self.judge.ordeal);
                self.judge.is_spoilt = true;
                self.judge.census.count("corrupt order streams detected");
            }
        }
        self.judge.errors += 1;
        self.strategy.on_error(sender, error);
    }

    fn on_warning(&mut self, sender: &mut Sender<'_>, warning: &Warning) {
        match warning {
            Warning::Silence => self.judge.census.count("silences of the exchange"),
            Warning::SequenceRequested => self.judge.census.count("silences of the trader"),
            _ => assert!(self.judge.is_lenient(), "{:?}: {warning}", self.judge.ordeal),
        }
        self.strategy.on_warning(sender, warning);
    }
}
