//! Python's own tests, on localhost and with the tests' servers on the accelerated interface.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::interop::process::Process;
use crate::interop::trial::{Accelerated, Trial};
use crate::interop::{Settings, Side, print_line};

/// Debian's `libpython3.11-testsuite`.
const MODULES: [&str; 6] =
    ["test_socket", "test_selectors", "test_epoll", "test_asyncio", "test_ssl", "test_subprocess"];
const LIMIT: Duration = Duration::from_secs(900);

/// Runs a module of tests with its servers on an address. Tests of VSOCK depend on the hypervisor.
const RUN: &str = "
import sys
from test.support import socket_helper
host = sys.argv.pop(1)
socket_helper.HOST = socket_helper.HOSTv4 = host
socket_helper.bind_port.__defaults__ = (host,)
from test import libregrtest
libregrtest.main()
";

/// The tests that have run, each `true` if it has passed.
type Outcomes = BTreeMap<String, bool>;

/// Runs all modules on both addresses. Returns the number of failures.
pub(in crate::interop) fn check(settings: &Settings, is_selected: impl Fn(&str) -> bool) -> usize {
    let mut failures = 0;
    for module in MODULES {
        for place in ["localhost", "own address"] {
            let name = format!("python3 {module}, {place}");
            if is_selected(&name) {
                let (is_passed, line) = match compare(settings, module, place) {
                    Ok(compared) => compared,
                    Err(error) => (false, format!("FAILED: {error:#}")),
                };
                print_line(&name, "both", &line);
                failures += usize::from(!is_passed);
            }
        }
    }
    failures
}

fn compare(settings: &Settings, module: &str, place: &str) -> Result<(bool, String)> {
    let kernel = run(settings, Accelerated::NONE, module, place, &[])?;
    let both = run(settings, Accelerated::EACH[2], module, place, &[])?;
    let passed: Vec<&String> =
        kernel.iter().filter(|(_, passes)| **passes).map(|(name, _)| name).collect();
    ensure!(!passed.is_empty(), "no test of {module} passes on the kernel");
    let is_ok = |outcomes: &Outcomes, name: &str| outcomes.get(name).copied().unwrap_or(false);
    let mut failed: Vec<&String> =
        passed.iter().filter(|name| !is_ok(&both, name)).copied().collect();
    // A test that depends on the load of the machine passes alone.
    let mut repeated = Vec::new();
    if !failed.is_empty() {
        let names: Vec<&str> = failed.iter().map(|name| method(name)).collect();
        let again = run(settings, Accelerated::EACH[2], module, place, &names)?;
        let (passed_then, failed_again) = failed.iter().partition(|name| is_ok(&again, name));
        (repeated, failed) = (passed_then, failed_again);
    }
    let accelerated = both.values().filter(|passes| **passes).count();
    let mut line = format!("{} tests pass on the kernel, {accelerated} accelerated", passed.len());
    if !repeated.is_empty() {
        line += &format!("; passed when repeated alone: {repeated:?}");
    }
    if failed.is_empty() {
        Ok((true, line))
    } else {
        Ok((false, format!("{line}; FAILED: {failed:#?}")))
    }
}

/// Returns the method of a test: `module.Class.method`.
fn method(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, method)| method)
}

/// Runs a module, or some of its tests. Returns the outcome of each test.
fn run(
    settings: &Settings,
    accelerated: Accelerated,
    module: &str,
    place: &str,
    only: &[&str],
) -> Result<Outcomes> {
    let trial = Trial::new(&settings.hairpin, accelerated, 1, &[])?;
    let address = if place == "localhost" {
        place.to_owned()
    } else {
        trial.address(Side::Server).to_string()
    };
    let report = tempfile::NamedTempFile::new()?;
    let file = report.path().display().to_string();
    let mut program = vec!["/usr/bin/python3", "-c", RUN, &address, "--junit-xml", &file];
    program.extend(["-v", "-i", "*VSOCK*"]);
    for name in only {
        program.extend(["-m", name]);
    }
    program.push(module);
    let run = trial.command(Side::Server, &program);
    // The usual limit of descriptors. Some tests examine all numbers up to it.
    let mut command = Command::new("prlimit");
    command.arg("--nofile=1024:").arg(run.get_program()).args(run.get_args());
    // Some tests compare what a child prints on standard error.
    command.env("HAIRPIN_LOG", "off");
    let process = Process::start(&trial.hosts()[0], command)?;
    let output = process.wait_any(LIMIT)?;
    let outcomes = parse(&std::fs::read_to_string(report.path())?).unwrap_or_default();
    ensure!(!outcomes.is_empty(), "no test has run: {}{}", output.out, output.error);
    Ok(outcomes)
}

/// Reads a report in JUnit's format. What the tests print is not in it: servers of test_ssl print
/// between the name of a test and its outcome.
fn parse(report: &str) -> Result<Outcomes> {
    let document = roxmltree::Document::parse(report)?;
    let tests = document.descendants().filter(|node| node.has_tag_name("testcase"));
    let passes = |test: roxmltree::Node<'_, '_>| {
        let failures = ["failure", "error", "skipped"];
        !test.children().any(|child| failures.iter().any(|it| child.has_tag_name(*it)))
    };
    Ok(tests.filter_map(|test| Some((test.attribute("name")?.to_owned(), passes(test)))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_read_from_a_report() {
        let report = r#"<testsuites><testsuite tests="3">
            <testcase name="test.test_ssl.One.test_a" status="run" result="completed" />
            <testcase name="test.test_ssl.One.test_b"><failure message="no" /></testcase>
            <testcase name="test.test_ssl.One.test_c"><skipped>later</skipped></testcase>
            </testsuite></testsuites>"#;
        let outcomes = parse(report).unwrap();
        assert_eq!(outcomes.into_values().collect::<Vec<_>>(), [true, false, false]);
        assert_eq!(method("test.test_ssl.One.test_a"), "test_a");
    }
}
