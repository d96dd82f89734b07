//! IGMP.

use core::net::Ipv4Addr;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned, big_endian::U16};

use crate::Sum;

/// The type of an IGMP message: its first byte (RFC 9776 §4).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(transparent)]
pub struct IgmpKind(pub u8);

impl IgmpKind {
    /// A membership query. A query of version 3 has more than 8 bytes (RFC 9776 §4.1 and §7.1).
    pub const QUERY: Self = Self(0x11);
    /// A membership report of version 1 (RFC 1112 appendix I).
    pub const REPORT_V1: Self = Self(0x12);
    /// A membership report of version 2 (RFC 2236 §2.1).
    pub const REPORT_V2: Self = Self(0x16);
    /// A leave message of version 2 (RFC 2236 §2.1).
    pub const LEAVE: Self = Self(0x17);
    /// A membership report of version 3 with group records (RFC 9776 §4.2).
    pub const REPORT_V3: Self = Self(0x22);
}

/// The first 8 bytes of an IGMP message (RFC 2236 §2, RFC 9776 §4):
///
/// ```text
///  0      1               2          4       8
/// | kind | max resp code | checksum | group | of version 3: more …
/// ```
///
/// In a report of version 3 the last four bytes are two reserved bytes and the number of records.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(C)]
pub struct IgmpHeader {
    kind: IgmpKind,
    max_response_code: u8,
    checksum: U16,
    group: [u8; 4],
}

view!(IgmpHeader);

accessors!(IgmpHeader {
    /// Byte 0: the message type (RFC 9776 §4).
    kind, set_kind: IgmpKind;
    /// Byte 1: in a query, the maximum response time in tenths of a second, up to 127 (RFC 9776
    /// §4.1.1).
    max_response_code, set_max_response_code: u8;
    /// Bytes 2..4: the checksum over the whole message (RFC 9776 §4.1.2).
    checksum, set_checksum: u16;
});

impl IgmpHeader {
    /// Creates a message about a group; the checksum must be filled in.
    #[must_use]
    pub fn new(kind: IgmpKind, group: Ipv4Addr) -> Self {
        Self { kind, max_response_code: 0, checksum: U16::ZERO, group: group.octets() }
    }

    /// Returns bytes 4..8: the group, 0.0.0.0 in a general query. Not valid in a report of version
    /// 3 (RFC 2236 §2.4).
    #[must_use]
    pub const fn group(&self) -> Ipv4Addr {
        Ipv4Addr::from_octets(self.group)
    }

    /// Sets [`Self::group`].
    pub const fn set_group(&mut self, group: Ipv4Addr) {
        self.group = group.octets();
    }

    /// Returns bytes 6..8 of a report of version 3: the number of group records that follow (RFC
    /// 9776 §4.2.3).
    #[must_use]
    pub const fn record_count(&self) -> u16 {
        u16::from_be_bytes([self.group[2], self.group[3]])
    }

    /// Returns `true` if the checksum is correct; `rest` are the bytes after these 8.
    #[must_use]
    pub fn is_checksum_valid(&self, rest: &[u8]) -> bool {
        Sum::ZERO.bytes(self.as_bytes()).bytes(rest).is_valid()
    }

    /// Fills in the checksum; `rest` are the bytes after these 8.
    pub fn fill_checksum(&mut self, rest: &[u8]) {
        self.checksum = U16::ZERO;
        self.checksum = Sum::ZERO.bytes(self.as_bytes()).bytes(rest).checksum().into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_version_2_report() {
        let mut header = IgmpHeader::new(IgmpKind::REPORT_V2, [239, 192, 0, 1].into());
        header.set_checksum(0x1234);
        header.fill_checksum(&[]);
        assert_eq!(header.as_bytes(), [0x16, 0, 0xFA, 0x3D, 239, 192, 0, 1]);
        assert!(header.is_checksum_valid(&[]) && !header.is_checksum_valid(&[1]));
        assert_eq!(header.group(), Ipv4Addr::new(239, 192, 0, 1));
    }

    #[test]
    fn version_3_report_counts_records() {
        let bytes = [0x22, 0, 0xF9, 0x02, 0, 0, 0, 1, 4, 0, 0, 0, 224, 0, 0, 251];
        let (header, rest) = IgmpHeader::split(&bytes).unwrap();
        assert_eq!((header.kind(), header.record_count()), (IgmpKind::REPORT_V3, 1));
        let mut ours = *header;
        ours.fill_checksum(rest);
        assert!(header.is_checksum_valid(rest) && ours == *header);
    }
}
