//! A/B arbitration of the incremental feed: decides which packet is next when two lines carry each
//! packet.
//!
//! Packets are ordered by MsgSeqNum. A number already processed is a duplicate; a number ahead
//! waits until the gap is filled. Numbers of different *epochs* do not compare. An epoch is one run
//! of packet numbers from 1: numbering restarts each week, after a channel reset, and when CME
//! restarts a publisher. The two lines need not restart at the same moment. Each line therefore has
//! its own epoch, and packets of a line that has not restarted yet are ignored. The packet after
//! number 4,294,967,295 starts an epoch too, without a loss.
//!
//! Within an epoch, a packet sent later has a higher number. A packet belongs to another epoch if
//! its line sent an equal or higher number before it. It belongs to the previous epoch, although
//! its line has restarted, if its SendingTime is earlier than the restart.
//!
//! SendingTime is only as fine as the exchange's clock. A ChannelReset and the packets after it may
//! carry the same time. In that case the numbers sent before that time decide. Without any, packet
//! 1 directly after the reset starts the new epoch.
//!
//! A single packet never changes the state of the feed. A packet is suspect if its number is far
//! ahead, if its number falls without a reset before it, or if its SendingTime is in this host's
//! future. The channel keeps it until another packet continues from it. If the stream continues
//! elsewhere, the suspect packet was a stray and is dropped.

mod line_state;

use core::cmp::Ordering;

use hairpin_time::{Duration, Utc};

use crate::{FeedLine, PacketHeader};
use line_state::{LineState, MAX_LINE_LAG, PreviousEpoch};

/// The treatment of an incremental packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The packet is the next in sequence.
    Next,
    /// Packets before this one are missing.
    Ahead,
    /// The packet was processed before.
    Duplicate,
    /// The packet's line is still in the epoch before the restart.
    OlderEpoch,
    /// The packet does not continue the stream and no other packet confirms it yet. The caller
    /// keeps it.
    Suspect,
    /// The packet continues the suspect one. The caller passes both to [`Arbiter::accept`].
    Confirms,
}

/// A verdict, and whether the packet started a new epoch. A restart invalidates all earlier
/// packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arbitration {
    pub(crate) verdict: Verdict,
    pub(crate) restart: Option<Restart>,
}

/// The cause of a restart of packet numbering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restart {
    /// A ChannelReset was processed directly before, so all books are empty.
    AfterReset,
    /// No ChannelReset preceded the restart.
    Unannounced,
    /// The highest number was processed directly before, so no packet is missing.
    Wrapped,
}

/// The number after the highest one, which no packet has.
const END: u64 = 1 << 32;

/// The most by which the second line's restart may be earlier in SendingTime than the first line's.
const CLOCK_SKEW: Duration = Duration::from_secs(1);

/// The most by which a SendingTime may be ahead of the host's clock. Hosts that trade keep their
/// clock far better than this. A host with a worse clock waits once for a second packet.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(10);

/// The longest pause in SendingTime, in nanoseconds, that skips the check against the host's clock.
const MAX_PAUSE_NS: u64 = CLOCK_TOLERANCE.as_nanos();

/// The largest jump in sequence accepted without confirmation. Except in an outage, both lines
/// together lose fewer packets.
const MAX_JUMP: u32 = 1_000;

/// The largest distance between a suspect packet and the one that confirms it. A stream continues
/// within it; two strays are rarely this close.
const MAX_CONFIRM_STEP: u32 = 32;

/// The reason why a packet is suspect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SuspectReason {
    /// The SendingTime is in the host's future.
    Future,
    /// The sequence was passed, but the packet was sent later: possibly a new epoch.
    Fall,
    /// Same as `Fall`, on a line that is still in the epoch before a restart. The other line has
    /// restarted, so no packet is missed meanwhile.
    Follow,
    /// The sequence is far ahead.
    Jump,
}

/// A suspect packet, kept until another packet confirms it.
#[derive(Debug, Clone, Copy)]
struct SuspectPacket {
    reason: SuspectReason,
    line: FeedLine,
    sequence: u32,
    sending_time: Utc,
    /// The position of the stream when the packet arrived. If the stream has advanced since, the
    /// packet was a stray.
    progress: [u32; 2],
}

