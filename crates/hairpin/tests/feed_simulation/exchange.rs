//! The exchange: a simulated market, its order flow and its other messages.

use hairpin_exchange::{
    BackgroundFlow, Capacity, Collateral, DailyStatistic, Feed as Loop, Fingerprint, Instrument,
    InstrumentKind, Ladder, Leg, Limits, MAX_PAYLOAD, OptionRight, Pace, PriceLevel, Publication,
    PublisherSettings, QuoteRequest, ReplayServer, ReplaySettings, Settlement, Side,
    SimulatedMarket, SimulatedMarketSettings, TradingStatus, Transmit,
};
use hairpin_mdp3::Feed;
use hairpin_netsim::{Census, Random, trace};
use hairpin_sbe::Decimal;
use hairpin_time::{Duration, Instant, Now};

use crate::expected_state::{ExpectedState, FeedPosition, PacketRecord, digest_of_ladders};
use crate::orders::Orders;
use crate::plan::{ChannelEvent, Plan, RatePeriod};
use crate::without_rpt_seq::erase_rpt_seq;

/// The lowest sequence number after which numbering may restart. Numbers after the restart are then
/// lower for a while, so that a receiver that has not detected the restart does not accept the
/// first snapshots as current.
const MIN_RESTART_NUMBER: u32 = 100;

/// The published state of an instrument's definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listing {
    Unlisted,
    Listed,
    Deleted,
}

/// The exchange and its published data.
#[derive(Debug)]
pub(crate) struct Exchange {
    settings: SimulatedMarketSettings,
    market: SimulatedMarket,
    pub(crate) expected_state: ExpectedState,
    pub(crate) replay: ReplayServer,
    pub(crate) census: Census,
    /// The packets of one complete, older loop of definitions.
    pub(crate) cache: Vec<Vec<u8>>,
    /// The number of times that another exchange has replaced this one.
    pub(crate) replacements: u32,
    random: Random,
    listings: Vec<Listing>,
    orders: Orders,
    lacks_rpt_seq: bool,
    spacing: Duration,
    ready: Instant,
    next_step: Option<Instant>,
    rate_periods: std::vec::IntoIter<RatePeriod>,
    rate_period: Option<RatePeriod>,
    channel_events: std::vec::IntoIter<(Instant, ChannelEvent)>,
    next_channel_event: Option<(Instant, ChannelEvent)>,
    /// The number of resets before the present exchange, and the number of times that numbering has
    /// started at 1.
    epochs_before: u32,
    numbering: u32,
    /// The packets whose books the present passes of the two snapshot loops contain.
    passes: [FeedPosition; 2],
    /// The packets of the present loop of definitions.
    definitions: Vec<Vec<u8>>,
}

impl Exchange {
    pub(crate) fn new(plan: &mut Plan, now: Now) -> Self {
        let mut random = plan.random.split();
        let publisher = PublisherSettings {
            fingerprints: true,
            heartbeat: plan.heartbeat,
            loop_period: plan.loop_period,
            unlisted: plan.unlisted.min(plan.instruments - 2),
            ..plan.kind.publisher()
        };
        let count = plan.instruments;
        let capacity = Capacity { orders: 4_096 + 120 * count, levels: 2_048 + 48 * count };
        let instruments = instruments(count, &mut random);
        let seed = random.any();
        let settings = SimulatedMarketSettings {
            instruments,
            seed,
            flow: BackgroundFlow::ALL,
            capacity,
            publisher,
        };
        let mut rate_periods = std::mem::take(&mut plan.rate_periods).into_iter();
        let mut channel_events = std::mem::take(&mut plan.channel_events).into_iter();
        let replay = ReplaySettings { packets: 300, sessions: 16, ..ReplaySettings::default() };
        let mut exchange = Self {
            market: SimulatedMarket::new(&settings, now),
            expected_state: ExpectedState::default(),
            replay: ReplayServer::new(replay),
            census: Census::new(),
            cache: Vec::new(),
            replacements: 0,
            listings: Vec::new(),
            orders: Orders::new(random.split()),
            lacks_rpt_seq: plan.kind.lacks_rpt_seq(),
            spacing: plan.spacing,
            ready: now.monotonic,
            next_step: Some(now.monotonic),
            rate_period: rate_periods.next(),
            rate_periods,
            next_channel_event: channel_events.next(),
            channel_events,
            epochs_before: 0,
            numbering: 0,
            passes: Default::default(),
            definitions: Vec::new(),
            random,
            settings,
        };
        exchange.open(now);
        exchange
    }

