//! A mutant: a change of source text that breaks a rule on purpose. A simulation must detect it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// A replacement of a text that occurs exactly once in a source file.
pub(super) struct Change {
    /// The file, relative to the folder of the crates.
    file: &'static str,
    text: &'static str,
    replacement: &'static str,
}

/// A rule that is broken on purpose, by one or more changes.
pub(super) struct Mutant {
    pub(super) name: &'static str,
    pub(super) changes: &'static [Change],
}

pub(super) const fn change(
    file: &'static str,
    text: &'static str,
    replacement: &'static str,
) -> Change {
    Change { file, text, replacement }
}

impl Mutant {
    /// Changes the sources below a folder of crates.
    ///
    /// # Errors
    /// A text that does not occur exactly once: the sources have changed, so the table must follow.
    pub(super) fn apply(&self, crates: &Path) -> Result<()> {
        for Change { file, text, replacement } in self.changes {
            let path = crates.join(file);
            let source = fs::read_to_string(&path).context(*file)?;
            let count = source.matches(text).count();
            ensure!(
                count == 1,
                "cannot apply the mutant '{}': {file} contains `{}` {count} times; \
                 update the table in xtask/src/sim",
                self.name,
                text.trim(),
            );
            fs::write(&path, source.replace(text, replacement)).context(*file)?;
        }
        Ok(())
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
            for Mutant { name, changes } in subject.mutants {
                for Change { file, text, .. } in *changes {
                    let folder = file.split('/').next().unwrap();
                    assert!(subject.crates.contains(&folder), "{name}: {folder} is not copied");
                    let source = fs::read_to_string(crates.join(file)).unwrap();
                    assert_eq!(source.matches(text).count(), 1, "{name}: {file}: {text}");
                }
            }
        }
    }
}
