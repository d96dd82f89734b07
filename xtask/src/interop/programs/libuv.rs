//! libuv's own tests of TCP and UDP, on localhost and on the accelerated interface.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::interop::process::Process;
use crate::interop::trial::{Accelerated, Trial};
use crate::interop::{Settings, Side, packages, print_line};
use crate::shell::run as shell;

const PACKAGE: &str = "libuv1";
const LIMIT: Duration = Duration::from_secs(60);
/// Without this variable the tests refuse to run as root.
const AS_ROOT: (&str, &str) = ("UV_RUN_AS_ROOT", "1");
/// Tests whose result depends on the machine: they need a route to other networks, or count the
/// datagrams of an unbounded loop.
const EXCLUDED: [&str; 2] = ["udp_multicast_join6", "tcp_connect_timeout"];

/// Builds the tests, and runs each. Returns the number of failures.
pub(in crate::interop) fn check(
    settings: &Settings,
    is_selected: &impl Fn(&str) -> bool,
) -> Result<usize> {
    let mut failures = 0;
    for place in ["localhost", "own address"] {
        let name = format!("libuv tcp and udp tests, {place}");
        if !is_selected(&name) {
            continue;
        }
        let (is_passed, line) = match compare(settings, place) {
            Ok(compared) => compared,
            Err(error) => (false, format!("FAILED: {error:#}")),
        };
        print_line(&name, "both", &line);
        failures += usize::from(!is_passed);
    }
    Ok(failures)
}

fn compare(settings: &Settings, place: &str) -> Result<(bool, String)> {
    let trial = Trial::new(&settings.hairpin, Accelerated::NONE, 1, &[])?;
    let address = trial.address(Side::Server).to_string();
    let tests = build(&settings.folder, (place != "localhost").then_some(address.as_str()))?;
    let list = Command::new(&tests).arg("--list").env(AS_ROOT.0, AS_ROOT.1).output()?;
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    let is_relevant = |name: &&str| {
        ["tcp_", "udp_"].iter().any(|it| name.starts_with(it)) && !EXCLUDED.contains(name)
    };
    let names: Vec<&str> = list.split_whitespace().filter(is_relevant).collect();
    ensure!(names.len() > 50, "{} tests: {list}", names.len());
    drop(trial);
    let kernel = run(settings, Accelerated::NONE, &tests, &names)?;
    let both = run(settings, Accelerated::EACH[2], &tests, &names)?;
    let failed: Vec<&str> = kernel.difference(&both).map(String::as_str).collect();
    let again = if failed.is_empty() {
        BTreeSet::new()
    } else {
        run(settings, Accelerated::EACH[2], &tests, &failed)?
    };
    let failed: Vec<&str> = failed.into_iter().filter(|name| !again.contains(*name)).collect();
    let mut line = format!(
        "{} of {} tests pass on the kernel, {} accelerated",
        kernel.len(),
        names.len(),
        both.len()
    );
    if !again.is_empty() {
        line += &format!("; passed when repeated: {again:?}");
    }
    if !failed.is_empty() {
        line += &format!("; FAILED: {failed:?}");
    }
    Ok((failed.is_empty(), line))
}

/// Runs each test by itself. Returns those that pass.
fn run(
    settings: &Settings,
    accelerated: Accelerated,
    tests: &Path,
    names: &[&str],
) -> Result<BTreeSet<String>> {
    let trial = Trial::new(&settings.hairpin, accelerated, 1, &[])?;
    let tests = tests.to_string_lossy();
    let mut passed = BTreeSet::new();
    for name in names {
        let mut command = trial.command(Side::Server, &[&tests, name]);
        command.env("HAIRPIN_LOG", "off").env(AS_ROOT.0, AS_ROOT.1);
        let output = Process::start(&trial.hosts()[0], command)?.wait_any(LIMIT)?;
        if output.out.lines().any(|line| line.starts_with("ok ") && !line.contains("# SKIP")) {
            passed.insert((*name).to_owned());
        }
    }
    Ok(passed)
}

/// Builds the tests of Debian's source package, once; with another address than 127.0.0.1 on
/// request. Returns the program.
fn build(folder: &Path, address: Option<&str>) -> Result<PathBuf> {
    let folder = folder.join(if address.is_some() { "libuv-own" } else { "libuv" });
    let program = folder.join("build/uv_run_tests");
    if program.exists() {
        return Ok(program);
    }
    std::fs::create_dir_all(&folder)?;
    packages::source(PACKAGE, &folder)?;
    let is_source = |path: &PathBuf| path.join("CMakeLists.txt").exists();
    let mut entries = std::fs::read_dir(&folder)?.filter_map(|entry| Some(entry.ok()?.path()));
    let source = entries.find(is_source).context("no source of libuv")?;
    if let Some(address) = address {
        for entry in std::fs::read_dir(source.join("test"))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "c" || extension == "h") {
                let text = std::fs::read_to_string(&path)?;
                std::fs::write(&path, text.replace("127.0.0.1", address))?;
            }
        }
    }
    let build = folder.join("build");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&source).arg("-B").arg(&build).arg("-DCMAKE_BUILD_TYPE=Release");
    shell(configure.stdout(std::process::Stdio::null()))?;
    let mut make = Command::new("cmake");
    make.arg("--build").arg(&build).args(["--target", "uv_run_tests", "-j", "2"]);
    shell(make.stdout(std::process::Stdio::null()))?;
    Ok(program)
}
