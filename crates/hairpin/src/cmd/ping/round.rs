//! One round: a pong and a ping as two processes, started, watched and asked for the result.

use std::net::SocketAddrV4;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use hairpin_measure::Row;

use super::args::Cores;
use super::ping_case::PingCase;
use super::ping_loop::TIMEOUT as ANSWER_TIMEOUT;
use super::setup::{
    PingOutcome, PingReady, PingSetup, PongAddress, PongOutcome, PongReady, PongSetup, Protocol,
    Stamping,
};
use crate::cmd::pong::Slowness;
use crate::harness::child_process::ChildProcess;
use crate::harness::host_pair::{HostPair, Role};
use crate::harness::signals::Signals;
use crate::harness::t2t_setup::ChildCounters;
use crate::harness::transport;

/// How often the parent looks at progress and signals: seldom, because where there are two cores
/// it takes its time from one of the two processes it watches.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// For a side to begin, and to end after its last message.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Between the end of a flood and that of its pong: what is on the way arrives.
const SETTLE: Duration = Duration::from_millis(50);

/// Where rounds are run, and what they have in common.
pub(super) struct PingContext<'a> {
    pub(super) ground: &'a HostPair,
    pub(super) cores: Cores,
    /// The pong that is there already; else one is started.
    pub(super) remote: Option<PongAddress>,
    pub(super) transport: transport::TransportArgs,
    pub(super) slowness: Slowness,
    pub(super) stamping: Stamping,
    pub(super) signals: &'a Signals,
}

/// What is heard of a round while it is run.
pub(super) enum RoundEvent<'a> {
    /// So many pings have left.
    Sent(u64),
    /// What a side stands on past the kernel.
    Datapath(&'static str, &'a str),
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

impl PingContext<'_> {
    /// Runs one round. `told` hears of it meanwhile.
    ///
    /// # Errors
    /// A side that cannot be started, that fails (with its own words), or that does not end.
    pub(super) fn round(
        &self,
        case: &PingCase,
        told: impl FnMut(RoundEvent<'_>),
    ) -> Result<Outcome> {
        let Some(remote) = self.remote else { return self.round_of_both(case, told) };
        let ping = self.ping(case, remote, None, told)?;
        Ok(Outcome { ping, pong: None })
    }

    fn round_of_both(
        &self,
        case: &PingCase,
        mut told: impl FnMut(RoundEvent<'_>),
    ) -> Result<Outcome> {
        let page = ChildCounters::create()?;
        let mut pong = ChildProcess::start(self.ground, Role::Pong, &page, &self.pong_setup(case))?;
        let ready: PongReady = pong.line(TIMEOUT).map_err(|error| error.context(NotReady))?;
        if let Some(datapath) = &ready.datapath {
            told(RoundEvent::Datapath(pong.name(), datapath));
        }
        let ping = self.ping(case, ready.place, Some(&mut pong), told)?;
        if case.flood_ms.is_some() {
            std::thread::sleep(SETTLE);
        }
        page.request_stop();
        let outcome = pong.line(TIMEOUT)?;
        pong.end()?;
        Ok(Outcome { ping, pong: Some(outcome) })
    }

    /// The ping's side, while the pong's is watched.
    fn ping(
        &self,
        case: &PingCase,
        remote: PongAddress,
        mut pong: Option<&mut ChildProcess>,
        mut told: impl FnMut(RoundEvent<'_>),
    ) -> Result<PingOutcome> {
        let page = ChildCounters::create()?;
        let setup = self.ping_setup(case, remote);
        let mut ping = ChildProcess::start(self.ground, Role::Ping, &page, &setup)?;
        let ready: PingReady = ping.line(TIMEOUT)?;
        if let Some(datapath) = &ready.datapath {
            told(RoundEvent::Datapath(ping.name(), datapath));
        }
        let mut deadline = Instant::now() + length(case) + TIMEOUT;
        let mut asked = false;
        let outcome = loop {
            match ping.poll_line(POLL_INTERVAL)? {
                Some(outcome) => break outcome,
                None => told(RoundEvent::Sent(page.ticks())),
            }
            if let Some(words) = pong.as_mut().and_then(|pong| pong.failed().transpose()) {
                bail!("pong: {}", words?);
            }
            if self.signals.stop_requested() && !asked {
                page.request_stop();
                deadline = Instant::now() + TIMEOUT;
                asked = true;
            }
            if Instant::now() > deadline {
                bail!("the ping did not end the round in time");
            }
        };
        told(RoundEvent::Sent(page.ticks()));
        ping.end()?;
        Ok(outcome)
    }

    /// Rows that say why there is nothing in them.
    pub(super) fn failed(&self, case: &PingCase, reason: &str) -> Vec<Row> {
        let setup = self.ping_setup(case, PongAddress::NOWHERE);
        let source = setup.stamping.clock().source();
        if case.flood_ms.is_some() {
            return vec![Row::failed(setup.flood_setting(source), reason)];
        }
        let is_open = case.load.interval_ns > 0;
        let settings = setup.settings(source).into_iter().take(1 + usize::from(is_open));
        settings.map(|setting| Row::failed(setting, reason)).collect()
    }

    /// What a ping of this case is told, for a pong at `remote`.
    pub(super) fn ping_setup(&self, case: &PingCase, remote: PongAddress) -> PingSetup {
        PingSetup {
            protocol: case.protocol,
            remote,
            interface: self.ground.address(Role::Ping),
            device: self.ground.interface(Role::Ping).to_owned(),
            transport: self.transport,
            wait: case.wait.to_string(),
            core: self.cores.ping,
            size: case.size,
            load: case.load,
            flood_ms: case.flood_ms,
            stamping: self.stamping,
        }
    }

    fn pong_setup(&self, case: &PingCase) -> PongSetup {
        let interface = self.ground.address(Role::Pong);
        let group = self.ground.groups.incremental[0];
        PongSetup {
            protocol: case.protocol,
            address: match case.protocol {
                Protocol::Multicast => group,
                Protocol::Udp | Protocol::Tcp => SocketAddrV4::new(interface, 0),
                Protocol::Raw => PongAddress::NOWHERE.address,
            },
            interface,
            device: self.ground.interface(Role::Pong).to_owned(),
            transport: self.transport,
            wait: case.pong_wait.to_string(),
            core: self.cores.pong,
            slowness: self.slowness,
            is_flood: case.flood_ms.is_some(),
            size_max: case.size,
        }
    }
}

/// How long a round takes at the most: in a closed loop each ping may be one that is lost.
fn length(case: &PingCase) -> Duration {
    if let Some(ms) = case.flood_ms {
        return Duration::from_millis(ms);
    }
    let pings = case.load.warm_up + case.load.samples;
    let each = match case.load.interval_ns {
        0 => ANSWER_TIMEOUT.as_nanos(),
        nanos => nanos,
    };
    Duration::from_nanos(pings.saturating_mul(each))
        + Duration::from_nanos(case.load.warm_up * ANSWER_TIMEOUT.as_nanos())
}
