//! QuoteCancelBySet568, template 568. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of QuoteCancelBySet568.
pub const MESSAGE: Message = Message {
    name: "QuoteCancelBySet568", template_id: 568, schema_id: 8, version: 9, semantic_type: "Z",
    block: BlockLayout::new(52, 9, FIELDS),
    groups: &[
        GroupLayout::new("NoQuoteSets", 296, 0, kind::GROUP_SIZE, BlockLayout::new(2, 9, NO_QUOTE_SETS)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("PartyDetailsListReqID", 1505, 0, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 8, 0, &kind::U_INT64),
    Field::new("ManualOrderIndicator", 1028, 16, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("SeqNum", 9726, 17, 0, &kind::U_INT32),
    Field::new("SenderID", 5392, 21, 0, &kind::STRING20_REQ),
    Field::new("Location", 9537, 41, 0, &kind::STRING5_REQ),
    Field::new("QuoteID", 117, 46, 0, &kind::U_INT32),
    Field::new("QuoteCancelType", 298, 0, 0, &kind::QUOTE_CX_TYPE_BY_SET),
    Field::new("CxlLinkedSessions", 39033, 50, 0, &kind::BOOLEAN_NULL),
    Field::new("QuoteEntryControl", 39034, 51, 0, &kind::BOOLEAN_NULL),
];
const NO_QUOTE_SETS: &[Field] = &[
    Field::new("QuoteSetID", 302, 0, 0, &kind::U_INT16),
];

hairpin_sbe::message! {
    /// QuoteCancelBySet568: message type Z, template 568, since version 9, block of 52 bytes, 1 group.
    QuoteCancelBySet568, QuoteCancelBySet568Encoder, 52, QuoteCancelBySet568Groups, 1
}

impl<'a> QuoteCancelBySet568<'a> {
    /// PartyDetailsListReqID (tag 1505), bytes 0..8.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// SendingTimeEpoch (tag 5297), bytes 8..16.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 8>() }
    /// ManualOrderIndicator (tag 1028), bytes 16..17.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 16>()) }
    /// SeqNum (tag 9726), bytes 17..21.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 17>() }
    /// SenderID (tag 5392), bytes 21..41.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<21, 20>() }
    /// Location (tag 9537), bytes 41..46.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<41, 5>() }
    /// QuoteID (tag 117), bytes 46..50.
    #[inline] pub fn quote_id(&self) -> u32 { self.0.block.load::<u32, 46>() }
    /// QuoteCancelType (tag 298), constant.
    pub const QUOTE_CANCEL_TYPE: u8 = 100;
    /// CxlLinkedSessions (tag 39033), bytes 50..51.
    #[inline] pub fn cxl_linked_sessions(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 50>(u8::MAX).map(BooleanNULL) }
    /// QuoteEntryControl (tag 39034), bytes 51..52.
    #[inline] pub fn quote_entry_control(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 51>(u8::MAX).map(BooleanNULL) }
    /// NoQuoteSets (tag 296).
    #[inline] pub fn no_quote_sets(&self) -> Group<'a, NoQuoteSets<'a>> { Group::new(self.0.group(0)) }
}

impl QuoteCancelBySet568Encoder<'_> {
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 8>(value); self }
    /** Writes ManualOrderIndicator. */ #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 16>(value.0); self }
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 17>(value); self }
    /** Writes SenderID. */ #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<21, 20>(value.as_ref()); self }
    /** Writes Location. */ #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<41, 5>(value.as_ref()); self }
    /** Writes QuoteID. */ #[inline] pub fn set_quote_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 46>(value); self }
    /** Writes CxlLinkedSessions. */ #[inline] pub fn set_cxl_linked_sessions(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 50>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes QuoteEntryControl. */ #[inline] pub fn set_quote_entry_control(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 51>(value.into().map_or(u8::MAX, |v| v.0)); self }
}

impl QuoteCancelBySet568Groups<'_> {
    /// Starts the group NoQuoteSets.
    #[inline] pub fn no_quote_sets(&mut self) -> Result<GroupEncoder<'_, NoQuoteSets<'_>>, EncodeError> { self.0.open(0) }
}

hairpin_sbe::entry! {
    /// An entry of NoQuoteSets (tag 296): block of 2 bytes.
    NoQuoteSets, NoQuoteSetsEncoder, 2, 0
}

impl NoQuoteSets<'_> {
    /// QuoteSetID (tag 302), bytes 0..2.
    #[inline] pub fn quote_set_id(&self) -> u16 { self.0.load::<u16, 0>() }
}

impl NoQuoteSetsEncoder<'_> {
    /** Writes QuoteSetID. */ #[inline] pub fn set_quote_set_id(&mut self, value: u16) -> &mut Self { self.0.store::<u16, 0>(value); self }
}
