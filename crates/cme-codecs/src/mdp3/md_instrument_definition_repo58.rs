//! MDInstrumentDefinitionRepo58, template 58. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, DecodeError, Dimension, EncodeError, Entry, Field, Group, GroupEncoder, GroupLayout, GroupsEncoder, Message, MessageHeader, Root};

/// Layout of MDInstrumentDefinitionRepo58.
pub const MESSAGE: Message = Message {
    name: "MDInstrumentDefinitionRepo58", template_id: 58, schema_id: 1, version: 13, semantic_type: "d",
    block: BlockLayout::new(276, 10, FIELDS), groups: &[
        GroupLayout { name: "NoEvents", tag: 864, since: 0, block: BlockLayout::new(9, 10, NO_EVENTS),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
        GroupLayout { name: "NoMDFeedTypes", tag: 1141, since: 0, block: BlockLayout::new(4, 10, NO_MD_FEED_TYPES),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
        GroupLayout { name: "NoInstAttrib", tag: 870, since: 0, block: BlockLayout::new(4, 10, NO_INST_ATTRIB),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
        GroupLayout { name: "NoLotTypeRules", tag: 1234, since: 0, block: BlockLayout::new(5, 10, NO_LOT_TYPE_RULES),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
        GroupLayout { name: "NoUnderlyings", tag: 711, since: 0, block: BlockLayout::new(118, 10, NO_UNDERLYINGS),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
        GroupLayout { name: "NoRelatedInstruments", tag: 1647, since: 0, block: BlockLayout::new(32, 10, NO_RELATED_INSTRUMENTS),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
        GroupLayout { name: "NoBrokenDates", tag: 39026, since: 13, block: BlockLayout::new(16, 13, NO_BROKEN_DATES),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
    ], data: &[],
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

/// MDInstrumentDefinitionRepo58: message type d, template 58, since version 10, block of 276 bytes, 7 groups.
#[derive(Clone, Copy, Debug)]
pub struct MDInstrumentDefinitionRepo58<'a>(Root<'a, 276, 7>);

impl<'a> MDInstrumentDefinitionRepo58<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 58;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 276;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 276] = [0; 276];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 276] = MESSAGE.block.null_block();
    /// Writes header and null block; the groups follow. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<(MDInstrumentDefinitionRepo58Encoder<'_>, MDInstrumentDefinitionRepo58Groups<'_>), EncodeError> { hairpin_sbe::begin(&MESSAGE, &Self::NULL_BLOCK, buffer).map(|(block, groups)| (MDInstrumentDefinitionRepo58Encoder(block), MDInstrumentDefinitionRepo58Groups(groups))) }
    /// Checks the whole structure once; fails if anything is cut short or of another template.
    #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; 276]) -> Result<Self, DecodeError> { Root::decode(&MESSAGE, header, body, scratch).map(Self) }
    /// Bytes on the wire from the SBE header on.
    #[inline] pub fn encoded_length(&self) -> usize { self.0.encoded_length() }
    /// MatchEventIndicator (tag 5799), 1 at 0.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 0>()) }
    /// TotNumReports (tag 911), 4 at 1.
    #[inline] pub fn tot_num_reports(&self) -> Option<u32> { self.0.block.nullable::<u32, 1>(u32::MAX) }
    /// SecurityUpdateAction (tag 980), 1 at 5.
    #[inline] pub fn security_update_action(&self) -> SecurityUpdateAction { SecurityUpdateAction(self.0.block.load::<u8, 5>()) }
    /// LastUpdateTime (tag 779), 8 at 6.
    #[inline] pub fn last_update_time(&self) -> u64 { self.0.block.load::<u64, 6>() }
    /// MDSecurityTradingStatus (tag 1682), 1 at 14.
    #[inline] pub fn md_security_trading_status(&self) -> Option<SecurityTradingStatus> { self.0.block.nullable::<u8, 14>(u8::MAX).map(SecurityTradingStatus) }
    /// ApplID (tag 1180), 2 at 15.
    #[inline] pub fn appl_id(&self) -> i16 { self.0.block.load::<i16, 15>() }
    /// MarketSegmentID (tag 1300), 1 at 17.
    #[inline] pub fn market_segment_id(&self) -> u8 { self.0.block.load::<u8, 17>() }
    /// UnderlyingProduct (tag 462), 1 at 18.
    #[inline] pub fn underlying_product(&self) -> u8 { self.0.block.load::<u8, 18>() }
    /// SecurityExchange (tag 207), 4 at 19.
    #[inline] pub fn security_exchange(&self) -> CharArray<'a> { self.0.block.chars::<19, 4>() }
    /// SecurityGroup (tag 1151), 6 at 23.
    #[inline] pub fn security_group(&self) -> CharArray<'a> { self.0.block.chars::<23, 6>() }
    /// Asset (tag 6937), 6 at 29.
    #[inline] pub fn asset(&self) -> CharArray<'a> { self.0.block.chars::<29, 6>() }
    /// Symbol (tag 55), 20 at 35.
    #[inline] pub fn symbol(&self) -> CharArray<'a> { self.0.block.chars::<35, 20>() }
    /// SecurityID (tag 48), 4 at 55.
    #[inline] pub fn security_id(&self) -> i32 { self.0.block.load::<i32, 55>() }
    /// SecurityIDSource (tag 22), constant.
    pub const SECURITY_ID_SOURCE: u8 = b'8';
    /// SecurityType (tag 167), 6 at 59.
    #[inline] pub fn security_type(&self) -> CharArray<'a> { self.0.block.chars::<59, 6>() }
    /// CFICode (tag 461), 6 at 65.
    #[inline] pub fn cfi_code(&self) -> CharArray<'a> { self.0.block.chars::<65, 6>() }
    /// Currency (tag 15), 3 at 71.
    #[inline] pub fn currency(&self) -> CharArray<'a> { self.0.block.chars::<71, 3>() }
    /// SettlCurrency (tag 120), 3 at 74.
    #[inline] pub fn settl_currency(&self) -> CharArray<'a> { self.0.block.chars::<74, 3>() }
    /// MatchAlgorithm (tag 1142), 1 at 77.
    #[inline] pub fn match_algorithm(&self) -> u8 { self.0.block.load::<u8, 77>() }
    /// MinTradeVol (tag 562), 4 at 78.
    #[inline] pub fn min_trade_vol(&self) -> u32 { self.0.block.load::<u32, 78>() }
    /// MaxTradeVol (tag 1140), 4 at 82.
    #[inline] pub fn max_trade_vol(&self) -> u32 { self.0.block.load::<u32, 82>() }
    /// MinPriceIncrement (tag 969), 8 at 86.
    #[inline] pub fn min_price_increment(&self) -> Price9 { Decimal(self.0.block.load::<i64, 86>()) }
    /// DisplayFactor (tag 9787), 8 at 94.
    #[inline] pub fn display_factor(&self) -> Price9 { Decimal(self.0.block.load::<i64, 94>()) }
    /// UnitOfMeasure (tag 996), 30 at 102.
    #[inline] pub fn unit_of_measure(&self) -> CharArray<'a> { self.0.block.chars::<102, 30>() }
    /// UnitOfMeasureQty (tag 1147), 8 at 132.
    #[inline] pub fn unit_of_measure_qty(&self) -> Option<Price9> { self.0.block.nullable::<i64, 132>(i64::MAX).map(Decimal) }
    /// TradingReferencePrice (tag 1150), 8 at 140.
    #[inline] pub fn trading_reference_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 140>(i64::MAX).map(Decimal) }
    /// TradingReferenceDate (tag 5796), 2 at 148.
    #[inline] pub fn trading_reference_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 148>(u16::MAX) }
    /// HighLimitPrice (tag 1149), 8 at 150.
    #[inline] pub fn high_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 150>(i64::MAX).map(Decimal) }
    /// LowLimitPrice (tag 1148), 8 at 158.
    #[inline] pub fn low_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 158>(i64::MAX).map(Decimal) }
    /// MaxPriceVariation (tag 1143), 8 at 166.
    #[inline] pub fn max_price_variation(&self) -> Option<Price9> { self.0.block.nullable::<i64, 166>(i64::MAX).map(Decimal) }
    /// FinancialInstrumentFullName (tag 2714), 35 at 174.
    #[inline] pub fn financial_instrument_full_name(&self) -> CharArray<'a> { self.0.block.chars::<174, 35>() }
    /// PartyRoleClearingOrg (tag 9736), 5 at 209.
    #[inline] pub fn party_role_clearing_org(&self) -> CharArray<'a> { self.0.block.chars::<209, 5>() }
    /// StartDate (tag 916), 2 at 214.
    #[inline] pub fn start_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 214>(u16::MAX) }
    /// EndDate (tag 917), 2 at 216.
    #[inline] pub fn end_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 216>(u16::MAX) }
    /// TerminationType (tag 788), 8 at 218.
    #[inline] pub fn termination_type(&self) -> CharArray<'a> { self.0.block.chars::<218, 8>() }
    /// SecuritySubType (tag 762), 1 at 226.
    #[inline] pub fn security_sub_type(&self) -> RepoSubType { RepoSubType(self.0.block.load::<u8, 226>()) }
    /// MoneyOrPar (tag 37714), 1 at 227.
    #[inline] pub fn money_or_par(&self) -> Option<MoneyOrPar> { self.0.block.nullable::<u8, 227>(u8::MAX).map(MoneyOrPar) }
    /// MaxNoOfSubstitutions (tag 37715), 1 at 228.
    #[inline] pub fn max_no_of_substitutions(&self) -> u8 { self.0.block.load::<u8, 228>() }
    /// PriceQuoteMethod (tag 1196), 5 at 229.
    #[inline] pub fn price_quote_method(&self) -> CharArray<'a> { self.0.block.chars::<229, 5>() }
    /// UserDefinedInstrument (tag 9779), 1 at 234.
    #[inline] pub fn user_defined_instrument(&self) -> u8 { self.0.block.load::<u8, 234>() }
    /// RiskSet (tag 37721), 6 at 235.
    #[inline] pub fn risk_set(&self) -> CharArray<'a> { self.0.block.chars::<235, 6>() }
    /// MarketSet (tag 37722), 6 at 241.
    #[inline] pub fn market_set(&self) -> CharArray<'a> { self.0.block.chars::<241, 6>() }
    /// InstrumentGUID (tag 37513), 8 at 247.
    #[inline] pub fn instrument_guid(&self) -> Option<u64> { self.0.block.nullable::<u64, 247>(u64::MAX) }
    /// TermCode (tag 37716), 20 at 255, since version 11.
    #[inline] pub fn term_code(&self) -> CharArray<'a> { self.0.block.chars::<255, 20>() }
    /// BrokenDateTermType (tag 6651), 1 at 275, since version 13.
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

/// Writes the block of MDInstrumentDefinitionRepo58.
#[derive(Debug)]
pub struct MDInstrumentDefinitionRepo58Encoder<'a>(&'a mut [u8; 276]);

impl MDInstrumentDefinitionRepo58Encoder<'_> {
    /// Writes MatchEventIndicator.
    #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 0>(value.0); self }
    /// Writes TotNumReports.
    #[inline] pub fn set_tot_num_reports(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 1>(value.into().unwrap_or(u32::MAX)); self }
    /// Writes SecurityUpdateAction.
    #[inline] pub fn set_security_update_action(&mut self, value: SecurityUpdateAction) -> &mut Self { self.0.store::<u8, 5>(value.0); self }
    /// Writes LastUpdateTime.
    #[inline] pub fn set_last_update_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 6>(value); self }
    /// Writes MDSecurityTradingStatus.
    #[inline] pub fn set_md_security_trading_status(&mut self, value: impl Into<Option<SecurityTradingStatus>>) -> &mut Self { self.0.store::<u8, 14>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /// Writes ApplID.
    #[inline] pub fn set_appl_id(&mut self, value: i16) -> &mut Self { self.0.store::<i16, 15>(value); self }
    /// Writes MarketSegmentID.
    #[inline] pub fn set_market_segment_id(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 17>(value); self }
    /// Writes UnderlyingProduct.
    #[inline] pub fn set_underlying_product(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 18>(value); self }
    /// Writes SecurityExchange.
    #[inline] pub fn set_security_exchange(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<19, 4>(value.as_ref()); self }
    /// Writes SecurityGroup.
    #[inline] pub fn set_security_group(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<23, 6>(value.as_ref()); self }
    /// Writes Asset.
    #[inline] pub fn set_asset(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<29, 6>(value.as_ref()); self }
    /// Writes Symbol.
    #[inline] pub fn set_symbol(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<35, 20>(value.as_ref()); self }
    /// Writes SecurityID.
    #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 55>(value); self }
    /// Writes SecurityType.
    #[inline] pub fn set_security_type(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<59, 6>(value.as_ref()); self }
    /// Writes CFICode.
    #[inline] pub fn set_cfi_code(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<65, 6>(value.as_ref()); self }
    /// Writes Currency.
    #[inline] pub fn set_currency(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<71, 3>(value.as_ref()); self }
    /// Writes SettlCurrency.
    #[inline] pub fn set_settl_currency(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<74, 3>(value.as_ref()); self }
    /// Writes MatchAlgorithm.
    #[inline] pub fn set_match_algorithm(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 77>(value); self }
    /// Writes MinTradeVol.
    #[inline] pub fn set_min_trade_vol(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 78>(value); self }
    /// Writes MaxTradeVol.
    #[inline] pub fn set_max_trade_vol(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 82>(value); self }
    /// Writes MinPriceIncrement.
    #[inline] pub fn set_min_price_increment(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 86>(value.0); self }
    /// Writes DisplayFactor.
    #[inline] pub fn set_display_factor(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 94>(value.0); self }
    /// Writes UnitOfMeasure.
    #[inline] pub fn set_unit_of_measure(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<102, 30>(value.as_ref()); self }
    /// Writes UnitOfMeasureQty.
    #[inline] pub fn set_unit_of_measure_qty(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 132>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /// Writes TradingReferencePrice.
    #[inline] pub fn set_trading_reference_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 140>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /// Writes TradingReferenceDate.
    #[inline] pub fn set_trading_reference_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 148>(value.into().unwrap_or(u16::MAX)); self }
    /// Writes HighLimitPrice.
    #[inline] pub fn set_high_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 150>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /// Writes LowLimitPrice.
    #[inline] pub fn set_low_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 158>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /// Writes MaxPriceVariation.
    #[inline] pub fn set_max_price_variation(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 166>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /// Writes FinancialInstrumentFullName.
    #[inline] pub fn set_financial_instrument_full_name(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<174, 35>(value.as_ref()); self }
    /// Writes PartyRoleClearingOrg.
    #[inline] pub fn set_party_role_clearing_org(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<209, 5>(value.as_ref()); self }
    /// Writes StartDate.
    #[inline] pub fn set_start_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 214>(value.into().unwrap_or(u16::MAX)); self }
    /// Writes EndDate.
    #[inline] pub fn set_end_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 216>(value.into().unwrap_or(u16::MAX)); self }
    /// Writes TerminationType.
    #[inline] pub fn set_termination_type(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<218, 8>(value.as_ref()); self }
    /// Writes SecuritySubType.
    #[inline] pub fn set_security_sub_type(&mut self, value: RepoSubType) -> &mut Self { self.0.store::<u8, 226>(value.0); self }
    /// Writes MoneyOrPar.
    #[inline] pub fn set_money_or_par(&mut self, value: impl Into<Option<MoneyOrPar>>) -> &mut Self { self.0.store::<u8, 227>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /// Writes MaxNoOfSubstitutions.
    #[inline] pub fn set_max_no_of_substitutions(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 228>(value); self }
    /// Writes PriceQuoteMethod.
    #[inline] pub fn set_price_quote_method(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<229, 5>(value.as_ref()); self }
    /// Writes UserDefinedInstrument.
    #[inline] pub fn set_user_defined_instrument(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 234>(value); self }
    /// Writes RiskSet.
    #[inline] pub fn set_risk_set(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<235, 6>(value.as_ref()); self }
    /// Writes MarketSet.
    #[inline] pub fn set_market_set(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<241, 6>(value.as_ref()); self }
    /// Writes InstrumentGUID.
    #[inline] pub fn set_instrument_guid(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 247>(value.into().unwrap_or(u64::MAX)); self }
    /// Writes TermCode.
    #[inline] pub fn set_term_code(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<255, 20>(value.as_ref()); self }
    /// Writes BrokenDateTermType.
    #[inline] pub fn set_broken_date_term_type(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 275>(value.into().unwrap_or(u8::MAX)); self }
}

/// Writes the groups of MDInstrumentDefinitionRepo58, in this order; those left out are empty.
#[derive(Debug)]
#[must_use = "the message is whole only after finish"]
pub struct MDInstrumentDefinitionRepo58Groups<'a>(GroupsEncoder<'a>);

impl MDInstrumentDefinitionRepo58Groups<'_> {
    /// Begins NoEvents. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_events(&mut self) -> Result<GroupEncoder<'_, NoEvents<'_>>, EncodeError> { self.0.open(0) }
    /// Begins NoMDFeedTypes. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_md_feed_types(&mut self) -> Result<GroupEncoder<'_, NoMDFeedTypes<'_>>, EncodeError> { self.0.open(1) }
    /// Begins NoInstAttrib. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_inst_attrib(&mut self) -> Result<GroupEncoder<'_, NoInstAttrib<'_>>, EncodeError> { self.0.open(2) }
    /// Begins NoLotTypeRules. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_lot_type_rules(&mut self) -> Result<GroupEncoder<'_, NoLotTypeRules<'_>>, EncodeError> { self.0.open(3) }
    /// Begins NoUnderlyings. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_underlyings(&mut self) -> Result<GroupEncoder<'_, NoUnderlyings<'_>>, EncodeError> { self.0.open(4) }
    /// Begins NoRelatedInstruments. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_related_instruments(&mut self) -> Result<GroupEncoder<'_, NoRelatedInstruments<'_>>, EncodeError> { self.0.open(5) }
    /// Begins NoBrokenDates. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_broken_dates(&mut self) -> Result<GroupEncoder<'_, NoBrokenDates<'_>>, EncodeError> { self.0.open(6) }
    /// Ends the message; gives its bytes from the SBE header on. Fails if the buffer is too short.
    #[inline] pub fn finish(self) -> Result<usize, EncodeError> { self.0.finish() }
}

/// An entry of NoEvents: block of 9 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoEvents<'a>(&'a [u8; 9]);

impl<'a> NoEvents<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 9;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 9] = [0; 9];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 9] = MESSAGE.groups[0].block.null_block();
    /// EventType (tag 865), 1 at 0.
    #[inline] pub fn event_type(&self) -> EventType { EventType(self.0.load::<u8, 0>()) }
    /// EventTime (tag 1145), 8 at 1.
    #[inline] pub fn event_time(&self) -> u64 { self.0.load::<u64, 1>() }
}

impl Entry for NoEvents<'_> {
    type View<'a> = NoEvents<'a>;
    type Encoder<'a> = NoEventsEncoder<'a>;
    type Scratch = [u8; 9];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[0];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 9]) -> NoEvents<'a> { NoEvents(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoEventsEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoEventsEncoder(block)) }
}

