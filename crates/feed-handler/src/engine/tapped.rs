//! An engine that somebody else looks at.

use std::io;

use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Instant, Now};

use crate::{Arrival, EngineError, FeedEngine, LineAddress, LineFigures, LineId};

/// Another engine, each of whose packets is shown to a tap before it is handed on: to a recorder,
/// say. The tap sees what was received, duplicates too, with line, sender and timestamp, and must
/// not block.
#[derive(Debug)]
pub struct TappedEngine<E, T> {
    engine: E,
    tap: T,
    lines: Vec<LineAddress>,
}

impl<E, T> TappedEngine<E, T>
where
    E: FeedEngine,
    T: FnMut(&LineAddress, Now, &Arrival<'_>),
{
    /// An engine without lines, and who is to see what it brings.
    #[must_use]
    pub fn new(engine: E, tap: T) -> Self {
        Self { engine, tap, lines: Vec::new() }
    }

    /// The engine that is tapped.
    #[must_use]
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// The engine that is tapped, for what it can do beside feeding channels.
    pub fn engine_mut(&mut self) -> &mut E {
        &mut self.engine
    }

    /// The tap.
    pub fn tap(&mut self) -> &mut T {
        &mut self.tap
    }
}

impl<E, T> FeedEngine for TappedEngine<E, T>
where
    E: FeedEngine,
    T: FnMut(&LineAddress, Now, &Arrival<'_>),
{
    const HAS_OWN_TIME: bool = E::HAS_OWN_TIME;

    fn open(&mut self, address: &LineAddress) -> io::Result<LineId> {
        let line = self.engine.open(address)?;
        self.lines.push(address.clone());
        Ok(line)
    }

    fn join(&mut self, line: LineId) -> io::Result<()> {
        self.engine.join(line)
    }

    fn leave(&mut self, line: LineId) -> io::Result<()> {
        self.engine.leave(line)
    }

    fn close(&mut self) -> io::Result<()> {
        self.lines.clear();
        self.engine.close()
    }

    #[inline]
    fn wait(&mut self, now: Instant, deadline: Option<Instant>) -> io::Result<()> {
        self.engine.wait(now, deadline)
    }

    #[inline]
    fn receive(
        &mut self,
        now: Now,
        on: &mut impl FnMut(Now, Arrival<'_>),
    ) -> Result<(), EngineError> {
        let Self { engine, tap, lines } = self;
        engine.receive(now, &mut |at: Now, arrival: Arrival<'_>| {
            tap(&lines[arrival.line.as_usize()], at, &arrival);
            on(at, arrival);
        })
    }

    #[inline]
    fn has_more(&self, line: LineId) -> bool {
        self.engine.has_more(line)
    }

    #[inline]
    fn now(&self, now: Now) -> Now {
        self.engine.now(now)
    }

    #[inline]
    fn next_deadline(&self) -> Option<Instant> {
        self.engine.next_deadline()
    }

    #[inline]
    fn streams(&mut self) -> Option<(&mut Reactor, Ready)> {
        self.engine.streams()
    }

    fn figures(&self, line: LineId) -> LineFigures {
        self.engine.figures(line)
    }

    fn is_over(&self) -> bool {
        self.engine.is_over()
    }
}
