//! The framing of packets in a TCP stream.
//!
//! ```text
//! length u16 | packet of that many bytes | length u16 | packet …      all little-endian
//! ```

use core::ops::Range;

use hairpin_mdp3::{Feed, PacketHeader, TemplateIds};

use crate::FrameError;

/// The bytes of the length prefix of each packet.
const LENGTH_PREFIX: usize = 2;

/// A decoder of length-prefixed packets. Accepts chunks of any size and passes packets on in place.
/// Copies only packets that span chunks.
///
/// The consumer may defer a packet. The decoder then stores it with the rest of its chunk, and
/// [`FrameDecoder::resume`] offers it again.
#[derive(Debug)]
pub(crate) struct FrameDecoder {
    /// The start of an incomplete packet, with its length prefix.
    partial: Box<[u8]>,
    filled: usize,
    /// A deferred packet with its length prefix, and the bytes received after it.
    deferred: Box<[u8]>,
    rest: Range<usize>,
}

impl FrameDecoder {
    /// Creates a decoder for packets of up to `max_packet` bytes in chunks of up to `max_chunk`.
    pub(crate) fn new(max_packet: usize, max_chunk: usize) -> Self {
        let max_frame = LENGTH_PREFIX + max_packet.min(usize::from(u16::MAX));
        Self {
            partial: vec![0; max_frame].into(),
            filled: 0,
            deferred: vec![0; max_frame + max_chunk].into(),
            rest: 0..0,
        }
    }

    /// Passes every packet completed by `bytes` to `accept`, until `accept` returns `false` to
    /// defer one. Call only while no packet is deferred.
    ///
    /// # Errors
    /// The first invalid length; packets before it have been passed on. Restart with
    /// [`FrameDecoder::clear`].
    #[inline]
    pub(crate) fn handle_bytes(
        &mut self,
        mut bytes: &[u8],
        mut accept: impl FnMut(&[u8]) -> bool,
    ) -> Result<(), FrameError> {
        if self.filled > 0 {
            let Some(rest) = self.complete_partial(bytes, &mut accept)? else { return Ok(()) };
            bytes = rest;
        }
        let max = self.max_packet();
        while let Some((packet, rest)) = split(bytes, max)? {
            if !accept(packet) {
                self.defer(&[], bytes);
                return Ok(());
            }
            bytes = rest;
        }
        self.store_partial(bytes);
        Ok(())
    }

    /// Returns the deferred packet.
    #[inline]
    pub(crate) fn deferred(&self) -> Option<&[u8]> {
        // A complete packet with its length prefix, because it was offered once.
        (!self.rest.is_empty()).then(|| {
            let (length, rest) = self.deferred[self.rest.clone()].split_at(LENGTH_PREFIX);
            &rest[..usize::from(u16::from_le_bytes([length[0], length[1]]))]
        })
    }

    /// Offers the deferred packet and the bytes after it again, like
    /// [`FrameDecoder::handle_bytes`].
    ///
    /// # Errors
    /// The errors of [`FrameDecoder::handle_bytes`].
    pub(crate) fn resume(
        &mut self,
        mut accept: impl FnMut(&[u8]) -> bool,
    ) -> Result<(), FrameError> {
        let max = self.max_packet();
        while let Some((packet, rest)) = split(&self.deferred[self.rest.clone()], max)? {
            if !accept(packet) {
                return Ok(());
            }
            self.rest.start = self.rest.end - rest.len();
        }
        let rest = core::mem::take(&mut self.rest);
        self.filled = rest.len();
        self.partial[..self.filled].copy_from_slice(&self.deferred[rest]);
        Ok(())
    }

    /// Returns the missing bytes of the incomplete packet, as far as its length is known, or `None`
    /// between packets.
    pub(crate) fn missing(&self) -> Option<usize> {
        match (self.filled, self.partial.first_chunk::<LENGTH_PREFIX>()) {
            (0, _) => None,
            (LENGTH_PREFIX.., Some(length)) => {
                Some(LENGTH_PREFIX + usize::from(u16::from_le_bytes(*length)) - self.filled)
            }
            _ => Some(LENGTH_PREFIX - self.filled),
        }
    }

