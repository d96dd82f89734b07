//! RequestForQuote543, template 543. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, DecodeError, Dimension, EncodeError, Entry, Field, Group, GroupEncoder, GroupLayout, GroupsEncoder, Message, MessageHeader, Root};

/// Layout of RequestForQuote543.
pub const MESSAGE: Message = Message {
    name: "RequestForQuote543", template_id: 543, schema_id: 8, version: 9, semantic_type: "R",
    block: BlockLayout::new(55, 0, FIELDS), groups: &[
        GroupLayout { name: "NoRelatedSym", tag: 146, since: 0, block: BlockLayout::new(9, 0, NO_RELATED_SYM),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
    ], data: &[],
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

/// RequestForQuote543: message type R, template 543, block of 55 bytes, 1 group.
#[derive(Clone, Copy, Debug)]
pub struct RequestForQuote543<'a>(Root<'a, 55, 1>);

impl<'a> RequestForQuote543<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 543;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 55;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 55] = [0; 55];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 55] = MESSAGE.block.null_block();
    /// Writes header and null block; the groups follow. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<(RequestForQuote543Encoder<'_>, RequestForQuote543Groups<'_>), EncodeError> { hairpin_sbe::begin(&MESSAGE, &Self::NULL_BLOCK, buffer).map(|(block, groups)| (RequestForQuote543Encoder(block), RequestForQuote543Groups(groups))) }
    /// Checks the whole structure once; fails if anything is cut short or of another template.
    #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; 55]) -> Result<Self, DecodeError> { Root::decode(&MESSAGE, header, body, scratch).map(Self) }
    /// Bytes on the wire from the SBE header on.
    #[inline] pub fn encoded_length(&self) -> usize { self.0.encoded_length() }
    /// PartyDetailsListReqID (tag 1505), 8 at 0.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// QuoteReqID (tag 131), 8 at 8.
    #[inline] pub fn quote_req_id(&self) -> u64 { self.0.block.load::<u64, 8>() }
    /// ManualOrderIndicator (tag 1028), 1 at 16.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 16>()) }
    /// SeqNum (tag 9726), 4 at 17.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 17>() }
    /// SenderID (tag 5392), 20 at 21.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<21, 20>() }
    /// SendingTimeEpoch (tag 5297), 8 at 41.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 41>() }
    /// Location (tag 9537), 5 at 49.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<49, 5>() }
    /// QuoteType (tag 537), 1 at 54.
    #[inline] pub fn quote_type(&self) -> Option<QuoteTyp> { self.0.block.nullable::<u8, 54>(u8::MAX).map(QuoteTyp) }
    /// NoRelatedSym (tag 146).
    #[inline] pub fn no_related_sym(&self) -> Group<'a, NoRelatedSym<'a>> { Group::new(self.0.group(0)) }
}

/// Writes the block of RequestForQuote543.
#[derive(Debug)]
pub struct RequestForQuote543Encoder<'a>(&'a mut [u8; 55]);

impl RequestForQuote543Encoder<'_> {
    /// Writes PartyDetailsListReqID.
    #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes QuoteReqID.
    #[inline] pub fn set_quote_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 8>(value); self }
    /// Writes ManualOrderIndicator.
    #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 16>(value.0); self }
    /// Writes SeqNum.
    #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 17>(value); self }
    /// Writes SenderID.
    #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<21, 20>(value.as_ref()); self }
    /// Writes SendingTimeEpoch.
    #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 41>(value); self }
    /// Writes Location.
    #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<49, 5>(value.as_ref()); self }
    /// Writes QuoteType.
    #[inline] pub fn set_quote_type(&mut self, value: impl Into<Option<QuoteTyp>>) -> &mut Self { self.0.store::<u8, 54>(value.into().map_or(u8::MAX, |v| v.0)); self }
}

/// Writes the groups of RequestForQuote543, in this order; those left out are empty.
#[derive(Debug)]
#[must_use = "the message is whole only after finish"]
pub struct RequestForQuote543Groups<'a>(GroupsEncoder<'a>);

impl RequestForQuote543Groups<'_> {
    /// Begins NoRelatedSym. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_related_sym(&mut self) -> Result<GroupEncoder<'_, NoRelatedSym<'_>>, EncodeError> { self.0.open(0) }
    /// Ends the message; gives its bytes from the SBE header on. Fails if the buffer is too short.
    #[inline] pub fn finish(self) -> Result<usize, EncodeError> { self.0.finish() }
}

/// An entry of NoRelatedSym: block of 9 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoRelatedSym<'a>(&'a [u8; 9]);

impl<'a> NoRelatedSym<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 9;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 9] = [0; 9];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 9] = MESSAGE.groups[0].block.null_block();
    /// SecurityID (tag 48), 4 at 0.
    #[inline] pub fn security_id(&self) -> i32 { self.0.load::<i32, 0>() }
    /// OrderQty (tag 38), 4 at 4.
    #[inline] pub fn order_qty(&self) -> Option<u32> { self.0.nullable::<u32, 4>(u32::MAX) }
    /// Side (tag 54), 1 at 8.
    #[inline] pub fn side(&self) -> Option<RFQSide> { self.0.nullable::<u8, 8>(u8::MAX).map(RFQSide) }
}

impl Entry for NoRelatedSym<'_> {
    type View<'a> = NoRelatedSym<'a>;
    type Encoder<'a> = NoRelatedSymEncoder<'a>;
    type Scratch = [u8; 9];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[0];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 9]) -> NoRelatedSym<'a> { NoRelatedSym(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoRelatedSymEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoRelatedSymEncoder(block)) }
}

/// Writes the block of an entry of NoRelatedSym.
#[derive(Debug)]
pub struct NoRelatedSymEncoder<'a>(&'a mut [u8; 9]);

impl NoRelatedSymEncoder<'_> {
    /// Writes SecurityID.
    #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 0>(value); self }
    /// Writes OrderQty.
    #[inline] pub fn set_order_qty(&mut self, value: impl Into<Option<u32>>) -> &mut Self { self.0.store::<u32, 4>(value.into().unwrap_or(u32::MAX)); self }
    /// Writes Side.
    #[inline] pub fn set_side(&mut self, value: impl Into<Option<RFQSide>>) -> &mut Self { self.0.store::<u8, 8>(value.into().map_or(u8::MAX, |v| v.0)); self }
}
