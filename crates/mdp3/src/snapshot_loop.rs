//! Market recovery: books from the snapshot feed's loop, and the queued entries after them.
//!
//! A snapshot states a book *after* packet LastMsgSeqNumProcessed (369) of the incremental feed.
//! For its instrument, queued packets up to that one are done with, and so are entries with an
//! RptSeq up to the snapshot's; the one after it must come next. An instrument that a whole pass
//! of the loop does not name has an empty book, as of the lowest 369 in the pass.

use hairpin_cme_codecs::mdp3 as codec;
use hairpin_sbe::DecodeError;
use hairpin_time::Utc;

use crate::book_entry::{self, Outcome};
use crate::entries::{self, Entry, Kind, count, sound};
use crate::levels::{Level, Levels, MAX_DEPTH};
use crate::loop_tracker::{LoopTracker, Position};
use crate::market::{Market, Recovery};
use crate::packet_queue::PacketQueue;
use crate::sync::State;
use crate::{
    BookUpdate, Error, Feed, InstrumentIndex, Instruments, LateJoin, Listener, Message, Messages,
    Packet, UpdateSource, Warning,
};

/// What is known of the current pass of the loop.
#[derive(Debug)]
pub(crate) struct SnapshotLoop {
    tracker: LoopTracker,
    /// A late join without definitions waits for a whole pass, not for certain instruments.
    is_joining: bool,
    /// TotNumReports: how many instruments the pass names; 0 until one says it.
    total: u32,
    distinct: u32,
    /// The lowest 369 of the pass, and of the one before.
    lowest: u32,
    lowest_before: Option<u32>,
    /// Whether the pass has been found whole, and its conclusion drawn.
    is_concluded: bool,
}

impl SnapshotLoop {
    pub(crate) fn new(max_packets: usize, is_joining: bool) -> Self {
        Self {
            tracker: LoopTracker::new(max_packets),
            is_joining,
            total: 0,
            distinct: 0,
            lowest: u32::MAX,
            lowest_before: None,
            is_concluded: false,
        }
    }

    pub(crate) fn is_joining(&self) -> bool {
        self.is_joining
    }

    pub(crate) fn end_join(&mut self) {
        self.is_joining = false;
    }

    /// Only a pass that starts from now on will count as whole.
    pub(crate) fn abandon_pass(&mut self) {
        self.tracker.abandon();
        self.start_pass();
        self.lowest_before = None;
    }

    fn start_pass(&mut self) {
        self.lowest_before = (self.lowest != u32::MAX).then_some(self.lowest);
        self.lowest = u32::MAX;
        (self.total, self.distinct) = (0, 0);
        self.is_concluded = false;
    }

    /// Counts a snapshot of the pass; `last_pass` is the last pass that named its instrument.
    fn count(&mut self, stated: &Stated, last_pass: Option<&mut u32>) {
        self.lowest = self.lowest.min(stated.last_sequence);
        if self.total != 0 && self.total != stated.total {
            // The loop changed amid the pass: who is absent from it means nothing.
            self.tracker.abandon();
        }
        self.total = stated.total;
        match last_pass {
            Some(last_pass) if *last_pass == self.tracker.pass() => {}
            Some(last_pass) => {
                *last_pass = self.tracker.pass();
                self.distinct += 1;
            }
            // No room to note who it was; in a pass each is named once.
            None => self.distinct += 1,
        }
    }

    fn is_whole(&self) -> bool {
        !self.is_concluded
            && self.total > 0
            && self.distinct == self.total
            && self.tracker.has_no_hole()
    }
}

/// What a snapshot states.
struct Stated {
    last_sequence: u32,
    total: u32,
    security_id: i32,
    rpt_seq: u32,
    bids: Side,
    asks: Side,
}

/// One side as far as it has been read.
struct Side {
    levels: Levels,
    /// One bit for each level that was stated.
    stated: u16,
}

impl Side {
    const EMPTY: Self = Self { levels: [Level::NONE; MAX_DEPTH], stated: 0 };

    /// Takes a level, numbered from 1; those below the deepest book are left out.
    fn put(&mut self, level: u8, stated: Level) {
        let Some(index) = level.checked_sub(1) else { return };
        if let Some(slot) = self.levels.get_mut(usize::from(index)) {
            *slot = stated;
            self.stated |= 1 << index;
        }
    }

