//! MDInstrumentDefinitionSpread56, template 56. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message, MonthYear};

/// The layout of MDInstrumentDefinitionSpread56.
pub const MESSAGE: Message = Message {
    name: "MDInstrumentDefinitionSpread56", template_id: 56, schema_id: 1, version: 13, semantic_type: "d",
    block: BlockLayout::new(255, 9, FIELDS),
    groups: &[
        GroupLayout::new("NoEvents", 864, 0, kind::GROUP_SIZE, BlockLayout::new(9, 9, NO_EVENTS)),
        GroupLayout::new("NoMDFeedTypes", 1141, 0, kind::GROUP_SIZE, BlockLayout::new(4, 9, NO_MD_FEED_TYPES)),
        GroupLayout::new("NoInstAttrib", 870, 0, kind::GROUP_SIZE, BlockLayout::new(4, 9, NO_INST_ATTRIB)),
        GroupLayout::new("NoLotTypeRules", 1234, 0, kind::GROUP_SIZE, BlockLayout::new(5, 9, NO_LOT_TYPE_RULES)),
        GroupLayout::new("NoLegs", 555, 0, kind::GROUP_SIZE, BlockLayout::new(18, 9, NO_LEGS)),
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
    Field::new("UnderlyingProduct", 462, 18, 0, &kind::U_INT8NULL),
    Field::new("SecurityExchange", 207, 19, 0, &kind::SECURITY_EXCHANGE),
    Field::new("SecurityGroup", 1151, 23, 0, &kind::SECURITY_GROUP),
    Field::new("Asset", 6937, 29, 0, &kind::ASSET),
    Field::new("Symbol", 55, 35, 0, &kind::SYMBOL),
    Field::new("SecurityID", 48, 55, 0, &kind::INT32),
    Field::new("SecurityIDSource", 22, 0, 0, &kind::SECURITY_ID_SOURCE),
    Field::new("SecurityType", 167, 59, 0, &kind::SECURITY_TYPE),
    Field::new("CFICode", 461, 65, 0, &kind::CFI_CODE),
    Field::new("MaturityMonthYear", 200, 71, 0, &kind::MATURITY_MONTH_YEAR),
    Field::new("Currency", 15, 76, 0, &kind::CURRENCY),
    Field::new("SecuritySubType", 762, 79, 0, &kind::SECURITY_SUB_TYPE),
    Field::new("UserDefinedInstrument", 9779, 84, 0, &kind::USER_DEFINED_INSTRUMENT),
    Field::new("MatchAlgorithm", 1142, 85, 0, &kind::CHAR),
    Field::new("MinTradeVol", 562, 86, 0, &kind::U_INT32),
    Field::new("MaxTradeVol", 1140, 90, 0, &kind::U_INT32),
    Field::new("MinPriceIncrement", 969, 94, 0, &kind::PRICENULL9),
    Field::new("DisplayFactor", 9787, 102, 0, &kind::DECIMAL9),
    Field::new("PriceDisplayFormat", 9800, 110, 0, &kind::U_INT8NULL),
    Field::new("PriceRatio", 5770, 111, 0, &kind::PRICENULL9),
    Field::new("TickRule", 6350, 119, 0, &kind::INT8NULL),
    Field::new("UnitOfMeasure", 996, 120, 0, &kind::UNIT_OF_MEASURE),
    Field::new("TradingReferencePrice", 1150, 150, 0, &kind::PRICENULL9),
    Field::new("SettlPriceType", 731, 158, 0, &kind::SETTL_PRICE_TYPE),
    Field::new("OpenInterestQty", 5792, 159, 0, &kind::INT32NULL),
    Field::new("ClearedVolume", 5791, 163, 0, &kind::INT32NULL),
    Field::new("HighLimitPrice", 1149, 167, 0, &kind::PRICENULL9),
    Field::new("LowLimitPrice", 1148, 175, 0, &kind::PRICENULL9),
    Field::new("MaxPriceVariation", 1143, 183, 0, &kind::PRICENULL9),
    Field::new("MainFraction", 37702, 191, 0, &kind::U_INT8NULL),
    Field::new("SubFraction", 37703, 192, 0, &kind::U_INT8NULL),
    Field::new("TradingReferenceDate", 5796, 193, 0, &kind::LOCAL_MKT_DATE),
    Field::new("PriceQuoteMethod", 1196, 195, 10, &kind::STRING5),
    Field::new("RiskSet", 37721, 200, 10, &kind::STRING6),
    Field::new("MarketSet", 37722, 206, 10, &kind::STRING6),
    Field::new("InstrumentGUID", 37513, 212, 10, &kind::U_INT64NULL),
    Field::new("FinancialInstrumentFullName", 2714, 220, 10, &kind::LONG_NAME),
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
    Field::new("MinLotSize", 1231, 1, 0, &kind::DECIMAL_QTY),
];
const NO_LEGS: &[Field] = &[
    Field::new("LegSecurityID", 602, 0, 0, &kind::INT32),
    Field::new("LegSecurityIDSource", 603, 0, 0, &kind::SECURITY_ID_SOURCE),
    Field::new("LegSide", 624, 4, 0, &kind::LEG_SIDE),
    Field::new("LegRatioQty", 623, 5, 0, &kind::INT8),
    Field::new("LegPrice", 566, 6, 0, &kind::PRICENULL9),
    Field::new("LegOptionDelta", 1017, 14, 0, &kind::DECIMAL_QTY),
];

hairpin_sbe::message! {
    /// MDInstrumentDefinitionSpread56: message type d, template 56, since version 9, block of 255 bytes, 5 groups.
    MDInstrumentDefinitionSpread56, MDInstrumentDefinitionSpread56Encoder, 255, MDInstrumentDefinitionSpread56Groups, 5
}

impl<'a> MDInstrumentDefinitionSpread56<'a> {
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
    #[inline] pub fn underlying_product(&self) -> Option<u8> { self.0.block.nullable::<u8, 18>(u8::MAX) }
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
    /// MaturityMonthYear (tag 200), bytes 71..76.
    #[inline] pub fn maturity_month_year(&self) -> MonthYear { self.0.block.month_year::<71>() }
    /// Currency (tag 15), bytes 76..79.
    #[inline] pub fn currency(&self) -> CharArray<'a> { self.0.block.chars::<76, 3>() }
    /// SecuritySubType (tag 762), bytes 79..84.
    #[inline] pub fn security_sub_type(&self) -> CharArray<'a> { self.0.block.chars::<79, 5>() }
    /// UserDefinedInstrument (tag 9779), bytes 84..85.
    #[inline] pub fn user_defined_instrument(&self) -> u8 { self.0.block.load::<u8, 84>() }
    /// MatchAlgorithm (tag 1142), bytes 85..86.
    #[inline] pub fn match_algorithm(&self) -> u8 { self.0.block.load::<u8, 85>() }
    /// MinTradeVol (tag 562), bytes 86..90.
    #[inline] pub fn min_trade_vol(&self) -> u32 { self.0.block.load::<u32, 86>() }
    /// MaxTradeVol (tag 1140), bytes 90..94.
    #[inline] pub fn max_trade_vol(&self) -> u32 { self.0.block.load::<u32, 90>() }
    /// MinPriceIncrement (tag 969), bytes 94..102.
    #[inline] pub fn min_price_increment(&self) -> Option<Price9> { self.0.block.nullable::<i64, 94>(i64::MAX).map(Decimal) }
    /// DisplayFactor (tag 9787), bytes 102..110.
    #[inline] pub fn display_factor(&self) -> Price9 { Decimal(self.0.block.load::<i64, 102>()) }
    /// PriceDisplayFormat (tag 9800), bytes 110..111.
    #[inline] pub fn price_display_format(&self) -> Option<u8> { self.0.block.nullable::<u8, 110>(u8::MAX) }
    /// PriceRatio (tag 5770), bytes 111..119.
    #[inline] pub fn price_ratio(&self) -> Option<Price9> { self.0.block.nullable::<i64, 111>(i64::MAX).map(Decimal) }
    /// TickRule (tag 6350), bytes 119..120.
    #[inline] pub fn tick_rule(&self) -> Option<i8> { self.0.block.nullable::<i8, 119>(i8::MAX) }
    /// UnitOfMeasure (tag 996), bytes 120..150.
    #[inline] pub fn unit_of_measure(&self) -> CharArray<'a> { self.0.block.chars::<120, 30>() }
    /// TradingReferencePrice (tag 1150), bytes 150..158.
    #[inline] pub fn trading_reference_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 150>(i64::MAX).map(Decimal) }
    /// SettlPriceType (tag 731), bytes 158..159.
    #[inline] pub fn settl_price_type(&self) -> SettlPriceType { SettlPriceType(self.0.block.load::<u8, 158>()) }
    /// OpenInterestQty (tag 5792), bytes 159..163.
    #[inline] pub fn open_interest_qty(&self) -> Option<i32> { self.0.block.nullable::<i32, 159>(i32::MAX) }
    /// ClearedVolume (tag 5791), bytes 163..167.
    #[inline] pub fn cleared_volume(&self) -> Option<i32> { self.0.block.nullable::<i32, 163>(i32::MAX) }
    /// HighLimitPrice (tag 1149), bytes 167..175.
    #[inline] pub fn high_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 167>(i64::MAX).map(Decimal) }
    /// LowLimitPrice (tag 1148), bytes 175..183.
    #[inline] pub fn low_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 175>(i64::MAX).map(Decimal) }
    /// MaxPriceVariation (tag 1143), bytes 183..191.
    #[inline] pub fn max_price_variation(&self) -> Option<Price9> { self.0.block.nullable::<i64, 183>(i64::MAX).map(Decimal) }
    /// MainFraction (tag 37702), bytes 191..192.
    #[inline] pub fn main_fraction(&self) -> Option<u8> { self.0.block.nullable::<u8, 191>(u8::MAX) }
    /// SubFraction (tag 37703), bytes 192..193.
    #[inline] pub fn sub_fraction(&self) -> Option<u8> { self.0.block.nullable::<u8, 192>(u8::MAX) }
    /// TradingReferenceDate (tag 5796), bytes 193..195.
    #[inline] pub fn trading_reference_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 193>(u16::MAX) }
    /// PriceQuoteMethod (tag 1196), bytes 195..200, since version 10.
    #[inline] pub fn price_quote_method(&self) -> CharArray<'a> { self.0.block.chars::<195, 5>() }
    /// RiskSet (tag 37721), bytes 200..206, since version 10.
    #[inline] pub fn risk_set(&self) -> CharArray<'a> { self.0.block.chars::<200, 6>() }
    /// MarketSet (tag 37722), bytes 206..212, since version 10.
    #[inline] pub fn market_set(&self) -> CharArray<'a> { self.0.block.chars::<206, 6>() }
    /// InstrumentGUID (tag 37513), bytes 212..220, since version 10.
    #[inline] pub fn instrument_guid(&self) -> Option<u64> { self.0.block.nullable::<u64, 212>(u64::MAX) }
    /// FinancialInstrumentFullName (tag 2714), bytes 220..255, since version 10.
    #[inline] pub fn financial_instrument_full_name(&self) -> CharArray<'a> { self.0.block.chars::<220, 35>() }
    /// NoEvents (tag 864).
    #[inline] pub fn no_events(&self) -> Group<'a, NoEvents<'a>> { Group::new(self.0.group(0)) }
    /// NoMDFeedTypes (tag 1141).
    #[inline] pub fn no_md_feed_types(&self) -> Group<'a, NoMDFeedTypes<'a>> { Group::new(self.0.group(1)) }
    /// NoInstAttrib (tag 870).
    #[inline] pub fn no_inst_attrib(&self) -> Group<'a, NoInstAttrib<'a>> { Group::new(self.0.group(2)) }
    /// NoLotTypeRules (tag 1234).
    #[inline] pub fn no_lot_type_rules(&self) -> Group<'a, NoLotTypeRules<'a>> { Group::new(self.0.group(3)) }
    /// NoLegs (tag 555).
    #[inline] pub fn no_legs(&self) -> Group<'a, NoLegs<'a>> { Group::new(self.0.group(4)) }
}

impl MDInstrumentDefinitionSpread56Encoder<'_> {
    /** Writes MatchEventIndicator. */ #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 0>(value.0); self }
    /** Writes TotNumReports. */ #[inline] pub fn set_tot_num_reports(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 1>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes SecurityUpdateAction. */ #[inline] pub fn set_security_update_action(&mut self, value: SecurityUpdateAction) -> &mut Self { self.0.store::<u8, 5>(value.0); self }
    /** Writes LastUpdateTime. */ #[inline] pub fn set_last_update_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 6>(value); self }
    /** Writes MDSecurityTradingStatus. */ #[inline] pub fn set_md_security_trading_status(&mut self, value: impl Into<Option<SecurityTradingStatus>>) -> &mut Self { self.0.store::<u8, 14>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ApplID. */ #[inline] pub fn set_appl_id(&mut self, value: i16) -> &mut Self { self.0.store::<i16, 15>(value); self }
    /** Writes MarketSegmentID. */ #[inline] pub fn set_market_segment_id(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 17>(value); self }
    /** Writes UnderlyingProduct. */ #[inline] pub fn set_underlying_product(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 18>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes SecurityExchange. */ #[inline] pub fn set_security_exchange(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<19, 4>(value.as_ref()); self }
    /** Writes SecurityGroup. */ #[inline] pub fn set_security_group(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<23, 6>(value.as_ref()); self }
    /** Writes Asset. */ #[inline] pub fn set_asset(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<29, 6>(value.as_ref()); self }
    /** Writes Symbol. */ #[inline] pub fn set_symbol(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<35, 20>(value.as_ref()); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 55>(value); self }
    /** Writes SecurityType. */ #[inline] pub fn set_security_type(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<59, 6>(value.as_ref()); self }
    /** Writes CFICode. */ #[inline] pub fn set_cfi_code(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<65, 6>(value.as_ref()); self }
    /** Writes MaturityMonthYear. */ #[inline] pub fn set_maturity_month_year(&mut self, value: MonthYear) -> &mut Self { self.0.store_month_year::<71>(value); self }
    /** Writes Currency. */ #[inline] pub fn set_currency(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<76, 3>(value.as_ref()); self }
    /** Writes SecuritySubType. */ #[inline] pub fn set_security_sub_type(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<79, 5>(value.as_ref()); self }
    /** Writes UserDefinedInstrument. */ #[inline] pub fn set_user_defined_instrument(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 84>(value); self }
    /** Writes MatchAlgorithm. */ #[inline] pub fn set_match_algorithm(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 85>(value); self }
    /** Writes MinTradeVol. */ #[inline] pub fn set_min_trade_vol(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 86>(value); self }
    /** Writes MaxTradeVol. */ #[inline] pub fn set_max_trade_vol(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 90>(value); self }
    /** Writes MinPriceIncrement. */ #[inline] pub fn set_min_price_increment(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 94>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes DisplayFactor. */ #[inline] pub fn set_display_factor(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 102>(value.0); self }
    /** Writes PriceDisplayFormat. */ #[inline] pub fn set_price_display_format(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 110>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes PriceRatio. */ #[inline] pub fn set_price_ratio(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 111>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes TickRule. */ #[inline] pub fn set_tick_rule(&mut self, value: impl Into<Option<i8>>) -> &mut Self { self.0.store::<i8, 119>(value.into().unwrap_or(i8::MAX)); self }
    /** Writes UnitOfMeasure. */ #[inline] pub fn set_unit_of_measure(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<120, 30>(value.as_ref()); self }
    /** Writes TradingReferencePrice. */ #[inline] pub fn set_trading_reference_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 150>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes SettlPriceType. */ #[inline] pub fn set_settl_price_type(&mut self, value: SettlPriceType) -> &mut Self { self.0.store::<u8, 158>(value.0); self }
    /** Writes OpenInterestQty. */ #[inline] pub fn set_open_interest_qty(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 159>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes ClearedVolume. */ #[inline] pub fn set_cleared_volume(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 163>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes HighLimitPrice. */ #[inline] pub fn set_high_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 167>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes LowLimitPrice. */ #[inline] pub fn set_low_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 175>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes MaxPriceVariation. */ #[inline] pub fn set_max_price_variation(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 183>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes MainFraction. */ #[inline] pub fn set_main_fraction(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 191>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes SubFraction. */ #[inline] pub fn set_sub_fraction(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 192>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes TradingReferenceDate. */ #[inline] pub fn set_trading_reference_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 193>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes PriceQuoteMethod. */ #[inline] pub fn set_price_quote_method(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<195, 5>(value.as_ref()); self }
    /** Writes RiskSet. */ #[inline] pub fn set_risk_set(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<200, 6>(value.as_ref()); self }
    /** Writes MarketSet. */ #[inline] pub fn set_market_set(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<206, 6>(value.as_ref()); self }
    /** Writes InstrumentGUID. */ #[inline] pub fn set_instrument_guid(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 212>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes FinancialInstrumentFullName. */ #[inline] pub fn set_financial_instrument_full_name(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<220, 35>(value.as_ref()); self }
}

