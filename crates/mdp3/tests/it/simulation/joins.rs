//! Channels that join at random times, with all settings and combinations of feeds.

use hairpin_mdp3::{ChannelState, Feed, FeedLine, FeedLines, Feeds, LateJoin, Replay, Settings};
use hairpin_testbed::scaled;
use hairpin_time::Duration;
use rand_chacha::rand_core::Rng;

use super::{DEPTH, IDS, Simulation};
use crate::support::*;

/// Undefined instruments have the depth of the exchange's books.
const BASE: Settings =
    Settings { max_instruments: IDS.len(), undefined_depth: DEPTH as u8, ..SETTINGS };
const REPLAY: Replay = Replay {
    max_packets: 50,
    attempts: 2,
    timeout: Duration::from_millis(100),
    pause: Duration::ZERO,
    max_held: 256,
};
const NO_INSTRUMENT_FEED: Feeds = Feeds { instrument: FeedLines::None, ..Feeds::ALL };
const NO_SNAPSHOT_FEED: Feeds = Feeds { snapshot: FeedLines::None, ..Feeds::ALL };

fn feeds_on(sides: FeedLines) -> Feeds {
    Feeds { incremental: sides, instrument: sides, snapshot: sides, snapshot_orders: sides }
}

/// Creates a channel that joins after a random number of packets, in the middle of a pass of each
/// loop.
fn join(seed: u64, settings: Settings) -> Simulation {
    let mut simulation = Simulation::with(seed, settings);
    simulation.exchange.statuses = IDS.into_iter().map(|id| (id, 17)).collect();
    for _ in 0..simulation.rng.next_u32() % 300 {
        simulation.exchange.next_packet(&mut simulation.rng, &IDS, false);
    }
    simulation.checker.epoch = simulation.exchange.epoch;
    simulation.sides = settings.feeds.incremental;
    simulation.joined = Feed::ALL.map(|feed| settings.feeds.has(feed));
    let loops = [
        (Feed::Instrument, simulation.exchange.definitions()),
        (Feed::Snapshot, simulation.exchange.snapshots()),
    ];
    for (feed, packets) in loops {
        let seen = simulation.rng.next_u32() as usize % (packets.len() + 1);
        for packet in packets.iter().skip(seen) {
            simulation.send_on(feed, FeedLine::A, packet);
        }
    }
    simulation
}

/// Runs with losses and then without. At the end every book of the exchange is known and correct.
fn live(mut simulation: Simulation, loss: u32) -> Simulation {
    (simulation.loss, simulation.delay) = (loss, loss / 2);
    simulation.run(400, &IDS);
    (simulation.loss, simulation.delay, simulation.replay_loss) = (0, 0, 0);
    simulation.run(150, &IDS);
    let seed = simulation.checker.seed;
    assert_eq!(simulation.channel.state(), ChannelState::InSync, "seed {seed}");
    let instruments = simulation.channel.instruments();
    for id in simulation.exchange.rpt_seqs.keys().copied() {
        let instrument = instruments.find(id).unwrap_or_else(|| panic!("seed {seed}: no {id}"));
        assert!(instruments.book(instrument).is_in_sync(), "seed {seed}: {id}");
        let shown = super::book_checker::show(instruments, instrument);
        assert_eq!(shown, simulation.exchange.show(id), "seed {seed}: {id}");
    }
    simulation.check_errors(seed);
    simulation
}

/// Runs 20 seeds with the settings. Returns the sum of a counter.
fn count(settings: Settings, loss: u32, counter: &str) -> u64 {
    let mut sum = 0;
    for seed in 0..scaled(20) {
        let simulation = live(join(seed, settings), loss);
        let counters = simulation.channel.counters();
        sum += counters.iter().find(|(name, _)| *name == counter).expect("a counter").1;
    }
    sum
}

#[test]
fn joins_with_instruments_and_books() {
    assert!(count(BASE, 100, "definitions") > 0);
}

#[test]
fn joins_with_books_only() {
    let settings = Settings { late_join: LateJoin::Books, ..BASE };
    assert!(count(settings, 100, "snapshots_applied") > 0);
}

#[test]
fn joins_without_instrument_feed() {
    let settings = Settings { feeds: NO_INSTRUMENT_FEED, ..BASE };
    assert!(count(settings, 100, "snapshots_applied") > 0);
}

#[test]
fn joins_on_one_line() {
    for sides in [FeedLines::A, FeedLines::B] {
        let settings = Settings { feeds: feeds_on(sides), ..BASE };
        assert!(count(settings, 50, "gaps") > 0);
    }
}

#[test]
fn joins_with_replay_before_snapshots() {
    let settings = Settings { replay: Some(REPLAY), ..BASE };
    assert!(count(settings, 100, "replays_filled") > 0);
}

#[test]
fn joins_with_failing_replay() {
    let settings = Settings { replay: Some(REPLAY), ..BASE };
    let mut sums = [0; 2];
    for seed in 0..scaled(20) {
        let mut simulation = join(seed, settings);
        simulation.replay_loss = 300;
        let simulation = live(simulation, 100);
        let counters = simulation.channel.counters();
        sums[0] += counters.replays_filled;
        sums[1] += counters.replays_given_up;
    }
    assert!(sums.iter().all(|sum| *sum > 0), "{sums:?}");
}

#[test]
fn joins_with_reset_and_replay_without_snapshots() {
    let settings = Settings { replay: Some(REPLAY), feeds: NO_SNAPSHOT_FEED, ..BASE };
    let mut filled = 0;
    for seed in 0..scaled(20) {
        let mut simulation = join(seed, settings);
        simulation.run(100, &IDS);
        assert_eq!(simulation.channel.state(), ChannelState::Recovering);
        let reset = simulation.exchange.channel_reset(seed % 2 == 0);
        simulation.publish(&reset);
        let simulation = live(simulation, 100);
        filled += simulation.channel.counters().replays_filled;
        assert_eq!(simulation.channel.counters().gaps, 0, "seed {seed}");
    }
    assert!(filled > 0);
}

#[test]
fn joins_at_reset_without_loops() {
    let settings = Settings { late_join: LateJoin::Nothing, ..BASE };
    for seed in 0..scaled(20) {
        let mut simulation = join(seed, settings);
        let reset = simulation.exchange.channel_reset(seed % 2 == 0);
        simulation.publish(&reset);
        live(simulation, 0);
    }
}

#[test]
fn joins_with_natural_refresh() {
    let settings = Settings { natural_refresh: true, ..BASE };
    assert!(count(settings, 100, "refreshes") > 0);
    let checked =
        (0..scaled(20)).map(|seed| live(join(seed, settings), 100).checker.checked_refreshed);
    assert!(checked.sum::<u64>() > 1_000, "levels were published");
}
