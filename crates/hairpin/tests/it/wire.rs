//! Runs `hairpin wire` on captures with known latencies, which a program without our code writes.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::{assert_status, hairpin};

/// Runs the command in a folder. Returns its output and the counts in its results file.
fn wire(folder: &Path, arguments: &[&str]) -> (Output, Value) {
    let json = folder.join("results.json");
    let mut command = hairpin();
    command.current_dir(folder).arg("wire").args(arguments).arg("--json").arg(&json);
    let output = command.output().unwrap();
    let text = std::fs::read_to_string(json).unwrap_or("{}".to_owned());
    let results: Value = serde_json::from_str(&text).unwrap();
    (output, results["capture"].clone())
}

/// Compares a distribution: exact, except for percentiles, which are the greatest value of a bucket
/// with a width of a thousandth.
fn assert_distribution(actual: &Value, expected: &Value, what: &str) {
    let what = format!("{what}\nactual   {actual}\nexpected {expected}");
    if expected.is_null() {
        assert!(actual.is_null(), "{what}");
        return;
    }
    for exact in ["count", "min", "max"] {
        assert_eq!(actual[exact], expected[exact], "{exact} of {what}");
    }
    let [mean, expected_mean] = [actual, expected].map(|it| it["mean"].as_f64().unwrap());
    assert!((mean - expected_mean).abs() < 1e-6 * expected_mean, "mean of {what}");
    let count = expected["count"].as_f64().unwrap();
    for (percentile, above) in [("p50", 0.5), ("p99", 0.01), ("p99_9", 0.001)] {
        // Fewer than ten samples exceed it.
        let has_too_few = (count * above).floor() < 10.0;
        let Some(value) = actual[percentile].as_u64() else {
            assert!(has_too_few, "{percentile} of {what}");
            continue;
        };
        let exact = expected[percentile].as_u64().unwrap();
        let bucket = exact..=exact + exact / 1_000 + 1;
        assert!(bucket.contains(&value), "{percentile} of {what}");
    }
}

fn assert_market(actual: &Value, expected: &Value, name: &str) {
    for channel in ["1", "2"] {
        let lines = &expected["lines"][channel];
        if lines.is_null() {
            continue;
        }
        let group = format!("239.1.1.{channel}:1431{}", channel.parse::<u8>().unwrap() - 1);
        let feeds = actual["feeds"].as_array().unwrap();
        let feed = feeds.iter().find(|feed| feed["lines"][0]["group"] == *group).unwrap();
        for line in [0, 1] {
            for (field, expected) in lines[line].as_object().unwrap() {
                let what = format!("{field} of line {line} of channel {channel} in {name}");
                assert_eq!(&feed["lines"][line][field], expected, "{what}");
            }
        }
        let lost = &feed["lost_on_all_lines"]["missing"];
        assert_eq!(lost, &expected["lost"][channel], "{channel} in {name}");
        let what = format!("channel {channel} in {name}");
        for (field, line) in ["a_before_b", "b_before_a"].into_iter().zip([0, 1]) {
            assert_distribution(&feed[field], &expected["skews"][channel][line], &what);
        }
        assert_distribution(&feed["messages_per_ms"], &expected["bursts"][channel], &what);
        for kind in ["order", "cancel"] {
            let ticks = actual["tick_to_order"].as_array().unwrap();
            let is_wanted = |tick: &&Value| tick["feed"] == feed["channel"] && tick["to"] == kind;
            let tick = ticks.iter().find(is_wanted).unwrap();
            let expected = &expected["ticks"][format!("{channel} {kind}")];
            assert_distribution(&tick["at_least"], expected, &what);
        }
    }
}

fn assert_session(actual: &Value, case: &Value, name: &str) {
    let session = &actual["sessions"][0];
    assert_eq!(actual["sessions"].as_array().unwrap().len(), 1, "{name}: {actual}");
    let label = case["session"].as_str().unwrap_or("ABC/DEFGH");
    assert_eq!(session["session"], label, "{name}");
    let expected = &case["figures"]["spans"];
    for (span, actual) in session["spans"].as_object().unwrap() {
        assert_distribution(actual, &expected[span], &format!("{span} in {name}"));
    }
    let replaced = &case["figures"]["replaced_fills"];
    assert_eq!(session["fills_of_replaced_orders"], *replaced, "{name}: {session}");
    assert_eq!(session["unanswered"], case["figures"]["unanswered"], "{name}: {session}");
    for field in [
        "answers_without_request",
        "answers_before_request",
        "across_clock_steps",
        "repeated_segments",
        "stream_gaps",
        "missing_bytes",
    ] {
        let expected = case[field].as_u64().unwrap_or(0);
        assert_eq!(session[field], expected, "{field} in {name}: {session}");
    }
}

