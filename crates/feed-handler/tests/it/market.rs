//! A scripted exchange over multicast, and the handler that receives it.

use std::net::SocketAddrV4;

use crate::packets::{END, PacketBuilder, YEAR_2026, bid, packet};
use hairpin_endpoint::{Transmit, UdpSender};
use hairpin_feed_handler::{
    BookUpdate, ChannelState, EndOfEvent, Feed, FeedHandler, FeedLine, Gap, Group, Listener,
    Multicast, Settings,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now};

/// A virtual clock: each call of a loop takes one millisecond.
pub(crate) struct Turns(pub(crate) u64);

impl Turns {
    pub(crate) fn next(&mut self) -> Now {
        self.0 += 1;
        let monotonic = Instant::ZERO + Duration::from_millis(self.0);
        // Later than the sending time of every packet: a channel suspects packets from the future.
        let start = YEAR_2026 + Duration::from_secs(3_600);
        Now { monotonic, utc: start + Duration::from_millis(self.0) }
    }
}

/// The events of a listener.
#[derive(Debug, Default)]
pub(crate) struct RecordedEvents {
    states: Vec<ChannelState>,
    pub(crate) best_bids: Vec<i64>,
    pub(crate) ends: Vec<u32>,
    stamped: bool,
    pub(crate) gaps: u32,
}

impl Listener for RecordedEvents {
    fn on_channel_state(&mut self, state: ChannelState) {
        self.states.push(state);
    }
    fn on_book_update(&mut self, update: &BookUpdate<'_>) {
        self.best_bids.extend(update.book.best_bid().map(|level| level.price.0));
        self.stamped |= update.packet.received.is_some();
    }
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        self.ends.push(event.packet.sequence);
    }
    fn on_gap(&mut self, gap: &Gap) {
        self.gaps += gap.count;
    }
}

/// The exchange and the handler.
pub(crate) struct Market<'a> {
    pub(crate) addresses: Multicast,
    pub(crate) reactor: Reactor,
    pub(crate) handler: FeedHandler,
    pub(crate) events: RecordedEvents,
    pub(crate) turns: Turns,
    senders: Vec<(SocketAddrV4, UdpSender)>,
    /// Creates the sender of a group.
    sender: Box<dyn Fn(SocketAddrV4) -> UdpSender + 'a>,
}

impl<'a> Market<'a> {
    /// Creates the handler, which joins its feeds; `sender` creates the senders.
    pub(crate) fn open(
        settings: Settings,
        wait: Wait,
        addresses: Multicast,
        sender: impl Fn(SocketAddrV4) -> UdpSender + 'a,
    ) -> Self {
        let mut reactor = Reactor::new(wait).unwrap();
        let handler = FeedHandler::new(settings, addresses.clone(), &mut reactor).unwrap();
        let (events, turns, sender) = (RecordedEvents::default(), Turns(0), Box::new(sender));
        Self { addresses, reactor, handler, events, turns, senders: Vec::new(), sender }
    }

    pub(crate) fn send(&mut self, to: &Option<Group>, packet: &PacketBuilder) {
        let to = to.as_ref().expect("a line of the feed").address;
        if !self.senders.iter().any(|(group, _)| *group == to) {
            self.senders.push((to, (self.sender)(to)));
        }
        let (_, sender) = self.senders.iter_mut().find(|(group, _)| *group == to).unwrap();
        let bytes = packet.bytes();
        sender.transmit(bytes.len(), |buffer| buffer.copy_from_slice(bytes)).unwrap();
    }

    /// Runs the loop until `done`; panics if that does not happen.
    pub(crate) fn until(
        &mut self,
        event: &str,
        done: impl Fn(&FeedHandler, &RecordedEvents) -> bool,
    ) {
        for _ in 0..60_000 {
            let now = self.turns.next();
            let deadline = now.monotonic + Duration::from_millis(5);
            let ready = self.reactor.wait(now.monotonic, Some(deadline)).unwrap();
            let now = self.turns.next();
            self.handler.process(now, ready, &mut self.reactor, &mut self.events).unwrap();
            if done(&self.handler, &self.events) {
                return;
            }
            if self.reactor.kind() == Wait::Spin {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
        panic!("{:?}: {event} does not happen: {:?}", self.reactor.kind(), self.events);
    }

    pub(crate) fn come_in_sync(&mut self) {
        let lines = self.addresses.clone();
        self.send(&lines.incremental.a, &packet(10).heartbeat());
        self.send(&lines.instrument.b, &packet(1).definition(7, 1, 10));
        self.until("the snapshot feed", |handler, _| {
            handler.channel().state() == ChannelState::Recovering
        });
        self.send(&lines.snapshot.a, &packet(1).snapshot(7, 10, 1, 0, &[]));
        self.until("sync", |handler, _| handler.channel().state() == ChannelState::InSync);
    }

    /// Sends three packets: on both sides, on B only, and on A only. Each must be delivered once.
    pub(crate) fn arbitrate(&mut self) {
        let lines = self.addresses.clone();
        self.events = RecordedEvents::default();
        self.send(&lines.incremental.a, &quote(11, 1, 100));
        self.send(&lines.incremental.b, &quote(11, 1, 100));
        self.send(&lines.incremental.b, &quote(12, 2, 101));
        self.send(&lines.incremental.a, &quote(13, 3, 102));
        self.until("packet 13", |handler, events| {
            events.ends.contains(&13) && handler.channel().counters().duplicates == 1
        });
        assert_eq!((&self.events.ends[..], self.events.gaps), (&[11, 12, 13][..], 0));
        assert!(self.events.stamped, "the receive timestamp reaches the callback");
    }

    pub(crate) fn joined(&self) -> Vec<(Feed, FeedLine)> {
        let lines = self.handler.lines().filter(|line| line.joined);
        lines.map(|line| (line.feed, line.side)).collect()
    }
}

pub(crate) fn quote(sequence: u32, rpt_seq: u32, price: i64) -> PacketBuilder {
    packet(sequence).book(END, &[bid(7, rpt_seq).add(1, price, 5)])
}
