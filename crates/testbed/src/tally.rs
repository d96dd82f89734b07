//! What has happened in a relay, to be read while it goes on.

use std::sync::atomic::{AtomicU64, Ordering, fence};

macro_rules! tally {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What has happened to the frames of one direction.
        ///
        /// `sent + duplicated` is always `lost + cut + overflowed + arrived + under_way`.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        pub struct Tally {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Tally {
            const FIELDS: usize = [$(stringify!($name)),*].len();

            /// Every count with its name.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }

            fn values(&self) -> [u64; Self::FIELDS] {
                [$(self.$name),*]
            }

            fn of_values([$($name),*]: [u64; Self::FIELDS]) -> Self {
                Self { $($name),* }
            }
        }
    };
}

tally! {
    /// Frames that the filter chose, whatever became of them.
    sent,
    /// Copies that left for the receiving host.
    arrived,
    /// Frames lost by chance.
    lost,
    /// Frames lost because the direction was cut.
    cut,
    /// Copies lost because the line's queue, or the relay's own memory, was full.
    overflowed,
    /// Frames of which a second copy was made.
    duplicated,
    /// Copies of which a bit was flipped.
    corrupted,
    /// Copies that had one of the long delays.
    delayed,
    /// Copies that were held back for others to overtake.
    held,
    /// Copies that left after a frame that came later.
    reordered,
    /// Copies that wait for their time. The only one here that falls.
    under_way,
    /// Frames that passed at once because the filter did not choose them or the relay was off.
    untouched,
    /// Errors: frames that came faster than they were taken, which the kernel threw away.
    missed,
    /// Errors: frames that left, and that the receiving host's interface refused: longer than its
    /// MTU, or no room for them. What is sent to an interface that is off is gone like on any wire.
    refused,
    /// Errors: frames that could not be made what a wire carries, and were thrown away.
    malformed,
}

/// A tally that one thread writes and others read, each whole: a reader that has caught the writer
/// half way looks again, and the writer waits for nobody.
#[derive(Debug)]
pub(crate) struct Board {
    /// Odd while the values are being written.
    version: AtomicU64,
    values: [AtomicU64; Tally::FIELDS],
}

impl Board {
    pub(crate) fn new() -> Self {
        Self { version: AtomicU64::new(0), values: [const { AtomicU64::new(0) }; Tally::FIELDS] }
    }

    /// To be called by one thread only.
    pub(crate) fn write(&self, tally: &Tally) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version + 1, Ordering::Relaxed);
        // Whoever sees one of the new values sees the odd version too.
        fence(Ordering::Release);
        for (value, new) in self.values.iter().zip(tally.values()) {
            value.store(new, Ordering::Relaxed);
        }
        self.version.store(version + 2, Ordering::Release);
    }

    pub(crate) fn read(&self) -> Tally {
        loop {
            let before = self.version.load(Ordering::Acquire);
            let values = self.values.each_ref().map(|value| value.load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            if before.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == before {
                return Tally::of_values(values);
            }
            // The writer may be waiting for this very core.
            std::thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_was_written() {
        let board = Board::new();
        assert_eq!(board.read(), Tally::default());
        let tally = Tally { sent: 3, lost: 1, malformed: 7, ..Tally::default() };
        board.write(&tally);
        assert_eq!(board.read(), tally);
        assert_eq!(tally.iter().map(|(_, count)| count).sum::<u64>(), 11);
        assert!(tally.iter().any(|pair| pair == ("malformed", 7)));
    }

    /// All fields are written with the same number, and never read with different ones.
    #[test]
    fn a_tally_is_read_whole() {
        const ROUNDS: u64 = 100_000;
        let board = Board::new();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for round in 1..=ROUNDS {
                    board.write(&Tally::of_values([round; Tally::FIELDS]));
                }
            });
            while !writer.is_finished() {
                let values = board.read().values();
                assert!(values.iter().all(|value| *value == values[0]), "{values:?}");
            }
        });
        assert_eq!(board.read().sent, ROUNDS);
    }
}
