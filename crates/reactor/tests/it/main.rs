//! Integration tests of `hairpin-reactor`, on the loopback interface and, as root, on two hosts.
#![allow(clippy::unwrap_used, reason = "all of this program is tests")]

mod deadlines;
mod equivalence;
mod io_uring;
mod many;
mod supported_waits;
mod traffic;
mod transmit_timestamps;
mod waits;
mod xdp;
mod xdp_tcp;
