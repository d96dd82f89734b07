//! The receiver process of one round.

use std::process::ExitCode;
use std::rc::Rc;

use anyhow::Result;
use hairpin_cli_harness::child_protocol::{self, ChildArgs};
use hairpin_cli_harness::datapath::{BufferSize, OpenTransport};
use hairpin_cli_harness::run_loop::{Activity, RunLoop, Task, Turn};
use hairpin_cli_harness::signals::Signals;
use hairpin_feed_handler::{
    Arrival, CacheWarmer, ChannelState, FeedEngine, FeedHandlers, Group, HandlerId, LineAddress,
    Lines, Multicast, SocketEngine, TappedEngine, Transport,
};
use hairpin_host::Clock;
use hairpin_measure::{Recorder, Row};
use hairpin_reactor::Wait;
use hairpin_time::{Duration, Instant, Now};
use hairpin_xdp::ReceiveStamps;

use super::feed_case::Receiver;
use super::probe::{ArrivalTime, Probe};
use super::setup::{self as words, Ready, ReceiverCounts, ReceiverOutcome, ReceiverSetup};
use super::{bare_receiver, batch};
use crate::bench::run::calibrated;

/// The longest sleep, so that a stop request is seen in time.
pub(super) const MAX_SLEEP: Duration = Duration::from_millis(10);
/// The interval of housekeeping.
const POLL_INTERVAL: Duration = Duration::from_micros(500);
/// The time without a packet after which the next is not about to arrive.
const QUIET: Duration = Duration::from_micros(50);
/// The interval between warm-up packets.
const DRY: Duration = Duration::from_micros(50);

