//! What a ping carries: its number and whose it is.
//!
//! ```text
//! bytes 0..8    sequence, little-endian; a shorter message has its lowest bytes only
//! bytes 8..12   run, little-endian: the process that sent it; a shorter message has none
//! bytes 12..    zero
//! ```
//! The highest bit of byte 11, or of the last byte of a shorter message, is 1 in an answer. Neither
//! a process id nor a sequence number needs it. So a pong never answers an answer.

/// The length of a header that identifies a message.
pub(crate) const HEADER: usize = 12;

/// The bit of an answer.
const ANSWER: u8 = 0x80;

/// Returns the position of the byte with the bit of an answer; `None` for an empty message.
#[inline]
fn mark_at(length: usize) -> Option<usize> {
    length.min(HEADER).checked_sub(1)
}

/// Returns `true` if a pong must not answer a message: an answer of a pong, or an empty message,
/// which has no mark.
#[inline]
pub(crate) fn is_answer(message: &[u8]) -> bool {
    mark_at(message.len()).is_none_or(|at| message[at] & ANSWER != 0)
}

/// Makes a message an answer.
#[inline]
pub(crate) fn mark_answer(message: &mut [u8]) {
    if let Some(at) = mark_at(message.len()) {
        message[at] |= ANSWER;
    }
}

/// Writes as much of the header as fits into the message.
#[inline]
pub(crate) fn write(message: &mut [u8], sequence: u64, run: u32) {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&sequence.to_le_bytes());
    header[8..].copy_from_slice(&run.to_le_bytes());
    let length = message.len().min(HEADER);
    message[..length].copy_from_slice(&header[..length]);
    if let Some(at) = mark_at(length) {
        message[at] &= !ANSWER;
    }
}

/// Returns the sequence of the ping or answer that starts with `message`, or `None` if another run
/// sent it. A short message contains only the lowest bits; then the nearest sequence to `expected`
/// is returned, which is correct while fewer than half of the distinguishable numbers (64 with one
/// byte) are missing in a row.
#[inline]
pub(crate) fn read(message: &[u8], expected: u64, run: u32) -> Option<u64> {
    if let Some(header) = message.first_chunk::<HEADER>() {
        let [a, b, c, d, e, f, g, h, run_bytes @ ..] = *header;
        let sequence = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        let mark = u32::from(ANSWER) << 24;
        return (u32::from_le_bytes(run_bytes) & !mark == run & !mark).then_some(sequence);
    }
    let mut low = [0; 8];
    let length = message.len().min(8);
    low[..length].copy_from_slice(&message[..length]);
    let mut bits = 8 * length as u32;
    if message.len() <= 8 && length > 0 {
        low[length - 1] &= !ANSWER;
        bits -= 1;
    }
    Some(nearest(u64::from_le_bytes(low), bits, expected))
}

/// Returns the number nearest to `expected` whose lowest `bits` are those of `low`.
pub(crate) fn nearest(low: u64, bits: u32, expected: u64) -> u64 {
    let Some(span) = 1_u64.checked_shl(bits) else { return low };
    let ahead = low.wrapping_sub(expected) & (span - 1);
    let forward = expected.wrapping_add(ahead);
    let is_behind = ahead >= span / 2;
    if is_behind { forward.checked_sub(span).unwrap_or(forward) } else { forward }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carries_sequence_in_message_of_any_length() {
        for length in 1..=20 {
            // One byte distinguishes 128 numbers, two bytes 32,768.
            let distance = if length == 1 { 63 } else { 100 };
            for sequence in [0_u64, 1, 127, 128, 255, 256, 70_000, 1 << 33] {
                let mut message = vec![0xFF; length];
                write(&mut message, sequence, 7);
                for expected in [sequence, sequence.saturating_sub(distance), sequence + distance] {
                    let found = read(&message, expected, 7);
                    assert_eq!(found, Some(sequence), "{length} bytes, expected {expected}");
                }
            }
        }
    }

    #[test]
    fn another_runs_message_is_nobodys() {
        let mut message = [0; 14];
        write(&mut message, 5, 7);
        assert_eq!(read(&message, 5, 8), None);
        assert_eq!(read(&message[..8], 5, 8), Some(5), "too short to tell");
    }

    #[test]
    fn answer_of_any_length_is_no_ping_and_has_its_number() {
        for length in 1..=20 {
            for sequence in [0_u64, 5, 63, 127, 128, 255, 70_000, u64::MAX >> 1] {
                let mut message = vec![0xFF; length];
                write(&mut message, sequence, 7);
                assert!(!is_answer(&message), "{length} bytes, {sequence}");
                mark_answer(&mut message);
                assert!(is_answer(&message), "{length} bytes, {sequence}");
                assert_eq!(read(&message, sequence, 7), Some(sequence), "{length} bytes");
            }
        }
        mark_answer(&mut []);
        assert!(is_answer(&[]), "an empty message is never answered");
    }

    #[test]
    fn leaves_bytes_after_header_unchanged() {
        let mut message = [9; 14];
        write(&mut message, u64::MAX, u32::MAX);
        assert_eq!(message[HEADER..], [9, 9]);
    }

    #[test]
    fn restores_number_nearest_to_last() {
        assert_eq!(nearest(0xFF, 8, 0x100), 0xFF);
        assert_eq!(nearest(0x01, 8, 0xFF), 0x101);
        assert_eq!(nearest(0xFF, 8, 0), 0xFF, "there is nothing before the first");
        assert_eq!(nearest(5, 64, 1 << 40), 5);
    }
}
