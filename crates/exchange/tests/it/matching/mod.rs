//! The matching engine: traces of orders by rule, and random commands compared with a simple
//! reference.

mod random;
pub(crate) mod reference;
mod trace;
mod traces;
