//! Addresses of interfaces.

use std::net::{IpAddr, Ipv4Addr};

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::address::{AddressHeader, AddressHeaderFlags, AddressMessage};

use super::attributes::{self, attributes};

/// The size of `struct ifaddrmsg`.
const HEADER: usize = 8;

/// An address of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InterfaceAddress {
    /// The host's own address.
    pub(crate) address: IpAddr,
    /// The prefix length in bits.
    pub(crate) prefix: u8,
    /// The subnet's broadcast address.
    pub(crate) broadcast: Option<Ipv4Addr>,
}

/// Builds a request for all addresses of an interface.
pub(super) fn request(interface: u32) -> RouteNetlinkMessage {
    let mut message = AddressMessage::default();
    message.header.index = interface;
    RouteNetlinkMessage::GetAddress(message)
}

/// Returns the interface index of an address message.
pub(super) fn interface(payload: &[u8]) -> Option<u32> {
    AddressHeader::parse(payload).ok().map(|header| header.index)
}

impl InterfaceAddress {
    /// Parses `RTM_NEWADDR` of one interface; `None` if the address is not usable.
    pub(crate) fn parse(kind: u16, payload: &[u8], interface: u32) -> Option<Self> {
        let header = AddressHeader::parse(payload).ok()?;
        let unusable = AddressHeaderFlags::Tentative | AddressHeaderFlags::Dadfailed;
        let usable = !header.flags.intersects(unusable)
            || header.flags.contains(AddressHeaderFlags::Optimistic);
        if kind != libc::RTM_NEWADDR || header.index != interface || !usable {
            return None;
        }
        let (mut local, mut peer, mut broadcast) = (None, None, None);
        for (kind, value) in attributes(&payload[HEADER..]) {
            match kind {
                libc::IFA_LOCAL => local = attributes::address(value),
                libc::IFA_ADDRESS => peer = attributes::address(value),
                libc::IFA_BROADCAST => broadcast = attributes::address(value),
                _ => {}
            }
        }
        let broadcast = match broadcast {
            Some(IpAddr::V4(broadcast)) => Some(broadcast),
            _ => None,
        };
        // Without a separate peer, the kernel sends only `IFA_ADDRESS`.
        Some(Self { address: local.or(peer)?, prefix: header.prefix_len, broadcast })
    }
}

#[cfg(test)]
mod tests {
    use netlink_packet_core::NetlinkSerializable;
    use netlink_packet_route::address::AddressAttribute;

    use super::*;

    fn parsed(flags: AddressHeaderFlags, attributes: &[AddressAttribute]) -> Option<IpAddr> {
        let mut message = AddressMessage::default();
        message.header.index = 4;
        message.header.flags = flags;
        message.attributes = attributes.to_vec();
        let message = RouteNetlinkMessage::NewAddress(message);
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        let parse = |kind, interface| InterfaceAddress::parse(kind, &bytes, interface);
        assert_eq!(parse(libc::RTM_NEWADDR, 5), None);
        assert_eq!(parse(libc::RTM_DELADDR, 4), None);
        assert_eq!(InterfaceAddress::parse(libc::RTM_NEWADDR, &bytes[..HEADER - 1], 4), None);
        parse(libc::RTM_NEWADDR, 4).map(|found| found.address)
    }

    #[test]
    fn local_address_precedes_the_peer() {
        let [own, peer] = ["10.0.0.1", "10.0.0.2"].map(|address| address.parse().unwrap());
        let both = [AddressAttribute::Address(peer), AddressAttribute::Local(own)];
        assert_eq!(parsed(AddressHeaderFlags::empty(), &both), Some(own));
        assert_eq!(parsed(AddressHeaderFlags::empty(), &both[..1]), Some(peer));
        assert_eq!(parsed(AddressHeaderFlags::empty(), &[]), None);
    }

    #[test]
    fn tentative_addresses_are_not_usable() {
        let own: IpAddr = "fd00::1".parse().unwrap();
        let with = |flags| parsed(flags, &[AddressAttribute::Address(own)]);
        let (tentative, failed) = (AddressHeaderFlags::Tentative, AddressHeaderFlags::Dadfailed);
        assert_eq!([tentative, failed].map(with), [None; 2]);
        assert_eq!(with(tentative | AddressHeaderFlags::Optimistic), Some(own));
        assert_eq!(with(AddressHeaderFlags::Permanent), Some(own));
    }
}
