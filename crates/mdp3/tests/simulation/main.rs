//! A publisher, two lossy sides, loops, and a channel that joins late: whatever is lost, a book
//! that is called in sync is what was published, and once nothing is lost any more all are.

mod support;

use std::collections::{BTreeMap, HashMap};

use hairpin_mdp3::{
    Action, Book, Channel, ChannelReset, EndOfEvent, Feed, Input, InstrumentStateChange, Listener,
    Settings, Side, SyncState,
};
use hairpin_time::{Duration, Instant, Now, Utc};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use support::*;

const IDS: [i32; 6] = [7, 8, 9, 10, 11, 12];
/// These never trade in the first half of a run: snapshots do not name them.
const QUIET: [i32; 2] = [11, 12];
const DEPTH: usize = 3;

/// What the exchange has: all books.
#[derive(Default)]
struct Exchange {
    books: BTreeMap<i32, [Vec<(i64, i32)>; 2]>,
    rpt_seqs: BTreeMap<i32, u32>,
    /// Each book at its epoch and RptSeq, since the judge last asked.
    published: HashMap<(u32, i32, u32), String>,
    epoch: u32,
    sequence: u32,
    millis: u64,
    resets: bool,
}

impl Exchange {
    fn show(&self, id: i32) -> String {
        let side = |levels: &[(i64, i32)]| {
            let shown: Vec<_> =
                levels.iter().map(|(price, quantity)| format!("{quantity}@{price}")).collect();
            shown.join(" ")
        };
        let Some([bids, asks]) = self.books.get(&id) else { return "|".to_owned() };
        format!("{} | {}", side(bids), side(asks)).trim().to_owned()
    }

    /// One entry, valid for the book as it is.
    fn entry(&mut self, id: i32, rng: &mut ChaCha8Rng) -> Entry {
        let rpt_seq = self.rpt_seqs.entry(id).or_insert(0);
        *rpt_seq += 1;
        let is_bid = rng.next_u32().is_multiple_of(2);
        let entry = if is_bid { bid(id, *rpt_seq) } else { ask(id, *rpt_seq) };
        let side = &mut self.books.entry(id).or_default()[usize::from(!is_bid)];
        let (price, quantity) = (i64::from(rng.next_u32() % 100), 1 + (rng.next_u32() % 9) as i32);
        let level = |levels: usize, rng: &mut ChaCha8Rng| 1 + rng.next_u32() as usize % levels;
        let entry = match rng.next_u32() % 3 {
            0 if !side.is_empty() => {
                let level = level(side.len(), rng);
                side.remove(level - 1);
                entry.delete(level as u8)
            }
            1 if !side.is_empty() => {
                let level = level(side.len(), rng);
                side[level - 1] = (price, quantity);
                entry.overlay(level as u8, price, quantity)
            }
            _ => {
                let level = level((side.len() + 1).min(DEPTH), rng);
                side.insert(level - 1, (price, quantity));
                side.truncate(DEPTH);
                entry.add(level as u8, price, quantity)
            }
        };
        self.published.insert((self.epoch, id, entry.rpt_seq), self.show(id));
        entry
    }

    /// The next incremental packet: mostly books, sometimes a trade, a heartbeat, a reset.
    fn next_packet(&mut self, rng: &mut ChaCha8Rng, ids: &[i32]) -> PacketBuilder {
        self.sequence += 1;
        self.millis += 1;
        let id = ids[rng.next_u32() as usize % ids.len()];
        let packet = sent_at(self.sequence, self.millis);
        match rng.next_u32() % 400 {
            0 if self.resets => {
                self.epoch += 1;
                self.books.clear();
                self.rpt_seqs.clear();
                packet.channel_reset()
            }
            0..20 => packet.heartbeat(),
            20..60 => {
                let rpt_seq = self.rpt_seqs.entry(id).or_insert(0);
                *rpt_seq += 1;
                let rpt_seq = *rpt_seq;
                self.published.insert((self.epoch, id, rpt_seq), self.show(id));
                packet.trade(END, id, rpt_seq, 1, 1)
            }
            choice => {
                let other = ids[rng.next_u32() as usize % ids.len()];
                let entries = [self.entry(id, rng), self.entry(other, rng)];
                let end = if choice % 4 == 0 { MORE } else { END };
                packet.book(end, &entries)
            }
        }
    }

