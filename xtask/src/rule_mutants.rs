//! `cargo xtask rule-mutants`: breaks rules of CME on purpose, one at a time, in a copy of the
//! workspace. The test that `docs/reference/cme-rules.md` names for the rule must fail.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::shell::cargo;
use crate::sim::mutant::replace_once;
use crate::workspace::Workspace;

/// The broken rules: a test and a file of its crate's sources, a text that occurs once in it, and
/// its replacement.
const TABLE: &str = include_str!("rule_mutants/table.txt");

/// The copy of the workspace, relative to the root; its build is in `build` next to it.
const FOLDER: &str = "target/mutants/rules";

/// The arguments of `rule-mutants`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only rules whose test contains TEXT [default: all]
    #[arg(value_name = "TEXT", default_value = "")]
    only: String,
}

/// A broken rule.
#[derive(Debug, Clone, Copy)]
struct RuleMutant<'a> {
    /// `crate::file::test`, as on the page.
    test: &'a str,
    /// The file, relative to the sources of the test's crate; of `cli-market` for the command's.
    file: &'a str,
    text: &'a str,
    replacement: &'a str,
}

impl RuleMutant<'_> {
    /// Parses the table.
    fn all() -> Result<Vec<RuleMutant<'static>>> {
        let rules = TABLE.split("\n\n").map(|rule| {
            let lines: Vec<_> = rule.trim().lines().collect();
            let [head, text, replacement] = lines[..] else { bail!("no three lines: {rule}") };
            let (test, file) = head.split_once(' ').context("no file in the first line")?;
            let text = text.strip_prefix("- ").context("no text")?;
            let replacement = replacement.strip_prefix("+ ").context("no replacement")?;
            Ok(RuleMutant { test, file, text, replacement })
        });
        rules.collect()
    }

    /// Returns the folder of the test's crate.
    fn folder(&self) -> String {
        self.test.split("::").next().unwrap_or_default().replace('_', "-")
    }

    fn name(&self) -> &str {
        self.test.rsplit("::").next().unwrap_or_default()
    }

    /// Returns the changed file, relative to the workspace.
    fn path(&self) -> String {
        let folder = match &*self.folder() {
            "hairpin" => "cli-market".to_owned(),
            folder => folder.to_owned(),
        };
        format!("crates/{folder}/src/{}", self.file)
    }

    /// Returns the test's package and program.
    fn target(&self, root: &Path) -> Result<Target> {
        let folder = self.folder();
        let tests = root.join("crates").join(&folder).join("tests/it");
        let is_integration = tests.is_dir() && contains(&tests, &format!("fn {}(", self.name()))?;
        let package = match &*folder {
            "hairpin" => "hairpin-cli".to_owned(),
            _ => format!("hairpin-{folder}"),
        };
        Ok(Target { package, is_integration })
    }
}

/// A program of tests: the integration tests of a package, or its unit tests.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Target {
    package: String,
    is_integration: bool,
}

/// Breaks every rule of the table, and fails if a test does not detect one.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let folder = workspace.root.join(FOLDER).join("workspace");
    let mut targets: BTreeMap<Target, Vec<RuleMutant<'_>>> = BTreeMap::new();
    for rule in RuleMutant::all()?.into_iter().filter(|rule| rule.test.contains(&arguments.only)) {
        targets.entry(rule.target(&workspace.root)?).or_default().push(rule);
    }
    ensure!(!targets.is_empty(), "no test contains {}", arguments.only);
    copy_folder(&workspace.root, &folder)?;
    let (mut detected, mut survivors) = (0, Vec::new());
    for (target, rules) in &targets {
        let names: Vec<_> = rules.iter().map(RuleMutant::name).collect();
        match test(&folder, target, &names)? {
            Outcome::Passed => {}
            outcome => bail!("{} without a mutant: {outcome:?}", target.package),
        }
        for rule in rules {
            let &RuleMutant { text, replacement, .. } = rule;
            let path = rule.path();
            replace_once(&folder, &path, text, replacement)?;
            let outcome = test(&folder, target, &[rule.name()])?;
            fs::copy(workspace.root.join(&path), folder.join(&path)).context(path)?;
            let outcome = match outcome {
                Outcome::Failed(_) => "detected",
                Outcome::Passed => "SURVIVED",
                Outcome::NotRun(_) => "NOT RUN",
            };
            println!("{outcome} {}: {replacement}", rule.test);
            match outcome {
                "detected" => detected += 1,
                _ => survivors.push(rule.test),
            }
        }
    }
    println!("rule-mutants: {detected} detected, {} survived", survivors.len());
    ensure!(survivors.is_empty(), "not detected: {}", survivors.join(", "));
    Ok(())
}

#[derive(Debug)]
#[allow(dead_code, reason = "the outputs are printed by Debug")]
enum Outcome {
    Passed,
    /// The output of the failed test.
    Failed(String),
    /// The errors of a program that does not compile, or without such a test.
    NotRun(String),
}

/// Runs tests of a program in the copy.
fn test(folder: &Path, target: &Target, names: &[&str]) -> Result<Outcome> {
    let program: &[_] = if target.is_integration { &["--test", "it"] } else { &["--lib"] };
    let head = ["test", "--package", &target.package];
    let tail = ["--", "--include-ignored"];
    let arguments = head.iter().chain(program).chain(&tail).chain(names);
    let mut command = cargo(folder, arguments.copied());
    command.env("CARGO_TARGET_DIR", folder.join("../build"));
    let output = command.output().context("cannot run cargo test")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let has = |name: &&str, result| text.contains(&format!("{name} ... {result}"));
    Ok(match output.status.success() {
        true if names.iter().all(|name| has(name, "ok")) => Outcome::Passed,
        false if names.iter().any(|name| has(name, "FAILED")) => Outcome::Failed(text.into_owned()),
        _ => Outcome::NotRun(String::from_utf8_lossy(&output.stderr).into_owned()),
    })
}

/// Returns `true` if a file below `folder` contains `text`.
fn contains(folder: &Path, text: &str) -> Result<bool> {
    for entry in folder.read_dir().with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let is_found = match path.is_dir() {
            true => contains(&path, text)?,
            false => fs::read_to_string(&path).is_ok_and(|source| source.contains(text)),
        };
        if is_found {
            return Ok(true);
        }
    }
    Ok(false)
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
        for rule in RuleMutant::all().unwrap() {
            let RuleMutant { test, text, .. } = rule;
            assert!(page.contains(&format!("`{test}`")), "{test} is not on the page");
            let source = fs::read_to_string(root.join(rule.path())).unwrap();
            assert_eq!(source.matches(text).count(), 1, "{}: {text}", rule.path());
        }
    }

    #[test]
    fn every_rule_of_the_page_has_a_mutant() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let page = fs::read_to_string(root.join("docs/reference/cme-rules.md")).unwrap();
        let rules = RuleMutant::all().unwrap();
        let tests = page
            .split('`')
            .filter(|name| name.matches("::").count() == 2 && *name != "crate::file::test");
        let missing: Vec<_> =
            tests.filter(|test| rules.iter().all(|rule| rule.test != *test)).collect();
        assert!(missing.is_empty(), "without a mutant: {missing:#?}");
    }
}
