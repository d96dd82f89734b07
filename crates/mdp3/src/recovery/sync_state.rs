//! What is known of a book, and what changes that.

use hairpin_time::Utc;

use crate::market::Market;
use crate::{ChannelReset, InstrumentIndex, InstrumentStateChange, LateJoin, Listener, Packet};

/// The shortest entry with an RptSeq, one of template 37: a packet has no more entries than this
/// goes into it.
const MIN_ENTRY_BYTES: usize = 16;

/// Whether a book can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncState {
    /// The instrument has no definition in force.
    Unknown,
    /// Entries are or may be missing; a snapshot will tell.
    OutOfSync,
    /// The book was empty when entries were lost, and has taken every entry since: the levels it
    /// has are right, and more may be missing. Only with `Settings::natural_refresh`.
    NaturallyRefreshed,
    /// The book is what the exchange published last.
    InSync,
}

/// The same in more detail, as line 0 of an instrument has it. Those in sync come last, so that one
/// comparison tells them.
///
/// ```text
///            definition              snapshot            queue replayed
/// Unknown ─────────────▶ Waiting ──────────────▶ Restoring ───────────▶ InSync ◀┐
///                          ▲ ▲                    (absent from a loop: Fresh,   │ first entry
///                          │ │                     ahead of the stream: Ahead)  │
///    another RptSeq        │ └──────────────────────────────────────────────── Fresh
///                          │           packets lost
///                       Suspect ◀──────────────────────────────────────────── InSync
///                          └───────────── the next RptSeq ──────────────────────▶
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
    /// Packets were lost since the last entry. If the next entry carries the next RptSeq, and
    /// that is not so low that it may have come round again, none of them concerned this
    /// instrument.
    Suspect,
    /// As `Waiting`, while the book begins anew by natural refresh.
    Refreshing,
    /// A snapshot is loaded; queued entries are being applied.
    Restoring,
    /// Known to be empty; the first entry may carry any RptSeq.
    Fresh,
    /// A snapshot is loaded that is ahead of the stream: up to its packet entries are of no use,
    /// though one of before a reset may carry the RptSeq that comes next.
    Ahead,
    /// Each entry carries the RptSeq after the last.
    InSync,
}

impl State {
    /// Whether a snapshot is what the instrument needs.
    pub(crate) const fn needs_snapshot(self) -> bool {
        matches!(self, Self::Waiting | Self::Suspect | Self::Refreshing)
    }

    /// Whether the book is right.
    pub(crate) const fn is_in_sync(self) -> bool {
        matches!(self, Self::Fresh | Self::Ahead | Self::InSync)
    }
}

impl From<State> for SyncState {
    fn from(state: State) -> Self {
        match state {
            State::Unknown => Self::Unknown,
            State::Waiting | State::Suspect | State::Restoring => Self::OutOfSync,
            State::Refreshing => Self::NaturallyRefreshed,
            State::Fresh | State::Ahead | State::InSync => Self::InSync,
        }
    }
}

impl Market {
    /// An instrument needs a snapshot that contains everything before packet `waiting_from`.
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

    /// An instrument enters `Waiting` or `Suspect`.
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

    /// An instrument that needed a snapshot is in sync: `Fresh` or `InSync`.
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
        listener.on_instrument_state(&InstrumentStateChange { instrument, state, book });
    }

    /// So many packets before `floor` were lost: any book may lack an entry, any definition may
    /// have changed, nothing queued is of use.
    #[cold]
    pub(crate) fn mark_all_suspect(&mut self, lost: u32, floor: u32, listener: &mut impl Listener) {
        self.floor = floor;
        let max_entries = self.settings.max_packet.div_ceil(MIN_ENTRY_BYTES) as u32;
        self.rpt_seq_floor = self.rpt_seq_floor.saturating_add(lost.saturating_mul(max_entries));
        self.queue.clear();
        self.clear_event();
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
    }

    /// Definitions may have been lost: they are collected again, while books go on.
    fn recollect_definitions(&mut self) {
        if self.settings.late_join == LateJoin::InstrumentsAndBooks {
            self.definition_loop.restart_collection();
        }
    }

    /// The numbering of the incremental feed begins again with packet 1. Unless a reset explains
    /// it, the books may have begun again too.
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
            self.statuses_suspect = true;
            self.recollect_definitions();
        }
    }

    /// The exchange has emptied all books; their RptSeq begin again.
    #[cold]
    pub(crate) fn reset_channel(
        &mut self,
        packet: &Packet,
        transact_time: Utc,
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
        listener.on_channel_reset(&ChannelReset { packet, transact_time });
    }
}
