//! The program as its users run it.
#![allow(clippy::unwrap_used)]

mod drop_copy;
mod export;
mod journal;
mod market;
mod quickfix;
