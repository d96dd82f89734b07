//! Faults that are planted in a copy of mdp3, each a change or two of its text: the simulation of
//! the feed must find every one.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// A text of a source file, found exactly once, and what stands there instead.
pub(super) struct Change {
    /// Relative to the crate's `src`.
    file: &'static str,
    text: &'static str,
    instead: &'static str,
}

/// A planted fault.
pub(super) struct Mutant {
    pub(super) name: &'static str,
    changes: &'static [Change],
}

const fn change(file: &'static str, text: &'static str, instead: &'static str) -> Change {
    Change { file, text, instead }
}

const RPT_SEQ_IN_SYNC: Change = change(
    "admission.rs",
    "if cell.head.state != State::InSync || cell.head.next_rpt_seq != rpt_seq {",
    "if cell.head.state != State::InSync {",
);
const RPT_SEQ_AFTER_A_GAP: Change = change(
    "admission.rs",
    "State::Suspect if rpt_seq == next && rpt_seq > self.unproven =>",
    "State::Suspect =>",
);
const RPT_SEQ_QUEUED: Change = change(
    "replay.rs",
    "if !recovery.any_rpt_seq && !is_unnumbered && rpt_seq != next && !is_reset {",
    "if false {",
);

const ENTRIES_AT_369: Change = change(
    "admission.rs",
    "packet.sequence <= recovery.snapshot_sequence",
    "packet.sequence < recovery.snapshot_sequence",
);
const QUEUED_AT_369: Change = change(
    "replay.rs",
    "queued.sequence <= recovery.snapshot_sequence",
    "queued.sequence < recovery.snapshot_sequence",
);
const ORDERS_AT_369: Change = change(
    "orders/incremental.rs",
    "SyncState::InSync if packet.sequence <= head.snapshot_sequence =>",
    "SyncState::InSync if packet.sequence < head.snapshot_sequence =>",
);
const QUEUED_ORDERS_AT_369: Change = change(
    "orders/replay.rs",
    "queued.filter(|queued| queued.sequence > sequence)",
    "queued.filter(|queued| queued.sequence >= sequence)",
);

/// All of them.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "RptSeq check skipped",
        changes: &[RPT_SEQ_IN_SYNC, RPT_SEQ_AFTER_A_GAP, RPT_SEQ_QUEUED],
    },
    Mutant { name: "RptSeq check skipped, after a gap alone", changes: &[RPT_SEQ_AFTER_A_GAP] },
    Mutant {
        name: "< for <= at 369",
        changes: &[ENTRIES_AT_369, QUEUED_AT_369, ORDERS_AT_369, QUEUED_ORDERS_AT_369],
    },
    Mutant { name: "< for <= at 369, queued entries alone", changes: &[QUEUED_AT_369] },
    Mutant { name: "< for <= at 369, orders as they come alone", changes: &[ORDERS_AT_369] },
    Mutant {
        name: "Delete at level 1 ignored",
        changes: &[change(
            "ladder.rs",
            "        let Some(level) = self.slots.get_mut(slot) else { return false };",
            "        if action == Action::Delete && rank == 0 {\n            \
             return count > 0;\n        }\n        \
             let Some(level) = self.slots.get_mut(slot) else { return false };",
        )],
    },
    Mutant {
        name: "B dropped",
        changes: &[change(
            "stream.rs",
            "        if !self.arbiter.goes_on(packet.side, packet.header()) {",
            "        if packet.side == Side::B {\n            return;\n        }\n        \
             if !self.arbiter.goes_on(packet.side, packet.header()) {",
        )],
    },
    Mutant {
        name: "late 0x80",
        changes: &[
            change(
                "market.rs",
                "    pub(crate) was_reset: bool,",
                "    pub(crate) was_reset: bool,\n    pub(crate) is_late: bool,",
            ),
            change(
                "market.rs",
                "            was_reset: false,",
                "            was_reset: false,\n            is_late: false,",
            ),
            change(
                "incremental.rs",
                "if root.ends_event() {",
                "if core::mem::replace(&mut self.is_late, root.ends_event()) {",
            ),
        ],
    },
];

impl Mutant {
    /// Plants the fault in the sources in a folder.
    ///
    /// # Errors
    /// A text that is not there, or more than once: the sources have changed, and this table has to
    /// change with them.
    pub(super) fn plant(&self, sources: &Path) -> Result<()> {
        for Change { file, text, instead } in self.changes {
            let path = sources.join(file);
            let source = fs::read_to_string(&path).with_context(|| format!("mdp3's {file}"))?;
            let count = source.matches(text).count();
            ensure!(
                count == 1,
                "{}: mdp3's {file} has {count} times what is to be changed, `{}`; \
                 xtask/src/sim/mutant.rs has to follow",
                self.name,
                text.trim()
            );
            fs::write(&path, source.replace(text, instead)).context(*file)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table follows the sources: a change of these that makes a fault impossible to plant is
    /// seen here, not when somebody asks for the mutants.
    #[test]
    fn every_fault_can_be_planted() {
        let sources = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/mdp3/src"));
        for Mutant { name, changes } in MUTANTS {
            for Change { file, text, .. } in *changes {
                let source = fs::read_to_string(sources.join(file)).unwrap();
                assert_eq!(source.matches(text).count(), 1, "{name}: {file}: {text}");
            }
        }
    }
}
