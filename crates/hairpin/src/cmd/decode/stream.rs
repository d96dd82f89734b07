//! One direction of a TCP connection, reassembled from its segments.

use super::Framing;

/// The most segments kept while one is missing: a sender with a whole window in flight repeats it
/// long before.
const MOST_WAITING: usize = 1_024;
/// The most bytes of such segments.
const MOST_BYTES: usize = 4 << 20;

/// A stream: the bytes that do not yet form complete frames.
///
/// Segments may arrive in any order and more than once. Missing bytes are awaited until too many
/// follow them, or until the capture ends. A capture may begin within a connection: the stream then
/// begins with its first segment.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// The framing of its messages, once detected.
    pub(super) framing: Option<Framing>,
    /// Sequence number and sending time of the current packet, if a packet has begun.
    pub(super) packet: Option<(u32, u64)>,
    /// The stream is ignored: its framing is unknown, which was reported, or it is text.
    pub(super) is_foreign: bool,
    /// The sequence number after the SYN.
    began: Option<u32>,
    next: Option<u32>,
    bytes: Vec<u8>,
    /// Early segments, by sequence number.
    waiting: Vec<(u32, Vec<u8>)>,
    waiting_bytes: usize,
}

impl Stream {
    /// Handles a segment whose first byte, or SYN, has this sequence number. If missing bytes are
    /// given up, returns their number; the stream continues after them.
    pub(super) fn push(&mut self, sequence: u32, is_syn: bool, bytes: &[u8]) -> Option<u32> {
        let start = sequence.wrapping_add(u32::from(is_syn));
        if is_syn && self.began != Some(start) {
            *self = Self { began: Some(start), ..Self::default() };
        }
        let next = *self.next.get_or_insert(start);
        // A probe of an idle connection carries a byte that was sent before, or none.
        let ahead = start.wrapping_sub(next).cast_signed();
        if ahead > 0 && !bytes.is_empty() {
            return self.keep(start, bytes);
        }
        self.append(start, bytes);
        self.take_waiting();
        None
    }

    /// Gives up the bytes missing before the waiting segments, and returns their number. Called at
    /// the end, until it returns `None`.
    pub(super) fn give_up(&mut self) -> Option<u32> {
        let next = self.next?;
        let ahead = |start: u32| start.wrapping_sub(next);
        let start =
            self.waiting.iter().map(|(start, _)| *start).min_by_key(|start| ahead(*start))?;
        self.bytes.clear();
        self.packet = None;
        self.next = Some(start);
        self.take_waiting();
        Some(ahead(start))
    }

    /// Returns the bytes not yet consumed.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Drops the first `count` bytes.
    pub(super) fn consume(&mut self, count: usize) {
        self.bytes.drain(..count);
    }

    /// Keeps an early segment, unless one of at least its length with the same start is kept.
    fn keep(&mut self, start: u32, bytes: &[u8]) -> Option<u32> {
        let is_kept = |(other, kept): &(u32, Vec<u8>)| *other == start && kept.len() >= bytes.len();
        if !self.waiting.iter().any(is_kept) {
            self.waiting.push((start, bytes.to_vec()));
            self.waiting_bytes += bytes.len();
        }
        let is_too_much = self.waiting.len() > MOST_WAITING || self.waiting_bytes > MOST_BYTES;
        if is_too_much { self.give_up() } else { None }
    }

    /// Appends the new part of a segment that begins at or before the end of the stream.
    fn append(&mut self, start: u32, bytes: &[u8]) {
        let next = self.next.unwrap_or(start);
        let known = (next.wrapping_sub(start) as usize).min(bytes.len());
        let fresh = &bytes[known..];
        self.bytes.extend_from_slice(fresh);
        self.next = Some(next.wrapping_add(fresh.len() as u32));
    }

