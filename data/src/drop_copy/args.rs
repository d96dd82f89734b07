//! The arguments of `hairpin drop-copy`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::ArgGroup;

/// Send the execution reports in a journal to FIX 4.4 clients, or write them to a file
///
/// Reads the journal of an order session in a process of its own, also while the session writes it.
/// Each report is sent once to each client, as ExecutionReport or OrderCancelReject. Exit status: 0
/// if done or stopped, 1 after any error, 2 for wrong arguments.
#[derive(clap::Args, Debug, Clone)]
#[command(group = ArgGroup::new("output").required(true).args(["fix_listen", "fix_file"]))]
#[command(group = ArgGroup::new("input").required(true).args(["journal", "config"]))]
#[command(group = ArgGroup::new("prices").required(true).args(["display_prices", "wire_prices"]))]
pub(crate) struct DropCopyArgs {
    /// Folder with the journal of an order session
    #[arg(long, value_name = "DIR")]
    pub(super) journal: Option<PathBuf>,

    /// Configuration file of the order session, which names its journal
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,

    /// Accept FIX clients on this address
    #[arg(long, value_name = "ADDRESS:PORT", requires = "fix_client", requires = "fix_store")]
    pub(super) fix_listen: Option<SocketAddr>,

    /// CompID of a client that may log on; one session for each
    #[arg(long, value_name = "COMPID", value_parser = parse_comp_id)]
    pub(super) fix_client: Vec<String>,

    /// Own CompID, the clients' TargetCompID
    #[arg(long, value_name = "COMPID", default_value = "HAIRPIN", value_parser = parse_comp_id)]
    pub(super) fix_sender: String,

    /// Folder for the sequence numbers of each client, created if missing
    #[arg(long, value_name = "DIR")]
    pub(super) fix_store: Option<PathBuf>,

    /// Write the journal's reports to FILE, one message a line, and exit
    #[arg(long, value_name = "FILE", conflicts_with = "fix_client")]
    pub(super) fix_file: Option<PathBuf>,

    /// Replace the file if it exists
    #[arg(long, requires = "fix_file")]
    pub(super) force: bool,

    /// Capture of market data with the instruments' definitions, for symbols and display prices
    #[arg(long, value_name = "CAPTURE")]
    pub(super) display_prices: Option<PathBuf>,

    /// Send wire prices, which are display prices divided by DisplayFactor (9787), and no symbols
    #[arg(long)]
    pub(super) wire_prices: bool,

    /// Also send CME's tags that FIX 4.4 does not have, such as UUID (39001) and SeqNum (9726)
    #[arg(long)]
    pub(super) all_tags: bool,
}

/// Parses a CompID, which names a file too.
fn parse_comp_id(text: &str) -> Result<String, String> {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if text.is_empty() || text.len() > 64 || !text.bytes().all(is_valid) {
        return Err("a CompID has 1 to 64 letters, digits, - and _".to_owned());
    }
    Ok(text.to_owned())
}
