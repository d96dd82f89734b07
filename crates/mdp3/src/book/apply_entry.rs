//! What a book entry of a message does to a book of its instrument.

use alloc::vec::Vec;

use crate::book::book_slot::{Cell, DirectCell};
use crate::book::ladder::Action;
use crate::book::levels::Level;
use crate::market::Market;
use crate::message::entries::BookEntry;
use crate::recovery::sync_state::State;
use crate::{BookSide, Changes, Error, InstrumentIndex, LateJoin, Listener, Packet, Warning};

/// What became of a book entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The book has changed.
    Changed,
    /// The book has changed, though a Change should not have altered this price.
    PriceChanged,
    /// The level is below the book's depth.
    BeyondDepth,
    /// The entry cannot be read.
    Invalid,
    /// The book does not have the level.
    Inapplicable,
}

/// What a book entry is for, by MDEntryType (269).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// `0` and `1`: a side of the direct book.
    Direct(BookSide),
    /// `E` and `F`: a side of the implied book.
    Implied(BookSide),
    /// `J`: both books are empty.
    Reset,
    /// `w` and `x`: the best of the whole market, which is no level of either book.
    MarketBest,
    /// No entry type of books.
    Invalid,
}

impl Target {
    #[inline]
    pub(crate) const fn of(entry_type: u8) -> Self {
        match entry_type {
            b'0' => Self::Direct(BookSide::Bid),
            b'1' => Self::Direct(BookSide::Ask),
            b'E' => Self::Implied(BookSide::Bid),
            b'F' => Self::Implied(BookSide::Ask),
            b'J' => Self::Reset,
            b'w' | b'x' => Self::MarketBest,
            _ => Self::Invalid,
        }
    }
}

/// Applies the entry if it is one of the usual: a New, a Change or a Delete of a side of the direct
/// book, with nothing odd about it. Else it does nothing, and returns false.
#[inline(always)]
pub(crate) fn apply_usual(cell: &mut DirectCell, entry: &BookEntry) -> bool {
    let (Some(price), Some(quantity)) = (entry.price, entry.quantity) else { return false };
    let (is_ask, level) = (entry.entry_type.wrapping_sub(b'0'), entry.level.wrapping_sub(1));
    if is_ask > 1 || level >= cell.head.depth {
        return false;
    }
    let action = match entry.action {
        0 => Action::New,
        1 => Action::Change,
        2 => Action::Delete,
        _ => return false,
    };
    // Nobody can foresee which side comes next: no branch between them.
    let side = if is_ask == 0 { BookSide::Bid } else { BookSide::Ask };
    let (level, stated) = (usize::from(level), Level { price, quantity, orders: entry.orders });
    cell.apply_usual(side, (action, level), stated)
}

/// Applies one entry to a side of a book.
pub(crate) fn apply<const N: usize>(
    cell: &mut Cell<N>,
    side: BookSide,
    entry: &BookEntry,
) -> Outcome {
    let (Some(action), Some(level)) = (Action::from_wire(entry.action), entry.level.checked_sub(1))
    else {
        return Outcome::Invalid;
    };
    let is_beyond = level >= cell.head.depth;
    let level = usize::from(level);
    let applied = match action {
        Action::DeleteThru | Action::DeleteFrom => cell.apply(side, action, level, Level::NONE),
        _ if is_beyond => return Outcome::BeyondDepth,
        Action::Delete => cell.apply(side, action, level, Level::NONE),
        Action::New | Action::Change | Action::Overlay => {
            let (Some(price), Some(quantity)) = (entry.price, entry.quantity) else {
                return Outcome::Invalid;
            };
            let stated = Level { price, quantity, orders: entry.orders };
            if action == Action::Change {
                return change(cell, side, level, stated);
            }
            cell.apply(side, action, level, stated)
        }
    };
    if applied.is_ok() { Outcome::Changed } else { Outcome::Inapplicable }
}

/// A Change.
fn change<const N: usize>(
    cell: &mut Cell<N>,
    side: BookSide,
    level: usize,
    stated: Level,
) -> Outcome {
    match cell.replace(side, level, stated) {
        Ok(before) if before.price == stated.price => Outcome::Changed,
        Ok(_) => Outcome::PriceChanged,
        Err(_) => Outcome::Inapplicable,
    }
}

