//! The set of changed parts of a book.

/// A set of changed parts of an instrument's books.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Changes(u8);

impl Changes {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// Any level on either side of the direct book.
    pub const BOOK: Self = Self(1);
    /// The best bid: its price, quantity, number of orders or presence.
    pub const BEST_BID: Self = Self(1 << 1);
    /// The best ask: its price, quantity, number of orders or presence.
    pub const BEST_ASK: Self = Self(1 << 2);
    /// The price or presence of the best bid.
    pub const BEST_BID_PRICE: Self = Self(1 << 3);
    /// The price or presence of the best ask.
    pub const BEST_ASK_PRICE: Self = Self(1 << 4);
    /// Any level on either side of the implied book.
    pub const IMPLIED: Self = Self(1 << 5);
    /// The best implied bid: its price, quantity or presence.
    pub const BEST_IMPLIED_BID: Self = Self(1 << 6);
    /// The best implied ask: its price, quantity or presence.
    pub const BEST_IMPLIED_ASK: Self = Self(1 << 7);

    /// Returns `true` if all of `others` have changed.
    #[must_use]
    pub const fn contains(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// Returns `true` if any of `others` has changed.
    #[must_use]
    pub const fn intersects(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Returns `true` if the best direct price of either side has changed.
    #[must_use]
    pub const fn best_price(self) -> bool {
        self.intersects(Self(Self::BEST_BID_PRICE.0 | Self::BEST_ASK_PRICE.0))
    }

    /// Returns the union of both sets.
    #[must_use]
    pub const fn union(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Converts changes of a direct book to the same changes of an implied book.
    pub(crate) const fn to_implied(self) -> Self {
        Self((self.0 & (Self::BOOK.0 | Self::BEST_BID.0 | Self::BEST_ASK.0)) << 5)
    }
}
