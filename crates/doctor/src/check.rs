//! Checks of configuration files. They connect to nothing and write nothing.

use std::borrow::Cow;
use std::fmt;
use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use hairpin_feed_handler::config::{ChannelConfig, Config as FeedConfig, ConfigError as FeedError};
use hairpin_host::{Clock, ClockSync, address_interface, allowed_cores, clock_sync, format_cores};
use hairpin_order_entry::{
    Config as OrderConfig, ConfigError, MsgwConfigError, msgw_schema_version, msgw_segments,
    redact_keys,
};
use hairpin_time::{Duration, Utc};

/// The largest file that is read, in bytes. CME's own have about 300 kB.
const BYTES_MAX: u64 = 16 << 20;
/// The most lines about the channels of one file.
const CHANNELS_MAX: usize = 10;
/// The error of the clock from which on CME refuses a logon.
const LOGON_ERROR: Duration = Duration::from_secs(5);

/// The parser of a threads file: the cores that it names.
pub type ThreadsParser = fn(&str) -> Result<Vec<usize>, String>;

/// The judgment of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgment {
    /// The kind of the file, and its contents in short.
    Found,
    /// A fact to know.
    Note,
    /// Something that fails when the file is used.
    Wrong,
}

/// A line about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckLine {
    /// The file, as given.
    pub path: PathBuf,
    /// The judgment.
    pub judgment: Judgment,
    /// The finding.
    pub text: String,
}

/// The facts about this host that files are compared with.
#[derive(Debug, Clone)]
pub struct CheckHost {
    now: Utc,
    allowed_cores: Vec<usize>,
    clock_sync: Option<ClockSync>,
    /// Returns `true` for an address of an interface.
    has_address: fn(Ipv4Addr) -> bool,
}

impl CheckHost {
    /// Reads the facts.
    #[must_use]
    pub fn read() -> Self {
        Self {
            now: Clock::from_kernel().now().utc,
            allowed_cores: allowed_cores().unwrap_or_default(),
            clock_sync: clock_sync().ok(),
            has_address: |address| address_interface(address).is_ok(),
        }
    }

    /// Checks a file, which is recognized by its content: order.toml, config.xml,
    /// MSGW_Config.xml, a threads file, or channels in TOML.
    #[must_use]
    pub fn check(&self, path: &Path, threads: ThreadsParser) -> Vec<CheckLine> {
        let mut lines = Lines { path, lines: Vec::new() };
        match read(path) {
            Err(cause) => lines.wrong(cause),
            Ok(bytes) => {
                let text = readable(&bytes);
                match FileKind::recognize(&text) {
                    Some(FileKind::Order) => {
                        self.check_order(path, &mut lines);
                        if text.lines().any(permits_any_key_file) {
                            lines.note("insecure_key_file: other users may read the secret key");
                        }
                    }
                    Some(FileKind::Threads) => self.check_threads(&text, threads, &mut lines),
                    Some(FileKind::Gateways) => check_gateways(&text, &mut lines),
                    Some(FileKind::Channels) => {
                        self.check_channels(FeedConfig::read(path), &mut lines)
                    }
                    Some(FileKind::ChannelsToml) => {
                        if path.extension().is_none_or(|extension| extension != "toml") {
                            lines.wrong("channels in TOML need a name that ends in .toml");
                        }
                        self.check_channels(FeedConfig::from_toml(&text), &mut lines);
                    }
                    None => lines.wrong(
                        "unknown content: use order.toml, config.xml, MSGW_Config.xml, a threads \
                         file or a TOML file of channels",
                    ),
                }
            }
        }
        lines.lines
    }