/// Writes the block of an entry of NoEvents.
#[derive(Debug)]
pub struct NoEventsEncoder<'a>(&'a mut [u8; 9]);

impl NoEventsEncoder<'_> {
    /// Writes EventType.
    #[inline] pub fn set_event_type(&mut self, value: EventType) -> &mut Self { self.0.store::<u8, 0>(value.0); self }
    /// Writes EventTime.
    #[inline] pub fn set_event_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 1>(value); self }
}

/// An entry of NoMDFeedTypes: block of 4 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoMDFeedTypes<'a>(&'a [u8; 4]);

impl<'a> NoMDFeedTypes<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 4;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 4] = [0; 4];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 4] = MESSAGE.groups[1].block.null_block();
    /// MDFeedType (tag 1022), 3 at 0.
    #[inline] pub fn md_feed_type(&self) -> CharArray<'a> { self.0.chars::<0, 3>() }
    /// MarketDepth (tag 264), 1 at 3.
    #[inline] pub fn market_depth(&self) -> i8 { self.0.load::<i8, 3>() }
}

impl Entry for NoMDFeedTypes<'_> {
    type View<'a> = NoMDFeedTypes<'a>;
    type Encoder<'a> = NoMDFeedTypesEncoder<'a>;
    type Scratch = [u8; 4];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[1];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 4]) -> NoMDFeedTypes<'a> { NoMDFeedTypes(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoMDFeedTypesEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoMDFeedTypesEncoder(block)) }
}

