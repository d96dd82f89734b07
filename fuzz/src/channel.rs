//! A market data channel whose callbacks are compared with its counters and books.

use hairpin_mdp3::{
    Action, Book, BookSide, BookUpdate, Channel, ChannelReset, ChannelState, EndOfEvent, Error,
    Feed, FeedLine, FeedLines, Feeds, Gap, Input, InstrumentStateChange, LateJoin, Listener,
    MAX_DEPTH, MAX_TOP_ORDERS, Order, OrderBook, OrderBookStateChange, OrderBooks, OrderUpdate,
    Replay, ReplayOutcome, ReplayUpdate, Settings, Silence, SilenceScope, SilenceState, SyncState,
    TemplateIds, Trade, UpdateSource, Volume, Warning,
};
use hairpin_time::{Duration, Instant, Now};

use crate::packets::YEAR_2026;

/// The settings: small limits, so that an input can reach all of them.
const SETTINGS: Settings = Settings {
    max_instruments: 4,
    late_join: LateJoin::InstrumentsAndBooks,
    feeds: Feeds::ALL,
    replay: None,
    natural_refresh: false,
    silence: Duration::ZERO,
    undefined_depth: 10,
    reorder_packets: 8,
    reorder_wait: Duration::from_millis(10),
    max_packet: 1_024,
    queue_bytes: 2_048,
    max_related: 8,
    max_loop_packets: 16,
    templates: TemplateIds::AS_PUBLISHED,
    max_snapshot_lead: 100,
    order_books: OrderBooks::None,
    max_orders: 8,
    order_snapshots: Feed::SnapshotOrders,
};

const REPLAY: Replay = Replay {
    max_packets: 12,
    attempts: 2,
    timeout: Duration::from_millis(50),
    max_held: 24,
    pause: Duration::from_millis(500),
};

/// Returns the settings for a byte; below 3 they are those of an ordinary channel.
fn settings(byte: u8) -> Settings {
    let late_join = match byte % 3 {
        0 => LateJoin::InstrumentsAndBooks,
        1 => LateJoin::Books,
        _ => LateJoin::Nothing,
    };
    let choice = byte / 3;
    let one_side =
        |side| Feeds { incremental: side, instrument: side, snapshot: side, snapshot_orders: side };
    let (order_books, order_snapshots) = match byte % 4 {
        0 => (OrderBooks::None, Feed::SnapshotOrders),
        1 => (OrderBooks::Top, Feed::Snapshot),
        2 => (OrderBooks::Full, Feed::SnapshotOrders),
        _ => (OrderBooks::Full, Feed::Snapshot),
    };
    let feeds = match choice >> 3 {
        1 => Feeds { instrument: FeedLines::None, ..Feeds::ALL },
        2 => Feeds { snapshot: FeedLines::None, ..Feeds::ALL },
        3 => Feeds { instrument: FeedLines::None, snapshot: FeedLines::None, ..Feeds::ALL },
        4 => one_side(FeedLines::A),
        5 => one_side(FeedLines::B),
        _ => Feeds::ALL,
    };
    Settings {
        late_join,
        feeds,
        order_books,
        order_snapshots,
        replay: (choice & 1 != 0).then_some(REPLAY),
        natural_refresh: choice & 2 != 0,
        silence: Duration::from_millis(if choice & 4 != 0 { 80 } else { 0 }),
        ..SETTINGS
    }
}

/// A channel with its clock and its callbacks.
pub(crate) struct CheckedChannel {
    pub(crate) channel: Channel,
    reported: CallbackCounts,
    now: Instant,
    joined: [bool; Feed::ALL.len()],
    settings: Settings,
}

impl CheckedChannel {
    /// Creates a channel that joins in one of three ways. The byte selects the feeds, the means of
    /// recovery and the orders.
    pub(crate) fn new(byte: u8) -> Self {
        let settings = settings(byte);
        Self {
            channel: Channel::new(settings),
            reported: CallbackCounts::default(),
            now: Instant::from_nanos(1_000_000_000),
            joined: Default::default(),
            settings,
        }
    }

