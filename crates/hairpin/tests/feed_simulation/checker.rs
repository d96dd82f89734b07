//! Compares the callbacks of a channel with the published data.

use std::collections::{BTreeMap, HashMap};

use hairpin_exchange::Digest;
use hairpin_mdp3::{
    ChannelState, EndOfEvent, Feed, Gap, InstrumentIndex, Instruments, Message, OrderBook, Packet,
    SyncState, UpdateSource,
};
use hairpin_netsim::{Census, trace};
use hairpin_time::{Now, Utc};

use crate::expected_state::{ExpectedState, FeedPosition, PacketRecord, digest};

/// The reported state of one book of an instrument: price levels or orders.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct BookStatus {
    is_in_sync: bool,
    /// The packet whose books the snapshot contained, if the book was loaded from a snapshot.
    pub(crate) as_of: Option<FeedPosition>,
    /// The snapshot may contain the books before the heartbeat-only pass that ended with it.
    may_be_older: bool,
    /// The number of reported updates and state changes.
    pub(crate) updates: u64,
    /// The last check: the recorded state, and the number of updates at that time.
    checked: Option<(usize, u64)>,
    /// The digests at the last check, if only events have changed the book since then.
    pub(crate) equal: Option<[u64; 2]>,
}

impl BookStatus {
    fn is_due(&self, book_state: usize) -> bool {
        self.checked != Some((book_state, self.updates))
    }

    pub(crate) fn record_state(&mut self, is_in_sync: bool) {
        self.is_in_sync = is_in_sync;
        self.updates += 1;
        self.equal = None;
        if !is_in_sync {
            (self.as_of, self.checked) = (None, None);
        }
    }

    /// Returns the packet whose books this book must equal. A snapshot may be ahead of `position`.
    fn due_after(&self, position: FeedPosition) -> FeedPosition {
        self.as_of.map_or(position, |as_of| as_of.max(position))
    }
}

/// The state of a channel as its callbacks have reported it.
#[derive(Debug, Default)]
pub(crate) struct Checker {
    pub(crate) name: String,
    lacks_rpt_seq: bool,
    /// No packets were lost for long enough, so that the channel must not report a gap.
    pub(crate) forbids_gaps: bool,
    pub(crate) prices: BTreeMap<i32, BookStatus>,
    pub(crate) orders: BTreeMap<i32, BookStatus>,
    /// The last reported packet of the incremental feed.
    pub(crate) last: Option<PacketRecord>,
    /// The next sequence number, unless numbering restarts.
    pub(crate) expected: Option<u32>,
    pub(crate) is_event_ended: bool,
    /// The packet of a loop in progress, and the packet whose books it contains.
    pub(crate) loop_packet: Option<(Packet, FeedPosition)>,
    /// The packet whose books the last snapshot of an instrument contained, by SecurityID, of those
    /// received before the first packet of the incremental feed.
    early: BTreeMap<(i32, BookKind), FeedPosition>,
    /// The order in which packets were passed to the channel, by numbering and sequence number.
    passed: HashMap<(u32, u32), u64>,
    pub(crate) passed_count: u64,
    /// The gaps reported since the last packet, each with the number of packets passed before it.
    pub(crate) gaps: Vec<(Gap, u64)>,
    events: u64,
    /// The SecurityIDs of the books that the event names as changed.
    changed: Vec<i32>,
    pub(crate) state: Option<ChannelState>,
    pub(crate) census: Census,
}

/// All books are checked every so many events, including unchanged books.
const FULL_CHECK: u64 = 16;

impl Checker {
    pub(crate) fn new(name: String, lacks_rpt_seq: bool) -> Self {
        Self { name, lacks_rpt_seq, ..Self::default() }
    }

    /// Returns `true` for the price book and the order book if synchronized.
    pub(crate) fn in_sync(&self, security_id: i32) -> [bool; 2] {
        [&self.prices, &self.orders].map(|book_status| {
            book_status.get(&security_id).is_some_and(|book_status| book_status.is_in_sync)
        })
    }

    /// Records a packet of the incremental feed that was passed to the channel.
    pub(crate) fn record_passed(
        &mut self,
        expected_state: &ExpectedState,
        sequence: u32,
        sent: Utc,
    ) {
        let packet_record = expected_state.packet(sequence, sent).expect("the packet was sent");
        self.passed_count += 1;
        self.passed.entry((packet_record.numbering, sequence)).or_insert(self.passed_count);
    }

    /// Checks that packets are reported in order and once, and that a gap reports each missing
    /// packet.
    pub(crate) fn check_packet(&mut self, now: Now, packet_record: PacketRecord) {
        let (name, sequence) = (&self.name, packet_record.sequence);
        let is_same = self.last.is_some_and(|last| last.numbering == packet_record.numbering);
        assert!(
            self.last.is_none_or(|last| last.numbering <= packet_record.numbering),
            "{name}: the channel reported a packet of an earlier numbering: {packet_record:?}"
        );
        for (gap, passed) in std::mem::take(&mut self.gaps) {
            self.check_gap(now, &gap, passed, packet_record.numbering);
        }
        let (name, expected) = (&self.name, self.expected);
        assert!(
            !is_same || expected == Some(sequence),
            "{name}: the channel reported packet {sequence}, expected {expected:?}"
        );
        self.expected = Some(sequence.wrapping_add(1));
        self.last = Some(packet_record);
        self.is_event_ended = false;
    }

