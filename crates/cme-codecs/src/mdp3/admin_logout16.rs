//! AdminLogout16, template 16. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use hairpin_sbe::{Block, BlockLayout, CharArray, DecodeError, EncodeError, Field, Message, MessageHeader, Root};

/// Layout of AdminLogout16.
pub const MESSAGE: Message = Message {
    name: "AdminLogout16", template_id: 16, schema_id: 1, version: 13, semantic_type: "5",
    block: BlockLayout::new(180, 0, FIELDS), groups: &[
    ], data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("Text", 58, 0, 0, &kind::TEXT),
];

/// AdminLogout16: message type 5, template 16, block of 180 bytes, 0 groups.
#[derive(Clone, Copy, Debug)]
pub struct AdminLogout16<'a>(Root<'a, 180, 0>);

impl<'a> AdminLogout16<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 16;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 180;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 180] = [0; 180];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 180] = MESSAGE.block.null_block();
    /// Bytes that [`encode`](Self::encode) writes.
    pub const ENCODED_LENGTH: usize = 188;
    /// Writes header and null block; sets nothing. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<AdminLogout16Encoder<'_>, EncodeError> { hairpin_sbe::begin_fixed(&MESSAGE, &Self::NULL_BLOCK, buffer).map(AdminLogout16Encoder) }
    /// Checks the whole structure once; fails if anything is cut short or of another template.
    #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; 180]) -> Result<Self, DecodeError> { Root::decode(&MESSAGE, header, body, scratch).map(Self) }
    /// Bytes on the wire from the SBE header on.
    #[inline] pub fn encoded_length(&self) -> usize { self.0.encoded_length() }
    /// Text (tag 58), 180 at 0.
    #[inline] pub fn text(&self) -> CharArray<'a> { self.0.block.chars::<0, 180>() }
}

/// Writes the block of AdminLogout16.
#[derive(Debug)]
pub struct AdminLogout16Encoder<'a>(&'a mut [u8; 180]);

impl AdminLogout16Encoder<'_> {
    /// Writes Text.
    #[inline] pub fn set_text(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<0, 180>(value.as_ref()); self }
}
