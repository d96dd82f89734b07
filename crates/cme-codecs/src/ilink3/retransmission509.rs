//! Retransmission509, template 509. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, DecodeError, EncodeError, Field, Message, MessageHeader, Root};

/// Layout of Retransmission509.
pub const MESSAGE: Message = Message {
    name: "Retransmission509", template_id: 509, schema_id: 8, version: 9, semantic_type: "Retransmission",
    block: BlockLayout::new(31, 0, FIELDS), groups: &[
    ], data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("UUID", 39001, 0, 0, &kind::U_INT64),
    Field::new("LastUUID", 39017, 8, 0, &kind::U_INT64NULL),
    Field::new("RequestTimestamp", 39002, 16, 0, &kind::U_INT64),
    Field::new("FromSeqNo", 39018, 24, 0, &kind::U_INT32),
    Field::new("MsgCount", 39019, 28, 0, &kind::U_INT16),
    Field::new("SplitMsg", 9553, 30, 0, &kind::SPLIT_MSG),
];

/// Retransmission509: message type Retransmission, template 509, block of 31 bytes, 0 groups.
#[derive(Clone, Copy, Debug)]
pub struct Retransmission509<'a>(Root<'a, 31, 0>);

impl<'a> Retransmission509<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 509;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 31;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 31] = [0; 31];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 31] = MESSAGE.block.null_block();
    /// Bytes that [`encode`](Self::encode) writes.
    pub const ENCODED_LENGTH: usize = 39;
    /// Writes header and null block; sets nothing. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<Retransmission509Encoder<'_>, EncodeError> { hairpin_sbe::begin_fixed(&MESSAGE, &Self::NULL_BLOCK, buffer).map(Retransmission509Encoder) }
    /// Checks the whole structure once; fails if anything is cut short or of another template.
    #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; 31]) -> Result<Self, DecodeError> { Root::decode(&MESSAGE, header, body, scratch).map(Self) }
    /// Bytes on the wire from the SBE header on.
    #[inline] pub fn encoded_length(&self) -> usize { self.0.encoded_length() }
    /// UUID (tag 39001), 8 at 0.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// LastUUID (tag 39017), 8 at 8.
    #[inline] pub fn last_uuid(&self) -> Option<u64> { self.0.block.nullable::<u64, 8>(u64::MAX) }
    /// RequestTimestamp (tag 39002), 8 at 16.
    #[inline] pub fn request_timestamp(&self) -> u64 { self.0.block.load::<u64, 16>() }
    /// FromSeqNo (tag 39018), 4 at 24.
    #[inline] pub fn from_seq_no(&self) -> u32 { self.0.block.load::<u32, 24>() }
    /// MsgCount (tag 39019), 2 at 28.
    #[inline] pub fn msg_count(&self) -> u16 { self.0.block.load::<u16, 28>() }
    /// SplitMsg (tag 9553), 1 at 30.
    #[inline] pub fn split_msg(&self) -> Option<SplitMsg> { self.0.block.nullable::<u8, 30>(u8::MAX).map(SplitMsg) }
}

/// Writes the block of Retransmission509.
#[derive(Debug)]
pub struct Retransmission509Encoder<'a>(&'a mut [u8; 31]);

impl Retransmission509Encoder<'_> {
    /// Writes UUID.
    #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes LastUUID.
    #[inline] pub fn set_last_uuid(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 8>(value.into().unwrap_or(u64::MAX)); self }
    /// Writes RequestTimestamp.
    #[inline] pub fn set_request_timestamp(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 16>(value); self }
    /// Writes FromSeqNo.
    #[inline] pub fn set_from_seq_no(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 24>(value); self }
    /// Writes MsgCount.
    #[inline] pub fn set_msg_count(&mut self, value: u16) -> &mut Self { self.0.store::<u16, 28>(value); self }
    /// Writes SplitMsg.
    #[inline] pub fn set_split_msg(&mut self, value: impl Into<Option<SplitMsg>>) -> &mut Self { self.0.store::<u8, 30>(value.into().map_or(u8::MAX, |v| v.0)); self }
}