impl Market {
    /// A book entry that is admitted, of whatever kind.
    pub(crate) fn book_entry(
        &mut self,
        packet: &Packet,
        instrument: InstrumentIndex,
        entry: &BookEntry,
        listener: &mut impl Listener,
    ) {
        let place = instrument.as_usize();
        let (outcome, changes) = match Target::of(entry.entry_type) {
            Target::Direct(side) => {
                (apply(&mut self.instruments.cells[place], side, entry), Changes::BOOK)
            }
            Target::Implied(side) => {
                (apply(&mut self.instruments.implied[place], side, entry), Changes::IMPLIED)
            }
            Target::Reset => return self.reset_book(instrument, listener),
            Target::MarketBest => return,
            Target::Invalid => (Outcome::Invalid, Changes::NONE),
        };
        if self.has_changed(packet, instrument, outcome, (entry.action, entry.level), listener) {
            match changes {
                Changes::IMPLIED => self.counters.implied_entries += 1,
                _ => self.counters.book_entries += 1,
            }
            self.touch(instrument, changes);
        }
    }

    /// The exchange has emptied an instrument's books. CME does not say whether its RptSeq counts
    /// on from here or begins again, so the next entry may carry any.
    fn reset_book(&mut self, instrument: InstrumentIndex, listener: &mut impl Listener) {
        self.counters.book_resets += 1;
        self.recovery[instrument.as_usize()].forget_snapshot();
        self.instruments.empty(instrument);
        let changes = self.instruments.settle(instrument);
        let head = &mut self.instruments.cells[instrument.as_usize()].head;
        if head.state.needs_snapshot() {
            self.come_in(instrument, State::Fresh, listener);
        } else {
            head.state = State::Fresh;
        }
        self.touch(instrument, changes);
    }

    /// Notes that the message has changed books of an instrument, and what of them is known to have
    /// changed.
    pub(crate) fn touch(&mut self, instrument: InstrumentIndex, changes: Changes) {
        let head = &mut self.instruments.cells[instrument.as_usize()].head;
        note(&mut self.touched, instrument, &mut head.touched, changes);
    }

    /// Whether an entry has changed a book; tells what is odd about it.
    fn has_changed(
        &mut self,
        packet: &Packet,
        instrument: InstrumentIndex,
        outcome: Outcome,
        (action, level): (u8, u8),
        listener: &mut impl Listener,
    ) -> bool {
        let security_id = self.instruments.book(instrument).security_id();
        let error = match outcome {
            Outcome::Changed => return true,
            Outcome::PriceChanged => {
                self.warn(&Warning::PriceChanged { security_id, level }, listener);
                return true;
            }
            Outcome::BeyondDepth => {
                self.warn(&Warning::BeyondDepth { security_id, level }, listener);
                return false;
            }
            Outcome::Invalid => Error::InvalidEntry { security_id, action, level },
            Outcome::Inapplicable => Error::InapplicableEntry { security_id, action, level },
        };
        self.report(Some(packet), &error, listener);
        if self.settings.late_join != LateJoin::Nothing {
            // The book is not what the exchange has; only a snapshot after this packet is.
            self.fall_out(instrument, packet.sequence.saturating_add(1), listener);
        }
        false
    }
}

