//! What a thread of channels does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};

use hairpin_mdp3::Listener;
use hairpin_reactor::Wait;
use hairpin_time::{Duration, Now};

use super::{Call, STOP, ThreadChannel, ThreadError};
use crate::{FeedHandlers, SocketEngine};

/// The longest wait, so that a thread hears that it is called.
const LOOK: Duration = Duration::from_millis(50);

/// A thread's engine, channels and listeners.
pub(crate) struct Body<L> {
    feeds: FeedHandlers<SocketEngine>,
    listeners: Vec<L>,
    word: Arc<AtomicU32>,
    calls: Receiver<Call<L>>,
    errors: SyncSender<ThreadError>,
}

impl<L: Listener> Body<L> {
    pub(crate) fn open(
        wait: Wait,
        channels: Vec<ThreadChannel<L>>,
        word: Arc<AtomicU32>,
        calls: Receiver<Call<L>>,
        errors: SyncSender<ThreadError>,
    ) -> Result<Self, ThreadError> {
        let engine = SocketEngine::new(wait).map_err(ThreadError::Wait)?;
        let mut feeds = FeedHandlers::new(engine);
        let mut listeners = Vec::with_capacity(channels.len());
        for ThreadChannel { settings, filter, addresses, listener } in channels {
            feeds.add_with_filter(settings, filter, &addresses)?;
            listeners.push(listener);
        }
        Ok(Self { feeds, listeners, word, calls, errors })
    }

    /// Turns until it is asked to stop; gives back the listeners.
    pub(crate) fn run(mut self, mut clock: impl FnMut() -> Now) -> Result<Vec<L>, ThreadError> {
        let mut now = clock();
        loop {
            let word = self.word.load(Ordering::Acquire);
            if word != 0 {
                if word & STOP != 0 {
                    return Ok(self.listeners);
                }
                self.answer();
            }
            self.feeds.wait_until(now, Some(now.monotonic + LOOK))?;
            now = clock();
            if let Err(error) = self.feeds.process(now, &mut self.listeners) {
                // If nobody asks for errors, the first are those that are kept.
                let _ = self.errors.try_send(error.into());
            }
        }
    }

    #[cold]
    fn answer(&mut self) {
        while let Ok(call) = self.calls.try_recv() {
            self.word.fetch_sub(1, Ordering::Release);
            call(&mut self.feeds, &mut self.listeners);
        }
    }
}
