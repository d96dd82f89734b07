//! Which packet of the incremental feed is next, when two sides send each of them.
//!
//! Packets are taken by sequence: what was taken is a duplicate, what is ahead waits for the hole
//! to be filled. Sequences of different *epochs* do not compare: numbering restarts each week,
//! after a channel reset, and when a publisher is started again, and the sides need not restart
//! at the same moment. So each side carries the epoch it is in, and a side that has not restarted
//! yet is not listened to.
//!
//! Within a numbering what is sent later has a higher number. So a packet is of another one if a
//! number as high as its own was sent before it, on its side; and it goes back in time, though its
//! side has restarted, if it is of the one before. SendingTime is no finer than the exchange's
//! clock, which may stamp a ChannelReset and what is behind it alike: then the numbers from before
//! that time tell, or if there are none, that it is packet 1 and the reset the packet before.
//!
//! One packet is never believed to have changed everything. If its number is far ahead, or falls
//! without a reset before it, or it was sent in this host's future, it is set aside until another
//! packet goes on from there; the stream it does not belong to leaves it behind.

mod line_state;

use core::cmp::Ordering;

use hairpin_time::{Duration, Utc};

use crate::{FeedLine, PacketHeader};
use line_state::{LineState, MAX_LINE_LAG, PreviousEpoch};

/// What to do with a packet of the incremental feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is the next one.
    Next,
    /// Packets before it are missing.
    Ahead,
    /// It was processed before.
    Duplicate,
    /// Its side is still in the numbering before the restart.
    OlderEpoch,
    /// It does not go with what came before it, and nothing confirms it yet: to be set aside.
    Suspect,
    /// It goes on from the one set aside: both are to be judged by [`Arbiter::accept`] now.
    Confirms,
}

/// A verdict, and whether the packet began a new epoch: then nothing before it counts any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arbitration {
    pub(crate) verdict: Verdict,
    pub(crate) restart: Option<Restart>,
}

/// What is known of the reason for a restart of the numbering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restart {
    /// A ChannelReset was processed right before: the books are known to be empty.
    AfterReset,
    /// Nothing announced it.
    Unannounced,
}

/// How much earlier than the first side's the SendingTime of the other side's restart may be.
const CLOCK_SKEW: Duration = Duration::from_secs(1);

/// How far ahead of the host's clock a SendingTime may be. A clock that trades is set to better
/// than this; one that is not costs the wait for a second packet, once.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(10);

/// How much later than the last packet of its side a packet may be sent without a look at the
/// clock.
const MAX_PAUSE_NS: u64 = CLOCK_TOLERANCE.as_nanos();

/// How far ahead a sequence may be without another to confirm it: farther than both sides lose
/// together but in an outage.
const MAX_JUMP: u32 = 1_000;

/// How far a packet may be ahead of the doubtful one it confirms: a stream goes on from there, two
/// strays are rarely so near each other.
const MAX_CONFIRM_STEP: u32 = 32;

/// What does not go with what came before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SuspectReason {
    /// It was sent in the host's future.
    Future,
    /// Its sequence was passed, but it was sent later: another numbering, if anything.
    Fall,
    /// The same of a side that is in the numbering before a restart. The other side has restarted,
    /// so that nothing is missed meanwhile.
    Follow,
    /// Its sequence is far ahead.
    Jump,
}

/// The packet set aside.
#[derive(Debug, Clone, Copy)]
struct SuspectPacket {
    reason: SuspectReason,
    line: FeedLine,
    sequence: u32,
    sending_time: Utc,
    /// Where the stream was when it came: if it has gone on from there since, it was a stray.
    progress: [u32; 2],
}

#[derive(Debug)]
pub(crate) struct Arbiter {
    /// The next sequence; meaningless until `started`.
    expected: u32,
    started: bool,
    epoch: u32,
    epoch_began: Utc,
    /// The sequence of a ChannelReset, until a later packet of the same numbering is processed.
    reset_at: Option<u32>,
    /// The sequence of the ChannelReset that ended the numbering before, if one did.
    previous_reset: Option<u32>,
    lines: [LineState; 2],
    max_jump: u32,
    /// What is missing is asked for: until it comes the sides run ahead of what is expected.
    waiting_for_replay: bool,
    /// How far ahead of the host's clock packets may be.
    tolerance: Duration,
    suspect: Option<SuspectPacket>,
}

impl Arbiter {
    /// Reads what a packet would.
    #[inline]
    pub(crate) fn prefetch(&self) {
        core::hint::black_box((self.expected, self.lines, self.epoch, self.suspect));
    }

    /// An arbiter that believes any jump within the reorder window.
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

    /// The sequence that comes next.
    pub(crate) fn expected(&self) -> u32 {
        self.expected
    }

    /// The SendingTime of the first packet of the current numbering, if it has ever restarted.
    pub(crate) fn epoch_began(&self) -> Utc {
        self.epoch_began
    }

    /// The latest SendingTime that can be believed when the host's clock shows `utc`. A clock at
    /// the epoch is none.
    pub(crate) fn latest_credible(&self, utc: Utc) -> Utc {
        if utc == Utc::EPOCH { Utc::from_nanos(u64::MAX) } else { utc + self.tolerance }
    }

