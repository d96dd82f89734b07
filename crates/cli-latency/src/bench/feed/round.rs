//! One round: starts a sender and a receiver process, watches them, and reads the results.

use std::time::{Duration, Instant};

use anyhow::Result;
use hairpin_cli_harness::host_pair::Role;
use hairpin_cli_harness::transport::TransportArgs;
use hairpin_measure::{Clock, Row};

use super::feed_case::{FeedCase, Receiver};
use super::setup::{self, Ready, ReceiverOutcome, ReceiverSetup, SenderOutcome, SenderSetup};
use crate::bench::bench_context::{BenchContext, MonitoredChild, TIMEOUT};

/// The time between the last packet and the end of the receiver, for packets in flight.
const SETTLE: Duration = Duration::from_millis(50);

/// The results of one round.
pub(super) struct Outcome {
    /// The receiver's results, with complete rows.
    pub(super) received: ReceiverOutcome,
    /// Recorded packets that the interface could not send.
    pub(super) unsent: u64,
}

/// Runs one round. `told` receives the number of packets sent.
///
/// # Errors
/// A process that cannot be started, fails (with its error message) or does not exit.
pub(super) fn run(
    context: &BenchContext<'_>,
    case: &FeedCase,
    told: &mut dyn FnMut(u64),
) -> Result<Outcome> {
    let length = length(case);
    let start_receiver = || {
        let setup = receiver_setup(context, case);
        MonitoredChild::start(context.hosts, Role::Receiver, case.transport, &setup)
    };
    if case.receiver == Receiver::Batch {
        let receiver = start_receiver()?;
        let received = context.wait(receiver, None, length, told)?;
        return Ok(Outcome { received, unsent: 0 });
    }
    let begun = Instant::now();
    let setup = sender_setup(context, case);
    let kernel = TransportArgs::default();
    let mut sender = MonitoredChild::start(context.hosts, Role::Sender, kernel, &setup)?;
    let _: Ready = sender.side.line(TIMEOUT)?;
    let mut receiver = start_receiver()?;
    let _: Ready =
        context.ready(&mut receiver, &mut sender, "the receiver does not get in sync")?;
    let start = begun.elapsed();
    sender.page.allow_start();
    let sent: SenderOutcome = context.wait(sender, Some(&mut receiver.side), length, told)?;
    std::thread::sleep(SETTLE);
    receiver.page.request_stop();
    let mut received: ReceiverOutcome = receiver.side.line(TIMEOUT)?;
    receiver.side.end()?;
    received.interrupted |= sent.interrupted;
    let start_ns = u64::try_from(start.as_nanos()).ok();
    for row in &mut received.rows {
        complete(row, &sent);
        row.start_ns = start_ns;
    }
    Ok(Outcome { received, unsent: sent.unsent })
}

/// Returns rows that contain the reason of a failure.
pub(super) fn failed(case: &FeedCase, reason: &str) -> Vec<Row> {
    let (transport, wait) = (case.transport.transport, case.wait.name());
    let settings = setup::settings(case.receiver, transport, wait, &case.load, clock());
    settings.into_iter().map(|setting| Row::failed(setting, reason)).collect()
}

fn sender_setup(context: &BenchContext<'_>, case: &FeedCase) -> SenderSetup {
    SenderSetup {
        groups: context.hosts.groups,
        interface: context.hosts.address(Role::Sender),
        core: context.cores.exchange,
        load: case.load,
        wait: case.wait.to_string(),
    }
}

fn receiver_setup(context: &BenchContext<'_>, case: &FeedCase) -> ReceiverSetup {
    ReceiverSetup {
        groups: context.hosts.groups,
        interface: context.hosts.address(Role::Receiver),
        source: context.hosts.address(Role::Sender),
        core: context.cores.trader,
        wait: case.wait.to_string(),
        receiver: case.receiver,
        transport: case.transport,
        load: case.load,
    }
}

/// Returns the clock of the children's rows.
fn clock() -> Clock {
    setup::clock_of(hairpin_host::Clock::new().source())
}

/// Adds the lateness and the lost packets to a receiver's row.
fn complete(row: &mut Row, sent: &SenderOutcome) {
    let SenderOutcome { sent, lateness, .. } = sent;
    row.lost = sent.saturating_sub(row.samples);
    row.late = lateness.late;
    row.lateness_p50 = lateness.lateness_p50;
    row.lateness_p99 = lateness.lateness_p99;
    row.lateness_histogram.clone_from(&lateness.lateness_histogram);
}

/// Returns the longest duration of a round.
fn length(case: &FeedCase) -> Duration {
    // Without a delay a packet takes a few microseconds; a batch of 64, with its creation, takes
    // some hundred.
    let each = case.load.interval_us.max(1_000);
    Duration::from_micros((case.load.warm_up + case.load.samples).saturating_mul(each))
}

#[cfg(test)]
mod tests {
    use hairpin_cli_harness::transport::Transport;
    use hairpin_measure::{Recorder, Setting};
    use hairpin_time::Duration as Span;

    use super::*;
    use crate::bench::feed::feed_case::Load;

    fn recorder(samples: impl IntoIterator<Item = u64>) -> Recorder {
        let samples: Vec<u64> = samples.into_iter().collect();
        let mut recorder = Recorder::with_capacity(samples.len());
        samples.into_iter().for_each(|nanos| recorder.record(Span::from_nanos(nanos)));
        recorder
    }

    #[test]
    fn counts_unrecorded_as_lost_and_lateness_of_sender() {
        let load = Load { interval_us: 5_000, warm_up: 0, samples: 100, seed: 1 };
        let setting = |_: ()| -> Setting {
            setup::settings(Receiver::Bare, Transport::Kernel, "spin", &load, Clock::Tsc).remove(0)
        };
        let late = recorder(std::iter::repeat_n(300_000, 100));
        let lateness = Row::new(setting(()), &recorder([]), &late);
        let sent = SenderOutcome { sent: 100, unsent: 0, lateness, interrupted: false };
        let mut row = Row::new(setting(()), &recorder(1..98), &recorder([]));
        complete(&mut row, &sent);
        assert_eq!((row.lost, row.late, row.lateness_p50), (3, true, Some(300_000)));
        assert!(row.validate().is_ok());
    }
}
