//! ExecutionReportReject523, template 523. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, Field, Message};

/// The layout of ExecutionReportReject523.
pub const MESSAGE: Message = Message {
    name: "ExecutionReportReject523", template_id: 523, schema_id: 8, version: 9, semantic_type: "8",
    block: BlockLayout::new(483, 0, FIELDS),
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
    Field::new("CrossID", 548, 404, 0, &kind::U_INT64NULL),
    Field::new("HostCrossID", 961, 412, 0, &kind::U_INT64NULL),
    Field::new("Location", 9537, 420, 0, &kind::STRING5_REQ),
    Field::new("SecurityID", 48, 425, 0, &kind::INT32),
    Field::new("OrderQty", 38, 429, 0, &kind::U_INT32),
    Field::new("MinQty", 110, 433, 0, &kind::U_INT32NULL),
    Field::new("DisplayQty", 1138, 437, 0, &kind::U_INT32NULL),
    Field::new("OrdRejReason", 103, 441, 0, &kind::U_INT16),
    Field::new("ExpireDate", 432, 443, 0, &kind::LOCAL_MKT_DATE),
    Field::new("DelayDuration", 5904, 445, 0, &kind::U_INT16NULL),
    Field::new("OrdStatus", 39, 0, 0, &kind::ORD_STATUS_REJ),
    Field::new("ExecType", 150, 0, 0, &kind::EXEC_TYP_REJ),
    Field::new("OrdType", 40, 447, 0, &kind::ORDER_TYPE),
    Field::new("Side", 54, 448, 0, &kind::SIDE_REQ),
    Field::new("TimeInForce", 59, 449, 0, &kind::TIME_IN_FORCE),
    Field::new("ManualOrderIndicator", 1028, 450, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("PossRetransFlag", 9765, 451, 0, &kind::BOOLEAN_FLAG),
    Field::new("SplitMsg", 9553, 452, 0, &kind::SPLIT_MSG),
    Field::new("CrossType", 549, 453, 0, &kind::U_INT8NULL),
    Field::new("ExecInst", 18, 454, 0, &kind::EXEC_INST),
    Field::new("ExecutionMode", 5906, 455, 0, &kind::EXEC_MODE),
    Field::new("LiquidityFlag", 9373, 456, 0, &kind::BOOLEAN_NULL),
    Field::new("ManagedOrder", 6881, 457, 0, &kind::BOOLEAN_NULL),
    Field::new("ShortSaleType", 5409, 458, 0, &kind::SHORT_SALE_TYPE),
    Field::new("DelayToTime", 7552, 459, 4, &kind::U_INT64NULL),
    Field::new("DiscretionPrice", 845, 467, 6, &kind::PRICENULL9),
    Field::new("ReservationPrice", 9562, 475, 8, &kind::PRICENULL9),
];

hairpin_sbe::message! {
    /// ExecutionReportReject523: message type 8, template 523, block of 483 bytes, 0 groups.
    ExecutionReportReject523, ExecutionReportReject523Encoder, 483
}

impl<'a> ExecutionReportReject523<'a> {
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
    /// CrossID (tag 548), bytes 404..412.
    #[inline] pub fn cross_id(&self) -> Option<u64> { self.0.block.nullable::<u64, 404>(u64::MAX) }
    /// HostCrossID (tag 961), bytes 412..420.
    #[inline] pub fn host_cross_id(&self) -> Option<u64> { self.0.block.nullable::<u64, 412>(u64::MAX) }
    /// Location (tag 9537), bytes 420..425.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<420, 5>() }
    /// SecurityID (tag 48), bytes 425..429.
    #[inline] pub fn security_id(&self) -> i32 { self.0.block.load::<i32, 425>() }
    /// OrderQty (tag 38), bytes 429..433.
    #[inline] pub fn order_qty(&self) -> u32 { self.0.block.load::<u32, 429>() }
    /// MinQty (tag 110), bytes 433..437.
    #[inline] pub fn min_qty(&self) -> Option<u32> { self.0.block.nullable::<u32, 433>(u32::MAX) }
    /// DisplayQty (tag 1138), bytes 437..441.
    #[inline] pub fn display_qty(&self) -> Option<u32> { self.0.block.nullable::<u32, 437>(u32::MAX) }
    /// OrdRejReason (tag 103), bytes 441..443.
    #[inline] pub fn ord_rej_reason(&self) -> u16 { self.0.block.load::<u16, 441>() }
    /// ExpireDate (tag 432), bytes 443..445.
    #[inline] pub fn expire_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 443>(u16::MAX) }
    /// DelayDuration (tag 5904), bytes 445..447.
    #[inline] pub fn delay_duration(&self) -> Option<u16> { self.0.block.nullable::<u16, 445>(u16::MAX) }
    /// OrdStatus (tag 39), constant.
    pub const ORD_STATUS: u8 = b'8';
    /// ExecType (tag 150), constant.
    pub const EXEC_TYPE: u8 = b'8';
    /// OrdType (tag 40), bytes 447..448.
    #[inline] pub fn ord_type(&self) -> Option<OrderType> { self.0.block.nullable_char::<447>().map(OrderType) }
    /// Side (tag 54), bytes 448..449.
    #[inline] pub fn side(&self) -> SideReq { SideReq(self.0.block.load::<u8, 448>()) }
    /// TimeInForce (tag 59), bytes 449..450.
    #[inline] pub fn time_in_force(&self) -> Option<TimeInForce> { self.0.block.nullable::<u8, 449>(u8::MAX).map(TimeInForce) }
    /// ManualOrderIndicator (tag 1028), bytes 450..451.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 450>()) }
    /// PossRetransFlag (tag 9765), bytes 451..452.
    #[inline] pub fn poss_retrans_flag(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 451>()) }
    /// SplitMsg (tag 9553), bytes 452..453.
    #[inline] pub fn split_msg(&self) -> Option<SplitMsg> { self.0.block.nullable::<u8, 452>(u8::MAX).map(SplitMsg) }
    /// CrossType (tag 549), bytes 453..454.
    #[inline] pub fn cross_type(&self) -> Option<u8> { self.0.block.nullable::<u8, 453>(u8::MAX) }
    /// ExecInst (tag 18), bytes 454..455.
    #[inline] pub fn exec_inst(&self) -> ExecInst { ExecInst(self.0.block.load::<u8, 454>()) }
    /// ExecutionMode (tag 5906), bytes 455..456.
    #[inline] pub fn execution_mode(&self) -> Option<ExecMode> { self.0.block.nullable_char::<455>().map(ExecMode) }
    /// LiquidityFlag (tag 9373), bytes 456..457.
    #[inline] pub fn liquidity_flag(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 456>(u8::MAX).map(BooleanNULL) }
    /// ManagedOrder (tag 6881), bytes 457..458.
    #[inline] pub fn managed_order(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 457>(u8::MAX).map(BooleanNULL) }
    /// ShortSaleType (tag 5409), bytes 458..459.
    #[inline] pub fn short_sale_type(&self) -> Option<ShortSaleType> { self.0.block.nullable::<u8, 458>(u8::MAX).map(ShortSaleType) }
    /// DelayToTime (tag 7552), bytes 459..467, since version 4.
    #[inline] pub fn delay_to_time(&self) -> Option<u64> { self.0.block.nullable::<u64, 459>(u64::MAX) }
    /// DiscretionPrice (tag 845), bytes 467..475, since version 6.
    #[inline] pub fn discretion_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 467>(i64::MAX).map(Decimal) }
    /// ReservationPrice (tag 9562), bytes 475..483, since version 8.
    #[inline] pub fn reservation_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 475>(i64::MAX).map(Decimal) }
}

impl ExecutionReportReject523Encoder<'_> {
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
    /** Writes CrossID. */ #[inline] pub fn set_cross_id(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 404>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes HostCrossID. */ #[inline] pub fn set_host_cross_id(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 412>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<420, 5>(value.as_ref()); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 425>(value); self }
    /** Writes OrderQty. */ #[inline] pub fn set_order_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 429>(value); self }
    /** Writes MinQty. */ #[inline] pub fn set_min_qty(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 433>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes DisplayQty. */ #[inline] pub fn set_display_qty(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 437>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes OrdRejReason. */ #[inline] pub fn set_ord_rej_reason(&mut self, value: u16) -> &mut Self { self.0.store::<u16, 441>(value); self }
    /** Writes ExpireDate. */ #[inline] pub fn set_expire_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 443>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes DelayDuration. */ #[inline] pub fn set_delay_duration(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 445>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes OrdType. */ #[inline] pub fn set_ord_type(&mut self, value: impl Into<Option<OrderType>>) -> &mut Self { self.0.store::<u8, 447>(value.into().map_or(0, |v| v.0)); self }
    /** Writes Side. */ #[inline] pub fn set_side(&mut self, value: SideReq) -> &mut Self { self.0.store::<u8, 448>(value.0); self }
    /** Writes TimeInForce. */ #[inline] pub fn set_time_in_force(&mut self, value: impl Into<Option<TimeInForce>>) -> &mut Self { self.0.store::<u8, 449>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 450>(value.0); self }
    /** Writes PossRetransFlag. */ #[inline] pub fn set_poss_retrans_flag(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 451>(value.0); self }
    /** Writes SplitMsg. */ #[inline] pub fn set_split_msg(&mut self, value: impl Into<Option<SplitMsg>>) -> &mut Self { self.0.store::<u8, 452>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes CrossType. */ #[inline] pub fn set_cross_type(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 453>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes ExecInst. */ #[inline] pub fn set_exec_inst(&mut self, value: ExecInst) -> &mut Self { self.0.store::<u8, 454>(value.0); self }
    /** Writes ExecutionMode. */ #[inline] pub fn set_execution_mode(&mut self, value: impl Into<Option<ExecMode>>) -> &mut Self { self.0.store::<u8, 455>(value.into().map_or(0, |v| v.0)); self }
    /** Writes LiquidityFlag. */ #[inline] pub fn set_liquidity_flag(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 456>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ManagedOrder. */ #[inline] pub fn set_managed_order(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 457>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ShortSaleType. */ #[inline] pub fn set_short_sale_type(&mut self, value: impl Into<Option<ShortSaleType>>) -> &mut Self { self.0.store::<u8, 458>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes DelayToTime. */ #[inline] pub fn set_delay_to_time(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 459>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes DiscretionPrice. */ #[inline] pub fn set_discretion_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 467>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes ReservationPrice. */ #[inline] pub fn set_reservation_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 475>(value.into().map_or(i64::MAX, |v| v.0)); self }
}
