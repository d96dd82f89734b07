//! The arguments of `hairpin export`.

use std::path::PathBuf;

use clap::ValueEnum;

/// Convert captures of market data to DBN, Parquet or Arrow, or a journal of orders to Parquet
///
/// Captures are pcap or pcapng, also compressed with gzip or zstd; several are read in the order of
/// their packets' times. Exit status: 0 if every packet was exported, 1 after any error, 2 for
/// wrong arguments.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct ExportArgs {
    /// Capture of market data, or several
    #[arg(value_name = "CAPTURE", required_unless_present = "journal")]
    pub(super) captures: Vec<PathBuf>,

    /// Folder with the journal of an order session: writes orders.parquet and fills.parquet
    #[arg(long, value_name = "DIR", conflicts_with_all = ["captures", "schema", "format", "split",
          "config"])]
    pub(super) journal: Option<PathBuf>,

    /// Records to write, separated by commas
    #[arg(
        long,
        value_name = "SCHEMA",
        value_enum,
        value_delimiter = ',',
        required_unless_present = "journal"
    )]
    pub(super) schema: Vec<SchemaName>,

    /// Format of the files
    #[arg(long, value_enum, default_value_t = Format::Dbn)]
    pub(super) format: Format,

    /// Folder for the files, created if missing
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) out: PathBuf,

    /// Begin another file each hour or day of UTC, or after so many megabytes of records
    #[arg(long, value_name = "hour|day|MB", value_parser = parse_split)]
    pub(super) split: Option<Split>,

    /// Replace files that exist
    #[arg(long)]
    pub(super) force: bool,

    /// CME's config.xml with the addresses of each feed [default: from the captures]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,

    /// Channels in that file, separated by commas; their ids begin the names of files
    /// [default: all with packets in the captures]
    #[arg(long, value_name = "ID", value_delimiter = ',', requires = "config")]
    pub(super) channel: Vec<String>,

    /// Keep up to N instruments with their books, about 2,300 bytes each
    #[arg(long, value_name = "N", default_value_t = 4_096,
          value_parser = clap::value_parser!(u32).range(1..=2_000_000))]
    pub(super) instruments: u32,

    /// Keep up to N orders for the schema mbo, 64 bytes each
    #[arg(long, value_name = "N", default_value_t = 1 << 17,
          value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub(super) orders: u32,
}

/// A schema of DBN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(super) enum SchemaName {
    /// Every order of every book
    Mbo,
    /// Changes of the best prices, and trades
    #[value(name = "mbp-1")]
    Mbp1,
    /// Changes of the ten best price levels, and trades
    #[value(name = "mbp-10")]
    Mbp10,
    /// Trades
    Trades,
    /// Settlements, open interest and statistics of the session
    Statistics,
    /// Changes of the trading status
    Status,
    /// Definitions of instruments
    Definition,
}

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Databento Binary Encoding, version 3
    Dbn,
    /// Parquet, compressed with Snappy
    Parquet,
    /// Arrow IPC file (Feather version 2)
    Arrow,
}

impl Format {
    /// Returns the extension of its files.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Dbn => "dbn",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
        }
    }
}

/// The limit of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Split {
    /// A period of UTC, in nanoseconds.
    Period(u64),
    /// Bytes of records.
    Bytes(u64),
}

/// The nanoseconds of an hour and a day.
pub(super) const HOUR: u64 = 3_600_000_000_000;
pub(super) const DAY: u64 = 24 * HOUR;

fn parse_split(text: &str) -> Result<Split, String> {
    match text {
        "hour" => Ok(Split::Period(HOUR)),
        "day" => Ok(Split::Period(DAY)),
        _ => match text.parse() {
            Ok(megabytes @ 1..=1_000_000) => Ok(Split::Bytes(megabytes * 1_000_000)),
            _ => Err("expected hour, day, or megabytes from 1 to 1000000".to_owned()),
        },
    }
}
