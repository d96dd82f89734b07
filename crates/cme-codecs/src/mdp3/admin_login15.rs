//! AdminLogin15, template 15. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use hairpin_sbe::{Block, BlockLayout, DecodeError, EncodeError, Field, Message, MessageHeader, Root};

/// Layout of AdminLogin15.
pub const MESSAGE: Message = Message {
    name: "AdminLogin15", template_id: 15, schema_id: 1, version: 13, semantic_type: "A",
    block: BlockLayout::new(1, 0, FIELDS), groups: &[
    ], data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("HeartBtInt", 108, 0, 0, &kind::INT8),
];

/// AdminLogin15: message type A, template 15, block of 1 byte, 0 groups.
#[derive(Clone, Copy, Debug)]
pub struct AdminLogin15<'a>(Root<'a, 1, 0>);

impl<'a> AdminLogin15<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 15;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 1;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 1] = [0; 1];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 1] = MESSAGE.block.null_block();
    /// Bytes that [`encode`](Self::encode) writes.
    pub const ENCODED_LENGTH: usize = 9;
    /// Writes header and null block; sets nothing. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<AdminLogin15Encoder<'_>, EncodeError> { hairpin_sbe::begin_fixed(&MESSAGE, &Self::NULL_BLOCK, buffer).map(AdminLogin15Encoder) }
    /// Checks the whole structure once; fails if anything is cut short or of another template.
    #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; 1]) -> Result<Self, DecodeError> { Root::decode(&MESSAGE, header, body, scratch).map(Self) }
    /// Bytes on the wire from the SBE header on.
    #[inline] pub fn encoded_length(&self) -> usize { self.0.encoded_length() }
    /// HeartBtInt (tag 108), 1 at 0.
    #[inline] pub fn heart_bt_int(&self) -> i8 { self.0.block.load::<i8, 0>() }
}

/// Writes the block of AdminLogin15.
#[derive(Debug)]
pub struct AdminLogin15Encoder<'a>(&'a mut [u8; 1]);

impl AdminLogin15Encoder<'_> {
    /// Writes HeartBtInt.
    #[inline] pub fn set_heart_bt_int(&mut self, value: i8) -> &mut Self { self.0.store::<i8, 0>(value); self }
}
