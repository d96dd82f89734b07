//! A market data channel that receives arbitrary packets on any feed and line, at any time.
//!
//! Checks:
//!
//! - No packet causes a panic.
//! - A book never has more levels than its depth, and only books in sync are reported.
//! - A deadline that has passed is removed.
//! - The counters match the callbacks: every received packet is processed, dropped or held.
//!
//! Input: the way to join, then steps of a byte (feed and line, time, or a replay packet or end), a
//! two-byte length or time, and the bytes of a packet.

use hairpin_mdp3::{Feed, FeedLine, ReplayOutcome};

use crate::Seed;
use crate::channel::CheckedChannel;
use crate::packets::{END, MORE, PacketBuilder, ask, bid, buy, packet, sell};
use crate::script::Script;

/// The step kind after the lines of each feed.
const TIME: u8 = 2 * Feed::ALL.len() as u8;
const REPLAYED: u8 = TIME + 1;
const REPLAY_END: u8 = TIME + 2;

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let mut channel = CheckedChannel::new(script.byte());
    while !script.is_over() {
        let (step, number) = (script.below(REPLAY_END + 1), script.word());
        match step {
            TIME => channel.pass(u64::from(number)),
            REPLAYED => {
                channel.packet(Feed::Replay, FeedLine::A, script.bytes(usize::from(number)));
            }
            REPLAY_END if number % 2 == 0 => channel.replay_end(ReplayOutcome::Complete),
            REPLAY_END => channel.replay_end(ReplayOutcome::Failed),
            _ => {
                let feed = Feed::ALL[usize::from(step / 2)];
                let side = FeedLine::ALL[usize::from(step % 2)];
                channel.packet(feed, side, script.bytes(usize::from(number)));
            }
        }
    }
}

/// Returns a late join with a gap, a channel reset, a replayed gap, and orders.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let join: [(u8, PacketBuilder); 6] = [
        (0, packet(100).heartbeat()),
        (2, packet(1).definition(7, 2, 3).definition(8, 2, 10)),
        (4, packet(1).snapshot(7, 100, 2, 5, &[(b'0', 1, 9, 1)]).snapshot(8, 100, 2, 0, &[])),
        (0, packet(101).book(END, &[bid(7, 6).add(2, 8, 3), ask(8, 1).add(1, 20, 4)])),
        (1, packet(103).trade(MORE, 7, 8, 9, 1).volume(MORE, 7, 9, 1).long_book(END, &[])),
        (1, packet(102).book(END, &[bid(7, 7).delete(1)])),
    ];
    let reset: [(u8, PacketBuilder); 4] = [
        (0, packet(1).definition(7, 1, 2).group_status("ES", "ES", 17)),
        (0, packet(2).book(END, &[bid(7, 1).add(1, 5, 5)]).statistics(END, 7, 2)),
        (1, packet(4).channel_reset()),
        (0, packet(5).book(END, &[ask(7, 1).overlay(1, 6, 6)])),
    ];
    let replay: [(u8, PacketBuilder); 3] = [
        (0, packet(104).heartbeat()),
        (REPLAYED, packet(101).book(END, &[bid(7, 6).add(2, 8, 3)])),
        (REPLAYED, packet(103).heartbeat()),
    ];
    let replay = [&join[..3], &replay].concat();
    let (first, second) = (buy(7, 1, 9, 2), sell(7, 2, 11, 1));
    let orders: [(u8, PacketBuilder); 5] = [
        (0, packet(101).orders(END, &[buy(7, 3, 9, 1)])),
        (6, packet(1).order_chunk((7, 100, 2), (1, 2), &[first])),
        (6, packet(2).order_chunk((7, 100, 2), (2, 2), &[second]).order_snapshot(8, 100, 2, &[])),
        (0, packet(102).combined(END, &[bid(7, 6).change(1, 9, 4)], &[first.changed()])),
        (1, packet(103).orders(MORE, &[second.deleted()]).top_orders(END, 8, &[first])),
    ];
    let orders = [&join[..3], &orders].concat();
    vec![
        seed("join", 0, &join),
        seed("books", 1, &join),
        seed("reset", 2, &reset),
        seed("replay", 3, &replay),
        // All orders by their own loop, and the best orders only.
        seed("orders", 6, &orders),
        seed("top_orders", 9, &orders),
    ]
}

fn seed(name: &str, late_join: u8, steps: &[(u8, PacketBuilder)]) -> Seed {
    let mut bytes = vec![late_join];
    for (step, packet) in steps {
        bytes.push(*step);
        bytes.extend((packet.bytes().len() as u16).to_le_bytes());
        bytes.extend(packet.bytes());
    }
    bytes.extend([TIME, 20, 0]);
    (name.to_owned(), bytes)
}
