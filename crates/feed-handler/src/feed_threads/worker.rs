//! The event loop of a thread of channels.

use std::sync::mpsc::SyncSender;

use hairpin_mdp3::Listener;
use hairpin_reactor::{Calls, Wait};
use hairpin_time::{Instant, Now};

use super::{Call, ThreadChannel, ThreadError};
use crate::{FeedHandlers, SocketEngine};

/// A thread's engine, channels and listeners.
pub(super) struct Worker<L> {
    feeds: FeedHandlers<SocketEngine>,
    listeners: Vec<L>,
    calls: Calls<Call<L>>,
    errors: SyncSender<ThreadError>,
}

impl<L: Listener> Worker<L> {
    pub(super) fn open(
        wait: Wait,
        channels: Vec<ThreadChannel<L>>,
        mut calls: Calls<Call<L>>,
        errors: SyncSender<ThreadError>,
    ) -> Result<Self, ThreadError> {
        let engine = SocketEngine::new(wait).map_err(ThreadError::Wait)?;
        let mut feeds = FeedHandlers::new(engine);
        let mut listeners = Vec::with_capacity(channels.len());
        for ThreadChannel { settings, filter, addresses, listener } in channels {
            feeds.add_with_filter(settings, filter, &addresses)?;
            listeners.push(listener);
        }
        // Register after the lines: a blocking wait blocks on the first source.
        calls.register(feeds.engine_mut().reactor()).map_err(ThreadError::Wait)?;
        Ok(Self { feeds, listeners, calls, errors })
    }

    /// Runs the loop until a stop is requested; returns the listeners.
    pub(super) fn run(mut self, mut clock: impl FnMut() -> Now) -> Result<Vec<L>, ThreadError> {
        let mut now = clock();
        loop {
            if self.calls.has_calls() {
                self.run_calls();
            }
            if self.calls.is_stop_requested() {
                return self.close();
            }
            // A call may be counted before it is queued; do not sleep in that case.
            let called = self.calls.has_calls().then_some(Instant::ZERO);
            self.feeds.wait_until(now, called)?;
            now = clock();
            self.calls.handle_ready(self.feeds.engine().ready());
            if let Err(error) = self.feeds.process(now, &mut self.listeners) {
                // If no caller reads the errors, keep the first ones.
                let _ = self.errors.try_send(error.into());
            }
        }
    }

    #[cold]
    fn run_calls(&mut self) {
        while let Some(call) = self.calls.take() {
            call(&mut self.feeds, &mut self.listeners);
        }
    }

    /// Leaves the reactor and returns the listeners.
    #[cold]
    fn close(mut self) -> Result<Vec<L>, ThreadError> {
        let reactor = self.feeds.engine_mut().reactor();
        self.calls.remove(reactor).map_err(ThreadError::Wait)?;
        Ok(self.listeners)
    }
}
