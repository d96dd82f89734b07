//! Wrong uses: each is an error code or an exception, in programs with sanitizers.

use std::path::Path;
use std::process::Command;

use crate::compiler::{self, Compiler, source};
use crate::support::Venue;

/// Compiles a program with each compiler, and runs it against an exchange.
fn run_each(compilers: &[Compiler], name: &str, exchange: &[&str]) {
    for compiler in compilers {
        let venue = Venue::open(exchange);
        let program = compiler.compile(&source(name), venue.folder.path());
        run(&program, venue.folder.path());
    }
}

fn run(program: &Path, folder: &Path) {
    let output = Command::new(program).current_dir(folder).output().unwrap();
    let [out, err] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    assert!(output.status.success(), "{}: {}\n{out}{err}", program.display(), output.status);
}

#[test]
fn wrong_uses_in_c_are_error_codes() {
    run_each(&compiler::c(), "misuse.c", &["--traders", "0"]);
}

#[test]
fn exceptions_end_the_run_and_are_thrown_again() {
    run_each(&compiler::cpp(), "exceptions.cpp", &["--traders", "0"]);
}

#[test]
fn prices_in_c_are_exact() {
    for compiler in compiler::c() {
        let folder = tempfile::tempdir().unwrap();
        let program = compiler.compile(&source("prices.c"), folder.path());
        run(&program, folder.path());
    }
}

#[test]
fn orders_are_sent_replaced_and_canceled_from_c() {
    run_each(&compiler::c(), "orders.c", &[]);
}
