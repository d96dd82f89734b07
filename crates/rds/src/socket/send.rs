//! Sending, cancelling, and the outcome of messages.

use core::net::{IpAddr, SocketAddr};

use hairpin_time::Instant;

use super::Socket;
use crate::config::PACKET_LIFETIME;
use crate::packet::{Flags, HEADER, Header, LENGTH_PREFIX};
use crate::peer::Moment;
use crate::pool::{NIL, Queue, Slot};
use crate::sequence::is_before;
use crate::{Event, MessageId, Outcome, SendError};

impl Socket {
    /// Queues a message of `length` bytes, which `fill` writes, and returns at once. The message
    /// leaves with the next [`poll_transmit`](Self::poll_transmit).
    ///
    /// The buffer passed to `fill` is not zeroed.
    ///
    /// # Errors
    /// See [`SendError`]. `fill` was not called.
    #[inline]
    pub fn send(
        &mut self,
        now: Instant,
        to: SocketAddr,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<MessageId, SendError> {
        self.send_with(now, to, length, false, || Ok(()), fill)
    }

    /// Sends like [`send`](Self::send), and requests [`Event::Outcome`].
    ///
    /// # Errors
    /// See [`SendError`]. `WouldBlock` also if [`Config::tracked_messages`] outcomes are requested
    /// and not yet read.
    ///
    /// [`Config::tracked_messages`]: crate::Config::tracked_messages
    pub fn send_tracked(
        &mut self,
        now: Instant,
        to: SocketAddr,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<MessageId, SendError> {
        self.send_with(now, to, length, true, || Ok(()), fill)
    }

    /// Returns `true` if the next send to `to` is accepted: the socket is bound, its send buffer
    /// has room and the destination is not congested. If not, [`Event::Writable`] reports the end
    /// of congestion.
    pub fn is_writable(&mut self, to: SocketAddr) -> bool {
        self.process_deferred();
        if self.local.is_none() || !self.has_send_buffer() {
            return false;
        }
        match self.peers.find(to.ip(), to.port()) {
            Some(index) => {
                let send = &mut self.peers.peer_mut(index).send;
                send.was_refused |= send.congested;
                !send.congested
            }
            None => true,
        }
    }

    /// Returns `true` if the send buffer accepts a message of any length.
    pub(super) fn has_send_buffer(&self) -> bool {
        self.send_pool.free_count() >= self.fragments_max
    }

    /// Returns `true` if no message waits for an acknowledgment. The acknowledgment that came with
    /// the last message counts from the next [`poll_transmit`](Self::poll_transmit) on.
    #[must_use]
    pub fn is_acknowledged(&self) -> bool {
        self.send_pool.is_unused()
    }

    /// Sends like [`send`](Self::send), or like [`send_tracked`](Self::send_tracked) if `tracked`
    /// is `true`. Calls `check_path` before the first message to a peer, whose path may not exist.
    ///
    /// # Errors
    /// As for these two; those of `check_path`. Nothing was queued.
    #[inline]
    pub fn send_with<E: From<SendError>>(
        &mut self,
        now: Instant,
        to: SocketAddr,
        length: usize,
        tracked: bool,
        check_path: impl FnOnce() -> Result<(), E>,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<MessageId, E> {
        let index = self.check_send(now, to, length, tracked, check_path)?;
        self.tracked += usize::from(tracked);
        let id = self.next_message;
        self.next_message += 1;
        let payload_max = self.config.payload_max();
        let mut buffers = Queue::EMPTY;
        if length <= payload_max {
            let buffer = self.send_pool.allocate().expect("the send buffer has room");
            fill(&mut self.send_pool.bytes_mut(buffer, HEADER + length)[HEADER..]);
            self.send_pool.slot_mut(buffer).length = length as u16;
            buffers.push(&mut self.send_pool, buffer);
        } else {
            buffers = self.fragment(length, fill);
        }
        let slot = self.send_pool.slot_mut(buffers.head);
        slot.flags.set(Flags::FIRST);
        let slot = self.send_pool.slot_mut(buffers.tail);
        slot.flags.set(Flags::LAST);
        slot.owner = id;
        slot.tracked = tracked;

        let send = &mut self.peers.peer_mut(index).send;
        match send.queue.tail {
            NIL => send.queue.head = buffers.head,
            tail => self.send_pool.slot_mut(tail).next = buffers.head,
        }
        send.queue.tail = buffers.tail;
        if send.unsent == NIL {
            send.unsent = buffers.head;
        }
        self.counters.messages_sent += 1;
        self.counters.bytes_sent += length as u64;
        if self.peers.peer(index).has_work() {
            self.make_ready(index);
        }
        Ok(MessageId(id))
    }

    /// Checks a send and returns the slot of its destination.
    #[inline]
    fn check_send<E: From<SendError>>(
        &mut self,
        now: Instant,
        to: SocketAddr,
        length: usize,
        tracked: bool,
        check_path: impl FnOnce() -> Result<(), E>,
    ) -> Result<u32, E> {
        if self.local.is_none() {
            return Err(SendError::NotBound.into());
        }
        if length > self.config.message_max {
            return Err(SendError::TooLong { max: self.config.message_max }.into());
        }
        if tracked && self.tracked >= self.config.tracked_messages {
            self.counters.send_would_block += 1;
            return Err(SendError::WouldBlock.into());
        }
        if !self.has_send_buffer() {
            self.process_deferred();
            if !self.has_send_buffer() {
                self.counters.send_would_block += 1;
                return Err(SendError::WouldBlock.into());
            }
        }
        let index = match self.peers.find(to.ip(), to.port()) {
            Some(index) => index,
            None => self.insert_destination(now, to, check_path)?,
        };
        let send = &mut self.peers.peer_mut(index).send;
        if send.congested {
            send.was_refused = true;
            self.counters.send_congested += 1;
            return Err(SendError::Congested.into());
        }
        Ok(index)
    }

    #[cold]
    fn insert_destination<E: From<SendError>>(
        &mut self,
        now: Instant,
        to: SocketAddr,
        check_path: impl FnOnce() -> Result<(), E>,
    ) -> Result<u32, E> {
        let is_same_family = self.local.is_some_and(|local| local.is_ipv4() == to.is_ipv4());
        if !is_same_family || !super::is_unicast(to.ip()) || to.port() == 0 {
            return Err(SendError::InvalidDestination.into());
        }
        check_path()?;
        Ok(self.insert_peer(now, to).ok_or(SendError::TooManyPeers)?)
    }

    /// Writes a message into the assembly buffer and splits it.
    fn fragment(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> Queue {
        let message = &mut self.assembly[..length];
        fill(message);
        let payload_max = self.config.payload_max();
        let mut buffers = Queue::EMPTY;
        let mut rest = &*message;
        let mut prefix = LENGTH_PREFIX;
        while !rest.is_empty() {
            let (part, after) = rest.split_at(rest.len().min(payload_max - prefix));
            let buffer = self.send_pool.allocate().expect("the send buffer has room");
            let bytes = &mut self.send_pool.bytes_mut(buffer, HEADER + prefix + part.len());
            if prefix > 0 {
                bytes[HEADER..][..prefix].copy_from_slice(&(length as u32).to_be_bytes());
            }
            bytes[HEADER + prefix..].copy_from_slice(part);
            self.send_pool.slot_mut(buffer).length = (prefix + part.len()) as u16;
            buffers.push(&mut self.send_pool, buffer);
            (rest, prefix) = (after, 0);
        }
        buffers
    }

    /// Cancels all messages to `to` that are not yet acknowledged, and returns their number. The
    /// receiver is notified, so that it does not wait for the cancelled packets. A requested
    /// outcome is `NotDelivered` if no part of the message was transmitted, otherwise `Unknown`.
    pub fn cancel(&mut self, now: Instant, to: SocketAddr) -> usize {
        self.process_deferred();
        let Some(index) = self.peers.find(to.ip(), to.port()) else { return 0 };
        let count = self.drop_messages(index, Dropped::All);
        self.counters.messages_cancelled += count as u64;
        if count > 0 {
            let peer = self.peers.peer_mut(index);
            if peer.is_waiting() {
                peer.probe_due = true;
                self.start_waiting(now, index);
                self.make_ready(index);
            }
        }
        count
    }

    /// Cancels all messages to all peers, like [`cancel`](Self::cancel).
    pub fn cancel_all(&mut self, now: Instant) -> usize {
        let mut count = 0;
        let mut next = 0;
        while let Some(index) = self.peers.first_used(next) {
            let to = self.peers.peer(index).address;
            count += self.cancel(now, to);
            next = index + 1;
        }
        count
    }

    /// Drops messages to a peer, concludes those whose outcome was requested, and returns their
    /// number. What remains in flight is not marked as lost.
    pub(super) fn drop_messages(&mut self, index: u32, dropped: Dropped) -> usize {
        let send = &mut self.peers.peer_mut(index).send;
        let mut queue = core::mem::replace(&mut send.queue, Queue::EMPTY);
        let mut unsent = core::mem::replace(&mut send.unsent, NIL);
        (send.in_flight, send.lost) = (0, 0);
        let mut count = 0;
        let mut is_unsent = false;
        // The first message may lack the packets that were acknowledged and released.
        let mut is_dropped = true;
        let mut was_sent = true;
        let mut was_refused = false;
        while let Some(buffer) = queue.pop(&self.send_pool) {
            is_unsent |= buffer == unsent;
            let slot = *self.send_pool.slot(buffer);
            if slot.flags.has(Flags::FIRST) {
                was_sent = !is_unsent;
                is_dropped = dropped.includes(&slot, was_sent);
                was_refused = dropped.is_refused(&slot);
            }
            if !is_dropped {
                let send = &mut self.peers.peer_mut(index).send;
                send.in_flight += u32::from(!is_unsent);
                send.lost += u32::from(slot.lost);
                send.queue.push(&mut self.send_pool, buffer);
                continue;
            }
            if is_unsent {
                // The next message starts with the first packet that was never sent.
                unsent = queue.head;
            }
            if slot.flags.has(Flags::LAST) {
                count += 1;
                let is_seen = was_sent && !was_refused;
                let outcome = if is_seen { Outcome::Unknown } else { Outcome::NotDelivered };
                self.conclude(slot.tracked, slot.owner, outcome);
            }
            self.send_pool.release(buffer);
        }
        self.last_sent = None;
        self.peers.peer_mut(index).send.unsent = unsent;
        count
    }

    /// Processes an ICMP error of the kind that is final: no socket is bound at the peer's address
    /// (port unreachable; RFC 792, type 3, code 3; RFC 4443, type 1, code 4). `quote` is the packet
    /// that the error returns, as far as it is known.
    ///
    /// The error counts only if it quotes a packet of this socket to this peer: with both ports and
    /// both incarnations. The messages sent before that packet are dropped. An error with another
    /// quote, or with one that is too short, is treated like
    /// [`handle_unreachable`](Self::handle_unreachable): any host can have sent it.
    pub fn handle_undeliverable(&mut self, peer: IpAddr, port: u16, quote: &[u8]) {
        let quoted = Header::decode_quoted(quote);
        match quoted.filter(|quoted| self.has_sent(peer, port, quoted)) {
            Some(quoted) => {
                self.counters.icmp_accepted += 1;
                self.refuse(peer, port, quoted.timestamp);
            }
            None => self.handle_unreachable(peer, port),
        }
    }

    /// Processes an ICMP error of any other kind about a peer. It may be forged, or concern a
    /// packet of long ago, or a router that will find another path (RFC 1122, 4.2.3.9). So nothing
    /// is dropped. A peer that owes an answer is probed, with at most one probe for each that its
    /// timer sends: a flood of forged errors causes no flood of probes.
    pub fn handle_unreachable(&mut self, peer: IpAddr, port: u16) {
        self.counters.icmp_ignored += 1;
        self.process_deferred();
        let Some(index) = self.peers.find(peer, port) else { return };
        let peer = self.peers.peer_mut(index);
        if peer.is_waiting() && !core::mem::replace(&mut peer.is_probed_early, true) {
            peer.probe_due = true;
            self.make_ready(index);
        }
    }

    /// Returns `true` if a quoted packet is one of this socket's to this peer.
    fn has_sent(&mut self, peer: IpAddr, port: u16, quoted: &Header) -> bool {
        let known = self.peers.find(peer, port).map(|index| self.peers.peer(index).incarnation);
        self.local.is_some_and(|local| local.port() == quoted.source_port)
            && quoted.destination_port == port
            && quoted.source_incarnation == self.incarnation
            && known == Some(quoted.destination_incarnation)
    }

    /// Drops the messages to a peer that were sent before `refused`, the timestamp of a packet that
    /// has found no socket.
    pub(super) fn refuse(&mut self, peer: IpAddr, port: u16, refused: u32) {
        self.process_deferred();
        let Some(index) = self.peers.find(peer, port) else { return };
        let (now, peer) = (self.last_transmission.at, self.peers.peer(index));
        // The peer has answered a later packet, or the packet was refused before.
        let was_answered = now.saturating_since(peer.last_heard) <= PACKET_LIFETIME
            && peer.incarnation != 0
            && is_before(refused, peer.echoed);
        if was_answered || !self.is_answer(now, refused, peer.accepted) {
            self.counters.dropped_incarnation += 1;
            return;
        }
        let address = peer.address;
        let is_waiting = peer.is_waiting();
        // No socket has ever answered, and the packet exists once: its message was not received.
        let first_refused = Some(refused)
            .filter(|&at| self.peers.peer(index).incarnation == 0 && self.was_sent_once(index, at));
        let dropped = Dropped::Refused { until: refused, first_refused };
        let count = self.drop_messages(index, dropped);
        self.counters.messages_dropped += count as u64;
        self.skip_dropped(index);
        let latest = self.last_transmission;
        let peer = self.peers.peer_mut(index);
        peer.accepted = Moment { timestamp: refused, ..latest };
        peer.send.congested = false;
        let was_refused = core::mem::take(&mut peer.send.was_refused);
        if peer.has_work() {
            self.make_ready(index);
        }
        if is_waiting {
            self.counters.peers_undeliverable += 1;
            self.report(Event::Undeliverable(address));
        }
        if was_refused {
            self.report_writable(address);
        }
    }

    /// Treats dropped packets as acknowledged: the peer does not wait for them.
    pub(super) fn skip_dropped(&mut self, index: u32) {
        let send = &mut self.peers.peer_mut(index).send;
        send.acknowledged = match send.in_flight {
            0 => send.next,
            _ => self.send_pool.slot(send.queue.head).sequence,
        };
    }
}

/// The messages that [`Socket::drop_messages`] drops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dropped {
    All,
    /// The messages whose first packet was first sent with this timestamp or earlier.
    SentUntil(u32),
    /// The same. The packet first sent with the timestamp `first_refused` was not received.
    Refused {
        until: u32,
        first_refused: Option<u32>,
    },
}

impl Dropped {
    fn includes(self, first: &Slot, was_sent: bool) -> bool {
        match self {
            Self::All => true,
            Self::SentUntil(until) | Self::Refused { until, .. } => {
                was_sent && !is_before(until, first.first_sent_at)
            }
        }
    }

    /// Returns `true` if a message that starts with this packet was certainly not received.
    fn is_refused(self, first: &Slot) -> bool {
        match self {
            Self::Refused { first_refused: Some(refused), .. } => {
                !is_before(first.first_sent_at, refused)
            }
            _ => false,
        }
    }
}
