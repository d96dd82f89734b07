//! Advisories of a copy of the RustSec database: <https://github.com/rustsec/advisory-db>.
//!
//! An advisory is a Markdown file `crates/CRATE/RUSTSEC-YYYY-NNNN.md` that starts with a block of
//! TOML. The database is not downloaded here: tests and CI need no network.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use cargo_metadata::semver::{Version, VersionReq};
use serde::Deserialize;

/// The environment variable that names the folder of the database.
const VARIABLE: &str = "HAIRPIN_ADVISORY_DB";
/// The line for a host without the database.
pub(super) const ABSENT: &str = "advisories are not checked: there is no ~/.cargo/advisory-db \
    (git clone https://github.com/rustsec/advisory-db), and HAIRPIN_ADVISORY_DB is not set";

/// The meaning of an advisory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A vulnerability, or an interface that permits undefined behavior.
    Vulnerable,
    /// The crate has no maintainer, or another notice.
    Unmaintained,
}

/// An advisory about some versions of a crate.
#[derive(Debug)]
pub(super) struct Advisory {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) kind: Kind,
    /// The versions without the fault.
    valid: Vec<VersionReq>,
}

/// The advisories of a database, by crate.
#[derive(Debug, Default)]
pub(super) struct Advisories(BTreeMap<String, Vec<Advisory>>);

/// The block of TOML.
#[derive(Deserialize)]
struct Block {
    advisory: Facts,
    #[serde(default)]
    versions: Versions,
}

#[derive(Deserialize)]
struct Facts {
    id: String,
    package: String,
    /// `unmaintained`, `unsound` or `notice`; absent for a vulnerability.
    informational: Option<String>,
    /// The date of a retraction.
    withdrawn: Option<String>,
}

#[derive(Default, Deserialize)]
struct Versions {
    #[serde(default)]
    patched: Vec<VersionReq>,
    #[serde(default)]
    unaffected: Vec<VersionReq>,
}

/// Returns the folder of the database, if this host has one.
pub(super) fn folder() -> Result<Option<PathBuf>> {
    if let Some(folder) = std::env::var_os(VARIABLE) {
        let folder = PathBuf::from(folder);
        ensure!(folder.exists(), "cannot read {VARIABLE}: {} does not exist", folder.display());
        return Ok(Some(folder));
    }
    let home = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cargo = home("CARGO_HOME").or_else(|| Some(home("HOME")?.join(".cargo")));
    Ok(cargo.map(|cargo| cargo.join("advisory-db")).filter(|folder| folder.exists()))
}

