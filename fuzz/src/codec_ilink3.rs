//! Order entry messages of any bytes: SBE header, body.
//!
//! Proves that the visitor, the generated getters and the plan of the schema's own file accept the
//! same bytes; that no getter, setter or printed value panics; and that what getters read and
//! setters write is read the same again, byte for byte.

use hairpin_cme_codecs::ilink3;

use crate::Seed;
use crate::codec::{Codec, ilink3_plan};
use crate::copy;

const CODEC: Codec =
    Codec { messages: ilink3::MESSAGES, copy: copy::ilink3::copy, empty: copy::ilink3::empty };

/// One input.
pub fn run(bytes: &[u8]) {
    CODEC.check(ilink3_plan(), bytes);
}

/// Every message once, with an entry in each group.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    CODEC.seeds()
}
