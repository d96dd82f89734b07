//! Runs `hairpin jitter`.

use std::process::Output;

use serde_json::Value;

use crate::support::{assert_status, hairpin};

fn jitter(arguments: &[&str]) -> Output {
    hairpin().arg("jitter").args(arguments).output().unwrap()
}

#[test]
fn text_and_document_have_the_same_figures() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("jitter.json");
    let core = hairpin_host::allowed_cores().unwrap()[0].to_string();
    let arguments = ["--cpus", &core, "--for", "0.2", "--threshold", "100"];
    let output = jitter(&[&arguments[..], &["--json", json.to_str().unwrap()]].concat());
    assert_status(&output, 0);
    let text = String::from_utf8(output.stdout).unwrap();
    let document: Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    let measured = &document["cores"][0];
    let count = measured["interruptions"].as_u64().unwrap();
    let row: Vec<&str> = text.lines().nth(2).unwrap().split_whitespace().collect();
    assert_eq!((row[0], row[2]), (core.as_str(), count.to_string().as_str()), "{text}");
    let buckets = measured["histogram"].as_array().unwrap();
    let sum: u64 = buckets.iter().map(|bucket| bucket["count"].as_u64().unwrap()).sum();
    assert_eq!(sum, count, "{document}");
    let interrupted = measured["interrupted_ns"].as_u64().unwrap();
    assert!(interrupted <= measured["watched_ns"].as_u64().unwrap(), "{document}");
    assert!(text.contains("  counted meanwhile: other threads took the core "), "{text}");
}

#[test]
fn wrong_cores_and_files_are_named() {
    for (arguments, expected) in [
        (&["--cpus", "60000"][..], "cannot pin to core 60000: allowed cores are "),
        (&["--cpus", "3-2"], "expected a list such as 2,4-7"),
        (&["--for", "0"], "expected 0.01 to 86400 seconds"),
        (&["--for", "0.01", "--json", "/nowhere/x"], "cannot write /nowhere/x"),
    ] {
        let output = jitter(arguments);
        assert!(!output.status.success());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(expected), "{error}");
    }
}
