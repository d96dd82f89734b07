//! Tracks a pass of the loop with order snapshots, to find order books that it does not name.

use crate::Packet;
use crate::feed::loop_tracker::{LoopTracker, PassPosition};

/// The state of the current pass.
///
/// If price books share the loop, each instrument's order snapshots, if any, follow its price book.
/// An instrument that a complete pass names with neither has no orders, although the number of
/// order books in the pass is not stated. If a complete pass contains no orders, as in a group that
/// publishes none, no instrument has orders.
#[derive(Debug)]
pub(super) struct OrderSnapshotPass {
    tracker: LoopTracker,
    /// A late join without definitions waits for a complete pass instead of certain instruments.
    pub(super) joining: bool,
    orders: ReportCount,
    prices: ReportCount,
    /// The lowest LastMsgSeqNumProcessed (369) of the pass.
    lowest: u32,
    /// The pass contained messages other than heartbeats.
    pub(super) has_contents: bool,
    /// The last incremental packet known to have been sent before the pass.
    pub(super) sequence_before: Option<u32>,
}

/// The kind of book in a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SnapshotKind {
    Orders,
    Prices,
}

/// The instruments that a pass names with one kind of snapshot.
#[derive(Debug, Default, Clone, Copy)]
struct ReportCount {
    /// TotNumReports (911), 0 before the first snapshot.
    total: u32,
    distinct: u32,
    /// All instruments were named, and the result was used.
    concluded: bool,
}

impl OrderSnapshotPass {
    pub(super) fn new(max_packets: usize, joining: bool) -> Self {
        Self {
            tracker: LoopTracker::new(max_packets),
            joining,
            orders: ReportCount::default(),
            prices: ReportCount::default(),
            lowest: u32::MAX,
            has_contents: false,
            sequence_before: None,
        }
    }

    /// Discards the current pass. Only a pass that starts after this call counts as complete.
    pub(super) fn abandon(&mut self) {
        self.tracker.abandon();
        self.start();
    }

    pub(super) fn start(&mut self) {
        (self.orders, self.prices) = (ReportCount::default(), ReportCount::default());
        (self.lowest, self.has_contents, self.sequence_before) = (u32::MAX, false, None);
    }

    pub(super) fn observe(&mut self, packet: &Packet) -> PassPosition {
        self.tracker.observe(packet.line, packet.sequence, packet.sending_time)
    }

    /// Returns `true` if the pass has more packets than the bitmap.
    pub(super) fn is_too_long(&self) -> bool {
        self.tracker.is_too_long()
    }

    pub(super) fn number(&self) -> u32 {
        self.tracker.pass()
    }

    pub(super) fn began(&self) -> hairpin_time::Utc {
        self.tracker.pass_start()
    }

    /// Returns `true` if the finished pass was complete and named no instrument.
    pub(super) fn was_empty(&self) -> bool {
        !self.has_contents && self.tracker.is_complete()
    }

    /// Returns the lowest 369 of the finished pass if it named all price books and no orders.
    /// Returns `None` for a single price book, because the orders after it may have been lost.
    pub(super) fn lowest_if_without_orders(&self) -> Option<u32> {
        let is_whole = self.prices.concluded && self.prices.total > 1;
        let is_without = is_whole && self.orders.total == 0 && self.tracker.is_complete();
        is_without.then_some(self.lowest)
    }

    /// Counts a snapshot as of packet `sequence` in a pass with `total` snapshots of its kind.
    /// `mark` is the last pass that named the instrument with this kind; without memory for it,
    /// `Err` with whether to count the snapshot.
    pub(super) fn count(
        &mut self,
        kind: SnapshotKind,
        (sequence, total): (u32, u32),
        mark: Result<&mut u32, bool>,
    ) {
        self.lowest = self.lowest.min(sequence);
        let count = match kind {
            SnapshotKind::Orders => &mut self.orders,
            SnapshotKind::Prices => &mut self.prices,
        };
        if count.total != 0 && count.total != total {
            // The loop changed during the pass, so absence from it proves nothing.
            self.tracker.abandon();
        }
        count.total = total;
        match mark {
            Ok(mark) if *mark == self.tracker.pass() => {}
            Ok(mark) => {
                *mark = self.tracker.pass();
                count.distinct += 1;
            }
            Err(counts) => count.distinct += u32::from(counts),
        }
    }

    /// Returns the kind of snapshot for which the pass is now complete, and its lowest 369; once
    /// per kind.
    pub(super) fn take_complete_report(&mut self) -> Option<(SnapshotKind, u32)> {
        if !self.tracker.is_complete() {
            return None;
        }
        for (kind, count) in
            [(SnapshotKind::Orders, &mut self.orders), (SnapshotKind::Prices, &mut self.prices)]
        {
            if !count.concluded && count.total > 0 && count.distinct >= count.total {
                count.concluded = true;
                return Some((kind, self.lowest));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(sequence: u32) -> Packet {
        let sending_time = hairpin_time::Utc::from_nanos(u64::from(sequence));
        Packet { sending_time, ..Packet::with_sequence(sequence) }
    }

    #[test]
    fn pass_is_complete_with_all_instruments_and_packets() {
        let mut pass = OrderSnapshotPass::new(64, false);
        let mut marks = [0; 2];
        assert_eq!(pass.observe(&packet(1)), PassPosition::First);
        pass.count(SnapshotKind::Orders, (9, 2), Ok(&mut marks[0]));
        pass.count(SnapshotKind::Orders, (9, 2), Ok(&mut marks[0]));
        assert_eq!(pass.take_complete_report(), None);
        pass.observe(&packet(3));
        pass.count(SnapshotKind::Orders, (8, 2), Ok(&mut marks[1]));
        assert_eq!(pass.take_complete_report(), None, "packet 2 is missing");
        pass.observe(&packet(2));
        assert_eq!(pass.take_complete_report(), Some((SnapshotKind::Orders, 8)));
        assert_eq!(pass.take_complete_report(), None, "reported once");
    }

    #[test]
    fn detects_pass_without_orders() {
        let mut marks = [0; 3];
        let mut pass = OrderSnapshotPass::new(64, false);
        pass.observe(&packet(1));
        pass.count(SnapshotKind::Prices, (9, 2), Ok(&mut marks[0]));
        assert_eq!((pass.take_complete_report(), pass.lowest_if_without_orders()), (None, None));
        pass.observe(&packet(2));
        pass.count(SnapshotKind::Prices, (9, 2), Ok(&mut marks[1]));
        assert_eq!(pass.take_complete_report(), Some((SnapshotKind::Prices, 9)));
        assert_eq!(pass.lowest_if_without_orders(), Some(9));
        // The last packet may still contain orders, and the missing one may have contained some.
        pass.observe(&packet(4));
        assert_eq!(pass.lowest_if_without_orders(), None);
        pass.observe(&packet(3));
        pass.count(SnapshotKind::Orders, (9, 2), Ok(&mut marks[2]));
        assert_eq!(pass.lowest_if_without_orders(), None);
    }

    #[test]
    fn discards_pass_with_changed_total() {
        let mut pass = OrderSnapshotPass::new(64, false);
        let mut marks = [0; 2];
        pass.observe(&packet(1));
        pass.count(SnapshotKind::Orders, (9, 1), Ok(&mut marks[0]));
        pass.count(SnapshotKind::Orders, (9, 2), Ok(&mut marks[1]));
        assert_eq!(pass.take_complete_report(), None);
    }
}
