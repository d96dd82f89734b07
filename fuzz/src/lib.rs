//! Fuzz targets for every decoder and state machine.
//!
//! One module a target, with `run` for an input and `seeds` for the corpus it begins with;
//! `fuzz_targets/` hands them to libFuzzer. [`TARGETS`] lists them all. Nothing here is needed to
//! trade: no other crate depends on this one.
//!
//! `cargo xtask fuzz` runs them; see `docs/design/testing.md`.
#![forbid(unsafe_code)]

#[path = "../../crates/exchange/tests/it/client.rs"]
#[allow(clippy::unwrap_used, reason = "tests use more of it")]
mod client;
#[path = "../../crates/cme-codecs/tests/codecs/copy/mod.rs"]
mod copy;
#[path = "../../crates/xdp/tests/it/filter/frames.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "tests use more of it")]
mod filter_frames;
#[path = "../../crates/xdp/tests/it/filter/reference.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "tests use more of it")]
mod filter_reference;
#[path = "../../crates/feed-handler/src/frame_decoder.rs"]
#[allow(unreachable_pub, reason = "they are the feed handler's own")]
mod frame_decoder;
#[path = "../../crates/cme-codecs/tests/codecs/item.rs"]
#[allow(dead_code, reason = "tests compare more of it")]
mod item;
#[path = "../../crates/mapped/src/page_layout.rs"]
#[allow(dead_code, unreachable_pub, reason = "its crate uses more of it")]
mod page_layout;
#[path = "../../crates/mapped/src/metric.rs"]
#[allow(dead_code, unreachable_pub, reason = "its crate uses more of it")]
mod metric;
#[path = "../../crates/mdp3/tests/support/packets.rs"]
#[allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "tests use more of it")]
mod packets;
#[path = "../../crates/exchange/tests/it/matching/reference.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "a test of the engine has it too")]
mod reference;

/// Of the stack, whose own they are.
#[path = "../../crates/stack/src/netlink"]
#[allow(dead_code, reason = "the stack uses more of it")]
mod stack_netlink {
    pub(crate) mod address;
    pub(crate) mod attributes;
    pub(crate) mod change;
    pub(crate) mod link;
    pub(crate) mod message;
    pub(crate) mod neighbor;
    pub(crate) mod route;
    /// It is never asked: that of a forked child is no matter here.
    mod socket {
        pub(super) use netlink_sys::Socket;
    }
}
#[path = "../../crates/stack/src/memberships"]
#[allow(dead_code, reason = "the stack uses more of it")]
mod stack_memberships_of_kernel {
    pub(crate) mod igmp_list;
    pub(crate) mod listener;
}

/// The decoder of the command; including it builds none of the command's other dependencies.
#[path = "../../crates/hairpin/src/cmd"]
mod command {
    #[allow(dead_code, unused_imports, reason = "the command uses more of it")]
    pub(crate) mod decode;
}

mod channel;
mod codec;
mod exchange_frames;
mod gateway;
mod scratch;
mod script;
mod session;

pub mod capture;
pub mod capture_frames;
pub mod codec_ilink3;
pub mod codec_mdp3;
pub mod definition_cache;
pub mod feed_config;
pub mod feed_frames;
pub mod gateway_bytes;
pub mod gateway_frames;
pub mod ilink3_session_bytes;
pub mod ilink3_session_frames;
pub mod journal;
pub mod live_page;
pub mod matching;
pub mod mdp3_channel_bytes;
pub mod mdp3_channel_packets;
pub mod netstack_udp_frames;
pub mod plan_codecs;
pub mod publisher;
pub mod replay_bytes;
pub mod report_page;
pub mod results_file;
pub mod sbe_schema;
pub mod stack_memberships;
pub mod stack_netlink_messages;
pub mod xdp_filter_entries;

pub use codec::Seed;
// As the feed handler's frames name it.
use hairpin_feed_handler::FrameError;

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
    feed_frames
    feed_config
    definition_cache
    replay_bytes
    journal
    live_page
    results_file
    report_page
    capture
    capture_frames
    gateway_bytes
    gateway_frames
    publisher
    matching
    ilink3_session_bytes
    ilink3_session_frames
    mdp3_channel_bytes
    mdp3_channel_packets
    netstack_udp_frames
    stack_netlink_messages
    stack_memberships
    xdp_filter_entries
}
