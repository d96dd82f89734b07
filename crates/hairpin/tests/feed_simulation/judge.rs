//! Compares the callbacks of a channel with the published data.

use std::collections::{BTreeMap, HashMap};

use hairpin_exchange::Digest;
use hairpin_mdp3::{
    ChannelState, EndOfEvent, Gap, InstrumentIndex, Instruments, OrderBook, Packet, SyncState,
    UpdateSource,
};
use hairpin_netsim::Census;
use hairpin_time::{Now, Utc};

use crate::trace::trace;
use crate::truth::{Fact, Stamp, Truth, digest};

/// The reported state of one book of an instrument: price levels or orders.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Known {
    is_in_sync: bool,
    /// The packet whose books the snapshot contained, if the book was loaded from a snapshot.
    pub(crate) as_of: Option<Stamp>,
    /// The snapshot may contain the books before the heartbeat-only pass that ended with it.
    is_unsure: bool,
    /// The number of reported updates and state changes.
    pub(crate) updates: u64,
    /// The last check: the recorded state, and the number of updates at that time.
    checked: Option<(usize, u64)>,
    /// The digests at the last check, if only events have changed the book since then.
    pub(crate) equal: Option<[u64; 2]>,
}

impl Known {
    fn is_due(&self, point: usize) -> bool {
        self.checked != Some((point, self.updates))
    }

    pub(crate) fn note_state(&mut self, is_in_sync: bool) {
        self.is_in_sync = is_in_sync;
        self.updates += 1;
        self.equal = None;
        if !is_in_sync {
            (self.as_of, self.checked) = (None, None);
        }
    }

    /// Returns the packet whose books this book must equal. A snapshot may be ahead of `stamp`.
    fn due_after(&self, stamp: Stamp) -> Stamp {
        self.as_of.map_or(stamp, |as_of| as_of.max(stamp))
    }
}

/// The state of a channel as its callbacks have reported it.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    pub(crate) name: String,
    is_unnumbered: bool,
    /// No packets were lost for long enough, so that the channel must not report a gap.
    pub(crate) is_calm: bool,
    pub(crate) prices: BTreeMap<i32, Known>,
    pub(crate) orders: BTreeMap<i32, Known>,
    /// The last reported packet of the incremental feed.
    pub(crate) last: Option<Fact>,
    /// The next sequence number, unless numbering restarts.
    pub(crate) expected: Option<u32>,
    pub(crate) is_event_ended: bool,
    /// The packet of a loop in progress, and the packet whose books it contains.
    pub(crate) loop_packet: Option<(Packet, Stamp)>,
    /// The order in which packets were passed to the channel, by numbering and sequence number.
    handed: HashMap<(u32, u32), u64>,
    pub(crate) handed_count: u64,
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

impl Judge {
    pub(crate) fn new(name: String, is_unnumbered: bool) -> Self {
        Self { name, is_unnumbered, ..Self::default() }
    }

    /// Returns `true` for the price book and the order book if synchronized.
    pub(crate) fn in_sync(&self, security_id: i32) -> [bool; 2] {
        [&self.prices, &self.orders]
            .map(|known| known.get(&security_id).is_some_and(|known| known.is_in_sync))
    }

    /// Records a packet of the incremental feed that was passed to the channel.
    pub(crate) fn note_handed(&mut self, truth: &Truth, sequence: u32, sent: Utc) {
        let fact = truth.packet(sequence, sent).expect("the packet was sent");
        self.handed_count += 1;
        self.handed.entry((fact.numbering, sequence)).or_insert(self.handed_count);
    }

    /// Checks that packets are reported in order and once, and that a gap reports each missing
    /// packet.
    pub(crate) fn judge_packet(&mut self, now: Now, fact: Fact) {
        let (name, sequence) = (&self.name, fact.sequence);
        let is_same = self.last.is_some_and(|last| last.numbering == fact.numbering);
        assert!(
            self.last.is_none_or(|last| last.numbering <= fact.numbering),
            "{name}: the channel reported a packet of an earlier numbering: {fact:?}"
        );
        for (gap, handed) in std::mem::take(&mut self.gaps) {
            self.judge_gap(now, &gap, handed, fact.numbering);
        }
        let (name, expected) = (&self.name, self.expected);
        assert!(
            !is_same || expected == Some(sequence),
            "{name}: the channel reported packet {sequence}, expected {expected:?}"
        );
        self.expected = Some(sequence.wrapping_add(1));
        self.last = Some(fact);
        self.is_event_ended = false;
    }

