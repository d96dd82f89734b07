//! Starts and watches the two processes of a benchmark round.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use hairpin_cli_harness::child_process::ChildProcess;
use hairpin_cli_harness::child_protocol::ChildPage;
use hairpin_cli_harness::cores::Cores;
use hairpin_cli_harness::host_pair::{HostPair, Role};
use hairpin_cli_harness::signals::Signals;
use hairpin_cli_harness::transport::TransportArgs;
use serde::de::DeserializeOwned;

/// The interval at which the parent checks progress and signals. It is long because with two cores
/// each check takes time from one of the two processes.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The longest wait for a process to be ready, and to exit after its last message.
pub(super) const TIMEOUT: Duration = Duration::from_secs(20);

/// The parameters that all rounds have in common.
pub(super) struct BenchContext<'a> {
    pub(super) hosts: &'a HostPair,
    /// The cores of the two processes, the exchange's first.
    pub(super) cores: Cores,
    pub(super) signals: &'a Signals,
}

/// A child process and its counter page.
pub(super) struct MonitoredChild {
    pub(super) side: ChildProcess,
    pub(super) page: ChildPage,
}

impl MonitoredChild {
    pub(super) fn start(
        hosts: &HostPair,
        role: Role,
        transport: TransportArgs,
        setup: &impl serde::Serialize,
    ) -> Result<Self> {
        let page = ChildPage::create()?;
        Ok(Self { side: ChildProcess::start(hosts, role, &page, transport, setup)?, page })
    }
}

impl BenchContext<'_> {
    /// Waits until one child is ready, and watches the other.
    ///
    /// # Errors
    /// The error message of a failed child; an interruption; `late` after the timeout.
    pub(super) fn ready<T: DeserializeOwned>(
        &self,
        of: &mut MonitoredChild,
        other: &mut MonitoredChild,
        late: &str,
    ) -> Result<T> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if let Some(ready) = of.side.poll_line(POLL_INTERVAL)? {
                return Ok(ready);
            }
            if let Some(words) = other.side.failed()? {
                bail!("{}: {words}", other.side.name());
            }
            if self.signals.stop_requested() {
                bail!("interrupted before its first packet");
            }
            if Instant::now() > deadline {
                bail!("{late}");
            }
        }
    }

    /// Waits for the results of a child, and watches the other.
    ///
    /// # Errors
    /// The error message of a failed child; a child that does not exit within `length` plus the
    /// timeout.
    pub(super) fn wait<T: DeserializeOwned>(
        &self,
        mut of: MonitoredChild,
        mut other: Option<&mut ChildProcess>,
        length: Duration,
        told: &mut dyn FnMut(u64),
    ) -> Result<T> {
        let mut deadline = Instant::now() + length + TIMEOUT;
        let mut asked = false;
        let outcome = loop {
            match of.side.poll_line(POLL_INTERVAL)? {
                Some(outcome) => break outcome,
                None => told(of.page.ticks()),
            }
            if let Some(other) = &mut other
                && let Some(words) = other.failed()?
            {
                bail!("{}: {words}", other.name());
            }
            if self.signals.stop_requested() && !asked {
                of.page.request_stop();
                deadline = Instant::now() + TIMEOUT;
                asked = true;
            }
            if Instant::now() > deadline {
                bail!("cannot end the round: timeout");
            }
        };
        told(of.page.ticks());
        of.side.end()?;
        Ok(outcome)
    }
}
