//! MDInstrumentDefinitionFixedIncome57, template 57. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, DecodeError, Dimension, EncodeError, Entry, Field, Group, GroupEncoder, GroupLayout, GroupsEncoder, Message, MessageHeader, Root};

/// Layout of MDInstrumentDefinitionFixedIncome57.
pub const MESSAGE: Message = Message {
    name: "MDInstrumentDefinitionFixedIncome57", template_id: 57, schema_id: 1, version: 13, semantic_type: "d",
    block: BlockLayout::new(338, 10, FIELDS), groups: &[
        GroupLayout { name: "NoEvents", tag: 864, since: 0, block: BlockLayout::new(9, 10, NO_EVENTS),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
        GroupLayout { name: "NoMDFeedTypes", tag: 1141, since: 0, block: BlockLayout::new(4, 10, NO_MD_FEED_TYPES),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
        GroupLayout { name: "NoInstAttrib", tag: 870, since: 0, block: BlockLayout::new(4, 10, NO_INST_ATTRIB),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
        GroupLayout { name: "NoLotTypeRules", tag: 1234, since: 0, block: BlockLayout::new(5, 10, NO_LOT_TYPE_RULES),
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

/// MDInstrumentDefinitionFixedIncome57: message type d, template 57, since version 10, block of 338 bytes, 4 groups.
#[derive(Clone, Copy, Debug)]
pub struct MDInstrumentDefinitionFixedIncome57<'a>(Root<'a, 338, 4>);

impl<'a> MDInstrumentDefinitionFixedIncome57<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 57;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 338;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 338] = [0; 338];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 338] = MESSAGE.block.null_block();
    /// Writes header and null block; the groups follow. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<(MDInstrumentDefinitionFixedIncome57Encoder<'_>, MDInstrumentDefinitionFixedIncome57Groups<'_>), EncodeError> { hairpin_sbe::begin(&MESSAGE, &Self::NULL_BLOCK, buffer).map(|(block, groups)| (MDInstrumentDefinitionFixedIncome57Encoder(block), MDInstrumentDefinitionFixedIncome57Groups(groups))) }
    /// Checks the whole structure once; fails if anything is cut short or of another template.
    #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; 338]) -> Result<Self, DecodeError> { Root::decode(&MESSAGE, header, body, scratch).map(Self) }
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
    #[inline] pub fn min_price_increment(&self) -> Option<Price9> { self.0.block.nullable::<i64, 86>(i64::MAX).map(Decimal) }
    /// DisplayFactor (tag 9787), 8 at 94.
    #[inline] pub fn display_factor(&self) -> Price9 { Decimal(self.0.block.load::<i64, 94>()) }
    /// MainFraction (tag 37702), 1 at 102.
    #[inline] pub fn main_fraction(&self) -> Option<u8> { self.0.block.nullable::<u8, 102>(u8::MAX) }
    /// SubFraction (tag 37703), 1 at 103.
    #[inline] pub fn sub_fraction(&self) -> Option<u8> { self.0.block.nullable::<u8, 103>(u8::MAX) }
    /// PriceDisplayFormat (tag 9800), 1 at 104.
    #[inline] pub fn price_display_format(&self) -> Option<u8> { self.0.block.nullable::<u8, 104>(u8::MAX) }
    /// UnitOfMeasure (tag 996), 30 at 105.
    #[inline] pub fn unit_of_measure(&self) -> CharArray<'a> { self.0.block.chars::<105, 30>() }
    /// UnitOfMeasureQty (tag 1147), 8 at 135.
    #[inline] pub fn unit_of_measure_qty(&self) -> Option<Price9> { self.0.block.nullable::<i64, 135>(i64::MAX).map(Decimal) }
    /// TradingReferencePrice (tag 1150), 8 at 143.
    #[inline] pub fn trading_reference_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 143>(i64::MAX).map(Decimal) }
    /// TradingReferenceDate (tag 5796), 2 at 151.
    #[inline] pub fn trading_reference_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 151>(u16::MAX) }
    /// HighLimitPrice (tag 1149), 8 at 153.
    #[inline] pub fn high_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 153>(i64::MAX).map(Decimal) }
    /// LowLimitPrice (tag 1148), 8 at 161.
    #[inline] pub fn low_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 161>(i64::MAX).map(Decimal) }
    /// MaxPriceVariation (tag 1143), 8 at 169.
    #[inline] pub fn max_price_variation(&self) -> Option<Price9> { self.0.block.nullable::<i64, 169>(i64::MAX).map(Decimal) }
    /// MinPriceIncrementAmount (tag 1146), 8 at 177.
    #[inline] pub fn min_price_increment_amount(&self) -> Option<Price9> { self.0.block.nullable::<i64, 177>(i64::MAX).map(Decimal) }
    /// IssueDate (tag 225), 2 at 185.
    #[inline] pub fn issue_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 185>(u16::MAX) }
    /// DatedDate (tag 873), 2 at 187.
    #[inline] pub fn dated_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 187>(u16::MAX) }
    /// MaturityDate (tag 541), 2 at 189.
    #[inline] pub fn maturity_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 189>(u16::MAX) }
    /// CouponRate (tag 223), 8 at 191.
    #[inline] pub fn coupon_rate(&self) -> Option<Price9> { self.0.block.nullable::<i64, 191>(i64::MAX).map(Decimal) }
    /// ParValue (tag 37723), 8 at 199.
    #[inline] pub fn par_value(&self) -> Option<Price9> { self.0.block.nullable::<i64, 199>(i64::MAX).map(Decimal) }
    /// CouponFrequencyUnit (tag 1949), 3 at 207.
    #[inline] pub fn coupon_frequency_unit(&self) -> CharArray<'a> { self.0.block.chars::<207, 3>() }
    /// CouponFrequencyPeriod (tag 1948), 2 at 210.
    #[inline] pub fn coupon_frequency_period(&self) -> Option<u16> { self.0.block.nullable::<u16, 210>(u16::MAX) }
    /// CouponDayCount (tag 1950), 20 at 212.
    #[inline] pub fn coupon_day_count(&self) -> CharArray<'a> { self.0.block.chars::<212, 20>() }
    /// CountryOfIssue (tag 470), 2 at 232.
    #[inline] pub fn country_of_issue(&self) -> CharArray<'a> { self.0.block.chars::<232, 2>() }
    /// Issuer (tag 106), 25 at 234.
    #[inline] pub fn issuer(&self) -> CharArray<'a> { self.0.block.chars::<234, 25>() }
    /// FinancialInstrumentFullName (tag 2714), 35 at 259.
    #[inline] pub fn financial_instrument_full_name(&self) -> CharArray<'a> { self.0.block.chars::<259, 35>() }
    /// SecurityAltID (tag 455), 12 at 294.
    #[inline] pub fn security_alt_id(&self) -> CharArray<'a> { self.0.block.chars::<294, 12>() }
    /// SecurityAltIDSource (tag 456), 1 at 306.
    #[inline] pub fn security_alt_id_source(&self) -> Option<SecurityAltIDSource> { self.0.block.nullable::<u8, 306>(u8::MAX).map(SecurityAltIDSource) }
    /// PriceQuoteMethod (tag 1196), 5 at 307.
    #[inline] pub fn price_quote_method(&self) -> CharArray<'a> { self.0.block.chars::<307, 5>() }
    /// PartyRoleClearingOrg (tag 9736), 5 at 312.
    #[inline] pub fn party_role_clearing_org(&self) -> CharArray<'a> { self.0.block.chars::<312, 5>() }
    /// UserDefinedInstrument (tag 9779), 1 at 317.
    #[inline] pub fn user_defined_instrument(&self) -> u8 { self.0.block.load::<u8, 317>() }
    /// RiskSet (tag 37721), 6 at 318.
    #[inline] pub fn risk_set(&self) -> CharArray<'a> { self.0.block.chars::<318, 6>() }
    /// MarketSet (tag 37722), 6 at 324.
    #[inline] pub fn market_set(&self) -> CharArray<'a> { self.0.block.chars::<324, 6>() }
    /// InstrumentGUID (tag 37513), 8 at 330.
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

/// Writes the block of MDInstrumentDefinitionFixedIncome57.
#[derive(Debug)]
pub struct MDInstrumentDefinitionFixedIncome57Encoder<'a>(&'a mut [u8; 338]);

impl MDInstrumentDefinitionFixedIncome57Encoder<'_> {
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
    #[inline] pub fn set_min_price_increment(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 86>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /// Writes DisplayFactor.
    #[inline] pub fn set_display_factor(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 94>(value.0); self }
    /// Writes MainFraction.
    #[inline] pub fn set_main_fraction(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 102>(value.into().unwrap_or(u8::MAX)); self }
    /// Writes SubFraction.
    #[inline] pub fn set_sub_fraction(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 103>(value.into().unwrap_or(u8::MAX)); self }
    /// Writes PriceDisplayFormat.
    #[inline] pub fn set_price_display_format(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 104>(value.into().unwrap_or(u8::MAX)); self }
    /// Writes UnitOfMeasure.
    #[inline] pub fn set_unit_of_measure(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<105, 30>(value.as_ref()); self }
    /// Writes UnitOfMeasureQty.
    #[inline] pub fn set_unit_of_measure_qty(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 135>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /// Writes TradingReferencePrice.
    #[inline] pub fn set_trading_reference_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 143>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /// Writes TradingReferenceDate.
    #[inline] pub fn set_trading_reference_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 151>(value.into().unwrap_or(u16::MAX)); self }
    /// Writes HighLimitPrice.
    #[inline] pub fn set_high_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 153>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /// Writes LowLimitPrice.
    #[inline] pub fn set_low_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 161>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /// Writes MaxPriceVariation.
    #[inline] pub fn set_max_price_variation(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 169>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /// Writes MinPriceIncrementAmount.
    #[inline] pub fn set_min_price_increment_amount(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 177>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /// Writes IssueDate.
    #[inline] pub fn set_issue_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 185>(value.into().unwrap_or(u16::MAX)); self }
    /// Writes DatedDate.
    #[inline] pub fn set_dated_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 187>(value.into().unwrap_or(u16::MAX)); self }
    /// Writes MaturityDate.
    #[inline] pub fn set_maturity_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 189>(value.into().unwrap_or(u16::MAX)); self }
    /// Writes CouponRate.
    #[inline] pub fn set_coupon_rate(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 191>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /// Writes ParValue.
    #[inline] pub fn set_par_value(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 199>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /// Writes CouponFrequencyUnit.
    #[inline] pub fn set_coupon_frequency_unit(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<207, 3>(value.as_ref()); self }
    /// Writes CouponFrequencyPeriod.
    #[inline] pub fn set_coupon_frequency_period(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 210>(value.into().unwrap_or(u16::MAX)); self }
    /// Writes CouponDayCount.
    #[inline] pub fn set_coupon_day_count(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<212, 20>(value.as_ref()); self }
    /// Writes CountryOfIssue.
    #[inline] pub fn set_country_of_issue(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<232, 2>(value.as_ref()); self }
    /// Writes Issuer.
    #[inline] pub fn set_issuer(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<234, 25>(value.as_ref()); self }
    /// Writes FinancialInstrumentFullName.
    #[inline] pub fn set_financial_instrument_full_name(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<259, 35>(value.as_ref()); self }
    /// Writes SecurityAltID.
    #[inline] pub fn set_security_alt_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<294, 12>(value.as_ref()); self }
    /// Writes SecurityAltIDSource.
    #[inline] pub fn set_security_alt_id_source(&mut self, value: impl Into<Option<SecurityAltIDSource>>) -> &mut Self { self.0.store::<u8, 306>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /// Writes PriceQuoteMethod.
    #[inline] pub fn set_price_quote_method(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<307, 5>(value.as_ref()); self }
    /// Writes PartyRoleClearingOrg.
    #[inline] pub fn set_party_role_clearing_org(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<312, 5>(value.as_ref()); self }
    /// Writes UserDefinedInstrument.
    #[inline] pub fn set_user_defined_instrument(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 317>(value); self }
    /// Writes RiskSet.
    #[inline] pub fn set_risk_set(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<318, 6>(value.as_ref()); self }
    /// Writes MarketSet.
    #[inline] pub fn set_market_set(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<324, 6>(value.as_ref()); self }
    /// Writes InstrumentGUID.
    #[inline] pub fn set_instrument_guid(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 330>(value.into().unwrap_or(u64::MAX)); self }
}

/// Writes the groups of MDInstrumentDefinitionFixedIncome57, in this order; those left out are empty.
#[derive(Debug)]
#[must_use = "the message is whole only after finish"]
pub struct MDInstrumentDefinitionFixedIncome57Groups<'a>(GroupsEncoder<'a>);

impl MDInstrumentDefinitionFixedIncome57Groups<'_> {
    /// Begins NoEvents. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_events(&mut self) -> Result<GroupEncoder<'_, NoEvents<'_>>, EncodeError> { self.0.open(0) }
    /// Begins NoMDFeedTypes. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_md_feed_types(&mut self) -> Result<GroupEncoder<'_, NoMDFeedTypes<'_>>, EncodeError> { self.0.open(1) }
    /// Begins NoInstAttrib. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_inst_attrib(&mut self) -> Result<GroupEncoder<'_, NoInstAttrib<'_>>, EncodeError> { self.0.open(2) }
    /// Begins NoLotTypeRules. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_lot_type_rules(&mut self) -> Result<GroupEncoder<'_, NoLotTypeRules<'_>>, EncodeError> { self.0.open(3) }
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
