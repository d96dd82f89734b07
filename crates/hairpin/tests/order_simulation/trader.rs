//! The trader: what it sends, and what it does about what it is told.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use hairpin_netsim::{Census, Random};
use hairpin_order_entry::{
    ClOrdId, Decimal, Error, Established, Gap, Listener, Message, NewOrder, NotApplied,
    NotAppliedAnswer, Orders, RejectCode, Rejected, SendError, Sender, Sent, SideReq, State,
    TerminateCode, Terminated, Tracks, Warning,
};

use crate::fuse::Fuse;
use crate::ledger::Ledger;
use crate::plan::{Answers, Weakness};
use crate::request::{FIRST, LOW, Request};
use crate::trace::trace;

/// Orders that are tracked.
pub(crate) const CAPACITY: usize = 2_000;

/// What one process of the trader knows, and what outlives it.
pub(crate) struct Trader {
    pub(crate) orders: Orders,
    pub(crate) random: Random,
    pub(crate) census: Census,
    pub(crate) ledger: Rc<RefCell<Ledger>>,
    fuse: Rc<Fuse>,
    /// The next ClOrdID: no process ever uses one again.
    id: Rc<Cell<u64>>,
    answers: Answers,
    weakness: Weakness,
    /// It sends in callbacks too.
    pub(crate) is_busy: bool,
    /// The session cannot be resumed.
    pub(crate) is_spoilt: bool,
    pub(crate) answered: u64,
}

impl Trader {
    pub(crate) fn new(
        orders: Orders,
        random: Random,
        ledger: Rc<RefCell<Ledger>>,
        fuse: Rc<Fuse>,
        id: Rc<Cell<u64>>,
        (answers, weakness): (Answers, Weakness),
    ) -> Self {
        Self {
            orders,
            random,
            census: Census::new(),
            ledger,
            fuse,
            id,
            answers,
            weakness,
            is_busy: true,
            is_spoilt: false,
            answered: 0,
        }
    }

    fn next_id(&self) -> u64 {
        self.id.set(self.id.get() + 1);
        self.id.get()
    }

    fn note(&mut self, sender: &Sender<'_>, sent: Result<Sent, SendError>) {
        trace!(sender.now(), "trader: sends {sent:?}");
        match sent {
            Ok(_) => self.census.count("messages sent"),
            Err(_) => self.census.count("sends refused"),
        }
    }

    /// Sends something, whatever comes to its mind.
    pub(crate) fn act(&mut self, sender: &mut Sender<'_>) {
        if sender.state() != State::Established {
            return;
        }
        let id = self.next_id();
        let Some(request) = Request::draw(&mut self.random, &self.orders, id) else { return };
        let sent = request.send(&mut self.orders, sender);
        self.note(sender, sent);
    }

    /// Sends an order that stays where it is, after which nothing that was sent before is in
    /// doubt.
    pub(crate) fn probe(&mut self, sender: &mut Sender<'_>) -> ClOrdId {
        let id = self.next_id().into();
        let order = NewOrder::limit(FIRST, SideReq::BUY, Decimal(LOW), 1, id);
        let sent = self.orders.send(sender, &order);
        self.note(sender, sent);
        id
    }

    /// A large order, far from the market.
    pub(crate) fn bait(&mut self, sender: &mut Sender<'_>) -> bool {
        let id = self.next_id().into();
        let order = NewOrder::limit(FIRST, SideReq::BUY, Decimal(LOW), 9_999, id);
        self.orders.send(sender, &order.good_till_cancel()).is_ok()
    }
}

impl Tracks for Trader {
    fn orders(&mut self) -> &mut Orders {
        &mut self.orders
    }
}

impl Listener for Trader {
    fn on_state(&mut self, sender: &mut Sender<'_>, state: State) {
        trace!(sender.now(), "trader: {state}");
    }

    fn on_established(&mut self, sender: &mut Sender<'_>, established: &Established) {
        trace!(sender.now(), "trader: {established:?}");
        self.ledger.borrow_mut().log_on(sender.progress().next_outgoing);
        self.fuse.step("killed when established");
        if self.is_busy && self.random.below(3) == 0 {
            self.act(sender);
        }
    }

    fn on_message(&mut self, sender: &mut Sender<'_>, message: &Message<'_>) {
        let Message { uuid, seq_num, redelivered, possible_retransmission, .. } = *message;
        let template = message.header.template_id;
        trace!(
            sender.now(),
            "trader: told {template}, {seq_num} of {uuid}{}{}",
            if redelivered { ", again" } else { "" },
            if possible_retransmission { ", retransmitted" } else { "" }
        );
        self.ledger.borrow_mut().take(message);
        self.answered += 1;
        self.fuse.step("killed in a callback");
        if self.is_busy && self.random.below(4) == 0 {
            self.act(sender);
        }
        self.fuse.step("killed at the end of a callback");
    }

