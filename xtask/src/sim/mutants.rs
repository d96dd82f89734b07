//! A small workspace below `target`, in which a simulation is built against copies of crates.
//!
//! Each mutant changes the copies. Cargo then rebuilds only the changed crate and its dependents.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::feed_mutants::FEED_MUTANTS;
use super::mutant::Mutant;
use super::order_mutants::ORDER_MUTANTS;
use super::rds_mutants::RDS_MUTANTS;
use super::tcp_mutants::TCP_MUTANTS;
use crate::shell::cargo;
use crate::workspace::Workspace;

/// A simulation and the mutants that it must detect.
#[derive(Clone, Copy)]
pub(super) struct Subject {
    /// The folder of the crate with the test program.
    package: &'static str,
    program: &'static str,
    /// The test in that program.
    test: &'static str,
    /// The folders of the copied crates, which contain the mutants. A crate in `others` must not
    /// depend on a copied one.
    pub(super) crates: &'static [&'static str],
    /// The folders of the other crates that the test needs.
    others: &'static [&'static str],
    /// The dependencies of the test from the registry.
    registry: &'static [&'static str],
    pub(super) mutants: &'static [Mutant],
}

pub(super) const FEED: Subject = Subject {
    package: "hairpin",
    program: "feed_simulation",
    test: "synchronized_books_equal_published_books",
    crates: &["mdp3"],
    others: &["time", "sbe", "cme-codecs", "exchange", "netsim", "testbed"],
    registry: &[],
    mutants: FEED_MUTANTS,
};
pub(super) const ORDER: Subject = Subject {
    package: "hairpin",
    program: "order_simulation",
    test: "messages_are_delivered_once_and_orders_accounted_for",
    crates: &["ilink3", "order-entry", "exchange"],
    others: &["time", "sbe", "cme-codecs", "mapped", "endpoint", "reactor", "netsim", "testbed"],
    registry: &[],
    mutants: ORDER_MUTANTS,
};
pub(super) const RDS: Subject = Subject {
    package: "rds",
    program: "it",
    test: "simulation::messages_are_delivered_once_and_in_order",
    crates: &["rds"],
    others: &["time", "netsim"],
    registry: &["crc32c"],
    mutants: RDS_MUTANTS,
};
pub(super) const TCP: Subject = Subject {
    package: "tcp",
    program: "it",
    test: "simulation::bytes_arrive_once_and_in_order",
    crates: &["tcp"],
    others: &["time", "wire", "netsim", "testkit"],
    registry: &["smoltcp"],
    mutants: TCP_MUTANTS,
};

/// The folder of the small workspaces, relative to the root.
const FOLDER: &str = "target/mutants";

/// Level 1: without optimization, fifty seeds take longer than the compiler.
const PROFILE: &str = "\n[profile.dev]\nopt-level = 1\ndebug = \"line-tables-only\"\n";

/// Runs the simulation against each mutant and fails if no seed detects one of them.
pub(super) fn run(workspace: &Workspace, subject: Subject, first: u64, seeds: u64) -> Result<()> {
    let copy = WorkspaceCopy::new(&workspace.root, subject)?;
    copy.copy_sources()?;
    if let Some(failure) = copy.simulate(first, seeds)? {
        bail!("the simulation fails without a mutant: {failure}");
    }
    println!("mutants: without a mutant, {seeds} seeds pass");
    let mut survivors = Vec::new();
    for mutant in subject.mutants {
        copy.copy_sources()?;
        mutant.apply(&copy.folder)?;
        let Mutant { name, .. } = mutant;
        match copy.simulate(first, seeds)? {
            Some(failure) => println!("mutants: {name}: detected: {failure}"),
            None => {
                println!("mutants: {name}: SURVIVES {seeds} seeds");
                survivors.push(*name);
            }
        }
    }
    ensure!(survivors.is_empty(), "not detected by {seeds} seeds: {}", survivors.join("; "));
    Ok(())
}

/// A small workspace with copies of the crates that contain mutants.
struct WorkspaceCopy {
    root: PathBuf,
    folder: PathBuf,
    subject: Subject,
}

impl WorkspaceCopy {
    fn new(root: &Path, subject: Subject) -> Result<Self> {
        let folder = root.join(FOLDER).join(format!("{}-{}", subject.package, subject.program));
        let copy = Self { root: root.to_owned(), folder, subject };
        let package = copy.folder.join("simulation");
        fs::create_dir_all(&package).context(FOLDER)?;
        let manifest =
            fs::read_to_string(root.join("Cargo.toml")).context("cannot read Cargo.toml")?;
        let manifest = small_manifest(&manifest, subject.crates)?;
        fs::write(copy.folder.join("Cargo.toml"), manifest)?;
        fs::copy(root.join("Cargo.lock"), copy.folder.join("Cargo.lock"))?;
        fs::write(package.join("Cargo.toml"), package_of(&subject))?;
        fs::write(package.join("lib.rs"), "")?;
        Ok(copy)
    }

