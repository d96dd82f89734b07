//! `cargo xtask packetdrill`: runs packet scripts that were written for the kernel against the TCP
//! engine.

mod scripts;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::shell::{cargo, run as shell};
use crate::workspace::Workspace;
use scripts::{SCRIPTS, Script};

/// Names a checkout of packetdrill in which `packetdrill` was built.
const VARIABLE: &str = "PACKETDRILL_DIR";
/// The attempts of a script that should pass: its times are real.
const ATTEMPTS: u32 = 3;

/// Runs every script of the table. Fails if one that should pass does not, or the reverse.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let checkout = std::env::var_os(VARIABLE).with_context(|| {
        format!("cannot run packetdrill: set {VARIABLE} to a checkout in which it was built")
    })?;
    let net = PathBuf::from(checkout).join("gtests/net");
    let build = ["build", "--package", "hairpin-stack", "--example", "packetdrill"];
    shell(&mut cargo(&workspace.root, build))?;
    let engine = workspace.root.join("target/debug/examples/libpacketdrill.so");
    let folder = workspace.root.join("target/packetdrill");
    copy_scripts(&net.join("tcp"), &folder)?;
    let mut unexpected: Vec<&str> = Vec::new();
    for script in SCRIPTS {
        let Script { name, fails } = script;
        let attempts = if fails.is_none() { ATTEMPTS } else { 1 };
        let program = net.join("packetdrill/packetdrill");
        let run = || passes(&program, &engine, &folder.join(name));
        let passed = (0..attempts).map(|_| run()).find(|it| !matches!(it, Ok(false)));
        let passed = passed.unwrap_or(Ok(false))?;
        let result = if passed { "passes" } else { "fails" };
        println!("{name}: {result}{}", fails.map_or(String::new(), |why| format!(": {why}")));
        if passed != fails.is_none() {
            unexpected.push(*name);
        }
    }
    ensure!(unexpected.is_empty(), "not as in the table: {}", unexpected.join(", "));
    Ok(())
}

/// Copies the scripts with a set-up that does nothing: the kernel's settings do not matter.
fn copy_scripts(from: &Path, to: &Path) -> Result<()> {
    let setup = "#!/bin/sh\n";
    fs::create_dir_all(to.join("common"))?;
    for script in SCRIPTS {
        let source = from.join(script.name);
        let text = fs::read_to_string(&source).with_context(|| source.display().to_string())?;
        let target = to.join(script.name);
        fs::create_dir_all(target.parent().context("a script is in a folder")?)?;
        fs::write(&target, text)?;
    }
    let file = to.join("common/defaults.sh");
    fs::write(&file, setup)?;
    shell(Command::new("chmod").arg("+x").arg(&file))
}

/// Runs a script. Returns `true` if it passes.
fn passes(program: &Path, engine: &Path, script: &Path) -> Result<bool> {
    let mut command = Command::new(program);
    command.arg(format!("--so_filename={}", engine.display())).arg(script);
    let folder = script.parent().context("a script is in a folder")?;
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().with_context(|| program.display().to_string())?;
    Ok(status.success())
}
