//! OrderCancelRequest516, template 516. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Field, Message};

/// The layout of OrderCancelRequest516.
pub const MESSAGE: Message = Message {
    name: "OrderCancelRequest516", template_id: 516, schema_id: 8, version: 9, semantic_type: "F",
    block: BlockLayout::new(96, 0, FIELDS),
    groups: &[],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("OrderID", 37, 0, 0, &kind::U_INT64NULL),
    Field::new("PartyDetailsListReqID", 1505, 8, 0, &kind::U_INT64),
    Field::new("ManualOrderIndicator", 1028, 16, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("SeqNum", 9726, 17, 0, &kind::U_INT32),
    Field::new("SenderID", 5392, 21, 0, &kind::STRING20_REQ),
    Field::new("ClOrdID", 11, 41, 0, &kind::STRING20_REQ),
    Field::new("OrderRequestID", 2422, 61, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 69, 0, &kind::U_INT64),
    Field::new("Location", 9537, 77, 0, &kind::STRING5_REQ),
    Field::new("SecurityID", 48, 82, 0, &kind::INT32),
    Field::new("Side", 54, 86, 0, &kind::SIDE_REQ),
    Field::new("LiquidityFlag", 9373, 87, 0, &kind::BOOLEAN_NULL),
    Field::new("OrigOrderUser", 9937, 88, 8, &kind::STRING8),
];

hairpin_sbe::message! {
    /// OrderCancelRequest516: message type F, template 516, block of 96 bytes, 0 groups.
    OrderCancelRequest516, OrderCancelRequest516Encoder, 96
}

impl<'a> OrderCancelRequest516<'a> {
    /// OrderID (tag 37), bytes 0..8.
    #[inline] pub fn order_id(&self) -> Option<u64> { self.0.block.nullable::<u64, 0>(u64::MAX) }
    /// PartyDetailsListReqID (tag 1505), bytes 8..16.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 8>() }
    /// ManualOrderIndicator (tag 1028), bytes 16..17.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 16>()) }
    /// SeqNum (tag 9726), bytes 17..21.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 17>() }
    /// SenderID (tag 5392), bytes 21..41.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<21, 20>() }
    /// ClOrdID (tag 11), bytes 41..61.
    #[inline] pub fn cl_ord_id(&self) -> CharArray<'a> { self.0.block.chars::<41, 20>() }
    /// OrderRequestID (tag 2422), bytes 61..69.
    #[inline] pub fn order_request_id(&self) -> u64 { self.0.block.load::<u64, 61>() }
    /// SendingTimeEpoch (tag 5297), bytes 69..77.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 69>() }
    /// Location (tag 9537), bytes 77..82.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<77, 5>() }
    /// SecurityID (tag 48), bytes 82..86.
    #[inline] pub fn security_id(&self) -> i32 { self.0.block.load::<i32, 82>() }
    /// Side (tag 54), bytes 86..87.
    #[inline] pub fn side(&self) -> SideReq { SideReq(self.0.block.load::<u8, 86>()) }
    /// LiquidityFlag (tag 9373), bytes 87..88.
    #[inline] pub fn liquidity_flag(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 87>(u8::MAX).map(BooleanNULL) }
    /// OrigOrderUser (tag 9937), bytes 88..96, since version 8.
    #[inline] pub fn orig_order_user(&self) -> CharArray<'a> { self.0.block.chars::<88, 8>() }
}

impl OrderCancelRequest516Encoder<'_> {
    /** Writes OrderID. */ #[inline] pub fn set_order_id(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 0>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 8>(value); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 16>(value.0); self }
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 17>(value); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<21, 20>(value.as_ref()); self }
    /** Writes ClOrdID. */ #[inline] pub fn set_cl_ord_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<41, 20>(value.as_ref()); self }
    /** Writes OrderRequestID. */ #[inline] pub fn set_order_request_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 61>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 69>(value); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<77, 5>(value.as_ref()); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 82>(value); self }
    /** Writes Side. */ #[inline] pub fn set_side(&mut self, value: SideReq) -> &mut Self { self.0.store::<u8, 86>(value.0); self }
    /** Writes LiquidityFlag. */ #[inline] pub fn set_liquidity_flag(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 87>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes OrigOrderUser. */ #[inline] pub fn set_orig_order_user(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<88, 8>(value.as_ref()); self }
}
