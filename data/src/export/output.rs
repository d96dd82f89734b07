//! The files of one schema of one channel.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::PathBuf;

use dbn::Schema;

use super::args::{DAY, Format, HOUR, Split};
use super::encode::{self, Contents};
use super::partial_file::{self, named};
use super::symbols::Symbols;

/// What the files of an export have in common.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) folder: PathBuf,
    /// The channel in names of files, if any.
    pub(super) channel: Option<String>,
    pub(super) schema: Schema,
    pub(super) format: Format,
    pub(super) split: Option<Split>,
    pub(super) force: bool,
}

/// A record to write.
pub(super) struct Entry<'a> {
    /// When its packet was received, otherwise sent, in nanoseconds since 1970.
    pub(super) time: u64,
    pub(super) instrument: u32,
    pub(super) bytes: &'a [u8],
}

/// A written file.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) path: PathBuf,
    pub(super) records: u64,
    /// Instruments without a definition, hence without a symbol.
    pub(super) unnamed: usize,
}

/// The files of one schema of one channel.
///
/// Records are collected in an unnamed file, because a file begins with metadata that are known
/// only after its last record. The complete file is renamed into place.
pub(super) struct Output {
    target: Target,
    part: Option<Part>,
    parts: u32,
    pub(super) written: Vec<Written>,
}

/// A file whose records are being collected.
struct Part {
    path: PathBuf,
    records: BufWriter<File>,
    bytes: u64,
    count: u64,
    /// The times of the first and the latest record.
    first: u64,
    last: u64,
    /// The end of the period that the file covers, exclusive.
    end: u64,
    instruments: BTreeSet<u32>,
}

impl Output {
    /// Creates an output, and fails if its file exists already.
    ///
    /// # Errors
    /// The file exists, or the file system's error.
    pub(super) fn new(target: Target) -> io::Result<Self> {
        let output = Self { target, part: None, parts: 0, written: Vec::new() };
        if output.target.split.is_none() {
            output.check_absent(&output.path(0))?;
        }
        Ok(output)
    }

    /// Adds a record.
    ///
    /// # Errors
    /// The file system's.
    pub(super) fn write(&mut self, entry: &Entry<'_>, symbols: &Symbols) -> io::Result<()> {
        if self.part.as_ref().is_some_and(|part| self.is_full(part, entry)) {
            self.finish_part(symbols)?;
        }
        let part = match &mut self.part {
            Some(part) => part,
            None => {
                let part = self.begin(entry.time)?;
                self.part.insert(part)
            }
        };
        part.records.write_all(entry.bytes).map_err(|error| named(&part.path, &error))?;
        part.bytes += entry.bytes.len() as u64;
        part.count += 1;
        part.first = part.first.min(entry.time);
        part.last = part.last.max(entry.time);
        part.instruments.insert(entry.instrument);
        Ok(())
    }

    /// Completes the last file. `time` is that of the capture, for a file without records.
    ///
    /// # Errors
    /// The file system's.
    pub(super) fn finish(mut self, time: u64, symbols: &Symbols) -> io::Result<Vec<Written>> {
        if self.part.is_none() && self.target.split.is_none() {
            self.part = Some(self.begin(time)?);
        }
        self.finish_part(symbols)?;
        Ok(self.written)
    }

    fn is_full(&self, part: &Part, entry: &Entry<'_>) -> bool {
        match self.target.split {
            Some(Split::Period(_)) => entry.time >= part.end,
            Some(Split::Bytes(limit)) => part.bytes + entry.bytes.len() as u64 > limit,
            None => false,
        }
    }

    fn begin(&mut self, time: u64) -> io::Result<Part> {
        self.parts += 1;
        let path = self.path(time);
        self.check_absent(&path)?;
        let folder = &self.target.folder;
        let file = tempfile::tempfile_in(folder).map_err(|error| named(folder, &error))?;
        let end = match self.target.split {
            Some(Split::Period(period)) => (time / period + 1).saturating_mul(period),
            _ => u64::MAX,
        };
        Ok(Part {
            path,
            records: BufWriter::with_capacity(1 << 16, file),
            bytes: 0,
            count: 0,
            first: time,
            last: time,
            end,
            instruments: BTreeSet::new(),
        })
    }

    fn finish_part(&mut self, symbols: &Symbols) -> io::Result<()> {
        let Some(part) = self.part.take() else { return Ok(()) };
        let failed = |error: io::Error| named(&part.path, &error);
        let mut records = part.records.into_inner().map_err(|error| failed(error.into_error()))?;
        records.seek(SeekFrom::Start(0)).map_err(failed)?;
        let contents = Contents {
            schema: self.target.schema,
            first: part.first,
            last: part.last,
            instruments: &part.instruments,
            symbols,
        };
        let format = self.target.format;
        partial_file::write(&part.path, self.target.force, |file| {
            encode::encode(format, &contents, records, file)
        })?;
        let unnamed = part.instruments.iter().filter(|id| symbols.symbol(**id).is_none()).count();
        self.written.push(Written { path: part.path, records: part.count, unnamed });
        Ok(())
    }

    fn check_absent(&self, path: &std::path::Path) -> io::Result<()> {
        if !self.target.force && path.exists() {
            return Err(partial_file::exists(path));
        }
        Ok(())
    }

    /// Returns the path of the file with records from `time` on: `310.mbp-1.2026-01-05T17.dbn`.
    fn path(&self, time: u64) -> PathBuf {
        let Target { folder, channel, schema, format, split, .. } = &self.target;
        let channel = channel.iter().map(|id| format!("{id}.")).collect::<String>();
        let part = match split {
            None => String::new(),
            Some(Split::Bytes(_)) => format!(".{:05}", self.parts),
            Some(Split::Period(HOUR)) => {
                format!(".{}T{:02}", encode::date(time), time % DAY / HOUR)
            }
            Some(Split::Period(_)) => format!(".{}", encode::date(time)),
        };
        folder.join(format!("{channel}{}{part}.{}", schema.as_str(), format.extension()))
    }
}
