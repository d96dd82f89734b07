//! All instruments of a channel.

use alloc::vec;
use alloc::vec::Vec;

use crate::Definition;
use crate::book::{Book, Cell};
use crate::instrument_index::{IdTable, InstrumentIndex};

/// The instruments of a channel with their books and definitions. Callbacks are shown this, so
/// that a decision may look at other books than the one that changed.
#[derive(Debug)]
pub struct Instruments {
    ids: IdTable,
    /// The book arena; the first `count` are in use.
    pub(crate) cells: Vec<Cell>,
    pub(crate) definitions: Vec<Definition>,
    count: usize,
}

impl Instruments {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            ids: IdTable::new(capacity),
            cells: vec![Cell::VACANT; capacity],
            definitions: vec![Definition::none(0); capacity],
            count: 0,
        }
    }

    /// How many instruments the channel has come across.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether the channel has come across no instrument.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Every instrument, in the order in which the channel came across them.
    pub fn iter(&self) -> impl Iterator<Item = InstrumentIndex> + use<> {
        (0..self.count as u32).map(InstrumentIndex)
    }

    /// The instrument with a SecurityID.
    #[must_use]
    #[inline]
    pub fn find(&self, security_id: i32) -> Option<InstrumentIndex> {
        self.ids.find(security_id)
    }

    /// The book of an instrument.
    ///
    /// # Panics
    ///
    /// If the index is from a larger channel.
    #[must_use]
    #[inline]
    pub fn book(&self, instrument: InstrumentIndex) -> Book<'_> {
        Book::new(&self.cells[instrument.as_usize()])
    }

    /// The book of the instrument with a SecurityID.
    #[must_use]
    pub fn book_of(&self, security_id: i32) -> Option<Book<'_>> {
        self.find(security_id).map(|instrument| self.book(instrument))
    }

    /// The definition of an instrument; `None` if it has none in force.
    ///
    /// # Panics
    ///
    /// If the index is from a larger channel.
    #[must_use]
    pub fn definition(&self, instrument: InstrumentIndex) -> Option<&Definition> {
        let definition = &self.definitions[instrument.as_usize()];
        definition.is_in_force().then_some(definition)
    }

    /// Enters an instrument that is not there yet; `None` if there is no room.
    pub(crate) fn insert(&mut self, security_id: i32, depth: u8) -> Option<InstrumentIndex> {
        let cell = self.cells.get_mut(self.count)?;
        let instrument = InstrumentIndex(self.count as u32);
        cell.head.security_id = security_id;
        cell.set_depth(depth);
        self.definitions[self.count] = Definition::none(security_id);
        self.ids.insert(security_id, instrument);
        self.count += 1;
        Some(instrument)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_so_many_and_no_more() {
        let mut instruments = Instruments::new(2);
        assert_eq!(instruments.insert(7, 10), Some(InstrumentIndex(0)));
        assert_eq!(instruments.insert(8, 10), Some(InstrumentIndex(1)));
        assert_eq!(instruments.insert(9, 10), None);
        assert_eq!((instruments.len(), instruments.find(9)), (2, None));
        assert_eq!(instruments.book_of(8).map(Book::security_id), Some(8));
        assert_eq!(instruments.definition(InstrumentIndex(0)), None);
    }
}
