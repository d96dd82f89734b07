//! `cargo xtask quick`: what to run before every commit; looks only at what changed.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::Result;

use crate::shell::{cargo, read, run as shell};
use crate::workspace::Workspace;
use crate::{ci, test, tidy};

/// Format, tidy, then lints and tests of the touched packages.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    ci::fmt(workspace)?;
    tidy::run(workspace)?;
    let touched = touched(workspace)?;
    if touched.is_empty() {
        println!("quick: no crate was touched");
        return Ok(());
    }
    println!("quick: {}", touched.iter().cloned().collect::<Vec<_>>().join(" "));
    let packages: Vec<&str> = touched.iter().flat_map(|name| ["--package", name]).collect();
    let lint = ["clippy", "--all-targets"].into_iter().chain(packages.iter().copied());
    shell(&mut cargo(&workspace.root, lint.chain(["--", "-D", "warnings"])))?;
    let members = workspace.members.iter().filter(|member| touched.contains(&*member.name));
    let has_library = members.flat_map(|member| &member.targets).any(|target| target.is_lib());
    test::run_selected(workspace, &packages, has_library)
}

/// The packages with a file changed in the last commit or not yet committed.
fn touched(workspace: &Workspace) -> Result<BTreeSet<String>> {
    let folders: Vec<(String, String)> = workspace
        .members
        .iter()
        .map(|member| (format!("{}/", workspace.folder(member).display()), member.name.to_string()))
        .collect();
    let Some(changed) = changed(workspace)? else {
        return Ok(folders.into_iter().map(|(_, name)| name).collect());
    };
    Ok(owners(&changed, &folders))
}

/// Changed paths, relative to the root; `None` when there is no commit to compare with.
fn changed(workspace: &Workspace) -> Result<Option<String>> {
    let git =
        |arguments: &[&str]| read(Command::new("git").current_dir(&workspace.root).args(arguments));
    if git(&["rev-parse", "--verify", "--quiet", "HEAD~1"]).is_err() {
        return Ok(None);
    }
    let committed = git(&["diff", "--name-only", "HEAD~1"])?;
    Ok(Some(committed + &git(&["ls-files", "--others", "--exclude-standard"])?))
}

/// Who owns the changed paths. The root manifest and its kin are everybody's.
fn owners(changed: &str, folders: &[(String, String)]) -> BTreeSet<String> {
    const EVERYBODYS: [&str; 3] = ["Cargo.toml", "clippy.toml", "rust-toolchain.toml"];
    if changed.lines().any(|path| EVERYBODYS.contains(&path)) {
        return folders.iter().map(|(_, name)| name.clone()).collect();
    }
    let owned = |folder: &str| changed.lines().any(|path| path.starts_with(folder));
    let touched = folders.iter().filter(|(folder, _)| owned(folder));
    touched.map(|(_, name)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owners_of(changed: &str) -> Vec<String> {
        let folder = |path: &str, name: &str| (path.to_string(), name.to_string());
        let folders = [folder("crates/host/", "hairpin-host"), folder("xtask/", "xtask")];
        owners(changed, &folders).into_iter().collect()
    }

    #[test]
    fn a_file_touches_the_package_whose_folder_it_lies_in() {
        assert_eq!(owners_of("crates/host/src/lib.rs\nREADME.md\n"), ["hairpin-host"]);
        assert_eq!(owners_of("crates/hosted/src/lib.rs\n"), [""; 0]);
    }

    #[test]
    fn the_root_manifest_touches_every_package() {
        assert_eq!(owners_of("Cargo.toml\n"), ["hairpin-host", "xtask"]);
    }
}
