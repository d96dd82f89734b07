//! Sockets, and the key they are found by.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::index::mix;
use crate::table::Element;
use crate::{Address, SocketAddress};

/// A socket of the engine. Closed and opened again it has another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SocketId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl SocketId {
    /// Its place, below [`Settings::sockets`](crate::Settings::sockets); no two open sockets have
    /// the same.
    #[must_use]
    #[inline]
    pub const fn index(self) -> u32 {
        self.index
    }
}

/// What a socket is like. Those for sending count from the next header that is prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketOptions {
    /// TTL, or hop limit, of datagrams to a host.
    pub ttl: u8,
    /// The same to a group.
    pub multicast_ttl: u8,
    /// DSCP and ECN.
    pub traffic_class: u8,
    /// Whether it may send to broadcast addresses.
    pub broadcast: bool,
    /// Whether it sends UDP checksums; over IPv6 it always does (RFC 8200 §8.1).
    pub checksum: bool,
    /// Whether others that want the same may be bound to the same address; each datagram to a host
    /// goes to one of them, by a hash of its addresses.
    pub shares: bool,
}

impl Default for SocketOptions {
    /// What Linux has: TTL 64, 1 to groups, no broadcast, checksums, nothing shared.
    fn default() -> Self {
        Self {
            ttl: 64,
            multicast_ttl: 1,
            traffic_class: 0,
            broadcast: false,
            checksum: true,
            shares: false,
        }
    }
}

/// What a socket has done.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, FromBytes, IntoBytes, KnownLayout, Immutable,
)]
#[repr(C)]
pub struct SocketCounters {
    /// Datagrams received.
    pub received: u64,
    /// Datagrams sent.
    pub sent: u64,
    /// The payload of those received, in bytes.
    pub received_bytes: u64,
    /// The payload of those sent, in bytes.
    pub sent_bytes: u64,
    /// ICMP errors about what it sent.
    pub path_errors: u64,
}

/// Nobody's.
pub(crate) const FREE: u32 = 0;
/// Somebody's, and bound to nothing.
pub(crate) const OPEN: u32 = 1;
/// Bound to a local address.
pub(crate) const BOUND: u32 = 2;
/// Bound, and talking to one peer only.
pub(crate) const CONNECTED: u32 = 3;

/// A socket as it lies in the arena.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
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
    pub(crate) shares: u8,
    pub(crate) padding: [u8; 2],
}

impl Socket {
    pub(crate) fn options(&self) -> SocketOptions {
        SocketOptions {
            ttl: self.ttl,
            multicast_ttl: self.multicast_ttl,
            traffic_class: self.traffic_class,
            broadcast: self.broadcast != 0,
            checksum: self.checksum != 0,
            shares: self.shares != 0,
        }
    }

    pub(crate) fn set_options(&mut self, options: &SocketOptions) {
        self.ttl = options.ttl;
        self.multicast_ttl = options.multicast_ttl;
        self.traffic_class = options.traffic_class;
        self.broadcast = options.broadcast.into();
        self.checksum = options.checksum.into();
        self.shares = options.shares.into();
    }
}

/// What a socket is found by. Not connected, it has any address and port 0 as its peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable)]
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

    /// A hash under a seed, so that no stranger can choose addresses that meet in one slot.
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

    fn is_entered(&self) -> bool {
        self.state >= BOUND
    }
}
