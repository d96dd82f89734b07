//! Packets out of a stream of bytes.
//!
//! ```text
//! length u16 | packet of that many bytes | length u16 | packet …      all little-endian
//! ```

use core::ops::Range;

use hairpin_mdp3::{Feed, PacketHeader, TemplateIds};

use crate::FrameError;

/// Bytes of the length before each packet.
const LENGTH_PREFIX: usize = 2;

/// Takes chunks of a stream, cut anywhere, and gives out packets where they lie. Only a packet
/// that is spread over chunks is put together first.
///
/// Whoever takes the packets may refuse one: then it is kept, with all that came in its chunk, and
/// given out anew by [`Frames::resume`].
#[derive(Debug)]
pub(crate) struct Frames {
    /// The beginning of a packet, its length included, whose end has not come.
    partial: Box<[u8]>,
    filled: usize,
    /// What was refused: a packet behind its length, and what came after it.
    refused: Box<[u8]>,
    rest: Range<usize>,
}

impl Frames {
    /// For packets of up to `max_packet` bytes in chunks of up to `max_chunk`.
    pub(crate) fn new(max_packet: usize, max_chunk: usize) -> Self {
        let max_frame = LENGTH_PREFIX + max_packet.min(usize::from(u16::MAX));
        Self {
            partial: vec![0; max_frame].into(),
            filled: 0,
            refused: vec![0; max_frame + max_chunk].into(),
            rest: 0..0,
        }
    }

    /// Gives every packet that is complete with `bytes` to `take`, until that refuses one by
    /// returning false. May be called only while nothing is refused.
    ///
    /// # Errors
    /// The first length that no packet has; packets before it have been given out. Begin anew with
    /// [`Frames::clear`].
    #[inline]
    pub(crate) fn handle_bytes(
        &mut self,
        mut bytes: &[u8],
        mut take: impl FnMut(&[u8]) -> bool,
    ) -> Result<(), FrameError> {
        if self.filled > 0 {
            let Some(rest) = self.complete(bytes, &mut take)? else { return Ok(()) };
            bytes = rest;
        }
        let max = self.max_packet();
        while let Some((packet, behind)) = split(bytes, max)? {
            if !take(packet) {
                self.refuse(&[], bytes);
                return Ok(());
            }
            bytes = behind;
        }
        self.keep(bytes);
        Ok(())
    }

    /// The packet that was refused.
    #[inline]
    pub(crate) fn refused(&self) -> Option<&[u8]> {
        // A whole packet with its length, since it has been given out once.
        (!self.rest.is_empty()).then(|| {
            let (length, rest) = self.refused[self.rest.clone()].split_at(LENGTH_PREFIX);
            &rest[..usize::from(u16::from_le_bytes([length[0], length[1]]))]
        })
    }

    /// Gives out anew what was refused, and what came with it, like [`Frames::handle_bytes`].
    ///
    /// # Errors
    /// The same.
    pub(crate) fn resume(&mut self, mut take: impl FnMut(&[u8]) -> bool) -> Result<(), FrameError> {
        let max = self.max_packet();
        while let Some((packet, behind)) = split(&self.refused[self.rest.clone()], max)? {
            if !take(packet) {
                return Ok(());
            }
            self.rest.start = self.rest.end - behind.len();
        }
        let rest = core::mem::take(&mut self.rest);
        self.filled = rest.len();
        self.partial[..self.filled].copy_from_slice(&self.refused[rest]);
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

    /// Forgets a packet that has begun, and what was refused.
    pub(crate) fn clear(&mut self) {
        self.filled = 0;
        self.rest = 0..0;
    }

    /// Goes on with the packet that has begun; returns what lies behind it, or nothing if it was
    /// refused.
    fn complete<'a>(
        &mut self,
        mut bytes: &'a [u8],
        take: &mut impl FnMut(&[u8]) -> bool,
    ) -> Result<Option<&'a [u8]>, FrameError> {
        while let Some(missing) = self.missing() {
            let Some((taken, rest)) = bytes.split_at_checked(missing) else {
                self.append(bytes);
                return Ok(Some(&[]));
            };
            self.append(taken);
            bytes = rest;
            let length = check([self.partial[0], self.partial[1]], self.max_packet())?;
            let end = LENGTH_PREFIX + length;
            if self.filled == end {
                self.filled = 0;
                if !take(&self.partial[LENGTH_PREFIX..end]) {
                    self.refuse_partial(end, bytes);
                    return Ok(None);
                }
            }
        }
        Ok(Some(bytes))
    }

    fn append(&mut self, bytes: &[u8]) {
        self.partial[self.filled..][..bytes.len()].copy_from_slice(bytes);
        self.filled += bytes.len();
    }

    /// Keeps the beginning of a packet; of nothing, nothing.
    #[inline]
    fn keep(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.append(bytes);
        }
    }

    #[cold]
    fn refuse_partial(&mut self, end: usize, behind: &[u8]) {
        let frame = core::mem::take(&mut self.partial);
        self.refuse(&frame[..end], behind);
        self.partial = frame;
    }

    #[cold]
    fn refuse(&mut self, frame: &[u8], behind: &[u8]) {
        let (first, second) = self.refused.split_at_mut(frame.len());
        first.copy_from_slice(frame);
        second[..behind.len()].copy_from_slice(behind);
        self.rest = 0..frame.len() + behind.len();
    }

    #[inline]
    fn max_packet(&self) -> usize {
        self.partial.len() - LENGTH_PREFIX
    }
}

/// A packet, and what lies behind it.
type Split<'a> = (&'a [u8], &'a [u8]);

