//! Packet to callback, 1 entry, 100 instruments: run it under callgrind with
//! `--toggle-collect='*measured*'` and divide by the packets it prints.
#![allow(clippy::unwrap_used, reason = "a packet that does not fit is the program's own mistake")]

#[path = "../tests/support/mod.rs"]
mod support;

use hairpin_mdp3::{BookUpdate, Channel, EndOfEvent, Feed, Input, Listener, Settings, Side};
use hairpin_time::{Instant, Now, Utc};
use support::*;

const INSTRUMENTS: i32 = 100;
const PACKETS: u32 = 10_000;

/// The cheapest decision: a sum of the best prices.
#[derive(Default)]
struct Sum {
    updates: u64,
    prices: i64,
}

impl Listener for Sum {
    fn on_book_update(&mut self, update: &BookUpdate<'_>) {
        self.updates += 1;
        self.prices = self.prices.wrapping_add(update.book.best_bid().map_or(0, |bid| bid.price.0));
    }
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        for (_, book, _) in event.changed() {
            self.prices = self.prices.wrapping_add(book.best_ask().map_or(0, |ask| ask.price.0));
        }
    }
}

#[inline(never)]
fn measured(channel: &mut Channel, packets: &[Vec<u8>], sides: &[Side], listener: &mut Sum) {
    for (number, bytes) in packets.iter().enumerate() {
        let now = Now { monotonic: Instant::from_nanos(number as u64), utc: NOW };
        for &side in sides {
            let input = Input { feed: Feed::Incremental, side, received: None };
            channel.handle_packet(now, input, bytes, listener);
        }
    }
}

const NOW: Utc = Utc::from_nanos(1_767_225_600_000_000_000 + 3_600_000_000_000);

fn main() {
    let both = std::env::args().any(|argument| argument == "both");
    let settings = Settings { max_instruments: INSTRUMENTS as usize, ..Settings::default() };
    let mut channel = Channel::new(settings);
    let mut listener = Sum::default();
    let now = Now { monotonic: Instant::ZERO, utc: NOW };
    let mut hand = |channel: &mut Channel, feed, packet: &PacketBuilder| {
        let input = Input { feed, side: Side::A, received: None };
        channel.handle_packet(now, input, packet.bytes(), &mut listener);
    };
    hand(&mut channel, Feed::Incremental, &packet(1).heartbeat());
    for id in 0..INSTRUMENTS {
        let total = INSTRUMENTS as u32;
        let number = id as u32 + 1;
        hand(&mut channel, Feed::Instrument, &packet(number).definition(id, total, 10));
    }
    for id in 0..INSTRUMENTS {
        let levels: Vec<_> = (1..=10)
            .flat_map(|level| {
                let at = i64::from(level);
                [(b'0', level, 1_000 - at, 5), (b'1', level, 1_000 + at, 5)]
            })
            .collect();
        let number = id as u32 + 1;
        let books = packet(number).snapshot(id, 1, INSTRUMENTS as u32, 0, &levels);
        hand(&mut channel, Feed::Snapshot, &books);
    }
    assert_eq!(channel.state(), hairpin_mdp3::ChannelState::InSync);
    // Ticks as an exchange sends them: a level changes, comes, goes, on either side, anywhere.
    let mut rpt_seqs = vec![0_u32; INSTRUMENTS as usize];
    let packets: Vec<_> = (0..PACKETS)
        .map(|number| {
            let id = number.wrapping_mul(2_654_435_761) % INSTRUMENTS as u32;
            let rpt_seq = &mut rpt_seqs[id as usize];
            *rpt_seq += 1;
            let entry = if (*rpt_seq / 4).is_multiple_of(2) {
                bid(id as i32, *rpt_seq)
            } else {
                ask(id as i32, *rpt_seq)
            };
            let at = i64::from(number % 7);
            let entry = match *rpt_seq % 4 {
                0 => entry.overlay(1, 1_000 + at, 3),
                1 => entry.delete(1),
                2 => entry.add(1, 1_000 + at, 4),
                _ => entry.overlay(1 + (number % 5) as u8, 1_000 + at, 6),
            };
            packet(number + 2).book(END, &[entry]).bytes().to_vec()
        })
        .collect();
    let sides: &[Side] = if both { &Side::ALL } else { &[Side::A] };
    measured(&mut channel, &packets, sides, &mut listener);
    let counters = channel.counters();
    assert_eq!((counters.book_entries, counters.gaps), (u64::from(PACKETS), 0));
    println!("{PACKETS} packets, {} updates, {}", listener.updates, listener.prices);
}
