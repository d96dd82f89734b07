//! TCP.

use core::ops::{BitOr, BitOrAssign};

use zerocopy::{
    FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned, big_endian::U16, big_endian::U32,
};

use crate::{Error, Sum, TcpOptions};

/// The control bits of a segment: byte 13 (RFC 9293 §3.1).
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Hash,
    FromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
    Unaligned,
)]
#[repr(transparent)]
pub struct TcpFlags(pub u8);

impl TcpFlags {
    /// The sender has no more data.
    pub const FIN: Self = Self(0x01);
    /// Synchronizes sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Resets the connection.
    pub const RST: Self = Self(0x04);
    /// The received data should be delivered to the application.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgment number is valid.
    pub const ACK: Self = Self(0x10);
    /// The urgent pointer is valid.
    pub const URG: Self = Self(0x20);
    /// Congestion was experienced (RFC 3168 §6.1).
    pub const ECE: Self = Self(0x40);
    /// The congestion window was reduced (RFC 3168 §6.1).
    pub const CWR: Self = Self(0x80);

    /// Returns `true` if all of `others` are set.
    #[must_use]
    #[inline]
    pub const fn contains(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }
}

impl BitOr for TcpFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for TcpFlags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// The header of a TCP segment without its options, 20 bytes (RFC 9293 §3.1):
///
/// ```text
///  0             2                  4                 8                        12
/// | source port | destination port | sequence number | acknowledgment number  |
///  12             13      14       16         18               20
/// | data offset | flags | window | checksum | urgent pointer | options …, payload …
/// ```
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(C)]
pub struct TcpHeader {
    source_port: U16,
    destination_port: U16,
    sequence_number: U32,
    acknowledgement_number: U32,
    data_offset: u8,
    flags: TcpFlags,
    window: U16,
    checksum: U16,
    urgent_pointer: U16,
}

view!(TcpHeader);

accessors!(TcpHeader {
    /// Bytes 0..2: the sender's port (RFC 9293 §3.1).
    source_port, set_source_port: u16;
    /// Bytes 2..4: the receiver's port (RFC 9293 §3.1).
    destination_port, set_destination_port: u16;
    /// Bytes 4..8: the sequence number of the first byte, or of the SYN (RFC 9293 §3.1).
    sequence_number, set_sequence_number: u32;
    /// Bytes 8..12: the next expected sequence number, if [`TcpFlags::ACK`] is set (RFC 9293 §3.1).
    acknowledgement_number, set_acknowledgement_number: u32;
    /// Byte 13: the control bits (RFC 9293 §3.1).
    flags, set_flags: TcpFlags;
    /// Bytes 14..16: the receive window before scaling (RFC 9293 §3.1, RFC 7323 §2).
    window, set_window: u16;
    /// Bytes 16..18: the checksum (RFC 9293 §3.1).
    checksum, set_checksum: u16;
    /// Bytes 18..20: the end of urgent data, if [`TcpFlags::URG`] is set (RFC 9293 §3.8.5).
    urgent_pointer, set_urgent_pointer: u16;
});

impl TcpHeader {
    /// Creates a header without options; all fields except the ports must be filled in.
    #[must_use]
    pub fn new(source_port: u16, destination_port: u16) -> Self {
        Self {
            source_port: source_port.into(),
            destination_port: destination_port.into(),
            sequence_number: U32::ZERO,
            acknowledgement_number: U32::ZERO,
            data_offset: 0x50,
            flags: TcpFlags::default(),
            window: U16::ZERO,
            checksum: U16::ZERO,
            urgent_pointer: U16::ZERO,
        }
    }

    /// Returns the header, its options, and the payload: the rest of `bytes`, which is the IP
    /// payload.
    ///
    /// # Errors
    /// [`Error::TooShort`] below 20 bytes. [`Error::HeaderLength`] if the header length is below 20
    /// or beyond `bytes`.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<(&Self, TcpOptions<'_>, &[u8]), Error> {
        let (header, rest) = Self::split(bytes)?;
        let options = header.header_length().checked_sub(Self::SIZE).ok_or(Error::HeaderLength)?;
        let (options, payload) = rest.split_at_checked(options).ok_or(Error::HeaderLength)?;
        Ok((header, TcpOptions::new(options), payload))
    }

    /// Returns the header length in bytes, from the highest four bits of byte 12: header and
    /// options, 20 to 60 if valid (RFC 9293 §3.1).
    #[must_use]
    #[inline]
    pub const fn header_length(&self) -> usize {
        (self.data_offset >> 4) as usize * 4
    }

    /// Sets [`Self::header_length`], 20 to 60 in steps of 4, and the reserved bits to 0.
    #[inline]
    pub const fn set_header_length(&mut self, bytes: usize) {
        self.data_offset = ((bytes / 4) as u8) << 4;
    }

    /// Returns `true` if the checksum of a whole segment, which begins with its header, is correct.
    /// `pseudo` is the sum of the pseudo header with the segment's length.
    #[must_use]
    #[inline]
    pub fn is_checksum_valid(pseudo: Sum, segment: &[u8]) -> bool {
        pseudo.bytes(segment).is_valid()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_data_offset_against_bytes() {
        let mut bytes = [0; 24];
        bytes[12] = 0x60;
        let (header, options, payload) = TcpHeader::parse(&bytes).unwrap();
        assert_eq!((header.header_length(), options.as_bytes().len(), payload.len()), (24, 4, 0));
        for (byte, error) in [(0x40, true), (0x50, false), (0x70, true), (0xF0, true)] {
            bytes[12] = byte;
            let parsed = TcpHeader::parse(&bytes);
            assert_eq!(parsed.err(), error.then_some(Error::HeaderLength), "{byte:x}");
        }
        assert_eq!(TcpHeader::parse(&bytes[..19]).err(), Some(Error::TooShort));
    }

    #[test]
    fn flags_are_bits() {
        let flags = TcpFlags::SYN | TcpFlags::ACK;
        assert!(flags.contains(TcpFlags::SYN) && !flags.contains(TcpFlags::SYN | TcpFlags::FIN));
        assert_eq!(flags.0, 0x12);
    }
}
