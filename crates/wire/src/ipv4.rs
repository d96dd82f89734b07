//! IPv4.

use core::net::Ipv4Addr;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned, big_endian::U16};

use crate::{Error, Protocol, Sum};

/// The header of an IPv4 packet without its options, 20 bytes (RFC 791 §3.1):
///
/// ```text
///  0                  1          2               4                6                 8
/// | version | length | dscp ecn | total length  | identification | flags | offset  |
///  8     9          10         12       16            20
/// | ttl | protocol | checksum | source | destination | options …, payload …
/// ```
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(C)]
pub struct Ipv4Header {
    version_and_length: u8,
    traffic_class: u8,
    total_length: U16,
    identification: U16,
    flags_and_offset: U16,
    ttl: u8,
    protocol: Protocol,
    checksum: U16,
    source: [u8; 4],
    destination: [u8; 4],
}

view!(Ipv4Header);

accessors!(Ipv4Header {
    /// Byte 1: DSCP in the highest six bits (RFC 2474 §3), ECN in the lowest two (RFC 3168 §5).
    traffic_class, set_traffic_class: u8;
    /// Bytes 2..4: the total length of header, options and payload in bytes (RFC 791 §3.1).
    total_length, set_total_length: u16;
    /// Bytes 4..6: the identification of the packet to which a fragment belongs (RFC 791 §3.1, RFC
    /// 6864).
    identification, set_identification: u16;
    /// Bytes 6..8: a reserved bit, [`Self::DONT_FRAGMENT`], [`Self::MORE_FRAGMENTS`] and the
    /// fragment's offset (RFC 791 §3.1).
    flags_and_offset, set_flags_and_offset: u16;
    /// Byte 8: the time to live (RFC 791 §3.1).
    ttl, set_ttl: u8;
    /// Byte 9: the protocol of the payload (RFC 791 §3.1).
    protocol, set_protocol: Protocol;
    /// Bytes 10..12: the checksum over header and options (RFC 791 §3.1).
    checksum, set_checksum: u16;
});

impl Ipv4Header {
    /// The flag in [`Self::flags_and_offset`] that forbids fragmentation.
    pub const DONT_FRAGMENT: u16 = 0x4000;
    /// The flag in [`Self::flags_and_offset`] of all fragments but the last.
    pub const MORE_FRAGMENTS: u16 = 0x2000;

    /// Creates a header without options, with the don't-fragment flag and a TTL of 64 (RFC 1700).
    /// Lengths and checksum must be filled in.
    #[must_use]
    pub fn new(protocol: Protocol, source: Ipv4Addr, destination: Ipv4Addr) -> Self {
        Self {
            version_and_length: 0x45,
            traffic_class: 0,
            total_length: U16::new(20),
            identification: U16::ZERO,
            flags_and_offset: U16::new(Self::DONT_FRAGMENT),
            ttl: 64,
            protocol,
            checksum: U16::ZERO,
            source: source.octets(),
            destination: destination.octets(),
        }
    }

