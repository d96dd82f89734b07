//! Segments to the peer.

use hairpin_time::{Duration, Instant};
use hairpin_wire::TcpFlags;

use super::{Connection, NEVER};
use crate::header::PreparedHeader;
use crate::ring::{self, Rings};
use crate::segment::{BLOCKS, Fields, blocks_length};
use crate::sequence::{distance, later};

/// The longest time for which a short segment waits for more bytes, as with Linux.
const CORK: Duration = Duration::from_millis(200);

impl Connection {
    /// Queues bytes to send. Returns the number of bytes that fit the ring.
    pub fn queue(&mut self, now: Instant, rings: &mut Rings<'_>, bytes: &[u8]) -> usize {
        self.catch_up(now);
        let count = bytes.len().min(self.room());
        ring::write(rings.send, self.send_end, &bytes[..count]);
        self.send_end = self.send_end.wrapping_add(count as u32);
        self.update_closed(now);
        count
    }

    /// Returns the number of bytes that [`queue`](Self::queue) accepts.
    #[must_use]
    #[inline]
    pub fn room(&self) -> usize {
        (self.send_capacity - self.send_end.wrapping_sub(self.send_unacknowledged)) as usize
    }

    /// Sends up to `length` bytes in one segment at once, without queueing: `fill` writes them into
    /// the frame. Returns the length of the frame; `None`, and `fill` is not called, if bytes are
    /// queued, or a window, Nagle's algorithm or the segment size do not permit it.
    #[inline]
    pub fn send(
        &mut self,
        now: Instant,
        rings: &mut Rings<'_>,
        header: &PreparedHeader,
        length: usize,
        frame: &mut [u8],
        fill: impl FnOnce(&mut [u8]),
    ) -> Option<usize> {
        let sent = self.send_first(now, rings, header, length, frame, fill);
        self.catch_up(now);
        sent
    }

    /// Like [`send`](Self::send), but leaves the recording of the segment to
    /// [`catch_up`](Self::catch_up), so that the frame does not wait for it. `now` is used for the
    /// timestamp only, so it may be some milliseconds old.
    #[inline]
    pub fn send_first(
        &mut self,
        now: Instant,
        rings: &mut Rings<'_>,
        header: &PreparedHeader,
        length: usize,
        frame: &mut [u8],
        fill: impl FnOnce(&mut [u8]),
    ) -> Option<usize> {
        let at = header.segment_offset() + self.fields(TcpFlags::ACK, &[]).header_length();
        let frame = frame.get_mut(..at + length)?;
        // Without the last acknowledgment, windows and room are smaller than they are.
        let permitted = self.deferred.sent == 0 && self.permits(length)
            || self.catch_up(now) && self.permits(length);
        if !permitted {
            return None;
        }
        let fields = self.fields(TcpFlags::ACK | TcpFlags::PSH, &[]);
        let fields = self.promise(now, fields);
        let (front, payload) = frame.split_at_mut(at);
        // The ring is this core's memory, which the frame may not be yet.
        if let Some(stored) = ring::part_mut(rings.send, self.send_next, length) {
            fill(stored);
            payload.copy_from_slice(stored);
            header.write_before(&fields, front, stored);
        } else {
            fill(payload);
            ring::write(rings.send, self.send_next, payload);
            header.write_before(&fields, front, payload);
        }
        self.on_sent_ack();
        self.deferred.sent = length as u32;
        Some(at + length)
    }

    /// Returns `true` if a segment of this length may be sent at once.
    #[inline]
    fn permits(&self, length: usize) -> bool {
        let count = length as u32;
        length > 0
            && self.send_end == self.send_next
            && count <= self.payload_max()
            && count <= self.window_room().min(self.congestion_room())
            && length <= self.room()
            && !self.nagle_holds(count)
            && !self.cork.holds
            && !self.scoreboard.has_lost()
            && self.reassembly.is_empty()
            && self.scoreboard.has_room(self.send_unacknowledged, count, self.payload_max())
    }

