//! The feeds of a capture: losses of each line, the skew of two lines, and bursts.

use std::collections::HashMap;
use std::net::SocketAddr;

use hairpin_feed_handler::{CapturedFeed, Feed, FeedLine};
use hairpin_measure::RunningSummary;

use super::clock_steps::{ClockSteps, DelayWatch};
use super::line::{Arrival, Line, Place};
use crate::decode::framing::{Frames, Framing};

/// The packets of an incremental feed that are compared with those of the other line: more than a
/// second of the busiest channel.
const WINDOW: usize = 1 << 16;
/// The same for loops, whose packets are fewer.
const WINDOW_OF_LOOP: usize = 1 << 12;
/// The most feeds: more than CME has.
const MOST_FEEDS: usize = 256;
/// The milliseconds of which packets may still be captured.
const OPEN_MILLISECONDS: usize = 16;
/// The template of heartbeats.
const HEARTBEAT: u16 = 12;
/// The schema of market data.
const SCHEMA: u16 = 1;

/// A packet of a feed, with the place of its first copy.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    sequence: u32,
    /// The lines that have it, one bit each; 0 for an empty slot.
    lines: u8,
    first_line: u8,
    is_timed: bool,
    sent: u64,
    time: u64,
    packet: u64,
}

/// A feed with its lines.
#[derive(Debug)]
pub(super) struct FeedFigures {
    pub(super) name: String,
    pub(super) feed: Feed,
    pub(super) groups: [Option<SocketAddr>; 2],
    pub(super) lines: [Line; 2],
    /// Both lines as one: what it misses is lost.
    pub(super) merged: Line,
    /// The time by which A, or B, was first.
    pub(super) ahead: [RunningSummary; 2],
    /// The packets that both lines have at the same time.
    pub(super) simultaneous: u64,
    /// Pairs across a step of the clock, which are not measured.
    pub(super) across_steps: u64,
    pub(super) bursts: Bursts,
    /// The last packets, from the first packet on.
    slots: Box<[Slot]>,
    window: usize,
    /// The most by which the SendingTime of two copies differs.
    tolerance: u64,
    delays: [DelayWatch; 2],
}

/// The messages and packets of each millisecond, of first copies.
#[derive(Debug, Default)]
pub(super) struct Bursts {
    /// The last milliseconds: number, packets, messages.
    open: Vec<(u64, u64, u64)>,
    /// Messages per millisecond that has any.
    pub(super) messages: RunningSummary,
    /// The busiest milliseconds: messages, packets, number.
    pub(super) busiest: Vec<(u64, u64, u64)>,
}

/// The busiest milliseconds that are kept.
const BUSIEST: usize = 10;

impl Bursts {
    fn record(&mut self, time: u64, messages: u64) {
        let millisecond = time / 1_000_000;
        if let Some(open) = self.open.iter_mut().rev().find(|it| it.0 == millisecond) {
            (open.1, open.2) = (open.1 + 1, open.2 + messages);
            return;
        }
        if self.open.len() == OPEN_MILLISECONDS {
            let oldest = (0..self.open.len()).min_by_key(|&place| self.open[place].0);
            let closed = self.open.swap_remove(oldest.expect("the list is not empty"));
            self.close(closed);
        }
        self.open.push((millisecond, 1, messages));
    }

    fn close(&mut self, (millisecond, packets, messages): (u64, u64, u64)) {
        self.messages.record(messages);
        let place = self.busiest.partition_point(|it| it.0 >= messages);
        if place < BUSIEST {
            self.busiest.insert(place, (messages, packets, millisecond));
            self.busiest.truncate(BUSIEST);
        }
    }

    pub(super) fn finish(&mut self) {
        self.open.sort_unstable();
        for open in std::mem::take(&mut self.open) {
            self.close(open);
        }
    }
}

