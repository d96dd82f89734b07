//! The matching engine: traces of orders by rule, and random streams of commands against a book
//! that was written the slow way.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

mod random;
mod reference;
mod trace;
mod traces;
