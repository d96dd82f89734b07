//! The receiver of one round: its set-up on standard input, what it measured on standard output.

use std::process::ExitCode;
use std::rc::Rc;

use anyhow::Result;
use hairpin_feed_handler::{
    Arrival, CacheWarmer, ChannelState, FeedEngine, FeedHandlers, Group, HandlerId, LineAddress,
    Lines, Multicast, SocketEngine, TappedEngine, Transport,
};
use hairpin_host::Clock;
use hairpin_measure::{Recorder, Row};
use hairpin_reactor::Wait;
use hairpin_time::{Duration, Instant, Now};
use hairpin_xdp::ReceiveStamps;

use super::plan::Receiver;
use super::probe::{Entrance, Probe};
use super::setup::{self as words, Counts, Ready, ReceiverOutcome, ReceiverSetup};
use super::{bare, batch};
use crate::bench::run::calibrated;
use crate::setup::{self, ChildArguments};
use crate::signals::Signals;
use crate::way::{Room, Way};

/// The longest sleep: so soon the end is heard.
pub(super) const SLEEP: Duration = Duration::from_millis(10);
/// Between looks at what need not be done at every turn.
const LOOK: Duration = Duration::from_micros(500);
/// Nothing has come for so long: the next packet is not about to.
const QUIET: Duration = Duration::from_micros(50);
/// Between dry packets.
const DRY: Duration = Duration::from_micros(50);

/// Receives the round that standard input describes.
///
/// # Errors
/// No such core or interface; no such wait; the network's.
pub(crate) fn run(arguments: &ChildArguments) -> Result<ExitCode> {
    let (setup, page) = arguments.receive::<ReceiverSetup>()?;
    let signals = Signals::take_as_child()?;
    hairpin_host::set_timer_slack(Duration::from_nanos(1))?;
    hairpin_host::name_thread("receiver")?;
    setup.core.map_or(Ok(()), hairpin_host::pin)?;
    let asked_to_stop = || page.asked_to_stop() || signals.asked_to_stop();
    let clock = calibrated();
    let mut outcome = match setup.receiver {
        Receiver::Handler { is_kept_warm } => handler(&setup, clock, is_kept_warm, &asked_to_stop)?,
        Receiver::Bare => bare::receive(&setup, &asked_to_stop)?,
        Receiver::Batch => batch::measure(&setup, &clock, &page, &asked_to_stop)?,
    };
    outcome.interrupted = signals.asked_to_stop();
    setup::say(&outcome)?;
    Ok(ExitCode::SUCCESS)
}

/// Side A of the channel, from its one sender.
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

/// Receives by the feed handler, as a user's program would.
fn handler(
    setup: &ReceiverSetup,
    clock: Clock,
    is_kept_warm: bool,
    asked_to_stop: &dyn Fn() -> bool,
) -> Result<ReceiverOutcome> {
    let wait: Wait = setup.wait.parse()?;
    let mut way = Way::at(&setup.transport, setup.interface, Room::Usual, ReceiveStamps::Kernel)?;
    let entrance = Rc::new(Entrance::default());
    let tap = {
        let (entrance, clock) = (Rc::clone(&entrance), clock.clone());
        move |_: &LineAddress, _: Now, _: &Arrival<'_>| entrance.enter(clock.instant())
    };
    let mut feeds = FeedHandlers::new(TappedEngine::new(SocketEngine::new(wait)?, tap));
    let handler = feeds.add(words::channel_settings(), &addresses(setup, way.transport()))?;
    let samples = usize::try_from(setup.load.samples).unwrap_or(usize::MAX);
    let mut probe = Probe::new(clock.clone(), &entrance, samples);
    let mut warmth = is_kept_warm.then(|| Warmth::new(&clock));
    let mut idle = Idle::new(clock.instant());
    let mut is_armed = false;
    loop {
        let now = clock.now();
        feeds.wait_until(now, Some(now.monotonic + SLEEP))?;
        let now = clock.now();
        feeds.process(now, std::slice::from_mut(&mut probe))?;
        if !idle.is_idle(now.monotonic, entrance.packets()) {
            warmth.iter_mut().for_each(|warmth| warmth.hear(now));
            continue;
        }
        warmth.iter_mut().for_each(|warmth| warmth.turn(now, &feeds, handler));
        if !idle.may_look(now.monotonic) {
            continue;
        }
        probe.recalibrate_if_due(now.monotonic);
        way.tell_if_due(now.monotonic, true);
        if !is_armed && feeds.channel(handler).state() == ChannelState::InSync {
            is_armed = true;
            probe.arm(setup.load.warm_up);
            setup::say(&Ready {})?;
        }
        if asked_to_stop() {
            break;
        }
    }
    let counts = Counts {
        refused: probe.application.refused() + probe.network.refused(),
        dry: warmth.map_or(0, |warmth| warmth.keep_warm.packets()),
        ..with_lines(probe.counts, &feeds, handler)
    };
    Ok(outcome(setup, &clock, &[&probe.application, &probe.network], counts))
}

fn with_lines<E: FeedEngine>(
    counts: Counts,
    feeds: &FeedHandlers<E>,
    handler: HandlerId,
) -> Counts {
    feeds.lines(handler).fold(counts, |counts, line| {
        let (drops, buffer) = (line.kernel_drops, line.receive_buffer.granted as u64);
        counts.plus(Counts { drops, buffer, ..Counts::default() })
    })
}

pub(super) fn outcome(
    setup: &ReceiverSetup,
    clock: &Clock,
    recorders: &[&Recorder],
    counts: Counts,
) -> ReceiverOutcome {
    let measured_by = words::clock_of(clock.source());
    let ReceiverSetup { receiver, transport, wait, load, .. } = setup;
    let settings = words::settings(*receiver, transport.transport, wait, load, measured_by);
    let nothing = Recorder::with_capacity(0);
    let rows = settings.into_iter().zip(recorders);
    let rows = rows.map(|(setting, recorder)| Row::new(setting, recorder, &nothing)).collect();
    ReceiverOutcome { rows, counts, interrupted: false }
}

/// Tells whether anything comes, and when there is time for what is not urgent.
pub(super) struct Idle {
    packets: u64,
    heard: Instant,
    next_look: Instant,
}

impl Idle {
    pub(super) fn new(now: Instant) -> Self {
        Self { packets: 0, heard: now, next_look: now }
    }

    /// Whether this turn has brought nothing.
    #[inline]
    pub(super) fn is_idle(&mut self, now: Instant, packets: u64) -> bool {
        let is_idle = packets == self.packets;
        if !is_idle {
            (self.packets, self.heard) = (packets, now);
        }
        is_idle
    }

    /// Whether nothing has come for a while, now and then.
    #[inline]
    pub(super) fn may_look(&mut self, now: Instant) -> bool {
        let may_look = now >= self.next_look && now >= self.heard + QUIET;
        if may_look {
            self.next_look = now + LOOK;
        }
        may_look
    }
}

/// What keeps the path warm: dry packets, to a listener of the very type of the real one.
struct Warmth {
    keep_warm: CacheWarmer,
    probe: Probe,
}

impl Warmth {
    fn new(clock: &Clock) -> Self {
        let entrance = Rc::new(Entrance::default());
        entrance.enter(clock.instant());
        let mut probe = Probe::new(clock.clone(), &entrance, 1);
        probe.arm(0);
        Self { keep_warm: CacheWarmer::new(DRY), probe }
    }

    #[inline]
    fn hear(&mut self, now: Now) {
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
