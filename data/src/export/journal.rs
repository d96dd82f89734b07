//! `hairpin export --journal`: the orders and fills in a journal as Parquet.
//!
//! Each file is one pass over the journal, which is read without a lock. Memory has a limit: a row
//! group and the reader's record.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use arrow::array::RecordBatch;
use hairpin_mapped::{Checksum, Entry, JournalError};
use hairpin_order_entry::MESSAGE_RECORD;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::args::ExportArgs;
use super::journal_columns::{FILLS, JournalColumn, ORDERS, RowBuilder};
use super::parquet_file::column_error;
use super::partial_file;
use crate::drop_copy::journal_reports;
use crate::ilink::{self, Ignored, OrderMessage};

/// Rows of a batch.
const BATCH: usize = 1 << 12;
/// Rows of a row group.
const ROW_GROUP: usize = 1 << 15;
/// The templates of order messages: requests and reports of orders, and what refuses them.
const ORDER_TEMPLATES: [u16; 22] = [
    514, 515, 516, 521, 522, 523, 524, 525, 526, 527, 529, 530, 531, 532, 533, 534, 535, 536, 544,
    562, 564, 565,
];
/// The templates of trades and of their corrections.
const FILL_TEMPLATES: [u16; 6] = [525, 526, 527, 548, 549, 550];

/// A file to write.
struct Table {
    name: &'static str,
    templates: &'static [u16],
    columns: &'static [JournalColumn],
}

const TABLES: [Table; 2] = [
    Table { name: "orders", templates: &ORDER_TEMPLATES, columns: ORDERS },
    Table { name: "fills", templates: &FILL_TEMPLATES, columns: FILLS },
];

/// Writes both files. Exit status 1 if a part of the journal is damaged.
///
/// # Errors
/// No journal, a file that exists, or an error of the file system. No incomplete file remains.
pub(super) fn run(arguments: &ExportArgs, journal: &Path) -> Result<ExitCode> {
    fs::create_dir_all(&arguments.out)
        .with_context(|| format!("cannot create {}", arguments.out.display()))?;
    partial_file::remove_abandoned(&arguments.out);
    let mut harms = 0;
    for table in &TABLES {
        let path = arguments.out.join(table.name).with_extension("parquet");
        let mut pass = Pass { table, harms: 0, is_first: harms == 0 && table.name == "orders" };
        let reader = journal_reports::open(journal)?;
        let mut rows = 0;
        partial_file::write(&path, arguments.force, |file| {
            rows = pass.write(reader, file)?;
            Ok(())
        })?;
        harms += pass.harms;
        writeln!(io::stdout(), "{}: {rows} rows", path.display())?;
    }
    Ok(if harms > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// A pass over the journal.
struct Pass<'a> {
    table: &'a Table,
    /// The number of errors found.
    harms: u64,
    /// `true` for the pass that prints errors.
    is_first: bool,
}

impl Pass<'_> {
    fn write(
        &mut self,
        entries: impl Iterator<Item = Result<Entry, JournalError>>,
        file: &mut File,
    ) -> io::Result<u64> {
        let mut rows = RowBuilder::new(self.table.columns);
        let properties = WriterProperties::builder()
            .set_created_by("hairpin".to_owned())
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(ROW_GROUP))
            .build();
        let mut writer =
            ArrowWriter::try_new(file, rows.schema(), Some(properties)).map_err(column_error)?;
        let (mut count, mut waiting) = (0, 0);
        let mut put = |batch: io::Result<RecordBatch>| writer.write(&batch?).map_err(column_error);
        for entry in entries {
            let Some(entry) = self.entry(entry)? else { continue };
            let Some(message) = self.message(&entry) else { continue };
            rows.push(&entry, &message);
            count += 1;
            waiting += 1;
            if waiting == BATCH {
                put(rows.finish())?;
                waiting = 0;
            }
        }
        put(rows.finish())?;
        writer.close().map_err(column_error)?;
        Ok(count)
    }

    /// Returns a record that was read, or counts why it was not.
    fn entry(&mut self, entry: Result<Entry, JournalError>) -> io::Result<Option<Entry>> {
        match entry {
            Ok(entry) if entry.checksum == Checksum::Mismatch => {
                let (segment, offset) = (entry.segment, entry.offset);
                self.harm(&format_args!(
                    "segment {segment}, byte {offset}: the record differs from what was committed"
                ));
                Ok(None)
            }
            Ok(entry) => Ok(Some(entry)),
            Err(JournalError::Io(error)) => Err(error),
            Err(error) => {
                self.harm(&error);
                Ok(None)
            }
        }
    }

    /// Returns the message in a record if the table has it.
    fn message<'e>(&mut self, entry: &'e Entry) -> Option<OrderMessage<'e>> {
        if entry.tag.kind != MESSAGE_RECORD {
            return None;
        }
        let bytes = ilink::frame(entry).unwrap_or_default();
        match OrderMessage::decode(bytes, &mut Ignored) {
            Ok(message) => {
                self.table.templates.contains(&message.layout.template_id).then_some(message)
            }
            Err(error) => {
                let (segment, offset) = (entry.segment, entry.offset);
                self.harm(&format_args!("segment {segment}, byte {offset}: {error:#}"));
                None
            }
        }
    }

    fn harm(&mut self, what: &dyn std::fmt::Display) {
        self.harms += 1;
        if self.is_first {
            let _ = writeln!(io::stderr(), "hairpin: {what}");
        }
    }
}
