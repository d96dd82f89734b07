//! Rules on lines of text and on file names.

use super::Finding;
use super::source::Source;

/// The most columns of a line of Rust: `max_width` of `rustfmt.toml`.
const COLUMNS: usize = 100;

/// The beginnings of absolute paths that exist on one machine only: the usual places of checkouts.
/// Each is split in two, so that this file keeps its own rule.
const MACHINE_PATHS: [(&str, &str); 6] = [
    ("/ro", "ot/"),
    ("/ho", "me/"),
    ("/Us", "ers/"),
    ("/wo", "rk/"),
    ("/work", "space/"),
    ("/bui", "lds/"),
];

/// Marks of unfinished work, split for the same reason.
const UNFINISHED: [(&str, &str); 6] =
    [("to", "do!"), ("unimple", "mented!"), ("db", "g!"), ("FIX", "ME"), ("TO", "DO"), ("XX", "X")];

/// File names that do not identify the contents.
const EMPTY_NAMES: [&str; 6] = ["helper", "helpers", "util", "utils", "common", "manager"];

/// Checks the rules for every text file.
pub(super) fn check_any(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    if source.path.starts_with("docs/results/") && source.text.contains("\"over_time\"") {
        let what = "contains over_time, which no table reads: remove it from each row";
        findings.push(Finding::new(&source.path, 0, what));
    }
    for (number, line) in source.lines() {
        for path in MACHINE_PATHS.map(|(a, b)| format!("{a}{b}")) {
            if has_absolute_path(line, &path) {
                let what = format!("absolute path of one machine: {path}");
                findings.push(Finding::new(&source.path, number, what));
            }
        }
    }
    findings
}

/// Checks the rules for Rust files.
pub(super) fn check_rust(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut find = |line, what: String| findings.push(Finding::new(&source.path, line, what));
    if source.path.rsplit('/').any(|part| EMPTY_NAMES.contains(&part.trim_end_matches(".rs"))) {
        find(0, "the file name does not identify its contents".to_string());
    }
    let data = source.text.contains("var(\"HAIRPIN_DATA\")")
        || source.text.contains("var_os(\"HAIRPIN_DATA\")");
    if data && !source.is_xtask() && !source.text.contains("HAIRPIN_DATA_REQUIRED") {
        find(0, "reads HAIRPIN_DATA and ignores HAIRPIN_DATA_REQUIRED".to_string());
    }
    for (number, line) in source.lines() {
        for word in UNFINISHED.map(|(a, b)| format!("{a}{b}")) {
            if has_word(line, &word) {
                find(number, format!("unfinished work: {word}"));
            }
        }
        if source.is_generated() {
            continue;
        }
        let columns = line.chars().count();
        // A row of a table cannot be wrapped.
        let is_table = line.starts_with("//! |") || line.trim_start().starts_with("/// |");
        if columns > COLUMNS && !is_table {
            find(number, format!("{columns} columns, the limit is {COLUMNS}"));
        }
        let code = line.trim_start();
        if !code.starts_with("//") && code.contains(concat!("fn ", "get_")) {
            find(
                number,
                "the name of a getter starts with `get_`: name what it returns".to_string(),
            );
        }
        if code.starts_with("#[ignore") && code != NEEDS_ROOT {
            find(number, format!("ignored test without {NEEDS_ROOT}"));
        }
    }
    findings
}

/// The only reason to ignore a test; `cargo xtask test` runs these tests as root.
const NEEDS_ROOT: &str = "#[ignore = \"needs root\"]";

/// Returns `true` if an absolute path in the line begins with `path`.
fn has_absolute_path(line: &str, path: &str) -> bool {
    let in_a_path = |c: char| c.is_alphanumeric() || "._-~*}$/".contains(c);
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(in_a_path))
}

/// Returns `true` if the line contains `word` as a whole word.
fn has_word(line: &str, word: &str) -> bool {
    let in_a_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        !before.ends_with(in_a_word) && !after.starts_with(in_a_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<String> {
        let source = Source { path: "crates/a/src/b.rs".to_string(), text: text.to_string() };
        let all = check_any(&source).into_iter().chain(check_rust(&source));
        all.map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn finds_absolute_paths_of_one_machine() {
        let home = concat!("/ho", "me/");
        assert_eq!(findings(&format!("// see {home}someone/hairpin")).len(), 1);
        assert_eq!(findings(&format!("// see \"{home}\"")).len(), 1);
        assert_eq!(findings(&format!("// see ../shared{home}page.html")).len(), 0);
        assert_eq!(findings(&format!("// see /proc/1{home}")).len(), 0);
    }

    #[test]
    fn finds_results_files_with_latency_over_time() {
        let results = |path: &str, text: &str| {
            check_any(&Source { path: path.to_string(), text: text.to_string() }).len()
        };
        assert_eq!(results("docs/results/a.json", r#""over_time": []"#), 1);
        assert_eq!(results("docs/results/a.json", r#""by_round": []"#), 0);
        assert_eq!(results("docs/reference/a.md", r#""over_time": []"#), 0);
    }

    #[test]
    fn finds_marks_of_unfinished_work_as_whole_words() {
        assert_eq!(findings(concat!("// FIX", "ME later")).len(), 1);
        assert_eq!(findings(concat!("    to", "do!()")).len(), 1);
        assert_eq!(findings(concat!("const XX", "XY: u8 = 1;")).len(), 0);
    }

    #[test]
    fn finds_long_lines_by_characters_not_bytes() {
        assert_eq!(findings(&"é".repeat(100)).len(), 0);
        assert_eq!(findings(&"e".repeat(101)).len(), 1);
    }

    #[test]
    fn finds_getters_and_ignores_without_the_reason() {
        assert_eq!(findings(concat!("    pub fn ", "get_price(&self)")).len(), 1);
        assert_eq!(findings("    #[ignore]").len(), 1);
        assert_eq!(findings("    #[ignore = \"needs root\"]").len(), 0);
    }

    #[test]
    fn finds_data_tests_that_could_skip_unnoticed() {
        let reads = "std::env::var_os(\"HAIRPIN_DATA\")";
        assert_eq!(findings(reads).len(), 1);
        assert_eq!(findings(&format!("{reads}\n// HAIRPIN_DATA_REQUIRED")).len(), 0);
    }
}
