//! The codecs against CME's own schema files and packets, and against bytes of every kind.
//!
//! CME's files are read by `cme.rs`, which shares nothing with the schema reader that the codecs
//! were generated through.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod captures;
mod cme;
mod copy;
mod data;
mod encode;
mod item;
mod layout;
mod made;
mod plans;
mod random;
mod values;
mod versions;
