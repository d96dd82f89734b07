//! MDInstrumentDefinitionFX63, template 63. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message, MonthYear};

/// The layout of MDInstrumentDefinitionFX63.
pub const MESSAGE: Message = Message {
    name: "MDInstrumentDefinitionFX63", template_id: 63, schema_id: 1, version: 13, semantic_type: "d",
    block: BlockLayout::new(337, 12, FIELDS),
    groups: &[
        GroupLayout::new("NoEvents", 864, 0, kind::GROUP_SIZE, BlockLayout::new(9, 12, NO_EVENTS)),
        GroupLayout::new("NoMDFeedTypes", 1141, 0, kind::GROUP_SIZE, BlockLayout::new(4, 12, NO_MD_FEED_TYPES)),
        GroupLayout::new("NoInstAttrib", 870, 0, kind::GROUP_SIZE, BlockLayout::new(4, 12, NO_INST_ATTRIB)),
        GroupLayout::new("NoLotTypeRules", 1234, 0, kind::GROUP_SIZE, BlockLayout::new(9, 12, NO_LOT_TYPE_RULES)),
        GroupLayout::new("NoTradingSessions", 386, 0, kind::GROUP_SIZE, BlockLayout::new(18, 12, NO_TRADING_SESSIONS)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("MatchEventIndicator", 5799, 0, 0, &kind::MATCH_EVENT_INDICATOR),
    Field::new("TotNumReports", 911, 1, 0, &kind::U_INT32NULL),
    Field::new("SecurityUpdateAction", 980, 5, 0, &kind::SECURITY_UPDATE_ACTION),
    Field::new("LastUpdateTime", 779, 6, 0, &kind::U_INT64),
    Field::new("MDSecurityTradingStatus", 1682, 14, 0, &kind::SECURITY_TRADING_STATUS),
    Field::new("ApplID", 1180, 15, 0, &kind::INT16),
    Field::new("MarketSegmentID", 1300, 17, 0, &kind::U_INT8),
    Field::new("UnderlyingProduct", 462, 18, 0, &kind::U_INT8),
    Field::new("SecurityExchange", 207, 19, 0, &kind::SECURITY_EXCHANGE),
    Field::new("SecurityGroup", 1151, 23, 0, &kind::SECURITY_GROUP),
    Field::new("Asset", 6937, 29, 0, &kind::ASSET),
    Field::new("Symbol", 55, 35, 0, &kind::SYMBOL),
    Field::new("SecurityID", 48, 55, 0, &kind::INT32),
    Field::new("SecurityIDSource", 22, 0, 0, &kind::SECURITY_ID_SOURCE),
    Field::new("SecurityType", 167, 59, 0, &kind::SECURITY_TYPE),
    Field::new("CFICode", 461, 65, 0, &kind::CFI_CODE),
    Field::new("Currency", 15, 71, 0, &kind::CURRENCY),
    Field::new("SettlCurrency", 120, 74, 0, &kind::CURRENCY),
    Field::new("PriceQuoteCurrency", 1524, 77, 0, &kind::CURRENCY),
    Field::new("MatchAlgorithm", 1142, 80, 0, &kind::CHAR),
    Field::new("MinTradeVol", 562, 81, 0, &kind::U_INT32),
    Field::new("MaxTradeVol", 1140, 85, 0, &kind::U_INT32),
    Field::new("MinPriceIncrement", 969, 89, 0, &kind::PRICE9),
    Field::new("DisplayFactor", 9787, 97, 0, &kind::DECIMAL9),
    Field::new("PricePrecision", 2349, 105, 0, &kind::U_INT8),
    Field::new("UnitOfMeasure", 996, 106, 0, &kind::UNIT_OF_MEASURE),
    Field::new("UnitOfMeasureQty", 1147, 136, 0, &kind::DECIMAL9NULL),
    Field::new("HighLimitPrice", 1149, 144, 0, &kind::PRICENULL9),
    Field::new("LowLimitPrice", 1148, 152, 0, &kind::PRICENULL9),
    Field::new("MaxPriceVariation", 1143, 160, 0, &kind::PRICENULL9),
    Field::new("UserDefinedInstrument", 9779, 168, 0, &kind::USER_DEFINED_INSTRUMENT),
    Field::new("FinancialInstrumentFullName", 2714, 169, 0, &kind::LONG_NAME),
    Field::new("FXCurrencySymbol", 37725, 204, 0, &kind::STRING7),
    Field::new("SettlType", 63, 211, 0, &kind::STRING3),
    Field::new("InterveningDays", 37730, 214, 0, &kind::U_INT16),
    Field::new("FXBenchmarkRateFix", 2796, 216, 0, &kind::STRING20),
    Field::new("RateSource", 1446, 236, 0, &kind::STRING12),
    Field::new("FixRateLocalTime", 37726, 248, 0, &kind::STRING8),
    Field::new("FixRateLocalTimeZone", 37727, 256, 0, &kind::STRING20),
    Field::new("MinQuoteLife", 37731, 276, 0, &kind::U_INT32),
    Field::new("MaxPriceDiscretionOffset", 37728, 280, 0, &kind::PRICE9),
    Field::new("InstrumentGUID", 37513, 288, 0, &kind::U_INT64NULL),
    Field::new("MaturityMonthYear", 200, 296, 0, &kind::MATURITY_MONTH_YEAR),
    Field::new("SettlementLocale", 37734, 301, 0, &kind::STRING8),
    Field::new("AltMinPriceIncrement", 37739, 309, 13, &kind::PRICENULL9),
    Field::new("AltMinQuoteLife", 37738, 317, 13, &kind::U_INT32NULL),
    Field::new("AltPriceIncrementConstraint", 37742, 321, 13, &kind::PRICENULL9),
    Field::new("MaxBidAskConstraint", 37743, 329, 13, &kind::PRICENULL9),
];
const NO_EVENTS: &[Field] = &[
    Field::new("EventType", 865, 0, 0, &kind::EVENT_TYPE),
    Field::new("EventTime", 1145, 1, 0, &kind::U_INT64),
];
const NO_MD_FEED_TYPES: &[Field] = &[
    Field::new("MDFeedType", 1022, 0, 0, &kind::MD_FEED_TYPE),
    Field::new("MarketDepth", 264, 3, 0, &kind::INT8),
];
const NO_INST_ATTRIB: &[Field] = &[
    Field::new("InstAttribType", 871, 0, 0, &kind::INST_ATTRIB_TYPE),
    Field::new("InstAttribValue", 872, 0, 0, &kind::INST_ATTRIB_VALUE),
];
const NO_LOT_TYPE_RULES: &[Field] = &[
    Field::new("LotType", 1093, 0, 0, &kind::INT8),
    Field::new("MinLotSize", 1231, 1, 0, &kind::U_INT64),
];
const NO_TRADING_SESSIONS: &[Field] = &[
    Field::new("TradeDate", 75, 0, 0, &kind::LOCAL_MKT_DATE),
    Field::new("SettlDate", 64, 2, 0, &kind::LOCAL_MKT_DATE),
    Field::new("MaturityDate", 541, 4, 0, &kind::LOCAL_MKT_DATE),
    Field::new("SecurityAltID", 455, 6, 0, &kind::STRING12),
    Field::new("SecurityAltIDSource", 456, 0, 0, &kind::SECURITY_ALT_ID_SOURCE_ISIN),
];

hairpin_sbe::message! {
    /// MDInstrumentDefinitionFX63: message type d, template 63, since version 12, block of 337 bytes, 5 groups.
    MDInstrumentDefinitionFX63, MDInstrumentDefinitionFX63Encoder, 337, MDInstrumentDefinitionFX63Groups, 5
}

impl<'a> MDInstrumentDefinitionFX63<'a> {
    /// MatchEventIndicator (tag 5799), bytes 0..1.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 0>()) }
    /// TotNumReports (tag 911), bytes 1..5.
    #[inline] pub fn tot_num_reports(&self) -> Option<u32> { self.0.block.nullable::<u32, 1>(u32::MAX) }
    /// SecurityUpdateAction (tag 980), bytes 5..6.
    #[inline] pub fn security_update_action(&self) -> SecurityUpdateAction { SecurityUpdateAction(self.0.block.load::<u8, 5>()) }
    /// LastUpdateTime (tag 779), bytes 6..14.
    #[inline] pub fn last_update_time(&self) -> u64 { self.0.block.load::<u64, 6>() }
    /// MDSecurityTradingStatus (tag 1682), bytes 14..15.
    #[inline] pub fn md_security_trading_status(&self) -> Option<SecurityTradingStatus> { self.0.block.nullable::<u8, 14>(u8::MAX).map(SecurityTradingStatus) }
    /// ApplID (tag 1180), bytes 15..17.
    #[inline] pub fn appl_id(&self) -> i16 { self.0.block.load::<i16, 15>() }
    /// MarketSegmentID (tag 1300), bytes 17..18.
    #[inline] pub fn market_segment_id(&self) -> u8 { self.0.block.load::<u8, 17>() }
    /// UnderlyingProduct (tag 462), bytes 18..19.
    #[inline] pub fn underlying_product(&self) -> u8 { self.0.block.load::<u8, 18>() }
    /// SecurityExchange (tag 207), bytes 19..23.
    #[inline] pub fn security_exchange(&self) -> CharArray<'a> { self.0.block.chars::<19, 4>() }
    /// SecurityGroup (tag 1151), bytes 23..29.
    #[inline] pub fn security_group(&self) -> CharArray<'a> { self.0.block.chars::<23, 6>() }
    /// Asset (tag 6937), bytes 29..35.
    #[inline] pub fn asset(&self) -> CharArray<'a> { self.0.block.chars::<29, 6>() }
    /// Symbol (tag 55), bytes 35..55.
    #[inline] pub fn symbol(&self) -> CharArray<'a> { self.0.block.chars::<35, 20>() }
    /// SecurityID (tag 48), bytes 55..59.
    #[inline] pub fn security_id(&self) -> i32 { self.0.block.load::<i32, 55>() }
    /// SecurityIDSource (tag 22), constant.
    pub const SECURITY_ID_SOURCE: u8 = b'8';
    /// SecurityType (tag 167), bytes 59..65.
    #[inline] pub fn security_type(&self) -> CharArray<'a> { self.0.block.chars::<59, 6>() }
    /// CFICode (tag 461), bytes 65..71.
    #[inline] pub fn cfi_code(&self) -> CharArray<'a> { self.0.block.chars::<65, 6>() }
    /// Currency (tag 15), bytes 71..74.
    #[inline] pub fn currency(&self) -> CharArray<'a> { self.0.block.chars::<71, 3>() }
    /// SettlCurrency (tag 120), bytes 74..77.
    #[inline] pub fn settl_currency(&self) -> CharArray<'a> { self.0.block.chars::<74, 3>() }
    /// PriceQuoteCurrency (tag 1524), bytes 77..80.
    #[inline] pub fn price_quote_currency(&self) -> CharArray<'a> { self.0.block.chars::<77, 3>() }
    /// MatchAlgorithm (tag 1142), bytes 80..81.
    #[inline] pub fn match_algorithm(&self) -> u8 { self.0.block.load::<u8, 80>() }
    /// MinTradeVol (tag 562), bytes 81..85.
    #[inline] pub fn min_trade_vol(&self) -> u32 { self.0.block.load::<u32, 81>() }
    /// MaxTradeVol (tag 1140), bytes 85..89.
    #[inline] pub fn max_trade_vol(&self) -> u32 { self.0.block.load::<u32, 85>() }
    /// MinPriceIncrement (tag 969), bytes 89..97.
    #[inline] pub fn min_price_increment(&self) -> Price9 { Decimal(self.0.block.load::<i64, 89>()) }
    /// DisplayFactor (tag 9787), bytes 97..105.
    #[inline] pub fn display_factor(&self) -> Price9 { Decimal(self.0.block.load::<i64, 97>()) }
    /// PricePrecision (tag 2349), bytes 105..106.
    #[inline] pub fn price_precision(&self) -> u8 { self.0.block.load::<u8, 105>() }
    /// UnitOfMeasure (tag 996), bytes 106..136.
    #[inline] pub fn unit_of_measure(&self) -> CharArray<'a> { self.0.block.chars::<106, 30>() }
    /// UnitOfMeasureQty (tag 1147), bytes 136..144.
    #[inline] pub fn unit_of_measure_qty(&self) -> Option<Price9> { self.0.block.nullable::<i64, 136>(i64::MAX).map(Decimal) }
    /// HighLimitPrice (tag 1149), bytes 144..152.
    #[inline] pub fn high_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 144>(i64::MAX).map(Decimal) }
    /// LowLimitPrice (tag 1148), bytes 152..160.
    #[inline] pub fn low_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 152>(i64::MAX).map(Decimal) }
    /// MaxPriceVariation (tag 1143), bytes 160..168.
    #[inline] pub fn max_price_variation(&self) -> Option<Price9> { self.0.block.nullable::<i64, 160>(i64::MAX).map(Decimal) }
    /// UserDefinedInstrument (tag 9779), bytes 168..169.
    #[inline] pub fn user_defined_instrument(&self) -> u8 { self.0.block.load::<u8, 168>() }
    /// FinancialInstrumentFullName (tag 2714), bytes 169..204.
    #[inline] pub fn financial_instrument_full_name(&self) -> CharArray<'a> { self.0.block.chars::<169, 35>() }
    /// FXCurrencySymbol (tag 37725), bytes 204..211.
    #[inline] pub fn fx_currency_symbol(&self) -> CharArray<'a> { self.0.block.chars::<204, 7>() }
    /// SettlType (tag 63), bytes 211..214.
    #[inline] pub fn settl_type(&self) -> CharArray<'a> { self.0.block.chars::<211, 3>() }
    /// InterveningDays (tag 37730), bytes 214..216.
    #[inline] pub fn intervening_days(&self) -> u16 { self.0.block.load::<u16, 214>() }
    /// FXBenchmarkRateFix (tag 2796), bytes 216..236.
    #[inline] pub fn fx_benchmark_rate_fix(&self) -> CharArray<'a> { self.0.block.chars::<216, 20>() }
    /// RateSource (tag 1446), bytes 236..248.
    #[inline] pub fn rate_source(&self) -> CharArray<'a> { self.0.block.chars::<236, 12>() }
    /// FixRateLocalTime (tag 37726), bytes 248..256.
    #[inline] pub fn fix_rate_local_time(&self) -> CharArray<'a> { self.0.block.chars::<248, 8>() }
    /// FixRateLocalTimeZone (tag 37727), bytes 256..276.
    #[inline] pub fn fix_rate_local_time_zone(&self) -> CharArray<'a> { self.0.block.chars::<256, 20>() }
    /// MinQuoteLife (tag 37731), bytes 276..280.
    #[inline] pub fn min_quote_life(&self) -> u32 { self.0.block.load::<u32, 276>() }
    /// MaxPriceDiscretionOffset (tag 37728), bytes 280..288.
    #[inline] pub fn max_price_discretion_offset(&self) -> Price9 { Decimal(self.0.block.load::<i64, 280>()) }
    /// InstrumentGUID (tag 37513), bytes 288..296.
    #[inline] pub fn instrument_guid(&self) -> Option<u64> { self.0.block.nullable::<u64, 288>(u64::MAX) }
    /// MaturityMonthYear (tag 200), bytes 296..301.
    #[inline] pub fn maturity_month_year(&self) -> MonthYear { self.0.block.month_year::<296>() }
    /// SettlementLocale (tag 37734), bytes 301..309.
    #[inline] pub fn settlement_locale(&self) -> CharArray<'a> { self.0.block.chars::<301, 8>() }
    /// AltMinPriceIncrement (tag 37739), bytes 309..317, since version 13.
    #[inline] pub fn alt_min_price_increment(&self) -> Option<Price9> { self.0.block.nullable::<i64, 309>(i64::MAX).map(Decimal) }
    /// AltMinQuoteLife (tag 37738), bytes 317..321, since version 13.
    #[inline] pub fn alt_min_quote_life(&self) -> Option<u32> { self.0.block.nullable::<u32, 317>(u32::MAX) }
    /// AltPriceIncrementConstraint (tag 37742), bytes 321..329, since version 13.
    #[inline] pub fn alt_price_increment_constraint(&self) -> Option<Price9> { self.0.block.nullable::<i64, 321>(i64::MAX).map(Decimal) }
    /// MaxBidAskConstraint (tag 37743), bytes 329..337, since version 13.
    #[inline] pub fn max_bid_ask_constraint(&self) -> Option<Price9> { self.0.block.nullable::<i64, 329>(i64::MAX).map(Decimal) }
    /// NoEvents (tag 864).
    #[inline] pub fn no_events(&self) -> Group<'a, NoEvents<'a>> { Group::new(self.0.group(0)) }
    /// NoMDFeedTypes (tag 1141).
    #[inline] pub fn no_md_feed_types(&self) -> Group<'a, NoMDFeedTypes<'a>> { Group::new(self.0.group(1)) }
    /// NoInstAttrib (tag 870).
    #[inline] pub fn no_inst_attrib(&self) -> Group<'a, NoInstAttrib<'a>> { Group::new(self.0.group(2)) }
    /// NoLotTypeRules (tag 1234).
    #[inline] pub fn no_lot_type_rules(&self) -> Group<'a, NoLotTypeRules<'a>> { Group::new(self.0.group(3)) }
    /// NoTradingSessions (tag 386).
    #[inline] pub fn no_trading_sessions(&self) -> Group<'a, NoTradingSessions<'a>> { Group::new(self.0.group(4)) }
}

impl MDInstrumentDefinitionFX63Encoder<'_> {
    /** Writes MatchEventIndicator. */ #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 0>(value.0); self }
    /** Writes TotNumReports. */ #[inline] pub fn set_tot_num_reports(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 1>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes SecurityUpdateAction. */ #[inline] pub fn set_security_update_action(&mut self, value: SecurityUpdateAction) -> &mut Self { self.0.store::<u8, 5>(value.0); self }
    /** Writes LastUpdateTime. */ #[inline] pub fn set_last_update_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 6>(value); self }
    /** Writes MDSecurityTradingStatus. */ #[inline] pub fn set_md_security_trading_status(&mut self, value: impl Into<Option<SecurityTradingStatus>>) -> &mut Self { self.0.store::<u8, 14>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ApplID. */ #[inline] pub fn set_appl_id(&mut self, value: i16) -> &mut Self { self.0.store::<i16, 15>(value); self }
    /** Writes MarketSegmentID. */ #[inline] pub fn set_market_segment_id(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 17>(value); self }
    /** Writes UnderlyingProduct. */ #[inline] pub fn set_underlying_product(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 18>(value); self }
    /** Writes SecurityExchange. */ #[inline] pub fn set_security_exchange(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<19, 4>(value.as_ref()); self }
    /** Writes SecurityGroup. */ #[inline] pub fn set_security_group(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<23, 6>(value.as_ref()); self }
    /** Writes Asset. */ #[inline] pub fn set_asset(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<29, 6>(value.as_ref()); self }
    /** Writes Symbol. */ #[inline] pub fn set_symbol(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<35, 20>(value.as_ref()); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 55>(value); self }
    /** Writes SecurityType. */ #[inline] pub fn set_security_type(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<59, 6>(value.as_ref()); self }
    /** Writes CFICode. */ #[inline] pub fn set_cfi_code(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<65, 6>(value.as_ref()); self }
    /** Writes Currency. */ #[inline] pub fn set_currency(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<71, 3>(value.as_ref()); self }
    /** Writes SettlCurrency. */ #[inline] pub fn set_settl_currency(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<74, 3>(value.as_ref()); self }
    /** Writes PriceQuoteCurrency. */ #[inline] pub fn set_price_quote_currency(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<77, 3>(value.as_ref()); self }
    /** Writes MatchAlgorithm. */ #[inline] pub fn set_match_algorithm(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 80>(value); self }
    /** Writes MinTradeVol. */ #[inline] pub fn set_min_trade_vol(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 81>(value); self }
    /** Writes MaxTradeVol. */ #[inline] pub fn set_max_trade_vol(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 85>(value); self }
    /** Writes MinPriceIncrement. */ #[inline] pub fn set_min_price_increment(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 89>(value.0); self }
    /** Writes DisplayFactor. */ #[inline] pub fn set_display_factor(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 97>(value.0); self }
    /** Writes PricePrecision. */ #[inline] pub fn set_price_precision(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 105>(value); self }
    /** Writes UnitOfMeasure. */ #[inline] pub fn set_unit_of_measure(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<106, 30>(value.as_ref()); self }
    /** Writes UnitOfMeasureQty. */ #[inline] pub fn set_unit_of_measure_qty(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 136>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes HighLimitPrice. */ #[inline] pub fn set_high_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 144>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes LowLimitPrice. */ #[inline] pub fn set_low_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 152>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes MaxPriceVariation. */ #[inline] pub fn set_max_price_variation(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 160>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes UserDefinedInstrument. */ #[inline] pub fn set_user_defined_instrument(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 168>(value); self }
    /** Writes FinancialInstrumentFullName. */ #[inline] pub fn set_financial_instrument_full_name(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<169, 35>(value.as_ref()); self }
    /** Writes FXCurrencySymbol. */ #[inline] pub fn set_fx_currency_symbol(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<204, 7>(value.as_ref()); self }
    /** Writes SettlType. */ #[inline] pub fn set_settl_type(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<211, 3>(value.as_ref()); self }
    /** Writes InterveningDays. */ #[inline] pub fn set_intervening_days(&mut self, value: u16) -> &mut Self { self.0.store::<u16, 214>(value); self }
    /** Writes FXBenchmarkRateFix. */ #[inline] pub fn set_fx_benchmark_rate_fix(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<216, 20>(value.as_ref()); self }
    /** Writes RateSource. */ #[inline] pub fn set_rate_source(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<236, 12>(value.as_ref()); self }
    /** Writes FixRateLocalTime. */ #[inline] pub fn set_fix_rate_local_time(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<248, 8>(value.as_ref()); self }
    /** Writes FixRateLocalTimeZone. */ #[inline] pub fn set_fix_rate_local_time_zone(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<256, 20>(value.as_ref()); self }
    /** Writes MinQuoteLife. */ #[inline] pub fn set_min_quote_life(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 276>(value); self }
    /** Writes MaxPriceDiscretionOffset. */ #[inline] pub fn set_max_price_discretion_offset(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 280>(value.0); self }
    /** Writes InstrumentGUID. */ #[inline] pub fn set_instrument_guid(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 288>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes MaturityMonthYear. */ #[inline] pub fn set_maturity_month_year(&mut self, value: MonthYear) -> &mut Self { self.0.store_month_year::<296>(value); self }
    /** Writes SettlementLocale. */ #[inline] pub fn set_settlement_locale(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<301, 8>(value.as_ref()); self }
    /** Writes AltMinPriceIncrement. */ #[inline] pub fn set_alt_min_price_increment(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 309>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes AltMinQuoteLife. */ #[inline] pub fn set_alt_min_quote_life(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 317>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes AltPriceIncrementConstraint. */ #[inline] pub fn set_alt_price_increment_constraint(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 321>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes MaxBidAskConstraint. */ #[inline] pub fn set_max_bid_ask_constraint(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 329>(value.into().map_or(i64::MAX, |v| v.0)); self }
}

impl MDInstrumentDefinitionFX63Groups<'_> {
    /// Starts the group NoEvents.
    #[inline] pub fn no_events(&mut self) -> Result<GroupEncoder<'_, NoEvents<'_>>, EncodeError> { self.0.open(0) }
    /// Starts the group NoMDFeedTypes.
    #[inline] pub fn no_md_feed_types(&mut self) -> Result<GroupEncoder<'_, NoMDFeedTypes<'_>>, EncodeError> { self.0.open(1) }
    /// Starts the group NoInstAttrib.
    #[inline] pub fn no_inst_attrib(&mut self) -> Result<GroupEncoder<'_, NoInstAttrib<'_>>, EncodeError> { self.0.open(2) }
    /// Starts the group NoLotTypeRules.
    #[inline] pub fn no_lot_type_rules(&mut self) -> Result<GroupEncoder<'_, NoLotTypeRules<'_>>, EncodeError> { self.0.open(3) }
    /// Starts the group NoTradingSessions.
    #[inline] pub fn no_trading_sessions(&mut self) -> Result<GroupEncoder<'_, NoTradingSessions<'_>>, EncodeError> { self.0.open(4) }
}

