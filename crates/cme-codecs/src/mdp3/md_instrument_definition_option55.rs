//! MDInstrumentDefinitionOption55, template 55. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message, MonthYear};

/// The layout of MDInstrumentDefinitionOption55.
pub const MESSAGE: Message = Message {
    name: "MDInstrumentDefinitionOption55", template_id: 55, schema_id: 1, version: 13, semantic_type: "d",
    block: BlockLayout::new(221, 9, FIELDS),
    groups: &[
        GroupLayout::new("NoEvents", 864, 0, kind::GROUP_SIZE, BlockLayout::new(9, 9, NO_EVENTS)),
        GroupLayout::new("NoMDFeedTypes", 1141, 0, kind::GROUP_SIZE, BlockLayout::new(4, 9, NO_MD_FEED_TYPES)),
        GroupLayout::new("NoInstAttrib", 870, 0, kind::GROUP_SIZE, BlockLayout::new(4, 9, NO_INST_ATTRIB)),
        GroupLayout::new("NoLotTypeRules", 1234, 0, kind::GROUP_SIZE, BlockLayout::new(5, 9, NO_LOT_TYPE_RULES)),
        GroupLayout::new("NoUnderlyings", 711, 0, kind::GROUP_SIZE, BlockLayout::new(24, 9, NO_UNDERLYINGS)),
        GroupLayout::new("NoRelatedInstruments", 1647, 0, kind::GROUP_SIZE, BlockLayout::new(24, 9, NO_RELATED_INSTRUMENTS)),
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
    Field::new("PutOrCall", 201, 71, 0, &kind::PUT_OR_CALL),
    Field::new("MaturityMonthYear", 200, 72, 0, &kind::MATURITY_MONTH_YEAR),
    Field::new("Currency", 15, 77, 0, &kind::CURRENCY),
    Field::new("StrikePrice", 202, 80, 0, &kind::PRICENULL9),
    Field::new("StrikeCurrency", 947, 88, 0, &kind::CURRENCY),
    Field::new("SettlCurrency", 120, 91, 0, &kind::CURRENCY),
    Field::new("MinCabPrice", 9850, 94, 0, &kind::PRICENULL9),
    Field::new("MatchAlgorithm", 1142, 102, 0, &kind::CHAR),
    Field::new("MinTradeVol", 562, 103, 0, &kind::U_INT32),
    Field::new("MaxTradeVol", 1140, 107, 0, &kind::U_INT32),
    Field::new("MinPriceIncrement", 969, 111, 0, &kind::PRICENULL9),
    Field::new("MinPriceIncrementAmount", 1146, 119, 0, &kind::PRICENULL9),
    Field::new("DisplayFactor", 9787, 127, 0, &kind::DECIMAL9),
    Field::new("TickRule", 6350, 135, 0, &kind::INT8NULL),
    Field::new("MainFraction", 37702, 136, 0, &kind::U_INT8NULL),
    Field::new("SubFraction", 37703, 137, 0, &kind::U_INT8NULL),
    Field::new("PriceDisplayFormat", 9800, 138, 0, &kind::U_INT8NULL),
    Field::new("UnitOfMeasure", 996, 139, 0, &kind::UNIT_OF_MEASURE),
    Field::new("UnitOfMeasureQty", 1147, 169, 0, &kind::DECIMAL9NULL),
    Field::new("TradingReferencePrice", 1150, 177, 0, &kind::PRICENULL9),
    Field::new("SettlPriceType", 731, 185, 0, &kind::SETTL_PRICE_TYPE),
    Field::new("ClearedVolume", 5791, 186, 0, &kind::INT32NULL),
    Field::new("OpenInterestQty", 5792, 190, 0, &kind::INT32NULL),
    Field::new("LowLimitPrice", 1148, 194, 0, &kind::PRICENULL9),
    Field::new("HighLimitPrice", 1149, 202, 0, &kind::PRICENULL9),
    Field::new("UserDefinedInstrument", 9779, 210, 0, &kind::USER_DEFINED_INSTRUMENT),
    Field::new("TradingReferenceDate", 5796, 211, 0, &kind::LOCAL_MKT_DATE),
    Field::new("InstrumentGUID", 37513, 213, 10, &kind::U_INT64NULL),
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
    Field::new("UnderlyingSecurityID", 309, 0, 0, &kind::INT32),
    Field::new("UnderlyingSecurityIDSource", 305, 0, 0, &kind::SECURITY_ID_SOURCE),
    Field::new("UnderlyingSymbol", 311, 4, 0, &kind::UNDERLYING_SYMBOL),
];
const NO_RELATED_INSTRUMENTS: &[Field] = &[
    Field::new("RelatedSecurityID", 1650, 0, 0, &kind::INT32),
    Field::new("RelatedSecurityIDSource", 1651, 0, 0, &kind::SECURITY_ID_SOURCE),
    Field::new("RelatedSymbol", 1649, 4, 0, &kind::SYMBOL),
];

hairpin_sbe::message! {
    /// MDInstrumentDefinitionOption55: message type d, template 55, since version 9, block of 221 bytes, 6 groups.
    MDInstrumentDefinitionOption55, MDInstrumentDefinitionOption55Encoder, 221, MDInstrumentDefinitionOption55Groups, 6
}

impl<'a> MDInstrumentDefinitionOption55<'a> {
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
    /// PutOrCall (tag 201), bytes 71..72.
    #[inline] pub fn put_or_call(&self) -> PutOrCall { PutOrCall(self.0.block.load::<u8, 71>()) }
    /// MaturityMonthYear (tag 200), bytes 72..77.
    #[inline] pub fn maturity_month_year(&self) -> MonthYear { self.0.block.month_year::<72>() }
    /// Currency (tag 15), bytes 77..80.
    #[inline] pub fn currency(&self) -> CharArray<'a> { self.0.block.chars::<77, 3>() }
    /// StrikePrice (tag 202), bytes 80..88.
    #[inline] pub fn strike_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 80>(i64::MAX).map(Decimal) }
    /// StrikeCurrency (tag 947), bytes 88..91.
    #[inline] pub fn strike_currency(&self) -> CharArray<'a> { self.0.block.chars::<88, 3>() }
    /// SettlCurrency (tag 120), bytes 91..94.
    #[inline] pub fn settl_currency(&self) -> CharArray<'a> { self.0.block.chars::<91, 3>() }
    /// MinCabPrice (tag 9850), bytes 94..102.
    #[inline] pub fn min_cab_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 94>(i64::MAX).map(Decimal) }
    /// MatchAlgorithm (tag 1142), bytes 102..103.
    #[inline] pub fn match_algorithm(&self) -> u8 { self.0.block.load::<u8, 102>() }
    /// MinTradeVol (tag 562), bytes 103..107.
    #[inline] pub fn min_trade_vol(&self) -> u32 { self.0.block.load::<u32, 103>() }
    /// MaxTradeVol (tag 1140), bytes 107..111.
    #[inline] pub fn max_trade_vol(&self) -> u32 { self.0.block.load::<u32, 107>() }
    /// MinPriceIncrement (tag 969), bytes 111..119.
    #[inline] pub fn min_price_increment(&self) -> Option<Price9> { self.0.block.nullable::<i64, 111>(i64::MAX).map(Decimal) }
    /// MinPriceIncrementAmount (tag 1146), bytes 119..127.
    #[inline] pub fn min_price_increment_amount(&self) -> Option<Price9> { self.0.block.nullable::<i64, 119>(i64::MAX).map(Decimal) }
    /// DisplayFactor (tag 9787), bytes 127..135.
    #[inline] pub fn display_factor(&self) -> Price9 { Decimal(self.0.block.load::<i64, 127>()) }
    /// TickRule (tag 6350), bytes 135..136.
    #[inline] pub fn tick_rule(&self) -> Option<i8> { self.0.block.nullable::<i8, 135>(i8::MAX) }
    /// MainFraction (tag 37702), bytes 136..137.
    #[inline] pub fn main_fraction(&self) -> Option<u8> { self.0.block.nullable::<u8, 136>(u8::MAX) }
    /// SubFraction (tag 37703), bytes 137..138.
    #[inline] pub fn sub_fraction(&self) -> Option<u8> { self.0.block.nullable::<u8, 137>(u8::MAX) }
    /// PriceDisplayFormat (tag 9800), bytes 138..139.
    #[inline] pub fn price_display_format(&self) -> Option<u8> { self.0.block.nullable::<u8, 138>(u8::MAX) }
    /// UnitOfMeasure (tag 996), bytes 139..169.
    #[inline] pub fn unit_of_measure(&self) -> CharArray<'a> { self.0.block.chars::<139, 30>() }
    /// UnitOfMeasureQty (tag 1147), bytes 169..177.
    #[inline] pub fn unit_of_measure_qty(&self) -> Option<Price9> { self.0.block.nullable::<i64, 169>(i64::MAX).map(Decimal) }
    /// TradingReferencePrice (tag 1150), bytes 177..185.
    #[inline] pub fn trading_reference_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 177>(i64::MAX).map(Decimal) }
    /// SettlPriceType (tag 731), bytes 185..186.
    #[inline] pub fn settl_price_type(&self) -> SettlPriceType { SettlPriceType(self.0.block.load::<u8, 185>()) }
    /// ClearedVolume (tag 5791), bytes 186..190.
    #[inline] pub fn cleared_volume(&self) -> Option<i32> { self.0.block.nullable::<i32, 186>(i32::MAX) }
    /// OpenInterestQty (tag 5792), bytes 190..194.
    #[inline] pub fn open_interest_qty(&self) -> Option<i32> { self.0.block.nullable::<i32, 190>(i32::MAX) }
    /// LowLimitPrice (tag 1148), bytes 194..202.
    #[inline] pub fn low_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 194>(i64::MAX).map(Decimal) }
    /// HighLimitPrice (tag 1149), bytes 202..210.
    #[inline] pub fn high_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 202>(i64::MAX).map(Decimal) }
    /// UserDefinedInstrument (tag 9779), bytes 210..211.
    #[inline] pub fn user_defined_instrument(&self) -> u8 { self.0.block.load::<u8, 210>() }
    /// TradingReferenceDate (tag 5796), bytes 211..213.
    #[inline] pub fn trading_reference_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 211>(u16::MAX) }
    /// InstrumentGUID (tag 37513), bytes 213..221, since version 10.
    #[inline] pub fn instrument_guid(&self) -> Option<u64> { self.0.block.nullable::<u64, 213>(u64::MAX) }
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
}

impl MDInstrumentDefinitionOption55Encoder<'_> {
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
    /** Writes PutOrCall. */ #[inline] pub fn set_put_or_call(&mut self, value: PutOrCall) -> &mut Self { self.0.store::<u8, 71>(value.0); self }
    /** Writes MaturityMonthYear. */ #[inline] pub fn set_maturity_month_year(&mut self, value: MonthYear) -> &mut Self { self.0.store_month_year::<72>(value); self }
    /** Writes Currency. */ #[inline] pub fn set_currency(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<77, 3>(value.as_ref()); self }
    /** Writes StrikePrice. */ #[inline] pub fn set_strike_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 80>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes StrikeCurrency. */ #[inline] pub fn set_strike_currency(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<88, 3>(value.as_ref()); self }
    /** Writes SettlCurrency. */ #[inline] pub fn set_settl_currency(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<91, 3>(value.as_ref()); self }
    /** Writes MinCabPrice. */ #[inline] pub fn set_min_cab_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 94>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes MatchAlgorithm. */ #[inline] pub fn set_match_algorithm(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 102>(value); self }
    /** Writes MinTradeVol. */ #[inline] pub fn set_min_trade_vol(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 103>(value); self }
    /** Writes MaxTradeVol. */ #[inline] pub fn set_max_trade_vol(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 107>(value); self }
    /** Writes MinPriceIncrement. */ #[inline] pub fn set_min_price_increment(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 111>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes MinPriceIncrementAmount. */ #[inline] pub fn set_min_price_increment_amount(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 119>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes DisplayFactor. */ #[inline] pub fn set_display_factor(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 127>(value.0); self }
    /** Writes TickRule. */ #[inline] pub fn set_tick_rule(&mut self, value: impl Into<Option<i8>>) -> &mut Self { self.0.store::<i8, 135>(value.into().unwrap_or(i8::MAX)); self }
    /** Writes MainFraction. */ #[inline] pub fn set_main_fraction(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 136>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes SubFraction. */ #[inline] pub fn set_sub_fraction(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 137>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes PriceDisplayFormat. */ #[inline] pub fn set_price_display_format(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 138>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes UnitOfMeasure. */ #[inline] pub fn set_unit_of_measure(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<139, 30>(value.as_ref()); self }
    /** Writes UnitOfMeasureQty. */ #[inline] pub fn set_unit_of_measure_qty(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 169>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes TradingReferencePrice. */ #[inline] pub fn set_trading_reference_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 177>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes SettlPriceType. */ #[inline] pub fn set_settl_price_type(&mut self, value: SettlPriceType) -> &mut Self { self.0.store::<u8, 185>(value.0); self }
    /** Writes ClearedVolume. */ #[inline] pub fn set_cleared_volume(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 186>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes OpenInterestQty. */ #[inline] pub fn set_open_interest_qty(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 190>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes LowLimitPrice. */ #[inline] pub fn set_low_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 194>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes HighLimitPrice. */ #[inline] pub fn set_high_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 202>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes UserDefinedInstrument. */ #[inline] pub fn set_user_defined_instrument(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 210>(value); self }
    /** Writes TradingReferenceDate. */ #[inline] pub fn set_trading_reference_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 211>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes InstrumentGUID. */ #[inline] pub fn set_instrument_guid(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 213>(value.into().unwrap_or(u64::MAX)); self }
}

