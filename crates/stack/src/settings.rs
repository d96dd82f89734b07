//! What stacks and sockets are to be.

use hairpin_xdp::InterfaceSettings;

/// What a [`Stack`](crate::Stack) is to be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StackSettings {
    /// The interface: mode, memory, rings, stamps of what is received.
    pub interface: InterfaceSettings,
    /// Whether what would have to go through the kernel, though it was to go past it, is an error.
    pub strict: bool,
    /// Whether checksums of what arrives are left unread. `None`: on a veth, whose kernel peer
    /// leaves them unfinished; nowhere else.
    pub trusts_checksums: Option<bool>,
}

/// What a [`UdpSocket`](crate::UdpSocket) is to be; the defaults are Linux's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketOptions {
    /// TTL, or hop limit, of what goes to hosts: 1 to 255.
    pub ttl: u8,
    /// The same of what goes to groups.
    pub multicast_ttl: u8,
    /// DSCP and ECN.
    pub traffic_class: u8,
    /// Whether it may send to broadcast addresses.
    pub broadcast: bool,
    /// Whether what it sends to a group is received on this host too; then, while the group has
    /// members here, it goes through the kernel.
    pub multicast_loop: bool,
    /// Whether others may be bound to the same address (`SO_REUSEADDR`), as receivers of groups
    /// are.
    pub shares: bool,
    /// The kernel socket's buffer in bytes, for what comes by it; `None` leaves the system's.
    pub receive_buffer: Option<usize>,
}

impl Default for SocketOptions {
    fn default() -> Self {
        Self {
            ttl: 64,
            multicast_ttl: 1,
            traffic_class: 0,
            broadcast: false,
            multicast_loop: true,
            shares: false,
            receive_buffer: None,
        }
    }
}

impl SocketOptions {
    pub(crate) fn of_engine(&self) -> hairpin_netstack::SocketOptions {
        hairpin_netstack::SocketOptions {
            ttl: self.ttl,
            multicast_ttl: self.multicast_ttl,
            traffic_class: self.traffic_class,
            broadcast: self.broadcast,
            checksum: true,
            shares: self.shares,
        }
    }
}
