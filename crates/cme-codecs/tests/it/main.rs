//! The codecs against CME's own schema files and packets, and against arbitrary bytes.
//!
//! `cme_schema.rs` reads CME's files and shares nothing with the schema reader behind the code
//! generator.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod captures;
mod cme_schema;
mod encode;
mod layout;
mod message_generator;
mod plans;
mod random;
mod round_trip;
mod test_data;
mod values;
mod versions;