/// The packet that `bytes` begin with, if it is there to its end.
#[inline]
fn split(bytes: &[u8], max: usize) -> Result<Option<Split<'_>>, FrameError> {
    let Some((length, rest)) = bytes.split_first_chunk() else { return Ok(None) };
    Ok(rest.split_at_checked(check(*length, max)?))
}

#[inline]
fn check(length: [u8; LENGTH_PREFIX], max: usize) -> Result<usize, FrameError> {
    let length = usize::from(u16::from_le_bytes(length));
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

/// The feed that a packet belongs to, told by the template that the id of its first message stands
/// for: definitions, snapshots, and all else.
#[inline]
pub(crate) fn feed_of(packet: &[u8], templates: &TemplateIds) -> Feed {
    // Behind the packet's header stand MsgSize and the block's length.
    const TEMPLATE: usize = PacketHeader::LENGTH + 4;
    let Some(&[low, high]) = packet.get(TEMPLATE..TEMPLATE + 2) else { return Feed::Incremental };
    match templates.template(u16::from_le_bytes([low, high])) {
        54..=58 | 63 => Feed::Instrument,
        52 | 53 | 69 => Feed::Snapshot,
        _ => Feed::Incremental,
    }
}

/// MsgSeqNum of a packet, which has its header whole.
#[inline]
pub(crate) fn sequence_of(packet: &[u8]) -> u32 {
    packet.first_chunk().map_or(0, |sequence| u32::from_le_bytes(*sequence))
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
                true
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
            let mut frames = Frames::new(MAX, 1_000);
            let (received, outcome) = lengths(&mut frames, bytes.chunks(size));
            assert_eq!((&received[..], outcome), (&sent[..], Ok(())), "chunks of {size}");
            assert_eq!(frames.missing(), None);
        }
        for cut in 0..=bytes.len() {
            let (first, second) = bytes.split_at(cut);
            let (received, outcome) = lengths(&mut Frames::new(MAX, 1_000), [first, second]);
            assert_eq!((&received[..], outcome), (&sent[..], Ok(())), "cut at {cut}");
        }
    }

    #[test]
    fn a_packet_within_a_chunk_is_not_copied() {
        let bytes = stream(&[20, 30, 40]);
        let mut frames = Frames::new(MAX, 1_000);
        let range = bytes.as_ptr_range();
        let mut outside = 0;
        for chunk in [&bytes[..25], &bytes[25..]] {
            let take = |packet: &[u8]| {
                outside += u32::from(!range.contains(&packet.as_ptr()));
                true
            };
            frames.handle_bytes(chunk, take).unwrap();
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
                let (received, outcome) = lengths(&mut Frames::new(MAX, 1_000), bytes.chunks(size));
                assert_eq!((&received[..], outcome), (&[12, 13][..], Err(error)));
            }
        }
    }

    #[test]
    fn it_knows_what_is_missing() {
        let bytes = stream(&[20]);
        let mut frames = Frames::new(MAX, 1_000);
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
    fn what_is_refused_comes_again_with_all_that_came_with_it() {
        let sent = [12, 100, 13, 50, 12, 99, 14];
        let bytes = stream(&sent);
        // Each packet is refused once, or twice, whatever the chunks.
        for (size, times) in (1..=bytes.len()).flat_map(|size| [(size, 1), (size, 2)]) {
            let mut frames = Frames::new(MAX, bytes.len());
            let (mut received, mut refusals) = (Vec::new(), 0);
            let mut take = |packet: &[u8]| {
                assert!(packet.iter().all(|&byte| usize::from(byte) == packet.len()));
                refusals += 1;
                if refusals <= times {
                    return false;
                }
                refusals = 0;
                received.push(packet.len());
                true
            };
            for chunk in bytes.chunks(size) {
                frames.handle_bytes(chunk, &mut take).unwrap();
                while let Some(length) = frames.refused().map(<[u8]>::len) {
                    assert_eq!(frames.refused(), Some(&vec![length as u8; length][..]));
                    frames.resume(&mut take).unwrap();
                }
            }
            assert_eq!((&received[..], frames.missing()), (&sent[..], None), "chunks of {size}");
        }
    }

    #[test]
    fn a_bad_length_behind_what_was_refused_is_told() {
        let bytes = [stream(&[12]), vec![0, 0]].concat();
        let mut frames = Frames::new(MAX, 100);
        frames.handle_bytes(&bytes, |_| false).unwrap();
        assert_eq!(frames.resume(|_| true), Err(FrameError::Empty));
        frames.clear();
        assert_eq!(frames.refused(), None);
    }

    #[test]
    fn a_longest_packet_of_the_format_itself_is_possible() {
        let mut frames = Frames::new(usize::MAX, 1_000);
        let bytes = [&[0xFF, 0xFF][..], &[1; 65_535]].concat();
        let mut count = 0;
        for chunk in bytes.chunks(1_000) {
            let take = |packet: &[u8]| {
                count += packet.len();
                true
            };
            frames.handle_bytes(chunk, take).unwrap();
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
            let feed = feed_of(&packet(template), &TemplateIds::AS_PUBLISHED);
            assert_eq!(feed, expected, "{template}");
        }
        // What was 52 comes as 152 now, and 52 means nothing.
        let other = TemplateIds::AS_PUBLISHED.with(152, 52).with(52, 1_000);
        let feeds = [52, 152, 53].map(|id| feed_of(&packet(id), &other));
        assert_eq!(feeds, [Feed::Incremental, Feed::Snapshot, Feed::Snapshot]);
        assert_eq!(feed_of(&packet(52)[..17], &TemplateIds::AS_PUBLISHED), Feed::Incremental);
        assert_eq!(feed_of(&[], &TemplateIds::AS_PUBLISHED), Feed::Incremental);
    }
}
