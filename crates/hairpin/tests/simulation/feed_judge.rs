//! Compares the callbacks of a trader's channel with the published data and checks their order.

use hairpin_feed_handler as feed;
use hairpin_feed_handler::{
    BookUpdate, ChannelState, EndOfEvent, Feed, Gap, InstrumentStateChange, Packet, SyncState,
    UpdateSource,
};
use hairpin_netsim::Census;
use hairpin_order_entry::State;

use crate::ledger::Ledger;
use crate::plan::Ordeal;
use crate::truth::{Truth, Verdict, index_of};
use crate::wire::Dialler;
use hairpin::trader::Reaction;

/// The state of a channel as its callbacks have reported it.
#[derive(Debug)]
pub(crate) struct FeedJudge {
    ordeal: Ordeal,
    /// The sequence number of the next packet of the incremental feed.
    expected: Option<u32>,
    last_packet: u32,
    /// The last event whose end was reported.
    last_event: Option<u64>,
    /// No packet was missed and no book was loaded from a snapshot since the last event.
    is_steady: bool,
    state: ChannelState,
    in_sync: Vec<bool>,
    /// By instrument: `true` if the book equaled the published book at the end of the last event.
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

impl FeedJudge {
    pub(crate) fn new(ordeal: Ordeal, instruments: usize) -> Self {
        Self {
            ordeal,
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
        self.ordeal.corrupts_data()
    }

    /// Checks every synchronized book at the end of an event. Returns the number of books whose
    /// best price changed.
    fn judge_event(&mut self, truth: &Truth, event: &EndOfEvent<'_>) -> u64 {
        let wanted = event.changed().filter(|(.., changes)| changes.best_price()).count() as u64;
        if self.is_lenient() {
            return wanted;
        }
        let sequence = event.packet.sequence;
        assert_eq!(sequence, self.last_packet, "an event ended in an unreported packet");
        let number =
            truth.event_at(sequence).expect("an event ended in a packet that ends no event");
        assert!(self.last_event < Some(number), "events are out of order");
        let is_steady = self.is_steady && self.last_event == Some(number - 1);
        assert!(is_steady || !self.is_steady || self.last_event.is_none(), "an event was skipped");
        for instrument in event.instruments.iter() {
            let book = event.instruments.book(instrument);
            let index = index_of(book.security_id());
            let is_equal = book.is_in_sync() && self.judge_book(truth, book, number);
            let was_equal = std::mem::replace(&mut self.equal[index], is_equal);
            let told = event.changed().any(|(i, _, c)| i == instrument && c.best_price());
            // Changes that a snapshot contained earlier are not reported again.
            if is_steady
                && was_equal
                && let Some(changed) = truth.changes_best_price(index, number)
            {
                assert_eq!(told, changed, "event {number}: best price of {index}");
            }
        }
        (self.last_event, self.is_steady) = (Some(number), true);
        wanted
    }

    /// Checks that a book equals the published book at the end of the event.
    fn judge_book(&mut self, truth: &Truth, book: feed::Book<'_>, event: u64) -> bool {
        let verdict = truth.judge(book, event);
        match verdict {
            Verdict::Equal => self.census.count("books equal to the published book"),
            Verdict::Ahead => self.census.count("books ahead by a snapshot"),
            Verdict::Unseen => self.census.count("books without a known published state"),
            Verdict::Behind | Verdict::Different => panic!(
                "{:?}: after event {event} the book of {} at {:?} is {verdict:?}",
                self.ordeal,
                book.security_id(),
                book.rpt_seq(),
            ),
        }
        verdict == Verdict::Equal
    }

    fn note_gap(&mut self, gap: &Gap) {
        self.gaps += u64::from(self.was_in_sync);
        self.is_steady = false;
        self.census.count("gaps");
        if self.is_lenient() {
            return;
        }
        assert!(
            self.ordeal.may_gap(),
            "{:?}: the packet arrived on one line, and the channel reported {gap:?}",
            self.ordeal
        );
        assert_eq!(Some(gap.first), self.expected, "a gap is out of order");
        self.expected = Some(gap.first + gap.count);
    }

    fn note_packet(&mut self, packet: &Packet) {
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

    fn note_state(&mut self, state: ChannelState) {
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

    fn note_instrument(&mut self, change: &InstrumentStateChange<'_>) {
        let is_in_sync = change.state == SyncState::InSync;
        self.unsynced += u64::from(self.was_in_sync && !is_in_sync);
        if self.is_lenient() {
            return;
        }
        assert!(
            is_in_sync || self.ordeal.may_gap(),
            "{:?}: a book lost synchronization",
            self.ordeal
        );
        let known = &mut self.in_sync[index_of(change.book.security_id())];
        assert_ne!(*known, is_in_sync, "the channel reported the same instrument state twice");
        *known = is_in_sync;
        self.is_steady = false;
    }
}

/// The strategy's feed callbacks, which the checker receives first.
pub(crate) struct Watch<'a> {
    pub(crate) reaction: Reaction<'a, Dialler>,
    pub(crate) judge: &'a mut FeedJudge,
    pub(crate) truth: &'a Truth,
    pub(crate) ledger: &'a mut Ledger,
}

impl feed::Listener for Watch<'_> {
    fn on_packet(&mut self, packet: &Packet) {
        self.judge.note_packet(packet);
        self.reaction.on_packet(packet);
    }

    fn on_book_update(&mut self, update: &BookUpdate<'_>) {
        let is_next = update.packet.sequence == self.judge.last_packet;
        let is_told = update.source == UpdateSource::Snapshot || is_next;
        assert!(self.judge.is_lenient() || (is_told && update.book.is_in_sync()), "out of order");
        self.reaction.on_book_update(update);
    }

    /// Checks that an established session sends one order for each best-price change.
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        let wanted = self.judge.judge_event(self.truth, event);
        let session = &self.reaction.session;
        let (before, uuid) = (session.progress().next_outgoing, session.progress().uuid);
        let is_established = session.state() == State::Established;
        let errors = self.reaction.strategy.counts.errors;
        self.reaction.on_end_of_event(event);
        let sent = self.reaction.session.progress().next_outgoing - before;
        self.ledger.run(uuid).sent += sent;
        self.judge.orders += u64::from(sent);
        let refused = self.reaction.strategy.counts.errors - errors;
        self.judge.refused += refused;
        if !self.judge.is_lenient() {
            let wanted = if is_established { wanted } else { 0 };
            assert_eq!(u64::from(sent) + refused, wanted, "orders for best-price changes");
            assert!(refused == 0 || self.judge.ordeal.may_refuse(), "an order was refused");
        }
    }

    fn on_channel_state(&mut self, state: ChannelState) {
        self.judge.note_state(state);
        self.reaction.on_channel_state(state);
    }

    fn on_instrument_state(&mut self, change: &InstrumentStateChange<'_>) {
        self.judge.note_instrument(change);
        self.reaction.on_instrument_state(change);
    }

    fn on_gap(&mut self, gap: &Gap) {
        self.judge.note_gap(gap);
        self.reaction.on_gap(gap);
    }

    fn on_error(&mut self, packet: Option<&Packet>, error: &feed::Error) {
        assert!(self.judge.is_lenient(), "{:?}: {error}", self.judge.ordeal);
        self.judge.errors += 1;
        self.judge.census.count("corrupt datagrams detected");
        self.reaction.on_error(packet, error);
    }

    fn on_warning(&mut self, warning: &feed::Warning) {
        assert!(self.judge.is_lenient(), "{:?}: {warning}", self.judge.ordeal);
        self.reaction.on_warning(warning);
    }
}