#[derive(Debug)]
pub(crate) struct Arbiter {
    /// The next sequence, or [`END`]; meaningless before `started`.
    expected: u64,
    started: bool,
    epoch: u32,
    epoch_began: Utc,
    /// The sequence of a ChannelReset, until a later packet of the same epoch is processed.
    reset_at: Option<u32>,
    /// The sequence of the ChannelReset that ended the previous epoch, if one did.
    previous_reset: Option<u32>,
    lines: [LineState; 2],
    max_jump: u32,
    /// A replay of missing packets is in progress: until it ends, the lines run ahead of
    /// `expected`.
    waiting_for_replay: bool,
    /// The most by which a SendingTime may be ahead of the host's clock.
    tolerance: Duration,
    suspect: Option<SuspectPacket>,
}

impl Arbiter {
    /// Reads the fields that arbitration of a packet reads, to keep them in the caches.
    #[inline]
    pub(crate) fn prefetch(&self) {
        core::hint::black_box((self.expected, self.lines, self.epoch, self.suspect));
    }

    /// Creates an arbiter that accepts any jump within the reorder window.
    pub(crate) fn new(reorder_packets: usize) -> Self {
        let window = u32::try_from(reorder_packets).unwrap_or(u32::MAX);
        Self {
            expected: 0,
            started: false,
            epoch: 0,
            epoch_began: Utc::EPOCH,
            reset_at: None,
            previous_reset: None,
            lines: [LineState::default(); 2],
            max_jump: MAX_JUMP.max(window),
            waiting_for_replay: false,
            tolerance: CLOCK_TOLERANCE,
            suspect: None,
        }
    }

    /// Returns the sequence of the next packet; 0 after the highest.
    pub(crate) fn expected(&self) -> u32 {
        self.expected as u32
    }

    /// Compares a packet's sequence with that of the next packet.
    #[inline]
    pub(crate) fn compare(&self, sequence: u32) -> Ordering {
        u64::from(sequence).cmp(&self.expected)
    }

    /// Returns the SendingTime of the first packet of the current epoch, or `Utc::EPOCH` if
    /// numbering has never restarted.
    pub(crate) fn epoch_began(&self) -> Utc {
        self.epoch_began
    }

    /// Returns the latest credible SendingTime when the host's clock shows `utc`. A clock at
    /// `Utc::EPOCH` counts as not set and accepts every time.
    pub(crate) fn latest_credible(&self, utc: Utc) -> Utc {
        if utc == Utc::EPOCH { Utc::from_nanos(u64::MAX) } else { utc + self.tolerance }
    }

    /// Records the packet and returns `true` if it directly follows the last packet of its line.
    /// The caller then only compares its sequence with [`Self::expected`]. Any other packet goes to
    /// [`Self::judge`].
    #[inline]
    pub(crate) fn advance_if_next(&mut self, line: FeedLine, header: PacketHeader) -> bool {
        let PacketHeader { sequence, sending_time } = header;
        let state = &mut self.lines[line as usize];
        let later = sending_time.as_nanos().wrapping_sub(state.sending_time.as_nanos());
        let advance_if_next = u64::from(sequence) == u64::from(state.sequence) + 1
            && later <= MAX_PAUSE_NS
            && state.seen
            && state.epoch == self.epoch;
        if advance_if_next {
            if later > 0 {
                state.earlier_sequence = state.sequence;
            }
            (state.sequence, state.sending_time) = (sequence, sending_time);
        }
        advance_if_next
    }

    fn classify(&self, sequence: u32) -> Verdict {
        match self.compare(sequence) {
            Ordering::Equal => Verdict::Next,
            Ordering::Greater => Verdict::Ahead,
            Ordering::Less => Verdict::Duplicate,
        }
    }

    /// Records that everything before `expected` was processed or declared lost.
    pub(crate) fn advance_to(&mut self, expected: u32) {
        self.set_expected(u64::from(expected));
    }

    /// Records that everything up to packet `sequence` was processed.
    #[inline]
    pub(crate) fn advance_past(&mut self, sequence: u32) {
        self.set_expected(u64::from(sequence) + 1);
    }

