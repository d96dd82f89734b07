//! The values that DBN cannot hold.

use std::io::{self, Write};

/// A kind of value that DBN cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unheld {
    Quantity,
    Delay,
    ReceiveTime,
    ImpliedEntry,
    TradeCorrection,
    Statistic,
    Status,
    GroupStatus,
    DefinitionField,
    Underlying,
    EventLength,
}

/// All kinds, each with its description.
const KINDS: [(Unheld, &str); 11] = [
    (Unheld::Quantity, "quantities above 4294967295, written as 4294967295"),
    (Unheld::Delay, "delays from tag 52 to ts_recv beyond 2.1 s, written as ±2147483647 ns"),
    (Unheld::ReceiveTime, "records of packets without a receive timestamp, ts_recv undefined"),
    (Unheld::ImpliedEntry, "entries of implied books, not written"),
    (Unheld::TradeCorrection, "corrected or canceled trades, not in mbo"),
    (Unheld::Statistic, "statistics without a stat_type, not written"),
    (Unheld::Status, "values of statuses without a DBN value, written as 0"),
    (Unheld::GroupStatus, "statuses of groups without a known instrument, not written"),
    (Unheld::DefinitionField, "fields of definitions without a DBN field, not written"),
    (Unheld::Underlying, "underlyings after the first, not written"),
    (Unheld::EventLength, "events longer than 8192 records, LAST only at their end"),
];

/// The number of values of each kind.
#[derive(Debug, Default)]
pub(super) struct UnheldCounts([u64; KINDS.len()]);

impl UnheldCounts {
    /// Counts a value.
    pub(super) fn add(&mut self, kind: Unheld) {
        self.add_many(kind, 1);
    }

    /// Counts several values.
    pub(super) fn add_many(&mut self, kind: Unheld, count: u64) {
        self.0[kind as usize] += count;
    }

    /// Writes a line for each kind that occurred.
    ///
    /// # Errors
    /// Those of `out`.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for (kind, text) in KINDS {
            let count = self.0[kind as usize];
            if count > 0 {
                writeln!(out, "{count} {text}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_in_their_order() {
        for (place, (kind, _)) in KINDS.iter().enumerate() {
            assert_eq!(*kind as usize, place);
        }
    }
}
