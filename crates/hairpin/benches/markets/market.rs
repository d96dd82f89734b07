//! Markets of any size, from generated packets of template 46, one event each.
//!
//! The exchange of `hot_path` has at most a few thousand instruments. Here an instrument is only
//! its levels: ten per side, of which one changes, is deleted, or is added again.

use std::hint::black_box;
use std::time::{Duration, Instant};

use hairpin_cme_codecs::mdp3::{
    MDEntryTypeBook, MDIncrementalRefreshBook46, MDUpdateAction, MatchEventIndicator, Price9,
};
use hairpin_feed_handler::{
    Channel, EndOfEvent, Error, Feed, FeedLine, Input, LateJoin, Listener, Packet, Settings,
};
use hairpin_mdp3::PacketHeader;
use hairpin_time::{Instant as Time, Now, Utc};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The number of packets built before they are measured.
const CHUNK: usize = 1_024;
/// The number of chunks processed when instructions are counted.
const COUNTED: usize = 10;
/// The number of instruments with events, where not all are active.
const ACTIVE: u32 = 100;
/// The levels per side.
const DEPTH: u32 = 10;
/// The most entries of a packet, except one that sets books.
const ENTRIES_MAX: usize = 12;
/// The entries of a packet that sets books.
const STATED: usize = 20;
/// The send time of the first packet, in nanoseconds since the Unix epoch.
const BEGINNING: u64 = 1_767_634_200_000_000_000;
/// Odd, so that no id repeats among 2³¹.
const SCATTER: u32 = 0x9e37_79b1;
/// Ids are positive.
const ID_MASK: u32 = i32::MAX.cast_unsigned();
/// Coprime to the number of instruments, so that neighbors in rank are not neighbors in memory.
const STRIDE: u64 = 48_271;

/// The instruments of the packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Activity {
    /// A hundred instruments, far apart in memory, or all if there are fewer.
    Hundred,
    /// All instruments, equally often.
    Uniform,
    /// All instruments, each in proportion to the reciprocal of its rank.
    Zipf,
}

/// A market, and its packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Market {
    pub(crate) name: &'static str,
    instruments: u32,
    activity: Activity,
    /// The entries of a packet.
    entries: usize,
    /// Each entry is for its own instrument; otherwise all are for one.
    is_spread: bool,
}

const fn hundred(name: &'static str, instruments: u32) -> Market {
    Market { name, instruments, activity: Activity::Hundred, entries: 1, is_spread: false }
}

const fn all(name: &'static str, activity: Activity) -> Market {
    Market { name, instruments: 100_000, activity, entries: 1, is_spread: false }
}

const fn twelve(name: &'static str, is_spread: bool) -> Market {
    Market { name, instruments: 1_000, activity: Activity::Uniform, entries: 12, is_spread }
}

impl Market {
    pub(crate) const ALL: [Self; 9] = [
        hundred("of-10", 10),
        hundred("of-100", 100),
        hundred("of-1000", 1_000),
        hundred("of-10000", 10_000),
        hundred("of-100000", 100_000),
        twelve("twelve-one-book", false),
        twelve("twelve-books", true),
        all("uniform-100000", Activity::Uniform),
        all("zipf-100000", Activity::Zipf),
    ];

    /// Returns `true` if the page size affects this market.
    pub(crate) fn is_large(&self) -> bool {
        self.instruments == 100_000 && self.activity != Activity::Hundred
    }

    /// Returns the bytes of its packets: header, size, message header, root, entries, no orders.
    const fn packet_bytes(&self) -> usize {
        PacketHeader::LENGTH + 2 + 8 + 11 + 3 + 32 * self.entries + 8
    }
}

/// The counts of a listener.
#[derive(Debug, Default)]
struct Seen {
    events: u64,
    books: u64,
    errors: u64,
}

impl Listener for Seen {
    #[inline]
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        self.events += 1;
        for changed in black_box(event).changed() {
            black_box(changed);
            self.books += 1;
        }
    }

    fn on_error(&mut self, _: Option<&Packet>, _: &Error) {
        self.errors += 1;
    }
}

/// An iteration over a market, chunk by chunk.
pub(crate) struct MarketRun {
    market: Market,
    channel: Channel,
    writer: Writer,
    chunk: Vec<u8>,
    seen: Seen,
    packets: u64,
}

