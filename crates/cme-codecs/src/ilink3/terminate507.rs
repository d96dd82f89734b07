//! Terminate507, template 507. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, DecodeError, EncodeError, Field, Message, MessageHeader, Root};

/// Layout of Terminate507.
pub const MESSAGE: Message = Message {
    name: "Terminate507", template_id: 507, schema_id: 8, version: 9, semantic_type: "Terminate",
    block: BlockLayout::new(67, 0, FIELDS), groups: &[
    ], data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("Reason", 39011, 0, 0, &kind::STRING48),
    Field::new("UUID", 39001, 48, 0, &kind::U_INT64),
    Field::new("RequestTimestamp", 39002, 56, 0, &kind::U_INT64),
    Field::new("ErrorCodes", 39012, 64, 0, &kind::U_INT16),
    Field::new("SplitMsg", 9553, 66, 0, &kind::SPLIT_MSG),
];

/// Terminate507: message type Terminate, template 507, block of 67 bytes, 0 groups.
#[derive(Clone, Copy, Debug)]
pub struct Terminate507<'a>(Root<'a, 67, 0>);

impl<'a> Terminate507<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 507;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 67;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 67] = [0; 67];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 67] = MESSAGE.block.null_block();
    /// Bytes that [`encode`](Self::encode) writes.
    pub const ENCODED_LENGTH: usize = 75;
    /// Writes header and null block; sets nothing. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<Terminate507Encoder<'_>, EncodeError> { hairpin_sbe::begin_fixed(&MESSAGE, &Self::NULL_BLOCK, buffer).map(Terminate507Encoder) }
    /// Checks the whole structure once; fails if anything is cut short or of another template.
    #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; 67]) -> Result<Self, DecodeError> { Root::decode(&MESSAGE, header, body, scratch).map(Self) }
    /// Bytes on the wire from the SBE header on.
    #[inline] pub fn encoded_length(&self) -> usize { self.0.encoded_length() }
    /// Reason (tag 39011), 48 at 0.
    #[inline] pub fn reason(&self) -> CharArray<'a> { self.0.block.chars::<0, 48>() }
    /// UUID (tag 39001), 8 at 48.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 48>() }
    /// RequestTimestamp (tag 39002), 8 at 56.
    #[inline] pub fn request_timestamp(&self) -> u64 { self.0.block.load::<u64, 56>() }
    /// ErrorCodes (tag 39012), 2 at 64.
    #[inline] pub fn error_codes(&self) -> u16 { self.0.block.load::<u16, 64>() }
    /// SplitMsg (tag 9553), 1 at 66.
    #[inline] pub fn split_msg(&self) -> Option<SplitMsg> { self.0.block.nullable::<u8, 66>(u8::MAX).map(SplitMsg) }
}

/// Writes the block of Terminate507.
#[derive(Debug)]
pub struct Terminate507Encoder<'a>(&'a mut [u8; 67]);

impl Terminate507Encoder<'_> {
    /// Writes Reason.
    #[inline] pub fn set_reason(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<0, 48>(value.as_ref()); self }
    /// Writes UUID.
    #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 48>(value); self }
    /// Writes RequestTimestamp.
    #[inline] pub fn set_request_timestamp(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 56>(value); self }
    /// Writes ErrorCodes.
    #[inline] pub fn set_error_codes(&mut self, value: u16) -> &mut Self { self.0.store::<u16, 64>(value); self }
    /// Writes SplitMsg.
    #[inline] pub fn set_split_msg(&mut self, value: impl Into<Option<SplitMsg>>) -> &mut Self { self.0.store::<u8, 66>(value.into().map_or(u8::MAX, |v| v.0)); self }
}