/// Writes the block of an entry of NoMDFeedTypes.
#[derive(Debug)]
pub struct NoMDFeedTypesEncoder<'a>(&'a mut [u8; 4]);

impl NoMDFeedTypesEncoder<'_> {
    /// Writes MDFeedType.
    #[inline] pub fn set_md_feed_type(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<0, 3>(value.as_ref()); self }
    /// Writes MarketDepth.
    #[inline] pub fn set_market_depth(&mut self, value: i8) -> &mut Self { self.0.store::<i8, 3>(value); self }
}

/// An entry of NoInstAttrib: block of 4 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoInstAttrib<'a>(&'a [u8; 4]);

impl<'a> NoInstAttrib<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 4;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 4] = [0; 4];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 4] = MESSAGE.groups[2].block.null_block();
    /// InstAttribType (tag 871), constant.
    pub const INST_ATTRIB_TYPE: i8 = 24;
    /// InstAttribValue (tag 872), 4 at 0.
    #[inline] pub fn inst_attrib_value(&self) -> InstAttribValue { InstAttribValue(self.0.load::<u32, 0>()) }
}

impl Entry for NoInstAttrib<'_> {
    type View<'a> = NoInstAttrib<'a>;
    type Encoder<'a> = NoInstAttribEncoder<'a>;
    type Scratch = [u8; 4];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[2];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 4]) -> NoInstAttrib<'a> { NoInstAttrib(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoInstAttribEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoInstAttribEncoder(block)) }
}

