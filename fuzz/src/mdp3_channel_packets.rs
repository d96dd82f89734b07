//! A market data channel that receives packets that an exchange could send, with faults: numbers
//! skipped, repeated or old, entries for missing levels, a late or silent line, altered bytes. A
//! replay server answers or fails.
//!
//! The checks are those of `mdp3_channel_bytes`. Most inputs there never reach a book.
//!
//! Input: the way to join, with feeds and means of recovery, then steps of eight bytes.

use hairpin_cme_codecs::mdp3::SecurityUpdateAction;
use hairpin_mdp3::{Feed, FeedLine, ReplayOutcome};

use crate::Seed;
use crate::channel::CheckedChannel;
use crate::packets::{END, Entry, MORE, OrderEntry, PacketBuilder, bid, buy, packet, sell};
use crate::script::Script;

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let mut exchange = Exchange { sequence: 100, loops: [0; 3], rpt_seqs: [0; 4] };
    let mut channel = CheckedChannel::new(script.byte());
    while !script.is_over() {
        let step = Step::read(&mut script);
        if step.kind == Step::TIME {
            channel.pass(u64::from(step.price));
            continue;
        }
        if step.kind == Step::REPLAY_END {
            let failed = step.delivery & 1 != 0;
            let outcome = if failed { ReplayOutcome::Failed } else { ReplayOutcome::Complete };
            channel.replay_end(outcome);
            continue;
        }
        let (feed, mut packet) = exchange.packet(&step);
        if step.delivery & 0x40 != 0 {
            let place = usize::from(step.price) % packet.bytes().len();
            packet.bytes_mut()[place] ^= step.quantity;
        }
        for side in FeedLine::ALL {
            if step.delivery & 1 << (side as u8) == 0 {
                channel.packet(feed, side, packet.bytes());
            }
        }
    }
}

/// A step of eight bytes.
struct Step {
    kind: u8,
    /// The delivery bits: not on A, not on B, event continues, two bits of numbering, unused,
    /// altered, 64-bit quantities.
    delivery: u8,
    skip: u8,
    id: u8,
    rpt_skip: u8,
    level: u8,
    price: u8,
    quantity: u8,
}

impl Step {
    const KINDS: u8 = 22;
    const TIME: u8 = 15;
    /// A packet from a few before the next, by replay.
    const REPLAYED: u8 = 16;
    const REPLAY_END: u8 = 17;
    /// Orders alone, with their price level, the best of an instrument, all of an instrument in
    /// chunks.
    const ORDERS: u8 = 18;
    const ORDERS_AND_LEVEL: u8 = 19;
    const TOP_ORDERS: u8 = 20;
    const ORDER_SNAPSHOT: u8 = 21;

    fn read(script: &mut Script<'_>) -> Self {
        Self {
            kind: script.below(Self::KINDS),
            delivery: script.byte(),
            skip: script.byte(),
            id: script.below(6),
            rpt_skip: script.byte(),
            level: script.below(12),
            price: script.byte(),
            quantity: script.byte(),
        }
    }
}

impl Step {
    /// Creates up to three orders with adjacent numbers: new, changed or deleted.
    fn orders(&self, instrument: i32) -> Vec<OrderEntry> {
        let order = |at: u8| {
            let (id, quantity) = (u64::from(self.level + at), i32::from(self.quantity));
            let price = i64::from(self.price % 16 + at);
            let entry = if self.quantity & 1 == 0 { buy } else { sell };
            let entry = entry(instrument, id, price, quantity).at(at % 2);
            OrderEntry { action: (self.rpt_skip >> (2 + at)) % 3, ..entry }
        };
        (0..self.price >> 6).map(order).collect()
    }
}

/// The state of an exchange, so that most of its packets are valid.
struct Exchange {
    sequence: u32,
    loops: [u32; 3],
    rpt_seqs: [u32; 4],
}

