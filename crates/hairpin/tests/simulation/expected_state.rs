//! The published data by event, which is the expected state of every book.

use hairpin_exchange::{Published, SimulatedMarket};
use hairpin_feed_handler::Book;

/// The first SecurityID of [`hairpin_exchange::Instrument::numbered`].
const FIRST_ID: i32 = 1_001;

/// The published books after every event.
#[derive(Debug)]
pub(crate) struct ExpectedState {
    /// Each event that changed a book, by instrument, and the book after the event. `None` if two
    /// events came together, so that the book between them is unknown.
    books: Vec<Vec<(u64, Option<Published>)>>,
    /// The event that each packet of the incremental feed ended.
    ends: Vec<Option<u64>>,
    events: u64,
}

impl ExpectedState {
    /// Returns the state of a seeded market: the book of instrument `n` is event `n + 1`.
    pub(crate) fn new(market: &SimulatedMarket, instruments: u32) -> Self {
        let events = market.publisher().events();
        assert_eq!(events, u64::from(instruments), "each book is seeded by an event of its own");
        let seeded = |instrument| {
            vec![(u64::from(instrument) + 1, Some(*market.publisher().published(instrument)))]
        };
        Self { books: (0..instruments).map(seeded).collect(), ends: Vec::new(), events }
    }

    /// Records the books published since the last call. Returns the number of books that changed.
    pub(crate) fn record(&mut self, market: &SimulatedMarket) -> usize {
        let publisher = market.publisher();
        let (before, events) = (self.events, publisher.events());
        self.events = events;
        if events == before {
            return 0;
        }
        let mut changed = 0;
        for (instrument, history) in (0..).zip(&mut self.books) {
            let published = *publisher.published(instrument);
            let known = history.last().and_then(|(_, book)| book.map(|book| book.rpt_seq));
            if known != Some(published.rpt_seq) {
                if events > before + 1 {
                    history.push((before + 1, None));
                }
                history.push((events, Some(published)));
                changed += 1;
            }
        }
        changed
    }

    /// Records a sent packet of the incremental feed and the event that it ends, if any.
    pub(crate) fn record_packet(&mut self, sequence: u32, ends: Option<u64>) {
        let place = sequence as usize;
        if self.ends.len() <= place {
            self.ends.resize(place + 1, None);
        }
        self.ends[place] = ends;
    }

    /// Returns the event that ends with packet `sequence`.
    pub(crate) fn event_at(&self, sequence: u32) -> Option<u64> {
        self.ends.get(sequence as usize).copied().flatten()
    }

    /// Returns the number of published events.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// Returns the number of instruments.
    pub(crate) fn instruments(&self) -> usize {
        self.books.len()
    }

    /// Returns the book of an instrument after an event, or `None` if it is unknown.
    pub(crate) fn after(&self, instrument: usize, event: u64) -> Option<&Published> {
        let history = &self.books[instrument];
        let later = history.partition_point(|(number, _)| *number <= event);
        history[..later].last().and_then(|(_, book)| book.as_ref())
    }

    /// Returns the book of an instrument at a RptSeq, if that RptSeq was the last of an event.
    fn at_rpt_seq(&self, instrument: usize, rpt_seq: u32) -> Option<&Published> {
        let seen = self.books[instrument].iter().rev().filter_map(|(_, book)| book.as_ref());
        seen.take_while(|book| book.rpt_seq >= rpt_seq).find(|book| book.rpt_seq == rpt_seq)
    }

    /// Compares a synchronized book with the published book at the end of `event`.
    pub(crate) fn check(&self, book: Book<'_>, event: u64) -> Verdict {
        let instrument = index_of(book.security_id());
        let Some(expected) = self.after(instrument, event) else { return Verdict::Unknown };
        let rpt_seq = book.rpt_seq().unwrap_or(0);
        if rpt_seq < expected.rpt_seq {
            return Verdict::Behind;
        }
        let (published, verdict) = if rpt_seq == expected.rpt_seq {
            (Some(expected), Verdict::Equal)
        } else {
            (self.at_rpt_seq(instrument, rpt_seq), Verdict::Ahead)
        };
        match published {
            Some(published) if is_equal(book, published) => verdict,
            Some(_) => Verdict::Different,
            None => Verdict::Unknown,
        }
    }

    /// Returns whether an event changed the best price of an instrument, or `None` if unknown.
    pub(crate) fn changes_best_price(&self, instrument: usize, event: u64) -> Option<bool> {
        let best = |event| {
            let book = self.after(instrument, event)?;
            Some([0, 1].map(|side: usize| book.sides[side].levels().first().map(|l| l.price)))
        };
        Some(best(event - 1)? != best(event)?)
    }
}

/// The result of a comparison between a book and the published data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The published book.
    Equal,
    /// A book published later, because a snapshot was ahead of the feed.
    Ahead,
    /// A book published earlier.
    Behind,
    /// A book that was never published.
    Different,
    /// Unknown.
    Unknown,
}

/// Returns the exchange's index of an instrument.
pub(crate) fn index_of(security_id: i32) -> usize {
    (security_id - FIRST_ID) as usize
}

fn is_equal(book: Book<'_>, published: &Published) -> bool {
    [book.bids(), book.asks()].iter().zip(&published.sides).all(|(levels, side)| {
        let shown = levels.iter().map(|level| (level.price.0, level.quantity, level.orders));
        let stated = side.levels().iter();
        shown.eq(stated.map(|level| (level.price.0, u64::from(level.quantity), level.orders)))
    })
}
