//! The rule that each member's manifest and crate root match the layer table.

use anyhow::{Context, Result};

use super::Finding;
use super::layers::{Layer, RULES, Unsafe};
use crate::no_std;
use crate::workspace::Workspace;

/// Checks lints, unsafe code, `no_std`, and the list of crates in the no-std proof.
pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let proof = format!("{}/Cargo.toml", no_std::FOLDER);
    let proof_manifest =
        std::fs::read_to_string(workspace.root.join(&proof)).context(proof.clone())?;
    for member in &workspace.members {
        let folder = workspace.folder(member);
        let Some(rule) = RULES.iter().find(|rule| folder.ends_with(rule.folder)) else { continue };
        let path = folder.join("Cargo.toml").display().to_string();
        if !inherits_lints(&std::fs::read_to_string(&member.manifest_path)?) {
            findings.push(Finding::new(&path, 0, "does not inherit the lints of the workspace"));
        }
        let sans_io = matches!(rule.layer, Layer::Values | Layer::Protocols);
        if sans_io && !proof_manifest.contains(&format!("\n{} = ", member.name)) {
            findings.push(Finding::new(
                &proof,
                0,
                format!("{} is not in the no-std proof", member.name),
            ));
        }
        for target in member.targets.iter().filter(|target| is_crate_root(target)) {
            let text = std::fs::read_to_string(&target.src_path)?;
            let path = target.src_path.strip_prefix(&workspace.root).unwrap_or(&target.src_path);
            for attribute in required(rule.unsafe_code, sans_io) {
                if !text.lines().any(|line| line == *attribute) {
                    findings.push(Finding::new(
                        path.as_str(),
                        0,
                        format!("{attribute} is missing"),
                    ));
                }
            }
        }
    }
    Ok(findings)
}

/// Returns `true` for a library or a command. The rules do not apply to tests and examples.
fn is_crate_root(target: &cargo_metadata::Target) -> bool {
    target.is_lib() || target.is_bin() || target.is_cdylib()
}

/// Returns the attributes that a crate root must have.
fn required(unsafe_code: Unsafe, sans_io: bool) -> &'static [&'static str] {
    const FORBID: &str = "#![forbid(unsafe_code)]";
    match (unsafe_code, sans_io) {
        (Unsafe::Forbidden, true) => &["#![no_std]", FORBID],
        (Unsafe::Forbidden, false) => &[FORBID],
        (Unsafe::Documented, _) => &[],
    }
}

/// Returns `true` if the manifest contains `[lints]` with `workspace = true`.
fn inherits_lints(manifest: &str) -> bool {
    let Some((_, section)) = manifest.split_once("\n[lints]\n") else { return false };
    section.lines().next() == Some("workspace = true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inherits_lints_requires_the_workspaces_lints() {
        assert!(inherits_lints("[package]\n\n[lints]\nworkspace = true\n"));
        assert!(!inherits_lints("[package]\n\n[lints]\n"));
        assert!(!inherits_lints("[package]\nversion.workspace = true\n"));
    }

    #[test]
    fn sans_io_crates_require_no_std() {
        assert!(required(Unsafe::Forbidden, true).contains(&"#![no_std]"));
        assert!(!required(Unsafe::Forbidden, false).contains(&"#![no_std]"));
    }
}
