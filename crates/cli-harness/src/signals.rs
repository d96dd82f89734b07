//! SIGINT and SIGTERM as flags that a loop checks.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use hairpin_host::{handle_stop_signal, stop_signal};
use signal_hook::consts::{SIGINT, SIGTERM};

/// The signals that request this process to stop.
#[derive(Clone)]
pub struct Signals(());

impl Signals {
    /// Handles SIGINT and SIGTERM from now on. A second signal, at least 200 ms later, ends the
    /// process at once with the shell's exit status for it.
    pub fn take() -> Result<Self> {
        for signal in [SIGINT, SIGTERM] {
            handle_stop_signal(signal).with_context(|| format!("cannot handle signal {signal}"))?;
        }
        Ok(Self(()))
    }

    /// Ignores SIGINT, which the terminal sends to the whole process group and the parent handles,
    /// and handles SIGTERM.
    pub fn take_as_child() -> Result<Self> {
        signal_hook::flag::register(SIGINT, Arc::new(AtomicBool::new(false)))
            .and_then(|_| handle_stop_signal(SIGTERM))
            .context("cannot handle signals")?;
        Ok(Self(()))
    }

    /// Returns `true` after a signal.
    pub fn stop_requested(&self) -> bool {
        stop_signal().is_some()
    }

    /// Returns the exit status for the signal: 128 plus its number.
    pub fn exit_status(&self) -> Option<ExitCode> {
        u8::try_from(128 + stop_signal()?).ok().map(ExitCode::from)
    }
}
