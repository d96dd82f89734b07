//! `cargo xtask deny`: checks licenses, bans and sources of every dependency against `deny.toml`.
//!
//! The file has the format of cargo-deny, so that tool can be run too. CI does not run cargo-deny:
//! building it takes several hundred crates, and `cargo metadata` contains the same facts.

mod license;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use cargo_metadata::Package;
use serde::Deserialize;

use crate::workspace::Workspace;

/// The keys of `deny.toml` that this command reads.
#[derive(Deserialize)]
struct Policy {
    licenses: Licenses,
    bans: Bans,
}

#[derive(Deserialize)]
struct Licenses {
    /// SPDX names; a license `WITH` an exception is one name.
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

/// Prints every violation, and the crates that are used in several versions.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let text = std::fs::read_to_string(workspace.root.join("deny.toml"))
        .context("cannot read deny.toml")?;
    let policy: Policy = toml::from_str(&text).context("cannot parse deny.toml")?;
    let metadata = workspace.resolve()?;
    let used: BTreeSet<_> = metadata
        .resolve
        .iter()
        .flat_map(|resolve| resolve.nodes.iter().map(|node| &node.id))
        .collect();
    let packages: Vec<&Package> =
        metadata.packages.iter().filter(|p| used.contains(&p.id)).collect();
    let violations: Vec<String> = packages.iter().filter_map(|p| policy.violation(p)).collect();
    for violation in &violations {
        println!("deny: {violation}");
    }
    println!("deny: {} packages; {}", packages.len(), duplicates(&packages));
    ensure!(violations.is_empty(), "deny: {} violations", violations.len());
    Ok(())
}

impl Policy {
    /// Returns the rule that the package violates.
    fn violation(&self, package: &Package) -> Option<String> {
        let name = format!("{} {}", package.name, package.version);
        let license = package.license.as_deref().unwrap_or("");
        if !license::allows(license, &self.licenses.allow) {
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
