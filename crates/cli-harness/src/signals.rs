//! SIGINT and SIGTERM as flags that a loop checks.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM};

/// The signal that requested this process to stop, if any.
#[derive(Clone)]
pub struct Signals {
    last: Arc<AtomicUsize>,
}

impl Signals {
    /// Handles SIGINT and SIGTERM from now on. A second signal ends the process at once with the
    /// shell's exit status for it.
    pub fn take() -> Result<Self> {
        let last = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM] {
            let armed = Arc::new(AtomicBool::new(false));
            let status = 128 + signal;
            let value = usize::try_from(signal).unwrap_or_default();
            // The flag first: a signal that arrives in between is not lost.
            signal_hook::flag::register_usize(signal, Arc::clone(&last), value)
                .and_then(|_| {
                    let armed = Arc::clone(&armed);
                    signal_hook::flag::register_conditional_shutdown(signal, status, armed)
                })
                .and_then(|_| signal_hook::flag::register(signal, armed))
                .with_context(|| format!("cannot handle signal {signal}"))?;
        }
        Ok(Self { last })
    }

    /// Ignores SIGINT, which the terminal sends to the whole process group and the parent handles,
    /// and handles SIGTERM.
    pub fn take_as_child() -> Result<Self> {
        let last = Arc::new(AtomicUsize::new(0));
        signal_hook::flag::register(SIGINT, Arc::new(AtomicBool::new(false)))
            .and_then(|_| signal_hook::flag::register_usize(SIGTERM, Arc::clone(&last), 15))
            .context("cannot handle signals")?;
        Ok(Self { last })
    }

    /// Returns `true` after a signal.
    pub fn stop_requested(&self) -> bool {
        self.last.load(Ordering::Relaxed) != 0
    }

    /// Returns the exit status for the signal: 128 plus its number.
    pub fn exit_status(&self) -> Option<ExitCode> {
        match self.last.load(Ordering::Relaxed) {
            0 => None,
            signal => u8::try_from(128 + signal).ok().map(ExitCode::from),
        }
    }
}
