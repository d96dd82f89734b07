//! One round: a gateway and a client as two processes.

use std::net::SocketAddrV4;
use std::time::{Duration, Instant};

use anyhow::Result;
use hairpin_measure::{Clock, Row};

use super::order_case::{Cell, Subject};
use super::setup::{self, ClientOutcome, ClientSetup, GatewaySetup, Ready};
use crate::cmd::bench::bench_context::{PATIENCE, Stand, Told};
use crate::harness::host_pair::Role;

/// Of a client that needs no gateway.
const NOWHERE: SocketAddrV4 = SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, 1);

/// Runs one round. `told` hears how many orders were answered.
///
/// # Errors
/// A side that cannot be started, that fails (with its own words), or that does not end.
pub(super) fn run(
    stand: &Stand<'_>,
    cell: &Cell,
    told: &mut dyn FnMut(u64),
) -> Result<ClientOutcome> {
    let start =
        |gateway| Told::start(stand.ground, Role::Client, &client_setup(stand, cell, gateway));
    if cell.subject == Subject::Batch {
        return stand.wait(start(NOWHERE)?, None, length(cell), told);
    }
    let begun = Instant::now();
    let mut gateway = Told::start(stand.ground, Role::Gateway, &gateway_setup(stand, cell))?;
    let Ready { address } = gateway.side.line(PATIENCE)?;
    let client = start(address)?;
    let start_ns = u64::try_from(begun.elapsed().as_nanos()).ok();
    let mut outcome: ClientOutcome =
        stand.wait(client, Some(&mut gateway.side), length(cell), told)?;
    gateway.page.ask_to_stop();
    gateway.side.end()?;
    outcome.rows.iter_mut().for_each(|row| row.start_ns = start_ns);
    Ok(outcome)
}

/// Rows that say why there is nothing in them.
pub(super) fn failed(cell: &Cell, reason: &str) -> Vec<Row> {
    let settings = setup::settings(cell.subject, cell.wait.name(), &cell.load, clock());
    settings.into_iter().map(|setting| Row::failed(setting, reason)).collect()
}

/// What the client's rows are measured with.
fn clock() -> Clock {
    setup::clock_of(hairpin_host::Clock::new().source())
}

fn gateway_setup(stand: &Stand<'_>, cell: &Cell) -> GatewaySetup {
    GatewaySetup {
        address: SocketAddrV4::new(stand.ground.address(Role::Gateway), 0),
        core: stand.cores.exchange,
        subject: cell.subject,
        seed: cell.load.seed,
    }
}

fn client_setup(stand: &Stand<'_>, cell: &Cell, gateway: SocketAddrV4) -> ClientSetup {
    ClientSetup {
        gateway,
        core: stand.cores.trader,
        wait: cell.wait.to_string(),
        subject: cell.subject,
        load: cell.load,
    }
}

/// How long a round takes at the most.
fn length(cell: &Cell) -> Duration {
    // There and back takes some ten microseconds, where it sleeps some hundred; so does a batch.
    // Who has to share its core waits for its turn, twice a way: the next order waits with it.
    let each = cell.load.interval_us + 20_000;
    Duration::from_micros((cell.load.warm_up + cell.load.samples).saturating_mul(each))
}
