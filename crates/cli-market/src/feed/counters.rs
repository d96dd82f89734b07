//! The counters of a channel for `hairpin stat`.

use hairpin_cli_harness::counter_publisher::CounterPublisher;
use hairpin_feed_handler::{Channel, ChannelState};
use hairpin_host::Clock;
use hairpin_mapped::{CounterWriter, Unit};

use crate::decode::DecodeCounts;

/// Packets between two reads of a clock: a capture's own time is not this host's.
const PACKETS_PER_POLL: u64 = 64;

/// The counters of a channel.
pub(super) struct ChannelCounters {
    publisher: CounterPublisher,
    clock: Clock,
}

impl ChannelCounters {
    /// Publishes the counters of a channel that is about to begin.
    pub(super) fn new(title: &str, channel: &Channel) -> Self {
        let publisher = CounterPublisher::new(title, "feed", |writer| {
            write(writer, &DecodeCounts::default(), channel)
        });
        Self { publisher, clock: Clock::from_kernel() }
    }

    /// Updates the counters from time to time; called after each packet.
    pub(super) fn update_if_due(&mut self, counts: &DecodeCounts, channel: &Channel) {
        if counts.packets.is_multiple_of(PACKETS_PER_POLL) {
            let now = self.clock.instant();
            self.publisher.update_if_due(now, true, |writer| write(writer, counts, channel));
        }
    }

    /// Updates the counters from time to time; called after each turn of a loop that waits.
    pub(super) fn update_in_turn(&mut self, counts: &DecodeCounts, channel: &Channel) {
        let now = self.clock.instant();
        self.publisher.update_if_due(now, true, |writer| write(writer, counts, channel));
    }

    /// Updates the counters after the last packet.
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
