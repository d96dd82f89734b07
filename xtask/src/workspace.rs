//! The workspace, read from `cargo metadata`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cargo_metadata::{Metadata, MetadataCommand, Package};

/// The root folder and the member packages.
pub(crate) struct Workspace {
    /// The folder of the root manifest.
    pub(crate) root: PathBuf,
    /// Cargo's folder for what it builds.
    pub(crate) target: PathBuf,
    /// Every member, with its direct dependencies.
    pub(crate) members: Vec<Package>,
}

impl Workspace {
    /// Reads the workspace that contains the current directory.
    pub(crate) fn find() -> Result<Self> {
        let metadata =
            MetadataCommand::new().no_deps().exec().context("cannot run cargo metadata")?;
        Ok(Self {
            root: metadata.workspace_root.into(),
            target: metadata.target_directory.into(),
            members: metadata.packages,
        })
    }

    /// Returns the packages that the lock file in a folder of the root resolves for this platform,
    /// dependencies included.
    pub(crate) fn resolve(&self, folder: &str) -> Result<Metadata> {
        let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        MetadataCommand::new()
            .current_dir(self.root.join(folder))
            .other_options(["--locked".into(), "--filter-platform".into(), platform])
            .exec()
            .with_context(|| format!("cannot resolve {}", lock_file(folder)))
    }

    /// Returns a member's folder relative to the root: `crates/time`.
    pub(crate) fn folder<'a>(&self, package: &'a Package) -> &'a Path {
        let folder = package.manifest_path.as_std_path().parent().unwrap_or(Path::new(""));
        folder.strip_prefix(&self.root).unwrap_or(folder)
    }
}

/// Returns the path of the lock file in a folder of the root.
pub(crate) fn lock_file(folder: &str) -> String {
    Path::new(folder).join("Cargo.lock").display().to_string()
}
