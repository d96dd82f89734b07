//! The contents of `order.toml`, and the location of the journal.

use std::borrow::Cow;
use std::net::SocketAddrV4;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use hairpin_endpoint::Transport;
use hairpin_mapped::{Journal, JournalError, JournalSettings};
use hairpin_order_entry::{
    Config, ConfigError, JournalLocation, Price9, ReadOptions, Session, TcpConnect,
    WhenJournalFails, redact_keys,
};

use super::active_session::ActiveSession;
use super::args::OrderArgs;
use super::display_prices::DisplayPrices;
use super::script::Command;
use super::short_line::Symbols;

/// The size of a journal in memory: some ten thousand messages, more than a person or a script
/// sends.
const MEMORY_BYTES: usize = 8 << 20;

/// The settings of a session and of the command.
pub(super) struct OrderSettings {
    config: Config,
    /// `None` if commands have wire prices.
    display_prices: Option<DisplayPrices>,
}

impl OrderSettings {
    /// Reads a settings file and the key that it names. The arguments select the market segment,
    /// the folder of the journal, and the definitions for display prices.
    ///
    /// # Errors
    /// One line with the file and the cause. Never the key.
    pub(super) fn read(path: &Path, arguments: &OrderArgs) -> Result<Self> {
        let OrderArgs { segment, journal: folder, display_prices, insecure_key_file, .. } =
            arguments;
        let options = ReadOptions { insecure_key_file: *insecure_key_file };
        let named = || path.display().to_string();
        let wrong = |error| match error {
            // It contains the file name.
            ConfigError::File { .. } => anyhow!(error),
            ConfigError::Segments { .. } => anyhow!("{error} with --segment").context(named()),
            _ => anyhow!(error).context(named()),
        };
        let mut config = match *segment {
            None => Config::read_with(path, options).map_err(wrong)?,
            Some(segment) => {
                let configs = Config::read_segments_with(path, options).map_err(wrong)?;
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
            if matches!(redact_keys(&folder.to_string_lossy()), Cow::Owned(_)) {
                bail!("cannot use --journal: it looks like a secret key");
            }
            let settings = config.journal.map_or_else(JournalSettings::default, |it| it.settings);
            config.journal = Some(JournalLocation { folder: folder.clone(), settings });
        }
        config.cancel_on_quit |= arguments.cancel_on_quit;
        let display_prices = display_prices.as_deref().map(DisplayPrices::read).transpose()?;
        Ok(Self { config, display_prices })
    }

    /// Returns the firm of the session.
    pub(super) fn firm(&self) -> &str {
        &self.config.session.logon.firm
    }

    /// Returns the hosts of primary and backup.
    pub(super) fn gateways(&self) -> Vec<SocketAddrV4> {
        let connector = &self.config.connector;
        connector.primary.iter().chain(&connector.backup).copied().collect()
    }

    /// Returns the wire price of a price in a command for an instrument.
    ///
    /// # Errors
    /// A display price that cannot be converted.
    pub(super) fn wire_price(&self, security_id: i32, price: Price9) -> Result<Price9> {
        match &self.display_prices {
            Some(prices) => prices.wire_price(security_id, price),
            None => Ok(price),
        }
    }

    /// Converts the prices of a command, except those of a replacement.
    ///
    /// # Errors
    /// A display price that cannot be converted, with the line.
    pub(super) fn with_wire_prices(&self, line: usize, command: Command) -> Result<Command> {
        let converted = command.with_prices(&|id, price| self.wire_price(id, price));
        converted.with_context(|| format!("line {line}"))
    }

    /// Returns the SecurityID of a symbol in the file.
    pub(super) fn instrument(&self, symbol: &str) -> Option<i32> {
        self.config.instruments.get(symbol).copied()
    }

    /// Creates a session with its journal, not yet connected, over `transport`; kept connected if
    /// the file configures it.
    ///
    /// # Errors
    /// A journal that is locked, or that cannot be read or created, with its folder.
    pub(super) fn line(&self, transport: Transport) -> Result<ActiveSession> {
        let Config { session, connector, zone, .. } = &self.config;
        let connect = TcpConnect { transport, ..TcpConnect::default() };
        let session = Session::with_connect(session.clone(), self.journal()?, connect)?;
        Ok(match self.is_kept() {
            true => ActiveSession::kept(session, connector.clone(), zone.clone()),
            false => ActiveSession::once(session),
        })
    }

    /// Returns `true` if the file configures reconnection: a schedule, other hosts, attempts.
    pub(super) fn is_kept(&self) -> bool {
        let connector = &self.config.connector;
        connector.schedule.is_some()
            || connector.attempts.is_some()
            || connector.primary.len() + connector.backup.len() > 1
    }

    /// Returns the symbol of an instrument in the file, otherwise its SecurityID.
    pub(super) fn symbol(&self, security_id: u64) -> String {
        let mut symbols = self.config.instruments.iter();
        let named = symbols.find(|(_, id)| u64::try_from(**id) == Ok(security_id));
        named.map_or_else(|| security_id.to_string(), |(symbol, _)| symbol.clone())
    }

    /// Returns the symbols of the file.
    pub(super) fn symbols(&self) -> Symbols {
        let numbered =
            |(symbol, id): (&String, &i32)| Some((u64::try_from(*id).ok()?, symbol.clone()));
        self.config.instruments.iter().filter_map(numbered).collect()
    }

    /// Returns `true` if all orders are canceled before the session logs off.
    pub(super) fn cancels_on_quit(&self) -> bool {
        self.config.cancel_on_quit
    }

    /// Returns `true` if no orders are sent once the journal cannot be written to disk.
    pub(super) fn stops_without_journal(&self) -> bool {
        self.config.session.when_journal_fails == WhenJournalFails::Refuse
    }

    /// Returns the error of a journal that could not be written to disk.
    pub(super) fn journal_failure(&self, error: &dyn std::fmt::Display) -> anyhow::Error {
        let folder = self.config.journal.as_ref().map(|journal| journal.folder.display());
        let folder = folder.map_or(String::new(), |folder| format!(" in {folder}"));
        anyhow!("cannot write the journal{folder} to disk: {error}")
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
