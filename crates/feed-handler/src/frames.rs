//! Packets out of a stream of bytes.
//!
//! ```text
//! length u16 | packet of that many bytes | length u16 | packet …      all little-endian
//! ```

use hairpin_mdp3::{Feed, PacketHeader};

use crate::FrameError;

/// Bytes of the length before each packet.
const LENGTH_PREFIX: usize = 2;

/// Takes chunks of a stream, cut anywhere, and gives out packets where they lie. Only a packet
/// that is spread over chunks is put together first.
#[derive(Debug)]
pub(crate) struct Frames {
    /// The beginning of a packet, its length included, whose end has not come.
    partial: Box<[u8]>,
    filled: usize,
}

impl Frames {
    /// For packets of up to `max_packet` bytes.
    pub(crate) fn new(max_packet: usize) -> Self {
        let max_packet = max_packet.min(usize::from(u16::MAX));
        Self { partial: vec![0; LENGTH_PREFIX + max_packet].into(), filled: 0 }
    }

    /// Gives every packet that is complete with `bytes` to `on`.
    ///
    /// # Errors
    /// The first length that no packet has; packets before it have been given out. Begin anew with
    /// [`Frames::clear`].
    #[inline]
    pub(crate) fn handle_bytes(
        &mut self,
        mut bytes: &[u8],
        mut on: impl FnMut(&[u8]),
    ) -> Result<(), FrameError> {
        if self.filled > 0 {
            bytes = self.complete(bytes, &mut on)?;
        }
        while let Some((length, rest)) = bytes.split_first_chunk() {
            let length = self.check(*length)?;
            let Some((packet, behind)) = rest.split_at_checked(length) else { break };
            on(packet);
            bytes = behind;
        }
        // Shorter than a packet with its length; empty if `complete` has taken all.
        if !bytes.is_empty() {
            self.partial[..bytes.len()].copy_from_slice(bytes);
            self.filled = bytes.len();
        }
        Ok(())
    }

    /// Bytes that are missing of a packet that has begun, as far as is known; `None` between
    /// packets.
    pub(crate) fn missing(&self) -> Option<usize> {
        match (self.filled, self.partial.first_chunk::<LENGTH_PREFIX>()) {
            (0, _) => None,
            (LENGTH_PREFIX.., Some(length)) => {
                Some(LENGTH_PREFIX + usize::from(u16::from_le_bytes(*length)) - self.filled)
            }
            _ => Some(LENGTH_PREFIX - self.filled),
        }
    }

    /// Forgets a packet that has begun.
    pub(crate) fn clear(&mut self) {
        self.filled = 0;
    }

    /// Goes on with the packet that has begun; returns what lies behind it.
    fn complete<'a>(
        &mut self,
        mut bytes: &'a [u8],
        on: &mut impl FnMut(&[u8]),
    ) -> Result<&'a [u8], FrameError> {
        while let Some(missing) = self.missing() {
            let Some((taken, rest)) = bytes.split_at_checked(missing) else {
                self.append(bytes);
                return Ok(&[]);
            };
            self.append(taken);
            bytes = rest;
            let [low, high] = [self.partial[0], self.partial[1]];
            let end = LENGTH_PREFIX + self.check([low, high])?;
            if self.filled == end {
                on(&self.partial[LENGTH_PREFIX..end]);
                self.filled = 0;
            }
        }
        Ok(bytes)
    }

    fn append(&mut self, bytes: &[u8]) {
        self.partial[self.filled..][..bytes.len()].copy_from_slice(bytes);
        self.filled += bytes.len();
    }

    #[inline]
    fn check(&self, length: [u8; LENGTH_PREFIX]) -> Result<usize, FrameError> {
        let length = usize::from(u16::from_le_bytes(length));
        let max = self.partial.len() - LENGTH_PREFIX;
        if length > max {
            Err(FrameError::TooLong { length, max })
        } else if length >= PacketHeader::LENGTH {
            Ok(length)
        } else if length == 0 {
            Err(FrameError::Empty)
        } else {
            Err(FrameError::TooShort { length })
        }
    }
}

