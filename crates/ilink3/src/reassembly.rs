//! Reassembly of frames from a byte stream.

use alloc::boxed::Box;
use alloc::vec;
use core::ops::ControlFlow;

use thiserror::Error;

/// The length of the Simple Open Framing Header in bytes: MessageSize and EncodingType, both uint16
/// little-endian.
pub const FRAMING_HEADER_LENGTH: usize = 4;
/// EncodingType of CME's SBE 1.0. Its little-endian bytes are `FE CA`.
pub const ENCODING_TYPE: u16 = 0xCAFE;
/// The length of the shortest frame: a framing header and an SBE header with an empty block.
pub const FRAME_MIN: usize = FRAMING_HEADER_LENGTH + 8;
/// The length of the longest frame. MessageSize is a uint16 that counts the whole frame.
pub const FRAME_MAX: usize = u16::MAX as usize;

/// An invalid framing header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FramingError {
    /// MessageSize is less than the length of the two headers.
    #[error("MessageSize {0} is less than the 12 bytes of the two headers")]
    MessageSize(u16),
    /// EncodingType is not 0xCAFE.
    #[error("EncodingType {0:#06x} is not 0xcafe")]
    EncodingType(u16),
}

/// A reassembly buffer that splits a byte stream into frames.
///
/// A frame that is complete in the input is passed on in place. Only a frame split between two
/// inputs is copied, into a buffer sized for the longest frame.
#[derive(Debug, Default)]
pub struct Reassembly {
    buffer: Box<[u8]>,
    buffered: usize,
}

impl Reassembly {
    /// Creates an empty buffer with room for the longest frame.
    #[must_use]
    pub fn new() -> Self {
        Self { buffer: vec![0; FRAME_MAX].into_boxed_slice(), buffered: 0 }
    }

    /// Returns the number of buffered bytes of an incomplete frame.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.buffered
    }

    /// Returns `true` if nothing is buffered: the next byte starts a frame.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buffered == 0
    }

    /// Drops the buffered bytes: the next byte starts a frame.
    pub fn clear(&mut self) {
        self.buffered = 0;
    }

    /// Appends `input` and calls `on` with each complete frame, framing header included.
    ///
    /// If `on` breaks, the rest of the input is dropped and nothing is buffered.
    ///
    /// # Errors
    /// [`FramingError`] at the first invalid header. The rest of the input is dropped, because the
    /// stream has no further frame boundaries.
    #[inline]
    pub fn feed(
        &mut self,
        mut input: &[u8],
        mut on: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), FramingError> {
        if self.buffered > 0 {
            match self.complete(&mut input, &mut on) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => return Ok(()),
                Err(error) => {
                    self.clear();
                    return Err(error);
                }
            }
        }
        while let Some(length) = frame_length(input)? {
            let Some((frame, rest)) = input.split_at_checked(length) else { break };
            input = rest;
            if on(frame).is_break() {
                return Ok(());
            }
        }
        self.append(input);
        Ok(())
    }

    /// Completes the buffered frame, if `input` contains the rest.
    #[cold]
    fn complete(
        &mut self,
        input: &mut &[u8],
        on: &mut impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, FramingError> {
        self.fill(FRAMING_HEADER_LENGTH, input);
        let Some(length) = frame_length(&self.buffer[..self.buffered])? else {
            return Ok(ControlFlow::Continue(()));
        };
        self.fill(length, input);
        if self.buffered < length {
            return Ok(ControlFlow::Continue(()));
        }
        self.buffered = 0;
        Ok(on(&self.buffer[..length]))
    }

    /// Moves bytes from `input` until `length` bytes are buffered or `input` is empty.
    fn fill(&mut self, length: usize, input: &mut &[u8]) {
        let wanted = length.saturating_sub(self.buffered).min(input.len());
        let (taken, rest) = input.split_at(wanted);
        self.append(taken);
        *input = rest;
    }

    /// Buffers `bytes`. The caller limits them to one frame.
    fn append(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.buffer[self.buffered..self.buffered + bytes.len()].copy_from_slice(bytes);
            self.buffered += bytes.len();
        }
    }
}

/// Splits the first frame from `bytes`. Returns `None` if the frame is incomplete or invalid.
#[inline]
pub(crate) fn split_frame(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    bytes.split_at_checked(frame_length(bytes).ok().flatten()?)
}

