//! The frame of a raw message: an Ethernet header and 64 bytes.

/// The length of a message in bytes; the first eight are its number.
pub(crate) const MESSAGE: usize = 64;
/// The length of a frame in bytes.
pub(crate) const LENGTH: usize = HEADER + MESSAGE;
/// The first EtherType for local experiments (IEEE 802).
pub(crate) const ETHER_TYPE: u16 = 0x88b5;

const HEADER: usize = 14;
/// The destination and source address; a veth checks neither.
const ADDRESSES: [u8; 12] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];

/// Writes the frame of a message.
#[inline]
pub(crate) fn write(frame: &mut [u8; LENGTH], number: u64) {
    frame[..12].copy_from_slice(&ADDRESSES);
    frame[12..HEADER].copy_from_slice(&ETHER_TYPE.to_be_bytes());
    frame[HEADER..HEADER + 8].copy_from_slice(&number.to_le_bytes());
}

/// Returns the number of a message; `None` for a foreign frame.
#[inline]
pub(crate) fn number(frame: &[u8; LENGTH]) -> Option<u64> {
    let is_ours = frame[12..HEADER] == ETHER_TYPE.to_be_bytes();
    is_ours.then(|| self::message_number(&frame[HEADER..]))
}

/// Swaps source and destination.
#[inline]
pub(crate) fn swap_addresses(frame: &mut [u8]) {
    frame[..12].rotate_left(6);
}

/// Returns the number at the start of a message.
///
/// # Panics
/// If the message is shorter than a number.
#[inline]
pub(crate) fn message_number(message: &[u8]) -> u64 {
    u64::from_le_bytes(*message.first_chunk().expect("a message contains a number"))
}
