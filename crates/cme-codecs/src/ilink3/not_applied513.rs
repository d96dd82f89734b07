//! NotApplied513, template 513. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, DecodeError, EncodeError, Field, Message, MessageHeader, Root};

/// Layout of NotApplied513.
pub const MESSAGE: Message = Message {
    name: "NotApplied513", template_id: 513, schema_id: 8, version: 9, semantic_type: "NotApplied",
    block: BlockLayout::new(17, 0, FIELDS), groups: &[
    ], data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("UUID", 39001, 0, 0, &kind::U_INT64),
    Field::new("FromSeqNo", 39018, 8, 0, &kind::U_INT32),
    Field::new("MsgCount", 39019, 12, 0, &kind::U_INT32),
    Field::new("SplitMsg", 9553, 16, 0, &kind::SPLIT_MSG),
];

/// NotApplied513: message type NotApplied, template 513, block of 17 bytes, 0 groups.
#[derive(Clone, Copy, Debug)]
pub struct NotApplied513<'a>(Root<'a, 17, 0>);

impl<'a> NotApplied513<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 513;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 17;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 17] = [0; 17];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 17] = MESSAGE.block.null_block();
    /// Bytes that [`encode`](Self::encode) writes.
    pub const ENCODED_LENGTH: usize = 25;
    /// Writes header and null block; sets nothing. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<NotApplied513Encoder<'_>, EncodeError> { hairpin_sbe::begin_fixed(&MESSAGE, &Self::NULL_BLOCK, buffer).map(NotApplied513Encoder) }
    /// Checks the whole structure once; fails if anything is cut short or of another template.
    #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; 17]) -> Result<Self, DecodeError> { Root::decode(&MESSAGE, header, body, scratch).map(Self) }
    /// Bytes on the wire from the SBE header on.
    #[inline] pub fn encoded_length(&self) -> usize { self.0.encoded_length() }
    /// UUID (tag 39001), 8 at 0.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// FromSeqNo (tag 39018), 4 at 8.
    #[inline] pub fn from_seq_no(&self) -> u32 { self.0.block.load::<u32, 8>() }
    /// MsgCount (tag 39019), 4 at 12.
    #[inline] pub fn msg_count(&self) -> u32 { self.0.block.load::<u32, 12>() }
    /// SplitMsg (tag 9553), 1 at 16.
    #[inline] pub fn split_msg(&self) -> Option<SplitMsg> { self.0.block.nullable::<u8, 16>(u8::MAX).map(SplitMsg) }
}

/// Writes the block of NotApplied513.
#[derive(Debug)]
pub struct NotApplied513Encoder<'a>(&'a mut [u8; 17]);

impl NotApplied513Encoder<'_> {
    /// Writes UUID.
    #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes FromSeqNo.
    #[inline] pub fn set_from_seq_no(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 8>(value); self }
    /// Writes MsgCount.
    #[inline] pub fn set_msg_count(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 12>(value); self }
    /// Writes SplitMsg.
    #[inline] pub fn set_split_msg(&mut self, value: impl Into<Option<SplitMsg>>) -> &mut Self { self.0.store::<u8, 16>(value.into().map_or(u8::MAX, |v| v.0)); self }
}
