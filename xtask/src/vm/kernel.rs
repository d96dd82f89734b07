//! Kernels of Debian and Ubuntu.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::ValueEnum;

use super::apt::{Apt, Distribution};
use super::cell::name_of;

/// The kernels of the suites of Debian and Ubuntu.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(super) enum Kernel {
    /// Debian 11 (bullseye): older than Hairpin supports
    #[value(name = "5.10")]
    V5_10,
    /// Ubuntu 22.04 (jammy): the oldest that Hairpin supports
    #[value(name = "5.15")]
    V5_15,
    /// Debian 12 (bookworm)
    #[value(name = "6.1")]
    V6_1,
    /// Debian 13 (trixie)
    #[value(name = "6.12")]
    V6_12,
    /// Debian's unstable suite (sid)
    #[value(name = "7")]
    V7,
}

/// A downloaded kernel.
pub(super) struct KernelFiles {
    /// The bootable image.
    pub(super) image: PathBuf,
    /// The folder of the modules.
    pub(super) modules: PathBuf,
}

impl Kernel {
    /// Returns the name of the kernel as on the command line.
    pub(super) fn name(self) -> String {
        name_of(self)
    }

    /// Returns the distribution, its suites and the package that depends on the newest kernel.
    fn source(self) -> (Distribution, &'static [&'static str], &'static str) {
        const DEBIAN: &str = "linux-image-amd64";
        match self {
            Self::V5_10 => (Distribution::Debian, &["bullseye"], DEBIAN),
            // The kernel of the release is older than the one of its first year.
            Self::V5_15 => {
                (Distribution::Ubuntu, &["jammy", "jammy-updates"], "linux-image-generic")
            }
            Self::V6_1 => (Distribution::Debian, &["bookworm"], DEBIAN),
            Self::V6_12 => (Distribution::Debian, &["trixie"], DEBIAN),
            Self::V7 => (Distribution::Debian, &["sid"], DEBIAN),
        }
    }

    /// Returns the kernel's files below a folder. Downloads them once.
    pub(super) fn fetch(self, folder: &Path) -> Result<KernelFiles> {
        let home = folder.join("kernels").join(self.name());
        if !home.exists() {
            self.download(folder, &home)
                .with_context(|| format!("cannot download kernel {}", self.name()))?;
        }
        // Until version 6.12 the image is in /boot; later it is next to the modules.
        let modules = [home.join("usr/lib/modules"), home.join("lib/modules")];
        let modules = modules.iter().find(|it| it.exists()).context("no folder of modules")?;
        let modules = first_in(modules, "")?;
        let image = first_in(&home.join("boot"), "vmlinuz")
            .or_else(|_| first_in(&modules, "vmlinuz"))
            .with_context(|| format!("no kernel below {}", home.display()))?;
        Ok(KernelFiles { image, modules })
    }

    fn download(self, folder: &Path, home: &Path) -> Result<()> {
        let (distribution, suites, newest) = self.source();
        println!("vm: kernel {}: downloading from {distribution:?} {}", self.name(), suites[0]);
        let apt = Apt::update(&folder.join("apt").join(suites[0]), distribution, suites)?;
        let packages = packages(&apt, newest)?;
        println!("vm: kernel {}: {}", self.name(), packages.join(" "));
        apt.unpack_once(&packages, home)
    }
}

/// Returns the packages that contain the kernel and its modules: one, or of Ubuntu and since 7.x
/// several.
fn packages(apt: &Apt, newest: &str) -> Result<Vec<String>> {
    let is_part = |name: &String| {
        let parts = ["linux-image-", "linux-binary-", "linux-modules-"];
        parts.iter().any(|part| name.starts_with(part))
    };
    let mut level = vec![newest.to_owned()];
    let mut packages = Vec::new();
    while !level.is_empty() {
        let mut next: Vec<String> = Vec::new();
        for package in &level {
            next.extend(apt.dependencies(package)?.into_iter().filter(is_part));
        }
        next.retain(|name| !packages.contains(name));
        packages.extend(next.iter().cloned());
        level = next;
    }
    Ok(packages)
}

fn first_in(folder: &Path, prefix: &str) -> Result<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let is_match = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
    };
    let path = paths.into_iter().find(is_match);
    path.with_context(|| format!("no {prefix} in {}", folder.display()))
}
