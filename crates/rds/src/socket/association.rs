//! The assignment of packets to peers, and the proof of incarnations.

use core::net::{IpAddr, SocketAddr};

use hairpin_time::Instant;

use super::send::Dropped;
use super::{REPLIES, Socket};
use crate::clock_offset::ClockOffset;
use crate::config::{PACKET_LIFETIME, WINDOW};
use crate::packet::{Flags, Header, Kind};
use crate::peer::Peer;
use crate::pool::NIL;
use crate::rtt::RoundTrip;
use crate::{Event, timestamp};

/// An answer to a sender that has no state here.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reply {
    pub(super) to: SocketAddr,
    pub(super) incarnation: u32,
    pub(super) echo: u32,
}

impl Socket {
    /// Returns the peer that sent a packet, or drops the packet.
    #[inline]
    pub(super) fn associate(&mut self, now: Instant, from: IpAddr, header: &Header) -> Option<u32> {
        let found = self.peers.find(from, header.source_port);
        if let Some(index) = found {
            let peer = self.peers.peer(index);
            // The usual case: both incarnations are known.
            if peer.incarnation == header.source_incarnation
                && header.destination_incarnation == self.incarnation
                && (header.kind as u8) < Kind::Challenge as u8
            {
                if !peer.confirmed {
                    self.confirm(index);
                }
                return Some(index);
            }
        }
        self.associate_unusual(now, from, header, found)
    }

    #[cold]
    fn associate_unusual(
        &mut self,
        now: Instant,
        from: IpAddr,
        header: &Header,
        found: Option<u32>,
    ) -> Option<u32> {
        let is_to_us = header.destination_incarnation == self.incarnation;
        match header.kind {
            Kind::Challenge => {
                self.handle_challenge(now, header, found.filter(|_| is_to_us));
                return None;
            }
            Kind::Reject => {
                if is_to_us && timestamp::age(now, header.echo) <= PACKET_LIFETIME {
                    self.refuse(from, header.source_port, Some(header.sequence));
                } else {
                    self.counters.dropped_incarnation += 1;
                }
                return None;
            }
            Kind::Data | Kind::Ack | Kind::Probe => {}
        }
        let from = SocketAddr::new(from, header.source_port);
        if header.source_incarnation == 0 || header.source_port == 0 {
            self.counters.dropped_malformed += 1;
            return None;
        }
        if !is_to_us && header.destination_incarnation != 0 {
            return self.challenge(from, header);
        }
        let is_trusted = now >= self.challenge_until;
        let Some(index) = found else {
            let is_answer = is_to_us && timestamp::age(now, header.echo) <= PACKET_LIFETIME;
            return match header.kind {
                Kind::Ack => self.drop_unknown(),
                _ if is_answer && header.echo != 0 => self.accept_new(now, from, header, true),
                // State is kept only for a whole message.
                Kind::Data if !header.flags.has(Flags(Flags::FIRST.0 | Flags::LAST.0)) => {
                    self.challenge(from, header)
                }
                _ if is_trusted => self.accept_new(now, from, header, false),
                _ => self.challenge(from, header),
            };
        };
        let peer = self.peers.peer(index);
        if peer.incarnation == header.source_incarnation {
            return Some(index);
        }
        if peer.incarnation == 0 {
            if !is_to_us && !is_trusted {
                return self.challenge(from, header);
            }
            self.adopt(now, index, header);
            return Some(index);
        }
        if is_to_us && self.is_fresh(now, header.echo, index) {
            self.restart(now, index, header);
            return Some(index);
        }
        self.challenge(from, header)
    }

    /// Returns `true` if an echo answers a packet that this socket sent in the last 10 s and after
    /// it accepted the peer's present incarnation.
    fn is_fresh(&self, now: Instant, echo: u32, index: u32) -> bool {
        let age = timestamp::age(now, echo);
        let accepted = now.saturating_since(self.peers.peer(index).accepted_at);
        // One unit of rounding.
        age <= PACKET_LIFETIME && timestamp::units(age) < timestamp::units(accepted).max(1)
    }

    /// Processes the answer of a socket that has accepted nothing of ours.
    fn handle_challenge(&mut self, now: Instant, header: &Header, found: Option<u32>) {
        let Some(index) = found.filter(|_| header.source_incarnation != 0) else {
            self.counters.dropped_incarnation += 1;
            return;
        };
        if self.peers.peer(index).incarnation == 0 {
            if timestamp::age(now, header.echo) > PACKET_LIFETIME {
                self.counters.dropped_incarnation += 1;
                return;
            }
            self.adopt(now, index, header);
            // The numbers start with the first packet that follows.
            self.peers.peer_mut(index).receive.is_synchronized = false;
            self.retransmit_all(index);
            self.peers.peer_mut(index).probe_due = self.peers.peer(index).is_waiting();
            self.start_waiting(now, index);
        } else if self.is_fresh(now, header.echo, index) {
            self.restart(now, index, header);
        } else {
            self.counters.dropped_incarnation += 1;
            return;
        }
        self.make_ready(index);
    }

    /// Marks everything in flight as not received.
    fn retransmit_all(&mut self, index: u32) {
        let send = &mut self.peers.peer_mut(index).send;
        let (mut buffer, end) = (send.queue.head, send.unsent);
        while buffer != end {
            let slot = self.send_pool.slot_mut(buffer);
            slot.received = false;
            if !slot.lost {
                slot.lost = true;
                send.lost += 1;
            }
            buffer = slot.next;
        }
    }

    fn drop_unknown(&mut self) -> Option<u32> {
        self.counters.dropped_incarnation += 1;
        None
    }

