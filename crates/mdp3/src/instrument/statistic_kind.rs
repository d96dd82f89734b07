//! The kinds of statistics.

use hairpin_cme_codecs::mdp3::OpenCloseSettlFlag;

/// The kind of a statistic, by MDEntryType (269) and for some by OpenCloseSettlFlag (286).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum StatisticKind {
    /// `4`: the session's opening price.
    Open,
    /// `4` with flag 5: the indicative opening price.
    IndicativeOpen,
    /// `7`: the session's highest trade.
    High,
    /// `8`: the session's lowest trade.
    Low,
    /// `N`: the session's highest bid.
    HighestBid,
    /// `O`: the session's lowest offer.
    LowestOffer,
    /// `9`: the volume-weighted average price, of the day if the flag is 100.
    Vwap,
    /// `9` with flag 101: the average of a repo at 8:30.
    RepoAverage830,
    /// `9` with flag 102: the average of a repo at 10:00.
    RepoAverage10,
    /// `9` with flag 103: the average of a repo at 10:00 of the previous session.
    PreviousRepoAverage10,
    /// `e`: the session's electronic volume.
    Volume,
    /// `2`: the last trade.
    LastTrade,
    /// `6`: the settlement price; [`crate::StatisticValue::settlement_type`] has its kind.
    Settlement,
    /// `B`: the cleared volume of the previous trade date.
    ClearedVolume,
    /// `C`: the open interest of the previous trade date.
    OpenInterest,
    /// `W`: the fixing price.
    FixingPrice,
    /// HighLimitPrice (1149).
    HighLimit,
    /// LowLimitPrice (1148).
    LowLimit,
    /// MaxPriceVariation (1143).
    MaxPriceVariation,
    /// An entry type or flag that schema version 13 does not define: reported, not stored.
    Unknown,
}

/// The number of stored kinds: all but `Unknown`.
pub(crate) const KINDS: usize = StatisticKind::Unknown as usize;

/// The stored kinds, in numeric order.
pub(crate) const ALL: [StatisticKind; KINDS] = {
    use StatisticKind::*;
    [
        Open,
        IndicativeOpen,
        High,
        Low,
        HighestBid,
        LowestOffer,
        Vwap,
        RepoAverage830,
        RepoAverage10,
        PreviousRepoAverage10,
        Volume,
        LastTrade,
        Settlement,
        ClearedVolume,
        OpenInterest,
        FixingPrice,
        HighLimit,
        LowLimit,
        MaxPriceVariation,
    ]
};

/// The kinds that SecurityTradingEvent (1174) `ResetStatistics` clears: 4 with either flag, 7, 8,
/// N, O, e and 2 (CME's older wiki, "Session Statistics Reset"). Averages (9) are not among them.
pub(crate) const SESSION: [StatisticKind; 8] = {
    use StatisticKind::*;
    [Open, IndicativeOpen, High, Low, HighestBid, LowestOffer, Volume, LastTrade]
};

impl StatisticKind {
    /// Returns the kind of a message or snapshot entry, or `None` if the entry is not a statistic.
    pub(crate) fn from_entry(entry_type: u8, flag: Option<OpenCloseSettlFlag>) -> Option<Self> {
        Some(match entry_type {
            b'4' => match flag {
                None | Some(OpenCloseSettlFlag::DAILY_OPEN_PRICE) => Self::Open,
                Some(OpenCloseSettlFlag::INDICATIVE_OPENING_PRICE) => Self::IndicativeOpen,
                Some(_) => Self::Unknown,
            },
            b'7' => Self::High,
            b'8' => Self::Low,
            b'N' => Self::HighestBid,
            b'O' => Self::LowestOffer,
            b'9' => match flag {
                None | Some(OpenCloseSettlFlag::INTRADAY_VWAP) => Self::Vwap,
                Some(OpenCloseSettlFlag::REPO_AVERAGE8_30AM) => Self::RepoAverage830,
                Some(OpenCloseSettlFlag::REPO_AVERAGE10AM) => Self::RepoAverage10,
                Some(OpenCloseSettlFlag::PREV_SESSION_REPO_AVERAGE10AM) => {
                    Self::PreviousRepoAverage10
                }
                Some(_) => Self::Unknown,
            },
            b'e' => Self::Volume,
            b'2' => Self::LastTrade,
            b'6' => Self::Settlement,
            b'B' => Self::ClearedVolume,
            b'C' => Self::OpenInterest,
            b'W' => Self::FixingPrice,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use StatisticKind::*;

    #[test]
    fn flag_distinguishes_prices_of_one_type() {
        let kind = |flag: Option<u8>| StatisticKind::from_entry(b'9', flag.map(OpenCloseSettlFlag));
        let kinds = [None, Some(100), Some(101), Some(102), Some(103), Some(7)].map(kind);
        let expected = [Vwap, Vwap, RepoAverage830, RepoAverage10, PreviousRepoAverage10, Unknown];
        assert_eq!(kinds, expected.map(Some));
        let open = |flag: Option<u8>| StatisticKind::from_entry(b'4', flag.map(OpenCloseSettlFlag));
        assert_eq!([None, Some(0), Some(5)].map(open), [Open, Open, IndicativeOpen].map(Some));
        assert_eq!(StatisticKind::from_entry(b'0', None), None, "a bid is not a statistic");
    }
}
