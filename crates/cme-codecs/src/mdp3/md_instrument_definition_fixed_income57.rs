//! MDInstrumentDefinitionFixedIncome57, template 57. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of MDInstrumentDefinitionFixedIncome57.
pub const MESSAGE: Message = Message {
    name: "MDInstrumentDefinitionFixedIncome57", template_id: 57, schema_id: 1, version: 13, semantic_type: "d",
    block: BlockLayout::new(338, 10, FIELDS),
    groups: &[
        GroupLayout::new("NoEvents", 864, 0, kind::GROUP_SIZE, BlockLayout::new(9, 10, NO_EVENTS)),
        GroupLayout::new("NoMDFeedTypes", 1141, 0, kind::GROUP_SIZE, BlockLayout::new(4, 10, NO_MD_FEED_TYPES)),
        GroupLayout::new("NoInstAttrib", 870, 0, kind::GROUP_SIZE, BlockLayout::new(4, 10, NO_INST_ATTRIB)),
        GroupLayout::new("NoLotTypeRules", 1234, 0, kind::GROUP_SIZE, BlockLayout::new(5, 10, NO_LOT_TYPE_RULES)),
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
    Field::new("MatchAlgorithm", 1142, 77, 0, &kind::CHAR),
    Field::new("MinTradeVol", 562, 78, 0, &kind::U_INT32),
    Field::new("MaxTradeVol", 1140, 82, 0, &kind::U_INT32),
    Field::new("MinPriceIncrement", 969, 86, 0, &kind::PRICENULL9),
    Field::new("DisplayFactor", 9787, 94, 0, &kind::DECIMAL9),
    Field::new("MainFraction", 37702, 102, 0, &kind::U_INT8NULL),
    Field::new("SubFraction", 37703, 103, 0, &kind::U_INT8NULL),
    Field::new("PriceDisplayFormat", 9800, 104, 0, &kind::U_INT8NULL),
    Field::new("UnitOfMeasure", 996, 105, 0, &kind::UNIT_OF_MEASURE),
    Field::new("UnitOfMeasureQty", 1147, 135, 0, &kind::DECIMAL9NULL),
    Field::new("TradingReferencePrice", 1150, 143, 0, &kind::PRICENULL9),
    Field::new("TradingReferenceDate", 5796, 151, 0, &kind::LOCAL_MKT_DATE),
    Field::new("HighLimitPrice", 1149, 153, 0, &kind::PRICENULL9),
    Field::new("LowLimitPrice", 1148, 161, 0, &kind::PRICENULL9),
    Field::new("MaxPriceVariation", 1143, 169, 0, &kind::PRICENULL9),
    Field::new("MinPriceIncrementAmount", 1146, 177, 0, &kind::PRICENULL9),
    Field::new("IssueDate", 225, 185, 0, &kind::LOCAL_MKT_DATE),
    Field::new("DatedDate", 873, 187, 0, &kind::LOCAL_MKT_DATE),
    Field::new("MaturityDate", 541, 189, 0, &kind::LOCAL_MKT_DATE),
    Field::new("CouponRate", 223, 191, 0, &kind::DECIMAL9NULL),
    Field::new("ParValue", 37723, 199, 0, &kind::PRICENULL9),
    Field::new("CouponFrequencyUnit", 1949, 207, 0, &kind::STRING3),
    Field::new("CouponFrequencyPeriod", 1948, 210, 0, &kind::U_INT16NULL),
    Field::new("CouponDayCount", 1950, 212, 0, &kind::STRING20),
    Field::new("CountryOfIssue", 470, 232, 0, &kind::COUNTRY_CODE),
    Field::new("Issuer", 106, 234, 0, &kind::STRING25),
    Field::new("FinancialInstrumentFullName", 2714, 259, 0, &kind::LONG_NAME),
    Field::new("SecurityAltID", 455, 294, 0, &kind::STRING12),
    Field::new("SecurityAltIDSource", 456, 306, 0, &kind::SECURITY_ALT_ID_SOURCE),
    Field::new("PriceQuoteMethod", 1196, 307, 0, &kind::STRING5),
    Field::new("PartyRoleClearingOrg", 9736, 312, 0, &kind::STRING5),
    Field::new("UserDefinedInstrument", 9779, 317, 0, &kind::USER_DEFINED_INSTRUMENT),
    Field::new("RiskSet", 37721, 318, 0, &kind::STRING6),
    Field::new("MarketSet", 37722, 324, 0, &kind::STRING6),
    Field::new("InstrumentGUID", 37513, 330, 0, &kind::U_INT64NULL),
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

hairpin_sbe::message! {
    /// MDInstrumentDefinitionFixedIncome57: message type d, template 57, since version 10, block of 338 bytes, 4 groups.
    MDInstrumentDefinitionFixedIncome57, MDInstrumentDefinitionFixedIncome57Encoder, 338, MDInstrumentDefinitionFixedIncome57Groups, 4
}

impl<'a> MDInstrumentDefinitionFixedIncome57<'a> {
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
    /// MatchAlgorithm (tag 1142), bytes 77..78.
    #[inline] pub fn match_algorithm(&self) -> u8 { self.0.block.load::<u8, 77>() }
    /// MinTradeVol (tag 562), bytes 78..82.
    #[inline] pub fn min_trade_vol(&self) -> u32 { self.0.block.load::<u32, 78>() }
    /// MaxTradeVol (tag 1140), bytes 82..86.
    #[inline] pub fn max_trade_vol(&self) -> u32 { self.0.block.load::<u32, 82>() }
    /// MinPriceIncrement (tag 969), bytes 86..94.
    #[inline] pub fn min_price_increment(&self) -> Option<Price9> { self.0.block.nullable::<i64, 86>(i64::MAX).map(Decimal) }
    /// DisplayFactor (tag 9787), bytes 94..102.
    #[inline] pub fn display_factor(&self) -> Price9 { Decimal(self.0.block.load::<i64, 94>()) }
    /// MainFraction (tag 37702), bytes 102..103.
    #[inline] pub fn main_fraction(&self) -> Option<u8> { self.0.block.nullable::<u8, 102>(u8::MAX) }
    /// SubFraction (tag 37703), bytes 103..104.
    #[inline] pub fn sub_fraction(&self) -> Option<u8> { self.0.block.nullable::<u8, 103>(u8::MAX) }
    /// PriceDisplayFormat (tag 9800), bytes 104..105.
    #[inline] pub fn price_display_format(&self) -> Option<u8> { self.0.block.nullable::<u8, 104>(u8::MAX) }
    /// UnitOfMeasure (tag 996), bytes 105..135.
    #[inline] pub fn unit_of_measure(&self) -> CharArray<'a> { self.0.block.chars::<105, 30>() }
    /// UnitOfMeasureQty (tag 1147), bytes 135..143.
    #[inline] pub fn unit_of_measure_qty(&self) -> Option<Price9> { self.0.block.nullable::<i64, 135>(i64::MAX).map(Decimal) }
    /// TradingReferencePrice (tag 1150), bytes 143..151.
    #[inline] pub fn trading_reference_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 143>(i64::MAX).map(Decimal) }
    /// TradingReferenceDate (tag 5796), bytes 151..153.
    #[inline] pub fn trading_reference_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 151>(u16::MAX) }
    /// HighLimitPrice (tag 1149), bytes 153..161.
    #[inline] pub fn high_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 153>(i64::MAX).map(Decimal) }
    /// LowLimitPrice (tag 1148), bytes 161..169.
    #[inline] pub fn low_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 161>(i64::MAX).map(Decimal) }
    /// MaxPriceVariation (tag 1143), bytes 169..177.
    #[inline] pub fn max_price_variation(&self) -> Option<Price9> { self.0.block.nullable::<i64, 169>(i64::MAX).map(Decimal) }
    /// MinPriceIncrementAmount (tag 1146), bytes 177..185.
    #[inline] pub fn min_price_increment_amount(&self) -> Option<Price9> { self.0.block.nullable::<i64, 177>(i64::MAX).map(Decimal) }
    /// IssueDate (tag 225), bytes 185..187.
    #[inline] pub fn issue_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 185>(u16::MAX) }
    /// DatedDate (tag 873), bytes 187..189.
    #[inline] pub fn dated_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 187>(u16::MAX) }
    /// MaturityDate (tag 541), bytes 189..191.
    #[inline] pub fn maturity_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 189>(u16::MAX) }
    /// CouponRate (tag 223), bytes 191..199.
    #[inline] pub fn coupon_rate(&self) -> Option<Price9> { self.0.block.nullable::<i64, 191>(i64::MAX).map(Decimal) }
    /// ParValue (tag 37723), bytes 199..207.
    #[inline] pub fn par_value(&self) -> Option<Price9> { self.0.block.nullable::<i64, 199>(i64::MAX).map(Decimal) }
    /// CouponFrequencyUnit (tag 1949), bytes 207..210.
    #[inline] pub fn coupon_frequency_unit(&self) -> CharArray<'a> { self.0.block.chars::<207, 3>() }
    /// CouponFrequencyPeriod (tag 1948), bytes 210..212.
    #[inline] pub fn coupon_frequency_period(&self) -> Option<u16> { self.0.block.nullable::<u16, 210>(u16::MAX) }
    /// CouponDayCount (tag 1950), bytes 212..232.
    #[inline] pub fn coupon_day_count(&self) -> CharArray<'a> { self.0.block.chars::<212, 20>() }
    /// CountryOfIssue (tag 470), bytes 232..234.
    #[inline] pub fn country_of_issue(&self) -> CharArray<'a> { self.0.block.chars::<232, 2>() }
    /// Issuer (tag 106), bytes 234..259.
    #[inline] pub fn issuer(&self) -> CharArray<'a> { self.0.block.chars::<234, 25>() }
    /// FinancialInstrumentFullName (tag 2714), bytes 259..294.
    #[inline] pub fn financial_instrument_full_name(&self) -> CharArray<'a> { self.0.block.chars::<259, 35>() }
    /// SecurityAltID (tag 455), bytes 294..306.
    #[inline] pub fn security_alt_id(&self) -> CharArray<'a> { self.0.block.chars::<294, 12>() }
    /// SecurityAltIDSource (tag 456), bytes 306..307.
    #[inline] pub fn security_alt_id_source(&self) -> Option<SecurityAltIDSource> { self.0.block.nullable::<u8, 306>(u8::MAX).map(SecurityAltIDSource) }
    /// PriceQuoteMethod (tag 1196), bytes 307..312.
    #[inline] pub fn price_quote_method(&self) -> CharArray<'a> { self.0.block.chars::<307, 5>() }
    /// PartyRoleClearingOrg (tag 9736), bytes 312..317.
    #[inline] pub fn party_role_clearing_org(&self) -> CharArray<'a> { self.0.block.chars::<312, 5>() }
    /// UserDefinedInstrument (tag 9779), bytes 317..318.
    #[inline] pub fn user_defined_instrument(&self) -> u8 { self.0.block.load::<u8, 317>() }
    /// RiskSet (tag 37721), bytes 318..324.
    #[inline] pub fn risk_set(&self) -> CharArray<'a> { self.0.block.chars::<318, 6>() }
    /// MarketSet (tag 37722), bytes 324..330.
    #[inline] pub fn market_set(&self) -> CharArray<'a> { self.0.block.chars::<324, 6>() }
    /// InstrumentGUID (tag 37513), bytes 330..338.
    #[inline] pub fn instrument_guid(&self) -> Option<u64> { self.0.block.nullable::<u64, 330>(u64::MAX) }
    /// NoEvents (tag 864).
    #[inline] pub fn no_events(&self) -> Group<'a, NoEvents<'a>> { Group::new(self.0.group(0)) }
    /// NoMDFeedTypes (tag 1141).
    #[inline] pub fn no_md_feed_types(&self) -> Group<'a, NoMDFeedTypes<'a>> { Group::new(self.0.group(1)) }
    /// NoInstAttrib (tag 870).
    #[inline] pub fn no_inst_attrib(&self) -> Group<'a, NoInstAttrib<'a>> { Group::new(self.0.group(2)) }
    /// NoLotTypeRules (tag 1234).
    #[inline] pub fn no_lot_type_rules(&self) -> Group<'a, NoLotTypeRules<'a>> { Group::new(self.0.group(3)) }
}

impl MDInstrumentDefinitionFixedIncome57Encoder<'_> {
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
    /** Writes MatchAlgorithm. */ #[inline] pub fn set_match_algorithm(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 77>(value); self }
    /** Writes MinTradeVol. */ #[inline] pub fn set_min_trade_vol(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 78>(value); self }
    /** Writes MaxTradeVol. */ #[inline] pub fn set_max_trade_vol(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 82>(value); self }
    /** Writes MinPriceIncrement. */ #[inline] pub fn set_min_price_increment(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 86>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes DisplayFactor. */ #[inline] pub fn set_display_factor(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 94>(value.0); self }
    /** Writes MainFraction. */ #[inline] pub fn set_main_fraction(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 102>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes SubFraction. */ #[inline] pub fn set_sub_fraction(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 103>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes PriceDisplayFormat. */ #[inline] pub fn set_price_display_format(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 104>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes UnitOfMeasure. */ #[inline] pub fn set_unit_of_measure(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<105, 30>(value.as_ref()); self }
    /** Writes UnitOfMeasureQty. */ #[inline] pub fn set_unit_of_measure_qty(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 135>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes TradingReferencePrice. */ #[inline] pub fn set_trading_reference_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 143>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes TradingReferenceDate. */ #[inline] pub fn set_trading_reference_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 151>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes HighLimitPrice. */ #[inline] pub fn set_high_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 153>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes LowLimitPrice. */ #[inline] pub fn set_low_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 161>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes MaxPriceVariation. */ #[inline] pub fn set_max_price_variation(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 169>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes MinPriceIncrementAmount. */ #[inline] pub fn set_min_price_increment_amount(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 177>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes IssueDate. */ #[inline] pub fn set_issue_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 185>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes DatedDate. */ #[inline] pub fn set_dated_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 187>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes MaturityDate. */ #[inline] pub fn set_maturity_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 189>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes CouponRate. */ #[inline] pub fn set_coupon_rate(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 191>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes ParValue. */ #[inline] pub fn set_par_value(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 199>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes CouponFrequencyUnit. */ #[inline] pub fn set_coupon_frequency_unit(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<207, 3>(value.as_ref()); self }
    /** Writes CouponFrequencyPeriod. */ #[inline] pub fn set_coupon_frequency_period(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 210>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes CouponDayCount. */ #[inline] pub fn set_coupon_day_count(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<212, 20>(value.as_ref()); self }
    /** Writes CountryOfIssue. */ #[inline] pub fn set_country_of_issue(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<232, 2>(value.as_ref()); self }
    /** Writes Issuer. */ #[inline] pub fn set_issuer(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<234, 25>(value.as_ref()); self }
    /** Writes FinancialInstrumentFullName. */ #[inline] pub fn set_financial_instrument_full_name(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<259, 35>(value.as_ref()); self }
    /** Writes SecurityAltID. */ #[inline] pub fn set_security_alt_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<294, 12>(value.as_ref()); self }
    /** Writes SecurityAltIDSource. */ #[inline] pub fn set_security_alt_id_source(&mut self, value: impl Into<Option<SecurityAltIDSource>>) -> &mut Self { self.0.store::<u8, 306>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes PriceQuoteMethod. */ #[inline] pub fn set_price_quote_method(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<307, 5>(value.as_ref()); self }
    /** Writes PartyRoleClearingOrg. */ #[inline] pub fn set_party_role_clearing_org(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<312, 5>(value.as_ref()); self }
    /** Writes UserDefinedInstrument. */ #[inline] pub fn set_user_defined_instrument(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 317>(value); self }
    /** Writes RiskSet. */ #[inline] pub fn set_risk_set(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<318, 6>(value.as_ref()); self }
    /** Writes MarketSet. */ #[inline] pub fn set_market_set(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<324, 6>(value.as_ref()); self }
    /** Writes InstrumentGUID. */ #[inline] pub fn set_instrument_guid(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 330>(value.into().unwrap_or(u64::MAX)); self }
}

impl MDInstrumentDefinitionFixedIncome57Groups<'_> {
    /// Starts the group NoEvents.
    #[inline] pub fn no_events(&mut self) -> Result<GroupEncoder<'_, NoEvents<'_>>, EncodeError> { self.0.open(0) }
    /// Starts the group NoMDFeedTypes.
    #[inline] pub fn no_md_feed_types(&mut self) -> Result<GroupEncoder<'_, NoMDFeedTypes<'_>>, EncodeError> { self.0.open(1) }
    /// Starts the group NoInstAttrib.
    #[inline] pub fn no_inst_attrib(&mut self) -> Result<GroupEncoder<'_, NoInstAttrib<'_>>, EncodeError> { self.0.open(2) }
    /// Starts the group NoLotTypeRules.
    #[inline] pub fn no_lot_type_rules(&mut self) -> Result<GroupEncoder<'_, NoLotTypeRules<'_>>, EncodeError> { self.0.open(3) }
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
