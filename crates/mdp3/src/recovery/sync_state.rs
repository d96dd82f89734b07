//! The sync state of an instrument's books, and its transitions.

use crate::market::Market;
use crate::message::entries::Root;
use crate::{
    ChannelReset, EventEnd, InstrumentIndex, InstrumentStateChange, LateJoin, Listener, Packet,
};

/// The length of the shortest entry with an RptSeq (template 37), which bounds the entries of a
/// packet.
const MIN_ENTRY_BYTES: usize = 16;

/// The reliability of a book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncState {
    /// The instrument has no definition in force.
    Unknown,
    /// Entries are or may be missing; a snapshot is needed.
    OutOfSync,
    /// The book was emptied after a loss and has taken every entry since. Its levels are correct,
    /// but more may be missing. Only with `Settings::natural_refresh`.
    NaturallyRefreshed,
    /// The book equals the last state that the exchange published.
    InSync,
}

/// The detailed sync state in line 0 of an instrument. The states in sync come last, so that one
/// comparison distinguishes them.
///
/// ```text
///            definition              snapshot            queue applied
/// Unknown ─────────────▶ Waiting ──────────────▶ Restoring ───────────▶ InSync ◀┐
///                          ▲ ▲                    (absent from a loop: Fresh,   │ first entry
///                          │ │                     ahead of the stream: Ahead)  │
///    other RptSeq          │ └──────────────────────────────────────────────── Fresh
///                          │           packets lost
///                       Suspect ◀──────────────────────────────────────────── InSync
///                          └───────────── the next RptSeq ──────────────────────▶
///
/// Waiting ──snapshot before the first packet──▶ Early ──first packet──▶ Restoring
///    ▲                                            │
///    └──────────the first packet is too late──────┘
///
/// Waiting ──an entry, by natural refresh──▶ Refreshing ──snapshot──▶ Restoring
///    ▲                                        │  └──depth 1, both sides restated──▶ InSync
///    └─────────────packets lost───────────────┘
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    /// No definition in force.
    Unknown,
    /// No snapshot yet; entries are queued.
    Waiting,
    /// Packets were lost since the last entry. If the next entry carries the next RptSeq, and that
    /// number is high enough to exclude a restart, none of them affected this instrument.
    Suspect,
    /// Same as `Waiting`, while natural refresh rebuilds the book.
    Refreshing,
    /// A snapshot was loaded before the first packet of the incremental feed, which decides whether
    /// it counts.
    Early,
    /// A snapshot is loaded; queued entries are being applied.
    Restoring,
    /// The book is known to be empty; the first entry may carry any RptSeq.
    Fresh,
    /// The loaded snapshot is ahead of the stream. Entries up to its packet are dropped, even one
    /// from before a reset that carries the next RptSeq.
    Ahead,
    /// Each entry carries the RptSeq after the last.
    InSync,
}

impl State {
    /// Returns `true` if the instrument needs a snapshot.
    pub(crate) const fn needs_snapshot(self) -> bool {
        matches!(self, Self::Waiting | Self::Suspect | Self::Refreshing | Self::Early)
    }

    /// Returns `true` if the book is in sync.
    pub(crate) const fn is_in_sync(self) -> bool {
        matches!(self, Self::Fresh | Self::Ahead | Self::InSync)
    }
}

impl From<State> for SyncState {
    fn from(state: State) -> Self {
        match state {
            State::Unknown => Self::Unknown,
            State::Waiting | State::Suspect | State::Early | State::Restoring => Self::OutOfSync,
            State::Refreshing => Self::NaturallyRefreshed,
            State::Fresh | State::Ahead | State::InSync => Self::InSync,
        }
    }
}

impl Market {
    /// Marks an instrument as out of sync until a snapshot contains everything before packet
    /// `waiting_from`.
    #[cold]
    pub(crate) fn mark_out_of_sync(
        &mut self,
        instrument: InstrumentIndex,
        waiting_from: u32,
        listener: &mut impl Listener,
    ) {
        self.recovery[instrument.as_usize()].waiting_from = waiting_from;
        self.enter_unsynced_state(instrument, State::Waiting, listener);
    }

    /// Sets the state to `Waiting` or `Suspect`.
    fn enter_unsynced_state(
        &mut self,
        instrument: InstrumentIndex,
        state: State,
        listener: &mut impl Listener,
    ) {
        let head = &mut self.instruments.direct[instrument.as_usize()].head;
        let before = core::mem::replace(&mut head.state, state);
        if !before.needs_snapshot() {
            self.out_of_sync += 1;
        }
        if before.is_in_sync() {
            self.counters.instruments_out_of_sync += 1;
            self.notify_state(instrument, listener);
        }
    }

