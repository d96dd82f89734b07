//! A market data channel: packets of all feeds and lines in; callbacks and actions out.

use hairpin_time::{Instant, Now, Utc};

use crate::feed::arbiter::Arbiter;
use crate::feed::feed_skew::{FeedSkew, FeedSkewMeter};
use crate::feed::pending_packet::PendingPacket;
use crate::feed::reorder_buffer::ReorderBuffer;
use crate::feed::silence::SilenceDetector;
use crate::market::Market;
use crate::recovery::tcp_replay::{ReplayFailure, ReplayRequester};
use crate::{
    Book, ChannelState, Counters, Definition, Feed, FeedLine, Filter, FilterName, InstrumentIndex,
    Instruments, LateJoin, Listener, OrderBook, Packet, PacketHeader, Settings, Warning,
};

/// The source and receive time of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input {
    /// The feed.
    pub feed: Feed,
    /// The line.
    pub line: FeedLine,
    /// The receive timestamp of the network card or the kernel, if available.
    pub received: Option<Utc>,
}

/// An I/O operation that the channel requests. Joining and leaving apply to all lines of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Joins the multicast groups of a feed.
    Join(Feed),
    /// Leaves the multicast groups of a feed.
    Leave(Feed),
    /// Requests packets of the incremental feed from the replay server. Pass its packets to the
    /// channel as [`Feed::Replay`] and report the end by [`Channel::handle_replay_end`]. Replaces
    /// an earlier request.
    Replay {
        /// MsgSeqNum of the first packet.
        first: u32,
        /// MsgSeqNum of the last packet.
        last: u32,
    },
    /// Cancels the last replay request: its connection can be closed.
    EndReplay,
}

/// A CME MDP 3.0 market data channel: packets and time in; callbacks, actions and a deadline out.
///
/// See the [crate] for an example.
#[derive(Debug)]
pub struct Channel {
    pub(crate) arbiter: Arbiter,
    pub(crate) reorder_buffer: ReorderBuffer,
    pub(crate) feed_skew: FeedSkewMeter,
    /// The next packet needs follow-up work: packets are buffered, or it is to be sampled for the
    /// feed skew.
    pub(crate) followup_pending: bool,
    /// The time when the gap before the lowest buffered packet is declared lost. `None` during a
    /// replay.
    pub(crate) gap_deadline: Option<Instant>,
    pub(crate) replay: ReplayRequester,
    pub(crate) pending: PendingPacket,
    pub(crate) market: Market,
    silence: SilenceDetector,
    /// The feeds that the caller was asked to join.
    joined: [bool; Feed::ALL.len()],
}

impl Channel {
    /// Reads the memory that an incremental packet for the instrument at `index` would read,
    /// to keep it in the caches and TLB. Changes nothing. Returns the next index; any start value
    /// is allowed.
    ///
    /// A spinning loop calls this when idle. A call takes some tens of nanoseconds.
    #[inline]
    pub fn prefetch(&self, index: usize) -> usize {
        self.arbiter.prefetch();
        core::hint::black_box((self.followup_pending, self.gap_deadline, self.joined));
        self.market.prefetch(index)
    }

