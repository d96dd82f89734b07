//! MDInstrumentDefinitionRepo58, template 58. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of MDInstrumentDefinitionRepo58.
pub const MESSAGE: Message = Message {
    name: "MDInstrumentDefinitionRepo58", template_id: 58, schema_id: 1, version: 13, semantic_type: "d",
    block: BlockLayout::new(276, 10, FIELDS),
    groups: &[
        GroupLayout::new("NoEvents", 864, 0, kind::GROUP_SIZE, BlockLayout::new(9, 10, NO_EVENTS)),
        GroupLayout::new("NoMDFeedTypes", 1141, 0, kind::GROUP_SIZE, BlockLayout::new(4, 10, NO_MD_FEED_TYPES)),
        GroupLayout::new("NoInstAttrib", 870, 0, kind::GROUP_SIZE, BlockLayout::new(4, 10, NO_INST_ATTRIB)),
        GroupLayout::new("NoLotTypeRules", 1234, 0, kind::GROUP_SIZE, BlockLayout::new(5, 10, NO_LOT_TYPE_RULES)),
        GroupLayout::new("NoUnderlyings", 711, 0, kind::GROUP_SIZE, BlockLayout::new(118, 10, NO_UNDERLYINGS)),
        GroupLayout::new("NoRelatedInstruments", 1647, 0, kind::GROUP_SIZE, BlockLayout::new(32, 10, NO_RELATED_INSTRUMENTS)),
        GroupLayout::new("NoBrokenDates", 39026, 13, kind::GROUP_SIZE, BlockLayout::new(16, 13, NO_BROKEN_DATES)),
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
    Field::new("MinPriceIncrement", 969, 86, 0, &kind::PRICE9),
    Field::new("DisplayFactor", 9787, 94, 0, &kind::DECIMAL9),
    Field::new("UnitOfMeasure", 996, 102, 0, &kind::UNIT_OF_MEASURE),
    Field::new("UnitOfMeasureQty", 1147, 132, 0, &kind::DECIMAL9NULL),
    Field::new("TradingReferencePrice", 1150, 140, 0, &kind::PRICENULL9),
    Field::new("TradingReferenceDate", 5796, 148, 0, &kind::LOCAL_MKT_DATE),
    Field::new("HighLimitPrice", 1149, 150, 0, &kind::PRICENULL9),
    Field::new("LowLimitPrice", 1148, 158, 0, &kind::PRICENULL9),
    Field::new("MaxPriceVariation", 1143, 166, 0, &kind::PRICENULL9),
    Field::new("FinancialInstrumentFullName", 2714, 174, 0, &kind::LONG_NAME),
    Field::new("PartyRoleClearingOrg", 9736, 209, 0, &kind::STRING5),
    Field::new("StartDate", 916, 214, 0, &kind::LOCAL_MKT_DATE),
    Field::new("EndDate", 917, 216, 0, &kind::LOCAL_MKT_DATE),
    Field::new("TerminationType", 788, 218, 0, &kind::STRING8),
    Field::new("SecuritySubType", 762, 226, 0, &kind::REPO_SUB_TYPE),
    Field::new("MoneyOrPar", 37714, 227, 0, &kind::MONEY_OR_PAR),
    Field::new("MaxNoOfSubstitutions", 37715, 228, 0, &kind::U_INT8),
    Field::new("PriceQuoteMethod", 1196, 229, 0, &kind::STRING5),
    Field::new("UserDefinedInstrument", 9779, 234, 0, &kind::USER_DEFINED_INSTRUMENT),
    Field::new("RiskSet", 37721, 235, 0, &kind::STRING6),
    Field::new("MarketSet", 37722, 241, 0, &kind::STRING6),
    Field::new("InstrumentGUID", 37513, 247, 0, &kind::U_INT64NULL),
    Field::new("TermCode", 37716, 255, 11, &kind::STRING20),
    Field::new("BrokenDateTermType", 6651, 275, 13, &kind::U_INT8NULL),
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
const NO_UNDERLYINGS: &[Field] = &[
    Field::new("UnderlyingSymbol", 311, 0, 0, &kind::UNDERLYING_SYMBOL),
    Field::new("UnderlyingSecurityID", 309, 20, 0, &kind::INT32NULL),
    Field::new("UnderlyingSecurityIDSource", 305, 0, 0, &kind::SECURITY_ID_SOURCE),
    Field::new("UnderlyingSecurityAltID", 458, 24, 0, &kind::STRING12),
    Field::new("UnderlyingSecurityAltIDSource", 459, 36, 0, &kind::SECURITY_ALT_ID_SOURCE),
    Field::new("UnderlyingFinancialInstrumentFullName", 2720, 37, 0, &kind::LONG_NAME),
    Field::new("UnderlyingSecurityType", 310, 72, 0, &kind::SECURITY_TYPE),
    Field::new("UnderlyingCountryOfIssue", 592, 78, 0, &kind::COUNTRY_CODE),
    Field::new("UnderlyingIssuer", 306, 80, 0, &kind::STRING25),
    Field::new("UnderlyingMaxLifeTime", 37717, 105, 0, &kind::U_INT8NULL),
    Field::new("UnderlyingMinDaysToMaturity", 37718, 106, 0, &kind::U_INT16NULL),
    Field::new("UnderlyingInstrumentGUID", 37519, 108, 11, &kind::U_INT64NULL),
    Field::new("UnderlyingMaturityDate", 542, 116, 11, &kind::LOCAL_MKT_DATE),
];
const NO_RELATED_INSTRUMENTS: &[Field] = &[
    Field::new("RelatedSecurityID", 1650, 0, 0, &kind::INT32),
    Field::new("RelatedSecurityIDSource", 1651, 0, 0, &kind::SECURITY_ID_SOURCE),
    Field::new("RelatedSymbol", 1649, 4, 0, &kind::SYMBOL),
    Field::new("RelatedInstrumentGUID", 37724, 24, 0, &kind::U_INT64NULL),
];
const NO_BROKEN_DATES: &[Field] = &[
    Field::new("BrokenDateGUID", 39031, 0, 0, &kind::U_INT64),
    Field::new("BrokenDateSecurityID", 39027, 8, 0, &kind::INT32),
    Field::new("BrokenDateStart", 6748, 12, 0, &kind::LOCAL_MKT_DATE),
    Field::new("BrokenDateEnd", 6741, 14, 0, &kind::LOCAL_MKT_DATE),
];

hairpin_sbe::message! {
    /// MDInstrumentDefinitionRepo58: message type d, template 58, since version 10, block of 276 bytes, 7 groups.
    MDInstrumentDefinitionRepo58, MDInstrumentDefinitionRepo58Encoder, 276, MDInstrumentDefinitionRepo58Groups, 7
}

impl<'a> MDInstrumentDefinitionRepo58<'a> {
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
    #[inline] pub fn min_price_increment(&self) -> Price9 { Decimal(self.0.block.load::<i64, 86>()) }
    /// DisplayFactor (tag 9787), bytes 94..102.
    #[inline] pub fn display_factor(&self) -> Price9 { Decimal(self.0.block.load::<i64, 94>()) }
    /// UnitOfMeasure (tag 996), bytes 102..132.
    #[inline] pub fn unit_of_measure(&self) -> CharArray<'a> { self.0.block.chars::<102, 30>() }
    /// UnitOfMeasureQty (tag 1147), bytes 132..140.
    #[inline] pub fn unit_of_measure_qty(&self) -> Option<Price9> { self.0.block.nullable::<i64, 132>(i64::MAX).map(Decimal) }
    /// TradingReferencePrice (tag 1150), bytes 140..148.
    #[inline] pub fn trading_reference_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 140>(i64::MAX).map(Decimal) }
    /// TradingReferenceDate (tag 5796), bytes 148..150.
    #[inline] pub fn trading_reference_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 148>(u16::MAX) }
    /// HighLimitPrice (tag 1149), bytes 150..158.
    #[inline] pub fn high_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 150>(i64::MAX).map(Decimal) }
    /// LowLimitPrice (tag 1148), bytes 158..166.
    #[inline] pub fn low_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 158>(i64::MAX).map(Decimal) }
    /// MaxPriceVariation (tag 1143), bytes 166..174.
    #[inline] pub fn max_price_variation(&self) -> Option<Price9> { self.0.block.nullable::<i64, 166>(i64::MAX).map(Decimal) }
    /// FinancialInstrumentFullName (tag 2714), bytes 174..209.
    #[inline] pub fn financial_instrument_full_name(&self) -> CharArray<'a> { self.0.block.chars::<174, 35>() }
    /// PartyRoleClearingOrg (tag 9736), bytes 209..214.
    #[inline] pub fn party_role_clearing_org(&self) -> CharArray<'a> { self.0.block.chars::<209, 5>() }
    /// StartDate (tag 916), bytes 214..216.
    #[inline] pub fn start_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 214>(u16::MAX) }
    /// EndDate (tag 917), bytes 216..218.
    #[inline] pub fn end_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 216>(u16::MAX) }
    /// TerminationType (tag 788), bytes 218..226.
    #[inline] pub fn termination_type(&self) -> CharArray<'a> { self.0.block.chars::<218, 8>() }
    /// SecuritySubType (tag 762), bytes 226..227.
    #[inline] pub fn security_sub_type(&self) -> RepoSubType { RepoSubType(self.0.block.load::<u8, 226>()) }
    /// MoneyOrPar (tag 37714), bytes 227..228.
    #[inline] pub fn money_or_par(&self) -> Option<MoneyOrPar> { self.0.block.nullable::<u8, 227>(u8::MAX).map(MoneyOrPar) }
    /// MaxNoOfSubstitutions (tag 37715), bytes 228..229.
    #[inline] pub fn max_no_of_substitutions(&self) -> u8 { self.0.block.load::<u8, 228>() }
    /// PriceQuoteMethod (tag 1196), bytes 229..234.
    #[inline] pub fn price_quote_method(&self) -> CharArray<'a> { self.0.block.chars::<229, 5>() }
    /// UserDefinedInstrument (tag 9779), bytes 234..235.
    #[inline] pub fn user_defined_instrument(&self) -> u8 { self.0.block.load::<u8, 234>() }
    /// RiskSet (tag 37721), bytes 235..241.
    #[inline] pub fn risk_set(&self) -> CharArray<'a> { self.0.block.chars::<235, 6>() }
    /// MarketSet (tag 37722), bytes 241..247.
    #[inline] pub fn market_set(&self) -> CharArray<'a> { self.0.block.chars::<241, 6>() }
    /// InstrumentGUID (tag 37513), bytes 247..255.
    #[inline] pub fn instrument_guid(&self) -> Option<u64> { self.0.block.nullable::<u64, 247>(u64::MAX) }
    /// TermCode (tag 37716), bytes 255..275, since version 11.
    #[inline] pub fn term_code(&self) -> CharArray<'a> { self.0.block.chars::<255, 20>() }
    /// BrokenDateTermType (tag 6651), bytes 275..276, since version 13.
    #[inline] pub fn broken_date_term_type(&self) -> Option<u8> { self.0.block.nullable::<u8, 275>(u8::MAX) }
    /// NoEvents (tag 864).
    #[inline] pub fn no_events(&self) -> Group<'a, NoEvents<'a>> { Group::new(self.0.group(0)) }
    /// NoMDFeedTypes (tag 1141).
    #[inline] pub fn no_md_feed_types(&self) -> Group<'a, NoMDFeedTypes<'a>> { Group::new(self.0.group(1)) }
    /// NoInstAttrib (tag 870).
    #[inline] pub fn no_inst_attrib(&self) -> Group<'a, NoInstAttrib<'a>> { Group::new(self.0.group(2)) }
    /// NoLotTypeRules (tag 1234).
    #[inline] pub fn no_lot_type_rules(&self) -> Group<'a, NoLotTypeRules<'a>> { Group::new(self.0.group(3)) }
    /// NoUnderlyings (tag 711).
    #[inline] pub fn no_underlyings(&self) -> Group<'a, NoUnderlyings<'a>> { Group::new(self.0.group(4)) }
    /// NoRelatedInstruments (tag 1647).
    #[inline] pub fn no_related_instruments(&self) -> Group<'a, NoRelatedInstruments<'a>> { Group::new(self.0.group(5)) }
    /// NoBrokenDates (tag 39026), since version 13.
    #[inline] pub fn no_broken_dates(&self) -> Group<'a, NoBrokenDates<'a>> { Group::new(self.0.group(6)) }
}

impl MDInstrumentDefinitionRepo58Encoder<'_> {
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
    /** Writes MinPriceIncrement. */ #[inline] pub fn set_min_price_increment(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 86>(value.0); self }
    /** Writes DisplayFactor. */ #[inline] pub fn set_display_factor(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 94>(value.0); self }
    /** Writes UnitOfMeasure. */ #[inline] pub fn set_unit_of_measure(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<102, 30>(value.as_ref()); self }
    /** Writes UnitOfMeasureQty. */ #[inline] pub fn set_unit_of_measure_qty(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 132>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes TradingReferencePrice. */ #[inline] pub fn set_trading_reference_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 140>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes TradingReferenceDate. */ #[inline] pub fn set_trading_reference_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 148>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes HighLimitPrice. */ #[inline] pub fn set_high_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 150>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes LowLimitPrice. */ #[inline] pub fn set_low_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 158>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes MaxPriceVariation. */ #[inline] pub fn set_max_price_variation(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 166>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes FinancialInstrumentFullName. */ #[inline] pub fn set_financial_instrument_full_name(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<174, 35>(value.as_ref()); self }
    /** Writes PartyRoleClearingOrg. */ #[inline] pub fn set_party_role_clearing_org(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<209, 5>(value.as_ref()); self }
    /** Writes StartDate. */ #[inline] pub fn set_start_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 214>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes EndDate. */ #[inline] pub fn set_end_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 216>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes TerminationType. */ #[inline] pub fn set_termination_type(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<218, 8>(value.as_ref()); self }
    /** Writes SecuritySubType. */ #[inline] pub fn set_security_sub_type(&mut self, value: RepoSubType) -> &mut Self { self.0.store::<u8, 226>(value.0); self }
    /** Writes MoneyOrPar. */ #[inline] pub fn set_money_or_par(&mut self, value: impl Into<Option<MoneyOrPar>>) -> &mut Self { self.0.store::<u8, 227>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes MaxNoOfSubstitutions. */ #[inline] pub fn set_max_no_of_substitutions(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 228>(value); self }
    /** Writes PriceQuoteMethod. */ #[inline] pub fn set_price_quote_method(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<229, 5>(value.as_ref()); self }
    /** Writes UserDefinedInstrument. */ #[inline] pub fn set_user_defined_instrument(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 234>(value); self }
    /** Writes RiskSet. */ #[inline] pub fn set_risk_set(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<235, 6>(value.as_ref()); self }
    /** Writes MarketSet. */ #[inline] pub fn set_market_set(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<241, 6>(value.as_ref()); self }
    /** Writes InstrumentGUID. */ #[inline] pub fn set_instrument_guid(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 247>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes TermCode. */ #[inline] pub fn set_term_code(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<255, 20>(value.as_ref()); self }
    /** Writes BrokenDateTermType. */ #[inline] pub fn set_broken_date_term_type(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 275>(value.into().unwrap_or(u8::MAX)); self }
}

impl MDInstrumentDefinitionRepo58Groups<'_> {
    /// Starts the group NoEvents.
    #[inline] pub fn no_events(&mut self) -> Result<GroupEncoder<'_, NoEvents<'_>>, EncodeError> { self.0.open(0) }
    /// Starts the group NoMDFeedTypes.
    #[inline] pub fn no_md_feed_types(&mut self) -> Result<GroupEncoder<'_, NoMDFeedTypes<'_>>, EncodeError> { self.0.open(1) }
    /// Starts the group NoInstAttrib.
    #[inline] pub fn no_inst_attrib(&mut self) -> Result<GroupEncoder<'_, NoInstAttrib<'_>>, EncodeError> { self.0.open(2) }
    /// Starts the group NoLotTypeRules.
    #[inline] pub fn no_lot_type_rules(&mut self) -> Result<GroupEncoder<'_, NoLotTypeRules<'_>>, EncodeError> { self.0.open(3) }
    /// Starts the group NoUnderlyings.
    #[inline] pub fn no_underlyings(&mut self) -> Result<GroupEncoder<'_, NoUnderlyings<'_>>, EncodeError> { self.0.open(4) }
    /// Starts the group NoRelatedInstruments.
    #[inline] pub fn no_related_instruments(&mut self) -> Result<GroupEncoder<'_, NoRelatedInstruments<'_>>, EncodeError> { self.0.open(5) }
    /// Starts the group NoBrokenDates.
    #[inline] pub fn no_broken_dates(&mut self) -> Result<GroupEncoder<'_, NoBrokenDates<'_>>, EncodeError> { self.0.open(6) }
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
    /// An entry of NoUnderlyings (tag 711): block of 118 bytes.
    NoUnderlyings, NoUnderlyingsEncoder, 118, 4
}

