//! What a tracker of orders counts.

macro_rules! counters {
    ($($(#[$doc:meta])* $counter:ident,)*) => {
        /// What [`Orders`](super::Orders) was told, and what it could not follow.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct OrdersCounters {
            $($(#[$doc])* pub $counter: u64,)*
        }

        impl OrdersCounters {
            /// Every counter with its name, in the order of declaration.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($counter), self.$counter)),*].into_iter()
            }
        }
    };
}

counters! {
    /// Requests of ours.
    requests,
    /// Messages of the exchange that were applied.
    applied,
    /// Messages that were delivered again and had been applied already.
    repeated,
    /// Orders that came by a report though nobody had sent them: those of an earlier run whose
    /// journal is gone, or what could not be tracked when it was sent.
    adopted,
    /// Requests that were not applied, or not answered before a later session began.
    not_applied,
    /// Warnings: orders that are not tracked because every place is taken.
    untracked_orders,
    /// Warnings: requests that are not tracked because too many are unanswered.
    untracked_requests,
    /// Warnings: reports on orders that are not known and can be known no more.
    unknown,
    /// Warnings: reports and records that could not be decoded.
    undecodable,
    /// Errors: messages of the exchange that will never come: what they said of orders is not
    /// known. Ask for the status of all.
    lost,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_with_their_values() {
        let counters = OrdersCounters { adopted: 3, ..OrdersCounters::default() };
        assert_eq!(counters.iter().find(|(name, _)| *name == "adopted"), Some(("adopted", 3)));
        assert_eq!(counters.iter().map(|(_, value)| value).sum::<u64>(), 3);
    }
}