    /// Ends a replay connection, if there is one.
    pub(crate) fn replay_end(&mut self, outcome: ReplayOutcome) {
        self.channel.handle_replay_end(self.now(), outcome, &mut self.reported);
        self.check();
    }

    /// Passes a packet to the channel, also if its feed is not joined: the network may be late.
    pub(crate) fn packet(&mut self, feed: Feed, side: FeedLine, bytes: &[u8]) {
        let input = Input { feed, line: side, received: None };
        self.channel.handle_packet(self.now(), input, bytes, &mut self.reported);
        self.check();
    }

    /// Advances the time and runs the timers.
    pub(crate) fn pass(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
        self.channel.handle_timeout(self.now(), &mut self.reported);
        let is_overdue = self.channel.poll_timeout().is_some_and(|deadline| deadline <= self.now);
        assert!(!is_overdue, "a deadline has passed without effect");
        self.check();
    }

    fn now(&self) -> Now {
        // One hour after the start of the packets' own clock.
        let utc = YEAR_2026 + Duration::from_secs(3_600) + (self.now - Instant::ZERO);
        Now { monotonic: self.now, utc }
    }

    fn check(&mut self) {
        self.check_actions();
        self.check_counters();
        let state = self.channel.state();
        assert_eq!(self.reported.state.unwrap_or(state), state, "a state that was not reported");
        for instrument in self.channel.instruments().iter() {
            let book = self.channel.book(instrument);
            check_book(book);
            assert_eq!(book.best_bid(), book.bids().first());
            assert_eq!(book.best_ask(), book.asks().first());
            check_orders(self.channel.order_book(instrument));
            let is_known = matches!(book.sync_state(), SyncState::Unknown | SyncState::InSync);
            let may_be = state != ChannelState::InSync || is_known;
            assert!(may_be, "{book:?} in a channel in sync");
        }
    }

    fn check_actions(&mut self) {
        while let Some(action) = self.channel.poll_action() {
            let (feed, joins) = match action {
                Action::Replay { first, last } => {
                    assert!(last - first < REPLAY.max_packets, "{first}-{last}");
                    continue;
                }
                Action::EndReplay => continue,
                Action::Join(feed) => (feed, true),
                Action::Leave(feed) => (feed, false),
                other => panic!("{other:?}"),
            };
            assert!(self.settings.feeds.has(feed), "{action:?} is not there");
            assert_ne!(self.joined[feed as usize], joins, "{action:?} twice");
            self.joined[feed as usize] = joins;
        }
    }

    fn check_counters(&self) {
        let (counted, reported) = (self.channel.counters(), &self.reported);
        assert_eq!(reported.gaps, [counted.gaps, counted.missed_packets]);
        assert_eq!(reported.events, counted.events);
        assert_eq!(reported.resets, counted.resets);
        assert_eq!(reported.trades, counted.trades);
        assert_eq!(reported.volumes, counted.volumes);
        let received = counted.packets_a + counted.packets_b;
        let settled = counted.first_a
            + counted.first_b
            + counted.duplicates
            + counted.older_epoch_packets
            + counted.abandoned_packets;
        // The other packets are held or pending.
        let rest = received.checked_sub(settled).expect("a packet was counted twice");
        let held = self.settings.replay.map_or(SETTINGS.reorder_packets, |replay| replay.max_held);
        let most = held as u64 + counted.doubtful_packets;
        assert!(rest <= most, "{rest} packets of {most}");
        assert_eq!(
            reported.replays,
            [counted.replays, counted.replays_filled + counted.replays_given_up]
        );
        if self.settings.silence > Duration::ZERO {
            let is_silent = self.reported.silent.iter().any(|it| it.scope == SilenceScope::Channel);
            let is_watched = self.channel.poll_timeout().is_some();
            return assert!(is_watched || is_silent, "silence without a silence timeout");
        }
        let is_holding = self.channel.poll_timeout().is_some();
        assert!(rest > 0 || !is_holding, "nothing is held");
        assert!(rest == 0 || is_holding || counted.doubtful_packets > 0, "{rest} packets lost");
    }
}

