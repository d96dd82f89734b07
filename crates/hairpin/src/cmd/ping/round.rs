//! One round: a pong and a ping as two processes, started, watched and asked for the result.

use std::net::SocketAddrV4;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use hairpin_measure::Row;

use super::args::Cores;
use super::ping_case::Cell;
use super::ping_loop::PATIENCE as ANSWER_PATIENCE;
use super::setup::{
    PingOutcome, PingReady, PingSetup, Place, PongOutcome, PongReady, PongSetup, Protocol, Stamping,
};
use crate::harness::host_pair::{Ground, Role};
use crate::cmd::pong::Slowness;
use crate::harness::t2t_setup::Page;
use crate::harness::child_process::Side;
use crate::harness::signals::Signals;
use crate::harness::transport;

/// How often the parent looks at progress and signals: seldom, because where there are two cores
/// it takes its time from one of the two processes it watches.
const LOOK: Duration = Duration::from_millis(100);
/// For a side to begin, and to end after its last message.
const PATIENCE: Duration = Duration::from_secs(20);
/// Between the end of a flood and that of its pong: what is on the way arrives.
const SETTLE: Duration = Duration::from_millis(50);

/// Where rounds are run, and what they have in common.
pub(super) struct Stand<'a> {
    pub(super) ground: &'a Ground,
    pub(super) cores: Cores,
    /// The pong that is there already; else one is started.
    pub(super) remote: Option<Place>,
    pub(super) transport: transport::Arguments,
    pub(super) slowness: Slowness,
    pub(super) stamping: Stamping,
    pub(super) signals: &'a Signals,
}

/// What is heard of a round while it is run.
pub(super) enum News<'a> {
    /// So many pings have left.
    Sent(u64),
    /// What a side stands on past the kernel.
    Way(&'static str, &'a str),
}

/// What one round gave.
pub(super) struct Outcome {
    pub(super) ping: PingOutcome,
    /// `None` of a pong that is not ours.
    pub(super) pong: Option<PongOutcome>,
}

/// A round that cannot be run in these surroundings, whatever its setting.
#[derive(Debug, thiserror::Error)]
#[error("the pong cannot start")]
pub(super) struct NotReady;

impl Stand<'_> {
    /// Runs one round. `told` hears of it meanwhile.
    ///
    /// # Errors
    /// A side that cannot be started, that fails (with its own words), or that does not end.
    pub(super) fn round(&self, cell: &Cell, told: impl FnMut(News<'_>)) -> Result<Outcome> {
        let Some(remote) = self.remote else { return self.round_of_both(cell, told) };
        let ping = self.ping(cell, remote, None, told)?;
        Ok(Outcome { ping, pong: None })
    }

    fn round_of_both(&self, cell: &Cell, mut told: impl FnMut(News<'_>)) -> Result<Outcome> {
        let page = Page::create()?;
        let mut pong = Side::start(self.ground, Role::Pong, &page, &self.pong_setup(cell))?;
        let ready: PongReady = pong.line(PATIENCE).map_err(|error| error.context(NotReady))?;
        if let Some(way) = &ready.way {
            told(News::Way(pong.name(), way));
        }
        let ping = self.ping(cell, ready.place, Some(&mut pong), told)?;
        if cell.flood_ms.is_some() {
            std::thread::sleep(SETTLE);
        }
        page.ask_to_stop();
        let outcome = pong.line(PATIENCE)?;
        pong.end()?;
        Ok(Outcome { ping, pong: Some(outcome) })
    }

    /// The ping's side, while the pong's is watched.
    fn ping(
        &self,
        cell: &Cell,
        remote: Place,
        mut pong: Option<&mut Side>,
        mut told: impl FnMut(News<'_>),
    ) -> Result<PingOutcome> {
        let page = Page::create()?;
        let setup = self.ping_setup(cell, remote);
        let mut ping = Side::start(self.ground, Role::Ping, &page, &setup)?;
        let ready: PingReady = ping.line(PATIENCE)?;
        if let Some(way) = &ready.way {
            told(News::Way(ping.name(), way));
        }
        let mut deadline = Instant::now() + length(cell) + PATIENCE;
        let mut asked = false;
        let outcome = loop {
            match ping.poll_line(LOOK)? {
                Some(outcome) => break outcome,
                None => told(News::Sent(page.ticks())),
            }
            if let Some(words) = pong.as_mut().and_then(|pong| pong.failed().transpose()) {
                bail!("pong: {}", words?);
            }
            if self.signals.asked_to_stop() && !asked {
                page.ask_to_stop();
                deadline = Instant::now() + PATIENCE;
                asked = true;
            }
            if Instant::now() > deadline {
                bail!("the ping did not end the round in time");
            }
        };
        told(News::Sent(page.ticks()));
        ping.end()?;
        Ok(outcome)
    }

    /// Rows that say why there is nothing in them.
    pub(super) fn failed(&self, cell: &Cell, reason: &str) -> Vec<Row> {
        let setup = self.ping_setup(cell, Place::NOWHERE);
        let source = setup.stamping.clock().source();
        if cell.flood_ms.is_some() {
            return vec![Row::failed(setup.flood_setting(source), reason)];
        }
        let is_open = cell.load.interval_ns > 0;
        let settings = setup.settings(source).into_iter().take(1 + usize::from(is_open));
        settings.map(|setting| Row::failed(setting, reason)).collect()
    }

    /// What a ping of this cell is told, for a pong at `remote`.
    pub(super) fn ping_setup(&self, cell: &Cell, remote: Place) -> PingSetup {
        PingSetup {
            protocol: cell.protocol,
            remote,
            interface: self.ground.address(Role::Ping),
            device: self.ground.interface(Role::Ping).to_owned(),
            transport: self.transport,
            wait: cell.wait.to_string(),
            core: self.cores.ping,
            size: cell.size,
            load: cell.load,
            flood_ms: cell.flood_ms,
            stamping: self.stamping,
        }
    }

    fn pong_setup(&self, cell: &Cell) -> PongSetup {
        let interface = self.ground.address(Role::Pong);
        let group = self.ground.groups.incremental[0];
        PongSetup {
            protocol: cell.protocol,
            address: match cell.protocol {
                Protocol::Multicast => group,
                Protocol::Udp | Protocol::Tcp => SocketAddrV4::new(interface, 0),
                Protocol::Raw => Place::NOWHERE.address,
            },
            interface,
            device: self.ground.interface(Role::Pong).to_owned(),
            transport: self.transport,
            wait: cell.pong_wait.to_string(),
            core: self.cores.pong,
            slowness: self.slowness,
            is_flood: cell.flood_ms.is_some(),
            size_max: cell.size,
        }
    }
}

/// How long a round takes at the most: in a closed loop each ping may be one that is lost.
fn length(cell: &Cell) -> Duration {
    if let Some(ms) = cell.flood_ms {
        return Duration::from_millis(ms);
    }
    let pings = cell.load.warm_up + cell.load.samples;
    let each = match cell.load.interval_ns {
        0 => ANSWER_PATIENCE.as_nanos(),
        nanos => nanos,
    };
    Duration::from_nanos(pings.saturating_mul(each))
        + Duration::from_nanos(cell.load.warm_up * ANSWER_PATIENCE.as_nanos())
}
