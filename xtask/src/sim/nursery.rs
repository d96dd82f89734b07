//! A small workspace below `target`, in which a simulation is built against copies of crates with
//! a planted fault: only what was changed, and what is built on it, is built anew each time.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::feed_mutants::FEED_MUTANTS;
use super::mutant::Mutant;
use super::order_mutants::ORDER_MUTANTS;
use crate::shell::cargo;
use crate::workspace::Workspace;

/// A simulation that is to find planted faults.
#[derive(Clone, Copy)]
pub(super) struct Subject {
    /// The test in the crate `hairpin`, and what of it is run.
    test: &'static str,
    only: &'static str,
    /// The crates that are copied, by their folders: those with planted faults. None that is not
    /// copied, and that the test needs, may depend on one of them.
    pub(super) crates: &'static [&'static str],
    /// The other crates the test needs.
    others: &'static [&'static str],
    pub(super) mutants: &'static [Mutant],
}

pub(super) const FEED: Subject = Subject {
    test: "feed_simulation",
    only: "a_book_called_in_sync_is_what_was_published",
    crates: &["mdp3"],
    others: &["time", "sbe", "cme-codecs", "exchange", "netsim", "testbed"],
    mutants: FEED_MUTANTS,
};
pub(super) const ORDER: Subject = Subject {
    test: "order_simulation",
    only: "every_message_is_told_once_and_every_order_is_accounted_for",
    crates: &["ilink3", "order-entry", "exchange"],
    others: &["time", "sbe", "cme-codecs", "mapped", "endpoint", "reactor", "netsim", "testbed"],
    mutants: ORDER_MUTANTS,
};

/// Relative to the root.
const FOLDER: &str = "target/mutants";

/// Optimised a little: fifty seeds take longer than the compiler does.
const PROFILE: &str = "\n[profile.dev]\nopt-level = 1\ndebug = \"line-tables-only\"\n";

/// Plants each fault in turn, and demands that some of so many seeds finds it.
pub(super) fn run(workspace: &Workspace, subject: Subject, first: u64, seeds: u64) -> Result<()> {
    let nursery = Nursery::new(&workspace.root, subject)?;
    nursery.copy_sources()?;
    if let Some(found) = nursery.simulate(first, seeds)? {
        bail!("without a planted fault: {found}");
    }
    println!("mutants: nothing planted: {seeds} seeds, none fails");
    let mut survivors = Vec::new();
    for mutant in subject.mutants {
        nursery.copy_sources()?;
        mutant.plant(&nursery.folder)?;
        let Mutant { name, .. } = mutant;
        match nursery.simulate(first, seeds)? {
            Some(found) => println!("mutants: {name}: {found}"),
            None => {
                println!("mutants: {name}: SURVIVES {seeds} seeds");
                survivors.push(*name);
            }
        }
    }
    ensure!(survivors.is_empty(), "not found by {seeds} seeds: {}", survivors.join("; "));
    Ok(())
}

/// The small workspace.
struct Nursery {
    root: PathBuf,
    folder: PathBuf,
    subject: Subject,
}

impl Nursery {
    fn new(root: &Path, subject: Subject) -> Result<Self> {
        let folder = root.join(FOLDER).join(subject.test);
        let nursery = Self { root: root.to_owned(), folder, subject };
        let package = nursery.folder.join("simulation");
        fs::create_dir_all(&package).context(FOLDER)?;
        let manifest = fs::read_to_string(root.join("Cargo.toml")).context("Cargo.toml")?;
        let manifest = small_manifest(&manifest, subject.crates)?;
        fs::write(nursery.folder.join("Cargo.toml"), manifest)?;
        fs::copy(root.join("Cargo.lock"), nursery.folder.join("Cargo.lock"))?;
        fs::write(package.join("Cargo.toml"), package_of(&subject))?;
        fs::write(package.join("lib.rs"), "")?;
        Ok(nursery)
    }

