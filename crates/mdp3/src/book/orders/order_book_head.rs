//! What is known of an order book but its orders.

use crate::SyncState;

/// The state of an instrument's order book.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    pub(super) state: SyncState,
    /// The message being processed has changed it; so has the event.
    pub(super) is_touched: bool,
    pub(super) is_changed: bool,
    /// A snapshot must contain everything before this packet of the incremental feed.
    pub(super) waiting_from: u32,
    /// The book was loaded from a snapshot that contains this packet and all before it.
    pub(super) snapshot_sequence: u32,
    /// The last pass of the loop with a snapshot of its orders, and with one of its price book.
    pub(super) pass: u32,
    pub(super) price_pass: u32,
    pub(super) loading: Loading,
}

const _: () = assert!(size_of::<Head>() == 48);

impl Head {
    pub(super) const UNKNOWN: Self = Self {
        state: SyncState::Unknown,
        is_touched: false,
        is_changed: false,
        waiting_from: 0,
        snapshot_sequence: 0,
        pass: 0,
        price_pass: 0,
        loading: Loading::NONE,
    };
}

/// A snapshot in chunks, as far as it has come.
///
/// Chunks of one packet number state one book, so they may come from more than one pass, and within
/// a window of 64 in any order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loading {
    sequence: u32,
    /// How many chunks there are; 0 if no snapshot is being loaded.
    chunks: u32,
    /// The lowest chunk that has not come, and which of those from it on have.
    next: u32,
    seen: u64,
    /// In this pass it was found to be wrong or to have no room.
    refused_in: u32,
}

/// What a chunk is to the snapshot being loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunk {
    /// The first of another snapshot: the book is to be emptied before. `true`: a snapshot was
    /// left incomplete.
    Begins(bool),
    /// Another one.
    Continues,
    /// It has come already, is too far ahead, or belongs to what was refused.
    Useless,
}

impl Loading {
    pub(super) const NONE: Self = Self { sequence: 0, chunks: 0, next: 0, seen: 0, refused_in: 0 };

    /// Takes account of chunk `chunk`, from 1 to `chunks`, of a snapshot as of packet `sequence`.
    pub(super) fn take(&mut self, sequence: u32, chunk: u32, chunks: u32, pass: u32) -> Chunk {
        let is_same = self.chunks == chunks && self.sequence == sequence;
        if is_same && self.refused_in != 0 {
            if self.refused_in == pass {
                return Chunk::Useless;
            }
            self.chunks = 0;
        }
        let begins = self.chunks == 0 || !is_same;
        let was_left = self.chunks != 0 && self.refused_in == 0;
        if begins {
            *self = Self { sequence, chunks, next: 1, seen: 0, refused_in: 0 };
        }
        let is_new = self.mark(chunk);
        match (begins, is_new) {
            (true, _) if !is_new => {
                // Too far from the start to be counted: only a later pass has it in a row.
                self.chunks = 0;
                Chunk::Useless
            }
            (true, _) => Chunk::Begins(was_left),
            (false, true) => Chunk::Continues,
            (false, false) => Chunk::Useless,
        }
    }

    /// Counts a chunk; false if it was counted before or is beyond the window.
    fn mark(&mut self, chunk: u32) -> bool {
        let Some(place) = chunk.checked_sub(self.next).filter(|place| *place < 64) else {
            return false;
        };
        if self.seen >> place & 1 == 1 {
            return false;
        }
        self.seen |= 1 << place;
        let done = self.seen.trailing_ones();
        self.next = self.next.saturating_add(done);
        self.seen = self.seen.checked_shr(done).unwrap_or(0);
        true
    }

    /// Whether every chunk has come.
    pub(super) const fn is_complete(&self) -> bool {
        self.chunks != 0 && self.next > self.chunks
    }

    /// The rest of the snapshot is of no use.
    pub(super) fn refuse(&mut self, pass: u32) {
        self.refused_in = pass.max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Chunk::{Begins, Continues, Useless};

    #[test]
    fn all_chunks_of_one_packet_number_make_a_snapshot() {
        let mut loading = Loading::NONE;
        assert_eq!(loading.take(9, 1, 3, 1), Begins(false));
        assert_eq!(loading.take(9, 2, 3, 1), Continues);
        assert!(!loading.is_complete());
        assert_eq!(loading.take(9, 3, 3, 1), Continues);
        assert!(loading.is_complete());
    }

    #[test]
    fn chunks_may_come_twice_or_out_of_order() {
        let mut loading = Loading::NONE;
        for (chunk, what) in
            [(2, Begins(false)), (2, Useless), (4, Continues), (1, Continues), (2, Useless)]
        {
            assert_eq!(loading.take(9, chunk, 4, 1), what, "{chunk}");
        }
        assert!(!loading.is_complete());
        assert_eq!(loading.take(9, 3, 4, 1), Continues);
        assert!(loading.is_complete());
    }

    #[test]
    fn another_packet_number_begins_another_snapshot() {
        let mut loading = Loading::NONE;
        assert_eq!(loading.take(9, 1, 2, 1), Begins(false));
        assert_eq!(loading.take(10, 2, 2, 1), Begins(true));
        assert!(!loading.is_complete());
        assert_eq!(loading.take(10, 1, 2, 1), Continues);
        assert!(loading.is_complete());
    }

    #[test]
    fn another_number_of_chunks_begins_another_snapshot() {
        let mut loading = Loading::NONE;
        assert_eq!(loading.take(9, 1, 2, 1), Begins(false));
        assert_eq!(loading.take(9, 2, 3, 1), Begins(true));
        assert!(!loading.is_complete());
    }

    #[test]
    fn what_was_refused_is_not_looked_at_before_the_next_pass() {
        let mut loading = Loading::NONE;
        assert_eq!(loading.take(9, 1, 2, 5), Begins(false));
        loading.refuse(5);
        assert_eq!(loading.take(9, 2, 2, 5), Useless);
        assert_eq!(loading.take(9, 1, 2, 6), Begins(false));
        loading.refuse(6);
        assert_eq!(loading.take(10, 1, 2, 6), Begins(false));
    }

    #[test]
    fn hundreds_of_chunks_in_a_row_are_counted() {
        let mut loading = Loading::NONE;
        assert_eq!(loading.take(9, 100, 300, 1), Useless);
        assert_eq!(loading.take(9, 1, 300, 1), Begins(false));
        (2..=300).for_each(|chunk| assert_eq!(loading.take(9, chunk, 300, 1), Continues));
        assert!(loading.is_complete());
    }
}
