//! What a book entry of a message does to a book of its instrument.

use alloc::vec::Vec;

use crate::cell::Cell;
use crate::entries::BookEntry;
use crate::levels::{Action, Level};
use crate::market::Market;
use crate::sync::State;
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

/// Applies one entry to a side of a book.
#[inline(always)]
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

/// A Change, the most frequent action.
#[inline(always)]
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
    #[inline(always)]
    pub(crate) fn book_entry(
        &mut self,
        packet: &Packet,
        instrument: InstrumentIndex,
        entry: BookEntry,
        listener: &mut impl Listener,
    ) {
        let side = match entry.entry_type {
            b'0' => BookSide::Bid,
            b'1' => BookSide::Ask,
            // Of a copy, so that the usual entry need not be in memory.
            _ => return self.rare_entry(packet, instrument, &{ entry }, listener),
        };
        let cell = &mut self.instruments.cells[instrument.as_usize()];
        let outcome = apply(cell, side, &entry);
        if matches!(outcome, Outcome::Changed) {
            self.counters.book_entries += 1;
            note(&mut self.touched, instrument, &mut cell.head.touched, Changes::BOOK);
        } else if self.odd_entry(packet, instrument, outcome, (entry.action, entry.level), listener)
        {
            self.counters.book_entries += 1;
            self.touch(instrument, Changes::BOOK);
        }
    }

    /// A book entry that is not of the direct book.
    #[cold]
    fn rare_entry(
        &mut self,
        packet: &Packet,
        instrument: InstrumentIndex,
        entry: &BookEntry,
        listener: &mut impl Listener,
    ) {
        let outcome = match Target::of(entry.entry_type) {
            Target::Implied(side) => {
                let cell = &mut self.instruments.implied[instrument.as_usize()];
                apply(cell, side, entry)
            }
            Target::Reset => return self.reset_book(instrument, listener),
            Target::MarketBest => return,
            Target::Direct(_) | Target::Invalid => Outcome::Invalid,
        };
        if matches!(outcome, Outcome::Changed)
            || self.odd_entry(packet, instrument, outcome, (entry.action, entry.level), listener)
        {
            self.counters.implied_entries += 1;
            self.touch(instrument, Changes::IMPLIED);
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

    /// An entry that did not simply change the book; whether it has changed it all the same.
    #[cold]
    fn odd_entry(
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
    use crate::cell::DirectCell;

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
    fn a_change_of_price_is_taken_and_told() {
        let mut cell = cell(2);
        let entry = BookEntry { action: 1, price: Some(Price9(8)), ..ENTRY };
        assert_eq!(apply(&mut cell, &entry), Outcome::PriceChanged);
        assert_eq!(apply(&mut cell, &entry), Outcome::Changed);
        assert_eq!(cell.levels(BookSide::Bid)[0].price, Price9(8));
    }
}