    /// Copies the crates as they are.
    fn copy_sources(&self) -> Result<()> {
        for name in self.subject.crates {
            let (from, to) = (self.root.join("crates").join(name), self.folder.join(name));
            copy_folder(&from.join("src"), &to.join("src"))?;
            let manifest = fs::read_to_string(from.join("Cargo.toml")).context(*name)?;
            write_changed(&to.join("Cargo.toml"), bare_manifest(&manifest).as_bytes())?;
        }
        Ok(())
    }

    /// Runs the seeds; what the first that fails says, if one does.
    fn simulate(&self, first: u64, seeds: u64) -> Result<Option<String>> {
        let Subject { test, only, .. } = self.subject;
        let words = ["test", "--test", test, "--", "--exact", only, "--nocapture"];
        let output = cargo(&self.folder, words)
            .env("CARGO_TARGET_DIR", self.root.join(FOLDER).join("target"))
            .env("HAIRPIN_SIM_FROM", first.to_string())
            .env("HAIRPIN_SIM_SEEDS", seeds.to_string())
            .env_remove("HAIRPIN_SIM_TRACE")
            .output()
            .context("cargo test")?;
        let said = String::from_utf8_lossy(&output.stderr);
        let has_run = String::from_utf8_lossy(&output.stdout).contains("running 1 test");
        ensure!(has_run, "the simulation does not build:\n{said}");
        Ok((!output.status.success()).then(|| complaint(&said)))
    }
}

/// The root's manifest with members of its own, and the other crates where they are.
fn small_manifest(manifest: &str, crates: &[&str]) -> Result<String> {
    let members = r#"members = ["crates/*", "examples", "xtask"]"#;
    let default = r#"default-members = ["crates/hairpin", "crates/order-entry"]"#;
    ensure!(
        manifest.contains(members) && manifest.contains(default),
        "the members in Cargo.toml have changed; xtask/src/sim/nursery.rs has to follow"
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

/// A crate's manifest without its tests and benchmarks, which are not copied.
fn bare_manifest(manifest: &str) -> &str {
    &manifest[..manifest.find("[dev-dependencies]").unwrap_or(manifest.len())]
}

/// The manifest of the package that has the simulation as its test.
fn package_of(subject: &Subject) -> String {
    let Subject { test, crates, others, .. } = subject;
    let needed = crates.iter().chain(*others);
    let needed: String = needed.map(|it| format!("hairpin-{it}.workspace = true\n")).collect();
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
name = "{test}"
path = "../../../../crates/hairpin/tests/{test}/main.rs"
"#
    )
}

/// The line with the reason, and the one with the seed, of what a panic says.
fn complaint(said: &str) -> String {
    let mut lines = said.lines();
    let reason = lines.find(|line| line.contains("panicked at")).and_then(|_| lines.next());
    let seed = said.lines().find(|line| line.starts_with("seed "));
    let seed = seed.and_then(|line| line.split(';').next()).unwrap_or("no seed");
    format!("{seed}: {}", reason.unwrap_or("it says nothing"))
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

/// Writes a file unless it holds that already: what is not written is not built anew.
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
    fn the_small_workspace_has_its_own_copies_and_the_others_where_they_are() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
        let manifest = small_manifest(&fs::read_to_string(root).unwrap(), &["mdp3"]).unwrap();
        let parsed: toml::Table = toml::from_str(&manifest).unwrap();
        let dependencies = &parsed["workspace"]["dependencies"];
        assert_eq!(dependencies["hairpin-mdp3"]["path"].as_str(), Some("mdp3"));
        assert_eq!(dependencies["hairpin-time"]["path"].as_str(), Some("../../../crates/time"));
        assert!(small_manifest("[workspace]", &[]).is_err());
    }

    #[test]
    fn a_panic_is_told_by_its_seed_and_reason() {
        let said = "thread 'x' panicked at judge.rs:1:2:\nnot equal\nseed 3 failed; to repeat\n";
        assert_eq!(complaint(said), "seed 3 failed: not equal");
        assert_eq!(complaint("nothing"), "no seed: it says nothing");
    }
}