impl MarketRun {
    /// Creates a channel that has every instrument of the market.
    pub(crate) fn new(market: Market) -> Self {
        let settings = Settings {
            max_instruments: market.instruments as usize,
            late_join: LateJoin::Nothing,
            max_related: 0,
            ..Settings::default()
        };
        let mut channel = Channel::new(settings);
        while channel.poll_action().is_some() {}
        let mut writer = Writer::new(market);
        writer.state_all(|bytes| handle(&mut channel, bytes, &mut Seen::default()));
        let chunk = vec![0; CHUNK * market.packet_bytes()];
        assert_eq!(channel.instruments().len(), market.instruments as usize);
        Self { market, channel, writer, chunk, seen: Seen::default(), packets: 0 }
    }

    /// Processes at least `packets` packets, and returns the time scaled to that number.
    pub(crate) fn time(&mut self, packets: u64) -> Duration {
        let (mut taken, mut time) = (0, Duration::ZERO);
        while taken < packets {
            time += self.next_chunk();
            taken += CHUNK as u64;
        }
        time.mul_f64(packets as f64 / taken as f64)
    }

    /// Processes some chunks, and returns what they contained.
    pub(crate) fn counted(&mut self) -> String {
        for _ in 0..COUNTED {
            self.next_chunk();
        }
        self.check();
        let Market { instruments, entries, .. } = self.market;
        let packets = self.packets;
        format!(
            "events={packets} packets={packets} books={} book_entries={} instruments={instruments}",
            self.seen.books,
            packets * entries as u64,
        )
    }

    fn next_chunk(&mut self) -> Duration {
        let Self { market, channel, writer, chunk, seen, packets } = self;
        let length = market.packet_bytes();
        chunk.chunks_exact_mut(length).for_each(|packet| writer.packet(packet));
        *packets += CHUNK as u64;
        let begun = Instant::now();
        measured_market(channel, chunk, length, seen);
        begun.elapsed()
    }

    /// Checks the counts: a benchmark that measures less than it claims is worse than none.
    pub(crate) fn check(&self) {
        let books = if self.market.is_spread { self.market.entries as u64 } else { 1 };
        let expected = [self.packets, self.packets * books];
        assert_eq!([self.seen.events, self.seen.books], expected, "{}", self.market.name);
        let counters = self.channel.counters();
        assert_eq!(counters.book_entries, self.writer.entries, "{}", self.market.name);
        assert_eq!([counters.gaps, counters.malformed_messages, self.seen.errors], [0; 3]);
    }
}

/// Processes a chunk under callgrind, which counts while a function with this name prefix runs.
#[inline(never)]
fn measured_market(channel: &mut Channel, chunk: &[u8], length: usize, seen: &mut Seen) {
    for packet in chunk.chunks_exact(length) {
        handle(channel, packet, seen);
    }
}

#[inline(always)]
fn handle(channel: &mut Channel, packet: &[u8], seen: &mut Seen) {
    let utc = Utc::from_nanos(BEGINNING);
    let now = black_box(Now { monotonic: Time::from_nanos(1_000_000_000), utc });
    let input = Input { feed: Feed::Incremental, line: FeedLine::A, received: Some(utc) };
    channel.handle_packet(now, input, packet, seen);
}

/// Builds the packets of a market.
struct Writer {
    market: Market,
    random: ChaCha8Rng,
    sequence: u32,
    rpt_seqs: Vec<u32>,
    /// The deleted level of each instrument that is added next: negative for asks, 0 for none.
    missing: Vec<i8>,
    /// The number of entries so far.
    entries: u64,
}

/// A book entry of one instrument.
struct Entry {
    instrument: u32,
    action: MDUpdateAction,
    is_bid: bool,
    level: u32,
}

impl Writer {
    fn new(market: Market) -> Self {
        let count = market.instruments as usize;
        let random = ChaCha8Rng::seed_from_u64(1);
        let (rpt_seqs, missing) = (vec![0; count], vec![0; count]);
        Self { market, random, sequence: 0, rpt_seqs, missing, entries: 0 }
    }

    /// Sets ten levels per side of each active instrument, and one of every other.
    fn state_all(&mut self, mut on: impl FnMut(&[u8])) {
        let Market { instruments, activity, .. } = self.market;
        let step = (instruments / ACTIVE).max(1);
        let levels = |instrument: u32| {
            let is_active = activity != Activity::Hundred || instrument.is_multiple_of(step);
            let depth = if is_active { DEPTH } else { 1 };
            (1..=depth).flat_map(move |level| [(level, true), (level, false)])
        };
        let mut entries = (0..instruments).flat_map(|instrument| {
            levels(instrument).map(move |(level, is_bid)| Entry {
                instrument,
                action: MDUpdateAction::NEW,
                is_bid,
                level,
            })
        });
        let mut packet = [0; 1_024];
        loop {
            let some: Vec<Entry> = entries.by_ref().take(STATED).collect();
            if some.is_empty() {
                break;
            }
            let length = self.write(&mut packet, some.iter());
            on(&packet[..length]);
        }
    }

