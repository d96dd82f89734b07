//! The whole document, and its way to disk and back.

use std::fs;
use std::io::Write;
use std::path::Path;

use hairpin_time::Utc;
use serde::{Deserialize, Serialize};

use super::layout::Layout;
use super::{EnvironmentReport, Host, ResultsError, Row};
use crate::file;

/// The version of the format. Fields are added to it, never renamed.
pub const SCHEMA: &str = "hairpin.results/1";

/// A results file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// When the command began, to the second.
    #[serde(with = "rfc3339")]
    pub started: Utc,
    /// The command line.
    pub command: String,
    /// The version of Hairpin.
    pub version: String,
    /// The commit it was built from; `None` where that is not known.
    pub commit: Option<String>,
    /// The machine.
    pub host: Host,
    /// What the measuring itself was good for; `None` in a file that does not tell it.
    #[serde(default)]
    pub truth: Option<EnvironmentReport>,
    /// One per case and setting, in the order they were measured.
    pub rows: Vec<Row>,
}

impl Results {
    /// A document without rows.
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
        }
    }

    /// Writes the file whole or not at all: readers see the old document or the new one.
    ///
    /// A symbolic link is followed. What is there and is no file (a pipe, a terminal) is written
    /// to, not replaced.
    ///
    /// # Errors
    /// [`ResultsError::Io`] if the file or one beside it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), ResultsError> {
        let written = file::write(path, |file| {
            self.serialize(&mut serde_json::Serializer::with_formatter(&mut *file, Layout::new()))?;
            file.write_all(b"\n")?;
            file.flush()?;
            let file = file.get_ref();
            if file.metadata()?.is_file() { file.sync_all() } else { Ok(()) }
        });
        written.map_err(|source| ResultsError::Io { path: path.display().to_string(), source })
    }

    /// Reads a file and checks that every row, and the truth checks, agree with themselves.
    ///
    /// # Errors
    /// [`ResultsError`], one kind each for a file that cannot be read, is not JSON of this form, is
    /// of another version, or has a row or truth checks that contradict themselves.
    pub fn read(path: &Path) -> Result<Self, ResultsError> {
        let name = || path.display().to_string();
        let text =
            fs::read_to_string(path).map_err(|source| ResultsError::Io { path: name(), source })?;
        let json = |cause| ResultsError::Json { path: name(), cause };
        // A later version may have other fields: say so before missing any of ours.
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

/// All that is read of a document before its version is known.
#[derive(Deserialize)]
struct Version {
    schema: String,
}

/// `Utc` as RFC 3339 text to the second: `2026-11-21T18:00:00Z`.
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
