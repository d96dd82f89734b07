//! The orders of a session: which work, how much of them is open, and what is on its way.

mod apply;
mod book;
mod counters;
mod download;
mod index;
mod journal;
mod order;
mod order_tracking;
mod request;

use std::collections::VecDeque;

use hairpin_ilink3::{
    ClOrdId, Gap, Message, NotApplied, NotAppliedAnswer, SendError, Sender, Sent,
};

pub use counters::OrdersCounters;
pub use download::{Download, DownloadEnd, DownloadError, Downloaded};
pub use order::{InFlight, Order, OrderState, RequestKind};
pub use order_tracking::{OrderTracking, TrackOrders};
pub use request::{Intent, OrderRequest};

use book::Book;

/// Sessions whose last applied number is remembered: the present one, two that may still have
/// something to say, and UUID 0.
const STREAMS: usize = 4;

/// Which orders work, as far as the exchange has said.
///
/// It learns of requests by [`send`](Self::send) and of answers by
/// [`handle_message`](Self::handle_message); a listener in [`OrderTracking`] need do the first
/// only.
/// After a restart [`from_journal`](Self::from_journal) makes one that knows what the last one
/// did.
///
/// All places are taken when it is made, nothing allocates afterwards. What finds no place is not
/// tracked, and [counted](OrdersCounters).
///
/// Quotes are no orders: whoever quotes and trades by it sees the rest of the quote here after its
/// first trade.
///
/// ```
/// use hairpin_order_entry::{Listener, Orders, TrackOrders};
///
/// struct Strategy {
///     orders: Orders,
/// }
///
/// impl Listener for Strategy {}
///
/// impl TrackOrders for Strategy {
///     fn orders(&mut self) -> &mut Orders {
///         &mut self.orders
///     }
/// }
///
/// let mut strategy = Strategy { orders: Orders::new(1_000) };
/// assert_eq!(strategy.orders().working().count(), 0);
/// ```
#[derive(Debug, Clone)]
pub struct Orders {
    book: Book,
    in_flight: VecDeque<InFlight>,
    in_flight_max: usize,
    /// Of some sessions: the UUID, and the number of the last message that was applied.
    heard: [(u64, u32); STREAMS],
    counters: OrdersCounters,
}

