//! The files of a host below one folder.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;

use hairpin_host::parse_cores;

/// The files of a host: `/proc`, `/sys` and others below `/`, or below the folder of a test.
///
/// It remembers the files that this process may not read.
#[derive(Debug)]
pub struct Root {
    folder: PathBuf,
    unread: RefCell<BTreeSet<String>>,
}

impl Root {
    /// Creates the view of the files below a folder.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), unread: RefCell::default() }
    }

    /// Returns the files that exist and that this process may not read.
    #[must_use]
    pub fn unread(&self) -> Vec<String> {
        self.unread.borrow().iter().cloned().collect()
    }

    /// Returns the text of a file without the space at its ends.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        match fs::read_to_string(self.path(path)) {
            Ok(text) => Some(text.trim().to_owned()),
            Err(error) => {
                if error.kind() == io::ErrorKind::PermissionDenied {
                    self.unread.borrow_mut().insert(path.to_owned());
                }
                None
            }
        }
    }

    /// Returns the value of a file that contains nothing else.
    pub(crate) fn value<T: FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.parse().ok()
    }

    /// Returns the cores of a file such as `0-3,8`; none if it is missing or empty.
    pub(crate) fn cores(&self, path: &str) -> Vec<usize> {
        self.text(path).map_or_else(Vec::new, |text| parse_cores(&text))
    }

    /// Returns the names in a folder, sorted; none if it is missing.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Returns the last part of the target of a symbolic link.
    pub(crate) fn link(&self, path: &str) -> Option<String> {
        let target = fs::read_link(self.path(path)).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    }

    /// Returns `true` if the file exists.
    pub(crate) fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Returns the names of the running programs that are among `names`.
    pub(crate) fn running(&self, names: &[&str]) -> Vec<String> {
        let processes = self.names("proc").into_iter();
        let numbers = processes.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
        let programs = numbers.filter_map(|process| self.text(&format!("proc/{process}/comm")));
        let found: BTreeSet<String> =
            programs.filter(|program| names.contains(&program.as_str())).collect();
        found.into_iter().collect()
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_files_are_not_unread() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        assert_eq!(root.text("proc/none"), None);
        assert_eq!(root.unread(), Vec::<String>::new());
    }

    #[test]
    fn running_programs_are_found_by_name() {
        let folder = tempfile::tempdir().unwrap();
        for (process, name) in [("1", "init"), ("70", "irqbalance"), ("71", "irqbalance")] {
            fs::create_dir_all(folder.path().join("proc").join(process)).unwrap();
            fs::write(folder.path().join("proc").join(process).join("comm"), name).unwrap();
        }
        let root = Root::new(folder.path());
        assert_eq!(root.running(&["irqbalance", "chronyd"]), ["irqbalance"]);
    }
}
