//! CRC-32C of packets.
//!
//! The crate `crc-fast` folds blocks of 512 bytes. What is shorter takes one chain of the
//! processor's CRC instruction, which has no set-up.

use crc_fast::{CrcAlgorithm, Digest};
use hairpin_rds::Crc32c;

/// The length from which folding is faster.
const LONG: usize = 512;

/// Returns the fastest function for this processor.
pub(crate) fn fastest() -> Crc32c {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("sse4.2") {
        return x86_64::append;
    }
    append_long
}

/// Extends a CRC-32C over `bytes`.
fn append_long(crc: u32, bytes: &[u8]) -> u32 {
    let mut digest = Digest::new_with_init_state(CrcAlgorithm::Crc32Iscsi, u64::from(!crc));
    digest.update(bytes);
    digest.finalize() as u32
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{_mm_crc32_u8, _mm_crc32_u32, _mm_crc32_u64};

    /// Extends a CRC-32C over `bytes`. Called only where SSE 4.2 was detected.
    #[inline]
    pub(super) fn append(crc: u32, bytes: &[u8]) -> u32 {
        if bytes.len() >= super::LONG {
            return super::append_long(crc, bytes);
        }
        // SAFETY: `fastest` returns this function only if the processor has SSE 4.2.
        unsafe { append_short(crc, bytes) }
    }

    #[target_feature(enable = "sse4.2")]
    fn append_short(crc: u32, bytes: &[u8]) -> u32 {
        let (words, rest) = bytes.as_chunks::<8>();
        let crc = words
            .iter()
            .fold(u64::from(!crc), |crc, word| _mm_crc32_u64(crc, u64::from_le_bytes(*word)));
        let (words, rest) = rest.as_chunks::<4>();
        let crc = words
            .iter()
            .fold(crc as u32, |crc, word| _mm_crc32_u32(crc, u32::from_le_bytes(*word)));
        !rest.iter().fold(crc, |crc, &byte| _mm_crc32_u8(crc, byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_the_library_at_all_lengths() {
        let bytes: Vec<u8> = (0..1_600_u32).map(|at| ((at * at) >> 3) as u8).collect();
        for length in 0..bytes.len() {
            for start in [0, 1, 7] {
                let part = &bytes[start.min(length)..length];
                let expected = crc32c::crc32c_append(0x1234_5678, part);
                assert_eq!(fastest()(0x1234_5678, part), expected, "{length}");
            }
        }
        // RFC 3720, B.4: 32 bytes of zeros.
        assert_eq!(fastest()(0, &[0; 32]), 0x8A91_36AA);
    }
}