    /// Creates a channel and allocates all the memory it will ever use.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self::new_with_filter(settings, Filter::default())
    }

    /// Creates a channel for the instruments that `filter` accepts.
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

    /// Processes a packet: the payload of one datagram.
    ///
    /// Malformed packets are counted and reported to the listener; they never stop the channel.
    /// Packets of a feed that was left are dropped.
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

    /// Runs the actions that are due: requests a gap by replay or declares it lost, repeats or
    /// gives up a replay, and checks for silent lines.
    pub fn handle_timeout(&mut self, now: Now, listener: &mut impl Listener) {
        let now = now.monotonic;
        if self.replay.deadline().is_some_and(|deadline| deadline <= now) {
            self.retry_replay(now, ReplayFailure::TimedOut, listener);
        }
        self.handle_overdue_gaps(now, listener);
        self.silence.poll(now, self.joined, &mut self.market.counters, listener);
    }

    /// Returns when [`Self::handle_timeout`] is due next.
    #[inline]
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        // A gap has no deadline of its own during a replay.
        let of_gap = self.gap_deadline.or(self.replay.deadline());
        match (of_gap, self.silence.deadline()) {
            (Some(of_gap), Some(of_silence)) => Some(of_gap.min(of_silence)),
            (of_gap, of_silence) => of_gap.or(of_silence),
        }
    }

    /// Returns the next action for the caller, or `None`.
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

    /// Returns `true` while the channel collects definitions from the instrument feed.
    #[must_use]
    pub fn is_collecting_definitions(&self) -> bool {
        self.market.definition_loop.is_collecting()
    }

    /// Returns the names of the filter that no instrument has: probably mistyped. Returns `None`
    /// before all definitions were collected, or without an instrument feed.
    #[must_use]
    pub fn unmatched_names(&self) -> Option<impl Iterator<Item = FilterName>> {
        let Market { settings, definition_loop, filter, instruments, .. } = &self.market;
        let is_known =
            settings.late_join == LateJoin::InstrumentsAndBooks && !definition_loop.is_first();
        is_known.then(|| filter.unmatched(instruments))
    }

    /// Collects definitions from the instrument feed again, without interrupting the books. Has no
    /// effect during a collection. For callers that loaded cached definitions which may be
    /// outdated.
    pub fn collect_definitions(&mut self) {
        self.market.definition_loop.start_collection();
    }

    /// Returns the state of the channel.
    #[must_use]
    pub fn state(&self) -> ChannelState {
        self.market.state()
    }

    /// Returns `true` if a line of a feed has delivered no packet for [`Settings::silence`].
    #[must_use]
    pub fn is_silent(&self, feed: Feed, line: FeedLine) -> bool {
        self.silence.is_silent(feed, line)
    }

    /// Returns the time by which one line of the incremental feed is ahead of the other.
    #[must_use]
    pub fn feed_skew(&self) -> FeedSkew {
        self.feed_skew.skew()
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.market.counters
    }

    /// Returns all instruments.
    #[must_use]
    pub fn instruments(&self) -> &Instruments {
        &self.market.instruments
    }

    /// Sets the user data of an instrument; see [`Instruments::user_data`].
    ///
    /// # Panics
    ///
    /// Panics if the index belongs to a larger channel.
    pub fn set_user_data(&mut self, instrument: InstrumentIndex, value: u64) {
        self.market.instruments.user_data[instrument.as_usize()] = value;
    }

    /// Returns the instrument with a SecurityID.
    #[must_use]
    pub fn find(&self, security_id: i32) -> Option<InstrumentIndex> {
        self.market.instruments.find(security_id)
    }

    /// Returns the direct book of an instrument.
    ///
    /// # Panics
    ///
    /// Panics if the index belongs to a larger channel.
    #[must_use]
    pub fn book(&self, instrument: InstrumentIndex) -> Book<'_> {
        self.market.instruments.book(instrument)
    }

    /// Returns the direct book of the instrument with a SecurityID.
    #[must_use]
    pub fn book_of(&self, security_id: i32) -> Option<Book<'_>> {
        self.market.instruments.book_of(security_id)
    }

    /// Returns the order book of an instrument; always empty if [`Settings::order_books`] is
    /// `None`.
    #[must_use]
    pub const fn order_book(&self, instrument: InstrumentIndex) -> OrderBook<'_> {
        self.market.instruments.order_book(instrument)
    }

    /// Returns the definition of an instrument, or `None` if it has none in force.
    ///
    /// # Panics
    ///
    /// Panics if the index belongs to a larger channel.
    #[must_use]
    pub fn definition(&self, instrument: InstrumentIndex) -> Option<&Definition> {
        self.market.instruments.definition(instrument)
    }

    /// Ends the silence of a line that may have been silent.
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
        // A packet with the time of the restart may belong to either epoch; the loop repeats it.
        let is_of_older_epoch =
            packet.feed != Feed::Instrument && packet.sending_time <= self.arbiter.epoch_began();
        if !self.market.subscribes_to(packet.feed) || is_of_older_epoch {
            self.market.counters.unwanted_packets += 1;
            return;
        }
        if packet.sending_time > self.arbiter.latest_credible(utc) {
            // It would start a pass that all later packets precede.
            return self.warn_suspect(packet, listener);
        }
        match packet.feed {
            Feed::Instrument => self.market.process_instrument(packet, messages, listener),
            feed => {
                if self.market.settings.price_feed() == Some(feed) {
                    self.market.process_snapshot(packet, messages, listener);
                }
                if self.market.settings.order_feed() == Some(feed) {
                    self.market.process_order_snapshots(packet, messages, listener);
                }
            }
        }
        self.market.update_state(listener);
    }
}
