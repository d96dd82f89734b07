//! The configuration of a session: `order.toml`.
//!
//! `docs/guide/order-library.md` describes the format. The file never contains the secret key; it
//! names the key's location.

mod read;

pub use read::secret_key_from;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::net::SocketAddrV4;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use hairpin_ilink3::{ConnectorSettings, SecretKeyError, SettingsError, redact_keys};
use hairpin_mapped::{Journal, JournalError, JournalSettings, SecretError};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::{MsgwConfigError, NamedZone, Settings};

use read::Source;

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
    /// `true` if the program cancels all orders of the session at the end of its run.
    pub cancel_on_quit: bool,
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

/// An error in a configuration file. No message contains the secret key, nor a value of the file
/// that may be one in the wrong place.
#[derive(Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read {}: {error}", shown(path))]
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
    /// The file with the secret key cannot be used: other users can read it, for instance.
    #[error("cannot use the key file {}: {error}", shown(path))]
    KeyFile {
        /// The file's path.
        path: PathBuf,
        /// The cause.
        error: SecretError,
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
    #[error("cannot use {}: {error}", shown(path))]
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

/// The same as `Display`: the path of a file may be a secret key by mistake.
impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns a path for a message.
fn shown(path: &Path) -> String {
    redact_keys(&path.to_string_lossy()).into_owned()
}

/// Options for reading a configuration file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// `true` if the file with the secret key may be accessible to other users, like
    /// `insecure_key_file` in the file.
    pub insecure_key_file: bool,
}

/// Reads a file for `parse`.
fn with_source<T>(
    path: &Path,
    options: ReadOptions,
    parse: impl FnOnce(&Source<'_>) -> Result<T, ConfigError>,
) -> Result<T, ConfigError> {
    let text = fs::read_to_string(path).map(Zeroizing::new);
    let text = text.map_err(|error| ConfigError::File { path: path.to_owned(), error })?;
    parse(&Source { text: &text, folder: path.parent().unwrap_or(Path::new("")), options })
}

impl Config {
    /// Reads a configuration file. Relative paths in the file are relative to its folder.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        Self::read_with(path, ReadOptions::default())
    }

    /// Reads a configuration file with options.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn read_with(path: impl AsRef<Path>, options: ReadOptions) -> Result<Self, ConfigError> {
        with_source(path.as_ref(), options, Self::from_source)
    }

    /// Parses a configuration. Relative paths in it are relative to the current folder.
    ///
    /// # Errors
    /// [`ConfigError`], with the line of the problem.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        let (folder, options) = (Path::new(""), ReadOptions::default());
        Self::from_source(&Source { text, folder, options })
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
        Self::read_segments_with(path, ReadOptions::default())
    }

    /// Reads a configuration file for several market segments with options.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn read_segments_with(
        path: impl AsRef<Path>,
        options: ReadOptions,
    ) -> Result<Vec<(u8, Self)>, ConfigError> {
        with_source(path.as_ref(), options, Self::segments_of)
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
        let has_kind = |error: &JournalError, kind| match error {
            JournalError::Io(error) => error.kind() == kind,
            _ => false,
        };
        match Journal::open_with(folder, *settings) {
            Err(error) if has_kind(&error, io::ErrorKind::NotFound) => {
                if let Some(parent) = folder.parent() {
                    fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
                }
                match Journal::create_with(folder, *settings) {
                    // Another process has created the journal in the meantime.
                    Err(error) if has_kind(&error, io::ErrorKind::AlreadyExists) => {
                        let opened = Journal::open_with(folder, *settings);
                        opened.map_err(|opened| match has_kind(&opened, io::ErrorKind::NotFound) {
                            true => error,
                            false => opened,
                        })
                    }
                    created => created,
                }
            }
            opened => opened,
        }
    }
}
