//! Replay of a capture in capture time.

use std::io::Read;

use hairpin_time::{Duration, Instant, Now, Utc};

use super::{CaptureError, CaptureReader, Frame, Pacer, Speed};

/// The time that the replay continues after the last frame, for timers of a protocol: longer than a
/// reorder window, shorter than a heartbeat timeout.
const TAIL_TIME: Duration = Duration::from_secs(1);

/// A replay of a capture, with a clock that shows capture time.
///
/// The owner of the replay and of a protocol requests each step and carries it out:
///
/// ```
/// use hairpin_endpoint::capture::{CaptureError, Replay, Step};
/// use hairpin_time::{Instant, Now};
/// # trait Protocol {
/// #     fn poll_timeout(&self) -> Option<Instant>;
/// #     fn handle_timeout(&mut self, now: Now);
/// #     fn handle_packet(&mut self, now: Now, bytes: &[u8]);
/// # }
/// # fn read_clock() -> Instant { Instant::ZERO }
/// # fn sleep_until(_: Instant) {}
///
/// fn run(
///     replay: &mut Replay<impl std::io::Read>,
///     protocol: &mut impl Protocol,
/// ) -> Result<(), CaptureError> {
///     loop {
///         match replay.step(read_clock(), protocol.poll_timeout())? {
///             Step::Wait(until) => sleep_until(until),
///             Step::Timeout(now) => protocol.handle_timeout(now),
///             Step::Frame(now) => {
///                 let frame = replay.frame().expect("a frame step has a frame");
///                 protocol.handle_packet(now, frame.bytes);
///             }
///             Step::End => return Ok(()),
///         }
///     }
/// }
/// ```
///
/// The clock is constant between steps. It is the frame's time at a frame step and the deadline at
/// a timeout step, independent of the caller's clock. So timers behave as during the capture, and
/// the outcome is the same at any speed.
#[derive(Debug)]
pub struct Replay<R> {
    reader: CaptureReader<R>,
    pacer: Pacer,
    clock: Instant,
    started: bool,
    /// `true` if a frame was read but not yet returned.
    pending: bool,
    /// The end of capture time, once the last frame was returned.
    end: Option<Instant>,
}

/// The next step of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Wait until this instant on the caller's clock.
    Wait(Instant),
    /// The deadline has expired at this capture time.
    Timeout(Now),
    /// [`Replay::frame`] has arrived at this capture time.
    Frame(Now),
    /// The capture has ended.
    End,
}

impl<R: Read> Replay<R> {
    /// Creates a replay of a capture at this speed.
    pub fn new(reader: CaptureReader<R>, speed: Speed) -> Self {
        let pacer = Pacer::new(speed);
        let clock = Instant::ZERO;
        Self { reader, pacer, clock, started: false, pending: false, end: None }
    }

    /// Returns the next step. `now` is the time on the caller's clock, and `deadline` the
    /// protocol's deadline on the replay's clock. Capture time continues for one second after the
    /// last frame.
    ///
    /// # Errors
    /// The errors of the file; see [`CaptureReader::next_frame`]. After an error, only the
    /// deadlines of the last second and the end follow.
    #[inline]
    pub fn step(&mut self, now: Instant, deadline: Option<Instant>) -> Result<Step, CaptureError> {
        if !self.pending && self.end.is_none() {
            let advanced = self.reader.advance();
            match advanced {
                Ok(true) => {
                    self.pending = true;
                    if !self.started {
                        // The clock starts at the first frame, so no deadline is late.
                        self.started = true;
                        self.clock = self.time_of_frame();
                    }
                }
                _ => self.end = Some(self.clock + TAIL_TIME),
            }
            advanced?;
        }
        let next = match self.end {
            Some(end) => end,
            None => self.time_of_frame(),
        };
        let due = deadline.filter(|deadline| *deadline <= next);
        if due.is_none() && self.end.is_some() {
            return Ok(Step::End);
        }
        // A deadline in the past is due immediately.
        let at = due.unwrap_or(next).max(self.clock);
        let until = self.pacer.due(at, now);
        if until > now {
            return Ok(Step::Wait(until));
        }
        self.clock = at;
        if due.is_some() {
            return Ok(Step::Timeout(self.now()));
        }
        self.pending = false;
        Ok(Step::Frame(self.now()))
    }

    /// Returns the frame of the last [`Step::Frame`].
    #[must_use]
    #[inline]
    pub fn frame(&self) -> Option<Frame<'_>> {
        if self.pending { None } else { self.reader.frame() }
    }

    /// Returns the underlying reader, with the interfaces and the file offset.
    #[must_use]
    pub fn reader(&self) -> &CaptureReader<R> {
        &self.reader
    }

    /// Returns the replay's time. Both clocks show capture time.
    #[must_use]
    pub fn now(&self) -> Now {
        Now { monotonic: self.clock, utc: Utc::from_nanos(self.clock.as_nanos()) }
    }

    /// Returns the time of the pending frame. A frame without a time, or with an earlier time than
    /// its predecessor (as with two interfaces), has its predecessor's time.
    #[inline]
    fn time_of_frame(&self) -> Instant {
        let time = self.reader.frame().and_then(|frame| frame.time);
        let at = time.map_or(self.clock, |time| Instant::from_nanos(time.utc.as_nanos()));
        at.max(self.clock)
    }
}
