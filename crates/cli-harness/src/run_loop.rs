//! The run loop of the commands that serve sockets.
//!
//! ```text
//! turn: poll → handle → timers     the task's own
//! notices → counters → clock       housekeeping, as far as the turn leaves time for it
//! stop requested? finished?
//! ```
//!
//! A command implements [`Task`]; [`RunLoop::run`] does the rest. A task whose clock must not
//! change during a measurement returns no clock, and is not recalibrated.

use std::io;

use anyhow::Result;
use hairpin_host::Clock;
use hairpin_mapped::CounterWriter;
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Duration, Instant, Now};

use super::counter_publisher::CounterPublisher;
use super::datapath::OpenTransport;

/// The time that a turn leaves for housekeeping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// Nothing is in progress: notices are printed, counters published at most every 10 ms, and the
    /// clock recalibrated.
    Idle,
    /// An event was handled: counters are published at most every 100 ms, and the clock is
    /// recalibrated.
    Busy,
    /// An event is due within microseconds: counters are published at most every 100 ms.
    Critical,
}

impl Activity {
    /// Returns [`Activity::Idle`] if `idle`, else [`Activity::Busy`].
    #[inline]
    pub fn idle_if(idle: bool) -> Self {
        if idle { Self::Idle } else { Self::Busy }
    }
}

/// A turn that has ended.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    /// The time at which its events were handled.
    pub now: Instant,
    /// What the task did in it.
    pub activity: Activity,
}

/// The work of a command inside the loop.
pub trait Task {
    /// Polls for events, handles them, and handles the timers that have expired.
    ///
    /// # Errors
    /// An error that ends the command.
    fn turn(&mut self) -> Result<Turn>;

    /// Starts to end the task after a stop request; called once, at `now`.
    ///
    /// # Errors
    /// An error that ends the command at once.
    fn stop(&mut self, now: Instant) -> Result<()>;

    /// Returns `true` if no further turn is needed.
    fn is_finished(&self) -> bool;

    /// Returns the clock to recalibrate, or `None` if it must stay as it is.
    fn clock(&mut self) -> Option<&mut Clock>;

    /// Writes the counters that `hairpin stat` shows.
    fn write_counters(&self, _writer: &mut CounterWriter<'_>) {}
}

/// A loop with the counters and the transport that its housekeeping serves.
#[derive(Debug, Default)]
pub struct RunLoop {
    counters: CounterPublisher,
    transport: Option<OpenTransport>,
}

impl RunLoop {
    /// Returns a loop that prints the notices of `transport`.
    pub fn with_transport(transport: OpenTransport) -> Self {
        Self { transport: Some(transport), ..Self::default() }
    }

    /// Publishes the counters of `task` from now on; see [`CounterPublisher::new`].
    pub fn publish(&mut self, title: &str, name: &str, task: &impl Task) {
        let transport = self.transport.as_ref();
        self.counters =
            CounterPublisher::new(title, name, |writer| write_counters(writer, task, transport));
    }

    /// Runs `task` until it is finished and returns `true` if a stop was requested.
    ///
    /// # Errors
    /// Those of the task.
    #[inline]
    pub fn run(&mut self, task: &mut impl Task, stop_requested: impl Fn() -> bool) -> Result<bool> {
        let mut stopped = false;
        while !task.is_finished() {
            let Turn { now, activity } = task.turn()?;
            let idle = activity == Activity::Idle;
            if let Some(transport) = &mut self.transport {
                transport.print_pending_notices(now, idle);
            }
            let transport = self.transport.as_ref();
            self.counters
                .update_if_due(now, idle, |writer| write_counters(writer, task, transport));
            if activity != Activity::Critical
                && let Some(clock) = task.clock()
            {
                clock.recalibrate_if_due(now);
            }
            if !stopped && stop_requested() {
                stopped = true;
                task.stop(now)?;
            }
        }
        Ok(stopped)
    }
}

fn write_counters(
    writer: &mut CounterWriter<'_>,
    task: &impl Task,
    transport: Option<&OpenTransport>,
) {
    task.write_counters(writer);
    if let Some(transport) = transport {
        transport.write_counters(writer);
    }
}

/// Waits until a source is ready or `deadline`, at most `max_sleep`, and reads the clock again.
///
/// # Errors
/// Those of the reactor.
#[inline]
pub fn poll(
    clock: &Clock,
    reactor: &mut Reactor,
    deadline: Option<Instant>,
    max_sleep: Duration,
) -> io::Result<(Now, Ready)> {
    let before = clock.instant();
    let latest = before + max_sleep;
    let deadline = deadline.map_or(latest, |deadline| deadline.min(latest));
    let ready = reactor.wait(before, Some(deadline))?;
    Ok((clock.now(), ready))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A task that counts its turns and ends two turns after a stop.
    struct Counting {
        clock: Clock,
        turns: u64,
        left: Option<u64>,
    }

    impl Task for Counting {
        fn turn(&mut self) -> Result<Turn> {
            self.turns += 1;
            self.left = self.left.map(|left| left - 1);
            Ok(Turn { now: Instant::from_nanos(u64::MAX / 2), activity: Activity::Busy })
        }

        fn stop(&mut self, _: Instant) -> Result<()> {
            assert_eq!(self.left.replace(2), None, "stopped once");
            Ok(())
        }

        fn is_finished(&self) -> bool {
            self.left == Some(0)
        }

        fn clock(&mut self) -> Option<&mut Clock> {
            Some(&mut self.clock)
        }
    }

    #[test]
    fn stops_once_and_runs_until_the_task_is_finished() {
        let mut task = Counting { clock: Clock::from_kernel(), turns: 0, left: None };
        let polls = Cell::new(0);
        let stop_requested = || {
            polls.set(polls.get() + 1);
            polls.get() >= 3
        };
        assert!(RunLoop::default().run(&mut task, stop_requested).unwrap());
        assert_eq!((task.turns, polls.get()), (5, 3));
    }

    #[test]
    fn recalibrates_the_clock_of_a_busy_task() {
        let mut task = Counting { clock: Clock::from_kernel(), turns: 0, left: Some(1) };
        assert!(!RunLoop::default().run(&mut task, || false).unwrap());
        // The first calibration is due after 10 ms and moves the next one into the future.
        let soon = task.clock.instant() + Duration::from_millis(5);
        assert!(!task.clock.recalibrate_if_due(soon), "the loop has recalibrated");
        assert!(task.clock.recalibrate_if_due(soon + Duration::from_millis(30)));
    }
}