    /// Writes the frame that [`send`](Self::send) would, without sending it, to bring code and data
    /// into the caches. Nothing changes.
    pub fn warm_up(&self, header: &PreparedHeader, length: usize, frame: &mut [u8]) {
        let fields = self.fields(TcpFlags::ACK | TcpFlags::PSH, &[]);
        let at = header.segment_offset() + fields.header_length();
        if let Some(frame) = frame.get_mut(..at + length) {
            header.write(&fields, frame);
        }
    }

    /// Returns `true` if [`poll_transmit`](Self::poll_transmit) may have a segment.
    #[must_use]
    #[inline]
    pub fn has_transmit(&self) -> bool {
        self.ack_now || self.unsent_length() > 0 || self.probe_due || self.scoreboard.has_lost()
    }

    /// Makes the next [`poll_transmit`](Self::poll_transmit) acknowledge what was received since
    /// the last acknowledgment.
    pub fn request_acknowledgment(&mut self) {
        self.ack_now |= self.last_ack_sent != self.receive_next;
    }

    /// Returns `true` if something was received that is not acknowledged, or an acknowledgment is
    /// due for another reason.
    #[must_use]
    pub fn owes_acknowledgment(&self) -> bool {
        self.ack_now || self.last_ack_sent != self.receive_next
    }

    /// Writes an acknowledgment without data, and returns the length of the frame. It promises no
    /// more than a snapshot taken before.
    pub fn write_acknowledgment(
        &mut self,
        now: Instant,
        header: &PreparedHeader,
        frame: &mut [u8],
    ) -> usize {
        self.catch_up(now);
        let mut fields = self.fields(TcpFlags::ACK, &[]);
        let window = distance(self.receive_next, self.receive_edge) >> self.receive_scale;
        fields.window = window.min(0xFFFF) as u16;
        if let Some(clock) = &mut self.clock {
            clock.last = clock.value(now);
            fields.timestamps = Some((clock.last, clock.recent.unwrap_or(0)));
        }
        let end = header.segment_offset() + fields.header_length();
        let Some(frame) = frame.get_mut(..end) else { return 0 };
        self.on_sent_ack();
        if header.write(&fields, frame) { end } else { 0 }
    }

    /// Writes the next segment, if one is due, and returns the length of the frame. Call it until
    /// it returns `None`. The frame must hold a full segment, otherwise nothing is sent.
    #[inline]
    pub fn poll_transmit(
        &mut self,
        now: Instant,
        rings: &Rings<'_>,
        header: &PreparedHeader,
        frame: &mut [u8],
    ) -> Option<usize> {
        self.catch_up(now);
        let needed = header.segment_offset() + 40 + usize::from(self.segment_size);
        if frame.len() < needed {
            return None;
        }
        if self.scoreboard.has_lost()
            && let Some(length) = self.transmit_lost(now, rings, header, frame)
        {
            return Some(length);
        }
        if self.unsent_length() > 0
            && let Some(length) = self.transmit_new(now, rings, header, frame)
        {
            return Some(length);
        }
        if self.probe_due
            && let Some(length) = self.transmit_probe(now, rings, header, frame)
        {
            return Some(length);
        }
        if !self.ack_now {
            return None;
        }
        self.counters.acks_sent += 1;
        Some(self.write(now, rings, header, frame, self.send_next, 0))
    }

    #[cold]
    fn transmit_lost(
        &mut self,
        now: Instant,
        rings: &Rings<'_>,
        header: &PreparedHeader,
        frame: &mut [u8],
    ) -> Option<usize> {
        let has_room = self.scoreboard.pipe(self.send_unacknowledged) < self.cubic.window();
        if !has_room && !self.resend_now {
            return None;
        }
        let resend = self.scoreboard.resend_lost(now, self.send_unacknowledged)?;
        self.resend_now = false;
        self.counters.retransmitted += 1;
        let length = self.write(now, rings, header, frame, resend.start, resend.length);
        self.arm_timers(now);
        Some(length)
    }