/// Writes the block of an entry of NoInstAttrib.
#[derive(Debug)]
pub struct NoInstAttribEncoder<'a>(&'a mut [u8; 4]);

impl NoInstAttribEncoder<'_> {
    /// Writes InstAttribValue.
    #[inline] pub fn set_inst_attrib_value(&mut self, value: InstAttribValue) -> &mut Self { self.0.store::<u32, 0>(value.0); self }
}

/// An entry of NoLotTypeRules: block of 5 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoLotTypeRules<'a>(&'a [u8; 5]);

impl<'a> NoLotTypeRules<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 5;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 5] = [0; 5];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 5] = MESSAGE.groups[3].block.null_block();
    /// LotType (tag 1093), 1 at 0.
    #[inline] pub fn lot_type(&self) -> i8 { self.0.load::<i8, 0>() }
    /// MinLotSize (tag 1231), 4 at 1.
    #[inline] pub fn min_lot_size(&self) -> Option<DecimalQty> { self.0.decimal32::<-4, 1>() }
}

impl Entry for NoLotTypeRules<'_> {
    type View<'a> = NoLotTypeRules<'a>;
    type Encoder<'a> = NoLotTypeRulesEncoder<'a>;
    type Scratch = [u8; 5];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[3];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 5]) -> NoLotTypeRules<'a> { NoLotTypeRules(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoLotTypeRulesEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoLotTypeRulesEncoder(block)) }
}

