//! ExecutionReportTradeSpreadLeg527, template 527. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, EncodeError, Field, Float, Group, GroupEncoder, GroupLayout, Message};

/// The layout of ExecutionReportTradeSpreadLeg527.
pub const MESSAGE: Message = Message {
    name: "ExecutionReportTradeSpreadLeg527", template_id: 527, schema_id: 8, version: 9, semantic_type: "8",
    block: BlockLayout::new(219, 0, FIELDS),
    groups: &[
        GroupLayout::new("NoFills", 1362, 0, kind::GROUP_SIZE, BlockLayout::new(15, 0, NO_FILLS)),
        GroupLayout::new("NoOrderEvents", 1795, 0, kind::GROUP_SIZE, BlockLayout::new(41, 0, NO_ORDER_EVENTS)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("SeqNum", 9726, 0, 0, &kind::U_INT32),
    Field::new("UUID", 39001, 4, 0, &kind::U_INT64),
    Field::new("ExecID", 17, 12, 0, &kind::STRING40),
    Field::new("SenderID", 5392, 52, 0, &kind::STRING20_REQ),
    Field::new("ClOrdID", 11, 72, 0, &kind::STRING20_REQ),
    Field::new("Volatility", 1188, 92, 0, &kind::DECIMAL64NULL),
    Field::new("PartyDetailsListReqID", 1505, 101, 0, &kind::U_INT64),
    Field::new("LastPx", 31, 109, 0, &kind::PRICE9),
    Field::new("OrderID", 37, 117, 0, &kind::U_INT64),
    Field::new("UnderlyingPx", 810, 125, 0, &kind::PRICENULL9),
    Field::new("TransactTime", 60, 133, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 141, 0, &kind::U_INT64),
    Field::new("SecExecID", 527, 149, 0, &kind::U_INT64),
    Field::new("Location", 9537, 157, 0, &kind::STRING5_REQ),
    Field::new("OptionDelta", 811, 162, 0, &kind::DECIMAL32NULL),
    Field::new("TimeToExpiration", 1189, 167, 0, &kind::DECIMAL32NULL),
    Field::new("RiskFreeRate", 1190, 172, 0, &kind::DECIMAL32NULL),
    Field::new("SecurityID", 48, 177, 0, &kind::INT32),
    Field::new("LastQty", 32, 181, 0, &kind::U_INT32),
    Field::new("CumQty", 14, 185, 0, &kind::U_INT32),
    Field::new("SideTradeID", 1506, 189, 0, &kind::U_INT32),
    Field::new("TradeDate", 75, 193, 0, &kind::LOCAL_MKT_DATE),
    Field::new("OrdStatus", 39, 195, 0, &kind::ORD_STATUS_TRD),
    Field::new("ExecType", 150, 0, 0, &kind::EXEC_TYPE_TRADE),
    Field::new("OrdType", 40, 196, 0, &kind::ORDER_TYPE),
    Field::new("Side", 54, 197, 0, &kind::SIDE_REQ),
    Field::new("PossRetransFlag", 9765, 198, 0, &kind::BOOLEAN_FLAG),
    Field::new("SettlDate", 64, 199, 6, &kind::LOCAL_MKT_DATE),
    Field::new("CalculatedCcyLastQty", 1056, 201, 6, &kind::DECIMAL64NULL),
    Field::new("GrossTradeAmt", 381, 210, 6, &kind::DECIMAL64NULL),
];
const NO_FILLS: &[Field] = &[
    Field::new("FillPx", 1364, 0, 0, &kind::PRICE9),
    Field::new("FillQty", 1365, 8, 0, &kind::U_INT32),
    Field::new("FillExecID", 1363, 12, 0, &kind::STRING2),
    Field::new("FillYieldType", 1622, 14, 0, &kind::U_INT8),
];
const NO_ORDER_EVENTS: &[Field] = &[
    Field::new("OrderEventPx", 1799, 0, 0, &kind::PRICE9),
    Field::new("OrderEventText", 1802, 8, 0, &kind::STRING5),
    Field::new("OrderEventExecID", 1797, 13, 0, &kind::U_INT32),
    Field::new("OrderEventQty", 1800, 17, 0, &kind::U_INT32),
    Field::new("OrderEventType", 1796, 21, 0, &kind::ORDER_EVENT_TYPE),
    Field::new("OrderEventReason", 1798, 22, 0, &kind::U_INT8),
    Field::new("ContraGrossTradeAmt", 5542, 23, 9, &kind::DECIMAL64NULL),
    Field::new("ContraCalculatedCcyLastQty", 5971, 32, 9, &kind::DECIMAL64NULL),
];

hairpin_sbe::message! {
    /// ExecutionReportTradeSpreadLeg527: message type 8, template 527, block of 219 bytes, 2 groups.
    ExecutionReportTradeSpreadLeg527, ExecutionReportTradeSpreadLeg527Encoder, 219, ExecutionReportTradeSpreadLeg527Groups, 2
}

impl<'a> ExecutionReportTradeSpreadLeg527<'a> {
    /// SeqNum (tag 9726), bytes 0..4.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 0>() }
    /// UUID (tag 39001), bytes 4..12.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 4>() }
    /// ExecID (tag 17), bytes 12..52.
    #[inline] pub fn exec_id(&self) -> CharArray<'a> { self.0.block.chars::<12, 40>() }
    /// SenderID (tag 5392), bytes 52..72.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<52, 20>() }
    /// ClOrdID (tag 11), bytes 72..92.
    #[inline] pub fn cl_ord_id(&self) -> CharArray<'a> { self.0.block.chars::<72, 20>() }
    /// Volatility (tag 1188), bytes 92..101.
    #[inline] pub fn volatility(&self) -> Option<Float> { self.0.block.float64::<92, 100>() }
    /// PartyDetailsListReqID (tag 1505), bytes 101..109.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 101>() }
    /// LastPx (tag 31), bytes 109..117.
    #[inline] pub fn last_px(&self) -> Price9 { Decimal(self.0.block.load::<i64, 109>()) }
    /// OrderID (tag 37), bytes 117..125.
    #[inline] pub fn order_id(&self) -> u64 { self.0.block.load::<u64, 117>() }
    /// UnderlyingPx (tag 810), bytes 125..133.
    #[inline] pub fn underlying_px(&self) -> Option<Price9> { self.0.block.nullable::<i64, 125>(i64::MAX).map(Decimal) }
    /// TransactTime (tag 60), bytes 133..141.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 133>() }
    /// SendingTimeEpoch (tag 5297), bytes 141..149.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 141>() }
    /// SecExecID (tag 527), bytes 149..157.
    #[inline] pub fn sec_exec_id(&self) -> u64 { self.0.block.load::<u64, 149>() }
    /// Location (tag 9537), bytes 157..162.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<157, 5>() }
    /// OptionDelta (tag 811), bytes 162..167.
    #[inline] pub fn option_delta(&self) -> Option<Float> { self.0.block.float32::<162, 166>() }
    /// TimeToExpiration (tag 1189), bytes 167..172.
    #[inline] pub fn time_to_expiration(&self) -> Option<Float> { self.0.block.float32::<167, 171>() }
    /// RiskFreeRate (tag 1190), bytes 172..177.
    #[inline] pub fn risk_free_rate(&self) -> Option<Float> { self.0.block.float32::<172, 176>() }
    /// SecurityID (tag 48), bytes 177..181.
    #[inline] pub fn security_id(&self) -> i32 { self.0.block.load::<i32, 177>() }
    /// LastQty (tag 32), bytes 181..185.
    #[inline] pub fn last_qty(&self) -> u32 { self.0.block.load::<u32, 181>() }
    /// CumQty (tag 14), bytes 185..189.
    #[inline] pub fn cum_qty(&self) -> u32 { self.0.block.load::<u32, 185>() }
    /// SideTradeID (tag 1506), bytes 189..193.
    #[inline] pub fn side_trade_id(&self) -> u32 { self.0.block.load::<u32, 189>() }
    /// TradeDate (tag 75), bytes 193..195.
    #[inline] pub fn trade_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 193>(u16::MAX) }
    /// OrdStatus (tag 39), bytes 195..196.
    #[inline] pub fn ord_status(&self) -> OrdStatusTrd { OrdStatusTrd(self.0.block.load::<u8, 195>()) }
    /// ExecType (tag 150), constant.
    pub const EXEC_TYPE: u8 = b'F';
    /// OrdType (tag 40), bytes 196..197.
    #[inline] pub fn ord_type(&self) -> Option<OrderType> { self.0.block.nullable_char::<196>().map(OrderType) }
    /// Side (tag 54), bytes 197..198.
    #[inline] pub fn side(&self) -> SideReq { SideReq(self.0.block.load::<u8, 197>()) }
    /// PossRetransFlag (tag 9765), bytes 198..199.
    #[inline] pub fn poss_retrans_flag(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 198>()) }
    /// SettlDate (tag 64), bytes 199..201, since version 6.
    #[inline] pub fn settl_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 199>(u16::MAX) }
    /// CalculatedCcyLastQty (tag 1056), bytes 201..210, since version 6.
    #[inline] pub fn calculated_ccy_last_qty(&self) -> Option<Float> { self.0.block.float64::<201, 209>() }
    /// GrossTradeAmt (tag 381), bytes 210..219, since version 6.
    #[inline] pub fn gross_trade_amt(&self) -> Option<Float> { self.0.block.float64::<210, 218>() }
    /// NoFills (tag 1362).
    #[inline] pub fn no_fills(&self) -> Group<'a, NoFills<'a>> { Group::new(self.0.group(0)) }
    /// NoOrderEvents (tag 1795).
    #[inline] pub fn no_order_events(&self) -> Group<'a, NoOrderEvents<'a>> { Group::new(self.0.group(1)) }
}

impl ExecutionReportTradeSpreadLeg527Encoder<'_> {
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 0>(value); self }
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 4>(value); self }
    /** Writes ExecID. */ #[inline] pub fn set_exec_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<12, 40>(value.as_ref()); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<52, 20>(value.as_ref()); self }
    /** Writes ClOrdID. */ #[inline] pub fn set_cl_ord_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<72, 20>(value.as_ref()); self }
    /** Writes Volatility. */ #[inline] pub fn set_volatility(&mut self, value: impl Into<Option<Float>>) -> &mut Self { self.0.store_float64::<92, 100>(value.into()); self }
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 101>(value); self }
    /** Writes LastPx. */ #[inline] pub fn set_last_px(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 109>(value.0); self }
    /** Writes OrderID. */ #[inline] pub fn set_order_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 117>(value); self }
    /** Writes UnderlyingPx. */ #[inline] pub fn set_underlying_px(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 125>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 133>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 141>(value); self }
    /** Writes SecExecID. */ #[inline] pub fn set_sec_exec_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 149>(value); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<157, 5>(value.as_ref()); self }
    /** Writes OptionDelta. */ #[inline] pub fn set_option_delta(&mut self, value: impl Into<Option<Float>>) -> &mut Self { self.0.store_float32::<162, 166>(value.into()); self }
    /** Writes TimeToExpiration. */ #[inline] pub fn set_time_to_expiration(&mut self, value: impl Into<Option<Float>>) -> &mut Self { self.0.store_float32::<167, 171>(value.into()); self }
    /** Writes RiskFreeRate. */ #[inline] pub fn set_risk_free_rate(&mut self, value: impl Into<Option<Float>>) -> &mut Self { self.0.store_float32::<172, 176>(value.into()); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 177>(value); self }
    /** Writes LastQty. */ #[inline] pub fn set_last_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 181>(value); self }
    /** Writes CumQty. */ #[inline] pub fn set_cum_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 185>(value); self }
    /** Writes SideTradeID. */ #[inline] pub fn set_side_trade_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 189>(value); self }
    /** Writes TradeDate. */ #[inline] pub fn set_trade_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 193>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes OrdStatus. */ #[inline] pub fn set_ord_status(&mut self, value: OrdStatusTrd) -> &mut Self { self.0.store::<u8, 195>(value.0); self }
    /** Writes OrdType. */ #[inline] pub fn set_ord_type(&mut self, value: impl Into<Option<OrderType>>) -> &mut Self { self.0.store::<u8, 196>(value.into().map_or(0, |v| v.0)); self }
    /** Writes Side. */ #[inline] pub fn set_side(&mut self, value: SideReq) -> &mut Self { self.0.store::<u8, 197>(value.0); self }
    /** Writes PossRetransFlag. */ #[inline] pub fn set_poss_retrans_flag(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 198>(value.0); self }
    /** Writes SettlDate. */ #[inline] pub fn set_settl_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 199>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes CalculatedCcyLastQty. */ #[inline] pub fn set_calculated_ccy_last_qty(&mut self, value: impl Into<Option<Float>>) -> &mut Self { self.0.store_float64::<201, 209>(value.into()); self }
    /** Writes GrossTradeAmt. */ #[inline] pub fn set_gross_trade_amt(&mut self, value: impl Into<Option<Float>>) -> &mut Self { self.0.store_float64::<210, 218>(value.into()); self }
}

