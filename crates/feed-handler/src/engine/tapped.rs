//! An engine with a packet tap.

use std::io;

use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Instant, Now};

use crate::{Arrival, EngineError, FeedEngine, LineAddress, LineCounters, LineId};

/// An engine that shows each packet to a tap before delivery, for example to a recorder.
///
/// The tap receives every packet, including duplicates, with line, sender and timestamp. The tap
/// must not block.
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
    /// Creates a tapped engine without lines.
    #[must_use]
    pub fn new(engine: E, tap: T) -> Self {
        Self { engine, tap, lines: Vec::new() }
    }

    /// Returns the inner engine.
    #[must_use]
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// Returns the inner engine mutably, for functions beyond [`FeedEngine`].
    pub fn engine_mut(&mut self) -> &mut E {
        &mut self.engine
    }

    /// Returns the tap.
    pub fn tap(&mut self) -> &mut T {
        &mut self.tap
    }
}

impl<E, T> FeedEngine for TappedEngine<E, T>
where
    E: FeedEngine,
    T: FnMut(&LineAddress, Now, &Arrival<'_>),
{
    const HAS_OWN_CLOCK: bool = E::HAS_OWN_CLOCK;

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

    fn line_counters(&self, line: LineId) -> LineCounters {
        self.engine.line_counters(line)
    }

    fn is_finished(&self) -> bool {
        self.engine.is_finished()
    }
}
