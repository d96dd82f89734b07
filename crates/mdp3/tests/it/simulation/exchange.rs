//! The simulated exchange: its state and its packets.

use std::collections::{BTreeMap, HashMap};

use hairpin_time::Utc;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use super::{DEPTH, IDS, IMPLIED_DEPTH};
use crate::support::*;

/// The levels of a side, as price and quantity.
type Side = Vec<(i64, i32)>;

/// MDEntryType of the sides, in the order of [`Books`].
const KINDS: [u8; 4] = [b'0', b'1', b'E', b'F'];

/// Bids and asks, then implied bids and asks.
type Books = [Side; 4];

/// The published books, by epoch, instrument and RptSeq.
pub(crate) type Published = HashMap<(u32, i32, u32), String>;

/// Counts of what was sent.
#[derive(Default, Debug, Clone, Copy)]
pub(crate) struct Sent {
    pub(crate) implied: u64,
    pub(crate) book_resets: u64,
    pub(crate) statuses: u64,
    pub(crate) group_statuses: u64,
    pub(crate) resets: u64,
    pub(crate) restarts: u64,
    /// Restarts whose first packets have the SendingTime of their reset.
    pub(crate) restarts_at_once: u64,
    pub(crate) modified: u64,
}

/// All books, statuses and definitions.
#[derive(Default)]
pub(crate) struct Exchange {
    books: BTreeMap<i32, Books>,
    pub(crate) rpt_seqs: BTreeMap<i32, u32>,
    pub(crate) statuses: BTreeMap<i32, u8>,
    /// The number of modifications of each definition, visible in its symbol and LastUpdateTime.
    pub(crate) versions: BTreeMap<i32, u64>,
    /// The book at each epoch and RptSeq since the checker last took them.
    pub(crate) published: Published,
    pub(crate) epoch: u32,
    /// The start of each epoch since the checker last took them.
    pub(crate) epochs: BTreeMap<Utc, u32>,
    pub(crate) sequence: u32,
    pub(crate) millis: u64,
    /// The number of milliseconds that share a SendingTime.
    pub(crate) wake: u64,
    /// The SendingTime of the last reset.
    last_reset: Option<u64>,
    pub(crate) sent: Sent,
    /// All RptSeq are 0.
    pub(crate) unnumbered: bool,
}

/// Formats books: `quantity@price …| quantity@price … ~ implied`, best first.
pub(crate) fn show_books([bids, asks, implied_bids, implied_asks]: [&[(i64, i32)]; 4]) -> String {
    let side = |levels: &[(i64, i32)]| {
        let shown: Vec<_> =
            levels.iter().map(|(price, quantity)| format!("{quantity}@{price}")).collect();
        shown.join(" ")
    };
    format!("{}|{}~{}|{}", side(bids), side(asks), side(implied_bids), side(implied_asks))
}

/// An instrument without levels.
pub(crate) const EMPTY: &str = "|~|";

impl Exchange {
    /// Creates an exchange that has sent a thousand packets in a second.
    pub(crate) fn new() -> Self {
        Self { sequence: 1_000, millis: 1_000, wake: 1, ..Self::default() }
    }

    /// Returns the present SendingTime.
    pub(crate) fn stamp(&self) -> u64 {
        self.millis / self.wake * self.wake
    }

    pub(crate) fn show(&self, id: i32) -> String {
        let Some(books) = self.books.get(&id) else { return EMPTY.to_owned() };
        show_books(books.each_ref().map(Vec::as_slice))
    }

    fn number(&mut self, id: i32) -> u32 {
        let rpt_seq = self.rpt_seqs.entry(id).or_insert(0);
        *rpt_seq += 1;
        if self.unnumbered { 0 } else { *rpt_seq }
    }

    fn publish(&mut self, id: i32) {
        self.published.insert((self.epoch, id, self.rpt_seqs[&id]), self.show(id));
    }

    /// Returns an entry that is valid for the present book.
    fn entry(&mut self, id: i32, rng: &mut ChaCha8Rng) -> Entry {
        let rpt_seq = self.number(id);
        if rng.next_u32().is_multiple_of(100) {
            self.books.remove(&id);
            self.sent.book_resets += 1;
            self.publish(id);
            return bid(id, rpt_seq).add(1, 0, 0).with_entry_type(b'J');
        }
        // One entry in four is implied.
        let which = [0, 1, 0, 1, 0, 1, 2, 3][rng.next_u32() as usize % 8];
        let depth = if which < 2 { DEPTH } else { IMPLIED_DEPTH };
        self.sent.implied += u64::from(which >= 2);
        let entry = bid(id, rpt_seq).with_entry_type(KINDS[which]);
        let entry = change(&mut self.books.entry(id).or_default()[which], depth, entry, rng);
        self.publish(id);
        entry
    }