/// Returns the length of the first frame in `bytes`, or `None` if its header is incomplete.
#[inline]
fn frame_length(bytes: &[u8]) -> Result<Option<usize>, FramingError> {
    let Some(&[size_0, size_1, encoding_0, encoding_1]) = bytes.first_chunk() else {
        return Ok(None);
    };
    let size = u16::from_le_bytes([size_0, size_1]);
    let encoding = u16::from_le_bytes([encoding_0, encoding_1]);
    if encoding != ENCODING_TYPE {
        return Err(FramingError::EncodingType(encoding));
    }
    if usize::from(size) < FRAME_MIN {
        return Err(FramingError::MessageSize(size));
    }
    Ok(Some(usize::from(size)))
}

/// Writes the framing header of a frame of `length` bytes, header included.
///
/// `length` must be at most [`FRAME_MAX`]. All encoders of the schema write far shorter frames.
#[inline]
pub fn write_framing_header(header: &mut [u8; FRAMING_HEADER_LENGTH], length: usize) {
    debug_assert!((FRAME_MIN..=FRAME_MAX).contains(&length), "frame of {length} bytes");
    let [size_0, size_1] = (length as u16).to_le_bytes();
    let [encoding_0, encoding_1] = ENCODING_TYPE.to_le_bytes();
    *header = [size_0, size_1, encoding_0, encoding_1];
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    fn frame(length: usize, fill: u8) -> Vec<u8> {
        let mut frame = vec![fill; length];
        write_framing_header((&mut frame[..4]).try_into().unwrap(), length);
        frame
    }

    fn collect(reassembly: &mut Reassembly, input: &[u8]) -> Result<Vec<Vec<u8>>, FramingError> {
        let mut frames = Vec::new();
        reassembly.feed(input, |frame| {
            frames.push(frame.to_vec());
            ControlFlow::Continue(())
        })?;
        Ok(frames)
    }

    #[test]
    fn header_is_little_endian() {
        assert_eq!(frame(26, 0)[..4], [0x1a, 0x00, 0xfe, 0xca]);
    }

    #[test]
    fn passes_complete_frames_in_place() {
        let input = [frame(12, 1), frame(40, 2)].concat();
        let mut at = Vec::new();
        let mut reassembly = Reassembly::new();
        reassembly
            .feed(&input, |frame| {
                at.push(frame.as_ptr() as usize - input.as_ptr() as usize);
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(at, [0, 12]);
        assert_eq!(reassembly.buffered(), 0);
    }

    #[test]
    fn joins_frames_split_at_every_pair_of_offsets() {
        let frames = [frame(12, 1), frame(26, 2), frame(15, 3)];
        let stream = frames.concat();
        for first in 0..=stream.len() {
            for second in first..=stream.len() {
                let mut reassembly = Reassembly::new();
                let mut seen = Vec::new();
                for part in [&stream[..first], &stream[first..second], &stream[second..]] {
                    seen.extend(collect(&mut reassembly, part).unwrap());
                }
                assert_eq!(seen, frames, "cut at {first} and {second}");
                assert_eq!(reassembly.buffered(), 0);
            }
        }
    }

    #[test]
    fn joins_the_longest_frame_byte_by_byte() {
        let long = frame(FRAME_MAX, 7);
        let mut reassembly = Reassembly::new();
        let mut seen = Vec::new();
        for byte in &long {
            seen.extend(collect(&mut reassembly, &[*byte]).unwrap());
        }
        assert_eq!(seen, [long]);
    }

    #[test]
    fn rejects_a_size_below_the_headers() {
        for size in 0..12_u16 {
            let mut bytes = frame(12, 0);
            bytes[..2].copy_from_slice(&size.to_le_bytes());
            for cut in 0..4 {
                let mut reassembly = Reassembly::new();
                assert_eq!(collect(&mut reassembly, &bytes[..cut]), Ok(vec![]));
                assert_eq!(
                    collect(&mut reassembly, &bytes[cut..]),
                    Err(FramingError::MessageSize(size))
                );
                assert_eq!(reassembly.buffered(), 0);
            }
        }
    }

    #[test]
    fn rejects_another_encoding() {
        let mut bytes = frame(12, 0);
        bytes[2..4].copy_from_slice(&[0xCA, 0xFE]);
        let error = collect(&mut Reassembly::new(), &bytes);
        assert_eq!(error, Err(FramingError::EncodingType(0xFECA)));
    }

    #[test]
    fn break_drops_the_rest_of_the_input() {
        let stream = [frame(12, 1), frame(12, 2), frame(12, 3)].concat();
        for cut in 0..stream.len() {
            let mut reassembly = Reassembly::new();
            let mut count = 0;
            for part in [&stream[..cut], &stream[cut..]] {
                reassembly
                    .feed(part, |_| {
                        count += 1;
                        ControlFlow::Break(())
                    })
                    .unwrap();
                if count == 1 {
                    break;
                }
            }
            assert_eq!((count, reassembly.buffered()), (1, 0), "cut at {cut}");
        }
    }
}
