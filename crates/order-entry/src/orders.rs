//! The order tracker: working orders, their open quantity, and requests in flight.

mod apply;
mod counters;
mod download;
mod hash_index;
mod journal_replay;
mod order;
mod order_table;
mod order_tracking;
mod orders_left;
mod request;

use std::collections::VecDeque;

use hairpin_ilink3::{
    ClOrdId, Gap, Message, NotApplied, NotAppliedAnswer, OrderId, SendError, Sender, Sent,
};

pub use counters::OrdersCounters;
pub use download::{Download, DownloadError, DownloadResult, Downloaded};
pub use order::{InFlight, Order, OrderState, RequestKind};
pub use order_tracking::{OrderTracking, TrackOrders};
pub use orders_left::{CancelOnQuit, OrdersLeft};
pub use request::{Intent, OrderRequest};

use order_table::OrderTable;

/// The number of sessions whose last applied sequence number is kept: the current one, two earlier
/// ones that may still be redelivered, and UUID 0.
const STREAMS: usize = 4;

/// A tracker of orders and requests, as reported by the exchange.
///
/// [`send`](Self::send) records requests, and [`handle_message`](Self::handle_message) applies
/// reports. A listener in [`OrderTracking`] calls only the first. After a restart
/// [`from_journal`](Self::from_journal) rebuilds the tracker of the earlier process.
///
/// All memory is allocated at creation. Orders and requests beyond the capacity are not tracked but
/// [counted](OrdersCounters).
///
/// Quotes are not tracked as orders. After its first trade, the rest of a quote appears as an
/// order.
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
    orders: OrderTable,
    in_flight: VecDeque<InFlight>,
    in_flight_max: usize,
    /// The UUID and the last applied sequence number of some sessions.
    last_applied: [(u64, u32); STREAMS],
    counters: OrdersCounters,
}

