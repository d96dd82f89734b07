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

/// AggressorFlag, a named or unnamed value in a `u8`, since version 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AggressorFlag(pub u8);

impl AggressorFlag {
    /// NotAggressor.
    pub const NOT_AGGRESSOR: Self = Self(0);
    /// Aggressor.
    pub const AGGRESSOR: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("NotAggressor", 0, 0), Named::new("Aggressor", 1, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// AggressorSide, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AggressorSide(pub u8);

impl AggressorSide {
    /// NoAggressor.
    pub const NO_AGGRESSOR: Self = Self(0);
    /// Buy.
    pub const BUY: Self = Self(1);
    /// Sell.
    pub const SELL: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("NoAggressor", 0, 0), Named::new("Buy", 1, 0), Named::new("Sell", 2, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// EventType, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventType(pub u8);

impl EventType {
    /// Activation.
    pub const ACTIVATION: Self = Self(5);
    /// LastEligibleTradeDate.
    pub const LAST_ELIGIBLE_TRADE_DATE: Self = Self(7);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Activation", 5, 0), Named::new("LastEligibleTradeDate", 7, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// HaltReason, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HaltReason(pub u8);

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
    pub const NAMES: &'static [Named<'static>] = &[Named::new("GroupSchedule", 0, 0), Named::new("SurveillanceIntervention", 1, 0), Named::new("MarketEvent", 2, 0), Named::new("InstrumentActivation", 3, 0), Named::new("InstrumentExpiration", 4, 0), Named::new("Unknown", 5, 0), Named::new("RecoveryInProcess", 6, 3), Named::new("TradeDateRoll", 7, 12)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// InstAttribValue, a set of bits in a `u32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct InstAttribValue(pub u32);

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
    pub const NAMES: &'static [Named<'static>] = &[Named::new("ElectronicMatchEligible", 0, 0), Named::new("OrderCrossEligible", 1, 0), Named::new("BlockTradeEligible", 2, 0), Named::new("EFPEligible", 3, 0), Named::new("EBFEligible", 4, 0), Named::new("EFSEligible", 5, 0), Named::new("EFREligible", 6, 0), Named::new("OTCEligible", 7, 0), Named::new("iLinkIndicativeMassQuotingEligible", 8, 0), Named::new("NegativeStrikeEligible", 9, 0), Named::new("NegativePriceOutrightEligible", 10, 0), Named::new("IsFractional", 11, 0), Named::new("VolatilityQuotedOption", 12, 0), Named::new("RFQCrossEligible", 13, 0), Named::new("ZeroPriceOutrightEligible", 14, 0), Named::new("DecayingProductEligibility", 15, 0), Named::new("VariableProductEligibility", 16, 0), Named::new("DailyProductEligibility", 17, 0), Named::new("GTOrdersEligibility", 18, 0), Named::new("ImpliedMatchingEligibility", 19, 0), Named::new("TriangulationEligible", 20, 9), Named::new("VariableCabEligible", 21, 9), Named::new("InvertedBook", 22, 10), Named::new("IsAoNInstrument", 23, 10), Named::new("SEFRegulated", 24, 12), Named::new("MTFRegulated", 25, 12), Named::new("eFIXInstrument", 26, 12), Named::new("HedgeInstrument", 27, 12)];
    /// Returns `true` if all bits of `other` are set.
    #[inline] pub const fn contains(self, other: Self) -> bool { self.0 & other.0 == other.0 }
}

impl core::ops::BitOr for InstAttribValue {
    type Output = Self;
    #[inline] fn bitor(self, other: Self) -> Self { Self(self.0 | other.0) }
}

/// LegSide, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LegSide(pub u8);

impl LegSide {
    /// BuySide.
    pub const BUY_SIDE: Self = Self(1);
    /// SellSide.
    pub const SELL_SIDE: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("BuySide", 1, 0), Named::new("SellSide", 2, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MDEntryType, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MDEntryType(pub u8);

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
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Bid", 48, 0), Named::new("Offer", 49, 0), Named::new("Trade", 50, 0), Named::new("OpenPrice", 52, 0), Named::new("SettlementPrice", 54, 0), Named::new("TradingSessionHighPrice", 55, 0), Named::new("TradingSessionLowPrice", 56, 0), Named::new("VWAP", 57, 10), Named::new("ClearedVolume", 66, 0), Named::new("OpenInterest", 67, 0), Named::new("ImpliedBid", 69, 0), Named::new("ImpliedOffer", 70, 0), Named::new("BookReset", 74, 0), Named::new("SessionHighBid", 78, 0), Named::new("SessionLowOffer", 79, 0), Named::new("FixingPrice", 87, 0), Named::new("ElectronicVolume", 101, 0), Named::new("ThresholdLimitsandPriceBandVariation", 103, 0), Named::new("MarketBestOffer", 119, 12), Named::new("MarketBestBid", 120, 12)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MDEntryTypeBook, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MDEntryTypeBook(pub u8);

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
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Bid", 48, 0), Named::new("Offer", 49, 0), Named::new("ImpliedBid", 69, 0), Named::new("ImpliedOffer", 70, 0), Named::new("BookReset", 74, 0), Named::new("MarketBestOffer", 119, 12), Named::new("MarketBestBid", 120, 12)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MDEntryTypeDailyStatistics, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MDEntryTypeDailyStatistics(pub u8);

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
    pub const NAMES: &'static [Named<'static>] = &[Named::new("SettlementPrice", 54, 0), Named::new("ClearedVolume", 66, 0), Named::new("OpenInterest", 67, 0), Named::new("FixingPrice", 87, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MDEntryTypeStatistics, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MDEntryTypeStatistics(pub u8);

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
    pub const NAMES: &'static [Named<'static>] = &[Named::new("OpenPrice", 52, 0), Named::new("HighTrade", 55, 0), Named::new("LowTrade", 56, 0), Named::new("VWAP", 57, 10), Named::new("HighestBid", 78, 0), Named::new("LowestOffer", 79, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MDUpdateAction, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MDUpdateAction(pub u8);

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
    pub const NAMES: &'static [Named<'static>] = &[Named::new("New", 0, 0), Named::new("Change", 1, 0), Named::new("Delete", 2, 0), Named::new("DeleteThru", 3, 0), Named::new("DeleteFrom", 4, 0), Named::new("Overlay", 5, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// MatchEventIndicator, a set of bits in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MatchEventIndicator(pub u8);

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
    pub const NAMES: &'static [Named<'static>] = &[Named::new("LastTradeMsg", 0, 0), Named::new("LastVolumeMsg", 1, 0), Named::new("LastQuoteMsg", 2, 0), Named::new("LastStatsMsg", 3, 0), Named::new("LastImpliedMsg", 4, 0), Named::new("RecoveryMsg", 5, 0), Named::new("Reserved", 6, 0), Named::new("EndOfEvent", 7, 0)];
    /// Returns `true` if all bits of `other` are set.
    #[inline] pub const fn contains(self, other: Self) -> bool { self.0 & other.0 == other.0 }
}

impl core::ops::BitOr for MatchEventIndicator {
    type Output = Self;
    #[inline] fn bitor(self, other: Self) -> Self { Self(self.0 | other.0) }
}

/// MoneyOrPar, a named or unnamed value in a `u8`, since version 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MoneyOrPar(pub u8);

impl MoneyOrPar {
    /// Money.
    pub const MONEY: Self = Self(1);
    /// Par.
    pub const PAR: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Money", 1, 0), Named::new("Par", 2, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// OpenCloseSettlFlag, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpenCloseSettlFlag(pub u8);

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
    pub const NAMES: &'static [Named<'static>] = &[Named::new("DailyOpenPrice", 0, 0), Named::new("IndicativeOpeningPrice", 5, 0), Named::new("IntradayVWAP", 100, 10), Named::new("RepoAverage8_30AM", 101, 10), Named::new("RepoAverage10AM", 102, 10), Named::new("PrevSessionRepoAverage10AM", 103, 10)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// OrderUpdateAction, a named or unnamed value in a `u8`, since version 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderUpdateAction(pub u8);

impl OrderUpdateAction {
    /// New.
    pub const NEW: Self = Self(0);
    /// Update.
    pub const UPDATE: Self = Self(1);
    /// Delete.
    pub const DELETE: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("New", 0, 0), Named::new("Update", 1, 0), Named::new("Delete", 2, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// PriceSource, a named or unnamed value in a `u8`, since version 11.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PriceSource(pub u8);

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
    pub const NAMES: &'static [Named<'static>] = &[Named::new("MarketPlaceAssistant", 0, 0), Named::new("Globex", 1, 0), Named::new("Refinitiv", 2, 0), Named::new("ICAP", 3, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// PutOrCall, a named or unnamed value in a `u8`, since version 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PutOrCall(pub u8);

impl PutOrCall {
    /// Put.
    pub const PUT: Self = Self(0);
    /// Call.
    pub const CALL: Self = Self(1);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Put", 0, 0), Named::new("Call", 1, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// RepoSubType, a named or unnamed value in a `u8`, since version 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoSubType(pub u8);

impl RepoSubType {
    /// Special.
    pub const SPECIAL: Self = Self(0);
    /// GC.
    pub const GC: Self = Self(1);
    /// GCForDBV.
    pub const GC_FOR_DBV: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Special", 0, 0), Named::new("GC", 1, 0), Named::new("GCForDBV", 2, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SecurityAltIDSource, a named or unnamed value in a `u8`, since version 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecurityAltIDSource(pub u8);

impl SecurityAltIDSource {
    /// CUSIP.
    pub const CUSIP: Self = Self(1);
    /// ISIN.
    pub const ISIN: Self = Self(4);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("CUSIP", 1, 0), Named::new("ISIN", 4, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SecurityTradingEvent, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecurityTradingEvent(pub u8);

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
    pub const NAMES: &'static [Named<'static>] = &[Named::new("NoEvent", 0, 0), Named::new("NoCancel", 1, 0), Named::new("ResetStatistics", 4, 0), Named::new("ImpliedMatchingON", 5, 0), Named::new("ImpliedMatchingOFF", 6, 0), Named::new("EndOfWorkup", 7, 10)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SecurityTradingStatus, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecurityTradingStatus(pub u8);

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
    pub const NAMES: &'static [Named<'static>] = &[Named::new("TradingHalt", 2, 0), Named::new("Close", 4, 0), Named::new("NewPriceIndication", 15, 0), Named::new("ReadyToTrade", 17, 0), Named::new("NotAvailableForTrading", 18, 0), Named::new("UnknownorInvalid", 20, 0), Named::new("PreOpen", 21, 0), Named::new("PreCross", 24, 0), Named::new("Cross", 25, 0), Named::new("PostClose", 26, 0), Named::new("NoChange", 103, 0), Named::new("PrivateWorkup", 201, 11), Named::new("PublicWorkup", 202, 11)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SecurityUpdateAction, a named or unnamed value in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecurityUpdateAction(pub u8);

impl SecurityUpdateAction {
    /// Add.
    pub const ADD: Self = Self(b'A');
    /// Delete.
    pub const DELETE: Self = Self(b'D');
    /// Modify.
    pub const MODIFY: Self = Self(b'M');
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Add", 65, 0), Named::new("Delete", 68, 0), Named::new("Modify", 77, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// SettlPriceType, a set of bits in a `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SettlPriceType(pub u8);

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
    pub const NAMES: &'static [Named<'static>] = &[Named::new("FinalDaily", 0, 0), Named::new("Actual", 1, 0), Named::new("Rounded", 2, 0), Named::new("Intraday", 3, 4), Named::new("ReservedBits", 4, 0), Named::new("NullValue", 7, 0)];
    /// Returns `true` if all bits of `other` are set.
    #[inline] pub const fn contains(self, other: Self) -> bool { self.0 & other.0 == other.0 }
}

impl core::ops::BitOr for SettlPriceType {
    type Output = Self;
    #[inline] fn bitor(self, other: Self) -> Self { Self(self.0 | other.0) }
}

/// Side, a named or unnamed value in a `u8`, since version 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Side(pub u8);

impl Side {
    /// Buy.
    pub const BUY: Self = Self(1);
    /// Sell.
    pub const SELL: Self = Self(2);
    /// The schema's names.
    pub const NAMES: &'static [Named<'static>] = &[Named::new("Buy", 1, 0), Named::new("Sell", 2, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}

/// WorkupTradingStatus, a named or unnamed value in a `u8`, since version 10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkupTradingStatus(pub u8);

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
    pub const NAMES: &'static [Named<'static>] = &[Named::new("ReadyToTrade", 17, 0), Named::new("NotAvailableForTrading", 18, 0), Named::new("PrivateWorkup", 201, 0), Named::new("PublicWorkup", 202, 0)];
    /// Returns the schema's name of the value, or `None` for an unnamed value.
    pub fn name(self) -> Option<&'static str> { Named::find(Self::NAMES, self.0.into()) }
}