impl Exchange {
    fn packet(&mut self, step: &Step) -> (Feed, PacketBuilder) {
        let indicator = if step.delivery & 4 == 0 { END } else { MORE };
        let (id, price, quantity) = (self.id(step), i64::from(step.price), step.quantity.into());
        match step.kind {
            kind @ 0..=7 => {
                let action = if kind < 6 { kind } else { 0 };
                let entry = Entry { kind: step.entry_kind(), ..bid(id, self.rpt_seq(step)) };
                let entries = [entry.act(action, step.level, price, quantity)];
                let packet = self.incremental(step);
                let is_long = step.delivery & 0x80 != 0;
                let build = if is_long { PacketBuilder::long_book } else { PacketBuilder::book };
                (Feed::Incremental, build(packet, indicator, &entries))
            }
            8 => {
                let rpt_seq = self.rpt_seq(step);
                let packet = self.incremental(step);
                (Feed::Incremental, packet.trade(indicator, id, rpt_seq, price, quantity))
            }
            9 => {
                let rpt_seq = self.rpt_seq(step);
                let packet = self.incremental(step).volume(indicator, id, rpt_seq, quantity);
                (Feed::Incremental, packet)
            }
            10 => (Feed::Incremental, self.incremental(step).heartbeat()),
            11 => {
                let packet = self.incremental(step).channel_reset();
                self.rpt_seqs = [0; 4];
                (Feed::Incremental, packet)
            }
            Step::REPLAYED => {
                let sequence = self.sequence.wrapping_sub(u32::from(step.skip % 16));
                let entry = Entry { kind: step.entry_kind(), ..bid(id, self.rpt_seq(step)) };
                let entries = [entry.act(step.level % 6, 1 + step.level % 3, price, quantity)];
                (Feed::Replay, packet(sequence).book(indicator, &entries))
            }
            12 => (Feed::Incremental, self.incremental(step).status(id, step.level, 0, 0)),
            13 => self.definition(step, id),
            Step::ORDERS => {
                let orders = step.orders(id);
                (Feed::Incremental, self.incremental(step).orders(indicator, &orders))
            }
            Step::ORDERS_AND_LEVEL => {
                let level = bid(id, self.rpt_seq(step)).act(step.level % 3, 1, price, quantity);
                let orders = step.orders(id);
                let packet = self.incremental(step);
                (Feed::Incremental, packet.combined(indicator, &[level], &orders))
            }
            Step::TOP_ORDERS => {
                let orders = step.orders(id);
                (Feed::Incremental, self.incremental(step).top_orders(indicator, id, &orders))
            }
            Step::ORDER_SNAPSHOT => self.order_snapshot(step, id),
            _ => self.snapshot(step, id),
        }
    }

    /// Creates the next packet, a later one, an earlier one, or a repeated one.
    fn incremental(&mut self, step: &Step) -> PacketBuilder {
        let skip = u32::from(step.skip);
        let sequence = match step.delivery >> 3 & 3 {
            0 => self.sequence,
            1 => self.sequence.wrapping_add(skip % 16),
            2 => self.sequence.wrapping_sub(skip % 16),
            _ => 1 + skip,
        };
        self.sequence = sequence.wrapping_add(1);
        packet(sequence)
    }

    fn definition(&mut self, step: &Step, id: i32) -> (Feed, PacketBuilder) {
        let action = match step.quantity % 4 {
            2 => SecurityUpdateAction::MODIFY,
            3 => SecurityUpdateAction::DELETE,
            _ => SecurityUpdateAction::ADD,
        };
        let depth = (step.level % 12) as i8;
        if step.delivery & 0x80 != 0 {
            let packet = self.incremental(step);
            return (Feed::Incremental, packet.definition_with(id, None, depth, action));
        }
        let total = 1 + u32::from(step.price % 4);
        let packet = next_of_loop(&mut self.loops[0], step);
        (Feed::Instrument, packet.definition_with(id, Some(total), depth, action))
    }

    fn snapshot(&mut self, step: &Step, id: i32) -> (Feed, PacketBuilder) {
        let last = self.sequence.wrapping_sub(1).wrapping_sub(u32::from(step.skip % 8));
        let rpt_seq = self.rpt_seqs[step.place()].wrapping_sub(u32::from(step.rpt_skip % 4));
        let levels: Vec<_> = (1..=step.level as i8)
            .map(|level| {
                let side = if step.quantity & 1 == 0 { b'0' } else { b'1' };
                (side, level, i64::from(step.price), i32::from(step.quantity))
            })
            .collect();
        let total = 1 + u32::from(step.rpt_skip >> 4 & 3);
        let packet = next_of_loop(&mut self.loops[1], step);
        (Feed::Snapshot, packet.snapshot(id, last, total, rpt_seq, &levels))
    }

    /// Creates an order snapshot, in its own loop or among the price books.
    fn order_snapshot(&mut self, step: &Step, id: i32) -> (Feed, PacketBuilder) {
        let last = self.sequence.wrapping_sub(1).wrapping_sub(u32::from(step.skip % 8));
        let total = 1 + u32::from(step.rpt_skip >> 4 & 3);
        let chunk = (1 + u32::from(step.rpt_skip & 1), 1 + u32::from(step.rpt_skip >> 1 & 1));
        let (feed, place) = match step.delivery & 0x80 {
            0 => (Feed::SnapshotOrders, 2),
            _ => (Feed::Snapshot, 1),
        };
        let packet = next_of_loop(&mut self.loops[place], step);
        (feed, packet.order_chunk((id, last, total), chunk, &step.orders(id)))
    }