impl<'a> NoUnderlyings<'a> {
    /// UnderlyingSymbol (tag 311), bytes 0..20.
    #[inline] pub fn underlying_symbol(&self) -> CharArray<'a> { self.0.chars::<0, 20>() }
    /// UnderlyingSecurityID (tag 309), bytes 20..24.
    #[inline] pub fn underlying_security_id(&self) -> Option<i32> { self.0.nullable::<i32, 20>(i32::MAX) }
    /// UnderlyingSecurityIDSource (tag 305), constant.
    pub const UNDERLYING_SECURITY_ID_SOURCE: u8 = b'8';
    /// UnderlyingSecurityAltID (tag 458), bytes 24..36.
    #[inline] pub fn underlying_security_alt_id(&self) -> CharArray<'a> { self.0.chars::<24, 12>() }
    /// UnderlyingSecurityAltIDSource (tag 459), bytes 36..37.
    #[inline] pub fn underlying_security_alt_id_source(&self) -> Option<SecurityAltIDSource> { self.0.nullable::<u8, 36>(u8::MAX).map(SecurityAltIDSource) }
    /// UnderlyingFinancialInstrumentFullName (tag 2720), bytes 37..72.
    #[inline] pub fn underlying_financial_instrument_full_name(&self) -> CharArray<'a> { self.0.chars::<37, 35>() }
    /// UnderlyingSecurityType (tag 310), bytes 72..78.
    #[inline] pub fn underlying_security_type(&self) -> CharArray<'a> { self.0.chars::<72, 6>() }
    /// UnderlyingCountryOfIssue (tag 592), bytes 78..80.
    #[inline] pub fn underlying_country_of_issue(&self) -> CharArray<'a> { self.0.chars::<78, 2>() }
    /// UnderlyingIssuer (tag 306), bytes 80..105.
    #[inline] pub fn underlying_issuer(&self) -> CharArray<'a> { self.0.chars::<80, 25>() }
    /// UnderlyingMaxLifeTime (tag 37717), bytes 105..106.
    #[inline] pub fn underlying_max_life_time(&self) -> Option<u8> { self.0.nullable::<u8, 105>(u8::MAX) }
    /// UnderlyingMinDaysToMaturity (tag 37718), bytes 106..108.
    #[inline] pub fn underlying_min_days_to_maturity(&self) -> Option<u16> { self.0.nullable::<u16, 106>(u16::MAX) }
    /// UnderlyingInstrumentGUID (tag 37519), bytes 108..116, since version 11.
    #[inline] pub fn underlying_instrument_guid(&self) -> Option<u64> { self.0.nullable::<u64, 108>(u64::MAX) }
    /// UnderlyingMaturityDate (tag 542), bytes 116..118, since version 11.
    #[inline] pub fn underlying_maturity_date(&self) -> Option<u16> { self.0.nullable::<u16, 116>(u16::MAX) }
}

