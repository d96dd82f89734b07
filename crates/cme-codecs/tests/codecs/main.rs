//! The codecs against CME's own schema files and packets, and against bytes of every kind.
//!
//! CME's files are read by `cme.rs`, which shares nothing with the schema reader that the codecs
//! were generated through.

mod captures;
mod cme;
mod copy;
mod data;
mod item;
mod layout;
mod random;
mod values;
mod versions;
