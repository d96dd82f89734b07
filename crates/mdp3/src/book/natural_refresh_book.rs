//! Natural refresh: a book that starts empty and is rebuilt from the stream while its instrument
//! waits for a snapshot.
//!
//! After a loss the book is unknown, but each new entry is still correct. A book that starts empty
//! and takes every entry from here on has some levels and lacks others. The known levels from the
//! best on, up to the first gap, are published. They are correct, and there may be more below them.
//! Only a snapshot or a reset completes the book. A book of depth 1 is complete once both sides
//! were restated (CME Client Systems Wiki, "MDP 3.0 - Natural Refresh": books of more levels use it
//! only together with market recovery).

use crate::book::apply_entry::EntryTarget;
use crate::book::ladder::BookAction;
use crate::book::levels::{Level, MAX_DEPTH};
use crate::market::Market;
use crate::message::entries::{BookEntry, Entry, EntryKind, Root};
use crate::recovery::sync_state::State;
use crate::{BookSide, BookUpdate, Changes, InstrumentIndex, Listener, Packet, UpdateSource};

/// The known levels of one side, best first.
#[derive(Debug, Clone, Copy)]
struct RefreshSide {
    levels: [Option<Level>; MAX_DEPTH],
    /// An entry has stated the best level or deleted it.
    restated: bool,
}

impl RefreshSide {
    const UNKNOWN: Self = Self { levels: [None; MAX_DEPTH], restated: false };

    /// Applies an entry. Returns `false` if the entry is invalid.
    fn apply(&mut self, entry: &BookEntry, depth: usize) -> bool {
        let Some(action) = BookAction::from_wire(entry.action) else { return false };
        let Some(level) = usize::from(entry.level).checked_sub(1) else { return false };
        let stated = match (entry.price, entry.quantity) {
            (Some(price), Some(quantity)) => Some(Level { price, quantity, orders: entry.orders }),
            _ => None,
        };
        let levels = &mut self.levels[..depth.min(MAX_DEPTH)];
        let states = matches!(action, BookAction::New | BookAction::Change | BookAction::Overlay);
        if states && stated.is_none() {
            return false;
        }
        let is_thru = action == BookAction::DeleteThru;
        if level >= levels.len() && !is_thru {
            return true;
        }
        match action {
            BookAction::New => {
                levels[level..].rotate_right(1);
                levels[level] = stated;
            }
            BookAction::Change | BookAction::Overlay => levels[level] = stated,
            BookAction::Delete => {
                levels[level] = None;
                levels[level..].rotate_left(1);
            }
            BookAction::DeleteThru => {
                let removed = (level + 1).min(levels.len());
                levels[..removed].fill(None);
                levels.rotate_left(removed);
            }
            BookAction::DeleteFrom => levels[level..].fill(None),
        }
        self.restated |= level == 0;
        true
    }

    /// Returns the known levels from the best on, and their number.
    fn known_levels(&self) -> ([Level; MAX_DEPTH], usize) {
        let mut levels = [Level::NONE; MAX_DEPTH];
        let mut count = 0;
        for level in self.levels.iter().map_while(|level| *level) {
            levels[count] = level;
            count += 1;
        }
        (levels, count)
    }
}

/// The known levels of a book since it was last empty.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NaturalRefreshBook {
    bids: RefreshSide,
    asks: RefreshSide,
    /// The RptSeq after the last entry.
    next_rpt_seq: u32,
}

impl NaturalRefreshBook {
    /// A book without known levels.
    pub(crate) const UNKNOWN: Self =
        Self { bids: RefreshSide::UNKNOWN, asks: RefreshSide::UNKNOWN, next_rpt_seq: 0 };

    fn apply(&mut self, entry: &BookEntry, depth: usize) -> bool {
        match EntryTarget::from_entry_type(entry.entry_type) {
            EntryTarget::Direct(BookSide::Bid) => self.bids.apply(entry, depth),
            EntryTarget::Direct(BookSide::Ask) => self.asks.apply(entry, depth),
            _ => true,
        }
    }

    fn is_restated(&self) -> bool {
        self.bids.restated && self.asks.restated
    }
}

impl Market {
    /// Applies an entry of an instrument that waits for a snapshot to its naturally refreshed book,
    /// if natural refresh is enabled.
    pub(crate) fn apply_natural_refresh(
        &mut self,
        instrument: InstrumentIndex,
        entry: &Entry,
        listener: &mut impl Listener,
    ) {
        let depth = usize::from(self.instruments.direct[instrument.as_usize()].head.depth);
        let is_possible = depth == 1 || self.settings.price_feed().is_some();
        let Some(natural) = self.natural.get_mut(instrument.as_usize()) else { return };
        if !is_possible {
            return;
        }
        let slot = &mut self.instruments.direct[instrument.as_usize()];
        let begins = slot.head.state == State::Waiting;
        let next = natural.next_rpt_seq;
        let is_unnumbered = entry.rpt_seq == 0 && next <= 1;
        if begins || (entry.rpt_seq != next && !is_unnumbered) {
            *natural = NaturalRefreshBook::UNKNOWN;
        }
        natural.next_rpt_seq = if entry.rpt_seq == 0 { 0 } else { entry.rpt_seq.wrapping_add(1) };
        if let EntryKind::Book(book_entry) = &entry.kind
            && !natural.apply(book_entry, depth)
        {
            *natural = NaturalRefreshBook {
                next_rpt_seq: natural.next_rpt_seq,
                ..NaturalRefreshBook::UNKNOWN
            };
        }
        if begins {
            self.instruments.clear_books(instrument);
            let changes = self.instruments.update_best(instrument);
            self.record_book_change(instrument, changes);
            self.instruments.direct[instrument.as_usize()].head.state = State::Refreshing;
            self.counters.refreshes += 1;
            self.notify_state(instrument, listener);
        }
        self.load_refreshed(instrument, listener);
    }

