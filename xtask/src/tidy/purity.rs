//! The rules that L0 and L1 do no I/O, and that the trader names only the crates of a user.

use super::Finding;
use super::layers::{self, Layer};
use super::source::Source;

/// Names of sockets, threads, files, environment and clocks. A protocol takes their data as
/// parameters.
const IO_NAMES: [&str; 11] = [
    "std::net",
    "std::thread",
    "std::fs",
    "std::env",
    "std::io",
    "std::os",
    "std::process",
    "std::time",
    "Instant::now",
    "SystemTime",
    "libc::",
];

/// The strategy's module, an example for users' own programs.
const TRADER: &str = "crates/cli-latency/src/strategy";

/// The crates that the trader may name.
const TRADER_NAMES: [&str; 6] =
    ["feed_handler", "order_entry", "reactor", "endpoint", "time", "host"];

/// Checks both rules on a Rust file.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let code = source.lines_before_tests().filter(|(_, line)| !line.trim().starts_with("//"));
    for (number, line) in code {
        if is_sans_io(&source.path)
            && let Some(word) = IO_NAMES.into_iter().find(|word| line.contains(word))
        {
            let what = format!("I/O in an L0 or L1 crate: {word}");
            findings.push(Finding::new(&source.path, number, what));
        }
        if is_trader(&source.path)
            && let Some(name) = crates_named(line).find(|name| !TRADER_NAMES.contains(name))
        {
            let what = format!("the trader may not name hairpin_{name}");
            findings.push(Finding::new(&source.path, number, what));
        }
    }
    findings
}

/// Returns `true` for a source file of an L0 or L1 crate, except for its tests.
fn is_sans_io(path: &str) -> bool {
    let Some((folder, rest)) = path.strip_prefix("crates/").and_then(|p| p.split_once('/')) else {
        return false;
    };
    rest.starts_with("src/")
        && !rest.ends_with("/tests.rs")
        && layers::rule_for(folder)
            .is_some_and(|r| matches!(r.layer, Layer::Values | Layer::Protocols))
}

fn is_trader(path: &str) -> bool {
    path.strip_prefix(TRADER).is_some_and(|rest| rest.starts_with(['.', '/']))
}

/// Returns the workspace crates that a line names, without their prefix.
fn crates_named(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("hairpin_").map(|(at, prefix)| {
        let name = &line[at + prefix.len()..];
        name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        let source = Source { path: path.to_string(), text: text.to_string() };
        check(&source).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn finds_io_in_protocols() {
        let text = "use std::net::UdpSocket;\nlet now = Instant::now();\n";
        assert_eq!(findings("crates/mdp3/src/channel.rs", text).len(), 2);
        assert_eq!(findings("crates/endpoint/src/udp.rs", text).len(), 0);
        assert_eq!(findings("crates/mdp3/tests/captures.rs", text).len(), 0);
    }

    #[test]
    fn allows_io_in_tests_and_comments_of_protocols() {
        let text = "// not std::net\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
        assert_eq!(findings("crates/mdp3/src/channel.rs", text).len(), 0);
    }

    #[test]
    fn trader_names_only_the_crates_of_a_user() {
        let text = "use hairpin_order_entry::Session;\nuse hairpin_exchange::Gateway;\n";
        let expected = ["the trader may not name hairpin_exchange"];
        assert_eq!(findings("crates/cli-latency/src/strategy.rs", text), expected);
        assert_eq!(findings("crates/cli-latency/src/strategy/strategy.rs", text), expected);
        assert_eq!(findings("crates/cli-latency/src/exchange.rs", text).len(), 0);
    }
}
