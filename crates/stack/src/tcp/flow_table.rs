//! The TCP flows that are taken over, and their frames.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use hairpin_wire::{EtherType, EthernetHeader, Ipv4Header, Ipv6Header, Protocol, TcpHeader};
use hairpin_xdp::Packet;

use crate::receive_queue::ReceiveQueue;

/// The length of the shortest TCP frame over IPv4.
const MIN_IPV4: usize = EthernetHeader::SIZE + Ipv4Header::SIZE + TcpHeader::SIZE;

/// Both endpoints of a flow as they are in its frames: source and destination address, source and
/// destination port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum FlowKey {
    Ipv4([[u8; 4]; 3]),
    Ipv6([[u8; 16]; 2], [u8; 4]),
}

impl FlowKey {
    /// Creates the key of frames from `remote` to `local`.
    pub(crate) fn new(remote: SocketAddr, local: SocketAddr) -> Self {
        let [[a, b], [c, d]] = [remote, local].map(|end| end.port().to_be_bytes());
        let ports = [a, b, c, d];
        match [remote, local].map(|end| end.ip().to_canonical()) {
            [IpAddr::V4(source), IpAddr::V4(destination)] => {
                Self::Ipv4([source.octets(), destination.octets(), ports])
            }
            addresses => Self::Ipv6(addresses.map(to_ipv6), ports),
        }
    }

    /// Returns `true` for an untagged frame of this flow, if it is IPv4 without options.
    #[inline(always)]
    fn matches(&self, frame: &[u8]) -> bool {
        let Self::Ipv4([source, destination, ports]) = self else { return false };
        let Some(headers) = frame.first_chunk::<MIN_IPV4>() else { return false };
        let at = |offset: usize| headers[offset..].first_chunk::<4>();
        // EtherType, version and header length; the fragment; the protocol.
        headers[12..15] == [0x08, 0x00, 0x45]
            && [headers[20] & 0x3F, headers[21], headers[23]] == [0, 0, Protocol::TCP.0]
            && [at(26), at(30), at(34)] == [Some(source), Some(destination), Some(ports)]
    }

    /// Returns the key of an untagged TCP frame.
    #[inline]
    fn from_frame(frame: &[u8]) -> Option<Self> {
        let (ethernet, packet) = EthernetHeader::split(frame).ok()?;
        if ethernet.ether_type() == EtherType::IPV4 {
            let (ip, _, segment) = Ipv4Header::parse_start(packet).ok()?;
            if ip.protocol() != Protocol::TCP || ip.is_fragment() {
                return None;
            }
            let [source, destination] = [ip.source(), ip.destination()].map(|ip| ip.octets());
            return Some(Self::Ipv4([source, destination, ports(segment)?]));
        }
        if ethernet.ether_type() != EtherType::IPV6 {
            return None;
        }
        let (ip, segment) = Ipv6Header::split(packet).ok()?;
        if ip.next_header() != Protocol::TCP {
            return None;
        }
        let addresses = [ip.source(), ip.destination()].map(|ip| ip.octets());
        Some(Self::Ipv6(addresses, ports(segment)?))
    }
}

/// Returns the bytes of both ports.
#[inline]
fn ports(segment: &[u8]) -> Option<[u8; 4]> {
    segment.get(..TcpHeader::SIZE)?.first_chunk().copied()
}

fn to_ipv6(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

/// The flows of a data plane, each with the queue of its frames.
#[derive(Debug, Default)]
pub(crate) struct FlowTable {
    numbers: HashMap<FlowKey, usize>,
    queues: Vec<Option<(FlowKey, ReceiveQueue<Packet>)>>,
    /// The number of frames that the peer of each flow may have in flight, `u32::MAX` if unknown.
    windows: Vec<u32>,
    /// The flow of the last frame: usually that of the next one.
    last: Option<(FlowKey, usize)>,
}

impl FlowTable {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    pub(crate) fn insert(&mut self, key: FlowKey, queue: ReceiveQueue<Packet>) -> usize {
        let free = self.queues.iter().position(Option::is_none);
        let number = free.unwrap_or_else(|| {
            self.queues.push(None);
            self.windows.push(0);
            self.queues.len() - 1
        });
        self.windows[number] = u32::MAX;
        self.queues[number] = Some((key, queue));
        self.numbers.insert(key, number);
        number
    }

    pub(crate) fn set_window(&mut self, number: usize, frames: u32) {
        self.windows[number] = frames;
    }

    /// Returns the sum of all windows; `None` without a flow.
    pub(crate) fn windows(&self) -> Option<u32> {
        let sum = || self.windows.iter().fold(0, |sum: u32, window| sum.saturating_add(*window));
        (!self.is_empty()).then(sum)
    }

    pub(crate) fn number(&self, key: FlowKey) -> Option<usize> {
        self.numbers.get(&key).copied()
    }

    pub(crate) fn remove(&mut self, number: usize) -> Option<ReceiveQueue<Packet>> {
        let (key, queue) = self.queues.get_mut(number)?.take()?;
        self.numbers.remove(&key);
        self.windows[number] = 0;
        self.last = None;
        Some(queue)
    }

    /// Returns the flow of the last frame if this one has it too: the usual case.
    #[inline(always)]
    pub(crate) fn last(&self, frame: &[u8]) -> Option<usize> {
        self.last.as_ref().filter(|(last, _)| last.matches(frame)).map(|(_, number)| *number)
    }

    /// Returns the flow of a frame.
    #[inline(never)]
    pub(crate) fn find(&mut self, frame: &[u8]) -> Option<usize> {
        let key = FlowKey::from_frame(frame)?;
        if let Some((last, number)) = self.last
            && last == key
        {
            return Some(number);
        }
        let number = *self.numbers.get(&key)?;
        self.last = Some((key, number));
        Some(number)
    }

    #[inline]
    pub(crate) fn queue(&mut self, number: usize) -> Option<&mut ReceiveQueue<Packet>> {
        self.queues.get_mut(number)?.as_mut().map(|(_, queue)| queue)
    }

    pub(crate) fn queues(&self) -> impl Iterator<Item = &ReceiveQueue<Packet>> {
        self.queues.iter().flatten().map(|(_, queue)| queue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readiness::Readiness;
    use std::sync::Arc;

    #[test]
    fn windows_are_summed_and_unknown_ones_are_the_largest() {
        let mut flows = FlowTable::default();
        assert_eq!(flows.windows(), None);
        let [first, second] = [1, 2].map(|port| {
            let [remote, local] = [port, 9].map(|port| SocketAddr::from(([10, 0, 0, 1], port)));
            let readiness = Arc::new(Readiness::new().unwrap());
            flows.insert(FlowKey::new(remote, local), ReceiveQueue::new(1, readiness))
        });
        flows.set_window(first, 90);
        assert_eq!(flows.windows(), Some(u32::MAX), "the second is unknown");
        flows.set_window(second, 30);
        assert_eq!(flows.windows(), Some(120));
        flows.remove(first);
        assert_eq!(flows.windows(), Some(30));
    }
}
