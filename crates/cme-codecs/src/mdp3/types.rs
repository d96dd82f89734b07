//! Enumerations, sets and decimals. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use hairpin_sbe::{Decimal, Named};

/// Decimal in units of 10^-9.
pub type Price9 = Decimal<-9>;
/// The decimal with this mantissa.
#[allow(non_snake_case)]
#[inline] pub const fn Price9(mantissa: i64) -> Price9 { Decimal(mantissa) }

/// Decimal in units of 10^-4.
pub type DecimalQty = Decimal<-4>;
/// The decimal with this mantissa.
#[allow(non_snake_case)]
#[inline] pub const fn DecimalQty(mantissa: i64) -> DecimalQty { Decimal(mantissa) }

/// AggressorFlag, one of the named values or another in a `u8`, since version 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AggressorFlag(
    /// As on the wire.
    pub u8,
);

impl AggressorFlag {
    /// NotAggressor.
    pub const NOT_AGGRESSOR: Self = Self(0);
    /// Aggressor.
    pub const AGGRESSOR: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "NotAggressor", value: 0, since: 0 },
        Named { name: "Aggressor", value: 1, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// AggressorSide, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AggressorSide(
    /// As on the wire.
    pub u8,
);

impl AggressorSide {
    /// NoAggressor.
    pub const NO_AGGRESSOR: Self = Self(0);
    /// Buy.
    pub const BUY: Self = Self(1);
    /// Sell.
    pub const SELL: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "NoAggressor", value: 0, since: 0 },
        Named { name: "Buy", value: 1, since: 0 },
        Named { name: "Sell", value: 2, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// EventType, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventType(
    /// As on the wire.
    pub u8,
);

