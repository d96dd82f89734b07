//! Compares the callbacks of a trader's channel with the published data and checks their order.

use hairpin_feed_handler as feed;
use hairpin_feed_handler::{
    BookUpdate, ChannelState, EndOfEvent, EventEnd, Feed, Gap, InstrumentStateChange, Packet,
    SyncState, UpdateSource,
};
use hairpin_netsim::Census;
use hairpin_order_entry::State;

use crate::client_stream::Dialer;
use crate::expected_state::{ExpectedState, Verdict, index_of};
use crate::message_log::MessageLog;
use crate::plan::Scenario;
use hairpin_cli_latency::strategy::Reaction;

/// The state of a channel as its callbacks have reported it.
#[derive(Debug)]
pub(crate) struct FeedChecker {
    scenario: Scenario,
    /// The sequence number of the next packet of the incremental feed.
    expected: Option<u32>,
    last_packet: u32,
    /// The last event whose end was reported.
    last_event: Option<u64>,
    /// No packet was missed and no book was loaded from a snapshot since the last event.
    is_steady: bool,
    state: ChannelState,
    in_sync: Vec<bool>,
    /// The instruments whose book equaled the published book at the end of the last event.
    equal: Vec<bool>,
    pub(crate) was_in_sync: bool,
    /// The orders that the strategy sent, including those that the session refused.
    pub(crate) orders: u64,
    pub(crate) refused: u64,
    pub(crate) gaps: u64,
    pub(crate) unsynced: u64,
    pub(crate) errors: u64,
    pub(crate) census: Census,
}

impl FeedChecker {
    pub(crate) fn new(scenario: Scenario, instruments: usize) -> Self {
        Self {
            scenario,
            expected: None,
            last_packet: 0,
            last_event: None,
            is_steady: false,
            state: ChannelState::CollectingDefinitions,
            in_sync: vec![false; instruments],
            equal: vec![false; instruments],
            was_in_sync: false,
            orders: 0,
            refused: 0,
            gaps: 0,
            unsynced: 0,
            errors: 0,
            census: Census::new(),
        }
    }

    fn is_lenient(&self) -> bool {
        self.scenario.corrupts_data()
    }

    /// Checks every synchronized book at the end of an event. Returns the number of books whose
    /// best price changed.
    fn check_event(&mut self, expected_state: &ExpectedState, event: &EndOfEvent<'_>) -> u64 {
        let wanted = event.changed().filter(|(.., changes)| changes.best_price()).count() as u64;
        if self.is_lenient() {
            return wanted;
        }
        let sequence = event.packet.sequence;
        assert_eq!(sequence, self.last_packet, "an event ended in an unreported packet");
        let number = expected_state
            .event_at(sequence)
            .expect("an event ended in a packet that ends no event");
        assert!(self.last_event < Some(number), "events are out of order");
        let is_steady = self.is_steady && self.last_event == Some(number - 1);
        assert!(is_steady || !self.is_steady || self.last_event.is_none(), "an event was skipped");
        for instrument in event.instruments.iter() {
            let book = event.instruments.book(instrument);
            let index = index_of(book.security_id());
            let is_equal = book.is_in_sync() && self.check_book(expected_state, book, number);
            let was_equal = std::mem::replace(&mut self.equal[index], is_equal);
            let received = event.changed().any(|(i, _, c)| i == instrument && c.best_price());
            // Changes that a snapshot contained earlier are not reported again.
            if is_steady
                && was_equal
                && let Some(changed) = expected_state.changes_best_price(index, number)
            {
                assert_eq!(received, changed, "event {number}: best price of {index}");
            }
        }
        (self.last_event, self.is_steady) = (Some(number), true);
        wanted
    }

    /// Checks that a book equals the published book at the end of the event.
    fn check_book(
        &mut self,
        expected_state: &ExpectedState,
        book: feed::Book<'_>,
        event: u64,
    ) -> bool {
        let verdict = expected_state.check(book, event);
        match verdict {
            Verdict::Equal => self.census.count("books equal to the published book"),
            Verdict::Ahead => self.census.count("books ahead by a snapshot"),
            Verdict::Unknown => self.census.count("books without a known published state"),
            Verdict::Behind | Verdict::Different => panic!(
                "{:?}: after event {event} the book of {} at {:?} is {verdict:?}",
                self.scenario,
                book.security_id(),
                book.rpt_seq(),
            ),
        }
        verdict == Verdict::Equal
    }

    fn record_gap(&mut self, gap: &Gap) {
        self.gaps += u64::from(self.was_in_sync);
        self.is_steady = false;
        self.census.count("gaps");
        if self.is_lenient() {
            return;
        }
        assert!(
            self.scenario.may_gap(),
            "{:?}: the packet arrived on one line, and the channel reported {gap:?}",
            self.scenario
        );
        assert_eq!(Some(gap.first), self.expected, "a gap is out of order");
        self.expected = Some(gap.first + gap.count);
    }

