//! Stopping a run from elsewhere: another thread, or a signal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};

/// A handle that stops a run from any thread.
#[derive(Debug, Clone, Default)]
pub struct StopHandle(pub(crate) Arc<AtomicBool>);

impl StopHandle {
    /// Requests the end of the run: sessions terminate gracefully, then `run` returns. The loop
    /// reads the request within 100 ms.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Requests the end of the run on SIGINT and SIGTERM, as
    /// [`Trader::stop_on_signals`](crate::Trader::stop_on_signals) does.
    ///
    /// # Errors
    /// The errors of `sigaction(2)`.
    pub fn stop_on_signals(&self) -> crate::Result<()> {
        for signal in [SIGINT, SIGTERM] {
            hairpin_host::set_on_stop_signal(signal, Arc::clone(&self.0))?;
        }
        Ok(())
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