    /// Sets an instrument that needed a snapshot to a state in sync.
    #[cold]
    pub(crate) fn mark_in_sync(
        &mut self,
        instrument: InstrumentIndex,
        state: State,
        listener: &mut impl Listener,
    ) {
        debug_assert!(state.is_in_sync());
        self.instruments.direct[instrument.as_usize()].head.state = state;
        self.queue.discard(instrument);
        self.out_of_sync -= 1;
        self.notify_state(instrument, listener);
    }

    pub(crate) fn notify_state(&self, instrument: InstrumentIndex, listener: &mut impl Listener) {
        let book = self.instruments.book(instrument);
        let state = book.sync_state();
        let instruments = &self.instruments;
        listener.on_instrument_state(&InstrumentStateChange {
            instrument,
            state,
            book,
            instruments,
        });
    }

    /// Marks everything suspect after the loss of `lost` packets before `floor`: any book may lack
    /// an entry, any definition may have changed, and the queue is useless.
    #[cold]
    pub(crate) fn mark_all_suspect(&mut self, lost: u32, floor: u32, listener: &mut impl Listener) {
        let interrupts_event = !self.changed_in_event.is_empty() || self.has_order_event();
        self.floor = floor;
        let max_entries = self.settings.max_packet.div_ceil(MIN_ENTRY_BYTES) as u32;
        self.rpt_seq_floor = self.rpt_seq_floor.saturating_add(lost.saturating_mul(max_entries));
        self.queue.clear();
        self.statuses_suspect = true;
        self.recollect_definitions();
        self.mark_all_order_books_out_of_sync(listener);
        for instrument in self.instruments.iter() {
            match self.instruments.direct[instrument.as_usize()].head.state {
                State::InSync => self.enter_unsynced_state(instrument, State::Suspect, listener),
                State::Fresh | State::Ahead => {
                    self.enter_unsynced_state(instrument, State::Waiting, listener)
                }
                State::Refreshing => self.reset_refresh(instrument, listener),
                _ => {}
            }
        }
        if interrupts_event {
            let packet = self.event_packet;
            self.end_unfinished_event(&packet, EventEnd::Gap, listener);
        }
    }

    /// Collects definitions again after a loss, without interrupting the books.
    fn recollect_definitions(&mut self) {
        if self.settings.late_join == LateJoin::InstrumentsAndBooks {
            self.definition_loop.restart_collection();
        }
    }

    /// Restarts the packet numbering at 1. Unless a reset explains the restart, the books may have
    /// restarted too.
    #[cold]
    pub(crate) fn restart_numbering(&mut self, keeps_books: bool, listener: &mut impl Listener) {
        self.counters.restarts += 1;
        self.floor = 1;
        self.next_sequence = 1;
        self.queue.clear();
        self.clear_event();
        self.snapshot_loop.abandon_pass();
        self.restart_order_books(keeps_books, listener);
        for instrument in self.instruments.iter() {
            let recovery = &mut self.recovery[instrument.as_usize()];
            (recovery.waiting_from, recovery.status_sequence) = (0, 0);
            recovery.clear_snapshot();
            self.instruments.statistics[instrument.as_usize()].renumber(keeps_books);
            let state = self.instruments.direct[instrument.as_usize()].head.state;
            if !keeps_books && state.is_in_sync() {
                self.mark_out_of_sync(instrument, 0, listener);
            } else if !keeps_books && state == State::Refreshing {
                self.reset_refresh(instrument, listener);
            }
        }
        if !keeps_books {
            self.week = self.week.wrapping_add(1);
            self.has_earlier_instruments = true;
            self.statuses_suspect = true;
            self.recollect_definitions();
        }
    }

    /// Empties all books after a ChannelReset; RptSeq restarts.
    #[cold]
    pub(crate) fn reset_channel(
        &mut self,
        packet: &Packet,
        Root { transact_time, match_event }: Root,
        listener: &mut impl Listener,
    ) {
        self.counters.resets += 1;
        self.reset_seen = true;
        self.clear_event();
        self.queue.clear();
        self.floor = packet.sequence.saturating_add(1);
        self.snapshot_loop.end_join();
        self.snapshot_loop.abandon_pass();
        self.reset_order_books(listener);
        for instrument in self.instruments.iter() {
            self.recovery[instrument.as_usize()].clear_snapshot();
            self.instruments.clear_books(instrument);
            self.instruments.update_best(instrument);
            self.instruments.statistics[instrument.as_usize()].reset(packet.sequence);
            let slot = &mut self.instruments.direct[instrument.as_usize()];
            slot.head.next_rpt_seq = 0;
            match slot.head.state {
                State::Unknown => {}
                state if state.needs_snapshot() => {
                    self.mark_in_sync(instrument, State::Fresh, listener)
                }
                _ => slot.head.state = State::Fresh,
            }
        }
        listener.on_channel_reset(&ChannelReset { packet, transact_time, match_event });
    }
}
