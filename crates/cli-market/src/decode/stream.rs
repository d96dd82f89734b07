//! One direction of a TCP connection, reassembled from its segments.

use std::collections::VecDeque;

/// The most segments kept while one is missing: a sender with a whole window in flight repeats it
/// long before.
const MOST_WAITING: usize = 1_024;
/// The most bytes of such segments.
const MOST_BYTES: usize = 4 << 20;
/// The bytes of a stream that are kept for comparison with segments captured again: more than is in
/// flight on a fast path across an ocean.
const HISTORY_BYTES: usize = 1 << 20;
/// The most segments kept for comparison.
const HISTORY_SEGMENTS: usize = 4_096;
/// The most bytes by which a segment may be ahead: the largest window that is in use.
const MOST_AHEAD: i32 = 64 << 20;

/// A captured segment: its bytes, and the number of those that the capture truncated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    /// The sequence number of the first byte.
    pub(super) start: u32,
    pub(super) bytes: Vec<u8>,
    pub(super) missing: u32,
    /// The number of the packet in the capture.
    pub(super) packet: u64,
}

/// The relation of a segment to a stream, the best one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// The segment begins where the stream ends, or repeats known bytes before.
    Next,
    /// The segment repeats known bytes, or probes an idle connection.
    Repeated,
    /// So many bytes before the segment are missing.
    Ahead(u32),
    /// The segment belongs to another connection with the same ports.
    Foreign,
}

/// A change of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Bytes were appended.
    Bytes,
    /// Bytes before the next ones are missing: their number, and the packet of the next ones.
    Gap(u32, u64),
}

/// The bytes of a stream that do not yet form complete frames.
///
/// Segments may arrive in any order and more than once. Missing bytes are awaited until too many
/// follow them, or until the capture ends.
#[derive(Debug)]
pub(super) struct Stream {
    /// The sequence number after the SYN.
    began: Option<u32>,
    /// The sequence number of the first byte.
    first: u32,
    next: u32,
    /// The connection was reset: only its missing bytes may follow.
    is_reset: bool,
    /// The sequence number of the FIN.
    fin: Option<u32>,
    is_forgotten: bool,
    bytes: Vec<u8>,
    /// The leading part of `bytes` that was consumed.
    consumed: usize,
    /// Early segments.
    waiting: Vec<Segment>,
    waiting_bytes: usize,
    /// Truncated bytes after the last ones, and the packet that lacks them.
    hole: Option<(u32, u64)>,
    /// The last segments that were appended.
    history: VecDeque<(u32, Vec<u8>)>,
    history_bytes: usize,
    /// The number of bytes appended so far.
    appended: u64,
    /// The ends of the segments with unconsumed bytes, as counts of appended bytes, with the
    /// packets.
    ends: VecDeque<(u64, u64)>,
}

impl Stream {
    /// Creates a stream whose first byte has this sequence number.
    pub(super) fn new(first: u32, has_syn: bool) -> Self {
        Self {
            began: has_syn.then_some(first),
            first,
            next: first,
            is_reset: false,
            fin: None,
            is_forgotten: false,
            bytes: Vec::new(),
            consumed: 0,
            waiting: Vec::new(),
            waiting_bytes: 0,
            hole: None,
            history: VecDeque::new(),
            history_bytes: 0,
            appended: 0,
            ends: VecDeque::new(),
        }
    }

    /// Returns `true` if a SYN before this sequence number is the stream's. A stream may have begun
    /// without its SYN, if that was captured late. After its end, a SYN is another connection's.
    pub(super) fn has_syn(&self, start: u32) -> bool {
        !self.is_finished() && self.began.unwrap_or(self.first) == start
    }

    /// Returns `true` after a FIN or a reset.
    pub(super) fn is_finished(&self) -> bool {
        self.is_reset || self.fin.is_some()
    }

    /// Forgets the bytes, and waits for no missing ones from now on: the stream is not decoded.
    pub(super) fn forget(&mut self) {
        self.is_forgotten = true;
        self.history.clear();
        self.history_bytes = 0;
        self.consume(self.bytes().len());
    }