    /// Discards the incomplete packet and the deferred bytes.
    pub(crate) fn clear(&mut self) {
        self.filled = 0;
        self.rest = 0..0;
    }

    /// Continues the incomplete packet. Returns the bytes after it, or `None` if the packet was
    /// deferred.
    fn complete_partial<'a>(
        &mut self,
        mut bytes: &'a [u8],
        accept: &mut impl FnMut(&[u8]) -> bool,
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
                if !accept(&self.partial[LENGTH_PREFIX..end]) {
                    self.defer_partial(end, bytes);
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

    /// Stores the start of a packet. Does nothing if `bytes` is empty.
    #[inline]
    fn store_partial(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.append(bytes);
        }
    }

    #[cold]
    fn defer_partial(&mut self, end: usize, rest: &[u8]) {
        let frame = core::mem::take(&mut self.partial);
        self.defer(&frame[..end], rest);
        self.partial = frame;
    }

    #[cold]
    fn defer(&mut self, frame: &[u8], rest: &[u8]) {
        let (first, second) = self.deferred.split_at_mut(frame.len());
        first.copy_from_slice(frame);
        second[..rest.len()].copy_from_slice(rest);
        self.rest = 0..frame.len() + rest.len();
    }

    #[inline]
    fn max_packet(&self) -> usize {
        self.partial.len() - LENGTH_PREFIX
    }
}

/// A packet and the bytes after it.
type Split<'a> = (&'a [u8], &'a [u8]);

/// Splits off the first packet, or returns `None` if it is incomplete.
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

/// Returns the feed that a packet belongs to, from the template of its first message: definitions,
/// snapshots, or incremental for all others. `templates` maps wire ids to templates.
#[inline]
pub(crate) fn packet_feed(packet: &[u8], templates: &TemplateIds) -> Feed {
    // MsgSize and the block length follow the packet header.
    const TEMPLATE: usize = PacketHeader::LENGTH + 4;
    let Some(&[low, high]) = packet.get(TEMPLATE..TEMPLATE + 2) else { return Feed::Incremental };
    match templates.template(u16::from_le_bytes([low, high])) {
        54..=58 | 63 => Feed::Instrument,
        52 | 53 | 69 => Feed::Snapshot,
        _ => Feed::Incremental,
    }
}

