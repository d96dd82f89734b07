//! Receive and transmit timestamps of kernel sockets.

pub(crate) mod error_queue;
pub(crate) mod interface;
pub(crate) mod socket;
pub(crate) mod timestamping;
