//! The measured cases, and checks that the work took place.

use std::hint::black_box;
use std::ops::Range;
use std::rc::Rc;
use std::time::{Duration, Instant};

use hairpin_feed_handler::{Book, Channel, EndOfEvent, FeedLine, Input, Level, Listener};
use hairpin_order_entry::Session;

use crate::recording::{Census, EVENTS, Recording, Section, replay};
use crate::session::{self, MemoryConnect, Wire};
use hairpin_cli_latency::strategy::{Reaction, Strategy};

/// The length of an order in bytes: NewOrderSingle514 with its framing header.
const ORDER: u64 = 144;

/// A benchmark. Each value is for one event, which arrives in 1.125 packets: the end of one event
/// in eight has its own packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    /// Events of one book entry, from the channel's input up to and including the end of event.
    OneEntry,
    /// The same for the exchange's own order flow: book entries, trades, volume.
    AverageMix,
    /// The packets of that order flow again, from line B.
    Duplicate,
    /// The best bid and ask of a book, once for each event of that order flow.
    Best,
    /// The same order flow, the decision of Hairpin's trader, the claim in the journal, encoding
    /// and commit: all except the write.
    TickToOrder,
}

impl Case {
    pub(crate) const ALL: [Self; 5] =
        [Self::OneEntry, Self::AverageMix, Self::Duplicate, Self::Best, Self::TickToOrder];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::OneEntry => "one-entry",
            Self::AverageMix => "average-mix",
            Self::Duplicate => "duplicate",
            Self::Best => "best",
            Self::TickToOrder => "tick-to-order",
        }
    }
}

/// The counts of a listener.
#[derive(Debug, Default)]
struct Seen {
    events: u64,
    books: u64,
}

impl Listener for Seen {
    #[inline]
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        self.events += 1;
        for (instrument, book, changes) in black_box(event).changed() {
            black_box((instrument, book, changes));
            self.books += 1;
        }
    }
}

/// The trader and its session.
struct Orders {
    strategy: Strategy,
    session: Session<MemoryConnect>,
    wire: Rc<Wire>,
}

/// An iteration over a recording, section by section.
pub(crate) struct Walk {
    case: Case,
    recording: Recording,
    channel: Channel,
    section: usize,
    seen: Seen,
    orders: Orders,
}

impl Walk {
    pub(crate) fn new(case: Case) -> Self {
        let recording = match case {
            Case::OneEntry => Recording::of_single_entries(),
            _ => Recording::of_ticks(),
        };
        let (channel, seen) = (recording.channel(), Seen::default());
        let (session, wire) = session::established(recording.begin());
        let orders = Orders { strategy: Strategy::default(), session, wire };
        Self { case, recording, channel, section: 0, seen, orders }
    }

    /// Returns what all sections together contain.
    pub(crate) fn census(&self) -> Census {
        self.recording.census
    }

    /// Processes at least `events` events, and returns the time scaled to that number.
    pub(crate) fn time(&mut self, events: u64) -> Duration {
        let (mut walked, mut time) = (0, Duration::ZERO);
        while walked < events {
            if self.section == self.recording.sections.len() {
                self.begin_again();
            }
            time += self.next_section();
            walked += self.recording.sections[self.section - 1].events as u64;
        }
        time.mul_f64(events as f64 / walked as f64)
    }

    /// Processes everything once.
    pub(crate) fn whole(&mut self) {
        self.begin_again();
        while self.section < self.recording.sections.len() {
            self.next_section();
        }
        self.check();
    }

    fn begin_again(&mut self) {
        if self.section == self.recording.sections.len() {
            self.check();
        }
        self.channel = self.recording.channel();
        self.section = 0;
        self.seen = Seen::default();
        self.orders.strategy = Strategy::default();
        self.orders.wire.bytes.set(0);
    }

    /// Measures a section and leaves the channel where the next begins.
    fn next_section(&mut self) -> Duration {
        let Self { recording, channel, seen, orders, .. } = self;
        let Section { measured, rest, events } = &recording.sections[self.section];
        self.section += 1;
        let begun = match self.case {
            Case::OneEntry | Case::AverageMix => {
                let begun = Instant::now();
                measured_packets(recording, measured.clone(), FeedLine::A, channel, seen);
                begun.elapsed()
            }
            Case::Duplicate => {
                replay(recording, measured.clone(), channel);
                let begun = Instant::now();
                measured_packets(recording, measured.clone(), FeedLine::B, channel, seen);
                begun.elapsed()
            }
            Case::Best => {
                replay(recording, measured.clone(), channel);
                let begun = Instant::now();
                look_at_best(channel, *events);
                begun.elapsed()
            }
            Case::TickToOrder => {
                let begun = Instant::now();
                measured_ticks(recording, measured.clone(), channel, orders);
                begun.elapsed()
            }
        };
        replay(recording, rest.clone(), channel);
        begun
    }

    /// Checks the counts: a benchmark that measures less than it claims is worse than none.
    fn check(&self) {
        let Self { case, channel, seen, orders, .. } = self;
        let census = self.recording.census;
        let counters = channel.counters();
        let expected = match case {
            Case::OneEntry | Case::AverageMix => [census.events, census.books, 0, 0],
            Case::Duplicate => [0, 0, census.packets, 0],
            Case::Best => [0; 4],
            Case::TickToOrder => [0, 0, 0, census.events],
        };
        let orders_sent = orders.strategy.counts.orders;
        assert_eq!([seen.events, seen.books, counters.duplicates, orders_sent], expected);
        assert_eq!(orders.wire.bytes.get(), orders_sent * ORDER);
        assert_eq!(orders.strategy.counts.first_error, None);
        assert!(census.events == EVENTS as u64 && census.packets > census.events);
        assert_eq!(census.book_entries == census.events, *case == Case::OneEntry);
        assert_eq!([counters.gaps, counters.restarts, counters.malformed_messages], [0; 3]);
    }
}

/// Processes packets under callgrind, which counts while a function with this name prefix runs.
/// Never inlined, because callgrind needs the name.
#[inline(never)]
fn measured_packets(
    recording: &Recording,
    range: Range<usize>,
    side: FeedLine,
    channel: &mut Channel,
    seen: &mut Seen,
) {
    for sent in recording.packets(range) {
        let input = Input { line: side, ..sent.input };
        channel.handle_packet(black_box(sent.now), input, recording.bytes(sent), seen);
    }
}

/// Reads the best levels of one book after the other, `times` times.
fn look_at_best(channel: &Channel, times: usize) {
    for instrument in (0..).flat_map(|_| channel.instruments().iter()).take(times) {
        let (bid, ask) = measured_best(channel.book(instrument));
        assert!(
            black_box(bid).is_some() && black_box(ask).is_some(),
            "every book has a bid and an ask"
        );
    }
}

/// Reads the best levels of one book. Callgrind counts this without the caller's loop.
#[inline(never)]
fn measured_best(book: Book<'_>) -> (Option<&Level>, Option<&Level>) {
    let best = book.best();
    (best.bid, best.ask)
}

/// Like `measured_packets`, with the strategy and session joined for each packet, as in the
/// trader's loop.
#[inline(never)]
fn measured_ticks(
    recording: &Recording,
    range: Range<usize>,
    channel: &mut Channel,
    orders: &mut Orders,
) {
    for sent in recording.packets(range) {
        let now = black_box(sent.now);
        let Orders { strategy, session, .. } = orders;
        let mut reaction = Reaction { strategy, session, now };
        channel.handle_packet(now, sent.input, recording.bytes(sent), &mut reaction);
    }
}