    /// The levels, if there is no hole between them.
    fn levels(&self) -> Option<&[Level]> {
        let count = self.stated.trailing_ones();
        (self.stated >> count == 0).then(|| &self.levels[..count as usize])
    }
}

/// Decodes a snapshot of one template; the two differ in the type of quantity and level.
macro_rules! stated {
    ($message:ident, $type:ident, $module:ident, |$entry:ident| $level:expr, $quantity:expr) => {{
        let mut scratch = codec::$type::SCRATCH;
        let decoded = codec::$type::decode(&$message.header, $message.body, &mut scratch)?;
        let (mut bids, mut asks) = (Side::EMPTY, Side::EMPTY);
        let mut entries = decoded.no_md_entries();
        let mut scratch = codec::$module::NoMDEntries::SCRATCH;
        while let Some($entry) = entries.next(&mut scratch) {
            let side = match $entry.md_entry_type().0 {
                b'0' => &mut bids,
                b'1' => &mut asks,
                _ => continue,
            };
            if let (Some(level), Some(price), Some(quantity)) =
                ($level, $entry.md_entry_px(), $quantity)
            {
                let orders = count($entry.number_of_orders().unwrap_or(0));
                side.put(level, Level { price, quantity, orders });
            }
        }
        let stated = Stated {
            last_sequence: decoded.last_msg_seq_num_processed(),
            total: decoded.tot_num_reports(),
            security_id: decoded.security_id(),
            rpt_seq: decoded.rpt_seq(),
            bids,
            asks,
        };
        Ok(Some((stated, Utc::from_nanos(decoded.transact_time()))))
    }};
}

/// Decodes a snapshot of a price book and its TransactTime; `None` for another template.
fn decode(message: &Message<'_>) -> Result<Option<(Stated, Utc)>, DecodeError> {
    match message.header.template_id {
        codec::SnapshotFullRefresh52::TEMPLATE_ID => stated!(
            message,
            SnapshotFullRefresh52,
            snapshot_full_refresh52,
            |entry| entry.md_price_level().and_then(|level| u8::try_from(level).ok()),
            entry.md_entry_size().and_then(sound)
        ),
        codec::SnapshotFullRefreshLongQty69::TEMPLATE_ID => stated!(
            message,
            SnapshotFullRefreshLongQty69,
            snapshot_full_refresh_long_qty69,
            |entry| entry.md_price_level(),
            entry.md_entry_size()
        ),
        _ => Ok(None),
    }
}

impl Market {
    /// Processes a packet of the snapshot feed; `bytes` are its messages.
    pub(crate) fn process_snapshot(
        &mut self,
        packet: &Packet,
        bytes: &[u8],
        listener: &mut impl Listener,
    ) {
        self.counters.snapshot_packets += 1;
        let tracker = &mut self.snapshot_loop.tracker;
        let position = tracker.observe(packet.side, packet.sequence, packet.sending_time);
        if tracker.is_too_long() {
            self.warn(&Warning::LoopTooLong { feed: Feed::Snapshot }, listener);
        }
        match position {
            Position::Starts => self.start_snapshot_pass(),
            Position::Continues => {}
            Position::Repeats => {
                self.counters.loop_duplicates += 1;
                return;
            }
        }
        listener.on_packet(packet);
        let mut transact_time = Utc::EPOCH;
        for message in Messages::new(bytes) {
            match message {
                Ok(message) => self.snapshot(packet, &message, &mut transact_time, listener),
                Err(error) => self.report(Some(packet), &error, listener),
            }
        }
        self.replay(packet, transact_time, listener);
        if self.snapshot_loop.is_whole() {
            self.conclude_pass(packet, transact_time, listener);
        }
    }

    /// A new pass states nothing older than the last did: what that made useless can go.
    fn start_snapshot_pass(&mut self) {
        self.snapshot_loop.start_pass();
        if let Some(sequence) = self.snapshot_loop.lowest_before
            && self.queue.oldest().is_some_and(|oldest| oldest <= sequence)
        {
            self.queue.drop_through(sequence);
            self.floor = self.floor.max(sequence.saturating_add(1));
        }
    }

