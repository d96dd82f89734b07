//! Integration tests of the feed handler: over real sockets, from captures, and against the
//! exchange.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod capture_files;
mod channel_replay;
mod config;
mod conflated;
mod connection;
mod definition_cache;
mod engine;
mod exchange_books;
mod interface;
mod loopback;
mod market;
mod replay_client;
mod tcp;
mod tcp_proxy;
mod threads;
mod xdp;

#[allow(dead_code, unreachable_pub, reason = "the packets of another crate's tests")]
#[path = "../../../mdp3/tests/support/packets.rs"]
mod packets;
