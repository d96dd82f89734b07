//! The listening sockets of the exchange.

pub(super) use hairpin_reactor::{Accepted, Acceptor, CHECK_INTERVAL};
