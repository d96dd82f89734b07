//! The simulated market: matching, background order flow and publisher as one sans-IO value.

use std::collections::VecDeque;

use hairpin_time::Now;

use crate::{
    Accumulator, BackgroundFlow, Capacity, DefinitionChange, FlowGenerator, FlowStep, Group,
    Instrument, Market, Matching, NewOrder, Order, OrderEvent, OrderId, Owner, Price, PriceLevel,
    Publication, Publisher, PublisherSettings, QuoteRequest, Rejection, Replaced, Replacement,
    SessionElimination, SessionFill, Side, Submitted, TradingStatus,
};

/// The settings of a [`SimulatedMarket`].
#[derive(Debug, Clone)]
pub struct SimulatedMarketSettings {
    /// The instruments to trade.
    pub instruments: Vec<Instrument>,
    /// The seed of the background flow.
    pub seed: u64,
    /// The composition of the background flow.
    pub flow: BackgroundFlow,
    /// The sizes of the matching engine.
    pub capacity: Capacity,
    /// The settings of the publisher.
    pub publisher: PublisherSettings,
}

impl Default for SimulatedMarketSettings {
    /// Returns a hundred futures, seed 1 and the default flow.
    fn default() -> Self {
        Self {
            instruments: Instrument::numbered(100),
            seed: 1,
            flow: BackgroundFlow::default(),
            capacity: Capacity::default(),
            publisher: PublisherSettings::default(),
        }
    }
}

/// A matching engine, a background flow and a publisher. Each order and each step of the background
/// flow is matched and published as one event.
#[derive(Debug)]
pub struct SimulatedMarket {
    matching: Matching,
    events: Accumulator,
    generator: FlowGenerator,
    publisher: Publisher,
    /// The pairs (SecurityID, index), sorted by SecurityID.
    securities: Box<[(i32, u32)]>,
    order_events: VecDeque<OrderEvent>,
    /// The number of fills of `events` that are already in `order_events`.
    queued_fills: usize,
    /// The number of self-match cancels of `events` that are already in `order_events`.
    queued_self_matches: usize,
    /// The number of trades of `events` already checked for triggered stop orders.
    checked_trades: usize,
}

impl SimulatedMarket {
    /// Creates a market with seeded books. Each book is one event, which is not sent yet.
    ///
    /// # Panics
    /// If an instrument violates the rules of [`Instrument`], or the instruments exceed the
    /// capacity.
    #[must_use]
    pub fn new(settings: &SimulatedMarketSettings, now: Now) -> Self {
        let instruments = &settings.instruments;
        let terms = instruments.iter().map(Instrument::terms);
        let matching = Matching::new(terms, settings.capacity);
        let mut events = matching.accumulator();
        if matches!(settings.publisher.group, Group::Premium { orders: Some(_) }) {
            events = events.with_orders();
        }
        let mut securities: Box<[(i32, u32)]> =
            (0..).zip(instruments).map(|(index, i)| (i.security_id, index)).collect();
        securities.sort_unstable();
        let mut market = Self {
            publisher: Publisher::new(settings.publisher, instruments, &events, now),
            generator: FlowGenerator::with_flow(settings.seed, instruments, settings.flow),
            // Room for every possible fill, and for every order being triggered, canceled by
            // self-match prevention, and eliminated.
            order_events: VecDeque::with_capacity(
                events.capacity().1 + 3 * settings.capacity.orders as usize,
            ),
            matching,
            events,
            securities,
            queued_fills: 0,
            queued_self_matches: 0,
            checked_trades: 0,
        };
        let all = market.matching.instruments();
        let listed = all.saturating_sub(settings.publisher.unlisted);
        (0..listed).for_each(|instrument| market.seed(now, instrument));
        (listed..all).for_each(|instrument| market.matching.set_open(instrument, false));
        market
    }

    fn seed(&mut self, now: Now, instrument: u32) {
        self.generator.seed(instrument, &mut self.matching, &mut self.events);
        self.publish(now);
    }

    /// Runs one step of the background flow. Returns `None` if nothing could be changed.
    pub fn step(&mut self, now: Now) -> Option<(FlowStep, Publication)> {
        let step = self.generator.step(&mut self.matching, &mut self.events);
        let publication = self.publish(now);
        Some((step?, publication))
    }

