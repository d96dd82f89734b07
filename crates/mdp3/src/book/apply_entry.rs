//! Application of a book entry to a book of its instrument.

use alloc::vec::Vec;

use crate::book::book_slot::{BookSlot, DirectBookSlot};
use crate::book::ladder::BookAction;
use crate::book::levels::Level;
use crate::market::Market;
use crate::message::entries::{BookEntry, Root};
use crate::recovery::sync_state::State;
use crate::{BookSide, Changes, Error, InstrumentIndex, LateJoin, Listener, Packet, Warning};

/// The result of applying a book entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryOutcome {
    /// The book has changed.
    Changed,
    /// The book has changed, although a Change must not alter the price.
    PriceChanged,
    /// The level is below the book's depth.
    BeyondDepth,
    /// The entry has an unknown action, level 0, or no valid price or quantity.
    Invalid,
    /// The book does not have the level.
    Inapplicable,
}

/// The target of a book entry, by MDEntryType (269).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryTarget {
    /// `0` and `1`: a side of the direct book.
    Direct(BookSide),
    /// `E` and `F`: a side of the implied book.
    Implied(BookSide),
    /// `J`: empties both books.
    Reset,
    /// `x` and `w`: the best price of the whole market, not a level of either book.
    MarketBest(BookSide),
    /// An entry type that no book has.
    Invalid,
}

impl EntryTarget {
    #[inline]
    pub(crate) const fn from_entry_type(entry_type: u8) -> Self {
        match entry_type {
            b'0' => Self::Direct(BookSide::Bid),
            b'1' => Self::Direct(BookSide::Ask),
            b'E' => Self::Implied(BookSide::Bid),
            b'F' => Self::Implied(BookSide::Ask),
            b'J' => Self::Reset,
            b'x' => Self::MarketBest(BookSide::Bid),
            b'w' => Self::MarketBest(BookSide::Ask),
            _ => Self::Invalid,
        }
    }
}

/// Applies an entry on the fast path: a valid New, Change or Delete on a side of the direct book.
/// Returns `false` without any change for every other entry.
#[inline(always)]
pub(crate) fn apply_fast_path(slot: &mut DirectBookSlot, entry: &BookEntry) -> bool {
    let (Some(price), Some(quantity)) = (entry.price, entry.quantity) else { return false };
    let (is_ask, level) = (entry.entry_type.wrapping_sub(b'0'), entry.level.wrapping_sub(1));
    if is_ask > 1 || level >= slot.head.depth {
        return false;
    }
    let action = match entry.action {
        0 => BookAction::New,
        1 => BookAction::Change,
        2 => BookAction::Delete,
        _ => return false,
    };
    // The side is unpredictable, so no branch separates the sides.
    let side = if is_ask == 0 { BookSide::Bid } else { BookSide::Ask };
    let (level, new_level) = (usize::from(level), Level { price, quantity, orders: entry.orders });
    slot.apply_fast_path(side, (action, level), new_level)
}

/// Applies any entry to a side of a book.
pub(crate) fn apply<const N: usize>(
    slot: &mut BookSlot<N>,
    side: BookSide,
    entry: &BookEntry,
) -> EntryOutcome {
    let (Some(action), Some(level)) =
        (BookAction::from_wire(entry.action), entry.level.checked_sub(1))
    else {
        return EntryOutcome::Invalid;
    };
    let is_beyond = level >= slot.head.depth;
    let level = usize::from(level);
    let applied = match action {
        BookAction::DeleteThru | BookAction::DeleteFrom => {
            slot.apply(side, action, level, Level::NONE)
        }
        _ if is_beyond => return EntryOutcome::BeyondDepth,
        BookAction::Delete => slot.apply(side, action, level, Level::NONE),
        BookAction::New | BookAction::Change | BookAction::Overlay => {
            let (Some(price), Some(quantity)) = (entry.price, entry.quantity) else {
                return EntryOutcome::Invalid;
            };
            let new_level = Level { price, quantity, orders: entry.orders };
            if action == BookAction::Change {
                return change(slot, side, level, new_level);
            }
            slot.apply(side, action, level, new_level)
        }
    };
    if applied.is_ok() { EntryOutcome::Changed } else { EntryOutcome::Inapplicable }
}

/// Applies a Change.
fn change<const N: usize>(
    slot: &mut BookSlot<N>,
    side: BookSide,
    level: usize,
    new_level: Level,
) -> EntryOutcome {
    match slot.replace(side, level, new_level) {
        Ok(before) if before.price == new_level.price => EntryOutcome::Changed,
        Ok(_) => EntryOutcome::PriceChanged,
        Err(_) => EntryOutcome::Inapplicable,
    }
}