impl NoUnderlyingsEncoder<'_> {
    /** Writes UnderlyingSymbol. */ #[inline] pub fn set_underlying_symbol(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<0, 20>(value.as_ref()); self }
    /** Writes UnderlyingSecurityID. */ #[inline] pub fn set_underlying_security_id(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 20>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes UnderlyingSecurityAltID. */ #[inline] pub fn set_underlying_security_alt_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<24, 12>(value.as_ref()); self }
    /** Writes UnderlyingSecurityAltIDSource. */ #[inline] pub fn set_underlying_security_alt_id_source(&mut self, value: impl Into<Option<SecurityAltIDSource>>) -> &mut Self { self.0.store::<u8, 36>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes UnderlyingFinancialInstrumentFullName. */ #[inline] pub fn set_underlying_financial_instrument_full_name(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<37, 35>(value.as_ref()); self }
    /** Writes UnderlyingSecurityType. */ #[inline] pub fn set_underlying_security_type(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<72, 6>(value.as_ref()); self }
    /** Writes UnderlyingCountryOfIssue. */ #[inline] pub fn set_underlying_country_of_issue(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<78, 2>(value.as_ref()); self }
    /** Writes UnderlyingIssuer. */ #[inline] pub fn set_underlying_issuer(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<80, 25>(value.as_ref()); self }
    /** Writes UnderlyingMaxLifeTime. */ #[inline] pub fn set_underlying_max_life_time(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 105>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes UnderlyingMinDaysToMaturity. */ #[inline] pub fn set_underlying_min_days_to_maturity(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 106>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes UnderlyingInstrumentGUID. */ #[inline] pub fn set_underlying_instrument_guid(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 108>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes UnderlyingMaturityDate. */ #[inline] pub fn set_underlying_maturity_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 116>(value.into().unwrap_or(u16::MAX)); self }
}

