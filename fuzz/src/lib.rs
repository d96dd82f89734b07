//! Fuzz targets for every decoder and state machine.
//!
//! Each module is one target: `run` executes an input and `seeds` returns its initial corpus. The
//! programs in `fuzz_targets/` connect the modules to libFuzzer, and [`TARGETS`] lists them. No
//! other crate depends on this one.
//!
//! `cargo xtask fuzz` runs the targets; see `docs/design/testing.md`. To add a target, add a
//! module, a row in [`TARGETS`], a program in `fuzz_targets/` and a `[[bin]]` in `Cargo.toml`.
#![forbid(unsafe_code)]

#[path = "../../crates/exchange/tests/it/client.rs"]
#[allow(clippy::unwrap_used, reason = "tests use more of it")]
mod client;
#[path = "../../crates/stack/src/drops.rs"]
#[allow(dead_code, unreachable_pub, reason = "the stack's own")]
mod drops;
#[path = "../../crates/xdp/tests/it/filter/frames.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "tests use more of it")]
mod filter_frames;
#[path = "../../crates/xdp/tests/it/filter/reference.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "tests use more of it")]
mod filter_reference;
#[path = "../../crates/feed-handler/src/frame_decoder.rs"]
#[allow(unreachable_pub, reason = "they are the feed handler's own")]
mod frame_decoder;
#[path = "../../crates/mapped/src/metric.rs"]
#[allow(dead_code, unreachable_pub, reason = "its crate uses more of it")]
mod metric;
#[path = "../../crates/mdp3/tests/support/packets.rs"]
#[allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "tests use more of it")]
mod packets;
#[path = "../../crates/mapped/src/page_layout.rs"]
#[allow(dead_code, unreachable_pub, reason = "its crate uses more of it")]
mod page_layout;
#[path = "../../crates/exchange/tests/it/matching/reference.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "a test of the engine has it too")]
mod reference;

/// Private modules of the endpoint.
#[path = "../../crates/endpoint/src/kernel"]
#[allow(dead_code, reason = "the endpoint's own")]
mod error_queue {
    mod control_messages;
    pub(crate) mod extended_error;
}

/// Private modules of the stack.
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
    /// A stand-in that is never called: fork detection does not matter here.
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

#[path = "../../crates/stack/src/long_frames.rs"]
#[allow(dead_code, reason = "the stack uses more of it")]
mod long_frames_of_stack;

#[path = "../../crates/stack/src/tcp/keeper/record.rs"]
#[allow(dead_code, reason = "the stack uses more of it")]
mod keeper_record_of_stack;

/// The language of `hairpin order`, under the names by which its modules refer to themselves.
#[path = "../../crates/cli-market/src/order"]
mod order {
    #[allow(dead_code, unused_imports, reason = "the command uses more of it")]
    mod script;

    /// Parses a line. Returns the command as text, `None` for an empty line.
    pub(crate) fn parse(
        text: &str,
        instrument: &dyn Fn(&str) -> Option<i32>,
    ) -> Result<Option<String>, (usize, String)> {
        let command = script::parse(text, 1, instrument);
        let command = command.map_err(|error| (error.column, error.to_string()))?;
        Ok(command.map(|command| format!("{command:?}")))
    }
}

/// A private module of the command.
#[path = "../../crates/cli-market/src/decode/mod.rs"]
#[allow(dead_code, unused_imports, unreachable_pub, reason = "the command uses more of it")]
mod decode;

#[path = "../../crates/order-entry/src/msgw_config.rs"]
#[allow(unreachable_pub, reason = "it is public in its crate")]
mod msgw_config_of_order_entry;

/// The ends of connections, of the tests of `hairpin-tcp`.
#[path = "../../crates/tcp/tests/it/host.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "its tests use more of it")]
mod tcp_host;

mod channel;
mod codec;
mod exchange_frames;
mod gateway;
mod scratch;
mod script;
mod session;

pub mod capture;
pub mod capture_frames;
pub mod capture_tunnels;
pub mod codec_ilink3;
pub mod codec_mdp3;
pub mod definition_cache;
pub mod feed_config;
pub mod feed_frames;
pub mod gateway_bytes;
pub mod gateway_frames;
pub mod icmp_errors;
pub mod ilink3_session_bytes;
pub mod ilink3_session_frames;
pub mod journal;
pub mod journal_payloads;
pub mod keeper_record;
pub mod live_page;
pub mod matching;
pub mod mdp3_channel_bytes;
pub mod mdp3_channel_packets;
pub mod msgw_config;
pub mod netstack_rules;
pub mod netstack_udp_frames;
pub mod order_script;
pub mod order_settings;
pub mod plan_codecs;
pub mod publisher;
pub mod rds_packet;
pub mod rds_socket;
pub mod replay_bytes;
pub mod replay_requests;
pub mod report_page;
pub mod results_file;
pub mod sbe_schema;
pub mod stack_long_frames;
pub mod stack_memberships;
pub mod stack_netlink_messages;
pub mod tcp_operations;
pub mod tcp_segments;
pub mod threads_file;
pub mod xdp_filter_entries;

pub use codec::Seed;
// The path by which the feed handler's frames name the type.
use hairpin_feed_handler::FrameError;

/// A fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name of its module, its program and its corpus.
    pub name: &'static str,
    /// Runs one input. Panics if a check fails.
    pub run: fn(&[u8]),
    /// Returns the initial corpus.
    pub seeds: fn() -> Vec<Seed>,
}

macro_rules! targets {
    ($($name:ident)*) => {
        /// The list of all targets.
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
    journal_payloads
    live_page
    results_file
    report_page
    order_script
    order_settings
    capture
    capture_frames
    capture_tunnels
    gateway_bytes
    gateway_frames
    publisher
    matching
    ilink3_session_bytes
    ilink3_session_frames
    mdp3_channel_bytes
    mdp3_channel_packets
    netstack_udp_frames
    netstack_rules
    stack_netlink_messages
    stack_memberships
    stack_long_frames
    xdp_filter_entries
    rds_packet
    rds_socket
    icmp_errors
    tcp_segments
    tcp_operations
    keeper_record
    msgw_config
    threads_file
    replay_requests
}