/// Returns MsgSeqNum of a packet with a complete header.
#[inline]
pub(crate) fn packet_sequence(packet: &[u8]) -> u32 {
    packet.first_chunk().map_or(0, |sequence| u32::from_le_bytes(*sequence))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 100;

    /// Returns a packet of `length` bytes with its length prefix. Every byte has the value
    /// `length`.
    fn frame(length: usize) -> Vec<u8> {
        let prefix = u16::try_from(length).unwrap().to_le_bytes();
        [&prefix[..], &vec![length as u8; length]].concat()
    }

    fn stream(lengths: &[usize]) -> Vec<u8> {
        lengths.iter().flat_map(|&length| frame(length)).collect()
    }

    /// Returns the lengths of the packets decoded from the chunks.
    fn lengths<'a>(
        frames: &mut FrameDecoder,
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
            let mut frames = FrameDecoder::new(MAX, 1_000);
            let (received, outcome) = lengths(&mut frames, bytes.chunks(size));
            assert_eq!((&received[..], outcome), (&sent[..], Ok(())), "chunks of {size}");
            assert_eq!(frames.missing(), None);
        }
        for cut in 0..=bytes.len() {
            let (first, second) = bytes.split_at(cut);
            let (received, outcome) = lengths(&mut FrameDecoder::new(MAX, 1_000), [first, second]);
            assert_eq!((&received[..], outcome), (&sent[..], Ok(())), "cut at {cut}");
        }
    }

    #[test]
    fn packet_within_a_chunk_is_not_copied() {
        let bytes = stream(&[20, 30, 40]);
        let mut frames = FrameDecoder::new(MAX, 1_000);
        let range = bytes.as_ptr_range();
        let mut outside = 0;
        for chunk in [&bytes[..25], &bytes[25..]] {
            let accept = |packet: &[u8]| {
                outside += u32::from(!range.contains(&packet.as_ptr()));
                true
            };
            frames.handle_bytes(chunk, accept).unwrap();
        }
        assert_eq!(outside, 1, "only the packet that spans both chunks");
    }

    #[test]
    fn rejects_invalid_length_at_any_chunking() {
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
                let (received, outcome) =
                    lengths(&mut FrameDecoder::new(MAX, 1_000), bytes.chunks(size));
                assert_eq!((&received[..], outcome), (&[12, 13][..], Err(error)));
            }
        }
    }

    #[test]
    fn reports_missing_bytes_of_a_partial_packet() {
        let bytes = stream(&[20]);
        let mut frames = FrameDecoder::new(MAX, 1_000);
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
    fn deferred_packet_is_offered_again_with_the_bytes_after_it() {
        let sent = [12, 100, 13, 50, 12, 99, 14];
        let bytes = stream(&sent);
        // Every packet is deferred once or twice, at every chunk size.
        for (size, times) in (1..=bytes.len()).flat_map(|size| [(size, 1), (size, 2)]) {
            let mut frames = FrameDecoder::new(MAX, bytes.len());
            let (mut received, mut deferrals) = (Vec::new(), 0);
            let mut accept = |packet: &[u8]| {
                assert!(packet.iter().all(|&byte| usize::from(byte) == packet.len()));
                deferrals += 1;
                if deferrals <= times {
                    return false;
                }
                deferrals = 0;
                received.push(packet.len());
                true
            };
            for chunk in bytes.chunks(size) {
                frames.handle_bytes(chunk, &mut accept).unwrap();
                while let Some(length) = frames.deferred().map(<[u8]>::len) {
                    assert_eq!(frames.deferred(), Some(&vec![length as u8; length][..]));
                    frames.resume(&mut accept).unwrap();
                }
            }
            assert_eq!((&received[..], frames.missing()), (&sent[..], None), "chunks of {size}");
        }
    }

    #[test]
    fn resume_reports_invalid_length_after_a_deferred_packet() {
        let bytes = [stream(&[12]), vec![0, 0]].concat();
        let mut frames = FrameDecoder::new(MAX, 100);
        frames.handle_bytes(&bytes, |_| false).unwrap();
        assert_eq!(frames.resume(|_| true), Err(FrameError::Empty));
        frames.clear();
        assert_eq!(frames.deferred(), None);
    }

    #[test]
    fn accepts_the_longest_packet_of_the_format() {
        let mut frames = FrameDecoder::new(usize::MAX, 1_000);
        let bytes = [&[0xFF, 0xFF][..], &[1; 65_535]].concat();
        let mut count = 0;
        for chunk in bytes.chunks(1_000) {
            let accept = |packet: &[u8]| {
                count += packet.len();
                true
            };
            frames.handle_bytes(chunk, accept).unwrap();
        }
        assert_eq!(count, 65_535);
    }

    #[test]
    fn first_message_determines_the_feed() {
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
            let feed = packet_feed(&packet(template), &TemplateIds::AS_PUBLISHED);
            assert_eq!(feed, expected, "{template}");
        }
        // Wire id 152 maps to template 52, and wire id 52 to an unrelated template.
        let other = TemplateIds::AS_PUBLISHED.with(152, 52).with(52, 1_000);
        let feeds = [52, 152, 53].map(|id| packet_feed(&packet(id), &other));
        assert_eq!(feeds, [Feed::Incremental, Feed::Snapshot, Feed::Snapshot]);
        assert_eq!(packet_feed(&packet(52)[..17], &TemplateIds::AS_PUBLISHED), Feed::Incremental);
        assert_eq!(packet_feed(&[], &TemplateIds::AS_PUBLISHED), Feed::Incremental);
    }
}
