//! The engine, tested through its public interface.
#![allow(clippy::unwrap_used, reason = "all of this program is tests")]

mod devices;
mod fast_path;
mod icmp;
mod model;
mod receive;
mod send;
mod simulation;
mod sources;
mod support;
