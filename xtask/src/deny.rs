//! `cargo xtask deny`: licences, bans and sources of every dependency, against `deny.toml`.
//!
//! The file is cargo-deny's own, so whoever has that tool may run it. CI does not: it would build
//! several hundred crates to check what `cargo metadata` already tells.

mod licence;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use cargo_metadata::Package;
use serde::Deserialize;

use crate::workspace::Workspace;

/// The keys of `deny.toml` that are read; of the others cargo-deny knows more.
#[derive(Deserialize)]
struct Policy {
    licenses: Licences,
    bans: Bans,
}

#[derive(Deserialize)]
struct Licences {
    /// SPDX names, `with` an exception as one name.
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

/// Prints every objection, and in how many versions crates come.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let text = std::fs::read_to_string(workspace.root.join("deny.toml")).context("deny.toml")?;
    let policy: Policy = toml::from_str(&text).context("deny.toml")?;
    let metadata = workspace.resolve()?;
    let used: BTreeSet<_> = metadata
        .resolve
        .iter()
        .flat_map(|resolve| resolve.nodes.iter().map(|node| &node.id))
        .collect();
    let packages: Vec<&Package> =
        metadata.packages.iter().filter(|p| used.contains(&p.id)).collect();
    let objections: Vec<String> = packages.iter().filter_map(|p| policy.objection(p)).collect();
    for objection in &objections {
        println!("deny: {objection}");
    }
    println!("deny: {} packages; {}", packages.len(), duplicates(&packages));
    ensure!(objections.is_empty(), "deny: {} objections", objections.len());
    Ok(())
}

impl Policy {
    /// Why the package may not be used, if it may not.
    fn objection(&self, package: &Package) -> Option<String> {
        let who = format!("{} {}", package.name, package.version);
        let licence = package.license.as_deref().unwrap_or("");
        if !licence::allows(licence, &self.licenses.allow) {
            return Some(format!("{who}: licence '{licence}' is not allowed"));
        }
        if let Some(ban) = self.bans.deny.iter().find(|ban| *ban.name == *package.name) {
            return Some(format!("{who}: banned: {}", ban.reason));
        }
        // Without a source it is a package of this checkout.
        let source = package.source.as_ref()?;
        (!source.is_crates_io()).then(|| format!("{who}: comes from {}", source.repr))
    }
}

/// Crates that come in more than one version: a cost, not a fault.
fn duplicates(packages: &[&Package]) -> String {
    let mut versions: BTreeMap<&str, usize> = BTreeMap::new();
    for package in packages {
        *versions.entry(package.name.as_str()).or_default() += 1;
    }
    let several: Vec<&str> =
        versions.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name).collect();
    match several.len() {
        0 => "none in more than one version".to_string(),
        _ => format!("in more than one version: {}", several.join(" ")),
    }
}
