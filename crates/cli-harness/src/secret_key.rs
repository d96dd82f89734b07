//! The source of the iLink secret key.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use hairpin_mapped::{Secret, SecretError};
use serde::{Deserialize, Serialize};

/// The environment variable with the secret key, base64url.
pub const VARIABLE: &str = "HAIRPIN_SECRET_KEY";

/// The key of the published test vectors, bytes 0 to 31. Only for benchmarks on one machine.
const TEST_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

/// The arguments for the secret key.
#[derive(clap::Args, Debug, Clone, Default, Serialize, Deserialize)]
#[group(skip)]
pub struct KeyArgs {
    /// File with the iLink secret key, base64url [default: $HAIRPIN_SECRET_KEY, else a test key]
    #[arg(long, value_name = "FILE")]
    pub secret_key_file: Option<PathBuf>,

    /// Accept a key file that other users can access
    #[arg(long, requires = "secret_key_file")]
    pub insecure_key_file: bool,
}

/// A secret key.
pub struct SecretKey {
    text: Secret,
    /// `true` if neither a file nor the environment contains a key.
    pub is_test_key: bool,
}

impl SecretKey {
    /// Returns the key as CME issues it, base64url. Copies of the text are not protected.
    pub fn base64url(&self) -> &str {
        self.text.as_text().unwrap_or_default().trim()
    }

    /// Returns the decoded key for accounts of an exchange, which share it.
    ///
    /// # Errors
    /// A key that is not base64url.
    pub fn bytes(&self) -> Result<Arc<Secret>> {
        let text = self.text.as_ref();
        let key = Secret::new(|page| {
            hairpin_order_entry::SecretKey::decode(text, page).map_err(anyhow::Error::from)
        });
        Ok(Arc::new(key?))
    }

    /// Returns the key for a session.
    ///
    /// # Errors
    /// A key that is not base64url.
    pub fn decode(&self) -> Result<hairpin_order_entry::SecretKey> {
        Ok(hairpin_order_entry::secret_key_from(&self.text)?)
    }
}

/// Reads the key from the file, else from the environment, else returns the test key.
///
/// # Errors
/// The file cannot be read, others can access it, or the key is empty. The message contains the
/// file name, never the key.
pub fn read(arguments: &KeyArgs) -> Result<SecretKey> {
    let (text, is_test_key) = match &arguments.secret_key_file {
        Some(path) => (read_file(path, arguments.insecure_key_file)?, false),
        None => match Secret::take_variable(VARIABLE) {
            Ok(Some(text)) => (text, false),
            Ok(None) => (test_key()?, true),
            Err(error) => bail!("cannot use the secret key in {VARIABLE}: {error}"),
        },
    };
    let key = SecretKey { text, is_test_key };
    if key.text.as_text().is_none() {
        bail!("the secret key in {} is not text", place(arguments));
    }
    if key.base64url().is_empty() {
        bail!("the secret key in {} is empty", place(arguments));
    }
    Ok(key)
}

/// Removes the key from the environment of this process, which has one thread. Later reads return
/// it. An error is returned by the read.
pub fn take_variable() {
    let _ = Secret::take_variable(VARIABLE);
}

/// Passes the keys that were removed from the environment to a child that is this program.
pub(crate) fn pass_to(command: &mut Command) {
    for (name, secret) in Secret::taken_variables() {
        command.env(name, std::ffi::OsStr::from_bytes(secret.as_ref()));
    }
}

fn read_file(path: &Path, insecure: bool) -> Result<Secret> {
    Secret::read_file(path, insecure).map_err(|error| match error {
        SecretError::Io(_) => anyhow::Error::from(error)
            .context(format!("cannot read the secret key in {}", path.display())),
        SecretError::Mode { .. } => {
            let path = path.display();
            anyhow::anyhow!("cannot use the key file {path}: {error} {path}")
        }
        error => error.in_file(path).into(),
    })
}

fn test_key() -> Result<Secret> {
    let key = Secret::new(|page| {
        page[..TEST_KEY.len()].copy_from_slice(TEST_KEY.as_bytes());
        Ok::<_, std::io::Error>(TEST_KEY.len())
    });
    key.context("cannot allocate memory for the test key")
}

fn place(arguments: &KeyArgs) -> String {
    let file = arguments.secret_key_file.as_ref();
    file.map_or(VARIABLE.to_owned(), |path| path.display().to_string())
}