hairpin_sbe::entry! {
    /// An entry of NoEvents (tag 864): block of 9 bytes.
    NoEvents, NoEventsEncoder, 9, 0
}

impl NoEvents<'_> {
    /// EventType (tag 865), bytes 0..1.
    #[inline] pub fn event_type(&self) -> EventType { EventType(self.0.load::<u8, 0>()) }
    /// EventTime (tag 1145), bytes 1..9.
    #[inline] pub fn event_time(&self) -> u64 { self.0.load::<u64, 1>() }
}

impl NoEventsEncoder<'_> {
    /** Writes EventType. */ #[inline] pub fn set_event_type(&mut self, value: EventType) -> &mut Self { self.0.store::<u8, 0>(value.0); self }
    /** Writes EventTime. */ #[inline] pub fn set_event_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 1>(value); self }
}

hairpin_sbe::entry! {
    /// An entry of NoMDFeedTypes (tag 1141): block of 4 bytes.
    NoMDFeedTypes, NoMDFeedTypesEncoder, 4, 1
}

impl<'a> NoMDFeedTypes<'a> {
    /// MDFeedType (tag 1022), bytes 0..3.
    #[inline] pub fn md_feed_type(&self) -> CharArray<'a> { self.0.chars::<0, 3>() }
    /// MarketDepth (tag 264), bytes 3..4.
    #[inline] pub fn market_depth(&self) -> i8 { self.0.load::<i8, 3>() }
}

