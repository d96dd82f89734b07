//! The channel alone on packets in memory, in batches, for times too short to measure singly.

use std::hint::black_box;

use anyhow::{Result, bail};
use hairpin_cli_harness::child_protocol::ChildPage;
use hairpin_exchange::{Feed as Published, MAX_PAYLOAD, Pace};
use hairpin_feed_handler::{Channel, ChannelState, EndOfEvent, Feed, FeedLine, Input, Listener};
use hairpin_host::Clock;
use hairpin_measure::BatchRecorder;
use hairpin_time::{Duration, Now};

use super::receiver::outcome;
use super::setup::{ReceiverCounts, ReceiverOutcome, ReceiverSetup, channel_settings};
use super::update_flow::UpdateFlow;

/// The packets of one batch.
const BATCH: u64 = BatchRecorder::OPERATIONS_MIN;
/// The batches created before any is timed. Their packets exceed the first-level cache and are read
/// from the second. The first batch is not recorded.
const BATCHES: usize = 17;
/// The interval between events.
const STEP: Duration = Duration::from_micros(10);

/// A listener that counts events of synchronized books and reads the books.
#[derive(Debug, Default)]
struct Seen {
    events: u64,
}

impl Listener for Seen {
    #[inline]
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        for changed in black_box(event).changed() {
            black_box(changed);
            self.events += 1;
        }
    }
}

/// Packets of one entry, in the order of their creation.
struct Packets {
    bytes: Vec<[u8; super::update_flow::PACKET_BYTES]>,
    times: Vec<Now>,
}

/// Times batches until there are enough samples.
///
/// # Errors
/// A channel that does not synchronize or loses a packet: a broken invariant.
pub(super) fn measure(
    setup: &ReceiverSetup,
    clock: &Clock,
    page: &ChildPage,
    stop_requested: &dyn Fn() -> bool,
) -> Result<ReceiverOutcome> {
    let samples = usize::try_from(setup.load.samples).unwrap_or(usize::MAX);
    let mut recorder = BatchRecorder::with_capacity(samples, BATCH);
    let mut bench = Bench::new(setup.load.seed, clock.now())?;
    while !recorder.means().is_full() && !stop_requested() {
        let packets = bench.packets();
        for batch in 0..BATCHES {
            let first = batch * BATCH as usize;
            let range = first..first + BATCH as usize;
            let before = clock.instant();
            bench.take(&packets, range);
            let span = clock.instant() - before;
            if batch > 0 && !recorder.means().is_full() {
                recorder.record(span);
            }
        }
        page.set_ticks(recorder.means().samples().len() as u64);
        if bench.seen.events != bench.made {
            bail!("{} of {} events were delivered", bench.seen.events, bench.made);
        }
    }
    Ok(outcome(setup, clock, &[recorder.means()], ReceiverCounts::default()))
}

/// An exchange and a channel in sync with it, on a virtual clock.
struct Bench {
    flow: UpdateFlow,
    channel: Channel,
    now: Now,
    seen: Seen,
    made: u64,
}

impl Bench {
    fn new(seed: u64, now: Now) -> Result<Self> {
        let flow = UpdateFlow::new(seed, now);
        let channel = Channel::new(channel_settings());
        let mut bench = Self { flow, channel, now, seen: Seen::default(), made: 0 };
        let mut packet = [0; MAX_PAYLOAD];
        // Enough for several passes of both loops.
        for _ in 0..10_000 {
            bench.pass();
            let Some(sent) = bench.flow.transmit(bench.now, &mut packet) else { continue };
            let feed = match sent.feed {
                Published::Incremental => Feed::Incremental,
                Published::Instruments => Feed::Instrument,
                _ => Feed::Snapshot,
            };
            let input = Input { feed, line: FeedLine::A, received: Some(bench.now.utc) };
            bench.channel.handle_packet(bench.now, input, &packet[..sent.length], &mut ());
            while bench.channel.poll_action().is_some() {}
            if bench.channel.state() == ChannelState::InSync {
                bench.flow.set_pace(Pace::Paced, bench.now.monotonic);
                return Ok(bench);
            }
        }
        bail!("the channel does not get in sync");
    }

    fn pass(&mut self) {
        let Now { monotonic, utc } = self.now;
        self.now = Now { monotonic: monotonic + STEP, utc: utc + STEP };
    }

    /// Creates the packets of several batches.
    fn packets(&mut self) -> Packets {
        let count = BATCHES * BATCH as usize;
        let (mut bytes, mut times) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut packet = [0; MAX_PAYLOAD];
        while bytes.len() < count {
            self.pass();
            self.flow.event(self.now);
            while self.flow.has_event() {
                let sent = self.flow.transmit(self.now, &mut packet);
                if let Some(whole) = sent.and_then(|sent| packet[..sent.length].try_into().ok()) {
                    bytes.push(whole);
                    times.push(self.now);
                }
            }
        }
        self.made += bytes.len() as u64;
        Packets { bytes, times }
    }

    /// Handles the packets of one batch.
    #[inline(never)]
    fn take(&mut self, packets: &Packets, range: std::ops::Range<usize>) {
        let Self { channel, seen, .. } = self;
        for (bytes, &now) in packets.bytes[range.clone()].iter().zip(&packets.times[range]) {
            let input =
                Input { feed: Feed::Incremental, line: FeedLine::A, received: Some(now.utc) };
            channel.handle_packet(black_box(now), input, bytes, seen);
        }
    }
}

#[cfg(test)]
mod tests {
    use hairpin_time::{Instant, Utc};

    use super::*;

    #[test]
    fn batch_packets_are_events_of_synced_book() {
        let utc = Utc::from_nanos(1_800_000_000_000_000_000);
        let now = Now { monotonic: Instant::from_nanos(1), utc };
        let mut bench = Bench::new(3, now).unwrap();
        let packets = bench.packets();
        bench.take(&packets, 0..BATCHES * BATCH as usize);
        assert_eq!(bench.seen.events, (BATCHES * BATCH as usize) as u64);
        assert_eq!(bench.channel.counters().gaps, 0);
    }
}
