//! The socket.

mod association;
mod receive;
mod send;
mod timeout;
mod transmit;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec;
use core::fmt;
use core::net::{IpAddr, SocketAddr};
use core::num::NonZeroU32;

use hairpin_time::Instant;

use crate::packet::HEADER;
use crate::peer::Moment;
use crate::peer_table::PeerTable;
use crate::pool::{NIL, Pool, Queue};
use crate::timer_wheel::TimerWheel;
use crate::{BindError, Config, Counters, Event, MESSAGE_MAX, Outcome, timestamp};
use association::Reply;
use receive::Deferred;

/// A received message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// The sender's address and RDS port.
    pub source: SocketAddr,
    /// The message, which may be empty: its first [`Config::message_max`] bytes, if it has more.
    pub bytes: &'a [u8],
    /// The length of the whole message.
    pub length: usize,
}

/// The treatment of a message that a packet completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Return the message from [`Socket::handle_packet`] if possible, in the packet's own bytes.
    InPlace,
    /// Copy the message to the receive queue.
    Queue,
}

/// A packet to transmit.
#[derive(Debug, Clone, Copy)]
pub struct Transmit<'a> {
    /// The destination's address and RDS port.
    pub to: SocketAddr,
    /// The slot of the destination, below [`Config::peers`], for a table of paths beside the
    /// socket. A slot is used again for another address. `None` for an answer to an unknown sender.
    pub slot: Option<u32>,
    /// The packet.
    pub packet: &'a [u8],
    /// `true` if [`Socket::poll_transmit`] may return another packet now, so that a carrier can
    /// send several together.
    pub has_more: bool,
}

/// A socket: sends messages to any peer and receives messages from all of them.
///
/// See the [crate] for the contract and an example.
pub struct Socket {
    config: Config,
    local: Option<SocketAddr>,
    incarnation: u32,
    peers: PeerTable,
    wheel: TimerWheel,
    bound_at: Instant,
    evicted_at: Option<Instant>,
    /// The number of the first packet to a new peer: above all numbers used to evicted peers, so
    /// that an evicted peer that returns skips the numbers it knows.
    first_sequence: u32,
    /// The last transmission before the bind or the last eviction. For 10 s a sender that is not
    /// known must first prove its incarnation: its packet may be a copy of one that an earlier
    /// socket or an evicted peer has received.
    cleared: Moment,
    last_transmission: Moment,

    /// The buffers that a longest message needs.
    fragments_max: usize,
    /// Below this number of free buffers, the sender requests acknowledgments more often.
    send_low_water: usize,
    /// The number of queued buffers above which the socket is congested.
    receive_limit: usize,
    send_pool: Pool,
    receive_pool: Pool,
    /// The messages that are not yet read: the first buffers of the first and the last one.
    messages: Queue,
    /// The buffers of these messages.
    queued_buffers: usize,
    /// A fragmented message in one piece.
    assembly: Box<[u8]>,
    congested: bool,

    /// Peers with something to transmit, linked by `Peer::next_ready`.
    first_ready: u32,
    last_ready: u32,
    /// The acknowledgment that came with the last message delivered in place.
    deferred: Option<Deferred>,
    /// The packet that `poll_transmit` returned last, with its peer.
    last_sent: Option<(u32, LastSent)>,
    /// Answers to unknown senders.
    replies: VecDeque<Reply>,
    /// The buffer of packets without data.
    control: [u8; HEADER + 8],

    /// Unconfirmed peers, linked by `Peer::older` and `Peer::newer`.
    oldest_unconfirmed: u32,
    newest_unconfirmed: u32,
    unconfirmed: usize,

    /// `true` if [`Event::Writable`] waits for room in the send buffer.
    writable_is_due: bool,
    events: VecDeque<Event>,
    /// The events in `events` that are no outcomes.
    other_events: usize,
    tracked: usize,
    next_message: u64,
    counters: Counters,
}

/// The kind of the packet that was transmitted last.
#[derive(Debug, Clone, Copy)]
enum LastSent {
    /// A packet of the send pool.
    Data(u32),
    Ack,
    Probe,
}

/// The number of answers to unknown senders that can wait; further ones are dropped, and the
/// senders repeat their packets.
const REPLIES: usize = 64;

impl Socket {
    /// Allocates a socket, which is not yet bound.
    #[must_use]
    pub fn new(config: Config, now: Instant) -> Self {
        let config = config.clamped();
        let largest = config.message_max.div_ceil(config.packet_max).max(1);
        let send_buffers = config.send_limit() + config.fragments(config.message_max);
        let receive_buffers = 2 * config.receive_limit() + largest;
        Self {
            local: None,
            incarnation: 0,
            peers: PeerTable::new(config.peers, now),
            wheel: TimerWheel::new(config.peers, now),
            bound_at: now,
            evicted_at: None,
            first_sequence: 1,
            cleared: Moment { at: now, timestamp: 0 },
            last_transmission: Moment { at: now, timestamp: 0 },
            fragments_max: config.fragments(config.message_max),
            send_low_water: config.send_limit() / 2,
            receive_limit: config.receive_limit(),
            send_pool: Pool::new(send_buffers, config.packet_max),
            receive_pool: Pool::new(receive_buffers, config.packet_max),
            messages: Queue::EMPTY,
            queued_buffers: 0,
            assembly: vec![0; config.message_max.max(config.packet_max)].into_boxed_slice(),
            congested: false,
            first_ready: NIL,
            last_ready: NIL,
            deferred: None,
            last_sent: None,
            replies: VecDeque::with_capacity(REPLIES),
            control: [0; HEADER + 8],
            oldest_unconfirmed: NIL,
            newest_unconfirmed: NIL,
            unconfirmed: 0,
            writable_is_due: false,
            events: VecDeque::with_capacity(config.tracked_messages + 4 * config.peers),
            other_events: 0,
            tracked: 0,
            next_message: 1,
            counters: Counters::default(),
            config,
        }
    }

