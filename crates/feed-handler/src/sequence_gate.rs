//! The release gate of incremental packets from two TCP connections.

use hairpin_mdp3::Feed;

/// A gate for incremental packets from both sides of a TCP channel, and the set of joined feeds.
///
/// A newly connected side starts at the live end of the feed. The other side may still have
/// thousands of earlier packets buffered, more than the channel's reorder window holds. TCP
/// delivers these packets for certain, so the side that is ahead waits for them.
#[derive(Debug, Default)]
pub(crate) struct SequenceGate {
    /// The feeds that the channel has joined.
    pub(crate) joined: [bool; Feed::ALL.len()],
    /// The sequence number after the last admitted packet; `None` before the first.
    next: Option<u32>,
    /// `true` if the other side may still deliver the missing packets.
    pub(crate) may_hold: bool,
}

impl SequenceGate {
    /// Returns `true` if a packet may be delivered now, and records it.
    ///
    /// A sequence reset is admitted; the channel detects it.
    #[inline]
    pub(crate) fn admits(&mut self, sequence: u32) -> bool {
        if self.may_hold && self.is_ahead(sequence) {
            return false;
        }
        let after = sequence.wrapping_add(1);
        self.next = match self.next {
            Some(next) if sequence > 1 => Some(next.max(after)),
            _ => Some(after),
        };
        true
    }

    /// Returns `true` if packets before this one are missing.
    #[inline]
    pub(crate) fn is_ahead(&self, sequence: u32) -> bool {
        self.next.is_some_and(|next| sequence > next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_a_packet_ahead_only_while_the_other_side_may_deliver() {
        let mut gate = SequenceGate { may_hold: true, ..SequenceGate::default() };
        assert!(gate.admits(10) && gate.admits(11) && gate.admits(10));
        assert!(!gate.admits(13));
        assert!(gate.admits(12) && gate.admits(13));
        gate.may_hold = false;
        assert!(gate.admits(20) && gate.admits(14));
        gate.may_hold = true;
        assert!(gate.admits(21) && !gate.admits(23));
    }

    #[test]
    fn admits_a_sequence_reset() {
        let mut gate = SequenceGate { may_hold: true, ..SequenceGate::default() };
        assert!(gate.admits(1_000) && gate.admits(1) && gate.admits(2));
        assert!(!gate.admits(4));
        // The other side has not reset; the channel resolves the difference.
        gate.may_hold = false;
        assert!(gate.admits(1_001));
    }
}
