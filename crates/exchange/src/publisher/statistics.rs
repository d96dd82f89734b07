//! What is said of an instrument beside its books: of the session, of the day, its limits.

use crate::Price;
use crate::matching::Side;

use super::Ladder;

/// What has been published of an instrument beside its books. Nothing of it is known at first.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Statistics {
    /// Of the trading session (templates 51 and 67).
    pub session: Session,
    /// Of the day (template 49).
    pub daily: Daily,
    /// Price limits (template 50).
    pub limits: Limits,
}

/// Prices of the session, as its trades and books have made them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    /// Of the first trade (entry type 4, flag 0).
    pub open: Option<Price>,
    /// The highest of a trade (entry type 7).
    pub high: Option<Price>,
    /// The lowest of a trade (entry type 8).
    pub low: Option<Price>,
    /// The highest bid that was published (entry type N).
    pub highest_bid: Option<Price>,
    /// The lowest offer that was published (entry type O).
    pub lowest_offer: Option<Price>,
}

/// One price of a [`Session`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionStatistic {
    Open(Price),
    High(Price),
    Low(Price),
    HighestBid(Price),
    LowestOffer(Price),
}

impl SessionStatistic {
    /// How many kinds there are.
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
    /// A trade at this price.
    pub(super) fn note_trade(&mut self, price: Price) {
        self.open.get_or_insert(price);
        self.high = Some(self.high.map_or(price, |high| high.max(price)));
        self.low = Some(self.low.map_or(price, |low| low.min(price)));
    }

    /// The best prices of a book.
    pub(super) fn note_book(&mut self, [bids, offers]: &[Ladder; 2]) {
        for (side, ladder) in Side::BOTH.into_iter().zip([bids, offers]) {
            let known = match side {
                Side::Bid => &mut self.highest_bid,
                Side::Offer => &mut self.lowest_offer,
            };
            if let Some(level) = ladder.levels().first()
                && known.is_none_or(|known| side.is_better(level.price, known))
            {
                *known = Some(level.price);
            }
        }
    }

    /// What there is.
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

    /// What there is and is not the same in `published`.
    pub(super) fn beyond(self, published: Self) -> impl Iterator<Item = SessionStatistic> {
        self.iter().filter(move |new| !published.iter().any(|known| known == *new))
    }
}

/// One statistic of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DailyStatistic {
    /// The settlement price (entry type 6).
    Settlement(Settlement),
    /// Contracts open at the end of the day before (entry type C).
    OpenInterest(u32),
    /// Contracts cleared on the day before (entry type B).
    ClearedVolume(u32),
    /// The price that the day was fixed at (entry type W).
    Fixing(Price),
}

/// A settlement price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settlement {
    /// The price.
    pub price: Price,
    /// Final (bit 0x01 of tag 731), else preliminary.
    pub is_final: bool,
    /// Actual (bit 0x02), else theoretical.
    pub is_actual: bool,
}

impl Settlement {
    /// Tag 731.
    pub(super) const fn kind(self) -> u8 {
        self.is_final as u8 | (self.is_actual as u8) << 1
    }
}

/// The statistics of the day that are known.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Daily {
    /// The settlement price.
    pub settlement: Option<Settlement>,
    /// Contracts open.
    pub open_interest: Option<u32>,
    /// Contracts cleared.
    pub cleared_volume: Option<u32>,
    /// The fixing.
    pub fixing: Option<Price>,
}

impl Daily {
    /// A statistic has another value.
    pub(super) fn note(&mut self, statistic: DailyStatistic) {
        match statistic {
            DailyStatistic::Settlement(settlement) => self.settlement = Some(settlement),
            DailyStatistic::OpenInterest(contracts) => self.open_interest = Some(contracts),
            DailyStatistic::ClearedVolume(contracts) => self.cleared_volume = Some(contracts),
            DailyStatistic::Fixing(price) => self.fixing = Some(price),
        }
    }

    /// What there is.
    pub(super) fn iter(self) -> impl Iterator<Item = DailyStatistic> {
        [
            self.settlement.map(DailyStatistic::Settlement),
            self.open_interest.map(DailyStatistic::OpenInterest),
            self.cleared_volume.map(DailyStatistic::ClearedVolume),
            self.fixing.map(DailyStatistic::Fixing),
        ]
        .into_iter()
        .flatten()
    }
}

/// Limits of an instrument's price; `None` where there is none.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The highest price that may be traded (tag 1149).
    pub high: Option<Price>,
    /// The lowest (tag 1148).
    pub low: Option<Price>,
    /// How far a price may be from the last (tag 1143).
    pub max_variation: Option<Price>,
}

#[cfg(test)]
mod tests {
    use hairpin_sbe::Decimal;

    use super::*;
    use crate::matching::PriceLevel;

    #[test]
    fn a_session_keeps_the_highest_bid_and_the_lowest_offer() {
        let mut session = Session::default();
        for (bid, offer) in
            [(Some(10), Some(15)), (Some(12), Some(17)), (Some(11), Some(14)), (None, None)]
        {
            let ladder = |price: Option<i64>| {
                let level = |price| PriceLevel { price: Decimal(price), quantity: 1, orders: 1 };
                Ladder::of(price.map(level).into_iter())
            };
            session.note_book(&[ladder(bid), ladder(offer)]);
        }
        assert_eq!(session.highest_bid, Some(Decimal(12)));
        assert_eq!(session.lowest_offer, Some(Decimal(14)));
    }

    #[test]
    fn a_settlement_says_whether_it_is_final_and_whether_it_is_actual() {
        let kind =
            |is_final, is_actual| Settlement { price: Decimal(1), is_final, is_actual }.kind();
        let kinds = [(false, false), (true, false), (false, true), (true, true)];
        assert_eq!(kinds.map(|(is_final, is_actual)| kind(is_final, is_actual)), [0, 1, 2, 3]);
    }

    #[test]
    fn a_session_tells_what_trades_have_moved_and_nothing_else() {
        let mut session = Session::default();
        let mut published = session;
        let mut trade = |price| {
            session.note_trade(Decimal(price));
            let told: Vec<_> = session.beyond(published).collect();
            published = session;
            told
        };
        use SessionStatistic::{High, Low, Open};
        let price = Decimal(10);
        assert_eq!(trade(10), [Open(price), High(price), Low(price)]);
        assert_eq!(trade(10), []);
        assert_eq!(trade(12), [High(Decimal(12))]);
        assert_eq!(trade(9), [Low(Decimal(9))]);
    }
}