    fn check_order(&self, path: &Path, lines: &mut Lines<'_>) {
        let configs = match OrderConfig::read(path) {
            Err(ConfigError::Segments { .. }) => OrderConfig::read_segments(path)
                .map(|all| all.into_iter().map(|(id, config)| (Some(id), config)).collect()),
            other => other.map(|config| vec![(None, config)]),
        };
        let configs: Vec<(Option<u8>, OrderConfig)> = match configs {
            Ok(configs) => configs,
            Err(error) => return lines.wrong(error),
        };
        let Some((_, first)) = configs.first() else { return lines.wrong("no session") };
        let logon = &first.session.logon;
        let segments: Vec<String> =
            configs.iter().filter_map(|(id, _)| *id).map(|id| id.to_string()).collect();
        let segments = match segments.as_slice() {
            [] => String::new(),
            ids => format!("; segments: {}", ids.join(", ")),
        };
        lines.found(format!(
            "order entry: session {} of firm {}; hosts: {} primary, {} backup{segments}",
            logon.session,
            logon.firm,
            first.connector.primary.len(),
            first.connector.backup.len(),
        ));
        self.check_schedule(first, lines);
        check_journal(first, lines);
        if let Some(expiry) = first.session.conduct.key_expires {
            let days = expiry.at.saturating_since(self.now).as_nanos() / DAY.as_nanos();
            if expiry.at <= self.now {
                lines.wrong("the secret key has expired (key_expires)");
            } else if days < u64::from(expiry.warning_days) {
                let unit = if days == 1 { "day" } else { "days" };
                lines.note(format!("the secret key expires in {days} {unit}"));
            }
        }
        match self.clock_sync {
            Some(sync) if sync.synchronized && sync.error_max > LOGON_ERROR => {
                lines.wrong("the host's clock may be more than 5 s off: CME refuses such a logon");
            }
            Some(sync) if !sync.synchronized => {
                lines.note("no daemon synchronizes the host's clock: CME refuses a logon 5 s off");
            }
            _ => {}
        }
    }

    fn check_schedule(&self, config: &OrderConfig, lines: &mut Lines<'_>) {
        let Some(schedule) = &config.connector.schedule else { return };
        let is_open = schedule.is_open(self.now, &config.zone);
        match (is_open, schedule.next_change(self.now, &config.zone)) {
            (true, Some(change)) => lines.note(format!("schedule: open, closes {}", after(change))),
            (false, Some(change)) => {
                lines.note(format!("schedule: closed, opens {}", after(change)))
            }
            (true, None) => lines.note("schedule: always open"),
            (false, None) => lines.wrong("schedule: never open"),
        }
    }

    fn check_threads(&self, text: &str, threads: ThreadsParser, lines: &mut Lines<'_>) {
        let cores = match threads(text) {
            Ok(cores) => cores,
            Err(error) => return lines.wrong(error),
        };
        lines.found(format!("threads file: cores {}", format_cores(&cores)));
        for core in &cores {
            if !self.allowed_cores.contains(core) {
                let allowed = format_cores(&self.allowed_cores);
                lines.wrong(format!("cannot pin to core {core}: allowed cores are {allowed}"));
            }
        }
        if cores.iter().enumerate().any(|(index, core)| cores[..index].contains(core)) {
            lines.wrong("two threads have the same core");
        }
    }

    fn check_channels(&self, config: Result<FeedConfig, FeedError>, lines: &mut Lines<'_>) {
        let config = match config {
            Ok(config) => config,
            Err(error) => return lines.wrong(error),
        };
        let count = config.channels.len();
        let plural = if count == 1 { "" } else { "s" };
        let environment = match config.environment.as_str() {
            "" => String::new(),
            environment => format!("{environment}, "),
        };
        lines.found(format!("market data: {environment}{count} channel{plural}"));
        if count == 0 {
            lines.wrong("no channel");
        }
        let failed = |channel: &ChannelConfig| channel.addresses(Ipv4Addr::UNSPECIFIED).err();
        let failed: Vec<FeedError> = config.channels.iter().filter_map(failed).collect();
        for error in failed.iter().take(CHANNELS_MAX) {
            lines.wrong(error);
        }
        if failed.len() > CHANNELS_MAX {
            lines.wrong(format!("further channels with errors: {}", failed.len() - CHANNELS_MAX));
        }
        for channel in &config.channels {
            for connection in &channel.connections {
                if let Some(address) = connection.interface.filter(|it| !(self.has_address)(*it)) {
                    lines.wrong(format!(
                        "channel {}: connection {}: no interface has the address {address}",
                        channel.id, connection.id
                    ));
                }
            }
        }
    }
}

const DAY: Duration = Duration::from_secs(86_400);

fn check_journal(config: &OrderConfig, lines: &mut Lines<'_>) {
    let Some(journal) = &config.journal else {
        if !config.in_memory {
            lines.note("no [journal]: messages are lost with the process");
        }
        return;
    };
    let exists = journal.folder.ancestors().find(|folder| folder.exists());
    let shown = journal.folder.display();
    match exists {
        Some(folder) if !folder.is_dir() => {
            lines.wrong(format!("journal {shown}: {} is not a folder", folder.display()));
        }
        Some(folder) if folder != journal.folder => {
            lines.note(format!("journal {shown}: does not exist yet"));
        }
        _ => {}
    }
}

