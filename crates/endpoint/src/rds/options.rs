//! Options and carriers of a reliable datagram socket.

use hairpin_rds::Config;
use hairpin_stack::{InterfaceSettings, Stack};

/// The EtherType of reliable datagrams on raw Ethernet: the second of the two that IEEE 802
/// reserves for local experiments.
pub const ETHER_TYPE: u16 = 0x88B6;

/// The carrier of a socket's packets.
#[derive(Debug, Default, Clone)]
pub enum RdsTransport {
    /// UDP through the kernel.
    #[default]
    Kernel,
    /// UDP over AF_XDP, on the interface of a stack. Datagrams that the stack cannot send or
    /// receive fall back to the kernel, and the stack reports this ([`Stack::next_event`]).
    Xdp(Stack),
    /// Raw Ethernet frames over AF_XDP, without IP. The socket takes the interface for this
    /// process. Only hosts of the same network segment are reachable.
    Ethernet {
        /// The interface's name.
        interface: String,
        /// The interface's queues and frames.
        settings: InterfaceSettings,
    },
}

/// The options of a reliable datagram socket.
#[derive(Debug, Clone, Copy)]
pub struct RdsOptions {
    /// The sizes and timeouts of the protocol. Default: [`Config::new`] with the processor's
    /// CRC-32C.
    pub protocol: Config,
    /// The UDP port is the RDS port plus this offset. All hosts need the same offset. Default: 0.
    pub udp_port_offset: u16,
    /// The kernel's receive buffer in bytes. Default: 4 MiB. `None` keeps the system's default.
    pub receive_buffer: Option<usize>,
}

impl Default for RdsOptions {
    fn default() -> Self {
        Self {
            protocol: Config::new(super::crc32c::fastest()),
            udp_port_offset: 0,
            receive_buffer: Some(4 << 20),
        }
    }
}