/// Receives the round whose setup is on standard input.
///
/// # Errors
/// No such core, interface or wait; those of the network.
pub fn run(arguments: &ChildArgs) -> Result<ExitCode> {
    let (setup, page) = arguments.receive::<ReceiverSetup>()?;
    let signals = Signals::take_as_child()?;
    hairpin_host::set_timer_slack(Duration::from_nanos(1))?;
    hairpin_host::name_thread("receiver")?;
    setup.core.map_or(Ok(()), hairpin_host::pin)?;
    let stop_requested = || page.stop_requested() || signals.stop_requested();
    let clock = calibrated();
    let mut outcome = match setup.receiver {
        Receiver::Handler { is_kept_warm } => {
            handler(&setup, clock, is_kept_warm, &stop_requested)?
        }
        Receiver::Bare => bare_receiver::receive(&setup, &stop_requested)?,
        Receiver::Batch => batch::measure(&setup, &clock, &page, &stop_requested)?,
    };
    outcome.interrupted = signals.stop_requested();
    child_protocol::print_line(&outcome)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns line A of the channel, from its one sender.
fn addresses(setup: &ReceiverSetup, transport: &Transport) -> Multicast {
    let line = |groups: [_; 2]| Lines::only_a(Group::new(groups[0], &[setup.source]));
    Multicast {
        incremental: line(setup.groups.incremental),
        instrument: line(setup.groups.instrument),
        snapshot: line(setup.groups.snapshot),
        snapshot_orders: Lines::default(),
        replay: None,
        interface: setup.interface,
        transport: transport.clone(),
    }
}

/// Receives with the feed handler, as a user's program would.
fn handler(
    setup: &ReceiverSetup,
    clock: Clock,
    is_kept_warm: bool,
    stop_requested: &dyn Fn() -> bool,
) -> Result<ReceiverOutcome> {
    let wait: Wait = setup.wait.parse()?;
    let datapath = OpenTransport::open_at(
        &setup.transport,
        setup.interface,
        BufferSize::Default,
        ReceiveStamps::Kernel,
    )?;
    let arrival = Rc::new(ArrivalTime::default());
    let tap = {
        let (arrival, clock) = (Rc::clone(&arrival), clock.clone());
        move |_: &LineAddress, _: Now, _: &Arrival<'_>| arrival.enter(clock.instant())
    };
    let mut feeds = FeedHandlers::new(TappedEngine::new(SocketEngine::new(wait)?, tap));
    let handler = feeds.add(words::channel_settings(), &addresses(setup, datapath.transport()))?;
    let samples = usize::try_from(setup.load.samples).unwrap_or(usize::MAX);
    let probe = Probe::new(clock.clone(), &arrival, samples);
    let warmth = is_kept_warm.then(|| Warmth::new(&clock));
    let idle = Idle::new(clock.instant());
    let warm_up = setup.load.warm_up;
    let mut task = HandlerTask {
        clock,
        feeds,
        handler,
        probe,
        arrival,
        warmth,
        idle,
        warm_up,
        stopped: false,
    };
    RunLoop::with_transport(datapath).run(&mut task, stop_requested)?;
    let HandlerTask { clock, feeds, probe, warmth, .. } = task;
    let counts = ReceiverCounts {
        refused: probe.application.refused() + probe.network.refused(),
        dry: warmth.map_or(0, |warmth| warmth.keep_warm.packets()),
        ..with_lines(probe.counts, &feeds, handler)
    };
    Ok(outcome(setup, &clock, &[&probe.application, &probe.network], counts))
}

/// The feed handler inside the run loop. The clock of its samples is not recalibrated while it
/// measures; the probe's kernel clock is.
struct HandlerTask<E> {
    clock: Clock,
    feeds: FeedHandlers<E>,
    handler: HandlerId,
    probe: Probe,
    arrival: Rc<ArrivalTime>,
    warmth: Option<Warmth>,
    idle: Idle,
    /// Events that are not recorded, until the probe is armed.
    warm_up: u64,
    stopped: bool,
}

impl<E: FeedEngine> Task for HandlerTask<E> {
    #[inline]
    fn turn(&mut self) -> Result<Turn> {
        let Self { clock, feeds, probe, warmth, idle, .. } = self;
        let now = clock.now();
        feeds.wait_until(now, Some(now.monotonic + MAX_SLEEP))?;
        let now = clock.now();
        feeds.process(now, std::slice::from_mut(probe))?;
        let critical = Turn { now: now.monotonic, activity: Activity::Critical };
        if !idle.is_idle(now.monotonic, self.arrival.packets()) {
            warmth.iter_mut().for_each(|warmth| warmth.on_packet(now));
            return Ok(critical);
        }
        warmth.iter_mut().for_each(|warmth| warmth.turn(now, feeds, self.handler));
        if !idle.is_poll_due(now.monotonic) {
            return Ok(critical);
        }
        if !probe.is_armed() && feeds.channel(self.handler).state() == ChannelState::InSync {
            probe.arm(self.warm_up);
            child_protocol::print_line(&Ready {})?;
        }
        Ok(Turn { now: now.monotonic, activity: Activity::Idle })
    }

    fn stop(&mut self, _: Instant) -> Result<()> {
        self.stopped = true;
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.stopped
    }

    fn clock(&mut self) -> Option<&mut Clock> {
        Some(self.probe.kernel_clock())
    }
}

fn with_lines<E: FeedEngine>(
    counts: ReceiverCounts,
    feeds: &FeedHandlers<E>,
    handler: HandlerId,
) -> ReceiverCounts {
    feeds.lines(handler).fold(counts, |counts, line| {
        let (drops, buffer) = (line.kernel_drops, line.receive_buffer.granted as u64);
        counts.plus(ReceiverCounts { drops, buffer, ..ReceiverCounts::default() })
    })
}

pub(super) fn outcome(
    setup: &ReceiverSetup,
    clock: &Clock,
    recorders: &[&Recorder],
    counts: ReceiverCounts,
) -> ReceiverOutcome {
    let measured_by = words::clock_of(clock.source());
    let ReceiverSetup { receiver, transport, wait, load, .. } = setup;
    let settings = words::settings(*receiver, transport.transport, wait, load, measured_by);
    let nothing = Recorder::with_capacity(0);
    let rows = settings.into_iter().zip(recorders);
    let rows = rows.map(|(setting, recorder)| Row::new(setting, recorder, &nothing)).collect();
    ReceiverOutcome { rows, counts, interrupted: false }
}

/// Detects idle turns and times for housekeeping.
pub(super) struct Idle {
    packets: u64,
    heard: Instant,
    next_poll: Instant,
}

impl Idle {
    pub(super) fn new(now: Instant) -> Self {
        Self { packets: 0, heard: now, next_poll: now }
    }

    /// Returns `true` if this turn has received no packet.
    #[inline]
    pub(super) fn is_idle(&mut self, now: Instant, packets: u64) -> bool {
        let is_idle = packets == self.packets;
        if !is_idle {
            (self.packets, self.heard) = (packets, now);
        }
        is_idle
    }

    /// Returns `true` if no packet has arrived for a while and housekeeping is due.
    #[inline]
    pub(super) fn is_poll_due(&mut self, now: Instant) -> bool {
        let is_poll_due = now >= self.next_poll && now >= self.heard + QUIET;
        if is_poll_due {
            self.next_poll = now + POLL_INTERVAL;
        }
        is_poll_due
    }
}

/// Keeps the path warm with packets for a listener of the same type as the real one.
struct Warmth {
    keep_warm: CacheWarmer,
    probe: Probe,
}

impl Warmth {
    fn new(clock: &Clock) -> Self {
        let arrival = Rc::new(ArrivalTime::default());
        arrival.enter(clock.instant());
        let mut probe = Probe::new(clock.clone(), &arrival, 1);
        probe.arm(0);
        Self { keep_warm: CacheWarmer::new(DRY), probe }
    }

    #[inline]
    fn on_packet(&mut self, now: Now) {
        self.keep_warm.on_packet(now.monotonic);
    }

    #[inline]
    fn turn(&mut self, now: Now, feeds: &FeedHandlers<impl FeedEngine>, handler: HandlerId) {
        let dry = std::slice::from_mut(&mut self.probe);
        if feeds.keep_warm(handler, &mut self.keep_warm, now, dry) {
            self.probe.forget();
        }
    }
}
