//! The state of the market by the packets of all feeds: instruments, books and their sync states.
//! Packets arrive here in order and once; [`crate::Channel`] does the arbitration.

use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;

use hairpin_cme_codecs::mdp3::{SCHEMA_ID, SCHEMA_VERSION};
use hairpin_sbe::MessageHeader;
use hairpin_time::Utc;

use crate::book::natural_refresh_book::NaturalRefreshBook;
use crate::book::orders::OrderState;
use crate::instrument::definition_loop::DefinitionLoop;
use crate::instrument::filter::{Filter, UnwantedInstruments};
use crate::instrument::free_slots::FreeSlots;
use crate::instrument::related_instruments::{MAX_RELATED, Related};
use crate::recovery::queued_entry::QueuedEntry;
use crate::recovery::recovery_queue::RecoveryQueue;
use crate::recovery::snapshot_loop::SnapshotLoop;
use crate::{
    ChannelState, Counters, Error, Feed, InstrumentIndex, Instruments, LateJoin, Listener, Message,
    Packet, Settings, Warning,
};

/// The recovery state of an instrument beyond line 0 of its book.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct InstrumentRecovery {
    /// A snapshot must contain all incremental packets before this one.
    pub(crate) waiting_from: u32,
    /// The book was loaded from a snapshot that contains this packet and all before it.
    pub(crate) snapshot_sequence: u32,
    /// The RptSeq of that snapshot.
    pub(crate) snapshot_rpt_seq: u32,
    /// The next entry may carry any RptSeq.
    pub(crate) accept_any_rpt_seq: bool,
    /// The snapshot replaced a naturally refreshed book.
    pub(crate) replaced_refresh: bool,
    /// The snapshot, or an entry after it, has changed the best prices of the market.
    pub(crate) market_best_changed: bool,
    /// The last pass of the snapshot loop that named the instrument.
    pub(crate) snapshot_pass: u32,
    /// The last collection of definitions that named the instrument.
    pub(crate) collection: u32,
    /// The last week in which the instrument was defined; see [`Market::week`].
    pub(crate) defined_in: u32,
    /// Definitions were collected because of this instrument.
    pub(crate) definitions_requested: bool,
    /// The incremental packet up to which the status is known.
    pub(crate) status_sequence: u32,
}

impl InstrumentRecovery {
    /// Forgets the last snapshot: its numbers do not apply to later entries.
    pub(crate) fn clear_snapshot(&mut self) {
        (self.snapshot_sequence, self.snapshot_rpt_seq) = (0, 0);
    }
}

#[derive(Debug)]
pub(crate) struct Market {
    pub(crate) instruments: Instruments,
    pub(crate) counters: Counters,
    pub(crate) settings: Settings,
    /// The recovery state of each instrument.
    pub(crate) recovery: Vec<InstrumentRecovery>,
    pub(crate) free_slots: FreeSlots,
    /// The number of restarts of packet numbering that a ChannelReset does not explain, as between
    /// two weeks.
    pub(crate) week: u32,
    /// Instruments of earlier weeks may remain until the first collection of this week is complete.
    pub(crate) has_earlier_instruments: bool,
    /// The naturally refreshed book of each instrument; empty if natural refresh is off.
    pub(crate) natural: Vec<NaturalRefreshBook>,
    /// The queued entries of instruments that are not in sync.
    pub(crate) queue: RecoveryQueue<QueuedEntry>,
    /// The first packet of the incremental feed was received.
    pub(crate) begun: bool,
    /// The lowest packet from which every entry was processed or queued.
    pub(crate) floor: u32,
    /// The next packet of the incremental feed, and the SendingTime of the last.
    pub(crate) next_sequence: u32,
    pub(crate) last_sent: Utc,
    /// The RptSeq above which, after a loss, a matching next RptSeq proves that no entry was
    /// missed. A lost ChannelReset may have restarted RptSeq, so numbers up to this one may have
    /// recurred.
    pub(crate) rpt_seq_floor: u32,
    /// A ChannelReset was processed since the channel last checked.
    pub(crate) reset_seen: bool,
    /// The instruments whose books the message, and the event, have changed.
    pub(crate) changed_in_message: Vec<InstrumentIndex>,
    pub(crate) changed_in_event: Vec<InstrumentIndex>,
    /// TransactTime of the last message with book entries, and the last packet that left an event
    /// open.
    pub(crate) event_time: Utc,
    pub(crate) event_packet: Packet,
    /// The number of ended events, and TransactTime of the books of the event after them, if a
    /// message of another kind and time has followed.
    pub(crate) book_time: Option<(u64, Utc)>,
    /// The number of instruments that need a snapshot.
    pub(crate) out_of_sync: usize,
    pub(crate) definition_loop: DefinitionLoop,
    pub(crate) snapshot_loop: SnapshotLoop,
    /// A status may have been lost, and no complete snapshot pass was received since.
    pub(crate) statuses_suspect: bool,
    /// The settings require definitions, but there is no instrument feed.
    lacks_instrument_feed: bool,
    /// The legs or underlyings of the definition being decoded.
    pub(crate) related: Vec<Related>,
    /// The filter; `filtering` is `false` if it accepts all instruments.
    pub(crate) filter: Filter,
    pub(crate) filtering: bool,
    pub(crate) unwanted: UnwantedInstruments,
    /// The lowest schema version that takes the slow path: one above this crate's or, with
    /// overridden template ids, 0.
    first_translated_version: u16,
    pub(crate) orders: OrderState,
    state: ChannelState,
    /// The reported warnings, one bit per kind, and per unknown template.
    warned: u32,
    warned_templates: Vec<u64>,
}

