//! Where rounds are run: two processes, started, watched and asked for the result.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde::de::DeserializeOwned;

use crate::harness::cores::Cores;
use crate::harness::host_pair::{Ground, Role};
use crate::harness::t2t_setup::Page;
use crate::harness::child_process::Side;
use crate::harness::signals::Signals;

/// How often the parent looks at progress and signals: seldom, because where there are two cores
/// it takes its time from one of the two processes it watches.
const LOOK: Duration = Duration::from_millis(100);
/// For a side to be ready, and to end after its last message.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// What all rounds have in common.
pub(super) struct Stand<'a> {
    pub(super) ground: &'a Ground,
    /// Of the two sides: the exchange's first.
    pub(super) cores: Cores,
    pub(super) signals: &'a Signals,
}

/// A side, and the page it is told by.
pub(super) struct Told {
    pub(super) side: Side,
    pub(super) page: Page,
}

impl Told {
    pub(super) fn start(
        ground: &Ground,
        role: Role,
        setup: &impl serde::Serialize,
    ) -> Result<Self> {
        let page = Page::create()?;
        Ok(Self { side: Side::start(ground, role, &page, setup)?, page })
    }
}

impl Stand<'_> {
    /// The word of one side that it is ready, while the other is watched.
    ///
    /// # Errors
    /// The words of a side that failed; an interruption; `late` if it takes too long.
    pub(super) fn ready<T: DeserializeOwned>(
        &self,
        of: &mut Told,
        other: &mut Told,
        late: &str,
    ) -> Result<T> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(ready) = of.side.poll_line(LOOK)? {
                return Ok(ready);
            }
            if let Some(words) = other.side.failed()? {
                bail!("{}: {words}", other.side.name());
            }
            if self.signals.asked_to_stop() {
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
    /// The words of a side that failed; that it does not end within `length` and some patience.
    pub(super) fn wait<T: DeserializeOwned>(
        &self,
        mut of: Told,
        mut other: Option<&mut Side>,
        length: Duration,
        told: &mut dyn FnMut(u64),
    ) -> Result<T> {
        let mut deadline = Instant::now() + length + PATIENCE;
        let mut asked = false;
        let outcome = loop {
            match of.side.poll_line(LOOK)? {
                Some(outcome) => break outcome,
                None => told(of.page.ticks()),
            }
            if let Some(other) = &mut other
                && let Some(words) = other.failed()?
            {
                bail!("{}: {words}", other.name());
            }
            if self.signals.asked_to_stop() && !asked {
                of.page.ask_to_stop();
                deadline = Instant::now() + PATIENCE;
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
