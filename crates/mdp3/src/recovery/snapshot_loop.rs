//! Market recovery: books from the snapshot feed's loop, followed by the queued entries.
//!
//! A snapshot states a book *after* packet LastMsgSeqNumProcessed (369) of the incremental feed.
//! For its instrument, queued packets up to that one are obsolete, and so are entries with an
//! RptSeq up to the snapshot's; the following RptSeq must come next. An instrument that a complete
//! pass does not name has empty books, as of the lowest 369 in the pass. At the start of the week
//! the loop names no instrument. A pass of heartbeats alone then means that all books are empty, as
//! of the last packet before it.
//!
//! A snapshot may arrive before the first packet of the incremental feed, as on a quiet channel. It
//! is loaded, and counts if that packet shows that none after the snapshot was missed.

use hairpin_cme_codecs::mdp3 as codec;
use hairpin_time::Utc;

use crate::feed::loop_tracker::{LoopTracker, PassPosition, WholePass};
use crate::market::Market;
use crate::recovery::snapshot::{self, Books, Snapshot};
use crate::recovery::sync_state::State;
use crate::{Error, InstrumentIndex, Listener, Message, Messages, Packet, Warning};

/// The state of the current pass of the loop.
#[derive(Debug)]
pub(crate) struct SnapshotLoop {
    tracker: LoopTracker,
    /// A late join without definitions waits for a complete pass instead of certain instruments.
    joining: bool,
    /// TotNumReports: the number of instruments in the pass, 0 until stated.
    total: u32,
    distinct: u32,
    /// The lowest 369 of the pass, and of the previous one.
    lowest: u32,
    lowest_before: Option<u32>,
    /// The pass was complete, and its result was used.
    concluded: bool,
    whole_pass: WholePass,
    /// The pass contained messages other than heartbeats.
    has_contents: bool,
    /// The last incremental packet known to have been sent before the pass.
    sequence_before: Option<u32>,
    /// The lowest 369 of the last complete pass before the first incremental packet.
    early_lowest: Option<u32>,
}

impl SnapshotLoop {
    pub(crate) fn new(max_packets: usize, joining: bool) -> Self {
        Self {
            tracker: LoopTracker::new(max_packets),
            joining,
            total: 0,
            distinct: 0,
            lowest: u32::MAX,
            lowest_before: None,
            concluded: false,
            whole_pass: WholePass::default(),
            has_contents: false,
            sequence_before: None,
            early_lowest: None,
        }
    }

    pub(crate) fn is_joining(&self) -> bool {
        self.joining
    }

    pub(crate) fn end_join(&mut self) {
        self.joining = false;
    }

    /// Discards the current pass. Only a pass that starts after this call counts as complete.
    pub(crate) fn abandon_pass(&mut self) {
        self.tracker.abandon();
        self.start_pass();
        self.lowest_before = None;
        self.whole_pass = WholePass::default();
    }

    /// Returns `true` if this pass, or the one before, states only packets after `limit`: those of
    /// another epoch.
    fn states_later_than(&self, limit: u32) -> bool {
        let lowest = Some(self.lowest).filter(|lowest| *lowest != u32::MAX);
        lowest.into_iter().chain(self.lowest_before).any(|lowest| lowest > limit)
    }

    fn start_pass(&mut self) {
        self.lowest_before = (self.lowest != u32::MAX).then_some(self.lowest);
        self.lowest = u32::MAX;
        (self.total, self.distinct) = (0, 0);
        (self.concluded, self.has_contents, self.sequence_before) = (false, false, None);
    }

    /// Counts a snapshot of the pass; `last_pass` is the last pass that named its instrument.
    fn count(&mut self, snapshot: &Snapshot, last_pass: Option<&mut u32>) {
        self.lowest = self.lowest.min(snapshot.last_sequence);
        self.whole_pass.count(snapshot.security_id);
        if self.total != 0 && self.total != snapshot.total {
            // The loop changed during the pass, so absence from it proves nothing.
            self.tracker.abandon();
        }
        self.total = snapshot.total;
        match last_pass {
            Some(last_pass) if *last_pass == self.tracker.pass() => {}
            Some(last_pass) => {
                *last_pass = self.tracker.pass();
                self.distinct += 1;
            }
            // No room to mark the instrument; a pass names each once.
            None => self.distinct += 1,
        }
    }

