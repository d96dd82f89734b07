//! `hairpin export` and `hairpin drop-copy` execute the program `hairpin-data`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a subcommand with a folder as PATH.
fn run(folder: &Path, subcommand: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hairpin"));
    command.arg(subcommand).args(arguments).env("PATH", folder).output().unwrap()
}

#[test]
fn missing_program_is_one_line_with_the_command_that_builds_it() {
    let folder = tempfile::tempdir().unwrap();
    for subcommand in ["export", "drop-copy"] {
        let output = run(folder.path(), subcommand, &["day.pcap", "--schema", "trades"]);
        assert_eq!(output.status.code(), Some(1));
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains("cargo install --locked --path data"), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
        let help = run(folder.path(), subcommand, &["--help"]);
        assert!(help.status.success());
        let text = String::from_utf8(help.stdout).unwrap();
        assert!(text.contains(&format!("Usage: hairpin {subcommand}")), "{text}");
    }
}

#[test]
fn program_receives_the_same_arguments_and_its_status_counts() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("hairpin-data");
    fs::write(&program, "#!/bin/sh\nfor word; do echo \"$word\"; done\nexit 7\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for subcommand in ["export", "drop-copy"] {
        let output = run(folder.path(), subcommand, &["a b.pcap", "--schema", "trades", "--help"]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text, format!("{subcommand}\na b.pcap\n--schema\ntrades\n--help\n"));
        assert_eq!(output.status.code(), Some(7));
    }
}
