//! Unmodified programs with and without the library, as root between hosts joined by a veth.
#![expect(clippy::unwrap_used, reason = "all of this program is tests")]

mod semantics;
mod sockperf;
mod support;
mod tcp;