impl FeedFigures {
    fn new(name: String, feed: Feed, groups: [Option<SocketAddr>; 2]) -> Self {
        let (window, tolerance) = match feed {
            Feed::Incremental => (WINDOW, SAME_PACKET),
            // A pass may be as short as the difference of two lines.
            _ => (WINDOW_OF_LOOP, 0),
        };
        Self {
            name,
            feed,
            groups,
            lines: Default::default(),
            merged: Line::merged(tolerance),
            tolerance,
            ahead: Default::default(),
            simultaneous: 0,
            across_steps: 0,
            bursts: Bursts::default(),
            slots: Box::default(),
            window,
            delays: Default::default(),
        }
    }

    /// Records a packet on one line. `is_timed`: its time is known.
    fn record(
        &mut self,
        line: FeedLine,
        (arrival, is_timed): (Arrival, bool),
        messages: u64,
        steps: &mut ClockSteps,
    ) {
        let Arrival { sequence, sent, time, packet } = arrival;
        let number = line as usize;
        if sent > 0 && is_timed {
            self.delays[number].record(time, sent, packet, steps);
        }
        if self.slots.is_empty() {
            self.slots = vec![Slot::default(); self.window].into();
        }
        let window = self.window;
        let slot = &mut self.slots[sequence as usize % window];
        // The lines may have their own SendingTime.
        let is_near = slot.sent.abs_diff(sent) <= self.tolerance;
        let is_same = slot.lines > 0 && slot.sequence == sequence && is_near;
        let bit = 1 << number;
        let seen = if is_same { slot.lines } else { 0 };
        let own = &mut self.lines[number];
        own.packets += 1;
        own.messages += messages;
        let place = own.record(arrival, seen & bit != 0, window);
        self.merged.record(arrival, seen != 0, window);
        if seen == 0 {
            if is_timed {
                self.bursts.record(time, messages);
            }
            if place != Place::TooLate {
                let first_line = number as u8;
                *slot = Slot { sequence, lines: bit, first_line, is_timed, sent, time, packet };
            }
            return;
        }
        if seen & bit == 0 && usize::from(slot.first_line) != number {
            slot.lines |= bit;
            if !is_timed || !slot.is_timed {
                return;
            }
            if slot.packet < steps.packet {
                self.across_steps += 1;
                return;
            }
            // The capture may not be in the order of its times.
            let (first, by) = (usize::from(slot.first_line), time.abs_diff(slot.time));
            match time.cmp(&slot.time) {
                std::cmp::Ordering::Equal => self.simultaneous += 1,
                std::cmp::Ordering::Greater => self.ahead[first].record(by),
                std::cmp::Ordering::Less => self.ahead[number].record(by),
            }
        }
    }

    /// Returns the number of packets by which a line ends before the feed: not captured, or lost.
    pub(super) fn behind(&self, line: &Line) -> u32 {
        let last = |line: &Line| line.range.map_or(0, |(_, last)| last);
        last(&self.merged).saturating_sub(last(line))
    }

    /// Returns the number of packets that were on both lines.
    pub(super) fn pairs(&self) -> u64 {
        self.ahead.iter().map(RunningSummary::count).sum::<u64>() + self.simultaneous
    }
}

/// The most by which the SendingTime of two copies in an incremental feed differs.
const SAME_PACKET: u64 = 10_000_000;

/// The last packet of a feed that has a message: its time, 0 without one, and its number.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tick {
    pub(super) time: u64,
    pub(super) packet: u64,
}

/// All feeds.
#[derive(Debug, Default)]
pub(super) struct Market {
    pub(super) feeds: Vec<FeedFigures>,
    places: HashMap<SocketAddr, (usize, FeedLine)>,
    /// The destination of the last packet, and its place.
    last: Option<(SocketAddr, usize, FeedLine)>,
    /// The last packet with a message of each incremental feed.
    pub(super) ticks: Vec<Tick>,
    /// The last time of a packet.
    last_time: u64,
    /// `true` if a group that is not listed is a feed of its own.
    pub(super) detects: bool,
    /// Packets of market data whose group is not listed, or that exceed the number of feeds.
    pub(super) other_packets: u64,
    /// Packets whose messages are damaged.
    pub(super) damaged: u64,
}