fn check_gateways(text: &str, lines: &mut Lines<'_>) {
    let segments = match msgw_segments(text) {
        Ok(segments) => segments,
        Err(error) => return lines.wrong(error),
    };
    let version = |&id: &u8| msgw_schema_version(text, id);
    let usable = segments.iter().filter(|id| version(id).is_ok()).count();
    lines.found(format!("market segments: {usable} of {} usable", segments.len()));
    for error in segments.iter().filter_map(|id| version(id).err()) {
        match &error {
            // A segment without versions is not one of iLink 3.
            MsgwConfigError::Version { versions, .. } if versions.is_empty() => {}
            error => lines.note(error),
        }
    }
    if usable == 0 {
        lines.wrong("no market segment has a schema version that a session can use");
    }
}

/// Returns `true` for the line of order.toml that permits a key file of any mode.
fn permits_any_key_file(line: &str) -> bool {
    let value = line.trim().strip_prefix("insecure_key_file").map(str::trim_start);
    let value = value.and_then(|rest| rest.strip_prefix('='));
    value.is_some_and(|value| value.trim().starts_with("true"))
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Order,
    Threads,
    Gateways,
    Channels,
    ChannelsToml,
}

impl FileKind {
    fn recognize(text: &str) -> Option<Self> {
        if text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
            let contains = |tag: &str| text.contains(tag);
            return match () {
                () if contains("<marketsegment") => Some(Self::Gateways),
                () if contains("<configuration") => Some(Self::Channels),
                () => None,
            };
        }
        text.lines().find_map(|line| {
            let header = line.trim().strip_prefix('[')?.trim_start_matches('[');
            let name = header.split([']', '.']).next().unwrap_or_default().trim();
            match name {
                "threads" => Some(Self::Threads),
                "channel" => Some(Self::ChannelsToml),
                "gateway" | "logon" | "operator" | "segment" => Some(Self::Order),
                _ => None,
            }
        })
    }
}

/// The lines about a file.
struct Lines<'a> {
    path: &'a Path,
    lines: Vec<CheckLine>,
}

impl Lines<'_> {
    fn found(&mut self, text: impl fmt::Display) {
        self.push(Judgment::Found, &text);
    }

    fn note(&mut self, text: impl fmt::Display) {
        self.push(Judgment::Note, &text);
    }

    fn wrong(&mut self, text: impl fmt::Display) {
        self.push(Judgment::Wrong, &text);
    }

    fn push(&mut self, judgment: Judgment, text: &dyn fmt::Display) {
        let (path, text) = (self.path.to_owned(), text.to_string());
        self.lines.push(CheckLine { path, judgment, text });
    }
}

/// One line, without what looks like a secret key.
impl fmt::Display for CheckLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let judgment = match self.judgment {
            Judgment::Found => "found",
            Judgment::Note => "note",
            Judgment::Wrong => "wrong",
        };
        let text = self.text.replace(['\n', '\r'], " ");
        let line = format!("{}: {judgment}: {text}", self.path.display());
        f.write_str(&redact_keys(&line))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let metadata = fs::metadata(path).map_err(|error| format!("cannot read the file: {error}"))?;
    if !metadata.is_file() {
        return Err("cannot read the file: not a regular file".to_owned());
    }
    if metadata.len() > BYTES_MAX {
        return Err(format!("cannot read the file: longer than {BYTES_MAX} bytes"));
    }
    fs::read(path).map_err(|error| format!("cannot read the file: {error}"))
}

/// Returns the text of a file, to recognize it; of UTF-16 the letters that are ASCII.
fn readable(bytes: &[u8]) -> Cow<'_, str> {
    match String::from_utf8_lossy(bytes) {
        text if text.contains('\0') => Cow::Owned(text.replace(['\0', '\u{fffd}'], "")),
        text => text,
    }
}

/// Describes a time from now on.
fn after(duration: Duration) -> String {
    let minutes = duration.as_nanos() / 60_000_000_000;
    match (minutes / 1_440, minutes / 60 % 24, minutes % 60) {
        (0, 0, minutes) => format!("in {minutes} min"),
        (0, hours, minutes) => format!("in {hours} h {minutes} min"),
        (days, hours, _) => format!("in {days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests;