    /// Copies the crates without a mutant.
    fn copy_sources(&self) -> Result<()> {
        for name in self.subject.crates {
            let (from, to) = (self.root.join("crates").join(name), self.folder.join(name));
            copy_folder(&from.join("src"), &to.join("src"))?;
            let manifest = fs::read_to_string(from.join("Cargo.toml")).context(*name)?;
            write_changed(&to.join("Cargo.toml"), bare_manifest(&manifest).as_bytes())?;
        }
        Ok(())
    }

    /// Runs the seeds. Returns the failure of the first seed that fails.
    fn simulate(&self, first: u64, seeds: u64) -> Result<Option<String>> {
        let Subject { program, test, .. } = self.subject;
        let arguments = ["test", "--test", program, "--", "--exact", test, "--nocapture"];
        let output = cargo(&self.folder, arguments)
            .env("CARGO_TARGET_DIR", self.root.join(FOLDER).join("target"))
            .env("HAIRPIN_SIM_FROM", first.to_string())
            .env("HAIRPIN_SIM_SEEDS", seeds.to_string())
            .env_remove("HAIRPIN_SIM_TRACE")
            .output()
            .context("cannot run cargo test")?;
        let errors = String::from_utf8_lossy(&output.stderr);
        let has_run = String::from_utf8_lossy(&output.stdout).contains("running 1 test");
        ensure!(has_run, "the simulation does not build:\n{errors}");
        Ok((!output.status.success()).then(|| failure(&errors)))
    }
}

/// Returns the root's manifest with other members. Crates that are not copied keep their folders.
fn small_manifest(manifest: &str, crates: &[&str]) -> Result<String> {
    let members = r#"members = ["crates/*", "examples", "xtask"]"#;
    let default = r#"default-members = ["crates/hairpin", "crates/preload", "crates/order-entry"]"#;
    ensure!(
        manifest.contains(members) && manifest.contains(default),
        "cannot copy Cargo.toml: its members have changed: update xtask/src/sim/mutants.rs"
    );
    let end = manifest.find("[profile.").unwrap_or(manifest.len());
    let own = crates
        .iter()
        .fold(String::from(r#""simulation""#), |all, name| format!(r#"{all}, "{name}""#));
    let mut manifest =
        manifest[..end].replace(members, &format!("members = [{own}]")).replace(default, "");
    for name in crates {
        let path = format!(r#"path = "crates/{name}""#);
        manifest = manifest.replace(&path, &format!(r#"path = "{name}""#));
    }
    Ok(manifest.replace(r#"path = "crates/"#, r#"path = "../../../crates/"#) + PROFILE)
}

/// Returns a crate's manifest without its tests and benchmarks, which are not copied.
fn bare_manifest(manifest: &str) -> &str {
    &manifest[..manifest.find("[dev-dependencies]").unwrap_or(manifest.len())]
}

/// Returns the manifest of the package whose test is the simulation.
fn package_of(subject: &Subject) -> String {
    let Subject { package, program, crates, others, registry, .. } = subject;
    let own = crates.iter().chain(*others).map(|it| format!("hairpin-{it}"));
    let needed = own.chain(registry.iter().map(|&it| it.to_owned()));
    let needed: String = needed.map(|it| format!("{it}.workspace = true\n")).collect();
    format!(
        r#"[package]
name = "simulation"
edition.workspace = true
publish = false

[lib]
path = "lib.rs"

[dev-dependencies]
{needed}
[[test]]
name = "{program}"
path = "../../../../crates/{package}/tests/{program}/main.rs"
"#
    )
}

/// Returns the seed and the reason from the output of a panic.
fn failure(errors: &str) -> String {
    let mut lines = errors.lines();
    let reason = lines.find(|line| line.contains("panicked at")).and_then(|_| lines.next());
    let seed = errors.lines().find(|line| line.starts_with("seed "));
    let seed = seed.and_then(|line| line.split(';').next()).unwrap_or("no seed");
    format!("{seed}: {}", reason.unwrap_or("no error message"))
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy_folder(&entry.path(), &target)?,
            false => write_changed(&target, &fs::read(entry.path())?)?,
        }
    }
    Ok(())
}

/// Writes a file unless its contents are the same already, so that cargo does not rebuild it.
fn write_changed(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    fs::write(path, bytes).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_manifest_replaces_the_paths_of_copied_crates() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
        let manifest = small_manifest(&fs::read_to_string(root).unwrap(), &["mdp3"]).unwrap();
        let parsed: toml::Table = toml::from_str(&manifest).unwrap();
        let dependencies = &parsed["workspace"]["dependencies"];
        assert_eq!(dependencies["hairpin-mdp3"]["path"].as_str(), Some("mdp3"));
        assert_eq!(dependencies["hairpin-time"]["path"].as_str(), Some("../../../crates/time"));
        assert!(small_manifest("[workspace]", &[]).is_err());
    }

    #[test]
    fn failure_contains_seed_and_reason() {
        let errors = "thread 'x' panicked at judge.rs:1:2:\nnot equal\nseed 3 failed; to repeat\n";
        assert_eq!(failure(errors), "seed 3 failed: not equal");
        assert_eq!(failure(""), "no seed: no error message");
    }
}
