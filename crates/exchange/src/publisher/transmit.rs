//! Packets: encodes the next due packet into the buffer to send.

use hairpin_cme_codecs::mdp3::AdminHeartbeat12;
use hairpin_time::{Instant, Now};

use super::loop_pacer::LoopPacer;
use super::packet::Packet;
use super::queue::{Content, Event};
use super::snapshots::{self, LoopHeader, LoopPosition, Source};
use super::{EventPart, Feed, Publisher, Transmit, definitions, incremental};

impl Publisher {
    /// Writes the next due packet into `buffer`, which has at least [`super::MAX_PAYLOAD`] bytes.
    /// Returns `None` if no packet is due.
    pub fn poll_transmit(&mut self, now: Now, buffer: &mut [u8]) -> Option<Transmit> {
        if self.queue.is_empty() {
            self.publish_due_segments(now.monotonic);
        }
        if !self.queue.is_empty() {
            return Some(self.transmit_event(now, buffer));
        }
        if now.monotonic >= self.heartbeat_due() {
            return Some(self.transmit_heartbeat(now, buffer));
        }
        let (feed, due) = self.next_loop();
        if now.monotonic < due {
            return None;
        }
        Some(match feed {
            Feed::Instruments => self.transmit_definitions(now, buffer),
            Feed::SnapshotOrders => self.transmit_order_snapshots(now, buffer),
            _ => self.transmit_snapshots(now, buffer),
        })
    }

    /// Returns the feed of the next loop packet, and its time. The loop with the earliest due time
    /// is next; among equals, the one with the fewest loops.
    pub(super) fn next_loop(&self) -> (Feed, Instant) {
        let key = |pacer: &LoopPacer| (pacer.due(), pacer.number(), pacer.next());
        let mut next = (key(&self.definitions), Feed::Instruments);
        if key(&self.snapshots) < next.0 {
            next = (key(&self.snapshots), Feed::Snapshots);
        }
        if self.orders.is_some() && key(&self.order_snapshots) < next.0 {
            next = (key(&self.order_snapshots), Feed::SnapshotOrders);
        }
        (next.1, next.0.0)
    }

    fn transmit_event(&mut self, now: Now, buffer: &mut [u8]) -> Transmit {
        let mut packet = Packet::new(buffer);
        let current = self.queue.current();
        let number = current.map_or(0, |event| event.number);
        let reset = match current {
            Some(&Event { content: Content::Reset { restarts }, .. }) => Some(restarts),
            _ => None,
        };
        let ends = incremental::fill(&mut self.queue, &mut packet, &self.channel);
        assert!(!packet.is_empty(), "event {number} does not fit in a packet");
        let begins = !core::mem::replace(&mut self.started, !ends);
        if ends {
            self.queue.advance();
        }
        let event = Some(EventPart { number, begins, ends });
        let transmit = self.transmit_incremental(now, packet, event);
        if let Some(restarts) = reset {
            self.start_epoch(restarts);
        }
        if let (true, Some(fingerprints)) = (ends, &mut self.fingerprints) {
            fingerprints.record_end(number, self.epoch, transmit.sequence);
        }
        transmit
    }

    /// Starts a new epoch after a sent channel reset.
    #[cold]
    fn start_epoch(&mut self, restarts: bool) {
        self.epoch += 1;
        if restarts {
            self.sequence = 0;
        }
    }

    fn transmit_heartbeat(&mut self, now: Now, buffer: &mut [u8]) -> Transmit {
        self.transmit_incremental(now, heartbeat(buffer), None)
    }

    fn transmit_incremental(
        &mut self,
        now: Now,
        packet: Packet<'_>,
        event: Option<EventPart>,
    ) -> Transmit {
        self.sequence = self.sequence.wrapping_add(1);
        self.last_sent = now.monotonic;
        let (sequence, feed) = (self.sequence, Feed::Incremental);
        let length = packet.finish(sequence, now.utc);
        Transmit { feed, length, sequence, event, shows_feed: true }
    }

