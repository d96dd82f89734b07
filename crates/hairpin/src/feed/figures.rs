//! What `hairpin stat` sees of a channel.

use hairpin_feed_handler::{Channel, ChannelState};
use hairpin_host::Clock;
use hairpin_mapped::{CounterWriter, Unit};

use crate::decode::Counts;
use crate::live::Live;

/// Packets between two looks at a clock: a capture's own time says nothing of ours.
const PACKETS_PER_LOOK: u64 = 64;

/// The live counters of a channel.
pub(super) struct Figures {
    live: Live,
    clock: Clock,
}

impl Figures {
    /// Publishes the figures of a channel that is about to begin.
    pub(super) fn publish(title: &str, channel: &Channel) -> Self {
        let live = Live::publish(title, "feed", |sheet| tell(sheet, &Counts::default(), channel));
        Self { live, clock: Clock::from_kernel() }
    }

    /// A packet was handled: brings the figures up to date now and then.
    pub(super) fn update_if_due(&mut self, counts: &Counts, channel: &Channel) {
        if counts.packets.is_multiple_of(PACKETS_PER_LOOK) {
            let now = self.clock.instant();
            self.live.update_if_due(now, true, |sheet| tell(sheet, counts, channel));
        }
    }

    /// A turn of a loop that waits is over: the same.
    pub(super) fn update_in_turn(&mut self, counts: &Counts, channel: &Channel) {
        let now = self.clock.instant();
        self.live.update_if_due(now, true, |sheet| tell(sheet, counts, channel));
    }

    /// The last packet was handled.
    pub(super) fn update(&mut self, counts: &Counts, channel: &Channel) {
        self.live.update(self.clock.instant(), |sheet| tell(sheet, counts, channel));
    }
}

fn tell(sheet: &mut CounterWriter<'_>, counts: &Counts, channel: &Channel) {
    let Counts { packets, messages, unknown, errors } = *counts;
    let is_in_sync = channel.state() == ChannelState::InSync;
    let printed =
        [("packets", packets), ("messages", messages), ("unknown", unknown), ("errors", errors)];
    sheet.counters("capture", printed.into_iter());
    sheet.gauge("feed", "in_sync", Unit::Flag, is_in_sync.into());
    sheet.gauge("feed", "instruments", Unit::Count, channel.instruments().len() as u64);
    sheet.counters("feed", channel.counters().iter());
}
