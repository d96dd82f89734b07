//! `cargo xtask ci`: the checks that every commit on main passes.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::shell::{cargo, run as shell};
use crate::workspace::Workspace;
use crate::{data, deny, fuzz, header, no_std, python, test, tidy, vm};

type Step = (&'static str, fn(&Workspace) -> Result<()>);

/// The steps before the tests: the quickest to fail comes first.
const STEPS: &[Step] = &[
    ("fmt", fmt),
    ("tidy", tidy::run),
    ("clippy", clippy),
    ("no-std", no_std::run),
    ("docs", docs),
    ("codegen", codegen),
    ("header", header::check),
    ("deny", deny::run),
    ("fuzz", fuzz::run_ci),
    ("release build", release_build),
    ("data", data::run),
    ("vm", vm::run_ci),
    ("python wheel", python::build),
];

/// Runs the steps, stops at the first that fails, and runs the tests last.
///
/// The time of each step is printed after the step, and again at the end. The last line is the sum
/// of the tests, with those of the Python package.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut times = Vec::new();
    for (name, step) in STEPS {
        println!("ci: {name}");
        let begun = Instant::now();
        step(workspace).with_context(|| format!("ci: {name}"))?;
        times.push((*name, begun.elapsed()));
        println!("ci: {name} passed in {:.1} s", begun.elapsed().as_secs_f64());
    }
    println!("ci: test");
    let begun = Instant::now();
    let report = test::report(workspace).context("ci: test")?;
    times.push(("test", begun.elapsed()));
    print!("{}{}", summary(&times), report.times());
    report.conclude()
}

/// The time of each step and of all, a line each.
fn summary(times: &[(&str, Duration)]) -> String {
    let line = |name: &str, time: Duration| format!("{:>9.1} s  {name}\n", time.as_secs_f64());
    let steps: String = times.iter().map(|&(name, time)| line(name, time)).collect();
    format!("ci times:\n{steps}{}", line("total", times.iter().map(|(_, time)| *time).sum()))
}

/// Checks the format against `rustfmt.toml`.
pub(crate) fn fmt(workspace: &Workspace) -> Result<()> {
    shell(&mut cargo(&workspace.root, ["fmt", "--all", "--check"]))
}

fn clippy(workspace: &Workspace) -> Result<()> {
    let arguments = ["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"];
    shell(&mut cargo(&workspace.root, arguments))
}

fn docs(workspace: &Workspace) -> Result<()> {
    let mut command = cargo(&workspace.root, ["doc", "--locked", "--workspace", "--no-deps"]);
    shell(command.env("RUSTDOCFLAGS", "-D warnings"))
}

/// Runs the command line that a developer would run.
fn codegen(workspace: &Workspace) -> Result<()> {
    shell(&mut cargo(&workspace.root, ["xtask", "codegen", "--check"]))
}

fn release_build(workspace: &Workspace) -> Result<()> {
    shell(&mut cargo(&workspace.root, ["build", "--locked", "--release"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_has_each_step_and_the_total() {
        let times = [("fmt", Duration::from_millis(1_500)), ("test", Duration::from_secs(300))];
        let expected = "ci times:\n      1.5 s  fmt\n    300.0 s  test\n    301.5 s  total\n";
        assert_eq!(summary(&times), expected);
    }
}
