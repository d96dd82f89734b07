//! The parser of `order.toml`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};
use std::{fs, io};

use hairpin_cme_codecs::ilink3::ManualOrdIndReq;
use hairpin_ilink3::{
    self as ilink3, ConnectorSettings, GatewayKind, KEY_WARNING_DAYS_DEFAULT, KeyExpiry, Location,
    NotAppliedAnswer, OnFault, Operator, RATE_INTERVAL, Rate, Rates, Schedule, SecretKey,
    SecretKeyError, SenderId, SessionPolicy, Version, WeekTime, redact_keys,
};
use hairpin_mapped::{JournalSettings, Retention, Secret, SecretError, SyncPolicy};
use hairpin_time::{Duration, Utc};
use jiff::{civil::Date, tz::TimeZone};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::{Config, ConfigError, JournalLocation, ReadOptions};
use crate::{
    BATCH_BYTES_DEFAULT, NamedZone, Settings, ThrottleSettings, WAITING_DEFAULT, WhenFull,
    WhenJournalFails, WhenThrottled, msgw_schema_version,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    gateway: Option<Gateway>,
    #[serde(default)]
    segment: Vec<SegmentTable>,
    logon: Logon,
    operator: OperatorTable,
    #[serde(default)]
    conduct: ConductTable,
    #[serde(default)]
    sending: Sending,
    journal: Option<JournalTable>,
    throttle: Option<ThrottleTable>,
    schedule: Option<ScheduleTable>,
    #[serde(default)]
    instruments: BTreeMap<String, i32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Gateway {
    primary: Spanned<Vec<Address>>,
    #[serde(default)]
    backup: Vec<Address>,
    attempts: Option<u32>,
    #[serde(default = "one_second")]
    interval_ms: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SegmentTable {
    id: Spanned<u8>,
    primary: Spanned<Vec<Address>>,
    #[serde(default)]
    backup: Vec<Address>,
    attempts: Option<u32>,
    #[serde(default = "one_second")]
    interval_ms: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Logon {
    access_key_id: String,
    secret_file: Option<PathBuf>,
    secret_env: Option<String>,
    #[serde(default)]
    insecure_key_file: bool,
    session: String,
    firm: String,
    system_name: String,
    system_version: String,
    system_vendor: String,
    keep_alive_ms: Option<u64>,
    key_expires: Option<Spanned<toml::value::Datetime>>,
    key_warning_days: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OperatorTable {
    sender_id: Spanned<String>,
    location: Spanned<String>,
    party_details_id: Option<u64>,
    #[serde(default)]
    manual: bool,
    /// The session trades on EBS, where a SenderID has three characters.
    #[serde(default)]
    ebs: bool,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct ConductTable {
    version: Option<Spanned<u16>>,
    msgw_config: Option<Spanned<PathBuf>>,
    market_segment: Option<u8>,
    gateway_kind: Option<GatewayName>,
    on_demand_party_id: Option<u64>,
    held_bytes: Option<usize>,
    retransmission_timeout_ms: Option<u64>,
    retransmission_attempts: Option<u32>,
    logon_attempts: Option<u32>,
    not_applied: Option<NotAppliedName>,
    on_fault: Option<OnFaultName>,
    #[serde(default)]
    cancel_on_quit: bool,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Sending {
    waiting_max: Option<usize>,
    batch_bytes: Option<usize>,
    when_full: Option<WhenFullName>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JournalTable {
    folder: Option<PathBuf>,
    #[serde(default)]
    in_memory: bool,
    segment_bytes: Option<u64>,
    ahead: Option<usize>,
    sync: Option<SyncName>,
    sync_interval_ms: Option<Spanned<u64>>,
    segments: Option<usize>,
    age_hours: Option<u64>,
    keep_inbound: Option<bool>,
    when_failed: Option<WhenFailedName>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ThrottleTable {
    #[serde(default)]
    beyond: BeyondName,
    interval_ms: Option<u64>,
    cancels: Option<u32>,
    quotes: Option<u32>,
    others: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScheduleTable {
    zone: Option<Spanned<String>>,
    week_start: Spanned<String>,
    open: Spanned<Vec<Spanned<[String; 2]>>>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum NotAppliedName {
    FillGap,
    Replay,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum GatewayName {
    Msgw,
    Cgw,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum OnFaultName {
    Close,
    Terminate,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum WhenFullName {
    Refuse,
    BeginAgain,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum WhenFailedName {
    Refuse,
    Continue,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "snake_case")]
enum SyncName {
    None,
    Interval,
    Each,
}

#[derive(Deserialize, Clone, Copy, Default)]
#[serde(rename_all = "snake_case")]
enum BeyondName {
    #[default]
    Refuse,
    Queue,
}

/// An IPv4 address with a port.
#[derive(Clone, Copy)]
struct Address(SocketAddrV4);

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(|_| {
            D::Error::custom(
                "not a valid address: use an IPv4 address and a port like 192.0.2.10:9000",
            )
        })
    }
}

fn one_second() -> u64 {
    1_000
}

/// The minimum length of a secret key: 16 bytes in base64url.
const KEY_LENGTH_MIN: usize = 22;

/// The text, for line numbers, and the folder for relative paths.
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) folder: &'a Path,
    pub(super) options: ReadOptions,
}

impl Source<'_> {
    fn error_at<T>(&self, place: &Spanned<T>, message: impl Into<String>) -> ConfigError {
        ConfigError::Toml { line: line(self.text, place.span().start), message: message.into() }
    }

    /// Returns an error at the line of a table.
    fn error_in_table(&self, table: &str, message: &str) -> ConfigError {
        ConfigError::Toml { line: self.line_of(table), message: message.into() }
    }

    /// Returns an error at the line of a key, about the value of that key.
    fn error_of_key(&self, key: &str, message: impl std::fmt::Display) -> ConfigError {
        let is_key = |line: &str| {
            let rest = line.trim_start().strip_prefix(key);
            rest.is_some_and(|rest| rest.trim_start().starts_with('='))
        };
        let place = self.text.lines().position(is_key);
        ConfigError::Toml {
            line: place.map_or(1, |place| place + 1),
            message: format!("cannot use what `{key}` names: {message}"),
        }
    }

    /// Returns the error of reading a file that a key names. A name that may be a secret key in the
    /// wrong place is omitted.
    fn file_error(&self, key: &str, path: &Path, error: std::io::Error) -> ConfigError {
        let text = path.to_string_lossy();
        let is_name = text.split(['/', '.']).all(|part| part.len() < KEY_LENGTH_MIN);
        match path.exists() || is_name {
            true => ConfigError::File { path: path.to_owned(), error },
            false => self.error_of_key(key, error),
        }
    }

    /// Checks that the file contains no secret key, in any place: it would be printed, sent or
    /// stored as what that place means.
    fn check_no_key(&self) -> Result<(), ConfigError> {
        let has_key = |line: &str| matches!(redact_keys(line), Cow::Owned(_));
        match self.text.lines().position(has_key) {
            None => Ok(()),
            Some(place) => Err(ConfigError::Toml {
                line: place + 1,
                message: "contains what looks like a secret key: move the key to a file of its \
                          own, which `secret_file` names"
                    .to_owned(),
            }),
        }
    }

    fn parse(&self) -> Result<File, ConfigError> {
        self.check_no_key()?;
        toml::from_str(self.text).map_err(|error| {
            let line = error.span().map_or(1, |span| line(self.text, span.start));
            let source = self.text.lines().nth(line - 1).unwrap_or_default();
            if let Some(message) = missing_keys(self.text) {
                return ConfigError::Toml { line, message };
            }
            ConfigError::Toml { line, message: message_without_values(error.message(), source) }
        })
    }

    /// Returns the line of a table's header, or 1 if there is no such table.
    fn line_of(&self, table: &str) -> usize {
        let header = format!("[{table}]");
        let place = self.text.lines().position(|line| line.trim_start().starts_with(&header));
        place.map_or(1, |place| place + 1)
    }
}

/// Returns the line of a byte offset, counted from 1.
fn line(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    before.iter().filter(|&&byte| byte == b'\n').count() + 1
}

/// The keys that each table must have.
const REQUIRED: [(&str, &[&str]); 2] = [
    (
        "logon",
        &["access_key_id", "session", "firm", "system_name", "system_version", "system_vendor"],
    ),
    ("operator", &["sender_id", "location"]),
];

/// Returns an error that names all keys that are missing, if there are several: the library reports
/// only the first.
fn missing_keys(text: &str) -> Option<String> {
    let file: toml::Table = toml::from_str(text).ok()?;
    let is_missing = |table: &str, key: &str| match file.get(table) {
        Some(toml::Value::Table(table)) => !table.contains_key(key),
        Some(_) => false,
        None => true,
    };
    let keys = REQUIRED.iter().flat_map(|(table, keys)| keys.iter().map(move |key| (*table, *key)));
    let missing = keys.filter(|(table, key)| is_missing(table, key));
    let missing: Vec<_> = missing.map(|(table, key)| format!("`{key}` in [{table}]")).collect();
    (missing.len() > 1).then(|| format!("missing fields: {}", missing.join(", ")))
}

/// Returns a message of the library without any value of the file: a value, or the name of an
/// unknown key, may be a secret key in the wrong place. `source` is the line of the error.
fn message_without_values(message: &str, source: &str) -> String {
    let message = message.replace(['\n', '\r'], " ");
    let expected = message.rsplit_once(", expected ").map(|(_, expected)| expected);
    let expected = expected.map_or(String::new(), |expected| format!(", expected {expected}"));
    if let Some(rest) = message.strip_prefix("unknown field `") {
        let name = rest.split('`').next().unwrap_or_default();
        return match is_plain_name(name) {
            true => format!("unknown field `{name}`{expected}"),
            false => format!("unknown field{expected}"),
        };
    }
    let quotes_value = ["unknown variant", "invalid type", "invalid value", "invalid length"];
    if let Some(kind) = quotes_value.iter().find(|prefix| message.starts_with(**prefix)) {
        let key = source.split('=').next().map(str::trim).filter(|key| is_plain_name(key));
        let of_key = key.map_or(String::new(), |key| format!(" of `{key}`"));
        return format!("{kind}{of_key}{expected}");
    }
    let is_quote = |part: &str| part.chars().filter(|it| it.is_alphanumeric()).count() > 2;
    let has_value = message.split(['`', '"', '\'']).skip(1).step_by(2).any(is_quote);
    match message.starts_with("missing field") || !has_value {
        true => message,
        false => "invalid TOML".to_owned(),
    }
}

/// Returns `true` for a name as the keys of the file have it, which no secret key resembles.
fn is_plain_name(name: &str) -> bool {
    (1..=24).contains(&name.len())
        && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase())
}

impl Config {
    pub(super) fn from_source(source: &Source<'_>) -> Result<Self, ConfigError> {
        let mut file = source.parse()?;
        if !file.segment.is_empty() {
            return Err(ConfigError::Segments { line: source.line_of("[segment]") });
        }
        let gateway = file.gateway.take();
        let gateway =
            gateway.ok_or_else(|| source.error_in_table("gateway", "missing `[gateway]`"))?;
        Self::from_file(file, gateway, source)
    }

    pub(super) fn segments_of(source: &Source<'_>) -> Result<Vec<(u8, Self)>, ConfigError> {
        let file = source.parse()?;
        if file.segment.is_empty() || file.gateway.is_some() {
            let message = "give a `[[segment]]` for each market segment, and no `[gateway]`";
            return Err(source.error_in_table("gateway", message));
        }
        let mut configs: Vec<(u8, Self)> = Vec::with_capacity(file.segment.len());
        for place in 0..file.segment.len() {
            // Parse again for each segment: the secret key must not be cloned.
            let mut file = source.parse()?;
            let segment = file.segment.swap_remove(place);
            let id = *segment.id.as_ref();
            if configs.iter().any(|(other, _)| *other == id) {
                let message = format!("duplicate market segment {id}");
                return Err(source.error_at(&segment.id, message));
            }
            if let Some(journal) = &mut file.journal {
                journal.folder.iter_mut().for_each(|folder| folder.push(id.to_string()));
            }
            file.conduct.market_segment = Some(id);
            let SegmentTable { primary, backup, attempts, interval_ms, .. } = segment;
            let gateway = Gateway { primary, backup, attempts, interval_ms };
            configs.push((id, Self::from_file(file, gateway, source)?));
        }
        Ok(configs)
    }

    /// Builds the configuration for one gateway.
    fn from_file(file: File, gateways: Gateway, source: &Source<'_>) -> Result<Self, ConfigError> {
        let operator = file.operator.read(source)?;
        let Some(&Address(gateway)) = gateways.primary.as_ref().first() else {
            return Err(source.error_at(&gateways.primary, "`primary` needs an address"));
        };
        let key_expires = file.logon.read_expiry(source)?;
        let logon = file.logon.read(source, operator)?;
        let (zone, schedule) = match file.schedule {
            Some(table) => table.read(source)?,
            None => (zone("America/Chicago"), None),
        };
        let zone = zone.map_err(|message| source.error_in_table("schedule", &message))?;
        let cancel_on_quit = file.conduct.cancel_on_quit;
        let keep_inbound = file.journal.as_ref().and_then(|it| it.keep_inbound).unwrap_or(true);
        let session = Settings {
            conduct: SessionPolicy { key_expires, ..file.conduct.read(source)? },
            waiting_max: file.sending.waiting_max.unwrap_or(WAITING_DEFAULT),
            batch_bytes: file.sending.batch_bytes.unwrap_or(BATCH_BYTES_DEFAULT),
            when_full: match file.sending.when_full {
                Some(WhenFullName::BeginAgain) => WhenFull::Restart,
                Some(WhenFullName::Refuse) | None => WhenFull::Refuse,
            },
            when_journal_fails: match file.journal.as_ref().and_then(|it| it.when_failed) {
                Some(WhenFailedName::Continue) => WhenJournalFails::Continue,
                Some(WhenFailedName::Refuse) | None => WhenJournalFails::Refuse,
            },
            keep_inbound,
            throttle: file.throttle.map(|table| table.read()),
            ..Settings::new(gateway, logon)
        };
        let in_memory = file.journal.as_ref().is_some_and(|it| it.in_memory);
        let journal = match file.journal {
            Some(table) => table.read(source)?,
            None => None,
        };
        let connector = ConnectorSettings {
            primary: gateways.primary.as_ref().iter().map(|it| it.0).collect(),
            backup: gateways.backup.iter().map(|it| it.0).collect(),
            attempts: gateways.attempts,
            interval: Duration::from_millis(gateways.interval_ms),
            schedule,
        };
        let instruments = file.instruments;
        Ok(Self { session, connector, zone, journal, in_memory, cancel_on_quit, instruments })
    }
}

impl Logon {
    /// Parses the expiry date of the key. The key expires at the start of that day, UTC.
    fn read_expiry(&self, source: &Source<'_>) -> Result<Option<KeyExpiry>, ConfigError> {
        let Some(place) = &self.key_expires else { return Ok(None) };
        let Some(at) = start_of_day(place.as_ref()) else {
            let message = "`key_expires` must be a date like 2027-03-01";
            return Err(source.error_at(place, message));
        };
        let warning_days = self.key_warning_days.unwrap_or(KEY_WARNING_DAYS_DEFAULT);
        Ok(Some(KeyExpiry { at, warning_days }))
    }

    fn read(
        self,
        source: &Source<'_>,
        operator: Operator,
    ) -> Result<ilink3::Settings, ConfigError> {
        let secret_key = match (self.secret_file, self.secret_env) {
            (Some(file), None) => key_in_file(
                &file,
                self.insecure_key_file || source.options.insecure_key_file,
                source,
            )?,
            (None, Some(variable)) => key_in_variable(variable, source)?,
            _ => {
                let message = "give either `secret_file` or `secret_env` for the secret key";
                return Err(source.error_in_table("logon", message));
            }
        };
        let keep_alive = self.keep_alive_ms.map(Duration::from_millis);
        let settings = ilink3::Settings {
            access_key_id: self.access_key_id,
            secret_key,
            session: self.session,
            firm: self.firm,
            trading_system_name: self.system_name,
            trading_system_version: self.system_version,
            trading_system_vendor: self.system_vendor,
            keep_alive_interval: keep_alive.unwrap_or(ilink3::KEEP_ALIVE_DEFAULT),
            operator,
        };
        settings.check().map_err(ConfigError::Logon)?;
        Ok(settings)
    }
}

/// Returns the start of a day in UTC, or `None` if the value has a time or the day is before 1970.
fn start_of_day(date: &toml::value::Datetime) -> Option<Utc> {
    let day = date.date.filter(|_| date.time.is_none() && date.offset.is_none())?;
    let (year, month, day) = (day.year.try_into(), day.month.try_into(), day.day.try_into());
    let date = Date::new(year.ok()?, month.ok()?, day.ok()?).ok()?;
    let time = date.to_zoned(TimeZone::UTC).ok()?.timestamp().as_nanosecond();
    time.try_into().ok().map(Utc::from_nanos)
}

fn key_in_file(file: &Path, insecure: bool, source: &Source<'_>) -> Result<SecretKey, ConfigError> {
    let path = source.folder.join(file);
    let text = Secret::read_file(&path, insecure).map_err(|error| match error {
        SecretError::Io(error) => source.file_error("secret_file", &path, error),
        error => ConfigError::KeyFile { path: path.clone(), error },
    })?;
    decode_key(&text, path.display().to_string())
}

fn key_in_variable(place: String, source: &Source<'_>) -> Result<SecretKey, ConfigError> {
    let text = Secret::take_variable(&place);
    let text = text.map_err(|error| source.error_of_key("secret_env", error))?;
    // A secret key in the wrong place has lower case letters.
    let is_name = |byte: u8| byte == b'_' || byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let is_name = place.bytes().all(is_name);
    match text {
        Some(text) => decode_key(&text, place),
        None if is_name => Err(ConfigError::NoVariable(place)),
        None => Err(source.error_of_key("secret_env", "this environment variable is not set")),
    }
}

fn decode_key(text: &Secret, place: String) -> Result<SecretKey, ConfigError> {
    secret_key_from(text).map_err(|error| ConfigError::Secret { place, error })
}

/// Decodes the text of a secret key, base64url, into a page of its own.
///
/// # Errors
/// Those of [`SecretKey::decode`]; [`SecretKeyError::Memory`] without memory.
pub fn secret_key_from(text: &Secret) -> Result<SecretKey, SecretKeyError> {
    enum Failed {
        Key(SecretKeyError),
        Memory,
    }
    impl From<std::io::Error> for Failed {
        fn from(_: std::io::Error) -> Self {
            Self::Memory
        }
    }
    let key = Secret::new(|page| SecretKey::decode(text.as_ref(), page).map_err(Failed::Key));
    match key {
        Ok(key) => SecretKey::from_memory(key),
        Err(Failed::Key(error)) => Err(error),
        Err(Failed::Memory) => Err(SecretKeyError::Memory),
    }
}

impl OperatorTable {
    fn read(self, source: &Source<'_>) -> Result<Operator, ConfigError> {
        let text = self.sender_id.as_ref();
        let sender_id = if self.ebs { SenderId::ebs(text) } else { SenderId::new(text) };
        let sender_id =
            sender_id.map_err(|error| source.error_at(&self.sender_id, error.to_string()))?;
        let location = Location::new(self.location.as_ref());
        let location =
            location.map_err(|error| source.error_at(&self.location, error.to_string()))?;
        let operator = Operator::with(sender_id, location);
        let indicator = operator.manual_order_indicator;
        Ok(Operator {
            party_details_list_req_id: self
                .party_details_id
                .unwrap_or(operator.party_details_list_req_id),
            manual_order_indicator: if self.manual { ManualOrdIndReq::MANUAL } else { indicator },
            ..operator
        })
    }
}

/// Returns the schema version of a market segment in CME's `MSGW_Config.xml`.
fn version_in_file(
    path: PathBuf,
    segment: u8,
    source: &Source<'_>,
) -> Result<Version, ConfigError> {
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    let text = fs::read(&path).and_then(|bytes| hairpin_sbe::xml_text(&bytes).map_err(invalid));
    match text {
        Err(error) => Err(source.file_error("msgw_config", &path, error)),
        Ok(text) => {
            msgw_schema_version(&text, segment).map_err(|error| ConfigError::Msgw { path, error })
        }
    }
}

impl ConductTable {
    fn read(self, source: &Source<'_>) -> Result<SessionPolicy, ConfigError> {
        let default = SessionPolicy::default();
        let version = match (self.version, self.msgw_config) {
            (None, None) => default.version,
            (Some(number), None) => Version::new(*number.as_ref()).ok_or_else(|| {
                let (oldest, newest) = (Version::OLDEST.number(), Version::NEWEST.number());
                source.error_at(&number, format!("`version` must be {oldest} to {newest}"))
            })?,
            (Some(number), Some(_)) => {
                let message = "give either `version` or `msgw_config`";
                return Err(source.error_at(&number, message));
            }
            (None, Some(file)) => {
                let message = "`msgw_config` needs `market_segment`";
                let segment = self.market_segment.ok_or_else(|| source.error_at(&file, message))?;
                version_in_file(source.folder.join(file.as_ref()), segment, source)?
            }
        };
        let timeout = self.retransmission_timeout_ms.map(Duration::from_millis);
        let attempts = self.retransmission_attempts;
        Ok(SessionPolicy {
            version,
            gateway_kind: match self.gateway_kind {
                Some(GatewayName::Cgw) => GatewayKind::Convenience,
                Some(GatewayName::Msgw) | None => GatewayKind::MarketSegment,
            },
            on_demand_party_id: self.on_demand_party_id.unwrap_or(default.on_demand_party_id),
            held_bytes: self.held_bytes.unwrap_or(default.held_bytes),
            retransmission_timeout: timeout.unwrap_or(default.retransmission_timeout),
            retransmission_attempts: attempts.unwrap_or(default.retransmission_attempts),
            logon_attempts: self.logon_attempts.unwrap_or(default.logon_attempts),
            not_applied: match self.not_applied {
                Some(NotAppliedName::Replay) => NotAppliedAnswer::Replay,
                Some(NotAppliedName::FillGap) | None => NotAppliedAnswer::FillGap,
            },
            on_fault: match self.on_fault {
                Some(OnFaultName::Terminate) => OnFault::Terminate,
                Some(OnFaultName::Close) | None => OnFault::Close,
            },
            key_expires: None,
        })
    }
}

impl JournalTable {
    /// Returns the journal's location, or `None` for a journal in memory.
    fn read(self, source: &Source<'_>) -> Result<Option<JournalLocation>, ConfigError> {
        let folder = match (self.folder, self.in_memory) {
            (Some(folder), false) => folder,
            (None, true) => return Ok(None),
            _ => {
                let message = "give either `folder` or `in_memory = true`";
                return Err(source.error_in_table("journal", message));
            }
        };
        let default = JournalSettings::default();
        let sync = match (self.sync, self.sync_interval_ms) {
            (Some(SyncName::Interval), Some(millis)) => {
                SyncPolicy::Interval(Duration::from_millis(*millis.as_ref()))
            }
            (Some(SyncName::Interval), None) => {
                return Err(source.error_in_table("journal", "`sync` needs `sync_interval_ms`"));
            }
            (_, Some(millis)) => {
                let message = "`sync_interval_ms` needs `sync = \"interval\"`";
                return Err(source.error_at(&millis, message));
            }
            (Some(SyncName::Each), None) => SyncPolicy::Each,
            (Some(SyncName::None) | None, None) => SyncPolicy::None,
        };
        let age = self.age_hours.map(|hours| Duration::from_secs(hours.saturating_mul(3_600)));
        let retention = Retention {
            segments: self.segments.unwrap_or(default.retention.segments),
            age: age.or(default.retention.age),
        };
        let segment_bytes = self.segment_bytes.unwrap_or(default.segment_bytes);
        let ahead = self.ahead.unwrap_or(default.ahead);
        let settings = JournalSettings { segment_bytes, ahead, sync, retention };
        Ok(Some(JournalLocation { folder: source.folder.join(folder), settings }))
    }
}

impl ThrottleTable {
    fn read(self) -> ThrottleSettings {
        let interval = self.interval_ms.map_or(RATE_INTERVAL, Duration::from_millis);
        let rate = |messages: Option<u32>, default: Option<Rate>| match messages {
            Some(messages) => Some(Rate { messages, interval }),
            None => default,
        };
        let default = Rates::default();
        let rates = Rates {
            cancels: rate(self.cancels, default.cancels),
            quotes: rate(self.quotes, default.quotes),
            others: rate(self.others, default.others),
        };
        let beyond = match self.beyond {
            BeyondName::Refuse => WhenThrottled::Refuse,
            BeyondName::Queue => WhenThrottled::Queue,
        };
        ThrottleSettings { rates, beyond }
    }
}

/// A time zone, or the error message for its name.
type Zone = Result<NamedZone, String>;

fn zone(name: &str) -> Zone {
    let unknown = "cannot use time zone: use a name like America/Chicago";
    NamedZone::new(name).map_err(|_| unknown.to_owned())
}

impl ScheduleTable {
    fn read(self, source: &Source<'_>) -> Result<(Zone, Option<Schedule>), ConfigError> {
        let name = self.zone.as_ref().map_or("America/Chicago", |name| name.as_ref().as_str());
        let zone = zone(name);
        if let (Some(place), Err(message)) = (&self.zone, &zone) {
            return Err(source.error_at(place, message.as_str()));
        }
        let week_start = week_time(self.week_start.as_ref());
        let week_start =
            week_start.ok_or_else(|| source.error_at(&self.week_start, INVALID_WEEK_TIME))?;
        let mut windows = Vec::new();
        for window in self.open.as_ref() {
            let [from, to] = window.as_ref();
            let times = week_time(from).zip(week_time(to));
            windows.push(times.ok_or_else(|| source.error_at(window, INVALID_WEEK_TIME))?);
        }
        let schedule = Schedule::weekly(week_start, &windows);
        let schedule = schedule.map_err(|error| source.error_at(&self.open, error.to_string()))?;
        Ok((zone, Some(schedule)))
    }
}

const INVALID_WEEK_TIME: &str = "not a time of the week: use the form \"Sun 15:00\"";
const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/// Parses a day and a time of day like `Sun 15:00`.
fn week_time(text: &str) -> Option<WeekTime> {
    let (day, time) = text.split_once(' ')?;
    let day = DAYS.iter().position(|name| *name == day)? as u32;
    let (hour, minute) = time.split_once(':')?;
    let number = |digits: &str| {
        let is_number = digits.len() == 2 && digits.bytes().all(|it| it.is_ascii_digit());
        digits.parse().ok().filter(|_| is_number)
    };
    WeekTime::new(day, number(hour)?, number(minute)?)
}

#[cfg(test)]
mod tests;
