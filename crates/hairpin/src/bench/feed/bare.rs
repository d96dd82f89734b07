//! A socket and nothing behind it: what the kernel takes from the receive timestamp to user space.

use anyhow::Result;
use hairpin_endpoint::{MulticastGroup, Receive, UdpOptions, UdpReceiver};
use hairpin_host::Clock;
use hairpin_measure::Recorder;
use hairpin_reactor::{Interest, Reactor, Wait};

use super::flow::PACKET_BYTES;
use super::receiver::{Idle, SLEEP, outcome};
use super::setup::{Counts, Ready, ReceiverOutcome, ReceiverSetup};
use crate::setup;

/// Datagrams taken in one turn, as many as the feed handler's engine takes.
const BUDGET: usize = 64;

/// Receives the incremental feed by a socket like the feed handler's, and the same wait.
///
/// # Errors
/// No such wait or interface; the network's.
pub(super) fn receive(
    setup: &ReceiverSetup,
    asked_to_stop: &dyn Fn() -> bool,
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
    let mut clock = Clock::from_kernel();
    let samples = usize::try_from(setup.load.samples).unwrap_or(usize::MAX);
    let mut samples = Samples { skip: setup.load.warm_up, ..Samples::new(samples) };
    let mut idle = Idle::new(clock.instant());
    setup::say(&Ready {})?;
    loop {
        let now = clock.instant();
        let ready = reactor.wait(now, Some(now + SLEEP))?;
        if ready.is_readable(token) {
            receiver.receive(BUDGET, |meta, bytes| {
                let utc = clock.now().utc;
                // Heartbeats and the books that were sent before are of other lengths.
                if bytes.len() == PACKET_BYTES {
                    samples.note(meta.timestamp.utc().map(|stamp| utc.saturating_since(stamp)));
                }
            })?;
        }
        let now = clock.instant();
        if idle.is_idle(now, samples.packets) && idle.may_look(now) {
            clock.recalibrate_if_due(now);
            if asked_to_stop() {
                break;
            }
        }
    }
    let counts = Counts {
        unstamped: samples.unstamped,
        drops: receiver.dropped(),
        refused: samples.network.refused(),
        buffer: receiver.receive_buffer().granted as u64,
        ..Counts::default()
    };
    Ok(outcome(setup, &clock, &[&samples.network], counts))
}

struct Samples {
    network: Recorder,
    packets: u64,
    /// Packets that are not recorded yet.
    skip: u64,
    unstamped: u64,
}

impl Samples {
    fn new(samples: usize) -> Self {
        let network = Recorder::with_capacity(samples);
        Self { network, packets: 0, skip: 0, unstamped: 0 }
    }

    #[inline]
    fn note(&mut self, sample: Option<hairpin_time::Duration>) {
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
