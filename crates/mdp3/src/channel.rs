//! A channel: all feeds and sides of it, in; callbacks and actions, out.

use hairpin_time::{Instant, Now, Utc};

use crate::feed::arbiter::Arbiter;
use crate::feed::feed_skew::{FeedSkew, FeedSkewMeter};
use crate::feed::pending_packet::PendingPacket;
use crate::feed::reorder_buffer::ReorderBuffer;
use crate::feed::silence::SilenceDetector;
use crate::market::Market;
use crate::recovery::tcp_replay::{ReplayFailure, ReplayRequester};
use crate::{
    Book, ChannelState, Counters, Definition, Feed, FeedLine, Filter, InstrumentIndex, Instruments,
    Listener, OrderBook, Packet, PacketHeader, Settings, Warning,
};

/// Where a packet came from and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input {
    /// The feed.
    pub feed: Feed,
    /// The side.
    pub line: FeedLine,
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
    pub(crate) reorder_buffer: ReorderBuffer,
    pub(crate) feed_skew: FeedSkewMeter,
    /// More is to be done after the next packet: some are held, or it is to be measured.
    pub(crate) followup_pending: bool,
    /// When the hole before the lowest packet held is called a gap. `None` while it is asked for.
    pub(crate) gap_deadline: Option<Instant>,
    pub(crate) replay: ReplayRequester,
    pub(crate) pending: PendingPacket,
    pub(crate) market: Market,
    silence: SilenceDetector,
    /// Which feeds the caller has been told to join.
    joined: [bool; Feed::ALL.len()],
}

impl Channel {
    /// Reads what a packet of the incremental feed with an entry for the instrument at `place`
    /// would read, and does nothing: its lines are in the caches then and its pages' translations
    /// at hand. Returns the place of the next; any number may be given.
    ///
    /// A loop that spins and has nothing to do calls it each turn; it takes some tens of
    /// nanoseconds.
    #[inline]
    pub fn prefetch(&self, place: usize) -> usize {
        self.arbiter.prefetch();
        core::hint::black_box((self.followup_pending, self.gap_deadline, self.joined));
        self.market.prefetch(place)
    }

    /// A channel that has seen nothing. Takes all the memory it will ever use.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self::new_with_filter(settings, Filter::default())
    }

    /// The same for some of the channel's instruments.
    #[must_use]
    pub fn new_with_filter(settings: Settings, filter: Filter) -> Self {
        let replay = ReplayRequester::new(settings.replay);
        let max_held = settings.reorder_packets.max(replay.max_held());
        Self {
            arbiter: Arbiter::new(settings.reorder_packets),
            reorder_buffer: ReorderBuffer::new(max_held, settings.max_packet),
            feed_skew: FeedSkewMeter::new(),
            followup_pending: false,
            gap_deadline: None,
            replay,
            pending: PendingPacket::new(settings.max_packet),
            market: Market::new(settings, filter),
            silence: SilenceDetector::new(settings.silence, settings.feeds),
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
            line: input.line,
            sequence: header.sequence,
            sending_time: header.sending_time,
            received: input.received,
            handed_over: now.monotonic,
        };
        match input.feed {
            Feed::Incremental => self.handle_incremental(now.utc, &packet, messages, listener),
            Feed::Replay => self.handle_replayed(&packet, messages, listener),
            Feed::Instrument | Feed::Snapshot | Feed::SnapshotOrders => {
                self.handle_loop_packet(now.utc, &packet, messages, listener);
            }
        }
    }

    /// Does what is due: a hole that nobody has filled is asked for, or becomes a gap; what was
    /// asked for in vain is asked for again, or given up.
    pub fn handle_timeout(&mut self, now: Now, listener: &mut impl Listener) {
        let now = now.monotonic;
        if self.replay.deadline().is_some_and(|deadline| deadline <= now) {
            self.retry_replay(now, ReplayFailure::TimedOut, listener);
        }
        self.handle_overdue_gaps(now, listener);
        self.silence.poll(now, self.joined, &mut self.market.counters, listener);
    }

    /// When [`Self::handle_timeout`] is due next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        // While a hole is asked for it has no deadline of its own.
        let of_gap = self.gap_deadline.or(self.replay.deadline());
        match (of_gap, self.silence.deadline()) {
            (Some(of_gap), Some(of_silence)) => Some(of_gap.min(of_silence)),
            (of_gap, of_silence) => of_gap.or(of_silence),
        }
    }

    /// The next thing the caller should do, until there is none.
    pub fn poll_action(&mut self) -> Option<Action> {
        if let Some(action) = self.replay.poll_action() {
            return Some(action);
        }
        for feed in Feed::ALL {
            let joined = &mut self.joined[feed as usize];
            let needed = self.market.subscribes_to(feed);
            if needed != *joined {
                *joined = needed;
                self.silence.restart_watch();
                return Some(if needed { Action::Join(feed) } else { Action::Leave(feed) });
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
        self.market.definition_loop.start_collection();
    }

    /// The state of the channel.
    #[must_use]
    pub fn state(&self) -> ChannelState {
        self.market.state()
    }

    /// Whether a side of a feed has brought nothing for [`Settings::silence`].
    #[must_use]
    pub fn is_silent(&self, feed: Feed, line: FeedLine) -> bool {
        self.silence.is_silent(feed, line)
    }

    /// By how much one side of the incremental feed is ahead of the other.
    #[must_use]
    pub fn feed_skew(&self) -> FeedSkew {
        self.feed_skew.skew()
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
    pub fn set_user_data(&mut self, instrument: InstrumentIndex, value: u64) {
        self.market.instruments.user_data[instrument.as_usize()] = value;
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

    /// A packet came, of a side that may have been silent.
    #[cold]
    pub(crate) fn end_silence(&mut self, feed: Feed, line: FeedLine, listener: &mut impl Listener) {
        if self.silence.is_silent(feed, line) {
            self.silence.update(false, self.joined, &mut self.market.counters, listener);
        }
    }

    #[cold]
    pub(crate) fn warn_suspect(&mut self, packet: &Packet, listener: &mut impl Listener) {
        let (feed, sequence) = (packet.feed, packet.sequence);
        self.market.warn(&Warning::SuspectPacket { feed, sequence }, listener);
    }

    #[cold]
    fn handle_loop_packet(
        &mut self,
        utc: Utc,
        packet: &Packet,
        messages: &[u8],
        listener: &mut impl Listener,
    ) {
        self.silence.count(packet.feed, packet.line);
        self.end_silence(packet.feed, packet.line, listener);
        // One sent at the very time of the restart may be either; the loop comes round again.
        let is_of_older_epoch =
            packet.feed != Feed::Instrument && packet.sending_time <= self.arbiter.epoch_began();
        if !self.market.subscribes_to(packet.feed) || is_of_older_epoch {
            self.market.counters.unwanted_packets += 1;
            return;
        }
        if packet.sending_time > self.arbiter.latest_credible(utc) {
            // It would pass for the start of a pass that later ones come before.
            return self.warn_suspect(packet, listener);
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
        self.market.update_state(listener);
    }
}
