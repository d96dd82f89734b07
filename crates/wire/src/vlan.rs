//! VLAN tags.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned, big_endian::U16};

use crate::EtherType;

/// The VLAN tag after the EtherType, 4 bytes (IEEE 802.1Q §9.6):
///
/// ```text
///  0          3     4            16     32 bits
/// | priority | drop | identifier | type | payload …
/// ```
///
/// An 802.1ad tag has the same layout, with another EtherType before it and usually a second tag
/// after it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(C)]
pub struct VlanTag {
    control: U16,
    ether_type: U16,
}

view!(VlanTag);

accessors!(VlanTag {
    /// Bytes 0..2: priority, drop eligibility and identifier together (IEEE 802.1Q §9.6).
    control, set_control: u16;
    /// Bytes 2..4: the EtherType of the data after the tag, which may be another tag (IEEE 802.1Q
    /// §9.4).
    ether_type, set_ether_type: EtherType;
});

impl VlanTag {
    /// Creates a tag of priority 0.
    #[must_use]
    pub fn new(identifier: u16, ether_type: EtherType) -> Self {
        Self { control: U16::new(identifier & 0x0FFF), ether_type: ether_type.into() }
    }

    /// Returns the lowest 12 bits of bytes 0..2: the VLAN identifier; 0 means no VLAN, only a
    /// priority.
    #[must_use]
    #[inline]
    pub fn identifier(&self) -> u16 {
        self.control() & 0x0FFF
    }

    /// Returns the highest three bits of byte 0: the priority, 0 to 7 (IEEE 802.1Q §6.9.3).
    #[must_use]
    #[inline]
    pub fn priority(&self) -> u8 {
        (self.control() >> 13) as u8
    }

    /// Returns bit 12 of bytes 0..2: `true` if the frame may be dropped before others (IEEE 802.1Q
    /// §6.9.3).
    #[must_use]
    #[inline]
    pub fn is_drop_eligible(&self) -> bool {
        self.control() & 0x1000 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_priority_drop_and_identifier() {
        let (tag, rest) = VlanTag::split(&[0xB0, 0x65, 0x08, 0x00, 9]).unwrap();
        assert_eq!((tag.priority(), tag.is_drop_eligible(), tag.identifier()), (5, true, 0x65));
        assert_eq!((tag.ether_type(), rest), (EtherType::IPV4, &[9][..]));
        assert_eq!(VlanTag::new(0xF065, EtherType::IPV6).as_bytes(), [0x00, 0x65, 0x86, 0xDD]);
    }
}
