//! Slots of deleted instruments, reused for others.

use std::collections::{BTreeMap, VecDeque};

use crate::support::*;
use hairpin_cme_codecs::mdp3::SecurityUpdateAction;
use hairpin_mdp3::{
    Channel, ChannelState, Feed, FeedLine, Input, InstrumentReplaced, Listener, Settings, Warning,
};
use hairpin_testbed::scaled;
use hairpin_time::{Duration, Instant, Now};

/// A listener that records replaced instruments and warnings.
#[derive(Default)]
struct Replaced {
    replaced: Vec<InstrumentReplaced>,
    warnings: Vec<Warning>,
}

impl Listener for Replaced {
    fn on_instrument_replaced(&mut self, replaced: &InstrumentReplaced) {
        self.replaced.push(*replaced);
    }
    fn on_warning(&mut self, warning: &Warning) {
        self.warnings.push(*warning);
    }
}

/// A channel, its listener and the exchange's numbers.
struct Market {
    channel: Channel,
    listener: Replaced,
    sequence: u32,
    /// Milliseconds since the start of 2026; each packet takes one.
    time: u64,
    /// The best bid and the RptSeq of each user-defined instrument in force.
    books: BTreeMap<i32, (i64, u32)>,
}

/// The instruments that exist in every week.
const LASTING: [i32; 2] = [7, 8];

impl Market {
    fn new(slots: usize) -> Self {
        let settings = Settings { max_instruments: slots, ..SETTINGS };
        let channel = Channel::new(settings);
        let listener = Replaced::default();
        Self { channel, listener, sequence: 0, time: 0, books: BTreeMap::new() }
    }

    fn deliver(&mut self, feed: Feed, packet: &PacketBuilder) {
        let utc = YEAR_2026 + Duration::from_millis(self.time + 1);
        let now = Now { monotonic: Instant::from_nanos(self.time * 1_000_000), utc };
        let input = Input { feed, line: FeedLine::A, received: None };
        self.channel.handle_packet(now, input, packet.bytes(), &mut self.listener);
    }

    /// Delivers the next incremental packet, built by `build`.
    fn send(&mut self, build: impl FnOnce(PacketBuilder) -> PacketBuilder) {
        self.time += 1;
        self.sequence += 1;
        let packet = build(sent_at(self.sequence, self.time));
        self.deliver(Feed::Incremental, &packet);
    }

    /// Begins a week: numbering restarts, and the loops name the lasting instruments only.
    fn begin_week(&mut self) {
        self.time += 100_000_000;
        self.sequence = 0;
        self.books.clear();
        self.send(PacketBuilder::heartbeat);
        self.send(PacketBuilder::heartbeat);
        let last = self.sequence;
        for _ in 0..2 {
            self.time += 1;
            let [first, second] = LASTING;
            let loop_packet = sent_at(1, self.time).definition(first, 2, 10);
            self.deliver(Feed::Instrument, &loop_packet.definition(second, 2, 10));
            self.time += 1;
            let books = sent_at(1, self.time).snapshot(first, last, 2, 0, &[]);
            self.deliver(Feed::Snapshot, &books.snapshot(second, last, 2, 0, &[]));
        }
        assert_eq!(self.channel.state(), ChannelState::InSync);
    }

    fn create(&mut self, id: i32) {
        let price = i64::from(id % 1_000) + 1;
        self.send(|packet| packet.definition(id, 2, 10));
        self.send(|packet| packet.book(END, &[bid(id, 1).add(1, price, 1)]));
        self.books.insert(id, (price, 1));
    }

    fn change(&mut self, id: i32) {
        let (price, rpt_seq) = self.books[&id];
        self.send(|packet| packet.book(END, &[bid(id, rpt_seq + 1).overlay(1, price + 1, 1)]));
        self.books.insert(id, (price + 1, rpt_seq + 1));
    }

    fn delete(&mut self, id: i32) {
        self.send(|packet| packet.definition_with(id, None, 10, SecurityUpdateAction::DELETE));
        self.books.remove(&id);
    }

    fn check_books(&self) {
        for (id, (price, _)) in &self.books {
            let book = self.channel.book_of(*id).expect("in force");
            assert!(book.is_in_sync(), "{id}");
            assert_eq!(book.best_bid().expect("a bid").price.0, price * 1_000_000_000, "{id}");
        }
    }

