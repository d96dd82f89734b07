//! One round: starts a pong and a ping process, watches them, and reads the results.

use std::net::SocketAddrV4;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use hairpin_cli_harness::answer_timeout::answer_timeout;
use hairpin_cli_harness::child_process::ChildProcess;
use hairpin_cli_harness::child_protocol::ChildPage;
use hairpin_cli_harness::host_pair::{HostPair, Role};
use hairpin_cli_harness::signals::Signals;
use hairpin_host::Clock;
use hairpin_measure::Row;

use super::args::Cores;
use super::ping_case::PingCase;
use super::setup::{
    PingOutcome, PingReady, PingSetup, PongAddress, PongOutcome, PongReady, PongSetup, Protocol,
    Stamping,
};
use crate::pong::Slowness;

/// The interval at which the parent checks progress and signals. It is long because with two cores
/// each check takes time from one of the two processes.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The longest wait for a process to start, and to exit after its last message.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The time between the end of a flood and that of its pong, for messages in flight.
const SETTLE: Duration = Duration::from_millis(50);

/// The parameters that all rounds have in common.
pub(crate) struct PingContext<'a> {
    pub(crate) hosts: &'a HostPair,
    pub(crate) cores: Cores,
    /// The pong that runs already; otherwise one is started.
    pub(crate) remote: Option<PongAddress>,
    pub(crate) slowness: Slowness,
    pub(crate) stamping: Stamping,
    pub(crate) signals: &'a Signals,
}

/// An event of a running round.
pub(crate) enum RoundEvent<'a> {
    /// The number of pings sent.
    Sent(u64),
    /// The role of a process and the description of its datapath.
    Datapath(&'static str, &'a str),
}

/// The results of one round.
pub(crate) struct Outcome {
    pub(crate) ping: PingOutcome,
    /// `None` if the pong was not started here.
    pub(crate) pong: Option<PongOutcome>,
}

/// The error of a round that cannot run on this host, whatever its case.
#[derive(Debug, thiserror::Error)]
#[error("cannot start the pong")]
pub(super) struct NotReady;

