//! RequestForQuote543, template 543. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of RequestForQuote543.
pub const MESSAGE: Message = Message {
    name: "RequestForQuote543", template_id: 543, schema_id: 8, version: 9, semantic_type: "R",
    block: BlockLayout::new(55, 0, FIELDS),
    groups: &[
        GroupLayout::new("NoRelatedSym", 146, 0, kind::GROUP_SIZE, BlockLayout::new(9, 0, NO_RELATED_SYM)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("PartyDetailsListReqID", 1505, 0, 0, &kind::U_INT64),
    Field::new("QuoteReqID", 131, 8, 0, &kind::U_INT64),
    Field::new("ManualOrderIndicator", 1028, 16, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("SeqNum", 9726, 17, 0, &kind::U_INT32),
    Field::new("SenderID", 5392, 21, 0, &kind::STRING20_REQ),
    Field::new("SendingTimeEpoch", 5297, 41, 0, &kind::U_INT64),
    Field::new("Location", 9537, 49, 0, &kind::STRING5_REQ),
    Field::new("QuoteType", 537, 54, 0, &kind::QUOTE_TYP),
];
const NO_RELATED_SYM: &[Field] = &[
    Field::new("SecurityID", 48, 0, 0, &kind::INT32),
    Field::new("OrderQty", 38, 4, 0, &kind::U_INT32NULL),
    Field::new("Side", 54, 8, 0, &kind::RFQ_SIDE),
];

hairpin_sbe::message! {
    /// RequestForQuote543: message type R, template 543, block of 55 bytes, 1 group.
    RequestForQuote543, RequestForQuote543Encoder, 55, RequestForQuote543Groups, 1
}

impl<'a> RequestForQuote543<'a> {
    /// PartyDetailsListReqID (tag 1505), bytes 0..8.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// QuoteReqID (tag 131), bytes 8..16.
    #[inline] pub fn quote_req_id(&self) -> u64 { self.0.block.load::<u64, 8>() }
    /// ManualOrderIndicator (tag 1028), bytes 16..17.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 16>()) }
    /// SeqNum (tag 9726), bytes 17..21.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 17>() }
    /// SenderID (tag 5392), bytes 21..41.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<21, 20>() }
    /// SendingTimeEpoch (tag 5297), bytes 41..49.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 41>() }
    /// Location (tag 9537), bytes 49..54.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<49, 5>() }
    /// QuoteType (tag 537), bytes 54..55.
    #[inline] pub fn quote_type(&self) -> Option<QuoteTyp> { self.0.block.nullable::<u8, 54>(u8::MAX).map(QuoteTyp) }
    /// NoRelatedSym (tag 146).
    #[inline] pub fn no_related_sym(&self) -> Group<'a, NoRelatedSym<'a>> { Group::new(self.0.group(0)) }
}

impl RequestForQuote543Encoder<'_> {
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes QuoteReqID. */ #[inline] pub fn set_quote_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 8>(value); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 16>(value.0); self }
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 17>(value); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<21, 20>(value.as_ref()); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 41>(value); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<49, 5>(value.as_ref()); self }
    /** Writes QuoteType. */ #[inline] pub fn set_quote_type(&mut self, value: impl Into<Option<QuoteTyp>>) -> &mut Self { self.0.store::<u8, 54>(value.into().map_or(u8::MAX, |v| v.0)); self }
}

impl RequestForQuote543Groups<'_> {
    /// Starts the group NoRelatedSym.
    #[inline] pub fn no_related_sym(&mut self) -> Result<GroupEncoder<'_, NoRelatedSym<'_>>, EncodeError> { self.0.open(0) }
}

hairpin_sbe::entry! {
    /// An entry of NoRelatedSym (tag 146): block of 9 bytes.
    NoRelatedSym, NoRelatedSymEncoder, 9, 0
}

impl NoRelatedSym<'_> {
    /// SecurityID (tag 48), bytes 0..4.
    #[inline] pub fn security_id(&self) -> i32 { self.0.load::<i32, 0>() }
    /// OrderQty (tag 38), bytes 4..8.
    #[inline] pub fn order_qty(&self) -> Option<u32> { self.0.nullable::<u32, 4>(u32::MAX) }
    /// Side (tag 54), bytes 8..9.
    #[inline] pub fn side(&self) -> Option<RFQSide> { self.0.nullable::<u8, 8>(u8::MAX).map(RFQSide) }
}

impl NoRelatedSymEncoder<'_> {
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 0>(value); self }
    /** Writes OrderQty. */ #[inline] pub fn set_order_qty(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 4>(value.into().unwrap_or(u32::MAX)); self }
    /** Writes Side. */ #[inline] pub fn set_side(&mut self, value: impl Into<Option<RFQSide>>) -> &mut Self { self.0.store::<u8, 8>(value.into().map_or(u8::MAX, |v| v.0)); self }
}
