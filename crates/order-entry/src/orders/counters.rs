//! The counters of the order tracker.

macro_rules! counters {
    ($($(#[$doc:meta])* $counter:ident,)*) => {
        /// The counters of [`Orders`](super::Orders).
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct OrdersCounters {
            $($(#[$doc])* pub $counter: u64,)*
        }

        impl OrdersCounters {
            /// Returns every counter with its name, in order of declaration.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($counter), self.$counter)),*].into_iter()
            }
        }
    };
}

counters! {
    /// Requests sent.
    requests,
    /// Messages of the exchange applied.
    applied,
    /// Redelivered messages that had been applied before.
    repeated,
    /// Orders that first appeared in a report: orders of an earlier run without its journal, or
    /// orders that could not be tracked when they were sent.
    adopted,
    /// Requests that were not applied, or not answered before a later session began.
    not_applied,
    /// Warnings: orders not tracked because the tracker is full.
    untracked_orders,
    /// Warnings: requests not tracked because too many are unanswered.
    untracked_requests,
    /// Warnings: reports on orders that the tracker does not have.
    unknown,
    /// Warnings: reports and records that could not be decoded.
    undecodable,
    /// Errors: messages of the exchange that are lost for good. Their order information is unknown;
    /// request the status of all orders.
    lost,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_counters_by_name() {
        let counters = OrdersCounters { adopted: 3, ..OrdersCounters::default() };
        assert_eq!(counters.iter().find(|(name, _)| *name == "adopted"), Some(("adopted", 3)));
        assert_eq!(counters.iter().map(|(_, value)| value).sum::<u64>(), 3);
    }
}