impl ExecutionReportTradeSpreadLeg527Groups<'_> {
    /// Starts the group NoFills.
    #[inline] pub fn no_fills(&mut self) -> Result<GroupEncoder<'_, NoFills<'_>>, EncodeError> { self.0.open(0) }
    /// Starts the group NoOrderEvents.
    #[inline] pub fn no_order_events(&mut self) -> Result<GroupEncoder<'_, NoOrderEvents<'_>>, EncodeError> { self.0.open(1) }
}

hairpin_sbe::entry! {
    /// An entry of NoFills (tag 1362): block of 15 bytes.
    NoFills, NoFillsEncoder, 15, 0
}

impl<'a> NoFills<'a> {
    /// FillPx (tag 1364), bytes 0..8.
    #[inline] pub fn fill_px(&self) -> Price9 { Decimal(self.0.load::<i64, 0>()) }
    /// FillQty (tag 1365), bytes 8..12.
    #[inline] pub fn fill_qty(&self) -> u32 { self.0.load::<u32, 8>() }
    /// FillExecID (tag 1363), bytes 12..14.
    #[inline] pub fn fill_exec_id(&self) -> CharArray<'a> { self.0.chars::<12, 2>() }
    /// FillYieldType (tag 1622), bytes 14..15.
    #[inline] pub fn fill_yield_type(&self) -> u8 { self.0.load::<u8, 14>() }
}

