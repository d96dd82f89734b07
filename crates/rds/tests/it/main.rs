//! Tests of the public API: a simulation, and rules in the form of packet traces.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod hostile;
mod pair;
mod rules;
mod simulation;
