//! The ping process of one round.

use std::process::ExitCode;

use anyhow::{Context, Result};
use hairpin_cli_harness::child_protocol::ChildPage;
use hairpin_cli_harness::child_protocol::{self, ChildArgs};
use hairpin_cli_harness::datapath::{BufferSize, OpenTransport};
use hairpin_cli_harness::signals::Signals;
use hairpin_endpoint::Transport;
use hairpin_host::Clock;
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::Duration;
use hairpin_xdp::ReceiveStamps;

use super::flood::Flood;
use super::kernel_stamps;
use super::latency_breakdown::LatencyBreakdown;
use super::ping_loop::{PingCounts, PingLoop};
use super::ping_transport::{self, PingTransport};
use super::pinger::Pinger;
use super::raw_transport;
use super::rds_transport::{self, RdsTransport};
use super::setup::{PingOutcome, PingReady, PingSetup, Protocol, Stamping};

/// Runs the round whose setup is on standard input.
///
/// # Errors
/// A core that cannot be used; no pong; those of the network.
pub fn run(arguments: &ChildArgs) -> Result<ExitCode> {
    let (setup, page) = arguments.receive::<PingSetup>()?;
    let signals = Signals::take_as_child()?;
    hairpin_host::set_timer_slack(Duration::from_nanos(1))?;
    hairpin_host::name_thread("ping")?;
    setup.core.map_or(Ok(()), hairpin_host::pin)?;
    let round = Round { setup: &setup, page: &page, signals: &signals };
    let clock = setup.stamping.clock();
    let outcome = match setup.protocol {
        Protocol::Udp => round.run_over(clock, ping_transport::udp),
        Protocol::Multicast => round.run_over(clock, ping_transport::multicast),
        Protocol::Tcp => {
            let connect = setup.stamping.clock();
            round
                .run_over(clock, |setup, transport| ping_transport::tcp(setup, transport, &connect))
        }
        Protocol::Rds => round.run_over(clock, |setup, transport| {
            let carrier = rds_transport::carrier(false, &setup.transport, "", transport);
            rds_transport::rds(setup, &carrier)
        }),
        Protocol::RdsEthernet => round.run_over_rds_ethernet(clock),
        Protocol::Raw => raw_transport::raw(&setup)
            .and_then(|(lines, datapath)| round.run_with(lines, clock, Some(datapath))),
    };
    child_protocol::print_line(&outcome.with_context(|| round.place())?)?;
    Ok(ExitCode::SUCCESS)
}

struct Round<'a> {
    setup: &'a PingSetup,
    page: &'a ChildPage,
    signals: &'a Signals,
}

impl Round<'_> {
    /// Returns the peer, for error messages.
    fn place(&self) -> String {
        match self.setup.protocol {
            Protocol::Raw => self.setup.device.clone(),
            _ => self.setup.remote.to_string(),
        }
    }

    /// Runs over the transports that `open` opens, on the kernel or AF_XDP.
    fn run_over<L: PingTransport>(
        &self,
        clock: Clock,
        open: impl FnOnce(&PingSetup, &Transport) -> Result<Vec<L>>,
    ) -> Result<PingOutcome> {
        let PingSetup { transport, device, protocol, .. } = self.setup;
        let transport = if *protocol == Protocol::Tcp { transport.for_tcp() } else { *transport };
        let datapath =
            OpenTransport::open(&transport, device, BufferSize::Default, ReceiveStamps::Off)?;
        let lines = open(self.setup, datapath.transport())?;
        datapath.print_notices();
        self.run(lines, clock)
    }

    fn run_over_rds_ethernet(&self, clock: Clock) -> Result<PingOutcome> {
        let PingSetup { transport, device, .. } = self.setup;
        let carrier = rds_transport::carrier(true, transport, device, &Transport::Kernel);
        let lines = rds_transport::rds(self.setup, &carrier)?;
        let datapath = lines.first().map(RdsTransport::describe);
        self.run_with(lines, clock, datapath)
    }

    fn run<L: PingTransport>(&self, lines: Vec<L>, clock: Clock) -> Result<PingOutcome> {
        self.run_with(lines, clock, None)
    }

    /// Runs over transports whose datapath is described by `datapath`.
    fn run_with<L: PingTransport>(
        &self,
        mut lines: Vec<L>,
        clock: Clock,
        datapath: Option<String>,
    ) -> Result<PingOutcome> {
        if self.setup.stamping != Stamping::None {
            kernel_stamps::await_begin(&clock);
        }
        child_protocol::print_line(&PingReady { datapath })?;
        let wait: Wait = self.setup.wait.parse()?;
        let reactor = Reactor::new(wait)?;
        match self.setup.flood_ms {
            Some(ms) => self.flood(&mut lines, reactor, clock, Duration::from_millis(ms)),
            None => self.ping_loop(&mut lines, reactor, clock),
        }
    }

    fn ping_loop<L: PingTransport>(
        &self,
        lines: &mut [L],
        reactor: Reactor,
        clock: Clock,
    ) -> Result<PingOutcome> {
        let source = clock.source();
        let ping_loop = PingLoop::new(self.setup.load);
        let mut pinger = Pinger::new(reactor, ping_loop, clock, lines, self.setup.size)?;
        if self.setup.stamping != Stamping::None {
            pinger.stamp(self.setup.stamping.into(), &self.setup.load)?;
        }
        let PingSetup { protocol, wait, size, remote, .. } = self.setup;
        let protocol = protocol.name();
        let title = format!("ping-ping {remote} --protocol {protocol} --wait {wait} --size {size}");
        let on_sent = |pings| self.page.set_ticks(pings);
        let interrupted = pinger.run(&title, || self.stop_requested(), on_sent)?;
        let settings = self.setup.settings(source);
        let stamps = pinger.breakdown.as_mut().map(LatencyBreakdown::finish);
        let staged = pinger.breakdown.as_ref().map(|breakdown| breakdown.rows(&settings[0]));
        let mut rows = pinger.ping_loop.rows(settings);
        rows.extend(staged.into_iter().flatten());
        let counts = pinger.ping_loop.counts();
        Ok(PingOutcome { rows, counts, interrupted, stamps, flood: None })
    }

    fn flood<L: PingTransport>(
        &self,
        lines: &mut [L],
        reactor: Reactor,
        clock: Clock,
        span: Duration,
    ) -> Result<PingOutcome> {
        let mut flood = Flood::new(reactor, clock, lines, self.setup.size)?;
        let sent = flood.run(span, || self.stop_requested())?;
        let interrupted = self.stop_requested();
        let counts = PingCounts::default();
        let (rows, stamps, flood) = (Vec::new(), None, Some(sent));
        Ok(PingOutcome { rows, counts, interrupted, stamps, flood })
    }

    fn stop_requested(&self) -> bool {
        self.page.stop_requested() || self.signals.stop_requested()
    }
}