    /// Checks that the packets of a gap had not been passed to the channel before the report.
    fn check_gap(&mut self, now: Now, gap: &Gap, passed: u64, numbering: u32) {
        let name = &self.name;
        for sequence in gap.first..gap.first + gap.count {
            let at = self.passed.get(&(numbering, sequence));
            assert!(
                at.is_none_or(|at| *at > passed),
                "{name}: the channel reported {gap:?} after it had received packet {sequence}"
            );
        }
        trace!(now, "{name}: a gap of numbering {numbering}: {gap:?}");
    }

    /// Checks every synchronized book at the end of an event.
    pub(crate) fn check_event(
        &mut self,
        now: Now,
        expected_state: &ExpectedState,
        event: &EndOfEvent<'_>,
    ) {
        let name = &self.name;
        let Packet { sequence, sending_time, .. } = *event.packet;
        let packet_record =
            expected_state.packet(sequence, sending_time).expect("the packet was sent");
        assert_eq!(
            self.last,
            Some(packet_record),
            "{name}: an event ended in an unreported packet"
        );
        assert!(
            packet_record.ends_event,
            "{name}: no event ends in packet {:?}",
            packet_record.position
        );
        assert!(
            !self.is_event_ended,
            "{name}: an event ends twice in {:?}",
            packet_record.position
        );
        self.is_event_ended = true;
        self.events += 1;
        let checks_all = self.events.is_multiple_of(FULL_CHECK);
        self.changed.clear();
        self.changed.extend(event.changed().map(|(_, book, _)| book.security_id()));
        for instrument in event.instruments.iter() {
            self.check_books(
                now,
                expected_state,
                event.instruments,
                instrument,
                packet_record.position,
                checks_all,
            );
        }
    }

    /// Checks the synchronized books of an instrument.
    pub(crate) fn check_books(
        &mut self,
        now: Now,
        expected_state: &ExpectedState,
        instruments: &Instruments,
        instrument: InstrumentIndex,
        position: FeedPosition,
        checks_all: bool,
    ) {
        let security_id = instruments.book(instrument).security_id();
        match instruments.book(instrument).sync_state() {
            SyncState::InSync => {
                let book_status = self.prices.entry(security_id).or_default();
                assert!(
                    book_status.is_in_sync,
                    "{}: {security_id} is synchronized without a report",
                    self.name
                );
                let book_state = expected_state.at(security_id, book_status.due_after(position)).0;
                if checks_all || book_status.is_due(book_state) {
                    book_status.checked = Some((book_state, book_status.updates));
                    self.check_prices(now, expected_state, instruments, instrument, position);
                }
            }
            SyncState::NaturallyRefreshed => {
                self.check_refreshed(expected_state, instruments, instrument, position);
            }
            _ => {}
        }
        let orders = instruments.order_book(instrument);
        if orders.is_in_sync() {
            let book_status = self.orders.entry(security_id).or_default();
            assert!(
                book_status.is_in_sync,
                "{}: orders of {security_id} are synchronized without a report",
                self.name
            );
            let book_state = expected_state.at(security_id, book_status.due_after(position)).0;
            if checks_all || book_status.is_due(book_state) {
                book_status.checked = Some((book_state, book_status.updates));
                self.check_orders(expected_state, orders, position);
            }
        }
    }

    fn check_prices(
        &mut self,
        now: Now,
        expected_state: &ExpectedState,
        instruments: &Instruments,
        instrument: InstrumentIndex,
        position: FeedPosition,
    ) {
        let (book, implied) = (instruments.book(instrument), instruments.implied_book(instrument));
        let security_id = book.security_id();
        let due = self.prices[&security_id].due_after(position);
        let (_, expected) = expected_state.at(security_id, due);
        let rpt_seq =
            if self.lacks_rpt_seq { expected.rpt_seq } else { book.rpt_seq().unwrap_or(0) };
        let found = (
            rpt_seq,
            digest([book.bids(), book.asks()], *b"01"),
            digest([implied.bids(), implied.asks()], *b"EF"),
        );
        let published = (expected.rpt_seq, expected.book, expected.implied);
        if found != published {
            let equals = expected_state.find(security_id, |book_state| book_state.book == found.1);
            trace!(now, "{}: {book:?} {implied:?}", self.name);
            println!(
                "{}: published {expected:?}, the book equals the one of {equals:?}",
                self.name
            );
        }
        let kind = [found.1 != published.1, found.2 != published.2];
        assert!(
            found == published,
            "{}: after {position:?} the synchronized book of {security_id} differs from \
             that of {due:?}: RptSeq {rpt_seq}, published {}; levels, implied levels differ: \
             {kind:?}",
            self.name,
            expected.rpt_seq
        );
        self.census.count(if due > position { "books checked ahead" } else { "books checked" });
        self.check_change(security_id, [found.1, found.2]);
    }