    fn snapshot(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        transact_time: &mut Utc,
        listener: &mut impl Listener,
    ) {
        if !self.is_readable(packet, message, listener) {
            return;
        }
        match decode(message) {
            Ok(Some((stated, time))) => {
                *transact_time = time;
                self.take_snapshot(packet, &stated, listener);
            }
            Ok(None) => self.loop_extra(message, listener),
            Err(error) => {
                let template_id = message.header.template_id;
                let error = Error::MalformedMessage { template_id, error };
                self.report(Some(packet), &error, listener);
            }
        }
    }

    /// A message on a looping feed that is not what the loop is for.
    pub(crate) fn loop_extra(&mut self, message: &Message<'_>, listener: &mut impl Listener) {
        match message.header.template_id {
            codec::AdminHeartbeat12::TEMPLATE_ID => self.counters.heartbeats += 1,
            codec::SnapshotFullRefreshOrderBook53::TEMPLATE_ID => {}
            template_id => self.warn(&Warning::UnknownTemplate { template_id }, listener),
        }
    }

    /// Loads a book from a snapshot if that is what its instrument waits for.
    fn take_snapshot(&mut self, packet: &Packet, stated: &Stated, listener: &mut impl Listener) {
        let Some(instrument) = self.find_or_meet(stated.security_id, listener) else {
            return self.snapshot_loop.count(stated, None);
        };
        let recovery = &mut self.recovery[instrument.as_usize()];
        self.snapshot_loop.count(stated, Some(&mut recovery.snapshot_pass));
        let state = self.instruments.cells[instrument.as_usize()].head.state;
        if !state.needs_snapshot() || !self.connects(instrument, stated.last_sequence) {
            return;
        }
        let (Some(bids), Some(asks)) = (stated.bids.levels(), stated.asks.levels()) else {
            let error = Error::InvalidSnapshot { security_id: stated.security_id };
            return self.report(Some(packet), &error, listener);
        };
        self.load(instrument, stated.last_sequence, (bids, asks), Some(stated.rpt_seq));
        self.counters.snapshots_applied += 1;
    }

    /// The instrument of a snapshot, known or not.
    fn find_or_meet(
        &mut self,
        security_id: i32,
        listener: &mut impl Listener,
    ) -> Option<InstrumentIndex> {
        let found = self.instruments.find(security_id);
        if found.is_some() {
            return found;
        }
        if self.settings.late_join == LateJoin::InstrumentsAndBooks {
            self.miss_definition(security_id, listener);
            return self.instruments.find(security_id);
        }
        let instrument = self.find_or_insert(security_id, listener)?;
        let is_joining = self.snapshot_loop.is_joining();
        let waiting_from = if is_joining { 0 } else { self.next_sequence };
        self.fall_out(instrument, waiting_from, listener);
        Some(instrument)
    }

    /// Whether the entries after packet `last_sequence` are all at hand or still to come.
    fn connects(&mut self, instrument: InstrumentIndex, last_sequence: u32) -> bool {
        let waiting_from = self.recovery[instrument.as_usize()].waiting_from;
        if last_sequence.saturating_add(1) < waiting_from.max(self.floor) {
            self.counters.snapshots_too_old += 1;
            return false;
        }
        let farthest = self.next_sequence.saturating_add(self.settings.max_snapshot_lead);
        if last_sequence > farthest {
            self.counters.snapshots_too_far_ahead += 1;
            return false;
        }
        true
    }

    /// Loads a book as of packet `sequence`. Without an RptSeq the next entry may carry any.
    fn load(
        &mut self,
        instrument: InstrumentIndex,
        sequence: u32,
        (bids, asks): (&[Level], &[Level]),
        rpt_seq: Option<u32>,
    ) {
        let cell = &mut self.instruments.cells[instrument.as_usize()];
        cell.load(bids, asks);
        cell.head.next_rpt_seq = rpt_seq.map_or(0, |rpt_seq| rpt_seq.wrapping_add(1));
        cell.head.state = State::Replaying;
        let recovery = &mut self.recovery[instrument.as_usize()];
        recovery.snapshot_sequence = sequence;
        recovery.snapshot_rpt_seq = rpt_seq.unwrap_or(0);
        recovery.any_rpt_seq = rpt_seq.is_none();
        self.touched.push(instrument);
    }

