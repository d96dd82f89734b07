//! The mutants of mdp3 that the feed simulation must detect.

use super::mutant::{Change, Mutant, change};

const RPT_SEQ_IN_SYNC: Change = change(
    "mdp3/src/recovery/rpt_seq_check.rs",
    "if slot.head.state != State::InSync || slot.head.next_rpt_seq != rpt_seq {",
    "if slot.head.state != State::InSync {",
);
const RPT_SEQ_AFTER_A_GAP: Change = change(
    "mdp3/src/recovery/rpt_seq_check.rs",
    "State::Suspect if rpt_seq == next && rpt_seq > self.rpt_seq_floor =>",
    "State::Suspect =>",
);
const RPT_SEQ_QUEUED: Change = change(
    "mdp3/src/recovery/queued_entry.rs",
    "if !recovery.accept_any_rpt_seq && !is_unnumbered && rpt_seq != next && !is_reset {",
    "if false {",
);

const ENTRIES_AT_369: Change = change(
    "mdp3/src/recovery/rpt_seq_check.rs",
    "packet.sequence <= recovery.snapshot_sequence",
    "packet.sequence < recovery.snapshot_sequence",
);
const QUEUED_AT_369: Change = change(
    "mdp3/src/recovery/queued_entry.rs",
    "queued.sequence <= recovery.snapshot_sequence",
    "queued.sequence < recovery.snapshot_sequence",
);
const ORDERS_AT_369: Change = change(
    "mdp3/src/book/orders/order_messages.rs",
    "SyncState::InSync if packet.sequence <= head.snapshot_sequence =>",
    "SyncState::InSync if packet.sequence < head.snapshot_sequence =>",
);
const QUEUED_ORDERS_AT_369: Change = change(
    "mdp3/src/book/orders/queued_order.rs",
    "queued.filter(|queued| queued.sequence > sequence)",
    "queued.filter(|queued| queued.sequence >= sequence)",
);

/// Every mutant of the feed.
pub(super) const FEED_MUTANTS: &[Mutant] = &[
    Mutant {
        name: "RptSeq check skipped",
        changes: &[RPT_SEQ_IN_SYNC, RPT_SEQ_AFTER_A_GAP, RPT_SEQ_QUEUED],
    },
    Mutant { name: "RptSeq check skipped, only after a gap", changes: &[RPT_SEQ_AFTER_A_GAP] },
    Mutant {
        name: "< for <= at 369",
        changes: &[ENTRIES_AT_369, QUEUED_AT_369, ORDERS_AT_369, QUEUED_ORDERS_AT_369],
    },
    Mutant { name: "< for <= at 369, only queued entries", changes: &[QUEUED_AT_369] },
    Mutant { name: "< for <= at 369, only orders as they arrive", changes: &[ORDERS_AT_369] },
    Mutant {
        name: "Delete at level 1 ignored",
        changes: &[change(
            "mdp3/src/book/ladder.rs",
            "        let Some(level) = self.slots.get_mut(slot) else { return false };",
            "        if action == BookAction::Delete && rank == 0 {\n            \
             return count > 0;\n        }\n        \
             let Some(level) = self.slots.get_mut(slot) else { return false };",
        )],
    },
    Mutant {
        name: "B dropped",
        changes: &[change(
            "mdp3/src/feed/incremental_feed.rs",
            "        if !self.arbiter.advance_if_next(packet.line, packet.header()) {",
            "        if packet.line == FeedLine::B {\n            return;\n        }\n        \
             if !self.arbiter.advance_if_next(packet.line, packet.header()) {",
        )],
    },
    Mutant {
        name: "late 0x80",
        changes: &[
            change(
                "mdp3/src/market.rs",
                "    pub(crate) reset_seen: bool,",
                "    pub(crate) reset_seen: bool,\n    pub(crate) is_late: bool,",
            ),
            change(
                "mdp3/src/market.rs",
                "            reset_seen: false,",
                "            reset_seen: false,\n            is_late: false,",
            ),
            change(
                "mdp3/src/message/incremental_messages.rs",
                "if root.ends_event() {",
                "if core::mem::replace(&mut self.is_late, root.ends_event()) {",
            ),
        ],
    },
];
