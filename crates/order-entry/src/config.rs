//! A session as a file describes it: `order.toml`.
//!
//! The form is in `docs/guide/order-library.md`. The secret key is never in the file: it says where
//! the
//! key is.

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

use crate::{NamedZone, Settings};

/// All that a session on a real gateway is told.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// For [`Session::new`](crate::Session::new); its gateway is the first primary.
    pub session: Settings,
    /// For a [`Connector`](hairpin_ilink3::Connector).
    pub connector: ConnectorSettings<SocketAddrV4>,
    /// The place whose clock the schedule means; Chicago unless set.
    pub zone: NamedZone,
    /// Where the journal is, and how it is kept. Without one it is in memory.
    pub journal: Option<JournalPlace>,
    /// The application's own names of instruments, and their SecurityIDs (48): no session looks at
    /// them.
    pub instruments: BTreeMap<String, i32>,
}

/// Where a journal is, and how it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalPlace {
    /// The folder.
    pub folder: PathBuf,
    /// How it is kept.
    pub settings: JournalSettings,
}

/// What is wrong with a file of settings. None of them shows the secret key.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// It cannot be read.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It is not TOML, has a key that is unknown, or a value that is none.
    #[error("line {line}: {what}")]
    Toml {
        /// Where, counted from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// It is of several sessions, a `[[segment]]` each: [`Config::read_segments`] reads it.
    #[error("line {line}: a file with `[[segment]]` is of several sessions: choose one")]
    Segments {
        /// Where the first of them is, counted from 1.
        line: usize,
    },
    /// The place of the secret key that is named holds none.
    #[error("{place}: {error}")]
    Secret {
        /// The file, or the variable.
        place: String,
        /// Why.
        error: SecretKeyError,
    },
    /// The environment variable that is to hold the secret key is not set, or is not text.
    #[error("{0}: no such environment variable: set it to the secret key")]
    NoVariable(String),
    /// CME would not take it.
    #[error("[logon]: {0}")]
    Logon(SettingsError),
}

impl Config {
    /// Reads the settings in a file. Other files it names are looked for from its folder.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let text = fs::read_to_string(path);
        let text = text.map_err(|error| ConfigError::File { path: path.to_owned(), error })?;
        Self::from_toml_in(&text, path.parent().unwrap_or(Path::new("")))
    }

    /// Reads settings written in TOML; other files they name are looked for from the current
    /// folder.
    ///
    /// # Errors
    /// [`ConfigError`], with the line of what is wrong in the text.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        Self::from_toml_in(text, Path::new(""))
    }

    /// Reads the settings of several market segments in a file with a `[[segment]]` for each in
    /// the place of `[gateway]`: what each session is told, with its MarketSegmentID. The journal
    /// of each is in a folder of that name, in the one that is named.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn read_segments(path: impl AsRef<Path>) -> Result<Vec<(u8, Self)>, ConfigError> {
        let path = path.as_ref();
        let text = fs::read_to_string(path);
        let text = text.map_err(|error| ConfigError::File { path: path.to_owned(), error })?;
        Self::segments_in(&text, path.parent().unwrap_or(Path::new("")))
    }

    /// Opens the journal, or makes it if there is none, with the folders that its folder is in; in
    /// memory, with room for so many bytes, if no folder is named.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn open_journal(&self, memory: usize) -> Result<Journal, JournalError> {
        let Some(JournalPlace { folder, settings }) = &self.journal else {
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
