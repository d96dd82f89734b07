//! `cargo xtask quick`: the checks to run before every commit, on the changed packages only.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::Result;

use crate::shell::{cargo, read, run as shell};
use crate::test::Selection;
use crate::workspace::Workspace;
use crate::{ci, test, tidy};

/// Runs fmt and tidy, then the lints and tests of the changed packages.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    ci::fmt(workspace)?;
    tidy::run(workspace)?;
    let changed = changed_packages(workspace)?;
    if changed.is_empty() {
        println!("quick: no package has changed");
        return Ok(());
    }
    println!("quick: {}", changed.iter().cloned().collect::<Vec<_>>().join(" "));
    let packages: Vec<&str> = changed.iter().flat_map(|name| ["--package", name]).collect();
    let lint = ["clippy", "--all-targets"].into_iter().chain(packages.iter().copied());
    shell(&mut cargo(&workspace.root, lint.chain(["--", "-D", "warnings"])))?;
    let members = workspace.members.iter().filter(|member| changed.contains(&*member.name));
    let has_library = members.flat_map(|member| &member.targets).any(|target| target.is_lib());
    test::run_selected(
        workspace,
        &Selection { packages: &packages, has_library, has_python: false },
    )
}

/// Returns the packages with a file that the last commit changed, or that is not committed.
fn changed_packages(workspace: &Workspace) -> Result<BTreeSet<String>> {
    let folders: Vec<(String, String)> = workspace
        .members
        .iter()
        .map(|member| (format!("{}/", workspace.folder(member).display()), member.name.to_string()))
        .collect();
    let Some(paths) = changed_paths(workspace)? else {
        return Ok(folders.into_iter().map(|(_, name)| name).collect());
    };
    Ok(owners(&paths, &folders))
}

/// Returns the changed paths relative to the root, or `None` without a commit to compare with.
fn changed_paths(workspace: &Workspace) -> Result<Option<String>> {
    let git =
        |arguments: &[&str]| read(Command::new("git").current_dir(&workspace.root).args(arguments));
    if git(&["rev-parse", "--verify", "--quiet", "HEAD~1"]).is_err() {
        return Ok(None);
    }
    let committed = git(&["diff", "--name-only", "HEAD~1"])?;
    Ok(Some(committed + &git(&["ls-files", "--others", "--exclude-standard"])?))
}

/// Returns the packages whose folders contain the changed paths. A file that configures the whole
/// workspace belongs to every package.
fn owners(paths: &str, folders: &[(String, String)]) -> BTreeSet<String> {
    const OF_EVERY_PACKAGE: [&str; 3] = ["Cargo.toml", "clippy.toml", "rust-toolchain.toml"];
    if paths.lines().any(|path| OF_EVERY_PACKAGE.contains(&path)) {
        return folders.iter().map(|(_, name)| name.clone()).collect();
    }
    let has_changed = |folder: &str| paths.lines().any(|path| path.starts_with(folder));
    let changed = folders.iter().filter(|(folder, _)| has_changed(folder));
    changed.map(|(_, name)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owners_of(paths: &str) -> Vec<String> {
        let folder = |path: &str, name: &str| (path.to_string(), name.to_string());
        let folders = [folder("crates/host/", "hairpin-host"), folder("xtask/", "xtask")];
        owners(paths, &folders).into_iter().collect()
    }

    #[test]
    fn files_belong_to_the_package_whose_folder_contains_them() {
        assert_eq!(owners_of("crates/host/src/lib.rs\nREADME.md\n"), ["hairpin-host"]);
        assert_eq!(owners_of("crates/hosted/src/lib.rs\n"), [""; 0]);
    }

    #[test]
    fn root_manifest_belongs_to_every_package() {
        assert_eq!(owners_of("Cargo.toml\n"), ["hairpin-host", "xtask"]);
    }
}