fn check_book(book: Book<'_>) {
    assert!(book.depth() <= MAX_DEPTH);
    assert!(book.bids().len().max(book.asks().len()) <= book.depth(), "{book:?}");
}

/// Checks that the orders are sorted, equal in number in both directions, and found at their
/// position.
fn check_orders(book: OrderBook<'_>) {
    assert!(book.len() <= SETTINGS.max_orders.max(2 * MAX_TOP_ORDERS), "{book:?}");
    for (side, sign) in [(BookSide::Bid, -1), (BookSide::Ask, 1)] {
        let orders = book.orders(side);
        assert_eq!(orders.clone().rev().count(), orders.len(), "{book:?}");
        let key = |order: Order| (sign * i128::from(order.price.0), order.priority, order.id);
        assert!(orders.clone().map(key).is_sorted(), "{book:?}");
        for order in orders {
            assert_eq!(book.find(order.id), Some((side, order)), "{book:?}");
        }
    }
}

#[derive(Default)]
struct CallbackCounts {
    state: Option<ChannelState>,
    gaps: [u64; 2],
    events: u64,
    resets: u64,
    trades: u64,
    volumes: u64,
    /// The numbers of replays begun and ended.
    replays: [u64; 2],
    silent: Vec<Silence>,
}

impl Listener for CallbackCounts {
    fn on_book_update(&mut self, update: &BookUpdate<'_>) {
        let is_refreshed = update.source == UpdateSource::NaturalRefresh;
        assert_eq!(update.book.is_in_sync(), !is_refreshed, "{update:?}");
        check_book(update.book);
    }

    fn on_trade(&mut self, _: &Trade<'_>) {
        self.trades += 1;
    }

    fn on_volume(&mut self, _: &Volume<'_>) {
        self.volumes += 1;
    }

    fn on_order_update(&mut self, update: &OrderUpdate<'_>) {
        assert!(update.book.is_in_sync(), "{update:?}");
    }

    fn on_order_book_state(&mut self, change: &OrderBookStateChange<'_>) {
        assert_eq!(change.state, change.book.sync_state());
    }

    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        self.events += 1;
        assert!(event.changed_orders().all(|(_, book)| book.is_in_sync()));
        for (_, book, _) in event.changed() {
            assert!(book.is_in_sync(), "{book:?}");
            check_book(book);
        }
    }

    fn on_channel_reset(&mut self, _: &ChannelReset<'_>) {
        self.resets += 1;
    }

    fn on_gap(&mut self, gap: &Gap) {
        assert!(gap.count > 0);
        self.gaps[0] += 1;
        self.gaps[1] += u64::from(gap.count);
    }

    fn on_replay(&mut self, update: &ReplayUpdate) {
        match update {
            ReplayUpdate::Requested { attempt: 1, .. } => self.replays[0] += 1,
            ReplayUpdate::Requested { .. } => {}
            _ => self.replays[1] += 1,
        }
        let open = self.replays[0] - self.replays[1];
        let is_requested = matches!(update, ReplayUpdate::Requested { .. });
        assert_eq!(open, u64::from(is_requested), "{update:?}");
    }

    fn on_silence(&mut self, silence: &Silence) {
        let known = self.silent.iter().position(|known| known.scope == silence.scope);
        match (silence.state, known) {
            (SilenceState::Begins, None) => self.silent.push(*silence),
            (SilenceState::Ends, Some(at)) => {
                self.silent.swap_remove(at);
            }
            _ => panic!("{silence:?} twice"),
        }
    }

    fn on_instrument_state(&mut self, change: &InstrumentStateChange<'_>) {
        assert_eq!(change.state, change.book.sync_state());
    }

    fn on_channel_state(&mut self, state: ChannelState) {
        assert_ne!(self.state, Some(state), "state reported twice");
        self.state = Some(state);
    }

    fn on_error(&mut self, _: Option<&hairpin_mdp3::Packet>, error: &Error) {
        assert!(!error.to_string().is_empty());
    }

    fn on_warning(&mut self, warning: &Warning) {
        assert!(!warning.to_string().is_empty());
    }
}
