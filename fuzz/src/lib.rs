//! Fuzz targets for every decoder and state machine.
//!
//! One module a target, with `run` for an input and `seeds` for the corpus it begins with;
//! `fuzz_targets/` hands them to libFuzzer. [`TARGETS`] lists them all. Nothing here is needed to
//! trade: no other crate depends on this one.
//!
//! `cargo xtask fuzz` runs them; see `docs/testing.md`.
#![forbid(unsafe_code)]

#[path = "../../crates/cme-codecs/tests/codecs/copy/mod.rs"]
mod copy;
#[path = "../../crates/cme-codecs/tests/codecs/item.rs"]
#[allow(dead_code, reason = "tests compare more of it")]
mod item;
#[path = "../../crates/mdp3/tests/support/packets.rs"]
#[allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "tests use more of it")]
mod packets;
#[path = "../../crates/exchange/tests/matching/reference.rs"]
#[allow(clippy::unwrap_used, reason = "a test of the engine has it too")]
mod reference;

mod channel;
mod codec;
mod exchange_frames;
mod script;
mod session;

pub mod codec_ilink3;
pub mod codec_mdp3;
pub mod ilink3_session_bytes;
pub mod ilink3_session_frames;
pub mod matching;
pub mod mdp3_channel_bytes;
pub mod mdp3_channel_packets;
pub mod plan_codecs;
pub mod publisher;
pub mod sbe_schema;

pub use codec::Seed;

/// A target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its module, its program and its corpus.
    pub name: &'static str,
    /// Runs one input; panics if what the target proves is not so.
    pub run: fn(&[u8]),
    /// The corpus it begins with.
    pub seeds: fn() -> Vec<Seed>,
}

macro_rules! targets {
    ($($name:ident)*) => {
        /// Every target.
        pub const TARGETS: &[Target] = &[
            $(Target { name: stringify!($name), run: $name::run, seeds: $name::seeds }),*
        ];
    };
}

targets! {
    codec_mdp3
    codec_ilink3
    plan_codecs
    sbe_schema
    publisher
    matching
    ilink3_session_bytes
    ilink3_session_frames
    mdp3_channel_bytes
    mdp3_channel_packets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_passes() {
        for target in TARGETS {
            (target.run)(&[]);
            for (name, bytes) in (target.seeds)() {
                println!("{} {name}", target.name);
                (target.run)(&bytes);
            }
        }
    }
}
