//! `cargo xtask rule-mutants`: breaks rules of CME on purpose, one at a time, in a copy of the
//! workspace. The test that `docs/reference/cme-rules.md` names for the rule must fail.

mod table;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::shell::cargo;
use crate::sim::mutant::Mutant;
use crate::workspace::Workspace;
use table::RULE_MUTANTS;

/// The copy of the workspace, relative to the root; its build is in `build` next to it.
const FOLDER: &str = "target/mutants/rules";

/// The arguments of `rule-mutants`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only rules whose name or test contains TEXT [default: all]
    #[arg(value_name = "TEXT", default_value = "")]
    only: String,
}

/// A broken rule and the test that must detect it.
pub(crate) struct RuleMutant {
    /// `crate::file::test`, as on the page.
    pub(crate) test: &'static str,
    pub(crate) mutant: Mutant,
}

impl RuleMutant {
    /// Returns the package and the name of the test.
    fn parts(&self) -> (String, &'static str) {
        let (package, _) = self.test.split_once("::").unwrap_or((self.test, ""));
        let (_, name) = self.test.rsplit_once("::").unwrap_or(("", self.test));
        let package = package.replace('_', "-");
        (if package == "hairpin" { package } else { format!("hairpin-{package}") }, name)
    }
}

/// Breaks every rule of the table, and fails if a test does not detect one.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let folder = workspace.root.join(FOLDER).join("workspace");
    let is_wanted = |rule: &&RuleMutant| {
        rule.test.contains(&arguments.only) || rule.mutant.name.contains(&arguments.only)
    };
    let rules: Vec<_> = RULE_MUTANTS.iter().filter(is_wanted).collect();
    ensure!(!rules.is_empty(), "no rule contains {}", arguments.only);
    copy_folder(&workspace.root, &folder)?;
    for rule in &rules {
        if let Outcome::Failed(output) = test(&folder, rule)? {
            bail!("{} fails without a mutant:\n{output}", rule.test);
        }
    }
    println!("rule-mutants: without a mutant, {} tests pass", rules.len());
    let mut survivors = Vec::new();
    for rule in rules {
        let Mutant { name, .. } = rule.mutant;
        rule.mutant.apply(&folder.join("crates"))?;
        match test(&folder, rule)? {
            Outcome::Failed(_) => println!("rule-mutants: {name}: detected by {}", rule.test),
            Outcome::Passed => {
                println!("rule-mutants: {name}: SURVIVES {}", rule.test);
                survivors.push(name);
            }
        }
        for file in rule.mutant.files() {
            fs::copy(workspace.root.join("crates").join(file), folder.join("crates").join(file))?;
        }
    }
    ensure!(survivors.is_empty(), "not detected: {}", survivors.join("; "));
    Ok(())
}

enum Outcome {
    Passed,
    /// The output of the failed test.
    Failed(String),
}

/// Runs the test of a rule in the copy.
fn test(folder: &Path, rule: &RuleMutant) -> Result<Outcome> {
    let (package, name) = rule.parts();
    let arguments =
        ["test", "--package", &package, "--lib", "--test", "it", name, "--", "--include-ignored"];
    let mut command = cargo(folder, arguments);
    command.env("CARGO_TARGET_DIR", folder.join("../build"));
    let output = command.output().context("cannot run cargo test")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let has = |result: &str| text.contains(&format!("{name} ... {result}"));
    match (output.status.success(), has("ok"), has("FAILED")) {
        (true, true, _) => Ok(Outcome::Passed),
        (false, _, true) => Ok(Outcome::Failed(text.into_owned())),
        // It did not compile, or there is no such test.
        _ => bail!("cannot run {}:\n{errors}", rule.test),
    }
}

/// Copies the sources of the workspace.
fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    const NOT_SOURCES: [&str; 3] = ["target", ".git", "report"];
    fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    for entry in from.read_dir().with_context(|| from.display().to_string())? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        if name.to_str().is_some_and(|name| NOT_SOURCES.contains(&name)) {
            continue;
        }
        let target = to.join(name);
        if kind.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else if fs::read(&target).ok() != Some(fs::read(entry.path())?) {
            // An unchanged file keeps its time, so that its crate is not built again.
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_mutants_apply_to_the_sources() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let page = fs::read_to_string(root.join("docs/reference/cme-rules.md")).unwrap();
        for RuleMutant { test, mutant } in RULE_MUTANTS {
            assert!(page.contains(&format!("`{test}`")), "{test} is not on the page");
            mutant.assert_applies(&root.join("crates"));
        }
    }
}
