//! `cargo xtask dist`: builds the files of a release, an archive and a Debian package.
//!
//! Both contain the same tree: command, preload library, C and C++ library, headers, pkg-config
//! and CMake files, manual pages, completions, units and examples. The same commit and compiler
//! give the same bytes: paths of the build are left out of the binaries, and times are the
//! commit's.

mod debian;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::install;
use crate::shell::{cargo, read, run as shell};
use crate::workspace::Workspace;

/// The newest version of the C library that the binaries may need.
const GLIBC: (u32, u32) = (2, 34);
/// The folders of examples that are installed, and single files.
const EXAMPLES: [&str; 8] = [
    "examples/best_prices.rs",
    "examples/buyer.rs",
    "examples/quoter.rs",
    "examples/certification",
    "examples/cpp",
    "examples/monitoring",
    "examples/python",
    "examples/systemd",
];

/// The arguments of `dist`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write the files to DIR [default: target/dist]
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Profile of cargo; others than release are for tests of the packages
    #[arg(long, value_name = "NAME", default_value = "release")]
    profile: String,
}

/// A release.
struct Release {
    version: String,
    /// `x86_64` or `aarch64`.
    architecture: &'static str,
    /// The time of all files, in seconds: that of the commit.
    time: String,
}

/// Builds everything, and prints the paths of the files.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let to = arguments.to.clone().unwrap_or_else(|| workspace.target.join("dist"));
    let built = build(workspace, &arguments.profile)?;
    let release = Release::new(workspace)?;
    let tree = to.join("tree");
    if tree.exists() {
        fs::remove_dir_all(&tree).with_context(|| format!("cannot remove {}", tree.display()))?;
    }
    fill(workspace, &built, &tree)?;
    for binary in ["bin/hairpin", "lib/libhairpin_preload.so", "lib/libhairpin.so"] {
        check_c_library(&tree.join(binary))?;
    }
    let archive = release.archive(&tree, &to)?;
    let package = debian::package(&release, &workspace.root, &tree, &to)?;
    for file in [archive, package] {
        println!("{}", file.display());
    }
    Ok(())
}

/// Builds the binaries. Returns their folder.
fn build(workspace: &Workspace, profile: &str) -> Result<PathBuf> {
    let packages = ["hairpin-cli", "hairpin-preload", "hairpin-capi"];
    let mut build = cargo(&workspace.root, ["build", "--locked", "--profile", profile]);
    for package in packages {
        build.args(["--package", package]);
    }
    if profile == "release" {
        // Panics would otherwise print the paths of this machine, and line tables are 58 of 73 MB.
        let home = std::env::var("CARGO_HOME")
            .or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")))?;
        let root = workspace.root.display();
        // Separated by a character that no path has.
        let flags = format!("--remap-path-prefix={root}=.\u{1f}--remap-path-prefix={home}=cargo");
        build.env("CARGO_ENCODED_RUSTFLAGS", flags).env("CARGO_PROFILE_RELEASE_STRIP", "debuginfo");
        build.env("CARGO_TARGET_DIR", workspace.target.join("dist-build"));
        shell(&mut build)?;
        return Ok(workspace.target.join("dist-build/release"));
    }
    shell(&mut build)?;
    Ok(workspace.target.join(if profile == "dev" { "debug" } else { profile }))
}

