//! The frame that a message travels in without an IP packet around it.
//!
//! ```text
//!  0             6        12       14       16
//! | destination | source | 0x88b5 | length | message … | zeros up to 60 bytes
//! ```
//!
//! The length is that of the message, big-endian: a short frame is padded on its way.

use hairpin_wire::{EtherType, EthernetHeader, MacAddress};

/// The first of the two EtherTypes for local experiments (IEEE 802, clause 9.2.4).
pub(crate) const ETHER_TYPE: u16 = 0x88b5;
/// The bytes before a message.
pub(crate) const HEADER: usize = 16;
/// The shortest Ethernet frame, without its checksum (IEEE 802.3 §3.2.8).
const SHORTEST: usize = 60;

/// A received frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawFrame<'a> {
    pub(crate) destination: MacAddress,
    pub(crate) source: MacAddress,
    /// `None` if the frame is shorter than its length field.
    pub(crate) message: Option<&'a [u8]>,
}

/// Returns the frame length for a message of `size` bytes.
#[inline]
pub(crate) fn length(size: usize) -> usize {
    (HEADER + size).max(SHORTEST)
}

/// Writes a frame without its message of `size` bytes, and returns the place of the message.
///
/// # Panics
/// If the frame does not have the [`length`] for the message, or the size exceeds 16 bits.
#[inline]
pub(crate) fn write(
    frame: &mut [u8],
    destination: MacAddress,
    source: MacAddress,
    size: usize,
) -> &mut [u8] {
    assert_eq!(frame.len(), length(size), "the frame of a message of {size} bytes");
    let size_word = u16::try_from(size).expect("a frame is shorter than 64 KiB");
    let header = EthernetHeader::new(destination, source, EtherType(ETHER_TYPE));
    let (header_bytes, rest) = frame.split_at_mut(HEADER);
    let (ethernet, size_bytes) = EthernetHeader::split_mut(header_bytes).expect("14 bytes of 16");
    *ethernet = header;
    size_bytes.copy_from_slice(&size_word.to_be_bytes());
    let (message, padding) = rest.split_at_mut(size);
    padding.fill(0);
    message
}

/// Parses a frame; returns `None` if it is too short.
#[inline]
pub(crate) fn parse(frame: &[u8]) -> Option<RawFrame<'_>> {
    let (ethernet, rest) = EthernetHeader::split(frame).ok()?;
    let (size, rest) = rest.split_first_chunk()?;
    let message = rest.get(..usize::from(u16::from_be_bytes(*size)));
    Some(RawFrame { destination: ethernet.destination(), source: ethernet.source(), message })
}

/// Returns a frame to its sender, with `source` as the new source.
///
/// # Panics
/// If the frame is shorter than two addresses.
#[inline]
pub(crate) fn turn_round(frame: &mut [u8], source: MacAddress) {
    frame.copy_within(6..12, 0);
    frame[6..12].copy_from_slice(&source.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
    const B: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);

    fn framed(message: &[u8]) -> Vec<u8> {
        let mut frame = vec![0xff; length(message.len())];
        write(&mut frame, A, B, message.len()).copy_from_slice(message);
        frame
    }

    #[test]
    fn bytes_lie_where_they_are_said_to() {
        let frame = framed(b"hello");
        assert_eq!(frame[..6], A.0);
        assert_eq!(frame[6..12], B.0);
        assert_eq!(frame[12..16], [0x88, 0xb5, 0, 5]);
        assert_eq!(frame[16..21], *b"hello");
        assert_eq!(frame[21..], [0; 39]);
    }

    #[test]
    fn reads_frames_of_any_length() {
        for size in [0, 1, 43, 44, 45, 255, 256, 1_498] {
            let message: Vec<u8> = (0..size).map(|at| at as u8).collect();
            let frame = framed(&message);
            assert_eq!(frame.len(), (16 + size).max(60));
            let read = parse(&frame).unwrap();
            assert_eq!((read.destination, read.source), (A, B));
            assert_eq!(read.message, Some(&message[..]));
        }
    }

    #[test]
    fn rejects_length_beyond_frame() {
        let mut frame = framed(&[7; 44]);
        frame[15] = 45;
        assert_eq!(parse(&frame).unwrap().message, None);
        frame[14] = 0xff;
        assert_eq!(parse(&frame).unwrap().message, None);
        assert_eq!(parse(&frame[..15]), None);
        assert_eq!(parse(&frame[..0]), None);
    }

    #[test]
    fn answers_to_sender_from_own_address() {
        let mut frame = framed(b"hello");
        let own = MacAddress([2, 0, 0, 0, 0, 9]);
        turn_round(&mut frame, own);
        let read = parse(&frame).unwrap();
        assert_eq!((read.destination, read.source, read.message), (B, own, Some(&b"hello"[..])));
    }
}
