//! The event loop of a thread of sessions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hairpin_ilink3::{Listener, Zone};
use hairpin_mapped::Storage;
use hairpin_reactor::{Calls, Reactor, Ready, Wait};
use hairpin_time::{Duration, Instant, Now};

use super::{Call, ThreadError, ThreadSession};
use crate::Connect;

/// A thread's reactor, sessions and listeners.
pub(super) struct Worker<L, D: Connect, J: Storage, Z: Zone> {
    reactor: Reactor,
    sessions: Vec<ThreadSession<L, D, J, Z>>,
    calls: Calls<Call<L>>,
    stop_timeout: Arc<AtomicU64>,
    /// The deadline for the sessions to terminate, after a stop request.
    stop_deadline: Option<Instant>,
}

impl<L: Listener, D: Connect, J: Storage, Z: Zone> Worker<L, D, J, Z> {
    pub(super) fn open(
        wait: Wait,
        sessions: Vec<ThreadSession<L, D, J, Z>>,
        mut calls: Calls<Call<L>>,
        stop_timeout: Arc<AtomicU64>,
    ) -> Result<Self, ThreadError> {
        let mut reactor = Reactor::new(wait).map_err(ThreadError::Wait)?;
        calls.register(&mut reactor).map_err(ThreadError::Wait)?;
        Ok(Self { reactor, sessions, calls, stop_timeout, stop_deadline: None })
    }

    /// Runs the loop until a stop is requested and the sessions have ended; returns the sessions.
    pub(super) fn run(
        mut self,
        mut clock: impl FnMut() -> Now,
    ) -> Result<Vec<ThreadSession<L, D, J, Z>>, ThreadError> {
        let mut now = clock();
        let mut ready = Ready::EMPTY;
        self.sessions.iter_mut().for_each(|it| it.session.start(now));
        loop {
            if self.calls.has_calls() {
                self.run_calls(now);
            }
            if self.stop_deadline.is_none() && self.calls.is_stop_requested() {
                self.begin_stop(now);
            }
            self.process(now, ready)?;
            if self.stop_deadline.is_some_and(|until| self.has_stopped(now, until)) {
                return self.close(now);
            }
            let deadline = self.deadline();
            ready = self.reactor.wait(now.monotonic, deadline).map_err(ThreadError::Wait)?;
            now = clock();
            self.calls.handle_ready(ready);
        }
    }

    #[inline]
    fn process(&mut self, now: Now, ready: Ready) -> Result<(), ThreadError> {
        let reactor = &mut self.reactor;
        for (place, ThreadSession { session, listener }) in self.sessions.iter_mut().enumerate() {
            let processed = session.process(now, ready, reactor, listener);
            processed.map_err(|error| ThreadError::Session { session: place, error })?;
        }
        Ok(())
    }

    /// Returns the next time at which the loop must run without input.
    #[inline]
    fn deadline(&self) -> Option<Instant> {
        // A call may be counted before it is queued; do not sleep in that case.
        let called = self.calls.has_calls().then_some(Instant::ZERO);
        let sessions = self.sessions.iter().filter_map(|it| it.session.next_deadline());
        sessions.chain(called).chain(self.stop_deadline).min()
    }

    #[cold]
    fn run_calls(&mut self, now: Now) {
        while let Some((place, call)) = self.calls.take() {
            let ThreadSession { session, listener } = &mut self.sessions[place];
            call(&mut session.sender(now), listener);
        }
    }

    #[cold]
    fn begin_stop(&mut self, now: Now) {
        let timeout = Duration::from_nanos(self.stop_timeout.load(Ordering::Acquire));
        self.stop_deadline = Some(now.monotonic + timeout);
        self.sessions.iter_mut().for_each(|it| it.session.stop());
    }

    fn has_stopped(&self, now: Now, until: Instant) -> bool {
        now.monotonic >= until || self.sessions.iter().all(|it| it.session.is_idle())
    }

    /// Leaves the reactor, and closes the connections of sessions that have not terminated in time.
    #[cold]
    fn close(mut self, now: Now) -> Result<Vec<ThreadSession<L, D, J, Z>>, ThreadError> {
        let reactor = &mut self.reactor;
        for (place, ThreadSession { session, listener }) in self.sessions.iter_mut().enumerate() {
            if !session.is_idle() {
                let abandoned = session.abandon(now, reactor, listener);
                abandoned.map_err(|error| ThreadError::Session { session: place, error })?;
            }
        }
        self.calls.remove(reactor).map_err(ThreadError::Wait)?;
        Ok(self.sessions)
    }
}
