//! Unmodified programs with and without the library, as root between hosts joined by a veth.
#![expect(clippy::unwrap_used, reason = "all of this program is tests")]

mod allocators;
mod availability;
mod beside;
mod epoll_instances;
mod interfaces;
mod kernel_rules;
mod kills;
mod limits;
#[path = "../../../stack/tests/it/odd_frames.rs"]
mod odd_frames;
mod peer;
mod semantics;
mod signals;
mod sockperf;
mod stress;
mod support;
mod tcp;
mod tcp_programs;
mod tcp_requests;
mod waits;
