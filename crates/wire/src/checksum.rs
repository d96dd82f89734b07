//! The internet checksum (RFC 1071).

use core::net::{Ipv4Addr, Ipv6Addr};

use crate::Protocol;

/// A partial ones' complement sum.
///
/// Parts may be summed separately and joined in any order ([`Sum::join`]). So the fixed fields of a
/// header are summed once, and the rest for each packet. Each part but the last must have an even
/// length.
///
/// The sum is kept in native byte order, eight bytes at a time. Only [`Sum::checksum`] folds it
/// (RFC 1071 §2, "byte order independence" and "parallel summation").
///
/// ```
/// use hairpin_wire::Sum;
///
/// // RFC 1071 §3.
/// let sum = Sum::ZERO.bytes(&[0x00, 0x01, 0xF2, 0x03]).bytes(&[0xF4, 0xF5, 0xF6, 0xF7]);
/// assert_eq!(sum.checksum(), !0xDDF2);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sum(u64);

impl Sum {
    /// The sum of no bytes.
    pub const ZERO: Self = Self(0);

    /// Adds bytes. An odd last byte counts as if a zero followed.
    #[must_use]
    #[inline(always)]
    pub fn bytes(self, bytes: &[u8]) -> Self {
        let (mut sum, mut rest) = (self.0, bytes);
        while let Some((line, behind)) = rest.split_first_chunk::<64>() {
            (sum, rest) = (add_words(sum, line), behind);
        }
        if rest.is_empty() {
            return Self(sum);
        }
        while let Some((word, behind)) = rest.split_first_chunk::<8>() {
            (sum, rest) = (add(sum, u64::from_ne_bytes(*word)), behind);
        }
        Self(if rest.is_empty() { sum } else { add(sum, last(bytes, rest.len())) })
    }

    /// Adds a 16-bit word.
    #[must_use]
    #[inline]
    pub const fn word(self, word: u16) -> Self {
        Self(add(self.0, word.to_be() as u64))
    }

    /// Adds a 32-bit word.
    #[must_use]
    #[inline]
    pub const fn long_word(self, word: u32) -> Self {
        Self(add(self.0, word.to_be() as u64))
    }

    /// Adds another sum.
    #[must_use]
    #[inline]
    pub const fn join(self, other: Self) -> Self {
        Self(add(self.0, other.0))
    }

    /// Returns the sum of IPv4's pseudo header for UDP and TCP: both addresses, zero, protocol, and
    /// the length of transport header and payload (RFC 768, RFC 9293 §3.1).
    #[must_use]
    #[inline]
    pub fn pseudo_ipv4(
        source: Ipv4Addr,
        destination: Ipv4Addr,
        protocol: Protocol,
        length: u16,
    ) -> Self {
        let addresses = Self::ZERO.bytes(&source.octets()).bytes(&destination.octets());
        addresses.word(u16::from(protocol.0)).word(length)
    }

    /// Returns the sum of IPv6's pseudo header for UDP, TCP and ICMPv6: both addresses, the length
    /// as 32 bits, zeros, next header (RFC 8200 §8.1).
    #[must_use]
    #[inline]
    pub fn pseudo_ipv6(
        source: Ipv6Addr,
        destination: Ipv6Addr,
        protocol: Protocol,
        length: u32,
    ) -> Self {
        let addresses = Self::ZERO.bytes(&source.octets()).bytes(&destination.octets());
        addresses.bytes(&length.to_be_bytes()).word(u16::from(protocol.0))
    }

    /// Returns the checksum to send: the complement of the folded sum.
    #[must_use]
    #[inline]
    pub const fn checksum(self) -> u16 {
        !self.folded()
    }

    /// Returns the checksum to send with UDP, where zero means no checksum and is replaced by ones
    /// (RFC 768).
    #[must_use]
    #[inline]
    pub const fn udp_checksum(self) -> u16 {
        match self.checksum() {
            0 => 0xFFFF,
            checksum => checksum,
        }
    }

    /// Returns `true` if this is the sum of data that contain their correct checksum.
    #[must_use]
    #[inline]
    pub const fn is_valid(self) -> bool {
        // Multiplication by the inverse gives the quotient of a multiple of 0xFFFF, and a larger
        // value for all other sums.
        const INVERSE: u64 = 0xFFFE_FFFE_FFFE_FFFF;
        self.0 != 0 && self.0.wrapping_mul(INVERSE) <= u64::MAX / 0xFFFF
    }

    /// Returns `true` if a checksum field has the *partial* value: this sum, folded and not
    /// complemented. The kernel of a local sender leaves the sum of the pseudo header there, and
    /// an offload completes it (`CHECKSUM_PARTIAL`). Zero is never a partial value.
    #[must_use]
    #[inline]
    pub const fn is_partial(self, field: u16) -> bool {
        field != 0 && self.word(!field).is_valid()
    }

    #[inline]
    const fn folded(self) -> u16 {
        // Adds both halves; the upper half then includes the carry of the lower.
        let sum = (self.0.wrapping_add(self.0.rotate_left(32)) >> 32) as u32;
        let sum = (sum.wrapping_add(sum.rotate_left(16)) >> 16) as u16;
        u16::from_be(sum)
    }
}

