//! Reception: packets in, messages out.

use core::net::{IpAddr, SocketAddr};

use hairpin_time::Instant;

use super::timeout::RENEW_AFTER;
use super::{Delivery, Message, Socket};
use crate::config::WINDOW;
use crate::packet::{Flags, Header, Kind, LENGTH_PREFIX, PacketError};
use crate::peer::PartialMessage;
use crate::pool::{NIL, Queue};
use crate::sequence::{is_before, later};
use crate::{Event, MESSAGE_MAX, Outcome, timestamp};

/// The silence after which the incomplete message of a peer gives way to another message.
const PARTIAL_LIFETIME: hairpin_time::Duration = hairpin_time::Duration::from_secs(10);

/// An acknowledgment that is not yet processed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deferred {
    /// The time of the packet.
    now: Instant,
    index: u32,
    acknowledgment: u32,
    echo: u32,
}

impl Socket {
    /// Processes a received packet. Returns a message if the packet contains the next one of its
    /// sender and `delivery` allows it. Other messages are queued for [`receive`](Self::receive).
    ///
    /// Invalid packets are counted and dropped. Events may be pending afterwards.
    #[inline]
    pub fn handle_packet<'p>(
        &mut self,
        now: Instant,
        from: IpAddr,
        packet: &'p [u8],
        delivery: Delivery,
    ) -> Option<Message<'p>> {
        self.process_deferred();
        self.counters.packets_received += 1;
        let (header, payload) = match Header::decode(packet, self.config.crc32c) {
            Ok(decoded) => decoded,
            Err(error) => {
                self.count_invalid(error);
                return None;
            }
        };
        if self.local.is_none_or(|local| local.port() != header.destination_port) {
            self.counters.dropped_port += 1;
            return None;
        }
        let index = self.associate(now, from, &header)?;
        self.update_peer(now, index, &header)?;
        if delivery == Delivery::InPlace && self.is_next_message(index, &header) {
            return self.deliver_in_place(now, index, &header, payload);
        }
        self.handle_acknowledgment(now, index, &header);
        match header.kind {
            Kind::Data => self.handle_data(now, index, &header, payload),
            Kind::Ack => self.handle_bitmap(now, index, &header, payload),
            Kind::Probe => {
                self.skip_to_floor(index, header.floor);
                self.request_ack(index, true);
            }
            Kind::Challenge | Kind::Reject => {}
        }
        if self.peers.peer(index).has_work() {
            self.make_ready(index);
        }
        None
    }

    #[cold]
    fn count_invalid(&mut self, error: PacketError) {
        match error {
            PacketError::Malformed => self.counters.dropped_malformed += 1,
            PacketError::Version => self.counters.dropped_version += 1,
            PacketError::Checksum => self.counters.dropped_checksum += 1,
        }
    }

    /// Updates clocks, congestion and the start of the peer's numbers. Drops stale packets.
    #[inline]
    fn update_peer(&mut self, now: Instant, index: u32, header: &Header) -> Option<()> {
        let peer = self.peers.peer_mut(index);
        let difference = timestamp::from_instant(now).wrapping_sub(header.timestamp);
        if peer.clock_offset.as_mut().is_some_and(|offset| !offset.accept(now, difference)) {
            self.counters.dropped_stale += 1;
            return None;
        }
        if peer.valid_from.is_some_and(|from| from.is_after(now, header.timestamp)) {
            self.counters.dropped_stale += 1;
            return None;
        }
        let is_newest = peer.is_newest(now, header.timestamp);
        peer.last_heard = now;
        peer.waiting_since = now;
        peer.is_reported_unreachable = false;
        if !peer.receive.is_synchronized {
            peer.receive.is_synchronized = true;
            peer.receive.expected = header.floor;
            peer.receive.reported_gap = header.floor;
        }
        if is_newest {
            peer.echo = header.timestamp;
            peer.echoed = header.echo;
            let congested = header.flags.has(Flags::CONGESTED);
            if congested != peer.send.congested {
                self.set_congested(now, index, congested);
            }
        }
        Some(())
    }

    #[cold]
    fn set_congested(&mut self, now: Instant, index: u32, congested: bool) {
        let peer = self.peers.peer_mut(index);
        peer.send.congested = congested;
        let address = peer.address;
        if congested {
            if !self.wheel.is_present(index) {
                self.start_waiting(now, index);
            }
        } else {
            if core::mem::take(&mut peer.send.was_refused) {
                self.report_writable(address);
            }
            self.start_waiting(now, index);
            self.make_ready(index);
        }
    }

    #[inline]
    fn handle_acknowledgment(&mut self, now: Instant, index: u32, header: &Header) {
        if !header.flags.has(Flags::NO_ACKNOWLEDGMENT) {
            let Header { acknowledgment, echo, .. } = *header;
            self.process_acknowledgment(Deferred { now, index, acknowledgment, echo });
        }
    }

    /// Processes the acknowledgment of the message that was delivered last, if that is still to be
    /// done.
    #[inline]
    pub(super) fn process_deferred(&mut self) {
        if let Some(deferred) = self.deferred.take() {
            self.process_acknowledgment(deferred);
        }
    }

    /// Releases what the peer has received.
    pub(super) fn process_acknowledgment(&mut self, received: Deferred) {
        let Deferred { now, index, acknowledgment, echo } = received;
        let send = &mut self.peers.peer_mut(index).send;
        let acknowledged = acknowledgment.wrapping_sub(send.acknowledged);
        if acknowledged == 0 {
            return;
        }
        if acknowledged > send.next.wrapping_sub(send.acknowledged) {
            // Older than the last one, or of numbers that were not sent.
            self.counters.dropped_window += u64::from((acknowledged as i32) > 0);
            return;
        }
        self.last_sent = None;
        send.acknowledged = acknowledgment;
        send.window = (send.window + acknowledged).min(WINDOW);
        while send.in_flight > 0 {
            let buffer = send.queue.head;
            let slot = self.send_pool.slot(buffer);
            if !is_before(slot.sequence, acknowledgment) {
                break;
            }
            let (is_lost, tracked, owner) = (slot.lost, slot.tracked, slot.owner);
            send.queue.pop(&self.send_pool);
            send.in_flight -= 1;
            send.lost -= u32::from(is_lost);
            self.send_pool.release(buffer);
            if tracked {
                self.events.push_back(Event::Outcome {
                    id: crate::MessageId(owner),
                    outcome: Outcome::Delivered,
                });
            }
        }
        let peer = self.peers.peer_mut(index);
        let sample = timestamp::from_instant(now).wrapping_sub(echo) as i32;
        peer.round_trip.add((sample.max(0) as u32).saturating_mul(64) / 1_000);
        if peer.send.in_flight == 1 {
            // Perhaps the first packet in flight, sent while the acknowledgment was deferred.
            peer.renew_at = now + RENEW_AFTER;
        }
        let has_work = peer.has_work();
        if peer.is_waiting() {
            self.start_waiting(now, index);
        }
        if has_work {
            self.make_ready(index);
        }
    }

    /// Finds the packets that the peer lacks although it has received a later one.
    fn handle_bitmap(&mut self, now: Instant, index: u32, header: &Header, payload: &[u8]) {
        let bitmap = u64::from_be_bytes(payload.try_into().unwrap_or_default());
        if header.flags.has(Flags::GAP) {
            self.counters.naks_received += 1;
        }
        let send = &mut self.peers.peer_mut(index).send;
        if header.acknowledgment != send.acknowledged {
            // An older acknowledgment than the last one.
            return;
        }
        // A congested receiver drops what it has no room for. The next probe tries again.
        let is_congested = header.flags.has(Flags::CONGESTED);
        let (mut buffer, end) = (send.queue.head, send.unsent);
        let mut first_lost = None;
        while buffer != end {
            let slot = self.send_pool.slot_mut(buffer);
            let distance = slot.sequence.wrapping_sub(header.acknowledgment);
            slot.received = distance < 64 && bitmap >> distance & 1 == 1;
            let was_sent_before = is_before(slot.sent_at, header.echo);
            if !slot.received && !slot.lost && was_sent_before && !is_congested {
                slot.lost = true;
                send.lost += 1;
                first_lost = first_lost.or(Some(slot.sequence));
            } else if slot.received && slot.lost {
                slot.lost = false;
                send.lost -= 1;
            }
            buffer = slot.next;
        }
        let Some(sequence) = first_lost else { return };
        if !is_before(sequence, send.recovery_end) {
            send.window = (send.window / 2).max(2);
            send.recovery_end = send.next;
            self.counters.windows_halved += 1;
        }
        // The probes were answered. The wait for the retransmission starts.
        self.start_waiting(now, index);
    }

    /// Returns `true` for a packet with a whole message, the next of its sender.
    #[inline]
    fn is_next_message(&self, index: u32, header: &Header) -> bool {
        let receive = &self.peers.peer(index).receive;
        header.kind == Kind::Data
            && header.flags.has(Flags(Flags::FIRST.0 | Flags::LAST.0))
            && header.sequence == receive.expected
            && !is_before(receive.expected, header.floor)
            && receive.queued == 0
            && receive.bitmap == 0
            && receive.partial.is_none()
    }

    /// Returns the message of the packet for which [`is_next_message`](Self::is_next_message) is
    /// `true`. Its acknowledgment is processed later, so that the owner has the message earlier.
    #[inline]
    fn deliver_in_place<'p>(
        &mut self,
        now: Instant,
        index: u32,
        header: &Header,
        payload: &'p [u8],
    ) -> Option<Message<'p>> {
        let must_ack = header.flags.has(Flags::ACK_REQUESTED) || self.congested;
        let peer = self.peers.peer_mut(index);
        let is_progress = header.acknowledgment != peer.send.acknowledged;
        if is_progress && !header.flags.has(Flags::NO_ACKNOWLEDGMENT) {
            let Header { acknowledgment, echo, .. } = *header;
            self.deferred = Some(Deferred { now, index, acknowledgment, echo });
        }
        if payload.len() > self.config.payload_max() {
            self.counters.dropped_malformed += 1;
            return None;
        }
        peer.receive.expected = peer.receive.expected.wrapping_add(1);
        let source = peer.address;
        self.counters.messages_received += 1;
        self.counters.bytes_received += payload.len() as u64;
        if must_ack {
            self.request_ack(index, false);
        }
        Some(Message { source, bytes: payload, length: payload.len() })
    }

    fn handle_data(&mut self, now: Instant, index: u32, header: &Header, payload: &[u8]) {
        if payload.len() > self.config.payload_max() {
            self.counters.dropped_malformed += 1;
            return;
        }
        self.skip_to_floor(index, header.floor);
        let peer = self.peers.peer_mut(index);
        let distance = header.sequence.wrapping_sub(peer.receive.expected);
        if distance >= WINDOW {
            if distance as i32 >= 0 {
                self.counters.dropped_window += 1;
            } else {
                self.counters.duplicates += 1;
                // The acknowledgment was lost.
                self.request_ack(index, true);
            }
            return;
        }
        if distance == 0 {
            self.accept_next(now, index, header, payload);
        } else {
            self.store_out_of_order(index, header, payload, distance);
        }
        let must_ack = header.flags.has(Flags::ACK_REQUESTED) || self.congested;
        if must_ack {
            self.request_ack(index, false);
        }
    }

    /// Processes the packet that was expected, and those stored behind it.
    fn accept_next(&mut self, now: Instant, index: u32, header: &Header, payload: &[u8]) {
        if !self.append(now, index, header.flags, payload) {
            self.counters.dropped_no_buffer += 1;
            self.become_congested(index);
            return;
        }
        self.advance(index);
        self.drain_out_of_order(now, index);
    }

    fn drain_out_of_order(&mut self, now: Instant, index: u32) {
        while self.peers.peer(index).receive.bitmap & 1 == 1 {
            let mut queue = self.peers.peer(index).receive.out_of_order;
            let buffer = queue.pop(&self.receive_pool).expect("the bitmap counts stored packets");
            self.peers.peer_mut(index).receive.out_of_order = queue;
            let slot = *self.receive_pool.slot(buffer);
            let is_accepted = self.append_stored(now, index, buffer, slot.flags);
            if !is_accepted {
                // The sender repeats the packet.
                self.peers.peer_mut(index).receive.bitmap &= !1;
                self.counters.dropped_no_buffer += 1;
                self.become_congested(index);
                return;
            }
            self.advance(index);
        }
    }

    fn advance(&mut self, index: u32) {
        let receive = &mut self.peers.peer_mut(index).receive;
        receive.expected = receive.expected.wrapping_add(1);
        receive.bitmap >>= 1;
    }

    /// Adds a packet to its message. Returns `false` if there is no buffer.
    fn append(&mut self, now: Instant, index: u32, flags: Flags, payload: &[u8]) -> bool {
        if flags.has(Flags(Flags::FIRST.0 | Flags::LAST.0)) {
            self.drop_partial(index);
            let Some(buffer) = self.receive_pool.allocate() else { return false };
            self.receive_pool.bytes_mut(buffer, payload.len()).copy_from_slice(payload);
            self.receive_pool.slot_mut(buffer).length = payload.len() as u16;
            self.queue_message(index, Queue { head: buffer, tail: buffer }, payload.len());
            return true;
        }
        let mut payload = payload;
        if flags.has(Flags::FIRST) {
            // An unconfirmed sender learns our incarnation from the acknowledgment and repeats.
            if !self.peers.peer(index).confirmed {
                self.request_ack(index, true);
                return false;
            }
            self.drop_partial(index);
            let Some((length, rest)) = payload.split_first_chunk::<LENGTH_PREFIX>() else {
                self.counters.dropped_malformed += 1;
                return true;
            };
            if !self.start_message(now, index, u32::from_be_bytes(*length) as usize) {
                return false;
            }
            payload = rest;
        }
        self.extend_message(index, flags, payload);
        true
    }

    /// Adds a stored packet to its message, and releases or reuses its buffer.
    fn append_stored(&mut self, now: Instant, index: u32, buffer: u32, flags: Flags) -> bool {
        let length = usize::from(self.receive_pool.slot(buffer).length);
        if flags.has(Flags(Flags::FIRST.0 | Flags::LAST.0)) {
            self.drop_partial(index);
            self.receive_pool.slot_mut(buffer).next = NIL;
            self.queue_message(index, Queue { head: buffer, tail: buffer }, length);
            return true;
        }
        // The pieces of a message lie in buffers of their own.
        let mut copy = core::mem::take(&mut self.assembly);
        let fits = copy.len() >= length;
        if fits {
            copy[..length].copy_from_slice(self.receive_pool.bytes(buffer, length));
        }
        self.receive_pool.release(buffer);
        let accepted = fits && self.append(now, index, flags, &copy[..length]);
        self.assembly = copy;
        accepted
    }

    /// Allocates the buffers of a fragmented message. Returns `false` if there are not enough.
    fn start_message(&mut self, now: Instant, index: u32, length: usize) -> bool {
        let mut buffers = Queue::EMPTY;
        if length <= MESSAGE_MAX {
            let needed = self.buffers_of(length);
            if self.receive_pool.free_count() < needed && !self.evict_partial(now, index, needed) {
                return false;
            }
            for _ in 0..needed {
                let buffer = self.receive_pool.allocate().expect("the pool has enough buffers");
                buffers.push(&mut self.receive_pool, buffer);
            }
        } else {
            self.counters.dropped_too_long += 1;
        }
        let partial = PartialMessage { buffers, at: buffers.head, length, filled: 0 };
        self.peers.peer_mut(index).receive.partial = Some(partial);
        true
    }

    /// Evicts silent peers with an incomplete message, until enough buffers are free. A peer to
    /// which messages are pending stays.
    #[cold]
    fn evict_partial(&mut self, now: Instant, except: u32, needed: usize) -> bool {
        let mut next = 0;
        while self.receive_pool.free_count() < needed {
            let Some(index) = self.peers.first_used(next) else { return false };
            let peer = self.peers.peer(index);
            let is_silent = now.saturating_since(peer.last_heard) > PARTIAL_LIFETIME;
            let is_evictable = is_silent && peer.confirmed && peer.is_idle();
            let is_holding =
                peer.receive.partial.is_some() || !peer.receive.out_of_order.is_empty();
            if is_holding && is_evictable && index != except {
                self.evict(now, index);
            }
            next = index + 1;
        }
        true
    }

    /// Adds bytes to the incomplete message.
    fn extend_message(&mut self, index: u32, flags: Flags, mut payload: &[u8]) {
        let Some(mut partial) = self.peers.peer_mut(index).receive.partial.take() else {
            self.counters.dropped_malformed += 1;
            return;
        };
        // The rest of a message longer than `message_max` is discarded.
        let room = self.config.message_max.saturating_sub(partial.filled).min(payload.len());
        partial.filled += payload.len();
        let is_last = flags.has(Flags::LAST);
        let is_valid = match is_last {
            true => partial.filled == partial.length,
            false => partial.filled < partial.length,
        };
        if !is_valid {
            self.counters.dropped_malformed += 1;
            self.receive_pool.release_all(&mut partial.buffers);
            return;
        }
        payload = &payload[..room];
        while !payload.is_empty() && partial.at != NIL {
            let used = usize::from(self.receive_pool.slot(partial.at).length);
            let room = self.config.packet_max - used;
            let (part, rest) = payload.split_at(room.min(payload.len()));
            let buffer = self.receive_pool.bytes_mut(partial.at, used + part.len());
            buffer[used..].copy_from_slice(part);
            let slot = self.receive_pool.slot_mut(partial.at);
            slot.length = (used + part.len()) as u16;
            if used + part.len() == self.config.packet_max {
                partial.at = slot.next;
            }
            payload = rest;
        }
        if !is_last {
            self.peers.peer_mut(index).receive.partial = Some(partial);
        } else if !partial.buffers.is_empty() {
            self.queue_message(index, partial.buffers, partial.length);
        }
    }

    fn drop_partial(&mut self, index: u32) {
        if let Some(mut partial) = self.peers.peer_mut(index).receive.partial.take() {
            self.receive_pool.release_all(&mut partial.buffers);
        }
    }

    /// Adds a complete message to the receive queue.
    fn queue_message(&mut self, index: u32, buffers: Queue, length: usize) {
        self.peers.peer_mut(index).receive.queued += 1;
        let slot = self.receive_pool.slot_mut(buffers.head);
        slot.owner = u64::from(index) << 32 | length as u64;
        slot.next_message = NIL;
        match self.messages.tail {
            NIL => self.messages.head = buffers.head,
            tail => self.receive_pool.slot_mut(tail).next_message = buffers.head,
        }
        self.messages.tail = buffers.head;
        self.queued_buffers += self.buffers_of(length);
        let first = usize::from(self.receive_pool.slot(buffers.head).length);
        let is_truncated = length > self.config.message_max && first < length;
        self.counters.messages_truncated += u64::from(is_truncated);
        self.counters.messages_received += 1;
        self.counters.bytes_received += length as u64;
        if !self.congested && self.queued_buffers > self.receive_limit {
            self.become_congested(index);
        }
    }

    /// Reports congestion, which ends when the owner reads. Without unread messages, the buffers
    /// are in use by incomplete messages, which must continue.
    fn become_congested(&mut self, index: u32) {
        if !self.congested && self.queued_buffers > 0 {
            self.congested = true;
            self.counters.congestions += 1;
        }
        self.request_ack(index, false);
    }

    fn store_out_of_order(&mut self, index: u32, header: &Header, payload: &[u8], distance: u32) {
        self.counters.out_of_order += 1;
        let peer = self.peers.peer_mut(index);
        if peer.receive.bitmap >> distance & 1 == 1 {
            self.counters.duplicates += 1;
            return;
        }
        // The longest message must always find room, or packets out of order could use all buffers
        // and wait for packets that need one. An unconfirmed sender repeats.
        let reserve = self.config.message_max.div_ceil(self.config.packet_max).max(1);
        let has_room = peer.confirmed && self.receive_pool.free_count() > reserve;
        let buffer = if has_room { self.receive_pool.allocate() } else { None };
        let Some(buffer) = buffer else {
            self.counters.dropped_no_buffer += 1;
            self.request_ack(index, false);
            return;
        };
        self.receive_pool.bytes_mut(buffer, payload.len()).copy_from_slice(payload);
        let slot = self.receive_pool.slot_mut(buffer);
        slot.length = payload.len() as u16;
        slot.sequence = header.sequence;
        slot.flags = header.flags;
        let receive = &mut self.peers.peer_mut(index).receive;
        let base = receive.expected;
        receive.out_of_order.insert(&mut self.receive_pool, buffer, base);
        // One report for each new gap: a packet that is not the next after the highest.
        let is_new_gap = receive.bitmap == 0 || header.sequence != receive.reported_gap;
        receive.bitmap |= 1 << distance;
        let highest = header.sequence.wrapping_add(1);
        receive.reported_gap = later(receive.reported_gap, highest);
        if is_new_gap {
            self.request_ack(index, true);
        }
    }

    /// Returns the buffers that a queued message of `length` bytes occupies.
    fn buffers_of(&self, length: usize) -> usize {
        length.min(self.config.message_max).div_ceil(self.config.packet_max).max(1)
    }

    /// Requests an acknowledgment: with data if possible, or at once and with the bitmap.
    fn request_ack(&mut self, index: u32, at_once: bool) {
        let peer = self.peers.peer_mut(index);
        peer.ack_due = true;
        peer.nak_due |= at_once || peer.receive.bitmap != 0;
        self.make_ready(index);
    }

    /// Skips numbers that the sender no longer sends.
    #[inline]
    fn skip_to_floor(&mut self, index: u32, floor: u32) {
        let receive = &mut self.peers.peer_mut(index).receive;
        if is_before(receive.expected, floor) {
            self.skip(index, floor);
        }
    }

    #[cold]
    fn skip(&mut self, index: u32, floor: u32) {
        self.counters.gaps_skipped += 1;
        self.drop_partial(index);
        let receive = &mut self.peers.peer_mut(index).receive;
        let mut queue = receive.out_of_order;
        let skipped = floor.wrapping_sub(receive.expected);
        receive.bitmap = receive.bitmap.checked_shr(skipped).unwrap_or(0);
        receive.expected = floor;
        while queue.head != NIL && is_before(self.receive_pool.slot(queue.head).sequence, floor) {
            let buffer = queue.pop(&self.receive_pool).expect("the queue is not empty");
            self.receive_pool.release(buffer);
        }
        self.peers.peer_mut(index).receive.out_of_order = queue;
        let last_heard = self.peers.peer(index).last_heard;
        self.drain_out_of_order(last_heard, index);
    }

    /// Releases the packets received from a peer that are not yet messages.
    pub(super) fn release_received(&mut self, index: u32) {
        self.drop_partial(index);
        let receive = &mut self.peers.peer_mut(index).receive;
        receive.bitmap = 0;
        let mut queue = core::mem::replace(&mut receive.out_of_order, Queue::EMPTY);
        self.receive_pool.release_all(&mut queue);
    }

    /// Passes the next queued message to `on` and removes the message. Returns `false` if the queue
    /// is empty.
    pub fn receive(&mut self, on: impl FnOnce(Message<'_>)) -> bool {
        let Some(message) = self.peek() else { return false };
        on(message);
        self.remove_message();
        true
    }

    /// Returns the next queued message without removing it.
    pub fn peek(&mut self) -> Option<Message<'_>> {
        let first = self.messages.head;
        if first == NIL {
            return None;
        }
        let (peer, length) = owner(self.receive_pool.slot(first).owner);
        let source: SocketAddr = self.peers.peer(peer).address;
        let slot = self.receive_pool.slot(first);
        if slot.next == NIL {
            let bytes = self.receive_pool.bytes(first, slot.length.into());
            return Some(Message { source, bytes, length });
        }
        let (mut at, mut buffer) = (0, first);
        while buffer != NIL {
            let slot = self.receive_pool.slot(buffer);
            let (part, next) = (usize::from(slot.length), slot.next);
            let bytes = self.receive_pool.bytes(buffer, part);
            self.assembly[at..at + part].copy_from_slice(bytes);
            (at, buffer) = (at + part, next);
        }
        Some(Message { source, bytes: &self.assembly[..at], length })
    }

    /// Removes the next queued message.
    fn remove_message(&mut self) {
        let first = self.messages.head;
        let slot = *self.receive_pool.slot(first);
        self.messages.head = slot.next_message;
        if self.messages.head == NIL {
            self.messages.tail = NIL;
        }
        let (peer, length) = owner(slot.owner);
        self.peers.peer_mut(peer).receive.queued -= 1;
        let mut buffer = first;
        while buffer != NIL {
            let next = self.receive_pool.slot(buffer).next;
            self.receive_pool.release(buffer);
            buffer = next;
        }
        self.queued_buffers -= self.buffers_of(length);
        if self.congested && self.queued_buffers < self.receive_limit.div_ceil(2) {
            self.clear_congestion();
        }
    }

    /// Notifies all peers that have seen this socket congested.
    #[cold]
    fn clear_congestion(&mut self) {
        self.congested = false;
        let mut next = 0;
        while let Some(index) = self.peers.first_used(next) {
            next = index + 1;
            if core::mem::take(&mut self.peers.peer_mut(index).receive.reported_congestion) {
                self.request_ack(index, true);
            }
        }
    }
}

/// Splits the owner of a queued message into the peer's index and the message's length.
fn owner(owner: u64) -> (u32, usize) {
    ((owner >> 32) as u32, (owner & u64::from(u32::MAX)) as usize)
}
