//! Integration tests of `hairpin-wire`.
#![allow(clippy::unwrap_used, reason = "all of this program is tests")]

mod captures;
mod properties;
