//! Random mass quotes and orders that trade with them, executed by the gateway and by the simple
//! reference book.

use std::collections::HashMap;

use hairpin_cme_codecs::ilink3::mass_quote_ack545::NoQuoteEntries;
use hairpin_cme_codecs::ilink3::{MassQuoteAck545, SideReq, TimeInForce};
use hairpin_exchange::{ConnectionId, OrderKind, Side};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::harness::Harness;
use crate::client::{CancelNames, QuoteEntry, mass_quote, order_with, quote_cancel};
use crate::decode;
use crate::matching::reference::{OrderRequest, Reference, Resting};

const TICK: i64 = 250_000_000;
/// The quoting session's owner in the reference.
const QUOTER: u32 = 1;
const OTHER: u32 = 2;

/// The number of executed cases, with which the test checks that it covered them.
#[derive(Debug, Default)]
struct Census {
    quotes: u32,
    refused: u32,
    traded: u32,
    cancelled: u32,
    orders: u32,
}

struct Comparison {
    random: ChaCha8Rng,
    harness: Harness,
    quoter: ConnectionId,
    other: ConnectionId,
    numbers: [u32; 2],
    reference: Reference,
    /// The owner of each name.
    owners: Vec<u32>,
    /// The names by quote set.
    quotes: HashMap<u16, [Option<usize>; 2]>,
    middle: i64,
    census: Census,
}

impl Comparison {
    fn new(seed: u64) -> Self {
        let mut harness = Harness::with_connections(3);
        let quoter = harness.connect();
        harness.log_on(quoter);
        let other = harness.connect();
        harness.log_on_by(other, ("OTHERKEY", "XYZ"));
        let middle = harness.market.matching().best(0, Side::Bid).unwrap().price.0 / TICK;
        let mut both = Self {
            random: ChaCha8Rng::seed_from_u64(seed),
            harness,
            quoter,
            other,
            numbers: [1; 2],
            reference: Reference::new(0),
            owners: Vec::new(),
            quotes: HashMap::new(),
            middle,
            census: Census::default(),
        };
        for side in Side::BOTH {
            for order in both.harness.market.matching().orders(0, side) {
                both.reference.orders.push(Resting {
                    name: both.owners.len(),
                    side,
                    kind: order.kind,
                    price: order.price.0 / TICK,
                    open: order.remaining,
                    display: order.display,
                    shown: order.shown,
                    traded: 0,
                    time: order.time_in_force,
                    mitigates: None,
                });
                both.owners.push(order.owner.0);
            }
        }
        both
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.random.next_u32() % bound
    }

    fn name(&mut self, owner: u32) -> usize {
        self.owners.push(owner);
        self.owners.len() - 1
    }

    fn price(&mut self) -> i64 {
        self.middle - 5 + i64::from(self.below(12))
    }

    fn side(&mut self) -> Option<(i64, u32)> {
        let (price, quantity) = (self.price(), self.below(40));
        (quantity > 4).then_some((price, quantity))
    }

    fn entry(&mut self, id: u32) -> (QuoteEntry, [Option<(i64, u32)>; 2]) {
        let mut wanted = [self.side(), self.side()];
        // Mostly a bid below its offer.
        if let [Some((bid, _)), Some((offer, _))] = &mut wanted
            && bid >= offer
            && self.below(4) > 0
        {
            (*bid, *offer) = (*offer - 1, *bid + 1);
        }
        let set = self.below(4) as u16;
        let [bid, offer] = wanted.map(|side| side.map_or((0, 0), |(at, size)| (at * TICK, size)));
        (QuoteEntry { id, set, bid, offer, ..QuoteEntry::default() }, wanted)
    }

