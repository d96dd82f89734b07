//! Replay, natural refresh, silence detection and skew sampling allocate nothing.

use crate::support::*;
use hairpin_mdp3::{
    Action, Channel, Feed, FeedLine, Input, Replay, ReplayOutcome, ReplayUpdate, Settings, Silence,
};
use hairpin_testbed::allocations;
use hairpin_time::{Duration, Instant, Now, Utc};

#[derive(Default)]
struct Tally {
    replays: u64,
    silences: u64,
}

impl hairpin_mdp3::Listener for Tally {
    fn on_replay(&mut self, _: &ReplayUpdate) {
        self.replays += 1;
    }
    fn on_silence(&mut self, _: &Silence) {
        self.silences += 1;
    }
}

struct Driver {
    channel: Channel,
    tally: Tally,
    now: Instant,
    asked: u64,
}

impl Driver {
    fn now(&self) -> Now {
        Now { monotonic: self.now, utc: Utc::EPOCH }
    }

    fn on(&mut self, feed: Feed, side: FeedLine, packet: &PacketBuilder) {
        let input = Input { feed, line: side, received: None };
        self.channel.handle_packet(self.now(), input, packet.bytes(), &mut self.tally);
    }

    fn pass(&mut self, span: Duration) {
        self.now += span;
        self.channel.handle_timeout(self.now(), &mut self.tally);
        while let Some(action) = self.channel.poll_action() {
            self.asked += u64::from(matches!(action, Action::Replay { .. }));
        }
    }
}

#[test]
fn recovery_does_not_allocate() {
    let replay = Replay { max_packets: 10, max_held: 64, ..Replay::default() };
    let settings = Settings {
        replay: Some(replay),
        natural_refresh: true,
        silence: Duration::from_secs(8),
        ..SETTINGS
    };
    let tick = |sequence: u32| packet(sequence).book(END, &[bid(7, sequence).overlay(1, 50, 1)]);
    let heartbeats: Vec<_> = (100..200).map(|sequence| packet(sequence).heartbeat()).collect();
    let definitions = packet(1).definition(7, 2, 10).definition(8, 2, 10);
    let books = packet(1).snapshot(7, 200, 2, 200, &[(b'0', 1, 50, 1)]).snapshot(8, 200, 2, 0, &[]);
    let ticks: Vec<_> = (200..300).map(tick).collect();
    let at = |sequence: u32| &ticks[sequence as usize - 200];

    let channel = Channel::new(settings);
    let mut driver = Driver { channel, tally: Tally::default(), now: Instant::ZERO, asked: 0 };
    let before = allocations();
    driver.pass(Duration::ZERO);
    for heartbeat in &heartbeats {
        driver.on(Feed::Incremental, FeedLine::A, heartbeat);
        driver.on(Feed::Incremental, FeedLine::B, heartbeat);
    }
    driver.on(Feed::Incremental, FeedLine::A, at(200));
    driver.on(Feed::Instrument, FeedLine::A, &definitions);
    driver.pass(Duration::ZERO);
    driver.on(Feed::Snapshot, FeedLine::A, &books);
    driver.pass(Duration::ZERO);
    assert!(driver.channel.feed_skew().samples > 0);
    // A gap that replay fills, and one that it does not, followed by natural refresh.
    driver.on(Feed::Incremental, FeedLine::A, at(203));
    driver.pass(Duration::from_millis(10));
    driver.on(Feed::Replay, FeedLine::A, at(202));
    driver.on(Feed::Replay, FeedLine::A, at(201));
    assert_eq!(driver.channel.counters().replays_filled, 1);
    driver.on(Feed::Incremental, FeedLine::A, at(206));
    driver.pass(Duration::from_millis(10));
    let now = driver.now();
    driver.channel.handle_replay_end(now, ReplayOutcome::Failed, &mut driver.tally);
    driver.pass(Duration::ZERO);
    driver.channel.handle_replay_end(now, ReplayOutcome::Complete, &mut driver.tally);
    driver.on(Feed::Incremental, FeedLine::A, at(207));
    assert_eq!(driver.channel.counters().refreshes, 1);
    for _ in 0..20 {
        driver.pass(Duration::from_secs(1));
    }
    assert!(driver.tally.silences > 0 && driver.tally.replays == 5 && driver.asked == 3);
    assert_eq!(allocations() - before, 0);
    // The allocator counts.
    drop(std::hint::black_box(vec![1]));
    assert_eq!(allocations() - before, 1);
}
