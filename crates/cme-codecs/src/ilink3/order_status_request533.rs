//! OrderStatusRequest533, template 533. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Field, Message};

/// The layout of OrderStatusRequest533.
pub const MESSAGE: Message = Message {
    name: "OrderStatusRequest533", template_id: 533, schema_id: 8, version: 9, semantic_type: "H",
    block: BlockLayout::new(62, 0, FIELDS),
    groups: &[],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("PartyDetailsListReqID", 1505, 0, 0, &kind::U_INT64),
    Field::new("OrdStatusReqID", 790, 8, 0, &kind::U_INT64),
    Field::new("ManualOrderIndicator", 1028, 16, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("SeqNum", 9726, 17, 0, &kind::U_INT32),
    Field::new("SenderID", 5392, 21, 0, &kind::STRING20_REQ),
    Field::new("OrderID", 37, 41, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 49, 0, &kind::U_INT64),
    Field::new("Location", 9537, 57, 0, &kind::STRING5_REQ),
];

hairpin_sbe::message! {
    /// OrderStatusRequest533: message type H, template 533, block of 62 bytes, 0 groups.
    OrderStatusRequest533, OrderStatusRequest533Encoder, 62
}

impl<'a> OrderStatusRequest533<'a> {
    /// PartyDetailsListReqID (tag 1505), bytes 0..8.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// OrdStatusReqID (tag 790), bytes 8..16.
    #[inline] pub fn ord_status_req_id(&self) -> u64 { self.0.block.load::<u64, 8>() }
    /// ManualOrderIndicator (tag 1028), bytes 16..17.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 16>()) }
    /// SeqNum (tag 9726), bytes 17..21.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 17>() }
    /// SenderID (tag 5392), bytes 21..41.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<21, 20>() }
    /// OrderID (tag 37), bytes 41..49.
    #[inline] pub fn order_id(&self) -> u64 { self.0.block.load::<u64, 41>() }
    /// SendingTimeEpoch (tag 5297), bytes 49..57.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 49>() }
    /// Location (tag 9537), bytes 57..62.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<57, 5>() }
}

impl OrderStatusRequest533Encoder<'_> {
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes OrdStatusReqID. */ #[inline] pub fn set_ord_status_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 8>(value); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 16>(value.0); self }
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 17>(value); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<21, 20>(value.as_ref()); self }
    /** Writes OrderID. */ #[inline] pub fn set_order_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 41>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 49>(value); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<57, 5>(value.as_ref()); self }
}
