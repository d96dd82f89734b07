//! AdminHeartbeat12, template 12. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use hairpin_sbe::{BlockLayout, DecodeError, EncodeError, Field, Message, MessageHeader, Root};

/// Layout of AdminHeartbeat12.
pub const MESSAGE: Message = Message {
    name: "AdminHeartbeat12", template_id: 12, schema_id: 1, version: 13, semantic_type: "0",
    block: BlockLayout::new(0, 0, FIELDS), groups: &[
    ], data: &[],
};
const FIELDS: &[Field] = &[
];

/// AdminHeartbeat12: message type 0, template 12, block of 0 bytes, 0 groups.
#[derive(Clone, Copy, Debug)]
pub struct AdminHeartbeat12<'a>(Root<'a, 0, 0>);

impl<'a> AdminHeartbeat12<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 12;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 0;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 0] = [0; 0];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 0] = MESSAGE.block.null_block();
    /// Bytes that [`encode`](Self::encode) writes.
    pub const ENCODED_LENGTH: usize = 8;
    /// Writes header and null block; sets nothing. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<AdminHeartbeat12Encoder<'_>, EncodeError> { hairpin_sbe::begin_fixed(&MESSAGE, &Self::NULL_BLOCK, buffer).map(AdminHeartbeat12Encoder) }
    /// Checks the whole structure once; fails if anything is cut short or of another template.
    #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; 0]) -> Result<Self, DecodeError> { Root::decode(&MESSAGE, header, body, scratch).map(Self) }
    /// Bytes on the wire from the SBE header on.
    #[inline] pub fn encoded_length(&self) -> usize { self.0.encoded_length() }
}

/// Writes the block of AdminHeartbeat12.
#[derive(Debug)]
pub struct AdminHeartbeat12Encoder<'a>(#[allow(dead_code)] &'a mut [u8; 0]);
