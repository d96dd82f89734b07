//! The program as its users run it.

mod export;
mod market;