    /// Returns `true` if the finished pass was complete and named no instrument.
    fn was_empty(&self) -> bool {
        !self.has_contents && self.tracker.is_complete()
    }

    fn is_whole(&self) -> bool {
        !self.concluded
            && self.total > 0
            && self.distinct >= self.total
            && self.tracker.is_complete()
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
        let was_empty = self.snapshot_loop.was_empty();
        let (pass, was_gapless) =
            (self.snapshot_loop.tracker.pass(), self.snapshot_loop.tracker.is_complete());
        let tracker = &mut self.snapshot_loop.tracker;
        let position = tracker.observe(packet.line, packet.sequence, packet.sending_time);
        if tracker.is_too_long() {
            self.warn(&Warning::LoopTooLong { feed: packet.feed }, listener);
        }
        match position {
            PassPosition::First => {
                let ended = &mut self.snapshot_loop;
                let is_whole = ended.whole_pass.end(was_gapless, ended.total);
                if was_empty {
                    self.conclude_empty_pass(packet, listener);
                } else if is_whole && !self.snapshot_loop.concluded {
                    self.conclude_pass(packet, (pass, packet.sending_time), listener);
                }
                self.start_snapshot_pass();
            }
            PassPosition::New => {}
            PassPosition::Duplicate => {
                self.counters.loop_duplicates += 1;
                return;
            }
        }
        listener.on_packet(packet);
        let mut transact_time = Utc::EPOCH;
        for message in Messages::new(bytes) {
            match message {
                Ok(message) => {
                    let message = self.translate(message, listener);
                    self.apply_snapshot_message(packet, &message, &mut transact_time, listener);
                    listener.on_end_of_message(packet, &message);
                }
                Err(error) => {
                    self.snapshot_loop.has_contents = true;
                    self.report(Some(packet), &error, listener);
                }
            }
        }
        self.apply_queued_entries(packet, transact_time, listener);
        if self.snapshot_loop.is_whole() {
            let pass = self.snapshot_loop.tracker.pass();
            self.conclude_pass(packet, (pass, transact_time), listener);
        }
        listener.on_end_of_packet(packet);
    }

    /// Starts a pass and drops what the previous one made obsolete: a new pass states nothing
    /// older.
    fn start_snapshot_pass(&mut self) {
        self.snapshot_loop.start_pass();
        if let Some(sequence) = self.snapshot_loop.lowest_before
            && self.queue.oldest().is_some_and(|oldest| oldest <= sequence)
        {
            self.queue.drop_through(sequence);
            self.floor = self.floor.max(sequence.saturating_add(1));
        }
        // If the stream has overtaken the loop, the pass may lack the latest packets.
        if self.begun && self.last_sent <= self.snapshot_loop.tracker.pass_start() {
            self.snapshot_loop.sequence_before = Some(self.next_sequence.saturating_sub(1));
        }
    }

    fn apply_snapshot_message(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        transact_time: &mut Utc,
        listener: &mut impl Listener,
    ) {
        if message.header.template_id != codec::AdminHeartbeat12::TEMPLATE_ID {
            self.snapshot_loop.has_contents = true;
        }
        if !self.begin_message(packet, message, listener) {
            return;
        }
        match snapshot::decode(message) {
            Ok(Some(snapshot)) => {
                *transact_time = snapshot.transact_time;
                self.apply_snapshot(packet, &snapshot, listener);
            }
            Ok(None) => self.handle_other_loop_message(packet, message, listener),
            Err(error) => {
                let template_id = message.header.template_id;
                let error = Error::MalformedMessage { template_id, error };
                self.report(Some(packet), &error, listener);
            }
        }
    }

