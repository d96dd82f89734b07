//! Programs that cannot be accelerated: each must run, with one line that names the cause.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::interop::Side;
use crate::interop::process::Process;
use crate::interop::trial::{Accelerated, Trial};
use crate::interop::{Settings, print_line};

const LIMIT: Duration = Duration::from_secs(60);

/// A C program that prints a line, and opens an io_uring by syscall(2) if it is given an argument.
const PROGRAM: &str = "
#include <stdio.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <sys/socket.h>
#include <arpa/inet.h>
int main(int count, char **arguments) {
    if (count > 1) {
        char parameters[256] = {0};
        syscall(SYS_io_uring_setup, 4, parameters);
    }
    puts(\"done\");
    return 0;
}
";

/// Builds a program, and returns its command.
type Build = fn(&Trial) -> Result<Vec<String>>;

/// Runs each kind of program. Returns the number of failures.
pub(in crate::interop) fn check(settings: &Settings) -> usize {
    let kinds: [(&str, &str, Build); 4] = [
        ("static program", "statically linked", |trial| compile(trial, &["-static"], 0o755, &[])),
        ("set-user-ID program", "set-user-ID", |trial| compile(trial, &[], 0o4755, &[])),
        ("Go program", "statically linked", go),
        ("io_uring program", "io_uring", |trial| compile(trial, &[], 0o755, &["ring"])),
    ];
    let failed = kinds.into_iter().filter(|(name, line, program)| {
        let outcome = Trial::new(&settings.hairpin, Accelerated::EACH[0], 1, &[])
            .and_then(|trial| run(&trial, &program(&trial)?, line));
        let is_failed = outcome.is_err();
        print_line(name, "server", &outcome.unwrap_or_else(|error| format!("FAILED: {error:#}")));
        is_failed
    });
    failed.count()
}

fn run(trial: &Trial, program: &[String], expected: &str) -> Result<String> {
    let words: Vec<&str> = program.iter().map(String::as_str).collect();
    let command = trial.command(Side::Server, &words);
    let output = Process::start(&trial.hosts()[0], command)?.wait(LIMIT)?;
    ensure!(output.out == "done\n", "{:?}", output.out);
    let lines: Vec<&str> = output.error.lines().filter(|it| it.starts_with("hairpin: ")).collect();
    let line = lines.iter().find(|line| line.contains(expected));
    let line = line.ok_or_else(|| anyhow::anyhow!("no line with {expected:?}: {lines:?}"))?;
    Ok(format!("equal; reported: {line}"))
}

fn compile(trial: &Trial, flags: &[&str], mode: u32, arguments: &[&str]) -> Result<Vec<String>> {
    let (source, path) = (trial.write("program.c", PROGRAM)?, trial.path("program"));
    let compiler = [&["cc", "-o", &path, &source][..], flags].concat();
    trial.run_plain(Side::Server, &compiler, LIMIT.as_secs())?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))?;
    Ok([&[path.as_str()][..], arguments].concat().into_iter().map(str::to_owned).collect())
}

fn go(trial: &Trial) -> Result<Vec<String>> {
    let source =
        "package main\nimport \"os\"\nfunc main() { os.Stdout.WriteString(\"done\\n\") }\n";
    let (source, path) = (trial.write("program.go", source)?, trial.path("program"));
    let cache = format!("GOCACHE={}", trial.path("cache"));
    let compiler = ["env", &cache, "go", "build", "-o", &path, &source];
    trial.run_plain(Side::Server, &compiler, 4 * LIMIT.as_secs())?;
    Ok(vec![path])
}
