//! The frame of a message past the kernel: an Ethernet header and 64 bytes.

/// Bytes of a message; the first eight are its number.
pub(crate) const MESSAGE: usize = 64;
/// Bytes of a frame.
pub(crate) const LENGTH: usize = HEADER + MESSAGE;
/// The first of those set aside for local experiments (IEEE 802).
pub(crate) const ETHER_TYPE: u16 = 0x88b5;

const HEADER: usize = 14;
/// A veth looks at neither address.
const ADDRESSES: [u8; 12] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];

/// Writes the frame of a message.
#[inline]
pub(crate) fn write(frame: &mut [u8; LENGTH], number: u64) {
    frame[..12].copy_from_slice(&ADDRESSES);
    frame[12..HEADER].copy_from_slice(&ETHER_TYPE.to_be_bytes());
    frame[HEADER..HEADER + 8].copy_from_slice(&number.to_le_bytes());
}

/// The number of a message; `None` if it is another's frame.
#[inline]
pub(crate) fn number(frame: &[u8; LENGTH]) -> Option<u64> {
    let is_ours = frame[12..HEADER] == ETHER_TYPE.to_be_bytes();
    is_ours.then(|| self::message_number(&frame[HEADER..]))
}

/// Has a frame go back to where it came from.
#[inline]
pub(crate) fn turn_round(frame: &mut [u8]) {
    frame[..12].rotate_left(6);
}

/// The number that a message begins with.
///
/// # Panics
/// If it is shorter than a number.
#[inline]
pub(crate) fn message_number(message: &[u8]) -> u64 {
    u64::from_le_bytes(*message.first_chunk().expect("a message holds a number"))
}