impl NoMDFeedTypesEncoder<'_> {
    /** Writes MDFeedType. */ #[inline] pub fn set_md_feed_type(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<0, 3>(value.as_ref()); self }
    /** Writes MarketDepth. */ #[inline] pub fn set_market_depth(&mut self, value: i8) -> &mut Self { self.0.store::<i8, 3>(value); self }
}

hairpin_sbe::entry! {
    /// An entry of NoInstAttrib (tag 870): block of 4 bytes.
    NoInstAttrib, NoInstAttribEncoder, 4, 2
}

impl NoInstAttrib<'_> {
    /// InstAttribType (tag 871), constant.
    pub const INST_ATTRIB_TYPE: i8 = 24;
    /// InstAttribValue (tag 872), bytes 0..4.
    #[inline] pub fn inst_attrib_value(&self) -> InstAttribValue { InstAttribValue(self.0.load::<u32, 0>()) }
}

impl NoInstAttribEncoder<'_> {
    /** Writes InstAttribValue. */ #[inline] pub fn set_inst_attrib_value(&mut self, value: InstAttribValue) -> &mut Self { self.0.store::<u32, 0>(value.0); self }
}

hairpin_sbe::entry! {
    /// An entry of NoLotTypeRules (tag 1234): block of 9 bytes.
    NoLotTypeRules, NoLotTypeRulesEncoder, 9, 3
}