    /// Compares a segment with the stream.
    pub(super) fn fit(&self, start: u32, bytes: &[u8]) -> Fit {
        let ahead = start.wrapping_sub(self.next).cast_signed();
        let is_after_fin = self.fin.is_some_and(|fin| start.wrapping_sub(fin).cast_signed() >= 0);
        match ahead {
            0 if !is_after_fin => Fit::Next,
            0.. if self.is_reset || is_after_fin || ahead > MOST_AHEAD => Fit::Foreign,
            0.. => Fit::Ahead(ahead.unsigned_abs()),
            // A keep-alive probe repeats the last byte, with any value, and may be captured late.
            -1 if bytes.len() <= 1 => Fit::Repeated,
            _ if bytes.is_empty() => Fit::Repeated,
            _ => self.fit_of_repeated(start, ahead.unsigned_abs() as usize, bytes),
        }
    }

    /// Compares a segment that begins `behind` bytes before the end of the stream.
    fn fit_of_repeated(&self, start: u32, behind: usize, bytes: &[u8]) -> Fit {
        let known = bytes.len().min(behind);
        let is_known = match self.is_forgotten {
            true => behind <= HISTORY_BYTES,
            false if bytes.len() == 1 => behind <= self.history_bytes,
            false => self.is_known(start, &bytes[..known]),
        };
        match is_known {
            true if known < bytes.len() => Fit::Next,
            true => Fit::Repeated,
            false => Fit::Foreign,
        }
    }

    /// Returns `true` if the history contains these bytes.
    fn is_known(&self, start: u32, bytes: &[u8]) -> bool {
        let mut equal = 0;
        for (from, kept) in self.history.iter().rev() {
            // The beginning of the kept segment, counted from the beginning of `bytes`.
            let offset = i64::from(from.wrapping_sub(start).cast_signed());
            let (begin, end) =
                (offset.max(0), (offset + kept.len() as i64).min(bytes.len() as i64));
            if begin >= end {
                continue;
            }
            let (begin, end) = (begin as usize, end as usize);
            let kept = &kept[(begin as i64 - offset) as usize..];
            if bytes[begin..end] != kept[..end - begin] {
                return false;
            }
            equal += end - begin;
            if equal >= bytes.len() {
                return true;
            }
        }
        false
    }

    /// Takes a segment, which [`Stream::change`] then handles.
    pub(super) fn push(&mut self, segment: Segment) {
        if segment.bytes.is_empty() && segment.missing == 0 {
            return;
        }
        let is_kept = |kept: &Segment| {
            kept.start == segment.start
                && kept.bytes.len() >= segment.bytes.len()
                && kept.missing <= segment.missing
        };
        if !self.waiting.iter().any(is_kept) {
            self.waiting_bytes += segment.bytes.len();
            self.waiting.push(segment);
        }
    }

    /// Records the end of the stream at a FIN with this sequence number.
    pub(super) fn finish(&mut self, at: u32) {
        self.fin = self.fin.or(Some(at));
    }

    /// Records a reset.
    pub(super) fn reset(&mut self) {
        self.is_reset = true;
    }

    /// Returns the next change: bytes in order, or a gap that is given up because too many segments
    /// follow it, or because none are awaited with `is_final`.
    pub(super) fn change(&mut self, is_final: bool) -> Option<Change> {
        if let Some((missing, packet)) = self.hole.take() {
            self.next = self.next.wrapping_add(missing);
            return Some(Change::Gap(missing, packet));
        }
        let next = self.next;
        let ahead = |segment: &Segment| segment.start.wrapping_sub(next).cast_signed();
        let (place, first) =
            self.waiting.iter().enumerate().min_by_key(|(_, segment)| ahead(segment))?;
        let missing = ahead(first);
        if missing > 0 {
            let is_too_much = self.is_forgotten
                || self.waiting.len() > MOST_WAITING
                || self.waiting_bytes > MOST_BYTES;
            if !is_too_much && !is_final {
                return None;
            }
            let packet = first.packet;
            self.next = first.start;
            return Some(Change::Gap(missing.unsigned_abs(), packet));
        }
        let segment = self.waiting.swap_remove(place);
        self.waiting_bytes -= segment.bytes.len();
        self.append(segment);
        Some(Change::Bytes)
    }