    /// Publishes pending changes. Only needed after [`Publication::Deferred`].
    pub fn publish(&mut self, now: Now) -> Publication {
        self.queue_fills();
        if self.events.trades().len() > self.checked_trades {
            self.trigger_stops();
        }
        let publication = self.publisher.publish(now, &self.matching, &mut self.events);
        if publication != Publication::Deferred {
            self.queued_fills = 0;
            self.queued_self_matches = 0;
            self.checked_trades = 0;
        }
        publication
    }

    /// Ends the trading session. Day orders leave their books, and so do GTD orders of the day
    /// of `now` or an earlier one. Other orders stay. This applies to background orders and to
    /// those of client sessions. Client sessions receive order events. The books are published as
    /// one event. The trading status does not change.
    pub fn end_session(&mut self, now: Now) -> Publication {
        let order_events = &mut self.order_events;
        // Days since 1970 fit in 16 bits until 2149.
        let day = now.utc.days() as u16;
        self.matching.end_session_on(day, &mut self.events, |order| {
            if order.owner != Owner::BACKGROUND {
                let &Order { id: order, owner, traded, .. } = order;
                let elimination = SessionElimination { order, owner, traded };
                order_events.push_back(OrderEvent::Elimination(elimination));
            }
        });
        self.publish(now)
    }

    /// Ends the trading session and starts a new week: day orders leave their books, GTC orders
    /// stay, packets are numbered from 1; see [`Publisher::begin_week`]. Then the background flow
    /// fills the empty books of open instruments.
    ///
    /// Returns [`Publication::Deferred`] while packets are queued. Send them, then try again.
    pub fn begin_week(&mut self, now: Now) -> Publication {
        self.end_session(now);
        if self.is_deferred() || self.publisher.has_event() {
            return Publication::Deferred;
        }
        let publication = self.publisher.begin_week(now, &self.matching);
        if publication != Publication::Deferred {
            for instrument in 0..self.matching.instruments() {
                let is_empty =
                    Side::BOTH.iter().all(|&side| self.matching.depth(instrument, side) == 0);
                if is_empty && self.matching.is_open(instrument) {
                    self.seed(now, instrument);
                }
            }
        }
        publication
    }

    /// Halts, closes or opens an instrument, or the whole group with `None`, and publishes the
    /// status. Orders are accepted and the background flow runs only while an instrument is
    /// [`TradingStatus::ReadyToTrade`]. Otherwise only cancels are accepted. Resting orders stay,
    /// quotes leave the book (CME, page 689537025, reason E).
    /// An unlisted instrument does not trade, regardless of its group's status.
    ///
    /// If the result is [`Publication::Deferred`], nothing has changed.
    ///
    /// # Panics
    /// If the instrument does not exist.
    pub fn set_status(
        &mut self,
        now: Now,
        instrument: Option<u32>,
        status: TradingStatus,
    ) -> Publication {
        if self.publish(now) == Publication::Deferred {
            return Publication::Deferred;
        }
        let publication = self.publisher.set_status(now, instrument, status);
        if publication != Publication::Deferred {
            let all = 0..self.matching.instruments();
            let range = instrument.map_or(all, |instrument| instrument..instrument + 1);
            for instrument in range.filter(|&instrument| self.publisher.is_listed(instrument)) {
                self.matching.set_open(instrument, status.is_open());
            }
            if !status.is_open() {
                self.remove_closed_quotes(now);
            }
        }
        publication
    }

    /// Removes the quotes of closed instruments and publishes their books.
    fn remove_closed_quotes(&mut self, now: Now) {
        let order_events = &mut self.order_events;
        self.matching.remove_closed_quotes(&mut self.events, |order| {
            let &Order { id: order, owner, traded, .. } = order;
            let elimination = SessionElimination { order, owner, traded };
            order_events.push_back(OrderEvent::Elimination(elimination));
        });
        if !self.events.is_empty() {
            self.publish(now);
        }
    }

    /// Publishes an empty book, then its contents; see [`Publisher::reset_book`].
    ///
    /// # Panics
    /// If the instrument does not exist.
    pub fn reset_book(&mut self, now: Now, instrument: u32) -> Publication {
        match self.publish(now) {
            Publication::Deferred => Publication::Deferred,
            _ => self.publisher.reset_book(now, instrument, &self.matching),
        }
    }

    /// Resets the channel, with or without new sequence numbers; see [`Publisher::reset_channel`].
    pub fn reset_channel(&mut self, now: Now, restarts: bool) -> Publication {
        match self.publish(now) {
            Publication::Deferred => Publication::Deferred,
            _ => self.publisher.reset_channel(now, &self.matching, restarts),
        }
    }

