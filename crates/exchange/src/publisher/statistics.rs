//! Statistics and price limits of an instrument.

use crate::Price;
use crate::matching::Side;

use super::Ladder;

/// The published statistics of an instrument. All are unknown at first.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Statistics {
    /// Session statistics (templates 51 and 67).
    pub session: Session,
    /// Daily statistics (template 49).
    pub daily: Daily,
    /// Price limits (template 50).
    pub limits: Limits,
}

/// The statistics of a trading session, derived from its trades and books.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    /// The price of the first trade (entry type 4, flag 0).
    pub open: Option<Price>,
    /// The highest trade price (entry type 7).
    pub high: Option<Price>,
    /// The lowest trade price (entry type 8).
    pub low: Option<Price>,
    /// The highest published bid (entry type N).
    pub highest_bid: Option<Price>,
    /// The lowest published offer (entry type O).
    pub lowest_offer: Option<Price>,
}

/// A statistic of a [`Session`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionStatistic {
    Open(Price),
    High(Price),
    Low(Price),
    HighestBid(Price),
    LowestOffer(Price),
}

impl SessionStatistic {
    /// The number of kinds.
    pub(super) const KINDS: usize = 5;

    pub(super) const fn price(self) -> Price {
        match self {
            Self::Open(price)
            | Self::High(price)
            | Self::Low(price)
            | Self::HighestBid(price)
            | Self::LowestOffer(price) => price,
        }
    }
}

impl Session {
    /// Records a trade at this price.
    pub(super) fn record_trade(&mut self, price: Price) {
        self.open.get_or_insert(price);
        self.high = Some(self.high.map_or(price, |high| high.max(price)));
        self.low = Some(self.low.map_or(price, |low| low.min(price)));
    }

    /// Records the best prices of a book.
    pub(super) fn record_book(&mut self, [bids, offers]: &[Ladder; 2]) {
        for (side, ladder) in Side::BOTH.into_iter().zip([bids, offers]) {
            let current = match side {
                Side::Bid => &mut self.highest_bid,
                Side::Offer => &mut self.lowest_offer,
            };
            if let Some(level) = ladder.levels().first()
                && current.is_none_or(|current| side.is_better(level.price, current))
            {
                *current = Some(level.price);
            }
        }
    }

    /// Iterates over the known statistics.
    pub(super) fn iter(self) -> impl Iterator<Item = SessionStatistic> {
        [
            self.open.map(SessionStatistic::Open),
            self.high.map(SessionStatistic::High),
            self.low.map(SessionStatistic::Low),
            self.highest_bid.map(SessionStatistic::HighestBid),
            self.lowest_offer.map(SessionStatistic::LowestOffer),
        ]
        .into_iter()
        .flatten()
    }

    /// Iterates over the statistics that differ from `published`.
    pub(super) fn changes_since(self, published: Self) -> impl Iterator<Item = SessionStatistic> {
        self.iter().filter(move |new| !published.iter().any(|current| current == *new))
    }
}

/// A daily statistic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DailyStatistic {
    /// The settlement price (entry type 6).
    Settlement(Settlement),
    /// The open interest at the end of the previous day in contracts (entry type C).
    OpenInterest(u32),
    /// The cleared volume of the previous day in contracts (entry type B).
    ClearedVolume(u32),
    /// The fixing price of the day (entry type W).
    Fixing(Price),
}

/// A settlement price.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Settlement {
    /// The price.
    pub price: Price,
    /// The price is final (bit 0x01 of tag 731), otherwise preliminary.
    pub final_price: bool,
    /// The price is actual (bit 0x02), otherwise theoretical.
    pub actual: bool,
    /// The price is rounded to the trading tick (bit 0x04).
    pub rounded: bool,
    /// The price is from within the day (bit 0x08).
    pub intraday: bool,
    /// TradingReferenceDate (tag 5796) in days since 1970-01-01; `None` for the current trade date.
    pub date: Option<u16>,
}

impl Settlement {
    /// Returns SettlPriceType (tag 731).
    pub(super) const fn kind(self) -> u8 {
        self.final_price as u8
            | (self.actual as u8) << 1
            | (self.rounded as u8) << 2
            | (self.intraday as u8) << 3
    }

    /// Returns `true` if `newer` replaces this settlement: it is of the same date and kind.
    fn is_replaced_by(&self, newer: &Self) -> bool {
        let key = |of: &Self| (of.date, of.final_price, of.rounded, of.intraday);
        key(self) == key(newer)
    }
}

/// The number of settlement prices that snapshots contain.
pub const SETTLEMENTS_MAX: usize = 4;

/// The known daily statistics.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Daily {
    /// The latest settlement prices, oldest first: one for each date and kind (final, rounded,
    /// intraday; CME, page 484737080).
    pub settlements: [Option<Settlement>; SETTLEMENTS_MAX],
    /// The open interest in contracts.
    pub open_interest: Option<u32>,
    /// The cleared volume in contracts.
    pub cleared_volume: Option<u32>,
    /// The fixing price.
    pub fixing: Option<Price>,
}

impl Daily {
    /// Records a new value of a statistic.
    pub(super) fn record(&mut self, statistic: DailyStatistic) {
        match statistic {
            DailyStatistic::Settlement(settlement) => self.record_settlement(settlement),
            DailyStatistic::OpenInterest(contracts) => self.open_interest = Some(contracts),
            DailyStatistic::ClearedVolume(contracts) => self.cleared_volume = Some(contracts),
            DailyStatistic::Fixing(price) => self.fixing = Some(price),
        }
    }

