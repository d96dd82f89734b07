//! AdminLogout16, template 16. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use hairpin_sbe::{Block, BlockLayout, CharArray, Field, Message};

/// The layout of AdminLogout16.
pub const MESSAGE: Message = Message {
    name: "AdminLogout16", template_id: 16, schema_id: 1, version: 13, semantic_type: "5",
    block: BlockLayout::new(180, 0, FIELDS),
    groups: &[],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("Text", 58, 0, 0, &kind::TEXT),
];

hairpin_sbe::message! {
    /// AdminLogout16: message type 5, template 16, block of 180 bytes, 0 groups.
    AdminLogout16, AdminLogout16Encoder, 180
}

impl<'a> AdminLogout16<'a> {
    /// Text (tag 58), bytes 0..180.
    #[inline] pub fn text(&self) -> CharArray<'a> { self.0.block.chars::<0, 180>() }
}

impl AdminLogout16Encoder<'_> {
    /** Writes Text. */ #[inline] pub fn set_text(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<0, 180>(value.as_ref()); self }
}
