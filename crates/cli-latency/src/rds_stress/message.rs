//! The messages of the tasks.
//!
//! ```text
//! bytes 0..8    number, little-endian: requests and acknowledgments of a task count from 0
//! bytes 8..16   1: request, 2: acknowledgment; little-endian
//! bytes 16..    with -v a pattern of the number and the position, else zero
//! ```

/// The length of the header.
pub(super) const HEADER: usize = 16;

/// The type of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Request = 1,
    Acknowledgment = 2,
}

/// Writes a message.
///
/// # Panics
/// If the message is shorter than its header.
#[inline]
pub(super) fn write(message: &mut [u8], kind: Kind, number: u64, has_pattern: bool) {
    message[..8].copy_from_slice(&number.to_le_bytes());
    message[8..HEADER].copy_from_slice(&(kind as u64).to_le_bytes());
    if !has_pattern {
        message[HEADER..].fill(0);
        return;
    }
    for (byte, expected) in message[HEADER..].iter_mut().zip(pattern(kind, number)) {
        *byte = expected;
    }
}

/// Returns the type and the number of a message; `None` if the header is wrong.
#[inline]
pub(super) fn read(message: &[u8]) -> Option<(Kind, u64)> {
    let header = message.first_chunk::<HEADER>()?;
    let [a, b, c, d, e, f, g, h, kind @ ..] = *header;
    let kind = match u64::from_le_bytes(kind) {
        1 => Kind::Request,
        2 => Kind::Acknowledgment,
        _ => return None,
    };
    Some((kind, u64::from_le_bytes([a, b, c, d, e, f, g, h])))
}

/// Returns the position of the first byte that differs from the pattern.
#[inline]
pub(super) fn first_difference(message: &[u8], kind: Kind, number: u64) -> Option<usize> {
    let bytes = message.iter().skip(HEADER);
    let at = bytes.zip(pattern(kind, number)).position(|(byte, expected)| *byte != expected)?;
    Some(HEADER + at)
}

/// Returns the bytes after the header. Neighboring messages and positions differ.
#[inline]
fn pattern(kind: Kind, number: u64) -> impl Iterator<Item = u8> {
    let seed = number.wrapping_mul(2).wrapping_add(kind as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (0_u64..).map(move |at| (seed.rotate_left((at % 61) as u32) ^ at) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_was_written() {
        for length in [16, 17, 100] {
            let mut message = vec![0xFF; length];
            write(&mut message, Kind::Acknowledgment, 1 << 40, true);
            assert_eq!(read(&message), Some((Kind::Acknowledgment, 1 << 40)));
            assert_eq!(first_difference(&message, Kind::Acknowledgment, 1 << 40), None);
        }
        assert_eq!(read(&[1; 15]), None);
        assert_eq!(read(&[7; 16]), None);
    }

    #[test]
    fn finds_every_changed_byte() {
        let mut message = [0; 300];
        write(&mut message, Kind::Request, 5, true);
        for at in HEADER..message.len() {
            message[at] ^= 0x10;
            assert_eq!(first_difference(&message, Kind::Request, 5), Some(at));
            message[at] ^= 0x10;
        }
    }

    #[test]
    fn patterns_of_neighbors_differ() {
        let mut message = [0; 64];
        write(&mut message, Kind::Request, 5, true);
        for (kind, number) in [(Kind::Request, 4), (Kind::Request, 6), (Kind::Acknowledgment, 5)] {
            assert!(first_difference(&message, kind, number).is_some(), "{kind:?} {number}");
        }
    }
}