hairpin_sbe::entry! {
    /// An entry of NoRelatedInstruments (tag 1647): block of 32 bytes.
    NoRelatedInstruments, NoRelatedInstrumentsEncoder, 32, 5
}

impl<'a> NoRelatedInstruments<'a> {
    /// RelatedSecurityID (tag 1650), bytes 0..4.
    #[inline] pub fn related_security_id(&self) -> i32 { self.0.load::<i32, 0>() }
    /// RelatedSecurityIDSource (tag 1651), constant.
    pub const RELATED_SECURITY_ID_SOURCE: u8 = b'8';
    /// RelatedSymbol (tag 1649), bytes 4..24.
    #[inline] pub fn related_symbol(&self) -> CharArray<'a> { self.0.chars::<4, 20>() }
    /// RelatedInstrumentGUID (tag 37724), bytes 24..32.
    #[inline] pub fn related_instrument_guid(&self) -> Option<u64> { self.0.nullable::<u64, 24>(u64::MAX) }
}

impl NoRelatedInstrumentsEncoder<'_> {
    /** Writes RelatedSecurityID. */ #[inline] pub fn set_related_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 0>(value); self }
    /** Writes RelatedSymbol. */ #[inline] pub fn set_related_symbol(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<4, 20>(value.as_ref()); self }
    /** Writes RelatedInstrumentGUID. */ #[inline] pub fn set_related_instrument_guid(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 24>(value.into().unwrap_or(u64::MAX)); self }
}

