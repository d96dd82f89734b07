//! Replays a generated capture through the feed handler at maximum speed.

use crate::support::{assert_done, hairpin, turn};
use serde_json::Value;

/// Returns the last lines of `hairpin feed --stats` on a generated capture.
fn feed(folder: &std::path::Path, sides: &str, format: &str) -> Vec<String> {
    let capture = folder.join(format!("{sides}.pcapng"));
    let args = ["--megabytes", "2", "--instruments", "30", "--sides", sides];
    let generated = hairpin().arg("generate").arg(&capture).args(args).output().unwrap();
    assert_done(&generated);
    let args = ["--stats", "3600", "--format", format];
    let output = hairpin().args(["feed", "--pcap"]).arg(&capture).args(args).output().unwrap();
    assert_done(&output);
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn messages_are_counted_by_template_and_per_second() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let lines = feed(folder.path(), "both", "json");
    let [throughput, came_to, counts] = &lines[..] else { panic!("{lines:?}") };
    let [throughput, came_to, counts] =
        [throughput, came_to, counts].map(|line| serde_json::from_str::<Value>(line).unwrap());
    let throughput = &throughput["throughput"];
    assert_eq!(came_to["in_sync"], 30);
    assert_eq!(throughput["messages"], counts["messages"]);
    assert_eq!(throughput["packets"], counts["packets"]);
    let by_template = throughput["messages_by_template"].as_object().unwrap();
    let sum: u64 = by_template.values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(throughput["messages"], sum);
    for template in ["30", "37", "46", "48", "52", "54", "55", "56", "63"] {
        assert!(by_template.contains_key(template), "{template}: {by_template:?}");
    }
    assert!(throughput["messages_per_second"].as_f64().unwrap() > 0.0);
}

#[test]
fn text_format_prints_two_lines_before_the_last_two() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let lines = feed(folder.path(), "a", "text");
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines[0].contains(" messages/s, ") && lines[1].starts_with("messages by template: "));
    assert!(lines[3].ends_with(" 0 unknown, 0 errors"), "{lines:?}");
}
