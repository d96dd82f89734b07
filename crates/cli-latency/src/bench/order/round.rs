//! One round: a gateway and a client process.

use std::net::SocketAddrV4;
use std::time::{Duration, Instant};

use anyhow::Result;
use hairpin_cli_harness::host_pair::Role;
use hairpin_measure::{Clock, Row};

use super::order_case::{OrderCase, Subject};
use super::setup::{self, ClientOutcome, ClientSetup, GatewaySetup, Ready};
use crate::bench::bench_context::{BenchContext, MonitoredChild, TIMEOUT};

/// The address for a client that needs no gateway.
const NOWHERE: SocketAddrV4 = SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, 1);

/// Runs one round. `told` receives the number of orders answered.
///
/// # Errors
/// A process that cannot be started, fails (with its error message) or does not exit.
pub(super) fn run(
    context: &BenchContext<'_>,
    case: &OrderCase,
    told: &mut dyn FnMut(u64),
) -> Result<ClientOutcome> {
    let start = |gateway| {
        let setup = client_setup(context, case, gateway);
        MonitoredChild::start(context.hosts, Role::Client, case.transport, &setup)
    };
    if case.subject == Subject::Batch {
        return context.wait(start(NOWHERE)?, None, length(case), told);
    }
    let begun = Instant::now();
    let setup = gateway_setup(context, case);
    let mut gateway = MonitoredChild::start(context.hosts, Role::Gateway, case.transport, &setup)?;
    let Ready { address } = gateway.side.line(TIMEOUT)?;
    let client = start(address)?;
    let start_ns = u64::try_from(begun.elapsed().as_nanos()).ok();
    let mut outcome: ClientOutcome =
        context.wait(client, Some(&mut gateway.side), length(case), told)?;
    gateway.page.request_stop();
    gateway.side.end()?;
    outcome.rows.iter_mut().for_each(|row| row.start_ns = start_ns);
    Ok(outcome)
}

/// Returns rows that contain the reason of a failure.
pub(super) fn failed(case: &OrderCase, reason: &str) -> Vec<Row> {
    let (transport, wait) = (case.transport.transport, case.wait.name());
    let settings = setup::settings(case.subject, transport, wait, &case.load, clock());
    settings.into_iter().map(|setting| Row::failed(setting, reason)).collect()
}

/// Returns the clock of the client's rows.
fn clock() -> Clock {
    setup::clock_of(hairpin_host::Clock::new().source())
}

fn gateway_setup(context: &BenchContext<'_>, case: &OrderCase) -> GatewaySetup {
    GatewaySetup {
        address: SocketAddrV4::new(context.hosts.address(Role::Gateway), 0),
        core: context.cores.exchange,
        transport: case.transport,
        subject: case.subject,
        seed: case.load.seed,
    }
}

fn client_setup(
    context: &BenchContext<'_>,
    case: &OrderCase,
    gateway: SocketAddrV4,
) -> ClientSetup {
    ClientSetup {
        gateway,
        interface: context.hosts.address(Role::Client),
        core: context.cores.trader,
        transport: case.transport,
        wait: case.wait.to_string(),
        subject: case.subject,
        load: case.load,
    }
}

/// Returns the longest duration of a round.
fn length(case: &OrderCase) -> Duration {
    // A round trip or a batch takes some ten microseconds, some hundred with a sleep. On a shared
    // core each direction waits for a time slice.
    let each = case.load.interval_us + 20_000;
    Duration::from_micros((case.load.warm_up + case.load.samples).saturating_mul(each))
}
