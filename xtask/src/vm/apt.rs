//! Packages of Debian and Ubuntu from other suites, with lists and a cache of their own. The
//! machine's apt configuration stays as it is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::shell::{read, run as shell};

/// Debian's keys, which sign the lists.
pub(super) const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Where packages come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Distribution {
    Debian,
    Ubuntu,
}

impl Distribution {
    /// Returns the source of a suite, as in sources.list. The keys of Ubuntu are downloaded once,
    /// from Debian.
    fn source(self, folder: &Path, suite: &str) -> Result<String> {
        let (keyring, archive) = match self {
            Self::Debian => (PathBuf::from(KEYRING), "http://deb.debian.org/debian"),
            Self::Ubuntu => (ubuntu_keyring(folder)?, "http://archive.ubuntu.com/ubuntu"),
        };
        Ok(format!("deb [signed-by={}] {archive} {suite} main\n", keyring.display()))
    }
}

/// Returns the path of Ubuntu's keys below a folder.
fn ubuntu_keyring(folder: &Path) -> Result<PathBuf> {
    let home = folder.join("ubuntu-keyring");
    if !home.exists() {
        let debian = Apt::update(&folder.join("debian"), Distribution::Debian, &["trixie"])?;
        debian.unpack_once(&["ubuntu-keyring".to_owned()], &home)?;
    }
    Ok(home.join("usr/share/keyrings/ubuntu-archive-keyring.gpg"))
}

/// The package lists of one or more suites.
pub(super) struct Apt {
    /// The folder of the lists.
    folder: PathBuf,
    /// The options that select the lists.
    options: Vec<String>,
}

impl Apt {
    /// Reads the lists of suites into a folder. No package is regarded as installed.
    pub(super) fn update(folder: &Path, from: Distribution, suites: &[&str]) -> Result<Self> {
        let mut apt = Self::read_lists(folder, from, suites)?;
        let status = apt.folder.join("status");
        fs::write(&status, "")?;
        apt.options.push(format!("Dir::State::Status={}", status.display()));
        Ok(apt)
    }

    /// Reads the lists of Debian's suites into a folder, to install packages on this machine.
    pub(super) fn for_this_machine(folder: &Path, suites: &[&str]) -> Result<Self> {
        Self::read_lists(folder, Distribution::Debian, suites)
    }

    fn read_lists(folder: &Path, from: Distribution, suites: &[&str]) -> Result<Self> {
        let apt = Self::new(folder, from, suites)?;
        shell(apt.command("apt-get").args(["update", "-qq"]))?;
        Ok(apt)
    }

    fn new(folder: &Path, from: Distribution, suites: &[&str]) -> Result<Self> {
        for part in ["lists/partial", "cache/archives/partial"] {
            let part = folder.join(part);
            fs::create_dir_all(&part)
                .with_context(|| format!("cannot create {}", part.display()))?;
        }
        let folder = folder.canonicalize()?;
        let sources: Result<String> = suites.iter().map(|it| from.source(&folder, it)).collect();
        fs::write(folder.join("sources.list"), sources?)?;
        let at = |option: &str, name: &str| format!("{option}={}", folder.join(name).display());
        let mut options = vec![
            at("Dir::Etc::SourceList", "sources.list"),
            "Dir::Etc::SourceParts=/dev/null".to_owned(),
            "Dir::Etc::PreferencesParts=/dev/null".to_owned(),
            at("Dir::State::Lists", "lists"),
            at("Dir::Cache", "cache"),
            "Acquire::Languages=none".to_owned(),
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false".to_owned(),
            "APT::Architecture=amd64".to_owned(),
        ];
        // Only root changes its user for a download; the folder is the user's.
        options.push("APT::Sandbox::User=root".to_owned());
        Ok(Self { folder, options })
    }

    /// Returns the names of the packages that a package depends on, without versions.
    pub(super) fn dependencies(&self, package: &str) -> Result<Vec<String>> {
        let text = read(self.command("apt-cache").args(["show", "--no-all-versions", package]))?;
        Ok(dependencies(&text))
    }

    /// Downloads packages and unpacks them into a folder that exists only when it is complete.
    pub(super) fn unpack_once(&self, packages: &[String], to: &Path) -> Result<()> {
        let partial = to.with_extension("partial");
        let _ = fs::remove_dir_all(&partial);
        self.unpack(packages, &partial)?;
        Ok(fs::rename(&partial, to)?)
    }

    fn unpack(&self, packages: &[String], to: &Path) -> Result<()> {
        let downloads = self.folder.join("downloads");
        let _ = fs::remove_dir_all(&downloads);
        fs::create_dir_all(&downloads)?;
        let mut download = self.command("apt-get");
        shell(download.current_dir(&downloads).args(["download", "-qq"]).args(packages))?;
        fs::create_dir_all(to)?;
        let mut count = 0;
        for entry in fs::read_dir(&downloads)? {
            shell(Command::new("dpkg-deb").arg("-x").arg(entry?.path()).arg(to))?;
            count += 1;
        }
        ensure!(count == packages.len(), "apt-get downloaded {count} of {packages:?}");
        fs::remove_dir_all(&downloads)?;
        Ok(())
    }

    /// Installs packages of a suite on this machine, without recommended ones.
    pub(super) fn install(&self, suite: &str, packages: &[&str]) -> Result<()> {
        let mut install = self.command("apt-get");
        install.args(["install", "-y", "-qq", "--no-install-recommends", "-t", suite]);
        install.args(packages).env("DEBIAN_FRONTEND", "noninteractive");
        read(&mut install).map(drop)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.args(self.options.iter().flat_map(|option| ["-o", option.as_str()]));
        command
    }
}

/// Reads the first `Depends` field of apt's description of a package: of alternatives the first.
fn dependencies(description: &str) -> Vec<String> {
    let field = description.lines().find_map(|line| line.strip_prefix("Depends: "));
    let names = field.unwrap_or_default().split(',');
    names.filter_map(|name| name.split_whitespace().next()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_dependencies_without_versions() {
        let text = "Package: linux-image-amd64\nDepends: kmod, linux-image-6.1.0-50-amd64 (= 6.1), \
                    a (>= 1) | b\nSize: 1\n";
        assert_eq!(dependencies(text), ["kmod", "linux-image-6.1.0-50-amd64", "a"]);
        assert!(dependencies("Package: a\n").is_empty());
    }
}
