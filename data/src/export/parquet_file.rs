//! Records as a Parquet file, with the columns of Databento's and the symbol as the last.
//!
//! dbn has an encoder of its own. Its row groups are either long, and then in memory with a
//! dictionary and a compressor for each of 76 columns, or so short that the file's description of
//! them, which is in memory too, grows as the file. This writer limits both.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema as Columns, SchemaRef};
use dbn::decode::dbn::RecordDecoder;
use dbn::encode::arrow::ArrowSerialize;
use dbn::encode::json;
use dbn::v3::HasRType;
use dbn::{
    InstrumentDefMsg, MboMsg, Mbp1Msg, Mbp10Msg, Metadata, Schema, StatMsg, StatusMsg, TradeMsg,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::encode::{BATCH, Contents, io_error};

/// Records of a row group. Its compressed pages are in memory until it ends.
const ROW_GROUP: usize = 1 << 15;
/// Records of a page: a number of 8 bytes for each is in memory, in each column.
const PAGE_ROWS: usize = 1 << 11;
/// Bytes of a page and of a dictionary, of which each column has one in memory.
const PAGE: usize = 1 << 15;
/// The key of the metadata, as in Databento's files.
const METADATA: &str = "databento:metadata";
/// Columns with the least and greatest value of each row group, for readers that select by them.
const SELECTED_BY: [&str; 4] = ["ts_recv", "ts_event", "instrument_id", "symbol"];

/// Writes a file.
///
/// # Errors
/// The file system's.
pub(super) fn encode(
    contents: &Contents<'_>,
    metadata: &Metadata,
    records: File,
    out: &mut (impl Write + Send),
) -> io::Result<()> {
    match contents.schema {
        Schema::Mbo => encode_as::<MboMsg>(contents, metadata, records, out),
        Schema::Mbp1 => encode_as::<Mbp1Msg>(contents, metadata, records, out),
        Schema::Mbp10 => encode_as::<Mbp10Msg>(contents, metadata, records, out),
        Schema::Trades => encode_as::<TradeMsg>(contents, metadata, records, out),
        Schema::Statistics => encode_as::<StatMsg>(contents, metadata, records, out),
        Schema::Status => encode_as::<StatusMsg>(contents, metadata, records, out),
        _ => encode_as::<InstrumentDefMsg>(contents, metadata, records, out),
    }
}

fn encode_as<R: ArrowSerialize + HasRType + Clone>(
    contents: &Contents<'_>,
    metadata: &Metadata,
    records: File,
    out: &mut (impl Write + Send),
) -> io::Result<()> {
    let mut fields = Vec::new();
    R::arrow_fields(false, &mut fields);
    fields.push(Field::new("symbol", DataType::Utf8, true));
    let schema = Arc::new(Columns::new(fields));
    let properties = properties(metadata)?;
    let mut writer =
        ArrowWriter::try_new(out, schema.clone(), Some(properties)).map_err(column_error)?;
    let mut decoder = RecordDecoder::new(BufReader::with_capacity(1 << 16, records));
    let mut rows: Vec<R> = Vec::with_capacity(BATCH.get());
    while let Some(record) = decoder.decode::<R>().map_err(io_error)? {
        rows.push(record.clone());
        if rows.len() == BATCH.get() {
            writer.write(&batch(&rows, &schema, contents)?).map_err(column_error)?;
            rows.clear();
        }
    }
    writer.write(&batch(&rows, &schema, contents)?).map_err(column_error)?;
    writer.close().map_err(column_error)?;
    Ok(())
}

/// Returns records as columns.
fn batch<R: ArrowSerialize + HasRType>(
    rows: &[R],
    schema: &SchemaRef,
    contents: &Contents<'_>,
) -> io::Result<RecordBatch> {
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
    R::arrow_columns(rows, |row| row, false, &mut columns);
    let symbols = rows.iter().map(|row| contents.symbols.symbol(row.instrument_id() as u32));
    columns.push(Arc::new(symbols.collect::<StringArray>()));
    RecordBatch::try_new(schema.clone(), columns).map_err(io::Error::other)
}

fn properties(metadata: &Metadata) -> io::Result<WriterProperties> {
    let mut text = Vec::new();
    let mut encoder = json::Encoder::new(&mut text, false, false, false);
    encoder.encode_metadata(metadata).map_err(io_error)?;
    let text = String::from_utf8_lossy(&text).trim_end().to_owned();
    let mut builder = WriterProperties::builder()
        .set_created_by("hairpin".to_owned())
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(ROW_GROUP))
        .set_data_page_size_limit(PAGE)
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_dictionary_page_size_limit(PAGE)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_key_value_metadata(Some(vec![KeyValue::new(METADATA.to_owned(), text)]));
    for name in SELECTED_BY {
        let column = ColumnPath::from(name);
        builder = builder.set_column_statistics_enabled(column, EnabledStatistics::Chunk);
    }
    Ok(builder.build())
}

/// Returns the file system's error in an error of the writer.
pub(super) fn column_error(error: parquet::errors::ParquetError) -> io::Error {
    match error {
        parquet::errors::ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(source) => io::Error::other(source),
        },
        error => io::Error::other(error),
    }
}
