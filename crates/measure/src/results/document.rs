//! The results file as a document, with reading and writing.

use std::fs;
use std::io::Write;
use std::path::Path;

use hairpin_time::Utc;
use serde::{Deserialize, Serialize};

use super::json_layout::JsonLayout;
use super::{EnvironmentReport, Host, ResultsError, Row};
use crate::file;

/// The version of the format. New fields are added, and fields are never renamed.
pub const SCHEMA: &str = "hairpin.results/1";

/// A results file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The start of the command, in seconds.
    #[serde(with = "rfc3339")]
    pub started: Utc,
    /// The command line.
    pub command: String,
    /// The version of Hairpin.
    pub version: String,
    /// The commit of the build; `None` if unknown.
    pub commit: Option<String>,
    /// The machine.
    pub host: Host,
    /// The quality of clock and cores during the measurement; `None` in older files.
    #[serde(default)]
    pub truth: Option<EnvironmentReport>,
    /// The rows, one per case and setting, in the order of measurement.
    pub rows: Vec<Row>,
    /// The counts of a capture, written by `hairpin wire`; `None` for other commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<serde_json::Value>,
}

impl Results {
    /// Returns a document without rows.
    #[must_use]
    pub fn new(started: Utc, command: impl Into<String>, host: Host) -> Self {
        Self {
            schema: SCHEMA.to_string(),
            started,
            command: command.into(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            commit: None,
            host,
            truth: None,
            rows: Vec::new(),
            capture: None,
        }
    }

    /// Writes the file atomically: readers see the old or the complete new document.
    ///
    /// Follows a symbolic link. Writes to an existing pipe or terminal instead of replacing it.
    ///
    /// # Errors
    /// [`ResultsError::Io`] if the file or the temporary file next to it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), ResultsError> {
        let written = file::write(path, |file| {
            self.serialize(&mut serde_json::Serializer::with_formatter(
                &mut *file,
                JsonLayout::new(),
            ))?;
            file.write_all(b"\n")?;
            file.flush()?;
            let file = file.get_ref();
            if file.metadata()?.is_file() { file.sync_all() } else { Ok(()) }
        });
        written.map_err(|source| ResultsError::Io { path: path.display().to_string(), source })
    }

    /// Reads a file and validates every row and the environment.
    ///
    /// # Errors
    /// [`ResultsError`], with a variant each for a file that cannot be read, is not JSON of this
    /// form, has another version, or contains an inconsistent row or environment.
    pub fn read(path: &Path) -> Result<Self, ResultsError> {
        let name = || path.display().to_string();
        let text =
            fs::read_to_string(path).map_err(|source| ResultsError::Io { path: name(), source })?;
        let json = |cause| ResultsError::Json { path: name(), cause };
        // A later version may have other fields, so its version is checked before the fields.
        let Version { schema } = serde_json::from_str(&text).map_err(json)?;
        if schema != SCHEMA {
            return Err(ResultsError::Schema { path: name(), found: schema });
        }
        let results: Self = serde_json::from_str(&text).map_err(json)?;
        for (row, number) in results.rows.iter().zip(1..) {
            row.validate().map_err(|cause| ResultsError::Row {
                path: name(),
                row: number,
                cause,
            })?;
        }
        let truth = results.truth.as_ref().map_or(Ok(()), EnvironmentReport::validate);
        truth.map_err(|cause| ResultsError::EnvironmentReport { path: name(), cause })?;
        Ok(results)
    }
}

/// The part of a document that contains its version.
#[derive(Deserialize)]
struct Version {
    schema: String,
}

/// `Utc` as RFC 3339 text in seconds: `2026-11-21T18:00:00Z`.
mod rfc3339 {
    use hairpin_time::{Duration, Utc};
    use jiff::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer, de, ser};

    pub(super) fn serialize<S: Serializer>(utc: &Utc, serializer: S) -> Result<S::Ok, S::Error> {
        let seconds = (utc.as_nanos() / 1_000_000_000) as i64;
        let timestamp = Timestamp::from_second(seconds).map_err(ser::Error::custom)?;
        serializer.collect_str(&timestamp)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Utc, D::Error> {
        let text = String::deserialize(deserializer)?;
        let timestamp: Timestamp = text.parse().map_err(de::Error::custom)?;
        let seconds = u64::try_from(timestamp.as_second()).map_err(de::Error::custom)?;
        let nanos = seconds.checked_mul(Duration::from_secs(1).as_nanos());
        nanos.map(Utc::from_nanos).ok_or_else(|| de::Error::custom("a time after the year 2554"))
    }
}
