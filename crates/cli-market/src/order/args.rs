//! The arguments of `hairpin order`.

use std::path::PathBuf;

use clap::ValueEnum;
use hairpin_cli_harness::transport::TransportArgs;
use hairpin_time::Utc;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Run an order entry session from a script or by hand, or print the journal of one as an audit
/// trail
///
/// With FILE it logs on and runs the commands of the script or of standard input, one per line.
/// With --journal and --show it prints the records of a session, one per line; it locks and changes
/// nothing, so the session may be running. With --journal and --audit-trail it writes the records
/// as CME's audit trail. Exit status: 0 if all was done, 1 after any error, 2 for
/// wrong arguments, 130 when interrupted, 143 when terminated.
#[derive(clap::Args, Debug, Clone)]
pub struct OrderArgs {
    /// Settings file (TOML) with gateway, credentials, journal and instruments, as every order
    /// entry program reads it
    #[arg(value_name = "FILE", required_unless_present_any = ["show", "audit_trail"])]
    #[arg(conflicts_with_all = ["show", "audit_trail"])]
    pub(super) settings: Option<PathBuf>,

    /// Script with one command per line [default: standard input]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["show", "audit_trail"])]
    pub(super) script: Option<PathBuf>,

    /// Market segment of the session, if the file has several [default: the only one]
    #[arg(long, value_name = "ID", conflicts_with_all = ["show", "audit_trail"])]
    pub(super) segment: Option<u8>,

    /// Prices in commands are display prices: convert them by the DisplayFactor of the definitions
    /// in FILE, a capture of market data [default: wire prices]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["show", "audit_trail"])]
    pub(super) display_prices: Option<PathBuf>,

    /// Folder of the journal [default: that of the settings file]; with --show and --audit-trail,
    /// the journal to print or write
    #[arg(long, value_name = "DIR")]
    pub(super) journal: Option<PathBuf>,

    /// Cancel all orders of the session before it logs off [default: `cancel_on_quit` of the
    /// settings file, else orders stay at the exchange]
    #[arg(long, conflicts_with_all = ["show", "audit_trail"])]
    pub(super) cancel_on_quit: bool,

    /// Accept a key file that other users can access
    #[arg(long, conflicts_with_all = ["show", "audit_trail"])]
    pub(super) insecure_key_file: bool,

    /// Interface of --transport xdp
    #[arg(long, value_name = "IF")]
    pub(super) interface: Option<String>,

    #[command(flatten)]
    pub(super) transport: TransportArgs,

    /// Print the journal
    #[arg(long, requires = "journal")]
    pub(super) show: bool,

    /// Write the journal as CME's audit trail: SESSION-YYYYMMDD.csv for each session and day (UTC)
    #[arg(long, requires = "journal", conflicts_with_all = ["show", "format"])]
    pub(super) audit_trail: bool,

    /// Folder of the audit trail, created if missing; existing files are not replaced
    #[arg(long, value_name = "DIR", requires = "audit_trail", default_value = ".")]
    pub(super) output: PathBuf,

    /// Output format [default: short for a session on a terminal, else text]
    #[arg(long, value_enum)]
    pub(super) format: Option<Format>,

    /// Only records of TIME or later: 2026-11-22 (UTC) or 2026-11-22T18:00:00.5Z [default: all]
    #[arg(long, value_name = "TIME", requires = "show", value_parser = parse_time)]
    pub(super) from: Option<Utc>,

    /// Only records before TIME [default: all]
    #[arg(long, value_name = "TIME", requires = "show", value_parser = parse_time)]
    pub(super) to: Option<Utc>,

    /// Only the session with this UUID [default: all]
    #[arg(long, value_name = "N", requires = "show")]
    pub(super) uuid: Option<u64>,
}

/// Output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The time of day, and words like those of the commands
    Short,
    /// `field=value`
    Text,
    /// A line of names, then values separated by commas; only with --show
    Csv,
    /// One JSON object per line
    Json,
}

/// Parses a date, which means its midnight in UTC, or a time with its offset.
fn parse_time(text: &str) -> Result<Utc, String> {
    let day = |date: Date| date.to_zoned(TimeZone::UTC).map(|midnight| midnight.timestamp());
    let time = match text.parse::<jiff::Timestamp>() {
        Err(_) if !text.contains(['T', 't', ' ']) => text.parse().and_then(day),
        parsed => parsed,
    };
    let nanos = time.ok().and_then(|time| u64::try_from(time.as_nanosecond()).ok());
    let hint = "a time since 1970, such as 2026-11-22 or 2026-11-22T18:00:00Z";
    nanos.map(Utc::from_nanos).ok_or_else(|| hint.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_dates_and_times() {
        let nanos = |text| parse_time(text).map(Utc::as_nanos);
        assert_eq!(nanos("1970-01-02"), Ok(86_400_000_000_000));
        assert_eq!(nanos("1970-01-01T00:00:01.000000002Z"), Ok(1_000_000_002));
        assert_eq!(nanos("1970-01-01T01:00:00+01:00"), Ok(0));
        for wrong in ["", "yesterday", "1969-12-31", "2026-13-01", "2026-11-22T18:00:00"] {
            assert!(nanos(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn parses_values_printed_by_audit_trail() {
        let time = Utc::from_nanos(1_700_000_000_123_456_789);
        assert_eq!(parse_time(&time.to_string()), Ok(time));
    }
}
