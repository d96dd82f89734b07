//! CME's audit trail (Rule 536.B.2), from the journal alone: CSV, one file per session and day.
//!
//! Source: CME Client Systems Wiki 46474331 and 46402847. Column 1 is the sending time of the
//! message (tag 5297), ours and the exchange's; its date in UTC selects the file.

mod columns;
mod line;
mod message;
mod order_flows;
mod trail;

use std::collections::HashSet;
use std::fs::DirBuilder;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use hairpin_cli_harness::stdout;
use hairpin_mapped::{Checksum, Entry};

use self::trail::{Trail, read};
use super::audit_trail;

/// The template of a leg's fill.
const LEG_FILL: u16 = 527;
/// The template of a leg's trade cancellation or correction.
const LEG_ADDENDUM: u16 = 550;

/// Writes the audit trail of `journal` to files in `folder`, and prints their paths. The exit
/// status is 1 if the journal is damaged, or lacks a value that CME requires.
///
/// # Errors
/// A journal that cannot be read; a file that exists already or that cannot be written.
pub(super) fn write(journal: &Path, folder: &Path) -> Result<ExitCode> {
    let mut damages = Vec::new();
    let mut leg_links = HashSet::new();
    let mut count = 0;
    for entry in audit_trail::open(journal)? {
        count += 1;
        if let Ok(entry) = entry
            && let Some(message) = read(&entry)
            && matches!(message.template_id, LEG_FILL | LEG_ADDENDUM)
        {
            leg_links.extend(message.root.number("SecExecID"));
        }
    }
    // Only the user may read the trail.
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    let mut trail = Trail::new(folder, leg_links);
    // Records that a running session has added since are not read.
    for entry in audit_trail::open(journal)?.take(count) {
        match entry {
            Ok(entry) => {
                damages.extend(damage(&entry));
                trail.add(&entry)?;
            }
            Err(error) => damages.push(error.to_string()),
        }
    }
    let errors = std::mem::take(&mut trail.errors);
    let mut out = stdout::lock();
    for path in trail.finish()? {
        writeln!(out, "{}", path.display())?;
    }
    let mut stderr = std::io::stderr().lock();
    for error in damages.iter().chain(&errors) {
        let _ = writeln!(stderr, "hairpin: {error}");
    }
    let is_complete = damages.is_empty() && errors.is_empty();
    Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns why a record cannot be trusted.
fn damage(entry: &Entry) -> Option<String> {
    let (segment, offset) = (entry.segment, entry.offset);
    let what = match entry.checksum {
        Checksum::Mismatch => "the record differs from what was committed",
        _ if read(entry).is_none() => "not a message",
        _ => return None,
    };
    Some(format!("segment {segment}, byte {offset}: {what}"))
}
