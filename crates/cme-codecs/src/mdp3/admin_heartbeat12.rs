//! AdminHeartbeat12, template 12. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use hairpin_sbe::{BlockLayout, Field, Message};

/// The layout of AdminHeartbeat12.
pub const MESSAGE: Message = Message {
    name: "AdminHeartbeat12", template_id: 12, schema_id: 1, version: 13, semantic_type: "0",
    block: BlockLayout::new(0, 0, FIELDS),
    groups: &[],
    data: &[],
};
const FIELDS: &[Field] = &[
];

hairpin_sbe::message! {
    /// AdminHeartbeat12: message type 0, template 12, block of 0 bytes, 0 groups.
    AdminHeartbeat12, AdminHeartbeat12Encoder, 0
}
