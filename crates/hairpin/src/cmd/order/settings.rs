//! The contents of `order.toml`, and the location of the journal.

use std::path::Path;

use anyhow::{Result, anyhow};
use hairpin_mapped::{Journal, JournalError, JournalSettings};
use hairpin_order_entry::{Config, ConfigError, JournalLocation, Session};

use super::active_session::ActiveSession;

/// The size of a journal in memory: some ten thousand messages, more than a person or a script
/// sends.
const MEMORY_BYTES: usize = 8 << 20;

/// The settings of a session and of the command.
pub(super) struct OrderSettings {
    config: Config,
}

impl OrderSettings {
    /// Reads a settings file and the key that it names, for the given market segment if it has
    /// several. The given folder replaces that of the journal in the file.
    ///
    /// # Errors
    /// One line with the file and the cause. Never the key.
    pub(super) fn read(path: &Path, segment: Option<u8>, folder: Option<&Path>) -> Result<Self> {
        let named = || path.display().to_string();
        let wrong = |error| match error {
            // It contains the file name.
            ConfigError::File { .. } => anyhow!(error),
            ConfigError::Segments { .. } => anyhow!("{error} with --segment").context(named()),
            _ => anyhow!(error).context(named()),
        };
        let mut config = match segment {
            None => Config::read(path).map_err(wrong)?,
            Some(segment) => {
                let configs = Config::read_segments(path).map_err(wrong)?;
                let ids: Vec<_> = configs.iter().map(|(id, _)| id.to_string()).collect();
                let found = configs.into_iter().find(|(id, _)| *id == segment);
                let missing = || {
                    let ids = ids.join(", ");
                    anyhow!("no market segment {segment}, only {ids}").context(named())
                };
                found.ok_or_else(missing)?.1
            }
        };
        if let Some(folder) = folder {
            let settings = config.journal.map_or_else(JournalSettings::default, |it| it.settings);
            config.journal = Some(JournalLocation { folder: folder.to_owned(), settings });
        }
        Ok(Self { config })
    }

    /// Returns the SecurityID of a symbol in the file.
    pub(super) fn instrument(&self, symbol: &str) -> Option<i32> {
        self.config.instruments.get(symbol).copied()
    }

    /// Creates a session with its journal, not yet connected; kept connected if the file configures
    /// it.
    ///
    /// # Errors
    /// A journal that is locked, or that cannot be read or created, with its folder.
    pub(super) fn line(&self) -> Result<ActiveSession> {
        let Config { session, connector, zone, .. } = &self.config;
        let session = Session::new(session.clone(), self.journal()?)?;
        Ok(match self.is_kept() {
            true => ActiveSession::kept(session, connector.clone(), zone.clone()),
            false => ActiveSession::once(session),
        })
    }

    /// Returns `true` if the file configures reconnection: a schedule, other hosts, attempts.
    fn is_kept(&self) -> bool {
        let connector = &self.config.connector;
        connector.schedule.is_some()
            || connector.attempts.is_some()
            || connector.primary.len() + connector.backup.len() > 1
    }

    fn journal(&self) -> Result<Journal> {
        let journal = self.config.open_journal(MEMORY_BYTES);
        journal.map_err(|error| match (error, &self.config.journal) {
            (JournalError::Io(error), Some(JournalLocation { folder, .. })) => {
                anyhow!(error).context(format!("cannot open the journal in {}", folder.display()))
            }
            (error, _) => anyhow!(error),
        })
    }
}
