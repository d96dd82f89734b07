//! The symbols of the shared library.

use std::collections::BTreeSet;
use std::process::Command;

use crate::compiler::{has_program, prefix};

#[test]
fn library_exports_the_functions_of_the_header_only() {
    if !has_program("nm") {
        println!("SKIPPED: the symbols of the library: nm is not installed");
        return;
    }
    let mut nm = Command::new("nm");
    nm.args(["--dynamic", "--defined-only", "--format=just-symbols"]);
    let output = nm.arg(prefix().join("lib/libhairpin.so")).output().unwrap();
    let symbols = String::from_utf8(output.stdout).unwrap();
    let symbols: BTreeSet<&str> = symbols.lines().collect();
    let header = std::fs::read_to_string(prefix().join("include/hairpin.h")).unwrap();
    let functions: BTreeSet<&str> = header.lines().filter_map(declared_function).collect();
    assert!(functions.len() > 40, "{functions:?}");
    assert_eq!(symbols, functions);
}

/// Returns the name of the function that a line declares.
fn declared_function(line: &str) -> Option<&str> {
    let (start, _) = line.split_once('(')?;
    let is_declaration = line.starts_with("int32_t ")
        || line.starts_with("const char *")
        || line.starts_with("hairpin_price ");
    is_declaration.then(|| start.rsplit([' ', '*']).next())?
}
