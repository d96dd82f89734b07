//! What `order.toml` says: who logs on where, and how instruments are called.

use std::collections::BTreeMap;
use std::env;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use hairpin_order_entry::{KEEP_ALIVE_DEFAULT, Logon, Operator, SecretKey, Settings};
use serde::Deserialize;
use zeroize::Zeroizing;

/// A settings file. Paths in it are relative to where the command was started.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    gateway: SocketAddrV4,
    access_key_id: String,
    secret_key_file: Option<PathBuf>,
    secret_key_env: Option<String>,
    session: String,
    firm: String,
    operator: String,
    location: String,
    journal: PathBuf,
    #[serde(default)]
    instruments: BTreeMap<String, i32>,
}

/// What a session needs, and what the command needs beside it.
pub(super) struct OrderSettings {
    pub(super) session: Settings,
    /// The folder of the journal.
    pub(super) journal: PathBuf,
    instruments: BTreeMap<String, i32>,
}

impl OrderSettings {
    /// Reads a settings file and the key that it points to.
    ///
    /// # Errors
    /// One line: which file, and what is wrong. Never what a key is.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let named = || format!("{} cannot be read", path.display());
        let text = std::fs::read_to_string(path).with_context(named)?;
        let file: File = toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            anyhow::anyhow!("{}, line {line}: {}", path.display(), error.message().trim())
        })?;
        Self::of(file).with_context(|| path.display().to_string())
    }

    fn of(file: File) -> Result<Self> {
        if file.operator.len() > 20 || file.location.len() > 5 {
            bail!("operator is up to 20 characters, location up to 5");
        }
        let logon = Logon {
            secret_key: secret_key(&file)?,
            access_key_id: file.access_key_id,
            session: file.session,
            firm: file.firm,
            trading_system_name: "Hairpin".to_owned(),
            trading_system_version: env!("CARGO_PKG_VERSION").to_owned(),
            trading_system_vendor: "Hairpin".to_owned(),
            keep_alive_interval: KEEP_ALIVE_DEFAULT,
            operator: Operator::automated(&file.operator, &file.location),
        };
        logon.check()?;
        let session = Settings::new(file.gateway, logon);
        Ok(Self { session, journal: file.journal, instruments: file.instruments })
    }

    /// The SecurityID of a symbol of the file's.
    pub(super) fn instrument(&self, symbol: &str) -> Option<i32> {
        self.instruments.get(symbol).copied()
    }
}

/// The key, from where the file says it is.
fn secret_key(file: &File) -> Result<SecretKey> {
    let (text, place) = match (&file.secret_key_file, &file.secret_key_env) {
        (Some(path), None) => {
            let place = format!("the secret key in {}", path.display());
            let text = std::fs::read_to_string(path).with_context(|| place.clone())?;
            (Zeroizing::new(text), place)
        }
        (None, Some(variable)) => {
            let place = format!("the secret key in ${variable}");
            let text = env::var(variable).map_err(|_| anyhow::anyhow!("{place}: not set"))?;
            (Zeroizing::new(text), place)
        }
        _ => bail!("give either secret_key_file or secret_key_env"),
    };
    SecretKey::from_base64url(text.trim()).with_context(|| place)
}
