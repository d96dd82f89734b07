//! A channel: all feeds and sides of it, in; callbacks and actions, out.

use core::cmp::Ordering;

use hairpin_time::{Instant, Now, Utc};

use crate::arbiter::{Arbiter, Arbitration, Restart, Verdict};
use crate::aside::Aside;
use crate::holding::HoldingArea;
use crate::lead::{Lead, LeadMeter};
use crate::market::Market;
use crate::silence::SilenceWatch;
use crate::tcp_replay::{ReplayDesk, ReplayFailure};
use crate::{
    Book, ChannelState, Counters, Definition, Feed, Filter, Gap, InstrumentIndex, Instruments,
    Listener, OrderBook, Packet, PacketHeader, Settings, Side, Warning,
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
    /// Ask the replay server for packets of the incremental feed, and hand over what it sends as
    /// [`Feed::Replay`]; tell its end by [`Channel::handle_replay_end`]. Replaces what was asked
    /// for before.
    Replay {
        /// MsgSeqNum of the first.
        first: u32,
        /// MsgSeqNum of the last.
        last: u32,
    },
    /// What was asked for last is not needed any more: its connection can be closed.
    EndReplay,
}

/// A market data channel: packets and time go in; callbacks, actions and a deadline come out.
///
/// See the [crate] for an example.
#[derive(Debug)]
pub struct Channel {
    pub(crate) arbiter: Arbiter,
    pub(crate) holding: HoldingArea,
    lead: LeadMeter,
    /// More is to be done after the next packet: some are held, or it is to be measured.
    pub(crate) has_more: bool,
    /// When the hole before the lowest packet held is called a gap. `None` while it is asked for.
    pub(crate) hole_deadline: Option<Instant>,
    pub(crate) replay: ReplayDesk,
    aside: Aside,
    pub(crate) market: Market,
    silence: SilenceWatch,
    /// Which feeds the caller has been told to join.
    joined: [bool; Feed::ALL.len()],
}