impl Orders {
    /// Creates a tracker of up to `capacity` orders and as many requests in flight, at least one of
    /// each.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.clamp(1, 1 << 30);
        Self {
            orders: OrderTable::new(capacity),
            in_flight: VecDeque::with_capacity(capacity),
            in_flight_max: capacity,
            last_applied: [(0, 0); STREAMS],
            counters: OrdersCounters::default(),
        }
    }

    /// Returns the orders on the exchange's books, in no particular order.
    pub fn working(&self) -> impl Iterator<Item = &Order> {
        self.iter().filter(|order| order.is_working())
    }

    /// Returns the orders that are left if the run ends now.
    #[must_use]
    pub fn left(&self, cancel: CancelOnQuit) -> OrdersLeft {
        let working = self.working().count();
        OrdersLeft { working, unanswered: self.iter().count() - working, cancel }
    }

    /// Returns all orders, working and pending.
    pub fn iter(&self) -> impl Iterator<Item = &Order> {
        self.orders.iter()
    }

    /// Returns the working order with this OrderID (37).
    #[inline]
    #[must_use]
    pub fn by_order_id(&self, order_id: impl Into<OrderId>) -> Option<&Order> {
        self.orders.order(self.orders.by_order_id(order_id.into())?)
    }

    /// Returns the order with this ClOrdID (11): the order's own, or that of its last accepted
    /// replacement. If several orders have the id, returns any of them.
    #[inline]
    #[must_use]
    pub fn by_cl_ord_id(&self, id: ClOrdId) -> Option<&Order> {
        self.orders.order(self.orders.by_cl_ord_id(&id)?)
    }

    /// Returns the unanswered requests, oldest first.
    pub fn in_flight(&self) -> impl Iterator<Item = &InFlight> {
        self.in_flight.iter()
    }

    /// Returns the largest number of tracked orders.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.orders.capacity()
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> &OrdersCounters {
        &self.counters
    }

    /// Sends a request and records it.
    ///
    /// # Errors
    /// [`SendError`]; nothing is recorded.
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

    /// Records a request that was sent by other means, under this UUID and SeqNum.
    pub fn handle_sent<M: OrderRequest>(&mut self, uuid: u64, seq_num: u32, message: &M) {
        let request_id = message.request_id(seq_num).unwrap_or(u64::from(seq_num));
        self.record_request(uuid, seq_num, request_id, message.intent());
    }

    /// Applies a business message of the exchange. Ignores templates without order information, and
    /// [redelivered](Message::redelivered) messages that were applied before.
    pub fn handle_message(&mut self, message: &Message<'_>) {
        if message.redelivered && self.was_applied(message) {
            self.counters.repeated += 1;
            return;
        }
        self.record_applied(message.uuid, message.seq_num);
        self.drop_requests_before(message.uuid);
        self.apply(message);
    }

    /// Handles NotApplied of the session `uuid`. Drops the requests and their new orders. If they
    /// are sent again, with all requests after them, each stays until it or a later request is
    /// answered.
    pub fn handle_not_applied(
        &mut self,
        uuid: u64,
        not_applied: NotApplied,
        answer: NotAppliedAnswer,
    ) {
        let from = not_applied.from_seq_no;
        let numbers = from..from.saturating_add(not_applied.count);
        match answer {
            NotAppliedAnswer::FillGap => self.drop_requests(|it| {
                // The exchange may report a replayed request as not applied more than once.
                it.uuid == uuid && numbers.contains(&it.seq_num) && !it.resent
            }),
            NotAppliedAnswer::Replay => {
                let is_meant = |it: &InFlight| it.uuid == uuid && it.seq_num >= from;
                for it in self.in_flight.iter_mut().filter(|it| is_meant(it)) {
                    (it.uncertain, it.resent) = (true, true);
                }
            }
        }
    }

    /// Handles an established or resumed session `uuid`. The exchange may have skipped requests in
    /// flight: NotApplied was lost with the connection, and a Sequence filled the gap. Each request
    /// stays until it or a later request is answered.
    pub fn handle_established(&mut self, uuid: u64) {
        self.mark_uncertain(uuid);
    }

    /// Handles messages of the exchange that are lost for good. Their order information is unknown.
    pub fn handle_lost(&mut self, gap: Gap) {
        self.counters.lost += u64::from(gap.to.saturating_sub(gap.from)) + 1;
    }

    /// Removes an order and its requests in flight, independent of the exchange. Returns the order.
    /// Use for orders whose end was reported by other means than the exchange's messages.
    pub fn forget(&mut self, order_id: impl Into<OrderId>) -> Option<Order> {
        let order_id = order_id.into();
        self.in_flight.retain(|it| it.order_id != Some(order_id));
        self.remove(order_id)
    }

    fn record_request(&mut self, uuid: u64, seq_num: u32, request_id: u64, intent: Intent) {
        // A reused sequence number means that the exchange refused the first request without using
        // it.
        self.drop_requests(|it| it.uuid == uuid && it.seq_num >= seq_num);
        self.counters.requests += 1;
        let (kind, cl_ord_id, order_id) = match intent {
            Intent::New(order) => (RequestKind::New, order.cl_ord_id, None),
            Intent::Replace { order_id, cl_ord_id } => (RequestKind::Replace, cl_ord_id, order_id),
            Intent::Cancel { order_id, cl_ord_id } => (RequestKind::Cancel, cl_ord_id, order_id),
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
            uncertain: false,
            resent: false,
            slot,
        });
    }

    fn insert(&mut self, order: Order) -> Option<u32> {
        let slot = self.orders.insert(order);
        self.counters.untracked_orders += u64::from(slot.is_none());
        slot
    }

    fn remove(&mut self, order_id: OrderId) -> Option<Order> {
        self.orders.remove(self.orders.by_order_id(order_id)?)
    }

    /// Drops requests that will not be answered, and their pending orders.
    fn drop_requests(&mut self, is_meant: impl Fn(&InFlight) -> bool) {
        let Self { in_flight, orders, counters, .. } = self;
        in_flight.retain(|request| {
            let is_over = is_meant(request);
            if is_over {
                counters.not_applied += 1;
                request.slot.and_then(|slot| orders.remove(slot));
            }
            !is_over
        });
    }

    /// Drops unanswered requests of earlier sessions. Once a later session sends, they are never
    /// answered.
    fn drop_requests_before(&mut self, uuid: u64) {
        if self.in_flight.front().is_some_and(|it| it.uuid < uuid) {
            self.drop_requests(|it| it.uuid < uuid);
        }
    }

    /// Removes the answered request. Drops uncertain requests before it, which will not be
    /// answered.
    fn take_answered(&mut self, is_meant: impl Fn(&InFlight) -> bool) -> Option<InFlight> {
        let at = self.in_flight.iter().position(is_meant)?;
        let request = self.in_flight.remove(at)?;
        if self.in_flight.front().is_some_and(|it| it.uncertain) {
            let InFlight { uuid, seq_num, .. } = request;
            self.drop_requests(|it| it.uncertain && it.uuid == uuid && it.seq_num < seq_num);
        }
        Some(request)
    }

    fn was_applied(&self, message: &Message<'_>) -> bool {
        let stream = self.last_applied.iter().find(|(uuid, _)| *uuid == message.uuid);
        stream.is_some_and(|(_, last)| message.seq_num <= *last)
    }

    #[inline]
    fn record_applied(&mut self, uuid: u64, seq_num: u32) {
        match self.last_applied.iter_mut().find(|stream| stream.0 == uuid) {
            Some(stream) => stream.1 = seq_num,
            None => {
                // Slot 0 belongs to UUID 0. Of the others the oldest is replaced.
                self.last_applied[1..].sort_unstable_by(|a, b| b.cmp(a));
                self.last_applied[STREAMS - 1] = (uuid, seq_num);
            }
        }
    }
}

#[cfg(test)]
mod tests;