    /// Checks that the packets of a gap had not been passed to the channel before the report.
    fn judge_gap(&mut self, now: Now, gap: &Gap, handed: u64, numbering: u32) {
        let name = &self.name;
        for sequence in gap.first..gap.first + gap.count {
            let at = self.handed.get(&(numbering, sequence));
            assert!(
                at.is_none_or(|at| *at > handed),
                "{name}: the channel reported {gap:?} after it had received packet {sequence}"
            );
        }
        trace!(now, "{name}: a gap of numbering {numbering}: {gap:?}");
    }

    /// Checks every synchronized book at the end of an event.
    pub(crate) fn judge_event(&mut self, now: Now, truth: &Truth, event: &EndOfEvent<'_>) {
        let name = &self.name;
        let Packet { sequence, sending_time, .. } = *event.packet;
        let fact = truth.packet(sequence, sending_time).expect("the packet was sent");
        assert_eq!(self.last, Some(fact), "{name}: an event ended in an unreported packet");
        assert!(fact.ends_event, "{name}: no event ends in packet {:?}", fact.stamp);
        assert!(!self.is_event_ended, "{name}: an event ends twice in {:?}", fact.stamp);
        self.is_event_ended = true;
        self.events += 1;
        let judges_all = self.events.is_multiple_of(FULL_CHECK);
        self.changed.clear();
        self.changed.extend(event.changed().map(|(_, book, _)| book.security_id()));
        for instrument in event.instruments.iter() {
            self.judge_books(now, truth, event.instruments, instrument, fact.stamp, judges_all);
        }
    }

    /// Checks the synchronized books of an instrument.
    pub(crate) fn judge_books(
        &mut self,
        now: Now,
        truth: &Truth,
        instruments: &Instruments,
        instrument: InstrumentIndex,
        stamp: Stamp,
        judges_all: bool,
    ) {
        let security_id = instruments.book(instrument).security_id();
        match instruments.book(instrument).sync_state() {
            SyncState::InSync => {
                let known = self.prices.entry(security_id).or_default();
                assert!(
                    known.is_in_sync,
                    "{}: {security_id} is synchronized without a report",
                    self.name
                );
                let point = truth.at(security_id, known.due_after(stamp)).0;
                if judges_all || known.is_due(point) {
                    known.checked = Some((point, known.updates));
                    self.judge_prices(now, truth, instruments, instrument, stamp);
                }
            }
            SyncState::NaturallyRefreshed => {
                self.judge_refreshed(truth, instruments, instrument, stamp);
            }
            _ => {}
        }
        let orders = instruments.order_book(instrument);
        if orders.is_in_sync() {
            let known = self.orders.entry(security_id).or_default();
            assert!(
                known.is_in_sync,
                "{}: orders of {security_id} are synchronized without a report",
                self.name
            );
            let point = truth.at(security_id, known.due_after(stamp)).0;
            if judges_all || known.is_due(point) {
                known.checked = Some((point, known.updates));
                self.judge_orders(truth, orders, stamp);
            }
        }
    }

    fn judge_prices(
        &mut self,
        now: Now,
        truth: &Truth,
        instruments: &Instruments,
        instrument: InstrumentIndex,
        stamp: Stamp,
    ) {
        let (book, implied) = (instruments.book(instrument), instruments.implied_book(instrument));
        let security_id = book.security_id();
        let due = self.prices[&security_id].due_after(stamp);
        let (_, expected) = truth.at(security_id, due);
        let rpt_seq =
            if self.is_unnumbered { expected.rpt_seq } else { book.rpt_seq().unwrap_or(0) };
        let found = (
            rpt_seq,
            digest([book.bids(), book.asks()], *b"01"),
            digest([implied.bids(), implied.asks()], *b"EF"),
        );
        let published = (expected.rpt_seq, expected.book, expected.implied);
        if found != published {
            let equals = truth.find(security_id, |point| point.book == found.1);
            trace!(now, "{}: {book:?} {implied:?}", self.name);
            println!(
                "{}: published {expected:?}, the book equals the one of {equals:?}",
                self.name
            );
        }
        let kind = [found.1 != published.1, found.2 != published.2];
        assert!(
            found == published,
            "{}: after {stamp:?} the synchronized book of {security_id} differs from \
             that of {due:?}: RptSeq {rpt_seq}, published {}; levels, implied levels differ: {kind:?}",
            self.name,
            expected.rpt_seq
        );
        self.census.count(if due > stamp { "books checked ahead" } else { "books checked" });
        self.judge_change(security_id, [found.1, found.2]);
    }

