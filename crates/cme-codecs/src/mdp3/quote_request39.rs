//! QuoteRequest39, template 39. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, DecodeError, Dimension, EncodeError, Entry, Field, Group, GroupEncoder, GroupLayout, GroupsEncoder, Message, MessageHeader, Root};

/// Layout of QuoteRequest39.
pub const MESSAGE: Message = Message {
    name: "QuoteRequest39", template_id: 39, schema_id: 1, version: 13, semantic_type: "R",
    block: BlockLayout::new(35, 3, FIELDS), groups: &[
        GroupLayout { name: "NoRelatedSym", tag: 146, since: 0, block: BlockLayout::new(32, 3, NO_RELATED_SYM),
            dimension: Dimension { name: "groupSize", length: 3, block_length_offset: 0, count_offset: 2, count_size: 1 } },
    ], data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("TransactTime", 60, 0, 0, &kind::U_INT64),
    Field::new("QuoteReqID", 131, 8, 0, &kind::QUOTE_REQ_ID),
    Field::new("MatchEventIndicator", 5799, 31, 0, &kind::MATCH_EVENT_INDICATOR),
];
const NO_RELATED_SYM: &[Field] = &[
    Field::new("Symbol", 55, 0, 0, &kind::SYMBOL),
    Field::new("SecurityID", 48, 20, 0, &kind::INT32),
    Field::new("OrderQty", 38, 24, 0, &kind::INT32NULL),
    Field::new("QuoteType", 537, 28, 0, &kind::INT8),
    Field::new("Side", 54, 29, 0, &kind::INT8NULL),
];

/// QuoteRequest39: message type R, template 39, since version 3, block of 35 bytes, 1 group.
#[derive(Clone, Copy, Debug)]
pub struct QuoteRequest39<'a>(Root<'a, 35, 1>);

impl<'a> QuoteRequest39<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 39;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 35;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 35] = [0; 35];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 35] = MESSAGE.block.null_block();
    /// Writes header and null block; the groups follow. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<(QuoteRequest39Encoder<'_>, QuoteRequest39Groups<'_>), EncodeError> { hairpin_sbe::begin(&MESSAGE, &Self::NULL_BLOCK, buffer).map(|(block, groups)| (QuoteRequest39Encoder(block), QuoteRequest39Groups(groups))) }
    /// Checks the whole structure once; fails if anything is cut short or of another template.
    #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; 35]) -> Result<Self, DecodeError> { Root::decode(&MESSAGE, header, body, scratch).map(Self) }
    /// Bytes on the wire from the SBE header on.
    #[inline] pub fn encoded_length(&self) -> usize { self.0.encoded_length() }
    /// TransactTime (tag 60), 8 at 0.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// QuoteReqID (tag 131), 23 at 8.
    #[inline] pub fn quote_req_id(&self) -> CharArray<'a> { self.0.block.chars::<8, 23>() }
    /// MatchEventIndicator (tag 5799), 1 at 31.
    #[inline] pub fn match_event_indicator(&self) -> MatchEventIndicator { MatchEventIndicator(self.0.block.load::<u8, 31>()) }
    /// NoRelatedSym (tag 146).
    #[inline] pub fn no_related_sym(&self) -> Group<'a, NoRelatedSym<'a>> { Group::new(self.0.group(0)) }
}

/// Writes the block of QuoteRequest39.
#[derive(Debug)]
pub struct QuoteRequest39Encoder<'a>(&'a mut [u8; 35]);

impl QuoteRequest39Encoder<'_> {
    /// Writes TransactTime.
    #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes QuoteReqID.
    #[inline] pub fn set_quote_req_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<8, 23>(value.as_ref()); self }
    /// Writes MatchEventIndicator.
    #[inline] pub fn set_match_event_indicator(&mut self, value: MatchEventIndicator) -> &mut Self { self.0.store::<u8, 31>(value.0); self }
}

/// Writes the groups of QuoteRequest39, in this order; those left out are empty.
#[derive(Debug)]
#[must_use = "the message is whole only after finish"]
pub struct QuoteRequest39Groups<'a>(GroupsEncoder<'a>);

impl QuoteRequest39Groups<'_> {
    /// Begins NoRelatedSym. Fails if it or a later group was begun, or the buffer is too short.
    #[inline] pub fn no_related_sym(&mut self) -> Result<GroupEncoder<'_, NoRelatedSym<'_>>, EncodeError> { self.0.open(0) }
    /// Ends the message; gives its bytes from the SBE header on. Fails if the buffer is too short.
    #[inline] pub fn finish(self) -> Result<usize, EncodeError> { self.0.finish() }
}

/// An entry of NoRelatedSym: block of 32 bytes.
#[derive(Clone, Copy, Debug)]
pub struct NoRelatedSym<'a>(&'a [u8; 32]);

impl<'a> NoRelatedSym<'a> {
    /// Bytes of an entry.
    pub const BLOCK_LENGTH: usize = 32;
    /// Where the cursor puts an older or shorter entry.
    pub const SCRATCH: [u8; 32] = [0; 32];
    /// An entry without values.
    pub const NULL_BLOCK: [u8; 32] = MESSAGE.groups[0].block.null_block();
    /// Symbol (tag 55), 20 at 0.
    #[inline] pub fn symbol(&self) -> CharArray<'a> { self.0.chars::<0, 20>() }
    /// SecurityID (tag 48), 4 at 20.
    #[inline] pub fn security_id(&self) -> i32 { self.0.load::<i32, 20>() }
    /// OrderQty (tag 38), 4 at 24.
    #[inline] pub fn order_qty(&self) -> Option<i32> { self.0.nullable::<i32, 24>(i32::MAX) }
    /// QuoteType (tag 537), 1 at 28.
    #[inline] pub fn quote_type(&self) -> i8 { self.0.load::<i8, 28>() }
    /// Side (tag 54), 1 at 29.
    #[inline] pub fn side(&self) -> Option<i8> { self.0.nullable::<i8, 29>(i8::MAX) }
}

impl Entry for NoRelatedSym<'_> {
    type View<'a> = NoRelatedSym<'a>;
    type Encoder<'a> = NoRelatedSymEncoder<'a>;
    type Scratch = [u8; 32];
    const GROUP: &'static GroupLayout = &MESSAGE.groups[0];
    #[inline] fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut [u8; 32]) -> NoRelatedSym<'a> { NoRelatedSym(Self::GROUP.block.view(wire, version, scratch)) }
    #[inline] fn encoder(bytes: &mut [u8]) -> Option<NoRelatedSymEncoder<'_>> { let block = bytes.first_chunk_mut()?; *block = Self::NULL_BLOCK; Some(NoRelatedSymEncoder(block)) }
}

/// Writes the block of an entry of NoRelatedSym.
#[derive(Debug)]
pub struct NoRelatedSymEncoder<'a>(&'a mut [u8; 32]);

impl NoRelatedSymEncoder<'_> {
    /// Writes Symbol.
    #[inline] pub fn set_symbol(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<0, 20>(value.as_ref()); self }
    /// Writes SecurityID.
    #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 20>(value); self }
    /// Writes OrderQty.
    #[inline] pub fn set_order_qty(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 24>(value.into().unwrap_or(i32::MAX)); self }
    /// Writes QuoteType.
    #[inline] pub fn set_quote_type(&mut self, value: i8) -> &mut Self { self.0.store::<i8, 28>(value); self }
    /// Writes Side.
    #[inline] pub fn set_side(&mut self, value: impl Into<Option<i8>>) -> &mut Self { self.0.store::<i8, 29>(value.into().unwrap_or(i8::MAX)); self }
}
