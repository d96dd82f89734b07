//! A mutant: a change of source text that breaks a rule on purpose. A simulation must detect it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// A replacement of a text that occurs exactly once in a source file.
pub(crate) struct Change {
    /// The file, relative to the folder of the crates.
    file: &'static str,
    text: &'static str,
    replacement: &'static str,
}

/// A rule that is broken on purpose, by one or more changes.
pub(crate) struct Mutant {
    pub(crate) name: &'static str,
    pub(crate) changes: &'static [Change],
}

pub(crate) const fn change(
    file: &'static str,
    text: &'static str,
    replacement: &'static str,
) -> Change {
    Change { file, text, replacement }
}

/// Replaces a text of a file below `folder`.
///
/// # Errors
/// A text that does not occur exactly once: the sources have changed, so the table must follow.
pub(crate) fn replace_once(folder: &Path, file: &str, text: &str, replacement: &str) -> Result<()> {
    let path = folder.join(file);
    let source = fs::read_to_string(&path).with_context(|| file.to_owned())?;
    let count = source.matches(text).count();
    let shown = text.trim();
    ensure!(count == 1, "{file} contains `{shown}` {count} times; update the table in xtask/src");
    fs::write(&path, source.replace(text, replacement)).with_context(|| file.to_owned())
}

impl Mutant {
    /// Changes the sources below a folder of crates.
    ///
    /// # Errors
    /// See [`replace_once`].
    pub(crate) fn apply(&self, crates: &Path) -> Result<()> {
        for Change { file, text, replacement } in self.changes {
            replace_once(crates, file, text, replacement)
                .with_context(|| format!("cannot apply the mutant '{}'", self.name))?;
        }
        Ok(())
    }

    /// Returns the changed files, relative to the folder of the crates.
    #[cfg(test)]
    pub(crate) fn files(&self) -> impl Iterator<Item = &'static str> {
        self.changes.iter().map(|change| change.file)
    }

    /// Asserts that each changed text occurs exactly once below a folder of crates.
    #[cfg(test)]
    pub(crate) fn assert_applies(&self, crates: &Path) {
        for Change { file, text, .. } in self.changes {
            let source = fs::read_to_string(crates.join(file)).unwrap();
            assert_eq!(source.matches(text).count(), 1, "{}: {file}: {text}", self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::mutants::{FEED, ORDER, RDS};

    /// A change of the sources that makes a mutant impossible fails here, not when the mutants run.
    #[test]
    fn mutants_apply_to_the_sources() {
        let crates = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../crates"));
        for subject in [FEED, ORDER, RDS] {
            for mutant in subject.mutants {
                for file in mutant.files() {
                    let (name, folder) = (mutant.name, file.split('/').next().unwrap());
                    assert!(subject.crates.contains(&folder), "{name}: {folder} is not copied");
                }
                mutant.assert_applies(crates);
            }
        }
    }
}