    fn record_packet(&mut self, packet: &Packet) {
        if packet.feed != Feed::Incremental || self.is_lenient() {
            return;
        }
        let expected = self.expected.replace(packet.sequence + 1);
        assert!(
            expected.is_none_or(|expected| expected == packet.sequence),
            "packets are out of order"
        );
        self.last_packet = packet.sequence;
    }

    fn record_state(&mut self, state: ChannelState) {
        let is_first = !self.was_in_sync;
        self.was_in_sync |= state == ChannelState::InSync;
        if self.is_lenient() {
            return;
        }
        assert_ne!(state, self.state, "the channel reported the same state twice");
        let all = self.in_sync.iter().all(|in_sync| *in_sync);
        assert_eq!(
            state == ChannelState::InSync,
            all,
            "the channel is {state:?} with books {:?}",
            self.in_sync
        );
        if self.state == ChannelState::Recovering && state == ChannelState::InSync {
            self.census.count(if is_first { "late joins in sync" } else { "recoveries" });
        }
        self.state = state;
    }

    fn record_instrument(&mut self, change: &InstrumentStateChange<'_>) {
        let is_in_sync = change.state == SyncState::InSync;
        self.unsynced += u64::from(self.was_in_sync && !is_in_sync);
        if self.is_lenient() {
            return;
        }
        assert!(
            is_in_sync || self.scenario.may_gap(),
            "{:?}: a book lost synchronization",
            self.scenario
        );
        let known = &mut self.in_sync[index_of(change.book.security_id())];
        assert_ne!(*known, is_in_sync, "the channel reported the same instrument state twice");
        *known = is_in_sync;
        self.is_steady = false;
    }
}

/// The strategy's feed callbacks, which the checker receives first.
pub(crate) struct CheckedFeedListener<'a> {
    pub(crate) reaction: Reaction<'a, Dialer>,
    pub(crate) checker: &'a mut FeedChecker,
    pub(crate) expected_state: &'a ExpectedState,
    pub(crate) message_log: &'a mut MessageLog,
}

impl feed::Listener for CheckedFeedListener<'_> {
    fn on_packet(&mut self, packet: &Packet) {
        self.checker.record_packet(packet);
        self.reaction.on_packet(packet);
    }

    fn on_book_update(&mut self, update: &BookUpdate<'_>) {
        let is_next = update.packet.sequence == self.checker.last_packet;
        let is_reported = update.source == UpdateSource::Snapshot || is_next;
        assert!(
            self.checker.is_lenient() || (is_reported && update.book.is_in_sync()),
            "out of order"
        );
        self.reaction.on_book_update(update);
    }

    /// Checks that an established session sends one order for each best-price change.
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        if event.end == EventEnd::Gap {
            assert!(event.changed().next().is_none(), "no book is in sync after a gap");
            return;
        }
        let wanted = self.checker.check_event(self.expected_state, event);
        let session = &self.reaction.session;
        let (before, uuid) = (session.progress().next_outgoing, session.progress().uuid);
        let is_established = session.state() == State::Established;
        let errors = self.reaction.strategy.counts.errors;
        self.reaction.on_end_of_event(event);
        let sent = self.reaction.session.progress().next_outgoing - before;
        self.message_log.uuid_messages(uuid).sent += sent;
        self.checker.orders += u64::from(sent);
        let refused = self.reaction.strategy.counts.errors - errors;
        self.checker.refused += refused;
        if !self.checker.is_lenient() {
            let wanted = if is_established { wanted } else { 0 };
            assert_eq!(u64::from(sent) + refused, wanted, "orders for best-price changes");
            assert!(refused == 0 || self.checker.scenario.may_refuse(), "an order was refused");
        }
    }

    fn on_channel_state(&mut self, state: ChannelState) {
        self.checker.record_state(state);
        self.reaction.on_channel_state(state);
    }

    fn on_instrument_state(&mut self, change: &InstrumentStateChange<'_>) {
        self.checker.record_instrument(change);
        self.reaction.on_instrument_state(change);
    }

    fn on_gap(&mut self, gap: &Gap) {
        self.checker.record_gap(gap);
        self.reaction.on_gap(gap);
    }

    fn on_error(&mut self, packet: Option<&Packet>, error: &feed::Error) {
        assert!(self.checker.is_lenient(), "{:?}: {error}", self.checker.scenario);
        self.checker.errors += 1;
        self.checker.census.count("corrupt datagrams detected");
        self.reaction.on_error(packet, error);
    }

    fn on_warning(&mut self, warning: &feed::Warning) {
        assert!(self.checker.is_lenient(), "{:?}: {warning}", self.checker.scenario);
        self.reaction.on_warning(warning);
    }
}
