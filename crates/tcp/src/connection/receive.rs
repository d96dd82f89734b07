//! Segments from the peer.

use hairpin_time::{Duration, Instant};
use hairpin_wire::TcpFlags;

use super::acknowledge::Acknowledgment;
use super::{Connection, Listener, NEVER, Verdict};
use crate::Reason;
use crate::ring::{self, Rings};
use crate::segment::Segment;
use crate::sequence::{distance, is_before, later};

/// The delay of an acknowledgment that nothing else carries (RFC 9293 §3.8.6.3 permits 500 ms;
/// Linux uses 40 ms). Less than the probe timeout of a Linux peer.
const ACK_DELAY: Duration = Duration::from_millis(20);
/// The shortest time between challenge acknowledgments (RFC 5961 §7).
const CHALLENGE_INTERVAL: Duration = Duration::from_millis(100);
/// The flags of a segment on the short path, besides PSH and ECN.
const MASK: u8 = !(TcpFlags::PSH.0 | TcpFlags::ECE.0 | TcpFlags::CWR.0);

impl Connection {
    /// Processes an IP payload of this connection whose checksum is valid.
    #[inline]
    pub fn handle_segment(
        &mut self,
        now: Instant,
        segment: &[u8],
        rings: &mut Rings<'_>,
        listener: &mut impl Listener,
    ) -> Verdict {
        let verdict = self.handle_segment_first(now, segment, rings, listener);
        self.catch_up(now);
        verdict
    }

    /// Like [`handle_segment`](Self::handle_segment), but leaves what the bytes need not wait for
    /// to [`catch_up`](Self::catch_up): the acknowledgment of an expected segment.
    #[inline]
    pub fn handle_segment_first(
        &mut self,
        now: Instant,
        segment: &[u8],
        rings: &mut Rings<'_>,
        listener: &mut impl Listener,
    ) -> Verdict {
        self.catch_up(now);
        self.counters.segments_received += 1;
        let Ok(segment) = Segment::parse(segment) else {
            self.counters.malformed += 1;
            return Verdict::Handled;
        };
        if self.is_predicted(&segment) {
            self.counters.predicted += 1;
            self.update_recent(&segment);
            let acknowledgment = Acknowledgment::new(now, &segment);
            if segment.block_count == 0 {
                self.deferred.acknowledgment = Some(acknowledgment);
            } else {
                self.acknowledge(acknowledgment, segment.blocks());
            }
            if !segment.payload.is_empty() {
                self.deliver(now, segment.payload, rings, listener);
                self.schedule_ack(now);
            }
            return Verdict::Handled;
        }
        self.handle_other(now, &segment, rings, listener)
    }

    /// Returns `true` for the next segment of a stream without gaps.
    #[inline]
    fn is_predicted(&self, segment: &Segment<'_>) -> bool {
        segment.flags.0 & MASK == TcpFlags::ACK.0
            && segment.sequence == self.receive_next
            && segment.payload.len() as u32 <= distance(self.receive_next, self.receive_edge)
            && self.reassembly.is_empty()
            && self.fin.is_none()
            && !segment.unexpected_option
            && self.is_acknowledgment_acceptable(segment.acknowledgment)
            && !is_before(segment.acknowledgment, self.send_unacknowledged)
            && self.has_timely_timestamp(segment) == Some(true)
    }

    /// Returns `Some(false)` for an old timestamp, `None` if it is missing or not negotiated.
    #[inline]
    fn has_timely_timestamp(&self, segment: &Segment<'_>) -> Option<bool> {
        match (&self.clock, segment.timestamps) {
            (None, None) => Some(true),
            (Some(clock), Some((value, _))) => {
                Some(clock.recent.is_none_or(|recent| !is_before(value, recent)))
            }
            _ => None,
        }
    }

    /// Returns `true` unless the number was never sent or is too old (RFC 5961 §5.2).
    #[inline]
    fn is_acknowledgment_acceptable(&self, acknowledgment: u32) -> bool {
        let oldest = self.send_unacknowledged.wrapping_sub(self.send_window_max);
        !is_before(self.send_next, acknowledgment) && !is_before(acknowledgment, oldest)
    }

    /// Keeps the timestamp to echo (RFC 7323 §4.3).
    #[inline]
    fn update_recent(&mut self, segment: &Segment<'_>) {
        if let (Some(clock), Some((value, _))) = (&mut self.clock, segment.timestamps)
            && !is_before(self.last_ack_sent, segment.sequence)
            && clock.recent.is_none_or(|recent| !is_before(value, recent))
        {
            clock.recent = Some(value);
        }
    }