    fn mass_quote(&mut self) {
        let count = 1 + self.below(3);
        let mut entries = Vec::new();
        let (mut accepted, mut refused) = (0, Vec::new());
        for id in 1..=count {
            let (entry, wanted) = self.entry(id);
            let old = self.quotes.get(&entry.set).copied().unwrap_or_default();
            let new = [self.name(QUOTER), self.name(QUOTER)];
            let done = self.reference.quote(old, new, wanted);
            match done {
                Ok(_) => accepted += 1,
                Err(word) => refused.push((id, u8::from(word == "spread") * 7)),
            }
            self.quotes.insert(entry.set, done.unwrap_or_default());
            entries.push(entry);
        }
        let message = mass_quote(self.numbers[0], &entries);
        self.numbers[0] += 1;
        let replies = self.harness.send(self.quoter, &message);
        let ack = decode!(MassQuoteAck545, replies[0]);
        let (mut listed, mut scratch) = (ack.no_quote_entries(), NoQuoteEntries::SCRATCH);
        let mut reported = Vec::new();
        while let Some(of) = listed.next(&mut scratch) {
            reported.push((of.quote_entry_id(), of.quote_entry_reject_reason()));
        }
        assert_eq!((ack.no_processed_entries(), &reported), (accepted, &refused), "{entries:?}");
        self.census.quotes += u32::from(accepted);
        self.census.refused += refused.len() as u32;
        self.census.traded += u32::from(replies.len() > 1);
    }

    fn order(&mut self) {
        let (side, price, quantity) =
            (Side::BOTH[self.below(2) as usize], self.price(), 1 + self.below(30));
        let kills = self.below(3) == 0;
        let (time, code) = match kills {
            true => (hairpin_exchange::TimeInForce::FillAndKill, TimeInForce::FILL_AND_KILL),
            false => (hairpin_exchange::TimeInForce::Day, TimeInForce::DAY),
        };
        let display = if self.below(2) == 0 { 0 } else { 1 + self.below(quantity) };
        let (kind, minimum) = (OrderKind::Limit, 0);
        let request = OrderRequest { side, kind, price, quantity, minimum, display, time };
        let name = self.name(OTHER);
        self.reference.submit(name, &request).unwrap();
        let message = order_with(self.numbers[1], price * TICK, |order| {
            let side = if side == Side::Bid { SideReq::BUY } else { SideReq::SELL };
            order.set_side(side).set_order_qty(quantity).set_time_in_force(code);
            order.set_display_qty((display > 0).then_some(display));
        });
        self.numbers[1] += 1;
        self.harness.send(self.other, &message);
        self.census.orders += 1;
    }

    fn cancel(&mut self) {
        let set = self.below(4) as u16;
        for name in self.quotes.remove(&set).into_iter().flatten().flatten() {
            self.reference.cancel(name);
        }
        self.harness.send(self.quoter, &quote_cancel(self.numbers[0], CancelNames::Sets(&[set])));
        self.numbers[0] += 1;
        self.census.cancelled += 1;
    }

    /// Checks that both have the same orders of the same sessions in the same queues.
    fn compare(&self) {
        for side in Side::BOTH {
            let orders = self.harness.market.matching().orders(0, side);
            let found: Vec<_> =
                orders.map(|o| (o.owner.0, o.price.0 / TICK, o.remaining)).collect();
            let queue = self.reference.queue(side);
            let expected: Vec<_> =
                queue.iter().map(|o| (self.owners[o.name], o.price, o.open)).collect();
            assert_eq!(found, expected, "{side:?}");
        }
    }

    fn run(mut self, commands: u32) -> Census {
        for _ in 0..commands {
            match self.below(10) {
                0..6 => self.mass_quote(),
                6..9 => self.order(),
                _ => self.cancel(),
            }
            self.harness.drain_feed();
            self.harness.read(self.quoter);
            self.compare();
        }
        self.census
    }
}

#[test]
fn random_mass_quotes_match_the_reference() {
    for seed in 0..30 {
        println!("seed {seed}");
        let census = Comparison::new(seed).run(150);
        let counts =
            [census.quotes, census.refused, census.traded, census.cancelled, census.orders];
        assert!(!counts.contains(&0), "seed {seed}: {census:?}");
    }
}