    /// Returns an instrument id; one in six belongs to another channel or exceeds the limit.
    fn id(&self, step: &Step) -> i32 {
        7 + i32::from(step.id)
    }

    /// Returns the instrument's RptSeq, mostly the next one.
    fn rpt_seq(&mut self, step: &Step) -> u32 {
        let skip = step.rpt_skip.saturating_sub(192);
        let rpt_seq = &mut self.rpt_seqs[step.place()];
        *rpt_seq = rpt_seq.wrapping_add(1).wrapping_add(u32::from(skip)) & 0xffff;
        *rpt_seq
    }
}

impl Step {
    fn place(&self) -> usize {
        usize::from(self.id % 4)
    }

    fn entry_kind(&self) -> u8 {
        match self.rpt_skip % 8 {
            0 | 2 | 4 => b'0',
            1 | 3 | 5 => b'1',
            6 => b'E',
            _ => b'F',
        }
    }
}

/// Creates the loop's next packet; a quarter of them restart the loop.
fn next_of_loop(sequence: &mut u32, step: &Step) -> PacketBuilder {
    *sequence = if step.skip >= 192 { 1 } else { *sequence + 1 };
    packet(*sequence)
}

/// Returns a join, then a day of a few books.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let mut join = vec![0];
    join.extend([10, 0, 0, 0, 0, 0, 0, 0]);
    join.extend([13, 0, 0, 0, 0, 3, 1, 0]);
    join.extend([13, 0, 0, 1, 0, 10, 1, 0]);
    join.extend([14, 0, 0, 0, 0x10, 2, 9, 4]);
    join.extend([14, 0, 0, 1, 0x10, 0, 9, 4]);
    let mut day = join.clone();
    for step in 0..24_u8 {
        day.extend([step % 10, step % 4, 0, step % 2, step % 8, 1 + step % 3, 10 + step, 1 + step]);
    }
    let mut gap = join.clone();
    gap.extend([0, 8, 3, 0, 0, 1, 8, 1]);
    gap.extend([15, 0, 0, 0, 0, 0, 20, 0]);
    gap.extend([14, 0, 192, 0, 0x10, 1, 8, 2]);
    gap.extend([14, 0, 0, 1, 0x10, 1, 8, 2]);
    gap.extend([11, 0, 0, 0, 0, 0, 0, 0]);
    // With replay: the same gap, filled, and another that stays open.
    let mut replay = join.clone();
    replay[0] = 3;
    replay.extend([0, 8, 1, 0, 0, 1, 8, 1]);
    replay.extend([15, 0, 0, 0, 0, 0, 20, 0]);
    replay.extend([16, 0, 2, 0, 0, 5, 9, 1]);
    replay.extend([0, 8, 3, 0, 0, 1, 8, 1]);
    replay.extend([15, 0, 0, 0, 0, 0, 20, 0]);
    replay.extend([17, 1, 0, 0, 0, 0, 0, 0]);
    replay.extend([17, 0, 0, 0, 0, 0, 0, 0]);
    // All orders by their loop, then changes; the best orders only.
    let mut orders = join.clone();
    orders[0] = 6;
    orders.extend([21, 0, 192, 0, 0x10, 1, 0x89, 4]);
    orders.extend([21, 0, 0, 1, 0x10, 4, 0x09, 4]);
    for step in 0..12_u8 {
        orders.extend([18 + step % 2, 0, 0, step % 2, 4 * step, step % 4, 0x49 + step, 1 + step]);
    }
    let mut top_orders = join.clone();
    top_orders[0] = 9;
    top_orders.extend([20, 0, 0, 0, 0, 1, 0xC9, 4].repeat(3));
    // Natural refresh, with reported silence; one line only.
    let mut refresh = gap.clone();
    refresh[0] = 3 * (2 | 4);
    refresh.extend([15, 0, 0, 0, 0, 0, 90, 0].repeat(12));
    let mut one_side = gap.clone();
    one_side[0] = 3 * (4 << 3 | 4);
    vec![
        ("join".into(), join),
        ("day".into(), day),
        ("gap".into(), gap),
        ("replay".into(), replay),
        ("refresh".into(), refresh),
        ("one_side".into(), one_side),
        ("orders".into(), orders),
        ("top_orders".into(), top_orders),
    ]
}