    /// Binds the socket to an address of this host and an RDS port.
    ///
    /// `incarnation` is a random number. It distinguishes this socket from an earlier one with the
    /// same address.
    ///
    /// # Errors
    /// See [`BindError`].
    pub fn bind(
        &mut self,
        now: Instant,
        local: SocketAddr,
        incarnation: NonZeroU32,
    ) -> Result<(), BindError> {
        if self.local.is_some() {
            return Err(BindError::AlreadyBound);
        }
        if !is_unicast(local.ip()) {
            return Err(BindError::InvalidAddress);
        }
        self.local = Some(local);
        self.incarnation = incarnation.get();
        self.peers.set_seed(incarnation.get());
        self.bound_at = now;
        self.last_transmission = Moment { at: now, timestamp: timestamp::from_instant(now) };
        self.cleared = self.last_transmission;
        Ok(())
    }

    /// Returns the bound address and RDS port.
    #[must_use]
    pub fn local_address(&self) -> Option<SocketAddr> {
        self.local
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the sizes in effect.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns `true` if the receive buffer is full, as peers are notified.
    #[must_use]
    pub fn is_congested(&self) -> bool {
        self.congested
    }

    /// Returns `true` if [`poll_transmit`](Self::poll_transmit) may have a packet.
    #[inline]
    #[must_use]
    pub fn has_pending_transmit(&self) -> bool {
        self.deferred.is_some() || self.has_packet()
    }

    /// Returns `true` if a packet is ready, apart from those that a deferred acknowledgment allows.
    #[inline]
    fn has_packet(&self) -> bool {
        self.first_ready != NIL || !self.replies.is_empty()
    }

    /// Returns `true` if no message is queued.
    #[inline]
    #[must_use]
    pub fn is_receive_queue_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns the next event. Events precede the messages received after them.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.process_deferred();
        if self.writable_is_due && self.has_send_buffer() {
            self.report_delayed_writable();
        }
        let event = self.events.pop_front()?;
        match event {
            Event::Outcome { .. } => self.tracked -= 1,
            _ => self.other_events -= 1,
        }
        Some(event)
    }

    /// Records an event that is no outcome. One that repeats the last unread event is dropped.
    fn report(&mut self, event: Event) {
        if self.events.back() == Some(&event) {
            return;
        }
        if self.other_events < 4 * self.config.peers {
            self.other_events += 1;
            self.events.push_back(event);
        } else {
            self.counters.events_dropped += 1;
        }
    }

    /// Reports that the next send to a peer is accepted, as soon as the send buffer has room.
    fn report_writable(&mut self, address: SocketAddr) {
        match self.peers.find(address.ip(), address.port()) {
            Some(index) if !self.has_send_buffer() => {
                self.peers.peer_mut(index).send.was_refused = true;
                self.writable_is_due = true;
            }
            _ => self.report(Event::Writable(address)),
        }
    }

    /// Reports all peers for which [`report_writable`](Self::report_writable) had no room.
    #[cold]
    fn report_delayed_writable(&mut self) {
        self.writable_is_due = false;
        let mut next = 0;
        while let Some(index) = self.peers.first_used(next) {
            next = index + 1;
            let peer = self.peers.peer_mut(index);
            if peer.send.was_refused && !peer.send.congested {
                peer.send.was_refused = false;
                let address = peer.address;
                self.report(Event::Writable(address));
            }
        }
    }

    /// Adds a peer to the list of peers with something to transmit.
    #[inline]
    fn make_ready(&mut self, index: u32) {
        let peer = self.peers.peer_mut(index);
        if peer.ready {
            return;
        }
        peer.ready = true;
        peer.next_ready = NIL;
        match self.last_ready {
            NIL => self.first_ready = index,
            last => self.peers.peer_mut(last).next_ready = index,
        }
        self.last_ready = index;
    }

    /// Returns the first peer of that list.
    #[inline]
    fn pop_ready(&mut self) -> Option<u32> {
        let index = self.first_ready;
        if index == NIL {
            return None;
        }
        let peer = self.peers.peer_mut(index);
        peer.ready = false;
        self.first_ready = peer.next_ready;
        if self.first_ready == NIL {
            self.last_ready = NIL;
        }
        Some(index)
    }

    /// Removes a peer from that list: the list is short when peers are removed.
    fn remove_ready(&mut self, index: u32) {
        if !self.peers.peer(index).ready {
            return;
        }
        let count_first = self.first_ready;
        self.first_ready = NIL;
        self.last_ready = NIL;
        let mut at = count_first;
        while at != NIL {
            let next = self.peers.peer(at).next_ready;
            self.peers.peer_mut(at).ready = false;
            if at != index {
                self.make_ready(at);
            }
            at = next;
        }
    }

    /// Records the outcome of a message if it was requested. There is always room, because tracked
    /// messages are limited.
    fn conclude(&mut self, tracked: bool, id: u64, outcome: Outcome) {
        if tracked {
            self.events.push_back(Event::Outcome { id: crate::MessageId(id), outcome });
        }
    }
}

/// Returns `true` for an address that can be an endpoint.
fn is_unicast(address: IpAddr) -> bool {
    let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    !address.is_unspecified() && !address.is_multicast() && !is_broadcast
}

const _: () = assert!(MESSAGE_MAX < u32::MAX as usize);

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Socket").field("local", &self.local).finish_non_exhaustive()
    }
}