/// Writes the block of an entry of NoLotTypeRules.
#[derive(Debug)]
pub struct NoLotTypeRulesEncoder<'a>(&'a mut [u8; 5]);

impl NoLotTypeRulesEncoder<'_> {
    /// Writes LotType.
    #[inline] pub fn set_lot_type(&mut self, value: i8) -> &mut Self { self.0.store::<i8, 0>(value); self }
    /// Writes MinLotSize.
    #[inline] pub fn set_min_lot_size(&mut self, value: impl Into<Option<DecimalQty>>) -> &mut Self { self.0.store_decimal32::<-4, 1>(value.into()); self }
}

/// An entry of NoUnderlyings: block of 118 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoUnderlyings<'a>(&'a [u8; 118]);

impl<'a> NoUnderlyings<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 118;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 118] = [0; 118];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 118] = MESSAGE.groups[4].block.null_block();
    /// UnderlyingSymbol (tag 311), 20 at 0.
    #[inline] pub fn underlying_symbol(&self) -> CharArray<'a> { self.0.chars::<0, 20>() }
    /// UnderlyingSecurityID (tag 309), 4 at 20.
    #[inline] pub fn underlying_security_id(&self) -> Option<i32> { self.0.nullable::<i32, 20>(i32::MAX) }
    /// UnderlyingSecurityIDSource (tag 305), constant.
    pub const UNDERLYING_SECURITY_ID_SOURCE: u8 = b'8';
    /// UnderlyingSecurityAltID (tag 458), 12 at 24.
    #[inline] pub fn underlying_security_alt_id(&self) -> CharArray<'a> { self.0.chars::<24, 12>() }
    /// UnderlyingSecurityAltIDSource (tag 459), 1 at 36.
    #[inline] pub fn underlying_security_alt_id_source(&self) -> Option<SecurityAltIDSource> { self.0.nullable::<u8, 36>(u8::MAX).map(SecurityAltIDSource) }
    /// UnderlyingFinancialInstrumentFullName (tag 2720), 35 at 37.
    #[inline] pub fn underlying_financial_instrument_full_name(&self) -> CharArray<'a> { self.0.chars::<37, 35>() }
    /// UnderlyingSecurityType (tag 310), 6 at 72.
    #[inline] pub fn underlying_security_type(&self) -> CharArray<'a> { self.0.chars::<72, 6>() }
    /// UnderlyingCountryOfIssue (tag 592), 2 at 78.
    #[inline] pub fn underlying_country_of_issue(&self) -> CharArray<'a> { self.0.chars::<78, 2>() }
    /// UnderlyingIssuer (tag 306), 25 at 80.
    #[inline] pub fn underlying_issuer(&self) -> CharArray<'a> { self.0.chars::<80, 25>() }
    /// UnderlyingMaxLifeTime (tag 37717), 1 at 105.
    #[inline] pub fn underlying_max_life_time(&self) -> Option<u8> { self.0.nullable::<u8, 105>(u8::MAX) }
    /// UnderlyingMinDaysToMaturity (tag 37718), 2 at 106.
    #[inline] pub fn underlying_min_days_to_maturity(&self) -> Option<u16> { self.0.nullable::<u16, 106>(u16::MAX) }
    /// UnderlyingInstrumentGUID (tag 37519), 8 at 108, since version 11.
    #[inline] pub fn underlying_instrument_guid(&self) -> Option<u64> { self.0.nullable::<u64, 108>(u64::MAX) }
    /// UnderlyingMaturityDate (tag 542), 2 at 116, since version 11.
    #[inline] pub fn underlying_maturity_date(&self) -> Option<u16> { self.0.nullable::<u16, 116>(u16::MAX) }
}

