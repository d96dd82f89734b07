//! The segments in flight, and loss detection by time: RACK (RFC 8985 §6).

use hairpin_time::{Duration, Instant};

use crate::sequence::{is_before, later};

/// The most segments in flight. Two hundred and fifty-six full ones are 360 KiB, above the amount
/// at which a connection is handed back as bulk transfer.
const SEGMENTS: usize = 256;
/// Selective acknowledgments beyond a gap that count as loss without waiting (RFC 8985 §6.2: the
/// duplicate threshold).
const DUPLICATE_THRESHOLD: u32 = 3;

/// A segment in flight. It starts where the one before it ends.
#[derive(Debug, Clone, Copy)]
struct Sent {
    end: u32,
    sacked: bool,
    lost: bool,
    resent: bool,
    sent_at: Instant,
}

/// A segment to send again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Resend {
    pub(crate) start: u32,
    pub(crate) length: u32,
}

/// The result of an acknowledgment.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Delivered {
    /// The bytes that were not known to have arrived before.
    pub(crate) bytes: u32,
    /// The round trip of the latest segment that was sent once.
    pub(crate) round_trip: Option<Duration>,
    /// `true` if a segment among them was sent more than once: the others may have waited for it at
    /// the receiver, so their round trip is not one (RFC 6298 §3).
    pub(crate) resent: bool,
    /// `true` if a block reported bytes again that had arrived (RFC 2883).
    pub(crate) duplicate: bool,
}

/// The segments in flight in order of their sequence numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scoreboard {
    segments: [Sent; SEGMENTS],
    head: u8,
    count: u16,
    /// The end of the last segment: SND.NXT.
    next: u32,
    sacked_bytes: u32,
    sacked_segments: u32,
    lost_bytes: u32,
    /// The transmit time, end and round trip of the segment sent last of those delivered.
    newest: Option<(Instant, u32)>,
    newest_round_trip: Duration,
    /// The highest byte known to have arrived.
    highest: u32,
    reordering: bool,
}

impl Scoreboard {
    pub(crate) fn new(next: u32) -> Self {
        let none =
            Sent { end: next, sacked: false, lost: false, resent: false, sent_at: Instant::ZERO };
        Self {
            segments: [none; SEGMENTS],
            head: 0,
            count: 0,
            next,
            sacked_bytes: 0,
            sacked_segments: 0,
            lost_bytes: 0,
            newest: None,
            newest_round_trip: Duration::ZERO,
            highest: next,
            reordering: false,
        }
    }

    fn index(&self, at: u16) -> usize {
        usize::from(self.head.wrapping_add(at as u8))
    }

    /// Returns the number of bytes in flight that are neither lost nor known to have arrived.
    #[inline]
    pub(crate) fn pipe(&self, unacknowledged: u32) -> u32 {
        self.next.wrapping_sub(unacknowledged) - self.sacked_bytes - self.lost_bytes
    }

    pub(crate) fn has_lost(&self) -> bool {
        self.lost_bytes > 0
    }

    pub(crate) fn has_sacked(&self) -> bool {
        self.sacked_bytes > 0
    }

    /// Returns `true` if a segment of this length can be recorded.
    #[inline]
    pub(crate) fn has_room(&self, unacknowledged: u32, length: u32, segment: u32) -> bool {
        usize::from(self.count) < SEGMENTS || self.can_extend(unacknowledged, length, segment)
    }

    /// Returns `true` if the last segment can be extended, so that both are one segment that is
    /// sent again at once.
    fn can_extend(&self, unacknowledged: u32, length: u32, segment: u32) -> bool {
        if self.count == 0 {
            return false;
        }
        let last = &self.segments[self.index(self.count - 1)];
        let start = match self.count {
            1 => unacknowledged,
            count => self.segments[self.index(count - 2)].end,
        };
        let together = last.end.wrapping_sub(start) + length;
        !last.sacked && !last.lost && !last.resent && together <= segment
    }

    /// Records new data. The caller has checked [`has_room`](Self::has_room).
    #[inline]
    pub(crate) fn push(&mut self, now: Instant, length: u32) {
        self.next = self.next.wrapping_add(length);
        let sent = Sent { end: self.next, sacked: false, lost: false, resent: false, sent_at: now };
        if usize::from(self.count) == SEGMENTS {
            let last = self.index(self.count - 1);
            self.segments[last] = sent;
        } else {
            let at = self.index(self.count);
            self.segments[at] = sent;
            self.count += 1;
        }
    }

