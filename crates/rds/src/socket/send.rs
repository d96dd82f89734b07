//! Sending, cancelling, and the outcome of messages.

use core::net::{IpAddr, SocketAddr};

use hairpin_time::Instant;

use super::Socket;
use crate::packet::{Flags, HEADER, LENGTH_PREFIX};
use crate::pool::{NIL, Queue};
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
        self.enqueue(now, to, length, false, fill)
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
        if self.tracked >= self.config.tracked_messages {
            self.counters.send_would_block += 1;
            return Err(SendError::WouldBlock);
        }
        let id = self.enqueue(now, to, length, true, fill)?;
        self.tracked += 1;
        Ok(id)
    }

    /// Returns `true` if the next send to `to` is accepted: the socket is bound, its send buffer
    /// has room and the destination is not congested. If not, [`Event::Writable`] reports the end
    /// of congestion.
    pub fn is_writable(&mut self, to: SocketAddr) -> bool {
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
    #[must_use]
    pub fn has_send_buffer(&self) -> bool {
        self.send_pool.free_count() >= self.fragments_max
    }

    /// Returns `true` if no message waits for an acknowledgment.
    #[must_use]
    pub fn is_acknowledged(&self) -> bool {
        self.send_pool.is_unused()
    }

    #[inline]
    fn enqueue(
        &mut self,
        now: Instant,
        to: SocketAddr,
        length: usize,
        tracked: bool,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<MessageId, SendError> {
        let index = self.check_send(now, to, length)?;
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
    fn check_send(
        &mut self,
        now: Instant,
        to: SocketAddr,
        length: usize,
    ) -> Result<u32, SendError> {
        if self.local.is_none() {
            return Err(SendError::NotBound);
        }
        if length > self.config.message_max {
            return Err(SendError::TooLong { max: self.config.message_max });
        }
        if !self.has_send_buffer() {
            self.counters.send_would_block += 1;
            return Err(SendError::WouldBlock);
        }
        let index = match self.peers.find(to.ip(), to.port()) {
            Some(index) => index,
            None => self.insert_destination(now, to)?,
        };
        let send = &mut self.peers.peer_mut(index).send;
        if send.congested {
            send.was_refused = true;
            self.counters.send_congested += 1;
            return Err(SendError::Congested);
        }
        Ok(index)
    }

    #[cold]
    fn insert_destination(&mut self, now: Instant, to: SocketAddr) -> Result<u32, SendError> {
        if !self.is_valid_destination(to) {
            return Err(SendError::InvalidDestination);
        }
        self.insert_peer(now, to).ok_or(SendError::TooManyPeers)
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
        let Some(index) = self.peers.find(to.ip(), to.port()) else { return 0 };
        let count = self.drop_messages(index, Dropped::All { refused: None });
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
    /// number. Messages that are kept are sent again.
    pub(super) fn drop_messages(&mut self, index: u32, dropped: Dropped) -> usize {
        let send = &mut self.peers.peer_mut(index).send;
        let mut queue = core::mem::replace(&mut send.queue, Queue::EMPTY);
        let (unsent, next) = (send.unsent, send.next);
        let mut kept = Queue::EMPTY;
        let (mut first_kept, mut first_unsent, mut in_flight) = (next, NIL, 0);
        let mut count = 0;
        // `true` after the first packet that was never sent.
        let mut is_unsent = false;
        // A message whose first packets were acknowledged and released may have been received.
        let mut may_be_received = true;
        while let Some(buffer) = queue.pop(&self.send_pool) {
            is_unsent |= buffer == unsent;
            let slot = self.send_pool.slot_mut(buffer);
            if slot.flags.has(Flags::FIRST) {
                may_be_received = !is_unsent && !dropped.is_refused(slot.sequence);
            }
            if !may_be_received && matches!(dropped, Dropped::Received { .. }) {
                if is_unsent {
                    first_unsent = if first_unsent == NIL { buffer } else { first_unsent };
                } else {
                    first_kept = if in_flight == 0 { slot.sequence } else { first_kept };
                    in_flight += 1;
                    (slot.lost, slot.received) = (true, false);
                }
                kept.push(&mut self.send_pool, buffer);
                continue;
            }
            let slot = *slot;
            if slot.flags.has(Flags::LAST) {
                count += 1;
                let outcome =
                    if may_be_received { Outcome::Unknown } else { Outcome::NotDelivered };
                self.conclude(slot.tracked, slot.owner, outcome);
            }
            self.send_pool.release(buffer);
        }
        let send = &mut self.peers.peer_mut(index).send;
        send.queue = kept;
        send.unsent = first_unsent;
        (send.in_flight, send.lost) = (in_flight, in_flight);
        if let Dropped::Received { .. } = dropped {
            send.acknowledged = first_kept;
        }
        count
    }

    /// Returns the number of a packet if the packet was transmitted once. An error about this
    /// packet then shows that the receiver has not got it, nor passed on any later one.
    pub(super) fn refused(
        &self,
        index: u32,
        is_refused: impl Fn(&crate::pool::Slot) -> bool,
    ) -> Option<u32> {
        let send = &self.peers.peer(index).send;
        let mut buffer = send.queue.head;
        while buffer != send.unsent && buffer != NIL {
            let slot = self.send_pool.slot(buffer);
            if is_refused(slot) {
                return (slot.transmissions == 1).then_some(slot.sequence);
            }
            buffer = slot.next;
        }
        None
    }

    /// Processes an error of the network: no socket is bound at the peer's address (ICMP
    /// destination unreachable, port unreachable, RFC 792). `quote` is the packet that the error
    /// returns, as far as it is known. All messages to the peer are dropped.
    pub fn handle_undeliverable(&mut self, peer: IpAddr, port: u16, quote: &[u8]) {
        let sequence = crate::packet::Header::decode_quoted(quote).map(|header| header.sequence);
        self.refuse(peer, port, sequence);
    }

    /// Drops all messages to a peer that has no socket.
    pub(super) fn refuse(&mut self, peer: IpAddr, port: u16, sequence: Option<u32>) {
        let Some(index) = self.peers.find(peer, port) else { return };
        let address = self.peers.peer(index).address;
        if self.peers.peer(index).send.queue.is_empty() {
            return;
        }
        let refused = self.refused(index, |slot| Some(slot.sequence) == sequence);
        let count = self.drop_messages(index, Dropped::All { refused });
        let send = &mut self.peers.peer_mut(index).send;
        // No receiver waits for the dropped packets.
        send.acknowledged = send.next;
        send.congested = false;
        self.counters.messages_dropped += count as u64;
        self.counters.peers_undeliverable += 1;
        self.report(Event::Undeliverable(address));
    }
}

/// The messages that [`Socket::drop_messages`] drops. The packet `refused` and later ones were
/// certainly not received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dropped {
    /// All messages.
    All { refused: Option<u32> },
    /// The messages that may have been received.
    Received { refused: Option<u32> },
}

impl Dropped {
    /// Returns `true` if a message that starts with this number was certainly not received.
    fn is_refused(self, first: u32) -> bool {
        let (Self::All { refused } | Self::Received { refused }) = self;
        refused.is_some_and(|refused| !crate::sequence::is_before(first, refused))
    }
}
