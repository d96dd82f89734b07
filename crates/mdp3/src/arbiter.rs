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

use core::cmp::Ordering;

use hairpin_time::{Duration, Utc};

use crate::{PacketHeader, Side};

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
    Doubtful,
    /// It goes on from the one set aside: both are to be judged by [`Arbiter::settle`] now.
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

/// How much later than the first side the other may restart, by SendingTime, before it is taken
/// to have restarted unseen. CME restarts its sides within about a second.
const LONGEST_LAG: Duration = Duration::from_secs(5);

/// How much earlier than the first side's the SendingTime of the other side's restart may be.
const CLOCK_SKEW: Duration = Duration::from_secs(1);

/// How far ahead of the host's clock a SendingTime may be. A clock that trades is set to better
/// than this; one that is not costs the wait for a second packet, once.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(10);

/// How much later than the last packet of its side a packet may be sent without a look at the
/// clock.
const LONGEST_PAUSE: u64 = CLOCK_TOLERANCE.as_nanos();

/// How far ahead a sequence may be without another to confirm it: farther than both sides lose
/// together but in an outage.
const LONGEST_JUMP: u32 = 1_000;

/// How far a packet may be ahead of the doubtful one it confirms: a stream goes on from there, two
/// strays are rarely so near each other.
const LONGEST_STEP: u32 = 32;

#[derive(Debug, Default, Clone, Copy)]
struct SideState {
    seen: bool,
    epoch: u32,
    /// The highest sequence in this epoch, and the SendingTime of its packet.
    sequence: u32,
    sending_time: Utc,
    /// The highest sequence in this epoch that is known to have been sent before that.
    earlier: u32,
    /// The last time that sequences were left out: from where to where.
    jumped_from: u32,
    jumped_to: u32,
    /// Where the side was when it last restarted.
    left: Left,
}

/// The end of a side's numbering, as in [`SideState`].
#[derive(Debug, Default, Clone, Copy)]
struct Left {
    sequence: u32,
    sending_time: Utc,
    earlier: u32,
}

/// What does not go with what came before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doubt {
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
struct Doubtful {
    doubt: Doubt,
    side: Side,
    sequence: u32,
    sending_time: Utc,
    /// Where the stream was when it came: if it has gone on from there since, it was a stray.
    mark: [u32; 2],
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
    ended_at: Option<u32>,
    sides: [SideState; 2],
    longest_jump: u32,
    /// How far ahead of the host's clock packets may be.
    tolerance: Duration,
    doubtful: Option<Doubtful>,
}