    /// Resets the session statistics; see [`Publisher::reset_statistics`].
    ///
    /// # Panics
    /// If the instrument does not exist.
    pub fn reset_statistics(&mut self, now: Now, instrument: Option<u32>) -> Publication {
        match self.publish(now) {
            Publication::Deferred => Publication::Deferred,
            _ => self.publisher.reset_statistics(now, instrument, &self.matching),
        }
    }

    /// Sets and publishes the implied levels of a side; see [`Publisher::set_implied`].
    ///
    /// # Panics
    /// If the instrument does not exist or has no implied book.
    pub fn set_implied(
        &mut self,
        now: Now,
        instrument: u32,
        side: Side,
        levels: &[PriceLevel],
    ) -> Publication {
        self.publisher.set_implied(instrument, side, levels);
        self.publish(now)
    }

    /// Publishes an administrative event after all pending changes. `publish_event` calls one of
    /// the publisher's methods, such as [`Publisher::set_limits`].
    pub fn announce(
        &mut self,
        now: Now,
        publish_event: impl FnOnce(&mut Publisher) -> Publication,
    ) -> Publication {
        match self.publish(now) {
            Publication::Deferred => Publication::Deferred,
            _ => publish_event(&mut self.publisher),
        }
    }

    /// Adds, modifies or deletes an instrument definition and publishes it; see
    /// [`Publisher::change_definition`]. An added instrument starts trading; its book is seeded if
    /// it is empty. A deleted instrument stops trading.
    ///
    /// # Panics
    /// Same as [`Publisher::change_definition`].
    pub fn change_definition(
        &mut self,
        now: Now,
        instrument: u32,
        change: DefinitionChange,
    ) -> Publication {
        let publication =
            self.announce(now, |publisher| publisher.change_definition(now, instrument, change));
        if publication == Publication::Deferred || change == DefinitionChange::Modify {
            return publication;
        }
        self.matching.set_open(instrument, change == DefinitionChange::Add);
        if change == DefinitionChange::Delete {
            self.remove_closed_quotes(now);
        }
        let is_empty = Side::BOTH.iter().all(|&side| self.matching.depth(instrument, side) == 0);
        if change == DefinitionChange::Add && is_empty {
            self.seed(now, instrument);
        }
        publication
    }

    /// Returns `true` if changes are not published yet.
    #[must_use]
    pub fn is_deferred(&self) -> bool {
        !self.events.is_empty() || self.publisher.has_unpublished()
    }

    /// Returns the matching engine with its books.
    #[must_use]
    pub fn matching(&self) -> &Matching {
        &self.matching
    }

    /// Returns the publisher.
    #[must_use]
    pub fn publisher(&self) -> &Publisher {
        &self.publisher
    }

    /// Returns the publisher, to poll packets.
    pub fn publisher_mut(&mut self) -> &mut Publisher {
        &mut self.publisher
    }

    /// Activates the stop orders triggered by the latest trades, and by their own trades in turn.
    fn trigger_stops(&mut self) {
        while let Some(order) =
            self.matching.trigger_next(&mut self.checked_trades, &mut self.events)
        {
            if order.owner != Owner::BACKGROUND {
                let Order { id: order, owner, .. } = order;
                self.order_events.push_back(OrderEvent::Trigger { order, owner });
            }
            self.queue_fills();
        }
    }

    /// Queues an order event for each client session's fill in the latest trades, then for each
    /// order that self-match prevention has canceled.
    fn queue_fills(&mut self) {
        if self.events.fills().len() > self.queued_fills {
            self.queue_new_fills();
        }
        if self.events.self_matches().len() > self.queued_self_matches {
            self.queue_self_matches();
        }
    }

    fn queue_new_fills(&mut self) {
        let mut first = 0;
        for trade in self.events.trades() {
            let fills = self.events.fills_of(trade);
            for (index, fill) in fills.iter().enumerate() {
                let is_new = first + index >= self.queued_fills;
                if is_new && fill.owner != Owner::BACKGROUND {
                    self.order_events.push_back(OrderEvent::Fill(SessionFill {
                        order: fill.order,
                        owner: fill.owner,
                        price: trade.price,
                        quantity: fill.quantity,
                        remaining: fill.remaining,
                        traded: fill.traded,
                        trade: trade.id,
                        side_trade: fill.side_trade,
                        aggressor: index == 0,
                    }));
                }
            }
            first += fills.len();
        }
        self.queued_fills = self.events.fills().len();
    }