    /// Builds the next incremental packet: mostly books, sometimes a trade, a heartbeat, a status,
    /// a changed definition, or a reset without restart.
    pub(crate) fn next_packet(
        &mut self,
        rng: &mut ChaCha8Rng,
        ids: &[i32],
        may_reset: bool,
    ) -> PacketBuilder {
        self.sequence += 1;
        self.millis += 1;
        let id = ids[rng.next_u32() as usize % ids.len()];
        let packet = sent_at(self.sequence, self.stamp());
        match rng.next_u32() % 400 {
            // The checker distinguishes resets by their time.
            0 if may_reset && self.last_reset != Some(self.stamp()) => self.reset(packet),
            0..20 => packet.heartbeat(),
            20..30 => self.status(packet, id, rng),
            30..34 => {
                let version = self.versions.entry(id).or_insert(0);
                *version += 1;
                self.sent.modified += 1;
                packet.future(id, IDS.len() as u32, [DEPTH, IMPLIED_DEPTH], *version)
            }
            34..60 => {
                let rpt_seq = self.number(id);
                self.publish(id);
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

    fn status(&mut self, packet: PacketBuilder, id: i32, rng: &mut ChaCha8Rng) -> PacketBuilder {
        let status = [2, 17, 18, 21][rng.next_u32() as usize % 4];
        if rng.next_u32().is_multiple_of(3) {
            self.sent.group_statuses += 1;
            self.statuses.extend(IDS.map(|id| (id, status)));
            return packet.group_status("ES", "", status);
        }
        self.sent.statuses += 1;
        self.statuses.insert(id, status);
        packet.status(id, status, 0, 0)
    }

    fn reset(&mut self, packet: PacketBuilder) -> PacketBuilder {
        self.epoch += 1;
        self.last_reset = Some(self.stamp());
        self.epochs.insert(packet.transact_time(), self.epoch);
        self.books.clear();
        self.rpt_seqs.clear();
        self.sent.resets += 1;
        packet.channel_reset()
    }

    /// Builds a ChannelReset, after which packet numbering restarts or continues.
    pub(crate) fn channel_reset(&mut self, restarts: bool) -> PacketBuilder {
        self.sequence += 1;
        self.millis = (self.stamp() + self.wake).max(self.millis + 1);
        let packet = self.reset(sent_at(self.sequence, self.stamp()));
        if restarts {
            self.sequence = 0;
            self.sent.restarts += 1;
            self.sent.restarts_at_once += u64::from(self.wake > 1);
        }
        packet
    }

    /// Builds a pass of the snapshot loop: the active instruments, two per packet, or a heartbeat
    /// without any.
    pub(crate) fn snapshots(&mut self) -> Vec<PacketBuilder> {
        let ids: Vec<_> = self.rpt_seqs.keys().copied().collect();
        if ids.is_empty() {
            self.millis += 1;
            return vec![sent_at(1, self.stamp()).heartbeat()];
        }
        let mut packets = Vec::new();
        for (number, ids) in (1..).zip(ids.chunks(2)) {
            self.millis += 1;
            let packet = sent_at(number, self.stamp());
            packets.push(ids.iter().fold(packet, |packet, id| self.snapshot(packet, *id)));
        }
        packets
    }

    fn snapshot(&self, packet: PacketBuilder, id: i32) -> PacketBuilder {
        let empty = Books::default();
        let books = self.books.get(&id).unwrap_or(&empty);
        let levels: Vec<_> = KINDS
            .into_iter()
            .zip(books)
            .flat_map(|(kind, side)| {
                (1..).zip(side).map(move |(level, &(at, size))| (kind, level, at, size))
            })
            .collect();
        let total = self.rpt_seqs.len() as u32;
        let stated = (id, self.statuses.get(&id).copied());
        let rpt_seq = if self.unnumbered { 0 } else { self.rpt_seqs[&id] };
        packet.snapshot_with(stated, self.sequence, total, rpt_seq, &levels)
    }

    pub(crate) fn definitions(&mut self) -> Vec<PacketBuilder> {
        let packets = (1..).zip(IDS.chunks(2)).map(|(number, ids)| {
            self.millis += 1;
            ids.iter().fold(sent_at(number, self.stamp()), |packet, id| {
                let version = self.versions.get(id).copied().unwrap_or(0);
                packet.future(*id, IDS.len() as u32, [DEPTH, IMPLIED_DEPTH], version)
            })
        });
        packets.collect()
    }
}

/// Deletes, replaces or inserts a level. Returns the entry.
fn change(side: &mut Side, depth: usize, entry: Entry, rng: &mut ChaCha8Rng) -> Entry {
    let (price, quantity) = (i64::from(rng.next_u32() % 100), 1 + (rng.next_u32() % 9) as i32);
    let level = |levels: usize, rng: &mut ChaCha8Rng| 1 + rng.next_u32() as usize % levels;
    match rng.next_u32() % 3 {
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
            let level = level((side.len() + 1).min(depth), rng);
            side.insert(level - 1, (price, quantity));
            side.truncate(depth);
            entry.add(level as u8, price, quantity)
        }
    }
}
