//! Tests that fork and kill processes that own an interface, as root. Each process is a copy of
//! this program.
#![expect(clippy::unwrap_used, reason = "all of this program is tests")]

mod fork;
mod kill;
mod objects;
mod owner;
mod support;
