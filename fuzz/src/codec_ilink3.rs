//! Arbitrary order entry messages: SBE header and body.
//!
//! Checks:
//!
//! - The visitor, the generated getters and the schema file's plan accept the same bytes.
//! - No getter, setter or printed value panics.
//! - Values read by getters and written by setters are read back unchanged, byte for byte.

use hairpin_cme_codecs::ilink3;

use crate::Seed;
use crate::codec::{Codec, ilink3_plan};

const CODEC: Codec = Codec {
    messages: ilink3::MESSAGES,
    copy: hairpin_cme_copy::ilink3::copy,
    empty: hairpin_cme_copy::ilink3::empty,
};

/// Runs one input.
pub fn run(bytes: &[u8]) {
    CODEC.check(ilink3_plan(), bytes);
}

/// Returns every message once, with an entry in each group.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    CODEC.seeds()
}
