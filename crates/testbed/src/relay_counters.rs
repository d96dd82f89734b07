//! The counters of a relay, readable while the relay runs.

use std::sync::atomic::{AtomicU64, Ordering, fence};

macro_rules! relay_counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counters of one direction of a relay.
        ///
        /// Always `sent + duplicated == lost + cut + overflowed + arrived + in_flight`.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        pub struct RelayCounters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl RelayCounters {
            const FIELDS: usize = [$(stringify!($name)),*].len();

            /// Returns every counter with its name.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }

            fn values(&self) -> [u64; Self::FIELDS] {
                [$(self.$name),*]
            }

            fn from_values([$($name),*]: [u64; Self::FIELDS]) -> Self {
                Self { $($name),* }
            }
        }
    };
}

relay_counters! {
    /// Frames that the filter selected.
    sent,
    /// Copies sent to the receiving host.
    arrived,
    /// Frames dropped with the probability of `loss`.
    lost,
    /// Frames dropped because the direction was cut.
    cut,
    /// Copies dropped because the link's queue or the relay's memory was full.
    overflowed,
    /// Frames with a second copy.
    duplicated,
    /// Copies with a flipped bit.
    corrupted,
    /// Copies with a long delay.
    delayed,
    /// Copies held back until others had overtaken them.
    held,
    /// Copies sent after a frame that arrived later.
    reordered,
    /// Copies that wait for their departure. The only counter that decreases.
    in_flight,
    /// Frames that passed immediately because the filter did not select them or the relay was off.
    untouched,
    /// Errors: frames that the kernel dropped because they arrived faster than the relay received
    /// them.
    missed,
    /// Errors: frames that the interface of the receiving host rejected: longer than its MTU, or no
    /// buffer space. Frames sent to an interface that is down are lost without an error.
    refused,
    /// Errors: frames dropped because they could not be segmented or completed.
    malformed,
}

/// Counters that one thread writes and others read consistently (a seqlock): a reader that overlaps
/// a write reads again, and the writer never waits.
#[derive(Debug)]
pub(crate) struct SharedCounters {
    /// Odd during a write.
    version: AtomicU64,
    values: [AtomicU64; RelayCounters::FIELDS],
}

impl SharedCounters {
    pub(crate) fn new() -> Self {
        Self {
            version: AtomicU64::new(0),
            values: [const { AtomicU64::new(0) }; RelayCounters::FIELDS],
        }
    }

    /// Publishes new values. Only one thread may call this.
    pub(crate) fn write(&self, counters: &RelayCounters) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version + 1, Ordering::Relaxed);
        // A reader that sees a new value also sees the odd version.
        fence(Ordering::Release);
        for (value, new) in self.values.iter().zip(counters.values()) {
            value.store(new, Ordering::Relaxed);
        }
        self.version.store(version + 2, Ordering::Release);
    }

    /// Returns a consistent copy of the values.
    pub(crate) fn read(&self) -> RelayCounters {
        loop {
            let before = self.version.load(Ordering::Acquire);
            let values = self.values.each_ref().map(|value| value.load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            if before.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == before {
                return RelayCounters::from_values(values);
            }
            // The writer may be waiting for this core.
            std::thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_returns_the_written_values() {
        let shared = SharedCounters::new();
        assert_eq!(shared.read(), RelayCounters::default());
        let counters = RelayCounters { sent: 3, lost: 1, malformed: 7, ..RelayCounters::default() };
        shared.write(&counters);
        assert_eq!(shared.read(), counters);
        assert_eq!(counters.iter().map(|(_, count)| count).sum::<u64>(), 11);
        assert!(counters.iter().any(|pair| pair == ("malformed", 7)));
    }

    /// Writes the same number to all fields and never reads different numbers.
    #[test]
    fn read_is_consistent() {
        const ROUNDS: u64 = 100_000;
        let shared = SharedCounters::new();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for round in 1..=ROUNDS {
                    shared.write(&RelayCounters::from_values([round; RelayCounters::FIELDS]));
                }
            });
            while !writer.is_finished() {
                let values = shared.read().values();
                assert!(values.iter().all(|value| *value == values[0]), "{values:?}");
            }
        });
        assert_eq!(shared.read().sent, ROUNDS);
    }
}
