//! All instruments of a channel.

use alloc::vec;
use alloc::vec::Vec;

use crate::book::book_slot::DirectBookSlot;
use crate::book::consolidated_book::ConsolidatedBook;
use crate::book::implied_book::{ImpliedBook, ImpliedBookSlot};
use crate::book::orders::{OrderArena, OrderBook};
use crate::instrument::instrument_index::{IdTable, InstrumentIndex};
use crate::instrument::related_instruments::{Leg, Related, RelatedLists, Underlying};
use crate::instrument::statistics::{InstrumentStatistics, PriceLimits};
use crate::instrument::status::InstrumentStatus;
use crate::recovery::sync_state::State;
use crate::{Book, Changes, Definition, MarketBest, Settings};

/// The depth of an implied book without a stated depth: CME's common one.
pub(crate) const DEFAULT_IMPLIED_DEPTH: u8 = 2;

/// The instruments of a channel with their books and definitions. Callbacks receive it, so that a
/// decision can use books other than the changed one.
#[derive(Debug)]
pub struct Instruments {
    ids: IdTable,
    /// The direct books; the first `count` are in use.
    pub(crate) direct: Vec<DirectBookSlot>,
    /// Cold data: implied books, definitions with legs and underlyings, statuses, statistics.
    pub(crate) implied: Vec<ImpliedBookSlot>,
    pub(crate) definitions: Vec<Definition>,
    pub(crate) related: RelatedLists,
    pub(crate) statuses: Vec<InstrumentStatus>,
    pub(crate) statistics: Vec<InstrumentStatistics>,
    pub(crate) market_best: Vec<MarketBest>,
    pub(crate) user_data: Vec<u64>,
    pub(crate) orders: OrderArena,
    generations: Vec<u32>,
    count: usize,
}

impl Instruments {
    /// Reads the memory that a book entry for the instrument at `index` would read. Returns
    /// the index, or 0 if it is out of range.
    #[inline]
    pub(crate) fn prefetch(&self, index: usize) -> usize {
        let index = if index < self.count { index } else { 0 };
        if let Some(slot) = self.direct.get(index) {
            slot.prefetch();
            core::hint::black_box(self.ids.find(slot.head.security_id));
        }
        index
    }

    pub(crate) fn new(settings: &Settings) -> Self {
        let capacity = settings.max_instruments;
        Self {
            ids: IdTable::new(capacity),
            direct: vec![DirectBookSlot::EMPTY; capacity],
            implied: vec![ImpliedBookSlot::EMPTY; capacity],
            definitions: vec![Definition::undefined(0); capacity],
            related: RelatedLists::new(capacity, settings.max_related),
            statuses: vec![InstrumentStatus::UNKNOWN; capacity],
            statistics: vec![InstrumentStatistics::UNKNOWN; capacity],
            market_best: vec![MarketBest::default(); capacity],
            user_data: vec![0; capacity],
            orders: OrderArena::new(settings),
            generations: vec![0; capacity],
            count: 0,
        }
    }

    /// Returns how often the slot of an instrument was reused for another one.
    ///
    /// # Panics
    ///
    /// Panics if the index belongs to a larger channel.
    #[must_use]
    pub fn generation(&self, instrument: InstrumentIndex) -> u32 {
        self.generations[instrument.as_usize()]
    }

    /// Returns the number of known instruments, including deleted ones whose slots were not reused.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Returns `true` if no instrument is known.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Iterates over all instruments, in the order in which the channel first received them; one in
    /// a reused slot has the place of the deleted one.
    pub fn iter(&self) -> impl Iterator<Item = InstrumentIndex> + use<> {
        (0..self.count as u32).map(InstrumentIndex)
    }

    /// Returns the instrument with a SecurityID.
    #[must_use]
    #[inline]
    pub fn find(&self, security_id: i32) -> Option<InstrumentIndex> {
        self.ids.find(security_id)
    }