    /// Handles a message of a looping feed other than those that the loop exists for.
    pub(crate) fn handle_other_loop_message(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        listener: &mut impl Listener,
    ) {
        match message.header.template_id {
            codec::AdminHeartbeat12::TEMPLATE_ID => self.report_heartbeat(packet, listener),
            codec::SnapshotFullRefreshOrderBook53::TEMPLATE_ID => {}
            template_id => self.warn(&Warning::UnknownTemplate { template_id }, listener),
        }
    }

    /// Loads a book from a snapshot if its instrument waits for it.
    fn apply_snapshot(
        &mut self,
        packet: &Packet,
        snapshot: &Snapshot,
        listener: &mut impl Listener,
    ) {
        let Some(instrument) = self.find_snapshot_instrument(snapshot.security_id, listener) else {
            return self.snapshot_loop.count(snapshot, None);
        };
        let recovery = &mut self.recovery[instrument.as_usize()];
        self.snapshot_loop.count(snapshot, Some(&mut recovery.snapshot_pass));
        let sequence = snapshot.last_sequence;
        if sequence <= self.max_snapshot_sequence() {
            let status = (snapshot.transact_time, snapshot.trading_status);
            self.apply_snapshot_status(packet, instrument, sequence, status, listener);
            self.apply_snapshot_statistics(packet, instrument, snapshot, listener);
        }
        let state = self.instruments.direct[instrument.as_usize()].head.state;
        if !state.needs_snapshot() || !self.is_snapshot_contiguous(instrument, sequence) {
            return;
        }
        let Some(books) = snapshot.books() else {
            let error = Error::InvalidSnapshot { security_id: snapshot.security_id };
            return self.report(Some(packet), &error, listener);
        };
        self.load(instrument, sequence, &books, Some(snapshot.rpt_seq));
        self.counters.snapshots_applied += 1;
    }

    /// Returns the last packet that a snapshot of the current epoch can state.
    pub(crate) fn max_snapshot_sequence(&self) -> u32 {
        let is_at_end = self.next_sequence == 0 || !self.begun;
        let next = if is_at_end { u32::MAX } else { self.next_sequence };
        next.saturating_add(self.settings.max_snapshot_lead)
    }

    /// Returns the instrument of a snapshot, even without a definition if there is room.
    pub(crate) fn find_snapshot_instrument(
        &mut self,
        security_id: i32,
        listener: &mut impl Listener,
    ) -> Option<InstrumentIndex> {
        let met = self.find_or_register(security_id, self.next_sequence, listener);
        met.or_else(|| self.instruments.find(security_id))
    }

    /// Returns `true` if all entries after packet `last_sequence` are available or still to come.
    fn is_snapshot_contiguous(&mut self, instrument: InstrumentIndex, last_sequence: u32) -> bool {
        let waiting_from = self.recovery[instrument.as_usize()].waiting_from;
        let is_old = last_sequence.saturating_add(1) < waiting_from.max(self.floor);
        if is_old && self.begun {
            self.counters.snapshots_too_old += 1;
            return false;
        }
        if last_sequence > self.max_snapshot_sequence() {
            self.counters.snapshots_too_far_ahead += 1;
            return false;
        }
        true
    }

    /// Loads books as of packet `sequence`. Without an RptSeq the next entry may carry any.
    fn load(
        &mut self,
        instrument: InstrumentIndex,
        sequence: u32,
        books: &Books<'_>,
        rpt_seq: Option<u32>,
    ) {
        let implied = &mut self.instruments.implied[instrument.as_usize()];
        implied.load(books.implied_bids, books.implied_asks);
        let slot = &mut self.instruments.direct[instrument.as_usize()];
        slot.load(books.bids, books.asks);
        slot.head.next_rpt_seq = rpt_seq.map_or(0, |rpt_seq| rpt_seq.wrapping_add(1));
        let replaced_refresh = slot.head.state == State::Refreshing;
        slot.head.state = if self.begun { State::Restoring } else { State::Early };
        let best = &mut self.instruments.market_best[instrument.as_usize()];
        let before = core::mem::replace(best, books.market_best);
        let recovery = &mut self.recovery[instrument.as_usize()];
        recovery.market_best_changed = before != books.market_best;
        recovery.replaced_refresh = replaced_refresh;
        recovery.snapshot_sequence = sequence;
        recovery.snapshot_rpt_seq = rpt_seq.unwrap_or(0);
        recovery.accept_any_rpt_seq = rpt_seq.is_none();
        self.changed_in_message.push(instrument);
    }

