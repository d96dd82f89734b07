//! Transmission: the choice of the next packet.

use hairpin_time::Instant;

use super::timeout::{AHEAD_MAX, RENEW_AFTER};
use super::{LastSent, Socket, Transmit};
use crate::packet::{BITMAP, Flags, HEADER, Header, Kind};
use crate::peer::Moment;
use crate::timestamp;

/// The number of new packets after which an acknowledgment is requested: a quarter of the window.
const REQUEST_INTERVAL: u32 = 16;

impl Socket {
    /// Returns the next packet to transmit, in this order: acknowledgments that report gaps,
    /// retransmissions, probes, new data, other acknowledgments.
    #[inline]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit<'_>> {
        if !self.replies.is_empty() {
            return self.transmit_reply(now);
        }
        loop {
            let Some(index) = self.pop_ready() else {
                let deferred = self.deferred.take()?;
                self.process_acknowledgment(deferred);
                continue;
            };
            let peer = self.peers.peer_mut(index);
            let next = if peer.nak_due {
                Next::Ack
            } else if peer.send.lost > 0 {
                Next::Lost
            } else if peer.probe_due {
                Next::Probe
            } else if peer.can_send_new() {
                Next::New
            } else if peer.ack_due {
                Next::Ack
            } else {
                continue;
            };
            return Some(match next {
                Next::New => self.transmit_new(now, index),
                Next::Lost => self.transmit_lost(now, index),
                Next::Ack => self.transmit_ack(now, index),
                Next::Probe => self.transmit_probe(now, index),
            });
        }
    }

    /// Takes back the packet that [`poll_transmit`](Self::poll_transmit) returned last, because the
    /// carrier had no room for it: the packet is returned again later.
    pub fn retry_last(&mut self) {
        let Some((index, last)) = self.last_sent.take() else { return };
        let peer = self.peers.peer_mut(index);
        match last {
            LastSent::Ack => (peer.ack_due, peer.nak_due) = (true, true),
            LastSent::Probe => peer.probe_due = true,
            LastSent::Data(buffer) => {
                let slot = self.send_pool.slot_mut(buffer);
                peer.send.lost += u32::from(!slot.lost);
                slot.lost = true;
            }
        }
        self.make_ready(index);
    }

    #[inline]
    fn transmit_new(&mut self, now: Instant, index: u32) -> Transmit<'_> {
        let timestamp = self.next_timestamp(now);
        let half_full = self.send_pool.free_count() < self.send_low_water;
        let send = &mut self.peers.peer_mut(index).send;
        let buffer = send.unsent;
        let slot = self.send_pool.slot_mut(buffer);
        slot.first_sent_at = timestamp;
        slot.sequence = send.next;
        send.unsent = slot.next;
        send.next = send.next.wrapping_add(1);
        send.in_flight += 1;
        send.since_request += 1;
        let outstanding = send.next.wrapping_sub(send.acknowledged);
        let is_request =
            send.since_request >= REQUEST_INTERVAL || outstanding >= send.window || half_full;
        if outstanding == 1 {
            self.peers.peer_mut(index).renew_at = now + RENEW_AFTER;
            self.start_waiting(now, index);
        }
        self.transmit_data(timestamp, index, buffer, is_request)
    }

    fn transmit_lost(&mut self, now: Instant, index: u32) -> Transmit<'_> {
        let mut buffer = self.peers.peer(index).send.queue.head;
        while !self.send_pool.slot(buffer).lost {
            buffer = self.send_pool.slot(buffer).next;
        }
        self.send_pool.slot_mut(buffer).lost = false;
        self.peers.peer_mut(index).send.lost -= 1;
        self.counters.retransmitted += 1;
        let timestamp = self.next_timestamp(now);
        self.transmit_data(timestamp, index, buffer, true)
    }

    #[inline]
    fn transmit_data(
        &mut self,
        timestamp: u32,
        index: u32,
        buffer: u32,
        is_request: bool,
    ) -> Transmit<'_> {
        let slot = self.send_pool.slot_mut(buffer);
        slot.sent_at = timestamp;
        let slot = *slot;
        let mut header = self.header(index, Kind::Data, timestamp);
        header.sequence = slot.sequence;
        header.flags.set(slot.flags);
        let peer = self.peers.peer_mut(index);
        if is_request {
            header.flags.set(Flags::ACK_REQUESTED);
            peer.send.since_request = 0;
        }
        // The header acknowledges. A gap needs the bitmap of an acknowledgment.
        peer.ack_due &= peer.nak_due;
        let (address, has_work) = (peer.address, peer.has_work());
        if has_work {
            self.make_ready(index);
        }
        self.last_sent = Some((index, LastSent::Data(buffer)));
        let has_more = self.has_packet();
        let crc32c = self.config.crc32c;
        let packet = self.send_pool.bytes_mut(buffer, HEADER + usize::from(slot.length));
        header.encode(packet, crc32c);
        self.counters.packets_sent += 1;
        Transmit { to: address, slot: Some(index), packet, has_more }
    }

    fn transmit_ack(&mut self, now: Instant, index: u32) -> Transmit<'_> {
        let timestamp = self.next_timestamp(now);
        let mut header = self.header(index, Kind::Ack, timestamp);
        let peer = self.peers.peer_mut(index);
        let bitmap = peer.receive.bitmap;
        (peer.ack_due, peer.nak_due) = (false, false);
        self.counters.acks_sent += 1;
        if bitmap != 0 {
            header.flags.set(Flags::GAP);
            self.counters.naks_sent += 1;
        }
        self.control[HEADER..].copy_from_slice(&bitmap.to_be_bytes());
        self.transmit_control(index, &header, HEADER + BITMAP)
    }

    fn transmit_probe(&mut self, now: Instant, index: u32) -> Transmit<'_> {
        let timestamp = self.next_timestamp(now);
        let mut header = self.header(index, Kind::Probe, timestamp);
        header.flags.set(Flags::ACK_REQUESTED);
        self.peers.peer_mut(index).probe_due = false;
        self.counters.probes_sent += 1;
        self.transmit_control(index, &header, HEADER)
    }

    fn transmit_control(&mut self, index: u32, header: &Header, length: usize) -> Transmit<'_> {
        let peer = self.peers.peer(index);
        let (address, has_work) = (peer.address, peer.has_work());
        if has_work {
            self.make_ready(index);
        }
        let is_probe = header.kind == Kind::Probe;
        self.last_sent = Some((index, if is_probe { LastSent::Probe } else { LastSent::Ack }));
        let has_more = self.has_packet();
        header.encode(&mut self.control[..length], self.config.crc32c);
        self.counters.packets_sent += 1;
        Transmit { to: address, slot: Some(index), packet: &self.control[..length], has_more }
    }

    #[cold]
    fn transmit_reply(&mut self, now: Instant) -> Option<Transmit<'_>> {
        let reply = self.replies.pop_front()?;
        let timestamp = self.next_timestamp(now);
        self.last_sent = None;
        self.counters.challenges_sent += 1;
        let header = Header {
            kind: Kind::Challenge,
            flags: Flags::default().with_if(Flags::HAS_STATE, reply.has_state),
            source_port: self.local?.port(),
            destination_port: reply.to.port(),
            source_incarnation: self.incarnation,
            destination_incarnation: reply.incarnation,
            sequence: 0,
            floor: timestamp::units(now.saturating_since(self.bound_at)),
            acknowledgment: self.eviction_age(),
            timestamp,
            echo: reply.echo,
        };
        header.encode(&mut self.control[..HEADER], self.config.crc32c);
        self.counters.packets_sent += 1;
        let has_more = self.has_packet();
        Some(Transmit { to: reply.to, slot: None, packet: &self.control[..HEADER], has_more })
    }

    /// Returns a header with everything but the packet's own sequence number and flags.
    #[inline]
    fn header(&mut self, index: u32, kind: Kind, timestamp: u32) -> Header {
        let congested = self.congested;
        self.peers.peer_mut(index).receive.reported_congestion |= congested;
        let peer = self.peers.peer(index);
        let send = &peer.send;
        let floor = match send.queue.head {
            head if send.in_flight > 0 => self.send_pool.slot(head).sequence,
            _ => send.next,
        };
        Header {
            kind,
            flags: Flags::default()
                .with_if(Flags::CONGESTED, congested)
                .with_if(Flags::NO_ACKNOWLEDGMENT, !peer.receive.is_synchronized),
            source_port: self.local.map_or(0, |local| local.port()),
            destination_port: peer.address.port(),
            source_incarnation: self.incarnation,
            destination_incarnation: peer.incarnation,
            sequence: send.next,
            floor,
            acknowledgment: match peer.receive.is_synchronized {
                true => peer.receive.expected,
                false => self.eviction_age(),
            },
            timestamp,
            echo: peer.echo,
        }
    }

    /// Returns the time from the last eviction to the last transmission.
    #[inline]
    fn eviction_age(&self) -> u32 {
        let now = self.last_transmission.at;
        self.evicted_at.map_or(u32::MAX, |at| timestamp::units(now.saturating_since(at)))
    }

    /// Returns a timestamp that is later than all earlier ones, so that timestamps order the
    /// packets of one socket.
    #[inline]
    fn next_timestamp(&mut self, now: Instant) -> u32 {
        let clock = timestamp::from_instant(now);
        let last = self.last_transmission.timestamp;
        let ahead = last.wrapping_sub(clock) as i32;
        // More than a second ahead is no burst: the counter has not been used for minutes.
        let is_ahead = (0..timestamp::units(AHEAD_MAX) as i32).contains(&ahead);
        let timestamp = if is_ahead { last.wrapping_add(1) } else { clock };
        self.last_transmission = Moment { at: now, timestamp };
        timestamp
    }
}

/// The kind of the next packet.
enum Next {
    Ack,
    Lost,
    Probe,
    New,
}
