//! The records of an event that has not ended.

use std::collections::HashSet;
use std::io;

use dbn::{FlagSet, MboMsg, Mbp1Msg, Mbp10Msg, TradeMsg};

use super::output::{Entry, Output};
use super::symbols::Symbols;

/// The most records that wait for the end of their event: 3 MB of the longest.
const MAX_RECORDS: usize = 8_192;

/// A record with flags.
pub(super) trait Flagged: AsRef<[u8]> {
    /// Returns the instrument.
    fn instrument(&self) -> u32;

    /// Returns the flags.
    fn flags_mut(&mut self) -> &mut FlagSet;
}

macro_rules! flagged {
    ($($record:ty),*) => {$(
        impl Flagged for $record {
            fn instrument(&self) -> u32 {
                self.hd.instrument_id
            }

            fn flags_mut(&mut self) -> &mut FlagSet {
                &mut self.flags
            }
        }
    )*};
}
flagged!(MboMsg, Mbp1Msg, Mbp10Msg, TradeMsg);

/// The records of one schema. They wait until their event ends, because the last record of each
/// instrument has a flag.
pub(super) struct EventBuffer<T> {
    /// Each record with the time of its packet.
    records: Vec<(u64, T)>,
    output: Output,
    seen: HashSet<u32>,
}

impl<T: Flagged> EventBuffer<T> {
    pub(super) fn new(output: Output) -> Self {
        Self { records: Vec::new(), output, seen: HashSet::new() }
    }

    /// Adds a record. Returns `false` if the event has too many, and those so far were written.
    ///
    /// # Errors
    /// The file system's.
    pub(super) fn push(&mut self, time: u64, record: T, symbols: &Symbols) -> io::Result<bool> {
        let fits = self.records.len() < MAX_RECORDS;
        if !fits {
            self.write(symbols)?;
        }
        self.records.push((time, record));
        Ok(fits)
    }

    /// Ends the event: the last record of each instrument receives the flag LAST.
    ///
    /// # Errors
    /// The file system's.
    pub(super) fn end_event(&mut self, symbols: &Symbols) -> io::Result<()> {
        if self.records.is_empty() {
            return Ok(());
        }
        self.seen.clear();
        for (_, record) in self.records.iter_mut().rev() {
            if self.seen.insert(record.instrument()) {
                record.flags_mut().set_last();
            }
        }
        self.write(symbols)
    }

    /// Writes the records of an event whose end is missing.
    ///
    /// # Errors
    /// The file system's.
    pub(super) fn write(&mut self, symbols: &Symbols) -> io::Result<()> {
        for (time, record) in self.records.drain(..) {
            let instrument = record.instrument();
            let entry = Entry { time, instrument, bytes: record.as_ref() };
            self.output.write(&entry, symbols)?;
        }
        Ok(())
    }

    /// Returns the output after the last record.
    ///
    /// # Errors
    /// The file system's.
    pub(super) fn into_output(mut self, symbols: &Symbols) -> io::Result<Output> {
        self.write(symbols)?;
        Ok(self.output)
    }
}