    fn transmit_definitions(&mut self, now: Now, buffer: &mut [u8]) -> Transmit {
        let feed = Feed::Instruments;
        if self.listings.count() == 0 {
            // A heartbeat, same as for an empty snapshot loop.
            let sequence = self.definitions.advance_empty(now.monotonic);
            let length = heartbeat(buffer).finish(sequence, now.utc);
            return Transmit { feed, length, sequence, event: None, shows_feed: false };
        }
        let mut packet = Packet::new(buffer);
        let first = self.definitions.next();
        let source = definitions::Source {
            books: &self.books,
            instruments: &self.instruments,
            listings: &self.listings,
            channel: &self.channel,
        };
        // The number was given as a `u32`.
        let repeats = definitions::repeats(&self.settings, self.instruments.len() as u32);
        let next = definitions::fill(&mut packet, &source, repeats, first);
        let sequence = self.definitions.advance(next, self.pace, now.monotonic);
        let length = packet.finish(sequence, now.utc);
        Transmit { feed, length, sequence, event: None, shows_feed: true }
    }

    fn transmit_snapshots(&mut self, now: Now, buffer: &mut [u8]) -> Transmit {
        if self.snapshots.is_at_start() {
            self.snapshot_header = self.next_loop_header();
        }
        let feed = Feed::Snapshots;
        if self.snapshot_header.total == 0 {
            let sequence = self.snapshots.advance_empty(now.monotonic);
            let length = heartbeat(buffer).finish(sequence, now.utc);
            return Transmit { feed, length, sequence, event: None, shows_feed: false };
        }
        let mut packet = Packet::new(buffer);
        let position = position_of(&self.snapshots);
        let next = snapshots::fill(&mut packet, &self.source(&self.snapshot_header), position);
        let sequence = self.snapshots.advance_to(next, self.pace, now.monotonic);
        let length = packet.finish(sequence, now.utc);
        Transmit { feed, length, sequence, event: None, shows_feed: true }
    }

    fn transmit_order_snapshots(&mut self, now: Now, buffer: &mut [u8]) -> Transmit {
        if self.order_snapshots.is_at_start() {
            self.order_snapshot_header = self.next_loop_header();
        }
        let feed = Feed::SnapshotOrders;
        let settings = self.settings.orders();
        let (true, Some(orders), Some(settings)) =
            (self.order_snapshot_header.total > 0, &self.orders, settings)
        else {
            let sequence = self.order_snapshots.advance_empty(now.monotonic);
            let length = heartbeat(buffer).finish(sequence, now.utc);
            return Transmit { feed, length, sequence, event: None, shows_feed: false };
        };
        let mut packet = Packet::new(buffer);
        let position = position_of(&self.order_snapshots);
        let source = self.source(&self.order_snapshot_header);
        let chunk_max = usize::from(settings.chunk);
        let next = snapshots::fill_orders(&mut packet, &source, orders, position, chunk_max);
        let sequence = self.order_snapshots.advance_to(next, self.pace, now.monotonic);
        let length = packet.finish(sequence, now.utc);
        // The other snapshot loop contains the same templates.
        Transmit { feed, length, sequence, event: None, shows_feed: false }
    }

    /// Returns the header of a loop that starts now. Nothing is queued, so the books are as of the
    /// last sent packet.
    fn next_loop_header(&self) -> LoopHeader {
        LoopHeader { last_processed: self.sequence, total: self.books.active() }
    }

    fn source<'a>(&'a self, header: &'a LoopHeader) -> Source<'a> {
        Source {
            books: &self.books,
            top_orders: self.tops.as_ref(),
            instruments: &self.instruments,
            header,
            channel: &self.channel,
        }
    }
}

fn position_of(pacer: &LoopPacer) -> LoopPosition {
    LoopPosition { loop_number: pacer.number(), instrument: pacer.next(), part: pacer.part() }
}

/// Creates a packet with one heartbeat.
fn heartbeat(buffer: &mut [u8]) -> Packet<'_> {
    let mut packet = Packet::new(buffer);
    packet
        .append(|buffer| AdminHeartbeat12::encode(buffer).map(|_| AdminHeartbeat12::ENCODED_LENGTH))
        .expect("the buffer has room for the longest packet");
    packet
}
