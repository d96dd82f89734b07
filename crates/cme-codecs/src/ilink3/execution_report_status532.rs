//! ExecutionReportStatus532, template 532. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, Field, Message};

/// The layout of ExecutionReportStatus532.
pub const MESSAGE: Message = Message {
    name: "ExecutionReportStatus532", template_id: 532, schema_id: 8, version: 9, semantic_type: "8",
    block: BlockLayout::new(513, 0, FIELDS),
    groups: &[],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("SeqNum", 9726, 0, 0, &kind::U_INT32),
    Field::new("UUID", 39001, 4, 0, &kind::U_INT64),
    Field::new("Text", 58, 12, 0, &kind::STRING256),
    Field::new("ExecID", 17, 268, 0, &kind::STRING40),
    Field::new("SenderID", 5392, 308, 0, &kind::STRING20_REQ),
    Field::new("ClOrdID", 11, 328, 0, &kind::STRING20_REQ),
    Field::new("PartyDetailsListReqID", 1505, 348, 0, &kind::U_INT64),
    Field::new("OrderID", 37, 356, 0, &kind::U_INT64),
    Field::new("Price", 44, 364, 0, &kind::PRICENULL9),
    Field::new("StopPx", 99, 372, 0, &kind::PRICENULL9),
    Field::new("TransactTime", 60, 380, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 388, 0, &kind::U_INT64),
    Field::new("OrderRequestID", 2422, 396, 0, &kind::U_INT64),
    Field::new("OrdStatusReqID", 790, 404, 0, &kind::U_INT64NULL),
    Field::new("MassStatusReqID", 584, 412, 0, &kind::U_INT64NULL),
    Field::new("CrossID", 548, 420, 0, &kind::U_INT64NULL),
    Field::new("HostCrossID", 961, 428, 0, &kind::U_INT64NULL),
    Field::new("Location", 9537, 436, 0, &kind::STRING5_REQ),
    Field::new("SecurityID", 48, 441, 0, &kind::INT32),
    Field::new("OrderQty", 38, 445, 0, &kind::U_INT32),
    Field::new("CumQty", 14, 449, 0, &kind::U_INT32),
    Field::new("LeavesQty", 151, 453, 0, &kind::U_INT32),
    Field::new("MinQty", 110, 457, 0, &kind::U_INT32NULL),
    Field::new("DisplayQty", 1138, 461, 0, &kind::U_INT32NULL),
    Field::new("ExpireDate", 432, 465, 0, &kind::LOCAL_MKT_DATE),
    Field::new("OrdStatus", 39, 467, 0, &kind::ORDER_STATUS),
    Field::new("ExecType", 150, 0, 0, &kind::EXEC_TYP_STATUS),
    Field::new("OrdType", 40, 468, 0, &kind::ORDER_TYPE),
    Field::new("Side", 54, 469, 0, &kind::SIDE_REQ),
    Field::new("TimeInForce", 59, 470, 0, &kind::TIME_IN_FORCE),
    Field::new("ManualOrderIndicator", 1028, 471, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("PossRetransFlag", 9765, 472, 0, &kind::BOOLEAN_FLAG),
    Field::new("LastRptRequested", 912, 473, 0, &kind::BOOLEAN_NULL),
    Field::new("CrossType", 549, 474, 0, &kind::U_INT8NULL),
    Field::new("ExecInst", 18, 475, 0, &kind::EXEC_INST),
    Field::new("ExecutionMode", 5906, 476, 0, &kind::EXEC_MODE),
    Field::new("LiquidityFlag", 9373, 477, 0, &kind::BOOLEAN_NULL),
    Field::new("ManagedOrder", 6881, 478, 0, &kind::BOOLEAN_NULL),
    Field::new("ShortSaleType", 5409, 479, 0, &kind::SHORT_SALE_TYPE),
    Field::new("DiscretionPrice", 845, 480, 6, &kind::PRICENULL9),
    Field::new("ReservationPrice", 9562, 488, 8, &kind::PRICENULL9),
    Field::new("PriorityIndicator", 638, 496, 8, &kind::U_INT8NULL),
    Field::new("OrigOrderUser", 9937, 497, 8, &kind::STRING8),
    Field::new("CancelText", 2807, 505, 8, &kind::STRING8),
];

hairpin_sbe::message! {
    /// ExecutionReportStatus532: message type 8, template 532, block of 513 bytes, 0 groups.
    ExecutionReportStatus532, ExecutionReportStatus532Encoder, 513
}

impl<'a> ExecutionReportStatus532<'a> {
    /// SeqNum (tag 9726), bytes 0..4.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 0>() }
    /// UUID (tag 39001), bytes 4..12.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 4>() }
    /// Text (tag 58), bytes 12..268.
    #[inline] pub fn text(&self) -> CharArray<'a> { self.0.block.chars::<12, 256>() }
    /// ExecID (tag 17), bytes 268..308.
    #[inline] pub fn exec_id(&self) -> CharArray<'a> { self.0.block.chars::<268, 40>() }
    /// SenderID (tag 5392), bytes 308..328.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<308, 20>() }
    /// ClOrdID (tag 11), bytes 328..348.
    #[inline] pub fn cl_ord_id(&self) -> CharArray<'a> { self.0.block.chars::<328, 20>() }
    /// PartyDetailsListReqID (tag 1505), bytes 348..356.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 348>() }
    /// OrderID (tag 37), bytes 356..364.
    #[inline] pub fn order_id(&self) -> u64 { self.0.block.load::<u64, 356>() }
    /// Price (tag 44), bytes 364..372.
    #[inline] pub fn price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 364>(i64::MAX).map(Decimal) }
    /// StopPx (tag 99), bytes 372..380.
    #[inline] pub fn stop_px(&self) -> Option<Price9> { self.0.block.nullable::<i64, 372>(i64::MAX).map(Decimal) }
    /// TransactTime (tag 60), bytes 380..388.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 380>() }
    /// SendingTimeEpoch (tag 5297), bytes 388..396.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 388>() }
    /// OrderRequestID (tag 2422), bytes 396..404.
    #[inline] pub fn order_request_id(&self) -> u64 { self.0.block.load::<u64, 396>() }
    /// OrdStatusReqID (tag 790), bytes 404..412.
    #[inline] pub fn ord_status_req_id(&self) -> Option<u64> { self.0.block.nullable::<u64, 404>(u64::MAX) }
    /// MassStatusReqID (tag 584), bytes 412..420.
    #[inline] pub fn mass_status_req_id(&self) -> Option<u64> { self.0.block.nullable::<u64, 412>(u64::MAX) }
    /// CrossID (tag 548), bytes 420..428.
    #[inline] pub fn cross_id(&self) -> Option<u64> { self.0.block.nullable::<u64, 420>(u64::MAX) }
    /// HostCrossID (tag 961), bytes 428..436.
    #[inline] pub fn host_cross_id(&self) -> Option<u64> { self.0.block.nullable::<u64, 428>(u64::MAX) }
    /// Location (tag 9537), bytes 436..441.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<436, 5>() }
    /// SecurityID (tag 48), bytes 441..445.
    #[inline] pub fn security_id(&self) -> i32 { self.0.block.load::<i32, 441>() }
    /// OrderQty (tag 38), bytes 445..449.
    #[inline] pub fn order_qty(&self) -> u32 { self.0.block.load::<u32, 445>() }
    /// CumQty (tag 14), bytes 449..453.
    #[inline] pub fn cum_qty(&self) -> u32 { self.0.block.load::<u32, 449>() }
    /// LeavesQty (tag 151), bytes 453..457.
    #[inline] pub fn leaves_qty(&self) -> u32 { self.0.block.load::<u32, 453>() }
    /// MinQty (tag 110), bytes 457..461.
    #[inline] pub fn min_qty(&self) -> Option<u32> { self.0.block.nullable::<u32, 457>(u32::MAX) }
    /// DisplayQty (tag 1138), bytes 461..465.
    #[inline] pub fn display_qty(&self) -> Option<u32> { self.0.block.nullable::<u32, 461>(u32::MAX) }
    /// ExpireDate (tag 432), bytes 465..467.
    #[inline] pub fn expire_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 465>(u16::MAX) }
    /// OrdStatus (tag 39), bytes 467..468.
    #[inline] pub fn ord_status(&self) -> OrderStatus { OrderStatus(self.0.block.load::<u8, 467>()) }
    /// ExecType (tag 150), constant.
    pub const EXEC_TYPE: u8 = b'I';
    /// OrdType (tag 40), bytes 468..469.
    #[inline] pub fn ord_type(&self) -> Option<OrderType> { self.0.block.nullable_char::<468>().map(OrderType) }
    /// Side (tag 54), bytes 469..470.
    #[inline] pub fn side(&self) -> SideReq { SideReq(self.0.block.load::<u8, 469>()) }
    /// TimeInForce (tag 59), bytes 470..471.
    #[inline] pub fn time_in_force(&self) -> Option<TimeInForce> { self.0.block.nullable::<u8, 470>(u8::MAX).map(TimeInForce) }
    /// ManualOrderIndicator (tag 1028), bytes 471..472.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 471>()) }
    /// PossRetransFlag (tag 9765), bytes 472..473.
    #[inline] pub fn poss_retrans_flag(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 472>()) }
    /// LastRptRequested (tag 912), bytes 473..474.
    #[inline] pub fn last_rpt_requested(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 473>(u8::MAX).map(BooleanNULL) }
    /// CrossType (tag 549), bytes 474..475.
    #[inline] pub fn cross_type(&self) -> Option<u8> { self.0.block.nullable::<u8, 474>(u8::MAX) }
    /// ExecInst (tag 18), bytes 475..476.
    #[inline] pub fn exec_inst(&self) -> ExecInst { ExecInst(self.0.block.load::<u8, 475>()) }
    /// ExecutionMode (tag 5906), bytes 476..477.
    #[inline] pub fn execution_mode(&self) -> Option<ExecMode> { self.0.block.nullable_char::<476>().map(ExecMode) }
    /// LiquidityFlag (tag 9373), bytes 477..478.
    #[inline] pub fn liquidity_flag(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 477>(u8::MAX).map(BooleanNULL) }
    /// ManagedOrder (tag 6881), bytes 478..479.
    #[inline] pub fn managed_order(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 478>(u8::MAX).map(BooleanNULL) }
    /// ShortSaleType (tag 5409), bytes 479..480.
    #[inline] pub fn short_sale_type(&self) -> Option<ShortSaleType> { self.0.block.nullable::<u8, 479>(u8::MAX).map(ShortSaleType) }
    /// DiscretionPrice (tag 845), bytes 480..488, since version 6.
    #[inline] pub fn discretion_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 480>(i64::MAX).map(Decimal) }
    /// ReservationPrice (tag 9562), bytes 488..496, since version 8.
    #[inline] pub fn reservation_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 488>(i64::MAX).map(Decimal) }
    /// PriorityIndicator (tag 638), bytes 496..497, since version 8.
    #[inline] pub fn priority_indicator(&self) -> Option<u8> { self.0.block.nullable::<u8, 496>(u8::MAX) }
    /// OrigOrderUser (tag 9937), bytes 497..505, since version 8.
    #[inline] pub fn orig_order_user(&self) -> CharArray<'a> { self.0.block.chars::<497, 8>() }
    /// CancelText (tag 2807), bytes 505..513, since version 8.
    #[inline] pub fn cancel_text(&self) -> CharArray<'a> { self.0.block.chars::<505, 8>() }
}

impl ExecutionReportStatus532Encoder<'_> {
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 0>(value); self }
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 4>(value); self }
    /** Writes Text. */ #[inline] pub fn set_text(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<12, 256>(value.as_ref()); self }
    /** Writes ExecID. */ #[inline] pub fn set_exec_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<268, 40>(value.as_ref()); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<308, 20>(value.as_ref()); self }
    /** Writes ClOrdID. */ #[inline] pub fn set_cl_ord_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<328, 20>(value.as_ref()); self }
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 348>(value); self }
    /** Writes OrderID. */ #[inline] pub fn set_order_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 356>(value); self }
    /** Writes Price. */ #[inline] pub fn set_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 364>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes StopPx. */ #[inline] pub fn set_stop_px(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 372>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 380>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 388>(value); self }
    /** Writes OrderRequestID. */ #[inline] pub fn set_order_request_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 396>(value); self }
    /** Writes OrdStatusReqID. */ #[inline] pub fn set_ord_status_req_id(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 404>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes MassStatusReqID. */ #[inline] pub fn set_mass_status_req_id(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 412>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes CrossID. */ #[inline] pub fn set_cross_id(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 420>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes HostCrossID. */ #[inline] pub fn set_host_cross_id(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 428>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<436, 5>(value.as_ref()); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 441>(value); self }
    /** Writes OrderQty. */ #[inline] pub fn set_order_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 445>(value); self }
    /** Writes CumQty. */ #[inline] pub fn set_cum_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 449>(value); self }
    /** Writes LeavesQty. */ #[inline] pub fn set_leaves_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 453>(value); self }
    /** Writes MinQty. */ #[inline] pub fn set_min_qty(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 457>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes DisplayQty. */ #[inline] pub fn set_display_qty(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 461>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes ExpireDate. */ #[inline] pub fn set_expire_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 465>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes OrdStatus. */ #[inline] pub fn set_ord_status(&mut self, value: OrderStatus) -> &mut Self { self.0.store::<u8, 467>(value.0); self }
    /** Writes OrdType. */ #[inline] pub fn set_ord_type(&mut self, value: impl Into<Option<OrderType>>) -> &mut Self { self.0.store::<u8, 468>(value.into().map_or(0, |v| v.0)); self }
    /** Writes Side. */ #[inline] pub fn set_side(&mut self, value: SideReq) -> &mut Self { self.0.store::<u8, 469>(value.0); self }
    /** Writes TimeInForce. */ #[inline] pub fn set_time_in_force(&mut self, value: impl Into<Option<TimeInForce>>) -> &mut Self { self.0.store::<u8, 470>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 471>(value.0); self }
    /** Writes PossRetransFlag. */ #[inline] pub fn set_poss_retrans_flag(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 472>(value.0); self }
    /** Writes LastRptRequested. */ #[inline] pub fn set_last_rpt_requested(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 473>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes CrossType. */ #[inline] pub fn set_cross_type(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 474>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes ExecInst. */ #[inline] pub fn set_exec_inst(&mut self, value: ExecInst) -> &mut Self { self.0.store::<u8, 475>(value.0); self }
    /** Writes ExecutionMode. */ #[inline] pub fn set_execution_mode(&mut self, value: impl Into<Option<ExecMode>>) -> &mut Self { self.0.store::<u8, 476>(value.into().map_or(0, |v| v.0)); self }
    /** Writes LiquidityFlag. */ #[inline] pub fn set_liquidity_flag(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 477>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ManagedOrder. */ #[inline] pub fn set_managed_order(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 478>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ShortSaleType. */ #[inline] pub fn set_short_sale_type(&mut self, value: impl Into<Option<ShortSaleType>>) -> &mut Self { self.0.store::<u8, 479>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes DiscretionPrice. */ #[inline] pub fn set_discretion_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 480>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes ReservationPrice. */ #[inline] pub fn set_reservation_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 488>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes PriorityIndicator. */ #[inline] pub fn set_priority_indicator(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 496>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes OrigOrderUser. */ #[inline] pub fn set_orig_order_user(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<497, 8>(value.as_ref()); self }
    /** Writes CancelText. */ #[inline] pub fn set_cancel_text(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<505, 8>(value.as_ref()); self }
}
