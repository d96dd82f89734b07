//! Wrong uses: each is an error code or an exception, in programs with sanitizers.

use std::path::Path;
use std::process::Command;

use crate::compiler::{self, Compiler, source};
use crate::support::{Venue, checks, workspace};

/// Compiles a program with each compiler, and runs it against an exchange.
fn run_each(compilers: &[Compiler], name: &str, exchange: &[&str]) {
    for compiler in compilers {
        let venue = Venue::open(exchange);
        let program = compiler.compile(&source(name), venue.folder.path());
        run(&program, venue.folder.path(), None);
    }
}

fn run(program: &Path, folder: &Path, argument: Option<&str>) {
    let output = Command::new(program).args(argument).current_dir(folder).output().unwrap();
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
        run(&program, folder.path(), None);
    }
}

#[test]
fn orders_are_sent_replaced_and_canceled_from_c() {
    run_each(&compiler::c(), "orders.c", &[]);
}

#[test]
fn display_prices_of_every_format_are_exact_in_c() {
    let table = workspace().join("examples/tests/display-prices.txt");
    // The compiler makes no difference to the library.
    for compiler in compiler::c().into_iter().take(1) {
        let venue = Venue::open(&["--traders", "0", "--display-formats"]);
        let program = compiler.compile(&source("display_prices.c"), venue.folder.path());
        run(&program, venue.folder.path(), table.to_str());
    }
}

#[test]
fn one_trader_has_several_channels_segments_and_caches_in_c() {
    for compiler in compiler::c() {
        let venue = Venue::open_two();
        let program = compiler.compile(&source("segments.c"), venue.folder.path());
        for argument in [None, Some("cached")] {
            run(&program, venue.folder.path(), argument);
        }
        checks::each_segment_has_orders(&venue, 2);
    }
}
