//! The text files of the checkout.

use std::path::Path;

use anyhow::{Context, Result};

/// A text file.
pub(super) struct Source {
    /// The path relative to the workspace root, with `/`.
    pub(super) path: String,
    pub(super) text: String,
}

impl Source {
    pub(super) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Returns `true` for a file that `cargo xtask codegen` wrote, as its first line states. People
    /// do not read it, so most rules on style do not apply.
    pub(super) fn is_generated(&self) -> bool {
        let first = self.text.lines().next().unwrap_or("");
        self.is_rust() && first.ends_with(" by `cargo xtask codegen`.")
    }

    /// Returns `true` for a part of the developer commands, whose rules contain what they forbid.
    pub(super) fn is_xtask(&self) -> bool {
        self.path.starts_with("xtask/")
    }

    /// Returns each line with its number, counted from one.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// Returns the lines before the unit tests, which STYLE.md puts last.
    pub(super) fn lines_before_tests(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines().take_while(|(_, line)| line.trim() != "#[cfg(test)]")
    }
}

/// Reads every text file below `root`, without version control: a source archive is checked too.
pub(super) fn read_all(root: &Path) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    walk(root, "", &mut sources)?;
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

fn walk(root: &Path, folder: &str, sources: &mut Vec<Source>) -> Result<()> {
    /// Folders that are no sources, at any depth and at the root.
    const NOT_OURS: [&str; 2] = ["target", ".git"];
    const NOT_OURS_AT_ROOT: [&str; 4] =
        ["report", "fuzz/artifacts", "fuzz/corpus", "fuzz/coverage"];
    for entry in
        root.join(folder).read_dir().with_context(|| format!("cannot read the folder {folder}"))?
    {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let kind = entry.file_type()?;
        if NOT_OURS.contains(&name.as_str()) || NOT_OURS_AT_ROOT.contains(&path.as_str()) {
            continue;
        }
        if kind.is_dir() {
            walk(root, &path, sources)?;
        } else if kind.is_file()
            && let Ok(text) = String::from_utf8(std::fs::read(entry.path())?)
        {
            sources.push(Source { path, text });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_are_marked_in_their_first_line() {
        let generated = |path: &str, text: &str| {
            Source { path: path.to_string(), text: text.to_string() }.is_generated()
        };
        let mark = "//! X. Generated from `schemas/x.xml` by `cargo xtask codegen`.\n";
        assert!(generated("crates/cme-codecs/src/mdp3/mod.rs", mark));
        assert!(!generated("README.md", mark));
        assert!(!generated("crates/cme-codecs/src/lib.rs", &format!("//! Codecs.\n{mark}")));
    }

    #[test]
    fn lines_before_tests_end_at_the_unit_tests() {
        let text = "fn a() {}\n\n#[cfg(test)]\nmod tests {}\n".to_string();
        let source = Source { path: "a.rs".to_string(), text };
        assert_eq!(source.lines_before_tests().count(), 2);
    }
}