    /// One pass of the snapshot loop: the instruments with activity, two in a packet.
    fn snapshots(&mut self) -> Vec<PacketBuilder> {
        let ids: Vec<_> = self.rpt_seqs.keys().copied().collect();
        let mut packets = Vec::new();
        for (number, ids) in (1..).zip(ids.chunks(2)) {
            self.millis += 1;
            let mut packet = sent_at(number, self.millis);
            for id in ids {
                let empty = <[Vec<(i64, i32)>; 2]>::default();
                let [bids, asks] = self.books.get(id).unwrap_or(&empty);
                let levels: Vec<_> = [(b'0', bids), (b'1', asks)]
                    .into_iter()
                    .flat_map(|(side, levels)| {
                        (1..).zip(levels).map(move |(level, &(at, size))| (side, level, at, size))
                    })
                    .collect();
                let total = self.rpt_seqs.len() as u32;
                packet = packet.snapshot(*id, self.sequence, total, self.rpt_seqs[id], &levels);
            }
            packets.push(packet);
        }
        packets
    }

    fn definitions(&mut self) -> Vec<PacketBuilder> {
        let packets = (1..).zip(IDS.chunks(2)).map(|(number, ids)| {
            self.millis += 1;
            ids.iter().fold(sent_at(number, self.millis), |packet, id| {
                packet.definition(*id, IDS.len() as u32, DEPTH as i8)
            })
        });
        packets.collect()
    }
}

/// Compares every book that is in sync with what was published.
#[derive(Default)]
struct Judge {
    /// What the exchange had published at each epoch, instrument and RptSeq, up to now.
    published: HashMap<(u32, i32, u32), String>,
    /// The epoch by what the channel has told, and the exchange's, of which the channel need not
    /// have heard yet, or at all.
    epoch: u32,
    exchange_epoch: u32,
    judged: u64,
    fell_out: u64,
}

impl Judge {
    fn judge(&mut self, book: Book<'_>) {
        let shown = recorder_show(book);
        let Some(rpt_seq) = book.rpt_seq() else {
            return assert_eq!(shown, "|", "without an RptSeq a book is empty");
        };
        self.judged += 1;
        let id = book.security_id();
        let at = |epoch| self.published.get(&(epoch, id, rpt_seq)).map_or("|", String::as_str);
        let (told, actual) = (at(self.epoch), at(self.exchange_epoch));
        assert!(
            shown == told || shown == actual,
            "instrument {id} at {rpt_seq} is {shown}, was {told} in epoch {} or {actual} in {}",
            self.epoch,
            self.exchange_epoch
        );
    }
}

fn recorder_show(book: Book<'_>) -> String {
    let side = |levels: &[hairpin_mdp3::Level]| {
        let shown: Vec<_> =
            levels.iter().map(|level| format!("{}@{}", level.quantity, level.price)).collect();
        shown.join(" ")
    };
    format!("{} | {}", side(book.bids()), side(book.asks())).trim().to_owned()
}

impl Listener for Judge {
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        for (_, book, _) in event.changed() {
            self.judge(book);
        }
    }
    fn on_channel_reset(&mut self, _: &ChannelReset<'_>) {
        self.epoch = self.exchange_epoch;
    }
    fn on_instrument_state(&mut self, change: &InstrumentStateChange<'_>) {
        if change.state == SyncState::OutOfSync {
            self.fell_out += 1;
        }
    }
}

struct Simulation {
    exchange: Exchange,
    channel: Channel,
    judge: Judge,
    rng: ChaCha8Rng,
    now: Instant,
    joined: [bool; 3],
    /// Packets in a thousand that each side loses, and delays behind the next.
    loss: u32,
    delay: u32,
    late: [Option<PacketBuilder>; 2],
}

impl Simulation {
    fn new(seed: u64) -> Self {
        let settings = Settings { max_instruments: IDS.len(), ..SETTINGS };
        let exchange = Exchange { sequence: 1_000, millis: 1_000, ..Exchange::default() };
        Self {
            exchange,
            channel: Channel::new(settings),
            judge: Judge::default(),
            rng: ChaCha8Rng::seed_from_u64(seed),
            now: Instant::from_nanos(1_000_000_000),
            joined: [false; 3],
            loss: 0,
            delay: 0,
            late: [None, None],
        }
    }

    fn chance(&mut self, in_a_thousand: u32) -> bool {
        self.rng.next_u32() % 1_000 < in_a_thousand
    }

    fn hand_over(&mut self, feed: Feed, side: Side, packet: &PacketBuilder) {
        let now = Now { monotonic: self.now, utc: Utc::EPOCH };
        if self.joined[feed as usize] {
            let input = Input { feed, side, received: None };
            self.channel.handle_packet(now, input, packet.bytes(), &mut self.judge);
        }
        while let Some(action) = self.channel.poll_action() {
            match action {
                Action::Join(feed) => self.joined[feed as usize] = true,
                Action::Leave(feed) => self.joined[feed as usize] = false,
                _ => unreachable!(),
            }
        }
    }