impl Market {
    pub(super) fn new(feeds: Vec<CapturedFeed>, detects: bool) -> Self {
        let mut market = Self { detects, ..Self::default() };
        // The groups of others are counted.
        for CapturedFeed { channel, feed, groups, .. } in feeds.into_iter().take(MOST_FEEDS) {
            let address = groups.iter().flatten().next().map(ToString::to_string);
            market.add(channel.or(address).unwrap_or_default(), feed, groups);
        }
        market
    }

    fn add(&mut self, name: String, feed: Feed, groups: [Option<SocketAddr>; 2]) {
        for (group, line) in groups.into_iter().zip(FeedLine::ALL) {
            if let Some(group) = group {
                self.places.insert(group, (self.feeds.len(), line));
            }
        }
        // It may be the name of an interface, which is any text.
        let name = name.chars().filter(|character| !character.is_control()).collect();
        self.feeds.push(FeedFigures::new(name, feed, groups));
        self.ticks.push(Tick::default());
    }

    /// Records a datagram. Returns `false` if it is not market data.
    pub(super) fn datagram(
        &mut self,
        group: SocketAddr,
        bytes: &[u8],
        (time, packet): (Option<u64>, u64),
        steps: &mut ClockSteps,
    ) -> bool {
        let Some((place, line)) = self.find(group) else {
            return self.unlisted(group, bytes, (time, packet), steps);
        };
        let Some(contents) = Contents::read(bytes) else { return false };
        if contents.damaged {
            // Its numbers may be damaged too.
            self.damaged += 1;
            return true;
        }
        let Contents { sequence, sent, messages, has_tick, .. } = contents;
        self.last_time = time.unwrap_or(self.last_time);
        let arrival = Arrival { sequence, sent, time: self.last_time, packet };
        let feed = &mut self.feeds[place];
        feed.record(line, (arrival, time.is_some()), messages, steps);
        if let Some(time) = time
            && has_tick
            && feed.feed == Feed::Incremental
        {
            self.ticks[place] = Tick { time, packet };
        }
        true
    }

    fn find(&mut self, group: SocketAddr) -> Option<(usize, FeedLine)> {
        if let Some((last, place, line)) = self.last
            && last == group
        {
            return Some((place, line));
        }
        let (place, line) = *self.places.get(&group)?;
        self.last = Some((group, place, line));
        Some((place, line))
    }

    /// Handles a datagram of a group that is not listed: a feed of its own, or counted.
    #[cold]
    fn unlisted(
        &mut self,
        group: SocketAddr,
        bytes: &[u8],
        at: (Option<u64>, u64),
        steps: &mut ClockSteps,
    ) -> bool {
        let is_market_data =
            group.ip().is_multicast() && Contents::read(bytes).is_some_and(|it| !it.damaged);
        if is_market_data && self.detects && self.feeds.len() < MOST_FEEDS {
            self.add(group.to_string(), Feed::Incremental, [Some(group), None]);
            return self.datagram(group, bytes, at, steps);
        }
        self.other_packets += u64::from(is_market_data);
        is_market_data
    }

    pub(super) fn finish(&mut self) {
        self.feeds.iter_mut().for_each(|feed| feed.bursts.finish());
    }
}

/// What a packet of market data contains.
#[derive(Debug, Clone, Copy)]
struct Contents {
    sequence: u32,
    sent: u64,
    messages: u64,
    /// `true` if any message is not a heartbeat.
    has_tick: bool,
    damaged: bool,
}

impl Contents {
    /// Reads a packet whose first message has the schema of market data.
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut frames = Frames::new(Framing::Udp, bytes, None);
        let (mut messages, mut has_tick, mut damaged) = (0, false, false);
        while let Some(frame) = frames.next() {
            let Ok(frame) = frame else {
                damaged = true;
                break;
            };
            let word =
                |at: usize| frame.message[at..].first_chunk().map(|it| u16::from_le_bytes(*it));
            if messages == 0 && word(4) != Some(SCHEMA) {
                return None;
            }
            messages += 1;
            has_tick |= word(2) != Some(HEARTBEAT);
        }
        let (sequence, sent) = frames.packet()?;
        (messages > 0).then_some(Self { sequence, sent, messages, has_tick, damaged })
    }
}