    /// Appends the new part of a segment that begins at or before the end of the stream.
    fn append(&mut self, segment: Segment) {
        let Segment { start, mut bytes, missing, packet } = segment;
        let known = self.next.wrapping_sub(start) as usize;
        let lacking = (bytes.len() + missing as usize).saturating_sub(known);
        bytes.drain(..known.min(bytes.len()));
        self.bytes.extend_from_slice(&bytes);
        let length = bytes.len();
        if length > 0 {
            self.appended += length as u64;
            self.ends.push_back((self.appended, packet));
        }
        if length > 0 && !self.is_forgotten {
            self.history_bytes += length;
            self.history.push_back((self.next, bytes));
        }
        while self.history_bytes > HISTORY_BYTES || self.history.len() > HISTORY_SEGMENTS {
            let Some((_, oldest)) = self.history.pop_front() else { break };
            self.history_bytes -= oldest.len();
        }
        self.next = self.next.wrapping_add(length as u32);
        if missing > 0 && lacking > length {
            self.hole = Some(((lacking - length) as u32, packet));
        }
    }

    /// Returns the packet of the first segment that waits for missing bytes.
    pub(super) fn first_waiting(&self) -> Option<u64> {
        self.waiting.iter().map(|segment| segment.packet).min()
    }

    /// Returns the bytes not yet consumed.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[self.consumed..]
    }

    /// Returns the packet with the last of the first `count` bytes: 0 without bytes.
    pub(super) fn packet_at(&self, count: usize) -> u64 {
        let end = self.position() + count as u64;
        let place = self.ends.partition_point(|&(other, _)| other < end);
        self.ends.get(place).map_or(0, |&(_, packet)| packet)
    }

    /// Returns the number of bytes appended before the unconsumed ones.
    fn position(&self) -> u64 {
        self.appended - self.bytes().len() as u64
    }

    /// Drops the first `count` bytes.
    pub(super) fn consume(&mut self, count: usize) {
        self.consumed += count;
        let position = self.position();
        while self.ends.front().is_some_and(|&(end, _)| end <= position) {
            self.ends.pop_front();
        }
        if self.consumed == self.bytes.len() || self.consumed > HISTORY_BYTES {
            self.bytes.drain(..self.consumed);
            self.consumed = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn segment(start: u32, bytes: &[u8], missing: u32) -> Segment {
        Segment { start, bytes: bytes.to_vec(), missing, packet: u64::from(start) }
    }

    /// Takes a segment, and returns the gaps that are given up.
    fn push(stream: &mut Stream, start: u32, bytes: &[u8]) -> Vec<u32> {
        stream.push(segment(start, bytes, 0));
        gaps(stream, false)
    }

    const NONE: [u32; 0] = [];

    fn gaps(stream: &mut Stream, is_final: bool) -> Vec<u32> {
        let mut gaps = Vec::new();
        while let Some(change) = stream.change(is_final) {
            if let Change::Gap(missing, _) = change {
                stream.consume(stream.bytes().len());
                gaps.push(missing);
            }
        }
        gaps
    }

    #[test]
    fn puts_segments_together_across_the_wrap() {
        let mut stream = Stream::new(u32::MAX - 1, false);
        assert_eq!(push(&mut stream, u32::MAX - 1, &[1, 2, 3]), NONE);
        assert_eq!(push(&mut stream, 1, &[4]), NONE);
        assert_eq!(stream.bytes(), [1, 2, 3, 4]);
        stream.consume(3);
        assert_eq!(stream.bytes(), [4]);
    }

    #[test]
    fn names_the_packet_of_each_byte() {
        let mut stream = Stream::new(10, false);
        // The last segment was captured first: packets have the numbers of their first bytes.
        for (start, bytes) in [(10, &[1, 2][..]), (15, &[6, 7]), (12, &[3, 4, 5])] {
            push(&mut stream, start, bytes);
        }
        let packets = |stream: &Stream| -> Vec<u64> {
            (1..=stream.bytes().len()).map(|count| stream.packet_at(count)).collect()
        };
        assert_eq!(packets(&stream), [10, 10, 12, 12, 12, 15, 15]);
        stream.consume(3);
        assert_eq!(packets(&stream), [12, 12, 15, 15]);
        stream.consume(4);
        assert_eq!(stream.packet_at(0), 0);
        assert!(stream.ends.is_empty());
    }

    #[test]
    fn skips_bytes_sent_before() {
        let mut stream = Stream::new(11, true);
        for (start, bytes) in [(11, &[1, 2][..]), (11, &[1, 2]), (12, &[2, 3])] {
            assert_eq!(push(&mut stream, start, bytes), NONE);
        }
        assert_eq!(stream.bytes(), [1, 2, 3]);
    }

    #[test]
    fn compares_segments_with_what_was_captured() {
        let mut stream = Stream::new(100, false);
        push(&mut stream, 100, &[1, 2, 3]);
        push(&mut stream, 103, &[4, 5]);
        for (start, bytes, fit) in [
            (105, &[6][..], Fit::Next),
            (104, &[5, 6], Fit::Next),
            (101, &[2, 3, 4, 5], Fit::Repeated),
            (101, &[2, 3, 9, 5], Fit::Foreign),
            (99, &[0, 1, 2, 3], Fit::Foreign),
            (104, &[9], Fit::Repeated),
            (104, &[9, 9], Fit::Foreign),
            (106, &[7], Fit::Ahead(1)),
            (105 + (65 << 20), &[7], Fit::Foreign),
        ] {
            assert_eq!(stream.fit(start, bytes), fit, "{start} {bytes:?}");
        }
    }

    #[test]
    fn only_missing_bytes_follow_fin_and_reset() {
        let mut stream = Stream::new(100, false);
        push(&mut stream, 100, &[1, 2, 3]);
        stream.finish(110);
        assert_eq!(stream.fit(105, &[1]), Fit::Ahead(2));
        assert_eq!(stream.fit(110, &[1]), Fit::Foreign);
        assert_eq!(stream.fit(111, &[1]), Fit::Foreign);
        stream.reset();
        assert_eq!(stream.fit(105, &[1]), Fit::Foreign);
        assert_eq!(stream.fit(103, &[1]), Fit::Next);
        assert_eq!(stream.fit(101, &[2, 3]), Fit::Repeated);
    }

    #[test]
    fn truncated_bytes_are_a_gap_unless_captured_again() {
        let mut stream = Stream::new(10, false);
        stream.push(segment(10, &[1, 2], 3));
        assert_eq!(gaps(&mut stream, false), [3]);
        assert_eq!(push(&mut stream, 15, &[6]), NONE);
        assert_eq!(stream.bytes(), [6]);
        // The second copy of what follows is longer.
        stream.push(segment(20, &[1], 2));
        stream.push(segment(16, &[7, 8, 9, 10, 1, 2, 3], 0));
        assert_eq!(gaps(&mut stream, false), NONE);
        assert_eq!(stream.bytes(), [6, 7, 8, 9, 10, 1, 2, 3]);
    }

    #[test]
    fn gives_up_missing_bytes_after_limit() {
        let mut stream = Stream::new(0, false);
        push(&mut stream, 0, &[1]);
        for index in 0..MOST_WAITING as u32 {
            assert_eq!(push(&mut stream, 2 + index, &[2]), NONE);
        }
        assert_eq!(push(&mut stream, 2 + MOST_WAITING as u32, &[2]), [1]);
        assert_eq!(stream.bytes().len(), MOST_WAITING + 1);
    }

    #[test]
    fn continues_after_what_is_given_up() {
        let mut stream = Stream::new(0, false);
        push(&mut stream, 0, &[1]);
        assert_eq!(push(&mut stream, 9, &[11]), NONE);
        assert_eq!(push(&mut stream, 5, &[9]), NONE);
        assert_eq!(gaps(&mut stream, true), [4, 3]);
        assert_eq!(stream.bytes(), [11]);
        assert_eq!(gaps(&mut stream, true), NONE);
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
            let mut stream = Stream::new(start, true);
            for (from, to) in segments {
                let at = start.wrapping_add(from as u32);
                let fit = stream.fit(at, &whole[from..to]);
                prop_assert!(fit != Fit::Foreign, "{} {}", from, to);
                prop_assert_eq!(push(&mut stream, at, &whole[from..to]), Vec::<u32>::new());
            }
            prop_assert_eq!(stream.bytes(), &whole[..]);
            prop_assert_eq!(gaps(&mut stream, true), Vec::<u32>::new());
        }
    }
}
