//! A journal printed as an audit trail.
//!
//! It is read from the disk without its lock: if a session is writing, the records committed before
//! the end was reached are printed. A damaged segment ends what can be read of it; reading
//! continues with the next one.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use hairpin_cli_harness::stdout;
use hairpin_mapped::{Checksum, Entry, JournalError, Reader};

use super::args::{Format, OrderArgs};
use super::audit_record::{AuditRecord, names};

/// Prints the journal. The exit status is 1 if anything in it was wrong, even if the reader of the
/// output has closed it.
///
/// # Errors
/// No journal, or one that this user may not read; those of standard output.
pub(super) fn show(arguments: &OrderArgs, journal: &Path) -> Result<ExitCode> {
    let reader = open(journal)?;
    let mut trail = AuditTrail { arguments, out: BufWriter::new(stdout::lock()), harms: 0 };
    match trail.print(reader) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ if trail.harms > 0 => Ok(ExitCode::FAILURE),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Opens a journal to read it.
///
/// # Errors
/// No journal, or one that this user may not read.
pub(super) fn open(journal: &Path) -> Result<Reader> {
    let named = || format!("cannot read the journal in {}", journal.display());
    Reader::open(journal).map_err(|error| match error {
        JournalError::Io(error) if error.kind() == io::ErrorKind::NotFound => {
            anyhow::anyhow!("no journal in {}", journal.display())
        }
        error => anyhow::Error::from(error).context(named()),
    })
}

struct AuditTrail<'a, O: Write> {
    arguments: &'a OrderArgs,
    out: O,
    /// The number of errors found.
    harms: u64,
}

impl<O: Write> AuditTrail<'_, O> {
    fn format(&self) -> Format {
        self.arguments.format.unwrap_or(Format::Text)
    }

    fn print(&mut self, reader: Reader) -> io::Result<()> {
        if self.format() == Format::Csv {
            writeln!(self.out, "{}", names())?;
        }
        for entry in reader {
            match entry {
                Ok(entry) if self.is_wanted(&entry) => self.entry(&entry)?,
                Ok(_) => {}
                Err(error) => self.harm(&error)?,
            }
        }
        self.out.flush()
    }

    fn entry(&mut self, entry: &Entry) -> io::Result<()> {
        let record = AuditRecord::new(entry);
        writeln!(self.out, "{}", record.line(self.format()))?;
        let (segment, offset) = (entry.segment, entry.offset);
        if entry.checksum == Checksum::Mismatch {
            self.harm(&format_args!(
                "segment {segment}, byte {offset}: the record differs from what was committed"
            ))?;
        } else if let Some(wrong) = record.wrong {
            self.harm(&format_args!("segment {segment}, byte {offset}: not a message: {wrong}"))?;
        }
        Ok(())
    }

    /// Reports an error, after what was printed before it.
    fn harm(&mut self, what: &dyn std::fmt::Display) -> io::Result<()> {
        self.harms += 1;
        self.out.flush()?;
        let _ = writeln!(io::stderr(), "hairpin: {what}");
        Ok(())
    }

    fn is_wanted(&self, entry: &Entry) -> bool {
        let OrderArgs { from, to, uuid, .. } = self.arguments;
        let time = entry.tag.now.utc;
        from.is_none_or(|from| time >= from)
            && to.is_none_or(|to| time < to)
            && uuid.is_none_or(|uuid| entry.tag.uuid == uuid)
    }
}
