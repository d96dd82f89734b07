//! The trading floor: matching, order flow and publisher as one market, sans-IO.

use std::collections::VecDeque;

use hairpin_time::Now;

use crate::{
    Accumulator, Capacity, DefinitionChange, Flow, Generator, Group, Instrument, Market, Matching,
    NewOrder, Notice, Order, OrderId, Owner, Price, PriceLevel, Publication, Publisher,
    PublisherSettings, QuoteRequest, Rejection, Replaced, Replacement, SessionElimination,
    SessionFill, Side, Step, Submitted, TradingStatus,
};

/// What a [`SimulatedMarket`] is made from.
#[derive(Debug, Clone)]
pub struct SimulatedMarketSettings {
    /// What is traded.
    pub instruments: Vec<Instrument>,
    /// Seed of the order flow.
    pub seed: u64,
    /// What that flow is made of.
    pub flow: Flow,
    /// Sizes of the matching engine.
    pub capacity: Capacity,
    /// The publisher's.
    pub publisher: PublisherSettings,
}

impl Default for SimulatedMarketSettings {
    /// A hundred futures, seed 1, the default flow.
    fn default() -> Self {
        Self {
            instruments: Instrument::numbered(100),
            seed: 1,
            flow: Flow::default(),
            capacity: Capacity::default(),
            publisher: PublisherSettings::default(),
        }
    }
}

/// Every order and every step of the order flow is matched and published as one event.
#[derive(Debug)]
pub struct SimulatedMarket {
    matching: Matching,
    events: Accumulator,
    generator: Generator,
    publisher: Publisher,
    /// (SecurityID, index), sorted.
    securities: Box<[(i32, u32)]>,
    notices: VecDeque<Notice>,
    /// Fills of `events` that are in `notices` already.
    noted_fills: usize,
    /// Trades of `events` that stop orders have been looked through for.
    seen_trades: usize,
}