    #[inline(never)]
    fn handle_other(
        &mut self,
        now: Instant,
        segment: &Segment<'_>,
        rings: &mut Rings<'_>,
        listener: &mut impl Listener,
    ) -> Verdict {
        let flags = segment.flags;
        if flags.contains(TcpFlags::RST) {
            self.handle_reset(now, segment);
            return Verdict::Handled;
        }
        let reason = if flags.contains(TcpFlags::SYN) {
            Some(Reason::Syn)
        } else if flags.contains(TcpFlags::URG) {
            Some(Reason::Urgent)
        } else {
            segment.unexpected_option.then_some(Reason::Option)
        };
        if let Some(reason) = reason {
            // RFC 5961 §4.2: a forged segment must not reach the kernel.
            if !self.is_in_window(segment)
                || !self.is_acknowledgment_acceptable(segment.acknowledgment)
            {
                self.counters.unacceptable += 1;
                self.challenge(now);
                return Verdict::Handled;
            }
            self.hand_back(reason);
            return Verdict::Kernel;
        }
        match self.has_timely_timestamp(segment) {
            None => {
                self.counters.malformed += 1;
                return Verdict::Handled;
            }
            Some(false) => {
                self.counters.old_timestamps += 1;
                self.reject(now, segment);
                return Verdict::Handled;
            }
            Some(true) => {}
        }
        if !self.is_in_window(segment) {
            self.counters.unacceptable += 1;
            self.reject(now, segment);
            return Verdict::Handled;
        }
        if !flags.contains(TcpFlags::ACK) {
            self.counters.unacceptable += 1;
            return Verdict::Handled;
        }
        if !self.is_acknowledgment_acceptable(segment.acknowledgment) {
            self.counters.unacceptable += 1;
            self.challenge(now);
            return Verdict::Handled;
        }
        self.update_recent(segment);
        self.acknowledge(Acknowledgment::new(now, segment), segment.blocks());
        self.handle_payload(now, segment, rings, listener);
        Verdict::Handled
    }

    /// Returns `true` if a part of the segment, or its end if it is empty, is in the window (RFC
    /// 9293 §3.10.7.4).
    fn is_in_window(&self, segment: &Segment<'_>) -> bool {
        let fin = u32::from(segment.flags.contains(TcpFlags::FIN));
        let end = segment.sequence.wrapping_add(segment.payload.len() as u32 + fin);
        let ends_before = is_before(end, self.receive_next)
            || end == self.receive_next && segment.sequence != end;
        !ends_before && !is_before(self.receive_edge, segment.sequence)
    }

    /// Answers a segment that is not acceptable: at once if it has data, so that the peer stops
    /// sending it again, otherwise as a challenge.
    fn reject(&mut self, now: Instant, segment: &Segment<'_>) {
        if segment.payload.is_empty() && !segment.flags.contains(TcpFlags::FIN) {
            return self.challenge(now);
        }
        self.counters.duplicates += 1;
        self.ack_now = true;
    }

    /// Answers with the expected numbers, at most once per interval (RFC 5961 §3.2, §5.2).
    fn challenge(&mut self, now: Instant) {
        if now >= self.challenge_at {
            self.challenge_at = now + CHALLENGE_INTERVAL;
            self.counters.challenges += 1;
            self.ack_now = true;
        }
    }

    /// Accepts an RST only with the exact next number (RFC 5961 §3.2).
    fn handle_reset(&mut self, now: Instant, segment: &Segment<'_>) {
        if segment.sequence == self.receive_next {
            self.hand_back(Reason::Reset);
        } else {
            self.counters.unacceptable += 1;
            if self.is_in_window(segment) {
                self.challenge(now);
            }
        }
    }

    fn handle_payload(
        &mut self,
        now: Instant,
        segment: &Segment<'_>,
        rings: &mut Rings<'_>,
        listener: &mut impl Listener,
    ) {
        if segment.flags.contains(TcpFlags::FIN) {
            let end = segment.sequence.wrapping_add(segment.payload.len() as u32);
            // The first FIN counts; another one would be forged.
            if !is_before(self.receive_edge, end) {
                self.fin.get_or_insert(end);
            }
            self.ack_now |= self.fin != Some(self.receive_next);
        }
        self.store(now, segment.sequence, segment.payload, rings, listener);
        let end = segment.sequence.wrapping_add(segment.payload.len() as u32);
        if segment.flags.contains(TcpFlags::FIN) && end == self.receive_next {
            self.fin = Some(end);
        }
        self.check_fin();
    }

    fn check_fin(&mut self) {
        if let Some(fin) = self.fin {
            if fin == self.receive_next {
                self.hand_back(Reason::Fin);
            } else if is_before(fin, self.receive_next) {
                // Data beyond it were received: the FIN was forged.
                self.fin = None;
            }
        }
    }

    /// Adds bytes that the kernel has received and acknowledged for this connection: late segments
    /// of a takeover. Bytes that are already known are ignored.
    pub fn handle_bytes(
        &mut self,
        now: Instant,
        sequence: u32,
        bytes: &[u8],
        rings: &mut Rings<'_>,
        listener: &mut impl Listener,
    ) {
        self.store(now, sequence, bytes, rings, listener);
        self.check_fin();
    }