hairpin_sbe::entry! {
    /// An entry of NoBrokenDates (tag 39026): block of 16 bytes.
    NoBrokenDates, NoBrokenDatesEncoder, 16, 6
}

impl NoBrokenDates<'_> {
    /// BrokenDateGUID (tag 39031), bytes 0..8.
    #[inline] pub fn broken_date_guid(&self) -> u64 { self.0.load::<u64, 0>() }
    /// BrokenDateSecurityID (tag 39027), bytes 8..12.
    #[inline] pub fn broken_date_security_id(&self) -> i32 { self.0.load::<i32, 8>() }
    /// BrokenDateStart (tag 6748), bytes 12..14.
    #[inline] pub fn broken_date_start(&self) -> Option<u16> { self.0.nullable::<u16, 12>(u16::MAX) }
    /// BrokenDateEnd (tag 6741), bytes 14..16.
    #[inline] pub fn broken_date_end(&self) -> Option<u16> { self.0.nullable::<u16, 14>(u16::MAX) }
}

impl NoBrokenDatesEncoder<'_> {
    /** Writes BrokenDateGUID. */ #[inline] pub fn set_broken_date_guid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes BrokenDateSecurityID. */ #[inline] pub fn set_broken_date_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 8>(value); self }
    /** Writes BrokenDateStart. */ #[inline] pub fn set_broken_date_start(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 12>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes BrokenDateEnd. */ #[inline] pub fn set_broken_date_end(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 14>(value.into().unwrap_or(u16::MAX)); self }
}
