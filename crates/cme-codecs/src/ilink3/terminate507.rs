//! Terminate507, template 507. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, Field, Message};

/// The layout of Terminate507.
pub const MESSAGE: Message = Message {
    name: "Terminate507", template_id: 507, schema_id: 8, version: 9, semantic_type: "Terminate",
    block: BlockLayout::new(67, 0, FIELDS),
    groups: &[],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("Reason", 39011, 0, 0, &kind::STRING48),
    Field::new("UUID", 39001, 48, 0, &kind::U_INT64),
    Field::new("RequestTimestamp", 39002, 56, 0, &kind::U_INT64),
    Field::new("ErrorCodes", 39012, 64, 0, &kind::U_INT16),
    Field::new("SplitMsg", 9553, 66, 0, &kind::SPLIT_MSG),
];

hairpin_sbe::message! {
    /// Terminate507: message type Terminate, template 507, block of 67 bytes, 0 groups.
    Terminate507, Terminate507Encoder, 67
}

impl<'a> Terminate507<'a> {
    /// Reason (tag 39011), bytes 0..48.
    #[inline] pub fn reason(&self) -> CharArray<'a> { self.0.block.chars::<0, 48>() }
    /// UUID (tag 39001), bytes 48..56.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 48>() }
    /// RequestTimestamp (tag 39002), bytes 56..64.
    #[inline] pub fn request_timestamp(&self) -> u64 { self.0.block.load::<u64, 56>() }
    /// ErrorCodes (tag 39012), bytes 64..66.
    #[inline] pub fn error_codes(&self) -> u16 { self.0.block.load::<u16, 64>() }
    /// SplitMsg (tag 9553), bytes 66..67.
    #[inline] pub fn split_msg(&self) -> Option<SplitMsg> { self.0.block.nullable::<u8, 66>(u8::MAX).map(SplitMsg) }
}

impl Terminate507Encoder<'_> {
    /** Writes Reason. */ #[inline] pub fn set_reason(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<0, 48>(value.as_ref()); self }
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 48>(value); self }
    /** Writes RequestTimestamp. */ #[inline] pub fn set_request_timestamp(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 56>(value); self }
    /** Writes ErrorCodes. */ #[inline] pub fn set_error_codes(&mut self, value: u16) -> &mut Self { self.0.store::<u16, 64>(value); self }
    /** Writes SplitMsg. */ #[inline] pub fn set_split_msg(&mut self, value: impl Into<Option<SplitMsg>>) -> &mut Self { self.0.store::<u8, 66>(value.into().map_or(u8::MAX, |v| v.0)); self }
}
