//! The flow cache: recent flows and the sockets that receive them.
//!
//! A flow goes to the same socket until a socket, address or membership changes. The cache saves
//! the lookups of connected, bound and wildcard sockets for each datagram. It is direct-mapped:
//! each flow has one slot, and a colliding flow replaces it.

use alloc::boxed::Box;
use zerocopy::FromZeros;

use crate::Address;
use crate::index::mix;

/// The addresses and ports of a flow, as they appear in a packet.
#[derive(Debug, Clone, Copy, FromZeros)]
#[repr(C)]
pub(crate) struct FlowKey {
    source: Address,
    destination: Address,
    /// The ports in the lower 32 bits, then the IP version (4 or 6, four bits), then the device.
    ports: u64,
}

impl FlowKey {
    /// Creates the key of an IPv4 flow; source and destination share one word.
    #[inline]
    pub(crate) fn new_ipv4(device: u32, addresses: [u8; 8], ports: [u8; 4]) -> Self {
        Self {
            source: Address { front: u64::from_ne_bytes(addresses), back: 0 },
            destination: Address::ANY_IPV6,
            ports: pack_ports(4, device, ports),
        }
    }

    #[inline]
    pub(crate) fn new_ipv6(
        device: u32,
        source: Address,
        destination: Address,
        ports: [u8; 4],
    ) -> Self {
        Self { source, destination, ports: pack_ports(6, device, ports) }
    }

    /// Returns `true` if both keys are equal. For IPv4 the other words are unused.
    #[inline(always)]
    fn matches(&self, other: &Self) -> bool {
        let rest = |key: &Self| (key.source.back, key.destination);
        self.ports == other.ports
            && self.source.front == other.source.front
            && (self.ports >> 32 & 0xF == 4 || rest(self) == rest(other))
    }

    /// Hashes the key with a secret seed, so that a remote sender cannot choose colliding flows.
    #[inline]
    fn hash(&self, seed: u64) -> u64 {
        let Self { source, destination, ports } = self;
        mix(source.front ^ destination.back ^ seed, source.back ^ destination.front ^ ports)
    }
}

#[inline]
fn pack_ports(family: u64, device: u32, ports: [u8; 4]) -> u64 {
    u64::from(device) << 36 | family << 32 | u64::from(u32::from_ne_bytes(ports))
}

/// A flow cache entry.
#[derive(Debug, Clone, Copy, FromZeros)]
#[repr(C)]
pub(crate) struct Flow {
    key: FlowKey,
    /// The era in which the flow was inserted.
    era: u64,
    socket: u64,
}

/// The flow cache. Its size is a power of two.
#[derive(Debug)]
pub(crate) struct FlowCache {
    /// The current era. Each change of sockets, addresses or memberships starts a new one and so
    /// invalidates all entries. The first era is 1.
    pub(crate) era: u64,
    pub(crate) slots: Box<[Flow]>,
}

impl FlowCache {
    /// Returns the socket index of a flow. The caller must check the index against the sockets.
    #[inline(always)]
    pub(crate) fn find(&self, key: &FlowKey, seed: u64) -> Option<u32> {
        let flow = self.slots.get(self.slot(key, seed))?;
        (flow.era == self.era && key.matches(&flow.key)).then_some(flow.socket as u32)
    }

    pub(crate) fn insert(&mut self, key: FlowKey, seed: u64, socket: u32) {
        let (slot, era) = (self.slot(&key, seed), self.era);
        if let Some(flow) = self.slots.get_mut(slot) {
            *flow = Flow { key, era, socket: socket.into() };
        }
    }

    /// Invalidates all entries.
    pub(crate) fn invalidate(&mut self) {
        self.era = self.era.wrapping_add(1);
    }

    #[inline]
    fn slot(&self, key: &FlowKey, seed: u64) -> usize {
        key.hash(seed) as usize & self.slots.len().wrapping_sub(1)
    }
}