    /// Drops a packet and requests a proof of its incarnation, without keeping state.
    fn challenge(&mut self, from: SocketAddr, header: &Header) -> Option<u32> {
        self.counters.dropped_incarnation += 1;
        if self.replies.len() < REPLIES && header.kind != Kind::Ack {
            let incarnation = header.source_incarnation;
            self.replies.push_back(Reply { to: from, incarnation, echo: header.timestamp });
        }
        None
    }

    /// Creates a peer for an unknown sender.
    fn accept_new(
        &mut self,
        now: Instant,
        from: SocketAddr,
        header: &Header,
        is_proven: bool,
    ) -> Option<u32> {
        if !is_proven && self.unconfirmed >= self.config.unconfirmed_peers {
            self.evict_unconfirmed(now);
            // From now on senders prove their incarnation first.
            return self.challenge(from, header);
        }
        let Some(index) = self.insert_peer(now, from) else {
            self.counters.dropped_no_peer += 1;
            return None;
        };
        self.adopt(now, index, header);
        if !is_proven {
            self.link_unconfirmed(index);
        }
        Some(index)
    }

    /// Inserts a peer; evicts an idle one if the table is full.
    pub(super) fn insert_peer(&mut self, now: Instant, address: SocketAddr) -> Option<u32> {
        if let Some(index) = self.peers.insert(address, now) {
            return Some(index);
        }
        let is_evictable = |peer: &Peer| {
            peer.confirmed && peer.is_idle() && now.saturating_since(peer.last_heard) > IDLE
        };
        match self.peers.find_idle(is_evictable) {
            Some(index) => self.evict(now, index),
            None => self.evict_unconfirmed(now),
        }
        self.peers.insert(address, now)
    }

    /// Evicts the oldest unconfirmed peer of which no message is in the receive queue.
    fn evict_unconfirmed(&mut self, now: Instant) {
        let mut index = self.oldest_unconfirmed;
        while index != NIL && self.peers.peer(index).receive.queued > 0 {
            index = self.peers.peer(index).newer;
        }
        if index != NIL {
            self.confirm(index);
            self.evict(now, index);
        }
    }

    /// Removes a peer and its packets.
    pub(super) fn evict(&mut self, now: Instant, index: u32) {
        let count = self.drop_messages(index, Dropped::All { refused: None });
        self.counters.messages_dropped += count as u64;
        self.counters.peers_evicted += 1;
        self.release_received(index);
        self.remove_ready(index);
        self.last_sent = None;
        self.challenge_until = now + PACKET_LIFETIME;
        let peer = self.peers.peer_mut(index);
        // The wheel may still hold the slot; an entry without need is ignored.
        peer.send.acknowledged = peer.send.next;
        let (address, was_refused) = (peer.address, peer.send.was_refused);
        peer.send.congested = false;
        self.peers.remove(index);
        if was_refused {
            self.report(Event::Writable(address));
        }
    }

    /// Accepts the incarnation of a peer that had none.
    fn adopt(&mut self, now: Instant, index: u32, header: &Header) {
        let peer = self.peers.peer_mut(index);
        peer.incarnation = header.source_incarnation;
        peer.accepted_at = now;
        peer.last_heard = now;
        peer.echo = header.timestamp;
        let difference = timestamp::from_instant(now).wrapping_sub(header.timestamp);
        peer.clock_offset = Some(ClockOffset::new(now, difference));
    }

    /// Replaces the incarnation of a peer: everything in flight in both directions is void.
    fn restart(&mut self, now: Instant, index: u32, header: &Header) {
        // The new socket has refused the packet that it challenges.
        let is_challenge = header.kind == Kind::Challenge;
        let refused = self.refused(index, |slot| is_challenge && slot.sent_at == header.echo);
        let count = self.drop_messages(index, Dropped::Received { refused });
        self.counters.messages_dropped += count as u64;
        self.counters.peers_restarted += 1;
        self.release_received(index);
        let peer = self.peers.peer_mut(index);
        let address = peer.address;
        let send = &mut peer.send;
        send.recovery_end = send.next;
        send.window = WINDOW;
        send.since_request = 0;
        send.congested = false;
        let was_refused = core::mem::take(&mut send.was_refused);
        peer.receive.is_synchronized = false;
        peer.receive.bitmap = 0;
        (peer.ack_due, peer.nak_due, peer.probe_due) = (false, false, false);
        peer.round_trip = RoundTrip::default();
        self.adopt(now, index, header);
        self.report(Event::PeerRestarted(address));
        if was_refused {
            self.report(Event::Writable(address));
        }
        if self.peers.peer(index).is_waiting() {
            self.start_waiting(now, index);
        }
        if self.peers.peer(index).has_work() {
            self.make_ready(index);
        }
    }

    fn link_unconfirmed(&mut self, index: u32) {
        let older = self.newest_unconfirmed;
        let peer = self.peers.peer_mut(index);
        peer.confirmed = false;
        (peer.older, peer.newer) = (older, NIL);
        match older {
            NIL => self.oldest_unconfirmed = index,
            older => self.peers.peer_mut(older).newer = index,
        }
        self.newest_unconfirmed = index;
        self.unconfirmed += 1;
    }

    /// Marks a peer as confirmed.
    fn confirm(&mut self, index: u32) {
        let peer = self.peers.peer_mut(index);
        peer.confirmed = true;
        let (older, newer) = (peer.older, peer.newer);
        match older {
            NIL => self.oldest_unconfirmed = newer,
            older => self.peers.peer_mut(older).newer = newer,
        }
        match newer {
            NIL => self.newest_unconfirmed = older,
            newer => self.peers.peer_mut(newer).older = older,
        }
        self.unconfirmed -= 1;
    }
}

/// The silence after which a peer without pending data may be evicted from a full table.
const IDLE: hairpin_time::Duration = hairpin_time::Duration::from_secs(60);
