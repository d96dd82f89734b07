//! A market, its publisher, and a follower of all its feeds that must agree with it.

use std::collections::{BTreeMap, BTreeSet};

use hairpin_exchange::{
    BackgroundFlow, Capacity, Feed, Fingerprint, Instrument, MAX_PAYLOAD, Pace, PublisherSettings,
    SimulatedMarket, SimulatedMarketSettings, Transmit,
};
use hairpin_time::{Duration, Instant, Now, Utc};

use crate::follower::{self, Definitions, Follower, Snapshots, digest};

type Books = BTreeMap<i32, follower::Instrument>;

pub(crate) struct Harness {
    pub(crate) now: Now,
    pub(crate) market: SimulatedMarket,
    pub(crate) follower: Follower,
    pub(crate) definitions: Definitions,
    /// The last complete definition loop.
    pub(crate) defined: BTreeMap<i32, (u16, String, u8, u8)>,
    pub(crate) snapshots: [Snapshots; 2],
    /// The follower's books when the current loops started, and the packet number.
    at_start: [Option<(u32, Books)>; 2],
    /// The number of complete loops: definitions, snapshots, order snapshots.
    pub(crate) loops: [u64; 3],
    /// The contents of each snapshot loop: books, orders.
    wants: [bool; 2],
    pub(crate) compared: u64,
    settings: PublisherSettings,
}

impl Harness {
    pub(crate) fn new(
        settings: PublisherSettings,
        instruments: Vec<Instrument>,
        seed: u64,
    ) -> Self {
        let now = Now {
            monotonic: Instant::from_nanos(1_000),
            utc: Utc::from_nanos(1_700_000_000_000_000_000),
        };
        let publisher = PublisherSettings { fingerprints: true, ..settings };
        let count = instruments.len() as u32;
        let capacity = Capacity { orders: 4_096 + 120 * count, levels: 2_048 + 48 * count };
        let market = SimulatedMarketSettings {
            instruments,
            seed,
            flow: BackgroundFlow::ALL,
            capacity,
            publisher,
        };
        let mut market = SimulatedMarket::new(&market, now);
        market.publisher_mut().set_pace(Pace::Paced, now.monotonic);
        let has_tops = market.publisher().published_top_orders(0).is_some();
        Self {
            now,
            market,
            follower: Follower::new(),
            definitions: Definitions::default(),
            defined: BTreeMap::new(),
            snapshots: Default::default(),
            at_start: [None, None],
            loops: [0; 3],
            wants: [true, has_tops],
            compared: 0,
            settings,
        }
    }

    pub(crate) fn pass(&mut self, span: Duration) {
        self.now = Now { monotonic: self.now.monotonic + span, utc: self.now.utc + span };
    }

    /// Sends the next due packet.
    pub(crate) fn poll(&mut self) -> Option<Transmit> {
        let mut buffer = [0xAA; MAX_PAYLOAD];
        let transmit = self.market.publisher_mut().poll_transmit(self.now, &mut buffer)?;
        let bytes = &buffer[..transmit.length];
        match transmit.feed {
            Feed::Incremental => {
                let ended = self.follower.handle(bytes);
                assert_eq!(ended.is_some(), transmit.event.is_some_and(|event| event.ends));
                if let Some(touched) = ended {
                    self.compare(transmit.sequence, touched);
                }
            }
            Feed::Instruments => {
                if let Some(defined) = self.definitions.handle(bytes) {
                    self.defined = defined;
                    self.loops[0] += 1;
                }
            }
            Feed::Snapshots => self.handle_snapshots(0, self.wants, bytes),
            // A receiver of orders needs this loop only.
            Feed::SnapshotOrders => self.handle_snapshots(1, [true, true], bytes),
        }
        Some(transmit)
    }

    /// Sends all packets that are due now.
    pub(crate) fn drain(&mut self) {
        while self.poll().is_some() {}
    }

    /// Checks that a loop equals the books at its first packet, and names that packet.
    fn handle_snapshots(&mut self, which: usize, wants: [bool; 2], bytes: &[u8]) {
        if bytes[..4] == [1, 0, 0, 0] {
            let known = self.follower.books.iter().filter(|(_, book)| book.rpt_seq > 0);
            let known = known.map(|(&id, book)| (id, book.clone())).collect();
            self.at_start[which] = Some((self.market.publisher().sequence(), known));
        }
        let Some((last_processed, received)) = self.snapshots[which].handle(bytes, wants) else {
            return;
        };
        self.loops[1 + which] += 1;
        let (sequence, known) = self.at_start[which].take().unwrap();
        assert_eq!(last_processed, sequence);
        assert!(
            received.keys().eq(known.keys()),
            "snapshot loop does not contain the active instruments"
        );
        for (id, known) in &known {
            let received = &received[id];
            if wants[0] {
                assert_eq!((received.rpt_seq, received.volume), (known.rpt_seq, known.volume));
                assert_eq!(digest(received)[..2], digest(known)[..2], "{id}");
                assert_eq!(received.statistics, known.statistics);
                assert_eq!(received.market_best, known.market_best);
                if !self.settings.long_quantities {
                    assert_eq!(received.settlements, known.settlements);
                }
                assert_eq!(
                    (received.limits, received.last_trade),
                    (known.limits, known.last_trade)
                );
            }
            if wants[1] {
                assert_eq!(received.orders, known.orders, "{id}");
            }
        }
    }

    /// Checks that the books of an event's instruments equal the fingerprints at its end.
    fn compare(&mut self, sequence: u32, touched: BTreeSet<i32>) {
        let epoch = self.follower.census.resets as u32;
        let mut recorded = BTreeSet::new();
        while let Some(fingerprint) = self.market.publisher_mut().poll_fingerprint() {
            let Fingerprint { security_id, rpt_seq, book, implied, orders, .. } = fingerprint;
            assert_eq!((fingerprint.epoch, fingerprint.sequence), (epoch, sequence));
            let known = &self.follower.books[&security_id];
            assert_eq!((rpt_seq, [book, implied, orders]), (known.rpt_seq, digest(known)));
            self.compare_sums(security_id);
            self.compared += 1;
            recorded.insert(security_id);
        }
        assert!(touched.is_subset(&recorded), "{touched:?} has no fingerprint: {recorded:?}");
    }

    /// Checks that the orders add up to the published levels.
    fn compare_sums(&self, security_id: i32) {
        use hairpin_exchange::Group;
        if !matches!(self.settings.group, Group::Premium { orders: Some(_) }) {
            return;
        }
        let book = &self.follower.books[&security_id];
        for side in [b'0', b'1'] {
            let sums = book.sums(side);
            assert_eq!(book.side(side), &sums[..sums.len().min(10)], "{security_id}");
        }
    }
}