impl Entry for NoUnderlyings<'_> {
    type View<'a> = NoUnderlyings<'a>;
    type Encoder<'a> = NoUnderlyingsEncoder<'a>;
    type Scratch = [u8; 118];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[4];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 118]) -> NoUnderlyings<'a> { NoUnderlyings(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoUnderlyingsEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoUnderlyingsEncoder(block)) }
}

/// Writes the block of an entry of NoUnderlyings.
#[derive(Debug)]
pub struct NoUnderlyingsEncoder<'a>(&'a mut [u8; 118]);

impl NoUnderlyingsEncoder<'_> {
    /// Writes UnderlyingSymbol.
    #[inline] pub fn set_underlying_symbol(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<0, 20>(value.as_ref()); self }
    /// Writes UnderlyingSecurityID.
    #[inline] pub fn set_underlying_security_id(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 20>(value.into().unwrap_or(i32::MAX)); self }
    /// Writes UnderlyingSecurityAltID.
    #[inline] pub fn set_underlying_security_alt_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<24, 12>(value.as_ref()); self }
    /// Writes UnderlyingSecurityAltIDSource.
    #[inline] pub fn set_underlying_security_alt_id_source(&mut self, value: impl Into<Option<SecurityAltIDSource>>) -> &mut Self { self.0.store::<u8, 36>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /// Writes UnderlyingFinancialInstrumentFullName.
    #[inline] pub fn set_underlying_financial_instrument_full_name(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<37, 35>(value.as_ref()); self }
    /// Writes UnderlyingSecurityType.
    #[inline] pub fn set_underlying_security_type(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<72, 6>(value.as_ref()); self }
    /// Writes UnderlyingCountryOfIssue.
    #[inline] pub fn set_underlying_country_of_issue(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<78, 2>(value.as_ref()); self }
    /// Writes UnderlyingIssuer.
    #[inline] pub fn set_underlying_issuer(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<80, 25>(value.as_ref()); self }
    /// Writes UnderlyingMaxLifeTime.
    #[inline] pub fn set_underlying_max_life_time(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 105>(value.into().unwrap_or(u8::MAX)); self }
    /// Writes UnderlyingMinDaysToMaturity.
    #[inline] pub fn set_underlying_min_days_to_maturity(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 106>(value.into().unwrap_or(u16::MAX)); self }
    /// Writes UnderlyingInstrumentGUID.
    #[inline] pub fn set_underlying_instrument_guid(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 108>(value.into().unwrap_or(u64::MAX)); self }
    /// Writes UnderlyingMaturityDate.
    #[inline] pub fn set_underlying_maturity_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 116>(value.into().unwrap_or(u16::MAX)); self }
}