/// Adds to what has changed of an instrument, and if it is the first, the instrument to the list.
#[inline(always)]
pub(crate) fn note(
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

    fn apply(cell: &mut DirectCell, entry: &BookEntry) -> Outcome {
        super::apply(cell, BookSide::Bid, entry)
    }

    const ENTRY: BookEntry = BookEntry {
        entry_type: b'0',
        action: 0,
        level: 1,
        price: Some(Price9(7)),
        quantity: Some(3),
        orders: 1,
    };

    fn cell(depth: u8) -> DirectCell {
        let mut cell = DirectCell::VACANT;
        cell.set_depth(depth);
        assert_eq!(apply(&mut cell, &ENTRY), Outcome::Changed);
        cell
    }

    #[test]
    fn a_level_below_the_depth_changes_nothing() {
        for action in [0, 1, 2, 5] {
            let entry = BookEntry { level: 3, action, ..ENTRY };
            assert_eq!(apply(&mut cell(2), &entry), Outcome::BeyondDepth);
        }
        let thru = BookEntry { level: 3, action: 3, ..ENTRY };
        assert_eq!(apply(&mut cell(2), &thru), Outcome::Changed);
    }

    #[test]
    fn what_states_a_level_needs_price_and_quantity() {
        for action in [0, 1, 5] {
            let priceless = BookEntry { price: None, action, ..ENTRY };
            assert_eq!(apply(&mut cell(2), &priceless), Outcome::Invalid);
            let without_quantity = BookEntry { quantity: None, action, ..ENTRY };
            assert_eq!(apply(&mut cell(2), &without_quantity), Outcome::Invalid);
        }
        let delete = BookEntry { price: None, quantity: None, action: 2, ..ENTRY };
        assert_eq!(apply(&mut cell(2), &delete), Outcome::Changed);
    }

    #[test]
    fn unknown_actions_and_level_0_are_invalid() {
        let mut cell = cell(2);
        assert_eq!(apply(&mut cell, &BookEntry { action: 6, ..ENTRY }), Outcome::Invalid);
        assert_eq!(apply(&mut cell, &BookEntry { level: 0, ..ENTRY }), Outcome::Invalid);
    }

    #[test]
    fn what_is_usual_does_what_it_would_do_else_and_what_is_not_does_nothing() {
        let seen = |cell: &DirectCell| {
            let mut cell = *cell;
            let changes = cell.settle_best();
            (cell.levels(BookSide::Bid).to_vec(), cell.levels(BookSide::Ask).to_vec(), changes)
        };
        let mut usual_count = 0;
        for (count, action, level) in (0..=3).flat_map(|count| {
            (0..7).flat_map(move |action| (0..=5).map(move |level| (count, action, level)))
        }) {
            let stated = |n: i64| Level { price: Price9(n), quantity: 3, orders: 1 };
            let levels: Vec<Level> = (0..count).map(stated).collect();
            let mut cell = DirectCell::VACANT;
            cell.set_depth(3);
            cell.load(&levels, &levels);
            cell.settle_best();
            let price = Some(Price9(i64::from(level) - 1));
            let (quantity, orders) = (Some(5), 2);
            let usual = BookEntry { action, level, price, quantity, orders, ..ENTRY };
            for (side, entry) in [
                (BookSide::Bid, usual),
                (BookSide::Ask, BookEntry { entry_type: b'1', ..usual }),
                (BookSide::Bid, BookEntry { entry_type: b'E', ..usual }),
                (BookSide::Bid, BookEntry { price: Some(Price9(77)), ..usual }),
                (BookSide::Bid, BookEntry { price: None, ..usual }),
                (BookSide::Bid, BookEntry { quantity: None, ..usual }),
            ] {
                let (mut quick, mut full) = (cell, cell);
                if apply_usual(&mut quick, &entry) {
                    usual_count += 1;
                    assert_eq!(super::apply(&mut full, side, &entry), Outcome::Changed);
                    assert_eq!(seen(&quick), seen(&full), "{entry:?}");
                } else {
                    assert_eq!(seen(&quick), seen(&cell), "{entry:?}");
                }
            }
        }
        // Of 0 to 3 levels: 9 places for a New, 6 for a Delete, each for bids, asks and another
        // price; 6 for a Change, for bids and asks.
        assert_eq!(usual_count, 3 * (9 + 6) + 2 * 6);
    }

    #[test]
    fn a_change_of_price_is_taken_and_told() {
        let mut cell = cell(2);
        let entry = BookEntry { action: 1, price: Some(Price9(8)), ..ENTRY };
        assert_eq!(apply(&mut cell, &entry), Outcome::PriceChanged);
        assert_eq!(apply(&mut cell, &entry), Outcome::Changed);
        assert_eq!(cell.levels(BookSide::Bid)[0].price, Price9(8));
    }
}
