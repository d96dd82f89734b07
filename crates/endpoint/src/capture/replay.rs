//! A capture through time: what a protocol would have seen, and when.

use std::io::Read;

use hairpin_time::{Duration, Instant, Now, Utc};

use super::{CaptureError, CaptureReader, Frame, Pace, Speed};

/// How long time goes on behind the last frame, for what waits for another: longer than any wait
/// for a packet that came out of order, shorter than silence.
const AFTER_THE_LAST: Duration = Duration::from_secs(1);

/// Replays a capture on a clock of its own, which shows the capture's time.
///
/// Whoever owns it and a protocol asks for the next step, and does it:
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
///                 let frame = replay.frame().expect("there is one behind this step");
///                 protocol.handle_packet(now, frame.bytes);
///             }
///             Step::End => return Ok(()),
///         }
///     }
/// }
/// ```
///
/// The clock stands between steps: it is at the frame's time when a frame is given and at the
/// deadline when that is due, whatever our own clock says. So timers behave as they did when the
/// capture was made, and the outcome is the same at any speed.
#[derive(Debug)]
pub struct Replay<R> {
    reader: CaptureReader<R>,
    pace: Pace,
    clock: Instant,
    has_begun: bool,
    /// A frame was read and not yet given.
    is_pending: bool,
    /// The last frame was given: when time ends.
    end: Option<Instant>,
}

/// What is to be done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nothing before this moment of our own clock.
    Wait(Instant),
    /// The deadline is due; it is now so late in the capture.
    Timeout(Now),
    /// [`Replay::frame`] has come; it is now so late in the capture.
    Frame(Now),
    /// There is nothing more.
    End,
}

impl<R: Read> Replay<R> {
    /// A capture that was just opened, at this speed.
    pub fn new(reader: CaptureReader<R>, speed: Speed) -> Self {
        let pace = Pace::new(speed);
        let clock = Instant::ZERO;
        Self { reader, pace, clock, has_begun: false, is_pending: false, end: None }
    }

    /// What is next, at `now` of our own clock, where the protocol's deadline on the replay's
    /// clock is `deadline`. Behind the last frame time goes on for a second.
    ///
    /// # Errors
    /// What is wrong with the file; see [`CaptureReader::next_frame`]. After that there are only
    /// the deadlines of the last second, and the end.
    #[inline]
    pub fn step(&mut self, now: Instant, deadline: Option<Instant>) -> Result<Step, CaptureError> {
        if !self.is_pending && self.end.is_none() {
            let advanced = self.reader.advance();
            match advanced {
                Ok(true) => {
                    self.is_pending = true;
                    if !self.has_begun {
                        // Nothing has happened before the first frame, so nothing is late.
                        self.has_begun = true;
                        self.clock = self.time_of_frame();
                    }
                }
                _ => self.end = Some(self.clock + AFTER_THE_LAST),
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
        // A deadline that has passed already is due at once.
        let at = due.unwrap_or(next).max(self.clock);
        let until = self.pace.due(at, now);
        if until > now {
            return Ok(Step::Wait(until));
        }
        self.clock = at;
        if due.is_some() {
            return Ok(Step::Timeout(self.now()));
        }
        self.is_pending = false;
        Ok(Step::Frame(self.now()))
    }

    /// The frame of the last [`Step::Frame`].
    #[must_use]
    #[inline]
    pub fn frame(&self) -> Option<Frame<'_>> {
        if self.is_pending { None } else { self.reader.frame() }
    }

    /// The reader beneath: interfaces, and how far the file is used.
    #[must_use]
    pub fn reader(&self) -> &CaptureReader<R> {
        &self.reader
    }

    /// What the replay's clock shows: both clocks the capture's time.
    #[must_use]
    pub fn now(&self) -> Now {
        Now { monotonic: self.clock, utc: Utc::from_nanos(self.clock.as_nanos()) }
    }

    /// When the pending frame comes. One that the file has no time of comes with the one before;
    /// so does one that is stamped earlier, as of two interfaces.
    #[inline]
    fn time_of_frame(&self) -> Instant {
        let time = self.reader.frame().and_then(|frame| frame.time);
        let at = time.map_or(self.clock, |time| Instant::from_nanos(time.utc.as_nanos()));
        at.max(self.clock)
    }
}