    fn transmit_new(
        &mut self,
        now: Instant,
        rings: &Rings<'_>,
        header: &PreparedHeader,
        frame: &mut [u8],
    ) -> Option<usize> {
        let unsent = self.unsent_length();
        let full = self.payload_max();
        let length = unsent.min(full).min(self.window_room());
        if length == 0 || !self.window_permits() || length > self.congestion_room() {
            return None;
        }
        let is_short = length < full;
        if is_short && (self.nagle_holds(length) || self.cork_holds(now))
            || !self.scoreboard.has_room(self.send_unacknowledged, length, full)
        {
            return None;
        }
        let start = self.send_next;
        self.on_sent_new(now, length);
        Some(self.write(now, rings, header, frame, start, length))
    }

    /// Sends new data, otherwise the last segment again, whatever the congestion window (RFC 8985
    /// §7.3).
    #[cold]
    fn transmit_probe(
        &mut self,
        now: Instant,
        rings: &Rings<'_>,
        header: &PreparedHeader,
        frame: &mut [u8],
    ) -> Option<usize> {
        self.probe_due = false;
        let new = self.unsent_length().min(self.payload_max()).min(self.window_room());
        let has_room = self.scoreboard.has_room(self.send_unacknowledged, new, self.payload_max());
        let (start, length, repeats) = if new > 0 && has_room {
            let start = self.send_next;
            self.on_sent_new(now, new);
            (start, new, false)
        } else {
            let last = self.scoreboard.resend_last(now, self.send_unacknowledged)?;
            self.counters.retransmitted += 1;
            (last.start, last.length, true)
        };
        self.counters.probes_sent += 1;
        self.probe = Some((self.send_next, repeats));
        self.arm_timers(now);
        Some(self.write(now, rings, header, frame, start, length))
    }

    /// Writes a segment with bytes of the send ring.
    fn write(
        &mut self,
        now: Instant,
        rings: &Rings<'_>,
        header: &PreparedHeader,
        frame: &mut [u8],
        start: u32,
        length: u32,
    ) -> usize {
        let mut blocks = [(0, 0); BLOCKS];
        let count = self.copy_blocks(length, &mut blocks);
        let is_last = start.wrapping_add(length) == self.send_end && length > 0;
        let flags = if is_last { TcpFlags::ACK | TcpFlags::PSH } else { TcpFlags::ACK };
        let fields = Fields { sequence: start, ..self.fields(flags, &blocks[..count]) };
        let fields = self.promise(now, fields);
        let at = header.segment_offset() + fields.header_length();
        let end = at + length as usize;
        let Some(frame) = frame.get_mut(..end) else { return 0 };
        ring::copy(rings.send, start, &mut frame[at..]);
        header.write(&fields, frame);
        self.counters.segments_sent += 1;
        self.on_sent_ack();
        end
    }

    /// Writes a segment as the peer would send it, and returns the length of the frame, for the
    /// kernel after handback: a FIN, an RST, an acknowledgment, or data received out of order.
    /// `header` is that of the opposite direction. The timestamp that it echoes is one round trip
    /// old. Returns 0 if the frame is too short.
    pub fn write_from_peer(
        &self,
        now: Instant,
        header: &PreparedHeader,
        flags: TcpFlags,
        sequence: u32,
        payload: [&[u8]; 2],
        frame: &mut [u8],
    ) -> usize {
        let window = self.send_window.div_ceil(1 << self.send_scale).min(0xFFFF) as u16;
        let round_trip = self.rtt.smoothed().map_or(0, |time| time.as_nanos() / 1_000_000) as u32;
        let timestamps = self
            .clock
            .map(|clock| (clock.recent.unwrap_or(0), clock.value(now).wrapping_sub(round_trip)));
        let acknowledgment = self.send_unacknowledged;
        let fields = Fields { sequence, acknowledgment, flags, window, timestamps, blocks: &[] };
        let at = header.segment_offset() + fields.header_length();
        let [first, second] = payload;
        let end = at + first.len() + second.len();
        let Some(frame) = frame.get_mut(..end) else { return 0 };
        frame[at..at + first.len()].copy_from_slice(first);
        frame[at + first.len()..].copy_from_slice(second);
        if header.write(&fields, frame) { end } else { 0 }
    }

