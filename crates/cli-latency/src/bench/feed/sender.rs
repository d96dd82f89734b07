//! The sender process of one round: the exchange's publisher on sockets.

use std::process::ExitCode;

use anyhow::Result;
use hairpin_cli_harness::child_protocol::{self, ChildArgs, ChildPage};
use hairpin_cli_harness::signals::Signals;
use hairpin_cli_harness::transport::Transport;
use hairpin_endpoint::{Transmit, UdpSender};
use hairpin_exchange::{MAX_PAYLOAD, Pace};
use hairpin_host::Clock;
use hairpin_measure::{Clock as MeasuredBy, Recorder, Row, Schedule};
use hairpin_time::{Duration, Instant, Now};

use super::feed_case::Receiver;
use super::setup::{self as words, Ready, SenderOutcome, SenderSetup};
use super::update_flow::UpdateFlow;

/// The TTL: packets stay on the link.
const TTL: u8 = 1;
/// The interval between loop packets until the receiver is in sync: longer than a receiver needs.
const LOOP_STEP: Duration = Duration::from_micros(10);
/// The time from the receiver in sync to the first recorded packet, in which the receiver leaves
/// its loops.
const START_DELAY: Duration = Duration::from_millis(20);
/// The time without a due event that is enough for housekeeping.
const QUIET: Duration = Duration::from_micros(50);
/// Without a delay, a loop packet is sent after this many packets, for a receiver that lost one.
const PACKETS_PER_LOOP: u64 = 64;

/// Publishes the round whose setup is on standard input.
///
/// # Errors
/// A core that cannot be used, an interface without multicast, those of the network.
pub fn run(arguments: &ChildArgs) -> Result<ExitCode> {
    let (setup, page) = arguments.receive::<SenderSetup>()?;
    let signals = Signals::take_as_child()?;
    hairpin_host::name_thread("exchange")?;
    setup.core.map_or(Ok(()), hairpin_host::pin)?;
    let clock = Clock::new();
    let mut sender = Sender::open(&setup, clock)?;
    child_protocol::print_line(&Ready {})?;
    let stop_requested = || page.stop_requested() || signals.stop_requested();
    sender.bring_in(|| page.start_allowed(), stop_requested)?;
    let interrupted = sender.publish(&page, stop_requested)?;
    child_protocol::print_line(&sender.outcome(interrupted))?;
    Ok(ExitCode::SUCCESS)
}

struct Sender<'a> {
    setup: &'a SenderSetup,
    clock: Clock,
    flow: UpdateFlow,
    /// Line A of each feed, in the publisher's order.
    lines: [UdpSender; 3],
    packet: Box<[u8; MAX_PAYLOAD]>,
    lateness: Recorder,
    sent: u64,
    unsent: u64,
}

impl<'a> Sender<'a> {
    fn open(setup: &'a SenderSetup, clock: Clock) -> Result<Self> {
        let groups = &setup.groups;
        let open = |group| UdpSender::new(group, setup.interface, TTL);
        let lines =
            [open(groups.incremental[0])?, open(groups.instrument[0])?, open(groups.snapshot[0])?];
        let samples = usize::try_from(setup.load.samples).unwrap_or(usize::MAX);
        let flow = UpdateFlow::new(setup.load.seed, clock.now());
        let packet = Box::new([0; MAX_PAYLOAD]);
        let lateness = Recorder::with_capacity(samples);
        Ok(Self { setup, clock, flow, lines, packet, lateness, sent: 0, unsent: 0 })
    }

    /// Sends the books and then loops until the receiver is in sync.
    fn bring_in(
        &mut self,
        start_allowed: impl Fn() -> bool,
        stop_requested: impl Fn() -> bool,
    ) -> Result<()> {
        let mut next = Instant::ZERO;
        while !start_allowed() && !stop_requested() {
            let now = self.clock.now();
            self.clock.recalibrate_if_due(now.monotonic);
            if now.monotonic >= next {
                next = now.monotonic + LOOP_STEP;
                self.send(now)?;
            }
        }
        Ok(())
    }

    /// Sends each event when it is due. Returns `true` if it was stopped before the last event.
    fn publish(&mut self, page: &ChildPage, stop_requested: impl Fn() -> bool) -> Result<bool> {
        let load = self.setup.load;
        let begin = self.clock.instant();
        self.flow.set_pace(Pace::Paced, begin);
        let interval = Duration::from_micros(load.interval_us);
        let mut schedule = Schedule::new(begin + START_DELAY, interval);
        while schedule.departed() < load.warm_up + load.samples {
            let now = self.clock.now();
            let Some(departure) = schedule.depart(now.monotonic) else {
                if stop_requested() {
                    return Ok(true);
                }
                if schedule.next_departure() > now.monotonic + QUIET {
                    self.clock.recalibrate_if_due(now.monotonic);
                    self.send(now)?;
                }
                continue;
            };
            let lost = self.unsent;
            self.event(now)?;
            if departure.index >= load.warm_up {
                self.lateness.record(departure.lateness);
                self.sent += 1;
            } else {
                self.unsent = lost;
            }
            page.set_ticks(departure.index);
            if departure.index % PACKETS_PER_LOOP == PACKETS_PER_LOOP - 1 && load.interval_us == 0 {
                if stop_requested() {
                    return Ok(true);
                }
                self.send(now)?;
            }
        }
        Ok(false)
    }

    /// Sends all packets of one event.
    fn event(&mut self, now: Now) -> Result<()> {
        self.flow.event(now);
        while self.flow.has_event() {
            self.send(now)?;
        }
        Ok(())
    }

    /// Sends the next packet that is due, if any.
    fn send(&mut self, now: Now) -> Result<()> {
        let Some(sent) = self.flow.transmit(now, &mut self.packet) else { return Ok(()) };
        let Some(line) = self.lines.get_mut(sent.feed as usize) else { return Ok(()) };
        let packet = &self.packet[..sent.length];
        match line.transmit(packet.len(), |buffer| buffer.copy_from_slice(packet)) {
            Err(error) if hairpin_endpoint::is_lost(&error) => {
                self.unsent += u64::from(sent.event.is_some())
            }
            outcome => outcome?,
        }
        Ok(())
    }

    fn outcome(&self, interrupted: bool) -> SenderOutcome {
        let SenderSetup { wait, load, .. } = self.setup;
        let setting =
            words::settings(Receiver::Bare, Transport::Kernel, wait, load, MeasuredBy::Tsc)
                .remove(0);
        let lateness = Row::new(setting, &Recorder::with_capacity(0), &self.lateness);
        SenderOutcome { sent: self.sent, unsent: self.unsent, lateness, interrupted }
    }
}
