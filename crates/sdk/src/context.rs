//! The context of a callback: books, orders and the sender.

use hairpin_feed_handler::Definition;
use hairpin_order_entry::messages::OrderType;
use hairpin_order_entry::{
    CancelOrder, ClOrdId, Intent, MassCancel, NewOrder, Order, OrderRequest, OrderTimeInForce,
    Orders, Pricing, ReplaceOrder, SecurityId, Sender, Sent, TimeInForce,
};
use hairpin_time::{Duration, Now};

use crate::names::Names;
use crate::state::{SegmentSession, State, TIMERS_MAX};
use crate::{Book, Error, Instrument, Price, Quantity, SendError, Side};

/// The session whose callback runs: its orders and a reborrowed sender.
pub(crate) struct CurrentSession<'a> {
    pub(crate) segment: Option<u8>,
    pub(crate) orders: &'a mut Orders,
    pub(crate) sender: Sender<'a>,
}

/// Access to books, orders and sessions inside one callback.
pub struct Context<'a> {
    pub(crate) now: Now,
    pub(crate) state: &'a mut State,
    pub(crate) names: Names<'a>,
    /// The sessions before the current one, or all.
    pub(crate) before: &'a mut [SegmentSession],
    pub(crate) current: Option<CurrentSession<'a>>,
    pub(crate) after: &'a mut [SegmentSession],
}

/// A timer was refused: 1,024 timers run already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cannot set a timer: {TIMERS_MAX} timers run already")]
pub struct TooManyTimers;

impl<'a> Context<'a> {
    /// Returns the time of the current wakeup.
    #[inline]
    #[must_use]
    pub const fn now(&self) -> Now {
        self.now
    }

