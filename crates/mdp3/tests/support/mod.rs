//! Traces: short packet builders, a channel that receives the packets, and its callbacks as lines
//! of text.
#![allow(dead_code, unreachable_pub, unused_imports, reason = "each test file uses what it needs")]
#![allow(clippy::unwrap_used, reason = "a packet that does not fit is an error in the test")]

mod definitions;
mod messages;
mod orders;
mod packets;
mod recorder;

pub use messages::*;
pub use orders::*;
pub use packets::*;
pub use recorder::Recorder;

use hairpin_mdp3::{Action, Channel, Feed, FeedLine, Input, ReplayOutcome, Settings};
use hairpin_time::{Duration, Instant, Now, Utc};

/// A channel, its clock, and its recorded callbacks.
pub struct Trace {
    pub channel: Channel,
    pub recorder: Recorder,
    pub now: Instant,
    /// The host's clock: long after all packets were sent, unless a test sets it.
    pub utc: Utc,
}

/// Settings small enough for tests to fill, with a reorder wait of 10 ms.
pub const SETTINGS: Settings = Settings {
    max_instruments: 8,
    late_join: hairpin_mdp3::LateJoin::InstrumentsAndBooks,
    feeds: hairpin_mdp3::Feeds::ALL,
    replay: None,
    natural_refresh: false,
    silence: Duration::ZERO,
    undefined_depth: 10,
    reorder_packets: 8,
    reorder_wait: Duration::from_millis(10),
    max_packet: 2_048,
    queue_bytes: 4_096,
    max_related: 16,
    max_loop_packets: 64,
    templates: hairpin_mdp3::TemplateIds::AS_PUBLISHED,
    max_snapshot_lead: 100,
    order_books: hairpin_mdp3::OrderBooks::None,
    max_orders: 0,
    order_snapshots: Feed::SnapshotOrders,
};

impl Trace {
    /// Creates a channel that has received nothing.
    pub fn new(settings: Settings) -> Self {
        let now = Instant::from_nanos(1_000_000_000);
        let utc = YEAR_2026 + Duration::from_secs(3_600);
        Self { channel: Channel::new(settings), recorder: Recorder::default(), now, utc }
    }

    /// Creates a channel in sync after packet 100, with empty books of instruments 7 and 8, depth
    /// 10, RptSeq 0.
    pub fn in_sync() -> Self {
        Self::in_sync_with(SETTINGS, 10)
    }

    /// Creates the same late in the day, at RptSeq 1,000.
    pub fn in_sync_late() -> Self {
        Self::in_sync_at(SETTINGS, 10, 1_000)
    }

    /// Creates the same with other settings and another depth.
    pub fn in_sync_with(settings: Settings, depth: i8) -> Self {
        Self::in_sync_at(settings, depth, 0)
    }

    /// Creates the same at any RptSeq.
    pub fn in_sync_at_rpt_seq(rpt_seq: u32) -> Self {
        Self::in_sync_at(SETTINGS, 10, rpt_seq)
    }

    /// Creates the same with other settings, another depth and any RptSeq.
    pub fn in_sync_at(settings: Settings, depth: i8, rpt_seq: u32) -> Self {
        let mut trace = Self::new(settings);
        trace.a(&packet(100).heartbeat());
        trace.instrument(&packet(1).definition(7, 2, depth).definition(8, 2, depth));
        let books = packet(1).snapshot(7, 100, 2, rpt_seq, &[]);
        trace.snapshot(&books.snapshot(8, 100, 2, rpt_seq, &[]));
        assert_eq!(trace.channel.state(), hairpin_mdp3::ChannelState::InSync);
        trace.actions();
        trace.recorder.take();
        trace
    }

    /// Delivers a packet on any feed and line.
    pub fn on(&mut self, feed: Feed, side: FeedLine, packet: &PacketBuilder) {
        let now = Now { monotonic: self.now, utc: self.utc };
        let input = Input { feed, line: side, received: None };
        self.channel.handle_packet(now, input, packet.bytes(), &mut self.recorder);
    }

    /// Delivers an incremental packet on line A.
    pub fn a(&mut self, packet: &PacketBuilder) {
        self.on(Feed::Incremental, FeedLine::A, packet);
    }

    /// Delivers an incremental packet on line B.
    pub fn b(&mut self, packet: &PacketBuilder) {
        self.on(Feed::Incremental, FeedLine::B, packet);
    }

    /// Delivers a packet of the instrument feed on line A.
    pub fn instrument(&mut self, packet: &PacketBuilder) {
        self.on(Feed::Instrument, FeedLine::A, packet);
    }

    /// Returns the trading status of an instrument as a number.
    pub fn status(&self, security_id: i32) -> Option<u8> {
        let instrument = self.channel.find(security_id).expect("the instrument is known");
        self.channel.instruments().status(instrument).trading_status.map(|status| status.0)
    }

    /// Returns the implied book of an instrument in the format of `book`.
    pub fn implied(&self, security_id: i32) -> String {
        let instrument = self.channel.find(security_id).expect("the instrument is known");
        recorder::show_implied(self.channel.instruments().implied_book(instrument))
    }

    /// Delivers a packet of the snapshot feed on line A.
    pub fn snapshot(&mut self, packet: &PacketBuilder) {
        self.on(Feed::Snapshot, FeedLine::A, packet);
    }

    /// Delivers a packet of the snapshot feed on line B.
    pub fn snapshot_b(&mut self, packet: &PacketBuilder) {
        self.on(Feed::Snapshot, FeedLine::B, packet);
    }

    /// Delivers a packet of TCP replay.
    pub fn replay(&mut self, packet: &PacketBuilder) {
        self.on(Feed::Replay, FeedLine::A, packet);
    }

    /// Ends the replay connection.
    pub fn replay_end(&mut self, outcome: ReplayOutcome) {
        let now = Now { monotonic: self.now, utc: self.utc };
        self.channel.handle_replay_end(now, outcome, &mut self.recorder);
    }

    /// Advances the clock and runs the timeouts.
    pub fn wait(&mut self, span: Duration) {
        self.now += span;
        let now = Now { monotonic: self.now, utc: self.utc };
        self.channel.handle_timeout(now, &mut self.recorder);
    }

    /// Returns the channel's actions.
    pub fn actions(&mut self) -> Vec<Action> {
        std::iter::from_fn(|| self.channel.poll_action()).collect()
    }

    /// Asserts that the callbacks since the last call are exactly `expected`.
    #[track_caller]
    pub fn assert_callbacks<const N: usize>(&mut self, expected: [&str; N]) {
        let lines = self.recorder.take();
        assert_eq!(lines, expected, "left: actual, right: expected");
    }

    /// Returns the book of an instrument: `quantity@price …| quantity@price …`, best first.
    pub fn book(&self, security_id: i32) -> String {
        recorder::show(self.channel.book_of(security_id).expect("the instrument is known"))
    }

    /// Returns a counter by name.
    pub fn counter(&self, name: &str) -> u64 {
        let found = self.channel.counters().iter().find(|(counter, _)| *counter == name);
        found.unwrap_or_else(|| panic!("no counter {name}")).1
    }
}