impl NoFillsEncoder<'_> {
    /** Writes FillPx. */ #[inline] pub fn set_fill_px(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 0>(value.0); self }
    /** Writes FillQty. */ #[inline] pub fn set_fill_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 8>(value); self }
    /** Writes FillExecID. */ #[inline] pub fn set_fill_exec_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<12, 2>(value.as_ref()); self }
    /** Writes FillYieldType. */ #[inline] pub fn set_fill_yield_type(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 14>(value); self }
}

hairpin_sbe::entry! {
    /// An entry of NoOrderEvents (tag 1795): block of 41 bytes.
    NoOrderEvents, NoOrderEventsEncoder, 41, 1
}

impl<'a> NoOrderEvents<'a> {
    /// OrderEventPx (tag 1799), bytes 0..8.
    #[inline] pub fn order_event_px(&self) -> Price9 { Decimal(self.0.load::<i64, 0>()) }
    /// OrderEventText (tag 1802), bytes 8..13.
    #[inline] pub fn order_event_text(&self) -> CharArray<'a> { self.0.chars::<8, 5>() }
    /// OrderEventExecID (tag 1797), bytes 13..17.
    #[inline] pub fn order_event_exec_id(&self) -> u32 { self.0.load::<u32, 13>() }
    /// OrderEventQty (tag 1800), bytes 17..21.
    #[inline] pub fn order_event_qty(&self) -> u32 { self.0.load::<u32, 17>() }
    /// OrderEventType (tag 1796), bytes 21..22.
    #[inline] pub fn order_event_type(&self) -> Option<OrderEventType> { self.0.nullable::<u8, 21>(u8::MAX).map(OrderEventType) }
    /// OrderEventReason (tag 1798), bytes 22..23.
    #[inline] pub fn order_event_reason(&self) -> u8 { self.0.load::<u8, 22>() }
    /// ContraGrossTradeAmt (tag 5542), bytes 23..32, since version 9.
    #[inline] pub fn contra_gross_trade_amt(&self) -> Option<Float> { self.0.float64::<23, 31>() }
    /// ContraCalculatedCcyLastQty (tag 5971), bytes 32..41, since version 9.
    #[inline] pub fn contra_calculated_ccy_last_qty(&self) -> Option<Float> { self.0.float64::<32, 40>() }
}