    /// Opens a new market.
    fn open(&mut self, now: Now) {
        self.market.publisher_mut().set_pace(Pace::Paced, now.monotonic);
        let listed = self.settings.instruments.len() - self.settings.publisher.unlisted as usize;
        let listing = |index| if index < listed { Listing::Listed } else { Listing::Unlisted };
        self.listings = (0..self.settings.instruments.len()).map(listing).collect();
        self.orders.clear();
        self.definitions.clear();
    }

    /// Returns the time of the next event.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        let due = self.market.publisher().poll_timeout().map(|due| due.max(self.ready));
        let channel_event = self.next_channel_event.map(|(at, _)| at);
        [due, self.next_step, channel_event].into_iter().flatten().min()
    }

    /// Handles all due events and passes each sent packet to `send`.
    pub(crate) fn run(&mut self, now: Now, send: &mut impl FnMut(Feed, &[u8])) {
        if let Some((at, channel_event)) = self.next_channel_event
            && at <= now.monotonic
        {
            self.next_channel_event = self.channel_events.next();
            self.apply_channel_event(now, channel_event);
        }
        if self.next_step.is_some_and(|at| at <= now.monotonic) {
            self.step(now);
            self.plan_step(now.monotonic);
        }
        while now.monotonic >= self.ready && self.transmit(now, send) {
            self.ready = now.monotonic + self.spacing;
        }
    }

    fn plan_step(&mut self, now: Instant) {
        while self.rate_period.is_some_and(|rate_period| rate_period.ends <= now) {
            self.rate_period = self.rate_periods.next();
        }
        let random = &mut self.random;
        self.next_step = self.rate_period.map(|rate_period| {
            let pause = random.span(Duration::from_nanos(1), rate_period.interval * 2);
            (now + pause).min(rate_period.ends)
        });
    }

    /// Returns the SecurityIDs of the listed instruments, each with `true` if it was ever active.
    pub(crate) fn listed(&self) -> impl Iterator<Item = (i32, bool)> + '_ {
        let all = (0..).zip(self.listings.iter().zip(&self.settings.instruments));
        all.filter(|(_, (listing, _))| **listing == Listing::Listed).map(|(index, (_, i))| {
            (i.security_id, self.market.publisher().published(index).rpt_seq > 0)
        })
    }

    /// Returns the last packet of the incremental feed.
    pub(crate) fn last(&self) -> FeedPosition {
        let publisher = self.market.publisher();
        FeedPosition {
            epoch: self.epochs_before + publisher.epoch(),
            sequence: publisher.sequence(),
        }
    }

    /// Applies an event that affects the whole channel.
    ///
    /// Pending packets are sent before the event. A replacement drops them.
    fn apply_channel_event(&mut self, now: Now, channel_event: ChannelEvent) {
        let has_begun = self.market.publisher().sequence() > MIN_RESTART_NUMBER;
        let channel_event = if has_begun { channel_event } else { ChannelEvent::Reset };
        trace!(now, "exchange: {channel_event:?} after {:?}", self.last());
        let is_done = match channel_event {
            ChannelEvent::Reset => self.market.reset_channel(now, false) != Publication::Deferred,
            ChannelEvent::ResetAndRestart => {
                self.market.reset_channel(now, true) != Publication::Deferred
            }
            ChannelEvent::Replacement => {
                self.replace(now);
                true
            }
        };
        let class = match channel_event {
            _ if !is_done => "channel events deferred by the publisher",
            ChannelEvent::Reset => "resets of the channel, numbering continues",
            ChannelEvent::ResetAndRestart => "resets of the channel, numbering restarts",
            ChannelEvent::Replacement => "restarts of the numbering without a reset",
        };
        self.census.count(class);
    }

    /// Replaces the exchange with another one that has the same instruments.
    fn replace(&mut self, now: Now) {
        self.epochs_before += self.market.publisher().epoch() + 1;
        self.numbering += 1;
        self.replacements += 1;
        self.settings.seed = self.random.any();
        self.market = SimulatedMarket::new(&self.settings, now);
        self.open(now);
    }

    /// Runs one step of the market.
    fn step(&mut self, now: Now) {
        let count = self.settings.instruments.len() as u64;
        let index = self.random.below(count) as u32;
        let is_listed = self.listings[index as usize] == Listing::Listed;
        let die = self.random.below(1_000);
        trace!(now, "exchange: step {die} in {index}");
        match die {
            40..80 if !is_listed => {}
            0..40 => self.imply(now),
            40..50 => {
                self.market.reset_book(now, index);
                self.census.count("resets of a book");
            }
            50..62 => self.change_status(now, index),
            62..80 => self.announce(now, index),
            80..92 => self.change_definition(now, index),
            92..180 => {
                let instrument = &self.settings.instruments[index as usize];
                self.orders.act(now, &mut self.market, (index, instrument));
            }
            180..200 => {
                for _ in 0..10 {
                    self.market.step(now);
                }
            }
            _ => {
                self.market.step(now);
            }
        }
        self.census.count("steps of the market");
    }

    fn imply(&mut self, now: Now) {
        let instruments = &self.settings.instruments;
        let Some(index) = instruments.iter().position(|instrument| instrument.implied_book) else {
            return;
        };
        if self.listings[index] != Listing::Listed {
            return;
        }
        let Instrument { reference, tick, .. } = instruments[index];
        let side = *self.random.pick(&Side::BOTH);
        let levels: Vec<_> = (1..=self.random.below(4) as i64)
            .map(|away| PriceLevel {
                price: side.improved(reference, -away * tick.0),
                quantity: 1 + self.random.below(9) as u32,
                orders: 0,
            })
            .collect();
        self.market.set_implied(now, index as u32, side, &levels);
        self.census.count("implied levels set");
    }

    fn change_status(&mut self, now: Now, index: u32) {
        let instrument = (self.random.below(4) > 0).then_some(index);
        // Most status changes continue trading.
        let halted = [TradingStatus::TradingHalt, TradingStatus::PreOpen];
        let is_halt = self.random.below(3) == 0;
        let status = if is_halt { *self.random.pick(&halted) } else { TradingStatus::ReadyToTrade };
        self.market.set_status(now, instrument, status);
        self.census.count(if instrument.is_some() { "statuses" } else { "statuses of the group" });
    }

    fn announce(&mut self, now: Now, index: u32) {
        let reference = self.settings.instruments[index as usize].reference;
        let price = Decimal(reference.0 + self.random.below(9) as i64 * 1_000_000_000);
        let choice = self.random.below(4);
        self.market.announce(now, |publisher| match choice {
            0 => {
                let settlement = Settlement { price, final_price: true, ..Settlement::default() };
                let daily =
                    [DailyStatistic::Settlement(settlement), DailyStatistic::OpenInterest(7)];
                publisher.set_daily(now, &daily.map(|statistic| (index, statistic)))
            }
            1 => {
                let limits = Limits { high: Some(price), ..Limits::default() };
                publisher.set_limits(now, index, limits)
            }
            2 => {
                let (quantity, side) = (Some(3), None);
                publisher.request_quote(
                    now,
                    &QuoteRequest { id: "1", instrument: index, quantity, side },
                )
            }
            _ => {
                let (cusip, guid) = ("912828XX1", 5);
                let collateral = Collateral { cusip, guid, price, dirty_price: price };
                publisher.set_collateral(now, &[collateral])
            }
        });
        self.census.count("statistics of the day, limits, quote requests, collateral");
    }

    fn change_definition(&mut self, now: Now, index: u32) {
        use hairpin_exchange::DefinitionChange::{Add, Delete};
        let listing = self.listings[index as usize];
        let listed = self.listings.iter().filter(|listing| **listing == Listing::Listed).count();
        let (publication, next, class) = match listing {
            Listing::Deleted => return,
            Listing::Unlisted => {
                let publication = self.market.change_definition(now, index, Add);
                (publication, Listing::Listed, "definitions added")
            }
            Listing::Listed
                if listed > 2 && !self.is_to_be_replaced() && self.random.below(4) == 0 =>
            {
                let publication = self.market.change_definition(now, index, Delete);
                (publication, Listing::Deleted, "definitions deleted")
            }
            Listing::Listed => {
                let mut definition = self.settings.instruments[index as usize].clone();
                definition.symbol = format!("HP{:05}", self.random.below(100_000));
                let publication = self.market.announce(now, |p| p.redefine(now, index, definition));
                (publication, Listing::Listed, "definitions modified")
            }
        };
        if publication != Publication::Deferred {
            trace!(now, "exchange: {class}: {index}");
            self.listings[index as usize] = next;
            self.census.count(class);
        }
    }

    /// Returns `true` if a replacement is planned. The new exchange does not repeat deletions, so
    /// that a receiver would keep a deleted instrument forever.
    fn is_to_be_replaced(&self) -> bool {
        let to_come = self.next_channel_event.iter().chain(self.channel_events.as_slice());
        to_come.into_iter().any(|(_, channel_event)| *channel_event == ChannelEvent::Replacement)
    }

    /// Sends the next due packet, if there is one.
    fn transmit(&mut self, now: Now, send: &mut impl FnMut(Feed, &[u8])) -> bool {
        let mut buffer = [0; MAX_PAYLOAD];
        let before = self.last();
        let Some(transmit) = self.market.publisher_mut().poll_transmit(now, &mut buffer) else {
            return false;
        };
        let bytes = &mut buffer[..transmit.length];
        if self.lacks_rpt_seq {
            erase_rpt_seq(bytes);
        }
        let feed = match transmit.feed {
            Loop::Incremental => {
                self.record_incremental(now, before, &transmit);
                self.replay.store(transmit.sequence, bytes);
                Feed::Incremental
            }
            Loop::Instruments => {
                self.keep_definitions(transmit.sequence, bytes);
                Feed::Instrument
            }
            Loop::Snapshots => self.record_snapshots(now, Feed::Snapshot, 0, &transmit),
            Loop::SnapshotOrders => self.record_snapshots(now, Feed::SnapshotOrders, 1, &transmit),
        };
        send(feed, bytes);
        true
    }

    fn record_incremental(&mut self, now: Now, before: FeedPosition, transmit: &Transmit) {
        let epoch = self.epochs_before + self.market.publisher().epoch();
        let is_reset = epoch != before.epoch;
        let (sequence, numbering) = (transmit.sequence, self.numbering);
        // The sequence number is 0 if numbering restarts after the packet: the packet precedes the
        // new numbers.
        let position = FeedPosition { epoch, sequence: self.market.publisher().sequence() };
        let ends_event = transmit.event.is_some_and(|event| event.ends);
        let packet_record = PacketRecord { numbering, sequence, position, ends_event, is_reset };
        self.expected_state.record_packet(sequence, now.utc, packet_record);
        trace!(now, "exchange: sends {packet_record:?} {:?}", transmit.event);
        self.census.count("packets of the incremental feed");
        self.numbering += u32::from(position.sequence != sequence);
        while let Some(fingerprint) = self.market.publisher_mut().poll_fingerprint() {
            let levels = self.levels_of(&fingerprint);
            trace!(now, "exchange: published {fingerprint:?}");
            self.expected_state.record_books(
                self.epochs_before + fingerprint.epoch,
                &fingerprint,
                levels,
            );
            self.census.count("books published");
        }
    }

    /// Returns the levels of a fingerprint, unless the book has changed since.
    fn levels_of(&self, fingerprint: &Fingerprint) -> Option<[Vec<(i64, u64)>; 2]> {
        let is_it = |i: &Instrument| i.security_id == fingerprint.security_id;
        let index = self.settings.instruments.iter().position(is_it)?;
        let sides = &self.market.publisher().published(index as u32).sides;
        let levels = |ladder: &Ladder| {
            ladder.levels().iter().map(|l| (l.price.0, u64::from(l.quantity))).collect()
        };
        let is_present = digest_of_ladders(sides) == fingerprint.book;
        is_present.then(|| sides.each_ref().map(levels))
    }

    /// Records the packet whose books a pass contains: the state at the time of the first packet of
    /// the pass.
    fn record_snapshots(
        &mut self,
        now: Now,
        feed: Feed,
        place: usize,
        transmit: &Transmit,
    ) -> Feed {
        if transmit.sequence == 1 {
            self.passes[place] = self.last();
        }
        self.expected_state.record_pass(feed, transmit.sequence, now.utc, self.passes[place]);
        feed
    }

    fn keep_definitions(&mut self, sequence: u32, bytes: &[u8]) {
        if sequence == 1 {
            let whole = std::mem::take(&mut self.definitions);
            // The cache is replaced rarely, so that it is outdated.
            if !whole.is_empty() && (self.cache.is_empty() || self.random.below(40) == 0) {
                self.cache = whole;
            }
        }
        self.definitions.push(bytes.to_vec());
    }
}

/// Returns instruments of all kinds, some with an implied book.
fn instruments(count: u32, random: &mut Random) -> Vec<Instrument> {
    let mut instruments = Instrument::numbered(count);
    let first = (instruments[0].security_id, instruments[0].symbol.clone());
    for (number, instrument) in (0..).zip(&mut instruments) {
        instrument.implied_book = random.below(3) == 0;
        let leg = |id, side| Leg { security_id: id, side, ratio: 1 };
        instrument.kind = match number % 6 {
            2 => InstrumentKind::Spread {
                legs: vec![leg(1_001, Side::Bid), leg(1_002, Side::Offer)],
            },
            3 => InstrumentKind::Option {
                right: OptionRight::Call,
                strike: instrument.reference,
                underlying: first.clone(),
            },
            4 => InstrumentKind::Bond { coupon: Decimal(2_500_000_000) },
            5 => InstrumentKind::Repo { special: true, underlying: first.clone() },
            _ => InstrumentKind::Future,
        };
    }
    instruments
}
