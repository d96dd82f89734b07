//! MatchEventIndicator (5799): the position of a message in its matching event.

/// MatchEventIndicator (5799), a set of bits (CME Client Systems Wiki, page 46476679).
///
/// The exchange sends an event in the order trades, volume, quotes, statistics, implied quotes.
/// Each bit marks the last message of one part, so that part is final before the event ends. A
/// message of a snapshot has no bit.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MatchEvent(pub u8);

impl MatchEvent {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// Returns `true` for the last message with trades (0x01).
    #[must_use]
    pub const fn is_last_trade(self) -> bool {
        self.0 & 0x01 != 0
    }

    /// Returns `true` for the last message with volumes (0x02).
    #[must_use]
    pub const fn is_last_volume(self) -> bool {
        self.0 & 0x02 != 0
    }

    /// Returns `true` for the last message with customer orders or their price levels (0x04).
    #[must_use]
    #[inline]
    pub const fn is_last_quote(self) -> bool {
        self.0 & 0x04 != 0
    }

    /// Returns `true` for the last message with statistics (0x08).
    #[must_use]
    pub const fn is_last_statistics(self) -> bool {
        self.0 & 0x08 != 0
    }

    /// Returns `true` for the last message with implied price levels (0x10).
    #[must_use]
    #[inline]
    pub const fn is_last_implied(self) -> bool {
        self.0 & 0x10 != 0
    }

    /// Returns `true` for a message that the exchange sends again while it recovers, after a
    /// ChannelReset (0x20). Its trades and volumes are not new.
    #[must_use]
    pub const fn is_resent(self) -> bool {
        self.0 & 0x20 != 0
    }

    /// Returns `true` if the reserved bit is set (0x40).
    #[must_use]
    pub const fn is_reserved(self) -> bool {
        self.0 & 0x40 != 0
    }

    /// Returns `true` for the last message of the event (0x80).
    #[must_use]
    #[inline]
    pub const fn is_end_of_event(self) -> bool {
        self.0 & 0x80 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bit_has_its_own_test() {
        for bit in 0..8 {
            let event = MatchEvent(1 << bit);
            let tests = [
                event.is_last_trade(),
                event.is_last_volume(),
                event.is_last_quote(),
                event.is_last_statistics(),
                event.is_last_implied(),
                event.is_resent(),
                event.is_reserved(),
                event.is_end_of_event(),
            ];
            assert_eq!(tests, core::array::from_fn(|test| test == bit), "bit {bit}");
        }
        assert_eq!(MatchEvent::default(), MatchEvent::NONE);
    }
}