    fn counter(&self, name: &str) -> u64 {
        self.channel.counters().iter().find(|(counter, _)| *counter == name).expect("a counter").1
    }
}

#[test]
fn slot_of_deleted_instrument_is_reused_when_all_are_in_use() {
    let mut market = Market::new(4);
    market.begin_week();
    market.create(101);
    market.create(102);
    let index = market.channel.find(101).unwrap();
    market.channel.set_user_data(index, 5);
    market.delete(101);
    assert_eq!(market.channel.find(101), Some(index), "it stays while its slot is not needed");
    assert_eq!(market.channel.instruments().generation(index), 0);
    market.create(103);
    assert_eq!((market.channel.find(101), market.channel.find(103)), (None, Some(index)));
    let [replaced] = market.listener.replaced[..] else { panic!("one is replaced") };
    assert_eq!((replaced.instrument, replaced.before), (index, 101));
    assert_eq!((replaced.security_id, replaced.generation), (103, 1));
    let instruments = market.channel.instruments();
    assert_eq!((instruments.generation(index), instruments.user_data(index)), (1, 0));
    market.check_books();
    // Without a deleted instrument there is no room.
    market.send(|packet| packet.definition(104, 2, 10));
    assert_eq!(market.counter("instruments_over_capacity"), 1);
}

#[test]
fn slot_is_not_reused_in_the_event_of_its_deletion() {
    let mut market = Market::new(3);
    market.begin_week();
    market.create(101);
    let delete = SecurityUpdateAction::DELETE;
    market.send(|packet| packet.definition_in_event(101, delete).definition(102, 2, 10));
    assert_eq!(market.channel.find(102), None);
    market.send(|packet| packet.definition(103, 2, 10));
    assert!(market.channel.find(103).is_some(), "the event has ended");
}

#[test]
fn week_removes_instruments_that_the_loop_does_not_name() {
    let mut market = Market::new(4);
    market.begin_week();
    market.create(101);
    market.create(102);
    market.begin_week();
    for id in [101, 102] {
        let index = market.channel.find(id).unwrap();
        assert_eq!(market.channel.definition(index), None);
    }
    assert!(LASTING.iter().all(|id| market.channel.book_of(*id).unwrap().is_in_sync()));
    market.create(103);
    market.create(104);
    market.check_books();
    assert_eq!(
        (market.counter("slots_reused"), market.counter("instruments_over_capacity")),
        (2, 0)
    );
}

/// Creates, changes and deletes instruments in a channel that has fewer slots.
fn run_weeks(weeks: u32, instruments: i32, slots: usize) {
    let mut market = Market::new(slots);
    let memory = market.channel.instruments().len();
    let mut in_force = VecDeque::new();
    for week in 0..weeks {
        market.begin_week();
        in_force.clear();
        for n in 0..instruments {
            // A SecurityID is not reused within the weeks.
            let id = 1_000 + week as i32 * instruments + n;
            if in_force.len() + LASTING.len() == slots {
                // One in four of the deleted is not the oldest.
                let place = if n % 4 == 0 { in_force.len() / 2 } else { 0 };
                let deleted = in_force.remove(place).expect("in force");
                market.delete(deleted);
            }
            market.create(id);
            in_force.push_back(id);
            if n % 3 == 0 {
                market.change(in_force[n as usize % in_force.len()]);
            }
            if n % (instruments / 4).max(1) == 0 {
                market.check_books();
            }
        }
        market.check_books();
    }
    assert_eq!(memory, 0);
    assert_eq!(market.channel.instruments().len(), slots, "no slot more");
    let created = u64::from(weeks) * instruments as u64;
    let reused = created - (slots - LASTING.len()) as u64;
    assert_eq!(market.counter("slots_reused"), reused);
    assert_eq!(market.listener.replaced.len() as u64, reused);
    assert_eq!(market.counter("instruments_over_capacity"), 0);
    assert_eq!(market.counter("rpt_seq_gaps"), 0);
    assert!(market.listener.warnings.is_empty(), "{:?}", market.listener.warnings);
}

/// `HAIRPIN_TEST_SCALE=100` makes 50,000 instruments a week in 20,000 slots.
#[test]
fn user_defined_instruments_of_12_weeks_fit_in_fewer_slots() {
    run_weeks(12, scaled(500) as i32, scaled(200) as usize);
}
