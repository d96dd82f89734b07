//! The reports of a journal as a file, one message a line.

use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::args::DropCopyArgs;
use super::converter::Converter;
use super::journal_reports::JournalReports;
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
    let named = || format!("cannot write {}", path.display());
    if path.exists() && !arguments.force {
        bail!("{}: file exists; --force replaces it", named());
    }
    let folder = path.parent().filter(|it| *it != Path::new("")).unwrap_or(Path::new("."));
    let file = tempfile::NamedTempFile::new_in(folder).with_context(named)?;
    let mut out = BufWriter::new(file);
    let mut reports = JournalReports::open(journal, None)?;
    let (mut seq_num, mut line) = (0, Vec::new());
    while let Some(report) = reports.next() {
        let Some(fix) = converter.convert(&report) else { continue };
        seq_num += 1;
        line.clear();
        let (msg_type, sender) = (fix.msg_type, &arguments.fix_sender[..]);
        let (sending_time, target) = (report.entry.tag.now.utc, NO_CLIENT);
        let header = Header { msg_type, sender, target, seq_num, sending_time, original: None };
        fix::write(&mut line, &header, &fix.body);
        line.push(b'\n');
        out.write_all(&line).with_context(named)?;
    }
    let file = out.into_inner().map_err(|error| error.into_error()).with_context(named)?;
    file.as_file().sync_all().with_context(named)?;
    file.persist(path).map_err(|error| error.error).with_context(named)?;
    writeln!(std::io::stdout(), "{}: {seq_num} reports", path.display())?;
    Ok(())
}