impl PingContext<'_> {
    /// Runs one round. `on_event` receives its events.
    ///
    /// # Errors
    /// A process that cannot be started, fails (with its error message) or does not exit.
    pub(crate) fn round(
        &self,
        case: &PingCase,
        on_event: impl FnMut(RoundEvent<'_>),
    ) -> Result<Outcome> {
        let Some(remote) = self.remote else { return self.round_of_both(case, on_event) };
        let ping = self.ping(case, remote, None, on_event)?;
        Ok(Outcome { ping, pong: None })
    }

    fn round_of_both(
        &self,
        case: &PingCase,
        mut on_event: impl FnMut(RoundEvent<'_>),
    ) -> Result<Outcome> {
        let page = ChildPage::create()?;
        let setup = self.pong_setup(case);
        let mut pong = ChildProcess::start(self.hosts, Role::Pong, &page, case.transport, &setup)?;
        let ready: PongReady = pong.line(TIMEOUT).map_err(|error| error.context(NotReady))?;
        if let Some(datapath) = &ready.datapath {
            on_event(RoundEvent::Datapath(pong.name(), datapath));
        }
        let ping = self.ping(case, ready.place, Some(&mut pong), on_event)?;
        if case.flood_ms.is_some() {
            std::thread::sleep(SETTLE);
        }
        pong.request_stop(&page);
        let outcome = pong.line(TIMEOUT)?;
        pong.end()?;
        Ok(Outcome { ping, pong: Some(outcome) })
    }

    /// Runs the ping process and watches the pong.
    fn ping(
        &self,
        case: &PingCase,
        remote: PongAddress,
        mut pong: Option<&mut ChildProcess>,
        mut on_event: impl FnMut(RoundEvent<'_>),
    ) -> Result<PingOutcome> {
        let page = ChildPage::create()?;
        let setup = self.ping_setup(case, remote);
        let mut ping = ChildProcess::start(self.hosts, Role::Ping, &page, case.transport, &setup)?;
        let ready: PingReady = ping.line(TIMEOUT)?;
        if let Some(datapath) = &ready.datapath {
            on_event(RoundEvent::Datapath(ping.name(), datapath));
        }
        let mut deadline = Instant::now() + length(case) + TIMEOUT;
        let mut asked = false;
        let outcome = loop {
            let failure = match ping.poll_line(POLL_INTERVAL) {
                Ok(Some(outcome)) => break outcome,
                Ok(None) => None,
                Err(error) => {
                    // A pong that ends resets its connections. Its status follows a little later.
                    std::thread::sleep(POLL_INTERVAL);
                    Some(error)
                }
            };
            if let Some(words) = pong.as_mut().and_then(|pong| pong.failed().transpose()) {
                bail!("pong: {}", words?);
            }
            if let Some(failure) = failure {
                return Err(failure);
            }
            on_event(RoundEvent::Sent(page.ticks()));
            if self.signals.stop_requested() && !asked {
                page.request_stop();
                deadline = Instant::now() + TIMEOUT;
                asked = true;
            }
            if Instant::now() > deadline {
                bail!("cannot end the round: no report from the ping in time");
            }
        };
        on_event(RoundEvent::Sent(page.ticks()));
        ping.end()?;
        Ok(outcome)
    }

    /// Returns the rows of a round.
    pub(crate) fn rows(&self, case: &PingCase, Outcome { ping, pong }: &Outcome) -> Vec<Row> {
        let interrupted = ping.interrupted;
        let received = pong.as_ref().and_then(|pong| pong.flood.as_ref());
        let flooded = ping.flood.as_ref().zip(received);
        let rows = match flooded {
            Some((sent, received)) => {
                let setup = self.ping_setup(case, PongAddress::NOWHERE);
                vec![received.row(setup.flood_setting(Clock::new().source()), sent.messages)]
            }
            None => ping.rows.clone(),
        };
        rows.into_iter().map(|row| Row { interrupted, ..row }).collect()
    }

    /// Returns rows that contain the reason of a failure.
    pub(crate) fn failed(&self, case: &PingCase, reason: &str) -> Vec<Row> {
        let setup = self.ping_setup(case, PongAddress::NOWHERE);
        let source = setup.stamping.clock().source();
        if case.flood_ms.is_some() {
            return vec![Row::failed(setup.flood_setting(source), reason)];
        }
        let is_open = case.load.interval_ns > 0;
        let settings = setup.settings(source).into_iter().take(1 + usize::from(is_open));
        settings.map(|setting| Row::failed(setting, reason)).collect()
    }

    /// Returns the setup of a ping of this case, for a pong at `remote`.
    pub(crate) fn ping_setup(&self, case: &PingCase, remote: PongAddress) -> PingSetup {
        PingSetup {
            protocol: case.protocol,
            remote,
            interface: self.hosts.address(Role::Ping),
            device: self.hosts.interface(Role::Ping).to_owned(),
            transport: case.transport,
            wait: case.wait.to_string(),
            core: self.cores.ping,
            size: case.size,
            load: case.load,
            flood_ms: case.flood_ms,
            stamping: self.stamping,
        }
    }

    fn pong_setup(&self, case: &PingCase) -> PongSetup {
        let interface = self.hosts.address(Role::Pong);
        let group = self.hosts.groups.incremental[0];
        PongSetup {
            protocol: case.protocol,
            address: match case.protocol {
                Protocol::Multicast => group,
                Protocol::Udp | Protocol::Tcp | Protocol::Rds | Protocol::RdsEthernet => {
                    SocketAddrV4::new(interface, 0)
                }
                Protocol::Raw => PongAddress::NOWHERE.address,
            },
            interface,
            device: self.hosts.interface(Role::Pong).to_owned(),
            transport: case.transport,
            wait: case.pong_wait.to_string(),
            core: self.cores.pong,
            slowness: self.slowness,
            is_flood: case.flood_ms.is_some(),
            size_max: case.size,
        }
    }
}

/// Returns the longest duration of a round; in a closed loop each ping may be lost.
fn length(case: &PingCase) -> Duration {
    if let Some(ms) = case.flood_ms {
        return Duration::from_millis(ms);
    }
    let pings = case.load.warm_up + case.load.samples;
    let each = match case.load.interval_ns {
        0 => answer_timeout().as_nanos(),
        nanos => nanos,
    };
    Duration::from_nanos(pings.saturating_mul(each))
        + Duration::from_nanos(case.load.warm_up * answer_timeout().as_nanos())
}
