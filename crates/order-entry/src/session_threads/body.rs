//! What a thread of sessions does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hairpin_ilink3::{Listener, Zone};
use hairpin_mapped::Storage;
use hairpin_reactor::{Calls, Reactor, Ready, Wait};
use hairpin_time::{Duration, Instant, Now};

use super::{Call, ThreadError, ThreadSession};
use crate::Connect;

/// A thread's reactor, sessions and listeners.
pub(super) struct Body<L, D: Connect, J: Storage, Z: Zone> {
    reactor: Reactor,
    sessions: Vec<ThreadSession<L, D, J, Z>>,
    calls: Calls<Call<L>>,
    patience: Arc<AtomicU64>,
    /// Until when sessions may terminate, once they are to.
    leaving: Option<Instant>,
}

impl<L: Listener, D: Connect, J: Storage, Z: Zone> Body<L, D, J, Z> {
    pub(super) fn open(
        wait: Wait,
        sessions: Vec<ThreadSession<L, D, J, Z>>,
        mut calls: Calls<Call<L>>,
        patience: Arc<AtomicU64>,
    ) -> Result<Self, ThreadError> {
        let mut reactor = Reactor::new(wait).map_err(ThreadError::Wait)?;
        calls.register(&mut reactor).map_err(ThreadError::Wait)?;
        Ok(Self { reactor, sessions, calls, patience, leaving: None })
    }

    /// Turns until it is asked to stop and the sessions have ended; gives these back.
    pub(super) fn run(
        mut self,
        mut clock: impl FnMut() -> Now,
    ) -> Result<Vec<ThreadSession<L, D, J, Z>>, ThreadError> {
        let mut now = clock();
        let mut ready = Ready::NOTHING;
        self.sessions.iter_mut().for_each(|it| it.session.start(now));
        loop {
            if self.calls.is_called() {
                self.answer(now);
            }
            if self.leaving.is_none() && self.calls.is_stopped() {
                self.leave(now);
            }
            self.process(now, ready)?;
            if self.leaving.is_some_and(|until| self.has_left(now, until)) {
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

    /// When there is something to do though nothing has arrived.
    #[inline]
    fn deadline(&self) -> Option<Instant> {
        // A call that was counted and has not arrived is not waited for.
        let called = self.calls.is_called().then_some(Instant::ZERO);
        let sessions = self.sessions.iter().filter_map(|it| it.session.next_deadline());
        sessions.chain(called).chain(self.leaving).min()
    }

    #[cold]
    fn answer(&mut self, now: Now) {
        while let Some((place, call)) = self.calls.take() {
            let ThreadSession { session, listener } = &mut self.sessions[place];
            call(&mut session.sender(now), listener);
        }
    }

    #[cold]
    fn leave(&mut self, now: Now) {
        let patience = Duration::from_nanos(self.patience.load(Ordering::Acquire));
        self.leaving = Some(now.monotonic + patience);
        self.sessions.iter_mut().for_each(|it| it.session.stop());
    }

    fn has_left(&self, now: Now, until: Instant) -> bool {
        now.monotonic >= until || self.sessions.iter().all(|it| it.session.is_idle())
    }

    /// Leaves the reactor, with the connections of those that have not terminated in time.
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
