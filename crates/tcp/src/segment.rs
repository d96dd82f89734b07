//! The segments of an established connection: parsing, and the options that are written.

use hairpin_wire::{Sum, TcpFlags, TcpHeader, TcpOption};

/// The most blocks of a selective acknowledgment in a segment (RFC 2018 §3).
pub(crate) const BLOCKS: usize = 4;
/// The length of the timestamps option with its padding (RFC 7323 appendix A).
pub(crate) const TIMESTAMPS: usize = 12;
/// The padding and the first two bytes of the timestamps option.
const TIMESTAMPS_START: [u8; 4] = [1, 1, 8, 10];

/// A parsed segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment<'s> {
    pub(crate) sequence: u32,
    pub(crate) acknowledgment: u32,
    /// The window before scaling.
    pub(crate) window: u16,
    pub(crate) flags: TcpFlags,
    /// TSval and TSecr.
    pub(crate) timestamps: Option<(u32, u32)>,
    pub(crate) blocks: [(u32, u32); BLOCKS],
    pub(crate) block_count: usize,
    /// `true` for an option that no established connection sends.
    pub(crate) unexpected_option: bool,
    pub(crate) payload: &'s [u8],
}

/// A segment that is not valid TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

impl<'s> Segment<'s> {
    /// Parses an IP payload. The checksum is not verified.
    #[inline]
    pub(crate) fn parse(bytes: &'s [u8]) -> Result<Self, Malformed> {
        let (header, options, payload) = TcpHeader::parse(bytes).map_err(|_| Malformed)?;
        let mut segment = Self {
            sequence: header.sequence_number(),
            acknowledgment: header.acknowledgement_number(),
            window: header.window(),
            flags: header.flags(),
            timestamps: None,
            blocks: [(0, 0); BLOCKS],
            block_count: 0,
            unexpected_option: false,
            payload,
        };
        let options = options.as_bytes();
        if let &[a, b, c, d, v0, v1, v2, v3, e0, e1, e2, e3] = options
            && [a, b, c, d] == TIMESTAMPS_START
        {
            let value = u32::from_be_bytes([v0, v1, v2, v3]);
            segment.timestamps = Some((value, u32::from_be_bytes([e0, e1, e2, e3])));
        } else if !options.is_empty() {
            segment.parse_options(options)?;
        }
        Ok(segment)
    }

    #[inline(never)]
    fn parse_options(&mut self, options: &[u8]) -> Result<(), Malformed> {
        for option in hairpin_wire::TcpOptions::new(options) {
            match option.map_err(|_| Malformed)? {
                TcpOption::Timestamps { value, echo } => self.timestamps = Some((value, echo)),
                TcpOption::Sack(blocks) => {
                    self.block_count = 0;
                    for (slot, block) in self.blocks.iter_mut().zip(blocks.iter()) {
                        *slot = block;
                        self.block_count += 1;
                    }
                }
                _ => self.unexpected_option = true,
            }
        }
        Ok(())
    }

    pub(crate) fn blocks(&self) -> &[(u32, u32)] {
        &self.blocks[..self.block_count]
    }
}

/// The fields of a segment to write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'b> {
    pub(crate) sequence: u32,
    pub(crate) acknowledgment: u32,
    pub(crate) flags: TcpFlags,
    pub(crate) window: u16,
    pub(crate) timestamps: Option<(u32, u32)>,
    /// The blocks of a selective acknowledgment; empty for no option.
    pub(crate) blocks: &'b [(u32, u32)],
}

