//! A received datagram with its control messages.

use std::net::SocketAddrV4;

use io_uring::types::RecvMsgOut;

use crate::kernel::address;
use crate::kernel::ancillary::Ancillary;

/// A datagram, borrowed from its receive buffer.
pub(crate) struct Datagram<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) source: SocketAddrV4,
    pub(crate) ancillary: Ancillary,
    /// The datagram was longer than the buffer. The rest is lost.
    pub(crate) truncated: bool,
}

impl<'a> Datagram<'a> {
    /// Reads a datagram that an io_uring recvmsg request has received.
    #[inline]
    pub(crate) fn from_recvmsg_out(message: &'a RecvMsgOut<'_>) -> Self {
        Self {
            bytes: message.payload_data(),
            source: address::from_bytes(message.name_data()),
            ancillary: Ancillary::parse(message.control_data()),
            truncated: message.is_payload_truncated(),
        }
    }
}
