//! The trading floor: matching, order flow and publisher as one market, sans-IO.

use std::collections::VecDeque;

use hairpin_time::Now;

use crate::{
    Accumulator, Capacity, Generator, Instrument, Market, Matching, NewOrder, Order, OrderId,
    Owner, Publication, Publisher, PublisherSettings, Rejection, SessionFill, Step, Submitted,
};

/// What a [`Floor`] is made from.
#[derive(Debug, Clone)]
pub struct FloorSettings {
    /// What is traded.
    pub instruments: Vec<Instrument>,
    /// Seed of the order flow.
    pub seed: u64,
    /// Sizes of the matching engine.
    pub capacity: Capacity,
    /// The publisher's.
    pub publisher: PublisherSettings,
}

impl Default for FloorSettings {
    /// A hundred instruments, seed 1.
    fn default() -> Self {
        Self {
            instruments: Instrument::numbered(100),
            seed: 1,
            capacity: Capacity::default(),
            publisher: PublisherSettings::default(),
        }
    }
}

/// Every order and every step of the order flow is matched and published as one event.
#[derive(Debug)]
pub struct Floor {
    matching: Matching,
    events: Accumulator,
    generator: Generator,
    publisher: Publisher,
    /// (SecurityID, index), sorted.
    securities: Box<[(i32, u32)]>,
    fills: VecDeque<SessionFill>,
    /// Fills of `events` that are in `fills` already.
    noted_fills: usize,
}

impl Floor {
    /// A floor with seeded books. Each book is an event of its own, yet to be sent.
    ///
    /// # Panics
    /// If instruments are not as [`Instrument`] says, or do not fit the capacity.
    #[must_use]
    pub fn new(settings: &FloorSettings, now: Now) -> Self {
        let instruments = &settings.instruments;
        let ticks = instruments.iter().map(|instrument| instrument.tick);
        let matching = Matching::new(ticks, settings.capacity);
        let events = matching.accumulator();
        let mut securities: Box<[(i32, u32)]> =
            (0..).zip(instruments).map(|(index, i)| (i.security_id, index)).collect();
        securities.sort_unstable();
        let mut floor = Self {
            publisher: Publisher::new(settings.publisher, instruments, &events, now),
            generator: Generator::new(settings.seed, instruments),
            fills: VecDeque::with_capacity(events.capacity().1),
            matching,
            events,
            securities,
            noted_fills: 0,
        };
        for instrument in 0..floor.matching.instruments() {
            floor.generator.seed(instrument, &mut floor.matching, &mut floor.events);
            floor.publish(now);
        }
        floor
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
        let publication = self.publisher.publish(now.utc, &self.matching, &mut self.events);
        if publication != Publication::Deferred {
            self.noted_fills = 0;
        }
        publication
    }

    /// Whether something has happened that is not published yet.
    #[must_use]
    pub fn is_deferred(&self) -> bool {
        !self.events.is_empty()
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
                    self.fills.push_back(SessionFill {
                        order: fill.order,
                        owner: fill.owner,
                        price: trade.price,
                        quantity: fill.quantity,
                        remaining: fill.remaining,
                        trade: trade.id,
                        is_aggressor: place == 0,
                    });
                }
            }
            first += fills.len();
        }
        self.noted_fills = self.events.fills().len();
    }
}

impl Market for Floor {
    fn instrument(&self, security_id: i32) -> Option<u32> {
        let place = self.securities.binary_search_by_key(&security_id, |&(id, _)| id).ok()?;
        Some(self.securities[place].1)
    }

    fn submit(&mut self, now: Now, order: &NewOrder) -> Result<Submitted, Rejection> {
        let submitted = self.matching.submit(order, &mut self.events)?;
        self.publish(now);
        Ok(submitted)
    }

    fn cancel(&mut self, now: Now, order: OrderId, owner: Owner) -> Option<Order> {
        self.matching.order(order).filter(|order| order.owner == owner)?;
        let cancelled = self.matching.cancel(order, &mut self.events);
        self.publish(now);
        cancelled
    }

    fn next_fill(&mut self) -> Option<SessionFill> {
        self.fills.pop_front()
    }
}
