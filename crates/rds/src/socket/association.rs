//! The assignment of packets to peers, and the proof of incarnations.

use core::net::{IpAddr, SocketAddr};

use hairpin_time::Instant;

use super::send::Dropped;
use super::{REPLIES, Socket};
use crate::clock_offset::ClockOffset;
use crate::config::{PACKET_LIFETIME, WINDOW};
use crate::packet::{Flags, Header, Kind};
use crate::peer::{Moment, Peer};
use crate::pool::NIL;
use crate::rtt::RoundTrip;
use crate::sequence::{earlier, is_before, later};
use crate::{Event, timestamp};

/// An answer to a sender that has no state here.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reply {
    pub(super) to: SocketAddr,
    pub(super) incarnation: u32,
    pub(super) echo: u32,
    /// `true` if the socket has numbered packets to the sender.
    pub(super) has_state: bool,
}

impl Socket {
    /// Returns the peer that sent a packet, or drops the packet.
    #[inline]
    pub(super) fn associate(&mut self, now: Instant, from: IpAddr, header: &Header) -> Option<u32> {
        let found = self.peers.find(from, header.source_port);
        if let Some(index) = found {
            let peer = self.peers.peer(index);
            // The usual case: both incarnations are known.
            if peer.knows_us
                && peer.incarnation == header.source_incarnation
                && header.destination_incarnation == self.incarnation
                && (header.kind as u8) < Kind::Challenge as u8
            {
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
                    self.refuse(from, header.source_port, header.echo);
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
            return self.challenge(from, header, found.is_some());
        }
        let is_trusted = now.saturating_since(self.cleared.at) >= PACKET_LIFETIME;
        let is_proven = is_to_us && self.is_answer(now, header.echo, self.cleared);
        let Some(index) = found else {
            return self.associate_unknown(now, from, header, is_proven, is_trusted);
        };
        let peer = self.peers.peer(index);
        if peer.incarnation == header.source_incarnation {
            if !peer.receive.is_synchronized && !is_proven && !is_trusted {
                // Perhaps a copy of a packet that was received before, with its numbers.
                return self.probe_first(now, index, header);
            }
            return self.associate_known(now, index, header, is_to_us);
        }
        if peer.incarnation == 0 {
            // Any host can claim to be the peer that this socket has sent to.
            let is_awaited = peer.send.in_flight > 0;
            if !is_proven && (is_awaited || !is_trusted) {
                return self.challenge(from, header, true);
            }
            self.adopt_destination(now, index, header);
            self.peers.peer_mut(index).knows_us = is_to_us;
            return Some(index);
        }
        if is_to_us && self.is_answer(now, header.echo, peer.accepted) {
            self.restart(now, index, header, None);
            self.prove(index);
            return Some(index);
        }
        self.challenge(from, header, true)
    }

    /// Creates a peer for an unknown sender, or requests a proof of its incarnation.
    fn associate_unknown(
        &mut self,
        now: Instant,
        from: SocketAddr,
        header: &Header,
        is_proven: bool,
        is_trusted: bool,
    ) -> Option<u32> {
        let is_whole = header.flags.has(Flags(Flags::FIRST.0 | Flags::LAST.0));
        match header.kind {
            Kind::Ack => self.drop_unknown(),
            _ if is_proven => self.accept_new(now, from, header, true),
            // State is kept only for a whole message without a predecessor: this socket may have
            // received earlier ones before it evicted the sender.
            Kind::Data if is_trusted && is_whole && header.sequence == header.floor => {
                self.accept_new(now, from, header, false)
            }
            _ => self.challenge(from, header, false),
        }
    }

    /// Processes a packet of the known incarnation of a peer that shows for the first time, or no
    /// longer, that the peer knows this socket. Drops a packet from an earlier state of the peer.
    fn associate_known(
        &mut self,
        now: Instant,
        index: u32,
        header: &Header,
        is_to_us: bool,
    ) -> Option<u32> {
        let peer = self.peers.peer_mut(index);
        if is_to_us {
            if peer.unaware_at.is_some_and(|at| at.is_after(now, header.timestamp)) {
                self.counters.dropped_stale += 1;
                return None;
            }
            self.prove(index);
            return Some(index);
        }
        if !peer.unaware_at.is_some_and(|at| at.is_after(now, header.timestamp)) {
            peer.unaware_at = Some(Moment { at: now, timestamp: header.timestamp });
        }
        let is_void = header.flags.has(Flags::NO_ACKNOWLEDGMENT);
        let age = Some(header.acknowledgment).filter(|_| is_void);
        if peer.knows_us && peer.is_newest(now, header.timestamp) {
            self.handle_forgotten(now, index, header, age);
        } else if let Some(age) = age {
            // The peer may have evicted this socket before it was known.
            let count = self.drop_sent_before(now, index, age, None);
            self.counters.messages_dropped += count as u64;
        }
        Some(index)
    }

    /// Returns `true` if an echo answers a packet that this socket sent in the last 10 s and after
    /// another transmission.
    pub(super) fn is_answer(&self, now: Instant, echo: u32, after: Moment) -> bool {
        let is_later =
            now.saturating_since(after.at) > PACKET_LIFETIME || is_before(after.timestamp, echo);
        let was_sent = !is_before(self.last_transmission.timestamp, echo);
        is_later && was_sent && timestamp::age(now, echo) <= PACKET_LIFETIME
    }

    /// Processes the answer of a socket that has accepted nothing of ours.
    fn handle_challenge(&mut self, now: Instant, header: &Header, found: Option<u32>) {
        let Some(index) = found.filter(|_| header.source_incarnation != 0) else {
            self.counters.dropped_incarnation += 1;
            return;
        };
        let peer = self.peers.peer(index);
        let incarnation = peer.incarnation;
        if !self.is_answer(now, header.echo, peer.accepted) {
            self.counters.dropped_incarnation += 1;
            return;
        }
        // Messages first sent after these times have certainly not been accepted.
        let (bound, evicted) = (header.floor, header.acknowledgment);
        if incarnation == 0 {
            let count = self.drop_sent_before(now, index, evicted, None);
            self.counters.messages_dropped += count as u64;
            self.adopt(now, index, header);
        } else if incarnation == header.source_incarnation {
            let has_forgotten = peer.knows_us || !header.flags.has(Flags::HAS_STATE);
            match has_forgotten && peer.is_newest(now, header.timestamp) {
                true => self.handle_forgotten(now, index, header, Some(evicted)),
                false => {
                    let count = self.drop_sent_before(now, index, evicted, None);
                    self.counters.messages_dropped += count as u64;
                    self.probe_first(now, index, header);
                }
            }
        } else {
            self.restart(now, index, header, Some(bound));
        }
        self.retransmit_all(index);
        let peer = self.peers.peer_mut(index);
        peer.probe_due = peer.is_waiting();
        self.start_waiting(now, index);
        self.make_ready(index);
    }

    /// Drops the messages that were first sent before a time, given as its age in 64 ns; those
    /// first sent more than 30 s ago in any case. Returns their number.
    /// A packet `refused`, given by its timestamp, was not received: it and later ones stay.
    fn drop_sent_before(
        &mut self,
        now: Instant,
        index: u32,
        age: u32,
        refused: Option<u32>,
    ) -> usize {
        if age == u32::MAX {
            return 0;
        }
        let age = age.min(timestamp::units(PACKET_LIFETIME) * 3);
        let until = match age {
            0 => self.last_transmission.timestamp,
            age => timestamp::from_instant(now).wrapping_sub(age),
        };
        let until = match refused {
            Some(refused) => earlier(until, refused.wrapping_sub(1)),
            None => until,
        };
        let count = self.drop_messages(index, Dropped::SentUntil(until));
        if count > 0 {
            self.skip_dropped(index);
        }
        count
    }

    /// Marks everything in flight as not received.
    fn retransmit_all(&mut self, index: u32) {
        let send = &mut self.peers.peer_mut(index).send;
        let (mut buffer, end) = (send.queue.head, send.unsent);
        send.lost = send.in_flight;
        while buffer != end {
            let slot = self.send_pool.slot_mut(buffer);
            (slot.received, slot.lost) = (false, true);
            buffer = slot.next;
        }
    }

    fn drop_unknown(&mut self) -> Option<u32> {
        self.counters.dropped_incarnation += 1;
        None
    }

    /// Drops a packet and requests a proof of its incarnation, without keeping state.
    fn challenge(&mut self, from: SocketAddr, header: &Header, has_state: bool) -> Option<u32> {
        self.counters.dropped_incarnation += 1;
        if self.replies.len() < REPLIES && header.kind != Kind::Ack {
            let (incarnation, echo) = (header.source_incarnation, header.timestamp);
            self.replies.push_back(Reply { to: from, incarnation, echo, has_state });
        }
        None
    }

    /// Drops a packet of a known incarnation, and requests an answer that proves its age.
    fn probe_first(&mut self, now: Instant, index: u32, header: &Header) -> Option<u32> {
        self.counters.dropped_incarnation += 1;
        let peer = self.peers.peer_mut(index);
        if peer.is_newest(now, header.timestamp) {
            peer.echo = header.timestamp;
        }
        peer.probe_due = true;
        self.make_ready(index);
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
            return self.challenge(from, header, false);
        }
        let Some(index) = self.insert_peer(now, from) else {
            self.counters.dropped_no_peer += 1;
            return None;
        };
        self.adopt(now, index, header);
        match is_proven {
            true => self.peers.peer_mut(index).knows_us = true,
            false => self.link_unconfirmed(index),
        }
        Some(index)
    }

