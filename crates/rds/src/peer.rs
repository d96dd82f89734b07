//! The state of one peer: both directions of a pair of sockets.

use core::net::SocketAddr;

use hairpin_time::{Duration, Instant};

use crate::clock_offset::ClockOffset;
use crate::config::{PACKET_LIFETIME, WINDOW};
use crate::pool::{NIL, Queue};
use crate::rtt::RoundTrip;
use crate::sequence::is_before;

/// The time since the last packet after which a timestamp is newer whatever its value.
/// Timestamps can be compared for 137 s.
const ECHO_LIFETIME: Duration = Duration::from_secs(120);

/// A peer, in five cache lines. Grouped by the path that writes the fields.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    /// The peer's incarnation; 0 until the first packet from it.
    pub(crate) incarnation: u32,
    /// The last transmission before the incarnation was accepted or the peer refused packets:
    /// answers to that packet and earlier ones are obsolete.
    pub(crate) accepted: Moment,
    /// `false` while the peer is in the list of unconfirmed peers.
    pub(crate) confirmed: bool,
    /// `true` after the peer has proven that it receives packets of this socket.
    pub(crate) knows_us: bool,
    /// The timestamp from which on the peer's packets are valid, after the peer has forgotten this
    /// socket: earlier packets have other numbers.
    pub(crate) valid_from: Option<Moment>,
    /// The timestamp of the last packet by which the peer has shown that it does not know this
    /// socket: earlier packets to this socket are from an earlier state of the peer.
    pub(crate) unaware_at: Option<Moment>,
    pub(crate) last_heard: Instant,

    pub(crate) send: SendState,
    pub(crate) receive: ReceiveState,

    pub(crate) round_trip: RoundTrip,
    pub(crate) clock_offset: Option<ClockOffset>,
    /// The newest timestamp of the peer.
    pub(crate) echo: u32,
    /// The timestamp that the peer has echoed in that packet.
    pub(crate) echoed: u32,
    /// The time at which transmission times are renewed.
    pub(crate) renew_at: Instant,

    /// The time at which an answer is late. The wheel may fire earlier.
    pub(crate) deadline: Instant,
    /// Unanswered probes since `waiting_since`.
    pub(crate) probes: u32,
    pub(crate) waiting_since: Instant,
    pub(crate) is_reported_unreachable: bool,
    /// `true` if an ICMP error has caused a probe since the timer's last one.
    pub(crate) is_probed_early: bool,

    /// `true` while the peer is in the list of peers with something to transmit.
    pub(crate) ready: bool,
    pub(crate) next_ready: u32,
    pub(crate) probe_due: bool,
    pub(crate) ack_due: bool,
    /// `true` if the next acknowledgment must leave without waiting for data, with its bitmap.
    pub(crate) nak_due: bool,

    /// Neighbors in the list of unconfirmed peers.
    pub(crate) older: u32,
    pub(crate) newer: u32,
}

/// A packet: the time of its transmission or reception here, and its timestamp.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) at: Instant,
    pub(crate) timestamp: u32,
}

impl Moment {
    /// Returns `true` if a received packet was sent before this one. Packets that arrive much later
    /// were not: they would be stale. Their timestamps cannot be compared after 137 s.
    pub(crate) fn is_after(self, now: Instant, timestamp: u32) -> bool {
        is_before(timestamp, self.timestamp) && now.saturating_since(self.at) <= PACKET_LIFETIME * 2
    }
}

/// The direction to the peer.
#[derive(Debug)]
pub(crate) struct SendState {
    /// All packets not yet acknowledged, in order: those in flight, then those not yet sent.
    pub(crate) queue: Queue,
    /// The first packet of `queue` that was never sent.
    pub(crate) unsent: u32,
    /// The number of the next new packet.
    pub(crate) next: u32,
    /// The lowest number that the peer has not acknowledged.
    pub(crate) acknowledged: u32,
    /// Packets sent and neither acknowledged nor dropped.
    pub(crate) in_flight: u32,
    /// Packets in flight that must be sent again.
    pub(crate) lost: u32,
    /// The most packets that may be in flight.
    pub(crate) window: u32,
    /// Losses of packets below this number have already reduced the window.
    pub(crate) recovery_end: u32,
    /// Packets sent since an acknowledgment was last requested.
    pub(crate) since_request: u32,
    /// `true` if the peer's receive buffer is full.
    pub(crate) congested: bool,
    /// `true` if a send was refused because of that.
    pub(crate) was_refused: bool,
}

