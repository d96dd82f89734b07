//! How UDP sockets are sized.

use crate::Timestamping;

/// How a [`crate::UdpReceiver`] or a [`crate::UdpSocket`] is sized, and what it asks the kernel
/// for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UdpOptions {
    /// Datagrams per system call, at least 1: 32 unless set.
    pub batch: usize,
    /// The longest datagram in bytes: 2,048 unless set, which holds what fits an Ethernet frame. A
    /// longer one is cut and counted.
    pub datagram_max: usize,
    /// The kernel's buffer in bytes: 4 MiB unless set, which holds a burst of some 5,000 small
    /// packets while the reader is away; `None` leaves the system's default.
    pub receive_buffer: Option<usize>,
    /// Receive timestamps: the kernel's unless set.
    pub timestamping: Timestamping,
}

impl Default for UdpOptions {
    fn default() -> Self {
        Self {
            batch: 32,
            datagram_max: 2_048,
            receive_buffer: Some(4 << 20),
            timestamping: Timestamping::default(),
        }
    }
}
