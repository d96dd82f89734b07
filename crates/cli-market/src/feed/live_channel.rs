//! A channel received from the network.

use std::io::Write;

use anyhow::{Context, Result, anyhow};
use hairpin_cli_harness::datapath::{BufferSize, OpenTransport};
use hairpin_cli_harness::run_loop::{Activity, RunLoop, Task, Turn, poll};
use hairpin_cli_harness::transport;
use hairpin_endpoint::capture::{Recorder, RecorderSettings};
use hairpin_feed_handler::config::ChannelConfig;
use hairpin_feed_handler::{
    Addresses, FeedHandler, Filter, LateJoin, Settings, Timestamping, UdpOptions,
};
use hairpin_host::Clock;
use hairpin_measure::counted;
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now};
use hairpin_xdp::ReceiveStamps;

use super::counters::ChannelCounters;
use super::printer::Printer;
use super::statistics::Traffic;

/// The longest wait: within this time a signal is handled and the output buffer is flushed.
const MAX_SLEEP: Duration = Duration::from_millis(100);

/// The arguments for a channel on the network.
pub(super) struct ChannelArgs<'a> {
    /// Those of side A and of side B, which may be the same.
    pub(super) interfaces: [&'a str; 2],
    pub(super) timestamping: Timestamping,
    pub(super) transport: transport::TransportArgs,
    pub(super) wait: Wait,
    /// How long to run, unless until interrupted.
    pub(super) duration: Option<Duration>,
    pub(super) recording: Option<RecorderSettings>,
    pub(super) filter: &'a Filter,
}

/// A received channel.
pub(super) struct LiveChannel {
    feed: FeedHandler,
    reactor: Reactor,
    clock: Clock,
    /// Taken by the run loop.
    transport: Option<OpenTransport>,
    until: Option<Instant>,
    late_join: LateJoin,
    /// The failure of the recording has been reported.
    failure_printed: bool,
}

impl LiveChannel {
    /// Joins the channel.
    ///
    /// # Errors
    /// Those of the network and of the recording file.
    pub(super) fn open(
        words: ChannelArgs<'_>,
        channel: &ChannelConfig,
        mut addresses: Addresses,
        settings: Settings,
    ) -> Result<Self> {
        hairpin_host::name_thread("feed")?;
        let datapath = OpenTransport::open_sides(
            &words.transport,
            words.interfaces,
            BufferSize::Large,
            ReceiveStamps::Kernel,
        )?;
        datapath.apply_to(&mut addresses);
        let mut reactor = Reactor::new(words.wait)?;
        let options = UdpOptions { timestamping: words.timestamping, ..UdpOptions::default() };
        let filter = words.filter.clone();
        let mut feed =
            FeedHandler::new_with_options(settings, filter, addresses, options, &mut reactor)
                .with_context(|| format!("channel {} on {}", channel.id, words.interfaces[0]))?;
        if let Some(recording) = &words.recording {
            feed.record(recording, &channel.id)?;
        }
        let clock = Clock::new();
        let until = words.duration.map(|duration| clock.instant() + duration);
        let (transport, late_join) = (Some(datapath), settings.late_join);
        let failure_printed = false;
        Ok(Self { feed, reactor, clock, transport, until, late_join, failure_printed })
    }

    /// Receives until the duration is over or `stop_requested` returns `true`, and prints the state
    /// of the channel.
    ///
    /// # Errors
    /// Those of the network, and of writing.
    pub(super) fn run<O: Write, E: Write>(
        mut self,
        title: &str,
        printer: Printer<'_, O, E>,
        stop_requested: &dyn Fn() -> bool,
    ) -> Result<()> {
        let counters = ChannelCounters::new(title, self.feed.channel());
        let mut run_loop =
            self.transport.take().map_or_else(RunLoop::default, RunLoop::with_transport);
        let mut task = LiveTask { channel: self, printer, counters, stopped: false };
        run_loop.run(&mut task, stop_requested)?;
        let LiveTask { channel, printer, counters, .. } = task;
        channel.end(printer, counters)
    }