    /// Checks that an event names the books that it has changed.
    fn check_change(&mut self, security_id: i32, digests: [u64; 2]) {
        let Some(book_status) = self.prices.get_mut(&security_id) else { return };
        let before = book_status.equal.replace(digests).filter(|before| *before != digests);
        if before.is_some() {
            let (name, is_named) = (&self.name, self.changed.contains(&security_id));
            assert!(is_named, "{name}: {security_id} changed, and the event does not name it");
            self.census.count("changes named by an event");
        }
    }

    fn check_orders(
        &mut self,
        expected_state: &ExpectedState,
        orders: OrderBook<'_>,
        position: FeedPosition,
    ) {
        let security_id = orders.security_id();
        let due = self.orders[&security_id].due_after(position);
        let (_, expected) = expected_state.at(security_id, due);
        let mut digest = Digest::default();
        for (entry_type, side) in [(b'0', orders.bids()), (b'1', orders.asks())] {
            for order in side {
                let quantity = u32::try_from(order.quantity).expect("quantities have 32 bits");
                digest.order(entry_type, order.id, order.priority, order.price.0, quantity);
            }
        }
        // An empty pass implies the state of unnamed instruments only when the next pass begins,
        // which the callbacks do not distinguish.
        let is_older = self.orders[&security_id].may_be_older
            && digest.value() == expected_state.at(security_id, position).1.orders;
        if is_older {
            return self.census.count("order books checked");
        }
        if digest.value() != expected.orders {
            let equals =
                expected_state.find(security_id, |book_state| book_state.orders == digest.value());
            println!(
                "{}: {orders:?}, published {expected:?}, the book equals the one of {equals:?}",
                self.name
            );
        }
        assert!(
            digest.value() == expected.orders,
            "{}: after {position:?} the synchronized orders of {security_id} differ from \
             those of {due:?}",
            self.name
        );
        let class =
            if due > position { "order books checked ahead" } else { "order books checked" };
        self.census.count(class);
    }

    /// Checks that a naturally refreshed book contains the best published levels.
    fn check_refreshed(
        &mut self,
        expected_state: &ExpectedState,
        instruments: &Instruments,
        instrument: InstrumentIndex,
        position: FeedPosition,
    ) {
        let book = instruments.book(instrument);
        let (_, expected) = expected_state.at(book.security_id(), position);
        let Some(published) = &expected.levels else { return };
        for (side, published) in [book.bids(), book.asks()].into_iter().zip(published) {
            let found = side.iter().map(|level| (level.price.0, level.quantity));
            let is_prefix =
                side.len() <= published.len() && found.eq(published[..side.len()].iter().copied());
            assert!(
                is_prefix,
                "{}: after {position:?} the naturally refreshed book of {} is {side:?}, \
                 published {published:?}",
                self.name,
                book.security_id()
            );
            self.census.add("naturally refreshed levels checked", side.len() as u64);
        }
    }

    /// Records a message of a loop. The first packet of the incremental feed decides if the
    /// snapshots before it count.
    pub(crate) fn record_loop_message(&mut self, message: &Message<'_>) {
        let book_kind = match message.header.template_id {
            52 | 61 | 68 | 69 => BookKind::Prices,
            53 => BookKind::Orders,
            _ => return,
        };
        let Some((_, as_of)) = self.loop_packet.filter(|_| self.last.is_none()) else { return };
        // The block begins with tags 369, 911 and 48.
        let security_id = message.body[8..12].try_into().map(i32::from_le_bytes).unwrap();
        self.early.insert((security_id, book_kind), as_of);
    }

    pub(crate) fn record_update(
        &mut self,
        security_id: i32,
        packet: &Packet,
        source: UpdateSource,
        book_kind: BookKind,
    ) {
        let is_early = matches!(packet.feed, Feed::Incremental | Feed::Replay);
        let early = self.early.get(&(security_id, book_kind)).copied().filter(|_| is_early);
        let as_of = self.loop_packet.filter(|(told, _)| is_early || told == packet);
        let as_of = early.or(as_of.map(|(_, as_of)| as_of));
        let book_status = match book_kind {
            BookKind::Prices => self.prices.entry(security_id).or_default(),
            BookKind::Orders => self.orders.entry(security_id).or_default(),
        };
        book_status.updates += 1;
        if source == UpdateSource::Snapshot {
            (book_status.as_of, book_status.equal) = (as_of, None);
            book_status.may_be_older = packet.sequence == 1;
        }
    }
}

/// The kind of an instrument's book.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BookKind {
    Prices,
    Orders,
}
