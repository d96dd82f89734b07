//! The rule that functions are short.

use super::Finding;
use super::source::Source;

/// The most lines of a function, from the signature to the closing brace.
const FUNCTION_LINES: usize = 70;

/// Finds every function that is too long. Relies on rustfmt: a body ends at a line with a closing
/// brace alone, indented like the signature.
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
            let what = format!("fn {name} has {length} lines, the limit is {FUNCTION_LINES}");
            findings.push(Finding::new(&source.path, at + 1, what));
        }
    }
    findings
}

/// Returns the name of the function whose signature begins on this line.
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

/// Returns the number of lines of the function at the first line; zero for a function without body.
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
    fn functions_have_at_most_seventy_lines() {
        assert_eq!(findings(function("fn a()", 68)).len(), 0);
        assert_eq!(findings(function("fn a()", 69)), ["fn a has 71 lines, the limit is 70"]);
    }

    #[test]
    fn finds_functions_with_qualifiers_and_long_signatures() {
        assert_eq!(findings(function("pub(crate) const unsafe fn a<T>(x: T)", 80)).len(), 1);
        let signature =
            "pub fn a(\n        x: u64,\n    ) -> u64\n    where\n        u64: Copy,\n   ";
        assert_eq!(findings(function(signature, 80)).len(), 1);
    }

    #[test]
    fn declarations_without_body_have_no_length() {
        let trait_with_one =
            |body: &str| format!("    fn a();\n    fn b() {body}\n{}    }}\n", "x\n".repeat(90));
        assert_eq!(findings(trait_with_one("{}")).len(), 0);
        assert_eq!(findings(trait_with_one("{")).len(), 1);
    }
}
