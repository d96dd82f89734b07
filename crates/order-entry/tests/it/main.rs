//! Integration tests of order entry: on connections in memory, over TCP, and against the exchange.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod batch;
mod counters;
mod download;
mod examples;
mod failover;
mod frames;
mod in_memory_gateway;
mod journal_failure;
mod loopback;
mod mock_exchange;
mod order_tracking;
mod orders_from_journal;
mod reconnecting_session;
mod redelivery;
mod replay;
mod segment_sessions;
mod segments;
mod send_queue;
mod session_harness;
mod storages;
mod threads;
mod throttle;
mod warm_up;
mod xdp;

#[allow(dead_code, unreachable_pub, clippy::expect_used, reason = "the exchange of the examples")]
#[path = "../../examples/venue/mod.rs"]
mod venue;
