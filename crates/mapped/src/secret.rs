//! Secrets in a page of their own, read from files and environment variables.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memmap2::{Advice, MmapMut};
use zeroize::Zeroize;

/// The maximum length of a secret in bytes: one page.
pub const SECRET_MAX: usize = 4096;

/// A secret in a page of its own.
///
/// The page is not in core dumps (`MADV_DONTDUMP`), is zeros in a forked child
/// (`MADV_WIPEONFORK`), and is not written to swap (`mlock`, if the limit of locked memory
/// permits). It is overwritten with zeros when the last clone is dropped. `Debug` omits the
/// content.
#[derive(Clone)]
pub struct Secret(Arc<SecretPage>);

struct SecretPage {
    page: MmapMut,
    length: usize,
}

impl Drop for SecretPage {
    fn drop(&mut self) {
        self.page.zeroize();
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl AsRef<[u8]> for Secret {
    fn as_ref(&self) -> &[u8] {
        &self.0.page[..self.0.length]
    }
}

/// An error of reading a secret. No message contains the secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// The kernel returned an error.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Group or others may read or write the file.
    #[error("its mode {mode:04o} gives other users access: run chmod 600")]
    Mode {
        /// The permission bits of the file.
        mode: u32,
    },
    /// The file belongs neither to this process's user nor to root.
    #[error("it belongs to user {owner}, neither to this user nor to root")]
    Owner {
        /// The user id of the owner.
        owner: u32,
    },
    /// The secret is longer than [`SECRET_MAX`].
    #[error("it has more than {SECRET_MAX} bytes")]
    TooLong,
}

impl Secret {
    /// Creates a secret whose bytes `fill` writes to the start of the page. `fill` returns the
    /// length.
    ///
    /// # Errors
    /// The error of `fill`; [`SecretError::Io`] without memory.
    pub fn new<E: From<io::Error>>(
        fill: impl FnOnce(&mut [u8; SECRET_MAX]) -> Result<usize, E>,
    ) -> Result<Self, E> {
        let mut secret = SecretPage { page: MmapMut::map_anon(SECRET_MAX)?, length: 0 };
        // Optional: each is a further protection.
        let _ = secret.page.advise(Advice::DontDump);
        // SAFETY: the page is private anonymous memory of this length; a child has zeros instead.
        unsafe {
            libc::madvise(secret.page.as_mut_ptr().cast(), SECRET_MAX, libc::MADV_WIPEONFORK)
        };
        let _ = secret.page.lock();
        let page = secret.page.first_chunk_mut().expect("the page has this size");
        secret.length = fill(page)?.min(SECRET_MAX);
        Ok(Self(Arc::new(secret)))
    }

    /// Reads a secret from a file that only its owner can access: this process's user, or root.
    /// Symbolic links are followed; the file that was opened is checked. With `insecure`, every
    /// file is accepted.
    ///
    /// # Errors
    /// Every [`SecretError`].
    pub fn read_file(path: impl AsRef<Path>, insecure: bool) -> Result<Self, SecretError> {
        let mut file = File::open(path)?;
        if !insecure {
            check_access(&file)?;
        }
        Self::new(|page| {
            let mut length = 0;
            loop {
                match file.read(&mut page[length..]) {
                    Ok(0) if length < SECRET_MAX => return Ok(length),
                    Ok(0) => return Err(SecretError::TooLong),
                    Ok(count) => length += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error.into()),
                }
            }
        })
    }

    /// Takes a secret from an environment variable; `None` if the variable is not set.
    ///
    /// If the process has one thread, the variable is removed, so that no child inherits it, and
    /// its bytes are overwritten in `/proc/PID/environ`. A later call with the name returns the
    /// same secret. In a process with several threads the environment cannot be changed safely,
    /// and stays.
    ///
    /// # Errors
    /// [`SecretError::Io`], [`SecretError::TooLong`].
    pub fn take_variable(name: &str) -> Result<Option<Self>, SecretError> {
        let mut taken = taken();
        let Ok(variable) = CString::new(name) else { return Ok(None) };
        if name.is_empty() || name.contains('=') {
            return Ok(None);
        }
        let Some(value) = std::env::var_os(name) else { return Ok(taken.get(name).cloned()) };
        let mut value = value.into_encoded_bytes();
        let secret = Self::new(|page| {
            let place = page.get_mut(..value.len()).ok_or(SecretError::TooLong)?;
            place.copy_from_slice(&value);
            Ok::<_, SecretError>(value.len())
        });
        value.zeroize();
        let secret = secret?;
        if is_single_threaded() {
            // SAFETY: no other thread exists that could access the environment.
            unsafe { remove_variable(&variable) };
            taken.insert(name.to_owned(), secret.clone());
        }
        Ok(Some(secret))
    }

    /// Returns the variables that [`take_variable`](Self::take_variable) has removed, to pass them
    /// to a child that needs them.
    #[must_use]
    pub fn taken_variables() -> Vec<(String, Self)> {
        taken().iter().map(|(name, secret)| (name.clone(), secret.clone())).collect()
    }

    /// Returns the secret as text, or `None` if it is not UTF-8.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        std::str::from_utf8(self.as_ref()).ok()
    }
}

