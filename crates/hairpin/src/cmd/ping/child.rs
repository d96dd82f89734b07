//! The ping of one round: its set-up comes on standard input, one round is run.

use std::process::ExitCode;

use anyhow::{Context, Result};
use hairpin_endpoint::Transport;
use hairpin_host::Clock;
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::Duration;
use hairpin_xdp::ReceiveStamps;

use super::flood::Flood;
use super::kernel_stamps;
use super::ping_transport::{self, Line};
use super::pinger::Pinger;
use super::ping_loop::{Counts, Rally};
use super::raw_transport;
use super::setup::{PingOutcome, PingReady, PingSetup, Protocol, Stamping};
use super::latency_breakdown::Stages;
pub(crate) use crate::harness::t2t_setup::ChildArguments as Arguments;
use crate::harness::t2t_setup::{self, Page};
use crate::harness::signals::Signals;
use crate::harness::datapath::{Room, Way};

/// Runs the round that standard input describes.
///
/// # Errors
/// A core that cannot be used; nobody there; the network's.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let (setup, page) = arguments.receive::<PingSetup>()?;
    let signals = Signals::take_as_child()?;
    hairpin_host::set_timer_slack(Duration::from_nanos(1))?;
    hairpin_host::name_thread("ping")?;
    setup.core.map_or(Ok(()), hairpin_host::pin)?;
    let round = Round { setup: &setup, page: &page, signals: &signals };
    let clock = setup.stamping.clock();
    let outcome = match setup.protocol {
        Protocol::Udp => round.by_way(clock, ping_transport::udp),
        Protocol::Multicast => round.by_way(clock, ping_transport::multicast),
        Protocol::Tcp => ping_transport::tcp(&setup, &clock).and_then(|lines| round.run(lines, clock)),
        Protocol::Raw => {
            raw_transport::raw(&setup).and_then(|(lines, way)| round.run_by(lines, clock, Some(way)))
        }
    };
    t2t_setup::say(&outcome.with_context(|| round.place())?)?;
    Ok(ExitCode::SUCCESS)
}

struct Round<'a> {
    setup: &'a PingSetup,
    page: &'a Page,
    signals: &'a Signals,
}

impl Round<'_> {
    /// Where the round is run to, for a person.
    fn place(&self) -> String {
        match self.setup.protocol {
            Protocol::Raw => self.setup.device.clone(),
            _ => self.setup.remote.to_string(),
        }
    }

    /// Runs over the lines that `open` makes, through the kernel or past it.
    fn by_way<L: Line>(
        &self,
        clock: Clock,
        open: impl FnOnce(&PingSetup, &Transport) -> Result<Vec<L>>,
    ) -> Result<PingOutcome> {
        let PingSetup { transport, device, .. } = self.setup;
        let way = Way::open(transport, device, Room::Usual, ReceiveStamps::Off)?;
        let lines = open(self.setup, way.transport())?;
        way.tell();
        self.run(lines, clock)
    }

    fn run<L: Line>(&self, lines: Vec<L>, clock: Clock) -> Result<PingOutcome> {
        self.run_by(lines, clock, None)
    }

    /// Runs over lines that stand on what `way` says.
    fn run_by<L: Line>(
        &self,
        mut lines: Vec<L>,
        clock: Clock,
        way: Option<String>,
    ) -> Result<PingOutcome> {
        if self.setup.stamping != Stamping::None {
            kernel_stamps::await_begin(&clock);
        }
        t2t_setup::say(&PingReady { way })?;
        let wait: Wait = self.setup.wait.parse()?;
        let reactor = Reactor::new(wait)?;
        match self.setup.flood_ms {
            Some(ms) => self.flood(&mut lines, reactor, clock, Duration::from_millis(ms)),
            None => self.rally(&mut lines, reactor, clock),
        }
    }

    fn rally<L: Line>(
        &self,
        lines: &mut [L],
        reactor: Reactor,
        clock: Clock,
    ) -> Result<PingOutcome> {
        let source = clock.source();
        let rally = Rally::new(self.setup.load);
        let mut pinger = Pinger::new(reactor, rally, clock, lines, self.setup.size)?;
        if self.setup.stamping != Stamping::None {
            pinger.stamp(self.setup.stamping.into(), &self.setup.load)?;
        }
        let PingSetup { protocol, wait, size, remote, .. } = self.setup;
        let protocol = protocol.name();
        let words = format!("--protocol {protocol} --wait {wait} --size {size}");
        pinger.publish(&format!("ping-ping {remote} {words}"));
        let told = |pings| self.page.tell_ticks(pings);
        let interrupted = pinger.run(|| self.asked_to_stop(), told)?;
        let settings = self.setup.settings(source);
        let stamps = pinger.stages.as_mut().map(Stages::finish);
        let staged = pinger.stages.as_ref().map(|stages| stages.rows(&settings[0]));
        let mut rows = pinger.rally.rows(settings);
        rows.extend(staged.into_iter().flatten());
        let counts = pinger.rally.counts();
        Ok(PingOutcome { rows, counts, interrupted, stamps, flood: None })
    }

    fn flood<L: Line>(
        &self,
        lines: &mut [L],
        reactor: Reactor,
        clock: Clock,
        span: Duration,
    ) -> Result<PingOutcome> {
        let mut flood = Flood::new(reactor, clock, lines, self.setup.size)?;
        let sent = flood.run(span, || self.asked_to_stop())?;
        let interrupted = self.asked_to_stop();
        let counts = Counts::default();
        let (rows, stamps, flood) = (Vec::new(), None, Some(sent));
        Ok(PingOutcome { rows, counts, interrupted, stamps, flood })
    }

    fn asked_to_stop(&self) -> bool {
        self.page.asked_to_stop() || self.signals.asked_to_stop()
    }
}