    /// Concludes a complete pass: each waiting instrument that it did not name is empty.
    #[cold]
    fn conclude_pass(
        &mut self,
        packet: &Packet,
        (pass, transact_time): (u32, Utc),
        listener: &mut impl Listener,
    ) {
        self.snapshot_loop.concluded = true;
        let lowest = self.snapshot_loop.lowest;
        self.clear_absent(pass, lowest);
        self.apply_queued_entries(packet, transact_time, listener);
        self.finish_pass(lowest);
    }

    /// Concludes a pass that named no instrument: each waiting instrument is empty as of the packet
    /// before the pass, unless later entries are known.
    #[cold]
    fn conclude_empty_pass(&mut self, packet: &Packet, listener: &mut impl Listener) {
        let Some(before) = self.snapshot_loop.sequence_before else { return };
        if self.queue.oldest().is_some_and(|oldest| oldest <= before) {
            // An instrument was active before the pass began; the loop will still name it.
            return;
        }
        self.clear_absent(0, before);
        self.apply_queued_entries(packet, packet.sending_time, listener);
        self.finish_pass(before);
    }

    /// Ends recovery with a complete pass as of packet `lowest` or later, if nothing was lost
    /// since.
    fn finish_pass(&mut self, lowest: u32) {
        if !self.begun {
            self.snapshot_loop.early_lowest = Some(lowest);
        } else if lowest.saturating_add(1) >= self.floor {
            self.snapshot_loop.end_join();
            self.statuses_suspect = false;
        }
    }

    /// Judges the snapshots received before the first packet of the incremental feed, now that its
    /// number is known.
    #[cold]
    pub(crate) fn finish_early_snapshots(&mut self, packet: &Packet, listener: &mut impl Listener) {
        for instrument in self.instruments.iter() {
            if self.instruments.direct[instrument.as_usize()].head.state != State::Early {
                continue;
            }
            let sequence = self.recovery[instrument.as_usize()].snapshot_sequence;
            let counts = self.is_snapshot_contiguous(instrument, sequence);
            let state = if counts { State::Restoring } else { State::Waiting };
            self.instruments.direct[instrument.as_usize()].head.state = state;
            if counts {
                // No callback has reported it.
                self.instruments.forget_best(instrument);
                self.changed_in_message.push(instrument);
            } else {
                // The snapshot may be of another epoch.
                self.recovery[instrument.as_usize()].clear_snapshot();
                self.recovery[instrument.as_usize()].status_sequence = 0;
                self.instruments.statistics[instrument.as_usize()].renumber(false);
            }
        }
        self.apply_queued_entries(packet, packet.sending_time, listener);
        let limit = self.max_snapshot_sequence();
        if self.snapshot_loop.states_later_than(limit) {
            self.snapshot_loop.abandon_pass();
        }
        if let Some(lowest) = self.snapshot_loop.early_lowest.take().filter(|it| *it <= limit) {
            self.finish_pass(lowest);
        }
    }

    /// Loads empty books as of packet `lowest` for all waiting instruments not named in `pass`.
    fn clear_absent(&mut self, pass: u32, lowest: u32) {
        for instrument in self.instruments.iter() {
            let state = self.instruments.direct[instrument.as_usize()].head.state;
            let was_named = pass != 0 && self.recovery[instrument.as_usize()].snapshot_pass == pass;
            if state.needs_snapshot()
                && !was_named
                && self.is_snapshot_contiguous(instrument, lowest)
            {
                self.load(instrument, lowest, &Books::default(), None);
                self.counters.empty_by_absence += 1;
            }
        }
    }
}
