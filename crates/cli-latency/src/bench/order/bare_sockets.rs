//! Bare sockets: the kernel's share of the latency of an order and its report.

use anyhow::{Result, bail};
use hairpin_cli_harness::child_protocol::ChildPage;
use hairpin_endpoint::{Receive, Stream, TcpOptions, TcpStream};
use hairpin_host::Clock;
use hairpin_measure::ClosedLoop;
use hairpin_reactor::{Interest, Reactor, Wait};
use hairpin_time::{Duration, Instant};

use super::bare_gateway::REPORT_BYTES;
use super::closed_loop_session::{MAX_SLEEP, client_datapath};
use super::samples::{OrderTimes, Samples};
use super::setup::{ClientCounts, ClientOutcome, ClientSetup, ORDER_BYTES};

/// Sends the bytes of an order and waits for the bytes of a report.
///
/// # Errors
/// No such wait; those of the network.
pub(super) fn measure(
    setup: &ClientSetup,
    clock: &Clock,
    page: &ChildPage,
    stop_requested: &dyn Fn() -> bool,
) -> Result<ClientOutcome> {
    let wait: Wait = setup.wait.parse()?;
    let mut reactor = Reactor::new(wait)?;
    let datapath = client_datapath(setup)?;
    let mut stream =
        TcpStream::connect_with(datapath.transport(), setup.gateway, TcpOptions::default())?;
    let token = reactor.add(&mut stream, Interest::WRITABLE)?;
    while !stream.is_connected() {
        let now = clock.instant();
        if reactor.wait(now, Some(now + MAX_SLEEP))?.is_writable(token) {
            stream.finish_connect()?;
        }
    }
    reactor.set_interest(token, &stream, Interest::READABLE)?;
    let load = setup.load;
    let mut samples = Samples::new(setup);
    let mut pace = ClosedLoop::new(clock.instant(), Duration::from_micros(load.interval_us));
    let (mut begun, mut sent) = (Instant::ZERO, Instant::ZERO);
    let (mut answered, mut missing) = (0, 0);
    while answered < load.warm_up + load.samples && !stop_requested() {
        let before = clock.instant();
        let due = pace.next_departure().unwrap_or(before + MAX_SLEEP).min(before + MAX_SLEEP);
        let ready = reactor.wait(before, Some(due))?;
        if let Some(departure) = pace.depart(clock.instant()) {
            samples.departed(departure.lateness);
            begun = clock.instant();
            let written = stream.write(&[0; ORDER_BYTES])?;
            sent = clock.instant();
            if written < ORDER_BYTES {
                bail!("the connection took {written} of {ORDER_BYTES} bytes");
            }
            missing = REPORT_BYTES;
        }
        if !ready.is_readable(token) {
            continue;
        }
        let mut called = None;
        let received = stream.receive(1, |_, bytes| {
            missing = missing.saturating_sub(bytes.len());
            called = (missing == 0).then(|| clock.instant());
        })?;
        if received.closed {
            bail!("the connection closed");
        }
        let Some(called) = called else { continue };
        samples.arrived(&OrderTimes { begun, written: begun, sent, received: called, called });
        answered += 1;
        page.set_ticks(answered);
        pace.answered(clock.instant());
    }
    Ok(samples.outcome(setup, clock, ClientCounts::default()))
}