    /// Returns the direct book of an instrument.
    ///
    /// # Panics
    ///
    /// Panics if the index belongs to a larger channel.
    #[must_use]
    #[inline]
    pub fn book(&self, instrument: InstrumentIndex) -> Book<'_> {
        Book::new(&self.direct[instrument.as_usize()])
    }

    /// Returns the implied book of an instrument.
    ///
    /// # Panics
    ///
    /// Panics if the index belongs to a larger channel.
    #[must_use]
    pub fn implied_book(&self, instrument: InstrumentIndex) -> ImpliedBook<'_> {
        ImpliedBook::new(&self.implied[instrument.as_usize()])
    }

    /// Returns the direct and implied book of an instrument as one.
    ///
    /// # Panics
    ///
    /// Panics if the index belongs to a larger channel.
    #[must_use]
    pub fn consolidated_book(&self, instrument: InstrumentIndex) -> ConsolidatedBook<'_> {
        ConsolidatedBook::new(self.book(instrument), self.implied_book(instrument))
    }

    /// Returns the order book of an instrument; always empty if `Settings::order_books` is `None`.
    #[must_use]
    pub const fn order_book(&self, instrument: InstrumentIndex) -> OrderBook<'_> {
        OrderBook::new(self, instrument)
    }

    /// Returns the direct book of the instrument with a SecurityID.
    #[must_use]
    pub fn book_of(&self, security_id: i32) -> Option<Book<'_>> {
        self.find(security_id).map(|instrument| self.book(instrument))
    }

    /// Returns the definition of an instrument, or `None` if it has none in force.
    ///
    /// # Panics
    ///
    /// Panics if the index belongs to a larger channel.
    #[must_use]
    pub fn definition(&self, instrument: InstrumentIndex) -> Option<&Definition> {
        let definition = &self.definitions[instrument.as_usize()];
        definition.is_in_force().then_some(definition)
    }

    /// Returns the legs of a spread from its definition; empty for other instruments.
    ///
    /// # Panics
    ///
    /// Panics if the index belongs to a larger channel.
    pub fn legs(&self, instrument: InstrumentIndex) -> impl Iterator<Item = &Leg> {
        self.related(instrument).filter_map(|related| match related {
            Related::Leg(leg) => Some(leg),
            _ => None,
        })
    }

    /// Returns the underlyings of an option or a repo from its definition; empty for other
    /// instruments.
    ///
    /// # Panics
    ///
    /// Panics if the index belongs to a larger channel.
    pub fn underlyings(&self, instrument: InstrumentIndex) -> impl Iterator<Item = &Underlying> {
        self.related(instrument).filter_map(|related| match related {
            Related::Underlying(underlying) => Some(underlying),
            _ => None,
        })
    }

    /// Returns all related instruments of a definition, in message order: legs, or underlyings and
    /// then related instruments.
    ///
    /// # Panics
    ///
    /// Panics if the index belongs to a larger channel.
    pub fn related(&self, instrument: InstrumentIndex) -> impl Iterator<Item = &Related> {
        self.related.list(instrument)
    }

    /// Returns the trading status of an instrument.
    ///
    /// # Panics
    ///
    /// Panics if the index belongs to a larger channel.
    #[must_use]
    pub fn status(&self, instrument: InstrumentIndex) -> &InstrumentStatus {
        &self.statuses[instrument.as_usize()]
    }

    /// Returns the statistics, volume and last trade of an instrument.
    ///
    /// # Panics
    ///
    /// Panics if the index belongs to a larger channel.
    #[must_use]
    pub fn statistics(&self, instrument: InstrumentIndex) -> &InstrumentStatistics {
        &self.statistics[instrument.as_usize()]
    }

    /// Returns the user data of an instrument, for example an index into the caller's own tables.
    /// It is 0 unless set by [`crate::Channel::set_user_data`] or [`crate::Listener::user_data`].
    /// The channel never reads or changes it.
    ///
    /// # Panics
    ///
    /// Panics if the index belongs to a larger channel.
    #[must_use]
    #[inline]
    pub fn user_data(&self, instrument: InstrumentIndex) -> u64 {
        self.user_data[instrument.as_usize()]
    }

    /// Returns the price limits of an instrument: each the one last sent, otherwise that of the
    /// definition.
    ///
    /// # Panics
    ///
    /// Panics if the index belongs to a larger channel.
    #[must_use]
    pub fn price_limits(&self, instrument: InstrumentIndex) -> PriceLimits {
        let sent = self.statistics(instrument).limits();
        let Some(defined) = self.definition(instrument) else { return sent };
        PriceLimits {
            high: sent.high.or(defined.high_limit_price),
            low: sent.low.or(defined.low_limit_price),
            max_price_variation: sent.max_price_variation.or(defined.max_price_variation),
        }
    }

    /// Returns the best prices of the whole market for an instrument (EBS; CME Client Systems Wiki,
    /// page 46210500). Empty on other groups.
    ///
    /// # Panics
    ///
    /// Panics if the index belongs to a larger channel.
    #[must_use]
    pub fn market_best(&self, instrument: InstrumentIndex) -> MarketBest {
        self.market_best[instrument.as_usize()]
    }

    /// Empties both books of an instrument, and removes the best prices of the market.
    pub(crate) fn clear_books(&mut self, instrument: InstrumentIndex) {
        self.direct[instrument.as_usize()].clear();
        self.implied[instrument.as_usize()].clear();
        self.market_best[instrument.as_usize()] = MarketBest::default();
    }

    /// Makes the next [`update_best`](Self::update_best) report the best levels as new.
    pub(crate) fn forget_best(&mut self, instrument: InstrumentIndex) {
        self.implied[instrument.as_usize()].forget_best();
        self.direct[instrument.as_usize()].forget_best();
    }

    /// Copies the best levels of both books to their heads. Returns what has changed.
    pub(crate) fn update_best(&mut self, instrument: InstrumentIndex) -> Changes {
        let implied = self.implied[instrument.as_usize()].update_best();
        self.direct[instrument.as_usize()].update_best().union(implied.to_implied())
    }

    /// Adds a new instrument. Returns `None` if there is no room.
    pub(crate) fn insert(&mut self, security_id: i32, depth: u8) -> Option<InstrumentIndex> {
        let slot = self.direct.get_mut(self.count)?;
        let instrument = InstrumentIndex(self.count as u32);
        slot.head.security_id = security_id;
        slot.set_depth(depth);
        self.implied[self.count].set_depth(DEFAULT_IMPLIED_DEPTH);
        self.definitions[self.count] = Definition::undefined(security_id);
        self.ids.insert(security_id, instrument);
        self.count += 1;
        Some(instrument)
    }
}