impl Market {
    /// Applies any book entry that passed the RptSeq check.
    pub(crate) fn apply_book_entry(
        &mut self,
        (packet, root): (&Packet, Root),
        (instrument, rpt_seq): (InstrumentIndex, u32),
        entry: &BookEntry,
        listener: &mut impl Listener,
    ) {
        let index = instrument.as_usize();
        if matches!(entry.action, 3 | 4) {
            self.counters.level_range_deletes += 1;
        }
        let (outcome, changes) = match EntryTarget::from_entry_type(entry.entry_type) {
            EntryTarget::Direct(side) => {
                (apply(&mut self.instruments.direct[index], side, entry), Changes::BOOK)
            }
            EntryTarget::Implied(side) => {
                (apply(&mut self.instruments.implied[index], side, entry), Changes::IMPLIED)
            }
            EntryTarget::Reset => return self.reset_book(instrument, listener),
            EntryTarget::MarketBest(side) => {
                let source = (packet, root);
                if self.apply_market_best(source, instrument, (side, entry), listener) {
                    return;
                }
                (EntryOutcome::Invalid, Changes::NONE)
            }
            EntryTarget::Invalid => (EntryOutcome::Invalid, Changes::NONE),
        };
        if self.handle_outcome(packet, instrument, outcome, (entry.action, entry.level), listener) {
            match changes {
                Changes::IMPLIED => self.counters.implied_entries += 1,
                _ => self.counters.book_entries += 1,
            }
            self.record_book_change(instrument, changes);
            let security_id = self.instruments.direct[index].head.security_id;
            let ids = (instrument, security_id, rpt_seq);
            listener.on_book_entry(&entry.to_update(packet, root, ids));
        }
    }

    /// Empties an instrument's books at a BookReset. CME does not specify whether RptSeq continues
    /// or restarts, so the next entry may carry any.
    fn reset_book(&mut self, instrument: InstrumentIndex, listener: &mut impl Listener) {
        self.counters.book_resets += 1;
        self.recovery[instrument.as_usize()].clear_snapshot();
        self.instruments.clear_books(instrument);
        let changes = self.instruments.update_best(instrument);
        let head = &mut self.instruments.direct[instrument.as_usize()].head;
        if head.state.needs_snapshot() {
            self.mark_in_sync(instrument, State::Fresh, listener);
        } else {
            head.state = State::Fresh;
        }
        self.record_book_change(instrument, changes);
    }

    /// Records that the message changed an instrument's books, and which parts are known to have
    /// changed.
    #[inline]
    pub(crate) fn record_book_change(&mut self, instrument: InstrumentIndex, changes: Changes) {
        let head = &mut self.instruments.direct[instrument.as_usize()].head;
        record_change(&mut self.changed_in_message, instrument, &mut head.message_changes, changes);
    }

    /// Reports the outcome of an entry. Returns `true` if the book has changed.
    fn handle_outcome(
        &mut self,
        packet: &Packet,
        instrument: InstrumentIndex,
        outcome: EntryOutcome,
        (action, level): (u8, u8),
        listener: &mut impl Listener,
    ) -> bool {
        let security_id = self.instruments.book(instrument).security_id();
        let error = match outcome {
            EntryOutcome::Changed => return true,
            EntryOutcome::PriceChanged => {
                self.warn(&Warning::PriceChanged { security_id, level }, listener);
                return true;
            }
            EntryOutcome::BeyondDepth => {
                self.warn(&Warning::BeyondDepth { security_id, level }, listener);
                return false;
            }
            EntryOutcome::Invalid => Error::InvalidEntry { security_id, action, level },
            EntryOutcome::Inapplicable => Error::InapplicableEntry { security_id, action, level },
        };
        self.report(Some(packet), &error, listener);
        if self.settings.late_join != LateJoin::Nothing {
            // The book differs from the exchange's. Only a snapshot after this packet restores it.
            self.mark_out_of_sync(instrument, packet.sequence.saturating_add(1), listener);
        }
        false
    }
}

