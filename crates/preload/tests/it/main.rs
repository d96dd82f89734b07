//! Unmodified programs with and without the library, as root between hosts joined by a veth.
#![expect(clippy::unwrap_used, reason = "all of this program is tests")]

mod allocators;
mod availability;
mod interfaces;
mod kills;
mod peer;
mod semantics;
mod sockperf;
mod stress;
mod support;
mod tcp;
mod tcp_programs;
mod tcp_requests;
mod waits;
