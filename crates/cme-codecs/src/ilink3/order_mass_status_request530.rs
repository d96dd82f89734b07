//! OrderMassStatusRequest530, template 530. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Field, Message};

/// The layout of OrderMassStatusRequest530.
pub const MESSAGE: Message = Message {
    name: "OrderMassStatusRequest530", template_id: 530, schema_id: 8, version: 9, semantic_type: "AF",
    block: BlockLayout::new(68, 0, FIELDS),
    groups: &[],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("PartyDetailsListReqID", 1505, 0, 0, &kind::U_INT64),
    Field::new("MassStatusReqID", 584, 8, 0, &kind::U_INT64),
    Field::new("ManualOrderIndicator", 1028, 16, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("SeqNum", 9726, 17, 0, &kind::U_INT32),
    Field::new("SenderID", 5392, 21, 0, &kind::STRING20_REQ),
    Field::new("SendingTimeEpoch", 5297, 41, 0, &kind::U_INT64),
    Field::new("SecurityGroup", 1151, 49, 0, &kind::STRING_LENGTH6),
    Field::new("Location", 9537, 55, 0, &kind::STRING5_REQ),
    Field::new("SecurityID", 48, 60, 0, &kind::INT32NULL),
    Field::new("MassStatusReqType", 585, 64, 0, &kind::MASS_STATUS_REQ_TYP),
    Field::new("OrdStatusReqType", 5000, 65, 0, &kind::MASS_STATUS_ORD_TYP),
    Field::new("TimeInForce", 59, 66, 0, &kind::MASS_STATUS_TIF),
    Field::new("MarketSegmentID", 1300, 67, 0, &kind::U_INT8NULL),
];

hairpin_sbe::message! {
    /// OrderMassStatusRequest530: message type AF, template 530, block of 68 bytes, 0 groups.
    OrderMassStatusRequest530, OrderMassStatusRequest530Encoder, 68
}

impl<'a> OrderMassStatusRequest530<'a> {
    /// PartyDetailsListReqID (tag 1505), bytes 0..8.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// MassStatusReqID (tag 584), bytes 8..16.
    #[inline] pub fn mass_status_req_id(&self) -> u64 { self.0.block.load::<u64, 8>() }
    /// ManualOrderIndicator (tag 1028), bytes 16..17.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 16>()) }
    /// SeqNum (tag 9726), bytes 17..21.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 17>() }
    /// SenderID (tag 5392), bytes 21..41.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<21, 20>() }
    /// SendingTimeEpoch (tag 5297), bytes 41..49.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 41>() }
    /// SecurityGroup (tag 1151), bytes 49..55.
    #[inline] pub fn security_group(&self) -> CharArray<'a> { self.0.block.chars::<49, 6>() }
    /// Location (tag 9537), bytes 55..60.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<55, 5>() }
    /// SecurityID (tag 48), bytes 60..64.
    #[inline] pub fn security_id(&self) -> Option<i32> { self.0.block.nullable::<i32, 60>(i32::MAX) }
    /// MassStatusReqType (tag 585), bytes 64..65.
    #[inline] pub fn mass_status_req_type(&self) -> MassStatusReqTyp { MassStatusReqTyp(self.0.block.load::<u8, 64>()) }
    /// OrdStatusReqType (tag 5000), bytes 65..66.
    #[inline] pub fn ord_status_req_type(&self) -> Option<MassStatusOrdTyp> { self.0.block.nullable::<u8, 65>(u8::MAX).map(MassStatusOrdTyp) }
    /// TimeInForce (tag 59), bytes 66..67.
    #[inline] pub fn time_in_force(&self) -> Option<MassStatusTIF> { self.0.block.nullable::<u8, 66>(u8::MAX).map(MassStatusTIF) }
    /// MarketSegmentID (tag 1300), bytes 67..68.
    #[inline] pub fn market_segment_id(&self) -> Option<u8> { self.0.block.nullable::<u8, 67>(u8::MAX) }
}

impl OrderMassStatusRequest530Encoder<'_> {
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes MassStatusReqID. */ #[inline] pub fn set_mass_status_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 8>(value); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 16>(value.0); self }
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 17>(value); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<21, 20>(value.as_ref()); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 41>(value); self }
    /** Writes SecurityGroup. */ #[inline] pub fn set_security_group(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<49, 6>(value.as_ref()); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<55, 5>(value.as_ref()); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 60>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes MassStatusReqType. */ #[inline] pub fn set_mass_status_req_type(&mut self, value: MassStatusReqTyp) -> &mut Self { self.0.store::<u8, 64>(value.0); self }
    /** Writes OrdStatusReqType. */ #[inline] pub fn set_ord_status_req_type(&mut self, value: impl Into<Option<MassStatusOrdTyp>>) -> &mut Self { self.0.store::<u8, 65>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes TimeInForce. */ #[inline] pub fn set_time_in_force(&mut self, value: impl Into<Option<MassStatusTIF>>) -> &mut Self { self.0.store::<u8, 66>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes MarketSegmentID. */ #[inline] pub fn set_market_segment_id(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 67>(value.into().unwrap_or(u8::MAX)); self }
}
