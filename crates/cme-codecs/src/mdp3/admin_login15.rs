//! AdminLogin15, template 15. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use hairpin_sbe::{Block, BlockLayout, Field, Message};

/// The layout of AdminLogin15.
pub const MESSAGE: Message = Message {
    name: "AdminLogin15", template_id: 15, schema_id: 1, version: 13, semantic_type: "A",
    block: BlockLayout::new(1, 0, FIELDS),
    groups: &[],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("HeartBtInt", 108, 0, 0, &kind::INT8),
];

hairpin_sbe::message! {
    /// AdminLogin15: message type A, template 15, block of 1 byte, 0 groups.
    AdminLogin15, AdminLogin15Encoder, 1
}

impl AdminLogin15<'_> {
    /// HeartBtInt (tag 108), bytes 0..1.
    #[inline] pub fn heart_bt_int(&self) -> i8 { self.0.block.load::<i8, 0>() }
}

impl AdminLogin15Encoder<'_> {
    /** Writes HeartBtInt. */ #[inline] pub fn set_heart_bt_int(&mut self, value: i8) -> &mut Self { self.0.store::<i8, 0>(value); self }
}