    /// Inserts a peer; evicts an idle one if the table is full.
    pub(super) fn insert_peer(&mut self, now: Instant, address: SocketAddr) -> Option<u32> {
        // Its peer may be evicted.
        self.process_deferred();
        if let Some(index) = self.insert_if_free(now, address) {
            return Some(index);
        }
        let is_evictable = |peer: &Peer| {
            peer.confirmed && peer.is_idle() && now.saturating_since(peer.last_heard) > IDLE
        };
        match self.peers.find_idle(is_evictable) {
            Some(index) => self.evict(now, index),
            None => self.evict_unconfirmed(now),
        }
        self.insert_if_free(now, address)
    }

    fn insert_if_free(&mut self, now: Instant, address: SocketAddr) -> Option<u32> {
        let index = self.peers.insert(address, now)?;
        let peer = self.peers.peer_mut(index);
        peer.accepted = self.last_transmission;
        peer.send.start_at(self.first_sequence);
        Some(index)
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
        let count = self.drop_messages(index, Dropped::All);
        self.counters.messages_dropped += count as u64;
        self.counters.peers_evicted += 1;
        self.release_received(index);
        self.remove_ready(index);
        self.evicted_at = Some(now);
        self.cleared = Moment { at: now, ..self.last_transmission };
        let peer = self.peers.peer_mut(index);
        // The wheel may still hold the slot; an entry without need is ignored.
        peer.send.acknowledged = peer.send.next;
        self.first_sequence = later(self.first_sequence, peer.send.next);
        let (address, was_refused) = (peer.address, peer.send.was_refused);
        peer.send.congested = false;
        self.peers.remove(index);
        if was_refused {
            self.report_writable(address);
        }
    }