/// The feed that a packet belongs to, told by the template of its first message: definitions,
/// snapshots, and all else.
#[inline]
pub(crate) fn feed_of(packet: &[u8]) -> Feed {
    // Behind the packet's header stand MsgSize and the block's length.
    const TEMPLATE: usize = PacketHeader::LENGTH + 4;
    match packet.get(TEMPLATE..TEMPLATE + 2) {
        Some(&[54..=58 | 63, 0]) => Feed::Instrument,
        Some(&[52 | 53 | 69, 0]) => Feed::Snapshot,
        _ => Feed::Incremental,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 100;

    /// A packet of `length` bytes, each of them `length`, behind its length.
    fn frame(length: usize) -> Vec<u8> {
        let prefix = u16::try_from(length).unwrap().to_le_bytes();
        [&prefix[..], &vec![length as u8; length]].concat()
    }

    fn stream(lengths: &[usize]) -> Vec<u8> {
        lengths.iter().flat_map(|&length| frame(length)).collect()
    }

    /// What comes out of the chunks.
    fn lengths<'a>(
        frames: &mut Frames,
        chunks: impl IntoIterator<Item = &'a [u8]>,
    ) -> (Vec<usize>, Result<(), FrameError>) {
        let mut lengths = Vec::new();
        for chunk in chunks {
            let outcome = frames.handle_bytes(chunk, |packet| {
                assert!(packet.iter().all(|&byte| usize::from(byte) == packet.len()));
                lengths.push(packet.len());
            });
            if outcome.is_err() {
                return (lengths, outcome);
            }
        }
        (lengths, Ok(()))
    }

    #[test]
    fn any_chunking_gives_the_same_packets() {
        let sent = [12, 100, 13, 50, 12, 99];
        let bytes = stream(&sent);
        for size in 1..=bytes.len() {
            let mut frames = Frames::new(MAX);
            let (received, outcome) = lengths(&mut frames, bytes.chunks(size));
            assert_eq!((&received[..], outcome), (&sent[..], Ok(())), "chunks of {size}");
            assert_eq!(frames.missing(), None);
        }
        for cut in 0..=bytes.len() {
            let (first, second) = bytes.split_at(cut);
            let (received, outcome) = lengths(&mut Frames::new(MAX), [first, second]);
            assert_eq!((&received[..], outcome), (&sent[..], Ok(())), "cut at {cut}");
        }
    }

    #[test]
    fn a_packet_within_a_chunk_is_not_copied() {
        let bytes = stream(&[20, 30, 40]);
        let mut frames = Frames::new(MAX);
        let range = bytes.as_ptr_range();
        let mut outside = 0;
        for chunk in [&bytes[..25], &bytes[25..]] {
            let on = |packet: &[u8]| outside += u32::from(!range.contains(&packet.as_ptr()));
            frames.handle_bytes(chunk, on).unwrap();
        }
        assert_eq!(outside, 1, "only the one that was cut");
    }

    #[test]
    fn a_length_that_no_packet_has_is_told_wherever_it_is_cut() {
        for (length, error) in [
            (0, FrameError::Empty),
            (1, FrameError::TooShort { length: 1 }),
            (11, FrameError::TooShort { length: 11 }),
            (101, FrameError::TooLong { length: 101, max: MAX }),
            (65_535, FrameError::TooLong { length: 65_535, max: MAX }),
        ] {
            let prefix = u16::try_from(length).unwrap().to_le_bytes();
            let bytes = [stream(&[12, 13]), prefix.to_vec(), vec![7; 20]].concat();
            for size in 1..=bytes.len() {
                let (received, outcome) = lengths(&mut Frames::new(MAX), bytes.chunks(size));
                assert_eq!((&received[..], outcome), (&[12, 13][..], Err(error)));
            }
        }
    }

    #[test]
    fn it_knows_what_is_missing() {
        let bytes = stream(&[20]);
        let mut frames = Frames::new(MAX);
        for (filled, missing) in [(1, 1), (2, 20), (3, 19), (21, 1)] {
            frames.clear();
            frames.handle_bytes(&bytes[..filled], |_| panic!("not complete")).unwrap();
            assert_eq!(frames.missing(), Some(missing), "after {filled}");
        }
        frames.clear();
        assert_eq!(frames.missing(), None);
        assert_eq!(lengths(&mut frames, [&bytes[..]]).0, [20]);
    }

    #[test]
    fn a_longest_packet_of_the_format_itself_is_possible() {
        let mut frames = Frames::new(usize::MAX);
        let bytes = [&[0xFF, 0xFF][..], &[1; 65_535]].concat();
        let mut count = 0;
        for chunk in bytes.chunks(1_000) {
            frames.handle_bytes(chunk, |packet| count += packet.len()).unwrap();
        }
        assert_eq!(count, 65_535);
    }

    #[test]
    fn the_first_message_tells_the_feed() {
        let packet = |template: u16| {
            let mut packet = vec![0; 30];
            packet[16..18].copy_from_slice(&template.to_le_bytes());
            packet
        };
        for template in 0..=u16::MAX {
            let expected = match template {
                54 | 55 | 56 | 57 | 58 | 63 => Feed::Instrument,
                52 | 53 | 69 => Feed::Snapshot,
                _ => Feed::Incremental,
            };
            assert_eq!(feed_of(&packet(template)), expected, "{template}");
        }
        assert_eq!(feed_of(&packet(52)[..17]), Feed::Incremental);
        assert_eq!(feed_of(&[]), Feed::Incremental);
    }
}