impl Market {
    /// Reads the memory that a packet for the instrument at `index` would read. Returns the
    /// next index.
    #[inline]
    pub(crate) fn prefetch(&self, index: usize) -> usize {
        black_box((self.counters, self.settings, self.next_sequence, self.last_sent));
        black_box((self.floor, self.rpt_seq_floor, self.out_of_sync, self.state, self.warned));
        black_box((self.changed_in_message.first(), self.changed_in_event.first()));
        let index = self.instruments.prefetch(index);
        black_box(self.recovery.get(index).map(|recovery| recovery.waiting_from));
        index + 1
    }

    pub(crate) fn new(settings: Settings, filter: Filter) -> Self {
        let late_join = settings.possible_late_join();
        let lacks_instrument_feed = late_join != settings.late_join;
        let settings = Settings { late_join, ..settings };
        let capacity = settings.max_instruments;
        let definitions_first = settings.late_join == LateJoin::InstrumentsAndBooks;
        let state = match settings.late_join {
            LateJoin::InstrumentsAndBooks => ChannelState::CollectingDefinitions,
            LateJoin::Books => ChannelState::Recovering,
            LateJoin::Nothing => ChannelState::InSync,
        };
        Self {
            instruments: Instruments::new(&settings),
            counters: Counters::default(),
            settings,
            recovery: vec![InstrumentRecovery::default(); capacity],
            free_slots: FreeSlots::new(capacity),
            week: 0,
            has_earlier_instruments: false,
            natural: vec![
                NaturalRefreshBook::UNKNOWN;
                if settings.natural_refresh { capacity } else { 0 }
            ],
            queue: RecoveryQueue::new(settings.queue_bytes, capacity),
            begun: false,
            floor: u32::MAX,
            next_sequence: 0,
            last_sent: Utc::EPOCH,
            rpt_seq_floor: 0,
            reset_seen: false,
            changed_in_message: Vec::with_capacity(capacity),
            changed_in_event: Vec::with_capacity(capacity),
            event_time: Utc::EPOCH,
            event_packet: Packet::NONE,
            book_time: None,
            out_of_sync: 0,
            definition_loop: DefinitionLoop::new(settings.max_loop_packets, definitions_first),
            snapshot_loop: SnapshotLoop::new(
                settings.max_loop_packets,
                settings.late_join == LateJoin::Books,
            ),
            statuses_suspect: false,
            lacks_instrument_feed,
            related: Vec::with_capacity(MAX_RELATED),
            orders: OrderState::new(&settings),
            unwanted: UnwantedInstruments::new(&filter),
            filtering: !filter.accepts_all(),
            filter,
            first_translated_version: match settings.templates.is_as_published() {
                true => SCHEMA_VERSION + 1,
                false => 0,
            },
            state,
            warned: 0,
            warned_templates: vec![0; (1 << 16) / 64],
        }
    }

    /// Starts the stream with its first packet, and judges the snapshots received before it.
    #[cold]
    pub(crate) fn begin_stream(&mut self, packet: &Packet, listener: &mut impl Listener) {
        self.begun = true;
        (self.floor, self.next_sequence) = (packet.sequence, packet.sequence);
        self.finish_early_snapshots(packet, listener);
        self.finish_early_order_snapshots(packet, listener);
        if core::mem::take(&mut self.lacks_instrument_feed) {
            self.warn(&Warning::MissingFeed { feed: Feed::Instrument }, listener);
        }
        if self.state == ChannelState::Recovering {
            self.warn_without_snapshots(listener);
        }
    }

    /// Warns if books need snapshots but there is no snapshot feed.
    fn warn_without_snapshots(&mut self, listener: &mut impl Listener) {
        if self.settings.price_feed().is_none() {
            self.warn(&Warning::MissingFeed { feed: Feed::Snapshot }, listener);
        }
    }

    /// Returns `true` if the channel needs a feed that is available.
    #[inline]
    pub(crate) fn subscribes_to(&self, feed: Feed) -> bool {
        self.settings.feeds.has(feed) && self.needs(feed)
    }