impl MDInstrumentDefinitionSpread56Groups<'_> {
    /// Starts the group NoEvents.
    #[inline] pub fn no_events(&mut self) -> Result<GroupEncoder<'_, NoEvents<'_>>, EncodeError> { self.0.open(0) }
    /// Starts the group NoMDFeedTypes.
    #[inline] pub fn no_md_feed_types(&mut self) -> Result<GroupEncoder<'_, NoMDFeedTypes<'_>>, EncodeError> { self.0.open(1) }
    /// Starts the group NoInstAttrib.
    #[inline] pub fn no_inst_attrib(&mut self) -> Result<GroupEncoder<'_, NoInstAttrib<'_>>, EncodeError> { self.0.open(2) }
    /// Starts the group NoLotTypeRules.
    #[inline] pub fn no_lot_type_rules(&mut self) -> Result<GroupEncoder<'_, NoLotTypeRules<'_>>, EncodeError> { self.0.open(3) }
    /// Starts the group NoLegs.
    #[inline] pub fn no_legs(&mut self) -> Result<GroupEncoder<'_, NoLegs<'_>>, EncodeError> { self.0.open(4) }
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
    /// An entry of NoLotTypeRules (tag 1234): block of 5 bytes.
    NoLotTypeRules, NoLotTypeRulesEncoder, 5, 3
}