    /// Whether a packet simply is the next of its side, and notes it if so: then all there is to
    /// judge is whether its sequence is the expected one, was before or is ahead. Any other packet
    /// wants [`Self::judge`].
    #[inline]
    pub(crate) fn advance_if_next(&mut self, line: FeedLine, header: PacketHeader) -> bool {
        let PacketHeader { sequence, sending_time } = header;
        let state = &mut self.lines[line as usize];
        let later = sending_time.as_nanos().wrapping_sub(state.sending_time.as_nanos());
        let advance_if_next = sequence == state.sequence.wrapping_add(1)
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
        match sequence.cmp(&self.expected) {
            Ordering::Equal => Verdict::Next,
            Ordering::Greater => Verdict::Ahead,
            Ordering::Less => Verdict::Duplicate,
        }
    }

    /// Notes that everything before `expected` has been processed or given up.
    #[inline]
    pub(crate) fn advance_to(&mut self, expected: u32) {
        self.expected = expected;
        if self.reset_at.is_some_and(|reset_at| expected > reset_at.saturating_add(1)) {
            self.reset_at = None;
        }
    }

    /// Notes a ChannelReset in the packet `sequence`: the numbering may restart after it.
    pub(crate) fn record_reset(&mut self, sequence: u32) {
        self.reset_at = Some(sequence);
    }

    /// Judges a packet that is its side's first, or not the next on it, by its header. Changes
    /// nothing but what is known of its side, and the expected sequence if the numbering starts or
    /// restarts.
    #[cold]
    pub(crate) fn judge(&mut self, line: FeedLine, header: PacketHeader, utc: Utc) -> Arbitration {
        let state = self.lines[line as usize];
        if let Some(verdict) = state.previous_epoch_verdict(header, self.previous_reset)
            && !self.starts_new_numbering(state, header)
        {
            if verdict == Verdict::Suspect {
                // Nothing confirms it: one old packet may follow another.
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

    /// What makes a packet doubtful, if anything does.
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
            let is_announced = header.sequence == 1 || after_reset;
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

    /// Notes whether packets that are missing are asked for.
    pub(crate) fn set_waiting_for_replay(&mut self, waits: bool) {
        self.waiting_for_replay = waits;
    }

    /// How far the stream has come: to the expected packet, or while that is asked for, to the
    /// highest of either side.
    fn highest_sequence(&self) -> u32 {
        let current = self.lines.iter().filter(|line| line.epoch == self.epoch);
        let highest = current.map(|line| line.sequence).max();
        let ahead = highest.filter(|_| self.waiting_for_replay).unwrap_or(0);
        self.expected.max(ahead)
    }

    /// Whether a doubtful packet goes on from the one set aside, which nothing has left behind.
    fn confirms(&self, reason: SuspectReason, line: FeedLine, header: PacketHeader) -> bool {
        self.suspect.is_some_and(|first| {
            first.reason == reason
                && header.sequence.wrapping_sub(first.sequence) <= MAX_CONFIRM_STEP
                && header.sending_time >= first.sending_time
                && (header.sequence != first.sequence || line != first.line)
                && self.progress(reason, first.line) == first.progress
        })
    }

    /// Nothing is set aside any more.
    pub(crate) fn clear_suspect(&mut self) {
        self.suspect = None;
    }

    /// What tells whether the stream goes on without the doubtful packet: how far the sides have
    /// come, or if one is to follow the other, that one.
    fn progress(&self, reason: SuspectReason, line: FeedLine) -> [u32; 2] {
        let own = self.lines[line as usize].sequence;
        let [a, b] = self.lines.map(|state| state.sequence);
        if reason == SuspectReason::Follow { [own, own] } else { [a, b] }
    }

    /// Judges a packet that is believed whatever its number, and finds the epoch of its side.
    #[cold]
    pub(crate) fn accept(&mut self, line: FeedLine, header: PacketHeader) -> Arbitration {
        let PacketHeader { sequence, sending_time } = header;
        let state = self.lines[line as usize];
        if !self.started {
            self.started = true;
            self.expected = sequence;
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
        // A side that is not listened to does not have its jumps confirmed: they are left out.
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

    /// Whether a packet of a side is of another numbering than those before it.
    fn starts_new_numbering(&self, state: LineState, header: PacketHeader) -> bool {
        let reset_at = if state.epoch == self.epoch { self.reset_at } else { self.previous_reset };
        state.seen && (state.starts_new_numbering(header) || state.follows_reset(header, reset_at))
    }

    /// Whether a side whose numbering does not restart here is in the current epoch.
    fn is_current(&self, state: LineState, sending_time: Utc) -> bool {
        state.epoch == self.epoch
            || sending_time > self.epoch_began + MAX_LINE_LAG
            || (!state.seen && self.epoch == 0)
    }

    /// The side restarts: either into a new epoch, or into the one the other side has begun.
    fn restart(&mut self, line: FeedLine, header: PacketHeader) -> Option<Restart> {
        let PacketHeader { sequence, sending_time } = header;
        let leads = self.lines[line as usize].epoch == self.epoch;
        let follows = !leads && sending_time + CLOCK_SKEW >= self.epoch_began;
        if leads {
            self.epoch += 1;
            self.epoch_began = sending_time;
            self.expected = 1;
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
        match (leads, self.reset_at.is_some()) {
            (false, _) => None,
            (true, true) => {
                self.reset_at = None;
                Some(Restart::AfterReset)
            }
            (true, false) => Some(Restart::Unannounced),
        }
    }
}

#[cfg(test)]
mod tests;
