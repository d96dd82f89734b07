//! Which packet of the incremental feed may be handed over.

use hairpin_mdp3::Feed;

/// What the sides of a channel have brought together, and what of it is wanted.
///
/// A side that has just been connected begins at the live end of the feed, while the other may
/// have thousands of packets to bring that lie before: more than the channel can hold. By TCP they
/// are sure to come, so that the side that is ahead waits for them.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// Feeds that the channel has joined.
    pub(crate) joined: [bool; Feed::ALL.len()],
    /// The packet behind the last one handed over; `None` before the first.
    next: Option<u32>,
    /// Whether the other side may still bring what is missing.
    pub(crate) may_wait: bool,
}

impl Order {
    /// Whether a packet is handed over now; if so it is noted.
    ///
    /// A numbering that restarts is taken as it comes: it is for the channel to find out.
    #[inline]
    pub(crate) fn admits(&mut self, sequence: u32) -> bool {
        if self.may_wait && self.is_ahead(sequence) {
            return false;
        }
        let behind = sequence.wrapping_add(1);
        self.next = match self.next {
            Some(next) if sequence > 1 => Some(next.max(behind)),
            _ => Some(behind),
        };
        true
    }

    /// Whether packets before this one are missing.
    #[inline]
    pub(crate) fn is_ahead(&self, sequence: u32) -> bool {
        self.next.is_some_and(|next| sequence > next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_is_ahead_waits_only_for_another_side() {
        let mut order = Order { may_wait: true, ..Order::default() };
        assert!(order.admits(10) && order.admits(11) && order.admits(10));
        assert!(!order.admits(13));
        assert!(order.admits(12) && order.admits(13));
        order.may_wait = false;
        assert!(order.admits(20) && order.admits(14));
        order.may_wait = true;
        assert!(order.admits(21) && !order.admits(23));
    }

    #[test]
    fn a_numbering_that_restarts_is_followed() {
        let mut order = Order { may_wait: true, ..Order::default() };
        assert!(order.admits(1_000) && order.admits(1) && order.admits(2));
        assert!(!order.admits(4));
        // The other side has not restarted: that is the channel's business.
        order.may_wait = false;
        assert!(order.admits(1_001));
    }
}
