//! What a channel's export prints at its end.

use std::io::{self, Write};

use anyhow::Result;
use hairpin_feed_handler::Counters;

use super::output::Written;
use super::unheld::UnheldCounts;

/// What a channel's export prints at its end.
pub(super) struct Report {
    /// The name of the captures.
    pub(super) name: String,
    pub(super) written: Vec<Written>,
    pub(super) unheld: UnheldCounts,
    pub(super) counters: Counters,
    /// The captures have no snapshots, so books begin empty.
    pub(super) without_snapshots: bool,
    /// Frames that cannot be decoded, and the first of their errors.
    pub(super) wrong: (u64, Option<String>),
    /// The error at which the captures end.
    pub(super) end: Option<String>,
}

impl Report {
    /// Prints a line for each file on standard output, and on standard error what is not in the
    /// files. Returns `true` after an error in a capture.
    ///
    /// # Errors
    /// Those of standard output.
    pub(super) fn print(&self) -> Result<bool> {
        let mut out = io::stdout().lock();
        for file in &self.written {
            writeln!(out, "{}: {} records", file.path.display(), file.records)?;
        }
        let mut err = io::stderr().lock();
        let unnamed = self.written.iter().map(|file| file.unnamed).max().unwrap_or(0);
        if unnamed > 0 {
            writeln!(err, "{unnamed} instruments without a definition, hence without a symbol")?;
        }
        self.unheld.write(&mut err)?;
        let Counters { gaps, missed_packets, .. } = self.counters;
        if gaps > 0 {
            writeln!(err, "{gaps} gaps of {missed_packets} packets, flagged MAYBE_BAD_BOOK")?;
        }
        self.print_errors(&mut err)
    }

    fn print_errors(&self, err: &mut impl Write) -> Result<bool> {
        let counters = &self.counters;
        let before = if self.without_snapshots { self.inapplicable() } else { 0 };
        for (count, text) in [
            (before, "entries for levels and orders from before the captures, not exported"),
            (counters.unknown_templates, "messages with an unknown template, not exported"),
            (counters.instruments_over_capacity, "instruments over --instruments, not exported"),
            (counters.orders_over_capacity, "orders over --orders, not exported"),
            (self.errors(), "malformed packets, messages or entries, not exported"),
        ] {
            if count > 0 {
                writeln!(err, "{count} {text}")?;
            }
        }
        if let (count, Some(first)) = &self.wrong {
            writeln!(err, "{count} packets cannot be decoded, the first: {first}")?;
        }
        if let Some(end) = &self.end {
            writeln!(err, "hairpin: cannot read {} to its end: {end}", self.name)?;
        }
        let left_out = counters.instruments_over_capacity + counters.orders_over_capacity;
        let wrong = counters.unknown_templates + self.errors() + self.wrong.0;
        let has_errors = left_out + wrong > 0;
        Ok(self.end.is_some() || has_errors)
    }

    /// Returns the number of errors in packets and messages.
    fn errors(&self) -> u64 {
        let counters = &self.counters;
        let errors: u64 = [
            counters.packets_too_short,
            counters.message_sizes_too_small,
            counters.truncated_messages,
            counters.trailing_bytes,
            counters.malformed_messages,
            counters.invalid_entries,
            counters.invalid_snapshots,
            counters.invalid_orders,
            counters.dangling_orders,
            counters.invalid_order_snapshots,
        ]
        .iter()
        .sum();
        errors + if self.without_snapshots { 0 } else { self.inapplicable() }
    }

    /// Returns the number of entries for levels and orders that a book does not have.
    fn inapplicable(&self) -> u64 {
        self.counters.inapplicable_entries + self.counters.missing_orders
    }
}