impl NoLotTypeRules<'_> {
    /// LotType (tag 1093), bytes 0..1.
    #[inline] pub fn lot_type(&self) -> i8 { self.0.load::<i8, 0>() }
    /// MinLotSize (tag 1231), bytes 1..5.
    #[inline] pub fn min_lot_size(&self) -> Option<DecimalQty> { self.0.decimal32::<-4, 1>() }
}

impl NoLotTypeRulesEncoder<'_> {
    /** Writes LotType. */ #[inline] pub fn set_lot_type(&mut self, value: i8) -> &mut Self { self.0.store::<i8, 0>(value); self }
    /** Writes MinLotSize. */ #[inline] pub fn set_min_lot_size(&mut self, value: impl Into<Option<DecimalQty>>) -> &mut Self { self.0.store_decimal32::<-4, 1>(value.into()); self }
}

hairpin_sbe::entry! {
    /// An entry of NoLegs (tag 555): block of 18 bytes.
    NoLegs, NoLegsEncoder, 18, 4
}

impl NoLegs<'_> {
    /// LegSecurityID (tag 602), bytes 0..4.
    #[inline] pub fn leg_security_id(&self) -> i32 { self.0.load::<i32, 0>() }
    /// LegSecurityIDSource (tag 603), constant.
    pub const LEG_SECURITY_ID_SOURCE: u8 = b'8';
    /// LegSide (tag 624), bytes 4..5.
    #[inline] pub fn leg_side(&self) -> LegSide { LegSide(self.0.load::<u8, 4>()) }
    /// LegRatioQty (tag 623), bytes 5..6.
    #[inline] pub fn leg_ratio_qty(&self) -> i8 { self.0.load::<i8, 5>() }
    /// LegPrice (tag 566), bytes 6..14.
    #[inline] pub fn leg_price(&self) -> Option<Price9> { self.0.nullable::<i64, 6>(i64::MAX).map(Decimal) }
    /// LegOptionDelta (tag 1017), bytes 14..18.
    #[inline] pub fn leg_option_delta(&self) -> Option<DecimalQty> { self.0.decimal32::<-4, 14>() }
}

impl NoLegsEncoder<'_> {
    /** Writes LegSecurityID. */ #[inline] pub fn set_leg_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 0>(value); self }
    /** Writes LegSide. */ #[inline] pub fn set_leg_side(&mut self, value: LegSide) -> &mut Self { self.0.store::<u8, 4>(value.0); self }
    /** Writes LegRatioQty. */ #[inline] pub fn set_leg_ratio_qty(&mut self, value: i8) -> &mut Self { self.0.store::<i8, 5>(value); self }
    /** Writes LegPrice. */ #[inline] pub fn set_leg_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 6>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes LegOptionDelta. */ #[inline] pub fn set_leg_option_delta(&mut self, value: impl Into<Option<DecimalQty>>) -> &mut Self { self.0.store_decimal32::<-4, 14>(value.into()); self }
}