impl Orders {
    /// A tracker of up to `capacity` orders, and of as many requests in flight. At least one of
    /// each.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.clamp(1, 1 << 30);
        Self {
            book: Book::new(capacity),
            in_flight: VecDeque::with_capacity(capacity),
            in_flight_max: capacity,
            heard: [(0, 0); STREAMS],
            counters: OrdersCounters::default(),
        }
    }

    /// The orders on the exchange's books, in no particular order.
    pub fn working(&self) -> impl Iterator<Item = &Order> {
        self.iter().filter(|order| order.is_working())
    }

    /// All orders: those that work, and those that were sent and not answered.
    pub fn iter(&self) -> impl Iterator<Item = &Order> {
        self.book.iter()
    }

    /// The order that has this OrderID (37), if it works.
    #[inline]
    #[must_use]
    pub fn by_order_id(&self, order_id: u64) -> Option<&Order> {
        self.book.order(self.book.by_order_id(order_id)?)
    }

    /// The order that has this ClOrdID (11): its own, or since a replacement was accepted that
    /// one's. With several of one id, one of them.
    #[inline]
    #[must_use]
    pub fn by_cl_ord_id(&self, id: ClOrdId) -> Option<&Order> {
        self.book.order(self.book.by_cl_ord_id(&id)?)
    }

    /// Requests that are not answered, the oldest first.
    pub fn in_flight(&self) -> impl Iterator<Item = &InFlight> {
        self.in_flight.iter()
    }

    /// Orders that can be tracked at once.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.book.capacity()
    }

    /// What it was told, and what it could not follow.
    #[must_use]
    pub fn counters(&self) -> &OrdersCounters {
        &self.counters
    }

    /// Sends a request and notes it.
    ///
    /// # Errors
    /// [`SendError`], and there is nothing to note.
    #[inline]
    pub fn send<M: OrderRequest>(
        &mut self,
        sender: &mut Sender<'_>,
        message: &M,
    ) -> Result<Sent, SendError> {
        let sent = sender.send(message)?;
        self.handle_sent(sender.progress().uuid, sent.seq_num, message);
        Ok(sent)
    }

    /// Notes a request that was sent in another way, under this UUID and SeqNum.
    pub fn handle_sent<M: OrderRequest>(&mut self, uuid: u64, seq_num: u32, message: &M) {
        let request_id = message.request_id(seq_num).unwrap_or(u64::from(seq_num));
        self.note(uuid, seq_num, request_id, message.intent());
    }

    /// Applies a business message of the exchange. Templates that say nothing of orders change
    /// nothing, and neither does a message that is [delivered again](Message::redelivered) if it
    /// was applied before.
    pub fn handle_message(&mut self, message: &Message<'_>) {
        if message.redelivered && self.was_heard(message) {
            self.counters.repeated += 1;
            return;
        }
        self.note_heard(message.uuid, message.seq_num);
        self.give_up_before(message.uuid);
        self.apply(message);
    }

    /// Requests of the session `uuid` were not applied: they, and the new orders among them, are
    /// gone. If they were sent again, and with them all that followed, each stays until it or a
    /// later one is answered.
    pub fn handle_not_applied(
        &mut self,
        uuid: u64,
        not_applied: NotApplied,
        answer: NotAppliedAnswer,
    ) {
        let from = not_applied.from_seq_no;
        let numbers = from..from.saturating_add(not_applied.count);
        match answer {
            NotAppliedAnswer::FillGap => self.give_up(|it| {
                // Of what is being sent again the exchange may say so more than once.
                it.uuid == uuid && numbers.contains(&it.seq_num) && !it.is_sent_again
            }),
            NotAppliedAnswer::Replay => {
                let is_meant = |it: &InFlight| it.uuid == uuid && it.seq_num >= from;
                for it in self.in_flight.iter_mut().filter(|it| is_meant(it)) {
                    (it.is_doubtful, it.is_sent_again) = (true, true);
                }
            }
        }
    }

    /// The session `uuid` is established, anew or again. What is in flight from before may have
    /// been passed by without a word: NotApplied was lost with its connection, and a Sequence has
    /// filled the gap. Each request stays until it or a later one is answered.
    pub fn handle_established(&mut self, uuid: u64) {
        self.doubt(uuid);
    }

    /// Messages of the exchange will not come any more: what they said of orders is not known.
    pub fn handle_lost(&mut self, gap: Gap) {
        self.counters.lost += u64::from(gap.to.saturating_sub(gap.from)) + 1;
    }

    /// Forgets an order, and what is in flight for it, whatever the exchange may think of it; as it
    /// stood. For orders of which something else than the exchange's reports has told the end.
    pub fn forget(&mut self, order_id: u64) -> Option<Order> {
        self.in_flight.retain(|it| it.order_id != Some(order_id));
        self.end(order_id)
    }

    fn note(&mut self, uuid: u64, seq_num: u32, request_id: u64, intent: Intent) {
        // A number that is used again was refused without being used.
        self.give_up(|it| it.uuid == uuid && it.seq_num >= seq_num);
        self.counters.requests += 1;
        let (kind, cl_ord_id, order_id) = match intent {
            Intent::New(order) => (RequestKind::New, order.cl_ord_id, None),
            Intent::Replace { order_id, cl_ord_id } => {
                (RequestKind::Replace, cl_ord_id, Some(order_id))
            }
            Intent::Cancel { order_id, cl_ord_id } => {
                (RequestKind::Cancel, cl_ord_id, Some(order_id))
            }
            Intent::MassAction => (RequestKind::MassAction, ClOrdId([0; 20]), None),
            Intent::Other => return,
        };
        if self.in_flight.len() == self.in_flight_max {
            self.counters.untracked_requests += 1;
            return;
        }
        let slot = match intent {
            Intent::New(order) => self.insert(Order { state: OrderState::Pending, ..order }),
            _ => None,
        };
        self.in_flight.push_back(InFlight {
            kind,
            cl_ord_id,
            order_id,
            request_id,
            uuid,
            seq_num,
            is_doubtful: false,
            is_sent_again: false,
            slot,
        });
    }

    fn insert(&mut self, order: Order) -> Option<u32> {
        let slot = self.book.insert(order);
        self.counters.untracked_orders += u64::from(slot.is_none());
        slot
    }

    fn end(&mut self, order_id: u64) -> Option<Order> {
        self.book.remove(self.book.by_order_id(order_id)?)
    }

    /// Forgets requests that will not be answered, and the orders that only they spoke of.
    fn give_up(&mut self, is_meant: impl Fn(&InFlight) -> bool) {
        let Self { in_flight, book, counters, .. } = self;
        in_flight.retain(|request| {
            let is_over = is_meant(request);
            if is_over {
                counters.not_applied += 1;
                request.slot.and_then(|slot| book.remove(slot));
            }
            !is_over
        });
    }

    /// What an earlier session has not answered before a later one speaks, it never will.
    fn give_up_before(&mut self, uuid: u64) {
        if self.in_flight.front().is_some_and(|it| it.uuid < uuid) {
            self.give_up(|it| it.uuid < uuid);
        }
    }

    /// Takes the request out that is answered; those that were passed by before it will not be.
    fn answer(&mut self, is_meant: impl Fn(&InFlight) -> bool) -> Option<InFlight> {
        let at = self.in_flight.iter().position(is_meant)?;
        let request = self.in_flight.remove(at)?;
        if self.in_flight.front().is_some_and(|it| it.is_doubtful) {
            let InFlight { uuid, seq_num, .. } = request;
            self.give_up(|it| it.is_doubtful && it.uuid == uuid && it.seq_num < seq_num);
        }
        Some(request)
    }

    fn was_heard(&self, message: &Message<'_>) -> bool {
        let heard = self.heard.iter().find(|(uuid, _)| *uuid == message.uuid);
        heard.is_some_and(|(_, last)| message.seq_num <= *last)
    }

    #[inline]
    fn note_heard(&mut self, uuid: u64, seq_num: u32) {
        match self.heard.iter_mut().find(|heard| heard.0 == uuid) {
            Some(heard) => heard.1 = seq_num,
            None => {
                // The first place is that of UUID 0; of the others the oldest makes room.
                self.heard[1..].sort_unstable_by(|a, b| b.cmp(a));
                self.heard[STREAMS - 1] = (uuid, seq_num);
            }
        }
    }
}

#[cfg(test)]
mod tests;