impl MDInstrumentDefinitionOption55Groups<'_> {
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
    /// An entry of NoUnderlyings (tag 711): block of 24 bytes.
    NoUnderlyings, NoUnderlyingsEncoder, 24, 4
}

impl<'a> NoUnderlyings<'a> {
    /// UnderlyingSecurityID (tag 309), bytes 0..4.
    #[inline] pub fn underlying_security_id(&self) -> i32 { self.0.load::<i32, 0>() }
    /// UnderlyingSecurityIDSource (tag 305), constant.
    pub const UNDERLYING_SECURITY_ID_SOURCE: u8 = b'8';
    /// UnderlyingSymbol (tag 311), bytes 4..24.
    #[inline] pub fn underlying_symbol(&self) -> CharArray<'a> { self.0.chars::<4, 20>() }
}

impl NoUnderlyingsEncoder<'_> {
    /** Writes UnderlyingSecurityID. */ #[inline] pub fn set_underlying_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 0>(value); self }
    /** Writes UnderlyingSymbol. */ #[inline] pub fn set_underlying_symbol(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<4, 20>(value.as_ref()); self }
}

hairpin_sbe::entry! {
    /// An entry of NoRelatedInstruments (tag 1647): block of 24 bytes.
    NoRelatedInstruments, NoRelatedInstrumentsEncoder, 24, 5
}

impl<'a> NoRelatedInstruments<'a> {
    /// RelatedSecurityID (tag 1650), bytes 0..4.
    #[inline] pub fn related_security_id(&self) -> i32 { self.0.load::<i32, 0>() }
    /// RelatedSecurityIDSource (tag 1651), constant.
    pub const RELATED_SECURITY_ID_SOURCE: u8 = b'8';
    /// RelatedSymbol (tag 1649), bytes 4..24.
    #[inline] pub fn related_symbol(&self) -> CharArray<'a> { self.0.chars::<4, 20>() }
}

impl NoRelatedInstrumentsEncoder<'_> {
    /** Writes RelatedSecurityID. */ #[inline] pub fn set_related_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 0>(value); self }
    /** Writes RelatedSymbol. */ #[inline] pub fn set_related_symbol(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<4, 20>(value.as_ref()); self }
}