    fn queue_self_matches(&mut self) {
        let cancels = &self.events.self_matches()[self.queued_self_matches..];
        for &cancel in cancels {
            if cancel.owner != Owner::BACKGROUND {
                self.order_events.push_back(OrderEvent::SelfMatch(cancel));
            }
        }
        self.queued_self_matches += cancels.len();
    }

    /// Queues an order event if `eliminated` contracts of a session's order were eliminated.
    fn queue_elimination(&mut self, submitted: &Submitted, owner: Owner, traded: u32) {
        if submitted.eliminated > 0 && owner != Owner::BACKGROUND {
            let elimination = SessionElimination { order: submitted.order, owner, traded };
            self.order_events.push_back(OrderEvent::Elimination(elimination));
        }
    }
}

impl Market for SimulatedMarket {
    fn instrument(&self, security_id: i32) -> Option<u32> {
        let index = self.securities.binary_search_by_key(&security_id, |&(id, _)| id).ok()?;
        Some(self.securities[index].1)
    }

    fn security_group(&self, _: u32) -> &[u8] {
        crate::publisher::SECURITY_GROUP
    }

    fn order(&self, order: OrderId) -> Option<&Order> {
        self.matching.order(order).or_else(|| Some(&self.matching.stop(order)?.order))
    }

    fn is_stop(&self, order: OrderId) -> bool {
        self.matching.stop(order).is_some()
    }

    fn submit_stop(
        &mut self,
        _: Now,
        order: &NewOrder,
        trigger: Price,
    ) -> Result<Order, Rejection> {
        self.matching.submit_stop(order, trigger)
    }

    fn replace_stop(
        &mut self,
        _: Now,
        order: OrderId,
        owner: Owner,
        (replacement, trigger): (&Replacement, Price),
    ) -> Result<Order, Rejection> {
        let is_pending = self.matching.stop(order).is_some_and(|stop| stop.order.owner == owner);
        if !is_pending {
            return Err(Rejection::UnknownOrder);
        }
        self.matching.replace_stop(order, replacement, trigger)
    }

    fn check(&self, order: &NewOrder) -> Result<(), Rejection> {
        self.matching.check(order)
    }

    fn submit(&mut self, now: Now, order: &NewOrder) -> Result<Submitted, Rejection> {
        let submitted = self.matching.submit(order, &mut self.events)?;
        self.publish(now);
        let traded = order.quantity - submitted.eliminated;
        self.queue_elimination(&submitted, order.owner, traded);
        Ok(submitted)
    }

    fn replace(
        &mut self,
        now: Now,
        order: OrderId,
        owner: Owner,
        replacement: &Replacement,
    ) -> Result<Replaced, Rejection> {
        let resting = self.matching.order(order).filter(|order| order.owner == owner);
        if resting.is_none() {
            return Err(Rejection::UnknownOrder);
        }
        let replaced = self.matching.replace(order, replacement, &mut self.events)?;
        self.publish(now);
        if let Replaced::Modified { order, submitted } = &replaced {
            let untraded = submitted.remaining + submitted.eliminated + submitted.prevented;
            let traded_now = order.remaining - untraded;
            self.queue_elimination(submitted, owner, order.traded.saturating_add(traded_now));
        }
        Ok(replaced)
    }

    fn cancel(&mut self, now: Now, order: OrderId, owner: Owner) -> Option<Order> {
        let target = self.order(order).filter(|order| order.owner == owner)?;
        if target.priority == 0 {
            return self.matching.cancel_stop(order);
        }
        let cancelled = self.matching.cancel(order, &mut self.events);
        self.publish(now);
        cancelled
    }

    fn is_open(&self, instrument: u32) -> bool {
        self.matching.is_open(instrument)
    }

    fn request_quote(&mut self, now: Now, request: &QuoteRequest<'_>, is_cross: bool) -> bool {
        let publication = self.announce(now, |publisher| match is_cross {
            false => publisher.request_quote(now, request),
            true => publisher.request_cross(now, request),
        });
        publication != Publication::Deferred
    }

    fn next_order_event(&mut self) -> Option<OrderEvent> {
        self.order_events.pop_front()
    }
}
