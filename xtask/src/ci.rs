//! `cargo xtask ci`: what every commit on main must pass.

use std::time::Instant;

use anyhow::{Context, Result};

use crate::shell::{cargo, run as shell};
use crate::workspace::Workspace;
use crate::{deny, fuzz, no_std, test, tidy};

type Step = (&'static str, fn(&Workspace) -> Result<()>);

/// The steps in order: what fails soonest first, the README's test command last.
const STEPS: &[Step] = &[
    ("fmt", fmt),
    ("tidy", tidy::run),
    ("clippy", clippy),
    ("no-std", no_std::run),
    ("docs", docs),
    ("codegen", codegen),
    ("deny", deny::run),
    ("fuzz", fuzz::briefly),
    ("release build", release_build),
    ("test", test::run),
];

/// Runs every step and stops at the first that fails.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    for (name, step) in STEPS {
        println!("ci: {name}");
        let begun = Instant::now();
        step(workspace).with_context(|| format!("ci: {name}"))?;
        // The tests' own last line, their sum, is also CI's.
        if *name != "test" {
            println!("ci: {name} passed in {:.1} s", begun.elapsed().as_secs_f64());
        }
    }
    Ok(())
}

/// Formatting is rustfmt's word, as `rustfmt.toml` sets it.
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

/// By its own command line, as a developer would.
fn codegen(workspace: &Workspace) -> Result<()> {
    shell(&mut cargo(&workspace.root, ["xtask", "codegen", "--check"]))
}

fn release_build(workspace: &Workspace) -> Result<()> {
    shell(&mut cargo(&workspace.root, ["build", "--locked", "--release"]))
}