    #[inline]
    fn set_expected(&mut self, expected: u64) {
        self.expected = expected;
        if self.reset_at.is_some_and(|reset_at| expected > u64::from(reset_at) + 1) {
            self.reset_at = None;
        }
    }

    /// Records a ChannelReset in packet `sequence`: numbering may restart after it.
    pub(crate) fn record_reset(&mut self, sequence: u32) {
        self.reset_at = Some(sequence);
    }

    /// Classifies a packet that is the first of its line or not the next on it. Changes only the
    /// state of its line, and the expected sequence if numbering starts or restarts.
    #[cold]
    pub(crate) fn judge(&mut self, line: FeedLine, header: PacketHeader, utc: Utc) -> Arbitration {
        let state = self.lines[line as usize];
        if let Some(verdict) = state.previous_epoch_verdict(header, self.previous_reset)
            && !self.starts_new_numbering(state, header)
        {
            if verdict == Verdict::Suspect {
                // Not confirmed by this packet: one old packet may follow another.
                self.suspect = None;
            }
            return Arbitration { verdict, restart: None };
        }
        let Some(reason) = self.suspect_reason(line, header, utc) else {
            return self.accept(line, header);
        };
        let PacketHeader { sequence, sending_time } = header;
        let verdict = if self.confirms(reason, line, header) {
            if reason == SuspectReason::Future {
                self.tolerance = sending_time.saturating_since(utc) + CLOCK_TOLERANCE;
            }
            self.suspect = None;
            Verdict::Confirms
        } else {
            let progress = self.progress(reason, line);
            self.suspect = Some(SuspectPacket { reason, line, sequence, sending_time, progress });
            if reason == SuspectReason::Follow { Verdict::OlderEpoch } else { Verdict::Suspect }
        };
        Arbitration { verdict, restart: None }
    }

    /// Returns the reason why a packet is suspect, if any.
    fn suspect_reason(
        &self,
        line: FeedLine,
        header: PacketHeader,
        utc: Utc,
    ) -> Option<SuspectReason> {
        let state = self.lines[line as usize];
        if header.sending_time > self.latest_credible(utc) {
            return Some(SuspectReason::Future);
        }
        if !self.started {
            return None;
        }
        if self.starts_new_numbering(state, header) {
            let after_reset = self.reset_at.is_some_and(|reset_at| state.sequence >= reset_at);
            let is_at_end = state.sequence == u32::MAX;
            let is_announced = header.sequence == 1 || after_reset || is_at_end;
            let leads = state.epoch == self.epoch;
            return (!is_announced).then_some(if leads {
                SuspectReason::Fall
            } else {
                SuspectReason::Follow
            });
        }
        let is_far_ahead = header.sequence > self.highest_sequence().saturating_add(self.max_jump);
        (is_far_ahead && self.is_current(state, header.sending_time)).then_some(SuspectReason::Jump)
    }

    /// Sets whether a replay of missing packets is in progress.
    pub(crate) fn set_waiting_for_replay(&mut self, waits: bool) {
        self.waiting_for_replay = waits;
    }

    /// Returns the highest sequence reached: the expected one or, during a replay, the highest of
    /// either line.
    fn highest_sequence(&self) -> u32 {
        let current = self.lines.iter().filter(|line| line.epoch == self.epoch);
        let highest = current.map(|line| line.sequence).max();
        let ahead = highest.filter(|_| self.waiting_for_replay).unwrap_or(0);
        u32::try_from(self.expected).map_or(u32::MAX, |expected| expected.max(ahead))
    }

    /// Returns `true` if a suspect packet continues the kept one, and the stream has not advanced
    /// since.
    fn confirms(&self, reason: SuspectReason, line: FeedLine, header: PacketHeader) -> bool {
        self.suspect.is_some_and(|first| {
            first.reason == reason
                && header.sequence.wrapping_sub(first.sequence) <= MAX_CONFIRM_STEP
                && header.sending_time >= first.sending_time
                && (header.sequence != first.sequence || line != first.line)
                && self.progress(reason, first.line) == first.progress
        })
    }