impl Fields<'_> {
    /// Returns the length of header and options.
    #[inline]
    pub(crate) fn header_length(&self) -> usize {
        let timestamps = if self.timestamps.is_some() { TIMESTAMPS } else { 0 };
        TcpHeader::SIZE + timestamps + blocks_length(self.blocks.len())
    }

    /// Returns the sum of header and options, without ports and checksum.
    #[inline]
    pub(crate) fn sum(&self) -> Sum {
        let offset = (self.header_length() / 4) as u32;
        let mut sum = Sum::ZERO
            .long_word(self.sequence)
            .long_word(self.acknowledgment)
            .long_word(offset << 28 | u32::from(self.flags.0) << 16 | u32::from(self.window));
        if let Some((value, echo)) = self.timestamps {
            sum = sum.bytes(&TIMESTAMPS_START).long_word(value).long_word(echo);
        }
        if !self.blocks.is_empty() {
            sum = sum.bytes(&blocks_start(self.blocks.len()));
            for &(left, right) in self.blocks {
                sum = sum.long_word(left).long_word(right);
            }
        }
        sum
    }

    /// Writes header and options to the front of `segment`. Returns `false` if it is too short.
    #[inline]
    pub(crate) fn write(&self, ports: [u16; 2], checksum: u16, segment: &mut [u8]) -> bool {
        let length = self.header_length();
        let Some(segment) = segment.get_mut(..length) else { return false };
        let Ok((header, mut rest)) = TcpHeader::split_mut(segment) else { return false };
        header.set_source_port(ports[0]);
        header.set_destination_port(ports[1]);
        header.set_sequence_number(self.sequence);
        header.set_acknowledgement_number(self.acknowledgment);
        header.set_header_length(length);
        header.set_flags(self.flags);
        header.set_window(self.window);
        header.set_checksum(checksum);
        header.set_urgent_pointer(0);
        if let Some((value, echo)) = self.timestamps {
            let Some((option, behind)) = rest.split_first_chunk_mut::<TIMESTAMPS>() else {
                return false;
            };
            option[..4].copy_from_slice(&TIMESTAMPS_START);
            option[4..8].copy_from_slice(&value.to_be_bytes());
            option[8..].copy_from_slice(&echo.to_be_bytes());
            rest = behind;
        }
        if !self.blocks.is_empty() {
            write_blocks(self.blocks, rest);
        }
        true
    }
}

/// Returns the length of an option with this number of blocks and its padding.
#[inline]
pub(crate) const fn blocks_length(blocks: usize) -> usize {
    if blocks == 0 { 0 } else { 4 + 8 * blocks }
}

/// Returns the padding and the first two bytes of an option with this number of blocks.
const fn blocks_start(blocks: usize) -> [u8; 4] {
    [1, 1, 5, 2 + 8 * blocks as u8]
}

#[inline(never)]
fn write_blocks(blocks: &[(u32, u32)], option: &mut [u8]) {
    let Some((start, rest)) = option.split_first_chunk_mut::<4>() else { return };
    *start = blocks_start(blocks.len());
    for ((left, right), block) in blocks.iter().zip(rest.as_chunks_mut::<8>().0) {
        block[..4].copy_from_slice(&left.to_be_bytes());
        block[4..].copy_from_slice(&right.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_options_are_parsed() {
        let blocks = [(1, 2), (5, 9), (u32::MAX, 3)];
        let timestamps = Some((7, 8));
        let (sequence, acknowledgment, window) = (1, 2, 3);
        let flags = TcpFlags::ACK;
        let fields =
            Fields { sequence, acknowledgment, flags, window, timestamps, blocks: &blocks };
        let mut bytes = [0; 60];
        assert!(fields.write([0; 2], 0, &mut bytes));
        assert_eq!(fields.header_length(), 60);
        let segment = Segment::parse(&bytes).unwrap();
        assert_eq!(segment.blocks(), blocks);
        assert_eq!((segment.timestamps, segment.sequence, segment.window), (timestamps, 1, 3));
        assert!(segment.payload.is_empty() && !segment.unexpected_option);
    }

    #[test]
    fn timestamps_alone_take_twelve_bytes() {
        let mut bytes = [0; 36];
        let fields = Fields {
            sequence: 0,
            acknowledgment: 0,
            flags: TcpFlags::ACK,
            window: 0,
            timestamps: Some((0x0102_0304, 0x0506_0708)),
            blocks: &[],
        };
        assert!(fields.write([0; 2], 0, &mut bytes));
        assert_eq!(bytes[20..32], [1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8]);
        let segment = Segment::parse(&bytes).unwrap();
        assert_eq!((segment.payload.len(), segment.timestamps), (4, fields.timestamps));
    }

    #[test]
    fn detects_unknown_and_malformed_options() {
        let mut bytes = [0; 24];
        bytes[12] = 0x60;
        bytes[20..].copy_from_slice(&[30, 4, 0, 0]);
        assert!(Segment::parse(&bytes).unwrap().unexpected_option);
        bytes[21] = 9;
        assert!(Segment::parse(&bytes).is_err());
        assert!(Segment::parse(&bytes[..19]).is_err());
    }
}
