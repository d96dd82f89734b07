//! The two byte rings of a connection, in the caller's memory.

/// The memory of a connection. A byte is stored at its sequence number modulo the length.
///
/// Each length is a power of two from 4,096 to 1 GiB. The same memory must be passed to every call
/// of one connection.
#[derive(Debug)]
pub struct Rings<'a> {
    /// The bytes sent and not acknowledged, and those not yet sent.
    pub send: &'a mut [u8],
    /// The bytes received in order and not read, and those received out of order.
    pub receive: &'a mut [u8],
}

/// Returns `true` for a length that a ring may have.
pub(crate) const fn is_valid_length(length: usize) -> bool {
    length.is_power_of_two() && length >= 4_096 && length <= 1 << 30
}

/// Returns the bytes from a sequence number on, in one or two parts.
#[inline]
pub(crate) fn read(ring: &[u8], sequence: u32, length: u32) -> [&[u8]; 2] {
    let length = (length as usize).min(ring.len());
    let at = sequence as usize & (ring.len() - 1);
    let first = length.min(ring.len() - at);
    [&ring[at..at + first], &ring[..length - first]]
}

/// Stores bytes from a sequence number on. The caller makes sure that they fit.
#[inline]
pub(crate) fn write(ring: &mut [u8], sequence: u32, bytes: &[u8]) {
    let at = sequence as usize & (ring.len() - 1);
    let first = bytes.len().min(ring.len() - at);
    ring[at..at + first].copy_from_slice(&bytes[..first]);
    ring[..bytes.len() - first].copy_from_slice(&bytes[first..]);
}

/// Returns the memory of bytes from a sequence number on; `None` if it is in two parts.
#[inline]
pub(crate) fn part_mut(ring: &mut [u8], sequence: u32, length: usize) -> Option<&mut [u8]> {
    let at = sequence as usize & (ring.len() - 1);
    ring.get_mut(at..at + length)
}

/// Copies bytes from a sequence number on to `into`.
#[inline]
pub(crate) fn copy(ring: &[u8], sequence: u32, into: &mut [u8]) {
    let [first, second] = read(ring, sequence, into.len() as u32);
    let (front, back) = into.split_at_mut(first.len());
    front.copy_from_slice(first);
    back[..second.len()].copy_from_slice(second);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_wrap_at_the_end_of_ring_and_numbers() {
        let mut ring = [0; 8];
        write(&mut ring, u32::MAX - 1, &[1, 2, 3, 4]);
        assert_eq!(ring, [3, 4, 0, 0, 0, 0, 1, 2]);
        assert_eq!(read(&ring, u32::MAX - 1, 4), [&[1, 2][..], &[3, 4]]);
        let mut copied = [0; 3];
        copy(&ring, u32::MAX, &mut copied);
        assert_eq!(copied, [2, 3, 4]);
    }
}