impl Channel {
    /// A channel that has seen nothing. Takes all the memory it will ever use.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self::new_with_filter(settings, Filter::default())
    }

    /// The same for some of the channel's instruments.
    #[must_use]
    pub fn new_with_filter(settings: Settings, filter: Filter) -> Self {
        let replay = ReplayDesk::new(settings.replay);
        let max_held = settings.reorder_packets.max(replay.max_held());
        Self {
            arbiter: Arbiter::new(settings.reorder_packets),
            holding: HoldingArea::new(max_held, settings.max_packet),
            lead: LeadMeter::new(),
            has_more: false,
            hole_deadline: None,
            replay,
            aside: Aside::new(settings.max_packet),
            market: Market::new(settings, filter),
            silence: SilenceWatch::new(settings.silence, settings.feeds),
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
            Feed::Replay => self.handle_replayed(&packet, messages, listener),
            Feed::Instrument | Feed::Snapshot | Feed::SnapshotOrders => {
                self.handle_loop(now.utc, &packet, messages, listener);
            }
        }
    }

    /// Does what is due: a hole that nobody has filled is asked for, or becomes a gap; what was
    /// asked for in vain is asked for again, or given up.
    pub fn handle_timeout(&mut self, now: Now, listener: &mut impl Listener) {
        let now = now.monotonic;
        if self.replay.deadline().is_some_and(|deadline| deadline <= now) {
            self.repeat_replay(now, ReplayFailure::TimedOut, listener);
        }
        self.settle_holes(now, listener);
        self.silence.look(now, self.joined, &mut self.market.counters, listener);
    }

    /// When [`Self::handle_timeout`] is due next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        // While a hole is asked for it has no deadline of its own.
        let of_hole = self.hole_deadline.or(self.replay.deadline());
        match (of_hole, self.silence.deadline()) {
            (Some(of_hole), Some(of_silence)) => Some(of_hole.min(of_silence)),
            (of_hole, of_silence) => of_hole.or(of_silence),
        }
    }

    /// The next thing the caller should do, until there is none.
    pub fn poll_action(&mut self) -> Option<Action> {
        if let Some(action) = self.replay.poll_action() {
            return Some(action);
        }
        for feed in Feed::ALL {
            let joined = &mut self.joined[feed as usize];
            let is_wanted = self.market.wants(feed);
            if is_wanted != *joined {
                *joined = is_wanted;
                self.silence.expect();
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

    /// Whether a side of a feed has brought nothing for [`Settings::silence`].
    #[must_use]
    pub fn is_silent(&self, feed: Feed, side: Side) -> bool {
        self.silence.is_silent(feed, side)
    }

    /// By how much one side of the incremental feed is ahead of the other.
    #[must_use]
    pub fn lead(&self) -> Lead {
        self.lead.lead()
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

    /// Sets the user's own word for an instrument; see [`Instruments::user_data`].
    ///
    /// # Panics
    ///
    /// If the index is from a larger channel.
    pub fn set_user_data(&mut self, instrument: InstrumentIndex, word: u64) {
        self.market.instruments.user_data[instrument.as_usize()] = word;
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

    /// The order book of an instrument; always empty if [`Settings::order_books`] is `None`.
    #[must_use]
    pub const fn order_book(&self, instrument: InstrumentIndex) -> OrderBook<'_> {
        self.market.instruments.order_book(instrument)
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
            self.hear(packet.feed, packet.side, listener);
            let judged = self.arbiter.judge(packet.side, packet.header(), utc);
            return self.handle_judged(judged, packet, messages, listener);
        }
        match packet.sequence.cmp(&self.arbiter.expected()) {
            Ordering::Equal => self.handle_next(packet, messages, listener),
            Ordering::Less => {
                self.market.counters.duplicates += 1;
                if self.lead.is_due(packet.sequence) {
                    self.measure_lead(packet);
                }
            }
            Ordering::Greater => self.handle_ahead(packet, messages, listener),
        }
    }

    #[inline]
    fn handle_next(&mut self, packet: &Packet, messages: &[u8], listener: &mut impl Listener) {
        process(&mut self.arbiter, &mut self.market, packet, messages, listener);
        if self.has_more {
            self.do_more(packet, listener);
        }
    }

    /// What follows a packet now and then.
    #[cold]
    fn do_more(&mut self, packet: &Packet, listener: &mut impl Listener) {
        self.lead.note_first(packet);
        self.release_held(listener);
    }

    /// The second copy of a packet came.
    #[cold]
    fn measure_lead(&mut self, packet: &Packet) {
        self.lead.note_second(packet);
        self.has_more |= self.lead.is_waiting();
    }

    /// A packet came, of a side that may have been silent.
    #[cold]
    fn hear(&mut self, feed: Feed, side: Side, listener: &mut impl Listener) {
        if self.silence.is_silent(feed, side) {
            self.silence.review(false, self.joined, &mut self.market.counters, listener);
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
        self.silence.count(packet.feed, packet.side);
        self.hear(packet.feed, packet.side, listener);
        // One sent at the very time of the restart may be either; the loop comes round again.
        let is_of_older_epoch =
            packet.feed != Feed::Instrument && packet.sending_time <= self.arbiter.epoch_began();
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
            Feed::SnapshotOrders => {
                self.market.process_order_snapshots(packet, messages, listener);
            }
            _ => {
                self.market.process_snapshot(packet, messages, listener);
                if self.market.settings.order_feed() == Some(Feed::Snapshot) {
                    self.market.process_order_snapshots(packet, messages, listener);
                }
            }
        }
        self.market.settle_state(listener);
    }

    /// The numbering has restarted: what is held is of the old one.
    #[cold]
    fn restart(&mut self, restart: Restart, listener: &mut impl Listener) {
        self.end_replay(ReplayFailure::Restarted, listener);
        self.replay.forget();
        self.market.counters.abandoned_packets += self.holding.clear() as u64;
        self.hole_deadline = None;
        self.lead.restart();
        self.has_more = false;
        self.market.restart(restart == Restart::AfterReset, listener);
        self.market.settle_state(listener);
    }

    /// A packet came before those it follows: it is held, unless the window is full. Then the
    /// oldest holes are asked for, which widens the window, or given up, until it fits or is next.
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
            if self.has_room(expected, packet.sequence, messages.len()) {
                return self.hold(packet, messages);
            }
            let is_oversized = messages.len() > self.market.settings.max_packet;
            if is_oversized {
                let warning = Warning::OversizedPacket { length: messages.len() };
                self.market.warn(&warning, listener);
            }
            if self.replay.is_active() {
                self.end_replay(ReplayFailure::HoldingFull, listener);
            } else if !is_oversized
                && self.ask_for_hole(packet.handed_over, Some(packet.sequence), listener)
            {
                continue;
            }
            self.lose_hole(Some(packet.sequence), listener);
        }
    }

    /// Whether a packet that is ahead can be held: within the reorder window, or while replay is
    /// under way, wherever there is memory.
    fn has_room(&self, expected: u32, sequence: u32, length: usize) -> bool {
        let is_near = ((sequence - expected) as usize) < self.market.settings.reorder_packets;
        (is_near || self.replay.is_active()) && self.holding.has_room(expected, sequence, length)
    }

    fn hold(&mut self, packet: &Packet, messages: &[u8]) {
        self.has_more = true;
        if self.holding.hold(*packet, messages) {
            self.market.counters.held_packets += 1;
        } else {
            self.market.counters.duplicates += 1;
        }
        if self.hole_deadline.is_none() && !self.replay.is_active() {
            self.hole_deadline = Some(packet.handed_over + self.market.settings.reorder_wait);
        }
    }

    /// The first packet at hand behind the hole: the lowest held, or `sequence` if that is lower.
    pub(crate) fn end_of_hole(&self, sequence: Option<u32>) -> Option<u32> {
        let held = self.holding.lowest(self.arbiter.expected());
        held.into_iter().chain(sequence).min()
    }

    /// Asks for the holes that are overdue, or gives them up.
    pub(crate) fn settle_holes(&mut self, now: Instant, listener: &mut impl Listener) {
        while self.hole_deadline.is_some_and(|deadline| deadline <= now) {
            if !self.ask_for_hole(now, None, listener) {
                self.lose_hole(None, listener);
            }
        }
    }

    /// Calls the hole before the lowest packet held, or before `sequence` if that is lower, a gap.
    #[cold]
    pub(crate) fn lose_hole(&mut self, sequence: Option<u32>, listener: &mut impl Listener) {
        let expected = self.arbiter.expected();
        let Some(next) = self.end_of_hole(sequence) else {
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
    pub(crate) fn release_held(&mut self, listener: &mut impl Listener) {
        let Self { arbiter, holding, market, .. } = self;
        while let Some((packet, messages)) = holding.release(arbiter.expected()) {
            if packet.feed == Feed::Replay {
                process_replayed(arbiter, market, &packet, messages, listener);
            } else {
                process(arbiter, market, &packet, messages, listener);
            }
        }
        self.has_more = !self.holding.is_empty() || self.lead.is_waiting();
        self.end_if_filled(listener);
        if self.replay.is_active() {
            return;
        }
        let expected = self.arbiter.expected();
        self.hole_deadline = self
            .holding
            .lowest(expected)
            .and_then(|lowest| self.holding.handed_over(lowest))
            .map(|handed_over| handed_over + self.market.settings.reorder_wait);
    }
}

/// Processes the packet that is next, which one of the sides has delivered.
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
    take(arbiter, market, packet, messages, listener);
}

/// Processes the packet that is next, which replay has delivered.
#[cold]
#[inline(never)]
pub(crate) fn process_replayed(
    arbiter: &mut Arbiter,
    market: &mut Market,
    packet: &Packet,
    messages: &[u8],
    listener: &mut impl Listener,
) {
    market.counters.replayed_packets += 1;
    take(arbiter, market, packet, messages, listener);
}

/// Processes the packet that is next, wherever it came from.
#[inline(always)]
fn take(
    arbiter: &mut Arbiter,
    market: &mut Market,
    packet: &Packet,
    messages: &[u8],
    listener: &mut impl Listener,
) {
    if market.floor == u32::MAX {
        market.begin(packet.sequence, listener);
    }
    market.process_incremental(packet, messages, listener);
    if market.was_reset {
        market.was_reset = false;
        arbiter.note_reset(packet.sequence);
    }
    arbiter.advance_to(packet.sequence.wrapping_add(1));
    market.settle_state(listener);
}