/// Adds changes of an instrument, and the instrument to the list if they are its first.
#[inline(always)]
pub(crate) fn record_change(
    list: &mut Vec<InstrumentIndex>,
    instrument: InstrumentIndex,
    known: &mut Changes,
    changes: Changes,
) {
    if *known == Changes::NONE {
        list.push(instrument);
    }
    *known = known.union(changes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Price9;

    fn apply(slot: &mut DirectBookSlot, entry: &BookEntry) -> EntryOutcome {
        super::apply(slot, BookSide::Bid, entry)
    }

    const ENTRY: BookEntry = BookEntry {
        entry_type: b'0',
        action: 0,
        level: 1,
        price: Some(Price9(7)),
        quantity: Some(3),
        orders: 1,
    };

    fn slot(depth: u8) -> DirectBookSlot {
        let mut slot = DirectBookSlot::EMPTY;
        slot.set_depth(depth);
        assert_eq!(apply(&mut slot, &ENTRY), EntryOutcome::Changed);
        slot
    }

    #[test]
    fn ignores_level_below_depth() {
        for action in [0, 1, 2, 5] {
            let entry = BookEntry { level: 3, action, ..ENTRY };
            assert_eq!(apply(&mut slot(2), &entry), EntryOutcome::BeyondDepth);
        }
        let thru = BookEntry { level: 3, action: 3, ..ENTRY };
        assert_eq!(apply(&mut slot(2), &thru), EntryOutcome::Changed);
    }

    #[test]
    fn rejects_level_without_price_or_quantity() {
        for action in [0, 1, 5] {
            let priceless = BookEntry { price: None, action, ..ENTRY };
            assert_eq!(apply(&mut slot(2), &priceless), EntryOutcome::Invalid);
            let without_quantity = BookEntry { quantity: None, action, ..ENTRY };
            assert_eq!(apply(&mut slot(2), &without_quantity), EntryOutcome::Invalid);
        }
        let delete = BookEntry { price: None, quantity: None, action: 2, ..ENTRY };
        assert_eq!(apply(&mut slot(2), &delete), EntryOutcome::Changed);
    }

    #[test]
    fn rejects_unknown_action_and_level_0() {
        let mut slot = slot(2);
        assert_eq!(apply(&mut slot, &BookEntry { action: 6, ..ENTRY }), EntryOutcome::Invalid);
        assert_eq!(apply(&mut slot, &BookEntry { level: 0, ..ENTRY }), EntryOutcome::Invalid);
    }

    #[test]
    fn fast_path_matches_full_path() {
        let seen = |slot: &DirectBookSlot| {
            let mut slot = *slot;
            let changes = slot.update_best();
            (slot.levels(BookSide::Bid).to_vec(), slot.levels(BookSide::Ask).to_vec(), changes)
        };
        let mut fast_count = 0;
        for (count, action, level) in (0..=3).flat_map(|count| {
            (0..7).flat_map(move |action| (0..=5).map(move |level| (count, action, level)))
        }) {
            let new_level = |n: i64| Level { price: Price9(n), quantity: 3, orders: 1 };
            let levels: Vec<Level> = (0..count).map(new_level).collect();
            let mut slot = DirectBookSlot::EMPTY;
            slot.set_depth(3);
            slot.load(&levels, &levels);
            slot.update_best();
            let price = Some(Price9(i64::from(level) - 1));
            let (quantity, orders) = (Some(5), 2);
            let base = BookEntry { action, level, price, quantity, orders, ..ENTRY };
            for (side, entry) in [
                (BookSide::Bid, base),
                (BookSide::Ask, BookEntry { entry_type: b'1', ..base }),
                (BookSide::Bid, BookEntry { entry_type: b'E', ..base }),
                (BookSide::Bid, BookEntry { price: Some(Price9(77)), ..base }),
                (BookSide::Bid, BookEntry { price: None, ..base }),
                (BookSide::Bid, BookEntry { quantity: None, ..base }),
            ] {
                let (mut quick, mut full) = (slot, slot);
                if apply_fast_path(&mut quick, &entry) {
                    fast_count += 1;
                    assert_eq!(super::apply(&mut full, side, &entry), EntryOutcome::Changed);
                    assert_eq!(seen(&quick), seen(&full), "{entry:?}");
                } else {
                    assert_eq!(seen(&quick), seen(&slot), "{entry:?}");
                }
            }
        }
        // With 0 to 3 levels: 9 positions for a New and 6 for a Delete, each for bids, asks and
        // another price; 6 for a Change, for bids and asks.
        assert_eq!(fast_count, 3 * (9 + 6) + 2 * 6);
    }

    #[test]
    fn reports_and_applies_price_change() {
        let mut slot = slot(2);
        let entry = BookEntry { action: 1, price: Some(Price9(8)), ..ENTRY };
        assert_eq!(apply(&mut slot, &entry), EntryOutcome::PriceChanged);
        assert_eq!(apply(&mut slot, &entry), EntryOutcome::Changed);
        assert_eq!(slot.levels(BookSide::Bid)[0].price, Price9(8));
    }
}
