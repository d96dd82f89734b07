//! The kinds of statistics.

use hairpin_cme_codecs::mdp3::OpenCloseSettlFlag;

/// Which statistic, by MDEntryType (269) and, of some, OpenCloseSettlFlag (286).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum StatisticKind {
    /// `4`: the session's opening price.
    Open,
    /// `4` with flag 5: where the session would open now.
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
    /// `9` with flag 101: the average of a repo as of 8:30.
    RepoAverage830,
    /// `9` with flag 102: the average of a repo as of 10:00.
    RepoAverage10,
    /// `9` with flag 103: the average of a repo as of 10:00 of the session before.
    PreviousRepoAverage10,
    /// `e`: the session's electronic volume.
    Volume,
    /// `2`: the last trade.
    LastTrade,
    /// `6`: the settlement price, whose kind [`crate::StatisticValue::settlement_type`] says.
    Settlement,
    /// `B`: what was cleared of the trade date before.
    ClearedVolume,
    /// `C`: open interest of the trade date before.
    OpenInterest,
    /// `W`: the fixing price.
    FixingPrice,
    /// HighLimitPrice (1149).
    HighLimit,
    /// LowLimitPrice (1148).
    LowLimit,
    /// MaxPriceVariation (1143).
    MaxPriceVariation,
    /// An entry type or flag that schema version 13 does not have: told, not kept.
    Unknown,
}

/// How many kinds are kept: all but `Unknown`.
pub(crate) const KINDS: usize = StatisticKind::Unknown as usize;

/// Those that are kept, in the order of their numbers.
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

/// What begins anew with a session: `Open` to `Volume`.
pub(crate) const SESSION: core::ops::RangeInclusive<usize> =
    StatisticKind::Open as usize..=StatisticKind::Volume as usize;

impl StatisticKind {
    /// The kind of an entry, of a message or a snapshot; `None` if it is no statistic's.
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
    fn the_flag_tells_prices_of_one_type_apart() {
        let kind = |flag: Option<u8>| StatisticKind::from_entry(b'9', flag.map(OpenCloseSettlFlag));
        let kinds = [None, Some(100), Some(101), Some(102), Some(103), Some(7)].map(kind);
        let expected = [Vwap, Vwap, RepoAverage830, RepoAverage10, PreviousRepoAverage10, Unknown];
        assert_eq!(kinds, expected.map(Some));
        let open = |flag: Option<u8>| StatisticKind::from_entry(b'4', flag.map(OpenCloseSettlFlag));
        assert_eq!([None, Some(0), Some(5)].map(open), [Open, Open, IndicativeOpen].map(Some));
        assert_eq!(StatisticKind::from_entry(b'0', None), None, "a bid is no statistic");
    }
}
