//! QuoteCancelBySet568, template 568. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, DecodeError, Dimension, EncodeError, Entry, Field, Group, GroupEncoder, GroupLayout, GroupsEncoder, Message, MessageHeader, Root};

/// Layout of QuoteCancelBySet568.
pub const MESSAGE: Message = Message {
    name: "QuoteCancelBySet568", template_id: 568, schema_id: 8, version: 9, semantic_type: "Z",
    block: BlockLayout::new(52, 9, FIELDS), groups: &[
        GroupLayout { name: "NoQuoteSets", tag: 296, since: 0, block: BlockLayout::new(2, 9, NO_QUOTE_SETS),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
    ], data: &[],
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

/// QuoteCancelBySet568: message type Z, template 568, since version 9, block of 52 bytes, 1 group.
#[derive(Clone, Copy, Debug)]
pub struct QuoteCancelBySet568<'a>(Root<'a, 52, 1>);

impl<'a> QuoteCancelBySet568<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 568;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 52;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 52] = [0; 52];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 52] = MESSAGE.block.null_block();
    /// Writes header and null block; the groups follow. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<(QuoteCancelBySet568Encoder<'_>, QuoteCancelBySet568Groups<'_>), EncodeError> { hairpin_sbe::begin(&MESSAGE, &Self::NULL_BLOCK, buffer).map(|(block, groups)| (QuoteCancelBySet568Encoder(block), QuoteCancelBySet568Groups(groups))) }
    /// Checks the whole structure once; fails if anything is cut short or of another template.
    #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; 52]) -> Result<Self, DecodeError> { Root::decode(&MESSAGE, header, body, scratch).map(Self) }
    /// Bytes on the wire from the SBE header on.
    #[inline] pub fn encoded_length(&self) -> usize { self.0.encoded_length() }
    /// PartyDetailsListReqID (tag 1505), 8 at 0.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// SendingTimeEpoch (tag 5297), 8 at 8.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 8>() }
    /// ManualOrderIndicator (tag 1028), 1 at 16.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 16>()) }
    /// SeqNum (tag 9726), 4 at 17.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 17>() }
    /// SenderID (tag 5392), 20 at 21.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<21, 20>() }
    /// Location (tag 9537), 5 at 41.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<41, 5>() }
    /// QuoteID (tag 117), 4 at 46.
    #[inline] pub fn quote_id(&self) -> u32 { self.0.block.load::<u32, 46>() }
    /// QuoteCancelType (tag 298), constant.
    pub const QUOTE_CANCEL_TYPE: u8 = 100;
    /// CxlLinkedSessions (tag 39033), 1 at 50.
    #[inline] pub fn cxl_linked_sessions(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 50>(u8::MAX).map(BooleanNULL) }
    /// QuoteEntryControl (tag 39034), 1 at 51.
    #[inline] pub fn quote_entry_control(&self) -> Option<BooleanNULL> { self.0.block.nullable::<u8, 51>(u8::MAX).map(BooleanNULL) }
    /// NoQuoteSets (tag 296).
    #[inline] pub fn no_quote_sets(&self) -> Group<'a, NoQuoteSets<'a>> { Group::new(self.0.group(0)) }
}

/// Writes the block of QuoteCancelBySet568.
#[derive(Debug)]
pub struct QuoteCancelBySet568Encoder<'a>(&'a mut [u8; 52]);

impl QuoteCancelBySet568Encoder<'_> {
    /// Writes PartyDetailsListReqID.
    #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes SendingTimeEpoch.
    #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 8>(value); self }
    /// Writes ManualOrderIndicator.
    #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 16>(value.0); self }
    /// Writes SeqNum.
    #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 17>(value); self }
    /// Writes SenderID.
    #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<21, 20>(value.as_ref()); self }
    /// Writes Location.
    #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<41, 5>(value.as_ref()); self }
    /// Writes QuoteID.
    #[inline] pub fn set_quote_id(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 46>(value); self }
    /// Writes CxlLinkedSessions.
    #[inline] pub fn set_cxl_linked_sessions(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 50>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /// Writes QuoteEntryControl.
    #[inline] pub fn set_quote_entry_control(&mut self, value: impl Into<Option<BooleanNULL>>) -> &mut Self { self.0.store::<u8, 51>(value.into().map_or(u8::MAX, |v| v.0)); self }
}

/// Writes the groups of QuoteCancelBySet568, in this order; those left out are empty.
#[derive(Debug)]
#[must_use = "the message is whole only after finish"]
pub struct QuoteCancelBySet568Groups<'a>(GroupsEncoder<'a>);

impl QuoteCancelBySet568Groups<'_> {
    /// Begins NoQuoteSets. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_quote_sets(&mut self) -> Result<GroupEncoder<'_, NoQuoteSets<'_>>, EncodeError> { self.0.open(0) }
    /// Ends the message; gives its bytes from the SBE header on. Fails if the buffer is too short.
    #[inline] pub fn finish(self) -> Result<usize, EncodeError> { self.0.finish() }
}

/// An entry of NoQuoteSets: block of 2 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoQuoteSets<'a>(&'a [u8; 2]);

impl<'a> NoQuoteSets<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 2;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 2] = [0; 2];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 2] = MESSAGE.groups[0].block.null_block();
    /// QuoteSetID (tag 302), 2 at 0.
    #[inline] pub fn quote_set_id(&self) -> u16 { self.0.load::<u16, 0>() }
}

impl Entry for NoQuoteSets<'_> {
    type View<'a> = NoQuoteSets<'a>;
    type Encoder<'a> = NoQuoteSetsEncoder<'a>;
    type Scratch = [u8; 2];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[0];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 2]) -> NoQuoteSets<'a> { NoQuoteSets(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoQuoteSetsEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoQuoteSetsEncoder(block)) }
}

/// Writes the block of an entry of NoQuoteSets.
#[derive(Debug)]
pub struct NoQuoteSetsEncoder<'a>(&'a mut [u8; 2]);

impl NoQuoteSetsEncoder<'_> {
    /// Writes QuoteSetID.
    #[inline] pub fn set_quote_set_id(&mut self, value: u16) -> &mut Self { self.0.store::<u16, 0>(value); self }
}
