//! The program as its users run it.
#![allow(clippy::unwrap_used)]

mod export;
mod market;