    /// Appends the segments that are now in order.
    fn take_waiting(&mut self) {
        while let Some(next) = self.next
            && let Some(index) = self
                .waiting
                .iter()
                .position(|(start, _)| start.wrapping_sub(next).cast_signed() <= 0)
        {
            let (start, bytes) = self.waiting.swap_remove(index);
            self.waiting_bytes -= bytes.len();
            self.append(start, &bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn puts_segments_together_across_the_wrap() {
        let mut stream = Stream::default();
        assert_eq!(stream.push(u32::MAX - 1, false, &[1, 2, 3]), None);
        assert_eq!(stream.push(1, false, &[4]), None);
        assert_eq!(stream.bytes(), [1, 2, 3, 4]);
        stream.consume(3);
        assert_eq!(stream.bytes(), [4]);
    }

    #[test]
    fn skips_bytes_sent_before() {
        let mut stream = Stream::default();
        stream.push(10, true, &[]);
        assert_eq!(stream.push(11, false, &[1, 2]), None);
        assert_eq!(stream.push(11, false, &[1, 2]), None);
        assert_eq!(stream.push(12, false, &[2, 3]), None);
        assert_eq!(stream.bytes(), [1, 2, 3]);
        stream.push(10, true, &[]);
        assert_eq!(stream.bytes(), [1, 2, 3], "a repeated SYN");
        stream.push(99, true, &[]);
        stream.push(100, false, &[7]);
        assert_eq!(stream.bytes(), [7], "a new connection");
    }

    #[test]
    fn keeps_early_segments() {
        let mut stream = Stream::default();
        stream.push(u32::MAX, false, &[1]);
        assert_eq!(stream.push(2, false, &[4, 5]), None);
        assert_eq!(stream.push(1, false, &[3]), None);
        assert_eq!(stream.push(2, false, &[4]), None);
        assert_eq!(stream.bytes(), [1]);
        assert_eq!(stream.push(0, false, &[2]), None);
        assert_eq!(stream.bytes(), [1, 2, 3, 4, 5]);
        assert_eq!((stream.waiting.len(), stream.waiting_bytes), (0, 0));
        assert_eq!(stream.give_up(), None);
    }

    #[test]
    fn begins_anew_behind_what_is_given_up() {
        let mut stream = Stream::default();
        stream.push(0, false, &[1]);
        assert_eq!(stream.push(9, false, &[11]), None);
        assert_eq!(stream.push(5, false, &[9]), None);
        assert_eq!(stream.give_up(), Some(4));
        assert_eq!(stream.bytes(), [9]);
        assert_eq!(stream.push(6, false, &[10]), None);
        assert_eq!(stream.bytes(), [9, 10]);
        assert_eq!(stream.give_up(), Some(2));
        assert_eq!(stream.bytes(), [11]);
        assert_eq!(stream.give_up(), None);
    }

    #[test]
    fn gives_up_missing_bytes_after_limit() {
        let mut stream = Stream::default();
        stream.push(0, false, &[1]);
        for index in 0..MOST_WAITING as u32 {
            assert_eq!(stream.push(2 + index, false, &[2]), None);
        }
        assert_eq!(stream.push(2 + MOST_WAITING as u32, false, &[2]), Some(1));
        assert_eq!(stream.bytes().len(), MOST_WAITING + 1);
    }

    #[test]
    fn ignores_bare_acknowledgments() {
        let mut stream = Stream::default();
        stream.push(0, false, &[1]);
        assert_eq!(stream.push(7, false, &[]), None);
        assert_eq!(stream.push(1, false, &[2]), None);
        assert_eq!(stream.give_up(), None);
    }

    proptest! {
        #[test]
        fn segments_in_any_order_and_repeated_are_the_stream(
            start: u32,
            cuts in prop::collection::vec(0_usize..200, 1..12),
            order in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
        ) {
            let whole: Vec<u8> = (0..200).collect();
            let mut cuts = [&[0, 200][..], &cuts].concat();
            cuts.sort_unstable();
            let mut segments: Vec<_> = cuts.windows(2).map(|ends| (ends[0], ends[1])).collect();
            for pair in order.chunks_exact(2) {
                let (one, other) = (pair[0].index(segments.len()), pair[1].index(segments.len()));
                segments.swap(one, other);
                // Repeated, joined with what follows.
                let (from, to) = segments[one];
                segments.push((from, (to + 7).min(200)));
            }
            let mut stream = Stream::default();
            stream.push(start, true, &[]);
            for (from, to) in segments {
                let at = start.wrapping_add(1 + from as u32);
                prop_assert_eq!(stream.push(at, false, &whole[from..to]), None);
            }
            prop_assert_eq!(stream.bytes(), &whole[..]);
            prop_assert_eq!(stream.give_up(), None);
        }
    }
}
