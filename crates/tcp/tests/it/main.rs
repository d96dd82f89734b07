//! Tests of the public API: a simulation, and rules in the form of packet traces.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod handshake;
mod host;
mod rules;
mod simulation;
mod smoltcp_host;