    /// Copies the blocks that fit beside a payload of this length. Returns their number.
    fn copy_blocks(&self, payload: u32, blocks: &mut [(u32, u32); BLOCKS]) -> usize {
        let ranges = self.reassembly.ranges();
        if ranges.is_empty() || !self.selective {
            return 0;
        }
        let most = if self.clock.is_some() { BLOCKS - 1 } else { BLOCKS };
        let room = (self.payload_max() - payload) as usize;
        let count = (0..=most.min(ranges.len())).rev().find(|&count| blocks_length(count) <= room);
        let count = count.unwrap_or(0);
        blocks[..count].copy_from_slice(&ranges[..count]);
        count
    }

    /// Returns the fields of a segment at `send_next`, before the window is updated.
    #[inline]
    fn fields<'b>(&self, flags: TcpFlags, blocks: &'b [(u32, u32)]) -> Fields<'b> {
        let timestamps = self.clock.map(|clock| (clock.last, clock.recent.unwrap_or(0)));
        let (sequence, acknowledgment) = (self.send_next, self.receive_next);
        Fields { sequence, acknowledgment, flags, window: 0, timestamps, blocks }
    }

    /// Fills in timestamp and window, which are promises to the peer.
    #[inline]
    fn promise<'b>(&mut self, now: Instant, mut fields: Fields<'b>) -> Fields<'b> {
        if let Some(clock) = &mut self.clock {
            clock.last = clock.value(now);
            fields.timestamps = Some((clock.last, clock.recent.unwrap_or(0)));
        }
        let edge = later(self.receive_edge, self.possible_edge());
        let window = distance(self.receive_next, edge);
        // Rounded up, because an edge never moves back, unless the ring ends there: repeated
        // rounding would promise more than it holds.
        let room = self.receive_capacity - self.unread;
        let up = (window + ((1 << self.receive_scale) - 1)) >> self.receive_scale;
        let fits = up << self.receive_scale <= room;
        let window = if fits { up } else { window >> self.receive_scale }.min(0xFFFF);
        fields.window = window as u16;
        let promised = self.receive_next.wrapping_add(window << self.receive_scale);
        self.receive_edge = later(self.receive_edge, promised);
        fields
    }

    #[inline]
    pub(super) fn on_sent_new(&mut self, now: Instant, length: u32) {
        self.scoreboard.push(now, length);
        self.send_next = self.send_next.wrapping_add(length);
        (self.cork.until, self.cork.is_expired) = (NEVER, false);
        if length < self.payload_max() {
            self.short_end = self.send_next;
        }
        self.counters.bytes_sent += u64::from(length);
        self.arm_probe(now);
        self.update_bulk(now);
    }

    /// Every segment acknowledges.
    #[inline]
    fn on_sent_ack(&mut self) {
        self.last_ack_sent = self.receive_next;
        (self.ack_now, self.ack_at) = (false, NEVER);
    }

    /// Returns the number of bytes that the peer's window permits.
    #[inline]
    fn window_room(&self) -> u32 {
        let in_flight = self.send_next.wrapping_sub(self.send_unacknowledged);
        self.send_window.saturating_sub(in_flight)
    }

    #[inline]
    fn congestion_room(&self) -> u32 {
        self.cubic.window().saturating_sub(self.scoreboard.pipe(self.send_unacknowledged))
    }

    /// Returns `true` if the window permits a full segment, all that waits, or half of the largest
    /// window (RFC 9293 §3.8.6.2.1).
    #[inline]
    pub(super) fn window_permits(&self) -> bool {
        let room = self.window_room();
        let enough = self.payload_max().min(self.unsent_length()).min(self.send_window_max / 2);
        room > 0 && room >= enough
    }

    /// Returns `true` if a short segment must wait for more bytes.
    #[inline]
    fn cork_holds(&mut self, now: Instant) -> bool {
        if !self.cork.holds || self.cork.is_expired {
            return false;
        }
        if self.cork.until == NEVER {
            self.cork.until = now + CORK;
        }
        true
    }

    /// Returns `true` if a short segment must wait, because another one is unacknowledged.
    #[inline]
    fn nagle_holds(&self, length: u32) -> bool {
        self.config.nagle
            && length < self.payload_max()
            && distance(self.send_unacknowledged, self.short_end) > 0
    }
}