impl EventType {
    /// Activation.
    pub const ACTIVATION: Self = Self(5);
    /// LastEligibleTradeDate.
    pub const LAST_ELIGIBLE_TRADE_DATE: Self = Self(7);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Activation", value: 5, since: 0 },
        Named { name: "LastEligibleTradeDate", value: 7, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// HaltReason, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HaltReason(
    /// As on the wire.
    pub u8,
);

impl HaltReason {
    /// GroupSchedule.
    pub const GROUP_SCHEDULE: Self = Self(0);
    /// SurveillanceIntervention.
    pub const SURVEILLANCE_INTERVENTION: Self = Self(1);
    /// MarketEvent.
    pub const MARKET_EVENT: Self = Self(2);
    /// InstrumentActivation.
    pub const INSTRUMENT_ACTIVATION: Self = Self(3);
    /// InstrumentExpiration.
    pub const INSTRUMENT_EXPIRATION: Self = Self(4);
    /// Unknown.
    pub const UNKNOWN: Self = Self(5);
    /// RecoveryInProcess, since version 3.
    pub const RECOVERY_IN_PROCESS: Self = Self(6);
    /// TradeDateRoll, since version 12.
    pub const TRADE_DATE_ROLL: Self = Self(7);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "GroupSchedule", value: 0, since: 0 },
        Named { name: "SurveillanceIntervention", value: 1, since: 0 },
        Named { name: "MarketEvent", value: 2, since: 0 },
        Named { name: "InstrumentActivation", value: 3, since: 0 },
        Named { name: "InstrumentExpiration", value: 4, since: 0 },
        Named { name: "Unknown", value: 5, since: 0 },
        Named { name: "RecoveryInProcess", value: 6, since: 3 },
        Named { name: "TradeDateRoll", value: 7, since: 12 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// InstAttribValue, a set of bits in a `u32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct InstAttribValue(
    /// As on the wire.
    pub u32,
);

impl InstAttribValue {
    /// ElectronicMatchEligible.
    pub const ELECTRONIC_MATCH_ELIGIBLE: Self = Self(1 << 0);
    /// OrderCrossEligible.
    pub const ORDER_CROSS_ELIGIBLE: Self = Self(1 << 1);
    /// BlockTradeEligible.
    pub const BLOCK_TRADE_ELIGIBLE: Self = Self(1 << 2);
    /// EFPEligible.
    pub const EFP_ELIGIBLE: Self = Self(1 << 3);
    /// EBFEligible.
    pub const EBF_ELIGIBLE: Self = Self(1 << 4);
    /// EFSEligible.
    pub const EFS_ELIGIBLE: Self = Self(1 << 5);
    /// EFREligible.
    pub const EFR_ELIGIBLE: Self = Self(1 << 6);
    /// OTCEligible.
    pub const OTC_ELIGIBLE: Self = Self(1 << 7);
    /// iLinkIndicativeMassQuotingEligible.
    pub const I_LINK_INDICATIVE_MASS_QUOTING_ELIGIBLE: Self = Self(1 << 8);
    /// NegativeStrikeEligible.
    pub const NEGATIVE_STRIKE_ELIGIBLE: Self = Self(1 << 9);
    /// NegativePriceOutrightEligible.
    pub const NEGATIVE_PRICE_OUTRIGHT_ELIGIBLE: Self = Self(1 << 10);
    /// IsFractional.
    pub const IS_FRACTIONAL: Self = Self(1 << 11);
    /// VolatilityQuotedOption.
    pub const VOLATILITY_QUOTED_OPTION: Self = Self(1 << 12);
    /// RFQCrossEligible.
    pub const RFQ_CROSS_ELIGIBLE: Self = Self(1 << 13);
    /// ZeroPriceOutrightEligible.
    pub const ZERO_PRICE_OUTRIGHT_ELIGIBLE: Self = Self(1 << 14);
    /// DecayingProductEligibility.
    pub const DECAYING_PRODUCT_ELIGIBILITY: Self = Self(1 << 15);
    /// VariableProductEligibility.
    pub const VARIABLE_PRODUCT_ELIGIBILITY: Self = Self(1 << 16);
    /// DailyProductEligibility.
    pub const DAILY_PRODUCT_ELIGIBILITY: Self = Self(1 << 17);
    /// GTOrdersEligibility.
    pub const GT_ORDERS_ELIGIBILITY: Self = Self(1 << 18);
    /// ImpliedMatchingEligibility.
    pub const IMPLIED_MATCHING_ELIGIBILITY: Self = Self(1 << 19);
    /// TriangulationEligible, since version 9.
    pub const TRIANGULATION_ELIGIBLE: Self = Self(1 << 20);
    /// VariableCabEligible, since version 9.
    pub const VARIABLE_CAB_ELIGIBLE: Self = Self(1 << 21);
    /// InvertedBook, since version 10.
    pub const INVERTED_BOOK: Self = Self(1 << 22);
    /// IsAoNInstrument, since version 10.
    pub const IS_AO_N_INSTRUMENT: Self = Self(1 << 23);
    /// SEFRegulated, since version 12.
    pub const SEF_REGULATED: Self = Self(1 << 24);
    /// MTFRegulated, since version 12.
    pub const MTF_REGULATED: Self = Self(1 << 25);
    /// eFIXInstrument, since version 12.
    pub const E_FIX_INSTRUMENT: Self = Self(1 << 26);
    /// HedgeInstrument, since version 12.
    pub const HEDGE_INSTRUMENT: Self = Self(1 << 27);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "ElectronicMatchEligible", value: 0, since: 0 },
        Named { name: "OrderCrossEligible", value: 1, since: 0 },
        Named { name: "BlockTradeEligible", value: 2, since: 0 },
        Named { name: "EFPEligible", value: 3, since: 0 },
        Named { name: "EBFEligible", value: 4, since: 0 },
        Named { name: "EFSEligible", value: 5, since: 0 },
        Named { name: "EFREligible", value: 6, since: 0 },
        Named { name: "OTCEligible", value: 7, since: 0 },
        Named { name: "iLinkIndicativeMassQuotingEligible", value: 8, since: 0 },
        Named { name: "NegativeStrikeEligible", value: 9, since: 0 },
        Named { name: "NegativePriceOutrightEligible", value: 10, since: 0 },
        Named { name: "IsFractional", value: 11, since: 0 },
        Named { name: "VolatilityQuotedOption", value: 12, since: 0 },
        Named { name: "RFQCrossEligible", value: 13, since: 0 },
        Named { name: "ZeroPriceOutrightEligible", value: 14, since: 0 },
        Named { name: "DecayingProductEligibility", value: 15, since: 0 },
        Named { name: "VariableProductEligibility", value: 16, since: 0 },
        Named { name: "DailyProductEligibility", value: 17, since: 0 },
        Named { name: "GTOrdersEligibility", value: 18, since: 0 },
        Named { name: "ImpliedMatchingEligibility", value: 19, since: 0 },
        Named { name: "TriangulationEligible", value: 20, since: 9 },
        Named { name: "VariableCabEligible", value: 21, since: 9 },
        Named { name: "InvertedBook", value: 22, since: 10 },
        Named { name: "IsAoNInstrument", value: 23, since: 10 },
        Named { name: "SEFRegulated", value: 24, since: 12 },
        Named { name: "MTFRegulated", value: 25, since: 12 },
        Named { name: "eFIXInstrument", value: 26, since: 12 },
        Named { name: "HedgeInstrument", value: 27, since: 12 },
    ];
    /// Whether all bits of `other` are set.
    #[inline] pub const fn contains(self, other: Self) -> bool { self.0 & other.0 == other.0 }
}

