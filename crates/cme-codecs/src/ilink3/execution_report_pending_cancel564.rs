//! ExecutionReportPendingCancel564, template 564. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, Field, Message};

/// The layout of ExecutionReportPendingCancel564.
pub const MESSAGE: Message = Message {
    name: "ExecutionReportPendingCancel564", template_id: 564, schema_id: 8, version: 9, semantic_type: "8",
    block: BlockLayout::new(219, 6, FIELDS),
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
    Field::new("TransactTime", 60, 116, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 124, 0, &kind::U_INT64),
    Field::new("OrderRequestID", 2422, 132, 0, &kind::U_INT64),
    Field::new("Location", 9537, 140, 0, &kind::STRING5_REQ),
    Field::new("SecurityID", 48, 145, 0, &kind::INT32),
    Field::new("OrderQty", 38, 149, 0, &kind::U_INT32),
    Field::new("CumQty", 14, 153, 0, &kind::U_INT32),
    Field::new("LeavesQty", 151, 157, 0, &kind::U_INT32NULL),
    Field::new("MinQty", 110, 161, 0, &kind::U_INT32NULL),
    Field::new("DisplayQty", 1138, 165, 0, &kind::U_INT32NULL),
    Field::new("ExpireDate", 432, 169, 0, &kind::LOCAL_MKT_DATE),
    Field::new("OrdStatus", 39, 0, 0, &kind::ORD_STATUS_PEND_CXL),
    Field::new("ExecType", 150, 0, 0, &kind::EXEC_TYPE_PEND_CXL),
    Field::new("OrdType", 40, 171, 0, &kind::ORDER_TYPE),
    Field::new("Side", 54, 172, 0, &kind::SIDE_REQ),
    Field::new("TimeInForce", 59, 173, 0, &kind::TIME_IN_FORCE),
    Field::new("ManualOrderIndicator", 1028, 174, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("PossRetransFlag", 9765, 175, 0, &kind::BOOLEAN_FLAG),
    Field::new("SplitMsg", 9553, 176, 0, &kind::SPLIT_MSG),
    Field::new("LiquidityFlag", 9373, 177, 0, &kind::BOOLEAN_NULL),
    Field::new("DelayToTime", 7552, 178, 0, &kind::U_INT64NULL),
    Field::new("DiscretionPrice", 845, 186, 0, &kind::PRICENULL9),
    Field::new("ReservationPrice", 9562, 194, 8, &kind::PRICENULL9),
    Field::new("PriorityIndicator", 638, 202, 8, &kind::U_INT8NULL),
    Field::new("OrigOrderUser", 9937, 203, 8, &kind::STRING8),
    Field::new("CancelText", 2807, 211, 8, &kind::STRING8),
];

hairpin_sbe::message! {
    /// ExecutionReportPendingCancel564: message type 8, template 564, since version 6, block of 219 bytes, 0 groups.
    ExecutionReportPendingCancel564, ExecutionReportPendingCancel564Encoder, 219
}

impl<'a> ExecutionReportPendingCancel564<'a> {
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
    /// TransactTime (tag 60), bytes 116..124.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 116>() }
    /// SendingTimeEpoch (tag 5297), bytes 124..132.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 124>() }
    /// OrderRequestID (tag 2422), bytes 132..140.
    #[inline] pub fn order_request_id(&self) -> u64 { self.0.block.load::<u64, 132>() }
    /// Location (tag 9537), bytes 140..145.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<140, 5>() }
    /// SecurityID (tag 48), bytes 145..149.
    #[inline] pub fn security_id(&self) -> i32 { self.0.block.load::<i32, 145>() }
    /// OrderQty (tag 38), bytes 149..153.
    #[inline] pub fn order_qty(&self) -> u32 { self.0.block.load::<u32, 149>() }
    /// CumQty (tag 14), bytes 153..157.
    #[inline] pub fn cum_qty(&self) -> u32 { self.0.block.load::<u32, 153>() }
    /// LeavesQty (tag 151), bytes 157..161.
    #[inline] pub fn leaves_qty(&self) -> Option<u32> { self.0.block.nullable::<u32, 157>(u32::MAX) }
    /// MinQty (tag 110), bytes 161..165.
    #[inline] pub fn min_qty(&self) -> Option<u32> { self.0.block.nullable::<u32, 161>(u32::MAX) }
    /// DisplayQty (tag 1138), bytes 165..169.
    #[inline] pub fn display_qty(&self) -> Option<u32> { self.0.block.nullable::<u32, 165>(u32::MAX) }
    /// ExpireDate (tag 432), bytes 169..171.
    #[inline] pub fn expire_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 169>(u16::MAX) }
    /// OrdStatus (tag 39), constant.
    pub const ORD_STATUS: u8 = b'6';
    /// ExecType (tag 150), constant.
    pub const EXEC_TYPE: u8 = b'6';
    /// OrdType (tag 40), bytes 171..172.
    #[inline] pub fn ord_type(&self) -> Option<OrderType> { self.0.block.nullable_char::<171>().map(OrderType) }
    /// Side (tag 54), bytes 172..173.
    #[inline] pub fn side(&self) -> SideReq { SideReq(self.0.block.load::<u8, 172>()) }
    /// TimeInForce (tag 59), bytes 173..174.
    #[inline] pub fn time_in_force(&self) -> Option<TimeInForce> { self.0.block.nullable::<u8, 173>(u8::MAX).map(TimeInForce) }
    /// ManualOrderIndicator (tag 1028), bytes 174..175.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 174>()) }
    /// PossRetransFlag (tag 9765), bytes 175..176.
    #[inline] pub fn poss_retrans_flag(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 175>()) }
    /// SplitMsg (tag 9553), bytes 176..177.
    #[inline] pub fn split_msg(&self) -> Option<SplitMsg> { self.0.block.nullable::<u8, 176>(u8::MAX).map(SplitMsg) }
    /// LiquidityFlag (tag 9373), bytes 177..178.
    #[inline] pub fn liquidity_flag(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 177>(u8::MAX).map(BooleanNULL) }
    /// DelayToTime (tag 7552), bytes 178..186.
    #[inline] pub fn delay_to_time(&self) -> Option<u64> { self.0.block.nullable::<u64, 178>(u64::MAX) }
    /// DiscretionPrice (tag 845), bytes 186..194.
    #[inline] pub fn discretion_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 186>(i64::MAX).map(Decimal) }
    /// ReservationPrice (tag 9562), bytes 194..202, since version 8.
    #[inline] pub fn reservation_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 194>(i64::MAX).map(Decimal) }
    /// PriorityIndicator (tag 638), bytes 202..203, since version 8.
    #[inline] pub fn priority_indicator(&self) -> Option<u8> { self.0.block.nullable::<u8, 202>(u8::MAX) }
    /// OrigOrderUser (tag 9937), bytes 203..211, since version 8.
    #[inline] pub fn orig_order_user(&self) -> CharArray<'a> { self.0.block.chars::<203, 8>() }
    /// CancelText (tag 2807), bytes 211..219, since version 8.
    #[inline] pub fn cancel_text(&self) -> CharArray<'a> { self.0.block.chars::<211, 8>() }
}

impl ExecutionReportPendingCancel564Encoder<'_> {
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 0>(value); self }
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 4>(value); self }
    /** Writes ExecID. */ #[inline] pub fn set_exec_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<12, 40>(value.as_ref()); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<52, 20>(value.as_ref()); self }
    /** Writes ClOrdID. */ #[inline] pub fn set_cl_ord_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<72, 20>(value.as_ref()); self }
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 92>(value); self }
    /** Writes OrderID. */ #[inline] pub fn set_order_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 100>(value); self }
    /** Writes Price. */ #[inline] pub fn set_price(&mut self, value: Price9) -> &mut Self { self.0.store::<i64, 108>(value.0); self }
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 116>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 124>(value); self }
    /** Writes OrderRequestID. */ #[inline] pub fn set_order_request_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 132>(value); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<140, 5>(value.as_ref()); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 145>(value); self }
    /** Writes OrderQty. */ #[inline] pub fn set_order_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 149>(value); self }
    /** Writes CumQty. */ #[inline] pub fn set_cum_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 153>(value); self }
    /** Writes LeavesQty. */ #[inline] pub fn set_leaves_qty(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 157>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes MinQty. */ #[inline] pub fn set_min_qty(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 161>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes DisplayQty. */ #[inline] pub fn set_display_qty(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 165>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes ExpireDate. */ #[inline] pub fn set_expire_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 169>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes OrdType. */ #[inline] pub fn set_ord_type(&mut self, value: impl Into<Option<OrderType>>) -> &mut Self { self.0.store::<u8, 171>(value.into().map_or(0, |v| v.0)); self }
    /** Writes Side. */ #[inline] pub fn set_side(&mut self, value: SideReq) -> &mut Self { self.0.store::<u8, 172>(value.0); self }
    /** Writes TimeInForce. */ #[inline] pub fn set_time_in_force(&mut self, value: impl Into<Option<TimeInForce>>) -> &mut Self { self.0.store::<u8, 173>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 174>(value.0); self }
    /** Writes PossRetransFlag. */ #[inline] pub fn set_poss_retrans_flag(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 175>(value.0); self }
    /** Writes SplitMsg. */ #[inline] pub fn set_split_msg(&mut self, value: impl Into<Option<SplitMsg>>) -> &mut Self { self.0.store::<u8, 176>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes LiquidityFlag. */ #[inline] pub fn set_liquidity_flag(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 177>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes DelayToTime. */ #[inline] pub fn set_delay_to_time(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 178>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes DiscretionPrice. */ #[inline] pub fn set_discretion_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 186>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes ReservationPrice. */ #[inline] pub fn set_reservation_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 194>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes PriorityIndicator. */ #[inline] pub fn set_priority_indicator(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 202>(value.into().unwrap_or(u8::MAX)); self }
    /** Writes OrigOrderUser. */ #[inline] pub fn set_orig_order_user(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<203, 8>(value.as_ref()); self }
    /** Writes CancelText. */ #[inline] pub fn set_cancel_text(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<211, 8>(value.as_ref()); self }
}
