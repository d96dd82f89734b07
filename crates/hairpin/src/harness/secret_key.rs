//! The source of the iLink secret key.

use std::env::VarError;
use std::path::Path;

use anyhow::{Context, Result, bail};
use zeroize::Zeroizing;

/// The environment variable with the secret key, base64url.
pub(crate) const VARIABLE: &str = "HAIRPIN_SECRET_KEY";

/// The key of the published test vectors, bytes 0 to 31. Only for benchmarks on one machine.
const TEST_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

/// A secret key.
pub(crate) struct SecretKey {
    /// The key as CME issues it, base64url. Zeroized on drop.
    pub(crate) base64url: Zeroizing<String>,
    /// `true` if neither a file nor the environment contains a key.
    pub(crate) is_test_key: bool,
}

/// Reads the key from `file`, else from the environment, else returns the test key.
///
/// # Errors
/// The file cannot be read, or the key is empty. The message contains the file name, never the key.
pub(crate) fn read(file: Option<&Path>) -> Result<SecretKey> {
    let (text, is_test_key) = match (file, std::env::var(VARIABLE)) {
        (Some(path), _) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read the secret key in {}", path.display()))?;
            (Zeroizing::new(text), false)
        }
        (None, Ok(text)) => (Zeroizing::new(text), false),
        (None, Err(VarError::NotPresent)) => (Zeroizing::new(TEST_KEY.to_owned()), true),
        (None, Err(VarError::NotUnicode(_))) => bail!("the secret key in {VARIABLE} is not text"),
    };
    let base64url = Zeroizing::new(text.trim().to_owned());
    if base64url.is_empty() {
        let place = file.map_or(VARIABLE.to_owned(), |path| path.display().to_string());
        bail!("the secret key in {place} is empty");
    }
    Ok(SecretKey { base64url, is_test_key })
}
