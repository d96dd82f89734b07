//! The rule that every counter has a description, and every error counter a test.
//!
//! Counters are the fields of structs called `…Counters` or `Statistics`, and the fields that the
//! macro `counters!` declares. A counter whose description begins with `Errors:` or `Warnings:`
//! needs a test `counts_<name>_only` in its crate.

use std::collections::BTreeSet;

use super::Finding;
use super::source::Source;
use crate::reference::COUNTERS;

/// Checks every counter of every crate.
pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let written = || sources.iter().filter(|source| source.is_rust() && !source.is_generated());
    let tests: BTreeSet<(&str, &str)> =
        written().flat_map(|source| tests(source).map(|test| (package(source), test))).collect();
    let mut findings = Vec::new();
    for source in written().filter(|source| source.path.contains("/src/")) {
        for counter in counters(source) {
            let Counter { line, name, description } = &counter;
            let mut find = |what| findings.push(Finding::new(&source.path, *line, what));
            let Some(description) = description else {
                find(format!("the counter `{name}` has no description"));
                continue;
            };
            let is_error =
                ["Errors:", "Warnings:"].iter().any(|mark| description.starts_with(mark));
            let test = format!("counts_{name}_only");
            if is_error && !tests.contains(&(package(source), test.as_str())) {
                find(format!("no test `{test}` in {}", package(source)));
            }
        }
    }
    findings
}

/// The beginning of the reference page.
const INTRODUCTION: &str = "\
# Counters

Every counter, by crate and source file. `cargo xtask reference` writes this page from the code.
Counters of errors and warnings stay zero in normal operation; each has a test that provokes it.
";

/// Checks that the reference page equals the code.
pub(super) fn check_page(sources: &[Source]) -> Vec<Finding> {
    let written = sources.iter().find(|source| source.path == COUNTERS);
    let is_current = written.is_some_and(|source| source.text == page(sources));
    let what = "differs from the code: run `cargo xtask reference`";
    if is_current { Vec::new() } else { vec![Finding::new(COUNTERS, 0, what)] }
}

/// Returns the reference page: a table of counters per crate and source file.
pub(super) fn page(sources: &[Source]) -> String {
    let mut page = String::from(INTRODUCTION);
    let written = sources.iter().filter(|source| source.is_rust() && !source.is_generated());
    for source in
        written.filter(|source| source.path.starts_with("crates/") && source.path.contains("/src/"))
    {
        let counters = counters(source);
        if counters.is_empty() {
            continue;
        }
        page += &format!("\n## `{}`\n\n| counter | kind | counts |\n|---|---|---|\n", source.path);
        for Counter { name, description, .. } in counters {
            let description = description.unwrap_or_default();
            let (kind, counted) = match description.split_once(": ") {
                Some(("Errors", rest)) => ("error", rest),
                Some(("Warnings", rest)) => ("warning", rest),
                _ => ("", description.as_str()),
            };
            page += &format!("| `{name}` | {kind} | {} |\n", without_links(counted));
        }
    }
    page
}

/// Returns a doc comment as Markdown outside of rustdoc: links to code become code.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        out.push_str(before);
        let Some((label, after)) = link.split_once(']') else {
            out.push('[');
            rest = link;
            continue;
        };
        out.push_str(label);
        rest = match after.strip_prefix('(').and_then(|target| target.split_once(')')) {
            Some((_, after)) => after,
            None => after,
        };
    }
    (out + rest).replace('|', "\\|")
}

/// `crates/mdp3/src/counters.rs` belongs to `crates/mdp3`.
fn package(source: &Source) -> &str {
    let end = source.path.match_indices('/').nth(1).map_or(source.path.len(), |(at, _)| at);
    &source.path[..end]
}

/// Returns the names of all functions of a file.
fn tests(source: &Source) -> impl Iterator<Item = &str> {
    let name = |line: &'_ str| {
        line.trim().strip_prefix("fn ")?.split_once('(').map(|(name, _)| name.len())
    };
    source.text.lines().filter_map(move |line| {
        let length = name(line)?;
        Some(&line.trim()["fn ".len()..][..length])
    })
}

struct Counter<'a> {
    line: usize,
    name: &'a str,
    /// The first paragraph of its documentation.
    description: Option<String>,
}

/// Returns the counters that a file declares.
fn counters(source: &Source) -> Vec<Counter<'_>> {
    let mut counters = Vec::new();
    let mut inside = false;
    let mut description: Option<String> = None;
    let mut is_complete = false;
    for (line, text) in source.lines_before_tests() {
        let text_of_line = text.trim();
        if !inside {
            inside = begins(text_of_line);
            (description, is_complete) = (None, false);
        } else if text == "}" {
            inside = false;
        } else if let Some(doc) = text_of_line.strip_prefix("///") {
            is_complete |= doc.trim().is_empty();
            if !is_complete {
                let words = description.get_or_insert_default();
                words.push_str(if words.is_empty() { "" } else { " " });
                words.push_str(doc.trim());
            }
        } else if text_of_line.ends_with(';') {
            // The macro's first item is the struct.
            (description, is_complete) = (None, false);
        } else if let Some(name) = field(text_of_line) {
            counters.push(Counter { line, name, description: description.take() });
            is_complete = false;
        }
    }
    counters
}

/// Returns `true` if counters are declared from the next line on.
fn begins(line: &str) -> bool {
    let name = line.strip_prefix("pub struct ").and_then(|rest| rest.split([' ', '<']).next());
    let is_struct = name.is_some_and(|name| name.ends_with("Counters") || name == "Statistics");
    line == "counters! {" || (is_struct && line.ends_with('{'))
}

/// Returns the field that a line declares: `pub gaps: u64,`, or `gaps,` in the macro.
fn field(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ").unwrap_or(line);
    let end = rest.find([':', ','])?;
    let name = &rest[..end];
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(declared: &str, test: &str) -> Vec<String> {
        let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
        let sources = [
            source("crates/a/src/counters.rs", declared),
            source("crates/a/tests/errors.rs", &format!("#[test]\nfn {test}() {{}}\n")),
            source("crates/b/tests/errors.rs", "#[test]\nfn counts_late_only() {}\n"),
        ];
        check(&sources).into_iter().map(|finding| finding.what).collect()
    }

    const STRUCT: &str = "pub struct Counters {\n    /// Bytes read.\n    pub bytes: u64,\n    \
                          /// Errors: late ones.\n    /// Details.\n    pub late: u64,\n}\n";

    #[test]
    fn error_counters_need_a_test_in_their_crate() {
        assert_eq!(findings(STRUCT, "counts_late_only"), [""; 0]);
        assert_eq!(findings(STRUCT, "other"), ["no test `counts_late_only` in crates/a"]);
    }

    #[test]
    fn finds_counters_that_a_macro_declares() {
        let text = "counters! {\n    /// Warnings: late ones.\n    late,\n}\n";
        assert_eq!(findings(text, "other"), ["no test `counts_late_only` in crates/a"]);
        assert_eq!(findings(text, "counts_late_only"), [""; 0]);
    }

    #[test]
    fn counters_need_a_description() {
        let text = STRUCT.replace("    /// Bytes read.\n", "");
        let expected = ["the counter `bytes` has no description"];
        assert_eq!(findings(&text, "counts_late_only"), expected);
    }

    #[test]
    fn ignores_fields_of_other_structs() {
        let text = "pub struct Late {\n    pub late: u64,\n}\n";
        assert_eq!(findings(text, "other"), [""; 0]);
    }
}