impl NoOrderEventsEncoder<'_> {
    /** Writes OrderEventPx. */ #[inline] pub fn set_order_event_px(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 0>(value.0); self }
    /** Writes OrderEventText. */ #[inline] pub fn set_order_event_text(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<8, 5>(value.as_ref()); self }
    /** Writes OrderEventExecID. */ #[inline] pub fn set_order_event_exec_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 13>(value); self }
    /** Writes OrderEventQty. */ #[inline] pub fn set_order_event_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 17>(value); self }
    /** Writes OrderEventType. */ #[inline] pub fn set_order_event_type(&mut self, value: impl Into<Option<OrderEventType>>) -> &mut Self { self.0.store::<u8, 21>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes OrderEventReason. */ #[inline] pub fn set_order_event_reason(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 22>(value); self }
    /** Writes ContraGrossTradeAmt. */ #[inline] pub fn set_contra_gross_trade_amt(&mut self, value: impl Into<Option<Float>>) -> &mut Self { self.0.store_float64::<23, 31>(value.into()); self }
    /** Writes ContraCalculatedCcyLastQty. */ #[inline] pub fn set_contra_calculated_ccy_last_qty(&mut self, value: impl Into<Option<Float>>) -> &mut Self { self.0.store_float64::<32, 40>(value.into()); self }
}
