//! The configuration of a session: `order.toml`.
//!
//! `docs/guide/order-library.md` describes the format. The file never contains the secret key; it
//! names the key's location.

mod read;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::SocketAddrV4;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use hairpin_ilink3::{ConnectorSettings, SecretKeyError, SettingsError};
use hairpin_mapped::{Journal, JournalError, JournalSettings};
use thiserror::Error;

use crate::{MsgwConfigError, NamedZone, Settings};

/// The configuration of a session on a real gateway.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// Settings for [`Session::new`](crate::Session::new); the gateway is the first primary host.
    pub session: Settings,
    /// Settings for a [`Connector`](hairpin_ilink3::Connector).
    pub connector: ConnectorSettings<SocketAddrV4>,
    /// The time zone of the schedule; default `America/Chicago`.
    pub zone: NamedZone,
    /// The journal's location and settings, or `None` for a journal in memory.
    pub journal: Option<JournalLocation>,
    /// `true` if the file asks for a journal in memory, with `in_memory = true`.
    pub in_memory: bool,
    /// The application's instrument names with their SecurityIDs (48). Sessions do not use them.
    pub instruments: BTreeMap<String, i32>,
}

/// The location and settings of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalLocation {
    /// The journal's folder.
    pub folder: PathBuf,
    /// The journal's settings.
    pub settings: JournalSettings,
}

/// An error in a configuration file. No message contains the secret key.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    File {
        /// The file's path.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The text is not TOML, or has an unknown key or an invalid value.
    #[error("line {line}: {message}")]
    Toml {
        /// The line, counted from 1.
        line: usize,
        /// The problem.
        message: String,
    },
    /// The file configures several sessions, one per `[[segment]]`; use [`Config::read_segments`].
    #[error("line {line}: file with `[[segment]]` has several sessions: choose one")]
    Segments {
        /// The line of the first segment, counted from 1.
        line: usize,
    },
    /// The secret key in the named file or variable is invalid.
    #[error("cannot use the secret key in {place}: {error}")]
    Secret {
        /// The file or environment variable.
        place: String,
        /// The cause.
        error: SecretKeyError,
    },
    /// The environment variable for the secret key is not set, or is not text.
    #[error("cannot read the secret key: environment variable {0} is not set")]
    NoVariable(String),
    /// CME's `MSGW_Config.xml` does not have a usable schema version for the market segment.
    #[error("cannot use {}: {error}", path.display())]
    Msgw {
        /// The file's path.
        path: PathBuf,
        /// The cause.
        error: MsgwConfigError,
    },
    /// CME would reject a setting of the logon.
    #[error("[logon]: {0}")]
    Logon(SettingsError),
}

impl Config {
    /// Reads a configuration file. Relative paths in the file are relative to its folder.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let text = fs::read_to_string(path);
        let text = text.map_err(|error| ConfigError::File { path: path.to_owned(), error })?;
        Self::from_toml_in(&text, path.parent().unwrap_or(Path::new("")))
    }

    /// Parses a configuration. Relative paths in it are relative to the current folder.
    ///
    /// # Errors
    /// [`ConfigError`], with the line of the problem.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        Self::from_toml_in(text, Path::new(""))
    }

    /// Reads a configuration file for several market segments, with a `[[segment]]` for each
    /// instead of `[gateway]`.
    ///
    /// Returns each session's configuration with its MarketSegmentID (1300). Each journal is in a
    /// subfolder of the configured folder, named after the segment.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn read_segments(path: impl AsRef<Path>) -> Result<Vec<(u8, Self)>, ConfigError> {
        let path = path.as_ref();
        let text = fs::read_to_string(path);
        let text = text.map_err(|error| ConfigError::File { path: path.to_owned(), error })?;
        Self::segments_in(&text, path.parent().unwrap_or(Path::new("")))
    }

    /// Opens the journal, or creates it and its parent folders. Without a configured folder,
    /// creates a journal in memory with capacity for `memory` bytes.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn open_journal(&self, memory: usize) -> Result<Journal, JournalError> {
        let Some(JournalLocation { folder, settings }) = &self.journal else {
            return Journal::anonymous(memory);
        };
        match Journal::open_with(folder, *settings) {
            Err(JournalError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                if let Some(parent) = folder.parent() {
                    fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
                }
                Journal::create_with(folder, *settings)
            }
            opened => opened,
        }
    }
}
