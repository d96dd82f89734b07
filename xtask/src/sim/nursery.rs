//! A small workspace below `target`, in which the simulation of the feed is built against a copy
//! of mdp3 with a planted fault: only that copy and the test are built anew each time.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::mutant::{MUTANTS, Mutant};
use crate::shell::cargo;
use crate::workspace::Workspace;

/// Relative to the root.
const FOLDER: &str = "target/mutants";
/// The test, and what of it is run.
const TEST: [&str; 2] = ["feed_simulation", "a_book_called_in_sync_is_what_was_published"];

const PACKAGE: &str = r#"[package]
name = "feed-simulation"
edition.workspace = true
publish = false

[lib]
path = "lib.rs"

[dev-dependencies]
hairpin-time.workspace = true
hairpin-sbe.workspace = true
hairpin-cme-codecs.workspace = true
hairpin-mdp3.workspace = true
hairpin-exchange.workspace = true
hairpin-netsim.workspace = true

[[test]]
name = "feed_simulation"
path = "../../../crates/hairpin/tests/feed_simulation/main.rs"
"#;

/// Optimised a little: fifty seeds take longer than the compiler does.
const PROFILE: &str = "\n[profile.dev]\nopt-level = 1\ndebug = \"line-tables-only\"\n";

/// Plants each fault in turn, and demands that some of so many seeds finds it.
pub(super) fn run(workspace: &Workspace, first: u64, seeds: u64) -> Result<()> {
    let nursery = Nursery::new(&workspace.root)?;
    nursery.copy_sources()?;
    if let Some(found) = nursery.simulate(first, seeds)? {
        bail!("without a planted fault: {found}");
    }
    println!("mutants: nothing planted: {seeds} seeds, none fails");
    let mut survivors = Vec::new();
    for mutant in MUTANTS {
        nursery.copy_sources()?;
        mutant.plant(&nursery.sources())?;
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
}

impl Nursery {
    fn new(root: &Path) -> Result<Self> {
        let nursery = Self { root: root.to_owned(), folder: root.join(FOLDER) };
        let package = nursery.folder.join("simulation");
        fs::create_dir_all(&package).context(FOLDER)?;
        let manifest = fs::read_to_string(root.join("Cargo.toml")).context("Cargo.toml")?;
        fs::write(nursery.folder.join("Cargo.toml"), small_manifest(&manifest)?)?;
        fs::copy(root.join("Cargo.lock"), nursery.folder.join("Cargo.lock"))?;
        fs::write(package.join("Cargo.toml"), PACKAGE)?;
        fs::write(package.join("lib.rs"), "")?;
        Ok(nursery)
    }

    /// Where mdp3's copy lies.
    fn sources(&self) -> PathBuf {
        self.folder.join("mdp3/src")
    }

    /// Copies mdp3 as it is.
    fn copy_sources(&self) -> Result<()> {
        let copy = self.folder.join("mdp3");
        if copy.exists() {
            fs::remove_dir_all(&copy).context(FOLDER)?;
        }
        let crate_folder = self.root.join("crates/mdp3");
        copy_folder(&crate_folder.join("src"), &copy.join("src"))?;
        fs::copy(crate_folder.join("Cargo.toml"), copy.join("Cargo.toml"))?;
        Ok(())
    }

    /// Runs the seeds; what the first that fails says, if one does.
    fn simulate(&self, first: u64, seeds: u64) -> Result<Option<String>> {
        let [test, only] = TEST;
        let words = ["test", "--test", test, "--", "--exact", only, "--nocapture"];
        let output = cargo(&self.folder, words)
            .env("CARGO_TARGET_DIR", self.folder.join("target"))
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

/// The root's manifest with two members of its own, and the other crates where they are.
fn small_manifest(manifest: &str) -> Result<String> {
    let members = r#"members = ["crates/*", "examples", "xtask"]"#;
    let default = r#"default-members = ["crates/hairpin"]"#;
    ensure!(
        manifest.contains(members) && manifest.contains(default),
        "the members in Cargo.toml have changed; xtask/src/sim/nursery.rs has to follow"
    );
    let end = manifest.find("[profile.").unwrap_or(manifest.len());
    let manifest = manifest[..end]
        .replace(members, r#"members = ["simulation", "mdp3"]"#)
        .replace(default, "")
        .replace(r#"path = "crates/mdp3""#, r#"path = "mdp3""#)
        .replace(r#"path = "crates/"#, r#"path = "../../crates/"#);
    Ok(manifest + PROFILE)
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
            false => drop(fs::copy(entry.path(), target)?),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_small_workspace_has_its_own_mdp3_and_the_others_where_they_are() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
        let manifest = small_manifest(&fs::read_to_string(root).unwrap()).unwrap();
        let parsed: toml::Table = toml::from_str(&manifest).unwrap();
        let dependencies = &parsed["workspace"]["dependencies"];
        assert_eq!(dependencies["hairpin-mdp3"]["path"].as_str(), Some("mdp3"));
        assert_eq!(dependencies["hairpin-time"]["path"].as_str(), Some("../../crates/time"));
        assert!(small_manifest("[workspace]").is_err());
    }

    #[test]
    fn a_panic_is_told_by_its_seed_and_reason() {
        let said = "thread 'x' panicked at judge.rs:1:2:\nnot equal\nseed 3 failed; to repeat\n";
        assert_eq!(complaint(said), "seed 3 failed: not equal");
        assert_eq!(complaint("nothing"), "no seed: it says nothing");
    }
}