impl core::ops::BitOr for InstAttribValue {
    type Output = Self;
    #[inline] fn bitor(self, other: Self) -> Self { Self(self.0 | other.0) }
}

/// LegSide, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LegSide(
    /// As on the wire.
    pub u8,
);

impl LegSide {
    /// BuySide.
    pub const BUY_SIDE: Self = Self(1);
    /// SellSide.
    pub const SELL_SIDE: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "BuySide", value: 1, since: 0 },
        Named { name: "SellSide", value: 2, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MDEntryType, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MDEntryType(
    /// As on the wire.
    pub u8,
);

impl MDEntryType {
    /// Bid.
    pub const BID: Self = Self(b'0');
    /// Offer.
    pub const OFFER: Self = Self(b'1');
    /// Trade.
    pub const TRADE: Self = Self(b'2');
    /// OpenPrice.
    pub const OPEN_PRICE: Self = Self(b'4');
    /// SettlementPrice.
    pub const SETTLEMENT_PRICE: Self = Self(b'6');
    /// TradingSessionHighPrice.
    pub const TRADING_SESSION_HIGH_PRICE: Self = Self(b'7');
    /// TradingSessionLowPrice.
    pub const TRADING_SESSION_LOW_PRICE: Self = Self(b'8');
    /// VWAP, since version 10.
    pub const VWAP: Self = Self(b'9');
    /// ClearedVolume.
    pub const CLEARED_VOLUME: Self = Self(b'B');
    /// OpenInterest.
    pub const OPEN_INTEREST: Self = Self(b'C');
    /// ImpliedBid.
    pub const IMPLIED_BID: Self = Self(b'E');
    /// ImpliedOffer.
    pub const IMPLIED_OFFER: Self = Self(b'F');
    /// BookReset.
    pub const BOOK_RESET: Self = Self(b'J');
    /// SessionHighBid.
    pub const SESSION_HIGH_BID: Self = Self(b'N');
    /// SessionLowOffer.
    pub const SESSION_LOW_OFFER: Self = Self(b'O');
    /// FixingPrice.
    pub const FIXING_PRICE: Self = Self(b'W');
    /// ElectronicVolume.
    pub const ELECTRONIC_VOLUME: Self = Self(b'e');
    /// ThresholdLimitsandPriceBandVariation.
    pub const THRESHOLD_LIMITSAND_PRICE_BAND_VARIATION: Self = Self(b'g');
    /// MarketBestOffer, since version 12.
    pub const MARKET_BEST_OFFER: Self = Self(b'w');
    /// MarketBestBid, since version 12.
    pub const MARKET_BEST_BID: Self = Self(b'x');
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Bid", value: 48, since: 0 },
        Named { name: "Offer", value: 49, since: 0 },
        Named { name: "Trade", value: 50, since: 0 },
        Named { name: "OpenPrice", value: 52, since: 0 },
        Named { name: "SettlementPrice", value: 54, since: 0 },
        Named { name: "TradingSessionHighPrice", value: 55, since: 0 },
        Named { name: "TradingSessionLowPrice", value: 56, since: 0 },
        Named { name: "VWAP", value: 57, since: 10 },
        Named { name: "ClearedVolume", value: 66, since: 0 },
        Named { name: "OpenInterest", value: 67, since: 0 },
        Named { name: "ImpliedBid", value: 69, since: 0 },
        Named { name: "ImpliedOffer", value: 70, since: 0 },
        Named { name: "BookReset", value: 74, since: 0 },
        Named { name: "SessionHighBid", value: 78, since: 0 },
        Named { name: "SessionLowOffer", value: 79, since: 0 },
        Named { name: "FixingPrice", value: 87, since: 0 },
        Named { name: "ElectronicVolume", value: 101, since: 0 },
        Named { name: "ThresholdLimitsandPriceBandVariation", value: 103, since: 0 },
        Named { name: "MarketBestOffer", value: 119, since: 12 },
        Named { name: "MarketBestBid", value: 120, since: 12 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MDEntryTypeBook, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MDEntryTypeBook(
    /// As on the wire.
    pub u8,
);

impl MDEntryTypeBook {
    /// Bid.
    pub const BID: Self = Self(b'0');
    /// Offer.
    pub const OFFER: Self = Self(b'1');
    /// ImpliedBid.
    pub const IMPLIED_BID: Self = Self(b'E');
    /// ImpliedOffer.
    pub const IMPLIED_OFFER: Self = Self(b'F');
    /// BookReset.
    pub const BOOK_RESET: Self = Self(b'J');
    /// MarketBestOffer, since version 12.
    pub const MARKET_BEST_OFFER: Self = Self(b'w');
    /// MarketBestBid, since version 12.
    pub const MARKET_BEST_BID: Self = Self(b'x');
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Bid", value: 48, since: 0 },
        Named { name: "Offer", value: 49, since: 0 },
        Named { name: "ImpliedBid", value: 69, since: 0 },
        Named { name: "ImpliedOffer", value: 70, since: 0 },
        Named { name: "BookReset", value: 74, since: 0 },
        Named { name: "MarketBestOffer", value: 119, since: 12 },
        Named { name: "MarketBestBid", value: 120, since: 12 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MDEntryTypeDailyStatistics, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MDEntryTypeDailyStatistics(
    /// As on the wire.
    pub u8,
);

impl MDEntryTypeDailyStatistics {
    /// SettlementPrice.
    pub const SETTLEMENT_PRICE: Self = Self(b'6');
    /// ClearedVolume.
    pub const CLEARED_VOLUME: Self = Self(b'B');
    /// OpenInterest.
    pub const OPEN_INTEREST: Self = Self(b'C');
    /// FixingPrice.
    pub const FIXING_PRICE: Self = Self(b'W');
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "SettlementPrice", value: 54, since: 0 },
        Named { name: "ClearedVolume", value: 66, since: 0 },
        Named { name: "OpenInterest", value: 67, since: 0 },
        Named { name: "FixingPrice", value: 87, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MDEntryTypeStatistics, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MDEntryTypeStatistics(
    /// As on the wire.
    pub u8,
);

impl MDEntryTypeStatistics {
    /// OpenPrice.
    pub const OPEN_PRICE: Self = Self(b'4');
    /// HighTrade.
    pub const HIGH_TRADE: Self = Self(b'7');
    /// LowTrade.
    pub const LOW_TRADE: Self = Self(b'8');
    /// VWAP, since version 10.
    pub const VWAP: Self = Self(b'9');
    /// HighestBid.
    pub const HIGHEST_BID: Self = Self(b'N');
    /// LowestOffer.
    pub const LOWEST_OFFER: Self = Self(b'O');
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "OpenPrice", value: 52, since: 0 },
        Named { name: "HighTrade", value: 55, since: 0 },
        Named { name: "LowTrade", value: 56, since: 0 },
        Named { name: "VWAP", value: 57, since: 10 },
        Named { name: "HighestBid", value: 78, since: 0 },
        Named { name: "LowestOffer", value: 79, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MDUpdateAction, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MDUpdateAction(
    /// As on the wire.
    pub u8,
);

impl MDUpdateAction {
    /// New.
    pub const NEW: Self = Self(0);
    /// Change.
    pub const CHANGE: Self = Self(1);
    /// Delete.
    pub const DELETE: Self = Self(2);
    /// DeleteThru.
    pub const DELETE_THRU: Self = Self(3);
    /// DeleteFrom.
    pub const DELETE_FROM: Self = Self(4);
    /// Overlay.
    pub const OVERLAY: Self = Self(5);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "New", value: 0, since: 0 },
        Named { name: "Change", value: 1, since: 0 },
        Named { name: "Delete", value: 2, since: 0 },
        Named { name: "DeleteThru", value: 3, since: 0 },
        Named { name: "DeleteFrom", value: 4, since: 0 },
        Named { name: "Overlay", value: 5, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MatchEventIndicator, a set of bits in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MatchEventIndicator(
    /// As on the wire.
    pub u8,
);

impl MatchEventIndicator {
    /// LastTradeMsg.
    pub const LAST_TRADE_MSG: Self = Self(1 << 0);
    /// LastVolumeMsg.
    pub const LAST_VOLUME_MSG: Self = Self(1 << 1);
    /// LastQuoteMsg.
    pub const LAST_QUOTE_MSG: Self = Self(1 << 2);
    /// LastStatsMsg.
    pub const LAST_STATS_MSG: Self = Self(1 << 3);
    /// LastImpliedMsg.
    pub const LAST_IMPLIED_MSG: Self = Self(1 << 4);
    /// RecoveryMsg.
    pub const RECOVERY_MSG: Self = Self(1 << 5);
    /// Reserved.
    pub const RESERVED: Self = Self(1 << 6);
    /// EndOfEvent.
    pub const END_OF_EVENT: Self = Self(1 << 7);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "LastTradeMsg", value: 0, since: 0 },
        Named { name: "LastVolumeMsg", value: 1, since: 0 },
        Named { name: "LastQuoteMsg", value: 2, since: 0 },
        Named { name: "LastStatsMsg", value: 3, since: 0 },
        Named { name: "LastImpliedMsg", value: 4, since: 0 },
        Named { name: "RecoveryMsg", value: 5, since: 0 },
        Named { name: "Reserved", value: 6, since: 0 },
        Named { name: "EndOfEvent", value: 7, since: 0 },
    ];
    /// Whether all bits of `other` are set.
    #[inline] pub const fn contains(self, other: Self) -> bool { self.0 & other.0 == other.0 }
}

impl core::ops::BitOr for MatchEventIndicator {
    type Output = Self;
    #[inline] fn bitor(self, other: Self) -> Self { Self(self.0 | other.0) }
}

/// MoneyOrPar, one of the named values or another in a `u8`, since version 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MoneyOrPar(
    /// As on the wire.
    pub u8,
);

impl MoneyOrPar {
    /// Money.
    pub const MONEY: Self = Self(1);
    /// Par.
    pub const PAR: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Money", value: 1, since: 0 },
        Named { name: "Par", value: 2, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// OpenCloseSettlFlag, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpenCloseSettlFlag(
    /// As on the wire.
    pub u8,
);

impl OpenCloseSettlFlag {
    /// DailyOpenPrice.
    pub const DAILY_OPEN_PRICE: Self = Self(0);
    /// IndicativeOpeningPrice.
    pub const INDICATIVE_OPENING_PRICE: Self = Self(5);
    /// IntradayVWAP, since version 10.
    pub const INTRADAY_VWAP: Self = Self(100);
    /// RepoAverage8_30AM, since version 10.
    pub const REPO_AVERAGE8_30AM: Self = Self(101);
    /// RepoAverage10AM, since version 10.
    pub const REPO_AVERAGE10AM: Self = Self(102);
    /// PrevSessionRepoAverage10AM, since version 10.
    pub const PREV_SESSION_REPO_AVERAGE10AM: Self = Self(103);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "DailyOpenPrice", value: 0, since: 0 },
        Named { name: "IndicativeOpeningPrice", value: 5, since: 0 },
        Named { name: "IntradayVWAP", value: 100, since: 10 },
        Named { name: "RepoAverage8_30AM", value: 101, since: 10 },
        Named { name: "RepoAverage10AM", value: 102, since: 10 },
        Named { name: "PrevSessionRepoAverage10AM", value: 103, since: 10 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// OrderUpdateAction, one of the named values or another in a `u8`, since version 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderUpdateAction(
    /// As on the wire.
    pub u8,
);

impl OrderUpdateAction {
    /// New.
    pub const NEW: Self = Self(0);
    /// Update.
    pub const UPDATE: Self = Self(1);
    /// Delete.
    pub const DELETE: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "New", value: 0, since: 0 },
        Named { name: "Update", value: 1, since: 0 },
        Named { name: "Delete", value: 2, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// PriceSource, one of the named values or another in a `u8`, since version 11.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PriceSource(
    /// As on the wire.
    pub u8,
);

impl PriceSource {
    /// MarketPlaceAssistant.
    pub const MARKET_PLACE_ASSISTANT: Self = Self(0);
    /// Globex.
    pub const GLOBEX: Self = Self(1);
    /// Refinitiv.
    pub const REFINITIV: Self = Self(2);
    /// ICAP.
    pub const ICAP: Self = Self(3);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "MarketPlaceAssistant", value: 0, since: 0 },
        Named { name: "Globex", value: 1, since: 0 },
        Named { name: "Refinitiv", value: 2, since: 0 },
        Named { name: "ICAP", value: 3, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// PutOrCall, one of the named values or another in a `u8`, since version 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PutOrCall(
    /// As on the wire.
    pub u8,
);

impl PutOrCall {
    /// Put.
    pub const PUT: Self = Self(0);
    /// Call.
    pub const CALL: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Put", value: 0, since: 0 },
        Named { name: "Call", value: 1, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// RepoSubType, one of the named values or another in a `u8`, since version 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoSubType(
    /// As on the wire.
    pub u8,
);

impl RepoSubType {
    /// Special.
    pub const SPECIAL: Self = Self(0);
    /// GC.
    pub const GC: Self = Self(1);
    /// GCForDBV.
    pub const GC_FOR_DBV: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Special", value: 0, since: 0 },
        Named { name: "GC", value: 1, since: 0 },
        Named { name: "GCForDBV", value: 2, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SecurityAltIDSource, one of the named values or another in a `u8`, since version 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecurityAltIDSource(
    /// As on the wire.
    pub u8,
);

impl SecurityAltIDSource {
    /// CUSIP.
    pub const CUSIP: Self = Self(1);
    /// ISIN.
    pub const ISIN: Self = Self(4);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "CUSIP", value: 1, since: 0 },
        Named { name: "ISIN", value: 4, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SecurityTradingEvent, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecurityTradingEvent(
    /// As on the wire.
    pub u8,
);

impl SecurityTradingEvent {
    /// NoEvent.
    pub const NO_EVENT: Self = Self(0);
    /// NoCancel.
    pub const NO_CANCEL: Self = Self(1);
    /// ResetStatistics.
    pub const RESET_STATISTICS: Self = Self(4);
    /// ImpliedMatchingON.
    pub const IMPLIED_MATCHING_ON: Self = Self(5);
    /// ImpliedMatchingOFF.
    pub const IMPLIED_MATCHING_OFF: Self = Self(6);
    /// EndOfWorkup, since version 10.
    pub const END_OF_WORKUP: Self = Self(7);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "NoEvent", value: 0, since: 0 },
        Named { name: "NoCancel", value: 1, since: 0 },
        Named { name: "ResetStatistics", value: 4, since: 0 },
        Named { name: "ImpliedMatchingON", value: 5, since: 0 },
        Named { name: "ImpliedMatchingOFF", value: 6, since: 0 },
        Named { name: "EndOfWorkup", value: 7, since: 10 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SecurityTradingStatus, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecurityTradingStatus(
    /// As on the wire.
    pub u8,
);

impl SecurityTradingStatus {
    /// TradingHalt.
    pub const TRADING_HALT: Self = Self(2);
    /// Close.
    pub const CLOSE: Self = Self(4);
    /// NewPriceIndication.
    pub const NEW_PRICE_INDICATION: Self = Self(15);
    /// ReadyToTrade.
    pub const READY_TO_TRADE: Self = Self(17);
    /// NotAvailableForTrading.
    pub const NOT_AVAILABLE_FOR_TRADING: Self = Self(18);
    /// UnknownorInvalid.
    pub const UNKNOWNOR_INVALID: Self = Self(20);
    /// PreOpen.
    pub const PRE_OPEN: Self = Self(21);
    /// PreCross.
    pub const PRE_CROSS: Self = Self(24);
    /// Cross.
    pub const CROSS: Self = Self(25);
    /// PostClose.
    pub const POST_CLOSE: Self = Self(26);
    /// NoChange.
    pub const NO_CHANGE: Self = Self(103);
    /// PrivateWorkup, since version 11.
    pub const PRIVATE_WORKUP: Self = Self(201);
    /// PublicWorkup, since version 11.
    pub const PUBLIC_WORKUP: Self = Self(202);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "TradingHalt", value: 2, since: 0 },
        Named { name: "Close", value: 4, since: 0 },
        Named { name: "NewPriceIndication", value: 15, since: 0 },
        Named { name: "ReadyToTrade", value: 17, since: 0 },
        Named { name: "NotAvailableForTrading", value: 18, since: 0 },
        Named { name: "UnknownorInvalid", value: 20, since: 0 },
        Named { name: "PreOpen", value: 21, since: 0 },
        Named { name: "PreCross", value: 24, since: 0 },
        Named { name: "Cross", value: 25, since: 0 },
        Named { name: "PostClose", value: 26, since: 0 },
        Named { name: "NoChange", value: 103, since: 0 },
        Named { name: "PrivateWorkup", value: 201, since: 11 },
        Named { name: "PublicWorkup", value: 202, since: 11 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SecurityUpdateAction, one of the named values or another in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecurityUpdateAction(
    /// As on the wire.
    pub u8,
);

impl SecurityUpdateAction {
    /// Add.
    pub const ADD: Self = Self(b'A');
    /// Delete.
    pub const DELETE: Self = Self(b'D');
    /// Modify.
    pub const MODIFY: Self = Self(b'M');
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Add", value: 65, since: 0 },
        Named { name: "Delete", value: 68, since: 0 },
        Named { name: "Modify", value: 77, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SettlPriceType, a set of bits in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SettlPriceType(
    /// As on the wire.
    pub u8,
);

impl SettlPriceType {
    /// FinalDaily.
    pub const FINAL_DAILY: Self = Self(1 << 0);
    /// Actual.
    pub const ACTUAL: Self = Self(1 << 1);
    /// Rounded.
    pub const ROUNDED: Self = Self(1 << 2);
    /// Intraday, since version 4.
    pub const INTRADAY: Self = Self(1 << 3);
    /// ReservedBits.
    pub const RESERVED_BITS: Self = Self(1 << 4);
    /// NullValue.
    pub const NULL_VALUE: Self = Self(1 << 7);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "FinalDaily", value: 0, since: 0 },
        Named { name: "Actual", value: 1, since: 0 },
        Named { name: "Rounded", value: 2, since: 0 },
        Named { name: "Intraday", value: 3, since: 4 },
        Named { name: "ReservedBits", value: 4, since: 0 },
        Named { name: "NullValue", value: 7, since: 0 },
    ];
    /// Whether all bits of `other` are set.
    #[inline] pub const fn contains(self, other: Self) -> bool { self.0 & other.0 == other.0 }
}

impl core::ops::BitOr for SettlPriceType {
    type Output = Self;
    #[inline] fn bitor(self, other: Self) -> Self { Self(self.0 | other.0) }
}

/// Side, one of the named values or another in a `u8`, since version 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Side(
    /// As on the wire.
    pub u8,
);

impl Side {
    /// Buy.
    pub const BUY: Self = Self(1);
    /// Sell.
    pub const SELL: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "Buy", value: 1, since: 0 },
        Named { name: "Sell", value: 2, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// WorkupTradingStatus, one of the named values or another in a `u8`, since version 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkupTradingStatus(
    /// As on the wire.
    pub u8,
);

impl WorkupTradingStatus {
    /// ReadyToTrade.
    pub const READY_TO_TRADE: Self = Self(17);
    /// NotAvailableForTrading.
    pub const NOT_AVAILABLE_FOR_TRADING: Self = Self(18);
    /// PrivateWorkup.
    pub const PRIVATE_WORKUP: Self = Self(201);
    /// PublicWorkup.
    pub const PUBLIC_WORKUP: Self = Self(202);
    /// The schema's names.
    pub const NAMES: &'static [Named] = &[
        Named { name: "ReadyToTrade", value: 17, since: 0 },
        Named { name: "NotAvailableForTrading", value: 18, since: 0 },
        Named { name: "PrivateWorkup", value: 201, since: 0 },
        Named { name: "PublicWorkup", value: 202, since: 0 },
    ];
    /// The schema's name of the value, if it has one.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}