    /// Returns `true` if all books were in sync and all sessions established after the last wakeup.
    #[inline]
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        self.state.is_ready
    }

    /// Returns the book of an instrument, or `None` if no channel has the instrument.
    #[inline]
    #[must_use]
    pub fn book(&self, id: SecurityId) -> Option<Book<'a>> {
        self.names.find(id).map(|(channel, index)| Book::new(channel, index))
    }

    /// Returns an instrument, or `None` if no channel has it.
    #[must_use]
    pub fn instrument(&self, id: SecurityId) -> Option<Instrument<'a>> {
        let definition = self.definition(id)?;
        Some(Instrument { security_id: id, definition: Some(definition) })
    }

    /// Returns the instrument with a symbol: of `[instruments]` in order.toml, or of a received
    /// definition. Searches all definitions.
    ///
    /// # Errors
    /// [`Error::UnknownSymbol`].
    pub fn security_id(&self, symbol: &str) -> crate::Result<SecurityId> {
        let id = self.names.security_id(symbol);
        id.ok_or_else(|| Error::UnknownSymbol(symbol.to_owned()))
    }

    /// Returns the symbol of an instrument: of `[instruments]` in order.toml, or of its definition;
    /// empty if unknown.
    #[must_use]
    pub fn symbol(&self, id: SecurityId) -> &'a str {
        self.names.symbol(id)
    }

    /// Sends a limit order to buy, for the day. Returns its ClOrdID (11).
    ///
    /// # Errors
    /// [`SendError`]; nothing was sent.
    #[inline]
    pub fn buy(
        &mut self,
        id: SecurityId,
        quantity: Quantity,
        price: Price,
    ) -> Result<ClOrdId, SendError> {
        self.limit(id, Side::Buy, quantity, price)
    }

    /// Sends a limit order to sell, for the day. Returns its ClOrdID (11).
    ///
    /// # Errors
    /// [`SendError`]; nothing was sent.
    #[inline]
    pub fn sell(
        &mut self,
        id: SecurityId,
        quantity: Quantity,
        price: Price,
    ) -> Result<ClOrdId, SendError> {
        self.limit(id, Side::Sell, quantity, price)
    }

    /// Replaces price and quantity of a limit or stop-limit order. Returns the ClOrdID (11) that
    /// the order has once the replacement is accepted.
    ///
    /// # Errors
    /// [`SendError`]; nothing was sent.
    pub fn replace(
        &mut self,
        order: ClOrdId,
        quantity: Quantity,
        price: Price,
    ) -> Result<ClOrdId, SendError> {
        check_price(price)?;
        let quantity = contracts(quantity)?;
        let (index, known) = self.find(order)?;
        let terms = terms(&known, price).ok_or(SendError::Terms)?;
        // Without an OrderID yet, the order is addressed by its own ClOrdID.
        let id = if known.order_id.is_some() { self.state.ids.next() } else { order };
        let new = NewOrder::new(known.security_id, known.side, terms.0, quantity, id);
        let new = NewOrder { time_in_force: terms.1, ..new };
        let replace = match known.order_id {
            Some(order_id) => ReplaceOrder::from_order(order_id, &new),
            None => ReplaceOrder::by_cl_ord_id(&new),
        };
        self.send_to(index, &replace)?;
        Ok(id)
    }

    /// Cancels an order.
    ///
    /// # Errors
    /// [`SendError`]; nothing was sent.
    pub fn cancel(&mut self, order: ClOrdId) -> Result<(), SendError> {
        let (index, known) = self.find(order)?;
        let Order { security_id, side, .. } = known;
        let cancel = match known.order_id {
            Some(order_id) => CancelOrder::new(order_id, security_id, side, self.state.ids.next()),
            None => CancelOrder::by_cl_ord_id(order, security_id, side),
        };
        self.send_to(index, &cancel).map(drop)
    }

    /// Cancels all orders of all sessions, with one request per session.
    ///
    /// # Errors
    /// The first [`SendError`]; the other sessions have sent their request.
    pub fn cancel_all(&mut self) -> Result<(), SendError> {
        let mut outcome = Ok(());
        for index in 0..self.count() {
            outcome = outcome.and(self.send_to(index, &MassCancel::all()).map(drop));
        }
        outcome
    }

    /// Sends any request for an order, with all of its fields. The price of a new order must not be
    /// saturated. Take its ClOrdID from [`next_cl_ord_id`](Self::next_cl_ord_id).
    ///
    /// # Errors
    /// [`SendError`]; nothing was sent.
    pub fn send<M: OrderRequest>(&mut self, message: &M) -> Result<Sent, SendError> {
        let intent = message.intent();
        let index = match intent {
            Intent::New(order) => {
                order.price.map_or(Ok(()), |price| check_price(price.into()))?;
                self.route(order.security_id)?
            }
            _ if self.count() == 1 => 0,
            Intent::Replace { order_id, cl_ord_id } | Intent::Cancel { order_id, cl_ord_id } => {
                let is_meant = |orders: &Orders| match order_id {
                    Some(order_id) => orders.by_order_id(order_id).is_some(),
                    None => orders.by_cl_ord_id(cl_ord_id).is_some(),
                };
                let found = (0..self.count()).find(|&index| is_meant(self.orders(index)));
                found.ok_or(SendError::UnknownOrder(cl_ord_id))?
            }
            _ => return Err(SendError::AmbiguousSession),
        };
        self.send_to(index, message)
    }

    /// Runs `send` and writes its messages together, as one TCP segment if they fit.
    ///
    /// In a session's callback these are the messages of that session, else those of the only
    /// session. With several sessions, other messages are written one by one.
    pub fn batch<T>(&mut self, send: impl FnOnce(&mut Context<'_>) -> T) -> T {
        let Self { now, state, names, before, current, after } = self;
        let (now, names) = (*now, *names);
        if let Some(CurrentSession { segment, orders, sender }) = current {
            let batched = sender.batch(|sender| {
                let sender = sender.reborrow();
                let current = Some(CurrentSession { segment: *segment, orders, sender });
                send(&mut Context { now, state, names, before, current, after })
            });
            return batched.value;
        }
        if let ([only], []) | ([], [only]) = (&mut **before, &mut **after) {
            let SegmentSession { segment, session, orders, .. } = only;
            let batched = session.sender(now).batch(|sender| {
                let sender = sender.reborrow();
                let current = Some(CurrentSession { segment: *segment, orders, sender });
                send(&mut Context { now, state, names, before: &mut [], current, after: &mut [] })
            });
            return batched.value;
        }
        send(self)
    }

    /// Returns the orders on the exchange's books, in no particular order.
    pub fn working(&self) -> impl Iterator<Item = &Order> {
        (0..self.count()).flat_map(|index| self.orders(index).working())
    }

    /// Returns the order with this ClOrdID (11), working or not yet acknowledged.
    #[must_use]
    pub fn order(&self, id: ClOrdId) -> Option<&Order> {
        (0..self.count()).find_map(|index| self.orders(index).by_cl_ord_id(id))
    }

    /// Returns the net position in contracts: the fills of all runs that the journals still have.
    /// Positive is long. A spread trade counts for the spread and for each leg.
    #[must_use]
    pub fn position(&self, id: SecurityId) -> i64 {
        self.state.positions.get(id)
    }

    /// Returns a new ClOrdID (11), which no order of this or an earlier run has.
    #[inline]
    pub fn next_cl_ord_id(&mut self) -> ClOrdId {
        self.state.ids.next()
    }

    /// Calls [`Strategy::on_timer`](crate::Strategy::on_timer) with `timer` once, after `delay`.
    ///
    /// # Errors
    /// [`TooManyTimers`].
    pub fn set_timer(&mut self, timer: u64, delay: Duration) -> Result<(), TooManyTimers> {
        let timers = &mut self.state.timers;
        if timers.len() >= TIMERS_MAX {
            return Err(TooManyTimers);
        }
        let at = self.now.monotonic + delay;
        let place = timers.partition_point(|(other, _)| *other > at);
        timers.insert(place, (at, timer));
        Ok(())
    }

    /// Ends the run: terminates all sessions gracefully, then `run` returns.
    pub const fn stop(&mut self) {
        self.state.stop_requested = true;
    }

    fn definition(&self, id: SecurityId) -> Option<&'a Definition> {
        let (channel, index) = self.names.find(id)?;
        channel.definition(index)
    }

    #[inline]
    fn limit(
        &mut self,
        id: SecurityId,
        side: Side,
        quantity: Quantity,
        price: Price,
    ) -> Result<ClOrdId, SendError> {
        check_price(price)?;
        let quantity = contracts(quantity)?;
        let index = self.route(id)?;
        let cl_ord_id = self.state.ids.next();
        let order = NewOrder::limit(id, side.to_wire(), price.into(), quantity, cl_ord_id);
        self.send_to(index, &order)?;
        Ok(cl_ord_id)
    }

    /// Returns the number of sessions.
    #[inline]
    fn count(&self) -> usize {
        self.before.len() + usize::from(self.current.is_some()) + self.after.len()
    }

    /// Returns the session that trades an instrument: the only one, or the one of its market
    /// segment.
    #[inline]
    fn route(&self, id: SecurityId) -> Result<usize, SendError> {
        if self.count() == 1 { Ok(0) } else { self.route_by_segment(id) }
    }

    #[cold]
    fn route_by_segment(&self, id: SecurityId) -> Result<usize, SendError> {
        let definition = self.definition(id).ok_or(SendError::UnknownSegment(id))?;
        let segment = definition.market_segment_id;
        let found = (0..self.count()).find(|&index| self.segment(index) == Some(segment));
        found.ok_or(SendError::NoSession(segment))
    }

    /// Returns the session of an order, and the order.
    fn find(&self, id: ClOrdId) -> Result<(usize, Order), SendError> {
        let known = |index| Some((index, *self.orders(index).by_cl_ord_id(id)?));
        (0..self.count()).find_map(known).ok_or(SendError::UnknownOrder(id))
    }

    #[inline]
    fn send_to<M: OrderRequest>(&mut self, index: usize, message: &M) -> Result<Sent, SendError> {
        if self.state.is_canceling
            && matches!(message.intent(), Intent::New(_) | Intent::Replace { .. })
        {
            return Err(SendError::Quitting);
        }
        let first = self.before.len();
        let session = match &mut self.current {
            _ if index < first => &mut self.before[index],
            Some(CurrentSession { orders, sender, .. }) if index == first => {
                return Ok(orders.send(sender, message)?);
            }
            Some(_) => &mut self.after[index - first - 1],
            None => &mut self.after[index - first],
        };
        let SegmentSession { session, orders, .. } = session;
        Ok(orders.send(&mut session.sender(self.now), message)?)
    }

    fn orders(&self, index: usize) -> &Orders {
        let first = self.before.len();
        match &self.current {
            _ if index < first => &self.before[index].orders,
            Some(current) if index == first => current.orders,
            Some(_) => &self.after[index - first - 1].orders,
            None => &self.after[index - first].orders,
        }
    }

    fn segment(&self, index: usize) -> Option<u8> {
        let first = self.before.len();
        match &self.current {
            _ if index < first => self.before[index].segment,
            Some(current) if index == first => current.segment,
            Some(_) => self.after[index - first - 1].segment,
            None => self.after[index - first].segment,
        }
    }
}

#[inline]
fn check_price(price: Price) -> Result<(), SendError> {
    if price.is_saturated() { Err(SendError::Price) } else { Ok(()) }
}

#[inline]
fn contracts(quantity: Quantity) -> Result<u32, SendError> {
    u32::try_from(quantity.0).map_err(|_| SendError::Quantity(quantity.0))
}

/// Returns the terms of a replacement with another price.
fn terms(order: &Order, price: Price) -> Option<(Pricing, OrderTimeInForce)> {
    let price = price.into();
    let pricing = match (order.order_type, order.stop_price) {
        (Some(OrderType::LIMIT), _) => Pricing::Limit { price },
        (Some(OrderType::STOP_LIMIT), Some(stop_price)) => Pricing::StopLimit { stop_price, price },
        _ => return None,
    };
    let time_in_force = match order.time_in_force {
        Some(TimeInForce::DAY) | None => OrderTimeInForce::Day,
        Some(TimeInForce::GOOD_TILL_CANCEL) => OrderTimeInForce::GoodTillCancel,
        _ => return None,
    };
    Some((pricing, time_in_force))
}