    /// Checks that an event names the books that it has changed.
    fn judge_change(&mut self, security_id: i32, digests: [u64; 2]) {
        let Some(known) = self.prices.get_mut(&security_id) else { return };
        let before = known.equal.replace(digests).filter(|before| *before != digests);
        if before.is_some() {
            let (name, is_named) = (&self.name, self.changed.contains(&security_id));
            assert!(is_named, "{name}: {security_id} changed, and the event does not name it");
            self.census.count("changes named by an event");
        }
    }

    fn judge_orders(&mut self, truth: &Truth, orders: OrderBook<'_>, stamp: Stamp) {
        let security_id = orders.security_id();
        let due = self.orders[&security_id].due_after(stamp);
        let (_, expected) = truth.at(security_id, due);
        let mut digest = Digest::default();
        for (entry_type, side) in [(b'0', orders.bids()), (b'1', orders.asks())] {
            for order in side {
                let quantity = u32::try_from(order.quantity).expect("quantities have 32 bits");
                digest.order(entry_type, order.id, order.priority, order.price.0, quantity);
            }
        }
        // An empty pass implies the state of unnamed instruments only when the next pass begins,
        // which the callbacks do not distinguish.
        let is_older = self.orders[&security_id].is_unsure
            && digest.value() == truth.at(security_id, stamp).1.orders;
        if is_older {
            return self.census.count("order books checked");
        }
        if digest.value() != expected.orders {
            let equals = truth.find(security_id, |point| point.orders == digest.value());
            println!(
                "{}: {orders:?}, published {expected:?}, the book equals the one of {equals:?}",
                self.name
            );
        }
        assert!(
            digest.value() == expected.orders,
            "{}: after {stamp:?} the synchronized orders of {security_id} differ from \
             those of {due:?}",
            self.name
        );
        let class = if due > stamp { "order books checked ahead" } else { "order books checked" };
        self.census.count(class);
    }

    /// Checks that a naturally refreshed book contains the best published levels.
    fn judge_refreshed(
        &mut self,
        truth: &Truth,
        instruments: &Instruments,
        instrument: InstrumentIndex,
        stamp: Stamp,
    ) {
        let book = instruments.book(instrument);
        let (_, expected) = truth.at(book.security_id(), stamp);
        let Some(published) = &expected.levels else { return };
        for (side, published) in [book.bids(), book.asks()].into_iter().zip(published) {
            let found = side.iter().map(|level| (level.price.0, level.quantity));
            let is_prefix =
                side.len() <= published.len() && found.eq(published[..side.len()].iter().copied());
            assert!(
                is_prefix,
                "{}: after {stamp:?} the naturally refreshed book of {} is {side:?}, \
                 published {published:?}",
                self.name,
                book.security_id()
            );
            self.census.add("naturally refreshed levels checked", side.len() as u64);
        }
    }

    pub(crate) fn note_update(
        &mut self,
        security_id: i32,
        packet: &Packet,
        source: UpdateSource,
        of: Of,
    ) {
        let as_of = self.loop_packet.filter(|(told, _)| told == packet).map(|(_, as_of)| as_of);
        let known = match of {
            Of::Prices => self.prices.entry(security_id).or_default(),
            Of::Orders => self.orders.entry(security_id).or_default(),
        };
        known.updates += 1;
        if source == UpdateSource::Snapshot {
            (known.as_of, known.equal) = (as_of, None);
            known.is_unsure = packet.sequence == 1;
        }
    }
}

/// The kind of an instrument's book.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Of {
    Prices,
    Orders,
}
