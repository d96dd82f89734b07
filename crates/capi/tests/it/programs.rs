//! The C++ programs of the guide, against `hairpin exchange`; and errors of one line.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::compiler::{self, Compiler, source};
use crate::support::{Program, check_length_and_guide, checks, workspace};

fn example(name: &str) -> PathBuf {
    workspace().join("examples/cpp").join(name)
}

/// Compiles an example with each compiler, and passes the programs to `check`.
fn with_each(name: &str, check: fn(&Program)) {
    for compiler in compiler::cpp_plain() {
        let folder = tempfile::tempdir().unwrap();
        check(&Program::new(compiler.compile(&example(name), folder.path())));
    }
}

#[test]
fn best_prices_prints_each_book_with_quantities() {
    with_each("best_prices.cpp", checks::best_prices_prints_each_book);
}

#[test]
fn buyer_resumes_the_session_in_its_journal() {
    with_each("buyer.cpp", checks::buyer_resumes_the_session_in_its_journal);
}

#[test]
fn orders_left_are_reported_or_canceled() {
    with_each("buyer.cpp", checks::orders_left_are_reported_or_canceled);
}

#[test]
fn quoter_cancels_each_order_and_stops_on_a_signal() {
    with_each("quoter.cpp", checks::quoter_cancels_each_order_and_stops_on_a_signal);
}

#[test]
fn programs_are_as_short_as_the_guide_states() {
    for (name, max) in [("best_prices.cpp", 15), ("buyer.cpp", 25), ("quoter.cpp", 30)] {
        check_length_and_guide(&format!("cpp/{name}"), "#include <hairpin.hpp>", max);
    }
}

/// Programs that open a feed and a session: in C, and in C++.
fn programs(c: Compiler, cpp: Compiler) -> (TempDir, [[Program; 2]; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let open = c.compile(&source("open.c"), folder.path());
    let [feed, session] = ["best_prices.cpp", "buyer.cpp"]
        .map(|name| Program::new(cpp.compile(&example(name), folder.path())));
    let c = [&["feed"][..], &["session"]].map(|args| Program::with_args(&open, args));
    (folder, [c, [feed, session]])
}

#[test]
fn bad_input_is_an_error_of_one_line() {
    for (c, cpp) in compiler::c().into_iter().zip(compiler::cpp()) {
        let (_folder, languages) = programs(c, cpp);
        for [feed, session] in &languages {
            checks::bad_input_is_an_error_of_one_line(feed, session);
            checks::journal_in_use_is_an_error_of_one_line(session);
            checks::wrong_secret_ends_the_run_without_showing_it(session);
        }
    }
}

#[test]
fn wrong_interface_is_an_error_of_one_line() {
    for compiler in compiler::c() {
        let folder = tempfile::tempdir().unwrap();
        let open = compiler.compile(&source("open.c"), folder.path());
        checks::wrong_interface_is_an_error_of_one_line(
            &Program::with_args(&open, &["feed", "nope0", "lo"]),
            &Program::with_args(&open, &["feed", "lo", "192.0.2.1"]),
        );
    }
}
