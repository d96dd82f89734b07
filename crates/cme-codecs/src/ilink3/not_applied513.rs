//! NotApplied513, template 513. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Field, Message};

/// The layout of NotApplied513.
pub const MESSAGE: Message = Message {
    name: "NotApplied513", template_id: 513, schema_id: 8, version: 9, semantic_type: "NotApplied",
    block: BlockLayout::new(17, 0, FIELDS),
    groups: &[],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("UUID", 39001, 0, 0, &kind::U_INT64),
    Field::new("FromSeqNo", 39018, 8, 0, &kind::U_INT32),
    Field::new("MsgCount", 39019, 12, 0, &kind::U_INT32),
    Field::new("SplitMsg", 9553, 16, 0, &kind::SPLIT_MSG),
];

hairpin_sbe::message! {
    /// NotApplied513: message type NotApplied, template 513, block of 17 bytes, 0 groups.
    NotApplied513, NotApplied513Encoder, 17
}

impl NotApplied513<'_> {
    /// UUID (tag 39001), bytes 0..8.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// FromSeqNo (tag 39018), bytes 8..12.
    #[inline] pub fn from_seq_no(&self) -> u32 { self.0.block.load::<u32, 8>() }
    /// MsgCount (tag 39019), bytes 12..16.
    #[inline] pub fn msg_count(&self) -> u32 { self.0.block.load::<u32, 12>() }
    /// SplitMsg (tag 9553), bytes 16..17.
    #[inline] pub fn split_msg(&self) -> Option<SplitMsg> { self.0.block.nullable::<u8, 16>(u8::MAX).map(SplitMsg) }
}

impl NotApplied513Encoder<'_> {
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes FromSeqNo. */ #[inline] pub fn set_from_seq_no(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 8>(value); self }
    /** Writes MsgCount. */ #[inline] pub fn set_msg_count(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 12>(value); self }
    /** Writes SplitMsg. */ #[inline] pub fn set_split_msg(&mut self, value: impl Into<Option<SplitMsg>>) -> &mut Self { self.0.store::<u8, 16>(value.into().map_or(u8::MAX, |v| v.0)); self }
}
