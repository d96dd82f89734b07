//! No function is longer than a reader can hold in mind.

use super::Finding;
use super::source::Source;

/// Lines from the signature to the closing brace, both included.
const FUNCTION_LINES: usize = 70;

/// Every function that is too long. Counts on rustfmt: a body ends where a brace stands alone at
/// the signature's own indentation.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    if source.is_generated() {
        return Vec::new();
    }
    let lines: Vec<&str> = source.text.lines().collect();
    let mut findings = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let length = length(&lines[at..]);
        if length > FUNCTION_LINES {
            let what = format!("fn {name} has {length} lines, {FUNCTION_LINES} is the limit");
            findings.push(Finding::new(&source.path, at + 1, what));
        }
    }
    findings
}

/// The name, if a function's signature begins on this line.
fn function_name(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    loop {
        if let Some(name) = rest.strip_prefix("fn ") {
            return name.split(['(', '<']).next();
        }
        let (word, after) = rest.split_once(' ')?;
        let qualifier = matches!(word, "pub" | "const" | "async" | "unsafe" | "extern" | "\"C\"")
            || word.starts_with("pub(");
        if !qualifier {
            return None;
        }
        rest = after;
    }
}

/// Lines of the function that begins at the first line; zero if it has no body.
fn length(lines: &[&str]) -> usize {
    let code = |line: &&str| line.split(" // ").next().unwrap_or("").trim_end().to_string();
    let Some(opens) = lines.iter().map(code).position(|line| line.ends_with(['{', ';', '}']))
    else {
        return 0;
    };
    match code(&lines[opens]).chars().next_back() {
        Some('{') => {}
        Some('}') => return opens + 1,
        _ => return 0,
    }
    let indentation = lines[0].len() - lines[0].trim_start().len();
    let closing = format!("{}}}", &lines[0][..indentation]);
    lines.iter().position(|line| **line == closing).map_or(lines.len(), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: String) -> Vec<String> {
        let source = Source { path: "crates/a/src/b.rs".to_string(), text };
        check(&source).into_iter().map(|finding| finding.what).collect()
    }

    fn function(signature: &str, body_lines: usize) -> String {
        format!("    {signature} {{ // why\n{}    }}\n", "        step();\n".repeat(body_lines))
    }

    #[test]
    fn a_function_has_at_most_seventy_lines() {
        assert_eq!(findings(function("fn a()", 68)).len(), 0);
        assert_eq!(findings(function("fn a()", 69)), ["fn a has 71 lines, 70 is the limit"]);
    }

    #[test]
    fn sees_through_qualifiers_and_signatures_of_several_lines() {
        assert_eq!(findings(function("pub(crate) const unsafe fn a<T>(x: T)", 80)).len(), 1);
        let signature =
            "pub fn a(\n        x: u64,\n    ) -> u64\n    where\n        u64: Copy,\n   ";
        assert_eq!(findings(function(signature, 80)).len(), 1);
    }

    #[test]
    fn a_declaration_does_not_run_into_what_follows() {
        let trait_with_one =
            |body: &str| format!("    fn a();\n    fn b() {body}\n{}    }}\n", "x\n".repeat(90));
        assert_eq!(findings(trait_with_one("{}")).len(), 0);
        assert_eq!(findings(trait_with_one("{")).len(), 1);
    }
}
