//! Programs with an allocator of their own.

use std::path::Path;
use std::process::Command;

use crate::support::{command, library};

#[test]
fn allocator_starts_by_replaced_calls() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/allocator.c");
    let name = format!("allocator-{}.so", std::process::id());
    let allocator = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-fno-builtin", "-Wall", "-Werror", "-o"]);
    let compiled = compiler.arg(&allocator).arg(source).status().unwrap();
    assert!(compiled.success(), "{compiled}");
    let mut program = command("timeout", true);
    program.env("LD_PRELOAD", format!("{}:{}", library().display(), allocator.display()));
    // No socket is opened, so neither the interface nor a capability is needed.
    let output = program.args(["60", "cat", "/dev/null"]).output().unwrap();
    std::fs::remove_file(&allocator).unwrap();
    assert!(output.status.success(), "{output:?}");
}