    /// Writes the next packet of the market.
    fn packet(&mut self, packet: &mut [u8]) {
        let first = self.pick();
        let Market { instruments, entries, is_spread, .. } = self.market;
        let all: [Option<Entry>; ENTRIES_MAX] = std::array::from_fn(|place| {
            let far = if is_spread { place as u64 * STRIDE } else { 0 };
            let instrument = ((u64::from(first) + far) % u64::from(instruments)) as u32;
            (place < entries).then(|| self.entry(instrument))
        });
        let length = self.write(packet, all.iter().flatten());
        assert_eq!(length, packet.len());
    }

    /// Returns the instrument of the next packet.
    fn pick(&mut self) -> u32 {
        let count = self.market.instruments;
        match self.market.activity {
            Activity::Hundred => self.below(count.min(ACTIVE)) * (count / ACTIVE).max(1),
            Activity::Uniform => self.below(count),
            Activity::Zipf => {
                let part = f64::from(self.random.next_u32()) / (f64::from(u32::MAX) + 1.0);
                let rank = f64::from(count + 1).powf(part) as u64 - 1;
                (rank * STRIDE % u64::from(count)) as u32
            }
        }
    }

    /// Returns the next change of an instrument.
    fn entry(&mut self, instrument: u32) -> Entry {
        let missing = std::mem::take(&mut self.missing[instrument as usize]);
        if missing != 0 {
            let (is_bid, level) = (missing > 0, u32::from(missing.unsigned_abs()));
            return Entry { instrument, action: MDUpdateAction::NEW, is_bid, level };
        }
        let (is_bid, level) = (self.below(2) == 0, 1 + self.below(DEPTH));
        if self.below(2) == 0 {
            return Entry { instrument, action: MDUpdateAction::CHANGE, is_bid, level };
        }
        self.missing[instrument as usize] = if is_bid { level as i8 } else { -(level as i8) };
        Entry { instrument, action: MDUpdateAction::DELETE, is_bid, level }
    }

    fn write<'a>(&mut self, packet: &mut [u8], entries: impl Iterator<Item = &'a Entry>) -> usize {
        self.sequence += 1;
        let utc = Utc::from_nanos(BEGINNING + u64::from(self.sequence));
        let header = PacketHeader { sequence: self.sequence, sending_time: utc }.encode();
        let (head, rest) = packet.split_at_mut(PacketHeader::LENGTH + 2);
        head[..PacketHeader::LENGTH].copy_from_slice(&header);
        let length = self.message(rest, utc, entries) + 2;
        head[PacketHeader::LENGTH..].copy_from_slice(&(length as u16).to_le_bytes());
        PacketHeader::LENGTH + length
    }

    fn message<'a>(
        &mut self,
        buffer: &mut [u8],
        utc: Utc,
        entries: impl Iterator<Item = &'a Entry>,
    ) -> usize {
        let (mut root, mut groups) = MDIncrementalRefreshBook46::encode(buffer).expect("room");
        root.set_transact_time(utc.as_nanos()).set_match_event_indicator(MatchEventIndicator(0x84));
        let mut group = groups.no_md_entries().expect("room");
        for entry in entries {
            self.entries += 1;
            let rpt_seq = &mut self.rpt_seqs[entry.instrument as usize];
            *rpt_seq += 1;
            let (side, tick) = match entry.is_bid {
                true => (MDEntryTypeBook::BID, 1_000 - i64::from(entry.level)),
                false => (MDEntryTypeBook::OFFER, 1_000 + i64::from(entry.level)),
            };
            let quantity = 1 + (self.random.next_u32() % 100) as i32;
            group
                .push()
                .expect("room")
                .set_md_entry_px(Some(Price9(tick * 250_000_000)))
                .set_md_entry_size(Some(quantity))
                .set_security_id((entry.instrument.wrapping_mul(SCATTER) & ID_MASK).cast_signed())
                .set_rpt_seq(*rpt_seq)
                .set_number_of_orders(1 + quantity / 10)
                .set_md_price_level(entry.level as u8)
                .set_md_update_action(entry.action)
                .set_md_entry_type(side);
        }
        groups.finish().expect("room")
    }

    fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.random.next_u32()) * u64::from(bound)) >> 32) as u32
    }
}