impl Advisories {
    /// Reads all advisories about crates.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let mut advisories = Self::default();
        let crates = folder.join("crates");
        let error = || format!("cannot read the advisories in {}", crates.display());
        for folder in std::fs::read_dir(&crates).with_context(error)? {
            for file in std::fs::read_dir(folder?.path()).with_context(error)? {
                let path = file?.path();
                if path.extension().is_some_and(|extension| extension == "md") {
                    let read = std::fs::read_to_string(&path).map_err(anyhow::Error::from);
                    let added = read.and_then(|text| advisories.add(&text));
                    added.with_context(|| format!("cannot read {}", path.display()))?;
                }
            }
        }
        ensure!(advisories.count() > 0, "cannot read {}: no advisory", crates.display());
        Ok(advisories)
    }

    /// Adds an advisory, unless it was withdrawn.
    fn add(&mut self, text: &str) -> Result<()> {
        let block = text.split_once("```toml\n").and_then(|(_, rest)| rest.split_once("\n```"));
        let (block, rest) = block.context("no block of TOML")?;
        let Block { advisory, versions } = toml::from_str(block)?;
        if advisory.withdrawn.is_some() {
            return Ok(());
        }
        let title = rest.lines().find_map(|line| line.strip_prefix("# "));
        let kind = match advisory.informational.as_deref() {
            None | Some("unsound") => Kind::Vulnerable,
            Some(_) => Kind::Unmaintained,
        };
        self.0.entry(advisory.package).or_default().push(Advisory {
            id: advisory.id,
            title: title.unwrap_or("no title").trim().to_string(),
            kind,
            valid: [versions.patched, versions.unaffected].concat(),
        });
        Ok(())
    }

    pub(super) fn count(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    /// Iterates over the advisories about a version. A pre-release counts as affected unless a
    /// requirement names it.
    pub(super) fn of(&self, name: &str, version: &Version) -> impl Iterator<Item = &Advisory> {
        let all = self.0.get(name).into_iter().flatten();
        all.filter(move |advisory| !advisory.valid.iter().any(|valid| valid.matches(version)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes an advisory. Returns its text.
    fn advisory(id: &str, facts: &str, versions: &str) -> String {
        format!(
            "```toml\n[advisory]\nid = \"{id}\"\npackage = \"made-up\"\ndate = \"2026-01-02\"\n\
             {facts}\n[versions]\n{versions}\n```\n\n# A fault\n\nMore about it.\n"
        )
    }

    fn read(texts: &[String]) -> Result<Advisories> {
        let folder = tempfile::tempdir()?;
        let crates = folder.path().join("crates/made-up");
        std::fs::create_dir_all(&crates)?;
        std::fs::write(crates.join("notes.txt"), "not an advisory")?;
        for (number, text) in texts.iter().enumerate() {
            std::fs::write(crates.join(format!("RUSTSEC-2026-{number:04}.md")), text)?;
        }
        Advisories::read(folder.path())
    }

    fn ids(advisories: &Advisories, name: &str, version: &str) -> Vec<String> {
        let version = version.parse().expect("a version");
        advisories.of(name, &version).map(|advisory| advisory.id.clone()).collect()
    }

    #[test]
    fn versions_neither_patched_nor_unaffected_are_reported() {
        let versions =
            "patched = [\">= 1.4.2, < 2.0.0\", \">= 2.1.0\"]\nunaffected = [\"< 1.2.0\"]";
        let advisories = read(&[advisory("RUSTSEC-2026-0000", "", versions)]).expect("it is valid");
        assert_eq!(advisories.count(), 1);
        for valid in ["1.1.9", "1.4.2", "1.9.0", "2.1.0", "3.0.0"] {
            assert_eq!(ids(&advisories, "made-up", valid), [""; 0], "{valid}");
        }
        for affected in ["1.2.0", "1.4.1", "2.0.0", "2.0.9", "2.1.0-rc.1"] {
            assert_eq!(ids(&advisories, "made-up", affected), ["RUSTSEC-2026-0000"], "{affected}");
        }
        assert_eq!(ids(&advisories, "made", "1.2.0"), [""; 0]);
    }

    #[test]
    fn kinds_and_titles_are_read_and_withdrawn_ones_skipped() {
        let texts = [
            advisory("RUSTSEC-2026-0000", "informational = \"unsound\"", "patched = []"),
            advisory("RUSTSEC-2026-0001", "informational = \"unmaintained\"", "patched = []"),
            advisory("RUSTSEC-2026-0002", "withdrawn = \"2026-02-03\"", "patched = []"),
        ];
        let advisories = read(&texts).expect("they are valid");
        let version = Version::new(1, 0, 0);
        let mut found: Vec<_> =
            advisories.of("made-up", &version).map(|it| (it.kind, it.title.as_str())).collect();
        found.sort_by_key(|(kind, _)| *kind != Kind::Vulnerable);
        assert_eq!(found, [(Kind::Vulnerable, "A fault"), (Kind::Unmaintained, "A fault")]);
    }

    #[test]
    fn malformed_advisory_and_empty_database_are_errors() {
        let malformed =
            ["no block".to_string(), advisory("RUSTSEC-2026-0000", "", "patched = [\"newest\"]")];
        for text in malformed {
            let error = read(&[text]).expect_err("it is malformed").to_string();
            assert!(error.contains("RUSTSEC-2026-0000.md"), "{error}");
        }
        let error = read(&[]).expect_err("it is empty").to_string();
        assert!(error.ends_with("no advisory"), "{error}");
    }
}
