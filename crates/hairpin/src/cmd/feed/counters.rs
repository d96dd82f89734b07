//! What `hairpin stat` sees of a channel.

use hairpin_feed_handler::{Channel, ChannelState};
use hairpin_host::Clock;
use hairpin_mapped::{CounterWriter, Unit};

use crate::cmd::decode::DecodeCounts;
use crate::harness::counter_publisher::CounterPublisher;

/// Packets between two looks at a clock: a capture's own time says nothing of ours.
const PACKETS_PER_POLL: u64 = 64;

/// The publisher counters of a channel.
pub(super) struct ChannelCounters {
    publisher: CounterPublisher,
    clock: Clock,
}

impl ChannelCounters {
    /// Publishes the figures of a channel that is about to begin.
    pub(super) fn new(title: &str, channel: &Channel) -> Self {
        let publisher = CounterPublisher::new(title, "feed", |writer| {
            write(writer, &DecodeCounts::default(), channel)
        });
        Self { publisher, clock: Clock::of_kernel() }
    }

    /// A packet was handled: brings the figures up to date now and then.
    pub(super) fn update_if_due(&mut self, counts: &DecodeCounts, channel: &Channel) {
        if counts.packets.is_multiple_of(PACKETS_PER_POLL) {
            let now = self.clock.instant();
            self.publisher.update_if_due(now, true, |writer| write(writer, counts, channel));
        }
    }

    /// A turn of a loop that waits is over: the same.
    pub(super) fn update_in_turn(&mut self, counts: &DecodeCounts, channel: &Channel) {
        let now = self.clock.instant();
        self.publisher.update_if_due(now, true, |writer| write(writer, counts, channel));
    }

    /// The last packet was handled.
    pub(super) fn update(&mut self, counts: &DecodeCounts, channel: &Channel) {
        self.publisher.update(self.clock.instant(), |writer| write(writer, counts, channel));
    }
}

fn write(writer: &mut CounterWriter<'_>, counts: &DecodeCounts, channel: &Channel) {
    let DecodeCounts { packets, messages, unknown, errors } = *counts;
    let is_in_sync = channel.state() == ChannelState::InSync;
    let printed =
        [("packets", packets), ("messages", messages), ("unknown", unknown), ("errors", errors)];
    writer.counters("capture", printed.into_iter());
    writer.gauge("feed", "in_sync", Unit::Flag, is_in_sync.into());
    writer.gauge("feed", "instruments", Unit::Count, channel.instruments().len() as u64);
    writer.counters("feed", channel.counters().iter());
}
