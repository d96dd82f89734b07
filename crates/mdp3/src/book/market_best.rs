//! The best prices of the whole market: MDEntryType `w` and `x` (EBS, templates 64 and 69).
//!
//! They are not screened by credit, and are no level of a book. CME does not state the meaning of
//! their level and whether a quantity is required, so the level is ignored and the quantity is
//! optional. Their entries count in RptSeq like those of the books.

use hairpin_time::Utc;

use crate::market::Market;
use crate::message::entries::{BookEntry, Root};
use crate::{BookSide, InstrumentIndex, Listener, MatchEvent, Packet, Price9, UpdateSource};

/// The best price on a side of the whole market.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarketPrice {
    /// MDEntryPx (270).
    pub price: Price9,
    /// MDEntrySize (271), if stated.
    pub quantity: Option<u64>,
}

/// The best prices of the whole market for an instrument.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct MarketBest {
    /// The best bid (MDEntryType `x`).
    pub bid: Option<MarketPrice>,
    /// The best ask (MDEntryType `w`).
    pub ask: Option<MarketPrice>,
}

/// A change of the best prices of the whole market.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct MarketBestUpdate<'a> {
    /// The packet with the message, or with the snapshot.
    pub packet: &'a Packet,
    /// TransactTime (60) of the message, or of the snapshot.
    pub transact_time: Utc,
    /// MatchEventIndicator (5799); none in a snapshot.
    pub match_event: MatchEvent,
    /// The instrument.
    pub instrument: InstrumentIndex,
    /// The present prices.
    pub best: MarketBest,
    /// The source of the prices.
    pub source: UpdateSource,
}

impl MarketBest {
    /// Returns the price of a side.
    #[must_use]
    pub const fn side(&self, side: BookSide) -> Option<MarketPrice> {
        match side {
            BookSide::Bid => self.bid,
            BookSide::Ask => self.ask,
        }
    }

    pub(crate) fn side_mut(&mut self, side: BookSide) -> &mut Option<MarketPrice> {
        match side {
            BookSide::Bid => &mut self.bid,
            BookSide::Ask => &mut self.ask,
        }
    }

    /// Applies an entry: New, Change and Overlay set the price, Delete removes it. Returns `false`
    /// if the entry is invalid.
    pub(crate) fn apply(&mut self, side: BookSide, entry: &BookEntry) -> bool {
        let stated = entry.price.map(|price| MarketPrice { price, quantity: entry.quantity });
        match entry.action {
            0 | 1 | 5 if stated.is_some() => *self.side_mut(side) = stated,
            2 => *self.side_mut(side) = None,
            _ => return false,
        }
        true
    }
}

impl Market {
    /// Applies a valid entry of the best market prices, and reports it.
    #[cold]
    pub(crate) fn apply_market_best(
        &mut self,
        (packet, root): (&Packet, Root),
        instrument: InstrumentIndex,
        (side, entry): (BookSide, &BookEntry),
        listener: &mut impl Listener,
    ) -> bool {
        let best = &mut self.instruments.market_best[instrument.as_usize()];
        let is_valid = best.apply(side, entry);
        if is_valid {
            self.counters.market_best_entries += 1;
            let source = UpdateSource::Incremental;
            self.notify_market_best((packet, root), instrument, source, listener);
        }
        is_valid
    }

    pub(crate) fn notify_market_best(
        &self,
        (packet, root): (&Packet, Root),
        instrument: InstrumentIndex,
        source: UpdateSource,
        listener: &mut impl Listener,
    ) {
        listener.on_market_best(&MarketBestUpdate {
            packet,
            transact_time: root.transact_time,
            match_event: root.match_event,
            instrument,
            best: self.instruments.market_best[instrument.as_usize()],
            source,
        });
    }
}