    /// The pass is whole: every instrument that waits and that it did not name is empty.
    #[cold]
    fn conclude_pass(&mut self, packet: &Packet, transact_time: Utc, listener: &mut impl Listener) {
        self.snapshot_loop.is_concluded = true;
        let (pass, lowest) = (self.snapshot_loop.tracker.pass(), self.snapshot_loop.lowest);
        for instrument in self.instruments.iter() {
            let state = self.instruments.cells[instrument.as_usize()].head.state;
            let was_named = self.recovery[instrument.as_usize()].snapshot_pass == pass;
            if state.needs_snapshot() && !was_named && self.connects(instrument, lowest) {
                self.load(instrument, lowest, (&[], &[]), None);
                self.counters.empty_by_absence += 1;
            }
        }
        self.replay(packet, transact_time, listener);
        if lowest.saturating_add(1) >= self.floor {
            self.snapshot_loop.end_join();
        }
    }

    /// Applies what is queued to the books just loaded, and tells those that are right then.
    fn replay(&mut self, packet: &Packet, transact_time: Utc, listener: &mut impl Listener) {
        let Self { queue, instruments, recovery, touched, .. } = self;
        let sequences =
            touched.iter().map(|instrument| recovery[instrument.as_usize()].snapshot_sequence);
        let Some(lowest) = sequences.min() else { return };
        replay_queue(queue, lowest, instruments, recovery);
        for position in 0..self.touched.len() {
            self.finish_replay(self.touched[position], packet, transact_time, listener);
        }
        self.touched.clear();
    }

    fn finish_replay(
        &mut self,
        instrument: InstrumentIndex,
        packet: &Packet,
        transact_time: Utc,
        listener: &mut impl Listener,
    ) {
        let cell = &mut self.instruments.cells[instrument.as_usize()];
        let changes = cell.settle_best();
        if cell.head.state != State::Replaying {
            self.counters.snapshots_not_continued += 1;
            return;
        }
        let is_fresh = self.recovery[instrument.as_usize()].any_rpt_seq;
        let state = if is_fresh { State::Fresh } else { State::InSync };
        self.come_in(instrument, state, listener);
        let book = self.instruments.book(instrument);
        let source = UpdateSource::Snapshot;
        let update = BookUpdate { packet, transact_time, instrument, book, changes, source };
        listener.on_book_update(&update);
    }
}

/// Applies the packets after `lowest` to all books being replayed, one pass for all of them.
fn replay_queue(
    queue: &PacketQueue,
    lowest: u32,
    instruments: &mut Instruments,
    recovery: &mut [Recovery],
) {
    for (sequence, bytes) in queue.after(lowest) {
        for message in Messages::new(bytes).map_while(Result::ok) {
            // What cannot be read was reported when the packet came, and nothing before it counts.
            let _ = entries::read(&message, |_, entry| {
                replay_entry(instruments, recovery, sequence, &entry);
            });
        }
    }
}

fn replay_entry(
    instruments: &mut Instruments,
    recovery: &mut [Recovery],
    sequence: u32,
    entry: &Entry,
) {
    let Some(instrument) = instruments.find(entry.security_id) else { return };
    let cell = &mut instruments.cells[instrument.as_usize()];
    let recovery = &mut recovery[instrument.as_usize()];
    if cell.head.state != State::Replaying || sequence <= recovery.snapshot_sequence {
        return;
    }
    let (rpt_seq, next) = (entry.rpt_seq, cell.head.next_rpt_seq);
    let is_unnumbered = rpt_seq == 0 && next <= 1;
    if !recovery.any_rpt_seq && !is_unnumbered && rpt_seq != next {
        if rpt_seq > next || rpt_seq == 0 {
            cell.head.state = State::Waiting;
        }
        return;
    }
    if !is_unnumbered {
        cell.head.next_rpt_seq = rpt_seq.wrapping_add(1);
    }
    recovery.any_rpt_seq = false;
    if let Kind::Book(book_entry) = &entry.kind
        && matches!(book_entry::apply(cell, book_entry), Outcome::Invalid | Outcome::Inapplicable)
    {
        cell.head.state = State::Waiting;
        recovery.waiting_from = sequence.saturating_add(1);
    }
}
