//! The reports of a journal as a file, one message a line.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};

use super::args::DropCopyArgs;
use super::converter::Converter;
use super::journal_reports::JournalReports;
use crate::export::partial_file;
use crate::fix::{self, Header};

/// The CompID of the receiver, which a file does not have.
const NO_CLIENT: &str = "FILE";

/// Writes the file, complete or not at all. MsgSeqNum counts the reports, and SendingTime is the
/// time at which the report was journaled, so that the same journal gives the same bytes.
///
/// # Errors
/// No journal, an existing file, or an error of the file system.
pub(super) fn write(
    arguments: &DropCopyArgs,
    journal: &Path,
    converter: &mut Converter,
) -> Result<()> {
    let path = arguments.fix_file.as_ref().context("no file")?;
    let reports = JournalReports::open(journal, None)?;
    let mut count = 0;
    partial_file::write(path, arguments.force, |file| {
        count = write_reports(reports, &arguments.fix_sender, converter, file)?;
        Ok(())
    })?;
    writeln!(io::stdout(), "{}: {count} reports", path.display())?;
    Ok(())
}

fn write_reports(
    mut reports: JournalReports,
    sender: &str,
    converter: &mut Converter,
    file: &mut File,
) -> io::Result<u32> {
    let mut out = BufWriter::new(file);
    let (mut seq_num, mut line) = (0, Vec::new());
    while let Some(report) = reports.next() {
        let Some(fix) = converter.convert(&report) else { continue };
        seq_num += 1;
        line.clear();
        let (sending_time, msg_type) = (report.entry.tag.now.utc, fix.msg_type);
        let (target, original) = (NO_CLIENT, None);
        let header = Header { msg_type, sender, target, seq_num, sending_time, original };
        fix::write(&mut line, &header, &fix.body);
        line.push(b'\n');
        out.write_all(&line)?;
    }
    out.flush()?;
    Ok(seq_num)
}