    fn needs(&self, feed: Feed) -> bool {
        match feed {
            Feed::Incremental => true,
            Feed::Replay => false,
            Feed::Instrument => self.definition_loop.is_collecting(),
            Feed::Snapshot | Feed::SnapshotOrders => {
                self.needs_order_feed(feed)
                    || (self.settings.price_feed() == Some(feed) && self.needs_price_feed())
            }
        }
    }

    fn needs_price_feed(&self) -> bool {
        self.settings.late_join != LateJoin::Nothing
            && !self.definition_loop.is_first()
            && (self.out_of_sync > 0 || self.snapshot_loop.is_joining() || self.statuses_suspect)
    }

    pub(crate) fn state(&self) -> ChannelState {
        self.state
    }

    /// Notifies the listener if the channel's state has changed. Called after each packet and each
    /// gap.
    #[inline]
    pub(crate) fn update_state(&mut self, listener: &mut impl Listener) {
        let state = if self.definition_loop.is_first() {
            ChannelState::CollectingDefinitions
        } else if self.out_of_sync > 0 || self.snapshot_loop.is_joining() {
            ChannelState::Recovering
        } else {
            ChannelState::InSync
        };
        if state != self.state {
            self.enter_state(state, listener);
        }
    }

    #[cold]
    fn enter_state(&mut self, state: ChannelState, listener: &mut impl Listener) {
        match state {
            ChannelState::CollectingDefinitions => {}
            ChannelState::Recovering => {
                self.counters.recoveries += 1;
                self.snapshot_loop.abandon_pass();
                if self.settings.late_join != LateJoin::Nothing {
                    self.warn_without_snapshots(listener);
                }
            }
            ChannelState::InSync => {
                self.queue.clear();
                self.rpt_seq_floor = 0;
            }
        }
        self.state = state;
        listener.on_channel_state(state);
    }

    /// Returns `true` if a message takes the slow path for translation of its template id.
    #[inline(always)]
    pub(crate) fn needs_translation(&self, message: &Message<'_>) -> bool {
        message.header.version >= self.first_translated_version
    }

    /// Returns the message with its template id translated.
    pub(crate) fn translate<'a>(
        &mut self,
        mut message: Message<'a>,
        listener: &mut impl Listener,
    ) -> Message<'a> {
        let MessageHeader { schema_id, version, template_id, .. } = message.header;
        if schema_id == SCHEMA_ID {
            if version > SCHEMA_VERSION {
                self.warn(&Warning::NewerVersion { version }, listener);
            }
            message.header.template_id = self.settings.templates.template(template_id);
        }
        message
    }

    /// Counts a message and passes it to the listener. Returns `false` if its schema is foreign.
    #[inline]
    pub(crate) fn begin_message(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        listener: &mut impl Listener,
    ) -> bool {
        self.counters.messages += 1;
        listener.on_message(packet, message);
        let header = &message.header;
        if header.schema_id != SCHEMA_ID {
            let error = Error::ForeignSchema { schema_id: header.schema_id };
            self.report(Some(packet), &error, listener);
            return false;
        }
        true
    }

    /// Counts and reports an error.
    #[cold]
    pub(crate) fn report(
        &mut self,
        packet: Option<&Packet>,
        error: &Error,
        listener: &mut impl Listener,
    ) {
        *error.counter(&mut self.counters) += 1;
        listener.on_error(packet, error);
    }

    /// Counts a warning, and reports it if it is the first of its kind.
    #[cold]
    pub(crate) fn warn(&mut self, warning: &Warning, listener: &mut impl Listener) {
        *warning.counter(&mut self.counters) += 1;
        let first_time = if let Warning::UnknownTemplate { template_id } = warning {
            let word = &mut self.warned_templates[usize::from(template_id / 64)];
            set_bit(word, u32::from(template_id % 64))
        } else {
            let mut bits = u64::from(self.warned);
            let first_time = set_bit(&mut bits, warning.kind());
            self.warned = bits as u32;
            first_time
        };
        if first_time {
            listener.on_warning(warning);
        }
    }

    /// Returns an instrument, added without a definition if it is new.
    pub(crate) fn find_or_insert(
        &mut self,
        security_id: i32,
        listener: &mut impl Listener,
    ) -> Option<InstrumentIndex> {
        let found = self.instruments.find(security_id);
        if found.is_some() {
            return found;
        }
        let depth = self.settings.depth_unless_defined();
        let unused = self.instruments.insert(security_id, depth);
        let inserted = unused.or_else(|| self.reuse_slot(security_id, listener));
        match inserted {
            Some(instrument) => self.init_order_book(instrument, listener),
            None => {
                self.warn(&Warning::InstrumentsOverCapacity { security_id }, listener);
                listener.on_instrument_over_capacity(security_id);
            }
        }
        inserted
    }
}

/// Sets a bit. Returns `true` if it was clear.
fn set_bit(bits: &mut u64, bit: u32) -> bool {
    let mask = 1 << bit;
    let first_time = *bits & mask == 0;
    *bits |= mask;
    first_time
}