    /// Accepts the incarnation of a peer to which messages were sent. It may have received them
    /// before it evicted this socket.
    fn adopt_destination(&mut self, now: Instant, index: u32, header: &Header) {
        if header.flags.has(Flags::NO_ACKNOWLEDGMENT) {
            let count = self.drop_sent_before(now, index, header.acknowledgment, None);
            self.counters.messages_dropped += count as u64;
        }
        self.adopt(now, index, header);
    }

    /// Accepts the incarnation of a peer that had none.
    fn adopt(&mut self, now: Instant, index: u32, header: &Header) {
        let latest = self.last_transmission;
        let peer = self.peers.peer_mut(index);
        peer.incarnation = header.source_incarnation;
        peer.accepted = latest;
        peer.knows_us = false;
        peer.valid_from = None;
        let is_aware = header.kind != Kind::Challenge && header.destination_incarnation != 0;
        peer.unaware_at = (!is_aware).then_some(Moment { at: now, timestamp: header.timestamp });
        peer.last_heard = now;
        peer.echo = header.timestamp;
        let difference = timestamp::from_instant(now).wrapping_sub(header.timestamp);
        peer.clock_offset = Some(ClockOffset::new(now, difference));
    }

    /// Replaces the incarnation of a peer: everything in flight from it is void, and everything in
    /// flight to it, except what was first sent after the new socket was bound (`age` ago), or what
    /// the new socket has refused.
    fn restart(&mut self, now: Instant, index: u32, header: &Header, age: Option<u32>) {
        self.counters.peers_restarted += 1;
        let is_challenge = header.kind == Kind::Challenge;
        let refused = Some(header.echo).filter(|&at| is_challenge && self.was_sent_once(index, at));
        self.drop_association(now, index, age.unwrap_or(0), refused);
        self.peers.peer_mut(index).round_trip = RoundTrip::default();
        self.adopt(now, index, header);
        let address = self.peers.peer(index).address;
        self.report(Event::PeerRestarted(address));
        self.resume(now, index);
    }

