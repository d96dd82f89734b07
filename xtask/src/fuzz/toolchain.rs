//! The compiler of the targets: a nightly if one is installed, for its address sanitizer; otherwise
//! the stable compiler. Coverage needs no nightly.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{FOLDER, OUTPUT};
use crate::shell::cargo;

/// The compiler to build the targets with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Toolchain {
    /// A nightly of rustup, with its version line.
    Nightly(String),
    /// The compiler that built this command.
    Stable,
}

/// The flags for libFuzzer's coverage: counters for edges with their positions, and the operands of
/// comparisons, with which libFuzzer finds magic numbers.
const COVERAGE: [&str; 8] = [
    "--cfg=fuzzing",
    "-Ccodegen-units=1",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
];

impl Toolchain {
    /// Returns an installed nightly that is new enough, or the stable compiler.
    pub(super) fn find() -> Self {
        let mut command = Command::new("rustup");
        let version = command.args(["run", "nightly", "rustc", "--version"]).output();
        let text = version.map(|output| output.stdout).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).trim().to_owned();
        if is_new_enough(&text) { Self::Nightly(text) } else { Self::Stable }
    }

    /// Returns the command that builds these targets with a profile of `fuzz/Cargo.toml`.
    pub(super) fn build(&self, root: &Path, names: &[&String], profile: &str) -> Command {
        let mut command = match self {
            Self::Stable => cargo(root, []),
            Self::Nightly(_) => {
                let mut command = Command::new("rustup");
                command.args(["run", "nightly", "cargo"]).current_dir(root);
                // The outer cargo sets `CARGO` to itself for its children.
                command.env_remove("CARGO").stdin(Stdio::null());
                command
            }
        };
        let manifest = format!("{FOLDER}/Cargo.toml");
        command.args(["build", "--locked", "--profile", profile, "--manifest-path", &manifest]);
        command.args(["--target", &triple()]).arg("--target-dir").arg(self.target_folder(root));
        command.args(names.iter().flat_map(|name| ["--bin", name.as_str()]));
        command.env("RUSTFLAGS", self.flags().join(" ")).env_remove("CARGO_ENCODED_RUSTFLAGS");
        command
    }

    /// Returns the folder of the programs built with a profile.
    pub(super) fn programs(&self, root: &Path, profile: &str) -> PathBuf {
        self.target_folder(root).join(triple()).join(profile)
    }

    /// Returns the compiler's own target folder, so that neither compiler rebuilds the programs of
    /// the other.
    fn target_folder(&self, root: &Path) -> PathBuf {
        root.join(OUTPUT).join(match self {
            Self::Nightly(_) => "build",
            Self::Stable => "stable",
        })
    }

    fn flags(&self) -> Vec<&'static str> {
        let sanitizer = match self {
            // For the crates with unsafe code. In safe code it finds little.
            Self::Nightly(_) => Some("-Zsanitizer=address"),
            Self::Stable => None,
        };
        COVERAGE.into_iter().chain(sanitizer).collect()
    }
}

impl fmt::Display for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nightly(version) => write!(f, "{version}, address sanitizer"),
            Self::Stable => f.write_str("the stable compiler, no sanitizer"),
        }
    }
}

/// Returns the target triple of the host. Without `--target`, cargo would build build scripts with
/// the flags too.
fn triple() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

/// Returns `true` if a version line such as `rustc 1.97.0-nightly (…)` belongs to a nightly that
/// builds this workspace.
fn is_new_enough(version: &str) -> bool {
    /// The minor version of the workspace's `rust-version`.
    const MINOR: u32 = 95;
    let minor = version.strip_prefix("rustc 1.").and_then(|rest| rest.split('.').next());
    version.contains("-nightly") && minor.is_some_and(|m| m.parse().is_ok_and(|m: u32| m >= MINOR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_nightlies_that_build_the_workspace() {
        assert!(is_new_enough("rustc 1.97.0-nightly (e50aa6fba 2026-05-19)"));
        assert!(is_new_enough("rustc 1.95.0-nightly (e50aa6fba 2026-02-01)"));
        assert!(!is_new_enough("rustc 1.94.0-nightly (e50aa6fba 2026-01-01)"));
        assert!(!is_new_enough("rustc 1.97.0 (e50aa6fba 2026-05-19)"));
        assert!(!is_new_enough(""));
    }
}