    /// Removes the segments that are acknowledged up to `to`.
    #[inline]
    pub(crate) fn acknowledge(
        &mut self,
        now: Instant,
        from: u32,
        to: u32,
        minimum: Duration,
        delivered: &mut Delivered,
    ) {
        let mut start = from;
        while self.count > 0 {
            let first = self.segments[usize::from(self.head)];
            let covered = later(start, to).wrapping_sub(start);
            if is_before(to, first.end) {
                // A part of the first segment: the rest keeps its state.
                if !first.sacked {
                    delivered.bytes += covered;
                }
                self.forget(&first, covered);
                break;
            }
            let length = first.end.wrapping_sub(start);
            if !first.sacked {
                delivered.bytes += length;
                self.on_delivered(now, &first, minimum, delivered);
            }
            self.forget(&first, length);
            self.sacked_segments -= u32::from(first.sacked);
            start = first.end;
            self.head = self.head.wrapping_add(1);
            self.count -= 1;
        }
        self.highest = later(self.highest, to);
    }

    fn forget(&mut self, sent: &Sent, length: u32) {
        if sent.sacked {
            self.sacked_bytes -= length;
        } else if sent.lost {
            self.lost_bytes -= length;
        }
    }

    /// Marks the segments that a block covers (RFC 2018 §5.1).
    pub(crate) fn sack(
        &mut self,
        now: Instant,
        unacknowledged: u32,
        block: (u32, u32),
        minimum: Duration,
        delivered: &mut Delivered,
    ) {
        let (left, right) = block;
        if !is_before(left, right) || is_before(self.next, right) {
            return;
        }
        if is_before(left, unacknowledged) {
            delivered.duplicate = true;
            return;
        }
        let mut start = unacknowledged;
        for at in 0..self.count {
            let index = self.index(at);
            let sent = self.segments[index];
            let covered = !is_before(start, left) && !is_before(right, sent.end);
            if covered && !sent.sacked {
                let length = sent.end.wrapping_sub(start);
                self.lost_bytes -= if sent.lost { length } else { 0 };
                self.sacked_bytes += length;
                self.sacked_segments += 1;
                self.segments[index].sacked = true;
                self.segments[index].lost = false;
                delivered.bytes += length;
                self.on_delivered(now, &sent, minimum, delivered);
                self.highest = later(self.highest, sent.end);
            }
            start = sent.end;
        }
    }

    /// Updates RACK's newest delivered segment (RFC 8985 §6.2, steps 2 and 3).
    #[inline]
    fn on_delivered(
        &mut self,
        now: Instant,
        sent: &Sent,
        minimum: Duration,
        delivered: &mut Delivered,
    ) {
        let round_trip = now - sent.sent_at;
        if sent.resent {
            delivered.resent = true;
            // The acknowledgment may be of the first transmission.
            if round_trip < minimum {
                return;
            }
        } else {
            delivered.round_trip = Some(round_trip);
            self.reordering |= is_before(sent.end, self.highest);
        }
        let is_newer = self.newest.is_none_or(|(at, end)| {
            sent.sent_at > at || sent.sent_at == at && is_before(end, sent.end)
        });
        if is_newer {
            self.newest = Some((sent.sent_at, sent.end));
            self.newest_round_trip = round_trip;
        }
    }

    /// Marks the segments as lost that were sent long enough before one that has arrived (RFC 8985
    /// §6.2, step 5). Returns the time at which more may be lost.
    pub(crate) fn detect_losses(
        &mut self,
        now: Instant,
        unacknowledged: u32,
        minimum: Duration,
        in_recovery: bool,
    ) -> Option<Instant> {
        let (newest_at, newest_end) = self.newest?;
        let many = self.sacked_segments >= DUPLICATE_THRESHOLD;
        let waits = self.reordering || !(in_recovery || many);
        let window =
            if waits { Duration::from_nanos(minimum.as_nanos() / 4) } else { Duration::ZERO };
        let mut deadline = None;
        let mut start = unacknowledged;
        for at in 0..self.count {
            let index = self.index(at);
            let sent = self.segments[index];
            let length = sent.end.wrapping_sub(start);
            start = sent.end;
            let is_older = sent.sent_at < newest_at
                || sent.sent_at == newest_at && is_before(sent.end, newest_end);
            if sent.sacked || sent.lost || !is_older {
                continue;
            }
            let lost_at = sent.sent_at + self.newest_round_trip + window;
            if lost_at <= now {
                self.segments[index].lost = true;
                self.lost_bytes += length;
            } else {
                deadline = Some(deadline.map_or(lost_at, |other: Instant| other.min(lost_at)));
            }
        }
        deadline
    }