    /// Replaces the settlement of the same date and kind, or the oldest one. The new one is the
    /// last.
    fn record_settlement(&mut self, new: Settlement) {
        let is_same = |old: &Settlement| old.is_replaced_by(&new);
        let known = self.settlements.iter().flatten().position(is_same);
        let count = self.settlements.iter().flatten().count();
        if let Some(replaced) = known.or_else(|| (count == SETTLEMENTS_MAX).then_some(0)) {
            self.settlements[replaced..count].rotate_left(1);
            self.settlements[count - 1] = Some(new);
        } else {
            self.settlements[count] = Some(new);
        }
    }

    /// Iterates over the known statistics.
    pub(super) fn iter(self) -> impl Iterator<Item = DailyStatistic> {
        let settlements = self.settlements.into_iter().flatten().map(DailyStatistic::Settlement);
        settlements.chain(self.others())
    }

    /// Iterates over the known statistics with only the latest settlement, for messages without its
    /// kind.
    pub(super) fn latest(self) -> impl Iterator<Item = DailyStatistic> {
        let latest = self.settlements.into_iter().flatten().last();
        latest.map(DailyStatistic::Settlement).into_iter().chain(self.others())
    }

    fn others(self) -> impl Iterator<Item = DailyStatistic> {
        [
            self.open_interest.map(DailyStatistic::OpenInterest),
            self.cleared_volume.map(DailyStatistic::ClearedVolume),
            self.fixing.map(DailyStatistic::Fixing),
        ]
        .into_iter()
        .flatten()
    }
}

/// The price limits of an instrument; `None` means no limit.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The highest tradeable price (tag 1149).
    pub high: Option<Price>,
    /// The lowest tradeable price (tag 1148).
    pub low: Option<Price>,
    /// The maximum distance of a price from the last one (tag 1143).
    pub max_variation: Option<Price>,
}

#[cfg(test)]
mod tests {
    use hairpin_sbe::Decimal;

    use super::*;
    use crate::matching::PriceLevel;

    #[test]
    fn session_tracks_highest_bid_and_lowest_offer() {
        let mut session = Session::default();
        for (bid, offer) in
            [(Some(10), Some(15)), (Some(12), Some(17)), (Some(11), Some(14)), (None, None)]
        {
            let ladder = |price: Option<i64>| {
                let level = |price| PriceLevel { price: Decimal(price), quantity: 1, orders: 1 };
                Ladder::from_levels(price.map(level).into_iter())
            };
            session.record_book(&[ladder(bid), ladder(offer)]);
        }
        assert_eq!(session.highest_bid, Some(Decimal(12)));
        assert_eq!(session.lowest_offer, Some(Decimal(14)));
    }

    #[test]
    fn settlement_kind_has_final_and_actual_bits() {
        let kind = |final_price, actual| Settlement { final_price, actual, ..PRELIMINARY }.kind();
        let kinds = [(false, false), (true, false), (false, true), (true, true)];
        assert_eq!(kinds.map(|(final_price, actual)| kind(final_price, actual)), [0, 1, 2, 3]);
        assert_eq!(Settlement { rounded: true, ..PRELIMINARY }.kind(), 4);
        assert_eq!(Settlement { intraday: true, ..PRELIMINARY }.kind(), 8);
    }

    const PRELIMINARY: Settlement = Settlement {
        price: Decimal(1),
        final_price: false,
        actual: false,
        rounded: false,
        intraday: false,
        date: None,
    };

    #[test]
    fn settlement_replaces_the_one_of_its_date_and_kind() {
        let mut daily = Daily::default();
        let prices = |daily: &Daily| {
            daily
                .settlements
                .map(|settlement| settlement.map_or(0, |settlement| settlement.price.0))
        };
        let of = |price, final_price, date| Settlement {
            price: Decimal(price),
            final_price,
            date: Some(date),
            ..PRELIMINARY
        };
        daily.record_settlement(of(1, false, 10));
        daily.record_settlement(of(2, true, 10));
        // Actual or theoretical is not part of the kind.
        daily.record_settlement(Settlement { actual: true, ..of(3, false, 10) });
        assert_eq!(prices(&daily), [2, 3, 0, 0]);
        for (price, date) in [(4, 11), (5, 12), (6, 13)] {
            daily.record_settlement(of(price, true, date));
        }
        assert_eq!(prices(&daily), [3, 4, 5, 6]);
        let latest = daily.latest().next();
        assert_eq!(latest, Some(DailyStatistic::Settlement(of(6, true, 13))));
    }

    #[test]
    fn session_reports_changed_prices_only() {
        let mut session = Session::default();
        let mut published = session;
        let mut trade = |price| {
            session.record_trade(Decimal(price));
            let changes: Vec<_> = session.changes_since(published).collect();
            published = session;
            changes
        };
        use SessionStatistic::{High, Low, Open};
        let price = Decimal(10);
        assert_eq!(trade(10), [Open(price), High(price), Low(price)]);
        assert_eq!(trade(10), []);
        assert_eq!(trade(12), [High(Decimal(12))]);
        assert_eq!(trade(9), [Low(Decimal(9))]);
    }
}
