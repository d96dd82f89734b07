//! UDP.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned, big_endian::U16};

use crate::{Error, Sum};

/// The header of a UDP datagram, 8 bytes (RFC 768):
///
/// ```text
///  0             2                  4        6          8
/// | source port | destination port | length | checksum | payload …
/// ```
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(C)]
pub struct UdpHeader {
    source_port: U16,
    destination_port: U16,
    length: U16,
    checksum: U16,
}

view!(UdpHeader);

accessors!(UdpHeader {
    /// Bytes 0..2: the sender's port, 0 if no reply is expected (RFC 768, "Fields").
    source_port, set_source_port: u16;
    /// Bytes 2..4: the receiver's port (RFC 768, "Fields").
    destination_port, set_destination_port: u16;
    /// Bytes 4..6: the length of header and payload in bytes (RFC 768, "Fields").
    length, set_length: u16;
    /// Bytes 6..8: the checksum; over IPv4, 0 means no checksum (RFC 768; RFC 8200 §8.1).
    checksum, set_checksum: u16;
});

impl UdpHeader {
    /// Creates a header with these ports; length and checksum must be filled in.
    #[must_use]
    pub fn new(source_port: u16, destination_port: u16) -> Self {
        Self {
            source_port: source_port.into(),
            destination_port: destination_port.into(),
            length: U16::ZERO,
            checksum: U16::ZERO,
        }
    }

    /// Returns bytes 0..4: both ports as sent, for comparing or hashing both at once.
    #[must_use]
    #[inline]
    pub const fn ports(&self) -> [u8; 4] {
        let ([a, b], [c, d]) = (self.source_port.to_bytes(), self.destination_port.to_bytes());
        [a, b, c, d]
    }

    /// Returns the header, and the payload according to the length field. Further bytes of the IP
    /// payload are not part of the datagram.
    ///
    /// # Errors
    /// [`Error::TooShort`] below 8 bytes, [`Error::TotalLength`] if the length is below 8 or beyond
    /// `bytes`.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<(&Self, &[u8]), Error> {
        let (header, rest) = Self::split(bytes)?;
        let payload = usize::from(header.length()).checked_sub(Self::SIZE);
        let payload = payload.and_then(|length| rest.get(..length)).ok_or(Error::TotalLength)?;
        Ok((header, payload))
    }

    /// Returns `true` if the checksum is correct. `pseudo` is the sum of the pseudo header with
    /// this header's length. A checksum of 0 is not correct: the caller decides whether a missing
    /// checksum is accepted.
    #[must_use]
    #[inline(always)]
    pub fn is_checksum_valid(&self, pseudo: Sum, payload: &[u8]) -> bool {
        self.checksum != U16::ZERO && pseudo.bytes(self.as_bytes()).bytes(payload).is_valid()
    }

    /// Fills in the checksum; length and ports must already be set.
    #[inline]
    pub fn fill_checksum(&mut self, pseudo: Sum, payload: &[u8]) {
        self.checksum = U16::ZERO;
        self.checksum = pseudo.bytes(self.as_bytes()).bytes(payload).udp_checksum().into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Protocol;

    #[test]
    fn checks_lengths_against_bytes() {
        let mut bytes = [0, 1, 0, 2, 0, 10, 0, 0, 7, 8, 9];
        assert_eq!(UdpHeader::parse(&bytes).unwrap().1, [7, 8]);
        bytes[5] = 7;
        assert_eq!(UdpHeader::parse(&bytes), Err(Error::TotalLength));
        bytes[5] = 12;
        assert_eq!(UdpHeader::parse(&bytes), Err(Error::TotalLength));
        assert_eq!(UdpHeader::parse(&bytes[..7]), Err(Error::TooShort));
        bytes[5] = 8;
        assert_eq!(UdpHeader::parse(&bytes).unwrap().1, []);
    }

    #[test]
    fn zero_checksum_is_sent_as_ones() {
        let pseudo = Sum::pseudo_ipv4([0; 4].into(), [0; 4].into(), Protocol::UDP, 10);
        let mut header = UdpHeader::new(0, 0);
        header.set_length(10);
        // The protocol and both lengths sum to 37, so this payload makes the sum 0xFFFF.
        let payload = (0xFFFF_u16 - 37).to_be_bytes();
        header.fill_checksum(pseudo, &payload);
        assert_eq!(header.checksum(), 0xFFFF);
        header.set_checksum(0x1234);
        header.fill_checksum(pseudo, &payload);
        assert_eq!(header.checksum(), 0xFFFF, "the old checksum must be ignored");
        assert!(header.is_checksum_valid(pseudo, &payload));
        header.set_checksum(0);
        assert!(!header.is_checksum_valid(pseudo, &payload));
    }
}
