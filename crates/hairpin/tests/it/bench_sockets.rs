//! Runs `hairpin bench sockets`: sockperf with and without acceleration.

use serde_json::Value;

use crate::support::{assert_done, assert_status, hairpin, rows, turn};
use crate::xdp::{as_unprivileged, command, stderr, stdout};

/// Returns `true` if sockperf is installed.
fn can_run() -> bool {
    let is_installed = std::process::Command::new("sockperf").arg("--version").output().is_ok();
    if !is_installed {
        eprintln!("skipped: needs sockperf");
    }
    is_installed
}

#[test]
#[ignore = "needs root"]
fn sockets_table_has_every_program_and_loses_nothing() {
    if !can_run() {
        return;
    }
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let output = command(["bench", "sockets", "--quick", "--json"]).arg(&results).output().unwrap();
    assert_done(&output);
    let rows = rows(&results);
    let transports: Vec<_> = rows.iter().map(|row| row["transport"].as_str().unwrap()).collect();
    let expected = ["kernel", "preload", "kernel", "preload", "xdp", "xdp", "preload", "preload"];
    assert_eq!(transports, expected.repeat(2));
    for row in &rows {
        assert_eq!((&row["failed"], &row["lost"]), (&Value::Null, &0.into()), "{row}");
        // sockperf runs for a time: on a busy machine it sends few.
        assert!(row["samples"].as_u64().unwrap() > 0, "{row}");
    }
    let printed = stdout(&output);
    for text in ["both/minimal", "both/copying", "exasock"] {
        assert!(printed.contains(text), "{text}: {printed}");
    }
    let again = hairpin().args(["bench", "sockets", "--from"]).arg(&results).output().unwrap();
    assert_done(&again);
    assert!(printed.starts_with(&stdout(&again)), "{printed}");
}

#[test]
#[ignore = "needs root"]
fn ordinary_user_can_measure_sockets_without_acceleration() {
    if !can_run() {
        return;
    }
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.json");
    let mut bench = command(["bench", "sockets", "--quick", "--json"]);
    bench.arg(&results);
    let output = as_unprivileged(&bench, folder.path(), &[]).output().unwrap();
    assert_done(&output);
    let rows = rows(&results);
    assert_eq!(rows.len(), 16);
    for row in &rows {
        let is_measured = row["transport"] == "kernel";
        assert_eq!(row["failed"].is_null(), is_measured, "{row}");
    }
    assert!(stdout(&output).contains("AF_XDP is not available: "), "{output:?}");
}

#[test]
fn sockets_rejects_impossible_arguments() {
    for args in [
        "--size 13",
        "--size 1449",
        "--protocol icmp",
        "--rounds 0",
        "--seconds 0",
        "--from a --quick",
    ] {
        let output = hairpin().args(["bench", "sockets"]).args(args.split(' ')).output().unwrap();
        assert_status(&output, 2);
        assert_eq!(stderr(&output).lines().count(), 1, "{args}: {output:?}");
    }
}
