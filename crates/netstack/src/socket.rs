//! Sockets and their lookup keys.

use zerocopy::FromZeros;

use crate::index::mix;
use crate::table::Element;
use crate::{Address, SocketAddress};

/// The identifier of a socket. A reopened slot has another identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SocketId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl SocketId {
    /// Returns the index of the socket, below [`Settings::sockets`](crate::Settings::sockets). Open
    /// sockets have different indices.
    #[must_use]
    #[inline]
    pub const fn index(self) -> u32 {
        self.index
    }
}

/// The options of a socket. Send options apply to headers prepared afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketOptions {
    /// The TTL or hop limit of unicast datagrams.
    pub ttl: u8,
    /// The TTL or hop limit of multicast datagrams.
    pub multicast_ttl: u8,
    /// DSCP and ECN.
    pub traffic_class: u8,
    /// Permits sending to broadcast addresses.
    pub broadcast: bool,
    /// Enables UDP checksums for sent datagrams; IPv6 always has them (RFC 8200 §8.1).
    pub checksum: bool,
    /// Permits other sharing sockets to bind to the same address. Each unicast datagram goes to one
    /// of them, by a hash of its addresses.
    pub reuse_address: bool,
    /// Sends and receives IPv4 too, if the socket is bound to the unspecified IPv6 address: the
    /// opposite of `IPV6_V6ONLY`. It must not change after the bind.
    pub dual_stack: bool,
    /// Receives the groups of its family that other sockets of the port are members of
    /// (`IP_MULTICAST_ALL`), if it is bound to the group or the unspecified address.
    pub multicast_all: bool,
}

impl Default for SocketOptions {
    /// Returns TTL 64, 1 for groups, no broadcast, checksums, no sharing, one family, only groups
    /// joined.
    fn default() -> Self {
        Self {
            ttl: 64,
            multicast_ttl: 1,
            traffic_class: 0,
            broadcast: false,
            checksum: true,
            reuse_address: false,
            dual_stack: false,
            multicast_all: false,
        }
    }
}

/// The counters of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, FromZeros)]
#[repr(C)]
pub struct SocketCounters {
    /// Datagrams received.
    pub received: u64,
    /// Datagrams sent.
    pub sent: u64,
    /// Payload bytes received.
    pub received_bytes: u64,
    /// Payload bytes sent.
    pub sent_bytes: u64,
    /// ICMP errors about sent datagrams.
    pub path_errors: u64,
}

/// The state of an unused entry.
pub(crate) const FREE: u32 = 0;
/// The state of an open socket that is not bound.
pub(crate) const OPEN: u32 = 1;
/// The state of a socket that is bound to a local address.
pub(crate) const BOUND: u32 = 2;
/// The state of a bound socket with one peer.
pub(crate) const CONNECTED: u32 = 3;

/// A socket.
#[derive(Debug, Clone, Copy, FromZeros)]
#[repr(C)]
pub(crate) struct Socket {
    pub(crate) key: Key,
    /// The next socket with the same key.
    pub(crate) next: u32,
    pub(crate) state: u32,
    pub(crate) generation: u32,
    pub(crate) identification: u32,
    pub(crate) counters: SocketCounters,
    pub(crate) ttl: u8,
    pub(crate) multicast_ttl: u8,
    pub(crate) traffic_class: u8,
    pub(crate) broadcast: u8,
    pub(crate) checksum: u8,
    pub(crate) reuse_address: u8,
    pub(crate) dual_stack: u8,
    pub(crate) multicast_all: u8,
}

impl Socket {
    pub(crate) fn options(&self) -> SocketOptions {
        SocketOptions {
            ttl: self.ttl,
            multicast_ttl: self.multicast_ttl,
            traffic_class: self.traffic_class,
            broadcast: self.broadcast != 0,
            checksum: self.checksum != 0,
            reuse_address: self.reuse_address != 0,
            dual_stack: self.dual_stack != 0,
            multicast_all: self.multicast_all != 0,
        }
    }

    pub(crate) fn set_options(&mut self, options: &SocketOptions) {
        self.ttl = options.ttl;
        self.multicast_ttl = options.multicast_ttl;
        self.traffic_class = options.traffic_class;
        self.broadcast = options.broadcast.into();
        self.checksum = options.checksum.into();
        self.reuse_address = options.reuse_address.into();
        self.dual_stack = options.dual_stack.into();
        self.multicast_all = options.multicast_all.into();
    }

    /// Returns `true` if the binding includes addresses of this one's family.
    pub(crate) fn has_family_of(&self, address: Address) -> bool {
        let (bound, is_ipv4) = (self.key.local, address.is_ipv4());
        bound.is_ipv4() == is_ipv4 || is_ipv4 && self.dual_stack != 0 && bound == Address::ANY_IPV6
    }
}

/// The lookup key of a socket. Without a peer, the remote address is unspecified and the remote
/// port is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromZeros)]
#[repr(C)]
pub(crate) struct Key {
    pub(crate) local: Address,
    pub(crate) remote: Address,
    pub(crate) local_port: u16,
    pub(crate) remote_port: u16,
    pub(crate) padding: u32,
}

impl Key {
    #[inline]
    pub(crate) const fn connected(local: SocketAddress, remote: SocketAddress) -> Self {
        Self {
            local: local.address,
            remote: remote.address,
            local_port: local.port,
            remote_port: remote.port,
            padding: 0,
        }
    }

    #[inline]
    pub(crate) const fn bound(local: SocketAddress) -> Self {
        let remote = SocketAddress { address: Address::ANY_IPV6, port: 0 };
        Self::connected(local, remote)
    }

    pub(crate) fn local(&self) -> SocketAddress {
        SocketAddress { address: self.local, port: self.local_port }
    }

    #[inline]
    pub(crate) fn remote(&self) -> SocketAddress {
        SocketAddress { address: self.remote, port: self.remote_port }
    }

    /// Hashes the key with a secret seed, so that a remote sender cannot choose colliding
    /// addresses.
    #[inline]
    pub(crate) fn hash(&self, seed: u64) -> u32 {
        let Self { local, remote, .. } = self;
        let ports = u64::from(self.local_port) << 16 | u64::from(self.remote_port);
        let local = mix(local.front ^ seed, local.back ^ 0x9E37_79B9_7F4A_7C15);
        let remote = mix(remote.front ^ seed ^ ports << 32, remote.back ^ 0xD6E8_FEB8_6659_FD93);
        let hash = mix(local ^ remote.rotate_left(32), ports ^ seed | 1 << 63);
        (hash ^ hash >> 32) as u32
    }
}

impl Element for Socket {
    #[inline]
    fn key(&self) -> &Key {
        &self.key
    }

    #[inline]
    fn next(&self) -> u32 {
        self.next
    }

    fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}
