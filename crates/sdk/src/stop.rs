//! Stopping a run from elsewhere: another thread, or a signal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A handle that stops a run from any thread.
#[derive(Debug, Clone, Default)]
pub struct StopHandle(pub(crate) Arc<AtomicBool>);

impl StopHandle {
    /// Requests the end of the run: sessions terminate gracefully, then `run` returns. The loop
    /// reads the request within 100 ms.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
