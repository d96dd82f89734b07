//! An exchange that says what it is told to, and the channel that hears it.

#[allow(dead_code, unreachable_pub, reason = "the packets of another crate's tests")]
#[path = "../../../mdp3/tests/support/packets.rs"]
pub(crate) mod packets;

use std::net::SocketAddrV4;

use hairpin_endpoint::{Transmit, UdpSender};
use hairpin_feed_handler::{
    BookUpdate, ChannelState, EndOfEvent, Feed, FeedHandler, FeedLine, Gap, Group, Listener,
    Multicast, Settings,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now};
use packets::{END, PacketBuilder, YEAR_2026, bid, packet};

/// A clock of its own: each turn of a loop is a millisecond.
pub(crate) struct Turns(pub(crate) u64);

impl Turns {
    pub(crate) fn next(&mut self) -> Now {
        self.0 += 1;
        let monotonic = Instant::ZERO + Duration::from_millis(self.0);
        // Later than all that is sent: a channel doubts what comes from the future.
        let start = YEAR_2026 + Duration::from_secs(3_600);
        Now { monotonic, utc: start + Duration::from_millis(self.0) }
    }
}

/// What a listener was told.
#[derive(Debug, Default)]
pub(crate) struct Told {
    states: Vec<ChannelState>,
    pub(crate) best_bids: Vec<i64>,
    pub(crate) ends: Vec<u32>,
    stamped: bool,
    pub(crate) gaps: u32,
}

impl Listener for Told {
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

/// The exchange, and the handler that hears it.
pub(crate) struct Market<'a> {
    pub(crate) addresses: Multicast,
    pub(crate) reactor: Reactor,
    pub(crate) handler: FeedHandler,
    pub(crate) told: Told,
    pub(crate) turns: Turns,
    senders: Vec<(SocketAddrV4, UdpSender)>,
    /// Who sends to a group.
    sender: Box<dyn Fn(SocketAddrV4) -> UdpSender + 'a>,
}

impl<'a> Market<'a> {
    /// The handler joins first; `sender` makes who sends to a group.
    pub(crate) fn open(
        settings: Settings,
        wait: Wait,
        addresses: Multicast,
        sender: impl Fn(SocketAddrV4) -> UdpSender + 'a,
    ) -> Self {
        let mut reactor = Reactor::new(wait).unwrap();
        let handler = FeedHandler::new(settings, addresses.clone(), &mut reactor).unwrap();
        let (told, turns, sender) = (Told::default(), Turns(0), Box::new(sender));
        Self { addresses, reactor, handler, told, turns, senders: Vec::new(), sender }
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

    /// Turns the loop until `done`; fails when that does not come.
    pub(crate) fn until(&mut self, what: &str, done: impl Fn(&FeedHandler, &Told) -> bool) {
        for _ in 0..2_000 {
            let now = self.turns.next();
            let deadline = now.monotonic + Duration::from_millis(5);
            let ready = self.reactor.wait(now.monotonic, Some(deadline)).unwrap();
            let now = self.turns.next();
            self.handler.process(now, ready, &mut self.reactor, &mut self.told).unwrap();
            if done(&self.handler, &self.told) {
                return;
            }
            if self.reactor.kind() == Wait::Spin {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
        panic!("{:?}: {what} does not come: {:?}", self.reactor.kind(), self.told);
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

    /// Three packets by both sides, by B alone and by A alone, of which each is heard once.
    pub(crate) fn arbitrate(&mut self) {
        let lines = self.addresses.clone();
        self.told = Told::default();
        self.send(&lines.incremental.a, &quote(11, 1, 100));
        self.send(&lines.incremental.b, &quote(11, 1, 100));
        self.send(&lines.incremental.b, &quote(12, 2, 101));
        self.send(&lines.incremental.a, &quote(13, 3, 102));
        self.until("packet 13", |handler, told| {
            told.ends.contains(&13) && handler.channel().counters().duplicates == 1
        });
        assert_eq!((&self.told.ends[..], self.told.gaps), (&[11, 12, 13][..], 0));
        assert!(self.told.stamped, "the receive timestamp reaches the callback");
    }

    pub(crate) fn joined(&self) -> Vec<(Feed, FeedLine)> {
        let lines = self.handler.lines().filter(|line| line.is_joined);
        lines.map(|line| (line.feed, line.side)).collect()
    }
}

pub(crate) fn quote(sequence: u32, rpt_seq: u32, price: i64) -> PacketBuilder {
    packet(sequence).book(END, &[bid(7, rpt_seq).add(1, price, 5)])
}