/// Returns the variables that were removed.
fn taken() -> MutexGuard<'static, BTreeMap<String, Secret>> {
    static TAKEN: Mutex<BTreeMap<String, Secret>> = Mutex::new(BTreeMap::new());
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Checks the owner and the mode of an open file.
fn check_access(file: &File) -> Result<(), SecretError> {
    let metadata = file.metadata()?;
    // SAFETY: the call has no arguments and cannot fail.
    let user = unsafe { libc::geteuid() };
    let (owner, mode) = (metadata.uid(), metadata.mode() & 0o7777);
    if owner != user && owner != 0 {
        return Err(SecretError::Owner { owner });
    }
    if mode & 0o077 != 0 {
        return Err(SecretError::Mode { mode });
    }
    Ok(())
}

/// Returns `true` if this thread is the only one of the process.
fn is_single_threaded() -> bool {
    fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1)
}

/// Removes a variable, and overwrites its value in the memory that the kernel shows in
/// `/proc/PID/environ`.
///
/// # Safety
/// The process has no other thread.
unsafe fn remove_variable(name: &CString) {
    let block = environment_block();
    // SAFETY: the name is a NUL-terminated string. No other thread changes the environment.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    if !value.is_null() && block.is_some_and(|block| block.contains(&(value as usize))) {
        // SAFETY: the value is a NUL-terminated string in the block on the stack that the kernel
        // has made for this process, which is writable. No other thread reads it.
        unsafe { value.cast::<u8>().write_bytes(b'*', libc::strlen(value)) };
    }
    // SAFETY: the name is a NUL-terminated string, and no other thread exists.
    unsafe { libc::unsetenv(name.as_ptr()) };
}

/// Returns the addresses of the environment that the kernel has passed to this process.
fn environment_block() -> Option<std::ops::Range<usize>> {
    // The command in parentheses may contain blanks; fields 50 and 51 are the environment.
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace().skip(47);
    let (start, end) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(start..end)
}

impl SecretError {
    /// Returns the error with the file's path.
    #[must_use]
    pub fn in_file(self, path: &Path) -> SecretFileError {
        SecretFileError { path: path.to_owned(), error: self }
    }
}

/// A [`SecretError`] with its file.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the key file {}: {error}", path.display())]
pub struct SecretFileError {
    /// The file.
    pub path: PathBuf,
    /// The cause.
    pub error: SecretError,
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn secret(text: &str) -> Secret {
        let filled = Secret::new(|page| {
            page[..text.len()].copy_from_slice(text.as_bytes());
            Ok::<_, io::Error>(text.len())
        });
        filled.unwrap()
    }

    /// Returns the flags of the mapping at an address.
    fn flags(address: usize) -> String {
        let maps = fs::read_to_string("/proc/self/smaps").unwrap();
        let mut is_found = false;
        for line in maps.lines() {
            let range = line.split(' ').next().unwrap_or_default().split_once('-');
            let bound = |text| usize::from_str_radix(text, 16).ok();
            if let Some((Some(start), Some(end))) = range.map(|(a, b)| (bound(a), bound(b))) {
                is_found = (start..end).contains(&address);
            }
            if let (true, Some(flags)) = (is_found, line.strip_prefix("VmFlags:")) {
                return flags.to_owned();
            }
        }
        String::new()
    }

    #[test]
    fn page_is_not_dumped_and_wiped_in_children() {
        let secret = secret("key");
        assert_eq!((secret.as_ref(), secret.as_text()), (&b"key"[..], Some("key")));
        let flags = flags(secret.as_ref().as_ptr() as usize);
        assert!(flags.contains(" dd") && flags.contains(" wf"), "{flags}");
        assert_eq!(format!("{secret:?}"), "Secret(..)");
    }

    #[test]
    fn file_of_owner_is_read_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("key"), folder.path().join("link"));
        fs::write(&path, "text\n").unwrap();
        symlink(&path, &link).unwrap();
        for (mode, is_private) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false)] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            for path in [&path, &link] {
                let read = Secret::read_file(path, false);
                assert_eq!(read.is_ok(), is_private, "{mode:o}");
                let insecure = Secret::read_file(path, true).unwrap();
                assert_eq!(insecure.as_ref(), b"text\n");
            }
        }
        let error = Secret::read_file(&path, false).unwrap_err().in_file(&path).to_string();
        assert!(error.contains("mode 0604") && error.contains("chmod 600"), "{error}");
        assert!(error.contains(path.to_str().unwrap()), "{error}");
    }

    #[test]
    fn long_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        for (length, fits) in [(SECRET_MAX - 1, true), (SECRET_MAX, false), (1 << 20, false)] {
            fs::write(&path, vec![b'A'; length]).unwrap();
            assert_eq!(Secret::read_file(&path, true).is_ok(), fits, "{length}");
        }
        assert!(matches!(Secret::read_file(folder.path(), true), Err(SecretError::Io(_))));
    }

    #[test]
    fn missing_variable_is_none() {
        for name in ["", "A=B", "HAIRPIN_NO_SUCH_VARIABLE", "A\0B"] {
            assert!(Secret::take_variable(name).unwrap().is_none());
        }
        // Other tests run in this process, so a variable stays.
        let taken = Secret::take_variable("PATH").unwrap().unwrap();
        assert_eq!(taken.as_text(), std::env::var("PATH").ok().as_deref());
        assert!(is_single_threaded() || std::env::var_os("PATH").is_some());
    }
}