fn assert_case(folder: &Path, case: &Value) {
    let name = case["name"].as_str().unwrap();
    let files: Vec<&str> =
        case["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()).collect();
    let (output, actual) = wire(folder, &files);
    let fails = case["error"].is_string() || case["missing_bytes"].is_u64();
    assert_status(&output, i32::from(fails));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains(case["error"].as_str().unwrap_or_default()), "{name}: {error}");
    assert_eq!(actual["packets"], case["figures"]["packets"], "{name}");
    let times = actual["times"].as_str().unwrap();
    assert!(times.starts_with(case["times"].as_str().unwrap_or("capture")), "{name}: {times}");
    let back = case["times_going_back"].as_u64().unwrap_or(0);
    if times.starts_with("capture") {
        assert_eq!(actual["times_going_back"], back, "{name}");
    }
    assert_eq!(actual["clock_steps"].is_object(), case["steps"] == true, "{name}: {actual}");
    assert_market(&actual, &case["figures"], name);
    assert_session(&actual, case, name);
}

#[test]
fn figures_of_independently_written_captures_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/wire_captures.py");
    let written = Command::new("python3").arg(script).arg(folder.path()).status();
    assert!(written.expect("python3 is not installed").success());
    let cases = std::fs::read_to_string(folder.path().join("cases.json")).unwrap();
    let cases: Value = serde_json::from_str(&cases).unwrap();
    for case in cases.as_array().unwrap() {
        assert_case(folder.path(), case);
    }
    tables_and_reports_are_of_the_same_figures(folder.path());
}

/// The table names the session and each span; `hairpin report` accepts the results file.
fn tables_and_reports_are_of_the_same_figures(folder: &Path) {
    let (output, _) = wire(folder, &["pcap-ns-0.cap", "--report", "page"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for expected in ["ABC/DEFGH", "order to ack", "cancel to reject", "239.1.1.1:14310"] {
        assert!(text.contains(expected), "{text}");
    }
    assert!(folder.join("page/report.html").is_file());
    let mut report = hairpin();
    report.current_dir(folder).args(["report", "results.json", "--report", "again"]);
    assert_status(&report.output().unwrap(), 0);
    // Only the chosen source of times.
    let (output, actual) = wire(folder, &["metamako-0.cap", "--times", "capture"]);
    assert_status(&output, 0);
    assert_eq!(actual["times"], "capture, resolution 1000 ns");
    let (output, _) = wire(folder, &["pcap-ns-0.cap", "--times", "exablaze"]);
    assert_status(&output, 1);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("cannot use --times: no packet of the first "), "{error}");
}

/// The passes of loops restart their numbers; line B has each packet three microseconds later.
#[test]
fn generated_capture_has_all_feeds_and_lacks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut generate = hairpin();
    generate.current_dir(folder.path()).args(["generate", "day.pcapng", "--megabytes", "2"]);
    assert_status(&generate.args(["--sides", "both"]).output().unwrap(), 0);
    let (output, actual) = wire(folder.path(), &["day.pcapng"]);
    assert_status(&output, 0);
    let feeds = actual["feeds"].as_array().unwrap();
    let names: Vec<&str> = feeds.iter().map(|feed| feed["feed"].as_str().unwrap()).collect();
    for expected in ["incremental", "instrument", "snapshot"] {
        assert!(names.contains(&expected), "{names:?}");
    }
    for feed in feeds {
        let [a, b] = [0, 1].map(|line| &feed["lines"][line]);
        for line in [a, b, &feed["lost_on_all_lines"]] {
            assert_eq!((&line["missing"], &line["gaps"]), (&0.into(), &0.into()), "{feed}");
        }
        assert_eq!(a["restarts"], b["restarts"], "{feed}");
        assert_eq!((&a["duplicates"], &b["out_of_order"]), (&0.into(), &0.into()), "{feed}");
        let ahead = &feed["a_before_b"];
        assert_eq!(ahead["count"], a["packets"], "{feed}");
        assert_eq!((&ahead["min"], &ahead["max"]), (&3_000.into(), &3_000.into()), "{feed}");
    }
}

#[test]
fn captures_of_other_traffic_are_status_1() {
    let folder = tempfile::tempdir().unwrap();
    // A pcap file without packets.
    let header = [&0xa1b2_c3d4_u32.to_le_bytes()[..], &[2, 0, 4, 0], &[0; 12], &[1, 0, 0, 0]];
    std::fs::write(folder.path().join("empty.pcap"), header.concat()).unwrap();
    for (file, expected) in [
        ("empty.pcap", "no market data and no iLink 3 in 0 packets"),
        ("missing.pcap", "missing.pcap: No such file"),
    ] {
        let (output, _) = wire(folder.path(), &[file]);
        assert_status(&output, 1);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(expected), "{error}");
    }
}
