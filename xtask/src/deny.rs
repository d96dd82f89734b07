//! `cargo xtask deny`: checks licenses, bans and sources of every dependency against `deny.toml`,
//! and their versions against a copy of the RustSec database, if there is one.
//!
//! The file has the format of cargo-deny, so that tool can be run too. CI does not run cargo-deny:
//! building it takes several hundred crates, and `cargo metadata` contains the same facts.

mod advisories;
mod license;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use cargo_metadata::Package;
use serde::Deserialize;

use crate::workspace::{Workspace, lock_file};
use advisories::{Advisories, Advisory, Kind};

/// The folders with a lock file of their own. One with a `deny.toml` has its own rules too.
const FOLDERS: [&str; 4] = ["", "fuzz", "bindings/python", "data"];

/// The keys of `deny.toml` that this command reads.
#[derive(Deserialize)]
struct Policy {
    licenses: Licenses,
    bans: Bans,
    #[serde(default)]
    advisories: IgnoredAdvisories,
}

#[derive(Deserialize)]
struct Licenses {
    /// SPDX names; a license `WITH` an exception is one name.
    allow: BTreeSet<String>,
    /// More licenses, each for one crate.
    #[serde(default)]
    exceptions: Vec<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Ban>,
}

#[derive(Deserialize)]
struct Ban {
    #[serde(rename = "crate")]
    name: String,
    reason: String,
}

#[derive(Default, Deserialize)]
struct IgnoredAdvisories {
    #[serde(default)]
    ignore: Vec<Ignored>,
}

#[derive(Deserialize)]
struct Ignored {
    id: String,
}

/// Prints every violation, and the crates that are used in several versions.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let (advisories, described) = match advisories::folder()? {
        Some(folder) => {
            let advisories = Advisories::read(&folder)?;
            let described = format!("{} advisories of {}", advisories.count(), folder.display());
            (advisories, described)
        }
        None => (Advisories::default(), advisories::ABSENT.to_string()),
    };
    let mut violations = BTreeSet::new();
    for folder in FOLDERS {
        let policy = Policy::read(&workspace.root, folder)?;
        let metadata = workspace.resolve(folder)?;
        let used: BTreeSet<_> = metadata
            .resolve
            .iter()
            .flat_map(|resolve| resolve.nodes.iter().map(|node| &node.id))
            .collect();
        let packages: Vec<&Package> =
            metadata.packages.iter().filter(|p| used.contains(&p.id)).collect();
        violations.extend(packages.iter().filter_map(|p| policy.violation(p)));
        let notes = check_advisories(&policy, &advisories, &packages, &mut violations);
        notes.iter().for_each(|note| println!("deny: {note}"));
        let (file, count) = (lock_file(folder), packages.len());
        println!("deny: {file}: {count} packages; {}", duplicates(&packages));
    }
    println!("deny: {described}");
    for violation in &violations {
        println!("deny: {violation}");
    }
    ensure!(violations.is_empty(), "deny: {} violations", violations.len());
    Ok(())
}

/// Adds a violation for each vulnerable package. Returns the lines about unmaintained ones.
fn check_advisories(
    policy: &Policy,
    advisories: &Advisories,
    packages: &[&Package],
    violations: &mut BTreeSet<String>,
) -> BTreeSet<String> {
    let mut notes = BTreeSet::new();
    for package in packages.iter().filter(|package| package.source.is_some()) {
        for advisory in advisories.of(&package.name, &package.version) {
            let Advisory { id, title, .. } = advisory;
            let line = format!("{} {}: {id}: {title}", package.name, package.version);
            let is_ignored = policy.advisories.ignore.iter().any(|ignored| ignored.id == *id);
            if is_ignored || advisory.kind == Kind::Unmaintained {
                notes.insert(line);
            } else {
                violations.insert(line);
            }
        }
    }
    notes
}

impl Policy {
    /// Reads the rules of a folder: its own, otherwise those of the root.
    fn read(root: &Path, folder: &str) -> Result<Self> {
        let own = root.join(folder).join("deny.toml");
        let path = if own.exists() { own } else { root.join("deny.toml") };
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("cannot parse {}", path.display()))
    }

    /// Returns the rule that the package violates.
    fn violation(&self, package: &Package) -> Option<String> {
        let name = format!("{} {}", package.name, package.version);
        let license = package.license.as_deref().unwrap_or("");
        let exception = self.licenses.exceptions.iter().find(|it| *it.name == *package.name);
        let more = exception.map_or_else(BTreeSet::new, |exception| exception.allow.clone());
        if !license::allows(license, &self.licenses.allow.union(&more).cloned().collect()) {
            return Some(format!("{name}: license '{license}' is not allowed"));
        }
        if let Some(ban) = self.bans.deny.iter().find(|ban| *ban.name == *package.name) {
            return Some(format!("{name}: banned: {}", ban.reason));
        }
        // A package without a source is part of this checkout.
        let source = package.source.as_ref()?;
        (!source.is_crates_io()).then(|| format!("{name}: source {} is not crates.io", source.repr))
    }
}

/// Lists the crates that are used in more than one version. They cost build time but violate no
/// rule.
fn duplicates(packages: &[&Package]) -> String {
    let mut versions: BTreeMap<&str, usize> = BTreeMap::new();
    for package in packages {
        *versions.entry(package.name.as_str()).or_default() += 1;
    }
    let several: Vec<&str> =
        versions.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name).collect();
    match several.len() {
        0 => "no crate in more than one version".to_string(),
        _ => format!("in more than one version: {}", several.join(" ")),
    }
}