/// Adds with end-around carry. The sum stays 0 only if everything added is 0.
#[inline]
const fn add(sum: u64, word: u64) -> u64 {
    let (sum, carry) = sum.overflowing_add(word);
    sum + carry as u64
}

/// Adds 64 bytes, with one end-around carry for all.
#[inline]
fn add_words(sum: u64, line: &[u8; 64]) -> u64 {
    let (words, _) = line.as_chunks::<8>();
    let (mut sum, mut carry) = (sum, false);
    for &word in words {
        (sum, carry) = sum.carrying_add(u64::from_ne_bytes(word), carry);
    }
    add(sum, carry.into())
}

/// Returns the last one to seven bytes after the last whole word, padded with zeros.
#[inline]
fn last(bytes: &[u8], count: usize) -> u64 {
    let (word, unwanted) = match bytes.last_chunk::<8>() {
        Some(word) => (u64::from_le_bytes(*word), 8 - count),
        None => (short(bytes), 0),
    };
    u64::from_le(word >> (8 * unwanted))
}

/// Returns fewer than eight bytes as a little-endian number.
#[inline]
fn short(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Updates a checksum after a change of one 16-bit word (RFC 1624 §3, equation 3).
#[must_use]
#[inline]
pub const fn update(checksum: u16, old: u16, new: u16) -> u16 {
    let sum = !checksum as u32 + !old as u32 + new as u32;
    let sum = (sum >> 16) + (sum & 0xFFFF);
    !(((sum >> 16) + (sum & 0xFFFF)) as u16)
}

/// Updates a checksum after a change of 32 bits at an even offset, such as an IPv4 address.
#[must_use]
#[inline]
pub const fn update_u32(checksum: u16, old: u32, new: u32) -> u16 {
    let high = update(checksum, (old >> 16) as u16, (new >> 16) as u16);
    update(high, old as u16, new as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_the_example_of_rfc_1071() {
        let bytes = [0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7];
        assert_eq!(Sum::ZERO.bytes(&bytes).checksum(), 0x220D);
        let in_words = [0x0001, 0xF203, 0xF4F5, 0xF6F7].into_iter().fold(Sum::ZERO, Sum::word);
        assert_eq!(in_words.checksum(), 0x220D);
    }

    #[test]
    fn updates_the_example_of_rfc_1624() {
        // §4: 0x5555 becomes 0x3285 under 0xDD2F, and the result is 0x0000, not 0xFFFF.
        assert_eq!(update(0xDD2F, 0x5555, 0x3285), 0x0000);
    }

    #[test]
    fn odd_byte_counts_as_high_byte() {
        assert_eq!(Sum::ZERO.bytes(&[0xAB]).checksum(), !0xAB00);
        let bytes = [1, 2, 3, 4, 5, 6, 7];
        assert_eq!(Sum::ZERO.bytes(&bytes).checksum(), !(0x0102 + 0x0304 + 0x0506 + 0x0700));
    }

    #[test]
    fn sum_equals_sum_of_words() {
        let bytes: [u8; 300] = core::array::from_fn(|at| (at * 37 + at / 7) as u8 | 0x80);
        for length in 0..bytes.len() {
            let words = bytes[..length]
                .chunks(2)
                .map(|word| u16::from_be_bytes([word[0], word.get(1).copied().unwrap_or(0)]));
            let expected = words.fold(Sum::ZERO, Sum::word);
            assert_eq!(Sum::ZERO.bytes(&bytes[..length]).checksum(), expected.checksum());
        }
    }

    #[test]
    fn sum_is_valid_if_it_folds_to_ones() {
        for sum in (0..200_000).chain((0..200_000).map(|sum| u64::MAX - sum * 0x8001)) {
            assert_eq!(Sum(sum).is_valid(), Sum(sum).folded() == 0xFFFF, "{sum}");
        }
    }

    #[test]
    fn partial_value_is_the_folded_sum_only() {
        for sum in (1..200_000).chain((0..2_000).map(|sum| u64::MAX - sum * 0x8001)) {
            let folded = Sum(sum).folded();
            assert!(Sum(sum).is_partial(folded), "{sum}");
            for other in [0, !folded, folded ^ 1, folded ^ 0x100, folded.wrapping_add(1)] {
                assert_eq!(Sum(sum).is_partial(other), other == folded, "{sum} {other}");
            }
        }
        assert!(!Sum(0xFFFF).is_partial(0));
    }

    #[test]
    fn carries_wrap_around() {
        assert_eq!(Sum::ZERO.bytes(&[0xFF; 65_534]).checksum(), 0);
        assert!(Sum::ZERO.bytes(&[0xFF; 16]).join(Sum::ZERO.bytes(&[0xFF; 6])).is_valid());
        assert_eq!(Sum::ZERO.bytes(&[0xFF; 16]).word(1).checksum(), !1);
    }

    #[test]
    fn empty_sum_is_zero_and_invalid() {
        assert_eq!(Sum::ZERO.bytes(&[0; 40]).checksum(), 0xFFFF);
        assert!(!Sum::ZERO.bytes(&[0; 40]).is_valid());
    }

    #[test]
    fn udp_checksum_replaces_zero_by_ones() {
        assert_eq!(Sum::ZERO.word(0xFFFF).udp_checksum(), 0xFFFF);
        assert_eq!(Sum::ZERO.word(0xFFFE).udp_checksum(), 1);
    }
}