    /// Processes the fact that a peer has evicted this socket, `age` ago if known. Its next packets
    /// have other numbers.
    fn handle_forgotten(&mut self, now: Instant, index: u32, header: &Header, age: Option<u32>) {
        self.drop_association(now, index, age.unwrap_or(0), None);
        let latest = self.last_transmission;
        let peer = self.peers.peer_mut(index);
        peer.accepted = latest;
        peer.knows_us = false;
        let shown = Moment { at: now, timestamp: header.timestamp };
        (peer.valid_from, peer.unaware_at) = (Some(shown), Some(shown));
        peer.echo = header.timestamp;
        self.resume(now, index);
    }

    /// Returns `true` if a packet with this timestamp is in flight and was transmitted once.
    pub(super) fn was_sent_once(&self, index: u32, timestamp: u32) -> bool {
        let send = &self.peers.peer(index).send;
        let mut buffer = send.queue.head;
        while buffer != send.unsent && self.send_pool.slot(buffer).sent_at != timestamp {
            buffer = self.send_pool.slot(buffer).next;
        }
        buffer != send.unsent && self.send_pool.slot(buffer).first_sent_at == timestamp
    }

    fn drop_association(&mut self, now: Instant, index: u32, age: u32, refused: Option<u32>) {
        let count = self.drop_sent_before(now, index, age, refused);
        self.counters.messages_dropped += count as u64;
        self.skip_dropped(index);
        self.release_received(index);
        let peer = self.peers.peer_mut(index);
        let send = &mut peer.send;
        send.recovery_end = send.next;
        send.window = WINDOW;
        send.since_request = 0;
        send.congested = false;
        peer.receive.is_synchronized = false;
        (peer.ack_due, peer.nak_due, peer.probe_due) = (false, false, false);
    }

    /// Continues to send after a change of the peer's state.
    fn resume(&mut self, now: Instant, index: u32) {
        self.retransmit_all(index);
        if self.peers.peer(index).is_waiting() {
            self.start_waiting(now, index);
        }
        let peer = self.peers.peer_mut(index);
        let address = peer.address;
        let was_refused = core::mem::take(&mut peer.send.was_refused);
        if peer.has_work() {
            self.make_ready(index);
        }
        if was_refused {
            self.report_writable(address);
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

    /// Records that a peer receives packets of this socket.
    #[cold]
    fn prove(&mut self, index: u32) {
        let peer = self.peers.peer_mut(index);
        peer.knows_us = true;
        if !peer.confirmed {
            self.confirm(index);
        }
    }

    /// Removes a peer from the list of unconfirmed peers.
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
