//! A channel: all feeds and sides of it, in; callbacks and actions, out.

use core::cmp::Ordering;

use hairpin_time::{Instant, Now, Utc};

use crate::arbiter::{Arbiter, Arbitration, Restart, Verdict};
use crate::aside::Aside;
use crate::holding::HoldingArea;
use crate::market::Market;
use crate::{
    Book, ChannelState, Counters, Definition, Feed, Gap, InstrumentIndex, Instruments, Listener,
    Packet, PacketHeader, Settings, Side, Warning,
};

/// Where a packet came from and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input {
    /// The feed.
    pub feed: Feed,
    /// The side.
    pub side: Side,
    /// When the network card or the kernel received it, where they tell.
    pub received: Option<Utc>,
}

/// What only IO can do. A feed is joined on all its sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Receive a feed from now on.
    Join(Feed),
    /// Receive it no longer.
    Leave(Feed),
}

/// A market data channel: packets and time go in; callbacks, actions and a deadline come out.
///
/// See the [crate] for an example.
#[derive(Debug)]
pub struct Channel {
    arbiter: Arbiter,
    holding: HoldingArea,
    /// When the hole before the lowest packet held is called a gap.
    hole_deadline: Option<Instant>,
    aside: Aside,
    market: Market,
    /// Which feeds the caller has been told to join.
    joined: [bool; Feed::ALL.len()],
}