    /// Marks everything in flight as lost after a timeout. What was selectively acknowledged is
    /// sent again too: the receiver may have dropped it (RFC 2018 §8).
    pub(crate) fn lose_all(&mut self, unacknowledged: u32) {
        for at in 0..self.count {
            let index = self.index(at);
            let sent = &mut self.segments[index];
            (sent.sacked, sent.lost) = (false, true);
        }
        (self.sacked_bytes, self.sacked_segments) = (0, 0);
        self.lost_bytes = self.next.wrapping_sub(unacknowledged);
    }

    /// Takes the first lost segment to send it again.
    pub(crate) fn resend_lost(&mut self, now: Instant, unacknowledged: u32) -> Option<Resend> {
        let mut start = unacknowledged;
        for at in 0..self.count {
            let index = self.index(at);
            let sent = self.segments[index];
            if sent.lost {
                let length = sent.end.wrapping_sub(start);
                self.lost_bytes -= length;
                self.segments[index] = Sent { lost: false, resent: true, sent_at: now, ..sent };
                return Some(Resend { start, length });
            }
            start = sent.end;
        }
        None
    }

    /// Takes the last segment to send it again as a probe (RFC 8985 §7.3).
    pub(crate) fn resend_last(&mut self, now: Instant, unacknowledged: u32) -> Option<Resend> {
        let last = self.count.checked_sub(1)?;
        let start = match last {
            0 => unacknowledged,
            last => self.segments[self.index(last - 1)].end,
        };
        let index = self.index(last);
        let sent = self.segments[index];
        let length = sent.end.wrapping_sub(start);
        self.forget(&sent, length);
        self.sacked_segments -= u32::from(sent.sacked);
        self.segments[index] =
            Sent { lost: false, sacked: false, resent: true, sent_at: now, ..sent };
        Some(Resend { start, length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    /// Sends segments of ten bytes at 0, 1, 2 … µs.
    fn board(segments: u32) -> Scoreboard {
        let mut board = Scoreboard::new(0);
        (0..segments).for_each(|number| board.push(at(u64::from(number)), 10));
        board
    }

    #[test]
    fn later_delivery_marks_earlier_segment_lost() {
        let mut board = board(5);
        let mut delivered = Delivered::default();
        let minimum = Duration::from_micros(40);
        board.sack(at(100), 0, (10, 50), minimum, &mut delivered);
        assert_eq!((delivered.bytes, board.pipe(0)), (40, 10));
        let deadline = board.detect_losses(at(100), 0, minimum, false);
        assert_eq!((deadline, board.has_lost()), (None, true));
        assert_eq!(board.resend_lost(at(101), 0), Some(Resend { start: 0, length: 10 }));
        assert_eq!(board.resend_lost(at(101), 0), None);
    }

    #[test]
    fn single_gap_waits_for_the_reordering_window() {
        let mut board = board(2);
        let mut delivered = Delivered::default();
        let minimum = Duration::from_micros(40);
        board.sack(at(50), 0, (10, 20), minimum, &mut delivered);
        // Sent at 0, round trip 49 µs, a quarter of the minimum: 10 µs.
        assert_eq!(board.detect_losses(at(50), 0, minimum, false), Some(at(59)));
        assert!(!board.has_lost());
        assert_eq!(board.detect_losses(at(59), 0, minimum, false), None);
        assert!(board.has_lost());
    }

    #[test]
    fn full_board_merges_small_segments() {
        let mut board = board(256);
        assert!(board.has_room(0, 10, 100) && !board.has_room(0, 91, 100));
        board.push(at(300), 10);
        assert_eq!(board.pipe(0), 2_570);
        let mut delivered = Delivered::default();
        board.acknowledge(at(400), 0, 2_570, Duration::ZERO, &mut delivered);
        assert_eq!((board.count, delivered.bytes), (0, 2_570));
    }

    #[test]
    fn partial_acknowledgment_keeps_the_rest() {
        let mut board = board(2);
        let mut delivered = Delivered::default();
        board.acknowledge(at(9), 0, 13, Duration::ZERO, &mut delivered);
        assert_eq!((board.pipe(13), delivered.bytes), (7, 13));
        board.lose_all(13);
        assert_eq!(board.resend_lost(at(10), 13), Some(Resend { start: 13, length: 7 }));
    }

    #[test]
    fn block_below_unacknowledged_is_a_duplicate() {
        let mut board = board(2);
        let mut delivered = Delivered::default();
        board.acknowledge(at(9), 0, 10, Duration::ZERO, &mut delivered);
        board.sack(at(9), 10, (0, 10), Duration::ZERO, &mut delivered);
        assert!(delivered.duplicate && !board.has_sacked());
    }
}
