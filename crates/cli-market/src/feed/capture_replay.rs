//! The replay of a capture through a channel.

use std::io::{self, Read, Write};

use hairpin_endpoint::capture::{CaptureReader, Frame, Payload, Speed, Step};
use hairpin_feed_handler::{CaptureGroups, Channel, Input};
use hairpin_host::Clock;
use hairpin_time::{Duration, Instant, Now, Utc};

use super::counters::ChannelCounters;
use super::printer::Printer;
use super::statistics::Traffic;
use crate::decode::capture::{Captured, Links};

/// The longest sleep: a signal is handled within this time.
const MAX_SLEEP: Duration = Duration::from_millis(50);
/// Frames between two checks whether to stop, at full speed.
const FRAMES_PER_POLL: u64 = 64;

/// The replay of a capture through a channel.
pub(super) struct CaptureReplay<'a, O, E> {
    pub(super) channel: Channel,
    pub(super) figures: ChannelCounters,
    pub(super) printer: Printer<'a, O, E>,
    pub(super) groups: CaptureGroups,
    pub(super) clock: Clock,
    /// When it ends by itself, on this host's clock.
    pub(super) until: Option<Instant>,
    pub(super) links: Links,
    pub(super) traffic: Traffic,
}

impl<O: Write, E: Write> CaptureReplay<'_, O, E> {
    /// Replays the capture to its end, or until `stop_requested`, and prints the state of the
    /// channel.
    ///
    /// # Errors
    /// If it is not a capture, if it has no packet of the channel's groups, or if nothing can be
    /// written.
    pub(super) fn run(
        mut self,
        input: impl Read,
        speed: Speed,
        stop_requested: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        match self.replay(input, speed, stop_requested) {
            Ok(()) => self.printer.finish(&self.channel, &self.traffic),
            Err(error) => {
                self.printer.write_errors()?;
                Err(error)
            }
        }
    }

    fn replay(
        &mut self,
        input: impl Read,
        speed: Speed,
        stop_requested: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        let mut replay = hairpin_endpoint::capture::Replay::new(CaptureReader::new(input)?, speed);
        let is_paced = speed != Speed::FlatOut;
        let mut frames = 0_u64;
        loop {
            frames += 1;
            let is_look = is_paced || frames.is_multiple_of(FRAMES_PER_POLL);
            // At full speed nothing is due on this host's clock except the periodic checks.
            let now = if is_look { self.clock.instant() } else { Instant::ZERO };
            match replay.step(now, self.channel.poll_timeout()) {
                Ok(Step::Frame(at)) => {
                    if let Some(frame) = replay.frame() {
                        self.frame(at, &frame)?;
                    }
                }
                Ok(Step::Timeout(at)) => self.channel.handle_timeout(of(at), &mut self.printer),
                Ok(Step::Wait(until)) => {
                    self.figures.update_in_turn(self.printer.counts, &self.channel);
                    std::thread::sleep(until.saturating_since(now).min(MAX_SLEEP).into());
                }
                Ok(Step::End) if self.is_anothers() => {
                    let what = "no packet of the channel's groups in this capture";
                    return Err(io::Error::new(io::ErrorKind::InvalidData, what));
                }
                Ok(Step::End) => {
                    self.printer.check_selection(&self.channel);
                    break;
                }
                Err(error) => self.printer.error(&error.to_string()),
            }
            self.printer.tick(now, replay.now(), &self.traffic, &self.channel)?;
            let is_over = self.until.is_some_and(|until| now >= until);
            if is_look && (is_over || stop_requested()) {
                break;
            }
        }
        self.figures.update(self.printer.counts, &self.channel);
        Ok(())
    }

    /// Returns `true` if the capture has no packet of the channel, and no error explains it.
    fn is_anothers(&self) -> bool {
        self.traffic.packets == 0 && self.printer.counts.errors == 0
    }

    /// Handles the next packet of the file.
    fn frame(&mut self, at: Now, frame: &Frame<'_>) -> io::Result<()> {
        self.printer.counts.packets += 1;
        let Captured { time, payload, protocol } = self.links.captured(frame);
        match payload {
            Ok(Payload::Datagram { destination, bytes, .. }) => {
                if let Some((feed, side)) = self.groups.find(destination) {
                    self.traffic.packets += 1;
                    self.traffic.bytes += bytes.len() as u64;
                    let input = Input { feed, line: side, received: time };
                    self.channel.handle_packet(of(at), input, bytes, &mut self.printer);
                    while self.channel.poll_action().is_some() {}
                }
            }
            Ok(_) => {
                let others = &mut self.printer.others;
                protocol.into_iter().for_each(|protocol| others.count_protocol(protocol));
            }
            Err(what) => self.printer.error(&what),
        }
        self.figures.update_if_due(self.printer.counts, &self.channel);
        self.printer.outcome()
    }
}

/// The capture's clock is unknown, so the channel must not compare SendingTime with it.
fn of(now: Now) -> Now {
    Now { utc: Utc::EPOCH, ..now }
}
