//! Each member's manifest and crate root keep the promises that the layer table makes for it.

use anyhow::{Context, Result};

use super::Finding;
use super::layers::{Layer, RULES, Unsafe};
use crate::no_std;
use crate::workspace::Workspace;

/// Lints, unsafe code, `no_std`, and the list of crates in the no-std proof.
pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let proof = format!("{}/Cargo.toml", no_std::FOLDER);
    let proved = std::fs::read_to_string(workspace.root.join(&proof)).context(proof.clone())?;
    for member in &workspace.members {
        let folder = workspace.folder(member);
        let Some(rule) = RULES.iter().find(|rule| folder.ends_with(rule.folder)) else { continue };
        let path = folder.join("Cargo.toml").display().to_string();
        if !inherits_lints(&std::fs::read_to_string(&member.manifest_path)?) {
            findings.push(Finding::new(&path, 0, "does not take the workspace's lints"));
        }
        let sans_io = matches!(rule.layer, Layer::Values | Layer::Protocols);
        if sans_io && !proved.contains(&format!("\n{} = ", member.name)) {
            findings.push(Finding::new(&proof, 0, format!("{} is not proved", member.name)));
        }
        for target in member.targets.iter().filter(|target| is_crate_root(target)) {
            let text = std::fs::read_to_string(&target.src_path)?;
            let path = target.src_path.strip_prefix(&workspace.root).unwrap_or(&target.src_path);
            for attribute in required(rule.unsafe_code, sans_io) {
                if !text.lines().any(|line| line == *attribute) {
                    findings.push(Finding::new(path.as_str(), 0, format!("lacks {attribute}")));
                }
            }
        }
    }
    Ok(findings)
}

/// The library or the command itself; tests and examples may do as they need.
fn is_crate_root(target: &cargo_metadata::Target) -> bool {
    target.is_lib() || target.is_bin() || target.is_cdylib()
}

/// The attributes that a crate root must open with.
fn required(unsafe_code: Unsafe, sans_io: bool) -> &'static [&'static str] {
    const FORBID: &str = "#![forbid(unsafe_code)]";
    match (unsafe_code, sans_io) {
        (Unsafe::Forbidden, true) => &["#![no_std]", FORBID],
        (Unsafe::Forbidden, false) => &[FORBID],
        (Unsafe::Documented, _) => &[],
    }
}

/// Whether the manifest says `[lints]` `workspace = true`: missing docs, undocumented unsafe.
fn inherits_lints(manifest: &str) -> bool {
    let Some((_, section)) = manifest.split_once("\n[lints]\n") else { return false };
    section.lines().next() == Some("workspace = true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_without_the_workspaces_lints_is_found() {
        assert!(inherits_lints("[package]\n\n[lints]\nworkspace = true\n"));
        assert!(!inherits_lints("[package]\n\n[lints]\n"));
        assert!(!inherits_lints("[package]\nversion.workspace = true\n"));
    }

    #[test]
    fn values_and_protocols_promise_no_std() {
        assert!(required(Unsafe::Forbidden, true).contains(&"#![no_std]"));
        assert!(!required(Unsafe::Forbidden, false).contains(&"#![no_std]"));
    }
}
