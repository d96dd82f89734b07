//! Frames out of a byte stream that is cut anywhere.

use alloc::boxed::Box;
use alloc::vec;
use core::ops::ControlFlow;

use thiserror::Error;

/// Bytes of the Simple Open Framing Header: MessageSize, EncodingType, both uint16 little-endian.
pub const FRAMING_HEADER_LENGTH: usize = 4;
/// EncodingType of CME's SBE 1.0, little-endian: `FE CA` on the wire.
pub const ENCODING_TYPE: u16 = 0xCAFE;
/// The shortest frame: a framing header and an SBE header with an empty block.
pub const FRAME_MIN: usize = FRAMING_HEADER_LENGTH + 8;
/// The longest frame: MessageSize is a uint16 and counts the whole frame.
pub const FRAME_MAX: usize = u16::MAX as usize;

/// A framing header no frame of iLink 3 can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FramingError {
    /// MessageSize is less than the two headers it must count.
    #[error("MessageSize {0} is less than the 12 bytes of the two headers")]
    MessageSize(u16),
    /// EncodingType is not 0xCAFE.
    #[error("EncodingType {0:#06x} is not 0xcafe")]
    EncodingType(u16),
}

/// Cuts a byte stream into frames and keeps the beginning of one that is not whole yet.
///
/// A frame that lies whole in the input is handed on where it lies; only one that a segment
/// boundary has cut is copied, into a buffer sized once for the longest frame there can be.
#[derive(Debug, Default)]
pub struct Reassembly {
    buffer: Box<[u8]>,
    held: usize,
}

impl Reassembly {
    /// An empty reassembly with room for the longest frame.
    #[must_use]
    pub fn new() -> Self {
        Self { buffer: vec![0; FRAME_MAX].into_boxed_slice(), held: 0 }
    }

    /// Bytes kept of a frame that is not whole yet.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held
    }

    /// Whether it holds nothing: the next byte starts a frame.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// Forgets the beginning it holds: the next byte starts a frame.
    pub fn clear(&mut self) {
        self.held = 0;
    }

    /// Takes `input` and calls `on` with each frame that is now whole, framing header included.
    ///
    /// When `on` breaks, the rest of the input is dropped and nothing is held.
    ///
    /// # Errors
    /// [`FramingError`] at the first header that is none. The stream cannot be understood any
    /// more: the rest of the input is dropped.
    #[inline]
    pub fn feed(
        &mut self,
        mut input: &[u8],
        mut on: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), FramingError> {
        if self.held > 0 {
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
        self.hold(input);
        Ok(())
    }

    /// Completes the frame whose beginning is held, as far as `input` reaches.
    #[cold]
    fn complete(
        &mut self,
        input: &mut &[u8],
        on: &mut impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, FramingError> {
        self.fill(FRAMING_HEADER_LENGTH, input);
        let Some(length) = frame_length(&self.buffer[..self.held])? else {
            return Ok(ControlFlow::Continue(()));
        };
        self.fill(length, input);
        if self.held < length {
            return Ok(ControlFlow::Continue(()));
        }
        self.held = 0;
        Ok(on(&self.buffer[..length]))
    }

    /// Moves bytes from `input` until `length` are held or none is left.
    fn fill(&mut self, length: usize, input: &mut &[u8]) {
        let wanted = length.saturating_sub(self.held).min(input.len());
        let (taken, rest) = input.split_at(wanted);
        self.hold(taken);
        *input = rest;
    }

    /// Appends `bytes` to what is held. The caller has bounded them by one frame.
    fn hold(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.buffer[self.held..self.held + bytes.len()].copy_from_slice(bytes);
            self.held += bytes.len();
        }
    }
}

/// The frame that `bytes` begin with, and what is behind it; `None` if it is not whole, or none.
#[inline]
pub(crate) fn whole_frame(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    bytes.split_at_checked(frame_length(bytes).ok().flatten()?)
}

/// The length of the frame that begins with `bytes`, or `None` if its header is not whole yet.
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
/// `length` is at most [`FRAME_MAX`]: every encoder of the schema stays far below it.
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
    fn header_is_little_endian_as_in_the_capture_of_a_sequence() {
        assert_eq!(frame(26, 0)[..4], [0x1a, 0x00, 0xfe, 0xca]);
    }

    #[test]
    fn hands_on_a_whole_frame_where_it_lies() {
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
        assert_eq!(reassembly.held(), 0);
    }

    #[test]
    fn joins_frames_cut_at_every_pair_of_places() {
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
                assert_eq!(reassembly.held(), 0);
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
    fn refuses_a_size_below_the_headers_and_drops_the_rest() {
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
                assert_eq!(reassembly.held(), 0);
            }
        }
    }

    #[test]
    fn refuses_another_encoding() {
        let mut bytes = frame(12, 0);
        bytes[2..4].copy_from_slice(&[0xCA, 0xFE]);
        let error = collect(&mut Reassembly::new(), &bytes);
        assert_eq!(error, Err(FramingError::EncodingType(0xFECA)));
    }

    #[test]
    fn a_break_drops_the_rest_and_holds_nothing() {
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
            assert_eq!((count, reassembly.held()), (1, 0), "cut at {cut}");
        }
    }
}
