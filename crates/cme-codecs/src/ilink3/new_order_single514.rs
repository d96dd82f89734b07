//! NewOrderSingle514, template 514. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Decimal, Field, Message};

/// The layout of NewOrderSingle514.
pub const MESSAGE: Message = Message {
    name: "NewOrderSingle514", template_id: 514, schema_id: 8, version: 9, semantic_type: "D",
    block: BlockLayout::new(132, 0, FIELDS),
    groups: &[],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("Price", 44, 0, 0, &kind::PRICENULL9),
    Field::new("OrderQty", 38, 8, 0, &kind::U_INT32),
    Field::new("SecurityID", 48, 12, 0, &kind::INT32),
    Field::new("Side", 54, 16, 0, &kind::SIDE_REQ),
    Field::new("SeqNum", 9726, 17, 0, &kind::U_INT32),
    Field::new("SenderID", 5392, 21, 0, &kind::STRING20_REQ),
    Field::new("ClOrdID", 11, 41, 0, &kind::STRING20_REQ),
    Field::new("PartyDetailsListReqID", 1505, 61, 0, &kind::U_INT64),
    Field::new("OrderRequestID", 2422, 69, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 77, 0, &kind::U_INT64),
    Field::new("StopPx", 99, 85, 0, &kind::PRICENULL9),
    Field::new("Location", 9537, 93, 0, &kind::STRING5_REQ),
    Field::new("MinQty", 110, 98, 0, &kind::U_INT32NULL),
    Field::new("DisplayQty", 1138, 102, 0, &kind::U_INT32NULL),
    Field::new("ExpireDate", 432, 106, 0, &kind::LOCAL_MKT_DATE),
    Field::new("OrdType", 40, 108, 0, &kind::ORDER_TYPE_REQ),
    Field::new("TimeInForce", 59, 109, 0, &kind::TIME_IN_FORCE),
    Field::new("ManualOrderIndicator", 1028, 110, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("ExecInst", 18, 111, 0, &kind::EXEC_INST),
    Field::new("ExecutionMode", 5906, 112, 0, &kind::EXEC_MODE),
    Field::new("LiquidityFlag", 9373, 113, 0, &kind::BOOLEAN_NULL),
    Field::new("ManagedOrder", 6881, 114, 0, &kind::BOOLEAN_NULL),
    Field::new("ShortSaleType", 5409, 115, 0, &kind::SHORT_SALE_TYPE),
    Field::new("DiscretionPrice", 845, 116, 6, &kind::PRICENULL9),
    Field::new("ReservationPrice", 9562, 124, 8, &kind::PRICENULL9),
];

hairpin_sbe::message! {
    /// NewOrderSingle514: message type D, template 514, block of 132 bytes, 0 groups.
    NewOrderSingle514, NewOrderSingle514Encoder, 132
}

impl<'a> NewOrderSingle514<'a> {
    /// Price (tag 44), bytes 0..8.
    #[inline] pub fn price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 0>(i64::MAX).map(Decimal) }
    /// OrderQty (tag 38), bytes 8..12.
    #[inline] pub fn order_qty(&self) -> u32 { self.0.block.load::<u32, 8>() }
    /// SecurityID (tag 48), bytes 12..16.
    #[inline] pub fn security_id(&self) -> i32 { self.0.block.load::<i32, 12>() }
    /// Side (tag 54), bytes 16..17.
    #[inline] pub fn side(&self) -> SideReq { SideReq(self.0.block.load::<u8, 16>()) }
    /// SeqNum (tag 9726), bytes 17..21.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 17>() }
    /// SenderID (tag 5392), bytes 21..41.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<21, 20>() }
    /// ClOrdID (tag 11), bytes 41..61.
    #[inline] pub fn cl_ord_id(&self) -> CharArray<'a> { self.0.block.chars::<41, 20>() }
    /// PartyDetailsListReqID (tag 1505), bytes 61..69.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 61>() }
    /// OrderRequestID (tag 2422), bytes 69..77.
    #[inline] pub fn order_request_id(&self) -> u64 { self.0.block.load::<u64, 69>() }
    /// SendingTimeEpoch (tag 5297), bytes 77..85.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 77>() }
    /// StopPx (tag 99), bytes 85..93.
    #[inline] pub fn stop_px(&self) -> Option<Price9> { self.0.block.nullable::<i64, 85>(i64::MAX).map(Decimal) }
    /// Location (tag 9537), bytes 93..98.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<93, 5>() }
    /// MinQty (tag 110), bytes 98..102.
    #[inline] pub fn min_qty(&self) -> Option<u32> { self.0.block.nullable::<u32, 98>(u32::MAX) }
    /// DisplayQty (tag 1138), bytes 102..106.
    #[inline] pub fn display_qty(&self) -> Option<u32> { self.0.block.nullable::<u32, 102>(u32::MAX) }
    /// ExpireDate (tag 432), bytes 106..108.
    #[inline] pub fn expire_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 106>(u16::MAX) }
    /// OrdType (tag 40), bytes 108..109.
    #[inline] pub fn ord_type(&self) -> OrderTypeReq { OrderTypeReq(self.0.block.load::<u8, 108>()) }
    /// TimeInForce (tag 59), bytes 109..110.
    #[inline] pub fn time_in_force(&self) -> Option<TimeInForce> { self.0.block.nullable::<u8, 109>(u8::MAX).map(TimeInForce) }
    /// ManualOrderIndicator (tag 1028), bytes 110..111.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 110>()) }
    /// ExecInst (tag 18), bytes 111..112.
    #[inline] pub fn exec_inst(&self) -> ExecInst { ExecInst(self.0.block.load::<u8, 111>()) }
    /// ExecutionMode (tag 5906), bytes 112..113.
    #[inline] pub fn execution_mode(&self) -> Option<ExecMode> { self.0.block.nullable_char::<112>().map(ExecMode) }
    /// LiquidityFlag (tag 9373), bytes 113..114.
    #[inline] pub fn liquidity_flag(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 113>(u8::MAX).map(BooleanNULL) }
    /// ManagedOrder (tag 6881), bytes 114..115.
    #[inline] pub fn managed_order(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 114>(u8::MAX).map(BooleanNULL) }
    /// ShortSaleType (tag 5409), bytes 115..116.
    #[inline] pub fn short_sale_type(&self) -> Option<ShortSaleType> { self.0.block.nullable::<u8, 115>(u8::MAX).map(ShortSaleType) }
    /// DiscretionPrice (tag 845), bytes 116..124, since version 6.
    #[inline] pub fn discretion_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 116>(i64::MAX).map(Decimal) }
    /// ReservationPrice (tag 9562), bytes 124..132, since version 8.
    #[inline] pub fn reservation_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 124>(i64::MAX).map(Decimal) }
}

impl NewOrderSingle514Encoder<'_> {
    /** Writes Price. */ #[inline] pub fn set_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 0>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes OrderQty. */ #[inline] pub fn set_order_qty(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 8>(value); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 12>(value); self }
    /** Writes Side. */ #[inline] pub fn set_side(&mut self, value: SideReq) -> &mut Self { self.0.store::<u8, 16>(value.0); self }
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 17>(value); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<21, 20>(value.as_ref()); self }
    /** Writes ClOrdID. */ #[inline] pub fn set_cl_ord_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<41, 20>(value.as_ref()); self }
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 61>(value); self }
    /** Writes OrderRequestID. */ #[inline] pub fn set_order_request_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 69>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 77>(value); self }
    /** Writes StopPx. */ #[inline] pub fn set_stop_px(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 85>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<93, 5>(value.as_ref()); self }
    /** Writes MinQty. */ #[inline] pub fn set_min_qty(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 98>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes DisplayQty. */ #[inline] pub fn set_display_qty(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 102>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes ExpireDate. */ #[inline] pub fn set_expire_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 106>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes OrdType. */ #[inline] pub fn set_ord_type(&mut self, value: OrderTypeReq) -> &mut Self { self.0.store::<u8, 108>(value.0); self }
    /** Writes TimeInForce. */ #[inline] pub fn set_time_in_force(&mut self, value: impl Into<Option<TimeInForce>>) -> &mut Self { self.0.store::<u8, 109>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 110>(value.0); self }
    /** Writes ExecInst. */ #[inline] pub fn set_exec_inst(&mut self, value: ExecInst) -> &mut Self { self.0.store::<u8, 111>(value.0); self }
    /** Writes ExecutionMode. */ #[inline] pub fn set_execution_mode(&mut self, value: impl Into<Option<ExecMode>>) -> &mut Self { self.0.store::<u8, 112>(value.into().map_or(0, |v| v.0)); self }
    /** Writes LiquidityFlag. */ #[inline] pub fn set_liquidity_flag(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 113>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ManagedOrder. */ #[inline] pub fn set_managed_order(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 114>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes ShortSaleType. */ #[inline] pub fn set_short_sale_type(&mut self, value: impl Into<Option<ShortSaleType>>) -> &mut Self { self.0.store::<u8, 115>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes DiscretionPrice. */ #[inline] pub fn set_discretion_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 116>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes ReservationPrice. */ #[inline] pub fn set_reservation_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 124>(value.into().map_or(i64::MAX, |v| v.0)); self }
}