impl SimulatedMarket {
    /// A floor with seeded books. Each book is an event of its own, yet to be sent.
    ///
    /// # Panics
    /// If instruments are not as [`Instrument`] says, or do not fit the capacity.
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
        let mut floor = Self {
            publisher: Publisher::new(settings.publisher, instruments, &events, now),
            generator: Generator::with_flow(settings.seed, instruments, settings.flow),
            // All fills there can be, and every order triggered and eliminated.
            notices: VecDeque::with_capacity(
                events.capacity().1 + 2 * settings.capacity.orders as usize,
            ),
            matching,
            events,
            securities,
            noted_fills: 0,
            seen_trades: 0,
        };
        let all = floor.matching.instruments();
        let listed = all.saturating_sub(settings.publisher.unlisted);
        (0..listed).for_each(|instrument| floor.seed(now, instrument));
        (listed..all).for_each(|instrument| floor.matching.set_open(instrument, false));
        floor
    }

    fn seed(&mut self, now: Now, instrument: u32) {
        self.generator.seed(instrument, &mut self.matching, &mut self.events);
        self.publish(now);
    }

    /// One step of the order flow; `None` if there was nothing to change.
    pub fn step(&mut self, now: Now) -> Option<(Step, Publication)> {
        let step = self.generator.step(&mut self.matching, &mut self.events);
        let publication = self.publish(now);
        Some((step?, publication))
    }

    /// Publishes what has happened; only needed after [`Publication::Deferred`].
    pub fn publish(&mut self, now: Now) -> Publication {
        self.note_fills();
        if self.events.trades().len() > self.seen_trades {
            self.trigger_stops();
        }
        let publication = self.publisher.publish(now, &self.matching, &mut self.events);
        if publication != Publication::Deferred {
            self.noted_fills = 0;
            self.seen_trades = 0;
        }
        publication
    }

    /// Ends the session: orders good for the day leave their books, and those good till the day
    /// that `now` is in or till one before; others stay, the house's and sessions' alike. Sessions
    /// have notices of theirs; the books are published as one event. No status changes by it.
    pub fn end_session(&mut self, now: Now) -> Publication {
        let notices = &mut self.notices;
        // Days since 1970 fit in 16 bits until 2149.
        let day = now.utc.days() as u16;
        self.matching.end_session_of(day, &mut self.events, |order| {
            if order.owner != Owner::HOUSE {
                let &Order { id: order, owner, traded, .. } = order;
                let elimination = SessionElimination { order, owner, traded };
                notices.push_back(Notice::Elimination(elimination));
            }
        });
        self.publish(now)
    }

    /// Halts, closes or opens an instrument, or with `None` the whole group, and publishes that.
    /// Only where it is [`TradingStatus::ReadyToTrade`] are orders taken and does the order flow
    /// go on; elsewhere orders may be cancelled, nothing else. What rests stays. What is not listed
    /// does not trade, whatever its group's status.
    ///
    /// Nothing has changed if it is [`Publication::Deferred`].
    ///
    /// # Panics
    /// If there is no such instrument.
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
        }
        publication
    }

    /// Publishes that a book is empty, and what it is; see [`Publisher::reset_book`].
    ///
    /// # Panics
    /// If there is no such instrument.
    pub fn reset_book(&mut self, now: Now, instrument: u32) -> Publication {
        match self.publish(now) {
            Publication::Deferred => Publication::Deferred,
            _ => self.publisher.reset_book(now, instrument, &self.matching),
        }
    }

    /// Resets the channel, with or without a new numbering; see [`Publisher::reset_channel`].
    pub fn reset_channel(&mut self, now: Now, restarts: bool) -> Publication {
        match self.publish(now) {
            Publication::Deferred => Publication::Deferred,
            _ => self.publisher.reset_channel(now, &self.matching, restarts),
        }
    }

    /// Sets and publishes the implied levels of a side; see [`Publisher::set_implied`].
    ///
    /// # Panics
    /// If there is no such instrument or it has no implied book.
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

    /// Publishes what the exchange says besides its books, behind all that has happened: `say` is
    /// one of the publisher's verbs, such as [`Publisher::set_limits`].
    pub fn announce(
        &mut self,
        now: Now,
        say: impl FnOnce(&mut Publisher) -> Publication,
    ) -> Publication {
        match self.publish(now) {
            Publication::Deferred => Publication::Deferred,
            _ => say(&mut self.publisher),
        }
    }

    /// Publishes what becomes of an instrument's definition; see
    /// [`Publisher::change_definition`]. One that is added trades from now on, its book seeded if
    /// it is empty; one that is deleted trades no more.
    ///
    /// # Panics
    /// As [`Publisher::change_definition`].
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
        let is_empty = Side::BOTH.iter().all(|&side| self.matching.depth(instrument, side) == 0);
        if change == DefinitionChange::Add && is_empty {
            self.seed(now, instrument);
        }
        publication
    }

    /// Whether something has happened that is not published yet.
    #[must_use]
    pub fn is_deferred(&self) -> bool {
        !self.events.is_empty() || self.publisher.has_unpublished()
    }

    /// The books.
    #[must_use]
    pub fn matching(&self) -> &Matching {
        &self.matching
    }

    /// The publisher.
    #[must_use]
    pub fn publisher(&self) -> &Publisher {
        &self.publisher
    }

    /// The publisher, to be asked for packets.
    pub fn publisher_mut(&mut self) -> &mut Publisher {
        &mut self.publisher
    }

    /// Has stop orders come in that the latest trades have triggered, and those that these trigger.
    fn trigger_stops(&mut self) {
        while let Some(order) = self.matching.trigger_next(&mut self.seen_trades, &mut self.events)
        {
            if order.owner != Owner::HOUSE {
                let Order { id: order, owner, .. } = order;
                self.notices.push_back(Notice::Trigger { order, owner });
            }
            self.note_fills();
        }
    }

    /// Keeps what sessions have to be told of the latest trades.
    fn note_fills(&mut self) {
        if self.events.fills().len() == self.noted_fills {
            return;
        }
        let mut first = 0;
        for trade in self.events.trades() {
            let fills = self.events.fills_of(trade);
            for (place, fill) in fills.iter().enumerate() {
                let is_new = first + place >= self.noted_fills;
                if is_new && fill.owner != Owner::HOUSE {
                    self.notices.push_back(Notice::Fill(SessionFill {
                        order: fill.order,
                        owner: fill.owner,
                        price: trade.price,
                        quantity: fill.quantity,
                        remaining: fill.remaining,
                        traded: fill.traded,
                        trade: trade.id,
                        side_trade: fill.side_trade,
                        is_aggressor: place == 0,
                    }));
                }
            }
            first += fills.len();
        }
        self.noted_fills = self.events.fills().len();
    }

    /// Keeps that `eliminated` contracts of a session's order are gone, if any are.
    fn note_elimination(&mut self, submitted: &Submitted, owner: Owner, traded: u32) {
        if submitted.eliminated > 0 && owner != Owner::HOUSE {
            let elimination = SessionElimination { order: submitted.order, owner, traded };
            self.notices.push_back(Notice::Elimination(elimination));
        }
    }
}

impl Market for SimulatedMarket {
    fn instrument(&self, security_id: i32) -> Option<u32> {
        let place = self.securities.binary_search_by_key(&security_id, |&(id, _)| id).ok()?;
        Some(self.securities[place].1)
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
        let waits = self.matching.stop(order).is_some_and(|stop| stop.order.owner == owner);
        if !waits {
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
        self.note_elimination(&submitted, order.owner, order.quantity - submitted.eliminated);
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
            let at_once = order.remaining - submitted.remaining - submitted.eliminated;
            self.note_elimination(submitted, owner, order.traded.saturating_add(at_once));
        }
        Ok(replaced)
    }

    fn cancel(&mut self, now: Now, order: OrderId, owner: Owner) -> Option<Order> {
        let known = self.order(order).filter(|order| order.owner == owner)?;
        if known.priority == 0 {
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

    fn next_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }
}