impl NoLotTypeRules<'_> {
    /// LotType (tag 1093), bytes 0..1.
    #[inline] pub fn lot_type(&self) -> i8 { self.0.load::<i8, 0>() }
    /// MinLotSize (tag 1231), bytes 1..9.
    #[inline] pub fn min_lot_size(&self) -> u64 { self.0.load::<u64, 1>() }
}

impl NoLotTypeRulesEncoder<'_> {
    /** Writes LotType. */ #[inline] pub fn set_lot_type(&mut self, value: i8) -> &mut Self { self.0.store::<i8, 0>(value); self }
    /** Writes MinLotSize. */ #[inline] pub fn set_min_lot_size(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 1>(value); self }
}

hairpin_sbe::entry! {
    /// An entry of NoTradingSessions (tag 386): block of 18 bytes.
    NoTradingSessions, NoTradingSessionsEncoder, 18, 4
}

impl<'a> NoTradingSessions<'a> {
    /// TradeDate (tag 75), bytes 0..2.
    #[inline] pub fn trade_date(&self) -> Option<u16> { self.0.nullable::<u16, 0>(u16::MAX) }
    /// SettlDate (tag 64), bytes 2..4.
    #[inline] pub fn settl_date(&self) -> Option<u16> { self.0.nullable::<u16, 2>(u16::MAX) }
    /// MaturityDate (tag 541), bytes 4..6.
    #[inline] pub fn maturity_date(&self) -> Option<u16> { self.0.nullable::<u16, 4>(u16::MAX) }
    /// SecurityAltID (tag 455), bytes 6..18.
    #[inline] pub fn security_alt_id(&self) -> CharArray<'a> { self.0.chars::<6, 12>() }
    /// SecurityAltIDSource (tag 456), constant.
    pub const SECURITY_ALT_ID_SOURCE: u8 = 4;
}

impl NoTradingSessionsEncoder<'_> {
    /** Writes TradeDate. */ #[inline] pub fn set_trade_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 0>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes SettlDate. */ #[inline] pub fn set_settl_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 2>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes MaturityDate. */ #[inline] pub fn set_maturity_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 4>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes SecurityAltID. */ #[inline] pub fn set_security_alt_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<6, 12>(value.as_ref()); self }
}