/// The direction from the peer.
#[derive(Debug)]
pub(crate) struct ReceiveState {
    /// `false` until a packet has shown where the peer's numbers start.
    pub(crate) is_synchronized: bool,
    /// The lowest number not yet received.
    pub(crate) expected: u32,
    /// Bit n: `expected + n` was received.
    pub(crate) bitmap: u64,
    /// Packets received out of order.
    pub(crate) out_of_order: Queue,
    /// The incomplete message, if any.
    pub(crate) partial: Option<PartialMessage>,
    /// Messages from this peer in the receive queue.
    pub(crate) queued: u32,
    /// `true` if a packet to the peer has carried the congestion flag since it was last cleared.
    pub(crate) reported_congestion: bool,
    /// The highest number received, plus 1, when a gap was last reported.
    pub(crate) reported_gap: u32,
}

/// A message of which some fragments are missing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartialMessage {
    /// Buffers for the message, up to `message_max` bytes; empty if it is longer than any message.
    pub(crate) buffers: Queue,
    /// The buffer that the next byte is written to.
    pub(crate) at: u32,
    /// The bytes of the message.
    pub(crate) length: usize,
    /// The bytes received.
    pub(crate) filled: usize,
}

impl SendState {
    /// Sets the number of the first packet.
    pub(crate) fn start_at(&mut self, first: u32) {
        (self.next, self.acknowledged, self.recovery_end) = (first, first, first);
    }
}

impl Peer {
    pub(crate) fn new(address: SocketAddr, now: Instant) -> Self {
        Self {
            address,
            incarnation: 0,
            accepted: Moment { at: now, timestamp: 0 },
            confirmed: true,
            knows_us: false,
            valid_from: None,
            unaware_at: None,
            last_heard: now,
            send: SendState {
                queue: Queue::EMPTY,
                unsent: NIL,
                next: 1,
                acknowledged: 1,
                in_flight: 0,
                lost: 0,
                window: WINDOW,
                recovery_end: 1,
                since_request: 0,
                congested: false,
                was_refused: false,
            },
            receive: ReceiveState {
                is_synchronized: false,
                expected: 1,
                bitmap: 0,
                out_of_order: Queue::EMPTY,
                partial: None,
                queued: 0,
                reported_congestion: false,
                reported_gap: 1,
            },
            round_trip: RoundTrip::default(),
            clock_offset: None,
            echo: 0,
            echoed: 0,
            renew_at: now,
            deadline: now,
            probes: 0,
            waiting_since: now,
            is_reported_unreachable: false,
            is_probed_early: false,
            ready: false,
            next_ready: NIL,
            probe_due: false,
            ack_due: false,
            nak_due: false,
            older: NIL,
            newer: NIL,
        }
    }

    /// Returns `true` if a timestamp of the peer is later than all earlier ones.
    #[inline]
    pub(crate) fn is_newest(&self, now: Instant, timestamp: u32) -> bool {
        is_before(self.echo, timestamp) || now.saturating_since(self.last_heard) > ECHO_LIFETIME
    }

    /// Returns `true` if the peer owes an answer.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        self.send.acknowledged != self.send.next || self.send.congested
    }

    /// Returns `true` if there is something to transmit now.
    #[inline]
    pub(crate) fn has_work(&self) -> bool {
        self.can_send_data() || self.ack_due || self.probe_due
    }

    #[inline]
    pub(crate) fn can_send_data(&self) -> bool {
        self.send.lost > 0 || self.can_send_new()
    }

    #[inline]
    pub(crate) fn can_send_new(&self) -> bool {
        let send = &self.send;
        send.unsent != NIL
            && !send.congested
            && send.next.wrapping_sub(send.acknowledged) < send.window
    }

    /// Returns `true` if the state is not needed to keep a promise, provided that the peer does not
    /// send any more: an incomplete message does not count.
    pub(crate) fn is_idle(&self) -> bool {
        !self.is_waiting() && self.send.queue.is_empty() && self.receive.queued == 0 && !self.ready
    }
}
