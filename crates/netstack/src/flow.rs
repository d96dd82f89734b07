//! Flows seen lately, and the sockets that they lead to.
//!
//! What one sender sends to one receiver goes to the same socket until a socket, an address or a
//! membership comes or goes. So the search for it, which asks for connected ones, bound ones and
//! those bound to any address, need not be made for each datagram. A flow has one place only, from
//! which another may drive it.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::Address;
use crate::index::mix;

/// Both ends of a flow, as they lie in a packet.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Ends {
    source: Address,
    destination: Address,
    /// Above them the family, 4 or 6 in four bits, and the device.
    ports: u64,
}

impl Ends {
    /// Source and destination take one word.
    #[inline]
    pub(crate) fn over_ipv4(device: u32, addresses: [u8; 8], ports: [u8; 4]) -> Self {
        Self {
            source: Address { front: u64::from_ne_bytes(addresses), back: 0 },
            destination: Address::ANY_IPV6,
            ports: ports_of(4, device, ports),
        }
    }

    #[inline]
    pub(crate) fn over_ipv6(
        device: u32,
        source: Address,
        destination: Address,
        ports: [u8; 4],
    ) -> Self {
        Self { source, destination, ports: ports_of(6, device, ports) }
    }

    /// Whether they are the same; over IPv4 the other words say nothing.
    #[inline(always)]
    fn are(&self, other: &Self) -> bool {
        let rest = |ends: &Self| (ends.source.back, ends.destination);
        self.ports == other.ports
            && self.source.front == other.source.front
            && (self.ports >> 32 & 0xF == 4 || rest(self) == rest(other))
    }

    /// Under a seed, so that no stranger can choose flows that drive each other out.
    #[inline]
    fn hash(&self, seed: u64) -> u64 {
        let Self { source, destination, ports } = self;
        mix(source.front ^ destination.back ^ seed, source.back ^ destination.front ^ ports)
    }
}

#[inline]
fn ports_of(family: u64, device: u32, ports: [u8; 4]) -> u64 {
    u64::from(device) << 36 | family << 32 | u64::from(u32::from_ne_bytes(ports))
}

/// A flow as it lies in the arena.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Flow {
    ends: Ends,
    /// When it was seen.
    era: u64,
    socket: u64,
}

/// All flows. Their number is a power of two.
#[derive(Debug)]
pub(crate) struct Flows<'a> {
    /// It ends with every change of sockets, addresses and memberships, and with it what was seen
    /// in it. The first is 1.
    pub(crate) era: &'a mut u64,
    pub(crate) places: &'a mut [Flow],
}

impl Flows<'_> {
    /// The socket of a flow. It need not be one: whoever asks holds it against the sockets.
    #[inline(always)]
    pub(crate) fn find(&self, ends: &Ends, seed: u64) -> Option<u32> {
        let flow = self.places.get(self.place(ends, seed))?;
        (flow.era == *self.era && ends.are(&flow.ends)).then_some(flow.socket as u32)
    }

    pub(crate) fn remember(&mut self, ends: Ends, seed: u64, socket: u32) {
        let (place, era) = (self.place(&ends, seed), *self.era);
        if let Some(flow) = self.places.get_mut(place) {
            *flow = Flow { ends, era, socket: socket.into() };
        }
    }

    /// Forgets them all.
    pub(crate) fn forget(&mut self) {
        *self.era = self.era.wrapping_add(1);
    }

    #[inline]
    fn place(&self, ends: &Ends, seed: u64) -> usize {
        ends.hash(seed) as usize & self.places.len().wrapping_sub(1)
    }
}