    /// Reports that the kernel has received the peer's FIN with this number.
    pub fn handle_end(&mut self, sequence: u32) {
        self.fin = Some(sequence);
        self.check_fin();
    }

    /// Stores the new part of a payload, in order or not.
    fn store(
        &mut self,
        now: Instant,
        sequence: u32,
        payload: &[u8],
        rings: &mut Rings<'_>,
        listener: &mut impl Listener,
    ) {
        if payload.is_empty() {
            return;
        }
        let known = distance(sequence, self.receive_next) as usize;
        let Some(new) = payload.get(known..).filter(|new| !new.is_empty()) else {
            self.counters.duplicates += 1;
            self.ack_now = true;
            return;
        };
        let start = later(sequence, self.receive_next);
        let new = &new[..new.len().min(distance(start, self.receive_edge) as usize)];
        if new.is_empty() {
            self.counters.no_room += 1;
            self.ack_now = true;
            return;
        }
        if start == self.receive_next {
            let had_gap = !self.reassembly.is_empty();
            self.deliver(now, new, rings, listener);
            if had_gap {
                self.close_gap(now, rings, listener);
            }
            self.ack_now |= had_gap || known > 0;
            self.schedule_ack(now);
            return;
        }
        self.counters.out_of_order += 1;
        self.ack_now = true;
        if self.reassembly.add(start, start.wrapping_add(new.len() as u32)) {
            ring::write(rings.receive, start, new);
        } else {
            self.counters.no_room += 1;
        }
    }

    /// Delivers bytes that are next in the stream and within the window.
    #[inline]
    fn deliver(
        &mut self,
        now: Instant,
        bytes: &[u8],
        rings: &mut Rings<'_>,
        listener: &mut impl Listener,
    ) {
        let consumed =
            if self.unread == 0 { listener.on_data(now, bytes).min(bytes.len()) } else { 0 };
        let (length, rest) = (bytes.len() as u32, &bytes[consumed..]);
        if !rest.is_empty() {
            ring::write(rings.receive, self.receive_next.wrapping_add(consumed as u32), rest);
            self.unread += rest.len() as u32;
        }
        self.receive_next = self.receive_next.wrapping_add(length);
        self.full_payload = self.full_payload.max(length);
        self.counters.bytes_received += u64::from(length);
    }

    /// Delivers the bytes in the ring that follow without a gap.
    fn close_gap(&mut self, now: Instant, rings: &mut Rings<'_>, listener: &mut impl Listener) {
        let end = self.reassembly.advance(self.receive_next);
        let length = distance(self.receive_next, end);
        self.counters.bytes_received += u64::from(length);
        self.unread += length;
        self.receive_next = end;
        self.consume(rings, |bytes| listener.on_data(now, bytes));
    }

    /// Schedules the acknowledgment of data received in order.
    #[inline]
    fn schedule_ack(&mut self, now: Instant) {
        let received = self.receive_next.wrapping_sub(self.last_ack_sent);
        if received >= 2 * self.full_payload || self.config.quick_ack {
            self.ack_now = true;
        } else if self.ack_at == NEVER && received > 0 {
            self.ack_at = now + ACK_DELAY;
        }
    }

    /// Passes the unread bytes to `read`, in at most two parts, until it consumes less than a part.
    /// Returns the number of bytes consumed.
    pub fn receive(&mut self, rings: &Rings<'_>, read: impl FnMut(&[u8]) -> usize) -> usize {
        let consumed = self.consume(rings, read);
        if consumed > 0 {
            self.offer_window();
        }
        consumed
    }

    fn consume(&mut self, rings: &Rings<'_>, mut read: impl FnMut(&[u8]) -> usize) -> usize {
        let mut consumed = 0;
        for part in self.unread(rings) {
            if part.is_empty() {
                break;
            }
            let count = read(part).min(part.len());
            consumed += count;
            if count < part.len() {
                break;
            }
        }
        self.unread -= consumed as u32;
        consumed
    }

    /// Sends a window update if the window has at least doubled (RFC 9293 §3.8.6.2.2).
    fn offer_window(&mut self) {
        let promised = distance(self.receive_next, self.receive_edge);
        let possible = distance(self.receive_next, self.possible_edge());
        self.ack_now |= promised < self.receive_capacity / 4 && possible >= 2 * promised.max(1);
    }

    /// Returns the edge up to which the ring has room, less the rounding of the window.
    #[inline]
    pub(super) fn possible_edge(&self) -> u32 {
        let first = self.receive_next.wrapping_sub(self.unread);
        first.wrapping_add(self.receive_capacity.saturating_sub(1 << self.receive_scale))
    }
}
