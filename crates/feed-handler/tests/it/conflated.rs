//! The exchange's conflated groups against a channel with the preset for them. The channel must
//! synchronize with the published books, including order books.
use hairpin_exchange::{
    Feed as Published, MAX_PAYLOAD, PublisherSettings, SimulatedMarket, SimulatedMarketSettings,
};
use hairpin_feed_handler::{
    Action, Channel, ChannelState, Feed, FeedLine, Input, Settings, SyncState,
};
use hairpin_time::{Duration, Instant, Now, Utc};

/// An exchange and a channel that joins late.
struct Market {
    floor: SimulatedMarket,
    channel: Channel,
    joined: [bool; Feed::ALL.len()],
    now: Now,
}

impl Market {
    fn new(publisher: PublisherSettings) -> Self {
        let now = Now {
            monotonic: Instant::from_nanos(1_000_000_000),
            utc: Utc::from_nanos(1_767_225_600_000_000_000),
        };
        let floor = SimulatedMarket::new(
            &SimulatedMarketSettings { publisher, ..SimulatedMarketSettings::default() },
            now,
        );
        let channel = Channel::new(Settings::conflated());
        let mut market = Self { floor, channel, joined: [false; Feed::ALL.len()], now };
        market.handle_actions();
        market
    }

    fn handle_actions(&mut self) {
        while let Some(action) = self.channel.poll_action() {
            match action {
                Action::Join(feed) => self.joined[feed as usize] = true,
                Action::Leave(feed) => self.joined[feed as usize] = false,
                _ => {}
            }
        }
    }

    /// Advances one millisecond: an optional step of the order flow, then some packets.
    fn step(&mut self, has_flow: bool) {
        let span = Duration::from_millis(1);
        self.now = Now { monotonic: self.now.monotonic + span, utc: self.now.utc + span };
        if has_flow {
            self.floor.step(self.now);
        }
        if self.floor.is_deferred() && !self.floor.publisher().has_event() {
            self.floor.publish(self.now);
        }
        let mut packet = [0; MAX_PAYLOAD];
        for _ in 0..8 {
            let publisher = self.floor.publisher_mut();
            let Some(transmit) = publisher.poll_transmit(self.now, &mut packet) else { break };
            let feed = match transmit.feed {
                Published::Incremental => Feed::Incremental,
                Published::Instruments => Feed::Instrument,
                Published::Snapshots => Feed::Snapshot,
                Published::SnapshotOrders => Feed::SnapshotOrders,
            };
            if self.joined[feed as usize] {
                let input = Input { feed, line: FeedLine::A, received: None };
                let bytes = &packet[..transmit.length];
                self.channel.handle_packet(self.now, input, bytes, &mut ());
                self.handle_actions();
            }
        }
        self.channel.handle_timeout(self.now, &mut ());
        self.handle_actions();
    }

    /// Returns the number of order books in sync, and the number of order books with orders.
    fn order_books(&self) -> (usize, usize) {
        let books = || {
            let instruments = self.channel.instruments().iter();
            instruments.map(|instrument| self.channel.order_book(instrument))
        };
        let in_sync = books().filter(|book| book.sync_state() == SyncState::InSync);
        (in_sync.count(), books().filter(|book| !book.is_empty()).count())
    }

    fn come_in_sync(&mut self) {
        let count = SimulatedMarketSettings::default().instruments.len();
        for _ in 0..20_000 {
            self.step(false);
            if self.channel.state() == ChannelState::InSync && self.order_books().0 == count {
                return;
            }
        }
        panic!("{:?}: {:?} of {count}", self.channel.state(), self.order_books());
    }
}

#[test]
fn group_with_top_orders_publishes_them_for_every_instrument() {
    let mut market = Market::new(PublisherSettings::brokertec());
    (0..200).for_each(|_| market.step(true));
    market.come_in_sync();
    assert!(market.order_books().1 > 0);
    assert!(!market.joined[Feed::Snapshot as usize], "recovery is complete");
}

#[test]
fn instrument_without_orders_gets_an_empty_snapshot() {
    let mut market = Market::new(PublisherSettings::brokertec());
    (0..200).for_each(|_| market.step(true));
    market.floor.end_session(market.now);
    (0..200).for_each(|_| market.step(false));
    // A channel joins after the session has ended.
    market.channel = Channel::new(Settings::conflated());
    market.joined = [false; Feed::ALL.len()];
    market.handle_actions();
    market.come_in_sync();
    let counters = market.channel.counters();
    assert_eq!(counters.order_books_empty_by_absence, 0, "each has a snapshot, possibly empty");
    assert!(market.order_books().1 < market.order_books().0, "{:?}", market.order_books());
}

#[test]
fn group_without_orders_leaves_no_order_book_waiting() {
    let mut market = Market::new(PublisherSettings::ebs());
    (0..200).for_each(|_| market.step(true));
    market.come_in_sync();
    assert_eq!(market.order_books().1, 0);
    assert!(!market.joined[Feed::Snapshot as usize], "recovery is complete");
}