    /// Returns the header, its options, and the payload without the frame's padding. Does not
    /// verify the checksum: see [`is_checksum_valid`](Self::is_checksum_valid).
    ///
    /// # Errors
    /// [`Error::TooShort`] below 20 bytes, [`Error::Version`] if the version is not 4,
    /// [`Error::HeaderLength`] if the header length is below 20 bytes or beyond `bytes`,
    /// [`Error::TotalLength`] if the total length is below the header length or beyond `bytes`.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<(&Self, &[u8], &[u8]), Error> {
        let (header, options, rest) = Self::parse_start(bytes)?;
        let length = usize::from(header.total_length());
        let payload = length.checked_sub(header.header_length()).ok_or(Error::TotalLength)?;
        Ok((header, options, rest.get(..payload).ok_or(Error::TotalLength)?))
    }

    /// Parses the start of a truncated packet, such as one quoted by an error. The total length is
    /// not checked, and the last part is all bytes after the options.
    ///
    /// # Errors
    /// [`Error::TooShort`], [`Error::Version`], [`Error::HeaderLength`].
    #[inline]
    pub fn parse_start(bytes: &[u8]) -> Result<(&Self, &[u8], &[u8]), Error> {
        let (header, rest) = Self::split(bytes)?;
        if header.version() != 4 {
            return Err(Error::Version);
        }
        let options = header.header_length().checked_sub(Self::SIZE).ok_or(Error::HeaderLength)?;
        let (options, rest) = rest.split_at_checked(options).ok_or(Error::HeaderLength)?;
        Ok((header, options, rest))
    }

    /// Returns the highest four bits of byte 0: 4 (RFC 791 §3.1).
    #[must_use]
    #[inline]
    pub const fn version(&self) -> u8 {
        self.version_and_length >> 4
    }

    /// Returns the header length in bytes, from the lowest four bits of byte 0: header and options,
    /// 20 to 60 if valid (RFC 791 §3.1).
    #[must_use]
    #[inline]
    pub const fn header_length(&self) -> usize {
        (self.version_and_length & 0x0F) as usize * 4
    }

    /// Returns `true` for a header of version 4 without options.
    #[must_use]
    #[inline]
    pub const fn is_without_options(&self) -> bool {
        self.version_and_length == 0x45
    }

    /// Sets [`Self::header_length`], 20 to 60 in steps of 4, and the version.
    #[inline]
    pub fn set_header_length(&mut self, bytes: usize) {
        self.version_and_length = 0x40 | (bytes / 4) as u8 & 0x0F;
    }

    /// Returns the fragment offset in bytes, from the lowest 13 bits of bytes 6..8.
    #[must_use]
    #[inline]
    pub fn fragment_offset(&self) -> usize {
        usize::from(self.flags_and_offset() & 0x1FFF) * 8
    }

    /// Returns `true` for a fragment: more fragments follow, or the offset is not 0 (RFC 791 §3.2).
    #[must_use]
    #[inline]
    pub fn is_fragment(&self) -> bool {
        self.flags_and_offset() & (Self::MORE_FRAGMENTS | 0x1FFF) != 0
    }

    /// Returns bytes 12..16: the source address (RFC 791 §3.1).
    #[must_use]
    #[inline]
    pub const fn source(&self) -> Ipv4Addr {
        Ipv4Addr::from_octets(self.source)
    }

    /// Sets [`Self::source`].
    #[inline]
    pub const fn set_source(&mut self, source: Ipv4Addr) {
        self.source = source.octets();
    }

    /// Returns bytes 16..20: the destination address (RFC 791 §3.1).
    #[must_use]
    #[inline]
    pub const fn destination(&self) -> Ipv4Addr {
        Ipv4Addr::from_octets(self.destination)
    }

    /// Returns bytes 12..20: source and destination as sent, for comparing, hashing or summing both
    /// at once.
    #[must_use]
    #[inline]
    pub const fn addresses(&self) -> [u8; 8] {
        let ([a, b, c, d], [e, f, g, h]) = (self.source, self.destination);
        [a, b, c, d, e, f, g, h]
    }

    /// Sets [`Self::destination`].
    #[inline]
    pub const fn set_destination(&mut self, destination: Ipv4Addr) {
        self.destination = destination.octets();
    }

    /// Returns `true` if the checksum over header and options is correct; `packet` begins with this
    /// header.
    #[must_use]
    #[inline]
    pub fn is_checksum_valid(&self, packet: &[u8]) -> bool {
        match packet.get(Self::SIZE..self.header_length()) {
            Some(options) => self.sum().bytes(options).is_valid(),
            None => false,
        }
    }

    /// Fills in the checksum of a header without options.
    #[inline]
    pub fn fill_checksum(&mut self) {
        self.checksum = U16::ZERO;
        self.checksum = self.sum().checksum().into();
    }

    /// Returns the sum of the 20 bytes, for further summing.
    #[must_use]
    #[inline]
    pub fn sum(&self) -> Sum {
        Sum::ZERO.bytes(self.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header from textbooks, with its checksum.
    const BYTES: [u8; 20] = [
        0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xB8, 0x61, 0xC0, 0xA8, 0x00,
        0x01, 0xC0, 0xA8, 0x00, 0xC7,
    ];

    fn packet() -> [u8; 0x73 + 5] {
        let mut packet = [0; 0x73 + 5];
        packet[..20].copy_from_slice(&BYTES);
        packet
    }

    #[test]
    fn known_header_round_trips() {
        let packet = packet();
        let (header, options, payload) = Ipv4Header::parse(&packet).unwrap();
        assert_eq!((options.len(), payload.len(), header.ttl()), (0, 0x73 - 20, 64));
        assert!(header.is_checksum_valid(&packet) && !header.is_fragment());
        let (source, destination) = ([192, 168, 0, 1].into(), [192, 168, 0, 199].into());
        assert_eq!((header.source(), header.destination()), (source, destination));
        let mut ours = Ipv4Header::new(Protocol::UDP, source, destination);
        ours.set_total_length(0x73);
        ours.fill_checksum();
        assert_eq!(ours.as_bytes(), BYTES);
        ours.fill_checksum();
        assert_eq!(ours.as_bytes(), BYTES, "the old checksum must be ignored");
    }

    #[test]
    fn lengths_are_held_against_the_bytes() {
        let with = |at: usize, byte| {
            let mut packet = packet();
            packet[at] = byte;
            Ipv4Header::parse(&packet).map(|(_, options, payload)| (options.len(), payload.len()))
        };
        assert_eq!(with(0, 0x65), Err(Error::Version));
        assert_eq!(with(0, 0x44), Err(Error::HeaderLength));
        assert_eq!(with(0, 0x4F), Ok((40, 0x73 - 60)));
        assert_eq!(with(3, 19), Err(Error::TotalLength));
        assert_eq!(with(3, 20), Ok((0, 0)));
        assert_eq!(with(3, 0x78), Ok((0, 0x78 - 20)));
        assert_eq!(with(3, 0x79), Err(Error::TotalLength));
        let mut short = BYTES;
        short[0] = 0x46;
        assert_eq!(Ipv4Header::parse(&short), Err(Error::HeaderLength));
        assert_eq!(Ipv4Header::parse(&BYTES[..19]), Err(Error::TooShort));
        assert_eq!(Ipv4Header::parse(&BYTES), Err(Error::TotalLength));
        assert!(Ipv4Header::parse_start(&BYTES).is_ok());
    }

    #[test]
    fn detects_fragments() {
        let mut header = Ipv4Header::new(Protocol::UDP, [1; 4].into(), [2; 4].into());
        for (word, is_fragment, offset) in
            [(0x4000, false, 0), (0x2000, true, 0), (0x0001, true, 8), (0x1FFF, true, 65_528)]
        {
            header.set_flags_and_offset(word);
            assert_eq!((header.is_fragment(), header.fragment_offset()), (is_fragment, offset));
        }
    }

    #[test]
    fn checksum_covers_options() {
        let mut packet = [0; 24];
        packet[20..].copy_from_slice(&[0x94, 0x04, 0, 0]);
        let (header, _) = Ipv4Header::split_mut(&mut packet).unwrap();
        *header = Ipv4Header::new(Protocol::IGMP, [10, 0, 0, 1].into(), [224, 0, 0, 22].into());
        header.set_header_length(24);
        header.set_total_length(24);
        let sum = Sum::ZERO.bytes(&packet).checksum();
        Ipv4Header::split_mut(&mut packet).unwrap().0.set_checksum(sum);
        let valid = |packet: &[u8]| Ipv4Header::split(packet).unwrap().0.is_checksum_valid(packet);
        assert!(valid(&packet) && !valid(&packet[..20]));
        packet[21] = 5;
        assert!(!valid(&packet));
    }
}
