//! The reports in a journal.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use hairpin_cme_codecs::ilink3::MESSAGES;
use hairpin_mapped::{Checksum, Direction, Entry, JournalError, Reader};
use hairpin_order_entry::MESSAGE_RECORD;
use hairpin_sbe::MessageHeader;

use super::report::is_report;
use super::store::Position;
use crate::ilink;

/// A report, in its journal record.
#[derive(Debug)]
pub(super) struct JournalReport {
    pub(super) entry: Entry,
    pub(super) position: Position,
}

impl JournalReport {
    /// Returns the message, SBE header included.
    pub(super) fn message(&self) -> &[u8] {
        ilink::frame(&self.entry).unwrap_or_default()
    }
}

/// The reports of a journal, in order, from a position on. At the end, further reports follow when
/// the session has written them.
#[derive(Debug)]
pub(super) struct JournalReports {
    reader: Reader,
    journal: PathBuf,
    /// The last record that was read, or after which the reports begin.
    last: Option<Position>,
    /// `true` while the record at `last` is read again.
    passes: bool,
    /// `true` if the system's error was logged.
    logged: bool,
}

impl JournalReports {
    /// Opens the reports after a position, or all.
    ///
    /// # Errors
    /// No journal, or one that this user may not read; a journal with another record there.
    pub(super) fn open(journal: &Path, after: Option<Position>) -> Result<Self> {
        let (reader, journal) = (open(journal)?, journal.to_owned());
        if let Some(last) = after {
            check(&journal, last)?;
        }
        let mut reports = Self { reader, journal, last: after, passes: false, logged: false };
        reports.return_to_last();
        Ok(reports)
    }

    fn return_to_last(&mut self) {
        if let Some(Position { segment, offset, .. }) = self.last {
            self.reader.seek(segment, offset.into());
            self.passes = true;
        }
    }

    /// Returns the next report, or `None` at the current end. Damage is logged and passed. After an
    /// error of the system the same record is tried again by the next call.
    pub(super) fn next(&mut self) -> Option<JournalReport> {
        loop {
            let entry = match self.reader.next()? {
                Ok(entry) => entry,
                Err(JournalError::Io(error)) => {
                    self.retry(&error);
                    return None;
                }
                Err(JournalError::Corrupt { path, .. }) if !path.exists() => {
                    super::log(format_args!(
                        "{}: removed before its reports were sent; reading continues after it",
                        path.display()
                    ));
                    continue;
                }
                Err(error) => {
                    super::log(format_args!("{error}; reading continues after it"));
                    continue;
                }
            };
            self.logged = false;
            let position = Some(position(&entry));
            let is_passed = std::mem::take(&mut self.passes) && position == self.last;
            self.last = position;
            if !is_passed && let Some(report) = report(entry) {
                return Some(report);
            }
        }
    }

    fn retry(&mut self, error: &io::Error) {
        if !std::mem::replace(&mut self.logged, true) {
            let journal = self.journal.display();
            super::log(format_args!("cannot read the journal {journal}: {error}; trying again"));
        }
        if self.last.is_some() {
            self.return_to_last();
        } else if let Ok(reader) = open(&self.journal) {
            self.reader = reader;
        }
    }
}

/// Reads single reports of a journal.
#[derive(Debug)]
pub(super) struct ReportLookup {
    journal: PathBuf,
    reader: Option<Reader>,
}

impl ReportLookup {
    pub(super) fn new(journal: PathBuf) -> Self {
        Self { journal, reader: None }
    }

    /// Returns the report at a position, or `None` if it was removed or damaged.
    pub(super) fn at(&mut self, at: Position) -> Option<JournalReport> {
        let mut reader = self.reader.take().or_else(|| open(&self.journal).ok())?;
        reader.seek(at.segment, at.offset.into());
        let found = reader.next();
        self.reader = Some(reader);
        let report = report(found?.ok()?)?;
        (report.position == at).then_some(report)
    }
}

/// Checks that a journal has a report, or had it before it removed the segment.
fn check(journal: &Path, last: Position) -> Result<()> {
    let mut numbers: Vec<u32> = Vec::new();
    for entry in fs::read_dir(journal)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".segment"));
        numbers.extend(number.and_then(|number| number.parse::<u32>().ok()));
    }
    let is_removed = numbers.iter().min().is_some_and(|&first| first > last.segment);
    if is_removed || ReportLookup::new(journal.to_owned()).at(last).is_some() {
        return Ok(());
    }
    let (segment, offset) = (last.segment, last.offset);
    bail!(
        "the journal {} does not have the last report that was sent, at byte {offset} of segment \
         {segment}: it belongs to another store",
        journal.display()
    );
}

/// Opens a journal.
///
/// # Errors
/// No journal, or one that this user may not read.
pub(crate) fn open(journal: &Path) -> Result<Reader> {
    Reader::open(journal)
        .map_err(|error| match error {
            JournalError::Io(error) if error.kind() == io::ErrorKind::NotFound => {
                anyhow!("no journal in {}", journal.display())
            }
            error => anyhow::Error::from(error),
        })
        .with_context(|| format!("cannot read the journal {}", journal.display()))
}

fn position(entry: &Entry) -> Position {
    let offset = u32::try_from(entry.offset).unwrap_or(u32::MAX);
    let mut sum = crc32fast::Hasher::new();
    sum.update(&entry.payload);
    sum.update(&entry.tag.now.utc.as_nanos().to_le_bytes());
    Position { segment: entry.segment, offset, sum: sum.finalize() }
}

/// Returns the report in a record, if it has one.
fn report(entry: Entry) -> Option<JournalReport> {
    if entry.tag.direction != Direction::Inbound || entry.tag.kind != MESSAGE_RECORD {
        return None;
    }
    let position = position(&entry);
    let Position { segment, offset, .. } = position;
    let place = format_args!("segment {segment}, byte {offset}");
    if entry.checksum == Checksum::Mismatch {
        super::log(format_args!("{place}: the record differs from what was committed; skipped"));
        return None;
    }
    let Some(Ok((header, body))) = ilink::frame(&entry).map(MessageHeader::decode) else {
        super::log(format_args!("{place}: not a message; skipped"));
        return None;
    };
    if !is_report(&header) {
        return None;
    }
    if let Err(error) = hairpin_sbe::visit(MESSAGES, &header, body, &mut ilink::Ignored) {
        super::log(format_args!("{place}: not a message: {error}; skipped"));
        return None;
    }
    Some(JournalReport { entry, position })
}
