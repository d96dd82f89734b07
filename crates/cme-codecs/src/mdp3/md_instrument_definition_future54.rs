//! MDInstrumentDefinitionFuture54, template 54. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message, MonthYear};

/// The layout of MDInstrumentDefinitionFuture54.
pub const MESSAGE: Message = Message {
    name: "MDInstrumentDefinitionFuture54", template_id: 54, schema_id: 1, version: 13, semantic_type: "d",
    block: BlockLayout::new(224, 9, FIELDS),
    groups: &[
        GroupLayout::new("NoEvents", 864, 0, kind::GROUP_SIZE, BlockLayout::new(9, 9, NO_EVENTS)),
        GroupLayout::new("NoMDFeedTypes", 1141, 0, kind::GROUP_SIZE, BlockLayout::new(4, 9, NO_MD_FEED_TYPES)),
        GroupLayout::new("NoInstAttrib", 870, 0, kind::GROUP_SIZE, BlockLayout::new(4, 9, NO_INST_ATTRIB)),
        GroupLayout::new("NoLotTypeRules", 1234, 0, kind::GROUP_SIZE, BlockLayout::new(5, 9, NO_LOT_TYPE_RULES)),
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
    Field::new("MaturityMonthYear", 200, 71, 0, &kind::MATURITY_MONTH_YEAR),
    Field::new("Currency", 15, 76, 0, &kind::CURRENCY),
    Field::new("SettlCurrency", 120, 79, 0, &kind::CURRENCY),
    Field::new("MatchAlgorithm", 1142, 82, 0, &kind::CHAR),
    Field::new("MinTradeVol", 562, 83, 0, &kind::U_INT32),
    Field::new("MaxTradeVol", 1140, 87, 0, &kind::U_INT32),
    Field::new("MinPriceIncrement", 969, 91, 0, &kind::PRICE9),
    Field::new("DisplayFactor", 9787, 99, 0, &kind::DECIMAL9),
    Field::new("MainFraction", 37702, 107, 0, &kind::U_INT8NULL),
    Field::new("SubFraction", 37703, 108, 0, &kind::U_INT8NULL),
    Field::new("PriceDisplayFormat", 9800, 109, 0, &kind::U_INT8NULL),
    Field::new("UnitOfMeasure", 996, 110, 0, &kind::UNIT_OF_MEASURE),
    Field::new("UnitOfMeasureQty", 1147, 140, 0, &kind::DECIMAL9NULL),
    Field::new("TradingReferencePrice", 1150, 148, 0, &kind::PRICENULL9),
    Field::new("SettlPriceType", 731, 156, 0, &kind::SETTL_PRICE_TYPE),
    Field::new("OpenInterestQty", 5792, 157, 0, &kind::INT32NULL),
    Field::new("ClearedVolume", 5791, 161, 0, &kind::INT32NULL),
    Field::new("HighLimitPrice", 1149, 165, 0, &kind::PRICENULL9),
    Field::new("LowLimitPrice", 1148, 173, 0, &kind::PRICENULL9),
    Field::new("MaxPriceVariation", 1143, 181, 0, &kind::PRICENULL9),
    Field::new("DecayQuantity", 5818, 189, 0, &kind::INT32NULL),
    Field::new("DecayStartDate", 5819, 193, 0, &kind::LOCAL_MKT_DATE),
    Field::new("OriginalContractSize", 5849, 195, 0, &kind::INT32NULL),
    Field::new("ContractMultiplier", 231, 199, 0, &kind::INT32NULL),
    Field::new("ContractMultiplierUnit", 1435, 203, 0, &kind::INT8NULL),
    Field::new("FlowScheduleType", 1439, 204, 0, &kind::INT8NULL),
    Field::new("MinPriceIncrementAmount", 1146, 205, 0, &kind::PRICENULL9),
    Field::new("UserDefinedInstrument", 9779, 213, 0, &kind::USER_DEFINED_INSTRUMENT),
    Field::new("TradingReferenceDate", 5796, 214, 0, &kind::LOCAL_MKT_DATE),
    Field::new("InstrumentGUID", 37513, 216, 10, &kind::U_INT64NULL),
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
    /// MDInstrumentDefinitionFuture54: message type d, template 54, since version 9, block of 224 bytes, 4 groups.
    MDInstrumentDefinitionFuture54, MDInstrumentDefinitionFuture54Encoder, 224, MDInstrumentDefinitionFuture54Groups, 4
}

impl<'a> MDInstrumentDefinitionFuture54<'a> {
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
    /// MaturityMonthYear (tag 200), bytes 71..76.
    #[inline] pub fn maturity_month_year(&self) -> MonthYear { self.0.block.month_year::<71>() }
    /// Currency (tag 15), bytes 76..79.
    #[inline] pub fn currency(&self) -> CharArray<'a> { self.0.block.chars::<76, 3>() }
    /// SettlCurrency (tag 120), bytes 79..82.
    #[inline] pub fn settl_currency(&self) -> CharArray<'a> { self.0.block.chars::<79, 3>() }
    /// MatchAlgorithm (tag 1142), bytes 82..83.
    #[inline] pub fn match_algorithm(&self) -> u8 { self.0.block.load::<u8, 82>() }
    /// MinTradeVol (tag 562), bytes 83..87.
    #[inline] pub fn min_trade_vol(&self) -> u32 { self.0.block.load::<u32, 83>() }
    /// MaxTradeVol (tag 1140), bytes 87..91.
    #[inline] pub fn max_trade_vol(&self) -> u32 { self.0.block.load::<u32, 87>() }
    /// MinPriceIncrement (tag 969), bytes 91..99.
    #[inline] pub fn min_price_increment(&self) -> Price9 { Decimal(self.0.block.load::<i64, 91>()) }
    /// DisplayFactor (tag 9787), bytes 99..107.
    #[inline] pub fn display_factor(&self) -> Price9 { Decimal(self.0.block.load::<i64, 99>()) }
    /// MainFraction (tag 37702), bytes 107..108.
    #[inline] pub fn main_fraction(&self) -> Option<u8> { self.0.block.nullable::<u8, 107>(u8::MAX) }
    /// SubFraction (tag 37703), bytes 108..109.
    #[inline] pub fn sub_fraction(&self) -> Option<u8> { self.0.block.nullable::<u8, 108>(u8::MAX) }
    /// PriceDisplayFormat (tag 9800), bytes 109..110.
    #[inline] pub fn price_display_format(&self) -> Option<u8> { self.0.block.nullable::<u8, 109>(u8::MAX) }
    /// UnitOfMeasure (tag 996), bytes 110..140.
    #[inline] pub fn unit_of_measure(&self) -> CharArray<'a> { self.0.block.chars::<110, 30>() }
    /// UnitOfMeasureQty (tag 1147), bytes 140..148.
    #[inline] pub fn unit_of_measure_qty(&self) -> Option<Price9> { self.0.block.nullable::<i64, 140>(i64::MAX).map(Decimal) }
    /// TradingReferencePrice (tag 1150), bytes 148..156.
    #[inline] pub fn trading_reference_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 148>(i64::MAX).map(Decimal) }
    /// SettlPriceType (tag 731), bytes 156..157.
    #[inline] pub fn settl_price_type(&self) -> SettlPriceType { SettlPriceType(self.0.block.load::<u8, 156>()) }
    /// OpenInterestQty (tag 5792), bytes 157..161.
    #[inline] pub fn open_interest_qty(&self) -> Option<i32> { self.0.block.nullable::<i32, 157>(i32::MAX) }
    /// ClearedVolume (tag 5791), bytes 161..165.
    #[inline] pub fn cleared_volume(&self) -> Option<i32> { self.0.block.nullable::<i32, 161>(i32::MAX) }
    /// HighLimitPrice (tag 1149), bytes 165..173.
    #[inline] pub fn high_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 165>(i64::MAX).map(Decimal) }
    /// LowLimitPrice (tag 1148), bytes 173..181.
    #[inline] pub fn low_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 173>(i64::MAX).map(Decimal) }
    /// MaxPriceVariation (tag 1143), bytes 181..189.
    #[inline] pub fn max_price_variation(&self) -> Option<Price9> { self.0.block.nullable::<i64, 181>(i64::MAX).map(Decimal) }
    /// DecayQuantity (tag 5818), bytes 189..193.
    #[inline] pub fn decay_quantity(&self) -> Option<i32> { self.0.block.nullable::<i32, 189>(i32::MAX) }
    /// DecayStartDate (tag 5819), bytes 193..195.
    #[inline] pub fn decay_start_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 193>(u16::MAX) }
    /// OriginalContractSize (tag 5849), bytes 195..199.
    #[inline] pub fn original_contract_size(&self) -> Option<i32> { self.0.block.nullable::<i32, 195>(i32::MAX) }
    /// ContractMultiplier (tag 231), bytes 199..203.
    #[inline] pub fn contract_multiplier(&self) -> Option<i32> { self.0.block.nullable::<i32, 199>(i32::MAX) }
    /// ContractMultiplierUnit (tag 1435), bytes 203..204.
    #[inline] pub fn contract_multiplier_unit(&self) -> Option<i8> { self.0.block.nullable::<i8, 203>(i8::MAX) }
    /// FlowScheduleType (tag 1439), bytes 204..205.
    #[inline] pub fn flow_schedule_type(&self) -> Option<i8> { self.0.block.nullable::<i8, 204>(i8::MAX) }
    /// MinPriceIncrementAmount (tag 1146), bytes 205..213.
    #[inline] pub fn min_price_increment_amount(&self) -> Option<Price9> { self.0.block.nullable::<i64, 205>(i64::MAX).map(Decimal) }
    /// UserDefinedInstrument (tag 9779), bytes 213..214.
    #[inline] pub fn user_defined_instrument(&self) -> u8 { self.0.block.load::<u8, 213>() }
    /// TradingReferenceDate (tag 5796), bytes 214..216.
    #[inline] pub fn trading_reference_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 214>(u16::MAX) }
    /// InstrumentGUID (tag 37513), bytes 216..224, since version 10.
    #[inline] pub fn instrument_guid(&self) -> Option<u64> { self.0.block.nullable::<u64, 216>(u64::MAX) }
    /// NoEvents (tag 864).
    #[inline] pub fn no_events(&self) -> Group<'a, NoEvents<'a>> { Group::new(self.0.group(0)) }
    /// NoMDFeedTypes (tag 1141).
    #[inline] pub fn no_md_feed_types(&self) -> Group<'a, NoMDFeedTypes<'a>> { Group::new(self.0.group(1)) }
    /// NoInstAttrib (tag 870).
    #[inline] pub fn no_inst_attrib(&self) -> Group<'a, NoInstAttrib<'a>> { Group::new(self.0.group(2)) }
    /// NoLotTypeRules (tag 1234).
    #[inline] pub fn no_lot_type_rules(&self) -> Group<'a, NoLotTypeRules<'a>> { Group::new(self.0.group(3)) }
}

impl MDInstrumentDefinitionFuture54Encoder<'_> {
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
    /** Writes MaturityMonthYear. */ #[inline] pub fn set_maturity_month_year(&mut self, value: MonthYear) -> &mut Self { self.0.store_month_year::<71>(value); self }
    /** Writes Currency. */ #[inline] pub fn set_currency(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<76, 3>(value.as_ref()); self }
    /** Writes SettlCurrency. */ #[inline] pub fn set_settl_currency(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<79, 3>(value.as_ref()); self }
    /** Writes MatchAlgorithm. */ #[inline] pub fn set_match_algorithm(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 82>(value); self }
    /** Writes MinTradeVol. */ #[inline] pub fn set_min_trade_vol(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 83>(value); self }
    /** Writes MaxTradeVol. */ #[inline] pub fn set_max_trade_vol(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 87>(value); self }
    /** Writes MinPriceIncrement. */ #[inline] pub fn set_min_price_increment(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 91>(value.0); self }
    /** Writes DisplayFactor. */ #[inline] pub fn set_display_factor(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 99>(value.0); self }
    /** Writes MainFraction. */ #[inline] pub fn set_main_fraction(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 107>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes SubFraction. */ #[inline] pub fn set_sub_fraction(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 108>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes PriceDisplayFormat. */ #[inline] pub fn set_price_display_format(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 109>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes UnitOfMeasure. */ #[inline] pub fn set_unit_of_measure(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<110, 30>(value.as_ref()); self }
    /** Writes UnitOfMeasureQty. */ #[inline] pub fn set_unit_of_measure_qty(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 140>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes TradingReferencePrice. */ #[inline] pub fn set_trading_reference_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 148>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes SettlPriceType. */ #[inline] pub fn set_settl_price_type(&mut self, value: SettlPriceType) -> &mut Self { self.0.store::<u8, 156>(value.0); self }
    /** Writes OpenInterestQty. */ #[inline] pub fn set_open_interest_qty(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 157>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes ClearedVolume. */ #[inline] pub fn set_cleared_volume(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 161>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes HighLimitPrice. */ #[inline] pub fn set_high_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 165>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes LowLimitPrice. */ #[inline] pub fn set_low_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 173>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes MaxPriceVariation. */ #[inline] pub fn set_max_price_variation(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 181>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes DecayQuantity. */ #[inline] pub fn set_decay_quantity(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 189>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes DecayStartDate. */ #[inline] pub fn set_decay_start_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 193>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes OriginalContractSize. */ #[inline] pub fn set_original_contract_size(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 195>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes ContractMultiplier. */ #[inline] pub fn set_contract_multiplier(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 199>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes ContractMultiplierUnit. */ #[inline] pub fn set_contract_multiplier_unit(&mut self, value: impl Into<Option<i8>>) -> &mut Self { self.0.store::<i8, 203>(value.into().unwrap_or(i8::MAX)); self }
    /** Writes FlowScheduleType. */ #[inline] pub fn set_flow_schedule_type(&mut self, value: impl Into<Option<i8>>) -> &mut Self { self.0.store::<i8, 204>(value.into().unwrap_or(i8::MAX)); self }
    /** Writes MinPriceIncrementAmount. */ #[inline] pub fn set_min_price_increment_amount(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 205>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes UserDefinedInstrument. */ #[inline] pub fn set_user_defined_instrument(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 213>(value); self }
    /** Writes TradingReferenceDate. */ #[inline] pub fn set_trading_reference_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 214>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes InstrumentGUID. */ #[inline] pub fn set_instrument_guid(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 216>(value.into().unwrap_or(u64::MAX)); self }
}

impl MDInstrumentDefinitionFuture54Groups<'_> {
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
