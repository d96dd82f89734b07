//! A market, its publisher, and a receiver that must agree after every event.

use std::collections::BTreeMap;

use hairpin_exchange::{
    Accumulator, BackgroundFlow, Capacity, Feed, FlowGenerator, FlowStep, Instrument, Matching,
    Publication, Publisher, PublisherSettings, Side, Transmit,
};
use hairpin_time::{Duration, Instant, Now, Utc};

use crate::receiver::{self, Definition, LoopReceiver, Receiver, SnapshotLoop};

pub(crate) const INSTRUMENTS: u32 = 100;

/// A market, its publisher, and a receiver of all feeds.
pub(crate) struct Harness {
    pub(crate) now: Now,
    pub(crate) instruments: Vec<Instrument>,
    pub(crate) matching: Matching,
    pub(crate) events: Accumulator,
    pub(crate) generator: FlowGenerator,
    pub(crate) publisher: Publisher,
    pub(crate) receiver: Receiver,
    pub(crate) definitions: LoopReceiver,
    pub(crate) snapshots: LoopReceiver,
    pub(crate) last_loop: Option<SnapshotLoop>,
    pub(crate) last_definitions: BTreeMap<i32, Definition>,
    /// All incremental packets, if recorded: (sequence, bytes).
    pub(crate) kept: Option<Vec<(u32, Vec<u8>)>>,
}

impl Harness {
    pub(crate) fn new(seed: u64) -> Self {
        Self::with(Instrument::numbered(INSTRUMENTS), seed, BackgroundFlow::default())
    }

    pub(crate) fn with(instruments: Vec<Instrument>, seed: u64, flow: BackgroundFlow) -> Self {
        let now = Now {
            monotonic: Instant::from_nanos(1_000),
            utc: Utc::from_nanos(1_700_000_000_000_000_000),
        };
        let terms = instruments.iter().map(Instrument::terms);
        let matching = Matching::new(terms, Capacity::default());
        let events = matching.accumulator();
        let publisher = Publisher::new(PublisherSettings::default(), &instruments, &events, now);
        Self {
            now,
            generator: FlowGenerator::with_flow(seed, &instruments, flow),
            instruments,
            matching,
            events,
            publisher,
            receiver: Receiver::default(),
            definitions: LoopReceiver::default(),
            snapshots: LoopReceiver::default(),
            last_loop: None,
            last_definitions: BTreeMap::new(),
            kept: None,
        }
    }

    pub(crate) fn seed(&mut self) {
        for instrument in 0..self.matching.instruments() {
            self.generator.seed(instrument, &mut self.matching, &mut self.events);
        }
        assert!(matches!(self.publish(), Publication::Event(_)));
        self.drain_events();
    }

    pub(crate) fn pass(&mut self, span: Duration) {
        self.now = Now { monotonic: self.now.monotonic + span, utc: self.now.utc + span };
    }

    pub(crate) fn publish(&mut self) -> Publication {
        self.publisher.publish(self.now, &self.matching, &mut self.events)
    }

    pub(crate) fn poll(&mut self) -> Option<Transmit> {
        let mut buffer = [0xAA; 1_500];
        let transmit = self.publisher.poll_transmit(self.now, &mut buffer)?;
        let bytes = &buffer[..transmit.length];
        let packet = receiver::open(bytes);
        assert_eq!(packet.sequence, transmit.sequence);
        assert_eq!(packet.sending_time, self.now.utc.as_nanos());
        let is_heartbeat = packet.messages[0].0.template_id == 12;
        assert_eq!(transmit.shows_feed, !is_heartbeat || transmit.feed == Feed::Incremental);
        match transmit.feed {
            Feed::Incremental => {
                let ended = self.receiver.handle_incremental(bytes);
                assert_eq!(ended.is_some(), transmit.event.is_some_and(|event| event.ends));
                for security_id in ended.unwrap_or_default() {
                    self.compare(security_id);
                }
                if let Some(kept) = &mut self.kept {
                    kept.push((transmit.sequence, bytes.to_vec()));
                    // A late joiner starts after a channel reset, after which the sequence may
                    // restart at 1.
                    if packet.messages[0].0.template_id == 4 {
                        kept.clear();
                    }
                }
            }
            Feed::Instruments => {
                if let Some(definitions) = self.definitions.handle_definitions(bytes) {
                    self.receiver.census.definition_loops += 1;
                    let symbols = definitions.iter().map(|(&id, of)| (id, of.symbol.as_str()));
                    let expected =
                        self.instruments.iter().map(|i| (i.security_id, i.symbol.as_str()));
                    assert!(symbols.eq(expected));
                    self.last_definitions = definitions;
                }
            }
            Feed::SnapshotOrders => panic!("order snapshots are disabled"),
            Feed::Snapshots => {
                if let Some(snapshots) = self.snapshots.handle_snapshots(bytes) {
                    self.receiver.census.snapshot_loops += 1;
                    self.last_loop = Some(snapshots);
                }
            }
        }
        Some(transmit)
    }

    /// Sends whole events until none is queued.
    pub(crate) fn drain_events(&mut self) {
        while self.publisher.has_event() {
            assert_eq!(self.poll().unwrap().feed, Feed::Incremental);
        }
    }

    pub(crate) fn index(&self, security_id: i32) -> u32 {
        self.instruments.iter().position(|i| i.security_id == security_id).unwrap() as u32
    }

    /// Checks that the received, published and matched books are equal.
    pub(crate) fn compare(&self, security_id: i32) {
        let index = self.index(security_id);
        let received = &self.receiver.books[&security_id];
        let published = self.publisher.published(index);
        for (side, levels) in Side::BOTH.into_iter().zip([&received.bids, &received.offers]) {
            let top: Vec<_> = self
                .matching
                .levels(index, side)
                .take(10)
                .map(|level| (level.price.0, level.quantity as i32, level.orders as i32))
                .collect();
            assert_eq!(levels, &top, "{security_id} {side:?}");
            let ladder = published.sides[side as usize].levels().iter();
            let ladder = ladder.map(|l| (l.price.0, l.quantity as i32, l.orders as i32));
            assert!(ladder.eq(top), "{security_id} {side:?}");
        }
        for (ladder, levels) in
            published.implied.iter().zip([&received.implied_bids, &received.implied_offers])
        {
            let ladder = ladder.levels().iter().map(|l| (l.price.0, l.quantity as i32));
            assert!(ladder.eq(levels.iter().copied()), "{security_id} implied");
        }
        assert_eq!(received.status, published.status as u8);
        assert_eq!(received.rpt_seq, published.rpt_seq);
        assert_eq!(received.volume as u64, self.matching.volume(index));
        assert_eq!(
            received.last_trade,
            published.last_trade.map(|(price, quantity)| (price.0, quantity as i32))
        );
    }

    pub(crate) fn step(&mut self) -> FlowStep {
        let step = self.generator.step(&mut self.matching, &mut self.events).unwrap();
        assert!(matches!(self.publish(), Publication::Event(_)));
        step
    }

    /// Sends all due packets.
    pub(crate) fn drain(&mut self) {
        let mut packets = 0;
        while self.poll().is_some() {
            packets += 1;
            assert!(packets < 10_000, "packets are due without end");
        }
    }
}