impl Channel {
    /// A channel that has seen nothing. Takes all the memory it will ever use.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            arbiter: Arbiter::new(settings.reorder_packets),
            holding: HoldingArea::new(settings.reorder_packets, settings.max_packet),
            hole_deadline: None,
            aside: Aside::new(settings.max_packet),
            market: Market::new(settings),
            joined: [false; Feed::ALL.len()],
        }
    }

    /// Takes a packet: the payload of one datagram.
    ///
    /// What is wrong with it is counted and told; nothing in it can stop the channel. Packets of a
    /// feed that was left are dropped.
    #[inline]
    pub fn handle_packet(
        &mut self,
        now: Now,
        input: Input,
        bytes: &[u8],
        listener: &mut impl Listener,
    ) {
        let (header, messages) = match PacketHeader::decode(bytes) {
            Ok(decoded) => decoded,
            Err(error) => return self.market.report(None, &error, listener),
        };
        let packet = Packet {
            feed: input.feed,
            side: input.side,
            sequence: header.sequence,
            sending_time: header.sending_time,
            received: input.received,
            handed_over: now.monotonic,
        };
        match input.feed {
            Feed::Incremental => self.handle_incremental(now.utc, &packet, messages, listener),
            Feed::Instrument | Feed::Snapshot => {
                self.handle_loop(now.utc, &packet, messages, listener);
            }
        }
    }

    /// Does what is due: a hole that nobody has filled becomes a gap.
    pub fn handle_timeout(&mut self, now: Now, listener: &mut impl Listener) {
        while self.hole_deadline.is_some_and(|deadline| deadline <= now.monotonic) {
            self.give_up_hole(None, listener);
        }
    }

    /// When [`Self::handle_timeout`] is due next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.hole_deadline
    }

    /// The next thing the caller should do, until there is none.
    pub fn poll_action(&mut self) -> Option<Action> {
        for feed in Feed::ALL {
            let joined = &mut self.joined[feed as usize];
            let is_wanted = self.market.wants(feed);
            if is_wanted != *joined {
                *joined = is_wanted;
                return Some(if is_wanted { Action::Join(feed) } else { Action::Leave(feed) });
            }
        }
        None
    }

    /// Whether definitions are being collected from the instrument feed.
    #[must_use]
    pub fn is_collecting_definitions(&self) -> bool {
        self.market.definition_loop.is_collecting()
    }

    /// Has definitions collected from the instrument feed once more, while books go on; of no
    /// effect while that is done. For one who has given the channel definitions that may be
    /// outdated.
    pub fn collect_definitions(&mut self) {
        self.market.definition_loop.collect();
    }

    /// The state of the channel.
    #[must_use]
    pub fn state(&self) -> ChannelState {
        self.market.state()
    }

    /// What has been counted.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.market.counters
    }

    /// All instruments.
    #[must_use]
    pub fn instruments(&self) -> &Instruments {
        &self.market.instruments
    }

    /// The instrument with a SecurityID.
    #[must_use]
    pub fn find(&self, security_id: i32) -> Option<InstrumentIndex> {
        self.market.instruments.find(security_id)
    }

    /// The book of an instrument.
    ///
    /// # Panics
    ///
    /// If the index is from a larger channel.
    #[must_use]
    pub fn book(&self, instrument: InstrumentIndex) -> Book<'_> {
        self.market.instruments.book(instrument)
    }

    /// The book of the instrument with a SecurityID.
    #[must_use]
    pub fn book_of(&self, security_id: i32) -> Option<Book<'_>> {
        self.market.instruments.book_of(security_id)
    }

    /// The definition of an instrument; `None` if it has none in force.
    ///
    /// # Panics
    ///
    /// If the index is from a larger channel.
    #[must_use]
    pub fn definition(&self, instrument: InstrumentIndex) -> Option<&Definition> {
        self.market.instruments.definition(instrument)
    }

    #[inline]
    fn handle_incremental(
        &mut self,
        utc: Utc,
        packet: &Packet,
        messages: &[u8],
        listener: &mut impl Listener,
    ) {
        let counters = &mut self.market.counters;
        *match packet.side {
            Side::A => &mut counters.packets_a,
            Side::B => &mut counters.packets_b,
        } += 1;
        if !self.arbiter.goes_on(packet.side, packet.header()) {
            let judged = self.arbiter.judge(packet.side, packet.header(), utc);
            return self.handle_judged(judged, packet, messages, listener);
        }
        match packet.sequence.cmp(&self.arbiter.expected()) {
            Ordering::Equal => self.handle_next(packet, messages, listener),
            Ordering::Less => self.market.counters.duplicates += 1,
            Ordering::Greater => self.handle_ahead(packet, messages, listener),
        }
    }

    #[inline]
    fn handle_next(&mut self, packet: &Packet, messages: &[u8], listener: &mut impl Listener) {
        process(&mut self.arbiter, &mut self.market, packet, messages, listener);
        if !self.holding.is_empty() {
            self.release_held(listener);
        }
    }

    #[cold]
    fn handle_judged(
        &mut self,
        judged: Arbitration,
        packet: &Packet,
        messages: &[u8],
        listener: &mut impl Listener,
    ) {
        if let Some(restart) = judged.restart {
            self.restart(restart, listener);
        }
        match judged.verdict {
            Verdict::Next => self.handle_next(packet, messages, listener),
            Verdict::Ahead => self.handle_ahead(packet, messages, listener),
            Verdict::Duplicate => self.market.counters.duplicates += 1,
            Verdict::OlderEpoch => {
                // If a later one shows that its side has restarted, it was the other side's before.
                self.aside.packet = None;
                self.market.counters.older_epoch_packets += 1;
            }
            Verdict::Doubtful => {
                self.aside.set(packet, messages);
                self.warn_doubtful(packet, listener);
            }
            Verdict::Confirms => self.handle_confirmed(packet, messages, listener),
        }
    }

    #[cold]
    fn warn_doubtful(&mut self, packet: &Packet, listener: &mut impl Listener) {
        let (feed, sequence) = (packet.feed, packet.sequence);
        self.market.warn(&Warning::DoubtfulPacket { feed, sequence }, listener);
    }

    /// A packet shows that the one set aside was no stray: both count, one after the other.
    #[cold]
    fn handle_confirmed(&mut self, packet: &Packet, messages: &[u8], listener: &mut impl Listener) {
        let aside = core::mem::take(&mut self.aside);
        if let Some(first) = aside.packet {
            let judged = self.arbiter.settle(first.side, first.header());
            self.handle_judged(judged, &first, &aside.bytes[..aside.length], listener);
        }
        self.aside = Aside { packet: None, ..aside };
        let judged = self.arbiter.settle(packet.side, packet.header());
        self.handle_judged(judged, packet, messages, listener);
    }

    #[cold]
    fn handle_loop(
        &mut self,
        utc: Utc,
        packet: &Packet,
        messages: &[u8],
        listener: &mut impl Listener,
    ) {
        // One sent at the very time of the restart may be either; the loop comes round again.
        let is_of_older_epoch =
            packet.feed == Feed::Snapshot && packet.sending_time <= self.arbiter.epoch_began();
        if !self.market.wants(packet.feed) || is_of_older_epoch {
            self.market.counters.unwanted_packets += 1;
            return;
        }
        if packet.sending_time > self.arbiter.latest_credible(utc) {
            // It would pass for the start of a pass that later ones come before.
            return self.warn_doubtful(packet, listener);
        }
        match packet.feed {
            Feed::Instrument => self.market.process_instrument(packet, messages, listener),
            _ => self.market.process_snapshot(packet, messages, listener),
        }
        self.market.settle_state(listener);
    }

    /// The numbering has restarted: what is held is of the old one.
    #[cold]
    fn restart(&mut self, restart: Restart, listener: &mut impl Listener) {
        self.market.counters.abandoned_packets += self.holding.clear() as u64;
        self.hole_deadline = None;
        self.market.restart(restart == Restart::AfterReset, listener);
        self.market.settle_state(listener);
    }

    /// A packet came before those it follows: it is held, unless the window is full. Then the
    /// oldest holes are given up until it fits or is next.
    #[cold]
    fn handle_ahead(&mut self, packet: &Packet, messages: &[u8], listener: &mut impl Listener) {
        loop {
            let expected = self.arbiter.expected();
            if packet.sequence < expected {
                // It was held already, and has just been processed from there.
                self.market.counters.duplicates += 1;
                return;
            }
            if packet.sequence == expected {
                process(&mut self.arbiter, &mut self.market, packet, messages, listener);
                return self.release_held(listener);
            }
            if self.holding.has_room(expected, packet.sequence, messages.len()) {
                return self.hold(packet, messages);
            }
            if messages.len() > self.market.settings.max_packet {
                let warning = Warning::OversizedPacket { length: messages.len() };
                self.market.warn(&warning, listener);
            }
            self.give_up_hole(Some(packet.sequence), listener);
        }
    }

    fn hold(&mut self, packet: &Packet, messages: &[u8]) {
        if self.holding.hold(*packet, messages) {
            self.market.counters.held_packets += 1;
        } else {
            self.market.counters.duplicates += 1;
        }
        if self.hole_deadline.is_none() {
            self.hole_deadline = Some(packet.handed_over + self.market.settings.reorder_wait);
        }
    }

    /// Calls the hole before the lowest packet held, or before `sequence` if that is lower, a gap.
    #[cold]
    fn give_up_hole(&mut self, sequence: Option<u32>, listener: &mut impl Listener) {
        let expected = self.arbiter.expected();
        let held = self.holding.lowest(expected);
        let Some(next) = held.into_iter().chain(sequence).min() else {
            self.hole_deadline = None;
            return;
        };
        let gap = Gap { first: expected, count: next - expected };
        self.market.counters.gaps += 1;
        self.market.counters.missed_packets += u64::from(gap.count);
        listener.on_gap(&gap);
        self.market.doubt_all(gap.count, next, listener);
        self.market.settle_state(listener);
        self.arbiter.advance_to(next);
        self.release_held(listener);
    }

    /// Processes what is held and has become next.
    #[cold]
    fn release_held(&mut self, listener: &mut impl Listener) {
        let Self { arbiter, holding, market, .. } = self;
        while let Some((packet, messages)) = holding.release(arbiter.expected()) {
            process(arbiter, market, &packet, messages, listener);
        }
        let expected = self.arbiter.expected();
        self.hole_deadline = self
            .holding
            .lowest(expected)
            .and_then(|lowest| self.holding.handed_over(lowest))
            .map(|handed_over| handed_over + self.market.settings.reorder_wait);
    }
}

/// Processes the packet that is next.
#[inline]
fn process(
    arbiter: &mut Arbiter,
    market: &mut Market,
    packet: &Packet,
    messages: &[u8],
    listener: &mut impl Listener,
) {
    *match packet.side {
        Side::A => &mut market.counters.first_a,
        Side::B => &mut market.counters.first_b,
    } += 1;
    if market.floor == u32::MAX {
        // The first packet of all: what comes after it will be at hand.
        market.floor = packet.sequence;
    }
    market.process_incremental(packet, messages, listener);
    if market.was_reset {
        market.was_reset = false;
        arbiter.note_reset(packet.sequence);
    }
    arbiter.advance_to(packet.sequence.wrapping_add(1));
    market.settle_state(listener);
}