impl Arbiter {
    /// An arbiter that believes any jump within the reorder window.
    pub(crate) fn new(reorder_packets: usize) -> Self {
        let window = u32::try_from(reorder_packets).unwrap_or(u32::MAX);
        Self {
            expected: 0,
            started: false,
            epoch: 0,
            epoch_began: Utc::EPOCH,
            reset_at: None,
            ended_at: None,
            sides: [SideState::default(); 2],
            longest_jump: LONGEST_JUMP.max(window),
            tolerance: CLOCK_TOLERANCE,
            doubtful: None,
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

    /// Judges a packet by its header. Changes nothing but what is known of its side, and the
    /// expected sequence if the numbering starts or restarts.
    pub(crate) fn judge(&mut self, side: Side, header: PacketHeader, utc: Utc) -> Arbitration {
        if self.goes_on(side, header) {
            Arbitration { verdict: self.place(header.sequence), restart: None }
        } else {
            self.judge_odd(side, header, utc)
        }
    }

    /// Whether a packet simply is the next of its side, and notes it if so: then all there is to
    /// judge is whether its sequence is the expected one, was before or is ahead.
    #[inline]
    pub(crate) fn goes_on(&mut self, side: Side, header: PacketHeader) -> bool {
        let PacketHeader { sequence, sending_time } = header;
        let state = &mut self.sides[side as usize];
        let later = sending_time.as_nanos().wrapping_sub(state.sending_time.as_nanos());
        let goes_on = sequence == state.sequence.wrapping_add(1)
            && later <= LONGEST_PAUSE
            && state.seen
            && state.epoch == self.epoch;
        if goes_on {
            if later > 0 {
                state.earlier = state.sequence;
            }
            (state.sequence, state.sending_time) = (sequence, sending_time);
        }
        goes_on
    }

    fn place(&self, sequence: u32) -> Verdict {
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
    pub(crate) fn note_reset(&mut self, sequence: u32) {
        self.reset_at = Some(sequence);
    }

    /// Judges a packet that is its side's first, or not the next on it.
    #[cold]
    fn judge_odd(&mut self, side: Side, header: PacketHeader, utc: Utc) -> Arbitration {
        let state = self.sides[side as usize];
        if let Some(verdict) = state.left_behind(header)
            && !self.falls(state, header)
        {
            if verdict == Verdict::Doubtful {
                // Nothing confirms it: one old packet may follow another.
                self.doubtful = None;
            }
            return Arbitration { verdict, restart: None };
        }
        let Some(doubt) = self.doubt(side, header, utc) else { return self.settle(side, header) };
        let PacketHeader { sequence, sending_time } = header;
        let verdict = if self.confirms(doubt, side, header) {
            if doubt == Doubt::Future {
                self.tolerance = sending_time.saturating_since(utc) + CLOCK_TOLERANCE;
            }
            self.doubtful = None;
            Verdict::Confirms
        } else {
            let mark = self.mark(doubt, side);
            self.doubtful = Some(Doubtful { doubt, side, sequence, sending_time, mark });
            if doubt == Doubt::Follow { Verdict::OlderEpoch } else { Verdict::Doubtful }
        };
        Arbitration { verdict, restart: None }
    }

    /// What makes a packet doubtful, if anything does.
    fn doubt(&self, side: Side, header: PacketHeader, utc: Utc) -> Option<Doubt> {
        let state = self.sides[side as usize];
        if header.sending_time > self.latest_credible(utc) {
            return Some(Doubt::Future);
        }
        if !self.started {
            return None;
        }
        if self.falls(state, header) {
            let after_reset = self.reset_at.is_some_and(|reset_at| state.sequence >= reset_at);
            let is_announced = header.sequence == 1 || after_reset;
            let leads = state.epoch == self.epoch;
            return (!is_announced).then_some(if leads { Doubt::Fall } else { Doubt::Follow });
        }
        let is_far_ahead = header.sequence > self.expected.saturating_add(self.longest_jump);
        (is_far_ahead && self.is_current(state, header.sending_time)).then_some(Doubt::Jump)
    }

    /// Whether a doubtful packet goes on from the one set aside, which nothing has left behind.
    fn confirms(&self, doubt: Doubt, side: Side, header: PacketHeader) -> bool {
        self.doubtful.is_some_and(|first| {
            first.doubt == doubt
                && header.sequence.wrapping_sub(first.sequence) <= LONGEST_STEP
                && header.sending_time >= first.sending_time
                && (header.sequence != first.sequence || side != first.side)
                && self.mark(doubt, first.side) == first.mark
        })
    }

    /// What tells whether the stream goes on without the doubtful packet: how far the sides have
    /// come, or if one is to follow the other, that one.
    fn mark(&self, doubt: Doubt, side: Side) -> [u32; 2] {
        let own = self.sides[side as usize].sequence;
        let [a, b] = self.sides.map(|state| state.sequence);
        if doubt == Doubt::Follow { [own, own] } else { [a, b] }
    }

    /// Judges a packet that is believed whatever its number, and finds the epoch of its side.
    #[cold]
    pub(crate) fn settle(&mut self, side: Side, header: PacketHeader) -> Arbitration {
        let PacketHeader { sequence, sending_time } = header;
        let state = self.sides[side as usize];
        if !self.started {
            self.started = true;
            self.expected = sequence;
        }
        let restart = if self.falls(state, header) {
            self.restart(side, header)
        } else {
            let is_current = self.is_current(state, sending_time);
            let state = &mut self.sides[side as usize];
            if is_current && state.epoch != self.epoch {
                (state.sequence, state.earlier, state.epoch) = (0, 0, self.epoch);
            }
            state.seen = true;
            None
        };
        let state = &mut self.sides[side as usize];
        let is_older = state.epoch != self.epoch;
        // A side that is not listened to does not have its jumps confirmed: they are left out.
        let step = sequence.checked_sub(state.sequence);
        if step.is_some_and(|step| !is_older || step <= self.longest_jump) {
            if step != Some(1) && state.sequence != 0 {
                (state.jumped_from, state.jumped_to) = (state.sequence, sequence);
            }
            state.advance_to(header);
        } else if state.returns(header) {
            state.advance_to(header);
        }
        let verdict = if is_older { Verdict::OlderEpoch } else { self.place(sequence) };
        Arbitration { verdict, restart }
    }

    /// Whether a packet of a side is of another numbering than those before it.
    fn falls(&self, state: SideState, header: PacketHeader) -> bool {
        let reset_at = if state.epoch == self.epoch { self.reset_at } else { self.ended_at };
        state.seen && (state.falls(header) || state.follows_reset(header, reset_at))
    }

    /// Whether a side whose numbering does not restart here is in the current epoch.
    fn is_current(&self, state: SideState, sending_time: Utc) -> bool {
        state.epoch == self.epoch
            || sending_time > self.epoch_began + LONGEST_LAG
            || (!state.seen && self.epoch == 0)
    }

    /// The side restarts: either into a new epoch, or into the one the other side has begun.
    fn restart(&mut self, side: Side, header: PacketHeader) -> Option<Restart> {
        let PacketHeader { sequence, sending_time } = header;
        let leads = self.sides[side as usize].epoch == self.epoch;
        let follows = !leads && sending_time + CLOCK_SKEW >= self.epoch_began;
        if leads {
            self.epoch += 1;
            self.epoch_began = sending_time;
            self.expected = 1;
            self.ended_at = self.reset_at;
        }
        let state = &mut self.sides[side as usize];
        if leads || follows {
            state.epoch = self.epoch;
        }
        let SideState { sequence: last, sending_time: sent, earlier, .. } = *state;
        state.left = Left { sequence: last, sending_time: sent, earlier };
        (state.sequence, state.sending_time) = (sequence, sending_time);
        (state.earlier, state.jumped_to) = (0, 0);
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

impl SideState {
    /// Whether the packet's sequence was passed before it was sent: its numbering is another.
    fn falls(self, header: PacketHeader) -> bool {
        match header.sending_time.cmp(&self.sending_time) {
            Ordering::Less => false,
            Ordering::Equal => header.sequence <= self.earlier,
            Ordering::Greater => header.sequence <= self.sequence && !self.returns(header),
        }
    }

    /// Whether the packet is number 1, right behind the ChannelReset `reset_at` and of the same
    /// time. It could be a copy of an old packet 1 only if all the numbering were of that time.
    fn follows_reset(self, header: PacketHeader, reset_at: Option<u32>) -> bool {
        header.sequence == 1
            && header.sending_time == self.sending_time
            && reset_at == Some(self.sequence)
    }

    /// What becomes of a packet of the numbering that the side has left, come late: it is dropped.
    /// One of the very time of the restart may be of either numbering, so that this is told.
    fn left_behind(self, header: PacketHeader) -> Option<Verdict> {
        let Left { sequence, sending_time, earlier } = self.left;
        let is_next = header.sequence == self.sequence.wrapping_add(1);
        match header.sending_time.cmp(&sending_time) {
            _ if is_next => None,
            // A clock that was set back since is another matter.
            Ordering::Less if header.sending_time + LONGEST_LAG > sending_time => {
                Some(Verdict::Duplicate)
            }
            Ordering::Equal if header.sequence > earlier && header.sequence <= sequence => {
                Some(Verdict::Doubtful)
            }
            _ => None,
        }
    }

    /// Notes the packet as the side's last.
    fn advance_to(&mut self, header: PacketHeader) {
        let PacketHeader { sequence, sending_time } = header;
        self.earlier = match sending_time.cmp(&self.sending_time) {
            Ordering::Equal => self.earlier,
            Ordering::Greater if sequence > self.sequence => self.sequence,
            _ => 0,
        };
        (self.sequence, self.sending_time) = (sequence, sending_time);
    }

    /// Whether the last packet jumped and this one goes on from before: then that was a stray.
    fn returns(self, header: PacketHeader) -> bool {
        self.sequence == self.jumped_to
            && header.sequence > self.jumped_from
            && header.sequence < self.jumped_to
            && header.sending_time > self.sending_time
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Side::{A, B};
    use Verdict::{Ahead, Confirms, Doubtful, Duplicate, Next, OlderEpoch};

    /// Drives an arbiter with `side sequence @ seconds`, processing whatever is next. Packets come
    /// when they are sent, by a clock that is right unless it is set.
    struct Trace {
        arbiter: Arbiter,
        restarts: u32,
        /// The packet set aside.
        aside: Option<(Side, PacketHeader)>,
        clock: Option<u64>,
    }

    impl Default for Trace {
        fn default() -> Self {
            Self { arbiter: Arbiter::new(8), restarts: 0, aside: None, clock: None }
        }
    }

    impl Trace {
        #[track_caller]
        fn packet(&mut self, side: Side, sequence: u32, second: u64, verdict: Verdict) {
            let at = |second: u64| Utc::from_nanos(second * 1_000_000_000);
            let header = PacketHeader { sequence, sending_time: at(second) };
            let utc = at(self.clock.unwrap_or(second));
            let arbitration = self.arbiter.judge(side, header, utc);
            assert_eq!(arbitration.verdict, verdict, "{side}{sequence} at {second} s");
            match verdict {
                Doubtful => self.aside = Some((side, header)),
                Confirms => {
                    if let Some((first, first_header)) = self.aside.take() {
                        self.settle(first, first_header);
                    }
                    self.settle(side, header);
                }
                _ => self.take(header, arbitration),
            }
        }

        fn settle(&mut self, side: Side, header: PacketHeader) {
            let arbitration = self.arbiter.settle(side, header);
            self.take(header, arbitration);
        }

        /// Processes what is next; what is ahead is not waited for.
        fn take(&mut self, header: PacketHeader, arbitration: Arbitration) {
            self.restarts += u32::from(arbitration.restart == Some(Restart::Unannounced));
            if arbitration.verdict == Next {
                self.arbiter.advance_to(header.sequence + 1);
            }
        }

        #[track_caller]
        fn reset(&mut self, side: Side, sequence: u32, second: u64) {
            self.packet(side, sequence, second, Next);
            self.arbiter.note_reset(sequence);
        }
    }

    #[test]
    fn the_second_copy_is_a_duplicate_whichever_side_leads() {
        let mut trace = Trace::default();
        trace.packet(A, 7, 1, Next);
        trace.packet(B, 7, 1, Duplicate);
        trace.packet(B, 8, 2, Next);
        trace.packet(A, 8, 2, Duplicate);
    }

    #[test]
    fn a_packet_beyond_the_next_is_ahead_until_the_hole_is_filled() {
        let mut trace = Trace::default();
        trace.packet(A, 1, 1, Next);
        trace.packet(A, 3, 3, Ahead);
        trace.packet(B, 1, 1, Duplicate);
        trace.packet(B, 2, 2, Next);
        trace.packet(B, 3, 3, Next);
    }

    #[test]
    fn an_old_packet_that_comes_late_is_no_restart() {
        let mut trace = Trace::default();
        trace.packet(A, 100, 100, Next);
        trace.packet(A, 101, 101, Next);
        trace.packet(A, 1, 1, Duplicate);
        trace.packet(A, 102, 102, Next);
        // The publisher's clock stepped amid packets that the network reordered.
        trace.packet(A, 100, 103, Doubtful);
        trace.packet(A, 103, 104, Next);
        trace.packet(A, 101, 105, Doubtful);
        assert_eq!(trace.restarts, 0);
    }

    #[test]
    fn both_sides_restart_without_a_reset() {
        let mut trace = Trace::default();
        trace.packet(A, 900, 10, Next);
        trace.packet(B, 900, 10, Duplicate);
        trace.packet(A, 1, 20, Next);
        trace.packet(B, 1, 20, Duplicate);
        trace.packet(A, 2, 21, Next);
        trace.packet(B, 2, 21, Duplicate);
        trace.packet(B, 3, 22, Next);
        assert_eq!(trace.restarts, 1);
    }

    #[test]
    fn a_side_that_has_not_restarted_is_not_listened_to() {
        let mut trace = Trace::default();
        trace.packet(A, 10, 10, Next);
        trace.packet(B, 10, 10, Duplicate);
        trace.packet(A, 1, 11, Next);
        trace.packet(B, 11, 11, OlderEpoch);
        trace.packet(B, 2, 9, OlderEpoch);
        trace.packet(A, 2, 12, Next);
        trace.packet(B, 1, 12, Duplicate);
        trace.packet(B, 3, 13, Next);
    }

    #[test]
    fn a_reset_after_which_numbering_continues_is_no_restart() {
        let mut trace = Trace::default();
        trace.packet(A, 9, 9, Next);
        trace.packet(B, 9, 9, Duplicate);
        trace.reset(A, 10, 10);
        trace.packet(A, 11, 11, Next);
        trace.packet(B, 10, 10, Duplicate);
        trace.packet(B, 12, 12, Next);
        trace.packet(A, 12, 12, Duplicate);
        assert_eq!(trace.arbiter.epoch, 0);
    }

    #[test]
    fn a_restart_after_a_reset_is_announced_even_if_the_first_packets_are_lost() {
        let mut trace = Trace::default();
        trace.packet(A, 9, 9, Next);
        trace.packet(B, 9, 9, Duplicate);
        trace.reset(A, 10, 10);
        trace.packet(A, 3, 11, Ahead);
        trace.packet(B, 10, 11, OlderEpoch);
        trace.packet(B, 1, 12, Next);
        trace.packet(B, 2, 12, Next);
        assert_eq!((trace.arbiter.epoch, trace.restarts), (1, 0));
    }

    #[test]
    fn a_side_that_restarted_unseen_is_heard_again_after_the_longest_lag() {
        let mut trace = Trace::default();
        trace.packet(A, 10, 10, Next);
        trace.packet(B, 10, 10, Duplicate);
        trace.packet(A, 1, 20, Next);
        // B has lost all packets up to where it was: nothing tells this from the old numbering.
        trace.packet(B, 11, 21, OlderEpoch);
        trace.packet(B, 12, 26, Ahead);
    }

    #[test]
    fn a_side_first_heard_after_a_restart_may_still_be_in_the_old_numbering() {
        let mut trace = Trace::default();
        trace.packet(A, 10, 10, Next);
        trace.packet(A, 1, 20, Next);
        trace.packet(B, 11, 20, OlderEpoch);
        trace.packet(B, 1, 21, Duplicate);
        trace.packet(B, 2, 21, Next);
    }

    #[test]
    fn a_jump_far_ahead_is_believed_when_another_packet_goes_on_from_it() {
        let mut trace = Trace::default();
        trace.packet(A, 10, 10, Next);
        trace.packet(B, 10, 10, Duplicate);
        trace.packet(A, 5_000, 11, Doubtful);
        trace.packet(A, 11, 11, Next);
        trace.packet(A, 5_001, 12, Doubtful);
        trace.packet(B, 5_001, 12, Confirms);
        assert_eq!(trace.arbiter.expected(), 12, "what is between is for the window to give up");
        trace.packet(A, 5_002, 13, Ahead);
    }

    #[test]
    fn the_same_packet_twice_on_one_side_confirms_nothing() {
        let mut trace = Trace::default();
        trace.packet(A, 10, 10, Next);
        trace.packet(A, 5_000, 11, Doubtful);
        trace.packet(A, 5_000, 11, Doubtful);
        trace.packet(A, 11, 12, Next);
    }

    #[test]
    fn a_packet_from_the_future_is_set_aside() {
        let mut trace = Trace { clock: Some(10), ..Trace::default() };
        trace.packet(A, 10, 10, Next);
        trace.packet(A, 11, 21, Doubtful);
        trace.packet(A, 11, 20, Next);
        trace.packet(A, 12, 11, Next);
        // The restart after it is seen, which a SendingTime never reached again would hide.
        trace.packet(A, 1, 12, Next);
        assert_eq!(trace.restarts, 1);
    }

    #[test]
    fn a_host_whose_clock_is_slow_hears_the_feed_from_the_second_packet_on() {
        let mut trace = Trace { clock: Some(10), ..Trace::default() };
        trace.packet(A, 10, 3_600, Doubtful);
        trace.packet(B, 10, 3_600, Confirms);
        trace.packet(A, 11, 3_601, Next);
        // Also after a pause.
        trace.clock = Some(70);
        trace.packet(A, 12, 3_661, Next);
        trace.packet(A, 13, 3_600 + 3_700, Doubtful);
    }

    #[test]
    fn a_host_without_a_clock_believes_every_time() {
        let mut trace = Trace { clock: Some(0), ..Trace::default() };
        trace.packet(A, 10, 3_600, Next);
        trace.packet(A, 11, 7_200, Next);
    }

    #[test]
    fn a_restart_from_a_low_sequence_is_seen_though_packet_1_is_lost() {
        let mut trace = Trace::default();
        trace.packet(A, 40, 10, Next);
        trace.packet(B, 40, 10, Duplicate);
        trace.packet(A, 2, 20, Doubtful);
        trace.packet(A, 3, 21, Confirms);
        assert_eq!((trace.restarts, trace.arbiter.expected()), (1, 1));
        trace.packet(B, 2, 20, OlderEpoch);
        trace.packet(B, 3, 21, Confirms);
    }

    #[test]
    fn one_packet_that_falls_is_no_restart() {
        let mut trace = Trace::default();
        trace.packet(A, 900, 10, Next);
        trace.packet(A, 7, 11, Doubtful);
        trace.packet(A, 901, 11, Next);
        trace.packet(A, 8, 12, Doubtful);
        trace.packet(A, 902, 12, Next);
        assert_eq!(trace.restarts, 0);
    }

    #[test]
    fn a_side_that_goes_on_after_a_stray_has_not_restarted() {
        let mut trace = Trace::default();
        trace.packet(A, 97, 10, Next);
        trace.packet(B, 97, 10, Duplicate);
        trace.packet(B, 487, 11, Ahead);
        trace.packet(B, 98, 12, Next);
        trace.packet(B, 99, 13, Next);
        assert_eq!(trace.restarts, 0);
    }

    #[test]
    fn the_restart_of_one_side_explains_that_of_the_other() {
        let mut trace = Trace::default();
        trace.packet(A, 40, 10, Next);
        trace.packet(B, 40, 10, Duplicate);
        trace.packet(A, 1, 20, Next);
        // B lost its packets 1 and 2.
        trace.packet(B, 3, 21, OlderEpoch);
        trace.packet(B, 4, 21, Confirms);
        trace.packet(B, 2, 20, Next);
        assert_eq!(trace.restarts, 1);
    }

    #[test]
    fn a_number_passed_before_a_packets_very_time_is_of_another_numbering() {
        let mut trace = Trace::default();
        trace.packet(A, 99, 9, Next);
        trace.packet(B, 99, 9, Duplicate);
        trace.packet(A, 100, 10, Next);
        trace.reset(A, 101, 10);
        // Packet 1 is lost on A; 99 was sent before, so that 2 cannot be of its numbering.
        trace.packet(A, 2, 10, Ahead);
        trace.packet(A, 3, 10, Ahead);
        trace.packet(B, 101, 10, OlderEpoch);
        trace.packet(B, 1, 10, Next);
        trace.packet(B, 2, 10, Next);
        assert_eq!((trace.arbiter.epoch, trace.restarts), (1, 0));
    }

    #[test]
    fn a_number_passed_at_a_packets_very_time_is_a_duplicate() {
        let mut trace = Trace::default();
        trace.packet(A, 99, 9, Next);
        trace.packet(A, 100, 10, Next);
        trace.reset(A, 101, 10);
        trace.packet(A, 100, 10, Duplicate);
        trace.packet(A, 101, 10, Duplicate);
        trace.packet(A, 102, 10, Next);
        assert_eq!(trace.arbiter.epoch, 0);
    }

    #[test]
    fn packet_1_right_behind_a_reset_follows_it_though_all_were_sent_at_once() {
        let mut trace = Trace::default();
        trace.packet(A, 9, 10, Next);
        trace.packet(B, 9, 10, Duplicate);
        trace.reset(A, 10, 10);
        trace.packet(B, 10, 10, Duplicate);
        // Twice, the second time by the first packet of the new numbering.
        for _ in 0..2 {
            trace.reset(A, 1, 10);
            trace.packet(B, 1, 10, Duplicate);
        }
        trace.packet(A, 1, 10, Next);
        trace.packet(A, 2, 10, Next);
        trace.packet(B, 1, 10, Duplicate);
        trace.packet(B, 2, 10, Duplicate);
        trace.packet(B, 3, 10, Next);
        assert_eq!((trace.arbiter.epoch, trace.restarts), (3, 0));
    }

    #[test]
    fn packet_1_once_more_is_no_restart_when_the_reset_is_behind() {
        let mut trace = Trace::default();
        trace.reset(A, 1, 10);
        trace.packet(A, 2, 10, Next);
        trace.packet(A, 1, 10, Duplicate);
        trace.packet(A, 3, 10, Next);
        assert_eq!(trace.arbiter.epoch, 0);
    }

    #[test]
    fn what_a_side_has_left_behind_does_not_count_in_its_new_numbering() {
        let mut trace = Trace::default();
        trace.packet(A, 98, 9, Next);
        trace.packet(A, 99, 10, Next);
        trace.reset(A, 100, 10);
        trace.packet(A, 1, 10, Next);
        trace.packet(A, 98, 9, Duplicate);
        trace.packet(A, 99, 10, Doubtful);
        // Of the very time of the restart: nobody can tell, and one does not confirm the other.
        trace.packet(A, 100, 10, Doubtful);
        trace.packet(A, 2, 10, Next);
        trace.packet(A, 101, 10, Ahead);
    }

    #[test]
    fn a_new_numbering_may_come_as_far_as_the_old_at_the_time_of_the_reset() {
        let mut trace = Trace::default();
        trace.packet(A, 1, 9, Next);
        trace.packet(A, 2, 10, Next);
        trace.reset(A, 3, 10);
        for sequence in 1..10 {
            trace.packet(A, sequence, 10, Next);
        }
        assert_eq!(trace.arbiter.epoch, 1);
    }

    #[test]
    fn the_first_packets_of_a_new_numbering_may_come_late() {
        let mut trace = Trace::default();
        trace.packet(A, 40, 10, Next);
        trace.reset(A, 41, 11);
        trace.packet(A, 3, 14, Ahead);
        trace.packet(A, 1, 12, Next);
        trace.packet(A, 2, 13, Next);
    }

    #[test]
    fn numbers_passed_before_a_loss_tell_a_numbering_too() {
        let mut trace = Trace::default();
        trace.packet(A, 99, 9, Next);
        trace.packet(B, 100, 10, Next);
        trace.packet(A, 101, 10, Next);
        trace.reset(A, 102, 10);
        trace.packet(A, 2, 10, Ahead);
    }

    #[test]
    fn numbers_passed_before_a_restart_say_nothing_of_the_new_numbering() {
        let mut trace = Trace::default();
        trace.packet(A, 98, 9, Next);
        trace.reset(A, 99, 10);
        trace.packet(A, 1, 10, Next);
        trace.packet(A, 3, 10, Ahead);
        trace.packet(A, 2, 10, Next);
        assert_eq!(trace.arbiter.epoch, 1);
    }

    #[test]
    fn a_packet_that_may_be_of_either_numbering_is_told_and_left_out() {
        let mut trace = Trace::default();
        trace.packet(A, 3, 9, Next);
        trace.reset(A, 4, 10);
        trace.packet(A, 1, 10, Next);
        trace.packet(A, 2, 10, Next);
        // 3 is lost; this could be the reset once more.
        trace.packet(A, 4, 10, Doubtful);
        trace.packet(A, 5, 10, Ahead);
    }

    #[test]
    fn a_packet_that_may_be_of_either_numbering_takes_the_place_of_the_one_set_aside() {
        let mut trace = Trace::default();
        trace.packet(A, 3, 9, Next);
        trace.reset(A, 4, 10);
        trace.packet(A, 1, 10, Next);
        trace.packet(A, 5_000, 10, Doubtful);
        trace.packet(A, 4, 10, Doubtful);
        trace.packet(A, 5_001, 10, Doubtful);
        trace.packet(A, 5_002, 10, Confirms);
    }

    #[test]
    fn a_clock_set_back_after_a_restart_is_followed() {
        let mut trace = Trace::default();
        trace.packet(A, 40, 10, Next);
        trace.packet(A, 1, 20, Next);
        trace.packet(A, 2, 8, Next);
        trace.packet(A, 3, 9, Next);
        // Far back, it is followed even behind a loss.
        trace.packet(A, 5, 3, Ahead);
    }

    #[test]
    fn a_reset_does_not_explain_a_restart_long_after() {
        let mut trace = Trace::default();
        trace.reset(A, 10, 10);
        trace.packet(A, 11, 11, Next);
        trace.packet(A, 1, 12, Next);
        assert_eq!(trace.restarts, 1);
    }

    #[test]
    fn a_side_that_follows_into_an_earlier_numbering_is_not_in_the_latest() {
        let mut trace = Trace::default();
        trace.packet(A, 40, 10, Next);
        trace.packet(B, 40, 10, Duplicate);
        trace.packet(A, 1, 20, Next);
        trace.packet(A, 1, 30, Next);
        trace.packet(B, 1, 20, OlderEpoch);
        trace.packet(B, 2, 20, OlderEpoch);
        trace.packet(B, 1, 30, Duplicate);
        trace.packet(B, 2, 30, Next);
    }

    #[test]
    fn both_sides_restart_at_the_very_time_of_their_last_packets() {
        let mut trace = Trace::default();
        trace.packet(A, 899, 9, Next);
        trace.packet(B, 899, 9, Duplicate);
        trace.packet(A, 900, 10, Next);
        trace.packet(B, 900, 10, Duplicate);
        trace.packet(A, 1, 10, Next);
        trace.packet(A, 2, 10, Next);
        trace.packet(B, 1, 10, Duplicate);
        trace.packet(B, 2, 10, Duplicate);
        trace.packet(B, 3, 11, Next);
        assert_eq!(trace.restarts, 1);
    }

    #[test]
    fn a_stray_does_not_take_a_side_along_that_has_not_restarted() {
        let mut trace = Trace::default();
        trace.packet(A, 900, 10, Next);
        trace.packet(B, 900, 10, Duplicate);
        trace.packet(A, 1, 20, Next);
        trace.packet(B, 2, 20, OlderEpoch);
        trace.packet(B, 901, 20, OlderEpoch);
        trace.packet(B, 3, 21, OlderEpoch);
        trace.packet(B, 902, 21, OlderEpoch);
        // Nor does one make the side's own packets seem to fall.
        trace.packet(B, 1 << 30, 21, OlderEpoch);
        trace.packet(B, 903, 22, OlderEpoch);
        trace.packet(B, 904, 22, OlderEpoch);
        trace.packet(A, 2, 21, Next);
    }
}
