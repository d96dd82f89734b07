//! The connection.

mod acknowledge;
mod receive;
mod timeout;
mod transmit;

use acknowledge::Acknowledgment;
use hairpin_time::{Duration, Instant};

use crate::cubic::Cubic;
use crate::reassembly::Reassembly;
use crate::ring::{self, Rings};
use crate::rtt::Rtt;
use crate::scoreboard::Scoreboard;
use crate::segment::TIMESTAMPS;
use crate::sequence::{distance, is_before, later};
use crate::{Config, Counters, Numbers, Reason, Snapshot, SnapshotError, Timestamps};

/// The time of a deadline that is not set.
const NEVER: Instant = Instant::MAX;

/// The receiver of a connection's data.
pub trait Listener {
    /// Called with the next bytes of the stream while nothing is unread. Returns the number of
    /// bytes consumed. The rest is stored in the receive ring.
    fn on_data(&mut self, now: Instant, bytes: &[u8]) -> usize;
}

/// Stores everything in the receive ring.
impl Listener for () {
    fn on_data(&mut self, _: Instant, _: &[u8]) -> usize {
        0
    }
}

/// The result of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// The segment was processed or dropped.
    Handled,
    /// The segment is the kernel's: present it to the kernel after handback. Nothing of it was
    /// processed.
    Kernel,
}

/// An action that only the owner can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Hand the connection back to the kernel.
    HandBack(Reason),
}

/// An established connection. It is plain data; its bytes are in [`Rings`].
#[derive(Debug, Clone, Copy)]
pub struct Connection {
    // Receiving.
    receive_next: u32,
    /// The end of what was promised to the peer, never taken back.
    receive_edge: u32,
    /// Bytes in order in the receive ring, before `receive_next`.
    unread: u32,
    last_ack_sent: u32,
    /// The longest payload received, the peer's full segment.
    full_payload: u32,
    /// [`NEVER`] while it is not set, as `timeout_at` to `bulk_at`.
    ack_at: Instant,
    ack_now: bool,
    reassembly: Reassembly,
    fin: Option<u32>,
    // Sending.
    send_unacknowledged: u32,
    send_next: u32,
    /// The end of the bytes in the send ring.
    send_end: u32,
    send_window: u32,
    send_window_max: u32,
    /// SND.WL1 and SND.WL2.
    window_update: (u32, u32),
    /// The end of the last segment shorter than a full one (Nagle).
    short_end: u32,
    cork: Cork,
    scoreboard: Scoreboard,
    cubic: Cubic,
    rtt: Rtt,
    /// The number at which recovery ends.
    recovery: Option<u32>,
    backoff: u32,
    /// A lost segment may be sent whatever the window: the first of a recovery or timeout.
    resend_now: bool,
    probe_due: bool,
    /// The end of the data in flight at the last probe, and `true` if the probe was sent before.
    probe: Option<(u32, bool)>,
    timeout_at: Instant,
    probe_at: Instant,
    reordering_at: Instant,
    closed_at: Instant,
    bulk_at: Instant,
    /// The time since which less is in flight than in a bulk transfer.
    bulk_paused_at: Option<Instant>,
    challenge_at: Instant,
    // Constant.
    send_capacity: u32,
    receive_capacity: u32,
    send_scale: u8,
    receive_scale: u8,
    segment_size: u16,
    selective: bool,
    clock: Option<Clock>,
    config: Config,
    reason: Option<Reason>,
    counters: Counters,
    deferred: Deferred,
}

/// What the last segments have left to do, in this order.
#[derive(Debug, Clone, Copy, Default)]
struct Deferred {
    acknowledgment: Option<Acknowledgment>,
    /// The length of a segment that was written; 0 for none.
    sent: u32,
}

impl Deferred {
    #[inline]
    fn is_empty(&self) -> bool {
        self.acknowledgment.is_none() && self.sent == 0
    }
}

/// The holding back of short segments, for more bytes.
#[derive(Debug, Clone, Copy)]
struct Cork {
    holds: bool,
    /// The time until which the bytes that wait are held back; [`NEVER`] if none wait.
    until: Instant,
    is_expired: bool,
}