    /// Forgets the suspect packet.
    pub(crate) fn clear_suspect(&mut self) {
        self.suspect = None;
    }

    /// Returns the position that shows whether the stream continues without the suspect packet: the
    /// last sequences of both lines or, for `Follow`, of its own line.
    fn progress(&self, reason: SuspectReason, line: FeedLine) -> [u32; 2] {
        let own = self.lines[line as usize].sequence;
        let [a, b] = self.lines.map(|state| state.sequence);
        if reason == SuspectReason::Follow { [own, own] } else { [a, b] }
    }

    /// Classifies a packet accepted regardless of its number, and determines the epoch of its line.
    #[cold]
    pub(crate) fn accept(&mut self, line: FeedLine, header: PacketHeader) -> Arbitration {
        let PacketHeader { sequence, sending_time } = header;
        let state = self.lines[line as usize];
        if !self.started {
            self.started = true;
            self.expected = sequence.into();
        }
        let restart = if self.starts_new_numbering(state, header) {
            self.restart(line, header)
        } else {
            let is_current = self.is_current(state, sending_time);
            let state = &mut self.lines[line as usize];
            if is_current && state.epoch != self.epoch {
                (state.sequence, state.earlier_sequence, state.epoch) = (0, 0, self.epoch);
            }
            state.seen = true;
            None
        };
        let state = &mut self.lines[line as usize];
        let is_older = state.epoch != self.epoch;
        // Jumps on an ignored line are not confirmed, so they are not recorded.
        let step = sequence.checked_sub(state.sequence);
        if step.is_some_and(|step| !is_older || step <= self.max_jump) {
            if step != Some(1) && state.sequence != 0 {
                (state.jumped_from, state.jumped_to) = (state.sequence, sequence);
            }
            state.advance_to(header);
        } else if state.resumes_after_stray(header) {
            state.advance_to(header);
        }
        let verdict = if is_older { Verdict::OlderEpoch } else { self.classify(sequence) };
        Arbitration { verdict, restart }
    }

    /// Returns `true` if a packet belongs to another epoch than those before it on its line.
    fn starts_new_numbering(&self, state: LineState, header: PacketHeader) -> bool {
        let reset_at = if state.epoch == self.epoch { self.reset_at } else { self.previous_reset };
        state.seen && (state.starts_new_numbering(header) || state.follows_reset(header, reset_at))
    }

    /// Returns `true` if a line that does not restart with this packet is in the current epoch.
    fn is_current(&self, state: LineState, sending_time: Utc) -> bool {
        state.epoch == self.epoch
            || sending_time > self.epoch_began + MAX_LINE_LAG
            || (!state.seen && self.epoch == 0)
    }

    /// Restarts a line, either into a new epoch or into the epoch that the other line has started.
    fn restart(&mut self, line: FeedLine, header: PacketHeader) -> Option<Restart> {
        let PacketHeader { sequence, sending_time } = header;
        let leads = self.lines[line as usize].epoch == self.epoch;
        let follows = !leads && sending_time + CLOCK_SKEW >= self.epoch_began;
        let wraps = self.expected == END;
        if leads {
            self.epoch += 1;
            self.epoch_began = sending_time;
            self.expected = sequence.min(1).into();
            self.previous_reset = self.reset_at;
        }
        let state = &mut self.lines[line as usize];
        if leads || follows {
            state.epoch = self.epoch;
        }
        let LineState { sequence: last, sending_time: sent, earlier_sequence, .. } = *state;
        let (restarted_at, restarted) = (sequence, sending_time);
        state.previous = PreviousEpoch {
            sequence: last,
            sending_time: sent,
            earlier_sequence,
            restarted_at,
            restarted,
        };
        (state.sequence, state.sending_time) = (sequence, sending_time);
        (state.earlier_sequence, state.jumped_to) = (0, 0);
        match (leads, self.reset_at.take_if(|_| leads)) {
            (false, _) => None,
            (true, Some(_)) => Some(Restart::AfterReset),
            (true, None) if wraps => Some(Restart::Wrapped),
            (true, None) => Some(Restart::Unannounced),
        }
    }
}

#[cfg(test)]
mod tests;
