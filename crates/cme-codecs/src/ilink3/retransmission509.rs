//! Retransmission509, template 509. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Field, Message};

/// The layout of Retransmission509.
pub const MESSAGE: Message = Message {
    name: "Retransmission509", template_id: 509, schema_id: 8, version: 9, semantic_type: "Retransmission",
    block: BlockLayout::new(31, 0, FIELDS),
    groups: &[],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("UUID", 39001, 0, 0, &kind::U_INT64),
    Field::new("LastUUID", 39017, 8, 0, &kind::U_INT64NULL),
    Field::new("RequestTimestamp", 39002, 16, 0, &kind::U_INT64),
    Field::new("FromSeqNo", 39018, 24, 0, &kind::U_INT32),
    Field::new("MsgCount", 39019, 28, 0, &kind::U_INT16),
    Field::new("SplitMsg", 9553, 30, 0, &kind::SPLIT_MSG),
];

hairpin_sbe::message! {
    /// Retransmission509: message type Retransmission, template 509, block of 31 bytes, 0 groups.
    Retransmission509, Retransmission509Encoder, 31
}

impl Retransmission509<'_> {
    /// UUID (tag 39001), bytes 0..8.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// LastUUID (tag 39017), bytes 8..16.
    #[inline] pub fn last_uuid(&self) -> Option<u64> { self.0.block.nullable::<u64, 8>(u64::MAX) }
    /// RequestTimestamp (tag 39002), bytes 16..24.
    #[inline] pub fn request_timestamp(&self) -> u64 { self.0.block.load::<u64, 16>() }
    /// FromSeqNo (tag 39018), bytes 24..28.
    #[inline] pub fn from_seq_no(&self) -> u32 { self.0.block.load::<u32, 24>() }
    /// MsgCount (tag 39019), bytes 28..30.
    #[inline] pub fn msg_count(&self) -> u16 { self.0.block.load::<u16, 28>() }
    /// SplitMsg (tag 9553), bytes 30..31.
    #[inline] pub fn split_msg(&self) -> Option<SplitMsg> { self.0.block.nullable::<u8, 30>(u8::MAX).map(SplitMsg) }
}

impl Retransmission509Encoder<'_> {
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes LastUUID. */ #[inline] pub fn set_last_uuid(&mut self, value: impl Into<Option<u64>>) -> &mut Self { self.0.store::<u64, 8>(value.into().unwrap_or(u64::MAX)); self }
    /** Writes RequestTimestamp. */ #[inline] pub fn set_request_timestamp(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 16>(value); self }
    /** Writes FromSeqNo. */ #[inline] pub fn set_from_seq_no(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 24>(value); self }
    /** Writes MsgCount. */ #[inline] pub fn set_msg_count(&mut self, value: u16) -> &mut Self { self.0.store::<u16, 28>(value); self }
    /** Writes SplitMsg. */ #[inline] pub fn set_split_msg(&mut self, value: impl Into<Option<SplitMsg>>) -> &mut Self { self.0.store::<u8, 30>(value.into().map_or(u8::MAX, |v| v.0)); self }
}
