//! Sockets, and the key they are found by.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::index::mix;
use crate::{Address, SocketAddress};

/// A socket of the engine. Closed and opened again it has another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SocketId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
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
    /// Their payload in bytes.
    pub received_bytes: u64,
    /// Datagrams sent.
    pub sent: u64,
    /// Their payload in bytes.
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

    #[inline]
    pub(crate) fn remote(&self) -> SocketAddress {
        SocketAddress { address: self.remote, port: self.remote_port }
    }

    /// A hash under a seed, so that no stranger can choose addresses that meet in one slot.
    #[inline]
    pub(crate) fn hash(&self, seed: u64) -> u32 {
        let halves = |address: Address| {
            let word = u128::from_ne_bytes(address.0);
            (word as u64, (word >> 64) as u64)
        };
        let ((a, b), (c, d)) = (halves(self.local), halves(self.remote));
        let ports = u64::from(self.local_port) << 16 | u64::from(self.remote_port);
        let local = mix(a ^ seed, b ^ 0x9E37_79B9_7F4A_7C15);
        let remote = mix(c ^ seed ^ ports << 32, d ^ 0xD6E8_FEB8_6659_FD93);
        let hash = mix(local ^ remote.rotate_left(32), ports ^ seed | 1 << 63);
        (hash ^ hash >> 32) as u32
    }
}

/// A socket's membership of a group on a device, as it lies in the arena.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Membership {
    /// The group and the port, and the device in the place of the peer's port.
    pub(crate) key: Key,
    pub(crate) socket: u32,
    /// The next with the same key.
    pub(crate) next: u32,
    pub(crate) is_used: u32,
    pub(crate) padding: u32,
}

impl Membership {
    #[inline]
    pub(crate) fn key(device: u32, group: SocketAddress) -> Key {
        Key { padding: device, remote_port: device as u16, ..Key::bound(group) }
    }
}
