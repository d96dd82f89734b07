//! The gateway driven by a scripted client, in bytes and in fake time.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

mod any_bytes;
mod bench;
#[path = "../client/mod.rs"]
mod client;
mod keep_alive;
mod logon;
mod numbers;
mod orders;
mod session;
mod terminate;
mod trades;
