//! Settings of stacks and sockets.

use std::time::Duration;

use hairpin_xdp::InterfaceSettings;

use crate::KeeperClient;

/// The configuration of a [`Stack`](crate::Stack).
#[derive(Debug, Clone)]
pub struct StackSettings {
    /// The interface: mode, memory, rings, receive timestamps.
    pub interface: InterfaceSettings,
    /// The most sockets: 1 to 65,536. Each takes about 400 bytes of the engine's memory.
    pub sockets: u32,
    /// Chooses the mode for TCP: on a veth `Mode::Auto` is then native, because generic mode loses
    /// the long frames of a kernel peer.
    pub tcp: bool,
    /// Turns a fallback to the kernel into an error.
    pub strict: bool,
    /// The time without a poll after which a TCP connection is handed back.
    pub unpolled_max: Duration,
    /// Called first in each thread that the stack starts. Signals are blocked there.
    pub on_thread_start: Option<fn()>,
    /// Ends the TCP connections that are taken over after the death of this process.
    pub keeper: Option<KeeperClient>,
}

impl Default for StackSettings {
    fn default() -> Self {
        Self {
            interface: InterfaceSettings::default(),
            sockets: 1_024,
            tcp: false,
            strict: false,
            unpolled_max: Duration::from_millis(100),
            on_thread_start: None,
            keeper: None,
        }
    }
}

/// The options of a [`UdpSocket`](crate::UdpSocket). The defaults are Linux's, except that a socket
/// receives only groups that it has joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketOptions {
    /// The TTL or hop limit of unicast datagrams: 1 to 255.
    pub ttl: u8,
    /// The TTL or hop limit of multicast datagrams.
    pub multicast_ttl: u8,
    /// DSCP and ECN.
    pub traffic_class: u8,
    /// Permits sending to broadcast addresses.
    pub broadcast: bool,
    /// Delivers sent multicast datagrams on this host too. While the group has members here, they
    /// then go through the kernel.
    pub multicast_loop: bool,
    /// Permits other sockets to bind to the same address (`SO_REUSEADDR`), as receivers of groups
    /// do.
    pub reuse_address: bool,
    /// Sends UDP checksums over IPv4 (RFC 768). Without them the payload needs a checksum of its
    /// own. IPv6 always has them (RFC 8200, 8.1), and so has what goes through the kernel.
    pub checksum: bool,
    /// Restricts an IPv6 socket to IPv6 (`IPV6_V6ONLY`). Otherwise a socket bound to `::` also
    /// sends and receives IPv4, with IPv4-mapped addresses (`::ffff:a.b.c.d`).
    pub only_v6: bool,
    /// Receives the groups that other sockets of the port have joined (`IP_MULTICAST_ALL`), if the
    /// socket is bound to the group or to any address.
    pub multicast_all: bool,
    /// The receive buffer of the backing socket in bytes; `None` keeps the system's default.
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
            reuse_address: false,
            checksum: true,
            only_v6: false,
            multicast_all: false,
            receive_buffer: None,
        }
    }
}

impl SocketOptions {
    pub(crate) fn to_engine(self) -> hairpin_netstack::SocketOptions {
        hairpin_netstack::SocketOptions {
            ttl: self.ttl,
            multicast_ttl: self.multicast_ttl,
            traffic_class: self.traffic_class,
            broadcast: self.broadcast,
            checksum: self.checksum,
            reuse_address: self.reuse_address,
            dual_stack: !self.only_v6,
            multicast_all: self.multicast_all,
        }
    }
}