    fn answer_not_applied(&mut self, _: NotApplied, given: NotAppliedAnswer) -> NotAppliedAnswer {
        match self.answers {
            Answers::Mixed if self.random.below(2) == 0 => NotAppliedAnswer::FillGap,
            _ => given,
        }
    }

    fn on_not_applied(&mut self, sender: &mut Sender<'_>, not_applied: NotApplied) {
        trace!(sender.now(), "trader: told {not_applied:?}");
        let progress = sender.progress();
        let committed = progress.next_outgoing - 1;
        self.ledger.borrow_mut().tell(progress.uuid, not_applied, committed);
        self.fuse.step("killed in the callback of a NotApplied");
    }

    fn on_gap(&mut self, sender: &mut Sender<'_>, gap: Gap) {
        trace!(sender.now(), "trader: {gap:?}");
        self.census.count(match gap.uuid {
            0 => "gaps under UUID 0",
            uuid if uuid == sender.progress().uuid => "gaps",
            _ => "gaps under an earlier UUID",
        });
        let count = gap.to - gap.from + 1;
        self.census.add("gaps of several batches", u64::from(count > 2_500));
    }

    fn on_lost(&mut self, sender: &mut Sender<'_>, gap: Gap) {
        trace!(sender.now(), "trader: lost {gap:?}");
        self.ledger.borrow_mut().lose(gap);
    }

    fn on_reject(&mut self, sender: &mut Sender<'_>, rejected: &Rejected<'_>) {
        trace!(sender.now(), "trader: {rejected:?}");
        // It has been under way for long, or the trader knows less than it did.
        assert_eq!(rejected.code, RejectCode::INVALID_TIMESTAMP, "a logon is refused");
        self.census.count("logons refused as too old");
    }

    fn on_terminate(&mut self, sender: &mut Sender<'_>, terminated: &Terminated<'_>) {
        trace!(sender.now(), "trader: {terminated:?}");
        if terminated.answer {
            return self.census.count("terminates answered");
        }
        let is_forgetful = self.ledger.borrow_mut().is_forgetful(sender.progress().uuid);
        let code = terminated.code;
        self.census.count(match code {
            TerminateCode::FINISHED => "terminates of the exchange",
            TerminateCode::KEEP_ALIVE_INTERVAL_LAPSED => "keep-alives lapsed at the exchange",
            TerminateCode::OTHER => "connections displaced",
            // A Negotiate was journaled and never arrived, or it was in vain since a week began.
            TerminateCode::INVALID_UUID | TerminateCode::UNNEGOTIATED => "UUIDs that are not known",
            // Of two requests the first came late.
            TerminateCode::ALREADY_NEGOTIATED | TerminateCode::ALREADY_ESTABLISHED => {
                "requests that came twice"
            }
            TerminateCode::INVALID_NEXT_SEQ_NO if is_forgetful => "numbers forgotten",
            _ => panic!("the exchange terminates: {code}"),
        });
        self.is_spoilt |= matches!(
            code,
            TerminateCode::INVALID_UUID
                | TerminateCode::UNNEGOTIATED
                | TerminateCode::INVALID_NEXT_SEQ_NO
        );
    }

    fn on_error(&mut self, sender: &mut Sender<'_>, error: &Error) {
        trace!(sender.now(), "trader: {error}");
        self.census.count(match error {
            Error::ConnectionLost(State::Connecting) => "connections that could not be made",
            Error::ConnectionLost(_) => "connections lost",
            Error::KeepAliveLapsed => "keep-alives lapsed at the trader",
            Error::ResponseTimeout(_) => "logons not answered",
            Error::TerminateTimeout => "terminates not answered",
            Error::Retransmission(_) => "retransmissions given up",
            Error::SeqNum { .. } if self.weakness.doubles() => "doubled messages found out",
            _ => panic!("{error}"),
        });
    }

    fn on_warning(&mut self, sender: &mut Sender<'_>, warning: &Warning) {
        trace!(sender.now(), "trader: {warning}");
        self.census.count(match warning {
            Warning::Silence => "silences of the exchange",
            Warning::AskedForLife => "silences of the trader",
            Warning::LogonRepeated(_) => "logons repeated",
            Warning::Retransmitted { .. } => "retransmissions dropped",
            Warning::UnknownEnd { .. } => "ends unknown",
            Warning::HeldOverflow { .. } => "holds overflowed",
            Warning::RetransmissionGap { .. } => "gaps within a retransmission",
            Warning::NotReplayed { .. } => "NotApplied not replayed",
            Warning::RetransmissionStalled(_) => "retransmissions stalled",
            Warning::Unrequested(_) => "answers unrequested",
            _ => panic!("{warning}"),
        });
    }
}
