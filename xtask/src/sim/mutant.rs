//! Faults that are planted in copies of crates, each a change or two of their text: a simulation
//! must find every one.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// A text of a source file, found exactly once, and what stands there instead.
pub(super) struct Change {
    /// Relative to the folder of the crates.
    file: &'static str,
    text: &'static str,
    instead: &'static str,
}

/// A planted fault.
pub(super) struct Mutant {
    pub(super) name: &'static str,
    pub(super) changes: &'static [Change],
}

pub(super) const fn change(
    file: &'static str,
    text: &'static str,
    instead: &'static str,
) -> Change {
    Change { file, text, instead }
}

impl Mutant {
    /// Plants the fault in the sources below a folder of crates.
    ///
    /// # Errors
    /// A text that is not there, or more than once: the sources have changed, and the table has to
    /// change with them.
    pub(super) fn plant(&self, crates: &Path) -> Result<()> {
        for Change { file, text, instead } in self.changes {
            let path = crates.join(file);
            let source = fs::read_to_string(&path).context(*file)?;
            let count = source.matches(text).count();
            ensure!(
                count == 1,
                "{}: {file} has {count} times what is to be changed, `{}`; \
                 the table in xtask/src/sim has to follow",
                self.name,
                text.trim()
            );
            fs::write(&path, source.replace(text, instead)).context(*file)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::nursery::{FEED, ORDER};

    /// The tables follow the sources: a change of these that makes a fault impossible to plant is
    /// seen here, not when somebody asks for the mutants.
    #[test]
    fn every_fault_can_be_planted() {
        let crates = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../crates"));
        for subject in [FEED, ORDER] {
            for Mutant { name, changes } in subject.mutants {
                for Change { file, text, .. } in *changes {
                    let of = file.split('/').next().unwrap();
                    assert!(subject.crates.contains(&of), "{name}: {of} is not copied");
                    let source = fs::read_to_string(crates.join(file)).unwrap();
                    assert_eq!(source.matches(text).count(), 1, "{name}: {file}: {text}");
                }
            }
        }
    }
}
