//! The trader: what it sends, and what it does about what it is told.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use hairpin_cme_codecs::ilink3::{OrderStatusRequest533, SideNULL};
use hairpin_exchange as exchange;
use hairpin_ilink3::{Outgoing, Stamp};
use hairpin_netsim::{Census, Random};
use hairpin_order_entry::{
    CancelOrder, ClOrdId, Decimal, EncodeError, Error, Established, Gap, Intent, Listener,
    MassCancel, Message, NewOrder, NotApplied, NotAppliedAnswer, Order, OrderRequest, Orders,
    RejectCode, Rejected, ReplaceOrder, Sender, SideReq, State, TerminateCode, Terminated, Tracks,
    Warning,
};

use crate::fuse::Fuse;
use crate::ledger::Ledger;
use crate::plan::{Answers, Weakness};
use crate::trace::trace;

/// The first of two instruments, whose books stay around 1,000.
pub(crate) const FIRST: i32 = 1_001;
/// A price that does not trade, and one at which every order to buy does.
pub(crate) const LOW: i64 = 1_000_000_000;
const HIGH: i64 = 999_999_000_000_000;
/// Orders that are tracked.
pub(crate) const CAPACITY: usize = 2_000;

/// Asks how an order stands.
pub(crate) struct Status(pub(crate) u64);

impl Outgoing for Status {
    const MAX_LENGTH: usize = OrderStatusRequest533::ENCODED_LENGTH;

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        OrderStatusRequest533::encode(buffer)?
            .set_party_details_list_req_id(stamp.operator.party_details_list_req_id)
            .set_ord_status_req_id(stamp.seq_num.into())
            .set_manual_order_indicator(stamp.operator.manual_order_indicator)
            .set_sender_id(stamp.operator.sender_id)
            .set_order_id(self.0)
            .set_sending_time_epoch(stamp.sending_time.as_nanos())
            .set_location(stamp.operator.location);
        Ok(Self::MAX_LENGTH)
    }
}

impl OrderRequest for Status {
    fn intent(&self) -> Intent {
        Intent::Other
    }
}

/// An order that is cut short, and refused without its number.
struct Broken(NewOrder);

impl Outgoing for Broken {
    const MAX_LENGTH: usize = NewOrder::MAX_LENGTH;

    fn request_id(&self, seq_num: u32) -> Option<u64> {
        self.0.request_id(seq_num)
    }

    fn encode(&self, stamp: &Stamp<'_>, buffer: &mut [u8]) -> Result<usize, EncodeError> {
        self.0.encode(stamp, buffer)?;
        Ok(40)
    }
}

impl OrderRequest for Broken {
    fn intent(&self) -> Intent {
        self.0.intent()
    }
}

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

    /// A new order of some kind.
    fn draw_order(&mut self) -> NewOrder {
        let (id, quantity) = (self.next_id().into(), 1 + self.random.below(20) as u32);
        let security = FIRST + self.random.below(2) as i32;
        let side = *self.random.pick(&[SideReq::BUY, SideReq::SELL]);
        let near = (996 + self.random.below(9)) as i64 * 1_000_000_000;
        let far = if side == SideReq::BUY { LOW } else { HIGH };
        let limit = |price| NewOrder::limit(security, side, Decimal(price), quantity, id);
        let trigger = if side == SideReq::BUY { HIGH } else { LOW };
        match self.random.below(11) {
            0 => NewOrder::market(security, side, quantity, id),
            1 => NewOrder::market_limit(security, side, quantity, id),
            2 => limit(near).fill_and_kill(),
            3 => limit(near).fill_or_kill(),
            4 => limit(far).good_till_cancel(),
            5 => limit(far).good_till_date(30_000),
            6 => NewOrder::stop(security, side, Decimal(trigger), quantity, id),
            7 => limit(near + 1),
            8 | 9 => limit(near),
            _ => limit(far),
        }
    }

    /// Some working order, as the trader knows it.
    fn draw_working(&mut self) -> Option<Order> {
        let count = self.orders.working().count() as u64;
        let nth = self.random.below(count) as usize;
        self.orders.working().nth(nth).copied()
    }

    fn send<M: OrderRequest>(&mut self, sender: &mut Sender<'_>, message: &M) {
        let sent = self.orders.send(sender, message);
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
        match self.random.below(20) {
            0..8 => {
                let order = self.draw_order();
                self.send(sender, &order);
            }
            8..12 => self.cancel(sender),
            12..15 => self.replace(sender),
            15 => self.cancel_many(sender),
            16 | 17 => {
                let order_id = self.draw_working().and_then(|order| order.order_id);
                self.send(sender, &Status(order_id.unwrap_or(77)));
            }
            18 if self.random.below(3) == 0 => {
                let order = self.draw_order();
                self.send(sender, &Broken(order));
            }
            _ => {}
        }
    }

    fn cancel(&mut self, sender: &mut Sender<'_>) {
        let Some(order) = self.draw_working() else { return };
        let (order_id, id) = (order.order_id.expect("it works"), self.next_id().into());
        self.send(sender, &CancelOrder::new(order_id, order.security_id, order.side, id));
    }

    fn replace(&mut self, sender: &mut Sender<'_>) {
        let terms = self.draw_order();
        let Some(order) = self.draw_working() else { return };
        let terms = NewOrder { security_id: order.security_id, side: order.side, ..terms };
        let replace = ReplaceOrder::with_terms_of(order.order_id.expect("it works"), &terms);
        let is_mitigated = self.random.below(2) == 0;
        self.send(sender, &if is_mitigated { replace.mitigated() } else { replace });
    }

    fn cancel_many(&mut self, sender: &mut Sender<'_>) {
        if self.random.below(6) > 0 {
            return;
        }
        let side = *self.random.pick(&[None, Some(SideNULL::BUY)]);
        let mass = match self.random.below(3) {
            0 => MassCancel::all(),
            1 => MassCancel::market_segment(64),
            _ => MassCancel::instrument(FIRST),
        };
        self.send(sender, &MassCancel { side, ..mass });
    }

    /// Sends an order that stays where it is, after which nothing that was sent before is in
    /// doubt.
    pub(crate) fn probe(&mut self, sender: &mut Sender<'_>) -> ClOrdId {
        let id = self.next_id().into();
        self.send(sender, &NewOrder::limit(FIRST, SideReq::BUY, Decimal(LOW), 1, id));
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

/// OrderID, contracts traded and open of what the trader believes to work.
pub(crate) fn believed(orders: &Orders) -> Vec<(u64, u32, u32)> {
    let row = |it: &Order| (it.order_id.expect("it works"), it.filled, it.leaves);
    let mut rows: Vec<_> = orders.working().map(row).collect();
    rows.sort_unstable();
    rows
}

/// The same of what the exchange holds of it.
pub(crate) fn held(floor: &exchange::Floor) -> Vec<(u64, u32, u32)> {
    let matching = floor.matching();
    let resting = (0..matching.instruments())
        .flat_map(|instrument| exchange::Side::BOTH.map(|side| matching.orders(instrument, side)))
        .flatten();
    let stops = matching.stops().iter().map(|stop| &stop.order);
    let all = resting.chain(stops).filter(|order| order.owner == exchange::Owner(1));
    let mut rows: Vec<_> = all.map(|it| (it.id.0, it.traded, it.remaining)).collect();
    rows.sort_unstable();
    rows
}
