//! Where rounds are run: two processes, started, watched and asked for the result.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde::de::DeserializeOwned;

use crate::harness::child_process::ChildProcess;
use crate::harness::cores::Cores;
use crate::harness::host_pair::{HostPair, Role};
use crate::harness::signals::Signals;
use crate::harness::t2t_setup::ChildCounters;

/// How often the parent looks at progress and signals: seldom, because where there are two cores
/// it takes its time from one of the two processes it watches.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// For a side to be ready, and to end after its last message.
pub(super) const TIMEOUT: Duration = Duration::from_secs(20);

/// What all rounds have in common.
pub(super) struct BenchContext<'a> {
    pub(super) ground: &'a HostPair,
    /// Of the two sides: the exchange's first.
    pub(super) cores: Cores,
    pub(super) signals: &'a Signals,
}

/// A side, and the page it is told by.
pub(super) struct MonitoredChild {
    pub(super) side: ChildProcess,
    pub(super) page: ChildCounters,
}

impl MonitoredChild {
    pub(super) fn start(
        ground: &HostPair,
        role: Role,
        setup: &impl serde::Serialize,
    ) -> Result<Self> {
        let page = ChildCounters::create()?;
        Ok(Self { side: ChildProcess::start(ground, role, &page, setup)?, page })
    }
}

impl BenchContext<'_> {
    /// The word of one side that it is ready, while the other is watched.
    ///
    /// # Errors
    /// The words of a side that failed; an interruption; `late` if it takes too long.
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

    /// What a side says at its end, while the other one is watched.
    ///
    /// # Errors
    /// The words of a side that failed; that it does not end within `length` and some timeout.
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
                bail!("the round did not end in time");
            }
        };
        told(of.page.ticks());
        of.side.end()?;
        Ok(outcome)
    }
}
