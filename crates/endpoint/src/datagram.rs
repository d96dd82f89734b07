//! One datagram and what the kernel says of it.

use std::net::SocketAddrV4;

use io_uring::types::RecvMsgOut;

use crate::address;
use crate::ancillary::Ancillary;

/// A datagram, borrowed from where it was received.
pub(crate) struct Datagram<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) source: SocketAddrV4,
    pub(crate) ancillary: Ancillary,
    /// The datagram was longer than its place; the rest is lost.
    pub(crate) is_truncated: bool,
}

impl<'a> Datagram<'a> {
    /// What a request by recvmsg has brought.
    #[inline]
    pub(crate) fn of_request(message: &'a RecvMsgOut<'_>) -> Self {
        Self {
            bytes: message.payload_data(),
            source: address::from_bytes(message.name_data()),
            ancillary: Ancillary::parse(message.control_data()),
            is_truncated: message.is_payload_truncated(),
        }
    }
}
