//! The program as its users run it.
#![allow(clippy::unwrap_used)]

mod drop_copy;
mod drop_copy_session;
mod export;
mod journal;
mod journal_export;
mod market;
mod quickfix;
mod raw_client;
