//! Generated: every message of a schema copied getter by getter into another.

#[rustfmt::skip]
pub(crate) mod ilink3;
#[rustfmt::skip]
pub(crate) mod mdp3;
