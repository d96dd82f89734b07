//! BusinessReject521, template 521. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Field, Message};

/// The layout of BusinessReject521.
pub const MESSAGE: Message = Message {
    name: "BusinessReject521", template_id: 521, schema_id: 8, version: 9, semantic_type: "j",
    block: BlockLayout::new(330, 0, FIELDS),
    groups: &[],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("SeqNum", 9726, 0, 0, &kind::U_INT32),
    Field::new("UUID", 39001, 4, 0, &kind::U_INT64),
    Field::new("Text", 58, 12, 0, &kind::STRING256),
    Field::new("SenderID", 5392, 268, 0, &kind::STRING20),
    Field::new("PartyDetailsListReqID", 1505, 288, 0, &kind::U_INT64NULL),
    Field::new("SendingTimeEpoch", 5297, 296, 0, &kind::U_INT64),
    Field::new("BusinessRejectRefID", 379, 304, 0, &kind::U_INT64NULL),
    Field::new("Location", 9537, 312, 0, &kind::STRING5),
    Field::new("RefSeqNum", 45, 317, 0, &kind::U_INT32NULL),
    Field::new("RefTagID", 371, 321, 0, &kind::U_INT16NULL),
    Field::new("BusinessRejectReason", 380, 323, 0, &kind::U_INT16),
    Field::new("RefMsgType", 372, 325, 0, &kind::STRING2),
    Field::new("PossRetransFlag", 9765, 327, 0, &kind::BOOLEAN_FLAG),
    Field::new("ManualOrderIndicator", 1028, 328, 0, &kind::MANUAL_ORD_IND),
    Field::new("SplitMsg", 9553, 329, 0, &kind::SPLIT_MSG),
];

hairpin_sbe::message! {
    /// BusinessReject521: message type j, template 521, block of 330 bytes, 0 groups.
    BusinessReject521, BusinessReject521Encoder, 330
}

impl<'a> BusinessReject521<'a> {
    /// SeqNum (tag 9726), bytes 0..4.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 0>() }
    /// UUID (tag 39001), bytes 4..12.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 4>() }
    /// Text (tag 58), bytes 12..268.
    #[inline] pub fn text(&self) -> CharArray<'a> { self.0.block.chars::<12, 256>() }
    /// SenderID (tag 5392), bytes 268..288.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<268, 20>() }
    /// PartyDetailsListReqID (tag 1505), bytes 288..296.
    #[inline] pub fn party_details_list_req_id(&self) -> Option<u64> { self.0.block.nullable::<u64, 288>(u64::MAX) }
    /// SendingTimeEpoch (tag 5297), bytes 296..304.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 296>() }
    /// BusinessRejectRefID (tag 379), bytes 304..312.
    #[inline] pub fn business_reject_ref_id(&self) -> Option<u64> { self.0.block.nullable::<u64, 304>(u64::MAX) }
    /// Location (tag 9537), bytes 312..317.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<312, 5>() }
    /// RefSeqNum (tag 45), bytes 317..321.
    #[inline] pub fn ref_seq_num(&self) -> Option<u32> { self.0.block.nullable::<u32, 317>(u32::MAX) }
    /// RefTagID (tag 371), bytes 321..323.
    #[inline] pub fn ref_tag_id(&self) -> Option<u16> { self.0.block.nullable::<u16, 321>(u16::MAX) }
    /// BusinessRejectReason (tag 380), bytes 323..325.
    #[inline] pub fn business_reject_reason(&self) -> u16 { self.0.block.load::<u16, 323>() }
    /// RefMsgType (tag 372), bytes 325..327.
    #[inline] pub fn ref_msg_type(&self) -> CharArray<'a> { self.0.block.chars::<325, 2>() }
    /// PossRetransFlag (tag 9765), bytes 327..328.
    #[inline] pub fn poss_retrans_flag(&self) -> BooleanFlag { BooleanFlag(self.0.block.load::<u8, 327>()) }
    /// ManualOrderIndicator (tag 1028), bytes 328..329.
    #[inline] pub fn manual_order_indicator(&self) -> Option<ManualOrdInd> { self.0.block.nullable::<u8, 328>(u8::MAX).map(ManualOrdInd) }
    /// SplitMsg (tag 9553), bytes 329..330.
    #[inline] pub fn split_msg(&self) -> Option<SplitMsg> { self.0.block.nullable::<u8, 329>(u8::MAX).map(SplitMsg) }
}

impl BusinessReject521Encoder<'_> {
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 0>(value); self }
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 4>(value); self }
    /** Writes Text. */ #[inline] pub fn set_text(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<12, 256>(value.as_ref()); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<268, 20>(value.as_ref()); self }
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 288>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 296>(value); self }
    /** Writes BusinessRejectRefID. */ #[inline] pub fn set_business_reject_ref_id(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 304>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<312, 5>(value.as_ref()); self }
    /** Writes RefSeqNum. */ #[inline] pub fn set_ref_seq_num(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 317>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes RefTagID. */ #[inline] pub fn set_ref_tag_id(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 321>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes BusinessRejectReason. */ #[inline] pub fn set_business_reject_reason(&mut self, value: u16) -> &mut Self { self.0.store::<u16, 323>(value); self }
    /** Writes RefMsgType. */ #[inline] pub fn set_ref_msg_type(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<325, 2>(value.as_ref()); self }
    /** Writes PossRetransFlag. */ #[inline] pub fn set_poss_retrans_flag(&mut self, value: BooleanFlag) -> &mut Self { self.0.store::<u8, 327>(value.0); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: impl Into<Option<ManualOrdInd>>) -> &mut Self { self.0.store::<u8, 328>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes SplitMsg. */ #[inline] pub fn set_split_msg(&mut self, value: impl Into<Option<SplitMsg>>) -> &mut Self { self.0.store::<u8, 329>(value.into().map_or(u8::MAX, |v| v.0)); self }
}
