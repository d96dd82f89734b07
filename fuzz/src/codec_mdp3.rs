//! Arbitrary market data messages: SBE header and body.
//!
//! Checks:
//!
//! - The visitor, the generated getters and the schema file's plan accept the same bytes.
//! - No getter, setter or printed value panics.
//! - Values read by getters and written by setters are read back unchanged, byte for byte.

use hairpin_cme_codecs::mdp3;

use crate::Seed;
use crate::codec::{Codec, mdp3_plan};

const CODEC: Codec = Codec {
    messages: mdp3::MESSAGES,
    copy: hairpin_cme_copy::mdp3::copy,
    empty: hairpin_cme_copy::mdp3::empty,
};

/// Runs one input.
pub fn run(bytes: &[u8]) {
    CODEC.check(mdp3_plan(), bytes);
}

/// Returns every message once, with an entry in each group.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    CODEC.seeds()
}