/// Copies everything to its place below a prefix.
fn fill(workspace: &Workspace, built: &Path, tree: &Path) -> Result<()> {
    install::install(workspace, built, tree)?;
    let command = tree.join("bin/hairpin");
    install::copy(&built.join("hairpin"), &command)?;
    let preload = "libhairpin_preload.so";
    install::copy(&built.join(preload), &tree.join("lib").join(preload))?;
    let pages = tree.join("share/man/man1");
    fs::create_dir_all(&pages)?;
    shell(Command::new(&command).arg("man").arg(&pages).stdout(std::process::Stdio::null()))?;
    for (name, path) in [
        ("bash", "bash-completion/completions/hairpin"),
        ("zsh", "zsh/vendor-completions/_hairpin"),
        ("fish", "fish/vendor_completions.d/hairpin.fish"),
    ] {
        let text = read(Command::new(&command).args(["completions", name]))?;
        install::write(&tree.join("share").join(path), &text)?;
    }
    let doc = tree.join("share/doc/hairpin");
    for file in ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
        install::copy(&workspace.root.join(file), &doc.join(file))?;
    }
    for path in EXAMPLES {
        copy_tracked(&workspace.root, path, &doc)?;
    }
    copy_all(&workspace.root.join("examples/systemd"), &tree.join("lib/systemd/system"))
}

/// Copies the files of a path that are in the repository.
fn copy_tracked(root: &Path, path: &str, to: &Path) -> Result<()> {
    let files = read(Command::new("git").current_dir(root).args(["ls-files", path]))?;
    files.lines().try_for_each(|file| install::copy(&root.join(file), &to.join(file)))
}

/// Copies a file or a folder.
fn copy_all(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        return install::copy(from, to);
    }
    let entries = fs::read_dir(from).with_context(|| from.display().to_string())?;
    entries.into_iter().try_for_each(|entry| {
        let name = entry?.file_name();
        copy_all(&from.join(&name), &to.join(&name))
    })
}

/// Checks that a binary needs no newer C library than promised.
fn check_c_library(path: &Path) -> Result<()> {
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    let newest = newest_c_library(&bytes).unwrap_or_default();
    ensure!(
        newest <= GLIBC,
        "{} needs glibc {}.{}, newer than {}.{}",
        path.display(),
        newest.0,
        newest.1,
        GLIBC.0,
        GLIBC.1
    );
    Ok(())
}

/// Returns the newest version among the names of symbol versions, `GLIBC_2.34`, of a binary.
fn newest_c_library(bytes: &[u8]) -> Option<(u32, u32)> {
    let version = |name: &[u8]| {
        let text = str::from_utf8(name).ok()?.strip_prefix("GLIBC_")?;
        let mut numbers = text.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    };
    bytes.split(|byte| *byte == 0).filter_map(version).max()
}

impl Release {
    fn new(workspace: &Workspace) -> Result<Self> {
        let package = workspace.members.iter().find(|it| it.name == "hairpin-cli");
        let version = package.context("no package hairpin-cli")?.version.to_string();
        let mut git = Command::new("git");
        git.current_dir(&workspace.root).args(["log", "-1", "--format=%ct"]);
        // An unpacked source archive has no commits.
        let time = read(&mut git).unwrap_or_else(|_| "0".to_owned()).trim().to_owned();
        Ok(Self { version, architecture: std::env::consts::ARCH, time })
    }

    /// Writes `hairpin-VERSION-ARCHITECTURE-linux-gnu.tar.gz`.
    fn archive(&self, tree: &Path, to: &Path) -> Result<PathBuf> {
        let Self { version, architecture, time } = self;
        let path = to.join(format!("hairpin-{version}-{architecture}-linux-gnu.tar.gz"));
        let mut tar = Command::new("tar");
        tar.args(["--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
        tar.arg(format!("--mtime=@{time}")).arg("--mode=u+rw,go=rX");
        tar.arg(format!("--transform=s,^\\.,hairpin-{version},")).arg("--use-compress-program");
        tar.args(["gzip --no-name -9", "--file"]).arg(&path).arg("--directory").arg(tree).arg(".");
        shell(&mut tar)?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_version_of_the_c_library_is_found() {
        let names = b"\0GLIBC_2.2.5\0GLIBC_2.9\0GLIBC_2.34\0GLIBC_PRIVATE\0libc.so.6\0";
        assert_eq!(newest_c_library(names), Some((2, 34)));
        assert_eq!(newest_c_library(b"a static program"), None);
    }
}
