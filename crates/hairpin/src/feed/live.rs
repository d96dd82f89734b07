//! A channel on the network.

use std::io::Write;

use anyhow::{Context, Result, anyhow};
use hairpin_endpoint::capture::{Recorder, RecorderSettings};
use hairpin_feed_handler::config::ChannelConfig;
use hairpin_feed_handler::{Addresses, FeedHandler, Filter, LateJoin, Settings};
use hairpin_host::Clock;
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now};
use hairpin_xdp::ReceiveStamps;

use super::figures::Figures;
use super::printer::Printer;
use super::statistics::Traffic;
use crate::transport;
use crate::way::{Room, Way};

/// The longest wait: so soon a signal is heard, and what was printed leaves its buffer.
const WAIT_MAX: Duration = Duration::from_millis(100);

/// What a channel on the network is made from.
pub(super) struct Words<'a> {
    pub(super) interface: &'a str,
    pub(super) transport: transport::Arguments,
    pub(super) wait: Wait,
    /// When it ends by itself.
    pub(super) duration: Option<Duration>,
    pub(super) recording: Option<RecorderSettings>,
    pub(super) filter: &'a Filter,
}

/// A channel that is received.
pub(super) struct Live {
    feed: FeedHandler,
    reactor: Reactor,
    clock: Clock,
    way: Way,
    until: Option<Instant>,
    /// That recording has failed was said.
    has_said: bool,
}

impl Live {
    /// Joins the channel.
    ///
    /// # Errors
    /// Those of the network, and of the file to record in.
    pub(super) fn open(
        words: Words<'_>,
        channel: &ChannelConfig,
        mut addresses: Addresses,
        settings: Settings,
    ) -> Result<Self> {
        hairpin_host::name_thread("feed")?;
        let way = Way::open(&words.transport, words.interface, Room::Ample, ReceiveStamps::Kernel)?;
        way.bring(&mut addresses);
        let mut reactor = Reactor::new(words.wait)?;
        let mut feed =
            FeedHandler::new_with_filter(settings, words.filter.clone(), addresses, &mut reactor)
                .with_context(|| format!("channel {} on {}", channel.id, words.interface))?;
        if let Some(recording) = &words.recording {
            feed.record(recording, &channel.id)?;
        }
        let clock = Clock::new();
        let until = words.duration.map(|duration| clock.instant() + duration);
        Ok(Self { feed, reactor, clock, way, until, has_said: false })
    }

    /// Receives until the time is over, or until `asked_to_stop`, and prints what the channel has
    /// come to.
    ///
    /// # Errors
    /// Those of the network, and of writing.
    pub(super) fn run<O: Write, E: Write>(
        mut self,
        title: &str,
        mut printer: Printer<'_, O, E>,
        asked_to_stop: &dyn Fn() -> bool,
    ) -> Result<()> {
        let mut figures = Figures::publish(title, self.feed.channel());
        loop {
            let before = self.clock.instant();
            let wake = before + WAIT_MAX;
            let deadlines = [self.feed.next_deadline(), printer.due(), self.until, Some(wake)];
            let deadline = deadlines.into_iter().flatten().min();
            let ready = self.reactor.wait(before, deadline)?;
            let now = self.clock.now();
            match self.feed.process(now, ready, &mut self.reactor, &mut printer) {
                // The interface is gone; it is looked for until it returns.
                Err(error) if error.is_transient() => printer.error(&error.to_string()),
                outcome => outcome?,
            }
            self.tell(now, &mut printer, &mut figures)?;
            if asked_to_stop() || self.until.is_some_and(|until| now.monotonic >= until) {
                break;
            }
        }
        self.end(printer, figures)
    }

    /// Prints what is due beside messages.
    fn tell<O: Write, E: Write>(
        &mut self,
        now: Now,
        printer: &mut Printer<'_, O, E>,
        figures: &mut Figures,
    ) -> Result<()> {
        self.clock.recalibrate_if_due(now.monotonic);
        let mut traffic = traffic(&self.feed);
        let is_quiet = traffic.packets == printer.counts.packets;
        self.way.tell_if_due(now.monotonic, is_quiet);
        printer.counts.packets = traffic.packets;
        if let Some(Some(recorder)) = self.feed.recorder() {
            let counters = recorder.counters();
            traffic.unrecorded = counters.ring_overflows + counters.unwritten_datagrams;
            if !self.has_said
                && let Some(failure) = recorder.failure()
            {
                self.has_said = true;
                printer.error(&failure);
            }
        }
        printer.tick(now.monotonic, now, &traffic, self.feed.channel())?;
        figures.update_in_turn(printer.counts, self.feed.channel());
        Ok(printer.outcome()?)
    }

    /// Ends the recording, and prints the last lines.
    fn end<O: Write, E: Write>(
        mut self,
        mut printer: Printer<'_, O, E>,
        mut figures: Figures,
    ) -> Result<()> {
        figures.update(printer.counts, self.feed.channel());
        let recorder = self.feed.recorder().and_then(Option::take);
        let recorded = recorder.map(Recorder::finish);
        if let Some(Ok(counters)) = &recorded
            && counters.ring_overflows > 0
        {
            printer.error(&format!(
                "{} of {} packets were not recorded: the disk is too slow",
                counters.ring_overflows,
                counters.ring_overflows + counters.recorded_datagrams,
            ));
        }
        printer.finish(self.feed.channel(), &traffic(&self.feed))?;
        self.feed.close(&mut self.reactor)?;
        match recorded {
            Some(Err(failure)) if !self.has_said => Err(anyhow!(failure)),
            _ => Ok(()),
        }
    }
}

/// What has come to the sockets so far.
fn traffic(feed: &FeedHandler) -> Traffic {
    let statistics = feed.statistics();
    Traffic {
        packets: statistics.packets,
        bytes: statistics.bytes,
        drops: statistics.kernel_drops,
        unrecorded: 0,
    }
}

/// How a channel joins: by whatever feeds there are.
pub(super) fn late_join(addresses: &Addresses, by_groups: LateJoin) -> LateJoin {
    match addresses {
        Addresses::Multicast(_) => by_groups,
        // Each connection brings all feeds.
        Addresses::Tcp(_) => LateJoin::InstrumentsAndBooks,
    }
}