    /// Copies the known levels to the book. A book of depth 1 may then be complete.
    fn load_refreshed(&mut self, instrument: InstrumentIndex, listener: &mut impl Listener) {
        let Some(natural) = self.natural.get(instrument.as_usize()).copied() else { return };
        let ((bids, bid_count), (asks, ask_count)) =
            (natural.bids.known_levels(), natural.asks.known_levels());
        let has_implied = self.instruments.implied[instrument.as_usize()].head.depth > 0;
        let slot = &mut self.instruments.direct[instrument.as_usize()];
        slot.load(&bids[..bid_count], &asks[..ask_count]);
        slot.head.next_rpt_seq = natural.next_rpt_seq;
        let is_whole = slot.head.depth == 1 && !has_implied && natural.is_restated();
        self.record_book_change(instrument, Changes::BOOK);
        if is_whole {
            self.recovery[instrument.as_usize()].clear_snapshot();
            self.counters.refreshes_completed += 1;
            self.mark_in_sync(instrument, State::InSync, listener);
        }
    }

    /// Discards the known levels of a naturally refreshed book.
    #[cold]
    pub(crate) fn reset_refresh(
        &mut self,
        instrument: InstrumentIndex,
        listener: &mut impl Listener,
    ) {
        self.instruments.clear_books(instrument);
        self.instruments.update_best(instrument);
        self.instruments.direct[instrument.as_usize()].head.state = State::Waiting;
        self.notify_state(instrument, listener);
    }

    /// Notifies the listener of a change of a naturally refreshed book.
    #[cold]
    pub(crate) fn notify_refreshed(
        &self,
        packet: &Packet,
        Root { transact_time, match_event }: Root,
        instrument: InstrumentIndex,
        changes: Changes,
        listener: &mut impl Listener,
    ) {
        listener.on_book_update(&BookUpdate {
            packet,
            transact_time,
            match_event,
            instrument,
            book: self.instruments.book(instrument),
            instruments: &self.instruments,
            changes,
            source: UpdateSource::NaturalRefresh,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Price9;
    use alloc::vec::Vec;

    fn entry(action: u8, level: u8, price: i64) -> BookEntry {
        let (price, quantity) = (Some(Price9(price)), Some(1));
        BookEntry { entry_type: b'0', action, level, price, quantity, orders: 1 }
    }

    /// Returns the known prices on a side of depth 4 after some entries, best first.
    fn known_levels(entries: &[(u8, u8, i64)]) -> Vec<i64> {
        let mut side = RefreshSide::UNKNOWN;
        for &(action, level, price) in entries {
            assert!(side.apply(&entry(action, level, price), 4));
        }
        let (levels, count) = side.known_levels();
        levels[..count].iter().map(|level| level.price.0).collect()
    }

    const NEW: u8 = 0;
    const CHANGE: u8 = 1;
    const DELETE: u8 = 2;
    const DELETE_THRU: u8 = 3;
    const DELETE_FROM: u8 = 4;

    #[test]
    fn publishes_known_levels_up_to_first_gap() {
        assert_eq!(known_levels(&[(CHANGE, 2, 8)]), []);
        assert_eq!(known_levels(&[(CHANGE, 2, 8), (CHANGE, 1, 9)]), [9, 8]);
        assert_eq!(known_levels(&[(CHANGE, 1, 9), (CHANGE, 3, 7)]), [9]);
    }

    #[test]
    fn new_level_moves_known_levels_down() {
        assert_eq!(known_levels(&[(CHANGE, 1, 9), (NEW, 1, 10)]), [10, 9]);
        let full = [(CHANGE, 1, 9), (CHANGE, 2, 8), (CHANGE, 3, 7), (CHANGE, 4, 6)];
        assert_eq!(known_levels(&[&full[..], &[(NEW, 2, 20)]].concat()), [9, 20, 8, 7]);
    }

    #[test]
    fn delete_moves_known_levels_up() {
        let full = [(CHANGE, 1, 9), (CHANGE, 2, 8), (CHANGE, 3, 7), (CHANGE, 4, 6)];
        assert_eq!(known_levels(&[&full[..], &[(DELETE, 2, 0)]].concat()), [9, 7, 6]);
        assert_eq!(
            known_levels(&[&full[..], &[(DELETE, 2, 0), (NEW, 4, 5)]].concat()),
            [9, 7, 6, 5]
        );
        assert_eq!(known_levels(&[(CHANGE, 2, 8), (DELETE, 1, 0)]), [8]);
        assert_eq!(known_levels(&[&full[..], &[(DELETE_THRU, 3, 0)]].concat()), [6]);
        assert_eq!(known_levels(&[&full[..], &[(DELETE_THRU, 9, 0)]].concat()), []);
        assert_eq!(known_levels(&[&full[..], &[(DELETE_FROM, 3, 0)]].concat()), [9, 8]);
    }

    #[test]
    fn ignores_refresh_level_below_depth() {
        for action in [NEW, CHANGE, DELETE, DELETE_FROM] {
            assert_eq!(known_levels(&[(CHANGE, 1, 9), (action, 5, 1)]), [9]);
        }
    }

    #[test]
    fn rejects_invalid_entry() {
        let mut side = RefreshSide::UNKNOWN;
        assert!(!side.apply(&entry(6, 1, 9), 4));
        assert!(!side.apply(&entry(NEW, 0, 9), 4));
        assert!(!side.apply(&BookEntry { price: None, ..entry(NEW, 1, 9) }, 4));
        assert!(side.apply(&BookEntry { price: None, ..entry(DELETE, 1, 9) }, 4));
    }
}
