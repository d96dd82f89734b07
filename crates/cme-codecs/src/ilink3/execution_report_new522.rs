//! ExecutionReportNew522, template 522. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, Field, Message};

/// The layout of ExecutionReportNew522.
pub const MESSAGE: Message = Message {
    name: "ExecutionReportNew522", template_id: 522, schema_id: 8, version: 9, semantic_type: "8",
    block: BlockLayout::new(226, 0, FIELDS),
    groups: &[],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("SeqNum", 9726, 0, 0, &kind::U_INT32),
    Field::new("UUID", 39001, 4, 0, &kind::U_INT64),
    Field::new("ExecID", 17, 12, 0, &kind::STRING40),
    Field::new("SenderID", 5392, 52, 0, &kind::STRING20_REQ),
    Field::new("ClOrdID", 11, 72, 0, &kind::STRING20_REQ),
    Field::new("PartyDetailsListReqID", 1505, 92, 0, &kind::U_INT64),
    Field::new("OrderID", 37, 100, 0, &kind::U_INT64),
    Field::new("Price", 44, 108, 0, &kind::PRICE9),
    Field::new("StopPx", 99, 116, 0, &kind::PRICENULL9),
    Field::new("TransactTime", 60, 124, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 132, 0, &kind::U_INT64),
    Field::new("OrderRequestID", 2422, 140, 0, &kind::U_INT64),
    Field::new("CrossID", 548, 148, 0, &kind::U_INT64NULL),
    Field::new("HostCrossID", 961, 156, 0, &kind::U_INT64NULL),
    Field::new("Location", 9537, 164, 0, &kind::STRING5_REQ),
    Field::new("SecurityID", 48, 169, 0, &kind::INT32),
    Field::new("OrderQty", 38, 173, 0, &kind::U_INT32),
    Field::new("MinQty", 110, 177, 0, &kind::U_INT32NULL),
    Field::new("DisplayQty", 1138, 181, 0, &kind::U_INT32NULL),
    Field::new("ExpireDate", 432, 185, 0, &kind::LOCAL_MKT_DATE),
    Field::new("DelayDuration", 5904, 187, 0, &kind::U_INT16NULL),
    Field::new("OrdStatus", 39, 0, 0, &kind::ORD_STATUS_NEW),
    Field::new("ExecType", 150, 0, 0, &kind::EXEC_TYP_NEW),
    Field::new("OrdType", 40, 189, 0, &kind::ORDER_TYPE),
    Field::new("Side", 54, 190, 0, &kind::SIDE_REQ),
    Field::new("TimeInForce", 59, 191, 0, &kind::TIME_IN_FORCE),
    Field::new("ManualOrderIndicator", 1028, 192, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("PossRetransFlag", 9765, 193, 0, &kind::BOOLEAN_FLAG),
    Field::new("SplitMsg", 9553, 194, 0, &kind::SPLIT_MSG),
    Field::new("CrossType", 549, 195, 0, &kind::U_INT8NULL),
    Field::new("ExecInst", 18, 196, 0, &kind::EXEC_INST),
    Field::new("ExecutionMode", 5906, 197, 0, &kind::EXEC_MODE),
    Field::new("LiquidityFlag", 9373, 198, 0, &kind::BOOLEAN_NULL),
    Field::new("ManagedOrder", 6881, 199, 0, &kind::BOOLEAN_NULL),
    Field::new("ShortSaleType", 5409, 200, 0, &kind::SHORT_SALE_TYPE),
    Field::new("DelayToTime", 7552, 201, 4, &kind::U_INT64NULL),
    Field::new("DiscretionPrice", 845, 209, 6, &kind::PRICENULL9),
    Field::new("ReservationPrice", 9562, 217, 8, &kind::PRICENULL9),
    Field::new("PriorityIndicator", 638, 225, 8, &kind::U_INT8NULL),
];

hairpin_sbe::message! {
    /// ExecutionReportNew522: message type 8, template 522, block of 226 bytes, 0 groups.
    ExecutionReportNew522, ExecutionReportNew522Encoder, 226
}

impl<'a> ExecutionReportNew522<'a> {
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
    /// OrderID (tag 37), bytes 100..108.
    #[inline] pub fn order_id(&self) -> u64 { self.0.block.load::<u64, 100>() }
    /// Price (tag 44), bytes 108..116.
    #[inline] pub fn price(&self) -> Price9 { Decimal(self.0.block.load::<i64, 108>()) }
    /// StopPx (tag 99), bytes 116..124.
    #[inline] pub fn stop_px(&self) -> Option<Price9> { self.0.block.nullable::<i64, 116>(i64::MAX).map(Decimal) }
    /// TransactTime (tag 60), bytes 124..132.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 124>() }
    /// SendingTimeEpoch (tag 5297), bytes 132..140.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 132>() }
    /// OrderRequestID (tag 2422), bytes 140..148.
    #[inline] pub fn order_request_id(&self) -> u64 { self.0.block.load::<u64, 140>() }
    /// CrossID (tag 548), bytes 148..156.
    #[inline] pub fn cross_id(&self) -> Option<u64> { self.0.block.nullable::<u64, 148>(u64::MAX) }
    /// HostCrossID (tag 961), bytes 156..164.
    #[inline] pub fn host_cross_id(&self) -> Option<u64> { self.0.block.nullable::<u64, 156>(u64::MAX) }
    /// Location (tag 9537), bytes 164..169.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<164, 5>() }
    /// SecurityID (tag 48), bytes 169..173.
    #[inline] pub fn security_id(&self) -> i32 { self.0.block.load::<i32, 169>() }
    /// OrderQty (tag 38), bytes 173..177.
    #[inline] pub fn order_qty(&self) -> u32 { self.0.block.load::<u32, 173>() }
    /// MinQty (tag 110), bytes 177..181.
    #[inline] pub fn min_qty(&self) -> Option<u32> { self.0.block.nullable::<u32, 177>(u32::MAX) }
    /// DisplayQty (tag 1138), bytes 181..185.
    #[inline] pub fn display_qty(&self) -> Option<u32> { self.0.block.nullable::<u32, 181>(u32::MAX) }
    /// ExpireDate (tag 432), bytes 185..187.
    #[inline] pub fn expire_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 185>(u16::MAX) }
    /// DelayDuration (tag 5904), bytes 187..189.
    #[inline] pub fn delay_duration(&self) -> Option<u16> { self.0.block.nullable::<u16, 187>(u16::MAX) }
    /// OrdStatus (tag 39), constant.
    pub const ORD_STATUS: u8 = b'0';
    /// ExecType (tag 150), constant.
    pub const EXEC_TYPE: u8 = b'0';
    /// OrdType (tag 40), bytes 189..190.
    #[inline] pub fn ord_type(&self) -> Option<OrderType> { self.0.block.nullable_char::<189>().map(OrderType) }
    /// Side (tag 54), bytes 190..191.
    #[inline] pub fn side(&self) -> SideReq { SideReq(self.0.block.load::<u8, 190>()) }
    /// TimeInForce (tag 59), bytes 191..192.
    #[inline] pub fn time_in_force(&self) -> Option<TimeInForce> { self.0.block.nullable::<u8, 191>(u8::MAX).map(TimeInForce) }
    /// ManualOrderIndicator (tag 1028), bytes 192..193.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 192>()) }
    /// PossRetransFlag (tag 9765), bytes 193..194.
    #[inline] pub fn poss_retrans_flag(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 193>()) }
    /// SplitMsg (tag 9553), bytes 194..195.
    #[inline] pub fn split_msg(&self) -> Option<SplitMsg> { self.0.block.nullable::<u8, 194>(u8::MAX).map(SplitMsg) }
    /// CrossType (tag 549), bytes 195..196.
    #[inline] pub fn cross_type(&self) -> Option<u8> { self.0.block.nullable::<u8, 195>(u8::MAX) }
    /// ExecInst (tag 18), bytes 196..197.
    #[inline] pub fn exec_inst(&self) -> ExecInst { ExecInst(self.0.block.load::<u8, 196>()) }
    /// ExecutionMode (tag 5906), bytes 197..198.
    #[inline] pub fn execution_mode(&self) -> Option<ExecMode> { self.0.block.nullable_char::<197>().map(ExecMode) }
    /// LiquidityFlag (tag 9373), bytes 198..199.
    #[inline] pub fn liquidity_flag(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 198>(u8::MAX).map(BooleanNULL) }
    /// ManagedOrder (tag 6881), bytes 199..200.
    #[inline] pub fn managed_order(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 199>(u8::MAX).map(BooleanNULL) }
    /// ShortSaleType (tag 5409), bytes 200..201.
    #[inline] pub fn short_sale_type(&self) -> Option<ShortSaleType> { self.0.block.nullable::<u8, 200>(u8::MAX).map(ShortSaleType) }
    /// DelayToTime (tag 7552), bytes 201..209, since version 4.
    #[inline] pub fn delay_to_time(&self) -> Option<u64> { self.0.block.nullable::<u64, 201>(u64::MAX) }
    /// DiscretionPrice (tag 845), bytes 209..217, since version 6.
    #[inline] pub fn discretion_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 209>(i64::MAX).map(Decimal) }
    /// ReservationPrice (tag 9562), bytes 217..225, since version 8.
    #[inline] pub fn reservation_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 217>(i64::MAX).map(Decimal) }
    /// PriorityIndicator (tag 638), bytes 225..226, since version 8.
    #[inline] pub fn priority_indicator(&self) -> Option<u8> { self.0.block.nullable::<u8, 225>(u8::MAX) }
}

impl ExecutionReportNew522Encoder<'_> {
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 0>(value); self }
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 4>(value); self }
    /** Writes ExecID. */ #[inline] pub fn set_exec_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<12, 40>(value.as_ref()); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<52, 20>(value.as_ref()); self }
    /** Writes ClOrdID. */ #[inline] pub fn set_cl_ord_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<72, 20>(value.as_ref()); self }
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 92>(value); self }
    /** Writes OrderID. */ #[inline] pub fn set_order_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 100>(value); self }
    /** Writes Price. */ #[inline] pub fn set_price(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 108>(value.0); self }
    /** Writes StopPx. */ #[inline] pub fn set_stop_px(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 116>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 124>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 132>(value); self }
    /** Writes OrderRequestID. */ #[inline] pub fn set_order_request_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 140>(value); self }
    /** Writes CrossID. */ #[inline] pub fn set_cross_id(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 148>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes HostCrossID. */ #[inline] pub fn set_host_cross_id(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 156>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<164, 5>(value.as_ref()); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 169>(value); self }
    /** Writes OrderQty. */ #[inline] pub fn set_order_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 173>(value); self }
    /** Writes MinQty. */ #[inline] pub fn set_min_qty(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 177>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes DisplayQty. */ #[inline] pub fn set_display_qty(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 181>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes ExpireDate. */ #[inline] pub fn set_expire_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 185>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes DelayDuration. */ #[inline] pub fn set_delay_duration(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 187>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes OrdType. */ #[inline] pub fn set_ord_type(&mut self, value: impl Into<Option<OrderType>>) -> &mut Self { self.0.store::<u8, 189>(value.into().map_or(0, |v| v.0)); self }
    /** Writes Side. */ #[inline] pub fn set_side(&mut self, value: SideReq) -> &mut Self { self.0.store::<u8, 190>(value.0); self }
    /** Writes TimeInForce. */ #[inline] pub fn set_time_in_force(&mut self, value: impl Into<Option<TimeInForce>>) -> &mut Self { self.0.store::<u8, 191>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 192>(value.0); self }
    /** Writes PossRetransFlag. */ #[inline] pub fn set_poss_retrans_flag(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 193>(value.0); self }
    /** Writes SplitMsg. */ #[inline] pub fn set_split_msg(&mut self, value: impl Into<Option<SplitMsg>>) -> &mut Self { self.0.store::<u8, 194>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes CrossType. */ #[inline] pub fn set_cross_type(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 195>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes ExecInst. */ #[inline] pub fn set_exec_inst(&mut self, value: ExecInst) -> &mut Self { self.0.store::<u8, 196>(value.0); self }
    /** Writes ExecutionMode. */ #[inline] pub fn set_execution_mode(&mut self, value: impl Into<Option<ExecMode>>) -> &mut Self { self.0.store::<u8, 197>(value.into().map_or(0, |v| v.0)); self }
    /** Writes LiquidityFlag. */ #[inline] pub fn set_liquidity_flag(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 198>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ManagedOrder. */ #[inline] pub fn set_managed_order(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 199>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ShortSaleType. */ #[inline] pub fn set_short_sale_type(&mut self, value: impl Into<Option<ShortSaleType>>) -> &mut Self { self.0.store::<u8, 200>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes DelayToTime. */ #[inline] pub fn set_delay_to_time(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 201>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes DiscretionPrice. */ #[inline] pub fn set_discretion_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 209>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes ReservationPrice. */ #[inline] pub fn set_reservation_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 217>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes PriorityIndicator. */ #[inline] pub fn set_priority_indicator(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 225>(value.into().unwrap_or(u8::MAX)); self }
}