    fn send(&mut self, feed: Feed, packet: &PacketBuilder) {
        for side in Side::ALL {
            if self.chance(self.loss) {
                continue;
            }
            let late = self.late[side as usize].take();
            if feed == Feed::Incremental && late.is_none() && self.chance(self.delay) {
                self.late[side as usize] = Some(packet.clone());
                continue;
            }
            self.hand_over(feed, side, packet);
            if let Some(late) = late {
                self.hand_over(Feed::Incremental, side, &late);
            }
        }
    }

    /// `steps` milliseconds: a packet each, a pass of the loops every 40.
    fn run(&mut self, steps: usize, ids: &[i32]) {
        for step in 0..steps {
            let packet = self.exchange.next_packet(&mut self.rng, ids);
            // What may be judged from now on includes what this packet says.
            self.judge.exchange_epoch = self.exchange.epoch;
            self.judge.published.extend(self.exchange.published.drain());
            self.send(Feed::Incremental, &packet);
            if step % 40 == 39 {
                self.exchange.definitions().iter().for_each(|packet| {
                    self.send(Feed::Instrument, packet);
                });
                self.exchange.snapshots().iter().for_each(|packet| {
                    self.send(Feed::Snapshot, packet);
                });
            }
            self.now += Duration::from_millis(1);
            let now = Now { monotonic: self.now, utc: Utc::EPOCH };
            self.channel.handle_timeout(now, &mut self.judge);
            for instrument in self.channel.instruments().iter() {
                let book = self.channel.book(instrument);
                if book.is_in_sync() {
                    self.judge.judge(book);
                }
            }
        }
    }
}

/// What happened in a run, added up over all of them.
#[derive(Default, Debug)]
struct Census {
    gaps: u64,
    held: u64,
    recovered: u64,
    by_absence: u64,
    resets: u64,
    fell_out: u64,
    unaffected: u64,
    judged: u64,
}

fn simulate(seed: u64, census: &mut Census) {
    let mut simulation = Simulation::new(seed);
    simulation.joined = [true, true, false];
    let active: Vec<_> = IDS.into_iter().filter(|id| !QUIET.contains(id)).collect();
    if seed.is_multiple_of(2) {
        simulation.exchange.resets = true;
    } else {
        // Late in the day, when the next RptSeq proves something.
        simulation.exchange.rpt_seqs = active.iter().map(|id| (*id, 10_000)).collect();
    }
    // The exchange is in the middle of its day when the channel joins; then losses, then peace.
    for _ in 0..50 {
        simulation.exchange.next_packet(&mut simulation.rng, &active);
    }
    simulation.judge.epoch = simulation.exchange.epoch;
    (simulation.loss, simulation.delay) = (100, 50);
    simulation.run(600, &active);
    simulation.run(600, &IDS);
    (simulation.loss, simulation.delay) = (0, 0);
    simulation.run(120, &IDS);
    let counters = *simulation.channel.counters();
    for id in IDS {
        let book = simulation.channel.book_of(id).expect("it is defined");
        assert!(book.is_in_sync(), "seed {seed}: instrument {id} is not in sync at the end");
        assert_eq!(recorder_show(book), simulation.exchange.show(id), "seed {seed}: {id}");
    }
    let errors = counters.inapplicable_entries + counters.invalid_entries;
    assert_eq!(errors, 0, "seed {seed}");
    census.gaps += counters.gaps;
    census.held += counters.held_packets;
    census.recovered += counters.snapshots_applied;
    census.by_absence += counters.empty_by_absence;
    census.resets += counters.resets;
    census.unaffected += counters.found_unaffected;
    census.fell_out += simulation.judge.fell_out;
    census.judged += simulation.judge.judged;
}

#[test]
fn a_book_in_sync_is_what_was_published() {
    let mut census = Census::default();
    let seeds = std::env::var("HAIRPIN_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    for seed in 0..seeds.unwrap_or(30) {
        simulate(seed, &mut census);
    }
    println!("{census:?}");
    let Census { gaps, held, recovered, by_absence, resets, fell_out, unaffected, judged } = census;
    for count in [gaps, held, recovered, by_absence, resets, fell_out, unaffected, judged] {
        assert!(count > 0, "something this test exists for has not happened: {census:?}");
    }
}