/// An entry of NoRelatedInstruments: block of 32 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoRelatedInstruments<'a>(&'a [u8; 32]);

impl<'a> NoRelatedInstruments<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 32;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 32] = [0; 32];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 32] = MESSAGE.groups[5].block.null_block();
    /// RelatedSecurityID (tag 1650), 4 at 0.
    #[inline] pub fn related_security_id(&self) -> i32 { self.0.load::<i32, 0>() }
    /// RelatedSecurityIDSource (tag 1651), constant.
    pub const RELATED_SECURITY_ID_SOURCE: u8 = b'8';
    /// RelatedSymbol (tag 1649), 20 at 4.
    #[inline] pub fn related_symbol(&self) -> CharArray<'a> { self.0.chars::<4, 20>() }
    /// RelatedInstrumentGUID (tag 37724), 8 at 24.
    #[inline] pub fn related_instrument_guid(&self) -> Option<u64> { self.0.nullable::<u64, 24>(u64::MAX) }
}

impl Entry for NoRelatedInstruments<'_> {
    type View<'a> = NoRelatedInstruments<'a>;
    type Encoder<'a> = NoRelatedInstrumentsEncoder<'a>;
    type Scratch = [u8; 32];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[5];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 32]) -> NoRelatedInstruments<'a> { NoRelatedInstruments(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoRelatedInstrumentsEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoRelatedInstrumentsEncoder(block)) }
}

