//! ARP.

use core::net::Ipv4Addr;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned, big_endian::U16};

use crate::{Error, MacAddress};

/// The operation of an ARP packet (RFC 826, "Definitions").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ArpOperation(pub u16);

impl ArpOperation {
    /// A request for the owner of the target address.
    pub const REQUEST: Self = Self(1);
    /// A reply by the owner of the address.
    pub const REPLY: Self = Self(2);
}

/// An ARP packet for IPv4 on Ethernet, 28 bytes (RFC 826, "Packet format"):
///
/// ```text
///  0          2          4   5   6           8
/// | hardware | protocol | 6 | 4 | operation |
///  8            14          18           24          28
/// | sender mac | sender ip | target mac | target ip |
/// ```
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(C)]
pub struct ArpPacket {
    hardware: U16,
    protocol: U16,
    hardware_length: u8,
    protocol_length: u8,
    operation: U16,
    sender_mac: MacAddress,
    sender_ip: [u8; 4],
    target_mac: MacAddress,
    target_ip: [u8; 4],
}

view!(ArpPacket);

accessors!(ArpPacket {
    /// Bytes 8..14: the sender's Ethernet address (RFC 826, `ar$sha`).
    sender_mac, set_sender_mac: MacAddress;
    /// Bytes 14..18: the sender's IPv4 address (RFC 826, `ar$spa`).
    sender_ip, set_sender_ip: [u8; 4];
    /// Bytes 18..24: the target's Ethernet address, unknown in a request (RFC 826, `ar$tha`).
    target_mac, set_target_mac: MacAddress;
    /// Bytes 24..28: the target's IPv4 address (RFC 826, `ar$tpa`).
    target_ip, set_target_ip: [u8; 4];
});

impl ArpPacket {
    /// Creates a request from `mac`, which has `ip`, for the address of `target`.
    #[must_use]
    pub fn request(mac: MacAddress, ip: Ipv4Addr, target: Ipv4Addr) -> Self {
        Self {
            hardware: U16::new(1),
            protocol: U16::new(0x0800),
            hardware_length: 6,
            protocol_length: 4,
            operation: U16::new(ArpOperation::REQUEST.0),
            sender_mac: mac,
            sender_ip: ip.octets(),
            target_mac: MacAddress::default(),
            target_ip: target.octets(),
        }
    }

    /// Creates the reply of the host that has the target address and this `mac`.
    #[must_use]
    pub fn reply(&self, mac: MacAddress) -> Self {
        Self {
            operation: U16::new(ArpOperation::REPLY.0),
            sender_mac: mac,
            sender_ip: self.target_ip,
            target_mac: self.sender_mac,
            target_ip: self.sender_ip,
            ..*self
        }
    }

    /// Returns the packet at the front, if its addresses are IPv4 and Ethernet. Trailing bytes are
    /// padding.
    ///
    /// # Errors
    /// [`Error::TooShort`]; [`Error::Version`] for other address types.
    pub fn parse(bytes: &[u8]) -> Result<&Self, Error> {
        let (packet, _) = Self::split(bytes)?;
        let kinds = (packet.hardware.get(), packet.protocol.get());
        let lengths = (packet.hardware_length, packet.protocol_length);
        if (kinds, lengths) != ((1, 0x0800), (6, 4)) {
            return Err(Error::Version);
        }
        Ok(packet)
    }

    /// Returns bytes 6..8: the operation (RFC 826, `ar$op`).
    #[must_use]
    pub fn operation(&self) -> ArpOperation {
        ArpOperation(self.operation.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: [u8; 28] =
        [0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2];

    #[test]
    fn encodes_request_and_reply() {
        let (ours, theirs) = (MacAddress([2, 0, 0, 0, 0, 1]), MacAddress([2, 0, 0, 0, 0, 2]));
        let request = ArpPacket::request(ours, [10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        assert_eq!(request.as_bytes(), REQUEST);
        let reply = request.reply(theirs);
        assert_eq!(
            reply.as_bytes(),
            [0, 1, 8, 0, 6, 4, 0, 2, 2, 0, 0, 0, 0, 2, 10, 0, 0, 2, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1]
        );
        assert_eq!(ArpPacket::parse(reply.as_bytes()).unwrap().operation(), ArpOperation::REPLY);
        assert_eq!((reply.sender_mac(), reply.target_mac()), (theirs, ours));
        assert_eq!((reply.sender_ip(), reply.target_ip()), ([10, 0, 0, 2], [10, 0, 0, 1]));
    }

    #[test]
    fn rejects_other_address_types() {
        for (at, byte) in [(1, 6), (2, 9), (4, 8), (5, 16)] {
            let mut bytes = REQUEST;
            bytes[at] = byte;
            assert_eq!(ArpPacket::parse(&bytes), Err(Error::Version), "byte {at}");
        }
        assert_eq!(ArpPacket::parse(&REQUEST[..27]), Err(Error::TooShort));
    }
}