impl Instruments {
    /// Returns `true` if an instrument is not in force, so that its slot may be reused.
    pub(crate) fn is_deleted(&self, instrument: InstrumentIndex) -> bool {
        !self.definitions[instrument.as_usize()].is_in_force()
            && self.direct[instrument.as_usize()].head.state == State::Unknown
    }

    /// Gives the slot of a deleted instrument to a new one.
    pub(crate) fn reuse(&mut self, instrument: InstrumentIndex, security_id: i32, depth: u8) {
        let index = instrument.as_usize();
        self.ids.remove(self.direct[index].head.security_id);
        self.direct[index] = DirectBookSlot::EMPTY;
        self.direct[index].head.security_id = security_id;
        self.direct[index].set_depth(depth);
        self.implied[index] = ImpliedBookSlot::EMPTY;
        self.implied[index].set_depth(DEFAULT_IMPLIED_DEPTH);
        self.definitions[index] = Definition::undefined(security_id);
        self.related.remove(instrument);
        self.statuses[index] = InstrumentStatus::UNKNOWN;
        self.statistics[index] = InstrumentStatistics::UNKNOWN;
        self.market_best[index] = MarketBest::default();
        self.user_data[index] = 0;
        self.generations[index] = self.generations[index].wrapping_add(1);
        self.ids.insert(security_id, instrument);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_entries_beyond_capacity() {
        let mut instruments =
            Instruments::new(&Settings { max_instruments: 2, ..Settings::default() });
        assert_eq!(instruments.insert(7, 10), Some(InstrumentIndex(0)));
        assert_eq!(instruments.insert(8, 10), Some(InstrumentIndex(1)));
        assert_eq!(instruments.insert(9, 10), None);
        assert_eq!((instruments.len(), instruments.find(9)), (2, None));
        assert_eq!(instruments.book_of(8).map(Book::security_id), Some(8));
        assert_eq!(instruments.definition(InstrumentIndex(0)), None);
    }
}
