//! Options of UDP sockets.

use crate::Timestamping;

/// The sizes and socket options of a [`crate::UdpReceiver`] or a [`crate::UdpSocket`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UdpOptions {
    /// The maximum number of datagrams per system call, at least 1. Default: 32.
    pub batch: usize,
    /// The maximum datagram length in bytes. Default: 2,048, which is more than fits in an Ethernet
    /// frame. Longer datagrams are truncated and counted.
    pub datagram_max: usize,
    /// The kernel's receive buffer in bytes. Default: 4 MiB, which holds a burst of about 5,000
    /// small packets while the reader is busy. `None` keeps the system's default.
    pub receive_buffer: Option<usize>,
    /// The receive timestamps. Default: software.
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
