//! A socket without a feed handler: the kernel's share of the latency, from receive timestamp to
//! user space.

use anyhow::Result;
use hairpin_cli_harness::child_protocol;
use hairpin_cli_harness::run_loop::{Activity, RunLoop, Task, Turn};
use hairpin_endpoint::{MulticastGroup, Receive, UdpOptions, UdpReceiver};
use hairpin_host::Clock;
use hairpin_measure::Recorder;
use hairpin_reactor::{Interest, Reactor, Token, Wait};
use hairpin_time::Instant;

use super::receiver::{Idle, MAX_SLEEP, outcome};
use super::setup::{Ready, ReceiverCounts, ReceiverOutcome, ReceiverSetup};
use super::update_flow::PACKET_BYTES;

/// The datagrams received per turn, the same as in the feed handler's engine.
const BUDGET: usize = 64;

/// Receives the incremental feed with a socket and a wait like the feed handler's.
///
/// # Errors
/// No such wait or interface; those of the network.
pub(super) fn receive(
    setup: &ReceiverSetup,
    stop_requested: &dyn Fn() -> bool,
) -> Result<ReceiverOutcome> {
    let wait: Wait = setup.wait.parse()?;
    let mut reactor = Reactor::new(wait)?;
    let group = MulticastGroup {
        group: setup.groups.incremental[0],
        interface: setup.interface,
        sources: &[setup.source],
    };
    let mut receiver = UdpReceiver::join(group, UdpOptions::default())?;
    let token = reactor.add(&mut receiver, Interest::READABLE)?;
    let clock = Clock::from_kernel();
    let samples = usize::try_from(setup.load.samples).unwrap_or(usize::MAX);
    let samples = Samples { skip: setup.load.warm_up, ..Samples::new(samples) };
    let idle = Idle::new(clock.instant());
    child_protocol::print_line(&Ready {})?;
    let mut task = BareTask { clock, reactor, receiver, token, samples, idle, stopped: false };
    RunLoop::default().run(&mut task, stop_requested)?;
    let BareTask { clock, receiver, samples, .. } = task;
    let counts = ReceiverCounts {
        unstamped: samples.unstamped,
        drops: receiver.dropped(),
        refused: samples.network.refused(),
        buffer: receiver.receive_buffer().granted as u64,
        ..ReceiverCounts::default()
    };
    Ok(outcome(setup, &clock, &[&samples.network], counts))
}

/// The socket inside the run loop.
struct BareTask {
    clock: Clock,
    reactor: Reactor,
    receiver: UdpReceiver,
    token: Token,
    samples: Samples,
    idle: Idle,
    stopped: bool,
}

impl Task for BareTask {
    #[inline]
    fn turn(&mut self) -> Result<Turn> {
        let Self { clock, reactor, receiver, samples, idle, .. } = self;
        let now = clock.instant();
        let ready = reactor.wait(now, Some(now + MAX_SLEEP))?;
        if ready.is_readable(self.token) {
            receiver.receive(BUDGET, |meta, bytes| {
                let utc = clock.now().utc;
                // Heartbeats and the first snapshots have other lengths.
                if bytes.len() == PACKET_BYTES {
                    samples.record(meta.timestamp.utc().map(|stamp| utc.saturating_since(stamp)));
                }
            })?;
        }
        let now = clock.instant();
        let is_idle = idle.is_idle(now, samples.packets) && idle.is_poll_due(now);
        Ok(Turn { now, activity: if is_idle { Activity::Idle } else { Activity::Critical } })
    }

    fn stop(&mut self, _: Instant) -> Result<()> {
        self.stopped = true;
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.stopped
    }

    fn clock(&mut self) -> Option<&mut Clock> {
        Some(&mut self.clock)
    }
}

struct Samples {
    network: Recorder,
    packets: u64,
    /// The packets that are not recorded yet.
    skip: u64,
    unstamped: u64,
}

impl Samples {
    fn new(samples: usize) -> Self {
        let network = Recorder::with_capacity(samples);
        Self { network, packets: 0, skip: 0, unstamped: 0 }
    }

    #[inline]
    fn record(&mut self, sample: Option<hairpin_time::Duration>) {
        self.packets += 1;
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        match sample {
            Some(sample) => self.network.record(sample),
            None => self.unstamped += 1,
        }
    }
}