    /// Prints what is due besides messages, and returns `true` if no packet has arrived.
    fn print_pending<O: Write, E: Write>(
        &mut self,
        now: Now,
        printer: &mut Printer<'_, O, E>,
        figures: &mut ChannelCounters,
    ) -> Result<bool> {
        let mut traffic = traffic(&self.feed);
        let is_quiet = traffic.packets == printer.counts.packets;
        printer.counts.packets = traffic.packets;
        if let Some(Some(recorder)) = self.feed.recorder() {
            let counters = recorder.counters();
            traffic.unrecorded = counters.ring_overflows + counters.unwritten_datagrams;
            if !self.failure_printed
                && let Some(failure) = recorder.failure()
            {
                self.failure_printed = true;
                printer.error(&failure);
            }
        }
        printer.tick(now.monotonic, now, &traffic, self.feed.channel())?;
        figures.update_in_turn(printer.counts, self.feed.channel());
        printer.outcome()?;
        Ok(is_quiet)
    }

    /// Returns `true` once the loop of definitions was received whole.
    fn has_all_definitions(&self) -> bool {
        let channel = self.feed.channel();
        self.late_join == LateJoin::InstrumentsAndBooks && !channel.is_collecting_definitions()
    }

    /// Ends the recording, and prints the last lines.
    fn end<O: Write, E: Write>(
        mut self,
        mut printer: Printer<'_, O, E>,
        mut figures: ChannelCounters,
    ) -> Result<()> {
        figures.update(printer.counts, self.feed.channel());
        if self.late_join != LateJoin::InstrumentsAndBooks {
            // Definitions are never complete.
            printer.check_selection(self.feed.channel());
        }
        let recorder = self.feed.recorder().and_then(Option::take);
        let recorded = recorder.map(Recorder::finish);
        if let Some(Ok(counters)) = &recorded
            && counters.ring_overflows > 0
        {
            printer.error(&format!(
                "cannot record {} of {}: the disk is too slow",
                counters.ring_overflows,
                counted(counters.ring_overflows + counters.recorded_datagrams, "packet"),
            ));
        }
        printer.finish(self.feed.channel(), &traffic(&self.feed))?;
        self.feed.close(&mut self.reactor)?;
        match recorded {
            Some(Err(failure)) if !self.failure_printed => Err(anyhow!(failure)),
            _ => Ok(()),
        }
    }
}

/// A channel inside the run loop, with its output.
struct LiveTask<'a, O: Write, E: Write> {
    channel: LiveChannel,
    printer: Printer<'a, O, E>,
    counters: ChannelCounters,
    stopped: bool,
}

impl<O: Write, E: Write> Task for LiveTask<'_, O, E> {
    fn turn(&mut self) -> Result<Turn> {
        let Self { channel, printer, counters, .. } = self;
        let deadlines = [channel.feed.next_deadline(), printer.due(), channel.until];
        let deadline = deadlines.into_iter().flatten().min();
        let (now, ready) = poll(&channel.clock, &mut channel.reactor, deadline, MAX_SLEEP)?;
        match channel.feed.process(now, ready, &mut channel.reactor, printer) {
            // The interface is down; the feed handler retries until it is up again.
            Err(error) if error.is_transient() => printer.error(&error.to_string()),
            outcome => outcome?,
        }
        let is_idle = channel.print_pending(now, printer, counters)?;
        if printer.has_unchecked_names() && channel.has_all_definitions() {
            self.stopped |= printer.check_selection(channel.feed.channel());
        }
        self.stopped |= channel.until.is_some_and(|until| now.monotonic >= until);
        Ok(Turn { now: now.monotonic, activity: Activity::idle_if(is_idle) })
    }

    fn stop(&mut self, _: Instant) -> Result<()> {
        self.stopped = true;
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.stopped
    }

    fn clock(&mut self) -> Option<&mut Clock> {
        Some(&mut self.channel.clock)
    }
}

/// Returns what the sockets have received so far.
fn traffic(feed: &FeedHandler) -> Traffic {
    let statistics = feed.statistics();
    Traffic {
        packets: statistics.packets,
        bytes: statistics.bytes,
        drops: statistics.kernel_drops,
        unrecorded: 0,
    }
}

/// Returns how a channel joins, which depends on the feeds that are available.
pub(super) fn late_join(addresses: &Addresses, by_groups: LateJoin) -> LateJoin {
    match addresses {
        Addresses::Multicast(_) => by_groups,
        // Each connection carries all feeds.
        Addresses::Tcp(_) => LateJoin::InstrumentsAndBooks,
    }
}