impl Cork {
    const fn new(holds: bool) -> Self {
        Self { holds, until: NEVER, is_expired: false }
    }
}

/// The timestamp clock.
#[derive(Debug, Clone, Copy)]
struct Clock {
    /// TSval minus the time in milliseconds.
    offset: u32,
    /// The last or lowest TSval.
    last: u32,
    recent: Option<u32>,
}

impl Clock {
    fn value(&self, now: Instant) -> u32 {
        let millis = (now.as_nanos() / 1_000_000) as u32;
        later(millis.wrapping_add(self.offset), self.last)
    }
}

impl Connection {
    /// Continues a connection. `unacknowledged` are the bytes from `send_unacknowledged` to
    /// `send_next`; they are stored in the send ring and counted as sent now.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn new(
        now: Instant,
        snapshot: &Snapshot,
        unacknowledged: &[u8],
        config: Config,
        rings: &mut Rings<'_>,
    ) -> Result<Self, SnapshotError> {
        check(snapshot, unacknowledged, rings)?;
        let clock = snapshot.timestamps.map(|Timestamps { value, floor, recent }| {
            let millis = (now.as_nanos() / 1_000_000) as u32;
            Clock { offset: value.wrapping_sub(millis), last: later(value, floor), recent }
        });
        let start = snapshot.send_unacknowledged;
        let mut connection = Self {
            receive_next: snapshot.receive_next,
            receive_edge: snapshot.receive_next.wrapping_add(snapshot.receive_window),
            unread: 0,
            last_ack_sent: snapshot.receive_next,
            full_payload: 536,
            ack_at: NEVER,
            ack_now: false,
            reassembly: Reassembly::new(),
            fin: None,
            send_unacknowledged: start,
            send_next: start,
            send_end: snapshot.send_next,
            send_window: snapshot.send_window,
            send_window_max: snapshot.send_window_max.max(snapshot.send_window),
            window_update: (snapshot.send_window_update, start),
            short_end: start,
            cork: Cork::new(false),
            scoreboard: Scoreboard::new(start),
            cubic: Cubic::new(0),
            rtt: Rtt::new(now, snapshot.round_trip),
            recovery: None,
            backoff: 0,
            resend_now: false,
            probe_due: false,
            probe: None,
            timeout_at: NEVER,
            probe_at: NEVER,
            reordering_at: NEVER,
            closed_at: NEVER,
            bulk_at: NEVER,
            bulk_paused_at: None,
            challenge_at: Instant::ZERO,
            send_capacity: rings.send.len() as u32,
            receive_capacity: rings.receive.len() as u32,
            send_scale: snapshot.send_scale,
            receive_scale: snapshot.receive_scale,
            segment_size: snapshot.segment_size,
            selective: snapshot.selective,
            clock,
            config,
            reason: None,
            counters: Counters::default(),
            deferred: Deferred::default(),
        };
        connection.cubic = Cubic::new(connection.payload_max());
        ring::write(rings.send, start, unacknowledged);
        connection.mark_sent(now, snapshot.send_next)?;
        connection.arm_timers(now);
        Ok(connection)
    }

    /// Counts the bytes before `end` as sent now, in full segments.
    fn mark_sent(&mut self, now: Instant, end: u32) -> Result<(), SnapshotError> {
        while self.send_next != end {
            let length = end.wrapping_sub(self.send_next).min(self.payload_max());
            let start = self.send_unacknowledged;
            if !self.scoreboard.has_room(start, length, self.payload_max()) {
                return Err(SnapshotError::Unacknowledged);
            }
            self.scoreboard.push(now, length);
            self.send_next = self.send_next.wrapping_add(length);
        }
        Ok(())
    }

    /// Does what [`handle_segment_first`](Self::handle_segment_first) and
    /// [`send_first`](Self::send_first) have left, so that an answer does not wait for it. `now` is
    /// the time at which the segment was sent. Returns `false` if nothing was left.
    ///
    /// Until then only these two may be called, and what the connection returns does not include
    /// the last acknowledgment.
    #[inline]
    pub fn catch_up(&mut self, now: Instant) -> bool {
        let is_behind = !self.deferred.is_empty();
        if is_behind {
            self.do_deferred(now);
        }
        is_behind
    }

    #[inline(never)]
    fn do_deferred(&mut self, now: Instant) {
        let Deferred { acknowledgment, sent } = core::mem::take(&mut self.deferred);
        if let Some(acknowledgment) = acknowledgment {
            self.acknowledge(acknowledgment, &[]);
        }
        if sent > 0 {
            self.send_end = self.send_end.wrapping_add(sent);
            self.on_sent_new(now, sent);
        }
    }

    /// Returns the state from which another TCP can continue. The bytes are
    /// [`unacknowledged`](Self::unacknowledged), [`unsent`](Self::unsent) and
    /// [`unread`](Self::unread); those received out of order are left out, and sent again by the
    /// peer.
    #[must_use]
    pub fn snapshot(&self, now: Instant) -> Snapshot {
        debug_assert!(self.deferred.is_empty());
        Snapshot {
            send_unacknowledged: self.send_unacknowledged,
            send_next: self.send_next,
            send_window: self.send_window,
            send_window_max: self.send_window_max,
            send_window_update: self.window_update.0,
            receive_next: self.receive_next,
            receive_window: distance(self.receive_next, self.receive_edge),
            send_scale: self.send_scale,
            receive_scale: self.receive_scale,
            segment_size: self.segment_size,
            selective: self.selective,
            timestamps: self.clock.map(|clock| {
                let value = clock.value(now);
                Timestamps { value, floor: clock.last, recent: clock.recent }
            }),
            round_trip: self.rtt.smoothed(),
        }
    }

    /// Returns the numbers that change with each segment.
    #[must_use]
    #[inline]
    pub fn numbers(&self) -> Numbers {
        let sent = self.deferred.sent;
        Numbers {
            send_unacknowledged: self.send_unacknowledged,
            send_next: self.send_next.wrapping_add(sent),
            send_end: self.send_end.wrapping_add(sent),
            send_edge: self.send_unacknowledged.wrapping_add(self.send_window),
            send_window_max: self.send_window_max,
            send_window_update: self.window_update.0,
            receive_next: self.receive_next,
            receive_edge: self.receive_edge,
            unread: self.unread,
        }
    }

    /// Returns the bytes sent and not acknowledged, in one or two parts.
    #[must_use]
    pub fn unacknowledged<'r>(&self, rings: &'r Rings<'_>) -> [&'r [u8]; 2] {
        debug_assert!(self.deferred.is_empty());
        let length = self.send_next.wrapping_sub(self.send_unacknowledged);
        ring::read(rings.send, self.send_unacknowledged, length)
    }

    /// Returns the bytes queued and never sent, in one or two parts.
    #[must_use]
    pub fn unsent<'r>(&self, rings: &'r Rings<'_>) -> [&'r [u8]; 2] {
        debug_assert!(self.deferred.is_empty());
        ring::read(rings.send, self.send_next, self.unsent_length())
    }

    /// Returns the bytes received in order and not read, in one or two parts.
    #[must_use]
    pub fn unread<'r>(&self, rings: &'r Rings<'_>) -> [&'r [u8]; 2] {
        ring::read(rings.receive, self.receive_next.wrapping_sub(self.unread), self.unread)
    }

    /// Returns the ranges of sequence numbers received out of order, the latest changed first.
    #[must_use]
    pub fn out_of_order(&self) -> &[(u32, u32)] {
        self.reassembly.ranges()
    }

    /// Returns the bytes of a range received out of order, in one or two parts.
    #[must_use]
    pub fn bytes_of_range<'r>(&self, range: (u32, u32), rings: &'r Rings<'_>) -> [&'r [u8]; 2] {
        ring::read(rings.receive, range.0, distance(range.0, range.1))
    }

    /// Returns the number of bytes received in order and not read.
    #[must_use]
    #[inline]
    pub fn unread_length(&self) -> usize {
        self.unread as usize
    }

    /// Returns the number of bytes sent and not acknowledged.
    #[must_use]
    #[inline]
    pub fn in_flight(&self) -> usize {
        debug_assert!(self.deferred.is_empty());
        self.send_next.wrapping_sub(self.send_unacknowledged) as usize
    }

    /// Returns `true` if bytes are missing before others that were received.
    #[must_use]
    #[inline]
    pub fn has_gap(&self) -> bool {
        !self.reassembly.is_empty() || self.fin.is_some()
    }

    /// Returns the next sequence number expected from the peer.
    #[must_use]
    pub fn receive_next(&self) -> u32 {
        self.receive_next
    }

    /// Returns the first sequence number that the peer has not acknowledged.
    #[must_use]
    pub fn send_unacknowledged(&self) -> u32 {
        debug_assert!(self.deferred.is_empty());
        self.send_unacknowledged
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the congestion window in bytes.
    #[must_use]
    pub fn congestion_window(&self) -> u32 {
        self.cubic.window()
    }

    /// Returns the smoothed round-trip time; `None` before the first measurement.
    #[must_use]
    pub fn round_trip(&self) -> Option<Duration> {
        self.rtt.smoothed()
    }

    /// Returns the delay of the peer's acknowledgments that timeouts allow for: at least 40 ms.
    #[must_use]
    pub fn ack_delay(&self) -> Duration {
        self.rtt.ack_delay()
    }

    /// Switches Nagle's algorithm on or off.
    pub fn set_nagle(&mut self, nagle: bool) {
        self.config.nagle = nagle;
    }

    /// Holds back segments shorter than a full one (`TCP_CORK`, `MSG_MORE`), at most 200 ms, or
    /// makes [`poll_transmit`](Self::poll_transmit) send what waits.
    #[inline]
    pub fn set_corked(&mut self, is_corked: bool) {
        if is_corked != self.cork.holds {
            self.cork = Cork::new(is_corked);
        }
    }

    /// Returns what only the owner can do. The action stays until it is done.
    #[must_use]
    #[inline]
    pub fn poll_action(&self) -> Option<Action> {
        self.reason.map(Action::HandBack)
    }

    /// Makes the connection ask to be handed back, for a reason that only the owner knows.
    pub fn request_handback(&mut self, reason: Reason) {
        self.hand_back(reason);
    }

    /// Returns `true` if everything before the peer's FIN was received.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.fin == Some(self.receive_next)
    }

    /// Returns the longest segment in bytes of options and payload.
    #[must_use]
    pub fn segment_size(&self) -> u16 {
        self.segment_size
    }

    /// Asks to be handed back; the first reason counts.
    #[cold]
    fn hand_back(&mut self, reason: Reason) {
        self.reason.get_or_insert(reason);
    }

    /// Returns the longest payload of a segment without selective acknowledgments.
    #[inline]
    fn payload_max(&self) -> u32 {
        let options = if self.clock.is_some() { TIMESTAMPS as u32 } else { 0 };
        u32::from(self.segment_size) - options
    }

    /// Returns the number of bytes stored to send and not sent.
    #[must_use]
    #[inline]
    pub fn unsent_length(&self) -> u32 {
        self.send_end.wrapping_sub(self.send_next)
    }
}

fn check(
    snapshot: &Snapshot,
    unacknowledged: &[u8],
    rings: &Rings<'_>,
) -> Result<(), SnapshotError> {
    let lengths = [rings.send.len(), rings.receive.len()];
    if !lengths.into_iter().all(ring::is_valid_length) {
        return Err(SnapshotError::RingLength);
    }
    if snapshot.send_scale > 14 || snapshot.receive_scale > 14 {
        return Err(SnapshotError::Scale);
    }
    if snapshot.segment_size < 88 {
        return Err(SnapshotError::SegmentSize);
    }
    if snapshot.receive_window as usize > rings.receive.len() {
        return Err(SnapshotError::ReceiveWindow);
    }
    let length = snapshot.send_next.wrapping_sub(snapshot.send_unacknowledged) as usize;
    if length != unacknowledged.len() || length > rings.send.len() {
        return Err(SnapshotError::Unacknowledged);
    }
    // The acknowledgments of a valid peer never pass this.
    debug_assert!(!is_before(snapshot.send_next, snapshot.send_unacknowledged));
    Ok(())
}