/// Writes the block of an entry of NoRelatedInstruments.
#[derive(Debug)]
pub struct NoRelatedInstrumentsEncoder<'a>(&'a mut [u8; 32]);

impl NoRelatedInstrumentsEncoder<'_> {
    /// Writes RelatedSecurityID.
    #[inline] pub fn set_related_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 0>(value); self }
    /// Writes RelatedSymbol.
    #[inline] pub fn set_related_symbol(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<4, 20>(value.as_ref()); self }
    /// Writes RelatedInstrumentGUID.
    #[inline] pub fn set_related_instrument_guid(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 24>(value.into().unwrap_or(u64::MAX)); self }
}

/// An entry of NoBrokenDates: block of 16 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoBrokenDates<'a>(&'a [u8; 16]);

impl<'a> NoBrokenDates<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 16;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 16] = [0; 16];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 16] = MESSAGE.groups[6].block.null_block();
    /// BrokenDateGUID (tag 39031), 8 at 0.
    #[inline] pub fn broken_date_guid(&self) -> u64 { self.0.load::<u64, 0>() }
    /// BrokenDateSecurityID (tag 39027), 4 at 8.
    #[inline] pub fn broken_date_security_id(&self) -> i32 { self.0.load::<i32, 8>() }
    /// BrokenDateStart (tag 6748), 2 at 12.
    #[inline] pub fn broken_date_start(&self) -> Option<u16> { self.0.nullable::<u16, 12>(u16::MAX) }
    /// BrokenDateEnd (tag 6741), 2 at 14.
    #[inline] pub fn broken_date_end(&self) -> Option<u16> { self.0.nullable::<u16, 14>(u16::MAX) }
}

impl Entry for NoBrokenDates<'_> {
    type View<'a> = NoBrokenDates<'a>;
    type Encoder<'a> = NoBrokenDatesEncoder<'a>;
    type Scratch = [u8; 16];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[6];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 16]) -> NoBrokenDates<'a> { NoBrokenDates(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoBrokenDatesEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoBrokenDatesEncoder(block)) }
}

/// Writes the block of an entry of NoBrokenDates.
#[derive(Debug)]
pub struct NoBrokenDatesEncoder<'a>(&'a mut [u8; 16]);

impl NoBrokenDatesEncoder<'_> {
    /// Writes BrokenDateGUID.
    #[inline] pub fn set_broken_date_guid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes BrokenDateSecurityID.
    #[inline] pub fn set_broken_date_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 8>(value); self }
    /// Writes BrokenDateStart.
    #[inline] pub fn set_broken_date_start(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 12>(value.into().unwrap_or(u16::MAX)); self }
    /// Writes BrokenDateEnd.
    #[inline] pub fn set_broken_date_end(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 14>(value.into().unwrap_or(u16::MAX)); self }
}
