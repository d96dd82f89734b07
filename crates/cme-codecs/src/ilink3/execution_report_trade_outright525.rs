//! ExecutionReportTradeOutright525, template 525. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, EncodeError, Field, Float, Group, GroupEncoder, GroupLayout, Message};

/// The layout of ExecutionReportTradeOutright525.
pub const MESSAGE: Message = Message {
    name: "ExecutionReportTradeOutright525", template_id: 525, schema_id: 8, version: 9, semantic_type: "8",
    block: BlockLayout::new(293, 0, FIELDS),
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
    Field::new("PartyDetailsListReqID", 1505, 92, 0, &kind::U_INT64),
    Field::new("LastPx", 31, 100, 0, &kind::PRICE9),
    Field::new("OrderID", 37, 108, 0, &kind::U_INT64),
    Field::new("Price", 44, 116, 0, &kind::PRICE9),
    Field::new("StopPx", 99, 124, 0, &kind::PRICENULL9),
    Field::new("TransactTime", 60, 132, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 140, 0, &kind::U_INT64),
    Field::new("OrderRequestID", 2422, 148, 0, &kind::U_INT64),
    Field::new("SecExecID", 527, 156, 0, &kind::U_INT64),
    Field::new("CrossID", 548, 164, 0, &kind::U_INT64NULL),
    Field::new("HostCrossID", 961, 172, 0, &kind::U_INT64NULL),
    Field::new("Location", 9537, 180, 0, &kind::STRING5_REQ),
    Field::new("SecurityID", 48, 185, 0, &kind::INT32),
    Field::new("OrderQty", 38, 189, 0, &kind::U_INT32),
    Field::new("LastQty", 32, 193, 0, &kind::U_INT32),
    Field::new("CumQty", 14, 197, 0, &kind::U_INT32),
    Field::new("MDTradeEntryID", 37711, 201, 0, &kind::U_INT32),
    Field::new("SideTradeID", 1506, 205, 0, &kind::U_INT32),
    Field::new("TradeLinkID", 820, 209, 0, &kind::U_INT32NULL),
    Field::new("LeavesQty", 151, 213, 0, &kind::U_INT32),
    Field::new("TradeDate", 75, 217, 0, &kind::LOCAL_MKT_DATE),
    Field::new("ExpireDate", 432, 219, 0, &kind::LOCAL_MKT_DATE),
    Field::new("OrdStatus", 39, 221, 0, &kind::ORD_STATUS_TRD),
    Field::new("ExecType", 150, 0, 0, &kind::EXEC_TYPE_TRADE),
    Field::new("OrdType", 40, 222, 0, &kind::ORDER_TYPE),
    Field::new("Side", 54, 223, 0, &kind::SIDE_REQ),
    Field::new("TimeInForce", 59, 224, 0, &kind::TIME_IN_FORCE),
    Field::new("ManualOrderIndicator", 1028, 225, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("PossRetransFlag", 9765, 226, 0, &kind::BOOLEAN_FLAG),
    Field::new("AggressorIndicator", 1057, 227, 0, &kind::BOOLEAN_FLAG),
    Field::new("CrossType", 549, 228, 0, &kind::U_INT8NULL),
    Field::new("ExecInst", 18, 229, 0, &kind::EXEC_INST),
    Field::new("ExecutionMode", 5906, 230, 0, &kind::EXEC_MODE),
    Field::new("LiquidityFlag", 9373, 231, 0, &kind::BOOLEAN_NULL),
    Field::new("ManagedOrder", 6881, 232, 0, &kind::BOOLEAN_NULL),
    Field::new("ShortSaleType", 5409, 233, 0, &kind::SHORT_SALE_TYPE),
    Field::new("Ownership", 7191, 234, 0, &kind::U_INT8),
    Field::new("DiscretionPrice", 845, 235, 6, &kind::PRICENULL9),
    Field::new("TrdType", 828, 243, 6, &kind::U_INT16NULL),
    Field::new("ExecRestatementReason", 378, 245, 6, &kind::EXEC_REASON),
    Field::new("SettlDate", 64, 246, 6, &kind::LOCAL_MKT_DATE),
    Field::new("MaturityDate", 541, 248, 6, &kind::LOCAL_MKT_DATE),
    Field::new("CalculatedCcyLastQty", 1056, 250, 6, &kind::DECIMAL64NULL),
    Field::new("GrossTradeAmt", 381, 259, 6, &kind::DECIMAL64NULL),
    Field::new("BenchmarkPrice", 6262, 268, 6, &kind::PRICENULL9),
    Field::new("ReservationPrice", 9562, 276, 8, &kind::PRICENULL9),
    Field::new("PriorityIndicator", 638, 284, 8, &kind::U_INT8NULL),
    Field::new("DisplayLimitPrice", 9264, 285, 8, &kind::PRICENULL9),
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
    Field::new("ContraGrossTradeAmt", 5542, 23, 6, &kind::DECIMAL64NULL),
    Field::new("ContraCalculatedCcyLastQty", 5971, 32, 6, &kind::DECIMAL64NULL),
];

hairpin_sbe::message! {
    /// ExecutionReportTradeOutright525: message type 8, template 525, block of 293 bytes, 2 groups.
    ExecutionReportTradeOutright525, ExecutionReportTradeOutright525Encoder, 293, ExecutionReportTradeOutright525Groups, 2
}

impl<'a> ExecutionReportTradeOutright525<'a> {
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
    /// PartyDetailsListReqID (tag 1505), bytes 92..100.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 92>() }
    /// LastPx (tag 31), bytes 100..108.
    #[inline] pub fn last_px(&self) -> Price9 { Decimal(self.0.block.load::<i64, 100>()) }
    /// OrderID (tag 37), bytes 108..116.
    #[inline] pub fn order_id(&self) -> u64 { self.0.block.load::<u64, 108>() }
    /// Price (tag 44), bytes 116..124.
    #[inline] pub fn price(&self) -> Price9 { Decimal(self.0.block.load::<i64, 116>()) }
    /// StopPx (tag 99), bytes 124..132.
    #[inline] pub fn stop_px(&self) -> Option<Price9> { self.0.block.nullable::<i64, 124>(i64::MAX).map(Decimal) }
    /// TransactTime (tag 60), bytes 132..140.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 132>() }
    /// SendingTimeEpoch (tag 5297), bytes 140..148.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 140>() }
    /// OrderRequestID (tag 2422), bytes 148..156.
    #[inline] pub fn order_request_id(&self) -> u64 { self.0.block.load::<u64, 148>() }
    /// SecExecID (tag 527), bytes 156..164.
    #[inline] pub fn sec_exec_id(&self) -> u64 { self.0.block.load::<u64, 156>() }
    /// CrossID (tag 548), bytes 164..172.
    #[inline] pub fn cross_id(&self) -> Option<u64> { self.0.block.nullable::<u64, 164>(u64::MAX) }
    /// HostCrossID (tag 961), bytes 172..180.
    #[inline] pub fn host_cross_id(&self) -> Option<u64> { self.0.block.nullable::<u64, 172>(u64::MAX) }
    /// Location (tag 9537), bytes 180..185.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<180, 5>() }
    /// SecurityID (tag 48), bytes 185..189.
    #[inline] pub fn security_id(&self) -> i32 { self.0.block.load::<i32, 185>() }
    /// OrderQty (tag 38), bytes 189..193.
    #[inline] pub fn order_qty(&self) -> u32 { self.0.block.load::<u32, 189>() }
    /// LastQty (tag 32), bytes 193..197.
    #[inline] pub fn last_qty(&self) -> u32 { self.0.block.load::<u32, 193>() }
    /// CumQty (tag 14), bytes 197..201.
    #[inline] pub fn cum_qty(&self) -> u32 { self.0.block.load::<u32, 197>() }
    /// MDTradeEntryID (tag 37711), bytes 201..205.
    #[inline] pub fn md_trade_entry_id(&self) -> u32 { self.0.block.load::<u32, 201>() }
    /// SideTradeID (tag 1506), bytes 205..209.
    #[inline] pub fn side_trade_id(&self) -> u32 { self.0.block.load::<u32, 205>() }
    /// TradeLinkID (tag 820), bytes 209..213.
    #[inline] pub fn trade_link_id(&self) -> Option<u32> { self.0.block.nullable::<u32, 209>(u32::MAX) }
    /// LeavesQty (tag 151), bytes 213..217.
    #[inline] pub fn leaves_qty(&self) -> u32 { self.0.block.load::<u32, 213>() }
    /// TradeDate (tag 75), bytes 217..219.
    #[inline] pub fn trade_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 217>(u16::MAX) }
    /// ExpireDate (tag 432), bytes 219..221.
    #[inline] pub fn expire_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 219>(u16::MAX) }
    /// OrdStatus (tag 39), bytes 221..222.
    #[inline] pub fn ord_status(&self) -> OrdStatusTrd { OrdStatusTrd(self.0.block.load::<u8, 221>()) }
    /// ExecType (tag 150), constant.
    pub const EXEC_TYPE: u8 = b'F';
    /// OrdType (tag 40), bytes 222..223.
    #[inline] pub fn ord_type(&self) -> Option<OrderType> { self.0.block.nullable_char::<222>().map(OrderType) }
    /// Side (tag 54), bytes 223..224.
    #[inline] pub fn side(&self) -> SideReq { SideReq(self.0.block.load::<u8, 223>()) }
    /// TimeInForce (tag 59), bytes 224..225.
    #[inline] pub fn time_in_force(&self) -> Option<TimeInForce> { self.0.block.nullable::<u8, 224>(u8::MAX).map(TimeInForce) }
    /// ManualOrderIndicator (tag 1028), bytes 225..226.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 225>()) }
    /// PossRetransFlag (tag 9765), bytes 226..227.
    #[inline] pub fn poss_retrans_flag(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 226>()) }
    /// AggressorIndicator (tag 1057), bytes 227..228.
    #[inline] pub fn aggressor_indicator(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 227>()) }
    /// CrossType (tag 549), bytes 228..229.
    #[inline] pub fn cross_type(&self) -> Option<u8> { self.0.block.nullable::<u8, 228>(u8::MAX) }
    /// ExecInst (tag 18), bytes 229..230.
    #[inline] pub fn exec_inst(&self) -> ExecInst { ExecInst(self.0.block.load::<u8, 229>()) }
    /// ExecutionMode (tag 5906), bytes 230..231.
    #[inline] pub fn execution_mode(&self) -> Option<ExecMode> { self.0.block.nullable_char::<230>().map(ExecMode) }
    /// LiquidityFlag (tag 9373), bytes 231..232.
    #[inline] pub fn liquidity_flag(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 231>(u8::MAX).map(BooleanNULL) }
    /// ManagedOrder (tag 6881), bytes 232..233.
    #[inline] pub fn managed_order(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 232>(u8::MAX).map(BooleanNULL) }
    /// ShortSaleType (tag 5409), bytes 233..234.
    #[inline] pub fn short_sale_type(&self) -> Option<ShortSaleType> { self.0.block.nullable::<u8, 233>(u8::MAX).map(ShortSaleType) }
    /// Ownership (tag 7191), bytes 234..235.
    #[inline] pub fn ownership(&self) -> u8 { self.0.block.load::<u8, 234>() }
    /// DiscretionPrice (tag 845), bytes 235..243, since version 6.
    #[inline] pub fn discretion_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 235>(i64::MAX).map(Decimal) }
    /// TrdType (tag 828), bytes 243..245, since version 6.
    #[inline] pub fn trd_type(&self) -> Option<u16> { self.0.block.nullable::<u16, 243>(u16::MAX) }
    /// ExecRestatementReason (tag 378), bytes 245..246, since version 6.
    #[inline] pub fn exec_restatement_reason(&self) -> Option<ExecReason> { self.0.block.nullable::<u8, 245>(u8::MAX).map(ExecReason) }
    /// SettlDate (tag 64), bytes 246..248, since version 6.
    #[inline] pub fn settl_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 246>(u16::MAX) }
    /// MaturityDate (tag 541), bytes 248..250, since version 6.
    #[inline] pub fn maturity_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 248>(u16::MAX) }
    /// CalculatedCcyLastQty (tag 1056), bytes 250..259, since version 6.
    #[inline] pub fn calculated_ccy_last_qty(&self) -> Option<Float> { self.0.block.float64::<250, 258>() }
    /// GrossTradeAmt (tag 381), bytes 259..268, since version 6.
    #[inline] pub fn gross_trade_amt(&self) -> Option<Float> { self.0.block.float64::<259, 267>() }
    /// BenchmarkPrice (tag 6262), bytes 268..276, since version 6.
    #[inline] pub fn benchmark_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 268>(i64::MAX).map(Decimal) }
    /// ReservationPrice (tag 9562), bytes 276..284, since version 8.
    #[inline] pub fn reservation_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 276>(i64::MAX).map(Decimal) }
    /// PriorityIndicator (tag 638), bytes 284..285, since version 8.
    #[inline] pub fn priority_indicator(&self) -> Option<u8> { self.0.block.nullable::<u8, 284>(u8::MAX) }
    /// DisplayLimitPrice (tag 9264), bytes 285..293, since version 8.
    #[inline] pub fn display_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 285>(i64::MAX).map(Decimal) }
    /// NoFills (tag 1362).
    #[inline] pub fn no_fills(&self) -> Group<'a, NoFills<'a>> { Group::new(self.0.group(0)) }
    /// NoOrderEvents (tag 1795).
    #[inline] pub fn no_order_events(&self) -> Group<'a, NoOrderEvents<'a>> { Group::new(self.0.group(1)) }
}

impl ExecutionReportTradeOutright525Encoder<'_> {
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 0>(value); self }
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 4>(value); self }
    /** Writes ExecID. */ #[inline] pub fn set_exec_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<12, 40>(value.as_ref()); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<52, 20>(value.as_ref()); self }
    /** Writes ClOrdID. */ #[inline] pub fn set_cl_ord_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<72, 20>(value.as_ref()); self }
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 92>(value); self }
    /** Writes LastPx. */ #[inline] pub fn set_last_px(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 100>(value.0); self }
    /** Writes OrderID. */ #[inline] pub fn set_order_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 108>(value); self }
    /** Writes Price. */ #[inline] pub fn set_price(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 116>(value.0); self }
    /** Writes StopPx. */ #[inline] pub fn set_stop_px(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 124>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 132>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 140>(value); self }
    /** Writes OrderRequestID. */ #[inline] pub fn set_order_request_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 148>(value); self }
    /** Writes SecExecID. */ #[inline] pub fn set_sec_exec_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 156>(value); self }
    /** Writes CrossID. */ #[inline] pub fn set_cross_id(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 164>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes HostCrossID. */ #[inline] pub fn set_host_cross_id(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 172>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<180, 5>(value.as_ref()); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 185>(value); self }
    /** Writes OrderQty. */ #[inline] pub fn set_order_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 189>(value); self }
    /** Writes LastQty. */ #[inline] pub fn set_last_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 193>(value); self }
    /** Writes CumQty. */ #[inline] pub fn set_cum_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 197>(value); self }
    /** Writes MDTradeEntryID. */ #[inline] pub fn set_md_trade_entry_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 201>(value); self }
    /** Writes SideTradeID. */ #[inline] pub fn set_side_trade_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 205>(value); self }
    /** Writes TradeLinkID. */ #[inline] pub fn set_trade_link_id(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 209>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes LeavesQty. */ #[inline] pub fn set_leaves_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 213>(value); self }
    /** Writes TradeDate. */ #[inline] pub fn set_trade_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 217>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes ExpireDate. */ #[inline] pub fn set_expire_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 219>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes OrdStatus. */ #[inline] pub fn set_ord_status(&mut self, value: OrdStatusTrd) -> &mut Self { self.0.store::<u8, 221>(value.0); self }
    /** Writes OrdType. */ #[inline] pub fn set_ord_type(&mut self, value: impl Into<Option<OrderType>>) -> &mut Self { self.0.store::<u8, 222>(value.into().map_or(0, |v| v.0)); self }
    /** Writes Side. */ #[inline] pub fn set_side(&mut self, value: SideReq) -> &mut Self { self.0.store::<u8, 223>(value.0); self }
    /** Writes TimeInForce. */ #[inline] pub fn set_time_in_force(&mut self, value: impl Into<Option<TimeInForce>>) -> &mut Self { self.0.store::<u8, 224>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 225>(value.0); self }
    /** Writes PossRetransFlag. */ #[inline] pub fn set_poss_retrans_flag(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 226>(value.0); self }
    /** Writes AggressorIndicator. */ #[inline] pub fn set_aggressor_indicator(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 227>(value.0); self }
    /** Writes CrossType. */ #[inline] pub fn set_cross_type(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 228>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes ExecInst. */ #[inline] pub fn set_exec_inst(&mut self, value: ExecInst) -> &mut Self { self.0.store::<u8, 229>(value.0); self }
    /** Writes ExecutionMode. */ #[inline] pub fn set_execution_mode(&mut self, value: impl Into<Option<ExecMode>>) -> &mut Self { self.0.store::<u8, 230>(value.into().map_or(0, |v| v.0)); self }
    /** Writes LiquidityFlag. */ #[inline] pub fn set_liquidity_flag(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 231>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ManagedOrder. */ #[inline] pub fn set_managed_order(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 232>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ShortSaleType. */ #[inline] pub fn set_short_sale_type(&mut self, value: impl Into<Option<ShortSaleType>>) -> &mut Self { self.0.store::<u8, 233>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes Ownership. */ #[inline] pub fn set_ownership(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 234>(value); self }
    /** Writes DiscretionPrice. */ #[inline] pub fn set_discretion_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 235>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes TrdType. */ #[inline] pub fn set_trd_type(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 243>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes ExecRestatementReason. */ #[inline] pub fn set_exec_restatement_reason(&mut self, value: impl Into<Option<ExecReason>>) -> &mut Self { self.0.store::<u8, 245>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes SettlDate. */ #[inline] pub fn set_settl_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 246>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes MaturityDate. */ #[inline] pub fn set_maturity_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 248>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes CalculatedCcyLastQty. */ #[inline] pub fn set_calculated_ccy_last_qty(&mut self, value: impl Into<Option<Float>>) -> &mut Self { self.0.store_float64::<250, 258>(value.into()); self }
    /** Writes GrossTradeAmt. */ #[inline] pub fn set_gross_trade_amt(&mut self, value: impl Into<Option<Float>>) -> &mut Self { self.0.store_float64::<259, 267>(value.into()); self }
    /** Writes BenchmarkPrice. */ #[inline] pub fn set_benchmark_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 268>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes ReservationPrice. */ #[inline] pub fn set_reservation_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 276>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes PriorityIndicator. */ #[inline] pub fn set_priority_indicator(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 284>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes DisplayLimitPrice. */ #[inline] pub fn set_display_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 285>(value.into().map_or(i64::MAX, |v| v.0)); self }
}

impl ExecutionReportTradeOutright525Groups<'_> {
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
    /// ContraGrossTradeAmt (tag 5542), bytes 23..32, since version 6.
    #[inline] pub fn contra_gross_trade_amt(&self) -> Option<Float> { self.0.float64::<23, 31>() }
    /// ContraCalculatedCcyLastQty (tag 5971), bytes 32..41, since version 6.
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
