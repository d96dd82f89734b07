//! Records as a file: metadata, then the records in the file's format.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::num::{NonZeroU64, NonZeroUsize};

use dbn::decode::DecodeRecordRef;
use dbn::decode::dbn::RecordDecoder;
use dbn::encode::dbn::MetadataEncoder;
use dbn::encode::{ArrowEncoder, EncodeRecordTextExt};
use dbn::{MappingInterval, Metadata, SType, Schema, SymbolMapping};
use time::{Date, OffsetDateTime};

use super::args::Format;
use super::parquet_file;
use super::rows::DATASET;
use super::symbols::Symbols;

/// Records of one batch of columns, which is in memory.
pub(super) const BATCH: NonZeroUsize = NonZeroUsize::new(4_096).expect("not zero");

/// What the metadata of a file are made of.
pub(super) struct Contents<'a> {
    pub(super) schema: Schema,
    /// The times of the first and the latest record, in nanoseconds since 1970.
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) instruments: &'a BTreeSet<u32>,
    pub(super) symbols: &'a Symbols,
}

impl Contents<'_> {
    /// Returns the metadata. A symbol is valid on the days of the records.
    fn metadata(&self) -> Metadata {
        let named = self.instruments.iter().filter_map(|id| {
            let symbol = self.symbols.symbol(*id)?;
            Some((symbol.to_owned(), *id))
        });
        let mut named: Vec<(String, u32)> = named.collect();
        named.sort();
        let (start_date, end_date) = (date(self.first), date(self.last));
        let end_date = end_date.next_day().unwrap_or(end_date);
        let mut mappings: Vec<SymbolMapping> = Vec::new();
        for (symbol, id) in named {
            let interval = MappingInterval { start_date, end_date, symbol: id.to_string() };
            match mappings.last_mut().filter(|last| last.raw_symbol == symbol) {
                Some(last) => last.intervals.push(interval),
                None => {
                    mappings.push(SymbolMapping { raw_symbol: symbol, intervals: vec![interval] })
                }
            }
        }
        Metadata::builder()
            .dataset(DATASET.as_str())
            .schema(Some(self.schema))
            .start(self.first)
            .end(NonZeroU64::new(self.last.saturating_add(1)))
            .stype_in(Some(SType::RawSymbol))
            .stype_out(SType::InstrumentId)
            .symbols(mappings.iter().map(|mapping| mapping.raw_symbol.clone()).collect())
            .mappings(mappings)
            .build()
    }
}

/// Returns the day of UTC of a time in nanoseconds since 1970.
pub(super) fn date(time: u64) -> Date {
    let seconds = i64::try_from(time / 1_000_000_000).unwrap_or(0);
    OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH).date()
}

/// Writes a file.
///
/// # Errors
/// The file system's.
pub(super) fn encode(
    format: Format,
    contents: &Contents<'_>,
    mut records: File,
    file: &mut File,
) -> io::Result<()> {
    let metadata = contents.metadata();
    let mut out = BufWriter::with_capacity(1 << 16, file);
    match format {
        Format::Dbn => {
            MetadataEncoder::new(&mut out).encode(&metadata).map_err(io_error)?;
            out.flush()?;
            io::copy(&mut records, out.get_mut())?;
        }
        Format::Parquet => parquet_file::encode(contents, &metadata, records, &mut out)?,
        Format::Arrow => {
            let mut encoder = ArrowEncoder::builder(&mut out)
                .batch_size(BATCH)
                .with_symbol(true)
                .metadata(&metadata)
                .build()
                .map_err(io_error)?;
            encode_columns(&mut encoder, records, contents.symbols)?;
            encoder.close().map_err(io_error)?;
        }
    }
    out.flush()
}

/// Writes records as columns, with the symbol of each as the last.
fn encode_columns(
    encoder: &mut impl EncodeRecordTextExt,
    records: File,
    symbols: &Symbols,
) -> io::Result<()> {
    let mut decoder = RecordDecoder::new(BufReader::with_capacity(1 << 16, records));
    while let Some(record) = decoder.decode_record_ref().map_err(io_error)? {
        let symbol = symbols.symbol(record.header().instrument_id);
        encoder.encode_ref_with_sym(record, symbol).map_err(io_error)?;
    }
    Ok(())
}

/// Returns the file system's error in an error of the encoder.
pub(super) fn io_error(error: dbn::Error) -> io::Error {
    match error {
        dbn::Error::Io { source, .. } => source,
        error => io::Error::other(error.to_string()),
    }
}
