//! What `order.toml` says, and where the journal is.

use std::path::Path;

use anyhow::{Result, anyhow};
use hairpin_mapped::{Journal, JournalError, JournalSettings};
use hairpin_order_entry::{Config, ConfigError, JournalLocation, Session};

use super::line::Line;

/// Room for a journal in memory: some ten thousand messages, more than a hand or a script sends.
const MEMORY_BYTES: usize = 8 << 20;

/// What a session needs, and what the command needs beside it.
pub(super) struct OrderSettings {
    config: Config,
}

impl OrderSettings {
    /// Reads a settings file and the key that it points to, of several market segments the one
    /// that is given. A folder that is given here is where the journal is, whatever the file says.
    ///
    /// # Errors
    /// One line: which file, and what is wrong. Never what a key is.
    pub(super) fn read(path: &Path, segment: Option<u8>, folder: Option<&Path>) -> Result<Self> {
        let named = || path.display().to_string();
        let wrong = |error| match error {
            // It names the file.
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
                    anyhow!("there is no market segment {segment}, but {ids}").context(named())
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

    /// The SecurityID of a symbol of the file's.
    pub(super) fn instrument(&self, symbol: &str) -> Option<i32> {
        self.config.instruments.get(symbol).copied()
    }

    /// A session with its journal, not yet connected; kept connected if the file says how.
    ///
    /// # Errors
    /// A journal that somebody has open, or that cannot be read or made, with its folder.
    pub(super) fn line(&self) -> Result<Line> {
        let Config { session, connector, zone, .. } = &self.config;
        let session = Session::new(session.clone(), self.journal()?)?;
        Ok(match self.is_kept() {
            true => Line::kept(session, connector.clone(), zone.clone()),
            false => Line::once(session),
        })
    }

    /// Whether there is anything to keep a session connected by: a schedule, other hosts, attempts.
    fn is_kept(&self) -> bool {
        let connector = &self.config.connector;
        connector.schedule.is_some()
            || connector.attempts.is_some()
            || connector.primary.len() + connector.backup.len() > 1
    }

    fn journal(&self) -> Result<Journal> {
        let journal = self.config.open_journal(MEMORY_BYTES);
        journal.map_err(|error| match (error, &self.config.journal) {
            (JournalError::Io(error), Some(JournalLocation { folder, .. })) => anyhow!(error)
                .context(format!("the journal in {} cannot be opened", folder.display())),
            (error, _) => anyhow!(error),
        })
    }
}
